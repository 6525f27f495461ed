"""Draw the pictures of lesson 10: logits and probabilities, the Jacobian of softmax, and what a program reads."""

import numpy as np

from ...drawing import style
from ...drawing.axes import Axes, ticks
from ...drawing.formatting import minus, number, scan, words
from ...drawing.picture import Picture, beside, svg

WIDE = 3 * 46


def from_logits(x, line=False):
    """Draw three panels of bars: the logits `x` of three classes, their exponentials, and the probabilities.

    The probabilities are the softmax of the logits. If `line` is true, the first panel has a line at
    z, the logsumexp of the logits, in place of the numbers at its bars. Then the axes have room for
    logits from −2 to 3; otherwise they fit the bars. A class has the same shade in every panel.
    """
    x = np.asarray(x, float)
    e = np.exp(x)
    p = e / e.sum()
    of_x, of_e = ((-2.8, 4.4), (0, 22.5)) if line else (_room(x), _room(e))
    panels = [
        _bars(34, "logits x", x, of_x, z=np.log(e.sum()) if line else None),
        _bars(34, f"eˣ, sum {_short(e.sum())}", e, of_e),
        _column(32, f"p, sum {_short(p.sum())}", p),
    ]
    text = "\n".join(
        f"{name}: {', '.join(map(_short, row))}"
        for name, row in [("logits x", x), ("eˣ", e), ("p", p)]
    )
    if line:
        text = text.replace("\n", f"; z: {_short(np.log(e.sum()))}\n", 1)
    said = text.splitlines()
    return Picture(
        beside(*(svg("0 0 185 296", "".join(parts), words) for parts, words in zip(panels, said))),
        text,
    )


def _room(heights):
    """Return the lowest and the highest value of an axis for bars with numbers at their ends."""
    low, high = min(0, *heights), max(0, *heights)
    room = 0.15 * (high - low)
    return low - room * (low < 0), high + room * (high > 0)


def jacobian_map(J):
    """Draw a Jacobian as a heat map, with the sums of its rows and columns.

    The darker a cell, the larger the absolute value of its entry. Entries above and below 0 have
    different colours. `J` has a row for each output and a column for each input.
    """
    J = np.round(np.asarray(J, float), 6)
    largest = np.abs(J).max() or 1
    left, top, wide, high = 46, 62, 74, 42
    right, bottom = left + wide * J.shape[1], top + high * J.shape[0]
    parts = [words(left, 20, "row i, column j: ∂p[i] / ∂x[j]", anchor="start")]
    parts += [words(left + wide * (j + 0.5), top - 10, f"x{j}", size=13) for j in range(len(J.T))]
    for i, row in enumerate(J):
        y = top + high * i
        parts.append(words(left - 10, y + 26, f"p{i}", anchor="end", size=13))
        for j, entry in enumerate(row):
            x = left + wide * j
            parts.append(
                f'<rect x="{x}" y="{y}" width="{wide}" height="{high}" stroke="{style.LINE}" '
                f'fill="{style.ABOVE if entry > 0 else style.BELOW}" '
                f'fill-opacity="{0.45 * abs(entry) / largest:.2f}"/>'
            )
            parts.append(words(x + wide / 2, y + 26, _short(entry), size=13))
        parts.append(words(right + 10, y + 26, f"sum {_short(row.sum())}", anchor="start", size=13))
    for j, column in enumerate(J.T):
        parts.append(
            words(left + wide * (j + 0.5), bottom + 20, f"sum {_short(column.sum())}", size=13)
        )
    text = "\n".join(
        f"p{i}: {', '.join(map(_short, row))}; sum {_short(row.sum())}" for i, row in enumerate(J)
    )
    text += f"\nsums of the columns: {', '.join(map(_short, J.sum(axis=0)))}"
    return Picture(svg(f"0 0 {right + 70} {bottom + 34}", "".join(parts), text), text)


LOW, HIGH = -745, 709  # beyond, np.exp gives 0 and inf


def twins(x, c):
    """Draw softmax of the logits x + c in two versions, with and without subtracting the largest logit first.

    For each version, the picture shows which logits are outside the range where exp can be computed
    in float64, and the resulting probabilities. `x` is a sequence of logits and `c` is a number.
    """
    x = np.asarray(x, float) + c
    logits = f"logits: {', '.join(map(_three_decimals, x))}"
    parts, lines = [words(46, 20, logits, anchor="start")], []
    for top, title, exponents in [
        (72, "as written", x),
        (302, "largest subtracted first", x - x.max()),
    ]:
        with np.errstate(all="ignore"):
            e = np.exp(exponents)
            p = e / e.sum()
        powers = f"powers of e: {', '.join(number(power, 3) for power in e)}"
        parts += _ruler((46, top, 324, 108), title, exponents, e)
        parts.append(words(46, top + 170, powers, anchor="start", size=13))
        parts += _bars(418, "p", p, (0, 1.2), top, 108)
        lines.append(f"{title}: p = {', '.join(map(_short, p))}; {powers}")
    text = "\n".join([logits, *lines])
    return Picture(svg("0 0 560 488", "".join(parts), text), text)


def _ruler(box, title, logits, e):
    """Return SVG parts that show the logits on an axis, with marks where exp becomes 0 and where it becomes inf.

    `box` is the position and size of the axis, and `e` holds the exponentials of the logits. A
    logit whose exponential is 0, inf or nan is drawn as a cross, any other logit as a dot.
    """
    left, top, wide, high = box
    plot = Axes(box, (-1350, 1350), (len(logits), 0))
    (low, _), (up, _) = plot.at(LOW, 0), plot.at(HIGH, 0)
    plot.parts.append(
        f'<path d="M{low:.1f} {top}h{up - low:.1f}v{high}h{low - up:.1f}z" fill="{style.GROUND}"/>'
        f'<path d="M{low:.1f} {top}v{high}M{up:.1f} {top}v{high}" stroke="{style.INK}" stroke-width="3"/>'
        f'<path d="M{left} {top + high}h{wide}" stroke="{style.LINE}"/>'
    )
    for at, what in [
        ((left + low) / 2, "eˣ is 0"),
        (plot.at(0, 0)[0], "exponent"),
        ((up + left + wide) / 2, "eˣ is inf"),
    ]:
        plot.words(at, top + high + 36, what, size=13)
    for tick in (LOW, 0, HIGH):
        plot.words(plot.at(tick, 0)[0], top + high + 18, number(tick), style.FAINT, size=13)
    plot.words(left, top - 12, title, anchor="start")
    plot.words(4, top + high + 18, "class", anchor="start", size=13)
    for k, (logit, power) in enumerate(zip(logits, e)):
        px, py = plot.at(logit, k + 0.5)
        plot.words(left - 8, py + 4, str(k), style.FAINT, "end", 13)
        if 0 < power < np.inf:
            plot.mark(px, py, style.VALUE, style.VALUE)
        else:
            plot.parts.append(
                f'<path d="M{px - 5:.1f} {py - 5:.1f}l10 10m0 -10l-10 10" stroke="{style.INK}" stroke-width="2.5"/>'
            )
    return plot.parts


def _short(value):
    return number(round(float(value), 3)) if np.isfinite(value) else str(value)


def _three_decimals(value):
    """Format a number with at most three decimals, without the commas of thousands."""
    return minus(f"{value:.3f}".rstrip("0").rstrip("."))


def _shade(k):
    """Return the opacity of class k: the same in all panels."""
    return f"{max(0.85 - 0.3 * k, 0.25):.2f}"


def _bars(left, title, heights, y, top=56, high=190, z=None):
    """Return SVG parts of one panel with a bar for each class.

    A number that is nan or infinite is written in place of its bar. `heights` holds one number for
    each class, and `y` is the lowest and the highest value on the axis. `left`, `top` and `high`
    are the position and the height of the panel, in pixels. If `z` is a number, a line is
    drawn there, in place of the bars' numbers.
    """
    plot = Axes((left, top, WIDE, high), (0, len(heights)), y)
    plot.frame([(k + 0.5, str(k)) for k in range(len(heights))], ticks(*y, most=5), "class", title)
    if z is not None:
        at = round(plot.at(0, z)[1])
        plot.parts.append(f'<path d="M{left} {at}h{WIDE}" stroke="{style.INK}" stroke-width="2"/>')
        plot.words(left + WIDE + 7, at + 4, "z", size=13)
    for k, height in enumerate(heights):
        if not np.isfinite(height):
            plot.words(*plot.at(k + 0.5, 0.05), str(height), size=13)
            continue
        (px, top), (_, bottom) = plot.at(k + 0.5, max(0, height)), plot.at(k + 0.5, min(0, height))
        plot.parts.append(
            f'<rect x="{px - 15:.1f}" y="{top:.1f}" width="30" height="{bottom - top:.1f}" '
            f'fill="{style.VALUE}" '
            f'fill-opacity="{_shade(k)}" stroke="{style.VALUE}" stroke-width="2"/>'
        )
        if z is None:
            plot.words(
                px,
                top - 6 if height >= 0 else bottom + 16,
                _short(height),
                style.VALUE,
                size=13,
                halo=True,
            )
    return plot.parts


def _column(left, title, p):
    """Return SVG parts of one panel that shows the probabilities `p` stacked in a column of height 1.

    `left` is the position of the panel, in pixels.
    """
    plot = Axes((left, 56, WIDE, 190), (0, 1), (0, 1))
    plot.frame([], ticks(0, 1, most=5), title=title)
    beside = 46  # y of the labels: at their part, and at least 18 px below the label above
    for k, (share, top) in reversed(list(enumerate(zip(p, np.cumsum(p))))):
        (px, upper), (_, lower) = plot.at(0.16, top), plot.at(0.16, top - share)
        plot.parts.append(
            f'<rect x="{px - 18:.1f}" y="{upper:.1f}" width="36" height="{lower - upper:.1f}" '
            f'fill="{style.VALUE}" '
            f'fill-opacity="{_shade(k)}" stroke="{style.PAPER}" stroke-width="2"/>'
        )
        beside = max((upper + lower) / 2 + 4, beside + 18)
        plot.words(
            px + 24, beside, f"class {k}: {_short(share)}", style.VALUE, "start", 13, halo=True
        )
    return plot.parts


def choice_bars(p, true):
    """Draw the probabilities p as bars, and beside them p − onehot, the gradient of the logits.

    The difference p − onehot is the gradient of the loss with respect to the logits. `p` has the
    shape (C,), and `true` is the index of the true class.
    """
    p = np.asarray(p, float)
    gradient = p - (np.arange(len(p)) == true)
    parts, wide = [], max(52 * len(p), 150)
    for left, title, heights, low, colour, dash, fill in [
        (48, "p", p, 0, style.VALUE, "none", 0.85),
        (118 + wide, "p − onehot", gradient, -1, style.GRADIENT, "6 4", 0.25),
    ]:
        plot = Axes((left, 40, wide, 240), (0, len(p)), (1.2 * low - 0.1, 1.1 - 0.1 * low))
        plot.frame(
            [(k + 0.5, f"{k}" + " ✓" * (k == true)) for k in range(len(p))],
            ticks(low, 1),
            "class, ✓ is the true one",
            f"{title}, sum {number(round(float(heights.sum()), 10))}",
        )
        for k, height in enumerate(heights):
            if np.isnan(height):
                plot.words(*plot.at(k + 0.5, 0.05), "nan", colour, size=13)
                continue
            (px, top), (_, bottom) = (
                plot.at(k + 0.5, max(0, height)),
                plot.at(k + 0.5, min(0, height)),
            )
            plot.parts.append(
                f'<rect x="{px - 17:.1f}" y="{top:.1f}" width="34" height="{bottom - top:.1f}" fill="{colour}" '
                f'fill-opacity="{fill}" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
            )
            plot.words(
                px,
                top - 6 if height >= 0 else bottom + 16,
                number(round(height, 3)),
                colour,
                size=13,
                halo=True,
            )
        parts += plot.parts
    text = "\n".join(
        [
            f"p: {', '.join(number(round(x, 3)) for x in p)}; sum {number(round(float(p.sum()), 10))}",
            f"p − onehot: {', '.join(number(round(x, 3)) for x in gradient)}; sum {number(round(float(gradient.sum()), 10))}",
        ]
    )
    return Picture(svg(f"0 0 {2 * wide + 140} 330", "".join(parts), text), text)


PIXEL = 9  # px, of a map; ten maps in rows of five are as wide as a phone


def reading(images, true, read, weights):
    """Draw scans with the digit read below each, and the weights of the ten digits as maps.

    A map has the weight of each pixel in its place. Positive and negative weights have different
    colours, and clearly negative ones also have a dash.

    Parameters
    ----------
    images : ndarray
        Up to four scans, of shape (n, 64).
    true, read : sequence of int
        The true digit of each scan, and the digit that was read.
    weights : ndarray
        Shape (64, 10), one column for each digit.
    """
    side = 8 * PIXEL
    parts, said = [words(8, 20, "Test scans", anchor="start")], []
    for k, (image, is_, read_as) in enumerate(zip(images, true, read, strict=True)):
        x = 8 + 93 * k
        says = f"read {read_as}" + (" ✓" if is_ == read_as else f", is {is_} ✗")
        parts += [
            scan(image.reshape(8, 8), x, 32, side),
            words(x, 32 + side + 19, says, anchor="start"),
        ]
        said.append(f"{is_} read as {read_as}")
    parts.append(words(8, 158, "The 64 weights of each digit", anchor="start"))
    most = np.quantile(np.abs(weights), 0.98) or 1  # a few larger weights would make the rest pale
    shares = np.clip(np.round(6 * weights.T / most), -6, 6).astype(int)
    at = [(8 + k % 5 * 78, 186 + k // 5 * 104) for k in range(10)]
    for k, (x, y) in enumerate(at):
        parts.append(words(x + side / 2, y - 8, str(k)))
        parts.append(
            f'<rect x="{x}" y="{y}" width="{side}" height="{side}" fill="none" stroke="{style.LINE}"/>'
        )
    for share in np.unique(shares[shares != 0]):  # one path for all pixels of a shade
        corners = [
            (at[k][0] + pixel % 8 * PIXEL, at[k][1] + pixel // 8 * PIXEL)
            for k, pixel in np.argwhere(shares == share)
        ]
        parts.append(_pixels(corners, share))
    low = at[-1][1] + side + 24
    for y, share, what in [
        (low, 5, "weight above 0: ink here raises the logit"),
        (low + 20, -5, "weight below 0: ink here lowers the logit"),
    ]:
        parts += [_pixels([(8, y - 9)], share), words(24, y, what, style.FAINT, "start", 13)]
    middle = weights.reshape(8, 8, 10)[3:5, 3:5].mean(axis=(0, 1))
    text = (
        f"Test scans: {', '.join(said)}.\nThe 64 weights of each digit. Mean weight of the four pixels "
        f"in the middle: {', '.join(f'{_short(one)} of {k}' for k, one in enumerate(middle))}."
    )
    return Picture(svg(f"0 0 400 {low + 32}", "".join(parts), text), text)


def _pixels(corners, share):
    """Return squares as SVG in the shade `share`, from −6 to 6, with a dash from −3 downwards.

    `corners` lists the upper left corner of each square, in px.
    """
    squares = "".join(f"M{x} {y}h{PIXEL}v{PIXEL}h-{PIXEL}z" for x, y in corners)
    colour = style.ABOVE if share > 0 else style.BELOW
    filled = f'<path d="{squares}" fill="{colour}" fill-opacity="{abs(share) / 6:.2f}"/>'
    if share > -3:
        return filled
    dashes = "".join(f"M{x + 2} {y + 4.5}h5" for x, y in corners)
    return filled + f'<path d="{dashes}" stroke="{style.PAPER}" stroke-width="1.5"/>'
