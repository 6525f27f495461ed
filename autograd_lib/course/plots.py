"""The lessons' still pictures. Each function draws one message and returns a Picture with the same in words."""
import io
from base64 import b64encode
from functools import lru_cache

import numpy as np

from . import style
from .picture import Picture, figure, svg


def confusion(true, read):
    """How often digit `true` was read as `read`: a table with what is right on its diagonal. Both have shape (n,)."""
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (true, read), 1)
    wrong = counts - np.diag(np.diag(counts))
    fig, ax = figure(figsize=(5.2, 4.8))
    ax.imshow(np.where(np.eye(10, dtype=bool), 0, wrong), vmin=0, vmax=max(wrong.max(), 1) * 1.6, cmap="Oranges")
    for i, j in np.argwhere(counts):
        right = i == j
        ax.text(j, i, counts[i, j], ha="center", va="center", fontsize=10, color=style.VALUE if right else style.INK,
                fontweight="normal" if right else "bold")
    ax.set(xticks=range(10), yticks=range(10), xlabel="read as", ylabel="is",
           title=f"{np.trace(counts)} of {len(true)} read right")
    ax.tick_params(length=0)
    pairs = [f"{i} read as {j}: {wrong[i, j]}" for i, j in sorted(np.argwhere(wrong), key=lambda ij: -wrong[*ij])]
    return Picture.of(fig, f"{np.trace(counts)} of {len(true)} read right." + (f" Wrong: {', '.join(pairs)}." if pairs else ""))


def misread(images, true, probabilities, most=10):
    """The images whose most probable digit is not the true one, surest first: each with both digits and their probabilities.

    images (n, side²), true (n,), probabilities (n, 10).
    """
    read = probabilities.argmax(1)
    wrong = np.flatnonzero(read != true)
    wrong = wrong[np.argsort(-probabilities[wrong, read[wrong]])][:most]
    if not len(wrong):
        return Picture("<p>No image was misread.</p>", "No image was misread.")
    side, columns = int(images.shape[1] ** 0.5), min(len(wrong), 5)
    rows = -(-len(wrong) // columns)
    fig, axes = figure(nrows=rows, ncols=columns, figsize=(1.65 * columns, 2.2 * rows), squeeze=False)
    for ax in axes.flat:
        ax.axis("off")
    said = []
    for ax, k in zip(axes.flat, wrong):
        ax.imshow(images[k].reshape(side, side), cmap="gray_r", vmin=0, vmax=1)
        p, q = probabilities[k, read[k]], probabilities[k, true[k]]
        ax.set_title(f"read {read[k]}  ({p:.0%})\nis {true[k]}  ({q:.1%})", fontsize=10, loc="center")
        said.append(f"a {true[k]} read as {read[k]} with {p:.0%}, its true digit had {q:.1%}")
    return Picture.of(fig, f"{np.count_nonzero(read != true)} misread; surest first: " + "; ".join(said) + ".")


# --- Lesson 12: classify ------------------------------------------------------------------------------------------------

CLASSES = [("o", "#6A51A3", "#ECE7F4"), ("^", "#B8860B", "#FAF1DA")]   # marker, ink and tint of class 0 and class 1


def moons_map(points, labels, model, title, pull=None):
    """Two classes of points on the plane, each half of it tinted with the class `model` gives there.

    model: a function from points (N, 2) to the probability of class 1 (N,).
    pull: sizes from 0 to 1, one a point; then every point is drawn as large as its pull.
    """
    fig, ax = figure(figsize=(6.6, 4.4))
    low, high = points.min(0) - 0.4, points.max(0) + 0.4
    x, y = np.meshgrid(np.linspace(low[0], high[0], 90), np.linspace(low[1], high[1], 60))
    p = model(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
    ax.contourf(x, y, p, levels=[0, 0.5, 1], colors=[tint for _, _, tint in CLASSES])
    ax.contour(x, y, p, levels=[0.5], colors=style.INK, linewidths=1.6)
    for k, (marker, ink, _) in enumerate(CLASSES):
        own = labels == k
        if pull is None:
            ax.scatter(*points[own].T, s=26, marker=marker, color=ink, linewidths=0)
        else:
            size = 3 + 330 * pull ** 2
            ax.scatter(*points[own].T, s=size[own], marker=marker, color=ink, alpha=0.75, linewidths=0)
            hard = own & (pull > 0.25)
            ax.scatter(*points[hard].T, s=size[hard], marker=marker, facecolors="none", edgecolors=style.GRADIENT,
                       linestyles="--", linewidths=1.4)
    for k, (sign, at) in enumerate([("●", 0.84), ("▲", 1.0)]):
        ax.text(at, 1.02, f"{sign} class {k}", color=CLASSES[k][1], transform=ax.transAxes, ha="right")
    ax.set(xlabel="x₁", ylabel="x₂", xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    ax.set_title(title, loc="left")
    wrong = (model(points) > 0.5) != (labels == 1)
    text = f"{title}. {len(points) - wrong.sum()} of {len(points)} points lie on their own side of the boundary."
    if pull is not None:
        rows = [f"  ({points[i][0]:5.2f}, {points[i][1]:5.2f})  class {labels[i]}  pull {pull[i]:.2f}  "
                f"{'wrong side' if wrong[i] else 'right side'}" for i in np.argsort(-pull)[:5]]
        text += "\nThe five that pull hardest:\n" + "\n".join(rows)
    return Picture.of(fig, text)


def digit_sheet(images, labels, title):
    """Scans (N, 64) in rows of ten, each with its label beneath."""
    rows = -(-len(images) // 10)
    fig, axes = figure(figsize=(6.6, 0.86 * rows + 0.35), nrows=rows, ncols=10)
    for ax in axes.flat:
        ax.axis("off")
    for ax, image, label in zip(axes.flat, images, labels, strict=False):
        ax.imshow(image.reshape(8, 8), cmap="Greys", vmin=0, vmax=1)
        ax.set_title(str(label), y=-0.4, fontsize=10, loc="center", color=style.FAINT)
    fig.suptitle(title, x=0.01, ha="left", fontsize=12)
    return Picture.of(fig, f"{title}: {len(images)} scans of 8 × 8 pixels, labelled {' '.join(map(str, labels))}.")


def neurons(weights, titles):
    """What the first ten neurons of a layer look for: rows of `weights[i]` (H, 64) as 8 × 8 images, a line of them per title."""
    fig, axes = figure(figsize=(6.6, 0.95 * len(weights)), nrows=len(weights), ncols=10, squeeze=False)
    fig.get_layout_engine().set(rect=(0, 0, 1, 0.88), hspace=0.5)
    words = []
    for line, weight, title in zip(axes, weights, titles, strict=True):
        most = np.abs(weight).max() or 1
        for ax, row in zip(line, weight, strict=False):
            ax.imshow(row.reshape(8, 8), cmap="PuOr", vmin=-most, vmax=most)
            ax.set(xticks=[], yticks=[])
        line[0].annotate(title, (0, 1.12), xycoords="axes fraction", fontsize=11).set_in_layout(False)   # wider than its image
        kinds = len(np.unique(np.round(weight, 6), axis=0))
        words.append(f"{title}: {kinds} different neuron{'s' * (kinds > 1)} among {len(weight)}.")
    return Picture.of(fig, "First-layer weights of ten neurons as images. " + " ".join(words))


def scores(named, chance=None):
    """Accuracies as bars: {name: (on the training set, on held-out)}."""
    fig, ax = figure(figsize=(6.6, 0.95 * len(named) + 0.7))
    for i, pair in enumerate(named.values()):
        for offset, accuracy, what, look in [(-0.2, pair[0], "training", {"color": "#BFC5CB"}),
                                             (0.2, pair[1], "held out", {"color": style.INK})]:
            ax.barh(i + offset, accuracy, height=0.34, **look)
            ax.text(max(accuracy, chance or 0) + 0.012, i + offset, f"{accuracy:.1%} {what}", va="center", fontsize=10)
    if chance is not None:
        ax.axvline(chance, color=style.FAINT, linestyle=":", linewidth=1.5, zorder=0)
        ax.set_title("dotted: guessing", loc="left", fontsize=10, color=style.FAINT)
    ax.set(yticks=range(len(named)), yticklabels=list(named), xlim=(0, 1.28),
           xticks=[0, 0.5, 1], xticklabels=["0 %", "50 %", "100 %"])
    ax.invert_yaxis()
    return Picture.of(fig, "Accuracy. " + " ".join(f"{name}: {a:.1%} on the training scans, {b:.1%} on held-out ones."
                                                   for name, (a, b) in named.items()))


def training_sizes(sizes, held_out_accuracy):
    """The learning curve: held-out accuracy against the number of training scans, or empty axes while the function is a stub."""
    measured = [held_out_accuracy(n) for n in sizes]
    done = [(n, a) for n, a in zip(sizes, measured, strict=True) if isinstance(a, (float, np.floating))]
    fig, ax = figure(figsize=(6.6, 3.4))
    ax.set(xscale="log", xlabel="training scans", xlim=(sizes[0] * 0.8, sizes[-1] * 1.35), xticks=sizes, xticklabels=sizes,
           ylim=(0, 1.08), yticks=[0, 0.5, 1], yticklabels=["0 %", "50 %", "100 %"])
    ax.set_title("Right on held-out digits", loc="left")
    ax.minorticks_off()
    if done:
        ax.plot(*zip(*done, strict=True), marker="o", color=style.INK)
        for n, a in done:
            ax.annotate(f"{a:.0%}", (n, a), (0, 8), textcoords="offset points", ha="center", fontsize=10)
        text = "Right on held-out digits: " + ", ".join(f"{a:.1%} from {n} scans" for n, a in done) + "."
    else:
        ax.text(0.5, 0.5, "waiting for your held_out_accuracy", transform=ax.transAxes, ha="center", color=style.FAINT)
        text = "An empty learning curve: it waits for your held_out_accuracy."
    return Picture.of(fig, text)


# --- Lessons 00 and 01: curves that follow a slider ---------------------------------------------------------------------

DOTS = "1.5 5"      # a tangent's


class _Axes:
    """A coordinate system in an SVG of our own, which follows a slider in half the time that matplotlib takes.

    box is (left, top, width, height) in px; x and y are the limits in data, the first at the left and at the bottom.
    """

    def __init__(self, box, x, y):
        self.box, self.x, self.y = box, x, y
        self.parts = []

    def at(self, x, y):
        """Data to px."""
        left, top, width, height = self.box
        return (left + (x - self.x[0]) / (self.x[1] - self.x[0]) * width,
                top + (self.y[1] - y) / (self.y[1] - self.y[0]) * height)

    def frame(self, xticks, yticks, xlabel="", title=""):
        """Ticks are (position, words) pairs. The title stands above the box, flush left."""
        left, top, width, height = self.box
        for y, words in yticks:
            py = self.at(0, y)[1]
            self.parts.append(f'<path d="M{left} {py:.1f}h{width}" stroke="{style.LINE}" stroke-width="{0.4 if y else 1}"/>')
            self.words(left - 7, py + 4, words, style.FAINT, "end", 12)
        for x, words in xticks:
            px = self.at(x, 0)[0]
            self.parts.append(f'<path d="M{px:.1f} {top + height}v5" stroke="{style.LINE}"/>')
            self.words(px, top + height + 18, words, style.FAINT, size=12)
        self.words(left + width / 2, top + height + 37, xlabel, size=13)
        self.words(left, top - 12, title, anchor="start")

    def words(self, px, py, words, colour=style.INK, anchor="middle", size=14, halo=False):
        """`halo` keeps lines that run behind the words away from them."""
        halo = f'stroke="{style.PAPER}" stroke-width="5" stroke-linejoin="round" paint-order="stroke" ' if halo else ""
        self.parts.append(f'<text x="{px:.1f}" y="{py:.1f}" fill="{colour}" text-anchor="{anchor}" font-size="{size}" '
                          f'{halo}font-family="{style.FONT}">{words}</text>')

    def line(self, xs, ys, colour=style.INK, width=2.0, dash="none"):
        """A line, cut off at the edges of the box."""
        left, top, w, h = self.box
        points = " ".join("{:.1f},{:.1f}".format(*self.at(x, y)) for x, y in zip(xs, ys, strict=True))
        self.parts.append(f'<svg x="{left}" y="{top}" width="{w}" height="{h}" viewBox="{left} {top} {w} {h}">'
                          f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width}" '
                          f'stroke-dasharray="{dash}" stroke-linejoin="round"/></svg>')

    def dot(self, x, y, colour=style.INK, fill=style.PAPER, square=False):
        px, py = self.at(x, y)
        shape = (f'<rect x="{px - 4:.1f}" y="{py - 4:.1f}" width="8" height="8"' if square else
                 f'<circle cx="{px:.1f}" cy="{py:.1f}" r="5"')
        self.parts.append(f'{shape} stroke="{colour}" stroke-width="1.8" fill="{fill}"/>')


def _ticks(low, high, most=6):
    """Round positions from low to high, with their words."""
    step = next(step for power in range(-9, 9) for step in (10.0**power, 2 * 10.0**power, 5 * 10.0**power)
                if (high - low) / step <= most)
    return [(k * step, _number(k * step)) for k in range(int(np.ceil(low / step)), int(high // step) + 1)]


def _number(x):
    """As `style.number`, with a true minus, and 0 where nothing but rounding is left."""
    return style.number(round(x, 10)).replace("-", "−")


def curve_and_bars(f, x, gradient, span=(-1, 7), curve=True):
    """The value f(x) and the gradient as two bars, beside the curve whose height and steepness they are.

    One vertical scale serves all three. `curve=False` leaves only the bars, each with a scale of its own.
    """
    xs = np.linspace(*span, 161)
    heights, value, gradient = f(xs), float(f(x)), float(gradient)
    steepness = np.gradient(heights, xs)

    def scale(*many):
        """Limits that hold 0 and all of the numbers, with room for a bar's own number at both ends."""
        low, high = min(0, *map(np.min, many)), max(0, *map(np.max, many))
        return low - 0.12 * (high - low), high + 0.12 * (high - low)

    parts = []
    if curve:
        both = scale(heights, steepness)
        plot = _Axes((48, 34, 380, 270), span, both)
        plot.frame(_ticks(*span, most=10), _ticks(*both), "x", "the curve f")
        plot.line(xs, heights, style.VALUE, 2.5)
        reach = (span[1] - span[0]) / 6
        plot.line([x - reach, x + reach], [value - reach * gradient, value + reach * gradient], style.TANGENT, 3.5, DOTS)
        plot.line([x, span[1]], [value, value], style.VALUE, 1, "1 4")
        plot.dot(x, value, style.VALUE, style.VALUE)
        bars = _Axes((480, 34, 240, 270), (0, 2), both)
        bars.frame([], _ticks(*both), title=f"at x = {_number(x)}")
        axes, right = [(bars, 0.5), (bars, 1.5)], 740
        parts = plot.parts + bars.parts
    else:
        one, other = (_Axes((left, 34, 150, 270), (0, 1), scale(many)) for left, many in [(48, heights), (270, steepness)])
        one.frame([], _ticks(*one.y), title=f"at x = {_number(x)}")
        other.frame([], _ticks(*other.y), title="on its own scale")
        axes, right = [(one, 0.5), (other, 0.5)], 440
        parts = one.parts + other.parts
    for (bars, middle), name, height, colour, dash, fill in zip(
            axes, ["value", "gradient"], [value, gradient], [style.VALUE, style.GRADIENT], ["none", "6 4"], [0.85, 0.25],
            strict=True):
        (px, top), (_, bottom) = bars.at(middle, max(0, height)), bars.at(middle, min(0, height))
        parts.append(f'<rect x="{px - 26:.1f}" y="{top:.1f}" width="52" height="{bottom - top:.1f}" '
                     f'fill="{colour}" fill-opacity="{fill}" stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dash}"/>')
        upwards = round(height, 10) >= 0          # −1e-17 is 0, and its number stands above the line
        bars.parts = []
        bars.words(px, top - 7 if upwards else bottom + 18, _number(height), colour, size=16, halo=True)
        bars.words(px, 326, name, colour, size=15)
        parts += bars.parts
    way = "flat" if abs(gradient) < 1e-9 else "uphill is to the right" if gradient > 0 else "uphill is to the left"
    text = f"at x = {_number(x)}: value {_number(value)}, gradient {_number(gradient)}"
    if curve:
        text += f" ({way})"
    return Picture(svg(f"0 0 {right} 345", "".join(parts), text), text)


def _secant(f, x, h, slope, width=340):
    """The axes of `secant`: the curve, its tangent of the given slope, and the line through the points at x and x + h."""
    span = (x - 1.2, x + 1.2)
    xs = np.linspace(*span, 121)
    heights, y = f(xs), float(f(x))
    room = 0.08 * np.ptp(heights)
    plot = _Axes((48, 34, width, 270), span, (heights.min() - room, heights.max() + room))
    plot.frame(_ticks(*span), _ticks(*plot.y), "x", "the curve, its tangent, and a secant")
    measured = (float(f(x + h)) - y) / h
    far = np.array([-2.0, 2.0])
    plot.line(xs, heights, style.VALUE, 2.5)
    plot.line(x + far, y + far * slope, style.TANGENT, 3.5, DOTS)
    plot.line(x + far, y + far * measured, style.DIFFERENCE, 1.5)
    plot.dot(x, y, style.DIFFERENCE)
    plot.dot(x + h, float(f(x + h)), style.DIFFERENCE)
    plot.words(62, 62, f"secant: slope {measured:.8f}", style.DIFFERENCE, "start", halo=True)
    plot.words(62, 84, f"tangent: slope {slope:.8f}", style.TANGENT, "start", halo=True)
    return plot, f"h = {h:g}: secant slope {measured:.10f}, tangent slope {slope:.10f}"


def secant(f, x, h, slope):
    """The secant of f through x and x + h, beside the tangent at x, whose slope is given."""
    plot, text = _secant(f, x, h, slope, 460)
    text += f", error {abs((f(x + h) - f(x)) / h - slope):.1e}"
    return Picture(svg("0 0 530 350", "".join(plot.parts), text), text)


def secant_and_errors(f, x, h, slope, hs, errors, bet=None):
    """The secant for one h, and the error of every step from the largest down to h, both axes logarithmic.

    hs: the steps, descending. errors: name -> one error per step; the first name is the secant's and gets circles, the
    others squares. bet: a step from 0 to 1 to mark with a vertical line, or None or ... for none.
    """
    left, text = _secant(f, x, h, slope)
    plot = _Axes((478, 34, 330, 270), (0.5, np.log10(hs[-1]) - 0.5), (-12.5, 1.5))
    decades = [(k, f"1e{k}" if k else "1") for k in range(0, -17, -1)]
    plot.frame(decades[::4], decades[:13:3], "step h, smaller to the right", "how wrong the slope is")
    if isinstance(bet, (int, float)) and 0 < bet <= 1:
        place = max(np.log10(bet), plot.x[1] + 0.1)
        px, py = plot.at(place, 1.5)
        plot.line([place] * 2, plot.y, style.FAINT, 1.5, "3 3")
        side, anchor = (-5, "end") if bet < 1e-8 else (5, "start")
        plot.words(px + side, py + 16, f"your bet: {bet:g}", style.FAINT, anchor, 13, halo=True)
    elif bet is not None and bet is not ...:
        text += "\nyour bet is not drawn: it is not a number between 0 and 1, such as 1e-3"
    seen = [k for k, step in enumerate(hs) if step >= h * 0.999]
    for number, (name, wrong) in enumerate(errors.items()):
        points = [(np.log10(hs[k]), np.log10(max(wrong[k], 1e-12))) for k in seen]
        plot.line(*zip(*points), style.LINE, 1)
        for point in points:
            plot.dot(*point, style.DIFFERENCE, square=number > 0)
        plot.dot(*points[-1], style.DIFFERENCE, style.DIFFERENCE, square=number > 0)
        text += f"\n{name} error {wrong[seen[-1]]:.1e}"
        px, py = plot.at(*points[:3][-1])
        across, down = (12, -6) if number == 0 else (12, 14) if len(points) < 3 else (-12, 12)
        plot.words(px + across, py + down, name, anchor="start" if across > 0 else "end", size=13, halo=True)
    return Picture(svg("0 0 820 350", "".join(left.parts + plot.parts), text), text)


def descent(f, xs, span):
    """The points xs, visited one after the other, on the curve of f. Points whose labels would touch share one."""
    grid = np.linspace(*span, 161)
    heights = f(grid)
    room = 0.14 * np.ptp(heights)
    plot = _Axes((48, 34, 560, 270), span, (heights.min() - room, heights.max() + room))
    plot.frame(_ticks(*span, most=12), _ticks(*plot.y), "x", f"{len(xs) - 1} steps against the slope")
    plot.line(grid, heights, style.VALUE, 2.5)
    plot.line(xs, [f(x) for x in xs], style.DIFFERENCE, 1, "4 3")
    for x in xs:
        if span[0] <= x <= span[1]:
            plot.dot(x, f(x), style.DIFFERENCE)

    def label(steps):
        """(words, left, baseline) below the middle of some steps, where the lines from point to point do not pass."""
        x = np.mean([xs[k] for k in steps])
        (ax, ay), (bx, by) = plot.at(x - 1e-3, f(x - 1e-3)), plot.at(x + 1e-3, f(x + 1e-3))
        slope = (ay - by) / (bx - ax)
        away = 15 / np.hypot(1, slope)
        words = f"{steps[0]}–{steps[-1]}" if len(steps) > 2 and np.ptp(steps) == len(steps) - 1 else ", ".join(map(str, steps))
        return words, (ax + bx) / 2 + slope * away - 4 * len(words) * (1 - np.tanh(2 * slope)), (ay + by) / 2 + away + 5

    def touch(some, others):
        (words, left, base), (more, start, line) = label(some), label(others)
        return abs(base - line) < 13 and left < start + 8 * len(more) + 3 and start < left + 8 * len(words) + 3

    groups = [[k] for k, x in enumerate(xs) if span[0] <= x <= span[1]]
    while pair := next(((one, two) for i, one in enumerate(groups) for two in groups[:i] if touch(one, two)), None):
        groups = [group for group in groups if group not in pair] + [sorted(sum(pair, []))]
    for words, left, base in map(label, groups):
        plot.words(left, base, words, anchor="start", size=13, halo=True)
    text = "\n".join(f"after {k} step{'s' * (k != 1)}: x = {x:.5f}, value {f(x):.5f}" for k, x in enumerate(xs))
    return Picture(svg("0 0 630 350", "".join(plot.parts), text), text)


def digits_learning(images, labels, answers, accuracies, passes):
    """What the model answers for each image after so many passes, and the curve of its accuracy up to there.

    A wrong answer stands beside the true digit.

    images: (n, 8, 8) of float64; labels, answers: (n,); accuracies: before the first pass and after each, from 0 to 1.
    """
    columns, side = 10, 44
    rows, last = -(-len(images) // columns), len(accuracies) - 1
    plot = _Axes((570, 40, 240, rows * (side + 26) - 34), (0, last), (0, 1))
    parts = []
    for k, (image, label, answer) in enumerate(zip(images, labels, answers, strict=True)):
        px, py = 14 + k % columns * (side + 6), 40 + k // columns * (side + 26)
        right = answer == label
        png = _png(image.tobytes(), image.shape)
        parts.append(f'<image x="{px}" y="{py}" width="{side}" height="{side}" href="data:image/png;base64,{png}" '
                     f'style="image-rendering:pixelated"/>')
        plot.words(px + side / 2, py + side + 16, f"{answer} ✓" if right else f"{answer}, is {label}",
                   style.VALUE if right else style.GRADIENT, size=13)
    plot.frame(_ticks(0, last, 5), [(k / 4, f"{25 * k} %") for k in range(5)], "passes over the training digits",
               f"{accuracies[passes]:.1%} right on digits it never saw")
    plot.line(range(passes + 1), accuracies[:passes + 1], style.VALUE, 2.5)
    plot.dot(passes, accuracies[passes], style.VALUE, style.VALUE)
    plot.words(14, 28, "its answers", anchor="start")
    right = int(np.sum(answers == labels))
    text = (f"after {passes} pass{'es' * (passes != 1)}: {right} of these {len(labels)} right, "
            f"{accuracies[passes]:.1%} of all held-out digits")
    return Picture(svg(f"0 0 840 {rows * (side + 26) + 54}", "".join(parts + plot.parts), text), text)


@lru_cache
def _png(values, shape):
    """A grey image of float64 values, dark where large, as base64."""
    import matplotlib.pyplot as plt
    file = io.BytesIO()
    plt.imsave(file, np.frombuffer(values).reshape(shape), cmap="gray_r", format="png")
    return b64encode(file.getvalue()).decode()


# --- Lesson 02: two nudges at once --------------------------------------------------------------------------------------

def two_parts(from_x, from_y, change, reach):
    """The parts of a change that x and y bring, laid end to end, above the change that was measured.

    The axis runs from −reach to reach.
    """
    plot = _Axes((150, 16, 480, 150), (-reach, reach), (0, 3))
    total = from_x + from_y
    plot.frame(_ticks(-reach, reach, 9), [(2.5, "x brings"), (1.5, "y brings"), (0.5, "z really moves by")], "change of z")
    plot.line([0, 0], [0, 3], style.LINE, 1)
    plot.line([from_x] * 2, [1.5, 2.5], style.LINE, 1)
    plot.line([total] * 2, [0, 1.5], style.GRADIENT, 1.5, "2 3")
    for start, end, y in [(0, from_x, 2.5), (from_x, total, 1.5)]:
        (left, middle), (right, _) = plot.at(min(start, end), y), plot.at(max(start, end), y)
        plot.parts.append(f'<rect x="{left:.1f}" y="{middle - 13:.1f}" width="{right - left:.1f}" height="26" '
                          f'fill="{style.GRADIENT}" fill-opacity="0.2" stroke="{style.GRADIENT}" stroke-width="2" '
                          'stroke-dasharray="6 4"/>')
        plot.words(*((right + 8, middle + 5) if end >= start else (left - 8, middle + 5)), _signed(end - start), style.GRADIENT,
                   "start" if end >= start else "end")
    plot.dot(change, 0.5, style.DIFFERENCE)
    px, py = plot.at(change, 0.5)
    plot.words(*((px + 11, py + 5, _signed(change), style.DIFFERENCE, "start") if change >= total else
                 (px - 11, py + 5, _signed(change), style.DIFFERENCE, "end")))
    text = (f"x brings {from_x:+.4f}, y brings {from_y:+.4f}, together {total:+.4f}; "
            f"z really moves by {change:+.4f}, off by {change - total:+.4f}")
    return Picture(svg("0 0 720 210", "".join(plot.parts), text), text)


def _signed(x):
    return f"{x:+.3f}".replace("-", "−")
