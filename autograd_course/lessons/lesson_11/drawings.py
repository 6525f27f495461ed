"""Draw the pictures of lesson 11: gradient descent in a ravine, and the factor by which a step multiplies a weight."""

import numpy as np

from ...drawing import style
from ...drawing.axes import Axes
from ...drawing.formatting import number
from ...drawing.landscapes import landscape
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
    return Picture(above.html + svg("0 0 560 78", "".join(below.parts), "; ".join(said)), text)


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
    for x, words in [(-0.5, "oscillates"), (0.5, "shrinks"), (-1.45, "diverges")]:
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
    return Picture(above.html + svg("0 14 560 108", "".join(line.parts), "\n".join(said)), text)
