"""Decide which calls of a compiled function share a program, and find the values that it reads.

A *leaf* is an argument, or a part of one, whose value a program reads at every call: an array, a
Tensor, a NumPy number or a Python float. Everything else in the arguments must be the same in all
calls that share a program: a call with a different int, string, Module, length, key, shape or dtype
needs another program.
"""

from weakref import ref

import numpy as np

from ..nn import Module
from ..tape import Tensor

STATIC = {int, bool, str, bytes, type(None), type(...)}  # types of arguments compared by value


class OuterTransform(BaseException):
    """Raised if a compiled function reads a Tensor of a transform that was open before the call.

    This class is a BaseException, so that an `except Exception` in the function does not catch it.
    """


def leaf_signature(x):
    """Return the properties of the leaf `x` that are the same in all calls that share a program.

    For an array, these are the shape and the dtype; for a Tensor, also `requires_grad`; for a
    number, the type. Return None if `x` is not a leaf. An instance of a subclass of ndarray is not
    a leaf, because its operators may differ from those of an array. Raise OuterTransform if `x` is
    a Tensor of a transform: no program can read it.
    """
    kind = type(x)
    if kind is np.ndarray:
        return x.shape, x.dtype
    if isinstance(x, Tensor):
        if x.level:
            raise OuterTransform
        return x.shape, x.dtype, x._requires_grad
    return kind if kind is float or isinstance(x, (np.number, np.bool_)) else None


def signature(x, leaves, modules):
    """Return the properties of argument `x` that are the same in all calls that share a program.

    The leaves of `x` are appended to the list `leaves`, and weak references to its Modules to the
    list `modules`. The result is hashable. Because this function runs at every call, it is written
    for speed and does not check types: `with_stand_ins` checks them when a program is recorded.
    Keys and static values are listed with their types, because 1 == True == 1.0.

    >>> leaves, modules = [], []
    >>> signature([2.0, "sum", model], leaves, modules)
    (list, float, (str, "sum"), Linear)
    >>> leaves, modules
    ([2.0], [<weakref to model>])
    """
    kind = type(x)
    if kind is tuple or kind is list:
        return (kind, *[signature(part, leaves, modules) for part in x])
    if kind is dict:
        return (
            kind,
            *[(type(key), key, signature(part, leaves, modules)) for key, part in x.items()],
        )
    if (of_leaf := leaf_signature(x)) is not None:
        leaves.append(x)
        return of_leaf
    if kind in STATIC:
        return kind, x
    if isinstance(x, Module):
        # Another Module makes another program: the caller compares `modules` too, by identity. The
        # references are weak, because a Module may hold the compiled function that holds them.
        modules.append(ref(x))
        return kind
    return None  # not an argument of a program: `with_stand_ins` raises


def with_stand_ins(x, path, stand_in):
    """Return an argument with every leaf replaced by `stand_in(leaf, path)`.

    Parameters
    ----------
    x : object
        An argument of a compiled function, or a part of one.
    path : str
        Name of the argument in error messages, such as "args[0]".
    stand_in : callable
        Called with each leaf and its path, in the order in which `signature` finds them.

    Raises
    ------
    TypeError
        If `x` contains an object of a type that a compiled function does not accept.
    """
    kind = type(x)
    if kind is tuple or kind is list:
        return kind([with_stand_ins(part, f"{path}[{i}]", stand_in) for i, part in enumerate(x)])
    if kind is dict:
        return {key: with_stand_ins(x[key], f"{path}[{key!r}]", stand_in) for key in x}
    if leaf_signature(x) is not None:
        return stand_in(x, path)
    if kind in STATIC or isinstance(x, Module):
        return x
    raise TypeError(
        "compile: expected arrays, Tensors, numbers, strings, None, Modules, and tuples, lists and "
        f"dicts of exactly these as arguments, got {path} of type {kind.__name__}; pass only the "
        "parts you need"
    )
