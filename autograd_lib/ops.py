"""The table of primitives, with one row for each, in the order of the lessons.

A row is a function on arrays and one rule per argument. In a rule, `g` is the upstream gradient,
that is, the gradient of the output; `z` is the output and `x, y` are the inputs. The rule returns
the gradient of its input. Rules are written in NumPy, so they run on plain arrays for a first
derivative and on Tensors for the next. They neither assign into arrays nor undo broadcasting
(tape.py does that for every row).

Each heading names the lesson that derives its formulas.
"""

import builtins
import functools
import math
import operator
from itertools import accumulate

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from .hints import explain_arguments
from .rows import Primitive, bilinear, elementwise, linear, primitive
from .tape import Tensor
from .values import as_array

# The formatter would split a rule from its formula, so it skips the rows.

# --- Lesson 03: arithmetic ------------------------------------------------------------------------

# fmt: off
add = elementwise(operator.add,
    lambda g, z, x, y: g,                  # ∂z/∂x = 1
    lambda g, z, x, y: g)                  # ∂z/∂y = 1

subtract = elementwise(operator.sub,
    lambda g, z, x, y: g,                  # ∂z/∂x = 1
    lambda g, z, x, y: -g,                 # ∂z/∂y = −1
    name="subtract")

multiply = elementwise(operator.mul,
    lambda g, z, x, y: g * y,              # ∂z/∂x = y
    lambda g, z, x, y: g * x,              # ∂z/∂y = x
    name="multiply")

divide = elementwise(operator.truediv,
    lambda g, z, x, y: g / y,              # ∂z/∂x = 1/y
    lambda g, z, x, y: -g * z / y,         # ∂z/∂y = −x/y², and z is x/y
    name="divide")

negative = elementwise(operator.neg,
    lambda g, z, x: -g,                    # ∂z/∂x = −1
    name="negative")
# fmt: on


def _exponent_less_one(x, y):
    """Return the exponent y − 1 of x, but 0 where x = y = 0, so that y·xʸ⁻¹ is 0 there."""
    if np.ndim(y) == 0 and not isinstance(y, Tensor):
        return y - 1 if y != 0 else y
    if y.dtype.kind in "bu":  # True − True is refused, and 0 − 1 would wrap around
        y = y + 0.0
    return y - ((x != 0) | (y != 0))


# fmt: off
power = elementwise(operator.pow,
    lambda g, z, x, y: g * y * x**_exponent_less_one(x, y),    # ∂z/∂x = y·xʸ⁻¹
    lambda g, z, x, y: g * z * np.log(np.where(x == 0, 1, x)), # ∂z/∂y = xʸ·log x; 0 at 0, nan below
    name="power")

# --- Lesson 04: functions -------------------------------------------------------------------------

exp = elementwise(np.exp,
    lambda g, z, x: g * z)                 # ∂z/∂x = eˣ, and z is eˣ

log = elementwise(np.log,
    lambda g, z, x: g / x)                 # ∂z/∂x = 1/x

sqrt = elementwise(np.sqrt,
    lambda g, z, x: g / (2 * z))           # ∂z/∂x = 1/(2√x), and z is √x

sin = elementwise(np.sin,
    lambda g, z, x: g * np.cos(x))         # ∂z/∂x = cos x

cos = elementwise(np.cos,
    lambda g, z, x: -g * np.sin(x))        # ∂z/∂x = −sin x

tanh = elementwise(np.tanh,
    lambda g, z, x: g * (1 - z * z))       # ∂z/∂x = 1 − tanh²x, and z is tanh x
# fmt: on


def _sigmoid(x):
    e = np.exp(-np.abs(x))  # never overflows, and keeps all digits of a tiny result
    return np.where(x >= 0, 1, e) / (1 + e)


# fmt: off
sigmoid = elementwise(_sigmoid,
    lambda g, z, x: g * z * (1 - z),       # ∂z/∂x = σ(x)·(1 − σ(x)), and z is σ(x)
    name="sigmoid")

softplus = elementwise(lambda x: np.logaddexp(0, x),
    lambda g, z, x: g * sigmoid(x),        # z = log(1 + eˣ), ∂z/∂x = σ(x)
    name="softplus")
# fmt: on

_GELU = float(np.sqrt(2 / np.pi))


def _gelu_tanh(x):
    return np.tanh(_GELU * (x + 0.044715 * x * x * x))


def _gelu_rule(g, z, x):
    x = np.clip(x, -100, 100)  # further out the slope is 0 or 1, and x³ would overflow
    t = _gelu_tanh(x)
    return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * _GELU * (1 + 3 * 0.044715 * x * x))


# The tanh form of Hendrycks and Gimpel (2016); PyTorch's gelu(approximate="tanh").
# fmt: off
gelu = elementwise(lambda x: 0.5 * x * (1 + _gelu_tanh(np.clip(x, -100, 100))),
    _gelu_rule,                            # the product rule, with tanh′ = 1 − tanh²
    name="gelu")
# fmt: on

# Conventions at kinks: the slope of relu and of abs at 0 is 0; tied entries of maximum or minimum
# share the gradient equally; clip passes the gradient at its bounds. PyTorch does the same, except
# for clip with equal bounds.

_BITS = {"f": np.int32, "d": np.int64}


def _where(c, x, y, out=None):
    """Return np.where(c, x, y), but faster if y is 0.

    np.where is slow if neighbouring entries of `c` often differ. So if y is 0, the bits of x are
    masked instead, in the array `out` if it is given. In all other cases `out` is ignored.
    """
    if (
        type(x) is type(c) is np.ndarray
        and x.size >= 1024
        and type(y) in (int, float)
        and y == 0
        and math.copysign(1, y) > 0
        and c.shape == x.shape
        and c.dtype == bool
        and x.dtype.char in _BITS
    ):
        bits = _BITS[x.dtype.char]
        out = None if out is None else out.view(bits)
        mask = np.negative(c.view(np.int8), dtype=bits, out=out)  # all bits 1, or all 0
        return np.bitwise_and(x.view(bits), mask, out=mask).view(x.dtype)
    return np.where(c, x, y)


# fmt: off
relu = elementwise(lambda x: np.maximum(x, 0),
    lambda g, z, x: _where(x > 0, g, 0.0),  # ∂z/∂x = 1 above 0, else 0; g may be ∞, and ∞·0 is nan
    name="relu")

abs = elementwise(np.abs,
    lambda g, z, x: g * np.sign(x),        # ∂z/∂x = ±1; 0 at 0
    name="abs")

maximum = elementwise(np.maximum,
    lambda g, z, x, y: np.where(x > y, g, np.where(x == y, g / 2, 0.0)),
    lambda g, z, x, y: np.where(y > x, g, np.where(x == y, g / 2, 0.0)))

minimum = elementwise(np.minimum,
    lambda g, z, x, y: np.where(x < y, g, np.where(x == y, g / 2, 0.0)),
    lambda g, z, x, y: np.where(y < x, g, np.where(x == y, g / 2, 0.0)))

_clip = elementwise(np.clip,
    lambda g, z, x, low, high: np.where((low <= x) & (x <= high), g, 0.0),
    lambda g, z, x, low, high: np.where((x < low) & (low <= high), g, 0.0),
    lambda g, z, x, low, high: np.where((x > high) | (low > high), g, 0.0),
    name="clip")
# fmt: on


@explain_arguments
def clip(x, min=None, max=None):
    """Return `x` with every entry limited to the range from `min` to `max`.

    Parameters
    ----------
    x : array_like or Tensor
        Array of any shape.
    min, max : array_like or Tensor, optional
        Bounds that broadcast with `x`. None means no bound.

    Returns
    -------
    Tensor or ndarray
        Array of the shape to which `x` and the bounds broadcast.
    """
    dtype = x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype
    least, most = {"b": (0, 1), "f": (-np.inf, np.inf)}.get(dtype.kind) or (
        np.iinfo(dtype).min,
        np.iinfo(dtype).max,
    )
    return _clip(x, least if min is None else min, most if max is None else max)


# fmt: off
where = elementwise(_where,
    None,                                  # a condition has no slope
    lambda g, z, c, x, y: _where(c, g, 0.0),
    lambda g, z, c, x, y: np.where(c, 0, g),
    name="where")
# fmt: on

# --- Lesson 08: share and sum ---------------------------------------------------------------------


def _keep_dims(a, x, axis):
    """Return `a`, a reduction of `x` over `axis`, in a shape that broadcasts to that of `x`."""
    return a if axis is None or a.ndim == x.ndim else np.expand_dims(a, axis)


def _spread(g, z, x, axis=None, *, keepdims=False):
    return np.broadcast_to(_keep_dims(g, x, axis), x.shape)


# The weight 1/n of a mean fits into a float16, even where n does not.
# fmt: off
sum = linear(np.sum,
    _spread,                               # every entry of x is in its sum once
    name="sum")

mean = linear(np.mean,
    lambda g, z, x, axis=None, *, keepdims=False:  # every entry of x is in its mean with weight 1/n
        _spread(g * (builtins.max(z.size, 1) / builtins.max(x.size, 1)), z, x, axis),
    name="mean")

broadcast_to = linear(np.broadcast_to,
    lambda g, z, x, shape: g)              # the engine sums over what was copied

reshape = linear(np.reshape,
    lambda g, z, x, shape: np.reshape(g, x.shape))

transpose = linear(np.transpose,
    lambda g, z, x, axes=None:
        np.transpose(g, None if axes is None else np.argsort([a % x.ndim for a in axes]).tolist()))

squeeze = linear(np.squeeze,
    lambda g, z, x, axis=None: np.reshape(g, x.shape))

expand_dims = linear(np.expand_dims,
    lambda g, z, x, axis: np.reshape(g, x.shape))
# fmt: on


def _astype(x, dtype):
    if np.dtype(dtype).kind != "f":
        raise TypeError(
            f"expected a floating dtype, got {np.dtype(dtype)}, whose values have no gradient; "
            "use t.data.astype(dtype) for a plain array"
        )
    return (x if hasattr(x, "dtype") else np.float64(x)).astype(dtype)


# fmt: off
astype = linear(_astype,
    lambda g, z, x, dtype: g,              # the engine gives a gradient the dtype of its input
    name="astype")
# fmt: on


def _scatter(x, index, shape):
    once = all(
        i is None or i is Ellipsis or isinstance(i, (int, np.integer, slice))
        for i in (index if isinstance(index, tuple) else (index,))
    )
    size = math.prod(shape)
    # An entry that was read twice receives both gradients: np.add.at adds them up. np.bincount does
    # so two to three times as fast where most entries are read, but it works in float64.
    if once or x.size < size or x.dtype.itemsize > 8:
        out = np.zeros(shape, x.dtype)
        if once:
            out[index] = x
        else:
            np.add.at(out, index, x)
        return out
    flat_index = np.arange(size).reshape(shape)[index]
    total = np.bincount(flat_index.ravel(), np.broadcast_to(x, flat_index.shape).ravel(), size)
    return total.reshape(shape).astype(x.dtype, copy=False)


# fmt: off
getitem = linear(lambda x, index: x[index],
    lambda g, z, x, index: scatter(g, index, x.shape),
    name="getitem")

scatter = linear(_scatter,
    lambda g, z, x, index, shape: getitem(g, index),
    name="scatter",
    doc="Return zeros of this `shape` with `x` added at `index`: the transpose of `getitem`.")
# fmt: on


def _slice_of(i):
    def rule(g, z, *xs, axis, starts):
        return g[(slice(None),) * axis + (slice(starts[i], starts[i + 1]),)]

    return rule


# fmt: off
_concatenate = linear(lambda *xs, axis, starts: np.concatenate(xs, axis),
    each=_slice_of,
    name="concatenate")

# --- Lesson 09: matrices --------------------------------------------------------------------------

_matmul = bilinear(operator.matmul,
    lambda g, z, x, y: g @ y.mT,           # ∂L/∂X = g·Yᵀ
    lambda g, z, x, y: x.mT @ g,           # ∂L/∂Y = Xᵀ·g
    name="matmul")
# fmt: on


def matmul(x, y):
    """Return the matrix product of `x` and `y`, like NumPy's `@`.

    A 1-D operand is given an axis of length 1 for the product. The product of a stack of matrices
    and one matrix is computed as a single product with all rows of the stack, and so is its
    gradient.

    Parameters
    ----------
    x : array_like or Tensor
        Array of shape (…, n, k) or (k,).
    y : array_like or Tensor
        Array of shape (…, k, m) or (k,).

    Returns
    -------
    Tensor or ndarray
        Array of shape (…, n, m). If an operand is 1-D, the axis that it was given is removed again.

    Raises
    ------
    ValueError
        If the inner lengths differ, or an operand is a scalar.
    """
    try:
        x_ndim, y_ndim = x.ndim, y.ndim
    except AttributeError:  # a list or a number
        arrays = [
            a if hasattr(a, "ndim") else as_array(a, f"matmul: argument {i}")
            for i, a in enumerate((x, y))
        ]
        return matmul(*arrays)
    if x_ndim == y_ndim == 2 or x_ndim > 2 < y_ndim:
        return _matmul.fast_call(x, y)
    x_shape, y_shape = x.shape, y.shape
    if not x_shape or not y_shape or x_shape[-1] != y_shape[-2:][0]:
        return _matmul(x, y)  # raises an error that names the shapes
    if y_ndim > 2:
        if x_ndim == 1:
            return squeeze(matmul(expand_dims(x, 0), y), -2)
        return swapaxes(matmul(swapaxes(y, -1, -2), swapaxes(x, -1, -2)), -1, -2)  # Z = (Yᵀ·Xᵀ)ᵀ
    rows = x if x_ndim == 2 else reshape(x, (math.prod(x_shape[:-1]), x_shape[-1]))
    z = _matmul.fast_call(rows, y if y_ndim == 2 else expand_dims(y, -1))
    return reshape(z, x_shape[:-1] + y_shape[1:])


# --- Lesson 10: choose and normalise --------------------------------------------------------------


def _weighted(weigh):
    """Return ([rule], [push]) for a reduction z of x, such as its maximum.

    `weigh(t, z, x, axis)` must return t·∂z/∂x. The rule spreads the gradient over the entries of x.
    The push adds up the weighted tangents of the entries.
    """

    def rule(g, z, x, axis=None, *, keepdims=False):
        return weigh(_keep_dims(g, x, axis), _keep_dims(z, x, axis), x, axis)

    def push(t, z, x, axis=None, *, keepdims=False):
        weighted = weigh(t, _keep_dims(z, x, axis), x, axis)
        return np.sum(weighted, axis=axis, keepdims=keepdims)

    return [rule], [push]


def _slices_along(x, axis):
    """Return a list of the slices of `x` along `axis` if this makes a reduction faster, else [].

    NumPy is slow at reducing a short axis that is not the last, as pooling does. In this case it is
    faster to combine the slices one after another.
    """
    axes = axis if isinstance(axis, tuple) else (axis,)
    if axis is None or x.size < 4096 or not all([0 <= a < x.ndim - 1 for a in axes]):
        return []
    lengths = [x.shape[a] if a in axes else 1 for a in range(x.ndim)]
    few = 1 < math.prod(lengths) <= 16 and len(set(axes)) == len(axes)
    return [
        x[tuple(i if a in axes else slice(None) for a, i in enumerate(index))]
        for index in (np.ndindex(*lengths) if few else ())
    ]


def _extremum(of_two, of_all):
    def extremum(x, axis=None, keepdims=False):
        slices = _slices_along(x, axis)
        z = functools.reduce(of_two, slices) if slices else of_all(x, axis=axis, keepdims=keepdims)
        return np.expand_dims(z, axis) if slices and keepdims else z

    return extremum


def _shared_extreme(t, z, x, axis):
    """Return `t` where `x` equals its extreme value `z` along `axis`, and 0 elsewhere.

    Tied entries share `t` equally.
    """
    best, dtype = x == z, np.result_type(x.dtype, np.float32)  # float16 cannot count
    slices = [part.astype(dtype) for part in _slices_along(best, axis)]
    count = (
        np.expand_dims(functools.reduce(np.add, slices), axis)
        if slices
        else np.sum(best.astype(dtype), axis=axis, keepdims=True)
    )
    return t / count * best


max = primitive(_extremum(np.maximum, np.max), *_weighted(_shared_extreme), name="max")
min = primitive(_extremum(np.minimum, np.min), *_weighted(_shared_extreme), name="min")


def _floating(x):
    """Return `x` with integers converted to float64, as in NumPy's mean.

    In an integer dtype, x − max(x) could wrap around.
    """
    x = x if hasattr(x, "dtype") else np.asarray(x)
    return x if x.dtype.kind == "f" else x.astype(float)


def _logsumexp(x, axis=None, keepdims=False):
    x = _floating(x)
    top = np.max(x, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)  # ∞ − ∞ would be nan
    with np.errstate(divide="ignore"):
        z = np.log(np.exp(x - top).sum(axis=axis, keepdims=True)) + top
    return z if keepdims else z.squeeze(axis)


# fmt: off
logsumexp = primitive(_logsumexp,
    *_weighted(lambda t, z, x, axis: t * softmax(x, axis=axis)),   # ∂z/∂xᵢ = eˣⁱ/Σeˣ
    name="logsumexp",
    doc="Return log Σ eˣ, summed over `axis`: an int, a tuple of ints, or None for all axes. "
        "The result is accurate for x of any size.")
# fmt: on


def _softmax(x, axis=-1):
    e = np.exp(_floating(x) - np.max(x, axis=axis, keepdims=True))
    e = e / e.sum(axis=axis, keepdims=True)
    return e


def _softmax_rule(g, z, x, axis=-1):
    return z * (g - np.sum(g * z, axis=axis, keepdims=True))


def _log_softmax(x, axis=-1):
    x = _floating(x)
    d = x - x.max(axis=axis, keepdims=True)
    return d - np.log(np.exp(d).sum(axis=axis, keepdims=True))


# fmt: off
softmax = primitive(_softmax,
    [_softmax_rule], [_softmax_rule],      # J = diag(z) − z·zᵀ is its own transpose
    name="softmax",
    doc="Return eˣ/Σeˣ in the shape of x, where the sum is over `axis`, by default the last. "
        "The result is accurate for x of any size.")

log_softmax = primitive(_log_softmax,
    [lambda g, z, x, axis=-1:              # Jᵀ = I − p·1ᵀ, with p = softmax x
        g - np.exp(z) * g.sum(axis=axis, keepdims=True)],
    [lambda t, z, x, axis=-1:              # J = I − 1·pᵀ
        t - np.sum(np.exp(z) * t, axis=axis, keepdims=True)],
    name="log_softmax",
    doc="Return the logarithm of softmax(x, axis), in the shape of x. "
        "The result is accurate even where softmax is rounded to 0.")
# fmt: on


class NegativeClass(IndexError):
    """Raised by `nll_loss` for a target below 0, which `cross_entropy` may ignore."""


def _nll_loss(x, target):
    n = getattr(target, "size", None)
    if x.ndim != 2 or n != len(x) or target.ndim != 1 or target.dtype.kind not in "iu":
        raise ValueError(
            "expected x of shape (N, C) and target as an array of N integers, "
            f"got x of shape {np.shape(x)} and target of shape {np.shape(target)} and type "
            f"{getattr(target, 'dtype', type(target).__name__)}"
        )
    if n and np.minimum.reduce(target) < 0:
        raise NegativeClass(f"expected target >= 0, got the class {target.min()}")
    picked = x[np.arange(n), target]
    # A float16 may not hold the sum.
    return -np.add.reduce(picked) / n if x.itemsize > 2 else -picked.mean()


# fmt: off
nll_loss = linear(_nll_loss,
    lambda g, z, x, target:                # ∂z/∂xₙₖ = −1/N at the target
        (np.arange(x.shape[-1]) == target[:, None]) * (g * (-1 / builtins.max(len(target), 1))),
    name="nll_loss",
    doc="Return the negative mean of the log-probabilities of the target classes. `x`, of shape "
        "(N, C), contains log-probabilities; `target`, of shape (N,), contains integer classes.")
# fmt: on

# --- Lesson 14: see locally -----------------------------------------------------------------------


def pair(n, name):
    """Return an int or a pair of ints as a pair.

    Parameters
    ----------
    n : int or pair of int
        One number for both directions, or one for each.
    name : str
        The name of the argument in the error.

    Returns
    -------
    tuple of int
        The number for the vertical direction, and the number for the horizontal direction.

    Raises
    ------
    TypeError
        If `n` is neither an int nor a pair of ints.
    """
    both = tuple(n) if isinstance(n, (tuple, list)) else (n, n)
    if len(both) != 2 or not all(isinstance(k, (int, np.integer)) for k in both):
        raise TypeError(f"{name}: expected an int or a pair of ints, got {n!r}")
    return both


def _window_pairs(kernel_size, stride, padding):
    return pair(kernel_size, "kernel_size"), pair(stride, "stride"), pair(padding, "padding")


def _sizes(image, kernel_size, stride, padding):
    """Return the numbers of windows down and across an image of shape `image`, (H, W).

    In each direction the number is ⌊(n + 2·padding − kernel)/stride⌋ + 1. Raise ValueError if a
    window does not fit.
    """
    pairs = _window_pairs(kernel_size, stride, padding)
    numbers = tuple(zip(image, *pairs))
    if any(s < 1 or p < 0 or not 1 <= k <= n + 2 * p for n, k, s, p in numbers):
        raise ValueError(
            f"a kernel of size {pairs[0]} with stride {pairs[1]} and padding {pairs[2]} does not "
            f"fit an image of size {tuple(image)}; "
            "choose 1 <= kernel size <= image + 2·padding, stride >= 1 and padding >= 0"
        )
    return tuple((n + 2 * p - k) // s + 1 for n, k, s, p in numbers)


def _unfold(x, kernel_size, stride=1, padding=0):
    if x.ndim != 4:
        raise ValueError(f"expected images of shape (N, C, H, W), got {x.shape}")
    (kh, kw), (sh, sw), (ph, pw) = _window_pairs(kernel_size, stride, padding)
    h, w = _sizes(x.shape[2:], kernel_size, stride, padding)
    n, c, height, width = x.shape
    # Channels come last, so that a row of a window is one block of memory.
    image = np.zeros((n, height + 2 * ph, width + 2 * pw, c), x.dtype)
    image[:, ph : ph + height, pw : pw + width] = x.transpose(0, 2, 3, 1)
    rows = image.reshape(n, height + 2 * ph, (width + 2 * pw) * c)
    windows = np.lib.stride_tricks.sliding_window_view(rows, (kh, kw * c), axis=(1, 2))
    return windows[:, ::sh, :: sw * c].reshape(n, h * w, kh * kw * c)


def _fold(x, output_size, kernel_size, stride=1, padding=0):
    (kh, kw), (sh, sw), (ph, pw) = _window_pairs(kernel_size, stride, padding)
    height, width = output_size = pair(output_size, "output_size")
    h, w = _sizes(output_size, kernel_size, stride, padding)
    if x.ndim != 3 or x.shape[1] != h * w or x.shape[2] % (kh * kw):
        raise ValueError(f"expected windows of shape (N, {h * w}, {kh * kw}·C), got {x.shape}")
    n, c = len(x), x.shape[2] // (kh * kw)
    windows = x.reshape(n, h, w, kh, kw * c)
    rows = np.zeros((n, height + 2 * ph, w, kw * c), x.dtype)
    for i in range(kh):  # row i of every window at once
        rows[:, i : i + sh * h : sh] += windows[:, :, :, i]
    columns = rows.reshape(n, height + 2 * ph, w, kw, c)
    image = np.zeros((n, height + 2 * ph, width + 2 * pw, c), x.dtype)
    for j in range(kw):
        image[:, :, j : j + sw * w : sw] += columns[:, :, :, j]
    return image[:, ph : ph + height, pw : pw + width].transpose(0, 3, 1, 2)


# fmt: off
unfold = linear(_unfold,
    lambda g, z, x, kernel_size, stride=1, padding=0:
        fold(g, x.shape[2:], kernel_size, stride, padding),
    name="unfold",
    doc="Return the windows of images `x` of shape (N, C, H, W), each as a row of kh·kw·C numbers, "
        "where `kernel_size` is (kh, kw). The result has shape (N, number of windows, kh·kw·C).")

fold = linear(_fold,
    lambda g, z, x, output_size, kernel_size, stride=1, padding=0:
        unfold(g, kernel_size, stride, padding),
    name="fold",
    doc="Return images of size `output_size`, (H, W), with each window in `x` added at the place "
        "from which `unfold` takes it: the transpose of `unfold`.")
# fmt: on


def _as_columns(y):
    """Return kernels `y` of shape (K, C, kh, kw) as columns, an array of shape (kh·kw·C, K).

    The entries of a column are in the same order as those of a window from `unfold`.
    """
    return np.reshape(np.transpose(y, (2, 3, 1, 0)), (-1, len(y)))


def _as_rows(g):
    """Return `g` of shape (N, K, h, w) in the shape (N, h·w, K), with a row for each window."""
    n, k, h, w = g.shape
    return np.reshape(np.transpose(g, (0, 2, 3, 1)), (n, h * w, k))


def _conv2d(x, y, stride=1, padding=0):
    if x.ndim != 4 or y.ndim != 4 or x.shape[1] != y.shape[1]:
        raise ValueError(
            "expected images of shape (N, C, H, W) and kernels of shape (K, C, kh, kw), with the "
            f"same C, got {x.shape} and {y.shape}"
        )
    h, w = _sizes(x.shape[2:], y.shape[2:], stride, padding)
    windows = unfold(x, y.shape[2:], stride, padding)
    z = windows.reshape(-1, windows.shape[2]) @ _as_columns(y)
    return z.reshape(len(x), h, w, len(y)).transpose(0, 3, 1, 2)


def _conv2d_x(g, z, x, y, stride=1, padding=0):
    return fold(matmul(_as_rows(g), _as_columns(y).mT), x.shape[2:], y.shape[2:], stride, padding)


def _conv2d_y(g, z, x, y, stride=1, padding=0):
    rows = unfold(x, y.shape[2:], stride, padding)
    k, c, kh, kw = y.shape
    columns = np.reshape(rows, (-1, rows.shape[2])).mT @ np.reshape(_as_rows(g), (-1, k))
    return np.transpose(np.reshape(columns, (kh, kw, c, k)), (3, 2, 0, 1))


# fmt: off
conv2d = bilinear(_conv2d,    # Z = X·Y as in matmul: windows are rows of X, kernels columns of Y
    _conv2d_x,                             # ∂L/∂X = g·Yᵀ, folded
    _conv2d_y,                             # ∂L/∂Y = Xᵀ·g, cut into kernels
    name="conv2d",
    doc="Return the convolution of images `x`, (N, C, H, W), with kernels `y`, (K, C, kh, kw). The "
        "kernels are not flipped. The result has shape (N, K, windows down, windows across).")

# --- Lesson 18: attend ----------------------------------------------------------------------------

_einsum = bilinear(lambda x, y, a, b, c:                    # a, b, c: the letters of x, y, z
        np.einsum(f"{a},{b}->{c}", x, y, optimize=True),
    lambda g, z, x, y, a, b, c: einsum(f"{c},{b}->{a}", g, y),  # x and z swap places, and letters
    lambda g, z, x, y, a, b, c: einsum(f"{a},{c}->{b}", x, g),  # y and z do
    name="einsum")
# fmt: on


@explain_arguments
def einsum(subscripts, *operands):
    """Return the sum of products that `subscripts` describes, like NumPy's einsum with two arrays.

    Each axis has a letter. The letters of the result come after the arrow; the axes of all other
    letters are summed over. Without an arrow, the result has the letters that occur in only one
    array, in alphabetical order.

    Parameters
    ----------
    subscripts : str
        Letters of the axes; "ij,jk->ik" is the matrix product.
    *operands : array_like or Tensor
        The two arrays.

    Returns
    -------
    Tensor or ndarray
        Array with one axis for each letter of the result.

    Raises
    ------
    TypeError
        If there are not exactly two arrays.
    ValueError
        If a letter occurs twice in one array or has two lengths, or the result has a letter
        that no array has.
    """
    if not isinstance(subscripts, str) or len(operands) != 2:
        raise TypeError(
            'einsum: expected letters and two arrays, such as einsum("ij,jk->ik", x, y); for one '
            "array use sum and transpose, for three call einsum twice"
        )
    x, y = (
        x if hasattr(x, "ndim") else as_array(x, f"einsum: argument {i}")
        for i, x in enumerate(operands)
    )
    inputs, arrow, c = subscripts.replace(" ", "").partition("->")
    a, _, b = inputs.partition(",")
    c = c if arrow else "".join(sorted(set(a) ^ set(b)))
    lengths = dict(zip(a + b, x.shape + y.shape))
    if (
        (len(a), len(b)) != (x.ndim, y.ndim)
        or any(lengths[k] != n for k, n in zip(a, x.shape))
        or not set(c) <= lengths.keys()
        or any(part and not part.isalpha() or len(set(part)) < len(part) for part in (a, b, c))
    ):
        raise ValueError(
            f"einsum: {subscripts!r} does not fit arrays of shapes {x.shape} and {y.shape}; use one "
            "letter for each axis, different letters for the axes of one array, the same letter "
            "only for axes of the same length, and letters of the two arrays for the result"
        )
    x, a = _sum_unshared(x, a, b + c)
    y, b = _sum_unshared(y, b, a + c)
    return _einsum(x, y, a=a, b=b, c=c)


def _sum_unshared(x, letters, others):
    """Return the sum of `x` over the axes with letters not in `others`, and the remaining letters.

    `letters` are the letters of all axes of `x`. The rules of einsum require that each letter
    of an array also occurs in the result or in the other array.
    """
    alone = tuple(i for i, k in enumerate(letters) if k not in others)
    return sum(x, axis=alone) if alone else x, "".join(k for k in letters if k in others)


# --- Built from the rows above --------------------------------------------------------------------


@explain_arguments
def swapaxes(x, axis1, axis2):
    """Return `x` with two of its axes exchanged.

    Parameters
    ----------
    x : array_like or Tensor
        Array of at least one axis.
    axis1, axis2 : int
        The axes to exchange.

    Returns
    -------
    Tensor or ndarray
        Array with the same entries.

    Raises
    ------
    numpy.exceptions.AxisError
        If `x` does not have such an axis.
    """
    shape = np.shape(x)
    axes = list(range(len(shape)))
    i, j = (normalize_axis_index(axis, len(axes), "swapaxes") for axis in (axis1, axis2))
    axes[i], axes[j] = j, i
    return transpose(x, tuple(axes))


def _as_list(xs, axis, op):
    if (
        not hasattr(xs, "__iter__")
        or np.ndim(axis)
        or isinstance(axis, Tensor)
        and axis.dtype.kind == "f"
    ):
        raise TypeError(
            f"{op}: expected one list of arrays and then the axis, as in {op}([x, y], 0)"
        )
    xs = list(xs)
    if not xs:
        raise ValueError(f"{op}: expected at least one array, got an empty list")
    return xs


@explain_arguments
def concatenate(xs, axis=0):
    """Join arrays along an existing axis.

    Parameters
    ----------
    xs : sequence of array_like or Tensor
        Arrays whose shapes differ at most along `axis`.
    axis : int or None, default 0
        The axis to join along. None flattens the arrays first.

    Returns
    -------
    Tensor or ndarray
        The joined array.

    Raises
    ------
    TypeError
        If `xs` is not iterable, or `axis` is not a single integer.
    ValueError
        If `xs` is empty, or the shapes differ in any other axis.
    """
    xs = _as_list(xs, axis, "concatenate")
    if axis is None:
        xs, axis = [reshape(x, -1) for x in xs], 0
    shapes = [np.shape(x) for x in xs]
    axis = normalize_axis_index(axis, len(shapes[0]), "concatenate")
    if any(s[:axis] + s[axis + 1 :] != shapes[0][:axis] + shapes[0][axis + 1 :] for s in shapes):
        raise ValueError(
            f"concatenate: expected shapes that differ only along axis {axis}, got {shapes}"
        )
    starts = list(accumulate((s[axis] for s in shapes), initial=0))
    return _concatenate(*xs, axis=axis, starts=starts)


@explain_arguments
def stack(xs, axis=0):
    """Join arrays of the same shape along a new axis.

    Parameters
    ----------
    xs : sequence of array_like or Tensor
        Arrays of the same shape.
    axis : int, default 0
        The position of the new axis in the result.

    Returns
    -------
    Tensor or ndarray
        Array with one more axis, of length len(xs).

    Raises
    ------
    TypeError
        If `xs` is not iterable, or `axis` is not a single integer.
    ValueError
        If `xs` is empty, or the shapes differ.
    """
    xs = _as_list(xs, axis, "stack")
    shapes = [np.shape(x) for x in xs]
    if len(set(shapes)) > 1:
        raise ValueError(f"stack: expected arrays of the same shape, got {shapes}")
    return concatenate([expand_dims(x, axis) for x in xs], axis)


@explain_arguments
def var(x, axis=None, *, keepdims=False, ddof=0):
    """Return the variance over `axis`: the mean of the squared distances from the mean.

    Parameters
    ----------
    x : array_like or Tensor
        Array of any shape.
    axis : int, tuple of int or None, default None
        The axes to reduce; None means all.
    keepdims : bool, default False
        Keep the reduced axes, with length 1.
    ddof : int, default 0
        The sum of squares is divided by n − `ddof`, where n is the number of entries that are
        reduced. The default is that of NumPy; in PyTorch the default is 1.

    Returns
    -------
    Tensor or ndarray
        The variance, without the reduced axes unless `keepdims`.

    Raises
    ------
    ValueError
        If `ddof` is not less than the number of entries, unless the result is empty.
    """
    d = x - mean(x, axis=axis, keepdims=True)
    z = mean(d * d, axis=axis, keepdims=keepdims)
    n = d.size // builtins.max(z.size, 1)
    if n <= ddof and z.size:  # an empty result has no entry that could be wrong
        raise ValueError(f"var: expected ddof < {n}, the number of entries, got {ddof}")
    return z * (n / (n - ddof)) if ddof else z


@explain_arguments
def std(x, axis=None, *, keepdims=False, ddof=0):
    """Return the standard deviation over `axis`: the square root of `var`.

    Where the standard deviation is 0, it is not differentiable and its gradient is nan.

    Parameters
    ----------
    x, axis, keepdims, ddof
        As for `var`.

    Returns
    -------
    Tensor or ndarray
        The standard deviation, in the shape of the variance.

    Raises
    ------
    ValueError
        As for `var`.
    """
    return sqrt(var(x, axis, keepdims=keepdims, ddof=ddof))


@explain_arguments
def flip(x, axis=None):
    """Return `x` with its entries in reverse order along `axis`.

    Parameters
    ----------
    x : array_like or Tensor
        Array of any shape.
    axis : int, tuple of int or None, default None
        The axes to reverse; None means all.

    Returns
    -------
    Tensor or ndarray
        Array of the same shape.

    Raises
    ------
    numpy.exceptions.AxisError
        If `x` does not have such an axis.
    """
    axes = range(np.ndim(x))
    flipped = normalize_axis_tuple(axes if axis is None else axis, len(axes), "flip")
    return getitem(x, index=tuple(slice(None, None, -1 if k in flipped else 1) for k in axes))


@explain_arguments
def split(x, indices_or_sections, axis=0):
    """Return a list of consecutive sections of `x` along `axis`.

    Parameters
    ----------
    x : array_like or Tensor
        Array of at least one axis.
    indices_or_sections : int or sequence of int
        The number of sections, all of equal length; or the indices before which to cut.
    axis : int, default 0
        The axis to split.

    Returns
    -------
    list of Tensor or ndarray
        The sections, in order.

    Raises
    ------
    ValueError
        If `indices_or_sections` is an int that does not divide the length of the axis.
    """
    shape, cuts = np.shape(x), indices_or_sections
    axis = normalize_axis_index(axis, len(shape), "split")
    if not np.ndim(cuts):
        if not isinstance(cuts, (int, np.integer)) or cuts < 1 or shape[axis] % cuts:
            raise ValueError(
                f"split: axis {axis} has {shape[axis]} entries and cannot be divided into {cuts!r} "
                "equal sections; pass a list of the indices at which to split instead"
            )
        cuts = [shape[axis] // cuts * k for k in range(1, cuts)]
    return [
        getitem(x, index=(slice(None),) * axis + (slice(start, end),))
        for start, end in zip([0, *cuts], [*cuts, shape[axis]])
    ]


@explain_arguments
def pad(x, pad_width):
    """Pad `x` with zeros.

    Parameters
    ----------
    x : array_like or Tensor
        Array of any shape.
    pad_width : int or sequence of int
        How many zeros to add: one number for all sides, a pair (before, after) for all axes, or a
        list with such a pair for each axis.

    Returns
    -------
    Tensor or ndarray
        Array in which each axis is longer by its two widths.

    Raises
    ------
    TypeError
        If `pad_width` is a Tensor, or not an int, a pair or a pair for each axis.
    ValueError
        If a width is negative.
    """
    shape = np.shape(x)
    if (
        isinstance(pad_width, Tensor)
        or np.shape(pad_width)
        not in (
            (),
            (1,),
            (2,),
            (1, 2),
            (len(shape), 1),
            (len(shape), 2),
        )
        or np.asarray(pad_width).dtype.kind not in "iu"
    ):
        raise TypeError(
            f"pad: expected pad_width as an int, a pair (before, after) or a pair for each of the "
            f"{len(shape)} axes, got {pad_width!r}"
        )
    widths = np.broadcast_to(pad_width, (len(shape), 2)).tolist()
    if any(n < 0 for both in widths for n in both):
        raise ValueError(f"pad: expected pad_width >= 0, got {pad_width}")
    index = tuple(slice(before, before + n) for (before, _), n in zip(widths, shape))
    padded_shape = tuple(n + before + after for (before, after), n in zip(widths, shape))
    return scatter(x, index=index, shape=padded_shape)


@explain_arguments
def dot(x, y):
    """Return NumPy's dot product of `x` and `y`.

    Parameters
    ----------
    x, y : array_like or Tensor
        A scalar, a vector, a matrix or an array with more axes.

    Returns
    -------
    Tensor or ndarray
        The elementwise product if `x` or `y` is a scalar, else the matrix product. If `y` has more
        than two axes, the sum is over the last axis of `x` and the second-to-last axis of `y`.

    Raises
    ------
    ValueError
        If the lengths of the summed axes differ.
    """
    x_shape, y_shape = np.shape(x), np.shape(y)
    if not x_shape or len(y_shape) <= 2:
        return (matmul if x_shape and y_shape else multiply)(x, y)
    axes = (len(y_shape) - 2, *range(len(y_shape) - 2), len(y_shape) - 1)
    others = y_shape[:-2] + y_shape[-1:]
    flat = reshape(transpose(y, axes), (y_shape[-2], math.prod(others)))
    return reshape(matmul(x, flat), x_shape[:-1] + others)


ROWS = {row.name: row for row in list(globals().values()) if isinstance(row, Primitive)}
