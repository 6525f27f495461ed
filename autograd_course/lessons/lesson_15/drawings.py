"""Draw the pictures of lesson 15: tangents in a graph, their errors, sweeps and their time, and a throw."""

from statistics import median
from time import perf_counter

import numpy as np

from ...drawing import style
from ...drawing.axes import DOTS, Axes, decades, ticks
from ...drawing.formatting import cell, counted, number
from ...drawing.picture import Picture, svg

STEPS = 7
LOWEST = -16  # powers of ten: below that a float has no digits left


def lag(push, start, value, tangent):
    """Draw the errors of a loop's value and of its tangent after 0 to 7 steps.

    `push(k)` returns the value and the tangent after k steps from `start`, and `value` and
    `tangent` are the exact results.
    """
    errors = np.abs([np.subtract(push(k), (value, tangent)) for k in range(STEPS + 1)]).T
    plot = Axes((72, 36, 426, 250), (0, STEPS), (LOWEST, 1))
    plot.frame(
        [(k, str(k)) for k in range(STEPS + 1)],
        decades(LOWEST, 1, 4),
        "steps of the loop",
        "Absolute error",
    )
    for error, name, colour, dash, fill in [
        (errors[0], "value", style.VALUE, "none", style.VALUE),
        (errors[1], "tangent", style.TANGENT, DOTS, style.PAPER),
    ]:
        height = np.log10(np.maximum(error, 10.0**LOWEST))
        plot.line(range(STEPS + 1), height, colour, 2.4, dash)
        for k, y in enumerate(height):
            plot.dot(k, y, colour, fill, size=4)
        seen = int(np.argmax(height < LOWEST + 3)) if np.any(height < LOWEST + 3) else STEPS
        px, py = plot.at(max(seen - 1, 0), height[max(seen - 1, 0)])
        left = name == "value"
        plot.words(
            px - 12 if left else px + 12,
            py + (20 if left else -8),
            name,
            colour,
            "end" if left else "start",
            halo=True,
        )
    lines = [f"start {number(start)}: the errors after each step"]
    for k, (of_value, of_tangent) in enumerate(errors.T):
        more = (
            f", {number(of_tangent / of_value)} times as far"
            if of_value > 1e-14 and of_tangent > 1e-14
            else ""
        )
        lines.append(
            f"step {k}: value off by {number(of_value)}, tangent by {number(of_tangent)}{more}"
        )
    text = "\n".join(lines)
    return Picture(svg("0 0 540 340", "".join(plot.parts), text), text)


def _arrow(points, colour, width, dash="none", tip=6):
    """Return SVG parts of an arrow along straight lines through `points`, pairs (x, y) in px."""
    (x, y), (u, v) = points[-2:]
    far = np.hypot(u - x, v - y)
    dx, dy = (u - x) / far * tip, (v - y) / far * tip
    path = "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
    return [
        f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-dasharray="{dash}"/>',
        f'<path d="M{u - 1.4 * dx - 0.7 * dy:.1f} {v - 1.4 * dy + 0.7 * dx:.1f}L{u:.1f} {v:.1f}'
        f'L{u - 1.4 * dx + 0.7 * dy:.1f} {v - 1.4 * dy - 0.7 * dx:.1f}z" fill="{colour}"/>',
    ]


# One step of Heron's loop: the cards (their upper left corners in px), and the arrows that lead to each.
CARDS = {"a": (6, 62), "x": (6, 192), "y": (220, 62), "s": (220, 192), "s / 2": (434, 192)}
WIDE, UNIT = 120, 28  # of a card, and of 1 on its line, in px
LEADING = {
    "y": [("a", [(126, 104), (218, 104)]), ("x", [(126, 208), (218, 130)])],
    "s": [("x", [(126, 234), (218, 234)]), ("y", [(280, 148), (280, 190)])],
    "s / 2": [("s", [(340, 234), (432, 234)])],
}
TITLES = {"a": "a", "x": "x", "y": "y = a / x", "s": "s = x + y", "s / 2": "s / 2"}
DOTTED = {"a": "ȧ", "x": "ẋ", "y": "ẏ", "s": "ṡ", "s / 2": "the tangent of s / 2"}


def _heron(a, start, count):
    """Return what the loop computes in `count` operations, from the number `start`.

    `a` is a pair (value, tangent). There is a list of dicts, one before the first operation and one
    after each. A dict maps each name of CARDS that is computed in this step of the loop to
    (value, tangent, [(local gradient, tangent of the input), ...]).
    """
    known = {"a": (*a, []), "x": (start, 0.0, [])}
    states = [dict(known)]
    for k in range(count):
        name = [*LEADING][k % 3]
        if name == "y" and k:
            known = {"a": known["a"], "x": (*known["s / 2"][:2], [])}
        x, y, s = (known.get(one, (0.0,))[0] for one in "xys")
        value, local = {
            "y": lambda: (a[0] / x, [1 / x, -a[0] / x**2]),
            "s": lambda: (x + y, [1.0, 1.0]),
            "s / 2": lambda: (s / 2, [0.5]),
        }[name]()
        parts = [(d, known[source][1]) for d, (source, _) in zip(local, LEADING[name])]
        known[name] = value, sum(d * t for d, t in parts), parts
        states.append(dict(known))
    return states


def carry(operations, a=2.0, start=1.0):
    """Draw one step of the loop for √a as a graph, with a value and a tangent at each node.

    `operations` is how many of them have run, three for each step of the loop. The tangent
    of `a` is 1, and that of `start`, the first x, is 0.
    """
    known = _heron((a, 1.0), start, operations)[-1]
    now = [*LEADING][(operations - 1) % 3] if operations else None
    plot = Axes((0, 0, 1, 1), (0, 1), (0, 1))
    plot.words(
        12, 24, f"Step {max(operations - 1, 0) // 3 + 1} of the loop", anchor="start", size=16
    )
    plot.parts.append(f'<path d="M232 12v16" stroke="{style.VALUE}" stroke-width="3"/>')
    plot.words(240, 24, "value", style.VALUE, "start", 13)
    plot.parts.append(
        f'<path d="M302 12v16" stroke="{style.TANGENT}" stroke-width="3" stroke-dasharray="2 2"/>'
    )
    plot.words(310, 24, "tangent", style.TANGENT, "start", 13)
    for name, arrows in LEADING.items():
        for slot, (_, points) in enumerate(arrows):
            looks = (
                (style.TANGENT, 2.4, DOTS)
                if name == now
                else (style.INK if name in known else style.LINE, 1.4)
            )
            plot.parts += _arrow(points, *looks)
            if name == now:
                (x, y), (u, v) = points
                local = f"×{_signed(known[name][2][slot][0])}"
                plot.words((x + u) / 2 - 4, (y + v) / 2 + 4, local, size=13, halo=True)
    plot.parts += _arrow([(494, 284), (494, 306), (66, 306), (66, 280)], style.LINE, 1.4)
    plot.words(280, 302, "the next x", style.FAINT, size=13, halo=True)
    for name, (left, top) in CARDS.items():
        here = name == now
        plot.parts.append(
            f'<rect x="{left}" y="{top}" width="{WIDE}" height="84" rx="6" fill="{style.PAPER}" '
            f'stroke="{style.INK if name in known else style.LINE}" stroke-width="{3 if here else 1.2}"/>'
            f'<path d="M{left + 2} {top + 22}h{WIDE - 4}" stroke="{style.LINE}" stroke-width="0.8"/>'
        )
        plot.words(left + WIDE / 2, top + 16, TITLES[name], size=13)
        if name not in known:
            plot.words(left + WIDE / 2, top + 52, "not yet", style.FAINT, size=13)
            continue
        value, tangent, _ = known[name]
        plot.parts.append(
            f'<path d="M{left + 10} {top + 27}v15" stroke="{style.VALUE}" stroke-width="3"/>'
            f'<path d="M{left + 10} {top + 45}v15" stroke="{style.TANGENT}" stroke-width="3" stroke-dasharray="2 2"/>'
        )
        plot.words(left + 114, top + 39, number(value), style.VALUE, "end", 13)
        plot.words(left + 114, top + 57, number(tangent), style.TANGENT, "end", 13)
        at, line = left + 4 + UNIT * value, top + 72  # the line goes from 0 to 4
        marks = "".join(f"M{left + 4 + UNIT * k} {line - 3}v6" for k in range(5))
        plot.parts.append(f'<path d="M{left + 4} {line}h{4 * UNIT}{marks}" stroke="{style.LINE}"/>')
        plot.mark(at, line, style.VALUE, style.VALUE, size=2.5)
        if tangent:  # above the dot, which would hide a short arrow
            points = [(at, line), (at + UNIT * tangent, line)]
            plot.parts += _arrow(points, style.TANGENT, 2.6, tip=4)
    lines = [
        f"Step {max(operations - 1, 0) // 3 + 1} of the loop, after {counted(operations, 'operation')}"
    ]
    lines += [f"{TITLES[name]}: value {number(known[name][0])}, tangent {number(known[name][1])}" for name in known]  # fmt: skip
    if now:
        _, tangent, parts = known[now]
        work = " + ".join(f"{_signed(d)} × {_signed(t)}" for d, t in parts)
        work = f"{DOTTED[now]} = {work} = {number(tangent)}"
        plot.words(280, 336, work, style.TANGENT, size=14)
        lines.append(work)
    text = "\n".join(lines)
    return Picture(svg("0 0 560 352", "".join(plot.parts), text), text, says_all=True)


def _signed(x):
    """Return a number as text, in brackets if it is negative."""
    return f"({number(x)})" if x < 0 else number(x)


# The graph of z₁ = x · p and z₂ = w · p, where p = y + w: the boxes (their upper left corners in px),
# and the arrows from input to result, with the position of the factor.
AT = {"x": (4, 72), "y": (4, 152), "w": (4, 232), "p": (142, 152), "z₁": (280, 92), "z₂": (280, 212)}  # fmt: skip
EDGES = [
    ("x", "z₁", [(84, 94), (278, 104)], (156, 102)),
    ("y", "p", [(84, 174), (140, 174)], (112, 178)),
    ("w", "p", [(84, 244), (140, 192)], (113, 222)),
    ("p", "z₁", [(222, 166), (278, 128)], (250, 152)),
    ("p", "z₂", [(222, 182), (278, 220)], (250, 205)),
    ("w", "z₂", [(84, 256), (278, 242)], (180, 253)),
]
INPUTS, OUTPUTS = ("x", "y", "w"), ("z₁", "z₂")


def _swept(values, seed, forward):
    """Return the numbers that one sweep from the node `seed` puts at each node, as a dict.

    `values` maps each node to its value. A number is a tangent if `forward`, otherwise a gradient.
    """
    local = _local(values)
    found = dict.fromkeys(AT, 0.0) | {seed: 1.0}
    edges = sorted(local, key=lambda edge: edge[0] == "p")  # p is complete before it is read
    if not forward:
        edges = [(to, source) for source, to in reversed(edges)]
    for source, to in edges:
        found[to] += found[source] * local[(source, to) if forward else (to, source)]
    return found


def _local(values):
    """Return the local gradient of each arrow, by (input, result)."""
    return {
        ("x", "z₁"): values["p"],
        ("y", "p"): 1.0,
        ("w", "p"): 1.0,
        ("p", "z₁"): values["x"],
        ("p", "z₂"): values["w"],
        ("w", "z₂"): values["p"],
    }


def passes(sweep, x=4.0, y=3.0, w=2.0):
    """Draw a sweep through the graph of three inputs and two outputs, and the Jacobian so far.

    Sweeps 1 to 3 are forward, with the seed 1 at x, y and w. Sweeps 4 and 5 are backward, with the
    seed 1 at z₁ and z₂. Sweep 0 is the state before the first.
    """
    p = y + w
    values = {"x": x, "y": y, "w": w, "p": p, "z₁": x * p, "z₂": w * p}
    local, forward, nodes = _local(values), sweep <= 3, INPUTS + OUTPUTS
    seed = nodes[sweep - 1] if sweep else None
    found = _swept(values, seed, forward) if sweep else {}
    mode, colour, dash = (
        ("forward", style.TANGENT, DOTS) if forward else ("backward", style.GRADIENT, "6 4")
    )
    title = f"Sweep {sweep}, {mode}: the seed is 1 at {seed}" if sweep else "Before the first sweep"
    plot = Axes((0, 0, 1, 1), (0, 1), (0, 1))
    plot.words(12, 24, title, colour if sweep else style.INK, "start", 16)
    for source, to, points, (px, py) in EDGES:
        carried = sweep and found[source if forward else to]
        looks = (colour, 2.4, dash) if carried else (style.LINE, 1.4)
        plot.parts += _arrow(points if forward else points[::-1], *looks)
        plot.words(px, py, f"×{_signed(local[source, to])}", size=13, halo=True)
    for name, (left, top) in AT.items():
        plot.parts.append(
            f'<rect x="{left}" y="{top}" width="80" height="46" rx="6" fill="{style.PAPER}" '
            f'stroke="{style.INK}" stroke-width="{3 if name == seed else 1.2}"/>'
        )
        plot.words(left + 40, top + 18, f"{name} = {number(values[name])}", style.VALUE, size=13)
        plot.words(left + 40, top + 38, number(found[name]) if sweep else "?", colour if sweep else style.FAINT)  # fmt: skip
    lines = [title]
    if sweep:
        lines.append(", ".join(f"{name} has {number(found[name])}" for name in AT))
    full = np.array([[_swept(values, name, True)[z] for name in INPUTS] for z in OUTPUTS])
    for top, name, kind, got, axis in [
        (88, "forward", "column", min(sweep, 3), 1),
        (224, "backward", "row", max(sweep - 3, 0), 0),
    ]:
        left, shade = 398, style.TANGENT if axis else style.GRADIENT
        shades = "tangent" if axis else "gradient"
        plot.words(left - 24, top - 28, f"{name}, {kind} by {kind}", shade, "start", 13)
        known = np.indices(full.shape)[axis] < got
        words = [[number(v) if k else "?" for v, k in zip(*row)] for row in zip(full, known)]
        for k, of in enumerate(INPUTS):
            plot.words(left + 25 + 50 * k, top - 6, of, style.FAINT, size=13)
        for i, z in enumerate(OUTPUTS):
            plot.words(left - 8, top + 20 + 32 * i, z, style.FAINT, "end", 13)
            for k in range(3):
                new = name == mode and (k if axis else i) == got - 1
                plot.parts.append(
                    cell(left + 50 * k, top + 32 * i, 50, 32, words[i][k],
                         shades if known[i, k] else "ghost", framed=new)
                )  # fmt: skip
        lines.append(f"J {name}, {kind} by {kind}: {'; '.join(map(' '.join, words))}")
    text = "\n".join(lines)
    return Picture(svg("0 0 560 300", "".join(plot.parts), text), text, says_all=True)


def crossing(outputs, forward, backward, n):
    """Draw the time for a whole Jacobian in forward mode and in backward mode over the number of outputs.

    `outputs` lists the numbers of outputs, `forward` and `backward` list the times in milliseconds,
    and `n` is the number of inputs.
    """
    across = np.log10(outputs)
    low, high = np.log10([min(forward + backward) / 1.5, max(forward + backward) * 1.5])
    plot = Axes((64, 36, 370, 230), (across[0], across[-1]), (low, high))
    powers = range(int(np.ceil(low)), int(np.floor(high)) + 1)
    plot.frame(
        [(x, f"{m:,}") for x, m in zip(across, outputs)],
        [(p, number(10.0**p)) for p in powers],
        f"outputs m, for {n} inputs",
        "Milliseconds for the whole Jacobian",
    )
    plot.line([np.log10(n)] * 2, [low, high], style.LINE, 1.5, "3 4")
    plot.words(plot.at(np.log10(n), 0)[0] - 6, 50, "m = n", style.FAINT, "end", 13)
    for times, name, colour, dash in [
        (forward, "forward", style.TANGENT, DOTS),
        (backward, "backward", style.GRADIENT, "7 4"),
    ]:
        plot.line(across, np.log10(times), colour, 2.4, dash)
        plot.words(442, plot.at(0, np.log10(times[-1]))[1] + 5, name, colour, "start")
    lines = [f"{n} inputs; milliseconds for the whole Jacobian"]
    lines += [
        f"{counted(m, 'output')}: forward {number(a)}, backward {number(b)}"
        for m, a, b in zip(outputs, forward, backward)
    ]
    text = "\n".join(lines)
    return Picture(svg("0 0 560 326", "".join(plot.parts), text), text)


def flight(path, tangent, angle):
    """Draw the path of a throw, and how far each of its points moves if the angle grows by five degrees.

    An arrow below the ground shows the same for the landing point.

    Parameters
    ----------
    path : array of shape (steps, 2)
        The position (x, y) after each step, in metres. The throw starts at (0, 0), and only the
        last position is below the ground.
    tangent : array of shape (steps, 2)
        The derivative of each position with respect to the angle, in metres per degree.
    angle : float
        The angle of the throw, in degrees.
    """
    path, tangent = np.vstack([[0, 0], path]), np.vstack([[0, 0], tangent])
    plot = Axes((46, 30, 506, 264), (0, 84), (-4, 42))
    plot.frame(
        ticks(0, 80, 8),
        ticks(0, 40, 4),
        "distance in metres",
        f"Height in metres, thrown at {number(angle)} degrees",
    )
    (x0, y0), (x1, y1) = path[-2:]
    (u0, v0), (u1, v1) = tangent[-2:]
    share = y0 / (y0 - y1)  # where between the last two points it comes down
    moves = (v0 * (y0 - y1) - y0 * (v0 - v1)) / (y0 - y1) ** 2 * (x1 - x0) + share * (u1 - u0) + u0
    lands = x0 + share * (x1 - x0)
    further = path + 5 * tangent
    plot.line(*np.vstack([path[:-1], [lands, 0]]).T, style.VALUE, 2.6)
    plot.line(*further.T, style.TANGENT, 2.4, DOTS)
    plot.line(*_to_the_ground(further).T, style.TANGENT, 1.2, DOTS)
    ink = f'stroke="{style.TANGENT}" stroke-width="1.2" fill="none"'
    for at, to in list(zip(path, further))[3:-1:4]:
        (x, y), (u, v) = plot.at(*at), plot.at(*to)
        far = np.hypot(u - x, v - y)
        plot.parts.append(f'<path d="M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}" {ink}/>')
        if far > 7:
            ax, ay = (u - x) / far * 6, (v - y) / far * 6
            plot.parts.append(
                f'<path d="M{u - ax - ay / 2:.1f} {v - ay + ax / 2:.1f}L{u:.1f} {v:.1f}'
                f'L{u - ax + ay / 2:.1f} {v - ay - ax / 2:.1f}" {ink}/>'
            )
        plot.dot(*at, style.VALUE, style.VALUE, size=2.5)
    (x, ground), (to, _) = plot.at(lands, 0), plot.at(lands + 5 * moves, 0)
    plot.parts.append(f'<path d="M{x:.1f} {ground:.1f}v20" stroke="{style.INK}"/>')
    plot.dot(lands, 0, style.INK, style.PAPER, size=4)
    if abs(to - x) > 0.1:  # an arrow that is shorter than its head has a smaller head
        points = [(x, ground + 12), (to, ground + 12)]
        plot.parts += _arrow(points, style.TANGENT, 4, tip=min(abs(to - x) / 1.4, 8))
    rate = f"{number(moves)} m per degree"
    plot.words(min(x, to) - 8, ground + 17, rate, style.TANGENT, "end", 13)
    more = "farther" if moves > 0 else "less far"
    for py, words in [
        (356, "dotted: 5 degrees more, by the tangent"),
        (376, "below the ground: the same for the landing point"),
    ]:
        plot.words(12, py, words, style.TANGENT, "start", 13)
    text = (
        f"Thrown at {number(angle)} degrees it lands at {number(lands)} m, after {len(path) - 1} steps.\n"
        f"Its tangent there: {number(moves)} m per degree, so a little more angle makes it land {more}."
    )
    return Picture(svg("0 0 560 388", "".join(plot.parts), text), text)


def _to_the_ground(path):
    """Return how the path continues from its last point to the ground, as an array of points.

    The positions after further steps are extrapolated from the last three.
    """
    points = [*path[-3:]]
    while points[-1][1] > 0:
        points.append(3 * points[-1] - 3 * points[-2] + points[-3])
    (x0, y0), (x1, y1) = points[-2:]
    if len(points) > 3:  # end on the ground
        points[-1] = np.array([x0 + (x1 - x0) * y0 / (y0 - y1), 0.0])
    return np.array(points[2:])


def medians(*jobs, rounds=5):
    """Return a list of the median time of each job, in milliseconds and never 0.

    `jobs` are functions without arguments. All of them run once in each of the `rounds` rounds.
    """
    times = []
    for _ in range(rounds):
        for job in jobs:
            start = perf_counter()
            job()
            while perf_counter() == start:  # a browser's clock ticks in steps of 0.1 or 1 ms
                pass
            times.append(perf_counter() - start)
    return [1000 * median(times[i :: len(jobs)]) for i in range(len(jobs))]
