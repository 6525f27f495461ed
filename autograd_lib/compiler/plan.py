"""What a program computes and with which memory: what is decided before it is written down.

The parts of this file: *what is needed*, with sums of products in one call; *memory*, where each line is written.
"""

import operator
from collections import Counter
from itertools import count

import numpy as np

from .. import ops
from ..tape import Primitive
from ..trace import Traced

LARGE = 1 << 11     # bytes from which on a line is written for speed: with memory that is kept, by no detour
JOINED = 1 << 16    # bytes of products from which on their sum is a dot product, which rounds otherwise

_VIEWS = {operator.getitem, *[getattr(np, name) for name in """reshape ravel transpose swapaxes moveaxis squeeze
    expand_dims broadcast_to flip diagonal diag matrix_transpose fliplr flipud rot90 einsum""".split()]}

# --- What is needed -----------------------------------------------------------------------------------------


def arguments(node):
    """The nodes among what a node was called with, in lists too."""
    found, todo = [], [*node.args, *node.keywords.values()]
    while todo:
        x = todo.pop(0)
        if isinstance(x, Traced):
            found.append(x)
        elif isinstance(x, (list, tuple)):
            todo = [*x, *todo]
    return found


def needed(nodes, known=frozenset()):
    """The places in the trace of what has to be computed for these."""
    found, todo = set(), [x for x in nodes if isinstance(x, Traced)]
    while todo:
        node = todo.pop()
        if node.function and node.order not in found and node.order not in known:
            found.add(node.order)
            todo += arguments(node)
    return found


def join(trace, results):
    """A sum of products of large arrays, where nobody else reads the products, becomes a call that keeps none of them."""
    results = [x for x in results if isinstance(x, Traced)]
    nodes = [trace.nodes[n] for n in needed(results)]
    readers = Counter(x.order for x in [*results, *[x for node in nodes for x in arguments(node)]])
    for node in nodes:
        x = node.args[0] if node.function is np.sum and len(node.args) == 1 and not node.errors else None
        whole = all(word in [("axis", None), ("keepdims", False)] for word in node.keywords.items())
        if whole and isinstance(x, Traced) and x.function is np.multiply and not x.keywords and readers[x.order] == 1:
            factors = [a.value if isinstance(a, Traced) else a for a in x.args]
            if x.value.nbytes >= JOINED and all(
                    isinstance(a, np.ndarray) and a.shape == x.shape and a.dtype == x.dtype and a.dtype.char in "fd"
                    and a.flags.c_contiguous for a in factors):
                node.function, node.args, node.keywords = np.vdot, x.args, {}


# --- Memory -------------------------------------------------------------------------------------------------


def placed(lines, kept, taken):
    """({name: how memory for it is made}, {place of a node: where it is written}), for large results that are gone
    when the function returns; names that are `taken` are others. Where a value of its own is not read any more, the
    next of its kind is written; what is returned is so written into an array that was made for it."""
    end = {root(x).order: np.inf for x in kept}
    for node in lines:
        for x in [node, *arguments(node)]:
            end[root(x).order] = max(end.get(root(x).order, 0), node.order)
    kind = {node.order: made(node.value) for node in lines}
    last = {node.order: {x.order: x for x in map(root, arguments(node))    # what of its own it is the last to read
                         if end[x.order] == node.order and x.order in kind} for node in lines}
    over = {node.order: [x for x in last[node.order].values() if kind[x.order] == kind[node.order]]
            for node in lines if _large(node) and node.function is not np.matmul}
    returned = {node.order for node in lines if end.get(node.order) == np.inf}
    for node in reversed(lines):
        if node.order in returned and over.get(node.order):
            returned.add(over[node.order][0].order)
    memory, out, free = {}, {}, {}
    names = (name for name in map("m{}".format, count()) if name not in taken)
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
            if np.ndim(x.value) and x.value.nbytes >= LARGE:
                free.setdefault(kind[x.order], []).append(out.get(x.order, x))
    taken.update(memory)
    return memory, out


def _large(node):
    """Whether its result may be written into memory that is there."""
    return isinstance(node.function, np.ufunc) and not node.keywords and node.value.nbytes >= LARGE


def made(z):
    """How memory for an array like `z`, a number or an array, is made: in the order that its axes have in memory."""
    order = sorted(range(np.ndim(z)), key=lambda axis: -z.strides[axis])
    text = f"np.empty({tuple(z.shape[axis] for axis in order)}, np.{z.dtype.name})" if np.ndim(z) else ""
    return text if order == sorted(order) else f"{text}.transpose({[order.index(axis) for axis in range(z.ndim)]})"


def root(node):
    """Whose memory the result may lie in: its own, or that of what it is a view of."""
    roots, way = node.trace.roots, []
    while node.order not in roots:
        way.append(node.order)
        inside = arguments(node)
        shared = [x for x in inside if np.may_share_memory(x.value, node.value)]
        view = node.function in _VIEWS or isinstance(node.function, Primitive) and own(node.function)
        if not inside or not shared and not view:
            break
        node = (shared or inside)[0]
    found = roots.get(node.order, node)
    roots.update(dict.fromkeys(way, found))
    return found


def own(row):
    """Whether a row is the learner's own: what the function of one in the table returns is never a view."""
    return ops.ROWS.get(row.name) is not row
