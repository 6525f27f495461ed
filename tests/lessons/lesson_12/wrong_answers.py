"""Wrong answers to the exercises of lesson 12 with their causes, and right answers in other styles."""

import numpy as np
from answer_cases import cases

from autograd_course.grading import edit
from autograd_course.grading.mistakes import in_place
from autograd_course.lessons.lesson_12.exercises import _right_scale, _scaled
from autograd_lib import nn


def _kept_order():
    """Return a wrong `batches` that draws its order at its first call and keeps it."""
    kept = {}

    def batches(images, labels, size, rng):
        order = kept.setdefault(len(images), rng.permutation(len(images)))
        for start in range(0, len(images), size):
            yield images[order[start : start + size]], labels[order[start : start + size]]

    return batches


def _in_place(images, labels, size, rng):
    order = rng.permutation(len(images))
    images[:], labels[:] = images[order], labels[order]
    for start in range(0, len(images), size):
        yield images[start : start + size], labels[start : start + size]


def _only_images(images, labels, size, rng):
    order = rng.permutation(len(images))
    for start in range(0, len(images), size):
        yield images[order[start : start + size]]


def _shuffled_pairs(cut):
    """Return a wrong `batches` that shuffles a list of pairs (image, label), and yields `cut` of its pieces."""

    def batches(images, labels, size, rng):
        pairs = list(zip(images, labels))
        rng.shuffle(pairs)
        for start in range(0, len(pairs), size):
            yield cut(pairs[start : start + size])

    return batches


LOGITS, LOSS = "logits = model(X)  # forward pass", "loss = cross_entropy(logits, y)  # one number"
ZERO, BACKWARD, STEP, RETURN = (
    "optimizer.zero_grad()  # old gradients to zero",
    "loss.backward()  # backward pass: a gradient for every parameter",
    "optimizer.step()  # change every parameter",
    "return loss.item()",
)

cases(
    "12.train_step",
    wrong=[
        edit(ZERO, "pass", "own: never reset | the second step"),
        edit(ZERO, "optimizer.zero_grad", "own: never reset | the second step"),
        edit(
            ZERO,
            "pass",
            BACKWARD,
            "loss.backward(); optimizer.zero_grad()",
            "own: reset after backward | no parameter has changed",
        ),
        edit(
            ZERO,
            "pass",
            BACKWARD,
            "loss.backward(); model.zero_grad()",
            "own: reset after backward | no parameter has changed",
        ),
        edit(
            ZERO,
            "pass",
            STEP,
            "optimizer.step(); optimizer.zero_grad()",
            "own: reset last | a different loss",
        ),
        edit(BACKWARD, "optimizer.step()", STEP, "loss.backward()", "own: step before backward"),
        edit(
            ZERO,
            "pass",
            BACKWARD,
            "optimizer.step()",
            STEP,
            "loss.backward()",
            "own: step before backward",
        ),
        edit(STEP, "pass", "own: no step | no parameter has changed"),
        edit(STEP, "optimizer.step", "own: no step | no parameter has changed"),
        edit(
            STEP,
            "for p in model.parameters():\n        p.data = p.data - 0.5 * p.grad",
            "own: not a step of this optimizer",
        ),
        edit(
            ZERO,
            "optimizer = optim.SGD(model.parameters(), lr=0.5); optimizer.zero_grad()",
            "own: not a step of this optimizer",
        ),
        edit(STEP, "optimizer.step(); optimizer.step()", "own: two steps | 2 steps"),
        edit(BACKWARD, "pass", "own: no backward | no parameter has changed"),
        edit(BACKWARD, "loss.backward", "own: no backward | no parameter has changed"),
        edit(BACKWARD, "loss.backward(); loss.backward()", "own: backward twice"),
        edit(BACKWARD, "(-loss).backward()", "own: uphill"),
        edit(BACKWARD, "(len(y) * loss).backward()", "own: gradient of the sum"),
        edit(BACKWARD, "logits.backward()", "own: backward of the logits"),
        edit(BACKWARD, "model.backward()", "own: backward of something else"),
        edit(BACKWARD, "optimizer.backward()", "own: backward of something else"),
        edit(STEP, "model.step()", "own: step of the model"),
        edit(LOSS, "loss = cross_entropy(y, logits)", "own: labels first"),
        edit(LOSS, "loss = cross_entropy(X, y)", "own: X as logits"),
        edit(LOSS, "loss = cross_entropy(logits, y).item()", "own: item before backward"),
        edit("(logits, y)", "(softmax(logits), y)", "own: softmax twice"),
        edit("(logits, y)", "(logits.data, y)", "error: Tensor attribute"),
        edit(
            LOGITS,
            "with no_grad():\n        logits = model(X)",
            "own: nothing recorded",
        ),
        edit("model(X)", "model(X[:3])", "(logits, y)", "(logits, y[:3])", "own: other data"),
        edit("(logits, y)", "(logits, y[::-1])", "own: other data"),
        edit(
            STEP,
            "optimizer.step()\n    for p in model.parameters():\n        p.data = p.data * 0.99",
            "own: changed again",
        ),
        edit(RETURN, "return loss", "own: not a float | Tensor"),
        edit(RETURN, "return loss.data", "own: not a float | ndarray"),
        edit(RETURN, "return logits", "own: more than the loss"),
        edit(RETURN, "return loss.item(), logits", "own: more than the loss | tuple"),
        edit(RETURN, "return model", "own: more than the loss"),
        edit(RETURN, "return cross_entropy(model(X), y).item()", "own: loss after the step"),
        edit(RETURN, "return len(y) * loss.item()", "own: sum of the losses"),
        edit(RETURN, "print(loss.item())", "printed"),
        edit(RETURN, "loss.item()", "nothing"),
    ],
    accepted=[
        edit(ZERO, "model.zero_grad()"),
        edit(ZERO, "pass", BACKWARD, "optimizer.zero_grad(); loss.backward()"),
        """
        def train_step(model, optimizer, X, y):
            for p in model.parameters():
                p.grad = None
            p = np.exp(model(X) - 0)
            loss = -np.log(p[np.arange(len(y)), y] / p.sum(axis=1)).mean()
            loss.backward()
            optimizer.step()
            return float(loss.data)""",
        """
        class Step:
            def __call__(self, model, optimizer, X, y):
                optimizer.zero_grad()
                loss = cross_entropy(model(X), y)
                loss.backward()
                before = loss.item()
                optimizer.step()
                optimizer.zero_grad()
                return before
        train_step = Step()""",
    ],
)

cases(
    "12.batches",
    wrong=[
        edit("labels[rows]", "labels[rows].astype(float)", "own: The labels have changed"),
        edit(
            "rows = order[start:start + size]",
            "rows = np.sort(order[start:start + size])",
            "own: From one row to the",
        ),
        edit("start + size", "start + min(size, 100)", "own: how many rows"),
        edit("rng.permutation(len(images))", "rng.permutation(labels)", "own: not labels"),
        edit(
            "rng.permutation(len(images))", "rng.permutation(labels.max() + 1)", "own: not labels"
        ),
        edit("labels[rows]", "rows", "own: is not a label"),
        edit("labels[rows]", "labels[labels[rows]]", "own: is not a label"),
        edit("start + size", "start + size - 1", "own: b is not included | [3, 3, 2]"),
        edit("start + size", "start + size + 1", "own: come twice: draw | [4"),
        edit("0, len(images), size", "len(images)", "own: come twice: draw | [4"),
        edit(
            "order = rng.permutation(len(images))",
            "order = rng.shuffle(np.arange(len(images)))",
            "own: returns None",
        ),
        (
            lambda images, labels, size, rng: [
                (images[rows], labels[rows]) for rows in rng.shuffle([*range(len(images))])
            ],
            "own: returns None",
        ),
        edit(
            "rng.permutation(len(images))",
            "rng.permutation(len(images))[:1000]",
            "own: A batch is empty",
        ),
        edit(
            "    for",
            "    other = order if len(order) < 500 else rng.permutation(order)\n    for",
            "labels[rows]",
            "labels[other[start:start + size]]",
            "own: How often do you shuffle | 1437 images",
        ),
        edit(
            "range(0, len(images), size)",
            "(0, *range(len(images) % size, len(images), size))",
            "start + size",
            "start + size if start else len(images) % size",
            "own: how many rows",
        ),
        edit(
            "yield images[rows], labels[rows]",
            "yield images[rows], labels[start:start + size]",
            "own: How often do you shuffle",
        ),
        edit(
            "labels[rows]",
            "labels[rng.permutation(len(images))[start:start + size]]",
            "own: How often do you shuffle",
        ),
        edit(
            "labels[rows]",
            "labels[[np.argmax((images == row).all(axis=1)) for row in images[rows]]]",
            "own: look the same",
        ),
        edit(
            "rng.permutation(len(images))",
            "rng.permutation(len(images))[:None if len(images) > 6 else 2]",
            "own: how many rows | the batches of 3 images",
        ),
        edit("len(images), size", "len(images), max(1, size - 1)", "own: come twice: draw"),
        edit(
            "len(images), size",
            "len(images) - (len(images) == 4), size",
            "own: Every scan comes once",
        ),
        edit("len(images), size", "len(images) - size + 1, size", "own: may be smaller"),
        edit(
            "len(images), size",
            "min(len(images), 50 * size), size",
            "own: Every scan comes once | 203 images",
        ),
        edit(
            "    for",
            "    if len(images) <= size:\n        order = np.arange(len(images))\n    for",
            "own: however many there are",
        ),
        edit(
            "rng.permutation(len(images))",
            "rng.permutation(len(images)).astype(np.uint8)",
            "own: holds each row number once",
        ),
        edit(
            "order = rng.permutation(len(images))",
            "order = np.concatenate([k + rng.permutation(min(512, len(images) "
            "- k)) for k in range(0, len(images), 512)])",
            "own: however many there are",
        ),
        edit(
            "rng.permutation(len(images))",
            "np.append(rng.permutation(len(images) - 1), len(images) - 1)",
            "own: be able to come at any position",
        ),
        edit(
            "size):",
            "len(images) // size + 1):",
            "start + size",
            "start + len(images) // size + 1",
            "own: how many rows",
        ),
        edit(
            "rng.permutation(len(images))",
            "rng.integers(len(images), size=len(images))",
            "own: use each piece once",
        ),
        edit("rng.permutation(len(images))", "np.arange(len(images))", "own: not shuffled"),
        edit(
            "rng.permutation(len(images))", "np.random.permutation(len(images))", "own: passed in"
        ),
        edit(
            "rng.permutation(len(images))",
            "np.random.default_rng(1).permutation(len(images))",
            "own: the same order",
        ),
        edit(
            "order[start:start + size]",
            "start + rng.permutation(min(size, len(images) - start))",
            "own: six neighbours in the file",
        ),
        edit("labels[rows]", "labels[images[rows]]", "own: In the brackets stand row numbers"),
        edit(
            "rng.permutation(len(images))",
            "rng.permutation(64)",
            "own: In the brackets stand row numbers",
        ),
        edit(
            "order = rng.permutation(len(images))",
            "order = rng.permutation(size)",
            "images[rows], labels[rows]",
            "images[start:start + size][order], labels[start:start + size][order]",
            "own: In the brackets stand row numbers",
        ),
        edit(
            "rng.permutation(len(images))",
            "np.roll(np.arange(len(images)), rng.integers(1, len(images)))",
            "own: neighbours",
        ),
        edit(
            "in range(0, len(images), size)",
            "in rng.permutation(range(0, len(images), size))",
            "order[",
            "np.arange(len(images))[",
            "own: Each batch holds neighbours",
        ),
        edit(
            "order = rng.permutation(len(images))",
            "half = len(images) // 2; order = np.concatenate("
            "[rng.permutation(half), half + rng.permutation(len(images) - half)])",
            "own: first half comes first",
        ),
        edit(
            "order = rng.permutation(len(images))",
            "half = len(images) // 2; order = np.concatenate("
            "[half + rng.permutation(len(images) - half), rng.permutation(half)])",
            "own: first half comes last",
        ),
        edit(
            "range(0, len(images), size)",
            "(0, *range(len(images) % size or size, len(images), size))",
            "start + size",
            "start + size if start else len(images) % size or size",
            "order[",
            "np.arange(len(images))[",
            "own: Each batch holds neighbours",
        ),
        edit(
            "order[start:start + size]",
            "order[:min(size, len(images) - start)]",
            "own: use each piece once",
        ),
        edit(
            "order = rng.permutation(len(images))",
            "order = list(rng.permutation(len(images)))",
            "order[start:start + size]",
            "[order.pop() for _ in range(size)]",
            "own: The rows are used up",
        ),
        edit(
            "order = rng.permutation(len(images))",
            "order = rng.permutation(len(images)); images, labels = images[order], labels[order]",
            "order[start:start + size]",
            "slice(start, start + size + 1)",
            "own: no row in both",
        ),
        edit("    order", "    images -= 0.5; order", "own: writes into the caller's arrays"),
        edit(
            "    for",
            "    for start in range(50 * size):\n        yield images[:size], labels[:size]\n    for",
            "own: One call is one epoch",
        ),
        edit(
            "yield images[rows], labels[rows]",
            "yield [(images[rows], labels[rows])]",
            "own: Yield two arrays | of type list",
        ),
        edit(
            "yield images[rows], labels[rows]",
            "yield from rows",
            "own: Yield two arrays | of type int64",
        ),
        edit(
            "rng.permutation(len(images))",
            "np.argsort(np.arange(len(images)) + rng.uniform(0, 8, len(images)))",
            "own: first half comes first",
        ),
        edit(
            "range(0, len(images), size)",
            "range(0, len(images) + 1, size)",
            "own: A batch is empty",
        ),
        edit(", size)", ", 4)", "start + size", "start + 4", "own: how many rows"),
        edit(
            "order = rng.permutation(len(images))",
            "rng.shuffle(images); order = np.arange(len(images))",
            "own: writes into the caller's arrays",
        ),
        edit("range(0, len(images), size)", "iter(int, 1)", "own: One call is one epoch"),
        edit(
            "yield images[rows], labels[rows]",
            "yield labels[rows], images[rows]",
            "own: Yield two arrays",
        ),
        edit("yield images[rows]", "yield abs(images[rows])", "own: The pixels have changed Row"),
        edit(
            "yield images[rows]", "yield images[rows][:, ::-1]", "own: The pixels have changed Row"
        ),
        edit(
            "order = rng.permutation(len(images))",
            "order, kept = rng.permutation(len(images)), images[:size].copy()",
            "yield images[rows]",
            "kept[:len(rows)] = images[rows]\n        yield kept[:len(rows)]",
            "own: no row in both",
        ),
        (_shuffled_pairs(list), "own: a pair of arrays | a list of 4 pairs"),
        (_shuffled_pairs(tuple), "own: a pair of arrays | a list of 4 pairs"),
        (_shuffled_pairs(lambda piece: [tuple(zip(*piece))]), "own: Yield two arrays"),
        (_shuffled_pairs(np.array), "own: pairs in one array | inhomogeneous"),
        (
            lambda images, labels, size, rng: rng.permutation(list(zip(images, labels))),
            "own: pairs in one array | inhomogeneous",
        ),
        edit(
            "rng.permutation(len(images))",
            "rng.permutation(len(images)); images = images[order]",
            "own: images twice | reordered twice, and the labels once",
        ),
        edit(
            "rng.permutation(len(images))",
            "rng.permutation(len(images)); labels = labels[order]",
            "own: labels twice | reordered twice, and the images once",
        ),
        (_in_place, "own: writes into the caller's arrays"),
        (_only_images, "own: Yield two arrays"),
        (_kept_order(), "own: the same order"),
        (
            lambda images, labels, size, rng: (images[:size], labels[:size]),
            "own: yield for each batch",
        ),
        (lambda images, labels, size, rng: (), "own: does the loop run"),
        (lambda images, labels, size, rng: print(end=""), "own: is there a yield"),
        (lambda images, labels, size, rng: [], "own: does the loop run"),
        (np.arange(10), "error: array called"),
    ],
    accepted=[
        edit(
            "order = rng.permutation(len(images))",
            "order = np.arange(len(images)); rng.shuffle(order)",
        ),
        edit(
            "yield images[rows], labels[rows]",
            "import autograd_lib as ag; yield ag.Tensor(images[rows]), labels[rows]",
        ),
        edit("yield images[rows], labels[rows]", "yield [images[rows], labels[rows]]"),
        """
        def batches(images, labels, size, rng):
            pairs = list(zip(images, labels))
            rng.shuffle(pairs)
            for start in range(0, len(pairs), size):
                x, y = zip(*pairs[start:start + size])
                yield np.array(x), np.array(y)""",
        """
        def batches(images, labels, size, rng):
            order = rng.permutation(len(labels))
            images, labels = images[order], labels[order]
            return [(images[k:k + size], labels[k:k + size]) for k in range(0, len(labels), size)]""",
        """
        def batches(images, labels, size, rng):
            left = list(rng.permutation(len(labels)))
            while left:
                rows, left = left[:size], left[size:]
                yield np.array([images[i] for i in rows]), np.array([labels[i] for i in rows])""",
        """
        from autograd_lib.data import DataLoader

        def batches(images, labels, size, rng):
            return DataLoader(images, labels, batch_size=size, shuffle=True, rng=rng)""",
        "lambda images, labels, size, rng: ((images[rows], labels[rows]) for order in [rng.permutation(len(labels))] "
        "for rows in np.split(order, range(size, len(labels), size)))",
    ],
)

cases(
    "12.scale",
    wrong=[
        in_place(_right_scale),
        edit(
            "    return",
            "    if len(train) == 1:\n        return train, new\n    return",
            "first entry in part 1",
        ),
        edit(
            "return (train - mean) / spread,",
            "train -= mean; train /= spread\n    return train,",
            "array overwritten",
        ),
        edit(
            "mean, spread = train.mean(axis=0), train.std(axis=0)",
            "mean, spread = train.mean(axis=0, keepdims=True), train.std(axis=0)",
            "own: no loop over its rows",
        ),
        edit(
            "(new - mean) / spread",
            "(np.atleast_2d(new) - mean) / spread",
            "own: no loop over its rows",
        ),
        edit(
            "(new - mean) / spread",
            "np.array([(scan - mean) / spread for scan in new])",
            "own: no loop over its rows",
        ),
        edit(
            "np.where(spread > 0, spread, 1)",
            "np.where(spread > 0.1, spread, 1)",
            "first entry in part 1",
        ),
        edit(
            "np.where(spread > 0, spread, 1)",
            "np.where(spread > 0.001, spread, 1)",
            "first entry in part 1",
        ),
        edit("spread > 0, spread", "spread > spread.max() / 100, spread", "first entry in part 1"),
        edit("train.mean(axis=0)", "np.median(train, axis=0)", "first entry in part 1"),
        edit("spread > 0, spread", "np.ptp(train[:100], axis=0) > 0, spread", "none in part 1"),
        edit("(train - mean) / spread,", "np.round((train - mean) / spread, 1),", "none in part 1"),
        (
            lambda train, new: tuple(
                (x - train.mean(axis=0)) / train.std(axis=0) for x in (train, new)
            ),
            "own: Divide by 1 there",
        ),
        (
            lambda train, new: tuple(
                (x - train.mean(axis=0)) / (train.std(axis=0) + 1e-8) for x in (train, new)
            ),
            "own: Divide by 1 there",
        ),
        (lambda train, new: _scaled(train, new, train)[0], "one value"),
        (
            lambda train, new: (_scaled(train, new, train)[0], _scaled(train, new, train)[1][0]),
            "shape: axis lost in part 2",
        ),
    ],
    accepted=[
        edit("np.where(spread > 0, spread, 1)", "spread + (spread == 0)"),
        edit("np.where(spread > 0, spread, 1)", "np.where(spread > 1e-9, spread, 1)"),
        edit("np.where(spread > 0, spread, 1)", "np.where(spread > 1e-8, spread, 1)"),
        edit("spread = np.where(spread > 0, spread, 1)", "spread[spread == 0] = 1"),
        edit("train.std(axis=0)", "np.sqrt(((train - train.mean(axis=0))**2).mean(axis=0))"),
        """
        def standardise(train, new):
            pixels = [(column.mean(), column.std() or 1.0) for column in train.T]
            mean, spread = np.transpose(pixels)
            return [(x - mean) / spread for x in (train, new)]""",
        """
        def standardise(train, new):
            mean, spread = np.einsum("np->p", train) / len(train), np.std(train, 0)
            return tuple(np.divide(x - mean, np.maximum(spread, spread == 0)) for x in (train, new))""",
    ],
)


cases(
    "12.curve",
    wrong=[
        (nn.MLP([64, 32, 10], rng=0), "own: That is a network"),
        edit(
            "return accuracy(model, test_images, test_labels)",
            "return model",
            "own: A network came back",
        ),
        edit(", test_labels)", ", test_labels), n", "own: A single number is wanted"),
        edit(
            "return accuracy(model, test_images, test_labels)",
            "return [accuracy(model, test_images, test_labels)]",
            "own: A single number is wanted",
        ),
        edit("images[:n], labels[:n]", "labels[:n], images[:n]", "own: First come the images"),
        edit(
            "nn.MLP([64, 32, 10], rng=0), images[:n], labels[:n], epochs=",
            "images[:n], labels[:n], nn.MLP([64, 32, 10], rng=0), epochs=",
            "own: train takes the model, then",
        ),
        edit("return accuracy", "return 100 * accuracy", "own: from 0 to 1"),
        edit("return accuracy", "return 1 - accuracy", "own: read wrong"),
        edit("test_images, test_labels", "images[:n], labels[:n]", "own: it has learned from"),
        edit("images[:n], labels[:n]", "test_images, test_labels", "own: not for training"),
        edit(
            "images[:n], labels[:n]",
            "images, labels",
            "own: The first n rows of | of shape (1437, 64)",
        ),
        edit(
            "images[:n], labels[:n]",
            "images[-n:], labels[-n:]",
            "own: The first n rows of | first 59 training scans",
        ),
        edit(
            "images[:n], labels[:n]",
            "*(a[np.random.default_rng(0).permutation(1437)[:n]] for a in (images, labels))",
            "own: The first n rows of | first 59 training scans",
        ),
        edit("images[:n], labels[:n]", "images[:n], labels", "own: first n of both"),
        edit("images[:n], labels[:n]", "images[:n], labels[1:n + 1]", "own: first n of both"),
        edit("images[:n], labels[:n]", "images[n], labels[n]", "own: First come the images"),
        edit("20_000 // n", "20", "own: 20_000 // n epochs"),
        edit("20_000 // n", "2_000", "own: 20_000 // n epochs"),
        *(
            edit("20_000 // n", f"{most}, 20_000 // n)", "own: 20_000 // n epochs")
            for most in ("max(20", "min(350")
        ),
        edit("20_000 // n", "20_000 // n, jitter=0.2", "own: Leave jitter out"),
        edit("32", "256", "own: 32 hidden"),
        edit("rng=0", "rng=1", "own: rng=0 makes"),
        edit(", rng=0", "", "own: rng=0 makes"),
        edit(
            "def held",
            "model = nn.MLP([64, 32, 10], rng=0)\ndef held",
            "nn.MLP([64, 32, 10], rng=0), images",
            "model, images",
            "model = train",
            "same = train",
            "accuracy(model",
            "accuracy(same",
            "own: `model` was made outside",
        ),
        edit(
            "(n):",
            "(n, model=nn.MLP([64, 32, 10], rng=0)):",
            "nn.MLP([64, 32, 10], rng=0), images",
            "model, images",
            "own: make a new network at each call",
        ),
        edit(
            "    return",
            "    train(model, images[:n], labels[:n], 1)\n    return",
            "own: Train once",
        ),
        edit(
            "train(nn.MLP([64, 32, 10], rng=0), images[:n], labels[:n], epochs=20_000 // n)",
            "nn.MLP([64, 32, 10], rng=0)",
            "own: Make a network train it",
        ),
        edit("test_images, test_labels", "test_labels, test_images", "own: wants the images first"),
        edit(
            "test_images, test_labels",
            "test_images[:n], test_labels[:n]",
            "own: ask about all of them",
        ),
        edit(
            "return accuracy",
            "return (lambda *args: round(accuracy(*args), 2))",
            "own: ask about all of them",
        ),
        (0.9, "not a function"),
        (lambda n: 0.9, "own: Make a network train it"),
        edit("return accuracy", "return (lambda *args: str(accuracy(*args)))", "not a number"),
        edit(
            "return accuracy(model, test_images, test_labels)",
            "print(accuracy(model, test_images, test_labels))",
            "printed",
        ),
        edit("return accuracy", "accuracy", "nothing"),
    ],
    accepted=[
        "lambda n: accuracy(train(nn.MLP([64, 32, 10], rng=0), images[:n], labels[:n], 20_000 // n),"
        " test_images, test_labels)",
        """
        from functools import partial
        def score(width, n):
            return accuracy(train(nn.MLP([64, width, 10], rng=0), images[:n], labels[:n], 20_000 // n),
                            test_images, test_labels)
        held_out_accuracy = partial(score, 32)""",
        """
        class Score:
            def __call__(self, n):
                return accuracy(train(nn.MLP([64, 32, 10], rng=0), images[:n], labels[:n], 20_000 // n),
                                test_images, test_labels)
        held_out_accuracy = Score()""",
        edit(
            "return accuracy(model, test_images, test_labels)",
            "return sum(model(x[None]).data.argmax() == y for x, y in zip(test_images, test_labels)) / len(test_labels)",
        ),
    ],
)
