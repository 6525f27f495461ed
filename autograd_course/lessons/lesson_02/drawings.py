"""Draw the picture of lesson 02 in which the contributions of two inputs are compared with the true change."""

from ...drawing import style
from ...drawing.axes import Axes, ticks
from ...drawing.formatting import minus
from ...drawing.picture import Picture, svg


def two_parts(from_x, from_y, change, reach):
    """Draw how x and y contribute to the change in z, and how far the sum is from the true change.

    `from_x` and `from_y` are the contributions, drawn end to end, and `change` is the true change
    of z. The error is the true change minus the sum of the contributions, and is drawn ten times as
    long. The axis is marked from −reach to reach.
    """
    plot = Axes(
        (20, 4, 520, 240), (-1.2 * reach, 1.2 * reach), (0, 4)
    )  # room for the numbers beside the bars
    total = round(from_x + from_y, 12) + 0.0  # no −0.0000
    missed = round(change - total, 12) + 0.0
    plot.frame(ticks(-reach, reach, 9), [], "change in z")
    plot.line([0, 0], [1, 4], style.LINE, 1)
    plot.line([from_x] * 2, [2.35, 3.35], style.CHANGE, 1)
    plot.line([total] * 2, [0, 2.35], style.CHANGE, 1.5, "2 3")
    for place, words in enumerate(
        ["error, drawn × 10", "true change in z", "contributed by y", "contributed by x"]
    ):
        plot.words(20, plot.at(0, place + 1)[1] + 15, words, style.FAINT, "start", 13, halo=True)
    end = min(max(total + 10 * missed, plot.x[0]), plot.x[1])
    for start, stop, y, said, dash in [
        (0, from_x, 3.35, from_x, "6 4"),
        (from_x, total, 2.35, from_y, "6 4"),
        (total, end, 0.35, missed, "none"),
    ]:
        (left, middle), (right, _) = plot.at(min(start, stop), y), plot.at(max(start, stop), y)
        plot.parts.append(
            f'<rect x="{left:.1f}" y="{middle - 13:.1f}" width="{right - left:.1f}" height="26" '
            f'fill="{style.CHANGE}" fill-opacity="{0.2 if dash != "none" else 0.7}" '
            f'stroke="{style.CHANGE}" stroke-width="2" stroke-dasharray="{dash}"/>'
        )
        ahead = stop >= start and right < 440 or left < 100
        plot.words(
            right + 8 if ahead else left - 8,
            middle + 5,
            _signed(said),
            style.CHANGE,
            "start" if ahead else "end",
            halo=True,
        )
    plot.dot(change, 1.35, style.DIFFERENCE)
    px, py = plot.at(change, 1.35)
    side = 1 if missed >= 0 else -1
    plot.words(
        px + 16 * side,
        py + 5,
        _signed(change),
        style.DIFFERENCE,
        "start" if side > 0 else "end",
        halo=True,
    )
    text = (
        f"x contributes {_signed(from_x)}, y contributes {_signed(from_y)}, together {_signed(total)}; "
        f"the true change in z is {_signed(change)}, off by {_signed(missed)}"
    )
    return Picture(svg("0 0 560 290", "".join(plot.parts), text), text)


def _signed(x):
    return minus(f"{round(x, 12):+.4f}")  # so that −0.13025 and −0.13025 + 1e−16 look the same
