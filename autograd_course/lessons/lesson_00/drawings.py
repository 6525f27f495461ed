"""Draw the pictures of lesson 00: value and gradient under a slider, a model that learns to read, and a grid to draw on."""

import ipywidgets as widgets
import numpy as np
import traitlets

from ...drawing import style
from ...drawing.axes import DOTS, Axes, ticks
from ...drawing.formatting import counted, number, percent, scan
from ...drawing.picture import Picture, beside, svg


def curve_and_bars(f, x, gradient, span=(-1, 7), curve=True):
    """Draw the curve of f with its tangent at x, and beside it the value f(x) and the gradient as bars.

    `f` is a function of an array, `gradient` is the gradient of f at x, and `span` is the lowest
    and the highest x in the plot. The curve and the bars share one vertical scale. The triangle
    under the tangent is one unit wide, so it is as high as the bar of the gradient. With
    `curve=False`, only the two bars are drawn, each on its own scale.
    """
    xs = np.linspace(*span, 161)
    heights, value, gradient = f(xs), float(f(x)), float(gradient)
    steepness = np.gradient(heights, xs)

    def scale(*many):
        """Return axis limits that include 0 and every number of `many`, with room for a label at each end."""
        low, high = min(0, *map(np.min, many)), max(0, *map(np.max, many))
        return low - 0.12 * (high - low), high + 0.12 * (high - low)

    way = "flat" if abs(gradient) < 1e-9 else "rising" if gradient > 0 else "falling"
    text = (
        f"at x = {number(x)}: value {number(value)}, gradient {number(round(gradient, 10))}"
        + f" ({way})" * curve
    )
    if not curve:
        one, other = (
            Axes((left, 34, 150, 230), (0, 1), scale(many))
            for left, many in [(48, heights), (270, steepness)]
        )
        one.frame([], ticks(*one.y), title=f"at x = {number(x)}")
        other.frame([], ticks(*other.y), title="on its own scale")
        _bar(one, 0.5, "value", value, style.VALUE, "none", 0.85)
        _bar(other, 0.5, "gradient", gradient, style.GRADIENT, "6 4", 0.25)
        return Picture(svg("0 0 440 305", "".join(one.parts + other.parts), text), text)
    both = scale(heights, steepness)
    plot = Axes((48, 34, 380, 230), span, both)
    plot.frame(ticks(*span, most=10), ticks(*both), "x", "the curve")
    plot.line(xs, heights, style.VALUE, 2.5)
    ahead = x + 1 <= span[1]  # otherwise the triangle is drawn to the left of the point
    reach = (span[1] - span[0]) / 6
    ends = np.array(
        [-max(reach, not ahead), max(reach, ahead)]
    )  # so that the tangent closes the triangle
    plot.line(x + ends, value + ends * gradient, style.TANGENT, 3.5, DOTS)
    plot.line([x, span[1]], [value, value], style.VALUE, 1, "1 4")
    foot = value if ahead else value - gradient
    plot.line([x - (not ahead), x + ahead], [foot, foot], style.INK, 1.5)
    plot.line([x + ahead] * 2, [foot, foot + gradient], style.GRADIENT, 4, "6 4")
    (px, py), (leg, middle) = (
        plot.at(x + ahead - 0.5, foot),
        plot.at(x + ahead, foot + gradient / 2),
    )
    py += -7 if gradient < 0 or py > 250 else 16  # keep clear of the numbers on the axis
    plot.words(px, py, "1", size=13, halo=True)
    short = (
        abs(plot.at(0, gradient)[1] - plot.at(0, 0)[1]) < 24
    )  # beside so short a leg the label would overlap the tangent
    plot.words(
        leg + 8,
        py if short else middle + 5,
        number(round(gradient, 10)),
        style.GRADIENT,
        "start",
        13,
        halo=True,
    )
    plot.dot(x, value, style.VALUE, style.VALUE)
    bars = Axes((48, 34, 240, 230), (0, 2), both)
    bars.frame([], ticks(*both), title=f"at x = {number(x)}")
    _bar(bars, 0.5, "value", value, style.VALUE, "none", 0.85)
    _bar(bars, 1.5, "gradient", gradient, style.GRADIENT, "6 4", 0.25)
    return Picture(
        beside(
            svg(
                "0 0 500 305", "".join(plot.parts), f"the curve, and its tangent at x = {number(x)}"
            ),
            svg("0 0 300 305", "".join(bars.parts), text),
        ),
        text,
    )


def _bar(plot, x, name, height, colour, dash, fill):
    (px, top), (_, bottom) = plot.at(x, max(0, height)), plot.at(x, min(0, height))
    plot.parts.append(
        f'<rect x="{px - 26:.1f}" y="{top:.1f}" width="52" height="{bottom - top:.1f}" '
        f'fill="{colour}" fill-opacity="{fill}" stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dash}"/>'
    )
    upwards = round(height, 10) >= 0  # −1e-17 counts as 0, so its label goes above the line
    plot.words(
        px,
        top - 7 if upwards else bottom + 18,
        number(round(height, 10)),
        colour,
        size=16,
        halo=True,
    )
    plot.words(px, 286, name, colour, size=14)


def digits_learning(images, labels, answers, accuracies, passes):
    """Draw a model's answers to some images of digits, and its accuracy over the passes so far.

    A correct answer has a ✓. A wrong answer has a ✗ and the true digit beside it.

    Parameters
    ----------
    images : array of shape (n, 8, 8)
        The images to show.
    labels, answers : array of shape (n,)
        The true digits, and the digits that the model predicts after `passes` passes.
    accuracies : sequence of float
        The accuracy on all held-out digits, from 0 to 1, before the first pass and after each pass.
    passes : int
        The number of passes over the training digits so far, from 0 on.
    """
    columns, side = 8, 42
    rows, last = -(-len(images) // columns), len(accuracies) - 1
    plot = Axes((56, 40, 220, rows * (side + 26) - 34), (0, last), (0, 1))
    sheet = Axes((0, 0, 400, 0), (0, 1), (0, 1))  # only for its text
    for k, (image, label, answer) in enumerate(zip(images, labels, answers, strict=True)):
        px, py = 14 + k % columns * (side + 6), 40 + k // columns * (side + 26)
        right = answer == label
        sheet.parts.append(scan(image, px, py, side))
        sheet.words(
            px + side / 2, py + side + 16, f"{answer}✓" if right else f"{answer}✗{label}", size=13
        )
    sheet.words(14, 28, "answers: ✓ right; ✗ wrong, with the true digit", anchor="start")
    plot.frame(
        ticks(0, last, 5),
        [(k / 4, f"{25 * k} %") for k in range(5)],
        "passes over the training digits",
        f"{percent(accuracies[passes])} of the held-out digits right",
    )
    plot.line(range(passes + 1), accuracies[: passes + 1], width=2.5)
    plot.dot(passes, accuracies[passes], fill=style.INK)
    high = rows * (side + 26) + 54
    text = (
        f"after {counted(passes, 'pass')}: {np.sum(answers == labels)} of these {len(labels)} right, "
        f"{percent(accuracies[passes])} of all held-out digits"
    )
    return Picture(
        beside(
            svg(f"0 0 400 {high}", "".join(sheet.parts), text),
            svg(
                f"0 0 300 {high}",
                "".join(plot.parts),
                f"{percent(accuracies[passes])} of all held-out digits",
            ),
        ),
        text,
    )


def weights_and_gradients(frames, passes):
    """Draw the weights of some hidden units as 8 × 8 images, and their gradients below them.

    Squares show positive numbers, and diamonds show negative numbers. The weights of a frame share
    one scale of shades, and so do its gradients; the headings give their mean sizes, without the
    units whose gradients are all 0. An arrow joins the gradients of unit 1 to some of the scans
    that add up to them: those with the largest and the smallest factors.

    Parameters
    ----------
    frames : sequence of (float, array, array, array, array)
        After each number of passes over the training digits: the loss, weights and gradients, both
        of shape (n, 64), the scans with the largest and the smallest factors, of shape (m, 64), and
        their factors.
    passes : int
        The number of the frame to draw.
    """
    side, pixel = 100, 12
    sheet = Axes((0, 0, 560, 0), (0, 1), (0, 1))  # only for its text
    after = f"after {counted(passes, 'pass')}"
    loss, *parts, scans, factors = frames[passes]
    learning = np.any(parts[1] != 0, axis=1)  # a dead unit has no gradient
    lines = [f"loss {loss:.3f} on all training digits"]
    for row, (numbers, what, heading, colour, dash) in enumerate(
        [
            (parts[0], "weights", f"weights {after}", style.VALUE, "none"),
            (parts[1], "gradients", "their gradients", style.GRADIENT, "6 4"),
        ]
    ):
        largest = np.abs(numbers).max()
        size = number(float(f"{np.abs(numbers[learning]).mean():.2g}"))
        sheet.words(14, 26 + 150 * row, f"{heading}: mean size {size}", colour, "start", 16)
        shades = np.round(12 * numbers / largest).astype(int)
        corners = [(14 + 136 * unit, 38 + 150 * row) for unit in range(len(numbers))]
        sheet.parts += [
            f'<rect x="{x}" y="{y}" width="{side}" height="{side}" fill="none" stroke="{colour}" '
            f'stroke-width="2" stroke-dasharray="{dash}"/>'
            for x, y in corners
        ]
        for shade in np.unique(shades[shades != 0]):  # one path for all entries of a shade
            shape = "h10v10h-10z" if shade > 0 else "m5 0l5 5l-5 5l-5 -5z"
            path = "".join(
                f"M{corners[unit][0] + 3 + entry % 8 * pixel} {corners[unit][1] + 3 + entry // 8 * pixel}{shape}"
                for unit, entry in np.argwhere(shades == shade)
            )
            fill = style.ABOVE if shade > 0 else style.BELOW
            sheet.parts.append(
                f'<path d="{path}" fill="{fill}" fill-opacity="{abs(shade) / 12:.2f}"/>'
            )
        strongest = number(float(f"{largest:.2g}"))
        lines.append(f"{what}: mean size {size} without dead units, up to ±{strongest}")
        for sign, fits in [("above", numbers > 0), ("below", numbers < 0)]:
            counts = ", ".join(map(str, fits.sum(axis=1)))
            lines.append(f"{what} {sign} 0, for each unit: {counts}")
    sheet.words(538, 176, f"loss {loss:.3f}", anchor="end", size=16)
    labels = [number(1000 * float(f"{factor:.2g}")) for factor in factors]
    for unit in range(len(parts[0])):
        sheet.words(64 + 136 * unit, 154, f"unit {unit}", size=13)
    # The arrow goes from the scans up to the gradients of unit 1, the second unit.
    sheet.parts.append(
        f'<path d="M200 322V302" stroke="{style.INK}" stroke-width="2"/>'
        f'<path d="M200 292l7 12h-14z" fill="{style.INK}"/>'
    )
    sheet.words(218, 312, "added up, with all others", anchor="start", size=14)
    sheet.words(14, 344, "unit 1: extreme factors (in 1/1,000)", anchor="start", size=16)
    for k, (image, label) in enumerate(zip(scans, labels, strict=True)):
        sheet.parts.append(scan(image.reshape(8, 8), 14 + 136 * k, 356, 64))
        sheet.words(14 + 136 * k, 438, f"{label} ×", anchor="start", size=14)
    for x, shape, fill, words in [
        (14, "h10v10h-10z", style.ABOVE, "above 0"),
        (140, "m5 0l5 5l-5 5l-5 -5z", style.BELOW, "below 0"),
    ]:
        sheet.parts.append(f'<path d="M{x} 459{shape}" fill="{fill}"/>')
        sheet.words(x + 18, 469, words, style.FAINT, "start", 13)
    sheet.words(14, 494, "the stronger the colour, the larger the number", style.FAINT, "start", 13)
    lines.append(f"largest and smallest factors for unit 1, in thousandths: {', '.join(labels)}")
    text = f"{after}, {len(parts[0])} hidden units with 64 weights each\n" + "\n".join(lines)
    return Picture(svg("0 0 560 506", "".join(sheet.parts), text), text)


class Dots(widgets.VBox):
    """Show a grid of toggle buttons to draw on, with the mouse or with Tab and Space.

    The trait `value` holds the drawing as a tuple of rows, with 1.0 for a dot that is on and 0.0
    for a dot that is off. `start` is an array of shape (rows, columns), true where a dot is on at
    first.
    """

    value = traitlets.Tuple()

    def __init__(self, start):
        look = {"width": "30px", "height": "30px", "margin": "1px", "padding": "0"}
        self.dots = [
            [
                widgets.ToggleButton(value=bool(on), tooltip=f"row {i}, column {j}", layout=look)
                for j, on in enumerate(row, start=1)
            ]
            for i, row in enumerate(start, start=1)
        ]
        clear = widgets.Button(
            description="clear", tooltip="clear all dots", layout={"width": "6em"}
        )
        ink = widgets.HTML(
            f"<style>.dots .widget-toggle-button{{background:{style.PAPER};border:1px solid {style.LINE}}}"
            f".dots .widget-toggle-button.mod-active{{background:{style.INK}}}</style>",
            layout={"display": "none"},
        )
        super().__init__([*(widgets.HBox(row) for row in self.dots), clear, ink])
        self.add_class("dots")
        self._read()
        for dot in sum(self.dots, []):
            dot.observe(self._read, "value")
        clear.on_click(self.clear)

    def clear(self, _=None):
        with (
            self.hold_trait_notifications()
        ):  # so that observers see one change, not one for every dot
            for dot in sum(self.dots, []):
                dot.value = False

    def _read(self, change=None):
        self.value = tuple(tuple(float(dot.value) for dot in row) for row in self.dots)


def as_read(dots, scores):
    """Draw the dots that a model receives as its input, and a bar for the share of each digit.

    The shares are the softmax of the model's ten `scores`. `dots` holds rows of 0.0 and 1.0. In the
    text version, each row of dots is a line, with # for a dot that is on.
    """
    shares = np.exp(scores - np.max(scores))
    shares = shares / shares.sum()
    first, second = np.argsort(-shares)[:2]
    text = "\n".join(
        [
            f"read as {first} (share {shares[first]:.2f}); second choice {second} ({shares[second]:.2f})",
            *("".join("#" if dot else "·" for dot in row) for row in dots),
        ]
    )
    plot = Axes((170, 40, 340, 230), (0, 10), (0, 1.08))
    plot.parts += [
        f'<rect x="11" y="95" width="114" height="114" fill="none" stroke="{style.LINE}"/>',
        scan(np.array(dots), 12, 96, 112),
    ]
    plot.words(12, 84, "the model's input", anchor="start", size=13)
    plot.frame(
        [(digit + 0.5, str(digit)) for digit in range(10)],
        [(part / 100, str(part)) for part in (0, 50, 100)],
        "digit",
        f"read as {first}; shares in %",
    )
    for digit, share in enumerate(shares):
        (left, top), (right, bottom) = plot.at(digit + 0.15, share), plot.at(digit + 0.85, 0)
        plot.parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" '
            f'fill="{style.INK}"/>'
        )
        if share >= 0.005:
            plot.words((left + right) / 2, top - 5, f"{100 * share:.0f}", size=13, halo=True)
    return Picture(svg("0 0 530 315", "".join(plot.parts), text), text)
