"""Which lines a program has, and into which memory they write."""

import operator
from collections import Counter
from itertools import count

import numpy as np

from .. import ops
from ..rows import primitive
from ..tape import Tensor
from .traced import Traced, value_of

LARGE = (
    1 << 11
)  # bytes from which on a line is written for speed: with memory that is kept, by no detour
JOINED = (
    1 << 16
)  # bytes of products from which on their sum is a dot product, which rounds otherwise
VDOT = primitive(np.vdot, [None, None], [None, None])
UFUNCS = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.true_divide,
    operator.matmul: np.matmul,
    operator.neg: np.negative,
}
_VIEWS = {ops.getitem, ops.reshape, ops.transpose, ops.squeeze, ops.expand_dims, ops.broadcast_to}


def needed(nodes, known=frozenset()):
    """The lines that have to be computed for these, in order, without those of which the order is `known`."""
    found, todo = {}, [x for x in nodes if isinstance(x, Traced)]
    while todo:
        node = todo.pop()
        if node.op and node.order not in found and node.order not in known:
            found[node.order] = node
            todo += node.reads
    return [found[order] for order in sorted(found)]


def join(nodes):
    """A sum of products of large arrays, where nobody else reads the products, becomes a call that keeps none of
    them."""
    lines = needed(nodes)
    readers = Counter(id(x) for x in [*nodes, *[x for node in lines for x in node.reads]])
    for node in lines:
        x = node.inputs[0]
        if (
            node.op is ops.sum
            and type(x) is Traced
            and all(v is None or v is False for v in node.params.values())
            and x.op is ops.multiply
            and readers[id(x)] == 1
            and x._value.nbytes >= JOINED
        ):
            factors = list(map(value_of, x.inputs))
            if all(
                isinstance(a, np.ndarray)
                and a.shape == x.shape
                and a.dtype == x.dtype
                and a.dtype.char in "fd"
                and a.flags.c_contiguous
                for a in factors
            ):
                node.op, node.inputs, node.params, node.reads = VDOT, x.inputs, {}, x.reads


def placed(lines, kept, names):
    """({name: how memory for it is made}, {order of a line: where it writes}), for large results; the names of memory
    are the next of `names`.

    From the last line to the first: before a line runs, what it writes into is free for a value of the same kind that
    is not read later. So values form chains, each in one place: an array that the first of a chain makes, where one of
    them is returned, and else memory that outlives the call.
    """
    kind = {
        node.order: _made(node._value)
        for node in lines
        if np.ndim(node._value) and node._value.nbytes >= LARGE
    }
    chains, chain_of, free = [], {}, {}

    def read(nodes):
        for x in map(root, nodes):
            if x.order in kind and x.order not in chain_of:
                if not free.get(kind[x.order]):
                    chains.append([])
                    free[kind[x.order]] = [chains[-1]]
                chain_of[x.order] = free[kind[x.order]].pop()
                chain_of[x.order].append(x)

    held = [*kept, *[x for node in lines if own(node.op) for x in node.reads]]
    read(held)  # what a row of the learner's returns may be any of its arguments
    for node in reversed(lines):
        if ufunc(node) in (
            np.matmul,
            None,
        ):  # others go entry by entry: they may write over what they read
            read(node.reads)
        if (ufunc(node) or masked(node)) and node.order in kind:
            free.setdefault(kind[node.order], []).append(chain_of[node.order])
        read(node.reads)
    memory, out, held = {}, {}, {root(x).order for x in held}
    for *later, first in reversed(chains):
        place = first
        if (ufunc(first) or masked(first)) and not any(x.order in held for x in [*later, first]):
            out[first.order] = place = next(names)
            memory[place] = kind[first.order]
        out |= {x.order: place for x in later}
    return memory, out


def ufunc(node):
    """The ufunc that computes a line of arrays, or None."""
    function = UFUNCS.get(node.op.function, node.op.function)
    whole = (
        isinstance(function, np.ufunc) and not node.params and isinstance(node._value, np.ndarray)
    )
    return function if whole else None


def masked(node):
    """Whether a line is left to the table's `where`, which is quicker than NumPy's where many are 0."""
    return (
        node.op is ops.where
        and np.size(node._value) >= 1024
        and not isinstance(node.inputs[2], Tensor)
    )


def _made(z):
    """How memory for an array like `z` is made: in the order that its axes have in memory."""
    order = sorted(range(z.ndim), key=lambda axis: -z.strides[axis])
    text = f"np.empty({tuple(z.shape[axis] for axis in order)}, np.{z.dtype.name})"
    return (
        text
        if order == sorted(order)
        else f"{text}.transpose({[order.index(axis) for axis in range(z.ndim)]})"
    )


def root(node):
    """Whose memory the result may lie in: its own, or that of what it is a view of."""
    way = []
    while node.op and isinstance(node._value, np.ndarray) and "root" not in vars(node):
        inside = node.reads
        shared = [x for x in inside if np.may_share_memory(x._value, node._value)]
        if not inside or not shared and node.op not in _VIEWS and not own(node.op):
            break
        way.append(node)
        node = (shared or inside)[0]
    found = getattr(node, "root", node)
    for x in way:
        x.root = found
    return found


def own(row):
    """Whether a row is the learner's own: what the function of one in the table returns is a view for those above
    only."""
    return ops.ROWS.get(row.name) is not row and not isinstance(
        row.function, (np.ufunc, type(np.sum), type)
    )


def names_but(taken, stem, first=1):
    """m1, m2, … without those that are taken, which grow."""
    for name in map(f"{stem}{{}}".format, count(first)):
        if name not in taken:
            taken.add(name)
            yield name
