"""Create problems in which the learner computes the numbers of one lesson by hand.

The numbers belong, for example, to a training step, a tangent or the windows of a convolution. Every
lesson without its own problems on graphs, rules, shapes or Jacobians has a key here.
"""

from dataclasses import dataclass
from itertools import permutations
from math import log, sqrt

import numpy as np

from ..drawing.formatting import number
from ..drawing.picture import Picture
from ..quiz.arithmetic import number_in
from . import walks
from .problems import Box, Mark, Problem, hint_of, judged

KEYS = {
    "hand.nudge": "00",
    "hand.differences": "01",
    "hand.order": "05",
    "hand.ledger": "05",
    "hand.accumulate": "06",
    "hand.twice": "07",
    "hand.momentum": "11",
    "hand.curvature": "11",
    "hand.classify": "12",
    "hand.shared": "13",
    "hand.clip": "13",
    "hand.windows": "14",
    "hand.tangent": "15",
    "hand.second": "16",
    "hand.marks": "17",
    "hand.attend": "18",
    "hand.letters": "19",
    "hand.lines": "20",
    "hand.shards": "21",
    "hand.implicit": "22",
    "hand.straight": "22",
}
TITLES = {
    "hand.nudge": "value, gradient, nudge",
    "hand.differences": "forward and central differences",
    "hand.order": "a safe order of visits",
    "hand.ledger": "the ledger during a backward pass",
    "hand.accumulate": "two examples, with and without a reset",
    "hand.twice": "backward twice",
    "hand.momentum": "two steps with momentum",
    "hand.curvature": "the largest stable learning rate",
    "hand.classify": "batches and the gradient of the logits",
    "hand.shared": "a weight that is used again and again",
    "hand.clip": "gradient clipping",
    "hand.windows": "the windows of a convolution",
    "hand.tangent": "tangents, carried forward",
    "hand.second": "second derivatives and H·v",
    "hand.marks": "marks of a checkpointed chain",
    "hand.attend": "a causal mask, and √d",
    "hand.letters": "loss at the start, and temperature",
    "hand.lines": "dead code",
    "hand.shards": "gradients of shards",
    "hand.implicit": "the derivative of a solution",
    "hand.straight": "straight-through",
}


@dataclass
class Asked:
    """Hold one number that a problem asks for.

    Attributes
    ----------
    label : str
        The text beside the box for the number.
    right : float
        The number that is the right answer.
    wrong : list of (float, str)
        The results of known mistakes, each with a hint.
    """

    label: str
    right: float
    wrong: list


def make(key, rng):
    """Return the Problem for a key such as "hand.nudge", with random numbers from `rng`.

    `key` is one of KEYS, and `rng` is a NumPy generator.
    """
    if key == "hand.order":
        return _order(key, rng)
    if key == "hand.ledger":
        return _ledger(key, rng)
    question, asked, reveal = MAKERS[key](rng)
    return _problem(key, question, asked, reveal, Picture("", question))


def _problem(key, question, asked, reveal, drawn):
    """Return a Problem that asks for several numbers, each judged on its own.

    `asked` is a list of Asked, `reveal` is the text of the answer, and `drawn` is the Picture.
    """
    mistakes = [
        [(float(wrong), hint) for wrong, hint in one.wrong if not _near(wrong, one.right)]
        for one in asked
    ]

    def one(i, text):
        got = number_in(text)
        if _near(got, asked[i].right):
            return Mark(True)
        hint = hint_of(mistakes[i], lambda wrong: _near(got, wrong))
        return Mark(
            False, hint or "None of the usual mistakes gives this number. Work it out again."
        )

    return Problem(
        key,
        question,
        [Box(box.label) for box in asked],
        lambda texts: judged(texts, one),
        lambda texts, marks: drawn,
        reveal,
        [repr(float(box.right)) for box in asked],
        [(i, repr(wrong), hint) for i, ones in enumerate(mistakes) for wrong, hint in ones],
    )


def _near(x, right):
    """Return True if x equals the right number: exactly for an integer, else within 0.1 %."""
    if right == round(right):
        return abs(x - right) < 1e-9
    return abs(x - right) <= 0.001 * abs(right)


def _of(rng, *choices):
    """Return one of the choices, drawn at random."""
    return choices[rng.integers(len(choices))]


def _in_brackets(x):
    return f"({number(x)})" if x < 0 else number(x)


# --- Part I -----------------------------------------------------------------------------------------------------------


def _nudge(rng):
    value, g = _of(rng, 6, 8, 11, 14, 20), _of(rng, -5, -4, -3, -2, 2, 3, 4)
    nudge = _of(rng, -0.02, -0.01, 0.01, 0.02, 0.05)
    moves = "up" if nudge > 0 else "down"
    question = (
        f"At some point on a curve, the value is {value} and the gradient is {number(g)}. From there x moves "
        f"{moves} by {number(abs(nudge))}. **What is the value now, approximately?**"
    )
    wrong = [
        (value + g, "The gradient is a rate, not a step: multiply it by the nudge of x."),
        (
            value + nudge,
            "You added the nudge of x. The value changes by the gradient times the nudge.",
        ),
        (value - g * nudge, "The size of the change is right, but its sign is wrong."),
        (g * nudge, "That is the change of the value. What is the value after it?"),
        (value, "The gradient is not 0, so the value changes when x moves."),
    ]
    reveal = (
        f"{value} + {_in_brackets(g)} · {_in_brackets(nudge)} = **{number(value + g * nudge)}**."
    )
    return question, [Asked("value", value + g * nudge, wrong)], reveal


def _differences(rng):
    h, slope, bend = _of(rng, 0.1, 0.2, 0.5), _of(rng, -3, 2, 4, 5), _of(rng, 1, 2, 3)
    here, skew = _of(rng, 1, 3, 7), _of(rng, 4, 6, 10)
    up, down = (here + slope * t + bend * t**2 + skew * t**3 for t in (h, -h))
    question = (
        f"A function has the value {number(down, 6)} at x − h, {here} at x and {number(up, 6)} at x + h, with "
        f"h = {number(h)}. **What are its forward and central differences at x?**"
    )
    forward, backward, central = (up - here) / h, (here - down) / h, (up - down) / (2 * h)
    shared = [
        (up - here, "Divide by the distance between the two points."),
        (up - down, "Divide by the distance between the two points."),
    ]
    asked = [
        Asked(
            "forward difference",
            forward,
            [
                (central, "That is the central difference."),
                (
                    backward,
                    "That is the difference from x − h to x. The forward one ends at x + h.",
                ),
                (forward / 2, "x and x + h are h apart, not 2h."),
                *shared,
            ],
        ),
        Asked(
            "central difference",
            central,
            [
                (2 * central, "That is twice the right number: how far apart are your two points?"),
                (forward, "That is the forward difference."),
                (backward, "That is the difference from x − h to x."),
                *shared,
            ],
        ),
    ]
    reveal = (
        f"Forward: ({number(up, 6)} − {here}) / {number(h)} = **{number(forward)}**. Central: "
        f"({number(up, 6)} − {_in_brackets(down)}) / {number(2 * h)} = **{number(central)}**."
    )
    return question, asked, reveal


def _graph(rng):
    """Return (walk, made): a random graph for which not every order of visits is safe.

    `walk` is the Walk, and `made` lists the keys of its intermediate results.
    """
    while True:
        walk = walks.drawn("walk.paths", rng)
        made = [node.key for node in walk.nodes[:-1] if node.op]
        if len(made) >= 2 and len(_orders(walk, made)) < len(list(permutations(made))):
            return walk, made


def _orders(walk, made):
    """Return a list of all orders in which the backward pass may visit the nodes `made`.

    In each order, every node comes after the other nodes of `made` that use its value.
    """
    users = {key: {arrow.user for arrow in walk.leaving(key)} & {*made} for key in made}
    return [
        order
        for order in permutations(made)
        if all(users[key] <= {*order[: order.index(key)]} for key in made)
    ]


def _order(key, rng):
    """Return a Problem that asks in which order the backward pass may visit the nodes of a graph.

    Every safe order is a right answer.
    """
    walk, made = _graph(rng)
    made = made[::-1]
    orders, last = _orders(walk, made), len(made) + 1
    names = [walk.called[one] for one in made]
    users = [
        [made.index(arrow.user) for arrow in walk.leaving(one) if arrow.user in made]
        for one in made
    ]

    def judge(texts):
        given = {}
        for i, text in enumerate(texts):
            try:
                given[i] = number_in(text)
            except ValueError:
                continue

        def one(i, text):
            turn = number_in(text)
            if turn not in range(2, last + 1):
                return Mark(False, f"Write a turn from 2 to {last}: L has turn 1.")
            same = [names[k] for k, other in given.items() if k != i and other == turn]
            if same:
                return Mark(False, f"{same[0]} has the same turn.")
            early = [names[k] for k in users[i] if given.get(k, 0) > turn]
            if early:
                return Mark(
                    False,
                    f"{names[i]} is visited before {early[0]}, which still has a contribution for {names[i]}. "
                    f"So the gradient of {names[i]} is not complete.",
                )
            if all(order[int(turn) - 2] != made[i] for order in orders):
                later = sorted({names[k] for k in users[i]}) or ["the values before it"]
                return Mark(
                    False,
                    f"No safe order gives {names[i]} this turn. Which values have a contribution for "
                    f"{names[i]}? Here: {', '.join(later)} and L."
                    if users[i]
                    else f"No safe order gives {names[i]} this turn: it must come earlier, because another value needs its gradient.",
                )
            return Mark(True)

        return judged(texts, one)

    wrong = [
        (i, repr(turn), "")
        for i in range(len(made))
        for turn in (1, last + 1, *(k for k in range(2, last + 1) if k != 2 + i))
    ]
    known = [True] * len(walk.arrows) + [False] * len(walk.cards)
    return Problem(
        key,
        "In which order may the backward pass visit these values? L has turn 1, and the leaves come last. "
        "**Write the turn of each value.** (Every safe order is right.)",
        [Box(f"turn of {name}") for name in names],
        judge,
        lambda texts, marks: walks.picture(walk, known),
        "**"
        + ", ".join(["L", *names])
        + "**: each value is visited after all its users, so that its gradient is complete.",
        [repr(2 + i) for i in range(len(made))],
        wrong,
    )


def _ledger(key, rng):
    """Return a Problem that asks for the entries of the ledger in the middle of a backward pass.

    The ledger holds the gradients that have arrived so far at values not yet visited.
    """
    while True:
        walk, made = _graph(rng)
        order = [walk.nodes[-1].key, *made[::-1]]
        for visits in rng.permutation(range(1, len(order))):
            done, waiting = order[:visits], [one for one in walk.cards if one not in order[:visits]]
            arrived = {
                one: [arrow for arrow in walk.leaving(one) if arrow.user in done] for one in waiting
            }
            if any(0 < len(arrived[one]) < len(walk.leaving(one)) for one in waiting):
                return _ledger_question(key, walk, done, arrived)


def _ledger_question(key, walk, done, arrived):
    asked, said = [], []
    for one, arrows in arrived.items():
        name, total = walk.called[one], sum(arrow.passes for arrow in arrows)
        wrong = [
            (
                walk.g[one],
                f"That is the gradient of {name} once the pass is over. Which of its users have been visited?",
            ),
            (float(walk.of[one].value), f"That is the value of {name}."),
            (sum(arrow.local for arrow in arrows), "Multiply each local gradient by its user's g."),
            (
                0.0,
                f"A user of {name} has been visited, so the entry of {name} already contains that user's "
                "contribution.",
            ),
        ]
        if len(arrows) > 1:
            wrong += [
                (
                    arrow.passes,
                    "That is one of the contributions: a new contribution is added to the entry and does not replace it.",
                )
                for arrow in arrows
            ]
        if not arrows:
            wrong = [
                (walk.g[one], f"No user of {name} has been visited yet."),
                (
                    float(walk.of[one].value),
                    f"That is the value of {name}. It has received no contribution yet.",
                ),
                (1.0, "The 1 that starts the backward pass belongs to L alone."),
            ]
        asked.append(Asked(f"entry of {name}", total, wrong))
        parts = " + ".join(
            f"{number(arrow.local)} · {_in_brackets(walk.g[arrow.user])}" for arrow in arrows
        )
        said.append(f"{name}: {parts or 'nothing yet'} = **{number(total)}**")
    visited = ", then ".join(walk.called[one] for one in done)
    question = (
        f"A backward pass has visited {visited}, and nothing else. The numbers on the arrows are local gradients. "
        "**What does the ledger hold for each value that has not been visited yet?** (Write 0 if it has no entry.)"
    )
    known = [True] * len(walk.arrows) + [False] * len(walk.cards)
    drawn = walks.picture(walk, known)
    return _problem(key, question, asked, "; ".join(said) + ".", drawn)


def _accumulate(rng):
    w, rate = _of(rng, -2, 1, 2, 3), _of(rng, 0.1, 0.01)
    (x1, x2), (e1, e2) = rng.permutation([2, 3, 4])[:2].tolist(), _two(rng, [-3, -2, 2, 4])
    y1, y2 = w * x1 - e1, w * x2 - e2
    g1, g2 = e1 * x1, e2 * x2
    question = (
        f"A neuron computes ŷ = w · x with w = {number(w)}; the loss is L = ½(ŷ − y)². `L.backward()` is called "
        f"for x = {x1}, y = {number(y1)}, and then for x = {x2}, y = {number(y2)}. **What is `w.grad` after the "
        "first call? After the second, without a reset in between? And with a reset?** w changes only after both calls: "
        f"one step of gradient descent, with learning rate {number(rate)}, uses the sum of both "
        "gradients. **What is "
        "w after it?**"
    )
    after = w - rate * (g1 + g2)
    asked = [
        Asked(
            "after the first call",
            g1,
            [
                (e1, "That is ŷ − y. Its derivative with respect to w contains the factor x."),
                (-g1, "The error is ŷ − y, not y − ŷ."),
                (e1 * e1 / 2, "That is the loss."),
                (2 * g1, "The factor ½ cancels the 2 from the derivative of the square."),
            ],
        ),
        Asked(
            "after the second, no reset",
            g1 + g2,
            [
                (
                    g2,
                    "That is the gradient of the second call. `backward` adds it to the number in `w.grad`.",
                ),
                (g1, "The second call changes `w.grad`."),
                ((g1 + g2) / 2, "`backward` adds; it does not take the mean."),
            ],
        ),
        Asked(
            "after the second, with reset",
            g2,
            [
                (g1 + g2, "After the reset `w.grad` holds only the gradient of the second call."),
                (e2, "That is ŷ − y. Its derivative with respect to w contains the factor x."),
                (0, "The reset comes before the second call."),
            ],
        ),
        Asked(
            "w after the step",
            after,
            [
                (w + rate * (g1 + g2), "That step goes uphill: subtract."),
                (w - g1 - g2, "The learning rate is missing."),
                (w - rate * g2, "The question asks for the step with the sum of both gradients."),
                (rate * (g1 + g2), "That is the step itself. Subtract it from w."),
            ],
        ),
    ]
    reveal = (
        f"The gradients are (ŷ − y) · x: **{number(g1)}** and {number(g2)}. Without a reset they add up to "
        f"**{number(g1 + g2)}**; with it **{number(g2)}** is left. The step leads to {number(w)} − {number(rate)} · "
        f"{_in_brackets(g1 + g2)} = **{number(after)}**."
    )
    return question, asked, reveal


def _two(rng, choices):
    return rng.permutation(choices)[:2].tolist()


def _twice(rng):
    k, m = _two(rng, [2, 3, 4, 5])
    g = k * m
    question = (
        f"c = {k} · x and L = {m} · c. `L.backward()` is called twice, without a reset. **What is `x.grad` in a "
        "correct engine? In an engine in which c keeps its gradient from the first call? And in an engine that writes "
        "`.grad = ` where it should write `.grad += `?**"
    )
    asked = [
        Asked(
            "correct engine",
            2 * g,
            [
                (g, "Gradients accumulate in a leaf: two calls give twice the gradient."),
                (
                    3 * g,
                    "An engine in which c keeps its gradient gives this result. The first question is about a correct engine.",
                ),
            ],
        ),
        Asked(
            "c keeps its gradient",
            3 * g,
            [
                (
                    2 * g,
                    f"In the second call, c already has gradient {m} and receives {m} more. How much does it "
                    "pass on to x?",
                ),
                (
                    4 * g,
                    f"The first call is right: it adds {g}. Only the second call adds twice that.",
                ),
            ],
        ),
        Asked(
            "= for +=",
            g,
            [
                (2 * g, "`=` replaces the gradient of the first call."),
                (0, "The second call computes a gradient too."),
            ],
        ),
    ]
    reveal = (
        f"One call adds {k} · {m} = {g}, and two calls add **{2 * g}**. If c keeps its {m}, the second call adds "
        f"{k} · {2 * m}: {g} + {2 * g} = **{3 * g}**. With `=`, only the **{g}** of the second call is left."
    )
    return question, asked, reveal


# --- Part III ---------------------------------------------------------------------------------------------------------


def _momentum(rng):
    beta, rate, w = 0.5, 0.1, _of(rng, 1, 2, 3)
    g1, g2 = _two(rng, [-4, -2, 2, 4, 6])
    m2 = beta * g1 + g2
    after = w - rate * g1 - rate * m2
    question = (
        f"Gradient descent with momentum: m ← ½ · m + g, then w ← w − 0.1 · m. It starts at w = {w} with m = 0, and "
        f"the gradients of the first two steps are {number(g1)} and {number(g2)}. **What are m and w after the second "
        "step?**"
    )
    asked = [
        Asked(
            "m",
            m2,
            [
                (g1 + g2, "The old m is halved before the new gradient is added."),
                (beta * (g1 + g2), "Only the old m is halved; all of the new g is added."),
                (beta * (beta * g1 + g2), "Only the old m is halved; all of the new g is added."),
                (g2, "m also contains half of the first gradient."),
                (g1 + beta * g2, "The old m is halved, not the new gradient."),
            ],
        ),
        Asked(
            "w",
            after,
            [
                (w - rate * (g1 + g2), "That is the result of two steps without momentum."),
                (w - rate * m2, "That is the second step alone: the first step moved w too."),
                (w + rate * (g1 + m2), "Subtract: the step goes against m."),
            ],
        ),
    ]
    reveal = (
        f"m is {number(g1)}, then ½ · {_in_brackets(g1)} + {_in_brackets(g2)} = **{number(m2)}**. w is "
        f"{number(w - rate * g1)}, then **{number(after)}**."
    )
    return question, asked, reveal


def _curvature(rng):
    small, large = _of(rng, 0.5, 1, 2), _of(rng, 4, 5, 8, 10, 20, 40)
    question = (
        f"A bowl has curvature {number(small)} in one direction and {large} in the other. **Above which learning "
        "rate does gradient descent diverge?**"
    )
    wrong = [
        (
            2 / small,
            "The steep direction diverges even below that learning rate. Which direction is the first to diverge?",
        ),
        (
            1 / large,
            "At 1/λ a step leads exactly to the minimum. A step may overshoot, as long as it ends no farther away than before.",
        ),
        (
            large / 2,
            "Your fraction is upside down: the larger the curvature, the smaller the learning rate must be.",
        ),
        (
            2 / (small + large),
            "That is the best learning rate for both directions together, not the largest stable one.",
        ),
    ]
    right = 2 / large
    return (
        question,
        [Asked("learning rate", right, wrong)],
        f"2 / λmax = 2 / {large} = **{number(right)}**.",
    )


def _classify(rng):
    p, rows = _of(rng, 0.2, 0.3, 0.6, 0.9), _of(rng, 2, 4, 5, 10)
    n_in, hidden, out = _of(rng, 8, 16, 64), _of(rng, 10, 32), _of(rng, 2, 3, 10)
    examples, batch = _of(rng, 100, 200, 1000), _of(rng, 16, 32, 64)
    count = n_in * hidden + hidden + hidden * out + out
    steps = -(-examples // batch)
    pull = (p - 1) / rows
    question = (
        f"A network takes {n_in} numbers, has {hidden} hidden neurons and returns {out} logits; each layer has a bias. "
        f"It is trained on {examples} examples, in mini-batches of {batch} (the last may be smaller). **How many "
        "parameters does it have, and how many steps does an epoch take?** Its loss is the mean cross-entropy. In a "
        f"batch of {rows} rows one row has probability {number(p)} for its true class. **What is the gradient of "
        "the logit of this class?**"
    )
    asked = [
        Asked(
            "parameters",
            count,
            [
                (count - hidden - out, "The biases are parameters too."),
                (count - out, "The output layer has a bias too."),
                (n_in * hidden * out, "Each layer has its own matrix: add up the entries of both."),
            ],
        ),
        Asked(
            "steps",
            steps,
            [
                (examples // batch, "The smaller last batch also takes a step."),
                (examples / batch, "The last, smaller batch still takes a whole step."),
                (examples, "Each step uses a whole batch."),
            ],
        ),
        Asked(
            "gradient",
            pull,
            [
                (p - 1, "The loss is a mean: divide by the number of rows."),
                (
                    -pull,
                    "The gradient contains p − onehot: a larger logit of the true class makes the loss smaller.",
                ),
                (p / rows, "This is the true class, so subtract its onehot entry, 1, from p."),
                (p, "Subtract the onehot entry, 1, from p, and divide by the number of rows."),
            ],
        ),
    ]
    reveal = (
        f"{n_in} · {hidden} + {hidden} + {hidden} · {out} + {out} = **{count}** parameters; {examples} / {batch}, rounded "
        f"up, = **{steps}** steps; ({number(p)} − 1) / {rows} = **{number(pull)}**."
    )
    return question, asked, reveal


def _shared(rng):
    w, n, start = _of(rng, -2, 2, 3, 0.5), _of(rng, 3, 4), _of(rng, 1, 2, 4)
    to_w, to_start = n * w ** (n - 1) * start, w**n
    question = (
        f"A state is multiplied by the same weight {n} times: each step is s ← w · s, with w = {number(w)}, and s is "
        f"{start} at the beginning. L is the last state. **What are the gradients of w, and of the first state?**"
    )
    asked = [
        Asked(
            "of w",
            to_w,
            [
                (
                    to_w / n,
                    f"That is the contribution of one use of w. w is used {n} times, and each use contributes.",
                ),
                (
                    n * w**n * start,
                    "Each contribution has one factor w fewer: the w that is nudged is left out.",
                ),
                (n * w ** (n - 1), "The factor of the first state is missing."),
                (to_start * start, "That is the last state, the value of L."),
            ],
        ),
        Asked(
            "of the first state",
            to_start,
            [
                (w * n, "Along a path the local gradients are multiplied."),
                (
                    to_start * start,
                    "That is the value of L. How does it change when the first state changes?",
                ),
                (w ** (n - 1), f"The path has {n} arrows."),
            ],
        ),
    ]
    reveal = (
        f"L = w^{n} · s. The gradient of w is {n} · {_in_brackets(w)}^{n - 1} · {start} = **{number(to_w)}**, and the gradient "
        f"of the first state is {_in_brackets(w)}^{n} = **{number(to_start)}**."
    )
    return question, asked, reveal


def _clip(rng):
    a, limit = _of(rng, 1, 2, 4, 10), _of(rng, 1, 2.5)
    first, second, norm = 3 * a, -4 * a, 5 * a
    question = (
        f"The gradient of one weight is {first}, and the gradient of another is {number(second)}. They are clipped together "
        f"to a norm of at most {number(limit)}. **What are the two gradients then?**"
    )
    factor = limit / norm

    def wrong(x):
        return [
            (
                np.clip(x, -limit, limit),
                "If the entries are clipped one by one, the gradient changes its direction.",
            ),
            (x, "The norm is √(first² + second²): is it at most the limit?"),
            (x / norm, "That scales the gradient to length 1, not to the limit."),
            (
                x * limit / (7 * a),
                "The norm is the root of the sum of squares, not the sum of absolute values.",
            ),
            (-x * factor, "Clipping does not change the direction."),
        ]

    asked = [
        Asked("first", first * factor, wrong(first)),
        Asked("second", second * factor, wrong(second)),
    ]
    reveal = (
        f"The norm is {norm}, so both are multiplied by {number(limit)} / {norm}: **{number(first * factor)}** and "
        f"**{number(second * factor)}**."
    )
    return question, asked, reveal


def _windows(rng):
    k, stride, border = _of(rng, 2, 3), _of(rng, 1, 2), _of(rng, 0, 1)
    n = k + stride * _of(rng, 4, 5, 6) - 2 * border
    rows = (n + 2 * border - k) // stride + 1
    question = (
        f"An image of {n} × {n} pixels is convolved with one {k} × {k} kernel, with stride "
        f"{stride} and a border of {border}. **How many rows does the output have? In how many "
        "windows is each kernel entry used? And how many windows contain a given pixel in the "
        "middle, at stride 1?**"
    )
    asked = [
        Asked(
            "rows",
            rows,
            [
                (rows - 1, "The first window counts too: add 1."),
                ((n - k) // stride + 1, "The border adds a row above and one below."),
                ((n + border - k) // stride + 1, "The border adds a row above and one below."),
                (n + 2 * border - k + 1, "The stride is missing."),
            ],
        ),
        Asked(
            "uses of a kernel entry",
            rows**2,
            [
                (rows, "The windows also form columns."),
                (k * k, "That is the number of kernel entries. One entry is used in every window."),
                (1, "One entry is used in every window."),
            ],
        ),
        Asked(
            "windows of a middle pixel",
            k * k,
            [
                (k, "The windows that contain the pixel also form columns."),
                (rows**2, "Only windows that contain the pixel count."),
                (1, "That is right for a corner pixel without a border."),
            ],
        ),
    ]
    reveal = (
        f"({n} + 2 · {border} − {k}) / {stride} + 1 = **{rows}** rows; each of the {rows} · {rows} windows uses the kernel "
        f"entry: **{rows**2}** uses; the pixel is in {k} · {k} = **{k * k}** windows."
    )
    return question, asked, reveal


# --- Part IV ----------------------------------------------------------------------------------------------------------


def _tangent(rng):
    (x, y), (tx, ty) = _two(rng, [2, 3, 4, 5]), _two(rng, [-2, -1, 1, 2, 3])
    p, tp = x * y, tx * y + x * ty
    tz = 2 * p * tp
    question = (
        f"Forward mode: x = {x} with tangent {number(tx)}, y = {y} with tangent {number(ty)}. First p = x · y, "
        "then z = p². **What are the tangents of p and z?**"
    )
    asked = [
        Asked(
            "of p",
            tp,
            [
                (tx * ty, "That is the product of the tangents. The product rule has two terms."),
                (tx * y, "The second term is missing: x times the tangent of y."),
                (x * ty, "The first term is missing: the tangent of x times y."),
                (tx * x + ty * y, "Each tangent is multiplied by the *other* factor."),
                (p, "That is the value of p."),
            ],
        ),
        Asked(
            "of z",
            tz,
            [
                (2 * p, "That is the local gradient. Multiply it by the tangent of p."),
                (
                    tp**2,
                    "The square belongs to the value: the tangent of p² is 2p times the tangent of p.",
                ),
                (2 * tp, "The derivative of p² is 2p: the value of p is missing."),
                (p * tp, "The derivative of p² is 2p."),
                (p * p, "That is the value of z."),
            ],
        ),
    ]
    reveal = (
        f"{_in_brackets(tx)} · {y} + {x} · {_in_brackets(ty)} = **{number(tp)}**; 2 · {p} · {_in_brackets(tp)} = "
        f"**{number(tz)}**."
    )
    return question, asked, reveal


def _second(rng):
    (a, b), (v, u) = _two(rng, [1, 2, 3, 4]), _two(rng, [-2, -1, 1, 2])
    first, second = 2 * b * v + 2 * a * u, 2 * a * v
    along = v * first + u * second
    question = (
        f"f(a, b) = a² · b, at a = {a}, b = {b}, and v = ({number(v)}, {number(u)}). **What are the two entries of Hv? "
        "And the second derivative along v, ⟨v, Hv⟩?** (H is the Hessian of f.)"
    )
    asked = [
        Asked(
            "first of Hv",
            first,
            [
                (2 * b * v, "The mixed entry of H is missing: ∂²f/∂a∂b = 2a."),
                (2 * a * b, "That is the first entry of the gradient."),
                (2 * a * u, "∂²f/∂a² is 2b, not 0."),
            ],
        ),
        Asked(
            "second of Hv",
            second,
            [
                (a * a, "That is the second entry of the gradient."),
                (0, "Only ∂²f/∂b² is 0. The mixed entry is 2a."),
                (2 * a * v + 2 * a * u, "∂²f/∂b² is 0: f is linear in b."),
                (2 * a * u, "The mixed entry multiplies the *first* entry of v here."),
            ],
        ),
        Asked(
            "along v",
            along,
            [
                (first + second, "Multiply the entries of Hv by those of v before you add them."),
                (2 * b * v * v, "The mixed entries of H are missing."),
                (2 * b * v * v + 2 * a * v * u, "H contains the mixed entry twice."),
            ],
        ),
    ]
    reveal = (
        f"H = ((2b, 2a), (2a, 0)) = (({2 * b}, {2 * a}), ({2 * a}, 0)). Hv = (**{number(first)}**, **{number(second)}**), "
        f"and ⟨v, Hv⟩ = **{number(along)}**."
    )
    return question, asked, reveal


def _marks(rng):
    root, k = _of(rng, 6, 8, 10, 12), _of(rng, 2, 3)
    n, every = root * root, root // 2 if k == 2 else root * 2
    kept = n // every
    question = (
        f"A chain has {n} steps, and each leaves one array on the tape. You keep one value in every {every} as a mark, and "
        "record one segment at a time. **How many arrays are held at most, counting the marks and "
        "one whole segment? Which "
        "segment length makes this number smallest? And how many steps are computed a second time, at most?**"
    )
    asked = [
        Asked(
            "arrays",
            kept + every,
            [
                (kept, "Those are the marks. In the backward pass a segment is recorded too."),
                (every, "That is one segment. The marks are held too."),
                (n, "That is the whole tape, without marks."),
                (kept * every, "That is the whole tape, without marks."),
            ],
        ),
        Asked(
            "best length",
            root,
            [
                (
                    n // 2,
                    "Then half of the chain is recorded at a time. Where are n / s and s equal, for segments of s steps?",
                ),
                (1, "Then every value is a mark, and nothing is saved."),
                (2, "Then half of all values are marks."),
                (every, "Compute the number of arrays for other lengths: some need fewer."),
            ],
        ),
        Asked(
            "second time",
            n,
            [
                (every, "Each segment is computed a second time, one after the other."),
                (kept, "Each step of each segment is computed a second time."),
                (2 * n, "That counts the first computation of each step too."),
                (0, "Results that were not kept are computed again."),
            ],
        ),
    ]
    reveal = (
        f"{n} / {every} + {every} = **{kept + every}** arrays; with segments of s steps, n / s + s is smallest at s = √{n} = **{root}**; each of "
        f"the **{n}** steps once more."
    )
    return question, asked, reveal


def _attend(rng):
    n, query, d = _of(rng, 6, 8, 10), _of(rng, 2, 3, 4), _of(rng, 16, 36, 64, 100)
    question = (
        f"A text has {n} positions, counted from 0, and a causal mask. All scores of query {query} "
        f"are equal. **What weight does it give to each key that it may read? And to key {query + 1}?** "
        f"Queries and keys have {d} independent entries "
        "with mean 0 and variance 1. **What is the standard deviation of a score before it is divided by √d?**"
    )
    asked = [
        Asked(
            "weight",
            1 / (query + 1),
            [
                (
                    1 / n,
                    "That is the weight without the mask. With the mask, later positions are not read.",
                ),
                (1 / query, "A position may read itself too."),
                (
                    1 / (n - query),
                    "That counts the positions from the query on. The mask allows the positions up to the query.",
                ),
                (1, "The weights of all keys add up to 1."),
            ],
        ),
        Asked(
            "of the next key",
            0,
            [
                (1 / n, "This key belongs to the future."),
                (1 / (query + 1), "This key belongs to the future."),
                (1 / (query + 2), "This key belongs to the future."),
            ],
        ),
        Asked(
            "standard deviation",
            sqrt(d),
            [
                (d, "That is the variance: each of the terms has variance 1, and variances add."),
                (1, "That is right after the division by √d."),
                (
                    1 / sqrt(d),
                    "Your fraction is upside down: a sum of many terms varies more than one term.",
                ),
            ],
        ),
    ]
    reveal = (
        f"1 / {query + 1} = **{number(1 / (query + 1))}**; **0**; √{d} = **{number(sqrt(d))}**."
    )
    return question, asked, reveal


def _letters(rng):
    letters, gap, heat = _of(rng, 20, 27, 50, 64, 100), _of(rng, 1, 2, 3), _of(rng, 0.5, 2, 4)
    loss = log(letters)
    question = (
        f"An alphabet has {letters} letters, and a fresh model gives all of them the same probability. **What is its loss, "
        "in nats?** Later, one letter's logit is "
        f"{gap} above another's, and letters are drawn at temperature {number(heat)}. The first is then $e^d$ times as "
        "likely as the second. **What is d?**"
    )
    asked = [
        Asked(
            "loss",
            loss,
            [
                (log(letters) / log(2), "That is in bits. Nats use the natural logarithm."),
                (1 / letters, "That is the probability. The loss is minus its logarithm."),
                (-loss, "The loss is *minus* the logarithm of the probability."),
                (letters, "That is e to the loss, the perplexity."),
            ],
        ),
        Asked(
            "d",
            gap / heat,
            [
                (gap, "That is at temperature 1."),
                (gap * heat, "The logits are divided by the temperature."),
                (heat / gap, "Your fraction is upside down."),
            ],
        ),
    ]
    reveal = (
        f"log {letters} = **{number(loss)}**; {gap} / {number(heat)} = **{number(gap / heat)}**."
    )
    return question, asked, reveal


def _lines(rng):
    while True:
        reads = [sorted(rng.permutation(k + 2)[:2].tolist()) for k in range(6)]
        names = ["x", "w", *"abcde", "L"]
        lines = [
            f"{names[k + 2]} = {names[i]} {'+*'[rng.integers(2)]} {names[j]}"
            for k, (i, j) in enumerate(reads)
        ]
        needed, direct = {7}, {7, *reads[-1]} - {0, 1}
        for k in reversed(range(6)):
            if k + 2 in needed:
                needed |= {*reads[k]} - {0, 1}
        if 3 <= len(needed) <= 5 and direct != needed:
            break
    listing = "; ".join(f"`{line}`" for line in lines)
    question = (
        f"A tracer has recorded these lines: {listing}. The function returns L. **How many lines "
        "are left after dead "
        "code elimination?**"
    )
    wrong = [
        (6, "Does L need each of them? Start at L and work backward."),
        (
            len(direct),
            "That counts the line of L and the lines of the values it reads. What do those lines read?",
        ),
        (len(needed) - 1, "The line that computes L is needed too."),
        (6 - len(needed), "That is the number of dead lines."),
    ]
    kept = ", ".join(names[k] for k in sorted(needed))
    return (
        question,
        [Asked("lines", len(needed), wrong)],
        f"**{len(needed)}**: the lines of {kept}.",
    )


def _shards(rng):
    (n1, n2), (g1, g2) = _two(rng, [10, 20, 30, 60]), _two(rng, [-3, 2, 4, 8])
    right = (n1 * g1 + n2 * g2) / (n1 + n2)
    question = (
        f"Two workers each compute the gradient of the *mean* loss of their own examples: {number(g1)} on {n1} examples, "
        f"and {number(g2)} on {n2}. **What is the gradient of the mean loss of all {n1 + n2} examples?**"
    )
    wrong = [
        (
            (g1 + g2) / 2,
            "The shards differ in size: weight each gradient by its share of the examples.",
        ),
        (g1 + g2, "Both are gradients of means, so do not add them: take their weighted mean."),
        (n1 * g1 + n2 * g2, "That is the gradient of the *sum* of all losses."),
        ((n2 * g1 + n1 * g2) / (n1 + n2), "You swapped the weights."),
    ]
    reveal = f"({n1} · {_in_brackets(g1)} + {n2} · {_in_brackets(g2)}) / {n1 + n2} = **{number(right)}**."
    return question, [Asked("gradient", right, wrong)], reveal


def _implicit(rng):
    a, b = _of(rng, 0.2, 0.5, 0.75, -0.5), _of(rng, 1, 2, 3)
    right = b / (1 - a)
    question = f"z solves z = {number(a)} · z + {b} · x. **What is dz/dx?** (It does not matter how z was found.)"
    wrong = [
        (b, "x changes z directly, and this change in z changes z again."),
        (a, "That is the derivative of the right-hand side with respect to z."),
        (b + a, "Solve for dz: dz = a · dz + b · dx."),
        (b / (1 + a), "The sign is wrong: bring the term with dz to the left-hand side."),
        (b * (1 - a), "Divide by 1 − a."),
    ]
    reveal = f"dz = {number(a)} · dz + {b} · dx, so dz/dx = {b} / (1 − {_in_brackets(a)}) = **{number(right)}**."
    return question, [Asked("dz/dx", right, wrong)], reveal


def _straight(rng):
    w, x, t, rate = _of(rng, -0.3, -0.1, 0.2), _of(rng, 2, 3), _of(rng, -4, 5), 0.1
    q = 1 if w >= 0 else -1
    g = (q * x - t) * x
    question = (
        f"A weight is stored as one bit: q = 1 if w ≥ 0, else −1. L = ½(q · x − t)² with x = {x}, "
        f"t = {number(t)}, and "
        f"w = {number(w)}. **What is the true gradient of w, what is the straight-through gradient "
        "of w, and what is w after a step with learning rate 0.1 and this gradient?**"
    )
    asked = [
        Asked(
            "true gradient",
            0,
            [
                (g, "A small nudge of w does not change q: its true derivative is 0."),
                (1, "A small nudge of w does not change q."),
            ],
        ),
        Asked(
            "straight-through",
            g,
            [
                (
                    0,
                    "That is the true gradient. The straight-through estimator treats q as if it moved like w.",
                ),
                ((w * x - t) * x, "The forward pass uses q, not w."),
                (
                    q * x - t,
                    "That is the error. The derivative with respect to q also contains the factor x.",
                ),
                (-g, "The error is q · x − t."),
            ],
        ),
        Asked(
            "w after the step",
            w - rate * g,
            [
                (w, "With the straight-through gradient, w does move."),
                (q - rate * g, "The step moves w, not q."),
                (w + rate * g, "That step goes uphill: subtract."),
            ],
        ),
    ]
    reveal = (
        f"**0**; (q · x − t) · x with q = {number(q)}: **{number(g)}**; {number(w)} − 0.1 · {_in_brackets(g)} = "
        f"**{number(w - rate * g)}**."
    )
    return question, asked, reveal


MAKERS = {
    "hand.nudge": _nudge,
    "hand.differences": _differences,
    "hand.accumulate": _accumulate,
    "hand.twice": _twice,
    "hand.momentum": _momentum,
    "hand.curvature": _curvature,
    "hand.classify": _classify,
    "hand.shared": _shared,
    "hand.clip": _clip,
    "hand.windows": _windows,
    "hand.tangent": _tangent,
    "hand.second": _second,
    "hand.marks": _marks,
    "hand.attend": _attend,
    "hand.letters": _letters,
    "hand.lines": _lines,
    "hand.shards": _shards,
    "hand.implicit": _implicit,
    "hand.straight": _straight,
}
