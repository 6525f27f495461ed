"""Draw the picture of lesson 03: a rectangle whose sides grow."""

from ...drawing import style
from ...drawing.axes import Axes
from ...drawing.formatting import number, percent
from ...drawing.picture import Picture, svg


def grown_rectangle(x, y, dx, dy):
    """Draw the area x·y of a rectangle, and the area that it gains if its sides grow by dx and dy.

    The gain has three parts: the strips dx·y and x·dy, and the corner dx·dy. `dx` and `dy` are at
    most 1, and a negative value makes the rectangle smaller.
    """
    scale = 400 / (x + 1)
    plot = Axes((40, 40, 400, scale * (y + 1)), (0, x + 1), (0, y + 1))
    share = (
        f", {percent(dx * dy / ((x + dx) * (y + dy) - x * y), 2)} of the growth"
        if dx > 0 and dy > 0
        else ""
    )
    for (x0, x1), (y0, y1), colour, dash, fill in [
        ((0, x), (0, y), style.VALUE, "none", 0.12),
        ((x, x + dx), (0, y), style.CHANGE, "6 4", 0.2),
        ((0, x), (y, y + dy), style.CHANGE, "6 4", 0.2),
        ((x, x + dx), (y, y + dy), style.INK, "none", 0.5),
    ]:
        px, py = plot.at(min(x0, x1), max(y0, y1))
        plot.parts.append(
            f'<rect x="{px:.1f}" y="{py:.1f}" width="{abs(x1 - x0) * scale:.1f}" height="{abs(y1 - y0) * scale:.1f}" '
            f'fill="{colour}" fill-opacity="{fill}" stroke="{colour}" stroke-width="1.5" stroke-dasharray="{dash}"/>'
        )
    right, top = plot.at(max(x, x + dx), 0)[0] + 10, plot.at(0, max(y, y + dy))[1] - 8
    plot.words(*plot.at(x / 2, y / 2), f"x · y = {number(x * y)}", style.VALUE, size=16)
    plot.words(right, plot.at(0, y / 2)[1], f"dx · y = {number(dx * y)}", style.CHANGE, "start")
    plot.words(plot.at(x / 2, 0)[0], top, f"x · dy = {number(x * dy)}", style.CHANGE)
    plot.words(right, top, f"corner dx · dy = {number(dx * dy)}", anchor="start")
    opposite = (
        f": opposite signs, together {number(round(dx * y + x * dy, 10))}" if dx * dy < 0 else ""
    )
    text = (
        f"area {number(x * y)}, grown by {number((x + dx) * (y + dy) - x * y)}\n"
        f"strips: dx·y = {number(dx * y)}, x·dy = {number(x * dy)}{opposite}\n"
        f"corner: dx·dy = {number(dx * dy)}{share}"
    )
    return Picture(svg(f"0 0 640 {plot.box[3] + 52:.0f}", "".join(plot.parts), text), text)
