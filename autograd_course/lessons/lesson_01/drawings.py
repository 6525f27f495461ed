"""Draw the pictures of lesson 01: a secant and its tangent, the errors of finite differences, and gradient descent."""

import numpy as np

from ...drawing import style
from ...drawing.axes import DOTS, Axes, decades, ticks
from ...drawing.differences import against_steps
from ...drawing.formatting import counted, minus, number
from ...drawing.picture import Picture, beside, svg


def _short(x):
    """Return a step size or an error as text, rounded to two significant digits."""
    return number(float(f"{x:.1e}"))


def _secant(f, x, h, slope, title, reach=1.2):
    """Draw the curve of f near x, its tangent at x, and its secant through x and x + h.

    Return the plot, an Axes, and a line of text with both slopes. `slope` is the slope of the
    tangent, `title` is written above the plot, and the plot extends from x − reach to x + reach.
    """
    span = (x - reach, x + reach)
    xs = np.linspace(*span, 121)
    heights, y, high = f(xs), float(f(x)), float(f(x + h))
    room = 0.08 * np.ptp(heights)
    plot = Axes((58, 34, 330, 230), span, (heights.min() - room, heights.max() + room))
    plot.frame(ticks(*span), ticks(*plot.y), "x", title)
    plot.line(xs, heights, style.VALUE, 2.5)
    measured = (high - y) / h
    plot.straight(x, y, slope, style.TANGENT, 3.5, DOTS)
    plot.straight(x, y, measured, style.DIFFERENCE, 1.5)
    plot.dot(x, y, style.DIFFERENCE)
    plot.dot(x + h, high, style.DIFFERENCE)
    plot.words(72, 62, f"secant: slope {measured:.8f}", style.DIFFERENCE, "start", halo=True)
    plot.words(72, 84, f"tangent: slope {slope:.8f}", style.TANGENT, "start", halo=True)
    return plot, f"h = {_short(h)}: secant slope {measured:.8f}, tangent slope {slope:.8f}"


def secant(f, x, h, slope):
    """Draw the secant of f through x and x + h and the tangent at x, and draw both again, magnified by 1 / h.

    `slope` is the slope of the tangent. The second drawing is not magnified if h is 1 or more.
    """
    plot, text = _secant(f, x, h, slope, "f(x), its tangent, and a secant")
    text += f", error {_short(abs((f(x + h) - f(x)) / h - slope))}"
    title = f"the same, magnified {number(1 / h)} times" if h < 1 else "the same, not magnified"
    near, _ = _secant(f, x, h, slope, title, 1.2 * h)
    return Picture(
        beside(*(svg("0 0 400 310", "".join(one.parts), text) for one in (plot, near))), text
    )


def chosen(panel):
    """Return the number chosen in a prediction panel, or None if no answer is chosen yet.

    The number is returned even before the learner reveals the right answer. `panel` is a panel made
    by `predict`.
    """
    text = panel.children[0].parts[0].text
    return float(text.replace("−", "-")) if text else None


def secant_and_errors(f, x, h, slope, hs, errors, bet=None):
    """Draw the secant for the step h, and beside it the errors of all steps down to h on logarithmic axes.

    Parameters
    ----------
    f : callable
        The function, which takes a number or an array.
    x, h, slope : float
        The point, the step of the secant, and the slope of the tangent at x.
    hs : sequence of float
        All steps, in descending order.
    errors : dict of str to sequence of float
        A dict that maps the name of each method to its errors, one for each step in `hs`. The first
        method, that of the secant, is marked with circles. The other methods are marked with
        squares.
    bet : float, optional
        The step that the learner predicts to be the best, marked with a vertical line.
    """
    left, text = _secant(f, x, h, slope, "f(x), its tangent, and a secant")
    plot = Axes((58, 34, 320, 230), (0.5, np.log10(hs[-1]) - 0.5), (-12.5, 1.5))
    plot.frame(
        decades(-16, 0, 4),
        decades(-12, 0, 3),
        "step h, smaller to the right",
        "error of the slope",
    )
    if bet:
        place = np.log10(bet)
        px, py = plot.at(place, 1.5)
        plot.line([place] * 2, plot.y, style.FAINT, 1.5, "3 3")
        side, anchor = (-5, "end") if bet < 1e-8 else (5, "start")
        plot.words(
            px + side, py + 16, f"your bet: {_short(bet)}", style.FAINT, anchor, 13, halo=True
        )
    words = ""
    seen = [k for k, step in enumerate(hs) if step >= h * 0.999]
    against_steps(
        plot,
        [hs[k] for k in seen],
        {name: [wrong[k] for k in seen] for name, wrong in errors.items()},
        1e-12,
        hs[seen[-1]],
    )
    for nth, (name, wrong) in enumerate(errors.items()):
        words += f"\n{name} error {_short(wrong[seen[-1]])}"
        fourth = seen[:4][-1]
        px, py = plot.at(np.log10(hs[fourth]), np.log10(max(wrong[fourth], 1e-12)))
        across, down = (12, -6) if nth == 0 else (12, 14) if len(seen) < 4 else (-12, 12)
        plot.words(
            px + across,
            py + down,
            name,
            anchor="start" if across > 0 else "end",
            size=13,
            halo=True,
        )
    panels = (
        svg("0 0 400 310", "".join(left.parts), text),
        svg("0 0 400 310", "".join(plot.parts), f"h = {_short(h)}{words}"),
    )
    return Picture(beside(*panels), text + words)


def descent(f, xs, span):
    """Draw the points `xs` of a gradient descent on the curve of f, and number them in order.

    `f` is a function of an array, and `span` is the lowest and the highest x in the plot. Points
    whose labels would overlap share one label.
    """
    grid = np.linspace(*span, 161)
    heights = f(grid)
    room = 0.14 * np.ptp(heights)
    plot = Axes((48, 34, 490, 270), span, (heights.min() - room, heights.max() + room))
    plot.frame(
        ticks(*span, most=12),
        ticks(*plot.y),
        "x",
        f"value, after 0 to {len(xs) - 1} steps of gradient descent",
    )
    plot.line(grid, heights, style.VALUE, 2.5)
    plot.line(xs, [f(x) for x in xs], width=1, dash="4 3")
    for x in xs:
        if span[0] <= x <= span[1]:
            plot.dot(x, f(x))

    def label(steps):
        """Return (words, left, baseline) for one label that names all of the given steps.

        The label is placed below the curve at the mean position of the steps, so that it does not
        cover the curve. `left` and `baseline` are in pixels.
        """
        x = np.mean([xs[k] for k in steps])
        (ax, ay), (bx, by) = plot.at(x - 1e-3, f(x - 1e-3)), plot.at(x + 1e-3, f(x + 1e-3))
        slope = (ay - by) / (bx - ax)
        away = 15 / np.hypot(1, slope)
        words = (
            f"{steps[0]}–{steps[-1]}"
            if len(steps) > 2 and np.ptp(steps) == len(steps) - 1
            else ", ".join(map(str, steps))
        )
        return (
            words,
            (ax + bx) / 2 + slope * away - 4 * len(words) * (1 - np.tanh(2 * slope)),
            (ay + by) / 2 + away + 5,
        )

    def touch(some, others):
        (words, left, base), (more, start, line) = label(some), label(others)
        return (
            abs(base - line) < 13
            and left < start + 8 * len(more) + 3
            and start < left + 8 * len(words) + 3
        )

    groups = [[k] for k, x in enumerate(xs) if span[0] <= x <= span[1]]
    while pair := next(
        ((one, two) for i, one in enumerate(groups) for two in groups[:i] if touch(one, two)), None
    ):
        groups = [group for group in groups if group not in pair] + [sorted(sum(pair, []))]
    for words, left, base in map(label, groups):
        plot.words(left, base, words, anchor="start", size=13, halo=True)
    text = minus(
        "\n".join(
            f"after {counted(k, 'step')}: x = {x:.5f}, value {f(x):.5f}" for k, x in enumerate(xs)
        )
    )
    return Picture(svg("0 0 560 350", "".join(plot.parts), text), text)
