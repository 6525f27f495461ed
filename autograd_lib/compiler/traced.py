"""Define `Traced`, the class of the Tensors that a function receives while it is recorded."""

import operator

import numpy as np

from .. import ops
from ..operators import zero_gradient, zero_gradient_functions
from ..rows import elementwise
from ..tape import Tensor

PYTHON_NUMBERS = {int, float, bool}


class Traced(Tensor):
    """An input or a line of a program, with the array or number that it has in the recorded call.

    The function that is being recorded must not read this value, because it differs in later calls.

    Attributes
    ----------
    trace : Trace
        The recorded call.
    op, inputs, params : Primitive or None, tuple, dict
        The row that the line calls, with the arguments and keywords. `op` is None for an input.
    reads : list of Traced
        All Traced among the arguments and keywords.
    root : Traced
        The Traced whose array owns the memory: this one, or another one if the array is a view.
    origin : Origin
        Describes the gradient rule that computes the line, or is NO_ORIGIN.
    """

    opaque = True
    # Unlike other Tensors, a Traced may hold a Python number, which promotes no dtype.
    shape = property(lambda self: np.shape(self._value))
    ndim = property(lambda self: np.ndim(self._value))
    size = property(lambda self: np.size(self._value))
    dtype = property(lambda self: np.asarray(self._value).dtype)

    def process(self, row, args, params):
        """Record a call of `row` as a line of the program, and return its result."""
        return self.trace.process(row, args, params)


def mapped(f, x, of_key=lambda key: key):
    """Return `x` with every value in its tuples, lists and dicts replaced by f(value).

    `x` may be nested. Each key of a dict is replaced by of_key(key).
    """
    if type(x) in (tuple, list):
        return type(x)([mapped(f, part, of_key) for part in x])
    return (
        {of_key(k): mapped(f, part, of_key) for k, part in x.items()} if type(x) is dict else f(x)
    )


def value_of(x):
    """Return the value of `x` if it is a Traced; return anything else unchanged."""
    return x._value if type(x) is Traced else x


# Operators without a gradient, and the function of NumPy that each calls for arrays.
ZERO_GRADIENT = {
    operator.gt: np.greater,
    operator.ge: np.greater_equal,
    operator.lt: np.less,
    operator.le: np.less_equal,
    operator.eq: np.equal,
    operator.ne: np.not_equal,
    operator.floordiv: np.floor_divide,
    operator.mod: np.remainder,
    operator.and_: np.bitwise_and,
    operator.or_: np.bitwise_or,
    operator.xor: np.bitwise_xor,
    operator.invert: np.invert,
    round: np.round,
}
UNARY = {operator.neg, operator.invert, abs, round}  # all other operators have two arguments
# An operator on two Python numbers returns a Python number, which promotes no dtype; a row returns
# NumPy's. So the operators of a Traced that holds a Python number are rows of their own.
PYTHON_ROWS = {
    row: elementwise(function, *[None] * (1 if function in UNARY else 2))
    for row, function in {
        ops.add: operator.add,
        ops.subtract: operator.sub,
        ops.multiply: operator.mul,
        ops.divide: operator.truediv,
        ops.power: operator.pow,
        ops.negative: operator.neg,
        ops.abs: abs,
        **{zero_gradient(ufunc): function for function, ufunc in ZERO_GRADIENT.items()},
    }.items()
}


def _apply(row, *args):
    """Return the result of the operator of `row` for `args`, which are Traced and other values.

    If all values are Python numbers, so is the result (see PYTHON_ROWS).
    """
    numbers = all(type(value_of(a)) in PYTHON_NUMBERS for a in args)
    return (PYTHON_ROWS[row] if numbers else row)(*args)


# Some names, such as __rneg__, mean nothing to Python, which never looks for them.
for row, python_row in PYTHON_ROWS.items():
    name = python_row.function.__name__.rstrip("_")  # and_, because `and` is a keyword
    setattr(Traced, f"__{name}__", lambda *args, row=row: _apply(row, *args))
    setattr(Traced, f"__r{name}__", lambda self, other, row=row: _apply(row, other, self))
for name in ("any", "all"):  # methods of arrays, which other Tensors do not have
    setattr(Traced, name, zero_gradient_functions[getattr(np, name)])
