"""Ask the questions of lesson 15: a dual number, Jacobians by columns and by rows, and the mode that suits a job."""

from dataclasses import replace
from functools import partial

import numpy as np

import autograd_lib as ag

from ...grading import (
    NotYet,
    Wrong,
    brief,
    edit,
    exercise,
    expect,
    expect_call,
    expect_over,
    formula,
    is_stub,
)
from ...grading.causes import Part
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
            "(self.tangent * other.value - self.value * other.tangent) / other.value * other.value",
            "/ y * y divides by y and multiplies by it again. The denominator is y ** 2.",
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


# --- Jacobians by columns and by rows ---------------------------------------------------------------------------------

_COLUMN = "ag.jvp(f, (x,), (unit,))[1]"
_ROW = "pull(unit)[0]"
_BY_COLUMNS = "return np.stack(columns, axis=1)"
_BY_ROWS = "return np.stack(rows, axis=0)"

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
    "15.jacobians",
    minutes=4,
    difficulty="medium",
    importance=3,
    question="""
        f takes an x of shape (n,) and returns an array of shape (m,). Fill in the blanks so that both functions return the Jacobian of f, of shape (m, n). `unit` is 1 in one position and 0 elsewhere. `ag.jvp(f, (x,), (v,))` returns a pair, the value and the tangent. `pull(u)` returns a tuple with one gradient for each input.""",
    stub="""
        def by_columns(f, x):
            columns = [... for unit in np.eye(len(x))]
            return np.stack(columns, axis=...)

        def by_rows(f, x):
            z, pull = ag.vjp(f, x)
            rows = [... for unit in np.eye(len(z))]
            return np.stack(rows, axis=...)""",
    hints=[
        "`ag.jvp(f, (x,), (unit,))` returns the value and the tangent. The tangent is `[1]`.",
        "`pull(unit)` returns a tuple with one gradient for each input. There is one input, so the gradient is `[0]`.",
        (
            "Help: transposed",
            "Columns are side by side: stack them along axis 1. Rows are one below the other: axis 0.",
        ),
    ],
    solution="""
        def by_columns(f, x):
            columns = [ag.jvp(f, (x,), (unit,))[1] for unit in np.eye(len(x))]
            return np.stack(columns, axis=1)

        def by_rows(f, x):
            z, pull = ag.vjp(f, x)
            rows = [pull(unit)[0] for unit in np.eye(len(z))]
            return np.stack(rows, axis=0)""",
    explained="`ag.jacobian` consists of these two functions. Unless you choose `mode`, it uses the one with fewer sweeps (if m = n, by rows).",
    why="A unit tangent gives a column, and a unit gradient gives a row.",
    mistakes=[
        edit(
            _BY_COLUMNS,
            _BY_COLUMNS.replace("1", "0"),
            "by_columns returns the transpose: stack the columns side by side, along axis 1.",
        ),
        edit(
            _BY_ROWS,
            _BY_ROWS.replace("0", "1"),
            "by_rows returns the transpose: stack the rows one below the other, along axis 0.",
        ),
        edit(
            _COLUMN,
            "ag.jvp(f, (x,), (unit,))",
            "by_columns: jvp returns the value and the tangent. The tangent is [1].",
        ),
        edit(
            _COLUMN,
            "f(unit)",
            "by_columns: f(unit) is a column only if f is linear. Otherwise the tangent at x is.",
        ),
        edit(
            _ROW,
            "ag.grad(f)(x)",
            "by_rows: f returns several numbers, but ag.grad needs a scalar. pull(unit) gives a row.",
        ),
        edit(
            _COLUMN,
            "ag.jvp(f, (x,), (unit,))[0]",
            "by_columns: [0] is the value. The tangent is [1].",
        ),
        edit(
            _COLUMN,
            "ag.jvp(f, (x,), (x,))[1]",
            "by_columns: the seed is unit, a different one for each column.",
        ),
        edit(
            _COLUMN,
            "ag.jvp(f, (unit,), (x,))[1]",
            "by_columns: the point comes first, then the tangent: (x,), (unit,).",
        ),
        edit(
            _COLUMN,
            "ag.jvp(f, (unit,), (unit,))[1]",
            "by_columns: the point is x, the tangent is unit.",
        ),
        edit(
            _COLUMN,
            "ag.jvp(f, (x,), (np.ones(len(x)),))[1]",
            "by_columns: with ones, all inputs move at once, so you get the sum of the columns. The tangent is unit.",
        ),
        edit(
            _COLUMN,
            "f(x + unit) - f(x)",
            "by_columns: that is a finite difference with a step of 1, and f is not linear. ag.jvp is exact.",
        ),
        edit(
            _ROW,
            "pull(unit)",
            "by_rows: pull returns a tuple with one gradient for each input. Take the gradient out: pull(unit)[0].",
        ),
        edit(
            _ROW,
            "pull(np.ones(len(z)))[0]",
            "by_rows: with ones you get the sum of the rows. The gradient at the output is unit.",
        ),
        edit(
            _BY_ROWS,
            "return np.stack([row for row in rows if np.any(row)])",
            "by_rows: an output that does not depend on x has a row too, of zeros.",
        ),
        edit(
            _ROW,
            "pull(z)[0]",
            "by_rows: the gradient at the output is unit, a different one for each row, not z.",
        ),
        edit(_ROW, "unit * z", "by_rows: this runs no backward pass, but pull(unit) does."),
        edit(
            "np.eye(len(x))",
            "np.eye(len(f(x)))",
            "by_columns: there is a column for each *input*, so unit has length len(x).",
        ),
        edit(
            "np.eye(len(z))",
            "np.eye(len(x))",
            "by_rows: there is a row for each *output*, so unit has length len(z).",
        ),
        edit(
            _ROW,
            "ag.jvp(f, (x,), (unit,))[1]",
            "by_rows: that is a column, computed by jvp. For a unit, pull returns a row.",
        ),
        edit(
            _COLUMN,
            "pull(unit)[0]",
            "by_columns: pull exists only in by_rows, and it returns rows. The tangent comes from ag.jvp.",
        ),
        edit(
            _COLUMN,
            "ag.vjp(f, x)[1](unit)[0]",
            "by_columns: that is a row, computed by vjp. The tangent comes from ag.jvp.",
        ),
    ],
)
def jacobians(answer):
    if any(map(is_stub, answer)):
        raise NotYet
    for part, name in enumerate(["by_columns", "by_rows"]):
        try:

            def build(d):
                n = 9 if d.round == 6 else d.size(3, 6)
                x = d.choice(d(n) + 0.5, d.above(n), -d.above(n))  # f divides by x[0]
                return d.function(*(f for _, f, _ in FUNCTIONS)), x

            expect_over(
                answer[part],
                lambda f, x: ag.jacobian(f)(x),
                build,
                rtol=1e-10,
                rounds=8,
                first=[(f, np.array(at)) for _, f, at in FUNCTIONS],
                hints=[_nearly, *jacobians.mistakes_in(part)],
                tried=lambda f, x, name=name: f"{name}(f, {brief(x)}), f = {f.formula}",
            )
        except Wrong as wrong:
            cause = wrong.cause
            if name not in cause.text:
                inner = cause.part
                cause = replace(cause, part=Part(part + 1, 2, alone=False, inner=inner, name=name))
            raise wrong.because(cause) from None


# --- The mode that suits ----------------------------------------------------------------------------------------------

_SAYS = {
    "forward": "forward",
    "fwd": "forward",
    "jvp": "forward",
    "backward": "backward",
    "bwd": "backward",
    "reverse": "backward",
    "rev": "backward",
    "vjp": "backward",
}
JOBS = ("forward", "backward", "forward")


def _job(number, hint):
    """Return the pair (answer, hint) for the mistake in which only job `number` has the wrong mode."""
    wrong = list(JOBS)
    wrong[number] = "backward" if JOBS[number] == "forward" else "forward"
    return tuple(wrong), hint


@exercise(
    "15.jobs",
    minutes=3,
    difficulty="easy",
    importance=2,
    question="""
        Which mode suits which job, "forward" or "backward"?

        - A: a simulated throw. One number, the angle, goes in. At 40 degrees, 82 numbers come out: the coordinates of
          the 41 points that the ball passes. How does each of them change with the angle?
        - B: the gradient of a loss with respect to 500 weights.
        - C: 300 inputs, 300 outputs, and only $J v$ for one given $v$: how all outputs move if the inputs move along
        v.""",
    stub="""
        job_a = ...
        job_b = ...
        job_c = ...""",
    hints=[
        "Count the sweeps of both modes: one for each input that moves by itself, or one for each output.",
        (
            "Help: C has 300 inputs and 300 outputs",
            "Do you need all of J? One tangent may move all inputs at once.",
        ),
    ],
    solution="""
        job_a = "forward"        # 1 sweep; backward 82
        job_b = "backward"       # 1 sweep; forward 500
        job_c = "forward"        # 1 sweep: v is the tangent; backward 300""",
    explained="""
        Job C does not need J itself. For $J^\\top u$ with one given u, one backward sweep is enough. (Backward mode can compute Jv by a detour: `pull` is a function of u that returns $J^\\top u$, and a backward sweep through `pull` turns
        v into Jv.)""",
    why="Count what needs a sweep of its own: inputs in forward mode, outputs in backward mode.",
    mistakes=[
        _job(0, "A: backward needs a sweep for each of the 82 outputs. Forward needs one."),
        _job(1, "B: forward needs a sweep for each of the 500 weights. Backward needs one."),
        _job(
            2,
            "C: a backward sweep gives one row of J, and J has 300. One forward sweep, of v, is enough.",
        ),
        (
            ("backward", "forward", "backward"),
            "A and B: forward takes one sweep for each input, backward one for each output. C: one tangent, v, is enough.",
        ),
        (
            ("backward", "forward", "forward"),
            "A and B: forward takes one sweep for each input, backward one for each output.",
        ),
        (
            ("forward", "forward", "backward"),
            "B and C: count the sweeps. B has 500 inputs and one output; in C one tangent, v, is enough.",
        ),
        (
            ("backward", "backward", "backward"),
            "A and C: backward takes one sweep for each *output*, 82 and 300. One forward sweep is enough, of the angle or of v.",
        ),
    ],
)
def jobs(answer):
    if isinstance(answer, (tuple, list)):
        answer = tuple(
            _SAYS.get(one.lower().replace("mode", "").strip(), one) if isinstance(one, str) else one
            for one in answer
        )
        unknown = [one for one in answer if isinstance(one, str) and one not in JOBS]
        if unknown:
            raise Wrong(
                "the three jobs",
                brief(unknown[0]),
                '"forward" or "backward"',
                'Each answer must be a string, "forward" or "backward".',
            )
    expect(
        answer,
        JOBS,
        tried="the three jobs",
        shown='three answers, each "forward" or "backward"',
        hints=jobs.mistakes,
    )
