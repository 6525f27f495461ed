"""Which lines a program has, and into which memory they write."""

import operator
from collections import Counter
from itertools import count

import numpy as np

from .. import ops
from ..tape import Tensor, Traced, primitive, value_of

LARGE = 1 << 11     # bytes from which on a line is written for speed: with memory that is kept, by no detour
JOINED = 1 << 16    # bytes of products from which on their sum is a dot product, which rounds otherwise
VDOT = primitive(np.vdot, [None, None], [None, None])
UFUNCS = {operator.add: np.add, operator.sub: np.subtract, operator.mul: np.multiply, operator.truediv: np.true_divide,
          operator.matmul: np.matmul, operator.neg: np.negative}
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
        if node.op is ops.sum and type(x) is Traced and all(v is None or v is False for v in node.params.values()) \
                and x.op is ops.multiply and readers[id(x)] == 1 and x._data.nbytes >= JOINED:
            factors = [value_of(a) for a in x.inputs]
            if all(isinstance(a, np.ndarray) and a.shape == x.shape and a.dtype == x.dtype and a.dtype.char in "fd"
                   and a.flags.c_contiguous for a in factors):
                node.op, node.inputs, node.params, node.reads = VDOT, x.inputs, {}, x.reads


def placed(lines, kept, names):
    """({name: how memory for it is made}, {order of a line: where it writes}), for large results that are gone when the
    function returns; the names of memory are the next of `names`. Where a value of its own is not read any more, the
    next of its kind is written; what is returned is so written into an array that was made for it."""
    end = {}
    for node in lines:
        for x in [node, *node.reads]:
            end[root(x).order] = node.order
    end |= {root(x).order: np.inf for x in kept}
    for node in reversed(lines):        # what a row of the learner's returns may be any of its arguments
        for x in node.reads if own(node.op) else ():
            end[root(x).order] = max(end[root(x).order], end[root(node).order])
    kind = {node.order: _made(node._data) for node in lines}
    last = {node.order: {x.order: x for x in map(root, node.reads)    # what of its own it is the last to read
                         if end[x.order] == node.order and x.order in kind} for node in lines}
    over = {node.order: [x for x in last[node.order].values() if kind[x.order] == kind[node.order]]
            for node in lines if _large(node) and ufunc(node) not in (np.matmul, None)}
    returned = {node.order for node in lines if end[root(node).order] == np.inf}
    for node in reversed(lines):
        if node.order in returned and over.get(node.order):
            returned.add(over[node.order][0].order)
    memory, out, free = {}, {}, {}
    for node in lines:
        if over.get(node.order):
            first = over[node.order][0]
            out[node.order] = out.get(first.order, first)
            del last[node.order][first.order]
        elif _large(node) and node.order not in returned:
            if free.get(kind[node.order]):
                out[node.order] = free[kind[node.order]].pop()
            else:
                out[node.order] = name = next(names)
                memory[name] = kind[node.order]
        for x in last[node.order].values():
            if np.ndim(x._data) and x._data.nbytes >= LARGE:
                free.setdefault(kind[x.order], []).append(out.get(x.order, x))
    return memory, out


def ufunc(node):
    """The ufunc that computes a line of arrays, or None."""
    function = UFUNCS.get(node.op.function, node.op.function)
    whole = isinstance(function, np.ufunc) and not node.params and isinstance(node._data, np.ndarray)
    return function if whole else None


def _large(node):
    masked = node.op is ops.where and isinstance(node._data, np.ndarray) and not isinstance(node.inputs[2], Tensor)
    return (masked or ufunc(node) is not None) and node._data.nbytes >= LARGE


def _made(z):
    """How memory for an array like `z`, a number or an array, is made: in the order that its axes have in memory."""
    order = sorted(range(np.ndim(z)), key=lambda axis: -z.strides[axis])
    text = f"np.empty({tuple(z.shape[axis] for axis in order)}, np.{z.dtype.name})" if np.ndim(z) else ""
    return text if order == sorted(order) else f"{text}.transpose({[order.index(axis) for axis in range(z.ndim)]})"


def root(node):
    """Whose memory the result may lie in: its own, or that of what it is a view of."""
    way = []
    while node.op and isinstance(node._data, np.ndarray) and "root" not in vars(node):
        inside = node.reads
        shared = [x for x in inside if np.may_share_memory(x._data, node._data)]
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
    return ops.ROWS.get(row.name) is not row and not isinstance(row.function, (np.ufunc, type(np.sum), type))


def names_but(taken, stem):
    """m1, m2, … without those that are taken, which grow."""
    for name in map(f"{stem}{{}}".format, count(1)):
        if name not in taken:
            taken.add(name)
            yield name
