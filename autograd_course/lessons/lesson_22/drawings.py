"""Draw the pictures of lesson 22: weights of one bit, a closed path, and the two loops of a fixed point."""

import numpy as np

import autograd_lib as ag

from ...drawing import style
from ...drawing.axes import Axes, ticks
from ...drawing.formatting import counted, number
from ...drawing.picture import Picture, beside, svg

HIGHEST, ALONE = 2.0, 0.5  # of several weights and of one: if |target| < 1, none goes farther
FARTHEST = 1.5  # of the target
DRAWN = 16  # lines at most, of n weights
TURN = 2 * np.pi
LAST = 4  # rounds of z that are not faint
ROUNDS = 40  # on the scale of u


def votes(w, target):
    """Draw n weights at every step, and below them the mean of their bits, which are their signs.

    `w` has shape (steps, n), and `target` is the number that the mean of the bits should reach.
    For one weight, the mean of its bits over the steps so far is drawn as well. Of more than
    DRAWN weights, only DRAWN are drawn.
    """
    steps, n = w.shape
    q = np.where(w >= 0, 1, -1)
    means = np.mean(q, axis=1)
    late = means[steps // 2 :]
    low, high = (number(round(float(end), 3)) for end in (np.min(late), np.max(late)))
    over_time = np.cumsum(means) / np.arange(1, steps + 1)
    if n == 1:
        said = f"q is +1 in {np.sum(q > 0)} of {steps} steps: its mean is {number(round(over_time[-1], 3))}"
        name, most = "w", ALONE
    else:
        reached = low if low == high else f"{low} to {high}"
        said = f"mean of {n} bits, in the last {len(late)} steps: {reached}"
        name = f"the {n} weights" if n <= DRAWN else f"{DRAWN} of the {n} weights"
        most = HIGHEST
    lines = w[:, :: max(1, n // DRAWN)]
    above = Axes((58, 36, 418, 180), (0, steps), (-most, most))
    above.frame(ticks(0, steps, 10), ticks(-most, most, 4), "", name)
    above.line([0, steps], [0, 0], style.INK, 1.4)
    every = 1 if n < DRAWN else 3  # the steps of many weights are smooth: fewer points will do
    for line in lines.T:
        above.line(range(0, steps, every), line[::every], style.VALUE, 2 if n == 1 else 1.2)
    last = w[-1, np.argmax(np.abs(w[-1]))]
    if np.max(np.abs(w)) > most:
        y = above.at(0, np.sign(last) * most)[1] + (5 if last > 0 else -6)
        above.words(483, y, f"to {number(last)}", style.VALUE, "start", 13, halo=True)

    below = Axes((58, 280, 418, 170), (0, steps), (-FARTHEST, FARTHEST))
    below.frame(ticks(0, steps, 10), ticks(-FARTHEST, FARTHEST, 6), "steps", said)
    below.line([0, steps], [target] * 2, style.INK, 1.4, "7 4")
    below.words(483, below.at(0, target)[1] + 5, "target", style.INK, "start", 13, halo=True)
    hollow = (q[:, 0] < 0) & (n == 1)
    for which, fill in [(~hollow, style.VALUE), (hollow, style.PAPER)]:
        squares = "".join(
            "M{:.1f} {:.1f}h5v5h-5z".format(*np.subtract(below.at(k, means[k]), 2.5))
            for k in np.flatnonzero(which)
        )
        below.parts.append(
            f'<path d="{squares}" stroke="{style.VALUE}" stroke-width="1.6" fill="{fill}"/>'
        )
    if n == 1:
        below.line(range(steps), over_time, style.OTHER, 2.6)
        below.words(476, 487, "mean of q so far", style.OTHER, "end", 13)
    if abs(target) > 1:
        rests = f"w diverges: at the last of {steps} steps it is {number(last)}"
        if n > 1:
            rests = f"the weights diverge: at the last of {steps} steps one is {number(last)}"
    elif n > 1:
        rests = f"at the last step, the weights are between {number(np.min(w[-1]))} and {number(np.max(w[-1]))}"
    elif np.min(w) == np.max(w):
        rests = f"w stays at {number(w[0, 0])}"
    else:
        rests = f"w stays between {number(np.min(w))} and {number(np.max(w))}"
    text = "\n".join([f"target {number(target)}, {name}: {said}", rests])
    return Picture(svg("0 0 560 496", "".join(above.parts + below.parts), text), text)


def closed_path(loss, corners, parts):
    """Draw the field of gradients that the engine returns for a loss, and the sum of ⟨g, part⟩ along a path.

    Each leg of the path is cut into four parts. The last leg leads back to the first corner.
    Beside the field are the sum over the first `parts` parts, with g at the middle of each, and the
    amount by which the loss itself has risen.

    Parameters
    ----------
    loss : callable
        Takes a Tensor of two weights and returns a Tensor. It may jump at the ends of a part.
    corners : array of shape (n, 2)
        The corners of the path, between −1.5 and 1.5 (w₁) and between 0.5 and 2.5 (w₂).
    parts : int
        The number of parts walked so far, from 0 to 4·n.
    """
    field, every = ag.grad(loss), 4 * len(corners)
    legs = np.roll(corners, -1, axis=0) - corners
    places = [corner + leg * k / 4 for corner, leg in zip(corners, legs) for k in range(4)] + [
        corners[0]
    ]
    places = np.array(places)
    steps, middles = np.diff(places, axis=0), (places[1:] + places[:-1]) / 2
    terms = [float(np.sum(field(middle) * step)) for middle, step in zip(middles, steps)]
    sums = np.concatenate([[0.0], np.cumsum(terms)])
    # A jump at the end of a part is drawn as a vertical line, because each part has heights of its own.
    ends = np.stack([middles - 0.4999999 * steps, middles + 0.4999999 * steps], axis=1)
    heights = np.array([[float(loss(ag.Tensor(w)).data) for w in pair] for pair in ends])
    rises = heights - heights[0, 0]
    total = round(float(sums[parts]), 6)
    risen = round(float(rises[parts - 1, 1]), 6) if parts else 0.0

    plane = Axes((44, 34, 270, 180), (-1.5, 1.5), (0.5, 2.5))
    plane.frame(
        [(x, number(x)) for x in (-1, 0, 1)],
        [(y, number(y)) for y in (1, 2)],
        "w₁",
        "Arrows: g (bold: in the sum so far)",
    )
    plane.words(16, plane.at(0, 1.5)[1] + 4, "w₂", size=13)
    grid = [(x, y) for x in np.arange(-1.25, 1.5, 0.5) for y in np.arange(0.75, 2.5, 0.5)]
    _arrows(plane, grid, field, 1)
    plane.line(*places.T, style.LINE, 1.2)
    plane.line(*places[: parts + 1].T, style.INK, 2)
    _arrows(plane, middles[:parts], field, 2.2)
    plane.words(*np.add(plane.at(*places[0]), (-9, 4)), "start", style.INK, "end", 13, halo=True)
    (x, y), tip = plane.at(*(corners[0] + legs[0] / 2)), legs[0] / np.abs(legs[0]).max() * [6, -6]
    plane.parts.append(
        f'<path d="M{x - tip[0] - tip[1]:.1f} {y - tip[1] + tip[0]:.1f}L{x:.1f} {y:.1f}'
        f'L{x - tip[0] + tip[1]:.1f} {y - tip[1] - tip[0]:.1f}" fill="none" stroke="{style.INK}" stroke-width="1.6"/>'
    )
    plane.dot(*places[parts], style.INK, style.INK)

    plot = Axes((44, 34, 284, 180), (0, every), (-2.5, 3.5))
    plot.frame(
        [(k, str(k)) for k in range(0, every + 1, 4)],
        [(y, number(y)) for y in range(-2, 4)],
        "parts walked (each leg has 4)",
        f"Sum: {number(total)}; rise of the loss: {number(risen)}",
    )
    plot.line(
        np.repeat(np.arange(every + 1), 2)[1:-1][: 2 * parts], rises[:parts].ravel(), style.VALUE, 2
    )
    plot.line(range(parts + 1), sums[: parts + 1], style.GRADIENT, 2.6, "6 4")
    plot.dot(parts, risen, style.VALUE, style.VALUE, size=4)
    plot.dot(parts, total, style.GRADIENT, size=5)
    plot.key(44, 284, "sum of ⟨g, part⟩", style.GRADIENT, 2.6, "6 4")
    plot.key(206, 284, "rise of the loss", style.VALUE, 2)

    where = (
        "back at the start" if parts == every else f"at ({', '.join(map(number, places[parts]))})"
    )
    lines = [
        f"after {counted(parts, 'part')}, {where}: the sum is {number(total)}, and the loss has risen by {number(risen)}"
    ]
    if parts:
        g, step = (
            f"({', '.join(number(round(float(x), 4)) for x in pair)})"
            for pair in (field(middles[parts - 1]), steps[parts - 1])
        )
        last = f"⟨{g}, {step}⟩ = {number(round(terms[parts - 1], 6))}"
        plane.words(44, 284, f"last term: {last}", anchor="start", size=13)
        lines.append(f"the last part adds ⟨g, part⟩ = {last}")
    text = "\n".join(lines)
    return Picture(
        beside(
            svg("0 0 330 296", "".join(plane.parts), lines[-1]),
            svg("0 0 340 296", "".join(plot.parts), lines[0]),
        ),
        text,
        says_all=True,
    )


def _arrows(plot, places, field, width):
    """Draw the vectors of a field, each centred at its place. A vector of length 1 is 0.15 long.

    `width` is the width of the lines in px.
    """
    path = ""
    for place in places:
        half = 0.075 * field(np.asarray(place))
        (x, y), (u, v) = plot.at(*(place - half)), plot.at(*(place + half))
        ax, ay = np.array([u - x, v - y]) / np.hypot(u - x, v - y) * (4 + width)
        path += (
            f"M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}M{u - ax - ay / 2:.1f} {v - ay + ax / 2:.1f}"
            f"L{u:.1f} {v:.1f}L{u - ax + ay / 2:.1f} {v - ay - ax / 2:.1f}"
        )
    plot.parts.append(
        f'<path d="{path}" fill="none" stroke="{style.GRADIENT}" stroke-width="{width}"/>'
    )


def cobweb(f, slope, z, rounds, start):
    """Draw a loop z ← f(z) between f and the diagonal, and beside it the backward loop u ← 1 + J·u.

    The last four rounds of z are drawn in full colour, and the rounds before them are faint.

    Parameters
    ----------
    f, slope : callable
        The function of one number, and its derivative.
    z : float
        The fixed point of f, where J = slope(z).
    rounds : int
        The number of rounds to draw, for each loop.
    start : float
        The value of z before the first round.
    """
    J = float(slope(z))
    way, sums = [start], [1.0]
    for _ in range(rounds):
        way.append(float(f(way[-1])))
        sums.append(1 + J * sums[-1])
    exact = 1 / (1 - J)
    there, back = abs(way[-1] - z), abs(sums[-1] - exact)
    after = f"after {counted(rounds, 'round')}"

    plot = Axes((44, 34, 270, 270), (0, TURN), (0, TURN))
    plot.frame(
        ticks(0, TURN, 7),
        ticks(0, TURN, 7),
        f"z (at the circle, f has slope J = {number(round(J, 2))})",
        f"z, {after}: off by {number(there)}",
    )
    zs = np.linspace(0, TURN, 121)
    plot.line([0, TURN], [0, TURN], style.LINE, 1.4)
    plot.line(zs, f(zs), style.INK, 2)
    plot.words(*np.add(plot.at(TURN, f(TURN)), (-4, -10)), "f", style.INK, "end")
    plot.words(
        *np.add(plot.at(0.8 * TURN, 0.8 * TURN), (8, 12)),
        "diagonal",
        style.FAINT,
        "start",
        13,
        halo=True,
    )
    corners = [(start, 0.0)]
    for one, other in zip(way, way[1:]):
        corners += [(one, other), (other, other)]
    old = max(0, len(corners) - 1 - 2 * LAST)
    if old:
        plot.line(*np.transpose(corners[: old + 1]), style.FAINT, 0.6)
    plot.line(*np.transpose(corners[old:]), style.VALUE, 2)
    plot.key(172, 286, "z, last 4 rounds", style.VALUE, 2)  # below the least of f
    plot.dot(z, z, style.INK, style.PAPER, size=6)

    beside_it = Axes((44, 34, 284, 200), (0, max(ROUNDS, rounds)), (-1.0, 3.0))
    beside_it.frame(
        ticks(0, ROUNDS, 8),
        ticks(-1, 3, 8),
        "rounds (dashed black line: 1/(1 − J))",
        f"u, {after}: off by {number(back)}",
    )
    beside_it.line([0, ROUNDS], [exact] * 2, style.INK, 1.4, "7 4")
    beside_it.line(
        range(rounds + 1), np.clip(sums, -99, 99), style.GRADIENT, 2, "5 3"
    )  # longer ones lose their dashes
    for k, u in enumerate(sums):
        if -1 <= u <= 3:
            beside_it.dot(k, u, style.GRADIENT, size=3)
    text = "\n".join(
        [
            f"J = {number(J)}, and |J| is {'above' if abs(J) > 1 else 'below'} 1; the solution for u is {number(exact)}",
            f"{after}: z = {number(way[-1])}, off by {number(there)}",
            f"{after}: u = {number(sums[-1])}, off by {number(back)}",
        ]
    )
    return Picture(
        beside(
            svg("0 0 330 348", "".join(plot.parts), text.splitlines()[1]),
            svg("0 0 340 278", "".join(beside_it.parts), text.splitlines()[2]),
        ),
        text,
    )
