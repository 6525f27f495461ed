"""Test a rule (expect_rule) or a scalar engine (expect_engine), and recognise common mistakes."""

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

    The rule is tried on floats, as in the engine: on numbers, on one array passed as every input,
    on arrays, on arrays that broadcast, and on the grid of SPECIAL numbers (0, below 0, large, small)
    wherever the row has a slope. Each input is tried twice, with a random upstream gradient, and
    the rule must not change its arguments. The rule is not tried at a kink, where the exercise
    decides which value is right.

    Parameters
    ----------
    rule : callable
        The learner's rule, called as `rule(g, z, x, y, …)`.
    row : Primitive
        A row of the table, such as ag.multiply.
    arg : int
        The position, from 0, of the input whose gradient the rule computes.
    whole : bool
        True if the learner's rule itself sums over the broadcast axes. If False, the rule is as in
        ops.py, and the engine computes this sum.
    inputs : list of tuples, optional
        The inputs (x, y, …) to try instead of those listed above. Required for every row that is
        not elementwise.
    hints : sequence
        Pairs (wrong rule, hint), which are tried before those of `of_rule`.
    **params
        The row's keyword arguments. An axis is tried as given, and also counted from the end.

    Raises
    ------
    NotYet
        If the rule is still a stub.
    Wrong
        If the two rules disagree, or if the learner's rule changes an argument.
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
            named_values = [format_arguments(row, given)]
            named_values += [f"{name} = {brief(value)}" for name, value in told.items()]
            return f"the rule for {row.input_names[arg]} of {row.name}, with " + ", ".join(
                named_values
            )

        cases = [_with_numpy_scalar(given, arg) for given in rule_cases(row, inputs, named)]
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
                first=[_with_numpy_scalar(given, arg) for given in _special_cases(row, arg)],
            )


def format_arguments(row, given):
    """Return the arguments of a rule as a string, such as "g = 2, z = 6, x = 2, y = 3".

    `given` is the tuple (g, z, x, y, …).
    """
    names = ["g", "z", *row.input_names]
    return ", ".join(f"{name} = {brief(value)}" for name, value in zip(names, given))


def _with_numpy_scalar(given, arg):
    """Return the arguments of a rule, with input `arg` converted to a NumPy scalar if it is a number.

    The engine passes numbers in this form, so a rule may use their methods, such as `astype`.
    `given` is the tuple (g, z, x, y, …).
    """
    return (
        given
        if np.ndim(given[2 + arg])
        else (*given[: 2 + arg], np.asarray(given[2 + arg])[()], *given[3 + arg :])
    )


def _elementwise(row, arg, d):
    """Return random arguments (g, z, x, y, …) for a rule of an elementwise row.

    The inputs are numbers, or arrays of one shape, at which the row has a value. An input other
    than number `arg` may be an int, because the engine passes constants unchanged, such as the 2 of
    x / 2. `d` is the Draw.
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
    """Return True if the function of an elementwise row is defined for numbers below 0."""
    with np.errstate(all="ignore"):
        return bool(np.all(np.isfinite(row.function(*[np.array([-1.7, -0.4, 0.6])] * row.arity))))


@lru_cache(maxsize=128)
def _of_elementwise(row, arg, whole):
    """Return the mistakes of `of_rule` for an elementwise row without keywords, and cache them."""
    return of_rule(row, arg, whole=whole)


def _both_axes(inputs, params):
    """Return a list of one or two versions of `params`, the keyword arguments of the row.

    If they contain an axis that is counted from the start, the second version counts this axis from
    the end. The first array in `inputs` determines the number of axes.
    """
    axis = params.get("axis")
    return (
        [params, {**params, "axis": axis - np.ndim(inputs[0][0])}]
        if type(axis) is int and axis >= 0 and inputs
        else [params]
    )


def of_rule(row, arg=0, *, whole=False, inputs=None, **params):
    """Return a list of common wrong rules, as (wrong rule, hint), for a check with `expect_rule`.

    Pass the same `row`, `arg`, `whole`, `inputs` and keywords to both functions.
    """
    right, names = _right(row, arg, whole, params), row.input_names
    mine = names[arg]
    slopes = row.name != "softmax"  # its gradient is 0 if all of g is 1
    ruled = [i for i in range(len(names)) if row.rules[i]]

    def each(g, z, *xs):
        return tuple(_right(row, i, whole, params)(g, z, *xs) for i in ruled)

    def each_or_none(g, z, *xs):
        """Return one entry per input, as PyTorch expects: None for an input without a rule."""
        found = dict(zip(ruled, each(g, z, *xs)))
        return tuple(found.get(i) for i in range(len(names)))

    tuples = [each] if len(ruled) == len(names) else [each, each_or_none]
    in_tuple = (
        f"{len(ruled)} gradients were returned in a tuple. This rule is for {mine} alone."
        if len(ruled) > 1
        else "The result is a tuple: is there a comma too many?"
    )
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
        *((wrong, in_tuple) for wrong in tuples),
        (lambda g, z, *xs: right(g * g, z, *xs), "g appears twice. Multiply by g only once."),
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
                f"That is the rule with {mine} in place of z. Compute this slope from the output, z.",
            ),
            (lambda g, z, *xs: rule(g, z, *[z] * len(xs)), "z is used where an input belongs."),
        ]
    if row.name == "mean":
        made.append(
            (
                lambda g, z, *xs: right(g, z, *xs) * np.size(xs[arg]) / np.size(z),
                "n times too large: a mean has the factor 1/n.",
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
    """Return a list of tuples (g, z, x, y, …), the arguments with which a rule is tested.

    The first tuples contain single numbers, so that the learner can check a verdict by hand.
    `inputs`, a list of (x, y, …), replaces the default inputs, and `params` are the row's keyword
    arguments.
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
    """Classify the special inputs of an elementwise row by the slope with respect to input `arg`.

    The slope may exist, jump or be undefined.

    The inputs are the points of the grid SPECIAL at which the row has a value. A point is a list of
    inputs (x, y, …). A condition, such as the first input of `where`, takes the values True and
    False.

    A point with a slope on one side only is at the edge of the domain, and is in none of the lists.
    An example is x = 0 for log x, which occurs in the rule of `power` for y.

    Parameters
    ----------
    row : Primitive
        An elementwise row of the table, such as ag.multiply.
    arg : int
        The position of the input, from 0.

    Returns
    -------
    smooth : list
        The points with a single slope, or a random sample of 100 of them.
    kinks : list of tuples
        (point, slope before the point, slope after the point) for each point at which the slope
        jumps.
    none : list
        The points without a slope.
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
    """Return a list of the rule's arguments (g, z, x, y, …) at each special point with a single slope.

    In the last tuple, each argument is an array over all of these points.
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


def outside_one_sided_slopes(got, function, x, h=1e-8):
    """Return the entries of `got` that are not between the one-sided slopes of `function` at x.

    The result is a list of (index, smaller slope, larger slope). `x` and `got` are arrays of one
    axis. The slopes are measured with the step h.
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

    `Scalar(2.0)` is an input, + and * make results, and `L.backward()` adds to the `.grad` of every
    input. Each `.grad` is 0 or None at first. The check tries a path, a node that is used twice, a
    node that must wait for a later user, two backward calls, a second graph on the same input, an
    input that L does not depend on, and 40 doublings (2⁴⁰ paths).

    Returns
    -------
    str
        A remark for the verdict, about a graph of 5,000 additions in a row: DEEP if `.backward()`
        exceeds Python's recursion limit, SLOW if it raises StepLimitExceeded, and otherwise "".

    Raises
    ------
    NotYet
        If a method is still a stub.
    Wrong
        If `Scalar` is not a class, if a gradient is wrong, or if a node is visited too often.
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
    """Return a list of wrong engines, as (wrong class, hint), for a check with `expect_engine`."""
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


def _unequal_paths(Scalar):
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
    ("the gradient of a in L = b · (b + 1) with b = 2 · a, at 3", _unequal_paths, (26.0,)),
    (
        "the gradients of a and b in the same L = c · c, after two backward calls",
        lambda Scalar: _square(Scalar, 2),
        (1000.0, 2000.0),
    ),
    (
        "the gradients of a and of an unused input, after backward calls on a · 5 and then on a · a, at 2",
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
    """Return a class `Scalar` that is a scalar engine, with a deliberate fault if `fault` is given.

    `fault` is a key of FAULTS.
    """

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
                return self.follow_every_path(1.0)
            for node in _order(self, fault):
                g = arrived[node]
                if not node.inputs:
                    node.grad += g
                for x, local in zip(node.inputs, node.locals):
                    gx = local if fault == "local" else g * local
                    arrived[x] = gx if fault == "=" else arrived.get(x, 0.0) + gx
            if fault in ("kept", "seeded twice"):
                self.arrived = {node: g for node, g in arrived.items() if node.inputs}

        def follow_every_path(self, g):
            if not self.inputs:
                self.grad += g
            for x, local in zip(self.inputs, self.locals):
                x.follow_every_path(g * local)

    return Scalar


def _order(output, fault=None):
    """Return a list of all nodes that `output` depends on, in which each node follows its users.

    If `fault` is "early", some nodes come before one of their users.
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
