"""What was recorded, as source and as functions: one forward, and one for each backward pass."""

from functools import partial

from ..rows import Primitive
from ..tape import Tensor, new_tensor, to_array
from .plan import fuse_dot_products, live_lines
from .signature import leaf_signature
from .trace import Trace
from .traced import Traced, mapped
from .writer import Writer


class Program:
    """The program of one call of `f`.

    Attributes
    ----------
    source : str
        The program, as Python.
    closed : list of Tensor
        The Tensors that `f` closes over. Their values are inputs, after the leaves of the arguments.
    """

    def __init__(self, f, args, kwargs, paths):
        trace = Trace(f, args, kwargs, paths)
        self.structure, self.closed = trace.structure, trace.closed
        self._signatures = list(map(leaf_signature, self.closed))
        number = {id(x): i for i, x in enumerate(trace.stand_ins) if type(x) is not Traced}
        # A Tensor that is returned as it came, an input, is the caller's own.
        self._returned_input = [number.get(id(z)) for z in trace.outputs]
        self._returns_tensor = [
            isinstance(z, Tensor) and type(z) is not Traced for z in trace.outputs
        ]
        results = [
            to_array(z)
            if isinstance(z, Tensor) and place is None
            else None
            if place is not None
            else z
            for z, place in zip(trace.outputs, self._returned_input)
        ]
        grads = {i: tuple([gx for _, gx in found]) for i, (_, found) in trace.backward.items()}
        all_grads = [gx for found in grads.values() for gx in found]
        fuse_dot_products([*results, *all_grads])
        # The forward function saves what the backward functions read of it.
        forward = {x.number for x in [*live_lines([*results, *trace.checks]), *trace.inputs]}
        backward = live_lines(all_grads, forward)
        read = [*all_grads, *[x for node in backward for x in node.reads]]
        read = {x.number: x for x in read if isinstance(x, Traced)}
        saved = tuple([read[order] for order in sorted(read.keys() & forward)])
        writer = Writer(trace, trace.name)
        self._returns_plain = not any(self._returns_tensor)
        returned = mapped(results.__getitem__, self.structure)
        returned, kept = (returned, None) if self._returns_plain else (tuple(results), saved)
        writer.function("", trace.inputs, returned, kept, checks=trace.checks)
        suffixes = {i: f"_backward{i or ''}" for i in grads}
        for i, found in grads.items():
            writer.function(suffixes[i], [trace.backward[i][0], *saved], found, known=forward)
        self.source, functions = writer.build()
        self._forward = functions[writer.name]
        self._backward = {
            i: (functions[writer.name + suffixes[i]], [n for n, _ in found])
            for i, (_, found) in trace.backward.items()
        }
        self._row = Primitive("primitive", None, name=trace.name)

    def fits(self):
        """Return True if the Tensors that `f` closes over still have their shapes and dtypes."""
        return list(map(leaf_signature, self.closed)) == self._signatures

    def run(self, leaves):
        """Return what `f` returns for these leaves of its arguments."""
        inputs = leaves + self.closed
        if self._returns_plain:
            return self._forward(*_values(inputs))
        return mapped(self._outputs(inputs).__getitem__, self.structure)

    def _outputs(self, inputs):
        values = _values(inputs)
        found, saved = self._forward(*values)
        outputs = []
        for i, (z, place) in enumerate(zip(found, self._returned_input)):
            if place is not None:
                z = inputs[place]
            elif i in self._backward:
                z = self._recorded(i, z, inputs, values, saved)
            elif self._returns_tensor[i]:
                z = Tensor(z)
            outputs.append(z)
        return outputs

    def _recorded(self, i, z, inputs, values, saved):
        """Return output `i` as a Tensor whose rules run the backward function."""
        backward, numbers = self._backward[i]
        rule = _shared_rule(backward, saved)
        edges = [(n, partial(rule, k)) for k, n in enumerate(numbers)]
        node = new_tensor(Tensor, z, 0)
        node.op, node.inputs, node.values, node.edges = self._row, tuple(inputs), values, edges
        node.recompute = lambda inputs: self._outputs(inputs)[i]
        return node


def _values(inputs):
    return [x._value if type(x) is Tensor else x for x in inputs]


def _shared_rule(backward, saved):
    """Return one rule for all inputs: the backward function runs when the first gradient is due.

    The tape asks for the gradients in order, and for each once in a backward pass.
    """
    grads = []

    def rule(k, g, *_):
        if k == 0:
            grads[:] = backward(g, *saved)
        gx, grads[k] = grads[k], None
        return gx

    return rule
