"""Lesson 19's model does not look ahead, has the right gradient, trains with the library's Adam,
and samples by probability.
"""

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course.lessons.lesson_19 import writer
from autograd_lib import optim
from autograd_lib.nn.functional import cross_entropy

LETTERS = "\nabcdefgh"
TEXT = np.random.default_rng(0).integers(0, len(LETTERS), 300)


def small(**options):
    return writer.Writer(LETTERS, **{"width": 8, "context": 6, "heads": 2} | options)


def test_letters_and_numbers():
    assert writer.encode("bad\n", LETTERS).tolist() == [2, 1, 4, 0]
    assert writer.decode(writer.encode("bad\nhead", LETTERS), LETTERS) == "bad\nhead"


def test_no_place_looks_ahead():
    """Catch np.tri with k=1."""
    model, text = small(), TEXT[:6].reshape(1, 6)
    other = text.copy()
    other[0, 4] = (other[0, 4] + 1) % len(LETTERS)
    before, after = model(text).data, model(other).data
    assert np.array_equal(before[0, :4], after[0, :4]) and np.all(
        np.abs(before - after)[0, 4:].max(axis=1) > 1e-3
    )


def test_its_gradient_is_the_measured_one():
    model = small()
    model.p = {
        name: ag.Tensor(w.data.astype(float), requires_grad=True) for name, w in model.p.items()
    }
    x, y = TEXT[:12].reshape(2, 6), TEXT[1:13].reshape(2, 6)
    start, rng = {name: w.data for name, w in model.p.items()}, np.random.default_rng(1)
    way = {name: rng.normal(size=w.shape) for name, w in start.items()}

    def loss(h):
        for name, w in model.p.items():
            w.data = start[name] + h * way[name]
        return ag.mean(writer.surprise(model, x, y))

    measured = float((loss(1e-6) - loss(-1e-6)).data) / 2e-6
    loss(0).backward()
    assert measured == pytest.approx(
        sum(np.sum(w.grad * way[name]) for name, w in model.p.items()), rel=1e-6
    )


def test_its_steps_are_adam_on_the_cross_entropy():
    """Four of the six steps have a positive learning rate. Catch a second moment without bias
    correction, and a negative learning rate.
    """
    mine, theirs = small(), small()
    losses = list(writer.train(mine, TEXT, range(6), 4, batch=3, warm_up=2))
    rng, optimizer = (
        np.random.default_rng(0),
        optim.Adam(theirs.p.values(), lr=0.008, betas=(0.9, 0.99)),
    )
    for step in range(6):
        here = rng.integers(0, len(TEXT) - 6, (3, 1)) + np.arange(6)
        optimizer.lr = 0.008 * max(min((step + 1) / 2, 1 - step / 4), 0)
        optimizer.zero_grad()
        loss = cross_entropy(theirs(TEXT[here]).reshape(-1, len(LETTERS)), TEXT[here + 1].ravel())
        loss.backward()
        optimizer.step()
        assert losses[step] == pytest.approx(float(loss.data), rel=1e-4)
    for name, w in mine.p.items():
        assert np.allclose(w.data, theirs.p[name].data, atol=1e-4), name


def test_a_letter_is_drawn_as_often_as_its_probability_says():
    p = np.array([0.125, 0.5, 0.25, 0.125])
    drawn = [writer.pick(np.log(p), 1.0, u) for u in (np.arange(1000) + 0.5) / 1000]
    assert np.array_equal(np.bincount(drawn) / 1000, p)
    assert (
        writer.pick(np.log(p), 1e-3, 0.999) == 1 and writer.pick(np.zeros(40), 1.0, 1 - 1e-16) == 39
    )
    softer = [writer.pick(np.log(p), 2.0, u) for u in (np.arange(1000) + 0.5) / 1000]
    assert np.allclose(np.bincount(softer) / 1000, np.sqrt(p) / np.sqrt(p).sum(), atol=0.002)


def test_it_goes_on_from_a_beginning_and_sees_as_much_as_its_context():
    model = small()
    assert (
        writer.write(model, "abba", many=5).startswith("abba")
        and len(writer.write(model, "abba", many=5)) == 9
    )
    assert writer.write(model, "head", 5, seed=1) == writer.write(model, "head", 5, seed=1)
    assert writer.write(model, "aaabbbccc", 5)[9:] == writer.write(model, "hhhbbbccc", 5)[9:]
    assert writer.write(model, "a", 3, pick=lambda logits, temperature, u: 2) == "abbb"
