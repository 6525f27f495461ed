"""Plot the error of a finite difference against its step, for the slope explorer and lesson 01."""

import numpy as np

from . import style

STEPS = [float(f"1e-{k}") for k in range(17)]


def against_steps(plot, hs, errors, floor, now=None):
    """Plot errors against steps on logarithmic axes.

    Parameters
    ----------
    plot : Axes
        The axes, whose data coordinates are decimal logarithms.
    hs : list of float
        The steps.
    errors : dict
        A dict that maps the name of each method to the list of its errors, one per step. The first
        method is drawn with circles, the others with squares.
    floor : float
        The smallest error that is drawn as it is. Smaller errors, such as 0, are drawn at this
        value.
    now : float, optional
        The step, one of `hs`, whose marks are filled. By default, no mark is filled.
    """
    for nth, wrong in enumerate(errors.values()):
        points = [
            (np.log10(h), min(np.log10(max(e, floor)), plot.y[1]))
            for h, e in zip(hs, wrong, strict=True)
            if np.isfinite(e)
        ]
        plot.line([x for x, _ in points], [y for _, y in points], style.LINE, 1)
        for x, y in points:
            plot.dot(x, y, style.DIFFERENCE, square=nth > 0)
        if now in hs and np.isfinite(e := wrong[hs.index(now)]):
            edge, size = (
                (style.PAPER, 6) if nth else (style.DIFFERENCE, 7)
            )  # a square on the circle is seen
            plot.dot(
                np.log10(now),
                min(np.log10(max(e, floor)), plot.y[1]),
                edge,
                style.DIFFERENCE,
                nth > 0,
                size,
            )


def errors_at(value, x, slope, hs):
    """Return the absolute errors of finite differences of `value` at x, for each step in `hs`.

    `value` is a function of a number, and `slope` is its exact slope at x. The result is a dict
    with a list for "forward" and a list for "central" differences.
    """
    y = value(x)
    return {
        "forward": [abs((value(x + h) - y) / h - slope) for h in hs],
        "central": [abs((value(x + h) - value(x - h)) / (2 * h) - slope) for h in hs],
    }
