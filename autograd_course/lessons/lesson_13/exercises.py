"""Lesson 13: a rule of two terms, the weight that was used at every step, and gradients cut to a length."""

import numpy as np

from ...grading import NotYet, brief, edit, exercise, expect, expect_over, has_blank, is_stub
from ...grading.mistakes import printed, sign_lost
from ...quiz.texts import Question, card, prediction, recall

recall(
    "13",
    [
        Question(
            "A classifier is right on 100 % of its training scans, and on 60 % of those held out. Which number says how it "
            "will do? (Lesson 12)",
            "60 %",
            "**60 %**. The other one says only how it does on scans that it has seen.",
            ["100 %", "80 %", "60 %"],
        ),
        Question(
            "Adam, lr = 0.01. The first gradient of a weight is 250. By how much does the weight move in this first step? (11)",
            0.01,
            "**0.01**: Adam divides a gradient by its usual size, and the first one is all that it has seen.",
        ),
        Question(
            "z = tanh(x) is 0.8, and g = 10 arrives. What goes to x? (04)",
            3.6,
            "g · (1 − z²) = 10 · 0.36 = **3.6**. The rule needs the output alone.",
        ),
    ],
)

prediction(
    "13.two",
    question="""A wave like $\\sin x \\cdot \\cos x$ is sampled at equal, known distances, and its formula is known to you. But
        you are not told *where* you are: you only see the latest values. How many of them do you need, to compute the next one exactly?""",
    answer="two",
    choices=["one", "two", "about half a period", "a whole period"],
    reveal="""**Two.** One is too few: at the same height the wave may be rising or falling. The two latest values tell
        which of the two it is, and then the next value is settled. The next lines turn that into a formula.""",
)

prediction(
    "13.uses",
    question="""A state starts at 1, and three times it is multiplied by the same weight $w = 2$. That gives 2, then 4, then
        $L = 8$. What is the gradient of $w$?""",
    answer=12,
    reveal="""**12.** w is used three times. When you nudge w, each of the three uses changes, and each brings 4. The
        sum is the slope of $w^3$, which is $3 w^2$. With 4 you have counted one use alone.""",
)

prediction(
    "13.fifty",
    question="""A step turns a point a little around 0, and multiplies its distance from 0 by ρ (rho). There
        are fifty steps. A gradient of length 1 arrives at the last point and is carried back to the first. About how
        long is the gradient there, with ρ = 0.9? And with ρ = 1.1?""",
    answer={"ρ = 0.9": "0.005", "ρ = 1.1": "117"},
    choices={
        "ρ = 0.9": ["0.9", "0.45", "0.1", "0.005", "0.0000005"],
        "ρ = 1.1": ["1.1", "5", "55", "117", "1,000,000"],
    },
    reveal="""$0.9^{50}$ is about **0.005**, and $1.1^{50}$ about **117**. Every step back multiplies once more by ρ.
        One gradient loses ten percent at each step, the other gains ten percent. After fifty steps the two differ by a
        factor of more than twenty thousand.""",
)

prediction(
    "13.cure",
    question="""ρ has 120 steps of gradient descent with lr = 0.001. The right ρ is 1. A run from 1.1, where the
        gradient is huge, lands at −154 in its first step. A run from 0.8, where the gradient is tiny, hardly moves.
        Now the gradient is clipped, with c = 1. Which of the two runs arrives at 1?""",
    answer="from 1.1 alone",
    choices=["from both", "from 1.1 alone", "from 0.8 alone", "from neither"],
    reveal="""**From 1.1 alone.** Here the gradient that is too long still points the right way, and it is enough to
        shorten it. The gradients from 0.8 are shorter than c. So nothing is cut, and the run is the same to the last
        digit.""",
)

card(
    "13",
    [
        "A recurrent network hands a state on from step to step, with the same weights at each.",
        "Through time: the ordinary backward pass of the unrolled graph.",
        "A weight used n times: its gradient is the sum over n uses.",
        "If every step stretches by ρ, then n steps stretch a gradient by ρⁿ: below 1 it vanishes, above 1 it explodes.",
        "Clipping by one norm over everything shortens what is too long and keeps the direction. It does not cure vanishing.",
        "Put a baseline beside a network: y[n+1] = 2cos(0.2)·y[n] − y[n−1] is exact, and nothing was trained.",
    ],
)

# --- 13.rule --------------------------------------------------------------------------------------------------------------


def _two(angle):
    return 2 * np.cos(angle), -1


@exercise(
    "13.rule",
    minutes=3,
    difficulty="optional",
    question="""
        Another wave: $\\sin 3x$, sampled at x = 0, 0.2, 0.4, … Its next value, too, is a multiple of the latest value, plus a multiple of
        the one before. Give the two factors.""",
    stub="""
        of_the_latest = ...
        of_the_one_before = ...""",
    hints=[
        "From one sample to the next, by how much does what stands inside the sine grow?",
        "In the derivation, $b$ is that growth. For $\\sin 2x$ it was $2h$.",
        ("Help: I get 1.8", "That is 2cos(0.4), of the wave above. Here x is multiplied by 3."),
    ],
    solution="""
        of_the_latest = 2 * np.cos(3 * 0.2)
        of_the_one_before = -1""",
    explained="From one sample to the next, $3x$ grows by 0.6. Everything else is as above; the height of the wave does "
    "not matter.",
    why="Every pure wave, sampled evenly, has a rule of two terms.",
    mistakes=[
        (_two(0.4), "That is the factor of the lesson's wave, with 2x inside. Here it is 3x."),
        (
            _two(1.2),
            "The angle is doubled once too often: the 2 in 2h came from sin 2x. What stands inside this sine?",
        ),
        (_two(0.2), "From sample to sample x grows by 0.2. By how much does 3x grow?"),
        (_two(0.3), "That is for samples 0.1 apart. Here they are 0.2 apart."),
        (_two(3), "3x grows by 3 when x grows by 1. From sample to sample x grows by 0.2 only."),
        (_two(np.radians(0.6)), "Degrees? np.cos counts in radians."),
        (
            (3 * np.cos(0.6), -1),
            "The 2 in front stays: it comes from adding the two lines, not from sin 2x.",
        ),
        (
            (6 * np.cos(0.6), -1),
            "The 3 belongs inside the cosine alone: it says how far the angle grows.",
        ),
        (
            (np.cos(0.6), -1),
            "The 2 in front is missing: two neighbours are added in the derivation.",
        ),
        ((np.cos(1.2), -1), "The 2 belongs in front of the cosine, not inside it."),
        (
            (2 * np.sin(0.6), -1),
            "Which of the two, sin b or cos b, stayed when the two lines were added?",
        ),
        (
            (2 * np.cos(0.6), 1),
            "The second factor has the wrong sign: the value before went to the other side.",
        ),
        ((-1, 2 * np.cos(0.6)), "The right factors in the wrong order."),
        (sign_lost(_two(0.6))),
    ],
)
def rule(answer):
    expect(
        answer,
        _two(0.6),
        tried="the two factors of sin 3x, sampled every 0.2",
        shown="two other numbers",
        hints=rule.mistakes,
        rtol=1e-4,
    )


# --- 13.uses --------------------------------------------------------------------------------------------------------------

# The three blanks, filled.
NO_ABS = "g and w come with their signs, and keep them all the way: no abs."
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
    question="""
        Now each step also has a tanh: $s_k = \\tanh(w \\cdot s_{k-1})$. `states` is the list $s_0, s_1, \\ldots, s_n$,
        and g arrives at the last one. Fill the three blanks, so that the function returns the gradient of w. (The loop
        runs backwards: k goes from n down to 1.)""",
    stub="""
        def gradient_of_w(w, states, g):
            total = 0.0
            for k in range(len(states) - 1, 0, -1):
                g = ...          # from states[k] back through tanh, to the product
                total = ...      # and what this use brings to w
                g = ...          # on to states[k - 1]
            return total""",
    hints=[
        "Lesson 04: back through tanh, g is multiplied by $1 - z^2$, where z is the output. "
        "Which of the states is z?",
        "The product is $w \\cdot s_{k-1}$. Each slot gets g times what stands in the other.",
        (
            "Help: too small, whatever I do",
            "`total = g * …` forgets what the other uses brought. The gradients of the uses are added.",
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
    explained="Three rules that you have known since lesson 04, in a loop. That is all there is to *through time*.",
    why="That is backpropagation through time, whole. The engine does the same, and has never heard of time.",
    mistakes=[
        edit(
            _ADD,
            "total = total + abs(g * states[k - 1])",
            "What one use brings may be negative, and counts with its sign: no abs.",
        ),
        edit(
            _ADD,
            "total = total + g * abs(states[k - 1])",
            "A state may be negative, and is multiplied in with its sign: no abs.",
        ),
        edit(_ON, "g = g * abs(w)", NO_ABS),
        edit(_TANH, "g = abs(g) * (1 - states[k] ** 2)", NO_ABS),
        edit(
            "len(states) - 1, 0,",
            "len(states) - 1, len(states) - 2,",
            "That is the last use alone. w was used at every step: what do the other uses bring?",
        ),
        (
            lambda w, states, g: (len(states) - 1) * _uses(w, states[-2:], g),
            "That is the last use, times the number of steps. Each use brings its own share: walk on, state by state.",
        ),
        edit(
            _ADD,
            "total = g * states[k - 1]",
            "One use survives: `total = …` forgets the others. The gradients of the uses are added.",
        ),
        edit(_TANH, "", "The tanh is missing on the way back: 1 − z², with its output z."),
        edit(
            _ON,
            "",
            "On its way to the state before, g has to pass the product: what stands in the other slot?",
        ),
        edit(
            "states[k - 1]",
            "states[k]",
            "The product was w · states[k − 1]. So which state does g meet there?",
        ),
        edit(
            _TANH,
            _ADD,
            _ADD,
            _TANH,
            "w's share is taken before tanh's slope. First go back through tanh, then to the product's two slots.",
        ),
        edit(
            "states[k] ** 2",
            "states[k - 1] ** 2",
            "tanh's slope is 1 − z² of its *output*. Which state came out of step k?",
        ),
        edit(
            "states[k] **",
            "np.tanh(states[k]) **",
            "states[k] is tanh's output already: no second tanh.",
        ),
        edit(" ** 2", "", "tanh's slope from its output z is 1 − z²: the square is missing."),
        edit(
            "(1 - states[k] ** 2)",
            "np.tanh(states[k])",
            "Back through tanh, g meets tanh's slope: 1 − z², where z is tanh's output.",
        ),
        edit("(1 - states[k] ** 2)", "states[k] ** 2", "That is z². The slope of tanh is 1 − z²."),
        edit(
            "total + g",
            "total * g",
            "0 comes back, whatever arrives. What each use brings is added to total: "
            "multiplied by 0, it is lost.",
        ),
        edit("1, 0, -1", "1, 1, -1", "The first step is missing: the loop has to reach k = 1."),
        edit(
            "g * states[k - 1]",
            "g * w",
            "What this use brings to w is g times what stands in the product's *other* slot. There stands a state.",
        ),
        edit(
            "g * states[k - 1]",
            "g * w",
            _ON,
            "g = g * states[k - 1]",
            "The two slots are swapped: w gets g times the state, and the state gets g times w.",
        ),
        edit(
            _ON,
            "g = g * states[k - 1]",
            "What goes on to the state before is g times what stands in the product's *other* slot. There stands w.",
        ),
        edit(
            "g * (1 -",
            "g / (1 -",
            "g is divided by tanh's slope. On the way back, too, g is multiplied by a slope.",
        ),
        edit(
            "g * (1 -",
            "(1 -",
            _ON,
            "",
            "What arrives is lost: g is multiplied at each place, and goes on.",
        ),
        edit(
            "total + g * states",
            "total + states",
            "That adds the states alone: each use brings g times the state it met.",
        ),
        edit(
            "(1 - states[k] ** 2)",
            "(1 - states[k]) ** 2",
            "The square belongs to the state alone: 1 − states[k] ** 2, without brackets.",
        ),
        edit(
            "(1 - states[k] ** 2)",
            "1 - states[k] ** 2",
            "Brackets are missing: in g * (1 - states[k] ** 2) g multiplies both the 1 and the square.",
        ),
        edit(_ON, "g = g + w", "g and w are added. Through a product you multiply."),
        edit(_ON, "g = g / w", "g is divided by w. Back through a product, too, you multiply."),
        edit(
            _TANH,
            "g = g * (1 - states[-1] ** 2)",
            "Each step has its own slope: states[k], not always the last.",
        ),
        edit(
            _ON,
            "g = w",
            "What goes on to the state before is g times w. Here what arrived is lost.",
        ),
        edit(
            "g * (1 - states[k] ** 2)",
            "g * (1 - states[k] ** 2) * w",
            "w is there twice. The first line stops at the product; w belongs to the way on to states[k - 1].",
        ),
        edit(
            _ON,
            "g = g * w * (1 - states[k] ** 2)",
            "tanh's slope is there twice: the first line has it already. What is left to pass is the product.",
        ),
        edit(
            "return total",
            "return w * total",
            "w is a factor too many. w itself gets g times the state; the factor w is for the state before.",
        ),
        edit(
            "(1 - states[k] ** 2)",
            "(1 - states[0] ** 2)",
            "Each step has its own slope: states[k], not always the first.",
        ),
        edit(
            "states[k - 1]",
            "states[0]",
            "Each step met another state: states[k - 1], not always the first.",
        ),
        edit(
            "return total",
            "return g",
            "That is what arrives at the first state. What w gets has been added up in total.",
        ),
        edit(
            "return total",
            "return total + g",
            "What arrives at the first state in the end is its own: w gets what its uses bring, and no more.",
        ),
        edit(
            "total = 0.0",
            "total, g = 0.0, 1.0",
            "g is what arrives at the last state: start from it, not from 1.",
        ),
        edit(
            "total = 0.0",
            "total = 0.0; g = g * (1 - states[-1] ** 2)",
            _TANH,
            "pass",
            "The slope of tanh is taken once. There is a tanh in every step: the line belongs inside the loop.",
        ),
        edit(
            _TANH,
            "at_product = g * (1 - states[k] ** 2)",
            "g * states[k - 1]",
            "at_product * states[k - 1]",
            "What passed through tanh goes on: on the way to the state before, too, tanh's slope is a factor.",
        ),
        edit(
            _TANH,
            "at_product = g * (1 - states[k] ** 2)",
            "g * states[k - 1]",
            "at_product * states[k - 1]",
            _ON,
            "",
            "At every step you start from the same g. On its way to the state before it passes tanh and the product.",
        ),
        edit(
            "g * states[k - 1]",
            "g * states[k - 1] / w",
            "There is a division by w. Back through a product, g meets the other slot: there stands the state alone.",
        ),
        edit(
            "return total",
            "return total / (len(states) - 1)",
            "That is a mean over the uses. The gradients of the uses are added, and no more.",
        ),
        sign_lost(_uses),
        printed(_uses),
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


# --- 13.clip --------------------------------------------------------------------------------------------------------------

_ALL, _SHORT = (
    "sum(np.sum(g * g) for g in gradients)",
    "return [g * (max_norm / norm) for g in gradients]",
)
_NO_LENGTH = "All of these are 0, and so is their norm. A norm of 0 is short enough, and nothing can be divided by it."
_TO_ANY = "max_norm may be below 1. Then a norm between max_norm and 1 is too long as well."


def _clip(gradients, max_norm):
    norm = np.sqrt(sum(np.sum(g * g) for g in gradients))
    return [g * (max_norm / norm) for g in gradients] if norm > max_norm else gradients


@exercise(
    "13.clip",
    minutes=6,
    difficulty="medium",
    question="""
        Write `clip(gradients, max_norm)`. It gets a list of arrays, all gradients of a model, and gives back such a
        list. Gradients whose **common** norm is at most `max_norm` come back as they were. Longer ones come back
        shortened to that norm, in their old direction.
        (A divisor of norm + 1e−6, as in PyTorch, is right too.)""",
    stub="""
        def clip(gradients, max_norm):
            ...""",
    hints=[
        "First compute one number, the norm over everything: square *all* entries of *all* arrays, add the squares, "
        "take the root.",
        "`sum(np.sum(g * g) for g in gradients)` adds up all squares. Then multiply all arrays by one factor: "
        "which one turns `norm` into `max_norm`?",
        (
            "Help: why not np.clip?",
            """
            `np.clip` cuts each entry by itself. Cut at 1, (3, 0.1) becomes (1, 0.1). Compared with the first entry, the
            second is now three times as large as before. So the step goes in another direction.""",
        ),
    ],
    solution="""
        def clip(gradients, max_norm):
            norm = np.sqrt(sum(np.sum(g * g) for g in gradients))
            if norm <= max_norm:
                return gradients
            return [g * (max_norm / norm) for g in gradients]""",
    explained="One norm and one factor serve all arrays. So the long vector of all gradients becomes shorter, and "
    "keeps its direction.",
    why="One factor for all: the long vector of all gradients is shorter, and points where it did.",
    mistakes=[
        edit("norm <= max_norm", "0 < norm <= max_norm", _NO_LENGTH),
        edit(
            "    if norm <= max_norm:\n        return gradients\n",
            "",
            "max_norm / norm",
            "min(norm, max_norm) / norm",
            _NO_LENGTH,
        ),
        edit(
            "    if norm <= max_norm:\n        return gradients\n",
            "    norm = float(norm)\n",
            "(max_norm / norm)",
            "min(1, max_norm / norm)",
            _NO_LENGTH,
        ),
        *[
            edit(
                "norm <= max_norm",
                f"{size} <= max_norm",
                "They grew, though their norm was at most max_norm. Do you compare its square, or a sum of norms?",
            )
            for size in ("norm ** 2", "sum(map(np.linalg.norm, gradients))")
        ],
        edit("norm <= max_norm", "norm <= max(1, max_norm)", _TO_ANY),
        edit(
            "    if norm <= max_norm:\n        return gradients\n",
            "    norm = max(norm, 1)\n",
            "(max_norm / norm)",
            "min(1, max_norm / norm)",
            _TO_ANY,
        ),
        *[
            edit(
                "norm <= max_norm",
                f"all({short} <= max_norm for g in gradients)",
                "Each by itself is short enough. All together are too long, and it is their common norm that counts.",
            )
            for short in ("np.linalg.norm(g)", "np.abs(g).max()")
        ],
        (
            lambda gradients, c: [np.clip(g, -c, c) for g in gradients],
            "Each entry is clipped by itself. The large ones lose, the small ones do not: the direction has changed.",
        ),
        (
            lambda gradients, c: [np.minimum(g, c) for g in gradients],
            "Each entry is clipped by itself, and a large negative one not at all. It is the length of all together that counts.",
        ),
        (
            lambda gradients, c: [_clip([g], c)[0] for g in gradients],
            "Each array is clipped by its own norm, so some shrink more than others. Take one norm for all together.",
        ),
        edit("(max_norm / norm)", "(1 / norm)", "Their norm is now 1. Wanted is max_norm."),
        edit(
            "(max_norm / norm)",
            "(norm / max_norm)",
            "The factor is upside down: what is too long grows.",
        ),
        edit(f"np.sqrt({_ALL})", _ALL, "The root is missing: that is the norm squared."),
        edit(
            f"np.sqrt({_ALL})",
            "sum(np.sum(np.abs(g)) for g in gradients)",
            "Sizes are added. The norm is the root of the sum of squares.",
        ),
        edit(
            f"np.sqrt({_ALL})",
            "max(np.max(np.abs(g)) for g in gradients)",
            "That is the largest entry. The norm takes all of them.",
        ),
        edit(
            f"np.sqrt({_ALL})",
            "sum(np.sqrt(np.sum(g * g)) for g in gradients)",
            "The arrays' norms are added. Add all squares, then take one root.",
        ),
        edit(
            f"np.sqrt({_ALL})",
            "max(np.sqrt(np.sum(g * g)) for g in gradients)",
            "That is the largest of the arrays' norms. Add the squares of all arrays, then take one root.",
        ),
        edit(
            _ALL,
            "np.mean(np.concatenate([g.ravel() for g in gradients]) ** 2)",
            "That is a mean of squares: the norm wants their sum.",
        ),
        edit(
            _ALL,
            "sum(np.mean(g * g) for g in gradients)",
            "That adds means of squares: the norm wants the sum of all squares.",
        ),
        edit(
            _ALL,
            "sum(np.sum(g) for g in gradients) ** 2",
            "The entries are added before they are squared, so signs cancel. Square first.",
        ),
        edit(
            _ALL,
            "sum(np.sum(g) ** 2 for g in gradients)",
            "The entries are added before they are squared, so signs cancel. Square first.",
        ),
        edit(
            "if norm <= max_norm:",
            "if False:",
            "These were short enough, and have been stretched. Leave alone what is not too long.",
        ),
        edit(
            "norm <= max_norm",
            "norm >= max_norm",
            "Nothing got shorter. Is a comparison or the factor upside down? "
            "Or does a loop only rename: `g = g * …` changes no list.",
        ),
        edit(
            "(max_norm / norm)",
            "0",
            "What is too long becomes 0. Its direction is worth keeping: shorten it.",
        ),
        edit(
            "(max_norm / norm)",
            "(max_norm / (norm + 0.1))",
            "Their norm is now a little too small: the factor max_norm / norm makes it max_norm.",
        ),
        edit(
            "(max_norm / norm)",
            "(max_norm / norm) ** 2",
            "They are shortened twice: the factor is max_norm / norm, once.",
        ),
        edit(
            _SHORT,
            "return gradients",
            "Nothing got shorter. Is a comparison or the factor upside down? "
            "Or does a loop only rename: `g = g * …` changes no list.",
        ),
        edit(
            _ALL,
            "np.sum(gradients ** 2)",
            "`gradients` is a list, and knows no arithmetic: go through its arrays, one by one.",
        ),
        edit(
            _SHORT,
            "return gradients * (max_norm / norm)",
            "A list cannot be multiplied so: multiply each of its arrays.",
        ),
        (
            lambda gradients, c: np.sqrt(sum(np.sum(g * g) for g in gradients)),
            "The norm came back, as from clip_grad_norm_. Wanted here is the list.",
        ),
        (
            lambda gradients, c: [g.grad for g in gradients],
            "The arrays *are* the gradients, and have no .grad. (clip_grad_norm_ wants weights.)",
        ),
        *[
            edit(
                f"np.sqrt({_ALL})",
                f"np.linalg.norm({arrays})",
                "The arrays differ in shape: add up squares array by array, then add those sums.",
            )
            for arrays in ("gradients", "np.concatenate(gradients)")
        ],
        edit(
            _ALL,
            "sum(g * g for g in gradients)",
            "Your norm is an array. `np.sum(g * g)` makes one number of each array.",
        ),
        edit(
            _ALL,
            "np.sum(gradients[0] * gradients[0])",
            "That is the norm of the first array alone. All of them count.",
        ),
        edit(
            _ALL,
            "sum(np.sum(g[0] * g[0]) for g in gradients)",
            "That is the first row of each array alone. All entries count.",
        ),
        edit(
            _ALL,
            "sum(np.linalg.norm(np.atleast_2d(g), 2) ** 2 for g in gradients)",
            "np.linalg.norm(g, 2) of a matrix is another norm. Wanted is the root of the sum of all squares.",
        ),
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
        ],
    )  # one array of two parameters: 0.707 together
