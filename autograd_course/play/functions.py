"""List the functions that a text of the playground may call, each with its name in PyTorch.

The list contains the functions that people use in such texts and that need only a few operations of
the engine. It leaves out functions that can make a large array from a short text (`pad`, `tile`,
`broadcast_to`).
"""

import math
from functools import reduce
from typing import NamedTuple

import numpy as np

import autograd_lib as ag

MOST_ENTRIES = 1000  # of an array


class Function(NamedTuple):
    """Hold a function of the engine and the name of the same function in PyTorch.

    Attributes
    ----------
    call : callable
        The function of the engine.
    torch : str
        The name in PyTorch, such as "torch.tanh".
    """

    call: object
    torch: str


def _largest(*values, **options):
    """Return the maximum of one array, or the elementwise maximum of several values.

    The arguments may be written as for the `max` of Python, NumPy or PyTorch.
    """
    if len(values) == 1 and isinstance(values[0], (list, tuple)):
        values = values[0]
    return ag.max(*values, **options) if len(values) == 1 else reduce(ag.maximum, values)


def _smallest(*values, **options):
    """Return the minimum of one array, or the elementwise minimum of several values.

    The arguments may be written as for the `min` of Python, NumPy or PyTorch.
    """
    if len(values) == 1 and isinstance(values[0], (list, tuple)):
        values = values[0]
    return ag.min(*values, **options) if len(values) == 1 else reduce(ag.minimum, values)


def _total(values, *start, **options):
    """Return the sum of an array's entries, or of the values in a list.

    The second argument is NumPy's `axis` for an array, and the start value of Python's `sum` for a
    list.
    """
    if isinstance(values, (list, tuple)):
        return reduce(lambda a, b: a + b, values, *start or [0.0])
    return ag.sum(values, *start, **options)


def _norm(x, p=2, axis=None, keepdims=False, ord=2):
    """Return the 1-norm or the 2-norm of x, over all entries or along an axis.

    `p` and `ord` are two names for the order of the norm: if either is 1, the result is the 1-norm.
    Other orders raise ValueError.
    """
    if p == 1 or ord == 1:
        return ag.sum(ag.abs(x), axis=axis, keepdims=keepdims)
    if p not in (2, None, "fro") or ord not in (2, None):
        order = p if ord == 2 else ord
        raise ValueError(
            f"norm: expected p = 1 or 2, got {order}; write another norm as sum(abs(x)**p)**(1/p)"
        )
    # At 0 the gradient is 0, as PyTorch's; the square root would make it nan.
    if axis is None and not np.any(constant_data(x)):
        return ag.sum(ag.abs(x))
    return ag.sqrt(ag.sum(x * x, axis=axis, keepdims=keepdims))


def _normalize(x, axis=-1):
    """Return x divided by its 2-norm along an axis, like PyTorch's `normalize`."""
    return x / ag.maximum(ag.sqrt(ag.sum(x * x, axis=axis, keepdims=True)), 1e-12)


def _product(x, axis=None):
    """Return the product of all entries of x, or the products along one axis."""
    x = ag.reshape(x, -1) if axis is None else ag.swapaxes(x, int(axis), 0)
    return reduce(ag.multiply, [x[i] for i in range(len(x))])


def _expand_as(x, like):
    return ag.broadcast_to(x, np.shape(constant_data(like)))


def _size(x, axis=None):
    """Return the shape of x as a list, or the length of one axis, like PyTorch's `x.size()`."""
    shape = np.shape(constant_data(x))
    return list(shape) if axis is None else shape[int(axis)]


def _linear(x, W, b=0.0):
    """Return `x @ W.T + b`, like PyTorch's `linear`; raise ValueError if x is a single number."""
    if not np.ndim(constant_data(x)):
        n = np.shape(constant_data(W))[-1]
        raise ValueError(
            f"linear: expected an array, got a number; add a line such as x = torch.ones({n})"
        )
    return x @ W.T + b


def _reduced(losses, reduction):
    """Return the mean of the losses, their sum, or the losses unchanged.

    `reduction` is "mean", "sum" or "none", as in PyTorch; another value raises ValueError.
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction: expected 'mean', 'sum' or 'none', got {reduction!r}")
    return {"mean": ag.mean, "sum": ag.sum, "none": lambda one: one}[reduction](losses)


def _loss(entries):
    """Return a function (prediction, target, reduction="mean") that computes a loss.

    `entries(prediction, target)` returns the loss of every entry as an array; the returned function
    reduces this array to its mean or sum, or returns it unchanged if `reduction` is "none".
    """

    def loss(prediction, target, reduction="mean"):
        return _reduced(entries(prediction, target), reduction)

    return loss


def _cross_entropy(z, target, reduction="mean"):
    """Return the cross-entropy of the scores z, of shape (classes,) or (rows, classes).

    The target is the number of the right class, the numbers of the right classes (one for each
    row), or an array of probabilities with the shape of z. `reduction` is "mean", "sum" or "none".
    """
    if np.ndim(constant_data(z)) not in (1, 2):
        raise ValueError(
            "cross_entropy: expected scores in an array with 1 or 2 axes, such as z = [2, 1, -1], "
            f"got {np.ndim(constant_data(z))} axes"
        )
    logs = ag.log_softmax(z)
    if np.shape(constant_data(target)) == z.shape:
        return _reduced(-ag.sum(target * logs, axis=-1), reduction)
    return _nll(logs, target, reduction, name="cross_entropy")


def _nll(logs, target, reduction="mean", name="nll_loss"):
    """Return the negative log-likelihood of the classes in `target`, like PyTorch's `nll_loss`.

    `logs` holds log-probabilities, of shape (classes,) or (rows, classes). `reduction` is "mean",
    "sum" or "none". `name` is the function's name, for the error message.
    """
    classes = np.asarray(constant_data(target)).astype(int)
    if np.any((classes < 0) | (classes >= logs.shape[-1])):
        raise ValueError(
            f"{name}: expected target classes from 0 to {logs.shape[-1] - 1}, got {classes.tolist()}"
        )
    rows = (np.arange(len(classes)),) if logs.ndim == 2 else ()
    return _reduced(-logs[(*rows, classes)], reduction)


def _spread(function):
    """Wrap `function`, the engine's `var` or `std`, to accept PyTorch's keywords as well.

    These are `unbiased` and `correction`; both set the `ddof` of `function`.
    """

    def spread(x, axis=None, ddof=0, unbiased=False, correction=None, **options):
        ddof = correction if correction is not None else int(unbiased) or ddof
        return function(x, axis=axis, ddof=ddof, **options)

    return spread


def _permute(x, *axes):
    return ag.transpose(x, tuple(axes[0] if isinstance(axes[0], (list, tuple)) else axes))


def _reshape(x, *shape):
    return ag.reshape(x, shape[0] if len(shape) == 1 else shape)


def _transpose(x, *axes):
    return ag.swapaxes(x, *axes) if axes else ag.transpose(x)


def _huber(y, target):
    d = ag.abs(y - target)
    return ag.where(d < 1, d * d / 2, d - 0.5)


def _binary_cross_entropy(p, target):
    return -(target * ag.log(p) + (1 - target) * ag.log(1 - p))


def constant(x):
    """Return a new Tensor with the value of `x` and no gradient, like PyTorch's `detach`.

    Anything but a Tensor is returned unchanged.
    """
    return ag.Tensor(x.data) if isinstance(x, ag.Tensor) else x


def constant_data(x):
    """Return the NumPy array of a Tensor `x`; return anything else unchanged."""
    return x.data if isinstance(x, ag.Tensor) else x


def array(x):
    """Convert a number, an array, or nested lists of numbers and Tensors to one array or Tensor.

    If `x` is a Tensor, return it unchanged. If a list contains a Tensor, the result is a Tensor,
    and gradients flow back through it to the Tensors in the list. Otherwise, the result is an array
    of dtype float64.
    """
    if isinstance(x, (list, tuple)):
        parts = [array(part) for part in x]
        if any(isinstance(part, ag.Tensor) for part in parts):
            return ag.stack(parts)
        return np.array(x, dtype=float)
    return x if isinstance(x, ag.Tensor) else np.asarray(x, dtype=float)


ARCTAN = ag.elementwise(np.arctan, lambda g, z, x: g / (1 + x * x), name="arctan")
ARCSIN = ag.elementwise(np.arcsin, lambda g, z, x: g / ag.sqrt(1 - x * x), name="arcsin")
ARCCOS = ag.elementwise(np.arccos, lambda g, z, x: -g / ag.sqrt(1 - x * x), name="arccos")
ERF = ag.elementwise(
    np.vectorize(math.erf, otypes=[float]),
    lambda g, z, x: g * 2 / math.sqrt(math.pi) * ag.exp(-x * x),
    name="erf",
)
CBRT = ag.elementwise(np.cbrt, lambda g, z, x: g / (3 * z * z), name="cbrt")


def _leaky_relu(x, negative_slope=0.01):
    return ag.where(x > 0, x, negative_slope * x)


def _gelu(x, approximate="tanh"):
    """Return gelu(x), computed with the tanh formula or exactly.

    The tanh formula is used if `approximate` is "tanh" or True, the exact formula otherwise.
    """
    if approximate in ("tanh", True):
        return ag.gelu(x)
    return x / 2 * (1 + ERF(x / math.sqrt(2)))


def _elu(x, alpha=1.0):
    return ag.where(x > 0, x, alpha * (ag.exp(ag.minimum(x, 0)) - 1))


F = "torch.nn.functional."
FUNCTIONS = {
    # one value
    "tanh": Function(ag.tanh, "torch.tanh"),
    "sigmoid": Function(ag.sigmoid, "torch.sigmoid"),
    "relu": Function(ag.relu, "torch.relu"),
    "softplus": Function(ag.softplus, F + "softplus"),
    "gelu": Function(_gelu, F + "gelu"),
    "erf": Function(ERF, "torch.erf"),
    "silu": Function(lambda x: x * ag.sigmoid(x), F + "silu"),
    "leaky_relu": Function(_leaky_relu, F + "leaky_relu"),
    "exp": Function(ag.exp, "torch.exp"),
    "logsigmoid": Function(lambda x: -ag.softplus(-x), F + "logsigmoid"),
    "elu": Function(_elu, F + "elu"),
    "log": Function(ag.log, "torch.log"),
    "log2": Function(lambda x: ag.log(x) / math.log(2), "torch.log2"),
    "log10": Function(lambda x: ag.log(x) / math.log(10), "torch.log10"),
    "log1p": Function(lambda x: ag.log(1 + x), "torch.log1p"),
    "sqrt": Function(ag.sqrt, "torch.sqrt"),
    "square": Function(lambda x: x * x, "torch.square"),
    "reciprocal": Function(lambda x: 1 / x, "torch.reciprocal"),
    "sin": Function(ag.sin, "torch.sin"),
    "cos": Function(ag.cos, "torch.cos"),
    "tan": Function(lambda x: ag.sin(x) / ag.cos(x), "torch.tan"),
    "sec": Function(lambda x: 1 / ag.cos(x), "1/torch.cos"),
    "csc": Function(lambda x: 1 / ag.sin(x), "1/torch.sin"),
    "cot": Function(lambda x: ag.cos(x) / ag.sin(x), "1/torch.tan"),
    "arcsin": Function(ARCSIN, "torch.arcsin"),
    "arccos": Function(ARCCOS, "torch.arccos"),
    "arctan": Function(ARCTAN, "torch.arctan"),
    "cbrt": Function(CBRT, "cbrt"),
    "sinh": Function(lambda x: (ag.exp(x) - ag.exp(-x)) / 2, "torch.sinh"),
    "cosh": Function(lambda x: (ag.exp(x) + ag.exp(-x)) / 2, "torch.cosh"),
    "abs": Function(ag.abs, "torch.abs"),
    "negative": Function(ag.negative, "torch.neg"),
    "sign": Function(lambda x: np.sign(constant(x)), "torch.sign"),
    "round": Function(lambda x: np.round(constant(x)), "torch.round"),
    "floor": Function(lambda x: np.floor(constant(x)), "torch.floor"),
    "ceil": Function(lambda x: np.ceil(constant(x)), "torch.ceil"),
    "detach": Function(constant, "detach"),
    # two values
    "add": Function(ag.add, "torch.add"),
    "subtract": Function(ag.subtract, "torch.sub"),
    "multiply": Function(ag.multiply, "torch.mul"),
    "divide": Function(ag.divide, "torch.div"),
    "power": Function(ag.power, "torch.pow"),
    "maximum": Function(ag.maximum, "torch.maximum"),
    "minimum": Function(ag.minimum, "torch.minimum"),
    "where": Function(ag.where, "torch.where"),
    "clip": Function(ag.clip, "torch.clamp"),
    "matmul": Function(ag.matmul, "torch.matmul"),
    "outer": Function(lambda x, y: ag.reshape(x, (-1, 1)) * y, "torch.outer"),
    "einsum": Function(ag.einsum, "torch.einsum"),
    "linear": Function(_linear, F + "linear"),
    # along an axis
    "sum": Function(_total, "torch.sum"),
    "mean": Function(ag.mean, "torch.mean"),
    "prod": Function(_product, "torch.prod"),
    "max": Function(_largest, "torch.amax"),
    "min": Function(_smallest, "torch.amin"),
    "var": Function(_spread(ag.var), "torch.var"),
    "std": Function(_spread(ag.std), "torch.std"),
    "norm": Function(_norm, "torch.linalg.vector_norm"),
    "normalize": Function(_normalize, F + "normalize"),
    "softmax": Function(ag.softmax, "torch.softmax"),
    "log_softmax": Function(ag.log_softmax, "torch.log_softmax"),
    "logsumexp": Function(ag.logsumexp, "torch.logsumexp"),
    # losses
    "mse_loss": Function(_loss(lambda y, target: (y - target) ** 2), F + "mse_loss"),
    "cross_entropy": Function(_cross_entropy, F + "cross_entropy"),
    "nll_loss": Function(_nll, F + "nll_loss"),
    "smooth_l1_loss": Function(_loss(_huber), F + "smooth_l1_loss"),
    "huber_loss": Function(_loss(_huber), F + "huber_loss"),
    "l1_loss": Function(_loss(lambda y, target: ag.abs(y - target)), F + "l1_loss"),
    "binary_cross_entropy": Function(_loss(_binary_cross_entropy), F + "binary_cross_entropy"),
    "binary_cross_entropy_with_logits": Function(
        _loss(lambda z, target: ag.softplus(z) - z * target),
        F + "binary_cross_entropy_with_logits",
    ),
    # shapes
    "size": Function(_size, "size"),
    "reshape": Function(_reshape, "torch.reshape"),
    "flatten": Function(lambda x: ag.reshape(x, -1), "torch.flatten"),
    "expand_as": Function(_expand_as, "torch.Tensor.expand_as"),
    "permute": Function(_permute, "torch.permute"),
    "transpose": Function(_transpose, "torch.transpose"),
    "squeeze": Function(ag.squeeze, "torch.squeeze"),
    "unsqueeze": Function(ag.expand_dims, "torch.unsqueeze"),
    "concatenate": Function(ag.concatenate, "torch.cat"),
    "stack": Function(ag.stack, "torch.stack"),
}
# Other names of the same functions, in PyTorch, JAX, NumPy, TensorFlow and mathematics.
SPELLINGS = {
    "log": ("ln",),
    "sigmoid": ("expit",),
    "csc": ("cosec",),
    "arcsin": ("asin",),
    "arccos": ("acos",),
    "arctan": ("atan",),
    "abs": ("fabs", "absolute"),
    "negative": ("neg",),
    "detach": ("stop_gradient", "item", "asscalar"),
    "subtract": ("sub",),
    "multiply": ("mul",),
    "divide": ("div",),
    "power": ("pow",),
    "clip": ("clamp",),
    "where": ("select",),
    "matmul": ("mm", "mv", "dot", "bmm"),
    "sum": ("reduce_sum",),
    "mean": ("reduce_mean",),
    "max": ("reduce_max", "amax"),
    "min": ("amin",),
    "reshape": ("view",),
    "transpose": ("t",),
    "unsqueeze": ("expand_dims",),
    "concatenate": ("cat",),
}
FUNCTIONS |= {name: FUNCTIONS[of] for of, names in SPELLINGS.items() for name in names}
# Keyword arguments without which PyTorch computes something else, or refuses.
TORCH_NEEDS = {
    "normalize": {"dim": -1},
    "softmax": {"dim": -1},
    "log_softmax": {"dim": -1},
    "logsumexp": {"dim": -1},
    "var": {"correction": 0},
    "std": {"correction": 0},
    "gelu": {"approximate": "tanh"},
}

CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "True": True, "False": False}

# Names that turn a number or a list into a value of some library.
CONSTRUCTORS = {
    *("Value", "Scalar", "Variable", "Parameter", "Tensor", "tensor", "array", "asarray"),
    *("as_tensor", "float", "float32", "float64", "constant", "FloatTensor", "DoubleTensor"),
    *("LongTensor", "convert_to_tensor", "from_numpy"),
}
MODULES = {
    *("np", "numpy", "math", "torch", "F", "nn", "functional", "linalg", "special", "ag"),
    *("jnp", "jax", "anp", "mx", "tf", "autograd", "lax", "nd", "npx", "random", "keras"),
    *("losses", "activations", "scipy", "Tensor"),
}


def _shape(name, shape):
    """Return a shape as a tuple of integers, and raise ValueError if it is not valid.

    A size may not be negative, and the array may have at most 1,000 entries.

    `shape` holds the positional arguments of `ones`, `zeros` or a similar function: either the sizes
    of the axes or one list of them. `name` is the function's name, for the error message.
    """
    shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (list, tuple)) else shape
    shape = tuple(int(size) for size in shape)
    if any(size < 0 for size in shape):
        raise ValueError(f"{name}: expected a shape of sizes >= 0, got {shape}")
    if math.prod(shape) > MOST_ENTRIES:
        raise ValueError(
            f"{name}: expected at most {MOST_ENTRIES:,} entries, got shape {shape}; use a smaller shape"
        )
    return shape


def _range(start, stop=None, step=1):
    """Return the array of `np.arange`, and raise ValueError if it would have over 1,000 entries."""
    start, stop = (0, start) if stop is None else (start, stop)
    if not step or not abs((stop - start) / step) <= 1000:
        raise ValueError(
            "arange: expected at most 1,000 entries and a nonzero step, "
            f"got {', '.join(str(constant_data(one)) for one in (start, stop, step))}; use a smaller range"
        )
    return np.arange(start, stop, step, dtype=float)


def _spaced(start, stop, num=50, steps=None):
    """Return the array of `np.linspace`, and raise ValueError if it would have over 1,000 entries.

    `steps` is PyTorch's name for `num`.
    """
    return np.linspace(start, stop, *_shape("linspace", (num if steps is None else steps,)))


def _random(name, draw, scaled=False):
    """Return a function that draws random numbers, like `np.random.rand` or `np.random.normal`.

    The returned function draws the same numbers at each call with the same `seed`, which is 0 by
    default, so that a picture does not change when it is drawn again.

    Parameters
    ----------
    name : str
        The function's name, for the error message.
    draw : callable
        `draw(generator, shape)` returns an array of random numbers.
    scaled : bool
        If True, the returned function takes the location and the scale before the shape, as
        `np.random.normal` does.
    """

    def make(*given, size=None, shape=None, loc=0.0, scale=1.0, mean=None, stddev=None, seed=0):
        lists = [one for one in given if isinstance(one, (list, tuple))]
        numbers = [one for one in given if not isinstance(one, (list, tuple))]
        if scaled:
            loc, scale, *size_given = [*numbers, *(loc, scale)[len(numbers) :]]
        else:
            size_given = numbers
        loc, scale = (old if new is None else new for old, new in ((loc, mean), (scale, stddev)))
        for one in (size, shape, *lists):
            size_given = size_given if one is None else one
        size_given = size_given if isinstance(size_given, (list, tuple)) else [size_given]
        values = draw(np.random.default_rng(seed), _shape(name, size_given)).round(2)
        return loc + scale * values if scaled else values

    return make


def _uniform(*given, low=None, high=None, minval=None, maxval=None, **size):
    """Return an array of random numbers between two limits, which are 0 and 1 by default.

    The limits are the first two numbers in `given`, or the keywords of NumPy (`low`, `high`) or of
    TensorFlow and JAX (`minval`, `maxval`). The shape follows the limits, or is a keyword in `size`.
    """
    limits = [one for one in given if not isinstance(one, (list, tuple))]
    low, high = (
        next((one for one in several if one is not None), default)
        for several, default in (
            ((low, minval, *limits[:1]), 0.0),
            ((high, maxval, *limits[1:2]), 1.0),
        )
    )
    return _random("uniform", np.random.Generator.random, scaled=True)(
        low,
        high - low,
        *limits[2:],
        *(one for one in given if isinstance(one, (list, tuple))),
        **size,
    )


def _integers(*given, low=0, high=None, size=None, seed=0):
    """Return an array of random integers from `low`, which is 0 by default, to `high` − 1.

    The limits can also be the numbers in `given`: only `high`, or `low` and `high`. The shape can
    be passed as `size`, or in `given` as a list or as the third number. Without a shape, the result
    is a single number.
    """
    limits = [one for one in given if not isinstance(one, (list, tuple))]
    for one in given:
        size = one if isinstance(one, (list, tuple)) else size
    if len(limits) > 2:
        size = limits.pop()
    low, high = [low, high] if not limits else [0, *limits][-2:]
    size = size if isinstance(size, (list, tuple)) else () if size is None else [size]
    shape = _shape("randint", [size])
    if not low < high:
        raise ValueError(f"randint: expected low < high, got low = {low} and high = {high}")
    return np.random.default_rng(seed).integers(int(low), int(high), shape).astype(float)


RANDOM = {
    "randint": _integers,
    "rand": _random("rand", np.random.Generator.random),
    "random": _random("random", np.random.Generator.random),
    "randn": _random("randn", np.random.Generator.standard_normal),
    "normal": _random("normal", np.random.Generator.standard_normal, scaled=True),
    "uniform": _uniform,
}
# Arrays made from a shape.
ARRAYS = RANDOM | {
    "ones": lambda *shape: np.ones(_shape("ones", shape)),
    "zeros": lambda *shape: np.zeros(_shape("zeros", shape)),
    "full": lambda shape, value: np.full(_shape("full", (shape,)), float(value)),
    "eye": lambda n, m=None: np.eye(*_shape("eye", (n, n if m is None else m))),
    "arange": _range,
    "linspace": _spaced,
    "ones_like": lambda x: np.ones(np.shape(constant(x))),
    "zeros_like": lambda x: np.zeros(np.shape(constant(x))),
}
