"""Ask the questions of lesson 16: a Hessian–vector product from two grads, the largest curvature, and Newton's step."""

import tracemalloc

import numpy as np

import autograd_lib as ag

from ...grading import edit, exercise, expect_call, expect_over, expect_own_work, is_stub
from ...grading.mistakes import printed
from ...grading.verdict import NotYet, Wrong
from ...quiz.texts import Question, card, prediction, recall

recall(
    "16",
    [
        Question(
            "f takes 1,000 numbers and returns one. How many forward sweeps does its gradient take, and how many backward ones? "
            "(Lesson 15)",
            {"forward": 1000, "backward": 1},
            "**1,000** forward, one for each input, and **1** backward.",
        ),
        Question(
            "A 3 × 3 kernel slides over 6 × 6 pixels. How many outputs does each of its entries contribute to? (14)",
            16,
            "All **16**: it is used at every position.",
        ),
        Question(
            "The largest curvature of a bowl is 8. Above which learning rate does gradient descent diverge? (11)",
            0.25,
            "Above **0.25**, which is 2/8: at lr = 0.25 each step multiplies by 1 − lr · 8 = −1.",
        ),
    ],
)

prediction(
    "16.opening",
    question="""
        You have seen the first 40 steps at lr 0.5, 1, 2 and 4. At which of these learning rates is the loss below 0.1
        at step 320?""",
    answer="at 0.5, 1 and 2",
    choices=["at 0.5 alone", "at 0.5 and 1", "at 0.5, 1 and 2", "at all four"],
    reveal="""**At 0.5, 1 and 2.** At lr = 2 the loss was 10 after 40 steps, and it is small after 320. At lr = 4
        it stays above 5. In this lesson you measure what makes a run unstable and what lets it converge. The last section shows
        all 320 steps.""",
)

prediction(
    "16.factor",
    question="""
        At the end of the run with lr = 0.5, λmax is 1.45. For which learning rate does a step multiply a small nudge along
        the eigenvector of λmax by −2?""",
    answer=3 / 1.45,
    tolerance=0.05,
    reveal="""**About 2.07**, which is 3/1.45: then 1 − lr · 1.45 = −2. The gap doubles and changes sides at every step, until it
        is no longer small.""",
)

prediction(
    "16.cost",
    question="""
        The network has 2,410 weights, and its Hessian has 2,410 rows. How long does one product Hv take, compared with one
        gradient?""",
    answer="about 2 to 4 gradients",
    choices=["about 2 to 4 gradients", "about 50 gradients", "about 2,410 gradients"],
    reveal="""**About 2 to 4 gradients**, whatever the number of weights: the gradient is a program, and Hv is one more sweep through
    it.""",
)

prediction(
    "16.climbs",
    question="""
        The neuron's loss falls as w grows, so downhill is to the right. For which values of z does Newton's step, 1/(2(1 +
        3z)), go uphill?""",
    answer=-1 / 3,
    tolerance=0.004,
    reveal="""For z below **−1/3**, because 1 + 3z is negative there. The curvature is negative too, so Newton's method goes to the
        top of a parabola that opens downward.""",
)

prediction(
    "16.end",
    question="""
        At lr = 2 the threshold 2/lr is 1. After 40 steps the loss was about 10 and λmax about 8. After 320 steps the loss is
        below 0.1. Where is λmax then?""",
    answer="below the threshold",
    choices=["far above the threshold", "just above the threshold", "below the threshold"],
    reveal="""**Below the threshold**, at this start and at nine others that we tried. Where the gradient is 0 and λmax is
        above the threshold, a nudge along its eigenvector grows as long as it is small. No run here converged to
        such a point.""",
)

card(
    "16",
    [
        "Rules are written with rows of the table, so a derivative is a program like any other: ag.grad(ag.grad(f)).",
        "H is the Jacobian of the gradient. Hv is the directional derivative of the gradient along v: jvp of grad, or grad of ⟨grad, v⟩.",
        "Hv costs a few gradients, whatever the number of weights. H itself need not be stored.",
        "⟨v, Hv⟩ is the curvature along v, if v has length 1. v ← Hv, scaled to length 1 each time, usually turns towards an eigenvector with the largest |λ|.",
        "Near a stationary point, a step multiplies a small nudge along an eigenvector by about 1 − lr·λ. With λ < 0 or λ > 2/lr "
        "it grows as long as it is small.",
        "Newton's step, −slope/curvature, leads to where the tangent parabola has slope 0: to its top, if it opens downward.",
    ],
)


# --- A Hessian–vector product ---------------------------------------------------------------------------------


def _hvp(f, w, v):
    return ag.hvp(f, w, v)


def mixed(w):
    """Return a loss whose Hessian has no zero entry, because any two of the weights `w` interact."""
    total = (w * w).sum()
    return ag.tanh(w).sum() * total + ag.sin(total)


def lopsided(w):
    """Return a loss in which the first two rows of the weight matrix `w` are multiplied by each other."""
    return (w[0] * w[1] * w[1]).sum() + ag.exp(w.sum())


def cubes(w):
    """Return the sum of the cubes of the weights, a loss whose Hessian is diagonal."""
    return (w**3).sum()


_GRADS = "ag.grad(f)(w) * v"
_VECTORS = (
    "{} is the inner product of two vectors, but w and v may have any shape. Use *, and np.sum."
)
_NO_RULE = (
    "{} has no rule in the table. The inner product ⟨gradient, v⟩ is np.sum(gradient * v), for arrays "
    "of any shape."
)
_NUMBER = (
    "ag.grad needs a scalar, but the gradient is an array. ⟨gradient, v⟩ is a scalar: np.sum over the "
    "products."
)


@exercise(
    "16.hvp",
    minutes=3,
    difficulty="easy",
    importance=3,
    question="""
        Write `hvp(f, w, v)` yourself, without `ag.hvp`, `ag.hessian` or `ag.jacobian`. Two calls of `ag.grad` are enough: Hv is
        the gradient of the scalar ⟨gradient of f, v⟩. f takes w and returns a scalar. w and v may have any shape, as long as it
        is the same for both.""",
    stub="""
        def hvp(f, w, v):
            ...""",
    hints=[
        "The inner function takes w and returns a number: `lambda w: np.sum(ag.grad(f)(w) * v)`.",
        "Take the gradient of that function at w. In it, v is a constant.",
        (
            "Help: expected a function that returns a scalar, got shape (3,)",
            "`ag.grad` needs a function that returns a scalar. ⟨gradient, v⟩ is a scalar: apply `np.sum` to the products.",
        ),
    ],
    solution="""
        def hvp(f, w, v):
            return ag.grad(lambda w: np.sum(ag.grad(f)(w) * v))(w)""",
    explained="The inner `ag.grad` is a function of w like any other. The outer one differentiates through it.",
    why="The gradient of the scalar ⟨gradient, v⟩ is Hv, and no matrix was built.",
    mistakes=[
        (
            lambda f, w, v: np.sum(ag.grad(f)(w) * v),
            "That is ⟨gradient, v⟩ itself, the slope of f along v. Take the gradient of it.",
        ),
        edit(
            "return ag.grad(lambda w: np.sum(ag.grad(f)(w) * v))(w)",
            "slope = ag.grad(f)(w)\n    return ag.grad(lambda w: np.sum(slope * v))(w)",
            "This gives 0 everywhere, because nothing depends on the argument of the outer function. Inside the lambda, "
            "evaluate ag.grad(f) at the lambda's own argument.",
        ),
        (
            lambda f, w, v: ag.grad(f)(w) * v,
            "That is the gradient times v, entry by entry. Add it up, and differentiate once more.",
        ),
        (
            lambda f, w, v: ag.grad(f)(w),
            "That is the gradient itself. Differentiate once more with respect to w: take the scalar ⟨gradient, v⟩.",
        ),
        (
            lambda f, w, v: ag.grad(f)(v),
            "That is the gradient at v, but v is a direction and w is the point.",
        ),
        (
            lambda f, w, v: ag.grad(lambda w: np.sum(ag.grad(f)(w)))(w) * v,
            "v is outside the sum: this gives the sum of each row of H, times v. v belongs inside the sum.",
        ),
        (
            lambda f, w, v: ag.grad(lambda w: np.sum(ag.grad(f)(w)))(w),
            "v is missing: that is H times a vector of ones.",
        ),
        (
            lambda f, w, v: ag.grad(lambda w: np.sum(ag.grad(f)(w) * v))(v),
            "You compute the second gradient at v. Compute both at w.",
        ),
        (
            lambda f, w, v: ag.grad(lambda w: np.sum(ag.grad(f)(w) * w))(w),
            "Your function multiplies by w instead of v.",
        ),
        (
            lambda f, w, v: ag.grad(lambda w: np.sum(ag.grad(f)(w) * w))(v),
            "w and v are swapped in two places: multiply the gradient by v, and evaluate the outer grad at w.",
        ),
        (
            lambda f, w, v: ag.grad(lambda v: np.sum(ag.grad(f)(w) * v))(v),
            "That is the gradient itself. Differentiate once more with respect to w: take the scalar ⟨gradient, v⟩.",
        ),
        (
            lambda f, w, v: ag.grad(lambda w: np.sum(ag.grad(f)(w) * v) ** 2)(w),
            "There is a square too many: take the gradient of ⟨gradient, v⟩ itself.",
        ),
        (
            lambda f, w, v: ag.grad(lambda w: np.sum(ag.grad(f)(w) ** 2) / 2)(w),
            "That is H times the gradient. v takes the place of one of the two gradients.",
        ),
        (
            lambda f, w, v: ag.grad(lambda w: np.mean(ag.grad(f)(w) * v))(w),
            "A mean divides by the number of entries. Use the sum.",
        ),
        (
            lambda f, w, v: ag.jvp(ag.grad(f), (w,), (v,)),
            "ag.jvp returns two arrays, the value and the tangent. Hv is the tangent: [1].",
        ),
        (
            lambda f, w, v: ag.vjp(ag.grad(f), w)[1](v),
            "pull returns a tuple with one gradient for each input. There is one input: [0].",
        ),
        (
            lambda f, w, v: ag.hvp(f, w, v) * v,
            "There is one v too many: Hv is complete before the last product.",
        ),
        (
            lambda f, w, v: ag.hvp(f, v, w),
            "v and w are swapped: w is the point, v is the direction.",
        ),
        (
            lambda f, w, v: ag.grad(f)(w + v),
            "That is the gradient at w + v. The question is how the gradient changes "
            "along v, at w.",
        ),
        (
            lambda f, w, v: ag.grad(lambda w: np.sum(ag.grad(f)(w)) * np.sum(v))(w),
            "A sum of products is not the product of the sums: multiply entry by entry, and then add.",
        ),
        (
            lambda f, w, v: np.sum(ag.hvp(f, w, v) * v),
            "That is the curvature, ⟨v, Hv⟩. Return Hv.",
        ),
        (
            lambda f, w, v: ag.hvp(f, w, v / np.linalg.norm(v)),
            "Do not change the length of v: a v that is twice as long gives twice Hv.",
        ),
        (
            lambda f, w, v: ag.grad(f)(w + v) - ag.grad(f)(w),
            "That is the difference of two gradients over a whole v. The derivative at w needs a grad within a grad.",
        ),
        *[
            (
                lambda f, w, v, h=h, back=back: (
                    (ag.grad(f)(w + h * v) - ag.grad(f)(w - back * h * v)) / (h + back * h)
                ),
                "This is close, but not exact. Is it a difference of gradients, or float32? One grad inside the other, in "
                "float64, is exact.",
            )
            for h in (1e-3, 1e-4, 1e-5, 1e-6)
            for back in (0, 1)
        ],
        (
            lambda f, w, v: ag.hessian(f)(w) @ v,
            "That builds the whole Hessian; and for w of shape (2, 3) it has four axes, and @ does not fit.",
        ),
        edit(
            "return ag.grad(lambda w: np.sum(ag.grad(f)(w) * v))(w)",
            "return ag.grad(lambda w: ag.grad(f)(w) * v)(w)",
            _NUMBER,
        ),
        edit(
            "return ag.grad(lambda w: np.sum(ag.grad(f)(w) * v))(w)",
            "return ag.grad(ag.grad(f))(w) * v",
            _NUMBER,
        ),
        edit(
            "np.sum(ag.grad(f)(w) * v)",
            "np.tensordot(ag.grad(f)(w), v, axes=np.ndim(v))",
            _NO_RULE.format("np.tensordot"),
        ),
        edit(
            "np.sum(ag.grad(f)(w) * v)",
            "np.vdot(ag.grad(f)(w), v)",
            _NO_RULE.format("np.vdot"),
        ),
        edit(
            _GRADS,
            "ag.grad(f) * v",
            "ag.grad takes a function, f, and returns a function. Call the result at w: ag.grad(f)(w).",
        ),
        edit(
            _GRADS,
            "ag.grad(f(w)) * v",
            "ag.grad takes a function, f, and returns a function. Call the result at w: ag.grad(f)(w).",
        ),
        edit(
            _GRADS + ")",
            _GRADS + ", axis=0)",
            "axis=0 adds only down the columns and leaves a row, but a scalar is needed.",
        ),
        edit(
            _GRADS,
            "ag.grad(f)(w) @ v",
            "@ is the matrix product, which does not fit (2, 3) and (2, 3). Multiply entry by entry with *, then use np.sum.",
        ),
        printed(_hvp),
        *[
            edit("np.sum(ag.grad(f)(w) * v)", product, _VECTORS.format(name))
            for name, product in [
                ("@", "ag.grad(f)(w) @ v"),
                ("@", "v.T @ ag.grad(f)(w)"),
                ("np.dot", "np.dot(ag.grad(f)(w), v)"),
            ]
        ],
        edit(
            "np.sum(ag.grad(f)(w) * v)",
            "np.inner(ag.grad(f)(w), v)",
            _NO_RULE.format("np.inner"),
        ),
    ],
)
def hvp(answer):
    if is_stub(answer):
        raise NotYet
    rng = np.random.default_rng(0)
    examples = [
        (f, *rng.uniform(-1, 1, (2, *shape)).round(2))
        for f, shape in [(mixed, (3,)), (lopsided, (2, 3))]
    ]
    examples += [(cubes, *np.full(2, 0.5)), (mixed, examples[0][1], np.ones(3))]

    def build(d):
        shape = d.choice(d.shape(1, 0), (d.size(2), *d.shape(1, 2)))
        return (
            d.function(mixed, cubes, *[lopsided] * (len(shape) - 1)),
            np.tanh(d(*shape)),
            d.g(*shape),
        )

    expect_over(answer, _hvp, build, first=examples, hints=hvp.mistakes, apart=True)
    w = rng.uniform(-1, 1, 300)

    def peak():
        tracemalloc.start()
        answer(mixed, w, w)
        held = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return held

    # Memory of other threads counts too, such as of the one that sends a large output; a matrix is there each time.
    if min(peak() for _ in range(3)) > w.size**2 * 8 / 2:
        raise Wrong(
            "hvp(mixed, w, v), w and v of 300 entries: peak memory",
            "more than 150 arrays like w",
            "a few arrays like w",
            "The numbers are right, but the memory you use could hold half a Hessian, 300 × 300. "
            "You do not need a matrix: the gradient of the number ⟨gradient, v⟩ is already Hv.",
        )
    expect_own_work(
        answer,
        examples[0],
        ["hvp", "hessian", "jacobian"],
        "The numbers are right, but the library did the work. Build Hv yourself, with two calls of ag.grad.",
    )


# --- The largest curvature ------------------------------------------------------------------------------------


def bent(w):
    """Return a loss whose curvatures depend on the array of weights `w`.

    In one direction the loss curves downward more strongly than it curves upward in any direction.
    """
    return ag.sin(w).sum() + (w * w).sum() ** 2 / 8 - 3 * (w.sum()) ** 2


def saddle(w):
    """Return a loss of the weights `w` with almost equal strongest upward and downward curvatures.

    So the power method's vector v converges slowly, and its first ⟨v, Hv⟩ may be larger than all
    later ones.
    """
    return (w * w * np.linspace(1, -1.02, w.size).reshape(w.shape)).sum() + w.sum() ** 2 / 50


def steep(w):
    """Return a loss of two weights with curvatures up to 2e36.

    In the power method, a vector that is not normalised soon overflows.
    """
    return 1e36 * ((w[0] - 0.3 * w[1]) ** 2 + 0.1 * w[1] ** 2 * w[1])


def _largest(f, w, v, steps):
    for _ in range(steps):
        v = v / np.linalg.norm(v)
        image = ag.hvp(f, w, v)
        curvature = np.sum(v * image)
        v = image
    return curvature


def _nearly(got, expected):
    """Return a hint if the answer `got` is within about 1 % of `expected`, or None."""
    return (
        "Nearly right. Does the loop run through all `steps`? Do you use a difference quotient, or round a number?"
        if np.shape(got) == () and np.isclose(got, expected, rtol=1e-2)
        else None
    )


_UNIT, _CURVATURE = "v = v / np.linalg.norm(v)", "curvature = np.sum(v * Hv)"
_RECORDED = (  # edits that record ⟨v, Hv⟩ in each turn; what is returned in place of the last follows
    "for _ in",
    "recorded = []\n    for _ in",
    _CURVATURE,
    _CURVATURE + "\n        recorded.append(curvature)",
    "return curvature",
)
_ONE_SHAPE = (
    "That works for vectors. But w and v may have shape (2, 3), and a matrix product multiplies rows by "
    "columns. ⟨v, Hv⟩ is np.sum(v * Hv), and Hv is ag.hvp(f, w, v)."
)
_ENDS = (
    "The result tends to that number only after many products. After a few, v is still turning: return the ⟨v, Hv⟩ "
    "that you recorded last."
)


@exercise(
    "16.largest",
    minutes=5,
    difficulty="medium",
    importance=2,
    question="""
        Write `largest(f, w, v, steps)`. Do this `steps` times: scale v to length 1, form Hv with `ag.hvp(f, w, v)`,
        record ⟨v, Hv⟩, and continue with Hv as the new v. At the end return the last ⟨v, Hv⟩. w and v may have any shape, as long as it is the same for both.""",
    stub="""
        def largest(f, w, v, steps):
            ...""",
    hints=[
        "Write a loop `for _ in range(steps):` with four lines, one for each of these tasks.",
        "`np.linalg.norm(v)` is the length of v, whatever its shape. ⟨v, Hv⟩ is `np.sum(v * Hv)`.",
        (
            "Help: nan, or inf",
            "v can grow or shrink with every product. Divide it by its length every time, not only the first time.",
        ),
    ],
    solution="""
        def largest(f, w, v, steps):
            for _ in range(steps):
                v = v / np.linalg.norm(v)
                Hv = ag.hvp(f, w, v)
                curvature = np.sum(v * Hv)
                v = Hv
            return curvature""",
    explained="Your function never builds the Hessian.",
    why="Each product scales each part of v by its λ. After many products a part with the largest |λ| usually dominates.",
    mistakes=[
        edit(
            *_RECORDED,
            "return max(recorded)",
            "Return the ⟨v, Hv⟩ that you recorded last, not the largest of all.",
        ),
        edit(
            _UNIT,
            "pass",
            "v must have length 1 before each product: divide it by np.linalg.norm(v).",
        ),
        edit(
            "for _ in range(steps):\n        " + _UNIT,
            _UNIT + "\n    for _ in range(steps):",
            "v has length 1 only at first, and Hv has a different length. Divide in every pass of the loop.",
        ),
        edit(
            _UNIT,
            "v = v / np.linalg.norm(v, axis=-1, keepdims=True)",
            "Now each row has length 1, but v as a whole does not. Use np.linalg.norm(v) without an axis.",
        ),
        edit(
            _UNIT,
            "pass",
            "v = Hv",
            "v = Hv / np.linalg.norm(Hv)",
            "The first v does not have length 1 either: scale v before the product, not after it.",
        ),
        edit("v = Hv", "v = Hv; w = w - 0.1 * v", "w stays where it is: only v turns."),
        edit(
            _CURVATURE,
            "curvature = np.linalg.norm(Hv)",
            "The length of Hv has no sign, and is too large while v still turns. The curvature is ⟨v, Hv⟩.",
        ),
        edit(
            "np.sum(v * Hv)", "abs(np.sum(v * Hv))", "A curvature may be negative: do not use abs."
        ),
        edit(
            "np.sum(v * Hv)",
            "np.max(Hv)",
            "The curvature along v is ⟨v, Hv⟩: products of entries, added up.",
        ),
        edit(
            "np.sum(v * Hv)",
            "np.mean(v * Hv)",
            "⟨v, Hv⟩ is the sum of the products, not their mean.",
        ),
        edit(
            "np.sum(v * Hv)",
            "np.sum(Hv)",
            "⟨v, Hv⟩: multiply by v, entry by entry, before you add.",
        ),
        edit(
            "np.sum(v * Hv)",
            "np.sum(Hv * Hv)",
            "⟨Hv, Hv⟩ is the square of a length. Is v Hv already, where you take ⟨v, Hv⟩?",
        ),
        edit("np.sum(v * Hv)", "v * Hv", "⟨v, Hv⟩ is one number: add the products up."),
        edit("np.sum(v * Hv)", "np.sum(v * Hv) / 2", "There is no half: ⟨v, Hv⟩."),
        edit(
            "np.sum(v * Hv)\n        v = Hv",
            "np.sum(v * Hv)",
            "That is the curvature along the first v. Go on with Hv as v, and return after the loop.",
        ),
        edit(
            _CURVATURE + "\n        v = Hv",
            "v = Hv\n        " + _CURVATURE,
            "⟨Hv, Hv⟩ is the square of a length. Is v Hv already, where you take ⟨v, Hv⟩?",
        ),
        edit(
            "ag.hvp(f, w, v)",
            "ag.hvp(f, v, w)",
            "hvp(f, w, v) takes the point w first, then the direction v.",
        ),
        edit(
            "ag.hvp(f, w, v)",
            "ag.hvp(f, v, v)",
            "Evaluate the Hessian at w: v is only the direction.",
        ),
        edit(
            "ag.hvp(f, w, v)",
            "ag.grad(f)(w) * v",
            "That is the gradient times v. Hv is ag.hvp(f, w, v).",
        ),
        edit("v = Hv", "v = v + Hv", "v is replaced by Hv; nothing of the old v remains."),
        edit("v = Hv", "v = v - Hv", "v is replaced by Hv; nothing of the old v remains."),
        edit("v = Hv", "w = Hv", "w stays where it is: only the direction v turns."),
        edit("v = Hv", "w = w + Hv", "w stays where it is: only the direction v turns."),
        edit(
            "range(steps)",
            "range(steps + 1)",
            "That is one product too many: make `steps` products in all.",
        ),
        edit(
            "range(steps)",
            "range(steps - 1)",
            "That is one product too few: make `steps` products in all.",
        ),
        edit(
            "        v = Hv\n",
            "        if np.allclose(v, Hv / np.linalg.norm(Hv), atol=1e-2):\n            break\n"
            "        v = Hv\n",
            "Your function stops early if v hardly turns. Make `steps` products in any case.",
        ),
        edit(
            "range(steps)",
            "range(7)",
            "`steps` is the number of products; it is not always the same.",
        ),
        edit(
            "range(steps)",
            "range(min(steps, 5))",
            "`steps` is the number of products: it can be more than 5.",
        ),
        edit(
            "        v = Hv\n    return curvature",
            "        v = Hv\n        return curvature",
            "That is the curvature along the first v. Go on with Hv as v, and return after the loop.",
        ),
        edit("return curvature", "return v", "That is Hv. Return the curvature along v, ⟨v, Hv⟩."),
        edit(
            "return curvature",
            "return Hv",
            "Return the curvature along v, ⟨v, Hv⟩.",
        ),
        edit(
            "np.linalg.norm(v)",
            "np.sum(v)",
            "The length is the root of the sum of the squares: np.linalg.norm(v).",
        ),
        edit(
            "np.linalg.norm(v)",
            "np.sum(np.abs(v))",
            "The length is the root of the sum of the squares: np.linalg.norm(v).",
        ),
        edit(
            "np.linalg.norm(v)",
            "len(v)",
            "len counts entries. The length of an arrow is np.linalg.norm(v).",
        ),
        edit(
            "np.linalg.norm(v)",
            "np.max(np.abs(v))",
            "The length is the root of the sum of the squares: np.linalg.norm(v).",
        ),
        edit(
            "np.linalg.norm(v)",
            "np.sum(v * v)",
            "The length is the *root* of the sum of the squares: np.linalg.norm(v).",
        ),
        edit(
            "np.linalg.norm(v)",
            "np.linalg.norm(w)",
            "v must have length 1: divide it by its own length.",
        ),
        edit("np.sum(v * Hv)", "v @ Hv", _ONE_SHAPE),
        edit("np.sum(v * Hv)", "np.dot(v, Hv)", _ONE_SHAPE),
        edit("np.sum(v * Hv)", "np.inner(v, Hv)", _ONE_SHAPE),
        edit("np.sum(v * Hv)", "v.T @ Hv", _ONE_SHAPE),
        edit("ag.hvp(f, w, v)", "ag.hessian(f)(w) @ v", _ONE_SHAPE),
        edit(
            "np.sum(v * Hv)",
            "(v * Hv).sum(axis=0)",
            "axis=0 adds down the columns alone: np.sum without an axis gives one number.",
        ),
        edit(
            "np.linalg.norm(v)",
            "np.linalg.norm(v, 2)",
            "For a v of shape (2, 3), norm(v, 2) is the largest singular value. Without the 2 it is the root of the "
            "sum of the squares, for any shape.",
        ),
        edit(
            "np.linalg.norm(v)",
            "np.abs(v)",
            "That leaves only the signs of the entries. v is divided by one number, its length.",
        ),
        edit(
            "np.sum(v * Hv)",
            "np.sum(Hv) / np.sum(v)",
            "A quotient of sums is λ only once v has stopped turning. The curvature is ⟨v, Hv⟩.",
        ),
        edit(
            "np.sum(v * Hv)",
            "np.sum(v * ag.grad(f)(w))",
            "That is the slope along v. The curvature is ⟨v, Hv⟩.",
        ),
        (
            lambda f, w, v, steps: np.linalg.eigvalsh(ag.hessian(f)(w).reshape(w.size, w.size))[-1],
            "That builds H and finds its largest λ. Many products would lead to the largest |λ|, but `steps` products "
            "do not get there: return the last ⟨v, Hv⟩.",
        ),
        (
            lambda f, w, v, steps: max(
                np.linalg.eigvalsh(ag.hessian(f)(w).reshape(w.size, w.size)), key=abs
            ),
            _ENDS,
        ),
        *[
            (
                lambda f, w, v, steps, pick=pick: pick(np.linalg.eigvalsh(ag.hessian(f)(w))),
                "That builds H and finds its largest eigenvalue. Use ag.hvp, without H. After `steps` products v is still "
                "turning: return the last ⟨v, Hv⟩.",
            )
            for pick in (np.max, lambda λ: λ[-1], lambda λ: max(λ, key=abs))
        ],
        edit(
            "return curvature",
            "return max(curvature, 0)",
            "A curvature may be negative: do not use max.",
        ),
        edit(
            "np.sum(v * Hv)",
            "np.mean(Hv / v)",
            "Hv / v, entry by entry, is λ only once v has stopped turning. The curvature is ⟨v, Hv⟩.",
        ),
        edit(
            "for _ in",
            "v = np.ones(w.shape)\n    for _ in",
            "Start from the v that is passed in.",
        ),
        printed(_largest),
        edit(
            _CURVATURE,
            "pass",
            "return curvature",
            "return np.sum(v * ag.hvp(f, w, v))",
            "After the loop v is the last Hv, whose length is not 1, and one product has been made too many. "
            "Compute ⟨v, Hv⟩ inside the loop.",
        ),
        edit(
            *_RECORDED,
            "return recorded",
            "You return every ⟨v, Hv⟩ that you recorded. Return the last one.",
        ),
    ],
)
def largest(answer):
    if is_stub(answer):
        raise NotYet
    rng = np.random.default_rng(0)
    cases = [
        (mixed, (3,), 3),
        (bent, (2, 3), 1),
        (bent, (2, 3), 4),
        (steep, (2,), 9),
        (mixed, (3,), 12),
        (bent, (2, 1, 3), 2),
    ]
    examples = [
        (f, rng.uniform(0.2, 1.5, shape).round(2), rng.normal(size=shape).round(2), steps)
        for f, shape, steps in cases
    ]
    examples.append(
        (cubes, np.array([1.0, -4.0]), np.array([2.0, 1.0]), 2)
    )  # ⟨v, Hv⟩ is 0 at first
    examples += [(bent, np.float64(w), np.float64(v), 2) for w, v in [(0.5, 0.5), (0, -1.5)]]

    def build(d):
        shape = d.choice((d.size(),), (3, d.size()))
        v = d(*shape)
        v.flat[0] = v.flat[0] or 1.0  # a v of zeros has no direction
        return d.function(mixed, bent, saddle), np.tanh(d(*shape)) + 0.1, v, d.another(1, 2, 3)

    expect_over(
        answer,
        _largest,
        build,
        first=examples,
        hints=largest.mistakes,
        apart=True,
        rounds=4,
        rtol=1e-12,
    )
    expect_own_work(
        answer,
        examples[0],
        ["hessian", "jacobian"],
        "The number is right, but the whole Hessian was built. Compute Hv with ag.hvp, without a matrix.",
    )
    many = *examples[4][:3], 72  # its two largest curvatures are near each other: v turns for long
    expect_call(answer, *many, gives=_largest(*many), hints=[_nearly], rtol=1e-12)


# --- Newton's step --------------------------------------------------------------------------------------------


def wave(x):
    return ag.sin(3 * x + 0.2) + x


def valley(x):
    return x**4 / 4 - 2 * x**2 + x


def slide(x):
    return (ag.tanh(2 * x) - 1) ** 2 / 2


def crest(x):
    return ag.cos(x)


def _downhill(f, x):
    return x - ag.grad(f)(x) / abs(ag.grad(ag.grad(f))(x))


_TINY = "Use a tiny curvature as it is: where the slope is tiny too, their quotient may be large."
_SLOPE, _CURVED = "slope = ag.grad(f)(x)", "curvature = ag.grad(ag.grad(f))(x)"


SIGN_OF_SLOPE = "The slope determines the direction: keep its sign."


@exercise(
    "16.downhill",
    minutes=3,
    difficulty="optional",
    importance=1,
    question="""
        Correct the sign of Newton's method. Write `downhill(f, x)`: it takes one step that is as long as Newton's but always
        goes *against* the slope, and returns the new x. f is a function of one number.""",
    stub="""
        def downhill(f, x):
            ...""",
    hints=[
        "You need the slope, `ag.grad(f)(x)`, and the curvature, one more `ag.grad`.",
        "Which of the two can turn Newton's step uphill? Use it without its sign.",
        (
            "Help: the length is right, but the direction is wrong",
            "The step is −slope / |curvature|: the slope keeps its sign.",
        ),
    ],
    solution="""
        def downhill(f, x):
            slope = ag.grad(f)(x)
            curvature = ag.grad(ag.grad(f))(x)
            return x - slope / abs(curvature)""",
    explained="""
        Near a minimum, where the curvature is above 0, this *is* Newton's method. Near a maximum it moves away: each step roughly doubles the distance from it.""",
    why="The slope alone determines the direction. The curvature determines how far the step goes, for a given slope.",
    mistakes=[
        edit(
            "slope / abs(curvature)",
            "np.clip(slope / abs(curvature), -1, 1)",
            "Nothing bounds the step: it is as long as Newton's, however long that is.",
        ),
        edit("return", "if abs(curvature) < 1e-6:\n        return x\n    return", _TINY),
        edit("abs(curvature)", "(abs(curvature) + 1e-8)", _TINY),
        edit(
            "return x - slope / abs(curvature)",
            "new = x - slope / curvature\n    return new if f(new) < f(x) else x + slope / curvature",
            "The slope determines the direction. Do not compute the loss where the step lands: a step against the slope may go too far.",
        ),
        *[
            edit(
                "    slope = ag.grad(f)(x)\n",
                f"    for _ in range({steps}):\n        slope = ag.grad(f)(x)\n",
                "    curvature = ag",
                "        curvature = ag",
                "    return x - slope / abs(curvature)",
                "        x = x - slope / abs(curvature)\n    return x",
                "That takes several steps. Take one step, and return the new x.",
            )
            for steps in (2, 3, 5, 10, 20, 100)
        ],
        edit(
            "abs(curvature)",
            "np.sign(curvature)",
            "Only the sign of the curvature is left. Divide the slope by its magnitude, abs(curvature).",
        ),
        edit(
            "abs(curvature)",
            "curvature",
            "That is Newton's step without the correction: it goes uphill where the curvature is negative.",
        ),
        edit(
            "slope / abs(curvature)",
            "abs(slope / curvature)",
            SIGN_OF_SLOPE,
        ),
        edit(
            "x - slope / abs(curvature)",
            "x + abs(slope / curvature)",
            SIGN_OF_SLOPE,
        ),
        edit(
            "return x - slope / abs(curvature)",
            "return x - slope / curvature if curvature > 0 else x - slope",
            "The step is as long as Newton's where the curvature is negative too: divide by abs(curvature).",
        ),
        edit(
            "slope / abs(curvature)",
            "abs(slope) / curvature",
            SIGN_OF_SLOPE,
        ),
        edit(
            "slope / abs(curvature)",
            "abs(slope) / abs(curvature)",
            SIGN_OF_SLOPE,
        ),
        edit("x - slope", "x + slope", "The step goes against the slope: minus."),
        edit(
            "slope / abs(curvature)",
            "slope * abs(curvature)",
            "The slope is divided by the curvature: where the curvature is large, the step is short.",
        ),
        edit(
            "slope / abs(curvature)",
            "abs(curvature) / slope",
            "Upside down: the slope is divided by the curvature.",
        ),
        edit(
            "slope / abs(curvature)",
            "slope",
            "The step is as long as Newton's: divide by the magnitude of the curvature in every case.",
        ),
        edit(
            "slope / abs(curvature)",
            "0.1 * slope",
            "That is gradient descent: divide by the magnitude of the curvature.",
        ),
        edit(
            "slope / abs(curvature)",
            "np.sign(slope) / abs(curvature)",
            "The step needs the magnitude of the slope too, not only its sign.",
        ),
        edit(
            "slope / abs(curvature)",
            "slope / np.clip(curvature, 0, None)",
            "Where the curvature is negative, that divides by 0. Use the magnitude of the curvature: abs.",
        ),
        edit(
            "slope / abs(curvature)",
            "0.1 * slope / abs(curvature)",
            "The step is as long as Newton's: do not multiply it by a learning rate.",
        ),
        edit(
            "slope / abs(curvature)",
            "slope / max(curvature, 1e-8)",
            "Where the curvature is negative, that makes a giant step. Use the magnitude of the curvature: abs.",
        ),
        edit(
            "slope / abs(curvature)",
            "slope / max(curvature, 1)",
            "The step is as long as Newton's: divide by the magnitude of the curvature in every case.",
        ),
        edit(
            "slope / abs(curvature)",
            "slope / curvature**2",
            "Divide by the curvature without its sign, and not by its square.",
        ),
        edit(
            "slope / abs(curvature)",
            "slope / curvature if curvature > 0 else slope",
            "The step is as long as Newton's in both cases: divide by the magnitude of the curvature.",
        ),
        edit(
            "return x - slope / abs(curvature)",
            "return x - slope / curvature if curvature > 0 else x",
            "Where the curvature is negative this returns x itself, but it must go down there too.",
        ),
        edit("return x - ", "return -", "That is the step. Return where it leads: start from x."),
        edit(
            "return x - ",
            "return ",
            "That is the step without its sign. Return where it leads: x minus the step.",
        ),
        edit(
            _CURVED,
            "curvature = ag.grad(f)(x)**2",
            "The curvature is the derivative of the derivative: ag.grad(ag.grad(f)).",
        ),
        edit(
            _CURVED,
            "curvature = ag.grad(f)(x)",
            "The curvature is the derivative of the derivative: ag.grad(ag.grad(f)).",
        ),
        edit(
            _CURVED,
            "curvature = ag.grad(ag.grad(ag.grad(f)))(x)",
            "One ag.grad too many: that is the third derivative.",
        ),
        edit(
            _CURVED,
            "curvature = ag.grad(f)(ag.grad(f)(x))",
            "That is the slope at a different point. Take the derivative of a *function*, ag.grad(ag.grad(f)), and then "
            "its value at x.",
        ),
        edit(
            _CURVED,
            "curvature = ag.grad(ag.grad(f)(x))(x)",
            "ag.grad takes a function: ag.grad(ag.grad(f)), and then (x).",
        ),
        edit(
            _CURVED,
            "curvature = ag.grad(ag.grad(f))",
            "ag.grad(ag.grad(f)) is a function, but a number is needed. Evaluate it at x: ag.grad(ag.grad(f))(x).",
        ),
        edit(
            _SLOPE,
            "slope = f(x)",
            "That divides f(x) by the curvature. Divide the slope: ag.grad(f)(x).",
        ),
        edit(
            _SLOPE,
            "slope = ag.grad(f)",
            "ag.grad(f) is a function, but a number is needed. The slope is ag.grad(f)(x), evaluated at x.",
        ),
        edit(
            "slope / abs(curvature)",
            "slope / abs(curvature) / 2",
            "That is half as long as Newton's step.",
        ),
        edit(
            "slope / abs(curvature)",
            "slope / np.sqrt(curvature)",
            "Divide by the curvature without its sign, and not by its root: a negative curvature has no real root.",
        ),
        edit(
            "slope / abs(curvature)",
            "slope / (abs(curvature) + 0.01)",
            "Nothing is added to the curvature here.",
        ),
        edit(
            "slope / abs(curvature)",
            "slope / (abs(curvature) + 0.001)",
            "Nothing is added to the curvature here.",
        ),
        edit(
            "slope / abs(curvature)",
            "slope // abs(curvature)",
            "// rounds down to a whole number: divide with /.",
        ),
        edit(
            "return x - slope / abs(curvature)",
            "return f(x - slope / abs(curvature))",
            "That is the loss at the new x. Return the new x.",
        ),
        *[
            (
                lambda f, x, size=size: x - f(x) / size(ag.grad(f)(x)),
                "That is Newton's method for f(x) = 0. Here the *slope* must become 0: slope over curvature.",
            )
            for size in (float, abs)
        ],
        printed(_downhill),
        edit(
            "slope = ag.grad(f)(x)",
            "slope = ag.grad(f(x))",
            "ag.grad(ag.grad(f))(x)",
            "ag.grad(slope)",
            "ag.grad takes a function and returns a function. Call the result at x: ag.grad(f)(x).",
        ),
    ],
)
def downhill(answer):
    if is_stub(answer):
        raise NotYet

    def build(d):
        f, x = d.function(valley, slide, wave), d()
        return f, x if ag.grad(ag.grad(f))(x) else x / 100  # where it is straight there is no step

    expect_over(
        answer,
        _downhill,
        build,
        hints=downhill.mistakes,
        rounds=12,
        first=[
            (f, x)
            for f, x in [
                (valley, 3.0),
                (slide, 0.5),
                (slide, -0.5),
                (wave, 0.3),
                (wave, -0.8),
                (valley, -0.4),
                (valley, -1.9),
                (slide, -0.17),
                (valley, 1.2),
                (slide, 3.0),
                (valley, 15_000.0),
                (crest, 0.0),
            ]
        ],
    )
