"""`compile`: a function traced once, and from then on run as straight lines of NumPy."""

import sys
from functools import update_wrapper
from types import FunctionType, MethodType

from ..tape import Primitive, Tensor, Traced, plain, recording, result
from .closed import Compiled, Walk, spec, taken
from .plan import join, needed
from .trace import Trace
from .writer import Writer

_MOST = 16


class compile(Compiled):
    """`f` as a program of NumPy calls, written at the first call and run at those like it: the same numbers, sooner.

    `f` takes arrays, Tensors, numbers, strings, None, Modules, and tuples, lists and dicts of exactly these, and
    returns arrays, Tensors or numbers in such structures. Tensors, arrays and Modules that it closes over are read at
    every call, and so are the floats among the arguments. Other numbers, strings and functions are compared at every
    call, as are the shapes and dtypes of arrays: where one is another, a new program is written, at most 16. Large
    sums of products may round otherwise. A result has a gradient where a Tensor that wants one took part. Inside a
    `grad`, `vjp` or `jvp` that is open `f` itself runs; `compile(value_and_grad(f))` compiles the derivative too.

    `source` is the newest program. Not seen, and so as it was at the first call: what `f` reads in other ways, such
    as the clock, a file, an attribute of a class, a name made of text; and the numbers of a random generator made
    inside.

    Raises
    ------
    TypeError
        When called: if an argument, or what `f` closes over, is of another type; if `f` looks at a value (`if`,
        `float()`), sets what is not its own, writes into an array or draws random numbers. It names the thing and the
        way out.
    """

    def __init__(self, f):
        if not callable(f):
            raise TypeError(f"compile: a function is needed, not {f!r}")
        self.f, self.programs, self._last, self._source = f, {}, None, None
        self.__name__ = self.__qualname__ = "program"
        update_wrapper(self, f, updated=())

    def __get__(self, instance, owner):
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self):
        there = getattr(sys.modules.get(self.__module__), self.__qualname__, None)
        return self.__qualname__ if there is self else (compile, (self.f,))

    @property
    def source(self):
        if self._source is None:
            raise RuntimeError("compile: there is no program before the first call")
        return self._source

    def __call__(self, *args, **kwargs):
        last, leaves = self._last, []
        if last is None or kwargs or not last.fits(args, leaves):
            last, leaves = self._find(args, kwargs)
            if last is None:
                return self.f(*args, **kwargs)
        try:
            return last.program.run(leaves)
        except Exception:       # what is wrong f says in its own words
            return self.f(*args, **kwargs)

    def _find(self, args, kwargs):
        """The program for such a call, written if there is none, and its inputs; None inside a transform that is
        open."""
        names = self.f.__code__.co_varnames[:self.f.__code__.co_argcount] if type(self.f) is FunctionType else ()
        paths = [*names, *[f"argument {i}" for i in range(len(names), len(args))]]
        walk = Walk()
        forms = [walk.walk(x, path)[0] for x, path in zip(args, paths)]
        forms += [(name, walk.walk(x, name)[0]) for name, x in kwargs.items()]
        given = len(walk.leaves)
        walk.places, walk.parts = [], []        # arguments are gone through at every call
        closed = walk.walk(self.f, self.__name__, "closed")[0]
        if walk.nested:
            return None, None
        specs = [spec(x) for x in walk.leaves]
        key = tuple(forms), closed, tuple(specs), recording()
        if key not in self.programs:
            if len(self.programs) == _MOST:
                raise TypeError(f"compile: {self.__name__} has {_MOST} programs already, and this call needs one "
                                "more: a shape, "
                                "a dtype, or a number, string or function that is a part of the program changes from "
                                "call to "
                                "call; pass a float or an array for it")
            self.programs[key] = Program(self.f, args, kwargs, paths)
        leaves = walk.leaves
        vars(walk).update(leaves=None, _seen=None, _made=None)      # the arguments of this call are nobody's
        self._last = _Bound(self.programs[key], walk, leaves[given:], specs, (tuple, *forms))
        self._source = self.programs[key].source
        return self._last, leaves


class _Bound:
    """A program, and what `f` closes over, as found: while that is the same, it need not be gone through again."""

    def __init__(self, program, walk, closed, specs, form):
        self.program, self.same, self.closed, self.specs, self.form = program, walk.same, closed, specs, form
        self.recorded = recording()

    def fits(self, args, leaves):
        """Whether it is the program of such a call; then `leaves` are its inputs."""
        if taken(args, leaves) != self.form or not self.same():
            return False
        leaves += self.closed
        return [spec(x) for x in leaves] == self.specs and self.recorded == recording()


class Program:
    """What was traced, as Python source and as functions: forward, and backward for every Tensor that is returned."""

    def __init__(self, f, args, kwargs, paths):
        trace = Trace(f, args, kwargs, paths)
        self.tensors, self.structure = trace.tensors, trace.structure
        self.outputs = [(trace.place(z), isinstance(z, Tensor) and type(z) is not Traced) for z in trace.outputs]
        results = [plain(z) if isinstance(z, Tensor) else z for z, (place, _) in zip(trace.outputs, self.outputs)
                   if place is None]
        sent = {i: [gx for _, gx in arrived] for i, (_, arrived) in trace.passes.items()}
        back = [gx for grads in sent.values() for gx in grads]
        join([*results, *back])
        made = {x.order for x in [*needed(results), *trace.inputs]}
        read = {x.order: x for x in [*back, *[x for node in needed(back, made) for x in node.reads]]
                if isinstance(x, Traced)}
        saved = [read[order] for order in sorted(read.keys() & made)]
        writer = Writer(trace.names, trace.name)
        self.direct, self.single = not any(tensor for _, tensor in self.outputs), len(results) == 1
        flat = ... if self.single else (tuple, *[...] * len(results))
        writer.function("", trace.inputs, results, *(trace.structure, None) if self.direct else (flat, saved))
        for i, grads in sent.items():
            writer.function(f"_backward{i or ''}", [trace.passes[i][0], *saved], grads, (tuple, *[...] * len(grads)), None, made)
        self.source, functions = writer.done()
        self.forward = functions[writer.name]
        self.passes = {i: (functions[f"{writer.name}_backward{i or ''}"], [place for place, _ in trace.passes[i][1]])
                       for i in sent}
        self.rows = {i: self._row(i, trace.name) for i in sent}

    def _row(self, i, name):
        """Result `i` as a row of the inputs: for a checkpoint, which keeps nothing and asks again."""
        backward, places = self.passes[i]
        at = sum(place is None for place, _ in self.outputs[:i])
        return Primitive("primitive", lambda *xs: (self.forward(*xs)[0],)[at] if self.single else self.forward(*xs)[0][at],
                         name=name, each=lambda k: lambda g, z, *xs: backward(g, *self.forward(*xs)[1])[places.index(k)])

    def run(self, leaves):
        """What the function returns for these inputs."""
        values = [x._data if type(x) is Tensor else x for x in leaves] if self.tensors else leaves
        if self.direct:
            return self.forward(*values)
        found, saved = self.forward(*values)
        found, outputs = iter((found,) if self.single else found), []
        for i, (place, tensor) in enumerate(self.outputs):
            z = next(found) if place is None else leaves[place]
            if i in self.passes:
                z = result(z, self.rows[i], leaves, values, self.passes[i][1], _pull(*self.passes[i], saved))
            outputs.append(Tensor(z) if tensor and not isinstance(z, Tensor) else z)
        return _structured(self.structure, iter(outputs))


def _pull(backward, places, saved):
    """The way back of one call: it is run once, whichever of the inputs asks first."""
    left = {}

    def pull(i, g, *_):
        if left.get("g") is not g:
            left.clear()
            left.update(zip(places, backward(g, *saved)), g=g)
        gx = left.pop(i)
        if len(left) == 1:
            left.clear()
        return gx
    return pull


def _structured(structure, outputs):
    if structure is ...:
        return next(outputs)
    kind, *parts = structure
    if kind is dict:
        return {key: _structured(part, outputs) for key, part in parts}
    return kind([_structured(part, outputs) for part in parts])
