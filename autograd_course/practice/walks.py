"""Create problems that ask for all gradients of a graph of numbers.

The learner computes the local gradient of every arrow, and then the gradient of every card. A card
is the box of a value in the drawing of a graph.
"""

from collections import namedtuple
from itertools import combinations
from math import nan, prod

import numpy as np

from autograd_lib import ops
from autograd_lib.tape import Tensor

from ..drawing.formatting import number
from ..drawing.picture import Picture
from ..quiz.arithmetic import number_in
from ..widgets import graph
from .problems import Box, Mark, Problem, hint_of, judged

KEYS = {"walk.chain": "02", "walk.paths": "02", "walk.arithmetic": "03", "walk.functions": "04"}
TITLES = {
    "walk.chain": "one path at a time",
    "walk.paths": "several paths",
    "walk.arithmetic": "with − ÷ and squares",
    "walk.functions": "with relu, abs and the larger of two",
}

PLAIN = ["add", "multiply", "multiply"]
ARITHMETIC = ["subtract", "divide", "square", "add", "multiply"]
FUNCTIONS = ["relu", "abs", "maximum", "multiply", "add", "subtract"]
NAMES = ["p", "q", "r", "s"]  # names of intermediate results
ON_ARROWS, ON_CARDS = "Local gradients, on the arrows", "Gradients, on the cards"

# An arrow of the graph from the node `source` to the input number `slot` of the node `user`: its number in the drawing,
# its local gradient, and the gradient that passes along it.
Arrow = namedtuple("Arrow", "number source user slot local passes")


class Walk:
    """Hold the graph of a scalar Tensor, with the gradients of the library's backward pass.

    Parameters
    ----------
    output : Tensor
        The scalar Tensor.

    Attributes
    ----------
    nodes : list of Node
        The nodes in the order of the calculation.
    of : dict
        The nodes, by key.
    called : dict
        The names of the nodes, by key.
    g : dict
        The gradients as floats, by the key of the node. A node without a gradient is left out.
    arrows : list of Arrow
        The arrows that a gradient passes along.
    cards : list
        The keys of the nodes whose gradients the learner computes, last node first.
    """

    def __init__(self, output):
        self.nodes = graph.read(output, called={})
        self.of = {node.key: node for node in self.nodes}
        self.called = graph.names(self.nodes)
        self.g = {
            node.key: float(node.gradient) for node in self.nodes if node.gradient is not None
        }
        self.arrows = []
        for node in self.nodes:
            for slot, gx in enumerate(node.passed):
                if gx is not None:
                    # where it is 0 the local gradient cannot be read from what passes: no fair problem
                    g = self.g[node.key]
                    self.arrows.append(
                        Arrow(
                            len(self.arrows) + 1,
                            node.inputs[slot][0],
                            node.key,
                            slot,
                            float(gx) / g if g else nan,
                            float(gx),
                        )
                    )
        self.cards = [node.key for node in reversed(self.nodes[:-1]) if node.key in self.g]

    def leaving(self, key):
        """Return a list of the arrows from the node `key` to the nodes that use its value."""
        return [arrow for arrow in self.arrows if arrow.source == key]

    @property
    def right(self):
        """Return the right answers as a list: all local gradients, then the gradients of the cards."""
        return [arrow.local for arrow in self.arrows] + [self.g[key] for key in self.cards]


# --- Draw a random graph ----------------------------------------------------------------------------------------------


def make(key, rng):
    """Return the Problem for a random graph whose numbers are easy to compute.

    `key` is one of KEYS, such as "walk.paths", and `rng` is a NumPy generator.
    """
    return _problem(key, drawn(key, rng))


def drawn(key, rng):
    """Return the Walk of a random graph whose numbers are easy to compute.

    `key` is the kind of graph, one of KEYS, and `rng` is a NumPy generator. Graphs are drawn until
    one is suitable.
    """
    with np.errstate(all="ignore"):
        while True:
            output = _calculation(key, rng)
            if output is not None and _fair(walk := Walk(output), key):
                return walk


def _calculation(key, rng):
    """Return the output of a random calculation, a Tensor, or None if the draw is not usable.

    The calculation uses two or three inputs and two to four operations. Every input is used.
    """
    choices, new = {
        "walk.arithmetic": (ARITHMETIC, {"subtract", "divide", "square"}),
        "walk.functions": (FUNCTIONS, {"relu", "abs", "maximum"}),
    }.get(key, (PLAIN, set(PLAIN)))
    names = ["x", "y", "w"][: rng.integers(2, 4)]
    values = rng.choice([-5, -4, -3, -2, 2, 3, 4, 5, 6, 10], len(names), replace=False)
    pool = [Tensor(float(value), True, name) for name, value in zip(names, values)]
    unused, made, used = list(pool), 0, set()
    while len(unused) > 1 or made < 2:
        if made == 4:
            return None
        op = str(rng.choice(choices))
        used.add(op)
        first = unused.pop(rng.integers(len(unused)))
        again = key != "walk.chain" and rng.random() < 0.5
        if op in ("square", "relu", "abs"):
            z = first**2 if op == "square" else getattr(ops, op)(first)
        else:
            second = (
                pool[rng.integers(len(pool))]
                if again or not unused
                else unused.pop(rng.integers(len(unused)))
            )
            if second in unused:
                unused.remove(second)
            z = getattr(ops, op)(*((first, second) if rng.random() < 0.7 else (second, first)))
        z.name = NAMES[made]
        pool.append(z)
        unused.append(z)
        made += 1
    unused[0].name = "L"
    return unused[0] if used & new else None


def _fair(walk, key):
    """Return True if a graph makes a fair problem.

    In a fair problem, the numbers are easy to compute, no operation is at a kink, and the usual
    mistakes lead to a wrong number.
    """
    numbers = [float(node.value) for node in walk.nodes] + walk.right
    several = [node for node in walk.cards if len(walk.leaving(node)) > 1]
    whole = all(abs(x) <= 120 and abs(round(4 * x) - 4 * x) < 1e-9 for x in numbers)
    moving = sum(x == 0 for x in walk.right) <= (3 if key == "walk.functions" else 0)
    inputs = [
        (node.op, [float(walk.of[key].value) for key, _ in node.inputs]) for node in walk.nodes
    ]
    kinks = any(
        op in ("relu", "abs")
        and 0 in xs
        or op in ("maximum", "subtract", "divide")
        and xs[0] == xs[1]
        for op, xs in inputs
    )
    paths = bool(several) == (key != "walk.chain") or key in ("walk.arithmetic", "walk.functions")
    told = all(
        prod(arrow.passes for arrow in walk.leaving(node)) != walk.g[node] for node in several
    )
    telling = any(abs(arrow.local) != 1 != abs(walk.g[arrow.user]) for arrow in walk.arrows)
    return whole and moving and not kinks and paths and told and telling and len(walk.arrows) <= 8


# --- What goes wrong --------------------------------------------------------------------------------------------------


def wrong_locals(walk, arrow):
    """Return a list of pairs (wrong number, hint) for the local gradient of an arrow.

    The wrong numbers are the results of known mistakes. A number that equals the right number
    is left out.
    """
    user, name, z = walk.of[arrow.user], walk.called[arrow.source], walk.called[arrow.user]
    value, result, g = float(walk.of[arrow.source].value), float(user.value), walk.g[arrow.user]
    when = _when(walk, arrow)
    made = [
        (
            arrow.passes,
            f"That is what passes along arrow {arrow.number}: its local gradient times {number(g)}. The "
            f"local gradient is only the rate at which {z} grows {when}.",
        ),
        (
            -arrow.local,
            f"The absolute value is right, but it has the wrong sign: {when}, does {z} grow or fall?",
        ),
    ]
    for other in walk.arrows:
        if other.user == arrow.user and other.slot != arrow.slot:
            made.append(
                (
                    other.local,
                    f"That is the local gradient of arrow {other.number}, the other arrow into {z}.",
                )
            )
            if other.source == arrow.source:
                made.append(
                    (
                        arrow.local + other.local,
                        f"That is the sum for arrows {arrow.number} and {other.number}. "
                        f"Each arrow belongs to only one occurrence of {name}.",
                    )
                )
    if user.op == "power":
        made += [
            (value, f"The factor 2 is missing: the slope of a square is 2 · {name}."),
            (2.0, f"That is only the exponent: the slope of a square is 2 · {name}."),
        ]
    if user.op == "divide":
        bottom = float(walk.of[user.inputs[1][0]].value)
        top = float(walk.of[user.inputs[0][0]].value)
        made.append(
            (-top / bottom, "The square is missing: the slope is −numerator / denominator².")
            if arrow.slot
            else (
                bottom,
                f"The slope of a division by {_bracketed(bottom)} is 1 / {_bracketed(bottom)}.",
            )
        )
    made += [
        (value, f"That is the value of {name}. How fast does {z} grow {when}?"),
        *(
            (float(walk.of[key].value), f"That is the value of {walk.called[key]}.")
            for key, _ in user.inputs
            if key != arrow.source and not graph.is_constant(walk.of[key])
        ),
        (result, f"That is the value of {z}. How fast does it grow {when}?"),
        *[
            (
                g,
                f"That is the gradient of {z}, which comes later: how does {z} itself change {when}?",
            )
        ]
        * (arrow.user in walk.cards),
        (0.0, f"0 would mean that {z} does not change {when}. But {z} does change."),
        (
            1.0,
            f"1 would mean that {z} grows by the same amount {when}. But the amount is different.",
        ),
    ]
    return [(wrong, hint) for wrong, hint in made if not _near(wrong, arrow.local)]


def _when(walk, arrow):
    """Return a phrase for the change that the local gradient of an arrow measures.

    For example, "when x grows a little while the other input stays fixed". The second part is left
    out if there is no other input.
    """
    inputs = [key for key, _ in walk.of[arrow.user].inputs if not graph.is_constant(walk.of[key])]
    return (
        f"when {walk.called[arrow.source]} grows a little"
        + " while the other input stays fixed" * (len(inputs) > 1)
    )


def wrong_gradients(walk, key):
    """Return a list of pairs (wrong number, hint) for the gradient of the card `key`.

    The wrong numbers are the results of known mistakes. A number that equals the right number
    is left out.
    """
    arrows, name, total = walk.leaving(key), walk.called[key], walk.g[key]
    made = []
    for count in range(1, len(arrows)):
        for kept in combinations(arrows, count):
            left = [arrow for arrow in arrows if arrow not in kept]
            made.append(
                (
                    sum(arrow.passes for arrow in kept),
                    f"The contribution of {_listed(left)} is missing. Add the contributions of all "
                    f"arrows that leave {name}.",
                )
            )
    if len(arrows) > 1:
        made.append(
            (
                prod(arrow.passes for arrow in arrows),
                f"That is the product of the contributions of {_listed(arrows)}. Add them instead.",
            )
        )
    for arrow in arrows if len(arrows) > 1 else ():
        made.append(
            (
                arrow.local,
                f"That is the local gradient of arrow {arrow.number} alone, but more arrows leave {name}.",
            )
        )
    ends = {walk.called[arrow.user]: walk.g[arrow.user] for arrow in arrows}
    several = len(arrows) > 1
    made += [
        (
            sum(arrow.local for arrow in arrows),
            f"{'That is the sum of the local gradients. First multiply each' if several else 'That is the local gradient. Multiply it'} "
            f"by the gradient where its arrow ends: "
            f"{', '.join(f'{number(g)} at {z}' for z, g in ends.items())}.",
        ),
        (-total, "The absolute value is right, but it has the wrong sign."),
        (
            sum(arrow.local + walk.g[arrow.user] for arrow in arrows),
            "That is the local gradient plus the gradient. Multiply the two.",
        ),
        (
            sum(walk.g[arrow.user] for arrow in arrows),
            "That is the sum of the gradients where the arrows end. First multiply each by its arrow's local "
            "gradient."
            if several
            else f"That is the gradient of {', '.join(ends)}. Multiply it by the local gradient "
            f"of the arrow from {name}.",
        ),
        *[
            (
                prod(arrow.local for arrow in arrows),
                "That is the product of the local gradients. Multiply each by the gradient "
                "where its arrow ends, then add the products.",
            )
        ]
        * several,
        (float(walk.of[key].value), f"That is the value of {name}, not its gradient."),
    ]
    for arrow in arrows:
        rest = total - arrow.passes
        for g, old in _old(walk, arrow.user):
            made.append(
                (
                    rest + arrow.local * g,
                    f"That uses an old g: {number(g)} was the gradient of "
                    f"{walk.called[arrow.user]} {old}, but "
                    f"{number(walk.g[arrow.user])} is its complete gradient.",
                )
            )
        for other, g in walk.g.items():
            if other != arrow.user and g:  # else any 0 would be taken for it
                made.append(
                    (
                        rest + arrow.local * g,
                        f"Arrow {arrow.number} ends at {walk.called[arrow.user]}: multiply its local gradient by "
                        f"the gradient of {walk.called[arrow.user]}, not of {walk.called[other]}.",
                    )
                )
    return [(wrong, hint) for wrong, hint in made if not _near(wrong, total)]


def _old(walk, key):
    """Return a list of (incomplete gradient, phrase) for the node `key`.

    An incomplete gradient is the sum of only some of the contributions. The phrase says which are
    missing, for example "before arrow 2 had contributed".
    """
    arrows = walk.leaving(key)
    return [
        (
            sum(arrow.passes for arrow in kept),
            f"before {_listed([arrow for arrow in arrows if arrow not in kept])} had contributed",
        )
        for count in range(1, len(arrows))
        for kept in combinations(arrows, count)
    ]


def _listed(arrows):
    numbers = [str(arrow.number) for arrow in arrows]
    return (
        f"arrow {numbers[0]}"
        if len(numbers) == 1
        else f"arrows {', '.join(numbers[:-1])} and {numbers[-1]}"
    )


def _near(x, right):
    return abs(x - right) <= 0.002 * abs(right) + 1e-9


# --- Ask --------------------------------------------------------------------------------------------------------------


def _problem(key, walk):
    boxes = [
        Box(
            f"{arrow.number}: {walk.called[arrow.source]} → {walk.called[arrow.user]}",
            group=ON_ARROWS,
        )
        for arrow in walk.arrows
    ]
    boxes += [Box(f"of {walk.called[card]}", group=ON_CARDS) for card in walk.cards]
    mistakes = [wrong_locals(walk, arrow) for arrow in walk.arrows]
    mistakes += [wrong_gradients(walk, card) for card in walk.cards]
    right, first_card = walk.right, len(walk.arrows)

    def judge(texts):
        given = {}
        for i, text in enumerate(texts):
            try:
                given[i] = number_in(text)
            except ValueError:
                continue

        def one(i, text):
            got = number_in(text)
            if _near(got, right[i]):
                return Mark(True)
            follows = i >= first_card and _follows(
                walk, walk.cards[i - first_card], got, given, right
            )
            return Mark(
                False,
                follows or hint_of(mistakes[i], lambda wrong: _near(got, wrong)) or _nudge(walk, i),
            )

        return judged(texts, one)

    def show(texts, marks):
        return picture(walk, [bool(mark and mark.good) for mark in marks or [None] * len(right)])

    return Problem(
        key,
        "Fill in the local gradient on every arrow. Then fill in the gradient on every card, from right to left.",
        boxes,
        judge,
        show,
        _reveal(walk),
        [repr(x) for x in right],
        [(i, repr(wrong), hint) for i, ones in enumerate(mistakes) for wrong, hint in ones],
    )


def _follows(walk, key, got, given, right):
    """Return a hint if the answer for a card follows from wrong answers in other boxes, else "".

    Parameters
    ----------
    walk : Walk
    key : hashable
        The key of the card.
    got : float
        The learner's answer for the card.
    given : dict
        The learner's other answers, as floats by the number of the box.
    right : list of float
        The right answers for all boxes.
    """
    place = {one: i for i, one in enumerate([*walk.arrows, *walk.cards])}
    used = [
        place[one] for arrow in walk.leaving(key) for one in (arrow, arrow.user) if one in place
    ]
    wrong = [i for i in dict.fromkeys(used) if i in given and not _near(given[i], right[i])]

    def here(one):
        return given.get(place[one], right[place[one]]) if one in place else 1.0

    if not wrong or not _near(
        got, sum(here(arrow) * here(arrow.user) for arrow in walk.leaving(key))
    ):
        return ""
    where = [
        f"arrow {i + 1}"
        if i < len(walk.arrows)
        else f"the card of {walk.called[walk.cards[i - len(walk.arrows)]]}"
        for i in wrong
    ]
    return (
        f"Correct for your value at {' and '.join(where)}, but that value is wrong: fix it first."
    )


def _nudge(walk, i):
    """Return a general hint for box i, for an answer that no known mistake explains."""
    if i < len(walk.arrows):
        arrow = walk.arrows[i]
        return f"How fast does {walk.called[arrow.user]} grow {_when(walk, arrow)}?"
    key = walk.cards[i - len(walk.arrows)]
    arrows = walk.leaving(key)
    name = walk.called[key]
    if len(arrows) == 1:
        return (
            f"{_listed(arrows).capitalize()} leaves {name}: multiply its local gradient by the "
            "gradient at its end."
        )
    return (
        f"{_listed(arrows).capitalize()} leave {name}: multiply each local gradient by the gradient where "
        "the arrow ends, then add the products."
    )


def _reveal(walk):
    lines = [
        "Arrows: "
        + ", ".join(f"{arrow.number}: **{number(arrow.local)}**" for arrow in walk.arrows)
        + ".",
        "",
    ]
    for key in walk.cards:
        terms = " + ".join(
            f"{number(arrow.local)} · {_bracketed(walk.g[arrow.user])}"
            for arrow in walk.leaving(key)
        )
        lines.append(f"- of {walk.called[key]}: {terms} = **{number(walk.g[key])}**")
    return "\n".join(lines)


def _bracketed(x):
    return f"({number(x)})" if x < 0 else number(x)


def picture(walk, known):
    """Draw the graph of a Walk, with a question mark in place of each number that is not known yet.

    `known` is a list with True or False for every box: first for the arrows, then for the cards.
    """
    local = {
        (arrow.user, arrow.slot): f"({arrow.number}) {number(arrow.local) if known[i] else '?'}"
        for i, arrow in enumerate(walk.arrows)
    }
    grads = {
        key: number(walk.g[key]) if known[len(walk.arrows) + i] else "?"
        for i, key in enumerate(walk.cards)
    }
    nodes = []
    for node in walk.nodes:
        inputs = tuple(
            (key, local.get((node.key, slot), "")) for slot, (key, _) in enumerate(node.inputs)
        )
        nodes.append(node._replace(inputs=inputs, passed=(None,) * len(inputs)))
    text = "\n".join(
        [
            "The graph",
            *(
                _line(walk, node, local, grads)
                for node in walk.nodes
                if not graph.is_constant(node)
            ),
        ]
    )
    placed = graph.layout(nodes)
    if placed is None:
        return Picture(graph.listed(text), text, says_all=True)
    return Picture(graph.draw(nodes, placed, text, grads=grads), text, says_all=True)


def _line(walk, node, local, grads):
    made = (
        f" = {node.op}({', '.join(walk.called[key] for key, _ in node.inputs)})" if node.op else ""
    )
    arrows = [
        f"arrow from {walk.called[key]}: {local[node.key, slot]}"
        for slot, (key, _) in enumerate(node.inputs)
        if (node.key, slot) in local
    ]
    return "; ".join(
        [
            f"{walk.called[node.key]}{made}: value {number(float(node.value))}, gradient "
            f"{grads.get(node.key, '1')}",
            *arrows,
        ]
    )
