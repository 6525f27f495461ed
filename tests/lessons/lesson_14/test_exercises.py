"""Lesson 14: custom ops that the check must accept. Those with which a later cell trains are in
the exercise's `also_right`.
"""

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course.grading import check


def rms(g, z, x):
    return (g - z * np.mean(g * z, axis=-1, keepdims=True)) / np.sqrt(
        np.mean(x * x, axis=-1, keepdims=True) + 1
    )


@pytest.mark.parametrize(
    "op",
    [
        ag.elementwise(lambda x: x / (1 + abs(x)), lambda g, z, x: g / (1 + abs(x)) ** 2),
        ag.elementwise(lambda x: x / (1 + np.abs(x)), lambda g, z, x: g * (1 - np.abs(z)) ** 2),
        ag.elementwise(lambda x: 1 / (1 + x * x), lambda g, z, x: -2 * g * x * z * z, name="bell"),
        ag.elementwise(lambda x: np.exp(-x * x), lambda g, z, x: g * z * -2 * x),
        ag.elementwise(
            lambda x: x * np.tanh(ag.softplus(x)),
            lambda g, z, x: (
                g
                * (np.tanh(ag.softplus(x)) + x * (1 - np.tanh(ag.softplus(x)) ** 2) * ag.sigmoid(x))
            ),
            name="mish",
        ),
        ag.elementwise(
            lambda x: np.where(x > 0, x, 0.1 * x),
            lambda g, z, x: g * np.where(x > 0, 1, 0.1),
            name="leaky",
        ),
        ag.linear(lambda x: x[..., ::-1], lambda g, z, x: g[..., ::-1], name="flipped"),
        ag.linear(
            lambda x: x @ np.triu(np.ones((x.shape[-1],) * 2)),
            lambda g, z, x: g @ np.tril(np.ones((x.shape[-1],) * 2)),
        ),
        ag.primitive(
            lambda x: x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1),
            [rms],
            [rms],
            name="rms",
        ),
        ag.primitive(
            lambda x: x * np.mean(x, axis=-1, keepdims=True),
            [
                lambda g, z, x: (
                    g * np.mean(x, axis=-1, keepdims=True) + np.mean(g * x, axis=-1, keepdims=True)
                )
            ],
            [
                lambda t, z, x: (
                    t * np.mean(x, axis=-1, keepdims=True) + x * np.mean(t, axis=-1, keepdims=True)
                )
            ],
        ),
    ],
    ids=[
        "softsign",
        "softsign by z",
        "bell",
        "gauss",
        "mish",
        "leaky",
        "flipped",
        "cumsum",
        "rms",
        "times its mean",
    ],
)
def test_an_op_of_ones_own_is_right(op):
    verdict = check("14.my_op", op)
    assert verdict.status == "right", verdict
