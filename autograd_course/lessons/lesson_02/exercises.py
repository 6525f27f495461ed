"""Ask the questions of lesson 02: partial derivatives, the graph and the chain rule."""

import numpy as np

from autograd_lib import Tensor, elementwise

from ...drawing.formatting import number
from ...drawing.picture import Picture
from ...grading import edit, exercise, expect, expect_over, formula, times
from ...grading.causes import Cause
from ...grading.mistakes import (
    central_difference,
    local_gradient_only,
    multiplied,
    reciprocal,
    sign_lost,
)
from ...quiz.texts import Question, card, prediction, recall
from ...widgets.graph import draw_graph

recall(
    "02",
    [
        Question(
            "The value is 7 and the gradient is 4. You move x by −0.05. What is the value now, approximately? (Lesson 00)",
            6.8,
            "The change is about 4 · (−0.05) = −0.2, so about **6.8**.",
        ),
        Question(
            "Which step h is good for the central difference, and why not a smaller one? (01)",
            None,
            "About **1e−5**, if x is near 1. With a much smaller h, the rounding error becomes too large.",
        ),
        Question(
            "From school: what is the slope of $5x^2$ at $x = 3$?",
            30,
            "The slope of $x^2$ is $2x = 6$. The constant factor 5 multiplies it: **30**.",
        ),
    ],
)

prediction(
    "02.both",
    question="""The derivative of z with respect to x is 12, and with respect to y it is 9. You nudge x by $dx = 0.1$ and y by
        $dy = 0.2$. By about how much does z change? And which nudge contributes more?""",
    answer={"z changes by": 3.0, "more from": "y"},
    choices={"more from": ["x", "y"]},
    tolerance=0.2,
    reveal="""By about 12 · 0.1 + 9 · 0.2 = 1.2 + 1.8 = **3.0**. The nudge of **y** contributes more: its slope is smaller, but you
        turned the y knob further. (This is the predicted change. The true change is 3.142: the cells below
        compare the two.)""",
)

prediction(
    "02.path",
    question="""In $z = x + y$ and $L = z \\cdot w$ with w = −3, what is $\\partial z / \\partial x$? And what is
        $\\partial L / \\partial x$?""",
    answer={"∂z/∂x": 1, "∂L/∂x": -3},
    reveal="∂z/∂x = **1**, because z grows just as fast as x. But ∂L/∂x = **−3**, because every change in z is then multiplied by w.",
)

prediction(
    "02.live",
    question="""For $z = x + y$, $L = z \\cdot w$, you move the slider for x. Which of the gradients of x, y and w change? Then
        you move the slider of w. Does the number on the arrow from x to z change? Does the gradient of x?""",
    answer={
        "sliding x changes": "that of w alone",
        "sliding w, x's arrow": "stays",
        "sliding w, x's gradient": "changes",
    },
    choices={
        "sliding x changes": [
            "that of x alone",
            "that of w alone",
            "those of x and y",
            "all three",
        ],
        "sliding w, x's arrow": ["stays", "changes"],
        "sliding w, x's gradient": ["stays", "changes"],
    },
    reveal="""If you slide x, only the gradient of **w** changes. Did you expect the gradient of x to change? w multiplies z, so the local
        gradient of w *is* z, which moves with x. But x is only added, and the local gradient of an addition is 1, however large x is.

        If you slide w, the number on the arrow from x to z **stays** 1. The gradient of x **changes**, because it is always equal to
        w. So the local gradient and the gradient are two different quantities.""",
)

prediction(
    "02.paths",
    question="""In $L = c \\cdot c$ with c = 50, which number is on each of the two arrows from c to L? What is the gradient of c?
        And which has the larger gradient, a = 10 or b = 5?""",
    answer={"on each arrow": 50, "gradient of c": 100, "larger": "that of 5"},
    choices={"larger": ["that of 10", "that of 5", "they are equal"]},
    reveal="""**50** on each, because in a product the local gradient of one factor is the other factor. The gradient of c is **100**:
        this agrees with $c^2$, whose slope is $2c$. So the two contributions are *added*. If they were multiplied, the gradient
        would be 2500.

        The **5** has the larger gradient: 100 · 10 = 1000, while the 10 has only 100 · 5 = 500. Why? If a factor grows by 1 %, the
        product grows by 1 %. But a gradient counts *per unit*, and one unit is a larger part of 5 than of 10. For a fair
        comparison, nudge each by 1 % of itself: 10 by 0.1 and 5 by 0.05. Then the changes of L are about 500 · 0.1 and
        1000 · 0.05. Both are 50, which is 2 % of 2500.""",
)

prediction(
    "02.back",
    question="""Begin at L, whose gradient is 1. With y = 3 and w = 10, which gradient does x receive along its arrow into s,
        and which along its arrow into p? And for which y is the gradient of x 0?""",
    answer={"from s": 10, "from p": 30, "y": -1},
    reveal="""**10** from s, **30** from p, and **y = −1**. L passes 1 · w = 10 to s, and s passes 10 · 1 = 10 to p. Then x
        receives 10 · 1 = 10 from s, and 10 · y = 30 from p. Their sum is 40. For any y, the sum is w + w · y. So it is 0 if
        y = −1, for every w, because the two contributions cancel. (The gradient is also 0 if w = 0, for every y.)""",
)

card(
    "02",
    [
        "The partial derivative ∂z/∂x is the slope of z when x alone moves and the other inputs are held still.",
        "Two nudges: dz ≈ (∂z/∂x) dx + (∂z/∂y) dy. The contributions add.",
        "A calculation records itself as a computational graph: each result stores its operation and its inputs.",
        "The local gradient belongs to one arrow; the gradient of x covers all paths from x to L.",
        "Chain rule: the gradient of an input is the upstream gradient g times the local gradient.",
        "Multiply along a path, add over the paths.",
    ],
)


def hidden_edge():
    """Draw the graph of L = z · w, in which question marks hide how z is computed from x.

    Both the name of the operation and its local gradient are hidden.
    """
    cover = elementwise(lambda x: 10 / x, lambda g, z, x: -g * z / x, name="?")
    z = cover(Tensor(2.0, True, "x"))
    z.name = "z"
    L = z * Tensor(-4.0, True, "w")
    L.name = "L"
    shown = draw_graph(L)
    return Picture(*(part.replace("−2.5", "?") for part in (shown.html, shown.text)))


@formula("f(x, y) = x² · y")
def _steep(x, y):
    return x * x * y


@formula("f(x, y) = sin(x) · y + y²")
def _mixed(x, y):
    return np.sin(x) * y + y * y


@formula("f(x, y) = x − cos(y)")
def _apart(x, y):
    return x - np.cos(y)


BOTH = "slope_x * dx + slope_y * dy"  # where the solution adds the parts


@exercise(
    "02.two_knobs",
    minutes=6,
    difficulty="medium",
    importance=3,
    names=lambda: {"central": central_difference},
    question="""
        Write `two_knobs(f, x, y, dx, dy)`, which returns the *predicted* change for any f of two inputs. Measure the two
        partial derivatives at (x, y) with `central`, each with the other input held still.""",
    stub="""
        def two_knobs(f, x, y, dx, dy):
            ...""",
    hints=[
        "The cell that measured 12 and 9 computes both slopes at a fixed point. Use the names x and y instead of the numbers 3.0 and 2.0.",
        (
            "Help: … object is not callable",
            """
            `central` expects a function of the one input that moves. `f(x, y)` is already a number, but `lambda moving: f(moving, y)` is
            a function.""",
        ),
        (
            "Help: which x is which?",
            """
            In `central(lambda x: f(x, y), x)` the x inside the lambda is the moving number, and the last x is still yours. This
            works. If it confuses you, rename the moving number: `central(lambda moving: f(moving, y), x)`.""",
        ),
    ],
    solution="""
        def two_knobs(f, x, y, dx, dy):
            slope_x = central(lambda moving: f(moving, y), x)
            slope_y = central(lambda moving: f(x, moving), y)
            return slope_x * dx + slope_y * dy""",
    explained="The last line is the boxed formula.",
    why="Each input contributes slope × nudge, and the contributions add. All sums over paths rest on this.",
    mistakes=[
        (
            lambda f, x, y, dx, dy: f(x + dx, y + dy) - f(x, y),
            "That is the change itself. Predict it, from the two slopes at (x, y).",
        ),
        (
            lambda f, x, y, dx, dy: f(x + dx, y + dy),
            "That is the new value. Return the change, predicted from the two slopes.",
        ),
        edit("return", "return f(x, y) +", "That is the new value. Return the change alone."),
        (
            lambda f, x, y, dx, dy: (
                central_difference(f(x, y), x) * dx + central_difference(f(x, y), y) * dy
            ),
            "central expects a function of the one input that moves, but f(x, y) is a number. Write lambda moving: f(moving, y).",
        ),
        (
            lambda f, x, y, dx, dy: central_difference(f, x) * dx + central_difference(f, y) * dy,
            "central moves one number, but f takes two. Hold the other input still: lambda moving: f(moving, y).",
        ),
        (
            lambda f, x, y, dx, dy: 12 * dx + 9 * dy,
            "12 and 9 are the slopes at the point in the cell above. Measure inside your function, with its f, x and y.",
        ),
        *(
            edit(
                *changes,
                "Both inputs move in f(moving, moving). Hold the other one still: f(moving, y), and f(x, moving).",
            )
            for changes in [
                ("f(moving, y)", "f(moving, moving)", "f(x, moving)", "f(moving, moving)"),
                ("f(moving, y)", "f(moving, moving)"),
                ("f(x, moving)", "f(moving, moving)"),
            ]
        ),
        edit(
            "f(moving, y)",
            "f(moving, 2.0)",
            "f(x, moving)",
            "f(3.0, moving)",
            "2.0 and 3.0 are the inputs of the cell above. Hold the arguments y and x still instead.",
        ),
        edit(
            "f(moving, y)",
            "f(moving, 2.0)",
            "2.0 is the y of the cell above. Hold the argument y still: f(moving, y).",
        ),
        edit(
            "f(x, moving)",
            "f(3.0, moving)",
            "3.0 is the x of the cell above. Hold the argument x still: f(x, moving).",
        ),
        (
            lambda f, x, y, dx, dy: (
                central_difference(lambda at: f(at, 2.0), 3.0) * dx
                + central_difference(lambda at: f(3.0, at), 2.0) * dy
            ),
            "Your slopes are always those at (3, 2). Measure at the arguments x and y.",
        ),
        (
            lambda f, x, y, dx, dy: f(x + dx, y) - f(x, y) + f(x, y + dy) - f(x, y),
            "Those are the true changes when each input moves alone. Predict them: measure each slope with central, and multiply it by its nudge.",
        ),
        (
            lambda f, x, y, dx, dy: (
                central_difference(lambda at: f(at, y), x) * dx
                + central_difference(lambda at: f(x + dx, at), y) * dy
            ),
            "You measured the slope of y at x + dx. Measure both slopes at (x, y).",
        ),
        edit(
            "lambda moving: f(x, moving)",
            "lambda moving: f(moving, y)",
            "Your second lambda moves x again. For the slope of y, hold x still: lambda moving: f(x, moving).",
        ),
        edit(
            "f(moving, y), x)",
            "f(moving, y), 3.0)",
            "f(x, moving), y)",
            "f(x, moving), 2.0)",
            "(3.0, 2.0) is the point in the cell above. Measure at the arguments x and y.",
        ),
        (
            lambda f, x, y, dx, dy: (
                (f(x + dx, y) - f(x, y)) / dx * dx + (f(x, y + dy) - f(x, y)) / dy * dy
            ),
            "Your steps are the nudges themselves, so you get the true changes. Measure each slope with central.",
        ),
        (
            lambda f, x, y, dx, dy: 2 * x * y * dx + x * x * dy,
            "Those are the slopes of x²·y. For any f, measure them with central.",
        ),
        (
            lambda f, x, y, dx, dy: (
                central_difference(lambda at: f(at, y), x, dx) * dx
                + central_difference(lambda at: f(x, at), y, dy) * dy
            ),
            "The step of central is not the nudge. Leave its h at 1e-5, and multiply the slope by the nudge.",
        ),
        (
            lambda f, x, y, dx, dy: (
                central_difference(lambda at: f(at, y), x, dx)
                + central_difference(lambda at: f(x, at), y, dy)
            ),
            "The step of central is not the nudge. Leave its h at 1e-5. And a slope is a rate: multiply it by the nudge.",
        ),
        (
            lambda f, x, y, dx, dy: (
                central_difference(lambda at: f(at, y), x + dx) * dx
                + central_difference(lambda at: f(x, at), y + dy) * dy
            ),
            "Those are the slopes at the end of the nudges. Measure both at (x, y), where the nudges start.",
        ),
        edit(
            "slope_x = ",
            "x = ",
            "slope_y = ",
            "y = ",
            BOTH,
            "x * dx + y * dy",
            "You overwrote x with its slope, so the slope of y is measured at the wrong x. Give the slope its own name: slope_x.",
        ),
        edit(
            BOTH,
            "slope_x * dy + slope_y * dx",
            "Each slope is multiplied by the wrong nudge: the slope of x belongs to dx.",
        ),
        edit(
            BOTH, "slope_x * dx + slope_y * dx", "You use dx twice: the slope of y belongs to dy."
        ),
        edit(
            BOTH, "slope_x * dy + slope_y * dy", "You use dy twice: the slope of x belongs to dx."
        ),
        edit(
            BOTH,
            "slope_x * dx + slope_x * dy",
            "You use the slope of x twice: the slope of y belongs to dy.",
        ),
        edit(
            BOTH,
            "slope_y * dx + slope_y * dy",
            "You use the slope of y twice: the slope of x belongs to dx.",
        ),
        edit(
            BOTH,
            "(slope_x + slope_y) * (dx + dy)",
            "Multiply each slope only by the nudge of its own input.",
        ),
        edit(
            BOTH,
            "slope_x * dx * slope_y * dy",
            "Both inputs contribute to the change. Are contributions multiplied or added?",
        ),
        edit(BOTH, f"abs({BOTH})", "A change can be negative: leave out the abs."),
        edit(
            BOTH,
            "slope_x * dx - slope_y * dy",
            "You subtract the contribution of y. Contributions are added, whatever their signs.",
        ),
        edit(BOTH, "slope_x + slope_y", "A slope is a rate. Multiply each by its own nudge."),
        edit(BOTH, "slope_x * dx", "You have the contribution of x. What does y contribute?"),
        edit(BOTH, "slope_y * dy", "You have the contribution of y. What does x contribute?"),
        edit(
            BOTH,
            "(slope_x * dx, slope_y * dy)",
            "These are the two contributions. Add them: the change is one number.",
        ),
        (
            lambda f, x, y, dx, dy: (
                central_difference(lambda at: f(at, y), dx) * dx
                + central_difference(lambda at: f(x, at), dy) * dy
            ),
            "You measure the slopes at dx and dy. The second argument of central is the point: x, and then y.",
        ),
        (
            lambda f, x, y, dx, dy: (
                central_difference(lambda at: f(at, y), dx)
                + central_difference(lambda at: f(x, at), dy)
            ),
            "The second argument of central is the point. Measure at x and at y, then multiply by dx and by dy.",
        ),
        edit(
            "return " + BOTH,
            f"print({BOTH})",
            Cause("printed"),
        ),
        times(2, "Exactly double. Do you divide by 2 * h, and add each contribution only once?"),
        *(
            times(h, "Your result is far too small, as if you had not divided by 2 * h.")
            for h in (1e-5, 2e-5)
        ),
        edit(
            "f(x, moving), y)",
            "f(x, moving), x)",
            "You measure the slope of y at x. Measure it at y: central(lambda moving: f(x, moving), y).",
        ),
        edit(
            "f(moving, y), x)",
            "f(moving, y), y)",
            "You measure the slope of x at y. Measure it at x: central(lambda moving: f(moving, y), x).",
        ),
        edit(
            "f(x, moving)",
            "f(moving, x)",
            "In f, x comes first. For the slope of y, write f(x, moving).",
        ),
        edit(
            "f(moving, y), x)",
            "f(moving, y), y)",
            "f(x, moving), y)",
            "f(x, moving), x)",
            "You measure the slope of x at y and the slope of y at x. Swap the second arguments of central.",
        ),
        edit(
            "f(moving, y), x)",
            "f(moving, x), y)",
            "f(x, moving), y)",
            "f(y, moving), x)",
            "You swapped x and y. In f, x comes first: f(moving, y) moves x, and f(x, moving) moves y.",
        ),
        (
            lambda f, x, y, dx, dy: (
                (f(x + dx, y) - f(x - dx, y)) / 2 + (f(x, y + dy) - f(x, y - dy)) / 2
            ),
            "Your steps are the nudges themselves. Measure each slope with central, and multiply it by its nudge.",
        ),
        edit(
            BOTH,
            "abs(slope_x * dx) + abs(slope_y * dy)",
            "A contribution can be negative: leave out the abs.",
        ),
    ],
)
def two_knobs(answer):
    slopes = {
        _steep: (lambda x, y: 2 * x * y, lambda x, y: x * x),
        _mixed: (lambda x, y: np.cos(x) * y, lambda x, y: np.sin(x) + 2 * y),
        _apart: (lambda x, y: 1.0, lambda x, y: np.sin(y)),
    }
    expect_over(
        answer,
        lambda f, x, y, dx, dy: slopes[f][0](x, y) * dx + slopes[f][1](x, y) * dy,
        lambda d: (
            d.another(*slopes),
            x := d(),
            d.choice(x, d()),
            dx := d.choice(3 * np.tanh(d.g()), 3 * np.tanh(d.g()), 0.0),
            d.choice(3 * np.tanh(d.g()), dx, 0.0),
        ),
        apart=True,
        rtol=1e-4,
        atol=1e-4,
        first=[
            (_mixed, 0.5, -2.0, 0.2, -0.4),
            (_mixed, 0.51, -2.0, 0.2, -0.4),
            (_steep, 3.0, 2.0, 0.1, 0.3),
            (_steep, 3.0, 2.0, 5e-4, 5e-4),
            (_steep, 3.0, 2.0, 6.0, 6.0),
        ],
        hints=two_knobs.mistakes,
    )


def _passed_on(got, expected):
    """Return a hint that multiplies a wrong number by the upstream gradient, or None."""
    if not isinstance(got, (int, float, np.number, np.ndarray)):
        return None
    if np.ndim(got) or not np.isfinite(got):
        return None
    return (
        f"With your number, x would receive −4 · ({number(got)}) = {number(-4 * got)}. "
        "But the gradient of x is 10."
    )


@exercise(
    "02.hidden_edge",
    minutes=3,
    difficulty="medium",
    importance=2,
    question="""
        In the next picture, a hidden operation computes z from x. All gradients are shown. What local gradient should replace
        the question mark?""",
    stub="""
        local = ...""",
    hints=[
        "What is the upstream gradient of the hidden operation, the gradient of z? And which gradient does it send to x?",
        "Gradient of x = upstream gradient × local gradient. So divide the gradient of x by the gradient of z.",
    ],
    solution="""
        local = 10 / -4""",
    explained="The upstream gradient is −4, the gradient of x is 10, and −4 · (−2.5) = 10.",
    why="Gradient of x = upstream × local: as long as none of the three is 0, any two of them give you the third.",
    mistakes=[
        sign_lost(
            -2.5,
            "The absolute value is right. −4 times which number is 10? (If you divided 5 by 2: these are values, not gradients.)",
        ),
        reciprocal(
            -2.5,
            "Your fraction is upside down. Upstream × local = gradient of x, so divide the gradient of x by that of z.",
        ),
        (
            0.4,
            "Your fraction is upside down, and the sign is lost. Upstream × local = gradient of x.",
        ),
        (-40, "You multiplied. −4 times which number is 10?"),
        (40, "You multiplied. −4 times which number is 10?"),
        *(
            (
                wrong,
                "Adding or subtracting does not help. Along a path you multiply, so undo a multiplication.",
            )
            for wrong in (6, -6, 14, -14, 3)
        ),
        (
            1,
            "1 would be right for an addition. This is a different operation: upstream × local = gradient of x.",
        ),
        (10, "That is the gradient of x. Which factor turns −4 into it?"),
        (-4, "That is the gradient of z. By what is it multiplied to give the gradient of x?"),
        (
            5,
            "5 is the value of z, and the local gradient of w. Look at the gradients of z and of x.",
        ),
        (2, "That is the value of x. Look at the gradients of z and of x."),
        (-20, "That is the value of L. Look at the gradients of z and of x."),
        (
            -2,
            "Did you divide by a value? Divide the gradient of x, which is 10, by the gradient of z.",
        ),
        (0, "A local gradient of 0 would pass on 0, but x receives 10. By what is −4 multiplied?"),
        _passed_on,
    ],
)
def hidden(answer):
    expect(
        answer,
        -2.5,
        tried="the local gradient at the question mark",
        shown="a different number",
        hints=hidden.mistakes,
    )


@exercise(
    "02.routes",
    minutes=4,
    difficulty="medium",
    importance=3,
    question="""
        $b = 3a$, $c = a^2$, $L = b \\cdot c$. What is the gradient of a at $a = 2$? Draw the graph on paper with its local
        gradients. Then work backward from L.""",
    stub="""
        gradient_of_a = ...""",
    hints=[
        "There are two paths: a → b → L and a → c → L. The local gradients on the first path are 3 and c.",
        (
            "Help: I get 288",
            """
            At a = 2, b = 6 and c = 4. The path through b gives 4 · 3, and the path through c gives 6 · 4. Each is a
            contribution to the change in L. Are contributions multiplied or added?""",
        ),
    ],
    solution="""
        a = 2
        b, c = 3 * a, a**2
        through_b = c * 3           # ∂L/∂b · ∂b/∂a
        through_c = b * 2 * a       # ∂L/∂c · ∂c/∂a
        gradient_of_a = through_b + through_c""",
    explained="12 + 24 = 36. Another way to see it: $L = 3a^3$, whose slope is $9a^2 = 36$. You can draw the graph with `draw_graph`.",
    why="12 through b and 24 through c. Each path contributes to the change in L, and contributions add.",
    mistakes=[
        multiplied(
            12,
            24,
            hint="You multiplied the paths. Each path contributes to the change in L. Are contributions multiplied or added?",
        ),
        (12, "That is only the path through b. What does the path through c contribute?"),
        (9, "That is the factor in 9a², the slope of 3a³. What is the slope at a = 2?"),
        (
            24,
            "That is the value of L, or only the path through c. Or did you add 12 and 12? The slope of a² is 2a, which is 4.",
        ),
        local_gradient_only(
            3 + 4,
            "That is the sum of the two local gradients of a. Follow each path all the way to L first.",
        ),
        (17, "Multiply along each path first; then add the paths."),
        (70, "Keep the paths apart: 3 belongs to the path through b, and 4 to the path through c."),
        (
            48,
            "On the path through c you multiply two local gradients: b, from c to L, and 2a = 4, from a to c.",
        ),
        (
            16,
            "The path through b is right, 12. The path through c is not finished: multiply 4, from a to c, by b, from c to L.",
        ),
        (6, "That is b. The gradient of a is a sum over two paths."),
        (
            34,
            "Are two local gradients swapped? In L = b·c the local gradient of b is c, and that of c is b.",
        ),
        (
            28,
            "Keep the paths apart: multiply each arrow from a only by the next arrow of the same path.",
        ),
        (
            18,
            "Is that 3 · b? The local gradient from b to L is c, which is 4. Is it 9 · a? The slope of 3a³ is 9a².",
        ),
        (
            42,
            "You used b for both upstream gradients. That of b is c = 4, and that of c is b = 6.",
        ),
        (20, "At a = 2, ∂c/∂a = 2a is 4. And the upstream gradient of c is b = 6."),
        (
            10,
            "That is the sum of the two arrows into L. Multiply each by the arrow before it.",
        ),
        (3, "That is the arrow from a to b. Follow the path on to L; and there is a second path."),
        (
            4,
            "That is one arrow: from a to c, or from b to L. A path has two arrows, and there are two paths.",
        ),
        (
            72,
            "Exactly double. On paper: did you multiply by both b and c on one path? In code: did you call backward() twice?",
        ),
        (
            32,
            "Is that 8 + 24? In b = 3a the local gradient is 3, not a. Is it 4a³? L is 3a³, not a⁴.",
        ),
        lambda got, expected: (
            "That is a Tensor. Do the names still have their values from earlier cells, such as a = 10? Set a = 2 first, or write the numbers."
            if isinstance(got, Tensor)
            else None
        ),
    ],
)
def routes(answer):
    expect(answer, 36, tried="∂L/∂a at a = 2", shown="a different number", hints=routes.mistakes)
