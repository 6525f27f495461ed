"""Draw the pictures of lesson 21: engines, ports, the time of workers, and the learner's path through the course."""

from html import escape

import numpy as np

from ... import record
from ...drawing import style
from ...drawing.axes import Axes, decades, ticks
from ...drawing.formatting import cell, counted, minus, number
from ...drawing.picture import Picture, beside, svg
from ...drawing.table import CODE, table
from ...grading import EXERCISES, registered
from ...quiz.texts import PREDICTIONS
from .ports import AT, NETWORK, PORTS, STAGES, lines

ROUNDING = 1e-13  # differences below it, relative to the largest entry, are rounding


# --- The network in three engines -----------------------------------------------------------------------------------


def side_by_side():
    """Draw the network's code in the three engines side by side, with one row for each stage."""
    rows = []
    for stage, *code in zip(STAGES, *map(lines, NETWORK.values())):
        cells = [
            f'<div style="{CODE};font-size:13px;min-width:14em">{escape(line.partition(" = ")[2])}</div>'
            for line in code
        ]
        rows.append((f"<strong>{stage}</strong>", *cells))
    text = [
        f"{stage}: " + " | ".join(line.partition(" = ")[2] for line in code)
        for stage, *code in zip(STAGES, *map(lines, NETWORK.values()))
    ]
    head = ["value", *("autograd_lib" if name == "ours" else name for name in NETWORK)]
    return Picture(
        f'<div style="overflow-x:auto">{table(rows, head, ruled=True)}</div>',
        "\n".join([" | ".join(head), *text]),
    )


def line_of(port):
    """Draw the faulty line of a port beside the correct line of its engine.

    `port` is a letter from "A" to "E".
    """
    letter, port = port, PORTS[port]
    code = f'style="{CODE}"'
    rows = [
        (("as people write it", "white-space:nowrap"), f"<div {code}>{escape(port.line)}</div>"),
        (
            ("to agree with yours", "white-space:nowrap"),
            f"<div {code}>{escape(port.healthy)}</div>",
        ),
    ]
    text = (
        f"{letter}, in {port.engine}: {port.cause}.\n"
        f"as people write it: {port.line}\nto agree with yours: {port.healthy}"
    )
    return Picture(
        f"<div><p><strong>{letter}</strong>, in {port.engine}: {port.cause}.</p>{table(rows, wide=True)}</div>",
        text,
        says_all=True,
    )


# --- Ports ----------------------------------------------------------------------------------------------------------


def trained(evidence):
    """Draw the training losses of our network and of the five ports.

    `evidence` is a dict of Evidence by name, as `compared` returns it.
    """
    runs = {name: evidence[name].losses for name in ["ours", *PORTS]}
    steps, high = len(runs["ours"]) - 1, max(map(max, runs.values()))
    plot = Axes((50, 36, 490, 220), (0, steps), (0, 1.05 * high))
    plot.frame(ticks(0, steps), ticks(0, high, 5), "step", "loss L (dotted: yours)")
    ends = sorted(runs, key=lambda name: runs[name][-1])
    groups = []  # the runs that end within a fiftieth of the height of each other
    for name in ends:
        if groups and runs[name][-1] - runs[groups[-1][-1]][-1] < high / 50:
            groups[-1].append(name)
        else:
            groups.append([name])
    for name, losses in runs.items():
        if name != "ours":
            plot.line(range(steps + 1), losses, style.INK, 1.6)
    plot.line(range(steps + 1), runs["ours"], style.VALUE, 4, "2 6")
    for group in groups:
        px, py = plot.at(steps, runs[group[-1]][-1])
        plot.words(px, py - 28, _listed(group), anchor="end", size=13, halo=True)
    text = [
        f"Six training runs of {steps} steps from one start: yours and five ports. All losses fall.",
        *(
            f"{'yours' if name == 'ours' else name}: from {losses[0]:.2f} to {losses[-1]:.2f}"
            for name, losses in runs.items()
        ),
    ]
    return Picture(svg("0 0 560 300", "".join(plot.parts), "\n".join(text)), "\n".join(text))


def _listed(names):
    names = ["yours" if name == "ours" else name for name in sorted(names)]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _about(apart):
    """Return a difference as text with one digit, such as 0.008 or 2e−4, short enough for a small table cell."""
    return (
        number(float(f"{apart:.0e}"))
        if apart >= 0.001
        else minus(f"{apart:.0e}").replace("e−0", "e−")
    )


def chart(evidence):
    """Draw a table of how far each engine and each port is from our network before training.

    The rows are the forward values, then the gradients. A difference within rounding is left blank.
    `evidence` is a dict of Evidence by name, as `compared` returns it.
    """
    names = ["PyTorch", "JAX", *PORTS]
    plot, left, top, wide, high = Axes((0, 0, 1, 1), (0, 1), (0, 1)), 80, 56, 64, 28
    said = []
    for column, name in enumerate(names):
        x = left + column * wide + 12 * (column > 1)
        plot.words(x + wide / 2, top - 8, name, size=14)
        rows = list(evidence[name].values.items()) + list(evidence[name].gradients.items())
        for row, (_, apart) in enumerate(rows):
            differs = apart > ROUNDING
            y = top + row * high + 26 * (row >= len(STAGES))
            plot.parts.append(
                cell(
                    x,
                    y,
                    wide,
                    high,
                    _about(apart) if differs else "",
                    "picked" if differs else "pale",
                )
            )
        apart = [f"{key} {_about(apart)}" for key, apart in rows if apart > ROUNDING]
        said.append(f"{name}: {', '.join(apart) or 'nothing'}")
    plot.words(8, 22, "difference from yours (blank: only rounding)", anchor="start", size=13)
    for row, key in enumerate([*evidence["A"].values, *evidence["A"].gradients]):
        y = top + row * high + 26 * (row >= len(STAGES)) + high / 2 + 4.5
        plot.words(8, y, key, anchor="start", size=13)
    below = top + len(STAGES) * high
    plot.words(8, below + 18, "gradient of", style.FAINT, "start", 13)
    text = (
        "Where each differs from yours by more than rounding, values first, then gradients.\n"
        + "\n".join(said)
    )
    return Picture(
        svg(
            f"0 0 {left + len(names) * wide + 20} {below + 26 + 6 * high + 8}",
            "".join(plot.parts),
            text,
        ),
        text,
    )


def what_follows(found):
    """Draw a table of what the difference of each port changes: after training, and with loaded weights.

    `found` is a dict of dicts by name, as `consequences` returns it. The first seed is shown.
    """
    head = [
        "",
        "trained here: scans read correctly, of 360",
        "your trained weights loaded: largest change of a logit",
        "and scans read differently",
    ]
    rows = []
    for name, one in found.items():
        change = one["logits"][0]
        rows.append(
            (
                "yours" if name == "ours" else name,
                str(one["read"][0]),
                _about(change) if change > ROUNDING else "only rounding" if name != "ours" else "",
                str(one["reread"][0]) if name != "ours" else "",
            )
        )
    text = "\n".join(
        f"{name}: {read} of 360 new scans read correctly"
        + (
            f"; with your trained weights, change of a logit: {change}, scans read differently: {reread}"
            if change
            else ""
        )
        for name, read, change, reread in rows
    )
    return Picture(
        f'<div style="overflow-x:auto">{table(rows, head, ruled=True)}</div>', text, says_all=True
    )


# --- One number under a slider --------------------------------------------------------------------------------------

ENGINES = {
    "ours": ("yours", style.GRADIENT, False),
    "PyTorch": ("PyTorch", style.INK, True),
    "JAX": ("JAX", style.INK, False),
}


def agree(slopes, scene, t):
    """Draw the gradient with respect to t in three engines, and how far the other two are from ours.

    `slopes` is a dict of dicts: `slopes[engine][scene]` is a list with a gradient for each t of AT.
    `scene` is the scene to draw, and the digits are shown at the t of AT that is nearest to `t`.
    """
    k = min(range(len(AT)), key=lambda k: abs(AT[k] - t))
    now = {engine: slopes[engine][scene][k] for engine in ENGINES}
    mine = np.array(slopes["ours"][scene])
    low, high = (
        min(map(min, (slopes[e][scene] for e in ENGINES))),
        max(map(max, (slopes[e][scene] for e in ENGINES))),
    )
    room = 0.12 * (high - low)
    span = AT[0] - 0.1, AT[-1] + 0.1  # so that no mark lies on the numbers at the axes
    left = Axes((58, 40, 290, 190), span, (low - room, high + room))
    left.frame(ticks(AT[0], AT[-1], 4), ticks(low, high, 4), "t", "gradient with respect to t")
    jumps = (
        np.flatnonzero(np.abs(np.diff(mine)) > (high - low) / 4) + 1
    )  # no line leads over a jump
    for ts, gs in zip(np.split(AT, jumps), np.split(mine, jumps)):
        left.line(ts, gs, style.GRADIENT, 2.2, "6 4")
        if len(ts) == 1:
            left.dot(ts[0], gs[0], style.GRADIENT, style.PAPER, size=4)
    left.dot(AT[k], now["PyTorch"], style.INK, square=True, size=8)
    left.dot(AT[k], now["JAX"], style.INK, size=5)
    left.dot(AT[k], now["ours"], style.GRADIENT, style.GRADIENT, size=2.5)
    right = Axes((54, 40, 286, 190), span, (-18.7, 0.5))
    right.frame(
        ticks(AT[0], AT[-1], 4), [(-18, "0"), *decades(-16, 0, 4)], "t", "difference from yours"
    )
    right.line([AT[k], AT[k]], right.y, style.LINE, 1.2)
    for engine, square in [("PyTorch", True), ("JAX", False)]:
        apart = np.log10(np.maximum(np.abs(np.array(slopes[engine][scene]) - mine), 1e-18))
        for at, far in zip(AT, apart):
            if far > -17.9:
                right.dot(at, far, style.INK, square=square, size=3.4 if square else 2.4)
        right.dot(AT[k], apart[k], square=square, size=8 if square else 5)
    digits = Axes((0, 0, 1, 1), (0, 1), (0, 1))
    written = {engine: f"{value:+.17f}" for engine, value in now.items()}
    for row, engine in enumerate(ENGINES):
        y = 24 + 26 * row
        digits.mark(
            14,
            y - 5,
            ENGINES[engine][1],
            style.GRADIENT if engine == "ours" else style.PAPER,
            ENGINES[engine][2],
            5,
        )
        digits.words(30, y, ENGINES[engine][0], anchor="start", size=13)
        same = _alike(written[engine], written["ours"])
        for place, digit in enumerate(written[engine]):
            x = 120 + 15 * place
            if place >= same and engine != "ours":
                digits.parts.append(
                    f'<rect x="{x - 7}" y="{y - 14}" width="14" height="19" fill="none" '
                    f'stroke="{style.INK}" stroke-width="1.6"/>'
                )
            digits.words(x, y, "−" if digit == "-" else digit, size=16)
    text = [f"{scene}: the gradient with respect to t, at t = {number(AT[k])}"]
    text += [
        f"{ENGINES[engine][0]} {number(now[engine])}"
        + (f", {_apart(now[engine], now['ours'])}" if engine != "ours" else "")
        for engine in ENGINES
    ]
    words = "\n".join(text)
    return Picture(
        beside(
            svg("0 0 366 286", "".join(left.parts), words),
            svg("0 0 356 286", "".join(right.parts), "the distances, over t"),
            svg("0 0 440 92", "".join(digits.parts), words),
        ),
        words,
    )


def _alike(one, other):
    """Return the length of the longest common prefix of the strings `one` and `other`."""
    return next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), len(other))


def _apart(theirs, ours):
    return (
        "equal to the last bit" if theirs == ours else f"{number(abs(theirs - ours), 1)} from yours"
    )


# --- Time against workers -------------------------------------------------------------------------------------------


def times(measured, rows):
    """Draw the time of a training step over `rows` scans, in this process and with each number of workers.

    `measured` is a dict of dicts: `measured[rows][workers]` is the time in seconds, where 0 workers
    means this process.
    """
    step, wide = measured[rows], 300
    slowest = max(max(each.values()) for each in measured.values()) * 1e3
    fastest = (
        min(each[0] / max(each) for each in measured.values()) * 1e3
    )  # without anything to send
    limits = np.log10(fastest) - 0.2, np.log10(slowest)
    bottom = 50 + 34 * len(step)
    plot = Axes((150, 46, wide, bottom - 50), limits, (0, 1))
    plot.words(
        8,
        24,
        f"one step over {rows:,} scans, in ms; × 10 per grid line",
        anchor="start",
        size=13,
    )
    for power in range(int(np.ceil(limits[0])), int(limits[1]) + 1):
        x = plot.at(power, 0)[0]
        plot.parts.append(
            f'<path d="M{x:.0f} 40V{bottom}" stroke="{style.LINE}" stroke-width=".6"/>'
        )
        plot.words(
            x,
            bottom + 14,
            f"{10**power:,}" if power >= 0 else f"{10.0**power:g}",
            style.FAINT,
            size=13,
        )
    said = []
    for row, (workers, seconds) in enumerate(step.items()):
        y, ideal = 62 + 34 * row, step[0] / max(workers, 1)
        name = "this process" if not workers else counted(workers, "worker")
        x, there = (plot.at(np.log10(1e3 * each), 0)[0] for each in (seconds, ideal))
        plot.words(8, y + 5, name, anchor="start", size=13)
        if workers:
            plot.parts.append(
                f'<path d="M{there:.1f} {y}H{x:.1f}" stroke="{style.INK}" stroke-width="2"/>'
                f'<path d="M{there:.1f} {y - 10}v20" stroke="{style.INK}" stroke-width="2"/>'
            )
        plot.mark(x, y, fill=style.INK, size=6)
        plot.words(
            max(x, there * bool(workers)) + 16,
            y + 5,
            number(float(f"{1e3 * seconds:.3g}")),
            anchor="start",
            size=13,
            halo=True,
        )
        said.append(
            f"{name}: {number(float(f'{1e3 * seconds:.3g}'))} ms"
            + (
                f"; the time of this process, divided by {workers}: {number(float(f'{1e3 * ideal:.3g}'))}"
                if workers
                else ""
            )
        )
    plot.words(
        8,
        bottom + 38,
        "vertical mark: one process / workers",
        style.FAINT,
        "start",
        13,
    )
    text = f"One step over {rows:,} scans, on this computer, now.\n" + "\n".join(said)
    return Picture(svg(f"0 0 {150 + wide + 70} {bottom + 50}", "".join(plot.parts), text), text)


# --- The whole way --------------------------------------------------------------------------------------------------


def learning_path():
    """Draw the learner's path through the course, as recorded in progress.json in the notebook's folder."""
    registered()
    return way(record.read(), list(EXERCISES), list(PREDICTIONS), record.lessons())


def way(kept, exercises, predictions, titles):
    """Draw a learner's path through the course: exercises above the axis, predictions and cards below it.

    Parameters
    ----------
    kept : dict
        The record, as `record.read()` returns it.
    exercises, predictions : list of str
        The names "NN.word" of all exercises and of all predictions.
    titles : dict of str to str
        The title of each lesson, which begins with its number, by the number "NN".
    """
    solved, made, cards = set(kept["exercises"]), kept["predictions"], kept["cards"]
    lessons = sorted({name[:2] for name in [*exercises, *predictions]})
    step, size = 21, 16
    tall = max(sum(name[:2] == lesson for name in exercises) for lesson in lessons)
    deep = max(
        sum(name[:2] == lesson and name in made for name in predictions) for lesson in lessons
    )
    ground, plot, said = 84 + tall * (size + 3), Axes((0, 0, 1, 1), (0, 1), (0, 1)), []
    counts = dict.fromkeys(["right", "corrected", "missed"], 0)

    def token(px, py, sign):
        """Draw the sign for the result of a prediction at (px, py): an empty circle, or a circle with ✓ or ?."""
        inks = (style.INK, style.PAPER) if sign == "?" else (style.PAPER, style.INK)
        plot.mark(px, py, fill=inks[0], size=6)  # on a phone larger ones touch
        plot.words(px, py + 5, sign, inks[1], size=13)

    for column, lesson in enumerate(lessons):
        x = 16 + column * step
        done = sorted((name in solved for name in exercises if name[:2] == lesson), reverse=True)
        for k, right in enumerate(done):
            y = ground - (k + 1) * (size + 3)
            fill, line = (style.INK, style.INK) if right else ("none", style.LINE)
            plot.parts.append(
                f'<rect x="{x}" y="{y}" width="{size}" height="{size}" rx="2" fill="{fill}" '
                f'stroke="{line}"/>'
            )
        if column % 2 == 0:  # on a phone all would touch
            plot.words(x + size / 2, ground + 17, lesson, size=13)
        fates = [_fate(made[name]) for name in predictions if name[:2] == lesson and name in made]
        for k, fate in enumerate(sorted(fates, key=list(counts).index)):
            counts[fate] += 1
            token(
                x + size / 2,
                ground + 36 + k * (size + 3),
                {"right": "", "corrected": "✓", "missed": "?"}[fate],
            )
        if lesson in cards:
            plot.words(x + size / 2, ground + 36 + deep * (size + 3) + 4, "≡", size=20)
        if any(done) or fates or lesson in cards:
            said.append(
                f"{titles.get(lesson, lesson)}: {sum(done)} of {len(done)} exercises, predictions "
                f"{', '.join(f'{fates.count(fate)} {fate}' for fate in counts if fate in fates) or 'none'}"
                + ", a card"
                * (lesson in cards)
            )
    right = len(solved & set(exercises))
    heads = [
        f"{right} of {len(exercises)} exercises right. {counted(len(cards), 'card')}.",
        f"{sum(counts.values())} predictions: {counts['right']} right at once,",
        f"{counts['corrected']} missed and later right, {counts['missed']} missed.",
    ]
    for y, words in zip((24, 44, 64), heads):
        plot.words(16, y, words, anchor="start", size=14)
    low = ground + 36 + deep * (size + 3) + 36
    key = [
        ("rect", "an exercise, right; a column is a lesson"),
        ("open", "an exercise, not right yet; some are optional"),
        ("", "a prediction, right at once"),
        ("✓", "missed, and right when it came back"),
        ("?", "missed"),
        ("≡", "a card"),
    ]
    for mark, words in key:
        if mark in ("rect", "open"):
            fill, line = (style.INK, style.INK) if mark == "rect" else ("none", style.LINE)
            plot.parts.append(
                f'<rect x="16" y="{low - 10}" width="14" height="12" rx="2" fill="{fill}" stroke="{line}"/>'
            )
        elif mark == "≡":
            plot.words(23, low + 2, mark, size=20)
        else:
            token(23, low - 4, mark)
        plot.words(42, low, words, style.FAINT, "start", 13)
        low += 22
    text = "\n".join([" ".join(heads), *(said or ["Nothing is recorded in this folder yet."])])
    return Picture(
        svg(f"0 0 {max(32 + step * len(lessons), 400)} {low}", "".join(plot.parts), text), text
    )


def _fate(made):
    """Return the outcome of a recorded prediction: "right", "corrected" or "missed".

    "corrected" means that the first answer was wrong, and that the answer in a later lesson was
    right.
    """
    return "right" if made["right"] else "corrected" if made["recalled"] else "missed"
