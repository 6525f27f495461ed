"""Which Python operator, method and NumPy function is which row; attached to Tensor."""

import operator
import sys
from dis import opmap
from functools import cache

import numpy as np

from . import ops
from .tape import Primitive, Tensor, Traced, is_constant, plain, primitive, refuse, traced_in


def _method(f):
    return f.method if isinstance(f, Primitive) else f


def _reflected(f):
    return lambda self, other: f(other, self)


@cache
def _flat(function):
    """`function`, whose slope is 0 wherever it exists, as a row without rules: its results are plain arrays."""
    arity = getattr(function, "nin", 1)
    row = primitive(function, [None] * arity, [None] * arity)

    def call(*args, **keywords):
        args = [plain(a) if isinstance(a, Tensor) else a for a in args]
        keywords = {name: plain(a) if isinstance(a, Tensor) else a for name, a in keywords.items()}
        traced = next(traced_in([args, keywords]), None) is not None
        return row.record(args, keywords) if traced else function(*args, **keywords)

    return call


def _reduction(row):
    """NumPy has other arguments third by position: they must not be taken for keepdims."""

    def reduce(a, axis=None, **keywords):
        return row(a, axis=axis, **keywords)

    return reduce


def _clip(a, a_min=None, a_max=None, *, min=None, max=None):
    return ops.clip(a, a_min if min is None else min, a_max if max is None else max)


_OPERATORS = {
    "add": ops.add,
    "sub": ops.subtract,
    "mul": ops.multiply,
    "truediv": ops.divide,
    "pow": ops.power,
    "matmul": ops.matmul,
}
_METHODS = [
    "exp",
    "log",
    "sqrt",
    "abs",
    "sin",
    "cos",
    "tanh",
    "sigmoid",
    "softplus",
    "gelu",
    "relu",
    "clip",
    "sum",
    "mean",
    "max",
    "min",
    "dot",
    "matmul",
    "broadcast_to",
    "squeeze",
    "expand_dims",
    "swapaxes",
    "astype",
    "logsumexp",
    "softmax",
    "log_softmax",
    "var",
    "std",
]
_FUNCTIONS = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "negative",
    "power",
    "exp",
    "log",
    "sqrt",
    "abs",
    "absolute",
    "sin",
    "cos",
    "tanh",
    "maximum",
    "minimum",
    "where",
    "clip",
    "sum",
    "mean",
    "max",
    "min",
    "amax",
    "amin",
    "matmul",
    "dot",
    "reshape",
    "transpose",
    "broadcast_to",
    "squeeze",
    "expand_dims",
    "swapaxes",
    "concatenate",
    "stack",
    "var",
    "std",
    "flip",
    "split",
    "einsum",
]
# Functions whose slope is 0 wherever it exists; and those whose result does not depend on the values.
_CONSTANT = [
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "equal",
    "not_equal",
    "sign",
    "floor",
    "ceil",
    "rint",
    "isnan",
    "isfinite",
    "isinf",
    "argmax",
    "argmin",
    "argsort",
    "array_equal",
    "allclose",
    "isclose",
    "any",
    "all",
]
_OF_SHAPE = ["size", "zeros_like", "ones_like", "result_type"]
_RENAMED = {"absolute": "abs", "amax": "max", "amin": "min"}

_STORE_SUBSCR = opmap["STORE_SUBSCR"]

_rows = {getattr(np, name): getattr(ops, _RENAMED.get(name, name)) for name in _FUNCTIONS}
_rows |= {
    f: _reduction(_rows[f])
    for f in (np.sum, np.mean, np.max, np.min, np.amax, np.amin, np.var, np.std)
}
_rows |= {
    np.clip: _clip,
    np.shape: operator.attrgetter("shape"),
    np.ndim: operator.attrgetter("ndim"),
}
_constant = {getattr(np, name): _flat(getattr(np, name)) for name in _CONSTANT}
_of_shape = {getattr(np, name) for name in _OF_SHAPE}


# What has another name here than in PyTorch, JAX or NumPy, or is made of what there is.
_ELSEWHERE = {
    "view": "reshape",
    "flatten": "reshape(-1)",
    "ravel": "reshape(-1)",
    "permute": "transpose(axes)",
    "t": "T",
    "unsqueeze": "expand_dims",
    "expand": "broadcast_to",
    "clamp": "clip",
    "cat": "concatenate([x, y], axis)",
    "vstack": "concatenate",
    "hstack": "concatenate",
    "mm": "@",
    "bmm": "@",
    "mul": "multiply, *,",
    "sub": "subtract, −,",
    "div": "divide, /,",
    "neg": "negative",
    "pow": "power, **,",
    "numpy": ".data",
    "tolist": ".data.tolist()",
    "cpu": ".data",
    "requires_grad_": "t.requires_grad = True",
    "zero_": ".zero_grad()",
    "stop_gradient": ".detach()",
    "tensor": "Tensor",
    "square": "x * x",
    "reciprocal": "1 / x",
    "norm": "(x * x).sum() ** 0.5",
    "prod": "exp(log(x).sum()) for x > 0",
    "vdot": "(x * y).sum()",
    "tensordot": "einsum(letters, x, y)",
    "outer": "x.reshape(-1, 1) * y",
    "cumsum": "@ with a triangle of ones",
    "take": "x[index]",
    "repeat": "x[index], with indices repeated,",
    "sort": "x[np.argsort(x)]",
    "log1p": "log(1 + x)",
    "log_sigmoid": "−softplus(−x)",
    "silu": "x * sigmoid(x)",
    "leaky_relu": "where(x > 0, x, slope * x)",
    "tan": "sin(x) / cos(x)",
}


def missing(owner, name):
    """The AttributeError of a name that is not here; it says what there is in its place."""
    return AttributeError(
        f"{owner} has no {name}"
        + (f": {_ELSEWHERE[name]} is what does it here" if name in _ELSEWHERE else "")
    )


class _Missing:
    """An attribute that raises `missing`. A __getattr__ would do, and slow every op down by a fifth."""

    def __init__(self, name):
        self.name = name

    def __get__(self, instance, owner):
        raise missing("a Tensor", self.name)


def _like(a):
    """An array of the same shape and dtype."""
    return np.broadcast_to(np.zeros((), a.dtype), a.shape) if isinstance(a, Tensor) else a


def _dispatch(function, args, kwargs):
    if function in _rows:
        return _rows[function](*args, **kwargs)
    if function in _constant:
        return _constant[function](*args, **kwargs)
    if function in _of_shape:  # an array of that shape and dtype is as good, and no Tensor
        return function(*[_like(a) for a in args], **{name: _like(a) for name, a in kwargs.items()})
    if isinstance(function, np.ufunc) and all(
        type(a) is Traced for a in args if isinstance(a, Tensor)
    ):
        return _flat(function)(*args, **kwargs)  # of arrays, in a function that is compiled
    raise TypeError(
        f"np.{function.__name__} has no row in the table, so it cannot be differentiated"
        + (f" ({_ELSEWHERE[function.__name__]} does it)" if function.__name__ in _ELSEWHERE else "")
        + ": use the functions of autograd_lib, add a row (see autograd_lib.primitive), or pass t.data if "
        "no gradient is wanted"
    )


def _array_ufunc(self, ufunc, method, *inputs, **kwargs):
    if method != "__call__" or "out" in kwargs:
        what = f".{method}" if method != "__call__" else " with out=, or in place on an array,"
        raise TypeError(
            f"np.{ufunc.__name__}{what} on a Tensor is not supported: nothing may be written over while "
            "gradients are recorded; write z = x + y for x += y, and t.sum(…) for np.add.reduce"
        )
    return _dispatch(ufunc, inputs, kwargs)


def _array_function(self, function, types, args, kwargs):
    return _dispatch(function, args, kwargs)


def _array(self, dtype=None, copy=None):
    if not is_constant(self):
        refuse(
            self,
            "a Tensor that requires a gradient cannot become an array unnoticed: use t.data for its value, "
            "t.detach() for a constant, stack or concatenate to join several",
        )
    return np.array(plain(self), dtype=dtype, copy=copy)


def _getitem(self, index):
    parts = index if isinstance(index, tuple) else (index,)
    if any(isinstance(i, Tensor) for i in parts):
        parts = tuple(plain(i) if isinstance(i, Tensor) else i for i in parts)
        if any(type(i) is Traced and i.dtype == bool for i in parts):
            refuse(
                self,
                "x[mask] has as many entries as the mask has True, and a program is written for one number of "
                "them: use where(mask, x, 0)",
            )
        index = parts if isinstance(index, tuple) else parts[0]
    return ops.getitem(self, index)


def _seen(self):
    """The value, where it may decide something."""
    value = plain(self)
    if type(value) is Traced:
        refuse(
            self,
            "a value decides here, as an if, a while or an index does, in a function that is being compiled: "
            "the program would always do what it did for the first call; use where(…), or keep this part out",
        )
    return value


def _bool(self):
    return bool(_seen(self))


def _float(self):
    caller = sys._getframe(1)
    if (
        not is_constant(self) and caller.f_code.co_code[caller.f_lasti] == _STORE_SUBSCR
    ):  # NumPy asks so in `a[i] = t`
        raise TypeError(
            "a[i] = t, for an array a, would lose the gradient of t: join Tensors with stack or "
            "concatenate, choose with where, or write a[i] = t.data if no gradient is wanted"
        )
    return float(self.item())


def _setitem(self, index, value):
    refuse(
        self,
        "items of a Tensor cannot be assigned, because gradients flow through its old values: "
        "use where(mask, new, t) or concatenate for a new Tensor, or t.data = … on a leaf",
    )


def _in_place(self, other):
    """`x += y` is `x = x + y`, and x another Tensor; but `p -= lr * p.grad` in a loop would so train nothing."""
    if type(self) is Traced:
        refuse(
            self,
            "an operator in place, such as x += y, would write into an array in a function that is being "
            "compiled: write x = x + y",
        )
    if self.op is None and self._requires_grad and self.level == 0:
        raise TypeError(
            "an operator in place, such as p -= …, would leave this Tensor, which requires a gradient, as "
            "it is, and make another: write p.data -= … to change its value, z = x - … for a new Tensor"
        )
    return NotImplemented


def _shape_args(args):
    """reshape(3, 4) and reshape((3, 4)) are the same, and so for transpose."""
    return args[0] if len(args) == 1 and (args[0] is None or np.ndim(args[0])) else args


def _len(self):
    if not self.ndim:
        raise TypeError("len() of a 0-d Tensor")
    return self.shape[0]


def _iter(self):
    return (self[i] for i in range(len(self)))


for name, f in _OPERATORS.items():
    setattr(Tensor, f"__{name}__", _method(f))
    setattr(Tensor, f"__r{name}__", _reflected(_method(f)))
    setattr(Tensor, f"__i{name}__", _in_place)
for name, ufunc in {
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}.items():
    setattr(Tensor, f"__{name}__", _constant[ufunc])
for name, ufunc in {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "mod": np.remainder,
    "floordiv": np.floor_divide,
}.items():  # what arrays have, and Tensors not
    setattr(Traced, f"__{name}__", _flat(ufunc))
    setattr(Traced, f"__r{name}__", _reflected(_flat(ufunc)))
Traced.__invert__ = _flat(np.invert)
for name in ("any", "all"):
    setattr(Traced, name, _constant[getattr(np, name)])
for name in _METHODS:
    setattr(Tensor, name, _method(getattr(ops, name)))
Tensor.reshape = lambda self, *shape: ops.reshape(self, _shape_args(shape))
Tensor.transpose = lambda self, *axes: ops.transpose(self, _shape_args(axes) if axes else None)
Tensor.T = property(lambda self: ops.transpose(self))
Tensor.mT = property(lambda self: ops.swapaxes(self, -1, -2))
Tensor.__neg__ = ops.negative.method
Tensor.__pos__ = lambda self: self
Tensor.__abs__ = ops.abs.method
Tensor.__getitem__ = _getitem
Tensor.__setitem__ = _setitem
Tensor.__len__ = _len
Tensor.__iter__ = _iter
Tensor.__bool__ = _bool
Tensor.__float__ = _float
Tensor.__index__ = lambda self: operator.index(_seen(self)[()])
Tensor.__format__ = lambda self, spec: (
    format(plain(self)[()], spec) if spec and type(plain(self)) is not Traced else repr(self)
)
for name in _ELSEWHERE.keys() - set(dir(Tensor)):
    setattr(Tensor, name, _Missing(name))
Tensor.argmax = lambda self, axis=None: np.argmax(self, axis=axis)
Tensor.argmin = lambda self, axis=None: np.argmin(self, axis=axis)
Tensor.__dir__ = lambda self: [
    name for name in object.__dir__(self) if name not in _ELSEWHERE or hasattr(self, name)
]
Tensor.__array__ = _array
Tensor.__array_ufunc__ = _array_ufunc
Tensor.__array_function__ = _array_function
