"""Draw the pictures of lesson 04: gradient descent on a plateau, and exp with its inverse, log."""

import numpy as np

from ...drawing import style
from ...drawing.axes import DOTS, Axes, decades, ticks
from ...drawing.formatting import counted, number
from ...drawing.picture import Picture, svg


def plateau(runs, steps):
    """Draw several runs of gradient descent on the loss (tanh x − 1)², and below it the size of the gradient.

    Parameters
    ----------
    runs : dict of float to sequence of float
        For each start, x at the start and after each step. There are at most five starts, some
        distance apart.
    steps : int
        The number of steps after which the positions are drawn.
    """

    def loss(x):
        return (np.tanh(x) - 1) ** 2

    def gradient(x):
        return 2 * (np.tanh(x) - 1) * (1 - np.tanh(x) ** 2)

    span, lowest = (-22.0, 12.0), -18
    after = f"after {counted(steps, 'step')}"
    hill, size = (
        Axes((72, 40, 472, 170), span, (-0.4, 4.9)),
        Axes((72, 262, 472, 150), span, (lowest - 1, 1.5)),
    )
    hill.frame([], ticks(*hill.y), "", f"L = (tanh x − 1)², {after}")
    size.frame(ticks(*span, most=8), decades(lowest, 1, 6), "x")
    size.words(72, 250, "size of the gradient", anchor="start", halo=True)
    xs = np.linspace(*span, 281)
    hill.line(xs, loss(xs), style.VALUE, 1.5)
    with np.errstate(divide="ignore"):
        sizes = np.maximum(np.log10(np.abs(gradient(xs))), lowest - 1)
    size.line(xs, sizes, style.GRADIENT, 2, "6 4")
    for start, run in runs.items():
        way = np.linspace(start, run[steps], 41)
        hill.line(way, loss(way), style.VALUE, 5)
    lines = []
    for start, run in runs.items():
        x = run[steps]
        slope = gradient(x)
        arrives = number(float(f"{slope:.2g}")) if slope else "exactly 0.0"
        z = number(np.tanh(x), 6)  # with four digits tanh −6 would also be shown as −1
        lines.append(
            f"From x = {number(start)}, {after}: x = {number(x)}, z = {z}, L = {number(loss(x))}, "
            f"gradient {arrives}."
        )
        hill.dot(start, loss(start), style.FAINT)
        (px, py), steep = hill.at(start, loss(start)), abs(gradient(start)) > 0.5
        hill.words(
            px + 12 * steep,
            py + (5 if steep else -12),
            "from " * (start == min(runs)) + number(start),
            style.FAINT,
            "start" if steep else "middle",
            13,
        )
        height = max(np.log10(abs(slope)), lowest - 1) if slope else lowest - 1
        (px, top), (_, low) = hill.at(x, loss(x)), size.at(x, height)
        hill.parts.append(
            f'<path d="M{px:.1f} {top:.1f}V{low:.1f}" stroke="{style.LINE}" stroke-dasharray="2 3"/>'
        )
        hill.dot(x, loss(x), style.VALUE, style.VALUE, size=6)
        size.dot(x, height, style.GRADIENT, style.GRADIENT, size=5)
        if not slope:
            size.words(px + 24, low - 3, "exactly 0", style.GRADIENT, "start", 13, halo=True)
    text = "\n".join(lines)
    return Picture(svg("0 0 560 465", "".join(hill.parts + size.parts), text), text)


def exp_and_log(x):
    """Draw the curves of exp and log as mirror images, each with a tangent.

    `x` is above 0. The tangent of log is drawn at x. The tangent of exp is the mirror image of this
    tangent, at log x, where the height of exp is x.
    """
    height, span = np.log(x), (-2.6, 7.2)
    plot = Axes((40, 34, 330, 330), span, span)
    plot.frame(ticks(*span), ticks(*span), "x", "exp and log: the same curve, axes swapped")
    plot.line(span, span, style.LINE, 1, "3 3")
    left, right = (
        np.linspace(span[0], np.log(span[1]), 121),
        np.geomspace(np.exp(span[0]), span[1], 161),
    )
    plot.line(left, np.exp(left), style.VALUE, 2)
    plot.line(right, np.log(right), style.VALUE, 2)
    leg = 1.5 / max(1.0, x)  # the short side of the triangles
    sides = [((height, x), (leg, leg * x), x), ((x, height), (leg * x, leg), 1 / x)]
    for (px, py), (run, rise), slope in sides:
        plot.straight(px, py, slope, style.TANGENT, 3.5, DOTS)
        plot.line([px, px + run, px + run], [py, py, py + rise], style.INK, 1.5)
        plot.dot(px, py, style.VALUE, style.VALUE)
    for (px, py), (run, rise), _ in sides:  # drawn over both triangles
        (left, top), (right, high) = plot.at(px, py), plot.at(px + run, py + rise)
        run, rise = number(round(run, 3)), number(round(rise, 3))
        plot.words(
            max((left + right) / 2, left + 8 + 3.6 * len(run)), top + 15, run, size=13, halo=True
        )
        plot.words(
            right + 6,
            max((top + high) / 2 + 5, high + 16),
            rise,
            anchor="start",
            size=13,
            halo=True,
        )
    plot.words(*plot.at(-2.5, 0.75), "exp", style.VALUE, "start", 16, halo=True)
    plot.words(*plot.at(0.55, -2.7), "log", style.VALUE, "start", 16, halo=True)
    plot.words(
        40,
        430,
        f"exp at {number(round(height, 3))}: height {number(x)}, slope {number(x)}",
        anchor="start",
    )
    plot.words(
        40,
        454,
        f"log at {number(x)}: height {number(round(height, 3))}, slope {number(1 / x)}",
        anchor="start",
    )
    text = (
        f"exp at {number(round(height, 3))} has the height {number(x)} and the slope {number(x)}.\n"
        f"Axes swapped: log at {number(x)} has the height {number(round(height, 3))} and the slope 1/{number(x)} = {number(1 / x)}.\n"
        f"The triangles: exp's tangent rises by {number(round(leg * x, 3))} over {number(round(leg, 3))}, "
        f"log's by {number(round(leg, 3))} over {number(round(leg * x, 3))}."
    )
    return Picture(svg("0 0 420 466", "".join(plot.parts), text), text)
