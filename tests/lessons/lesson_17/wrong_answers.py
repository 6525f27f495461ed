"""Wrong answers to the exercises of lesson 17 with their causes, and right answers in other styles."""

import numpy as np
from answer_cases import cases

import autograd_lib as ag
from autograd_course.grading import edit
from autograd_course.lessons.lesson_17.exercises import _plain, _repeat

cases(
    "17.needed",
    wrong=[
        ("bz", "own: a string of the letters"),
        (2, "own: a string of the letters"),
        ("bee", "own: twice"),
        (["b", 5], "own: a string of the letters"),
        (np.nan, "own: a string of the letters"),
        ("cd", "mistake 9"),
        ("cde", "own: Of the five, 2 are correctly"),
        ("bc", "own: left out. multiply's rule for c reads 0.5"),
        ("ade", "own: left out. a goes into add"),
    ],
    accepted=['"eb"', '["b", "e"]', '{"e", "b"}', '"b, e"', '("b", "e")', '" B E "'],
)


def _silu(x):
    return x * ag.sigmoid(x)


def _row(rule, function=_silu):
    return ag.elementwise(function, rule, name="silu")


def _right_rule(g, z, x):
    return g * ag.sigmoid(x) * (1 + x * (1 - ag.sigmoid(x)))


def _remembers(keep):
    """Return a row whose rule uses the sigmoid of its last call, or of every call."""
    kept = []

    def function(x):
        s = ag.sigmoid(x)
        kept[:] = [*kept, s] if keep else [s]
        return x * s

    return _row(lambda g, z, x: g * (kept[-1] + z * (1 - kept[-1])), function)


def _overwrites(x):
    x *= ag.sigmoid(x)
    return x.copy()


cases(
    "17.golf",
    wrong=[
        (lambda x: ag.multiply(x, 1 / (1 + ag.exp(-x))), "own: 5 arrays"),
        (lambda x: (x * ag.sigmoid(x)).reshape(-1), "shape: other layout"),
        (_remembers(False), "own: With another call in between"),
        (_remembers(True), "own: With another call in between"),
        (
            _row(lambda g, z, x: ag.sigmoid(x) * (1 + x * (1 - ag.sigmoid(x)))),
            "own: Off by the factor g",
        ),
        (_row(lambda g, z, x: -_right_rule(g, z, x)), "sign"),
        (_row(lambda g, z, x: g * ag.sigmoid(x)), "own: σ was made a constant"),
        (_row(lambda g, z, x: _right_rule(g, z, x) * (x > -5)), "own: one formula"),
        (_row(lambda g, z, x: g * x * ag.sigmoid(x) * (1 - ag.sigmoid(x))), "own: second path"),
        (
            _row(lambda g, z, x: g * ag.sigmoid(x) * (1 + z * (1 - ag.sigmoid(x)))),
            "own: One σ too many",
        ),
        (_row(lambda g, z, x: g * (ag.sigmoid(x) + x * (1 - ag.sigmoid(x)))), "own: Brackets"),
        (_row(lambda g, z, x: g * ag.sigmoid(x) * (1 - ag.sigmoid(x))), "own: slope of σ alone"),
        (_row(lambda g, z, x: g * z), "own: g times the value"),
        (_row(lambda g, z, x: g * (_silu(x + 1e-5) - _silu(x - 1e-5)) / 2e-5), "last digits"),
        (_row(lambda g, x, z: _right_rule(g, z, x)), "own: in this order"),
        (_row(lambda g, z, x: g * ag.sigmoid(x) * (1 - x * (1 - ag.sigmoid(x)))), "own: A sign"),
        (
            _row(lambda g, z, x: g * ag.sigmoid(x) * (1 + x * (1 + ag.sigmoid(x)))),
            "own: the inner brackets are 1",
        ),
        (
            _row(lambda g, z, x: g * ag.sigmoid(x) * (1 + x * ag.sigmoid(x))),
            "own: The inner brackets are missing",
        ),
        (_row(lambda g, z, x: g * (1 + x * (1 - ag.sigmoid(x)))), "own: in front of the brackets"),
        (_row(lambda g, z, x: g * z * (1 + x * (1 - z))), "own: z is x · σ(x) here"),
        (_row(_right_rule, lambda x: ag.sigmoid(x)), "own: a different value"),
        (_row(_right_rule, lambda x: np.maximum(x, 0) * 1.0), "own: a different value"),
        (_row(_right_rule, lambda x: (x * ag.sigmoid(x)).astype(np.float32)), "own: float32"),
        (_row(_right_rule, _overwrites), "own: writes into x"),
        (
            _row(lambda g, z, x: g * np.exp(x) * (1 + x + np.exp(x)) / (1 + np.exp(x)) ** 2),
            "own: overflows",
        ),
        (ag.checkpoint(lambda x: x * ag.sigmoid(x)), "own: ag.checkpoint did the work"),
        (lambda x: ag.checkpoint(_silu)(x), "own: ag.checkpoint did the work"),
        (ag.checkpoint(lambda x: x / (1 + ag.exp(-x))), "own: ag.checkpoint did the work"),
        (_row(_right_rule, lambda x: np.abs(x) * ag.sigmoid(np.abs(x))), "own: a different value"),
        (
            ag.linear(lambda x: x * ag.sigmoid(x), _right_rule, name="silu"),
            "own: the kind elementwise",
        ),
        (_row(lambda g, z, x: np.round(_right_rule(g, z, x))), "first entry"),
        (_row(lambda g, z, x: _right_rule(ag.clip(g, -9, 9), z, x)), "own: The value is right and"),
        (
            _row(lambda g, z, x: _right_rule(g, z, x) * (1 - 0.2 * ((x > 2.6) & (x < 5.5)))),
            "own: The value is right and",
        ),
        (_row(lambda g, z, x: _right_rule(g, z, x) * np.nan), "nan"),
        (
            _row(lambda g, z, x: g * z / x * (1 + x * (1 - z / x))),
            "own: 0/0 at x = 0",
        ),
        (_row(lambda g, z, x: np.sum(_right_rule(g, z, x))), "none | returned shape ()"),
        (_row(lambda g, z, x: _right_rule(g, z, np.abs(x))), "first entry"),
        (
            lambda x: (
                ag.elementwise(
                    lambda a: a * ag.sigmoid(x.data), lambda g, z, a: _right_rule(g, z, a)
                )(x)
                + 0 * x
            ),
            "own: 5 arrays",
        ),
        (lambda x: (x * ag.sigmoid(x)).detach(), "own: no gradient"),
        (lambda x: x.data * ag.sigmoid(x.data), "own: a plain array"),
        (lambda x: ag.Tensor(x.data * ag.sigmoid(x.data), requires_grad=True), "own: no gradient"),
        (lambda x: x * ag.sigmoid(x.data), "own: σ was made a constant"),
        (lambda x: _row(_right_rule), "own: returns a function"),
        (lambda x: [None][0], "nothing"),
        (3.0, "not a function"),
    ],
    accepted=[
        """
        sigma = lambda x: 1 / (1 + np.exp(-np.clip(x, -500, 500)))
        silu = ag.elementwise(lambda x: x * sigma(x), lambda g, z, x: g * (sigma(x) + z * (1 - sigma(x))))""",
        """
        row = ag.elementwise(lambda x: x * ag.sigmoid(x), lambda g, z, x: g * (ag.sigmoid(x) + z - z * ag.sigmoid(x)))
        def silu(x):
            return row(x)""",
        """
        slope = lambda g, z, x: g * ag.sigmoid(x) * (1 + x * ag.sigmoid(-x))
        silu = ag.primitive(lambda x: x * ag.sigmoid(x), [slope], [slope], name="silu")""",
        """
        class Silu:
            def __init__(self):
                self.op = ag.elementwise(self.value, self.rule)
            def rule(self, g, z, x):
                return g * ag.sigmoid(x) * (1 + x * (1 - ag.sigmoid(x)))
            def value(self, x):
                return np.multiply(x, ag.sigmoid(x))
            def __call__(self, x):
                return self.op(x)
        silu = Silu()""",
    ],
)


def _from_the_input(step, x, n, every):
    """Return the right gradient, but recompute each step from the input."""
    g = np.ones(x.shape)
    for i in reversed(range(n)):
        s = ag.Tensor(x)
        with ag.no_grad():
            for _ in range(i):
                s = step(s)
        start = ag.Tensor(s.data, requires_grad=True)
        step(start).backward(g)
        g = start.grad
    return g


def _by_checkpoint(step, x, n, every):
    def stretch(length):
        def run(s):
            for _ in range(length):
                s = step(s)
            return s

        return ag.checkpoint(run)

    def chain(s):
        for i in range(0, n, every):
            s = stretch(min(every, n - i))(s)
        return s.sum()

    return ag.grad(chain)(x)


cases(
    "17.by_hand",
    wrong=[
        edit("g = start.grad", "g = z.grad", "mistake 14"),
        edit("g = start.grad", "g = start", "mistake 12"),
        edit("for i in range(n)", "for i in range(min(n, 50))", "right elsewhere"),
        edit("z.backward(g)", "start.backward(g)", "mistake 3"),
        edit(
            "marks.append((i, s.data))",
            "marks.append((i, s.data))\n            del marks[:-10]",
            "first entry | n = 40, every = 1",
        ),
        edit("min(every, n - i)", "min(every, 20, n - i)", "first entry"),
        edit("return g", "print(g)", "printed"),
        edit("return g", "g", "nothing"),
        edit("return g", "return s.data", "first entry"),
        edit("g = np.ones(s.shape)", "g = np.ones(s.shape) * 2", "double"),
        edit("marks.append((i, s.data))", "marks.append((i, x))", "mistake 32"),
        edit("g = start.grad", "g = start.grad.round(1)", "first entry"),
        edit("g = start.grad", "g = start.grad.astype(np.float32)", "few digits"),
        edit("g = start.grad", "g = abs(start.grad)", "first entry"),
        edit(
            "with ag.no_grad():",
            "if True:",
            "s = ag.Tensor(x)",
            "s = ag.Tensor(x, requires_grad=True)",
            "own: more is held",
        ),
        edit(
            "def by_hand(step, x, n, every):\n    marks = []",
            "def by_hand(step, x, n, every, marks=[]):",
            "state: second call",
        ),
        edit("return g", "x[...] = g\n    return x", "array overwritten"),
        edit("return g", "return g.astype(int)", "first entry"),
        edit("return g", "return g * np.nan", "nan"),
        edit("return g", "return g.sum()", "shape: axis lost"),
        edit("g = start.grad", "g = np.maximum(start.grad, 0)", "first entry"),
        edit("i % every == 0", "True", "min(every, n - i)", "1", "own: more is held"),
        edit("if i % every", "if every", "mistake 3"),
        (lambda step, x, n, every: np.ones(x.shape), "mistake 3"),
        (_from_the_input, "own: The gradient is right but"),
        edit("with ag.no_grad():", "if True:", "own: the forward pass records"),
        edit("return g", "    g = g\n        return g", "mistake 26"),
        edit(
            "    z = start\n        for",
            "    z = start\n        with ag.no_grad():\n          for",
            "mistake 2",
        ),
        (_by_checkpoint, "own: ag.checkpoint did the work"),
        edit(
            "for _ in range(min(every, n - i))",
            "for j in range(i + 1, min(i + every, n))",
            "mistake 35",
        ),
        edit(
            "        z = step(z)\n        z.backward(g)\n        g = start.grad",
            "        out = step(z)\n            out.backward(g)\n            g = z.grad\n"
            "            z = ag.Tensor(out.data, requires_grad=True)",
            "mistake 36",
        ),
        edit(
            "        z = step(z)\n        z.backward(g)\n        g = start.grad",
            "        out = step(z)\n            out.backward(g)\n            g = z.grad\n"
            "            z = out",
            "mistake 14",
        ),
        (lambda step, x, n, every: _plain(step, x, n), "own: more is held"),
        (lambda step, x, n, every: _plain(step, x, n // every * every), "first entry"),
    ],
    accepted=[
        """
        def by_hand(step, x, n, every):
            marks, s = {0: x}, ag.Tensor(x)
            with ag.no_grad():
                for i in range(1, n):                       # the last step need not be run forward
                    s = step(s)
                    if i % every == 0:
                        marks[i] = s.data
            g = np.ones_like(x)
            for i in sorted(marks, reverse=True):
                start = z = ag.Tensor(marks[i], requires_grad=True)
                while i < n and z is start or i % every and i < n:
                    z, i = step(z), i + 1
                z.backward(g)
                g = start.grad
            return g""",
        edit(
            "z = step(z)\n        z.backward(g)\n        g = start.grad",
            "z = step(z)\n        z.backward(grad=g)\n        g = start.grad.copy()",
        ),
        edit(
            "start = ag.Tensor(mark, requires_grad=True)\n        z = start",
            "def stretch(z):",
            "for _ in range(min(every, n - i)):",
            "    for _ in range(min(every, n - i)):",
            "            z = step(z)",
            "                z = step(z)\n            return z",
            "z.backward(g)",
            "_, pull = ag.vjp(stretch, mark)",
            "g = start.grad",
            "(g,) = pull(g)",
        ),
        """
        def by_hand(step, x, n, every):
            def last_of(s, steps):
                for _ in range(steps):
                    s = step(s)
                return s
            marks, s = {}, ag.Tensor(x)
            with ag.no_grad():
                for i in range(0, n, every):
                    marks[i] = s.data
                    s = last_of(s, min(every, n - i))
            g = np.ones(s.shape)
            while marks:
                i, mark = marks.popitem()
                start = ag.Tensor(mark, requires_grad=True)
                last_of(start, min(every, n - i)).backward(g)
                g = start.grad
            return g""",
        edit("z = step(z)", "z = step(z) * 1.0"),
        edit(
            "for _ in range(min(every, n - i)):\n            z = step(z)\n        z.backward(g)",
            "repeat(step, min(every, n - i))(start).backward(g)",
        ),
        edit("range(min(every, n - i))", "range(i, min(i + every, n))"),
        edit("z.backward(g)", "(z * g).sum().backward()"),
    ],
)


HALVES = "half(ag.checkpoint(half)(s))"

cases(
    "17.by_halves",
    wrong=[
        (lambda step, n: ag.checkpoint(_repeat(step, n)), "mistake 5"),
        (lambda step, n: _repeat(step, n), "mistake 1"),
        (
            lambda step, n: _repeat(ag.checkpoint(_repeat(step, -(-n // 16))), min(n, 16)),
            "mistake 5",
        ),
        edit(
            f"return lambda s: {HALVES}",
            "return ag.checkpoint(lambda s: half(half(s)))",
            "mistake 2",
        ),
        edit(
            f"return lambda s: {HALVES}", f"return ag.checkpoint(lambda s: {HALVES})", "mistake 2"
        ),
        edit(
            "half = by",
            "half = ag.checkpoint(by",
            "n // 2)",
            "n // 2))",
            HALVES,
            "half(half(s))",
            "mistake 2",
        ),
        edit(
            "by_halves(step, n // 2)",
            "by_halves(ag.checkpoint(step), n // 2)",
            HALVES,
            "half(half(s))",
            "mistake 17",
        ),
        edit("lambda s: half(ag.checkpoint(half)(s))", "half(ag.checkpoint(half))", "mistake 7"),
        edit("return step", "return step(0.5)", "mistake 7"),
        edit("return lambda s:", "s = ag.Tensor(np.ones(3))\n    return", "mistake 7"),
        edit("ag.checkpoint(half)(s)", "half(s.data)", "mistake 11"),
        edit(HALVES, "half(s)", "mistake 9"),
        edit(HALVES, "half(step(ag.checkpoint(half)(s)))", "own: the result of other steps"),
        edit(HALVES, f"-{HALVES}", "sign"),
        edit("return lambda s", "lambda s", "nothing"),
        edit("        return step\n    half", "        return\n    half", "nothing"),
        edit("by_halves(step, n // 2)", "by_halves(n // 2, step)", "error: function as value"),
        edit(
            f"return lambda s: {HALVES}",
            "def chain(s):\n        for _ in range(n):\n            s = ag.checkpoint(step)(s)\n"
            "        return s\n    return chain",
            "mistake 17",
        ),
        edit("ag.checkpoint(half)(s)", "ag.checkpoint(half, s, use_reentrant=True)", "mistake 18"),
        (lambda step, n: 3, "mistake 7"),
        (5, "not a function"),
    ],
    accepted=[
        edit(
            "half = by_halves(step, n // 2)\n    ",
            "",
            HALVES,
            "by_halves(step, n // 2)(ag.checkpoint(by_halves(step, n // 2))(s))",
        ),
        edit(
            f"return lambda s: {HALVES}",
            "first = ag.checkpoint(half)\n\n    def chain(s):\n        s = first(s)\n        return half(s)\n    return chain",
        ),
        """
        def by_halves(step, n):
            def joined(half):
                return lambda s: half(ag.checkpoint(half)(s))
            chain = step
            while n > 1:
                chain = joined(chain)
                n = n // 2
            return chain""",
        edit("return step\n", "return lambda s: step(s)\n"),
        edit("n == 1", "n < 2", "n // 2", "int(n / 2)"),
        edit("half = by", "if n == 2:\n        return lambda s: step(step(s))\n    half = by"),
    ],
)
