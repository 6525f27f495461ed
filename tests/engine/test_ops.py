"""Every row of the table is tested, because the tests take the rows from the table; further
tests cover every form of arguments that NumPy accepts.
"""

import functools
import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import autograd_lib as ag
from autograd_course.op_inputs import SAMPLES
from autograd_lib import Tensor, ops

ROWS = sorted(ops.ROWS.values(), key=lambda row: row.name)
SPANS = {"positive": (0.3, 0.9), "negative": (-0.9, -0.3), "wide": (-3.0, 3.0)}


def pair(n):
    return n if isinstance(n, tuple) else (n, n)


def conv_by_indices(x, y, stride=1, padding=0):
    """Compute z[n, k, i, j] = Σ x[n, c, i·stride + a − padding, j·stride + b − padding]·y[k, c, a,
    b] over the pixels that exist.
    """
    (sh, sw), (ph, pw), (_, _, height, width), (_, channels, kh, kw) = (
        pair(stride),
        pair(padding),
        x.shape,
        y.shape,
    )
    z = np.zeros(
        (len(x), len(y), (height + 2 * ph - kh) // sh + 1, (width + 2 * pw - kw) // sw + 1)
    )
    for n, k, i, j in np.ndindex(z.shape):
        for c, a, b in np.ndindex(channels, kh, kw):
            row, column = i * sh + a - ph, j * sw + b - pw
            if 0 <= row < height and 0 <= column < width:
                z[n, k, i, j] += x[n, c, row, column] * y[k, c, a, b]
    return z


def unfold_by_indices(x, kernel_size, **keywords):
    """Unfold by a convolution whose kernels each pick one entry of the window: row, column,
    channel.
    """
    kh, kw = pair(kernel_size)
    c = x.shape[1]
    picks = np.eye(kh * kw * c).reshape(-1, kh, kw, c).transpose(0, 3, 1, 2)
    return conv_by_indices(x, picks, **keywords).reshape(len(x), kh * kw * c, -1).transpose(0, 2, 1)


def fold_by_indices(x, output_size, kernel_size, **keywords):
    """Fold by an image of numbered pixels, which tells where each entry belongs; 0 is the padding."""
    kh, kw = pair(kernel_size)
    places = unfold_by_indices(
        np.arange(1.0, 1 + np.prod(output_size)).reshape(1, 1, *output_size),
        kernel_size,
        **keywords,
    )[0].astype(int)
    out = np.zeros((len(x), x.shape[2] // (kh * kw), 1 + np.prod(output_size)))
    for n, c in np.ndindex(out.shape[:2]):
        np.add.at(out[n, c], places, x[n].reshape(*places.shape, -1)[..., c])
    return out[..., 1:].reshape(*out.shape[:2], *output_size)


REFERENCES = {  # functions that NumPy lacks under the row's name
    "relu": lambda x: np.where(x > 0, x, 0),
    "sigmoid": lambda x: 0.5 * (1 + np.tanh(x / 2)),
    "softplus": lambda x: np.log1p(np.exp(x)),
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "logsumexp": lambda x, **kw: np.log(np.sum(np.exp(x), **kw)),
    "softmax": lambda x, axis=-1: np.exp(x) / np.exp(x).sum(axis, keepdims=True),
    "log_softmax": lambda x, axis=-1: x - np.log(np.exp(x).sum(axis, keepdims=True)),
    "nll_loss": lambda x, target: -np.mean(np.take_along_axis(x, target[:, None], 1)),
    "getitem": lambda x, index: x[index],
    "scatter": lambda x, index, shape: (lambda out: (np.add.at(out, index, x), out)[1])(
        np.zeros(shape)
    ),
    "concatenate": lambda *xs, axis, starts: np.concatenate(xs, axis),
    "conv2d": lambda x, y, **kw: conv_by_indices(x, y, **kw),
    "unfold": lambda x, **kw: unfold_by_indices(x, **kw),
    "fold": lambda x, **kw: fold_by_indices(x, **kw),
    "astype": lambda x, dtype: x.astype(dtype),
    "einsum": lambda x, y, a, b, c: np.einsum(f"{a},{b}->{c}", x, y),
}


def spread(shapes, spans, seed=0):
    """Return arrays whose entries are all far from each other, so that no kink or tie is near."""
    sizes = [int(np.prod(shape)) for shape in shapes]
    order = np.random.default_rng(seed).permutation(sum(sizes))
    parts = np.split(order, np.cumsum(sizes)[:-1])
    return [
        (low + (part + 0.45) * (high - low) / sum(sizes)).reshape(shape)
        for part, shape, (low, high) in zip(parts, shapes, spans)
    ]


def samples(row):
    """Return (label, arguments, keywords) for a row, from the table above or from its kind and
    number of arguments.
    """
    if row.name in SAMPLES:
        return [
            (f"{row.name}{k}", spread(shapes, [*span, SPANS["wide"]][:1] * len(shapes)), params)
            for k, (shapes, params, *span) in enumerate(SAMPLES[row.name])
        ]
    found = []
    for choice in itertools.product(SPANS, repeat=len(row.rules)):
        if len(set(choice)) > 1 and len(row.rules) > 2:
            continue
        xs = spread(
            [(2, 3)] * len(row.rules) if row.kind == "elementwise" else [(3, 3)] * len(row.rules),
            [SPANS[span] for span in choice],
        )
        xs = [
            x if rule else x > np.median(x) for x, rule in zip(xs, row.rules)
        ]  # the condition of where has no rule
        with np.errstate(all="ignore"):
            try:
                z = row.function(*xs)
            except Exception:
                continue
        if np.all(np.isfinite(z)):
            found.append((f"{row.name}-{'-'.join(choice)}", xs, {}))
    return found


CASES = [(row, xs, params, label) for row in ROWS for label, xs, params in samples(row)]
cases = pytest.mark.parametrize(
    "row, xs, params", [pytest.param(*case[:3], id=case[3]) for case in CASES]
)
every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
elementwise = pytest.mark.parametrize(
    "row", [r for r in ROWS if r.kind == "elementwise"], ids=lambda row: row.name
)


def domain(row):
    """Return numbers that an elementwise row accepts in all its arguments."""
    return [*SAMPLES.get(row.name, [()])[0][2:], SPANS["positive"]][0]


def direction(shape, seed=1):
    return np.random.default_rng(seed).uniform(0.5, 1.5, shape) * np.random.default_rng(
        seed + 1
    ).choice([-1, 1], shape)


def slopes(f, xs, i, h=1e-3):
    """Return ∂f/∂xs[i] of the scalar f by the four-point central difference, exact to about h⁴."""

    def at(k, shift):
        moved = [np.array(x) for x in xs]
        moved[i][k] += shift
        return float(f(*moved))

    out = np.zeros(np.shape(xs[i]))
    for k in np.ndindex(out.shape):
        out[k] = (8 * (at(k, h) - at(k, -h)) - (at(k, 2 * h) - at(k, -2 * h))) / (12 * h)
    return out


def split(row, xs, params):
    """Return the row as a function of its differentiable arguments, and those arguments."""
    active = [i for i, x in enumerate(xs) if np.asarray(x).dtype.kind == "f"]

    def f(*moving):
        full = list(xs)
        for i, x in zip(active, moving):
            full[i] = x
        return row(*full, **params)

    return f, [xs[i] for i in active]


def agree(f, xs, rtol=1e-6):
    """Assert that backward mode, forward mode and central differences give the same derivatives of
    f, which returns an array.
    """
    value, pull = ag.vjp(f, *xs)
    u, vs = direction(value.shape), [direction(np.shape(x), 7 + i) for i, x in enumerate(xs)]
    grads = pull(u)
    for i, x in enumerate(xs):
        assert grads[i].shape == np.shape(x)
        expected = slopes(lambda *xs: np.sum(np.asarray(f(*xs)) * u), xs, i)
        np.testing.assert_allclose(
            grads[i], expected, rtol=rtol, atol=1e-8, err_msg=f"argument {i}"
        )
    again, tangent = ag.jvp(f, xs, vs)
    np.testing.assert_array_equal(again, value)
    assert tangent.shape == value.shape  # before a sum that would broadcast
    # Both sides are sums of many terms: rounding is relative to the terms, not to a sum near 0.
    scale = sum(np.sum(np.abs(g * v)) for g, v in zip(grads, vs)) + np.sum(np.abs(u * tangent)) + 1
    assert abs(np.sum(u * tangent) - sum(np.sum(g * v) for g, v in zip(grads, vs))) < 1e-13 * scale


# --- The table over itself -------------------------------------------------------------------------------


@every_row
def test_row_has_a_sample(row):
    assert samples(row), (
        f"the row {row.name!r} gives no finite number on arrays between -3 and 3: add an entry to SAMPLES in "
        f"autograd_course/op_inputs.py that says with what shapes, keywords and numbers it is to be called"
    )


@every_row
def test_every_keyword_is_in_a_sample(row):
    """A keyword that no sample uses could be ignored by a rule without any test here failing."""
    unseen = set(row.keywords).difference(*(params for _, _, params in samples(row)))
    assert not unseen, (
        f"add an entry to SAMPLES in autograd_course/op_inputs.py that calls {row.name!r} with {', '.join(sorted(unseen))}"
    )


@cases
def test_values_agree_with_numpy(row, xs, params):
    reference = REFERENCES.get(row.name) or getattr(
        np, row.name
    )  # otherwise REFERENCES lacks an entry
    z = row(*[Tensor(x, requires_grad=x.dtype.kind == "f") for x in xs], **params)
    np.testing.assert_allclose(z.data, reference(*xs, **params), rtol=1e-12, atol=1e-15)
    plain = row(*xs, **params)
    assert not isinstance(plain, Tensor)
    np.testing.assert_array_equal(plain, z.data)


@cases
def test_first_derivative_by_differences_and_both_modes(row, xs, params):
    agree(*split(row, xs, params))


def along(row, xs, params, i, step):
    """Return the row's function with argument i moved by a (complex) step, and the direction of
    the step.
    """
    v = direction(np.shape(xs[i]), 3)
    return row.function(*xs[:i], xs[i] + step * v, *xs[i + 1 :], **params), v


def analytic(row, xs, params, i):
    """Return True if the function accepts complex numbers and has the same slope along i as along
    1, unlike abs.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            z, up, down = [along(row, xs, params, i, step)[0] for step in (1e-20j, 1e-6, -1e-6)]
    except (TypeError, np.exceptions.ComplexWarning):
        return False
    return np.iscomplexobj(z) and np.allclose(
        np.imag(z) / 1e-20, (up - down) / 2e-6, rtol=1e-4, atol=1e-4
    )


COMPLEX = [
    pytest.param(row, xs, params, i, id=f"{label}-{i}")
    for row, xs, params, label in CASES
    for i in range(len(xs))
    if xs[i].dtype.kind == "f" and analytic(row, xs, params, i)
]


@pytest.mark.parametrize("row, xs, params, i", COMPLEX)
def test_first_derivative_by_complex_step(row, xs, params, i):
    """Im f(x + ih)/h involves no cancellation, so it is exact to rounding."""
    z, v = along(row, xs, params, i, 1e-20j)
    _, tangent = ag.jvp(lambda x: row(*xs[:i], x, *xs[i + 1 :], **params), (xs[i],), (v,))
    np.testing.assert_allclose(tangent, np.imag(z) / 1e-20, rtol=1e-12, atol=1e-14)


def test_complex_step_applies_to_most_rows():
    assert len({case.values[0] for case in COMPLEX}) > 0.6 * len(ROWS)


@cases
def test_second_derivative_in_every_mix_of_modes(row, xs, params):
    f, moving = split(row, xs, params)
    u = direction(np.shape(f(*moving)))
    vs = [direction(np.shape(x), 5 + i) for i, x in enumerate(moving)]

    def slope(
        *xs,
    ):  # the derivative of Σ u·z³ along vs: the cube keeps linear rows from being trivial
        z, tangent = ag.jvp(f, xs, vs)
        return ag.sum(3 * u * z * z * tangent)

    def backward_slope(*xs):
        z, pull = ag.vjp(f, *xs)
        return sum(ag.sum(g * v) for g, v in zip(pull(3 * u * z * z), vs))

    def raw(*xs):
        return float(backward_slope(*xs))

    expected = [slopes(raw, moving, i) for i in range(len(moving))]
    for first in (slope, backward_slope):
        _, pull = ag.vjp(first, *moving)
        for i, got in enumerate(pull(1.0)):
            np.testing.assert_allclose(
                got, expected[i], rtol=1e-5, atol=1e-7, err_msg=f"argument {i}"
            )
        _, tangent = ag.jvp(first, moving, vs)
        np.testing.assert_allclose(
            tangent, sum(np.sum(e * v) for e, v in zip(expected, vs)), rtol=1e-5, atol=1e-6
        )


@cases
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_is_kept(row, xs, params, dtype):
    if row.name == "astype":
        params = {"dtype": dtype}
    xs = [x.astype(dtype) if x.dtype.kind == "f" else x for x in xs]
    ts = [Tensor(x, requires_grad=x.dtype.kind == "f") for x in xs]
    z = row(*ts, **params)
    assert z.dtype == dtype
    z.backward(np.ones(z.shape))
    assert all(
        t.grad.dtype == dtype and isinstance(t.grad, np.ndarray) for t in ts if t.requires_grad
    )
    f, moving = split(row, xs, params)
    value, tangent = ag.jvp(f, moving, moving)
    assert value.dtype == tangent.dtype == dtype
    assert all(g.dtype == dtype for g in ag.vjp(f, *moving)[1](value))


@cases
def test_neither_inputs_nor_gradient_are_written_to(row, xs, params):
    """Read-only, reversed and Fortran-ordered arrays give the same numbers as fresh ones."""
    f, moving = split(row, xs, params)
    value, pull = ag.vjp(f, *moving)
    expected = pull(value)

    def fortran(x):
        return np.array(x, order="F")

    def reversed_twice(x):
        return np.array(x[::-1])[::-1] if np.ndim(x) else np.array(x)

    for disguise in (fortran, reversed_twice):
        other = [disguise(x) for x in moving]
        for x in other:
            x.flags.writeable = False
        z, pull = ag.vjp(f, *other)
        np.testing.assert_allclose(z, value, rtol=1e-14)
        seed = disguise(value)
        seed.flags.writeable = False
        for got, want in zip(pull(seed), expected):
            np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize(
    "row, xs, params",
    [
        pytest.param(*case[:3], id=case[3])
        for case in CASES
        if case[0].kind in ("elementwise", "bilinear") and len(case[1]) > 1
    ],
)
def test_only_needed_rules_run(row, xs, params):
    """Catch an engine that runs every rule, including those of arguments that need no
    gradient.
    """
    for wanted in [i for i, rule in enumerate(row.rules) if rule]:
        called = []

        def spy(i, rule):
            return functools.wraps(rule)(
                lambda *given, **keywords: (called.append(i), rule(*given, **keywords))[1]
            )

        spies = [rule and spy(i, rule) for i, rule in enumerate(row.rules)]
        spied = getattr(ag, row.kind)(row.function, *spies, name=row.name)
        z = spied(*[Tensor(x, requires_grad=i == wanted) for i, x in enumerate(xs)], **params)
        z.backward(np.ones(z.shape))
        assert called == [wanted]


@elementwise
@given(data=st.data())
def test_broadcasting_in_all_pairs(row, data):
    """The gradient of a broadcast array is the gradient of its copies, summed over the copied
    axes.
    """
    n = len(row.rules)
    shapes, shape = data.draw(
        hnp.mutually_broadcastable_shapes(num_shapes=n, max_dims=3, min_side=0, max_side=3)
    )
    xs = spread(shapes, [domain(row)] * n)
    xs = [x if rule else x > 0.6 for x, rule in zip(xs, row.rules)]
    active = [i for i in range(n) if row.rules[i]]
    u = direction(shape)

    def gradients(arrays):
        ts = [Tensor(x, requires_grad=i in active) for i, x in enumerate(arrays)]
        z = row(*ts)
        assert z.shape == shape
        z.backward(u)
        return [ts[i].grad for i in active]

    copies = gradients([np.array(np.broadcast_to(x, shape)) for x in xs])
    for i, got, copied in zip(active, gradients(xs), copies):
        expected = np.zeros(xs[i].shape)
        own = np.broadcast_to(np.arange(xs[i].size).reshape(xs[i].shape), shape)
        np.add.at(expected.reshape(-1), own.ravel(), copied.ravel())
        assert got.shape == xs[i].shape
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-14)
        v = direction(xs[i].shape, 3)
        value, tangent = ag.jvp(lambda x, i=i: row(*xs[:i], x, *xs[i + 1 :]), (xs[i],), (v,))
        assert tangent.shape == value.shape == shape  # forward mode broadcasts up
        scale = 1 + np.sum(np.abs(expected * v))
        assert abs(np.sum(u * tangent) - np.sum(expected * v)) < 1e-12 * scale


@elementwise
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 1)])
def test_empty_and_0d(row, shape):
    xs = spread([shape] * len(row.rules), [domain(row)] * len(row.rules))
    ts = [Tensor(x if rule else x > 0, requires_grad=bool(rule)) for x, rule in zip(xs, row.rules)]
    z = row(*ts)
    assert z.shape == shape and z.data.shape == shape
    z.backward(np.ones(shape))
    for t in ts:
        if t.requires_grad:
            assert (
                type(t.grad) is np.ndarray and t.grad.shape == shape and t.grad.dtype == np.float64
            )


@elementwise
def test_python_scalars_never_promote(row):
    for i in range(len(row.rules)):
        for other in (2, 0.5, True):
            xs = [
                Tensor(np.float32([0.6, 0.7]), requires_grad=True) if k == i else other
                for k in range(len(row.rules))
            ]
            if (
                row.rules[i] is None or row.name == "clip" and i
            ):  # np.clip itself promotes a scalar between array bounds
                continue
            z = row(*xs)
            assert z.dtype == np.float32
            z.backward(np.ones(2))
            assert xs[i].grad.dtype == np.float32
            value, tangent = ag.jvp(
                lambda x, i=i, xs=xs: row(*xs[:i], x, *xs[i + 1 :]), (xs[i].data,), (xs[i].data,)
            )
            assert tangent.dtype == value.dtype == np.float32


# --- Kinks, ties and large numbers -----------------------------------------------------------------------


def gradient(f, x):
    return ag.vjp(f, np.array(x, float))[1](np.ones(np.shape(f(np.array(x, float)))))[0]


@pytest.mark.parametrize(
    "f, x, expected",
    [
        (ag.relu, [-1.0, 0.0, -0.0, 2.0], [0, 0, 0, 1]),
        (ag.abs, [-1.0, 0.0, -0.0, 2.0], [-1, 0, 0, 1]),
        (lambda x: ag.maximum(x, 1.0), [0.0, 1.0, 2.0], [0, 0.5, 1]),
        (lambda x: ag.minimum(1.0, x), [0.0, 1.0, 2.0], [1, 0.5, 0]),
        (lambda x: ag.maximum(x, x), [1.0], [1]),
        (lambda x: ag.clip(x, 0.0, 1.0), [-1.0, 0.0, 0.5, 1.0, 2.0], [0, 1, 1, 1, 0]),
        (lambda x: ag.max(x), [1.0, 3.0, 3.0, 3.0], [0, 1 / 3, 1 / 3, 1 / 3]),
        (lambda x: ag.min(x), [1.0, 1.0, 3.0], [0.5, 0.5, 0]),
        (lambda x: ag.max(x, axis=1), [[1.0, 1.0], [1.0, 2.0]], [[0.5, 0.5], [0, 1]]),
        (lambda x: x**0, [0.0, 2.0], [0, 0]),
        (lambda x: x**1, [0.0, -2.0], [1, 1]),
        (lambda x: x**2, [0.0, -2.0], [0, -4]),
        (lambda x: ag.power(0.0, x), [2.0], [0]),
        (lambda x: ag.where(x > 0, ag.sqrt(ag.where(x > 0, x, 1)), 0), [0.0, 4.0], [0, 0.25]),
    ],
)
def test_kinks_and_ties_have_a_stated_rule(f, x, expected):
    """Catch relu with x >= 0, abs with where(x >= 0, 1, -1), and max without dividing by the
    number of ties.
    """
    with np.errstate(all="raise"):
        np.testing.assert_allclose(gradient(f, x), expected, rtol=1e-15)
        tangent = ag.jvp(f, (np.array(x),), (np.ones(np.shape(x)),))[1]
        assert np.isclose(np.sum(tangent), np.sum(expected))


@pytest.mark.parametrize("axis", [0, 2, (2, 4), (4, 2), (0, 1)])
@pytest.mark.parametrize("name", ["max", "min"])
def test_short_axes_of_large_arrays_are_reduced_alike(name, axis):
    """Short axes are reduced entry by entry. Catches a missing division by the ties, and one
    axis too few in the slices.
    """
    x = np.random.default_rng(0).integers(0, 3, (2, 7, 3, 11, 2, 16)).astype(float)  # full of ties
    row, reduce = getattr(ag, name), getattr(np, name)
    assert (
        len(ag.ops._slices_along(x, axis)) > 1
        and not ag.ops._slices_along(x, (5,))
        and not ag.ops._slices_along(x[..., :2], axis)
    )
    for keepdims in (False, True):
        z = reduce(x, axis=axis, keepdims=keepdims)
        np.testing.assert_array_equal(row(x, axis=axis, keepdims=keepdims), z)
        g = np.random.default_rng(1).normal(size=z.shape)
        best = x == reduce(x, axis=axis, keepdims=True)
        spread = g if keepdims else np.expand_dims(g, axis)
        np.testing.assert_allclose(
            ag.vjp(lambda x: row(x, axis=axis, keepdims=keepdims), x)[1](g)[0],
            spread * best / best.sum(axis=axis, keepdims=True),
            rtol=1e-15,
        )
    x[0, 0, 0] = np.nan
    np.testing.assert_array_equal(row(x, axis=axis), reduce(x, axis=axis))


def test_exponent_of_a_negative_base_is_undefined_not_a_number_by_log_of_the_absolute_value():
    with np.errstate(invalid="ignore"):
        assert np.isnan(gradient(lambda y: ag.power(-3.0, y), 2.0))


def test_higher_derivatives_of_a_square_at_zero():
    for y in (2, 2.0, np.array(2.0), np.int8(2)):
        d = ag.grad(lambda x, y=y: x**y)
        assert (d(0.0), ag.grad(d)(0.0), ag.grad(ag.grad(d))(0.0)) == (0, 2, 0)


@pytest.mark.parametrize(
    "f, value, slope",
    [
        (ag.tanh, [-1, 1], [0, 0]),
        (ag.sigmoid, [0, 1], [0, 0]),
        (ag.softplus, [0, 1000], [0, 1]),
        (ag.gelu, [0, 1000], [0, 1]),
        (ag.logsumexp, 1000, [0, 1]),
        (ag.softmax, [0, 1], [0, 0]),
        (ag.log_softmax, [-2000, 0], [1, -1]),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exact_at_plus_and_minus_1000(f, value, slope, dtype):
    """Catch sigmoid as 1/(1 + exp(-x)), logsumexp without its shift, and tanh by exp(2x)."""
    x = np.array([-1000, 1000], dtype)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        z, pull = ag.vjp(f, x)
        np.testing.assert_array_equal(z, value)
        np.testing.assert_array_equal(pull(np.ones(z.shape))[0], slope)
        assert np.all(np.isfinite(ag.jvp(f, (x,), (np.ones(2),))[1]))
        second = ag.hvp(
            lambda x: ag.sum(f(x) * np.array([1, 2], dtype)[: z.ndim and 2]), x, np.ones(2)
        )
        np.testing.assert_array_equal(second, 0)


def test_cross_entropy_is_exact_at_plus_and_minus_1000():
    x = Tensor([[1000.0, -1000.0, 0.0], [-1000.0, 1000.0, -1000.0]], requires_grad=True)
    loss = ag.nn.functional.cross_entropy(x, [1, 1])
    loss.backward()
    assert loss.item() == 1000
    np.testing.assert_array_equal(x.grad, [[0.5, -0.5, 0], [0, 0, 0]])


@pytest.mark.parametrize(
    "dtype, low",
    [(np.float32, -1e5), (np.float32, -1e9), (np.float64, -1e17), (np.float64, -np.inf)],
)
def test_cross_entropy_of_a_true_class_far_below(dtype, low):
    """Regression: the rule recovered log Σ eˣ from the loss, which had rounded it away (27.1 for
    0.909).
    """
    x = Tensor(np.array([[low, 3.3, 1.0]], dtype), requires_grad=True)
    ag.nn.functional.cross_entropy(x, [0]).backward()
    np.testing.assert_allclose(
        x.grad, [[-1, 1 / (1 + np.exp(-2.3)), 1 / (1 + np.exp(2.3))]], rtol=1e-6
    )


@pytest.mark.parametrize("dtype, size", [(np.float32, 1e20), (np.float64, 1e200)])
def test_gelu_of_huge_numbers(dtype, size):
    """Regression: nan, from 0·∞."""
    with np.errstate(over="ignore"):
        got = [ag.value_and_grad(ag.gelu)(dtype(x)) for x in (size, -size)]
    assert got == [(dtype(size), 1), (0, 0)]


@pytest.mark.parametrize(
    "dtype, shifts",
    [(np.float32, (0, 100, 1000, -1000, 2.0**20, -(2.0**20))), (np.float64, (0, 2.0**40))],
)
def test_adding_to_all_logits_changes_nothing(dtype, shifts):
    """Results agree to the last digits. Regression: log Σ eˣ of large logits has no digits left
    for their differences.
    """
    x = np.array([0.0, 0.5, -1.0])
    p = np.exp(x) / np.exp(x).sum()
    digits = 4 * np.finfo(dtype).eps
    for shift in shifts:
        moved = (x + shift).astype(dtype)
        t = Tensor(moved[None], requires_grad=True)
        loss = ag.nn.functional.cross_entropy(t, [0])
        loss.backward()
        for got, expected in [
            (ag.softmax(moved), p),
            (ag.log_softmax(moved), np.log(p)),
            (loss.data, -np.log(p[0])),
            (ag.grad(ag.logsumexp)(moved), p),
            (t.grad, [p - [1, 0, 0]]),
            (ag.grad(lambda x: ag.log_softmax(x)[0])(moved), [1, 0, 0] - p),
        ]:
            np.testing.assert_allclose(got, expected, rtol=digits)


@pytest.mark.parametrize(
    "dtype, size", [(np.float16, 6e4), (np.float32, 3e38), (np.float64, 1e300)]
)
def test_logsumexp_and_softmax_at_any_size(dtype, size):
    """Regression: the shift was clipped at 3e38, which float64 exceeds and float16 cannot hold."""
    x = np.array([size, size / 2], dtype)
    with np.errstate(all="raise", under="ignore"):
        for sign, expected in [(1, [1, 0]), (-1, [0, 1])]:
            value, slope = ag.value_and_grad(ag.logsumexp)(sign * x)
            assert value == (sign * x).max()
            np.testing.assert_array_equal(slope, expected)
            np.testing.assert_array_equal(ag.softmax(sign * x), expected)
            t = Tensor(sign * x[None], requires_grad=True)
            ag.nn.functional.cross_entropy(t, [int(np.argmax(sign * x))]).backward()
            np.testing.assert_array_equal(t.grad, [[0, 0]])
        value, slope = ag.value_and_grad(ag.logsumexp)(np.full(2, -size, dtype))
        assert np.isfinite(value)
        np.testing.assert_array_equal(slope, 0.5)


def test_repeated_indices_in_every_dtype():
    for dtype in (np.float16, np.float32, np.float64, np.longdouble):
        x = Tensor(np.ones(3, dtype), requires_grad=True)
        for index in ([0, 0, 2, 2, 2], [0, 0]):
            x.grad = None
            g = (dtype(1) + np.finfo(dtype).eps) * np.ones(len(index), dtype)
            x[index].backward(g)
            assert x.grad.dtype == dtype
            np.testing.assert_array_equal(x.grad[0], g[0] + g[1])


def test_averages_over_more_rows_than_float16_can_count():
    """Regression: nan, because n above 65,504 is infinite in float16."""
    n = 70_000
    x = Tensor(np.ones((n, 1), np.float16), requires_grad=True)
    x.mean().backward()
    np.testing.assert_allclose(x.grad, 1 / n, rtol=5e-3)  # to the precision of float16
    x.grad = None
    x.max().backward()
    np.testing.assert_allclose(x.grad, 1 / n, rtol=5e-3)
    x.grad = None
    loss = ag.nll_loss(x, target=np.zeros(n, int))
    loss.backward()
    assert loss.item() == -1
    np.testing.assert_allclose(x.grad, -1 / n, rtol=5e-3)


def test_nll_loss_of_an_invalid_class():
    """Regression: class −1 was taken for the last class."""
    x = Tensor(np.zeros((2, 3)), requires_grad=True)
    for target, error in [
        (np.array([0, -1]), IndexError),
        (np.array([0, 3]), IndexError),
        ([0, 1], ValueError),
        (np.array([0.0, 1.0]), ValueError),
        (np.array([0]), ValueError),
        (np.array([True, False]), ValueError),
    ]:
        with pytest.raises(error, match="nll_loss"):
            ag.nll_loss(x, target=target)


def test_tiny_probabilities_keep_their_digits():
    np.testing.assert_allclose(gradient(ag.sigmoid, -100.0), np.exp(-100.0), rtol=1e-14)
    np.testing.assert_allclose(gradient(ag.softplus, -700.0), np.exp(-700.0), rtol=1e-13)
    np.testing.assert_allclose(ag.log_softmax(np.array([0.0, 800.0])), [-800, 0], rtol=1e-15)


@pytest.mark.parametrize("f, z", [(ag.logsumexp, 2.5), (ag.softmax, 1.0), (ag.log_softmax, 0.0)])
def test_softmax_of_one_number(f, z):
    """Regression: "float object has no attribute max"."""
    assert f(2.5) == z and ag.grad(f)(2.5) == (f is ag.logsumexp)


def test_minus_infinity_masks():
    x = np.array([0.0, -np.inf, 1.0])
    with np.errstate(all="raise", under="ignore"):
        for f in (
            ag.logsumexp,
            lambda x: ag.sum(ag.softmax(x) * np.array([1.0, 2, 3])),
            lambda x: ag.log_softmax(x)[0],
        ):
            got = ag.grad(f)(x)
            assert got[1] == 0
            np.testing.assert_allclose(got, ag.grad(f)(np.array([0.0, -800.0, 1.0])), rtol=1e-14)


# --- Forms of arguments ----------------------------------------------------------------------------------

AXES = [None, 0, 1, 2, -1, -3, (0,), (0, 2), (-1, 0), (0, 1, 2), (2, 0, 1), ()]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "logsumexp"])
def test_reductions_over_every_form_of_axis(name, axis, keepdims):
    row = getattr(ops, name)
    (x,) = spread([(2, 3, 2)], [SPANS["wide"]])
    reference = REFERENCES.get(name) or getattr(np, name)
    t = Tensor(x, requires_grad=True)
    for z in (
        row(t, axis=axis, keepdims=keepdims),
        getattr(t, name)(axis=axis, keepdims=keepdims),
        row(t, axis, keepdims=keepdims),
    ):
        np.testing.assert_allclose(z.data, reference(x, axis=axis, keepdims=keepdims), rtol=1e-14)
    agree(lambda x: row(x, axis=axis, keepdims=keepdims), [x])


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "logsumexp"])
def test_reductions_of_0d_arrays(name):
    agree(getattr(ops, name), [np.array(0.7)])
    agree(lambda x: getattr(ops, name)(x, keepdims=True), [np.array(0.7)])


def test_reductions_of_empty_arrays():
    for shape, axis in [((0, 3), 0), ((0, 3), None), ((2, 0), 1), ((0, 3), 1)]:
        z, pull = ag.vjp(lambda x, axis=axis: ag.sum(x, axis=axis), np.zeros(shape))
        assert np.all(z == 0) and pull(z)[0].shape == shape
    z, pull = ag.vjp(lambda x: ag.mean(x, axis=1), np.zeros((0, 3)))
    assert pull(z)[0].shape == (0, 3)
    for f in (ag.max, ag.min):
        with pytest.raises(ValueError, match=f"{f.name}: an empty array"):
            f(Tensor(np.zeros((0, 3)), requires_grad=True), axis=0)


@pytest.mark.parametrize(
    "shapes",
    [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 4)),
        ((2, 3), (3, 4)),
        ((5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)),
        ((5, 2, 3), (5, 3, 4)),
        ((1, 2, 3), (5, 3, 4)),
        ((5, 2, 3), (1, 3, 4)),
        ((2, 1, 2, 3), (4, 3, 2)),
        ((3,), (5, 3, 4)),
        ((5, 2, 3), (3,)),
        ((1, 3), (3, 1)),
        ((2, 0), (0, 3)),
        ((0, 3), (3, 2)),
        ((0, 2, 3), (3, 4)),
        ((0,), (0,)),
        ((2, 3), (0, 3, 4)),
    ],
    ids=str,
)
def test_matmul_of_every_shape(shapes):
    xs = spread(shapes, [SPANS["wide"]] * 2)
    np.testing.assert_allclose(
        ag.matmul(*xs), np.matmul(*xs), rtol=1e-14, atol=1e-15
    )  # BLAS may add in another order
    assert np.shape(ag.matmul(*xs)) == np.matmul(*xs).shape
    agree(ag.matmul, xs)
    agree(lambda x: x @ xs[1], xs[:1])
    agree(lambda y: xs[0] @ y, xs[1:])


def test_matmul_of_a_matrix_by_itself():
    """A@A sends a gradient through both inputs, and equal shapes would hide a missing one:
    [[1,2],[3,4]] must give [[7,11],[9,13]].
    """
    a = Tensor([[1.0, 2], [3, 4]], requires_grad=True)
    (a @ a).sum().backward()
    np.testing.assert_array_equal(a.grad, [[7, 11], [9, 13]])


@pytest.mark.parametrize(
    "shapes",
    [
        ((), ()),
        ((), (2, 3)),
        ((2, 3), ()),
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((2, 3), (3, 4)),
        ((3,), (2, 3, 4)),
        ((2, 3), (5, 3, 4)),
        ((2, 2, 3), (3,)),
        ((2, 2, 3), (3, 4)),
        ((2, 2, 3), (2, 3, 4)),
        ((2, 0), (3, 0, 2)),
        ((0, 3), (2, 3, 4)),
    ],
    ids=str,
)
def test_dot_of_every_shape(shapes):
    xs = spread(shapes, [SPANS["wide"]] * 2)
    np.testing.assert_allclose(ag.dot(*xs), np.dot(*xs), rtol=1e-14, atol=1e-15)
    assert np.shape(ag.dot(*xs)) == np.dot(*xs).shape
    agree(ag.dot, xs)


@pytest.mark.parametrize(
    "axes", [None, *itertools.permutations(range(3)), (-1, 0, 1), (-3, -1, -2), (1, -1, 0)], ids=str
)
@pytest.mark.parametrize("shape", [(2, 3, 4), (3, 3, 3)])
def test_transpose_of_every_form(shape, axes):
    """With axes of equal length, a shape check cannot detect a wrong inverse. Catches argsort of
    negative axes.
    """
    (x,) = spread([shape], [SPANS["wide"]])
    np.testing.assert_array_equal(ag.transpose(x, axes), np.transpose(x, axes))
    agree(lambda x: ag.transpose(x, axes), [x])
    t = Tensor(x, requires_grad=True)
    forms = [t.transpose(axes), np.transpose(t, axes)] + (
        [t.T, t.transpose()] if axes is None else [t.transpose(*axes)]
    )
    for z in forms:
        np.testing.assert_array_equal(z.data, np.transpose(x, axes))


@pytest.mark.parametrize("axes", [(0, 1), (-1, 0), (1, -2), (2, 2)])
def test_swapaxes(axes):
    (x,) = spread([(3, 2, 3)], [SPANS["wide"]])
    np.testing.assert_array_equal(ag.swapaxes(x, *axes), np.swapaxes(x, *axes))
    agree(lambda x: ag.swapaxes(x, *axes), [x])


def test_swapaxes_names_itself_in_its_error():
    with pytest.raises(np.exceptions.AxisError, match="swapaxes"):
        ag.swapaxes(Tensor(np.zeros((2, 2)), requires_grad=True), 0, 5)


@pytest.mark.parametrize("shape", [(6,), (2, -1), -1, 6, (1, 2, 3), (3, 2, 1), [2, 3]], ids=str)
def test_reshape_of_every_form(shape):
    (x,) = spread([(2, 3)], [SPANS["wide"]])
    for order in (np.ascontiguousarray, np.asfortranarray):
        agree(lambda x: ag.reshape(x, shape), [order(x)])
        t = Tensor(order(x), requires_grad=True)
        forms = [t.reshape(shape), np.reshape(t, shape)] + (
            [t.reshape(*shape)] if np.ndim(shape) else []
        )
        for z in forms:
            np.testing.assert_array_equal(z.data, np.reshape(x, shape))
            t.grad = None
            z.backward(np.arange(6.0).reshape(z.shape))
            np.testing.assert_array_equal(t.grad, np.arange(6.0).reshape(2, 3))


def test_squeeze_expand_dims_and_broadcast_to():
    (x,) = spread([(1, 3, 1)], [SPANS["wide"]])
    for axis in (None, 0, -1, (0, 2)):
        agree(lambda x, axis=axis: ag.squeeze(x, axis=axis), [x])
    for axis in (0, -1, 1, (0, -1)):
        agree(lambda x, axis=axis: ag.expand_dims(x, axis), [x])
    for shape in ((1, 3, 1), (2, 3, 4), (5, 1, 3, 2), (0, 3, 1)):
        agree(lambda x, shape=shape: ag.broadcast_to(x, shape), [x])
    agree(lambda x: ag.broadcast_to(x, (2, 0)), [np.array(1.0)])


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3, None])
def test_concatenate_along_every_axis(axis):
    shapes = [[2, 3, 2] for _ in range(3)]
    if axis is not None:
        shapes[1][axis], shapes[2][axis] = 1, 0
    xs = spread([tuple(s) for s in shapes], [SPANS["wide"]] * 3)
    np.testing.assert_array_equal(ag.concatenate(xs, axis), np.concatenate(xs, axis))
    agree(lambda *xs: ag.concatenate(xs, axis), xs)
    agree(lambda x: np.concatenate([xs[0], x, x], axis=axis), xs[1:2])


def test_fold_takes_one_number_for_both_directions():
    x = np.arange(64.0).reshape(1, 16, 4)
    np.testing.assert_array_equal(ag.fold(x, 5, 2), ag.fold(x, (5, 5), (2, 2)))
    np.testing.assert_array_equal(ag.swapaxes([[1.0, 2.0]], 0, 1), [[1], [2]])


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_stack_along_every_axis(axis):
    xs = spread([(2, 3)] * 3, [SPANS["wide"]] * 3)
    np.testing.assert_array_equal(ag.stack(xs, axis), np.stack(xs, axis))
    agree(lambda *xs: ag.stack(xs, axis), xs)
    agree(lambda x: np.stack([xs[0], x, x], axis=axis), xs[1:2])


def test_concatenate_and_stack_take_any_sequence():
    t = Tensor(np.ones((2, 3)), requires_grad=True)
    ag.concatenate(row * k for k, row in enumerate(t)).sum().backward()
    np.testing.assert_array_equal(t.grad, [[0, 0, 0], [1, 1, 1]])
    assert ag.stack((t, t)).shape == (2, 2, 3)
    a, b = (Tensor(np.ones(2, d), requires_grad=True) for d in (np.float32, np.float64))
    z = ag.concatenate([a, b])
    z.backward(np.arange(4.0))
    assert z.dtype == np.float64 and a.grad.dtype == np.float32
    np.testing.assert_array_equal(a.grad, [0, 1])
    np.testing.assert_array_equal(b.grad, [2, 3])


@pytest.mark.parametrize(
    "axis, keepdims, ddof", [(None, False, 0), (0, False, 1), ((0, -1), True, 1), (1, True, 0)]
)
def test_var_and_std(axis, keepdims, ddof):
    (x,) = spread([(2, 3, 4)], [SPANS["wide"]])
    keywords = {"axis": axis, "keepdims": keepdims, "ddof": ddof}
    for name in ("var", "std"):
        f, theirs = getattr(ag, name), getattr(np, name)
        t = Tensor(x, requires_grad=True)
        for z in (f(t, **keywords), getattr(t, name)(**keywords), theirs(t, **keywords)):
            np.testing.assert_allclose(z.data, theirs(x, **keywords), rtol=1e-13)
        agree(lambda x, f=f: f(x, **keywords), [x])
        assert f(x.astype(np.float32)).dtype == np.float32
    with pytest.raises(ValueError, match="var: .*ddof"):
        ag.var(x[0, 0, :1], ddof=1)


def test_flip_split_and_pad():
    (x,) = spread([(4, 6)], [SPANS["wide"]])
    for axis in (None, 0, -1, (0, 1)):
        np.testing.assert_array_equal(ag.flip(x, axis), np.flip(x, axis))
        agree(lambda x, axis=axis: np.flip(x, axis), [Tensor(x).data])
        assert isinstance(np.flip(Tensor(x), axis), Tensor)
    for parts, axis in [(2, 0), (3, 1), ([1, 4], -1), ([2], 0), ([], 0), (1, 1)]:
        for got, want in zip(ag.split(x, parts, axis), np.split(x, parts, axis), strict=True):
            np.testing.assert_array_equal(got, want)
        agree(
            lambda x, parts=parts, axis=axis: ag.concatenate(
                [k * part for k, part in enumerate(ag.split(x, parts, axis), 1)], axis
            ),
            [x],
        )
    for width in (1, (2, 0), ((1, 2), (0, 3)), 0):
        np.testing.assert_array_equal(ag.pad(x, width), np.pad(x, width))
        agree(lambda x, width=width: ag.pad(x, width), [x])
    for call in (
        lambda: ag.split(x, 4, 1),
        lambda: ag.split(x, 0),
        lambda: ag.pad(x, -1),
        lambda: ag.flip(x, 2),
    ):
        with pytest.raises((ValueError, IndexError), match="split|pad|flip"):
            call()
    assert (
        Tensor(x).argmax() == x.argmax()
        and Tensor(x).argmin(axis=0).tolist() == x.argmin(axis=0).tolist()
    )


@pytest.mark.parametrize(
    "subscripts, shapes",
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        (" ba , cb ", [(2, 3), (4, 2)]),
        ("i,j->ji", [(2,), (3,)]),
        ("nqhd,nkhd->nhqk", [(2, 3, 2, 4), (2, 5, 2, 4)]),
        ("ijk,il->l", [(2, 3, 4), (2, 2)]),
        ("i,jk->", [(2,), (3, 2)]),
        ("ij,->ij", [(2, 3), ()]),
        (",", [(), ()]),
    ],
)
def test_einsum_agrees_with_numpy(subscripts, shapes):
    """Catch an error with a letter that occurs in one array only."""
    x, y = spread(shapes, [SPANS["wide"]] * 2)
    np.testing.assert_allclose(ag.einsum(subscripts, x, y), np.einsum(subscripts, x, y), rtol=1e-12)
    agree(lambda x, y: np.einsum(subscripts, x, y), [x, y])
    agree(lambda x: ag.einsum(subscripts, x, y.tolist()), [x])


@pytest.mark.parametrize(
    "subscripts, shapes",
    [
        ("ij,jk->ik", [(2, 3), (2, 3)]),
        ("ij,jk->ik", [(2, 3), (1, 3)]),
        ("ii,i->i", [(2, 2), (2,)]),
        ("i,i->ii", [(2,), (2,)]),
        ("i,j->k", [(2,), (2,)]),
        ("...i,i->i", [(2, 2), (2,)]),
        ("ij,k->i", [(2,), (2,)]),
        ("i", [(2,), (2,)]),
        ("i,i,i", [(2,), (2,)]),
    ],
)
def test_einsum_reports_wrong_shapes(subscripts, shapes):
    x, y = (Tensor(np.ones(shape), requires_grad=True) for shape in shapes)
    with pytest.raises(ValueError, match=r"einsum: '.*' does not fit .* \(2"):
        ag.einsum(subscripts, x, y)
    for wrong in [("i->", x), (x, y), ("i,i,i", x, x, x)]:
        with pytest.raises(TypeError, match="einsum: "):
            np.einsum(*wrong) if wrong[0] is not x else ag.einsum(*wrong)


def test_clip_in_every_form():
    (x,) = spread([(2, 3)], [SPANS["wide"]])
    low, high = np.full((3,), -1.1), np.full((2, 1), 1.3)
    agree(ag.clip, [x, low, high])
    agree(lambda x: ag.clip(x, None, 1.0), [x])
    agree(lambda x: ag.clip(x, -1.0), [x])
    agree(lambda x: ag.clip(x, 1.0, -1.0), [x])  # NumPy: the upper bound wins
    # Regression: these were converted to floats.
    for numbers in ([1, -2, 300], np.array([1, 2], np.uint8), Tensor([1, -2])):
        for bounds in ((0, None), (None, 1), (None, None)):
            got = ag.clip(numbers, *bounds)
            raw = np.asarray(numbers)
            assert got.dtype == raw.dtype
            np.testing.assert_array_equal(
                np.asarray(got),
                np.minimum(np.maximum(raw, bounds[0] or raw), bounds[1] or raw)
                if bounds != (0, None)
                else np.maximum(raw, 0),
            )
    for z in (
        np.clip(Tensor(x), -1, 1),
        Tensor(x).clip(min=-1, max=1),
        np.clip(Tensor(x), min=-1, max=1),
        np.clip(Tensor(x), a_min=-1, a_max=1),
    ):
        np.testing.assert_array_equal(z.data, np.clip(x, -1, 1))


# --- Indexing --------------------------------------------------------------------------------------------

INDICES = [
    1,
    -1,
    np.int64(1),
    slice(None),
    slice(1, None),
    slice(None, None, -1),
    slice(None, 0, -2),
    slice(2, 2),
    ...,
    None,
    (),
    (0, 1),
    (1, slice(None, None, -2)),
    (..., 0),
    (0, ...),
    (None, 1),
    (slice(None), None, 2),
    (..., None),
    [0, 2, 0],
    np.array([0, 2, 0]),
    np.array([[0, 1], [1, 1]]),
    np.array([-1, 2, 2]),
    np.array([], int),
    np.array(1),
    ([0, 1, 0], [1, 1, 1]),
    (np.array([0, 0]), 1),
    (slice(None), [1, 1, 3]),
    ([0, 0], slice(1, 3)),
    ([[0], [2]], [1, 1, 3]),
    (None, [0, 0], slice(None)),
    ([0, 0], None, [1, 1]),
    (..., [3, 3]),
    [True, False, True],
    np.array([True, False, True]),
    np.arange(12).reshape(3, 4) % 3 == 0,
    True,
    False,
    np.True_,
    (np.array([True, False, True]), slice(None, 2)),
    (np.array([True, True, False]), [1, 1]),
    (slice(None), np.arange(4) > 1),
    ((0, 0, 2),),
    ((0, 0), (1, 1)),
    range(2),
    (slice(None), range(2)),
    ((0, 0, 2), slice(1)),
]


def reads(shape, index):
    return np.arange(np.prod(shape)).reshape(shape)[index]


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_indexing_of_every_kind(index):
    """An entry that is read n times receives n gradients. Catches out[index] = g for a tuple
    inside the index tuple.
    """
    (x,) = spread([(3, 4)], [SPANS["wide"]])
    t = Tensor(x, requires_grad=True)
    z = t[index]
    np.testing.assert_array_equal(z.data, x[index])
    u = direction(z.shape)
    z.backward(u)
    paid = np.bincount(reads(x.shape, index).ravel(), weights=u.ravel(), minlength=12).reshape(3, 4)
    np.testing.assert_allclose(t.grad, paid, rtol=1e-14)
    value, pull = ag.vjp(lambda x: x[index], x)
    v = direction(x.shape, 9)
    _, tangent = ag.jvp(lambda x: x[index], (x,), (v,))
    np.testing.assert_array_equal(tangent, v[index])
    _, second = ag.vjp(lambda x: ag.sum(ag.vjp(lambda y: y[index] * y[index], x)[1](u)[0] * v), x)
    np.testing.assert_allclose(second(1.0)[0], 2 * v * paid, rtol=1e-12, atol=1e-14)


@given(data=st.data())
def test_basic_indexing_by_hypothesis(data):
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    index = data.draw(hnp.basic_indices(shape, allow_newaxis=True))
    t = Tensor(np.arange(float(np.prod(shape))).reshape(shape), requires_grad=True)
    z = t[index]
    z.backward(np.ones(z.shape))
    paid = np.bincount(reads(shape, index).ravel().astype(int), minlength=t.size).reshape(shape)
    np.testing.assert_array_equal(t.grad, paid)


@given(data=st.data())
def test_integer_indexing_by_hypothesis(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=4))
    index = data.draw(hnp.integer_array_indices(shape))
    t = Tensor(np.ones(shape), requires_grad=True)
    z = t[index]
    u = direction(z.shape)
    z.backward(u)
    paid = np.bincount(reads(shape, index).ravel(), weights=u.ravel(), minlength=t.size).reshape(
        shape
    )
    np.testing.assert_allclose(t.grad, paid, rtol=1e-12, atol=1e-14)


def test_indexing_by_tensors():
    for index in (
        Tensor([0, 2, 0]),
        Tensor([True, False, True]),
        (Tensor([0, 0]), slice(None)),
        Tensor(1),
        (slice(None), Tensor([1, 1])),
    ):
        raw = (
            tuple(i.data if isinstance(i, Tensor) else i for i in index)
            if isinstance(index, tuple)
            else index.data
        )
        t = Tensor(np.ones((3, 4)), requires_grad=True)
        t[index].sum().backward()
        np.testing.assert_array_equal(
            t.grad.ravel(), np.bincount(reads((3, 4), raw).ravel(), minlength=12)
        )
    for index in (Tensor([0.0, 1.0]), Tensor([0.0], requires_grad=True)):
        with pytest.raises(IndexError, match="getitem.*index of ints"):
            Tensor(np.ones(3), requires_grad=True)[index]


def test_indexing_of_0d():
    for index in ((), ..., None, np.True_):
        t = Tensor(2.0, requires_grad=True)
        (t[index] * 3).sum().backward()
        assert t.grad == 3 and t.grad.shape == ()


# --- Errors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, parts",
    [
        (lambda t: t + np.zeros(4), ["add", "(2, 3)", "(4,)"]),
        (lambda t: np.zeros(4) * t, ["multiply", "(2, 3)", "(4,)"]),
        (lambda t: t @ t, ["matmul", "argument 0", "argument 1", "(2, 3)"]),
        (lambda t: t @ 2, ["matmul", "(2, 3)", "()"]),
        (lambda t: t.reshape(4, 2), ["reshape", "(2, 3)", "(4,2)"]),
        (lambda t: t.sum(axis=2), ["sum", "axis 2", "(2, 3)"]),
        (lambda t: t.max(axis=-3), ["max", "axis -3", "(2, 3)"]),
        (
            lambda t: ag.ops.conv2d(t, np.ones((1, 1, 2, 2))),
            ["conv2d", "(N, C, H, W)", "(2, 3)"],
        ),
        (
            lambda t: ag.ops.conv2d(t.reshape(1, 1, 2, 3), np.ones((1, 2, 2, 2))),
            ["conv2d", "same C", "(1, 2, 2, 2)"],
        ),
        (
            lambda t: ag.ops.conv2d(t.reshape(1, 1, 2, 3), np.ones((1, 1, 3, 2))),
            ["conv2d", "kernel of size (3, 2)", "does not fit", "(2, 3)"],
        ),
        (
            lambda t: ag.ops.conv2d(t.reshape(1, 1, 2, 3), np.ones((1, 1, 2, 2)), stride=0),
            ["conv2d", "stride (0, 0)"],
        ),
        (lambda t: ag.ops.unfold(t, kernel_size=2), ["unfold", "(N, C, H, W)", "(2, 3)"]),
        (
            lambda t: ag.ops.fold(t.reshape(1, 6, 1), output_size=(2, 3), kernel_size=(2, 2)),
            ["fold", "(1, 6, 1)"],
        ),
        (
            lambda t: ag.fold(t.reshape(1, 2, 3), output_size=(2, 3), kernel_size=(2, 2)),
            ["fold", "(N, 2, 4·C)", "(1, 2, 3)"],
        ),
        (lambda t: t[5], ["getitem", "index 5", "(2, 3)"]),
        (lambda t: t[0, 0, 0], ["getitem", "too many", "(2, 3)"]),
        (lambda t: t.squeeze(0), ["squeeze", "(2, 3)"]),
        (lambda t: t.broadcast_to((2, 2)), ["broadcast_to", "(2, 3)"]),
        (lambda t: t.transpose(0), ["transpose", "(2, 3)"]),
        (
            lambda t: ag.concatenate([t, np.zeros((2, 2))]),
            ["concatenate", "(2, 3)", "(2, 2)", "axis 0"],
        ),
        (lambda t: ag.concatenate([t], axis=2), ["concatenate", "axis 2"]),
        (lambda t: ag.stack([t, t[0]]), ["stack: ", "(2, 3)", "(3,)"]),
        (lambda t: t.sum(ax=0), ["sum", "ax", "axis", "keepdims"]),
        (lambda t: np.add(t, 1, where=True), ["add", "where"]),
        (lambda t: t + "a", ["add", "argument 1", "str"]),
        (lambda t: None * t, ["multiply", "argument 0", "None"]),
        (lambda t: ag.where(t > 0, t), ["where", "(c, x, y)", "got 2"]),
        (lambda t: ag.concatenate([]), ["concatenate", "at least one"]),
        (lambda t: ag.stack([]), ["stack", "at least one"]),
        (lambda t: ag.concatenate(t, t), ["concatenate([x, y], 0)", "one list"]),
        (lambda t: ag.stack(t[0, 0], t[0, 0]), ["stack([x, y], 0)"]),
        (lambda t: t.sum(dim=0), ["sum", "dim is axis here", "keepdims"]),
        (lambda t: t.mean(axis=0, keepdim=True), ["mean", "keepdim is keepdims here"]),
        (lambda t: t.exp(dim=0), ["exp", "'dim'", "arguments are (x)"]),
        (lambda t: ag.swapaxes([[1.0]], 0, 5), ["swapaxes", "axis 5"]),
        (lambda t: t * (1j,), ["multiply", "argument 1", "tuple", "complex"]),
        (lambda t: t * [t], ["multiply", "argument 1", "stack"]),
    ],
)
def test_errors_name_the_op_the_argument_and_the_shapes(call, parts):
    with pytest.raises((TypeError, ValueError, IndexError)) as caught:
        call(Tensor(np.ones((2, 3)), requires_grad=True))
    assert all(part in str(caught.value) for part in parts), str(caught.value)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_where_copies_bits_on_its_fast_path(dtype):
    """The fast path of where copies bits, so ∞, nan and −0.0 are preserved in every memory
    layout.
    """
    x = np.random.default_rng(0).normal(size=(64, 48)).astype(dtype)
    x[0, :8], x[1, :8] = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, -1.0, 2.0], np.nan
    for a, c in [
        (x, x > 0),
        (x, ~(x > 0)),
        (x.T, x.T > 0),
        (np.repeat(x, 2, 1)[:, ::2], x.T.copy().T > 0),
        (x, x[:1] > 0),
    ]:
        for zero in (0, 0.0, -0.0, dtype(0)):
            found, wanted = ag.where(c, a, zero), np.where(c, a, zero)
            assert found.dtype == wanted.dtype and np.array_equal(found, wanted, equal_nan=True)
            assert np.array_equal(np.signbit(found), np.signbit(wanted))
    g = ag.vjp(ag.relu, x)[1](x[::-1])[0]
    np.testing.assert_array_equal(g, np.where(x > 0, x[::-1], 0.0))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: ag.sqrt(ag.relu(x)),
        lambda x: ag.sqrt(ag.maximum(x, 0.0)),
        lambda x: ag.sqrt(ag.maximum(0.0, x)),
        lambda x: ag.sqrt(-ag.minimum(-x, 0.0)),
        lambda x: ag.sqrt(ag.clip(x, 0.0, 2.0)),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_an_infinite_gradient_that_is_not_chosen_is_no_nan(f):
    """As in PyTorch and JAX: the slope of √x at 0 is ∞, and ∞ · 0 would be nan."""
    assert ag.grad(f)(-1.0) == 0 and ag.grad(f)(1.0) == 0.5


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64, bool])
def test_softmax_and_logsumexp_convert_integers_to_floats(dtype):
    x = np.array([0, 5], dtype)
    for f in (ag.softmax, ag.log_softmax, ag.logsumexp):
        assert np.array_equal(f(x), f(x.astype(float))) and f(x).dtype == float


def test_the_repr_of_a_row():
    assert "in the shape of x" in ag.softmax.__doc__ and "transpose of `unfold`" in ag.fold.__doc__
    assert ag.elementwise(np.tanh, lambda g, z, x: g * (1 - z * z), doc="Said.").__doc__ == "Said."


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int64])
def test_an_exponent_of_any_dtype(dtype):
    """Regression: NumPy's error about boolean subtraction, and 0·∞ = nan for an unsigned
    exponent 0.
    """
    x, y = np.array([1e30, -1.5, 0.0, 2.0, 0.0]), np.array([0, 1, 1, 1, 0], dtype)
    np.testing.assert_array_equal(ag.grad(lambda x: (x**y).sum())(x), [0, 1, 1, 1, 0])
    np.testing.assert_array_equal(ag.hessian(lambda x: (x**y).sum())(x), np.zeros((5, 5)))
    t = Tensor(2.0, requires_grad=True)
    (t ** y[1] + t ** y[0]).backward()
    assert t.grad == 1
    program = ag.compile(ag.grad(lambda x: (x ** (x > 1)).sum()))
    np.testing.assert_array_equal(program(x), [1, 0, 0, 1, 0])


@pytest.mark.parametrize("function", [ag.max, ag.min])
def test_the_largest_of_one_row_is_an_array_of_its_own(function):
    x = np.zeros((1, 8192))
    function(x, axis=0)[0] = 5
    assert not x.any()


@pytest.mark.parametrize("name", ["add", "multiply", "divide", "power", "subtract", "negative"])
@pytest.mark.parametrize("x, y", [(True, True), (True, 2), (False, 0.0), (1.0, 0), (-8.0, 1 / 3)])
def test_numbers_of_python_are_those_of_numpy(name, x, y):
    """True + True is True, as in NumPy, 1 / 0 is inf, and a root of −8 is nan."""
    args = [x] if name == "negative" else [x, y]
    with np.errstate(all="ignore"):
        try:
            expected = getattr(np, name)(*args)
        except TypeError:  # the minus of booleans
            with pytest.raises(TypeError, match=f"{name}: expected numbers, got booleans"):
                getattr(ag, name)(*args)
        else:
            z = getattr(ag, name)(*args)
            assert type(z) is type(expected)
            np.testing.assert_array_equal(z, expected)


def test_a_keyword_out_of_a_function_of_the_user():
    row = ag.primitive(lambda x, out=1.0: np.floor(x * out), [None], [None], name="scaled")
    x = np.array([1.2, 2.6])
    assert row(ag.Tensor(x), out=2.0).data.tolist() == [2, 5]
    assert ag.compile(lambda x: row(x, out=2.0))(x).tolist() == [2, 5]
    with pytest.raises(TypeError, match="any: got an unexpected keyword argument 'out'"):
        ag.compile(lambda x: np.any(x, out=np.zeros((), bool)))(x)


@pytest.mark.parametrize(
    "shape, axis", [((0, 3), 1), ((0, 3), -1), ((2, 0, 3), (0, 2)), ((1, 0), 0)]
)
@pytest.mark.parametrize("ddof", [0, 1])
def test_the_variance_of_an_empty_batch_is_empty(shape, axis, ddof):
    x = ag.Tensor(np.zeros(shape), requires_grad=True)
    for function, of_numpy in [(ag.var, np.var), (ag.std, np.std)]:
        z = function(x, axis=axis, ddof=ddof)
        with warnings.catch_warnings(action="ignore"):
            assert z.shape == of_numpy(x.data, axis=axis, ddof=ddof).shape and not z.size
        z.sum().backward()
    assert x.grad.shape == shape
    with pytest.raises(ValueError, match="var: expected ddof"):
        ag.var(np.zeros((0, 3)), axis=0)
