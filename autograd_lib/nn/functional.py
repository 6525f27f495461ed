"""Losses and layers without parameters, as in torch.nn.functional."""

import numpy as np

from .. import ops
from ..hints import as_generator, hint_for
from ..rows import primitive
from ..tape import Tensor, tracer
from ..values import as_array


def __getattr__(name):
    """Raise AttributeError for a name of torch.nn.functional that is missing here."""
    raise AttributeError(
        f"autograd_lib.nn.functional has no attribute {name!r}: "
        + (
            hint_for(name)
            or (f"use autograd_lib.{name}" if hasattr(ops, name) else "")
            or "write it with the functions of autograd_lib"
        )
    )


def _as_input(x, name):
    return x if isinstance(x, Tensor) else as_array(x, name)


def silu(input):
    """Return x·σ(x), the activation function SiLU, where σ is the logistic sigmoid.

    Parameters
    ----------
    input : Tensor or array_like
        Array x of any shape.

    Returns
    -------
    Tensor or ndarray
        Array of the same shape.

    Raises
    ------
    TypeError
        If `input` does not consist of real numbers.

    References
    ----------
    Hendrycks and Gimpel (2016).
    """
    input = _as_input(input, "silu: input")
    return input * ops.sigmoid(input)


def leaky_relu(input, negative_slope=0.01):
    """Return x where x > 0, and negative_slope·x elsewhere.

    Parameters
    ----------
    input : Tensor or array_like
        Array x of any shape.
    negative_slope : float, default 0.01
        Slope for x ≤ 0.

    Returns
    -------
    Tensor or ndarray
        Array of the same shape.

    Raises
    ------
    TypeError
        If `input` does not consist of real numbers.

    References
    ----------
    Maas et al. (2013).
    """
    input = _as_input(input, "leaky_relu: input")
    return ops.where(input > 0, input, negative_slope * input)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Return (x − mean)/√(variance + eps)·weight + bias, with mean and variance over the last axes.

    Parameters
    ----------
    input : Tensor or array_like
        Array of shape (…, *normalized_shape).
    normalized_shape : int or tuple of int
        Lengths of the axes to normalise.
    weight, bias : Tensor or array_like, optional
        Arrays of shape `normalized_shape`. By default, 1 and 0.
    eps : float, default 1e-5
        Added to the variance.

    Returns
    -------
    Tensor or ndarray
        Array of the shape of `input`.

    Raises
    ------
    ValueError
        If the last axes of `input`, or the axes of `weight` or `bias`, do not have these lengths.

    References
    ----------
    Ba et al. (2016), equation 4.
    """
    shape = tuple(np.atleast_1d(normalized_shape).tolist())
    input = _as_input(input, "layer_norm: input")
    if not shape or input.shape[-len(shape) :] != shape:
        raise ValueError(
            f"layer_norm: expected an input of shape (…, {', '.join(map(str, shape))}), "
            f"got {input.shape}"
        )
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and np.shape(given) != shape:
            raise ValueError(f"layer_norm: {name} has shape {np.shape(given)}, expected {shape}")
    axes = tuple(range(-len(shape), 0))
    centred = input - ops.mean(input, axis=axes, keepdims=True)
    z = centred / ops.sqrt(ops.mean(centred * centred, axis=axes, keepdims=True) + eps)
    z = z if weight is None else z * weight
    return z if bias is None else z + bias


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, rng=None
):
    """Return softmax(query·keyᵀ·scale)·value: a weighted mean of the values for every query.

    Parameters
    ----------
    query : Tensor or array_like
        Array of shape (…, T, d).
    key : Tensor or array_like
        Array of shape (…, S, d).
    value : Tensor or array_like
        Array of shape (…, S, dv).
    attn_mask : Tensor or array_like, optional
        Array that broadcasts to (…, T, S). A bool array is True where a query may attend to a key.
        A floating array is added to the scores.
    dropout_p : float, default 0
        Probability of setting a weight to 0.
    is_causal : bool, default False
        Let query t attend to keys 0 to t only.
    scale : float, optional
        Factor applied to the scores; None means 1/√d.
    rng : numpy.random.Generator or int, optional
        Generator or seed for the dropout.

    Returns
    -------
    Tensor or ndarray
        Array of shape (…, T, dv).

    Raises
    ------
    TypeError
        If the mask is neither bool nor floating.
    ValueError
        If the shapes are incompatible, `attn_mask` and `is_causal` are both given, or a query may
        not attend to any key.

    References
    ----------
    Vaswani et al. (2017), equation 1.
    """
    weights = attention_weights(query, key, attn_mask, is_causal, scale)
    return dropout(weights, dropout_p, rng=rng) @ value


def attention_weights(query, key, attn_mask=None, is_causal=False, scale=None):
    """Return the weights that `scaled_dot_product_attention` applies: softmax(query·keyᵀ·scale).

    Parameters
    ----------
    query, key, attn_mask, is_causal, scale
        As for `scaled_dot_product_attention`.

    Returns
    -------
    Tensor or ndarray
        Array of shape (…, T, S), with 0 where a query may not attend to a key.

    Raises
    ------
    TypeError, ValueError
        As for `scaled_dot_product_attention`.
    """
    name = "scaled_dot_product_attention"
    query, key = _as_input(query, f"{name}: query"), _as_input(key, f"{name}: key")
    if min(query.ndim, key.ndim) < 2 or query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"{name}: expected query of shape (…, T, d) and key of shape (…, S, d), "
            f"got {query.shape} and {key.shape}"
        )
    scale = 1 / np.sqrt(query.shape[-1]).item() if scale is None else scale
    scores = query * scale @ ops.swapaxes(key, -1, -2)
    if is_causal:
        if attn_mask is not None:
            raise ValueError(
                f"{name}: expected is_causal or attn_mask, got both; "
                "combine them in attn_mask, with np.tri"
            )
        attn_mask = np.tri(*scores.shape[-2:], dtype=bool)
    if attn_mask is not None:
        mask = _additive_mask(_as_input(attn_mask, f"{name}: attn_mask"))
        if any(n != m != 1 != n for n, m in zip(mask.shape[::-1], scores.shape[::-1])):
            raise ValueError(
                f"{name}: expected attn_mask of a shape that broadcasts to {scores.shape}, "
                f"got {mask.shape}"
            )
        scores = scores + mask.astype(scores.dtype)
    return ops.softmax(scores)


def _check_mask(mask):
    if mask.dtype.kind not in "bf":
        raise TypeError(
            "attn_mask must be bool (True where a query may attend) or floating (added to the "
            f"scores), got dtype {mask.dtype}"
        )
    if not (mask if mask.dtype == bool else mask > -np.inf).any(axis=-1).all():
        raise ValueError(
            "attn_mask must allow at least one key for each query, got a query with none"
        )
    return np.where(mask, 0.0, -np.inf) if mask.dtype == bool else mask


# A row, so that a compiled program checks the mask of every call.
_additive_mask = primitive(
    _check_mask,
    [lambda g, z, mask: g],
    [lambda t, z, mask: t],
    name="scaled_dot_product_attention",
)


def mse_loss(input, target, *, reduction="mean"):
    """Return the mean squared error: the mean of (input − target)².

    Parameters
    ----------
    input, target : Tensor or array_like
        Predictions and targets of the same shape.
    reduction : {"mean", "sum", "none"}, default "mean"
        How to combine the losses of the entries. With "none", all losses are returned.

    Returns
    -------
    Tensor or ndarray
        A scalar, or an array of the shape of `input` for "none".

    Raises
    ------
    ValueError
        If the shapes differ (broadcasting would hide this mistake), or `reduction` is unknown.
    """
    input, target = _same_shape("mse_loss", input, target)
    error = input - target
    return _reduced("mse_loss", error * error, reduction)


def binary_cross_entropy_with_logits(input, target, *, reduction="mean"):
    """Return the mean of −y·log σ(x) − (1 − y)·log(1 − σ(x)) for logits x and targets y.

    The result is accurate for x of any size, because it is computed with softplus:
    −log σ(x) = softplus(−x), and −log(1 − σ(x)) = softplus(x).

    Parameters
    ----------
    input : Tensor or array_like
        Logits x.
    target : Tensor or array_like
        Targets y from 0 to 1, of the same shape.
    reduction
        As for `mse_loss`.

    Returns
    -------
    Tensor or ndarray
        As for `mse_loss`.

    Raises
    ------
    ValueError
        As for `mse_loss`.
    """
    input, target = _same_shape("binary_cross_entropy_with_logits", input, target)
    losses = target * ops.softplus(-input) + (1 - target) * ops.softplus(input)
    return _reduced("binary_cross_entropy_with_logits", losses, reduction)


def _same_shape(op, input, target):
    """Return `input` and `target`, each as an array or a Tensor.

    Raise ValueError, which names the function `op`, if their shapes differ.
    """
    input, target = _as_input(input, f"{op}: input"), _as_input(target, f"{op}: target")
    if input.shape != target.shape:
        raise ValueError(
            f"{op}: expected input and target of the same shape, got {input.shape} and "
            f"{target.shape}"
        )
    return input, target


def _reduced(op, losses, reduction):
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{op}: reduction must be 'mean', 'sum' or 'none', got {reduction!r}")
    return losses if reduction == "none" else {"mean": ops.mean, "sum": ops.sum}[reduction](losses)


def _check_indices(x, below, argument):
    if x.dtype.kind not in "iu":
        raise TypeError(
            f"{argument} must contain integers from 0 to {below - 1}, got dtype {x.dtype}"
            + "; for one-hot rows use x.argmax(axis=1)" * (x.ndim > 1)
        )
    if x.size and not 0 <= x.min() <= x.max() < below:
        raise ValueError(
            f"{argument} must contain integers from 0 to {below - 1}, got values from {x.min()} to "
            f"{x.max()}"
        )
    return x


# Rows, so that a compiled program checks the integers of every call.
_class_indices = {
    "cross_entropy": primitive(_check_indices, [None], [None], name="cross_entropy"),
    "Embedding": primitive(_check_indices, [None], [None], name="Embedding"),
}


def class_indices(op, x, below):
    """Return `x` as an array, after checking that it contains integers from 0 to `below` − 1.

    Parameters
    ----------
    op : {"cross_entropy", "Embedding"}
        The function named in errors.
    x : Tensor or array_like
        Integers of any shape.
    below : int
        Number of classes.

    Returns
    -------
    ndarray
        The integers.

    Raises
    ------
    TypeError
        If `x` does not have an integer dtype.
    ValueError
        If an integer is out of range.
    """
    argument = "target" if op == "cross_entropy" else "the input"
    x = x.data if isinstance(x, Tensor) else as_array(x, f"{op}: {argument}")
    return _class_indices[op](x, below=below, argument=argument)


def cross_entropy(input, target, *, ignore_index=-100, reduction="mean"):
    """Return the mean of −log softmax(input) at the target class.

    Parameters
    ----------
    input : Tensor or array_like
        Logits of shape (N, C), with one row for each example. The shapes (C,), for one example, and
        (N, C, …), with more axes, are also allowed.
    target : Tensor or array_like of int
        Classes from 0 to C − 1. The shape is that of `input` without the axis of the classes: (N,),
        () or (N, …).
    ignore_index : int, default -100
        Examples with this target are ignored: their loss is 0, and they do not count in the mean.
    reduction : {"mean", "sum", "none"}, default "mean"
        How to combine the losses of the examples. With "none", all losses are returned.

    Returns
    -------
    Tensor or ndarray
        A scalar, or an array of the shape of `target` for "none".

    Raises
    ------
    TypeError
        If `target` does not have an integer dtype.
    ValueError
        If the shapes are incompatible, a class is out of range, or `reduction` is unknown.
    """
    input = _as_input(input, "cross_entropy: input")
    shape = input.shape
    class_axis = min(1, len(shape) - 1)
    expected = shape[:class_axis] + shape[class_axis + 1 :]
    target = (
        target.data if isinstance(target, Tensor) else as_array(target, "cross_entropy: target")
    )
    if not shape or target.dtype.kind in "iu" and target.shape != expected:
        raise ValueError(
            "cross_entropy: expected input of shape (N, C) and target of shape (N,), "
            f"got {shape} and {target.shape}"
            + "; for one-hot rows use target.argmax(axis=1)"
            * (target.shape == shape)
        )
    if target.dtype.kind not in "iu":
        class_indices("cross_entropy", target, shape[class_axis])
    target = target if target.ndim == 1 else target.reshape(-1)
    if len(shape) > 2:
        input = ops.transpose(input, (0, *range(2, len(shape)), 1))
    if len(shape) != 2:
        input = ops.reshape(input, (len(target), shape[class_axis]))
    z = ops.log_softmax(input)
    if reduction == "mean" and ignore_index < 0:
        try:
            return ops.nll_loss(z, target=target)
        except IndexError:  # a class that is ignored, or out of range
            pass
    ignored = target == ignore_index
    target = class_indices("cross_entropy", np.where(ignored, 0, target), shape[class_axis])
    losses = ops.where(ignored, 0, -z[np.arange(len(target)), target])
    return (
        ops.sum(losses) / np.sum(~ignored)
        if reduction == "mean"
        else _reduced("cross_entropy", ops.reshape(losses, expected), reduction)
    )


def conv2d(input, weight, bias=None, stride=1, padding=0):
    """Return the convolution of the images `input` with the kernels `weight`, plus `bias`.

    As in every deep-learning library, the kernels are not flipped; in mathematics this operation is
    called cross-correlation.

    Parameters
    ----------
    input : Tensor or array_like
        Images of shape (N, C, H, W).
    weight : Tensor or array_like
        Kernels of shape (K, C, kh, kw).
    bias : Tensor or array_like, optional
        Array of shape (K,). None means no bias.
    stride : int or pair of int, default 1
        Distance between windows.
    padding : int or pair of int, default 0
        Zeros on every side of the image.

    Returns
    -------
    Tensor or ndarray
        Array of shape (N, K, windows down, windows across).

    Raises
    ------
    ValueError
        If the shapes are incompatible, or a kernel is larger than the padded image.
    """
    z = ops.conv2d(input, weight, stride=stride, padding=padding)
    if bias is not None and np.shape(bias) != np.shape(weight)[:1]:
        raise ValueError(
            f"conv2d: expected bias of shape {np.shape(weight)[:1]} for weight of shape "
            f"{np.shape(weight)}, got {np.shape(bias)}"
        )
    return z if bias is None else z + ops.reshape(bias, (-1, 1, 1))


def max_pool2d(input, kernel_size, stride=None):
    """Return the largest entry of every window of the images `input`.

    Entries at the right and bottom edges that do not fill a window are left out. Tied entries share
    the gradient equally, as with `max`; PyTorch passes the whole gradient to the first tied entry.

    Parameters
    ----------
    input : Tensor or array_like
        Images of shape (N, C, H, W).
    kernel_size : int or pair of int
        Height and width of the windows.
    stride : int or pair of int, optional
        Distance between windows; None means `kernel_size`, so that the windows are adjacent.

    Returns
    -------
    Tensor or ndarray
        Array of shape (N, C, windows down, windows across).

    Raises
    ------
    ValueError
        If a window is larger than the image.
    """
    return _pool("max_pool2d", ops.max, input, kernel_size, stride)


def avg_pool2d(input, kernel_size, stride=None):
    """Return the mean of every window of the images `input`.

    Parameters
    ----------
    input, kernel_size, stride
        As for `max_pool2d`.

    Returns
    -------
    Tensor or ndarray
        Array of shape (N, C, windows down, windows across).

    Raises
    ------
    ValueError
        If a window is larger than the image.
    """
    return _pool("avg_pool2d", ops.mean, input, kernel_size, stride)


def _pool(name, reduce, x, kernel_size, stride):
    x = _as_input(x, f"{name}: input")
    if x.ndim != 4:
        raise ValueError(f"{name}: expected images of shape (N, C, H, W), got {x.shape}")
    kh, kw = ops.pair(kernel_size, f"{name}: kernel_size")
    sh, sw = (kh, kw) if stride is None else ops.pair(stride, f"{name}: stride")
    n, c, height, width = x.shape
    if min(kh, kw, sh, sw) < 1 or kh > height or kw > width:
        raise ValueError(
            f"{name}: windows of size {(kh, kw)} with stride {(sh, sw)} do not fit images of size "
            f"{(height, width)}; choose 1 <= kernel size <= image and stride >= 1"
        )
    h, w = (height - kh) // sh + 1, (width - kw) // sw + 1
    if (sh, sw) == (kh, kw):  # windows side by side need no copies: four times as fast
        whole = x if (h * kh, w * kw) == (height, width) else x[:, :, : h * kh, : w * kw]
        blocks = ops.transpose(whole, (0, 2, 3, 1))
        z = reduce(ops.reshape(blocks, (n, h, kh, w, kw, c)), axis=(2, 4))
    else:
        windows = ops.unfold(x, kernel_size=(kh, kw), stride=(sh, sw))
        windows = ops.reshape(windows, (n, windows.shape[1], kh * kw, c))
        z = ops.reshape(reduce(windows, axis=2), (n, h, w, c))
    return ops.transpose(z, (0, 3, 1, 2))


def dropout(input, p=0.5, training=True, *, rng=None):
    """Return `input` with each entry set to 0 with probability `p`, else divided by 1 − p.

    The division keeps the mean.

    Parameters
    ----------
    input : Tensor or array_like
        Array of any shape.
    p : float, default 0.5
        Probability from 0 up to, but not including, 1.
    training : bool, default True
        If False, return `input` unchanged.
    rng : numpy.random.Generator or int, optional
        Generator or seed.

    Returns
    -------
    Tensor or ndarray
        Array of the same shape.

    Raises
    ------
    TypeError
        If the function is called while `compile` records, because a program would repeat the
        random numbers.
    ValueError
        If `p` is out of range.

    References
    ----------
    Srivastava et al. (2014), in the inverted form.
    """
    if np.ndim(p) or np.asarray(p).dtype.kind not in "biuf" or not 0 <= p < 1:
        raise ValueError(f"dropout: expected a probability 0 <= p < 1, got {p!r}")
    if not training or p == 0:
        return input
    if tracer.get() is not None:
        raise TypeError(
            "dropout: random numbers cannot be compiled, because the program would repeat those of "
            "the first call; call eval() on the model, or leave dropout out of the function"
        )
    input = _as_input(input, "dropout: input")
    scale = (as_generator(rng, "dropout").random(input.shape) >= p) / (1 - p)
    return input * (scale.astype(input.dtype) if input.dtype.kind == "f" else scale)
