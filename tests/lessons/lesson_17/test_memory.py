"""Lesson 17: `footprint` counts the arrays that are held, and no more."""

import tracemalloc

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course.lessons.lesson_17.memory import by_layer, footprint
from autograd_lib import nn

X = np.linspace(-1, 1, 50_000)


def test_held_and_most_in_arrays():
    """Catch a peak measured before backward, which equals the memory held."""
    x = ag.Tensor(X, requires_grad=True)
    held, most = footprint(lambda: ag.tanh(x * 2.0), X.nbytes)
    assert np.isclose(held, 2, atol=0.05) and 4 <= most < 7
    assert np.allclose(footprint(lambda: ag.tanh(x * 2.0), X.nbytes, back=False), 2, atol=0.05), (
        "and most is no more"
    )
    assert x.grad is not None and footprint(lambda: ag.tanh(x * 2.0))[0] == pytest.approx(
        0.8, rel=0.02
    )


def test_what_was_there_before_is_not_counted_and_nothing_goes_on_counting():
    x = ag.Tensor(X, requires_grad=True)
    before = ag.exp(x)
    assert footprint(lambda: before, X.nbytes)[0] < 0.01
    assert not tracemalloc.is_tracing()
    with pytest.raises(ZeroDivisionError):
        footprint(lambda: 1 / 0)
    assert not tracemalloc.is_tracing()


def test_by_layer_adds_up_to_what_is_held():
    model, x = (
        nn.Sequential(nn.Linear(40, 300, rng=0), ag.relu, nn.Linear(300, 20, rng=0)),
        X[:40_000].reshape(1000, 40),
    )
    table = by_layer(model, x)
    assert [name for name, _, _ in table] == ["Linear", "relu", "Linear"]
    assert [result for _, _, result in table] == [2.4, 2.4, 0.16]
    np.testing.assert_allclose([held for _, held, _ in table], [4.8, 2.4, 0.32], atol=0.01)
    assert np.isclose(sum(held for _, held, _ in table), footprint(lambda: model(x))[0], atol=0.01)
