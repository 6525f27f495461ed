"""The tape: the class Tensor, the recording of calls, and the backward pass; no operations.

A *row* (see rows.py and ops.py) is a function and one rule per argument. A call of a row on Tensors
computes the result and records it: the result is a new Tensor with its `op` and its `inputs`.
`backward_pass` visits everything the output was computed from, newest first, and calls the rules.

Levels make derivatives nest. A Tensor that the user makes is on level 0, and each call of a
*transform* (`grad`, `vjp` or `jvp`) opens a level with a new, higher number. A call of a row
belongs to the highest level among its arguments; Tensors of lower levels are constants to it. The
value is computed one level down, where it may be a Tensor itself, and rules run there too. Example:
`grad(grad(f))(3.0)` with f(x) = x · x · x

1. The outer `grad` opens level 1. Its input is a: a Tensor on level 1 with the value 3.0.
2. The inner `grad` opens level 2. Its input is b: a Tensor on level 2 with the value a.
3. `b * b` belongs to level 2. Its value is computed one level down: that is `a * a`, which belongs
   to level 1, has the value 9.0, and is recorded there. So each multiplication is recorded twice.
4. The backward pass of level 2 starts with g = 1.0. The rule `g * y` gets the values of level 2,
   which are Tensors of level 1, so its products are recorded on level 1. It ends with the gradient
   of b: the Tensor 3 · a · a on level 1.
5. The backward pass of level 1 goes through these products. It ends with 6 · 3.0 = 18.0, the
   second derivative.
"""

from contextvars import ContextVar
from heapq import heappop, heappush
from types import MappingProxyType

import numpy as np
from numpy import float64, ndarray  # looked up often; np.float64 takes longer

from . import values as _values
from .hints import argument_error, explain_arguments
from .levels import call_recorded, is_recording, no_grad_level
from .values import Value, as_array, clock, copied, copy_if_view, unbroadcast

tracer = ContextVar("tracer", default=None)  # while `compile` records a call: its trace


class Tensor(Value):
    """An array with its gradient and a record of how it was computed.

    Parameters
    ----------
    data : array_like of numbers
        Copied if `requires_grad`, so that an optimizer never writes into the caller's array.
    requires_grad : bool, default False
        If True, `backward()` adds a gradient to `.grad`. Requires a floating dtype.
    name : str, optional
        Shown by `repr` and in drawings.

    Attributes
    ----------
    op, inputs, params : Primitive or None, tuple, dict
        The row that computed this Tensor, and the call's arguments and keywords. A leaf has no row.
    values : tuple or list
        The values of the inputs, one level down. They are passed to the rules.
    edges : sequence of (int, callable)
        The position, from 0, of each input that requires a gradient, and the rule for that input.
    number : int
        The creation number, greater than that of every input.
    recompute : callable or None
        Recomputes the result of a `checkpoint` or a program from `inputs`.
    level : int
        0, or the number of the level of the transform that made this Tensor.

    Raises
    ------
    TypeError
        If `data` is a Tensor or is not numeric, or if it requires a gradient and is not floating.
    """

    # Defaults on the class, so that a new Tensor sets only what differs.
    grad = name = op = tangent = recompute = None  # tangent: see forward.py
    inputs = values = edges = ()
    params = MappingProxyType({})
    level = _changed_at = 0  # _changed_at: the number of the last assignment to `.data`
    was_trainable = False  # True once requires_grad was: a Module saves it even if frozen
    _requires_grad, _retain = True, False  # most new Tensors are recorded results
    opaque = False  # True for a Traced, whose value must not be looked at (compiler/traced.py)
    shape = property(lambda self: self._value.shape)
    dtype = property(lambda self: self._value.dtype)
    ndim = property(lambda self: self._value.ndim)
    size = property(lambda self: self._value.size)

    def __init__(self, data, requires_grad=False, name=None):
        self._value = as_array(data, "Tensor")[()]  # 0-d becomes a NumPy scalar, which is faster
        self.name, self.number = name, next(clock)
        self._requires_grad = False
        if requires_grad:
            self.requires_grad = True  # the setter checks the dtype and copies the array

    def process(self, row, args, params):
        """Return the result of calling `row`, recorded if an input requires a gradient.

        `self` is on the highest level among the arguments. Its class decides what a call does: a
        `Tensor` records it, a `Dual` pushes tangents, and a `Traced` makes it a line of a program.
        """
        level, edges = self.level, []
        values, z = one_level_down(row, args, params, level)
        if level > no_grad_level.get():  # else a no_grad block is open
            for i, a in enumerate(args):
                if isinstance(a, Tensor) and a.level == level and a._requires_grad:
                    if rule := row.rule(i):  # None for an argument without a derivative
                        edges.append((i, rule))
        node = new_tensor(Tensor, z, level)
        node._requires_grad = bool(edges)
        if edges:
            node.op, node.inputs, node.params = row, tuple(args), params
            node.values, node.edges = values, edges
        return node

    @property
    def data(self):
        """The value, as a NumPy array.

        After an assignment, a backward pass through a Tensor computed from the old value raises
        RuntimeError. Assigning to items, as in `t.data[0] = 1`, is not detected. If an array of
        another floating dtype is assigned, this Tensor and its `.grad` get that dtype. In a
        transform, `data` is read-only and constant to every derivative; in compile, it is a Traced.
        """
        if self.level or tracer.get() is not None:
            value = to_array(self)
            if not isinstance(value, Tensor):  # else a Traced
                value = value.view()  # the Tensor's own array stays writeable
                value.flags.writeable = False  # it may be the array of a Tensor of the user
            return value
        if type(self._value) is not ndarray:
            self._value = np.asarray(self._value)  # so that t.data[...] = 1 writes into the Tensor
        return self._value

    @data.setter
    def data(self, value):
        if self.level:
            raise RuntimeError("data cannot be assigned inside a transform; compute a new Tensor")
        if value is self._value:  # t.data *= 2 has changed the array in place, and its views too
            _values.date_array(value)
            return
        # A floating array keeps its dtype; any other value takes this Tensor's if that is floating.
        keeps = isinstance(value, ndarray) and value.dtype.kind == "f" or self.dtype.kind != "f"
        value = np.array(as_array(value, "data"), dtype=None if keeps else self.dtype)
        if value.shape != self.shape:
            raise ValueError(
                f"data: expected a value of shape {self.shape}, got {value.shape}; make a new "
                "Tensor to change the shape"
            )
        _values.commit(_values.assignments([(self, value)]))

    @property
    def requires_grad(self):
        """True if `backward()` computes a gradient for this Tensor. Can be set on a leaf."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, wanted):
        if self.op is not None:
            raise RuntimeError(f"requires_grad: call .detach() first on a result of {self.op.name}")
        if self.level:
            raise RuntimeError("requires_grad: set it before you call a transform or compile")
        if wanted and not self._requires_grad:
            _values._check_floating(self.dtype, "requires_grad")
            self._value = copied(self._value)  # it may be the caller's array
        self._requires_grad = bool(wanted)
        self.was_trainable = self.was_trainable or self._requires_grad

    def backward(self, grad=None, **unknown):
        """Add the gradient of this Tensor to the `.grad` of every leaf it was computed from.

        If an error or an interrupt occurs, no `.grad` is changed: all are set at the end.

        Parameters
        ----------
        grad : array_like, optional
            The upstream gradient ∂L/∂self, in the same shape. Default: 1, for a one-element Tensor.

        Raises
        ------
        TypeError
            If an argument is unknown, such as PyTorch's `retain_graph`.
        RuntimeError
            If this Tensor requires no gradient, if `grad` is missing, or if the `.data` of a Tensor
            that it was computed from has changed.
        ValueError
            If `grad`, or the `.grad` of a leaf that was set by hand, has the wrong shape.
        """
        if unknown:  # explain_arguments would keep `grad` in memory until the pass ends
            error = f"got an unexpected keyword argument {next(iter(unknown))!r}"
            raise argument_error("backward", error, unknown, "(grad=None)")
        if self.level:
            raise RuntimeError(
                "backward() cannot be called inside a function that is being differentiated or "
                "compiled: return the value, and call backward(), grad or vjp outside"
            )
        if not self._requires_grad:
            why = (
                "it was computed without requires_grad=True, or under no_grad"
                if is_recording()
                else "nothing is recorded here, because a no_grad block is open (if you pressed "
                "Ctrl-C as it ended, restart Python)"
            )
            raise RuntimeError(f"backward: this Tensor does not require a gradient; {why}")
        if grad is None:
            if self.size != 1:
                raise RuntimeError(
                    f"backward: expected a scalar, got a Tensor of shape {self.shape}; reduce "
                    "it, for example with .sum(), or pass the upstream gradient as grad="
                )
            grad = self.dtype.type(1) if self.shape == () else np.ones(self.shape, self.dtype)
        else:
            grad = to_array(grad) if isinstance(grad, Tensor) else as_array(grad, "backward: grad")
            grad = np.array(grad, dtype=self.dtype)  # a copy, because a leaf may get it as .grad
            if grad.shape != self.shape:
                raise ValueError(f"backward: expected grad of shape {self.shape}, got {grad.shape}")
        # Compute everything first: an error must leave every .grad as it was.
        grads = [(t, _accumulated(t, g)) for t, g in leaf_gradients(self, grad)]
        for t, g in grads:
            t.grad = g

    def retain_grad(self):
        """Make later backward passes store the gradient of this intermediate result in `.grad`."""
        if self.level:
            raise RuntimeError("retain_grad: unavailable in transforms and compile; use backward()")
        self._retain = True

    @explain_arguments
    def zero_grad(self):
        """Set `.grad` to None."""
        self.grad = None

    def detach(self):
        """Return a copy that every derivative, of any order and level, treats as a constant."""
        if self.opaque:
            return self  # a Traced is a constant to every derivative
        t = new_tensor(type(self), copied(to_array(self)), self.level)  # same class: see process
        t._requires_grad = False
        return t


def new_tensor(kind, value, level):
    """Return a new Tensor of class `kind` with this value and level, without checking the value."""
    t = object.__new__(kind)
    t._value, t.level, t.number = value, level, next(clock)
    return t


def to_array(t):
    """Return the value of a Tensor as an array, whatever its level.

    The value of a Tensor of a transform may be a Tensor of a lower level. While `compile` records,
    the result is a Traced: for a Tensor of the user, the program's input that replaces it.
    """
    while isinstance(t, Tensor):
        if t.opaque:
            return t
        if (trace := tracer.get()) is not None and t.level < trace.level:
            return to_array(trace.input_of(t))
        t = t._value
    return np.asarray(t)


def one_level_down(row, args, params, level):
    """Return a list of the values of `args` one level below `level`, and the result of `row` there."""
    values = [a._value if isinstance(a, Tensor) and a.level == level else a for a in args]
    # On level 0 all values are arrays. Above it some may be Tensors, for which the row is called.
    if level > 0 and any([isinstance(v, Tensor) for v in values]):
        z = row(*values, **params)
    else:
        z = row.compute(values, params)
    if z.dtype.kind not in "biuf":  # as in x * 1j: the error names the first that is not real
        for what, v in [*((f"argument {i}", v) for i, v in enumerate(values)), ("its result", z)]:
            as_array(to_array(v), f"{row.name}: {what}")
    return values, z


# --- The backward pass ----------------------------------------------------------------------------


def backward_pass(output, g):
    """Visit everything `output` was computed from, newest first, and propagate gradients.

    Tensors wait in a priority queue, and the ledger, a dict, contains the gradients that they have
    received so far. A Tensor is created after its inputs. So when the newest waiting Tensor is
    visited, all its users have been visited, and its gradient in the ledger is complete.

    Parameters
    ----------
    output : Tensor
        The Tensor at which the pass starts.
    g : array
        The upstream gradient of `output`, in the same shape.

    Yields
    ------
    node, g, grads : Tensor, array, list
        The visited Tensor, its complete gradient, and a list of the gradients for its inputs, with
        None for an input that requires no gradient. The list is empty for a leaf.

    Raises
    ------
    RuntimeError
        If the `.data` of an input or a result was changed after it was used.
    """
    ledger = {output.number: g}
    waiting = [(-output.number, output)]
    while waiting:
        # Take the newest Tensor, and its gradient out of the ledger.
        _, node = heappop(waiting)
        number, inputs, edges = node.number, node.inputs, node.edges
        g = ledger.pop(number)
        # If any value has changed since, check those that this node was computed from.
        if number < _values._last_change and inputs:
            _values.check_unchanged(node)
        # Call the rules.
        grads = input_gradients(node, g)
        for i, _ in edges:
            # Add to the gradient of an input that waits already; let a new input wait.
            x, gx = inputs[i], grads[i]
            key = x.number
            if key in ledger:
                ledger[key] = ledger[key] + gx  # not +=, because two rules may return one array
            else:
                ledger[key] = gx
                heappush(waiting, (-key, x))
        if not edges and node.recompute:
            # A checkpoint: record its calls again. Their results are the newest, so they come next.
            x = call_recorded(node.recompute, node.inputs, node.level)
            ledger[x.number] = g
            heappush(waiting, (-x.number, x))
        yield node, g, grads


def input_gradients(node, g):
    """Return a list of the gradients for all inputs of `node`, given the gradient `g` of `node`.

    Each gradient has the shape and dtype of its input. The entry is None for an input that requires
    no gradient, and for an argument without a derivative, such as the condition of `where`.
    """
    z, values, params = node._value, node.values, node.params
    grads = [None] * len(values)
    for i, rule in node.edges:
        # All rules and the caller share g, and a rule of the user may write into an array.
        upstream = g.copy() if type(g) is ndarray and node.op.user_defined else g
        if params:  # passing the keywords takes time, even if there are none
            gx = rule(upstream, z, *values, **params)
        elif len(values) == 2:  # the common case: naming both is faster than a star
            gx = rule(upstream, z, values[0], values[1])
        else:
            gx = rule(upstream, z, *values)
        # Two NumPy numbers of one type need no comparison of shapes.
        grads[i] = gx if type(gx) is float64 is type(values[i]) else match_input(gx, node, i)
    return grads


def match_input(gx, node, i):
    """Return `gx`, the result of rule `i`, in the shape and dtype of input `i` of `node`."""
    value = node.values[i]
    # A rule of the user may return z, x or an array that it writes into again: these are copied.
    must_copy = node.op.user_defined and not isinstance(gx, Tensor)
    if type(gx) is ndarray and gx.shape == value.shape and gx.dtype is value.dtype:
        return gx.copy() if must_copy else gx  # the common case
    # Raise for anything but real numbers. Integers, numbers of Python and lists become arrays here.
    if not isinstance(gx, Tensor) and (type(gx) is not ndarray or gx.dtype.kind != "f"):
        gx = as_array(gx, f"{node.op.name}: result of the rule of argument {i}")
    try:
        gx = unbroadcast(gx, value.shape)
    except ValueError:
        raise ValueError(
            f"{node.op.name}: the rule of argument {i} returned shape {gx.shape} for an input of "
            f"shape {value.shape}; return a gradient in the shape of the input"
        ) from None
    return gx.astype(value.dtype) if must_copy or gx.dtype != value.dtype else gx  # astype copies


def leaf_gradients(output, g):
    """Return a list of (Tensor, gradient) for the leaves and for results that retain a gradient.

    `g` is the upstream gradient of `output`. A rule may return a view, and both rules of x + y
    return the same array; such gradients are copied, so that no two in the list share memory.
    """
    grads, delivered = [], set()  # the ids of what is in `grads`, which keeps these arrays alive
    for t, gx, _ in backward_pass(output, g):
        if t.op is None or t._retain:
            gx = copy_if_view(gx)
            if type(gx) is ndarray and (t.op is not None or id(gx) in delivered):
                gx = gx.copy()
            delivered.add(id(gx))
            grads.append((t, gx))
    return grads


def _accumulated(t, g):
    """Return `t.grad + g` in the dtype of `g`, or `g` if `t.grad` is None; shapes must agree."""
    if t.grad is None:
        return g
    old = as_array(t.grad, "backward: the .grad of a leaf")
    if old.shape != g.shape:
        raise ValueError(
            f"backward: expected the .grad of {t.name or 'a leaf'} to have shape {g.shape}, "
            f"got {old.shape}; set it to None"
        )
    return np.asarray(old + g, g.dtype)  # not +=, because an error must leave the old .grad
