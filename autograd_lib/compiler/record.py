"""A call written down: a function is run on arrays that note what is done with them (trace.py), and it is noted besides
which row and rule each line comes from, and what the arrays are called in the learner's code.
"""

import sys
from functools import partial

import numpy as np

from .. import tape
from ..tape import Primitive, Tensor, boxed, collect, written_down
from ..trace import Trace, Traced, Unseen, astype, writing
from .guards import flatten, installed, rebuilt

# Functions that are called so because they are a transform, a module's, or nothing in particular.
NAMELESS = {"run", "forward", "__call__", "<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>"}

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
    while frame and frame.f_code is not record.__code__:
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


def record(f, structure, leaves):
    """The Trace of one call. It also says of what it returned the `structure` and the `leaves`, and of each Tensor
    among them what arrives there and what it sends to which Tensor (`pulls`); what arrays are called in the code
    (`names`); and how many arguments were `given`."""
    trace = Trace(_origin)
    trace.names, trace.pulls, trace.given, trace.calls, trace.lists = {}, {}, len(leaves), [], {}
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
    if installed(frame.f_globals.get("__name__", "")):
        return None
    values = dict(frame.f_locals)
    if event == "return" and frame.f_code.co_name not in NAMELESS:
        values.setdefault(frame.f_code.co_name, argument)       # after the other names
    if event == "call":
        trace.calls.append(frame.f_code.co_name)
    inside = {}
    for name, several in values.items():
        if type(several) in (list, tuple):
            _, seen = trace.lists.get(id(several), (None, 0))
            start = seen if event == "line" else 0      # else a list that grows would be read whole at every line
            inside |= {f"{name}_{i}": x for i, x in enumerate(several[start:], start)}
            trace.lists[id(several)] = several, len(several)
    for name, x in (values | inside).items():
        while isinstance(x, Tensor):
            x = trace.stands_for.get(x, x)._data
        if type(x) is Traced:
            trace.names.setdefault(x, name)
            if x.function is astype and not x.args[0].function:     # a float, of which a transform made an array
                trace.names.setdefault(x.args[0], name)
    return partial(_name, trace)
