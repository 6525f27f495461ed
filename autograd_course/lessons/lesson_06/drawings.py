"""Draw the pictures of lesson 06: chessboard points, a fitted curve, a branch that closes, and a slide's graph."""

from itertools import accumulate, pairwise
from math import prod

import numpy as np

from autograd_lib import grad

from ...drawing import formatting, style
from ...drawing.axes import Axes, decades, ticks
from ...drawing.formatting import counted, number
from ...drawing.picture import Picture, beside, svg
from ...widgets import graph


def chessboard():
    """Return forty random points, of shape (40, 2), and their classes, of shape (40,).

    The class is 1 if x and y have different signs, and 0 otherwise. The points are the same at each
    call.
    """
    points = np.random.default_rng(0).uniform(-1, 1, (400, 2))
    points = points[np.abs(points).min(1) > 0.12][:40]  # none on the lines between the fields
    return points, (points.prod(1) < 0).astype(int)


def descend(f, by):
    """Run 30 steps of gradient descent from (0.5, 0.4, 0.3), and return the step numbers and the values of f.

    The value at step 0 is f at the starting point. The steps follow the gradient of `by`, a
    function of three numbers like f, with a learning rate of 0.1.
    """
    w, values = np.array([0.5, 0.4, 0.3]), []
    for _ in range(31):
        values.append(f(*w))
        w = w - 0.1 * np.array(grad(by, (0, 1, 2))(*w))
    return range(31), values


# --- Errors over steps ------------------------------------------------------------------------------------------------------


def _steps(box, n, powers, title, errors):
    """Return axes for errors on a logarithmic scale over the steps from 0 to n.

    Parameters
    ----------
    box : tuple
        Position and size of the axes, in pixels.
    n : int
        The last step.
    powers : tuple of int
        The lowest and the highest power of ten on the scale. If an error is smaller, the lowest label
        has a ≤.
    title : str
        Title above the axes.
    errors : sequence of float
        All errors that will be drawn.
    """
    plot = Axes(box, (0, n), powers)
    (low, words), *higher = decades(*powers, 1)
    less = "≤" * bool(np.min(errors) < 10.0**low)
    plot.frame(
        [(at, f"{at:,.0f}") for at, _ in ticks(0, n, 4)],
        [(low, less + words), *higher],
        "steps",
        title,
    )
    return plot


def _log(errors, powers):
    """Return log10 of the errors, where an error below the scale counts as the lowest power of ten.

    `powers` is the pair of the lowest and the highest power of ten on the scale.
    """
    return np.log10(np.maximum(errors, 10.0 ** powers[0]))


def _said(error, powers):
    """Return an error as text, or text such as "below 1e−10" if the error is below the scale.

    `powers` is the pair of the lowest and the highest power of ten on the scale.
    """
    return number(error) if error >= 10.0 ** powers[0] else f"below 1e{powers[0]}".replace("-", "−")


def courses(lines, title, powers, dots=()):
    """Draw one line of errors over steps for each entry of `lines`, on a logarithmic scale.

    Parameters
    ----------
    lines : dict of str to tuple
        A dict that maps the name of each line, at most three, to its pair (steps, errors).
    title : str
        Title of the picture.
    powers : tuple of int
        The lowest and the highest power of ten on the scale.
    dots : sequence of float
        Errors drawn as points without a connecting line, one for each step from 0 on. By default,
        no points are drawn.
    """
    n = max(steps[-1] for steps, _ in lines.values())
    plot = _steps(
        (80, 34, 302, 230),
        n,
        powers,
        title,
        [*dots, *(error for _, errors in lines.values() for error in errors)],
    )
    for step, y in enumerate(_log(dots, powers)):
        plot.dot(step, y, style.LINE, size=2)
    said, ends = [title], []
    looks = (style.INK, "none"), (style.OTHER, "9 3"), (style.FAINT, "2 3")
    for (name, (steps, errors)), (colour, dash) in zip(lines.items(), looks):
        height = _log(errors, powers)
        plot.line(steps, height, colour, 2.2, dash)
        ends.append((plot.at(0, height[-1])[1], name, errors[-1], colour))
        first, low, last = (_said(one, powers) for one in (errors[0], np.min(errors), errors[-1]))
        said.append(f"{name}: {first} at first, lowest {low}, {last} after {steps[-1]:,} steps")
    above = 246  # from the lowest label up, so that none comes among the numbers of the axis
    for py, name, last, colour in sorted(ends, reverse=True):
        py = above = min(py, above)
        plot.words(390, py, name, colour, "start", 13)
        plot.words(390, py + 16, _said(last, powers), colour, "start", 13)
        above -= 36
    if len(dots):
        said.append(f"circles, one per step: from {number(np.min(dots))} to {number(np.max(dots))}")
    text = "\n".join(said)
    return Picture(svg("0 0 560 310", "".join(plot.parts), text), text)


def fit(target, model, errors, step, title, span, powers):
    """Draw a target curve and a model's predictions, and beside them the mean squared error after each step.

    Parameters
    ----------
    target, model : tuple of two arrays
        The pair (xs, ys) of the target, and of the model after `step` steps.
    errors : sequence of float
        The mean squared error before the first step and after each step. The errors after `step`
        are pale.
    step : int
        The number of steps so far.
    title : str
        Title of the picture.
    span : tuple of float
        The lowest and the highest value of y in the plot.
    powers : tuple of int
        The lowest and the highest power of ten on the scale of the errors.
    """
    (xs, ys), (at, says) = target, model
    plot = Axes((48, 34, 330, 230), (min(at), max(at)), span)
    legend = "thick: the target"
    plot.frame(ticks(*plot.x), ticks(*span, 6), f"x  ({legend}, thin: the model)", title)
    plot.line(xs, ys, style.LINE, 5)
    plot.line(at, says, style.VALUE, 2.5)
    words = f"mean squared error {number(errors[step])}"
    right = _steps((52, 34, 230, 230), len(errors) - 1, powers, words, errors)
    height = _log(errors, powers)
    right.line(range(len(errors)), height, style.LINE, 1.5)
    right.line(range(step + 1), height[: step + 1], width=2.2)
    right.dot(step, height[step], fill=style.INK)
    text = f"{title}: {words} after {step} of {len(errors) - 1} steps"
    return Picture(
        beside(
            svg("0 0 396 310", "".join(plot.parts), f"{title}: {legend}; thin: the model"),
            svg("0 0 300 310", "".join(right.parts), text),
        ),
        text,
    )


# --- Graphs whose operations are left out -----------------------------------------------------------------------------------

WIDE, HIGH = 104, 56  # px, a card


def _short(x):
    """Return a number as text, rounded to four decimal places so that it fits on a narrow card."""
    return number(round(float(x), 4))


def _walked(values, edges):
    """Return the gradients of the last value with respect to all values, as a dict by name.

    `values` is a dict that maps names to values, with inputs before their users, and `edges` is a
    list of tuples (input, user, local gradient).
    """
    gradients = dict.fromkeys(values, 0.0) | {list(values)[-1]: 1.0}
    for z in reversed(values):
        for x, user, local in edges:
            if user == z:
                gradients[x] += gradients[z] * local
    return gradients


def _sketch(values, edges, places, size, known, shut=()):
    """Return the SVG of a small graph and its description as text.

    The graph has a card for each value and, on each arrow, the arrow's local gradient.

    Parameters
    ----------
    values : dict of str to float
        The values by name, inputs before users.
    edges : list of tuple
        (input, user, local gradient) for each arrow.
    places : dict of str to tuple
        For each name, the centre of its card, in pixels.
    size : tuple of float
        Width and height of the picture, in pixels.
    known : collection of str
        Names of the values that are data, and therefore have no gradient.
    shut : collection of str
        Names of the relu units that are closed, and are drawn pale.
    """
    gradients, plot, barred = _walked(values, edges), Axes((0, 0, *size), (0, 1), (0, 1)), False
    for x, z, local in edges:
        if x in known:
            _arrow(plot, places[x], places[z])
            continue
        passes = float(gradients[z] * local)
        barred |= passes == 0
        (px, py) = _arrow(plot, places[x], places[z], passes)
        words = number(local, 3)
        half = 8 + 2.9 * len(words)
        plot.parts.append(
            f'<rect x="{px - half:.1f}" y="{py - 10:.1f}" width="{2 * half:.1f}" height="20" rx="10" fill="{style.PAPER}" '
            f'stroke="{style.LINE}"/>'
        )
        plot.words(px, py + 4, words, style.INK if passes else style.FAINT, size=13)
    for name, (px, py) in places.items():
        off, left, top = name in shut, px - WIDE / 2, py - HIGH / 2
        made = any(z == name for _, z, _ in edges)
        head = style.PANEL if off else style.GROUND if made else style.LEAF_GROUND
        plot.parts.append(
            f'<rect x="{left}" y="{top}" width="{WIDE}" height="{HIGH}" rx="6" fill="{style.PAPER}"/>'
            f'<path d="M{left},{top + 22}v-16q0,-6 6,-6h{WIDE - 12}q6,0 6,6v16z" fill="{head}"/>'
            f'<rect x="{left}" y="{top}" width="{WIDE}" height="{HIGH}" rx="6" fill="none" '
            f'stroke="{style.LINE if off else style.FAINT}" '
            f'stroke-dasharray="{"2 3" if off else "none"}"/>'
        )
        plot.words(
            px, top + 16, name + ", closed" * off, style.FAINT if off else style.INK, size=13
        )
        if name in known:
            plot.words(px, top + 42, _short(values[name]), style.VALUE, size=13)
        else:
            for down, words, colour in [
                (36, f"value {_short(values[name])}", style.FAINT if off else style.VALUE),
                (
                    51,
                    f"grad {_short(gradients[name])}",
                    style.GRADIENT if gradients[name] else style.FAINT,
                ),
            ]:
                plot.parts.append(
                    formatting.words(px, top + down, words, colour, size=13, most=WIDE - 10)
                )
    plot.words(
        4,
        size[1],
        "on an arrow: its local gradient" + "; barred: 0" * barred,
        style.FAINT,
        "start",
        13,
    )
    said = [", ".join(f"{name} {_short(values[name])}" for name in known)]
    for name in values:
        locals = [f"{x} {_short(local)}" for x, z, local in edges if z == name and x not in known]
        if name not in known:
            said.append(
                f"{name}{', closed' * (name in shut)}: value {_short(values[name])}, gradient {_short(gradients[name])}"
                + ("; local gradients: " + ", ".join(locals)) * bool(locals)
            )
    return "".join(plot.parts), "\n".join(said)


def _arrow(plot, start, end, passes=None):
    """Draw an arrow from one card to another, and return the position (x, y) for the number on it.

    `start` and `end` are the centres of the cards, and `passes` is the gradient that goes back
    along the arrow. A larger gradient makes the arrow thicker. The arrow is dashed and barred if
    the gradient is 0, and is thin if `passes` is None, because no gradient goes to data.
    """
    (ax, ay), (bx, by) = start, end
    dx, dy = bx - ax, by - ay
    part = min(WIDE / 2 / abs(dx) if dx else 9, HIGH / 2 / abs(dy) if dy else 9)
    ax, ay, bx, by = ax + part * dx, ay + part * dy, bx - part * dx, by - part * dy
    far = np.hypot(dx, dy)
    ux, uy = dx / far, dy / far
    dash, width = (
        ("2 3", 1.5)
        if passes == 0
        else ("none", 1.5 if passes is None else min(5.0, max(1.0, 2 + np.log10(abs(passes)))))
    )
    plot.parts.append(
        f'<path d="M{ax:.1f} {ay:.1f}L{bx - 5 * ux:.1f} {by - 5 * uy:.1f}" fill="none" '
        f'stroke="{style.LINE}" stroke-width="{width:.2g}" stroke-dasharray="{dash}"/>'
        f'<path d="M{bx:.1f} {by:.1f}l{-8 * ux - 4 * uy:.1f} {-8 * uy + 4 * ux:.1f}l{8 * uy:.1f} {-8 * ux:.1f}z" '
        f'fill="{style.LINE}"/>'
    )
    if passes == 0:
        for back in (10, 14):
            x, y = bx - back * ux, by - back * uy
            plot.parts.append(
                f'<path d="M{x - 7 * uy:.1f} {y + 7 * ux:.1f}L{x + 7 * uy:.1f} {y - 7 * ux:.1f}" stroke="{style.INK}" '
                f'stroke-width="1.4"/>'
            )
        ax, ay, bx, by = (
            ax - 4 * ux,
            ay - 4 * uy,
            bx - 4 * ux,
            by - 4 * uy,
        )  # the number keeps off the bars
    return (ax + bx) / 2, (ay + by) / 2


def _slide(w1, w2, w3, x, y):
    """Return the nodes of the graph on the lesson's slide, and its local gradients.

    The local gradients are a dict with a key (input, user) for each edge.

    The graph computes a = x², b = (w₁·a + w₃)², c = (w₂·b + w₃)², ŷ = sin(b + c), L = (ŷ − y)².
    """
    a = x * x
    p = w1 * a + w3
    b = p * p
    q = w2 * b + w3
    c = q * q
    y_hat = np.sin(b + c)
    slope, error = np.cos(b + c), y_hat - y
    values = {"w₁": w1, "w₃": w3, "b": b, "w₂": w2, "c": c, "ŷ": y_hat, "L": error * error}
    edges = [
        ("w₁", "b", 2 * p * a),
        ("w₃", "b", 2 * p),
        ("b", "c", 2 * q * w2),
        ("w₂", "c", 2 * q * b),
        ("w₃", "c", 2 * q),
        ("b", "ŷ", slope),
        ("c", "ŷ", slope),
        ("ŷ", "L", 2 * error),
    ]
    inside = {
        "b": f"(w₁·{_short(a)} + w₃)²",
        "c": "(w₂·b + w₃)²",
        "ŷ": "sin(b + c)",
        "L": f"(ŷ − {_short(y)})²",
    }
    gradients, nodes = _walked(values, edges), []
    for name, value in values.items():
        into = tuple((source, _short(local)) for source, user, local in edges if user == name)
        nodes.append(
            graph.Node(
                name,
                name,
                None,
                {},
                np.round(value, 4),
                np.round(gradients[name], 4),
                into,
                (None,) * len(into),
                (True,) * len(into),
                True,
                (inside[name],) if name in inside else (),
            )
        )
    return nodes, {(source, user): local for source, user, local in edges}


def slide_graph(w1, w2, w3, x, y):
    """Draw the graph on the lesson's slide at the given weights and data, with its local gradients."""
    nodes, _ = _slide(w1, w2, w3, x, y)
    given = f"x {_short(x)}, a {_short(x * x)}, y {_short(y)}"
    text = f"The graph of L at {given}, its operations left out\n{graph.describe(nodes)}"
    placed = graph.layout(nodes)
    return Picture(
        graph.listed(text) if placed is None else graph.draw(nodes, placed, text),
        text,
        says_all=True,
    )


FROM_W3 = ["w₃ b ŷ L", "w₃ c ŷ L", "w₃ b c ŷ L"]  # its paths; the slide forgot the last


def stacked_paths(w1, w2, w3, x, y, paths):
    """Draw the graph on the lesson's slide with one path from w₃ to L highlighted.

    Beside it, the contributions of the paths so far are drawn as a stack. `paths` is the number of
    these paths, 1 to 3, and the last of them is highlighted. The other arguments are the weights
    and the data. All local gradients on the paths must be positive, as they are in the lesson.
    """
    nodes, local = _slide(w1, w2, w3, x, y)
    ways = [list(pairwise(path.split())) for path in FROM_W3]
    brings = [prod(local[edge] for edge in way) for way in ways]
    slots = {
        (source, node.key): slot for node in nodes for slot, (source, _) in enumerate(node.inputs)
    }
    lit = {(user, slots[source, user]): "now" for source, user in ways[paths - 1]}
    factors = " · ".join(_short(local[edge]) for edge in ways[paths - 1])
    stack = " + ".join(
        f"{each:.4f}" for each in brings[:paths]
    ) + f" = {sum(brings[:paths]):.4f}" * (paths > 1)
    way = FROM_W3[paths - 1].replace(" ", " → ")
    said = [
        f"Path {paths} of {len(ways)} from w₃ to L",
        way + ", which the slide leaves out" * (paths == 3),
        f"{factors} = {brings[paths - 1]:.4f}",
        ("so far ", "all ")[paths == 3] + stack,
    ]
    plot = Axes((20, 86, 560, 44), (0, sum(brings)), (0, 1))
    for line, words in enumerate(said[1:]):
        plot.words(20, 22 + 24 * line, words, anchor="start")
    for nth, (begins, each) in enumerate(zip(accumulate(brings, initial=0), brings), 1):
        left, wide = plot.at(begins, 1)[0], each / sum(brings) * 560
        plot.parts.append(
            formatting.cell(left, 86, wide, 44, look="gradient" if nth <= paths else "ghost")
        )
        if nth == paths == 3:  # hatched: what the slide forgot
            strokes = "".join(f"M{left + at:.1f} 126l14 -36" for at in range(6, int(wide) - 18, 10))
            plot.parts.append(f'<path d="{strokes}" stroke="{style.GRADIENT}"/>')
        if nth <= paths:
            plot.words(left + wide / 2, 113, f"{each:.4f}", halo=True)
    placed = graph.layout(nodes)
    drawn = (
        graph.listed(graph.describe(nodes))
        if placed is None
        else graph.draw(nodes, placed, said[0], beads=lit)
    )
    sums = svg("0 0 600 144", "".join(plot.parts), "\n".join(said[1:]))
    return Picture(
        beside(sums, drawn), "\n".join(said), says_all=True
    )  # the graph, which is high, scrolls in JupyterLab


TALK = {
    "w₁": (53, 40),
    "a": (53, 150),
    "x": (53, 260),
    "w₂": (53, 370),
    "b": (206, 40),
    "w₃": (206, 150),
    "c": (206, 260),
    "ŷ": (350, 150),
    "L": (350, 290),
    "y": (350, 385),
}


def _relu(x):
    return np.maximum(x, 0.0)


def kink(w, x, step, target, best):
    """Draw the model at one training step: its curve, its two branches, and its graph at one x.

    Parameters
    ----------
    w : tuple of float
        The weights (w₁, w₂, w₃) after `step` steps.
    x : float
        The input shown in the graph, from 0 to 1.
    step : int
        The number of training steps so far.
    target : callable
        The function that the model learns.
    best : float
        The mean squared error on a grid after `step` steps.
    """
    w1, w2, w3 = map(float, w)
    steps = counted(step, "step")
    xs = np.linspace(0, 1, 101)
    branches = {"b": _relu(w1 * xs**2 + w3), "c": _relu(w2 * xs**2 + w3)}
    says = 4 * np.sin(branches["b"] + branches["c"])
    left, right = (
        Axes((44, 34, 330, 190), (0, 1), (-1.5, 4.5)),
        Axes((44, 34, 330, 190), (0, 1), (-0.1, 2.4)),
    )
    left.frame(
        ticks(0, 1, 5),
        ticks(-1.5, 4.5, 6),
        "x  (thick: 4 sin x⁴, thin: the model)",
        f"after {steps}: mean squared error {number(best)}",
    )
    left.line(xs, target(xs), style.LINE, 5)
    left.line(xs, says, style.VALUE, 2.5)
    right.frame(
        ticks(0, 1, 5), ticks(0, 2.4, 6), "x  (dotted: the x of the graph)", "the two branches"
    )
    for plot in (left, right):  # behind the legend
        plot.line([x, x], plot.y, style.INK, 1, "1 4")
    said = [
        f"After {steps}: w₁ {number(w1)}, w₂ {number(w2)}, w₃ {number(w3)}; mean squared error {number(best)}"
    ]
    for (name, ys), weight, dash in zip(branches.items(), (w1, w2), ("none", "9 3")):
        right.line(xs, ys, style.INK, 2.5, dash)
        opens = np.flatnonzero(ys)
        words = (
            "closed everywhere"
            if not opens.size
            else "open everywhere"
            if opens.size > 99
            else f"open {'from' if weight > 0 else 'up to'} x = {number(round(np.sqrt(-w3 / weight), 2))}"
        )
        right.key(
            54,
            52 + 20 * (name == "c"),
            f"{name}: {words}",
            style.INK if opens.size else style.FAINT,
            2.5,
            dash,
        )
        said.append(f"branch {name}: {words}")
    graph, words = _talk_graph(w1, w2, w3, x, target(x))
    panels = beside(
        svg("0 0 390 270", "".join(left.parts), said[0]),
        svg("0 0 390 270", "".join(right.parts), "\n".join(said[1:])),
    )
    text = "\n".join([*said, f"The graph at x = {number(x)}", words])
    return Picture(
        panels + svg("0 4 404 430", graph, f"the graph at x = {number(x)}\n{words}"), text
    )


def _talk_graph(w1, w2, w3, x, y):
    a = x * x
    p, q = w1 * a + w3, w2 * a + w3
    b, c = _relu(p), _relu(q)
    y_hat, slope = 4 * np.sin(b + c), 4 * np.cos(b + c)
    values = {
        "x": x,
        "y": y,
        "w₁": w1,
        "w₂": w2,
        "w₃": w3,
        "a": a,
        "b": b,
        "c": c,
        "ŷ": y_hat,
        "L": (y_hat - y) ** 2,
    }
    edges = [
        ("x", "a", 0.0),
        ("a", "b", 0.0),
        ("a", "c", 0.0),
        ("y", "L", 0.0),
        ("w₁", "b", a * (p > 0)),
        ("w₃", "b", 1.0 * (p > 0)),
        ("w₂", "c", a * (q > 0)),
        ("w₃", "c", 1.0 * (q > 0)),
        ("b", "ŷ", slope),
        ("c", "ŷ", slope),
        ("ŷ", "L", 2 * (y_hat - y)),
    ]
    shut = [name for name, inner in [("b", p), ("c", q)] if inner <= 0]
    return _sketch(values, edges, TALK, (404, 425), ("x", "y", "a"), shut)
