"""Arrays that write down what is done with them: the bottom on which `compile` records a function.

A `Traced` stands where an array would stand, below every level. It has a value, so that shapes and dtypes are known
and the run goes through; but whatever is computed from it becomes a node of its `Trace`: a NumPy function, what it
was called with, and the result. So the table's functions and rules write themselves down as they run, to any order of
derivative. What would take the value out of sight, such as an `if`, raises `Unseen`.
"""

import operator
import warnings
from contextvars import ContextVar
from hashlib import sha1

import numpy as np

writing = ContextVar("writing", default=None)  # the Trace that is being written in this thread, or None

# Functions whose result has a shape that does not depend on values. ufuncs are written down too; others are refused.
_FIXED = {getattr(np, name) for name in """
    sum prod mean var std max min amax amin any all argmax argmin argsort sort cumsum cumprod median where clip
    reshape ravel transpose swapaxes moveaxis squeeze expand_dims broadcast_to concatenate stack vstack hstack flip
    roll tile repeat dot vdot inner outer tensordot einsum trace diagonal diag tril triu take take_along_axis pad copy
    round nan_to_num isclose matrix_transpose diff kron cross fliplr flipud rot90 count_nonzero""".split()} | {
    np.linalg.norm, np.linalg.inv, np.linalg.solve, np.linalg.det}
# How many of their first arguments are arrays, where it is not one: the others are axes, shapes, sizes.
_ARRAYS = {np.where: 3, np.clip: 3, np.einsum: 99} | dict.fromkeys((
    np.dot, np.vdot, np.inner, np.outer, np.tensordot, np.kron, np.cross, np.take, np.take_along_axis, np.roll,
    np.isclose, np.linalg.solve), 2)
# Keywords that are arrays.
_NAMED = {"where", "min", "max", "a_min", "a_max", "target", "index", "indices"}
# Functions whose result is the same whatever the values are.
_KNOWN = {f: f for f in (np.shape, np.ndim, np.size, np.result_type, np.zeros_like, np.ones_like, np.iscomplexobj)}
_KNOWN[np.empty_like] = np.zeros_like
# `x ** 2` and `np.power(x, 2)` round differently, so `pow` stays what it is.
UFUNCS = {operator.add: np.add, operator.sub: np.subtract, operator.mul: np.multiply, operator.truediv: np.true_divide,
          operator.matmul: np.matmul, operator.neg: np.negative, operator.abs: np.absolute, operator.gt: np.greater,
          operator.ge: np.greater_equal, operator.lt: np.less, operator.le: np.less_equal, operator.eq: np.equal,
          operator.ne: np.not_equal, operator.and_: np.bitwise_and, operator.or_: np.bitwise_or,
          operator.xor: np.bitwise_xor, operator.invert: np.invert, operator.mod: np.remainder,
          operator.floordiv: np.floor_divide}
# Whose results do not depend on how many they are.
_EXACT = {np.add, np.subtract, np.multiply, np.true_divide}
_METHODS = """sum prod mean var std max min any all argmax argmin argsort cumsum cumprod clip ravel swapaxes squeeze dot
    round take repeat diagonal copy""".split()


class Unseen(TypeError):
    """Something was asked of a traced array that a program could not repeat for other values. The Trace that is being
    written keeps it, so that a function that goes on regardless is refused as well."""

    def __init__(self, *args):
        super().__init__(*args)
        if writing.get():
            writing.get().refused.append(self)


class Missing(Unseen, AttributeError):
    """A method that a traced array does not have."""


class Traced:
    """What stands for an array while a function is written down: it has the shape and dtype, and most methods, of the
    array.

    Attributes
    ----------
    trace, order : the Trace it belongs to, and its place in it
    function, args, keywords : how it was made, with Traced arrays among the arguments; function is None for an input
    value : of this run, an array or a number
    why : what the Trace's `origin` said of the place where it was made
    errors : what np.errstate said there, where that is not what it says outside
    """

    __slots__ = ("trace", "order", "function", "args", "keywords", "value", "why", "errors")

    def __init__(self, trace, function, args, keywords, value, why=None):
        self.trace, self.function, self.args, self.keywords = trace, function, args, keywords
        self.value, self.why, self.errors = value, why, ()
        self.order = len(trace.nodes)
        trace.nodes.append(self)

    __class__ = property(lambda self: type(self.value))     # for code that asks isinstance(x, np.ndarray)
    shape = property(lambda self: np.shape(self.value))
    ndim = property(lambda self: np.ndim(self.value))
    size = property(lambda self: np.size(self.value))
    dtype = property(lambda self: self.value.dtype if hasattr(self.value, "dtype") else np.asarray(self.value).dtype)
    itemsize = property(lambda self: self.dtype.itemsize)
    T = property(lambda self: call(np.transpose, (self,)))
    mT = property(lambda self: call(np.swapaxes, (self, -1, -2)))

    def reshape(self, *shape, order="C"):
        shape = shape[0] if len(shape) == 1 else shape
        return call(np.reshape, (self, shape), {} if order == "C" else {"order": order})

    def transpose(self, *axes):
        return call(np.transpose, (self, axes[0] if len(axes) == 1 and np.ndim(axes[0]) else axes or None))

    def flatten(self):
        return call(np.ravel, (self,))

    def view(self):
        return self

    def astype(self, dtype, copy=True):
        return self if dtype == self.dtype and hasattr(self.value, "dtype") else call(astype, (self, np.dtype(dtype)))

    def __len__(self):
        if not self.ndim:
            raise TypeError("len() of a 0-d array")
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index):
        if isinstance(index, tuple) and not index and (self.ndim or not isinstance(self.value, np.ndarray)):
            return self
        return call(operator.getitem, (self, index))

    def __setitem__(self, index, value):
        raise Unseen("items of an array that is computed cannot be assigned in a function that is compiled: use where "
                     "or concatenate")

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **keywords):
        if out is not None or method not in ("__call__", "reduce"):
            raise Unseen(f"np.{ufunc.__name__} in place or as .{method} cannot be compiled: write z = x + y, not "
                         "x += y")
        if "where" in keywords and method == "__call__":
            raise Unseen(f"np.{ufunc.__name__} with where= leaves out entries, which are then what was in memory: "
                         "choose with np.where(…)")
        if any(not isinstance(a, (Traced, np.ndarray, np.generic, int, float, list, tuple)) for a in inputs):
            return NotImplemented       # a Tensor, which knows its own way
        return call(ufunc if method == "__call__" else ufunc.reduce, inputs, keywords)

    def __array_function__(self, function, types, args, keywords):
        if function in _KNOWN:
            return _KNOWN[function](*_values(args), **_values(keywords))
        if function not in _FIXED or function is np.where and len(args) < 3:
            raise Unseen(f"np.{function.__name__} cannot be compiled: the shape of its result may depend on the "
                         "values, or it is not among those that are known not to")
        if not all(issubclass(kind, (Traced, np.ndarray)) for kind in types):
            return NotImplemented
        return call(function, args, keywords)

    def __array__(self, dtype=None, copy=None):
        raise Unseen("an array that a compiled function computes from its arguments cannot become a plain array there: "
                     "its numbers would be those of the first call for ever; use np.stack or concatenate to join "
                     "several, where to choose, and pass an array as an argument that is read at computed places")

    def _number(self, *_):
        raise Unseen("a value computed from the arguments of a compiled function decides here, as an if, a while, "
                     "float(), int(), .item() or an index does: the program would do for ever what it did for the "
                     "first call; use where(…), or keep this part out of what is compiled")

    __bool__ = __float__ = __int__ = __index__ = __complex__ = __round__ = __divmod__ = __rdivmod__ = _number
    item = tolist = _number

    def _in_place(self, other):
        raise Unseen("an operator in place, such as x += y, cannot be compiled: write x = x + y")

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __imatmul__ = __ipow__ = _in_place
    __hash__ = object.__hash__

    def __getattr__(self, name):
        if name.startswith("__") or not hasattr(self.value, name):      # NumPy asks for __array_interface__
            raise AttributeError(f"an array has no attribute {name!r}")
        raise Missing(f"x.{name} of an array cannot be compiled: use a function of NumPy or of autograd_lib")

    def __pos__(self, _=None):
        return self

    __copy__ = __deepcopy__ = __pos__       # nothing is ever written into it

    def __repr__(self):
        return f"<traced array of shape {self.shape}, {self.dtype}>"

    def __format__(self, how):      # f"{loss:.3f}" in a print
        return repr(self)


def _operator(function, reflected):
    def method(self, other):
        if not isinstance(other, (Traced, np.ndarray, np.generic, int, float, list, tuple, type(None))):
            return NotImplemented
        return call(function, (other, self) if reflected else (self, other))
    return method


def _method(function):
    return lambda self, *args, **keywords: call(function, (self, *args), keywords)


for _name in "add sub mul truediv matmul pow mod floordiv and or xor".split():
    _function = getattr(operator, f"__{_name}__")
    setattr(Traced, f"__{_name}__", _operator(_function, False))
    setattr(Traced, f"__r{_name}__", _operator(_function, True))
for _name in "gt ge lt le eq ne".split():
    setattr(Traced, f"__{_name}__", _operator(getattr(operator, f"__{_name}__"), False))
for _name in ("__neg__", "__abs__", "__invert__"):
    setattr(Traced, _name, _method(getattr(operator, _name)))
for _name in _METHODS:
    setattr(Traced, _name, _method(getattr(np, _name)))


def astype(x, dtype):
    """`x.astype(dtype)` of an array or a number."""
    return x.astype(dtype, copy=False) if hasattr(x, "astype") else dtype.type(x)


def call(function, args, keywords=(), after=None):
    """`function(*args, **keywords)` as a node of the trace that is being written; `after` the Unseen that was raised
    when its inside was to be written."""
    trace = writing.get()
    if trace is None:
        raise Unseen("an array of a function that was compiled was kept beyond its call, or passed to another thread: "
                     "return it instead")
    if after:
        del trace.refused[trace.refused.index(after):]
    return trace.call(function, args, dict(keywords))


def item(x, index):
    """`x[index]`, where `x` may be a plain array and its index one that is traced, which NumPy would not write down."""
    if writing.get() and type(x) is np.ndarray and Traced in map(type, indices(index)):
        return call(operator.getitem, (x, index))
    return x[index]


def indices(index):
    """What stands between the brackets of x[…], one for each comma."""
    return index if isinstance(index, tuple) else (index,)


def known(condition):
    """`bool(condition)`, where code of the engine or of a library depends on it and it is nearly always the same: a
    program that is being written checks it at every call, and is written anew when it is otherwise."""
    if not isinstance(condition, Traced):
        return bool(condition)
    condition.trace.checks[condition.order] = bool(condition.value)
    return bool(condition.value)


def _values(item):
    if isinstance(item, Traced):
        return item.value
    if isinstance(item, (list, tuple)):
        return type(item)(map(_values, item)) if type(item) in (list, tuple) else item
    return {key: _values(value) for key, value in item.items()} if isinstance(item, dict) else item


def _traced(item):
    return any(map(_traced, item)) if isinstance(item, (list, tuple)) else type(item) is Traced


class Trace:
    """The program as it is written: `nodes` in the order they were computed, nothing twice.

    `origin()` is called at every new node and says where it comes from. `inputs` are the nodes that are read and not
    computed.
    """

    def __init__(self, origin=lambda: None):
        self.nodes, self.inputs, self.origin, self.caught = [], [], origin, None
        self.known, self.stands_for, self.checks, self.kept, self.refused, self.frozen = {}, {}, {}, [], [], {}
        self.roots = {}
        self.errors, self.filters = _complaints()

    def input(self, value, why=None):
        node = Traced(self, None, (), {}, _read_only(value.view()) if isinstance(value, np.ndarray) else value, why)
        self.inputs.append(node)
        return node

    def call(self, function, args, keywords):
        args, keywords = self.as_now(args), self.as_now(keywords)
        name = getattr(function, "name", None) or function.__name__
        values = _values(args)
        if function in UFUNCS and any(isinstance(v, (np.ndarray, np.generic)) for v in values):
            function = UFUNCS[function]
        numpys = (getattr(function, "__module__", None) or "numpy").startswith("numpy")     # not a row, an operator
        fixed = args[_ARRAYS.get(function, 1):] if numpys and not isinstance(function, np.ufunc) else ()
        if any(map(_traced, [*fixed, *[value for name, value in keywords.items() if name not in _NAMED]])):
            raise Unseen(f"{name}: an axis, a shape or a size is computed here from the arguments of a function that "
                         "is compiled, and every array of a program has the shape it had: pass it as an int")
        index = args[1] if function is operator.getitem else keywords.get("index")
        if any(type(part) is Traced and part.dtype == bool for part in indices(index)):
            raise Unseen("x[mask] has as many entries as the mask, which is computed from the arguments, has True: use "
                         "where(mask, x, 0)")
        key = function, self._key(args), self._key(keywords)
        if key in self.known:
            return self.known[key]
        errors, filters = _complaints()
        here = errors - self.errors         # what np.errstate says in f and not outside
        if filters != self.filters or not {how for _, how in here} <= {"ignore", "warn"}:
            raise Unseen(f"{name}: np.errstate or a filter of warnings, set inside a function that is compiled, makes "
                         "errors of some values and not of others: use where(…), or set it around the call")
        try:
            value = function(*values, **_values(keywords))
        except (ArithmeticError, IndexError, np.linalg.LinAlgError) as error:
            self.caught = error
            raise
        except ValueError as error:
            if "read-only" in str(error):
                raise Unseen(f"{name} writes into an array that is there (out=, copy=False), which cannot be compiled: "
                             "use the array that it returns") from None
            raise
        if isinstance(value, np.ndarray) and value.flags.writeable:
            _read_only(value)
        if isinstance(function, np.ufunc) and len(args) == 2 and not keywords and function is not np.matmul:
            args = tuple(_as_number(a, b, value) for a, b in zip(args, args[::-1]))
            key = function, self._key(args), ()
            if key in self.known:
                return self.known[key]
            if function is np.multiply and 1.0 in [a for a in args if type(a) is float]:
                other = args[isinstance(args[1], Traced)]
                if _same(other.value, value):
                    return other
            inside = args[0] if isinstance(args[0], Traced) else args[1]
            if function is np.multiply and float in map(type, args) and inside.function is np.multiply \
                    and 1.0 in [a for a in inside.args if type(a) is float]:        # (1·x)·k is x·k
                args = tuple(a if type(a) is float else inside.args[type(inside.args[0]) is float] for a in args)
            for i, x in enumerate(args):            # what is broadcast here is so later, or by NumPy itself
                y = args[1 - i]
                if function in _EXACT and type(x) is Traced and x.function is np.broadcast_to and (
                        hasattr(x.args[0].value, "dtype") and (
                            type(y) in (int, float) or np.shape(_values(y)) == value.shape)):
                    z = self.call(function, (y, x.args[0]) if i else (x.args[0], y), {})
                    return z if z.shape == value.shape else self.call(np.broadcast_to, (z, value.shape), {})
        if function is operator.pow and type(args[1]) in (int, float) and args[1] == 1 and _same(values[0], value):
            return args[0]
        if isinstance(value, (tuple, list)):
            raise Unseen(f"{function.__name__} returns several arrays, and cannot be compiled")
        self.known[key] = node = Traced(self, function, args, keywords, value, self.origin())
        node.errors = tuple(sorted(here))
        return node

    def as_now(self, item):
        """`item` with the arrays and lists in it as they are now, whatever becomes of them; equal arrays are one."""
        if isinstance(item, np.ndarray) and type(item) is not Traced:
            one = item.size and not any(item.strides)
            part = item.ravel()[:1] if one else item
            # a long double has bytes that say nothing
            exact = item.ctypes.data if fixed(item) else repr(part.tolist()) if item.itemsize > 8 else \
                sha1(np.ascontiguousarray(part)).digest()
            key = item.shape, item.strides, item.dtype, exact
            if key not in self.frozen:
                self.frozen[key] = item if fixed(item) else _read_only(np.array(item)) if not one or not item.ndim \
                    else np.broadcast_to(item.ravel()[0], item.shape)
            return self.frozen[key]
        if type(item) in (list, tuple):
            return type(item)(map(self.as_now, item))
        return {name: self.as_now(value) for name, value in item.items()} if type(item) is dict else item

    def _key(self, item):
        """Equal for what is the same, and the same for equal numbers of one type."""
        if isinstance(item, Traced):
            if item.trace is not self:
                raise Unseen("an array of another function that is compiled, or of another call, was kept, as a "
                             "running mean is: pass it as an argument, and return what is new")
            return "node", item.order
        if isinstance(item, (list, tuple)):
            return type(item), tuple(map(self._key, item))
        if isinstance(item, dict):
            return tuple((name, self._key(value)) for name, value in sorted(item.items()))
        if isinstance(item, slice):
            return slice, self._key((item.start, item.stop, item.step))
        if isinstance(item, (int, float, np.number, bool, np.bool_)):
            return type(item), repr(item)
        self.kept.append(item)          # so that no other object gets its id
        return id(item)


def _as_number(constant, other, z):
    """A constant that is one number throughout as that number, where the result stays what it is."""
    if type(constant) is Traced or not isinstance(constant, (np.ndarray, np.generic)) or type(other) is not Traced:
        return constant
    uniform = constant.dtype.kind == "f" and constant.size and (
        not any(constant.strides) or equal(constant, np.full_like(constant, constant.flat[0])))
    fits = isinstance(other.value, np.ndarray) and other.ndim and other.shape == z.shape and (
        other.dtype == constant.dtype or other.dtype.kind in "biu" and constant.dtype == np.float64)
    return constant.ravel()[0].item() if uniform and fits else constant


def _complaints():
    """What np.errstate says, and whether warnings are errors."""
    return {*np.geterr().items()}, [f for f in warnings.filters if f[0] == "error"]


def _read_only(array):
    array.flags.writeable = False
    return array


def fixed(array):
    """Whether nothing can be written into its memory: it is read-only, and so is the array it is a view of."""
    owner = array if array.base is None else array.base
    return type(owner) is np.ndarray and owner.base is None and not (owner.flags.writeable or array.flags.writeable)


def _same(x, z):
    return isinstance(x, (np.ndarray, np.generic)) and x.dtype == z.dtype and np.shape(x) == np.shape(z)


def equal(a, b):
    """Whether two values are the same number, text or array, of one type; nan equals nan, and 0 not -0."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        if a.dtype == b.dtype and a.dtype.kind == "f" and a.itemsize <= 8:      # 60 times as fast as asking for nan
            a, b = a.view(f"u{a.itemsize}"), b.view(f"u{b.itemsize}")
        long = a.dtype.kind == "f"
        return a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=long) and (
            not long or np.array_equal(np.signbit(a), np.signbit(b)))
    return isinstance(a, (int, float, str, bytes, complex, np.generic)) and (
        a == b and (a != 0 or repr(a) == repr(b)) or a != a and b != b)
