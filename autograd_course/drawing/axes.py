"""Define Axes, a coordinate system in SVG.

When a slider moves, these axes are redrawn twice as fast as those of matplotlib.
"""

from math import floor, log10

import numpy as np

from . import formatting, style

DOTS = "1.5 5"  # a tangent's


class Axes:
    """Draw in data coordinates, and collect the drawing in `parts`, a list of SVG strings.

    Parameters
    ----------
    box : (float, float, float, float)
        The left edge, top edge, width and height of the plot, in px.
    x, y : (float, float)
        The limits in data coordinates, as (left, right) and (bottom, top).
    """

    def __init__(self, box, x, y):
        self.box, self.x, self.y = box, x, y
        self.parts = []

    def at(self, x, y):
        """Convert data coordinates to px, and return them as a pair (px, py)."""
        left, top, width, height = self.box
        return (
            left + (x - self.x[0]) / (self.x[1] - self.x[0]) * width,
            top + (self.y[1] - y) / (self.y[1] - self.y[0]) * height,
        )

    def frame(self, xticks, yticks, xlabel="", title=""):
        """Draw the grid lines, the ticks, the label of the x axis, and the title.

        `xticks` and `yticks` are lists of (position, label), with positions in data coordinates.
        The title is above the plot, aligned with its left edge.
        """
        left, top, width, height = self.box
        for y, words in yticks:
            py = self.at(0, y)[1]
            self.parts.append(
                f'<path d="M{left} {py:.1f}h{width}" stroke="{style.LINE}" stroke-width="{0.4 if y else 1}"/>'
            )
            self.words(left - 8, py + 4, words, style.FAINT, "end", 13)
        for x, words in xticks:
            px = self.at(x, 0)[0]
            self.parts.append(f'<path d="M{px:.1f} {top + height}v5" stroke="{style.LINE}"/>')
            self.words(px, top + height + 18, words, style.FAINT, size=13)
        if xlabel:
            self.words(left + width / 2, top + height + 37, xlabel, size=13)
        if title:
            self.words(left, top - 12, title, anchor="start")

    def words(self, px, py, words, colour=style.INK, anchor="middle", size=14, halo=False):
        """Add the text `words` at (px, py), in px, with the options of `formatting.words`."""
        self.parts.append(formatting.words(px, py, words, colour, anchor, size, halo))

    def line(self, xs, ys, colour=style.INK, width=2.0, dash="none"):
        """Draw a line through the points (xs, ys) in data coordinates, and clip it to the plot.

        `width` is the width of the line in px, and `dash` is an SVG dash pattern, such as "8 4".
        """
        left, top, w, h = self.box
        with np.errstate(all="ignore"):  # some values diverge
            places = np.stack(self.at(np.array([*xs], float), np.array([*ys], float)), axis=1)
        points = " ".join(["%.1f,%.1f"] * len(places)) % tuple(
            places.ravel().tolist()
        )  # formatting them one by one takes twice as long
        self.parts.append(
            f'<svg x="{left}" y="{top}" width="{w}" height="{h}" viewBox="{left} {top} {w} {h}">'
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width}" '
            f'stroke-dasharray="{dash}" stroke-linejoin="round"/></svg>'
        )

    def key(self, px, py, words, colour, width, dash="none"):
        """Draw a legend entry at (px, py), in px: a short line, with its name `words` on the right."""
        self.parts.append(
            f'<path d="M{px} {py - 5}h28" stroke="{colour}" stroke-width="{width}" '
            f'stroke-dasharray="{dash}"/>'
        )
        self.words(px + 36, py, words, colour, "start", 13, halo=True)

    def straight(self, x, y, slope, colour=style.INK, width=2.0, dash="none", ways=(-1, 1)):
        """Draw a straight line with this slope through the point (x, y), in data coordinates.

        `ways` holds the directions in which the line extends from the point: -1 for left, 1 for
        right, or both. The other arguments are those of `line`.
        """
        far = self.x[1] - self.x[0]
        if slope:
            far = min(
                far, 3 * (self.y[1] - self.y[0]) / abs(slope)
            )  # a steep tangent must not end far above the box
        ends = [way * far if way in ways else 0.0 for way in (-1, 1)]
        self.line([x + end for end in ends], [y + slope * end for end in ends], colour, width, dash)

    def dot(self, x, y, colour=style.INK, fill=style.PAPER, square=False, size=5):
        self.mark(*self.at(x, y), colour, fill, square, size)

    def mark(self, px, py, colour=style.INK, fill=style.PAPER, square=False, size=5):
        """Draw a circle or, if `square` is True, a square, centred at (px, py) in px.

        `size` is the radius of the circle, in px. The side of a square is 2·`size` − 2 px long.
        """
        side = 2 * size - 2
        shape = (
            f'<rect x="{px - side / 2:.1f}" y="{py - side / 2:.1f}" width="{side}" height="{side}" class="dot"'
            if square
            else f'<circle cx="{px:.1f}" cy="{py:.1f}" r="{size}"'
        )
        self.parts.append(f'{shape} stroke="{colour}" stroke-width="1.8" fill="{fill}"/>')


def round_step(least):
    """Return the smallest number, at least `least`, that is 1, 2 or 5 times a power of ten."""
    power = floor(log10(least))
    return next(
        step
        for k in (power, power + 1)
        for m in (1, 2, 5)
        if (step := float(f"{m}e{k}")) >= least * (1 - 1e-12)
    )


def ticks(low, high, most=6):
    """Return ticks at round numbers from `low` to `high`, as a list of (position, label).

    There are at most `most` + 1 ticks.
    """
    step = round_step((high - low) / most)
    return [
        (k * step, formatting.number(k * step))
        for k in range(int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9)) + 1)
    ]


def decades(low, high, every):
    """Return the ticks of a logarithmic axis, as a list of (exponent, label).

    There is a tick at each power of ten whose exponent is an integer from `low` to `high` that is
    divisible by `every`.
    """
    return [
        (k, formatting.minus(f"1e{k}") if k else "1")
        for k in range(low, high + 1)
        if k % every == 0
    ]
