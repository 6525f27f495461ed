"""What lesson 12 alone draws."""
import numpy as np

from ...show import style
from ...show.picture import Picture, figure


def confusion(true, read):
    """How often digit `true` was read as `read`: a table with what is right on its diagonal. Both have shape (n,)."""
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (true, read), 1)
    wrong = counts - np.diag(np.diag(counts))
    fig, ax = figure(figsize=(5.2, 4.8))
    ax.imshow(np.where(np.eye(10, dtype=bool), 0, wrong), vmin=0, vmax=max(wrong.max(), 1) * 3, cmap="Greys")
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
    from matplotlib.colors import LinearSegmentedColormap
    inks = LinearSegmentedColormap.from_list("inks", [style.UNWANTED, style.PAPER, style.WANTED])
    fig, axes = figure(figsize=(6.6, 0.95 * len(weights)), nrows=len(weights), ncols=10, squeeze=False)
    fig.get_layout_engine().set(rect=(0, 0, 1, 0.88), hspace=0.5)
    words = []
    for line, weight, title in zip(axes, weights, titles, strict=True):
        most = np.abs(weight).max() or 1
        for ax, row in zip(line, weight, strict=False):
            ax.imshow(row.reshape(8, 8), cmap=inks, vmin=-most, vmax=most)
            ax.set(xticks=[], yticks=[])
        line[0].annotate(title, (0, 1.12), xycoords="axes fraction", fontsize=11).set_in_layout(False)   # wider than its image
        kinds = len(np.unique(np.round(weight, 6), axis=0))
        words.append(f"{title}: {kinds} different neuron{'s' * (kinds > 1)} among {len(weight)}.")
    return Picture.of(fig, "Weights of ten neurons as images. " + " ".join(words))


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
    ax.set(xscale="log", xlabel="training scans", xlim=(sizes[0] * 0.8, sizes[-1] * 1.35), xticks=sizes,
           xticklabels=sizes,
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
