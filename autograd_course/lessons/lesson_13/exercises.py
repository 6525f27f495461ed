"""Ask the questions of lesson 13: a rule of two terms, the gradient of a shared weight, and gradient clipping."""

from functools import wraps

import numpy as np

import autograd_lib

from ...grading import NotYet, brief, edit, exercise, expect, expect_over, has_blank, is_stub
from ...grading.mistakes import printed, sign_lost
from ...quiz.texts import Question, card, prediction, recall

recall(
    "13",
    [
        Question(
            "A classifier is right on 100 % of its training scans, and on 60 % of the held-out scans. Which number predicts how "
            "well it will do on new scans? (Lesson 12)",
            "60 %",
            "**60 %**. The other number only tells you how well it does on scans that it was trained on.",
            ["100 %", "80 %", "60 %"],
        ),
        Question(
            "You use Adam with lr = 0.01. The first gradient of a weight is 250. How far does the weight move in this first step? (11)",
            0.01,
            "**0.01**: Adam divides a gradient by its usual size, and at the first step this is the size of the gradient itself.",
        ),
        Question(
            "z = tanh(x) is 0.8, and its upstream gradient is g = 10. What is the gradient of x? (04)",
            3.6,
            "g · (1 − z²) = 10 · 0.36 = **3.6**. The rule needs only the output.",
        ),
    ],
)

prediction(
    "13.two",
    question="""A wave like $\\sin x \\cdot \\cos x$ is sampled at equal intervals of known length, and you know its formula. But
        you do not know the position x: you only see the latest values. How many of them do you need to compute the next one exactly?""",
    answer="two",
    choices=["one", "two", "about half a period", "a whole period"],
    reveal="""**Two.** One value is not enough, because at the same height the wave may be rising or falling. The two latest values tell
        you which, and they determine the next value. The derivation below turns this into a formula.""",
)

prediction(
    "13.uses",
    question="""A state starts at 1 and is multiplied by the same weight $w = 2$ three times. This gives 2, then 4, then
        $L = 8$. What is the gradient of $w$?""",
    answer=12,
    reveal="""**12.** w is used three times. If you nudge w, each of the three uses changes, and each contributes 4. The
        sum is the derivative of $w^3$, which is $3 w^2$. If you answered 4, you counted only one use.""",
)

prediction(
    "13.fifty",
    question="""Each step rotates a point a little around 0 and multiplies its distance from 0 by ρ (rho). There
        are fifty steps. The gradient of the last point has length 1. The backward pass propagates this gradient to the first point. About how
        long is the gradient there, with ρ = 0.9? And with ρ = 1.1?""",
    answer={"ρ = 0.9": "0.005", "ρ = 1.1": "117"},
    choices={
        "ρ = 0.9": ["0.9", "0.45", "0.1", "0.005", "0.0000005"],
        "ρ = 1.1": ["1.1", "5", "55", "117", "1,000,000"],
    },
    reveal="""$0.9^{50}$ is about **0.005**, and $1.1^{50}$ about **117**. Every step of the backward pass multiplies by ρ
        again. One gradient loses ten percent at each step, the other gains ten percent. After fifty steps the two differ by a
        factor of more than twenty thousand.""",
)

prediction(
    "13.cure",
    question="""ρ is trained for 120 steps of gradient descent with lr = 0.001. The loss is smallest at ρ = 1. A run from 1.1, where the
        gradient is huge, lands at −154 in its first step. A run from 0.8, where the gradient is tiny, hardly moves.
        Now the gradient is clipped, with c = 1. Which of the two runs converges to 1?""",
    answer="only from 1.1",
    choices=["from both", "only from 1.1", "only from 0.8", "from neither"],
    reveal="""**Only the run from 1.1.** Its gradient has the right sign and is only too long, so shortening it is
        enough. In the run from 0.8 the gradients are shorter than c. So nothing is clipped, and the run is the same to the last
        digit.""",
)

card(
    "13",
    [
        "A recurrent network passes a state on from step to step, with the same weights at each step.",
        "Backpropagation through time is the ordinary backward pass of the unrolled graph.",
        "If a weight is used n times, its gradient is the sum over the n uses.",
        "If every step multiplies lengths by ρ, n steps multiply the length of a gradient by ρⁿ. For ρ below 1 it vanishes, above 1 it explodes.",
        "Gradient clipping by one norm over all weights keeps the direction. It does not help against vanishing gradients.",
        "Compare a network with a baseline: y[n+1] = 2cos(0.2)·y[n] − y[n−1] is exact, without any training.",
    ],
)

# --- 13.rule --------------------------------------------------------------------------------------------------------------


def _two(angle):
    return 2 * np.cos(angle), -1


@exercise(
    "13.rule",
    minutes=3,
    difficulty="optional",
    importance=1,
    question="""
        Take another wave, $\\sin 3x$, sampled at x = 0, 0.2, 0.4, … Here, too, the next value is a multiple of the latest value plus a multiple of
        the value before. What are the two factors?""",
    stub="""
        of_the_latest = ...
        of_the_one_before = ...""",
    hints=[
        "By how much does the argument of the sine grow from one sample to the next?",
        "In the derivation, $b$ is this growth. For $\\sin 2x$ it was $2h$.",
        ("Help: I get 1.8", "That is 2cos(0.4), for a wave with 2x. Here x is multiplied by 3."),
    ],
    solution="""
        of_the_latest = 2 * np.cos(3 * 0.2)
        of_the_one_before = -1""",
    explained="From one sample to the next, $3x$ grows by 0.6. Everything else is as above; the height of the wave does "
    "not matter.",
    why="Every evenly sampled sine wave has a rule of two terms.",
    mistakes=[
        (
            _two(0.4),
            "That is the factor of the lesson's wave, whose argument is 2x. Here it is 3x.",
        ),
        (
            _two(1.2),
            "The angle is doubled once too often: the 2 in 2h came from sin 2x. What is the argument of this sine?",
        ),
        (_two(0.2), "From one sample to the next x grows by 0.2. By how much does 3x grow?"),
        (_two(0.3), "That is for samples 0.1 apart. Here they are 0.2 apart."),
        (
            _two(3),
            "3x grows by 3 when x grows by 1. But from one sample to the next x grows only by 0.2.",
        ),
        (_two(np.radians(0.6)), "Did you use degrees? np.cos takes radians."),
        (
            (3 * np.cos(0.6), -1),
            "The 2 in front stays: it comes from adding the two lines, not from sin 2x.",
        ),
        (
            (6 * np.cos(0.6), -1),
            "The 3 belongs only inside the cosine, because it determines how far the angle grows.",
        ),
        (
            (np.cos(0.6), -1),
            "The 2 in front is missing: the derivation adds two neighbours.",
        ),
        ((np.cos(1.2), -1), "The 2 belongs in front of the cosine, not inside it."),
        (
            (2 * np.sin(0.6), -1),
            "Which of the two, sin b or cos b, stayed when the two lines were added?",
        ),
        (
            (2 * np.cos(0.6), 1),
            "The second factor has the wrong sign: the value before moved to the other side of the equation.",
        ),
        ((-1, 2 * np.cos(0.6)), "The factors are right, but in the wrong order."),
        (sign_lost(_two(0.6))),
    ],
)
def rule(answer):
    expect(
        answer,
        _two(0.6),
        tried="the two factors of sin 3x, sampled every 0.2",
        shown="the factor of the latest value, then that of the one before",
        hints=rule.mistakes,
        rtol=1e-4,
    )


# --- 13.uses --------------------------------------------------------------------------------------------------------------

# The three blanks, filled.
NO_ABS = "g and w keep their signs: do not use abs."
_TANH, _ADD, _ON = "g = g * (1 - states[k] ** 2)", "total = total + g * states[k - 1]", "g = g * w"


def _uses(w, states, g):
    total = 0.0
    for k in range(len(states) - 1, 0, -1):
        g = g * (1 - states[k] ** 2)
        total = total + g * states[k - 1]
        g = g * w
    return total


def _states(w, start, steps):
    states = [start]
    for _ in range(steps):
        states.append(np.tanh(w * states[-1]))
    return states


@exercise(
    "13.uses",
    minutes=7,
    difficulty="medium",
    importance=3,
    question="""
        Now each step also has a tanh: $s_k = \\tanh(w \\cdot s_{k-1})$. `states` is the list $s_0, s_1, \\ldots, s_n$,
        and g is the gradient of the last one. Fill in the three blanks, so that the function returns the gradient of w. (The loop
        runs backwards: k goes from n down to 1. In each pass, g is first the gradient of $s_k$, then of the product, and then of
        $s_{k-1}$.)""",
    stub="""
        def gradient_of_w(w, states, g):
            total = 0.0
            for k in range(len(states) - 1, 0, -1):
                g = ...          # gradient of the product: back through tanh
                total = ...      # add the contribution of this use of w
                g = ...          # gradient of states[k - 1]
            return total""",
    hints=[
        "The rule of tanh multiplies g by $1 - z^2$, where z is the output (lesson 04). "
        "Which of the states is z?",
        "The product is $w \\cdot s_{k-1}$, and multiply swaps: the gradient of each factor is g times the other factor.",
        (
            "Help: my result is always too small",
            "`total = g * …` discards the contributions of the other uses. Add the gradients of all uses.",
        ),
    ],
    solution="""
        def gradient_of_w(w, states, g):
            total = 0.0
            for k in range(len(states) - 1, 0, -1):
                g = g * (1 - states[k] ** 2)
                total = total + g * states[k - 1]
                g = g * w
            return total""",
    explained="Three rules from lessons 03 and 04, in a loop: this is backpropagation through time.",
    why="This is the whole of backpropagation through time. The engine does the same with its ordinary backward pass.",
    mistakes=[
        edit(
            _ADD,
            "total = total + abs(g * states[k - 1])",
            "The contribution of a use may be negative. Keep its sign: do not use abs.",
        ),
        edit(
            _ADD,
            "total = total + g * abs(states[k - 1])",
            "A state may be negative. Keep its sign: do not use abs.",
        ),
        edit(_ON, "g = g * abs(w)", NO_ABS),
        edit(_TANH, "g = abs(g) * (1 - states[k] ** 2)", NO_ABS),
        edit(
            "len(states) - 1, 0,",
            "len(states) - 1, len(states) - 2,",
            "That is only the last use. w is used at every step: add the contributions of the other uses.",
        ),
        (
            lambda w, states, g: (len(states) - 1) * _uses(w, states[-2:], g),
            "That is the last use, times the number of steps. Each use has its own contribution: go back state by state.",
        ),
        edit(
            _ADD,
            "total = g * states[k - 1]",
            "Only one use is left, because `total = …` overwrites the others. Add the gradients of all uses.",
        ),
        edit(_TANH, "", "The derivative of tanh is missing: 1 − z², with its output z."),
        edit(
            _ON,
            "",
            "To get the gradient of the state before, go back through the product: what is the other factor?",
        ),
        edit(
            "states[k - 1]",
            "states[k]",
            "The product was w · states[k − 1]. So which state is the other factor?",
        ),
        edit(
            _TANH,
            _ADD,
            _ADD,
            _TANH,
            "You add the contribution to w before you use tanh's rule. First go back through tanh, then to the two factors.",
        ),
        edit(
            "states[k] ** 2",
            "states[k - 1] ** 2",
            "The derivative of tanh is 1 − z², with its *output* z. Which state is the output of step k?",
        ),
        edit(
            "states[k] **",
            "(w * states[k - 1]) **",
            "w · states[k − 1] is the input of tanh. Its derivative is 1 − z², with its *output* z, which is states[k].",
        ),
        edit(
            "states[k] **",
            "w **",
            "The derivative of tanh is 1 − z², with its output z. Here you square the weight w instead.",
        ),
        edit(
            "(1 - states[k]",
            "(1 + states[k]",
            "There is a sign error in the derivative of tanh: it is 1 − z².",
        ),
        edit(
            "states[k] **",
            "np.tanh(states[k]) **",
            "states[k] is already the output of tanh: do not apply tanh again.",
        ),
        edit(
            " ** 2",
            "",
            "The derivative of tanh is 1 − z², with its output z: the square is missing.",
        ),
        edit(
            "(1 - states[k] ** 2)",
            "np.tanh(states[k])",
            "The rule of tanh multiplies g by 1 − z², where z is the output of tanh.",
        ),
        edit(
            "(1 - states[k] ** 2)",
            "states[k] ** 2",
            "That is z². The derivative of tanh is 1 − z².",
        ),
        edit(
            "total + g",
            "total * g",
            "The result is always 0. Add the contribution of each use to total: "
            "multiplied by 0, it is lost.",
        ),
        edit(
            _ADD,
            "total = total + g",
            "You add g alone. The contribution of each use is g times the other factor of the product, which is a state.",
        ),
        edit(
            _ADD,
            "total = total + w * states[k - 1]",
            "You add the product itself. The contribution of each use is g times the state; w is not a factor of it.",
        ),
        edit(
            _TANH,
            "g = (1 - states[k] ** 2) * w",
            "The first line overwrites g, so the upstream gradient is lost: it is g times 1 − z². "
            "The factor w belongs in the line for states[k - 1].",
        ),
        edit(
            _ON,
            "g = g * w * states[k - 1]",
            "The gradient of a factor is g times the *other* factor only: for states[k - 1] that is w.",
        ),
        edit("1, 0, -1", "1, 1, -1", "The first step is missing: the loop must reach k = 1."),
        edit(
            "g * states[k - 1]",
            "g * w",
            "The gradient of w from this use is g times the *other* factor of the product, which is a state.",
        ),
        edit(
            "g * states[k - 1]",
            "g * w",
            _ON,
            "g = g * states[k - 1]",
            "The two factors are swapped: the gradient of w is g times the state, and the gradient of the state is g times w.",
        ),
        edit(
            _ON,
            "g = g * states[k - 1]",
            "The gradient of the state before is g times the *other* factor of the product, which is w.",
        ),
        edit(
            "g * (1 -",
            "g / (1 -",
            "You divide g by the derivative of tanh. Multiply instead.",
        ),
        edit(
            "g * (1 -",
            "(1 -",
            _ON,
            "",
            "The upstream gradient is lost: multiply g at each operation, and pass it on.",
        ),
        edit(
            "total + g * states",
            "total + states",
            "That adds only the states: the contribution of each use is g times its state.",
        ),
        edit(
            "(1 - states[k] ** 2)",
            "(1 - states[k]) ** 2",
            "Square only the state: 1 − states[k] ** 2, without parentheses.",
        ),
        edit(
            "(1 - states[k] ** 2)",
            "1 - states[k] ** 2",
            "Parentheses are missing: in g * (1 - states[k] ** 2), g multiplies both the 1 and the square.",
        ),
        edit(_ON, "g = g + w", "You add g and w. The rule of a product multiplies."),
        edit(_ON, "g = g / w", "You divide g by w. The rule of a product multiplies."),
        edit(
            _TANH,
            "g = g * (1 - states[-1] ** 2)",
            "Each step has its own derivative of tanh: use states[k], not always the last state.",
        ),
        edit(
            _ON,
            "g = total * w",
            "total is the gradient of w so far. The gradient of the state before is g times w.",
        ),
        edit(
            _ON,
            "g = total",
            "total is the gradient of w so far. The gradient of the state before is g times w.",
        ),
        edit(
            _ON,
            "g = g * states[k]",
            "The gradient of the state before is g times the *other* factor, w; states[k] is the result of the step.",
        ),
        edit(
            _TANH,
            "g = np.tanh(g)",
            "The backward pass does not apply tanh to g. The rule of tanh multiplies g by 1 − z², with its output z.",
        ),
        edit(
            "1 - states[k] ** 2",
            "1 - g ** 2",
            "The derivative of tanh is 1 − z², with its output z, a state. Here you square g instead.",
        ),
        edit(
            _ON,
            "g = w",
            "The gradient of the state before is g times w. Here the upstream gradient is lost.",
        ),
        edit(
            "g * (1 - states[k] ** 2)",
            "g * (1 - states[k] ** 2) * w",
            "The factor w occurs twice. The first line gives the gradient of the product; w belongs in the line for states[k - 1].",
        ),
        edit(
            _ON,
            "g = g * w * (1 - states[k] ** 2)",
            "The derivative of tanh occurs twice: the first line already contains it. Only the product is left.",
        ),
        edit(
            _ON,
            "g = g * w * (1 - states[k - 1] ** 2)",
            "The derivative of tanh occurs twice: the next pass begins with it. Here only the product is left, so g times w.",
        ),
        edit(
            "states[k] **",
            "np.tanh(w * states[k]) **",
            "np.tanh(w * states[k]) goes one step too far. The derivative of tanh is 1 − z², and z is states[k].",
        ),
        edit(
            "states[k] ** 2",
            "np.tanh(w * states[k])",
            "np.tanh(w * states[k]) goes one step too far. The derivative of tanh is 1 − z², and z is states[k].",
        ),
        edit(
            "(1 - states[k] ** 2)",
            "np.tanh(w * states[k])",
            "The rule of tanh multiplies g by 1 − z², where z is the output of tanh, states[k].",
        ),
        *[
            edit(
                _ADD,
                f"total = total + k * {what}",
                "You multiply by k, but each pass is for one use of w: its contribution is g times the state.",
            )
            for what in ("g * states[k - 1]", "g")
        ],
        *[
            edit(
                line,
                line.replace("g * ", "k * g * "),
                "You multiply by k, but no rule here has the number of the step as a factor. Leave k out.",
            )
            for line in (_TANH, _ON)
        ],
        edit(
            _ON,
            "g = states[k - 1]",
            "That is the state, not its gradient. The gradient of the state before is g times the other factor, w.",
        ),
        *[
            edit(
                "(1 - states[k] ** 2)",
                f"{s} * (1 - {s})",
                "s · (1 − s) is the derivative of the sigmoid. The derivative of tanh is 1 − z², with its output z.",
            )
            for s in ("states[k]", "states[k - 1]", "1 / (1 + np.exp(-w * states[k - 1]))")
        ],
        edit(
            _TANH,
            "g = g ** 2",
            "You square g. The rule of tanh squares its output z, and multiplies g by 1 − z².",
        ),
        edit(
            _ADD,
            "total = total + g ** 2",
            "You square g. The contribution of each use is g times the other factor of the product, which is a state.",
        ),
        edit(
            _ON,
            "g = g ** 2",
            "You square g. The gradient of the state before is g times the other factor, w.",
        ),
        edit(
            "return total",
            "return w * total",
            "There is one factor w too many. The gradient of w is g times the state; the factor w is for the state before.",
        ),
        edit(
            "(1 - states[k] ** 2)",
            "(1 - states[0] ** 2)",
            "Each step has its own derivative of tanh: use states[k], not always the first state.",
        ),
        edit(
            "states[k - 1]",
            "states[0]",
            "Each step has its own input state: states[k - 1], not always the first.",
        ),
        edit(
            "return total",
            "return g",
            "That is the gradient of the first state. The gradient of w is in total.",
        ),
        edit(
            "return total",
            "return total + g",
            "You add the gradient of the first state. The gradient of w is the sum over its uses, and no more.",
        ),
        edit(
            "total = 0.0",
            "total, g = 0.0, 1.0",
            "g is the gradient of the last state: start from g, not from 1.",
        ),
        edit(
            "total = 0.0",
            "total = 0.0; g = g * (1 - states[-1] ** 2)",
            _TANH,
            "pass",
            "You use tanh's rule only once. There is a tanh in every step, so the line belongs inside the loop.",
        ),
        edit(
            _TANH,
            "at_product = g * (1 - states[k] ** 2)",
            "g * states[k - 1]",
            "at_product * states[k - 1]",
            "The gradient of the state before also needs the derivative of tanh: continue with the g that went through tanh.",
        ),
        edit(
            _TANH,
            "at_product = g * (1 - states[k] ** 2)",
            "g * states[k - 1]",
            "at_product * states[k - 1]",
            _ON,
            "",
            "You use the same g at every step. For the state before, g must go back through tanh and the product.",
        ),
        edit(
            "g * states[k - 1]",
            "g * states[k - 1] / w",
            "There is a division by w. The gradient of w is g times the other factor, which is just the state.",
        ),
        edit(
            "return total",
            "return total / (len(states) - 1)",
            "That is a mean over the uses. Add the gradients of the uses, without dividing.",
        ),
        sign_lost(_uses),
        printed(_uses),
        edit(
            "1 - states[k] ** 2",
            "states[k]",
            "states[k] is the output of tanh. Its derivative is 1 − output².",
        ),
        edit(
            "states[k] **",
            "np.tanh(states[k - 1]) **",
            "The input of tanh in step k is w · states[k − 1], not just the state. Its output is available: states[k].",
        ),
    ],
)
def uses(answer):
    if has_blank(answer):
        raise NotYet

    def build(d):
        w = d.choice(1.2, -1.4, 0.9, 0.0, d(), d())
        return w, _states(w, np.tanh(d()), d.size(1, 12)), d.g()

    examples = [
        (w, _states(w, start, n), g)
        for w, start, n, g in [
            (1.2, 0.5, 3, 2.0),
            (1.2, 0.5, 3, 2e9),
            (-1.4, -0.6, 5, 0.7),
            (1.0, 0.5, 130, 1.0),
            (0.0, 0.5, 1, 3.0),
        ]
    ]
    expect_over(
        answer,
        _uses,
        build,
        first=examples,
        hints=uses.mistakes,
        tried=lambda w, states, g: (
            f"gradient_of_w for n = {len(states) - 1}, w = {brief(w)}, s₀ = {brief(states[0])} and g = {brief(g)}"
        ),
    )


# --- 13.truncated ---------------------------------------------------------------------------------------------------------

_CUT = "if k == steps - keep:\n            s = s.detach()"
_TOO_MANY = (
    "Gradients flow back through one step too many. How many steps are left when k is steps − keep?"
)
_NO_GRAPH = (
    "The result has no graph, so no gradient gets to w at all. Return the Tensor s, and cut before the last `keep` "
    "steps, not after them."
)
_EACH = (
    "Only the last use of w counts, because you cut before the last step too. Cut once, before the first of the "
    "last `keep` steps."
)


def _truncated(w, s, steps, keep):
    for k in range(steps):
        if k == steps - keep:
            s = s.detach()
        s = autograd_lib.tanh(w * s)
    return s


def _with_gradient(run):
    """Return a function of numbers that returns the last state of `run`, and the gradient of w."""

    @wraps(run)
    def measured(w, s, steps, keep):
        w = autograd_lib.Tensor(w, requires_grad=True)
        last = run(w, autograd_lib.Tensor(s), steps, keep)
        if last is None:
            return None
        if isinstance(last, autograd_lib.Tensor) and last.requires_grad:
            last.backward()
        return (
            float(last.item() if isinstance(last, autograd_lib.Tensor) else last),
            0.0 if w.grad is None else float(w.grad),
        )

    return measured


@exercise(
    "13.truncated",
    minutes=6,
    difficulty="optional",
    importance=1,
    question="""
        w and s are Tensors. The function applies $s \\leftarrow \\tanh(w \\cdot s)$ `steps` times and returns the last state. Fill in the two
        blanks, so that gradients flow back only through the last `keep` steps (`keep` is at least 1 and at most `steps`). The value of the
        state must not change.""",
    stub="""
        def truncated(w, s, steps, keep):
            for k in range(steps):
                if k == ...:         # the first of the last `keep` steps
                    s = ...          # the same state, cut off from the graph
                s = ag.tanh(w * s)
            return s""",
    hints=[
        "`s.detach()` returns a new Tensor with the same value, which is not connected to the graph before it.",
        "Cut only once: before the first of the last `keep` steps. Which number k has this step, if the last step has "
        "the number steps − 1?",
    ],
    solution="""
        def truncated(w, s, steps, keep):
            for k in range(steps):
                if k == steps - keep:
                    s = s.detach()
                s = ag.tanh(w * s)
            return s""",
    explained="The steps from steps − keep to steps − 1 are the last `keep` steps. Training loops in PyTorch have the same "
    "line between two pieces of a long sequence.",
    why="The backward pass stops at the detached state, so its cost depends on `keep`, not on `steps`.",
    mistakes=[
        edit(
            _CUT,
            "s.detach()",
            "Nothing is cut. `s.detach()` returns a new Tensor and does not change s: assign it to s, before the right step.",
        ),
        edit("if k == steps - keep:", "if True:", _EACH),
        edit("k == steps - keep", "k >= steps - keep", _EACH),
        edit("k == steps - keep", "k == steps - keep - 1", _TOO_MANY),
        edit("k == steps - keep", "k < steps - keep", _TOO_MANY),
        edit(
            "k == steps - keep",
            "k == steps - keep + 1",
            "Gradients flow back through one step too few, and with keep = 1 nothing is cut. The last `keep` steps begin at "
            "k = steps − keep.",
        ),
        edit(
            _CUT,
            "",
            "tanh(w * s)",
            "tanh(w * s)\n        if k == steps - keep:\n            s = s.detach()",
            "You cut after the step, so this step is lost. Cut before it.",
        ),
        edit(
            "k == steps - keep",
            "k == keep",
            "You cut after the *first* `keep` steps. How many steps are left when k is steps − keep?",
        ),
        edit(
            "k == steps - keep",
            "k == keep - 1",
            "You count from the first step. The last `keep` steps begin at k = steps − keep.",
        ),
        edit(
            "k == steps - keep",
            "k % keep == 0",
            "You cut every `keep` steps. Then the last piece may be shorter than `keep`. Count back from the last step.",
        ),
        edit(
            "s = s.detach()",
            "w = w.detach()",
            "You detach the weight, so its *last* uses are lost. Detach the state: then the earlier uses are lost.",
        ),
        edit(
            "return s",
            "return s.detach()",
            _NO_GRAPH,
        ),
        edit(
            "return s",
            "return s.item()",
            _NO_GRAPH,
        ),
        edit(
            "s = s.detach()",
            "s = w.detach()",
            "You replace the state by the weight. Detach the state.",
        ),
        *[
            edit(
                "s = s.detach()",
                f"s = {changed}.detach()",
                "The value of the state changes. Detach the state as it is: the step itself is in the next line.",
            )
            for changed in ("ag.tanh(w * s)", "(w * s)", "ag.tanh(s)")
        ],
        edit(
            "s = s.detach()",
            "s = 0 * s",
            "You set the state to 0. detach keeps its value and removes only its graph.",
        ),
        edit(
            "s = s.detach()",
            "break",
            "The loop ends at the cut, so the last steps are missing. Detach the state and continue.",
        ),
        edit(
            "s = s.detach()",
            "continue",
            "You skip a step, so the value changes. Detach the state and continue with the step.",
        ),
    ],
)
def truncated(answer):
    if has_blank(answer):
        raise NotYet

    def build(d):
        steps = d.size(1, 12)
        return d.choice(1.2, -0.9, 0.7, d()), np.tanh(d()), steps, min(d.size(1, 6), steps)

    examples = [(1.2, 0.5, steps, keep) for steps, keep in [(5, 2), (5, 5), (7, 3), (4, 1), (1, 1)]]
    expect_over(
        _with_gradient(answer) if callable(answer) else answer,
        _with_gradient(_truncated),
        build,
        first=examples,
        hints=[(_with_gradient(wrong), hint) for wrong, hint in truncated.mistakes],
        tried=lambda w, s, steps, keep: (
            f"the last state and the gradient of w, for w = {brief(w)}, s₀ = {brief(s)}, {steps} steps and keep = {keep}"
        ),
    )


# --- 13.clip --------------------------------------------------------------------------------------------------------------

_ALL, _SHORT = (
    "sum(np.sum(g * g) for g in gradients)",
    "return [g * (max_norm / norm) for g in gradients]",
)
_NO_LENGTH = "All of these gradients are 0, and so is their norm. A norm of 0 is small enough, and you cannot divide by it."
_LONG_STAY = (
    "Long gradients stay as they are. Is a comparison upside down, or did you write max instead of min? The factor is the "
    "smaller of 1 and max_norm / norm."
)
_TO_ANY = "max_norm may be below 1. Then a norm between max_norm and 1 is too long as well."


def _clip(gradients, max_norm):
    norm = np.sqrt(sum(np.sum(g * g) for g in gradients))
    return [g * (max_norm / norm) for g in gradients] if norm > max_norm else gradients


UNCHANGED = "    if norm <= max_norm:\n        return gradients\n"


@exercise(
    "13.clip",
    minutes=6,
    difficulty="medium",
    importance=2,
    question="""
        Write `clip(gradients, max_norm)`. It takes the list of a model's gradients, which are arrays, and returns a list of the same
        length. If the **common** norm of the gradients is at most `max_norm`, return them unchanged. If it is larger, return
        gradients that are shortened to norm `max_norm` and keep their direction. Do not modify the caller's arrays.
        (You may divide by norm + 1e−6, as PyTorch does.)""",
    stub="""
        def clip(gradients, max_norm):
            ...""",
    hints=[
        "First compute one number, the norm over all arrays: square *all* entries of *all* arrays, add the squares, "
        "take the square root.",
        "`sum(np.sum(g * g) for g in gradients)` is the sum of all squares. Then multiply all arrays by the same factor. "
        "What factor turns `norm` into `max_norm`?",
        (
            "Help: why not np.clip?",
            """
            `np.clip` clips each entry separately. For example, clipped at 1, (3, 0.1) becomes (1, 0.1). Compared with the first entry, the
            second is now three times as large as before, so the step has a different direction.""",
        ),
    ],
    solution="""
        def clip(gradients, max_norm):
            norm = np.sqrt(sum(np.sum(g * g) for g in gradients))
            if norm <= max_norm:
                return gradients
            return [g * (max_norm / norm) for g in gradients]""",
    explained="All arrays share one norm and one factor. So the long vector of all gradients becomes shorter, and "
    "keeps its direction.",
    why="With one factor for all arrays, the long vector of all gradients becomes shorter and keeps its direction.",
    mistakes=[
        edit("norm <= max_norm", "0 < norm <= max_norm", _NO_LENGTH),
        edit(
            UNCHANGED,
            "",
            "max_norm / norm",
            "min(norm, max_norm) / norm",
            _NO_LENGTH,
        ),
        edit(
            UNCHANGED,
            "    norm = float(norm)\n",
            "(max_norm / norm)",
            "min(1, max_norm / norm)",
            _NO_LENGTH,
        ),
        *[
            edit(
                "norm <= max_norm",
                f"{size} <= max_norm",
                "The gradients changed, although their norm was at most max_norm. Do you compare its square, or a sum of norms?",
            )
            for size in ("norm ** 2", "sum(map(np.linalg.norm, gradients))")
        ],
        edit("norm <= max_norm", "norm <= max(1, max_norm)", _TO_ANY),
        edit(
            UNCHANGED,
            "    norm = max(norm, 1)\n",
            "(max_norm / norm)",
            "min(1, max_norm / norm)",
            _TO_ANY,
        ),
        *[
            edit(
                "norm <= max_norm",
                f"all({short} <= max_norm for g in gradients)",
                "Each array by itself is short enough, but together they are too long. Compare their common norm.",
            )
            for short in ("np.linalg.norm(g)", "np.abs(g).max()")
        ],
        (
            lambda gradients, c: [np.clip(g, -c, c) for g in gradients],
            "You clip each entry separately. Large entries shrink and small ones do not, so the direction changes.",
        ),
        (
            lambda gradients, c: [np.minimum(g, c) for g in gradients],
            "You clip each entry separately, and large negative entries not at all. Use the length of all arrays together.",
        ),
        (
            lambda gradients, c: [_clip([g], c)[0] for g in gradients],
            "You clip each array by its own norm, so some shrink more than others. Use one norm for all arrays together.",
        ),
        edit("(max_norm / norm)", "(1 / norm)", "The norm is now 1, but it must be max_norm."),
        edit(
            UNCHANGED,
            "",
            "(max_norm / norm)",
            "(1 / norm)",
            "The norm is now always 1. Shorten only gradients that are longer than max_norm.",
        ),
        edit(
            "(max_norm / norm)",
            "(norm / max_norm)",
            "The factor is upside down: gradients that are too long grow.",
        ),
        edit(
            UNCHANGED,
            "",
            "(max_norm / norm)",
            "min(1, norm / max_norm)",
            "The fraction is upside down: the factor is the smaller of 1 and max_norm / norm.",
        ),
        edit(
            UNCHANGED,
            "",
            "(max_norm / norm)",
            "(min(1, max_norm) / norm)",
            "The minimum is taken too early: first divide max_norm by norm, then take the smaller of this fraction and 1.",
        ),
        edit(
            UNCHANGED,
            "",
            "(max_norm / norm)",
            "max(1, max_norm / (norm + 1e-6))",
            _LONG_STAY,
        ),
        edit(
            UNCHANGED,
            "",
            "(max_norm / norm)",
            "(max_norm / (norm + 1e-6))",
            "These gradients were short enough, but you stretched them. Return gradients that are not too long unchanged.",
        ),
        edit(
            UNCHANGED,
            "",
            "(max_norm / norm)",
            "min(1, 1 / (norm + 1e-6))",
            "Long gradients now have norm 1, but it must be max_norm: the factor is max_norm / norm.",
        ),
        edit(
            "(max_norm / norm)",
            "max_norm",
            "You multiply by max_norm and do not divide by norm: the factor is max_norm / norm.",
        ),
        edit(
            UNCHANGED,
            "",
            "(max_norm / norm)",
            "min(norm, max_norm)",
            "The factor is a norm here. Divide it by norm: then it is at most 1.",
        ),
        *[
            edit(
                _SHORT,
                f"return [np.abs(g) * {factor} for g in gradients]",
                *dropped,
                "You drop the signs of the entries, so the direction changes. Do not use np.abs.",
            )
            for factor, *dropped in [
                ("(max_norm / norm)",),
                (
                    "min(1, max_norm / (norm + 1e-6))",
                    UNCHANGED,
                    "",
                ),
            ]
        ],
        edit(
            "g * (max_norm / norm)",
            "g - (norm - max_norm)",
            "Subtracting the same number from each entry changes the direction. Multiply all entries by one factor.",
        ),
        edit(
            UNCHANGED,
            "",
            f"np.sqrt({_ALL})",
            "np.sqrt(sum(np.sum(g) for g in gradients))",
            "(max_norm / norm)",
            "min(1, max_norm / (norm + 1e-6))",
            "You add the entries without squaring them. The norm is the root of the sum of squares.",
        ),
        edit(
            f"np.sqrt({_ALL})", _ALL, "The square root is missing: that is the square of the norm."
        ),
        edit(
            f"np.sqrt({_ALL})",
            "sum(np.sum(np.abs(g)) for g in gradients)",
            "You add absolute values. The norm is the root of the sum of squares.",
        ),
        edit(
            _ALL,
            "sum(np.sum(np.abs(g)) for g in gradients)",
            "There are absolute values under the root. Add squares: the norm is the root of the sum of squares.",
        ),
        *[
            edit(
                total,
                "sum(np.sum(g) for g in gradients)",
                "You add the entries without squaring them. The norm is the root of the sum of squares.",
            )
            for total in (_ALL, f"np.sqrt({_ALL})")
        ],
        edit(
            f"np.sqrt({_ALL})",
            "np.mean([np.sqrt(np.sum(g * g)) for g in gradients])",
            "That is the mean of the arrays' norms. Add the squares of all arrays, then take one root.",
        ),
        edit(
            _ALL,
            "np.mean([np.sum(g * g) for g in gradients])",
            "You take a mean over the arrays. The norm needs the sum over all of them.",
        ),
        edit(
            f"np.sqrt({_ALL})",
            "max(np.max(np.abs(g)) for g in gradients)",
            "That is the largest entry. The norm uses all entries.",
        ),
        edit(
            f"np.sqrt({_ALL})",
            "sum(np.sqrt(np.sum(g * g)) for g in gradients)",
            "You add the norms of the arrays. Add all squares, then take one root.",
        ),
        edit(
            f"np.sqrt({_ALL})",
            "max(np.sqrt(np.sum(g * g)) for g in gradients)",
            "That is the largest of the arrays' norms. Add the squares of all arrays, then take one root.",
        ),
        edit(
            _ALL,
            "np.mean(np.concatenate([g.ravel() for g in gradients]) ** 2)",
            "That is a mean of squares. The norm needs their sum.",
        ),
        edit(
            _ALL,
            "sum(np.mean(g * g) for g in gradients)",
            "That adds means of squares. The norm needs the sum of all squares.",
        ),
        edit(
            _ALL,
            "sum(np.sum(g) for g in gradients) ** 2",
            "You add the entries before you square them, so signs cancel. Square first.",
        ),
        edit(
            _ALL,
            "sum(np.sum(g) ** 2 for g in gradients)",
            "You add the entries before you square them, so signs cancel. Square first.",
        ),
        edit(
            "if norm <= max_norm:",
            "if False:",
            "These gradients were short enough, but you stretched them. Return gradients that are not too long unchanged.",
        ),
        edit(
            "norm <= max_norm",
            "norm >= max_norm",
            _LONG_STAY,
        ),
        edit(
            "(max_norm / norm)",
            "0",
            "You set gradients that are too long to 0. Keep their direction: only shorten them.",
        ),
        edit(
            "(max_norm / norm)",
            "(max_norm / (norm + 0.1))",
            "The norm is now a little too small: use the factor max_norm / norm.",
        ),
        edit(
            "(max_norm / norm)",
            "(max_norm / norm) ** 2",
            "You shorten twice: multiply by max_norm / norm once.",
        ),
        edit(
            _SHORT,
            "return gradients",
            "The gradients did not become shorter. Is a comparison or the factor upside down? "
            "Or does a loop only rebind a name? `g = g * …` does not change the list.",
        ),
        edit(
            _ALL,
            "np.sum(gradients ** 2)",
            "`gradients` is a list, which you cannot square: go through its arrays one by one.",
        ),
        edit(
            _SHORT,
            "return gradients * (max_norm / norm)",
            "You cannot multiply a list by a factor: multiply each of its arrays.",
        ),
        (
            lambda gradients, c: np.sqrt(sum(np.sum(g * g) for g in gradients)),
            "You return the norm, as clip_grad_norm_ does. Return the list here.",
        ),
        (
            lambda gradients, c: [g.grad for g in gradients],
            "The arrays *are* the gradients and have no .grad. (clip_grad_norm_ takes weights.)",
        ),
        *[
            (
                wrong,
                "clip_grad_norm_ takes weights and shortens their .grad. These arrays are the gradients: compute the norm and "
                "the factor yourself.",
            )
            for wrong in (
                lambda gradients, c: autograd_lib.nn.utils.clip_grad_norm_(gradients, c),
                lambda gradients, c: [
                    autograd_lib.nn.utils.clip_grad_norm_(g, c) for g in gradients
                ],
            )
        ],
        *[
            (
                wrong,
                "These are NumPy arrays, not Tensors, and .data of an array is its memory. Use g itself.",
            )
            for wrong in (
                lambda gradients, c: [g.data.norm() for g in gradients],
                lambda gradients, c: [g.data**2 for g in gradients],
                lambda gradients, c: [g.data * g.data for g in gradients],
            )
        ],
        (
            lambda gradients, c: [g.norm() for g in gradients],
            "A NumPy array has no method `norm`: use the square root of np.sum(g * g).",
        ),
        *[
            edit(
                f"np.sqrt({_ALL})",
                f"np.linalg.norm({arrays})",
                "The arrays have different shapes: sum the squares of each array, then add these sums.",
            )
            for arrays in (
                "gradients",
                *(f"np.{join}(gradients)" for join in ("concatenate", "stack", "hstack", "vstack")),
            )
        ],
        *[
            edit(
                _ALL,
                f"sum({squares} for g in gradients)",
                "Your norm is an array. `np.sum(g * g)` returns one number for each array.",
            )
            for squares in ("g * g", "sum(g * g)")
        ],
        edit(
            _ALL,
            "np.sum(gradients[0] * gradients[0])",
            "That is only the norm of the first array. Use all arrays.",
        ),
        edit(
            _ALL,
            "sum(np.sum(g[0] * g[0]) for g in gradients)",
            "That is only the first row of each array. Use all entries.",
        ),
        *[
            edit(
                _ALL,
                f"sum(np.linalg.norm({array}, 2) ** 2 for g in gradients)",
                "np.linalg.norm(g, 2) of a matrix is a different norm. Use the root of the sum of all squares.",
            )
            for array in ("g", "np.atleast_2d(g)")
        ],
        printed(_clip),
    ],
)
def clip(answer):
    if is_stub(answer):
        raise NotYet
    long, short = (
        [np.array([3.0, 0.0]), np.array([[12.0, -4.0]])],
        [np.array([0.3, -0.4]), np.array([[0.0]])],
    )
    tiny = [np.array([30.0, 0.1]), np.zeros((1, 2)), np.array([-0.2])]
    each, still = (
        [np.array([3.0, -6.0]), np.array([[6.0]])],
        [np.zeros(2), np.zeros((1, 2))],
    )  # each: 9 together

    def build(d):
        gradients = [np.asarray(d(*d.shape(0, 1, 2, 3))) for _ in range(d.size())]
        return gradients, d.another(2.6, 0.2, 500.0, 1.0)

    # PyTorch adds 1e-6 to the norm: that is right too.
    expect_over(
        answer,
        _clip,
        build,
        rtol=1e-5,
        atol=1e-9,
        hints=clip.mistakes,
        first=[
            (long, 2.6),
            (short, 2.6),
            (tiny, 1.0),
            (each, 8.5),
            (each, 9.5),
            (each, 9.0),
            (still, 1.0),
            (short, 0.2),
            (short, 0.4999),
            ([short[0], short[0]], 0.6),
            ([np.array([[3.0, 0.0], [0.0, 4.0]])], 2.5),
        ],
    )  # one array of two parameters: 0.707 together; a matrix: 5, but its longest stretch is 4
