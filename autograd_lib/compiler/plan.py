"""Which lines a program has, and into which memory they write."""

import operator
from collections import Counter
from itertools import count
from types import BuiltinFunctionType

import numpy as np

from .. import ops
from ..rows import primitive
from ..tape import Tensor
from .traced import Traced, value_of

# In bytes. Results from LARGE on are written into memory that is kept between calls. A sum of
# products from FUSED on is one dot product, which needs no memory for the products.
LARGE, FUSED = 1 << 11, 1 << 16
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


def live_lines(results, known=frozenset()):
    """Return the lines that `results` are computed from, in order: dead code is left out.

    Lines with a creation number in `known` are left out too, with all that only they read.
    """
    found, todo = {}, [x for x in results if isinstance(x, Traced)]
    while todo:
        node = todo.pop()
        if node.op and node.number not in found and node.number not in known:
            found[node.number] = node
            todo += node.reads
    return [found[order] for order in sorted(found)]


def fuse_dot_products(results):
    """Turn sum(x * y) into vdot(x, y) where both are large and nothing else reads the products.

    The dot product adds in another order, so its last digits may differ.
    """
    lines = live_lines(results)
    readers = Counter(id(x) for x in [*results, *[x for node in lines for x in node.reads]])
    for node in lines:
        x = node.inputs[0]
        whole = node.op is ops.sum and all(v is None or v is False for v in node.params.values())
        if not whole or type(x) is not Traced or x.op is not ops.multiply or readers[id(x)] > 1:
            continue
        if x._value.nbytes >= FUSED and all(
            isinstance(a, np.ndarray)
            and (a.shape, a.dtype) == (x.shape, x.dtype)
            and a.dtype.char in "fd"
            and a.flags.c_contiguous
            for a in map(value_of, x.inputs)
        ):
            node.op, node.inputs, node.params, node.reads = VDOT, x.inputs, {}, x.reads


def assign_buffers(lines, returned, names):
    """Decide where the large results of `lines` are written.

    Go through the lines backward. The buffer that a line writes into is unused before that line, so
    an earlier value of the same shape and dtype whose last reader has run can live in it. All values
    that share a buffer form a chain. For example, of large arrays:

        a = np.exp(x)           m1 = np.exp(x, out=m1)
        b = a * 2               b is a's last reader: np.multiply(m1, 2, out=m1)
        c = np.tanh(b)          np.tanh(m1, out=m1)

    Parameters
    ----------
    lines, returned : list of Traced
        The lines of a function, and what it returns.
    names : iterator of str
        The names of buffers.

    Returns
    -------
    buffers : dict
        {name: source that allocates it} of the buffers that outlive the call. A chain with a value
        that is returned has none: its first line allocates an array.
    out : dict
        {creation number of a line: a buffer, or the line whose array it writes over}.
    """
    allocation = {
        node.number: alloc_source(node._value)
        for node in lines
        if np.ndim(node._value) and node._value.nbytes >= LARGE
    }
    chains, chain_of, unused = [], {}, {}

    def read(nodes):
        """Give every value that is read below, for the first time from the end, a chain."""
        for x in map(alias_root, nodes):
            if x.number in allocation and x.number not in chain_of:
                same_kind = unused.setdefault(allocation[x.number], [])
                if not same_kind:
                    chains.append([])
                    same_kind.append(chains[-1])
                chain_of[x.number] = same_kind.pop()
                chain_of[x.number].append(x)

    # What a row of the user returns may be any of its arguments, so these keep their memory.
    held = [*returned, *[x for node in lines if is_user_op(node.op) for x in node.reads]]
    read(held)
    for node in reversed(lines):
        if ufunc(node) in (np.matmul, None):  # the others may write over what they read
            read(node.reads)
        if takes_out(node) and node.number in allocation:
            unused.setdefault(allocation[node.number], []).append(chain_of[node.number])
        read(node.reads)
    buffers, out, held = {}, {}, {alias_root(x).number for x in held}
    for *later, first in reversed(chains):
        place = first
        if takes_out(first) and not any(x.number in held for x in [*later, first]):
            out[first.number] = place = next(names)
            buffers[place] = allocation[first.number]
        out |= {x.number: place for x in later}
    return buffers, out


def ufunc(node):
    """Return the ufunc that computes a line of arrays, or None."""
    function = UFUNCS.get(node.op.function, node.op.function)
    whole = not node.params and isinstance(node._value, np.ndarray)
    return function if whole and isinstance(function, np.ufunc) else None


def masked(node):
    """Return True for a line that the table's `where` computes: it is quicker than NumPy's."""
    constant = node.op is ops.where and not isinstance(node.inputs[2], Tensor)
    return constant and np.size(node._value) >= 1024


def takes_out(node):
    """Return True if the function of a line takes the keyword `out`."""
    return ufunc(node) is not None or masked(node)


def alloc_source(z):
    """Return source that allocates an array like `z`, with its axes in the same order in memory."""
    order = sorted(range(z.ndim), key=lambda axis: -z.strides[axis])
    text = f"np.empty({tuple(z.shape[axis] for axis in order)}, np.{z.dtype.name})"
    if order == sorted(order):
        return text
    return f"{text}.transpose({[order.index(axis) for axis in range(z.ndim)]})"


def alias_root(node):
    """Return the line in whose memory a result may lie: its own, or that of which it is a view."""
    way = []
    while node.op and isinstance(node._value, np.ndarray) and "root" not in vars(node):
        shared = [x for x in node.reads if np.may_share_memory(x._value, node._value)]
        view = shared or node.op in _VIEWS or is_user_op(node.op)
        if not view or not node.reads:
            break
        way.append(node)
        node = (shared or node.reads)[0]
    found = getattr(node, "root", node)
    for x in way:  # remembered, so that a long chain of views is walked once
        x.root = found
    return found


def is_user_op(row):
    """Return True for a row that is neither the library's nor a function of NumPy."""
    known = np.ufunc, type(np.sum), type, BuiltinFunctionType
    return ops.ROWS.get(row.name) is not row and not isinstance(row.function, known)


def fresh_names(used, stem, first=1):
    """Yield stem1, stem2, … without the names in `used`, to which every name is added."""
    for name in map(f"{stem}{{}}".format, count(first)):
        if name not in used:
            used.add(name)
            yield name
