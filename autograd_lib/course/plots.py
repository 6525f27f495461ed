"""The lessons' still pictures. Each function draws one message and returns a Picture with the same in words."""
import numpy as np

from . import style
from .picture import Picture, figure


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
    return Picture.of(fig, f"{np.trace(counts)} of {len(true)} read right. " + ("Wrong: " + ", ".join(pairs) + "." if pairs else ""))


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
