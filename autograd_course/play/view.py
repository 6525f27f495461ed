"""Show a text box, and below it the picture of the typed function.

`picture` draws a Program at given values of its inputs and keeps no state. The notebook widget and
the site's playground page both call it.
"""

from html import escape

import ipywidgets as widgets
import numpy as np

import autograd_lib as ag

from ..drawing import style
from ..drawing.axes import round_step
from ..drawing.formatting import number
from ..drawing.listing import listing
from ..drawing.picture import Picture
from ..drawing.table import table
from ..widgets import graph, stepper
from ..widgets.live_graph import entry
from ..widgets.sliders import explore
from .interpreter import MOST_OPS, run
from .pytorch import torch_text
from .reader import CannotDraw, read

STEP = "step"
GRID = 16  # entries of an array that get a number box each: 4 × 4
MEASURED = 16  # entries of an array whose slope is measured
FITS = 440  # px: on a phone, the words of a wider graph would overlap, so it scrolls
STOPS = 12  # of a slider between the middle and its end
START = "L = tanh(w*x + b)"


def picture(program, values, step=0):
    """Draw a Program as a Picture at given values of its inputs.

    Parameters
    ----------
    program : Program
        The program to draw.
    values : dict
        The values of the inputs, by name: floats or arrays. An input that is not in `values` keeps
        its start value.
    step : int
        0 draws the whole graph, with a table of gradients and measured slopes below it. k > 0 draws
        the k-th step of the backward pass, or the last step if there are fewer.

    Returns
    -------
    Picture
        The drawing, and the same information as text.

    Raises
    ------
    CannotDraw
        If the Program cannot be computed, or its graph has more than 150 values.
    """
    computed = run(program, values)
    if len(graph.order(computed.output)) > MOST_OPS:
        raise CannotDraw(
            f"The graph has more than {MOST_OPS} values, which is too many to draw; shorten the loop, or paste only one iteration."
        )
    with np.errstate(all="ignore"):
        if step:
            return _step(computed.output, step)
        drawn = _graph(computed.output)
        rows, notes = _table(program, computed)
    if note := _not_finite(computed):
        notes.insert(0, note)
        rows = f"<p>{escape(note)}</p>{rows}"
    # above the graph, because on a phone the sliders cover what is below it
    remarks = "".join(f"<p>{escape(remark)}</p>" for remark in program.remarks)
    html = f'{remarks}{drawn.html}<div style="overflow-x:auto">{rows}</div>'
    return Picture(html, "\n".join([*program.remarks, drawn.text, *notes]), says_all=True)


def _graph(output):
    """Return the Picture of the graph of a Tensor, in a box that scrolls if the graph is wide.

    A graph that cannot be laid out is drawn as a list.
    """
    nodes = graph.read(output)
    text, placed = graph.describe(nodes), graph.layout(nodes)
    if placed is None:
        return Picture(graph.listed(text), text, says_all=True)

    def around(placed, drawn):
        scrolls = graph.size(placed)[0] > FITS
        return f'<div class="part" style="overflow-x:auto">{drawn}</div>' if scrolls else drawn

    return Picture(graph.draw(nodes, placed, text, around=around), text, says_all=True)


def _step(output, step):
    """Return the Picture of one step of the backward pass from a Tensor.

    `step` is the number of the step; a number that is too large means the last step. A wide graph
    scrolls on a phone, under the same condition as in `_graph`.
    """
    story = stepper.frames(output)
    frame = story[min(step, len(story) - 1)]
    drawn = stepper.picture(frame)
    if frame.placed is None or graph.size(frame.placed.down or frame.placed)[0] <= FITS:
        return drawn
    return Picture(drawn.html.replace('class="whole"', 'class="part"'), drawn.text, says_all=True)


# --- Beside the graph ---------------------------------------------------------------------------------------------------


def _table(program, computed):
    """Return (HTML, lines): a table of gradients and measured slopes, and the same as text.

    The table has a row for every entry of each input, up to 16 entries of an array. `computed` is
    the Run of the Program.
    """
    computed.output.sum().backward()
    values = {name: np.array(tensor.data) for name, tensor in computed.inputs.items()}
    rows, lines = [], []
    for name, tensor in computed.inputs.items():
        gradient = np.zeros(tensor.shape) if tensor.grad is None else np.asarray(tensor.grad)
        tensor.grad = None
        for index in list(np.ndindex(tensor.shape))[:MEASURED]:
            label = entry(name, index)
            slope = measured(program, values, name, index)
            differs = not np.isclose(gradient[index], slope, rtol=1e-4, atol=1e-6)
            remark = "≠ a kink, a jump, or a constant such as detach" if differs else ""
            if not np.isfinite(slope):
                remark = "not finite here"
            shown = [number(float(x)) for x in (values[name][index], gradient[index], slope)]
            rows.append(
                (
                    label,
                    shown[0],
                    (shown[1], f"color:{style.WRITTEN.get(style.GRADIENT, style.GRADIENT)};"),
                    shown[2],
                    remark,
                )
            )
            lines.append(
                f"{label} = {shown[0]}: gradient {shown[1]}, measured slope {shown[2]}"
                + (f" ({remark})" if remark else "")
            )
        if tensor.size > MEASURED:
            lines.append(f"Of {name}, the first {MEASURED} of {tensor.size} entries are measured.")
    return table(rows, ("input", "value", "gradient", "measured slope", ""), ruled=True), lines


def _not_finite(computed):
    """Return a sentence that says where the output is not finite, or "" if it is finite."""
    if np.all(np.isfinite(computed.output.data)):
        return ""
    at = ", ".join(
        f"{name} = {number(float(one.data))}"
        for name, one in computed.inputs.items()
        if one.data.ndim == 0
    )
    return f"The function has no finite value {f'at {at}' if at else 'here'}. Move a slider into its domain."


def measured(program, values, name, index=()):
    """Measure the derivative of a Program's output with respect to one entry of an input.

    If the output is an array, the derivative is that of the sum of its entries.

    Parameters
    ----------
    program : Program
        The program that computes the output.
    values : dict
        The values of all inputs, by name: floats or arrays.
    name : str
        The name of the input.
    index : tuple of int
        The position of the entry in the input, counted from 0. It is () for a scalar.

    Returns
    -------
    float
        A central difference with the step h = 1e-5 · max(1, |entry|). Its error is of the order h².

    Raises
    ------
    CannotDraw
        If the Program cannot be computed.
    """
    h = 1e-5 * max(1.0, abs(float(values[name][index])))
    sides = []
    for by in (h, -h):
        moved = {one: np.array(value) for one, value in values.items()}
        moved[name][index] += by
        sides.append(float(np.sum(run(program, moved).output.data)))
    return (sides[0] - sides[1]) / (2 * h)


def folds(program):
    """Return the HTML of the folded sections below the picture.

    The sections show the lines that are left out of the picture, the same program in PyTorch, and
    the program that `ag.compile` writes.
    """
    parts = [
        ("The same in PyTorch", listing(torch_text(program)).html),
        ("The program that ag.compile writes", listing(_compiled(program)).html),
    ]
    if program.left_out:
        # These lines need not be Python: sentences and outputs are among them.
        look = f"{style.LINES};font:var(--code,13px)/1.45 {style.MONO}"
        lines = escape("\n".join(program.left_out))
        parts.insert(0, ("Left out of the picture", f'<pre style="{look}">{lines}</pre>'))
    return "".join(f"<details><summary>{title}</summary>{html}</details>" for title, html in parts)


def _compiled(program):
    """Return the code that `ag.compile` writes for a Program.

    If `ag.compile` raises an error, return its message as a comment.
    """

    def function(*tensors):
        return run(program, dict(zip(program.inputs, tensors))).output

    compiled = ag.compile(function)
    try:
        compiled(*(ag.Tensor(value, requires_grad=True) for value in program.inputs.values()))
        return compiled.source
    except (CannotDraw, RuntimeError, TypeError, ValueError) as error:
        return f"# {error}"


# --- Controls -----------------------------------------------------------------------------------------------------------


def _slider(value):
    """Return (min, max, step, start) for a slider that starts at `value`.

    The range is symmetric about 0 and contains the value.
    """
    value = float(value)
    step = round_step(max(3.0, 1.5 * abs(value)) / STOPS)
    return -STOPS * step, STOPS * step, step, value


def controls(program, at=()):
    """Return the range of each control of a Program, one for each number that the user can change.

    Parameters
    ----------
    program : Program
        The program whose inputs the controls change.
    at : dict, optional
        The start values of controls, as floats by the name of the control. Names that belong to no
        control are ignored.

    Returns
    -------
    dict
        The range (min, max, step, start) of each control, by name. A scalar input has a control
        with the name of the input. An array of at most 16 entries has a control for each entry,
        named like `A[0, 1]`; a larger array has none. The last key, STEP, has the range of the
        numbers of the steps: 0 for the whole graph, and then the steps of the backward pass from 1.

    Raises
    ------
    CannotDraw
        If the Program cannot be computed.
    """
    at, found = dict(at), {}
    for name, start in program.inputs.items():
        for index in np.ndindex(np.shape(start)) if np.size(start) <= GRID else ():
            label = entry(name, index)
            found[label] = _slider(at.get(label, np.asarray(start)[index]))
    start = {label: spec[-1] for label, spec in found.items()}
    with np.errstate(all="ignore"):
        steps = len(stepper.frames(run(program, gathered(program, start)).output))
    return found | {STEP: range(steps)}


def gathered(program, moved):
    """Return a dict of the values of a Program's inputs, in which the controls set some entries.

    Parameters
    ----------
    program : Program
        The program that has the inputs.
    moved : dict
        The values of the controls, as floats by the name of the control.

    Returns
    -------
    dict
        The value of each input, as an array by the name of the input. An entry without a control
        has its start value.
    """
    values = {}
    for name, start in program.inputs.items():
        value = np.array(start, dtype=float)
        for index in np.ndindex(value.shape):
            label = entry(name, index)
            value[index] = moved.get(label, value[index])
        values[name] = value
    return values


def explorer(text, at=()):
    """Return a widget with the sliders and the picture of a typed function.

    Parameters
    ----------
    text : str
        The function, in one of the forms that `playground` accepts.
    at : dict, optional
        The start values of the sliders, as floats by name. The value of the key "step" is the
        number of the first step to show: 0, the default, for the whole graph.

    Returns
    -------
    Explorer
        The widget. Its attribute `program` is the Program, and its attribute `below` is the HTML of
        the sections to show below the picture.

    Raises
    ------
    CannotDraw
        If the text cannot be drawn.
    """
    program, refusals = read(text), []

    def draw(step, **moved):
        try:
            return picture(program, gathered(program, moved), step)
        except CannotDraw as refused:  # at other values another branch is taken
            refusals.append(refused)
            return Picture(f"<p>{escape(str(refused))}</p>", str(refused), says_all=True)

    specs = controls(program, at)
    ui = explore(draw, **specs)
    if refusals:
        raise refusals[0]
    ui.sliders[STEP].value = min(int(dict(at).get(STEP, 0)), len(specs[STEP]) - 1)
    ui.program, ui.below = program, folds(program)
    return ui


class Playground(widgets.VBox):
    """Show a text box and the picture of the typed function, and redraw when the text changes.

    The arguments are those of the function `explorer`, but `at` is required.

    Attributes
    ----------
    box : Textarea
        The text box.
    message : HTML
        The error message for a text that cannot be drawn. "" if there is none. While a
        message is shown, the last picture remains.
    explorer : Explorer
        The sliders and the picture.
    """

    def __init__(self, text, at):
        self.box = widgets.Textarea(
            text,
            rows=min(12, text.count("\n") + 2),
            description="the function",
            layout={"width": "min(52em, 98%)"},
            style={"description_width": "0px"},  # a screen reader names the box by it
        )
        self.message = widgets.HTML()
        self.explorer = explorer(text, at)
        super().__init__(
            [self.box, self.message, self._arranged(), widgets.HTML(self.explorer.below)]
        )
        self.box.observe(self._typed, "value")

    def _typed(self, change):
        try:
            self.explorer = explorer(change["new"])
        except CannotDraw as refused:
            self.message.value = (
                f'<div role="status" style="{style.LINES}">{escape(str(refused))}</div>'
            )
            return
        self.message.value = ""
        self.children = [
            self.box,
            self.message,
            self._arranged(),
            widgets.HTML(self.explorer.below),
        ]

    def _arranged(self):
        """Return the explorer, with the sliders of each array replaced by a grid of number boxes.

        Each number box sets one entry of the array.
        """
        rows = dict(zip(self.explorer.sliders, self.explorer.children))
        others = list(self.explorer.children[len(rows) :])
        placed = []
        for name, start in self.explorer.program.inputs.items():
            shape = np.shape(start)
            labels = [label for label in rows if label.startswith(f"{name}[")]
            if labels:
                boxes = [rows[label].children[0] for label in labels]
                columns = shape[-1]
                placed.append(
                    widgets.GridBox(
                        boxes, layout={"grid_template_columns": f"repeat({columns}, max-content)"}
                    )
                )
            elif name in rows:
                placed.append(rows[name])
        self.explorer.children = [*placed, rows[STEP], *others]
        return self.explorer

    def _repr_mimebundle_(self, **options):
        bundle = super()._repr_mimebundle_(**options)
        picture = self.explorer.picture
        return bundle | {
            "text/html": picture.html,
            "text/plain": f"{self.box.value}\n\n{picture.text}",
        }


def playground(text=START, /, **at):
    """Draw a typed function: its graph, its gradients, and the backward pass step by step.

    Parameters
    ----------
    text : str
        An expression such as `L = tanh(w*x + b)`, or lines pasted from micrograd, PyTorch, JAX or
        NumPy. Every name without a value gets a slider, and so does every name that is set once to
        a number; every entry of an array of at most 16 entries gets a number box. The text is read
        as arithmetic; Python never runs it.
    **at : float
        The start values of the sliders, by name. `step` is the number of the step of the backward
        pass that is shown first: 0, the default, for the whole graph.

    Returns
    -------
    Playground
        The widget.

    Raises
    ------
    CannotDraw
        If the text cannot be drawn; the message says what to write instead.
    """
    return Playground(text, at)
