"""Wrong answers to the exercises of lesson 10 with their causes, and right answers in other styles."""

import numpy as np
from answer_cases import cases

import autograd_lib as ag
from autograd_course.grading import edit
from autograd_course.grading.causes import own
from autograd_course.lessons.lesson_10.exercises import (
    WRONG_LOG,
    WRONG_SOFTMAX,
    _onehot,
    _right,
    _softmax,
)

cases(
    "10.tie",
    wrong=[
        (lambda g, z, x: x == z, "a comparison times g"),
        (
            lambda g, z, x: (
                g * (x == z) / (m := np.sum(x == z, axis=0).max()) / max(1, np.sum(x == z) // m)
            ),
            "factor",
        ),
        (
            lambda g, z, x: np.where(x == z, g, 0) / max(1, list(x).count(z)),
            "error: truth of an array",
        ),
        (lambda g, z, x: g * np.isclose(x, 3) / 2, "first entry"),
        *(
            (
                lambda g, z, x, near=near: (
                    g * np.isclose(x, z, near, 0) / np.sum(np.isclose(x, z, near, 0))
                ),
                "mistake 9",
            )
            for near in (1e-5, 1e-12)
        ),
    ],
    accepted=[
        "lambda g, z, x: np.where(x == z, g / np.count_nonzero(x == z), 0)",
        "lambda g, z, x: ag.vjp(ag.max, x)[1](g)[0]",
        edit("np.sum(x == z)", "np.equal(x, np.max(x)).sum()"),
        edit("(x == z) /", "(x >= z) /"),
        "lambda g, z, x: np.reshape([g / list(x.flat).count(z) * (one == z) for one in x.flat], x.shape)",
    ],
)


def _log_softmax(g, z, x, axis=-1):
    return g - np.exp(z) * np.sum(g, axis=axis, keepdims=True)


def _afresh(x, axis):
    """Recompute p from the logits, by the formula as written."""
    return np.exp(x) / np.sum(np.exp(x), axis=axis, keepdims=True)


P = np.array([0.7, 0.2, 0.1])
J = np.diag(P) - np.outer(P, P)  # the global variable J of the notebook

cases(
    "10.normalise",
    wrong=[
        *((wrong, own(hint)) for wrong, hint in WRONG_SOFTMAX),
        (_log_softmax, "own: z is already p, so it needs no exp. And p multiplies everything"),
        (
            lambda g, z, x, axis=-1: g * (1 - z),
            "own: The path through its own p has the derivative",
        ),
        edit(
            "(g - np",
            "np",
            "keepdims=True))",
            "keepdims=True)",
            "own: That is only the path through the denominator",
        ),
        edit("np.sum(g * z", "g * np.sum(z", "own: g is outside the sum"),
        (
            lambda g, z, x, axis=-1: J.T @ g,
            "own: @ and np.dot are matrix products, and the J above",
        ),
        (
            lambda g, z, x, axis=-1: g @ J,
            "own: Your rule uses p = [0.7, 0.2, 0.1], or its J",
        ),
        (
            lambda g, z, x, axis=-1: (J @ g.T).T,
            "own: Your rule uses p = [0.7, 0.2, 0.1], or its J",
        ),
        (
            lambda g, z, x, axis=-1: g - z * np.sum(g, axis=axis, keepdims=True),
            "own: p multiplies everything in the parentheses, g too",
        ),
        edit("z * (g", "z / len(g) * (g", "own: You divide by the number of rows"),
        edit("z * (g", "(z > 1e-8) * z * (g", "first entry | ±1000"),
        edit(
            "g * z, axis=axis, keepdims=True",
            "g * z[:1], axis=axis",
            "own: An axis is lost, so the numbers do not stand beside their rows. keepdims=True keeps the axis",
        ),
        (
            lambda g, z, x, axis=-1: _softmax(g, z, x, axis % 2 if axis > 0 else axis),
            "first entry | with axis=2",
        ),
        (lambda g, z, x, axis=-1: _softmax(g, _afresh(x, axis), x, axis), "own: in z already"),
        (lambda g, z, x, axis=-1: _softmax(g, z, x), "own: axis is passed"),
        edit("g * z, axis=axis", "g * z, axis=abs(axis)", "first entry | axis="),
        (lambda g, z, x, axis=1: _softmax(g, z, x, axis), "own: −1 is the last"),
    ],
    accepted=[
        edit(
            "z * (g - np.sum(g * z, axis=axis, keepdims=True))",
            "g * z - z * np.expand_dims(np.sum(g * z, axis), axis)",
        ),
        edit("np.sum(g * z, axis=axis, keepdims=True)", "(g * z).sum(axis=axis, keepdims=True)"),
        edit(
            "z * (g - np.sum(g * z, axis=axis, keepdims=True))",
            "ag.vjp(lambda x: ag.softmax(x, axis=axis), x)[1](g)[0]",
        ),
    ],
)

cases(
    "10.logarithm",
    wrong=[
        *((wrong, own(hint)) for wrong, hint in WRONG_LOG),
        edit("np.exp(z) * np", "np.exp(z) / len(g) * np", "own: You divide by the number of rows"),
        edit(
            "g - np.exp(z) * np.sum(g",
            "g * np.exp(z) - np.exp(z) ** 2 * np.sum(g",
            "own: Only the sum is multiplied by p",
        ),
        edit(
            "np.exp(z) * np.sum(g, axis=axis, keepdims=True)",
            "1",
            "own: That is g − 1, since p adds up to 1. What is summed is g, and p multiplies the sum from outside",
        ),
        (
            lambda g, z, x, axis=-1: _softmax(g / np.exp(z), np.exp(z), x, axis),
            "own: in z already",
        ),
        (
            lambda g, z, x, axis=-1: g - _afresh(x, axis) * np.sum(g, axis=axis, keepdims=True),
            "own: in z already",
        ),
        edit("np.exp(z)", "np.log(z)", "own: z is already log p, which is below 0"),
        edit("np.exp(z)", "np.exp(np.log(z))", "own: z is already log p, which is below 0"),
        (lambda g, z, x, axis=-1: _log_softmax(g, z, x), "own: axis is passed"),
        edit("np.sum(g, axis=axis", "np.sum(g, axis=abs(axis)", "first entry | axis="),
        (lambda g, z, x, axis=1: _log_softmax(g, z, x, axis), "own: −1 is the last"),
    ],
    accepted=[
        edit("np.exp(z)", "ag.softmax(x, axis=axis)"),
        edit(
            "np.exp(z) * np.sum(g, axis=axis, keepdims=True)",
            "np.exp(z) * np.mean(g, axis=axis, keepdims=True) * g.shape[axis]",
        ),
        edit(
            "g - np.exp(z) * np.sum(g, axis=axis, keepdims=True)",
            "ag.vjp(lambda x: ag.log_softmax(x, axis=axis), x)[1](g)[0]",
        ),
    ],
)

cases(
    "10.loss",
    wrong=[
        (
            lambda g, z, x, target: -g[0] * _onehot(x, target) / len(target),
            "mistake 24",
        ),
        (
            lambda g, z, x, target: -g * _onehot(x, target).sum(axis=0) / len(target),
            "shape: axis lost",
        ),
        (
            lambda g, z, x, target: np.squeeze(-g * _onehot(x, target) / len(target)),
            "shape: axis of 1 lost",
        ),
        (
            lambda g, z, x, target: -g * (x == x[range(len(x)), target][:, None]) / len(x),
            "first entry",
        ),
    ],
    accepted=[
        """
        def nll_loss_x(g, z, x, target):
            to_x = np.zeros(x.shape)
            for n, k in enumerate(target):
                to_x[n, k] -= g / len(target)
            return to_x""",
        "lambda g, z, x, target: -g / len(x) * np.eye(x.shape[-1])[target]",
        "lambda g, z, x, target: ag.vjp(lambda x: ag.nll_loss(x, target), x)[1](g)[0]",
        edit(
            "-g * (np.arange(x.shape[-1]) == target[:, None]) / len(target)",
            "[[-g / len(x) if k == true else 0.0 for k in range(x.shape[1])] for true in target]",
        ),
        edit(
            "-g * (np.arange(x.shape[-1]) == target[:, None])",
            "np.where(np.equal.outer(target, np.arange(x.shape[1])), -g, 0)",
        ),
    ],
)

cases(
    "10.careful",
    wrong=[
        (lambda x: np.log(np.sum(np.exp(x - 1))) + 1, "right elsewhere | 1000"),
        edit("m = np.max(x)", "m = max([-1e20, *x])", "right elsewhere"),
        edit(
            "m = np.max(x)",
            "m = np.max(x) if abs(x).max() > 709.7 else 0.0",
            "right elsewhere | 708",
        ),
        edit("m = np.max(x)", "m = np.max(x) / 2", "right elsewhere | 5000"),
        edit("m = np.max(x)", "m = abs(np.max(x))", "mistake 18"),
        edit("m = np.max(x)", "m = len(x)", "right elsewhere | 1000"),
        edit(
            "    return",
            "    if abs(m) > 700:\n        return m\n    return",
            "own: For large numbers you return only the maximum",
        ),
        (
            lambda x: np.max(x) if abs(np.max(x)) > 700 else np.log(np.sum(np.exp(x))),
            "own: For large numbers you return only the maximum",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x / (m := np.max(x))))) * m,
            "mistake 36",
        ),
        (lambda x: np.nan_to_num(np.log(np.sum(np.exp(x)))), "right elsewhere | 1000"),
        (lambda x: np.max(x) + np.log(2), "right elsewhere"),
        (
            lambda x: np.log(1 + np.sum(np.exp(x[x != np.max(x)] - np.max(x)))) + np.max(x),
            "right elsewhere",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x[x > np.max(x) - 9] - np.max(x)))) + np.max(x),
            "right elsewhere",
        ),
        (lambda x: _right(x[:100]), "nearly"),
        (lambda x: _right(np.sort(x)[-12:]), "right elsewhere"),
        (lambda x: np.max(x) if np.max(x) > 1e5 else _right(x), "nearly"),
        (ag.logsumexp, "own: The numbers are right, but the library did the work"),
        (lambda x: ag.logsumexp(x), "own: The numbers are right, but the library did the work"),
    ],
    accepted=[
        "np.logaddexp.reduce",
        """
                def my_logsumexp(x):
                    total = -np.inf
                    for one in x:
                        total = np.logaddexp(total, one)
                    return total""",
        """
                def my_logsumexp(x):
                    first, *others = sorted(x, reverse=True)
                    return first + np.log1p(sum(np.exp(one - first) for one in others))""",
        edit("np.log(np.sum(np.exp(x - m))) + m", "m - np.log(np.max(ag.softmax(x)))"),
    ],
)
