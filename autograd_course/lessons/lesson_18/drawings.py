"""Draw the pictures of lesson 18: which position reads which, a row of attention, and softmax of long vectors."""

from functools import lru_cache
from itertools import pairwise

import numpy as np

from ...drawing import style
from ...drawing.axes import Axes, decades, ticks
from ...drawing.formatting import number, words
from ...drawing.picture import Picture, svg

CELL = 30
WORD = "computer"
LENGTHS = 4, 16, 64, 256, 1024  # the values of d in the picture of saturation
QUERIES = 1000


def dependence_matrix(sizes, letters, what="slope", strongest=None):
    """Draw a matrix that shows how strongly each position of a text depends on each letter.

    Parameters
    ----------
    sizes : array_like of shape (T, T)
        Row t belongs to position t. Larger sizes have a stronger colour, and sizes near 0 are dots.
    letters : sequence of str
        The T letters of the text.
    what : str
        What the sizes measure, "slope" or "weight".
    strongest : float, optional
        The size that has the full colour; by default, the largest of `sizes`. Two matrices that are
        compared need the same one.

    Notes
    -----
    The columns after a row's own position are the future. They are grey, and crossed out where the
    position reads them.
    """
    sizes, left, top = np.asarray(sizes, float), 104, 56
    side, least = len(sizes), 5e-4 * np.max(sizes) if what == "weight" else 1e-9 * np.max(sizes)
    full = float(strongest or np.max(sizes))
    colour = style.GRADIENT if what == "slope" else style.VALUE
    parts = [
        words(left - 12, 46, "position", anchor="end", size=13),
        words(left, 20, "what it reads", anchor="start", size=13),
    ]
    told, leaks = [], 0
    boxes, dots = {style.PAPER: "", style.GROUND: ""}, ""  # one path each keeps the page small
    marks = []
    for t in range(side):
        y, read = top + t * CELL, np.flatnonzero(sizes[t] > least)
        leaks += int(np.sum(read > t))
        told.append(
            f"{t} ({letters[t]}): "
            + ", ".join(f"{k} {number(float(f'{sizes[t, k]:.2g}'))}" for k in read)
        )
        parts.append(words(left + (t + 0.5) * CELL, 46, letters[t]))
        parts.append(words(left - 12, y + 20, f"{t}: {letters[t]}", anchor="end", size=13))
        for k in range(side):
            x = left + k * CELL
            box = f"M{x + 1} {y + 1}h{CELL - 2}v{CELL - 2}h{2 - CELL}z"
            boxes[style.GROUND if k > t else style.PAPER] += box
            if k not in read:
                dots += f"M{x + CELL / 2:g} {y + CELL / 2:g}h0"
                continue
            marks.append(
                f'<path d="{box}" fill="{colour}" fill-opacity="{0.12 + 0.88 * sizes[t, k] / full:.3f}"/>'
            )
            if k > t:
                marks.append(
                    f'<path d="M{x + 7} {y + 7}l16 16m0 -16l-16 16" stroke="{style.INK}" stroke-width="2.5"/>'
                )
    parts += [
        f'<path d="{box}" fill="{ground}" stroke="{style.LINE}" stroke-width="0.6"/>'
        for ground, box in boxes.items()
    ]
    parts.append(
        f'<path d="{dots}" stroke="{style.LINE}" stroke-width="3" stroke-linecap="round"/>'
    )
    parts += marks
    below = top + side * CELL
    small = "near 0" if what == "weight" else "0"
    legend = "grey: the future" + "; crossed: read" * bool(leaks)
    largest, scale = (number(float(f"{one:.2g}")) for one in (np.max(sizes), full))
    lines = [f"full colour: {scale}; dot: {small}", legend]
    if strongest:
        lines.insert(1, f"largest {what} here: {largest}")
    parts += [
        words(left, below + 22 + 20 * nth, line, style.FAINT, "start", 13)
        for nth, line in enumerate(lines)
    ]
    first = f"The future is read {leaks} times."
    first += f" The largest {what} is {largest}."
    text = "\n".join([first, f"Position, what it reads, and the {what} of each:", *told])
    return Picture(
        svg(
            f"0 0 {left + max(side * CELL, 240) + 24} {below + 14 + 20 * len(lines)}",
            "".join(parts),
            text,
        ),
        text,
    )


def attention_row(letters, scores, values, position, note=""):
    """Draw one row of attention: the scores, the weights, the result, and the gradient of each score.

    Parameters
    ----------
    letters : sequence of str
        The T letters of the text.
    scores, values : array_like of shape (T,)
        The score of the query with each key, and the value at each position.
    position : int
        The position of the query. The positions after it are masked.
    note : str
        A short text beside the scores.

    Notes
    -----
    The upstream gradient of the result is 1.
    """
    scores, values = np.asarray(scores, float), np.asarray(values, float)
    side, wide = len(letters), 54
    seen = np.arange(side) <= position
    p = np.exp(scores - scores[seen].max()) * seen
    p = p / p.sum()
    z = p @ values
    back = p * (values - z)
    left, right, parts, panels = (
        116,
        116 + side * wide,
        [words(8, 42, "value", anchor="start", size=13)],
        [
            (f"score,{note}", scores, (-2.5, 4), style.VALUE, "none"),
            ("weight P", p, (0, 1), style.VALUE, "none"),
            ("gradient,of the score", back, (-1.8, 1.8), style.GRADIENT, "6 4"),
        ],
    )
    if position + 1 < side:
        start = left + (position + 1) * wide
        parts += [
            f'<rect x="{start + 3}" y="50" width="{right - start - 3}" height="432" fill="{style.GROUND}"/>',
            words((start + right) / 2 + 1, 66, "masked", style.FAINT, size=13),
        ]
    for k, letter in enumerate(letters):
        x = left + (k + 0.5) * wide
        parts.append(words(x, 22, letter, size=16))
        parts.append(
            words(x, 42, number(values[k]), style.VALUE if seen[k] else style.FAINT, size=13)
        )
        if k == position:
            parts += [words(x, 66, "▲", size=13), words(8, 66, "query", anchor="start", size=13)]
    for row, (name, heights, span, colour, dash) in enumerate(panels):
        plot = Axes((left, (80, 232, 362)[row], side * wide, 116), (0, side), span)
        plot.line([0, side], [0, 0], style.LINE, 1)
        for nth, line in enumerate(filter(None, name.split(","))):
            plot.words(8, plot.at(0, 0)[1] + 4 + 17 * nth, line, anchor="start", size=13)
        for k, height in enumerate(heights):
            x, y = plot.at(k + 0.5, 0)
            if not seen[k]:
                plot.words(x, y - 6, "−∞" if row == 0 else "0", style.FAINT, size=13)
                continue
            x, up, down = _bar(plot, k, max(height, span[0]), 17, colour, dash)
            plot.words(
                x,
                up - 5 if height >= 0 else down + 14,
                number(round(float(height), 2)),
                colour,
                size=13,
                halo=True,
            )
        parts += plot.parts
    low, high = min(values) - 0.5, max(values) + 0.5
    scale = Axes((left, 518, side * wide, 10), (low, high), (0, 1))
    scale.frame(ticks(low, high, most=8), [])
    scale.words(8, 528, "result z", anchor="start", size=13)
    scale.words(8, 545, "○ a value", style.FAINT, "start", 13)
    for k in np.flatnonzero(seen):
        scale.dot(values[k], 0.5, style.FAINT, style.PAPER, size=5)
    scale.dot(z, 0.5, style.VALUE, style.VALUE, size=8)
    scale.words(
        scale.at(z, 0)[0], 508, f"z = {number(round(float(z), 2))}", style.VALUE, size=13, halo=True
    )
    parts += scale.parts

    def listed(numbers):
        return ", ".join(
            f"{letter} {number(round(float(one), 3))}" for letter, one in zip(letters, numbers)
        )

    text = (
        f"query: {letters[position]}, at position {position}; z = {number(round(float(z), 3))}, the mean of the values by "
        f"its weights.\n"
        f"weights: {listed(p)}\n"
        f"gradients of the scores: {listed(back)}; their sum {number(round(float(back.sum()), 10))}\n"
        f"gradients of the values: {listed(p)}"
    )
    return Picture(svg(f"0 0 {right + 12} 560", "".join(parts), text), text, says_all=True)


def attended(letter, raised_by, position):
    """Draw a row of attention over the eight letters of "computer", with the score of one of them raised.

    `letter` is the position of this letter, `raised_by` is added to its score, and `position` is
    the position of the query. No letter occurs twice, because equal letters would have equal keys.
    """
    scores = np.array([1.0, 0.5, -0.5, 0.0, 1.5, -1.0, 0.2, 0.8])
    scores[letter] += raised_by
    note = f"{WORD[letter]}: {'+' if raised_by > 0 else ''}{number(raised_by)}"
    return attention_row(WORD, scores, [3, -2, 1, 4, -1, 2, 0, -3], position, note)


def _bar(plot, k, height, half, colour, dash):
    """Draw bar `k` of a plot, filled for a value and dashed for a gradient.

    Return the horizontal position of its middle, and the vertical positions of its upper and lower
    end, in pixels. `half` is half of its width.
    """
    (x, up), (_, down) = plot.at(k + 0.5, max(height, 0)), plot.at(k + 0.5, min(height, 0))
    plot.parts.append(
        f'<rect x="{x - half:.1f}" y="{up:.1f}" width="{2 * half}" height="{max(down - up, 0.01):.2f}" '
        f'fill="{colour}" fill-opacity="{0.85 if dash == "none" else 0.25}" stroke="{colour}" '
        f'stroke-width="1.6" stroke-dasharray="{dash}"/>'
    )
    return x, up, down


def by_position(losses, best):
    """Draw the loss at each position as a bar, and `best`, the best loss of an honest model, as a dashed line."""
    plot = Axes((48, 40, 500, 170), (0, len(losses)), (0, 1.25 * best))
    plot.frame(
        [(k + 0.5, str(k)) for k in range(len(losses))],
        ticks(0, best, 4),
        "position",
        "loss on new texts",
    )
    plot.line([0, len(losses)], [best, best], style.INK, 2, "7 4")
    for k, loss in enumerate(losses):
        x, up, _ = _bar(plot, k, loss, 15, style.VALUE, "none")
        plot.words(x, up - 5, f"{loss:.1f}", style.VALUE, size=13, halo=True)
    plot.words(548, 28, f"dashed: best honest loss, {best:.2f}", anchor="end")
    text = f"Best honest loss: {best:.2f}. At each position: {', '.join(f'{loss:.1f}' for loss in losses)}."
    return Picture(svg("0 0 560 262", "".join(plot.parts), text), text)


def softmax_of(scores, g):
    """Return the softmax of each row of scores, and the sum of the magnitudes of its scores' gradient.

    `g` are the upstream gradients of the weights.
    """
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    p = p / p.sum(axis=-1, keepdims=True)
    return p, np.abs(p * (g - np.sum(g * p, axis=-1, keepdims=True))).sum(axis=-1)


@lru_cache
def random_queries():
    """Draw 1,000 random queries with eight keys each, and choose a typical one.

    Returns
    -------
    scores : dict
        For each pair of d and "1" or "√d", the scores, divided by 1 or √d, of shape (1000, 8). They
        are those of the first d entries.
    g : array of shape (1000, 8)
        The upstream gradients of the weights.
    chosen : int
        The query whose gradients are nearest to the medians, among those whose undivided scores
        have a larger weight and smaller gradients at each longer d.
    """
    rng = np.random.default_rng(0)
    query, g = rng.normal(size=(QUERIES, LENGTHS[-1])), rng.normal(size=(QUERIES, 8))
    scores = {(d, "1"): np.zeros((QUERIES, 8)) for d in LENGTHS}
    for k in range(8):
        terms = query * rng.normal(size=query.shape)
        for d in LENGTHS:
            scores[d, "1"][:, k] = terms[:, :d].sum(axis=1)
    scores |= {(d, "√d"): scores[d, "1"] / np.sqrt(d) for d in LENGTHS}
    found = {key: softmax_of(one, g) for key, one in scores.items()}
    off = [np.abs(np.log(sums / np.median(sums))) for _, sums in found.values()]
    off = np.max(off, axis=0)
    for d, longer in pairwise(LENGTHS):
        (p, sums), (sharper, smaller) = found[d, "1"], found[longer, "1"]
        rises = sharper.max(axis=1) > p.max(axis=1)
        off[~rises | (smaller > sums)] = np.inf
    return scores, g, int(np.argmin(off))


def sharpness(d, divided_by):
    """Draw the softmax of the scores q·k of eight random keys, and how the gradient depends on d.

    The gradient is that of the scores; the magnitudes of its eight entries are added. The two lines
    are the medians of 1,000 queries, and the circle is the query whose weights are drawn.

    Parameters
    ----------
    d : int
        The number of entries in the query and in each key, one of `LENGTHS`. Each entry has
        variance 1.
    divided_by : str
        "1" or "√d", by which the scores are divided.
    """
    scores, g, chosen = random_queries()
    medians = {key: np.median(softmax_of(one, g)[1]) for key, one in scores.items()}
    mine = scores[d, divided_by][chosen]
    p, together = softmax_of(mine, g[chosen])
    largest, sums = f"{p.max():.3f}", number(float(f"{together:.2g}"))
    left = Axes((44, 124, 190, 190), (0, 8), (0, 1.1))
    left.frame([(k + 0.5, str(k)) for k in range(8)], ticks(0, 1.1, most=5), "key", "weights")
    for k, height in enumerate(p):
        _bar(left, k, height, 8, style.VALUE, "none")
    right = Axes((318, 124, 226, 190), (-0.35, 4.35), (-7.2, 0.6))
    right.frame(
        [(k, f"{one:,}") for k, one in enumerate(LENGTHS)],
        decades(-6, 0, 2),
        "d",
        "size of the gradient",
    )
    for by, at, away in [("1", 3, (-28, 10)), ("√d", 4, (0, 22))]:
        heights = [np.log10(medians[one, by]) for one in LENGTHS]
        right.line(range(5), heights, style.GRADIENT, 4 if by == divided_by else 1.6, "6 4")
        px, py = np.add(right.at(at, heights[at]), away)
        right.words(px, py, f"by {by}", style.GRADIENT, "end", 13, halo=True)
    right.dot(LENGTHS.index(d), np.log10(together), style.GRADIENT, style.PAPER, size=7)
    low, high = (number(round(float(one), 2)) for one in (mine.min(), mine.max()))
    title = f"d = {d:,}, scores divided by {divided_by}: from {low} to {high}"
    text = (
        f"{title}.\nLargest weight {largest}; all gradients together {sums}, "
        f"median of {QUERIES:,} queries {number(float(f'{medians[d, divided_by]:.2g}'))}."
    )
    parts = [
        words(12, 20, title, anchor="start"),
        words(12, 44, f"largest weight: {largest}", style.VALUE, "start"),
        words(12, 68, f"size of the gradient: {sums}", style.GRADIENT, "start"),
        *left.parts,
        *right.parts,
        words(44, 380, "circle: this query; lines: medians", style.FAINT, "start", 13),
    ]
    return Picture(svg("0 0 560 392", "".join(parts), text), text)
