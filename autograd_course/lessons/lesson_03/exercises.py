"""Ask the questions of lesson 03: the rules of + − × ÷ and of constant powers."""

import numpy as np

import autograd_lib as ag

from ...derivations import Step, derivation
from ...grading import exercise, expect, expect_call, expect_over, expect_rule, is_stub, of_rule
from ...grading.mistakes import sign_lost
from ...grading.sentences import brief
from ...grading.verdict import NotYet
from ...quiz.texts import Question, card, prediction, recall

recall(
    "03",
    [
        Question(
            "A value goes into two slots, and the gradient from each is 50. What is the gradient of the value? (Lesson 02)",
            100,
            "**100**. Each slot is a separate path, and you add over the paths.",
        ),
        Question(
            "x goes into one slot only. The upstream gradient there is −4, and the local gradient is 2.5. What is the gradient of x? (02)",
            -10,
            "Upstream times local: −4 · 2.5 = **−10**.",
        ),
        Question(
            "You measure the slope of exp at 1 by a central difference, with h = 1e−5 and with h = 1e−12. Which result is more accurate? (01)",
            "h = 1e−5",
            "**h = 1e−5**, because at 1e−12 rounding errors leave only a few digits right.",
            ["h = 1e−5", "h = 1e−12"],
        ),
    ],
)

prediction(
    "03.corner",
    question="""Both sides of a rectangle, 3 by 2, grow by 0.1. What percentage of the growth is the corner? And what percentage
        is it when both grow by 0.01?""",
    answer={"at 0.1": 2, "at 0.01": 0.2},
    tolerance=0.08,
    reveal="""At 0.1 the strips are 0.2 and 0.3, and the corner is 0.01, which is about **2 %** of 0.51. At 0.01 the strips are ten
        times smaller, but the corner is a *hundred* times smaller: about **0.2 %**. Compared with a small nudge, nudge times nudge
        is negligible.""",
)

prediction(
    "03.own",
    question="""Take $z = x \\cdot y$ at $x = 3$, $y = 2$, and double x. What happens to $\\partial z / \\partial x$? And to
        $\\partial z / \\partial y$?""",
    answer={"∂z/∂x": "stays", "∂z/∂y": "doubles"},
    choices={"∂z/∂x": ["stays", "doubles", "halves"], "∂z/∂y": ["stays", "doubles", "halves"]},
    reveal="""∂z/∂x **stays** 2, because the wider rectangle is as high as before, so a little more width adds the same area. ∂z/∂y
        **doubles**, from 3 to 6. The rule for x uses y, and the rule for y uses x: multiply *swaps*.""",
)

derivation(
    "03.divide",
    letters={"x": (), "y": (), "dx": (), "dy": (), "z": "x/y", "dz": "(dx - z*dy)/y"},
    code="divide_y = lambda g, z, x, y: g * ({})",
    steps=(
        Step(r"dx \approx", "y*dz + z*dy", "the product rule, for x = z · y", worked=True),
        Step(
            r"dz \approx",
            "(dx - z*dy)/y",
            "solved for dz",
            letters="x y z dx dy",
            mistakes=(
                (
                    "dz",
                    "It is equal, but it only repeats the left side. Solve the first line for dz.",
                ),
                ("dx/y", "That is the part of dx alone. What became of z dy?"),
                ("(dx - dy)/y", "In the first line the factor of dy is z. What became of it?"),
                ("-z*dy/y", "That is the part of dy alone. What became of dx?"),
                (
                    "(dx - z*dy)/(y + dy)",
                    "That is the exact dz, including the corner. The first line drops the corner.",
                ),
                (
                    "(dx - z*dy - dz*dy)/y",
                    "The term dz dy is the corner, which the first line drops.",
                ),
            ),
        ),
        Step(
            r"\frac{\partial z}{\partial y} =",
            "-z/y",
            "x is held still: dx = 0",
            letters="x y z",
            mistakes=(
                ("1/y", "That is the factor of dx, so it is ∂z/∂x."),
                (
                    "dz/dy",
                    "Here dx need not be 0, so dz / dy is not ∂z/∂y. Set dx to 0 in the line above.",
                ),
                ("-z*dy/y", "dy is the nudge. The derivative is the factor in front of it."),
            ),
            rivals=("y is held still: dy = 0", "the corner is left out: dz dy = 0"),
        ),
    ),
)

prediction(
    "03.divide",
    question="""Take $z = x / y$ at $x = 6$, $y = 2$, and raise y a little. Does z rise or fall? And how fast: what is
        $\\partial z / \\partial y$?""",
    answer={"z": "falls", "∂z/∂y": -1.5},
    choices={"z": ["rises", "falls"]},
    reveal="""It **falls**, and ∂z/∂y is **−1.5**. If six apples are shared among more people, each person gets less. The next
        lines derive the number.""",
)

_COLLECT = "It is equal, but write it as one term: collect what you add."

derivation(
    "03.power",
    letters={"x": (), "n": range(2, 6), "z": "x^n"},
    code="power_x = lambda g, z, x, y: g * ({})",
    renamed={"n": "y"},
    steps=(
        Step(
            r"\text{share of slot 1 } =",
            "x^(n-1)",
            "the other factor, times 1, the slope of x",
            letters="x n",
            mistakes=(
                ("x", "That is the factor in slot 1. Its local gradient is the other factor."),
                ("1", "That is the slope of x. Multiply it by the local gradient of slot 1."),
                (
                    "(n-1) x^(n-2)",
                    "That is the slope of the other factor. In slot 1 only x moves.",
                ),
                (
                    "x (n-1) x^(n-2)",
                    "That is the share of slot 2. In slot 1 only the first factor moves.",
                ),
                ("n x^(n-1)", "That is the sum of both shares, the last line."),
                ("x^n", "That is z itself. Its local gradient in slot 1 is the other factor."),
            ),
        ),
        Step(
            r"\text{share of slot 2 } =",
            "x (n-1) x^(n-2)",
            "we suppose this slope of xⁿ⁻¹",
            letters="x n",
            mistakes=(
                (
                    "x",
                    "That is the local gradient of slot 2. Multiply it by the slope of xⁿ⁻¹.",
                ),
                (
                    "(n-1) x^(n-2)",
                    "That is the slope of xⁿ⁻¹. Multiply it by the local gradient of slot 2.",
                ),
                (
                    "n x^(n-1)",
                    "That is the sum of both shares. The slope of xⁿ⁻¹ has the factor n − 1.",
                ),
                ("x n x^(n-1)", "You used the slope of xⁿ, but slot 2 holds xⁿ⁻¹."),
                (
                    "x (n-1) x^(n-1)",
                    "There is one factor x too many. The slope of xⁿ⁻¹ has the exponent n − 2.",
                ),
                (
                    "x + (n-1) x^(n-2)",
                    "Along a path you multiply: the local gradient of slot 2 times the slope of xⁿ⁻¹.",
                ),
                ("x n - x^(n-2)", "Put brackets around n − 1."),
                ("x^n", "That is z itself. Which factor of it moves here, and how fast?"),
                ("x^(n-1)", "That is the share of slot 1. In slot 2 the other factor moves."),
            ),
            rivals=("the slope of xⁿ is the boxed formula", "xⁿ⁻¹ is held still"),
        ),
        Step(
            r"\frac{dz}{dx} =",
            "n x^(n-1)",
            "the two paths add",
            letters="x n",
            mistakes=(
                ("x^(n-1) + x (n-1) x^(n-2)", _COLLECT),
                ("x (n-1) x^(n-2) + x^(n-1)", _COLLECT),
                ("x^(n-1) + (n-1) x^(n-1)", _COLLECT),
                ("(n-1) x^(n-1) + x^(n-1)", _COLLECT),
                ("(n-1) x^(n-1)", "That is the share of slot 2. Add the share of slot 1."),
                ("x^(n-1)", "That is the share of slot 1. Add the share of slot 2."),
                ("(n-1) x^(n-2)", "That is the slope of xⁿ⁻¹. Add the shares of both slots."),
                ("n x^n", "The exponent must be one less."),
                ("x^(n-1) (n-1) x^(n-1)", "The two paths are added: do not multiply the shares."),
                ("x^n", "That is z itself. Add the two shares."),
            ),
        ),
    ),
)

prediction(
    "03.pattern",
    question="The slopes of $x$, $x^2$, $x^3$, $x^4$ at $x = 2$ are 1, 4, 12, 32. What is the slope of $x^5$ there?",
    answer=80,
    reveal="**80**. The four slopes are 1 · 1, 2 · 2, 3 · 4 and 4 · 8: the exponent, times the power with one factor less. "
    "So the next one is 5 · 16.",
)

card(
    "03",
    [
        "Product: two strips, and a corner that may be dropped. ∂z/∂x = y and ∂z/∂y = x: multiply swaps.",
        "If z is a straight line in x, as for x · y and x / y, the rule for x does not use x.",
        "If x is in both slots of a product, two gradients are added: 2x. Copy sums.",
        "Quotient: the product rule, dx = y dz + z dy, solved for dz. So ∂z/∂x = 1/y and ∂z/∂y = −z/y.",
        "Add distributes: for x + y both inputs get g. For x − y, x gets g and y gets −g. For −x, x gets −g.",
        "Power: the slope of xⁿ is n·xⁿ⁻¹. Where x > 0 this also holds for negative n and for roots.",
    ],
)


@exercise(
    "03.square",
    minutes=3,
    difficulty="optional",
    importance=1,
    question="""
        Now the same Tensor is in both slots: $L = x \\cdot x$, written as `ag.multiply(x, x)`. What is the gradient of x at $x = 3$?""",
    stub="""
        gradient_of_x = ...""",
    hints=[
        "How many arrows lead from x to the product? What is the local gradient on each?",
        (
            "Help: I get 3",
            "That is the gradient from one slot. There are two slots and one x, so how many gradients are added?",
        ),
    ],
    solution="""
        gradient_of_x = 3 + 3      # 3 from the first slot, and 3 from the second""",
    explained="The gradient from each slot is the other factor, and you add over the paths. This is the $2x$ that you know from school.",
    why="Two slots and one x: two gradients, and they are added. Copy sums.",
    mistakes=[
        (
            3,
            "That is the gradient from one slot. There are two slots and one x, so how many gradients are added?",
        ),
        (
            9,
            "That is the value of L, or the product of the two local gradients. Over paths you add.",
        ),
        (18, "The local gradient of each slot is the other factor, 3, not the product."),
        (2, "That is the slope of x · 2. Here the other slot holds x itself."),
        (1, "That is the gradient of L itself. Multiply it by the local gradient of each arrow."),
        sign_lost(6),
    ],
)
def square(answer):
    expect(
        answer,
        6,
        tried="the gradient of x in multiply(x, x), at x = 3",
        shown="a different number",
        hints=square.mistakes,
    )


# Wrong results of the two rules of x / y at g = 10, z = 7, x = 35, y = 5, where no two mistakes give the same number.
WRONG_X = [
    (-14, "Your rule for x is that of y: are the two swapped?"),
    (0.2, "The upstream gradient is missing: multiply by g."),
    (50, "50 is g · y. If you double y, does z react to x more strongly, or less?"),
    (-2, "If you raise x, does z fall?"),
    (10, "If you raise x by 1, z rises by 1 / y, not by 1."),
    (70, "The local gradient of x does not grow with x: the factor of dx is 1 / y."),
    (14, "That is g · z / y, but z / y is the factor of dy. The factor of dx is 1 / y."),
    (7, "7 is z, the quotient itself. The factor of dx is 1 / y."),
    (0.5, "½ is right only at y = 2: write it with y, and multiply by g."),
    (10 / 35, "That is g / x. Divide by y. (The arguments come in the order g, z, x, y.)"),
    (
        lambda g, z, x, y: g * dx / y,  # noqa: F821
        "dx is a nudge and belongs only on paper. The rule is the factor of dx, times g.",
    ),
    (lambda g, z, x, y: g / 2, "½ is right only at y = 2: write it with y."),
]
WRONG_Y = [
    (2, "Your rule for y is that of x: are the two swapped?"),
    (-1.4, "The upstream gradient is missing: multiply by g."),
    (14, "The absolute value is right, but the sign is wrong. Raise y a little: does z rise?"),
    (-35, "y * 2 is twice y. The square of y is y ** 2."),
    (-70, "A division is missing: the factor of dy is −z / y, or −x / y²."),
    (-0.4, "That is −g / y². A factor x is missing."),
    (-2, "That is −g / y. A factor z is missing: the factor of dy is −z / y."),
    (
        -2.8,
        "One division too many: the factor of dy is −z / y, or −x / y². z has already been divided by y.",
    ),
    (
        -350,
        "When you solve for dz, you divide everything by y: the factor of dy is −z / y, or −x / y².",
    ),
    (
        lambda g, z, x, y: -g * z * dy / y,  # noqa: F821
        "dy is a nudge and belongs only on paper. The rule is the factor of dy, times g.",
    ),
    (
        lambda g, z, x, y: g * (1 - z) / y,
        "That is the sum of both factors. Here dx = 0, so only the factor of dy is left: −z / y.",
    ),
    (-1.5, "−3/2 is right only at x = 6 and y = 2: write it with z and y, and multiply by g."),
    (lambda g, z, x, y: -1.5 * g, "−3/2 is right only at x = 6 and y = 2: write it with z and y."),
    (
        lambda g, z, x, y: -g * x / y ^ 2,
        "In Python, write a power as **: ^ is a different operator.",
    ),
]


def _expect_at(rule, row, slot, x, y, hints, opposite=""):
    """Raise Wrong unless `rule` returns the right gradient at the numbers x and y for g = 10.

    `row` is the op, and `rule` is its gradient rule for x if `slot` is 0, or for y if `slot` is 1.
    `hints` lists known mistakes with a hint for each, and `opposite` is the hint if only the sign
    is wrong.
    """
    x, y = np.float64(x), np.float64(y)
    z = row.function(x, y)
    right = row.rules[slot](10.0, z, x, y) + 0.0  # so that −0. is not shown
    with np.errstate(all="ignore"):
        expect_call(
            rule,
            10.0,
            z,
            x,
            y,
            gives=right,
            hints=[(-right, opposite)] * bool(opposite) + hints,
            tried=f"the rule for {'xy'[slot]} of {row.name}, with g = 10, z = {z:g}, x = {x:g}, y = {y:g}",
        )


@exercise(
    "03.divide",
    minutes=6,
    difficulty="medium",
    importance=3,
    question="""
        Write both rules of $z = x / y$ the way the library does: each takes g, z, x and y, and returns the gradient of its
        slot. The local gradients are the factors of dx and dy, including their signs. From here on a rule must be a formula that works
        for numbers and arrays (rows of numbers, with which NumPy computes entry by entry); a finite difference is not accepted.""",
    stub="""
        divide_x = lambda g, z, x, y: ...
        divide_y = lambda g, z, x, y: ...""",
    hints=[
        "The gradient of a slot is the upstream gradient g times the factor of dx or dy.",
        (
            "Help: the sign is wrong",
            "Raise y a little. Does z rise or fall? The sign of the local gradient of y must agree.",
        ),
        (
            "Help: how do I do it without z?",
            "You may use z, because it is passed in. But $z / y$ is $x / y^2$, and the check accepts either form.",
        ),
    ],
    solution="""
        divide_x = lambda g, z, x, y: g / y
        divide_y = lambda g, z, x, y: -g * z / y""",
    explained="`-g * x / y**2` is mathematically the same, but takes one more multiplication.",
    why="Division needed no new limit: it is the product rule, solved for dz.",
    playground="""
        x = 6
        y = 3
        z = x / y""",
)
def divide(answer):
    if any(map(is_stub, answer)):
        raise NotYet
    rule_x, rule_y = answer
    for slot, hints in enumerate([WRONG_X, WRONG_Y]):
        _expect_at(answer[slot], ag.divide, slot, 35.0, 5.0, hints)
    for rule, slot, x, y, hint in [
        (rule_x, 0, 0.0, 4.0, ""),
        (rule_y, 1, 0.0, 4.0, ""),
        (rule_x, 0, 6.0, -2.0, "y can be negative: keep its sign."),
        (rule_y, 1, -6.0, 2.0, "z / y can be negative: keep its sign."),
    ]:
        _expect_at(
            rule,
            ag.divide,
            slot,
            x,
            y,
            [(np.nan, "Where x is 0, z / x is 0 / 0. Only y must differ from 0.")] * (x == 0),
            hint,
        )
    expect_rule(rule_x, ag.divide, 0)
    expect_rule(rule_y, ag.divide, 1)


SUBTRACT_X, SUBTRACT_Y = "subtract_x = lambda g, z, x, y: ", "subtract_y = lambda g, z, x, y: "

# What goes wrong where an op is linear: a value in the rule, or the value in its place.
NO_VALUE = "That is g times a value. But if you raise an input by 1, z changes by 1 or by −1, regardless of the values."
LINEAR = [
    (
        lambda g, z, *xs: 0 * g,
        "0 means that z does not change with this input. Raise it by 1: does z stay the same?",
    ),
    (lambda g, z, *xs: z, "That is z, the value. A rule returns g times the local gradient."),
    (lambda g, z, *xs: g * xs[0], NO_VALUE),
    (lambda g, z, *xs: -g * xs[0], NO_VALUE),
    (lambda g, z, *xs: g * xs[-1], NO_VALUE),
    (lambda g, z, *xs: -g * xs[-1], NO_VALUE),
]


@exercise(
    "03.drill",
    minutes=5,
    difficulty="easy",
    importance=2,
    question="""
        Write three more rules: two of $z = x - y$, and one of $z = -x$. How does z change when one input changes? (For
        $z = x + y$ you know both rules from lesson 02: `g` and `g`.)""",
    stub="""
        subtract_x = lambda g, z, x, y: ...
        subtract_y = lambda g, z, x, y: ...
        negative_x = lambda g, z, x: ...""",
    hints=[
        "If you raise y in $x - y$ by 1, z falls by 1.",
        (
            "Help: I wrote −1",
            "That is the local gradient. The rule returns the upstream gradient times the local gradient.",
        ),
    ],
    solution="""
        subtract_x = lambda g, z, x, y: g
        subtract_y = lambda g, z, x, y: -g
        negative_x = lambda g, z, x: -g""",
    explained="If you raise an input by 1, z changes by 1 or by −1, whatever x and y are. So the rules contain no x and no y.",
    why="These rules need no values, so no value has to be kept for the backward pass.",
)
def drill(answer):
    if any(map(is_stub, answer)):
        raise NotYet
    rows = [(ag.subtract, 0, (7.0, 3.0)), (ag.subtract, 1, (7.0, 3.0)), (ag.negative, 0, (7.0,))]
    for rule, (row, arg, xs) in zip(answer, rows):
        z = row.function(*xs)
        said = ", ".join(f"{letter} = {x:g}" for letter, x in zip("xy", xs))
        expect_call(
            rule,
            10.0,
            z,
            *xs,
            gives=row.rules[arg](10.0, z, *xs),
            hints=[*LINEAR, *of_rule(row, arg, inputs=[xs])],
            tried=f"the rule for {'xy'[arg]} of {row.name}, with g = 10, z = {brief(z)}, {said}",
        )
        expect_rule(rule, row, arg)


@exercise(
    "03.reflected",
    minutes=4,
    difficulty="optional",
    importance=1,
    question="""
        The library also uses subtract and divide for `5 - x` and `8 / x`. The constants 5 and 8 need no gradient. At $x = 2$, what
        is the slope of $5 - x$? And of $8 / x$? Give both.""",
    stub="""
        slope_of_5_minus_x = ...
        slope_of_8_over_x = ...""",
    hints=[
        "Which slot is x in, the first or the second?",
        (
            "Help: I get 1 and 0.5",
            "You used the rules of the first slot. The first slot holds the 5 and the 8, which need no gradient.",
        ),
    ],
    solution="""
        slope_of_5_minus_x = -1            # the second slot of subtract
        slope_of_8_over_x = -4 / 2         # the second slot of divide: −z/y, with z = 4""",
    explained="If x is a Tensor, Python calls `x.__rsub__(5)` and `x.__rtruediv__(8)`: the same two operations with their arguments swapped.",
    why="`5 - x` needs no separate rule: x is in the second slot of subtract.",
    mistakes=[
        ((1, 0.5), "Those are the slopes for the first slot. Which slot is x in?"),
        ((-1, 0.5), "The second number is for the first slot. In 8 / x, which slot is x in?"),
        ((1, -2), "The first number is for the first slot. In 5 − x, which slot is x in?"),
        ((-1, 2), "If you raise x, does 8 / x rise?"),
        (
            (-1, 8),
            "8 is the slope of 8 · x. If you raise x, 8 / x falls: its slope is −z / y, and z is 4.",
        ),
        ((-1, -0.5), "In 8 / x the local gradient of x is −z / y, and z is 4."),
        ((-1, -4), "−4 is −z alone. Divide it by y, which is 2 here."),
        ((-1, -1), "In 8 / x the local gradient of x is −z / y, and z is 8 / 2 = 4."),
        ((-1, -0.25), "−0.25 is the slope of 1 / x. Here the numerator is 8."),
        ((-1, -8), "−8 is −z / y at x = 1. At x = 2, z is 4 and y is 2."),
        (
            (5, 8),
            "Those are the constants. How fast does each result change with x?",
        ),
        (
            (3, -8),
            "Those are not slopes at x = 2. Which slot is x in, and what is its local gradient there?",
        ),
        (
            (-5, -8),
            "Those are the constants with a minus sign. How fast does each result change with x?",
        ),
        ((-1, 4), "4 is the value of 8 / x. How fast does it change with x?"),
        ((3, 4), "Those are the values. The question asks for the slopes."),
        ((5, -2), "5 is the constant. If you raise x by 1, how does 5 − x change?"),
        (
            (0, 0),
            "The slopes for the constants do not matter here: x is in the second slot, and it moves.",
        ),
    ],
)
def reflected(answer):
    expect(
        answer,
        (-1, -2),
        tried="the slopes of 5 − x and of 8 / x at x = 2",
        shown="two other numbers",
        hints=reflected.mistakes,
    )


@exercise(
    "03.power",
    minutes=3,
    difficulty="easy",
    importance=3,
    question="""
        Write the rule of $z = x^y$ for x, where the exponent is constant. (The exponent is the second input, so it is called y, and
        not n.)""",
    stub="""
        power_x = lambda g, z, x, y: ...""",
    hints=[
        "The boxed formula is $n \\cdot x^{n-1}$, and n is called y. Multiply it by the upstream gradient.",
        (
            "Help: I could use z",
            "$z / x$ is $x^{y-1}$, as long as x is not 0. What happens at x = 0?",
        ),
    ],
    solution="""
        power_x = lambda g, z, x, y: g * y * x ** (y - 1)""",
    explained="With `g * y * z / x` the slope of $x^2$ at 0 would be 0 / 0, which is nan. The slope there is 0.",
    why="One line covers whole, negative and fractional exponents. Where x and y are both 0 the boxed formula gives nan; the library "
    "returns 0.",
    mistakes=[
        (lambda g, z, x, y: g * y * x**y, "The exponent must be one less: x ** (y - 1)."),
        (
            lambda g, z, x, y: g * y * x**y - 1,
            "Python takes the power first: x ** y - 1 is (x ** y) - 1. Put parentheses around y - 1.",
        ),
        (lambda g, z, x, y: g * n * x ** (n - 1), "The exponent is called y: there is no n."),  # noqa: F821
        (
            lambda g, z, x, y: g * y * x ^ (y - 1),
            "In Python, write a power as **: ^ is a different operator.",
        ),
        (
            lambda g, z, x, y: g * y * z ** (y - 1),
            "z is already the power. Raise x, not z.",
        ),
        (lambda g, z, x, y: g * x ** (y - 1), "The exponent is missing as a factor."),
        (lambda g, z, x, y: g * y * x, "x needs an exponent, y − 1: x ** (y - 1)."),
        (
            lambda g, z, x, y: g * y * x ** (1 - y),
            "The exponent is y − 1, one less than y, and not 1 − y.",
        ),
        (
            lambda g, z, x, y: g * (y - 1) * x ** (y - 2),
            "That is the slope of x ** (y - 1). Here z is x ** y.",
        ),
        (lambda g, z, x, y: g * 2 * x, "That is right only for the square. The exponent is y."),
        (
            lambda g, z, x, y: g * y,
            "That is the exponent alone. Multiply it by a power: x ** (y - 1).",
        ),
        (
            lambda g, z, x, y: g * y * x * (y - 1),
            "That multiplies by y − 1. A power needs two stars: x ** (y - 1).",
        ),
        (
            lambda g, z, x, y: g * z * x ** (y - 1),
            "z is the power itself. The factor is the exponent, y.",
        ),
        (
            lambda g, z, x, y: g * y * (x**y - 1),
            "You subtract 1 from the power. Subtract it from the exponent: x ** (y - 1).",
        ),
        *(
            (wrong, "The exponent must be one less: y − 1.")
            for wrong in (
                lambda g, z, x, y: g * y * x ** (y + 1),
                lambda g, z, x, y: g * y * x ** (y - 2),
            )
        ),
        (
            lambda g, z, x, y: g * x ** (y + 1) / (y + 1),
            "That is the integral. The slope is y times a power whose exponent is one less.",
        ),
        (lambda g, z, x, y: g * 3 * x**2, "That is right only for the cube. The exponent is y."),
        (
            lambda g, z, x, y: g * (y - 1) * x**y,
            "The two exponents are swapped: the factor is the old one, y, and the power has the new one, y − 1.",
        ),
        (
            lambda g, z, x, y: g * (y - 1) * x ** (y - 1),
            "The factor is the exponent itself, y. Only the exponent of the power is one less.",
        ),
        (
            lambda g, z, x, y: g * x * y ** (x - 1),
            "x and y are swapped: x is the base, y is the exponent.",
        ),
        *of_rule(ag.power, 0, inputs=[(2.0, 3.0), (1.5, -1.0)]),
        (
            lambda g, z, x, y: g * (y * x ** (y - 1) + z * np.log(x)),
            "That adds the term of the exponent. The exponent is constant, so only the term of the base is left.",
        ),
        (
            lambda g, z, x, y: g * x * z ** (x - 1),
            "That uses z as x and x as y: the arguments come in the order g, z, x, y.",
        ),
    ],
    playground="""
        x = 2
        y = 3
        z = x**y""",
)
def power(answer):
    if is_stub(answer):
        raise NotYet
    with np.errstate(all="ignore"):
        expect_call(
            answer,
            10.0,
            243.0,
            3.0,
            5.0,
            gives=4050.0,  # where no two usual mistakes give the same
            tried="the rule for x of power, with g = 10, z = 243, x = 3, y = 5",
            hints=power.mistakes,
        )
        expect_call(
            answer,
            10.0,
            np.float64(0),
            np.float64(0),
            2.0,
            gives=0.0,
            tried="the rule for x of power, with g = 10, z = 0, x = 0, y = 2",
            hints=[
                (np.nan, "At x = 0, z / x is 0 / 0 and log x is −∞. x ** (y - 1) works there too.")
            ],
        )
        logarithm = (
            np.nan,
            "The boxed formula also holds below 0, and x ** (y - 1) needs no logarithm.",
        )
        below = 0.0, "z has a slope below 0 too: the boxed formula holds there."
        _expect_at(answer, ag.power, 0, -2.0, 3.0, [logarithm, below])
        _expect_at(
            answer,
            ag.power,
            0,
            -2.0,
            2.0,
            [logarithm, below],
            "x can be negative, and x ** (y - 1) with it: keep its sign.",
        )
        _expect_at(
            answer,
            ag.power,
            0,
            0.0,
            1.0,
            [(0.0, "At x = 0, y = 1 z is x itself, and its slope is 1.")],
        )
        _expect_at(
            answer,
            ag.power,
            0,
            0.0,
            0.5,
            [(0.0, "At 0 the curve of the root is vertical: its slope is inf.")],
        )
        expect_call(
            answer,
            -10.0,
            np.float64(0),
            np.float64(0),
            0.5,
            gives=-np.inf,
            tried="the rule for x of power, with g = -10, z = 0, x = 0, y = 0.5",
            hints=[
                (
                    np.inf,
                    "The slope there is inf, and the upstream gradient is below 0: g times inf is −inf.",
                )
            ],
        )
        _expect_at(
            answer, ag.power, 0, 3.0, 0.0, [(10.0, "At y = 0 z is 1 everywhere: its slope is 0.")]
        )
        _expect_at(
            answer,
            ag.power,
            0,
            -1.0,
            0.5,
            [(0.0, "Below 0 there is no root, and no slope: nan is right there.")],
        )
        expect_rule(
            answer,
            ag.power,
            0,
            inputs=[
                (2.0, 3.0),
                (0.0, 2.0),
                (-20.0, 4.0),
                (1.5, -1.0),
                (4.0, 0.5),
                (np.array([0.5, 2.0, 3.0]), 3.0),
                (np.array([-1.5, 0.0, 2.0]), 2.0),
                (np.array([-1.5, 0.0, 2.0]), 1.0),
                (np.array([-0.5, 2.0]), -2.0),
            ],
        )
        expect_over(answer, ag.power.rules[0], _powers, hints=power.mistakes)


def _powers(d):
    """Return random arrays g, z, x and y with z = x**y, for the op power.

    Either x is any number and y is a whole number, or x is above 0 and y is between −9 and 9. So
    nothing overflows. `d` is the Draw that supplies the random numbers.
    """
    n = d.shape(1, 2, 3)
    x, y = d.choice(
        (d(*n), float(d.choice(1, 2, 3, 5))),
        (d(*n), d.places(4, *n) + 1.0),
        (d.above(*n), 9 * np.tanh(d(*n))),
        (d.above(*n), 9 * np.tanh(d())),
    )
    return d.g(*n), x**y, x, y
