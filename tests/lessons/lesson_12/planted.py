"""Thrown at the exercises of lesson 12, beside their mistakes: more wrong answers, and right ones in other styles."""
import numpy as np
from thrown import throw

from autograd_course.ask import edit
from autograd_course.ask.mistakes import in_place
from autograd_course.data import digits
from autograd_course.lessons.lesson_12.exercises import _fitted, _learned, _right_scale, _scaled, _share
from autograd_lib import nn


def _kept_order():
    """A wrong `batches`: draws its order when it is first called, and keeps it."""
    kept = {}

    def batches(images, labels, size, rng):
        order = kept.setdefault(len(images), rng.permutation(len(images)))
        for start in range(0, len(images), size):
            yield images[order[start:start + size]], labels[order[start:start + size]]
    return batches


def _in_place(images, labels, size, rng):
    order = rng.permutation(len(images))
    images[:], labels[:] = images[order], labels[order]
    for start in range(0, len(images), size):
        yield images[start:start + size], labels[start:start + size]


def _only_images(images, labels, size, rng):
    order = rng.permutation(len(images))
    for start in range(0, len(images), size):
        yield images[order[start:start + size]]


throw(
    "12.batches",
    planted=[
        edit("yield images[rows], labels[rows]", "yield images[rows], labels[start:start + size]", "How many orders"),
        edit("labels[rows]", "labels[rng.permutation(len(images))[start:start + size]]", "How many orders"),
        edit("len(images), size", "len(images) - size + 1, size", "may be smaller"),
        edit("size):", "len(images) // size + 1):", "start + size", "start + len(images) // size + 1", "how many rows"),
        edit("rng.permutation(len(images))", "rng.integers(len(images), size=len(images))", "come twice"),
        edit("rng.permutation(len(images))", "np.arange(len(images))", "Nothing is shuffled"),
        edit("rng.permutation(len(images))", "np.random.permutation(len(images))", "passed in"),
        edit("rng.permutation(len(images))", "np.random.default_rng(1).permutation(len(images))", "the same order"),
        edit("order[start:start + size]", "start + rng.permutation(min(size, len(images) - start))",
             "only within a batch"),
        edit("labels[rows]", "labels[images[rows]]", "In the brackets stand row numbers"),
        edit("rng.permutation(len(images))", "rng.permutation(64)", "In the brackets stand row numbers"),
        edit("order = rng.permutation(len(images))", "order = rng.permutation(size)", "images[rows], labels[rows]",
             "images[start:start + size][order], labels[start:start + size][order]", "In the brackets stand row numbers"),
        edit("rng.permutation(len(images))", "np.roll(np.arange(len(images)), rng.integers(1, len(images)))",
             "neighbours"),
        edit("in range(0, len(images), size)", "in rng.permutation(range(0, len(images), size))", "order[",
             "np.arange(len(images))[",
             "neighbours"),
        edit("order = rng.permutation(len(images))", "half = len(images) // 2; order = np.concatenate("
             "[rng.permutation(half), half + rng.permutation(len(images) - half)])", "only with those nearby"),
        edit("rng.permutation(len(images))", "np.argsort(np.arange(len(images)) + rng.uniform(0, 8, len(images)))",
             "only with those nearby"),
        edit("range(0, len(images), size)", "range(0, len(images) + 1, size)", "The last batch is empty"),
        edit(", size)", ", 4)", "start + size", "start + 4", "how many rows"),
        edit("order = rng.permutation(len(images))", "rng.shuffle(images); order = np.arange(len(images))",
             "are stirred"),
        edit("range(0, len(images), size)", "iter(int, 1)", "goes on for ever"),
        edit("yield images[rows], labels[rows]", "yield labels[rows], images[rows]", "Yield two arrays"),
        edit("yield images[rows]", "yield abs(images[rows])", "no row of images"),
        edit("yield images[rows]", "yield images[rows][:, ::-1]", "no row of images"),
        edit("order = rng.permutation(len(images))", "order, kept = rng.permutation(len(images)), images[:size].copy()",
             "yield images[rows]", "kept[:len(rows)] = images[rows]\n        yield kept[:len(rows)]",
             "written over the first"),
        (_in_place, "are stirred"),
        (_only_images, "Yield two arrays"),
        (_kept_order(), "the same order"),
        (lambda images, labels, size, rng: (images[:size], labels[:size]), "yield goes on"),
        (lambda images, labels, size, rng: print(end=""), "is there a yield"),
        (lambda images, labels, size, rng: [], "does the loop run"),
        (np.arange(10), "give the function itself")],
    also_right=[
        edit("order = rng.permutation(len(images))", "order = np.arange(len(images)); rng.shuffle(order)"),
        edit("yield images[rows], labels[rows]",
             "import autograd_lib as ag; yield ag.Tensor(images[rows]), labels[rows]"),
        edit("yield images[rows], labels[rows]", "yield [images[rows], labels[rows]]"),
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
        "for rows in np.split(order, range(size, len(labels), size)))"])

throw(
    "12.scale",
    planted=[
        in_place(_right_scale), edit("return (train - mean) / spread,",
                                     "train -= mean; train /= spread\n    return train,",
                                     "caller's array"),
        edit("mean, spread = train.mean(axis=0), train.std(axis=0)",
             "mean, spread = train.mean(axis=0, keepdims=True), train.std(axis=0)", "keepdims adds one"),
        edit("(new - mean) / spread", "(np.atleast_2d(new) - mean) / spread", "no row added"),
        edit("(new - mean) / spread", "np.array([(scan - mean) / spread for scan in new])", "no loop over its rows"),
        edit("np.where(spread > 0, spread, 1)", "np.where(spread > 0.1, spread, 1)", "differs"),
        edit("np.where(spread > 0, spread, 1)", "np.where(spread > 0.001, spread, 1)", "differs"),
        edit("train.mean(axis=0)", "np.median(train, axis=0)", "differs"),
        edit("(train - mean) / spread,", "np.round((train - mean) / spread, 1),", "differs"),
        (lambda train, new: tuple((x - train.mean(axis=0)) / train.std(axis=0) for x in (train, new)),
         "Divide by 1 there"),
        (lambda train, new: tuple((x - train.mean(axis=0)) / (train.std(axis=0) + 1e-8) for x in (train, new)),
         "Divide by 1"),
        (lambda train, new: _scaled(train, new, train)[0], "2 values were expected"),
        (lambda train, new: (_scaled(train, new, train)[0], _scaled(train, new, train)[1][0]),
         "Shape (2,), where (2, 2) was expected")],
    also_right=[
        edit("np.where(spread > 0, spread, 1)", "spread + (spread == 0)"),
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
            return tuple(np.divide(x - mean, np.maximum(spread, spread == 0)) for x in (train, new))"""])


def _held_out(learn, ask):
    """A wrong `held_out_accuracy`: learns from the rows learn(n), is asked about ask(n); the 360 held-out rows come last."""
    def held_out_accuracy(n):
        images, labels, test_images, test_labels = digits()
        x, y = np.concatenate([images, test_images]), np.concatenate([labels, test_labels])
        return _share(_fitted(x[learn(n)], y[learn(n)]), x[ask(n)], y[ask(n)])
    return held_out_accuracy


def _reuses(reader):
    """A wrong `held_out_accuracy`: each n goes on with one network, which has learned from all scans before."""
    start = reader.state_dict()

    def held_out_accuracy(n):
        images, labels, test_images, test_labels = digits()
        if n < 100:
            reader.load_state_dict(start)
            _fitted(images, labels, reader)
        return _share(_fitted(images[:n], labels[:n], reader), test_images, test_labels)
    return held_out_accuracy


def _goes_on():
    """A wrong `held_out_accuracy`: one network, made outside. Right when it is first asked, for it has learned nothing then."""
    model, calls = nn.MLP([64, 32, 10], rng=0), []
    start = model.state_dict()

    def held_out_accuracy(n):
        images, labels, test_images, test_labels = digits()
        if len(calls) % 3 == 0:      # a check asks three times; for the next one it is new again
            model.load_state_dict(start)
        calls.append(n)
        return _share(_fitted(images[:n], labels[:n], model), test_images, test_labels)
    return held_out_accuracy


def _other_starts():
    """A wrong `held_out_accuracy`: near enough twice, and then from an unlucky start. It does not say rng=0."""
    calls = []

    def held_out_accuracy(n):
        calls.append(n)
        return _learned(n)[0] - 0.05 * (len(calls) % 3 == 0)
    return held_out_accuracy


throw(
    "12.curve",
    planted=[
        (nn.MLP([64, 32, 10], rng=0), "That is a network"),
        (lambda n: nn.MLP([64, 32, 10], rng=0), "A network came back"),
        (lambda n: _learned(n), "which of them"),
        (lambda n: 100 * _learned(n)[0], "from 0 to 1"),
        (lambda n: 1 - _learned(n)[0], "read wrong"),
        (_held_out(lambda n: slice(n), lambda n: slice(n)), "it has learned from"),
        (_held_out(lambda n: slice(-360, None), lambda n: slice(-360, None)), "it has learned from"),
        (_held_out(lambda n: slice(-360), lambda n: slice(-360, None)), "are the first n rows taken"),
        (_reuses(nn.MLP([64, 32, 10], rng=0)), "`reader` was made outside"),
        (_goes_on(), "new network at each call"),
        (_other_starts(), "rng=0"),
        (lambda n: 0.1, "far from guessing"),
        (eval("lambda n: 0.1 + 0 * np.random.rand()", {"np": np, "random": nn.MLP([64, 32, 10], rng=0)}),
         "far from guessing"),
        (lambda n: _fitted(digits()[0][:n], digits()[1]), "More labels than images"),
        (lambda n: _fitted(digits()[0][n], digits()[1][n]), "is one scan"),
        (lambda n: _share(_fitted(digits()[0][:n], digits()[1][:n]), digits()[3], digits()[2]),
         "wants the images first"),
        (_held_out(lambda n: slice(n), lambda n: slice(-360, n - 360)), "ask about all of them"),
        (_held_out(lambda n: slice(n), lambda n: slice(n, -360)), "no others"),
        (_held_out(lambda n: slice(n), lambda n: slice(-360)), "no others"),
        (lambda n: round(_learned(n)[0], 2), "round nothing"),
        (_held_out(lambda n: slice(-360 - n, -360), lambda n: slice(-360, None)), "the first n scans"),
        (0.9, "give it the function"),
        (lambda n: str(_learned(n)[0]), "of type str"),
        (lambda n: print(_learned(n)[0]), "write return"),
        (lambda n: print(end=""), "is there a return")],
    also_right=[
        "lambda n: accuracy(train(nn.MLP([64, 32, 10], rng=0), images[:n], labels[:n], 20_000 // n),"
        " test_images, test_labels)",
        edit("return accuracy(model, test_images, test_labels)",
             "return sum(model(x[None]).data.argmax() == y for x, y in zip(test_images, test_labels)) / len(test_labels)")])
