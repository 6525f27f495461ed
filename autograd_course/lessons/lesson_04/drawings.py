"""Draw the pictures of lesson 04: gradient descent on a plateau, exp with its inverse, and the trap of where."""

from html import escape

import numpy as np

import autograd_lib as ag

from ...drawing import style
from ...drawing.axes import DOTS, Axes, decades, ticks
from ...drawing.formatting import counted, number, words
from ...drawing.picture import Picture, svg


def plateau(runs, steps):
    """Draw several runs of gradient descent on the loss (tanh x − 1)², and below it the size of the gradient.

    Parameters
    ----------
    runs : dict of float to sequence of float
        For each start, x at the start and after each step. There are at most five starts, some
        distance apart.
    steps : int
        The number of steps after which the positions are drawn.
    """

    def loss(x):
        return (np.tanh(x) - 1) ** 2

    def gradient(x):
        return 2 * (np.tanh(x) - 1) * (1 - np.tanh(x) ** 2)

    span, lowest = (-22.0, 12.0), -20  # only an exact 0 is at the bottom
    after = f"after {counted(steps, 'step')}"
    hill, size = (
        Axes((72, 40, 472, 170), span, (-0.4, 4.9)),
        Axes((72, 262, 472, 150), span, (lowest - 1, 1.5)),
    )
    hill.frame([], ticks(*hill.y), "", f"L = (tanh x − 1)², {after}")
    size.frame(ticks(*span, most=8), decades(lowest, 1, 6), "x")
    size.words(72, 250, "size of the gradient", anchor="start", halo=True)
    xs = np.linspace(*span, 281)
    hill.line(xs, loss(xs), style.VALUE, 1.5)
    with np.errstate(divide="ignore"):
        sizes = np.maximum(np.log10(np.abs(gradient(xs))), lowest - 1)
    size.line(xs, sizes, style.GRADIENT, 2, "6 4")
    for start, run in runs.items():
        way = np.linspace(start, run[steps], 41)
        hill.line(way, loss(way), style.VALUE, 5)
    lines = []
    for start, run in runs.items():
        x = run[steps]
        slope = gradient(x)
        arrives = number(float(f"{slope:.2g}")) if slope else "exactly 0.0"
        z = number(np.tanh(x), 6)  # with four digits tanh −6 would also be shown as −1
        lines.append(
            f"From x = {number(start)}, {after}: x = {number(x)}, z = {z}, L = {number(loss(x))}, "
            f"gradient {arrives}."
        )
        hill.dot(start, loss(start), style.FAINT)
        (px, py), steep = hill.at(start, loss(start)), abs(gradient(start)) > 0.5
        hill.words(
            px + 12 * steep,
            py + (5 if steep else -12),
            "from " * (start == min(runs)) + number(start),
            style.FAINT,
            "start" if steep else "middle",
            13,
        )
        height = max(np.log10(abs(slope)), lowest - 1) if slope else lowest - 1
        (px, top), (_, low) = hill.at(x, loss(x)), size.at(x, height)
        hill.parts.append(
            f'<path d="M{px:.1f} {top:.1f}V{low:.1f}" stroke="{style.LINE}" stroke-dasharray="2 3"/>'
        )
        hill.dot(x, loss(x), style.VALUE, style.VALUE, size=6)
        size.dot(x, height, style.GRADIENT, style.GRADIENT, size=5)
        if not slope:
            size.words(px + 24, low - 3, "exactly 0", style.GRADIENT, "start", 13, halo=True)
    text = "\n".join(lines)
    return Picture(svg("0 0 560 465", "".join(hill.parts + size.parts), text), text)


def exp_and_log(x):
    """Draw the curves of exp and log as mirror images, each with a tangent.

    `x` is above 0. The tangent of log is drawn at x. The tangent of exp is the mirror image of this
    tangent, at log x, where the height of exp is x.
    """
    height, span = np.log(x), (-2.6, 7.2)
    plot = Axes((40, 34, 330, 330), span, span)
    plot.frame(ticks(*span), ticks(*span), "x", "exp and log: the same curve, axes swapped")
    plot.line(span, span, style.LINE, 1, "3 3")
    left, right = (
        np.linspace(span[0], np.log(span[1]), 121),
        np.geomspace(np.exp(span[0]), span[1], 161),
    )
    plot.line(left, np.exp(left), style.VALUE, 2)
    plot.line(right, np.log(right), style.VALUE, 2)
    leg = 1.5 / max(1.0, x)  # the short side of the triangles
    sides = [((height, x), (leg, leg * x), x), ((x, height), (leg * x, leg), 1 / x)]
    for (px, py), (run, rise), slope in sides:
        plot.straight(px, py, slope, style.TANGENT, 3.5, DOTS)
        plot.line([px, px + run, px + run], [py, py, py + rise], style.INK, 1.5)
        plot.dot(px, py, style.VALUE, style.VALUE)
    for (px, py), (run, rise), _ in sides:  # drawn over both triangles
        (left, top), (right, high) = plot.at(px, py), plot.at(px + run, py + rise)
        run, rise = number(round(run, 3)), number(round(rise, 3))
        plot.words(
            max((left + right) / 2, left + 8 + 3.6 * len(run)), top + 15, run, size=13, halo=True
        )
        plot.words(
            right + 6,
            max((top + high) / 2 + 5, high + 16),
            rise,
            anchor="start",
            size=13,
            halo=True,
        )
    plot.words(*plot.at(-2.5, 0.75), "exp", style.VALUE, "start", 16, halo=True)
    plot.words(*plot.at(0.55, -2.7), "log", style.VALUE, "start", 16, halo=True)
    plot.words(
        40,
        430,
        f"exp at {number(round(height, 3))}: height {number(x)}, slope {number(x)}",
        anchor="start",
    )
    plot.words(
        40,
        454,
        f"log at {number(x)}: height {number(round(height, 3))}, slope {number(1 / x)}",
        anchor="start",
    )
    text = (
        f"exp at {number(round(height, 3))} has height {number(x)} and slope {number(x)}.\n"
        f"Axes swapped: log at {number(x)} has height {number(round(height, 3))} and slope 1/{number(x)} = {number(1 / x)}.\n"
        f"The triangles: exp's tangent rises by {number(round(leg * x, 3))} over {number(round(leg, 3))}, "
        f"log's by {number(round(leg, 3))} over {number(round(leg * x, 3))}."
    )
    return Picture(svg("0 0 420 466", "".join(plot.parts), text), text)


def branches(x, replacement=None):
    """Draw the graph of `where(x > 0, sqrt(x), 0.0)`, with the value and the gradient on each arrow.

    Values flow down the chain, and gradients flow up. The larger a gradient, the wider its arrow.
    The numbers come from the engine's rules.

    Parameters
    ----------
    x : float
        The input. At 0 and below, the gradient that reaches x is nan.
    replacement : float, optional
        If given, a second `where` replaces the input of the square root by this number wherever x
        is not above 0. It stops the nan.
    """
    above, x = x > 0, np.float64(x)
    root_input = x if above or replacement is None else np.float64(replacement)
    with np.errstate(all="ignore"):
        root = np.sqrt(root_input)
        z = np.where(above, root, 0.0)
        slope = ag.sqrt.rules[0](1.0, root, root_input)
        from_outer = ag.where.rules[1](1.0, z, above, root, 0.0)
        from_root = ag.sqrt.rules[0](from_outer, root, root_input)
    from_inner = ag.where.rules[1](from_root, root_input, above, x, replacement)

    def passed(g, result):
        return _said(g) if result == g else f"{_said(result)} in place of {_said(g)}"

    product = f"{_said(from_outer)} · {_said(slope)} = {_said(from_root)}"
    test = f"x > 0 is {above}"
    boxes = [("sqrt", f"its slope here is {_said(slope)}", None)]
    flows = [(root_input, product, from_root), (root, passed(1.0, from_outer), from_outer)]
    if replacement is not None:
        boxes.insert(0, ("where", f"{test}: it takes {'x' if above else replacement}", replacement))
        flows.insert(0, (x, passed(from_root, from_inner), from_inner))
    taken = "the root" if above else "0.0"
    boxes.append(("where", f"{test}: it takes {taken}", 0.0))
    flows.append((z, "g = 1", 1.0))
    middle, high, gap = 100, 44, 58
    parts = [_box(15, 12, 170, 30, f"x = {_said(x)}")]
    for row, ((value, gradient, passes), box) in enumerate(zip(flows, [*boxes, None])):
        top = 42 + row * (high + gap)
        chooses = box is not None and box[2] is not None
        parts.append(_arrow(middle - 6, top, top + gap, *_flow(above or not chooses)))
        width = 2.5 if np.isnan(passes) else 1.2 + 4 * min(abs(float(passes)), 1.0)
        parts.append(_arrow(middle + 8, top + gap, top, style.GRADIENT, round(width, 2), "6 4"))
        name = "z = " if box is None else ""
        for is_nan, said, px, anchor, colour, ground in (
            (np.isnan(value), name + _said(value), middle - 16, "end", style.VALUE, style.PANEL),
            (
                np.isnan(passes),
                gradient,
                middle + 24,
                "start",
                style.GRADIENT,
                style.GRADIENT_GROUND,
            ),
        ):
            if is_nan:
                wide = 8.2 * len(said) + 12
                left = px - 6 - (wide - 12) * (anchor == "end")
                parts.append(
                    f'<rect x="{left:.0f}" y="{top + 16}" width="{wide:.0f}" height="27" rx="4" '
                    f'fill="{ground}" stroke="{style.INK}" stroke-width="2"/>'
                )
            parts.append(words(px, top + 34, said, style.INK if is_nan else colour, anchor))
        if box is None:
            continue
        name, remark, constant = box
        wide = 170 if constant is None else 370
        parts.append(_box(15, top + gap, wide, high, name, remark))
        if constant is not None:
            parts.append(_box(305, top + 2, 60, 26, f"{constant}"))
            parts.append(_arrow(335, top + 28, top + gap, *_flow(not above)))
    name = "trap" if replacement is None else "safe"
    lines = [
        f"{name}(x) at x = {_said(x)}: {test}, so the outer where takes {taken}, and z = {_said(z)}.",
        f"The square root receives {_said(root_input)}, returns {_said(root)}, and has slope {_said(slope)} there.",
        f"Gradients: g = 1 arrives; the outer where passes {flows[-2][1]}; the square root passes {product}"
        + (f"; the inner where passes {flows[0][1]}." if replacement is not None else "."),
        f"The gradient of x is {_said(flows[0][2])}.",
    ]
    text = "\n".join(lines)
    height = 42 + len(flows) * (high + gap) - high + 8
    return Picture(svg(f"0 0 400 {height}", "".join(parts), text), text, says_all=True)


def _flow(taken):
    """Return the colour, width and dash of a value's arrow, which is grey and dotted unless a where takes the value."""
    return (style.VALUE, 2.5, "none") if taken else (style.LINE, 2, "2 3")


def _said(x):
    """Return a number as text, with ∞ for inf."""
    return number(float(x)).replace("inf", "∞")


def _box(left, top, wide, high, name, remark=""):
    """Return a box of a graph as SVG, with a name and, below it, an optional remark in small type."""
    middle = left + wide / 2
    below = words(middle, top + 37, escape(remark), style.FAINT, size=13) if remark else ""
    return (
        f'<rect x="{left}" y="{top}" width="{wide}" height="{high}" rx="5" fill="{style.PANEL}" stroke="{style.LINE}"/>'
        + words(middle, top + (18 if below else high / 2 + 5), name)
        + below
    )


def _arrow(x, start, end, colour, width, dash="none"):
    """Return a vertical arrow as SVG, from height `start` to height `end` at `x`, in px."""
    way = 1 if end > start else -1
    tip = end - 2 * way
    return (
        f'<path d="M{x} {start + 2 * way}V{tip - 6 * way}" stroke="{colour}" stroke-width="{width}" stroke-dasharray="{dash}"/>'
        f'<path d="M{x} {tip}l-6 {-9 * way}h12z" fill="{colour}"/>'
    )
