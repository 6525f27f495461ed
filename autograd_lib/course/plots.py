"""The lessons' still pictures. Each function draws one message and returns a Picture with the same in words."""
import numpy as np

from . import style
from .axes import Axes, number, ticks
from .blocks import broadcast_blocks as broadcast_blocks
from .blocks import sum_blocks as sum_blocks
from .differences import v_curve as v_curve
from .landscapes import boundary as boundary
from .landscapes import landscape as landscape
from .landscapes import plane as plane
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


def gradient_sizes(named, limits=None):
    """How large the gradient of each layer is: a bar on a logarithmic scale for a typical entry, the root of the mean of g².

    named: name -> gradient, or a module after `backward()`. limits: (lowest, highest) of the scale, to hold it still under a slider.
    """
    if hasattr(named, "named_parameters"):
        named = {name: p.grad for name, p in named.named_parameters()}
    sizes, said = {}, []
    for name, g in named.items():
        sizes[name] = 0.0 if g is None else float(np.sqrt(np.mean(np.square(g, dtype=float))))
        words = "no gradient arrived" if g is None else "0: every entry is zero" if sizes[name] == 0 else style.number(sizes[name])
        said.append((name, "" if g is None else f" {np.shape(g)}", words))
    seen = [size for size in sizes.values() if 0 < size < np.inf]
    low, high = (np.log10(limits) if limits else
                 (np.floor(np.log10(min(seen)) - 0.3), np.ceil(np.log10(max(seen)))) if seen else (-3, 0))
    left = 24 + 7.5 * max(len(name + shape) for name, shape, _ in said)
    plot = Axes((left, 34, 400, 30 * len(said)), (low, high), (0, len(said)))
    step = max(1, int((high - low) / 6))
    plot.frame([(k, f"1e{k}" if k else "1") for k in range(int(np.ceil(low)), int(high) + 1, step)], [], "√ mean(g²)",
               "size of the gradient, each line ten times the last" if step == 1 else "size of the gradient, logarithmic")
    for k in range(int(np.ceil(low)), int(high) + 1):
        plot.line([k, k], plot.y, style.LINE, 0.5)
    for nth, (name, shape, words) in enumerate(said):
        py = 34 + 30 * nth + 20
        plot.words(left - 10, py, f"{name}<tspan fill='{style.FAINT}'>{shape}</tspan>", anchor="end", size=13)
        right = left
        if 0 < sizes[name] < np.inf:
            right = plot.at(np.clip(np.log10(sizes[name]), low, high), 0)[0]
            plot.parts.append(f'<rect x="{left}" y="{py - 16}" width="{right - left:.1f}" height="22" fill="{style.GRADIENT}" '
                              f'fill-opacity="0.25" stroke="{style.GRADIENT}" stroke-width="2" stroke-dasharray="6 4"/>')
        plot.words(right + 8, py, words, style.GRADIENT, "start", halo=True)
    text = "\n".join(["gradient sizes, √ mean(g²)", *(f"{name}{shape}: {words}" for name, shape, words in said)])
    return Picture(svg(f"0 0 {left + 400 + 90:.0f} {30 * len(said) + 84}", "".join(plot.parts), text), text)


# --- Lesson 12: classify ------------------------------------------------------------------------------------------------

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


# --- Lesson 02: two nudges at once --------------------------------------------------------------------------------------

def two_parts(from_x, from_y, change, reach):
    """The parts of a change that x and y bring, laid end to end, above the change that was measured.

    The axis runs from −reach to reach.
    """
    plot = Axes((150, 16, 480, 150), (-reach, reach), (0, 3))
    total = from_x + from_y
    plot.frame(ticks(-reach, reach, 9), [(2.5, "x brings"), (1.5, "y brings"), (0.5, "z really moves by")], "change of z")
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
    return style.minus(f"{x:+.3f}")


# --- Lesson 03: a rectangle that grows ----------------------------------------------------------------------------------

def grown_rectangle(x, y, dx, dy):
    """The area x·y and what dx and dy, up to 1, add to it: two strips and a corner."""
    scale = 400 / (x + 1)
    plot = Axes((40, 40, 400, scale * (y + 1)), (0, x + 1), (0, y + 1))
    share = f", {dx * dy / ((x + dx) * (y + dy) - x * y):.2%} of the growth" if dx > 0 and dy > 0 else ""
    for (x0, x1), (y0, y1), colour, dash, fill in [((0, x), (0, y), style.VALUE, "none", 0.12),
                                                   ((x, x + dx), (0, y), style.GRADIENT, "6 4", 0.2),
                                                   ((0, x), (y, y + dy), style.GRADIENT, "6 4", 0.2),
                                                   ((x, x + dx), (y, y + dy), style.INK, "none", 0.5)]:
        px, py = plot.at(min(x0, x1), max(y0, y1))
        plot.parts.append(f'<rect x="{px:.1f}" y="{py:.1f}" width="{abs(x1 - x0) * scale:.1f}" height="{abs(y1 - y0) * scale:.1f}" '
                          f'fill="{colour}" fill-opacity="{fill}" stroke="{colour}" stroke-width="1.5" stroke-dasharray="{dash}"/>')
    right, top = plot.at(max(x, x + dx), 0)[0] + 10, plot.at(0, max(y, y + dy))[1] - 8
    plot.words(*plot.at(x / 2, y / 2), f"x · y = {number(x * y)}", style.VALUE, size=16)
    plot.words(right, plot.at(0, y / 2)[1], f"dx · y = {number(dx * y)}", style.GRADIENT, "start")
    plot.words(plot.at(x / 2, 0)[0], top, f"x · dy = {number(x * dy)}", style.GRADIENT)
    plot.words(right, top, f"corner dx · dy = {number(dx * dy)}", anchor="start")
    text = (f"area {number(x * y)}, grown by {number((x + dx) * (y + dy) - x * y)}\n"
            f"strips: dx·y = {number(dx * y)}, x·dy = {number(x * dy)}\n"
            f"corner: dx·dy = {number(dx * dy)}{share}")
    return Picture(svg(f"0 0 620 {plot.box[3] + 52:.0f}", "".join(plot.parts), text), text)


# --- Lesson 10: what softmax gives, and the gradient it takes -----------------------------------------------------------

def choice_bars(p, true):
    """The probabilities p of some classes, (C,), and beside them p − onehot, the gradient at their logits; class `true` is right."""
    p = np.asarray(p, float)
    gradient = p - (np.arange(len(p)) == true)
    parts, wide = [], max(52 * len(p), 150)
    for left, title, heights, low, colour, dash, fill in [(48, "p", p, 0, style.VALUE, "none", 0.85),
                                                          (118 + wide, "p − onehot", gradient, -1, style.GRADIENT, "6 4", 0.25)]:
        plot = Axes((left, 40, wide, 240), (0, len(p)), (low - 0.1, 1.1))
        plot.frame([(k + 0.5, f"{k}" + " ✓" * (k == true)) for k in range(len(p))], ticks(low, 1), "class, ✓ the right one",
                   f"{title}, sum {number(float(heights.sum()))}")
        for k, height in enumerate(heights):
            if np.isnan(height):
                plot.words(*plot.at(k + 0.5, 0.05), "nan", colour, size=13)
                continue
            (px, top), (_, bottom) = plot.at(k + 0.5, max(0, height)), plot.at(k + 0.5, min(0, height))
            plot.parts.append(f'<rect x="{px - 17:.1f}" y="{top:.1f}" width="34" height="{bottom - top:.1f}" fill="{colour}" '
                              f'fill-opacity="{fill}" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>')
            plot.words(px, top - 6 if height >= 0 else bottom + 16, number(round(height, 3)), colour, size=12, halo=True)
        parts += plot.parts
    text = "\n".join([f"p: {', '.join(number(round(x, 3)) for x in p)}; sum {number(float(p.sum()))}",
                      f"p − onehot: {', '.join(number(round(x, 3)) for x in gradient)}; sum {number(float(gradient.sum()))}"])
    return Picture(svg(f"0 0 {2 * wide + 140} 330", "".join(parts), text), text)
