"""Draw the pictures of lesson 15: errors of a tangent, sweeps over a Jacobian and their time, and a throw."""

from statistics import median
from time import perf_counter

import numpy as np

import autograd_lib as ag

from ...drawing import style
from ...drawing.axes import DOTS, Axes, decades, ticks
from ...drawing.formatting import cell, counted, number
from ...drawing.picture import Picture, beside, svg

STEPS = 7
LOWEST = -16  # powers of ten: below that a float has no digits left
CELL = 66, 32  # px, a number of a Jacobian
MOST = 48  # stripes that can be told apart


def lag(push, start, value, tangent):
    """Draw the errors of a loop's value and of its tangent after 0 to 7 steps.

    `push(k)` returns the value and the tangent after k steps from `start`, and `value` and
    `tangent` are the exact results.
    """
    errors = np.abs([np.subtract(push(k), (value, tangent)) for k in range(STEPS + 1)]).T
    plot = Axes((72, 36, 426, 250), (0, STEPS), (LOWEST, 1))
    plot.frame(
        [(k, str(k)) for k in range(STEPS + 1)],
        decades(LOWEST, 1, 4),
        "steps of the loop",
        "Absolute error",
    )
    for error, name, colour, dash, fill in [
        (errors[0], "value", style.VALUE, "none", style.VALUE),
        (errors[1], "tangent", style.TANGENT, DOTS, style.PAPER),
    ]:
        height = np.log10(np.maximum(error, 10.0**LOWEST))
        plot.line(range(STEPS + 1), height, colour, 2.4, dash)
        for k, y in enumerate(height):
            plot.dot(k, y, colour, fill, size=4)
        seen = int(np.argmax(height < LOWEST + 3)) if np.any(height < LOWEST + 3) else STEPS
        px, py = plot.at(max(seen - 1, 0), height[max(seen - 1, 0)])
        left = name == "value"
        plot.words(
            px - 12 if left else px + 12,
            py + (20 if left else -8),
            name,
            colour,
            "end" if left else "start",
            halo=True,
        )
    lines = [f"start {number(start)}: the errors after each step"]
    for k, (of_value, of_tangent) in enumerate(errors.T):
        more = (
            f", {number(of_tangent / of_value)} times as far"
            if of_value > 1e-14 and of_tangent > 1e-14
            else ""
        )
        lines.append(
            f"step {k}: value off by {number(of_value)}, tangent by {number(of_tangent)}{more}"
        )
    text = "\n".join(lines)
    return Picture(svg("0 0 540 340", "".join(plot.parts), text), text)


def _stripes(left, top, width, height, n, m, forward):
    """Return SVG parts of a Jacobian, drawn as a rectangle with a line for each sweep that computes it.

    The Jacobian has n columns and m rows. With `forward`, each sweep computes a column, otherwise a
    row. `left`, `top`, `width` and `height` are the position and the size of the rectangle, in
    pixels.
    """
    colour, dash = (style.TANGENT, DOTS) if forward else (style.GRADIENT, "5 3")
    count = n if forward else m
    few = count <= 12  # with few stripes, each is drawn as an arrow that comes from outside
    before, after = (7, 4) if few else (0, 0)
    dash = dash if few else "none"
    parts = [
        f'<rect x="{left}" y="{top}" width="{width:.1f}" height="{height:.1f}" fill="{style.PANEL}" '
        f'stroke="{style.FAINT}"/>'
    ]
    for k in range(min(count, MOST)):
        share = (k + 0.5) / min(count, MOST)
        x, y = left + share * width, top + share * height
        path = (
            f"M{x:.1f} {top + height + before:.1f}V{top + after:.1f}"
            if forward
            else f"M{left + width + before:.1f} {y:.1f}H{left + after:.1f}"
        )
        tip = (
            f"M{x - 4:.1f} {top + 9:.1f}L{x:.1f} {top + 2:.1f}L{x + 4:.1f} {top + 9:.1f}"
            if forward
            else f"M{left + 9:.1f} {y - 4:.1f}L{left + 2:.1f} {y:.1f}L{left + 9:.1f} {y + 4:.1f}"
        )
        tip = tip if few else ""
        parts.append(
            f'<path d="{path}" stroke="{colour}" stroke-width="{2 if few else 1.2}" '
            f'stroke-dasharray="{dash}"/>'
            f'<path d="{tip}" stroke="{colour}" stroke-width="1.6" fill="none"/>'
        )
    return parts


def sweeps(n, m):
    """Draw the Jacobian for n inputs and m outputs twice, with the sweeps of forward and of backward mode.

    The text says how many sweeps each mode needs.
    """
    side = {k: 34 + 66 * np.log10(k) for k in (n, m)}  # px; ten times as many are 66 px more
    winner = "neither" if n == m else "forward" if n < m else "backward"
    top, left, parts = 66, 90, []
    for name, count, what in [("forward", n, "column"), ("backward", m, "row")]:
        plot = Axes((0, 0, 1, 1), (0, 1), (0, 1))
        colour = style.TANGENT if name == "forward" else style.GRADIENT
        plot.words(left, 22, f"{name.capitalize()}: {counted(count, 'sweep')}", colour, "start", 16)
        less = "as many" if n == m else "fewer" if name == winner else "more"
        plot.words(
            left,
            42,
            f"one for each {what} of J ({less})",
            style.INK if name == winner else style.FAINT,
            "start",
            13,
        )
        plot.parts += _stripes(left, top, side[n], side[m], n, m, name == "forward")
        plot.words(left - 10, top + side[m] / 2 + 4, f"m = {m:,}", style.INK, "end", 13)
        plot.words(left + side[n] / 2, top + side[m] + 26, f"n = {n:,}", style.INK, size=13)
        parts.append("".join(plot.parts))
    of_n, of_m = "s" * (n > 1), "s" * (m > 1)
    text = (
        f"{n:,} input{of_n}, {m:,} output{of_m}: the Jacobian has {m:,} row{of_m} and {n:,} column{of_n}\n"
        f"forward {n:,} sweep{of_n}, one per column; backward {m:,}, one per row\nfewer: {winner}"
    )
    said = text.splitlines()[1].split("; ")
    return Picture(
        beside(*(svg("0 0 352 340", *pair) for pair in zip(parts, said))), text, says_all=True
    )


def filled(f, x, count):
    """Draw the Jacobian of f at x after `count` sweeps in forward mode, and beside it in backward mode.

    Forward sweeps, by ag.jvp, give columns, and backward sweeps, by ag.vjp, give rows. `x` is an
    array of one axis, and f returns such an array. Entries that are not computed yet are drawn as
    ?.
    """
    z, pull = ag.vjp(f, x)
    columns = [ag.jvp(f, (x,), (unit,))[1] for unit in np.eye(x.size)]
    rows = [pull(unit)[0] for unit in np.eye(z.size)]
    wide, high = CELL
    drawn, lines = (
        [],
        [f"after {counted(min(count, x.size), 'sweep')} forward, {min(count, z.size)} backward"],
    )
    for name, look, got in [
        ("forward, a column per sweep", "tangent", np.stack(columns, 1)),
        ("backward, a row per sweep", "gradient", np.stack(rows, 0)),
    ]:
        known = np.indices(got.shape)[1 if look == "tangent" else 0] < count
        plot = Axes((0, 0, 1, 1), (0, 1), (0, 1))
        plot.words(
            14, 22, name, style.TANGENT if look == "tangent" else style.GRADIENT, "start", 14
        )
        words = [
            [number(round(v, 3)) if k else "?" for v, k in zip(*pair)] for pair in zip(got, known)
        ]
        for i, k in np.ndindex(got.shape):
            plot.parts.append(
                cell(
                    14 + k * wide,
                    34 + i * high,
                    wide,
                    high,
                    words[i][k],
                    look if known[i, k] else "ghost",
                )
            )
        drawn.append(
            (
                svg,
                f"0 0 {max(28 + got.shape[1] * wide, 220)} {46 + got.shape[0] * high}",
                "".join(plot.parts),
            )
        )
        lines.append(f"{name}: {'; '.join(map(' '.join, words))}")
    text = "\n".join(lines)
    return Picture(
        beside(*(make(box, body, text) for make, box, body in drawn)), text, says_all=True
    )


def crossing(outputs, forward, backward, n):
    """Draw the time for a whole Jacobian in forward mode and in backward mode over the number of outputs.

    `outputs` lists the numbers of outputs, `forward` and `backward` list the times in milliseconds,
    and `n` is the number of inputs.
    """
    across = np.log10(outputs)
    low, high = np.log10([min(forward + backward) / 1.5, max(forward + backward) * 1.5])
    plot = Axes((64, 36, 370, 230), (across[0], across[-1]), (low, high))
    powers = range(int(np.ceil(low)), int(np.floor(high)) + 1)
    plot.frame(
        [(x, f"{m:,}") for x, m in zip(across, outputs)],
        [(p, number(10.0**p)) for p in powers],
        f"outputs m, for {n} inputs",
        "Milliseconds for the whole Jacobian",
    )
    plot.line([np.log10(n)] * 2, [low, high], style.LINE, 1.5, "3 4")
    plot.words(plot.at(np.log10(n), 0)[0] - 6, 50, "m = n", style.FAINT, "end", 13)
    for times, name, colour, dash in [
        (forward, "forward", style.TANGENT, DOTS),
        (backward, "backward", style.GRADIENT, "7 4"),
    ]:
        plot.line(across, np.log10(times), colour, 2.4, dash)
        plot.words(442, plot.at(0, np.log10(times[-1]))[1] + 5, name, colour, "start")
    lines = [f"{n} inputs; milliseconds for the whole Jacobian"]
    lines += [
        f"{counted(m, 'output')}: forward {number(a)}, backward {number(b)}"
        for m, a, b in zip(outputs, forward, backward)
    ]
    text = "\n".join(lines)
    return Picture(svg("0 0 560 326", "".join(plot.parts), text), text)


def flight(path, tangent, angle):
    """Draw the path of a throw, and how far each of its points moves if the angle grows by five degrees.

    Parameters
    ----------
    path : array of shape (steps, 2)
        The position (x, y) after each step, in metres. The throw starts at (0, 0).
    tangent : array of shape (steps, 2)
        The derivative of each position with respect to the angle, in metres per degree.
    angle : float
        The angle of the throw, in degrees.
    """
    path, tangent = np.vstack([[0, 0], path]), np.vstack([[0, 0], tangent])
    plot = Axes((46, 30, 506, 253), (0, 84), (-2, 42))
    plot.frame(
        ticks(0, 80, 8),
        ticks(0, 40, 4),
        "distance in metres",
        f"Height in metres, thrown at {number(angle)} degrees",
    )
    plot.line(*path.T, style.VALUE, 2.6)
    further = path + 5 * tangent
    plot.line(*further.T, style.TANGENT, 2.4, DOTS)
    ink = f'stroke="{style.TANGENT}" stroke-width="1.8" fill="none"'
    for at, to in list(zip(path, further))[3::4]:
        (x, y), (u, v) = plot.at(*at), plot.at(*to)
        far = np.hypot(u - x, v - y)
        plot.parts.append(f'<path d="M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}" {ink}/>')
        if far > 7:
            ax, ay = (u - x) / far * 6, (v - y) / far * 6
            plot.parts.append(
                f'<path d="M{u - ax - ay / 2:.1f} {v - ay + ax / 2:.1f}L{u:.1f} {v:.1f}'
                f'L{u - ax + ay / 2:.1f} {v - ay - ax / 2:.1f}" {ink}/>'
            )
        plot.dot(*at, style.VALUE, style.VALUE, size=2.5)
    (x0, y0), (x1, y1) = path[-2:]
    (u0, v0), (u1, v1) = tangent[-2:]
    share = y0 / (y0 - y1)  # where between the last two points it comes down
    moves = (v0 * (y0 - y1) - y0 * (v0 - v1)) / (y0 - y1) ** 2 * (x1 - x0) + share * (u1 - u0) + u0
    lands = x0 + share * (x1 - x0)
    plot.dot(lands, 0, style.INK, style.PAPER)
    more = "farther" if moves > 0 else "less far"
    plot.words(
        12, 346, "dotted, with arrows: 5 degrees more, by the tangent", style.TANGENT, "start", 13
    )
    text = (
        f"Thrown at {number(angle)} degrees it lands at {number(lands)} m, after {len(path) - 1} steps.\n"
        f"Its tangent there: {number(moves)} m per degree, so a little more angle makes it land {more}."
    )
    return Picture(svg("0 0 560 358", "".join(plot.parts), text), text)


def medians(*jobs, rounds=5):
    """Return a list of the median time of each job, in milliseconds and never 0.

    `jobs` are functions without arguments. All of them run once in each of the `rounds` rounds.
    """
    times = []
    for _ in range(rounds):
        for job in jobs:
            start = perf_counter()
            job()
            while perf_counter() == start:  # a browser's clock ticks in steps of 0.1 or 1 ms
                pass
            times.append(perf_counter() - start)
    return [1000 * median(times[i :: len(jobs)]) for i in range(len(jobs))]
