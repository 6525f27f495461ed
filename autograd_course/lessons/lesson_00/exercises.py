"""Ask the questions of lesson 00: the value, the gradient, and the step downhill."""

import numpy as np

from autograd_lib import grad

from ...drawing.formatting import number
from ...grading import Wrong, brief, exercise, expect, expect_over
from ...grading.mistakes import off_by, printed
from ...quiz.texts import Question, card, placement, prediction

placement(
    "00",
    "Lessons 00 and 01 explain what a slope tells you and how to measure it. If school was long ago, do the "
    "*Warm up* first: it takes about half an hour, and the first cell of this lesson links to it.",
    [
        Question(
            "The slope of $x^2$ at $x = 3$ is 6. If x goes from 3 to 3.01, by about how much does $x^2$ grow?",
            0.06,
            "By about 6 · 0.01 = **0.06**.",
            tolerance=0.0015,
        ),
        Question(
            """A program measures the slope of $e^x$ at 1 from two points, at $1 - h$ and $1 + h$. You shrink h from 1e−5 to 1e−12.
        Does the answer become more accurate, or less?""",
            "less",
            "**Less accurate**. Lesson 01 shows why.",
            choices=["more", "less"],
        ),
    ],
)

placement(
    "02",
    "It follows a change through a calculation, step by step: this is the chain rule.",
    [
        Question(
            "$L = (x + y) \\cdot w$ with x = 2, y = 3, w = −4. If x alone grows, how fast does L change?",
            -4,
            "**−4**, because the sum grows as fast as x does, and w multiplies it.",
        ),
        Question(
            "$z = \\tanh x$. At some point z is 0.6. What is the slope there? (You do not need x.)",
            0.64,
            "1 − z² = **0.64**.",
        ),
    ],
)

placement(
    "05",
    "There you build an engine: it goes backward through a calculation and adds up the gradients.",
    [
        Question(
            """$L = c \\cdot c$ with $c = a \\cdot b$, a = 10, b = 5. The gradient of a is 500. An engine writes `grad = …` where it should
        write `grad += …`. What gradient does it compute for a?""",
            250,
            "**250**, exactly half: c is used twice, and the second contribution overwrites the first.",
        ),
        Question(
            """A training loop never calls `zero_grad()`. By themselves, the gradients of its first three steps would be 1, 2
        and 3. Which gradient does its third step use?""",
            6,
            "**6**: 1 + 2 + 3, because gradients add up until you reset them.",
        ),
    ],
)

placement(
    "08",
    "You know how to differentiate one number at a time. Lesson 08 begins with arrays.",
    [
        Question(
            """A row b of shape (3,) is added to a matrix of shape (2, 3). The gradient of the sum is [[1, 2, 3], [4, 5, 6]].
        What is the gradient of b?""",
            [5, 7, 9],
            "**[5, 7, 9]**: b was used in both rows, so the rows are added.",
        ),
        Question(
            "$Z = X W$, with X of shape (5, 3) and W of shape (3, 2). G is the gradient of Z. What is the gradient of W?",
            "Xᵀ G",
            "**Xᵀ G**, of shape (3, 2) like W itself.",
            choices=["G Wᵀ", "Xᵀ G", "G Xᵀ", "Wᵀ G"],
        ),
    ],
)

placement(
    "11",
    "You know how gradients work with arrays. Lesson 11 begins with the training of networks.",
    [
        Question(
            """Gradient descent on $L = \\frac{25}{2} w^2$, whose curvature is 25. Above which learning rate does it
        diverge?""",
            0.08,
            "Above **0.08**, which is 2/25. At 0.08 each step lands on the other side of the minimum, just as far away as it started.",
            tolerance=0.001,
        ),
        Question(
            """Each of fifty steps of a recurrent network multiplies a gradient by 0.9. What is it multiplied by in total?""",
            0.005,
            "By about **0.005**: it has almost vanished.",
            tolerance=0.0011,
        ),
    ],
)

placement(
    "15",
    "You know how networks are trained. Lesson 15 begins with forward mode.",
    [
        Question(
            """A function of one input has 1000 outputs, and you want all 1000 slopes. How many passes does forward
        mode need?""",
            1,
            "**1**: it needs one pass for each input. Reverse mode needs one for each output.",
        ),
        Question(
            """x = 3 has tangent 1, and y = 4 has tangent 2. What is the tangent of x · y?""",
            10,
            "1 · 4 + 3 · 2 = **10**.",
        ),
    ],
)

placement(
    "16",
    "You know forward mode. Lesson 16 differentiates derivatives, and lesson 17 trades time for memory.",
    [
        Question(
            "$f(w) = w^4$. Newton's method is at w = 3. What step does it take?",
            -1,
            "−f′/f″ = −108/108 = **−1**.",
        ),
        Question(
            """A program runs a chain of 100 equal steps and keeps the result of every tenth step. In the backward pass it recomputes one piece of ten at a
        time and keeps that too. About how many results does it hold at most?""",
            20,
            "About **20**: the ten that it kept, and the ten of one piece.",
            tolerance=2,
        ),
    ],
)

placement(
    "18",
    "You know derivatives of every order, and their cost. Lesson 18 builds a transformer.",
    [
        Question(
            """A query's scores at three positions are 0, 0 and −∞. What weight does the first position get?""",
            0.5,
            "**0.5**: the position with −∞ gets 0, and the other two get equal weights.",
        ),
        Question(
            """A model gives each of 36 letters the same probability. What is its cross-entropy, in nats per letter?""",
            3.58,
            "log 36, about **3.58**.",
            tolerance=0.02,
        ),
    ],
)

placement(
    "20",
    "You know transformers. Lesson 20 compiles a training step, and lesson 21 moves it to PyTorch and JAX.",
    [
        Question(
            """`x if x > 0 else -x` is traced once, at x = 2: the operations that run are written down as a program. What
        does this program return for x = −1?""",
            -1,
            "**−1**: at x = 2 the branch for x > 0 ran, and the `if` itself was not recorded.",
        ),
        Question(
            """Two workers have 30 and 10 rows, and mean gradients 1 and 5. What is the gradient of the mean over
        all 40?""",
            2,
            "(30 · 1 + 10 · 5) / 40 = **2**.",
        ),
    ],
)

prediction(
    "00.empty",
    question="""You move x along the curve $f(x) = (x - 3)^2 + 5$. At which x is the gradient's bar empty? And what does the
        *value's* bar show there?""",
    answer={"x": 3, "value": 5},
    reveal="""At **x = 3**, the lowest point, the gradient is 0, because the curve is flat there. The value's bar shows **5**.

        If you said 0 for both, remember: the gradient is not the value. It depends only on how steep the curve is, not on how high
        you are.""",
)

prediction(
    "00.lift",
    question="""At x = 1 a curve has value 9 and gradient −4. Now lift the whole curve by 100: at x = 1 the value is now 109.
        What is the gradient there?""",
    answer=-4,
    reveal="""Still **−4**. Lifting a curve does not make it steeper: a nudge changes the value by the same amount as before.

        And points at the same height can have different slopes: the curve $(x - 3)^2 + 5$ has value 9 at x = 1 and at x = 5, but
        the gradient is −4 at x = 1 and 4 at x = 5.""",
)

prediction(
    "00.shapes",
    question="""At x = 3 the *hill* $9 - (x - 3)^2$ has its top. The *plateau* $5 + (x - 3)^3 / 8$ rises on both sides of x = 3.
        Is the gradient there above 0, equal to 0, or below 0?""",
    answer={"on the hill": "0", "on the plateau": "0"},
    choices={
        "on the hill": ["above 0", "0", "below 0"],
        "on the plateau": ["above 0", "0", "below 0"],
    },
    reveal="""**0** on both. A gradient of 0 means that the curve is *flat here*, and nothing more: the hill is highest there, and the
        plateau is neither highest nor lowest. On our first curve the flat point is the lowest, because that curve is a bowl.""",
)

prediction(
    "00.digits",
    question="""About what share of the held-out digits does the model get right before it has learned anything?
        And after how many passes is it above 95 % for the first time?""",
    answer={"at first": "one in ten", "above 95 %": "within ten passes"},
    choices={
        "at first": ["none", "one in ten", "one in three", "half"],
        "above 95 %": ["within ten passes", "later", "not in twenty passes"],
    },
    reveal="""About **one in ten** at first, because there are ten digits and the model is guessing. It gets above 95 % for the first
        time **within ten passes**, and it ends between 95 and 99 %.""",
)

prediction(
    "00.settled",
    question="""In how many of the 23 units that are not dead is the common part larger than the rest, after 100 steps on all scans?
        And after 45 more steps, on batches?""",
    answer={"on all scans": "none", "then on batches": "most"},
    choices={"on all scans": ["none", "half", "most"], "then on batches": ["none", "half", "most"]},
    reveal="""**None**, because the common part shrinks more than the rest. Then **most** of them again, 20 of 23: it is the steps on
        batches, at this step size. Change the last 0.1 to 0.01: now it hardly comes back.""",
)

prediction(
    "00.centre",
    question="""After twenty passes on the scans as they are, 9 of the 32 units are dead, and the loss on all training digits is
        0.044. What will these two numbers be if the scans are centred?""",
    answer={"dead units": "0", "loss": "less than a third"},
    choices={
        "dead units": ["0", "about 9", "about 20"],
        "loss": ["more than twice", "about the same", "less than a third"],
    },
    reveal="""**No** unit is dead (on the scans as they are, 2 are dead at the start, and 7 more die within 13 batches). And the loss is 0.008, which is **less than a third**; it is smaller after every pass. And every unit's
        gradient has both signs. LeCun and others give a reason in *Efficient BackProp* (1998, section 4.3): if no input is
        negative, the gradient of a single scan has one sign in each unit, so with one scan per step the weights of a unit can
        change their direction only by zigzagging. With batches this holds nearly, as long as the common part outweighs the rest.
        And steps that push down all weights of a unit can make its sum negative for every scan. `transforms.Normalize` in torchvision subtracts a mean from each channel.

        How much you gain depends on the optimizer. With plain gradient descent and lr = 0.1 the loss ends at 0.117 on the scans as
        they are, and only the 2 units are dead that were dead at the start; on centred scans, 0.111 and 0. And the share of
        held-out digits that the model reads correctly hardly changes.""",
)

card(
    "00",
    [
        "The value tells you how high the curve is, and the gradient how steep it is. Neither determines the other.",
        "Move x by a small nudge, and the value changes by about gradient × nudge.",
        "If the gradient is positive, uphill is to the right.",
        "A step downhill goes against the gradient: `x - 0.1 * gradient`.",
        "At a stationary point the gradient is 0: a minimum, the top of a hill, or a plateau. The value can be anything.",
        "Learning is going downhill with thousands of numbers at once, so that the loss falls.",
    ],
)


def hidden(x):
    """Return the height of the hidden curve at x.

    The curve is lowest at x = −2.4, where its height is 3.
    """
    return np.exp((x + 2.4) / 4) + np.exp(-(x + 2.4) / 4) + 1


@exercise(
    "00.value",
    minutes=1,
    difficulty="easy",
    importance=2,
    question="""
        What is $f(0)$?

        Answer `5` first, on purpose, and read the message that the check shows for a wrong answer. Then correct your answer.""",
    stub="""
        value_at_0 = ...""",
    hints=["0 − 3 is −3. Square it first, then add 5."],
    solution="""
        value_at_0 = (0 - 3) ** 2 + 5""",
    explained="9 + 5 = 14.",
    why="f(0) is the height of the curve at x = 0.",
    mistakes=[
        (5, "That is f(3). At 0 the square is not 0: compute (0 − 3)², and then add 5."),
        (9, "That is the square alone. Add 5 to it."),
        (-4, "(−3)² is −3 times −3: a positive number."),
        (-9, "(−3)² is −3 times −3, so it is positive. Then add 5."),
        (-1, "A square is a number times itself, not times 2."),
        (4, "Square first, then add 5. In Python, write a power as **: ^ is a different operator."),
        (2, "Compute 0 − 3 first, then its square, and then add 5."),
        (8, "0 − 3 is −3, and its square is 9. Then add 5."),
        (
            -6,
            "−6 is the gradient at 0. The question asks for the value. Or did you type ^? A power is ** in Python.",
        ),
    ],
)
def value(answer):
    expect(
        answer,
        14,
        tried="f(0), where f(x) = (x − 3)² + 5",
        shown="the height of the curve at x = 0",
        hints=value.mistakes,
    )


@exercise(
    "00.nudge",
    minutes=2,
    difficulty="easy",
    importance=3,
    question="""
        At some point on another curve, the value is 12 and the gradient is −3. From there you move x by 0.02. What is the value
        now, approximately?""",
    stub="""
        value_after = ...""",
    hints=[
        "The gradient is a rate, the change *per unit of x*. You moved by much less than a unit.",
        "Change ≈ gradient × nudge. Then add the change to the old value. Mind the sign.",
    ],
    solution="""
        value_after = 12 + (-3) * 0.02""",
    explained="The old value plus gradient × nudge is 11.94.",
    why="The new value is about the old value plus gradient times nudge. This is what you use a gradient for.",
    mistakes=[
        (
            9,
            "The gradient is a rate, a change per unit of x. Multiply it by the nudge first.",
        ),
        (
            15,
            "The gradient is a rate. Multiply the gradient by the nudge first, and mind the sign.",
        ),
        (12.06, "The gradient is negative: does the value rise or fall when x grows?"),
        (-0.06, "That is the change. What is the value after it?"),
        (0.06, "That is the size of the change. What is the value after it?"),
        (12.02, "You changed the value by as much as x. Multiply the nudge by the gradient first."),
        (9.02, "Multiply the gradient by the nudge; do not add them."),
        (
            11.98,
            "You changed the value by the nudge alone. Multiply the nudge by the gradient first.",
        ),
        (11.4, "The decimal point slipped: 3 · 0.02 is 0.06."),
        (12.6, "The decimal point slipped: 3 · 0.02 is 0.06. And the gradient is negative."),
        (-138, "You divided the gradient by the nudge. Multiply them."),
        (
            -150,
            "You divided the gradient by the nudge. Multiply them, and add the change to the value, 12.",
        ),
        (
            -2.98,
            "That is the gradient plus the nudge. Multiply them, and add the product to the value, 12.",
        ),
        (-3.06, "The change is −0.06. Add it to the value, 12, not to the gradient."),
        (
            -36,
            "You multiplied the value by the gradient. Multiply the nudge by the gradient, and add the product to the value.",
        ),
        (
            0.24,
            "You multiplied the value by the nudge. Multiply the gradient by the nudge, and add the product to the value.",
        ),
        (-3, "That is the gradient. The question asks for the value."),
        (
            11.28,
            "You took a share of the value. The change is gradient times nudge, regardless of the value. Add it to 12.",
        ),
        (12, "That is the value before the nudge. By how much does it change?"),
        (11.994, "The decimal point slipped: 3 · 0.02 is 0.06."),
        (
            12 - 0.02 / 3,
            "You divided the nudge by the gradient. Multiply them: the gradient is the change per unit of x.",
        ),
        (
            12 * 0.98,
            "You took a share of the value. The change is gradient times nudge, regardless of the value. Add it to 12.",
        ),
        (
            12.18,
            "0.18 is not gradient times nudge: 3 · 0.02 is 0.06. And the gradient is negative.",
        ),
    ],
)
def nudge(answer):
    expect(
        answer,
        11.94,
        tried="value 12, gradient −3, and x moves by 0.02",
        shown="the value after the nudge",
        hints=nudge.mistakes,
    )


def _downhill_is(got, expected):
    gradient = float(grad(hidden)(float(got)))
    side = "left" if gradient > 0 else "right"
    return f"At your x the gradient is {number(float(f'{gradient:.3g}'))}, not 0. Downhill is to the {side}."


@exercise(
    "00.lowest",
    minutes=3,
    difficulty="easy",
    importance=2,
    question="At which x is the hidden curve lowest?",
    stub="""
        lowest_x = ...""",
    hints=[
        "At the lowest point the curve is flat. Which bar shows that?",
        "Move the slider until the gradient's bar is empty. The answer is the x above the bars, not the value.",
    ],
    solution="""
        lowest_x = -2.4""",
    explained="At this x the gradient's bar is empty. The value there is 3.",
    why="You found the minimum of a bowl that you never saw, by its gradient alone.",
    mistakes=[
        (3, "That is the value at the lowest point. The question asks for x."),
        (
            0,
            f"At x = 0 the gradient is {number(float(grad(hidden)(0.0)), 3)}, not 0. At the lowest point the gradient is 0: which x does the "
            "slider show there?",
        ),
        _downhill_is,
    ],
)
def lowest(answer):
    tried, shown = "the x where the hidden curve is lowest", "the x at the lowest point"
    if np.ndim(answer):
        raise Wrong(tried, brief(answer), shown, "Give a single number, the value of x.")
    expect(answer, -2.4, tried=tried, shown=shown, atol=0.01, hints=lowest.mistakes)


TENTH = 0.1  # a name, since Python warns about 0.1(gradient)


def _next(x, gradient):
    return x - 0.1 * gradient


def _bowl(x):
    return (x - 3) ** 2 + 5


def _until_flat(x, gradient):
    """Return where steps downhill end on the hidden curve: a mistake, because one step was asked."""
    while abs(gradient) > 1e-3:
        x = x - 0.1 * gradient
        gradient = grad(hidden)(float(x))
    return x


@exercise(
    "00.downhill",
    minutes=5,
    difficulty="medium",
    importance=3,
    question="""
        A computer can do this too. Write `downhill(x, gradient)`, which returns the *next* x: a tenth of the gradient away from
        the old x, on the downhill side. For example, from x = 2 with a gradient of 4 you get to 1.6.""",
    stub="""
        def downhill(x, gradient):
            ...""",
    hints=[
        "If the gradient is positive, uphill is to the right. Which way do you change x?",
        "One line is enough, and it needs no `if`, because the sign of the gradient gives the direction.",
    ],
    solution="""
        def downhill(x, gradient):
            return x - 0.1 * gradient""",
    explained="The minus sign turns uphill into downhill.",
    why="Minus the gradient points downhill, on either side of the minimum. Training a network repeats a step like this for "
    "each of its numbers.",
    mistakes=[
        (
            lambda x, gradient: x - 0.1 * abs(gradient),
            "You always go left. With a negative gradient, downhill is to the right.",
        ),
        (
            lambda x, gradient: x + 0.1 * gradient,
            "You went uphill: if the gradient is positive, uphill is to the right.",
        ),
        (
            lambda x, gradient: -0.1 * gradient,
            "That is the step. Return the position after the step: start from x.",
        ),
        (
            lambda x, gradient: 0.1 * gradient,
            "That is a tenth of the gradient. Return the position after the step: start from x.",
        ),
        (
            lambda x, gradient: x - gradient,
            "You go the right way, but ten times too far: a step is a tenth of the gradient.",
        ),
        (
            lambda x, gradient: x - 0.1 * x * gradient,
            "The step depends on the gradient alone, not on x.",
        ),
        (lambda x, gradient: x - 0.1 * x, "The step is a tenth of the gradient, not of x."),
        (
            lambda x, gradient: x - 0.2 * (x - 3),
            "You computed the gradient of f. Your function must work for any gradient: use the parameter.",
        ),
        (
            lambda x, gradient: x - 0.1 / gradient,
            "You divide by the gradient. Multiply by it: where it is steep, the step is long.",
        ),
        (
            lambda x, gradient: x - 0.1 * (x + gradient),
            "The step is a tenth of the gradient; it does not depend on x.",
        ),
        (
            lambda x, gradient: max(0, x - 0.1 * gradient),
            "The next x may be negative: do not stop it at 0.",
        ),
        (
            lambda x, gradient: x - 0.1,
            "The step is a tenth of the gradient, not 0.1: it grows with the gradient.",
        ),
        *(
            (wrong, "The step is a tenth of the gradient, not 0.1: it grows with the gradient.")
            for wrong in (
                lambda x, gradient: x - 0.1 * np.sign(gradient),
                lambda x, gradient: x - (0.1 if gradient > 0 else -0.1),
                lambda x, gradient: x - (0.1 if gradient >= 0 else -0.1),
            )
        ),
        (
            lambda x, gradient: x - 0.4,
            "Your step ignores the gradient: 0.4 is a tenth of 4, so it is right only if the gradient is 4.",
        ),
        (
            lambda x, gradient: 1.6,
            "Your answer ignores both x and the gradient: 1.6 was one example.",
        ),
        (
            lambda x, gradient: x - 0.1 * max(gradient, 0),
            "You go left, or not at all. If the gradient is negative, downhill is to the right.",
        ),
        (lambda x, gradient: x, "You did not move."),
        (
            lambda x, gradient: round(x - 0.1 * gradient, 1),
            "You round the next x. Do not round it, because the last steps are small.",
        ),
        (
            lambda x, gradient: x - 0.1 * max(-5.0, min(5.0, gradient)),
            "You limit the gradient. Take a tenth of any gradient, however steep.",
        ),
        (
            lambda x, gradient: abs(x - 0.1 * gradient),
            "The next x may be negative: do not stop it at 0.",
        ),
        (
            lambda x, gradient: x - 0.1 * int(gradient),
            "You truncate the gradient to a whole number.",
        ),
        (lambda x, gradient: int(x - 0.1 * gradient), "You truncate the next x to a whole number."),
        (
            lambda x, gradient: 0.1 * (x - gradient),
            "You also take a tenth of x, as 0.1 * (x − gradient) does. Subtract a tenth of the gradient from the whole x.",
        ),
        (
            lambda x, gradient: x - 0.01 * gradient,
            "You go the right way, but your step is ten times too short: take a tenth of the gradient.",
        ),
        off_by(
            1,
            _next,
            "Your x is too large by 1: start from x, and subtract a tenth of the gradient.",
        ),
        printed(_next),
        (
            lambda x, gradient: x - TENTH(gradient),
            "Python reads 0.1(gradient) as a call of a function named 0.1. Write the multiplication sign: 0.1 * gradient.",
        ),
        (
            lambda x, gradient: x - 0.1 * gradient / abs(gradient),
            "The step is a tenth of the gradient, not 0.1: it grows with the gradient.",
        ),
        (
            lambda x, gradient: gradient - 0.1,
            "Start from x, and subtract a tenth of the gradient.",
        ),
        *(
            (
                wrong,
                "You computed the gradient of one curve. Your function must work for any gradient: use the parameter.",
            )
            for wrong in (
                lambda x, gradient: x - 0.1 * grad(hidden)(x),
                lambda x, gradient: x - 0.1 * grad(hidden)(float(x)),
                lambda x, gradient: x - 0.1 * grad(_bowl)(x),
            )
        ),
        (
            _until_flat,
            "You walk all the way to a flat point. Take one step only, with the gradient that you are given.",
        ),
        (
            lambda x, gradient: gradient - 0.1 * x,
            "Your parameters are in the wrong order: x comes first, downhill(x, gradient).",
        ),
    ],
)
def downhill(answer):
    expect_over(
        answer,
        _next,
        lambda d: (x := d(), d.choice(d.g(), d.g(), x, 0.0)),
        apart=True,
        first=[(2.0, 4.0), (-1.0, -3.0), (3, 2)],
        hints=downhill.mistakes,
    )


COMBINE = (
    "Row u of the result is one number times the mean scan, so every number is combined with every dot: use np.outer, or give "
    "the sums an axis for the dots with [:, None]."
)


ONE_MEAN = "X.mean() is one number, the mean of all dots. The mean scan has one number for each dot: use axis=0."
ONE_SUM = "delta.sum() adds up over the units too. Each unit has a sum of its own: use axis=0."


def _common_part(delta, X):
    return np.outer(delta.sum(axis=0), X.mean(axis=0))


def _with_sizes_of_the_lesson(delta, X):
    common = np.zeros((32, 64))
    for u in range(32):
        common[u] = delta[:, u].sum() * X.mean(axis=0)
    return common


@exercise(
    "00.common_part",
    minutes=4,
    difficulty="optional",
    importance=1,
    question="""
        Write `common_part(delta, X)`, which returns the common parts of all units, as an array of the shape of W. Row n of X is
        scan n, row u of W holds the weights of unit u, and `delta[n, u]` is the factor of scan n for unit u.""",
    stub="""
        def common_part(delta, X):
            ...""",
    hints=[
        "Begin with one unit u: add up delta[n, u] times the mean scan, over all n. What can you take out of the sum?",
        "Row u is a number times the mean scan. The number is the sum of column u of delta. `np.outer(a, b)` multiplies each entry "
        "of a by each entry of b.",
    ],
    solution="""
        def common_part(delta, X):
            return np.outer(delta.sum(axis=0), X.mean(axis=0))""",
    explained="""The mean scan is the same in every term, so the factors of a unit add up. Their sum is the gradient of the
        biases b. The whole gradient is `delta.T @ X`, and the
        rest is `delta.T @ (X - X.mean(axis=0))`. [Lesson 09](09_multiply_matrices.ipynb) derives this product.""",
    why="The mean scan is the same in every term, so the common part of a unit is the sum of its factors times the mean scan. If the factors "
    "of a unit cancel, its common part is small; if they do not, it can outweigh the rest.",
    mistakes=[
        (
            lambda delta, X: delta.T @ X,
            "That is the whole gradient of W: it multiplies each factor by its own scan. The common part multiplies all "
            "factors by the mean scan.",
        ),
        (
            lambda delta, X: delta.T @ X / len(X),
            "That is the whole gradient of W, divided by the number of scans. The common part multiplies all factors by the "
            "mean scan.",
        ),
        (
            lambda delta, X: delta.T @ (X - X.mean(axis=0)),
            "That is the rest. The common part is what the mean scan contributes.",
        ),
        (
            lambda delta, X: np.outer(X.mean(axis=0), delta.sum(axis=0)),
            "Your result has a column for each unit, but W has a row for each unit: swap the arguments of np.outer.",
        ),
        (
            lambda delta, X: np.outer(delta.mean(axis=0), X.mean(axis=0)),
            "You divide by the number of scans twice. Every scan contributes factor × mean scan, so the factors add up: only the "
            "mean scan contains this division.",
        ),
        (
            lambda delta, X: np.outer(delta.sum(axis=0), X.sum(axis=0)),
            "You add up the scans. The common part contains their mean.",
        ),
        (
            lambda delta, X: X.mean(axis=0),
            "That is the mean scan. For each unit, multiply it by the sum of the unit's factors.",
        ),
        (
            lambda delta, X: delta.sum(axis=0),
            "That is one number for each unit, the gradient of the bias. Multiply each by the mean scan.",
        ),
        (
            lambda delta, X: delta * X.mean(axis=0),
            COMBINE,
        ),
        (
            lambda delta, X: delta.sum(axis=0) * X.mean(axis=0),
            COMBINE,
        ),
        (
            lambda delta, X: delta.T @ X.mean(axis=0),
            COMBINE,
        ),
        (
            lambda delta, X: delta.sum(axis=0) @ X.mean(axis=0),
            COMBINE,
        ),
        (
            lambda delta, X: np.dot(delta.sum(axis=0), X.mean(axis=0)),
            COMBINE,
        ),
        (
            lambda delta, X: delta.sum(axis=0).T @ X.mean(axis=0),
            COMBINE,
        ),
        (
            lambda delta, X: np.outer(delta.sum(axis=1), X.mean(axis=1)),
            "axis=1 adds up over the units, and averages over the dots. The scans are the first axis of both: axis=0.",
        ),
        (
            lambda delta, X: np.outer(delta.sum(axis=0), X.mean(axis=1)),
            "X.mean(axis=1) is a mean over the dots of each scan. The mean scan is a mean over the scans: axis=0.",
        ),
        (
            lambda delta, X: np.outer(delta.sum(axis=1), X.mean(axis=0)),
            "delta.sum(axis=1) adds up over the units. Add up over the scans: axis=0.",
        ),
        (
            lambda delta, X: delta.sum(axis=0)[:, None] * X.mean(),
            ONE_MEAN,
        ),
        (
            lambda delta, X: np.outer(delta.sum(axis=0), np.full(X.shape[1], X.mean())),
            ONE_MEAN,
        ),
        (
            lambda delta, X: delta.sum() * X.mean(axis=0),
            ONE_SUM,
        ),
        (
            lambda delta, X: np.outer(delta.sum(), X.mean(axis=0)),
            ONE_SUM,
        ),
        (
            lambda delta, X: X.mean(axis=0) * delta.sum(axis=0),
            COMBINE,
        ),
        (
            lambda delta, X: np.dot(delta.sum(axis=0)[:, None], X.mean(axis=0)),
            COMBINE,
        ),
        (
            lambda delta, X: np.outer(np.full(delta.shape[1], delta.sum()), X.mean(axis=0)),
            ONE_SUM,
        ),
        (
            lambda delta, X: np.outer(np.abs(delta).sum(axis=0), X.mean(axis=0)),
            "You use the size of each factor. A negative factor subtracts the mean scan.",
        ),
        (
            lambda delta, X: np.outer((delta * (delta > 0)).sum(axis=0), X.mean(axis=0)),
            "You apply relu to delta. A negative factor counts too, and delta already contains the slope of relu.",
        ),
        (
            lambda delta, X: np.abs(np.outer(delta.sum(axis=0), X.mean(axis=0))),
            "You take the size of the result. Its sign matters: a negative sum of factors makes a negative row.",
        ),
        (
            lambda delta, X: delta.sum(axis=0, keepdims=True) * X.mean(axis=0),
            "With keepdims=True the sums are a row, of shape (1, units). Make them a column with .T, so that each unit has a row.",
        ),
        (
            lambda delta, X: -np.outer(delta.sum(axis=0), X.mean(axis=0)),
            "That is the direction downhill. The gradient itself has no minus.",
        ),
        (
            lambda delta, X: np.outer(delta[0], X.mean(axis=0)),
            "That is the contribution of the first scan. Add up over all scans.",
        ),
        (
            lambda delta, X: np.outer(delta[-1], X.mean(axis=0)),
            "That is the contribution of the last scan. Does your loop add up, or overwrite?",
        ),
        (
            lambda delta, X: np.outer(delta.sum(axis=0), X[0]),
            "X[0] is the first scan. The common part contains the mean of all scans.",
        ),
        (
            _with_sizes_of_the_lesson,
            "Take the sizes from delta and X: your function must work for any number of scans, units and dots.",
        ),
        (
            lambda delta, X: delta[:, :, None] * X.mean(axis=0),
            "Your result has an axis for the scans: add up over it.",
        ),
    ],
)
def common_part(answer):
    if "W" in getattr(getattr(answer, "__code__", None), "co_names", ()):
        raise Wrong(
            "the variables that your function uses",
            "W",
            "only delta and X",
            "You use W. The gradient of the loss with respect to W, and both of its parts, need only delta and X.",
        )

    def build(d):
        scans, units, dots = d.size(), d.size(), d.size()
        return d.g(scans, units), d(scans, dots)

    expect_over(answer, _common_part, build, hints=common_part.mistakes)


SQUARED = 0.0637  # the sum of the squared gradients before training; the lesson computes it


FALLS = [
    (
        0.1 * SQUARED**0.5,
        "You took the square root. That is how far the step moves; the loss falls by the nudge times the gradient, so "
        "the gradients are squared.",
    ),
    (
        SQUARED**0.5,
        "That is the length of the gradient. The loss falls by c times the sum of the squared gradients.",
    ),
    (SQUARED, "Multiply by c: the nudge of each number is only a tenth of its gradient."),
    (
        0.01 * SQUARED,
        "You used c twice. The loss changes by gradient × nudge, and only the nudge contains c.",
    ),
    (
        -0.1 * SQUARED,
        "That is the change of the loss. The question asks by how much it falls: a positive number.",
    ),
    (
        0.1 * SQUARED * 2410,
        "0.0637 is already the sum over all 2,410 numbers.",
    ),
    (
        0.1 * SQUARED / 2410,
        "That is the mean for one number. The changes of all numbers add up.",
    ),
    (0.05 * SQUARED, "There is no factor ½: the change is gradient × nudge."),
    (0.2 * SQUARED, "There is no factor 2: the change is gradient × nudge."),
    (
        0.1 * SQUARED**2,
        "You squared 0.0637. It is already the sum of the squared gradients.",
    ),
    (
        -SQUARED,
        "Multiply by c, because the nudge of each number is only a tenth of its gradient. And a fall is a positive number.",
    ),
    (
        -0.1 * SQUARED**0.5,
        "You took the square root, and the question asks by how much the loss falls: a positive number.",
    ),
    (
        10 * SQUARED,
        "That is 10 · 0.0637. Multiply by c = 0.1; do not divide by it.",
    ),
    (2.34, "That is the loss after the step. By how much does it fall?"),
    *(
        (
            measured,
            "You measured on the trained model. The question is about the model before training.",
        )
        for measured in (0.00132, 0.00144)
    ),
    *(
        (
            measured,
            "You called backward() on a model that still has the gradients of its last batch, and the new ones were added to "
            "them. Call zero_grad() first, or build a new model.",
        )
        for measured in (0.00244, 0.00872, 0.00592)
    ),
    (0.0036, "You measured on the centred scans. The question is about the scans as they are."),
    (0.1, "That is c. Multiply it by the sum of the squared gradients."),
    (
        0.01,
        "That is the square of c. The change is gradient × nudge, and only the nudge contains c.",
    ),
    (10, "Your answers are in the wrong order: fall comes first."),
    *(
        (actual, f"That is the fall for c = {c}. The question asks for c = 0.1.")
        for c, actual in [(1, 0.057), (3, 0.130), (10, 0.216)]
    ),
    (3 * SQUARED, "That is the promise for c = 3. The question asks for c = 0.1."),
]
CHOICES = 0.1, 1, 3, 10, 30


def _near(wrong, hint):
    """Return a recogniser of numbers within 4 % of `wrong`, as rounded answers are."""
    return lambda got, expected: (
        hint if np.ndim(got) == 0 and np.isclose(got, wrong, rtol=0.04, atol=0) else None
    )


@exercise(
    "00.fall",
    minutes=3,
    difficulty="optional",
    importance=1,
    question="""
        Before training, one step moves all 2,410 numbers by −c times their gradients
        for the loss on all training digits. The squared gradients add up to 0.0637. By about how much does the loss `fall` if c
        is 0.1? And for which of c = 0.1, 1, 3, 10 and 30 does the loss first fall by less than half of what the linear
        approximation promises? Guess it or measure it.""",
    stub="""
        fall = ...
        smallest_c = ...""",
    hints=[
        "One number changes the loss by about gradient × nudge. What is the nudge here? Then add up over all numbers.",
        """To measure, build a new `fresh = nn.MLP([64, 32, 10], rng=0)` for each c (`model` is still needed), and compute its loss and its gradients on train_x and train_y. Then
        `optim.SGD(fresh.parameters(), lr=c).step()` takes the step. Compute the loss again.""",
    ],
    solution="""
        fall = 0.1 * 0.0637
        smallest_c = 10""",
    explained="""Each number changes the loss by gradient × (−c · gradient), so the loss falls by about c times the sum of the squared
        gradients: by 0.0064 for c = 0.1. It actually falls by 0.0063. For c = 1, 3 and 10 it falls by 0.057, 0.130 and 0.216, where
        0.064, 0.191 and 0.637 were promised. For c = 30 it rises, from 2.34 to 2.75.""",
    why="The linear approximation holds only nearby, so a step 300 times as long does not take you 300 times as far down.",
)
def fall(answer):
    falls, smallest = answer
    promised = 0.1 * SQUARED
    also = "right" if np.ndim(smallest) == 0 and smallest == 10 else "not right either"
    expect(
        falls,
        promised,
        tried=f"fall, for c = 0.1 (smallest_c is {also})",
        shown="what the linear approximation promises",
        rtol=0.07,
        hints=[_near(*mistake) for mistake in FALLS],
    )
    expect(
        smallest,
        10,
        tried="smallest_c",
        shown="the smallest c for which less than half of the promise is kept",
        rtol=0.01,
        hints=[
            (
                30,
                "With 30 the loss even rises: a step 300 times as long does not take you 300 times as far down. But the promise is "
                "broken earlier.",
            ),
            (3, "With 3 the loss falls by 0.130 of the promised 0.191, which is more than half."),
            (1, "With 1 the loss falls by 0.057 of the promised 0.064, which is more than half."),
            (0.1, "With 0.1 the step is short, and nearly the whole promise is kept."),
            lambda got, expected: (
                "Choose one of 0.1, 1, 3, 10 and 30."
                if np.ndim(got) == 0 and not np.any(np.isclose(got, CHOICES))
                else None
            ),
        ],
    )
