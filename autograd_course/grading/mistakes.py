"""Define common mistakes; each function returns a wrong answer and the hint for it.

    # in an exercise whose right answers are the numbers 14 and −2.5
    mistakes=[sign_lost(14), reciprocal(-2.5), (9, "That is the square alone.")]
    # in an exercise whose right answer is the function `right`
    mistakes=[printed(right), one_sided(), *of_rule(ag.multiply, 0)]

The pair (wrong answer, hint) is used twice: `expect` compares the learner's answer with the wrong
answer, and the tests run the check on it. The argument `right` is a value, or a function if the
exercise expects a function. The mistakes of rules and engines are in rule_checks.py.
"""

from math import prod

import numpy as np

from .causes import Cause
from .compare import scaled


def _changed(right, change):
    """Return `change(right)`, the right value with a mistake in it.

    If `right` is a function, return a function that calls it and applies `change` to the result.
    """
    return (lambda *args: change(right(*args))) if callable(right) else change(right)


def sign_lost(right, hint=Cause("sign")):
    return _changed(right, lambda z: scaled(-1, z)), hint


def doubled(right, hint=Cause("double")):
    return _changed(right, lambda z: scaled(2, z)), hint


def off_by(c, right, hint="Off by a constant: where does your sum or product begin?"):
    return _changed(right, lambda z: z + c), hint


def reciprocal(right, hint="Upside down: which number is divided by which?"):
    return _changed(right, lambda z: 1 / z), hint


def swapped(right, hint=Cause("swapped")):
    return _changed(right, lambda parts: parts[::-1]), hint


def keepdims_lost(right, hint=Cause("shape: axis of 1 lost")):
    return _changed(right, np.squeeze), hint


def multiplied(
    *routes,
    hint="You multiplied the paths. Each path contributes to the change: are contributions multiplied or added?",
):
    return prod(routes), hint


def local_gradient_only(
    local,
    hint="That is the local gradient. Multiply it by the upstream gradient.",
):
    return local, hint


def central_difference(f, x, h=1e-5):
    """Return the central difference (f(x + h) − f(x − h)) / 2h, an estimate of the slope of f at x."""
    return (f(x + h) - f(x - h)) / (2 * h)


def one_sided(
    hint="This is the one-sided difference. In the central difference, the left point is at x − h.",
):
    return lambda f, x, h: (f(x + h) - f(x)) / h, hint


def in_a_tuple(right, hint=Cause("several numbers", (1,))):
    return _changed(right, lambda z: (z,)), hint


def printed(right, hint=Cause("printed")):
    return lambda *args: print(right(*args)), hint


def in_place(right, hint=Cause("array overwritten")):
    """Return (wrong function, hint), where the function overwrites one of its arguments.

    The wrong function returns the right result, but sets its first array argument to 0.
    """

    def wrong(*args):
        result = right(*args)
        next(a for a in args if isinstance(a, np.ndarray) and a.ndim)[...] = 0
        return result

    return wrong, hint
