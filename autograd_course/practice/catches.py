"""Create problems that ask which test inputs would catch a wrong backward rule."""

from dataclasses import dataclass

import numpy as np

from autograd_lib import ops

from ..drawing.formatting import number
from ..drawing.picture import Picture
from ..drawing.rules import FORMULAS, letters_of
from .problems import Box, Line, Mark, Problem, judged


@dataclass
class Wrong:
    """Hold a wrong backward rule of an operation.

    Attributes
    ----------
    row : str
        The name of the operation, such as "relu".
    argument : int
        The position, from 0, of the input whose gradient the rule computes.
    rule : str
        The rule as a Python expression in g, z and the inputs, such as x and y.
    unseen : str
        A condition on g and the inputs, as a Python expression. With small whole numbers, the rule
        gives the right result exactly where this condition holds and, if the rule contains g, where
        g is 0.
    why : str
        The reason why the rule is wrong, as a clause.
    lesson : str
        The lesson of the problem, as two digits.
    """

    row: str
    argument: int
    rule: str
    unseen: str
    why: str
    lesson: str


ALL = [
    Wrong("add", 0, "g * x", "x == 1", "it multiplies by x, but a sum passes g on unchanged", "03"),
    Wrong("add", 1, "g / 2", "False", "each of the two receives all of g, not half", "03"),
    Wrong("subtract", 1, "g", "False", "the minus is missing", "03"),
    Wrong("subtract", 1, "-abs(g)", "g > 0", "it uses the absolute value of g instead of g", "03"),
    Wrong(
        "multiply",
        0,
        "g * x",
        "x == y",
        "it uses its own factor instead of the other factor",
        "03",
    ),
    Wrong("multiply", 0, "y", "g == 1 or y == 0", "the g is missing", "03"),
    Wrong("multiply", 0, "g * abs(y)", "y >= 0", "the sign of y is lost", "03"),
    Wrong("multiply", 1, "g * g * x", "g == 1 or x == 0", "it contains g twice", "03"),
    Wrong("multiply", 1, "g * x * y", "y == 1 or x == 0", "it contains both factors", "03"),
    Wrong("divide", 0, "g * y", "abs(y) == 1", "it multiplies where it should divide", "03"),
    Wrong("divide", 0, "1 / y", "g == 1", "the g is missing", "03"),
    Wrong("divide", 1, "g * z / y", "x == 0", "the minus is missing", "03"),
    Wrong("divide", 1, "-g / y ** 2", "x == 1", "the factor x is missing", "03"),
    Wrong(
        "divide",
        1,
        "-g * x / y",
        "y == 1 or x == 0",
        "the denominator should contain y twice, but contains y once",
        "03",
    ),
    Wrong("negative", 0, "g", "False", "the minus is missing", "03"),
    Wrong("exp", 0, "z", "g == 1", "the g is missing", "04"),
    Wrong("exp", 0, "g", "x == 0", "the slope of eˣ is 1 at one point only", "04"),
    Wrong("exp", 0, "g * np.exp(abs(x))", "x >= 0", "the sign of x is lost", "04"),
    Wrong("log", 0, "g * x", "x == 1", "it multiplies where it should divide", "04"),
    Wrong("log", 0, "1 / x", "g == 1", "the g is missing", "04"),
    Wrong("sqrt", 0, "g / 2", "x == 1", "the division by z is missing", "04"),
    Wrong("sqrt", 0, "g / (2 * x)", "x == 1", "it divides by x instead of z", "04"),
    Wrong("sin", 0, "g", "x == 0", "the slope of sin x is not 1 everywhere", "04"),
    Wrong("cos", 0, "g * np.sin(x)", "x == 0", "the minus is missing", "04"),
    Wrong("cos", 0, "-g * x", "x == 0", "sin x is replaced by x", "04"),
    Wrong("tanh", 0, "g * (1 - x * x)", "x == 0", "it uses x instead of z", "04"),
    Wrong("tanh", 0, "1 - z * z", "g == 1", "the g is missing", "04"),
    Wrong("tanh", 0, "g * (1 - z)", "x == 0", "z is not squared", "04"),
    Wrong("sigmoid", 0, "g * z * z", "x == 0", "1 − z is replaced by z", "04"),
    Wrong("sigmoid", 0, "g / 4", "x == 0", "it uses the slope at 0 for every x", "04"),
    Wrong("relu", 0, "g", "x > 0", "it also passes g on where x is below 0", "04"),
    Wrong("relu", 0, "g * z", "x <= 0 or x == 1", "it uses z instead of the slope of z", "04"),
    Wrong("abs", 0, "g", "x > 0", "the sign of x is lost", "04"),
    Wrong("abs", 0, "-g", "x < 0", "it uses the slope for x below 0 everywhere", "04"),
    Wrong("maximum", 0, "g", "x > y", "it always sends g to x", "04"),
    Wrong(
        "maximum",
        1,
        "g * (x < 0)",
        "(x < 0) == (y > x) and x != y",
        "it tests the sign of x, not which input is larger",
        "04",
    ),
    Wrong("minimum", 0, "g * (x > y)", "False", "it sends g to the larger input", "04"),
]

KEYS = {}
for wrong in ALL:
    KEYS.setdefault(f"catch.{wrong.row}", wrong.lesson)
TITLES = {key: f"wrong rules of {key.split('.')[1]}" for key in KEYS}
VALUES = [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0]
POSITIVE = {"log", "sqrt"}
KINKS = {"relu": "x == 0", "abs": "x == 0", "maximum": "x == y", "minimum": "x == y"}


def make(key, rng):
    """Return a Problem with a wrong rule and four tests, some of which catch the rule.

    `key` is one of KEYS, such as "catch.relu", and `rng` is a NumPy generator. At least one test
    catches the rule, and at least one does not.
    """
    choices = [wrong for wrong in ALL if f"catch.{wrong.row}" == key]
    one = choices[rng.integers(len(choices))]
    while True:
        tests = [draw(one, rng) for _ in range(4)]
        caught = [not np.isclose(*outcomes(one, test)) for test in tests]
        distinct = len({tuple(test.items()) for test in tests}) == 4
        if distinct and any(caught) and not all(caught):
            return _problem(key, one, tests, caught)


def draw(one, rng):
    """Return a dict of random values with which to test the rule `one`, a Wrong.

    The keys are "g" and the names of the inputs, such as "x" and "y". The values are small whole
    numbers as floats, in the domain of the operation and not at a kink. g is sometimes 0. `rng` is
    a NumPy generator.
    """
    letters = letters_of(ops.ROWS[one.row])[0]
    test = {"g": float(rng.choice([-2.0, 0.0, 1.0, 1.0, 1.0, 2.0, 3.0]))}
    for letter in letters[2:]:
        positive = one.row in POSITIVE or one.row == "divide" and letter == "y"
        test[letter] = float(
            rng.choice(
                [1.0, 2.0, 4.0]
                if one.row in POSITIVE
                else [-2.0, -1.0, 1.0, 2.0, 4.0]
                if positive
                else VALUES
            )
        )
    if "y" in test and rng.random() < 0.25 and test["x"]:
        test["y"] = test["x"]
    at_kink = eval(
        KINKS.get(one.row, "False"), dict(test)
    )  # the slope there is stated, and another is right too
    return draw(one, rng) if at_kink else test


def outcomes(one, test):
    """Return the result of the wrong rule and the right result, as a tuple of two floats.

    `one` is a Wrong, and `test` is a dict of values, as `draw` returns it.
    """
    row = ops.ROWS[one.row]
    letters = letters_of(row)[0]
    g, *xs = (np.float64(value) for value in test.values())
    z = row.function(*xs)
    return float(Line(one.rule).function(", ".join(letters))(g, z, *xs)), float(
        row.rules[one.argument](g, z, *xs)
    )


def hidden(one, test):
    """Return True if the wrong rule should give the right result for the values in `test`.

    This is the case where the condition `one.unseen` holds and, if the rule contains g, where g is
    0. `one` is a Wrong, and `test` is a dict of values, as `draw` returns it.
    """
    return "g" in one.rule and test["g"] == 0 or bool(eval(one.unseen, dict(test)))


def _problem(key, one, tests, caught):
    letter = letters_of(ops.ROWS[one.row])[0][2 + one.argument]
    labels = [
        "ABCD"[i] + ": " + ", ".join(f"{name} = {number(value)}" for name, value in test.items())
        for i, test in enumerate(tests)
    ]
    said = [f"z = {FORMULAS[one.row]}. The wrong rule for {letter}: {one.rule}", *labels]

    def judge(texts):
        def judge_one(i, text):
            got, right = outcomes(one, tests[i])
            if (text == "yes") == caught[i]:
                return Mark(True)
            return Mark(
                False,
                f"The rule gives {number(got)}, but {number(right)} is right, so this test catches the mistake."
                if caught[i]
                else f"The rule gives {number(got)}, which is right, so it passes this test"
                + (
                    ", because g is 0 here."
                    if "g" in one.rule and tests[i]["g"] == 0
                    else f", although {one.why}."
                ),
            )

        return judged(texts, judge_one)

    answer = [("no", "yes")[bool(there)] for there in caught]
    *others, last = ("ABCD"[i] for i in range(4) if caught[i])
    names = f"{', '.join(others)} and {last}" if others else last
    places = [f"`{one.unseen}`"] * (one.unseen != "False") + ["g is 0"] * ("g" in one.rule)
    return Problem(
        key,
        f"For z = {FORMULAS[one.row]}, an engine computes the gradient of {letter} as `{one.rule}`. That is wrong. "
        "**Which of these tests catch the mistake?** Tick all of them.",
        [Box(label, "tick") for label in labels],
        judge,
        lambda texts, marks: Picture("", "\n".join(said)),
        f"**{names}**: {one.why}. With small whole numbers the rule passes only where {', or where '.join(places)}.",
        answer,
        [(i, "no" if caught[i] else "yes", "catches" if caught[i] else "passes") for i in range(4)],
    )
