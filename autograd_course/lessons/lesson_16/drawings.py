"""Draw the pictures of lesson 16: a loss with its largest curvature, curvature along a direction, and Newton's step."""

import numpy as np

from autograd_lib import Tensor, grad

from ...drawing import style
from ...drawing.axes import DOTS, Axes, decades, ticks
from ...drawing.formatting import counted, number
from ...drawing.picture import Picture, beside, svg
from ...widgets import graph

CURVATURES = np.log2((0.25, 16))  # the limits of the dial


def dial(runs, lr, step, last):
    """Draw a run of gradient descent up to `step`: the loss, and below it the largest curvature λmax beside 2/lr.

    The losses of the other runs are drawn thin and grey, each with its learning rate beside its end.

    Parameters
    ----------
    runs : dict
        Maps learning rates to the Runs of network.py.
    lr : float
        The learning rate of the run that is drawn in full.
    step : int
        One of the steps at which λmax was measured.
    last : int
        The last step on the axes.
    """
    run = runs[lr]
    losses, mark, curvature = run.losses[: step + 1], 2 / run.lr, run.curvatures[step]
    across = [(at, f"{at:g}") for at, _ in ticks(0, last, 8)]
    loss = f"loss {number(losses[-1])}"
    side = "above" if curvature > mark else "below"
    side = f"largest curvature {_short(curvature)}, {side} 2/lr = {number(mark)}"

    above = Axes((80, 34, 406, 150), (0, last), (-2, 2))
    above.frame(
        across, decades(-2, 2, 1), "", f"{loss} after {counted(step, 'step')} at lr = {run.lr:g}"
    )
    heights = np.log10(np.clip(losses, 1e-2, 1e2))
    curves = {
        rate: np.log10(np.clip(other.losses[: last + 1], 1e-2, 1e2)) for rate, other in runs.items()
    }
    for curve in curves.values():
        above.line(range(len(curve)), curve, style.LINE, 1)
    above.line(range(step + 1), heights, style.VALUE, 2.2)
    above.dot(step, heights[-1], style.VALUE, style.VALUE)
    low = np.inf  # each label is at least 15 px above the one below it
    for rate in sorted(curves, key=lambda rate: curves[rate][-1]):
        right, low = above.box[0] + above.box[2], min(above.at(0, curves[rate][-1])[1], low - 15)
        colour = style.VALUE if rate == lr else style.FAINT
        above.words(right + 10, low + 5, f"lr {rate:g}", colour, "start", 13)
    grey = ["later steps"] * (step < last) + ["other lr"] * (len(runs) > 1)
    if grey:
        above.words(88, 176, f"grey: {', '.join(grey)}", style.FAINT, "start", 13, halo=True)

    below = Axes((80, 250, 406, 170), (0, last), CURVATURES)
    (left, low), (right, py) = below.at(0, CURVATURES[0]), below.at(last, np.log2(mark))
    below.parts.append(
        f'<rect x="{left}" y="{py:.1f}" width="{right - left}" height="{low - py:.1f}" '
        f'fill="{style.GROUND}"/>'
    )
    below.frame(across, [(-2, "≤ 0.25"), *((k, number(2**k)) for k in range(-1, 5))], "steps", side)
    below.line([0, last], [np.log2(mark)] * 2, style.INK, 1.6, "7 4")
    below.words(right + 10, py + 5, "2/lr", style.INK, "start", 13)
    ahead = {k: value for k, value in run.curvatures.items() if k <= last}
    below.line(ahead, np.log2(np.clip([*ahead.values()], *2**CURVATURES)), style.LINE, 1)
    so_far = {k: value for k, value in run.curvatures.items() if k <= step}
    heights = np.log2(np.clip([*so_far.values()], *2**CURVATURES))
    below.line(so_far, heights, style.OTHER, 1.8)
    for k, y in zip(so_far, heights):
        below.dot(
            k, y, style.OTHER, *((style.OTHER, True, 6) if k == step else (style.PAPER, True, 4))
        )

    others = ", ".join(
        f"{number(other.losses[step])} at lr = {rate:g}"
        for rate, other in runs.items()
        if rate != lr
    )
    lowest, highest = _short(min(so_far.values())), _short(max(so_far.values()))
    text = "\n".join(
        [
            f"lr = {run.lr:g}, after {step} steps: {loss}",
            side,
            f"so far: the loss between {number(min(losses))} and {number(max(losses))}, "
            f"the largest curvature between {lowest} and {highest}",
            *([f"the other losses: {others}"] if others else []),
        ]
    )
    return Picture(svg("0 0 560 466", "".join(above.parts + below.parts), text), text)


def bend(slope, x):
    """Draw tanh and its slope s, each with its tangent at x, and the graph of s computed by `slope`.

    `slope` is a function of a Tensor that returns the slope of tanh.
    """
    s = slope(Tensor(x, requires_grad=True, name="x"))
    s.name = "s"
    xs, z, second = np.linspace(-3, 3, 121), np.tanh(x), float(grad(slope)(x))
    said = f"at x = {number(x)}: s, the slope of tanh, is {number(s.item())}, and the slope of s is {number(second)}"
    panels = []
    for ys, y, rate, span, title in [
        (np.tanh(xs), z, s.item(), (-1.5, 1.5), "z = tanh x"),
        (1 - np.tanh(xs) ** 2, s.item(), second, (-0.5, 1.5), "s"),
    ]:
        plot = Axes((44, 34, 330, 170), (-3, 3), span)
        plot.frame(ticks(-3, 3, 6), ticks(*span, 6), "x", f"{title}, with slope {number(rate)}")
        plot.line(xs, ys, style.VALUE, 2.5)
        plot.straight(x, y, rate, style.TANGENT, 3.5, DOTS)
        plot.dot(x, y, style.VALUE, style.VALUE)
        panels.append(
            svg(
                "0 0 390 250",
                "".join(plot.parts),
                f"{title}, with slope {number(rate)} at x = {number(x)}",
            )
        )
    nodes = graph.read(s)
    text, placed = f"{said}\n{graph.describe(nodes)}", graph.layout(nodes)
    drawn = graph.listed(text) if placed is None else graph.draw(nodes, placed, text)
    return Picture(beside(*panels) + drawn, text, says_all=True)


def turned(curvatures, angle):
    """Return the Hessian, of shape (2, 2), of a bowl that is rotated by `angle` degrees.

    `curvatures` is the pair of the curvatures of the bowl, the first one in the direction of
    `angle`.
    """
    axes = np.stack([_direction(angle), _direction(angle + 90)], axis=1)
    return axes * curvatures @ axes.T


def bowl(H, angle, times=0):
    """Draw the bowl ½⟨w, Hw⟩ from above, and beside it a cut through the bowl along a direction v.

    The directions v and Hv are drawn as arrows.

    Parameters
    ----------
    H : array of shape (2, 2)
        The Hessian of the bowl.
    angle : float
        The angle of the first direction v, in degrees.
    times : int
        How often v is replaced by Hv, scaled to length 1. The earlier directions are drawn pale.
    """
    way = [_direction(angle)]
    for _ in range(times):
        way.append(H @ way[-1] / np.linalg.norm(H @ way[-1]))
    v, image = way[-1], H @ way[-1]
    curvature, at = v @ image, np.degrees(np.arctan2(v[1], v[0]))
    off = np.degrees(np.arccos(np.clip(curvature / np.linalg.norm(image), -1, 1)))
    curvatures, axes = np.linalg.eigh(H)

    plot = Axes((34, 40, 270, 270), (-2.2, 2.2), (-2.2, 2.2))
    circle = np.array([_direction(a) for a in range(0, 361, 4)])
    for height in (0.125, 0.5, 1.125, 2, 3.125, 4.5):
        plot.line(*(np.sqrt(2 * height) * (circle / np.sqrt(curvatures)) @ axes.T).T, style.LINE, 1)
    plot.line(*circle.T, style.FAINT, 1, "2 4")
    plot.frame([], [], "", f"v at {_short(at)}°, Hv turned from v by {_short(off)}°")
    for before in way[:-1]:
        plot.line([0, before[0]], [0, before[1]], style.LINE, 2.2)
    if times:
        plot.words(34, 320, "grey: v before", style.FAINT, "start", 13)
    _arrow(plot, 1.6 / curvatures[-1] * image, style.GRADIENT, "7 4", "Hv", v)
    _arrow(plot, v, style.INK, "none", "v", image)

    cut = Axes((34, 40, 250, 222), (-1.5, 1.5), (0, curvatures[-1] * 1.5**2 / 2))
    cut.frame(
        [(x, number(x)) for x in (-1, 0, 1)],
        [],
        "how far along v",
        f"curvature along v: {_short(curvature)}",
    )
    t = np.linspace(-1.5, 1.5, 61)
    for value in curvatures:
        cut.line(t, value * t * t / 2, style.LINE, 1.4, "4 4")
    cut.line(t, curvature * t * t / 2, style.VALUE, 2.6)
    for value, words in zip(curvatures, ("flattest", "steepest")):
        px, py = cut.at(1.5, value * 1.5**2 / 2)
        cut.words(px + 6, py + 5, f"{words}, {number(value)}", style.FAINT, "start", 13)

    (v0, v1), (i0, i1) = map(_short, v), map(_short, image)
    text = "\n".join(
        [
            f"v = ({v0}, {v1}), Hv = ({i0}, {i1}): turned from v by {_short(off)} degrees",
            f"curvature along v, ⟨v, Hv⟩: {_short(curvature)}; the smallest is {number(curvatures[0])}, "
            f"the largest {number(curvatures[1])}",
        ]
    )
    said = text.splitlines()
    return Picture(
        beside(
            svg("0 0 338 324", "".join(plot.parts), said[0]),
            svg("0 0 376 308", "".join(cut.parts), said[1]),
        ),
        text,
    )


def parabola(f, w):
    """Draw the loss f over one weight, its Taylor parabola at w, and Newton's step to the vertex of the parabola.

    A step that ends outside the plot is described in words.
    """
    span, heights = (-1.5, 3.5), (-0.6, 2.4)  # the ranges of weights and of losses in the plot
    value, slope, curvature = float(f(w)), float(grad(f)(w)), float(grad(grad(f))(w))
    step = -slope / curvature
    there, turn, lands = w + step, value + slope * step / 2, float(f(w + step))
    plot, ws = Axes((58, 60, 484, 270), span, heights), np.linspace(*span, 161)
    numbers = f"gradient {number(slope)}, curvature {number(curvature)}"
    inside = span[0] <= there <= span[1] and heights[0] <= turn <= heights[1]
    plot.frame(
        ticks(*span, 10),
        ticks(*heights, 6),
        "w",
        f"Newton's step {number(step)}" + ", to ○" * inside,
    )
    plot.words(58, 24, numbers, anchor="start")
    plot.line(ws, [float(f(one)) for one in ws], style.VALUE, 2.6)
    plot.line(ws, value + slope * (ws - w) + curvature * (ws - w) ** 2 / 2, style.INK, 2.4, "2 4")
    if inside:
        plot.line([there, there], [turn, lands], style.LINE, 1.4)
        plot.dot(there, turn)
        plot.dot(there, lands, style.VALUE)
    else:
        ahead = step > 0
        # the steep left end of a parabola that opens downward crosses the corner at the top
        px, py = plot.at(span[ahead], heights[1] if ahead else 0)
        words = f"{'' if ahead else '← '}to w = {number(there)}{' →' if ahead else ''}"
        plot.words(
            px + (-8 if ahead else 8),
            py + 18,
            words,
            style.INK,
            "end" if ahead else "start",
            halo=True,
        )
    plot.dot(w, value, style.VALUE, style.VALUE, size=6)
    plot.key(58, 392, "the loss", style.VALUE, 2.6)
    plot.key(250, 392, "the parabola", style.INK, 2.4, "2 4")
    turns, way = "a bottom" if curvature > 0 else "a top", "down" if lands < value else "up"
    text = (
        f"w = {number(w)}: loss {number(value)}, {numbers}\nthe tangent parabola has {turns}\n"
        f"Newton's step {number(step)} leads there, to w = {number(there)}, loss {number(lands)}: {way}"
    )
    return Picture(svg("0 0 560 404", "".join(plot.parts), text), text)


def _short(x):
    """Return a number as text, rounded to three decimal places."""
    return number(round(float(x), 3))


def _direction(angle):
    return np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])


def _arrow(plot, end, colour, dash, name, other):
    """Draw an arrow from the origin of the plot to `end`, with `name` at its tip.

    The name is on the side that faces away from another arrow, which ends at `other`.
    """
    start, tip = np.array(plot.at(0, 0)), np.array(plot.at(*end))
    ahead = (tip - start) / np.linalg.norm(tip - start)
    side = np.array([-ahead[1], ahead[0]])
    corners = tip, tip - 11 * ahead + 5 * side, tip - 11 * ahead - 5 * side
    corners = " ".join("{:.1f} {:.1f}".format(*corner) for corner in corners)
    plot.line([0, end[0]], [0, end[1]], colour, 3, dash)
    plot.parts.append(f'<path d="M{corners}Z" fill="{colour}"/>')
    away = -side if side @ (plot.at(*other) - start) > 0 else side
    plot.words(*(tip + 8 * ahead + 15 * away + (0, 5)), name, colour, size=16, halo=True)
