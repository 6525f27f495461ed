"""The arguments of a compiled function: which calls run the same program, and which values it reads.

A *leaf* is an argument, or a part of one, whose value a program reads at every call: an array, a
Tensor, a NumPy number or a Python float. Everything else among the arguments is compared: another
int, string, Module, length, key, shape or dtype makes another program.
"""

from weakref import ref

import numpy as np

from ..nn import Module
from ..tape import Tensor

STATIC = {int, bool, str, bytes, type(None), type(...)}


def leaf_signature(x):
    """Return what must stay the same of a leaf, or None if `x` is not a leaf."""
    kind = type(x)
    if kind is np.ndarray:
        return x.shape, x.dtype
    if isinstance(x, Tensor):
        return x.shape, x.dtype, x._requires_grad, x.level
    return kind if kind is float or isinstance(x, (np.number, np.bool_)) else None


def signature(x, leaves, modules):
    """Return what must stay the same of an argument, beside its Modules; collect these and its leaves.

    The result is hashable, and is compared at every call, so this function is written for speed:
    it checks nothing. `copy_argument` does, when a program is recorded.

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
    if (found := leaf_signature(x)) is not None:
        leaves.append(x)
        return found
    if kind in STATIC:
        return kind, x
    if isinstance(x, Module):
        modules.append(ref(x))  # a program does not keep the Module alive whose method it is
        return kind
    return None


def copy_argument(x, path, stand_in, containers):
    """Return an argument with `stand_in(leaf, path)` in the place of every leaf.

    Parameters
    ----------
    x : object
        An argument, or a part of one.
    path : str
        What error messages call it, as in "x_0".
    stand_in : callable
        Called with each leaf and its path, in the order in which `signature` finds them.
    containers : list
        Receives (path, copy of a list or dict, its entries), which `changed_container` compares.

    Raises
    ------
    TypeError
        If the argument is of another type, or holds other than real numbers.
    """
    kind = type(x)
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind not in "biuf":
        raise TypeError(f"compile: expected real numbers in {path}, got dtype {x.dtype}")
    if leaf_signature(x) is not None:
        return stand_in(x, path)
    if kind in STATIC or isinstance(x, Module):
        return x
    if kind not in (tuple, list, dict):
        raise TypeError(
            "compile: expected arrays, Tensors, numbers, strings, None, Modules, and tuples, lists "
            f"and dicts of exactly these as arguments, got {path} of type {kind.__name__}; pass "
            "only the parts that are needed"
        )
    entries = x if kind is dict else dict(enumerate(x))
    if odd := [key for key in entries if type(key) not in STATIC]:
        raise TypeError(
            f"compile: expected strings or ints as the keys of {path}, got the key {odd[0]!r}"
        )
    entries = {
        key: copy_argument(part, f"{path}_{key}", stand_in, containers)
        for key, part in entries.items()
    }
    new = entries.copy() if kind is dict else kind(entries.values())
    containers += [(path, new, entries)] * (kind is not tuple)
    return new


def changed_container(containers):
    """Return the path of the first list or dict with other entries than before, or None."""
    for path, container, before in containers:
        now = container if type(container) is dict else dict(enumerate(container))
        if now.keys() != before.keys() or any(now[key] is not before[key] for key in now):
            return path
    return None
