"""The tape: what a Tensor is, how a call is recorded, and the backward loop. It knows no operation.

A *row* (see ops.py) is a function and one rule per argument. Calling a row on Tensors computes the
result and records it: the result is a new Tensor that remembers its `op` and its `inputs`.
`backward_pass` then visits what an output reaches, newest first, and calls the rules.

Levels make derivatives nest. A Tensor made by the user is at level 0. Every `grad`, `vjp` or `jvp`
opens a level of its own, with a number that no other ever had. A call belongs to the highest level
among its arguments; everything lower is a constant to it. Its values are computed one level down,
where they may themselves be Tensors, and so its rules run there too: a second derivative needs no
code of its own.
"""

from collections import deque
from contextlib import ContextDecorator, suppress
from contextvars import ContextVar, copy_context
from heapq import heappop, heappush
from inspect import iscoroutinefunction, isgeneratorfunction, signature
from itertools import count, starmap
from operator import call
from types import MappingProxyType

import numpy as np

_clock = count(
    1
)  # creation numbers, which order the backward pass and date every change of `.data`
_levels = count(1)
_blocked = ContextVar("blocked", default=-1)  # nothing at or below this level is recorded
_last_stamp = 0
_changed = {}  # the last change in place of an array, by the id of the array that owns its memory
_new = object.__new__
_float64 = np.float64
_array = np.ndarray
_floats = frozenset({np.float64, np.float32})
_scalars = frozenset({np.float64, np.float32, int, float, bool})


class Tensor:
    """An array, its gradient, and how it was made.

    Parameters
    ----------
    data : array_like of numbers
        Copied if `requires_grad`, so that an optimizer never writes into the caller's array; else
        shared.
    requires_grad : bool
        Whether `backward()` should deliver a gradient here. Needs a floating dtype.
    name : str, optional
        Shown by `repr` and in drawings.

    Attributes ---------- op, inputs, params : how it was made: the row, its arguments, its
    keywords; None, () and {} for a leaf values : the inputs one level down, as the rules get them
    needed : (argument, rule) pairs, of the arguments that want a gradient order : its creation
    number, greater than that of all its inputs replay : of the result of a `checkpoint` or a
    program, the function of `inputs` that computes it again; else None level : 0, or the number of
    the transform that made it

    Raises TypeError if `data` is not numeric, is a Tensor already, or is to require a gradient and
    is not floating.
    """

    # What an op's result does not set for itself. These are for reading:
    grad = name = op = tangent = replay = None
    inputs = values = needed = ()
    params = MappingProxyType({})
    level = _stamp = 0
    parameter = False  # whether a gradient was ever asked for here: what a model learns, or would if it were not frozen
    _requires_grad = True
    _retain = False
    # What an array says of itself, a Tensor says too:
    shape = property(lambda self: self._data.shape)
    dtype = property(lambda self: self._data.dtype)
    ndim = property(lambda self: self._data.ndim)
    size = property(lambda self: self._data.size)

    def __init__(self, data, requires_grad=False, name=None):
        self._data = as_array(data, "Tensor")[
            ()
        ]  # a single number as a NumPy scalar, which is quicker to work with
        self._requires_grad = False
        self.name = name
        self.order = next(_clock)
        if requires_grad:
            self.requires_grad = True

    @property
    def data(self):
        """The value, a NumPy array. Assigning to it dates the change, and a backward pass through anything
        that read the old value raises. (Writing into single items, `t.data[0] = 1`, cannot be
        noticed.) An array of another floating dtype brings that dtype along, and `.grad` follows;
        whole numbers take any dtype.

        Inside a function that is being differentiated it is for reading, and a constant to every derivative, as `detach()` is."""
        if self.level:
            value = plain(self)
            if type(value) is not Traced:
                value = value.view()
                value.flags.writeable = False
            return value
        if type(self._data) is not np.ndarray:
            self._data = np.asarray(
                self._data
            )  # a number from here on an array, so that t.data[...] = … writes into it
        return self._data

    @data.setter
    def data(self, value):
        if self.level:
            raise RuntimeError(
                "data: inside a function that is being differentiated a value cannot be replaced; "
                "compute a new Tensor from it"
            )
        if value is self._data:  # changed in place, and so are its views
            _changed[_owner(value)] = _stamp_now()
            return
        brought = (
            isinstance(value, np.ndarray) and value.dtype.kind == "f"
        )  # a number or a list brings no dtype
        value = np.array(
            as_array(value, "data"), dtype=None if brought or self.dtype.kind != "f" else self.dtype
        )
        if value.shape != self.shape:
            raise ValueError(
                f"data: this Tensor has shape {self.shape}, the new value {value.shape}; "
                "make a new Tensor to change the shape"
            )
        commit(replacing([(self, value)]))

    @property
    def requires_grad(self):
        """Whether a gradient is wanted here. Settable on a leaf."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, wanted):
        if self.op is not None:
            raise RuntimeError(
                f"requires_grad is set on leaves only; this Tensor was made by {self.op.name}"
            )
        if self.level:
            raise RuntimeError(
                "requires_grad: inside a function that is being differentiated or compiled it cannot be set"
            )
        if wanted and not self._requires_grad:
            _check_floating(self.dtype, "requires_grad")
            self._data = _own(self._data)
        self._requires_grad = bool(wanted)
        self.parameter = self.parameter or self._requires_grad

    def backward(self, grad=None):
        """Add the gradient of this Tensor to the `.grad` of every leaf it was computed from.

        `grad`, an array_like of this Tensor's shape, is the gradient that arrives here, ∂L/∂self.
        It may be left out if there is only one element: then it is 1.

        Raises RuntimeError if this Tensor does not require a gradient, has several elements and no
        `grad` was given, belongs to a `grad` or `vjp` still running, or was computed from a Tensor
        whose `.data` has changed since; and ValueError if `grad` has another shape than this
        Tensor, or a `.grad` that was set by hand another than its own. Then, and if it is
        interrupted, every `.grad` is as it was.
        """
        if self.level:
            raise RuntimeError(
                "backward() inside a function that is being differentiated or compiled: return the value, "
                "and let grad, vjp or value_and_grad differentiate it, or call backward() on what it returns"
            )
        if not self._requires_grad:
            raise RuntimeError(
                "backward() on a Tensor that does not require a gradient: nothing it was "
                "computed from was made with requires_grad=True"
            )
        if grad is None:
            if self.size != 1:
                raise RuntimeError(
                    f"backward() starts from a scalar, and this Tensor has shape {self.shape}: reduce it to one "
                    "number, for example with .sum(), or pass the gradient that arrives there as grad="
                )
            grad = np.ones(self.shape, self.dtype)[()]
        else:
            grad = plain(grad) if isinstance(grad, Tensor) else as_array(grad, "backward: grad")
            grad = np.array(grad, dtype=self.dtype)
            if grad.shape != self.shape:
                raise ValueError(
                    f"backward: grad has shape {grad.shape}, the Tensor has shape {self.shape}"
                )
        # All is worked out first, so that a pass that is stopped, by an error or Ctrl-C, leaves
        # every .grad as it was.
        commit(
            [
                (setattr, t, "grad", g if t.grad is None else _added(t, g))
                for t, g in collect(self, grad)
            ]
        )

    def retain_grad(self):
        """Ask the next backward passes to keep the gradient of this intermediate result in `.grad`."""
        if self.level:
            raise RuntimeError(
                "retain_grad() inside a function that is being differentiated: return the value too"
            )
        self._retain = True

    def zero_grad(self):
        """Forget the gradient: the next `backward()` starts from nothing."""
        commit([(setattr, self, "grad", None)])

    def detach(self):
        """The same value as a constant: no gradient flows through it, of whatever order or level."""
        t = made(
            Tensor, _own(plain(self)), self.level
        )  # a copy, which `self.data -= …` does not reach
        t._requires_grad = False
        return t

    def item(self):
        """The value as a Python number. Raises ValueError if there is more than one element, and TypeError inside a
        function that is being differentiated, where the number would be taken for a constant."""
        if self.level and not is_constant(self):
            refuse(
                self,
                "a value cannot become a Python number, as by float(), inside a function that is being "
                "differentiated or compiled: use the functions of autograd_lib or NumPy, where(…) for an if, or "
                ".detach() where a constant to the derivative is meant",
            )
        if self.size != 1:
            raise ValueError(f"item: one element is needed, this Tensor has shape {self.shape}")
        return plain(self).item()

    def __repr__(self):
        value = plain(self)
        text = (
            f"of shape {value.shape}, being compiled"
            if type(value) is Traced
            else repr(value.item())
            if not value.ndim
            else np.array2string(value, separator=", ", prefix="Tensor(")
        )
        more = [f"dtype={value.dtype}"] if value.dtype not in (np.float64, np.int64, bool) else []
        if self.name is not None:
            more.append(f"name={self.name!r}")
        if self.op is not None:
            more.append(f"op={self.op.name}")
        elif self._requires_grad:
            more.append("requires_grad=True")
        return f"Tensor({', '.join([text, *more])})"

    def __reduce__(self):
        """Copy and pickle a leaf with its gradient, as a new Tensor with a creation number of its own."""
        if self.op is not None or self.level:
            made_by = f"the result of {self.op.name}" if self.op else "the argument of a transform"
            raise TypeError(
                f"{made_by} cannot be copied or pickled, because the copy would lose its gradient: "
                "use the Tensor itself, which no operation changes, or .detach() for a constant"
            )
        grad = None if self.grad is None else np.array(self.grad)
        state = {"parameter": self.parameter, "grad": grad}
        return Tensor, (self._data, self._requires_grad, self.name), state


class Dual(Tensor):
    """A Tensor of a forward-mode level: it carries its tangent along, and records nothing."""

    _requires_grad = False


class Traced(Tensor):
    """A Tensor of the level on which `compile` writes a function down: every call is noted in its `trace`, whether a gradient
    is wanted or not, and its value, a number or an array, must not be looked at."""

    shape = property(
        lambda self: np.shape(self._data)
    )  # a number may be Python's, which promotes nothing
    ndim = property(lambda self: np.ndim(self._data))
    size = property(lambda self: np.size(self._data))
    dtype = property(lambda self: np.result_type(np.asarray(self._data)))


# --- A row, and how a call of it is recorded ------------------------------------------------------------

_arrays = _scalars | {np.ndarray}
_others = frozenset({Tensor, Dual, Traced})  # what a value may be, beside an array or a number


class Primitive:
    """A row of the table: a function on arrays, and for each argument how gradients pass through it.

    The functions below, `elementwise` to `primitive`, make the four kinds of it, and say what a
    rule gets. Arguments that can have a gradient are positional, others by keyword: these follow
    the inputs in a rule's parameters, and may be given by position in a call, as in NumPy, unless
    the rule's are keyword-only. `each(i)` is the rule of argument `i`, of any number of arguments.
    """

    def __init__(self, kind, function, rules=(), *, each=None, pushes=None, name=None, doc=None):
        self.kind, self.function, self.rules, self.pushes = kind, function, rules, pushes
        self.name = name or function.__name__
        self.__doc__ = doc
        if function and not each:
            self._check_rules()
        self.__module__ = getattr(
            function if each else next(filter(None, rules), None), "__module__", None
        )
        self.arity = None if each else len(rules)
        self.rule = each or rules.__getitem__
        self.letters, self.keywords, self.positional = self._read_names()
        self.method = _quick(self)

    def _check_rules(self):
        for what, given in [("rules", self.rules)] + [("pushes", self.pushes)] * (
            self.kind == "primitive"
        ):
            if not isinstance(given, (list, tuple)) or not all(
                rule is None or callable(rule) for rule in given
            ):
                raise TypeError(
                    f"{self.name}: {what} are functions, one for each argument, or None for one without a slope; "
                    f"this is {given!r}"
                )
            if len(given) != len(self.rules) or any(
                push and not rule for push, rule in zip(given, self.rules)
            ):
                raise TypeError(
                    f"{self.name}: each rule has a push, and each push a rule; these are {len(self.rules)} rules "
                    f"and {len(given)} pushes"
                )

    def _read_names(self):
        """What the rules call the inputs and the keywords, read off the parameters of the first there is."""
        count = 1 if self.arity is None else self.arity
        letters, keywords, named = (), (), 0
        if self.function and not any(self.rules):  # nor letters, but the function has keywords
            with suppress(ValueError):  # a ufunc
                keywords = tuple(signature(self.function).parameters)[count:]
        for i in reversed(range(count)):
            if rule := self.rule(i):
                parameters = list(signature(rule).parameters.values())[2:]
                end = next(
                    (k + 1 for k, p in enumerate(parameters) if p.kind is p.VAR_POSITIONAL), count
                )
                if len(parameters) < end:
                    raise TypeError(
                        f"{self.name}: rule {i} takes {2 + len(parameters)} arguments, but {2 + count} "
                        f"are passed: g, z and {count} input{'s' * (count > 1)}"
                    )
                letters = tuple(
                    str(p) if p.kind is p.VAR_POSITIONAL else p.name for p in parameters[:end]
                )
                keywords = tuple(p.name for p in parameters[end:])
                named = sum(p.kind is p.KEYWORD_ONLY for p in parameters[end:])
        return letters, keywords, len(keywords) - named

    def __repr__(self):
        return f"<{self.kind} {self.name}>"

    def __reduce__(self):
        return self.name  # copied and pickled as functions are: the row of this name in its module

    def __call__(self, *args, **params):
        if len(args) != self.arity or params and self.arity > 1:
            return self.record(args, params)
        return self.method(*args, **params) if params else self.method(*args)

    def record(self, args, params):
        """Compute the result, and remember how if a gradient may be wanted: every call ends here or in `_quick`."""
        if len(args) != self.arity and self.arity is not None:
            args, params = self._split(args, params)
        top = self._check_keywords(params) if params else None
        level = -1 if top is None else top.level
        for a in args:
            if isinstance(a, Tensor):
                if a.level > level:
                    level, top = a.level, a
            elif type(a) not in _arrays and not isinstance(a, (np.number, complex)):
                return self.record(
                    [
                        a
                        if isinstance(a, (Tensor, int, float))
                        else as_array(a, f"{self.name}: argument {i}")
                        for i, a in enumerate(args)
                    ],
                    params,
                )
        if type(top) is Traced:
            return self.note(top, args, params)
        values = [a._data if isinstance(a, Tensor) and a.level == level else a for a in args]
        if level > 0 and any([isinstance(v, Tensor) for v in values]):
            z = self(*values, **params)
        elif not isinstance(z := self._call(values, params), (np.ndarray, np.generic)):
            z = as_array(z, f"{self.name}: its result")[()]
        if level < 0:
            return z
        if z.dtype.kind not in "biuf":
            for what, v in [
                *((f"argument {i}", v) for i, v in enumerate(values)),
                ("its result", z),
            ]:
                as_array(plain(v), f"{self.name}: {what}")  # names the one to blame
        needed, tangents = [], {}
        if level > _blocked.get():
            for i, a in enumerate(args):
                if isinstance(a, Tensor) and a.level == level and (rule := self.rule(i)):
                    if a.tangent is not None:
                        tangents[i] = a.tangent
                    elif a._requires_grad:
                        needed.append((i, rule))
        if tangents:
            return dual(z, self._push(tangents, z, values, params), level)
        node = made(Tensor, z, level)
        node._requires_grad = bool(needed)
        if needed:
            node.op, node.inputs, node.params, node.values, node.needed = (
                self,
                tuple(args),
                params,
                values,
                needed,
            )
        return node

    def note(self, top, args, params):
        """The call as a line of a program: what `compile` opens a level for."""
        if lower := [
            a for a in args if isinstance(a, Tensor) and a.level < top.level and not is_constant(a)
        ]:
            raise TypeError(
                f"{self.name}: {lower[0]!r} is reached in a way that compile does not see: pass it as an argument"
            )
        if (z := top.trace.expand(self, args, params)) is not None:
            return z
        args = [plain(a) if isinstance(a, Tensor) else a for a in args]
        z = self._call(list(map(value_of, args)), mapped(value_of, params))
        as_array(z, f"{self.name}: its result")  # raises if it is not made of numbers
        node = made(Traced, z, top.level)
        node.op, node.inputs, node.params, node.trace = self, tuple(args), params, top.trace
        return top.trace.note(node)

    def _check_keywords(self, params):
        """Raises TypeError for what is not taken. Returns a Traced among the values, if there is one."""
        if unknown := [name for name in params if name not in self.keywords]:
            ours = {"dim": "axis", "keepdim": "keepdims"}.get(unknown[0])
            raise TypeError(
                f"{self.name}: {', '.join(unknown)} is not supported"
                + (f" (PyTorch's {unknown[0]} is {ours} here)" if ours in self.keywords else "")
                + f"; the keywords are: {', '.join(self.keywords) or 'none'}"
            )
        for name, value in params.items():
            if (
                isinstance(value, (Tensor, tuple, list, dict))
                and (traced := next(traced_in(value), None)) is not None
            ):
                return traced
            if isinstance(value, Tensor) and not is_constant(value):
                raise TypeError(
                    f"{self.name}: no gradient goes to its keyword {name}, and a Tensor that wants one was given "
                    f"for it; the inputs are {', '.join(self.letters)}, each with a rule"
                )

    def _split(self, args, params):
        """Keywords may be given by position, as in NumPy: sum(x, 0) is sum(x, axis=0)."""
        if not self.arity:
            raise TypeError(f"{self.name}: it has no rules; give one for each input")
        extra = args[self.arity :]
        if len(args) < self.arity or len(extra) > self.positional:
            names = ", ".join([*self.letters, *self.keywords[: self.positional]])
            raise TypeError(
                f"{self.name}: expected the arguments ({names}), got {len(args)} positional arguments"
                + "".join(f"; give {name} by name" for name in self.keywords[self.positional :])
            )
        return args[: self.arity], {**dict(zip(self.keywords, extra)), **params}

    def _call(self, values, params):
        """The function on plain arrays; what NumPy complains of is said again with the op's name."""
        try:
            z = self.function(*values, **params)
        except (TypeError, ValueError, IndexError) as error:
            shapes = ", ".join(f"argument {i} of shape {np.shape(v)}" for i, v in enumerate(values))
            kind = (
                type(error)
                if type(error) in (ValueError, IndexError, np.exceptions.AxisError)
                else TypeError
            )
            raise kind(
                f"{self.name}: {str(error).removeprefix(self.name + ': ')} [{shapes}]"
            ) from None
        if isinstance(z, tuple):
            raise TypeError(
                f"{self.name}: a row returns one array, and this returned a tuple of {len(z)}: make a row of each"
            )
        return z

    def _push(self, tangents, z, values, params):
        """The tangent of `z`: a sum over the arguments that have one (the total differential)."""
        if self.kind == "linear":  # in all its arguments together
            parts = [
                self(
                    *[
                        tangents[i] if i in tangents else np.zeros_like(v)
                        for i, v in enumerate(values)
                    ],
                    **params,
                )
            ]
        elif self.kind == "bilinear":
            parts = [self(*values[:i], t, *values[i + 1 :], **params) for i, t in tangents.items()]
        else:
            rules = self.pushes if self.kind == "primitive" else self.rules
            if lost := [i for i in tangents if not rules[i]]:
                raise TypeError(
                    f"{self.name}: argument {lost[0]} has no push, so forward mode (jvp) cannot pass here"
                )
            parts = [rules[i](t, z, *values, **params) for i, t in tangents.items()]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        total = total if total.shape == z.shape else np.broadcast_to(total, z.shape)
        return total if total.dtype == z.dtype else total.astype(z.dtype)


def _quick(row):
    """`row.record` over again for what nearly every call is: one argument, or two without keywords, of plain numbers
    under one level of backward mode. It saves two thirds of the time. Whatever is not that, or
    fails, goes to `record`.

    A plain function, so that Python binds it to Tensor as a method without a call in between.
    """
    function, record = row.function, row.record

    def unary(x, *more, **params):
        if more or type(x) is not Tensor or not x._requires_grad or x.level <= _blocked.get():
            return record((x, *more), params)
        a = x._data
        if (
            type(a) is not _array
            and type(a) not in _floats
            or params
            and row._check_keywords(params) is not None
        ):
            return record((x,), params)
        node = _new(Tensor)
        try:
            node._data = z = function(a, **params)
        except (TypeError, ValueError, IndexError):
            return record((x,), params)
        if type(z) not in _floats and not (type(z) is _array and z.dtype.kind in "biuf"):
            return record((x,), params)
        if params:
            node.params = params
        node.op, node.inputs, node.level = row, (x,), x.level
        node.values, node.needed, node.order = (a,), plans[1], next(_clock)
        return node

    def binary(x, y):
        if type(x) is Tensor:
            level, a, needed = x.level, x._data, x._requires_grad
            if type(y) is Tensor and y.level == level:
                b, needed = y._data, needed + 2 * y._requires_grad
            elif type(y) in _scalars or type(y) is np.ndarray and y.dtype.kind in "biuf":
                b = y
            else:
                return record((x, y), {})
        elif type(y) is Tensor and (
            type(x) in _scalars or type(x) is np.ndarray and x.dtype.kind in "biuf"
        ):
            level, a, b, needed = y.level, x, y._data, 2 * y._requires_grad
        else:
            return record((x, y), {})
        if not needed or level <= _blocked.get() or type(a) in _others or type(b) in _others:
            return record((x, y), {})
        node = _new(Tensor)
        try:
            node._data = z = function(a, b)
        except (TypeError, ValueError):
            return record((x, y), {})
        if type(z) not in _floats and not (type(z) is _array and z.dtype.kind in "biuf"):
            return record((x, y), {})
        node.op, node.inputs, node.level = row, (x, y), level
        node.values, node.needed, node.order = (a, b), plans[needed], next(_clock)
        return node

    rules = tuple(enumerate(row.rules))
    plans = (
        (),
        rules[:1],
        rules[1:],
        rules,
    )  # by which arguments want a gradient: neither, the first, the second, both
    quick = {1: unary, 2: binary}.get(len(rules)) if all(row.rules) else None
    return quick or (lambda *args, **params: record(args, params))


def elementwise(function, *rules, name=None, doc=None):
    """A row whose Jacobian is diagonal, so that its one line serves backward and forward mode alike.

    One `rule(g, z, x, y, …, **keywords)` per argument returns what goes to it: `g` is the gradient
    arriving at the output, `z` the output, `x, y, …` the inputs. Broadcasting between the arguments
    is undone by the engine, never in a rule.
    """
    return Primitive("elementwise", function, rules, name=name, doc=doc)


def linear(function, *rules, each=None, name=None, doc=None):
    """A row that is linear in its arguments together: forward mode is the function itself, a rule its transpose.

    One `rule(g, z, x, y, …, **keywords)` per argument, as for `elementwise`, returns what goes to
    it, in its shape.
    """
    return Primitive("linear", function, rules, each=each, name=name, doc=doc)


def bilinear(function, *rules, name=None, doc=None):
    """A row that is linear in each argument by itself: forward mode swaps that one for its tangent.

    One `rule(g, z, x, y, …, **keywords)` per argument, as for `elementwise`, returns what goes to
    it, in its shape.
    """
    return Primitive("bilinear", function, rules, name=name, doc=doc)


def primitive(function, rules, pushes, name=None, doc=None):
    """The general row: lists of `rules` for backward mode and `pushes` for forward mode, one of each per argument.

    `rule(g, z, x, y, …, **keywords)` returns what goes to its argument when `g` arrives at the
    output `z` of the inputs `x, y, …`; `push(t, z, x, y, …, **keywords)` the tangent of `z` when
    the tangent of its argument is `t`. None: no slope.
    """
    return Primitive("primitive", function, rules, pushes=pushes, name=name, doc=doc)


# --- The way back ---------------------------------------------------------------------------------------


def backward_pass(output, g):
    """Visit what `output` was computed from, newest first, and send gradients backward.

    Every Tensor is created after its inputs, so by the time one is the newest that is left, all its
    users have been visited and the gradient in the ledger is whole.

    `g` is an array of the output's shape, the gradient that arrives there. Yields (node, g, grads):
    the Tensor visited, the whole gradient that arrived there, and what goes to each of its inputs
    (None for those that want nothing). Leaves are visited too; their `grads` are empty. Raises
    RuntimeError if the `.data` of an input or of a result was changed after it was used.
    """
    ledger = {output.order: g}
    waiting = [(-output.order, output)]
    while waiting:
        _, node = heappop(waiting)
        order, inputs, needed = node.order, node.inputs, node.needed
        g = ledger.pop(order)
        if order < _last_stamp and inputs:
            _check_unchanged(node)
        grads = sent(node, g)
        for i, _ in needed:
            x, gx = inputs[i], grads[i]
            key = x.order
            if key in ledger:
                ledger[key] = ledger[key] + gx
            else:
                ledger[key] = gx
                heappush(waiting, (-key, x))
        if not needed and node.replay:
            # What is recorded now is newer than all that waits, so it is visited next, down to the
            # node's inputs.
            x = _again(node)
            ledger[x.order] = g
            heappush(waiting, (-x.order, x))
        yield node, g, grads


def sent(node, g):
    """What `node` sends to each of its inputs when `g` has arrived there: a list of gradients, each in the shape and dtype of
    its input, and None for an input that wants none. A leaf sends nothing; nor does a checkpoint, but what it runs again."""
    z, values, params = node._data, node.values, node.params
    grads = [None] * len(values)
    two = len(values) == 2 and not params  # to say so is quicker than a star
    for i, rule in node.needed:
        gx = (
            rule(g, z, values[0], values[1])
            if two
            else rule(g, z, *values, **params)
            if params
            else rule(g, z, *values)
        )
        value = values[i]
        fits = (
            type(gx) is _float64 is type(value)
            or type(gx) is _array
            and gx.shape == value.shape
            and gx.dtype is value.dtype
        )
        grads[i] = gx if fits else fit(gx, node, i)
    return grads


def fit(gx, node, i):
    """`gx`, which the rule of argument `i` returned, in the shape and dtype of that input. Raises TypeError if it is not made of
    real numbers, and ValueError if its shape is not one that the input can be broadcast to."""
    value = node.values[i]
    if type(gx) is not np.ndarray and not isinstance(gx, Tensor) or gx.dtype.kind != "f":
        gx = as_array(gx, f"{node.op.name}: what the rule of argument {i} returned")
    try:
        gx = unbroadcast(gx, value.shape)
    except ValueError:
        raise ValueError(
            f"{node.op.name}: the rule of argument {i} returned shape {gx.shape} for an input of shape "
            f"{value.shape}"
        ) from None
    return gx if gx.dtype == value.dtype else gx.astype(value.dtype)


def unbroadcast(g, shape):
    """`g` summed to `shape`: what broadcasting copied forward, its transpose adds up. Raises ValueError if it does not fit."""
    got = g.shape
    extra = len(got) - len(shape)
    if got[extra:] == shape:
        return g.sum(axis=0 if extra == 1 else tuple(range(extra))) if extra else g
    if extra < 0 or any(n != m and n != 1 for n, m in zip(shape, got[extra:])):
        raise ValueError(f"an array of shape {shape} cannot be broadcast to {got}")
    return g.sum(
        axis=(*range(extra), *(k for k in range(extra, len(got)) if got[k] != shape[k - extra]))
    ).reshape(shape)


def collect(output, g):
    """A list of (leaf, its gradient) of a whole pass, and of the results that retain theirs; no two share an array."""
    arrived, given = [], set()
    for t, gx in [(t, gx) for t, gx, _ in backward_pass(output, g) if t.op is None or t._retain]:
        gx = owned(gx)
        gx = gx.copy() if type(gx) is np.ndarray and (t.op is not None or id(gx) in given) else gx
        given.add(id(gx))
        arrived.append((t, gx))
    return arrived


def _added(t, g):
    """`g` added to the `.grad` that is there, which may have been set by hand."""
    there = (
        t.grad
        if type(t.grad) is np.ndarray and t.grad.dtype == g.dtype
        else as_array(t.grad, "backward: the .grad that is there")
    )
    if there.shape != g.shape:
        raise ValueError(
            f"backward: the .grad of {t.name or 'a leaf'} has shape {there.shape}, its value {g.shape}; "
            "set it to None, or to an array of that shape"
        )
    return np.asarray(there + g, g.dtype)


# --- Checkpoints: the way forward forgotten, and walked again -------------------------------------------


def checkpointed(z, start):
    """A Tensor with the value of `z` that has forgotten how it was computed since `start`, and can do it again.

    Kept is the recipe: which ops ran on what, without their results. What the ops took that is no
    op's result, such as a random mask, is kept as it was, and the Tensors among it are the inputs.
    """
    recipe, inputs, todo = {}, {}, [z]
    while todo:
        node = todo.pop()
        recipe[node.order] = node.op, node.inputs, node.params, node.replay
        for x in node.inputs:
            if isinstance(x, Tensor) and x.order not in recipe:
                if x.level == z.level and x.op is not None and x.order > start:
                    todo.append(x)
                else:
                    inputs[x.order] = x
    steps, place = [], {order: i for i, order in enumerate([*inputs, *sorted(recipe)])}
    for order in sorted(recipe):
        op, args, params, replay = recipe[order]
        # (i, None) is one of the inputs or of the results so far, (None, a) is a itself
        slots = [(place[a.order], None) if isinstance(a, Tensor) else (None, a) for a in args]
        steps.append((op, slots, params, replay))

    def replay(inputs):
        values = list(inputs)
        for op, slots, params, inner in steps:
            args = [a if i is None else values[i] for i, a in slots]
            values.append(_forgetful(inner(args), args, inner) if inner else op(*args, **params))
        return values[-1]

    return _forgetful(z, inputs.values(), replay)


def _forgetful(z, inputs, replay):
    node = made(Tensor, z._data, z.level)
    node.op, node.inputs, node.replay = _checkpoint, tuple(inputs), replay
    node.values = tuple(x._data if isinstance(x, Tensor) else x for x in node.inputs)
    return node


def _again(node):
    """What a checkpoint stands for, recorded anew; also inside no_grad. In a context of its own, which an error cannot leave open."""
    context = copy_context()
    if node.level <= _blocked.get():
        context.run(_blocked.set, node.level - 1)
    return context.run(node.replay, node.inputs)


_checkpoint = Primitive("primitive", None, name="checkpoint")
_float64_row = primitive(np.float64, [None], [None])


# --- Changes of values: dated, and whole or not at all --------------------------------------------------


def _stamp_now():
    global _last_stamp
    _last_stamp = next(_clock)
    return _last_stamp


def _owner(array):
    """Of an array, its views and theirs the same number. (Once it is freed another may have it, whose readers are all younger.)"""
    while isinstance(getattr(array, "base", None), np.ndarray):
        array = array.base
    return id(array)


def replacing(pairs):
    """What `commit` has to do for `t.data = value` with all pairs (t, value), each an array of t's shape and t's alone."""
    stamp, changes = _stamp_now(), []
    for t, value in pairs:
        changes.append((setattr, t, "_data", value if value.ndim else value[()]))
        changes.append((setattr, t, "_stamp", stamp))
        if value.dtype != t._data.dtype and t.grad is not None:
            changes.append((setattr, t, "grad", np.asarray(t.grad, value.dtype)))
    return changes


def commit(changes):
    """Carry out all `changes`, each (function, *arguments), in one call of C code: Ctrl-C comes before it or after it.

    Everything that can fail is to be worked out before, and the functions are C's own, such as
    setattr.
    """
    deque(starmap(call, changes), maxlen=0)


def _check_unchanged(node):
    for t, what in [
        *((t, f"argument {i}") for i, t in enumerate(node.inputs)),
        (node, "its result"),
    ]:
        first = t
        while isinstance(t, Tensor):
            if max(t._stamp, _changed.get(_owner(t._data), 0)) > node.order:
                name = f" ({first.name})" if first.name else ""
                raise RuntimeError(
                    f"{node.op.name}: the .data of {what}{name} was changed after {node.op.name} used it, so "
                    "its gradient can no longer be computed; call backward() first, or compute the result again"
                )
            t = t._data  # a transform's Tensor may stand for one of the user's


# --- Where nothing is recorded --------------------------------------------------------------------------


class no_grad(ContextDecorator):
    """Within `with no_grad():`, results are constants: nothing is recorded.

    It blocks what was open before it; a `grad` called inside works as ever. The state is per
    thread, and restored when the block is left, whether it raised or not. `@no_grad()` before a
    function is such a block around each of its calls.
    """

    def __init__(self):
        self._before = []

    def __call__(self, f):
        if isgeneratorfunction(f) or iscoroutinefunction(f):
            raise TypeError(
                "no_grad: what is inside such a function runs after its call has ended; use `with` in it"
            )
        return super().__call__(f)

    def _recreate_cm(self):
        return no_grad()

    def __enter__(self):
        self._before.append(_blocked.get())
        _blocked.set(next(_levels))

    def __exit__(self, *_):
        _blocked.set(self._before.pop())


# --- Levels, and Tensors that are not the user's --------------------------------------------------------


def new_level():
    """The number of a level that is inside every level opened so far."""
    return next(_levels)


def now():
    """A creation number: what is made later has a greater one."""
    return next(_clock)


def box(x, level, what):
    """`x`, an array or a Tensor of a lower level, as a Tensor that requires a gradient at `level`."""
    if not isinstance(x, Tensor):
        x = _own(as_array(x, what))  # what is differentiated must not change under way
    elif type(x._data) is float:
        x = _float64_row(x)  # of a program: from here on NumPy's
    _check_floating(x.dtype, what)
    return made(Tensor, x, level)


def dual(value, tangent, level):
    """A Tensor of a forward-mode level."""
    t = made(Dual, value, level)
    t.tangent = tangent
    return t


def made(kind, value, level):
    """A Tensor of this class that nobody has asked for by its name."""
    t = _new(kind)
    t._data, t.level, t.order = value, level, next(_clock)
    return t


def recording():
    """Whether what is computed from Tensors is recorded here, and not blocked by `no_grad`."""
    return _blocked.get() < 0


def result(value, row, inputs, values, needed, replay):
    """A Tensor of level 0 with the array `value`, as if `row` had made it of `inputs`, arrays and Tensors with these `values`;
    `needed` and `replay` are as those of any Tensor."""
    t = made(Tensor, value, 0)
    t.op, t.inputs, t.values, t.needed, t.replay = row, tuple(inputs), values, needed, replay
    return t


def is_constant(t):
    """Whether no derivative of any level goes through `t`, a Tensor, and no program is written of it."""
    while isinstance(t, Tensor):
        if t._requires_grad or t.tangent is not None or type(t) is Traced:
            return False
        t = t._data
    return True


# --- Values as arrays -----------------------------------------------------------------------------------


def plain(t):
    """The value of a Tensor of any level as an array, all derivatives forgotten; while a program is written, a Traced."""
    while isinstance(t, Tensor):
        if type(t) is Traced:
            return t
        t = t._data
    return np.asarray(t)


def refuse(t, message):
    """Raise TypeError; where a program is written of `t`, a Tensor, it is noted, so that nobody catches it unseen."""
    error, value = TypeError(message), plain(t)
    if type(value) is Traced:
        value.trace.refused.append(error)
    raise error


def traced_in(x):
    """Every Traced among the arguments or keywords of a call, in tuples and lists too."""
    if type(x) is Traced:
        yield x
    elif type(x) in (tuple, list, dict):
        for part in x.values() if type(x) is dict else x:
            yield from traced_in(part)


def mapped(f, x):
    """`x` with f(part) in place of every part of its tuples, lists and dicts that is none of these."""
    if type(x) in (tuple, list):
        return type(x)([mapped(f, part) for part in x])
    return {name: mapped(f, part) for name, part in x.items()} if type(x) is dict else f(x)


def value_of(x):
    """The value of a Traced; another thing is its own."""
    return x._data if type(x) is Traced else x


def _own(array):
    """A copy of an array, a number as a NumPy scalar."""
    return array if isinstance(array, Tensor) else np.array(array)[()]


def owned(g):
    """A leaf's gradient as an array that nobody else holds: a view, such as what undoes a sum, is copied."""
    if type(g) is np.ndarray:
        return g if g.base is None else g.copy()
    return g if isinstance(g, Tensor) else np.asarray(g)


def as_array(data, what):
    """`data` as an array of real numbers; `what` names it in the error."""
    array = data
    if type(data) is not np.ndarray:
        if isinstance(data, Tensor):
            raise TypeError(
                f"{what}: this is a Tensor already; use .detach() for a constant with its value"
            )
        if isinstance(data, (np.matrix, np.ma.MaskedArray)):
            raise TypeError(
                f"{what}: a plain array is needed, and * or sums of a {type(data).__name__} mean others"
            )
        try:
            array = np.asarray(data)
        except (
            TypeError,
            ValueError,
        ) as error:  # a list of Tensors that require gradients, or of unequal lengths
            raise type(error)(f"{what}: {error}") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"{what}: real numbers are needed, got {type(data).__name__} of dtype {array.dtype}"
        )
    return array


def _check_floating(dtype, what):
    if dtype.kind != "f":
        raise TypeError(
            f"{what}: {dtype} values have no gradient; use floating point, for example 3.0 for 3, "
            "or array.astype(float)"
        )
