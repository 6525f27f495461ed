"""Find the likely Cause of a wrong answer: `likely_cause`.

The mistakes that the exercise lists are tried first, followed by mistakes common to many answers.
"""

import inspect
import io
from contextlib import redirect_stdout
from dataclasses import replace
from functools import lru_cache, partial
from itertools import permutations
from numbers import Number
from types import FunctionType

import numpy as np

import autograd_lib

from .causes import Cause, Part, needs_facts, own
from .same import as_numbers, first_difference, is_sequence, same, scaled
from .sandbox import Outcome, StepLimitExceeded, bounded, copies


def functions_of(hints):
    return [hint for hint in hints if isinstance(hint, tuple) and callable(hint[0])]


def _silently(wrong, args):
    """Return the result of the function `wrong` for copies of `args`; hide its output and warnings."""
    with redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        return wrong(*copies(args))


class Given:
    """Wrap arguments as a dictionary key: two keys are equal if the arguments hold equal values.

    Raises
    ------
    TypeError
        If an argument is not a number, a string, None, a numeric array, a function without a
        closure, or a list, tuple or dict of these.
    """

    def __init__(self, args):
        self.args, self.key = args, tuple(map(_key, args))

    def __eq__(self, other):
        return self.key == other.key

    def __hash__(self):
        return hash(self.key)


def _key(x):
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "biufc":
        return type(x), x.dtype.str, x.shape, x.tobytes()
    if isinstance(x, (tuple, list)):
        return type(x), *map(_key, x)
    if isinstance(x, dict):
        return type(x), *x, *map(_key, x.values())
    if x is None or isinstance(x, (Number, str)):
        return type(x), repr(x)
    if isinstance(x, FunctionType) and not x.__closure__:
        return x
    raise TypeError


def _ended(wrong, args):
    """Return the Outcome of calling the function `wrong` with copies of `args`.

    Its steps are not limited, because `wrong` is a mistake that the course itself defines, not the
    learner's function.
    """
    try:
        return Outcome(_silently(wrong, args))
    except Exception as error:
        return Outcome(error=error.with_traceback(None))  # it is cached, and frames are large


@lru_cache(maxsize=4096)
def _remembered(wrong, given):
    return _ended(wrong, given.args)


def mistaken(wrong, args):
    """Return the Outcome of calling the function `wrong` with `args`, cached for equal arguments.

    The cache saves time, because an exercise may list sixty mistakes, and every check tries all of
    them.
    """
    try:
        return _remembered(wrong, Given(args))
    except TypeError:
        return _ended(wrong, args)


def _recognised(got, wrong, args, expected, rtol, atol):
    """Return True if `got` equals the mistake `wrong`, and the mistake differs from `expected`.

    `wrong` is a value, or a function that is called with `args`. The values are compared with a
    loose tolerance. But if `got` is nearly right, `rtol` and `atol` are used, because a mistake
    that changes the result only slightly would otherwise seem to explain `got`.
    """
    if callable(wrong):
        outcome = mistaken(wrong, args)
        if outcome.error:  # and the learner's answer raised none
            return False
        wrong = outcome.value
    close = (rtol, atol) if same(got, expected, 1e-5, 1e-9) else (1e-5, 1e-9)
    return same(got, wrong, *close) and not same(wrong, expected, rtol, atol)


def _agrees_for_another_g(wrong, function, args, letters):
    """Return True if the learner's rule agrees with the mistake `wrong` for a different g too.

    This excludes an agreement by chance. Only g, the first argument, is changed, because z depends
    on x. If `wrong` is not a function, or if the learner's function does not take g first, the
    result is True. `letters` are the parameter names of the learner's function.
    """
    if not callable(wrong) or letters[:1] != ("g",) or not args or as_numbers(args[0]) is None:
        return True
    other = np.random.default_rng(5).normal(size=np.shape(args[0])).round(2)[()], *args[1:]
    try:
        mine = _silently(partial(bounded, function), other)
    except (Exception, StepLimitExceeded):
        return mistaken(wrong, other).error is not None
    theirs = mistaken(wrong, other)
    return not theirs.error and same(mine, theirs.value, 1e-5, 1e-9)


def likely_cause(got, expected, hints, args, rtol, atol, letters=(), function=None, sure=None):
    """Return the likely Cause of the difference between `got` and `expected`.

    Parameters
    ----------
    got, expected : object
        The learner's value and the right one, which differ.
    hints : sequence
        The hints of the exercise, as for `expect`. They are tried before the general causes.
    args : tuple
        The arguments of the call, if `got` is the result of a call.
    rtol, atol : float
        The tolerance of the check.
    letters : tuple of str
        The parameter names of `function`.
    function : callable, optional
        The learner's function, if `got` is its result.
    sure : callable, optional
        A test that a function `wrong` among the hints must pass, as for `expect`.

    Returns
    -------
    Cause
        The likely Cause, or an empty Cause if no cause is recognised.
    """
    for hint in hints:
        if isinstance(hint, tuple):
            if needs_facts(hint[1]):
                continue  # it is recognised below, with its shapes or its count
            if _recognised(got, hint[0], args, expected, rtol, atol) and (
                sure(hint[0])
                if sure and callable(hint[0])
                else _agrees_for_another_g(hint[0], function, args, letters)
            ):
                return own(hint[1])
        elif (isinstance(expected, (tuple, list)) or as_numbers(got) is not None) and (
            said := hint(got, expected)
        ):
            return own(said, by=hint)
    kind_of = type(got).__name__
    if hasattr(got, "__next__") and (isinstance(expected, (tuple, list)) or np.ndim(expected)):
        return Cause("iterator", (kind_of,))
    if isinstance(expected, (tuple, list)):
        return _cause_in_parts(got, expected, args, rtol, atol, letters)
    if isinstance(expected, str):
        return Cause() if isinstance(got, str) else Cause("not a text")
    if isinstance(expected, bool):
        return Cause() if isinstance(got, (bool, np.bool_)) else Cause("not a truth value")
    want, have = as_numbers(expected), as_numbers(got)
    if want is None:
        return Cause()
    if have is None and isinstance(got, np.ndarray) and got.dtype.kind == "b":
        return Cause("a comparison times g" if "g" in letters else "truth values")
    if want.ndim == 0 and isinstance(got, (tuple, list)) and have is None:
        return Cause("several numbers", (len(got),))
    if have is None and callable(got):
        return Cause("a function")
    if have is None:
        return Cause("not an array" if want.ndim else "not a number", (kind_of,))
    if want.ndim == 0 and have.ndim:
        return Cause("several numbers", (have.size,))
    if have.shape != want.shape:
        return _misshapen(have, want)
    if np.iscomplexobj(have) and not np.iscomplexobj(want):
        return Cause("complex")
    if np.isnan(have).any() and not np.isnan(want).any():
        return Cause("nan")
    return (
        _coarse(have, want)
        or _without_g(have, want, args, letters)
        or _factor(have, want)
        or _moved(have, want)
        or _truncated(have, want, args)
        or _rounded(have, want)
        or Cause()
    )


def _cause_in_parts(got, expected, args, rtol, atol, letters):
    count = len(expected)
    if not is_sequence(got):
        return Cause("a set" if isinstance(got, (set, frozenset)) else "one value", (count,))
    if len(got) != count:
        return Cause("number of values", (count, len(got)))
    if len(got) <= 4 and any(same(order, expected, rtol, atol) for order in permutations(got)):
        return Cause("swapped" if len(got) == 2 else "order")
    want, have = as_numbers(expected), as_numbers(got)
    if (
        want is not None
        and have is not None
        and have.shape == want.shape
        and (cause := _factor(have, want))
    ):
        return cause
    wrong = [i for i in range(count) if not same(got[i], expected[i], rtol, atol)]
    pair = got[wrong[0]], expected[wrong[0]]
    cause = likely_cause(*pair, (), args, rtol, atol, letters)
    if not cause.kind and not cause.part and (entry := first_difference(*pair, rtol, atol)):
        cause = Cause("first entry", (list(entry),))
    if count == 1:
        return cause
    noun = (
        "array" if all(isinstance(one, np.ndarray) and one.ndim for one in expected) else "number"
    )
    return replace(cause, part=Part(wrong[0] + 1, count, len(wrong) == 1, cause.part, noun=noun))


def _misshapen(have, want):
    """Return the Cause for a result `have` whose shape is not that of the expected array `want`."""

    def shape(kind, *more):
        return Cause(kind, (have.shape, want.shape, *more))

    try:
        wide = np.broadcast_shapes(have.shape, want.shape) == have.shape and have.size > want.size
        if wide and same(autograd_lib.values.unbroadcast(have, want.shape), want, 1e-5, 1e-9):
            return shape("shape: not summed")
    except ValueError:
        pass
    if have.ndim < want.ndim and np.squeeze(want).shape == np.squeeze(have).shape:
        return shape("shape: axis of 1 lost")
    if have.shape == want.shape[::-1] and have.ndim > 1:
        return shape("shape: transposed")
    if have.ndim == want.ndim - 1 and have.size and want.size % have.size == 0:
        lost = [
            axis
            for axis in range(want.ndim)
            if have.shape == (*want.shape[:axis], *want.shape[axis + 1 :])
        ]
        if lost:
            return shape("shape: axis lost", lost[0])
    return shape("shape: other layout" if have.size == want.size else "shape")


def _without_g(have, want, args, letters):
    """Return a Cause if the result lacks the factor g, the upstream gradient, or None.

    `have` is the result, `want` is the expected array, and `letters` are the parameter names of the
    learner's function. The result is None if its first parameter is not called g.
    """
    if (
        letters[:1] != ("g",)
        or not args
        or as_numbers(args[0]) is None
        or not np.all(np.isfinite(have))
    ):
        return None
    try:
        there = np.all(np.isfinite(want)) and np.allclose(
            have * as_numbers(args[0]), want, rtol=1e-5, atol=1e-9 * np.max(np.abs(want), initial=0)
        )
    except ValueError:
        return None
    return Cause("no g") if there and np.any(want) else None


def not_linear(rule, args, letters):
    """Return a Cause if the result of the learner's rule is not linear in g, or an empty Cause.

    `letters` are the parameter names of the rule. The Cause is also empty if the first parameter is
    not called g, or if the linearity cannot be tested.
    """
    if letters[:1] != ("g",) or not args or as_numbers(args[0]) is None:
        return Cause()
    try:
        once, twice, opposite = (
            _silently(partial(bounded, rule), (scaled(c, args[0]), *args[1:])) for c in (1, 2, -1)
        )
        follows = all(
            same(sent, scaled(c, once), 1e-5, 1e-9) for sent, c in [(twice, 2), (opposite, -1)]
        )
    except (Exception, StepLimitExceeded):
        return Cause()
    return Cause() if follows else Cause("not linear in g")


def _moved(have, want):
    """Return a Cause if the result has the right entries in the wrong places, or None.

    The entries may be transposed, reshaped in another order, reversed, or in any other order.
    `have` is the result, and `want` is the expected array.
    """
    if want.ndim == 0 or not np.allclose(
        np.sort(have, None), np.sort(want, None), rtol=1e-5, atol=1e-9
    ):
        return None
    if want.ndim > 1 and any(
        other.shape == have.shape and np.allclose(have, other, rtol=1e-5, atol=1e-9)
        for other in [want.swapaxes(a, b) for a in range(want.ndim) for b in range(a)]
    ):
        return Cause("transposed")
    if want.ndim > 1 and any(
        np.allclose(have, want.transpose(order).reshape(want.shape), rtol=1e-5, atol=1e-9)
        for order in [range(want.ndim)[::-1], (*range(want.ndim - 2), want.ndim - 1, want.ndim - 2)]
    ):
        return Cause("layout")
    for axis in range(want.ndim):
        if np.allclose(have, np.flip(want, axis), rtol=1e-5, atol=1e-9):
            return Cause("reversed", (axis,))
    return Cause("other places")


KNOWN = {
    2: Cause("double"),
    0.5: Cause("half"),
    -1: Cause("sign"),
    np.pi / 180: Cause("degrees", ("π/180",)),
    180 / np.pi: Cause("degrees", ("180/π",)),
    np.log(10): Cause("base of the logarithm", ("log 10",)),
    1 / np.log(10): Cause("base of the logarithm", ("log 10",)),
    np.log(2): Cause("base of the logarithm", ("log 2",)),
    1 / np.log(2): Cause("base of the logarithm", ("log 2",)),
}


def _factor(got, expected):
    """Return a Cause if the result is off by a constant factor or a constant addend, or None.

    The Cause holds the constant c in got = c · expected, or |c| in got = expected + c. A single
    number is compared with common factors only, such as 2 and −1. A result that is nearly right has
    its own Cause.
    """
    if (
        not np.any(expected)
        or not np.all(np.isfinite(got))
        or not np.any(got)
        or np.iscomplexobj(got)
    ):
        return None
    pivot = np.unravel_index(np.argmax(np.abs(expected)), expected.shape)
    c, off = got[pivot] / expected[pivot], got[pivot] - expected[pivot]
    for factor, cause in KNOWN.items():
        if np.allclose(got, factor * expected, rtol=1e-5, atol=0):
            return cause
    if np.allclose(got, expected, rtol=5e-5, atol=0):
        return Cause("last digits" if np.allclose(got, expected, rtol=1e-9, atol=0) else "nearly")
    if expected.size > 1 and np.allclose(got, c * expected, rtol=1e-5, atol=0):
        return Cause("factor", (c,))
    if expected.size > 1 and np.allclose(got, expected + off, rtol=1e-5, atol=0):
        return Cause("too large" if off > 0 else "too small", (abs(off),))
    return None


def _coarse(have, want):
    """Return a Cause if the result is right, but only to the precision of a dtype such as float32.

    Otherwise return None. `have` is the result, and `want` is the expected array.
    """
    if (
        have.dtype.kind != "f"
        or have.dtype.itemsize >= 8
        or not np.allclose(have, want, rtol=10 * np.finfo(have.dtype).eps, atol=0)
    ):
        return None
    return Cause("few digits", (np.finfo(have.dtype).precision, have.dtype))


def _truncated(got, expected, args):
    """Return a Cause if the learner's result is the expected result, truncated to whole numbers.

    Otherwise return None. Also return None if every number in the result is one of the arguments,
    because the learner's function may then have copied them.
    """
    given = [one.ravel() for one in map(as_numbers, args) if one is not None]
    whole = (
        given
        and np.any(got)
        and np.any(got != expected)
        and (expected.size > 1 or abs(expected) > 2)
        and not np.isin(got, np.concatenate(given)).all()
        and (np.all(got == np.trunc(expected)) or np.all(got == np.floor(expected)))
    )
    return Cause("cut off") if whole else None


def _rounded(got, expected):
    """Return a Cause if every entry is rounded to a few decimals but otherwise right, or None."""
    for decimals in range(1, 5):
        rounded = np.round(expected, decimals)
        if (
            np.allclose(got, rounded, rtol=1e-9, atol=0)
            and np.any(got % 1)
            and np.allclose(got, expected, rtol=0.1)
        ):
            return Cause("rounded" if decimals > 1 else "rounded to 1", (decimals,))
    return None


def parameter_names(function):
    """Return a tuple of the names of the function's parameters, or () if they cannot be read."""
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()
