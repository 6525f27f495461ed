"""Ask the questions of lesson 11: the largest stable learning rate, Nesterov momentum, Adam, weight decay and schedules."""

import numpy as np

from ...grading import edit, exercise, expect, expect_over, is_stub
from ...grading.mistakes import printed, sign_lost
from ...grading.sentences import brief
from ...grading.verdict import NotYet
from ...quiz.texts import Question, card, prediction, recall

recall(
    "11",
    [
        Question(
            "z is the largest of 3, 7 and 5, and the upstream gradient of z is 4. What are the gradients of the three numbers? (Lesson 10)",
            [0, 4, 0],
            "**0, 4, 0**: max routes all of the upstream gradient to the largest number. If you nudge another number, z does not change.",
        ),
        Question(
            "X is (32, 64), W is (64, 10), and Z = X @ W. What shape does the gradient of W have? (09)",
            (64, 10),
            "**(64, 10)**, the shape of W: the gradient is Xᵀ @ g, which sums over the 32 rows of the batch.",
        ),
        Question(
            "w is 3, its gradient is −2, and the learning rate is 0.1. What is w after one step of gradient descent? (06)",
            3.2,
            "3 − 0.1 · (−2) = **3.2**: the step goes against the gradient.",
        ),
    ],
)

prediction(
    "11.edge",
    question="""
        You minimise $L = \\frac{1}{2}(w_1^2 + 25\\,w_2^2)$ with plain gradient descent. At lr = 0.02, each step gets closer to
        the minimum. You raise lr little by little. Above which learning rate does gradient descent diverge?""",
    answer=0.08,
    tolerance=0.0011,
    reveal="""Above **0.08**, which is 2/25. The gradient along w₂ is 25 w₂. At lr = 0.04 = 1/25 one step lands exactly at
        w₂ = 0. With a larger lr the step lands on the other side: closer than before if lr is below 0.08, and
        just as far away at 0.08.""",
)

prediction(
    "11.settle",
    question="""m starts at 0, and at each step m becomes 0.9 m + g. If g is 1 at every step, what does m converge to? And if g is
        1, −1, 1, −1, …: what does the absolute value of m converge to?""",
    answer={"always 1": 10, "1, −1, 1, −1, …": 0.526},
    tolerance=0.02,
    reveal="""**10** and **0.53**; the next cell derives both. Momentum makes gradients that agree ten times as large, and it
        roughly halves gradients that alternate.""",
)

prediction(
    "11.limit",
    question="""
        In the same ravine, with λ = 25, plain gradient descent is stable up to lr = 0.08.
        Up to which lr is momentum 0.9 stable?""",
    answer="up to 0.152",
    choices=["up to 0.008", "up to 0.08, as before", "up to 0.152"],
    reveal="""**Up to 0.152**, nearly twice as far. At the limit, w₂ changes sign at every step, and so does its gradient. So m is
        g/1.9, and the limit is 1.9 · 0.08. If momentum were just a ten times larger lr, the limit would be 0.008.""",
)

prediction(
    "11.scale",
    question="""
        w has shape (2,). What is the shape of v? And suppose that you raise the λ of the ravine from 1 to 100, with the same
        start and the same lr. What happens to RMSprop's path?""",
    answer={"shape of v": (2,), "the path": "it stays the same"},
    choices={"the path": ["it oscillates more and more", "it diverges", "it stays the same"]},
    reveal="""v has shape **(2,)**, one number for each weight. And the path **stays the same**: the gradients of
        w₂ become a hundred times as large, but so does √v, and RMSprop divides by √v.""",
)

card(
    "11",
    [
        "In a bowl each step multiplies w by 1 − lr·λ, so gradient descent is stable below lr = 2/λmax. The larger the condition "
        "number λmax/λmin, the slower it is at best.",
        "Momentum, m ← βm + g: gradients that agree count 1/(1 − β) times, alternating ones 1/(1 + β) times. It is two "
        "learning rates in one. In the long run, with each at its best lr, it is faster than plain gradient descent if "
        "√β < (λ − 1)/(λ + 1), where λ is the condition number. For β = 0.9 this means λ above 38.",
        "RMSprop: g/√v, entry by entry. If an axis becomes steeper, the path from the same start stays the same.",
        "Adam: the average of g over the root of the average of g², each first divided by its 1 − βᵗ. The first step of a weight "
        "has length lr, if |g| is far above eps.",
        "No optimizer wins everywhere. In our race Adam converged on all landscapes at more learning rates than any other optimizer.",
    ],
)


def _curvature(got, expected):
    """Return a hint for a wrong pair (curvature, learning rate), or None if no known mistake explains the pair.

    Most hints look only at the curvature, because the learning rate is often rounded.
    """
    if (
        not isinstance(got, tuple)
        or len(got) != 2
        or not all(isinstance(part, (int, float)) for part in got)
    ):
        return None
    if got[0] == 30 and round(got[1], 3) == 0.033:
        return "At lr = 1/λ one step lands at the minimum. At the limit, the step lands just as far away on the other side."
    if got[0] == 30 and got[1] in (0.06, 0.07):
        return "That is 2/30, but rounded too coarsely: give three decimals."
    return {
        -2: "−2 is the factor 1 − lr · λ itself. Solve 1 − 0.1 λ = −2 for λ.",
        0.3: "1 − 0.1 λ = −2 means 0.1 λ = 3: divide by lr, do not multiply.",
        -10: "w changes sign, so the factor is −2, not 2.",
        -30: "1 − 0.1 λ = −2, so 0.1 λ is 3, and positive.",
        3: "1 − 0.1 λ = −2, so 0.1 λ = 3. There is a division left to do.",
        10: "1 − 0.1 · 10 is 0: with a curvature of 10, descent would reach the minimum in one step. The factor must be −2.",
        15: "With 15 the factor is −0.5, which would halve the distance. But the distance doubles.",
        20: "With 20 the factor is −1, so the distance would stay the same, neither nearer nor farther. But the distance doubles.",
    }.get(round(got[0], 6))


@exercise(
    "11.bowl",
    minutes=3,
    difficulty="easy",
    importance=2,
    question="""
        You can measure a curvature by watching gradient descent diverge. At lr = 0.1 it diverges in a bowl: after many steps, each new step leads
        to the other side of the minimum and *doubles* the distance from it. What is the largest curvature? And which lr is the limit?""",
    stub="""
        largest_curvature = ...
        limit = ...""",
    hints=[
        "Each step leads to the other side and doubles the distance. By what number does it multiply w?",
        "By the derivation, this number is 1 − lr · λ, and you know lr.",
        (
            "Help: my curvature is negative",
            "The distance doubles, but w also changes sign, so the factor is −2, not 2.",
        ),
    ],
    solution="""
        largest_curvature = (1 + 2) / 0.1      # 1 − 0.1 λ = −2
        limit = 2 / largest_curvature""",
    explained="30 and 0.067. After many steps, the direction that grows fastest dominates. It is the direction of the largest "
    "curvature.",
    why="A run that diverges in a bowl tells you the largest stable learning rate: its own lr · 2 / (1 + the factor by "
    "which the distance grows).",
    mistakes=[
        _curvature,
        ((30, 60), "The limit is 2 divided by the curvature, not 2 times the curvature."),
        ((30, 15), "The limit is 2 divided by the curvature, not the curvature divided by 2."),
        (
            (30, 0.05),
            "lr = 0.05 gives the factor 1 − 0.05 · 30 = −0.5, so it is still below the limit.",
        ),
        ((30, 0.2), "0.2 is the limit for a curvature of 10. What is the limit for 30?"),
        ((30, 0.1), "At lr = 0.1 descent diverges, so the limit is lower: 2 / λ."),
    ],
)
def bowl(answer):
    expect(
        answer,
        (30, 2 / 30),
        tried="the largest curvature, and the limit of lr",
        shown="two other numbers",
        hints=bowl.mistakes,
        rtol=0.01,
    )


_EDGE = (1 + 0.5**0.5) / (1 - 0.5**0.5)  # 5.83


def _near_a_slip(got, expected):
    """Return a hint for a wrong λ, or None if no known mistake explains it.

    A λ counts as the result of a mistake if it differs from this result by at most 1 %, because it is often rounded.
    """
    if not isinstance(got, (int, float)):
        return None
    slips = [
        (3, "That solves β = (λ − 1)/(λ + 1). The left side of the box is √β."),
        (5 / 3, "That squares β. The left side of the box is √β, the square root of 0.5."),
        (1 / _EDGE, "λ is above 1 here. Did you exchange numerator and denominator at the end?"),
        (-_EDGE, "λ is above 1 here. Check the signs when you collect the terms with λ."),
        (
            (1 + 0.9**0.5) / (1 - 0.9**0.5),
            "That is the value for β = 0.9. The question is about β = 0.5.",
        ),
        (_EDGE**2, "You squared once too often: √β = (λ − 1)/(λ + 1) has λ, not √λ."),
        (_EDGE**0.5, "√β = (λ − 1)/(λ + 1) has λ, not √λ: do not take another root."),
        (0.5**0.5, "That is √β, the left side of the box. Now solve for λ."),
        (6, "That is rounded too coarsely: give two decimals."),
        (
            1 / (1 - 0.5**0.5),
            "The numerator is missing a term: √β · λ + √β = λ − 1, so √β + 1 = λ (1 − √β).",
        ),
    ]
    return next((hint for wrong, hint in slips if np.isclose(got, wrong, rtol=0.01, atol=0)), None)


@exercise(
    "11.faster",
    minutes=2,
    difficulty="easy",
    importance=2,
    question="""
        Above which λ is momentum with β = 0.5 faster in the long run? Use the box, and give two decimals. Then test your answer with the slider.""",
    stub="""
        smallest = ...""",
    hints=[
        "At the limit, both sides of the box are equal: 0.707 = (λ − 1)/(λ + 1). Solve for λ.",
        "Multiply by λ + 1, and collect the terms with λ on one side.",
        (
            "Help: I get 3",
            "That solves 0.5 = (λ − 1)/(λ + 1). The left side of the box is √β, not β.",
        ),
    ],
    solution="""
        root = 0.5**0.5
        smallest = (1 + root) / (1 - root)""",
    explained="5.83. So at λ = 10, the lowest value of the slider, momentum 0.5 is already faster, and momentum 0.9 is not.",
    why="A smaller β forgets faster, so its factor √β is smaller, and momentum pays off in ravines that are less steep.",
    mistakes=[_near_a_slip],
)
def faster(answer):
    expect(
        answer,
        _EDGE,
        tried="the λ above which momentum 0.5 is faster",
        shown="a different number",
        hints=faster.mistakes,
        rtol=0.006,
    )


# --- Nesterov -----------------------------------------------------------------------------------------------------------------

_SUM, _STEP = "m = beta * m + g", "return w - lr * (g + beta * m), m"  # the solution's two lines
_OLD_M = _SUM, "old, m = m, beta * m + g"


def _nesterov(w, m, g, lr, beta):
    m = beta * m + g
    return w - lr * (g + beta * m), m


@exercise(
    "11.nesterov",
    minutes=4,
    difficulty="optional",
    importance=1,
    question="""
        Write one step of Nesterov momentum, as in the boxed formula. w, m and g are arrays of the same shape, and g was computed at w.
        Return the new w and the new m. Do not modify the input arrays.""",
    stub="""
        def nesterov(w, m, g, lr, beta):
            ...""",
    hints=[
        "First update the memory: `m = beta * m + g`. The step then uses g + β·m.",
        (
            "Help: the check says that mine is plain momentum",
            "g + β · (old m) *is* the new m. Look ahead with the new m, which already contains g.",
        ),
        (
            "Help: where do I look ahead?",
            "You don't have to: w is already the point ahead, and g was computed there. Only the step is different.",
        ),
    ],
    solution="""
        def nesterov(w, m, g, lr, beta):
            m = beta * m + g
            return w - lr * (g + beta * m), m""",
    explained="The step is g + β · m with the *new* m. The step of plain momentum, m, is g + β · m with the old m.",
    why="The step uses the gradient computed now, and also what the memory will add at the next step.",
    mistakes=[
        edit(
            "(g + beta * m)",
            "m",
            "This is plain momentum (g + β · old m is just the new m). "
            "The step is g + β · m with the new m, which contains g.",
        ),
        edit(
            *_OLD_M,
            "(g + beta * m)",
            "(beta * old + m)",
            "Your step looks ahead twice: w is already the point ahead, and g was computed there.",
        ),
        edit(
            _STEP,
            "return w - lr * g, m",
            "Your step uses only g, without a memory. The step is g + β · m, with the new m.",
        ),
        edit(*_OLD_M, "(g + beta * m)", "(old + beta * g)", "g has no factor, and β belongs to m."),
        edit("(g + beta * m)", "(m + beta * g)", "g has no factor, and β belongs to m."),
        edit(
            "(g + beta * m)",
            "(g + m)",
            "β is missing: what fraction of m does the next step keep?",
        ),
        edit(
            "(g + beta * m)",
            "(m + beta * m)",
            "The first term of the step is g itself, not m: g + β · m.",
        ),
        edit("w - lr", "w + lr", "That goes uphill. The step goes against g, so subtract."),
        edit(
            _SUM,
            "new = beta * m + g",
            "(g + beta * m)",
            "(g + beta * new)",
            "Return the new m too; yours is the old one.",
        ),
        edit(_SUM, "", "Update m with g first: m = beta * m + g."),
        edit(_SUM, "m = g", "The old m is lost. Keep the fraction β of it: m = beta * m + g."),
        edit(_SUM, "m = beta * m", "Add g to m: m = beta * m + g."),
        edit(
            _STEP,
            "return w - lr * (g + beta * m)",
            "You return only w. The next step needs the new m as well.",
        ),
        edit(
            _SUM,
            "m = beta * m + (1 - beta) * g",
            "That m is an average, with 1 − β. Momentum adds all of g.",
        ),
        edit(
            _STEP,
            "return w - lr * (g + beta * m), g + beta * m",
            "The memory is the new m itself; g + β · m is only the step.",
        ),
        edit(_SUM, "m = m + g", "β is missing: keep only the fraction β of m: m = beta * m + g."),
        edit(
            _SUM, "m = beta * (m + g)", "β belongs to the old m alone, not to g: m = beta * m + g."
        ),
        edit("lr * (", "(", "That is a step without lr."),
        edit(
            "lr * (g + beta * m)",
            "lr * g + beta * m",
            "Parentheses are missing: lr multiplies all of g + β · m.",
        ),
        edit("lr * (g + beta * m)", "lr * g - beta * m", "lr multiplies both g and β · m."),
        edit(
            _SUM,
            "m = beta * m + lr * g",
            "lr * (g + beta * m)",
            "lr * g + beta * m",
            "lr belongs only to the step; m is a sum of g itself.",
        ),
        edit(
            _SUM,
            "m = beta * m + lr * g",
            "lr * (",
            "(",
            "lr belongs only to the step; m is a sum of g itself.",
        ),
        *[
            edit(
                _SUM,
                f"m = beta * m {sign} lr * g",
                "w - lr * (g + beta * m)",
                f"w {back} m",
                "lr belongs only to the step, and the step is g + β · m, with the new m.",
            )
            for sign, back in ("+-", "-+")
        ],
        edit(_STEP, "return w - lr * beta * m, m", "g is missing in the step: g + β · m."),
        edit(_STEP, "return w, m", "You return w as it was: the second boxed formula moves it."),
        edit(
            _SUM,
            "m = beta * m - lr * g",
            "- lr * (g + beta * m)",
            "+ beta * m - lr * g",
            "lr belongs only to the step; m is a sum of g itself.",
        ),
        edit(
            "beta * m + g",
            "0.9 * m + g",
            "beta * m)",
            "0.9 * m)",
            "Use the argument beta: it is not always 0.9.",
        ),
        edit("- lr *", "- 0.1 *", "Use the argument lr: it is not always 0.1."),
        printed(_nesterov),
    ],
)
def nesterov(answer):
    if is_stub(answer):
        raise NotYet

    def build(d):
        shape = d.shape(1, 2, 3)
        return (
            d(*shape),
            d(*shape),
            d.g(*shape),
            d.another(0.1, 3.0, 0.0, 0.003),
            d.another(0.8, 0.3, 0.0, 0.99),
        )

    example = (
        np.array([1.0, -2.0, 0.5]),
        np.array([0.5, 1.0, -3.0]),
        np.array([2.0, -1.0, 0.25]),
        0.1,
        0.8,
    )
    expect_over(answer, _nesterov, build, first=[example], apart=True, hints=nesterov.mistakes)


# --- Adam ---------------------------------------------------------------------------------------------------------------------

_M, _V = "m = beta1 * m + (1 - beta1) * g", "v = beta2 * v + (1 - beta2) * g * g"
_RETURN = "return w - lr * m_hat / (np.sqrt(v_hat) + eps), m, v"
_BACK = "eps), m, v"


def _adam(w, m, v, t, g, lr, beta1, beta2, eps):
    m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
    return w - lr * (m / (1 - beta1**t)) / (np.sqrt(v / (1 - beta2**t)) + eps), m, v


def _power(of, hint):
    """Return the mistake in which both bias corrections are written as `of`, a formula in β and t.

    `hint` is the hint for a learner who makes this mistake.
    """
    return edit(
        "(1 - beta1**t)", of.replace("β", "beta1"), "(1 - beta2**t)", of.replace("β", "beta2"), hint
    )


def _nan(got, expected):
    bad = isinstance(got, (tuple, list)) and any(
        isinstance(part, (float, np.ndarray)) and np.any(~np.isfinite(part)) for part in got
    )
    return (
        (
            "Not every number is finite. Do you divide by 0, or take the root of a negative number? "
            "1 - beta**t is not 0, since t counts from 1."
        )
        if bad
        else None
    )


@exercise(
    "11.adam",
    minutes=7,
    difficulty="medium",
    importance=3,
    question="""
        Write one step of Adam, as in the boxed formulas. w, m, v and g are arrays of the same shape; t counts the steps from 1. Return the new w, m
        and v. Do not modify the input arrays.""",
    stub="""
        def adam(w, m, v, t, g, lr, beta1, beta2, eps):
            ...""",
    hints=[
        "Five lines, as in the boxed formulas: m, v, the corrected m, the corrected v, and the step. `np.sqrt` is the square root.",
        "Give the corrected values their own names, `m_hat` and `v_hat`, because the next step needs the uncorrected m and v.",
        (
            "Help: my first step is 3.16 times too large",
            """
            At t = 1, m is 0.1 g and √v is 0.0316 |g|, because both started at 0. Their ratio is 3.16.
            Divide m and v each by its own 1 − βᵗ, the fraction of a full average accumulated so far.""",
        ),
    ],
    solution="""
        def adam(w, m, v, t, g, lr, beta1, beta2, eps):
            m = beta1 * m + (1 - beta1) * g
            v = beta2 * v + (1 - beta2) * g * g
            m_hat = m / (1 - beta1**t)
            v_hat = v / (1 - beta2**t)
            return w - lr * m_hat / (np.sqrt(v_hat) + eps), m, v""",
    explained="Two averages, two corrections, one division. The library's `Adam` does the same, and stores m, v "
    "and t for you.",
    why="The first step has length lr for every weight, whether its gradient is 1000 or 0.001.",
    mistakes=[
        edit(
            "v_hat = v / (1 - beta2**t)",
            "v_hat = v",
            "m_hat /",
            "m_hat * np.sqrt(1 - beta2**t) /",
            "Correct v before you add eps: take the root of v_hat, then add eps.",
        ),
        edit(
            " / (1 - beta1**t)",
            "",
            " / (1 - beta2**t)",
            "",
            "m and v started at 0 and are still too small: the bias correction is missing. "
            "(Without it the first step is 3.16 · lr long, for β₁ = 0.9 and β₂ = 0.999.)",
        ),
        edit(" / (1 - beta1**t)", "", "m is not corrected: divide it by 1 − β₁ᵗ too."),
        edit(" / (1 - beta2**t)", "", "v is not corrected: divide it by 1 − β₂ᵗ too."),
        *[
            edit(
                _BACK,
                f"eps), {back}",
                f"You return corrected values ({said}). The correction is only for this step: return m and v themselves.",
            )
            for said, back in [("m and v", "m_hat, v_hat"), ("m", "m_hat, v"), ("v", "m, v_hat")]
        ],
        _power("(1 - β)", "Divide by 1 − βᵗ: the power t is missing."),
        _power("(1 - β)**t", "Divide by 1 − βᵗ: the power belongs to β alone, beta**t."),
        _power("(1 - β * t)", "Divide by 1 − βᵗ: β to the power t, not times t."),
        _power("β**t", "After t steps, the average contains the fraction 1 − βᵗ, not βᵗ."),
        edit("m / (1", "m * (1", "v / (1", "v * (1", "m and v are too small: divide by 1 − βᵗ."),
        _power(
            "(1 - β**(t + 1))", "t is already 1 at the first step, so the exponent is t itself."
        ),
        _power("(1 - β**min(t, 3))", "The exponent is t at every step, even at the hundredth."),
        edit(
            "np.sqrt(v_hat)",
            "v_hat",
            "The root is missing: divide by √v, which has the same unit as g.",
        ),
        edit(
            "np.sqrt(v_hat) + eps",
            "np.sqrt(v_hat + eps)",
            "Add eps to the root, not under it.",
        ),
        *[
            edit(" + eps", slip, "The denominator is the root plus eps, and eps is an argument.")
            for slip in ("", " + 1e-8")
        ],
        *[
            edit(
                "* g * g",
                f"* ({product})",
                f"{product} is one number for all weights. Each weight has its own: g * g.",
            )
            for product in ("g @ g", "np.dot(g, g)", "np.inner(g, g)")
        ],
        *[
            edit(
                "* g * g",
                f"* np.{over}(g * g)",
                "Every weight has its own v: do not average or sum over the weights.",
            )
            for over in ("mean", "sum")
        ],
        edit("* g * g", "* m * m", "v is an average of g squared, not of m squared."),
        edit(
            "v_hat = v /",
            "v_hat = np.sqrt(v) /",
            "np.sqrt(v_hat)",
            "v_hat",
            "Correct v itself, then take its root.",
        ),
        edit(
            "(1 - beta2) * g * g",
            "((1 - beta2) * g)**2",
            "Square only g, not 1 − β₂: (1 - beta2) * g * g.",
        ),
        edit("* g * g", "* g", "v is an average of g squared: g * g."),
        edit("* g * g", "* g * 2", "g * 2 is not g squared: write g * g or g**2."),
        edit("* g * g", "* abs(g)", "v is an average of g squared: g * g."),
        edit(
            _M,
            "m = beta1 * m + g",
            "m and v are averages: multiply the new gradient by 1 − β. (Momentum adds all of g; Adam does not.)",
        ),
        edit(
            _M,
            "m = beta1 * m + g",
            _V,
            "v = beta2 * v + g * g",
            "m and v are averages: multiply the new gradient by 1 − β. (Momentum adds all of g; Adam does not.)",
        ),
        edit(
            _M,
            "m = (1 - beta1) * m + beta1 * g",
            _V,
            "v = (1 - beta2) * v + beta2 * g * g",
            "β is the weight of the old value, and 1 − β the weight of the new one.",
        ),
        edit(
            _M,
            _M.replace("1", "2").replace("(2 -", "(1 -"),
            _V,
            _V.replace("2", "1"),
            "beta1**t",
            "beta2**t",
            "beta2**t",
            "beta1**t",
            "β₁ belongs to m, β₂ to v.",
        ),
        edit(_V, _V.replace("beta2", "beta1"), "β₁ belongs to m, β₂ to v."),
        edit("beta2**t", "beta1**t", "β₁ belongs to m, β₂ to v."),
        edit(_V, _V.replace("beta2", "beta1"), "beta2**t", "beta1**t", "β₁ belongs to m, β₂ to v."),
        edit(
            _M,
            _M.replace("beta1", "beta2"),
            _V,
            _V.replace("beta2", "beta1"),
            "In the first two lines β₁ belongs to m, β₂ to v.",
        ),
        edit(
            "beta1**t",
            "beta2**t",
            "beta2**t",
            "beta1**t",
            "In the corrections β₁ belongs to m, β₂ to v.",
        ),
        edit(
            "lr * m_hat",
            "lr * g",
            "That steps by g. The step uses the corrected m, an average of the gradients so far.",
        ),
        edit(
            "m_hat = m /",
            "m_hat = g /",
            "That steps by g. The step uses the corrected m, an average of the gradients so far.",
        ),
        edit(
            _M,
            "old, m = m, " + _M[4:],
            _V,
            "was, v = v, " + _V[4:],
            "m_hat = m",
            "m_hat = old",
            "v_hat = v",
            "v_hat = was",
            "The step uses the new m and v, not the old ones.",
        ),
        edit(
            "w - lr",
            "w + lr",
            "That goes uphill. The step goes against the gradient, so subtract.",
        ),
        edit("lr * m_hat", "m_hat", "That is a step without lr."),
        *[
            edit("lr *", f"{often} *", f"Use the argument lr: it is not always {often}.")
            for often in (0.1, 0.001)
        ],
        *[
            edit(
                _M,
                f"beta1, beta2 = 0.9, 0.999; {more}{_M}",
                "Use the arguments beta1 and beta2: they are not always 0.9 and 0.999.",
            )
            for more in ("", "eps = 1e-8; ")
        ],
        edit(_RETURN, "return w, m, v", "You return w as it was: the last boxed line moves w."),
        edit(
            _M,
            "old, m = m, " + _M[4:],
            _V,
            "was, v = v, " + _V[4:],
            _BACK,
            "eps), old, was",
            "Return the new m and v; yours are the old ones.",
        ),
        edit(_BACK, "eps)", "You return only w. The next step needs the new m and v as well."),
        edit(
            "(1 - beta1**t)",
            "1 - beta1**t",
            "(1 - beta2**t)",
            "1 - beta2**t",
            "Parentheses are missing: m / (1 - beta1**t). Without them Python divides by 1 first.",
        ),
        edit(
            "(np.sqrt(v_hat) + eps)",
            "np.sqrt(v_hat) + eps",
            "Parentheses are missing: eps belongs to the denominator, / (np.sqrt(v_hat) + eps).",
        ),
        edit(
            "(1 - beta1) * g",
            "1 - beta1 * g",
            "(1 - beta2) * g",
            "1 - beta2 * g",
            "Parentheses are missing: (1 - beta1) * g, and (1 - beta2) * g * g.",
        ),
        edit(
            _M,
            "",
            _V,
            "",
            "m and v are never updated with g: that is what the first two boxed lines do.",
        ),
        edit("beta1**t", "beta1 ^ t", "In Python a power is written **: beta1**t."),
        edit(
            _M,
            "import math; " + _M,
            "np.sqrt",
            "math.sqrt",
            "np.sqrt accepts arrays; math.sqrt does not.",
        ),
        *[
            edit(old, new, "These are NumPy arrays: np.sqrt(v), g**2, beta1 * m.")
            for old, new in [
                ("np.sqrt(v_hat)", "v_hat.sqrt()"),
                ("* g * g", "* g.pow(2)"),
                ("* g * g", "* g.square()"),
                (_M, "m.mul_(beta1).add_(g)"),
            ]
        ],
        edit(
            _RETURN,
            _RETURN.replace("return w", "w = w").replace(", m, v", "") + "\n    return m, v, w",
            "The numbers are right, but in the wrong order: return w, m, v.",
        ),
        _nan,
        printed(_adam),
    ],
)
def adam(answer):
    if is_stub(answer):
        raise NotYet
    w, m, v, g = np.array([[1.0, -2.0, 0.5], [0.3, -1.0, 0.2], [0.5, 2.0, 0.01], [2.0, -1.0, 0.25]])
    first = (
        w,
        np.zeros(3),
        np.zeros(3),
        1,
        np.array([1000.0, -0.001, 0.5]),
        0.05,
        0.9,
        0.999,
        1e-8,
    )  # were lr 1 − β₁, they could cancel
    later = w, m, v, 3, g, 0.1, 0.8, 0.95, 0.05
    # two weights that have never had a gradient: only eps prevents 0 / 0
    still = w, 0 * m, np.zeros(3), 2, np.array([0.0, 0.0, 0.5]), 0.05, 0.9, 0.999, 1e-8

    def build(d):
        shape = d.shape(1, 2, 3)
        return (
            d(*shape),
            d(*shape),
            d.above(*shape),
            d.another(1, 2, 7, 200, 10**6),
            d.g(*shape),
            d.another(0.3, 0.01, 3.0),
            d.another(0.9, 0.5, 0.0),
            d.another(0.999, 0.9, 0.5),
            d.another(1e-8, 0.05, 1e-12),
        )

    def tried(w, m, v, t, g, lr, beta1, beta2, eps):
        return (
            f"step t = {t}: w = {brief(w)}, m = {brief(m)}, v = {brief(v)}, g = {brief(g)}, lr = {lr}, "
            f"betas {beta1} and {beta2}, eps = {eps}"
        )

    with np.errstate(all="ignore"):
        expect_over(
            answer,
            _adam,
            build,
            first=[first, later, still],
            apart=True,
            hints=adam.mistakes,
            tried=tried,
        )


AS_IN_SGD = "With SGD the weight would fall by 0.001. Adam divides the gradient by its absolute value: what is left of 0.01?"
GRADIENT_IN_ADAM = "0.01 is the gradient in Adam's formula. How long is Adam's step?"
LEFT_BY_ADAM = "0.9 is the weight after Adam's step. By how much did the weight fall?"


@exercise(
    "11.decay",
    minutes=4,
    difficulty="optional",
    importance=1,
    question="""
        A weight is 1, and the gradient of the data loss with respect to it is 0. The optimizer takes its very first step, with
        lr = 0.1 and weight decay 0.01. By how much does the weight fall with Adam, which adds the decay to the gradient? And by how
        much with AdamW?""",
    stub="""
        in_adam = ...
        in_adamw = ...""",
    hints=[
        "With Adam the gradient is 0 + 0.01 · 1. How large is Adam's first step, for any |g| much larger than eps?",
        "With AdamW the gradient in Adam's step is 0, so this step does not move the weight. What remains is lr · decay · w.",
        (
            "Help: I get 0.001 twice",
            "That is lr times the gradient, which is SGD. Adam's first step divides the gradient by its own absolute value.",
        ),
    ],
    solution="""
        in_adam = 0.1           # 0.01 is divided by its absolute value, 0.01
        in_adamw = 0.1 * 0.01 * 1""",
    explained="""
        With a decay of 0.0001 the weight would also fall by 0.1 with Adam. As long as the gradient of the data loss stays 0, the division cancels the strength of the decay that you chose.""",
    why="Adam divides the decay by the usual size of the whole gradient, as it does with the gradient itself. AdamW keeps "
    "the decay out of this division.",
    mistakes=[
        (
            (0.001, 0.001),
            AS_IN_SGD,
        ),
        (
            (0.001, 0.1),
            "It is the other way round: which of the two divides the decay?",
        ),
        ((0.1, 0.1), "AdamW does not divide the decay: lr · decay · w."),
        (
            (0.1, 0.101),
            "With AdamW the gradient is only that of the data, 0, so Adam's step does not move the weight.",
        ),
        (
            (0.1, 0),
            "AdamW subtracts the decay from w itself, for any gradient: lr · decay · w.",
        ),
        ((0.1, 0.01), "AdamW's decay is multiplied by lr as well."),
        (
            (0.01, 0.001),
            GRADIENT_IN_ADAM,
        ),
        (
            (0.01, 0.01),
            GRADIENT_IN_ADAM,
        ),
        ((0.01, 0), GRADIENT_IN_ADAM),
        ((1, 0.001), "0.01 divided by its absolute value is 1. The step is lr times that."),
        ((1, 0.01), "0.01 divided by its absolute value is 1. The step is lr times that."),
        ((0.9, 0.999), LEFT_BY_ADAM),
        ((0.9, 0.001), LEFT_BY_ADAM),
        ((0.9, 0.9), LEFT_BY_ADAM),
        ((0.1, 0.999), "0.999 is the weight after AdamW's step. By how much did the weight fall?"),
        (
            (0.001, 0),
            AS_IN_SGD,
        ),
        (
            (0.101, 0.001),
            "With Adam the decay only enters the gradient: it is not also subtracted from w.",
        ),
        ((0, 0.001), "The gradient of the data loss is 0, but Adam adds the decay to it: 0.01."),
        (
            (0, 0),
            "The gradient of the data loss is 0, but the decay still pulls the weight towards 0.",
        ),
        ((0.316, 0.001), "0.316 is the first step without bias correction."),
        sign_lost(
            (0.1, 0.001), "The question is by how much the weight falls: give a positive number."
        ),
    ],
)
def decay(answer):
    expect(
        answer,
        (0.1, 0.001),
        tried="by how much the weight falls in Adam, and in AdamW",
        shown="two other numbers",
        hints=decay.mistakes,
        rtol=1e-4,
    )


# --- A custom schedule ----------------------------------------------------------------------------------------------------


def _factor(epoch):
    return (epoch + 1) / 10 if epoch < 10 else (1 + np.cos(np.pi * (epoch - 10) / 90)) / 2


_RISE, _FALL = "return (epoch + 1) / 10", "return (1 + np.cos(np.pi * (epoch - 10) / 90)) / 2"


@exercise(
    "11.warmup",
    minutes=5,
    difficulty="optional",
    importance=1,
    question="""
        Write your own schedule: a factor that lr is multiplied by. It depends on the epoch, the number of complete passes
        through the examples. For epoch = 0, 1, …, 9 the factor rises linearly: 0.1, 0.2, …, 1. From epoch 10 to 100 it falls
        from 1 to 0 along half a cosine wave. Write `factor(epoch)`. (`optim.LambdaLR(optimizer, factor)` turns it into a schedule.)""",
    stub="""
        def factor(epoch):
            ...""",
    hints=[
        "Separate the two parts with `if epoch < 10`.",
        "Half a cosine wave falls from 1 to 0 as $(1 + \\cos(\\pi \\cdot \\text{fraction}))/2$, where the fraction goes from 0 to 1.",
        (
            "Help: my factor jumps at epoch 10",
            "The fall takes 90 epochs and begins at epoch 10, so the fraction is (epoch − 10) / 90.",
        ),
    ],
    solution="""
        def factor(epoch):
            if epoch < 10:
                return (epoch + 1) / 10
            return (1 + np.cos(np.pi * (epoch - 10) / 90)) / 2""",
    explained="This slow start is called a *warm-up*.",
    why="`LambdaLR` makes a schedule from any function of the epoch.",
    mistakes=[
        (
            lambda epoch: 0.1 * _factor(epoch),
            "That is ten times too small: each of the ten epochs adds a tenth, so the factor reaches 1.",
        ),
        (
            lambda epoch: 0.001 * _factor(epoch),
            "Return a factor for lr, with a maximum of 1, and not lr itself.",
        ),
        edit(_RISE, "return epoch / 10", "The factor at epoch 0 is already 0.1: (epoch + 1) / 10."),
        edit(
            _RISE,
            "return (epoch + 1) // 10",
            "The result was truncated to whole numbers by // or int( ).",
        ),
        edit(
            _RISE,
            "return (epoch + 1) / 100",
            "The rise is ten times too small: each of the ten epochs adds a tenth, so the factor reaches 1.",
        ),
        edit(
            _RISE,
            "return ((epoch + 1) / 10)**2",
            "The factor must rise evenly: every epoch adds a tenth.",
        ),
        edit(
            _FALL,
            "return (1 + np.cos(np.pi * epoch / 100)) / 2",
            "The fall begins at epoch 10 and takes 90 epochs: (epoch − 10) / 90.",
        ),
        *[
            edit(
                "(epoch - 10)",
                slip,
                "The fall begins at epoch 10: there the fraction (epoch − 10) / 90 is 0.",
            )
            for slip in ("epoch", "(epoch - 9)", "(epoch - 11)")
        ],
        edit("(1 + np.cos", "(1 - np.cos", "That wave rises from 0 to 1. To fall, add the cosine."),
        edit("epoch < 10", "epoch < 9", "Epoch 9 belongs to the rise: epoch < 10."),
        edit(
            "(epoch - 10) / 90",
            "(epoch - 9) / 91",
            "At epoch 10 the factor is still 1: the fall begins there and takes 90 epochs.",
        ),
        edit("/ 90", "/ 100", "The fall takes 90 epochs, from 10 to 100."),
        edit("/ 90", "/ 89", "The fall takes 90 epochs, from 10 to 100."),
        edit(
            _FALL,
            "return np.cos(np.pi * (epoch - 10) / 90)",
            "That falls to −1. Add 1, then halve the sum: (1 + cos) / 2.",
        ),
        edit(
            _FALL,
            "return 1 + np.cos(np.pi * (epoch - 10) / 90)",
            "1 + cos falls from 2 to 0, so halve it.",
        ),
        edit(
            _FALL,
            "return 1 + np.cos(np.pi * (epoch - 10) / 90) / 2",
            "That is 1 + cos/2. Halve the whole sum: (1 + cos) / 2.",
        ),
        edit(
            _FALL,
            "return 1 - (epoch - 10) / 90",
            "That is a straight line. A cosine falls slowly, then fast, then slowly.",
        ),
        edit("np.pi * ", "", "π is missing: half a wave has length π."),
        edit("np.pi", "180", "np.cos takes radians: use π, not 180."),
        edit(
            "np.pi",
            "2 * np.pi",
            "A whole wave falls and rises again. Half a wave has length π.",
        ),
        edit("np.cos", "np.sin", "A sine starts at 0. The cosine starts at its maximum."),
        edit(
            _FALL,
            "return np.cos(np.pi / 2 * (epoch - 10) / 90)",
            "That is a quarter of a wave. Take half a wave and add 1: (1 + cos) / 2.",
        ),
        *[
            edit(
                _FALL,
                flat,
                "The fall is missing: from epoch 10 on, the factor follows half a cosine wave.",
            )
            for flat in ("return 1", _RISE)
        ],
        edit(
            "/ 90",
            "// 90",
            "Your factor falls in steps, because // and int( ) truncate. Divide with /.",
        ),
        edit("epoch < 10", "epoch <= 10", "Epoch 10 belongs to the fall: epoch < 10."),
        edit(
            _RISE,
            "return (1 + np.cos(np.pi * epoch / 100)) / 2",
            _FALL,
            "return (1 + np.cos(np.pi * epoch / 100)) / 2",
            "The rise is missing: before epoch 10 the factor is (epoch + 1) / 10.",
        ),
        printed(_factor),
        edit(
            _RISE,
            "(epoch + 1) / 10",
            "The line below the if has no return, so its value is lost, and the factor falls in epochs 0 to 9 too.",
        ),
    ],
)
def warmup(answer):
    if is_stub(answer):
        raise NotYet
    expect_over(
        answer,
        _factor,
        lambda d: (int(d.places(101)),),
        rounds=4,
        hints=warmup.mistakes,
        first=[(epoch,) for epoch in (4, 40, 0, 9, 10, 100, 85, *range(101))],
    )
