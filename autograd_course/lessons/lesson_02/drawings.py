"""What lesson 02 alone draws."""

from ...show import style
from ...show.axes import Axes, ticks
from ...show.ink import minus
from ...show.picture import Picture, svg


def two_parts(from_x, from_y, change, reach):
    """The parts of a change that x and y bring, laid end to end, above the change that was measured.

    The axis runs from −reach to reach.
    """
    plot = Axes((132, 16, 416, 150), (-1.25 * reach, 1.25 * reach), (0, 3))      # a number stands outside its bar
    total = from_x + from_y
    plot.frame(ticks(-reach, reach, 9), [(2.5, "x brings"), (1.5, "y brings"), (0.5, "z really moves by")],
               "change of z")
    plot.line([0, 0], [0, 3], style.LINE, 1)
    plot.line([from_x] * 2, [1.5, 2.5], style.LINE, 1)
    plot.line([total] * 2, [0, 1.5], style.GRADIENT, 1.5, "2 3")
    for start, end, y in [(0, from_x, 2.5), (from_x, total, 1.5)]:
        (left, middle), (right, _) = plot.at(min(start, end), y), plot.at(max(start, end), y)
        plot.parts.append(f'<rect x="{left:.1f}" y="{middle - 13:.1f}" width="{right - left:.1f}" height="26" '
                          f'fill="{style.GRADIENT}" fill-opacity="0.2" stroke="{style.GRADIENT}" stroke-width="2" '
                          'stroke-dasharray="6 4"/>')
        plot.words(*((right + 8, middle + 5) if end >= start else (left - 8, middle + 5)), _signed(end - start),
                   style.GRADIENT,
                   "start" if end >= start else "end")
    plot.dot(change, 0.5, style.DIFFERENCE)
    px, py = plot.at(change, 0.5)
    plot.words(*((px + 11, py + 5, _signed(change), style.DIFFERENCE, "start") if change >= total else
                 (px - 11, py + 5, _signed(change), style.DIFFERENCE, "end")))
    text = minus(f"x brings {from_x:+.4f}, y brings {from_y:+.4f}, together {total:+.4f}; "
                 f"z really moves by {change:+.4f}, off by {change - total:+.4f}")
    return Picture(svg("0 0 560 210", "".join(plot.parts), text), text)


def _signed(x):
    return minus(f"{x:+.3f}")
