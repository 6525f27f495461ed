"""Initial values of weights, as in torch.nn.init: each function fills and returns a Tensor.

A weight has shape (fan_out, fan_in), or (fan_out, fan_in, kh, kw), where every kernel entry counts.
The variance of the values is gain² over the mean of both fans (xavier) or over fan_in (kaiming), so
that signals keep their size from layer to layer.
"""

import math

import numpy as np

from ..tape import Tensor

# How much larger the weights have to be to make up for the activation:
# torch.nn.init.calculate_gain.
_GAINS = {"linear": 1.0, "sigmoid": 1.0, "tanh": 5 / 3, "relu": math.sqrt(2)}


def __getattr__(name):
    """Raise AttributeError for a name of torch.nn.init that is missing here."""
    raise AttributeError(
        f"autograd_lib.nn.init has no {name}: assign the values, as in "
        "weight.data = np.zeros(weight.shape)"
    )


def calculate_gain(nonlinearity):
    """Return the recommended gain of an activation function.

    Parameters
    ----------
    nonlinearity : {"linear", "sigmoid", "tanh", "relu"}
        The activation function.

    Returns
    -------
    float
        1, 1, 5/3 or √2.

    Raises
    ------
    ValueError
        If `nonlinearity` is another.
    """
    if nonlinearity not in _GAINS:
        raise ValueError(
            f"calculate_gain: nonlinearity must be one of {', '.join(_GAINS)}, got {nonlinearity!r}"
        )
    return _GAINS[nonlinearity]


def xavier_uniform_(tensor, gain=1.0, rng=None):
    """Fill `tensor` uniformly, with variance 2·gain²/(fan_in + fan_out).

    Parameters
    ----------
    tensor : Tensor
        A leaf of shape (fan_out, fan_in) or (fan_out, fan_in, kh, kw).
    gain : float, default 1
        Factor of the standard deviation.
    rng : numpy.random.Generator or int, optional
        Generator or seed.

    Returns
    -------
    Tensor
        The same Tensor.

    References
    ----------
    Glorot and Bengio (2010), equation 16.
    """
    return _uniform(tensor, gain / math.sqrt(sum(_fans(tensor)) / 2), rng)


def xavier_normal_(tensor, gain=1.0, rng=None):
    """Fill `tensor` from a normal distribution with variance 2·gain²/(fan_in + fan_out).

    Parameters
    ----------
    tensor, gain, rng
        As for `xavier_uniform_`.

    Returns
    -------
    Tensor
        The same Tensor.

    References
    ----------
    Glorot and Bengio (2010), equation 12.
    """
    return _normal(tensor, gain / math.sqrt(sum(_fans(tensor)) / 2), rng)


def kaiming_uniform_(tensor, nonlinearity="relu", rng=None):
    """Fill `tensor` uniformly, with variance gain²/fan_in.

    Parameters
    ----------
    tensor : Tensor
        A leaf of shape (fan_out, fan_in) or (fan_out, fan_in, kh, kw).
    nonlinearity : {"linear", "sigmoid", "tanh", "relu"}, default "relu"
        The activation function that follows, whose gain is used.
    rng : numpy.random.Generator or int, optional
        Generator or seed.

    Returns
    -------
    Tensor
        The same Tensor.

    References
    ----------
    He et al. (2015), equation 10.
    """
    return _uniform(tensor, calculate_gain(nonlinearity) / math.sqrt(_fans(tensor)[0]), rng)


def kaiming_normal_(tensor, nonlinearity="relu", rng=None):
    """Fill `tensor` from a normal distribution with variance gain²/fan_in.

    Parameters
    ----------
    tensor, nonlinearity, rng
        As for `kaiming_uniform_`.

    Returns
    -------
    Tensor
        The same Tensor.

    References
    ----------
    He et al. (2015), equation 10.
    """
    return _normal(tensor, calculate_gain(nonlinearity) / math.sqrt(_fans(tensor)[0]), rng)


def _fans(tensor):
    if not isinstance(tensor, Tensor):
        raise TypeError(
            "nn.init: expected a Tensor, such as the weight of a layer, to fill with starting "
            f"values, got {type(tensor).__name__}"
        )
    if tensor.op is not None or tensor.dtype.kind != "f":
        raise TypeError(
            "nn.init: expected a floating-point leaf to fill with starting values, got "
            + (f"the result of {tensor.op.name}" if tensor.op else f"a leaf of {tensor.dtype}")
        )
    if tensor.ndim < 2:
        raise ValueError(
            f"nn.init: expected a weight of shape (fan_out, fan_in, …), got {tensor.shape}; "
            "assign the values of a bias, as in bias.data = np.zeros(bias.shape)"
        )
    window = math.prod(tensor.shape[2:])
    return tensor.shape[1] * window, tensor.shape[0] * window


def _uniform(tensor, std, rng):
    tensor.data = (
        np.random.default_rng(rng)
        .uniform(-math.sqrt(3) * std, math.sqrt(3) * std, tensor.shape)
        .astype(tensor.dtype)
    )
    return tensor


def _normal(tensor, std, rng):
    tensor.data = np.random.default_rng(rng).normal(0, std, tensor.shape).astype(tensor.dtype)
    return tensor
