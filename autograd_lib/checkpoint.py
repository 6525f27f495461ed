"""Drop the intermediate results of a function, and recompute them in the backward pass."""

from . import ops
from .hints import check_function
from .rows import Primitive
from .tape import Tensor, new_tensor
from .values import clock

_checkpoint = Primitive("primitive", None, name="checkpoint")


def checkpoint(f):
    """Wrap `f` so that it keeps no intermediate results for the backward pass.

    The backward pass computes these results again: it repeats the ops of `f` on the same constants,
    so any random numbers that `f` drew are the same both times. `f` itself is called only once. All
    gradients are bit-identical to those of `f`, including the gradients of Tensors that `f` closes
    over.

    Parameters
    ----------
    f : callable
        Returns a Tensor, or a tuple or list of Tensors.

    Returns
    -------
    callable
        A function that takes the same arguments as `f` and returns the same results.

    Raises
    ------
    TypeError
        If `f` is not callable.
    """
    check_function("checkpoint", f)

    def run(*args, **kwargs):
        start = next(clock)
        out = f(*args, **kwargs)
        several = isinstance(out, (tuple, list))
        results = list(out) if several else [out]
        recorded = [
            i
            for i, z in enumerate(results)
            if isinstance(z, Tensor) and not z.opaque and z.op is not None and z.number > start
        ]
        level = max((results[i].level for i in recorded), default=None)
        recorded = [i for i in recorded if results[i].level == level]
        if len(recorded) == 1:
            results[recorded[0]] = _forget(results[recorded[0]], start)
        elif recorded:  # joined, so that one repetition serves them all
            joined = _forget(
                ops.concatenate([ops.reshape(results[i], -1) for i in recorded]), start
            )
            offset = 0
            for i in recorded:
                z = results[i]
                restored = ops.reshape(joined[offset : offset + z.size], z.shape)
                results[i] = restored if restored.dtype == z.dtype else restored.astype(z.dtype)
                offset += z.size
        return type(out)(results) if several else results[0]

    return run


def _forget(z, start):
    """Return a Tensor that has the value of `z` but keeps no intermediate results.

    The ops that were recorded after the creation number `start` are replaced by a recipe, which
    lists the ops and their inputs, without results. The backward pass recomputes the results with
    this recipe. Its inputs are Tensors older than `start`, and constants such as a random mask.
    """
    recipe, inputs, todo = {}, {}, [z]
    while todo:
        node = todo.pop()
        recipe[node.number] = node.op, node.inputs, node.params, node.recompute
        for x in node.inputs:
            if isinstance(x, Tensor) and x.number not in recipe:
                if x.level == z.level and x.op is not None and x.number > start:
                    todo.append(x)
                else:
                    inputs[x.number] = x
    steps, position = [], {number: i for i, number in enumerate([*inputs, *sorted(recipe)])}
    for number in sorted(recipe):
        op, args, params, inner = recipe[number]
        # (i, None) is one of the inputs or of the results so far, (None, a) is a itself
        slots = [(position[a.number], None) if isinstance(a, Tensor) else (None, a) for a in args]
        steps.append((op, slots, params, inner))

    def recompute(inputs):
        values = list(inputs)
        for op, slots, params, inner in steps:
            args = [a if i is None else values[i] for i, a in slots]
            values.append(_forgotten(inner(args), args, inner) if inner else op(*args, **params))
        return values[-1]

    return _forgotten(z, inputs.values(), recompute)


def _forgotten(z, inputs, recompute):
    """Return a Tensor with the value of `z` and no graph.

    The backward pass calls `recompute(inputs)`, which computes the value again and records it.
    """
    node = new_tensor(Tensor, z._value, z.level)
    node.op, node.inputs, node.recompute = _checkpoint, tuple(inputs), recompute
    node.values = tuple(x._value if isinstance(x, Tensor) else x for x in node.inputs)
    return node
