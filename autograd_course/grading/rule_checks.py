"""Test a rule (expect_rule) and a scalar engine (expect_engine), and recognise wrong ones."""

from functools import lru_cache, partial
from itertools import product

import numpy as np

from autograd_lib import vjp

from ..source import is_stub
from .causes import Cause
from .compare import expect, expect_call, same
from .inputs import alike, expect_over
from .mistakes import keepdims_lost, sign_lost
from .sandbox import StepLimitExceeded, bounded
from .sentences import brief
from .verdict import NotYet, Wrong

# --- A rule of the table: rule(g, z, x, y, …) ------------------------------------------------------------------------------


def expect_rule(rule, row, arg=0, *, whole=False, inputs=None, hints=(), **params):
    """Stop the check unless `rule` agrees with the rule of argument `arg` in `row`.

    `row` is a row of the table, such as ag.multiply. The rule is tried on floats, as in the engine:
    numbers, one array in every place, arrays, arrays that broadcast, and the grid of SPECIAL
    numbers wherever the row has a slope there: 0, below 0, large, small. Each input is tried twice,
    with a random upstream gradient, and the rule must not change its arrays. It is not tried at a
    kink, where the exercise decides which value is right. If `whole`, the rule itself sums over the
    broadcast axes, down to the shape of its input; otherwise the rule is as in ops.py, where the
    engine computes this sum. `inputs`, a list of tuples, replaces these inputs; it is required for
    every row that is not elementwise. `hints` are (wrong rule, hint) pairs, which are tried before
    the pairs of `of_rule`. `params` are the row's keywords; an axis is tried as given, and counted
    from the end.
    """
    if is_stub(rule):
        raise NotYet
    for named in _both_axes(inputs, params):
        function = (lambda *args: rule(*args, **named)) if named and callable(rule) else rule
        right, over = (
            _right(row, arg, whole, named),
            row.kind == "elementwise" and not inputs and not named,
        )
        known = [
            *hints,
            *(
                _of_elementwise(row, arg, whole)
                if over
                else of_rule(row, arg, whole=whole, inputs=inputs, **named)
            ),
        ]

        def tried(*given, told={"axis": named["axis"]} if named != params else {}):
            named_values = [as_given(row, given)]
            named_values += [f"{name} = {brief(value)}" for name, value in told.items()]
            return f"the rule for {row.input_names[arg]} of {row.name}, with " + ", ".join(
                named_values
            )

        cases = [_as_the_engine(given, arg) for given in rule_cases(row, inputs, named)]
        # a sign seen to differ is a sure cause
        sign = [wrong for wrong, hint in known if hint == Cause("sign")]
        for given in cases:
            expect_call(
                function,
                *given,
                gives=right(*given),
                hints=known,
                tried=partial(tried, *given),
                sure=lambda wrong: wrong in sign or alike(function, lambda: cases, wrong),
            )
        if over:
            expect_over(
                function,
                right,
                partial(_elementwise, row, arg),
                hints=known,
                tried=tried,
                rtol=1e-12,
                first=[_as_the_engine(given, arg) for given in _special_cases(row, arg)],
            )


def as_given(row, given):
    """Return the arguments of a rule as text: "g = 2, z = 6, x = 2, y = 3"."""
    names = ["g", "z", *row.input_names]
    return ", ".join(f"{name} = {brief(value)}" for name, value in zip(names, given))


def _as_the_engine(given, arg):
    """Return the arguments with NumPy scalars in place of numbers, as the engine passes them.

    So a rule may use their methods, as in (x > 0).astype(float).
    """
    return (
        given
        if np.ndim(given[2 + arg])
        else (*given[: 2 + arg], np.asarray(given[2 + arg])[()], *given[3 + arg :])
    )


def _elementwise(row, arg, d):
    """Return the arguments (g, z, x, y, …) of a rule of an elementwise row.

    They are numbers, or arrays of one shape, at which the row has a value.

    An input that requires no gradient may be a whole number, which the engine passes on unchanged,
    such as the 2 of x / 2.
    """
    draw = d if _signed(row) else d.above
    shape = d.shape(0, 1, 2, 3, 1)
    xs = [
        np.clip(draw(*shape), -500, 500) for _ in row.rules
    ]  # beyond, exp overflows in many right rules
    xs = xs[:1] * len(xs) if d.round % 11 == 7 else xs  # one array in every place
    if d.kind == "whole":
        xs = [x if i == arg else int(np.ceil(np.max(x))) or 2 for i, x in enumerate(xs)]
    with np.errstate(all="ignore"):
        if not (valued := np.isfinite(row.function(*xs))).all():  # such as y = 0 in x / y
            xs = [x if type(x) is int else np.where(valued, x, 1.0)[()] for x in xs]
        return d.g(*shape), row.function(*xs), *xs


def _signed(row):
    """Return True if a row has values at numbers below 0."""
    with np.errstate(all="ignore"):
        return bool(np.all(np.isfinite(row.function(*[np.array([-1.7, -0.4, 0.6])] * row.arity))))


@lru_cache(maxsize=128)
def _of_elementwise(row, arg, whole):
    """Return the mistakes for a row that takes any numbers and no keywords."""
    return of_rule(row, arg, whole=whole)


def _both_axes(inputs, params):
    """Return [params], and where possible a second dict with the axis counted from the end."""
    axis = params.get("axis")
    return (
        [params, {**params, "axis": axis - np.ndim(inputs[0][0])}]
        if type(axis) is int and axis >= 0 and inputs
        else [params]
    )


def of_rule(row, arg=0, *, whole=False, inputs=None, **params):
    """Return [(wrong rule, hint), …] for an exercise that calls expect_rule.

    Pass the same arguments as in that call.
    """
    right, names = _right(row, arg, whole, params), row.input_names
    mine = names[arg]
    slopes = row.name != "softmax"  # its gradient is 0 if all of g is 1
    made = [
        *[
            (
                lambda g, z, *xs: right(np.ones_like(g), z, *xs),
                Cause("no g"),
            )
        ]
        * slopes,
        sign_lost(right),
        *(
            (
                _right(row, i, whole, params),
                f"That is the gradient of {name}, but the question is about {mine}.",
            )
            for i, name in enumerate(names)
            if row.rules[i] and i != arg
        ),
        (
            lambda g, z, *xs: tuple(
                _right(row, i, whole, params)(g, z, *xs) for i in range(len(xs)) if row.rules[i]
            ),
            f"{len(names)} gradients were returned in a tuple. This rule is for {mine} alone."
            if len(names) > 1
            else "The result is a tuple: is there a comma too many?",
        ),
        (lambda g, z, *xs: right(g * g, z, *xs), "g appears twice; multiply by it once."),
        *[
            (
                lambda g, z, *xs: g + right(np.ones_like(g), z, *xs),
                "g is added. Multiply the slope by g, the upstream gradient.",
            )
        ]
        * slopes,
        (lambda g, z, *xs: g * z, "That is g times the value. It should be g times the slope."),
    ]
    if whole:
        made[:0] = [
            (_right(row, arg, False, params), Cause("shape: not summed")),
            keepdims_lost(right),
        ]
    elif row.kind == "elementwise":
        rule = row.rules[arg]
        made += [
            (
                lambda g, z, *xs: rule(g, xs[arg], *xs),
                f"That is the rule with {mine} in place of z: this slope is taken from the output.",
            ),
            (lambda g, z, *xs: rule(g, z, *[z] * len(xs)), "z is used where an input belongs."),
        ]
    if row.name == "mean":
        made.append(
            (
                lambda g, z, *xs: right(g, z, *xs) * np.size(xs[arg]) / np.size(z),
                "n times too large: a mean has a 1/n.",
            )
        )
    tried, kept = rule_cases(row, inputs, params), []
    for wrong, hint in made:
        caught = next((given for given in tried if _differ(wrong, right, given)), None)
        if caught and all(
            _differ(wrong, other, caught) for other, _ in kept
        ):  # else it is right here, or an earlier one says it
            kept.append((wrong, hint))
    return kept


def _right(row, arg, whole, params):
    if not whole:
        return lambda g, z, *xs: row.rules[arg](g, z, *xs, **params)
    return lambda g, z, *xs: vjp(
        lambda *given: row(*given, **params), *(np.asarray(x, float) for x in xs)
    )[1](np.asarray(g))[arg]


def rule_cases(row, inputs, params):
    """Return the cases [(g, z, x, y, …), …] on which a rule is tried.

    The first case consists of numbers, so that its verdict can be worked out by hand.
    """
    rng, arity = np.random.default_rng(3), row.arity
    signed = inputs or _signed(row)

    def draw(*shape):
        x = np.round(rng.uniform(0.3, 2.5, shape), 2)
        return (x if not signed else x * rng.choice([-1, 1], shape))[()]

    if not inputs:
        shared, shapes = draw(3), [(2, 3)] * (arity - 1)
        inputs = [
            [float(draw()) for _ in range(arity)],
            np.arange(3.0, 3 + arity),
            [shared] * arity,
            [draw(2, 3) for _ in range(arity)],
        ]
        if arity > 1:
            inputs += [
                [draw(*shape) for shape in order]
                for few in [(3,), (2, 1)]
                for order in [[few, *shapes], [*shapes, few]]
            ]
        inputs.append([np.arange(1.0, 7.0).reshape(2, 3) + k for k in range(arity)])
    tried = []
    for xs in inputs:
        z = row.function(*xs, **params)
        tried.append((np.round(rng.normal(size=np.shape(z)), 2), z, *xs))
    return tried


SPECIAL = [-30.0, -2.0, -1.3, 0.0, 0.7, 1.0, 2.0, 3.0, 30.0, 1e-6]


@lru_cache(maxsize=128)
def special_points(row, arg):
    """Return the special points of an elementwise row, sorted by their slopes.

    The result is (points with one slope, kinks, points without a slope) on the grid SPECIAL, where
    the row has a value.

    A point is a list of inputs, in which a condition is once True and once False; a kink is (point,
    slope before it, slope after it). A point with a slope on one side only is at the edge of the
    domain, as x = 0 is for log x in the rule of power's y, and is in none of the three lists.
    """

    def slope(xs):
        return row.rules[arg](np.float64(1), row.function(*xs), *xs)

    smooth, kinks, none = [], [], []
    grid = [
        list(xs)
        for xs in product(
            *(map(np.float64, SPECIAL) if rule else [True, False] for rule in row.rules)
        )
    ]
    with np.errstate(all="ignore"):
        for xs in grid:
            sides = {
                i: [slope([*xs[:i], x + h, *xs[i + 1 :]]) for h in (-1e-12, 1e-12)]
                for i, x in enumerate(xs)
                if row.rules[i]
            }
            if not np.isfinite(row.function(*xs)) or any(
                np.sum(np.isnan(both)) == 1 for both in sides.values()
            ):
                continue
            if np.isnan([slope(xs), *sides[arg]]).all():
                none.append(xs)
            elif np.isfinite(slope(xs)):
                if all(
                    np.isclose(*both, rtol=1e-3, atol=1e-3) or not np.isfinite(both).all()
                    for both in sides.values()
                ):
                    smooth.append(xs)
                elif not np.isclose(*sides[arg], rtol=1e-3, atol=1e-3):
                    kinks.append((xs, *sides[arg]))
    order = np.random.default_rng(4).permutation(len(smooth))[:100]  # a sample: clip has a thousand
    return [smooth[i] for i in sorted(order)], kinks, none


@lru_cache(maxsize=128)
def _special_cases(row, arg):
    """Return [(g, z, x, y, …), …] at the special points with one slope.

    The last case has all of these points in one array.
    """
    rng, points = np.random.default_rng(4), special_points(row, arg)[0]
    inputs = [*points, [np.array(column) for column in zip(*points)]] if points else []
    return [
        (np.round(rng.normal(size=np.shape(xs[0])), 2), row.function(*xs), *xs) for xs in inputs
    ]


def _differ(wrong, right, given):
    try:
        return not same(wrong(*given), right(*given), 1e-6, 1e-9)
    except Exception:  # swapped rules of a matrix product do not fit each other's shapes
        return True


def not_between(got, function, x, h=1e-8):
    """Return [(i, lesser, greater), …] where got[i] is not between the one-sided slopes at x[i].

    The slopes are measured with the step h.
    """
    z, up, down = (np.asarray(function(at)) for at in (x, x + h, x - h))
    low, high = np.sort([up - z, z - down], axis=0) / h
    near = 1e-3 * (1 + np.abs(low))
    return [
        (i, low[i], high[i]) for i in np.flatnonzero(~((low - near < got) & (got < high + near)))
    ]


# --- A scalar engine: Scalar(2.0), + and *, L.backward(), x.grad -----------------------------------------------------------


def expect_engine(Scalar):
    """Stop the check unless the class `Scalar` computes gradients as an engine must.

    `Scalar(2.0)` is an input; + and * make results; `L.backward()` adds to the `.grad` of every
    input (0 or None before). The check tries a path, a node used twice, a node that waits for a
    later user, two backward calls, a second graph on the same input, an input that L does not
    depend on, and 40 doublings (2⁴⁰ paths). The function returns DEEP, for the verdict, if the
    engine fails at 5000 additions in a row because it calls itself, and SLOW if `.backward()`
    raises StepLimitExceeded there.
    """
    if not isinstance(Scalar, type):
        raise Wrong(
            "your engine",
            brief(Scalar),
            "a class",
            "The check creates its own numbers, so pass the class itself.",
        )
    methods = [m for m in vars(Scalar).values() if callable(m)]
    if not methods or any(map(is_stub, methods)):
        raise NotYet
    broken = of_engine()
    for tried, probe, right in ENGINE_CASES:
        hints = [
            (wrong, sentence)
            for engine, sentence in broken
            if (wrong := _outcome(probe, engine)) != right
        ]
        try:
            got = probe(Scalar)
        except StepLimitExceeded as endless:
            raise Wrong(tried, str(endless), brief(right), endless.cause) from None
        expect(got, right, tried=tried, hints=hints)
    _expect_each_node_once(Scalar)
    return _on_depth(Scalar)


def of_engine():
    """Return [(wrong engine, hint), …] for an exercise that calls expect_engine."""
    return [(engine(fault), sentence) for fault, sentence in FAULTS.items()]


def _gradients(L, *inputs, calls=1):
    for _ in range(calls):
        bounded(L.backward)
    return tuple(x.grad or 0.0 for x in inputs)


def _path(Scalar):
    x, y, w = Scalar(1.0), Scalar(4.0), Scalar(-3.0)
    return _gradients((x + y) * w, x, y, w)


def _square(Scalar, calls=1):
    a, b = Scalar(10.0), Scalar(5.0)
    c = a * b
    return _gradients(c * c, a, b, calls=calls)


def _waiting(Scalar):
    a = Scalar(3.0)
    b = Scalar(2.0) * a
    return _gradients(b * (b + Scalar(1.0)), a)


def _two_graphs(Scalar):
    a, unused = Scalar(2.0), Scalar(1.0)
    _gradients(a * Scalar(5.0), a)
    return _gradients(a * a, a, unused)


ENGINE_CASES = [
    ("the gradients of x, y and w in L = (x + y) · w, at 1, 4 and −3", _path, (-3.0, -3.0, 5.0)),
    ("the gradients of a and b in L = c · c with c = a · b, at 10 and 5", _square, (500.0, 1000.0)),
    ("the gradient of a in L = b · (b + 1) with b = 2 · a, at 3", _waiting, (26.0,)),
    (
        "the same L = c · c, with two backward calls on it",
        lambda Scalar: _square(Scalar, 2),
        (1000.0, 2000.0),
    ),
    (
        "a · 5 and then a · a, at 2, each with a backward call; and an input that neither uses",
        _two_graphs,
        (9.0, 0.0),
    ),
]

FAULTS = {
    "replaced": "Two calls gave the same gradient as one call. Gradients accumulate in an input until you reset them.",
    "=": "Exactly half at a value that is used twice: two contributions arrive, and they must be added. Is there an = in place of +=?",
    "early": "A gradient was passed on before all its contributions had arrived. Which users of this value had not been visited? Visit each value after all its users.",
    "kept": "Two calls gave three times the gradient: a value still holds its gradient from the first call. Which value was not reset?",
    "seeded twice": "Two calls gave four times the gradient: a value still holds its gradient from the first call. Which value was not reset?",
    "unseeded": "No input receives a gradient. What is the gradient of L itself, where the backward pass begins?",
    "local": "Those are local gradients. Multiply each by the upstream gradient of its operation.",
    "own": "In a product the local gradient of x is the other factor, not x itself.",
    "every path": "Every path is followed separately. Visit each value once, after all its users.",
}
DEEP = (
    "It fails on a deep graph, with 5,000 additions in a row: your function calls itself, and Python allows only about a thousand nested calls. "
    "A loop over a list has no such limit."
)
SLOW = (
    "It is too slow on a large graph: 5,000 additions need only 5,000 visits. Does each visit look at all "
    "the other values too?"
)


def engine(fault=None):
    """Return a scalar engine with one of FAULTS, or without a fault."""

    class Scalar:
        def __init__(self, data, inputs=(), locals=()):
            self.data, self.inputs, self.locals, self.grad = data, inputs, locals, 0.0

        def __add__(self, other):
            return Scalar(self.data + other.data, (self, other), (1.0, 1.0))

        def __mul__(self, other):
            return Scalar(
                self.data * other.data,
                (self, other),
                (self.data, other.data) if fault == "own" else (other.data, self.data),
            )

        def backward(self):
            arrived = self.arrived = (
                getattr(self, "arrived", {}) if fault in ("kept", "seeded twice") else {}
            )
            arrived[self] = (
                arrived.get(self, 0.0) + 1.0
                if fault == "seeded twice"
                else 0.0
                if fault == "unseeded"
                else 1.0
            )
            if fault == "replaced":
                for node in _order(self):
                    node.grad = 0.0
            if fault == "every path":
                return self.pay(1.0)
            for node in _order(self, fault):
                g = arrived[node]
                if not node.inputs:
                    node.grad += g
                for x, local in zip(node.inputs, node.locals):
                    gx = local if fault == "local" else g * local
                    arrived[x] = gx if fault == "=" else arrived.get(x, 0.0) + gx
            if fault in ("kept", "seeded twice"):
                self.arrived = {node: g for node, g in arrived.items() if node.inputs}

        def pay(self, g):
            if not self.inputs:
                self.grad += g
            for x, local in zip(self.inputs, self.locals):
                x.pay(g * local)

    return Scalar


def _order(output, fault=None):
    """Return every node that `output` depends on, after its users.

    With one of FAULTS the order differs.
    """
    if fault == "early":
        found = [output]
        for node in found:
            found += [x for x in dict.fromkeys(node.inputs) if x not in found]
        return found
    found, seen, stack = [], {output}, [(output, iter(output.inputs))]
    while stack:
        node, rest = stack[-1]
        x = next(rest, None)
        if x is None:
            found.append(stack.pop()[0])
        elif x not in seen:
            seen.add(x)
            stack.append((x, iter(x.inputs)))
    return found[::-1]


def _outcome(probe, Scalar):
    try:
        return probe(Scalar)
    except RecursionError:
        return None


def _expect_each_node_once(Scalar):
    one = Scalar(1.0)  # depth-first order is quick only for doublings, so other graphs follow
    for times, words, longer, visits in [
        (40, "40 doublings, b = b + b", lambda b: b + b, 41),
        (20, "b = b · 1 · 1 + b, 20 times", lambda b: b * one * one + b, 62),
    ]:
        b = a = Scalar(1.0)
        for _ in range(times):
            b = longer(b)
        try:
            bounded(b.backward, most=50_000)
        except StepLimitExceeded:
            raise Wrong(
                f"{words}, and one backward call",
                "not finished after 50,000 steps",
                f"{visits} visits",
                FAULTS["every path"],
            ) from None
        expect(a.grad, 2.0**times, tried=f"the gradient of a after {words}")


def _on_depth(Scalar):
    b = a = Scalar(0.0)
    one = Scalar(
        1.0
    )  # the same each time: in a list of what was met, as order of lesson 05 keeps, `in` is slow
    for _ in range(5000):
        b = b + one
    try:
        b.backward()
    except RecursionError:
        return DEEP
    except StepLimitExceeded:
        return SLOW
    expect(a.grad, 1.0, tried="the gradient of a after 5000 additions in a row")
    return ""
