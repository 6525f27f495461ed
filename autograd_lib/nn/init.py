"""Initial values of weights, as in torch.nn.init: each function fills and returns a Tensor.

A weight has shape (fan_out, fan_in). For kernels (K, C, kh, kw), fan_out is K·kh·kw and fan_in is
C·kh·kw. The variance of the values is gain² divided by the mean of both fans (xavier) or by fan_in
(kaiming), so that signals keep their size from layer to layer.
"""

import math

from ..hints import as_generator
from ..tape import Tensor

# How much larger the weights have to be to make up for the activation:
# torch.nn.init.calculate_gain.
_GAINS = {"linear": 1.0, "sigmoid": 1.0, "tanh": 5 / 3, "relu": math.sqrt(2)}


def __getattr__(name):
    """Raise AttributeError for a name of torch.nn.init that is missing here."""
    raise AttributeError(
        f"autograd_lib.nn.init has no attribute {name!r}: assign the values, as in "
        "weight.data = np.zeros(weight.shape)"
    )


def calculate_gain(nonlinearity):
    """Return the recommended gain: a factor for the initial weights before an activation function.

    Parameters
    ----------
    nonlinearity : {"linear", "sigmoid", "tanh", "relu"}
        The name of the activation function.

    Returns
    -------
    float
        The gain: 1 for "linear" and "sigmoid", 5/3 for "tanh", √2 for "relu".

    Raises
    ------
    ValueError
        If `nonlinearity` is not one of these names.
    """
    if nonlinearity not in _GAINS:
        raise ValueError(
            f"calculate_gain: nonlinearity must be one of {', '.join(_GAINS)}, got {nonlinearity!r}"
        )
    return _GAINS[nonlinearity]


def xavier_uniform_(tensor, gain=1.0, rng=None):
    """Fill `tensor` with uniform random values of mean 0 and variance 2·gain²/(fan_in + fan_out).

    Parameters
    ----------
    tensor : Tensor
        A leaf of floating dtype and of shape (fan_out, fan_in) or (K, C, kh, kw). For kernels,
        fan_out is K·kh·kw and fan_in is C·kh·kw.
    gain : float, default 1
        Factor by which the standard deviation is multiplied.
    rng : numpy.random.Generator or int, optional
        Generator or seed.

    Returns
    -------
    Tensor
        The argument `tensor`.

    Raises
    ------
    TypeError
        If `tensor` is not a leaf of floating dtype.
    ValueError
        If `tensor` has fewer than two axes.

    References
    ----------
    Glorot and Bengio (2010), equation 16.
    """
    return _uniform(
        tensor,
        gain / math.sqrt(sum(_fans("xavier_uniform_", tensor)) / 2),
        as_generator(rng, "xavier_uniform_"),
    )


def xavier_normal_(tensor, gain=1.0, rng=None):
    """Fill `tensor` with normal random values of mean 0 and variance 2·gain²/(fan_in + fan_out).

    Parameters
    ----------
    tensor, gain, rng
        As for `xavier_uniform_`.

    Returns
    -------
    Tensor
        The argument `tensor`.

    Raises
    ------
    TypeError, ValueError
        As for `xavier_uniform_`.

    References
    ----------
    Glorot and Bengio (2010), equation 12.
    """
    return _normal(
        tensor,
        gain / math.sqrt(sum(_fans("xavier_normal_", tensor)) / 2),
        as_generator(rng, "xavier_normal_"),
    )


def kaiming_uniform_(tensor, nonlinearity="relu", rng=None):
    """Fill `tensor` with uniform random values of mean 0 and variance gain²/fan_in.

    Parameters
    ----------
    tensor : Tensor
        As for `xavier_uniform_`.
    nonlinearity : {"linear", "sigmoid", "tanh", "relu"}, default "relu"
        The activation function after the layer, whose gain is `calculate_gain(nonlinearity)`.
    rng : numpy.random.Generator or int, optional
        Generator or seed.

    Returns
    -------
    Tensor
        The argument `tensor`.

    Raises
    ------
    TypeError, ValueError
        As for `xavier_uniform_`. Also ValueError if `nonlinearity` is unknown.

    References
    ----------
    He et al. (2015), equation 10.
    """
    return _uniform(
        tensor,
        calculate_gain(nonlinearity) / math.sqrt(_fans("kaiming_uniform_", tensor)[0]),
        as_generator(rng, "kaiming_uniform_"),
    )


def kaiming_normal_(tensor, nonlinearity="relu", rng=None):
    """Fill `tensor` with normal random values of mean 0 and variance gain²/fan_in.

    Parameters
    ----------
    tensor, nonlinearity, rng
        As for `kaiming_uniform_`.

    Returns
    -------
    Tensor
        The argument `tensor`.

    Raises
    ------
    TypeError, ValueError
        As for `xavier_uniform_`. Also ValueError if `nonlinearity` is unknown.

    References
    ----------
    He et al. (2015), equation 10.
    """
    return _normal(
        tensor,
        calculate_gain(nonlinearity) / math.sqrt(_fans("kaiming_normal_", tensor)[0]),
        as_generator(rng, "kaiming_normal_"),
    )


def _fans(name, tensor):
    """Check `tensor`, and return its fan_in and fan_out.

    Errors begin with `name`, the name of the public function.
    """
    if not isinstance(tensor, Tensor) or tensor.op is not None or tensor.dtype.kind != "f":
        raise TypeError(
            f"{name}: expected a leaf Tensor of floating dtype, such as the weight of a layer, got "
            + (
                f"the result of {tensor.op.name}"
                if getattr(tensor, "op", None)
                else type(tensor).__name__
                + f" of dtype {getattr(tensor, 'dtype', None)}" * hasattr(tensor, "dtype")
            )
        )
    if tensor.ndim < 2:
        raise ValueError(
            f"{name}: expected a weight of shape (fan_out, fan_in, …), got {tensor.shape}; "
            "assign the values of a bias, as in bias.data = np.zeros(bias.shape)"
        )
    return math.prod(tensor.shape[1:]), tensor.shape[0] * math.prod(tensor.shape[2:])


def _uniform(tensor, std, rng):
    tensor.data = rng.uniform(-math.sqrt(3) * std, math.sqrt(3) * std, tensor.shape).astype(
        tensor.dtype
    )
    return tensor


def _normal(tensor, std, rng):
    tensor.data = rng.normal(0, std, tensor.shape).astype(tensor.dtype)
    return tensor
