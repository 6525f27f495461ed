"""Show a backward pass on the graph of a computation, step by step, with `backward_stepper`.

`frames` returns the steps as data, and `picture` draws one of them; the widget only calls these
functions. The frames are made only from the visits of a backward pass, which the engine's generator
or a lesson yields: this module has no rule for the order of the visits. The forward stepper, in
forward_stepper.py, makes its own Story with the same kind of Frames.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, namedtuple
from html import escape
from math import ceil

import ipywidgets as widgets
import numpy as np

from autograd_lib import tape

from ..drawing import style
from ..drawing.formatting import counted, minus, number
from ..drawing.picture import LEAST, Picture, begins_at
from . import graph
from .sliders import explore

MOST = 8  # rows of a list in the panel
LINE = 22  # px, a row of the panel
WHOLE = 725  # px: a graph that is no higher is seen whole
WINDOW = 520  # px of a higher graph are seen at once, those about the node that is visited
CARD = 80  # px, more than from the middle of a card to its edge
LEFT, ABOVE = (edge + 8 for edge in graph.EDGE)  # px around a graph, with the padding of style.CARD
BESIDE = 520  # px: a graph that is no wider, and higher than wide, has the panel at its right
LETTERS = 84  # in a line of the sentence, where the notebook is narrow
LOST = "Lost"  # the heading of the gradients that arrived after the last visit
CLOSED = " (two strokes: nothing passes)"  # `graph.draw` puts them across an arrow that carries 0

# The fields of a frame: `say` describes the step in words. `at` is (name of the visited node, its
# gradient), or None. `work` is [(receiver, words)], a line for each gradient sent so far.
# `waiting` is [(name, gradient so far, remark)], the next visit first. `leaves` is [(name, its
# .grad)]. `lost` is [(name, gradient that arrived after the last visit)]. `nodes`, `placed`, `cards`, `beads` and `grads` are arguments of graph.draw; the nodes
# hold the gradients that have arrived and passed so far. `eyes` is (x, y) in px of the visible
# part of a large graph, its middle and its upper edge; and the same on a phone. `room` is (letters
# of `say`, rows of `work`, `waiting`, `leaves`, `lost`), the largest of any frame. `words` are the Words
# of the story.
Frame = namedtuple(
    "Frame",
    "number last say at work waiting leaves lost nodes placed cards beads grads eyes room words",
)

# The headings of the panel's parts, and the name of the quantity that the pass carries, for
# graph.draw.
Words = namedtuple("Words", "now arriving short waiting leaves carried")
BACKWARD = Words(
    "Visited now", "g arriving", "g =", "Waiting, next first", "In .grad so far", graph.GRADIENT
)


def backward_stepper(output, visits=None):
    """Show the backward pass from the Tensor `output`, step by step.

    No `.grad` changes. Each step shows a sentence, the state of the graph, and the numbers: the
    value that is visited, its gradient, the product of the local and the upstream gradient for each
    input, the running sum of a value with several uses, and the values that are still waiting.

    Parameters
    ----------
    output : Tensor
        The Tensor at which the pass begins. If it is an array, the pass differentiates the sum of
        its entries.
    visits : iterable of (Tensor, g, grads), optional
        The visits to show, in the form in which `tape.backward_pass` yields them: a Tensor, its
        gradient, and the gradients for its inputs. The visits may come in any order, and the steps
        show each visit as given, even if it is wrong. The `.grad` of a leaf is then the sum of the
        gradients with which it was visited or, if it was never visited, of the gradients that it
        received. By default, the visits of the engine.

    Returns
    -------
    Stepper
        The widget.

    Raises
    ------
    RuntimeError
        If `output` does not require a gradient, or if the `.data` of a Tensor was changed after the
        graph was computed.
    TypeError
        If `output` is not a Tensor.
    ValueError
        If a visit contains a Tensor that is not in the graph, or too many gradients.
    """
    return Stepper(frames(output, visits))


class Stepper(widgets.VBox):
    """Show a slider over the Frames of a pass, and below it all steps as a folded list.

    Parameters
    ----------
    story : list of Frame
        The Frames, as `frames` returns them.
    """

    def __init__(self, story):
        self.explorer = explore(lambda step: picture(story[step]), step=range(len(story)))
        self.explorer.players["step"].interval = 2000  # ms, to read a sentence
        self.explorer.view.layout.max_height = None  # its large graphs have a window of their own
        self.sliders = self.explorer.sliders
        said = "".join(f"<li>{escape(frame.say)}</li>" for frame in story)
        steps = folds = (
            f'<details><summary>All {len(story)} steps as a list</summary><ol start="0">{said}</ol></details>'
        )
        start = story[0]
        if start.placed and _size(start.placed)[1] > WHOLE:
            whole = graph.draw(
                start.nodes,
                start.placed,
                _text(start),
                start.cards,
                start.beads,
                carried=start.words.carried,
            )
            folds += (
                f'<details><summary>The whole graph, before the first step</summary><div style="overflow-x:auto">{whole}</div>'
                "</details>"
            )
        super().__init__([self.explorer, widgets.HTML(folds)])
        first = self.explorer.picture
        self.twin = {
            "text/html": first.html + steps,  # for a reader without a kernel
            "text/plain": "\n".join(
                [first.text, "", *(f"{frame.number}. {frame.say}" for frame in story)]
            ),
        }

    def _repr_mimebundle_(self, **options):
        return super()._repr_mimebundle_(**options) | self.twin


# --- The story ------------------------------------------------------------------------------------------------------


def frames(output, visits=None):
    """Return a list of the Frames of a backward pass from `output`.

    There is one Frame for the start, one for each visit, one for each gradient that a visit passes
    on, and one for the end. The arguments and the errors are those of `backward_stepper`.
    """
    graph.check_tensor("backward_stepper", output)
    if not output.requires_grad:
        raise RuntimeError(
            "backward_stepper: expected an output that requires a gradient, got one that does not; "
            "create its inputs with requires_grad=True"
        )
    seed = np.ones_like(output.data)
    walk = _Walk(output, seed, list(tape.backward_pass(output, seed) if visits is None else visits))
    walk.start()
    for i in range(len(walk.visits)):
        walk.visit(i)
    walk.end()
    return walk.frames()


class Story:
    """Record the Frames of a pass through the graph of the Tensor `output`.

    The subclasses follow a backward or a forward pass.
    """

    words = BACKWARD

    def __init__(self, output):
        nodes = graph.read(output)
        self.output, self.names = output, graph.names(nodes)
        # the picture shows the names that the sentences use
        self.nodes = {
            node.key: node if graph.is_constant(node) else node._replace(name=self.names[node.key])
            for node in nodes
        }
        self.placed = graph.layout(list(self.nodes.values()))
        self.wanting = [
            node for node in self.nodes.values() if node.op is None and node.gradient is not None
        ]  # leaves
        self.number = {key: str(i) for i, key in enumerate(self.nodes)}
        self.now, self.at, self.eyes = None, None, [(0, 0)] * 2
        self.work, self.beads, self.sent, self.told = [], {}, {}, []

    def add(self, say, nodes, cards, grads, waiting, leaves, lost=()):
        """Add one Frame with the sentence `say` and the current state of the pass.

        The other arguments are fields of the Frame.
        """
        beads = {
            (node.key, slot): self.beads.get((node.key, slot), "ahead")
            for node in nodes
            for slot, (_, local) in enumerate(node.inputs)
            if local
        }
        nodes = [
            node._replace(
                passed=tuple(self.sent.get((node.key, slot)) for slot in range(len(node.inputs)))
            )
            for node in nodes
        ]
        self.told.append(
            Frame(
                len(self.told),
                None,
                say,
                self.at,
                list(self.work),
                waiting,
                leaves,
                lost,
                nodes,
                self.placed,
                cards,
                beads,
                grads,
                tuple(self.eyes),
                None,
                self.words,
            )
        )

    def look_at(self, key):
        """Scroll a large graph to the card `key` and its inputs, no further than necessary."""
        for nth, placed in enumerate(filter(None, (self.placed, self.placed and self.placed.down))):
            (x, y), *inputs = [
                placed.at[self.number[key]]
                for key in (key, *(x for x, _ in self.nodes[key].inputs))
            ]
            low, high = (
                y + CARD + ABOVE - WINDOW,
                min(y for _, y in [(x, y), *inputs]) - CARD + ABOVE,
            )
            top = min(max(self.eyes[nth][1], low), max(high, low), _size(placed)[1] - WINDOW)
            left = max((before for before, _ in inputs if before < x), default=x)
            self.eyes[nth] = x - min(CARD, (x - left) / 2) + LEFT, max(0, top)

    def frames(self):
        """Return a list of all Frames so far.

        Each Frame contains the number of the last Frame, and the space that the largest Frame
        needs.
        """
        room = (
            max(len(frame.say) for frame in self.told),
            *[
                max(len(getattr(frame, rows)) for frame in self.told)
                for rows in ("work", "waiting", "leaves", "lost")
            ],
        )
        return [frame._replace(last=len(self.told) - 1, room=room) for frame in self.told]


class _Walk(Story):
    """Follow the visits of a backward pass, and record its Frames."""

    def __init__(self, output, seed, visits):
        super().__init__(output)
        self.visits, names = visits, self.names
        self.result = names[id(output)] if output.shape == () else f"the sum of {names[id(output)]}"
        self.tensors = {id(output): output}
        # By key: a list of all visits, and a list of the (visit, slot) of every gradient that arrives.
        self.turns, self.arrivals = {}, {}
        refolds = any(node.op == "checkpoint" for node in self.nodes.values())
        for i, (node, _, grads) in enumerate(visits):
            if id(node) in self.nodes:
                self.turns.setdefault(id(node), []).append(i)
            elif not refolds:
                raise ValueError(
                    f"backward_stepper: expected visits (Tensor, g, grads) of Tensors from which the "
                    f"output was computed, got another Tensor in visit {i}; leave out this visit"
                )
            if len(grads) > len(node.inputs):
                raise ValueError(
                    f"backward_stepper: expected at most {len(node.inputs)} gradients in visit "
                    f"{i}, one or None for each input, got {len(grads)}"
                )
            for slot, gx in enumerate(grads):
                if gx is not None and id(node.inputs[slot]) in self.nodes:
                    self.tensors[id(node.inputs[slot])] = node.inputs[slot]
                    self.arrivals.setdefault(id(node.inputs[slot]), []).append((i, slot))
        self.uses = Counter(x for node in self.nodes.values() for x, _ in node.inputs)
        self.waits = {
            id(output): seed
        }  # by key: the gradient that has arrived and was not visited yet
        self.brought = {}  # by key: the gradient of the last visit, or the .grad of a leaf
        self.had = {}  # by key: the gradient of each visit, as text
        self.lost = {}  # by key: the gradient that arrived after the last visit
        self.place = -1, -1  # visit and slot of the current step
        self.said_constant = False
        self.look_at(id(output))

    # -- The three kinds of step

    def start(self):
        name, say = (
            self.names[id(self.output)],
            "The forward pass is done: every value is known. Now backward: ",
        )
        if self.output.shape == ():
            self.tell(
                f"{say}a 1 arrives at {name}, because the derivative of {name} with respect to itself is 1."
            )
        else:
            self.tell(
                f"{say}{name} has shape {self.output.shape}, and the pass differentiates the sum of its entries, so an array of ones of that shape arrives."
            )

    def visit(self, i):
        """Add a Frame for visit number `i`, and one for each gradient that it passes on."""
        node, g, grads = self.visits[i]
        g, self.place = np.asarray(g), (i, -1)
        if id(node) in self.nodes:
            self.now, self.work, self.beads = id(node), [], dict.fromkeys(self.beads, "done")
            self.look_at(id(node))
            say = self.leaf(i, id(node), g) if node.op is None else self.arrived(i, id(node), g)
            self.at = self.names[id(node)], show(g)
            self.tell(say + self.constants(node))
        sent = [
            (slot, np.asarray(gx))
            for slot, gx in enumerate(grads)
            if gx is not None and id(node.inputs[slot]) in self.nodes
        ]
        for slot, gx in sent:
            self.place = i, slot
            self.send(node, g, slot, gx)

    def end(self):
        self.now, self.at, self.work, self.beads = None, None, [], dict.fromkeys(self.beads, "done")
        count = sum(map(len, self.turns.values()))
        say = [f"The pass is over, after {counted(count, 'visit')}."]
        for key, gradient in self.waits.items():
            say.append(
                f"{self.names[key]} was not visited: the gradient {show(gradient)} waiting there is not passed on."
            )
        for key, gradient in self.lost.items():
            say.append(f"Lost on the way: {show(gradient)} at {self.names[key]}.")
        say.append(f"The leaves have {', '.join(f'{name} {has}' for name, has in self.leaves())}.")
        for node in self.wanting:
            if not _same(self.brought.get(node.key), node.gradient):
                say.append(f"But a correct pass gives {show(node.gradient)} for {node.name}.")
        self.tell(" ".join(say))

    # -- The sentences for a visit

    def arrived(self, i, key, g):
        name, had, before = self.names[key], self.waits.pop(key, None), self.brought.get(key)
        self.brought[key] = g
        again, what = " again" * (before is not None), show(g)
        self.had.setdefault(key, []).append(what)
        if had is None:
            return f"{name} is visited{again}, with {what}, although nothing is waiting there."
        if not _same(g, had):
            if before is not None and _same(g, before + had):
                return f"{name} is visited again, with {what}: {show(had)} is new, and the earlier {show(before)} is sent again."
            return f"{name} is visited{again}, with {what}, although {show(had)} has arrived."
        late = sum(when > i for when, _ in self.arrivals.get(key, ()))
        users = [
            self.names[other]
            for other in self.waits
            if any(x is self.tensors[key] for x in self.tensors[other].inputs)
        ]
        say = [f"{name} is visited{again}: {what} has arrived there"]
        if late:
            say.append(
                f", but it is not the complete gradient: {contributions(late)} will arrive after this visit"
            )
        elif not again:
            say.append(", and its gradient is complete")
        if users:
            one = len(users) == 1
            say.append(
                f". {' and '.join(users)}, which use{'s' * one} {name}, {'has' if one else 'have'} not been visited yet"
            )
        elif self.tensors[key].recompute:
            say.append(
                ". It kept no results from inside: they are computed again now, and visited before any waiting value"
            )
        elif not late and not self.waits:
            say.append(". Nothing else is waiting")
        return "".join(say) + "."

    def leaf(self, i, key, g):
        name, before = self.names[key], self.brought.get(key)
        had = self.waits.pop(key, None)
        self.brought[key] = g if before is None else before + g
        total = (
            ""
            if before is None
            else (
                f" ({show(before)} is there already: {show(before)} + {show(g)} = "
                f"{show(self.brought[key])})"
            )
        )
        late = "" if had is None or _same(had, g) else f" although {show(had)} has arrived,"
        return f"{name} is a leaf:{late} {show(g)} stays here, in .grad{total}."

    def constants(self, node):
        """Return a sentence about an input of a Tensor that gets no gradient, or "".

        The sentence is returned only once in a pass.
        """
        idle = [
            self.names[key]
            for (key, _), x in zip(self.nodes[id(node)].inputs, node.inputs)
            if not (isinstance(x, tape.Tensor) and x.requires_grad)
        ]
        if not idle or self.said_constant:
            return ""
        self.said_constant = True
        return f" {idle[0]} is a constant, so it never receives a gradient."

    # -- Describe a gradient that is sent

    def send(self, node, g, slot, gx):
        x = node.inputs[slot]
        key, name = id(x), self.names[id(x)]
        inner = id(node) not in self.nodes
        source = f"{node.op.name} inside {self.names[self.now]}" if inner else self.names[self.now]
        work, say = (self.of_numbers if gx.shape == node.shape == () else self.of_arrays)(
            node, source, g, slot, gx, name
        )
        if not inner:
            self.beads = dict.fromkeys(self.beads, "done") | {(self.now, slot): "now"}
            self.sent[self.now, slot] = gx
        total, more = self.arrive(key, name, gx)
        self.work += zip([f"to {name}", "", ""], [line for line in (*work, total) if line])
        self.tell(f"{say} {more}".strip())

    def of_numbers(self, node, source, g, slot, gx, name):
        """Return (lines, sentence) for a gradient that passes from one number to another.

        The only line shows the product of local and upstream gradient.

        Parameters
        ----------
        node : Tensor
            The visited Tensor.
        source : str
            The name of `node`.
        g : ndarray
            The gradient with which it was visited.
        slot : int
            The number of the input that gets a gradient.
        gx : ndarray
            The gradient that the input gets.
        name : str
            The name of the input.
        """
        local = local_gradient(node, slot)
        product = f"{show(local)} × {show(g)} = {show(gx)}"
        if not _same(local * g, gx):
            return (
                [f"{show(gx)}, not {show(local)} × {show(g)}"],
                f"{show(gx)} goes to {name}, although local {show(local)} × upstream {show(g)} is {show(local * g)}.",
            )
        if id(node) not in self.nodes:
            return [product], f"From {source}: {product} goes to {name}."
        if not _same(g, self.nodes[id(node)].gradient):
            return [product], f"{product} goes to {name}."
        twice = sum(x is node.inputs[slot] for x in node.inputs) > 1
        say = f"Along this arrow{f' (argument {slot})' * twice} "
        say += f"the local gradient is {show(local)}" if local < 0 else moves(source, local, name)
        if node is not self.output:
            up = f"the upstream gradient is {show(g)}" if g < 0 else moves(self.result, g, source)
            say += f"; {up}"
        return [product], f"{say}: {product} goes to {name}{CLOSED * (not gx)}."

    def of_arrays(self, node, source, g, slot, gx, name):
        """Return (lines, sentence) for a gradient that passes from one array to another.

        The lines show shapes. The arguments are as for `of_numbers`.
        """
        if g.shape != node.shape:
            return [f"{gx.shape}"], (
                f"{show(gx)} goes to {name}, from a gradient of shape {g.shape} at {source}, of "
                f"shape {node.shape}."
            )
        returned = np.asarray(node.op.rule(slot)(g, node.data, *node.values, **node.params))
        due, raw = tape.match_input(returned, node, slot), returned.shape
        if not _same(due, gx):
            return (
                [f"{gx.shape}, not what the rule gives"],
                f"{show(gx)} goes to {name}, although the rule of {node.op.name} gives {show(due)}.",
            )
        if node.op.kind == "elementwise":
            work, say = (
                [f"local × upstream: {raw}"],
                f"local × upstream, entry by entry, shape {raw}",
            )
        else:
            work = [f"rule of {node.op.name}: {g.shape} → {raw}"]
            say = (
                f"the rule of {node.op.name} for argument {slot} turns the {shape_in_words(g.shape)} that arrived into "
                f"{shape_in_words(raw)}"
            )
        if raw != gx.shape:
            extra = len(raw) - gx.ndim
            axes = [
                *range(extra),
                *(k for k in range(extra, len(raw)) if raw[k] != gx.shape[k - extra]),
            ]
            along = f"ax{'e' if len(axes) > 1 else 'i'}s {' and '.join(map(str, axes))}"
            work.append(f"summed over {along}: {gx.shape}")
            say += (
                f". In the forward pass {name} was copied along {along}; in the backward pass the gradients of its copies are added, to "
                f"{shape_in_words(gx.shape)}"
            )
        return work, f"From {source} to {name}: {say}."

    def arrive(self, key, name, gx):
        """Add the gradient `gx` to the running sum of the value `key`, and return (sum, sentence).

        Both are strings, and "" if there is nothing to report. A gradient that arrives after the last
        visit to the value is recorded as lost.
        """
        turn, leaf = self.turn(key), self.nodes[key].op is None
        if turn is None and key in self.turns:
            self.lost[key] = gx if key not in self.lost else self.lost[key] + gx
            return "✗ lost", f"It arrives after {name} was visited: {show(gx)} at {name} is lost."
        held = (
            self.brought if leaf and turn is None else self.waits
        )  # a leaf that is not visited keeps the gradient it received
        before = held.get(key)
        held[key] = gx if before is None else before + gx
        total, say = "", []
        if before is not None:
            total = (
                f"{show(before)} so far + {show(gx)} = {show(held[key])}"
                if gx.ndim == 0
                else f"{gx.shape} so far + {gx.shape}, entry by entry"
            )
            what = (
                f"{name} is used more than once, so the gradients from its users are added"
                if self.uses[key] > 1
                else f"The contributions to {name} are added"
            )
            say.append(f"{what}: {total}.")
        elif key in self.brought and not leaf:
            say.append(
                f"{name} has been visited already, with {show(self.brought[key])}, and will be visited again."
            )
        if more := self.to_come(key):
            say.append(f"{contributions(more)} will arrive there.".capitalize())
        return total, " ".join(say)

    def turn(self, key):
        """Return the number of the next visit to the value `key`, or None if it is not visited again."""
        turns = self.turns.get(key, ())
        following = bisect_right(turns, self.place[0])
        return turns[following] if following < len(turns) else None

    def to_come(self, key):
        """Return the number of gradients that will still arrive at `key` before its next visit."""
        arrivals, turn = self.arrivals.get(key, ()), self.turn(key)
        until = len(arrivals) if turn is None else bisect_left(arrivals, (turn, 0))
        return until - bisect_right(arrivals, self.place)

    # -- A frame

    def tell(self, say):
        cards, grads, nodes = {}, {}, []
        for key, node in self.nodes.items() if self.placed else ():
            if node.gradient is not None:
                cards[key] = self.state(key)
                held = self.waits if cards[key] == "waiting" else self.brought
                node = node._replace(gradient=held.get(key, node.gradient))
                if cards[key] in ("now", "done") and len(self.had.get(key, ())) > 1:
                    grads[key] = ", then ".join(self.had[key])
            nodes.append(node)
        lost = [(self.names[key], show(gone)) for key, gone in self.lost.items()]
        self.add(say, nodes, cards, grads, self.waiting(), self.leaves(), lost)

    def state(self, key):
        if key == self.now:
            return "now"
        if key in self.waits:
            return "waiting"
        return "done" if key in self.brought else "ahead"

    def waiting(self):
        """Return a list of rows for the waiting values, in the order of their visits.

        A row is a tuple of strings (name, gradient so far, remark).
        """
        turns = {key: self.turn(key) for key in self.waits}
        rows = []
        for key in sorted(
            turns, key=lambda key: len(self.visits) if turns[key] is None else turns[key]
        ):
            more = self.to_come(key)
            remark = (
                "is never visited" if turns[key] is None else contributions(more) if more else ""
            )
            rows.append((self.names[key], show(self.waits[key]), remark))
        return rows

    def leaves(self):
        return [
            (node.name, show(self.brought[node.key]) if node.key in self.brought else "nothing")
            for node in self.wanting
        ]


def show(x):
    """Return an array as short text: up to four entries in full, else its shape and range."""
    if x.ndim == 1 and 0 < x.size <= 4:
        return f"[{', '.join(number(float(entry)) for entry in x)}]"
    if x.size > 1 and x.min() == x.max():
        return f"{x.shape} all {number(float(x.flat[0]))}"
    return graph.brief(x)


def shape_in_words(shape):
    return str(shape) if shape else "one number"


def _same(a, b):
    return (
        a is not None
        and np.shape(a) == np.shape(b)
        and np.allclose(a, b, rtol=1e-5, atol=1e-12, equal_nan=True)
    )


def moves(a, rate, b):
    """Return a phrase such as "L moves 3 times as far as x", for the names `a` and `b`.

    `rate` is the derivative of `a` with respect to `b`. If `rate` is negative, the phrase ends with
    "in the opposite direction".
    """
    rate, other = show(np.abs(rate)), ", in the opposite direction" * bool(rate < 0)
    if rate == "0":
        return f"{a} does not move with {b}"
    return f"{a} moves {'as far' if rate == '1' else f'{rate} times as far'} as {b}{other}"


def contributions(more):
    """Return a phrase such as "one more contribution", for a number that is at least 1."""
    return "one more contribution" if more == 1 else f"{more} more contributions"


def local_gradient(node, slot):
    """Return the gradient of an input of a Tensor, for an upstream gradient of ones.

    `node` is the Tensor, and `slot` is the index of the input, from 0. The result is an array.
    """
    _, _, local = next(tape.backward_pass(node, np.ones_like(node.data)))
    return np.asarray(local[slot])


# --- A frame as a picture -------------------------------------------------------------------------------------------


def picture(frame):
    """Draw one Frame as a Picture: the sentence, the graph, and the numbers below or beside it.

    The pictures of all Frames of a pass have the same size.
    """
    text = _text(frame)
    if frame.placed is None:
        return Picture(graph.listed(text), text, says_all=True)
    words = frame.words
    letters, work, waiting, leaves, lost = frame.room
    wide, high = _size(frame.placed)
    beside = high > wide <= BESIDE
    name, visited = "", []
    if frame.at:
        name = f": {frame.at[0]}"
        visited = [
            (words.arriving, "", frame.at[1]),
            *((to, line, "") for to, line in frame.work[1 - MOST :]),
        ]
    colour = style.WRITTEN[words.carried.colour]
    ends = [(name, has, "") if has == "nothing" else (name, "", has) for name, has in frame.leaves]
    size, basis = (
        (f"flex:0 1 {wide:.0f}px", 380) if beside else ("flex:1 0 100%", 230)
    )  # px, of a part of the panel
    panel = (
        _list(words.now + name, visited, work + 1, colour, f"1.5 1 {max(basis, 290)}px")
        + _list(
            words.waiting,
            [(name, remark, has) for name, has, remark in frame.waiting],
            waiting,
            colour,
            f"1 1 {basis}px",
        )
        + _list(words.leaves, ends, leaves, colour, f"1 1 {basis}px")
    )
    if lost:
        rows = [(name, "", gone) for name, gone in frame.lost]
        panel += _list(LOST, rows, lost, colour, f"1 1 {basis}px")
    say = (
        f'<div aria-hidden="true" style="font-size:16px;line-height:22px;'
        f'min-height:{22 * ceil(letters / LETTERS)}px;padding:2px 4px 8px">'
        f'<span style="color:{style.FAINT}">{frame.number}/{frame.last}</span>&ensp;{_words(frame.say)}</div>'
    )

    def around(placed, drawn):
        """Return the HTML of a drawing of the graph, in a window if the graph is large.

        The window shows the part around the current node, and the drawing fades out at its edges.
        """
        (x, y), (wide, high) = frame.eyes[placed is not frame.placed], _size(placed)
        window = min(high, WINDOW)
        part = high > WHOLE or wide > graph.WIDE + 2 * LEFT
        least = "" if part else f"{LEAST}*"
        across = begins_at(f"{least}{x:.0f}px", f"{least}{wide:.0f}px")
        if not part:
            return f'<div class="whole" style="{across}">{drawn}</div>'
        low = y + window
        ends = f"{y + 24 * (y > 0):.0f}px {low - 24 * (low < high):.0f}px"
        fade = f"linear-gradient(transparent {y:.0f}px,black {ends},transparent {low:.0f}px)"  # around it: site.css, .more
        return (
            f'<div class="part" style="height:{window:.0f}px;overflow:auto hidden">'
            f'<div style="width:{wide:.0f}px;margin-top:{-y:.0f}px;mask-image:{fade};{across}">{drawn}</div></div>'
        )

    drawn = graph.draw(
        frame.nodes,
        frame.placed,
        text,
        frame.cards,
        frame.beads,
        frame.grads,
        words.carried,
        around,
    )
    # The text says all of it to a screen reader. In a narrow window the sentence wraps, and the graph alone scrolls.
    return Picture(
        f'<div style="display:grid;grid-template-columns:minmax(0,900px)"><div class="drawn" style="{style.CARD};display:block;'
        f'font-family:{style.FONT}">{say}'
        f'<div style="display:flex;flex-wrap:wrap;gap:8px">'
        f'<div style="{size};min-width:0;overflow-x:auto">{drawn}</div>'
        f'<div aria-hidden="true" style="flex:1 1 230px;min-width:0;display:flex;flex-wrap:wrap;gap:10px;'
        f'align-content:start;padding:4px;font-size:13px;line-height:{LINE}px">{panel}</div></div></div></div>',
        text,
        says_all=True,
    )


def _size(placed):
    """Return (width, height) of the drawing of a Placed with its margins and padding, in px."""
    return placed.width + 2 * LEFT, placed.height + 2 * ABOVE


def _text(frame):
    lines, words = [f"Step {frame.number} of {frame.last}: {frame.say}"], frame.words
    if frame.at:
        lines.append(
            "; ".join(
                [
                    f"{words.now}: {frame.at[0]}, {words.short} {frame.at[1]}",
                    *(f"{to} {line}".strip() for to, line in frame.work),
                ]
            )
        )
    waiting = [
        " ".join(filter(None, [name, has, remark and f"({remark})"]))
        for name, has, remark in frame.waiting
    ]
    lines.append(f"{words.waiting}: {', '.join(waiting) or 'nothing'}")
    lines.append(
        f"{words.leaves}: {', '.join(f'{name} {has}' for name, has in frame.leaves) or 'nothing'}"
    )
    if frame.lost:
        lines.append(f"{LOST}: {', '.join(f'{name} {gone}' for name, gone in frame.lost)}")
    return "\n".join(lines)


def _list(title, rows, room, colour, flex):
    """Return the HTML of one list in the panel beside the graph.

    Parameters
    ----------
    title : str
    rows : list of (str, str, str)
        A label, some words, and a number, which is written in `colour`.
    room : int
        The number of rows to leave space for: the most that this list has in any step.
    colour, flex : str
        CSS values.
    """
    room, rows = max(1, min(room, MOST)), rows or [("nothing", "", "")]
    if len(rows) > room:
        rows = [*rows[: room - 1], (f"and {len(rows) - room + 1} more", "", "")]
    short = "overflow:hidden;text-overflow:ellipsis"
    lines = "".join(
        f'<div style="display:flex;gap:8px;height:{LINE}px"><span style="color:{style.FAINT}">{_words(label)}</span>'
        f'<span style="flex:1 0 0;min-width:0;{short}">{_words(words)}</span>'
        f'<b style="font-weight:600;color:{colour};min-width:0;{short}">{_words(carried)}</b></div>'
        for label, words, carried in rows
    )
    return (
        f'<div style="flex:{flex};min-width:0;box-sizing:border-box;'
        f"min-height:{LINE * (room + 1) + 4}px;white-space:nowrap;background:{style.PANEL};border-radius:6px;"
        f'padding:4px 10px 6px"><div style="font-weight:600;border-bottom:1px solid {style.LINE};margin-bottom:3px;{short}">'
        f"{_words(title)}</div>{lines}</div>"
    )


def _words(text):
    return minus(escape(text))
