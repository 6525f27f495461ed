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

    Each moment is (action, step, values held of the current segment, checkpoints set so far), where
    the action is "forward", "again" for a recomputed step, or "back". Without checkpoints, all
    values of the chain are held. With checkpoints, the backward pass holds one segment at a time.
    """
    if not marks:
        return [("forward", j, range(1, j + 1), []) for j in range(1, n + 1)] + [
            ("back", j, range(1, n + 1), []) for j in range(n, 0, -1)
        ]
    found = [("forward", j, range(j, j + 1), [p for p in marks if p < j]) for j in range(1, n + 1)]
    for p, q in reversed([*pairwise([*marks, n])]):
        found += [("again", j, range(p + 1, j + 1), marks) for j in range(p + 1, q + 1)]
        found += [("back", j, range(p + 1, q + 1), marks) for j in range(q, p, -1)]
    return found


def walked(n, k, moment):
    """Draw a chain of n steps with k checkpoints at one moment of its pass.

    Below the chain, the number of arrays held at each moment so far is plotted. With k = 0 there
    are no checkpoints. A checkpoint that is not set yet has a hollow flag. `moment` is from 0 to
    3n − 1. If the pass has fewer moments, later moments show its last state.
    """
    marks = evenly(n, k) if k else []
    every = moments(n, marks)
    done, at, held, kept = every[min(moment, len(every) - 1)]
    amounts = [len(segment) + len(set_) for _, _, segment, set_ in every]
    past = amounts[: moment + 1]
    plot = Axes((44, 176, 450, 110), (0, 3 * n - 1), (0, n + 2))
    wide = 450 / (n + 1)
    for j in range(n + 1):
        px, mark, value = 44 + j * wide, j in kept, j in held
        look = (
            "value"
            if mark or value
            else "pale"
            if done == "forward" and j > at or not marks
            else "ghost"
        )
        plot.parts.append(cell(px, 46, wide, 44, str(j), look))
        if j in marks:
            plot.parts.append(_flag(px + wide / 2, 44, 44, style.INK if mark else style.PAPER))
    px = 44 + (at + 0.5) * wide
    if done == "back":
        plot.parts.append(
            f'<path d="M{px:.1f} 106H{px - wide:.1f}m7 -5l-7 5l7 5" fill="none" '
            f'stroke="{style.GRADIENT}" '
            'stroke-width="2.5" stroke-dasharray="5 2"/>'
        )
        plot.words(px + 6, 111, "g", style.GRADIENT, "start", 14)
    else:
        plot.parts.append(
            f'<path d="M{px - wide:.1f} 106H{px:.1f}m-7 -5l7 5l-7 5" fill="none" stroke="{style.INK}" '
            f'stroke-width="2.5"/>'
        )
        plot.words(
            px + 6, 111, {"forward": "forward", "again": "recompute"}[done], style.INK, "start", 13
        )
    plot.frame(
        [(m, str(m)) for m in range(0, 3 * n, n)],
        [(y, str(y)) for y in range(0, n + 3, 4)],
        "moment",
        f"arrays held: now {amounts[len(past) - 1]}, at most so far {max(past)}",
    )
    plot.line(range(len(past)), past, style.VALUE, 2)
    plot.dot(len(past) - 1, past[-1], style.VALUE, style.VALUE)
    doing = {
        "forward": f"forward, step {at}",
        "again": f"recompute step {at}",
        "back": f"back through step {at}",
    }[done]
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
            + (f"{held[0]} to {held[-1]}" if len(held) > 1 else str(held[0])),
        ]
    )
    return Picture(svg("0 0 560 326", "".join(plot.parts), text), text)


def _flag(px, high, low, fill=style.INK):
    """Return the SVG of a checkpoint's flag at the horizontal position `px`.

    The flag is just above the vertical position `high`, and the foot of its pole is at `low`.
    """
    return (
        f'<path d="M{px:.1f} {low:.1f}V{high - 22}l9 5l-9 5" fill="{fill}" stroke="{style.INK}" '
        f'stroke-width="1.2" '
        'stroke-linejoin="round"/>'
    )


def marked(widths, marks):
    """Draw a chain of many values with a flag at each checkpoint, and below it the memory and time needed.

    `widths` holds the width of each of the n + 1 values, drawn as its height. `marks` holds the
    positions of the checkpoints, counted from 0. The checkpoints are black, the largest segment is
    blue, and dropped values are grey.
    """
    n, (kept, segment, (start, end)) = len(widths) - 1, cost(widths, marks)
    most = max(widths)
    chain = Axes((40, 40, 500, 96), (0, n + 1), (0, most))
    low = chain.at(0, 0)[1]
    for j, w in enumerate(widths):
        left, top = chain.at(j, w)
        colour = style.INK if j in marks else style.VALUE if start < j <= end else style.GROUND
        chain.parts.append(
            f'<rect x="{left + 0.5:.1f}" y="{top:.1f}" width="{500 / (n + 1) - 1:.1f}" '
            f'height="{low - top:.1f}" '
            f'fill="{colour}"/>'
        )
        if j in marks:
            chain.parts.append(_flag(left + 250 / (n + 1), 39, top))
    chain.words(40, low + 18, "input", style.FAINT, "start", 13)
    chain.words(540, low + 18, f"after {n} steps", style.FAINT, "end", 13)
    everything = sum(widths[1:])
    bars = Axes((226, 188, 160, 60), (0, everything), (0, 1))
    _bar(
        bars,
        180,
        26,
        [(kept, style.INK), (segment, style.VALUE)],
        "held at most",
        f"{kept} + {segment} = {kept + segment}",
    )
    _bar(bars, 214, 26, [(everything, style.GROUND)], "steps run again", f"{n} of {n}")
    _bar(bars, 248, 26, [(everything, style.PAPER)], "a plain tape holds", str(everything))
    text = "\n".join(
        [
            f"{counted(len(marks), 'mark')}: held at most {kept} + {segment} = {kept + segment}, where a "
            f"plain tape holds {everything}",
            f"the marks hold {kept}",
            f"the heaviest segment holds {segment}: from step {start + 1} to step {end}",
            f"run again: {n} steps, each once",
        ]
    )
    return Picture(svg("0 0 560 286", "".join([*chain.parts, *bars.parts]), text), text)


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
