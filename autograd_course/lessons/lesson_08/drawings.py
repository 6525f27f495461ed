"""Draw the pictures of lesson 08: where an entry of an array goes, and the gradient that it receives."""

import numpy as np

from ...drawing import style
from ...drawing.blocks import HIGH, WIDE, drawing, filled
from ...drawing.formatting import number, words

TOP, GAP = 44, 116  # the words above a block; between the blocks


def fall(b, g, entry):
    """Draw how b is broadcast to every row, and how summing the columns of g gives the gradient of b.

    `b` has shape (n,), and the upstream gradient `g` has shape (m, n). `entry` is the index
    of the column that is highlighted. The length of the bar in each cell shows the size of its
    number.
    """
    m, n = g.shape
    foot, step = TOP + m * HIGH + 46, n * WIDE + 60
    parts = []
    longest = max(np.abs(b).max(), np.abs(g.sum(axis=0)).max(), 9)
    for left, above, copies, below, cells, looks, colour in [
        (10, "copies of b", np.broadcast_to(b, g.shape), "b", b, ("ghost", "value"), style.VALUE),
        (
            10 + step,
            "g",
            g,
            "gradient of b",
            g.sum(axis=0),
            ("gradient", "gradient"),
            style.GRADIENT,
        ),
    ]:
        parts.append(
            words(
                left,
                TOP - 12,
                f"<tspan font-weight='bold'>{above}</tspan> {g.shape}",
                anchor="start",
            )
        )
        for row, (top, look) in enumerate(
            [(TOP + k * HIGH, looks[0]) for k in range(m)] + [(foot, looks[1])]
        ):
            for column, value in enumerate(copies[row] if row < m else cells):
                parts.append(filled(left + column * WIDE, top, value, look, column == entry))
                parts.append(_bar(left + column * WIDE, top, value / longest, colour))
        parts.append(
            words(
                left,
                foot + HIGH + 20,
                f"<tspan font-weight='bold'>{below}</tspan> ({n},)",
                anchor="start",
            )
        )
    for left, tip, way, colour, dash in [
        (10, foot - 38, 1, style.VALUE, "none"),
        (10 + step, foot - 8, -1, style.GRADIENT, "6 4"),
    ]:
        middle = left + (entry + 0.5) * WIDE
        parts.append(
            f'<path d="M{middle} {tip + way * 10}v{way * 20}" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
            f'<path d="M{middle} {tip}l-6 {way * 12}h12z" fill="{colour}"/>'
        )
    sums = [" + ".join(map(number, column)) for column in g.T]
    terms, room = sums[entry], 8 * max(map(len, sums))
    parts.append(words(middle + 14, foot - 18, terms, style.GRADIENT, "start", 13))
    said = [
        f"forward: b[{entry}] = {number(b[entry])} is copied into every row",
        f"backward: {terms} = {number(g[:, entry].sum())} is the gradient of b[{entry}]",
    ]
    parts.append(
        words(
            10,
            foot + HIGH + 46,
            "bars show the sizes of the numbers; hollow: below 0",
            style.FAINT,
            "start",
            13,
        )
    )
    return drawing(
        parts, 10 + step + n * WIDE + max(0, 14 + room - WIDE // 2), foot + HIGH + 58, said
    )


def _bar(x, y, part, colour):
    """Return the SVG of a bar in a table cell, hollow if `part` is not positive.

    The top left corner of the cell is at (x, y), and the bar is |part| of the cell's width long.
    """
    return (
        f'<rect x="{x + 5}" y="{y + HIGH - 8}" width="{abs(part) * (WIDE - 12):.1f}" height="2.4" '
        f'fill="{colour if part > 0 else "none"}" stroke="{colour}" stroke-width="0.7"/>'
    )


def follow(formula, f, x, entry):
    """Draw which entries of z = f(x) use one entry of x, and how the gradient of x is computed.

    The picture shows x and z, and below them the gradient of x and the upstream gradient g, which
    is 1, 2, 3, … The terms that add up to the entry of the gradient are above the lower arrow.

    Parameters
    ----------
    formula : str
        The code of f, as shown in the picture.
    f : callable
        Copies, moves or adds entries of an array.
    x : array_like
        The input. x and z have at most two axes.
    entry : tuple of int
        The index of the entry to follow.
    """
    x = np.asarray(x, float)
    z, rest = f(x), f(np.zeros(x.shape))
    g = np.arange(1.0, z.size + 1).reshape(z.shape)
    weights = {
        at: f(_one_hot(x.shape, at)) - rest for at in np.ndindex(x.shape)
    }  # ∂z/∂(an entry of x), every one
    gradient = np.reshape([np.sum(g * weight) for weight in weights.values()], x.shape)
    reached, here = weights[entry] != 0, _one_hot(x.shape, entry) != 0

    right = 10 + max(_columns(x), 3) * WIDE + GAP
    below = TOP + max(_rows(x), _rows(z)) * HIGH + 62
    parts = []
    for left, top, name, block, look, framed in [
        (10, TOP, "x", x, "value", here),
        (right, TOP, "z", z, "value", reached),
        (10, below, "gradient of x", gradient, "gradient", here),
        (right, below, "g", g, "gradient", reached),
    ]:
        parts.append(
            words(
                left,
                top - 12,
                f"<tspan font-weight='bold'>{name}</tspan> {block.shape}",
                anchor="start",
            )
        )
        for k, value in enumerate(block.ravel()):
            row, column = divmod(k, _columns(block))
            parts.append(
                filled(left + column * WIDE, top + row * HIGH, value, look, framed.ravel()[k])
            )
    middle = right - GAP / 2
    for top, way, colour, dash in [
        (TOP, 1, style.VALUE, "none"),
        (below, -1, style.GRADIENT, "6 4"),
    ]:
        y = top + HIGH
        parts.append(
            f'<path d="M{middle - way * 40} {y}h{way * 80}" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
            f'<path d="M{middle + way * 46} {y}l{-way * 12} -6v12z" fill="{colour}"/>'
        )
    name, brings = f"x{list(entry)}", number(gradient[entry])
    said = [f"z = {formula}: {x.shape} becomes {z.shape}. g, of the shape of z, counts 1, 2, 3, …"]
    if reached.any():
        places = ", ".join(f"z{list(map(int, at))}" for at in np.argwhere(reached))
        terms = [
            f"{number(weight)} · {number(arrived)}" if weight != 1 else number(arrived)
            for weight, arrived in zip(weights[entry][reached], g[reached])
        ]
        total = f"{' + '.join(terms)} = {brings}" if terms != [brings] else brings
        if terms != [brings]:
            y = below + HIGH - 12
            parts.append(words(middle, y, " + ".join(terms), style.GRADIENT, size=13))
        said += [
            f"{name} = {number(x[entry])} goes to {places}",
            f"the gradient of {name} is {total}",
        ]
    else:
        said += [
            f"{name} = {number(x[entry])} goes nowhere",
            f"so the gradient of {name} is 0",
        ]
    return drawing(
        parts, right + max(_columns(z), 2) * WIDE, below + max(_rows(x), _rows(z)) * HIGH + 8, said
    )


def _one_hot(shape, at):
    one = np.zeros(shape)
    one[at] = 1
    return one


def _rows(block):
    return block.shape[0] if block.ndim == 2 else 1


def _columns(block):
    return block.shape[-1]
