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

from contextlib import ContextDecorator
from contextvars import ContextVar, copy_context
from heapq import heappop, heappush
from inspect import iscoroutinefunction, isgeneratorfunction
from itertools import count
from types import MappingProxyType

import numpy as np

from . import values as _values
from .values import (
    Value,
    _array_changes,
    _check_floating,
    _clock,
    _date_change,
    _owner,
    as_array,
    assignments,
    commit,
    copied,
    copy_if_view,
    unbroadcast,
)

_levels = count(1)
_no_grad_level = ContextVar("blocked", default=-1)  # nothing at or below this level is recorded
tracer = ContextVar("tracer", default=None)  # while `compile` records a call: its trace
_new = object.__new__
_float64 = np.float64
_array = np.ndarray


class Tensor(Value):
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
    level = _changed_at = 0
    was_trainable = False  # whether a gradient was ever asked for here: what a model learns, or would if it were not frozen
    _requires_grad = True
    _retain = False
    opaque = False  # True while a program is recorded: the value must not be looked at
    # What an array says of itself, a Tensor says too:
    shape = property(lambda self: self._value.shape)
    dtype = property(lambda self: self._value.dtype)
    ndim = property(lambda self: self._value.ndim)
    size = property(lambda self: self._value.size)

    def __init__(self, data, requires_grad=False, name=None):
        self._value = as_array(data, "Tensor")[
            ()
        ]  # a single number as a NumPy scalar, which is quicker to work with
        self._requires_grad = False
        self.name = name
        self.order = next(_clock)
        if requires_grad:
            self.requires_grad = True

    def process(self, row, args, params):
        """Compute a call of `row` on this Tensor's level, and record it if a gradient may be wanted.

        The class of the Tensors on the highest level decides what a call does. This one records;
        a `Dual` pushes tangents, and while a program is compiled the call becomes a line of it.
        """
        level, needed = self.level, []
        values, z = one_level_down(row, args, params, level)
        if level > _no_grad_level.get():
            for i, a in enumerate(args):
                if isinstance(a, Tensor) and a.level == level and a._requires_grad:
                    if rule := row.rule(i):
                        needed.append((i, rule))
        node = new_tensor(Tensor, z, level)
        node._requires_grad = bool(needed)
        if needed:
            node.op, node.inputs, node.params = row, tuple(args), params
            node.values, node.needed = values, needed
        return node

    @property
    def data(self):
        """The value, a NumPy array. Assigning to it dates the change, and a backward pass through anything
        that read the old value raises. (Writing into single items, `t.data[0] = 1`, cannot be
        noticed.) An array of another floating dtype brings that dtype along, and `.grad` follows;
        whole numbers take any dtype.

        Inside a function that is being differentiated it is for reading, and a constant to every derivative, as `detach()` is."""
        if self.level or tracer.get() is not None:
            value = to_array(self)
            if not isinstance(value, Tensor):
                value = value.view()
                value.flags.writeable = False
            return value
        if type(self._value) is not np.ndarray:
            self._value = np.asarray(
                self._value
            )  # a number from here on an array, so that t.data[...] = … writes into it
        return self._value

    @data.setter
    def data(self, value):
        if self.level:
            raise RuntimeError(
                "data: inside a function that is being differentiated a value cannot be replaced; "
                "compute a new Tensor from it"
            )
        if value is self._value:  # changed in place, and so are its views
            _array_changes[_owner(value)] = _date_change()
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
        commit(assignments([(self, value)]))

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
            self._value = copied(self._value)
        self._requires_grad = bool(wanted)
        self.was_trainable = self.was_trainable or self._requires_grad

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
            grad = self.dtype.type(1) if self.shape == () else np.ones(self.shape, self.dtype)
        else:
            grad = to_array(grad) if isinstance(grad, Tensor) else as_array(grad, "backward: grad")
            grad = np.array(grad, dtype=self.dtype)
            if grad.shape != self.shape:
                raise ValueError(
                    f"backward: grad has shape {grad.shape}, the Tensor has shape {self.shape}"
                )
        # All is worked out first, so that a pass that is stopped, by an error or Ctrl-C, leaves
        # every .grad as it was.
        commit(
            [
                (setattr, t, "grad", g if t.grad is None else _accumulated(t, g))
                for t, g in leaf_gradients(self, grad)
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
        self.grad = None

    def detach(self):
        """The same value as a constant: no gradient flows through it, of whatever order or level."""
        t = new_tensor(
            Tensor, copied(to_array(self)), self.level
        )  # a copy, which `self.data -= …` does not reach
        t._requires_grad = False
        return t

    def item(self):
        """The value as a Python number. Raises ValueError if there is more than one element, and TypeError inside a
        function that is being differentiated, where the number would be taken for a constant."""
        if self.level and not is_constant(self):
            reject(
                self,
                "a value cannot become a Python number, as by float(), inside a function that is being "
                "differentiated or compiled: use the functions of autograd_lib or NumPy, where(…) for an if, or "
                ".detach() where a constant to the derivative is meant",
            )
        if self.size != 1:
            raise ValueError(f"item: one element is needed, this Tensor has shape {self.shape}")
        return to_array(self).item()

    def __repr__(self):
        value = to_array(self)
        text = (
            f"of shape {value.shape}, being compiled"
            if isinstance(value, Tensor)
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
        state = {"was_trainable": self.was_trainable, "grad": grad}
        return Tensor, (self._value, self._requires_grad, self.name), state


def new_tensor(kind, value, level):
    """A Tensor of this class that nobody has asked for by its name."""
    t = _new(kind)
    t._value, t.level, t.order = value, level, next(_clock)
    return t


def one_level_down(row, args, params, level):
    """Return the values of `args` one level below `level`, and the result of the call there."""
    values = [a._value if isinstance(a, Tensor) and a.level == level else a for a in args]
    if level > 0 and any([isinstance(v, Tensor) for v in values]):
        z = row(*values, **params)
    else:
        z = row.compute(values, params)
    if z.dtype.kind not in "biuf":
        results = [*((f"argument {i}", v) for i, v in enumerate(values)), ("its result", z)]
        for what, v in results:
            as_array(to_array(v), f"{row.name}: {what}")  # raises, and names the one to blame
    return values, z


# --- The backward pass ----------------------------------------------------------------------------


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
        if order < _values._last_change and inputs:
            _check_unchanged(node)
        grads = input_gradients(node, g)
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
            x = _recompute(node)
            ledger[x.order] = g
            heappush(waiting, (-x.order, x))
        yield node, g, grads


def input_gradients(node, g):
    """What `node` sends to each of its inputs when `g` has arrived there: a list of gradients, each in the shape and dtype of
    its input, and None for an input that wants none. A leaf sends nothing; nor does a checkpoint, but what it runs again."""
    z, values, params = node._value, node.values, node.params
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
        grads[i] = gx if fits else match_input(gx, node, i)
    return grads


def match_input(gx, node, i):
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


def leaf_gradients(output, g):
    """A list of (leaf, its gradient) of a whole pass, and of the results that retain theirs; no two share an array."""
    arrived, given = [], set()
    for t, gx in [(t, gx) for t, gx, _ in backward_pass(output, g) if t.op is None or t._retain]:
        gx = copy_if_view(gx)
        gx = gx.copy() if type(gx) is np.ndarray and (t.op is not None or id(gx) in given) else gx
        given.add(id(gx))
        arrived.append((t, gx))
    return arrived


def _accumulated(t, g):
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


def _recompute(node):
    """What a checkpoint stands for, recorded anew; also inside no_grad. In a context of its own, which an error cannot leave open."""
    context = copy_context()
    if node.level <= _no_grad_level.get():
        context.run(_no_grad_level.set, node.level - 1)
    return context.run(node.replay, node.inputs)


def _check_unchanged(node):
    for t, what in [
        *((t, f"argument {i}") for i, t in enumerate(node.inputs)),
        (node, "its result"),
    ]:
        first = t
        while isinstance(t, Tensor):
            if max(t._changed_at, _array_changes.get(_owner(t._value), 0)) > node.order:
                name = f" ({first.name})" if first.name else ""
                raise RuntimeError(
                    f"{node.op.name}: the .data of {what}{name} was changed after {node.op.name} used it, so "
                    "its gradient can no longer be computed; call backward() first, or compute the result again"
                )
            t = t._value  # a transform's Tensor may stand for one of the user's


# --- Where nothing is recorded --------------------------------------------------------------------


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
        self._before.append(_no_grad_level.get())
        _no_grad_level.set(next(_levels))

    def __exit__(self, *_):
        _no_grad_level.set(self._before.pop())


def is_recording():
    """Whether what is computed from Tensors is recorded here, and not blocked by `no_grad`."""
    return _no_grad_level.get() < 0


# --- Levels, and values below them ----------------------------------------------------------------


def new_level():
    """The number of a level that is inside every level opened so far."""
    return next(_levels)


def to_array(t):
    """The value of a Tensor of any level as an array, all derivatives forgotten; while a program is written, a Traced."""
    while isinstance(t, Tensor):
        if t.opaque:
            return t
        if not t.level and (trace := tracer.get()) is not None:
            return to_array(trace.input_of(t))
        t = t._value
    return np.asarray(t)


def is_constant(t):
    """Whether no derivative of any level goes through `t`, a Tensor, and no program is written of it."""
    while isinstance(t, Tensor):
        if t._requires_grad or t.tangent is not None or t.opaque:
            return False
        t = t._value
    return True


def reject(t, message):
    """Raise TypeError; where a program is written of `t`, a Tensor, it is noted, so that nobody catches it unseen."""
    error, value = TypeError(message), to_array(t)
    if isinstance(value, Tensor):
        value.trace.refused.append(error)
    raise error


def traced_in(x):
    """Every Traced among the arguments or keywords of a call, in tuples and lists too."""
    if isinstance(x, Tensor) and x.opaque:
        yield x
    elif type(x) in (tuple, list, dict):
        for part in x.values() if type(x) is dict else x:
            yield from traced_in(part)


def tensor_made_by(value, row, inputs, values, needed, replay):
    """A Tensor of level 0 with the array `value`, as if `row` had made it of `inputs`, arrays and Tensors with these `values`;
    `needed` and `replay` are as those of any Tensor."""
    t = new_tensor(Tensor, value, 0)
    t.op, t.inputs, t.values, t.needed, t.replay = row, tuple(inputs), values, needed, replay
    return t
