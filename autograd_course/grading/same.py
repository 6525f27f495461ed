"""Test whether two answers are equal, and find where they differ first."""

from numbers import Number

import numpy as np

from autograd_lib import Tensor


def same(got, expected, rtol, atol):
    if isinstance(expected, (tuple, list)):
        return (
            (is_sequence(got) or np.ndim(got) and isinstance(got, np.ndarray))
            and len(got) == len(expected)
            and all(same(*pair, rtol, atol) for pair in zip(got, expected))
        )
    if isinstance(expected, str):
        return isinstance(got, str) and got == expected
    if isinstance(expected, (bool, np.bool_)) or not isinstance(
        expected, (Number, np.generic, np.ndarray)
    ):
        return type(got) in (bool, np.bool_, type(expected)) and got == expected
    got = as_numbers(got)
    if got is None or np.iscomplexobj(got) and not np.iscomplexobj(expected):
        return False
    return got.shape == np.shape(expected) and _close(got, np.asarray(expected), rtol, atol)


def typed(x):
    """Return `x`, an answer that the learner typed, in lower case and without surrounding spaces.

    Strings inside a tuple or list are changed in the same way; other values are returned unchanged.
    Do not pass the result of a learner's function, where case and spaces matter.
    """
    return (
        type(x)(map(typed, x))
        if type(x) in (tuple, list)
        else x.strip().lower()
        if isinstance(x, str)
        else x
    )


def _close(got, expected, rtol, atol):
    """Return True if two arrays are equal within the tolerance.

    The result is that of np.allclose with equal_nan=True, but it is computed faster for finite
    floats.
    """
    if got.dtype.kind in "fc" and expected.dtype.kind in "fc":
        with np.errstate(all="ignore"):
            off = np.abs(got - expected)
            if np.isfinite(off.sum()):
                return bool((off <= atol + rtol * np.abs(expected)).all())
    return np.allclose(got, expected, rtol, atol, equal_nan=True)


def first_difference(got, expected, rtol, atol):
    """Return the index of the first entry in which two arrays differ, as a tuple, or None.

    The result is None if the arrays are equal within the tolerance, if they have different shapes,
    or if `got` or `expected` is not an array of numbers.
    """
    have, want = (
        as_numbers(got),
        None if isinstance(expected, (tuple, bool)) else as_numbers(expected),
    )
    if have is None or want is None or have.shape != want.shape or want.ndim == 0:
        return None
    off = np.argwhere(~np.isclose(have, want, rtol, atol, equal_nan=True))
    return (
        tuple(map(int, off[0])) if len(off) else None
    )  # complex numbers may differ by their kind alone


def is_sequence(x):
    return isinstance(x, (tuple, list, range)) or isinstance(x, np.ndarray) and x.ndim == 1


def as_numbers(x):
    """Return x as an array of numbers, or None if that is not possible.

    The result is None for a ragged list, for strings and for Booleans. A Tensor is replaced by its
    value.
    """
    try:
        x = np.asarray(_plain(x))
        if x.dtype.kind == "O" and all(isinstance(entry, Number) for entry in x.flat):
            x = x.astype(float)
    except (TypeError, ValueError):  # a ragged list
        return None
    return x if x.dtype.kind in "iufc" else None


def _plain(x):
    return (
        x.data
        if isinstance(x, Tensor)
        else [*map(_plain, x)]
        if isinstance(x, (list, tuple))
        else x
    )


def scaled(c, x):
    return type(x)(scaled(c, part) for part in x) if isinstance(x, (tuple, list)) else c * x
