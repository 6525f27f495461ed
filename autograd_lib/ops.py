"""The table: every primitive, one row each, in the order of the lessons.

A row is a function on arrays and one rule per argument. In a rule, `g` is the gradient arriving at the
output, `z` the output, `x, y` the inputs; it returns what goes to that input. Rules are written in NumPy,
so they run on plain arrays for a first derivative and on Tensors for the next. They neither assign into
arrays nor undo broadcasting (tape.py does).

The formulas are derived in the lessons named at each heading; "NumPy" below means numpy.org's reference.
"""

import builtins
import functools
import math
import operator
from itertools import accumulate

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from .tape import Primitive, Tensor, as_array, bilinear, elementwise, linear, primitive

# A rule and its formula share a line; the formatter would split rows and move the formulas.
# fmt: off

# --- Lesson 03: arithmetic -------------------------------------------------------------------------------

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


def _less_one(x, y):
    """y − 1 as an exponent of x; 0 where x = y = 0, for x⁰ is 1 everywhere and its slope there is 0·x⁰."""
    if np.ndim(y) == 0 and not isinstance(y, Tensor):
        return y - 1 if y != 0 else y
    return y - ((x != 0) | (y != 0))


power = elementwise(operator.pow,
    lambda g, z, x, y: g * y * x ** _less_one(x, y),            # ∂z/∂x = y·xʸ⁻¹
    lambda g, z, x, y: g * z * np.log(np.where(x == 0, 1, x)),  # ∂z/∂y = xʸ·log x; 0 at x = 0, nan below
    name="power")

# --- Lesson 04: functions --------------------------------------------------------------------------------

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


def _sigmoid(x):
    e = np.exp(-np.abs(x))  # never overflows, and keeps all digits of a tiny result
    return np.where(x >= 0, 1, e) / (1 + e)


sigmoid = elementwise(_sigmoid,
    lambda g, z, x: g * z * (1 - z),       # ∂z/∂x = σ(x)·(1 − σ(x)), and z is σ(x)
    name="sigmoid")

softplus = elementwise(lambda x: np.logaddexp(0, x),
    lambda g, z, x: g * sigmoid(x),        # z = log(1 + eˣ), ∂z/∂x = σ(x)
    name="softplus")

_GELU = float(np.sqrt(2 / np.pi))


def _gelu_tanh(x):
    return np.tanh(_GELU * (x + 0.044715 * x * x * x))


def _gelu_rule(g, z, x):
    x = np.clip(x, -100, 100)      # beyond, slope 0 or 1; x³ would overflow
    t = _gelu_tanh(x)
    return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * _GELU * (1 + 3 * 0.044715 * x * x))


# The tanh form of Hendrycks and Gimpel (2016); PyTorch's gelu(approximate="tanh").
gelu = elementwise(lambda x: 0.5 * x * (1 + _gelu_tanh(np.clip(x, -100, 100))),
    _gelu_rule,                            # the product rule, with tanh′ = 1 − tanh²
    name="gelu")

# Kinks have a stated rule: the slope of relu and of abs at 0 is 0; a tie of maximum or minimum shares
# equally; clip passes the gradient on at its bounds. As in PyTorch, but for clip with equal bounds.


_BITS = {"f": np.int32, "d": np.int64}


def _where(c, x, y, out=None):
    """np.where, which stumbles over every change of a mask; where y is 0, x's bits are joined to the mask's instead."""
    if type(x) is type(c) is np.ndarray and x.size >= 1024 and type(y) in (int, float) and str(y) in ("0", "0.0") \
            and c.shape == x.shape and c.dtype == bool and x.dtype.char in _BITS:
        bits = _BITS[x.dtype.char]
        mask = np.negative(c.view(np.int8), dtype=bits, out=None if out is None else out.view(bits))   # all ones, or 0
        return np.bitwise_and(x.view(bits), mask, out=mask).view(x.dtype)
    return np.where(c, x, y)


relu = elementwise(lambda x: np.maximum(x, 0),
    lambda g, z, x: _where(x > 0, g, 0.0),       # ∂z/∂x = 1 above 0, else 0; g may be ∞, and ∞·0 is nan
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


def clip(x, min=None, max=None):
    """`x` kept between `min` and `max` (None: no bound); the bounds may be arrays or Tensors too."""
    dtype = x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype
    least, most = (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype.kind in "iu" else (-np.inf, np.inf)
    return _clip(x, least if min is None else min, most if max is None else max)


where = elementwise(_where,
    None,                                  # a condition has no slope
    lambda g, z, c, x, y: _where(c, g, 0.0),
    lambda g, z, c, x, y: np.where(c, 0, g),
    name="where")

# --- Lesson 08: share and sum ----------------------------------------------------------------------------


def _restore(a, x, axis):
    """`a`, which was reduced from `x` over `axis`, in a shape that broadcasts against `x`."""
    return a if axis is None or a.ndim == x.ndim else np.expand_dims(a, axis)


def _spread(g, z, x, axis=None, keepdims=False):
    return np.broadcast_to(_restore(g, x, axis), x.shape)


sum = linear(np.sum,
    _spread,                               # every entry of x is in its sum once
    name="sum")

mean = linear(np.mean,
    lambda g, z, x, axis=None, keepdims=False:              # … with weight 1/n, which a float16 can hold where n is too large
        _spread(g * (builtins.max(z.size, 1) / builtins.max(x.size, 1)), z, x, axis),
    name="mean")

broadcast_to = linear(np.broadcast_to,
    lambda g, z, x, shape: g)              # the engine sums over what was copied

reshape = linear(np.reshape,
    lambda g, z, x, shape: np.reshape(g, x.shape))

transpose = linear(np.transpose,
    lambda g, z, x, axes=None: np.transpose(g, None if axes is None else np.argsort([a % x.ndim for a in axes])))

squeeze = linear(np.squeeze,
    lambda g, z, x, axis=None: np.reshape(g, x.shape))

expand_dims = linear(np.expand_dims,
    lambda g, z, x, axis: np.reshape(g, x.shape))


def _astype(x, dtype):
    if np.dtype(dtype).kind != "f":
        raise TypeError(f"{np.dtype(dtype)} values have no gradient; use t.data.astype for a plain array")
    return x.astype(dtype)


astype = linear(_astype,
    lambda g, z, x, dtype: g,              # the engine gives a gradient the dtype of its input
    name="astype")


def _scatter(x, index, shape):
    if all(i is None or i is Ellipsis or isinstance(i, (int, np.integer, slice))
           for i in (index if isinstance(index, tuple) else (index,))):
        out = np.zeros(shape, x.dtype)
        out[index] = x
        return out
    # An entry that was read twice is paid twice: add.at does that, and bincount two to three times as fast where most
    # entries are read (it works in float64).
    size = math.prod(shape)
    if x.size < size or x.dtype.itemsize > 8:
        out = np.zeros(shape, x.dtype)
        np.add.at(out, index, x)
        return out
    places = np.arange(size).reshape(shape)[index]
    return np.bincount(places.ravel(), np.broadcast_to(x, places.shape).ravel(), size).reshape(shape).astype(x.dtype, copy=False)


getitem = linear(lambda x, index: x[index],
    lambda g, z, x, index: scatter(g, index, x.shape),
    name="getitem")

scatter = linear(_scatter,
    lambda g, z, x, index, shape: getitem(g, index),
    name="scatter", doc="`x` added into zeros of `shape` at `index`: the transpose of `getitem`.")


def _own_part(i):
    def rule(g, z, *xs, axis, starts):
        return g[(slice(None),) * axis + (slice(starts[i], starts[i + 1]),)]
    return rule


_concatenate = linear(lambda *xs, axis, starts: np.concatenate(xs, axis),
    each=_own_part,
    name="concatenate")

# --- Lesson 09: matrices ---------------------------------------------------------------------------------


_matmul = bilinear(operator.matmul,
    lambda g, z, x, y: g @ y.mT,           # ∂L/∂X = g·Yᵀ
    lambda g, z, x, y: x.mT @ g,           # ∂L/∂Y = Xᵀ·g
    name="matmul")


def matmul(x, y):
    """The matrix product, as NumPy's `@`: (…, n, k) and (…, k, m) give (…, n, m); a 1-D operand is lent an axis of length 1.

    A stack of matrices times one matrix is computed as one product, of all their rows: so is its gradient then.
    """
    try:
        x_ndim, y_ndim = x.ndim, y.ndim
    except AttributeError:                     # a list or a number
        return matmul(*[a if hasattr(a, "ndim") else as_array(a, f"matmul: argument {i}") for i, a in enumerate((x, y))])
    if x_ndim == y_ndim == 2 or x_ndim > 2 < y_ndim:
        return _matmul.method(x, y)
    x_shape, y_shape = x.shape, y.shape
    if not x_shape or not y_shape or x_shape[-1] != y_shape[-2:][0]:
        return _matmul(x, y)                   # which says what does not fit
    if y_ndim > 2:
        if x_ndim == 1:
            return squeeze(matmul(expand_dims(x, 0), y), -2)
        return swapaxes(matmul(swapaxes(y, -1, -2), swapaxes(x, -1, -2)), -1, -2)      # Z = (Yᵀ·Xᵀ)ᵀ
    rows = x if x_ndim == 2 else reshape(x, (math.prod(x_shape[:-1]), x_shape[-1]))
    z = _matmul.method(rows, y if y_ndim == 2 else expand_dims(y, -1))
    return reshape(z, x_shape[:-1] + y_shape[1:])

# --- Lesson 10: choose and normalise ---------------------------------------------------------------------


def _weighted(weigh):
    """Both rules of a reduction with weigh(t, z, x, axis) = t·∂z/∂x: spread the gradient, or sum up the tangents."""
    def rule(g, z, x, axis=None, keepdims=False):
        return weigh(_restore(g, x, axis), _restore(z, x, axis), x, axis)

    def push(t, z, x, axis=None, keepdims=False):
        return np.sum(weigh(t, _restore(z, x, axis), x, axis), axis=axis, keepdims=keepdims)

    return [rule], [push]


def _parts(x, axis):
    """`x` at every place along `axis`, if these are few and NumPy is slow at reducing it: not its last axis, as in pooling."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    if axis is None or x.size < 4096 or not all([0 <= a < x.ndim - 1 for a in axes]) or len(set(axes)) < len(axes):
        return []
    lengths = [x.shape[a] if a in axes else 1 for a in range(x.ndim)]
    return [x[tuple(i if a in axes else slice(None) for a, i in enumerate(place))]
            for place in np.ndindex(*lengths)] if math.prod(lengths) <= 16 else []


def _extremum(of_two, of_all):
    def extremum(x, axis=None, keepdims=False):
        parts = _parts(x, axis)
        z = functools.reduce(of_two, parts) if parts else of_all(x, axis=axis, keepdims=keepdims)
        return np.expand_dims(z, axis) if parts and keepdims else z
    return extremum


def _extreme(t, z, x, axis):
    """`t` where `x` is its extreme value `z`, or an equal part of it where several entries tie; else 0."""
    best, dtype = x == z, np.result_type(x.dtype, np.float32)       # float16 cannot count
    parts = [part.astype(dtype) for part in _parts(best, axis)]
    count = np.expand_dims(functools.reduce(np.add, parts), axis) if parts else \
        np.sum(best.astype(dtype), axis=axis, keepdims=True)
    return t / count * best


max = primitive(_extremum(np.maximum, np.max), *_weighted(_extreme), name="max")
min = primitive(_extremum(np.minimum, np.min), *_weighted(_extreme), name="min")


def _floating(x):
    """Integers as float64, as NumPy's mean takes them: x − max would wrap around."""
    x = x if hasattr(x, "dtype") else np.asarray(x)
    return x if x.dtype.kind == "f" else x.astype(float)


def _logsumexp(x, axis=None, keepdims=False):
    x = _floating(x)
    top = np.max(x, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)   # ∞ − ∞ would be nan
    with np.errstate(divide="ignore"):
        z = np.log(np.exp(x - top).sum(axis=axis, keepdims=True)) + top
    return z if keepdims else z.squeeze(axis)


logsumexp = primitive(_logsumexp,
    *_weighted(lambda t, z, x, axis: t * softmax(x, axis=axis)),   # ∂z/∂xᵢ = eˣⁱ/Σeˣ
    name="logsumexp", doc="log Σ eˣ over `axis`, an int, a tuple or None for all; exact for x of any size.")


def _softmax(x, axis=-1):
    e = np.exp(_floating(x) - np.max(x, axis=axis, keepdims=True))
    e = e / e.sum(axis=axis, keepdims=True)
    return e


def _log_softmax(x, axis=-1):
    x = _floating(x)
    d = x - x.max(axis=axis, keepdims=True)
    return d - np.log(np.exp(d).sum(axis=axis, keepdims=True))


def _softmax_rule(g, z, x, axis=-1):
    return z * (g - np.sum(g * z, axis=axis, keepdims=True))


softmax = primitive(_softmax,
    [_softmax_rule], [_softmax_rule],      # J = diag(z) − z·zᵀ is its own transpose
    name="softmax", doc="eˣ/Σeˣ along `axis`, in the shape of x; exact for x of any size.")

log_softmax = primitive(_log_softmax,
    [lambda g, z, x, axis=-1: g - np.exp(z) * g.sum(axis=axis, keepdims=True)],     # Jᵀ = I − p·1ᵀ, with p = softmax x
    [lambda t, z, x, axis=-1: t - np.sum(np.exp(z) * t, axis=axis, keepdims=True)],     # J = I − 1·pᵀ
    name="log_softmax", doc="log softmax along `axis`, in the shape of x; exact where softmax itself is 0.")

def _nll_loss(x, target):
    n = getattr(target, "size", None)
    if x.ndim != 2 or n != len(x) or target.ndim != 1 or target.dtype.kind not in "iu":
        raise ValueError("x of shape (N, C) and for target an array of N class numbers, integers, are needed")
    if n and np.minimum.reduce(target) < 0:
        raise IndexError("target holds a class below 0, and they are counted from 0")
    picked = x[np.arange(n), target]
    return -np.add.reduce(picked) / n if x.itemsize > 2 else -picked.mean()     # a float16 may not hold the sum


nll_loss = linear(_nll_loss,
    lambda g, z, x, target:                                 # ∂z/∂xₙₖ = −1/N at the target
        (np.arange(x.shape[-1]) == target[:, None]) * (g * (-1 / builtins.max(len(target), 1))),
    name="nll_loss", doc="−mean of x at the target: (N, C) log-probabilities and (N,) class numbers give one number.")

# --- Lesson 14: see locally -------------------------------------------------------------------------------


def pair(n):
    """An int for both directions, or one for each."""
    both = tuple(n) if isinstance(n, (tuple, list)) else (n, n)
    if len(both) != 2 or not all(isinstance(k, (int, np.integer)) for k in both):
        raise TypeError(f"an int or a pair of them is needed, not {n!r}")
    return both


def _sizes(image, kernel, stride, padding):
    """How many windows there are down and across: ⌊(n + 2·padding − kernel)/stride⌋ + 1 of each."""
    numbers = tuple(zip(image, pair(kernel), pair(stride), pair(padding)))
    if any(s < 1 or p < 0 or not 1 <= k <= n + 2 * p for n, k, s, p in numbers):
        raise ValueError(f"a kernel of {pair(kernel)} with stride {pair(stride)} and padding {pair(padding)} does not fit "
                         f"an image of {tuple(image)}")
    return tuple((n + 2 * p - k) // s + 1 for n, k, s, p in numbers)


def _unfold(x, kernel_size, stride=1, padding=0):
    if x.ndim != 4:
        raise ValueError("images of shape (N, C, H, W) are needed")
    (kh, kw), (sh, sw), (ph, pw) = pair(kernel_size), pair(stride), pair(padding)
    h, w = _sizes(x.shape[2:], kernel_size, stride, padding)
    n, c, height, width = x.shape
    image = np.zeros((n, height + 2 * ph, width + 2 * pw, c), x.dtype)      # channels last, so that a row of a window is one block
    image[:, ph:ph + height, pw:pw + width] = x.transpose(0, 2, 3, 1)
    rows = image.reshape(n, height + 2 * ph, (width + 2 * pw) * c)
    windows = np.lib.stride_tricks.sliding_window_view(rows, (kh, kw * c), axis=(1, 2))[:, ::sh, ::sw * c]
    return windows.reshape(n, h * w, kh * kw * c)


def _fold(x, output_size, kernel_size, stride=1, padding=0):
    (kh, kw), (sh, sw), (ph, pw) = pair(kernel_size), pair(stride), pair(padding)
    height, width = output_size = pair(output_size)
    h, w = _sizes(output_size, kernel_size, stride, padding)
    if x.ndim != 3 or x.shape[1] != h * w or x.shape[2] % (kh * kw):
        raise ValueError(f"windows of shape (N, {h * w}, {kh * kw}·C) are needed")
    n, c = len(x), x.shape[2] // (kh * kw)
    windows = x.reshape(n, h, w, kh, kw * c)
    rows = np.zeros((n, height + 2 * ph, w, kw * c), x.dtype)
    for i in range(kh):                        # row i of every window at once
        rows[:, i:i + sh * h:sh] += windows[:, :, :, i]
    columns = rows.reshape(n, height + 2 * ph, w, kw, c)
    image = np.zeros((n, height + 2 * ph, width + 2 * pw, c), x.dtype)
    for j in range(kw):
        image[:, :, j:j + sw * w:sw] += columns[:, :, :, j]
    return image[:, ph:ph + height, pw:pw + width].transpose(0, 3, 1, 2)


unfold = linear(_unfold,
    lambda g, z, x, kernel_size, stride=1, padding=0: fold(g, x.shape[2:], kernel_size, stride, padding),
    name="unfold", doc="The windows of (N, C, H, W) images, each as one row of kh·kw·C numbers: (N, windows, kh·kw·C).")

fold = linear(_fold,
    lambda g, z, x, output_size, kernel_size, stride=1, padding=0: unfold(g, kernel_size, stride, padding),
    name="fold", doc="Windows added up where they were cut out, in images of `output_size` (H, W): the transpose of `unfold`.")


def _as_columns(y):
    """Kernels (K, C, kh, kw), each as a column in the order of `unfold`'s rows: (kh·kw·C, K)."""
    return np.reshape(np.transpose(y, (2, 3, 1, 0)), (-1, len(y)))


def _as_rows(g):
    """(N, K, h, w), each place a row: (N, h·w, K)."""
    n, k, h, w = g.shape
    return np.reshape(np.transpose(g, (0, 2, 3, 1)), (n, h * w, k))


def _conv2d(x, y, stride=1, padding=0):
    if x.ndim != 4 or y.ndim != 4 or x.shape[1] != y.shape[1]:
        raise ValueError("images of shape (N, C, H, W) and kernels of shape (K, C, kh, kw) are needed, with the same C")
    h, w = _sizes(x.shape[2:], y.shape[2:], stride, padding)
    windows = unfold(x, y.shape[2:], stride, padding)
    z = windows.reshape(-1, windows.shape[2]) @ _as_columns(y)
    return z.reshape(len(x), h, w, len(y)).transpose(0, 3, 1, 2)


def _conv2d_x(g, z, x, y, stride=1, padding=0):
    return fold(matmul(_as_rows(g), _as_columns(y).mT), x.shape[2:], y.shape[2:], stride, padding)


def _conv2d_y(g, z, x, y, stride=1, padding=0):
    rows = unfold(x, y.shape[2:], stride, padding)
    gy = np.reshape(rows, (-1, rows.shape[2])).mT @ np.reshape(_as_rows(g), (-1, len(y)))       # as columns
    k, c, kh, kw = y.shape
    return np.transpose(np.reshape(gy, (kh, kw, c, k)), (3, 2, 0, 1))


conv2d = bilinear(_conv2d,                     # Z = X·Y with a window a row of X, a kernel a column of Y: its rules are matmul's
    _conv2d_x,                                 # ∂L/∂X = g·Yᵀ, folded
    _conv2d_y,                                 # ∂L/∂Y = Xᵀ·g, cut into kernels
    name="conv2d", doc="Kernels (K, C, kh, kw) slid over images (N, C, H, W), not flipped: (N, K, windows down, windows across).")

# --- Lesson 18: attend -----------------------------------------------------------------------------------


_einsum = bilinear(lambda x, y, a, b, c:               # a, b, c: the letters of x, y, z
        np.einsum(f"{a},{b}->{c}", x, y, optimize=True),
    lambda g, z, x, y, a, b, c: einsum(f"{c},{b}->{a}", g, y),       # x and z swap places, and so do their letters
    lambda g, z, x, y, a, b, c: einsum(f"{a},{c}->{b}", x, g),       # y and z do
    name="einsum")


def einsum(subscripts, *operands):
    """The sum of products that letters spell, as NumPy's einsum of two arrays: "ij,jk->ik" is the matrix product.

    Each axis has a letter, and what the result, after the arrow, does not have is summed over; without an arrow it has
    those that stand in one array only. Raises ValueError if a letter stands twice in one array, has two lengths, or
    comes from nowhere.
    """
    if not isinstance(subscripts, str) or len(operands) != 2:
        raise TypeError('einsum: its arguments are letters and two arrays, as in einsum("ij,jk->ik", x, y); for one '
                        "array use sum and transpose, for three two calls")
    x, y = (x if hasattr(x, "ndim") else as_array(x, f"einsum: argument {i}") for i, x in enumerate(operands))
    inputs, arrow, c = subscripts.replace(" ", "").partition("->")
    a, _, b = inputs.partition(",")
    c = c if arrow else "".join(sorted(set(a) ^ set(b)))
    lengths = dict(zip(a + b, x.shape + y.shape))
    if ((len(a), len(b)) != (x.ndim, y.ndim) or any(lengths[k] != n for k, n in zip(a, x.shape))
            or not set(c) <= lengths.keys()
            or any(part and not part.isalpha() or len(set(part)) < len(part) for part in (a, b, c))):
        raise ValueError(f"einsum: {subscripts!r} does not fit arrays of shapes {x.shape} and {y.shape}: each axis has "
                         "a letter, none twice in one array, the same letter has one length, and the result has letters "
                         "of the two")
    x, a = _summed(x, a, b + c)
    y, b = _summed(y, b, a + c)
    return _einsum(x, y, a=a, b=b, c=c)


def _summed(x, letters, others):
    """`x` summed over the letters that it alone has, and those left: each is in the result or in the other array, where
    its rule finds it."""
    alone = tuple(i for i, k in enumerate(letters) if k not in others)
    return (sum(x, axis=alone), "".join(k for k in letters if k in others)) if alone else (x, letters)

# --- Made of the rows above ------------------------------------------------------------------------------


def swapaxes(x, axis1, axis2):
    """`x` with two of its axes exchanged."""
    shape = np.shape(x)
    axes = list(range(len(shape)))
    i, j = (normalize_axis_index(axis, len(axes), f"swapaxes of shape {shape}") for axis in (axis1, axis2))
    axes[i], axes[j] = j, i
    return transpose(x, tuple(axes))


def _several(xs, axis, op):
    if np.ndim(axis) or isinstance(axis, Tensor) and axis.dtype.kind == "f":
        raise TypeError(f"{op}: the arrays are given in one list, as in {op}([x, y]), and after it the axis")
    xs = list(xs)
    if not xs:
        raise ValueError(f"{op}: at least one array is needed")
    return xs


def concatenate(xs, axis=0):
    """Join a sequence of arrays along an axis that they have; None flattens them first.

    Raises ValueError if there is none, or if their other axes differ.
    """
    xs = _several(xs, axis, "concatenate")
    if axis is None:
        xs, axis = [reshape(x, -1) for x in xs], 0
    shapes = [np.shape(x) for x in xs]
    axis = normalize_axis_index(axis, len(shapes[0]), f"concatenate of shape {shapes[0]}")
    if any(s[:axis] + s[axis + 1:] != shapes[0][:axis] + shapes[0][axis + 1:] for s in shapes):
        raise ValueError(f"concatenate: the shapes {shapes} differ in more than axis {axis}")
    return _concatenate(*xs, axis=axis, starts=list(accumulate((s[axis] for s in shapes), initial=0)))


def stack(xs, axis=0):
    """Join a sequence of arrays of one shape along a new axis. Raises ValueError if there is none, or if their shapes differ."""
    xs = _several(xs, axis, "stack")
    shapes = [np.shape(x) for x in xs]
    if len(set(shapes)) > 1:
        raise ValueError(f"stack: arrays of one shape are needed, not {shapes}")
    return concatenate([expand_dims(x, axis) for x in xs], axis)


def var(x, axis=None, keepdims=False, ddof=0):
    """The mean of the squared distance from the mean over `axis`; the sum of squares is divided by n − `ddof`, 0 as in NumPy
    (PyTorch's default is 1). Raises ValueError if that is not above 0."""
    d = x - mean(x, axis=axis, keepdims=True)
    z = mean(d * d, axis=axis, keepdims=keepdims)
    n = d.size // builtins.max(z.size, 1)
    if n <= ddof:
        raise ValueError(f"var: over {n} entries, and ddof is {ddof}")
    return z * (n / (n - ddof)) if ddof else z


def std(x, axis=None, keepdims=False, ddof=0):
    """The square root of `var`. Where that is 0 it has no slope, and the gradient is nan."""
    return sqrt(var(x, axis, keepdims, ddof))


def flip(x, axis=None):
    """`x` with the order of its entries reversed along `axis`: an int, a tuple or None for all."""
    axes = range(np.ndim(x))
    flipped = axes if axis is None else normalize_axis_tuple(axis, len(axes), f"flip of shape {np.shape(x)}")
    return getitem(x, index=tuple(slice(None, None, -1 if k in flipped else 1) for k in axes))


def split(x, parts, axis=0):
    """A list of the parts of `x` along `axis`: so many of equal length, or cut before each index of a sequence.

    Raises ValueError if the parts would not be of equal length.
    """
    shape = np.shape(x)
    axis = normalize_axis_index(axis, len(shape), f"split of shape {shape}")
    if not np.ndim(parts) and (parts < 1 or shape[axis] % parts):
        raise ValueError(f"split: axis {axis} has {shape[axis]} entries, which are not {parts} equal parts")
    cuts = list(parts) if np.ndim(parts) else [shape[axis] // parts * k for k in range(1, parts)]
    return [getitem(x, index=(slice(None),) * axis + (slice(start, end),)) for start, end in zip([0, *cuts], [*cuts, shape[axis]])]


def pad(x, pad_width):
    """`x` with zeros around it: so many on every side, or (before, after), or such a pair for each axis, as in NumPy."""
    shape = np.shape(x)
    widths = np.broadcast_to(pad_width, (len(shape), 2)).tolist()
    if any(n < 0 for pair in widths for n in pair):
        raise ValueError(f"pad: widths of 0 or more are needed, not {pad_width}")
    index = tuple(slice(before, before + n) for (before, _), n in zip(widths, shape))
    return scatter(x, index=index, shape=tuple(n + before + after for (before, after), n in zip(widths, shape)))


def dot(x, y):
    """NumPy's dot: the product of scalars or of matrices; with more axes, the sum over the last axis of `x` and
    the last but one of `y`."""
    x_shape, y_shape = np.shape(x), np.shape(y)
    if not x_shape or not y_shape:
        return multiply(x, y)
    if len(y_shape) <= 2:
        return matmul(x, y)
    axes = (len(y_shape) - 2, *range(len(y_shape) - 2), len(y_shape) - 1)
    others = y_shape[:-2] + y_shape[-1:]
    flat = reshape(transpose(y, axes), (y_shape[-2], math.prod(others)))
    return reshape(matmul(x, flat), x_shape[:-1] + others)


ROWS = {row.name: row for row in list(globals().values()) if isinstance(row, Primitive)}
