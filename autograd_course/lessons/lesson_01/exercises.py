"""Ask the questions of lesson 01: finite differences, gradient checks and gradient descent."""

from fractions import Fraction

import numpy as np

from autograd_lib import grad

from ...derivations import Step, derivation
from ...grading import Wrong, brief, edit, exercise, expect, expect_call, expect_over, formula
from ...grading.causes import Cause
from ...grading.compare import returned, same
from ...grading.mistakes import central_difference, in_a_tuple, one_sided, printed, sign_lost
from ...quiz.texts import Question, card, prediction, recall

recall(
    "01",
    [
        Question(
            "What does the gradient tell you that the value does not? (Lesson 00)",
            None,
            "It tells you how fast the value grows as x grows: how **steep** the curve is, not how high.",
        ),
        Question(
            "The gradient is negative. Which way is uphill?",
            "left",
            "To the **left**, because the value falls as x grows.",
            choices=["left", "right"],
        ),
        Question(
            "The gradient is −3, and you move x by 0.1. By about how much does the value change?",
            -0.3,
            "By about gradient × nudge, which is **−0.3**. This lesson shows what “about” means.",
        ),
    ],
)

derivation(
    "01.central",
    letters={"x": (), "h": ()},
    steps=(
        Step("(x + h)^3 =", "x^3 + 3x^2 h + 3x h^2 + h^3", "multiplied out", worked=True),
        Step("(x - h)^3 =", "x^3 - 3x^2 h + 3x h^2 - h^3", "−h takes the place of h", worked=True),
        Step(
            r"\frac{(x + h)^3 - x^3}{h} =",
            "3x^2 + 3x h + h^2",
            "divide by h, which is not 0",
            mistakes=(
                (
                    "((x + h)^3 - x^3) / h",
                    "It is equal, but it only repeats the left side. Use the first line.",
                ),
                (
                    "3x^2",
                    "That is the limit. For a step that is not 0, some terms with h are left.",
                ),
                ("(3x^2 h + 3x h^2 + h^3) / h", "It is equal. Now divide each term by h."),
                ("(h^3 + 3x h^2 + 3x^2 h) / h", "It is equal. Now divide each term by h."),
                ("3x^2 h + 3x h^2 + h^3", "That is the numerator. Divide it by h."),
                ("3x^2 + 3x h + h^3", "Divide the last term, h³, by h too."),
            ),
        ),
        Step(
            "(x + h)^3 - (x - h)^3 =",
            "6x^2 h + 2h^3",
            "the even powers of h cancel",
            mistakes=(
                (
                    "(x + h)^3 - (x - h)^3",
                    "It is equal, but it only repeats the left side. Subtract the second line from the first.",
                ),
                (
                    "2x^3 + 6x h^2",
                    "That is the sum of the two lines. Which terms are left in the difference?",
                ),
                ("6x^2 h", "What is h³ − (−h³)?"),
                (
                    "3x^2 h + h^3",
                    "Each of these terms is in both lines, with opposite signs: the difference is twice as large.",
                ),
            ),
            rivals=("the odd powers of h cancel", "h³ is so small that it may be left out"),
        ),
        Step(
            r"\frac{(x + h)^3 - (x - h)^3}{2h} =",
            "3x^2 + h^2",
            "divide by 2h, which is not 0",
            mistakes=(
                (
                    "((x + h)^3 - (x - h)^3) / (2h)",
                    "It is equal, but it only repeats the left side. Use the line above.",
                ),
                ("(6x^2 h + 2h^3) / (2h)", "It is equal. Now divide each term by 2h."),
                ("(2h^3 + 6x^2 h) / (2h)", "It is equal. Now divide each term by 2h."),
                ("3x^2", "That is the derivative. What is left of 2h³?"),
                ("6x^2 + 2h^2", "The two outer points are 2h apart, so divide by 2h."),
                ("3x^2 + 2h^2", "Divide the last term, 2h³, by 2h too."),
                ("3x^2 + h^3", "Divide the last term, 2h³, by 2h: one h cancels."),
            ),
        ),
    ),
)

prediction(
    "01.bet",
    question="Which of these steps h makes the forward difference of $e^x$ at $x = 1$ most accurate?",
    answer="1e−8",
    choices=["1e−2", "1e−5", "1e−8", "1e−11", "1e−14"],
    reveal="""About **1e−8**, with an error near 7e−9. The best central step is about 1e−5, with an error near 6e−11. So the central
        difference is about a hundred times more accurate, even with a larger step.

        The secant moved down onto the tangent and stayed there for many steps. At h = 1e−15 it *tilts*, and at 1e−16 it is flat.
        The error goes down and then up again, in the shape of a V. (Did the squares, the errors of the central difference, form
        a W? The second dip, near 1e−7, is luck. On the right arm of the V the errors are irregular, and a few happen to be small.)

        So for this curve *smaller is better* is true in mathematics, but false on a computer.""",
)

prediction(
    "01.rounding",
    question="You type `1 + 1e-16 == 1` in Python. Is the result `True`?",
    answer=True,
    reveal="""**Yes.** A float keeps about 16 significant digits. The next float above 1 is 2.2e−16 away, more than twice as far as the
        sum. So 1 is the float nearest to the sum, and the sum is rounded to 1. At h = 1e−16 the second point *is* the first, so the secant does not rise at all.""",
)

prediction(
    "01.rate",
    question="""From $x = 0$, which learning rate takes you to 3 in a single step? What happens at a learning rate of 1, and what
        happens above 1?""",
    answer={
        "3 in one step at": 0.5,
        "at 1": "it jumps between two points",
        "above 1": "it diverges",
    },
    choices=dict.fromkeys(
        ["at 1", "above 1"], ["it gets to 3 at once", "it jumps between two points", "it diverges"]
    ),
    reveal="""At **0.5** you get to 3 in a single step. Between 0.5 and 1 you overshoot, but each jump is shorter than the
        previous one. At 1 you **oscillate** between 0 and 6, and never come closer. Above 1 each jump is longer than the previous
        one (if the slope is exact), so gradient descent **diverges**. A larger learning rate is not always faster. Lesson 11 finds the largest safe learning rate.""",
)

card(
    "01",
    [
        "f′(x) is the limit of (f(x + h) − f(x)) / h as h goes to 0.",
        "The central difference is usually better: (f(x + h) − f(x − h)) / (2h). Its truncation error shrinks like h².",
        "A smaller h is not always better: rounding error grows like eps / h. Near x = 1 try 1e−8 for forward, 1e−5 for central.",
        "At a kink the slopes of the two sides differ: there is no derivative, and the central difference does not reveal this.",
        "Check a derivative at several points, and avoid special ones.",
        "Gradient descent: x − learning rate · slope, with the slope measured again at every step.",
    ],
)


def cube(x):
    return x**3


def square(x):
    return x**2


FLAT = "This function is flat on one side of x. The central difference uses both points there too."


@formula("relu(x) = max(x, 0)")
def relu(x):
    return max(x, 0.0)


@formula("ramp(x) = min(x, 0)")
def ramp(x):
    return min(x, 0.0)


@exercise(
    "01.central",
    minutes=5,
    difficulty="easy",
    importance=3,
    question="""
        The slope between the two outer points, at $x - h$ and $x + h$, is called the **central difference**. Write it as a function of
        f, x and h.""",
    stub="""
        def my_central(f, x, h):
            ...""",
    hints=[
        "Take two points, x + h and x − h. Divide the change in the value by the change in x.",
        ("Help: I get exactly double", "How far apart are the two points?"),
        (
            "Help: I get a tiny number",
            "Python reads `a / 2 * h` as `(a / 2) * h`. Write `a / (2 * h)`.",
        ),
    ],
    solution="""
        def my_central(f, x, h):
            return (f(x + h) - f(x - h)) / (2 * h)""",
    explained="The change in the value, divided by the change in x.",
    why="With one step to each side, the part of the error that shrinks like h cancels.",
    mistakes=[
        edit("(2 * h)", "h", "Exactly double: how far apart are your two points?"),
        one_sided("This is the one-sided difference again. The left point is at x − h."),
        edit(
            "f(x - h)",
            "f(x)",
            "You divide by 2 * h, and your points are h apart. The left one is at x − h.",
        ),
        edit(
            "f(x + h)",
            "square(x + h)",
            "f(x - h)",
            "square(x - h)",
            "You measure the slope of square: use the parameter f.",
        ),
        edit(
            "f(x + h)",
            "f(x)",
            "(2 * h)",
            "h",
            "You measure only to the left. Use the points on both sides, not x itself.",
        ),
        edit(
            "(2 * h)",
            "2 * h",
            "You divide by 2 and multiply by h, as Python does in a / 2 * h. Put parentheses around 2 * h.",
        ),
        edit(" / (2 * h)", "", "That is the change in the value. Divide it by the change in x."),
        edit(
            "x + h",
            "x + 2 * h",
            "x - h",
            "x",
            "Your points are x and x + 2h. They belong at x + h and x − h.",
        ),
        (
            lambda f, x, h: (f(x + h) - f(x)) / h + (f(x) - f(x - h)) / h / 2,
            "You halve only the second difference: put parentheses around the sum.",
        ),
        edit("(2 * h)", "2", "Divide by the distance between the two points, which is 2 * h."),
        (
            lambda f, x, h: f(x + h) - f(x - h) / (2 * h),
            "Only the second value is divided: mind the parentheses.",
        ),
        (
            lambda f, x, h: f(x + h) - f(x - h) / 2 * h,
            "Put parentheses around the difference, and around 2 * h.",
        ),
        edit(
            "h) - f(",
            "h) + f(",
            "You add the two values. Subtract them, because you need the change in the value.",
        ),
        edit(
            "- f(x - h)) / (2 * h)",
            "+ f(x - h)) / 2",
            "That is the mean of the two values. Subtract them, and divide by 2 * h.",
        ),
        edit(
            "(f(x + h) - f(x - h))",
            "[f(x + h) - f(x - h)]",
            "Square brackets make a list. Group with parentheses.",
        ),
        edit(
            "x + h",
            "x + h / 2",
            "x - h",
            "x - h / 2",
            "(2 * h)",
            "h",
            "Your points are half a step away. They belong at x + h and x − h.",
        ),
        edit(
            "x + h",
            "x + h / 2",
            "x - h",
            "x - h / 2",
            "Your points are half a step away. They belong at x + h and x − h.",
        ),
        edit(
            "2 * h",
            "2 * x",
            "You divide by 2 * x. How far apart are the points? Their distance has no x in it.",
        ),
        edit(
            "x + h",
            "x - h",
            "Your result is always 0. Use two points: one at x + h, the other at x − h.",
        ),
        edit(
            "f(x + h)",
            "(x + h)",
            "f(x - h)",
            "(x - h)",
            "Your result is always 1, because you divide the distance by itself. Apply f to both points.",
        ),
        (
            lambda f, x, h: grad(f)(x),
            "That is the exact slope, or one measured with a different step. Use the parameter h for both points.",
        ),
        (
            lambda f, x, h: (f(x + h) - 2 * f(x) + f(x - h)) / h**2,
            "That is the second difference, which tells you how fast the slope changes. The question asks for the slope itself.",
        ),
        (
            lambda f, x, h: abs(f(x + h) - f(x - h)) / (2 * h),
            "A slope can be negative: leave out the abs.",
        ),
        (
            lambda f, x, h: central_difference(f, abs(x), h),
            "x can be negative: leave out the abs around x.",
        ),
        (
            lambda f, x, h: (f(x + 2 * h) - f(x + h) + f(x) - f(x - h)) / (2 * h),
            "You take the slope at x + h and the slope at x − h. Take the values there: subtract f(x − h) from f(x + h).",
        ),
        (
            lambda f, x, h: (f(x + h) - 2 * f(x) + f(x - h)) / (2 * h),
            "You subtract one slope from the other. The question asks for their mean, so add them, and halve the sum.",
        ),
        sign_lost(central_difference, "The sign is lost: which of the two points is subtracted?"),
        in_a_tuple(central_difference),
        printed(central_difference),
        edit("/ (2 * h)", "// (2 * h)", "// drops the fraction: divide with /."),
    ],
)
def central(answer):
    # h = 0.2, because there no two of the usual mistakes give the same number
    expect_over(
        answer,
        central_difference,
        lambda d: (
            d.another(cube, square, np.sin, np.cos),
            d.choice(d(), d(), 0.3),
            d.another(0.3, -0.1, 0.02, 1.5),
        ),
        apart=True,
        rtol=1e-8,
        first=[
            (cube, 2.5, 0.2),
            (cube, -1.0, 0.1),
            (np.exp, 1.0, 1e-4),
            (np.exp, -15.0, 0.1),
            (square, -4000.0, 0.1),
            (cube, 0.5, 20.0),
            (cube, 2.501, 0.2),
        ],
        hints=central.mistakes,
    )
    for f in (relu, ramp):  # flat on the left of x, and on the right
        expect_call(answer, f, 0.0, 0.2, gives=0.5, hints=[lambda got, expected: FLAT])


def _one_side(got, expected):
    left, right = (same(*pair, 1e-6, 1e-6) for pair in zip(got, expected))
    if left != right:
        return (
            "The slope from the left is correct. Measure the other side too: forward with a positive h."
            if left
            else "The slope from the right is correct. Measure the other side too: forward with a negative h."
        )


@exercise(
    "01.kink",
    minutes=2,
    difficulty="easy",
    importance=2,
    names=lambda: {"forward": lambda f, x, h: (f(x + h) - f(x)) / h},
    question="""
        What is the slope of $|x|$ (in Python: `abs`) at 0 from the left, and from the right? Work it out, or measure it with
        `forward`; a step may be negative.""",
    stub="""
        from_left = ...
        from_right = ...""",
    hints=[
        (
            "Help: I get 0",
            "You used the central difference, which gives only the mean of the two sides. Measure each side separately.",
        ),
        (
            "Help: I get 1 twice",
            "`forward(abs, 0.0, 1e-5)` measures to the right. Which h measures to the left?",
        ),
    ],
    solution="""
        from_left = forward(abs, 0.0, -1e-5)
        from_right = forward(abs, 0.0, 1e-5)""",
    explained="""
        The slope is −1 from the left and 1 from the right. The two sides differ, so the limit does not exist: $|x|$ is not
        differentiable at 0. The central difference gives their mean, 0, without a warning. `ag.grad(abs)(0.0)` also returns 0, by
        convention. `ag.check_grads(abs, 0.0)` warns you of the kink.""",
    why="The slopes of the two sides differ, so there is no slope at 0, although the central difference gives 0.",
    mistakes=[
        (
            (0, 0),
            "0 is the mean of the two sides. Measure each side separately: forward with a negative h, then with a positive one.",
        ),
        (
            (1, 1),
            "From the left, h is negative: the value rises by |h|, and you divide by h itself.",
        ),
        ((-1, -1), "Measure from the right again: what is the sign of h there?"),
        ((1, -1), "These are the right numbers in the wrong order: the left side comes first."),
        (
            (-1e-5, 1e-5),
            "Those are changes in the value, not slopes. Divide them by h.",
        ),
        ((1e-5, 1e-5), "That is the value, |h|. A slope is the change in the value, divided by h."),
        _one_side,
        (
            (np.nan, np.nan),
            "There is no derivative at 0, but each side alone has a slope: the limit over h below 0, and the limit over h above 0.",
        ),
    ],
)
def kink(answer):
    expect(
        answer,
        (-1.0, 1.0),
        tried="the slope of |x| at 0, from the left and from the right",
        shown="the slope on each side",
        atol=1e-6,
        hints=kink.mistakes,
    )


@exercise(
    "01.fool",
    minutes=4,
    difficulty="medium",
    importance=1,
    question="""
        Write a *wrong* slope for $x^3$ that passes the check at x = 1 by luck, but fails at x = 2.""",
    stub="""
        def wrong_slope(x):
            ...""",
    hints=["The true slope at 1 is 3. Which simpler formulas also give 3 at x = 1?"],
    solution="""
        def wrong_slope(x):
            return 3 * x""",
    explained="""
        At x = 1 it is 3, like the true slope $3x^2$. There are many other answers. Lesson 07 has a wrong rule that was actually published, in *A Dive into Automatic Differentiation*; it passes a check in just this way.""",
    why="A wrong rule can pass a check at one point. Check at several points, and avoid special ones.",
    mistakes=[
        (lambda x: x**3, "At 1 the check measures 3, and yours gives 1: it is caught at once."),
        (
            lambda x: 3.1 * x,
            "At 1 the check measures 3, and an error of a tenth is caught at once. Your slope must be exactly 3 there, and wrong at 2.",
        ),
        (lambda x: 2 * x, "At 1 the check measures 3, and yours gives 2: it is caught at once."),
        (lambda x: 4 * x, "At 1 the check measures 3, and yours gives 4: it is caught at once."),
        (lambda x: 0, "At 1 the check measures 3, and yours gives 0: it is caught at once."),
        (lambda x: -3 * x, "At 1 the check measures 3, and yours gives −3: it is caught at once."),
        lambda got, right: (
            same(got, right, 0.003, 0)
            and "At 1 your result is nearly 3, like a measured slope, and the check notices the difference. Write a formula that is exactly 3 there."
        ),
        printed(lambda x: 3 * x),
    ],
)
def fool(answer):
    # the same tolerance as the lesson's `agrees`
    expect_call(answer, 1.0, gives=3.0, rtol=1e-6, atol=0, hints=fool.mistakes)
    at_2 = returned(answer, 2.0, tried="your function(2)", shown="a wrong slope")
    if not (
        np.shape(at_2) == () and isinstance(at_2, (int, float, Fraction, np.number, np.ndarray))
    ) or np.isnan(float(at_2)):
        raise Wrong(
            "your function(2)",
            brief(at_2),
            "a wrong slope",
            "At 2 your function must return a number too: a wrong slope.",
        )
    if abs(at_2 - 12) <= 1e-6 * 12:
        raise Wrong(
            "your function(2)",
            "12, the true slope",
            "a wrong slope",
            "Your formula is right at 2 as well. Find one that is right at 1 and wrong at 2.",
        )


def _count(got, expected):
    if np.ndim(got) != 1 or len(got) == len(expected):
        return None
    positions = f"{len(got)} position{'s' * (len(got) != 1)}"
    return f"You returned {positions}. There should be {len(expected)}: the start, and one for each step."


def _bowl(x):
    return (x - 3) ** 2 + 5


def _walk(slope, x, lr, steps):
    """Return the positions of gradient descent from x as a list: the start, and the position after each step.

    `slope` is a function of the position that returns the slope there.
    """
    xs = [x]
    for _ in range(steps):
        xs.append(xs[-1] - lr * slope(xs[-1]))
    return xs


def _stopping(f, x, lr, steps, stops):
    """Return the positions of a gradient descent on f that stops as soon as stops(old x, new x) is true.

    The new x at which it stops is not in the list. `x` is the start, `lr` is the learning rate, and
    `steps` is the number of steps without an early stop.
    """
    xs = [x]
    for new in _walk(lambda x: central_difference(f, x), x, lr, steps)[1:]:
        if stops(xs[-1], new):
            break
        xs.append(new)
    return xs


@exercise(
    "01.descend",
    minutes=5,
    difficulty="medium",
    importance=3,
    names=lambda: {
        "central": central_difference,
        "bowl": _bowl,
        "forward": lambda f, x, h: (f(x + h) - f(x)) / h,
        "h": 0.01,
    },
    question="""
        Now write the whole loop, for any curve. `descend` returns the list of all positions, including the start. The loop is already there.
        Append the next position, and measure the slope with `central` and the step `1e-5`. For example, `descend(bowl, 0.0, 0.3, 1)`
        returns about `[0, 1.8]`. (`lr` is the learning rate, and `xs[-1]` the last position so far.)""",
    stub="""
        def descend(f, x, lr, steps):
            xs = [x]
            for _ in range(steps):
                xs.append(...)
            return xs""",
    hints=[
        """
        One step is the line that gave 1.8, with the parameters instead of `bowl` and `0.3`, and with the newest x.""",
        (
            "Help: the positions are evenly spaced",
            """
        The slope changes as you move. Measure it inside the loop, at the newest x, which is `xs[-1]`.""",
        ),
    ],
    solution="""
        def descend(f, x, lr, steps):
            xs = [x]
            for _ in range(steps):
                xs.append(xs[-1] - lr * central(f, xs[-1], 1e-5))
            return xs""",
    explained="Each step measures the slope at the newest x and starts from there.",
    why="Measure the slope, take a step, repeat. The next lessons replace the measurement by something better.",
    mistakes=[
        edit(
            "append(xs[-1] - lr * central(f, xs[-1], 1e-5))",
            "append(xs[-1])",
            "x never changes: is the new x appended?",
        ),
        edit("central(", "forward(", "You measure to one side only: use central."),
        (
            lambda f, x, lr, steps: _walk(lambda x: abs(central_difference(f, x)), x, lr, steps),
            "You always go left. If the slope is negative, downhill is to the right.",
        ),
        edit("- lr", "+ lr", "You go uphill. Downhill is against the slope, so use a minus."),
        edit(
            "f, xs[-1]",
            "f, x",
            "You use the slope at the start for every step. Measure inside the loop, at the newest x.",
        ),
        edit(
            "xs[-1] - lr",
            "x - lr",
            "Each step must start where the last one ended: xs[-1] − …, not x − …",
        ),
        edit(
            "xs[-1] - lr",
            "x - lr",
            "f, xs[-1]",
            "f, x",
            "Every step starts from the first x again: measure at xs[-1], and move from xs[-1].",
        ),
        edit("- lr", "- 0.3", "Your learning rate is always 0.3: use the parameter lr."),
        edit("- lr * ", "- ", "The learning rate is missing: move by lr times the slope."),
        edit(
            "- lr * ",
            "- lr * steps * ",
            "Each pass through the loop is one step: move by lr times the slope, without steps.",
        ),
        edit(
            "xs[-1] - lr * central(f, xs[-1], 1e-5)",
            "lr * central(f, xs[-1], 1e-5) - xs[-1]",
            "The two terms are exchanged: the new x is xs[-1] minus lr times the slope.",
        ),
        edit(
            "xs[-1] - lr",
            "-lr",
            "Those are the moves alone. The new x is xs[-1] minus lr times the slope.",
        ),
        edit(
            "xs[-1] - lr * ",
            "",
            "Those are the slopes alone. The new x is xs[-1] minus lr times the slope.",
        ),
        edit("1e-5", "lr", "The step of central is not the learning rate: measure with 1e-5."),
        edit("1e-5", "10^-5", "^ is not a power in Python: write 1e-5."),
        edit("1e-5", "h", "You measure with a step of 0.01. Write 1e-5."),
        edit("1e-5", "0.1", "You measure with a step of 0.1. Write 1e-5."),
        edit(
            "xs[-1] - lr * central",
            "(xs[-1] - lr) * central",
            "Only lr multiplies the slope: leave out the parentheses around xs[-1] - lr.",
        ),
        edit("range(steps)", "steps", "steps is a number: for _ in range(steps)."),
        edit(
            "xs[-1] - lr",
            "xs - lr",
            "f, xs[-1]",
            "f, xs",
            "You use a list in place of a number. The newest position is xs[-1]; append a number, without brackets.",
        ),
        edit(
            "xs[-1] - lr",
            "xs[steps] - lr",
            "f, xs[-1]",
            "f, xs[steps]",
            "The list is not that long yet. The newest x in it is xs[-1].",
        ),
        edit("f, xs[-1]", "f, xs(-1)", "Use square brackets to read an entry of a list: xs[-1]."),
        edit("f, xs[-1]", "f, x[-1]", "x is a number, the start. The list is xs."),
        edit("append(", "append = (", "Call it: xs.append(the new x)."),
        edit("xs.append(", "xs = xs + (", "Call it: xs.append(the new x)."),
        edit(
            "xs.append(xs[-1] - lr * central(f, xs[-1], 1e-5))",
            "xs.append(x)\n        x = x - lr * central(f, x, 1e-5)",
            "You append x before you move it, so the start appears twice.",
        ),
        edit(
            "append(xs[-1] - lr * central(f, xs[-1], 1e-5))",
            "append(xs[-1]) - lr * central(f, xs[-1], 1e-5)",
            "The bracket of append closes too early: the whole new x belongs inside.",
        ),
        edit(
            "xs[-1] - lr",
            "f(xs[-1]) - lr",
            "A step starts at the position xs[-1], not at its value.",
        ),
        edit("xs[-1] - lr", "lr", "That is the move alone. The new x is xs[-1] minus the move."),
        edit(
            "xs[-1] - lr * central",
            "x - 0.3 * central",
            "f, xs[-1]",
            "f, x",
            "You repeat the line that gave 1.8, always from the start. Use lr, and start at xs[-1].",
        ),
        edit(
            "xs[-1] - lr * central",
            "x - 0.3 * central",
            "f, xs[-1]",
            "bowl, x",
            "This is the line that gave 1.8, unchanged. Use f and lr for bowl and 0.3, and xs[-1] for x.",
        ),
        edit(
            "lr * central",
            "lr / central",
            "You divide by the slope. Multiply by it: where it is steep, the step is long.",
        ),
        edit(
            "append(",
            "insert(0, ",
            "The list is in reverse order: append puts the newest x at the end.",
        ),
        edit(
            "xs.append(",
            "xs += (",
            "xs += … and xs.extend(…) expect a list. xs.append(…) takes a number.",
        ),
        edit(
            "xs.append",
            "xs = xs.append",
            "append changes the list and returns None: do not write xs = in front of it.",
        ),
        edit(
            "central(f, xs[-1], 1e-5)",
            "f(xs[-1])",
            "You move by the value, f(x). Move by the slope: central(f, …).",
        ),
        edit(
            "central(f",
            "central(bowl",
            "That is the slope of bowl. Measure the slope of the parameter f.",
        ),
        edit(
            "[x]",
            "[0.0]",
            "- lr",
            "- 0.3",
            "central(f",
            "central(bowl",
            "You always start at 0, with the learning rate 0.3, on bowl. Use the parameters.",
        ),
        edit(
            "- lr",
            "- 0.3",
            "central(f",
            "central(bowl",
            "You always use bowl and the learning rate 0.3. Use the parameters f and lr.",
        ),
        edit("[x]", "[0.0]", "You start at 0: start at the parameter x."),
        edit(
            "return xs",
            "return xs[1:]",
            "The start is missing. It must be the first x of the list.",
        ),
        edit(
            "return xs",
            "return xs[:-1]",
            "The last x is missing. The list contains the start and then one x per step.",
        ),
        edit(
            "return xs", "return xs[-1]", "Return the list of all positions, not only the last one."
        ),
        edit(
            "return xs",
            "print(xs)",
            Cause("printed"),
        ),
        edit(
            "xs.append(",
            "xs.append(abs(",
            "1e-5))",
            "1e-5)))",
            "An x can be negative: leave out the abs.",
        ),
        edit(
            "xs.append(",
            "xs.append(round(",
            "1e-5))",
            "1e-5), 2))",
            "You round the positions: keep all the digits.",
        ),
        edit(
            "xs.append(xs[-1] - lr * central(f, xs[-1], 1e-5))",
            "xs[_ + 1] = xs[_] - lr * central(f, xs[_], 1e-5)",
            "An assignment cannot make a list longer: xs.append(…) adds an entry at its end.",
        ),
        edit(
            "xs.append(xs[-1] - lr * central(f, xs[-1], 1e-5))",
            "xs.append([xs[-1] - lr * central(f, xs[-1], 1e-5)])",
            "You append a list, because of the square brackets. Append the number itself.",
        ),
        (
            lambda f, x, lr, steps: _stopping(f, x, lr, steps, lambda old, new: f(new) > f(old)),
            "You stop where the value rises. Take every step: rising values show that the learning rate is too large.",
        ),
        (
            lambda f, x, lr, steps: _stopping(
                f, x, lr, steps, lambda old, new: abs(new - old) < 1e-6
            ),
            "You stop when x no longer moves. Take all the steps.",
        ),
        (
            lambda f, x, lr, steps: _walk(
                lambda x: np.sign(central_difference(f, x)), x, lr, steps
            ),
            "You move by the learning rate alone. Move by lr times the slope.",
        ),
        _count,
    ],
)
def descend(answer):
    def twice(x):
        return 2 * x

    slopes = {
        cube: lambda x: 3 * x * x,
        square: twice,
        np.sin: np.cos,
        np.tanh: lambda x: 1 - np.tanh(x) ** 2,
    }
    expect_over(
        answer,
        lambda f, *given: _walk(slopes[f], *given),
        lambda d: (
            d.another(square, np.sin, np.tanh),
            d(),
            d.another(0.1, 0.3, 0.0, 0.9),
            d.times(1, 0, 2, 13),
        ),
        apart=True,
        rtol=1e-6,
        atol=1e-8,
        first=[
            (cube, 1.0, 0.2, 3),
            (square, -300.0, 0.25, 40),
            (square, 1.0, 1.2, 13),
            (square, 0.5, 2.5, 5),
            (square, 1.0, -0.3, 3),
        ],
        hints=descend.mistakes,
    )
