"""compile: a function run once and written down as a straight line of NumPy, forward and backward.

The parts of this file: *call*, which finds the program of these arguments, or has one made; *trace*, which runs the
function on arrays that write down what is done with them (trace.py), and notes what it closes over; *run*, which has
the trace planned (plan.py) and written as source (writer.py), and gives its results back as the function would.
"""

import sys
import warnings
from functools import partial, update_wrapper
from types import MethodType

import numpy as np

from . import tape
from .guards import PLAIN, Watched, flatten, ours, rebuilt, spec, static, taking
from .plan import arguments, join, needed
from .tape import Primitive, Tensor, boxed, collect, plain, recording, result, written_down
from .trace import Trace, Traced, Unseen, equal, writing
from .transforms import jvp, vjp
from .writer import Writer

LIMIT = 16          # programs that one function may have
# Functions that are called so because they are a transform, a module's, or nothing in particular.
_NAMELESS = {"run", "forward", "__call__", "<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>"}

# --- Call -------------------------------------------------------------------------------------------------


def compile(f):
    """`f` as a straight line of NumPy: traced when it is called first, written down, and from then on run as written.

    Parameters
    ----------
    f : function of arrays, Tensors, numbers, and lists, tuples and dicts of them, that returns such again. It may be
        `grad(…)`, `value_and_grad(…)`, `hessian(…)` or any other transform of a function, and may use Tensors it
        closes over, such as a model's parameters, which are read at every call. Arrays and floats are arguments of
        the program. Other values, an int as much as a string or a model, are part of it: another value is another
        program.

    Returns
    -------
    function of the same arguments, with `source`, the program of the last call as text. Arrays it returns are the
        caller's. A Tensor it returns takes `.backward()`, which is compiled too; and it can be differentiated as `f`
        can.

    Raises
    ------
    TypeError
        When called: if a program could not do for other values what it does for these: an `if`, `while`, `float()`,
        `int()` or place in a list that depends on an argument, random or counted numbers made inside `f`, a value
        assigned in place, an error caught that other values do not raise, a thing that each call changes.

    Another shape, dtype or structure of the arguments, and a number, array, list or function that `f` closes over and
    that is another now, make another program, up to 16; after them `f` runs uncompiled, with a warning. An array that
    `f` closes over is compared at every call: pass what is large as an argument. What `f` does beside returning, it
    does when it is traced, twice.
    """
    return Compiled(f)


class Compiled:
    """A function and its programs; see `compile`."""

    def __init__(self, f):
        update_wrapper(self, f)
        self.__name__ = getattr(f, "__name__", type(f).__name__)
        self.f, self.programs, self.last = f, {}, None

    @property
    def source(self):
        """The program of the last call as Python text. It runs when it is pasted into a cell."""
        if self.last is None:
            raise RuntimeError(f"{self.__name__}: a program is written at the first call, for the shapes it is called "
                               "with")
        return self.last.source

    def __get__(self, instance, owner=None):
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self):       # copied and pickled without programs, which read the Tensors of the original
        return compile, (self.f,)

    def __call__(self, *args, **kwargs):
        last = self.last
        if last and not writing.get() and last.recorded is recording() and (leaves := last.taken(args, kwargs)) \
                and last.holds():
            try:
                return last.run(leaves)
            except Exception:
                pass
        return self._call(args, kwargs)

    def _call(self, args, kwargs):
        """A call that is not like the last."""
        if writing.get():                       # part of another program, which is being written
            return self.f(*args, **kwargs)
        leaves = []
        structure = flatten((args, kwargs), leaves)
        inner = any([isinstance(x, Tensor) and x.level for x in leaves])
        values = [plain(x) if inner else x for x in leaves]
        key = structure, *map(spec, values), recording()
        program = next((p for p in self.programs.get(key, ()) if p.holds()), None)
        if program:
            self.last = program
            try:
                return program.within(self.f, structure, leaves) if inner else program.run(leaves)
            except Exception:                   # tracing says what is wrong, or finds out what has changed
                self.programs[key].remove(program)
        if sum(map(len, self.programs.values())) >= LIMIT:
            warnings.warn(f"{self.__name__} has been compiled {LIMIT} times, and runs uncompiled where it would be "
                          f"once more: {self._difference(key)}", RuntimeWarning, stacklevel=3)
            return self.f(*args, **kwargs)
        try:
            first = _trace(self.f, structure, values)
            watched = Watched([self.f, *static(structure)])     # what f keeps for its next call is there by now
            program = Program(self.__name__, key, _trace(self.f, structure, values), first, watched)
        except Unseen:
            raise
        except Exception as error:
            self.f(*args, **kwargs)             # says it without traced arrays, if it is f's own
            raise Unseen(f"{self.__name__} cannot be compiled: {error}") from error
        self.programs.setdefault(key, []).insert(0, program)
        self.last = program
        return program.within(self.f, structure, leaves) if inner else program.run(leaves)

    def _difference(self, key):
        """What is new in this call, beside the last program."""
        if key in self.programs:
            return "what it closes over changes from call to call; pass it as an argument"
        old = next(reversed(self.programs))
        for i, (a, b) in enumerate(zip(old[1:-1], key[1:-1])):
            if a != b:
                return f"argument {i} was {_say(a)}, and is {_say(b)}"
        return "an argument that is no array or float, such as an int, and so part of the program, changes: pass an " \
            "array"


def _say(spec):
    if isinstance(spec, type):
        return f"a {spec.__name__}"
    return f"of shape {spec[0]}, {spec[1]}" + ", a Tensor" * (len(spec) > 2)


# --- Trace ------------------------------------------------------------------------------------------------


_TAPE = {tape.sent.__code__: "back", tape.unbroadcast.__code__: "fit", tape.backward_pass.__code__: "sum",
         Primitive._run.__code__: "run", Primitive._push.__code__: "push"}


class _Argument(Tensor):
    """What stands for a Tensor that is an argument."""

    def _refused(self, *_):
        raise Unseen("the .grad of a Tensor that is an argument is read or set inside a function that is compiled, "
                     "which gets the value only: pass t.grad as an argument of its own")

    grad = property(_refused, _refused)


def _held(frame):
    """The id of a call, which is kept so that no other gets it."""
    writing.get().kept.append(frame)
    return id(frame)


def _origin():
    """Which row, and which of its rules, is being computed: (kind, row, argument, what its gradient is of, the node)
    or None."""
    frame, found = sys._getframe(3), None
    while frame and frame.f_code is not _trace.__code__:
        kind, seen = _TAPE.get(frame.f_code), frame.f_locals
        if kind == "back":
            return found or kind, seen["node"].op, seen["i"], seen["node"].values[seen["i"]], id(seen["node"])
        if kind == "push":
            return kind, seen["self"], None, None, _held(frame)
        if kind == "sum":
            return kind, None, None, seen["x"]._data, _held(frame)
        if kind == "fit":
            found = kind
        if kind == "run" and not isinstance(found, tuple):
            found = found or (kind, seen["self"], None, None, _held(frame))
        frame = frame.f_back
    return found if isinstance(found, tuple) else None


def _trace(f, structure, leaves):
    """The Trace of one call. It also says of what it returned the `structure` and the `leaves`, and of each Tensor
    among them what arrives there and what it sends to which Tensor (`pulls`); what arrays are called in the code
    (`names`); and how many arguments were `given`."""
    trace = Trace(_origin)
    trace.names, trace.pulls, trace.given, trace.calls = {}, {}, len(leaves), []
    outside = sys.gettrace()
    with written_down(trace):
        boxes = [boxed(trace.input(x._data), x, _Argument) if isinstance(x, Tensor) else trace.input(x) for x in leaves]
        args, kwargs = rebuilt(structure, iter(boxes))
        sys.settrace(partial(_name, trace))
        try:
            out = f(*args, **kwargs)
        finally:
            sys.settrace(outside)
        if trace.refused:
            raise trace.refused[0]      # f has caught it, and gone another way than it goes with arrays
        if trace.caught:
            raise Unseen(f"an error is caught here that other values may not raise: {trace.caught}; choose with "
                         "where(…), or keep this part out of what is compiled") from trace.caught
        trace.leaves = []
        trace.structure = flatten(out, trace.leaves)
        for i, z in enumerate(trace.leaves):
            if isinstance(z, Tensor) and z.requires_grad and z.op and z.order > trace.start:
                g = trace.input(np.ones(z.shape, z.dtype)[()], "g")
                trace.pulls[i] = g, collect(z, g)
    trace.places = {id(box): i for i, box in enumerate(boxes)} | {id(box): t for t, box in trace.stands_for.items()}
    trace.pulls = {i: (g, [(trace.places[id(t)], gx) for t, gx in arrived if id(t) in trace.places])
                   for i, (g, arrived) in trace.pulls.items()}
    return trace


def _name(trace, frame, event, argument):
    """Notes what arrays are called in the learner's functions, line by line."""
    if ours(frame.f_globals.get("__name__", "")):
        return None
    values = dict(frame.f_locals)
    if event == "return" and frame.f_code.co_name not in _NAMELESS:
        values.setdefault(frame.f_code.co_name, argument)       # after the other names
    if event == "call":
        trace.calls.append(frame.f_code.co_name)
    inside = {f"{name}_{i}": x for name, several in values.items() if type(several) in (list, tuple)
              for i, x in enumerate(several)}
    for name, x in (values | inside).items():
        while isinstance(x, Tensor):
            x = trace.stands_for.get(x, x)._data
        if type(x) is Traced:
            trace.names.setdefault(x, name)
    return partial(_name, trace)


# --- Run --------------------------------------------------------------------------------------------------


class Program:
    """What was traced, as Python source and as functions: forward, and backward for every Tensor that is returned.

    Parameters
    ----------
    name : of the function that was traced
    key : the structure of the arguments, what each array has to have, and whether Tensors are recorded
    trace, again : of two calls with the same arguments, which must have done the same
    watched : what the function closes over, which the calls must have left as it was
    """

    def __init__(self, name, key, trace, again, watched):
        _compare(name, trace, again)
        if (changed := watched.changed()) is not None:
            raise Unseen(f"{name}: each call changes {changed}, which is random or counted or kept from call to call, "
                         "and a program would not: pass it as an argument, and return what is new")
        for path, t in watched.tensors:
            if t in trace.stands_for:
                trace.names.setdefault(trace.stands_for[t]._data, path)
        self.tensors, self.structure, self.recorded = list(trace.stands_for), trace.structure, key[-1]
        self.taken, self.holds = taking(key[0], key[1:-1]), watched.holding(self.tensors)
        outputs = [_bottom(z, trace) for z in trace.leaves]
        results = [x for x in outputs if isinstance(x, Traced)]
        checks = [trace.nodes[n] for n in trace.checks]
        inputs = [*trace.inputs[:trace.given], *[box._data for box in trace.stands_for.values()]]
        passes = {i: (g, [gx for _, gx in arrived]) for i, (g, arrived) in trace.pulls.items()}
        join(trace, [*results, *checks, *[gx for _, grads in passes.values() for gx in grads]])
        made = needed(results + checks)
        read = {x.order for _, grads in passes.values() for x in grads if isinstance(x, Traced)}
        for _, grads in passes.values():
            read |= {x.order for n in needed(grads) - made for x in arguments(trace.nodes[n])}
        saved = [trace.nodes[n] for n in sorted(read & (made | {x.order for x in inputs}))]
        names = [n for n in (name, *trace.calls[:1]) if n.isidentifier() and n not in _NAMELESS]
        writer = Writer(trace, names[0] if names else "program")
        self.direct = not any(isinstance(z, Tensor) for z in trace.leaves) and trace.given == len(inputs)
        writer.function("", inputs, outputs if self.direct else results, saved if passes else None, set(),
                        trace.structure if self.direct else None)
        for i, (g, grads) in passes.items():
            writer.function(f"_backward{i or ''}", [g, *saved], grads, None, made)
        self.source, (self.forward, *backward) = writer.done()
        self.constants = writer.constants
        self.row = Primitive("primitive", None, name=name)
        self.passes = {i: (run, [t for t, _ in trace.pulls[i][1]]) for i, run in zip(passes, backward)}
        self.outputs = [... if isinstance(x, Traced) else x for x in outputs]
        self.wrapped = [isinstance(z, Tensor) for z in trace.leaves]
        for done in (trace, again):
            vars(done).clear()          # the values of the run, and the calls that are kept, go now

    def run(self, leaves):
        """What the function returns for the arguments `leaves`, none of which is inside a transform."""
        if self.direct:
            return self.forward(*leaves)
        found = self.forward(*[x._data if isinstance(x, Tensor) else x for x in (*leaves, *self.tensors)])
        values, outputs = iter(found), []
        for i, z in enumerate(self.outputs):
            if z is ...:
                z = next(values)
                if i in self.passes:
                    run, places = self.passes[i]
                    z = result(z, self.row, [leaves[t] if isinstance(t, int) else t for t in places],
                               [x for x in (*leaves, *self.tensors) if isinstance(x, Tensor)], _Pull(run, found[-1]),
                               partial(self.again, i, leaves))
                elif self.wrapped[i]:
                    z = Tensor(z)
            elif isinstance(z, _Given):
                z = leaves[z.place]
            outputs.append(z.copy() if self.outputs[i] is not ... and isinstance(z, np.ndarray) else z)
        return rebuilt(self.structure, iter(outputs))

    def again(self, i, leaves, inputs):
        """Result `i` once more, of the Tensors `inputs` that `run` gave it: a checkpoint asks for that."""
        tensors, found = iter(inputs[len(self.passes[i][1]):]), []
        flatten(self.run([next(tensors) if isinstance(x, Tensor) else x for x in leaves]), found)
        return found[i]

    def within(self, f, structure, leaves):
        """The same inside a transform: a row like any other, whose rules are compiled when they are first asked for."""
        whole = [x for x in (*leaves, *self.tensors) if isinstance(x, Tensor) and not x.level and x.requires_grad]
        if self.structure is not ... or self.outputs[0] is not ... or whole:
            args, kwargs = rebuilt(structure, iter(leaves))
            return f(*args, **kwargs)
        if not self.row.function:
            self.row = _as_row(self, f, structure, leaves)
        return self.row(*leaves, *self.tensors)     # so that the pass backward sees if one was changed


class _Given:
    """Stands among the results for an argument that is returned as it came, a Tensor."""

    def __init__(self, place):
        self.place = place

    def __eq__(self, other):
        return isinstance(other, _Given) and self.place == other.place


class _Pull:
    """The compiled backward pass of one call: run once, whichever of the inputs asks first."""

    def __init__(self, run, saved):
        self.run, self.saved, self.g, self.left = run, saved, None, ()

    def __call__(self, i, g, *_):
        if self.g is not g:
            self.g, self.left = g, list(self.run(g, *self.saved))
        gx, self.left[i] = self.left[i], None
        if all([x is None for x in self.left]):
            self.g = None
        return gx


def _as_row(program, f, structure, leaves):
    """`f` as a row of its array arguments and the Tensors it reads: the program, and for each argument a rule and a
    push, compiled."""
    n = len(leaves)

    def flat(*xs):
        args, kwargs = rebuilt(structure, iter(xs))
        return f(*args, **kwargs)

    def rule(i):
        def pull(g, *xs):
            return vjp(lambda x: flat(*xs[:i], x, *xs[i + 1:]), xs[i])[1](g)[0]
        compiled = compile(pull)

        def checked(g, z, *xs):
            if not program.holds():
                raise RuntimeError(f"{program.row.name}: what it closes over was changed after it was called, so its "
                                   "gradient can no longer be computed; call it again")
            return compiled(g, *xs[:n])
        return checked

    def push(i):
        compiled = compile(lambda t, *xs: jvp(lambda x: flat(*xs[:i], x, *xs[i + 1:]), (xs[i],), (t,))[1])
        return lambda t, z, *xs: compiled(t, *xs[:n])

    floats = [plain(x).dtype.kind == "f" for x in leaves] + [False] * len(program.tensors)
    return Primitive("primitive", lambda *xs: plain(program.run(xs[:n])), name=program.row.name,
                     rules=[rule(i) if wanted else None for i, wanted in enumerate(floats)],
                     pushes=[push(i) if wanted else None for i, wanted in enumerate(floats)])


def _bottom(z, trace):
    """What an output is in the trace: a node, or a value that does not depend on the arguments."""
    if not isinstance(z, Tensor):
        return z
    place = trace.places.get(id(z), z)
    return _Given(place) if isinstance(place, int) else z if z.order <= trace.start else z._data


def _compare(name, trace, again):
    """Two traces of the same call must be the same program."""
    for node, other in zip(trace.nodes, again.nodes):
        if node.function != other.function or not _alike([node.args, node.keywords], [other.args, other.keywords]):
            what = getattr(node.function, "__name__", node.function)
            raise Unseen(f"{name}: two calls with the same arguments did not do the same, at {what}: random or counted "
                         "numbers made inside a function that is compiled would stay those of the first call; pass "
                         "them as an argument")
    odd = [type(x).__name__ for x in static(trace.structure) if not isinstance(x, PLAIN)]
    if odd and trace.structure != again.structure:
        raise Unseen(f"{name} returns a new {odd[0]} at every call, and what is compiled returns arrays, Tensors, "
                     "numbers, and lists, tuples and dicts of them")
    outputs = [[_bottom(z, t) for z in t.leaves] for t in (trace, again)]
    if len(trace.nodes) != len(again.nodes) or trace.structure != again.structure or not _alike(*outputs):
        raise Unseen(f"{name}: two calls with the same arguments did not do the same; what changes from call to call "
                     "is passed as an argument")


def _alike(a, b):
    if isinstance(a, Traced):
        return isinstance(b, Traced) and a.order == b.order
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(_alike, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_alike(a[k], b[k]) for k in a)
    if isinstance(a, slice):
        return isinstance(b, slice) and _alike((a.start, a.stop, a.step), (b.start, b.stop, b.step))
    return a is b or equal(a, b) or isinstance(a, _Given) and a == b or isinstance(a, np.dtype) and a == b
