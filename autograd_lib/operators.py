"""Attach operators, methods and NumPy's functions to Tensor, each as a row of the table."""

import operator
from functools import cache, partial

import numpy as np

from . import ops
from .hints import NAMES, absent, explain_arguments, hint_for
from .rows import Primitive, is_constant, primitive, traced_in
from .tape import Tensor, to_array

_OPERATORS = {
    "add": ops.add,
    "sub": ops.subtract,
    "mul": ops.multiply,
    "truediv": ops.divide,
    "pow": ops.power,
    "matmul": ops.matmul,
}
_METHODS = """
    exp log sqrt abs sin cos tanh sigmoid softplus gelu relu clip sum mean max min dot matmul
    broadcast_to squeeze expand_dims swapaxes astype logsumexp softmax log_softmax var std
""".split()
_FUNCTIONS = """
    add subtract multiply divide negative power exp log sqrt abs absolute sin cos tanh maximum
    minimum where sum mean max min amax amin matmul dot reshape transpose broadcast_to squeeze
    expand_dims swapaxes concatenate stack var std flip split einsum
""".split()
# Functions whose derivative is 0 wherever it exists.
_ZERO_GRADIENT = """
    greater greater_equal less less_equal equal not_equal sign floor ceil rint round around trunc
    fix floor_divide isnan isfinite isinf argmax argmin argsort array_equal allclose isclose any all
    logical_and logical_or logical_xor logical_not zeros_like ones_like
""".split()
_RENAMED = {"absolute": "abs", "amax": "max", "amin": "min"}


def _reject(t, message):
    """Raise TypeError with this message about the Tensor `t`.

    While `compile` records a function, the error is also stored, because the function may catch it.
    """
    error, value = TypeError(message), to_array(t)
    if isinstance(value, Tensor):
        value.trace.refused.append(error)
    raise error


# --- NumPy's functions ----------------------------------------------------------------------------


@cache
def zero_gradient(function):
    """Wrap a function whose derivative is 0, so that it takes Tensors and returns arrays.

    Parameters
    ----------
    function : callable
        A function or ufunc of NumPy, such as np.floor or np.greater.

    Returns
    -------
    callable
        Takes the arguments of `function`. While `compile` records, a call becomes a program line.
    """
    pairs = {np.isclose, np.allclose, np.array_equal}  # functions of two arrays
    arity = 2 if function in pairs else getattr(function, "nin", 1)
    row = primitive(function, [None] * arity, [None] * arity)

    def call(*args, **keywords):
        args = [to_array(a) if isinstance(a, Tensor) else a for a in args]
        keywords = {
            name: to_array(a) if isinstance(a, Tensor) else a for name, a in keywords.items()
        }
        # A call with a Traced becomes a line of its program.
        return (row.record if [*traced_in([args, keywords])] else row.call_function)(args, keywords)

    return call


def _named(name, f):
    """Rename `f` to `name`, and wrap it so that errors about its arguments use that name."""
    f.__name__ = name
    return explain_arguments(f)


def _clip(a, a_min=None, a_max=None, *, min=None, max=None):
    if (a_min is not None or a_max is not None) and (min is not None or max is not None):
        raise TypeError("np.clip: expected the bounds by position or as min= and max=, got both")
    return ops.clip(a, a_min if min is None else min, a_max if max is None else max)


def _pad(array, pad_width, mode="constant", constant_values=0):
    if mode != "constant" or np.any(constant_values):
        raise TypeError(
            f"np.pad: expected mode='constant' with zeros, got mode={mode!r} with constant_values="
            f"{constant_values!r}; add other borders with concatenate"
        )
    return ops.pad(array, pad_width)


_rows = {getattr(np, name): getattr(ops, _RENAMED.get(name, name)) for name in _FUNCTIONS}
_rows |= {
    np.clip: _named("np.clip", _clip),
    np.pad: _named("np.pad", _pad),
    np.matmul: explain_arguments(ops.matmul),
    np.shape: operator.attrgetter("shape"),
    np.ndim: operator.attrgetter("ndim"),
    np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis],
    np.result_type: lambda *args: np.result_type(*[getattr(a, "dtype", a) for a in args]),
}
zero_gradient_functions = {
    getattr(np, name): zero_gradient(getattr(np, name)) for name in _ZERO_GRADIENT
}
_rows |= zero_gradient_functions


def _dispatch(function, args, kwargs):
    if function in _rows:
        return _rows[function](*args, **kwargs)
    name = function.__name__
    if isinstance(function, np.ufunc):
        if name == "clip":  # the ufunc behind the method of arrays, as in np.ones(3).clip(0, t)
            return ops.clip(*args, **kwargs)
        if all(a.opaque for a in args if isinstance(a, Tensor)):
            return zero_gradient(function)(*args, **kwargs)  # arrays inside compile
    module = getattr(function, "__module__", "numpy").replace("numpy", "np", 1)
    raise TypeError(
        f"{module}.{name} has no derivative rule in autograd_lib: "
        + (hint_for(name) or "use the functions of autograd_lib")
        + "; or add a row (see autograd_lib.primitive), or pass t.data if you need no gradient"
    )


def _array_ufunc(self, ufunc, method, *inputs, **kwargs):
    if "out" in kwargs:
        raise TypeError(
            f"np.{ufunc.__name__} with out=, or in place on an array, cannot write the value of a "
            "Tensor into an array: write z = x + y instead of x += y"
        )
    if method != "__call__":
        instead = {
            "reduce": "np.sum(t), np.max(t) or np.min(t)",
            "outer": f"np.{ufunc.__name__}(x.reshape(-1, 1), y)",
            "accumulate": "np.tri(n) @ x, a product with a triangle of ones, for np.add.accumulate",
        }.get(method, "the functions of autograd_lib")
        raise TypeError(
            f"np.{ufunc.__name__}.{method} has no derivative rule in autograd_lib: use {instead}"
        )
    return _dispatch(ufunc, inputs, kwargs)


def _array(self, dtype=None, copy=None):
    if not is_constant(self):
        _reject(
            self,
            "a Tensor that requires a gradient cannot be converted to an array, because its "
            "gradient would be lost: use the functions of autograd_lib or NumPy (a @ t for "
            "a.dot(t)), stack or concatenate to join Tensors, t.data for the value or t.detach() "
            "for a constant",
        )
    return np.array(to_array(self), dtype=dtype, copy=copy)


# --- Where Python needs a plain value -------------------------------------------------------------


def _getitem(self, index):
    indices = index if isinstance(index, tuple) else (index,)
    if any(isinstance(i, Tensor) for i in indices):
        indices = tuple(to_array(i) if isinstance(i, Tensor) else i for i in indices)
        if any(isinstance(i, Tensor) and i.opaque and i.dtype == bool for i in indices):
            _reject(
                self,
                "x[mask] cannot be compiled, because its length depends on the values of the mask: "
                "use where(mask, x, 0)",
            )
        index = indices if isinstance(index, tuple) else indices[0]
    return ops.getitem(self, index)


def _concrete(self):
    """Return the value of this Tensor as an array. Raise TypeError while `compile` records it."""
    value = to_array(self)
    if isinstance(value, Tensor):
        _reject(
            self,
            "an if, a while or an index depends on a value inside a function that is being "
            "compiled, and the program would repeat the decision of the first call: use "
            "where(…), or keep this part outside the function",
        )
    return value


def _bool(self):
    value = _concrete(self)
    if value.size != 1:
        raise TypeError(
            f"bool: a Tensor of shape {value.shape} has no single truth value; use np.any(t) or "
            "np.all(t)"
        )
    return bool(value.item())


def _index(self):
    value = _concrete(self)
    if value.ndim or value.dtype.kind not in "iu":
        raise TypeError(
            f"index: expected an integer scalar, got a Tensor of dtype {value.dtype} and shape "
            f"{value.shape}; "
            + ("select one entry, as in t[0]" if value.ndim else "use int(t) to truncate the value")
        )
    return int(value)


def _len(self):
    if not self.ndim:
        raise TypeError(
            "a 0-d Tensor has no length and cannot be iterated over; use t.item() for its number"
        )
    return self.shape[0]


def item(self):
    """Return the only element of this Tensor as a Python number.

    Returns
    -------
    float, int or bool
        The element, in the Python type of its dtype.

    Raises
    ------
    ValueError
        If the Tensor does not have exactly one element.
    TypeError
        If the number would be treated as a constant inside a function that is being differentiated
        or compiled.
    """
    if self.level and not is_constant(self):
        _reject(
            self,
            "a value cannot be converted to a Python number, as by float(), inside a function that "
            "is being differentiated or compiled, because it would be treated as a constant: use "
            "functions of autograd_lib or NumPy, where(…) for an if, or .detach() for a constant; "
            "read .data if the Tensor was kept from such a function",
        )
    if self.size != 1:
        raise ValueError(
            f"item: expected a Tensor of one element, as float, int and format do, got shape "
            f"{self.shape}; use t.data for all entries"
        )
    return to_array(self).item()


def _repr(self):
    value = to_array(self)
    if isinstance(value, Tensor):
        text = f"of shape {value.shape}, being compiled"
        value.trace.texts.add(text)
    elif value.ndim:
        text = np.array2string(value, separator=", ", prefix="Tensor(")
    else:
        text = repr(value.item())
    more = [f"dtype={value.dtype}"] if value.dtype not in (np.float64, np.int64, bool) else []
    if self.name is not None:
        more.append(f"name={self.name!r}")
    if self.op is not None:
        more.append(f"op={self.op.name}")
    elif self._requires_grad:
        more.append("requires_grad=True")
    return f"Tensor({', '.join([text, *more])})"


def _reduce(self):
    """Return what copy and pickle need to make a new Tensor from a leaf, including its `.grad`.

    The new Tensor has a new creation number. Raise TypeError if this Tensor is not a leaf.
    """
    if self.op is not None or self.level:
        made_by = f"the result of {self.op.name}" if self.op else "the argument of a transform"
        raise TypeError(
            f"{made_by} cannot be copied or pickled, because the copy would lose its gradient: "
            "use the Tensor itself, which no operation changes, or .detach() for a constant"
        )
    grad = None if self.grad is None else np.array(self.grad)
    state = {"was_trainable": self.was_trainable, "grad": grad}
    return Tensor, (self._value, self._requires_grad, self.name), state


# --- Operators and methods ------------------------------------------------------------------------


def _setitem(self, index, value):
    _reject(
        self,
        "items of a Tensor cannot be assigned, because gradients flow through the old values: "
        "use where(mask, new, t) or concatenate for a new Tensor, or t.data = … on a leaf",
    )


def _in_place(self, other):
    """Return NotImplemented, so that Python computes `x += y` as `x = x + y`.

    Raise TypeError for a leaf that requires a gradient: in a training loop `p -= lr * p.grad` would
    bind the name p to a new Tensor and train nothing. Also raise TypeError for an array in a
    function that is being compiled.
    """
    # A number cannot be written into: there x += y is x = x + y anyway.
    if self.opaque and isinstance(self._value, np.ndarray):
        _reject(
            self,
            "an in-place operator, such as x += y, would write into an array inside a function "
            "that is being compiled: write x = x + y",
        )
    if self.op is None and self._requires_grad and self.level == 0:
        raise TypeError(
            "an in-place operator, such as p -= …, would create a new Tensor and leave this one, "
            "which requires a gradient, unchanged: write p.data -= … to change its value, or "
            "z = x - … for a new Tensor"
        )
    return NotImplemented


def _no_remainder(self, other):
    raise TypeError(f"% and divmod of a Tensor have no derivative rule: {hint_for('mod')}")


def _method(f):
    return f.fast_call if isinstance(f, Primitive) else f


def _reflected(f):
    return lambda self, other: f(other, self)


def _from_varargs(args):
    """Return the shape or axes in `args`: reshape(3, 4) and reshape((3, 4)) are equivalent."""
    return args[0] if len(args) == 1 and (args[0] is None or np.ndim(args[0])) else args


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
    "floordiv": np.floor_divide,
}.items():
    setattr(Tensor, f"__{name}__", zero_gradient_functions[ufunc])
Tensor.__rfloordiv__ = _reflected(zero_gradient_functions[np.floor_divide])
for name in ("mod", "rmod", "divmod", "rdivmod"):
    setattr(Tensor, f"__{name}__", _no_remainder)
for name in _METHODS:
    setattr(Tensor, name, _method(getattr(ops, name)))
Tensor.reshape = _named("reshape", lambda self, *shape: ops.reshape(self, _from_varargs(shape)))
Tensor.transpose = _named(
    "transpose", lambda self, *axes: ops.transpose(self, _from_varargs(axes) if axes else None)
)
Tensor.argmax = explain_arguments(np.argmax)
Tensor.argmin = explain_arguments(np.argmin)
Tensor.T = property(lambda self: ops.transpose(self))
Tensor.mT = property(lambda self: ops.swapaxes(self, -1, -2))
Tensor.__neg__ = ops.negative.fast_call
Tensor.__pos__ = lambda self: self
Tensor.__abs__ = ops.abs.fast_call
Tensor.__round__ = zero_gradient_functions[np.round]
Tensor.__getitem__ = _getitem
Tensor.__setitem__ = _setitem
Tensor.__len__ = _len
Tensor.__iter__ = lambda self: (self[i] for i in range(len(self)))
Tensor.__bool__ = _bool
Tensor.__float__ = lambda self: float(self.item())
Tensor.__int__ = lambda self: int(self.item())
Tensor.__index__ = _index
# A text is no constant that a derivative depends on, so detach() allows it inside a transform; a
# program would repeat it, so item() refuses it there.
Tensor.__format__ = lambda self, spec: format(self.detach().item(), spec) if spec else repr(self)
for name in NAMES - set(dir(Tensor)):
    setattr(Tensor, name, property(partial(absent, name)))
Tensor.__dir__ = lambda self: [
    name for name in object.__dir__(self) if name not in NAMES or hasattr(self, name)
]
Tensor.__array__ = _array
Tensor.__array_ufunc__ = _array_ufunc
Tensor.__array_function__ = lambda self, function, types, args, kwargs: _dispatch(
    function, args, kwargs
)
Tensor.item = item
Tensor.__repr__ = _repr
Tensor.__reduce__ = _reduce
Tensor.__init__ = _named("Tensor", Tensor.__init__)
