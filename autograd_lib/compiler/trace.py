"""One call of a function, recorded: every operation becomes a line of a program.

A `Trace` opens a level, puts a `Traced` on it in place of every argument, and calls the
function. As long as the trace is open, the tape hands every call of a row to `Trace.process`:

- the highest level is that of a Traced: the call becomes a line (`add_line`);
- the highest level is that of a Tensor of a `grad` or `jvp` that the function itself uses: the tape
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
import random
import sys
from collections import namedtuple
from contextvars import copy_context
from functools import cache
from itertools import count
from types import FunctionType, SimpleNamespace

import numpy as np

from .. import levels, ops, tape
from ..nn import Module
from ..operators import zero_gradient
from ..rows import traced_in
from ..tape import Tensor, leaf_gradients, match_input, new_tensor, to_array
from ..values import as_array, copied
from .plan import UFUNCS, is_user_op, memory_root
from .signature import with_stand_ins
from .traced import PYTHON_NUMBERS, PYTHON_ROWS, Traced, mapped, value_of

ENGINE = __name__.partition(".")[0]

# Where a line of a backward pass comes from. call: a number, the same for all lines of one call of
# a rule. of: the value whose gradient the call computes, or None. first_comment, comment: what is
# written beside the first of these lines, and beside the others.
Origin = namedtuple("Origin", "call of first_comment comment")
NO_ORIGIN = Origin(None, None, "", "")


class OuterTransform(BaseException):
    """Raised when the function reads a Tensor of a transform that was open before its call.

    A BaseException, so that no `except Exception` of the user's function stops it.
    """


def _refuse_grad(*_):
    raise TypeError(
        "compile: .grad of an argument is read or set inside a function that is being compiled, "
        "which receives only its value; read and set .grad outside"
    )


class _StandIn(Tensor):
    """A leaf on a level of backward mode above the program's, which the function receives for a Tensor."""

    grad = property(_refuse_grad, _refuse_grad)


class Trace:
    """Record the lines of one call of `f`.

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
        {i: (g, positions of inputs, their gradients)} for each output that requires a gradient.
    checks : list of Traced
        Calls of rows that are not the library's: they may raise, so they stay in the program.
    names : dict
        {creation number: name} of the Traced that the user's functions have a name for.
    constant_names, originals : dict
        {id: (name, object)} of their other variables, and {id of a copy: the array of the user}.
    """

    def __init__(self, f, args, kwargs):
        self.level, self.grad_level, self.is_open = levels.new_level(), levels.new_level(), True
        self.is_recording = levels.is_recording()
        self.inputs, self.stand_ins, self.closed, self.outputs = [], [], [], []
        self.names, self.constant_names, self.originals = {}, {}, {}
        # Errors that may not be caught; and calls of rules, which are numbered.
        self.refused, self._rule_calls, self._origin = [], count(), NO_ORIGIN
        self._gradient_of = {}  # {creation number of what a rule returned: the value it is for}
        # {id of a Tensor in `closed`: its input}, {what a line computes: the line}, {content of a
        # constant array: its copy}.
        self._closed_inputs, self._lines, self._copies = {}, {}, {}
        # The names of the rows whose functions are being recorded, and the frames of the user's
        # functions: the keys of a dictionary, which keeps their order.
        self._inlining, self._frames = set(), {}
        try:
            # In a context of its own, which is gone afterwards, also if the function raises.
            copy_context().run(self._record, f, args, kwargs)
        finally:
            self.is_open = False
        for frame in self._frames:
            self._note_names(frame)
        functions = [frame.f_code.co_name for frame in self._frames]
        self.name = next(filter(str.isidentifier, functions), "program")

    def _record(self, f, args, kwargs):
        """Call the function, and record a backward pass from each result.

        Under no_grad the results need no backward pass, so nothing is recorded on `grad_level`.
        """
        tape.tracer.set(self)
        levels.record_above(self.level if self.is_recording else self.grad_level)
        args = with_stand_ins(args, "args", self._input)
        kwargs = with_stand_ins(kwargs, "kwargs", self._input)
        # The ids of all leaves, in the lists and dicts that hold them now.
        containers, random_states = mapped(id, [args, kwargs]), _rng_states()
        out = f(*args, **kwargs)
        if self.refused:  # the function has caught the error and continued
            raise self.refused[0]
        if random_states != _rng_states():
            raise TypeError(
                "compile: the function draws from a global random generator, and the program would "
                "repeat the first draw; pass the numbers as an argument"
            )
        if containers != mapped(id, [args, kwargs]):
            raise TypeError(
                "compile: a list or dict among the arguments is changed inside the function, which "
                "a program cannot do; return the new value"
            )
        self.structure = mapped(self._output, out)
        # Lines from here on belong to a backward pass: the forward function cannot check them.
        self.checks = [line for line in self._lines.values() if is_user_op(line.op)]
        self.backward = {
            i: self._backward(z)
            for i, z in enumerate(self.outputs)
            if isinstance(z, Tensor) and z.level == self.grad_level and z.requires_grad
            if self.is_recording
        }

    # --- Inputs and outputs ---------------------------------------------------------------------

    def _traced(self, value):
        """Return a new Traced on the level of this program: an input, until `add_line` fills it in.

        An input's array belongs to the caller, so it is its own root (see the class Traced).
        """
        node = new_tensor(Traced, value, self.level)
        node.trace, node.origin, node.root = self, NO_ORIGIN, node
        return node

    def _input(self, x, path=""):
        """Add an input with the value of `x`, and return the object that the function receives for it.

        Raises OuterTransform if `x` is a Tensor of a transform that was open before.
        """
        if isinstance(x, Tensor):
            if x.level:
                raise OuterTransform
            node = self._traced(x._value)
            stand_in = new_tensor(_StandIn, node, self.grad_level)
            stand_in._requires_grad, stand_in.name = x._requires_grad, x.name
        else:
            as_array(x, f"compile: {path}")  # raises if it is not made of real numbers
            stand_in = node = self._traced(x)
        self.inputs.append(node)
        self.stand_ins.append(stand_in)
        return stand_in

    def input_of(self, t):
        """Return the input of the program for `t`, a Tensor from outside; any other Tensor as it is."""
        # Levels that the function opens are above this trace's; its own Traced are on it.
        if t.level > self.level or getattr(t, "trace", None) is self:
            return t
        if type(t._value) is Traced:
            # The function has detached this. An array becomes the Traced again; a Tensor, on level 0,
            # becomes a constant Tensor, because a result computed from it must be a Tensor too.
            x = t._value
            return x if t.level else new_tensor(_StandIn, x, self.grad_level).detach()
        if id(t) not in self._closed_inputs:
            self._closed_inputs[id(t)] = self._input(t)
            self.closed.append(t)
        return self._closed_inputs[id(t)]

    def _output(self, x):
        """Add `x`, a part of the function's result, to `outputs`; return its position there."""
        if not isinstance(x, (Tensor, np.ndarray, np.generic, float, int, str, type(None))):
            raise TypeError(
                "compile: expected the function to return arrays, Tensors, numbers, strings and "
                f"None, and tuples, lists and dicts of these, got {type(x).__name__}"
            )
        self.outputs.append(self.input_of(x) if isinstance(x, Tensor) else x)
        return len(self.outputs) - 1

    def _backward(self, z):
        """Record a backward pass from output `z`: (g, positions of inputs, their gradients)."""
        # Any number would do: only its shape and dtype reach the program.
        g = self._traced(np.ones(z.shape, z.dtype)[()])
        self.names[g.number] = "g"
        grads = {id(t): gx for t, gx in leaf_gradients(z, g)}
        # `z` need not depend on every input.
        reached = {i: id(t) for i, t in enumerate(self.stand_ins) if id(t) in grads}
        return g, list(reached), tuple([grads[key] for key in reached.values()])

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
        args = [self.input_of(a) if isinstance(a, Tensor) else a for a in args]
        params = mapped(lambda a: to_array(a) if isinstance(a, Tensor) else a, params)
        above = [a for a in args if isinstance(a, Tensor) and a.level > self.level]
        if not above:
            return self.add_line(row, args, params)
        # A `grad` or `jvp` inside the function: its Tensor does what it does without a program.
        top = max(above, key=operator.attrgetter("level"))
        z = top.process(row, args, params)
        z.edges = [(i, self._with_origin(row, rule, i)) for i, rule in z.edges]
        return z

    def add_line(self, row, args, params):
        """Return the Traced of a call of `row`: a new line, or an equal line that exists."""
        if (z := self._inlined(row, args, params)) is not None:
            return z
        if row in PYTHON_ROWS and all(type(value_of(a)) in PYTHON_NUMBERS for a in args):
            # A row computes with NumPy's numbers, as ufuncs do, Python's operators with Python's.
            function = np.power if row is ops.power else UFUNCS.get(row.function, row.function)
            return zero_gradient(function)(*args)
        # A program reads an index or a target at every call. Other keywords, such as an axis, are
        # constants, so they must not depend on an argument.
        if from_arguments := [
            name
            for name, value in params.items()
            if name not in ("index", "target") and [*traced_in(value)]
        ]:
            raise TypeError(
                f"{row.name}: {from_arguments[0]} is computed from the arguments of a function that is being "
                "compiled, but a program has fixed shapes; pass it as an int"
            )
        # A function of the user may return a list or a Python number, which `compute` converts.
        z = (row.compute if is_user_op(row) else row.call_function)(
            list(map(value_of, args)), mapped(value_of, params)
        )
        as_array(z, f"{row.name}: its result")  # raises if it is not made of numbers
        if (factor := _factor_times_one(row, args, z)) is not None:
            return factor
        # Common-subexpression elimination: a line that computes the same is used again.
        inputs, params = mapped(self._copied, args), mapped(self._copied, params)
        # Rows of one function compute the same. repr makes lists and slices hashable.
        key = row.function, repr(mapped(_cse_key, [inputs, params]))
        if key not in self._lines:
            self._lines[key] = node = self._traced(z)
            node.op, node.inputs, node.params = row, inputs, params
            node.reads = [*traced_in([inputs, params])]
            node.root = memory_root(node)
            node.origin = self._caller_of(node) if self._origin is NO_ORIGIN else self._origin
        return self._lines[key]

    def _inlined(self, row, args, params):
        """Return the result that replaces a line calling `row`, or None.

        An entry-by-entry operation reads a small array instead of its broadcast copy. The function
        of a row of the table is called with the Traced, so that its own lines are recorded.
        """
        # A ufunc with a signature, such as matmul, does not work entry by entry.
        ufunc = isinstance(row.function, np.ufunc) and row.function.signature is None
        # A function of the user may write into its own copy of an array, which a number is not.
        # And x ** 0.5 is √x, which differs from the power of arrays at −∞ and −0.
        if row.kind == "elementwise" and not is_user_op(row) and row is not ops.power or ufunc:
            small = list(map(_before_broadcast, args))
            if any(map(operator.is_not, small, args)):
                z = self.process(row, small, params)
                shape = np.broadcast_shapes(*map(np.shape, args))
                return z if z.shape == shape else ops.broadcast_to(z, shape)
        table = type(row.function) is FunctionType and ops.ROWS.get(row.name) is row
        # The lines of logsumexp would not silence the warning that its function silences.
        if not table or row.name in self._inlining or row is ops.logsumexp:
            return None
        self._inlining.add(row.name)  # a row that its own function calls becomes a line
        refused = len(self.refused)
        try:
            return row.function(*args, **params)
        except Exception:  # the function looks at a value, or is called wrongly: one line, then
            del self.refused[refused:]
        finally:
            self._inlining.discard(row.name)

    def _copied(self, x):
        """Return a copy of an array that is not traced: the function may write into it later.

        Arrays of the same content share one copy, so lines that read them are found to be the same.
        """
        if not isinstance(x, np.ndarray):
            return x
        copy = self._copies.setdefault((x.dtype, x.shape, x.tobytes()), copied(x))
        self.originals[id(copy)] = x
        return copy

    # --- Where lines come from, and what the user calls them --------------------------------------

    def _with_origin(self, row, rule, i):
        """Return the rule of argument `i` of `row`, wrapped so that it records the origin of its lines.

        While it runs, `add_line` gives every new line the `_origin` that is set here: this call of
        the rule, the input whose gradient it computes, and the comments. `_gradient_of` remembers
        the input for a later line that adds this gradient to another. A rule may call a `grad` of
        its own, whose rules run inside it; so the origin before the call is restored.
        """
        formula = _formula(rule)
        first_comment = f"{row.name}: {formula}" if formula else f"{row.name}, backward"
        summed = f"{row.name}: what was broadcast is summed"

        def rule_with_origin(g, z, *values, **params):
            call, x, outer_origin = next(self._rule_calls), values[i], self._origin
            try:
                self._origin = Origin(call, x, first_comment, row.name)
                gx = rule(g, z, *values, **params)
                # Undo broadcasting here, where it is known for which rule it is done, so that the
                # tape finds nothing to do. `match_input` reads only these two attributes of a node.
                self._origin = Origin(call, x, summed, summed)
                gx = match_input(gx, SimpleNamespace(op=row, values=values), i)
            finally:
                self._origin = outer_origin
            # The gradient of a value that no argument reaches is a constant, not a line.
            if type(line := to_array(gx)) is Traced:
                self._gradient_of[line.number] = x
            return gx

        return rule_with_origin

    def _caller_of(self, node):
        """Return the Origin of a line that no rule computes, and note the functions that called it.

        That is NO_ORIGIN for a line of the user's functions. Their frames are kept until the call is
        over: then their variables give the names in the program.
        """
        frame, users = sys._getframe(2), []  # the caller of `add_line`; the user's, innermost first
        # A thread that the user started has frames of its own, which end without `_record`.
        while frame is not None and frame.f_code is not Trace._record.__code__:
            if frame.f_code is tape.backward_pass.__code__:
                # No rule runs, so this is its `ledger[key] + gx`: a gradient of the same value.
                values = [self._gradient_of.get(x.number, x.origin.of) for x in node.reads]
                of = next((x for x in values if x is not None), None)
                note = "the gradients of two paths are added"
                return Origin(next(self._rule_calls), of, note, note)
            if frame.f_globals.get("__name__", "").partition(".")[0] != ENGINE:
                users.append(frame)
            frame = frame.f_back
        if not self._frames.keys() >= {*users}:  # a call that no line came from before
            self._frames |= dict.fromkeys(reversed(users))
            for user in reversed(
                users
            ):  # note the names now, because a function may assign to its arguments later
                self._note_names(user)
        return NO_ORIGIN

    def _note_names(self, frame):
        """Note the names that a user's function has for values, also inside lists and Modules."""
        # Of the globals only those that the function names.
        variables = {
            name: x for name, x in frame.f_globals.items() if name in frame.f_code.co_names
        }
        found = list((variables | frame.f_locals).items())
        for name, x in list(found):  # a copy, because `found` grows: parts of parts get no name
            parts = dict(enumerate(x)) if type(x) in (list, tuple) else {}
            if isinstance(x, Module):
                parts = dict(x.named_tensors()) | vars(x)
            found += [(f"{name}_{key}", part) for key, part in parts.items()]
        for name, x in found:
            # From a Tensor of the user, or of a level above, down to the Traced that it holds.
            while isinstance(x, Tensor) and type(x) is not Traced:
                x = self._closed_inputs.get(id(x), x)._value
            if type(x) is Traced:
                self.names.setdefault(x.number, name)
            else:
                self.constant_names.setdefault(id(x), (name, x))


def _before_broadcast(a):
    """Return the value that was broadcast to `a`: an array, the number that fills a constant, or `a`."""
    if type(a) is Traced and a.op is ops.broadcast_to:
        # A Python number has no dtype, but the array of its copies has.
        return a if type(value_of(a.inputs[0])) in PYTHON_NUMBERS else a.inputs[0]
    # A constant of zeros stays: 0 has a sign.
    filled = isinstance(a, np.ndarray) and a.ndim and a.size and a.flat[0] != 0
    return a.flat[0] if filled and (a == a.flat[0]).all() else a


def _factor_times_one(row, args, z):
    """Return x for x * 1, 1 * x, x ** 1 or x.astype(…) that has the shape and dtype of x; else None."""
    pairs = {
        ops.multiply: [args, args[::-1]],
        ops.power: [args],
        ops.astype: [[*args, 1]],
    }.get(row, ())
    factors = (
        x
        for x, one in pairs
        if type(x) is Traced and not isinstance(one, (Tensor, np.ndarray)) and one == 1
        # The product of a Python number and a NumPy number is a NumPy number.
        if type(x._value) not in PYTHON_NUMBERS
        if (x.shape, x.dtype) == (np.shape(z), np.asarray(z).dtype)
    )
    return next(factors, None)


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
    # `rest` contains a normal number that is kept for the next draw, which then leaves `words` alone.
    _, words, *rest = np.random.get_state()
    return words.tobytes(), rest, random.getstate()
