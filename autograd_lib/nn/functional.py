"""Losses, as in torch.nn.functional."""

import numpy as np

from .. import ops
from ..tape import Tensor


def mse_loss(input, target):
    """Mean of (input − target)². Raises ValueError if the shapes differ, which would broadcast in silence."""
    if np.shape(input) != np.shape(target):
        raise ValueError(f"mse_loss: input has shape {np.shape(input)}, target {np.shape(target)}")
    error = input - target
    return ops.mean(error * error)


def cross_entropy(input, target):
    """Mean of −log softmax(input) at the true class.

    Parameters
    ----------
    input : (N, C), one row of logits per example
    target : (N,) integers from 0 to C − 1

    Raises
    ------
    TypeError
        If `target` is not made of integers.
    ValueError
        If the shapes do not fit, or a class is not between 0 and C − 1.
    """
    target = target.data if isinstance(target, Tensor) else np.asarray(target)
    shape = input.shape
    if target.dtype.kind not in "iu":
        raise TypeError(f"cross_entropy: target holds class numbers, so integers, not {target.dtype}")
    if len(shape) != 2 or target.shape != shape[:1]:
        raise ValueError("cross_entropy: input of shape (N, C) and target of shape (N,) are needed, "
                         f"not {shape} and {target.shape}")
    if target.size and not 0 <= target.min() <= target.max() < shape[1]:
        raise ValueError(f"cross_entropy: target holds classes {target.min()} to {target.max()}, and input has the "
                         f"classes 0 to {shape[1] - 1}")
    return ops.nll_loss(ops.log_softmax(input), target=target)
