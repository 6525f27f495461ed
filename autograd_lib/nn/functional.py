"""Losses and layers without parameters of their own, as in torch.nn.functional."""

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


def conv2d(input, weight, bias=None, stride=1, padding=0):
    """`weight` slid over `input`: (N, C, H, W) and (K, C, kh, kw) give (N, K, windows down, windows across).

    Like every deep-learning library it does not flip the kernel (mathematics calls that cross-correlation). `stride` and
    `padding` (with zeros, on all sides) are an int or a pair. `bias` has shape (K,). Raises ValueError if the shapes do not
    fit, or a kernel is larger than the padded image.
    """
    z = ops.conv2d(input, weight, stride=stride, padding=padding)
    if bias is not None and np.shape(bias) != np.shape(weight)[:1]:
        raise ValueError(f"conv2d: bias has shape {np.shape(bias)}, and weight {np.shape(weight)} wants one of {np.shape(weight)[:1]}")
    return z if bias is None else z + ops.reshape(bias, (-1, 1, 1))


def max_pool2d(input, kernel_size, stride=None):
    """The largest entry of every window: (N, C, H, W) gives (N, C, windows down, windows across).

    `kernel_size` and `stride` are an int or a pair; without a stride the windows lie side by side. What does not fill a
    window is left out. Entries that tie for the largest share the gradient equally, the stated rule of `max` (PyTorch
    gives all of it to the first). Raises ValueError if a window is larger than the image.
    """
    return _pool("max_pool2d", ops.max, input, kernel_size, stride)


def avg_pool2d(input, kernel_size, stride=None):
    """The mean of every window; see `max_pool2d`."""
    return _pool("avg_pool2d", ops.mean, input, kernel_size, stride)


def _pool(name, reduce, x, kernel_size, stride):
    if len(np.shape(x)) != 4:
        raise ValueError(f"{name}: images of shape (N, C, H, W) are needed, not {np.shape(x)}")
    kh, kw = ops.pair(kernel_size)
    sh, sw = (kh, kw) if stride is None else ops.pair(stride)
    n, c, height, width = x.shape
    if min(kh, kw, sh, sw) < 1 or kh > height or kw > width:
        raise ValueError(f"{name}: windows of {(kh, kw)} with stride {(sh, sw)} do not fit images of {(height, width)}")
    h, w = (height - kh) // sh + 1, (width - kw) // sw + 1
    if (sh, sw) == (kh, kw):       # windows side by side need no copies: four times as fast
        whole = x if (h * kh, w * kw) == (height, width) else x[:, :, :h * kh, :w * kw]
        blocks = ops.transpose(whole, (0, 2, 3, 1))
        z = reduce(ops.reshape(blocks, (n, h, kh, w, kw, c)), axis=(2, 4))
    else:
        windows = ops.unfold(x, kernel_size=(kh, kw), stride=(sh, sw))
        z = ops.reshape(reduce(ops.reshape(windows, (n, windows.shape[1], kh * kw, c)), axis=2), (n, h, w, c))
    return ops.transpose(z, (0, 3, 1, 2))


def dropout(input, p=0.5, training=True, rng=None):
    """Each entry set to 0 with probability `p` and the others divided by 1 − p, so that the mean stays; unchanged unless `training`.

    Srivastava et al. (2014), in the inverted form. `rng` is a NumPy Generator or a seed. Raises ValueError if `p` is not in [0, 1).
    """
    if not 0 <= p < 1:
        raise ValueError(f"dropout: p is a probability from 0 up to, not including, 1, and is {p}")
    if not training or p == 0:
        return input
    scale = (np.random.default_rng(rng).random(np.shape(input)) >= p) / (1 - p)
    return input * (scale.astype(input.dtype) if input.dtype.kind == "f" else scale)
