"""Ask the questions of lesson 04: the rules of functions, of variable exponents, and of functions with kinks."""

import math
from inspect import signature
from types import CodeType

import numpy as np

import autograd_lib as ag
from autograd_lib import ops

from ...derivations import Step, derivation
from ...grading import (
    Wrong,
    edit,
    exercise,
    expect,
    expect_call,
    expect_over,
    expect_rule,
    is_stub,
    of_rule,
)
from ...grading.compare import returned
from ...grading.inputs import value_and_vjp
from ...grading.mistakes import printed
from ...grading.sentences import brief
from ...grading.verdict import Note, NotYet
from ...quiz.texts import Question, card, prediction, recall
from ...source import underneath

recall(
    "04",
    [
        Question(
            "$z = x / y$. What is $\\partial z / \\partial y$, written with z? (Lesson 03)",
            "−z / y",
            "**−z / y**. The minus makes sense: where z and y are above 0, z falls when y increases.",
            ["1 / y", "z / y", "−z / y", "−x / y"],
        ),
        Question(
            "On the only path from x to L there are two operations, with local gradients 3 and −2. What is the gradient of x? (02)",
            -6,
            "**−6**. Along a path, the local gradients are multiplied.",
        ),
        Question(
            "What is the central difference of $\\lvert x \\rvert$ at 0, and why? (01)",
            0,
            "**0**, the mean of −1 on the left and 1 on the right. There is no warning.",
        ),
    ],
)

derivation(
    "04.tanh",
    letters={"x": (), "p": "e^x - e^-x", "q": "e^x + e^-x", "z": "p/q"},
    steps=(
        Step(r"\frac{dp}{dx} =", "q", "the chain rule: the exponent −x has slope −1", worked=True),
        Step(
            r"\frac{dq}{dx} =",
            "p",
            "for the same reason",
            letters="x p",
            mistakes=(
                ("q", "That is q itself. Which of its two terms changes sign?"),
                ("e^x", "The second term has a derivative too, and it is not 0."),
                ("-p", "The first term keeps its sign, and the second one changes sign."),
                ("-q", "Only one term changes sign: the one with the exponent −x."),
                ("-e^-x", "The first term has a derivative too: it is e^x."),
                *(
                    (
                        wrong,
                        "e is a constant and the exponent varies, so the rule for powers of x does not apply.",
                    )
                    for wrong in (
                        "e^x + x e^(-x-1)",
                        "e^x - x e^(-x-1)",
                        "x e^(x-1) - x e^(-x-1)",
                    )
                ),
            ),
        ),
        Step(
            r"\frac{dz}{dx} = \frac{1}{q} \cdot \frac{dp}{dx} - \frac{z}{q} \cdot \frac{dq}{dx} =",
            "1/q*q - z/q*p",
            "the quotient rule of lesson 03: the two paths are added",
            mistakes=(
                ("p/q - z*q/q", "That is 0 everywhere, because p/q is z. Which derivative is q?"),
                ("q/q + z*p/q", "In a quotient, the denominator has a minus sign: ∂z/∂q = −z/q."),
            ),
            rivals=("the product rule", "the definition of tanh"),
            worked=True,
        ),
        Step(
            "=",
            "1 - z^2",
            "p / q is z",
            letters="z",
            mistakes=(
                (
                    "z^2",
                    "That is the second term without its minus. The first term, q/q, is 1.",
                ),
                ("-z^2", "That is the second term alone. The first one, q/q, is 1."),
            ),
        ),
    ),
)

derivation(
    "04.sigmoid",
    letters={"x": (), "q": "1 + e^-x", "z": "1/q"},
    steps=(
        Step(
            r"\frac{dz}{dq} =",
            "-z/q",
            "the quotient rule, with the numerator 1",
            letters="q z",
            mistakes=(("1/q", "That is z itself. What is its derivative with respect to q?"),),
        ),
        Step(
            r"\frac{dq}{dx} =",
            "-e^-x",
            "the chain rule, for the exponent −x",
            letters="x q",
            mistakes=(
                ("e^-x", "The exponent −x has a slope too: the chain rule multiplies by −1."),
                ("1 - e^-x", "The 1 is a constant, and its derivative is 0."),
                ("q", "That is q itself. What is its derivative?"),
                (
                    "-x e^(-x-1)",
                    "e is a constant and the exponent varies, so the rule for powers of x does not apply.",
                ),
            ),
            rivals=("the definition of exp", "the product rule"),
        ),
        Step(
            r"\frac{dz}{dx} = \frac{dz}{dq} \cdot \frac{dq}{dx} =",
            "z*(1 - z)",
            "e to the −x is q − 1, and 1 / q is z",
            letters="z",
            mistakes=(
                ("1 - z^2", "That is the slope of tanh. Here the product is z/q times q − 1."),
                ("z^2", "That is dz/dq without its minus. Multiply by dq/dx too."),
                ("-z^2", "That is dz/dq alone. Multiply it by dq/dx."),
            ),
        ),
    ),
)

prediction(
    "04.steepest",
    question="""At the output $z = 0$ the slope of tanh is 1, the largest it can be. Guess without computing: how much of this
        slope is left at $z = 0.9$? And at $x = 20$, z is almost 1, and the true slope is 1.7e−17: which float does $1 - z^2$ give there?""",
    answer={"at z = 0.9": "about 0.2", "at x = 20": "exactly 0.0"},
    choices={
        "at z = 0.9": ["about 0.9", "about 0.5", "about 0.2"],
        "at x = 20": ["exactly 0.0", "1.7e−17", "2.2e−16, which is eps"],
    },
    reveal="""At z = 0.9 it is 1 − 0.81 = **0.19**. At x = 20, $1 - z^2$ is **exactly 0.0**. The true output differs from 1 by
        8.5e−18, but the floats just below 1 are 1.1e−16 apart. So z is rounded to 1.0, and $1 - z^2$ is 0.""",
)

prediction(
    "04.turned",
    question="Where exp has height 5, its slope is 5. What is the slope of log at $x = 5$?",
    answer=0.2,
    reveal="""**1/5 = 0.2**. On the curve of exp, at height 5, a small step to the right takes you 5 times as far up. If you swap the axes, a small
        step to the right takes you a fifth as far up.""",
)

prediction(
    "04.at_zero",
    question="""relu(x) is x where x is positive, else 0. Measure its slope at 0 with a central difference: what is the result
        with h = 0.1? And with h = 1e−5?""",
    answer={"h = 0.1": 0.5, "h = 1e−5": 0.5},
    reveal="""**0.5** both times, because from −h to h relu rises by h, and h / 2h is ½. This is the mean of the two slopes, 0 on the
        left and 1 on the right, and they stay different however small h is. relu does not have slope ½ anywhere.""",
)

card(
    "04",
    [
        "exp: the slope is equal to the output, so the rule is g · z. It rests on (eʰ − 1)/h → 1.",
        "Slopes computed from the output: tanh 1 − z², sigmoid z(1 − z), √ 1/(2z). These rules do not need x.",
        "The slope of log x is 1/x, because log is exp with the axes swapped.",
        "A saturated output may be finished or stuck: far from 0, tanh passes on almost none of g.",
        "At a kink there is no slope. The library defines one by convention; a central difference gives the mean of both sides.",
        "Behind a `where`, 0 · inf is nan. Change the input of the branch, not its output.",
    ],
)


GS = np.array([0.5, -2.0, 3.0, 1.5, -1.0, 2.5])


VALUE = "That is z, the value. A rule returns g times the local gradient."


def _expect(rule, row, arg, inputs, mistakes):
    """Raise Wrong unless `rule` returns the right gradients on arrays, and then on single numbers.

    `rule` is the learner's rule for argument number `arg` of the op `row`. `inputs` holds an array
    or a number for each argument. The arrays have equal length, so that all entries together
    identify a mistake. `mistakes` lists known wrong answers, each with a hint.
    """
    g, z = GS[: np.size(inputs[arg])], row.function(*inputs)
    letters = list(signature(row.rules[arg]).parameters)[2:]
    tried = f"{row.name}, the rule for {letters[arg]}, with g = {brief(g)}, " + ", ".join(
        f"{letter} = {brief(x)}" for letter, x in zip(letters, inputs)
    )

    def in_tuple(got, _):
        """Recognise one gradient for each input, even if one of them is wrong."""
        if isinstance(got, tuple) and len(got) > 1:
            return f"{len(got)} gradients were returned in a tuple. This rule is for {letters[arg]} alone."

    expect_call(
        rule,
        g,
        z,
        *inputs,
        gives=row.rules[arg](g, z, *inputs) + 0.0,
        tried=tried,  # so that −0. is not shown
        hints=[*mistakes, (z, VALUE), *of_rule(row, arg, inputs=[inputs]), in_tuple],
    )
    expect_rule(rule, row, arg, inputs=list(zip(*np.broadcast_arrays(*inputs))))
    if (
        len(row.rules) == 3
    ):  # because clip's bounds must stay in order, and the condition of `where` is not a number
        expect_over(
            rule, row.rules[arg], _bounds if row.name == "clip" else _choices, hints=mistakes
        )
    else:
        expect_rule(rule, row, arg, hints=mistakes)


def _bounds(d):
    """Return random g, z, x, low and high for the op `clip`, with values of x at each bound and just beyond it.

    `d` is the Draw that supplies the random numbers.
    """
    low = d()
    high, x = low + d.above(), d(d.size())
    x[:4] = [low, high, *np.nextafter([low, high], [-np.inf, np.inf])][: len(x)]
    return d.g(len(x)), np.clip(x, low, high), x, low, high


def _choices(d):
    """Return random g, z, condition, x and y for the op `where`, supplied by the Draw `d`."""
    shape = d.shape(0, 1, 2, 3)
    c, x, y = d.places(2, *shape) > 0, d(*shape), d(*shape)
    return d.g(*shape), np.where(c, x, y), c, x, y


def _sigma(x):
    return 1 / (1 + np.exp(-x))


RSQRT = ag.elementwise(lambda x: x**-0.5, lambda g, z, x: -g * z**3 / 2, name="1/√x")
TRIPLED = ag.elementwise(lambda x: 3 * _sigma(x), lambda g, z, x: g * z * (1 - z / 3), name="3σ(x)")
_THIRD = "Here z is 3 σ(x), so σ(x) is z / 3. Write z / 3 in place of σ(x) in both factors."
FROM_Z = [
    [
        (
            lambda g, z, x: g / (2 * z),
            "That is the rule of √x. Here z is 1/√x, which falls, so its slope is below 0.",
        ),
        (
            lambda g, z, x: -g * z**3,
            "The factor ½ is missing: in the rule for powers, the exponent −½ is a factor.",
        ),
        (lambda g, z, x: -2 * g * z**3, "Four times the right result: the factor is −½, not −2."),
        (
            lambda g, z, x: -g * z**2 / 2,
            "The exponent falls by 1, from −½ to −3/2. And x to the power −3/2 is z³, not z².",
        ),
        (
            lambda g, z, x: -g / 2 * z**-1.5,
            "z is already x to the power −½. So x to the power −3/2 is z³.",
        ),
        (
            lambda g, z, x: -g / (2 * z**3),
            "x to the power −3/2 is z³, because z is x to the power −½. So multiply by z³.",
        ),
        (
            lambda g, z, x: -g / 2 * z**0.5,
            "The exponent falls by 1, from −½ to −3/2: it is not ½. And z is a power of x already.",
        ),
        (
            lambda g, z, x: -g * z**2,
            "That is the slope of 1/q with respect to q = √x. Multiply it by dq/dx = 1/(2q), which is z/2.",
        ),
        (
            lambda g, z, x: -g * z / 2,
            "In dq/dx = 1/(2q), q is the root √x, and this is 1/z. So dq/dx is z/2, and you need z³.",
        ),
        (
            lambda g, z, x: g * -z ^ 3 / 2,
            "In Python, write a power as **: ^ is a different operator.",
        ),
        (
            lambda g, z, x: -g * q**-2 / (2 * q),  # noqa: F821
            "q is used only on paper. In code write 1 / z, which is q.",
        ),
        (lambda g, z, x: g * z * (1 - z / 3), "That is the rule of 3σ(x): are the two swapped?"),
    ],
    [
        (lambda g, z, x: g * z * (1 - z), f"That is the rule of σ. {_THIRD}"),
        (lambda g, z, x: 3 * g * z * (1 - z), _THIRD),
        (
            lambda g, z, x: g * z / 3 * (1 - z / 3),
            "That is the slope of σ. The slope of 3σ is three times as large.",
        ),
        (
            lambda g, z, x: 3 * g * z * (1 - z / 3),
            "Three times too large: 3 · σ(x) is z, so the first factor is z, not 3z.",
        ),
        (lambda g, z, x: g * z * (1 - z) / 3, _THIRD),
        (
            lambda g, z, x: g * z * (1 - 3 * z),
            "z is 3 times σ(x), so σ(x) is z / 3, not 3z. The second factor is 1 − z/3.",
        ),
        (lambda g, z, x: 3 * g * z * (1 - 3 * z), "z is 3 times σ(x), so σ(x) is z / 3, not z."),
        (lambda g, z, x: g * z / 3 * (1 - z), _THIRD),
        (
            lambda g, z, x: g * (1 - z / 3),
            "The first factor is missing: 3 · σ(x), which is z.",
        ),
        (
            lambda g, z, x: g * z * 1 - z / 3,
            "Python multiplies first: put parentheses around 1 - z / 3.",
        ),
        (
            lambda g, z, x: g * z - z * z / 3,
            "g multiplies both terms: put parentheses around both.",
        ),
        (
            lambda g, z, x: g * (z - z * z),
            f"That is the rule of σ. {_THIRD}",
        ),
        (
            lambda g, z, x: g * (1 - z * z),
            "That is the rule of tanh. σ has the slope σ(x) · (1 − σ(x)).",
        ),
        (
            lambda g, z, x: g * z ^ 2,
            "In Python, write a power as **: ^ is a different operator.",
        ),
    ],
]


@exercise(
    "04.from_z",
    minutes=5,
    difficulty="medium",
    importance=3,
    question="""
        We have not derived the rules of two other functions, $z = 1/\\sqrt{x}$ and $z = 3\\,\\sigma(x)$. Write both rules so that they use only g and z. (x is passed in because all rules of the table have the same form.)""",
    stub="""
        rsqrt_x = lambda g, z, x: ...        # z = 1/√x
        tripled_x = lambda g, z, x: ...      # z = 3σ(x)""",
    hints=[
        "$1/\\sqrt{x}$ is $x^{-1/2}$. By the rule for powers from lesson 03, its slope is $-\\frac{1}{2} x^{-3/2}$. Which power of z is $x^{-3/2}$?",
        "The slope of $3\\,\\sigma(x)$ is $3 \\cdot \\sigma(x) \\cdot (1 - \\sigma(x))$. How do you get $\\sigma(x)$ from z?",
        (
            "Help: I have g * z * (1 - z)",
            "That takes z for σ(x). But z is 3σ(x), so σ(x) is z / 3.",
        ),
    ],
    solution="""
        rsqrt_x = lambda g, z, x: -g * z**3 / 2
        tripled_x = lambda g, z, x: g * z * (1 - z / 3)""",
    explained="$x^{-3/2}$ is $(x^{-1/2})^3$, which is z³. And $3 \\cdot \\frac{z}{3} \\cdot (1 - \\frac{z}{3})$ is $z\\,(1 - \\frac{z}{3})$.",
    why="These rules need only z, which has already been computed. So x need not be kept for the backward pass.",
)
def from_z(answer):
    if any(map(is_stub, answer)):
        raise NotYet
    for rule, row, z, mistakes in zip(answer, [RSQRT, TRIPLED], [0.5, 0.75], FROM_Z):
        _expect(rule, row, 0, [np.array([0.25, 1.5, 4.0])], mistakes)
        tried = f"the rule of {row.name}, with g = 1, z = {z:g}, and x gone (nan)"
        right = row.rules[0](1.0, z, np.nan)
        try:
            expect(
                returned(rule, 1.0, z, np.nan, tried=tried, shown=f"{right:g}"), right, tried=tried
            )
        except Wrong as wrong:
            raise wrong.because(
                "The rule is right, but it uses x, which is not available here. Use z."
            ) from None


TURN = [
    (
        lambda g, z, x: g * x,
        "x is the slope of exp where its height is x. The slope of log is 1 divided by x.",
    ),
    (
        lambda g, z, x: g * z,
        "That is g · z, which is the rule of exp. With the axes swapped, the slope is 1 divided by the height of exp, which is x.",
    ),
    (lambda g, z, x: -g / x**2, "That is the slope of 1/x. The slope of log is 1/x itself."),
    (
        lambda g, z, x: g * np.exp(x),
        "That is the slope of exp at x. The slope of log at x is 1/x.",
    ),
    (
        lambda g, z, x: g / np.exp(x),
        "Use exp at z = log x, where its height is x, not at x.",
    ),
    (
        lambda g, z, x: g / z,
        "② is 1 divided by ①, and ① is eᶻ, not z. Because eᶻ is x, divide by x.",
    ),
]


@exercise(
    "04.turn",
    minutes=2,
    difficulty="easy",
    importance=3,
    question="""
        Fill in both blanks so that x is the only letter, and write the rule of log.""",
    stub="""
        log_x = lambda g, z, x: ...""",
    hints=[
        "z is log x. So which number is $e^z$?",
        "② is 1 divided by ①. The rule is the upstream gradient times ②.",
        (
            "Help: I have g * z",
            "That is the rule of exp. The axes are swapped, so the slope is 1 divided by the height of exp, which is x.",
        ),
    ],
    solution="""
        log_x = lambda g, z, x: g / x""",
    explained="① is x, because $e^z = x$. So ② is 1/x: at 5 the slope is 1/5, as in the picture. (Below 0, log is not defined, "
    "but this rule returns a number. The number is not a slope of log.)",
    why="This rule needed no new limit: it follows from the rule of exp.",
)
def turn(answer):
    if is_stub(answer):
        raise NotYet
    with np.errstate(all="ignore"):
        _expect(answer, ag.log, 0, [np.array([0.5, 1.5, 4.0])], TURN)
        if not np.isclose(answer(1.0, np.nan, 4.0), 0.25):
            return Note("Your rule uses z, but eᶻ is x: g / x gives the same result without exp.")


SIGN_OF_G = "You test the sign of g. Test x: where x > 0, x gets all of g, even if g is negative."
X = np.array([-1.5, 0.0, 2.0, 0.7, 0.0001])
SWITCHES = [  # (row, argument, inputs that include the kinks, [(wrong rule, hint), …])
    (
        ag.relu,
        0,
        [X],
        [
            (
                lambda g, z, x: g * (x >= 0),
                "At 0 the library's convention is 0: x gets g only where x > 0.",
            ),
            (
                lambda g, z, x: g * (x <= 0),
                "It is the other way round: where x > 0, x gets g, and elsewhere 0.",
            ),
            (
                lambda g, z, x: g * (x < 0),
                "It is the other way round: x gets g where x > 0, not where x < 0.",
            ),
            (
                lambda g, z, x: g * x,
                "The slope of the line z = x does not grow with x: it is 1. So x gets all of g, or 0.",
            ),
            (
                lambda g, z, x: g * ((x > 0) + 0.5 * (x == 0)),
                "0.5 at 0 is the result of a central difference, the mean of two slopes. The library's convention is 0.",
            ),
            (
                lambda g, z, x: np.maximum(g, 0),
                SIGN_OF_G,
            ),
            (lambda g, z, x: g.clamp(min=0), SIGN_OF_G),
        ],
    ),
    (
        ag.abs,
        0,
        [X],
        [
            (
                lambda g, z, x: np.where(x > 0, g, -g),
                "At 0 this gives −g, but the library's convention is 0. np.sign(0) is 0.",
            ),
            (
                lambda g, z, x: g * np.where(x >= 0, 1, -1),
                "At 0 the library's convention is 0. np.sign(0) is 0.",
            ),
            (
                lambda g, z, x: g * x / np.abs(x),
                "x and |x| are both 0 at the kink, and 0 / 0 is nan. np.sign(0) is 0.",
            ),
            (
                lambda g, z, x: g * ((x > 0) - (x < 0)),
                "NumPy cannot subtract Booleans. g * (x > 0) - g * (x < 0) works, and np.sign is shorter.",
            ),
            (
                lambda g, z, x: g * (x > 0),
                "To the left of 0, z rises when x falls: the slope there is −1, not 0.",
            ),
            (
                lambda g, z, x: g * np.sign(x) ** 2,
                "To the left of 0, z falls when x grows: the slope there is −1, not 1.",
            ),
            (
                lambda g, z, x: np.abs(g),
                "That is the absolute value of g. Test x: to the left of 0 the slope is −1.",
            ),
            (
                lambda g, z, x: g * x,
                "The slope does not grow with x: it is −1 on the left and 1 on the right.",
            ),
            (
                lambda g, z, x: g * np.abs(x),
                "The absolute value of x is the output. The gradient of x is −g, 0 or g.",
            ),
        ],
    ),
    (
        ag.maximum,
        0,
        [np.array([2.0, 5.0, 3.0, -2.0, 0.0]), np.array([5.0, 2.0, 3.0, -2.0, 1e-12])],
        [
            (
                lambda g, z, x, y: g / 2,
                "Only a tie is split. Where x is larger, x gets all of g; where y is larger, x gets 0.",
            ),
            (
                lambda g, z, x, y: g * (x >= y),
                "In a tie you give all of g to x. Half of it belongs to y.",
            ),
            (
                lambda g, z, x, y: g * (x > y),
                "In a tie you give nothing to x. It should get half of g.",
            ),
            (
                lambda g, z, x, y: np.where(x == y, g / 2, g),
                "The tie is right. Where y is larger, x gets 0.",
            ),
            (
                lambda g, z, x, y: np.where(x > y, g, g / 2),
                "The tie is right. Where y is larger, x gets 0.",
            ),
            (
                lambda g, z, x, y: g * (x > y) + g / 2 * np.isclose(x, y),
                "Two numbers that are nearly equal are not a tie: the larger one gets all of g. Test x == y.",
            ),
            (
                lambda g, z, x, y: g * (x > y) + 0.5 * (x == y),
                "In a tie x gets half of g, not half of 1.",
            ),
            (
                lambda g, z, x, y: g / 2 * ((x > y) + (x == y)),
                "x gets half of g only in a tie. Where x is larger, it gets all of g.",
            ),
        ],
    ),
    (
        ag.where,
        1,
        [
            np.array([True, False, False, True, True]),
            np.array([3.0, 2.0, 4.0, -7.0, 0.0]),
            np.array([5.0, 1.0, 4.0, -7.0, 1.0]),
        ],
        [
            (
                lambda g, z, c, x, y: np.where(c is True, g, 0),
                "Your result is 0 everywhere, because `c is True` is false for an array. np.where(c, g, 0) tests each entry.",
            ),
            (
                lambda g, z, c, x, y: np.where(z == x, g, 0),
                "Where x and y are equal, z is equal to both. Only c tells which one was used.",
            ),
            (
                lambda g, z, c, x, y: g * (x > y),
                "The condition c decides, not which of the two is larger.",
            ),
            (
                lambda g, z, c, x, y: g * (x > 0),
                "The condition c decides, not the sign of x.",
            ),
            (
                lambda g, z, c, x, y: g / 2,
                "Nothing is split here: where c is True, x gets all of g; elsewhere it gets 0.",
            ),
            (lambda g, z, c, x, y: g, "Where c is False, z is y, so x gets 0."),
            (
                lambda g, z, c, x, y: np.where(x, g, 0),
                "The condition is c. x is a number, and any number but 0 counts as True.",
            ),
            (
                lambda g, z, c, x, y: np.where(c, x, 0),
                "That is a value. The gradient of x is g or 0.",
            ),
            (
                lambda g, z, c, x, y: np.where(c, x, y),
                "That is z, the value. The gradient of x is g or 0.",
            ),
            (
                lambda g, z, c, x, y: np.where(c, g),
                "np.where takes three arguments: the condition, the value where it is true, and the value elsewhere.",
            ),
            (
                lambda g, z, c, x, y: np.where(c, g, y),
                "Where c is False, the gradient of x is 0, not y.",
            ),
            (
                lambda g, z, c, x, y: g * x,
                "Use c. Where c is True, z is x itself, so the slope is 1.",
            ),
            (
                lambda g, z, c, x, y: np.where(c, g * x, 0),
                "Where c is True, z is x itself, so the slope is 1.",
            ),
        ],
    ),
]
# For relu, maximum and where: z and the inputs at a point where x gets 0
BLOCKED = (
    (ag.relu, (0.0, np.float64(-1.0))),
    (ag.maximum, (2.0, np.float64(1.0), np.float64(2.0))),
    (ag.where, (2.0, np.False_, np.float64(1.0), np.float64(2.0))),
)
RIGHT = (
    lambda g, z, x: np.where(x > 0, g, 0),
    lambda g, z, x: g * np.sign(x),
    lambda g, z, x, y: np.where(x > y, g, np.where(x == y, g / 2, 0)),
    lambda g, z, c, x, y: np.where(c, g, 0),
)


@exercise(
    "04.switches",
    minutes=5,
    difficulty="medium",
    importance=3,
    question="""
        Write the four rules for x. `np.where(c, p, q)` takes p where c is true and q elsewhere, entry by entry.""",
    stub="""
        relu_x = lambda g, z, x: ...
        abs_x = lambda g, z, x: ...
        maximum_x = lambda g, z, x, y: ...
        where_x = lambda g, z, c, x, y: ...""",
    hints=[
        "relu: `np.where(…, g, 0)` is g or 0. Choose the condition so that it is 0 at the kink, as in the table.",
        "`np.sign(x)` is −1, 0 or 1. For the maximum, nest a second `np.where` inside the first: g where x is larger; elsewhere "
        "half of g in a tie, and 0 otherwise.",
        ("Help: the maximum is wrong at 3 and 3", "In a tie each input gets half of g."),
    ],
    solution="""
        relu_x = lambda g, z, x: np.where(x > 0, g, 0)
        abs_x = lambda g, z, x: g * np.sign(x)
        maximum_x = lambda g, z, x, y: np.where(x > y, g, np.where(x == y, g / 2, 0))
        where_x = lambda g, z, c, x, y: np.where(c, g, 0)""",
    explained="""
        relu and where pass g or 0; abs may also flip the sign of g; a tie splits g. (relu(x), maximum(x, 0) and clip(x, 0, ∞) are the same function. But at 0 their gradients are 0, g/2 and g, because each operation has a convention of its own.)

        A product with a comparison, such as `g * (x > 0)`, gives the same result as long as g is finite. But where g is ∞ and x is not above 0, it gives ∞ · 0, which is nan.""",
    why="No limits were needed, because between its kinks each of these functions is a straight line.",
)
def switches(answer):
    if any(map(is_stub, answer)):
        raise NotYet
    with np.errstate(all="ignore"):
        for rule, (row, arg, inputs, mistakes) in zip(answer, SWITCHES):
            _expect(rule, row, arg, inputs, mistakes)
        products = [  # abs is not tried: ∞ · sign(0) is nan in our solution too
            row.name
            for rule, (row, given) in zip((answer[0], *answer[2:]), BLOCKED)
            if np.isnan(rule(np.inf, *given))
        ]
    if products:
        return Note(
            f"For {' and '.join(products)}: where the upstream gradient is ∞ and x must get 0, your rule gives nan, because "
            "∞ · 0 is nan. np.where chooses 0 and does not multiply."
        )


LOG_OF_SIZE = (
    lambda g, z, x, y: g * z * np.log(np.abs(x)),
    "The log of |x| gives 9.89, but at the base −3 there is no curve, so there is no slope. (This mistake has been published.)",
)


EXPONENT = [
    (
        lambda g, z, x, y: g * z * np.log(z),
        "log z is the whole exponent, y log x. ② is log x alone.",
    ),
    (
        lambda g, z, x, y: g * z * np.log(z) / y,
        "Where y is 0, log z / y is 0 / 0. Elsewhere it is log x: write that.",
    ),
    (lambda g, z, x, y: g * z, "That is ① alone. Multiply it by ②, the slope of p = y log x."),
    (
        lambda g, z, x, y: g * z / x,
        "x is fixed here, so log x is a constant, and ② is this constant.",
    ),
    (
        lambda g, z, x, y: g * z * y,
        "In p = y log x only y varies: the slope is the factor of y.",
    ),
    (
        lambda g, z, x, y: g * z * y / x,
        "That is the rule for the base, from lesson 03. Here the base is fixed and y varies: ② is log x.",
    ),
    (lambda g, z, x, y: g * z * np.ln(x), "NumPy's natural logarithm is called np.log."),
    (lambda g, z, x, y: g * z * log(x), "NumPy's natural logarithm is called np.log."),  # noqa: F821
    (
        lambda g, z, x, y: g * np.exp(p) * np.log(x),  # noqa: F821
        "p is used only on paper. eᵖ is z, which is passed in.",
    ),
    (lambda g, z, x, y: g * np.exp(z) * np.log(x), "z is already exp of p: ① is z."),
    (
        lambda g, z, x, y: g * x * np.log(x),
        "① is the height of exp at p. This is z, the power itself, not x.",
    ),
    (
        lambda g, z, x, y: g * z * RIGHT[0](x),
        "You call a rule, which expects g, z and x. The logarithm itself is np.log(x).",
    ),
    (
        lambda g, z, x, y: g * np.log(x),
        "That is ② alone. Multiply it by ①, the slope of exp at p, which is z.",
    ),
    (
        lambda g, z, x, y: g * z * np.log(y),
        "You took the log of the exponent. In p = y log x, y is multiplied by the log of the base.",
    ),
    (
        lambda g, z, x, y: g * y * x ** (y - 1) * np.log(x),
        "y · x ** (y − 1) is the slope for the base, and here the base is fixed. ① is the power itself, z.",
    ),
]


@exercise(
    "04.exponent",
    minutes=4,
    difficulty="optional",
    importance=1,
    question="""
        Write the rule of $z = x^y$ with respect to the *exponent* y. In code, log is `np.log`.""",
    stub="""
        power_y = lambda g, z, x, y: ...""",
    hints=[
        "① is z, because z is exp of p. ② is $\\log x$, because only y varies in $p = y \\log x$.",
        (
            "Help: I have g * y * x ** (y - 1)",
            "That is the rule for the base, from lesson 03. Here the base is fixed, and the exponent varies.",
        ),
    ],
    solution="""
        power_y = lambda g, z, x, y: g * z * np.log(x)""",
    explained="The slope $z \\cdot \\log x$ is the slope of exp times the factor $\\log x$, which is 1 for the base e. (If x varies in "
    "$e^{y \\log x}$ instead of y, the slope is z · y/x, which is the rule of lesson 03. "
    "So for x above 0 that rule holds for every exponent.)",
    why="This rule needed no new limit: it follows from the rules of exp and log.",
)
def exponent(answer):
    if is_stub(answer):
        raise NotYet
    with np.errstate(all="ignore"):
        _expect(
            answer, ag.power, 1, [np.array([2.0, 0.5, 3.0]), np.array([3.0, 0.5, -1.0])], EXPONENT
        )
        below = {
            "tried": "the rule for y, with g = 1, z = 9, x = −3, y = 2",
            "shown": "nan: there is no slope",
        }
        if np.any(returned(answer, 1.0, 9.0, -3.0, 2.0, **below)):  # 0 is accepted too
            expect_call(answer, 1.0, 9.0, -3.0, 2.0, gives=np.nan, hints=[LOG_OF_SIZE], **below)


DRILL = [
    [
        (
            lambda g, z, x: g * np.cos(np.radians(x)),
            "x is already in radians, as in every formula for a slope.",
        ),
        (lambda g, z, x: g * np.sin(x), "That is the value. The slope of sin is cos."),
        (lambda g, z, x: -g * np.sin(x), "That is the rule of cos: are the two swapped?"),
        (
            lambda g, z, x: np.cos(g * x),
            "Multiply the slope cos x by g; do not put g inside the cos.",
        ),
        (
            lambda g, z, x: g * np.sqrt(1 - z * z),
            "√(1 − z²) is never negative, but cos x can be: the sign is lost.",
        ),
    ],
    [
        (
            lambda g, z, x: g * np.cos(x),
            "That is the value, and the rule of sin. The slope of cos is −sin.",
        ),
        (
            lambda g, z, x: -np.sin(g * x),
            "Multiply the slope −sin x by g; do not put g inside the sin.",
        ),
        (lambda g, z, x: -g * np.cos(x), "The minus is right. The slope of cos is −sin."),
    ],
    [
        (
            lambda g, z, x: g / (1 + np.exp(x)),
            "That is 1 / (1 + eˣ), the slope of the log alone. By the chain rule, multiply it by eˣ.",
        ),
        (
            lambda g, z, x: g * np.exp(x),
            "That is the slope of the inner function, 1 + eˣ. Multiply it by the slope of the log: divide by 1 + eˣ.",
        ),
        (
            lambda g, z, x: g * np.maximum(x, 0),
            "That is the value of relu. Softplus is a smooth version of relu, and its slope is σ(x).",
        ),
        (
            lambda g, z, x: g * np.tanh(x),
            "tanh goes from −1 to 1. The slope of softplus is the S-shaped curve from 0 to 1, σ(x).",
        ),
        (lambda g, z, x: g * np.sigmoid(x), "NumPy has no sigmoid. The library has ag.sigmoid."),
        (lambda g, z, x: g * sigmoid(x), "In the library the sigmoid is called ag.sigmoid."),  # noqa: F821
        (
            lambda g, z, x: g * (x > 0),
            "That is the rule of relu. Softplus has no kink: its slope is σ(x), between 0 and 1.",
        ),
        (
            lambda g, z, x: g * ag.sigmoid(x) * (1 - ag.sigmoid(x)),
            "That is the slope of the sigmoid. The slope of softplus is the sigmoid itself.",
        ),
        (
            lambda g, z, x: g * z * (1 - z),
            "z is the output of softplus, not of the sigmoid. The slope is σ(x), computed from the input.",
        ),
        (
            lambda g, z, x: g * RIGHT[0](x),
            "You call a rule, which expects g, z and x. The sigmoid itself is ag.sigmoid(x).",
        ),
        (
            lambda g, z, x: g / (1 + np.exp(x)) * np.exp(x) ** 2,
            "One factor eˣ too many: the slope is eˣ / (1 + eˣ), or 1 / (1 + e⁻ˣ).",
        ),
    ],
]


@exercise(
    "04.drill",
    minutes=3,
    difficulty="optional",
    importance=1,
    question="""
        Write the three rules. Use `np.sin`, `np.cos` and `ag.sigmoid`.""",
    stub="""
        sin_x = lambda g, z, x: ...
        cos_x = lambda g, z, x: ...
        softplus_x = lambda g, z, x: ...""",
    hints=[
        "The gradient of x is the upstream gradient g times the slope.",
        (
            "Help: cos has the wrong sign",
            "Just to the right of 0, cos falls, so its slope is negative there, but sin is positive.",
        ),
    ],
    solution="""
        sin_x = lambda g, z, x: g * np.cos(x)
        cos_x = lambda g, z, x: -g * np.sin(x)
        softplus_x = lambda g, z, x: g * ag.sigmoid(x)""",
    explained="For softplus, `g * (np.exp(x) / (1 + np.exp(x)))` is also right, up to x = 709. The next section explains "
    "what happens above.",
    why="Of these three rules, only that of sin needed a limit.",
)
def drill(answer):
    if any(map(is_stub, answer)):
        raise NotYet
    for rule, row, mistakes in zip(answer, [ag.sin, ag.cos, ag.softplus], DRILL):
        _expect(rule, row, 0, [np.array([-1.2, 0.4, 2.0])], mistakes)


def _by_size(x):
    e = np.exp(-2 * np.abs(x))
    return np.sign(x) * (1 - e) / (1 + e)


@exercise(
    "04.stable_tanh",
    minutes=4,
    difficulty="optional",
    importance=1,
    question="""
        Published code computes tanh as $\\frac{e^{2x} - 1}{e^{2x} + 1}$. At 400 this is nan. If you multiply numerator and
        denominator by $e^{-2x}$, the result is right at 400, but nan at −400. Write a `stable_tanh(x)` with
        `np.exp`, which is right at both points and beyond them.""",
    stub="""
        def stable_tanh(x):
            ...""",
    hints=[
        "Which exp overflows in each of the two forms? What is the sign of its exponent?",
        "With $p = e^{-2|x|}$, which is never above 1, $\\frac{1 - p}{1 + p}$ is right for positive x. And tanh(−x) is −tanh x.",
        ("Help: my result at −400 is 1", "`np.sign(x)` restores the sign."),
    ],
    solution="""
        def stable_tanh(x):
            p = np.exp(-2 * np.abs(x))
            return np.sign(x) * (1 - p) / (1 + p)""",
    explained="An `if x > 0` with one form for each side also works, for one number at a time. (`np.where` would compute both "
    "forms everywhere, including the form that overflows.) Near 0, 1 − p loses digits, and `-np.expm1(-2 * np.abs(x))` keeps them.",
    why="Far from 0 no exp overflows, or its overflow is harmless, so the result is ±1 at both ends.",
    mistakes=[
        *(
            (
                wrong,
                "Which exp overflows? With a large positive exponent it is inf, and inf / inf is nan.",
            )
            for wrong in (
                lambda x: (np.exp(2 * x) - 1) / (np.exp(2 * x) + 1),
                lambda x: np.sign(x) * (np.exp(2 * np.abs(x)) - 1) / (np.exp(2 * np.abs(x)) + 1),
                lambda x: (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x)),
            )
        ),
        (
            lambda x: max(-1.0, min(1.0, x)),
            "That is x, limited to −1 and 1. tanh is curved everywhere and needs exp.",
        ),
        (lambda x: x, "That is x itself. tanh is curved and needs exp."),
        (
            lambda x: (1 - np.exp(-2 * x)) / (1 + np.exp(-2 * x)),
            "This is right at 400. Which exp overflows at −400? −2 · −400 is 800.",
        ),
        (
            lambda x: np.abs(_by_size(x)),
            "The size is right. tanh of a negative number is negative: restore the sign.",
        ),
        (
            lambda x: math.sinh(x) / math.cosh(x),
            "sinh and cosh are computed with exp and overflow too. Which exponents cannot overflow?",
        ),
        (
            lambda x: np.sign(x),
            "This is right far from 0. But tanh has no jump at 0: it needs exp.",
        ),
        (
            lambda x: (1 - np.exp(-np.abs(x))) / (1 + np.exp(-np.abs(x))) * np.sign(x),
            "That is tanh of x/2: where is the 2?",
        ),
        (lambda x: x / abs(x) * np.abs(_by_size(x)), "x / |x| is 0 / 0 at 0. np.sign(0) is 0."),
        (lambda x: x / np.abs(x) * np.abs(_by_size(x)), "x / |x| is 0 / 0 at 0. np.sign(0) is 0."),
        (
            lambda x: np.nan_to_num((np.exp(2 * x) - 1) / (np.exp(2 * x) + 1)),
            "You replace the nan with another wrong number. Which exp overflows?",
        ),
        printed(_by_size),
    ],
)
def stable_tanh(answer):
    with np.errstate(all="ignore"):
        try:
            expect_over(
                answer,
                lambda x: float(np.tanh(x)),
                lambda d: (d(),),
                hints=stable_tanh.mistakes,
                first=[
                    (x,) for x in (0.5, -1.0, 3.0, 0.0, 1.0, -0.01, 400.0, -400.0, 800.0, -800.0)
                ],
            )
        except Wrong as wrong:
            (x,) = wrong.difference.where.args
            if wrong.cause.kind != "nothing" or np.ndim(x) or x != 0:
                raise
            raise wrong.because(
                "At 0 neither x > 0 nor x < 0 is true. What does your function return then?"
            ) from None
    if any(answer is own for own in (np.tanh, ag.tanh, math.tanh)) or "tanh" in _names(answer):
        raise Wrong(
            "how stable_tanh is written",
            "tanh itself",
            "a formula with exp",
            "NumPy's tanh is already numerically stable. Write your own with exp.",
        )


def _names(function):
    """Return the set of names that the code of a function uses.

    The names in functions defined inside it are included. If the function wraps another function,
    the names are those of the wrapped function.
    """
    codes = [one.__code__ for one in [underneath(function)] if hasattr(one, "__code__")]
    for one in codes:
        codes += [constant for constant in one.co_consts if isinstance(constant, CodeType)]
    return {name for one in codes for name in one.co_names}


CLIP = [
    (
        lambda g, z, x, low, high: g * ((low < x) & (x < high)),
        "Where x is at a bound, x still gets g: use <=, not <.",
    ),
    (
        lambda g, z, x, low, high: g * (x <= high),
        "Below the low bound z does not change with x: the gradient is 0.",
    ),
    (
        lambda g, z, x, low, high: g * (low <= x),
        "Above the high bound z does not change with x: the gradient is 0.",
    ),
    (
        lambda g, z, x, low, high: g * ((low <= x) | (x <= high)),
        "Your rule returns g everywhere. Return g only where x is not below low and (&) not above high.",
    ),
    (
        lambda g, z, x, low, high: g * ((low <= x) & (x < high)),
        "At the high bound x still gets g: use <=, not <.",
    ),
    (
        lambda g, z, x, low, high: g * ((low < x) & (x <= high)),
        "At the low bound x still gets g: use <=, not <.",
    ),
    (
        lambda g, z, x, low, high: g * (low <= x & x <= high),
        "Python binds & more tightly than <=: put each comparison in parentheses.",
    ),
    (
        lambda g, z, x, low, high: g * ((x < low) | (x > high)),
        "It is the other way round: outside the bounds z does not change.",
    ),
    (
        lambda g, z, x, low, high: g * ((x < low) & (x > high)),
        "Your rule returns 0 everywhere, but between the bounds x gets g.",
    ),
    (
        lambda g, z, x, low, high: g * ((-1 <= x) & (x <= 1)),
        "−1 and 1 are only an example: use the arguments low and high.",
    ),
    (
        lambda g, z, x, low, high: g * (np.abs(x) <= high),
        "The lower bound is low, which need not be −high.",
    ),
    (
        lambda g, z, x, low, high: np.clip(g, low, high),
        "You clip g. Compare x with the bounds: x gets all of g, or 0.",
    ),
]

C, K = np.sqrt(2 / np.pi), 0.044715


def _t(x):
    return np.tanh(C * (x + K * x**3))


def _five(x):
    return C * (1 + 3 * K * x**2)


def _gelu(five, tanh_slope=lambda t, x, z: 1 - t**2, first=0.5, second=0.5):
    """Return a wrong gradient rule for gelu, in which one factor of the right rule is replaced.

    The right rule is g · (½ (1 + t) + ½ x · (1 − t²) · ①), where t is the tanh and ① is the slope
    of its argument. `five(x)` is used for ①, `tanh_slope(t, x, z)` for 1 − t², and `first` and
    `second` for the two factors ½.
    """
    return lambda g, z, x: (
        g * (first * (1 + _t(x)) + second * x * tanh_slope(_t(x), x, z) * five(x))
    )


def _by_erf(g, z, x):
    bell = np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
    return g * (0.5 * (1 + np.vectorize(math.erf)(x / np.sqrt(2))) + x * bell)


GELU = [
    (
        _by_erf,
        "That is the slope of gelu by erf, PyTorch's default. Here z is computed with tanh: use t_of(x).",
    ),
    (
        lambda g, z, x: g * 0.5 * (1 + _t(x)),
        "That is the first term alone. x is in both factors.",
    ),
    (_gelu(_five, first=0), "That is the second term alone. x is in both factors."),
    (
        lambda g, z, x: g * 0.5 * (1 - _t(x) ** 2) * _five(x),
        "You multiply the slopes of both factors. The product rule has two terms: the slope of each factor times the other factor.",
    ),
    (_gelu(lambda x: 1), "Nearly: t is tanh of p, so multiply by the slope of p, ①."),
    (_gelu(lambda x: C), "Nearly: ① is the slope of the whole p, including x³."),
    (_gelu(lambda x: _five(x) / C), "Nearly: c multiplies the whole p, so it is in ① too."),
    (
        _gelu(lambda x: C + 3 * K * x**2),
        "Nearly: c multiplies the whole p, so it multiplies both terms of ①.",
    ),
    (_gelu(lambda x: C * 3 * K * x**2), "Nearly: p is c times x + …, and the slope of x is 1."),
    (_gelu(lambda x: C * (1 + K * x**2)), "Nearly: the slope of x³ is 3x², and you lost the 3."),
    (_gelu(lambda x: C * (1 + 3 * K * x)), "Nearly: the slope of x³ is 3x², not 3x."),
    (
        _gelu(lambda x: C * (x + 3 * K * x**2)),
        "Nearly: p is c times x + …, and the slope of x is 1.",
    ),
    (_gelu(lambda x: C * (x + K * x**3)), "Nearly: that is p itself. ① is its slope."),
    (
        lambda g, z, x: g * 0.5 * (1 + _t(x) + (1 - _t(x) ** 2) * _five(x)),
        "Nearly: multiply the second term by the other factor, ½ x.",
    ),
    (_gelu(_five, second=1), "Nearly: the ½ multiplies the whole z, so it is in both terms."),
    (_gelu(_five, first=1), "Nearly: the ½ multiplies the whole z, so it is in both terms."),
    (_gelu(_five, lambda t, x, z: 1 - t), "Nearly: the slope of tanh is 1 − t², not 1 − t."),
    (_gelu(_five, lambda t, x, z: (1 - t) ** 2), "Nearly: only t is squared: 1 - t_of(x)**2."),
    (
        _gelu(_five, lambda t, x, z: 1 - x**2),
        "Nearly: the slope of tanh is computed from its output t: 1 − t².",
    ),
    (
        _gelu(_five, lambda t, x, z: 1 - z**2),
        "Nearly: z is the output of gelu. The output of the tanh is t.",
    ),
    (
        lambda g, z, x: g * 0.5 * (1 + _t(x)) + 0.5 * x * (1 - _t(x) ** 2) * _five(x),
        "g multiplies both terms: a pair of parentheses is missing.",
    ),
]


@exercise(
    "04.longer",
    minutes=10,
    difficulty="optional",
    importance=1,
    question="""
        Write both rules for x. For `clip`, join two comparisons with `&`, each in parentheses. For gelu, the constant c and the function
        that computes t are given.""",
    stub="""
        c = 0.7978845608028654          # √(2/π)

        def t_of(x):
            return np.tanh(c * (x + 0.044715 * x**3))

        clip_x = lambda g, z, x, low, high: ...
        gelu_x = lambda g, z, x: ...""",
    hints=[
        "gelu: write `t_of(x)` for t: `g * (0.5 * (1 + t_of(x)) + 0.5 * x * … )`. The slope of tanh is `1 - t_of(x)**2`.",
        "① is $c\\,(1 + 3 \\cdot 0.044715\\,x^2)$, by the rule for powers.",
        ("Help: clip is wrong at its bound", "At the bound x still gets g: `<=`, not `<`."),
        (
            "Help: gelu is nearly right",
            "t is tanh of p, so the slope of tanh is multiplied by ①, the slope of p. And g multiplies both terms.",
        ),
    ],
    solution="""
        c = 0.7978845608028654          # √(2/π)

        def t_of(x):
            return np.tanh(c * (x + 0.044715 * x**3))

        clip_x = lambda g, z, x, low, high: np.where((low <= x) & (x <= high), g, 0)
        gelu_x = lambda g, z, x: g * (0.5 * (1 + t_of(x))
                                      + 0.5 * x * (1 - t_of(x)**2) * c * (1 + 3 * 0.044715 * x**2))""",
    why="The longest rule of this lesson needed nothing new.",
)
def longer(answer):
    if any(map(is_stub, answer)):
        raise NotYet
    for x, low, high in [
        ([-3.0, -2.0, -1.7, 0.4, 1.5, 2.0], -2.0, 1.5),
        ([-3.0, -0.5, 0.0, 3.0, 3.2], -0.5, 3.0),
        ([0.5, 0.7], 0.5, 0.5),
    ]:
        _expect(answer[0], ops.ROWS["clip"], 0, [np.array(x), low, high], CLIP)
    _expect(answer[1], ag.gelu, 0, [np.array([-1.2, 0.4, 2.0, 0.0])], GELU)


# --- A nan gradient from where ----------------------------------------------------------------------------------------

_ROOT_X = np.array([4.0, 0.0, -1.0])
_INPUT = "ag.where(x > 0, x, 1.0)"
_ROOT = f"ag.sqrt({_INPUT})"
_SAFE = f"ag.where(x > 0, {_ROOT}, 0.0)"
_BOTH = (
    "The value is right. But where x is not above 0, the square root still receives a number that is not above 0. Its "
    "slope is infinite at 0 and nan below 0, and 0 times either is nan. Replace the input, inside the square root."
)
_AT_0 = (
    "The gradient is wrong only at 0: there the square root still receives 0, where its slope is infinite. Every "
    "condition must treat 0 like the numbers below it: test x > 0."
)
_BELOW_0 = (
    "At 0 everything is right. But below 0 the square root still receives a negative number, so its slope is nan, and 0 times "
    "nan is nan. Replace its input wherever x is not above 0."
)
_TIE = (
    "The gradient is wrong only at 0: there x and 0 are tied, so maximum passes half of ∞ (or of nan) on to x. "
    "Replace the input by a number above 0 there, with a where that tests x > 0."
)
_BOUND = (
    "The gradient is wrong only at 0: clip passes all of the gradient on at its bound, and there that is ∞ or nan. "
    "Replace the input by a number above 0 there, with a where that tests x > 0."
)
_ABS = (
    "The gradient is wrong only at 0: abs(x) is 0 there, so the square root still receives 0. "
    "Replace the input by a number above 0 there, with a where that tests x > 0."
)
_PRODUCT = (
    "The value is right. But a product with x > 0 passes g · (x > 0) back: where x is not above 0, that is ∞ · 0, which "
    "is nan. A where passes 0 back there."
)
_IS_NAN = (
    "Where x is not above 0, the value must be 0, and yours is nan. Let a where choose 0 there: a product with 0 keeps "
    "a nan."
)
_NOT_0 = (
    "Where x is not above 0, the value must be 0, even if you replaced x there: choose 0 with an outer where. Its "
    "condition must test the original x."
)
_OUTER = "At 0 the value must be 0, but x >= 0 is true there. Test x > 0 in the outer where too."
_VALUE_BELOW = "Below 0 the value must be 0: choose it with an outer where."
_ABOVE = "Where x is above 0, the value must be √x. Are the branches of a where swapped, or does a condition not test x > 0?"
_CHANGED = (
    "Where x is above 0, the value must be √x: pass x itself to the square root there, and not a function that is "
    "only close to x."
)
_SMALL = (
    "A small number, added or used as a bound, changes the value, most of all near 0. You do not need one if you "
    "replace the input only where x is not above 0."
)
_CUT = (
    "The value is right, but the gradient is 0 everywhere: .data, .detach() and no_grad make constants. Compute with "
    "x itself."
)
_SLOPED = "Where x is not above 0, the gradient must be 0: choose a constant there."
_WHERE = "x may have any shape. A where chooses each entry without a loop and without writing into an array."
_SHAPE = "Return one Tensor with an entry for each entry of x: choose each entry with where, and do not add or drop any."


def _valued(answer):
    """Return a function that computes the value and the gradient of the learner's `answer`.

    The function takes an array and the upstream gradient, and raises Wrong if the answer does not
    return an array of the shape of x.
    """

    def forward(x):
        z = answer(x)
        hint = got = ""
        if z is None:
            got, hint = (
                "None",
                "Your function returned None. Does it print the result, or lack a return?",
            )
        elif callable(z):
            got, hint = (
                "a function",
                "You return a function. Call it with x, and return its result.",
            )
        elif isinstance(z, (list, tuple)):
            got, hint = f"a {type(z).__name__}", _SHAPE
        elif np.shape(getattr(z, "data", z)) != x.shape:
            got, hint = f"shape {np.shape(getattr(z, 'data', z))}", _SHAPE
        if hint:
            raise Wrong(f"safe(x) for an x of shape {x.shape}", got, f"shape {x.shape}", hint)
        return z

    forward.__wrapped__ = answer
    return value_and_vjp(forward)


def _right_root(x, g):
    root = np.sqrt(np.where(x > 0, x, 1.0))
    return np.where(x > 0, root, 0.0), np.where(x > 0, g / (2 * root), 0.0)


def _where_it_differs(names):
    """Return a recogniser of mistakes in `safe`.

    It looks at the places at which the value or the gradient is wrong, and distinguishes 0 from
    the numbers below 0 only for the array _ROOT_X. `names` are the names in the learner's code.
    """

    def recognise(got, expected):
        value, gradient = (np.asarray(part, float) for part in got)
        off, above = np.abs(value - expected[0]), expected[0] > 0
        wrong = ~(off <= 1e-12 + 1e-9 * expected[0])
        first = np.array_equal(expected[0], _right_root(_ROOT_X, 1.0)[0])
        if np.isnan(value[~above]).any():
            return _IS_NAN
        if wrong.any():
            small = np.all(off <= np.where(expected[0] < 1, 0.01, 0.002))
            only_below = first and np.isnan(gradient).tolist() == [False, False, True]
            if small and only_below and not wrong[~above].any():
                return _BELOW_0  # the nan is visible, but the error of the value is not
            if wrong[above].any():
                swapped = np.isin(value[wrong & above], [0, 1]).any()
                return _SMALL if small else _ABOVE if swapped else _CHANGED
            return {(1,): _OUTER, (2,): _VALUE_BELOW}.get(
                tuple(np.flatnonzero(wrong)) if first else (), _NOT_0
            )
        if np.any(expected[1]) and not np.any(gradient):
            return _CUT
        wrong = ~np.isclose(gradient, expected[1]) & ~above
        if not wrong.any():
            return None
        if np.isfinite(gradient[wrong]).all():
            return _SLOPED
        if not first or wrong[1:].all():
            return _BOTH if names & {"where", "trap"} else _PRODUCT
        if wrong[2]:
            return _BELOW_0
        causes = {"maximum": _TIE, "clip": _BOUND, "abs": _ABS}
        return next((hint for name, hint in causes.items() if name in names), _AT_0)

    return recognise


_BY_VALUE = [
    edit(
        _SAFE,
        f"ag.where(x > 0, 1 / (2 * {_ROOT}), 0.0)",
        "That is the slope. Return the value: the library computes the gradient itself.",
    ),
    edit(
        _SAFE,
        "np.nan_to_num(ag.where(x > 0, ag.sqrt(x), 0.0))",
        "Neither x nor the value of trap is nan: only the gradient is. Replace the input of the square root.",
    ),
    edit(
        _SAFE,
        "ag.where(x, ag.sqrt(ag.where(x, x, 1.0)), 0.0)",
        "As a condition, every number but 0 counts as True, even a negative one: write x > 0.",
    ),
    *(
        edit(f"return {_SAFE}", f"{out}; out[x > 0] = ag.sqrt(x[x > 0]); return out", _WHERE)
        for out in ("out = np.zeros_like(x)", "out = np.zeros(x.shape)")
    ),
    *(
        edit(_SAFE, f"{join}([ag.sqrt(entry) if entry > 0 else 0.0 for entry in x])", _WHERE)
        for join in ("ag.stack", "np.array")
    ),
    edit(
        _SAFE,
        "ag.sqrt(x.clamp(min=0))",
        "clip, its name in this library, would not help: at the bound 0 it passes on all of the gradient, which is ∞ or "
        "nan, and a bound above 0 changes √x for smaller x. Replace the input with a where that tests x > 0.",
    ),
    edit(
        _SAFE,
        f"{_ROOT} - 1",
        "You subtract 1 everywhere. Subtract it only where x is not above 0, or choose 0 there with a where.",
    ),
    edit(
        _SAFE,
        _SAFE.replace("ag.", "torch."),
        "Write ag in place of torch: this library has where and sqrt too.",
    ),
    edit(
        _SAFE,
        "ag.sqrt(x) if x > 0 else 0.0",
        "x may have any shape, but an if needs a single True or False. Choose each entry with ag.where.",
    ),
    edit(f"return {_SAFE}", "x[x <= 0] = 1.0; return ag.sqrt(x)", _WHERE),
]


@exercise(
    "04.safe",
    minutes=4,
    difficulty="medium",
    importance=2,
    question="""
        Write `safe(x)`: its value is that of `trap(x)`, and wherever x is not above 0, its gradient is 0. x may have any shape.""",
    stub="""
        def safe(x):
            ...""",
    hints=[
        "Which number does the square root receive where x is 0, and where x is −1? Which slope does it have there?",
        "Wherever x is not above 0, replace the *input* of the square root by 1.0, because at 1.0 its slope is finite. "
        "A second `ag.where` does that.",
        (
            "Help: the value is 1 where x is not above 0",
            "There the outer `where` must choose 0, and its condition must test the original x.",
        ),
        (
            "Help: the gradient is wrong only at 0",
            "Is a condition `x >= 0`? This is true at 0, so the square root still receives the 0.",
        ),
    ],
    solution=f"""
        def safe(x):
            return {_SAFE}""",
    explained="""
        The second `where` replaces the *input* of the square root. So the root never receives 0 or a number below 0, and no nan arises. You can try both functions in [the playground](playground.ipynb#The-trap-of-where).

        At 0, other answers do the following:

        - `safe` with 0.0 in place of 1.0 is right too: the square root passes back 0 · ∞ = nan, but the rule of the inner `where` *chooses* 0 in its place.
        - `sqrt(relu(x))` is right for the same reason: the `np.where` in relu's rule chooses 0 in place of ∞.
        - A relu whose rule is `g * (x > 0)` would compute ∞ · 0, which is nan.
        - `sqrt(maximum(x, 0))` has the gradient ∞, because in a tie x gets half of ∞.""",
    why="Wherever x is not above 0, x gets 0 and no nan: you changed the input of the square root, not only its output.",
    mistakes=[
        *_BY_VALUE,
        edit(_ROOT, "ag.sqrt(x)", _BOTH),
        edit(_INPUT, "ag.where(x >= 0, x, 1.0)", _AT_0),
        edit(_INPUT, "ag.where(x != 0, x, 1.0)", _BELOW_0),
        edit(_INPUT, "ag.abs(x)", _ABS),
        edit(_INPUT, "ag.maximum(x, 0.0)", _TIE),
        edit(_SAFE, "ag.sqrt(ag.maximum(x, 0.0))", _TIE),
        edit(_INPUT, "ag.clip(x, 0.0, np.inf)", _BOUND),
        edit(_SAFE, "ag.sqrt(ag.clip(x, 0.0, np.inf))", _BOUND),
        edit(_SAFE, "ag.sqrt(x * (x > 0))", _PRODUCT),
        edit(_SAFE, "ag.sqrt(x)", _IS_NAN),
        edit(_SAFE, "ag.sqrt(x) * (x > 0)", _IS_NAN),
        edit(_SAFE, _ROOT, _NOT_0),
        edit(_SAFE, f"ag.where(x >= 0, {_ROOT}, 0.0)", _OUTER),
        edit(_SAFE, "ag.sqrt(ag.where(x == 0, 1.0, ag.abs(x))) - (x == 0)", _VALUE_BELOW),
        edit(_INPUT, "ag.where(x > 0, 1.0, x)", _ABOVE),
        edit(_INPUT, "ag.softplus(x)", _CHANGED),
        edit(_INPUT, "ag.maximum(x, 1e-12)", _SMALL),
        edit(_ROOT, "ag.sqrt(ag.relu(x) + 1e-12)", _SMALL),
        edit(_SAFE, "ag.sqrt(ag.where(x > 0, x, 1e-12))", _NOT_0),
        edit(_INPUT, "x + 1e-8", _BELOW_0),
        edit(_ROOT, "ag.sqrt(x.data)", _CUT),
        edit(_SAFE, f"{_SAFE} + (x - x.detach())", _SLOPED),
    ],
)
def safe(answer):
    if is_stub(answer):
        raise NotYet

    def build(d):
        x = np.asarray(d(*d.shape(0, 1, 2, 3)))
        return x, np.asarray(d.g(*x.shape))

    ones = np.ones(3)
    expect_over(
        _valued(answer) if callable(answer) else answer,
        _right_root,
        build,
        first=[
            (_ROOT_X, ones),
            (np.array(0.0), np.array(1.0)),
            (np.array([[0.25, 0.0], [-0.0, -9.0]]), np.array([[1.0, -2.0], [3.0, 0.5]])),
            (np.array([1e-12, -1e-12, 1e-16]), ones),
        ],
        hints=[
            *((_valued(wrong), hint) for wrong, hint in map(safe.run, _BY_VALUE)),
            _where_it_differs(_names(answer)),
        ],
        tried=lambda x, g: (
            f"safe(x) for x = {brief(x)} and the upstream gradient {brief(g)}: (value, gradient of x)"
        ),
    )
