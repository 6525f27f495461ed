"""Derivatives of functions. Every call of a transform opens a new level (see tape.py)."""

import math

import numpy as np

from . import ops
from .forward import Dual
from .hints import check_function
from .levels import new_level
from .rows import primitive
from .tape import Tensor, leaf_gradients, new_tensor
from .values import _check_floating, as_array, copied, copy_if_view

_float64 = primitive(np.float64, [None], [None])


def vjp(f, *xs):
    """Return the value of `f(*xs)`, and a function that pulls a gradient back through `f`.

    Parameters
    ----------
    f : callable
        Takes arrays and returns one array.
    *xs : array_like
        The inputs, of floating dtype, or Tensors of an outer transform.

    Returns
    -------
    value : array
        f(*xs).
    pull : callable
        `pull(g)`, with `g` of the shape of the value, returns the vector–Jacobian products gᵀ·∂f/∂x
        as a tuple: one gradient per input, in the shape and dtype of that input.

    Raises
    ------
    TypeError
        If an input is not floating, or is a list of arrays, or if `f` does not return an array.
    ValueError
        If `pull` gets a `g` of the wrong shape.
    """
    check_function("vjp", f)
    value, pull = _vjp("vjp", f, xs, range(len(xs)))
    pull.__qualname__ = "vjp: pull"  # what Python calls it if g is missing
    return value, pull


def _vjp(name, f, xs, positions):
    """Return the result of `vjp(f, *xs)`.

    Errors name the function `name`, and number the inputs `xs` by `positions`.
    """
    level = new_level()
    boxes = [box(x, level, f"{name}: argument {i}") for x, i in zip(xs, positions)]
    z = f(*boxes)
    value = _value(name, z, level)

    def pull(g):
        g = (g if isinstance(g, Tensor) else as_array(g, "vjp: the gradient")).astype(value.dtype)
        if g.shape != value.shape:
            raise ValueError(f"vjp: expected a gradient of shape {value.shape}, got {g.shape}")
        grads = {}
        if isinstance(z, Tensor) and z.level == level and z._requires_grad:
            grads = {t.number: gx for t, gx in leaf_gradients(z, g)}
        return tuple(
            grads[t.number] if t.number in grads else np.zeros(t.shape, t.dtype) for t in boxes
        )

    return value, pull


def box(x, level, what):
    """Return the argument `x` as a new Tensor on `level`; `what` names the argument in errors.

    Raise TypeError if `x` is not one array of a floating dtype.
    """
    if isinstance(x, dict) or (
        isinstance(x, (tuple, list)) and any(isinstance(v, (np.ndarray, Tensor)) for v in x)
    ):
        raise TypeError(
            f"{what}: expected one array, got a {type(x).__name__}; join its arrays with stack or "
            "concatenate, or pass each array as a separate argument; grad and jacobian then select "
            "the arguments by position, as in argnums=(0, 1)"
        )
    if not isinstance(x, Tensor):
        x = copied(as_array(x, what))  # the caller may change it before the backward pass
    elif type(x._value) is float:
        x = _float64(x)  # a Python float of a program, which has no dtype
    _check_floating(x.dtype, what)
    return new_tensor(Tensor, x, level)


def _value(name, z, level):
    """Return the value of `z`, the result of a differentiated function, one level below `level`.

    The value is a copied array, or a Tensor of an outer transform. Raise TypeError, which names the
    transform `name`, if `z` is not one array.
    """
    if z is None or isinstance(z, (tuple, list, dict)):
        raise TypeError(
            f"{name}: expected a function that returns one array, got "
            + (
                "None; add a return statement"
                if z is None
                else f"a {type(z).__name__}; return one of its entries"
            )
        )
    value = (
        z._value if isinstance(z, Tensor) and z.level == level else z
    )  # else a constant to this level
    return (
        value
        if isinstance(value, Tensor)
        else np.array(as_array(value, f"{name}: the function's value"))
    )


def value_and_grad(f, argnums=0):
    """Return a function that computes the value of `f` and its gradient.

    Parameters
    ----------
    f : callable
        Returns a scalar.
    argnums : int or tuple of int, default 0
        Positions, from 0, of the arguments to differentiate with respect to. All other arguments,
        by position or by keyword, are constants.

    Returns
    -------
    callable
        Takes the arguments of `f`; returns (value, gradient), or (value, tuple of gradients) for a
        tuple `argnums`. A gradient has the shape and dtype of its argument. Raises TypeError if an
        argument is missing or not floating; ValueError if `f` does not return a scalar.
    """
    return _value_and_grad("value_and_grad", f, argnums)


def _value_and_grad(name, f, argnums):
    """Return the result of `value_and_grad(f, argnums)`, whose errors name the function `name`."""

    def run(*args, **kwargs):
        value, pull = _vjp(name, *_chosen(name, f, args, kwargs, argnums))
        if value.shape != ():
            raise ValueError(
                f"{name}: expected a function that returns a scalar, got shape {value.shape}; "
                "reduce it, for example with .sum(), or use vjp or jacobian"
            )
        grads = pull(value.dtype.type(1))
        return value, grads if isinstance(argnums, (tuple, list)) else grads[0]

    return run


def _chosen(name, f, args, kwargs, argnums):
    """Return (function, values, positions) for the arguments of `f` that `argnums` selects.

    The function calls `f` with new values for these arguments, and with all others as they are.
    Raise an error, which names the function `name`, if `argnums` does not fit a call with `args`.
    """
    check_function(name, f)
    numbers = argnums if isinstance(argnums, (tuple, list)) else [argnums]
    if not numbers:
        raise ValueError(f"{name}: expected at least one position in argnums, got {argnums!r}")
    for i in numbers:
        if not isinstance(i, (int, np.integer)):
            raise TypeError(
                f"{name}: expected argnums to be an int or a tuple of ints, got {argnums!r}; call "
                f"{name}(f)(x), not {name}(f, x)"
            )
        if not -len(args) <= i < len(args):
            raise TypeError(
                f"{name}: argnums selects argument {i}, counted from 0, but the call has "
                f"{len(args)} positional argument{'s' * (len(args) != 1)}; pass the selected arguments "
                "by position"
            )
    positions = [i % len(args) for i in numbers]
    if len(set(positions)) < len(positions):
        raise ValueError(f"{name}: argnums {argnums} selects an argument twice; list it once")

    def chosen(*xs):
        full = list(args)
        for i, x in zip(positions, xs):
            full[i] = x
        return f(*full, **kwargs)

    return chosen, [args[i] for i in positions], positions


def grad(f, argnums=0):
    """Return a function that computes the gradient of `f`.

    Parameters
    ----------
    f : callable
        Returns a scalar.
    argnums : int or tuple of int, default 0
        Positions of the arguments to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of `f`; returns the gradient, or a tuple of gradients for a tuple
        `argnums`. Raises the same errors as the result of `value_and_grad`.
    """
    check_function("grad", f)  # at once, because torch.autograd.grad takes a result here
    return _grad("grad", f, argnums)


def _grad(name, f, argnums=0):
    """Return the result of `grad(f, argnums)`, whose errors name the function `name`."""
    return lambda *args, **kwargs: _value_and_grad(name, f, argnums)(*args, **kwargs)[1]


def jvp(f, xs, tangents):
    """Return the value of `f(*xs)`, and its derivative along `tangents`, by forward mode.

    Parameters
    ----------
    f : callable
        Takes arrays and returns one array.
    xs, tangents : sequence of array_like
        The inputs, of floating dtype, and a tangent for each input, of the same shape.

    Returns
    -------
    value, tangent : array
        f(*xs), and the Jacobian–vector product Σ ∂f/∂xᵢ · tangentᵢ, of the same shape.

    Raises
    ------
    TypeError
        If an input is not floating, or `xs` and `tangents` are not sequences.
    ValueError
        If the shapes of inputs and tangents differ.
    """
    check_function("jvp", f)
    if not isinstance(xs, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeError(
            "jvp: expected a tuple of inputs and a tuple of tangents, as in jvp(f, (x,), (v,)), "
            f"got {type(xs).__name__} and {type(tangents).__name__}"
        )
    if [np.shape(x) for x in xs] != [np.shape(t) for t in tangents]:
        raise ValueError(
            f"jvp: expected tangents of the same shapes as xs, {[np.shape(x) for x in xs]}, "
            f"got {[np.shape(t) for t in tangents]}"
        )
    return _jvp("jvp", f, xs, tangents)


def _jvp(name, f, xs, tangents):
    """Return the result of `jvp(f, xs, tangents)`; errors name the function `name`."""
    level = new_level()
    duals = []
    for i, (x, t) in enumerate(zip(xs, tangents)):
        dual = new_tensor(Dual, box(x, level, f"{name}: argument {i}")._value, level)
        dual.tangent = (
            t if isinstance(t, Tensor) else as_array(t, f"{name}: tangent {i}")[()]
        ).astype(dual.dtype)
        duals.append(dual)
    z = f(*duals)
    value = _value(name, z, level)
    moves = isinstance(z, Tensor) and z.level == level and z.tangent is not None
    return value, copy_if_view(z.tangent) if moves else np.zeros(value.shape, value.dtype)


def jacobian(f, argnums=0, mode=None):
    """Return a function that computes the Jacobian ∂f/∂x.

    Parameters
    ----------
    f : callable
        Returns one array.
    argnums : int or tuple of int, default 0
        Positions of the arguments to differentiate with respect to.
    mode : {None, "rev", "fwd"}
        "rev" runs one backward pass per entry of the value. "fwd" runs one forward pass per entry
        of the inputs, and each pass calls `f`, so `f` must not draw random numbers. None chooses
        the mode with fewer passes.

    Returns
    -------
    callable
        Takes the arguments of `f`; returns an array whose shape is that of the value followed by
        that of the argument. For a tuple `argnums`, returns a tuple of such arrays.

    Raises
    ------
    ValueError
        If `mode` is unknown.
    """
    if mode not in (None, "rev", "fwd"):
        raise ValueError(f"jacobian: expected mode 'rev', 'fwd' or None, got {mode!r}")
    return _jacobian("jacobian", f, argnums, mode)


def _jacobian(name, f, argnums, mode=None):
    """Return the result of `jacobian(f, argnums, mode)`, whose errors name the function `name`."""

    def run(*args, **kwargs):
        chosen, xs, positions = _chosen(name, f, args, kwargs, argnums)
        value, pull = _vjp(name, chosen, xs, positions)
        by_rows = mode == "rev" or mode is None and value.size <= sum(np.size(x) for x in xs)
        rows = [pull(seed) for seed in _unit_arrays(value.shape)] if by_rows else []
        jacobians = []
        for i, x in enumerate(xs):
            if by_rows:
                slices, axis = [row[i] for row in rows], 0
            else:
                zeros = [np.zeros(np.shape(x)) for x in xs]
                slices, axis = (
                    [
                        _jvp(name, chosen, xs, [*zeros[:i], unit, *zeros[i + 1 :]])[1]
                        for unit in _unit_arrays(np.shape(x))
                    ],
                    -1,
                )
            shape = value.shape + np.shape(x)
            jacobians.append(
                ops.reshape(ops.stack(slices, axis), shape)
                if slices
                else np.zeros(shape, value.dtype)
            )
        return tuple(jacobians) if np.ndim(argnums) else jacobians[0]

    return run


def _unit_arrays(shape):
    """Return all arrays of this shape with a single entry 1 and zeros elsewhere."""
    return np.eye(n := math.prod(shape)).reshape(n, *shape)


def hessian(f, argnums=0):
    """Return a function that computes the second derivatives of a scalar function.

    Parameters
    ----------
    f : callable
        Returns a scalar.
    argnums : int or tuple of int, default 0
        Positions of the arguments to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of `f`; returns an array whose shape is that of the argument, repeated
        twice. For a tuple `argnums`, returns a tuple of tuples with ∂²f/∂x∂y for each pair of
        arguments.
    """
    if np.ndim(argnums):
        return lambda *args, **kwargs: tuple(
            _jacobian("hessian", _grad("hessian", f, i), argnums)(*args, **kwargs) for i in argnums
        )
    return _jacobian("hessian", _grad("hessian", f, argnums), argnums)


def hvp(f, x, v):
    """Return the Hessian of `f` at `x` times `v`, without building the Hessian.

    The product is the derivative of the gradient along `v`, computed by forward mode over reverse
    mode.

    Parameters
    ----------
    f : callable
        Takes an array and returns a scalar.
    x, v : array_like
        Point and direction, of the same shape.

    Returns
    -------
    array
        The product, in the shape of `x`.

    Raises
    ------
    ValueError
        If the shapes of `x` and `v` differ, or `f` does not return a scalar.

    References
    ----------
    Pearlmutter, "Fast exact multiplication by the Hessian", 1994.
    """
    if np.shape(x) != np.shape(v):
        raise ValueError(f"hvp: expected v of shape {np.shape(x)}, like x, got {np.shape(v)}")
    return _jvp("hvp", _grad("hvp", f), (x,), (v,))[1]
