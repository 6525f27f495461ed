"""Show forward mode on the graph of a computation, step by step, with `forward_stepper`.

The frames, the pictures and the widget are those of backward_stepper, in stepper.py. The tangents
come from the engine's forward mode, one argument at a time: this module has no rules of its own.
"""

import numpy as np

import autograd_lib as ag

from ..drawing.formatting import counted
from . import graph
from .stepper import CLOSED, Stepper, Story, Words, local_gradient, moves, shape_in_words, show

FORWARD = Words(
    "Computed now",
    "tangent",
    "tangent",
    "Kept, because it is still used",
    "At the end of the arrows",
    graph.TANGENT,
)


def forward_stepper(output, **tangents):
    """Show forward mode on the graph of the Tensor `output`, step by step.

    No `.grad` changes. For example, `forward_stepper(L, x=1)` gives the input x the tangent 1, and
    all other inputs the tangent 0. Each step shows a sentence, the state of the graph, and the
    numbers: the value that is computed, the product of the local gradient and the tangent for each
    of its inputs, the sum of these products, and the tangents that must stay in memory.

    Parameters
    ----------
    output : Tensor
        The result of the computation to show.
    **tangents : float or array_like
        The tangents of one or more inputs, each with the shape of its input. An input is named as
        in `draw_graph`, by its `.name` or by its variable.

    Returns
    -------
    Stepper
        The widget.

    Raises
    ------
    RuntimeError
        If `output` does not require a gradient, or was computed by a checkpoint or from a Tensor
        whose `.data` has changed since.
    TypeError
        If `output` is not a Tensor, if no tangent is given, or if `output` has no input with the name of a tangent.
    ValueError
        If a tangent does not have its input's shape.
    """
    return Stepper(frames(output, tangents))


def frames(output, tangents):
    """Return a list of the Frames of a forward pass to the Tensor `output`.

    There is one for the start, one for each tangent that passes along an arrow, and one for the
    end. `tangents` is a dict that maps the name of each input to its tangent. The errors are
    the same as those of `forward_stepper`.
    """
    graph.check_tensor("forward_stepper", output)
    if not output.requires_grad:
        raise RuntimeError(
            "forward_stepper: expected an output that requires a gradient, got one that does not; "
            "create its inputs with requires_grad=True"
        )
    push = _Push(output, tangents)
    push.start()
    for tensor in push.order:
        push.compute(tensor)
    push.end()
    return push.frames()


class _Push(Story):
    """Follow a forward pass from value to value, and record its Frames."""

    words = FORWARD

    def __init__(self, output, tangents):
        super().__init__(output)
        if any(node.op == "checkpoint" for node in self.nodes.values()):
            raise RuntimeError(
                "forward_stepper: a checkpoint does not keep the operations that it ran; compute "
                "the output without checkpoints, because forward mode saves nothing anyway"
            )
        leaves = {node.name: node for node in self.wanting}
        if not tangents or not tangents.keys() <= leaves.keys():
            unknown = ", ".join(tangents.keys() - leaves.keys())
            raise TypeError(
                f"forward_stepper: {f'the graph has no input {unknown}' if unknown else 'expected at least one tangent, got none'}; "
                f"the inputs are {', '.join(leaves)}. Give one or more of them a tangent by name, as in "
                f"forward_stepper(L, {next(iter(leaves))}=1)"
            )
        self.tangents = {}  # of the values that are computed, by key
        for name, node in leaves.items():
            tangent = np.asarray(tangents.get(name, np.zeros(node.value.shape)), node.value.dtype)
            if tangent.shape != node.value.shape:
                raise ValueError(
                    f"forward_stepper: expected a tangent of shape {node.value.shape} for {name}, "
                    f"got shape {tangent.shape}"
                )
            self.tangents[node.key] = tangent
        # The input that alone moves, by 1: then every tangent is a slope.
        moved = [node for node in leaves.values() if np.any(self.tangents[node.key])]
        alone = len(moved) == 1 and moved[0].value.ndim == 0 and self.tangents[moved[0].key] == 1
        self.mover = moved[0].name if alone else None
        self.order = sorted((t for t in graph.order(output) if t.edges), key=lambda t: t.number)
        self.uses = {}  # the number of arrows still to come, by the key of their start
        for tensor in self.order:
            for slot, _ in tensor.edges:
                self.uses[id(tensor.inputs[slot])] = self.uses.get(id(tensor.inputs[slot]), 0) + 1
        self.look_at(id(self.order[0]) if self.order else id(output))

    def start(self):
        given = ", ".join(f"{node.name} {show(self.tangents[node.key])}" for node in self.wanting)
        means = (
            f"how fast it moves relative to {self.mover}"
            if self.mover
            else "how fast it then moves"
        )
        self.tell(
            "Before the first step only the inputs are known, each with its tangent, the rate at which it changes: "
            f"{given}. The tangent of a value is {means}."
        )

    def compute(self, tensor):
        """Compute the tangent of `tensor`, and add a Frame for each arrow that contributes to it."""
        key, name = id(tensor), self.names[id(tensor)]
        self.now, self.work, self.beads = key, [], dict.fromkeys(self.beads, "done")
        self.look_at(key)
        for count, (slot, _) in enumerate(tensor.edges):
            x = tensor.inputs[slot]
            t, before = self.tangents[id(x)], self.tangents.get(key)
            part = pushed(tensor, slot, t)
            self.beads = dict.fromkeys(self.beads, "done") | {(key, slot): "now"}
            self.sent[key, slot] = part
            self.tangents[key] = part if before is None else before + part
            self.uses[id(x)] -= 1
            tell = self.of_numbers if part.shape == t.shape == () else self.of_arrays
            line, say = tell(tensor, slot, t, part)
            self.work.append((f"from {self.names[id(x)]}", line))
            if before is None:
                say = f"{name} = {show(tensor.data)} is computed, and its tangent with it. {say}"
            else:
                total = (
                    f"{show(before)} so far + {show(part)} = {show(self.tangents[key])}"
                    if part.ndim == 0
                    else f"{part.shape} so far + {part.shape}, entry by entry"
                )
                self.work.append(("", total))
                say = f"{say} The contributions are added: {total}."
            if count == len(tensor.edges) - 1 and self.mover and tensor.ndim == 0:
                say += f" So {moves(name, self.tangents[key], self.mover)}."
            self.at = name, show(self.tangents[key])
            self.tell(say)

    def of_numbers(self, tensor, slot, t, part):
        """Return (product, sentence) as text, for an arrow between two numbers.

        The arrow leads to input number `slot` of `tensor`; `t` is the tangent of this input, and
        `part` is the contribution that it makes to the tangent of `tensor`.
        """
        product = f"{show(local_gradient(tensor, slot))} × {show(t)} = {show(part)}"
        return (
            product,
            f"From {self.names[id(tensor.inputs[slot])]} comes local × tangent, {product}{CLOSED * (not part)}.",
        )

    def of_arrays(self, tensor, slot, t, part):
        """Return (shapes, sentence) as text, for an arrow between arrays.

        The arguments are as for `of_numbers`. The sentence says how the operation of `tensor` computes
        the contribution.
        """
        op, x = tensor.op.name, self.names[id(tensor.inputs[slot])]
        line = f"{shape_in_words(t.shape)} → {shape_in_words(part.shape)}"
        how = {
            "elementwise": f"the rule of {op}, with the tangent in place of g",
            "linear": f"{op} is linear, so it is applied to the tangent itself",
            "bilinear": f"{op} with the tangent in place of {x}",
            "primitive": f"the push of {op}",
        }[tensor.op.kind]
        return line, f"From {x}: {how}, {line}."

    def end(self):
        self.now, self.at, self.work, self.beads = None, None, [], dict.fromkeys(self.beads, "done")
        key = id(self.output)
        say = [
            f"After one sweep along the arrows, {self.names[key]} = {show(self.output.data)} has tangent "
            f"{show(self.tangents[key])}."
        ]
        size = sum(node.value.size for node in self.wanting)
        if self.mover and size > 1:
            others = [node.name for node in self.wanting if node.name != self.mover]
            say.append(
                f"That is its slope along {self.mover}, and the slopes along {' and '.join(others)} are still unknown: for all "
                f"{size} numbers it takes {size} sweeps."
            )
        self.tell(" ".join(say))

    def tell(self, say):
        """Add a Frame with the sentence `say` and the current state of the pass.

        Each card of the graph is marked as computed, being computed, or not computed yet.
        """
        cards, nodes = {}, []
        for key, node in self.nodes.items() if self.placed else ():
            if node.gradient is not None:
                cards[key] = (
                    "now" if key == self.now else "done" if key in self.tangents else "ahead"
                )
                node = node._replace(gradient=self.tangents.get(key, node.gradient))
            nodes.append(node)
        kept = [
            (self.names[key], show(self.tangents[key]), counted(left, "more use"))
            for key, left in self.uses.items()
            if left and key in self.tangents and key != self.now
        ]
        key = id(self.output)
        found = show(self.tangents[key]) if key in self.tangents and self.now is None else "nothing"
        self.add(say, nodes, cards, {}, kept, [(self.names[key], found)])


def pushed(tensor, slot, t):
    """Return the contribution of one input to the tangent of `tensor`, as an array.

    `t` is the tangent of the input with the index `slot`, from 0, as an array. The other inputs are
    fixed.
    """
    values = list(tensor.values)

    def alone(x):
        return tensor.op(*values[:slot], x, *values[slot + 1 :], **tensor.params)

    return np.asarray(ag.jvp(alone, (values[slot],), (t,))[1])
