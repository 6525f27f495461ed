"""Choose the lines of a program, and the memory that each line writes into."""

import operator

import numpy as np

from .. import ops
from ..operators import zero_gradient_functions
from ..tape import Tensor
from .traced import PYTHON_ROWS, Traced

LARGE = 1 << 11  # in bytes: smaller results are not worth a buffer that is kept between calls
# Functions of the table, and the ufunc that each is for arrays. Not pow: x ** 0.5 is √x in NumPy,
# which differs from np.power at −∞ and −0.
UFUNCS = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.true_divide,
    operator.matmul: np.matmul,
    operator.neg: np.negative,
}
# What these return may be a view or a copy, depending on the layout of their argument.
VIEWS = {ops.getitem, ops.reshape, ops.transpose, ops.squeeze, ops.expand_dims, ops.broadcast_to}


def live_lines(results, computed=frozenset()):
    """Return the lines that `results` are computed from, in the order of their creation.

    All other lines are dead code and are left out. `computed` contains the creation numbers of
    lines whose values are already known: these lines are left out too, and so is every line that
    only these lines read. Results that are not Traced are ignored.
    """
    live, todo = {}, [x for x in results if isinstance(x, Traced)]
    while todo:
        node = todo.pop()
        if node.op and node.number not in live and node.number not in computed:
            live[node.number] = node
            todo += node.reads
    return [live[number] for number in sorted(live)]


def assign_buffers(lines, returned, new_name):
    """Choose the memory that each large result of `lines` is written into.

    A line writes into a free buffer, or over a value that no later line reads. Arrays that the
    function returns are not written into buffers: NumPy allocates them. Example for a large x:

        a = np.exp(x)           m1 = np.exp(x, out=m1)
        b = a * 2               b is a's last reader: np.multiply(m1, 2, out=m1)
        c = np.tanh(b)          np.tanh(m1, out=m1)

    Parameters
    ----------
    lines : list of Traced
        The lines of a function.
    returned : list of Traced
        The Traced whose arrays are still in use after the function has returned.
    new_name : callable
        Called without arguments; returns the name of a new buffer.

    Returns
    -------
    buffers : dict of str to str
        For the name of each buffer, the source of the call that allocates it.
    out : dict of int to str
        For the creation number of each line that writes into a buffer, the name of the buffer.
    """
    # Everything goes by the root: a buffer is in use as long as its value or a view of it is read.
    read_freely = [x for node in lines if depends_on_values(node) for x in node.reads]
    held = {x.root.number for x in [*returned, *read_freely]}
    last_reader = {x.root.number: node for node in lines for x in node.reads}
    buffers, out, free = {}, {}, {}  # free: names as keys, in the order in which they became free
    for node in lines:
        roots = dict.fromkeys(x.root.number for x in node.reads)  # each once, in order
        # The buffers that no later line reads.
        ended = [out[n] for n in roots if last_reader[n] is node and n in out]
        usable, z = [*reversed(free)], node._value  # the newest first, which is still in the cache
        if ufunc(node) not in (np.matmul, None):  # a ufunc of entries may write over what it reads
            usable = ended + usable
        if takes_out(node) and z.nbytes >= LARGE and node.number not in held:
            allocation = f"np.empty({z.shape}, np.{z.dtype.name})"
            name = next((m for m in usable if buffers[m] == allocation), None) or new_name()
            out[node.number], buffers[name] = name, allocation
        free |= dict.fromkeys(ended)
        free.pop(out.get(node.number), None)  # this line writes into it
    return buffers, out


def ufunc(node):
    """Return the ufunc that computes the line `node`, or None.

    The result is None unless the line calls a ufunc without keywords and its value is an array.
    """
    function = UFUNCS.get(node.op.function, node.op.function)
    plain_call = not node.params and isinstance(node._value, np.ndarray)
    return function if plain_call and isinstance(function, np.ufunc) else None


def takes_out(node):
    """Return True if the line `node` can be given an array `out` to write its result into.

    The line must call a ufunc, or `where` with a constant as its third argument, and its result
    must be C-contiguous, as buffers are. (`where` writes into `out` only if that constant is 0.)
    """
    masks = node.op is ops.where and not isinstance(node.inputs[2], Tensor)
    return (masks or ufunc(node) is not None) and node._value.flags.c_contiguous


def memory_root(node):
    """Return the line or input that owns the memory of the result of `node`.

    This is `node` itself, unless its result is a view of an argument. The function compares the
    memory bounds of the arrays in the recorded call. For an array in a buffer, the answer is
    the same in every call, because a buffer always has the same layout. For other arrays, a row in
    VIEWS may return a copy in the recorded call and a view in another call.
    """
    shared = [x for x in node.reads if np.may_share_memory(x._value, node._value)]
    # One is enough, because a result is a view of one array.
    return shared[0].root if shared else node


def depends_on_values(node):
    """Return True if the recorded call of the line `node` does not show what later calls do.

    Such a line calls a row of the user, or reads an index that a program reads at every call.

    - It may raise an error in a later call, so it stays in the program even if no result is
      computed from it.
    - Its result may or may not be in the memory of an argument, so no argument is in a buffer. A
      row of the user may return or keep an argument. `x[i]` is a view of `x` if `i` is a number,
      and a copy if `i` is an array of shape ().
    """
    return is_user_op(node.op) or node.op is ops.getitem and len(node.reads) > 1


def is_user_op(row):
    """Return True unless `row` is in the table or has a plain NumPy or Python function.

    If the result is True, the row was defined by the user, or it is a row in nn.functional that
    checks arguments. The function of such a row may raise an error, keep a reference to its
    arguments, or return a view, a list or a Python number.
    """
    # transforms.py has a row of np.float64, a type. A row of another function of NumPy is a user's:
    # np.ravel, for example, copies some arrays and returns a view of others.
    return not (
        isinstance(row.function, (np.ufunc, type))
        or row.function in zero_gradient_functions
        or ops.ROWS.get(row.name) is row
        or row in PYTHON_ROWS.values()
    )
