"""Record one call of a function: every operation becomes a line of a program.

A `Trace` opens a level, puts a `Traced` on it in place of every argument, and calls the
function. As long as the trace is open, the tape passes every call of a row to `Trace.process`:

- If the argument on the highest level is a Traced, the call becomes a line (`add_line`).
- If the argument on the highest level is a Tensor of a `grad` or `jvp` that the function itself
  uses, the tape records the call or pushes tangents as usual. The rules run one level down, on
  Traced, so their calls become lines too.
- If an argument is a Tensor of the user, it becomes an input of the program (`input_of`).

Example: `compile(lambda x: (w * x).sum())` is called with an array. `w * x` is a call of the row
multiply. `w` is a Tensor of the user, so it becomes the second input, and `w * x` becomes a line.
`.sum()` is called on this line, so it becomes the second line:

    def program(x, w):
        t1 = w * x
        t2 = t1.sum()
        return (t2,), (x,)

The first tuple contains the results, the second the values that the backward function reads.
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
from ..values import as_array
from .plan import UFUNCS, depends_on_values, is_user_op, memory_root
from .signature import leaf_signature, with_stand_ins
from .traced import PYTHON_NUMBERS, PYTHON_ROWS, Traced, mapped, value_of

ENGINE = __name__.partition(".")[0]

# Where a line of a backward pass comes from. call: a number, the same for all lines of one call of
# a rule. of: the value whose gradient the call computes, or None. first_comment, comment: what is
# written beside the first of these lines, and beside the others.
Origin = namedtuple("Origin", "call of first_comment comment")
NO_ORIGIN = Origin(None, None, "", "")
# From the code of a function of the engine that computes lines itself to the comment beside these
# lines, and the name of the function's variable whose gradient they compute, or None.
NOTES = {
    tape.backward_pass.__code__: ("the gradients of two paths are added", "x"),
    levels.call_recorded.__code__: ("checkpoint: computed again", None),
}


def _refuse_grad(*_):
    raise TypeError(
        "compile: the .grad of an argument cannot be read or set inside a function that is being "
        "compiled, because the function receives only the value; read and set .grad outside it"
    )


class _StandIn(Tensor):
    """The leaf that a recorded function receives in place of a Tensor.

    Its level is above the level of the program, so that a backward pass can start from the results.
    """

    grad = property(_refuse_grad, _refuse_grad)


class Trace:
    """Record one call of `f` as the lines of a program.

    Parameters
    ----------
    f : callable
        The function, which is called once.
    args, kwargs : tuple, dict
        The arguments of the call.

    Attributes
    ----------
    level, grad_level : int
        The level of the Traced, and the level of the _StandIns, which is higher.
    is_open, is_recording : bool
        True until the call has ended; True if the call is not in a `no_grad` block.
    refused : list of TypeError
        The errors raised because the function tried to read a value that differs in later calls.
        The function may have caught them.
    texts : set of str
        The texts that the function has got for values that differ in later calls.
    name : str
        The name of the outermost function of the user that has a valid name, else "program".
    inputs : list of Traced
        The inputs of the program: the leaves of the arguments, then the Tensors in `closed`.
    stand_ins : list of Tensor
        The object that the function received for each input: a Traced, or a _StandIn that holds it.
    closed : list of Tensor
        The Tensors that the function read although they are not among its arguments.
    signatures : list
        The `leaf_signature` of each Tensor in `closed`.
    outputs : list
        The arrays, Tensors, numbers, strings and None that the function returned.
    structure : object
        The result of the function, with every value replaced by its position in `outputs`.
    backward : dict of int to tuple
        For the position of each output that requires a gradient, the result of `_backward`.
    checks : list of Traced
        The lines of the forward pass that may raise an error in a later call (`depends_on_values`).
        They stay in the program even if no result is computed from them.
    names : dict of int to str
        For the creation number of a Traced, the name of the user's variable that contains it.
    constant_names : dict of int to (str, object)
        For the id of every other value of a user's variable, the name of the variable and the
        value.
    originals : dict of int to ndarray
        For the id of each array that was copied into the program, the user's array.
    """

    def __init__(self, f, args, kwargs):
        self.level, self.grad_level, self.is_open = levels.new_level(), levels.new_level(), True
        self.is_recording = levels.is_recording()
        self.inputs, self.stand_ins, self.closed, self.signatures, self.outputs = [], [], [], [], []
        self.names, self.constant_names, self.originals, self.texts = {}, {}, {}, set()
        # `refused`; the numbers of the calls of rules; the origin of the lines that are added now.
        self.refused, self._rule_calls, self._origin = [], count(), NO_ORIGIN
        # From the id of a Tensor in `closed` to its input, from what a line computes to the line,
        # and from the content of a constant array to its copy.
        self._closed_inputs, self._lines, self._copies = {}, {}, {}
        # The names of the rows whose functions are being recorded, and the frames of the user's
        # functions: the keys of a dictionary, which keeps their order.
        self._inlining, self._frames = set(), {}
        try:
            # In a context of its own, which is gone afterwards, also if the function raises.
            copy_context().run(self._record, f, args, kwargs)
        finally:
            self.is_open = False
        for frame in self._frames:  # for the variables assigned after its first line
            self._note_names(frame)
        # Of the outermost function that has a name, unlike "<lambda>".
        self.name = next(
            filter(str.isidentifier, (frame.f_code.co_name for frame in self._frames)), "program"
        )

    def _record(self, f, args, kwargs):
        """Call `f`, and record a backward pass from each output that requires a gradient.

        Set `outputs`, `structure`, `checks` and `backward`. Inside a `no_grad` block no output
        requires a gradient, so nothing is recorded on `grad_level`. Raise TypeError if `f` does
        something that a program cannot repeat.
        """
        tape.tracer.set(self)
        # The fast calls in rows.py do not look for a trace, but they leave to `record` all Tensors
        # on levels where nothing is recorded. So nothing is recorded on the levels of the user.
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
                "repeat the first draw; pass the random numbers as an argument"
            )
        if containers != mapped(id, [args, kwargs]):
            raise TypeError(
                "compile: the function changes a list or dict in its arguments, but a compiled "
                "program cannot repeat that change; return the new value instead"
            )
        self.structure = mapped(self._output, out, lambda key: mapped(self._constant, key))
        # Only the lines so far: those of the backward passes do not belong to the forward function.
        self.checks = list(filter(depends_on_values, self._lines.values()))
        self.backward = {
            i: self._backward(z)
            for i, z in enumerate(self.outputs)
            if isinstance(z, Tensor) and z.level == self.grad_level and z.requires_grad
            if self.is_recording  # a returned input requires a gradient even under no_grad
        }

    # --- Inputs and outputs ---------------------------------------------------------------------

    def _traced(self, value):
        """Return a new Traced with this value, on the level of the program.

        The new Traced is an input until `add_line` turns it into a line. Its root is the Traced
        itself, because the array of an input belongs to the caller.
        """
        node = new_tensor(Traced, value, self.level)
        node.trace, node.origin, node.root = self, NO_ORIGIN, node
        return node

    def _input(self, x, path=""):
        """Add an input with the value of `x`; return the object that the function receives for `x`.

        `path` is the name of the argument in errors.
        """
        if isinstance(x, Tensor):
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
        """Return the Tensor to use in place of `t` while the function is recorded.

        For a Tensor that the function closes over, return an input of the program, which is added
        when the function uses the Tensor for the first time. Tensors that were made during the
        recording stay as they are, except that a detached Tensor becomes a constant. Raise
        OuterTransform for a Tensor of a transform that was open before the call.
        """
        # Levels that the function opens are above this trace's; its own Traced are on it.
        if t.level > self.level or getattr(t, "trace", None) is self:
            return t
        if type(t._value) is Traced:
            # The function has detached a Tensor of the user. This is a constant, but it is a Tensor,
            # because what is computed from it must be one too.
            return new_tensor(_StandIn, t._value, self.grad_level).detach()
        if id(t) not in self._closed_inputs:
            self.signatures.append(leaf_signature(t))
            self.closed.append(t)
            self._closed_inputs[id(t)] = self._input(t)
        return self._closed_inputs[id(t)]

    def _output(self, x):
        """Append `x`, a part of the function's result, to `outputs`, and return its position there.

        Raise TypeError if a compiled function cannot return an object of this type.
        """
        if not isinstance(x, (Tensor, np.ndarray, np.generic, float, int, str, type(None))):
            raise TypeError(
                "compile: expected the function to return arrays, Tensors, numbers, strings and "
                f"None, and tuples, lists and dicts of these, got {type(x).__name__}"
            )
        # A Tensor from outside may be returned without any call of a row, so it is no input yet.
        self.outputs.append(
            self.input_of(x) if isinstance(x, Tensor) else self._copied(self._constant(x))
        )
        return len(self.outputs) - 1

    def _constant(self, x):
        """Return `x`, a key or a constant in the function's result.

        Raise TypeError if it was computed from an argument. A string was if it contains one of the
        `texts`.
        """
        if (
            isinstance(x, Tensor)
            and x.level
            or isinstance(x, str)
            and any(text in x for text in self.texts)
        ):
            raise TypeError(
                "compile: the function returns a string or the key of a dict that shows an "
                "argument, but a program cannot change it; return the argument itself as a value"
            )
        return x

    def _backward(self, z):
        """Record a backward pass from the output `z`, and return (g, positions, gradients).

        `g` is the Traced for the upstream gradient of `z`. `positions` is a list of the positions
        of the inputs that `z` depends on, and `gradients` is a tuple with the gradient of each of
        them.
        """
        # Any number would do: only its shape and dtype reach the program.
        g = self._traced(np.ones(z.shape, z.dtype)[()])
        self.names[g.number] = "g"
        grads = {id(t): gx for t, gx in leaf_gradients(z, g)}
        # `z` need not depend on every input.
        reached = {i: id(t) for i, t in enumerate(self.stand_ins) if id(t) in grads}
        return g, list(reached), tuple([grads[key] for key in reached.values()])

    # --- Lines ----------------------------------------------------------------------------------

    def process(self, row, args, params):
        """Return the result of calling `row`, recorded as described at the top of this file.

        Raise TypeError if the recorded call has ended: the user has then kept a Traced of the call.
        """
        if not self.is_open:
            raise TypeError(
                f"{row.name}: got an array of an earlier call to a compiled function, which has returned; "
                "return the array from the function instead"
            )
        args = [self.input_of(a) if isinstance(a, Tensor) else a for a in args]
        # A keyword has no gradient, so a Tensor there is replaced by its value on this level.
        params = mapped(lambda a: to_array(a) if isinstance(a, Tensor) else a, params)
        above = [a for a in args if isinstance(a, Tensor) and a.level > self.level]
        if not above:
            return self.add_line(row, args, params)
        # A _StandIn, or a Tensor of a `grad` or `jvp` inside the function: it records or pushes as
        # it does without a program. Its value is computed one level down, and becomes a line.
        top = max(above, key=operator.attrgetter("level"))
        z = top.process(row, args, params)
        z.edges = [(i, self._with_origin(row, rule, i)) for i, rule in z.edges]
        return z

    def add_line(self, row, args, params):
        """Return the result of calling `row`: a new line, or an existing line of equal value.

        A call that needs no line of its own returns the result of a simpler call. Raise TypeError
        if a keyword other than an index or a target depends on the arguments of the function.
        """
        if (z := self._inlined(row, args, params)) is not None:
            return z
        if row in PYTHON_ROWS and all(type(value_of(a)) in PYTHON_NUMBERS for a in args):
            # add(2.0, 3.0) is a NumPy number, unlike 2.0 + 3.0 (see PYTHON_ROWS), so call np.add.
            # (UFUNCS lacks np.power, because a program writes ** for arrays.) A line needs no
            # rules, because the tape has recorded this call one level up.
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
                f"{row.name}: {from_arguments[0]} is computed from an array argument of a function "
                "that is being compiled, but it must have the same value at every call; pass "
                "it as an int or a tuple of ints"
            )
        # A function of the user may return a list or a Python number, which `compute` converts. A
        # row of PYTHON_ROWS returns a Python number, which must stay one.
        z = (row.compute if is_user_op(row) else row.call_function)(
            list(map(value_of, args)), mapped(value_of, params)
        )
        as_array(z, f"{row.name}: its result")  # raises if it is not made of numbers
        if (factor := _factor_times_one(row, args, z)) is not None:
            return factor
        # Common-subexpression elimination: a line that computes the same is used again. A function
        # of the user may be random, so each of its calls is a line.
        inputs, params = mapped(self._copied, args), mapped(self._copied, params)
        # Rows of one function compute the same. repr makes lists and slices hashable.
        number_of_call = len(self._lines) if is_user_op(row) else 0
        key = row.function, repr(mapped(_cse_key, [inputs, params])), number_of_call
        if key not in self._lines:
            self._lines[key] = node = self._traced(z)
            node.op, node.inputs, node.params = row, inputs, params
            node.reads = [*traced_in([inputs, params])]
            node.root = memory_root(node)
            node.origin = self._caller_of(node) if self._origin is NO_ORIGIN else self._origin
        return self._lines[key]

    def _inlined(self, row, args, params):
        """Return a result that replaces the line that would call `row`, or None.

        An elementwise operation is applied to small arrays before they are broadcast, instead of to
        the broadcast copies. If the function of a row of the table is written in Python, it is
        called with the Traced, so that each operation in the function becomes a line.
        """
        # A ufunc with a signature, such as matmul, does not work entry by entry.
        ufunc = isinstance(row.function, np.ufunc) and row.function.signature is None
        # A function of the user may need an array of this shape, for example to write into it. And
        # x ** [0.5, 0.5] must not become x ** 0.5, which is √x in NumPy: it differs at −∞ and −0.
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
            del self.refused[refused:]  # as one line it runs on arrays, and may look at them
        finally:
            self._inlining.discard(row.name)

    def _copied(self, x):
        """Return a copy of the constant array `x`; return anything else unchanged.

        The copy is necessary because the function may write into `x` later. Arrays of the same
        content share one copy, so that lines which read them are recognised as equal.
        """
        if not isinstance(x, np.ndarray):
            return x
        # np.array, because x[np.array(0)] is a copy, and x[np.int64(0)] a view.
        copy = self._copies.setdefault((x.dtype, x.shape, x.tobytes()), np.array(x))
        self.originals[id(copy)] = x
        return copy

    # --- Where lines come from, and what the user calls them --------------------------------------

    def _with_origin(self, row, rule, i):
        """Wrap `rule`, the rule of argument `i` of `row`, to set the Origin of the lines it adds.

        While the wrapped rule runs, `add_line` gives each new line the `_origin` that the wrapper
        sets: the call of the rule, the input whose gradient the rule computes, and the comments. A
        rule may itself call `grad`, whose rules then run inside it, so the previous `_origin` is
        restored at the end.
        """
        first_comment = f"{row.name}: {_formula(rule) or 'backward'}"
        summed = f"{row.name}: what was broadcast is summed"

        def rule_with_origin(g, z, *values, **params):
            call, outer_origin = next(self._rule_calls), self._origin
            try:
                self._origin = Origin(call, values[i], first_comment, row.name)
                gx = rule(g, z, *values, **params)
                # Undo broadcasting here, where it is known for which rule it is done, so that the
                # tape finds nothing to do. `match_input` reads only these two attributes of a node.
                self._origin = Origin(call, values[i], summed, summed)
                return match_input(gx, SimpleNamespace(op=row, values=values), i)
            finally:
                self._origin = outer_origin

        return rule_with_origin

    def _caller_of(self, node):
        """Return the Origin of the line `node`, which no rule wrapped by `_with_origin` computes.

        This is NO_ORIGIN if functions of the user compute the line. The frames of these functions
        are then kept until the call ends, because the program uses the names of their variables.
        Other lines are computed by the backward pass: it adds two gradients of one Tensor, or
        repeats the calls of a checkpoint. The Origin describes which.
        """
        frame, users = sys._getframe(2), []  # the caller of `add_line`; the user's, innermost first
        # A thread that the user started has frames of its own, which end without `_record`. And a
        # row that was called on constants only was recorded by its fast call, so its rule is not
        # wrapped: stop there, because backward_pass, further out, calls a rule and does not add.
        while frame is not None and frame.f_code not in (
            Trace._record.__code__,
            tape.input_gradients.__code__,
        ):
            if frame.f_code in NOTES:
                note, variable = NOTES[frame.f_code]
                return Origin(
                    call=next(self._rule_calls),
                    of=getattr(frame.f_locals.get(variable), "_value", None),
                    first_comment=note,
                    comment=note,
                )
            if frame.f_globals.get("__name__", "").partition(".")[0] != ENGINE:
                users.append(frame)
            frame = frame.f_back
        if not self._frames.keys() >= {*users}:  # a call that no line came from before
            self._frames |= dict.fromkeys(reversed(users))
            # Note the names now, because a function may assign to its arguments later. The outermost
            # function first, because the first name of a value counts.
            for user in reversed(users):
                self._note_names(user)
        return NO_ORIGIN

    def _note_names(self, frame):
        """Store the names of the variables in `frame`, which belongs to a function of the user.

        Entries of lists and tuples, and attributes of Modules, also get names, such as `layers_0`.
        """
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
            else:  # with x itself, so that no later object gets its id
                self.constant_names.setdefault(id(x), (name, x))


def _before_broadcast(a):
    """Return the smaller value that was broadcast to `a`, or `a` itself if there is none.

    If `a` is a constant array filled with a single number, return this number.
    """
    if type(a) is Traced and a.op is ops.broadcast_to:
        # A Python number has no dtype, but the array of its copies has.
        return a if type(value_of(a.inputs[0])) in PYTHON_NUMBERS else a.inputs[0]
    # A constant of zeros stays, because 0.0 == -0.0 would hide that their signs differ.
    filled = isinstance(a, np.ndarray) and a.ndim and a.size and a.flat[0] != 0
    return a.flat[0] if filled and (a == a.flat[0]).all() else a


def _factor_times_one(row, args, z):
    """Return x if the call of `row` computes x * 1, 1 * x, x ** 1 or x.astype(…), else None.

    `args` are the arguments of the call and `z` is its result. The function also returns None if
    `z` differs from x in shape or dtype.
    """
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
    """Return a key whose repr is the same only for the same line, the same array or equal numbers.

    The numbers must also have the same type, and 0.0 differs from -0.0.
    """
    return type(x), x if isinstance(x, (int, float, np.generic, str, slice)) else id(x)


@cache
def _formula(rule):
    """Return the comment in the first line of `rule`, or "" if there is none.

    In ops.py this comment is the formula of the rule.
    """
    code = getattr(rule, "__code__", None)
    line = linecache.getline(code.co_filename, code.co_firstlineno) if code else ""
    return line.partition("#")[2].strip()


def _rng_states():
    """Return the states of the global random generators of NumPy and Python, to compare them."""
    # legacy=False works for every bit generator. Bytes, because == of arrays is not one bool.
    return mapped(
        lambda x: x.tobytes() if isinstance(x, np.ndarray) else x,
        [np.random.get_state(legacy=False), random.getstate()],
    )
