"""Draw the pictures of lesson 13: a wave as a rotating point, a graph of fifty equal steps, trainings and forecasts."""

from html import escape

import numpy as np

from ...drawing import style
from ...drawing.axes import Axes, decades, ticks
from ...drawing.formatting import number
from ...drawing.picture import Picture, svg

LONGEST = 4 * np.pi  # four periods of the wave
UNIT = 13  # px of height for a gradient of length 1
FIRST = 13  # steps at which the norms of two trainings are drawn
BELOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def _wave(box, title):
    plot = Axes(box, (0, LONGEST), (-0.65, 0.65))
    plot.frame(
        [(x, str(x)) for x in range(0, 13, 2)],
        [(-0.5, "−0.5"), (0, "0"), (0.5, "0.5")],
        "x",
        title,
    )
    return plot


def asked(x, y):
    """Draw the first values of a sequence as dots, and a question mark in place of the next value.

    `x` and `y` are arrays of the same length, with at least two entries.
    """
    plot = _wave((62, 34, 482, 170), title="the value at each x")
    for at in zip(x, y):
        plot.dot(*at, style.VALUE, style.VALUE, size=3.5)
    px, py = plot.at(2 * x[-1] - x[-2], 2 * y[-1] - y[-2])
    plot.words(px + 14, py + 5, "?", style.INK, size=20)
    text = f"{len(x)} values of sin(x)·cos(x), from x = 0 to {number(x[-1])}: a wave. The task is to forecast the next value."
    return Picture(svg("0 0 560 254", "".join(plot.parts), text), text)


def turning(h, n):
    """Draw a point on a circle, rotated by 2h at each of n steps, and beside it the point's heights as a function of x.

    If the heights do not fit into the plot, only the steps that fit are drawn. A square marks the
    next height, computed from the last two heights by the rule of two terms.
    """
    fit = int(LONGEST / h) - 1
    full = f"only {fit} steps fit here" if n > fit else ""
    n = min(n, fit)
    x = h * np.arange(n + 1)
    y = np.sin(x) * np.cos(x)
    wave = _wave((222, 40, 330, 190), title=f"height: {number(np.pi / h)} samples per period")
    fine = np.linspace(0, LONGEST, 400)
    wave.line(fine, np.sin(fine) * np.cos(fine), style.LINE, 1)
    face = Axes((8, 40, 190, 190), (-0.65, 0.65), (-0.65, 0.65))
    around = np.linspace(0, 2 * np.pi, 90)
    face.line(np.cos(around) / 2, np.sin(around) / 2, style.LINE, 1)
    face.words(8, 267, f"rotated by 2h = {number(2 * h)} per step", anchor="start", size=13)
    for k in range(n):
        face.dot(np.cos(2 * x[k]) / 2, y[k], style.VALUE, style.PAPER, size=2.5)
        wave.dot(x[k], y[k], style.VALUE, style.PAPER, size=2.5)
    hand = np.cos(2 * x[-1]) / 2
    face.line([0, hand], [0, y[-1]], style.VALUE, 3)
    face.dot(hand, y[-1], style.VALUE, style.VALUE)
    (left, level), (right, _) = face.at(hand, y[-1]), wave.at(x[-1], y[-1])
    # The line leaves out the numbers of the axis.
    level_line = (
        f'<path d="M{left:.1f} {level:.1f}H{max(left, 170):.1f}M222 {level:.1f}H{right:.1f}" '
        f'stroke="{style.VALUE}" stroke-width="1" stroke-dasharray="2 3"/>'
    )
    wave.dot(x[-1], y[-1], style.VALUE, style.VALUE)
    text = [
        f"step {n}, x = {number(x[-1])}: the point is at ({number(round(hand, 10))}, {number(round(y[-1], 10))}), "
        "and its height is the value",
        f"each step rotates it by 2h = {number(2 * h)}: {number(np.pi / h)} samples per period{full and '; ' + full}",
    ]
    if full:
        wave.words(552, 292, full, anchor="end", size=13)
    if n:
        following = 2 * np.cos(2 * h) * y[-1] - y[-2]
        wave.dot(x[-1] + h, following, style.INK, style.PAPER, square=True, size=6)
        wave.mark(16, 287, style.INK, style.PAPER, square=True)
        wave.words(28, 292, "the next, by the rule", style.INK, "start", 13)
        right = np.sin(2 * (x[-1] + h)) / 2
        text.append(
            f"next value by the rule of two terms: {number(round(following, 10))}; "
            f"it is {number(round(right, 10))}"
        )
    text = "\n".join(text)
    drawn = "".join([*face.parts, *wave.parts, level_line])
    return Picture(svg("0 0 560 304", drawn, text, even=True), text, says_all=True)


def unrolled(rho, gradients):
    """Draw the graph of many equal steps that share one matrix, with the gradients between them.

    The height of each bar shows the length of the gradient. Below the graph, the length of the
    gradient at each step is plotted on a logarithmic scale, with a dashed line for powers of `rho`,
    the spectral radius of the matrix. `gradients` has one row for each state, beginning with the
    state before the first step.
    """
    n, lengths = len(gradients) - 1, np.sqrt(np.sum(np.square(gradients), axis=1))
    chart = Axes((60, 290, 430, 130), (0, n), (-4, 4.5))
    row, tallest = 150, 96
    parts = [f'<rect x="140" y="8" width="270" height="30" rx="5" fill="{style.GROUND}"/>']
    for k in range(1, n + 1):
        left, right = chart.at(k - 1, 0)[0], chart.at(k, 0)[0]
        height = UNIT * lengths[k - 1]
        parts.append(
            f'<path d="M275 38L{(left + right) / 2:.1f} {row - 4 - min(height, tallest) / 2:.1f}" stroke="{style.LINE}" '
            f'stroke-width="0.5"/><path d="M{left + 1:.1f} {row}H{right - 1:.1f}" stroke="{style.GRADIENT}" '
            f'stroke-width="{min(height, tallest):.3f}"/>'
        )
    for k in range(n + 1):
        px = chart.at(k, 0)[0]
        parts.append(
            f'<circle cx="{px:.1f}" cy="{row}" r="3" fill="{style.VALUE}" stroke="{style.PAPER}"/>'
        )
    chart.words(275, 28, f"one matrix, used {n} times", size=14)
    chart.words(chart.at(n, 0)[0] + 14, row + 5, "→ L", anchor="start", size=14)
    chart.words(chart.at(n, 0)[0] + 14, row + 25, "← back", style.GRADIENT, "start", 13)
    text = [
        f"ρ = {number(rho)}: a gradient of length {number(lengths[n])} at s{_below(n)} has length "
        f"{number(lengths[0])} at s₀"
    ]
    for k in range(0, n + 1, 10):
        px = chart.at(k, 0)[0]
        chart.words(px, 222, f"s{_below(k)}", style.VALUE, size=13)
        chart.words(px, 242, number(lengths[k], 2), style.GRADIENT, size=13)
        text.append(f"at s{_below(k)}: {number(lengths[k], 2)}")
    if UNIT * lengths.max() > tallest:
        text.append("the tallest bars are cut off: taller than the picture")
        chart.words(8, 56, "the tallest are cut off", style.GRADIENT, "start", 13)
    chart.frame(
        [(k, str(k)) for k in range(0, n + 1, 10)],
        decades(-4, 4, 2),
        "step",
        "length of the gradient; dashed: ρ to the number of steps",
    )
    chart.line([0, n], [n * np.log10(rho), 0], dash="6 4")
    for k in range(0, n + 1, 5):
        chart.dot(k, np.log10(lengths[k]), style.GRADIENT, size=4)
    text = "\n".join(text)
    return Picture(svg("0 0 560 466", "".join([*parts, *chart.parts]), text), text, says_all=True)


def _below(k):
    return str(k).translate(BELOW)


def cliff(runs, step):
    """Draw the positions of two runs of gradient descent on the loss (ρ⁵⁰ − 1)²/8 after `step` steps.

    `runs` maps the name of each run to an array of ρ before the first step and after each step.
    """
    plot = Axes((60, 40, 488, 230), (0.74, 1.16), (-6, 5))
    plot.frame(
        [(r, number(r)) for r in (0.8, 0.9, 1.0, 1.1)],
        decades(-6, 5, 2),
        "ρ",
        f"loss as a function of ρ, after step {step} (each line: × 100)",
    )
    fine = np.linspace(*plot.x, 841)  # ρ = 1 among them, the bottom of the notch
    plot.line(fine, np.log10(np.maximum((fine**50 - 1) ** 2 / 8, 1e-6)), style.LINE, 2.5)
    text = [f"after step {step}"]
    for (name, path), square, fill in zip(runs.items(), (False, True), (style.INK, "none")):
        with np.errstate(all="ignore"):
            heights = np.log10(np.maximum((path**50 - 1) ** 2 / 8, 1e-6))
        rho = path[step]
        inside = plot.x[0] <= rho <= plot.x[1]
        for k in range(0, step, 5):
            if plot.x[0] <= path[k] <= plot.x[1]:
                plot.dot(path[k], heights[k], fill=fill, square=square, size=2.5)
        py = plot.box[1] + (24 if square else 4)
        plot.mark(74, py, fill=fill, square=square)
        where = f"ρ = {number(rho)}" + ("" if inside else ", outside")
        if np.isnan(rho):
            where = "ρ stays nan"
        plot.words(86, py + 5, f"{name}: {where}", anchor="start", size=13, halo=True)
        if inside:
            plot.dot(rho, heights[step], fill=fill, square=square, size=9 if square else 5)
        text.append(
            f"{name}: {where}" + (f", loss {number((rho**50 - 1) ** 2 / 8)}" if inside else "")
        )
    text = "\n".join(text)
    return Picture(svg("0 0 560 326", "".join(plot.parts), text), text, says_all=True)


def one_window(window, before, after):
    """Draw one window of samples, and the forecasts of a network before and after training.

    Parameters
    ----------
    window : array of float
        The samples of the window.
    before, after : array of float
        The forecast of each sample but the first, made from all samples before it.
    """
    place = np.arange(1, len(window) + 1)
    plot = Axes((62, 40, 482, 190), (0.5, len(window) + 0.5), (-0.72, 0.72))
    plot.frame(
        [(k, str(k)) for k in (1, *range(5, len(window) + 1, 5))],
        [(-0.5, "−0.5"), (0, "0"), (0.5, "0.5")],
        "sample of the window",
        "each forecast uses only the samples on its left",
    )
    plot.line(place[1:], before, style.OTHER, 1.5, "6 4")
    plot.line(place[1:], after, style.OTHER, 1.5)
    for at in zip(place, window):
        plot.dot(*at, style.VALUE, style.VALUE, size=4)
    for at in zip(place[1:], after):
        plot.dot(*at, style.OTHER, style.PAPER, square=True, size=4)
    plot.mark(68, 287, style.VALUE, style.VALUE, size=4)
    plot.words(80, 292, "the wave", style.VALUE, "start", 13)
    plot.key(176, 292, "network, trained", style.OTHER, 1.5)
    plot.mark(190, 287, style.OTHER, style.PAPER, square=True, size=4)
    plot.key(384, 292, "untrained", style.OTHER, 1.5, "6 4")
    errors = {"before": np.abs(before - window[1:]), "after": np.abs(after - window[1:])}
    text = "\n".join(
        [
            f"{len(window)} samples, and a forecast of each sample from those before it",
            *(
                f"{when} training: error {e[0]:.1g} in the first forecast, {e[-1]:.1g} in the last, {e.max():.1g} at most"
                for when, e in errors.items()
            ),
        ]
    )
    return Picture(svg("0 0 560 302", "".join(plot.parts), text), text)


def two_descents(runs):
    """Draw the losses and the gradient norms of two trainings on logarithmic axes, and mark the clipped steps.

    The norms are drawn at the first steps only, where the two trainings part. For the training that is
    not clipped, the norm of one layer alone is drawn as well.

    `runs` maps the maximum norm of each training, ∞ and a number, to its losses, its norms before
    clipping, and the norms of its cell alone, one of each for every step.
    """
    c = min(runs)
    if len(runs) != 2 or max(runs) < np.inf or c == np.inf:
        raise ValueError(
            f"two_descents: expected the maximum norms inf and one number, got {[*runs]}"
        )
    steps = max(len(losses) for losses, *_ in runs.values())
    loss = Axes((62, 40, 482, 150), (-0.5, max(steps, 2) - 0.5), (-2.6, 3))
    norm = Axes((62, 278, 482, 220), (-0.5, FIRST - 0.5), (-10, 11.5))
    loss.frame(ticks(0, steps), decades(-2, 3, 1), "step", "loss (each line: × 10)")
    norm.frame(
        ticks(0, FIRST - 1),
        decades(-9, 9, 3),
        "step",
        f"norm of the gradient before clipping, first {FIRST} steps",
    )
    norm.line(norm.x, [np.log10(c)] * 2, style.GRADIENT, 1.5, "5 4")
    px, level = norm.at(8.5, np.log10(c))
    norm.words(px, level - 6, f"c = {number(c)}", style.GRADIENT, size=13)
    text, py = ["two trainings by gradient descent"], 556
    for limit, (losses, norms, cell) in runs.items():
        name, dash = ("clipped", "none") if limit == c else ("not clipped", "5 4")
        cut = [step for step, length in enumerate(norms) if length > limit]
        curves = [(loss, losses, style.INK), (norm, norms[:FIRST], style.INK)]
        if limit != c:
            curves.append((norm, cell[:FIRST], style.OTHER))
        for axes, values, colour in curves:
            with np.errstate(all="ignore"):
                heights = np.log10(np.array(values, float))
            heights = np.nan_to_num(  # outside: far above, or 0 just below
                heights, nan=999, posinf=999, neginf=axes.y[0] - 1
            )
            outside = np.flatnonzero(heights > axes.y[1])
            axes.line(np.arange(len(heights)), heights, colour, dash=dash)
            for step in [k for k, value in enumerate(values) if value == 0][:1]:
                px, bottom = axes.at(step, axes.y[0])
                words = f"0 at step {step}"
                axes.words(px - 14, bottom - 4, words, colour, "end", 13, halo=True)
            for step in cut:
                if step < len(heights) and step not in outside:
                    axes.dot(step, heights[step], style.GRADIENT, style.GRADIENT, size=3)
            if len(outside) and axes is loss:
                px = axes.at(outside[0], 0)[0]
                axes.words(
                    px + 12, 58, f"{name}: leaves the picture", anchor="start", size=13, halo=True
                )
        first, last, longest = (
            number(float(f"{v:.2g}")) for v in (losses[0], losses[-1], max(norms))
        )
        norm.key(66, py, f"{name}: final loss {last}", style.INK, 2, dash)
        text.append(f"{name}: loss {first} at first, {last} at the end; norm at most {longest}")
        for which, values in [("norm", norms), *([("of the cell alone", cell)] * (limit != c))]:
            listed = ", ".join(number(float(f"{v:.2g}")) for v in values[:FIRST])
            text.append(f"{name}: {which} at the first steps: {listed}")
        if limit == c:
            text.append(f"{len(cut)} steps clipped at c = {number(c)}: {', '.join(map(str, cut))}")
        py += 22
    norm.key(66, py, "not clipped: norm of the cell alone", style.OTHER, 2, "5 4")
    norm.mark(80, py + 17, style.GRADIENT, style.GRADIENT, size=3)
    norm.words(102, py + 22, "a clipped step", style.GRADIENT, "start", 13)
    text = "\n".join(text)
    return Picture(svg(f"0 0 560 {py + 34}", "".join(loss.parts + norm.parts), text), text)


def continued(known, truth, network, rule):
    """Draw a wave and two free-running forecasts of it, and below them the error of each forecast.

    Parameters
    ----------
    known, truth : array of float
        The values of the wave before the forecast starts, and those to be forecast.
    network, rule : array of float
        The forecasts by the network and by the rule of two terms, as long as `truth`.
    """
    span, ahead = (-len(known), len(truth)), np.arange(len(truth))
    plot, off = (
        Axes((66, 40, 482, 150), span, (-0.85, 0.85)),
        Axes((66, 250, 482, 150), span, (-17, 0)),
    )
    plot.frame(
        [],
        [(-0.5, "−0.5"), (0, "0"), (0.5, "0.5")],
        title="the value: known, then free-running",
    )
    off.frame(ticks(*span), decades(-16, 0, 4), "step", "error, each line × 10,000")
    plot.line(np.arange(*span), [*known, *truth], style.LINE, 6)
    plot.line(ahead, network, style.OTHER)
    errors = [np.log10(np.maximum(np.abs(forecast - truth), 1e-17)) for forecast in (network, rule)]
    off.line(ahead, errors[0], style.OTHER)
    for k in ahead[::3]:
        plot.dot(k, rule[k], style.INK, "none", square=True, size=3.5)
        off.dot(k, errors[1][k], style.INK, "none", square=True, size=3.5)
    for axes in (plot, off):
        axes.line([-0.5, -0.5], axes.y, style.FAINT, 1, "3 3")
    off.key(66, 458, "the wave", style.LINE, 6)
    off.key(230, 458, "the network", style.OTHER, 2)
    off.mark(432, 453, style.INK, "none", square=True, size=3.5)
    off.words(442, 458, "the rule", anchor="start", size=13)
    text = "\n".join(
        [
            f"after {len(known)} known values, {len(truth)} free-running steps: the largest error",
            *(
                f"{name}: {np.abs(forecast - truth).max():.1g}"
                for name, forecast in [("network", network), ("rule", rule)]
            ),
        ]
    )
    return Picture(svg("0 0 560 468", "".join(plot.parts + off.parts), text), text)


def gradient_sizes(named, limits=None):
    """Draw the typical size of each gradient, the root of the mean of g², as a dot on a logarithmic scale.

    Each row names its gradient, with its shape unless all gradients have the same shape.

    Parameters
    ----------
    named : dict of str to array, or Module
        The gradients by name, or a module after `backward()`. A gradient may be None.
    limits : tuple of float, optional
        The lowest and the highest size on the scale, which keep the scale fixed while a slider moves. By
        default the scale fits the sizes.
    """
    if hasattr(named, "named_parameters"):
        named = {name: p.grad for name, p in named.named_parameters()}
    sizes, rows = {}, []
    same_shape = len({np.shape(g) for g in named.values() if g is not None}) == 1
    for name, g in named.items():
        sizes[name] = 0.0 if g is None else float(np.sqrt(np.mean(np.square(g, dtype=float))))
        words = (
            "no gradient arrived"
            if g is None
            else "0: every entry is zero"
            if sizes[name] == 0
            else number(float(f"{sizes[name]:.2g}"))
        )
        rows.append((name, "" if g is None or same_shape else f" {np.shape(g)}", words))
    seen = [size for size in sizes.values() if 0 < size < np.inf]
    low, high = (
        np.log10(limits)
        if limits
        else (np.floor(np.log10(min(seen)) - 0.3), np.ceil(np.log10(max(seen))))
        if seen
        else (-3, 0)
    )
    left = 24
    plot = Axes((left, 34, 280, 40 * len(rows)), (low, high), (0, len(rows)))
    step = max(1, int(np.ceil((high - low) / 6)))  # more labels would touch
    plot.frame(
        decades(int(np.ceil(low)), int(high), 1)[::step],
        [],
        "√ mean(g²)",
        "size of the gradient, each line 10 times the one before"
        if step == 1
        else "size of the gradient, logarithmic",
    )
    for k in range(int(np.ceil(low)), int(high) + 1):
        plot.line([k, k], plot.y, style.LINE, 0.5)
    for nth, (name, shape, words) in enumerate(rows):
        py = 34 + 40 * nth + 34
        plot.parts.append(
            f'<path d="M{left} {py - 5}h280" stroke="{style.LINE}" stroke-width="0.5"/>'
        )
        plot.words(
            left,
            py - 17,
            f"{escape(name)}<tspan fill='{style.FAINT}'>{shape}</tspan>",
            anchor="start",
            size=13,
            halo=True,
        )
        right = left
        if 0 < sizes[name] < np.inf:
            right = plot.at(np.clip(np.log10(sizes[name]), low, high), 0)[0]
            plot.mark(right, py - 5, style.GRADIENT, style.GRADIENT)
        plot.words(right + 12, py, words, style.GRADIENT, "start", halo=True)
    text = "\n".join(
        ["gradient sizes, √ mean(g²)", *(f"{name}{shape}: {words}" for name, shape, words in rows)]
    )
    return Picture(svg(f"0 0 400 {40 * len(rows) + 84}", "".join(plot.parts), text), text)
