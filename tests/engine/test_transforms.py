"""grad, vjp, jvp and the functions built on them: nested, mixed, and on a few hundred random
programs.
"""

import itertools

import numpy as np
import pytest

import autograd_lib as ag
from autograd_lib import Tensor

X = np.array([0.3, -1.2, 0.8])


def quartic(x):
    return ag.sum(x**4) / 12 + ag.sum(x[0] * x[1] * x[2])


# --- Against formulas ------------------------------------------------------------------------------------


def test_grad_and_value_and_grad():
    value, slope = ag.value_and_grad(lambda x: ag.sum(x * x))(X)
    assert value == np.sum(X * X) and type(value) is np.ndarray and value.shape == ()
    np.testing.assert_array_equal(slope, 2 * X)
    assert type(slope) is np.ndarray and slope.dtype == np.float64
    assert ag.grad(lambda x: x * x)(3.0) == 6


def test_argnums_and_keywords():
    def f(a, b, c=1.0, *, d=1.0):
        return a * b * b * c * d

    assert ag.grad(f)(2.0, 3.0) == 9
    assert ag.grad(f, 1)(2.0, 3.0, 2.0, d=5.0) == 120
    assert ag.grad(f, -1)(2.0, 3.0) == 12
    assert ag.grad(f, (0, 1))(2.0, 3.0) == (9, 12)
    assert ag.grad(f, (1, 0))(2.0, 3.0) == (12, 9)
    assert ag.value_and_grad(f, (1,))(2.0, 3.0) == (18, (12,))
    assert ag.grad(f, np.int64(1))(2.0, 3.0) == 12
    assert ag.grad(lambda x, n: x**n)(2.0, 3) == 12  # other arguments may be anything
    assert ag.grad(lambda x, name: x if name == "one" else 2 * x)(2.0, "two") == 2
    with pytest.raises(TypeError, match="argnums"):
        ag.grad(f, 2)(2.0, 3.0)
    for same in ((0, 0), (0, -2)):
        with pytest.raises((TypeError, ValueError), match="argnums|twice|argument 0"):
            ag.grad(f, same)(2.0, 3.0)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: None,
        lambda x: "a",
        lambda x: [x],
        lambda x: (x, x),
        lambda x: {"a": x},
        lambda x: [1.0, None],
    ],
    ids=["None", "str", "list", "tuple", "dict", "mixed"],
)
@pytest.mark.parametrize(
    "transform",
    [
        ag.grad,
        ag.value_and_grad,
        ag.jacobian,
        lambda f: lambda x: ag.vjp(f, x),
        lambda f: lambda x: ag.jvp(f, (x,), (1.0,)),
        lambda f: lambda x: ag.hvp(f, x, 1.0),
    ],
)
def test_a_function_that_returns_no_array_is_an_error(f, transform):
    """Regression: a forgotten `return` gave the gradient 0."""
    with pytest.raises((TypeError, ValueError)):
        transform(f)(1.0)


def test_the_gradient_of_a_non_scalar_is_an_error():
    for f in (ag.grad, ag.value_and_grad, ag.hessian):
        for g in (lambda x: x * 2, lambda x: ag.sum(x, keepdims=True)):
            with pytest.raises(ValueError, match=r"scalar, got shape \((3|1),\)"):
                f(g)(X)


@pytest.mark.parametrize(
    "call, parts",
    [
        (lambda: ag.grad(lambda x: (x, x))(1.0), ["grad", "one array, got a tuple"]),
        (lambda: ag.jvp(lambda x: [x], (1.0,), (1.0,)), ["jvp", "one array, got a list"]),
        (lambda: ag.vjp(lambda x: None, 1.0), ["vjp", "got None", "return statement"]),
        (lambda: ag.grad(lambda x: x, ())(1.0), ["grad", "at least one position in argnums"]),
        (lambda: ag.jacobian(lambda x: x, ())(1.0), ["jacobian", "argnums"]),
        (lambda: ag.jacobian(lambda x: x, 1)(1.0), ["jacobian", "argument 1"]),
        (
            lambda: ag.jacobian(lambda x: x, "fwd")(1.0),
            ["jacobian", "argnums to be an int", "'fwd'"],
        ),
        (lambda: ag.grad(lambda x: x, 0.5)(1.0), ["grad", "argnums to be an int"]),
        (lambda: ag.jvp(lambda x: x, 1.0, 1.0), ["jvp(f, (x,), (v,))"]),
        (
            lambda: ag.jvp(lambda x: x, np.ones(1), np.ones(1)),
            ["jvp(f, (x,), (v,))"],
        ),  # this was accepted as a number
        (
            lambda: ag.jvp(lambda x: x, (np.ones(2),), (np.ones(3),)),
            ["same shapes as xs, [(2,)], got [(3,)]"],
        ),
        (
            lambda: ag.vjp(lambda x: x, np.ones(2))[1](np.ones(3)),
            ["gradient of shape (2,), got (3,)"],
        ),
        (
            lambda: ag.grad(lambda p: p["w"].sum())({"w": np.ones(2)}),
            ["argument 0", "got a dict", "argnums=(0, 1)"],
        ),
        (
            lambda: ag.grad(lambda p: p[0].sum())([np.ones(2), np.ones(3)]),
            ["argument 0", "got a list", "argnums=(0, 1)"],
        ),
        (lambda: ag.grad(lambda p: p)([1.0, [2.0]]), ["argument 0", "rows of equal length"]),
        (lambda: ag.grad(lambda p: p)(None), ["argument 0", "real numbers, got None"]),
        (lambda: ag.grad(lambda x: x)(x=1.0), ["argnums", "0 positional arguments"]),
        (lambda: ag.grad(lambda x: x, 2.0)(1.0), ["argnums", "call grad(f)(x)"]),
        (lambda: ag.grad(lambda x: np.array([x[0], x[1]]).sum())(np.ones(2)), ["stack"]),
        (lambda: ag.grad(lambda x: Tensor([x[0], x[1]]).sum())(np.ones(2)), ["Tensor: ", "stack"]),
        (lambda: ag.value_and_grad(lambda x: x)(X), ["value_and_grad: ", "scalar, got shape (3,)"]),
        (lambda: ag.hvp(lambda x: x, X, X), ["hvp: ", "scalar, got shape (3,)"]),
        (lambda: ag.hvp(quartic, 3, 1), ["hvp: argument 0", "int64"]),
        (lambda: ag.hvp(quartic, X, 1.0), ["hvp: expected v of shape (3,), like x, got ()"]),
        (lambda: ag.hvp(lambda x: None, X, X), ["hvp: ", "got None", "return statement"]),
        (lambda: ag.hessian(lambda x: x)(X), ["hessian: ", "scalar, got shape (3,)"]),
        (lambda: ag.hessian(quartic)(3), ["hessian: argument 0", "int64"]),
        (lambda: ag.hessian(quartic, 1)(X), ["hessian: ", "argument 1"]),
        (lambda: ag.hessian(quartic, (0, 1))(X), ["hessian: ", "argument 1"]),
        (lambda: ag.vjp(quartic, X)[1](), ["vjp: pull()", "'g'"]),
    ],
)
def test_misuse_of_transforms_is_explained(call, parts):
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert all(part in str(caught.value) for part in parts), str(caught.value)


@pytest.mark.parametrize("value", [Tensor(1.0), 3.0, np.float64(0.5)])
@pytest.mark.parametrize(
    "name, call",
    [
        ("grad", lambda f: ag.grad(f)(1.0)),
        ("value_and_grad", lambda f: ag.value_and_grad(f)(1.0)),
        ("hessian", lambda f: ag.hessian(f)(1.0)),
        ("hvp", lambda f: ag.hvp(f, 1.0, 1.0)),
        ("jacobian", lambda f: ag.jacobian(f)(1.0)),
        ("vjp", lambda f: ag.vjp(f, 1.0)),
        ("jvp", lambda f: ag.jvp(f, (1.0,), (1.0,))),
        ("checkpoint", lambda f: ag.checkpoint(f)(1.0)),
        ("compile", lambda f: ag.compile(f)),
    ],
)
def test_a_value_in_the_place_of_a_function_is_named(name, call, value):
    with pytest.raises(
        TypeError, match=f"^{name}: expected a function, got {type(value).__name__}"
    ):
        call(value)


def test_grad_of_a_result_fails_at_once():
    """PyTorch's `torch.autograd.grad(z, x)` takes the result where `grad` takes the function."""
    x = Tensor(2.0, requires_grad=True)
    with pytest.raises(TypeError, match="^grad: expected a function, got Tensor"):
        ag.grad(x * x, x)


def test_jacobian_and_hessian_of_several_arguments():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 3)), rng.normal(size=3)

    def f(a, b, scale=1.0, *, power=2):
        return ag.sin(a @ b) * scale + b[0] ** power

    for mode in ("rev", "fwd", None):
        for_a, for_b = ag.jacobian(f, (0, 1), mode=mode)(a, b, 3.0, power=3)
        assert for_a.shape == (2, 2, 3) and for_b.shape == (2, 3)
        np.testing.assert_allclose(
            for_a, 3 * np.einsum("i,ik,l->ikl", np.cos(a @ b), np.eye(2), b), rtol=1e-13
        )
        np.testing.assert_allclose(
            for_b, 3 * np.cos(a @ b)[:, None] * a + [3 * b[0] ** 2, 0, 0], rtol=1e-13
        )
        np.testing.assert_array_equal(ag.jacobian(f, 1, mode=mode)(a, b, 3.0, power=3), for_b)
        np.testing.assert_array_equal(
            ag.jacobian(f, (-1,), mode=mode)(a, b)[0], ag.jacobian(f, 1, mode=mode)(a, b)
        )

    def g(a, b, power=2):
        return ag.sum(a @ b) ** power

    (aa, ab), (ba, bb) = ag.hessian(g, (0, 1))(a, b)
    assert (aa.shape, ab.shape, ba.shape, bb.shape) == ((2, 3, 2, 3), (2, 3, 3), (3, 2, 3), (3, 3))
    np.testing.assert_allclose(ab, np.moveaxis(ba, 0, -1), rtol=1e-13)
    np.testing.assert_allclose(bb, 2 * np.outer(a.sum(0), a.sum(0)), rtol=1e-13)
    one = 2 * (np.outer(b, a.sum(0)) + np.sum(a @ b) * np.eye(3))
    np.testing.assert_allclose(ab, np.stack([one, one]), rtol=1e-13)
    np.testing.assert_array_equal(ag.hessian(g, 1)(a, b), bb)
    np.testing.assert_array_equal(ag.hessian(g, 1)(a, b, power=2), bb)


def test_an_unconnected_input_has_gradient_0():
    assert ag.grad(lambda x: 3.0)(1.0) == 0
    assert ag.grad(lambda x, y: x * x, 1)(1.0, 2.0) == 0
    np.testing.assert_array_equal(ag.grad(lambda x: 5)(X), np.zeros(3))
    np.testing.assert_array_equal(ag.jacobian(lambda x: np.ones(2))(X), np.zeros((2, 3)))
    value, tangent = ag.jvp(lambda x: np.ones(2), (X,), (X,))
    np.testing.assert_array_equal(tangent, np.zeros(2))


def test_vjp_and_its_shapes():
    value, pull = ag.vjp(lambda x, y: ag.matmul(x, y), np.ones((2, 3)), np.ones((3, 4)))
    gx, gy = pull(np.ones((2, 4)))
    np.testing.assert_array_equal(gx, 4 * np.ones((2, 3)))
    np.testing.assert_array_equal(gy, 2 * np.ones((3, 4)))
    np.testing.assert_array_equal(pull(2 * np.ones((2, 4)))[0], 8)  # a second call
    for wrong in (1.0, np.ones(4), np.ones((1, 4)), np.ones((4, 2))):
        with pytest.raises(ValueError, match=r"\(2, 4\)"):
            pull(wrong)
    with pytest.raises(TypeError, match="argument 1"):
        ag.vjp(lambda x, y: x * y, 1.0, 2)


def test_a_tensor_that_compile_cannot_see_loses_no_derivative(monkeypatch):
    def outer(w):
        monkeypatch.setattr(np, "hidden", w, raising=False)
        return ag.compile(lambda x: x * np.hidden)(2.0)

    assert ag.grad(outer)(3.0) == 2  # compile leaves the call to the function itself


def test_a_tensor_created_while_compiling_is_a_constant():
    np.testing.assert_array_equal(
        ag.compile(lambda x: x * ag.Tensor([1.0, 2.0]))(np.ones(2)), [1, 2]
    )


def test_a_tangent_of_a_condition_is_dropped():
    assert ag.jvp(lambda x: ag.where(x, 1.0, 2.0) * 3.0, (1.0,), (1.0,)) == (3.0, 0.0)


def test_scalar_results_are_0d_arrays():
    """Scalar results are 0-d arrays, which can be written into, unlike NumPy scalars."""

    def f(x):
        return x * x * x

    x = ag.Tensor(2.0, requires_grad=True)
    z = f(x)
    z.backward()
    found = [
        x.data,
        x.grad,
        z.data,
        z.detach().data,
        ag.Tensor([1.0]).sum().data,
        ag.grad(f)(2.0),
        ag.grad(lambda x: 1.0)(2.0),
        *ag.value_and_grad(f)(np.float64(2)),
        *ag.jvp(f, (2.0,), (1.0,)),
        *ag.jvp(lambda x: 1.0, (2.0,), (1.0,)),
        *ag.jvp(lambda x: ag.sum(x * x), (X,), (X,)),
        *[ag.jacobian(f, mode=mode)(2.0) for mode in ("rev", "fwd")],
        ag.hessian(f)(2.0),
        ag.hvp(f, 2.0, 1.0),
    ]
    value, pull = ag.vjp(f, 2.0)
    assert {(type(a), a.shape) for a in [*found, value, *pull(1.0)]} == {(np.ndarray, ())}


def test_jvp_and_its_shapes():
    value, tangent = ag.jvp(lambda x, y: x * y, (X, 2.0), (np.ones(3), 0.5))
    np.testing.assert_allclose(tangent, 2 + 0.5 * X)
    assert type(value) is type(tangent) is np.ndarray
    for wrong in (((X,), (np.ones(2),)), ((X,), (1.0,)), ((X, X), (X,)), ((X,), (X[:, None],))):
        with pytest.raises(ValueError, match="jvp"):
            ag.jvp(lambda *xs: xs[0], *wrong)
    with pytest.raises(TypeError, match="argument 0"):
        ag.jvp(lambda x: x, (1,), (1,))


def test_jvp_gives_the_tangent_of_a_promoted_value_its_dtype():
    x = np.ones(2, np.float32)
    for f in (
        lambda x: x + np.ones(2),
        lambda x: np.float64(2) * x * np.ones(2),
        lambda x: ag.concatenate([x, np.ones(1)]),
    ):
        value, tangent = ag.jvp(f, (x,), (x,))
        assert value.dtype == tangent.dtype == np.float64


@pytest.mark.parametrize("shape", [(), (3,), (2, 2), (0,)])
def test_jacobian(shape):
    x = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
    np.testing.assert_allclose(
        ag.jacobian(lambda x: x * x)(x), np.diag(2 * x.ravel()).reshape(shape * 2)
    )
    np.testing.assert_array_equal(ag.jacobian(lambda x: ag.sum(x))(x), np.ones(shape))
    tall = ag.jacobian(lambda x: ag.stack([x, 2 * x, x * 0]))(x)
    assert tall.shape == (3, *shape, *shape)
    np.testing.assert_array_equal(
        ag.jacobian(lambda x: ag.reshape(x, -1)[:0])(x), np.zeros((0, *shape))
    )
    assert ag.jacobian(lambda x: x * x)(np.float32(x)).dtype == np.float32


def test_jacobian_keeps_rows_and_columns_apart():
    a = np.arange(6.0).reshape(2, 3)
    for n in (2, 3, 7):
        b = np.arange(3.0 * n).reshape(n, 3)
        np.testing.assert_allclose(ag.jacobian(lambda x, b=b: b @ x)(X), b)
        np.testing.assert_allclose(
            ag.jacobian(lambda x, b=b: ag.sin(b @ x))(X), np.cos(b @ X)[:, None] * b
        )
    np.testing.assert_allclose(
        ag.jacobian(lambda x: a @ x)(np.ones((3, 2))), np.einsum("ij,kl->ikjl", a, np.eye(2))
    )


def test_hessian_and_hvp():
    h = np.diag(X**2) + np.array([[0, X[2], X[1]], [X[2], 0, X[0]], [X[1], X[0], 0]])
    np.testing.assert_allclose(ag.hessian(quartic)(X), h, rtol=1e-14)
    v = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(ag.hvp(quartic, X, v), h @ v, rtol=1e-14)
    assert ag.hessian(lambda x: x**3)(2.0) == 12 and ag.hessian(lambda x: x**3)(2.0).shape == ()
    m = ag.hessian(lambda x: ag.sum(x * x * x))(np.ones((2, 2)))
    np.testing.assert_array_equal(m, 6 * np.eye(4).reshape(2, 2, 2, 2))
    assert ag.hvp(lambda x: ag.sum(x**3), np.ones((2, 2)), np.ones((2, 2))).shape == (2, 2)
    for wrong in (1.0, np.ones(2), np.ones((3, 1))):
        with pytest.raises(ValueError):
            ag.hvp(quartic, X, wrong)


# --- Nesting ---------------------------------------------------------------------------------------------


def by_vjp(f):
    return lambda x: ag.vjp(f, x)[1](1.0)[0]


def by_jvp(f):
    return lambda x: ag.jvp(f, (x,), (1.0,))[1]


def by_backward(f):
    """Differentiate with backward() on Tensors, outermost level only."""

    def run(x):
        t = Tensor(x, requires_grad=True)
        f(t).backward()
        return t.grad

    return run


MODES = {
    "grad": ag.grad,
    "vjp": by_vjp,
    "jvp": by_jvp,
    "jacobian": ag.jacobian,
    "forward jacobian": lambda f: ag.jacobian(f, mode="fwd"),
}


@pytest.mark.parametrize("modes", list(itertools.product(MODES, repeat=3)), ids="-".join)
def test_third_order_in_every_mix(modes):
    d = lambda x: x * x * ag.sin(x) / x  # noqa: E731
    for mode in modes:
        d = MODES[mode](d)
    x = 0.7
    np.testing.assert_allclose(d(x), -3 * np.sin(x) - x * np.cos(x), rtol=1e-12)


@pytest.mark.parametrize("inner", list(itertools.product(MODES, repeat=2)), ids="-".join)
def test_backward_of_the_learners_tensors_outside_two_transforms(inner):
    d = lambda x: ag.exp(2 * x) * x  # noqa: E731
    for mode in inner:
        d = MODES[mode](d)
    x = 0.4
    np.testing.assert_allclose(by_backward(d)(x), np.exp(2 * x) * (8 * x + 12), rtol=1e-12)


def test_perturbation_confusion():
    """An engine without levels gets each of these lines wrong."""
    for D in (ag.grad, by_jvp, by_vjp):
        assert D(lambda x: x * D(lambda y: x + y)(1.0))(1.0) == 1  # 2
        assert D(lambda x: x * D(lambda y: x * y)(2.0))(3.0) == 6
        assert D(lambda x: D(lambda y: x * x)(x) + x)(3.0) == 1
        assert D(lambda x: D(lambda y: y * y * x)(x))(3.0) == 12  # 2yx at y = x: 4x
        assert D(lambda x: D(lambda x: x * x)(2.0) * x)(5.0) == 4  # one name, two levels
        assert (
            D(lambda x: D(lambda y: D(lambda z: x * y * z)(1.0) * y)(x))(3.0) == 12
        )  # 2xy at y = x: 2x²
    for outer, inner in itertools.permutations((ag.grad, by_jvp, by_vjp), 2):
        assert outer(lambda x, d=inner: x * d(lambda y: x + y)(1.0))(1.0) == 1
        assert outer(lambda x, d=inner: d(lambda y: y * y * x)(x))(3.0) == 12


def test_perturbation_confusion_by_a_function_that_escapes():
    """Manzyuk et al. (2019): the inner part of a curried function outlives the level at which it
    was made.
    """

    def shift(offset):
        return lambda f: lambda x: f(x + offset)

    def derivative_of_shift(f):
        return lambda y: ag.jvp(lambda o: shift(o)(f)(y), (0.0,), (1.0,))[1]

    np.testing.assert_allclose(
        derivative_of_shift(derivative_of_shift(ag.sin))(0.5), -np.sin(0.5), rtol=1e-14
    )


def test_a_closed_over_tensor_keeps_its_own_gradient():
    """∂/∂w of ∂/∂x (w·x³) is 3x². Catches the value of w being taken for a constant."""
    w = Tensor(2.0, requires_grad=True)
    slope = ag.grad(lambda x: w * x**3)(3.0)
    assert isinstance(slope, Tensor) and slope.item() == 54
    slope.backward()
    assert w.grad == 27
    w.grad = None
    value, slope = ag.value_and_grad(lambda x: w * w * x)(3.0)
    (value + slope).backward()
    assert w.grad == 12 + 4
    w.grad = None
    ag.hvp(lambda x: w * x**3, 3.0, 1.0).backward()
    assert w.grad == 18
    w.grad = None
    value, tangent = ag.jvp(lambda x: ag.sin(w * x), (0.0,), (1.0,))
    tangent.backward()
    assert w.grad == 1
    w.grad = None
    ag.jacobian(lambda x: w * x * x)(X).sum().backward()
    np.testing.assert_allclose(w.grad, 2 * X.sum())


def test_backward_to_a_closed_over_tensor_inside_a_transform():
    w = Tensor(2.0, requires_grad=True)

    def f(x):
        (w * w).backward()
        return x * x

    assert ag.grad(f)(3.0) == 6 and w.grad == 4


@pytest.mark.parametrize(
    "constant", [lambda x: x.detach(), lambda x: x.data], ids=["detach", "data"]
)
def test_a_constant_is_one_at_every_level(constant):
    """As with jax.lax.stop_gradient. Regression: only the innermost level was stopped, and the
    first line gave 1.
    """
    assert ag.grad(ag.grad(lambda x: constant(x) * x))(2.0) == 0
    assert ag.grad(lambda x: constant(x) * x)(2.0) == 2

    def f(x):
        return ag.sum(constant(x) ** 2 * x**3)  # to derivatives c²·x³: c²·3x², c²·6x, c²·6

    for outer, inner in itertools.product((ag.grad, by_jvp, by_vjp, ag.jacobian), repeat=2):
        assert outer(inner(f))(2.0) == 4 * 12 and outer(ag.grad(inner(f)))(2.0) == 4 * 6
        assert inner(lambda x, d=outer: d(lambda y: constant(x * y) * y)(x))(2.0) == 0
    np.testing.assert_allclose(ag.hessian(f)(X), np.diag(6 * X**3), rtol=1e-14)
    np.testing.assert_allclose(ag.hvp(f, X, X), 6 * X**4, rtol=1e-14)
    w = Tensor(2.0, requires_grad=True)
    slope = ag.grad(lambda y: constant(w * y) * y)(3.0)
    assert slope == 6 and not isinstance(slope, Tensor)
    got = ag.hessian(lambda x: ag.sum(x * x) * float(np.linalg.norm(np.asarray(constant(x)))))(X)
    np.testing.assert_allclose(got, 2 * np.linalg.norm(X) * np.eye(3), rtol=1e-14)
    assert ag.grad(lambda x: float(constant(x)) * x)(3.0) == 3
    assert ag.grad(lambda x: np.asarray(constant(x)) * x)(3.0) == 3


def test_data_is_for_reading_inside_a_transform():
    """Regression: `x.data -= 1` changed the Tensor that was passed to the transform."""
    w = Tensor([1.0, 2.0], requires_grad=True)

    def replaces(x):
        x.data = x.data * 2

    def writes(x):
        x.data[0] = 7.0

    for change in (replaces, writes, lambda x: exec("x.data -= 1", {"x": x})):
        for x in (w, w.data.copy()):
            with pytest.raises((RuntimeError, ValueError), match="assigned|read-only"):
                ag.grad(lambda x, change=change: (change(x), ag.sum(x * x))[1])(x)
    np.testing.assert_array_equal(w.data, [1, 2])
    ag.grad(lambda x: (x.data, ag.sum(x * x))[1])(w)
    w.data += 1  # reading .data inside does not lock it outside


def test_dual_numbers_require_no_gradient():
    asked = []
    ag.jvp(lambda x: asked.append(x.requires_grad) or x * x, (3.0,), (1.0,))
    assert asked == [False]


def test_a_gradient_is_not_kept_inside_a_transform():
    with pytest.raises(RuntimeError, match="use backward"):
        ag.grad(lambda x: ((y := x * x).retain_grad(), y)[1])(3.0)


def test_a_gradient_penalty():
    """The loss contains a gradient: ∂/∂w (∂y/∂x − 1)² is compared with finite differences."""
    x = np.array([0.5, -0.3])

    def penalty(w):
        slope = ag.grad(lambda x: ag.tanh(ag.sum(w * x)))(x)
        return ag.sum((slope - 1) ** 2)

    w = np.array([0.7, -0.2])
    h = 1e-6
    expected = [(penalty(w + h * e) - penalty(w - h * e)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(ag.grad(penalty)(w), expected, rtol=1e-8)
    t = Tensor(w, requires_grad=True)
    penalty(t).backward()
    np.testing.assert_allclose(t.grad, ag.grad(penalty)(w), rtol=1e-13)


def test_a_transform_copies_its_inputs():
    """Regression: `x += 10` between vjp and pull changed the gradient."""
    x, c = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    value, pull = ag.vjp(lambda x: ag.sum(x * x), x)
    x += 10
    np.testing.assert_array_equal(pull(1.0)[0], [2, 4])
    assert value == 5
    value, _ = ag.vjp(lambda x: c, x)
    value[:] = 0
    value, _ = ag.jvp(lambda x: c, (x,), (x,))
    value[:] = 0
    np.testing.assert_array_equal(c, [3, 4])


def test_arguments_may_be_any_sequence_or_layout():
    assert ag.grad(lambda x: ag.sum(x * x))([1.0, 2.0]).tolist() == [2, 4]
    x = np.arange(12.0).reshape(3, 4)
    for view in (x.T, x[::-1, ::2], np.asfortranarray(x), np.broadcast_to(x, (2, 3, 4))):
        np.testing.assert_array_equal(ag.grad(lambda x: ag.sum(x * x))(view), 2 * view)
    assert type(ag.grad(lambda x: x * x)(np.float32(3))) is np.ndarray
    assert ag.grad(lambda x: x * x)(np.float32(3)).dtype == np.float32


def test_an_exception_inside_leaves_nothing_behind():
    def raising(x):
        ag.grad(lambda y: y * x)(1.0)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ag.grad(ag.grad(raising))(1.0)
    assert ag.grad(ag.grad(lambda x: x**3))(2.0) == 12
    assert (Tensor(1.0, requires_grad=True) * 2).requires_grad


def test_a_generator_in_the_middle_of_a_pass():
    """Two passes over one graph may alternate with each other and with transforms."""
    from autograd_lib.tape import backward_pass

    x = Tensor(2.0, requires_grad=True)
    y = ag.exp(x * x) * x
    first = backward_pass(y, np.float64(1))
    next(first)
    assert ag.grad(lambda t: ag.exp(t * t) * t)(2.0) > 0
    y.backward()
    rest = {id(node): g for node, g, _ in first}
    np.testing.assert_array_equal(rest[id(x)], x.grad)


# --- checkpoint ------------------------------------------------------------------------------------------


def test_checkpoint_gives_the_same_bits():
    w = Tensor(np.array([[0.2, -0.5], [1.0, 0.3]]), requires_grad=True)

    def block(x):
        return ag.tanh(x @ w) * ag.sum(x * x)

    grads = []
    for f in (block, ag.checkpoint(block), ag.checkpoint(lambda x: ag.checkpoint(block)(x) * 1.0)):
        w.grad = None
        t = Tensor(X[:2], requires_grad=True)
        for _ in range(2):
            ag.sum(f(f(t)) * X[:2]).backward()
        grads.append((t.grad, w.grad))
    for got in grads[1:]:
        np.testing.assert_array_equal(got[0], grads[0][0])
        np.testing.assert_array_equal(got[1], grads[0][1])
    loss = lambda x: ag.sum(block(x))  # noqa: E731
    kept = lambda x: ag.sum(ag.checkpoint(block)(x))  # noqa: E731
    w.requires_grad = False
    for transform in (
        ag.grad,
        ag.hessian,
        lambda f: lambda x: ag.hvp(f, x, x),
        lambda f: lambda x: ag.jvp(f, (x,), (x,))[1],
    ):
        got, want = (transform(f)(X[:2]) for f in (kept, loss))
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-14)


def test_checkpoint_of_several_results():
    f = ag.checkpoint(lambda x: (x * x, ag.sum(x), x.astype(np.float32) * 2, 5))
    t = Tensor(X, requires_grad=True)
    a, b, c, five = f(t)
    assert five == 5 and c.dtype == np.float32
    (ag.sum(a * X) + 3 * b + ag.sum(c)).backward()
    np.testing.assert_allclose(t.grad, 2 * X * X + 3 + 2)


@pytest.mark.parametrize("what", ["input", "parameter", "constant", "constant of a lower level"])
def test_checkpoint_notices_changed_data(what):
    """Regression: the recomputation read a constant that had changed since the forward pass."""
    x, w, c = Tensor(X, requires_grad=True), Tensor(X, requires_grad=True), Tensor(X)
    f = ag.checkpoint(lambda x: ag.exp(x * w * c))
    if what == "constant of a lower level":
        _, pull = ag.vjp(lambda x: ag.sum(f(x)), X)
        c.data = c.data * 2
        run = lambda: pull(1.0)  # noqa: E731
    else:
        y = ag.sum(f(x))
        changed = {"input": x, "parameter": w, "constant": c}[what]
        changed.data = changed.data * 2
        run = y.backward
    with pytest.raises(RuntimeError, match="was changed"):
        run()


def test_checkpoint_works_inside_no_grad_and_passes_constants_through():
    f = ag.checkpoint(lambda x: x * x)
    with ag.no_grad():
        assert not f(Tensor(2.0, requires_grad=True)).requires_grad
    assert f(2.0) == 4.0
    assert f(Tensor(2.0)).item() == 4.0
    x = Tensor(2.0, requires_grad=True)
    assert ag.checkpoint(lambda x: x)(x) is x
    y = f(x)
    with ag.no_grad():
        y.backward()
    assert x.grad == 4


# --- Random programs -------------------------------------------------------------------------------------

UNARY = [
    ag.tanh,
    ag.sin,
    ag.cos,
    ag.sigmoid,
    ag.softplus,
    ag.gelu,
    lambda x: ag.exp(x * 0.3),
    lambda x: x**2,
    lambda x: -x,
    lambda x: ag.log(x * x + 1),
    lambda x: ag.sqrt(x * x + 0.5),
    ag.softmax,
    ag.log_softmax,
    lambda x: x[::-1],
    lambda x: x[[0, 0, 2]],
    lambda x: ag.reshape(x, -1)[:9].reshape(3, 3) if x.size == 9 else x,
    lambda x: x.T,
    lambda x: ag.relu(x) + 0.1 * x,
    lambda x: ag.abs(x) * 0.5,
    lambda x: ag.clip(x, -0.9, 0.7) + x,
    lambda x: ag.sum(x, axis=-1, keepdims=True) * 0.3,
    lambda x: ag.mean(x, axis=0),
    lambda x: ag.max(x, axis=0) + x,
    lambda x: ag.logsumexp(x, axis=-1, keepdims=True),
    lambda x: ag.concatenate([x[:1], x[1:] * 2]),
    lambda x: ag.where(np.array([True, False, True]), x, 0.5 * x),
    lambda x: ag.stack([x, x])[1],
]
BINARY = [
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y * 0.5,
    lambda x, y: x / (y * y + 1),
    ag.maximum,
    ag.minimum,
    lambda x, y: x @ y * 0.3,
    lambda x, y: (x * x + 0.5) ** (y * 0.2),
]


def program(seed):
    """Return a random function of two arrays, with shared and dead nodes."""
    rng = np.random.default_rng(seed)
    steps = [
        (
            rng.integers(2),
            rng.integers(len(UNARY)),
            rng.integers(len(BINARY)),
            rng.integers(0, k + 2, 2),
        )
        for k in range(8)
    ]

    def f(x, y):
        made = [x, y]
        for binary, u, b, (i, j) in steps:
            x, y = made[i], made[j]
            made.append(BINARY[b](x, y) if binary else UNARY[u](x))
        return sum(ag.sum(ag.tanh(z) * (k + 1)) for k, z in enumerate(made[-3:]))

    return f


@pytest.mark.parametrize("block", range(10))
def test_random_programs_by_every_route(block):
    """Backward mode, forward mode, backward() on Tensors, checkpoint and finite differences
    agree.
    """
    for seed in range(20 * block, 20 * block + 20):
        f, rng = program(seed), np.random.default_rng(seed)
        x, y = rng.normal(size=(3, 3)), rng.normal(size=3)
        try:
            value, pull = ag.vjp(f, x, y)
        except (ValueError, IndexError, np.exceptions.AxisError):
            continue  # shapes that do not fit
        gx, gy = pull(1.0)
        vx, vy = rng.normal(size=(3, 3)), rng.normal(size=3)
        slope = np.sum(gx * vx) + np.sum(gy * vy)
        scale = 1 + np.sum(np.abs(gx * vx)) + np.sum(np.abs(gy * vy))
        _, tangent = ag.jvp(f, (x, y), (vx, vy))
        assert abs(tangent - slope) < 1e-12 * scale, seed
        tx, ty = Tensor(x, requires_grad=True), Tensor(y, requires_grad=True)
        ag.checkpoint(f)(tx, ty).backward()
        np.testing.assert_array_equal(0 if tx.grad is None else tx.grad, gx)
        np.testing.assert_array_equal(0 if ty.grad is None else ty.grad, gy)
        h = 1e-5
        line = [float(f(x + k * h * vx, y + k * h * vy)) for k in (-2, -1, 1, 2)]
        difference = (8 * (line[2] - line[1]) - (line[3] - line[0])) / (12 * h)
        assert abs(difference - slope) < 1e-5 * scale, (
            seed
        )  # a kink within 2h would show: none of the seeds has one
        (hx, hy) = ag.vjp(lambda x, y: ag.jvp(f, (x, y), (vx, vy))[1], x, y)[1](
            1.0
        )  # reverse over forward
        second = ag.jvp(
            lambda x, y: sum(
                ag.sum(g * v) for g, v in zip(ag.vjp(f, x, y)[1](1.0), (vx, vy), strict=True)
            ),
            (x, y),
            (vx, vy),
        )[1]  # forward over reverse
        assert abs(np.sum(hx * vx) + np.sum(hy * vy) - second) < 1e-11 * (
            1 + np.sum(np.abs(hx * vx)) + abs(second)
        ), seed


def test_enough_of_the_random_programs_run():
    ran = 0
    for seed in range(200):
        try:
            program(seed)(np.random.default_rng(seed).normal(size=(3, 3)), np.ones(3))
            ran += 1
        except (AttributeError, ValueError, IndexError, np.exceptions.AxisError):
            pass
    assert ran > 60
