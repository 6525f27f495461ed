"""Draw the pictures of lesson 11: paths in a landscape, their heights over the steps, and the factor of each weight."""

import numpy as np

from ...drawing import style
from ...drawing.axes import Axes, decades, ticks
from ...drawing.formatting import counted, number
from ...drawing.landscapes import OWN, PATHS, landscape, marker
from ...drawing.picture import Picture, svg

SPAN = ((-3.0, 3.0), (-2.0, 2.0))  # the same scale on both axes, so that a round bowl looks round
# For the race: a loss over two weights, the start, and the value at the minimum.
LANDSCAPES = {
    "ravine": (lambda w1, w2: (w1**2 + 100 * w2**2) / 2, (-2.6, 1.2), 0.0),
    "rotated": (lambda w1, w2: ((w1 + w2) ** 2 + 100 * (w1 - w2) ** 2) / 4, (-2.4, -0.6), 0.0),
    "bent": (lambda w1, w2: (1 - w1) ** 2 / 2 + 5 * (w2 - w1**2 / 2) ** 2, (-2.2, 0.5), 0.0),
    "saddle": (lambda w1, w2: w1**2 / 2 - w2**2 / 2 + w2**4 / 4, (-2.6, -0.001), -0.25),
}  # the start leads into the basin that + marks


ZIGZAG = np.array(
    [(-2.6 * 0.923**k, 1.2 * (-0.925) ** k) for k in range(31)]
)  # gradient descent with lr = 0.077


def _narrow(w1, w2):
    return (w1**2 + 25 * w2**2) / 2


def zigzag(step):
    """Draw the steps of a zigzag gradient descent up to `step`, and below them two bars.

    `step` is a number from 0 to 30. One bar shows the distance covered so far, and the other how much closer to the minimum the path
    has come.
    """
    above = landscape(_narrow, {"gradient descent": ZIGZAG}, SPAN, step, ahead=True)
    lengths = np.hypot(*np.diff(ZIGZAG, axis=0).T)
    walked, nearer = lengths[:step].sum(), np.hypot(*ZIGZAG[0]) - np.hypot(*ZIGZAG[step])
    below = Axes((56, 0, 492, 80), (0, lengths.sum()), (0, 80))
    said = (
        f"distance covered {number(round(walked, 2))}",
        f"closer to the minimum by {number(round(nearer, 2))}",
    )
    for top, far, words in [(0, walked, said[0]), (40, nearer, said[1])]:
        below.words(56, top + 14, words, anchor="start", size=13)
        wide = below.at(far, 0)[0] - 56
        below.parts.append(
            f'<rect x="56" y="{top + 20}" width="{wide:.1f}" height="10" fill="{style.INK}"/>'
            f'<path d="M56 {top + 20}h492v10h-492z" fill="none" stroke="{style.LINE}"/>'
        )
    text = f"{above.text}\n{'; '.join(said)}"
    bars = svg("0 0 560 78", "".join(below.parts), "; ".join(said))
    return Picture(_stacked(above.html, bars), text)


def _stacked(*drawings):
    """Return the HTML that puts several drawings below one another, also in a wide window."""
    return "".join(f"<div>{drawing}</div>" for drawing in drawings)


def factors(f, path, curvatures, lr):
    """Draw a path of gradient descent over f, and below it the factor 1 − lr·λ of each weight.

    Each step multiplies the weight by this factor. A factor between −1 and 1 makes the weight
    shrink, and a factor outside this range makes the weight diverge.

    Parameters
    ----------
    f : callable
        The function of two weights.
    path : array_like
        The positions (w₁, w₂) of the path.
    curvatures : pair of float
        The curvature λ of f along w₁, and along w₂.
    lr : float
        The learning rate.
    """
    above = landscape(f, {"gradient descent": path}, SPAN)
    line = Axes((56, 52, 492, 26), (-1.9, 1.9), (0, 1))  # right of 1: room for a name
    (left, low), (right, high) = line.at(-1, 0), line.at(1, 1)
    line.parts.append(
        f'<rect x="56" y="{high}" width="492" height="{low - high}" fill="{style.PAPER}" stroke="{style.LINE}"/>'
        f'<rect x="{left:.1f}" y="{high}" width="{right - left:.1f}" height="{low - high}" '
        f'fill="{style.GROUND}" '
        f'stroke="{style.LINE}"/>'
    )
    line.frame([(x, number(x)) for x in (-1, 0, 1)], [], "each step multiplies a weight by", "")
    for x, words in [(-0.5, "oscillates, shrinks"), (0.5, "shrinks"), (-1.45, "diverges")]:
        line.words(line.at(x, 0)[0], low - 8, words, style.FAINT, size=13)
    said = []
    for name, curvature, square in zip(("w₁", "w₂"), curvatures, (False, True)):
        factor = round(1 - lr * curvature, 10)
        px = line.at(max(factor, -1.85), 0)[0]
        seen = (
            "diverges"
            if abs(factor) > 1 + 1e-9
            else "oscillates without shrinking"
            if abs(factor) > 1 - 1e-9
            else "oscillates and shrinks"
            if factor < 0
            else "shrinks"
        )
        said.append(f"each step multiplies {name} by {number(factor)}: it {seen}")
        py = high - (26 if square else 11)
        line.words(
            px + 7, py + 4, f"{name} × {number(factor)}", style.VALUE, "start", 13, halo=True
        )
        line.parts.append(
            f'<path d="M{px:.1f} {py + 4:.1f}V{high}" stroke="{style.VALUE}" stroke-width="2"/>'
        )
        line.mark(px, high - 3, style.VALUE, style.VALUE, square=square)
    text = "\n".join([above.text, *said])
    scale = svg("0 14 560 108", "".join(line.parts), "\n".join(said))
    return Picture(_stacked(above.html, scale), text)


HEIGHT = "height above the minimum (1 at the start)"  # for a reader who does not see the picture


def _over_steps(heights, powers, level, step=None):
    """Draw the heights of several runs over the steps on a logarithmic scale.

    The result is (Axes, list of sentences). The parameters are those of `speeds`; at `step`, the
    picture has a vertical line and a marker on each run.
    """
    n = max(map(len, heights.values())) - 1
    plot = Axes((56, 30, 492, 150), (0, n), powers)
    title = f"height (start: 1; dotted: {100 * level:g} %)" if level else "height (start: 1)"
    plot.frame(ticks(0, n, 8), decades(*powers, 2), "steps", title)
    if level:
        plot.line((0, n), [np.log10(level)] * 2, style.FAINT, 1.2, "2 3")
    if step is not None:
        plot.line((step, step), powers, style.LINE, 1.2)
    said, marks = [], Axes(plot.box, plot.x, plot.y)
    for (name, height), look in zip(heights.items(), PATHS):
        shape, colour, dash = OWN.get(name, look)
        with np.errstate(all="ignore"):  # a run may diverge, or reach the minimum exactly
            height = np.log10(np.clip(np.nan_to_num(height, nan=np.inf), 1e-30, 1e30))
        plot.line(range(len(height)), height, colour, 1.8, dash)
        here = height[-1 if step is None else step]
        if powers[0] <= here <= powers[1]:
            marks.parts.append(_marked(shape, *plot.at(n if step is None else step, here), colour))
            value = number(float(f"{10**here:.2g}"))
        else:
            below = here < powers[0]
            value = (
                f"below {number(10.0 ** powers[0])}"
                if below
                else f"above {number(10.0 ** powers[1])}"
            )
        said.append(f"{name}: height {value}")
    plot.parts += marks.parts
    return plot, said


def descents(f, paths, step=None, bottom=0.0, level=None, powers=(-6, 1)):
    """Draw the paths of optimizers in a landscape, and below it their heights over the steps.

    Parameters
    ----------
    f, paths, step
        The loss, the paths and the last step drawn, as in `landscape`. The lower plot has all steps.
    bottom : float
        The value of f at the minimum.
    level : float, optional
        A height at which the lower plot has a dotted line, as a fraction of the initial height.
    powers : (int, int)
        The lowest and the highest power of ten of the lower plot.
    """
    above = landscape(f, paths, SPAN, step)
    with np.errstate(all="ignore"):  # a path may diverge
        heights = {
            name: (f(*path.T) - bottom) / (f(*path[0]) - bottom) for name, path in paths.items()
        }
    plot, said = _over_steps(heights, powers, level, step)
    said = "\n".join([f"{HEIGHT}, {counted(_last(heights, step), 'step')} taken", *said])
    below = svg("0 0 560 222", "".join(plot.parts), said, even=True)
    return Picture(_stacked(above.html, below), f"{above.text}\n{said}")


def speeds(heights, level=None, powers=(-8, 2)):
    """Draw how fast several runs descend: their heights over the steps, with a legend.

    Parameters
    ----------
    heights : dict of str to ndarray
        A dict that maps the name of each run to its heights, as fractions of the initial height.
    level : float, optional
        A height at which the plot has a dotted line.
    powers : (int, int)
        The lowest and the highest power of ten of the plot.
    """
    plot, said = _over_steps(heights, powers, level)
    for row, (name, look) in enumerate(zip(heights, PATHS)):
        shape, colour, dash = OWN.get(name, look)
        py = 246 + 23 * row
        plot.key(56, py, name, colour, 1.8, dash)
        plot.parts.append(_marked(shape, 70, py - 5, colour))
    text = "\n".join([f"{HEIGHT}, {counted(_last(heights), 'step')} taken", *said])
    return Picture(
        svg(f"0 0 560 {234 + 23 * len(heights)}", "".join(plot.parts), text, even=True), text
    )


def _marked(shape, px, py, colour):
    return f'<path d="{marker(shape, px, py, 5.5)}" fill="{colour}" stroke="{style.PAPER}" stroke-width="1.2"/>'


def _last(heights, step=None):
    return max(map(len, heights.values())) - 1 if step is None else step
