"""Turn a recorded call into Python functions: a forward function, and one per backward pass."""

from functools import partial

from ..rows import Primitive, traced_in
from ..tape import Tensor, new_tensor, to_array
from .plan import live_lines
from .signature import leaf_signature
from .trace import Trace
from .traced import Traced, mapped
from .writer import Writer


class Program:
    """Record one call of `f`, and repeat its operations on other arguments.

    Parameters
    ----------
    f : callable
        The function.
    args, kwargs : tuple, dict
        The arguments of the recorded call.

    Attributes
    ----------
    source : str
        The Python source of the program.
    structure : object
        The structure of the result; see `Trace`.
    closed : list of Tensor
        The Tensors that `f` closes over. They are inputs of the program, after the leaves of the
        arguments (signature.py defines leaves).
    """

    def __init__(self, f, args, kwargs):
        trace = Trace(f, args, kwargs)
        self.structure = trace.structure
        self.closed, self._signatures = trace.closed, trace.signatures
        # The functions compute arrays; `_outputs` makes Tensors of those that are Tensors in `f`.
        self._is_tensor = [isinstance(z, Tensor) and type(z) is not Traced for z in trace.outputs]
        results = [to_array(z) if isinstance(z, Tensor) else z for z in trace.outputs]
        lines = live_lines([*results, *trace.checks])  # of the forward function
        computed = {x.number for x in [*lines, *trace.inputs]}
        # The forward function saves what the backward functions read of it.
        grads = [gx for _, _, grads in trace.backward.values() for gx in grads]
        reads = [*grads, *[x for node in live_lines(grads, computed) for x in node.reads]]
        saved = tuple({x.number: x for x in traced_in(reads) if x.number in computed}.values())
        writer = Writer(trace)  # it writes the forward function first: that one chooses the names
        # With Tensors among the results, it returns (all results, what is saved).
        if any(self._is_tensor):
            writer.function(writer.name, trace.inputs, lines, tuple(results), saved)
        else:
            returned = mapped(results.__getitem__, self.structure)
            writer.function(writer.name, trace.inputs, lines, returned)
        names = {}  # from the position of an output to the name of its backward function
        for i, (g, _, grads) in trace.backward.items():
            names[i] = writer.unique_name(f"{writer.name}_backward{i or ''}")
            writer.function(names[i], [g, *saved], live_lines(grads, computed), grads)
        self.source, functions = writer.build()
        self._forward = functions[writer.name]
        # Of each output: the numbers of all inputs and lines that it was computed from.
        sources = [
            {x.number for x in traced_in([z, *[node.reads for node in live_lines([z])]])}
            for z in results
        ]
        self._backward = {
            i: (
                functions[name],
                trace.backward[i][1],
                [x.number in sources[i] for x in trace.inputs],
            )
            for i, name in names.items()
        }
        self._row = Primitive("primitive", None, name=trace.name)  # the `op` of the results

    def fits(self):
        """Return True if the Tensors that `f` closes over have not changed except in their values.

        If the shape, the dtype or `requires_grad` of one of these Tensors has changed, the program
        can no longer be used.
        """
        return list(map(leaf_signature, self.closed)) == self._signatures

    def run(self, leaves):
        """Run the program, and return the result of `f`.

        `leaves` are the arrays, Tensors and numbers among the arguments, as `signature` lists them.
        """
        inputs = leaves + self.closed
        if any(self._is_tensor):
            return mapped(self._outputs(inputs).__getitem__, self.structure)
        return self._forward(*_values(inputs))

    def _outputs(self, inputs):
        """Run the forward function on `inputs`, and return the list of its results.

        Each result that is a Tensor in `f` is a Tensor here, too.
        """
        values = _values(inputs)
        results, saved = self._forward(*values)
        return [
            self._recorded(i, z, inputs, values, saved)
            if i in self._backward
            else Tensor(z)
            if self._is_tensor[i]
            else z
            for i, z in enumerate(results)
        ]

    def _recorded(self, i, z, inputs, values, saved):
        """Return output `i` as a Tensor whose gradient rules call the backward function.

        `z` is the value of the output, `values` are the values of `inputs`, and `saved` contains
        the arrays that the forward function has saved for the backward functions.
        """
        backward, positions, reads = self._backward[i]  # positions: inputs that get a gradient
        rule = _shared_rule(backward, saved)
        node = new_tensor(Tensor, z, 0)
        node.op, node.values, node.inputs = (
            self._row,
            values,
            # Of an input that this output was not computed from, only the value: it may be changed
            # before the backward pass of this output, as by the step of another model.
            tuple(x if read else v for x, v, read in zip(inputs, values, reads)),
        )
        node.edges = [(n, partial(rule, k)) for k, n in enumerate(positions)]
        node.recompute = lambda inputs: self._outputs(inputs)[i]  # for a checkpoint around the call
        return node


def _values(inputs):
    """Return the list `inputs` with every Tensor replaced by its value."""
    return [x._value if isinstance(x, Tensor) else x for x in inputs]


def _shared_rule(backward, saved):
    """Return a rule that all inputs share: `rule(k, g)` returns the gradient at position `k`.

    `backward(g, *saved)` returns all gradients. In every backward pass, the tape requests each of
    them once, in order. So the rule calls `backward` when `k` is 0, and keeps a gradient only until
    it returns it. It ignores its other arguments, which are the result and the inputs.
    """
    grads = []

    def rule(k, g, *_):
        if k == 0:
            grads[:] = reversed(backward(g, *saved))
        return grads.pop()

    return rule
