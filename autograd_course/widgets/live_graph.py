"""Draw the graph of an expression again whenever a slider moves, with `live_graph`.

The steps from the sliders to the picture have no state: run the expression (`_function`,
`_recorded`), read its graph, fold its modules (`_fold`), and draw it in the same layout as before
(`_picture`). The widget only calls these steps.
"""

import sys
from collections import namedtuple
from html import escape
from itertools import islice

import numpy as np

from autograd_lib import nn, tape
from autograd_lib import values as engine_values

from ..drawing import style
from ..drawing.axes import round_step
from ..drawing.formatting import number
from ..drawing.picture import Picture
from . import graph
from .sliders import explore

FOLD = 20  # nodes: above this the modules of a graph start as boxes
MOVABLE = 100  # entries of an array that are offered to be moved

# Controls that no argument of a function can be called:
ENTRY, BY, OPEN, SHOW = "entry:", "by:", "open:", "show:"
EVERYTHING, NOTHING = "everything", "nothing"

# The result of running an expression. `called` maps the id of a Tensor to its name, and `calls` is a
# list of the Calls of modules, outermost first.
Run = namedtuple("Run", "output called calls")
Call = namedtuple(
    "Call", "path module start end"
)  # start, end: its results were created between these numbers


def live_graph(f, /, **arguments):
    """Draw the graph of a function or a Tensor, with sliders that change its inputs.

        live_graph(lambda x, w: np.tanh(x * w), x=(-3, 3, 0.7), w=(-3, 3, 1.5))
        live_graph(loss)

    Each value is drawn with its gradient, and each arrow with its local gradient. A value is labelled
    with the `.name` of its Tensor, or else with the name of a variable that holds it: a local variable
    of `f`, or, for a computed Tensor, a variable of the calling notebook. The larger the gradient that
    an arrow carries, the wider the arrow; two strokes cross the arrow if the gradient is 0. The control
    "show:" prints the entries of an array and of its gradient. In a graph of more than 20 values, each
    call to an nn module is drawn as a box, which the control "open:" opens. Your objects do not
    change: no `.grad`, no `.name`, no value. An error that `f` raises is not caught.

    Parameters
    ----------
    f : callable or Tensor
        A function that returns a Tensor, or a Tensor that is already computed. For a computed Tensor,
        the scalars from which it was computed get sliders around their values. When a slider moves,
        the recorded operations are called again, so every `if` and every loop takes the same branch
        as before.
    **arguments
        The arguments of a function. Each is one of

        - a slider as in `explore`: for `(min, max, start)`, `(min, max, step, start)` or a list of
          numbers, `f` gets a Tensor that requires a gradient; for a range, it gets a plain int; for
          a list of other objects, it gets the chosen object;
        - an array, drawn by its shape and range: `f` gets a Tensor that requires a gradient, or the
          array itself if it holds integers. Pass a Tensor to decide this yourself. With two
          controls, you choose one entry of the arrays and change its value;
        - a function or a module, which `f` gets unchanged.

    Returns
    -------
    Explorer
        The widget.

    Raises
    ------
    TypeError
        If `f` is neither callable nor a Tensor, does not return a Tensor, or is a Tensor that was
        computed in a checkpoint or is passed with arguments.
    ValueError
        If an argument has none of these forms, or contains nan or inf where a slider is needed.
    """
    if isinstance(f, tape.Tensor) and not arguments:
        sliders, arrays, run = _recorded(f)
    elif callable(f):
        sliders, arrays, run = _function(f, arguments)
    elif isinstance(f, tape.Tensor):
        raise TypeError(
            f"live_graph: expected no arguments besides the computed Tensor, got "
            f"{', '.join(arguments)}; pass the function that computes the Tensor, "
            "or leave out the arguments"
        )
    else:
        raise TypeError(
            f"live_graph: expected a function that returns a Tensor, or a Tensor that is already computed, got {f!r}"
        )
    entries = _entries(arrays)
    controls = sliders | _movers(arrays, entries)
    choices = {}

    def compute(values):
        moved, notes = _move(arrays, entries, values)
        with np.errstate(all="ignore"):  # the drawing shows nan or inf
            return _picture(
                run({name: values[name] for name in sliders}, moved),
                notes,
                values.get(OPEN),
                values.get(SHOW),
            )

    def picture(**values):
        nonlocal choices
        drawn, choices = first.pop() if first else compute(values)
        return drawn

    def offer(change):
        """Update the choices of the controls after the graph has changed."""
        for name, offered in choices.items():
            control = ui.sliders.get(name)
            if control and [choice for _, choice in control.options] != offered:
                kept = control.value
                control.options = [(choice, choice) for choice in offered]
                control.value = kept if kept in offered else offered[0]

    # what there is to choose from is known once `f` was run; `explore` then begins with this picture
    first = [
        compute(
            {
                name: spec[-1] if isinstance(spec, tuple) else spec[0]
                for name, spec in controls.items()
            }
        )
    ]
    choices = first[0][1]
    ui = explore(picture, **controls, **choices)
    for control in ui.sliders.values():
        control.observe(offer, "value")
    return ui


# --- The sliders ----------------------------------------------------------------------------------------------------


def _around(value):
    """Return (min, max, step, start) for a slider of 200 steps with `value` as start and middle."""
    step = _step(value)
    return value - 100 * step, value + 100 * step, step, value


def _finite(name, array):
    if not np.all(np.isfinite(array)):
        raise ValueError(
            f"live_graph: {name} contains nan or inf, which a slider cannot show; pass a finite value"
        )
    return array


def _step(value):
    """Return a step for a slider: 1.5 % of `value`, rounded up to 1, 2 or 5 times a power of ten.

    If `value` is 0, the step is 0.01.
    """
    return round_step(1.5 * abs(value) / 100 or 0.01)


def entry(name, index):
    """Return the label of an entry of an array, such as "x[0, 1]", or of a scalar, "x".

    `name` is the name of the array, and `index` is a tuple of integers from 0, () for a scalar.
    """
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def _entries(arrays):
    """Return the array entries that the user can change.

    The result is a dict that maps the label of an entry, such as "x[0, 1]", to the array's name and
    the index. `arrays` is a dict that maps names to arrays. Integer arrays are left out, and only the
    first MOVABLE entries of an array are included.
    """
    return {
        entry(name, index): (name, index)
        for name, array in arrays.items()
        if array.dtype.kind == "f"
        for index in islice(np.ndindex(array.shape), MOVABLE)
    }


def _movers(arrays, entries):
    """Return the two controls that choose an entry of the arrays and change its value.

    The result is a dict of keyword arguments for `explore`, which is empty if there are no entries.
    `arrays` is a dict that maps names to arrays, and `entries` is the result of `_entries`.
    """
    if not entries:
        return {}
    step = _step(
        max(
            float(np.max(np.abs(_finite(name, arrays[name])), initial=0))
            for name, _ in entries.values()
        )
    )
    return {ENTRY: list(entries), BY: (-100 * step, 100 * step, step, 0.0)}


def _move(arrays, entries, values):
    """Return the arrays with the chosen entry changed, and a list of lines about the change.

    `arrays` is a dict that maps names to arrays, `entries` is the result of `_entries`, and `values`
    holds the values of all controls. The given arrays are not changed.
    """
    if not entries:
        return arrays, []
    (name, index), by = entries[values[ENTRY]], values[BY]
    moved = arrays[name].copy()
    moved[index] += by
    said = [
        f"{values[ENTRY]} = {number(arrays[name][index])}"
        + (f" moved by {by:g} to {number(moved[index])}" if by else "")
    ]
    large = [
        name for name, array in arrays.items() if array.size > MOVABLE and array.dtype.kind == "f"
    ]
    if large:
        said.append(f"Only the first {MOVABLE} entries of {' and '.join(large)} can be moved.")
    return arrays | {name: moved}, said


# --- Run the expression: sliders, arrays, and a function of both that returns a Run ------------------------------


def _function(f, arguments):
    """Return (sliders, arrays, run) for a function `f` and the arguments of `live_graph`.

    `sliders` and `arrays` are dicts from name to slider and from name to array. `run(values, arrays)`
    calls `f` with the values of the sliders and these arrays, and returns a Run.
    """
    sliders, arrays, others = {}, {}, {}
    for name, given in arguments.items():
        if isinstance(given, (tuple, list, range)) and given:
            sliders[name] = given
        elif isinstance(given, (np.ndarray, tape.Tensor)):
            arrays[name] = given.data if isinstance(given, tape.Tensor) else given
        elif callable(given):
            others[name] = given
        else:
            raise ValueError(
                f"live_graph: {name}: expected (min, max, start) or another slider, an array, a Tensor, or a function, got {given!r}"
            )
    outer = graph.variables()
    by_name = hasattr(
        f, "__code__"
    )  # a row, a module and a function of NumPy take their arguments in order

    def argument(name, values, moved):
        if name in others:
            return others[name]
        if name in moved:
            given, value = arguments[name], moved[name]
            wanted = (
                given.requires_grad if isinstance(given, tape.Tensor) else value.dtype.kind == "f"
            )
            return tape.Tensor(value, wanted) if wanted or isinstance(given, tape.Tensor) else value
        number = not isinstance(arguments[name], range) and isinstance(values[name], (int, float))
        return tape.Tensor(float(values[name]), requires_grad=True) if number else values[name]

    def run(values, moved):
        given = {name: argument(name, values, moved) for name in arguments}
        output, inner, calls = _watched(
            f, () if by_name else given.values(), given if by_name else {}
        )
        if not isinstance(output, tape.Tensor):
            raise TypeError(
                f"live_graph: expected a function that returns one Tensor computed from its arguments, got {type(output).__name__}"
            )
        paths = _paths(inner) | _paths(outer)
        called = paths | graph.names_in(outer) | graph.names_in(inner) | graph.names_in(given)
        return Run(
            output,
            called,
            [
                Call(paths.get(id(module), type(module).__name__), module, *times)
                for module, *times in calls
            ],
        )

    return sliders, arrays, run


CALL = nn.Module.__call__.__code__


def _watched(f, args, kwargs):
    """Call `f(*args, **kwargs)`, and return (result, variables, calls).

    `variables` is a dict that maps names to values, of the local variables of `f` when it returned.
    `calls` lists the calls to modules as (module, start, end), outermost first. A Tensor was
    computed in such a call if its number is between `start` and `end`.
    """
    before, here = sys.getprofile(), sys._getframe()
    inner, started, calls = {}, [], []

    def see(frame, event, result):
        if event == "call" and frame.f_code is CALL:
            started.append((len(calls), next(engine_values.clock)))
            calls.append(None)
        elif event == "return":
            if frame.f_code is CALL:
                number, start = started.pop()
                calls[number] = frame.f_locals["self"], start, next(engine_values.clock)
            elif frame.f_back is here:
                inner.update(frame.f_locals)

    if before is None or callable(before):  # a profiler written in C could not be set again
        sys.setprofile(see)
    try:
        return f(*args, **kwargs), inner, calls
    finally:
        sys.setprofile(before) if before is None or callable(before) else None


def _paths(variables):
    """Return a dict that maps the id of each module and parameter among the variables to its path.

    A path is, for example, "model.layers.0". `variables` is a dict that maps names to values.
    """
    modules = [
        (name, value)
        for name, value in variables.items()
        if isinstance(value, nn.Module) and not name.startswith("_")
    ]
    return {
        id(item): path
        for name, module in reversed(modules)
        for path, item in [*module.named_modules(name), *module.named_tensors(name)]
    }


def _recorded(output):
    """Return (sliders, arrays, run), as `_function` does, for a Tensor that is already computed.

    `run(values, arrays)` calls the recorded operations again, with new values for the leaves.
    """
    tensors, outer = graph.order(output), graph.variables()
    called = _paths(outer) | graph.names_in(outer)
    place = {id(tensor): i for i, tensor in enumerate(tensors)}
    if any(tensor.recompute for tensor in tensors):
        raise TypeError(
            "live_graph: a checkpoint does not keep the operations that it ran; pass the function that computes this Tensor"
        )
    names = [tensor.name or called.get(id(tensor)) for tensor in tensors]
    sliders, arrays, leaves = {}, {}, {}
    for i, tensor in enumerate(tensors):
        if tensor.op is None and tensor.dtype.kind == "f" and (names[i] or tensor.requires_grad):
            name = names[i] or f"leaf {len(leaves) + 1}"
            name = name if name not in leaves else f"{name} {len(leaves) + 1}"
            leaves[name] = i
            if tensor.ndim:
                arrays[name] = np.array(tensor.data)
            else:
                sliders[name] = _around(_finite(name, tensor.data).item())
    names = {place: name for name, place in leaves.items()} | {
        i: name for i, name in enumerate(names) if name
    }

    def run(values, moved):
        given = {leaves[name]: value for name, value in (values | moved).items()}
        made = []
        for i, tensor in enumerate(tensors):
            if tensor.op is None:
                made.append(
                    tape.Tensor(
                        np.asarray(given.get(i, tensor.data), tensor.dtype), tensor.requires_grad
                    )
                )
            else:
                made.append(
                    tensor.op(
                        *[
                            made[place[id(x)]] if isinstance(x, tape.Tensor) else x
                            for x in tensor.inputs
                        ],
                        **tensor.params,
                    )
                )
        return Run(made[-1], {id(made[i]): name for i, name in names.items()}, [])

    return sliders, arrays, run


# --- Fold -----------------------------------------------------------------------------------------------------------


def _closed(calls, opened):
    """Return a list of the calls to modules that are drawn as boxes while one module is open.

    `calls` is a list of Call, and `opened` is the path of the open module, EVERYTHING or NOTHING. Of
    nested calls, only the outermost is included.
    """
    if opened == EVERYTHING:
        return []
    shut = []
    for call in calls:
        opens = any(
            other.path == opened and call.start <= other.start <= call.end for other in calls
        )
        if not opens and not (shut and call.start < shut[-1].end):
            shut.append(call)
    return shut


def _fold(nodes, call, born):
    """Return the nodes of a graph, with all nodes of one call to a module merged into one node.

    If more than one result of the call is used outside the module, the nodes are returned unchanged.

    Parameters
    ----------
    nodes : list of graph.Node
    call : Call
    born : dict
        The number of each Tensor by its key, in the order in which the Tensors were created.
    """
    users = {}
    for node in nodes:
        for key, _ in node.inputs:
            users.setdefault(key, set()).add(node.key)
    members = {node.key for node in nodes if node.op and call.start < born[node.key] < call.end}
    results = [key for key in members if not users.get(key, {None}) <= members]
    if len(results) != 1:
        return nodes
    own = {id(item) for _, item in call.module.named_tensors()}
    members |= {
        node.key
        for node in nodes
        if not node.op
        and users[node.key] <= members
        and (node.key in own or node.key not in born or born[node.key] > call.start)
    }
    values, inputs = {node.key: node.value for node in nodes}, {}
    for node in nodes:
        if node.key in members:
            for (key, _), gx, way in zip(node.inputs, node.passed, node.ways):
                if key not in members:
                    total, before = inputs.get(key, (None, False))
                    inputs[key] = (
                        gx if total is None else total if gx is None else total + gx,
                        way or before,
                    )
    passed = [gx for gx, _ in inputs.values()]
    local = [
        "" if gx is None else str(gx.shape) if gx.ndim else f"passes {number(float(gx))}"
        for gx in passed
    ]
    shapes = f"{', '.join(str(values[key].shape) for key in inputs)} → {values[results[0]].shape}"
    inside = f"{type(call.module).__name__}: {shapes}", f"{len(members)} values inside"
    return [
        node
        if node.key not in members
        else node._replace(
            op=call.path,
            params={},
            inputs=tuple(zip(inputs, local)),
            passed=tuple(passed),
            ways=tuple(way for _, way in inputs.values()),
            inside=inside,
        )
        for node in nodes
        if node.key not in members or node.key == results[0]
    ]


# --- Draw -----------------------------------------------------------------------------------------------------------


def _picture(run, notes, opened, shown):
    """Draw a Run, and return the Picture and a dict that maps each control to its list of choices.

    The first choice of each control is the initial one.

    Parameters
    ----------
    run : Run
    notes : list of str
        Lines of text to add below the graph.
    opened : str or None
        The path of the module that is open, EVERYTHING, NOTHING, or None for the initial choice.
    shown : str or None
        The label of the value whose entries are printed.
    """
    nodes = graph.read(run.output, called=run.called)
    paths = list(dict.fromkeys(call.path for call in run.calls))
    choices = {}
    if paths:
        choices[OPEN] = (
            [NOTHING, *paths, EVERYTHING] if len(nodes) > FOLD else [EVERYTHING, NOTHING, *paths]
        )
        born = {id(tensor): tensor.number for tensor in graph.order(run.output)}
        for call in _closed(run.calls, opened or choices[OPEN][0]):
            nodes = _fold(nodes, call, born)
    called = graph.names(nodes)
    labels = {
        called[node.key] + (f" = {node.op}" if node.op else ""): node
        for node in nodes
        if not graph.is_constant(node)
    }
    if any(node.value.ndim for node in labels.values()):
        choices[SHOW] = [NOTHING, *labels]
    lines = list(notes)  # details that the drawing leaves out
    boxes = list(
        dict.fromkeys(
            f"{node.op} ({node.inside[1].removesuffix(' inside')})" for node in nodes if node.inside
        )
    )
    if boxes:
        lines.append(f"Folded: {', '.join(boxes)}. Choose one under “{OPEN}” to see inside.")
    if shown in labels:
        node = labels[shown]
        lines += [
            f"{what} of {called[node.key]}:\n{graph.contents(array)}"
            for what, array in [("Value", node.value), ("Gradient", node.gradient)]
            if array is not None
        ]
    text, placed = "\n".join([graph.describe(nodes), *lines]), graph.layout(nodes)
    if placed is None:
        return Picture(graph.listed(text), text, says_all=True), choices
    said = (
        f'<pre aria-hidden="true" style="{style.LINES};padding:8px 0">{escape(chr(10).join(lines))}</pre>'
        if lines
        else ""
    )
    return Picture(graph.draw(nodes, placed, text) + said, text, says_all=True), choices
