"""Draw the learner's Values, a backward pass in any order or through a neuron, and paths beside visits."""

from functools import cache
from time import perf_counter

import numpy as np

from autograd_lib import Tensor, elementwise, tanh
from autograd_lib.tape import input_gradients

from ...drawing import style
from ...drawing.formatting import counted, number, words
from ...drawing.picture import Picture, svg
from ...widgets import graph
from ...widgets.stepper import BACKWARD, Story, frames, picture

# --- The Values of the learner's engine -------------------------------------------------------------------------------------


def draw_values(output):
    """Draw the Values from which the Value `output` was computed, as `draw_graph` draws Tensors.

    A card shows the number, the data and the grad of a Value, the variable that holds the Value, if
    any, and the formula of a sum or a product. An arrow comes from each of the inputs, with the local
    gradient of this input.
    """
    variable = {}
    for name, value in graph.variables().items():
        if type(value) is type(output) and not name.startswith("_"):
            variable.setdefault(value, name)
    found = [output]
    for value in found:
        found += [x for x in dict.fromkeys(value.inputs) if x not in found]
    nodes = [
        graph.Node(
            value,
            f"{variable[value]} (#{value.number})" if value in variable else f"#{value.number}",
            _operation(value),
            {},
            np.asarray(value.data),
            np.asarray(value.grad),
            tuple((x, number(local)) for x, local in zip(value.inputs, value.locals)),
            (None,) * len(value.inputs),
            (True,) * len(value.inputs),
            True,
        )
        for value in sorted(found, key=lambda value: value.number)
    ]
    text = graph.describe(nodes)
    nodes = [node._replace(name=_title(node.key, node.name, variable), op=None) for node in nodes]
    placed = graph.layout(nodes)
    drawn = graph.listed(text) if placed is None else graph.draw(nodes, placed, text)
    return Picture(drawn, text, says_all=True)


def _operation(value):
    """Return "add" or "multiply" if the Value stores what a sum or a product of its inputs stores, else None."""
    if len(value.inputs) != 2:
        return None
    (x, y), stored = (one.data for one in value.inputs), (value.data, *value.locals)
    return {(x + y, 1, 1): "add", (x * y, y, x): "multiply"}.get(stored)


def _title(value, name, variable):
    """Return the title of the card of a Value: its name, and its formula if it is a sum or a product.

    `variable` maps the Values that a variable holds to the name of this variable.
    """
    operation = _operation(value)
    if not operation:
        return name
    x, y = (variable.get(one, f"#{one.number}") for one in value.inputs)
    formula = f"{x} {'+' if operation == 'add' else '·'} {y}"
    number = f" (#{value.number})" if value in variable else ""
    return f"{variable.get(value, name)} = {formula}{number}"


# --- The order of the visits ------------------------------------------------------------------------------------------------


def visits(order):
    """Yield (node, g, grads) for each Tensor `node` in `order`, the first of which is the output.

    `g` is the gradient that has reached the node when it is visited. This gradient is incomplete if
    a user of the node comes later in `order`. `grads` holds the gradient that the node sends to each of its
    inputs, or None for an input that does not require a gradient.
    """
    ledger = {id(order[0]): np.ones_like(order[0].data)}
    for node in order:
        g = ledger.pop(id(node), np.zeros_like(node.data))
        grads = input_gradients(node, g)
        for x, gx in zip(node.inputs, grads):
            if gx is not None:
                ledger[id(x)] = ledger.get(id(x), 0.0) + gx
        yield node, g, grads


def in_order(output, orders):
    """Return a function of (visit_b, step) that draws one step of the backward pass in the order `orders[visit_b]`.

    A step beyond the end of the pass draws the last step of the pass.

    Parameters
    ----------
    output : Tensor
        The output where the backward pass starts.
    orders : dict of str to list of Tensor
        The orders of visits to choose from.
    """
    stories = {when: frames(output, visits(order)) for when, order in orders.items()}
    return lambda visit_b, step: picture(stories[visit_b][min(step, len(stories[visit_b]) - 1)])


# --- A neuron ---------------------------------------------------------------------------------------------------------------

_weighted_sum = elementwise(
    lambda w, x, b: w * x + b,
    lambda g, z, w, x, b: g * x,
    lambda g, z, w, x, b: g * w,
    lambda g, z, w, x, b: g,
    name="weighted_sum",
)
_half_squared_error = elementwise(
    lambda ŷ, y: (ŷ - y) ** 2 / 2,
    lambda g, z, ŷ, y: g * (ŷ - y),
    lambda g, z, ŷ, y: g * (y - ŷ),
    name="half_squared_error",
)


def _short(x):
    """Return a number as text with four significant digits: a card has room for it on a phone."""
    return number(_rounded(x))


def _rounded(x):
    return float(f"{x:.4g}")


def _product(g, local, gx):
    """Return the line "g × local = gx" with rounded numbers.

    The sign is ≈ where the product of the rounded factors is not the rounded product.
    """
    exact = abs(_rounded(g) * _rounded(local) - _rounded(gx)) < 1e-12
    return f"{_short(g)} × {_short(local)} {'=' if exact else '≈'} {_short(gx)}"


class _Neuron(Story):
    """Record the Frames of the backward pass through a neuron with the weight `w`.

    There is one for the start, one for each visit to a result, and one for the two leaves that require a
    gradient, the weight and the bias. The sum and the loss are one operation each, as in the derivation.
    """

    words = BACKWARD._replace(waiting="In the ledger, next first")

    def __init__(self, w):
        x, b, y, w = (
            Tensor(value, name in "wb", name)
            for value, name in [(2.0, "x"), (0.0, "b"), (1.0, "y"), (w, "w")]
        )
        s = _weighted_sum(w, x, b)
        ŷ = tanh(s)
        L = _half_squared_error(ŷ, y)
        s.name, ŷ.name, L.name = "s", "ŷ", "L"
        super().__init__(L)
        titles = {s: "s = w · x + b", ŷ: "ŷ = tanh(s)", L: "L = ½ (ŷ − y)²"}
        for value, title in titles.items():
            node = self.nodes[id(value)]
            local = [
                (key, word and _short(float(word.replace("−", "-")))) for key, word in node.inputs
            ]
            self.nodes[id(value)] = node._replace(name=title, op=None, inputs=tuple(local))
        placed = graph.layout(list(self.nodes.values()))
        self.placed = placed and (placed.down or placed)  # one column, beside the numbers
        # Wider than in the layout, so that the mark at its corner is beside the arrow from w
        self.nodes[id(s)] = self.nodes[id(s)]._replace(name=f"the sum {titles[s]}")
        self.ledger, self.kept = {id(L): 1.0}, {}
        self.visited = [id(value) for value in (L, ŷ, s, w, b)]  # each gets its .grad
        self.tell(
            "The forward pass is done, so every value is known. The ledger has one entry: 1 for L."
        )
        for value in (L, ŷ, s):
            self.visit(value)
        self.at, self.work, self.beads = None, [], dict.fromkeys(self.beads, "done")
        self.kept |= self.ledger
        self.ledger = {}
        self.tell(
            f"w and b are visited. They are leaves, so they send nothing: their gradients "
            f"{_short(self.kept[id(w)])} and {_short(self.kept[id(b)])} go into .grad. The ledger is empty."
        )

    def visit(self, value):
        """Add the Frame in which `value` sends a gradient to each input that needs one."""
        g = self.kept[id(value)] = self.ledger.pop(id(value))
        self.at, self.work = (self.names[id(value)], _short(g)), []
        self.beads = dict.fromkeys(self.beads, "done")
        for slot, (key, local) in enumerate(self.nodes[id(value)].inputs):
            if local:
                gx = self.nodes[id(value)].passed[slot]
                self.ledger[key] = float(gx)
                self.sent[id(value), slot], self.beads[id(value), slot] = gx, "now"
                line = _product(g, float(local.replace("−", "-")), float(gx))
                self.work.append((f"to {self.names[key]}", line))
        sends = " and ".join(f"{line} {to}" for to, line in self.work)
        self.tell(
            f"{self.at[0]} is visited. It takes g = {_short(g)} out of the ledger and sends g × local: {sends}.",
            id(value),
        )

    def tell(self, say, now=None):
        """Add a Frame with the sentence `say`; `now` is the key of the value that is visited, if any."""
        cards, nodes = {}, []
        for key, node in self.nodes.items():
            if node.gradient is not None:
                node = node._replace(gradient=np.asarray(_rounded(node.gradient)))
                cards[key] = (
                    "now"
                    if key == now
                    else "waiting"
                    if key in self.ledger
                    else "done"
                    if key in self.kept
                    else "ahead"
                )
            nodes.append(node)
        self.add(
            say,
            nodes,
            cards,
            {},
            [(self.names[key], _short(g), "") for key, g in self.ledger.items()],
            [
                (self.names[key], _short(self.kept[key]) if key in self.kept else "nothing")
                for key in self.visited
            ],
        )


@cache
def _neuron(w):
    return _Neuron(w).frames()


def neuron_steps(w, step):
    """Draw one step, from 0 to 4, of the backward pass through a neuron with the weight `w`.

    The neuron is ŷ = tanh(w x + b) with x = 2 and b = 0, the target is 1, and L is half the squared error.
    """
    return picture(_neuron(w)[step])


# --- Paths and visits -------------------------------------------------------------------------------------------------------


def race(doubled, order, backward):
    """Return a function of n that draws how many paths and visits doubled(n) needs, and how long they take.

    Parameters
    ----------
    doubled : callable
        Takes n and returns the output of n doublings, x = x + x.
    order : callable
        Returns the list of all Values from an output back to its leaves.
    backward : callable
        Runs the backward pass from an output, which is timed.

    Notes
    -----
    Up to n = 16 every path is followed. For a larger n the number of paths is computed as 2ⁿ. The
    time for the paths is estimated from the pace measured at n = 15.
    """
    start = perf_counter()
    pace = _paths(doubled(15)) / (perf_counter() - start)

    @cache  # so that the same n always shows the same time
    def after(n):
        L, walked = doubled(n), n <= 16
        start = perf_counter()
        backward(L)
        visited = perf_counter() - start
        return odometer(n, _paths(L) if walked else 2**n, len(order(L)), pace, visited, walked)

    return after


def _paths(value):
    """Return the number of paths from `value` to the leaves, by following each path to its end."""
    return sum(map(_paths, value.inputs)) if value.inputs else 1


WHEELS = 19  # digits of the odometer, because 2⁶⁰ has 19
SPANS = [
    (1e-6, "a microsecond"),
    (1e-3, "a millisecond"),
    (1, "a second"),
    (60, "a minute"),
    (3600, "an hour"),
    (86400, "a day"),
    (31557600, "a year"),
    (31557600 * 100, "a lifetime"),
    (31557600 * 1e4, "10,000 years"),
]
LOW, HIGH = -7, 12.5  # powers of ten of seconds on the scale


def odometer(n, paths, visits, pace, visited, walked=True):
    """Draw the number of paths and the number of visits after n doublings, and the time that each takes.

    Parameters
    ----------
    n, paths, visits : int
        Number of doublings, of paths and of visits.
    pace : float
        Paths followed per second.
    visited : float
        Seconds that the backward pass took.
    walked : bool
        True if the paths were really followed, False if their number was computed as 2ⁿ.
    """
    how = "each one followed" if walked else "not followed here"
    parts = [words(14, 22, f"x = x + x, {counted(n, 'time')}", style.INK, "start", 14)]
    for top, name, reading, colour in [
        (58, f"paths, {how}", paths, style.OTHER),
        (124, "visits", visits, style.INK),
    ]:
        parts.append(words(14, top - 7, name, colour, "start", 14))
        digits = f"{reading:<{WHEELS}d}"  # left-aligned, because a phone shows no more than twelve digits
        first = -len(str(reading)) % 3
        for i, digit in enumerate(digits):
            parts.append(_wheel(14 + 27 * i + 4 * ((i + first) // 3), top, digit, colour))
    parts.append(_scale(paths / pace, visited))
    text = (
        f"{counted(paths, 'path')} ({'followed' if walked else 'computed'}) and {counted(visits, 'visit')}, after "
        f"{counted(n, 'doubling')}.\n"
        f"Time for all paths, at {_round(pace)} per second: {duration(paths / pace)}. Time for all visits, as measured: {duration(visited)}."
    )
    return Picture(svg("0 0 560 290", "".join(parts), text), text)


def duration(seconds):
    """Return a number of seconds as text with a suitable unit, from microseconds to years, to two digits."""
    units = [
        (31557600, "years"),
        (86400, "days"),
        (3600, "hours"),
        (60, "minutes"),
        (1, "seconds"),
        (1e-3, "milliseconds"),
    ]
    length, unit = next((one for one in units if seconds >= 1.95 * one[0]), (1e-6, "microseconds"))
    return f"{_round(seconds / length)} {unit}"


def _round(x):
    """Return a number as text with two significant digits, such as 0.34, 4.1, 23 or 3,400."""
    return f"{float(f'{x:.1e}'):,.{max(0, 1 - int(np.floor(np.log10(x))))}f}" if x else "0"


def _wheel(x, top, digit, colour):
    """Return the SVG of one digit of a counter, with its upper left corner at (x, top).

    If `digit` is a space, only an outline is drawn.
    """
    if digit == " ":
        return (
            f'<rect x="{x}" y="{top}" width="24" height="34" rx="4" fill="none" '
            f'stroke="{style.LINE}" stroke-opacity="0.6"/>'
        )
    return (
        f'<rect x="{x}" y="{top}" width="24" height="34" rx="4" fill="{colour}"/>'
        f'<text x="{x + 12}" y="{top + 24}" font-family="{style.MONO}" '
        f'font-size="20" font-weight="600" '
        f'fill="{style.PAPER}" text-anchor="middle">{digit}</text>'
    )


def _scale(paths, visits):
    """Return the SVG of a logarithmic time scale with a mark for each of two times.

    `paths` is the time to follow all paths and `visits` is the time of all visits, both in seconds.
    A time outside the scale is marked at its end.
    """

    def at(seconds):
        return 24 + 494 * (min(HIGH, max(LOW, np.log10(seconds))) - LOW) / (HIGH - LOW)

    y, parts = 224, []
    parts.append(f'<path d="M24 {y}H518" stroke="{style.LINE}" stroke-width="2"/>')
    for i, (seconds, called) in enumerate(SPANS):
        x, down = (
            at(seconds),
            18 * (1 - i % 2),
        )  # shorter names above, because the lines of the others pass between them
        parts.append(f'<path d="M{x:.1f} {y}v{8 + down}" stroke="{style.LINE}"/>')
        parts.append(words(min(x, 496), y + 22 + down, called, style.FAINT, "middle", 13))
    for seconds, colour, shape in [(visits, style.INK, "circle"), (paths, style.OTHER, "square")]:
        x = at(seconds)
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y}" r="6.5" fill="{colour}"/>'
            if shape == "circle"
            else f'<rect x="{x - 6:.1f}" y="{y - 6}" width="12" height="12" fill="{colour}"/>'
        )
    for name, seconds, colour, up in [
        ("visits", visits, style.INK, 16),
        ("paths", paths, style.OTHER, 34),
    ]:
        said = f"{name}: {duration(seconds)}"
        half = 4 * len(said)
        parts.append(
            words(min(max(at(seconds), 14 + half), 546 - half), y - up, said, colour, "middle", 14)
        )
    return "".join(parts)
