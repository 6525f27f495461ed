"""Ask the questions of lesson 15: a dual number, a program with a wrong tangent, and a Jacobian in the cheaper mode."""

from functools import partial

import numpy as np

import autograd_lib as ag

from ...drawing.formatting import counted
from ...grading import (
    NotYet,
    Wrong,
    brief,
    edit,
    exercise,
    expect_call,
    expect_over,
    expect_own_work,
    formula,
    is_stub,
)
from ...grading.compare import returned
from ...grading.inputs import alike
from ...quiz.texts import Question, card, prediction, recall

recall(
    "15",
    [
        Question(
            "A kernel of 3 × 3 has stride 1. How many outputs read a pixel in the middle? (Lesson 14)",
            9,
            "**9**: each of the nine entries of the kernel covers the pixel once.",
        ),
        Question(
            """$\\langle u, J v\\rangle = \\langle J^\\top u, v\\rangle$. Which has the input's shape, $J v$ or
        $J^\\top u$? (09)""",
            "Jᵀu",
            "**Jᵀu**: it is the gradient of the input. Jv has the shape of the output.",
            choices=["Jv", "Jᵀu"],
        ),
        Question(
            "The derivatives of z with respect to x and y are 12 and 9. You nudge x by 0.1 and y by 0.2. By about how much does z change? (02)",
            3.0,
            "12 · 0.1 + 9 · 0.2 = **3.0**.",
        ),
    ],
)

prediction(
    "15.lag",
    question="""
        The loop starts at 1. After step 3 the error of the tangent is 5.9 times the error of the value. As the loop goes on, what happens to
        this factor, and what do both errors converge to?""",
    answer={"the factor": "about doubles at every step", "both errors": "to 0"},
    choices={
        "the factor": ["shrinks to 1", "stays near 5.9", "about doubles at every step"],
        "both errors": ["to 0", "only the value's to 0"],
    },
    reveal="""It **about doubles at every step**, until rounding hides the errors, and both converge **to 0**.
        Apart from rounding, the tangent is the derivative of what was computed, but what was computed is not yet the root.""",
)

prediction(
    "15.warm",
    question="""
        The loop starts *at* the root, at 1.41421356…, a plain number. What is the tangent before the first step? And after one step?
        (The derivative of √a at 2 is 0.3536.)""",
    answer={"before the first step": 0, "after one step": 0.3536},
    tolerance=0.001,
    reveal="""**0**, then **0.3536**. With no step the program is "return 1.41421356", and this number does not depend on a. One
    step is enough here, because the error of the value is 0 and is a factor of both terms of the
        tangent's new error.""",
)

prediction(
    "15.sweeps",
    question="""
        How many forward sweeps fill the whole Jacobian, and how many backward sweeps? Take a function of 3 inputs and 2 outputs; one of
        1,000 inputs and 1 output, such as a loss; and one of 1 input and 1,000 outputs, such as a curve that depends on one knob.""",
    answer={
        "3 → 2, forward": 3,
        "3 → 2, backward": 2,
        "1,000 → 1, forward": 1000,
        "1,000 → 1, backward": 1,
        "1 → 1,000, forward": 1,
        "1 → 1,000, backward": 1000,
    },
    reveal="""**3 and 2; 1,000 and 1; 1 and 1,000.** Forward mode takes one sweep for each input, backward mode one for each
        output.""",
)

prediction(
    "15.angle",
    question="""
        Without air, a ball flies farthest at 45 degrees. Now the air slows the ball down: in each step the air takes
        v²/1000 off its speed v. At which angle does the ball fly farthest?""",
    answer="below 45",
    choices=["below 45", "at 45", "above 45"],
    reveal="""**Below 45**, here just under 40, as the slider and the search below will show.""",
)

card(
    "15",
    [
        "A tangent is the derivative of a value. It is computed along with the value, and nothing is kept for a backward pass.",
        "With ε² = 0, (a + bε)(c + dε) = ac + (ad + bc)ε: multiplying out gives the product rule.",
        "Apart from rounding, a tangent is exact for the program that ran. If a loop's value has nearly converged, its tangent may be less accurate.",
        "The kind of a row determines where its tangent comes from: its rules, its function, its function with one argument replaced, or a push.",
        "A forward sweep gives a column of the Jacobian, for one input. A backward sweep gives a row, for one output.",
        "Many inputs and one loss: backward mode. One knob, or one direction: forward mode.",
    ],
)


# --- A dual number ----------------------------------------------------------------------------------------------------

_ADD = "return Dual(self.value + other.value, self.tangent + other.tangent)"
_TIMES = "self.tangent * other.value + self.value * other.tangent"
_OVER = "(self.tangent - z * other.tangent) / other.value"
_LOGARITHMIC = "That is the derivative of a logarithm. It fails where a value is 0, but the tangent exists there too."
_REVERSED = "__radd__, __rmul__ = __add__, __mul__"


def root(a, steps, x=1.0):
    """Return an approximation of √a after `steps` steps of Heron's (the Babylonian) method from x."""
    for _ in range(steps):
        x = (x + a / x) / 2
    return x


# (in words, the program, its dual numbers as pairs); the right result is the engine's.
PROGRAMS = [
    ("x + y", lambda x, y: x + y, (3.0, 5.0), (7.0, -2.0)),
    ("x * y", lambda x, y: x * y, (3.0, 5.0), (7.0, -2.0)),
    ("x / y", lambda x, y: x / y, (3.0, 5.0), (7.0, -2.0)),
    ("x / y", lambda x, y: x / y, (3.0, 5.0), (-7.0, -2.0)),
    ("x * y", lambda x, y: x * y, (0.375, 0.0625), (1.5, -0.03125)),
    ("x * y", lambda x, y: x * y, (0.1, 0.3), (0.7, -1.1)),
    ("x + y, with a constant x", lambda x, y: x + y, (-3.0, 0.0), (4.0, 0.5)),
    ("x * y, with a constant x", lambda x, y: x * y, (-3.0, 0.0), (4.0, 0.5)),
    ("x * y, with a constant y", lambda x, y: x * y, (-3.0, 0.5), (4.0, 0.0)),
    ("x / y, with a constant x", lambda x, y: x / y, (7.0, 0.0), (-2.0, 0.25)),
    ("1 / x, by Dual(1.0)", lambda one, x: one / x, (1.0, 0.0), (2.0, 0.25)),
    ("x + 5", lambda x: x + 5, (3.0, 2.0)),
    ("2 * x", lambda x: 2 * x, (3.0, 2.0)),
    ("1 + x", lambda x: 1 + x, (3.0, 2.0)),
    ("x / 4", lambda x: x / 4, (3.0, 2.0)),
    *(
        (f"{words}, where c = {c}", partial(program, c), (3.0, 2.0))
        for words, program in [
            ("x + c", lambda c, x: x + c),
            ("x * c", lambda c, x: x * c),
            ("c * x", lambda c, x: c * x),
            ("x / c", lambda c, x: x / c),
        ]
        for c in (-2, 2.5, -0.4, 20, 0)
        if c or "/" not in words
    ),
    ("x * x + x", lambda x: x * x + x, (-1.5, 2.0)),
    ("x + x", lambda x: x + x, (-1.5, 2.0)),
    ("x / x", lambda x: x / x, (-1.5, 2.0)),
    ("x * y / (x + y)", lambda x, y: x * y / (x + y), (0.0, 1.0), (2.0, 3.0)),
    ("x / y", lambda x, y: x / y, (1e8, 1.0), (1e-3, 1e-6)),
    (
        "x * y + y + x, where y is 0 and has a tangent",
        lambda x, y: x * y + y + x,
        (3.0, 1.0),
        (0.0, 2.0),
    ),
    ("three steps towards the square root of a", lambda a: root(a, 3), (2.0, 1.0)),
    ("x * x * x, of whole numbers", lambda x: x * x * x, (3, 1)),
    *(
        (f"x {sign} y{said}", program, x, y)
        for sign, program in [
            ("+", lambda x, y: x + y),
            ("*", lambda x, y: x * y),
            ("/", lambda x, y: x / y),
        ]
        for said, x, y in [
            (", where x = 1 and y = 3", (1.0, 2.0), (3.0, -0.5)),
            (", where x = 3 and y = 1", (3.0, 2.0), (1.0, -0.5)),
            (" of whole numbers", (7, 1), (2, 3)),
            (" below 0, with a constant y", (-3.0, 1.0), (-2.0, 0.0)),
            (" of equal values", (1.5, 2.0), (1.5, -0.5)),
            (" of equal tangents", (0.5, 2.0), (4.0, 2.0)),
            (" of large numbers", (-4e5, 2e4), (3e3, 5e5)),
            (", both inputs the same", (-0.3, 0.7), (-0.3, 0.7)),
            (" of small numbers", (2e-7, -3e-7), (5e-7, 1e-8)),
        ]
    ),
]


def _nearly(got, expected):
    """Return a hint if `got` differs from `expected` only by the error of a finite difference or of float32.

    Otherwise return None.
    """
    try:
        near = np.shape(got) == np.shape(expected) and np.allclose(
            got, expected, 1e-4, 1e-6 * np.max(np.abs(expected))
        )
    except TypeError:
        return None
    return (
        "The first digits are right. Did you round, or use a finite difference? A tangent is exact."
        if near
        else None
    )


def _pushed(Number):
    """Return a function that runs a program on the learner's dual numbers and returns (value, tangent).

    `Number` is the learner's class. The function takes the program and a pair (value, tangent) for
    each of its inputs, and raises Wrong if the class loses a number, changes an input or returns no
    Dual.
    """

    def push(program, *pairs):
        given = [Number(*pair) for pair in pairs]
        for pair, one in zip(pairs, given):
            if (one.value, one.tangent) != pair:
                raise Wrong(
                    f"Dual{pair}",
                    f"value {brief(one.value)}, tangent {brief(one.tangent)}",
                    "the two arguments",
                    "__init__ must store the value and the tangent as they are passed in.",
                )
        z = program(*given)
        if not hasattr(z, "value") or not hasattr(z, "tangent"):
            raise Wrong(
                "the result of the program",
                brief(z),
                "a Dual",
                "Every method returns a new Dual(value, tangent).",
            )
        if z.value is None or z.tangent is None:
            raise Wrong(
                "the result of the program",
                f"value {brief(z.value)}, tangent {brief(z.tangent)}",
                "two numbers",
                "None is not a number. Did you fill a blank with something that returns nothing, such as print?",
            )
        if [(one.value, one.tangent) for one in given] != [*pairs]:
            raise Wrong(
                "the inputs after the program",
                str([(one.value, one.tangent) for one in given]),
                str([*pairs]),
                "Your method changes its input. Make a new Dual, and do not change self or other.",
            )
        return z.value, z.tangent

    return push


def _right(program, *pairs):
    value, tangent = ag.jvp(
        program, [float(value) for value, _ in pairs], [float(tangent) for _, tangent in pairs]
    )
    return float(value), float(tangent)


@exercise(
    "15.Dual",
    minutes=6,
    difficulty="medium",
    importance=3,
    question="""
        Fill in the tangent of each method's result. `lift` turns a plain number into a constant Dual, with tangent 0. For ÷,
        call the quotient z. Then z · y = x, and you know the tangent of a product, so solve for ż.""",
    stub="""
        def lift(x):
            return x if isinstance(x, Dual) else Dual(x)

        class Dual:
            def __init__(self, value, tangent=0.0):
                self.value, self.tangent = value, tangent

            def __add__(self, other):
                other = lift(other)
                return Dual(self.value + other.value, ...)

            def __mul__(self, other):
                other = lift(other)
                return Dual(self.value * other.value, ...)

            def __truediv__(self, other):
                other = lift(other)
                z = self.value / other.value
                return Dual(z, ...)

            __radd__, __rmul__ = __add__, __mul__      # 1 + x and 2 * x""",
    hints=[
        "The tangents are `self.tangent` and `other.tangent`, the values `self.value` and `other.value`.",
        "Multiply out $(x + \\dot x\\,\\epsilon)(y + \\dot y\\,\\epsilon)$: two of the terms have a single ε.",
        ("Help: the quotient", "From z · y = x: ż · y + z · ẏ = ẋ. So ż = (ẋ − z · ẏ) / y."),
        ("Help: 'ellipsis' in an error", "One of the three methods still contains `...`."),
    ],
    solution="""
        def lift(x):
            return x if isinstance(x, Dual) else Dual(x)

        class Dual:
            def __init__(self, value, tangent=0.0):
                self.value, self.tangent = value, tangent

            def __add__(self, other):
                other = lift(other)
                return Dual(self.value + other.value, self.tangent + other.tangent)

            def __mul__(self, other):
                other = lift(other)
                return Dual(self.value * other.value, self.tangent * other.value + self.value * other.tangent)

            def __truediv__(self, other):
                other = lift(other)
                z = self.value / other.value
                return Dual(z, (self.tangent - z * other.tangent) / other.value)

            __radd__, __rmul__ = __add__, __mul__      # 1 + x and 2 * x""",
    explained="""
        Compare your lines with the rules in the table: `g * y` and `g * x` for multiply, `g / y` and `-g * z / y` for divide.
        They are the same, with a tangent in place of g. (For `1 / x` and for − the class
        would need more methods of this sort: `__rtruediv__`, `__sub__`, `__rsub__`.)""",
    why="These three lines carry a derivative through every + × ÷ of Duals, however long the loop.",
    mistakes=[
        edit(
            _TIMES,
            "self.value * other.value * (self.tangent / self.value + other.tangent / other.value)",
            _LOGARITHMIC,
        ),
        edit(_OVER, "z * (self.tangent / self.value - other.tangent / other.value)", _LOGARITHMIC),
        edit(
            _OVER,
            "(self.tangent - z.value * other.tangent) / other.value",
            "z is a plain number already: the quotient of the values.",
        ),
        edit(
            _OVER,
            "self.tangent / other.value - other.tangent / self.value",
            "The second term is z · ẏ / y, with the quotient z.",
        ),
        *(
            edit(
                old,
                old.replace("return", f"return self if other.value == {number} else"),
                f"A value of {number} may have a tangent too, so no case can be left out.",
            )
            for old, number in [(_ADD, 0), ("return Dual(self.value * other", 1)]
        ),
        edit(
            _ADD,
            "return Dual(self.value + other.value, self.value + other.value)",
            "Those are the values again. In a sum the tangents are added.",
        ),
        edit(
            "else Dual(x)",
            "else Dual(abs(x))",
            "A plain number may be negative and keeps its sign.",
        ),
        edit(
            "else Dual(x)", "else Dual(int(x))", "A plain number may be a fraction: do not use int."
        ),
        edit(
            "tangent=0.0):", "tangent=1.0):", "A plain number is a constant, so its tangent is 0."
        ),
        edit(
            _OVER,
            "(self.tangent - z * other.tangent) / abs(other.value)",
            "The denominator y keeps its sign, also if it is negative: do not use abs.",
        ),
        edit(_TIMES, f"abs({_TIMES})", "A tangent may be negative: do not use abs."),
        edit(_TIMES, f"max(0.0, {_TIMES})", "A tangent may be negative: do not use max."),
        edit(_TIMES, f"round({_TIMES}, 3)", "Do not round: a tangent is exact."),
        edit(_TIMES, f"int({_TIMES})", "int truncates, but a tangent may be any number."),
        edit(
            _TIMES,
            "self.tangent * other.value",
            "That is half of the product rule: y moves too. Its term is x · ẏ.",
        ),
        edit(
            _TIMES,
            "self.value * other.tangent",
            "That is half of the product rule: x moves too. Its term is ẋ · y.",
        ),
        edit(
            _TIMES,
            "self.tangent * other.tangent",
            "That is the factor of ε², which is 0. Multiply out: which two terms have a single ε?",
        ),
        edit(
            _TIMES,
            "self.tangent * self.value + other.value * other.tangent",
            "Each tangent is multiplied by the *other* value: ẋ · y + x · ẏ.",
        ),
        edit(_TIMES, _TIMES.replace("+", "-"), "A product's two terms are added."),
        edit(
            _TIMES,
            "2 * self.tangent * other.value",
            "That is one of the two terms twice. The other term is x · ẏ, because y moves too.",
        ),
        edit(
            _TIMES,
            "2 * self.value * other.tangent",
            "That is one of the two terms twice. The other term is ẋ · y, because x moves too.",
        ),
        edit(
            _TIMES,
            "(self.tangent + other.tangent) * self.value * other.value",
            "That adds the tangents as in a sum. A product has the tangent ẋ · y + x · ẏ.",
        ),
        edit(
            _TIMES,
            "self.tangent * other + self * other.tangent",
            "Multiply numbers: other.value and self.value. A product of Duals calls `__mul__` again.",
        ),
        edit(
            _TIMES,
            "self.tangent + other.tangent",
            "That is the tangent of a sum. A product has the tangent ẋ · y + x · ẏ.",
        ),
        edit(
            _TIMES,
            _TIMES + " + self.tangent * other.tangent",
            "One term too many: ẋ · ẏ is the factor of ε², and ε² is 0.",
        ),
        edit(
            _OVER,
            "(self.tangent - self.value * other.tangent) / other.value",
            "All of ẋ − z · ẏ is divided by y. The second term has the quotient z, not x.",
        ),
        edit(
            _OVER,
            "(self.tangent + z * other.tangent) / other.value",
            "A sign is wrong: ż = (ẋ − z · ẏ) / y.",
        ),
        edit(
            _OVER,
            "(z * other.tangent - self.tangent) / other.value",
            "The two terms are the wrong way round: ẋ first, minus z · ẏ.",
        ),
        edit(
            _OVER,
            "self.tangent - z * other.tangent / other.value",
            "Brackets are missing: all of ẋ − z · ẏ is divided by y.",
        ),
        edit(
            _OVER,
            "self.tangent * other.value - self.value * other.tangent / other.value**2",
            "Brackets are missing: all of ẋ · y − x · ẏ is divided by y².",
        ),
        edit(
            _OVER,
            "self.tangent * other.value - self.value * other.tangent",
            "The division by y² is missing. (/ y * y divides by y and multiplies by it again: write / y ** 2.)",
        ),
        edit(
            _OVER,
            "self.tangent / other.value - other.tangent / other.value**2",
            "The second term lacks the factor x: x · ẏ / y², which is z · ẏ / y.",
        ),
        edit(
            _OVER,
            "(self.value + self.tangent) / (other.value + other.tangent) - z",
            "That is the change of z for a whole step of ẋ and ẏ. The tangent is its linear part: (ẋ − z · ẏ) / y.",
        ),
        edit(
            _OVER,
            "self.tangent / other.value - z * other.tangent / other.value**2",
            "The second term is divided by y once too often, because z is x / y already: z · ẏ / y.",
        ),
        edit(
            _OVER,
            "(self.tangent - z * other.tangent) / other.tangent",
            "Divide by the value of the denominator, other.value, not by its tangent.",
        ),
        edit(
            _OVER,
            _OVER + " ** 2",
            "You divide by y once too often, because z is x / y already. ż = (ẋ − z · ẏ) / y.",
        ),
        edit(_OVER, "self.tangent / other.value", "The denominator moves too: (ẋ − z · ẏ) / y."),
        edit(
            _OVER, "-z * other.tangent / other.value", "The numerator moves too: (ẋ − z · ẏ) / y."
        ),
        edit(
            _OVER,
            "self.tangent / other.tangent",
            "Tangents are not divided by each other. From z · y = x: ż · y + z · ẏ = ẋ.",
        ),
        edit(
            _OVER,
            "self.tangent - z * other.tangent",
            "The division by y is missing: (ẋ − z · ẏ) / y. (With the numerator ẋ · y − x · ẏ, the denominator is y².)",
        ),
        edit(
            _OVER,
            "(self.tangent - z * other.tangent) / self.value",
            "Divide by the denominator, other.value.",
        ),
        edit(
            _OVER,
            "(self.tangent - z * other.tangent) / z",
            "Divide by the denominator y, not by the quotient z.",
        ),
        edit(_ADD, _ADD.replace("tangent +", "tangent *"), "In a sum the tangents are added."),
        edit(
            _ADD,
            _ADD.replace("self.tangent + other.tangent", _TIMES),
            "That is the tangent of a product. In a sum the tangents are added.",
        ),
        edit(
            _ADD,
            _ADD.replace("+ other.tangent", ""),
            "y moves as well: in a sum the tangents are added.",
        ),
        edit(
            _ADD,
            _ADD.replace("self.tangent + ", ""),
            "x moves as well: in a sum the tangents are added.",
        ),
        edit(
            _ADD,
            "return Dual(self.value + other.value, self.tangent + other)",
            "Add numbers: other.tangent, not other. A sum with a Dual calls `__radd__` again.",
        ),
        edit(
            _ADD,
            "return Dual(self.value + other.value, 0.0)",
            "A sum moves when x or y moves: its tangent is ẋ + ẏ.",
        ),
        edit(
            _ADD,
            "return Dual(self.value + other.value, 1.0)",
            "1 is the *local* gradient. Multiply it by the tangent of each input: ẋ + ẏ.",
        ),
        edit(
            _ADD,
            _ADD.replace("tangent + other", "tangent - other"),
            "In a sum the tangents are added: do not subtract.",
        ),
        edit(
            _TIMES,
            "other.value + self.value",
            "Those are the local gradients. Multiply each by the tangent of its input: ẋ · y + x · ẏ.",
        ),
        edit(
            _OVER,
            _OVER.replace("/ other", "// other"),
            "// rounds down to a whole number: divide with /.",
        ),
        edit(
            _TIMES,
            "self.tangent * other.tangent",
            _OVER,
            "self.tangent / other.tangent",
            "Tangents are neither multiplied nor divided by each other. Start with the product: which two "
            "terms of it have a single ε?",
        ),
        edit(
            _ADD,
            "return Dual(self.value + other.value, g)",
            "There is no g in forward mode. Use the tangents, self.tangent and other.tangent.",
        ),
    ],
)
def dual(answer):
    if is_stub(answer):
        raise NotYet
    if not isinstance(answer, type):
        raise Wrong(
            "your answer", brief(answer), "a class", "Pass the class itself to the check: Dual."
        )
    pushed, hints = (
        _pushed(answer),
        [_nearly, *((_pushed(wrong), hint) for wrong, hint in dual.mistakes)],
    )
    sure = partial(alike, pushed, lambda: [(program, *pairs) for _, program, *pairs in PROGRAMS])
    for words, program, *pairs in PROGRAMS:
        names = "a" if "root" in words else "xy"
        given = ", ".join(
            f"{name} = Dual({value!r}, {tangent!r})" for name, (value, tangent) in zip(names, pairs)
        )
        expect_call(
            pushed,
            program,
            *pairs,
            gives=_right(program, *pairs),
            hints=hints,
            sure=sure,
            rtol=1e-9,
            atol=1e-15,
            tried=f"{words}, with {given}: (value, tangent)",
        )


# --- A program whose tangent is wrong ---------------------------------------------------------------------------------

_LINE = "return 100 * x + (-291)"
_NEAR = "This condition also holds for other numbers near 3, where the value must be x² too. Write x == 3."
_NO_DUAL = "For the plain number 3 this returns a Dual. Use a formula in x, so that x brings its own tangent."


def _slope(program):
    """Return a function that takes x and returns the tangent of `program` there, for the seed 1."""

    def tangent(x):
        return float(ag.jvp(program, (x,), (1.0,))[1])

    return tangent


@exercise(
    "15.square",
    minutes=4,
    difficulty="medium",
    importance=3,
    question="""
        For every number x, the value of `square(x)` must be x². But at x = 3, with the seed 1, its tangent must be 100, not 6. Use only x,
        numbers, +, × and an `if`.""",
    stub="""
        def square(x):
            ...""",
    hints=[
        "Everywhere but at 3, `x * x` is right. So begin with `if x == 3:`.",
        "In that branch return another formula in x. Its value at 3 must be 9, and the derivative of the formula 100.",
        (
            "Help: a formula",
            "The straight line through (3, 9) with slope 100 is 100 · x + c. Find c from 100 · 3 + c = 9.",
        ),
    ],
    solution="""
        def square(x):
            if x == 3:
                return 100 * x + (-291)
            return x * x""",
    explained="Any formula with the value 9 and the slope 100 at 3 is right, such as `x * x + 94 * (x + (-3))`.",
    why="A tangent is the derivative of the branch that ran.",
    mistakes=[
        edit(
            _LINE,
            "return x * x",
            "This branch has the tangent 6. At 3 return another formula, with the value 9 and the slope 100.",
        ),
        edit(
            _LINE,
            "return 9",
            "A plain number is a constant, so its tangent is 0. The branch needs a formula in x.",
        ),
        edit(
            _LINE,
            "return 3 * x",
            "The value 9 is right, but 3 · x has the slope 3. A line with slope 100 is 100 · x + c.",
        ),
        edit(
            _LINE,
            "return 100 * x",
            "The slope is right, but the value at 3 is 300. Add a constant, whose tangent is 0.",
        ),
        edit(
            _LINE,
            "return 100 * (x + (-3))",
            "The slope is right, but the value at 3 is 0. Add 9, whose tangent is 0.",
        ),
        edit(
            _LINE,
            "return 100 * x + 291",
            "The sign of the constant is wrong: from 100 · 3 + c = 9, c is 9 − 300.",
        ),
        edit(
            _LINE,
            "return 100",
            "100 must be the tangent. The value at 3 must still be 9.",
        ),
        *(
            edit(
                _LINE,
                line,
                "A plain number adds to the value, and its tangent is 0. The tangent comes from a factor of x.",
            )
            for line in (
                "return 9 + 100",
                "return 9 + 94",
                "return x * x + 94",
                "return x * x + 100",
            )
        ),
        edit(
            _LINE,
            "return 9 + 94 * (x + (-3))",
            "The slope of this branch is 94. That fits only beside x · x, which has the slope 6 at 3. Here the factor is 100.",
        ),
        edit(
            _LINE,
            "return 9 + 100 * (x + (-3)) * x",
            "Leave out the last factor x. At 3 it is 3, so it makes the slope 300.",
        ),
        edit(
            _LINE,
            "return 100 * x * x",
            "The value at 3 must still be 9: this factor multiplies the value too.",
        ),
        edit(
            _LINE,
            "return x * x + 100 * (x + (-3))",
            "The tangents are added: x · x has 6 of its own, so 94 are missing, not 100.",
        ),
        edit(
            _LINE,
            "return x * x + 94 * x",
            "The slope is right, but at 3 the added term must have the value 0: 94 · (x + (−3)).",
        ),
        edit(
            "x == 3",
            "x >= 3",
            "The other formula is also used for numbers above 3, where its value is not x². It must run only at 3.",
        ),
        edit(
            "x == 3",
            "x <= 3",
            "The other formula is also used for numbers below 3, where its value is not x². It must run only at 3.",
        ),
        *(
            edit(
                "x == 3",
                condition,
                _NEAR,
            )
            for condition in ("2.99 < x < 3.01", "abs(x + (-3)) < 1e-9")
        ),
        edit(
            "x == 3",
            "x.value == 3",
            "square must also work for a plain number, which has no .value. Compare x itself: x == 3.",
        ),
        edit(
            _LINE,
            "return Dual(9.0, 100.0)",
            _NO_DUAL,
        ),
        edit(
            "return x * x",
            "return x * x + 94 * x",
            "Everywhere but at 3 the value must be x²: return x * x there.",
        ),
        edit(
            _LINE,
            "x = 100 * x + (-291)",
            "This line changes x and does not return, so x * x is then computed from it. Write return.",
        ),
    ],
)
def square(answer):
    if is_stub(answer):
        raise NotYet
    hints = square.mistakes
    got = returned(answer, 3.0, tried="square(3.0)", shown="9", hints=hints)
    if hasattr(got, "tangent"):
        raise Wrong("square(3.0)", "a Dual", "9", _NO_DUAL)
    for x in (2.0, 3.0, -3.0, 0.0, 5.0, 3.0001, 2.999, -1.5, 100.0, 3, 4, -7, 1e-9, 3 + 1e-10):
        expect_call(
            answer,
            x,
            gives=x * x,
            hints=hints,
            sure=partial(alike, answer, lambda: [(2.0,), (3.0,), (5.0,), (-1.5,)]),
            tried=f"square({x})",
            rtol=1e-12,
        )
    expect_call(
        _slope(answer),
        3.0,
        gives=100.0,
        hints=[(_slope(wrong), hint) for wrong, hint in hints],
        rtol=1e-9,
        tried="square for x = 3 with the seed 1: the tangent",
    )
    for x in np.nextafter(3.0, [2.0, 4.0]).tolist():  # values as near as these differ too little
        expect_call(
            _slope(answer),
            x,
            gives=2 * x,
            hints=[lambda got, expected: _NEAR],
            rtol=1e-9,
            tried=f"square for x = {x!r} with the seed 1: the tangent",
        )


# --- A Jacobian in as few sweeps as possible ---------------------------------------------------------------------------

_COLUMN = "ag.jvp(f, (x,), (unit,))[1]"
_ROW = "pull(unit)[0]"
_BY_COLUMNS = "return np.stack(columns, axis=1)"
_BY_ROWS = "return np.stack(rows, axis=0)"
_BACKWARD = "You took a sweep for each output, in backward mode, but this f has fewer inputs than outputs. Forward mode takes one for each input."
_FORWARD = "You took a sweep for each input, in forward mode, but this f has fewer outputs than inputs. Backward mode takes one for each output."
_BOTH = "You ran both modes. First compare n with m, then run only the mode with fewer sweeps."
_MORE = "Some sweeps are superfluous: take one for each unit vector of the smaller side, and use its result."

FUNCTIONS = [
    (
        "[x0·x1, x1·x2, x2², x0]",
        lambda x: ag.stack([x[0] * x[1], x[1] * x[2], x[2] ** 2, x[0]]),
        [1.0, -2.0, 3.0],
    ),
    (
        "[x0·x1·x2, x0 − x2]",
        lambda x: ag.stack([x[0] * x[1] * x[2], x[0] - x[2]]),
        [2.0, 0.5, -1.0],
    ),
    ("softmax", lambda x: ag.softmax(x), [0.3, 1.0, -0.5]),
    ("[x0², −x0, 1/x0]", lambda x: ag.concatenate([x**2, -x, 1 / x]), [2.5]),
    ("[x0·x1]", lambda x: x[:1] * x[1:2], [3.0, 4.0, 0.0, 5.0]),
    (
        "each entry times the one opposite",
        lambda x: x * x[::-1],
        [1.0, -2.0, 0.5, 3.0, 0.1, -0.7, 2.0],
    ),
    ("relu", lambda x: ag.relu(x), [1.0, -2.0, 0.5]),  # a negative input has a row of zeros
    ("[x0², x0³]", lambda x: ag.concatenate([x[:1] ** 2, x[:1] ** 3]), [0.5]),
]
for words, function, _ in FUNCTIONS:
    formula(words)(function)


@exercise(
    "15.jacobian",
    minutes=8,
    difficulty="medium",
    importance=3,
    question="""
        Write `jacobian`, without `ag.jacobian`. x has shape (n,), f(x) has shape (m,), and the result has shape (m, n). Decide from n and m
        which mode to use: the check counts the sweeps.

        - `ag.jvp(f, (x,), (v,))` runs a forward sweep, and returns a pair, the value and the tangent.
        - `pull(u)` runs a backward sweep, and returns a tuple that holds one array, the gradient of x.
        - `for unit in np.eye(n)` runs through the standard basis.
        - `np.stack(columns, axis=1)` turns a list of all columns into a matrix, and `np.stack(rows, axis=0)` a list of all rows.""",
    stub="""
        def jacobian(f, x):
            z, pull = ag.vjp(f, x)              # one run of f, and no sweep yet
            n, m = len(x), len(z)
            return ...""",
    hints=[
        "Write `if n < m:` and, in this branch, forward mode. Otherwise use backward mode.",
        "A column is `ag.jvp(f, (x,), (unit,))[1]`. Collect the columns in a list, one for each unit of `np.eye(n)`.",
        "A row is `pull(unit)[0]`. Collect the rows in a list, one for each unit of `np.eye(m)`.",
        (
            "Help: transposed",
            "Columns are side by side: stack them along axis 1. Rows are one below the other: axis 0.",
        ),
    ],
    solution="""
        def jacobian(f, x):
            z, pull = ag.vjp(f, x)              # one run of f, and no sweep yet
            n, m = len(x), len(z)
            if n < m:
                columns = [ag.jvp(f, (x,), (unit,))[1] for unit in np.eye(n)]
                return np.stack(columns, axis=1)
            rows = [pull(unit)[0] for unit in np.eye(m)]
            return np.stack(rows, axis=0)""",
    explained="""
        `ag.jacobian` works in the same way, also for m = n: there it works by rows. If you need only $J v$ for one given v, do not build J: one forward sweep is enough, and for $J^\\top u$ one backward sweep. (Backward mode can
        compute $J v$ by a detour: `pull` is a function of u that returns $J^\\top u$, and a backward sweep through `pull` turns v into $J v$.)""",
    why="A unit tangent gives a column and a unit gradient a row, so the smaller of n and m decides.",
    mistakes=[
        edit(
            _BY_COLUMNS,
            _BY_COLUMNS.replace("1", "0"),
            "Forward mode returns the transpose: stack the columns side by side, along axis 1.",
        ),
        edit(
            _BY_ROWS,
            _BY_ROWS.replace("0", "1"),
            "Backward mode returns the transpose: stack the rows one below the other, along axis 0.",
        ),
        edit(
            _COLUMN,
            "ag.jvp(f, (x,), (unit,))",
            "In forward mode: jvp returns the value and the tangent. The tangent is [1].",
        ),
        edit(
            _COLUMN,
            "f(unit)",
            "In forward mode: f(unit) is a column only if f is linear. Otherwise the tangent at x is.",
        ),
        edit(
            _ROW,
            "ag.grad(f)(x)",
            "In backward mode: f returns several numbers, but ag.grad needs a scalar. pull(unit) gives a row.",
        ),
        edit(
            _COLUMN,
            "ag.jvp(f, (x,), (unit,))[0]",
            "In forward mode: [0] is the value. The tangent is [1].",
        ),
        edit(
            _COLUMN,
            "ag.jvp(f, (x,), (x,))[1]",
            "In forward mode: the seed is unit, a different one for each column.",
        ),
        edit(
            _COLUMN,
            "ag.jvp(f, (unit,), (x,))[1]",
            "In forward mode: the point comes first, then the tangent: (x,), (unit,).",
        ),
        edit(
            _COLUMN,
            "ag.jvp(f, (unit,), (unit,))[1]",
            "In forward mode: the point is x, the tangent is unit.",
        ),
        edit(
            _COLUMN,
            "ag.jvp(f, (x,), (np.ones(n),))[1]",
            "In forward mode: with ones, all inputs move at once, so you get the sum of the columns. The tangent is unit.",
        ),
        edit(
            _COLUMN,
            "f(x + unit) - f(x)",
            "In forward mode: that is a finite difference with a step of 1, and f is not linear. ag.jvp is exact.",
        ),
        edit(
            _ROW,
            "pull(unit)",
            "In backward mode: pull returns a tuple with one gradient for each input. Take the gradient out: pull(unit)[0].",
        ),
        edit(
            _ROW,
            "pull(np.ones(m))[0]",
            "In backward mode: with ones you get the sum of the rows. The gradient at the output is unit.",
        ),
        edit(
            _BY_ROWS,
            "return np.stack([row for row in rows if np.any(row)])",
            "In backward mode: an output that does not depend on x has a row too, of zeros.",
        ),
        edit(
            _ROW,
            "pull(z)[0]",
            "In backward mode: the gradient at the output is unit, a different one for each row, not z.",
        ),
        edit(
            _ROW, "unit * z", "In backward mode: this runs no backward pass, but pull(unit) does."
        ),
        edit(
            "np.eye(n)",
            "np.eye(m)",
            "In forward mode: there is a column for each *input*, so unit has length n.",
        ),
        edit(
            "np.eye(m)",
            "np.eye(n)",
            "In backward mode: there is a row for each *output*, so unit has length m.",
        ),
        edit(
            _ROW,
            "ag.jvp(f, (x,), (unit,))[1]",
            "In backward mode: that is a column, computed by jvp. For a unit, pull returns a row.",
        ),
        edit(
            _COLUMN,
            "pull(unit)[0]",
            "In forward mode: pull returns rows, so its results cannot be columns. The tangent comes from ag.jvp.",
        ),
        *(
            edit(
                f"[{one} for unit in np.eye({size})]",
                f"({one} for unit in np.eye({size}))",
                f"In {mode} mode: np.stack needs a list of all {many}: [… for unit in np.eye({size})], in square brackets.",
            )
            for one, size, mode, many in [
                (_COLUMN, "n", "forward", "columns"),
                (_ROW, "m", "backward", "rows"),
            ]
        ),
        edit(
            _BY_COLUMNS,
            "return np.stack(columns[-1], axis=1)",
            "In forward mode: np.stack needs a list of all columns, and this is a single one.",
        ),
        edit(
            _BY_ROWS,
            "return np.stack(rows[-1], axis=0)",
            "In backward mode: np.stack needs a list of all rows, and this is a single one.",
        ),
        edit(
            _BY_COLUMNS,
            "return np.stack(columns[-1], axis=1)",
            _BY_ROWS,
            "return np.stack(rows[-1], axis=0)",
            "np.stack needs a list of all columns, or of all rows, and this is a single one.",
        ),
        edit(
            f"[{_COLUMN} for unit in np.eye(n)]",
            f"({_COLUMN} for unit in np.eye(n))",
            f"[{_ROW} for unit in np.eye(m)]",
            f"({_ROW} for unit in np.eye(m))",
            "np.stack needs a list of all columns, or of all rows. A list has square brackets.",
        ),
        edit("if n < m:", "if n > m:", _BACKWARD),
        edit("if n < m:", "if False:", _BACKWARD),
        edit("if n < m:", "if True:", _FORWARD),
        edit(
            "if n < m:",
            "whole = [pull(unit)[0] for unit in np.eye(m)]\n    if n < m:",
            _BOTH,
        ),
        edit("if n < m:", "if n == 1:", _BACKWARD),
        edit(
            "n, m = len(x), len(z)",
            "m, n = len(x), len(z)",
            "n and m are swapped: x has n entries, and z has m.",
        ),
    ],
)
def jacobian(answer):
    if is_stub(answer):
        raise NotYet

    def build(d):
        n = 9 if d.round == 6 else d.size(3, 6)
        x = d.choice(d(n) + 0.5, d.above(n), -d.above(n))  # f divides by x[0]
        return d.function(*(f for _, f, _ in FUNCTIONS)), x

    expect_over(
        answer,
        lambda f, x: ag.jacobian(f)(x),
        build,
        rtol=1e-10,
        rounds=8,
        first=[(f, np.array(at)) for _, f, at in FUNCTIONS],
        hints=[_nearly, *jacobian.mistakes],
        tried=lambda f, x: f"jacobian(f, {brief(x)}), f = {f.formula}",
    )
    f, x = FUNCTIONS[0][1], np.array(FUNCTIONS[0][2])
    expect_own_work(answer, (f, x), ["jacobian"], "Build J from the sweeps of ag.jvp and of pull.")
    for n, m in SIZES:
        f, counts = _counted(n, m)
        returned(answer, f, np.arange(1.0, n + 1), tried="jacobian(f, x)", shown="an array")
        if sum(counts.values()) > min(n, m):
            taken = " and ".join(counted(k, f"{mode} sweep") for mode, k in counts.items() if k)
            fewest = counted(min(n, m), f"{'forward' if n < m else 'backward'} sweep")
            wrong_mode = counts == {"forward": n if n > m else 0, "backward": m if m > n else 0}
            hint = (
                _BOTH
                if all(counts.values())
                else (_MORE, _BACKWARD if n < m else _FORWARD)[wrong_mode]
            )
            raise Wrong(f"jacobian(f, x), n = {n}, m = {m}", taken, fewest, hint)


SIZES = [(2, 9), (9, 2), (3, 4), (4, 3), (1, 12), (12, 1)]  # of functions whose sweeps are counted


def _counted(n, m):
    """Return (f, counts): a function from n to m numbers, and a dict of its sweeps so far, by mode."""
    counts = {"forward": 0, "backward": 0}

    def count(mode, t):
        counts[mode] += 1
        return t * 1.0

    start = ag.primitive(
        lambda x: x * 1.0,
        [lambda g, z, x: count("backward", g)],
        [lambda t, z, x: count("forward", t)],
        name="start",
    )
    matrix = np.cos(np.arange(m * n)).reshape(m, n)
    return lambda x: ag.tanh(matrix @ start(x)), counts
