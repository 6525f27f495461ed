"""Ask the questions of lesson 07: two rules that train, designs of engines, and the gradient clinic."""

import math
from numbers import Real

import numpy as np

from ...grading import NotYet, Wrong, brief, exercise, expect, has_blank, is_stub, returned
from ...grading.inputs import lengths_of, thresholds_in_source
from ...grading.sandbox import StepLimitExceeded, bounded
from ...quiz.texts import Question, card, prediction, recall
from ..lesson_05 import exercises as lesson_05
from .clinic import PATIENTS, SQUARED, Scalar, examine
from .designs import Trace, doubled

recall(
    "07",
    [
        Question(
            "A weight receives the gradient 4 in every step, and you never call `zero_grad`. What is in its `.grad` after the third "
            "backward pass? (Lesson 06)",
            12,
            "**12**. Gradients accumulate until you reset them.",
        ),
        Question(
            "x is doubled ten times by x = x + x. How many paths lead from x to the final value, and how many visits does your engine of lesson "
            "05 make? (05)",
            {"paths": 1024, "visits": 11},
            "**1,024** paths: 2 · 2 · …, ten times. **11** visits: one for each of the eleven Values.",
        ),
        Question(
            "The two rules of multiply are swapped by mistake, and you check them at x = y = 3. Does the check fail? (03)",
            False,
            "**No.** Both rules give 3 there. A check at one lucky point proves little.",
        ),
    ],
)

prediction(
    "07.lower",
    question="""Two engines train the same neuron; one of them has a wrong gradient. Both losses fall, and
        B's falls lower. Which engine is wrong, according to the curves?""",
    answer="the curves cannot tell",
    choices=["A, the upper one", "B, the lower one", "the curves cannot tell"],
    reveal="""**The curves cannot tell.** Both fall all the way. As it happens, the wrong one is **B**, the lower one: it uses the published rule
        from lesson 05. From this start it trains *better* than the right one.""",
)

prediction(
    "07.walks",
    question="""x is doubled twelve times by x = x + x, so 4,096 paths lead from x to L. Three engines run a backward pass. *Stored
        locals*: each contribution to a value is multiplied by the local gradients at once, and sent on to the inputs of this value.
        *Ledger*: each value waits for its users, and a dictionary accumulates the contributions. *Trace*: the function that processes
        x calls itself for each user of x, and so on.
        How many visits does each make, that is, how often does it process a value?""",
    answer={"stored locals": "thousands", "ledger": "about a dozen", "trace": "thousands"},
    choices={name: ["about a dozen", "thousands"] for name in ("stored locals", "ledger", "trace")},
    reveal="""**Thousands**, **about a dozen**, **thousands**: 8,191, 13 and 8,191. Only the ledger waits until the gradient of a value is complete.
        The other two process a value again for every path, whether they start at L or at x.""",
)

prediction(
    "07.check",
    question="""The calculation contains every operation of the engine, each input is used at least twice, and the numbers are
        ordinary. How many of the eight patients does this check catch?""",
    answer=1,
    reveal="""
        **1** of 8: patient D. Only D's gradients differ from the measured ones here. The other seven fail if a relu is closed,
        at special numbers, at a second call, in the time they take, or in the function that they compute.""",
)

card(
    "07",
    [
        "A falling loss does not prove that the gradient is right: from some starts, a wrong rule trains even better.",
        "Check at several points, including far out and on both sides of a kink: at a single point a wrong rule may agree with the right one.",
        "Call backward twice, use a value twice, try a long chain: some bugs are not in any rule.",
        "A check compares a rule with the function that was written, not with the one that was meant.",
        "Right numbers are not enough: patient E ran 1,023 rules where 10 would do.",
        "Two values with the same number are still two values: check at equal numbers too.",
    ],
)


# --- Fool the one-point check -------------------------------------------------------------------------------------------------


@exercise(
    "07.fooling_x",
    minutes=3,
    difficulty="easy",
    importance=1,
    question="""
        **Fool the check.** Find a number x at which a check of tanh passes with the published rule because both rules agree:
        $z^2 = 1 - z^2$. Four digits are enough. (`np.arctanh(z)` returns the x whose tanh is z.)""",
    stub="""
        fooling_x = ...""",
    hints=[
        "Solve $z^2 = 1 - z^2$ for z first.",
        "$z^2 = 1/2$, so $z = \\sqrt{1/2} \\approx 0.7071$. Which x has this tanh?",
        (
            "Help: I get 0.4407",
            "This is the w of the neuron. The input of its tanh is w · 2, and the question asks for the input of tanh.",
        ),
    ],
    solution="""
        fooling_x = np.arctanh(np.sqrt(1 / 2))      # 0.8814; −0.8814 is right too""",
    explained="Both rules give ½ there. The neuron from lesson 05 has x = 2 and b = 0, so its w would be half of this x, 0.4407.",
    why="At this point the wrong rule agrees with the right one. So a check needs several points.",
    mistakes=[
        (0.0, "Compare both rules there: 1 and 0. Where are they equal?"),
        (math.sqrt(0.5), "That is z. Which x has this tanh?"),
        (0.5, "That is z². Find z from it, and then x from z."),
        (math.atanh(0.5), "That is arctanh of ½, but ½ is z². Take the square root first."),
        (
            math.tanh(math.sqrt(0.5)),
            "That is the tanh of z. You need the inverse: which x has the tanh z?",
        ),
        (
            math.atan(math.sqrt(0.5)),
            "That is arctan, the inverse of tan. The inverse of tanh is np.arctanh.",
        ),
        (
            math.asin(math.sqrt(0.5)),
            "That is arcsin, the inverse of sin. The inverse of tanh is np.arctanh.",
        ),
        (
            0.4406868,
            "That is the w of the neuron. The input of its tanh is w · 2, and the question asks for the input of tanh.",
        ),
        (1.7627472, "Your x is twice as large as it should be: is there a factor of 2 too many?"),
    ],
)
def fooling_x(answer):
    if not isinstance(answer, Real) and not (
        isinstance(answer, np.ndarray) and answer.shape == () and answer.dtype.kind in "iuf"
    ):
        raise Wrong("fooling_x", brief(answer), "a number", "Give a number: the input x of tanh.")
    x, z = float(answer), math.tanh(answer)
    if not math.isfinite(x):
        raise Wrong(
            "fooling_x",
            brief(answer),
            "a number",
            "That is not a number: z in np.arctanh(z) must be between −1 and 1.",
        )
    if abs(1 - 2 * z * z) > 2e-4:
        raise Wrong(
            f"the two slopes at x = {x:g}",
            f"right {1 - z * z:.4g}, published {z * z:.4g}",
            "two equal numbers",
            next(
                (hint for wrong, hint in fooling_x.mistakes if abs(abs(x) - wrong) < 1e-3),
                f"Compare the two rules at your x: {1 - z * z:.4g} and {z * z:.4g}. For which x are they equal, to four digits?",
            ),
        )


# --- A walk by paths, fixed by a cache -----------------------------------------------------------------------------------------


AGAIN = "Every path is still followed. Do you pass the same cache on for each z, and does its gradient stay in the cache, even if it is 0? z.gradient() does not use the cache, and a new {} is empty."


Z, WHOLE = (
    "cached(z, cache)",
    """\
    if x not in cache:
        cache[x] = sum(local * cached(z, cache) for local, z in x.users) if x.users else 1.0
    return cache[x]""",
)


@exercise(
    "07.cached",
    minutes=3,
    difficulty="optional",
    importance=1,
    question="""
        Fill in the blank of `cached(x, cache)`. It returns the same result as `x.gradient()`, but it stores the gradient of each value in the
        dictionary `cache`, where `cache[x]` is the entry of x, so that each gradient is computed only once. (`x.users` is a list of pairs: a local gradient, and the user z.)""",
    stub="""
        def cached(x, cache):
            if x not in cache:
                cache[x] = sum(local * ... for local, z in x.users) if x.users else 1.0
            return cache[x]""",
    hints=[
        "The trace multiplies `local` by the gradient of z.",
        (
            "Help: every path is still followed",
            "`z.gradient()` follows every path, as before. Call `cached` for z instead, with the same cache.",
        ),
    ],
    solution="""
        def cached(x, cache):
            if x not in cache:
                cache[x] = sum(local * cached(z, cache) for local, z in x.users) if x.users else 1.0
            return cache[x]""",
    explained="""
        The first call for x computes its gradient and stores it. Later calls only read it, so each gradient is computed once. (Use a new
        cache for each computation: an old one returns stale gradients.)""",
    why="With one dictionary, twelve doublings need 13 gradients instead of 8,191. In lesson 05, the order and the ledger had the same "
    "effect.",
)
def cached(answer):
    if has_blank(answer):
        raise NotYet
    YESTERDAY.clear()
    x, y = Trace(2.0), Trace(-3.0)
    z = x * y
    L = z * Trace(0.5) + z * z
    add = "Add over all users."
    for name, value, right, hints in [
        ("L", L, 1.0, [(0, END), (L.data, END)]),
        (
            "y",
            y,
            -23.0,
            [
                (25.0, "A local gradient keeps its sign."),
                (-46.0, "Call it for z here, not for x."),
                (-2 / 11.5, "Along an arrow you multiply: local · the gradient of z."),
                (
                    -11.0,
                    "z · z has z twice among its inputs, so it appears twice in the users of z: count both.",
                ),
                (
                    0.0,
                    "At first the cache is empty. Call cached(z, cache), which reads the cache and fills it.",
                ),
                (
                    2.0,
                    "The gradient of z is missing, or is taken to be 1. At first the cache is empty: cached(z, cache) "
                    "fills the cache.",
                ),
                (
                    3.0,
                    "The local gradients are missing: local · the gradient of z, added over the users.",
                ),
                (4.0, "4 is local · local. Multiply local by the gradient of z instead."),
                (36.0, add),
                (1.0, add),
                *(
                    (
                        wrong,
                        "Multiply local by the gradient of z, not by its data; and add over all users.",
                    )
                    for wrong in (-6.0, -12.0)
                ),
                (-3.5, "Along an arrow you multiply: local · the gradient of z."),
            ],
        ),
        ("x", x, 34.5, []),
    ]:
        tried = f"cached({name}, {{}}), where z = x · y, L = 0.5 · z + z · z, at x = 2 and y = −3"
        expect(_asked(answer, value, {}, tried, right), right, tried=tried, hints=hints)
    x, y = Trace(2.0), Trace(2.0)
    L, cache = x * Trace(3.0) + y * Trace(5.0) + x + y + x + y + x + y, {}
    tried = (
        "cached(x, cache) and then cached(y, cache), with one cache, where L = 3 · x + 5 · y + x + y + x + y + x + y, "
        "at x = 2 and y = 2"
    )
    got = tuple(_asked(answer, value, cache, tried, right) for value, right in [(x, 6.0), (y, 8.0)])
    expect(
        got,
        (6.0, 8.0),
        tried=tried,
        hints=[
            (
                (6.0, 6.0),
                "Two values may have the same number, so the key of the cache must be x itself.",
            )
        ],
    )
    for _ in range(40):
        L = L + x
    tried = "cached(x, {}) once more, with a new cache, after x was added to L 40 times"
    got = _asked(answer, x, {}, tried, 46.0)
    expect(
        got,
        46.0,
        tried=tried,
        hints=[
            (
                6.0,
                "The gradient was 6 before x was added 40 times. Do you store anything outside the given cache, or leave out a user?",
            )
        ],
    )
    for w, hint in [
        (
            0.0,
            "A local gradient may be 0, and so may a sum. So a 0 does not show whether x has users.",
        ),
        (1 / 3, "A gradient need not be a whole number: keep all of its digits."),
        (-300.0, ""),
    ]:
        x = Trace(2.0)
        L = x * Trace(w) * Trace(w)
        tried = f"cached(x, {{}}), where L = x · w · w, at w = {w:.3g}"
        expect(
            _asked(answer, x, {}, tried, w * w),
            w * w,
            rtol=1e-14,
            tried=tried,
            hints=[lambda got, right, hint=hint: hint],
        )
        x = Trace(0.0)
        L = x * Trace(w) + x * Trace(3.0)
        tried = f"cached(x, {{}}), where L = x · w + x · 3, at x = 0 and w = {w:.3g}"
        expect(
            _asked(answer, x, {}, tried, w + 3),
            w + 3,
            rtol=1e-14,
            tried=tried,
            hints=[
                lambda got, right: (
                    "A value may be 0, and so may a local gradient: count every user."
                )
            ],
        )
    for times, last in (
        (30, 1.0),
        (30, 0.0),
        *((times + 9, 1.0) for times in lengths_of(answer, 200)),
    ):
        x = Trace(1.0)
        doubled(times)(x) * Trace(last)
        tried = f"{times} doublings, x = x + x, and then {last:g} · x"
        try:
            got = bounded(answer, x, {}, most=20_000)
        except StepLimitExceeded:
            raise Wrong(
                tried,
                "not finished after 20,000 function calls",
                f"{times + 2} values, each once",
                AGAIN,
            ) from None
        expect(got, last * 2.0**times, tried=f"the gradient of x after {tried}")
    if len(cache) < 11 or {*cache.values()} != {1.0, 6.0, 8.0}:
        raise Wrong(
            "the cache, after cached(x, cache) and cached(y, cache)",
            f"{len(cache)} entries",
            "11 entries, a gradient for each value",
            "Write each gradient into the given cache, cache[x] = …, and do not remove entries.",
        )


YESTERDAY = {}  # the cache of a wrong answer that keeps results between calls
NO_NUMBER = "z is a value of the trace, which stores no gradient. Which call returns its gradient?"
# Python's error message for a slip, and the hint
SAID = {
    **dict.fromkeys(
        ["'function'", "'method'"], "That is a function, not a number. Call it: cached(z, cache)."
    ),
    "'NoneType'": "One of the numbers is None. cache.get(z) returns None if there is no entry yet, and so does a function without a return.",
    "'dict'": "cache is the whole dictionary. Which call returns the gradient of z?",
    "positional argument": "cached takes two arguments, the value and the cache: cached(z, cache).",
    **dict.fromkeys(["'Trace'", "multiply sequence"], NO_NUMBER),
    "'users'": "cached takes a value and the cache. The value here is z.",
}
END = "L has no users, so its gradient is 1.0. (A sum over no users would be 0.)"


def _asked(answer, x, cache, tried, right):
    try:
        # not a copy of the cache: it is to be filled
        return returned(lambda value: answer(value, cache), x, tried=tried, shown=brief(right))
    except RecursionError as error:
        error.hint = "It calls itself with the same value, so it never ends. Call it for z: cached(z, cache)."
        raise
    except (TypeError, AttributeError) as error:
        error.hint = next((hint for piece, hint in SAID.items() if piece in str(error)), "")
        raise
    except KeyError:
        raise Wrong(
            tried,
            "KeyError",
            brief(right),
            "At first the cache is empty. Call cached(z, cache), which reads the cache and fills it.",
        ) from None


# --- The ward -------------------------------------------------------------------------------------------------------------------

CAUSES = [
    ("a value propagates its gradient once, before the gradient is complete", None),
    *((PATIENTS[letter].cause, letter) for letter in "DGEAH"),
    (SQUARED.cause, None),
    *((PATIENTS[letter].cause, letter) for letter in "BFC"),
]
RIGHT = {letter: number for number, (_, letter) in enumerate(CAUSES, start=1) if letter}
ASKED = "DEFG"  # the others may be given too
EVIDENCE = {
    "A": "The relu is closed, so nothing is sent. And yet the gradient is 1. Which value starts with a 1 in every backward pass?",
    "B": "This engine raises an error, but only for a large input. What in a tanh could grow too large?",
    "C": "The derivative is undefined, so the honest result is nan. This engine returns 0.",
    "D": "The gradient is exactly 0, and there is no error: nothing is sent at all. (With the slope z² it would be 0.427.)",
    "E": "All numbers are right. 1,023 = 1 + 2 + 4 + … + 512: how often does the rule of the first sum run?",
    "F": "Each gradient agrees with its measurement, but L is −1. Can half a square be negative? Which cause gives −1 at ŷ = −1, y = 1?",
    "G": "36 is 3 · 12: the first call is right, but the second adds too much. What did the first call leave behind?",
    "H": "The derivative is undefined, but this engine returns 9.888, which is 9 · log 3. What was its logarithm taken of?",
}


@exercise(
    "07.diagnose",
    minutes=5,
    difficulty="medium",
    importance=2,
    question="Look only at the table, not at the code: what is the fault in D, E, F and G? Give the number of the cause.\n\n"
    + "\n".join(f"{number}. {cause}" for number, (cause, _) in enumerate(CAUSES, start=1))
    + "\n\nTwo of the causes apply to none of the eight patients.",
    stub="""
        diagnosis = {"D": ..., "E": ..., "F": ..., "G": ...}""",
    hints=[
        "D, E, F and G each fail in a line in which no other patient fails. What would each cause do to this line?",
        ("Help: D", EVIDENCE["D"]),
        ("Help: E", EVIDENCE["E"]),
        ("Help: F", EVIDENCE["F"]),
        ("Help: G", EVIDENCE["G"]),
        (
            "Help: A, B, C and H, which you may also diagnose",
            """
            A: the relu is closed, so nothing is sent, and yet the gradient is 1. B: what in a tanh could grow too large? C and H: the
            gradient is undefined. One engine hides this, and the other invents a number, 9 · log 3 = 9.888.""",
        ),
    ],
    solution="diagnosis = {" + ", ".join(f'"{letter}": {RIGHT[letter]}' for letter in ASKED) + "}",
    explained="The other four: A 5, B 8, C 10, H 6. Each wrong number in the table points to its cause: 0 instead of 1.573; 1,023 instead of 10; 36 instead of 24.",
    why="Seven of these eight passed the check at ordinary numbers. Each of them was found by a check that targets its fault.",
)
def diagnose(answer):
    if not isinstance(answer, dict):
        raise Wrong(
            "diagnosis",
            brief(answer),
            'a dictionary, {"D": 1, …}',
            "Give a dictionary from each letter to the number of a cause.",
        )
    if any(number is ... or number is None for number in answer.values()):
        raise NotYet
    for letter, right in sorted(RIGHT.items()):
        if letter not in answer and letter not in ASKED:
            continue
        if letter not in answer:
            raise Wrong(
                "diagnosis",
                brief(sorted(map(str, answer))),
                "entries D, E, F and G",
                f"Patient {letter} has no entry."
                + " The letters are capitals." * (letter.lower() in answer),
            )
        number = answer[letter]
        if number not in range(1, len(CAUSES) + 1):
            raise Wrong(
                f"patient {letter}",
                brief(number),
                "the number of a cause",
                "Give a number, without quotes."
                if isinstance(number, str) and number.isdigit()
                else f"The causes are numbered from 1 to {len(CAUSES)}.",
            )
        if number != right:
            raise Wrong(
                f"patient {letter}",
                f"{number}: {CAUSES[int(number) - 1][0]}",
                "a different cause",
                EVIDENCE[letter],
            )


# --- Patient D, fixed ------------------------------------------------------------------------------------------------------------


@exercise(
    "07.fixed_tanh",
    minutes=3,
    difficulty="optional",
    importance=1,
    question="""
        Here is patient D's tanh as published, rewritten as a function. Fix the one faulty line, and replace the last `...` by z. (Each
        result needs a `rule`, a function of g that returns a tuple with the gradient of each input.)""",
    stub="""
        def fixed_tanh(x):
            t = np.tanh(x.data)
            z = Scalar(t, (x,))
            z.backward = lambda g: (g * (1 - t * t),)
            return ...""",
    hints=[
        "The formula is right. But what calls it?",
        "The engine's `backward` calls `z.rule(g)` for every z. Nothing calls `z.backward(g)`.",
        (
            "Help: expected a tuple",
            "A rule returns a tuple, even for one input: the comma in `(g * (1 - t * t),)` makes the tuple.",
        ),
    ],
    solution="""
        def fixed_tanh(x):
            t = np.tanh(x.data)
            z = Scalar(t, (x,))
            z.rule = lambda g: (g * (1 - t * t),)
            return z""",
    explained="""
        Python lets you set an attribute of any name, so there was no error. Worse, `z.backward` was the formula, and it hid the engine's
        method of the same name.""",
    why="The formula was right, but it never ran. Reading the formula does not reveal this, but a check of the engine does.",
)
def fixed_tanh(answer):
    if has_blank(answer):
        raise NotYet
    if not callable(answer) or isinstance(answer, type):
        raise Wrong("fixed_tanh", brief(answer), "a function", "Give the function itself.")
    Fixed = type("Scalar", (Scalar,), {"tanh": lambda self: answer(self)})
    for factor, data in (
        (2, 0.5),
        (-700, -1.2),
        (9, 0.125),
        (2, 400.0),
        (0, 0.5),
        (3, 2.5),
        (2, 0.0),
        *((-4, x) for x in thresholds_in_source(answer)),
    ):
        tried = f"{factor} · tanh x at x = {data:g}: the gradient of x"
        x, z = Fixed(data), math.tanh(data)
        slope = 1 - z * z
        x.grad, right = 0.75, factor * slope
        try:
            got = returned(answer, x, tried=tried, shown=brief(right))
        except RecursionError as error:
            error.hint = "x.tanh() is this function itself, and np.tanh(x) calls x.tanh(). Use the number: np.tanh(x.data)."
            raise
        except NameError as error:
            if error.name == "g":
                error.hint = "g is known only in the backward pass. So a rule is a function of g: lambda g: …"
            raise
        except OverflowError as error:
            error.tried, error.hint = (
                tried,
                "An intermediate number has overflowed. math.tanh and np.tanh avoid this.",
            )
            raise
        if not isinstance(got, Scalar):
            raise Wrong(
                tried,
                brief(got),
                "a Scalar",
                "Return z itself: the value that stores its inputs.",
            )
        if (x.data, x.grad) != (data, 0.75):
            raise Wrong(
                f"x.data and x.grad after tanh x at x = {data:g}",
                brief((x.data, x.grad)),
                brief((data, 0.75)),
                "Do not change x: the result is a new value.",
            )
        if got.grad != 0:
            raise Wrong(
                f"the .grad of the result of tanh x at x = {data:g}",
                brief(got.grad),
                "0",
                "A new value has no gradient yet: leave its .grad at 0.",
            )
        if isinstance(got.inputs, Scalar):
            raise Wrong(
                "the inputs of the result",
                brief(got.inputs),
                "(x,)",
                "The inputs are a tuple, even if there is only one: (x,).",
            )
        if list(got.inputs) != [x]:
            raise Wrong(
                "the inputs of the result",
                brief(got.inputs),
                "(x,)",
                "x is used once: the inputs are (x,)."
                if x in got.inputs
                else "x itself is not among the inputs, so x receives no gradient. Use Scalar(t, (x,)), and return this z.",
            )
        if answer(x) is got:
            raise Wrong(
                f"tanh x at x = {data:g}, twice",
                "one value",
                "two values",
                "Two calls returned the same Scalar: make a new one at each call.",
            )
        if math.isnan(got.data):
            raise Wrong(
                f"tanh x at x = {data:g}: the value",
                "nan",
                brief(z),
                "∞ / ∞ is nan, and exponentials overflow to ∞. np.tanh(x.data) does not overflow.",
            )
        expect(
            float(got.data),
            z,
            tried=f"tanh x at x = {data:g}: the value of the result",
            shown=brief(z),
            hints=[
                lambda got, right: (
                    "The result is the tanh of x.data, with all its digits, as before: only the rule is at fault."
                )
            ],
        )
        answer(Fixed(0.25))  # its number must not get into the rule of the first
        called = f"z.rule(1.0), where z = tanh x at x = {data:g}, and another tanh was computed in between"
        try:
            sent = returned(got.rule, 1.0, tried=called, shown="a tuple")
        except TypeError as error:
            error.hint = (
                "x and z are Scalars, but you need a number here: t, or x.data."
                if "'Scalar'" in str(error)
                else "backward calls z.rule(g) with the upstream gradient: lambda g: …"
                if "positional" in str(error)
                else ""
            )
            raise
        if not hasattr(sent, "__len__"):
            raise Wrong(
                called, brief(sent), "a tuple", "A rule returns a tuple, even for one input: (…,)"
            )
        if len(sent) != 1:
            raise Wrong(
                called,
                brief(sent),
                "a tuple with one entry",
                "There is one input, so the rule returns a tuple with one gradient.",
            )
        if sent[0] is not None:  # the rule of a Scalar without a rule of its own
            expect(
                sent[0],
                slope,
                rtol=1e-13,
                atol=1e-15,
                tried=called,
                shown="a different number",
                hints=[
                    (z * z, "That is z². The slope of tanh is 1 − z²."),
                    (1 - data * data, "That is 1 − x². The slope of tanh is 1 − z²."),
                    (
                        1 - math.tanh(0.25) ** 2,
                        "That is the slope of a tanh that was computed in between: t must be a local variable of this call.",
                    ),
                    (-slope, "The absolute value is right, but it has the wrong sign."),
                    lambda got, right: "The slope of tanh, from its result z, is 1 − z².",
                ],
            )
        Fixed.backward(Fixed(factor) * got)
        expect(
            x.grad - 0.75,
            right,
            atol=1e-12,
            tried=tried,
            shown=brief(right) if data == 0.5 else "a different number",
            hints=[
                (
                    0.0,
                    "x receives nothing. Under which name does backward look for the rule, and on which value?"
                    if sent[0] is None
                    else f"x receives nothing if g is {factor}: multiply the whole slope by g."
                    if factor < 0
                    else "x receives nothing, although z.rule(1.0) returns the slope. Does the rule return it at every call, and does z keep its own number?",
                ),
                (
                    slope,
                    "This is as if g were 1. Multiply the slope by g, at each call of the rule.",
                ),
                (factor - z * z, "g multiplies the whole bracket: g * (1 - t * t)."),
                (-right, "The sign of g is lost: the upstream gradient may be negative."),
            ],
        )
        if "backward" in vars(got):
            raise Wrong(
                "z.backward",
                "an attribute that you set",
                "the engine's own method",
                "z.backward = … hides the engine's own method of this name. Remove that line.",
            )


# --- Capstone -------------------------------------------------------------------------------------------------------------------


def _all_found(Engine, f, *xs):
    """Return True if `order` finds every input of f(*xs), in any order.

    The result is also True if `order` returns something that is not iterable.
    """
    inputs = [Engine(x) for x in xs]
    found = f(*inputs).order()
    return not hasattr(found, "__iter__") or all(x in list(found) for x in inputs)


@exercise(
    "07.capstone",
    minutes=12,
    difficulty="hard",
    importance=1,
    question="""
        **Capstone.** `Unknown` is `Scalar` with one method changed (its methods are `order`, `backward`, `tanh`, `relu`,
        `half_squared_error` and the operators, such as `__mul__`). Find out when it is wrong, name the method, and rewrite it as
        `fixed`, with the same arguments. `examine(Unknown, lambda x, y: …, 2.0, 3.0)` checks any calculation with + − · `**`,
        tanh and relu. (Write a plain number as `Unknown(1.0)`.) `print(source(Unknown, "tanh"))` shows the code of tanh;
        try to find a diagnosis before you look.""",
    stub="""
        faulty_method = ...            # its name, in quotes
        def fixed(self):
            ...""",
    hints=[
        "Check one operation at a time, each at several numbers. Which operations fail? Do they always fail?",
        "`x * y` at 2 and 3, then at 3 and 3. `x.relu()` at 2 and at −2. `x + y` at 2 and 0. What do the failures have in common?",
        "In each calculation that fails, *two values have the same number*. Which method might treat them as one?",
        (
            "Help: the method",
            "The method is `order`. It uses `x.data` to recognise the values that it has already found. So it treats two values with equal data as one value.",
        ),
    ],
    solution="""
        faulty_method = "order"

        def fixed(self):
            found, todo = {self}, [self]
            while todo:
                for x in todo.pop().inputs:
                    if x not in found:
                        found.add(x)
                        todo.append(x)
            return sorted(found, key=lambda value: value.number, reverse=True)""",
    explained="""
        Values must be compared by identity, not by their number. With `found[x.data]`, the second of two values with the same number
        is never visited, so its gradient stays 0. A check at random numbers passes as long as no two values of the calculation have the
        same number. An open relu, a multiplication by 1 and an addition of 0 make such pairs.""",
    why="You went from a symptom to a pattern, and from the pattern to a cause that explains all failures. Then the check passed.",
)
def capstone(answer):
    name, fixed = answer
    if is_stub(fixed) and not isinstance(name, str):
        raise NotYet
    if not isinstance(name, str):
        raise Wrong(
            "faulty_method",
            brief(name),
            "the name of a method",
            "Give the name of the method, in quotes.",
        )
    name = name.strip().removeprefix("Unknown.").removeprefix("Scalar.").removesuffix("()")
    if name != "order":
        raise Wrong(
            "faulty_method",
            name,
            "a different method",
            {
                "relu": "relu fails where x is positive, yet its rule is right. Other operations whose result equals their input fail too: try x * Unknown(1.0).",
                "__mul__": "x * y fails at 3 and 3, but x + Unknown(0.0) fails too. What do the two have in common?",
                "__add__": "x + Unknown(0.0) fails, but x * Unknown(1.0) fails too. What do the two have in common?",
                "backward": "The ledger is right. But backward visits only the values in a list: which method makes this list?",
                **dict.fromkeys(
                    ("tanh", "__sub__", "__pow__", "half_squared_error"),
                    f"{name} passes wherever no two values have the same number.",
                ),
            }.get(
                name,
                f"{name} is not at fault. The methods of Scalar are order, backward, relu, tanh, __add__, __mul__, …"
                if name in vars(Scalar)
                else "Scalar has no method of this name. It has order, backward, relu, tanh, __add__, __mul__, …",
            ),
            early=True,
        )
    if not callable(fixed):
        raise Wrong("fixed", brief(fixed), "a function", "Give the function itself.")
    if is_stub(fixed):
        raise NotYet
    Fixed = type(
        "Fixed",
        (Scalar,),
        {"order": lambda self: returned(fixed, self, tried="fixed()", shown="a list of Scalars")},
    )
    for words, f, xs in [
        ("x * y at 3 and 3", lambda x, y: x * y, (3.0, 3.0)),
        ("x.relu() at 2", lambda x: x.relu(), (2.0,)),
        ("x + y at 2 and 0", lambda x, y: x + y, (2.0, 0.0)),
        ("x + y at 0 and 0", lambda x, y: x + y, (0.0, 0.0)),
    ]:
        if _all_found(Fixed, lambda x, y: x * y, 2.0, 3.0) and not _all_found(Fixed, f, *xs):
            raise Wrong(
                f"a check of {words}",
                str(examine(Fixed, f, *xs)),
                "the check passes",
                "One of the values still receives no gradient. How does your order decide whether to leave a value out?",
            )
    return lesson_05.order.check(fixed)
