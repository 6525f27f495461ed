"""How the error of a finite difference depends on its step, drawn. The slope explorer and lesson 01 share the parts."""
import numpy as np

from autograd_lib.tape import plain

from . import style
from .axes import Axes, decades
from .ink import number
from .picture import Picture, svg

STEPS = [float(f"1e-{k}") for k in range(17)]


def against_steps(plot, hs, errors, floor, now=None):
    """Error against step, both as powers of ten, zero at the `floor`: hollow marks, and full ones for the step `now`.

    The first of the errors gets circles, the next squares.
    """
    for nth, wrong in enumerate(errors.values()):
        points = [(np.log10(h), min(np.log10(max(e, floor)), plot.y[1])) for h, e in zip(hs, wrong, strict=True) if np.isfinite(e)]
        plot.line([x for x, _ in points], [y for _, y in points], style.LINE, 1)
        for x, y in points:
            plot.dot(x, y, style.DIFFERENCE, square=nth > 0)
        if now in hs and np.isfinite(e := wrong[hs.index(now)]):
            plot.dot(np.log10(now), min(np.log10(max(e, floor)), plot.y[1]), style.DIFFERENCE, style.DIFFERENCE, square=nth > 0)


def errors_at(value, x, slope, hs):
    """How far the differences of `value` at x are from the slope, one for each step."""
    y = value(x)
    return {"forward": [abs((value(x + h) - y) / h - slope) for h in hs],
            "central": [abs((value(x + h) - value(x - h)) / (2 * h) - slope) for h in hs]}


def v_curve(f, x, slope):
    """How far the forward and the central difference of f at x are from its slope there, for steps from 1 down to 1e-16.

    On the left the step is too large: the curve bends away (truncation). On the right it is too small: the last digits
    are noise, and divided by h (rounding). The best step is where the two meet.
    """
    def value(x):
        with np.errstate(all="ignore"):
            return float(plain(f(np.float64(x))).item())

    if not np.isfinite(value(x)):
        raise ValueError(f"v_curve: f has no value at x = {x}; choose an x where it has one")
    hs = [float(f"{digit}e-{k}") for k in range(1, 17) for digit in (10, 3)] + STEPS[-1:]
    errors = errors_at(value, x, slope, hs)
    known = [np.log10(e) for wrong in errors.values() for e in wrong if e and np.isfinite(e)] or [-12]
    zero, high = int(np.floor(min(known))) - 1, int(max(np.ceil(max(known)), 0)) + 1
    plot = Axes((58, 34, 470, 310), (0.5, -16.5), (zero - 4, high))
    plot.frame(decades(-16, 0, 4), decades(zero, high, 3), "step h, smaller to the right", "how wrong the difference is")
    left, top, width, height = plot.box
    text = [f"differences of f at x = {number(x)}, whose slope is {slope:.10g}"]
    for nth, (name, wrong) in enumerate(errors.items()):
        plot.mark(left + 196, top + 13 + 20 * nth, style.DIFFERENCE, square=nth > 0)
        plot.words(left + 208, top + 18 + 20 * nth, name, anchor="start", halo=True)
        logs = [np.log10(max(e, 10.0**zero)) if np.isfinite(e) else np.inf for e in wrong]
        best = int(np.argmin([np.median(logs[max(0, k - 1):k + 2]) for k in range(len(hs))]))       # not one lucky step alone
        words = f"they meet near h = {_step(hs[best])}" if hs[best] < 0.1 else "no truncation"
        px, py = plot.at(np.log10(hs[best]), logs[best])
        plot.parts.append(f'<path d="M{px:.1f} {py:.1f}V{top + height - 40 + 20 * nth}" stroke="{style.LINE}" stroke-dasharray="2 3"/>')
        plot.words(min(max(px, left + 110), left + width - 110), top + height - 26 + 20 * nth, f"{name}: {words}", size=13, halo=True)
        text.append(f"{name}: {words.replace('they', 'truncation and rounding')}; error "
                    + ", ".join(f"{e:.1e} at {step:g}" for e, step in zip(wrong, hs, strict=True) if np.isfinite(e) and
                                (step in STEPS[::4] or step == hs[best])))
    plot.words(left + 8, top + height - 56, "h too large: truncation", style.FAINT, "start", 13, halo=True)
    plot.words(left + width - 8, top + height - 56, "h too small: rounding", style.FAINT, "end", 13, halo=True)
    against_steps(plot, hs, errors, 10.0**zero)
    text = "\n".join(text)
    return Picture(svg("0 0 548 392", "".join(plot.parts), text), text)


def _step(h):
    return f"{h:.0e}".replace("e-0", "e-") if h < 1 else "1"
