"""Thrown at the exercises of lesson 04, beside their mistakes: more wrong answers, and right ones in other styles."""

import math
from functools import lru_cache

import numpy as np
from thrown import throw

import autograd_lib as ag
from autograd_course.grading import edit
from autograd_course.lessons.lesson_04.exercises import (
    CLIP,
    DRILL,
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

throw(
    "04.from_z",
    planted=[
        *((((wrong, lambda g, z, x: g * z * (1 - z))), hint) for wrong, hint in FROM_Z[0]),
        *((((lambda g, z, x: g / (2 * z), wrong)), hint) for wrong, hint in FROM_Z[1]),
        edit("(2 * z)", "(2 * np.maximum(z, 1e-9))", "rule for x of sqrt"),
        edit("g * z * (1 - z)", "g * x * (1 - x)", "x in place of z"),
        edit("2 * z", "2 * x", "x in place of z"),
        edit("g * z * (1 - z)", "g * np.exp(-x) * z * z", "it uses x"),
        edit("2 * z", "2 * np.sqrt(x)", "it uses x"),
        edit("g / (2", "1 / (2", "g * z * (1", "z * (1", "upstream gradient is missing"),
        edit("1 - z", "z - 1", "wrong sign"),
        edit(
            "g / (2 * z)",
            "np.divide(g, 2 * z, out=g) if np.ndim(g) else g / (2 * z)",
            "caller's array",
        ),
        edit("(1 - z)", "np.round(1 - z, 3)", "expected"),
        edit("g / (2 * z)", "float(np.max(g)) / (2 * z)", "expected"),
        edit("g / (2 * z)", "g / (2 * z) if np.all(z > 0.1) else 0 * g", "expected"),
    ],
    also_right=[
        edit("g / (2 * z)", "0.5 * g / z", "g * z * (1 - z)", "g * (z - z * z)"),
        edit("g / (2 * z)", "g / (z + z)"),
        edit("g * z * (1 - z)", "g * z - g * z ** 2"),
        edit("g / (2 * z)", "np.divide(g, 2 * z)"),
        """
                def sqrt_x(g, z, x):
                    local = (2 * z) ** -1.0
                    return local * g
                def sigmoid_x(g, z, x):
                    other = 1 - z
                    return np.multiply(np.multiply(z, other), g)""",
    ],
)

throw(
    "04.turn",
    planted=[
        *((((wrong, lambda g, z, x, y: g * z * np.log(x))), hint) for wrong, hint in TURN[0]),
        *((((lambda g, z, x: g / x, wrong)), hint) for wrong, hint in TURN[1]),
        (
            (lambda g, z, x: g / z, lambda g, z, x, y: g * z * np.log(x)),
            "z stands where an input belongs",
        ),
        (
            (lambda g, z, x: g / x, lambda g, z, x, y: g * np.log(z)),
            "the rule with y in place of z",
        ),
        ((lambda g, z, x: 1 / x, lambda g, z, x, y: z * np.log(x)), "upstream gradient is missing"),
        ((lambda g, z, x: g / x, lambda g, z, x, y: g * y * x ** (y - 1)), "the rule for the base"),
        ((lambda g, z, x: g / x, lambda g, z, x, y: g * z * np.log10(x)), "base"),
        ((lambda g, z, x: g / x, LOG_OF_SIZE[0]), "there is no slope"),
        (
            (lambda g, z, x: g / x, lambda g, z, x, y: g * z * np.log(np.maximum(x, 1e-300))),
            "no slope",
        ),
        (
            (
                lambda g, z, x: g / x,
                lambda g, z, x, y: np.where(x > 1, g * z * np.log(np.abs(x)), 0.0),
            ),
            "expected",
        ),
        ((lambda g, z, x: g // x, lambda g, z, x, y: g * z * np.log(x)), "rule for x"),
        ((lambda g, z, x: g / x, lambda g, z, x, y: np.abs(g) * z * np.log(x)), "expected"),
    ],
    also_right=[
        edit("g / x", "g * x ** -1.0"),
        edit("g / x", "g * np.exp(-z)"),
        edit("z * np.log(x)", "x ** y * np.log(x)"),
        edit("np.log(x)", "np.where(x > 0, np.log(x), 0.0)"),
        edit("g * z * np.log(x)", "g * z * np.log2(x) / np.log2(np.e)"),
        edit("g / x", "np.divide(g, x)", "g * z", "z * g"),
    ],
)


def _but(right, i, rule):
    """The right rules, with another one in place of number i."""
    return right[:i] + (rule,) + right[i + 1 :]


throw(
    "04.switches",
    planted=[
        *(
            (_but(RIGHT, i, wrong), hint)
            for i, (*_, mistakes) in enumerate(SWITCHES)
            for wrong, hint in mistakes
        ),
        (_but(RIGHT, 0, lambda g, z, x: g * z), "g times the value"),
        (_but(RIGHT, 0, lambda g, z, x: g if x > 0 else 0), "Use np.where"),
        (_but(RIGHT, 3, lambda g, z, c, x, y: np.where(c, np.squeeze(g), 0)), "be broadcast"),
        (_but(RIGHT, 0, lambda g, z, x: 1.0 * (x > 0)), "upstream gradient is missing"),
        (_but(RIGHT, 1, lambda g, z, x: -g * np.sign(x)), "wrong sign"),
        (_but(RIGHT, 2, lambda g, z, x, y: g * (x < y) + g / 2 * (x == y)), "goes to y"),
        (_but(RIGHT, 3, lambda g, z, c, x, y: np.where(c, 0, g)), "goes to y"),
        edit("np.where(x > 0, g, 0)", "np.where(z == x, g, 0)", "the library's convention is 0"),
        edit("g * np.sign(x)", "np.where(z == x, g, -g)", "the library's convention is 0"),
        edit(
            "np.where(x > y, g, np.where(x == y, g / 2, 0))",
            "np.where(z == x, g, 0)",
            "you give all of g to x",
        ),
        edit("np.where(x > 0, g, 0)", "np.where(x > 0, g, np.nan)", "relu, the rule for x"),
        edit("g / 2", "g // 2", "maximum"),
        edit("np.where(c, g, 0)", "np.where(c, g, 0) * (x > 0)", "where, the rule for x"),
        edit("np.where(c, g, 0)", "np.where(c, g, 0) * (x != 0)", "where, the rule for x"),
        edit("x > 0", "z > 0.001", "relu, the rule for x"),
        edit("np.sign(x)", "np.clip(1000 * x, -1, 1)", "abs, the rule for x"),
        edit("np.sign(x)", "np.sign(np.round(x))", "abs"),
        edit("x > y", "np.abs(x) > np.abs(y)", "maximum"),
        ((), "values were expected"),
    ],
    also_right=[
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

throw(
    "04.drill",
    planted=[
        (_but(SIN_COS_SOFTPLUS, 0, lambda g, z, x: -g * np.cos(x)), "wrong sign"),
        (_but(SIN_COS_SOFTPLUS, 1, lambda g, z, x: g * np.sin(x)), "wrong sign"),
        (_but(SIN_COS_SOFTPLUS, 0, lambda g, z, x: np.cos(x)), "upstream gradient is missing"),
        (
            _but(SIN_COS_SOFTPLUS, 0, lambda g, z, x: g * np.cos(z)),
            "z stands where an input belongs",
        ),
        *(
            (_but(SIN_COS_SOFTPLUS, i, wrong), hint)
            for i, mistakes in enumerate(DRILL)
            for wrong, hint in mistakes
        ),
        (
            _but(SIN_COS_SOFTPLUS, 2, lambda g, z, x: g * ag.sigmoid(z)),
            "z stands where an input belongs",
        ),
        (_but(SIN_COS_SOFTPLUS, 2, lambda g, z, x: g / np.exp(z)), "expected"),
        (_but(SIN_COS_SOFTPLUS, 2, lambda g, z, x: g * (x > 0)), "expected"),
        (_but(SIN_COS_SOFTPLUS, 0, lambda g, z, x: g * np.cos(np.abs(x)) * np.sign(x)), "expected"),
        ((), "values were expected"),
    ],
    also_right=[
        edit("np.cos(x)", "np.sin(x + np.pi / 2)"),
        edit("-g * np.sin(x)", "g * np.cos(x + np.pi / 2)"),
        edit("ag.sigmoid(x)", "1 / (1 + np.exp(-x))"),
        edit("g * ag.sigmoid(x)", "g * np.exp(x) / (1 + np.exp(x))"),
        edit("ag.sigmoid(x)", "(1 - np.exp(-z))"),
        edit("ag.sigmoid(x)", "(1 + np.tanh(x / 2)) / 2"),
    ],
)

throw(
    "04.stable_tanh",
    planted=[
        (lambda x: np.expm1(2 * x) / (np.exp(2 * x) + 1), "Which exp overflows"),
        (
            lambda x: (
                np.expm1(2 * x) / (np.exp(2 * x) + 1)
                if x > 0
                else -np.expm1(-2 * x) / (1 + np.exp(-2 * x))
            ),
            "Which exp overflows",
        ),
        edit("1 - p", "p - 1", "wrong sign"),
        edit("np.sign(x) * ", "", "restore the sign"),
        (lambda x: -_by_size(x), "wrong sign"),
        (lambda x: round(_by_size(x), 4), "got"),
        (np.vectorize(lambda x: np.tanh(x)), "with exp"),
        (lru_cache(lambda x: np.tanh(x)), "with exp"),
        (math.tanh, "with exp"),
        (lambda x: _by_size(min(x, 400.0)) if abs(x) < 500 else float("nan"), "nan"),
        (lambda x: _by_size(x) if x else None, "At 0"),
        (lambda x: _by_size(x) if abs(x) < 356 or abs(x) >= 400 else float("nan"), "nan"),
        (lambda x: _by_size(x) if abs(x) <= 1e4 else 0.0, "and not here"),
        (lambda x: min(x, 1.0), "and not here"),
        (lambda x: _by_size(x) if x > 0 else x, "and not here"),
        (lambda x: _by_size(x) * (x != 1), "expected  0.7615"),
        (np.tanh, "with exp"),
        (lambda x: np.tanh(x), "with exp"),
        (lambda x: (lambda y: np.tanh(y))(x), "with exp"),
    ],
    also_right=[
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


throw(
    "04.longer",
    planted=[
        (
            (
                lambda g, z, x, low, high: np.where((low <= x) & (x <= high) & (low < high), g, 0),
                _gelu(_five),
            ),
            "got",
        ),
        *(((wrong, _gelu(_five)), hint) for wrong, hint in CLIP),
        ((lambda g, z, x, low, high: g * (low <= x <= high), _gelu(_five)), "a < b < c"),
        edit("(x <= high)", "((x <= high) | np.isclose(x, high))", "got"),
        edit("(low <= x)", "(low <= x + 1e-9)", "got"),
        *(((_clip, wrong), hint) for wrong, hint in GELU),
        (
            (lambda g, z, x, low, high: 1.0 * ((low <= x) & (x <= high)), _gelu(_five)),
            "upstream gradient is missing",
        ),
        (((lambda g, z, x, low, high: g * ((low <= x) & (x <= 1.5))), _gelu(_five)), "got"),
        (((lambda g, z, x, low, high: _clip(g, z, x, low, high) * (x != 0)), _gelu(_five)), "got"),
        ((_clip, lambda g, z, x: g * z), "g times the value"),
        ((_clip, lambda g, z, x: g * (z / x + 0.5 * x * (1 - _t(x) ** 2) * _five(x))), "expected"),
        (
            (
                lambda g, z, x, low, high: np.where(
                    (low < x) & (x < high), g, g / 2 * ((x == low) | (x == high))
                ),
                _gelu(_five),
            ),
            "expected",
        ),
    ],
    also_right=[
        edit("np.where((low <= x) & (x <= high), g, 0)", "np.where((x < low) | (x > high), 0, g)"),
        edit("np.where((low <= x) & (x <= high), g, 0)", "g * ((low <= x) & (x <= high))"),
        edit("(low <= x) & (x <= high)", "(low <= x) * (x <= high)"),
        edit("(low <= x) & (x <= high)", "np.logical_and(low <= x, x <= high)"),
    ],
)
