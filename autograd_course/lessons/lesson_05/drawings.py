"""Draw a backward pass in any order, and the number of paths beside the number of visits."""

from functools import cache
from time import perf_counter

import numpy as np

from autograd_lib.tape import input_gradients

from ...drawing import style
from ...drawing.formatting import counted, words
from ...drawing.picture import Picture, svg
from ...widgets.stepper import frames, picture

# --- The order of the visits ------------------------------------------------------------------------------------------------


def visits(order):
    """Yield (node, g, grads) for each Tensor `node` in `order`, the first of which is the output.

    `g` is the gradient that has reached the node when it is visited. This gradient is incomplete if
    a user of the node comes later in `order`. `grads` holds the gradient that the node sends to each of its
    inputs, or None for an input that does not require a gradient.
    """
    ledger = {id(order[0]): np.ones_like(order[0].data)}
    for node in order:
        g = ledger.pop(id(node), np.zeros_like(node.data))
        grads = input_gradients(node, g)
        for x, gx in zip(node.inputs, grads):
            if gx is not None:
                ledger[id(x)] = ledger.get(id(x), 0.0) + gx
        yield node, g, grads


def in_order(output, orders):
    """Return a function of (visit_b, step) that draws one step of the backward pass in the order `orders[visit_b]`.

    A step beyond the end of the pass draws the last step of the pass.

    Parameters
    ----------
    output : Tensor
        The output where the backward pass starts.
    orders : dict of str to list of Tensor
        The orders of visits to choose from.
    """
    stories = {when: frames(output, visits(order)) for when, order in orders.items()}
    return lambda visit_b, step: picture(stories[visit_b][min(step, len(stories[visit_b]) - 1)])


# --- Paths and visits -------------------------------------------------------------------------------------------------------


def race(doubled, order, backward):
    """Return a function of n that draws how many paths and visits doubled(n) needs, and how long they take.

    Parameters
    ----------
    doubled : callable
        Takes n and returns the output of n doublings, x = x + x.
    order : callable
        Returns the list of all Values from an output back to its leaves.
    backward : callable
        Runs the backward pass from an output, which is timed.

    Notes
    -----
    Up to n = 16 every path is followed. For a larger n the number of paths is computed as 2ⁿ. The
    time for the paths is estimated from the pace measured at n = 15.
    """
    start = perf_counter()
    pace = _paths(doubled(15)) / (perf_counter() - start)

    @cache  # so that the same n always shows the same time
    def after(n):
        L, walked = doubled(n), n <= 16
        start = perf_counter()
        backward(L)
        visited = perf_counter() - start
        return odometer(n, _paths(L) if walked else 2**n, len(order(L)), pace, visited, walked)

    return after


def _paths(value):
    """Return the number of paths from `value` to the leaves, by following each path to its end."""
    return sum(map(_paths, value.inputs)) if value.inputs else 1


WHEELS = 19  # digits of the odometer, because 2⁶⁰ has 19
SPANS = [
    (1e-6, "a microsecond"),
    (1e-3, "a millisecond"),
    (1, "a second"),
    (60, "a minute"),
    (3600, "an hour"),
    (86400, "a day"),
    (31557600, "a year"),
    (31557600 * 100, "a lifetime"),
    (31557600 * 1e4, "10,000 years"),
]
LOW, HIGH = -7, 12.5  # powers of ten of seconds on the scale


def odometer(n, paths, visits, pace, visited, walked=True):
    """Draw the number of paths and the number of visits after n doublings, and the time that each takes.

    Parameters
    ----------
    n, paths, visits : int
        Number of doublings, of paths and of visits.
    pace : float
        Paths followed per second.
    visited : float
        Seconds that the backward pass took.
    walked : bool
        True if the paths were really followed, False if their number was computed as 2ⁿ.
    """
    how = "each one followed" if walked else "not followed here"
    parts = [words(14, 22, f"x = x + x, {counted(n, 'time')}", style.INK, "start", 14)]
    for top, name, number, colour in [
        (58, f"paths, {how}", paths, style.OTHER),
        (124, "visits", visits, style.INK),
    ]:
        parts.append(words(14, top - 7, name, colour, "start", 14))
        digits = (
            f"{number:<{WHEELS}d}"  # left-aligned, because a phone shows no more than twelve digits
        )
        first = -len(str(number)) % 3
        for i, digit in enumerate(digits):
            parts.append(_wheel(14 + 27 * i + 4 * ((i + first) // 3), top, digit, colour))
    parts.append(_scale(paths / pace, visited))
    text = (
        f"{counted(paths, 'path')} ({'followed' if walked else 'computed'}) and {counted(visits, 'visit')}, after "
        f"{counted(n, 'doubling')}.\n"
        f"Time for all paths, at {_round(pace)} per second: {duration(paths / pace)}. Time for all visits, as measured: {duration(visited)}."
    )
    return Picture(svg("0 0 560 290", "".join(parts), text), text)


def duration(seconds):
    """Return a number of seconds as text with a suitable unit, from microseconds to years, to two digits."""
    units = [
        (31557600, "years"),
        (86400, "days"),
        (3600, "hours"),
        (60, "minutes"),
        (1, "seconds"),
        (1e-3, "milliseconds"),
    ]
    length, unit = next((one for one in units if seconds >= 1.95 * one[0]), (1e-6, "microseconds"))
    return f"{_round(seconds / length)} {unit}"


def _round(x):
    """Return a number as text with two significant digits, such as 0.34, 4.1, 23 or 3,400."""
    return f"{float(f'{x:.1e}'):,.{max(0, 1 - int(np.floor(np.log10(x))))}f}" if x else "0"


def _wheel(x, top, digit, colour):
    """Return the SVG of one digit of a counter, with its upper left corner at (x, top).

    If `digit` is a space, only an outline is drawn.
    """
    if digit == " ":
        return (
            f'<rect x="{x}" y="{top}" width="24" height="34" rx="4" fill="none" '
            f'stroke="{style.LINE}" stroke-opacity="0.6"/>'
        )
    return (
        f'<rect x="{x}" y="{top}" width="24" height="34" rx="4" fill="{colour}"/>'
        f'<text x="{x + 12}" y="{top + 24}" font-family="{style.MONO}" '
        f'font-size="20" font-weight="600" '
        f'fill="{style.PAPER}" text-anchor="middle">{digit}</text>'
    )


def _scale(paths, visits):
    """Return the SVG of a logarithmic time scale with a mark for each of two times.

    `paths` is the time to follow all paths and `visits` is the time of all visits, both in seconds.
    A time outside the scale is marked at its end.
    """

    def at(seconds):
        return 24 + 494 * (min(HIGH, max(LOW, np.log10(seconds))) - LOW) / (HIGH - LOW)

    y, parts = 224, []
    parts.append(f'<path d="M24 {y}H518" stroke="{style.LINE}" stroke-width="2"/>')
    for i, (seconds, called) in enumerate(SPANS):
        x, down = (
            at(seconds),
            18 * (1 - i % 2),
        )  # shorter names above, because the lines of the others pass between them
        parts.append(f'<path d="M{x:.1f} {y}v{8 + down}" stroke="{style.LINE}"/>')
        parts.append(words(min(x, 496), y + 22 + down, called, style.FAINT, "middle", 13))
    for seconds, colour, shape in [(visits, style.INK, "circle"), (paths, style.OTHER, "square")]:
        x = at(seconds)
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y}" r="6.5" fill="{colour}"/>'
            if shape == "circle"
            else f'<rect x="{x - 6:.1f}" y="{y - 6}" width="12" height="12" fill="{colour}"/>'
        )
    for name, seconds, colour, up in [
        ("visits", visits, style.INK, 16),
        ("paths", paths, style.OTHER, 34),
    ]:
        said = f"{name}: {duration(seconds)}"
        half = 4 * len(said)
        parts.append(
            words(min(max(at(seconds), 14 + half), 546 - half), y - up, said, colour, "middle", 14)
        )
    return "".join(parts)
