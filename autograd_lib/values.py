"""Arrays: conversion, shapes and copies, and how the value of a Tensor is changed.

Every Tensor gets a number from `clock` when it is created, and so does every change of a value.
Comparing two of these numbers shows whether a value was changed after an operation read it.
"""

from collections import deque
from itertools import count, starmap
from operator import call
from weakref import ref

import numpy as np

clock = count(1)  # numbers Tensors, which orders the backward pass, and dates changes of `.data`
_last_change = 0  # the number of the last change of any value
# From the id of each array that owns its memory to the number of its last change in place and a weak
# reference, which removes the entry when the array is freed, before another array can get its id.
_array_changes = {}


class Value:
    """Base class of `Tensor`, so that this file can recognise a Tensor without importing it."""


# --- Arrays ---------------------------------------------------------------------------------------


def as_array(data, what):
    """Return `data` as an array of real numbers, without a copy if `data` is one already.

    Raise TypeError if `data` is a Tensor, or does not consist of real numbers. `what` names the
    argument in the error.
    """
    array = data
    if type(data) is not np.ndarray:
        if isinstance(data, Value):
            raise TypeError(
                f"{what}: expected an array, got a Tensor; pass its array, t.data, or use t.detach() "
                "for a Tensor without a gradient"
            )
        if isinstance(data, (np.matrix, np.ma.MaskedArray)):
            raise TypeError(
                f"{what}: expected a plain array, got a {type(data).__name__}, whose * and sum "
                "behave differently; use np.asarray(…), or .filled(value) for a masked array"
            )
        try:
            array = np.asarray(data)
        except (
            TypeError,
            ValueError,
        ) as error:  # a list that contains Tensors, or lists of unequal lengths
            raise type(error)(
                f"{what}: "
                + ("expected rows of equal length" if "inhomogeneous" in str(error) else str(error))
            ) from None
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"{what}: expected real numbers, got "
            + ("None" if data is None else type(data).__name__)
            + (f" of dtype {array.dtype}" if array.ndim or array.dtype.kind == "c" else "")
        )
    return array


def _check_floating(dtype, what):
    """Raise TypeError if `dtype` is not floating; `what` names the argument in the error."""
    if dtype.kind != "f":
        raise TypeError(
            f"{what}: expected a floating dtype, got {dtype}, whose values have no gradient; use "
            "3.0 instead of 3, or array.astype(float)"
        )


def unbroadcast(g, shape):
    """Return the sum of `g` over the axes that broadcasting added or stretched, in shape `shape`.

    Broadcasting copies entries, so its transpose adds the gradients of the copies. Raise ValueError
    if an array of shape `shape` cannot be broadcast to the shape of `g`.
    """
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
    """Return a copy of an array, as a NumPy scalar if it is 0-d; return a Tensor unchanged."""
    return array if isinstance(array, Value) else np.array(array)[()]


def copy_if_view(g):
    """Return the gradient `g` as an array that owns its memory; return a Tensor unchanged."""
    is_view = type(g) is np.ndarray and g.base is not None
    return g if isinstance(g, Value) else g.copy() if is_view else np.asarray(g)


# --- Changes of values: dated, and whole or not at all --------------------------------------------


def _date_change():
    """Return the next number of the clock, and store it as the number of the last change."""
    global _last_change
    _last_change = next(clock)
    return _last_change


def _owner(array):
    """Return the array that owns the memory of `array`."""
    while isinstance(getattr(array, "base", None), np.ndarray):
        array = array.base
    return array


def date_array(array):
    """Record that `array`, and every array that shares its memory, has been changed in place."""
    owner = _owner(array)
    key = id(owner)
    _array_changes[key] = _date_change(), ref(owner, lambda _: _array_changes.pop(key, None))


def check_unchanged(node):
    """Raise RuntimeError if an input or the result of `node` has changed since it was recorded."""
    inputs = [(t, f"argument {i}") for i, t in enumerate(node.inputs)]
    for tensor, what in [*inputs, (node, "its result")]:
        t = tensor
        while isinstance(t, Value):  # a transform's Tensor may hold one of the user's
            change, _ = _array_changes.get(id(_owner(t._value)), (0, None))
            if max(t._changed_at, change) > node.number:
                name = f" ({tensor.name})" if tensor.name else ""
                raise RuntimeError(
                    f"{node.op.name}: the .data of {what}{name} was changed after "
                    f"{node.op.name} used it, so its gradient cannot be computed; call backward() "
                    "first, or compute the result again"
                )
            t = t._value


def assignments(pairs):
    """Return a list of changes for `commit` that set `t.data` to `value` for each pair (t, value).

    Each value must be an array in the shape of its `t`, and no other object may use the array.
    """
    number, changes = _date_change(), []
    for t, value in pairs:
        changes.append((setattr, t, "_value", value if value.ndim else value[()]))
        changes.append((setattr, t, "_changed_at", number))
        if value.dtype != t._value.dtype and t.grad is not None:
            changes.append((setattr, t, "grad", np.asarray(t.grad, value.dtype)))
    return changes


def commit(changes):
    """Make all `changes`, a list of tuples (function, *arguments), in one call of C code.

    Python handles Ctrl-C before or after this call, so either all of the changes are made or none
    of them. The functions must be implemented in C, as setattr is, and must not raise an error.
    """
    deque(starmap(call, changes), maxlen=0)
