"""Draw contour plots: losses with the paths of optimizers, and classifiers in the plane."""

from functools import lru_cache

import contourpy
import numpy as np

from . import style
from .axes import Axes, ticks
from .formatting import counted, minus, number
from .picture import Picture, svg

BOX = (56, 34, 492, 328)
SIZE = "0 0 560 435"  # its letters, of 13 px, are 10 px high in a window of 900
LEGEND = (14, 424, 23)  # its left, its first line and how far apart lines are
# The paths differ by marker and dashes as well as by colour.
PATHS = [
    ("circle", style.INK, "none"),
    ("square", style.role("path-2"), "8 4"),
    ("triangle", style.role("path-3"), "2 3"),
    ("diamond", style.role("path-4"), "10 3 2 3"),
    ("cross", style.role("path-5"), "5 2"),
]
# In a lesson a colour is one optimizer's: these have theirs in every picture, also where fewer are drawn.
OWN = {"plain, larger lr": ("triangle", style.INK, "2 3"), "RMSprop": PATHS[3]}
# Two classes: marker, ink, pale and strong tint.
CLASSES = [
    (shape, *map(style.role, (name, f"{name}-ground", f"{name}-sure")))
    for shape, name in [("circle", "class-0"), ("square", "class-1")]
]
ROWS, COLUMNS = 60, 90  # points of the grid on which a classifier is evaluated


def landscape(f, paths, span, step=None, names=("w₁", "w₂"), ahead=False):
    """Return a Picture of a loss over two weights, as contours, with the paths of optimizers.

    The contours are darker where the loss is lower. To animate the steps, draw the picture with
    `explore` for each step in range(n).

    Parameters
    ----------
    f : callable
        The loss: takes two arrays of the same shape and returns an array of this shape. Define it
        only once, because its contours are cached.
    paths : dict
        A dict that maps the name of each optimizer, at most five, to the points that it visited, an
        array of shape (n, 2).
    span : ((float, float), (float, float))
        The lowest and the highest value of the first weight, and of the second weight.
    step : int, optional
        The index of the last point drawn on each path. By default, all points are drawn.
    names : (str, str)
        The names of the two weights.
    ahead : bool
        True if the rest of each path is drawn as a thin line.

    Returns
    -------
    Picture
        The drawing.
    """
    step = max(map(len, paths.values())) - 1 if step is None else step
    plot, (lines, levels, low, where) = Axes(BOX, *span), _contours(f, span)
    title, bounds = f"after {counted(step, 'step')}", np.abs(span).max()
    plot.parts.append(lines)
    _frame(plot, title + "; thin: the path ahead" * ahead, names)
    top, said, px, py = (
        [],
        [f"{title}; lowest in the picture: {number(low)} at {_place(where)}"],
        LEGEND[0],
        LEGEND[1],
    )
    for (name, path), look in zip(paths.items(), PATHS):
        shape, colour, dash = OWN.get(name, look)
        path = np.asarray(path)
        leaps = path[np.abs(path).max(1) > 3 * bounds] if _inside(path[-1], span) else ()
        ends = (
            f"{name}, leaps to {_place(np.round(leaps[0], 1) + 0.0)}"
            if len(leaps)
            else f"{name}, gone"
        )
        if ahead:
            plot.line(*path.T, style.LINE, 0.8)
        path = path[: step + 1]
        far = np.flatnonzero(~(np.abs(path) < 100 * bounds).all(1))  # also where it is nan
        plot.line(*path[: far[0] if far.size else None].T, colour, 1.8, dash)
        here, seen = path[-1], [_inside(place, span) for place in path]
        for place in path[:-1][seen[:-1]]:
            plot.parts.append(
                f'<path d="{marker("circle", *plot.at(*place), 2.2)}" fill="{colour}"/>'
            )
        with np.errstate(all="ignore"):  # a path may diverge
            value = number(float(f(*here)))
        said.append(
            f"{name}: {'' if seen[-1] else 'outside the picture, '}at {_place(here)}, value {value}"
        )
        wide = 46 + 10 * len(ends)  # on a phone, where letters are larger relative to the picture
        if px + wide > 560:
            px, py = LEGEND[0], py + LEGEND[2]
        plot.parts.append(
            f'<path d="M{px} {py - 5}h34" stroke="{colour}" stroke-width="1.8" stroke-dasharray="{dash}"/>'
        )
        for x, y in [(px + 17, py - 5)] + [plot.at(*here)] * seen[-1]:
            top.append(
                f'<path d="{marker(shape, x, y, 6.5)}" fill="{colour}" stroke="{style.PAPER}" stroke-width="1.5"/>'
            )
        whole = not seen[-1] or (np.abs(path).max(1) > 3 * bounds).any()
        plot.words(px + 40, py, ends if whole else name, colour, "start", 13)
        px += wide
    plot.parts += [
        levels,
        *top,
    ]  # drawn last, so that no path crosses a level's number or hides a marker
    text = "\n".join(said)
    return Picture(svg(f"0 0 560 {py + 11}", "".join(plot.parts), text, even=True), text)


@lru_cache(maxsize=16)
def _contours(f, span):
    """Draw the contours of f, and find its minimum on a grid of points.

    The result is (SVG of the contours, SVG of their labels, smallest value, its place).
    """
    return _outlined(f(*_grid(span)).astype(float).tobytes(), span)


def _grid(span):
    return np.meshgrid(np.linspace(*span[0], 145), np.linspace(*span[1], 97))


@lru_cache(maxsize=32)
def _outlined(heights, span):
    """Draw the contours of values on the grid; return the same tuple as `_contours`.

    `heights` are the bytes of an array of floats. The values, not f, are the key of the cache,
    because a slider often creates a new f with the same values.
    """
    plot, (x, y) = Axes(BOX, *span), _grid(span)
    z = np.frombuffer(heights).reshape(x.shape)
    row, column = np.unravel_index(np.argmin(z), z.shape)
    low, where = z[row, column], (x[row, column], y[row, column])
    levels = [
        float(f"{low + (z.max() - low) * part**3:.2g}") for part in np.linspace(0, 1, 13)[1:-1]
    ]  # closer towards the bottom
    field = _field(x, y, z)
    left, top, width, height = BOX
    parts = [
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="{style.role("height")}"/>',
        *(
            f'<path d="{_area(plot, field, low - 1, level)}" fill="{style.role("depth")}" fill-opacity="0.035" '
            f'fill-rule="evenodd" stroke="{style.LINE}" stroke-width="0.8"/>'
            for level in levels
        ),
    ]
    # The numbers are written along one ray, from the minimum to the corner farthest away; to the right, as paths begin at the left.
    corner = np.array(
        [
            max(reversed(ends), key=lambda end: round(abs(end - at), 9))
            for ends, at in zip(span, where)
        ]
    )
    scale = np.ptp(span, axis=1)
    words = Axes(BOX, *span)
    for level in levels[2::3]:
        places = np.concatenate(field.lines(level))
        ray, away = (corner - where) / scale, (places - where) / scale
        off = np.abs(ray[0] * away[:, 1] - ray[1] * away[:, 0]) + 10 * (away @ ray < 0)
        px, py = words.at(*places[off.argmin()])
        said = number(level)  # on a phone longer to the right too
        px = min(px - 3.7 * len(said), left + width - 11 * len(said))
        words.words(px, py + 4, said, style.FAINT, "start", 13, halo=True)
    px, py = plot.at(*where)
    parts.append(
        f'<path d="M{px - 5:.1f} {py:.1f}h10m-5 -5v10" stroke="{style.INK}" stroke-width="1.5"/>'
    )
    return "".join(parts), "".join(words.parts), low, where


def plane(points):
    """Return the points at which `boundary` needs the classifier's probabilities.

    Parameters
    ----------
    points : ndarray
        The points of the plot, of shape (n, 2).

    Returns
    -------
    ndarray
        The points of a grid that covers the plot, followed by `points`, of shape (N, 2).
    """
    x, y = np.meshgrid(
        *(np.linspace(low, high, n) for (low, high), n in zip(_span(points), (COLUMNS, ROWS)))
    )
    return np.concatenate([np.column_stack([x.ravel(), y.ravel()]), points])


def boundary(points, labels, p, title, pull=None, dotted=()):
    """Return a Picture of two classes of points, and of how a classifier divides the plane.

    The plane is coloured by the probability of class 1, with lines at 0.25, 0.5 and 0.75. A
    misclassified point has a ring. Record the probabilities while training, so that a frame is
    quick to draw:

        where = plane(X)
        maps[step] = probabilities(model, where)  # in the training loop
        explore(
            lambda step: boundary(X, y, maps[step], f"After {step} steps"), step=range(0, 301, 10)
        )

    Parameters
    ----------
    points : ndarray
        The points, of shape (n, 2).
    labels : ndarray
        The class of each point, 0 or 1.
    p : ndarray
        The classifier's probability of class 1 at each point of `plane(points)`.
    title : str
        The title of the picture.
    pull : ndarray, optional
        A number from 0 to 1 for each point, which determines the size of the point's mark. By
        default, all marks have the same size.
    dotted : sequence of (float, float, float)
        The lines that are dotted: (w₁, w₂, b) for the line w₁x₁ + w₂x₂ + b = 0.

    Returns
    -------
    Picture
        The drawing.
    """
    span = _span(points)
    title = minus(title)
    plot, grid, own = (
        Axes(BOX, *span),
        p[: ROWS * COLUMNS].reshape(ROWS, COLUMNS),
        p[ROWS * COLUMNS :],
    )
    field = _field(np.linspace(*span[0], COLUMNS), np.linspace(*span[1], ROWS), grid)
    (circle, _, pale0, strong0), (square, _, pale1, strong1) = CLASSES
    plot.parts.append(
        '<rect x="{}" y="{}" width="{}" height="{}" fill="{}"/>'.format(*BOX, strong0)
    )
    for level, tint in [(0.25, pale0), (0.5, pale1), (0.75, strong1)]:
        plot.parts.append(
            f'<path d="{_area(plot, field, level, 2)}" fill="{tint}" fill-rule="evenodd"/>'
        )
    places = [plot.at(*point) for point in points]
    words, taken, marked = Axes(BOX, *span), [], [(x - 4, x + 4, y - 4, y + 4) for x, y in places]
    for level, width, dash, along in [
        (0.25, 1, "4 3", 0.07),
        (0.75, 1, "4 3", 0.19),
        (0.5, 2, "none", 0.93),
    ]:
        plot.parts.append(
            f'<path d="{_lines(plot, field, level)}" fill="none" stroke="{style.INK}" stroke-width="{width}" '
            f'stroke-dasharray="{dash}"/>'
        )
        if lines := field.lines(level):
            longest = max(lines, key=len)
            spots = [
                plot.at(*longest[int(len(longest) * part)])
                for part in (along, *np.linspace(0.05, 0.95, 19))
            ]
            boxes = [_around(*spot, f"{level:g}") for spot in spots]
            free = [
                box
                for box in boxes
                if _within(box) and not any(_overlap(box, other) for other in taken)
            ]
            if free:  # on as few points as possible: near the edge, or elsewhere
                taken.append(min(free, key=lambda box: sum(_overlap(box, mark) for mark in marked)))
                left, right, top, bottom = taken[-1]
                words.words(
                    (left + right) / 2, (top + bottom) / 2 + 4, f"{level:g}", size=13, halo=True
                )
    for w1, w2, b in dotted:
        height = w1 * np.array(span[0]) + w2 * np.array(span[1])[:, None] + b
        plot.parts.append(
            f'<path d="{_lines(plot, _field(*span, height), 0)}" fill="none" stroke="{style.INK}" '
            'stroke-width="1.2" stroke-dasharray="1.5 4"/>'
        )
    _frame(plot, title, ("x₁", "x₂"))
    radius = np.full(len(points), 3.6) if pull is None else 1.2 + 9 * pull
    wrong = (own > 0.5) != (labels == 1)
    gap = 1 if pull is None else 2.5
    for k, (shape, ink, *_) in enumerate(CLASSES):
        marks = "".join(marker(shape, *places[i], radius[i]) for i in np.flatnonzero(labels == k))
        rings = "".join(
            marker(shape, *places[i], radius[i] + gap)
            for i in np.flatnonzero((labels == k) & wrong)
        )
        plot.parts.append(
            f'<path d="{marks}" fill="{ink}" fill-opacity="{1 if pull is None else 0.75}"/>'
        )
        plot.parts.append(
            f'<path d="{rings}" fill="none" stroke="{style.INK}" stroke-width="1.6"/>'
        )
    plot.parts += words.parts
    for left, (shape, ink, *_), name in zip((62, 172), CLASSES, ("class 0", "class 1")):
        plot.parts.append(f'<path d="{marker(shape, left, LEGEND[1] - 5, 5)}" fill="{ink}"/>')
        plot.words(left + 10, LEGEND[1], name, ink, "start", 13)
    plot.words(290, LEGEND[1], "ringed: wrong prediction", style.FAINT, "start", 13)
    text = f"{title}. {np.count_nonzero(~wrong)} of {len(points)} points are right."
    text += f" Dotted lines: {len(dotted)}." * (len(dotted) > 0)
    if pull is not None:
        rows = [
            f"  ({points[i][0]:z5.2f}, {points[i][1]:z5.2f})  class {labels[i]}  pull {pull[i]:.2f}  "
            f"{'wrong side' if wrong[i] else 'right side'}"
            for i in np.argsort(-pull)[:5]
        ]
        text += "\nThe five largest pulls:\n" + minus("\n".join(rows))
    return Picture(svg(SIZE, "".join(plot.parts), text, even=True), text)


# --- ink ----------------------------------------------------------------------------------------------------------------


def _span(points):
    return tuple(zip(points.min(0) - 0.4, points.max(0) + 0.4))


def _around(x, y, words):
    """Return the box (left, right, top, bottom) that a short text centred at (x, y) covers, in px."""
    return x - 6.3 * len(words), x + 6.3 * len(words), y - 11, y + 11


def _within(box):
    """Return True if a box (left, right, top, bottom) lies inside the plot."""
    left, top, width, height = BOX
    return left <= box[0] and box[1] <= left + width and top <= box[2] and box[3] <= top + height


def _overlap(box, other):
    """Return True if two boxes (left, right, top, bottom) overlap."""
    return box[0] < other[1] and other[0] < box[1] and box[2] < other[3] and other[2] < box[3]


def _inside(place, span):
    return all(low <= x <= high for x, (low, high) in zip(place, span))


def _place(place):
    return f"({', '.join(map(number, place))})"


def _frame(plot, title, names):
    left, top, width, height = BOX
    plot.frame(ticks(*plot.x, 8), [], names[0], title)
    for y, words in ticks(*plot.y, 8):
        plot.words(
            left - 7, min(plot.at(0, y)[1] + 4, top + height - 3), words, style.FAINT, "end", 13
        )
    plot.words(16, top + height / 2 + 4, names[1], size=13)
    plot.parts.append(
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="{style.LINE}"/>'
    )


def _field(x, y, z):
    return contourpy.contour_generator(x, y, z, line_type="Separate", fill_type="OuterOffset")


def _path(plot, places):
    return "M" + " ".join(
        f"{px:.1f} {py:.1f}" for px, py in _bends(np.column_stack(plot.at(*places.T))).tolist()
    )


def _bends(points):
    """Return the points of a line without those that are not needed to draw it.

    A point is removed if it lies within 0.1 px of the straight line between its neighbours.
    """
    for _ in range(5):
        before, here, after = points[:-2:2], points[1:-1:2], points[2::2]
        way, off = after - before, here - before
        kept = np.full(len(points), True)
        kept[1:-1:2] = np.abs(way[:, 0] * off[:, 1] - way[:, 1] * off[:, 0]) >= 0.1 * np.hypot(
            *way.T
        )
        points = points[kept]
    return points


def _lines(plot, field, level):
    return "".join(_path(plot, line) for line in field.lines(level))


def _area(plot, field, low, high):
    """Return the SVG path of the region where the values of `field` are between `low` and `high`.

    The region may have holes. `field` is the result of `_field`.
    """
    return "".join(
        _path(plot, places[start:end]) + "Z"
        for places, offsets in zip(*field.filled(low, high))
        for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist())
    )


def marker(shape, x, y, r):
    """Return the SVG path of a marker centred at (x, y), in px: a shape of PATHS with radius r."""
    if shape == "circle":
        return f"M{x - r:.1f} {y:.1f}a{r:.1f} {r:.1f} 0 1 1 {2 * r:.1f} 0a{r:.1f} {r:.1f} 0 1 1 {-2 * r:.1f} 0Z"
    corners = {
        "square": [(-1, -1), (1, -1), (1, 1), (-1, 1)],
        "triangle": [(0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
        "diamond": [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)],
        "cross": [
            (-1, -0.5),
            (-0.5, -1),
            (0, -0.5),
            (0.5, -1),
            (1, -0.5),
            (0.5, 0),
            (1, 0.5),
            (0.5, 1),
            (0, 0.5),
            (-0.5, 1),
            (-1, 0.5),
            (-0.5, 0),
        ],
    }[shape]
    r *= 0.9  # a square looks larger than a circle
    return "M" + " ".join(f"{x + r * a:.1f} {y + r * b:.1f}" for a, b in corners) + "Z"
