"""Values: arrays, their shapes and copies, and how a value is changed. It knows no Tensor's past.

Every Tensor gets a number from `_clock` when it is created, and every change of a value gets one too.
So two numbers tell whether a value was changed after an operation had read it.
"""

from collections import deque
from itertools import count, starmap
from operator import call

import numpy as np

_clock = count(1)  # numbers Tensors, which orders the backward pass, and dates changes of `.data`
_last_change = 0  # the number of the last change of any value
_array_changes = {}  # the last change in place of an array, by the id of the array that owns its memory


class Value:
    """The base of `Tensor`, so that this file can tell a Tensor from an array."""


# --- Arrays ---------------------------------------------------------------------------------------


def as_array(data, what):
    """`data` as an array of real numbers; `what` names it in the error."""
    array = data
    if type(data) is not np.ndarray:
        if isinstance(data, Value):
            raise TypeError(
                f"{what}: this is a Tensor already; use .detach() for a constant with its value"
            )
        if isinstance(data, (np.matrix, np.ma.MaskedArray)):
            raise TypeError(
                f"{what}: a plain array is needed, and * or sums of a {type(data).__name__} mean others"
            )
        try:
            array = np.asarray(data)
        except (
            TypeError,
            ValueError,
        ) as error:  # a list of Tensors that require gradients, or of unequal lengths
            raise type(error)(f"{what}: {error}") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"{what}: real numbers are needed, got {type(data).__name__} of dtype {array.dtype}"
        )
    return array


def _check_floating(dtype, what):
    if dtype.kind != "f":
        raise TypeError(
            f"{what}: {dtype} values have no gradient; use floating point, for example 3.0 for 3, "
            "or array.astype(float)"
        )


def unbroadcast(g, shape):
    """`g` summed to `shape`: what broadcasting copied forward, its transpose adds up. Raises ValueError if it does not fit."""
    got = g.shape
    extra = len(got) - len(shape)
    if got[extra:] == shape:
        return g.sum(axis=0 if extra == 1 else tuple(range(extra))) if extra else g
    if extra < 0 or any(n != m and n != 1 for n, m in zip(shape, got[extra:])):
        raise ValueError(f"an array of shape {shape} cannot be broadcast to {got}")
    return g.sum(
        axis=(*range(extra), *(k for k in range(extra, len(got)) if got[k] != shape[k - extra]))
    ).reshape(shape)


def copied(array):
    """A copy of an array, a number as a NumPy scalar."""
    return array if isinstance(array, Value) else np.array(array)[()]


def copy_if_view(g):
    """A leaf's gradient as an array that nobody else holds: a view, such as what undoes a sum, is copied."""
    if type(g) is np.ndarray:
        return g if g.base is None else g.copy()
    return g if isinstance(g, Value) else np.asarray(g)


# --- Changes of values: dated, and whole or not at all --------------------------------------------


def next_number():
    """A creation number: what is made later has a greater one."""
    return next(_clock)


def _date_change():
    global _last_change
    _last_change = next(_clock)
    return _last_change


def _owner(array):
    """Of an array, its views and theirs the same number. (Once it is freed another may have it, whose readers are all younger.)"""
    while isinstance(getattr(array, "base", None), np.ndarray):
        array = array.base
    return id(array)


def assignments(pairs):
    """What `commit` has to do for `t.data = value` with all pairs (t, value), each an array of t's shape and t's alone."""
    stamp, changes = _date_change(), []
    for t, value in pairs:
        changes.append((setattr, t, "_value", value if value.ndim else value[()]))
        changes.append((setattr, t, "_changed_at", stamp))
        if value.dtype != t._value.dtype and t.grad is not None:
            changes.append((setattr, t, "grad", np.asarray(t.grad, value.dtype)))
    return changes


def commit(changes):
    """Carry out all `changes`, each (function, *arguments), in one call of C code: Ctrl-C comes before it or after it.

    Everything that can fail is to be worked out before, and the functions are C's own, such as
    setattr.
    """
    deque(starmap(call, changes), maxlen=0)
