"""compile: a function run once and written down as a straight line of NumPy, forward and backward.

This file finds the program of a call, or has one made: record.py runs the function and notes what it does, plan.py
decides what of that is computed and where, writer.py says it as Python, program.py runs it; guards.py says when it is
still the right one.
"""

import warnings
from functools import update_wrapper
from types import MethodType

import numpy as np

from ..tape import Primitive, Tensor, plain, recording
from ..trace import Unseen, writing
from ..transforms import jvp, vjp
from .guards import Watched, flatten, rebuilt, spec, static
from .program import Program
from .record import record

LIMIT = 16          # programs that one function may have


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
    `f` closes over is compared at every call: pass what is large as an argument, or make it read-only. What `f` does
    beside returning, it does when it is traced, twice.
    """
    return Compiled(f)


class Compiled:
    """A function and its programs; see `compile`."""

    def __init__(self, f):
        update_wrapper(self, f)
        self.__name__ = getattr(f, "__name__", getattr(f, "name", type(f).__name__))
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
                return self._within(program, structure, leaves) if inner else program.run(leaves)
            except Exception:                   # tracing says what is wrong, or finds out what has changed
                self.programs[key].remove(program)
        if sum(map(len, self.programs.values())) >= LIMIT:
            warnings.warn(f"{self.__name__} has been compiled {LIMIT} times, and runs uncompiled where it would be "
                          f"once more: {self._difference(key)}", RuntimeWarning, stacklevel=3)
            return self.f(*args, **kwargs)
        try:
            first = record(self.f, structure, values)
            for node in first.nodes:        # the second trace has values too
                node.value = np.broadcast_to(np.zeros((), node.dtype), node.shape)
            watched = Watched([self.f, *static(structure)])     # what f keeps for its next call is there by now
            program = Program(self.__name__, key, record(self.f, structure, values), first, watched)
        except Unseen:
            raise
        except Exception as error:
            self.f(*args, **kwargs)             # says it without traced arrays, if it is f's own
            raise Unseen(f"{self.__name__} cannot be compiled: {error}") from error
        for path, size in watched.large:
            warnings.warn(f"{self.__name__}: every call compares {path}, {size >> 20} MB that it closes over: pass it "
                          f"as an argument, or set {path}.flags.writeable = False", RuntimeWarning, stacklevel=3)
        there = self.programs.setdefault(key, [])
        self.last = next((p for p in there if p.holds()), program)     # another thread may have been faster
        if self.last is program:
            there.insert(0, program)
        return self._within(program, structure, leaves) if inner else program.run(leaves)

    def _within(self, program, structure, leaves):
        """The same inside a transform: a row like any other, whose rules are compiled when they are first asked for."""
        whole = [x for x in (*leaves, *program.tensors) if isinstance(x, Tensor) and not x.level and x.requires_grad]
        if program.structure is not ... or program.outputs[0] is not ... or whole:
            args, kwargs = rebuilt(structure, iter(leaves))
            return self.f(*args, **kwargs)
        if not program.row.function:
            program.row = _as_row(program, self.f, structure, leaves)
        return program.row(*leaves, *program.tensors)   # so that the pass backward sees if one was changed

    def _difference(self, key):
        """What is new in this call, beside the last program."""
        if key in self.programs:
            return "what it closes over, or what an object among its arguments holds, changes from call to call; " \
                "pass the arrays themselves, in a list or dict if they are many"
        old = next(reversed(self.programs))
        for i, (a, b) in enumerate(zip(old[1:-1], key[1:-1])):
            if a != b:
                return f"argument {i} was {_say(a)}, and is {_say(b)}"
        return "an argument that is no array or float, such as an int, and so part of the program, changes: pass a " \
            "float or an array"


def _say(spec):
    if isinstance(spec, type):
        return f"a {spec.__name__}"
    return f"of shape {spec[0]}, {spec[1]}" + ", a Tensor" * (len(spec) > 2)


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
