"""Ask the questions of lesson 12: shuffled batches, a scaler for the training set, and a learning curve."""

import dis
import inspect
from contextlib import contextmanager
from functools import cache
from itertools import islice

import numpy as np

from autograd_lib import Tensor, nn, no_grad, optim, softmax, tanh

from ...data import digits
from ...grading import NotYet, Wrong, brief, edit, exercise, expect, expect_over, is_stub, returned
from ...grading.mistakes import printed, swapped
from ...quiz.texts import Question, card, prediction, recall
from ...source import underneath

recall(
    "12",
    [
        Question(
            "The largest curvature of a quadratic loss is 50. Above which learning rate does plain gradient descent diverge? (Lesson 11)",
            0.04,
            "Above 2 / 50 = **0.04**. At exactly 0.04, each step lands just as far away on the other side.",
        ),
        Question(
            "Softmax gives the probabilities 0.7, 0.2 and 0.1, and the first class is the true one. What is the gradient of −log p with "
            "respect to the three logits? (10)",
            [-0.3, 0.2, 0.1],
            "p − onehot: **[−0.3, 0.2, 0.1]**. It sums to 0.",
        ),
        Question(
            "A value has two users, and each of them sends it a gradient in the backward pass. What happens to the two gradients? (02)",
            "they are added",
            "They are **added**, because a change of the value reaches L through each of its users.",
            ["they are added", "they are multiplied", "the larger one counts"],
        ),
    ],
)

prediction(
    "12.pull",
    question="""After 300 steps of training, which points have the largest pull?

        - **A** points where the network is undecided, with a probability near ½ for both classes
        - **B** points deep inside their own colour, where it is confident and right
        - **C** points deep inside the other colour, where it is confident and wrong""",
    answer="C",
    choices=["A", "B", "C"],
    reveal="""**C.** The pull of a point is 1 − p(true class). If the network is confident but wrong about a point, the pull is
        almost 1. The points of A have only half this pull.""",
)

prediction(
    "12.start",
    question="""A network takes 64 pixels, has 256 hidden neurons and returns 10 logits. It has not been trained yet, and
        receives a batch of 64 scans. What is the shape of the logits? What is the shape of the gradient of the
        first layer's weight? And what, approximately, is the loss, the mean of −log p(true class)?""",
    answer={"logits": (64, 10), "gradient": (256, 64), "loss": 2.303},
    tolerance=0.15,
    reveal="""The logits have shape **(64, 10)**: a row for each scan and a column for each digit. The gradient has the
        shape of the weight, for a batch of any size: **(256, 64)**, a row for each hidden neuron and a column for
        each pixel.

        Before it has learned anything, the network gives each of the ten classes about 1/10. So the loss is about −log(1/10) =
        log 10 ≈ **2.303**. Remember this number. If the first loss is far above it, the network is confident before it has
        learned anything: perhaps its weights or its inputs are too large. If the loss stays at this number, the
        network learns nothing.""",
)

prediction(
    "12.zero",
    question="""All weights and biases are 0. Which of the four parameters (weight and bias of the first layer, weight and bias
        of the last) get a gradient that is not 0?""",
    answer="only the last bias",
    choices=[
        "all four",
        "both weights",
        "both biases",
        "the last weight and bias",
        "only the last bias",
        "none",
    ],
    reveal="""Only **the last bias**. The hidden values are relu(0) = 0. The gradient of the last weight is a product with these
        values, so it is 0. The gradient of the hidden layer is a product with the last weight, which is also 0. So both
        weights stay 0, and no gradient reaches the first layer, however long you train.

        What if everything starts at 0.2? In the first step only the last layer changes, because the gradient of a hidden neuron is
        0.2 times the sum of p − onehot, which is 0. From then on gradients flow. But every hidden neuron computes
        the same value, gets the same gradient and takes the same step. So the neurons stay equal.""",
)

prediction(
    "12.parrot",
    question="""A network learns from 200 scans whose labels were shuffled once. It sees all of them 150
        times. What percentage of these 200 labels does it then predict correctly? And what percentage of the true labels of the 360 held-out scans does it predict correctly?""",
    answer={"on the 200, in %": 100, "held out, in %": 10},
    tolerance=6,
    reveal="""**100 %** of the 200, because it memorises all the shuffled labels. Of the held-out scans, about **10 %**, no more
        than by guessing: it has learned nothing about digits.""",
)

prediction(
    "12.best",
    question="""A hundred programs guess the digits at random, without looking at them. You choose the program with
        the highest score on the first 180 held-out scans. What percentage of these 180 did it guess correctly? And what
        percentage of the other 180? (The standard error is 2.2 percentage points, for 180 scans and p = 10 %.)""",
    answer={"on the first 180, in %": 16, "on the other 180, in %": 10},
    tolerance=2.5,  # below 3, so that two equal answers are never both right
    reveal="""About **16 %** of the 180 scans by which you chose it, and about **10 %** of the other 180. Every score scatters around 10 %
        with a standard error of 2.2 points. The best of a hundred scores is usually two to three standard errors above 10 %. It is the
        highest because of luck, and this luck is not repeated on other scans.""",
)

prediction(
    "12.hand",
    question="""With digits held out at random, the score is about 98 %. This time, hold out a block of 450 *neighbouring scans*
        in the file, and train on the rest. What happens to the score, averaged over four such blocks?""",
    answer="about two points lower",
    choices=["higher", "about the same", "about two points lower", "about ten points lower"],
    reveal="""**Lower, by about two points**: most scans of a block seem to come from writers whom the network has never seen. The
        scores of the blocks differ by more than these two points.""",
)

card(
    "12",
    [
        "Five lines: `zero_grad`, forward, loss, `backward`, `step`.",
        "Gradient of the logits: `p − onehot`. It is largest where the model is confident and wrong, and almost 0 where it is confident and right.",
        "The first loss with C classes is about log C. If it stays there, the network learns nothing.",
        "Initialise weights at random: neurons that start with equal weights (in and out) and biases stay equal.",
        "Shuffle images and labels in the same order.",
        "Trust the held-out score, to about ±2·√(p(1 − p)/n). If you use it to make a choice, you need another test set.",
    ],
)

# --- 12.train_step --------------------------------------------------------------------------------------------------------


def _one_step(model, optimizer, X, y):
    """Take one step of the optimizer, and return the loss before it."""
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(X), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@exercise(
    "12.train_step",
    minutes=5,
    difficulty="easy",
    importance=3,
    names=lambda: {"cross_entropy": nn.functional.cross_entropy},
    question="""
        Write these five lines once, for any network and any data: `train_step(model, optimizer, X, y)`. You need `model(X)`,
        `cross_entropy(logits, y)`, and three methods: `backward` of the loss, `zero_grad` and `step` of the optimizer.

        - The parameters may still have gradients from earlier, in `.grad`, and `backward` adds to them. The step must follow the
          gradient of this loss alone.
        - Return the loss *before* the step as a float. (`.item()` returns the number in a Tensor.)

        The check runs several steps with networks of its own, and compares their parameters with the right ones.""",
    stub="""
        def train_step(model, optimizer, X, y):
            ...""",
    hints=[
        """
        Each line needs the result of an earlier one: `backward` needs the loss, the loss needs the logits, and `step` needs the
        gradients. Where must `zero_grad` be, so that it removes the old gradients and not the new ones?""",
        """
        `loss = cross_entropy(model(X), y)` runs the forward pass and computes the loss. Before it comes `optimizer.zero_grad()`, and
        after it come two calls and the `return`.""",
    ],
    solution="""
        def train_step(model, optimizer, X, y):
            optimizer.zero_grad()  # old gradients to zero
            logits = model(X)  # forward pass
            loss = cross_entropy(logits, y)  # one number
            loss.backward()  # backward pass: a gradient for every parameter
            optimizer.step()  # change every parameter
            return loss.item()""",
    explained="""
        If you leave out `zero_grad`, the first step of a new network is still right, because it has no old gradients. The mistake
        shows from the second step on. So the check takes several steps.""",
    why="The step follows the gradient of this loss alone, because zero_grad comes before backward, and step after it.",
)
def train_step(answer):
    rng, cross_entropy = np.random.default_rng(0), nn.functional.cross_entropy
    for kind, lr in [(optim.SGD, 0.5), (optim.Adam, 0.1)]:
        events = []
        model, twin = (
            _watched(nn.MLP, events)([3, 5, 4], tanh, rng=0),
            nn.MLP([3, 5, 4], tanh, rng=0),
        )
        optimizer, right = (
            make(network.parameters(), lr=lr)
            for make, network in [(_watched(kind, events), model), (kind, twin)]
        )
        for nth, when in enumerate(STEPS):
            X, y = rng.normal(size=(4 + nth, 3)), rng.integers(4, size=4 + nth)
            if nth == 2:
                for p in model.parameters():
                    p.grad = rng.normal(size=p.shape)
            before, stored = _parameters(model), _gradient(model)
            events.clear()
            got = returned(answer, model, optimizer, X, y, tried=when, shown=LOSS, hints=SLIPS)
            soft = cross_entropy(softmax(twin(X)), y)
            twin.zero_grad()
            soft.backward()
            softened = _gradient(twin)
            loss = _one_step(twin, right, X, y)
            if not np.allclose(_parameters(model), _parameters(twin), rtol=1e-6, atol=1e-9):
                unmoved = np.array_equal(_parameters(model), before)
                raise Wrong(
                    when,
                    "no parameter has changed"
                    if unmoved
                    else "a different change of the parameters",
                    "every parameter takes one step along the gradient of this loss",
                    _slip(
                        [*events],
                        _gradient(model),
                        stored,
                        _gradient(twin),
                        softened,
                        len(y),
                        unmoved,
                    ),
                )
            if isinstance(got, Tensor) or not isinstance(got, (float, np.floating)):
                raise Wrong(
                    f"the returned value in {when}",
                    f"a value of type {type(got).__name__}",
                    "a float",
                    "The parameters are right. Return the loss as a plain number, loss.item(). (A Tensor would keep the graph "
                    "of this step in memory.)"
                    if isinstance(got, (Tensor, np.ndarray)) and got.size == 1
                    else "The parameters are right. Return the loss, and nothing else: loss.item().",
                )
            expect(
                float(got),
                loss,
                tried=f"the returned loss of {when}",
                hints=[
                    (
                        cross_entropy(twin(X), y).item(),
                        "The parameters are right, but that is the loss after the step. Return the loss from which you "
                        "called backward.",
                    ),
                    (
                        len(y) * loss,
                        "The parameters are right, but that is the sum over the rows. Return the mean, as cross_entropy does.",
                    ),
                ],
            )


STEPS = [
    "the first step of a new network",
    "the second step, with other data",
    "a step while .grad holds the gradients of a different loss",
]
LOSS = "the loss before the step, as a float"
NUMBER = ".item() returns a plain number, which has no backward. Call backward on the Tensor, and use .item() only for the result."
SLIPS = [
    (
        lambda model, optimizer, X, y: nn.functional.cross_entropy(y, model(X)),
        "cross_entropy takes the logits first, and then the labels y.",
    ),
    (
        lambda model, optimizer, X, y: nn.functional.cross_entropy(model(X), y).item().backward(),
        NUMBER,
    ),
    (
        lambda model, optimizer, X, y: nn.functional.cross_entropy(X, y),
        "cross_entropy takes the logits, model(X), and not X itself.",
    ),
    (
        lambda model, optimizer, X, y: _unrecorded(model, X, y).backward(),
        "Under no_grad the forward pass is not recorded, so backward has nothing to go through. Leave no_grad out.",
    ),
    (
        lambda model, optimizer, X, y: model(X).backward(),
        "backward starts at the loss, which is a single number, and not at the logits.",
    ),
    (
        lambda model, optimizer, X, y: optimizer.backward(),
        "backward is a method of the loss: loss.backward().",
    ),
    (
        lambda model, optimizer, X, y: model.backward(),
        "backward is a method of the loss: loss.backward().",
    ),
    (
        lambda model, optimizer, X, y: model.step(),
        "step is a method of the optimizer: optimizer.step().",
    ),
]


def _unrecorded(model, X, y):
    with no_grad():
        return nn.functional.cross_entropy(Tensor(model(X).data), y)


def _watched(kind, events):
    """Return a subclass of `kind`, a class of models or optimizers, that records some of its calls.

    Each call of `zero_grad` or `step` appends a pair to the list `events`: the name of the method,
    and the gradients of all parameters before the call, as one vector.
    """

    def recorded(name):
        def call(self, *args, **named):
            events.append((name, _gradient(self)))
            return getattr(kind, name)(self, *args, **named)

        return call

    methods = {name: recorded(name) for name in ("zero_grad", "step") if hasattr(kind, name)}
    return type(kind.__name__, (kind,), methods)


def _tensors(owner):
    return owner.params if isinstance(owner, optim.Optimizer) else [*owner.parameters()]


def _gradient(owner):
    """Return the gradients of a model or an optimizer as one vector, with 0 where there is none."""
    return np.concatenate(
        [np.ravel(np.zeros(p.shape) if p.grad is None else p.grad) for p in _tensors(owner)]
    )


def _parameters(model):
    return np.concatenate([p.data.ravel() for p in model.parameters()])


def _slip(events, left, stored, alone, softened, rows, unmoved):
    """Return a hint about the mistake in a training step, judged by the gradients that it used.

    Parameters
    ----------
    events : list of tuple
        The calls of `zero_grad` and `step` in order, each with the gradients before the call.
    left, stored : ndarray
        The gradients after the training step, and before it.
    alone, softened : ndarray
        The gradient of the right loss, and that of the loss of softmax(logits).
    rows : int
        The number of rows of the data.
    unmoved : bool
        True if no parameter has changed.
    """
    used = [g for name, g in events if name == "step"]
    erased = [g for name, g in events if name == "zero_grad" and g.any()]

    def close(g, other):
        return np.allclose(g, other, rtol=1e-6, atol=1e-9)

    if not used:
        return (
            "optimizer.step() was not called. (Are the parentheses there?)"
            if unmoved
            else "The parameters changed without a step of the optimizer that was passed. Only this optimizer knows its rule, its "
            "learning rate and its memory: call optimizer.step()."
        )
    if len(used) > 1:
        return f"The optimizer took {len(used)} steps in one call. One call is one step."
    if not used[0].any():
        if left.any():
            return (
                "When step() ran, there were no gradients yet: backward() ran after it. The step needs the gradients, so "
                "backward() comes first."
            )
        if any(not close(g, stored) for g in erased):
            return (
                "When step() ran, there were no gradients any more: zero_grad() ran after backward(), and removed the new "
                "gradients. Remove the old ones before backward() adds the new ones."
            )
        return "When step() ran, there were no gradients. Call backward() on the loss before it. (Are the parentheses there?)"
    if stored.any() and close(used[0], stored + alone):
        return (
            "The step followed the sum of the old gradients and the new ones. zero_grad() ran only after the step, which is "
            "too late for gradients from elsewhere: call it before backward()."
            if erased
            else "The step followed the sum of the old gradients and the new ones, because backward() adds to .grad. Call "
            "zero_grad() before backward(). (Are the parentheses there?)"
        )
    for factor, hint in [
        (2, "The step followed twice the gradient of this loss: backward() ran twice."),
        (
            -1,
            "The step followed the negative gradient, so the loss rises: leave out the minus sign.",
        ),
        (
            rows,
            "The step followed the gradient of the sum over the rows. cross_entropy returns their mean.",
        ),
    ]:
        if close(used[0], factor * alone):
            return hint
    if close(used[0], softened):
        return "cross_entropy contains the softmax already: pass it the logits, model(X)."
    if close(used[0], alone):
        return "The step used the right gradients, but then your code changed the parameters again. The optimizer changes them."
    return (
        "The step followed the gradient of a different loss. Does your function use its own four arguments, and all rows of X "
        "and y?"
    )


# --- 12.batches -----------------------------------------------------------------------------------------------------------


@exercise(
    "12.batches",
    minutes=8,
    difficulty="medium",
    importance=3,
    question="""
        The score is no better than guessing, and the loss stays near 2.3, so the network learns nothing. Find the bug, and write
        a correct function.

        - Each epoch contains every scan once, in a new random order from `rng`.
        - An image and its label stay together.
        - A batch has `size` rows; the last one may be smaller.
        - Do not modify the caller's arrays.""",
    stub="""
        def batches(images, labels, size, rng):
            ...""",
    hints=[
        "After the second line of the colleague's function, is `labels[0]` still the label of `images[0]`?",
        "Draw one `order = rng.permutation(len(images))` and use pieces of it as row numbers for both arrays.",
    ],
    solution="""
        def batches(images, labels, size, rng):
            order = rng.permutation(len(images))  # one order, for both
            for start in range(0, len(images), size):
                rows = order[start:start + size]
                yield images[rows], labels[rows]""",
    explained="""
        `rng.permutation` runs once per call, so each epoch has a new order, the same for images and labels. In the next section
        `train` uses this function.""",
    why="With one order for both arrays, an image and its label always stay together.",
)
def batches(answer):
    rng = np.random.default_rng(0)
    first = _one_epoch(answer, 10, 4, rng)
    sizes = [len(y) for _, y in first]
    called = _order(first)
    tried = "10 images, each with its own label, in batches of 4"
    _together(tried, first)
    if sum(sizes) < 10:
        raise Wrong(
            tried,
            f"batches of {sizes}",
            "batches of [4, 4, 2]",
            "order[a:b] has b − a rows, because b is not included."
            if len(sizes) == 3 and sizes[0] < 4
            else "Some scans are never used. Does the order contain all rows? (The last batch may be smaller.)",
        )
    if (
        sorted(sizes) == [2, 4, 4]
        and sizes != [4, 4, 2]
        and all(np.ptp(y) == len(y) - 1 for _, y in first)
    ):
        raise Wrong(
            tried,
            f"batches of {sizes}",
            "batches of [4, 4, 2]",
            "Each batch contains neighbours in the file: shuffle the rows one by one.",
        )
    if sizes != [4, 4, 2] and sum(sizes) == 10:
        raise Wrong(
            tried,
            f"batches of {sizes}",
            "batches of [4, 4, 2]",
            "`size` is the number of rows in a batch. The last batch has the remaining rows.",
        )
    if sorted(called) != list(range(10)):
        raise Wrong(
            tried,
            f"labels {called}",
            "each of the ten labels once",
            "Some scans appear twice and others never: shuffle all row numbers once, and use each of them once."
            if len({*called}) < 10
            else "Some scans appear twice. Do the pieces of the order overlap? Each piece begins where the previous one ends.",
        )
    if called == list(range(10)):
        raise Wrong(
            tried,
            f"labels {called}",
            "a shuffled order",
            "The rows are not shuffled. rng.permutation(n) returns the numbers 0 to n − 1 in random order.",
        )
    again = _order(_one_epoch(answer, 10, 4, rng))
    if again == called:
        raise Wrong(
            "a second epoch with the same rng",
            f"labels {again}, as before",
            "a new order",
            "Every epoch has the same order: shuffle again at each call, with the rng that is passed in.",
        )
    twice = [_order(_one_epoch(answer, 10, 4, np.random.default_rng(7))) for _ in range(2)]
    if twice[0] != twice[1]:
        raise Wrong(
            "two runs, each with a new rng of seed 7",
            "two different orders",
            "the same order",
            "The order does not depend only on the rng that is passed in, so the training cannot be repeated.",
        )
    places = [np.argsort(_order(_one_epoch(answer, 10, 4, rng))) for _ in range(6)]
    if (still := np.flatnonzero(np.ptp(places, axis=0) == 0)).size:
        raise Wrong(
            "six epochs of 10 images",
            f"image {still[0]} at the same position each time",
            "any position",
            "Every row must be able to appear at any position: shuffle all len(images) row numbers.",
        )
    many = _one_epoch(answer, 60, 6, rng)
    tried = "60 images in batches of 6"
    if all(np.ptp(np.floor_divide(y, 6)) == 0 and np.ptp(np.diff(y)) for _, y in many):
        raise Wrong(
            tried,
            f"a batch {_order(many[:1])}",
            "scans from all over the file",
            "Each batch contains six neighbours in the file: shuffle all row numbers, and cut the result into batches.",
        )
    if np.mean(np.isin(np.diff(_order(many)), (-1, 1))) > 0.5:
        raise Wrong(
            tried,
            f"a batch {_order(many[:1])}",
            "scans from all over the file",
            "Most neighbours in the file are still neighbours: shuffle the rows one by one.",
        )
    if abs(np.mean(np.diff(_order(many)) > 0) - 0.5) > 0.25:
        raise Wrong(
            tried,
            f"a batch {_order(many[:1])}",
            "rows in random order",
            "The rows mostly run through the file in one direction: shuffle all row "
            "numbers, and do not sort them.",
        )
    early = np.count_nonzero(np.less(_order(many)[:30], 30))
    if not 5 < early < 25:
        raise Wrong(
            tried,
            f"{early} of the first 30 images in the first 30 places",
            "about 15",
            f"Most of the file's first half comes {'first' if early > 15 else 'last'}: every row must "
            "be able to appear at any position.",
        )
    for count, size in [(3, 8), (6, 3), (4, 1), (250, 130), (30, 40), (203, 2), (1437, 64)]:
        came = _one_epoch(answer, count, size, rng)
        _together(f"{count} images in batches of {size}", came)
        expect(
            [len(y) for _, y in came],
            [size] * (count // size) + [count % size] * (count % size > 0),
            tried=f"the numbers of rows in the batches of {count} images, with size {size}",
            hints=[
                lambda got, right: (
                    "`size` is the number of rows in a batch. The last batch has the remaining rows."
                    if sum(got) == sum(right) or got[0] != right[0]
                    else "Each epoch contains every scan once: use each piece of the order once."
                )
            ],
        )
        order = _order(came)
        if sorted(order) != [*range(count)]:
            raise Wrong(
                f"{count} images in batches of {size}",
                f"{len({*order})} different images",
                "each image once",
                "Some scans appear twice and others never: the order must contain each row number once, however many "
                "there are.",
            )
        if count > 20 and np.mean(np.less(order[: count // 2], count // 2)) > 0.81:
            raise Wrong(
                f"{count} images in batches of {size}",
                "the first half of the epoch is mostly rows from the first half of the file",
                "all rows shuffled",
                "Shuffle all row numbers, however many there are.",
            )
    true = np.array([3, 1, 3, 0, 1, 2])
    came = [*answer(np.arange(6.0)[:, None], true.copy(), 4, np.random.default_rng(0))]
    rows = np.concatenate([np.ravel(np.asarray(x)) for x, _ in came]).astype(int).tolist()
    if sorted(rows) != list(range(6)):
        raise Wrong(
            f"six images, with the labels {brief(true)}",
            f"images {brief(rows)}",
            "each image once",
            "The order must contain row numbers, not labels: two images may have the same label.",
        )
    expect(
        _order(came),
        true[rows].tolist(),
        tried=f"six images, with the labels {brief(true)}: the labels of images {brief(rows)}",
        hints=[
            lambda got, right: (
                "A row number is not a label: images[rows] and labels[rows] belong together."
            )
        ],
    )
    blank = answer(np.zeros((6, 3)), np.arange(6), 4, np.random.default_rng(0))
    expect(
        sorted(np.concatenate([y for _, y in blank]).tolist()),
        list(range(6)),
        tried="six images, all of them blank, with the labels 0 to 5: the labels of an epoch, sorted",
        hints=[
            lambda got, right: (
                "Images that look the same may have different labels: use the row numbers."
            )
        ],
    )


def _together(tried, came):
    """Raise Wrong if an image in one epoch of batches has the label of a different image.

    `came` is a list of pairs (images, labels), and `tried` is the call shown to the learner.
    """
    shown, called = (
        np.rint(np.concatenate([x for x, _ in came])[:, 0] * 10).astype(int).tolist(),
        _order(came),
    )
    if shown != called:
        twice = sorted(called) == sorted(shown) == [*range(len(called))] and (
            "The images are reordered twice, and the labels once."
            if shown == [called[row] for row in called]
            else "The labels are reordered twice, and the images once."
            if called == [shown[row] for row in shown]
            else ""
        )
        raise Wrong(
            tried,
            f"images of {brief(shown)} with labels {brief(called)}",
            "the same numbers in both",
            f"{twice} Either reorder both arrays and then cut them into pieces, or use pieces of the order as row numbers."
            if twice
            else "An image and its label must stay together. How often do you shuffle, and which arrays use the result?",
        )


def _add_hint(error):
    """Add a hint to an error that comes from rng.shuffle or from an array of pairs."""
    if "'NoneType'" in str(error):
        error.hint = "rng.shuffle(order) changes order and returns None. rng.permutation returns the new order."
    if "inhomogeneous" in str(error):
        error.hint = (
            "NumPy cannot put pairs (image, label) into one array, because an image and a label have different shapes. "
            "Shuffle row numbers, and yield the pair (images[rows], labels[rows])."
        )


def _shape(part):
    """Return the shape of a part of a batch, or () if its entries have different shapes."""
    try:
        return np.shape(part)
    except ValueError:
        return ()


def _are_pairs(batch):
    """Return True if `batch` is a list of pairs (image, label)."""
    return (
        isinstance(batch, (tuple, list))
        and len(batch) > 0
        and all(
            isinstance(one, (tuple, list)) and [len(_shape(part)) for part in one] == [1, 0]
            for one in batch
        )
    )


def _order(came):
    return np.concatenate([y for _, y in came]).astype(int).tolist()


def _one_epoch(answer, count, size, rng):
    """Return the batches that `answer` yields in one epoch as a list of pairs, or raise Wrong if one is malformed.

    `answer` is called with arrays of `count` images and labels, the batch size `size` and the
    generator `rng`. Each image has three pixels: its label times 0.1, times −1.23456789, and times
    2.5.
    """
    tried = f"list(batches(images, labels, {size}, rng))"
    labels = np.arange(count)
    images = labels[:, None] * [0.1, -1.23456789, 2.5]
    x, y = images.copy(), labels.copy()
    try:
        came = answer(x, y, size, rng)
    except (TypeError, ValueError) as error:
        _add_hint(error)
        raise
    if came is None and is_stub(answer):
        raise NotYet
    if came is None:
        raise Wrong(
            tried,
            "None",
            "pairs (images, labels)",
            "The function returned None. Does it contain a yield?",
        )
    if isinstance(came, tuple) and came and isinstance(came[0], np.ndarray):
        raise Wrong(
            tried,
            "one pair of arrays",
            "all the batches",
            "`return` ends the function. Use `yield` for each batch, so that the function continues.",
        )
    try:
        came = list(islice(came, 10 * count))
    except IndexError as error:
        error.hint = (
            "The rows are used up: the last batch may be smaller."
            if "pop from" in str(error)
            else "Index with row numbers, integers from 0 to len(images) − 1: pieces of one order of "
            "all rows, the same for both arrays."
        )
        raise
    except (TypeError, ValueError) as error:
        _add_hint(error)
        raise
    if len(came) == 10 * count:
        raise Wrong(
            tried,
            f"{len(came)} batches or more",
            "one epoch",
            "One call is one epoch: yield every scan once, and then end the function.",
        )
    if not came:
        raise Wrong(
            tried,
            "no batch",
            "pairs (images, labels)",
            "No batch was yielded: does the loop cover all rows?",
        )
    for batch in came:
        if _are_pairs(batch):
            raise Wrong(
                tried,
                f"a list of {len(batch)} pairs (image, label)",
                f"a pair of arrays, of shapes {(size, 3)} and {(size,)}",
                "Each batch is a single pair of arrays: (images[rows], labels[rows]).",
            )
        shapes = [*map(_shape, batch)] if isinstance(batch, (tuple, list)) else []
        if [*map(len, shapes)] != [2, 1] or shapes[0][0] != shapes[1][0]:
            raise Wrong(
                tried,
                f"a batch of type {type(batch).__name__}, of shape {shapes or np.shape(batch)}",
                f"pairs (images, labels), the first of shapes {(size, 3)} and {(size,)}",
                "Yield two arrays, images first, with one label for every row.",
            )
        if not shapes[0][0]:
            raise Wrong(
                tried,
                "an empty batch",
                "at least one row in every batch",
                "A batch is empty: yield only batches with rows.",
            )
    arrays = [batch[0] for batch in came[:2] if isinstance(batch[0], np.ndarray)]
    if len(arrays) == 2 and np.shares_memory(*arrays):
        raise Wrong(
            tried,
            "two batches that share memory",
            "a new array for each batch",
            "The first two batches share memory. Make new arrays for each batch.",
        )
    if not (np.array_equal(x, images) and np.array_equal(y, labels)):
        raise Wrong(
            "the caller's arrays after an epoch",
            "changed",
            "unchanged",
            "Your function writes into the caller's arrays. Draw row numbers with rng.permutation, and index with them.",
        )
    rows = {*map(tuple, images.tolist())}
    for batch in came:
        if not np.isin(batch[1], labels).all() or np.asarray(batch[1]).dtype != labels.dtype:
            raise Wrong(
                tried,
                f"labels {brief(batch[1])}",
                "unchanged labels",
                "The labels have changed. Select labels by row numbers, without changing them.",
            )
        for row in np.asarray(batch[0]):
            if tuple(row.tolist()) not in rows:
                raise Wrong(
                    tried,
                    f"an image {brief(row)}, which is not a row of images",
                    "unchanged rows of images",
                    "The pixels have changed. Select images by row numbers, without changing them.",
                )
    return came


# --- 12.scale -------------------------------------------------------------------------------------------------------------


def _scaled(train, new, fit, axis=0, keepdims=False):
    """Return the arrays `train` and `new`, both shifted by the mean of `fit` and divided by its standard deviation.

    A standard deviation of 0 is replaced by 1.
    """
    mean, spread = fit.mean(axis, keepdims=keepdims), fit.std(axis, keepdims=keepdims)
    spread = np.where(spread > 0, spread, 1)
    return (train - mean) / spread, (new - mean) / spread


def _spread(x):
    return np.where(x.std(axis=0) > 0, x.std(axis=0), 1)


def _not_below_1(train, new):
    mean, spread = train.mean(axis=0), np.maximum(train.std(axis=0), 1)
    return (train - mean) / spread, (new - mean) / spread


def _by_n_minus_1(train, new):
    spread = train.std(axis=0, ddof=1)
    spread[spread == 0] = 1  # of a single row the spread is nan, and stays nan
    return (train - train.mean(axis=0)) / spread, (new - train.mean(axis=0)) / spread


def _right_scale(train, new):
    return _scaled(train, new, train)


def _one_row(got, expected):
    more = (
        isinstance(got, (tuple, list)) and len(got) == 2 and np.ndim(got[1]) > np.ndim(expected[1])
    )
    return more and (
        "`new` keeps its shape, (64,) for a single scan: do not loop over its rows, and do not add a row "
        "(keepdims adds an axis)."
    )


def _blown_up(got, expected):
    big = isinstance(got, (tuple, list)) and any(
        not np.all(np.abs(np.asarray(part, float)) < 1e6) for part in got
    )
    return (
        "The result contains nan or a huge number: a pixel that never changes has standard deviation 0. Divide by 1 there."
        if big
        else None
    )


ALONG_A_SCAN = "axis=1 runs along a scan, from pixel to pixel. Run down the rows: axis=0."


@exercise(
    "12.scale",
    minutes=8,
    difficulty="optional",
    importance=1,
    question="""
        Often each pixel is scaled to mean 0 and standard deviation 1 before training. These two are numbers *learned* from data. Write
        `standardise(train, new)`, which returns `(train scaled, new scaled)`.

        - Subtract the mean and divide by the standard deviation (`.std`), pixel by pixel. A pixel is a column.
        - A pixel that never changes has standard deviation 0: divide by 1 there.
        - The function must also work if `new` is a single scan, of shape (64,).

        From which scans may you compute the mean and the standard deviation? (NumPy's `.std` divides by n; PyTorch's `.std()`
        divides by n − 1.)""",
    stub="""
        def standardise(train, new):
            ...""",
    hints=[
        """
        If you scale a single new scan pixel by pixel by *its own* mean, you get 64 zeros. So the numbers cannot come from `new`.""",
        (
            "Help: nan, or huge numbers",
            """
            `train.mean(axis=0)` has shape (64,), one number per pixel. `np.where(spread > 0, spread, 1)` handles the constant pixels.""",
        ),
        (
            "Why is it wrong to use the new scans too? The mean hardly changes.",
            """
            The score may not change either, and then the mistake goes unnoticed. But the score is meant for scans that were not used
            in any way, and these scans have been used. If there are few scans, or if the preparation is more complex than
            a mean, the score can rise for this reason alone.""",
        ),
    ],
    solution="""
        def standardise(train, new):
            mean, spread = train.mean(axis=0), train.std(axis=0)
            spread = np.where(spread > 0, spread, 1)
            return (train - mean) / spread, (new - mean) / spread""",
    explained="""
        Both numbers come from the training scans only. (Here ink is counted in sixteenths, which floats store exactly. For a
        pixel that is 0.1 in every scan, rounding can give a standard deviation of about 1e−15: then test `spread > 1e-9`.)""",
    why="The mean and the standard deviation are learned from the training scans, like weights. The scaler must not learn from the test scans.",
    mistakes=[
        *(
            (
                lambda train, new, rows=rows: (
                    _scaled(train, new, train)[0],
                    _scaled(train, new, rows(new))[1],
                ),
                "You scale the new scans by their own mean. What is left of a single new scan then?",
            )
            for rows in (np.asarray, np.atleast_2d)
        ),
        *(
            (
                lambda train, new, both=both: _scaled(train, new, both([train, new])),
                "You compute the mean and the spread from both arrays, so the test set leaks into training. Which array may the scaler learn from?",
            )
            for both in (np.concatenate, np.vstack)
        ),
        (
            lambda train, new: _scaled(train, new, new),
            "You use the mean and the spread of the new scans. Which of the two arrays may the scaler learn from?",
        ),
        (_not_below_1, "Divide by a spread below 1 as well: only a spread of 0 becomes 1."),
        (
            lambda train, new: (train - train.mean(axis=0), new - train.mean(axis=0)),
            "You have subtracted the mean. Now divide by the spread, pixel by pixel.",
        ),
        (
            lambda train, new: (_right_scale(train, new)[0], new),
            "You return the new scans as they are. Subtract the mean of train from them too, and divide by its spread.",
        ),
        (
            lambda train, new: tuple(
                (x - train.mean(axis=0)) * _spread(train) for x in (train, new)
            ),
            "You multiply by the spread. Divide by it.",
        ),
        (
            lambda train, new: tuple(
                (x - train.mean(axis=0)) / (train.std(axis=0) + 1) for x in (train, new)
            ),
            "You add 1 to every spread. Only a spread of 0 becomes 1.",
        ),
        (
            lambda train, new: (train / _spread(train), new / _spread(train)),
            "You divide by the spread. Subtract the mean first.",
        ),
        (
            lambda train, new: tuple(x - train.mean(axis=0) / _spread(train) for x in (train, new)),
            "Only the mean is divided: put parentheses around x - mean.",
        ),
        edit(
            "train.std(axis=0)",
            "train.std(axis=0, ddof=1)",
            "ddof=1 divides by n − 1, as torch.std does. Use NumPy's default .std, which divides by n.",
        ),
        (
            _by_n_minus_1,
            "You divide by n − 1, as torch.std does. Use NumPy's default .std, which divides by n.",
        ),
        (
            lambda train, new: tuple(
                (x - train.mean(axis=0)) / _spread(train) ** 2 for x in (train, new)
            ),
            "That divides by the variance. The spread is its root, .std.",
        ),
        (
            lambda train, new: tuple((x - train.mean()) / train.std() for x in (train, new)),
            "You use one mean and one spread for all pixels. With axis=0 each pixel has its own.",
        ),
        (
            lambda train, new: tuple(
                _scaled(x, x, x, axis=1, keepdims=True)[0] for x in (train, new)
            ),
            "axis=1 runs along a scan, from pixel to pixel, so each scan loses its own mean. Run down the rows: axis=0.",
        ),
        (
            lambda train, new: _scaled(train, new, train, axis=1),
            "axis=1 gives one number per scan. You need one per pixel: run down the rows, axis=0.",
        ),
        (
            lambda train, new: tuple(
                (x - train.mean(axis=1)) / train.std(axis=1) for x in (train, new)
            ),
            "axis=1 gives one number per scan. You need one per pixel: run down the rows, axis=0.",
        ),
        (
            lambda train, new: tuple(
                (x - train.mean(axis=1, keepdims=True)) / train.std(axis=1, keepdims=True)
                for x in (train, new)
            ),
            ALONG_A_SCAN,
        ),
        (
            lambda train, new: (
                tuple(x - train.mean(axis=0) for x in (train, new))
                if (train.std(axis=0) == 0).any()
                else _right_scale(train, new)
            ),
            "One constant pixel makes you divide all pixels by 1. np.where decides pixel by pixel.",
        ),
        (
            lambda train, new: _scaled(train, train, train, axis=1, keepdims=True),
            ALONG_A_SCAN,
        ),
        (
            lambda train, new: _scaled(train, new, train, axis=1, keepdims=True),
            ALONG_A_SCAN,
        ),
        (
            lambda train, new: _scaled(train, train, train),
            "You return train twice: scale the new scans too.",
        ),
        (
            lambda train, new: _right_scale(train, new)[1],
            "You return only the new scans. Return both arrays: train scaled, new scaled.",
        ),
        swapped(_right_scale),
        printed(_right_scale),
        _one_row,
        edit(
            "train.mean(axis=0), train.std(axis=0)",
            "(np.array([f(train[:, k]) for k in range(64)]) for f in (np.mean, np.std))",
            "train may have more or fewer than 64 pixels: use all train.shape[1] of them.",
        ),
        _blown_up,
    ],
)
def scale(answer):
    train, new = (
        np.array([[1.0, 3.0], [5.0, 3.0], [9.0, 3.0]]),
        np.array([[7.0, 3.0], [9.0, 4.0]]),
    )  # the second pixel is constant
    one = np.array([4.0, 1.0])
    count = np.arange(
        1437
    )  # as among the digits: one pixel with ink in a single scan, and one without ink in a single scan
    rare = np.column_stack([count % 17, count == 7, 16 - (count == 7)]) / 16

    def build(d):
        rows, pixels = d.size(2), d.size()
        scans = d(rows, pixels) * d.choice(1, 0.01)
        scans = np.where(
            scans.std(axis=0) < 1e-7, np.round(scans), scans
        )  # make nearly constant pixels constant
        if (
            d.round % 3 == 0 or d.kind == "equal"
        ):  # a constant pixel, an integer so that its spread is exactly 0
            scans[:, slice(None) if d.kind == "equal" else [d.places(pixels)]] = np.round(d())
        return scans, d(*d.choice((d.size(), pixels), (pixels,)))

    with np.errstate(all="ignore"):
        expect_over(
            answer,
            _right_scale,
            build,
            apart=True,
            hints=scale.mistakes,
            first=[
                (train, new),
                (train / 16, one),
                (train / 16, one[None]),
                (train[:1], new),
                (np.repeat(train, 150, axis=0), one),
                (rare, rare[5:9]),
            ],
            atol=1e-9,
        )


# --- 12.curve -------------------------------------------------------------------------------------------------------------


def _fitted(images, labels, model, epochs, jitter=0.0):
    """Train `model` in place exactly as the lesson's `train` does, and return it.

    `jitter` is the standard deviation of the noise that is added to the images.
    """
    rng, optimizer = np.random.default_rng(0), optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(epochs):
        optimizer.lr = 0.01 * (1 - epoch / epochs)
        order = rng.permutation(len(labels))
        for start in range(0, len(labels), 64):
            rows = order[start : start + 64]
            noise = jitter * rng.normal(size=images[rows].shape)
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images[rows] + noise), labels[rows]).backward()
            optimizer.step()
    return model


@cache
def _stand_in():
    """Return the parameters that the check's own `train` loads into the learner's network, as a state dict.

    They come from two epochs of training, which are enough to tell a right score from the likely
    wrong ones.
    """
    return _fitted(*digits()[:2], nn.MLP([64, 32, 10], rng=0), 2).state_dict()


def _share(model, images, labels):
    with no_grad():
        return np.mean(model(images).data.argmax(axis=1) == labels)


@exercise(
    "12.curve",
    minutes=8,
    difficulty="optional",
    importance=1,
    names=lambda: dict(
        zip(("images", "labels", "test_images", "test_labels"), digits()),
        accuracy=_share,
        train=lambda model, x, y, *rest, **named: _fitted(x, y, model, *rest, **named),
    ),
    question="""
        Write `held_out_accuracy(n)`: create `nn.MLP([64, 32, 10], rng=0)`, `train` it on the **first n** training scans
        for `20_000 // n` epochs, without jitter, and return its accuracy on **all the held-out** digits. (With fewer scans there
        are more epochs, so the six networks of your curve take similar numbers of steps, from 299 to 400.)

        Before you run it, guess two numbers: by how many percentage points does the score rise from 50 to 100 scans, and by how
        many from 800 scans to all? Your curve appears below the hints, once the function returns a number.""",
    stub="""
        def held_out_accuracy(n):
            ...""",
    hints=[
        """
        `images[:n]` and `labels[:n]` are the first n scans. Create a new network every time; otherwise the second size starts with the
        trained weights of the first.""",
        "`train(...)` returns the model. Pass the held-out arrays to `accuracy(model, ..., ...)`.",
    ],
    solution="""
        def held_out_accuracy(n):
            model = train(nn.MLP([64, 32, 10], rng=0), images[:n], labels[:n], epochs=20_000 // n)
            return accuracy(model, test_images, test_labels)""",
    explained="""
        Every n gets a new network, and all networks are tested on the same held-out digits. From 50 to 400
        scans the score rises by about 14 percentage points, and from 400 on it hardly changes. There are two limitations. A score of 96 % on 360 digits has a standard error of 1.0
        percentage points, and the last two scores of the curve differ by less. And the numbers of steps differ: 400 at first,
        and 299 for all scans. With
        40 epochs instead of 13, all scans give about 97 %: in our run, five more of the 360 are read correctly, and none is newly misread. So the
        plateau may be partly due to too little training.""",
    why="If the curve is flat, more data may not help: first try to train longer.",
)
def curve(answer):
    shown = "a fraction from 0 to 1"
    if isinstance(answer, nn.Module):
        raise Wrong(
            "your answer",
            "a network",
            "a function of n",
            "That is a network. The check calls your function, which makes a new network for each n.",
        )
    knows = nn.MLP([64, 32, 10])
    knows.load_state_dict(_stand_in())
    for n in (
        59,
        500,
        1437,
        50,
        59,
    ):  # k/59 is not k/360, and 59 tells 20,000 from 20,001
        tried, calls = f"held_out_accuracy({n})", []

        def train(model, images, labels, epochs, jitter=0.0):
            calls.append(n)
            _expect_training(answer, tried, len(calls), n, model, images, labels, epochs, jitter)
            model.load_state_dict(_stand_in())
            return model

        with _in_place_of("train", train, getattr(underneath(answer), "__globals__", {})):
            got = returned(
                answer,
                n,
                tried=tried,
                shown=shown,
                hints=[
                    (
                        lambda n: knows(digits()[3]),
                        "accuracy takes the model, then the images, then the labels.",
                    )
                ],
            )
        if not calls:
            raise Wrong(
                tried,
                "no call to train",
                "one call",
                _outside(answer) or "Create a network, `train` it, then compute its accuracy.",
            )
        if isinstance(got, nn.Module):
            raise Wrong(
                tried,
                "a network",
                shown,
                "You return a network. Return its accuracy: accuracy(model, test_images, test_labels).",
            )
        if np.ndim(got):
            raise Wrong(
                tried,
                brief(got),
                shown,
                "Return a single number: the fraction of held-out digits read correctly.",
            )
        expect(
            got,
            _share(knows, *digits()[2:]),
            tried=f"{tried}, where train makes two epochs, to be quick",
            shown="a different fraction",
            rtol=0,
            atol=1e-9,
            hints=[lambda got, right: _misread(n, knows, float(got), right)],
        )


@contextmanager
def _in_place_of(name, ours, scope):
    """Set the global `name` of the learner's function to `ours` while the block runs.

    `scope` is the dict of the function's globals. Its previous entry is restored at the end of the
    block.
    """
    own = {name: scope[name]} if name in scope else {}
    scope[name] = ours
    try:
        yield
    finally:
        scope.pop(name)
        scope.update(own)


def _expect_training(answer, tried, call, n, model, x, y, epochs, jitter):
    """Raise Wrong unless the learner's function has called `train` as the question requires.

    Parameters
    ----------
    answer : callable
        The learner's function of n.
    tried : str
        The call of the learner's function, for the message.
    call : int
        The number of calls to `train` so far, which must be 1.
    n : int
        The number of training scans.
    model, x, y, epochs, jitter
        The arguments that `train` received.
    """
    images, labels, test_images, _ = digits()
    if not isinstance(model, nn.Module):
        raise Wrong(
            f"{tried}: the arguments of train",
            f"first an argument of type {type(model).__name__}",
            "first the model",
            "train takes the model, then the images, the labels and the epochs, in this order.",
        )
    weights, fresh = (
        [p.data for p in m.parameters()] for m in (model, nn.MLP([64, 32, 10], rng=0))
    )
    begun = "The network continues from earlier training: create a new network at each call, inside the function."
    for good, got, expected, hint in [
        (
            call == 1,
            "another call",
            "one call for each n",
            "Train once for each n: a second call of `train` starts with the large learning rate again.",
        ),
        (
            [*map(np.shape, weights)] == [*map(np.shape, fresh)],
            "a network with different layer sizes",
            "nn.MLP([64, 32, 10], rng=0)",
            "The network has 64 inputs, 32 hidden neurons and 10 outputs.",
        ),
        (
            all(map(np.array_equal, weights, fresh)),
            "a network with different weights",
            "nn.MLP([64, 32, 10], rng=0)",
            _outside(answer)
            or (
                begun
                if all(map(np.array_equal, weights, _stand_in().values()))
                else "Pass rng=0, which makes the same network every time."
            ),
        ),
        (
            np.array_equal(x, images[:n]),
            f"different images, of shape {np.shape(x)}",
            f"the first {n} training scans",
            "The held-out scans are not for training."
            if np.array_equal(x, test_images[: len(x)])
            else "That is a single row of numbers. Pass the images, images[:n], first, and then the labels."
            if np.ndim(x) == 1
            else "The first n rows of images are images[:n].",
        ),
        (
            np.array_equal(y, labels[:n]),
            f"different labels, of shape {np.shape(y)}",
            f"the labels of the first {n} scans",
            "Take the first n entries of both arrays, images[:n] and labels[:n].",
        ),
        (
            epochs == 20_000 // n,
            f"epochs = {epochs}",
            f"epochs = {20_000 // n}",
            "Use 20_000 // n epochs, so that fewer scans get more epochs.",
        ),
        (jitter == 0, f"jitter = {jitter}", "no jitter", "Leave jitter out. Its default is 0."),
    ]:
        if not good:
            raise Wrong(f"{tried}: the arguments of train", got, expected, hint)


def _misread(n, model, got, right):
    """Return a hint about the likely cause of a wrong score, or an empty string.

    `got` is the learner's score and `right` is the correct score of `model`, trained on the first n
    scans.
    """
    images, labels, *_ = digits()
    if got > 1:
        return "Return a fraction from 0 to 1."
    if abs(1 - got - right) < 1e-9:
        return "That is the fraction of digits that are read wrong."
    if abs(got - _share(model, images[:n], labels[:n])) < 1e-9:
        return "That is the score on the digits that the network was trained on. Use the held-out digits."
    if abs(got * 360 - round(got * 360)) > 1e-3:
        return "That is not a fraction of the 360 held-out digits: use all of them and no others, and do not round."
    return ""


def _outside(function):
    """Return a hint if `function` uses a network that was created outside it, or else an empty list."""
    outside = _networks_of(function)
    return outside and (
        f"`{outside[0]}` was made outside your function. Make a new nn.MLP inside, for each n, because "
        "a network continues from its trained weights."
    )


def _networks_of(function):
    """Return the names of the networks that a function uses but does not create.

    They are global variables or variables of an enclosing function.
    """
    function = underneath(function)
    if not inspect.isfunction(function):
        return []
    used = inspect.getclosurevars(function)
    read = {
        step.argval for step in dis.get_instructions(function) if step.opname == "LOAD_GLOBAL"
    }  # np.random reads no `random`
    known = {
        **{name: value for name, value in used.globals.items() if name in read},
        **used.nonlocals,
    }
    return [name for name, value in known.items() if isinstance(value, nn.Module)]
