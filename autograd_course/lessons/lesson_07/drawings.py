"""Draw the pictures of lesson 07: two rules that train, designs of engines, and the patients of the clinic."""

from difflib import SequenceMatcher
from html import escape

import numpy as np

from ...drawing import style
from ...drawing.axes import Axes, decades, ticks
from ...drawing.formatting import counted, number
from ...drawing.picture import Picture, beside, svg
from ...drawing.table import table
from . import clinic
from .designs import DESIGNS, source

# --- The bug that trains better -----------------------------------------------------------------------------------------------


def _losses(plot, runs, words):
    """Draw the losses of at most two runs over their steps, as powers of ten, with a name at the end of each line.

    `runs` holds a list of losses for each run, and `words` holds the name of each run.
    """
    for (colour, dash), losses, name in zip(
        [(style.INK, "none"), (style.OTHER, "7 4")], runs, words
    ):
        logs = [np.log10(max(loss, 1e-6)) for loss in losses]
        plot.line(range(len(logs)), logs, colour, 2.4, dash)
        px, py = plot.at(len(logs) - 1, logs[-1])
        plot.words(px + 8, py + 4, name, colour, "start", 13)


def trained(gradient, w, b=0.0):
    """Return the losses of lesson 05's neuron before the first and after each of 200 training steps.

    `gradient(w, b)` returns the gradient with respect to w. Training starts at the weight `w` and
    the bias `b`, with x = 2, y = 1 and lr = 0.1.
    """
    losses = []
    for _ in range(201):
        losses.append((np.tanh(2 * w + b) - 1) ** 2 / 2)
        g = gradient(w, b)
        w, b = w - 0.1 * g, b - 0.1 * g / 2  # x = 2, so b's gradient is half of w's
    return losses


def mystery():
    """Return the losses of two training runs from w = 1, as two lists.

    The first run uses the right derivative of tanh, 1 − z². The second run uses the published
    derivative, z², which is wrong.
    """

    def gradient(slope):
        def of_w(w, b):
            z = np.tanh(2 * w + b)
            return (z - 1) * slope(z) * 2

        return of_w

    return [trained(gradient(slope), 1.0) for slope in (lambda z: 1 - z * z, lambda z: z * z)]


def two_losses(one, other):
    """Draw the losses of two training runs, labelled A and B, without naming the rule that each run used.

    `one` and `other` are lists of losses, of equal length.
    """
    plot = Axes((64, 36, 420, 220), (0, len(one) - 1), (-5.4, 0.2))
    plot.frame(ticks(0, 200, 4), decades(-5, 0, 1), "step", "loss L, as powers of ten")
    _losses(plot, (one, other), ("A", "B"))
    text = (
        f"Two training runs, {len(one) - 1} steps each. Both losses fall all the way.\n"
        f"A: from {_loss(one[0])} to {_loss(one[-1])}. B: from {_loss(other[0])} to {_loss(other[-1])}."
    )
    return Picture(svg("0 0 540 300", "".join(plot.parts), text), text)


def duel(w, right, published):
    """Draw the right and the published gradient against the weight, and the losses of two runs from w.

    `w` is the weight before the first step. `right` and `published` are functions that return the
    gradient with respect to the weight. Each is used for one of the training runs.
    """
    left, ws = Axes((50, 40, 310, 250), (-1.5, 1.5), (-2.6, 0.4)), np.linspace(-1.5, 1.5, 121)
    left.frame(ticks(-1.5, 1.5, 6), ticks(-2, 0, 4), "weight w", "gradient of w, over w")
    left.line([w, w], [-2.6, 0.4], style.LINE, 1.5)
    left.line(ws, [right(x) for x in ws], style.INK, 2.4)
    left.line(ws, [published(x) for x in ws], style.OTHER, 2.4, "7 4")
    left.words(*left.at(-1.45, -2.35), "published", style.OTHER, "start", 13, halo=True)
    left.words(*left.at(-0.75, -1.15), "right", style.INK, "end", 13, halo=True)  # where no w goes
    cross = float(np.arctanh(np.sqrt(0.5)) / 2)
    left.dot(cross, right(cross), size=6)
    left.dot(-cross, right(-cross), size=6)
    left.dot(w, right(w), style.INK, style.INK)
    left.dot(w, published(w), style.OTHER, style.OTHER, square=True)
    runs = trained(right, w), trained(published, w)
    plot = Axes((46, 40, 270, 250), (0, len(runs[0]) - 1), (-5.8, 0.6))
    plot.frame(ticks(0, 200, 4), decades(-5, 0, 1), "step", f"loss, trained from w = {number(w)}")
    _losses(plot, runs, ["right", "published"])
    text = (
        f"At w = {number(w)} the right gradient is {number(right(w))}, the published one {number(published(w))}.\n"
        f"After {len(runs[0]) - 1} steps: loss {_loss(runs[0][-1])} with the right rule, {_loss(runs[1][-1])} with the published.\n"
        f"The two gradients are equal at w = {cross:.4f} and −{cross:.4f}."
    )
    lines = text.splitlines()
    return Picture(
        beside(
            svg("0 0 376 340", "".join(left.parts), f"{lines[0]} {lines[2]}"),
            svg("0 0 398 340", "".join(plot.parts), lines[1]),
        ),
        text,
    )


def _loss(loss):
    """Return a loss as text, such as 0.509, or 3.2e−4 if it is at most 0.01."""
    return f"{loss:.3f}" if loss > 0.01 else f"{loss:.1e}".replace("e-0", "e−")


# --- Designs ------------------------------------------------------------------------------------------------------------------

CODE = "white-space:pre;overflow-x:auto;line-height:1.35;margin:0;font-size:13px"  # a wrapped line has no indent


def reading(name):
    """Show the code with which the design called `name` multiplies and runs its backward pass."""
    code, look = source(DESIGNS[name]), f"{style.CARD};{CODE};min-width:min(640px,95%)"
    return Picture(
        f'<pre style="{look}">{escape(code)}</pre>',
        f"{name}: {sum(map(bool, code.splitlines()))} lines, for multiplication and the backward pass",
    )


COLUMNS = [
    ("time per operation, µs", "microseconds", (-1, 3), lambda value: f"{value:.1f}"),
    ("memory per operation, bytes", "bytes", (0, 800), lambda value: f"{value:.0f}"),
    ("visits in a backward pass", "visits", (0, 5), lambda value: f"{value:,}"),
]  # where limits are powers of ten but for bytes


def costs(costs, longest, twice, graph):
    """Draw the time, the memory and the visits that each design needs for one graph.

    The picture also shows two other measurements of each design, `longest` and `twice`.

    Parameters
    ----------
    costs : dict of str to Cost
        For each design, its cost on the graph.
    longest : dict of str to int
        For each design, the length of the longest chain through which its backward pass does not
        fail.
    twice : dict of str to float
        For each design, the gradient after two backward passes, each of which contributes 12.
    graph : str
        The name of the graph.
    """
    panels = [
        _bars(
            title,
            {name: getattr(cost, what) for name, cost in costs.items()},
            limits,
            what != "bytes",
            shown,
        )
        for title, what, limits, shown in COLUMNS
    ]
    right = Axes((0, 0, 1, 1), (0, 1), (0, 1))
    for x, title in [(170, "longest chain"), (290, "two calls (one: 12)")]:
        right.words(x, 22, title, size=13)
    for row, name in enumerate(costs):
        right.words(6, 54 + 30 * row, name, anchor="start", size=13)
        right.words(170, 54 + 30 * row, f"{longest[name]:,}", size=13)
        right.words(290, 54 + 30 * row, number(twice[name]), size=13)
    words = "longest chain, and two calls: " + "; ".join(
        f"{name} {longest[name]:,}, {number(twice[name])}" for name in costs
    )
    text = [f"{graph}, in six designs. Time and memory are per operation, on this computer."]
    text += [
        f"{name}: {cost.microseconds:.1f} µs, {cost.bytes:.0f} bytes, {cost.visits:,} visits; longest chain {longest[name]:,}; "
        f"two calls give {number(twice[name])}"
        for name, cost in costs.items()
    ]
    return Picture(
        beside(*panels, svg("0 0 380 240", "".join(right.parts), words)), "\n".join(text)
    )


def _bars(title, values, limits, powers, shown):
    """Return the SVG of one panel, with a horizontal bar for each design.

    Parameters
    ----------
    title : str
        Title of the panel.
    values : dict of str to float
        For each design, its value.
    limits : tuple of int
        The ends of the scale, as powers of ten if `powers` is True.
    powers : bool
        True for a logarithmic scale.
    shown : callable
        Formats a value as text.
    """
    left, wide, top, step = 104, 216, 49, 30
    plot = Axes((left, top - 12, wide, step * len(values)), limits, (0, 1))
    plot.words(6, 22, title, anchor="start", size=13)
    for tick in range(limits[0], limits[1] + 1, 2) if powers else range(0, 801, 400):
        x, bottom = plot.at(tick, 0)
        plot.parts.append(
            f'<path d="M{x:.0f} {top - 14}V{bottom}" stroke="{style.LINE}" stroke-width=".6"/>'
        )
        plot.words(
            x, bottom + 16, f"{10.0**tick:,.10g}" if powers else f"{tick}", style.FAINT, size=13
        )
    for row, (name, value) in enumerate(values.items()):
        x, y = (
            plot.at(np.clip(np.log10(value) if powers else value, *limits), 0)[0],
            top + step * row,
        )
        plot.words(6, y + 5, name, anchor="start", size=13)
        plot.parts.append(
            f'<path d="M{left} {y}H{x:.1f}" stroke="{style.INK}" stroke-width="3"/>'
            f'<circle cx="{x:.1f}" cy="{y}" r="5" fill="{style.INK}"/>'
        )
        plot.words(x + 9, y + 4, shown(value), anchor="start", size=13, halo=True)
    words = f"{title}: " + ", ".join(f"{name} {shown(value)}" for name, value in values.items())
    return svg("0 0 380 240", "".join(plot.parts), words)


# --- The ward -----------------------------------------------------------------------------------------------------------------


def shown(value):
    """Return the result of a check as text for a table cell.

    The text is "error" for the name of an error, and has one line for each row of an array.
    """
    if isinstance(value, str):
        return "error"
    return "\n".join(" ".join(map(number, row)) for row in np.atleast_2d(value))


def in_line(value):
    """Return the result of a check as one line of text, with an array in square brackets."""
    return f"[{shown(value)}]".replace("\n", "; ") if np.ndim(value) else shown(value)


def ward(sheets, of=clinic):
    """Draw a table with a row for each check and a column for each engine.

    `sheets` is a dict that maps the letter of each engine to its results, as `sheet` returns them.
    A wrong result has a frame in the table, and a ✗ in the text version. `of` is the module that
    defines the checks, EXAMINATIONS and `fails`.
    """
    words, right_cell = (
        "text-align:left;min-width:9em;max-width:22em",
        f"color:{style.INK};font-weight:600",
    )
    head = [
        ("check", words),
        ("right", right_cell),
        *((letter, "font-weight:600;min-width:2.1em") for letter in sheets),
    ]
    rows = []
    lines = [
        f"{len(of.EXAMINATIONS)} checks of {counted(len(sheets), 'engine')}; ✗ marks a wrong result."
    ]
    for name, (asked, right, _) in of.EXAMINATIONS.items():
        cells, found = [], []
        for letter, results in sheets.items():
            value = shown(results[name])
            if of.fails(name, results[name]):
                found.append(f"{letter} {in_line(results[name])} ✗")
                cells.append(
                    f'<span style="border:2px dashed {style.INK};border-radius:4px;padding:1px 4px;'
                    f'font-weight:600;white-space:pre;display:inline-block">{value}</span>'
                )
            else:
                cells.append(("✓", f"color:{style.FAINT}"))
        rows.append(
            ((escape(asked), words), (shown(right), f"{right_cell};white-space:pre"), *cells)
        )
        lines.append(
            f"{asked}: right {in_line(right)}; "
            + ("; ".join(found) if found else "no engine fails")
        )
    cells = table(
        rows,
        head,
        ruled=True,
        style="font-size:13px;",
        cell=f"padding:4px 3px;text-align:center;color:{style.INK};",
    )
    return Picture(
        f'<div style="{style.CARD};font-family:{style.FONT}">{cells}</div>', "\n".join(lines)
    )


def case(letter, method="as found", of=clinic):
    """Draw the card of one patient, and mark the lines in which its faulty method differs from the correct one.

    With `method="fixed"`, the correct source and the results of the correct engine are shown
    instead of the faulty ones. `letter` names the patient, and `of` is the module that defines
    PATIENTS and the checks.
    """
    fixed, patient = method == "fixed", of.PATIENTS[letter]
    ill, healthy = patient.source.splitlines(), patient.healthy.splitlines()
    code = []
    here, there = (healthy, ill) if fixed else (ill, healthy)
    for kind, _, _, start, stop in SequenceMatcher(None, there, here, autojunk=False).get_opcodes():
        for line in here[start:stop]:
            same = kind == "equal"
            marked = ("  " if same else "✓ " if fixed else "✗ ") + line
            code.append(
                f'<span style="{"" if same else "font-weight:600"}">{escape(marked)}</span>'
            )
    facts = [
        ("symptom", patient.symptom),
        ("published in", patient.writeup),
        ("a gradient check", patient.check),
        ("cause", patient.cause),
    ]
    for name, ill_value in of.sheet(patient.engine).items():
        if name in patient.shows:
            value = of.sheet(patient.engine.__base__)[name] if fixed else ill_value
            sign = "✗" if of.fails(name, value) else "✓"
            outcome = f"{in_line(value)} {sign}".replace(" ", "\N{NO-BREAK SPACE}")
            facts.append(
                (
                    "checked again" if fixed else "failed check",
                    f"{of.EXAMINATIONS[name][0]}: {outcome}",
                )
            )
    cells = table(
        [((name, f"color:{style.FAINT};white-space:nowrap"), escape(fact)) for name, fact in facts],
        style="margin:4px 0 8px;font-size:13px;",
        cell=f"color:{style.INK};",
    )
    title = f"Patient {letter}, {'fixed' if fixed else 'as found'}"
    html = (
        f'<div style="{style.CARD};font-family:{style.FONT};font-size:13px;min-width:min(640px,95%)">'
        f"<strong>{title}</strong>{cells}"
        f'<pre style="{CODE};background:none;color:{style.INK}">{chr(10).join(code)}</pre></div>'
    )
    text = f"{title}. {facts[-1][1]}"
    return Picture(html, text)
