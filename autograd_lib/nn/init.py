"""Starting values for weights, as in torch.nn.init: each function fills a Tensor in place and returns it.

A weight has shape (fan_out, fan_in), or (fan_out, fan_in, kh, kw), where every kernel entry counts. The variance of the values is
gain² over the mean of both fans (xavier) or over fan_in (kaiming), so that signals keep their size from layer to layer.
`rng` is a NumPy Generator or a seed.
"""

import math

import numpy as np

from ..tape import Tensor

# How much larger weights have to be to make up for what the activation takes away: torch.nn.init.calculate_gain.
_GAINS = {"linear": 1.0, "sigmoid": 1.0, "tanh": 5 / 3, "relu": math.sqrt(2)}


def __getattr__(name):
    """The names of torch.nn.init that are not here."""
    raise AttributeError(
        f"autograd_lib.nn.init has no {name}: assign, as in weight.data = np.zeros(weight.shape)"
    )


def calculate_gain(nonlinearity):
    """The gain recommended for "linear", "sigmoid", "tanh" (5/3) or "relu" (√2). Raises ValueError for another."""
    if nonlinearity not in _GAINS:
        raise ValueError(
            f"calculate_gain: nonlinearity is one of {', '.join(_GAINS)}, not {nonlinearity!r}"
        )
    return _GAINS[nonlinearity]


def xavier_uniform_(tensor, gain=1.0, rng=None):
    """Glorot and Bengio (2010), equation 16: uniform, with variance 2·gain²/(fan_in + fan_out)."""
    return _uniform(tensor, gain / math.sqrt(sum(_fans(tensor)) / 2), rng)


def xavier_normal_(tensor, gain=1.0, rng=None):
    """As `xavier_uniform_`, from a normal distribution."""
    return _normal(tensor, gain / math.sqrt(sum(_fans(tensor)) / 2), rng)


def kaiming_uniform_(tensor, nonlinearity="relu", rng=None):
    """He et al. (2015), equation 10: uniform, with variance gain²/fan_in, the gain that of the nonlinearity that follows."""
    return _uniform(tensor, calculate_gain(nonlinearity) / math.sqrt(_fans(tensor)[0]), rng)


def kaiming_normal_(tensor, nonlinearity="relu", rng=None):
    """As `kaiming_uniform_`, from a normal distribution."""
    return _normal(tensor, calculate_gain(nonlinearity) / math.sqrt(_fans(tensor)[0]), rng)


def _fans(tensor):
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"a starting value is for a Tensor, such as a layer's weight, not {type(tensor).__name__}"
        )
    if tensor.op is not None or tensor.dtype.kind != "f":
        raise TypeError(
            "a starting value is for a leaf of floating-point numbers, not for "
            + (f"the result of {tensor.op.name}" if tensor.op else f"one of {tensor.dtype}")
        )
    if tensor.ndim < 2:
        raise ValueError(
            f"a weight of shape (fan_out, fan_in, …) is needed to count its inputs, not {tensor.shape}"
        )
    window = math.prod(tensor.shape[2:])
    return tensor.shape[1] * window, tensor.shape[0] * window


def _uniform(tensor, std, rng):
    bound = math.sqrt(3) * std
    tensor.data = (
        np.random.default_rng(rng).uniform(-bound, bound, tensor.shape).astype(tensor.dtype)
    )
    return tensor


def _normal(tensor, std, rng):
    tensor.data = np.random.default_rng(rng).normal(0, std, tensor.shape).astype(tensor.dtype)
    return tensor
