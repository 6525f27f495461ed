"""Draw the pictures of lesson 17: the memory of a network, a chain with checkpoints, and wrapped layers."""

from itertools import pairwise

import numpy as np

from ...drawing import style
from ...drawing.axes import Axes, ticks
from ...drawing.formatting import cell, counted, number
from ...drawing.picture import Picture, svg


def shares(parts, most):
    """Draw a horizontal bar for each entry of `parts`, on a scale that ends at `most` MB.

    `parts` is a dict that maps the name of each part to its memory in MB.
    """
    plot = Axes((220, 12, 270, 40 * len(parts)), (0, most), (0, 1))
    plot.frame([(x, words) for x, words in ticks(0, most)], [], "MB", "")
    said = ["Memory of a training step, before its backward pass."]
    for i, (name, size) in enumerate(parts.items()):
        size = _rough(size)
        _bar(plot, 16 + 40 * i, 30, [(size, style.VALUE)], name, number(size))
        said.append(f"{name}: {number(size)} MB")
    text = "\n".join(said)
    return Picture(
        svg(f"0 0 560 {58 + 40 * len(parts)}", "".join(plot.parts), text), text, says_all=True
    )


def _rough(size):
    """Return a measured size rounded to two significant digits."""
    return float(f"{size:.2g}")


def _bar(plot, top, high, pieces, name, words):
    """Draw a bar made of several pieces, with `name` to its left and `words` to its right.

    `pieces` lists (length, colour), `top` is the upper edge of the bar and `high` its height, in
    pixels.
    """
    px = start = plot.at(0, 0)[0]
    plot.words(start - 10, top + high / 2 + 5, name, anchor="end", size=13)
    for size, colour in pieces:
        wide = plot.at(size, 0)[0] - start
        plot.parts.append(
            f'<rect x="{px:.1f}" y="{top}" width="{wide:.1f}" height="{high}" fill="{colour}" '
            f'stroke="{style.LINE}" stroke-width="1"/>'
        )
        px += wide
    plot.words(px + 8, top + high / 2 + 5, words, anchor="start", size=13)


def trade(found):
    """Draw how much memory each method holds at most, and how many steps it runs.

    `found` is a dict that maps the name of each method to its pair (peak memory in MB, number of
    steps run).
    """
    memory, longest = (max(pair[i] for pair in found.values()) for i in (0, 1))
    above, below = (
        Axes((134, 40 + 140 * i, 276, 96), (0, most), (0, 1))
        for i, most in enumerate((memory, longest))
    )
    said = []
    for i, (name, (size, steps)) in enumerate(found.items()):
        _bar(above, 40 + 32 * i, 26, [(size, style.VALUE)], name, f"{number(round(size, 1))} MB")
        _bar(below, 180 + 32 * i, 26, [(steps, style.GROUND)], name, f"{steps:,} steps")
        said.append(f"{name}: at most {number(round(size, 1))} MB, {steps:,} steps run")
    above.words(20, 28, "held at most", anchor="start")
    below.words(20, 168, "steps run, forward and recomputed", anchor="start")
    text = "\n".join(["Memory and steps of each method.", *said])
    return Picture(
        svg("0 0 560 290", "".join([*above.parts, *below.parts]), text), text, says_all=True
    )


# --- A chain ----------------------------------------------------------------------------------------------------------

# A chain of n steps has n + 1 values: 0 is the input, j what step j makes. A segment is what lies between a mark and
# the next one.


def evenly(steps, k, start=0):
    """Return the positions of k checkpoints, as evenly spaced as possible over `steps` steps from `start` on."""
    return [start + steps * j // k for j in range(k)]


def cost(widths, marks):
    """Return the memory of the checkpoints, the memory of the largest segment, and this segment as (start, end).

    `widths` holds the width of each value in the chain, and `marks` the positions of the
    checkpoints in ascending order. The memory is the sum of the widths.
    """
    segments = [*pairwise([*marks, len(widths) - 1])]
    sizes = [sum(widths[p + 1 : q + 1]) for p, q in segments]
    heaviest = int(np.argmax(sizes))
    return sum(widths[p] for p in marks), sizes[heaviest], segments[heaviest]


def moments(n, marks):
    """Return a list of the moments of a pass through a chain of n steps, with checkpoints at `marks`.

    Each moment is (action, step, values held besides the checkpoints, checkpoints set so far),
    where the action is "forward", "again" for a recomputed step, or "back". Without checkpoints,
    all values of the chain are held, and the input is one of them. With checkpoints, the backward
    pass holds one segment at a time. The end of a segment is held twice if it is also a checkpoint.
    """
    if not marks:
        return [("forward", j, range(j + 1), []) for j in range(1, n + 1)] + [
            ("back", j, range(n + 1), []) for j in range(n, 0, -1)
        ]
    found = [("forward", j, range(j, j + 1), [p for p in marks if p < j]) for j in range(1, n + 1)]
    for p, q in reversed([*pairwise([*marks, n])]):
        found += [("again", j, range(p + 1, j + 1), marks) for j in range(p + 1, q + 1)]
        found += [("back", j, range(p + 1, q + 1), marks) for j in range(q, p, -1)]
    return found


def walked(n, k, moment):
    """Draw a chain of n steps with k checkpoints at one moment of its pass.

    The upper row holds the checkpoints and the lower row everything else, so a value that is held
    twice is drawn twice, and the filled cells are as many as the arrays held. Below the chain, the
    number of arrays held at each moment so far is plotted. With k = 0 there are no checkpoints. A
    checkpoint that is not set yet has a hollow flag. `moment` is from 0 to 3n − 1. If the pass has
    fewer moments, later moments show its last state.
    """
    marks = evenly(n, k) if k else []
    every = moments(n, marks)
    last = len(every) - 1
    done, at, held, kept = every[min(moment, last)]
    amounts = [len(segment) + len(set_) for _, _, segment, set_ in every]
    past = amounts[: moment + 1]
    left, width = 72, 422
    plot = Axes((left, 186, width, 110), (0, 3 * n - 1), (0, n + 2))
    wide = width / (n + 1)
    for j in range(n + 1):
        px = left + j * wide
        if j in marks:
            look = "value" if j in kept else "pale"
            plot.parts.append(cell(px, 46, wide, 30, str(j), look))
            ink = style.INK if j in kept else style.PAPER
            plot.parts.append(_flag(px + wide / 2, 44, 44, ink))
        comes = done == "forward" and j > at or not marks
        look = "value" if j in held else "pale" if comes else "ghost"
        plot.parts.append(cell(px, 84, wide, 30, str(j), look))
    plot.words(left - 8, 66, "marks", style.FAINT, "end", 13)
    plot.words(left - 8, 104, "rest", style.FAINT, "end", 13)
    px = left + (at + 0.5) * wide
    if moment > last:
        plot.words(left, 135, f"done at moment {last}", style.INK, "start", 13)
    elif done == "back":
        plot.parts.append(
            f'<path d="M{px:.1f} 130H{px - wide:.1f}m7 -5l-7 5l7 5" fill="none" '
            f'stroke="{style.GRADIENT}" '
            'stroke-width="2.5" stroke-dasharray="5 2"/>'
        )
        plot.words(px + 6, 135, "g", style.GRADIENT, "start", 14)
    else:
        plot.parts.append(
            f'<path d="M{px - wide:.1f} 130H{px:.1f}m-7 -5l7 5l-7 5" fill="none" stroke="{style.INK}" '
            f'stroke-width="2.5"/>'
        )
        plot.words(
            px + 6, 135, {"forward": "forward", "again": "recompute"}[done], style.INK, "start", 13
        )
    plot.frame(
        [(m, str(m)) for m in range(0, 3 * n, n)],
        [(y, str(y)) for y in range(0, n + 3, 4)],
        "moment",
        f"arrays held: now {past[-1]}, at most so far {max(past)}",
    )
    plot.line(range(len(past)), past, style.VALUE, 2)
    plot.dot(len(past) - 1, past[-1], style.VALUE, style.VALUE)
    doing = {
        "forward": f"forward, step {at}",
        "again": f"recompute step {at}",
        "back": f"back through step {at}",
    }[done]
    if moment > last:
        doing = f"done at moment {last}"
    twice = [str(p) for p in kept if p in held]
    text = "\n".join(
        [
            f"{doing}: {counted(past[-1], 'array')} held, at most {max(past)} so far",
            "; ".join(
                f"{which} at {', '.join(map(str, places))}"
                for which, places in [("marks", kept), ("planned marks", marks[len(kept) :])]
                if places
            )
            or "no marks",
            "held"
            + " beside them" * bool(kept)
            + ": "
            + (f"{held[0]} to {held[-1]}" if len(held) > 1 else str(held[0]))
            + "".join(f"; {p} is held twice" for p in twice),
        ]
    )
    return Picture(svg("0 0 560 340", "".join(plot.parts), text), text)


def _flag(px, high, low, fill=style.INK):
    """Return the SVG of a checkpoint's flag at the horizontal position `px`.

    The flag is just above the vertical position `high`, and the foot of its pole is at `low`.
    """
    return (
        f'<path d="M{px:.1f} {low:.1f}V{high - 22}l9 5l-9 5" fill="{fill}" stroke="{style.INK}" '
        f'stroke-width="1.2" '
        'stroke-linejoin="round"/>'
    )


def marked(widths, marks, most=None):
    """Draw a chain of many values with a flag at each checkpoint, and below it the memory and time needed.

    Parameters
    ----------
    widths : list of int
        The width of each of the n + 1 values, drawn as the height of its bar.
    marks : list of int
        The positions of the checkpoints, counted from 0.
    most : int, optional
        If given, the memory for 2 to `most` evenly spaced checkpoints is plotted, and a dot shows
        the memory for the given number of checkpoints.

    Notes
    -----
    The upper row is the chain: its checkpoints are black, and the dropped values are grey. The
    lower row is the largest segment, in blue. Its end is drawn in both rows if it is a checkpoint,
    because it is then held twice.
    """
    n, (kept, segment, (start, end)) = len(widths) - 1, cost(widths, marks)
    total, everything = kept + segment, sum(widths)
    rows = [Axes((88, top, 452, 48), (0, n + 1), (0, max(widths))) for top in (40, 98)]
    chain, rerun = rows
    for j, w in enumerate(widths):
        _column(chain, n, j, w, style.INK if j in marks else style.GROUND)
        if j in marks:
            left, top = chain.at(j, w)
            chain.parts.append(_flag(left + 226 / (n + 1), 39, top))
        if start < j <= end:
            _column(rerun, n, j, w, style.VALUE)
    rerun.parts.append(f'<path d="M88 146.5H540" stroke="{style.LINE}" stroke-width="1"/>')
    chain.words(4, 70, "marks", anchor="start", size=13)
    rerun.words(4, 128, "segment", anchor="start", size=13)
    rerun.words(88, 164, "input", style.FAINT, "start", 13)
    rerun.words(540, 164, f"after {n} steps", style.FAINT, "end", 13)
    bars = Axes((226, 188, 160, 60), (0, everything), (0, 1))
    _bar(
        bars,
        178,
        26,
        [(kept, style.INK), (segment, style.VALUE)],
        "held at most",
        f"{kept} + {segment} = {total}",
    )
    _bar(bars, 210, 26, [(everything, style.PAPER)], "a plain tape holds", str(everything))
    bars.words(216, 260, "steps run again", anchor="end", size=13)
    bars.words(226, 260, f"{n} of {n}", anchor="start", size=13)
    lines = [
        f"{counted(len(marks), 'mark')}: held at most {kept} + {segment} = {total}, where a "
        f"plain tape holds {everything}",
        f"the marks hold {kept}",
        f"the heaviest segment holds {segment}: from step {start + 1} to step {end}",
        *[f"value {end} is held twice: as a mark, and at the end of the segment"] * (end in marks),
        f"run again: {n} steps, each once",
    ]
    high, parts = 274, [part for axes in (*rows, bars) for part in axes.parts]
    if most:
        high, totals = 454, {k: sum(cost(widths, evenly(n, k))[:2]) for k in range(2, most + 1)}
        top = 20 * -(-max(totals.values()) // 20)
        curve = Axes((88, 310, 452, 96), (0, most), (0, top))
        curve.frame(
            ticks(0, most, 5), ticks(0, top, 3), "marks", "held at most, for each number of marks"
        )
        curve.line(totals, totals.values(), style.VALUE, 2)
        curve.dot(len(marks), total, style.VALUE, style.VALUE)
        parts += curve.parts
        least = min(totals, key=totals.get)
        lines.append(
            f"a curve: from {totals[2]} with 2 marks down to {totals[least]} with {least}, and up to "
            f"{totals[most]} with {most}; a dot at {counted(len(marks), 'mark')} and {total}"
        )
    text = "\n".join(lines)
    return Picture(svg(f"0 0 560 {high}", "".join(parts), text), text)


def _column(axes, n, j, height, colour):
    """Add the bar of value j to `axes`, which show the n + 1 values of a chain."""
    (left, top), low = axes.at(j, height), axes.at(0, 0)[1]
    axes.parts.append(
        f'<rect x="{left + 0.5:.1f}" y="{top:.1f}" width="{axes.box[2] / (n + 1) - 1:.1f}" '
        f'height="{low - top:.1f}" fill="{colour}"/>'
    )


def nested(n):
    """Return a list of the moments of a pass through a chain of n steps, nested by halves.

    Each moment is (action, step, values held by the outermost chain, values held by chains that run
    again), where the action is "forward", "again" or "back". n is a power of 2. As in the engine, a
    first half is recorded, and its results are forgotten except for the last one. A chain that runs
    again releases each result as soon as g has passed it. A mark is passed when its chain has run.
    """
    kept, again, found = [0], [], []

    def run(start, m, held):
        """Run m steps, and return the tape: a list of (start, steps of a checkpoint or 0 for a step)."""
        if m == 1:
            held.append(start + 1)
            done = "forward" if held is kept else "again"
            found.append((done, start + 1, sorted(kept), sorted(again)))
            return [(start, 0)]
        half = m // 2
        for p, steps in run(start, half, held)[:-1]:
            held.remove(p + max(steps, 1))
        return [(start, half), *run(start + half, half, held)]

    def back(tape, held):
        for start, m in reversed(tape):
            if m == 0:
                found.append(("back", start + 1, sorted(kept), sorted(again)))
            inner = run(start, m, again) if m else []
            if held is again:
                again.remove(start + max(m, 1))
            back(inner, again)

    back(run(0, n, kept), kept)
    return found


def halved(n):
    """Draw which values a chain of n steps, nested by halves, holds at each moment of its pass.

    A column is a moment, and a row is a value. A cell is black if the outermost chain holds the
    value, and blue if a chain that runs again holds it. A value that both hold has a blue cell in
    its black one. A dashed line shows where g is. Below, the number of arrays held is plotted.
    """
    every = nested(n)
    amounts = [len(kept) + len(again) for _, _, kept, again in every]
    most, after = max(amounts), every[n - 1][2]
    grid = Axes((56, 62, 484, 11 * (n + 1)), (0, len(every)), (-0.5, n + 0.5))
    grid.frame([], [(j, str(j)) for j in range(0, n + 1, n // 4)])
    for which, colour, inset in [(2, style.INK, 0.5), (3, style.VALUE, 2)]:
        for j in range(n + 1):
            at = [m for m, moment in enumerate(every) if j in moment[which]]
            starts = [m for m in at if m - 1 not in at]
            for m in starts:
                wide = next(k for k in range(1, len(every) + 1) if m + k not in at)
                px, py = grid.at(m, j + 0.5)
                grid.parts.append(
                    f'<rect x="{px:.1f}" y="{py + inset:.1f}" '
                    f'width="{wide * 484 / len(every):.1f}" height="{11 - 2 * inset:g}" '
                    f'fill="{colour}"/>'
                )
    g = [(m + 0.5, at - 0.5) for m, (done, at, _, _) in enumerate(every) if done == "back"]
    grid.line(*zip(*g), style.GRADIENT, 2.5, "5 2")
    for x, words, colour in [
        (56, "outermost chain", style.INK),
        (256, "run again", style.VALUE),
    ]:
        grid.parts.append(f'<rect x="{x}" y="12" width="14" height="11" fill="{colour}"/>')
        grid.words(x + 20, 22, words, anchor="start", size=13)
    grid.key(400, 22, "g", style.GRADIENT, 2.5, "5 2")
    grid.words(56, 50, "held: value number", anchor="start")
    top = 96 + 11 * (n + 1)
    curve = Axes((56, top, 484, 70), (0, len(every)), (0, n + 2))
    curve.frame(
        ticks(0, len(every)),
        [(0, "0"), (most, str(most)), (n + 1, str(n + 1))],
        "moment",
        f"arrays held: at most {most} (a plain tape: {n + 1})",
    )
    curve.line([m + 0.5 for m in range(len(every))], amounts, style.VALUE, 2)
    said = [
        f"A chain of {n} steps by halves, at {len(every)} moments: at most {most} arrays are held, "
        f"where a plain tape holds {n + 1}",
        f"after the forward pass, held to the end: {', '.join(map(str, after))}",
    ]
    for m, (done, at, _, again) in enumerate(every):
        if done == "again" and every[m + 1][0] == "back":
            first = next(k for k in range(m, 0, -1) if every[k - 1][0] == "back")
            ran = every[first][1]
            said.append(
                (f"steps {ran} to {at} run" if ran < at else f"step {at} runs")
                + f" again, up to moment {m + 1}; held beside them: {', '.join(map(str, again))}"
            )
    text = "\n".join(said)
    return Picture(svg(f"0 0 560 {top + 116}", "".join([*grid.parts, *curve.parts]), text), text)


# --- Layers -----------------------------------------------------------------------------------------------------------


def layers(table, first=0, count=0, measured=None):
    """Draw the memory that each layer of a model adds, with some of the layers wrapped in a checkpoint.

    Parameters
    ----------
    table : list of tuple
        (name, held, result) for each layer, as `by_layer` returns it.
    first, count : int
        The first wrapped layer, and the number of wrapped layers.
    measured : tuple of float, optional
        (held, peak) of the whole model in MB, printed below the picture.

    Notes
    -----
    A Dropout layer keeps its mask in memory even if it is wrapped.
    """
    last = min(first + count, len(table)) - 1
    most = 1.1 * max(held for _, held, _ in table)
    plot = Axes((56, 42, 496, 180), (0, len(table)), (0, most))
    plot.frame([], ticks(0, most, 4), "", "held by each layer, MB (dotted: freed)")
    said, freed = [], 0.0
    for i, (name, held, result) in enumerate(table):
        wrapped = first <= i <= last
        mask = held - result if name == "Dropout" else 0.0
        stays = held if not wrapped else mask + (result if i == last else 0.0)
        freed += held - stays
        for size, colour, dash in [(held, "none", "3 3"), (stays, style.VALUE, "none")]:
            (left, top), (_, low) = plot.at(i, size), plot.at(i, 0)
            plot.parts.append(
                f'<rect x="{left + 8:.1f}" y="{top:.1f}" width="{496 / len(table) - 16:.1f}" height="{low - top:.1f}" '
                f'fill="{colour}" stroke="{style.VALUE}" stroke-dasharray="{dash}"/>'
            )
        middle = plot.at(i + 0.5, 0)[0]
        shown = _brief(stays)
        plot.words(middle, plot.at(0, held)[1] - 6, shown, size=13)
        plot.words(middle, 240, str(i), style.FAINT, size=13)
        plot.words(middle, 257 + 17 * (i % 2), name, size=13)
        said.append(f"{i} {name}: {shown} MB held" + f" of {_brief(held)}" * wrapped)
    if count:
        (left, _), (right, _) = plot.at(first, 0), plot.at(last + 1, 0)
        plot.parts.append(
            f'<path d="M{left + 4:.1f} 281v6H{right - 4:.1f}v-6" fill="none" stroke="{style.INK}" stroke-width="2"/>'
        )
        plot.words((left + right) / 2, 303, "wrapped", size=13)
        said.insert(0, f"wrapped, {first} to {last}: {_brief(freed)} MB are freed")
    if measured:
        said.insert(
            0,
            f"measured: held {number(_rough(measured[0]))} MB after the forward pass, "
            f"at most {number(_rough(measured[1]))} MB until the backward pass is done",
        )
        for nth, line in enumerate(said[0].split(", ")):
            plot.words(14, 329 + 19 * nth, line, anchor="start", size=13)
    text = "\n".join(said)
    return Picture(svg("0 0 560 361", "".join(plot.parts), text), text)


def _brief(size):
    """Return a size as text with one decimal, or with two if one decimal would show 0."""
    return number(round(size, 1) or round(size, 2))
