"""Draw the pictures of lesson 12: the confusion matrix, misread scans, weights, scores and the learning curve."""

import numpy as np

from ...drawing import style
from ...drawing.axes import Axes
from ...drawing.formatting import cell, counted, percent, scan, words
from ...drawing.picture import Picture, svg

SIDE = 72  # px, of a scan in a sheet, five in a row: as wide as a phone


def confusion(true, read):
    """Draw the confusion matrix of ten digits, with the correct answers on its diagonal.

    `true` and `read` are integer arrays of shape (n,), the true and the predicted digits. A
    row of the matrix is for a true digit, and a column for a predicted digit.
    """
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (true, read), 1)
    wrong = counts - np.diag(np.diag(counts))
    wide, high, left, top = 40, 30, 50, 72
    title = f"{np.trace(counts):,} of {len(true):,} read right"
    parts = [
        words(14, 24, title, anchor="start"),
        words(left + 5 * wide, 48, "read as", size=13),
        words(14, top - 8, "is", anchor="start", size=13),
    ]
    for i in range(10):
        parts += [
            words(left + (i + 0.5) * wide, top - 8, str(i), style.FAINT, size=13),
            words(left - 14, top + (i + 0.5) * high + 5, str(i), style.FAINT, size=13),
        ]
        for j in range(10):
            look = "value" if i == j else "picked" if counts[i, j] else "pale"
            parts.append(
                cell(left + j * wide, top + i * high, wide, high, str(counts[i, j] or ""), look)
            )
    pairs = [
        f"{i} read as {j}: {wrong[i, j]}"
        for i, j in sorted(np.argwhere(wrong), key=lambda ij: -wrong[*ij])
    ]
    text = f"{title}." + (f" Wrong: {', '.join(pairs)}." if pairs else "")
    return Picture(
        svg(f"0 0 {left + 10 * wide + 14} {top + 10 * high + 12}", "".join(parts), text), text
    )


def misread(images, true, probabilities, most=10):
    """Draw the misread images, most confident first, with the predicted and the true digit of each.

    The probabilities of both digits are shown as well. `images` has shape (n, side²), `true`
    has shape (n,), and `probabilities` has shape (n, 10). At most `most` images are drawn.
    """
    read = probabilities.argmax(1)
    wrong = np.flatnonzero(read != true)
    wrong = wrong[np.argsort(-probabilities[wrong, read[wrong]])][:most]
    if not len(wrong):
        return Picture("<p>No image was misread.</p>", "No image was misread.")
    parts, said, pixels, step = [], [], int(images.shape[1] ** 0.5), 99
    for nth, k in enumerate(wrong):
        x, y = 2 + nth % 4 * step, 14 + nth // 4 * 142
        p, q = probabilities[k, read[k]], probabilities[k, true[k]]
        parts += [
            scan(images[k].reshape(pixels, pixels), x + 8, y + 42, 80),
            words(x + 48, y + 12, f"read {read[k]} ({percent(p, 0)})", size=13),
            words(x + 48, y + 31, f"is {true[k]} ({percent(q)})", size=13),
        ]
        said.append(
            f"{true[k]} read as {read[k]} with {percent(p, 0)}, its true digit had {percent(q)}"
        )
    text = (
        f"{np.count_nonzero(read != true)} misread; most confident first: " + "; ".join(said) + "."
    )
    size = f"{4 + step * min(4, len(wrong))} {-(-len(wrong) // 4) * 142 + 6}"
    return Picture(svg(f"0 0 {size}", "".join(parts), text), text)


def digit_sheet(images, labels, title):
    """Draw scans of digits in rows of five under a title, each scan with its label below it.

    `images` has shape (n, 64), and `labels` has n entries.
    """
    parts = [words(12, 24, title, anchor="start")]
    for k, (image, label) in enumerate(zip(images, labels, strict=True)):
        x, y = 8 + k % 5 * 78, 40 + k // 5 * 100
        parts += [
            scan(image.reshape(8, 8), x, y, SIDE),
            words(x + SIDE / 2, y + SIDE + 18, str(label), style.FAINT),
        ]
    text = f"{title}: {len(images)} scans of 8 × 8 pixels, labelled {' '.join(map(str, labels))}."
    return Picture(svg(f"0 0 400 {40 + -(-len(images) // 5) * 100}", "".join(parts), text), text)


def neurons(weights, titles):
    """Draw the weights of the first ten neurons of each layer as 8 × 8 images.

    `weights` holds one array of shape (H, 64) for each layer, and `titles` holds one title for each
    layer; if the layer has more neurons, its title is followed by their number. Positive and
    negative weights have different colours, and the shade is relative to the largest weight of the
    layer. A pixel with ink raises the value of the neuron where the weight is positive, and lowers
    it where the weight is negative.
    """
    parts, told = [], []
    for line, (weight, title) in enumerate(zip(weights, titles, strict=True)):
        top, shares = (
            40 + line * 194,
            np.round(6 * weight[:10] / (np.abs(weight).max() or 1)).astype(int),
        )
        drawn = f" ({len(shares)} of {len(weight)} neurons)" * (len(shares) < len(weight))
        parts.append(words(12, top - 10, title + drawn, anchor="start"))
        at = [(8 + k % 5 * 78, top + k // 5 * 78) for k in range(len(shares))]
        parts += [
            f'<rect x="{x}" y="{y}" width="{SIDE}" height="{SIDE}" fill="none" stroke="{style.LINE}"/>'
            for x, y in at
        ]
        for share in np.unique(shares[shares != 0]):  # one path for all pixels of a shade
            squares = "".join(
                f"M{at[k][0] + pixel % 8 * 9} {at[k][1] + pixel // 8 * 9}h9v9h-9z"
                for k, pixel in np.argwhere(shares == share)
            )
            colour = style.ABOVE if share > 0 else style.BELOW
            parts.append(
                f'<path d="{squares}" fill="{colour}" fill-opacity="{abs(share) / 6:.2f}"/>'
            )
        kinds = len(np.unique(np.round(weight, 6), axis=0))
        told.append(f"{title}: {counted(kinds, 'distinct neuron')} among {len(weight)}.")
    low = 28 + len(weights) * 194
    for x, colour, what in [
        (12, style.ABOVE, "positive weight"),
        (206, style.BELOW, "negative weight"),
    ]:
        parts += [
            f'<rect x="{x}" y="{low - 11}" width="12" height="12" fill="{colour}"/>',
            words(x + 20, low, what, style.FAINT, "start", 13),
        ]
    text = "Weights of ten neurons as images. " + " ".join(told)
    return Picture(svg(f"0 0 400 {low + 14}", "".join(parts), text), text)


def scores(named, chance=None):
    """Draw the accuracy of each model on the training set and on held-out scans, as two bars.

    `named` is a dict that maps the name of each model to its pair (training accuracy, held-out
    accuracy), with numbers from 0 to 1. `chance` is the accuracy of guessing, drawn as a dotted
    line unless it is None.
    """
    left = 24 + 8 * max(map(len, named))
    plot = Axes((left, 34, 275 - left, 64 * len(named)), (0, 1), (0, 1))
    plot.frame(
        [(0, "0 %"), (0.5, "50 %"), (1, "100 %")],
        [],
        title="labels predicted" + "; dotted: by guessing" * (chance is not None),
    )
    for i, (name, pair) in enumerate(named.items()):
        plot.words(left - 10, 34 + 64 * i + 36, name, anchor="end", size=13)
        for k, (accuracy, what, fill) in enumerate(
            zip(pair, ("training", "held out"), ("none", style.VALUE))
        ):
            y, right = 34 + 64 * i + 10 + 24 * k, plot.at(accuracy, 0)[0]
            plot.parts.append(
                f'<rect x="{left}" y="{y}" width="{right - left:.1f}" height="18" fill="{fill}" '
                f'stroke="{style.VALUE}" stroke-width="1.5"/>'
            )
            right = max(right, plot.at(chance or 0, 0)[0])
            plot.words(right + 8, y + 14, f"{percent(accuracy)} {what}", anchor="start", size=13)
    if chance is not None:
        plot.line([chance, chance], [0, 1], style.INK, 1.5, "2 3")
    text = "Accuracy. " + " ".join(
        f"{name}: {percent(a)} on the training scans, {percent(b)} on held-out ones."
        for name, (a, b) in named.items()
    )
    return Picture(svg(f"0 0 400 {34 + 64 * len(named) + 32}", "".join(plot.parts), text), text)


def training_sizes(sizes, held_out_accuracy):
    """Draw the held-out accuracy against the number of training scans.

    `sizes` lists the numbers of scans, in ascending order, and `held_out_accuracy` is the learner's
    function of n, which returns a float. The axes stay empty until the learner has written this
    function.
    """
    measured = [held_out_accuracy(n) for n in sizes]
    done = [
        (np.log(n), a, n)
        for n, a in zip(sizes, measured, strict=True)
        if isinstance(a, (float, np.floating))
    ]
    plot = Axes((72, 40, 446, 220), tuple(np.log([sizes[0] * 0.8, sizes[-1] * 1.25])), (0, 1.08))
    plot.frame(
        [(np.log(n), f"{n:,}") for n in sizes],
        [(0, "0 %"), (0.5, "50 %"), (1, "100 %")],
        "training scans",
        "right on held-out digits",
    )
    if done:
        plot.line([x for x, _, _ in done], [a for _, a, _ in done], style.VALUE)
        for x, a, _ in done:
            plot.dot(x, a, style.VALUE, style.VALUE)
            px, py = plot.at(x, a)
            plot.words(px, py + 22, percent(a, 0), style.VALUE, size=13)
        text = (
            "Right on held-out digits: "
            + ", ".join(f"{percent(a)} from {n:,} scans" for _, a, n in done)
            + "."
        )
    else:
        plot.words(295, 130, "shown after you write held_out_accuracy", style.FAINT)
        text = "An empty learning curve, shown after you write held_out_accuracy."
    return Picture(svg("0 0 540 312", "".join(plot.parts), text), text)
