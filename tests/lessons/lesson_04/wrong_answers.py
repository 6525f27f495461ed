"""Wrong answers to the exercises of lesson 04 with their causes, and right answers in other styles."""

import math
from functools import lru_cache

import numpy as np
from answer_cases import cases

import autograd_lib as ag
from autograd_course.grading import edit
from autograd_course.grading.causes import own
from autograd_course.lessons.lesson_04.exercises import (
    _ABOVE,
    _AT_0,
    _BELOW_0,
    _BOTH,
    _BOUND,
    _CHANGED,
    _CUT,
    _IS_NAN,
    _NOT_0,
    _SMALL,
    _TIE,
    _VALUE_BELOW,
    _WHERE,
    CLIP,
    DRILL,
    EXPONENT,
    FROM_Z,
    GELU,
    LOG_OF_SIZE,
    RIGHT,
    SWITCHES,
    TURN,
    _by_size,
    _five,
    _gelu,
    _t,
)

RSQRT_RULE, TRIPLED_RULE = (
    lambda g, z, x: -g * z**3 / 2,
    lambda g, z, x: g * z * (1 - z / 3),
)

cases(
    "04.from_z",
    wrong=[
        *((((wrong, TRIPLED_RULE)), own(hint)) for wrong, hint in FROM_Z[0]),
        *((((RSQRT_RULE, wrong)), own(hint)) for wrong, hint in FROM_Z[1]),
        edit("-g", "g", "sign"),
        edit("z**3 / 2", "np.minimum(z, 100.0)**3 / 2", "right elsewhere"),
        edit("-g * z**3 / 2", "-g * z / (2 * x)", "own: it uses x"),
        edit("-g * z**3 / 2", "-g / 2 * x**-1.5", "own: it uses x"),
        edit("g * z * (1 - z / 3)", "g * z * z / 3 * np.exp(-x)", "own: it uses x"),
        edit("z**3 / 2", "x**3 / 2", "own: x in place of z"),
        edit("z * (1 - z / 3)", "x * (1 - x / 3)", "own: x in place of z"),
        edit("-g *", "-1 *", "g * z * (1", "z * (1", "no g"),
        edit("1 - z / 3", "z / 3 - 1", "sign"),
        edit("(1 - z / 3)", "np.round(1 - z / 3, 3)", "first entry"),
        edit("-g * z**3 / 2", "-float(np.max(g)) * z**3 / 2", "not linear in g"),
        edit("-g * z**3 / 2", "-g * z**3 / 2 if np.all(z > 0.1) else 0 * g", "right elsewhere"),
    ],
    accepted=[
        edit("-g * z**3 / 2", "-0.5 * g * z * z * z", "z * (1 - z / 3)", "(z - z * z / 3)"),
        edit("-g * z**3 / 2", "-g * z / (2 * z**-2)"),
        edit("-g * z**3 / 2", "g * -z**2 * z / 2"),
        edit("-g * z**3 / 2", "g * -0.5 * np.power(z, 3)"),
        edit("g * z * (1 - z / 3)", "3 * g * (z / 3) * (1 - z / 3)"),
        edit("g * z * (1 - z / 3)", "g * z * (3 - z) / 3"),
        edit("g * z * (1 - z / 3)", "g * z - g * z**2 / 3"),
        """
                def rsqrt_x(g, z, x):
                    q = 1 / z
                    return -g / q**2 / (2 * q)
                def tripled_x(g, z, x):
                    sigma = z / 3
                    return np.multiply(3 * sigma * (1 - sigma), g)""",
    ],
)

cases(
    "04.turn",
    wrong=[
        *((wrong, own(hint)) for wrong, hint in TURN),
        (lambda g, z, x: 1 / x, "no g"),
        (lambda g, z, x: -g / x, "sign"),
        (lambda g, z, x: g // x, "cut off"),
        (lambda g, z, x: np.abs(g) / x, "not linear in g"),
        edit("g / x", "g / np.round(x, 3)", "right elsewhere"),
    ],
    accepted=[
        edit("g / x", "g * x ** -1.0"),
        edit("g / x", "g * np.exp(-z)"),
        edit("g / x", "np.divide(g, x)"),
    ],
)


def _but(right, i, rule):
    """Return the right rules with rule number i replaced."""
    return right[:i] + (rule,) + right[i + 1 :]


cases(
    "04.switches",
    wrong=[
        *(
            (_but(RIGHT, i, wrong), own(hint))
            for i, (*_, mistakes) in enumerate(SWITCHES)
            for wrong, hint in mistakes
        ),
        (_but(RIGHT, 0, lambda g, z, x: g * z), "own: g times the value"),
        (_but(RIGHT, 0, lambda g, z, x: g if x > 0 else 0), "error: truth of an array"),
        (_but(RIGHT, 0, lambda g, z, x: g.clamp(min=0)), "own: You test the sign of g"),
        (_but(RIGHT, 3, lambda g, z, c, x, y: np.where(c, np.squeeze(g), 0)), "error: broadcast"),
        (_but(RIGHT, 0, lambda g, z, x: 1.0 * (x > 0)), "no g"),
        (_but(RIGHT, 1, lambda g, z, x: -g * np.sign(x)), "sign"),
        (_but(RIGHT, 2, lambda g, z, x, y: g * (x < y) + g / 2 * (x == y)), "own: goes to y"),
        (_but(RIGHT, 3, lambda g, z, c, x, y: np.where(c, 0, g)), "own: goes to y"),
        *(
            (_but(RIGHT, i, in_tuple), "own: in a tuple | 2 gradients")
            for i, in_tuple in [
                (2, lambda g, z, x, y: (RIGHT[2](g, z, x, y), RIGHT[2](g, z, y, x))),
                (2, lambda g, z, x, y: (g * (x > y), g * (y > x))),  # and wrong in a tie
                (3, lambda g, z, c, x, y: (np.where(c, g, 0), np.where(c, 0, g))),
                # as backward of a torch.autograd.Function returns them
                (3, lambda g, z, c, x, y: (None, np.where(c, g, 0), np.where(c, 0, g))),
            ]
        ),
        edit(
            "np.where(x > 0, g, 0)",
            "np.where(z == x, g, 0)",
            "own: At 0 the library's convention is 0: x gets g only where x > 0",
        ),
        edit(
            "g * np.sign(x)",
            "np.where(z == x, g, -g)",
            "own: At 0 the library's convention is 0. np.sign(0) is 0",
        ),
        edit(
            "np.where(x > y, g, np.where(x == y, g / 2, 0))",
            "np.where(z == x, g, 0)",
            "own: In a tie you give all of g to x. Half of it belongs to y",
        ),
        edit("np.where(x > 0, g, 0)", "np.where(x > 0, g, np.nan)", "nan"),
        edit("g / 2", "g // 2", "cut off"),
        edit("np.where(c, g, 0)", "np.where(c, g, 0) * (x > 0)", "first entry"),
        edit("np.where(c, g, 0)", "np.where(c, g, 0) * (x != 0)", "first entry"),
        edit("x > 0", "z > 0.001", "first entry"),
        edit("np.sign(x)", "np.clip(1000 * x, -1, 1)", "first entry"),
        edit("np.sign(x)", "np.sign(np.round(x))", "first entry"),
        edit("x > y", "np.abs(x) > np.abs(y)", "none"),
        ((), "number of parts"),
    ],
    accepted=[
        edit("np.where(x > 0, g, 0)", "g * (x > 0)"),
        edit("np.where(x > 0, g, 0)", "g * np.heaviside(x, 0.0)"),
        edit("np.where(x > 0, g, 0)", "g * (x > 0).astype(float)"),
        edit("np.where(x > y, g, np.where(x == y, g / 2, 0))", "g * (x > y) + g / 2 * (x == y)"),
        edit("g * np.sign(x)", "g * (x > 0) - g * (x < 0)"),
        edit("np.where(c, g, 0)", "g * c"),
        edit("np.where(x > y, g, np.where(x == y, g / 2, 0))", "g * (np.sign(x - y) + 1) / 2"),
        edit(
            "np.where(x > y, g, np.where(x == y, g / 2, 0))",
            "np.select([x > y, x == y], [g, g / 2], 0.0)",
        ),
    ],
)


SIN_COS_SOFTPLUS = (
    lambda g, z, x: g * np.cos(x),
    lambda g, z, x: -g * np.sin(x),
    lambda g, z, x: g / (1 + np.exp(-x)),
)

cases(
    "04.exponent",
    wrong=[
        edit("np.log(x)", "np.log1p(x - 1)", "last digits"),
        *((wrong, own(hint)) for wrong, hint in EXPONENT),
        (lambda g, z, x, y: g * np.log(z), "own: the rule with y in place of z"),
        (lambda g, z, x, y: z * np.log(x), "no g"),
        (lambda g, z, x, y: g * y * x ** (y - 1), "own: the rule for the base"),
        (lambda g, z, x, y: g * z * np.log10(x), "base of the logarithm"),
        (LOG_OF_SIZE[0], "own: there is no slope"),
        (lambda g, z, x, y: g * z * np.log(np.maximum(x, 1e-300)), "none"),
        (lambda g, z, x, y: np.where(x > 1, g * z * np.log(np.abs(x)), 0.0), "first entry"),
        (lambda g, z, x, y: np.abs(g) * z * np.log(x), "not linear in g"),
    ],
    accepted=[
        edit("z * np.log(x)", "x ** y * np.log(x)"),
        edit("np.log(x)", "np.where(x > 0, np.log(x), 0.0)"),
        edit("g * z * np.log(x)", "g * z * np.log2(x) / np.log2(np.e)"),
        edit("g * z", "z * g"),
    ],
)

cases(
    "04.drill",
    wrong=[
        (_but(SIN_COS_SOFTPLUS, 0, lambda g, z, x: -g * np.cos(x)), "sign"),
        (_but(SIN_COS_SOFTPLUS, 1, lambda g, z, x: g * np.sin(x)), "sign"),
        (_but(SIN_COS_SOFTPLUS, 0, lambda g, z, x: np.cos(x)), "no g"),
        (
            _but(SIN_COS_SOFTPLUS, 0, lambda g, z, x: g * np.cos(z)),
            "own: z is used where an input belongs",
        ),
        *(
            (_but(SIN_COS_SOFTPLUS, i, wrong), own(hint))
            for i, mistakes in enumerate(DRILL)
            for wrong, hint in mistakes
        ),
        (
            _but(SIN_COS_SOFTPLUS, 2, lambda g, z, x: g * ag.sigmoid(z)),
            "own: z is used where an input belongs",
        ),
        (
            _but(SIN_COS_SOFTPLUS, 2, lambda g, z, x: g / np.exp(z)),
            "own: That is 1 / (1 + eˣ), the slope of the log alone. By the chain rule, multiply it by eˣ",
        ),
        (
            _but(SIN_COS_SOFTPLUS, 2, lambda g, z, x: g * (x > 0)),
            "own: That is the rule of relu. Softplus has no kink: its slope is σ(x), between 0 and 1",
        ),
        (
            _but(SIN_COS_SOFTPLUS, 0, lambda g, z, x: g * np.cos(np.abs(x)) * np.sign(x)),
            "first entry",
        ),
        ((), "number of parts"),
    ],
    accepted=[
        edit("np.cos(x)", "np.sin(x + np.pi / 2)"),
        edit("-g * np.sin(x)", "g * np.cos(x + np.pi / 2)"),
        edit("ag.sigmoid(x)", "1 / (1 + np.exp(-x))"),
        edit("g * ag.sigmoid(x)", "g * np.exp(x) / (1 + np.exp(x))"),
        edit("ag.sigmoid(x)", "(1 - np.exp(-z))"),
        edit("ag.sigmoid(x)", "(1 + np.tanh(x / 2)) / 2"),
    ],
)

cases(
    "04.stable_tanh",
    wrong=[
        (lambda x: np.expm1(2 * x) / (np.exp(2 * x) + 1), "mistake 1"),
        (
            lambda x: (
                np.expm1(2 * x) / (np.exp(2 * x) + 1)
                if x > 0
                else -np.expm1(-2 * x) / (1 + np.exp(-2 * x))
            ),
            "mistake 1",
        ),
        edit("1 - p", "p - 1", "sign"),
        edit("np.sign(x) * ", "", "mistake 7"),
        (lambda x: -_by_size(x), "sign"),
        (lambda x: round(_by_size(x), 4), "nearly"),
        (np.vectorize(lambda x: np.tanh(x)), "own: with exp"),
        (lru_cache(lambda x: np.tanh(x)), "own: with exp"),
        (math.tanh, "own: with exp"),
        (lambda x: _by_size(min(x, 400.0)) if abs(x) < 500 else float("nan"), "mistake 1"),
        (lambda x: _by_size(x) if x else None, "own: At 0"),
        (lambda x: _by_size(x) if abs(x) < 356 or abs(x) >= 400 else float("nan"), "nan"),
        (lambda x: _by_size(x) if abs(x) <= 1e4 else 0.0, "right elsewhere"),
        (lambda x: min(x, 1.0), "right elsewhere"),
        (lambda x: _by_size(x) if x > 0 else x, "right elsewhere"),
        (lambda x: _by_size(x) * (x != 1), "right elsewhere | expected  0.7615"),
        (np.tanh, "own: with exp"),
        (lambda x: np.tanh(x), "own: with exp"),
        (lambda x: (lambda y: np.tanh(y))(x), "own: with exp"),
    ],
    accepted=[
        """
        def stable_tanh(x):
            if x > 0:
                p = np.exp(-2 * x)
                return (1 - p) / (1 + p)
            p = np.exp(2 * x)
            return (p - 1) / (p + 1)""",
        "np.vectorize(lambda x: np.sign(x) * (1 - np.exp(-2 * abs(x))) / (1 + np.exp(-2 * abs(x))))",
        """
        from functools import lru_cache
        @lru_cache
        def stable_tanh(x):
            return 1 - 2 / (1 + np.exp(2 * x))""",
        """
        class Calm:
            def __call__(self, x):
                p = np.exp(-2 * np.abs(x))
                return np.copysign((1 - p) / (1 + p), x)
        stable_tanh = Calm()""",
        "lambda x: 2 * ag.sigmoid(2 * x) - 1",
        """
        import math
        def stable_tanh(x):
            p = math.exp(-2 * abs(x))
            return math.copysign(-math.expm1(-2 * abs(x)) / (1 + p), x)""",
    ],
)


def _clip(g, z, x, low, high):
    return g * ((low <= x) & (x <= high))


cases(
    "04.longer",
    wrong=[
        (
            (
                lambda g, z, x, low, high: np.where((low <= x) & (x <= high) & (low < high), g, 0),
                _gelu(_five),
            ),
            "own: Where x is at a bound, x still gets g: use <=, not <",
        ),
        *(((wrong, _gelu(_five)), own(hint)) for wrong, hint in CLIP),
        (
            (lambda g, z, x, low, high: g * (low <= x <= high), _gelu(_five)),
            "error: truth of an array",
        ),
        edit("(x <= high)", "((x <= high) | np.isclose(x, high))", "first entry"),
        edit("(low <= x)", "(low <= x + 1e-9)", "first entry"),
        *(((_clip, wrong), own(hint)) for wrong, hint in GELU),
        (
            (lambda g, z, x, low, high: 1.0 * ((low <= x) & (x <= high)), _gelu(_five)),
            "no g",
        ),
        (((lambda g, z, x, low, high: g * ((low <= x) & (x <= 1.5))), _gelu(_five)), "first entry"),
        (
            ((lambda g, z, x, low, high: _clip(g, z, x, low, high) * (x != 0)), _gelu(_five)),
            "first entry",
        ),
        ((_clip, lambda g, z, x: g * z), "own: g times the value"),
        ((_clip, lambda g, z, x: g * (z / x + 0.5 * x * (1 - _t(x) ** 2) * _five(x))), "nan"),
        (
            (
                lambda g, z, x, low, high: np.where(
                    (low < x) & (x < high), g, g / 2 * ((x == low) | (x == high))
                ),
                _gelu(_five),
            ),
            "first entry",
        ),
    ],
    accepted=[
        edit("np.where((low <= x) & (x <= high), g, 0)", "np.where((x < low) | (x > high), 0, g)"),
        edit("np.where((low <= x) & (x <= high), g, 0)", "g * ((low <= x) & (x <= high))"),
        edit("(low <= x) & (x <= high)", "(low <= x) * (x <= high)"),
        edit("(low <= x) & (x <= high)", "np.logical_and(low <= x, x <= high)"),
    ],
)


def _trap(x):
    return ag.where(x > 0, ag.sqrt(x), 0.0)


def _masked_input(x):
    x = ag.where(x > 0, x, 1.0)
    return ag.where(x > 0, ag.sqrt(x), 0.0)


def _without_a_graph(x):
    with ag.no_grad():
        return ag.where(x > 0, ag.sqrt(x), 0.0)


def _assigned(x):
    x[x <= 0] = 1.0
    return ag.sqrt(x)


def _written(x):
    z = np.zeros_like(x)
    z[x > 0] = ag.sqrt(x[x > 0])
    return z


def _nan_to_0(x):
    z = ag.sqrt(x)
    return ag.where(np.isnan(z), 0.0, z)


cases(
    "04.safe",
    wrong=[
        # both numbers, 0 and below, reach the square root
        (_trap, own(_BOTH)),
        (lambda x: np.where(x > 0, np.sqrt(x), 0), own(_BOTH)),
        (lambda x: ag.where(x > 0, x**0.5, 0.0), own(_BOTH)),
        (lambda x: ag.where(x >= 0, ag.sqrt(x), 0.0), own(_BOTH)),
        (lambda x: ag.where(x > 0, ag.where(x > 0, ag.sqrt(x), 1.0), 0.0), own(_BOTH)),
        (lambda x: ag.where(x > 0, _trap(x), 0.0), own(_BOTH)),
        (lambda x: ag.where(ag.sqrt(x) > 0, ag.sqrt(x), 0.0), own(_BOTH)),
        (_nan_to_0, own(_BOTH)),
        # only 0, or only numbers below 0
        (lambda x: ag.where(x >= 0, ag.sqrt(ag.where(x >= 0, x, 1.0)), 0.0), own(_AT_0)),
        (lambda x: ag.where(x > 0, ag.sqrt(ag.where(x < 0, 1.0, x)), 0.0), own(_AT_0)),
        (lambda x: ag.where(x > 0, ag.sqrt(ag.where(x == 0, 1.0, x)), 0.0), own(_BELOW_0)),
        (lambda x: ag.where(x > 0, ag.sqrt(x + (x <= 0)), 0.0), own(_BELOW_0)),
        (lambda x: ag.where(x > 0, ag.sqrt(x + 1e-12), 0.0), own(_BELOW_0)),
        (lambda x: np.sqrt(np.maximum(x, 0)), own(_TIE)),
        (lambda x: ag.where(x > 0, ag.sqrt(x.clip(0, 1e9)), 0.0), own(_BOUND)),
        # the value
        (lambda x: x.sqrt(), own(_IS_NAN)),
        (lambda x: ag.relu(ag.sqrt(x)), own(_IS_NAN)),
        (lambda x: ag.where(x > 0, ag.sqrt(ag.where(x > 0, x, 1.0)), np.nan), own(_IS_NAN)),
        (_masked_input, own(_NOT_0)),
        (lambda x: _trap(ag.where(x > 0, x, 1.0)), own(_NOT_0)),
        (lambda x: ag.where(x > 0, ag.sqrt(ag.where(x > 0, x, 1.0)), -1.0), own(_NOT_0)),
        (lambda x: ag.sqrt(ag.relu(x) + 1e-12), own(_NOT_0)),
        (lambda x: ag.sqrt(ag.maximum(x, 1e-12)), own(_NOT_0)),
        (lambda x: ag.sqrt(ag.abs(x)), own(_VALUE_BELOW)),
        (lambda x: ag.where(x > 0, ag.sqrt(ag.where(x > 0, x, 1.0)), x), own(_VALUE_BELOW)),
        (lambda x: ag.where(x > 0, 0.0, ag.sqrt(ag.where(x > 0, x, 1.0))), own(_ABOVE)),
        (lambda x: ag.where(x > 0, ag.sqrt(ag.where(x > 1, x, 1.0)), 0.0), own(_ABOVE)),
        (lambda x: ag.where(x > 0, ag.sqrt(ag.softplus(x)), 0.0), own(_CHANGED)),
        (lambda x: ag.where(x > 0, ag.sqrt(ag.clip(x, 1e-6, None)), 0.0), own(_SMALL)),
        (lambda x: ag.where(x > 1e-12, ag.sqrt(ag.where(x > 1e-12, x, 1.0)), 0.0), own(_SMALL)),
        (lambda x: ag.where(x > 0, ag.sqrt(ag.where(x > 0, x, 1.0)) + 1e-8, 0.0), own(_SMALL)),
        # no gradient
        (lambda x: _trap(x).detach(), own(_CUT)),
        (lambda x: np.where(x.data > 0, np.sqrt(x.data), 0.0), own(_CUT)),
        (_without_a_graph, own(_CUT)),
        # the form of the result
        (lambda x: print(_trap(x)), "own: returned None"),
        (lambda x: _trap, "own: returned a function"),
        (lambda x: ag.sqrt(x[x > 0]), "own: one entry for each entry"),
        (lambda x: 0.0, "own: one entry for each entry"),
        (
            lambda x: [ag.sqrt(entry) if entry > 0 else 0.0 for entry in x],
            "own: one entry for each entry",
        ),
        # errors
        (lambda x: ag.sqrt(x) if x > 0 else 0.0, "mistake 11"),
        (lambda x: torch.where(x > 0, torch.sqrt(x), 0.0), "mistake 10"),  # noqa: F821
        (lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0), "error: name of another library"),  # noqa: F821
        (lambda x: where(x > 0, sqrt(x), 0.0), "error: name of NumPy"),  # noqa: F821
        (lambda g, z, x: np.where(x > 0, g / (2 * z), 0), "error: arguments"),
        (lambda x: ag.where(x > 0, ag.sqrt(x.clamp(min=0)), 0.0), "mistake 8"),
        (lambda x: ag.where(x > 0, ag.sqrt(x.clamp(min=1e-12)), 0.0), "mistake 8"),
        (_written, own(_WHERE)),
        (lambda x: np.stack([np.sqrt(e) if e > 0 else 0.0 * e for e in x]), own(_WHERE)),
        (_assigned, own(_WHERE)),
        (np.ones(3), "not a function"),
    ],
    accepted=[
        "lambda x: np.where(x > 0, np.sqrt(np.where(x > 0, x, 1)), 0)",
        "lambda v: ag.where(v <= 0, 0, ag.sqrt(ag.where(v <= 0, 7.0, v)))",
        "lambda x: (x > 0) * ag.sqrt(ag.where(x > 0, x, 1.0))",
        "lambda x: ag.sqrt(ag.where(x.data > 0, x, 1.0)) * (x.data > 0)",
        "lambda x: ag.sqrt(ag.relu(x))",
        "lambda x: ag.sqrt(ag.where(x > 0, x, 0.0))",
        "lambda x: ag.where(x > 0, ag.sqrt(ag.relu(x)), 0.0)",
        "lambda x: ag.where(x > 0, ag.sqrt(ag.where(x > 0, x, 0.0)), 0.0)",
        "lambda x: ag.where(x > 0, ag.where(x > 0, x, 1.0) ** 0.5, 0.0)",
        "lambda x: ag.where(x > 0, ag.exp(0.5 * ag.log(ag.where(x > 0, x, 1.0))), 0.0)",
        "lambda x: ag.where(x > 0, ag.sqrt(x * (x > 0) + (x <= 0)), 0.0)",
        "lambda x: ag.sqrt(ag.where(x > 0, x, 1.0)) - (x <= 0)",
        "lambda x: ag.where(x > 0, ag.sqrt(ag.where(x == 0, 1.0, ag.abs(x))), 0.0)",
        "lambda x: ag.where(x > 0, ag.sqrt(ag.maximum(x, np.finfo(float).tiny)), 0.0)",
        "lambda x: ag.where(np.sign(x) == 1, np.where(np.sign(x) == 1, x, 1.0).sqrt(), 0 * x)",
        """
        def safe(x):
            above = x > 0
            root = ag.where(above, x, 1.0).sqrt()
            return ag.where(above, root, np.zeros(x.shape))""",
        """
        safe = ag.elementwise(
            lambda x: np.sqrt(np.maximum(x, 0)),
            lambda g, z, x: np.where(x > 0, g / np.where(x > 0, 2 * z, 1), 0),
        )""",
    ],
)
