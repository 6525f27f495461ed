"""A call written down: a level is opened, every argument is put on it, and what is recorded there is the program,
forward; the rules of a `grad` inside run on that level too, and so are its lines, backward.
"""

import linecache
import random
import sys
from functools import cache
from operator import is_not
from types import FunctionType

import numpy as np

from .. import ops, tape
from ..rows import Primitive
from ..tape import Tensor, is_recording, leaf_gradients, new_level, traced_in
from ..values import next_number
from .closed import ENGINE, INSTALLED, Walk
from .traced import Traced, mapped

_TAPE = {
    f.__code__
    for f in (tape.input_gradients, tape.unbroadcast, tape.backward_pass, Primitive._push)
}


class _Given(Tensor):
    """What stands for a Tensor from outside: a leaf of a level of backward mode, above the program's."""

    def _refused(self, *_):
        raise TypeError(
            "the .grad of a Tensor is read or set inside a function that is being compiled, which gets "
            "its value only: do that outside"
        )

    grad = property(_refused, _refused)


class Trace:
    """The program of one call of `f`.

    Attributes
    ----------
    inputs, boxes : for each leaf a Traced, and what the function got: this, or a _Given with this value
    outputs, structure : what was returned, and the tuples, lists and dicts it lay in, with its number in its place
    passes : {i: (g, [(the number of an input, what goes there), …])} for each output i that wants a gradient
    names : what Traced are called in the code, by their order
    name : of the function
    """

    def __init__(self, f, args, kwargs, paths):
        self.level, self.above, self.open = new_level(), new_level(), True
        self.inputs, self.boxes, self.outputs, self.names, self._known = [], [], [], {}, {}
        self._inside, self._constants, self._frames, self.refused = set(), {}, {}, []
        self._errors = np.geterr()
        walk = Walk(self._stand_in)
        mine = [walk.walk(x, path)[1] for x, path in zip(args, paths)]
        named = {name: walk.walk(x, name)[1] for name, x in kwargs.items()}
        copied = walk.walk(f, "the function", "closed")[1]
        self.name = next((name for name in walk.functions if name.isidentifier()), "program")
        drawn = _drawn()
        out = copied(*mine, **named)
        if self.refused:
            raise self.refused[
                0
            ]  # the function has caught it, and gone another way than it goes with arrays
        if drawn != _drawn():
            raise TypeError(
                "compile: random numbers are drawn from NumPy's or Python's own generator, and a program "
                "would give those of the first call for ever: draw them outside, and pass them as an "
                "argument"
            )
        if (path := walk.changed()) is not None:
            raise TypeError(
                f"compile: {path} is changed inside the function, and a program would not: return what is "
                "new"
            )
        self.structure, self.passes = mapped(self._output, out), {}
        for i, z in enumerate(self.outputs):
            wanted = (
                isinstance(z, Tensor)
                and z.level == self.above
                and z.requires_grad
                and type(z) is not _Given
            )
            if wanted and is_recording():
                g = self._input(np.ones(z.shape, z.dtype)[()], "g")
                places = {id(box): n for n, box in enumerate(self.boxes)}
                self.passes[i] = (
                    g,
                    [(places[id(t)], gx) for t, gx in leaf_gradients(z, g) if id(t) in places],
                )
        self.open = False
        self._note_names()

    def _input(self, value, path):
        node = tape.new_tensor(Traced, value, self.level)
        node.trace = self
        if path.isidentifier():
            self.names[node.order] = path
        return node

    def _stand_in(self, x, path):
        box = node = self._input(x._value if isinstance(x, Tensor) else x, path)
        if isinstance(x, Tensor):
            box = tape.new_tensor(_Given, node, self.above)
            box._requires_grad, box.was_trainable, box.name = (
                x._requires_grad,
                x.was_trainable,
                x.name,
            )
        self.inputs.append(node)
        self.boxes.append(box)
        return box

    def _output(self, x):
        if not isinstance(x, (Tensor, np.ndarray, np.generic, float, int, str, type(None))):
            raise TypeError(
                f"compile: the function returns a {type(x).__name__}, and what is compiled returns arrays, "
                "Tensors, numbers, strings and None, and tuples, lists and dicts of these"
            )
        self.outputs.append(x)
        return len(self.outputs) - 1

    # --- What tape.py asks ------------------------------------------------------------------------------------

    def expand(self, row, args, params):
        """What stands in place of the one line that calls `row`, or None: the lines of its function, if it is the
        table's and looks at no value; and what is broadcast anyway is not broadcast before."""
        if not self.open:
            raise TypeError(
                f"{row.name}: an array of a function that was compiled was kept beyond its call: return "
                "it instead"
            )
        if row.kind == "elementwise" or isinstance(row.function, np.ufunc):
            narrow = list(map(_narrow, args))
            if any(map(is_not, narrow, args)):
                z, shape = row.record(narrow, params), np.broadcast_shapes(*map(np.shape, args))
                return z if z.shape == shape else ops.broadcast_to(z, shape)
        if (
            type(row.function) is FunctionType
            and row.name not in self._inside
            and ops.ROWS.get(row.name) is row
        ):
            self._inside.add(row.name)
            refused = len(self.refused)
            try:
                return row.function(*args, **params)
            except (
                Exception
            ):  # it looks at a value; or something is wrong, and the one line says what
                del self.refused[refused:]
            finally:
                self._inside.discard(row.name)

    def note(self, node):
        """`node` as a line of the program, or the one that computes the same already."""
        if np.geterr() != self._errors:
            raise TypeError(
                f"{node.op.name}: np.errstate is set inside a function that is being compiled: set it "
                "around the call"
            )
        for name, value in node.params.items():
            if name not in ("index", "target") and [*traced_in(value)]:
                raise TypeError(
                    f"{node.op.name}: {name} is computed here from the arguments of a function that is "
                    "being compiled, and every array of a program has the shape it had: pass it as an int"
                )
        for a, one in (
            (node.inputs, node.inputs[::-1]) if node.op in (ops.multiply, ops.power) else ()
        ):
            if (
                type(a) is Traced
                and not isinstance(one, Tensor)
                and np.ndim(one) == 0
                and one == 1
                and (a.shape, a.dtype) == (node.shape, node.dtype)
                and (node.op is ops.multiply or a is node.inputs[0])
            ):
                return a
        node.inputs, node.params = (
            mapped(self._as_now, node.inputs),
            mapped(self._as_now, node.params),
        )
        key = node.op.function, repr(mapped(_key, [node.inputs, node.params]))
        if key not in self._known:
            self._known[key], node.origin = node, self._origin(node)
            node.reads = [*traced_in([node.inputs, node.params])]
        return self._known[key]

    def _as_now(self, x):
        """An array that is part of the program as it is now, also if the function writes into it later."""
        return (
            self._constants.setdefault((x.dtype, x.shape, x.tobytes()), x.copy())
            if isinstance(x, np.ndarray)
            else x
        )

    def _origin(self, node):
        """Where in the tape a line comes from: (which call, what its gradient is of, what is said beside the call's
        first line, and beside the others); or None. Then functions of the learner's are under way, and their frames
        are kept, with the last line that each has made."""
        frame, summed, frames = sys._getframe(3), False, []
        while (
            frame and frame.f_code is not Trace.__init__.__code__
        ):  # in a thread of the learner's there is none
            code, seen = frame.f_code, frame.f_locals if frame.f_code in _TAPE else {}
            summed |= code is tape.unbroadcast.__code__
            if code is tape.input_gradients.__code__:
                made, i = seen["node"], seen["i"]
                name, formula = made.op.name, _formula(made.op.rule(i))
                said = (
                    (f"{name}: what was broadcast is summed",) * 2
                    if summed
                    else (f"{name}: {formula}" if formula else f"{name}, backward", name)
                )
                return (made.order, i), made.values[i], *said
            if code is Primitive._push.__code__:
                return (seen["z"].order, "push"), None, *[f"{seen['self'].name}, its tangent"] * 2
            if code is tape.backward_pass.__code__:
                return (
                    next_number(),
                    seen["x"]._value,
                    *["two paths meet: what they bring adds up"] * 2,
                )
            if not (
                code.co_filename.startswith(INSTALLED)
                or frame.f_globals.get("__name__", "").partition(".")[0] == ENGINE
            ):
                frames.append(frame)
            frame = frame.f_back
        for frame in frames:
            self._frames.setdefault(frame)
        if frames:
            self._frames[frames[0]] = node

    def _note_names(self):
        """Notes what arrays were called in the learner's functions when these returned."""
        for frame in self._frames:
            for name, x in frame.f_locals.items():
                for i, part in enumerate(x) if type(x) in (list, tuple) else [(None, x)]:
                    while isinstance(part, Tensor) and type(part) is not Traced:
                        part = part._value
                    if type(part) is Traced and name.isidentifier():
                        if (
                            part.op and part.op.function is np.float64
                        ):  # a number, of which a transform made an array
                            self.names.setdefault(part.inputs[0].order, name)
                        self.names.setdefault(part.order, name if i is None else f"{name}_{i}")
        for frame, last in self._frames.items():
            if last is not None and frame.f_code.co_name.isidentifier():
                self.names.setdefault(last.order, frame.f_code.co_name)


def _narrow(a):
    """`a` before it was broadcast, or one number if all its entries are that."""
    if type(a) is Traced and a.op is ops.broadcast_to:
        return a.inputs[0]
    if (
        isinstance(a, np.ndarray)
        and a.ndim
        and a.size
        and a.flat[0] != 0
        and (a == a.flat[0]).all()
    ):  # 0 has a sign
        return a.flat[0]
    return a


@cache
def _formula(rule):
    """The comment beside a rule in the table, or ""."""
    code = getattr(rule, "__code__", None)
    return (
        linecache.getline(code.co_filename, code.co_firstlineno).partition("#")[2].strip()
        if code
        else ""
    )


def _drawn():
    """Where the random numbers that everybody shares have come to."""
    _, words, place, *_ = np.random.get_state()
    return words.tobytes(), place, random.getstate()


def _key(x):
    """What is another for another line, array or number; 0.0 is not −0.0."""
    return type(x), x if isinstance(x, (int, float, np.generic, str, slice)) else id(x)
