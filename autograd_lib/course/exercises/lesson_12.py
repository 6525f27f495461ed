"""Lesson 12: batches that keep image and label together, a scaler that never sees the future, a learning curve."""
from functools import cache

import numpy as np

from ... import nn, optim
from ..data import digits
from . import NotYet, Wrong, exercise, expect_call, is_stub


@exercise("12.batches", why="One order for both: an image and its label are never apart, so no shuffle can part them.")
def batches(answer):
    labels = np.arange(10)
    images = np.repeat(labels[:, None] / 10, 3, axis=1)      # every image tells its own label
    rng = np.random.default_rng(0)
    first = _one_epoch(answer, images, labels, rng)
    sizes = [len(y) for _, y in first]
    shown = np.rint(np.concatenate([x for x, _ in first])[:, 0] * 10).astype(int).tolist()
    called = np.concatenate([y for _, y in first]).astype(int).tolist()
    tried = "10 images, each with its own label, in batches of 4"
    if shown != called:
        raise Wrong(tried, f"images of {shown} with labels {called}", "the same numbers in both",
                    "An image and its label have to move together. How many orders are drawn, and how many arrays follow each?")
    if sum(sizes) < 10:
        raise Wrong(tried, f"batches of {sizes}", "batches of [4, 4, 2]",
                    "Some scans are never used: the last batch may be smaller.")
    if sizes != [4, 4, 2]:
        raise Wrong(tried, f"batches of {sizes}", "batches of [4, 4, 2]",
                    "`size` says how many rows a batch has. The last one takes what is left.")
    if sorted(called) != list(range(10)):
        raise Wrong(tried, f"labels {called}", "each of the ten once",
                    "Some scans come twice and others never: draw an order of all rows, not row after row.")
    if called == labels.tolist():
        raise Wrong(tried, f"labels {called}", "another order",
                    "Nothing is shuffled now. rng.permutation(n) gives the numbers 0 to n − 1 in random order.")
    again = np.concatenate([y for _, y in _one_epoch(answer, images, labels, rng)]).tolist()
    if again == called:
        raise Wrong("a second epoch with the same rng", f"labels {again}, as before", "a new order",
                    "Every epoch comes in the same order: use the rng that is passed in, and make no new one inside.")
    twice = [np.concatenate([y for _, y in _one_epoch(answer, images, labels, np.random.default_rng(7))]).tolist() for _ in range(2)]
    if twice[0] != twice[1]:
        raise Wrong("two runs, each with a new rng of seed 7", "two different orders", "the same order",
                    "The order does not come from the rng that is passed in: nobody could repeat this training.")


def _one_epoch(answer, images, labels, rng):
    """The batches as a list of pairs, or the verdict that they are none."""
    tried = "list(batches(images, labels, 4, rng))"
    x, y = images.copy(), labels.copy()
    came = answer(x, y, 4, rng)
    if came is None and is_stub(answer):
        raise NotYet
    if came is None:
        raise Wrong(tried, "None", "pairs (images, labels)", "Nothing came out: is there a yield?")
    came = list(came)
    if not came:
        raise Wrong(tried, "no batch", "pairs (images, labels)", "Nothing came out: does the loop run over all rows?")
    for batch in came:
        if not isinstance(batch, tuple) or [np.ndim(part) for part in batch] != [2, 1] or len(batch[0]) != len(batch[1]):
            raise Wrong(tried, f"a batch that is {type(batch).__name__} of shapes {[np.shape(part) for part in batch]}",
                        "pairs (images, labels), the first of shapes (4, 3) and (4,)",
                        "Yield two arrays, with one label for every row of images.")
    if not (np.array_equal(x, images) and np.array_equal(y, labels)):
        raise Wrong("the caller's arrays after an epoch", "changed", "as they were",
                    "The caller's own data are stirred. Draw row numbers with rng.permutation, and index with them.")
    return came


@exercise("12.scale", why="Mean and spread are learned from the training scans, like weights. What only the test could tell, "
                          "the scaler must not hear.")
def scale(answer):
    train, new = np.array([[1.0, 3.0], [5.0, 3.0]]), np.array([[7.0, 3.0], [9.0, 4.0]])   # the second pixel is constant
    hints = [
        ((_scaled(train, new, train)[0], _scaled(train, new, new)[1]),
         "The new scans are scaled by their own mean. Tomorrow one scan arrives alone: what is left of it after that?"),
        (_scaled(train, new, np.concatenate([train, new])),
         "Mean and spread are taken over both: the test set leaks into training. Who may be asked?"),
        (_scaled(train, new, new), "Fitted on the test set. Which of the two may the scaler learn from?"),
        (lambda got, _: "Not a number, or a huge one: a pixel that never changes has spread 0. Divide by 1 there."
            if _blown_up(got) else None),
        ((train - train.mean(axis=0), new - train.mean(axis=0)),
         "The mean is gone. Now divide by the spread, pixel by pixel."),
        (((train - train.mean()) / train.std(), (new - train.mean()) / train.std()),
         "One mean for all pixels: take it down the rows, axis=0, so that each pixel has its own.")]
    with np.errstate(all="ignore"):
        expect_call(answer, train, new, gives=_scaled(train, new, train), shown="other numbers", hints=hints)
        rng = np.random.default_rng(0)
        train, one = rng.normal(5, 2, (30, 4)), rng.normal(9, 1, (1, 4))
        expect_call(answer, train, one, gives=_scaled(train, one, train), shown="other numbers",
                    tried="standardise(30 scans, a single new scan) of 4 pixels")
        before = train.copy()
        answer(train, one)
        if not np.array_equal(train, before):
            raise Wrong("the caller's training scans, after the call", "changed", "as they were",
                        "train -= … writes into the caller's array: make a new one, train - ….")


def _scaled(train, new, fit):
    """Both arrays, scaled by mean and spread of `fit`."""
    spread = np.where(fit.std(axis=0) > 0, fit.std(axis=0), 1)
    return (train - fit.mean(axis=0)) / spread, (new - fit.mean(axis=0)) / spread


def _scaled_in_place(train, new):
    """A planted wrong answer: the numbers are right, and the caller's array is gone."""
    result = _scaled(train, new, train)
    train -= train.mean(axis=0)
    return result


def _blown_up(got):
    return isinstance(got, (tuple, list)) and any(not np.all(np.abs(np.asarray(part, float)) < 1e6) for part in got)


@exercise("12.curve", why="The gap to 100 % shrinks, but more and more slowly: the curve says what more data would buy, "
                          "before you pay for it.")
def curve(answer):
    held_out = len(digits()[3])
    for n in (61, 500):      # a share of 61 scans is no share of 360
        tried, got = f"held_out_accuracy({n})", answer(n)
        if got is ... or (got is None and is_stub(answer)):
            raise NotYet
        if got is None:
            raise Wrong(tried, "None", "a share from 0 to 1", "Nothing came back: is there a return?")
        if np.ndim(got):
            raise Wrong(tried, f"an array of shape {np.shape(got)}", "one number",
                        "Which share of the held-out digits is read right?")
        right, rote, everything = _learned(n)
        if abs(got - right) > 0.01:      # three or four of the 360
            hint = ("A share from 0 to 1, please." if got > 1 else
                    "That is the share that is read wrong." if abs(1 - got - right) <= 0.01 else
                    "About the score on the digits it has learned from. Ask it about those it has never seen."
                    if abs(got - rote) <= 0.01 else
                    "About what all the training digits give: are the first n rows taken, of images and of labels?"
                    if abs(got - everything) <= 0.02 else
                    "Not far from guessing: are images and labels cut at the same rows, and are there 40_000 // n epochs?"
                    if got < 0.3 else
                    f"Not a share of the {held_out} held-out digits: ask about all of them."
                    if abs(got * held_out - round(got * held_out)) > 1e-6 else
                    "For each n a new network with rng=0, the first n scans, 40_000 // n epochs, and `train` as it stands above.")
            raise Wrong(tried, f"{got:.3f}", "another share", hint)


@cache
def _learned(n):
    """What n scans teach: the share read right of the held-out digits, and of those n; and the former from all scans."""
    images, labels, test_images, test_labels = digits()
    model = _fitted(images[:n], labels[:n])
    right, rote = _share(model, test_images, test_labels), _share(model, images[:n], labels[:n])
    return right, rote, right if n == len(labels) else _learned(len(labels))[0]


def _fitted(images, labels):
    """The lesson's `train` on a new network, step by step the same."""
    model, rng, epochs = nn.MLP([64, 32, 10], rng=0), np.random.default_rng(0), 40_000 // len(labels)
    optimizer = optim.Adam(model.parameters(), lr=0.003)
    for epoch in range(epochs):
        optimizer.lr = 0.003 * (1 - epoch / epochs)
        order = rng.permutation(len(labels))
        for start in range(0, len(labels), 64):
            rows = order[start:start + 64]
            rng.normal(size=images[rows].shape)      # the jitter that `train` draws, whatever its size
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images[rows]), labels[rows]).backward()
            optimizer.step()
    return model


def _share(model, images, labels):
    return np.mean(model(images).data.argmax(axis=1) == labels)


# --- Wrong answers, each with a piece of the hint it must get ---------------------------------------------------------

def _batches(choose):
    """A wrong `batches`: choose(n, size, rng) yields the rows of the images and of the labels, batch by batch."""
    def batches(images, labels, size, rng):
        for rows, label_rows in choose(len(images), size, rng):
            yield images[rows], labels[label_rows]
    return batches


def _pieces(order, size, also=None):
    for start in range(0, len(order), size):
        yield order[start:start + size], (order if also is None else also)[start:start + size]


def _in_place(images, labels, size, rng):
    order = rng.permutation(len(images))
    images[:], labels[:] = images[order], labels[order]
    yield from _batches(lambda n, size, rng: _pieces(np.arange(n), size))(images, labels, size, rng)


def _only_images(images, labels, size, rng):
    for rows, _ in _pieces(rng.permutation(len(images)), size):
        yield images[rows]


def _held_out(learn, ask):
    """A wrong `held_out_accuracy`: learns from the rows learn(n), is asked about ask(n); the 360 held-out rows come last."""
    def held_out_accuracy(n):
        images, labels, test_images, test_labels = digits()
        x, y = np.concatenate([images, test_images]), np.concatenate([labels, test_labels])
        return _share(_fitted(x[learn(n)], y[learn(n)]), x[ask(n)], y[ask(n)])
    return held_out_accuracy


PLANTED = {
    "12.batches": [
        (_batches(lambda n, size, rng: _pieces(rng.permutation(n), size, np.arange(n))), "How many orders"),
        (_batches(lambda n, size, rng: _pieces(rng.permutation(n), size, rng.permutation(n))), "How many orders"),
        (_batches(lambda n, size, rng: list(_pieces(rng.permutation(n), size))[:n // size]), "may be smaller"),
        (_batches(lambda n, size, rng: _pieces(rng.permutation(n), n // size + 1)), "how many rows"),
        (_batches(lambda n, size, rng: _pieces(rng.integers(n, size=n), size)), "come twice"),
        (_batches(lambda n, size, rng: _pieces(np.arange(n), size)), "Nothing is shuffled"),
        (_batches(lambda n, size, rng: _pieces(np.random.permutation(n), size)), "passed in"),
        (_batches(lambda n, size, rng: _pieces(np.random.default_rng(1).permutation(n), size)), "the same order"),
        (_in_place, "are stirred"),
        (_only_images, "Yield two arrays"),
        (lambda images, labels, size, rng: print(end=""), "is there a yield"),
        (lambda images, labels, size, rng: [], "does the loop run")],
    "12.scale": [
        (_scaled_in_place, "writes into the caller's array"),
        (lambda train, new: (_scaled(train, new, train)[0], _scaled(train, new, new)[1]), "one scan arrives alone"),
        (lambda train, new: _scaled(train, new, np.concatenate([train, new])), "leaks into training"),
        (lambda train, new: _scaled(train, new, new), "Fitted on the test set"),
        (lambda train, new: tuple((x - train.mean(axis=0)) / train.std(axis=0) for x in (train, new)), "Divide by 1 there"),
        (lambda train, new: tuple((x - train.mean(axis=0)) / (train.std(axis=0) + 1e-8) for x in (train, new)), "Divide by 1"),
        (lambda train, new: tuple((x - train.mean()) / train.std() for x in (train, new)), "axis=0"),
        (lambda train, new: (train - train.mean(axis=0), new - train.mean(axis=0)), "divide by the spread"),
        (lambda train, new: _scaled(train, new, train)[::-1], "swapped"),
        (lambda train, new: _scaled(train, new, train)[0], "2 values were expected")],
    "12.curve": [
        (_held_out(lambda n: slice(n), lambda n: slice(n)), "it has learned from"),
        (_held_out(lambda n: slice(-360), lambda n: slice(-360, None)), "are the first n rows taken"),
        (_held_out(lambda n: slice(-360, None), lambda n: slice(-360, None)), "it has learned from"),
        (_held_out(lambda n: slice(n), lambda n: slice(-360, n - 360)), "ask about all of them"),
        (_held_out(lambda n: slice(-360 - n, -360), lambda n: slice(-360, None)), "the first n scans"),
        (lambda n: 100 * _learned(n)[0], "from 0 to 1"),
        (lambda n: 1 - _learned(n)[0], "read wrong"),
        (lambda n: 0.1, "far from guessing"),
        (lambda n: print(end=""), "is there a return")],
}
