"""Show a function and its slope side by side, with a point to move along them: `slope_explorer`."""

from collections import namedtuple
from functools import lru_cache
from html import escape
from inspect import signature
from itertools import pairwise

import numpy as np

from autograd_lib.rows import Primitive
from autograd_lib.tape import to_array
from autograd_lib.transforms import grad

from ..drawing import style
from ..drawing.axes import DOTS, Axes, decades, ticks
from ..drawing.differences import STEPS, against_steps, errors_at
from ..drawing.formatting import number
from ..drawing.picture import Picture, svg
from ..source import is_stub
from .sliders import explore

DASHES = "6 4"

# For each operation, the sliders of its arguments, and its domain in words. An operation or an argument that is missing here,
# and a function of the learner, has RANGE. In `where`, the condition is a bool with two choices.
RANGE = (-3.0, 3.0, 1.0)
ROWS = {
    "add": ([RANGE, (-3.0, 3.0, 2.0)], ""),
    "subtract": ([RANGE, (-3.0, 3.0, 2.0)], ""),
    "multiply": ([RANGE, (-3.0, 3.0, 2.0)], ""),
    "divide": ([RANGE, (-3.0, 3.0, 2.0)], "division by 0 is undefined"),
    "power": (
        [(-2.0, 3.0, 1.5), (-3.0, 3.0, 2.0)],
        "a negative base has only integer powers and no slope with respect to the exponent, and 0 has no negative powers",
    ),
    "exp": ([(-3.0, 2.0, 0.5)], ""),
    "log": ([(-1.0, 5.0, 1.0)], "log x is defined for x > 0"),
    "sqrt": ([(-1.0, 4.0, 1.0)], "√x is defined for x ≥ 0"),
    "sin": ([(-7.0, 7.0, 1.0)], ""),
    "cos": ([(-7.0, 7.0, 1.0)], ""),
    "tanh": ([(-4.0, 4.0, 0.5)], ""),
    "sigmoid": ([(-6.0, 6.0, 1.0)], ""),
    "softplus": ([(-6.0, 6.0, 1.0)], ""),
    "gelu": ([(-4.0, 4.0, 0.5)], ""),
    "maximum": ([RANGE, (-3.0, 3.0, 0.5)], ""),
    "minimum": ([RANGE, (-3.0, 3.0, 0.5)], ""),
    "clip": ([(-3.0, 3.0, 0.5), (-3.0, 3.0, -1.0), RANGE], ""),
    "where": ([[True, False], RANGE, (-3.0, 3.0, -1.0)], ""),
}


def _four(x):
    """Return a value as text with four significant digits, or "none" for nan."""
    return "none" if np.isnan(x) else number(x).replace("inf", "∞")


def _ten(x):
    """Return a slope or a difference as text with ten digits, or "exactly 0.0" for 0."""
    return number(x, 10) if x else "exactly 0.0"


def _off(error):
    """Return the error of a finite difference as text, such as "off by 0.001".

    If the error is not finite, return "none".
    """
    return (
        f"off by {number(float(f'{abs(error):.1e}')) if error else 'exactly 0'}"
        if np.isfinite(error)
        else "none"
    )


def slope_explorer(f, /, *, rule=None, against="x", moving=None, h=STEPS, errors=True, **arguments):
    """Show a function and its slope side by side, with sliders for a point and a step h.

    A third panel shows the errors of the finite differences over the step, unless `errors` is False.
    At a kink, the difference to the left is shown beside the difference to the right.

        slope_explorer(ag.tanh)                                 # any elementwise operation
        slope_explorer(ag.multiply, y=3.0)                      # x varies, y starts at 3; `moving` can be changed to y
        slope_explorer(lambda x: ag.exp(-x * x), x=(-2.0, 2.0, 0.5))
        slope_explorer(ag.tanh, rule=lambda g, z, x: g * (1 - z))       # your own rule against finite differences

    Parameters
    ----------
    f : callable
        An elementwise operation of the library, or a function of numbers that returns a number. Unless
        `rule` is given, `ag.grad` must be able to differentiate it.
    rule : callable, optional
        Your own rule for the slope with respect to the argument that varies. It takes the arguments of
        `f`, or g, z and the arguments of `f`, as the rules of the library do. A rule that is not
        written yet (`...`) is not drawn.
    against : str
        "x" to plot the slope against the input, or "z" to plot it against the output.
    moving : str, optional
        The name of the argument to vary first. By default, the first argument that has a slope.
    h : sequence of float
        The steps to choose from.
    errors : bool
        False to leave out the third panel.
    **arguments
        For each argument of `f`, the start of its slider, or a tuple as in `explore`, such as
        (min, max, start).

    Returns
    -------
    Explorer
        The widget.

    Raises
    ------
    TypeError
        If `f` is not a function, if a keyword is not the name of an argument of `f`, if `f` has no arguments, or if `rule` takes
        the wrong number of arguments.
    ValueError
        If `f` works on whole arrays, returns an array or has an argument called h, moving, errors,
        rule or against, or if `against` or `moving` has a wrong value.
    """
    subject = _Subject(f, rule)
    if unknown := arguments.keys() - set(subject.names):
        raise TypeError(
            f"slope_explorer: {subject.name} has no argument {', '.join(sorted(unknown))}; use {', '.join(subject.names)}"
        )
    if taken := {"h", "moving", "rule", "against", "errors"} & set(subject.names):
        raise ValueError(
            f"slope_explorer: f must not have an argument called {', '.join(sorted(taken))}, which is a keyword of slope_explorer; rename it"
        )
    if against not in ("x", "z"):
        raise ValueError(
            f'slope_explorer: expected against="x" (the input) or against="z" (the output), got {against!r}'
        )
    specs = {
        name: _spec(arguments.get(name, subject.starts.get(name)), usual)
        for name, usual in zip(subject.names, subject.usual, strict=True)
    }
    movable = [
        name
        for name in subject.sloped
        if not isinstance(specs[name], list) or not isinstance(specs[name][0], bool)
    ]
    moving = moving or movable[0]
    if moving not in movable:
        raise ValueError(
            f"slope_explorer: expected `moving` to name an argument of {subject.name} that can vary ({', '.join(movable)}), got {moving!r}"
        )

    @lru_cache(
        maxsize=64
    )  # a slider's places: those of the other argument come again for each of the point
    def still(moving, *xs):
        """Return the _Still for the argument `moving` and the values `xs` of the others.

        `xs` holds None for the argument that varies.
        """
        return _Still(subject, subject.names.index(moving), xs, _span(specs[moving]), against)

    def picture(h, moving=moving, **values):
        x = values[moving]
        return _draw(
            still(moving, *(None if name == moving else values[name] for name in subject.names)),
            x,
            h,
            errors,
        )

    if rule is None and len(movable) > 1:
        specs["moving"] = [moving, *(name for name in movable if name != moving)]
    return explore(picture, **specs, h=h)


def _takes(rule, count):
    """Return True if a rule can be called with `count` arguments."""
    try:
        signature(rule).bind(*range(count))
    except TypeError:
        return False
    return True


class _Subject:
    """Hold the function that `slope_explorer` shows, and the rule for its slope.

    Attributes
    ----------
    name : str
        The name of the function.
    names : list of str
        The names of its arguments.
    sloped : list of str
        The names of the arguments with respect to which the function has a slope.
    starts : dict
        The default values of its arguments, as numbers by name.
    usual : list
        The default slider of each argument.
    domain : str
        The domain in words, or "".
    waits : bool
        True if the learner's rule is not written yet.
    takes_g : bool
        True if the learner's rule takes g and z before the arguments.
    """

    def __init__(self, f, rule):
        if not callable(f):
            raise TypeError(f"slope_explorer: expected a function, got {type(f).__name__}")
        self.f, self.rule, self.starts, self.takes_g = f, rule, {}, False
        self.waits = rule is ... or callable(rule) and is_stub(rule)
        self.name = getattr(f, "name", getattr(f, "__name__", "f")).replace("<lambda>", "f")
        if isinstance(f, Primitive):
            if f.kind != "elementwise":
                raise ValueError(
                    f"slope_explorer: {f.name} works on whole arrays; pass a function of single numbers"
                )
            self.names = list(signature(next(filter(None, f.rules))).parameters)[2:]
            self.sloped = [name for name, one in zip(self.names, f.rules, strict=True) if one]
        elif isinstance(f, np.ufunc):
            self.names = self.sloped = ["x", "y"][: f.nin]
        else:
            given = [
                p
                for p in signature(f).parameters.values()
                if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
            ]
            self.names = self.sloped = [p.name for p in given]
            self.starts = {p.name: p.default for p in given if isinstance(p.default, (int, float))}
        if not self.names:
            raise TypeError(
                f"slope_explorer: {self.name} takes no arguments, so nothing can vary; write it as a function of x"
            )
        usual, self.domain = ROWS.get(self.name, ([], ""))
        self.usual = (usual + [RANGE] * len(self.names))[: len(self.names)]
        if callable(rule):
            taken = len(signature(rule).parameters)
            self.takes_g = _takes(rule, len(self.names) + 2)
            if not self.takes_g and not _takes(rule, len(self.names)):
                ours = ", ".join(self.names)
                raise TypeError(
                    f"slope_explorer: rule takes {taken} arguments; write it as lambda {ours}: … "
                    f"or as lambda g, z, {ours}: …"
                )

    def value(self, *xs):
        with np.errstate(all="ignore"):
            z = to_array(self.f(*map(np.float64, xs)))
        if z.ndim:
            raise ValueError(
                f"slope_explorer: {self.name} returned an array of shape {z.shape}; pass a function that takes numbers and returns one number"
            )
        return float(z)

    def slope(self, i, *xs, g=1.0):
        """Return the slope with respect to argument number i at the point `xs`.

        The slope comes from the learner's rule or, without a rule, from `ag.grad`. `g` is the upstream
        gradient, which is passed only to a rule that takes it. The result is nan if the rule is not
        written yet.
        """
        xs = [np.float64(x) for x in xs]
        if self.waits:
            return np.nan
        with np.errstate(all="ignore"):
            if self.rule is None:
                return to_array(grad(self.f, argnums=i)(*xs)).item()
            given = (np.float64(g), np.float64(self.value(*xs)), *xs) if self.takes_g else xs
            return float(to_array(self.rule(*given)).item())


def _spec(given, usual):
    """Return the slider for an argument, in one of the forms that `explore` expects.

    `given` is what the caller passed: None, a start value, or a slider. `usual` is the default slider
    of the argument.
    """
    if given is None:
        return usual
    if isinstance(given, (int, float)):
        if isinstance(given, bool) or isinstance(usual, list):
            return [bool(given), not given]
        low, high, _ = usual
        return (
            (low if low < given else min(2.0 * given, -1.0)),
            (high if given < high else max(2.0 * given, 1.0)),
            float(given),
        )
    return given


def _span(spec):
    """Return (min, max) of a slider in one of the forms that `explore` expects."""
    return (min(spec), max(spec)) if isinstance(spec, (list, range)) else spec[:2]


Pieces = namedtuple("Pieces", "lines jumps poles")  # each line is [(x, y), …]


def _pieces(g, low, high):
    """Return the curve of a function g from `low` to `high`, as Pieces.

    Its lines do not cross a jump, a pole or a gap in the domain: at such a place one line ends and the
    next one begins. The Pieces also list the positions of the jumps and of the poles.
    """
    grid = [(x, g(x)) for x in np.linspace(low, high, 161).tolist()]
    known = [y for _, y in grid if np.isfinite(y)]
    reach, most = (max(known) - min(known), max(map(abs, known))) if known else (0, 0)
    lines, jumps, poles = [[]], [], []
    for (a, ya), (b, yb) in pairwise(grid):
        left, right, gap = [(a, ya)], [(b, yb)], _apart(ya, yb)
        if gap > 0.05 * reach:
            for _ in range(40):  # halve the way: a line that is only steep gives way, a break stays
                middle = (left[-1][0] + right[-1][0]) / 2
                y = g(middle)
                (left if _apart(y, left[-1][1]) < _apart(y, right[-1][1]) else right).append(
                    (middle, y)
                )
                if _apart(left[-1][1], right[-1][1]) < gap / 4:
                    lines[-1] += [(x, g(x)) for x in np.linspace(a, b, 10)[:-1].tolist()]
                    break
            else:
                lines.append(right[:0:-1])
                lines[-2] += left
                if np.isfinite(left[-1][1] + right[-1][1]):
                    jumps.append(round(left[-1][0], 9) + 0.0)
                if any(np.isfinite(y) and abs(y) > most for _, y in (left[-1], right[-1])):
                    poles.append(left[-1][0])
        else:
            lines[-1].append((a, ya))
    lines[-1].append(grid[-1])
    lines = [[(x, y) for x, y in line if np.isfinite(y)] for line in lines]
    return Pieces([line for line in lines if line], sorted(set(jumps)), poles)


def _apart(y, other):
    """Return the distance between two values.

    It is infinite if only one of them is finite, and 0 if neither is.
    """
    here, there = np.isfinite(y), np.isfinite(other)
    return abs(y - other) if here and there else np.inf if here != there else 0.0


def _limits(ys):
    """Return (min, max) for an axis that shows all the numbers in the list `ys`, with a margin."""
    low, high = (min(ys), max(ys)) if ys else (-1.0, 1.0)
    room = 0.08 * (high - low) if high - low > 1e-9 * max(1, abs(high)) else 1.0
    return low - room, high + room


SIZE, BOX, KEYS = (
    "0 0 304 314",
    (56, 32, 233, 178),
    (268, 287, 306),
)  # of a panel: its axes, and the positions of the lines of its legend
NARROW, WIDE = 266, 304  # its width in a narrow and in a wide window
CIRCLES = 24  # an even number, so that they do not measure at the round places where kinks are


class _Still:
    """Hold the parts of the three panels that do not change while the point moves along the curve.

    Parameters
    ----------
    subject : _Subject
    i : int
        The number of the argument that varies.
    xs : tuple
        The values of all arguments; the value of the argument that varies is ignored.
    span : (float, float)
        The limits between which this argument varies.
    against : str
        "x" to plot the slope against the input, or "z" to plot it against the output.
    """

    def __init__(self, subject, i, xs, span, against):
        def value(x):
            return subject.value(*xs[:i], x, *xs[i + 1 :])

        def slope(x, g=1.0):
            return (
                subject.slope(i, *xs[:i], x, *xs[i + 1 :], g=g) if np.isfinite(value(x)) else np.nan
            )

        self.value, self.slope, self.span, self.against = value, slope, span, against
        self.small = 1e-6 * (span[1] - span[0])
        self.letter = subject.names[i]
        inputs = [
            self.letter if k == i else str(other) if isinstance(other, bool) else _four(other)
            for k, other in enumerate(xs)
        ]
        self.name = f"{subject.name}({', '.join(inputs)})"
        self.whose, self.says = (
            ("the rule", "slope") if subject.rule is None else ("your rule", "your rule gives")
        )
        self.waits = subject.waits
        self.because = f": {subject.domain}" * bool(subject.domain)
        curve, rule = _pieces(value, *span), _pieces(slope, *span)
        self.jumps = curve.jumps

        def heights(poles, *lines):
            """Return the y-coordinates of all points on `lines`, except those close to a pole."""
            near = 0.03 * (span[1] - span[0])
            return [
                y for line in lines for x, y in line if all(abs(x - pole) > near for pole in poles)
            ]

        self.zs = _limits(heights(curve.poles, *curve.lines))
        measured = [
            (x, sum(sides) / 2)
            for x in self._places(curve)
            if np.isfinite(sum(sides := self.sides(x))) and not self.kink(x)
        ]
        self.slopes = _limits([0.0, *heights(curve.poles + rule.poles, *rule.lines, measured)])
        self.top = int(np.ceil(np.log10(max(1, *np.abs(self.slopes))))) + 1
        self.drawn = [self._curve(curve), self._slope(rule, measured), self._errors()]
        self.verdict = self._verdict(subject.takes_g, measured)

    def axes(self):
        """Return new Axes for the three panels: the curve, its slope and the errors."""
        return (
            Axes(BOX, self.span, self.zs),
            Axes(BOX, self.span if self.against == "x" else self.zs, self.slopes),
            Axes(BOX, (0.5, -16.5), (-16.5, self.top)),
        )

    def across(self, x):
        """Return the horizontal position of a point in the panel of the slope: its x or its z."""
        return x if self.against == "x" else self.value(x)

    def sides(self, x, step=None):
        """Return (left, right), the one-sided slopes at x, measured with a small step."""
        step, z = step or self.small, self.value(x)
        return (z - self.value(x - step)) / step, (self.value(x + step) - z) / step

    def kink(self, x):
        """Return True if the curve has a kink at x.

        At a kink, the one-sided slopes differ, and the difference does not shrink with the step.
        """
        (left, right), (wider, other) = self.sides(x), self.sides(x, 10 * self.small)
        noise = 1e-14 * abs(self.value(x)) / self.small
        return bool(
            abs(right - left) > max(abs(other - wider) / 2, 1e-6 * (abs(left) + abs(right)), noise)
        )

    def _places(self, curve):
        """Return a list of the x-coordinates at which to measure the slope.

        They are evenly spaced in the panel of the slope. `curve` is the Pieces of the function.
        """
        points = [point for line in curve.lines for point in line]
        if not points:
            return []
        ways = [
            x if self.against == "x" else min(max(z, self.zs[0]), self.zs[1]) for x, z in points
        ]
        ways = np.cumsum(np.abs(np.diff(ways, prepend=ways[0])))
        return np.interp(
            (np.arange(CIRCLES) + 0.5) / CIRCLES * ways[-1], ways, [x for x, _ in points]
        ).tolist()

    def _curve(self, curve):
        plot = self.axes()[0]
        plot.frame(ticks(*plot.x), ticks(*plot.y), self.letter, escape(self.name))
        for line in curve.lines:
            _trace(plot, line, style.VALUE)
        return plot.parts

    def _slope(self, rule, measured):
        plot = self.axes()[1]
        x, title = (
            (self.letter, "its slope")
            if self.against == "x"
            else ("z", f"its slope, over z instead of {self.letter}")
        )
        plot.frame(ticks(*plot.x), ticks(*plot.y), x, title)
        for line in rule.lines:
            _trace(plot, [(self.across(x), y) for x, y in line], style.GRADIENT, DASHES)
        self.over = Axes(plot.box, plot.x, plot.y)  # words: no line that moves crosses them
        if not measured:
            _note(self.over, "no slope here")
        for x, y in measured:
            if _inside(plot, self.across(x), y):
                plot.dot(self.across(x), y, style.DIFFERENCE, "none", size=3.5)
        for x in rule.jumps:
            if np.isfinite(y := self.slope(x)):
                px, py = plot.at(self.across(x), y)
                plot.dot(self.across(x), y, style.GRADIENT, style.GRADIENT, size=4)
                up = py > BOX[1] + BOX[3] / 2
                self.over.words(
                    px + 8,
                    py + (-8 if up else 16),
                    f"stated: {_four(y)}",
                    style.GRADIENT,
                    "start",
                    13,
                    halo=True,
                )
        return plot.parts

    def _errors(self):
        plot = self.axes()[2]
        plot.frame(
            decades(-16, 0, 4),
            decades(-16, self.top, 4),
            "step h, smaller to the right",
            "error of the difference",
        )
        return plot.parts

    def _verdict(self, takes_g, measured):
        """Return a list of one or two sentences that compare the rule with the measured slopes.

        `takes_g` is True if the rule takes g, and `measured` is [(x, measured slope), …].
        """
        whose = self.whose
        if not measured:
            return ["there is no point here at which the slope can be measured"]
        if self.waits:
            return ["the circles mark measured slopes; your rule is still …"]
        found = [(x, y, self.slope(x)) for x, y in measured]
        missed = [
            one
            for one in found
            if not abs(one[2] - one[1]) <= 1e-4 * max(abs(one[1]), self.slopes[1] - self.slopes[0])
        ]
        if all(np.isnan(rule) for _, _, rule in found):
            return [
                f"{whose} gives nan, not a number, at all {len(found)} circles, where the slope was measured"
            ]
        if missed:
            x, y, rule = max(missed, key=lambda one: _apart(one[1], one[2]))
            said = [
                f"{whose} misses {len(missed)} of the {len(found)} circles, where the slope was measured: "
                f"at {self.letter} = {_four(x)} it gives {_four(rule)}, but the measured slope is {_four(y)}"
            ]
        else:
            said = [
                f"{whose} passes through all {len(found)} circles, where the slope was measured"
            ]
        x, _, once = max(found, key=lambda one: abs(one[2]) if np.isfinite(one[2]) else 0)
        if takes_g and not abs((twice := self.slope(x, g=2.0)) - 2 * once) <= 1e-9 * abs(once):
            said.append(
                f"with g = 2 {whose} must give twice as much as with g = 1, but at {self.letter} = {_four(x)} it gives "
                f"{_four(once)} and then {_four(twice)}: where is g?"
            )
        return said


def _trace(plot, line, colour, dash="none"):
    """Draw one line of a curve on the Axes `plot`, without the parts far outside the picture.

    `line` is [(x, y), …].
    """
    far = 4 * (plot.y[1] - plot.y[0])
    plot.line(
        [x for x, _ in line],
        [min(max(y, plot.y[0] - far), plot.y[1] + far) for _, y in line],
        colour,
        2.5,
        dash,
    )
    if len(line) == 1:  # a place by itself, such as a whole power of a negative number
        plot.dot(*line[0], colour, colour, size=2)


def _note(plot, words):
    """Write a note in the middle of the Axes `plot`, which would otherwise be empty."""
    plot.words(BOX[0] + BOX[2] / 2, BOX[1] + BOX[3] / 2 - 10, words, style.FAINT, halo=True)


def _inside(plot, x, y):
    return plot.x[0] <= x <= plot.x[1] and plot.y[0] <= y <= plot.y[1]


def _dots(plot, *marks):
    """Draw marks on the Axes `plot`, each given as (x, y, colour, fill, square, size).

    A mark above or below the axes is replaced by an arrow at the edge, with its y as text.
    """
    beyond = []
    for x, y, *look in marks:
        if _inside(plot, x, y):
            plot.dot(x, y, *look)
        elif np.isfinite(y) and plot.x[0] <= x <= plot.x[1]:
            beyond.append((y, x, look[0]))
    for up, away in [
        (True, sorted((mark for mark in beyond if mark[0] > plot.y[1]), reverse=True)),
        (False, sorted(mark for mark in beyond if mark[0] < plot.y[0])),
    ]:
        for row, (y, x, colour) in enumerate(away):
            px, py = plot.at(x, plot.y[up])
            where = (px - BOX[0]) / BOX[2]
            side = (where < 0.2) - (where > 0.8)  # beside the circles that lead there
            plot.words(
                px + 13 * side,
                py + (14 + 15 * row if up else -4 - 15 * row),
                f"{'▲' if up else '▼'} {_four(y)}",
                colour,
                ("middle", "start", "end")[side],
                13,
                halo=True,
            )


class _Here:
    """Hold the numbers for the point x and the step h; a number that does not exist is nan.

    `still` is the _Still with the function. Among the numbers are the value, the slope, and the forward,
    the central and the left difference. The left difference is shown only at a kink.
    """

    def __init__(self, still, x, h):
        self.still, self.x, self.h, self.here = still, x, h, f"{still.letter} = {_four(x)}"
        self.z, self.slope, self.high, self.low = (
            still.value(x),
            still.slope(x),
            still.value(x + h),
            still.value(x - h),
        )
        self.exists = bool(np.isfinite(self.z))
        rises = self.high - self.z, (self.high - self.low) / 2, self.z - self.low
        self.forward, self.central, self.leftward = (
            rise / h if self.exists and np.isfinite(rise) else np.nan for rise in rises
        )
        self.jump = x in still.jumps
        self.kink = not self.jump and still.kink(x)
        self.left, self.right = (round(side, 6) for side in still.sides(x))
        self.level = still.value(x - still.small) == self.z == still.value(x + still.small)


def _words(p):
    """Return a list of three strings that describe a _Here: the point, a remark, the differences.

    The second string is about a jump or a kink at the point, and is "" elsewhere.
    """
    z, still = _ten(p.z) if p.z else "0", p.still
    point = f"{still.name} at {p.here}: "
    if not p.exists:
        point += f"no value ({z}), so nothing can be drawn there{still.because}"
    elif still.waits:
        point += f"z = {z}; your rule is still …"
    elif not np.isfinite(p.slope):
        gives = "nan, not a number" if np.isnan(p.slope) else _four(p.slope)
        why = (
            ""
            if np.isfinite(p.left + p.right)
            else ": the tangent is vertical"
            if np.isinf(p.slope)
            else still.because
        )
        point += f"z = {z}, but {still.whose} gives {gives}, so no tangent is drawn{why}"
    elif p.kink:
        point += f"z = {z}, no slope; {still.whose} states {_four(p.slope)}"
    else:
        point += f"z = {z}, {still.says} {_ten(p.slope)}" + ", and nearby z stays the same" * (
            p.slope == 0 and p.level
        )
    special = ""
    if p.jump:
        special = f"a jump at {p.here}: z itself jumps, so it has no slope there"
    elif p.kink:
        special = f"a kink at {p.here}: measured slope {_four(p.left)} on the left, {_four(p.right)} on the right"
    differences = [
        (
            f"{name} difference {_ten(one)}"
            + f", {_off(one - p.slope)} from {still.whose}" * bool(np.isfinite(p.slope))
        )
        if np.isfinite(one)
        else f"no {name} difference, because one of its points has no value"
        for name, one in [("left", p.leftward)] * p.kink
        + [("forward", p.forward), ("central", p.central)]
    ]
    return [point, special, "\n".join(f"h = {number(p.h)}: {words}" for words in differences)]


def _moving(p):
    """Return the Axes of the three panels, after drawing on them everything that moves.

    `p` is the _Here of the point.
    """
    still = p.still
    curve, rule, errors = plots = still.axes()
    curve.line([p.x, p.x], curve.y, style.LINE, 1, "3 3")
    tangents = (
        [(-1, p.left), (1, p.right)] if p.kink else [] if p.jump else [(-1, p.slope), (1, p.slope)]
    )
    secants = [p.leftward, p.forward] if p.kink else [p.forward]
    if p.exists:
        across = still.across(p.x)
        rule.line([across, across], rule.y, style.LINE, 1, "3 3")
        rule.parts += still.over.parts
        for slope in secants:
            if np.isfinite(slope):
                curve.straight(p.x, p.z, slope, style.DIFFERENCE, 1.5)
        for way, slope in tangents:
            if np.isfinite(slope):  # wider at a kink, where the curve or the secant may cover it
                wide, ways = (8, (-1, 1)) if p.kink else (3.5, [way])
                curve.straight(p.x, p.z, slope, style.TANGENT, wide, DOTS, ways)
        _dots(
            rule,
            *((across, slope, style.DIFFERENCE, "none", False, 5) for slope in secants),
            (across, p.central, style.DIFFERENCE, "none", True, 5),
            (across, p.slope, style.GRADIENT, style.GRADIENT, False, 4),
        )
        _dots(
            curve,
            *[(p.x - p.h, p.low, style.DIFFERENCE, style.PAPER, False, 5)] * p.kink,
            (p.x + p.h, p.high, style.DIFFERENCE, style.PAPER, False, 5),
            (p.x, p.z, style.DIFFERENCE, style.PAPER, False, 5),
        )
        hs = sorted({*STEPS, p.h}, reverse=True)
        against_steps(errors, hs, errors_at(still.value, p.x, p.slope, hs), 1e-16, p.h)
    else:
        curve.words(BOX[0] + BOX[2] / 2, BOX[1] + 24, f"no value at {p.here}", halo=True)
        rule.parts += still.over.parts
    numbers = " and ".join(dict.fromkeys(_four(slope) for _, slope in tangents)) or "none"
    drawn = (
        "tangent: write your rule first"
        if still.waits and not p.kink
        else f"tangent{'s' * p.kink}: slope {numbers}"
    )
    rule_says = (
        "rule: still …"
        if still.waits
        else f"rule: {'nan' if np.isnan(p.slope) else _four(p.slope)}"
    )
    curve.key(BOX[0], KEYS[0], drawn, style.TANGENT, 3.5, DOTS)
    slopes = " and ".join(dict.fromkeys(map(_four, secants)))
    curve.key(BOX[0], KEYS[1], f"secant{'s' * p.kink}: slope {slopes}", style.DIFFERENCE, 1.5)
    rule.key(BOX[0], KEYS[0], rule_says, style.GRADIENT, 2.5, DASHES)
    _mark_key(rule, 0, 156, "measured", size=3.5)
    for row, name, one in [(1, "forward", p.forward), (2, "central", p.central)]:
        said = f"{name} difference: {_four(one)}"
        if p.kink and name == "forward":
            said = f"differences: left {_four(p.leftward)}, right {_four(one)}"
        _mark_key(rule, row, 0, said, square=name == "central")
        if not still.waits:
            _mark_key(
                errors,
                row,
                0,
                f"{name}: {_off(one - p.slope)}",
                square=name == "central",
                fill=style.DIFFERENCE,
            )
    return plots


def _mark_key(plot, row, across, words, **mark):
    plot.mark(BOX[0] + across + 6, KEYS[row] - 5, style.DIFFERENCE, **mark)
    plot.words(BOX[0] + across + 18, KEYS[row], words, anchor="start", size=13)


def _draw(still, x, h, errors=True):
    """Draw the panels as a Picture, with the point at x and the step h.

    `still` is the _Still with the parts that do not move. `errors` is False to leave out the third
    panel.
    """
    p = _Here(still, x, h)
    point, special, differences = _words(p)
    about = [point, still.verdict[0], differences][
        : 3 - (still.waits or not errors)
    ]  # without a rule no difference is wrong
    panels = "".join(
        f'<div style="flex:1 1 {NARROW}px;max-width:{WIDE}px">'
        f"{svg(SIZE, ''.join(still_parts + plot.parts), words)}</div>"
        for still_parts, plot, words in zip(still.drawn, _moving(p), about)
    )
    text = "\n".join(
        filter(None, [point, special, differences if p.exists else "", *still.verdict])
    )
    return Picture(
        f'<div style="{style.CARD};display:flex;flex-wrap:wrap;padding:0">{panels}</div>', text
    )
