"""Lesson 04: a walk on a plateau, and a graph turned over."""
import numpy as np

from ...show import style
from ...show.axes import DOTS, Axes, ticks
from ...show.ink import number
from ...show.picture import Picture, svg


def plateau(start, x, steps):
    """The loss (tanh x − 1)² over x, where a walk downhill began, and where it stands after `steps` steps."""
    def loss(x):
        return (np.tanh(x) - 1) ** 2

    slope = 2 * (np.tanh(x) - 1) * (1 - np.tanh(x) ** 2)
    arrives = number(float(f"{slope:.2g}")) if slope else "exactly 0.0"
    after = f"after {steps:,} step{'s' * (steps != 1)}"
    plot = Axes((46, 40, 560, 190), (-22.0, 12.0), (-0.4, 4.9))
    plot.frame(ticks(*plot.x, most=8), ticks(*plot.y), "x", f"L = (tanh x − 1)², {after}")
    xs = np.linspace(*plot.x, 281)
    plot.line(xs, loss(xs), style.VALUE, 2.5)
    (left, top), (px, py) = plot.at(start, loss(start)), plot.at(x, loss(x))
    plot.dot(start, loss(start), style.FAINT)
    plot.dot(x, loss(x), style.VALUE, style.VALUE, size=6)
    if np.hypot(px - left, py - top) > 14:
        flat = loss(start) > 3.9
        plot.words(left - (not flat) * 12, top - 12 if flat else top + 5, "start", style.FAINT, "middle" if flat else "end", 13, halo=True)
    high, leftward = loss(x) > 3, loss(x) > 3 and px > 150
    plot.words(px - 14 if leftward else px + 10, py + 24 if high else py - 12, f"gradient {arrives}", style.GRADIENT,
               "end" if leftward else "start", halo=True)
    text = (f"From x = {number(start)}, {after}: x = {number(x)}, z = {number(np.tanh(x))}, L = {number(loss(x))}.\n"
            f"The gradient of x there is {arrives}.")
    return Picture(svg("0 0 630 275", "".join(plot.parts), text), text)


def turned_over(x):
    """The graphs of exp and log, each the other with its axes exchanged, and their slopes at the height x and at the place x."""
    height, span = np.log(x), (-2.6, 7.2)
    plot = Axes((46, 34, 420, 420), span, span)
    plot.frame(ticks(*span), ticks(*span), "x", "exp, and log: the same graph turned over")
    plot.line(span, span, style.LINE, 1, "3 3")
    left, right = np.linspace(span[0], np.log(span[1]), 121), np.geomspace(np.exp(span[0]), span[1], 161)
    plot.line(left, np.exp(left), style.VALUE, 2)
    plot.line(right, np.log(right), style.VALUE, 2)
    leg = 1.5 / max(1.0, x)                    # the short side of the steps that are drawn
    for (px, py), (run, rise), slope in [((height, x), (leg, leg * x), x), ((x, height), (leg * x, leg), 1 / x)]:
        plot.straight(px, py, slope, style.TANGENT, 3.5, DOTS)
        plot.line([px, px + run, px + run], [py, py, py + rise], style.INK, 1.5)
        plot.dot(px, py, style.VALUE, style.VALUE)
        (left, top), (right, high) = plot.at(px, py), plot.at(px + run, py + rise)
        plot.words(max((left + right) / 2, left + 17), top + 17, number(round(run, 3)), size=13, halo=True)
        plot.words(right + 6, (top + high) / 2 + 5, number(round(rise, 3)), anchor="start", size=13, halo=True)
    plot.words(*plot.at(-2.5, 0.45), "exp", style.VALUE, "start", 15, halo=True)
    plot.words(*plot.at(0.25, -2.55), "log", style.VALUE, "start", 15, halo=True)
    plot.words(484, 120, f"exp at {number(round(height, 3))}:", anchor="start")
    plot.words(484, 142, f"height {number(x)}, slope {number(x)}", style.TANGENT, "start")
    plot.words(484, 300, f"log at {number(x)}:", anchor="start")
    plot.words(484, 322, f"height {number(round(height, 3))}, slope {number(1 / x)}", style.TANGENT, "start")
    text = (f"exp at {number(round(height, 3))} has the height {number(x)} and the slope {number(x)}.\n"
            f"Turned over: log at {number(x)} has the height {number(round(height, 3))} and the slope 1/{number(x)} = {number(1 / x)}.\n"
            f"The triangles: exp's tangent rises by {number(round(leg * x, 3))} over {number(round(leg, 3))}, "
            f"log's by {number(round(leg, 3))} over {number(round(leg * x, 3))}.")
    return Picture(svg("0 0 690 508", "".join(plot.parts), text), text)
