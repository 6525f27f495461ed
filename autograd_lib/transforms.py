"""Functions that take a function and return its derivatives: every one opens a level of its own (see tape.py)."""

import numpy as np

from . import ops
from .tape import Tensor, backward_pass, box, dual, new_level, owned, unbox


def vjp(f, *xs):
    """The value of `f(*xs)`, and the function that pulls a gradient back through it.

    Parameters
    ----------
    f : function of the arrays `xs` that returns one array
    xs : arrays of floating dtype (or Tensors of an outer transform)

    Returns
    -------
    (value, pull) : `pull(g)`, with `g` of the value's shape, is a tuple of one gradient per input, gᵀ·∂f/∂x, in the
        input's shape and dtype.

    Raises
    ------
    TypeError
        If an input is not floating.
    ValueError
        From `pull`, if `g` does not have the shape of the value.
    """
    level = new_level()
    boxes = [box(x, level, f"vjp: input {i}") for i, x in enumerate(xs)]
    z = f(*boxes)
    value = _result(unbox(z, level))

    def pull(g):
        if not isinstance(g, Tensor):
            g = np.array(g, dtype=value.dtype)
        if g.shape != value.shape:
            raise ValueError(f"vjp: the gradient has shape {g.shape}, the value {value.shape}")
        arrived = {}
        if isinstance(z, Tensor) and z.level == level and z._requires_grad:
            arrived = {t._order: gx for t, gx, _ in backward_pass(z, g) if t.op is None}
        return tuple(_result(arrived.get(t._order, np.zeros(t.shape, t.dtype))) for t in boxes)

    return value, pull


def _result(value):
    return value if isinstance(value, Tensor) else owned(np.asarray(value))


def value_and_grad(f, argnums=0):
    """The function that returns `f`'s value and its gradient.

    Parameters
    ----------
    f : function that returns a scalar
    argnums : int or tuple of ints
        The positions of the arguments to differentiate; the others, and keywords, are constants.

    Returns
    -------
    function of the same arguments as `f`, giving `(value, gradient)`; with a tuple for `argnums`, a tuple of
    gradients. A gradient has the shape and dtype of its argument.

    Raises
    ------
    TypeError
        When called: if such an argument is missing or not floating.
    ValueError
        When called: if `f` does not return a scalar.
    """
    def run(*args, **kwargs):
        positions = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        for i in positions:
            if not -len(args) <= i < len(args):
                raise TypeError(f"grad: argnums names argument {i}, and {len(args)} positional arguments were given")

        def chosen(*xs):
            full = list(args)
            for i, x in zip(positions, xs):
                full[i] = x
            return f(*full, **kwargs)

        value, pull = vjp(chosen, *[args[i] for i in positions])
        if value.shape != ():
            raise ValueError(f"grad: the function returned shape {value.shape}, and a scalar is needed; reduce it, for "
                             "example with .sum(), or use vjp or jacobian")
        grads = pull(np.ones(()))
        return value, grads[0] if isinstance(argnums, int) else grads
    return run


def grad(f, argnums=0):
    """The function that returns the gradient of `f`, which returns a scalar. As in `value_and_grad`."""
    with_value = value_and_grad(f, argnums)
    return lambda *args, **kwargs: with_value(*args, **kwargs)[1]


def jvp(f, xs, tangents):
    """The value of `f(*xs)` and its directional derivative: Σ ∂f/∂xᵢ · tangentᵢ, by forward mode.

    Parameters
    ----------
    f : function of the arrays `xs` that returns one array
    xs, tangents : sequences of arrays, each tangent in the shape of its input

    Returns
    -------
    (value, tangent) : both in the shape of the value. Nothing is recorded on the way.

    Raises
    ------
    TypeError
        If an input is not floating.
    ValueError
        If there is not one tangent per input, of its shape.
    """
    if [np.shape(x) for x in xs] != [np.shape(t) for t in tangents]:
        raise ValueError(f"jvp: inputs of shapes {[np.shape(x) for x in xs]} need tangents of these shapes, "
                         f"not {[np.shape(t) for t in tangents]}")
    level = new_level()
    duals = []
    for i, (x, t) in enumerate(zip(xs, tangents)):
        value = box(x, level, f"jvp: input {i}")._data
        duals.append(dual(value, t if isinstance(t, Tensor) else np.array(t, value.dtype)[()], level))
    z = f(*duals)
    value = _result(unbox(z, level))
    moved = isinstance(z, Tensor) and z.level == level and z.tangent is not None
    return value, _result(z.tangent) if moved else np.zeros(value.shape, value.dtype)


def jacobian(f):
    """The function that returns ∂f/∂x for a function of one array: shape of the value, then shape of `x`.

    One backward pass per entry of the value.
    """
    def run(x):
        value, pull = vjp(f, x)
        shape = value.shape + np.shape(x)
        rows = [pull(seed)[0] for seed in np.eye(value.size).reshape(-1, *value.shape)]
        return ops.reshape(ops.stack(rows), shape) if rows else np.zeros(shape, value.dtype)
    return run


def hessian(f):
    """The function that returns all second derivatives of a scalar function of one array: the shape of `x` twice."""
    return jacobian(grad(f))


def hvp(f, x, v):
    """The Hessian of the scalar function `f` at `x` times `v`, in the shape of `x`, without the Hessian."""
    return grad(lambda x: ops.sum(grad(f)(x) * v))(x)
