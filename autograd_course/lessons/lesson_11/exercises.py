"""Lesson 11: the largest rate of a bowl, Nesterov's step, Adam's, and where the weight decay goes."""

import numpy as np

from ...grading import edit, exercise, expect, expect_over, is_stub
from ...grading.mistakes import printed, sign_lost
from ...grading.verdict import NotYet, brief
from ...quiz.texts import Question, card, prediction, recall

recall(
    "11",
    [
        Question(
            "z is the largest of 3, 7 and 5, and 4 arrives at z. What goes to the three? (Lesson 10)",
            [0, 4, 0],
            "**0, 4, 0**: the largest gets all that arrives. Nudge another one, and z does not move.",
        ),
        Question(
            "X is (32, 64), W is (64, 10), Z = X @ W. What shape does the gradient of W have? (09)",
            (64, 10),
            "**(64, 10)**, the shape of W: the gradient is Xᵀ @ g, and sums over the 32 rows of the batch.",
        ),
        Question(
            "w is 3, its gradient is −2, the rate is 0.1. Where does one step of gradient descent lead? (06)",
            3.2,
            "3 − 0.1 · (−2) = **3.2**: against the gradient.",
        ),
    ],
)

prediction(
    "11.edge",
    question="""
        $L = \\frac{1}{2}(w_1^2 + 25\\,w_2^2)$, plain gradient descent. At lr = 0.02 each step leads nearer to the
        bottom. You raise lr, little by little. Beyond which lr does it run away?""",
    answer=0.08,
    tolerance=0.0011,
    reveal="""Beyond **0.08**, which is 2/25. The gradient along w₂ is 25 w₂. At 0.04 = 1/25 one step lands exactly at
        w₂ = 0. With a larger lr the step lands on the other side. Below 0.08 that is nearer than before, and at 0.08
        just as far away.""",
)

prediction(
    "11.settle",
    question="""m starts at 0, and at each step m becomes 0.9 m + g. If g is 1 at every step, where does m settle? And if g is
        1, −1, 1, −1, …: how large is m in the end, without its sign?""",
    answer={"always 1": 10, "1, −1, 1, −1, …": 0.526},
    tolerance=0.02,
    reveal="""**10** and **0.53**: the next cells derive both. Gradients that agree are made ten times as large,
        gradients that contradict each other are about halved.""",
)

prediction(
    "11.limit",
    question="""
        In the same ravine, with λ = 25, plain gradient descent is stable up to lr = 0.08.
        Up to which lr is momentum 0.9 stable?""",
    answer="up to 0.152",
    choices=["up to 0.008", "up to 0.08, as before", "up to 0.152"],
    reveal="""**Up to 0.152**: nearly twice as far. At the edge w₂ flips its sign with every step, and so does its gradient. There m is
        g/1.9, so the limit is 1.9 · 0.08. If momentum were a ten times larger lr, the limit would be 0.008.""",
)

prediction(
    "11.scale",
    question="""
        w has the shape (2,). What shape does v have? And in the ravine you raise λ from 1 to 100, with the same
        start and the same lr. What becomes of RMSprop's path?""",
    answer={"shape of v": (2,), "the path": "it stays as it is"},
    choices={"the path": ["it bounces more and more", "it runs away", "it stays as it is"]},
    reveal="""v has the shape **(2,)**, one number for each weight. And the path **stays as it is**: the gradients of
        w₂ become a hundred times as large, and so does √v, by which they are divided.""",
)

card(
    "11",
    [
        "In a bowl each step multiplies w by 1 − lr·λ: stable up to lr = 2/λmax. The larger λmax/λmin, the slower it is "
        "at best.",
        "Momentum, m ← βm + g: what agrees counts 1/(1 − β) times, what alternates 1/(1 + β) times. It is two rates in one.",
        "RMSprop: g/√v, entry by entry. Make an axis steeper, from the same start: its path stays.",
        "Adam: mean of g over the root of the mean of g², each mean first divided by its 1 − βᵗ. A weight's first step is lr "
        "long, for g far above eps.",
        "Nobody wins everywhere. In our race Adam had the most rates that arrive everywhere.",
    ],
)


def _curvature(got, expected):
    """A hint by the first of the two numbers; the second is often rounded."""
    if (
        not isinstance(got, tuple)
        or len(got) != 2
        or not all(isinstance(part, (int, float)) for part in got)
    ):
        return None
    if got[0] == 30 and round(got[1], 3) == 0.033:
        return "At 1/λ one step lands at the bottom. The limit is where it lands just as far on the other side."
    if got[0] == 30 and got[1] in (0.06, 0.07):
        return "That is 2/30, and not rounded well: give three decimals."
    return {
        -10: "w changes sides: the factor is −2, not 2.",
        -30: "1 − 0.1 λ = −2: so 0.1 λ is 3, and positive.",
        3: "1 − 0.1 λ = −2, so 0.1 λ = 3. There is a division left.",
        10: "1 − 0.1 · 10 is 0: that bowl is done in one step. The factor has to be −2.",
        15: "The factor −0.5 would halve the distance. The distance doubles.",
        20: "With 20 the factor is −1, neither nearer nor farther. The distance doubles.",
    }.get(round(got[0], 6))


@exercise(
    "11.bowl",
    minutes=3,
    difficulty="easy",
    question="""
        Running away measures a curvature. At lr = 0.1 gradient descent leaves a bowl: far out, each step changes sides and *doubles*
        the distance from the bottom. How large is the largest curvature? And which lr is the limit?""",
    stub="""
        largest_curvature = ...
        limit = ...""",
    hints=[
        "Changing sides and doubling: by which number does each step multiply?",
        "By the derivation this number is 1 − lr · λ. lr is known.",
        (
            "Help: my curvature is negative",
            "The distance doubles, but w changes its sign too: the factor is −2, not 2.",
        ),
    ],
    solution="""
        largest_curvature = (1 + 2) / 0.1      # 1 − 0.1 λ = −2
        limit = 2 / largest_curvature""",
    explained="30 and 0.067. Far out the direction that grows fastest outweighs all others: that of the largest "
    "curvature.",
    why="In a bowl, a run that runs away tells you the largest stable rate: its own lr · 2 / (1 + the factor by "
    "which it grows).",
    mistakes=[
        _curvature,
        ((30, 60), "The limit is 2 divided by the curvature, not 2 times the curvature."),
        ((30, 15), "The limit is 2 divided by the curvature, not the curvature divided by 2."),
        (
            (30, 0.05),
            "Half the lr would give the factor 1 − 0.05 · 30 = −0.5: that is not yet the limit.",
        ),
        ((30, 0.2), "0.2 is the limit for a curvature of 10. What is the limit for 30?"),
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
    question="""
        Write one step of Nesterov's momentum, in the form of the box: w, m and g are arrays of one shape, and g was measured at w. Give
        back the new w and the new m, and leave the given arrays as they are.""",
    stub="""
        def nesterov(w, m, g, lr, beta):
            ...""",
    hints=[
        "First the memory: `m = beta * m + g`. Then the step, by g + β·m.",
        (
            "Help: it says that mine is plain momentum",
            "g + β · (old m) *is* the new m. Look ahead with the m that has taken in g already.",
        ),
        (
            "Help: where do I look ahead?",
            "Nowhere: w is the place ahead already, and g was measured there. Only the step is another one.",
        ),
    ],
    solution="""
        def nesterov(w, m, g, lr, beta):
            m = beta * m + g
            return w - lr * (g + beta * m), m""",
    explained="The step is g + β · m with the *new* m. Plain momentum's step, m, is g + β · m with the old one.",
    why="The step takes the gradient that was measured now, and also what the memory will bring at the next step.",
    mistakes=[
        edit(
            "(g + beta * m)",
            "m",
            "This is plain momentum (g + β · old m is just the new m). "
            "The step is g + β · m with the m that has taken in g.",
        ),
        edit(
            *_OLD_M,
            "(g + beta * m)",
            "(beta * old + m)",
            "It looks ahead twice: w is the place ahead already, and g was measured there.",
        ),
        edit(
            _STEP,
            "return w - lr * g, m",
            "That is a step by g alone, as without a memory. The step is g + β · m, with the new m.",
        ),
        edit(*_OLD_M, "(g + beta * m)", "(old + beta * g)", "g stands alone, and β belongs to m."),
        edit("(g + beta * m)", "(m + beta * g)", "g stands alone, and β belongs to m."),
        edit("(g + beta * m)", "(g + m)", "β is missing: how much of m is left at the next step?"),
        edit(
            "(g + beta * m)",
            "(m + beta * m)",
            "The step is g + β · m from where w is: g itself, not m, stands in front.",
        ),
        edit("w - lr", "w + lr", "That goes uphill. The step goes against g, so there is a minus."),
        edit(
            _SUM,
            "new = beta * m + g",
            "(g + beta * m)",
            "(g + beta * new)",
            "The new m has to come back too: this is the old one.",
        ),
        edit(_SUM, "", "m has to take in g first: m = beta * m + g."),
        edit(_SUM, "m = g", "The old m is lost: β of it stays, m = beta * m + g."),
        edit(_SUM, "m = beta * m", "m has to take in g: m = beta * m + g."),
        edit(
            _STEP,
            "return w - lr * (g + beta * m)",
            "w alone comes back. The next step needs the new m as well.",
        ),
        edit(
            _SUM,
            "m = beta * m + (1 - beta) * g",
            "That m is a mean, with 1 − β. Momentum adds g whole.",
        ),
        edit("lr * (", "(", "That is a step without lr."),
        edit(
            "lr * (g + beta * m)",
            "lr * g + beta * m",
            "Brackets are missing: lr multiplies all of g + β · m.",
        ),
        edit("lr * (g + beta * m)", "lr * g - beta * m", "lr multiplies both: g and β · m."),
        edit(
            _SUM,
            "m = beta * m + lr * g",
            "lr * (g + beta * m)",
            "lr * g + beta * m",
            "lr belongs to the step alone: m adds up g itself.",
        ),
        edit(
            _SUM,
            "m = beta * m + lr * g",
            "lr * (",
            "(",
            "lr belongs to the step alone: m adds up g itself.",
        ),
        edit(
            _SUM,
            "m = beta * m - lr * g",
            "- lr * (g + beta * m)",
            "+ beta * m - lr * g",
            "lr belongs to the step alone: m adds up g itself.",
        ),
        edit(
            "beta * m + g",
            "0.9 * m + g",
            "beta * m)",
            "0.9 * m)",
            "β is what the function is given, beta: not always 0.9.",
        ),
        edit("- lr *", "- 0.1 *", "lr is what the function is given: not always 0.1."),
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
    """The slip `of`, a correction with β and t, in both of them."""
    return edit(
        "(1 - beta1**t)", of.replace("β", "beta1"), "(1 - beta2**t)", of.replace("β", "beta2"), hint
    )


def _nan(got, expected):
    bad = isinstance(got, (tuple, list)) and any(
        isinstance(part, (float, np.ndarray)) and np.any(~np.isfinite(part)) for part in got
    )
    return (
        (
            "Not every number is finite: is something divided by 0, or is a root taken of a number below 0? "
            "1 - beta**t is not 0, since t counts from 1."
        )
        if bad
        else None
    )


@exercise(
    "11.adam",
    minutes=7,
    difficulty="medium",
    question="""
        Write one step of Adam from the box. w, m, v and g are arrays of one shape; t counts the steps from 1. Give back the new w, m
        and v, and leave the given arrays as they are.""",
    stub="""
        def adam(w, m, v, t, g, lr, beta1, beta2, eps):
            ...""",
    hints=[
        "Five lines, as in the box: m, v, m corrected, v corrected, and the step. `np.sqrt` is the root.",
        "The corrected ones need names of their own, `m_hat` and `v_hat`: m and v themselves go on to the next step as they are.",
        (
            "Help: my first step is 3.16 times too large",
            """
            At t = 1, m is 0.1 g and √v is 0.0316 |g|, since both started at 0: together 3.16.
            Divide m and v each by the share of a full mean that it has, 1 − βᵗ.""",
        ),
    ],
    solution="""
        def adam(w, m, v, t, g, lr, beta1, beta2, eps):
            m = beta1 * m + (1 - beta1) * g
            v = beta2 * v + (1 - beta2) * g * g
            m_hat = m / (1 - beta1**t)
            v_hat = v / (1 - beta2**t)
            return w - lr * m_hat / (np.sqrt(v_hat) + eps), m, v""",
    explained="Two memories, two corrections, one division. The library's `Adam` does the same, and keeps m, v "
    "and t for you.",
    why="The first step is lr long for every weight, whether its gradient is 1000 or 0.001.",
    mistakes=[
        edit(
            "v_hat = v / (1 - beta2**t)",
            "v_hat = v",
            "m_hat /",
            "m_hat * np.sqrt(1 - beta2**t) /",
            "v is corrected before eps is added: the root of v_hat, and eps beside it.",
        ),
        edit(
            " / (1 - beta1**t)",
            "",
            " / (1 - beta2**t)",
            "",
            "m and v began at 0, and are still too small: the bias correction is missing. "
            "(Without it the first step is 3.16 · lr long, for β₁ = 0.9 and β₂ = 0.999.)",
        ),
        edit(" / (1 - beta1**t)", "", "m is not corrected: divide it by 1 − β₁ᵗ too."),
        edit(" / (1 - beta2**t)", "", "v is not corrected: divide it by 1 − β₂ᵗ too."),
        *[
            edit(
                _BACK,
                f"eps), {back}",
                f"What comes back is corrected ({said}). That is for this step alone: m and v themselves go on.",
            )
            for said, back in [("m and v", "m_hat, v_hat"), ("m", "m_hat, v"), ("v", "m, v_hat")]
        ],
        _power("(1 - β)", "Divide by 1 − βᵗ: the power t is missing."),
        _power("(1 - β)**t", "Divide by 1 − βᵗ: the power belongs to β alone, beta**t."),
        _power("(1 - β * t)", "Divide by 1 − βᵗ: β to the power t, not times t."),
        _power("β**t", "What is there of the mean after t steps is 1 − βᵗ, not βᵗ."),
        edit("m / (1", "m * (1", "v / (1", "v * (1", "m and v are too small: divide by 1 − βᵗ."),
        _power("(1 - β**(t + 1))", "t is 1 at the first step, and the power is t itself."),
        _power("(1 - β**min(t, 3))", "The power is t at every step, at the hundredth too."),
        edit(
            "np.sqrt(v_hat)",
            "v_hat",
            "The root is missing: g is measured in √v, which has its unit.",
        ),
        edit(
            "np.sqrt(v_hat) + eps",
            "np.sqrt(v_hat + eps)",
            "eps is added to the root, not under it.",
        ),
        *[
            edit(
                " + eps", slip, "Below the line stands the root plus eps, and eps is what is given."
            )
            for slip in ("", " + 1e-8")
        ],
        edit(
            "* g * g",
            "* (g @ g)",
            "g @ g is one number for all weights. Each weight has its own: g * g.",
        ),
        edit(
            "* g * g",
            "* np.mean(g * g)",
            "Every weight has a v of its own: no mean or sum over the weights.",
        ),
        edit("* g * g", "* m * m", "v is a mean of g squared, not of m squared."),
        edit(
            "v_hat = v /",
            "v_hat = np.sqrt(v) /",
            "np.sqrt(v_hat)",
            "v_hat",
            "Correct v itself, then take its root.",
        ),
        edit("* g * g", "* g", "v is a mean of g squared: g * g."),
        edit("* g * g", "* abs(g)", "v is a mean of g squared: g * g."),
        edit(
            _M,
            "m = beta1 * m + g",
            "m and v are means: the new one counts 1 − β. (Momentum adds it whole; Adam does not.)",
        ),
        edit(
            _M,
            "m = beta1 * m + g",
            _V,
            "v = beta2 * v + g * g",
            "m and v are means: the new one counts 1 − β. (Momentum adds it whole; Adam does not.)",
        ),
        edit(
            _M,
            "m = (1 - beta1) * m + beta1 * g",
            _V,
            "v = (1 - beta2) * v + beta2 * g * g",
            "β is the share of the old, 1 − β that of the new.",
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
            "That steps by g. The step is made of m, corrected: a mean of the gradients so far.",
        ),
        edit(
            "m_hat = m /",
            "m_hat = g /",
            "That steps by g. The step is made of m, corrected: a mean of the gradients so far.",
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
            "The step is made of the new m and v, not of the old ones.",
        ),
        edit(
            "w - lr",
            "w + lr",
            "That goes uphill. The step goes against the gradient, so there is a minus.",
        ),
        edit("lr * m_hat", "m_hat", "That is a step without lr."),
        edit("lr *", "0.1 *", "lr is what the function is given: not always 0.1."),
        edit(
            _M,
            "beta1, beta2 = 0.9, 0.999; " + _M,
            "The βs are what the function is given: not always 0.9 and 0.999.",
        ),
        edit(
            _M,
            "old, m = m, " + _M[4:],
            _V,
            "was, v = v, " + _V[4:],
            _BACK,
            "eps), old, was",
            "The new m and v have to come back: these are the old ones.",
        ),
        edit(_BACK, "eps)", "w alone comes back. The next step needs the new m and v as well."),
        edit(
            "(1 - beta1**t)",
            "1 - beta1**t",
            "(1 - beta2**t)",
            "1 - beta2**t",
            "Brackets are missing: m / (1 - beta1**t). Without them Python divides by 1 first.",
        ),
        edit(
            "(np.sqrt(v_hat) + eps)",
            "np.sqrt(v_hat) + eps",
            "Brackets are missing: eps is added to the root, below the line: / (np.sqrt(v_hat) + eps).",
        ),
        edit(
            "(1 - beta1) * g",
            "1 - beta1 * g",
            "(1 - beta2) * g",
            "1 - beta2 * g",
            "Brackets are missing: (1 - beta1) * g, and (1 - beta2) * g * g.",
        ),
        edit(_M, "", _V, "", "m and v never take in g: the box's first two lines do that."),
        edit("beta1**t", "beta1 ^ t", "In Python a power is **: beta1**t."),
        edit(
            _M,
            "import math; " + _M,
            "np.sqrt",
            "math.sqrt",
            "np.sqrt takes arrays; math.sqrt does not.",
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
            "The numbers are right, in the wrong order: give w, m, v.",
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
            answer, _adam, build, first=[first, later], apart=True, hints=adam.mistakes, tried=tried
        )


@exercise(
    "11.decay",
    minutes=4,
    difficulty="optional",
    question="""
        A weight is 1, and the data do not care about it: their gradient is 0. It makes its very first step, with lr = 0.1
        and weight decay 0.01. By how much does the weight fall in Adam, to whose gradient the decay is added? And by how
        much in AdamW?""",
    stub="""
        in_adam = ...
        in_adamw = ...""",
    hints=[
        "In Adam the gradient is 0 + 0.01 · 1. How long is Adam's first step, for any gradient that is far above eps?",
        "In AdamW Adam's part has the gradient 0, so it does not move. What is left is lr · decay · w.",
        (
            "Help: I get 0.001 twice",
            "That is lr times the gradient: SGD. Adam divides the gradient by its own size.",
        ),
    ],
    solution="""
        in_adam = 0.1           # 0.01 is divided by its own size, 0.01
        in_adamw = 0.1 * 0.01 * 1""",
    explained="""
        With a decay of 0.0001 Adam would fall by 0.1 as well: where the data's gradient is 0, the strength you set is divided away.""",
    why="In Adam the decay is divided by the usual size of the whole gradient, as the gradient is. AdamW keeps it "
    "out of that division.",
    mistakes=[
        (
            (0.001, 0.001),
            "In SGD both would fall by 0.001. Adam divides its gradient by the gradient's own size: what is left of 0.01?",
        ),
        (
            (0.001, 0.1),
            "It is the other way round: in which of the two does the decay go through the division?",
        ),
        ((0.1, 0.1), "AdamW takes the decay around the division: lr · decay · w."),
        (
            (0.1, 0.101),
            "In AdamW the gradient is that of the data alone, 0. Adam's part moves nothing.",
        ),
        ((0.1, 0), "AdamW takes the decay from w itself, whatever the gradient: lr · decay · w."),
        ((0.1, 0.01), "AdamW's decay is multiplied by lr as well."),
        ((0.01, 0.001), "0.01 is the gradient in Adam. How long is the step that it makes?"),
        ((0.01, 0.01), "0.01 is the gradient in Adam. How long is the step that it makes?"),
        ((0.01, 0), "0.01 is the gradient in Adam. How long is the step that it makes?"),
        ((1, 0.001), "0.01 over its own size is 1. The step is lr times that."),
        ((1, 0.01), "0.01 over its own size is 1. The step is lr times that."),
        ((0.9, 0.999), "0.9 is where Adam leaves the weight. By how much did the weight fall?"),
        ((0.9, 0.9), "0.9 is where Adam leaves the weight. By how much did the weight fall?"),
        ((0, 0.001), "The gradient of the data is 0, but in Adam the decay is added to it: 0.01."),
        ((0, 0), "The gradient of the data is 0, but the decay pulls."),
        ((0.316, 0.001), "0.316 is the first step without bias correction."),
        sign_lost((0.1, 0.001), "The question is by how much the weight falls: that is above 0."),
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


# --- A schedule of one's own ----------------------------------------------------------------------------------------------------


def _factor(epoch):
    return (epoch + 1) / 10 if epoch < 10 else (1 + np.cos(np.pi * (epoch - 10) / 90)) / 2


_RISE, _FALL = "return (epoch + 1) / 10", "return (1 + np.cos(np.pi * (epoch - 10) / 90)) / 2"


@exercise(
    "11.warmup",
    minutes=5,
    difficulty="optional",
    question="""
        Make a schedule of your own, a factor of lr. In its first ten calls, epoch = 0, 1, …, 9, the factor rises evenly, 0.1,
        0.2, …, 1. From epoch 10 to 100 it falls from 1 to 0 along half a cosine wave. Write `factor(epoch)`.
        (`optim.LambdaLR(optimizer, factor)` makes a schedule of it.)""",
    stub="""
        def factor(epoch):
            ...""",
    hints=[
        "An `if` parts the two: `epoch < 10`.",
        "Half a cosine wave falls from 1 to 0 as $(1 + \\cos(\\pi \\cdot \\text{share}))/2$, where the share goes from 0 to 1.",
        (
            "Help: it jumps at 10",
            "The fall takes 90 calls and begins at 10: its share is (epoch − 10) / 90.",
        ),
    ],
    solution="""
        def factor(epoch):
            if epoch < 10:
                return (epoch + 1) / 10
            return (1 + np.cos(np.pi * (epoch - 10) / 90)) / 2""",
    explained="Such a slow start is called a *warm-up*.",
    why="LambdaLR makes a schedule of any function of one number, the epoch.",
    mistakes=[
        (
            lambda epoch: 0.1 * _factor(epoch),
            "That is ten times too small: each of the ten calls adds a tenth, and the factor gets to 1.",
        ),
        (
            lambda epoch: 0.001 * _factor(epoch),
            "A factor of lr is wanted, 1 at the top: not lr itself.",
        ),
        edit(_RISE, "return epoch / 10", "Call 0 has the factor 0.1 already: (epoch + 1) / 10."),
        edit(
            _RISE,
            "return (epoch + 1) // 10",
            "Whole numbers came back, where tenths belong: // and int( ) cut them off.",
        ),
        edit(
            _RISE,
            "return (epoch + 1) / 100",
            "The rise is ten times too small: each of the ten calls adds a tenth, and the factor gets to 1.",
        ),
        edit(
            _RISE,
            "return ((epoch + 1) / 10)**2",
            "The factor is to rise evenly: every call adds a tenth.",
        ),
        edit(
            _FALL,
            "return (1 + np.cos(np.pi * epoch / 100)) / 2",
            "The fall begins at 10 and takes 90: (epoch − 10) / 90.",
        ),
        edit(
            "(epoch - 10) / 90",
            "(epoch - 9) / 91",
            "At 10 the factor is 1 still: the fall begins there, and takes 90.",
        ),
        edit("/ 90", "/ 100", "The fall takes 90 calls, from 10 to 100."),
        edit("/ 90", "/ 89", "The fall takes 90 calls, from 10 to 100."),
        edit(
            _FALL,
            "return np.cos(np.pi * (epoch - 10) / 90)",
            "That falls to −1. Lift it by 1, then halve it: (1 + cos) / 2.",
        ),
        edit(
            _FALL,
            "return 1 + np.cos(np.pi * (epoch - 10) / 90)",
            "1 + cos falls from 2 to 0: halve it.",
        ),
        edit(
            _FALL,
            "return 1 + np.cos(np.pi * (epoch - 10) / 90) / 2",
            "That is 1 + cos/2. Half of all of (1 + cos) is wanted.",
        ),
        edit(
            _FALL,
            "return 1 - (epoch - 10) / 90",
            "That is a straight line. A cosine falls slowly, then fast, then slowly.",
        ),
        edit("np.pi * ", "", "π is missing: half a wave is π long."),
        edit("np.pi", "180", "np.cos counts in radians: π, not 180."),
        edit("np.pi", "2 * np.pi", "A whole wave falls and rises again. Half of one is π long."),
        edit(
            "np.cos", "np.sin", "A sine begins in the middle, at 0. The cosine begins at its top."
        ),
        edit(
            _FALL,
            "return np.cos(np.pi / 2 * (epoch - 10) / 90)",
            "That is a quarter of a wave. Take half a wave, and lift it: (1 + cos) / 2.",
        ),
        edit(_FALL, "return 1", "The fall is missing: from 10 on it is half a cosine wave."),
        edit(
            "/ 90",
            "// 90",
            "The fall has steps: // and int( ) cut to whole numbers, and one / divides.",
        ),
        edit("epoch < 10", "epoch <= 10", "10 belongs to the fall: epoch < 10."),
        edit(
            _RISE,
            "return (1 + np.cos(np.pi * epoch / 100)) / 2",
            _FALL,
            "return (1 + np.cos(np.pi * epoch / 100)) / 2",
            "The rise is missing: before 10 it is (epoch + 1) / 10.",
        ),
        printed(_factor),
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
