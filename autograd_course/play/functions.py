"""List the functions that a text of the playground may call, each with the name that PyTorch has for it.

Everything is here that people write in such texts and that is a few operations of the engine. What could make a large array
from a short text (`pad`, `tile`, `broadcast_to`) is not.
"""

import math
from functools import reduce
from typing import NamedTuple

import numpy as np

import autograd_lib as ag


class Function(NamedTuple):
    """Hold the function of the engine that is called, and the name of PyTorch's."""

    call: object
    torch: str


def _largest(*values, **options):
    """Return the maximum of one array or of several values, as Python's, NumPy's and PyTorch's `max` between them do."""
    if len(values) == 1 and isinstance(values[0], (list, tuple)):
        values = values[0]
    return ag.max(*values, **options) if len(values) == 1 else reduce(ag.maximum, values)


def _smallest(*values, **options):
    """Return the minimum, as `_largest` the maximum."""
    if len(values) == 1 and isinstance(values[0], (list, tuple)):
        values = values[0]
    return ag.min(*values, **options) if len(values) == 1 else reduce(ag.minimum, values)


def _total(values, *start, **options):
    """Return the sum of an array's entries, or, as Python's `sum` does, of the values of a list."""
    if isinstance(values, (list, tuple)):
        return reduce(lambda a, b: a + b, values, *start or [0.0])
    return ag.sum(values, *start, **options)


def _norm(x):
    return ag.sqrt(ag.sum(x * x))


def _reshape(x, *shape):
    return ag.reshape(x, shape[0] if len(shape) == 1 else shape)


def _transpose(x, *axes):
    return ag.swapaxes(x, *axes) if axes else ag.transpose(x)


def _binary_cross_entropy(p, target):
    return -ag.mean(target * ag.log(p) + (1 - target) * ag.log(1 - p))


def constant(x):
    """Return the values of `x` as a constant, from which no gradient passes: PyTorch's `detach`."""
    return ag.Tensor(x.data) if isinstance(x, ag.Tensor) else x


def array(x):
    """Return a number, an array or nested lists of them as one value; Tensors among them stay in the graph."""
    if isinstance(x, (list, tuple)):
        parts = [array(part) for part in x]
        if any(isinstance(part, ag.Tensor) for part in parts):
            return ag.stack(parts)
        return np.array(x, dtype=float)
    return x if isinstance(x, ag.Tensor) else np.asarray(x, dtype=float)


F = "torch.nn.functional."
FUNCTIONS = {
    # one value
    "tanh": Function(ag.tanh, "torch.tanh"),
    "sigmoid": Function(ag.sigmoid, "torch.sigmoid"),
    "relu": Function(ag.relu, "torch.relu"),
    "softplus": Function(ag.softplus, F + "softplus"),
    "gelu": Function(ag.gelu, F + "gelu"),
    "silu": Function(lambda x: x * ag.sigmoid(x), F + "silu"),
    "leaky_relu": Function(lambda x: ag.where(x > 0, x, 0.01 * x), F + "leaky_relu"),
    "exp": Function(ag.exp, "torch.exp"),
    "log": Function(ag.log, "torch.log"),
    "ln": Function(ag.log, "torch.log"),
    "log2": Function(lambda x: ag.log(x) / math.log(2), "torch.log2"),
    "log10": Function(lambda x: ag.log(x) / math.log(10), "torch.log10"),
    "log1p": Function(lambda x: ag.log(1 + x), "torch.log1p"),
    "sqrt": Function(ag.sqrt, "torch.sqrt"),
    "square": Function(lambda x: x * x, "torch.square"),
    "reciprocal": Function(lambda x: 1 / x, "torch.reciprocal"),
    "sin": Function(ag.sin, "torch.sin"),
    "cos": Function(ag.cos, "torch.cos"),
    "tan": Function(lambda x: ag.sin(x) / ag.cos(x), "torch.tan"),
    "sinh": Function(lambda x: (ag.exp(x) - ag.exp(-x)) / 2, "torch.sinh"),
    "cosh": Function(lambda x: (ag.exp(x) + ag.exp(-x)) / 2, "torch.cosh"),
    "abs": Function(ag.abs, "torch.abs"),
    "neg": Function(ag.negative, "torch.neg"),
    "negative": Function(ag.negative, "torch.neg"),
    "sign": Function(lambda x: np.sign(constant(x)), "torch.sign"),
    "detach": Function(constant, "detach"),
    "stop_gradient": Function(constant, "detach"),
    "item": Function(constant, "detach"),
    # two values
    "add": Function(ag.add, "torch.add"),
    "sub": Function(ag.subtract, "torch.sub"),
    "subtract": Function(ag.subtract, "torch.sub"),
    "mul": Function(ag.multiply, "torch.mul"),
    "multiply": Function(ag.multiply, "torch.mul"),
    "div": Function(ag.divide, "torch.div"),
    "divide": Function(ag.divide, "torch.div"),
    "pow": Function(ag.power, "torch.pow"),
    "power": Function(ag.power, "torch.pow"),
    "maximum": Function(ag.maximum, "torch.maximum"),
    "minimum": Function(ag.minimum, "torch.minimum"),
    "where": Function(ag.where, "torch.where"),
    "clip": Function(ag.clip, "torch.clamp"),
    "clamp": Function(ag.clip, "torch.clamp"),
    "matmul": Function(ag.matmul, "torch.matmul"),
    "mm": Function(ag.matmul, "torch.matmul"),
    "mv": Function(ag.matmul, "torch.matmul"),
    "dot": Function(ag.matmul, "torch.matmul"),
    "einsum": Function(ag.einsum, "torch.einsum"),
    "linear": Function(lambda x, W, b=0.0: x @ W.T + b, F + "linear"),
    # along an axis
    "sum": Function(_total, "torch.sum"),
    "mean": Function(ag.mean, "torch.mean"),
    "max": Function(_largest, "torch.amax"),
    "min": Function(_smallest, "torch.amin"),
    "amax": Function(_largest, "torch.amax"),
    "amin": Function(_smallest, "torch.amin"),
    "var": Function(ag.var, "torch.var"),
    "std": Function(ag.std, "torch.std"),
    "norm": Function(_norm, "torch.linalg.vector_norm"),
    "softmax": Function(ag.softmax, "torch.softmax"),
    "log_softmax": Function(ag.log_softmax, "torch.log_softmax"),
    "logsumexp": Function(ag.logsumexp, "torch.logsumexp"),
    # losses
    "mse_loss": Function(lambda y, target: ag.mean((y - target) ** 2), F + "mse_loss"),
    "binary_cross_entropy": Function(_binary_cross_entropy, F + "binary_cross_entropy"),
    "binary_cross_entropy_with_logits": Function(
        lambda z, target: ag.mean(ag.softplus(z) - z * target),
        F + "binary_cross_entropy_with_logits",
    ),
    # shapes
    "reshape": Function(_reshape, "torch.reshape"),
    "view": Function(_reshape, "torch.reshape"),
    "flatten": Function(lambda x: ag.reshape(x, -1), "torch.flatten"),
    "transpose": Function(_transpose, "torch.transpose"),
    "t": Function(_transpose, "torch.transpose"),
    "squeeze": Function(ag.squeeze, "torch.squeeze"),
    "unsqueeze": Function(ag.expand_dims, "torch.unsqueeze"),
    "expand_dims": Function(ag.expand_dims, "torch.unsqueeze"),
    "concatenate": Function(ag.concatenate, "torch.cat"),
    "cat": Function(ag.concatenate, "torch.cat"),
    "stack": Function(ag.stack, "torch.stack"),
}
# Keyword arguments without which PyTorch computes something else, or refuses.
TORCH_NEEDS = {
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
    *("as_tensor", "float", "float32", "float64"),
}
MODULES = {
    *("np", "numpy", "math", "torch", "F", "nn", "functional", "linalg", "special", "ag"),
    *("jnp", "jax", "anp", "mx", "tf", "autograd", "lax"),
}


def _shape(name, shape):
    """Return the shape that the arguments of `ones`, `zeros` … state, at most 1,000 entries."""
    shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (list, tuple)) else shape
    shape = tuple(int(size) for size in shape)
    if any(size < 0 for size in shape) or math.prod(shape) > 1000:
        raise ValueError(f"{name}: expected at most 1,000 entries, got the shape {shape}")
    return shape


def _range(start, stop=None, step=1):
    """Return `np.arange` of numbers, at most 1,000 of them."""
    start, stop = (0, start) if stop is None else (start, stop)
    if not step or not abs((stop - start) / step) <= 1000:
        raise ValueError("arange: expected at most 1,000 entries and a nonzero step")
    return np.arange(start, stop, step, dtype=float)


def _spaced(start, stop, num=50):
    """Return `np.linspace` of at most 1,000 numbers."""
    return np.linspace(start, stop, *_shape("linspace", (num,)))


# Arrays made from a shape. Random ones are the same each time: a picture must not change by itself.
ARRAYS = {
    "ones": lambda *shape: np.ones(_shape("ones", shape)),
    "zeros": lambda *shape: np.zeros(_shape("zeros", shape)),
    "full": lambda shape, value: np.full(_shape("full", (shape,)), float(value)),
    "eye": lambda n: np.eye(_shape("eye", (n, n))[0]),
    "arange": _range,
    "linspace": _spaced,
    "rand": lambda *shape: np.random.default_rng(0).random(_shape("rand", shape)).round(2),
    "randn": lambda *shape: np.random.default_rng(0).normal(size=_shape("randn", shape)).round(2),
    "ones_like": lambda x: np.ones(np.shape(constant(x))),
    "zeros_like": lambda x: np.zeros(np.shape(constant(x))),
}
