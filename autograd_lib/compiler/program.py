"""What was recorded as a program: planned (plan.py), written as source (writer.py), and run with the results that the
function gives.
"""

from functools import partial

import numpy as np

from ..tape import Primitive, Tensor, result
from ..trace import Traced, Unseen, equal
from .guards import PLAIN, flatten, rebuilt, static, taking
from .plan import arguments, join, needed
from .record import NAMELESS
from .writer import Writer


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
        names = [n for n in (name, *trace.calls[:1]) if n.isidentifier() and n not in NAMELESS]
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
