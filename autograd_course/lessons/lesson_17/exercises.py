"""Ask the questions of lesson 17: the values that rules read, silu with one stored array, and checkpoints."""

import tracemalloc

import numpy as np

import autograd_lib as ag

from ...drawing.formatting import counted
from ...grading import Wrong, edit, exercise, expect, expect_call, expect_over, is_stub, returned
from ...grading.inputs import value_and_vjp
from ...grading.same import same
from ...grading.sentences import brief
from ...grading.verdict import NotYet
from ...quiz.texts import Question, card, prediction, recall
from .memory import footprint

recall(
    "17",
    [
        Question(
            "At a minimum the largest eigenvalue of the Hessian is 25. Up to which learning rate is gradient descent "
            "stable? (Lesson 16)",
            0.08,
            "**0.08**: 2/25. The largest eigenvalue is the largest curvature, and 2 divided by it is the limit of "
            "lesson 11.",
        ),
        Question(
            "A function has 3 inputs and 1,000 outputs. How many forward sweeps give its Jacobian? (15)",
            3,
            "**3**: each forward sweep gives one column, and there are as many columns as inputs.",
        ),
        Question(
            "The backward pass visits a value only after all its users. Which order ensures this in our engine? "
            "(05)",
            "newest first",
            "**Newest first**: every value is made after its inputs, so the users of a value are newer than the value.",
            choices=["newest first", "oldest first", "the order does not matter"],
        ),
    ],
)

prediction(
    "17.reads",
    question="""Which values does each of these rules read: the output z of its call, the input x, both inputs, or nothing?""",
    answer={"tanh": "z", "add": "nothing", "multiply": "x and y", "relu": "x"},
    choices={
        name: ["nothing", "x", "z", "x and y"] for name in ("tanh", "add", "multiply", "relu")
    },
    reveal="""tanh returns g · (1 − z²), so it reads **z**. add returns g itself, so it reads **nothing**. multiply returns g ·
        y for x and g · x for y, so it reads **x and y**. The library's relu returns g where x > 0, so it reads **x**.
        (The rule of PyTorch's relu reads z: it tests z > 0. The author of a rule chooses what it reads.)""",
)

prediction(
    "17.tape",
    question="""x is an array of 1 MB that requires a gradient. You add 1 to it ten times, `x + 1 + 1 + …`.
        The rule of add reads nothing. How many MB does our tape hold at the end, not counting x itself?""",
    answer=10,
    tolerance=0.3,
    reveal="""**10**. Our tape does not record what a rule reads. It passes z and all inputs to every rule, so it keeps all
        of them. Each array is kept only once, because the output of one step is the input of the next.""",
)

prediction(
    "17.marks",
    question="""A chain has 100 steps, and all arrays have the same size. k marks are evenly spaced, the first at
        the input. The backward pass holds one segment at a time, and the marks stay. Every segment is run again, including the
        last one. For which k are the fewest arrays held, marks and segment together? How many arrays is that? And how many
        steps are run again in all?""",
    answer={"k": 10, "arrays held": 20, "steps run again": 100},
    tolerance=1.5,
    reveal="""**k = 10** and **20** arrays: 10 marks, and one segment of 10. With 5 marks it would be 5 + 20, and with 20 marks
    20 + 5. With any number of marks, **100** steps are run again, each once. (If the last segment
        were kept from the forward pass, its ten steps would not be run again.)""",
)

prediction(
    "17.uneven",
    question="""A chain has 100 steps, and the arrays of its second half are four times as large. A mark costs 1 in the first
    half, and 4 inside the second. You want to hold as little as possible. Where do you put the marks?""",
    answer="more into the second half",
    choices=["more into the first half", "as many into each half", "more into the second half"],
    reveal="""**More into the second half**, although a mark there costs 4. (Its first mark costs 1: it keeps the last small
        array.) With few marks there, its segments would be the heaviest. With 2 marks in the first half and 7 in the second,
        the total is 59. With 7 in the first and 2 in the second, it is 112.""",
)

card(
    "17",
    [
        "A training step holds the activations for the backward pass. They grow with the batch; the parameters do not.",
        "A rule reads x, y, z or nothing. Our tape keeps all of them, each array once. One op for a whole formula keeps only its "
        "result, because its rule recomputes the rest.",
        "With k evenly spaced marks on n steps, about k + n/k arrays are held, the fewest near k = √n. The cost is one more forward pass.",
        "Rules of thumb: make all segments about equally heavy, and set marks where the arrays are small.",
        "Nested by halves: about log₂ n marks, and about ½ log₂ n more forward passes.",
        "The second run must use the same masks and the same weights as the first.",
    ],
)


# --- What is read -----------------------------------------------------------------------------------------------------

WHY = {  # why a rule reads the result, or why no rule does
    "a": "a goes into add, and add's rules read nothing.",
    "b": "The rule of relu reads its input.",
    "c": "multiply's rule for c reads 0.5, and relu's reads its input, not c.",
    "d": "The rule of tanh, 1 − z², reads its output, not its input d.",
    "e": "The rule of tanh, 1 − z², reads its output.",
}


@exercise(
    "17.needed",
    minutes=2,
    difficulty="easy",
    importance=2,
    question="""
        X is data; W and bias are learned. Five results are computed: `a = X @ W`, `b = a + bias`, `c = ag.relu(b)`,
        `d = 0.5 * c` and `e = ag.tanh(d)`. Then `e.sum().backward()` runs. Which of the five results are read by a rule? Write
        their letters in one string, such as `"ad"`.""",
    stub="""
        needed = ...""",
    hints=[
        "Go through the rules one by one. The rule of matmul reads the other factor, that of relu its input, and that of tanh its output.",
        "0.5 requires no gradient, so only one rule of multiply runs: the one for c. What does that rule read?",
        (
            "Help: does relu not read a?",
            "relu reads its own input, which is b. The rules of matmul and add are given a, but they do not read it.",
        ),
    ],
    solution="""
        needed = "be\"""",
    explained="""
        The rule of relu reads b, and the rule of tanh reads e. add reads nothing, so a is not needed. multiply returns
        g · 0.5 for c, so neither c nor d is needed. matmul returns Xᵀ·g for W, and X is data.""",
    why="Rules read two of the five. The other three are held only because our tape does not record which results a rule reads.",
    mistakes=[
        ("abcde", "That is everything the tape holds. Which of these results does a rule read?"),
        (
            "bce",
            "c is read by the rule for the 0.5, but 0.5 requires no gradient, so that rule does not run.",
        ),
        ("bde", "The rule of tanh, 1 − z², reads its output, not d."),
        ("bd", "The rule of tanh, 1 − z², reads its output, not its input d."),
        ("be" + "a", "a goes into add, and add's rules read nothing."),
        ("ab", "a goes into add, and add's rules read nothing. And tanh?"),
        ("ae", "a goes into add, and add's rules read nothing. relu reads its own input."),
        ("ce", "The library's relu reads its input, b. c is its output."),
        ("cd", "Neither is read: relu reads its input, and tanh its output."),
        ("e", "tanh reads its output. relu reads something too."),
        ("b", "relu reads its input. tanh reads something too."),
        ("acd", "Those three are the ones that no rule reads."),
        (
            "",
            "Some are read: the rules of relu and tanh need their own input or output.",
        ),
        ("abe", "a goes into add, and add's rules read nothing."),
        ("bcde", "multiply's rule for c reads 0.5, tanh's reads its output: c and d are not read."),
        ("abc", "Of these only b is read. And tanh reads its output."),
    ],
)
def needed(answer):
    tried, shown = "the results that rules read", "different letters"
    letters = [
        part
        for part in (
            "".join(answer)
            if isinstance(answer, (list, tuple, set, frozenset))
            and all(isinstance(part, str) for part in answer)
            else answer
            if isinstance(answer, str)
            else "?"
        ).lower()
        if part not in " ,;+&"
    ]
    if not set(letters) <= set("abcde"):
        raise Wrong(tried, brief(answer), shown, "Write a string of the letters a to e.")
    if len(set(letters)) < len(letters):
        raise Wrong(
            tried, brief(answer), shown, "One letter occurs twice. Write each letter at most once."
        )
    got = "".join(sorted(letters))
    right = sum((letter in got) == (letter in "be") for letter in "abcde")
    first = next((why for letter, why in WHY.items() if (letter in got) != (letter in "be")), "")
    hint = next(
        (sentence for wrong, sentence in needed.mistakes if "".join(sorted(wrong)) == got),
        f"Of the five, {right} are correctly named or correctly left out. {first}",
    )
    if got != "be":
        raise Wrong(tried, repr(got), shown, hint)


# --- silu -------------------------------------------------------------------------------------------------------------


def _sigmoid(x):
    return 1 / (1 + np.exp(-np.clip(x, -700, 700)))


def _slope(x):
    s = _sigmoid(x)
    return s * (1 + x * (1 - s))


@exercise(
    "17.golf",
    minutes=5,
    difficulty="medium",
    importance=1,
    question="""
        **Memory golf.** $\\text{silu}(x) = x \\cdot \\sigma(x)$ has slope $\\sigma(x)\\,(1 + x\\,(1 - \\sigma(x)))$. Written as `x / (1 + ag.exp(-x))`, silu leaves four arrays on the tape. Written as `x *
        ag.sigmoid(x)`, it leaves two. Write a `silu` of a Tensor that leaves only one, its result. Make an op of your own with
        `ag.elementwise(function, rule)`, as in lesson 14: `function` takes x, and `rule` takes g, z and x.""",
    stub="""
        silu = ...""",
    hints=[
        "Every call of an op leaves one array, its result. So silu must be *one* op.",
        '`ag.elementwise(function, rule, name="silu")` makes one op. Inside it the function gets plain '
        "arrays, so nothing else is recorded.",
        (
            "Help: where do I keep σ(x)?",
            "Nowhere: recompute it in the rule from x, which is held anyway.",
        ),
    ],
    solution="""
        silu = ag.elementwise(
            lambda x: x * ag.sigmoid(x),
            lambda g, z, x: g * ag.sigmoid(x) * (1 + x * (1 - ag.sigmoid(x))),
            name="silu")""",
    explained="σ(x) is computed three times instead of once, but never kept.",
    why="You need not keep a value that you can recompute from what is kept anyway.",
    mistakes=[
        (lambda x: x * ag.sigmoid(x), "2 arrays"),
        (lambda x: x / (1 + ag.exp(-x)), "4 arrays"),
    ],
)
def golf(answer):
    if is_stub(answer):
        raise NotYet
    rng = np.random.default_rng(0)
    xs = [np.array([-1.5, 0.0, 0.3, 2.0]), rng.normal(size=(3, 4)).round(2), np.array(0.7)]
    for x in xs:
        _expect_silu(answer, [x])
    try:
        _expect_silu(answer, xs)
    except Wrong as wrong:
        raise wrong.because(
            "A single call is right. With another call in between, the result is wrong, because the "
            "array that the first call keeps for its rule is lost. "
            "Compute σ again in the rule.",
        ) from None
    large = ag.Tensor(np.linspace(-3, 3, 100_000), requires_grad=True)
    held, _ = footprint(lambda: answer(large), large.data.nbytes)
    if held > 1.2:
        raise Wrong(
            "arrays held after silu(x), each as large as x",
            f"{held:.0f} arrays",
            "1 array",
            f"The value and the gradient are right, but {held:.0f} arrays are held: the result of every op "
            "that you call, and every array that you keep yourself. Write silu as a single op, which "
            "computes σ again in its rule.",
        )
    if answer(ag.Tensor(xs[0], requires_grad=True)).recompute:
        raise Wrong(
            f"the op of silu(x) for x = {brief(xs[0])}",
            "one that ag.checkpoint made",
            "your own op",
            "The gradient is right, and one array is held. But ag.checkpoint did the work. Write the rule yourself, and make "
            "the op with ag.elementwise(function, rule).",
        )
    x, v = xs[0], np.array([1.0, -0.5, 2.0, 0.3])
    expect(
        ag.jvp(answer, (x,), (v,))[1],
        v * _slope(x),
        tried=f"ag.jvp(silu, (x,), (v,)) for x = {brief(x)}, v = {brief(v)}",
        hints=[
            lambda got, expected: (
                "silu is right in the backward pass, but not in forward mode. Each entry of "
                "silu(x) comes from one entry of x, and silu is not linear: "
                "that is the kind elementwise."
            )
        ],
    )
    try:
        _expect_silu(answer, [np.array([-800.0, -40.0, -6.0, 6.0, 40.0, 800.0])])
    except Wrong as wrong:
        raise wrong.because(
            "silu keeps only one array, and it is right near 0. But far from 0 "
            + (
                "an exp overflows: use ag.sigmoid, which avoids that."
                if not np.all(np.isfinite(wrong.difference.got))
                else "it is wrong: use a single formula for every x."
            ),
        ) from None
    expect_over(
        value_and_vjp(answer),
        lambda x, g: (x * _sigmoid(x), g * _slope(x)),
        lambda d: (x := np.asarray(d(*d.shape(0, 1, 2, 3))), np.asarray(d.g(*x.shape))),
        tried=lambda x, g: (
            f"silu(x) for x = {brief(x)} and the upstream gradient {brief(g)}: (value, gradient of x)"
        ),
        hints=[
            lambda got, right: (
                "The value is right, but the gradient is not: use a single formula for every x, "
                "and g multiplies it."
                if np.allclose(got[0], right[0])
                else None
            )
        ],
    )


def _expect_silu(answer, xs):
    """Raise Wrong unless the learner's silu has the right value and the right gradient at each array of `xs`.

    The gradients are computed after all values. This reveals a silu whose later calls overwrite
    what an earlier call has kept for its gradient.
    """
    rng, given = np.random.default_rng(0), []
    for x in xs:
        t, tried = ag.Tensor(x, requires_grad=True), f"silu(x) for x = {brief(x)}"
        try:
            z = returned(answer, t, tried=tried, shown=brief(x * _sigmoid(x)))
        except TypeError as error:
            if "expected an array, got a Tensor" in str(error):
                error.hint = "Your function and your rule use a Tensor from outside. Compute σ inside both, from their own x."
            raise
        if not isinstance(z, ag.Tensor):
            raise Wrong(
                tried,
                brief(z),
                "a Tensor",
                "silu(x) returns a function. Call that function at x, or assign it to the name silu."
                if callable(z)
                else "silu(x) returns a plain array or number, which records nothing: compute with x itself.",
            )
        if not np.array_equal(t.data, x):
            raise Wrong(
                f"x after silu(x), for x = {brief(x)}",
                brief(t.data),
                f"{brief(x)}, unchanged",
                "Your function writes into x, which other operations may read: make a new array.",
            )
        if z.dtype != np.float64:
            raise Wrong(
                f"the dtype of silu(x) for the float64 array x = {brief(x)}",
                str(z.dtype),
                "float64",
                f"{z.dtype} takes less memory but keeps fewer digits: that is a different trade-off.",
            )
        expect(
            z.data,
            x * _sigmoid(x),
            tried=tried,
            hints=[
                lambda got, expected: (
                    "silu(x) is x · σ(x), but this is a different value."
                    if got.shape == expected.shape
                    else None
                )
            ],
        )
        given.append((t, x, z, rng.uniform(0.5, 2, x.shape).round(2)))
    for t, x, z, g in given:
        tried = f"the gradient of x, with x = {brief(x)}, and the upstream gradient {brief(g)}"
        if z.requires_grad:
            try:
                with np.errstate(all="ignore"):
                    z.backward(g)
            except Exception as error:
                error.tried = tried
                raise
        if t.grad is None:
            raise Wrong(
                tried,
                "None",
                brief(g * _slope(x)),
                "Nothing connects silu(x) with x, so x gets no gradient: use x itself, without detach, "
                "data or a new Tensor.",
            )
        s = _sigmoid(x)
        expect(
            t.grad,
            g * _slope(x),
            tried=tried,
            rtol=1e-12,
            atol=1e-13,
            hints=[
                lambda got, expected: (
                    "0/0 at x = 0: z / x is σ(x) only where x is not 0. Use ag.sigmoid(x)."
                    if np.any(x == 0) and np.array_equal(np.isnan(got), x == 0)
                    else None
                ),
                (
                    _slope(x),
                    "Off by the factor g: multiply by the upstream gradient.",
                ),
                (
                    g * s,
                    "The second path is missing: x is in σ(x) too. (Or σ was made a constant.)",
                ),
                (
                    g * x * s * (1 - s),
                    "The second path is missing: the factor x in front of σ(x) counts too.",
                ),
                (
                    g * s * (1 + x * s * (1 - s)),
                    "One σ too many: the brackets contain x · (1 − σ(x)).",
                ),
                (g * (s + x * (1 - s)), "Brackets: σ(x) multiplies all of 1 + x (1 − σ(x))."),
                (g * s * (1 - s), "That is the slope of σ alone."),
                (
                    g * s * (1 - x * (1 - s)),
                    "A sign is wrong: 1 + x (1 − σ(x)), because σ(x) grows with x.",
                ),
                (
                    g * s * (1 + x * (1 + s)),
                    "A sign is wrong: the inner brackets are 1 − σ(x).",
                ),
                (
                    g * s * (1 + x * s),
                    "The inner brackets are missing: x multiplies 1 − σ(x), not σ(x).",
                ),
                (
                    g * (1 + x * (1 - s)),
                    "The factor σ(x) in front of the brackets is missing.",
                ),
                (
                    g * _slope(x * s),
                    "A rule is given g, z, x, in this order: first the result z, then the input x.",
                ),
                (g * x * s, "That is g times the value. Return g times the slope."),
                (g * x * s * (1 + x * (1 - x * s)), "z is x · σ(x) here, not σ(x)."),
            ],
        )


# --- By hand ----------------------------------------------------------------------------------------------------------


def _repeat(step, n):
    def run(s):
        for _ in range(n):
            s = step(s)
        return s

    return run


def _plain(step, x, n):
    start = ag.Tensor(x, requires_grad=True)
    z = _repeat(step, n)(start)
    z.backward(np.ones(z.shape))
    return start.grad


WEIGHT = np.array([[0.9, 0.4, -0.3], [-0.2, 1.1, 0.5], [0.6, -0.7, 0.8]])


def mixing(s):
    """Return tanh(s·W). The matrix mixes the entries of s, so the order of the segments matters."""
    return ag.tanh(s @ WEIGHT)


def twisted(s):
    """Return sin(2 s·Wᵀ), a second step that mixes the entries of s."""
    return ag.sin(2 * s @ WEIGHT.T)


class Counted:
    """Call tanh(s·W), count the calls, and note the bytes held at call number `at`.

    Pass `weight`, a Tensor that requires a gradient, if every step outside `no_grad` should be recorded.
    """

    def __init__(self, weight=WEIGHT, at=None):
        self.weight, self.at = weight, at
        self.calls = self.held = 0

    def __call__(self, s):
        self.calls += 1
        if self.calls == self.at:
            self.held = tracemalloc.get_traced_memory()[0]
        return ag.tanh(s @ self.weight)


_PLAIN = (
    "With a plain array nothing is recorded. Begin with ag.Tensor(mark, requires_grad=True), and pass z itself to the next "
    "step: step(z)."
)
_CUT = (
    "Nothing leads back to the mark. Run the segment outside no_grad, from a Tensor with requires_grad=True, and pass z "
    "itself to the next step: step(z)."
)
_ONES = (
    "This segment begins with ones, but the gradient at its end is g. Pass g to backward, and set the next g inside the loop "
    "over the marks."
)
_SHORT = (
    "One step is missing in each segment. The mark is the array before step i, so step i is the first step to run again: "
    "min(every, n - i) steps, or range(i, min(i + every, n))."
)
_FORWARD = (
    "You propagate g back through the first step of the segment first, although it needs the gradient from the later steps. "
    "Run the whole segment again, z = step(z). Then call z.backward(g) once, after the inner loop."
)
_SHAPED = "The gradient of a result has the shape of the result: np.ones(s.shape) at the end, then the unchanged g in z.backward(g)."


@exercise(
    "17.by_hand",
    minutes=5,
    difficulty="medium",
    importance=3,
    question="""
        **A checkpoint by hand.** The function returns the gradient of a chain of n steps. At the end of the chain, the upstream
        gradient of every entry is 1. The marks are before step 0, step `every`, step 2 · `every` and
        so on. The forward pass is written. Write the body of the backward loop, about five lines: run the segment after the mark again,
        this time recorded, and propagate g back through it. (The last segment may be shorter than the others.)""",
    stub="""
        def by_hand(step, x, n, every):
            marks = []
            with ag.no_grad():                          # forward: keep the marks, forget the rest
                s = ag.Tensor(x)
                for i in range(n):
                    if i % every == 0:
                        marks.append((i, s.data))
                    s = step(s)
            g = np.ones(s.shape)                        # the gradient at the end
            for i, mark in reversed(marks):             # backward: mark is the array before step i
                g = ...                                 # yours: replace this line by several
            return g""",
    hints=[
        "Begin with a leaf, `start = ag.Tensor(mark, requires_grad=True)`, because you need the gradient at the mark. "
        "Then set `z = start` and repeat `z = step(z)`.",
        "How often? `every` times, but the chain ends after n steps: `min(every, n - i)` times.",
        "g is the upstream gradient at the end of this segment. `z.backward(g)` propagates it back to `start`.",
        "`start` is the end of the previous segment. The next g is `start.grad`.",
        (
            "Help: an error says that backward starts from a scalar",
            "A segment ends in an array, and g is the upstream gradient there: `z.backward(g)`.",
        ),
    ],
    solution="""
        def by_hand(step, x, n, every):
            marks = []
            with ag.no_grad():
                s = ag.Tensor(x)
                for i in range(n):
                    if i % every == 0:
                        marks.append((i, s.data))
                    s = step(s)
            g = np.ones(s.shape)
            for i, mark in reversed(marks):
                start = ag.Tensor(mark, requires_grad=True)
                z = start
                for _ in range(min(every, n - i)):
                    z = step(z)
                z.backward(g)
                g = start.grad
            return g""",
    explained="""
        The parameters inside `step` also get their gradients, because each segment adds its share to `.grad`.""",
    names=lambda: {"repeat": _repeat},
    why="Only the values that cannot be recomputed must be kept: the marks.",
    mistakes=[
        edit(
            "z = step(z)",
            "z = step(start)",
            "Each step begins at start again. Pass z to the next step: step(z).",
        ),
        edit(
            "z = step(z)",
            "z = step(s)",
            _CUT,
        ),
        edit(
            "z = step(z)",
            "s = step(z)",
            "The ones are returned unchanged. Each segment ends by setting g to start.grad. (If yours does, then z is still "
            "start: the result of step(z) must become the new z.)",
        ),
        edit(
            "z.backward(g)",
            "z.backward(np.ones(z.shape))",
            _ONES,
        ),
        edit(
            "z.backward(g)",
            "z.backward(np.ones(z.shape))",
            "g = start.grad",
            "g = g * start.grad",
            "You multiply the segment's slopes by g entry by entry. That is right only if no entry mixes with another. Here a matrix "
            "mixes them, so backward must start from the upstream gradient: z.backward(g).",
        ),
        edit(
            "z.backward(g)",
            "z.backward(z.data)",
            "The gradient at the end of the segment is g. z is its value.",
        ),
        edit(
            "z.backward(g)",
            "z.backward(mark)",
            "The gradient at the end of the segment is g. mark is a value.",
        ),
        edit(
            "g = start.grad",
            "g = z.grad * g",
            "z is not a leaf, so it keeps no .grad. The gradient at the mark is in start.grad.",
        ),
        edit("z = step(z)", "z = step", "step is the function. Call it at z: step(z)."),
        edit(
            "g = start.grad",
            "g = g * start.grad",
            "g is in start.grad already: backward has multiplied by it.",
        ),
        edit(
            "g = start.grad",
            "g = g + start.grad",
            "backward has already used the old g. The gradient at the end of the segment before is start.grad alone.",
        ),
        edit(
            "g = start.grad",
            "g = start.data",
            "That is the value at the mark. Its gradient is in .grad.",
        ),
        edit(
            "g = start.grad",
            "g = z.data",
            "That is a value. The gradient at the mark is in start.grad.",
        ),
        edit(
            "z.backward(g)",
            "z.backward()",
            "backward was called without a g. If you wrote z.backward(g), then g is None from the second segment on: only the "
            "Tensor made from the mark keeps a gradient, so set g = start.grad. Otherwise pass g.",
        ),
        edit("z = step(z)", "z = step(z.data)", _PLAIN),
        edit("z = step(z)", "z = step(mark)", _PLAIN),
        edit(
            "z = step(z)",
            "z = step(z.detach())",
            _CUT,
        ),
        edit(
            "g = start.grad",
            "g = -start.grad",
            "The magnitude is right, but the sign changes at each segment. Use start.grad unchanged.",
        ),
        edit("g = np.ones(s.shape)", "g = np.ones(3)", _SHAPED),
        edit("g = np.ones(s.shape)", "g = 1.0", _SHAPED),
        edit("z.backward(g)", "z.backward(g.sum())", _SHAPED),
        edit(
            "g = start.grad",
            "g = mark.grad",
            "An array has no .grad. The Tensor made from the mark is start: start.grad.",
        ),
        edit(
            "for i, mark in reversed(marks)",
            "for i, mark in marks",
            "Go from the last segment to the first: reversed(marks).",
        ),
        edit(
            "min(every, n - i)",
            "every",
            "The last segment may be shorter: min(every, n - i) steps.",
        ),
        edit(
            "min(every, n - i)",
            "n - i",
            "This runs to the end of the chain each time. A segment is `every` steps long.",
        ),
        edit(
            "    return g",
            "        return g",
            "You return after the first segment of the loop, which is the last of the chain. Write `return g` after the loop.",
        ),
        edit("        g = start.grad", "    g = start.grad", _ONES),
        edit(
            "        z.backward(g)\n        g = start.grad",
            "    z.backward(g)\n    g = start.grad",
            _ONES,
        ),
        edit(
            "    z = step(z)\n        z.backward(g)",
            "    z = step(z)\n            z.backward(g)",
            "You call backward after each step of the segment. Call it once, after the inner loop.",
        ),
        edit(
            "ag.Tensor(mark, requires_grad=True)",
            "ag.Tensor(mark)",
            _CUT,
        ),
        edit(
            "ag.Tensor(mark, requires_grad=True)",
            "mark",
            _PLAIN,
        ),
        edit(
            "ag.Tensor(mark, requires_grad=True)",
            "ag.Tensor(x, requires_grad=True)",
            "Each segment begins at its own mark, not at x.",
        ),
        edit(
            "z.backward(g)\n        g = start.grad",
            "g = ag.vjp(repeat(step, min(every, n - i)), mark)[1](g)",
            "ag.vjp's function returns a tuple with one gradient for each input. Take the first: [0].",
        ),
        edit(
            "ag.Tensor(mark, requires_grad=True)",
            "ag.Tensor(s.data, requires_grad=True)",
            "s is the end of the chain. Each segment begins at its own mark.",
        ),
        edit(
            "min(every, n - i)",
            "min(every, n - i) - 1",
            _SHORT,
        ),
        edit(
            "        z = step(z)\n        z.backward(g)\n        g = start.grad",
            "        z = step(start)\n            z.backward(g)\n            g = start.grad\n"
            "            start = ag.Tensor(z.data, requires_grad=True)",
            _FORWARD,
        ),
        edit(
            "        z = step(z)\n        z.backward(g)\n        g = start.grad",
            "        z = step(start)\n            z.backward(g)\n            g = start.grad",
            _FORWARD,
        ),
    ],
)
def by_hand(answer):
    if is_stub(answer):
        raise NotYet
    rng = np.random.default_rng(0)

    def tried(step, x, n, every):
        return f"by_hand(step, x = {brief(x)}, n = {n}, every = {every}), where step(s) = tanh(s @ W) with a matrix W"

    examples = [
        (mixing, rng.normal(size=shape).round(2), n, every)
        for shape, n, every in [((3,), 6, 3), ((2, 3), 7, 3), ((3,), 40, 1)]
    ]
    for given in examples:
        expect_call(
            answer,
            *given,
            gives=_plain(*given[:3]),
            hints=by_hand.mistakes,
            rtol=1e-12,
            tried=tried(*given),
        )
    expect_over(
        answer,
        lambda step, x, n, every: _plain(step, x, n),
        lambda d: (
            d.another(mixing, twisted),
            np.tanh(d(*d.choice((3,), (d.size(), 3)))),
            d.times(1, 4, 7, 2),
            d.another(1, 3, 30, 2),
        ),
        hints=by_hand.mistakes,
        tried=tried,
        apart=True,
        rounds=6,
    )
    step, x, n = Counted(), rng.normal(size=(2_000, 3)), 64
    held = footprint(lambda: _whole(answer, step, x), x.nbytes)[1]
    if held > 55:
        raise Wrong(
            "peak memory, n = 64 steps of two ops, every = 8",
            f"{held:.0f} arrays like x",
            "about 30",
            "The gradient is right, but your function holds more than 8 marks and one segment of 8 steps. Run "
            "forward inside no_grad with a mark at every 8th step, and go backward one segment at a time.",
        )
    if step.calls < 100:
        raise Wrong(
            "the steps run for n = 64, every = 8",
            f"{step.calls}",
            "128: each step once in the forward pass, and once when it is recomputed",
            "The gradient is right, and so is the memory. But ag.checkpoint did the work. Run each segment "
            "again by calling step yourself.",
        )
    learned = Counted(ag.Tensor(WEIGHT, requires_grad=True), at=n)
    footprint(lambda: _whole(answer, learned, x))
    if learned.held > 55 * x.nbytes:
        raise Wrong(
            "the arrays held at the end of the forward pass, n = 64 steps of two ops, every = 8, W requires a gradient",
            f"{learned.held / x.nbytes:.0f} arrays like x",
            "about 10",
            "The gradient is right, but the forward pass records every step, so it forgets nothing. Run it inside "
            "`with ag.no_grad():`.",
        )
    if step.calls > 2 * 64:
        raise Wrong(
            "the steps run for n = 64, every = 8",
            f"{step.calls}",
            "128: each step once in the forward pass, and once when it is recomputed",
            "The gradient is right, but some steps are recomputed more than once. Rerun each segment only "
            "once, from its own mark.",
        )


def _whole(answer, step, x):
    """Run the learner's `by_hand`, given as `answer`, for 64 steps with a checkpoint at every 8th step.

    Return a Tensor, because `footprint` requires one.
    """
    answer(step, x, 64, 8)
    return ag.Tensor(0.0, requires_grad=True)


# --- By halves --------------------------------------------------------------------------------------------------------


def _chain(by_halves):
    """Return a function that computes the value of the learner's chain, and its gradient with respect to s."""

    def value_and_gradient(step, n, s):
        value, pull = ag.vjp(by_halves(step, n), s)
        return value, pull(np.ones(np.shape(value)))[0]

    value_and_gradient.__wrapped__ = by_halves
    return value_and_gradient


_BUILT = "by_halves builds a function, so it does not know s. Return lambda s: …, and for n = 1 return step itself."
_CHECKPOINT = "ag.checkpoint takes a function, and returns a function: ag.checkpoint(half)(s)."
_PYTORCH = "use_reentrant is an argument in PyTorch. Here ag.checkpoint takes only the function: ag.checkpoint(half)(s)."
_MISSING = "A half is missing: the second half takes the result of the first."
_NOTHING = "All steps are recorded. Wrap one of the two halves: ag.checkpoint(half)."
_EACH = (
    "Every result is still held: a checkpoint around a single step keeps the step's input and result. Wrap one of the two "
    "halves: ag.checkpoint(half)."
)
_OUTSIDE = "One half is recorded step by step. Make this half with by_halves too, so that it forgets half of its own steps."
_INSIDE = (
    "The backward pass runs the wrapped half again and then holds all of its steps. Make this half with by_halves too, "
    "so that it has checkpoints of its own."
)
_SECOND = (
    "The backward pass begins at the end of the chain. You forget the second half, which it needs at once, and hold the "
    "first, which it needs last. Wrap the other half."
)
_BOTH = (
    "The memory is fine, but too many steps are run again. Wrap only one half. The backward pass needs the other half "
    "at once, so do not forget it."
)
_SINGLE = (
    "The memory is fine, but every step is run once more than necessary: a checkpoint around a single step keeps the "
    "step's result anyway. For n = 1 return step itself."
)


@exercise(
    "17.by_halves",
    minutes=6,
    difficulty="medium",
    importance=2,
    question="""
        **Nested checkpoints.** Write `by_halves(step, n)` for n = 1, 2, 4, 8 and so on. It returns a *function* of s that runs n
        steps, as `repeat(step, n)` does. Build this function from two halves, which are made by `by_halves` as well.
        Wrap one of the two halves in `ag.checkpoint`. Which one? (A plain tape of 256 steps holds 256 arrays. Yours should hold
        at most about 25, and run 5 · 256 steps in all. The check measures both. After the forward pass, 9 are held: one mark
        for each level of halving, and the result.)""",
    stub="""
        def by_halves(step, n):                         # n: 1, 2, 4, 8, …
            ...                                         # yours: return a function of s""",
    hints=[
        "For n = 1, return `step` itself. Otherwise make `half = by_halves(step, n // 2)` and use it twice.",
        "Return `lambda s: …`. In it, the second half takes the result of the first half.",
        "The backward pass begins at the end of the chain. Which half does it need last? Use `ag.checkpoint(half)` in place "
        "of this half.",
        ("Help: I get NameError: name 's' is not defined", _BUILT),
    ],
    solution="""
        def by_halves(step, n):
            if n == 1:
                return step
            half = by_halves(step, n // 2)
            return lambda s: half(ag.checkpoint(half)(s))""",
    explained="""
        The backward pass begins in the second half, so this half is recorded. The first half is needed last, so it is
        forgotten until then.""",
    why="Forget what the backward pass needs last.",
    names=lambda: {"repeat": _repeat},
    mistakes=[
        edit("half(ag.checkpoint(half)(s))", "half(half(s))", _NOTHING),
        edit(
            "half(ag.checkpoint(half)(s))",
            "ag.checkpoint(half)(ag.checkpoint(half)(s))",
            _BOTH,
        ),
        edit("half(ag.checkpoint(half)(s))", "ag.checkpoint(half)(half(s))", _SECOND),
        edit("by_halves(step, n // 2)", "repeat(step, n // 2)", _OUTSIDE),
        edit(
            "half(ag.checkpoint(half)(s))", "half(ag.checkpoint(repeat(step, n // 2))(s))", _INSIDE
        ),
        edit("return step", "return ag.checkpoint(step)", _SINGLE),
        edit("return lambda s: ", "return ", _BUILT),
        edit("ag.checkpoint(half)(s)", "ag.checkpoint(half(s))", _CHECKPOINT),
        edit("half(ag.checkpoint(half)(s))", "ag.checkpoint(half)(s)", _MISSING),
        edit("ag.checkpoint(half)(s)", "ag.checkpoint(half, s)", _CHECKPOINT),
        edit(
            "half(ag.checkpoint(half)(s))",
            "half(half(s).detach())",
            "No gradient goes back to s, because nothing connects the two halves for the backward pass. ag.checkpoint forgets "
            "only the results: it runs the half again when the gradient reaches it.",
        ),
        edit(
            "half = by_halves(step, n // 2)\n    return lambda s: half(ag.checkpoint(half)(s))",
            "chain = step\n    while n > 1:\n        half = chain\n        chain = lambda s: half(ag.checkpoint(half)(s))\n"
            "        n = n // 2\n    return chain",
            "One of your functions calls itself. A lambda reads the variable half only when it is called, and by then a later "
            "turn of the loop has changed half. Use recursion, which has a half of its own at each level.",
        ),
        edit(
            "if n == 1:\n        return step\n    ",
            "",
            "The recursion never ends. For n = 1 return step itself.",
        ),
        edit(
            "return step",
            "return lambda s: s",
            "No step is run. For n = 1 return step itself.",
        ),
        edit(
            "n // 2",
            "n - 1",
            "Each half has n // 2 steps.",
        ),
        edit(
            "half(ag.checkpoint(half)(s))",
            "half(s) + ag.checkpoint(half)(s)",
            "You add the results of the two halves. Instead, the second half takes the result of the first.",
        ),
        edit(
            "half = by_halves(step, n // 2)\n    return lambda s: half(ag.checkpoint(half)(s))",
            "return repeat(ag.checkpoint(step), n)",
            _EACH,
        ),
        edit("ag.checkpoint(half)(s)", "ag.checkpoint(half, use_reentrant=False)(s)", _PYTORCH),
        edit("ag.checkpoint(half)(s)", "ag.checkpoint(half, s, use_reentrant=False)", _PYTORCH),
    ],
)
def by_halves(answer):
    if is_stub(answer):
        raise NotYet
    for n in (1, 2):
        _expect_function(answer, n, by_halves.mistakes)

    def tried(step, n, s):
        return (
            f"the value and the gradient of by_halves(step, n = {n})(s), s = {brief(s)}, where step(s) = tanh(s @ W) "
            "with a matrix W"
        )

    def right(step, n, s):
        return _repeat(step, n)(s), _plain(step, s, n)

    rng = np.random.default_rng(0)
    mistakes = [(_chain(wrong), hint) for wrong, hint in by_halves.mistakes]
    for n in (1, 2, 4, 16):
        given = mixing, n, rng.normal(size=3).round(2)
        expect_call(
            _chain(answer),
            *given,
            gives=right(*given),
            hints=[*mistakes, _miscounted(right, *given)],
            rtol=1e-12,
            tried=tried(*given),
        )
    expect_over(
        _chain(answer),
        right,
        lambda d: (
            d.another(mixing, twisted),
            d.choice(1, 2, 4, 8),
            np.tanh(d(*d.choice((3,), (d.size(), 3)))),
        ),
        hints=mistakes,
        tried=tried,
        rounds=6,
    )
    held, most, run = _measured(answer, n := 256)
    tried = f"by_halves(step, n = {n})(s): the most arrays held, and the steps run"
    shown = f"about 25 arrays, and 5 · {n} steps"
    got = f"{most:.0f} arrays, and {run:.3g} · {n} steps"
    if most > 33:
        raise Wrong(
            tried,
            got,
            shown,
            (_NOTHING if run == 1 else _EACH)
            if held > 0.9 * n
            else _OUTSIDE
            if held > 0.4 * n
            else _SECOND
            if run == 5
            else _INSIDE,
        )
    if run > 5:
        raise Wrong(tried, got, shown, _SINGLE if run == 6 else _BOTH)
    if run < 5:
        return (
            f"your chain runs {run:.3g} · {n} steps instead of 5 · {n}, because it does not halve down to one step. "
            "That saves time, and holds a few more arrays"
        )


def _miscounted(right, step, n, s):
    """Return a recogniser of the result of another number of steps than n."""

    def recognise(got, expected):
        return next(
            (
                f"That is the result of {counted(k, 'step')}, but n is {n}."
                for k in range(4 * n)
                if k != n and same(got, right(step, k, s), 1e-9, 1e-12)
            ),
            None,
        )

    return recognise


def _expect_function(by_halves, n, hints):
    """Raise Wrong unless the learner's `by_halves` returns a function, and runs no step yet."""
    given = []

    def step(s):
        given.append(s)
        return s

    tried, shown = f"by_halves(step, n = {n})", "a function of s"
    chain = returned(by_halves, step, n, tried=tried, shown=shown, hints=hints)
    if given:
        raise Wrong(
            tried, f"it calls step({brief(given[0])})", f"{shown}, which calls step later", _BUILT
        )
    if not callable(chain):
        raise Wrong(tried, brief(chain), shown, _BUILT)


def _measured(by_halves, n):
    """Return the arrays that the learner's chain holds after the forward pass, the most that it holds at any time, and the steps run.

    The steps are those of the forward pass and those run again, divided by n.
    """
    runs = []

    def tanh(x):
        runs.append(1)
        return np.tanh(x)

    step = ag.elementwise(tanh, lambda g, z, x: g * (1 - z * z), name="tanh")
    s = ag.Tensor(np.linspace(-1, 1, 10_000), requires_grad=True)
    held, most = footprint(lambda: by_halves(step, n)(s), s.data.nbytes)
    return held, most, len(runs) / n
