"""Ask the questions of lesson 22: one-bit weights, a closed path, the length at 0, and the gradient of a fixed point."""

import numpy as np

import autograd_lib as ag

from ...grading import NotYet, Wrong, brief, edit, exercise, expect_over, has_blank, is_stub
from ...grading.causes import Cause
from ...grading.inputs import value_and_vjp
from ...grading.mistakes import in_place, printed
from ...quiz.texts import Question, card, prediction, recall

recall(
    "22",
    [
        Question(
            "Workers with 10, 10 and 20 rows have mean gradients 1, 2 and 4. What is the mean gradient of all 40 "
            "rows? (Lesson 21)",
            2.75,
            "(10 · 1 + 10 · 2 + 20 · 4) / 40 = **2.75**.",
        ),
        Question(
            "Each step of a loop multiplies a gradient by 0.5. A gradient of 1 goes back through three steps. What is it then? (13)",
            0.125,
            "0.5³ = **0.125**.",
        ),
        Question(
            "Which gradient does the library's relu have at 0 by convention? (04)",
            0,
            "**0**. Any number from 0 to 1 is a subgradient at that kink; 0 is chosen by convention.",
        ),
    ],
)

prediction(
    "22.rest",
    question="""
        One weight begins at 0. $L = \\frac{1}{2}(q - 0.3)^2$ and lr = 0.1. In how many of 100 steps is q = +1? Does q converge, and to what?""",
    answer={"steps with q = +1": 65, "q converges": "nowhere"},
    choices={"q converges": ["to +1, which is nearer", "to −1", "nowhere"]},
    tolerance=3,
    reveal="""**65**, and **nowhere**. At +1 the derivative is 0.7, which pushes w down. At −1 it is −1.3, which pushes w up.
        So q keeps changing. Falls and rises balance, because 65 · 0.7 = 35 · 1.3. The mean of q is 0.65 − 0.35 = 0.3.""",
)

prediction(
    "22.cut",
    question="""
        `cut` returns x unchanged, but its rule clips g to the range from −1 to 1. Which gradient of x does the engine return
        for 3·cut(x)? And for the same function in two parts, 1.5·cut(x) + 1.5·cut(x)?""",
    answer={"in one part": 1, "in two parts": 2},
    reveal="""**1 and 2**. In one part the upstream gradient of cut is 3, which becomes 1. In two parts it is 1.5 for each cut, and
        each becomes 1. Then the two are added. The derivative is 3.""",
)

prediction(
    "22.tip",
    question="""
        The engine differentiates $\\sqrt{x_1^2 + x_2^2}$ with the rules of square, sum and root. What does it return at
        (0, 0)?""",
    answer="nan and nan",
    choices=["0 and 0", "1 and 1", "nan and nan", "an error"],
    reveal="""**nan and nan**. The rule of the root returns g / 0, which is infinite. The rule of the square multiplies by
        2x, which is 0. 0 times infinity is nan.""",
)

prediction(
    "22.beyond",
    question="""
        $z = x + 1.5 \\sin z$ at x = π. One solution is z = π, where $J = 1.5 \\cos \\pi = -1.5$. What is the derivative of z there?
        And what happens to the loop u ← 1 + J·u?""",
    answer={"derivative": 0.4, "the loop": "diverges"},
    choices={"the loop": ["converges", "diverges"]},
    reveal="""**0.4**, and it **diverges**. The solution of u = 1 − 1.5 u is 1/2.5. But every round multiplies
        the difference between u and this solution by −1.5. So the derivative exists, but the loop does not find it.""",
)

card(
    "22",
    [
        "sign has derivative 0, so a weight of which only the sign is used never trains. A straight-through "
        "estimator passes on g as if there were no sign.",
        "g is the exact derivative with respect to the bit. The weight is a memory of every g. In a sum of many bits, one flip "
        "is a small change, so g predicts its effect well.",
        "Around a closed path a gradient adds up to 0. If the sum is not 0, as often with straight-through or detach, the "
        "field is not a gradient.",
        "A rule need not be a derivative. It must be linear in g, fit the shape of x, not write into its arguments, "
        "and be deterministic.",
        "At the tip of a cone we choose the subgradient 0 by convention. The rules of square and root would give 0 · ∞, "
        "which is nan.",
        "The gradient of a fixed point does not depend on how it was found: u = g + Jᵀu, then Bᵀu. The loop for u converges if "
        "ρ < 1.",
    ],
)


# --- A weight of one bit ----------------------------------------------------------------------------------------------


def sign(x):
    """Return an array with +1 where x is at least 0, and −1 elsewhere."""
    return np.where(x >= 0, 1.0, -1.0)


def _passed(answer):
    """Return a function that runs the learner's `answer` on an array and a gradient, and returns (value, gradient).

    The function raises Wrong if the answer returns no Tensor.
    """

    def forward(w):
        z = answer(w)
        if z is None:
            raise Wrong(
                "one_bit(w)",
                "None",
                "a Tensor of w's shape",
                "Your function returned None. Does it print the result instead of returning it?",
            )
        if callable(z):
            raise Wrong(
                "one_bit(w)",
                "a function",
                "a Tensor of w's shape",
                "Your function returned the row itself. Apply the row to w: ag.elementwise(…)(w).",
            )
        if isinstance(z, (list, tuple)):
            raise Wrong(
                "one_bit(w)",
                brief(z),
                "a Tensor of w's shape",
                f"Return one Tensor, not a {type(z).__name__}.",
            )
        return z

    forward.__wrapped__ = answer
    return value_and_vjp(forward)


def _right_bit(w, g):
    return sign(w), np.where(np.abs(w) <= 1, g, 0.0)  # 0.0 and not -0.0, which a learner would see


def _row(rule):
    return ag.elementwise(sign, rule)


def _third_value(got, expected):
    """Return a hint if some of the learner's bits are 0, as np.sign(0) is. Otherwise return None.

    `got` is the pair (value, gradient) that the learner's function returns.
    """
    bits = {*np.ravel(got[0]).tolist()}
    third = 0 in bits and bits <= {-1, 0, 1}
    return (
        "A bit of 0 would be a third value. np.sign(0) is 0. And w + (sign(w) − w) is 0 for a large w, because of "
        "rounding: clip w first."
        if third
        else None
    )


def _masked_value(got, expected):
    """Return a hint if the learner's bits are 0 where |w| > 1, and right elsewhere. Otherwise return None."""
    bits, right = np.asarray(got[0]), expected[0]
    outside = np.asarray(expected[1]) == 0
    masked = bits.shape == np.shape(right) and np.array_equal(bits, np.where(outside, 0, right))
    return (
        "Where |w| > 1, only the gradient is 0. The value is still −1 or +1."
        if masked and np.any(outside) and not np.all(outside)
        else None
    )


_INSIDE, _BIT = "inside = np.clip(w, -1, 1)", "inside + (sign(w) - inside).detach()"
_BEYOND = (
    "The value is right. But g passes beyond 1 too, so w would diverge: clip w first; in a rule, test "
    "|x| ≤ 1 on the weight, not on the bit."
)
_ZERO_OVER_ZERO = "At 0 that is 0/0, which is nan. Use sign(w), which is +1 at 0."
_ASSIGNED = "Do not assign to data. Return a new Tensor: add the difference from the sign to `inside`, as a constant."
_ALL_CUT = "The gradient is 0 everywhere. Detach only the part that you add to make the value right; g must pass through the rest."


@exercise(
    "22.one_bit",
    minutes=4,
    difficulty="medium",
    importance=2,
    names=lambda: {"sign": sign},
    question="""
        Write `one_bit(w)` for a Tensor w of any shape. Its value is −1 below 0 and +1 otherwise. Where |w| ≤ 1, w gets the
        upstream gradient. Outside this range, w gets 0. Use `detach` or a row of your own.""",
    stub="""
        def one_bit(w):
            ...""",
    hints=[
        "`sign(w)` has the right value. `np.clip(w, -1, 1)` has the right gradient (lesson 04).",
        "Take the function with the right gradient. Add the difference from the right value as a constant: `(… − …).detach()`.",
        ("Help: as a row", "`ag.elementwise(sign, rule)`, where the rule takes g, z and x."),
    ],
    solution="""
        def one_bit(w):
            inside = np.clip(w, -1, 1)
            return inside + (sign(w) - inside).detach()""",
    explained="""
        The value is that of the sign, because the two `inside` terms cancel. In the backward pass, the bracket is a constant. A row also works: `ag.elementwise(sign, lambda g, z, x: g * (abs(x) <= 1))`.""",
    why="A straight-through estimator takes its value from one function, and its gradient from another.",
    mistakes=[
        (lambda w: sign(w), _ALL_CUT),
        edit(_INSIDE, "inside = w", _BEYOND),
        edit(_BIT, "(inside + sign(w) - inside).detach()", _ALL_CUT),
        edit(_BIT, "inside + sign(w) - inside", _ALL_CUT),
        edit(
            _BIT,
            "inside.detach() + sign(w) - inside",
            "The gradient has the wrong sign: the only `inside` that is not detached has a minus. Detach the bracket, not "
            "the first `inside`.",
        ),
        edit("sign(w) -", "np.sign(w) -", "At 0 the bit is +1."),
        edit(
            _BIT,
            "inside",
            "The gradient is right, but the value is still the clipped w. Add the difference to the sign, as a constant.",
        ),
        edit("sign(w) -", "w.sign() -", "sign is a function here, not a method: sign(w)."),
        edit(
            _BIT,
            "inside + sign(w).detach() - inside.detach()",
            "sign(w) is a plain array, and has no .detach. The bracket as a whole is a Tensor: (sign(w) - inside).",
        ),
        edit(
            _INSIDE,
            "inside = np.minimum(np.maximum(w, -1), 1)",
            "At exactly 1 and −1 the two arguments are equal, and each gets half of g. np.clip passes on all of g.",
        ),
        edit(
            _INSIDE,
            "inside = ag.relu(w + 1) - ag.relu(w - 1) - 1",
            "At exactly −1 the gradient is still g, as with np.clip.",
        ),
        edit(
            _INSIDE,
            "inside = np.tanh(w)",
            "The gradient of tanh would be another approximation, a smoother one. Here w gets g itself where |w| ≤ 1.",
        ),
        edit(
            _INSIDE,
            "inside = np.clip(w, 0, 1)",
            "Below 0 your gradient is 0, but |w| ≤ 1 means from −1 to 1.",
        ),
        edit(
            _INSIDE,
            "inside = w / 2",
            "w gets half of g, even where |w| > 1. np.clip(w, -1, 1) passes g on unchanged between −1 and 1.",
        ),
        edit(
            _BIT,
            "inside * sign(w)",
            "That is |w|, clipped at 1, and below 0 the sign of g is reversed. Do not multiply: add a difference, and detach it.",
        ),
        edit(
            _BIT,
            "inside * (sign(w) / inside).detach()",
            "At 0 that is 0 · (1/0), which is nan; elsewhere g is divided by the clipped |w|. Do not multiply: add the "
            "difference.",
        ),
        edit(
            "sign(w) - inside",
            "sign(w) - w",
            "The value equals the sign only where |w| ≤ 1. Subtract the `inside` that you added.",
        ),
        edit(
            _INSIDE,
            "inside = w * (abs(w.data) <= 1)",
            "sign(w) - inside",
            "sign(w) - w",
            "The value equals the sign only where |w| ≤ 1. Subtract the term that you added, which is 0 elsewhere.",
        ),
        edit(
            "sign(w) - inside",
            "w - sign(w)",
            "The gradient is right. For the value, the bracket is the sign minus `inside`, not the other way round.",
        ),
        edit(
            _BIT,
            "w.detach() + sign(w) - w",
            "The gradient has the wrong sign: the only w that is not detached has a minus. Detach the bracket instead.",
        ),
        edit("sign(w)", "np.where(w > 0, 1.0, -1.0)", "At 0 the bit is +1: w >= 0."),
        edit("sign(w)", "np.where(w >= 0, 1.0, 0.0)", "The bits are −1 and +1, not 0 and 1."),
        edit(
            "sign(w)",
            "np.where(w >= 0, -1.0, 1.0)",
            "The bit has the wrong sign: it is +1 from 0 on.",
        ),
        (_row(lambda g, z, x: g), _BEYOND),
        (
            _row(lambda g, z, x: g * (np.abs(x) < 1)),
            "At exactly 1 and −1 the gradient is still g: ≤, as with np.clip.",
        ),
        (
            _row(lambda g, z, x: g * z),
            "g · z reverses the sign of g for every bit of −1. Straight through means that g is "
            "passed on unchanged.",
        ),
        (
            _row(lambda g, z, x: np.clip(g, -5, 5) * (np.abs(x) <= 1)),
            "That clips g. Where w is between −1 and 1, pass on all of g.",
        ),
        *(
            (
                _row(lambda g, z, x, end=end: g * (np.abs(x) <= end)),
                "Just beyond 1 the gradient must be 0: |x| ≤ 1.",
            )
            for end in (1.001, 1 + 1e-9)
        ),
        (
            _row(lambda g, z, x: np.clip(g, -1, 1)),
            "That clips g. Where w is between −1 and 1, pass on all of g.",
        ),
        (
            _row(lambda g, z, x: np.clip(g, -1, 1) * (np.abs(x) <= 1)),
            "That clips g. Where w is between −1 and 1, pass on all of g.",
        ),
        (
            _row(lambda g, z, x: 1.0 * (np.abs(x) <= 1)),
            "The upstream gradient is missing: multiply by g.",
        ),
        (
            _row(lambda g, z, x: g * (np.abs(x) > 1)),
            "The condition is reversed: w gets g *between* −1 and 1.",
        ),
        (_row(lambda g, z, x: g * (np.abs(z) <= 1)), _BEYOND),
        (
            _row(lambda g, z, x: g * (x <= 1)),
            "Below −1 your gradient is still g, but it must be 0: |x| ≤ 1.",
        ),
        (
            _row(lambda g, z, x: g * np.maximum(1 - np.abs(x), 0)),
            "That multiplies g by 1 − |w|. Pass g on unchanged where |w| ≤ 1.",
        ),
        (
            _row(lambda g, z, x: g * (1 - x * x) * (np.abs(x) <= 1)),
            "That multiplies g by 1 − w². Pass g on unchanged where |w| ≤ 1.",
        ),
        (
            _row(lambda g, z, x: np.round(g) * (np.abs(x) <= 1)),
            "Do not round g: pass it on unchanged.",
        ),
        (_row(lambda g, z, x: np.abs(g) * (np.abs(x) <= 1)), "g keeps its sign: do not use abs."),
        (
            _row(lambda g, z, x: g * z * (np.abs(x) <= 1)),
            "z is the bit, so g · z reverses the sign of g where w is below 0. Pass g on unchanged.",
        ),
        (lambda w: w, "That passes w through in the forward pass too. The value must be −1 or +1."),
        edit(
            _BIT,
            "inside - (sign(w) - inside).detach()",
            "The gradient is right. For the value, add the bracket: inside + (sign(w) − inside) is the sign.",
        ),
        edit(
            _BIT,
            "inside.detach() + sign(w)",
            "The value is the sum of both, and nothing passes g on. Add the difference sign(w) − inside, and detach only that.",
        ),
        *(
            edit(
                _BIT,
                swapped,
                "Value and gradient are exchanged: this has the value of `inside`, and the gradient of the sign, which "
                "is 0. Start with `inside`, and detach the difference that you add to it.",
            )
            for swapped in (
                "sign(w) + (inside - sign(w)).detach()",
                "ag.Tensor(sign(w.data)) + (inside - sign(w)).detach()",
            )
        ),
        *(
            (
                _row(rule),
                "The arguments are in another order: a rule takes g, z and x. Here the array that you call g is not "
                "the upstream gradient.",
            )
            for rule in (
                lambda x, z, g: g * (np.abs(x) <= 1),
                lambda z, x, g: g * (np.abs(x) <= 1),
                lambda x, g, z: g * (np.abs(x) <= 1),
                lambda z, g, x: g * (np.abs(x) <= 1),
            )
        ),
        edit("sign(w) -", "w / abs(w) -", _ZERO_OVER_ZERO),
        (lambda w: w / abs(w), _ZERO_OVER_ZERO),
        *(
            (
                _row(rule),
                "That multiplies g by the clipped w. Pass on g itself where |w| ≤ 1, and 0 elsewhere.",
            )
            for rule in (
                lambda g, z, x: g * np.clip(x, -1, 1),
                lambda g, z, x: g * np.clip(x, -1, 1) * (np.abs(x) <= 1),
            )
        ),
        *(
            (
                _row(lambda g, z, x, bit=bit: np.where(np.abs(x) <= 1, g, bit(g))),
                "Outside the range, w gets 0, not the sign of g.",
            )
            for bit in (np.sign, sign)
        ),
        edit(
            _INSIDE,
            "inside = w * (abs(w.data) <= 1)",
            "sign(w) -",
            "sign(inside) -",
            "The gradient is right. But `inside` is 0 where |w| > 1, and so its sign is +1 there: take the sign of w itself.",
        ),
        edit(_INSIDE, "w.data = sign(w)\n    " + _INSIDE, _ASSIGNED),
        edit(_INSIDE, _INSIDE + "\n    inside.data[...] = sign(w)", _ASSIGNED),
    ],
)
def one_bit(answer):
    if is_stub(answer):
        raise NotYet
    rng = np.random.default_rng(0)
    hints = [(_passed(wrong), hint) for wrong, hint in one_bit.mistakes]

    def build(d):
        w = d(*d.shape(0, 1, 2, 3)) * d.choice(1, 0.5)
        return np.asarray(w), np.asarray(d.g(*np.shape(w)))

    examples = [
        (w, rng.uniform(-most, most, w.shape).round(2))
        for most, w in [
            (3, np.array([-0.4, 0.3, 1.7, -2.5, 0.0])),
            (400, np.array([[1.0, -1.0, 0.8], [-0.6, 3.2, -1.0001]])),
            (3, np.array([2.4, 0.3, -0.7, 1.0001, -1.6])),
            (0.1, np.array(-0.25)),
            (3, np.array([1e20, -1e20])),
            (3, np.array([-1e-12, 1e-12])),
            (3, np.nextafter([1.0, -1.0], [2, -2])),
        ]
    ]
    expect_over(
        _passed(answer),
        _right_bit,
        build,
        first=examples,
        hints=[*hints, _masked_value, _third_value],
        tried=lambda w, g: (
            f"one_bit(w), with the upstream gradient {brief(g)}, w = {brief(w)}: (value, gradient of w)"
        ),
    )


# --- Around a closed path ---------------------------------------------------------------------------------------------


def whirl(w):
    """Return the vector at `w` of a vector field that turns left everywhere.

    Its integral around a closed path is twice the area that the path encloses.
    """
    return np.stack([-w[1], w[0], *w[2:]])


def uneven(w):
    """Return the vector at `w` of a vector field in three dimensions.

    No two of its entries have the same formula.
    """
    return w[::-1] * w[0] * np.array([3.0, 6.0, -3.0]) + np.array([0.5, 0.0, 1.0])


def bits(w):
    """Return the straight-through gradient of L = q₁q₂ at the two weights `w`, where q is the bit of a weight.

    The gradient of each weight is the bit of the other weight.
    """
    return sign(w)[::-1]


TOUR = np.array(
    [[0.0, 1.0, 2.0], [1.0, -1.0, 0.5], [2.0, 0.5, 1.0], [0.3, 2.0, 0.1], [1.2, 1.3, 1.4]]
)


def _round_trip(field, corners, steps):
    total = 0.0
    for start, end in zip(corners, np.roll(corners, -1, axis=0)):
        part = (end - start) / steps
        for k in range(steps):
            total += np.sum(field(start + (k + 0.5) * part) * part)
    return total


_LEGS = "zip(corners, np.roll(corners, -1, axis=0))"
_MIDDLE, _TERM = "(k + 0.5)", "np.sum(field(start + (k + 0.5) * part) * part)"
_BACK_HOME = "The last leg is missing: from the last corner back to the first."
_FIRST = (
    "That is the first leg alone. A leg starts at every corner, and return comes after both loops."
)
_HALF = "Evaluate the field at the *middle* of each part, (k + 0.5) parts from the start."


@exercise(
    "22.round_trip",
    minutes=3,
    difficulty="optional",
    importance=1,
    question="""
        Compute this sum for any closed path. `field(w)` is a vector at the point w, such as g. The loop goes through the legs, from
        each row of `corners` to the next, and from the last to the first. Cut each leg into `steps` equal parts, and add up
        ⟨field, part⟩, with the field at the middle of each part. Fill in the two blanks.""",
    stub="""
        def round_trip(field, corners, steps):
            total = 0.0
            for start, end in zip(corners, np.roll(corners, -1, axis=0)):
                part = ...
                for k in range(steps):
                    total += ...
            return total""",
    hints=[
        "A part is a vector, (end − start) / steps. `np.sum(a * b)` is ⟨a, b⟩.",
        "The middle of part k is start + (k + 0.5)·part.",
        (
            "Help: it is right only for a square",
            "A part has a length and a direction: ⟨field, part⟩ is `np.sum(field(…) * part)`.",
        ),
    ],
    solution="""
        def round_trip(field, corners, steps):
            total = 0.0
            for start, end in zip(corners, np.roll(corners, -1, axis=0)):
                part = (end - start) / steps
                for k in range(steps):
                    total += np.sum(field(start + (k + 0.5) * part) * part)
            return total""",
    explained="⟨gradient, part⟩ is approximately the change in the loss along that part. So the sum is approximately the total change in the loss.",
    why="A function that returns to its initial value has changed by 0 in total. If the sum does not go to 0 as the parts get "
    "shorter, the field is not a gradient.",
    mistakes=[
        edit(
            "return total",
            "return abs(total)",
            "Do not use abs: going round the other way gives the other sign.",
        ),
        edit(_LEGS, "zip(corners[:-1], corners[1:])", _BACK_HOME),
        edit(
            _LEGS,
            "zip(corners, np.roll(corners, 1, axis=0))",
            "The sign is wrong: each leg leads to the *next* corner, and a part is end − start.",
        ),
        edit(
            _LEGS,
            "zip(corners, np.roll(corners, -1))",
            "np.roll without an axis mixes up x and y of the corners: axis=0.",
        ),
        edit(
            _LEGS,
            "[(corners[-1], corners[0])]",
            "That is the last leg alone. A leg starts at every corner.",
        ),
        edit(_LEGS, "[(corners[0], corners[1])]", _FIRST),
        edit(_MIDDLE, "k", _HALF),
        edit(_MIDDLE, "(k + 1)", _HALF),
        edit(
            _TERM,
            "np.sum((field(start + k * part) + field(start + (k + 1) * part)) / 2 * part)",
            "The mean of both ends need not be equal to the field in the middle. " + _HALF,
        ),
        edit(
            _TERM,
            "np.sum(field(start + (k + 0.5) * (end - start)) * part)",
            "The middle of part k is start + (k + 0.5)·part. Your points are far beyond the leg.",
        ),
        edit(
            _TERM,
            "np.sum(ag.grad(field)(start + (k + 0.5) * part) * part)",
            "The field is already a gradient: call field(…), and do not differentiate it.",
        ),
        edit(
            "for k in range(steps):\n            total += " + _TERM,
            "at = start + (np.arange(steps)[:, None] + 0.5) * part\n        total += np.sum(field(at) * part)",
            "field takes one point at a time, of the same shape as a corner.",
        ),
        edit(
            "part = (end - start) / steps",
            "part = (end - start) / len(corners)",
            "Each leg is cut into `steps` parts, however many corners there are.",
        ),
        (
            lambda field, corners, steps: 0.0,
            "A gradient gives 0, but another field may give another sum: add up the parts.",
        ),
        edit(
            "part = (end - start) / steps",
            "part = end - start",
            "Each part is the leg divided by steps.",
        ),
        edit(
            "part = (end - start) / steps",
            "part = (start - end) / steps",
            "A part leads from start to end: end − start.",
        ),
        edit(
            "part = (end - start) / steps",
            "part = (end - start) / steps * np.sign(end - start)",
            "A part has a direction: end − start, with its signs.",
        ),
        edit(
            _TERM,
            "np.sum(field(start + (k + 0.5) * part))",
            "Multiply by the part: where you walk against the field, the product is negative.",
        ),
        edit(
            _TERM,
            "np.sum(field(start + (k + 0.5) * part)) * np.sum(part)",
            "Entry by entry: multiply the field by the part, and then add.",
        ),
        edit(
            _TERM,
            "np.sum(field(start + (k + 0.5) * part)) * np.linalg.norm(part)",
            "A part has a direction too: ⟨field, part⟩ is np.sum(field(…) * part).",
        ),
        edit(
            _TERM,
            "np.linalg.norm(field(start + (k + 0.5) * part)) * np.linalg.norm(part)",
            "A part has a direction too: ⟨field, part⟩ is np.sum(field(…) * part).",
        ),
        edit(
            _TERM,
            "abs(np.sum(field(start + (k + 0.5) * part) * part))",
            "Do not use abs: the rise on one leg is lost on another.",
        ),
        edit(
            _TERM,
            "np.mean(field(start + (k + 0.5) * part) * part)",
            "⟨field, part⟩ is the sum of the products, not their mean.",
        ),
        edit(
            _TERM,
            "field(start + (k + 0.5) * part) * part",
            "⟨field, part⟩ is one number: add up the products with np.sum.",
        ),
        edit(
            _TERM,
            "np.max(field(start + (k + 0.5) * part) * part)",
            "⟨field, part⟩ is the sum of the products, not the largest.",
        ),
        edit(
            _TERM,
            "(field(start + (k + 0.5) * part) * part)[0]",
            "That is the first entry alone. Add up all of them.",
        ),
        edit(
            _TERM,
            "np.sum(field(start) * part)",
            "Evaluate the field for every part, at its middle.",
        ),
        edit(
            _TERM,
            "np.sum(field((start + end) / 2) * part)",
            "Evaluate the field for every part, at the middle of the part, not of the leg.",
        ),
        edit(
            _TERM,
            "np.sum(field(end) * part)",
            "Evaluate the field for every part, at its middle.",
        ),
        edit("return total", "return round(total, 1)", "Do not round the sum."),
        edit(
            "return total",
            "return int(total)",
            "int drops the decimals: the sum may be any number.",
        ),
        edit(
            "range(steps)",
            "range(4)",
            "`steps` is the number of parts; it is not always the same.",
        ),
        edit(
            "np.roll(corners, -1, axis=0)",
            "[*corners[1:4], corners[0]]",
            "That takes four corners, as a rectangle has. There may be more: len(corners).",
        ),
        edit(
            "np.roll(corners, -1, axis=0)",
            "[*corners[1:], np.zeros(len(corners[0]))]",
            "The last leg leads back to the first corner, which need not be 0.",
        ),
        edit("total +=", "total =", "= discards the earlier sum: add up with +=."),
        edit(
            "return total",
            "return total / steps",
            "Do not divide the sum: each part is already a leg divided by steps.",
        ),
        edit(
            "return total", "return total / len(corners)", "Add up all legs; do not average them."
        ),
        edit("    return total", "        return total", _FIRST),
        edit(
            "    return total",
            "            return total",
            "That is the first part alone: return comes after both loops.",
        ),
        edit(
            _TERM,
            f"{_TERM} / np.linalg.norm(part)",
            "Do not divide by the length of the part: ⟨field, part⟩ is small for a short part.",
        ),
        edit(
            "part = (end - start) / steps",
            "part = end - start",
            _MIDDLE,
            "(k + 0.5) / steps",
            "Multiply the field by a part, not by the whole leg: each part is the leg divided by steps.",
        ),
        edit("range(steps)", "range(steps + 1)", "One part too many: range(steps)."),
        edit("range(steps)", "range(steps - 1)", "One part too few: range(steps)."),
        edit("range(steps)", "range(1, steps)", "The first part is missing: k begins at 0."),
        edit(
            "for k in range(steps):\n            total += " + _TERM,
            "for t in np.linspace(0, 1, steps):\n"
            "            total += np.sum(field(start + t * (end - start)) * part)",
            "np.linspace(0, 1, steps) includes both ends of the leg, and cuts it into steps − 1 parts. "
            + _HALF,
        ),
        edit(
            "(k + 0.5) * part",
            "k * part + 0.5",
            "You add 0.5 to every coordinate. The middle is half a *part* further: (k + 0.5) * part.",
        ),
        edit(
            "start + (k + 0.5) * part",
            "start + part / 2",
            "That is the middle of the first part, every time. Part k is k parts further: (k + 0.5) * part.",
        ),
        edit(
            _MIDDLE,
            "k * 0.5",
            "That is k half parts from the start. The middle of part k is (k + 0.5) parts from it.",
        ),
        edit(
            "start + (k + 0.5) * part",
            "(k + 0.5) * part",
            "Your points lie on a leg that begins at 0: add start.",
        ),
        edit(
            "start + (k + 0.5) * part",
            "part",
            "A part is a difference of two points. Evaluate the field at a point of the leg, start + (k + 0.5)·part.",
        ),
        printed(_round_trip),
        edit(
            _LEGS,
            "[(corners[k], corners[k + 1]) for k in range(len(corners))]",
            "The last leg ends at the first corner again: np.roll, or corners[(k + 1) % len(corners)].",
        ),
        edit(
            "range(steps)",
            "range(1, steps + 1)",
            "Every point is one part too far: k begins at 0, so the first middle is start + 0.5·part.",
        ),
        edit(
            "(end - start) / steps",
            "np.linalg.norm(end - start) / steps",
            "That is the length of a part. A part has a direction too: (end − start) / steps.",
        ),
        edit(
            "(end - start) / steps",
            "end - start / steps",
            "Python divides before it subtracts: put parentheses around end - start.",
        ),
        edit("/ steps", "// steps", "// drops the fraction: divide by steps with /."),
        edit(
            _TERM,
            "np.outer(field(start + (k + 0.5) * part), part)",
            "⟨field, part⟩ is the scalar product, one number: np.sum(field(…) * part).",
        ),
    ],
)
def round_trip(answer):
    if has_blank(answer):
        raise NotYet
    triangle = np.array([[0.3, 0.2], [2.0, 0.5], [0.5, 1.5]])
    rectangle = np.array([[-1.0, 1.0], [1.5, 1.0], [1.5, 2.0], [-1.0, 2.0]])
    expect_over(
        answer,
        _round_trip,
        lambda d: (d.function(whirl, np.sin, np.cos), d(d.size(2), d.size(2, 3)), d.times(1, 2, 3)),
        apart=True,
        rounds=8,
        hints=round_trip.mistakes,
        first=[
            (uneven, TOUR, 7),
            (whirl, triangle, 1),
            (whirl, triangle[::-1] / 7, 4),
            (bits, rectangle, 49),
            (np.sin, TOUR[[0, 0, 1, 2]], 5),
            (uneven, TOUR[:2], 2),
            (uneven, TOUR[[0, 1, 0, 2]], 3),
            (uneven, TOUR[[*range(5), 1, 2, 3]], 2),
            (np.cos, np.array([[0, 1], [3, 0], [1, 4]]), 4),
        ],
        tried=lambda field, corners, steps: (
            f"round_trip({brief(field)}, corners, {steps}), corners = {brief(corners)}"
        ),
    )


# --- The length at 0 --------------------------------------------------------------------------------------------------


def length(x):
    return np.sqrt(np.sum(x * x))


def _length_x(g, z, x):
    return g * x / np.where(z == 0, 1, z)


_RIGHT = "g * x / np.where(z == 0, 1, z)"
_AT_TIP = (
    "At 0 this is nan: 0 / 0. Divide by something that is not 0 there, np.where(z == 0, 1, z)."
)
_SHORT = "Your rule is wrong for a short x, which has a length too. The rule gives zeros only where z == 0."


@exercise(
    "22.length_x",
    minutes=3,
    difficulty="optional",
    importance=1,
    question="""
        Write the rule of the length. z = √Σx² is one number, and so is g. x may have any shape. At z = 0 the rule gives
        zeros.""",
    stub="""
        def length_x(g, z, x):
            ...""",
    hints=[
        "Away from 0 the rule is g·x/z.",
        "`np.where(z == 0, 1, z)` is z, with a 1 in place of a 0. At x = 0 the quotient is then 0 / 1, which is 0.",
        (
            "Help: it is still nan",
            "0/0 is nan, and nan times 0 is nan too. So choose the divisor before you divide.",
        ),
    ],
    solution="""
        def length_x(g, z, x):
            return g * x / np.where(z == 0, 1, z)""",
    explained="This avoids the trap of `where` from lesson 04: the rule never divides by 0.",
    why="The rule is one line of chain rule, and one value chosen by convention for the only point where the length has no "
    "derivative.",
    mistakes=[
        (lambda g, z, x: g * x / z, _AT_TIP),
        (
            lambda g, z, x: x / np.where(z == 0, 1, z),
            Cause("no g"),
        ),
        (lambda g, z, x: g * x / np.where(np.isclose(z, 0), 1, z), _SHORT),
        (lambda g, z, x: np.zeros_like(x) if np.isclose(z, 0) else g * x / z, _SHORT),
        (
            lambda g, z, x: g * x / np.where(z == 0, 1, z) / x.size,
            "A length is not a mean, so do not divide by n.",
        ),
        (
            lambda g, z, x: g * x * z,
            "Divide by z, do not multiply: the slope of a length is at most 1.",
        ),
        (
            lambda g, z, x: g * x / np.maximum(z, 1),
            "A length below 1 is a length too: replace z by 1 only where z == 0.",
        ),
        (
            lambda g, z, x: g * x / np.where(np.sum(x) == 0, 1, z),
            "Entries of both signs may add up to 0 although x is not at the tip: test z.",
        ),
        *(
            (
                lambda g, z, x, here=here: g * x / z if here(x) else np.zeros_like(x),
                "An entry may be 0 although x is not at the tip: test z.",
            )
            for here in (np.all, lambda x: x.flat[0] != 0)
        ),
        (
            lambda g, z, x: 0.0 if z == 0 else g * x / z,
            "At 0 the rule returns zeros in the shape of x: np.zeros_like(x).",
        ),
        (
            lambda g, z, x: g * x,
            "Divide by z: the derivative of the length with respect to x is x/z.",
        ),
        (lambda g, z, x: g * x / (z + 1e-8), _SHORT),
        (lambda g, z, x: g * x / (z + 1e-12), _SHORT),
        (lambda g, z, x: g * x / np.maximum(z, 1e-12), _SHORT),
        (lambda g, z, x: g * x / np.sqrt(z * z + 1e-12), _SHORT),
        (
            lambda g, z, x: g * x / np.where(z == 0, 1, z * z),
            "You divide by z once too often: z is the root already.",
        ),
        (
            lambda g, z, x: g * x / np.where(z == 0, 1, 2 * z),
            "The 2 of the square and the ½ of the root cancel.",
        ),
        (
            lambda g, z, x: 2 * g * x / np.where(z == 0, 1, z),
            "The 2 of the square and the ½ of the root cancel.",
        ),
        (lambda g, z, x: 2 * g * x, "That is the rule of Σx². The root divides by 2z."),
        (
            lambda g, z, x: g * np.sign(x),
            "Those are the slopes of Σ|x|. The length has slopes x/z.",
        ),
        (
            lambda g, z, x: g * x / np.where(z == 0, 1, np.sum(np.abs(x))),
            "You divide by Σ|x|. The length is z.",
        ),
        (
            lambda g, z, x: g * np.abs(x) / np.where(z == 0, 1, z),
            "Do not use abs: where x is negative, raising it shortens the length.",
        ),
        (
            lambda g, z, x: g / np.where(z == 0, 1, z),
            "x is missing: the factor of g is x/z.",
        ),
        (
            lambda g, z, x: g * z / np.where(x == 0, 1, x),
            "Your quotient is upside down: it is x/z.",
        ),
        (lambda g, z, x: g * z / x, "Your quotient is upside down: it is x/z."),
        (
            lambda g, z, x: g * x / np.where(z == 0, 1, np.sqrt(z)),
            "z is the root already: divide by z, not by its root.",
        ),
        (
            lambda g, z, x: -g * x / np.where(z == 0, 1, z),
            "The magnitude is right, but the sign is wrong.",
        ),
        (
            lambda g, z, x: np.sum(g * x) / np.where(z == 0, 1, z),
            "That is one number. The gradient of x has the shape of x: do not sum.",
        ),
        (
            lambda g, z, x: np.where(z == 0, g, g * x / np.where(z == 0, 1, z)),
            "At 0 the rule returns zeros, not g.",
        ),
        (
            lambda g, z, x: np.where(z == 0, g / np.sqrt(x.size), g * x / np.where(z == 0, 1, z)),
            "An arrow of length 1 is a subgradient too. But by convention we choose the middle one, 0.",
        ),
        (lambda g, z, x: g * x / np.linalg.norm(x), _AT_TIP),
        (
            lambda g, z, x: g * x / np.linalg.norm(x, axis=-1, keepdims=True),
            "That uses a length for each row. The rule is for one length, the length of all of x: divide by z.",
        ),
        (
            lambda g, z, x: np.where(z == 0, 1, g * x / np.where(z == 0, 1, z)),
            "At 0 the rule returns zeros, not 1.",
        ),
        (
            lambda g, z, x: np.round(_length_x(g, z, x), 2),
            "Do not round: a slope may be any number.",
        ),
        (lambda g, z, x: _length_x(g, z, np.maximum(x, 0)), "x may be negative: do not use max."),
        (lambda g, z, x: _length_x(g, z, x) if z > 1e-6 else np.zeros_like(x), _SHORT),
        printed(_length_x),
        in_place(_length_x),
        (
            lambda g, z, x: g / (2 * np.where(z == 0, 1, z)),
            "That is the rule of the root alone. The rule of each square contributes the factor 2x.",
        ),
        (
            lambda g, z, x: np.zeros(2) if z == 0 else g * x / z,
            "At 0 the rule returns zeros in the shape of x: np.zeros_like(x).",
        ),
    ],
    playground="""
        x = [3, 4]
        z = sqrt(sum(x**2))""",
)
def length_x(answer):
    if is_stub(answer):
        raise NotYet

    def build(d):
        x = d(*d.shape(0, 1, 2, 3))
        return d.g(), length(x), x

    expect_over(
        answer,
        _length_x,
        build,
        hints=length_x.mistakes,
        first=[
            (g, length(x), x)
            for g, x in [
                (2.5, np.array([3.0, -4.0, 12.0])),
                (-0.7, np.array([[0.0, 0.1, -0.2], [0.3, -0.4, 0.05]])),
                (1.5, np.zeros(2)),
                (3.0, np.array([2e-150, -1e-150])),
                (-2.0, np.array([-0.5])),
                (1.0, np.zeros((2, 3))),
                (2.0, np.array([0.5, -0.5])),
            ]
        ],
    )


# --- The gradient of a fixed point ------------------------------------------------------------------------------------


def kepler(z, x):
    return x + 0.6 * np.sin(z)


_A = np.array([[0.3, -0.4, 0.1], [0.2, 0.1, 0.5], [-0.3, 0.2, 0.2]])
_B = np.array([[0.5, -1.0], [0.3, 0.8], [-0.6, 0.2]])


def layer(z, x):
    """Return the output of a layer with three inputs `z` that are fed back and two external inputs `x`."""
    return np.tanh(_A @ z + _B @ x)


def slow(z, x):
    """Return the output of a layer that contracts only by a factor of 0.98 near z = 0.

    So the loop z ← f(z, x) still changes z in round 300.
    """
    return x + 0.98 * np.sin(z)


def beyond(z, x):
    """Return the output of a layer whose slope near z = π is −1.5.

    Therefore the fixed-point iteration u ← g + Jᵀu of the backward pass diverges.
    """
    return x + 1.5 * np.sin(z)


def rows(z, x):
    """Return the output of a layer that is applied to each of two rows of `z`, with the external input `x`.

    The first column of `x` is used again as the third entry.
    """
    return np.tanh(z @ _A + ag.concatenate([x, x[:, :1]], axis=1))


def _arrive(f, z, x):
    for _ in range(300):
        z = f(z, x)
    return z


def _pull_back(f, z, x, g, rounds):
    _, back = ag.vjp(f, z, x)
    u = g
    for _ in range(rounds):
        u = g + back(u)[0]
    return back(u)[1]


def _forward(f, z, x, g, rounds):
    u = g
    for _ in range(rounds):
        u = g + ag.jvp(lambda z: f(z, x), (z,), (u,))[1]
    return ag.vjp(lambda x: f(z, x), x)[1](u)[0]


def _as_matrices(f, z, x, g, rounds):
    J, B = ag.jacobian(lambda z: f(z, x))(z), ag.jacobian(lambda x: f(z, x))(x)
    u = g
    for _ in range(rounds):
        u = g + J.T @ u
    return B.T @ u


def _from_zero(f, z, x, g, rounds):
    def loop(x):
        y = 0 * z
        for _ in range(rounds + 1):
            y = f(y, x)
        return y

    return ag.vjp(loop, x)[1](g)[0]


def _solved(f, z, x, g, rounds):
    n = np.size(z)
    J = np.reshape(ag.jacobian(lambda z: f(z, x))(z), (n, n))
    u = np.linalg.solve(np.eye(n) - J.T, np.ravel(g)).reshape(np.shape(g))
    return ag.vjp(f, z, x)[1](u)[1]


def _solved_as_matrices(f, z, x, g, rounds):
    J, B = ag.jacobian(f, 0)(z, x), ag.jacobian(f, 1)(z, x)
    return B.T @ np.linalg.solve(np.eye(len(z)) - J.T, g)


def _solved_u(f, z, x, g, rounds):
    J = ag.jacobian(lambda z: f(z, x))(z)
    return np.linalg.solve(np.eye(len(g)) - J.T, g)


def _solved_for_vectors(f, z, x, g, rounds):
    u = np.linalg.solve(np.eye(len(g)) - ag.jacobian(lambda z: f(z, x))(z).T, g)
    return ag.vjp(f, z, x)[1](u)[1]


def _nearly(got, expected):
    """Return a hint if the answer `got` is within about 5 % of `expected`, or None."""
    if np.shape(got) == np.shape(expected) and np.allclose(got, expected, rtol=5e-2):
        return (
            "Nearly right. Do you differentiate f at the given z, and does the loop run exactly `rounds` times, even "
            "if u no longer changes much? Or do you round a number on the way?"
        )
    return None


_ORDER = (
    "g has the shape of z, and the gradient of x has the shape of x. back(u) is (Jᵀu, Bᵀu), in the order of f's arguments: "
    "in the loop, add the first to g; after it, return the second."
)
_ONE = "That is the u of one round. Every round multiplies Jᵀ by the newest u, and return comes after the loop."
_ONE_LESS = (
    "That is one round too few: u begins as g, not as 0, the loop has `rounds` rounds, and Bᵀ multiplies the newest "
    "u."
)
_AGAIN = "That counts the old u again. In every round, add the original g: u = g + Jᵀu."
_LIMIT = "That is the limit of infinitely many rounds. Run exactly `rounds` rounds."
_MANY = "You run a fixed number of rounds. Run exactly `rounds` rounds."
_LOOP, _ROUND, _END = "for _ in range(rounds):", "u = g + back(u)[0]", "return back(u)[1]"


@exercise(
    "22.pull_back",
    minutes=6,
    difficulty="medium",
    importance=2,
    question="""
        Write `pull_back(f, z, x, g, rounds)`, which returns the gradient of x, for arrays of any shape. Begin with u = g.
        Replace u by g + Jᵀu, `rounds` times. Then return Bᵀu. `_, back = ag.vjp(f, z, x)` gives you both products: `back(u)` is
        the tuple (Jᵀu, Bᵀu).""",
    stub="""
        def pull_back(f, z, x, g, rounds):
            ...""",
    hints=[
        "After `value, back = ag.vjp(f, z, x)`, `back(u)[0]` is Jᵀu and `back(u)[1]` is Bᵀu.",
        "In the loop: `u = g + back(u)[0]`. After it: `back(u)[1]`.",
        ("Help: one round too few", "u begins as g, not as 0."),
    ],
    solution="""
        def pull_back(f, z, x, g, rounds):
            _, back = ag.vjp(f, z, x)
            u = g
            for _ in range(rounds):
                u = g + back(u)[0]
            return back(u)[1]""",
    explained="f is recorded once, and its backward pass runs `rounds` + 1 times. It does not matter how z was found.",
    why="The loop for u multiplies by Jᵀ where the loop for z multiplies small distances by J. If each round for z multiplies "
    "every small distance from the solution by at most 0.9, the loop for u converges too.",
    mistakes=[
        edit("u = g\n", "u = 0 * g\n", _ONE_LESS),
        edit(_ROUND, "u = back(u)[0]", "Add g in every round: u = g + Jᵀu."),
        edit(_ROUND, "u = u + back(u)[0]", _AGAIN),
        edit(_ROUND, "u = g + back(g)[0]", _ONE),
        edit(_ROUND, "u = g - back(u)[0]", "A sign is wrong: u = g + Jᵀu."),
        edit(_ROUND, "u = g * back(u)[0]", "Add g, do not multiply by it: u = g + Jᵀu."),
        edit(_ROUND, "u = g + back(u)[1]", _ORDER),
        edit(_ROUND, "g = g + back(g)[0]\n        u = g", _AGAIN),
        edit(
            _END,
            "return back(u)[0]",
            "That is Jᵀu, which belongs to z. The gradient of x is Bᵀu, the second entry.",
        ),
        edit(
            _END,
            "return back(g)[1]",
            "That is Bᵀg, as if f did not read z. Return Bᵀu, with the u of the loop.",
        ),
        edit(_END, "return u", "That is u, at z. The gradient of x is Bᵀu."),
        edit(
            _END,
            "return back(u)",
            "That is the tuple (Jᵀu, Bᵀu). The gradient of x is the second entry.",
        ),
        edit(_END, "return g + back(u)[1]", _ORDER),
        edit(_END, "return back(u)[1] / (rounds + 1)", "Add up the rounds; do not average them."),
        edit("range(rounds)", "range(rounds + 1)", "One round too many: range(rounds)."),
        edit("range(rounds)", "range(rounds - 1)", _ONE_LESS),
        edit(_END, "return np.round(back(u)[1], 3)", "Do not round: a gradient may be any number."),
        edit(
            _ROUND,
            "u = np.clip(g + back(u)[0], -10, 10)",
            "Do not clip u: a gradient may be large.",
        ),
        edit(_ROUND, "u = (g + back(u)[0]) / 2", "Add up the rounds; do not average them."),
        edit(
            _ROUND,
            "u = u + back(g)[0]",
            "Multiply Jᵀ by the newest u, and add the original g: u = g + Jᵀu.",
        ),
        edit(_END, "return np.abs(back(u)[1])", "A gradient has a sign: do not use abs."),
        edit(
            "range(rounds)",
            "range(min(rounds, 3))",
            "There may be more than 3 rounds: range(rounds).",
        ),
        edit(
            "range(rounds)",
            "range(min(rounds, 50))",
            "There may be more than 50 rounds, for example 300: range(rounds).",
        ),
        *(edit("range(rounds)", f"range({many})", _MANY) for many in (50, 100, 200)),
        edit(
            _ROUND,
            "v = g + back(u)[0]",
            _END,
            "return back(v)[1]",
            "Every round begins with the same u. Assign the new value to u: u = g + Jᵀu.",
        ),
        edit(
            "_, back = ag.vjp(f, z, x)\n    u = g\n",
            "u = g\n",
            _ROUND,
            "z = f(z, x)",
            _END,
            "return ag.vjp(f, z, x)[1](g)[1]",
            "That repeats the loop for z, and then takes Bᵀg. Here z is given: repeat u = g + Jᵀu.",
        ),
        edit("    " + _END, "        " + _END, _ONE),
        edit(
            _ROUND,
            "to_z, to_x = back(u)\n        u = g + to_z",
            _END,
            "return to_x",
            _ONE_LESS,
        ),
        edit(
            "_, back = ag.vjp(f, z, x)",
            "back = ag.vjp(lambda z: f(z, x), z)[1]",
            _ROUND,
            "u = g + back(u)",
            _END,
            "return ag.vjp(lambda x: f(z, x), x)[1](u)",
            "The function that ag.vjp returns gives a tuple, with one entry for each argument, even for one: back(u)[0].",
        ),
        edit("ag.vjp(f, z, x)", "ag.vjp(f, x, z)", "f takes z first, then x."),
        edit(
            "_, back = ag.vjp(f, z, x)",
            "back = ag.vjp(f, z, x)[0]",
            "ag.vjp returns two things, the value and the function for the backward pass: take the second.",
        ),
        edit(
            "_, back = ag.vjp(f, z, x)",
            "back = ag.vjp(f, z, x)",
            "ag.vjp returns two things, the value and the function for the backward pass: take the second.",
        ),
        *(
            edit(
                "_, back = ag.vjp(f, z, x)",
                "J, B = ag.vjp(f, z, x)",
                _ROUND,
                f"u = g + {Ju}",
                _END,
                f"return {Bu}",
                "ag.vjp returns the value and the function for the backward pass, not J and B: back(u) is (Jᵀu, Bᵀu).",
            )
            for Ju, Bu in [("J.T @ u", "B.T @ u"), ("J(u)", "B(u)")]
        ),
        edit(
            "_, back = ag.vjp(f, z, x)",
            "z, x = ag.Tensor(z, requires_grad=True), ag.Tensor(x, requires_grad=True)",
            _ROUND,
            "f(z, x).backward(u)\n        u = g + z.grad",
            _END,
            "f(z, x).backward(u)\n    return x.grad",
            ".grad accumulates over the rounds. Reset it before each: z.zero_grad(), x.zero_grad().",
        ),
        edit(
            _ROUND,
            "u = g + back(np.ones_like(g))[0] * u",
            "J is a matrix, so Jᵀu mixes the entries of u: it is back(u)[0], with u itself.",
        ),
        (
            _from_zero,
            "You differentiate a loop that begins at 0. z is given, and how it was found does not matter here.",
        ),
        (
            _as_matrices,
            "J is a matrix only if z is a vector, and z may have shape (2, 3). Call ag.vjp once: you need no matrix.",
        ),
        (_forward, "That is J u, from ag.jvp. Use Jᵀu, from ag.vjp."),
        (_solved, _LIMIT),
        (_solved_for_vectors, _LIMIT),
        edit(
            "u = g\n", "u = np.ones_like(g)\n", "u starts as g, the upstream gradient, not as ones."
        ),
        edit(
            _ROUND,
            "u = g + back(u)",
            "back(u) is the tuple (Jᵀu, Bᵀu). Add its first entry, back(u)[0].",
        ),
        edit(_ROUND, "u = g + back(u)[1]", _END, "return back(u)[0]", _ORDER),
        edit(
            _ROUND,
            "to_z, to_x = back(u)\n        u = g + to_z * u",
            _END,
            "return to_x * u",
            "back(u) holds the products Jᵀu and Bᵀu already: do not multiply by u again.",
        ),
        printed(_pull_back),
        edit("u = g\n", "u = 0\n", _ONE_LESS),
        edit(_ROUND, "Ju, Bu = back(u)\n        u = g + Ju", _END, "return Bu", _ONE_LESS),
        edit(
            _ROUND,
            "u = g + back(u)[1]",
            _END,
            "return back(u)[2]",
            "Python counts from 0: back(u)[0] is Jᵀu, and back(u)[1] is Bᵀu.",
        ),
        (_solved_as_matrices, _LIMIT),
        (
            _solved_u,
            "That is u, solved exactly. The gradient of x is Bᵀu: return back(u)[1]. And run exactly `rounds` rounds.",
        ),
        *(
            edit(
                "u = g\n",
                f"u, total = g, {start}\n",
                _ROUND,
                body,
                _END,
                "return total",
                "You add up Bᵀu over the rounds. But u itself already contains the terms of all rounds: return Bᵀu once, "
                "with the last u.",
            )
            for start, body in [
                ("0", "u = g + back(u)[0]\n        total = total + back(u)[1]"),
                ("0 * x", "u = g + back(u)[0]\n        total = total + back(u)[1]"),
                ("0", "total = total + back(u)[1]\n        u = g + back(u)[0]"),
                ("0 * x", "total = total + back(u)[1]\n        u = g + back(u)[0]"),
                ("back(g)[1]", "u = g + back(u)[0]\n        total = total + back(u)[1]"),
            ]
        ),
        _nearly,
    ],
)
def pull_back(answer):
    if is_stub(answer):
        raise NotYet
    rng = np.random.default_rng(0)
    of_layer, of_kepler = np.zeros(3), np.zeros(2)
    examples = []
    for f, z, x, rounds in [
        (layer, of_layer, np.array([1.1, 0.2]), 3),
        (kepler, of_kepler, np.array([0.7, 2.0]), 1),
        (layer, of_layer, np.array([0.4, -0.9]), 0),
        (kepler, of_kepler, np.array([5.0, 0.3]), 5),
        (slow, np.zeros(2), np.array([0.0001, 0.3]), 300),
        (rows, np.zeros((2, 3)), np.array([[0.2, -0.5], [0.9, 0.1]]), 3),
        (kepler, 1.5, 1.0, 4),
        (kepler, of_kepler, np.array([0.7, 2.0]), 60),
    ]:
        z = _arrive(f, z, x)
        examples.append(
            (f, z, x, rng.uniform(-2, 2, z.shape).round(1) * (100 if rounds == 300 else 1), rounds)
        )

    examples.append(
        (kepler, np.zeros(2), np.zeros(2), np.array([1.5, -1.5]), 3)
    )  # the sum of u stays 0
    examples.append((kepler, np.float64(0), np.float64(0), np.float64(1.5), 3))
    examples.append(
        (beyond, np.array([np.pi, 3.0]), np.array([np.pi, 2.8]), np.array([1.0, -0.5]), 20)
    )

    def build(d):
        shape = d.shape(1, 2, 3)
        f, z, x = (
            (d.function(kepler, slow), d(*shape), d(*shape)) if d.round % 2 else (layer, d(3), d(2))
        )
        return (
            f,
            np.tanh(z),
            np.tanh(x),
            d.g(*z.shape),
            d.another(0, 1, 2, 7),
        )  # z need not be a fixed point

    expect_over(
        answer,
        _pull_back,
        build,
        first=examples,
        hints=pull_back.mistakes,
        apart=True,
        rounds=10,
        rtol=1e-12,
    )
