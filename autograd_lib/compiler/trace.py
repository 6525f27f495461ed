"""One call of a function, recorded: every operation becomes a line of a program.

A `Trace` opens a level, puts a `Traced` on it in the place of every argument, and calls the
function. As long as the trace is open, the tape hands every call of a row to `Trace.process`:

- on the highest level stands a Traced: the call becomes a line (`add_line`);
- on the highest level stands a Tensor of a `grad` or `jvp` that the function itself uses: the tape
  records or pushes as always. Its rules run one level down, on Traced, so they become lines too;
- a Tensor of the user takes part: it becomes an input of the program (`input_of`).

Example: `compile(lambda x: (w * x).sum())` is called with an array. `w * x` is a call of the row
multiply. `w` is a Tensor of the user, so it becomes the second input, and `w * x` a line. `.sum()`
is a call with that line, so it becomes another:

    def program(x, w):
        t1 = w * x
        t2 = t1.sum()
        return (t2,), (x,)
"""

import linecache
import operator
import os
import random
import sys
from collections import namedtuple
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import cache
from itertools import count
from types import FunctionType

import numpy as np

from .. import levels, ops, tape
from ..nn import Module
from ..rows import Primitive, is_constant, traced_in
from ..tape import Tensor, leaf_gradients, new_tensor, to_array
from ..transforms import _float64 as FLOAT64
from ..values import as_array, unbroadcast
from .plan import is_user_op
from .signature import changed_container, copy_argument
from .traced import PYTHON_NUMBERS, PYTHON_ROWS, Traced, mapped, value_of

# Files of Python, of installed packages and of this library: not the user's own functions.
ENGINE = __name__.partition(".")[0]
INSTALLED = os.path.dirname(os.__file__), os.path.dirname(os.path.dirname(np.__file__))

# Where a line of a backward or forward-mode pass comes from. call: a number, the same for all lines
# of one call of a rule. of: the value whose gradient the call computes, or None. first, rest: the
# comment beside the first of these lines, and beside the others.
Origin = namedtuple("Origin", "call of first rest")
NO_ORIGIN = Origin(None, None, "", "")


class OuterTransform(BaseException):
    """Raised when the function reads a Tensor of a transform that was open before its call.

    A BaseException, so that no `except Exception` of the user's function stops it.
    """


class _StandIn(Tensor):
    """What the function gets for a Tensor: a leaf on a level of backward mode above the program's."""

    def _refuse(self, *_):
        raise TypeError(
            "compile: .grad of an argument is read or set inside a function that is being compiled, "
            "which receives only its value; read and set .grad outside"
        )

    grad = property(_refuse, _refuse)


class _ObservedRow(Primitive):
    """A row whose rules tell the trace which lines are theirs; else the same as `row`."""

    def __init__(self, row, trace):
        vars(self).update(vars(row))
        self.row, self.trace, self.rule = row, trace, self._observed_rule

    def _observed_rule(self, i):
        rule, trace = self.row.rule(i), self.trace
        if rule is None:
            return None

        def observed(g, z, *values, **params):
            call, x = next(trace.rule_calls), values[i]
            formula, name = _formula(rule), self.name
            first = f"{name}: {formula}" if formula else f"{name}, backward"
            with trace.origin(Origin(call, x, first, name)):
                gx = rule(g, z, *values, **params)
                gx = gx.astype(x.dtype) if isinstance(gx, Tensor) and gx.dtype != x.dtype else gx
            # Undo broadcasting here, where it is known for which rule it is done.
            note = f"{name}: what was broadcast is summed"
            with trace.origin(Origin(call, x, note, note)), suppress(ValueError):
                gx = unbroadcast(gx, np.shape(x)) if isinstance(gx, Tensor) else gx
            if isinstance(gx, Tensor):
                trace.gradient_of[to_array(gx).number] = x
            return gx

        return observed

    def push_tangents(self, *args):
        note = f"{self.name}, its tangent"
        with self.trace.origin(Origin(next(self.trace.rule_calls), None, note, note)):
            return self.row.push_tangents(*args)


class Trace:
    """The lines of one call of `f`.

    Attributes
    ----------
    inputs : list of Traced
        The inputs of the program: the leaves of the arguments, then the Tensors in `closed`.
    stand_ins : list of Tensor
        What the function got for each input: the Traced, or a _StandIn that holds it.
    closed : list of Tensor
        The Tensors that the function read without getting them as arguments.
    outputs, structure : list, object
        What was returned, and the tuples, lists and dicts around it, with positions in `outputs`
        in the place of the values.
    backward : dict
        {i: (g, [(number of an input, its gradient), …])} for each output that requires a gradient.
    checks : list of Traced
        Calls of rows that are not the library's: they may raise, so they stay in the program.
    names : dict
        {creation number: name} of the Traced that the user's functions have a name for.
    held : dict
        {id of a copy: the array} for every array that the function used and that is not traced.
    constant_names : dict
        {id: name} of these copies, and of floats.
    """

    def __init__(self, f, args, kwargs, paths):
        self.level, self.grad_level, self.is_open = levels.new_level(), levels.new_level(), True
        self.inputs, self.stand_ins, self.closed, self.outputs = [], [], [], []
        self.checks, self.names, self.held, self.constant_names = [], {}, {}, {}
        # Errors that may not be caught; and calls of rules, which are numbered.
        self.refused, self.rule_calls, self._origin = [], count(), NO_ORIGIN
        self.gradient_of = {}  # {creation number of what a rule returned: the value it is for}
        self._closed_inputs, self._lines, self._copies, self._user_arrays = {}, {}, {}, {}
        self._observed_rows, self._inlining, self._frames = {}, set(), {}
        self._recording, containers = levels.is_recording(), []
        args = [copy_argument(x, p, self._input, containers) for x, p in zip(args, paths)]
        kwargs = {n: copy_argument(x, n, self._input, containers) for n, x in kwargs.items()}
        try:
            # In a context of its own, which is gone afterwards, also if the function raises.
            copy_context().run(self._record, f, args, kwargs, containers)
        finally:
            self.is_open = False
        self.name = self._collect_names()

    def _record(self, f, args, kwargs, containers):
        """Call the function, and record a backward pass from each result."""
        tape.tracer.set(self)
        levels.record_above(self.level if self._recording else self.grad_level)
        before, out = _rng_states(), f(*args, **kwargs)
        if self.refused:  # the function has caught the error, and gone another way
            raise self.refused[0]
        if before != _rng_states():
            raise TypeError(
                "compile: the function draws from a global random generator, and the program would "
                "repeat the first draw; pass the numbers as an argument"
            )
        if path := changed_container(containers):
            raise TypeError(
                f"compile: {path} is changed inside the function, which a program cannot do; "
                "return the new value"
            )
        self.structure = mapped(self._output, out)
        self.backward = {
            i: self._backward(z)
            for i, z in enumerate(self.outputs)
            if isinstance(z, Tensor) and z.level == self.grad_level and z.requires_grad
            if self._recording and type(z) is not _StandIn
        }

    # --- Inputs and outputs ---------------------------------------------------------------------

    def _input(self, x, path=""):
        """Add an input with the value of `x`; return what the function gets for it."""
        stand_in = node = new_tensor(Traced, x._value if isinstance(x, Tensor) else x, self.level)
        node.trace, node.origin = self, NO_ORIGIN
        if isinstance(x, Tensor):
            stand_in = new_tensor(_StandIn, node, self.grad_level)
            stand_in._requires_grad, stand_in.name = x._requires_grad, x.name
        self.inputs.append(node)
        self.stand_ins.append(stand_in)
        self.names |= {node.number: path} if path.isidentifier() else {}
        return stand_in

    def input_of(self, t):
        """Return what stands for `t`, a Tensor of a lower level, in every call: an input.

        Raises OuterTransform if a transform that was open before depends on `t`.
        """
        if type(t._value) is Traced:  # it was detached inside the function
            return t._value
        if t.level and not is_constant(t):
            raise OuterTransform
        if t.level:
            return to_array(t)
        if id(t) not in self._closed_inputs:
            self._closed_inputs[id(t)] = self._input(t)
            self.closed.append(t)
        return self._closed_inputs[id(t)]

    def _output(self, x):
        if not isinstance(x, (Tensor, np.ndarray, np.generic, float, int, str, type(None))):
            raise TypeError(
                "compile: expected the function to return arrays, Tensors, numbers, strings and "
                f"None, and tuples, lists and dicts of these, got {type(x).__name__}"
            )
        if isinstance(x, Tensor) and x.level < self.level:
            x = self.input_of(x)
        self.outputs.append(x)
        return len(self.outputs) - 1

    def _backward(self, z):
        """Record a backward pass from output `z`: (g, [(number of an input, its gradient), …])."""
        g = new_tensor(Traced, np.ones(z.shape, z.dtype)[()], self.level)
        g.trace, g.origin, self.names[g.number] = self, NO_ORIGIN, "g"
        number = {id(stand_in): i for i, stand_in in enumerate(self.stand_ins)}
        return g, [(number[id(t)], gx) for t, gx in leaf_gradients(z, g) if id(t) in number]

    # --- Lines ----------------------------------------------------------------------------------

    def process(self, row, args, params):
        """Return the result of a call of `row` while this trace is open (see the head of the file).

        Raises TypeError if the trace is closed: then the user kept a Traced beyond the call.
        """
        if not self.is_open:
            raise TypeError(
                f"{row.name}: an array of a finished call of a compiled function was used; return "
                "it from the function instead"
            )
        if self._origin is NO_ORIGIN:
            mapped(self._note_array, [args, params])
        args = [self._on_level(a) for a in args]
        params = mapped(
            lambda a: to_array(self._on_level(a)) if isinstance(a, Tensor) else a, params
        )
        row = getattr(row, "row", row)
        top = max(
            [a for a in args if isinstance(a, Tensor)],
            key=operator.attrgetter("level"),
            default=None,
        )
        if top is None or top.level == self.level:
            return self.add_line(row, args, params)
        observed = self._observed_rows.setdefault(row, _ObservedRow(row, self))
        return top.process(observed, args, params)

    def _on_level(self, a):
        """Return an argument of a call as it belongs to this trace."""
        if type(a) is Traced and a.trace is not self:  # of a call that is over: it says so
            return a.trace.process(FLOAT64, [a], {})
        low = isinstance(a, Tensor) and a.level <= self.level and type(a) is not Traced
        return self.input_of(a) if low else a

    def _note_array(self, x):
        """Note an array of the user's functions: the program reads it itself, at every call.

        Not a mask: x[mask] has another shape when other entries of the mask are True.
        """
        if isinstance(x, np.ndarray) and x.dtype != bool:
            self._user_arrays[id(x)] = x

    def add_line(self, row, args, params):
        """Return the Traced that a call of `row` makes, as a new line, or one that exists."""
        if (z := self._inlined(row, args, params)) is not None:
            return z
        if row in PYTHON_ROWS and all(type(value_of(a)) in PYTHON_NUMBERS for a in args):
            # A row computes with NumPy's numbers, Python's operators with Python's.
            first = next(i for i, a in enumerate(args) if type(a) is Traced)
            number = self.add_line(FLOAT64, [args[first]], {})
            args = [*args[:first], number, *args[first + 1 :]]
        z = row.call_function(list(map(value_of, args)), mapped(value_of, params))
        as_array(z, f"{row.name}: its result")  # raises if it is not made of numbers
        node = new_tensor(Traced, z, self.level)
        node.trace, node.op = self, row
        if computed := [
            name
            for name, value in params.items()
            if name not in ("index", "target") and [*traced_in(value)]
        ]:
            raise TypeError(
                f"{row.name}: {computed[0]} is computed from the arguments of a function that is being "
                "compiled, and a program has fixed shapes; pass it as an int"
            )
        if (same := _factor_times_one(node, args)) is not None:
            return same
        node.inputs, node.params = mapped(self._copied, args), mapped(self._copied, params)
        # Common-subexpression elimination: a line that computes the same is used again.
        key = row.function, repr(mapped(_cse_key, [node.inputs, node.params]))
        if key not in self._lines:
            self._lines[key] = node
            node.reads = [*traced_in([node.inputs, node.params])]
            node.origin = self._caller_of(node) if self._origin is NO_ORIGIN else self._origin
            self.checks += [node] * is_user_op(row)
        return self._lines[key]

    def _inlined(self, row, args, params):
        """Return what stands in the place of one line that calls `row`, or None.

        An entry-by-entry operation reads a small array instead of its broadcast copy. The function
        of a row of the table is called with the Traced, so that its own lines are recorded.
        """
        ufunc = isinstance(row.function, np.ufunc) and row.function.signature is None
        if row.kind == "elementwise" or ufunc:
            small = list(map(self._before_broadcast, args))
            if any(map(operator.is_not, small, args)):
                z = self.process(row, small, params)
                shape = np.broadcast_shapes(*map(np.shape, args))
                return z if z.shape == shape else ops.broadcast_to(z, shape)
        table = type(row.function) is FunctionType and ops.ROWS.get(row.name) is row
        if not table or row.name in self._inlining:
            return None
        self._inlining.add(row.name)
        refused = len(self.refused)
        try:
            return row.function(*args, **params)
        except Exception:  # the function looks at a value, or is called wrongly: one line, then
            del self.refused[refused:]
        finally:
            self._inlining.discard(row.name)

    def _before_broadcast(self, a):
        """Return what was broadcast to `a`: an array, the number that fills a constant, or `a`."""
        if type(a) is Traced and a.op is ops.broadcast_to:
            return a.inputs[0]
        made_by_rule = isinstance(a, np.ndarray) and id(a) not in self._user_arrays
        # A constant of zeros stays: 0 has a sign.
        filled = made_by_rule and a.ndim and a.size and a.flat[0] != 0 and (a == a.flat[0]).all()
        return a.flat[0] if filled else a

    def _copied(self, x):
        """Return a copy of an array that is not traced: the function may write into it later."""
        if not isinstance(x, np.ndarray):
            return x
        owner = id(x) if id(x) in self._user_arrays else None  # else a rule made it
        copy = self._copies.setdefault((owner, x.dtype, x.shape, x.tobytes()), x.copy())
        if owner:
            self.held[id(copy)] = x
        return copy

    # --- Where lines come from, and what the user calls them --------------------------------------

    @contextmanager
    def origin(self, origin):
        """Give all lines that are recorded in the block this Origin."""
        before, self._origin = self._origin, origin
        try:
            yield
        finally:
            self._origin = before

    def _caller_of(self, node):
        """Return the Origin of a line that no rule computes.

        That is NO_ORIGIN for a line of the user's functions. Their frames are kept until the call is
        over, each with its last line: then their variables give the names in the program.
        """
        frame, users = sys._getframe(2), []
        # A thread that the user started has frames of its own, which end without `_record`.
        while frame is not None and frame.f_code is not Trace._record.__code__:
            if frame.f_code is tape.backward_pass.__code__:
                known = [self.gradient_of.get(x.number, x.origin.of) for x in node.reads]
                of = next((x for x in known if x is not None), None)
                note = "two paths meet: what they bring adds up"
                return Origin(next(self.rule_calls), of, note, note)
            library = frame.f_code.co_filename.startswith(INSTALLED)
            if not library and frame.f_globals.get("__name__", "").partition(".")[0] != ENGINE:
                users.append(frame)
            frame = frame.f_back
        self._frames |= {frame: self._frames.get(frame) for frame in reversed(users)}
        self._frames |= {frame: node for frame in users[:1]}
        return NO_ORIGIN

    def _collect_names(self):
        """Find the names that the user's functions had for values; return that of the first function."""
        for frame in self._frames:
            names = frame.f_code.co_names
            variables = {name: x for name, x in frame.f_globals.items() if name in names}
            for name, x in _parts(frame.f_locals | variables):
                while isinstance(x, Tensor) and type(x) is not Traced:
                    x = self._closed_inputs.get(id(x), x)._value
                if type(x) is Traced:
                    self.names.setdefault(x.number, name)
                if type(x) is Traced and x.op is FLOAT64:  # a float, which became NumPy's
                    self.names.setdefault(x.inputs[0].number, name)
                self.constant_names.setdefault(id(x), name)
        calls = [(frame.f_code.co_name, last) for frame, last in self._frames.items()]
        calls = [(name, last) for name, last in calls if name.isidentifier()]
        self.names = {last.number: name for name, last in calls if last is not None} | self.names
        self.constant_names |= {
            copy: self.constant_names[id(array)]
            for copy, array in self.held.items()
            if id(array) in self.constant_names
        }
        self._frames = {}
        return calls[0][0] if calls else "program"


def _parts(variables):
    """Yield (name, value) for variables, for the entries of lists, and for what Modules hold."""
    for name, x in variables.items():
        if isinstance(x, Module):
            yield from x.named_tensors(name)
            yield from ((f"{name}_{attribute}", part) for attribute, part in vars(x).items())
        elif name.isidentifier():
            yield from (
                (f"{name}_{i}", part)
                for i, part in enumerate(x if type(x) in (list, tuple) else ())
            )
            yield name, x


def _factor_times_one(node, args):
    """Return x for a line x * 1, 1 * x or x ** 1 that has the shape and dtype of x; else None."""
    pairs = {ops.multiply: [args, args[::-1]], ops.power: [args]}.get(node.op, ())
    same = [
        x
        for x, one in pairs
        if type(x) is Traced and not isinstance(one, (Tensor, np.ndarray)) and one == 1
        if (x.shape, x.dtype) == (node.shape, node.dtype)
    ]
    return same[0] if same else None


def _cse_key(x):
    """Return a key that is equal only for the same line, array or number; 0.0 is not -0.0."""
    return type(x), x if isinstance(x, (int, float, np.generic, str, slice)) else id(x)


@cache
def _formula(rule):
    """Return the comment beside a rule in the table, or ""."""
    code = getattr(rule, "__code__", None)
    line = linecache.getline(code.co_filename, code.co_firstlineno) if code else ""
    return line.partition("#")[2].strip()


def _rng_states():
    """Return the states of the random generators of NumPy and of Python that are global."""
    _, words, position, *_ = np.random.get_state()
    return words.tobytes(), position, random.getstate()
