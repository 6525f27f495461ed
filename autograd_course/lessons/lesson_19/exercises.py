"""Ask the questions of lesson 19: smoothed n-gram counts, sampling a letter, new names, and a mixture of models."""

import numpy as np

import autograd_lib as ag

from ...grading import (
    NotYet,
    Wrong,
    brief,
    edit,
    exercise,
    expect_call,
    expect_over,
    has_blank,
    is_stub,
    returned,
)
from ...grading.mistakes import doubled, printed
from ...quiz.texts import Question, card, prediction, recall

recall(
    "19",
    [
        Question(
            "A text has 8 letters, at positions 0 to 7, and the mask is causal. How many letters may position 5 look at? "
            "(Lesson 18)",
            6,
            "**6**: the letters at positions 0 to 4, and its own.",
        ),
        Question(
            "A model gives the true class a probability of 1/8. What is its loss? (10)",
            2.079,
            "−log(1/8) = log 8 ≈ **2.08**.",
            tolerance=0.02,
        ),
        Question(
            "Adam runs with lr = 0.01, and the first gradient of a weight is 300. How far does the weight move? (11)",
            0.01,
            "By **0.01**: in the first step it moves by lr, for a gradient of 300 just as for one of 0.003.",
            tolerance=0.0005,
        ),
    ],
)

prediction(
    "19.opening",
    question="""The network and the table now predict each letter of the names that neither of them has read. Which one gives
    these letters the higher probability?""",
    answer="the table of counts",
    choices=["the network", "the table of counts"],
    reveal="""**The table of counts.** With little text and few steps, counting is hard to beat. In this lesson you find out
        where a network beats it.""",
)

prediction(
    "19.start",
    question="""The names consist of 36 different symbols. At step 0 the network knows nothing, because its parameters are random. About how large is its loss, in nats per letter?""",
    answer=3.58,
    tolerance=0.35,
    reveal="""About log 36 = **3.58**, because each symbol has a probability of about 1/36. Ours begins a little higher: random
    logits are not all equal, so the network prefers some letters for no reason.""",
)

prediction(
    "19.greedy",
    question="""Now the network always takes the most likely letter instead of drawing one at random. (This is called **greedy
    decoding**.) It keeps writing. What happens to the text?""",
    answer="it repeats itself",
    choices=["the best names of all", "it repeats itself", "the names it has read"],
    reveal="""**It repeats itself**, in the end forever. The network sees only the last 16 letters. Sooner or later these are
    the same 16 as at some earlier point. Then the same letter follows as at that point, then the same next letter, and so on in
    a cycle.""",
)

prediction(
    "19.prose",
    question="""The counts again go up to the 5-gram, with a = 4. What is the longest n-gram that the network beats on the test
    set?""",
    answer="5-gram",
    choices=["2-gram", "3-gram", "4-gram", "5-gram"],
    reveal="""The **5-gram**. Here the network beats all five n-grams.""",
)

prediction(
    "19.mix",
    question="""For each letter take the mean of the two probabilities, the network's and the table's. Where is the loss of this mixture?""",
    answer="below both",
    choices=["above both", "between the two", "below both"],
    reveal="""**Below both**, because they fail at different letters. If one of them gives a letter almost no probability, half of the other's probability p remains, and half of p costs only log 2 more than p.""",
)

card(
    "19",
    [
        "A letter costs −log p. The loss of a model that knows nothing is log(number of letters).",
        "Counting: (count + a · p of the shorter n-gram) / (all + a). It is never 0 or 0/0.",
        "Judge on a test set, and judge every baseline at its best.",
        "To write: softmax(logits / temperature), draw a letter, append it, repeat.",
        "Greedy decoding, always the most likely letter, ends in a cycle if the context is limited.",
        "Two models fail at different letters, so their mean can beat both.",
    ],
)


# --- 19.smoothed ------------------------------------------------------------------------------------------------------


def _smoothed(counts, shorter, a):
    return (counts + a * shorter) / (counts.sum() + a)


@exercise(
    "19.smoothed",
    minutes=4,
    difficulty="easy",
    importance=2,
    question="""
        Write the boxed formula for all letters at once. `counts` holds how often each letter followed. `shorter` holds the
        probability that the shorter n-gram gives each letter. Both have shape (letters,).""",
    stub="""
        def smoothed(counts, shorter, a):
            ...""",
    hints=[
        "Divide by the number of all letters: those that were counted and the `a` letters that are added.",
        "`shorter` determines how the added letters are distributed: each letter gets `a * shorter` of them.",
        (
            "Help: how do I test it?",
            "The probabilities add up to 1. And where all counts are 0, the result must be `shorter`.",
        ),
    ],
    solution="""
        def smoothed(counts, shorter, a):
            return (counts + a * shorter) / (counts.sum() + a)""",
    explained="The result is the same as if the model had read `a` further letters, distributed as the shorter n-gram predicts.",
    why="No letter is impossible, and a context that was never seen falls back on the shorter n-gram.",
    mistakes=[
        edit(
            "return (counts + a * shorter) / (counts.sum() + a)",
            "counts += a * shorter\n    return counts / counts.sum()",
            "counts holds whole numbers, and += cannot write fractions into it. Make a new array: counts + a * shorter.",
        ),
        edit(
            "(counts.sum() + a)",
            "counts.sum()",
            "The result does not add up to 1: the a added letters count too, so divide by counts.sum() + a.",
        ),
        edit(
            "(counts + a * shorter) / (counts.sum() + a)",
            "counts / counts.sum()",
            "That is counting without smoothing: a letter that never followed gets probability 0, and its cost is infinite.",
        ),
        edit(
            "a * shorter",
            "a",
            "(counts.sum() + a)",
            "(counts.sum() + a * len(counts))",
            "You add the same amount to every letter. The shorter n-gram determines how much each letter gets: a * shorter.",
        ),
        edit(
            "(counts.sum() + a)",
            "(counts.sum() + len(counts))",
            "You divide as if one letter of each kind were added. Altogether a letters are added.",
        ),
        edit(
            "a * shorter",
            "1",
            "(counts.sum() + a)",
            "(counts.sum() + len(counts))",
            "You add one to each letter. `shorter` determines how much each letter gets of the a letters: a * shorter.",
        ),
        edit(
            "a * shorter",
            "a",
            "You add a to the count of each letter. Altogether a letters are added: each letter gets `a * shorter` of them.",
        ),
        edit(
            "a * shorter",
            "shorter",
            "Altogether you add one letter, not a. Each letter gets a * shorter.",
        ),
        edit(
            "(counts.sum() + a)",
            "(counts.sum() + 1)",
            "Altogether a letters are added, not 1: divide by counts.sum() + a.",
        ),
        edit(
            "(counts.sum() + a)",
            "(counts.sum() + a * len(counts))",
            "Altogether a letters are added, not a for each letter, because `shorter` adds up to 1.",
        ),
        edit(
            "(counts.sum() + a)",
            "(len(counts) + a)",
            "You divide by the number of different letters. How many letters were *read*?",
        ),
        edit(
            "(counts.sum() + a)",
            "(counts.max() + a)",
            "You divide by the largest count. Divide by the number of all letters that were read, .sum().",
        ),
        edit(
            "(counts + a * shorter) / (counts.sum() + a)",
            "counts + a * shorter",
            "You have not divided yet. Probabilities must add up to 1.",
        ),
        edit(
            "(counts + a * shorter) / (counts.sum() + a)",
            "counts / max(counts.sum(), 1) + a * shorter",
            "First add the counted and the added letters. Then divide by the number of all of them.",
        ),
        edit(
            "(counts + a * shorter) / (counts.sum() + a)",
            "counts + a * shorter / (counts.sum() + a)",
            "Brackets are missing: divide the whole sum, not only its last term.",
        ),
        edit(
            "(counts + a * shorter) / (counts.sum() + a)",
            "counts + a * shorter / counts.sum() + a",
            "One sum is divided by the other, so each sum needs brackets.",
        ),
        edit(
            "(counts + a * shorter) / (counts.sum() + a)",
            "(counts + a * shorter) // (counts.sum() + a)",
            "// rounds down to whole numbers. Write /.",
        ),
        edit(
            "(counts + a * shorter) / (counts.sum() + a)",
            "np.where(counts > 0, counts / counts.sum(), shorter)",
            "If you take either the counts or `shorter` for a letter, the result does not add up to 1. The formula adds both.",
        ),
        edit(
            "a * shorter",
            "a / shorter",
            "A likelier letter gets more of the added letters: a * shorter.",
        ),
        edit(
            "(counts + a * shorter) / (counts.sum() + a)",
            "(counts + shorter) / (counts.sum() + 1)",
            "You add one letter, not a. Add a * shorter to the counts, and a to their sum.",
        ),
        edit(
            "(counts + a * shorter) / (counts.sum() + a)",
            "counts / (counts.sum() + a) + shorter",
            "`shorter` adds up to 1 already. Add a * shorter to the counts, and then divide by all letters.",
        ),
        edit(
            "(counts.sum() + a)",
            "(counts + a)",
            "Each letter is divided by its own count. Divide by how often *anything* followed: counts.sum() + a.",
        ),
        edit(
            "(counts.sum() + a)",
            "(counts.sum() + a * shorter)",
            "The divisor is the same for every letter: counts.sum() + a.",
        ),
        edit(
            "(counts + a * shorter) / (counts.sum() + a)",
            "-np.log((counts + a * shorter) / (counts.sum() + a))",
            "That is the cost of each letter. Return its probability.",
        ),
        edit(
            "return (counts + a * shorter)",
            "counts += a * shorter\n    return counts",
            "counts belongs to the caller and holds whole numbers, so do not use +=. Make a new array: counts + a * shorter.",
        ),
        (
            lambda counts, shorter, a: (1 - a) * counts / counts.sum() + a * shorter,
            "You use a as a share. In the formula a is a number of letters, and its weight falls as more letters are counted.",
        ),
        edit(
            "(counts + a * shorter) / (counts.sum() + a)",
            "(counts + a * shorter) / counts.sum() + a",
            "Brackets are missing: a belongs to the divisor, (counts.sum() + a).",
        ),
        edit(
            "(counts + a * shorter) /",
            "(counts.sum() + a * shorter) /",
            "Above the fraction bar is the count of each letter, not their sum.",
        ),
        (
            lambda counts, shorter, a: (counts / counts.sum() + a * shorter) / (1 + a),
            "You turn the counts into shares first, so it no longer matters how many letters were counted. Add a * shorter to the counts themselves.",
        ),
        (
            lambda counts, shorter, a: shorter,
            "That is the probability of the shorter n-gram, without any counts.",
        ),
        (
            lambda counts, shorter, a: (counts.mean() + a * shorter) / (counts.sum() + a),
            "Every letter has its own count.",
        ),
        (
            lambda counts, shorter, a: _smoothed(counts, shorter, 4.0),
            "That is right only for a = 4. Use a.",
        ),
        (
            lambda counts, shorter, a: _smoothed(counts, np.full(len(counts), 1 / len(counts)), a),
            "You distribute the added letters evenly. Distribute them by `shorter`.",
        ),
        printed(_smoothed),
    ],
)
def smoothing(answer):
    if has_blank(answer) or is_stub(answer):
        raise NotYet

    def build(d):
        n = d.size(2)
        shorter = np.abs(d(n))
        shorter[0] += 0.1  # others may be 0
        counts = d.places(d.choice(12, 2), n) * d.choice(1, 1, 0, 1000)
        return counts, shorter / shorter.sum(), d.another(2.5, 0.5, 12.7, 1.0)

    expect_over(
        answer,
        _smoothed,
        build,
        apart=True,
        hints=smoothing.mistakes,
        first=[
            (np.array([5, 0, 3]), np.array([0.5, 0.25, 0.25]), 2.5),
            (np.zeros(4), np.array([0.1, 0.2, 0.3, 0.4]), 2.0),
            (np.arange(50) % 3, np.append(np.full(49, 1e-7), 1 - 49e-7), 2.5),
        ],
    )


# --- 19.pick ----------------------------------------------------------------------------------------------------------


def _pick(logits, temperature, u):
    p = ag.softmax(logits / temperature)
    return int(min(np.searchsorted(np.cumsum(p), u, side="right"), len(p) - 1))


ROUNDED = "Because of rounding, the last end can be just below 1, with u above it. Then the answer is the last letter, number len(p) − 1."


def _endless(logits, temperature, u):
    p, letter = ag.softmax(logits / temperature), 0
    while u >= p[letter]:
        u, letter = u - p[letter], letter + 1
    return letter


def _one_interval(logits, temperature, u):
    p = ag.softmax(logits / temperature)
    return next((letter for letter, length in enumerate(p) if u < length), len(p) - 1)


@exercise(
    "19.pick",
    minutes=7,
    difficulty="medium",
    importance=2,
    question="""
        Write `pick(logits, temperature, u)`. Divide the logits by the temperature and turn them into probabilities with
        softmax. Lay the probabilities end to end from 0 to 1, beginning with letter number 0. Return the number of the letter
        whose interval contains u. (u is also between 0 and 1.)""",
    stub="""
        def pick(logits, temperature, u):
            p = ...
            return ...""",
    hints=[
        "`np.cumsum(p)` gives the end of each interval.",
        "How many of these ends are at or below u? That many letters lie before u.",
        (
            "Help: very rarely, it returns a number one too large",
            "That is rounding. The network computes in float32, so the last end may be 0.9999998. The last letter has "
            "the number len(p) − 1.",
        ),
    ],
    solution="""
        def pick(logits, temperature, u):
            p = ag.softmax(logits / temperature)
            return min(int((np.cumsum(p) <= u).sum()), len(p) - 1)""",
    explained="Each end at or below u belongs to a letter that lies before u. The `min` is needed because, after rounding, u may even lie beyond the last end.",
    why="If u is drawn uniformly between 0 and 1, each letter is returned with its probability p.",
    mistakes=[
        edit(
            "(np.cumsum(p) <= u).sum()",
            "p.argmax()",
            "This is always the most likely letter, whatever u is: nothing is drawn.",
        ),
        edit(
            "min(int((np.cumsum(p) <= u).sum()), len(p) - 1)",
            "int((np.cumsum(p) <= u).sum())",
            ROUNDED,
        ),
        edit(
            "min(int((np.cumsum(p) <= u).sum()), len(p) - 1)",
            "int(np.argmax(np.cumsum(p) > u))",
            ROUNDED,
        ),
        edit(
            "min(int((np.cumsum(p) <= u).sum()), len(p) - 1)",
            "int(np.where(np.cumsum(p) > u)[0][0])",
            ROUNDED,
        ),
        (_endless, ROUNDED),
        edit(
            "ag.softmax(logits / temperature)",
            "np.exp(logits / temperature) / np.exp(logits / temperature).sum()",
            "Divided by a low temperature, a logit can be so large that exp gives "
            "inf, and inf/inf is nan. First subtract the largest (lesson 10), or use ag.softmax.",
        ),
        edit(
            "logits / temperature",
            "logits",
            "Your probabilities do not depend on the temperature as they should: divide the logits by it. (Subtracting one number from all logits changes nothing.)",
        ),
        edit(
            "logits / temperature",
            "logits, temperature",
            "The second argument of softmax is the axis. Divide the logits.",
        ),
        edit(
            "p = ag.softmax(logits / temperature)",
            "logits /= temperature\n    p = ag.softmax(logits)",
            "logits /= temperature changes the caller's array, so the next call divides again. Write logits / temperature.",
        ),
        edit(
            "ag.softmax(logits / temperature)",
            "logits / temperature",
            "Logits are not probabilities: they can be below 0 or above 1. softmax turns them into probabilities.",
        ),
        edit(
            "ag.softmax(logits / temperature)",
            "np.exp(logits / temperature)",
            "These do not add up to 1 yet: divide by their sum, or use softmax.",
        ),
        edit(
            "ag.softmax(logits / temperature)",
            "ag.softmax(logits) ** (1 / temperature)",
            "These are right up to a factor, so they no longer add up to 1.",
        ),
        edit(
            "min(int((np.cumsum(p) <= u).sum()), len(p) - 1)",
            "np.where(np.cumsum(p) > u)[0]",
            "Those are all letters whose intervals end after u. The first of these intervals contains u.",
        ),
        edit(
            "min(int((np.cumsum(p) <= u).sum()), len(p) - 1)",
            "int((np.cumsum(p) > u).sum())",
            "You count the ends after u. Count those that u has passed: <= u.",
        ),
        edit(
            "min(int((np.cumsum(p) <= u).sum()), len(p) - 1)",
            "int((p <= u).sum())",
            "You compare u with the length of each interval. Where do the intervals *end*? np.cumsum returns the ends.",
        ),
        edit(
            "min(int((np.cumsum(p) <= u).sum()), len(p) - 1)",
            "np.abs(p - u).argmin()",
            "That is the letter whose p is nearest to u. Lay the probabilities end to end: np.cumsum.",
        ),
        edit(
            "logits / temperature",
            "logits * temperature",
            "You multiply. A high temperature must make the letters more alike, so divide.",
        ),
        edit(
            "ag.softmax(logits / temperature)",
            "ag.softmax(logits) / temperature",
            "These do not add up to 1. First divide the logits, then take softmax.",
        ),
        edit(
            "ag.softmax(logits / temperature)",
            "logits / temperature / np.sum(logits / temperature)",
            "Logits can be below 0. softmax turns them into probabilities.",
        ),
        edit(
            "np.cumsum(p) <= u",
            "np.cumsum(p) > u",
            "You count the ends after u. Count those that u has passed: <= u.",
        ),
        edit(
            "np.cumsum(p) <= u",
            "p <= u",
            "You compare u with the length of each interval. Where do the intervals *end*? np.cumsum returns the ends.",
        ),
        edit(
            "(np.cumsum(p) <= u).sum()",
            "(np.cumsum(p) <= u).sum() + 1",
            "This is one letter too far: the numbers begin with 0.",
        ),
        edit(
            "min(int((np.cumsum(p) <= u).sum()), len(p) - 1)",
            "max(int((np.cumsum(p) <= u).sum()) - 1, 0)",
            "This is one too small. Count the letters that u has passed; u is in the interval of the next letter.",
        ),
        edit(
            "min(int((np.cumsum(p) <= u).sum()), len(p) - 1)",
            "int((np.cumsum(p) <= u).sum()) - 1",
            "This is one too small: if two letters lie before u, then u is in the interval of letter number 2.",
        ),
        edit(
            "np.cumsum(p)",
            "np.cumsum(p[::-1])",
            "Your intervals begin with the last letter. Begin with letter number 0.",
        ),
        *(
            edit(
                "np.cumsum(p)",
                f"np.cumsum({among})",
                "You sort the probabilities, so the number of each letter is lost.",
            )
            for among in ("np.sort(p)", "np.sort(p)[::-1]")
        ),
        edit(
            "ag.softmax(logits / temperature)",
            "ag.log_softmax(logits / temperature)",
            "Those are logarithms of probabilities, all below 0. The lengths of the intervals are the probabilities: use softmax.",
        ),
        *(
            edit(
                "    return min",
                f"    p = np.where(p >= np.sort(p)[-{k}], p, 0)\n    p = p / p.sum()\n    return min",
                f"You draw only from the {k} most likely letters. Here every letter has its interval, however short.",
            )
            for k in (2, 3, 5)
        ),
        edit(
            "(np.cumsum(p) <= u).sum()",
            "u * len(p)",
            "You give every letter an interval of the same length. The length of each interval is p.",
        ),
        edit(
            "min(int((np.cumsum(p) <= u).sum()), len(p) - 1)",
            "np.cumsum(p)",
            "Those are the ends of the intervals. Which letter's interval contains u?",
        ),
        edit(
            "min(int((np.cumsum(p) <= u).sum()), len(p) - 1)",
            "p[min(int((np.cumsum(p) <= u).sum()), len(p) - 1)]",
            "That is the probability of the letter. Return its number.",
        ),
        (
            lambda logits, temperature, u: _pick(logits, 1 / temperature, u),
            "You multiply. A high temperature must make the letters more alike, so divide.",
        ),
        (
            lambda logits, temperature, u: _pick(np.abs(logits), temperature, u),
            "The sign of a logit matters: do not use abs.",
        ),
        (
            lambda logits, temperature, u: _pick(logits, temperature, 1 - u),
            "Your intervals begin with the last letter. Letter number 0 comes first.",
        ),
        (
            _one_interval,
            "You compare u with the length of one interval. Compare it with the sum of the lengths so far.",
        ),
        printed(_pick),
    ],
)
def picking(answer):
    if has_blank(answer) or is_stub(answer):
        raise NotYet
    hints = [*((_row(wrong), hint) for wrong, hint in picking.mistakes), _one_u]
    rng = np.random.default_rng(0)
    returned(
        answer,
        np.zeros(3),
        1.0,
        0.5,
        tried="pick(np.zeros(3), 1.0, 0.5)",
        shown="1",
        hints=picking.mistakes,
    )
    expect_over(
        _row(answer),
        _row(_pick),
        lambda d: (
            np.tanh(d(d.size())) * d.choice(3, 30, 8000),
            d.another(0.5, 3.0, 1.0, 0.01, 1000.0),
        ),
        first=[(rng.normal(0, 1.5, 6).round(1), temperature) for temperature in (0.5, 3.0, 1.0)],
        hints=hints,
        rounds=9,
        apart=True,
        tried=lambda logits, temperature: (
            f"pick({brief(logits)}, {temperature}, u) for u = 0, 0.05, … 0.95, and about each end"
        ),
    )
    expect_call(answer, np.log([0.125, 0.25, 0.125, 0.5]), 1.0, 0.2, gives=1)
    for logits, u, letter in [
        ([-8.0, 7.995, 8.0, 4.0], 0.3, 1),
        ([-8.0, 7.995, 8.0, 4.0], 0.9, 2),
        ([1.0, 1.05], 0.2, 1),
        ([0.0, 0.0, 0.0, 19.0, 20.0], 0.5, 4),
    ]:
        expect_call(answer, np.array(logits), 0.01, u, gives=letter, hints=picking.mistakes)
    for n in [130, 30] * 15:  # u on the very last stretch, where ends may be rounded
        expect_call(
            answer,
            rng.normal(size=n).astype(np.float32),
            1.0,
            1 - 1e-7,
            gives=n - 1,
            hints=picking.mistakes,
            tried=f"{n} logits in float32, as the network gives them, and u = 0.9999999",
        )
    letter = answer(np.zeros(3), 1.0, 0.5)
    if isinstance(letter, (float, np.floating)):
        raise Wrong(
            "pick(np.zeros(3), 1.0, 0.5)",
            repr(float(letter)),
            "1",
            "pick must return the index of a letter, so convert it to an integer: int(…).",
        )


def _row(pick):
    """Return a function of logits and a temperature that lists the letters picked for many values of u.

    `pick` is the function to test. There are twenty evenly spaced values of u, and two more just
    before and just after each boundary between two letters.
    """

    def row(logits, temperature):
        ends = np.cumsum(ag.softmax(logits / temperature))[:-1]
        us = [
            *np.linspace(0, 0.95, 20),
            *(u for u in [*(ends - 1e-6), *(ends + 1e-6)] if 0 <= u < 1 - 1e-6),
        ]
        return [pick(logits, temperature, float(u)) for u in us if np.all(np.abs(u - ends) > 5e-7)]

    row.__wrapped__ = pick
    return row


def _one_u(got, expected):
    """Return a hint that names the right letter for the first u at which `got` differs from `expected`, or None.

    The size of the difference is not mentioned, because the numbers of letters are only names.
    """
    for one, right in zip(got[:20], expected):
        if not np.ndim(one) and not one == right:
            return (
                f"The first u for which your answer differs is in the interval of letter {right}. Which ends of intervals has this u passed? Only the logits, the "
                "temperature and u determine the letter: draw nothing at random."
            )


# --- 19.invented ------------------------------------------------------------------------------------------------------


def _invented(written, known):
    return [name for name in written.split("\n") if name and name not in known]


def _alike(name):
    """Return a list of lines that are easily confused with `name`, beginning with the name itself."""
    near = [
        name.lower(),
        name[:-1],
        name[1:],
        name[1:-1],
        name + "S",
        f"BIG {name}",
        f"{name} SIGN",
    ]
    return [name, *near, *name.split()[1:]]


def _removed_once(written, known):
    lines = written.split("\n")
    for name in ["", *known]:
        if name in lines:
            lines.remove(name)
    return lines


def _both_removed_in_loop(written, known):
    lines = written.split("\n")
    for name in lines:
        if not name or name in known:
            lines.remove(name)
    return lines


def _removed_in_loop(written, known):
    lines = written.split("\n")
    for name in lines:
        if name in known:
            lines.remove(name)
    return lines


PIECE_OF_A_NAME = "A piece of a known name counts as known here: BAT is a part of BATTERY. Compare with the whole names in the list."


@exercise(
    "19.invented",
    minutes=3,
    difficulty="easy",
    importance=1,
    question="""
        Write `invented(written, known)`. `written` is a text with one name per line, and `known` is a list of names. Return a
        list of the lines that are not among the known names, in the order of the text. An empty line is not a name.""",
    stub="""
        def invented(written, known):
            ...""",
    hints=[
        '`written.split("\\n")` gives the lines.',
        "`name in known` looks for a whole name, if `known` is a list.",
        (
            "Help: BAT is missing",
            '`"BAT" in "BATTERY"` is True. Do not join the known names into one text.',
        ),
    ],
    solution="""
        def invented(written, known):
            return [name for name in written.split("\\n") if name and name not in known]""",
    explained="In a list, `in` looks for an equal entry. In a string, it looks for a substring.",
    why="Before you admire what a model writes, check whether its training set contains the same text.",
    mistakes=[
        edit("name not in known", "name in known", "Those are the known names. Return the others."),
        edit(
            "name not in known",
            'name not in "\\n".join(known)',
            PIECE_OF_A_NAME,
        ),
        edit(
            "name not in known",
            "name not in str(known)",
            PIECE_OF_A_NAME,
        ),
        edit(
            "name and name not in known",
            "name not in known",
            "An empty line is not a name: leave it out.",
        ),
        edit(
            'written.split("\\n")',
            "written.split()",
            'Names contain spaces: split at the newline, "\\n".',
        ),
        edit(
            'written.split("\\n")',
            'written.split("\\n")[1:]',
            "Your result leaves out the first line.",
        ),
        edit(
            'written.split("\\n")',
            'written.split("\\n")[:-1]',
            "Your result leaves out the last line, which may be a name.",
        ),
        edit(
            'written.split("\\n")',
            "written",
            'This loop runs over letters. First split the text into lines: .split("\\n").',
        ),
        edit(
            '[name for name in written.split("\\n") if name and name not in known]',
            'list(dict.fromkeys(name for name in written.split("\\n") if name and name not in known))',
            "A name that was written twice appears once. Return all the lines.",
        ),
        edit(
            '[name for name in written.split("\\n") if name and name not in known]',
            'sorted(name for name in written.split("\\n") if name and name not in known)',
            "You sort the names. Return them in the order in which they were written.",
        ),
        edit(
            '[name for name in written.split("\\n") if name and name not in known]',
            'len([name for name in written.split("\\n") if name and name not in known])',
            "That is the number of new names. Return the names themselves.",
        ),
        edit(
            '[name for name in written.split("\\n") if name and name not in known]',
            "[name for name in known if name not in written]",
            "Those are the known names that were not written. Return the written names that are not known.",
        ),
        edit(
            'written.split("\\n")',
            'written.split("/n")',
            "A newline is written \\n, with a backslash.",
        ),
        edit("if name and", "if len(name) > 1 and", "A name can have a single letter."),
        edit(
            '[name for name in written.split("\\n") if name and name not in known]',
            '{name for name in written.split("\\n") if name and name not in known}',
            "That is a set, which has no order and contains each name only once. Return a list.",
        ),
        edit(
            "name and name not in known",
            "name and not any(name.startswith(one) for one in known)",
            "A name that merely begins with a known name is new.",
        ),
        edit(
            "name and name not in known",
            "name and not any(one in name for one in known)",
            "A new name may contain a known name: BATTERY SIGN is new, although BATTERY is not.",
        ),
        edit(
            "name and name not in known",
            "name and name.lower() not in known",
            "You convert the lines to lower-case letters, but the known names are in capitals.",
        ),
        edit(
            "name and name not",
            "name and name.strip() not",
            "Return every line unchanged, with its spaces.",
        ),
        *(
            edit("[name for", f"[name.{changed}() for", "Return every line unchanged.")
            for changed in ("strip", "lower", "upper", "title")
        ),
        edit(
            'written.split("\\n") if name and',
            "written.splitlines() if",
            "An empty line is not a name: leave it out.",
        ),
        *(
            (
                wrong,
                "The loop removes lines from the list that it runs over, so it skips the line after each removed one. Build a new list instead.",
            )
            for wrong in (_removed_in_loop, lambda *a: [n for n in _removed_in_loop(*a) if n])
        ),
        edit(
            '[name for name in written.split("\\n") if name and name not in known]',
            '[letter for name in written.split("\\n") if name and name not in known for letter in name]',
            "+= adds each letter of the name to your list. Append the whole name: .append(name).",
        ),
        edit(
            '[name for name in written.split("\\n") if name and name not in known]',
            '"\\n".join(name for name in written.split("\\n") if name and name not in known)',
            "You return one text. Return a list of the names.",
        ),
        edit(
            "[name for",
            "[name not in known for",
            "if name and name not in known]",
            "]",
            "Those are True and False, one for each line. Return the new names themselves: [name for …].",
        ),
        (
            _removed_once,
            "lines.remove(name) removes only the first occurrence. A name that is written twice must be removed twice.",
        ),
        edit(
            "name not in known",
            'name not in " ".join(known)',
            PIECE_OF_A_NAME,
        ),
        edit(
            '[name for name in written.split("\\n") if name and name not in known]',
            '[name for name in known if name not in written.split("\\n")]',
            "Those are the known names that were not written. Return the written names that are not known.",
        ),
        (
            _both_removed_in_loop,
            "The loop removes lines from the list that it runs over, so it skips the line after each removed one. Build a new list instead.",
        ),
        printed(_invented),
    ],
)
def inventing(answer):
    if has_blank(answer) or is_stub(answer):
        raise NotYet
    known = ["BATTERY", "SNOWMAN", "BLACK SCISSORS", "KEY", "FACE"]
    examples = [
        (written, known)
        for written in [
            "MOONKED FACE\nBAT\nSNOWMAN\nBLACK KEY",
            "KEY\n\nWHITE SCISSORS\nBATTERY SIGN\nBLACK SCISSORS",
            "FACE\nKEY",
            "Z\nA\nBAT SIGN\nA\nMAN\n",
            "",
            "KEY\n\nMAN\nMAN\n\nKEY",
            "YEK\n" * 30,
        ]
    ]

    def build(d):
        names = [form for name in known[:3] for form in _alike(name)]
        lines, some = ([names[k] for k in d.places(len(names), n)] for n in (d.size(1, 9), 5))
        return "\n".join(lines), some

    examples += [
        ("KEY\nMAN", []),
        ("300\n299", [str(k) for k in range(300)]),
        ("MAN\n KEY \nBat\nMAN", known),
    ]
    hints = [*inventing.mistakes, _same_names]
    expect_over(answer, _invented, build, first=examples, apart=True, hints=hints)


def _same_names(got, expected):
    """Return a hint if `got` holds the expected names in another order or without repetitions, else None."""
    if not isinstance(got, (list, tuple)) or not all(isinstance(name, str) for name in got):
        return None
    if sorted(got) == sorted(expected):
        return "These are the right names in the wrong order. Keep the order of the text; a set does not keep it."
    if len({*got}) == len(got) < len(expected) and {*got} == {*expected}:
        return "A name that was written twice appears once. Return all the lines."


# --- 19.mix_slope -----------------------------------------------------------------------------------------------------


def _mix_slope(w, p, q):
    return -np.mean((p - q) / (w * p + (1 - w) * q))


@exercise(
    "19.mix_slope",
    minutes=6,
    difficulty="optional",
    importance=1,
    question="""
        p and q, each of shape (n,), are the probabilities that two models gave to the n letters that followed. They are mixed
        with weight w, so the loss is the mean of −log(w·p + (1 − w)·q). Write the derivative of this loss with
        respect to w.""",
    stub="""
        def mix_slope(w, p, q):
            ...""",
    hints=[
        "Start with one letter: what is inside the log, and how does it depend on w?",
        "The derivative of w·p + (1 − w)·q with respect to w is p − q. And the derivative of log is 1 over its argument.",
        (
            "Help: how do I test it?",
            "`ag.grad(lambda w: -ag.mean(ag.log(w * p + (1 - w) * q)))(0.3)`.",
        ),
    ],
    solution="""
        def mix_slope(w, p, q):
            return -np.mean((p - q) / (w * p + (1 - w) * q))""",
    explained="The rule of log is 1 over its argument. The slope of the argument is p − q.",
    why="At w = 0 the derivative is 1 − mean(p/q): if it is negative, adding a little p helps. The second derivative is positive unless p and q are equal, so there is at most one minimum.",
    mistakes=[
        edit("-np.mean", "np.mean", "The sign is wrong: the loss is *minus* the log."),
        edit("(p - q)", "(p + q)", "(1 − w)·q falls as w rises, so its slope is −q."),
        edit("(p - q)", "p", "The second term depends on w too: (1 − w)·q has slope −q."),
        edit("(p - q)", "(q - p)", "The sign is wrong: the loss is *minus* the log."),
        edit(
            "(p - q) / (w * p + (1 - w) * q)",
            "1 / (w * p + (1 - w) * q)",
            "That is the rule of log alone. Multiply by the slope of its argument: p − q.",
        ),
        edit(
            "(p - q) / (w * p + (1 - w) * q)",
            "(p - q)",
            "The rule of log is missing: 1 over its argument.",
        ),
        edit("np.mean", "np.sum", "That is a sum. The loss is a mean, which is n times smaller."),
        edit(
            "-np.mean((p - q) / (w * p + (1 - w) * q))",
            "-np.mean(p - q) / np.mean(w * p + (1 - w) * q)",
            "The mean of quotients is not the quotient of means: divide letter by letter.",
        ),
        edit(
            "-np.mean((p - q) / (w * p + (1 - w) * q))",
            "-np.mean(np.log(w * p + (1 - w) * q))",
            "That is the loss. Return its derivative.",
        ),
        edit(
            "-np.mean((p - q) / (w * p + (1 - w) * q))",
            "-(p - q) / (w * p + (1 - w) * q)",
            "That is one number for each letter. The derivative of a mean is the mean of the derivatives.",
        ),
        edit(
            "(w * p + (1 - w) * q)",
            "(w * p + (1 - w) * q) ** 2",
            "The rule of log is 1 over its argument, not over the square.",
        ),
        (
            lambda w, p, q: np.mean(((p - q) / (w * p + (1 - w) * q)) ** 2),
            "That is the second derivative.",
        ),
        edit(
            "(p - q) / (w * p + (1 - w) * q)",
            "(p - q) * (w * p + (1 - w) * q)",
            "The rule of log is 1 *over* its argument.",
        ),
        edit(
            "(w * p + (1 - w) * q)",
            "(w * p + (1 - w * q))",
            "Brackets are missing: (1 - w) times q.",
        ),
        edit(
            "/ (w * p + (1 - w) * q)",
            "/ w * p + (1 - w) * q",
            "Parentheses are missing: divide by the whole mixture.",
        ),
        edit(
            "(p - q)",
            "(w * p - (1 - w) * q)",
            "The derivative of w·p with respect to w is p, without w.",
        ),
        edit("(p - q)", "w * (p - q)", "The derivative of w·p with respect to w is p, without w."),
        edit("(w * p + (1 - w) * q)", "(w * p + q)", "In the mixture, q has weight 1 − w."),
        edit("(w * p + (1 - w) * q)", "((1 - w) * p + w * q)", "w belongs to p, and 1 − w to q."),
        edit(
            "(w * p + (1 - w) * q)",
            "q",
            "That is right only at w = 0. Divide by the whole mixture.",
        ),
        edit(
            "(w * p + (1 - w) * q)",
            "((p + q) / 2)",
            "That is right only at w = ½. Divide by the whole mixture.",
        ),
        (
            lambda w, p, q: np.mean(np.log(q / p)),
            "That is the difference of the two losses. It would be the derivative if the loss were a straight line in w.",
        ),
        edit(
            "/ (w * p + (1 - w) * q)",
            "/ np.log(w * p + (1 - w) * q)",
            "The derivative of log is 1 over its argument, not 1 over the log.",
        ),
        edit(
            "/ (w * p + (1 - w) * q)",
            "* np.log(w * p + (1 - w) * q)",
            "The derivative of log is 1 over its argument, not the log itself.",
        ),
        edit(
            "(p - q) / (w * p + (1 - w) * q)",
            "p - q / (w * p + (1 - w) * q)",
            "Brackets are missing: divide the whole difference (p - q).",
        ),
        doubled(_mix_slope),
        printed(_mix_slope),
    ],
)
def mixing(answer):
    if has_blank(answer) or is_stub(answer):
        raise NotYet
    rng = np.random.default_rng(0)

    def build(d):
        n = d.size()
        return d.another(0.3, 0.0, 1.0, 0.8), *(
            (a + 1e-9) / (1 + a) for a in (d.above(n), d.above(n))
        )

    examples = [
        (w, *rng.uniform(0.02, 0.95, (2, n)).round(2))
        for w, n in [(0.3, 4), (0.0, 5), (1.0, 3), (0.8, 7)]
    ]
    examples += [
        (0.3, np.array([0.5, 0.2, 0.0]), np.array([0.1, 0.4, 0.3]))
    ]  # one model gave the letter that followed the probability 0
    expect_over(
        answer, _mix_slope, build, first=examples, apart=True, rtol=1e-10, hints=mixing.mistakes
    )
