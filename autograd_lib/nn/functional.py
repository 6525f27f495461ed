"""Losses and layers without parameters of their own, as in torch.nn.functional."""

import numpy as np

from .. import ops
from ..tape import Tensor, as_array, primitive


def __getattr__(name):
    """The names of torch.nn.functional that are not here."""
    what = (
        f"it is autograd_lib.{name}"
        if hasattr(ops, name)
        else "write it with the functions of autograd_lib"
    )
    raise AttributeError(f"autograd_lib.nn.functional has no {name}: {what}")


def silu(input):
    """x·σ(x) (Hendrycks and Gimpel 2016)."""
    return input * ops.sigmoid(input)


def leaky_relu(input, negative_slope=0.01):
    """x above 0, and negative_slope·x below and at 0."""
    return ops.where(input > 0, input, negative_slope * input)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """(x − mean)/√(variance + eps)·weight + bias, both over the last axes, of shape `normalized_shape`.

    Ba et al. (2016), equation 4. Raises ValueError if the last axes, or those of `weight` or `bias`, are others.
    """
    shape = tuple(normalized_shape)
    if not shape or np.shape(input)[-len(shape) :] != shape:
        raise ValueError(
            "layer_norm: an input of shape (…, " + ", ".join(map(str, shape)) + f") is needed, "
            f"not {np.shape(input)}"
        )
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and np.shape(given) != shape:
            raise ValueError(
                f"layer_norm: {name} has shape {np.shape(given)}, and {shape} is needed"
            )
    axes = tuple(range(-len(shape), 0))
    centred = input - ops.mean(input, axis=axes, keepdims=True)
    z = centred / ops.sqrt(ops.mean(centred * centred, axis=axes, keepdims=True) + eps)
    z = z if weight is None else z * weight
    return z if bias is None else z + bias


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, rng=None
):
    """softmax(query·keyᵀ·scale)·value: for every query a mean of the values, weighted by how well their keys fit it.

    Vaswani et al. (2017), equation 1.

    Parameters
    ----------
    query, key, value : (…, T, d), (…, S, d) and (…, S, dv); the result is (…, T, dv)
    attn_mask : (…, T, S), or what broadcasts to it: True where a query may look, or numbers to add to the scores
    dropout_p : the share of weights that `dropout` sets to 0, with `rng`
    is_causal : whether query t may look at keys 0 to t only
    scale : 1/√d if left out

    Raises ValueError if the shapes do not fit, there are two masks, or a query may look nowhere; and TypeError if the
    mask is made of whole numbers.
    """
    return (
        dropout(attention_weights(query, key, attn_mask, is_causal, scale), dropout_p, rng=rng)
        @ value
    )


def attention_weights(query, key, attn_mask=None, is_causal=False, scale=None):
    """The weights of `scaled_dot_product_attention`, (…, T, S): softmax(query·keyᵀ·scale), and 0 where not to look."""
    name, shapes = "scaled_dot_product_attention", (np.shape(query), np.shape(key))
    if min(map(len, shapes)) < 2 or shapes[0][-1] != shapes[1][-1]:
        raise ValueError(
            f"{name}: query of shape (…, T, d) and key of shape (…, S, d) are needed, not {shapes[0]} and "
            f"{shapes[1]}"
        )
    scores = (
        query
        * (1 / np.sqrt(shapes[0][-1]).item() if scale is None else scale)
        @ ops.swapaxes(key, -1, -2)
    )
    if is_causal:
        if attn_mask is not None:
            raise ValueError(
                f"{name}: is_causal is a mask, and attn_mask is another; join them in attn_mask"
            )
        attn_mask = np.tri(*scores.shape[-2:], dtype=bool)
    if attn_mask is not None:
        mask = attn_mask if isinstance(attn_mask, Tensor) else as_array(attn_mask, name)
        allowed = _to_add(mask.data if isinstance(mask, Tensor) else mask)
        scores = scores + (allowed if mask.dtype == bool else mask).astype(scores.dtype)
    return ops.softmax(scores)


def _check_mask(mask):
    if mask.dtype.kind not in "bf":
        raise TypeError(
            "attn_mask is made of bool, True where a query may look, or of floating-point numbers to add "
            f"to the scores, not of {mask.dtype}"
        )
    if not (mask if mask.dtype == bool else mask > -np.inf).any(axis=-1).all():
        raise ValueError("attn_mask leaves a query nowhere to look, and weights of 0 sum to no 1")
    return np.where(mask, 0.0, -np.inf) if mask.dtype == bool else mask


_to_add = primitive(
    _check_mask, [None], [None], name="scaled_dot_product_attention"
)  # a line of a program, too


def mse_loss(input, target, reduction="mean"):
    """Mean of (input − target)². Raises ValueError if the shapes differ, which would broadcast in silence."""
    _check_same_shape("mse_loss", input, target)
    error = input - target
    return _reduced("mse_loss", error * error, reduction)


def binary_cross_entropy_with_logits(input, target, reduction="mean"):
    """Mean of −y·log σ(x) − (1 − y)·log(1 − σ(x)), for logits x and targets y from 0 to 1 of the same shape.

    Exact for x of any size, as −log σ(x) = softplus(−x) and 1 − σ(x) = σ(−x). Raises ValueError if the shapes differ.
    """
    _check_same_shape("binary_cross_entropy_with_logits", input, target)
    losses = target * ops.softplus(-input) + (1 - target) * ops.softplus(input)
    return _reduced("binary_cross_entropy_with_logits", losses, reduction)


def _check_same_shape(op, input, target):
    if np.shape(input) != np.shape(target):
        raise ValueError(f"{op}: input has shape {np.shape(input)}, target {np.shape(target)}")


def _reduced(op, losses, reduction):
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{op}: reduction is 'mean', 'sum' or 'none', not {reduction!r}")
    return losses if reduction == "none" else {"mean": ops.mean, "sum": ops.sum}[reduction](losses)


def whole_numbers(what, x, below):
    """`x` as an array of integers from 0 to `below` − 1, or TypeError or ValueError about `what`."""
    return _whole(x.data if isinstance(x, Tensor) else as_array(x, what), below=below, name=what)


def _check_whole(x, below, name):
    if x.dtype.kind not in "iu":
        raise TypeError(f"{name} must be made of integers from 0 to {below - 1}, not of {x.dtype}")
    if x.size and not 0 <= x.min() <= x.max() < below:
        raise ValueError(
            f"{name} holds {x.min()} to {x.max()}, and must be made of integers from 0 to {below - 1}"
        )
    return x


_whole = primitive(_check_whole, [None], [None], name="whole_numbers")


def cross_entropy(input, target, ignore_index=-100, reduction="mean"):
    """Mean of −log softmax(input) at the true class.

    Parameters
    ----------
    input : (N, C), one row of logits per example; also (C,), or (N, C, …) with more axes behind
    target : (N,), (), or (N, …), integers from 0 to C − 1
    ignore_index : a target that leaves its example out, of the mean too
    reduction : "mean", "sum", or "none" for the losses in the shape of target

    Raises TypeError if `target` is not made of integers; and ValueError if the shapes do not fit, a class is not
    between 0 and C − 1, or `reduction` is another.
    """
    shape = input.shape
    classes = min(1, len(shape) - 1)
    wanted = shape[:classes] + shape[classes + 1 :]
    target = (
        target.data if isinstance(target, Tensor) else as_array(target, "cross_entropy: target")
    )
    if not shape or target.dtype.kind in "iu" and target.shape != wanted:
        raise ValueError(
            "cross_entropy: input of shape (N, C) and target of shape (N,) are needed, "
            f"not {shape} and {target.shape}"
        )
    if target.dtype.kind not in "iu":
        whole_numbers("cross_entropy: target", target, shape[classes])
    target = target if target.ndim == 1 else target.reshape(-1)
    if len(shape) > 2:
        input = ops.transpose(input, (0, *range(2, len(shape)), 1))
    if len(shape) != 2:
        input = ops.reshape(input, (len(target), shape[classes]))
    z = ops.log_softmax(input)
    if reduction == "mean" and ignore_index < 0:
        try:
            return ops.nll_loss(z, target=target)
        except IndexError:  # a class that is left out, or that is none
            pass
    left_out = target == ignore_index
    target = whole_numbers("cross_entropy: target", np.where(left_out, 0, target), shape[classes])
    losses = ops.where(left_out, 0, -z[np.arange(len(target)), target])
    if reduction == "mean":
        return ops.sum(losses) / np.sum(~left_out)
    return _reduced("cross_entropy", ops.reshape(losses, wanted), reduction)


def conv2d(input, weight, bias=None, stride=1, padding=0):
    """`weight` slid over `input`: (N, C, H, W) and (K, C, kh, kw) give (N, K, windows down, windows across).

    Like every deep-learning library it does not flip the kernel (mathematics calls that cross-correlation). `stride`
    and `padding` (with zeros, on all sides) are an int or a pair. `bias` has shape (K,). Raises ValueError if the
    shapes do not fit, or a kernel is larger than the padded image.
    """
    z = ops.conv2d(input, weight, stride=stride, padding=padding)
    if bias is not None and np.shape(bias) != np.shape(weight)[:1]:
        raise ValueError(
            f"conv2d: bias has shape {np.shape(bias)}, and weight {np.shape(weight)} wants one of "
            f"{np.shape(weight)[:1]}"
        )
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
    kh, kw = ops.pair(kernel_size, f"{name}: kernel_size")
    sh, sw = (kh, kw) if stride is None else ops.pair(stride, f"{name}: stride")
    n, c, height, width = x.shape
    if min(kh, kw, sh, sw) < 1 or kh > height or kw > width:
        raise ValueError(
            f"{name}: windows of {(kh, kw)} with stride {(sh, sw)} do not fit images of {(height, width)}"
        )
    h, w = (height - kh) // sh + 1, (width - kw) // sw + 1
    if (sh, sw) == (kh, kw):  # windows side by side need no copies: four times as fast
        whole = x if (h * kh, w * kw) == (height, width) else x[:, :, : h * kh, : w * kw]
        blocks = ops.transpose(whole, (0, 2, 3, 1))
        z = reduce(ops.reshape(blocks, (n, h, kh, w, kw, c)), axis=(2, 4))
    else:
        windows = ops.unfold(x, kernel_size=(kh, kw), stride=(sh, sw))
        z = ops.reshape(
            reduce(ops.reshape(windows, (n, windows.shape[1], kh * kw, c)), axis=2), (n, h, w, c)
        )
    return ops.transpose(z, (0, 3, 1, 2))


def dropout(input, p=0.5, training=True, rng=None):
    """Each entry set to 0 with probability `p` and the others divided by 1 − p, so that the mean stays; unchanged
    unless `training`.

    Srivastava et al. (2014), in the inverted form. `rng` is a NumPy Generator or a seed. Raises ValueError if `p` is
    not in [0, 1).
    """
    if not 0 <= p < 1:
        raise ValueError(f"dropout: p is a probability from 0 up to, not including, 1, and is {p}")
    if not training or p == 0:
        return input
    scale = (np.random.default_rng(rng).random(np.shape(input)) >= p) / (1 - p)
    return input * (scale.astype(input.dtype) if input.dtype.kind == "f" else scale)
