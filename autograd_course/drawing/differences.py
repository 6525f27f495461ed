"""Draw the error of a finite difference against its step, for the slope explorer and lesson 01."""

import numpy as np

from . import style

STEPS = [float(f"1e-{k}") for k in range(17)]


def against_steps(plot, hs, errors, floor, now=None):
    """Draw error against step on logarithmic axes, with filled marks for the step `now`.

    Errors of 0 are drawn at `floor`. The first list of `errors` is drawn with circles, the others
    with squares.
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
    """Return the error of the finite difference of `value` at x, for each step."""
    y = value(x)
    return {
        "forward": [abs((value(x + h) - y) / h - slope) for h in hs],
        "central": [abs((value(x + h) - value(x - h)) / (2 * h) - slope) for h in hs],
    }
