"""Draw the pictures of lesson 22: a weight of one bit, and the forward and backward loop of a fixed point."""

import numpy as np

from ...drawing import style
from ...drawing.axes import Axes, ticks
from ...drawing.formatting import counted, number
from ...drawing.picture import Picture, beside, svg

HIGHEST = 1.5  # of w, in the picture of the votes
TURN = 2 * np.pi


def votes(w, q, target, lr):
    """Draw the weight w at every step, and below it the bit q that replaces it in the network.

    The mean of q so far is drawn as well. `w` and `q` have shape (steps,). `target` is the
    number that the mean of q should reach, and `lr` is the learning rate.
    """
    steps = len(w)
    mean = np.cumsum(q) / np.arange(1, steps + 1)
    said = f"q is +1 in {np.sum(q > 0)} of {steps} steps: its mean is {number(round(mean[-1], 3))}"
    above = Axes((58, 36, 418, 150), (0, steps), (-HIGHEST, HIGHEST))
    above.frame(ticks(0, steps, 10), ticks(-HIGHEST, HIGHEST, 6), "", f"w, at lr = {number(lr)}")
    above.line(range(steps), w, style.VALUE, 2)
    gone = np.flatnonzero(np.abs(w) > HIGHEST)
    if gone.size:
        px, py = above.at(gone[0], np.sign(w[-1]) * HIGHEST)
        above.words(
            px + 6,
            py + (16 if w[-1] > 0 else -6),
            f"to {number(w[-1])}",
            style.VALUE,
            "start",
            13,
            halo=True,
        )

    below = Axes((58, 250, 418, 170), (0, steps), (-HIGHEST, HIGHEST))
    below.frame(ticks(0, steps, 10), ticks(-HIGHEST, HIGHEST, 6), "steps", said)
    below.line([0, steps], [target] * 2, style.INK, 1.4, "7 4")
    below.words(483, below.at(0, target)[1] + 5, "target", style.INK, "start", 13, halo=True)
    for bit, fill in [(1, style.VALUE), (-1, style.PAPER)]:
        squares = "".join(
            "M{:.1f} {:.1f}h5v5h-5z".format(*np.subtract(below.at(k, bit), 2.5))
            for k in np.flatnonzero(q == bit)
        )
        below.parts.append(
            f'<path d="{squares}" stroke="{style.VALUE}" stroke-width="1.6" fill="{fill}"/>'
        )
    below.line(range(steps), mean, style.OTHER, 2.6)
    below.words(476, 457, "mean of q so far", style.OTHER, "end", 13)
    if abs(target) > 1:
        rests = f"w diverges: at the last of {steps} steps it is {number(w[-1])}"
    elif min(w) == max(w):
        rests = f"w stays at {number(w[0])}"
    else:
        rests = f"w stays between {number(min(w))} and {number(max(w))}"
    text = "\n".join([f"target {number(target)}, lr = {number(lr)}: {said}", rests])
    return Picture(svg("0 0 560 466", "".join(above.parts + below.parts), text), text)


def cobweb(f, slope, z, rounds, start):
    """Draw a loop z ← f(z) between f and the diagonal, and beside it the backward loop u ← 1 + J·u.

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
        "z  (circle: the fixed point)",
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
    plot.line(*np.transpose(corners), style.VALUE, 1.8)
    plot.key(172, 286, "z, round by round", style.VALUE, 1.8)  # below the least of f
    plot.dot(z, z, style.INK, style.PAPER, size=6)

    beside_it = Axes((44, 34, 284, 200), (0, max(30, rounds)), (-1.0, 3.0))
    beside_it.frame(
        ticks(0, 30, 6),
        ticks(-1, 3, 8),
        "rounds (dashed black line: 1/(1 − J))",
        f"u, {after}: off by {number(back)}",
    )
    beside_it.line([0, 30], [exact] * 2, style.INK, 1.4, "7 4")
    beside_it.line(
        range(rounds + 1), np.clip(sums, -99, 99), style.GRADIENT, 2, "5 3"
    )  # longer ones lose their dashes
    for k, u in enumerate(sums):
        if -1 <= u <= 3:
            beside_it.dot(k, u, style.GRADIENT, size=3.5)
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
