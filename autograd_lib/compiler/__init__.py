"""`compile`: a function traced once, and from then on run as straight lines of NumPy."""

import sys
from functools import partial, update_wrapper
from types import FunctionType, MethodType

from ..rows import Primitive
from ..tape import Tensor, to_array, is_recording, tensor_made_by
from .traced import Traced, mapped
from .closed import Compiled, Walk, replaced, spec, taken
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

    `source` is the program that ran last. Not seen, and so as it was at the first call: what `f` reads in other
    ways, such as the clock, a file, an attribute of a class, a name made of text; and the numbers of a random
    generator made inside. While it is written `f` gets Tensors for arrays and floats: that is what isinstance, str
    and hash see. For an array without axes a number may be returned.

    Raises
    ------
    TypeError
        When called: if an argument, or what `f` closes over, is of another type; if `f` looks at a value (`if`,
        `float()`), sets what is not its own, writes into an array or draws random numbers (from NumPy's own generator
        no other thread may draw meanwhile). It names the thing and the way out.
    """

    def __init__(self, f):
        if not callable(f):
            raise TypeError(f"compile: a function is needed, not {f!r}")
        self.f, self.programs, self._last = f, {}, None
        self.__name__ = self.__qualname__ = "program"
        update_wrapper(self, f, updated=())

    def __get__(self, instance, owner):
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self):
        there = getattr(sys.modules.get(self.__module__), self.__qualname__, None)
        return self.__qualname__ if there is self else (compile, (self.f,))

    @property
    def source(self):
        if self._last is None:
            raise RuntimeError("compile: there is no program before the first call")
        return self._last.program.source

    def __call__(self, *args, **kwargs):
        last, leaves = self._last, []
        if last is None or kwargs or not last.fits(args, leaves):
            last, leaves = self._find(args, kwargs)
        try:
            return last.program.run(leaves)
        except (
            Exception
        ):  # inside a transform there is none; and what is wrong f says in its own words
            return self.f(*args, **kwargs)

    def _find(self, args, kwargs):
        """The program for such a call, written if there is none, and its inputs; None inside a transform that is
        open."""
        names = (
            self.f.__code__.co_varnames[: self.f.__code__.co_argcount]
            if type(self.f) is FunctionType
            else ()
        )
        paths = [*names, *[f"argument {i}" for i in range(len(names), len(args))]]
        walk = Walk()
        forms = [walk.walk(x, path)[0] for x, path in zip(args, paths)]
        forms += [(name, walk.walk(x, name)[0]) for name, x in kwargs.items()]
        given = len(walk.leaves)
        walk.places, walk.parts = [], []  # arguments are gone through at every call
        closed = walk.walk(self.f, self.__name__, "closed")[0]
        if walk.nested:
            return None, None
        key = (tuple, *forms), closed, is_recording()
        if key not in self.programs:
            if len(self.programs) == _MOST:
                raise TypeError(
                    f"compile: {self.__name__} has {_MOST} programs already, and this call needs one more: "
                    "a shape, a dtype, or a number, string or function that is a part of the program "
                    "changes from call to call; pass a float or an array for it"
                )
            self.programs[key] = Program(self.f, args, kwargs, paths)
        self._last = _Bound(
            self.programs[key], key[0], walk.leaves[given:], walk.places, walk.parts
        )
        return self._last, walk.leaves


class _Bound:
    """A program, and what `f` closes over, as found: while that is the same, it need not be gone through again."""

    def __init__(self, program, form, closed, places, parts):
        self.program, self.form, self.closed, self.places, self.parts = (
            program,
            form,
            closed,
            places,
            parts,
        )
        self.specs, self.recorded = list(map(spec, closed)), is_recording()

    def fits(self, args, leaves):
        """Whether it is the program of such a call; then `leaves` are its inputs."""
        for read, place, value in self.places:
            if read(place) is not value:
                return False
        try:
            if taken(args, leaves) != self.form or any(replaced(*part) for part in self.parts):
                return False
        except RecursionError:  # a list that holds itself
            return False
        leaves += self.closed
        return list(map(spec, self.closed)) == self.specs and self.recorded == is_recording()


class Program:
    """What was traced, as Python source and as functions: forward, and backward for every Tensor that is returned."""

    def __init__(self, f, args, kwargs, paths):
        trace = Trace(f, args, kwargs, paths)
        given = {id(box): i for i, box in enumerate(trace.boxes) if type(box) is not Traced}
        self.structure = trace.structure
        self.places = [
            given.get(id(z)) for z in trace.outputs
        ]  # of a Tensor that is returned as it came
        self.tensors = [isinstance(z, Tensor) and type(z) is not Traced for z in trace.outputs]
        results = [
            None if place is not None else to_array(z) if isinstance(z, Tensor) else z
            for z, place in zip(trace.outputs, self.places)
        ]
        sent = {i: tuple([gx for _, gx in arrived]) for i, (_, arrived) in trace.passes.items()}
        back = [gx for grads in sent.values() for gx in grads]
        join([*results, *back])
        made = {x.order for x in [*needed(results), *trace.inputs]}
        read = {
            x.order: x
            for x in [*back, *[x for node in needed(back, made) for x in node.reads]]
            if isinstance(x, Traced)
        }
        saved = tuple([read[order] for order in sorted(read.keys() & made)])
        writer = Writer(trace.names, trace.name)
        self.direct = not any(self.tensors)
        if self.direct:
            writer.function("", trace.inputs, mapped(results.__getitem__, self.structure))
        else:
            writer.function("", trace.inputs, tuple(results), saved)
        for i, grads in sent.items():
            writer.function(f"_backward{i or ''}", [trace.passes[i][0], *saved], grads, known=made)
        self.source, functions = writer.done()
        self.forward, self.row = (
            functions[writer.name],
            Primitive("primitive", None, name=trace.name),
        )
        self.passes = {
            i: (functions[f"{writer.name}_backward{i or ''}"], [n for n, _ in arrived])
            for i, (_, arrived) in trace.passes.items()
        }

    def run(self, leaves):
        """What the function returns for these inputs."""
        if self.direct:
            return self.forward(*_values(leaves))
        return mapped(self._outputs(leaves).__getitem__, self.structure)

    def _outputs(self, leaves):
        values = _values(leaves)
        found, saved = self.forward(*values)
        outputs = [z if place is None else leaves[place] for z, place in zip(found, self.places)]
        for i, z in enumerate(outputs):
            if i in self.passes:
                backward, wanted = self.passes[i]
                pull = _pull(backward, saved)
                outputs[i] = tensor_made_by(
                    z,
                    self.row,
                    leaves,
                    values,
                    [(n, partial(pull, k)) for k, n in enumerate(wanted)],
                    lambda inputs, i=i: self._outputs(inputs)[i],
                )
            elif self.tensors[i] and self.places[i] is None:
                outputs[i] = Tensor(z)
        return outputs


def _values(leaves):
    return [x._value if type(x) is Tensor else x for x in leaves]


def _pull(backward, saved):
    """The way back of one call: it is run for the first of the inputs that asks, and these ask in order."""
    grads = []

    def pull(k, g, *_):
        if k == 0:
            grads[:] = backward(g, *saved)
        gx, grads[k] = grads[k], None
        return gx

    return pull
