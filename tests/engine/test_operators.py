"""Every operator and its reflected form, methods, and NumPy's own functions on Tensors."""

import contextlib
import math
import operator
import re
from importlib import metadata

import numpy as np
import pytest

import autograd_lib as ag
from autograd_lib import Tensor, ops

A = np.array([[0.5, 1.5, 2.5], [3.5, 0.7, 1.1]])
B = np.array([[1.2, 0.4, 0.9], [2.0, 1.6, 0.3]])
U = np.array([[1.0, -2.0, 3.0], [0.5, -1.5, 2.5]])
BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]


def both(f, *xs):
    """Return the value of f on arrays and its gradients on Tensors, weighted by U where shapes
    allow.
    """
    ts = [Tensor(x, requires_grad=True) for x in xs]
    z = f(*ts)
    assert isinstance(z, Tensor)
    np.testing.assert_allclose(z.data, f(*xs), rtol=1e-14)
    z.backward(
        np.broadcast_to(U.ravel()[:1] if z.size == 1 else U, z.shape)
        if z.shape == U.shape or z.size == 1
        else np.ones(z.shape)
    )
    return [t.grad for t in ts]


def differences(f, x, u, h=1e-6):
    return np.array(
        [
            np.sum((f(x + h * e) - f(x - h * e)) * u) / (2 * h)
            for e in np.eye(x.size).reshape(-1, *x.shape)
        ]
    ).reshape(x.shape)


@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.__name__)
@pytest.mark.parametrize(
    "other",
    [
        B,
        B[0],
        B[:, :1],
        np.array(1.7),
        np.float64(1.7),
        np.float32(1.5),
        1.7,
        2,
        True,
        np.int64(2),
        np.array([1, 2, 3]),
        B.tolist(),
        Tensor(B),
        Tensor(2),
    ],
    ids=lambda o: f"{type(o).__name__}{np.shape(o)}",
)
def test_operators_on_either_side_of_every_operand(op, other):
    """Reflected operators keep the order of their operands: 5 − x sends −1 to x."""
    raw = other.data if isinstance(other, Tensor) else np.array(other)
    for f, g in [
        (lambda x: op(x, other), lambda x: op(x, raw)),
        (lambda x: op(other, x), lambda x: op(raw, x)),
    ]:
        t = Tensor(A, requires_grad=True)
        z = f(t)
        assert isinstance(z, Tensor) and z.op.name == {
            "sub": "subtract",
            "mul": "multiply",
            "truediv": "divide",
            "pow": "power",
        }.get(op.__name__, op.__name__)
        np.testing.assert_allclose(z.data, g(A), rtol=1e-14)
        z.backward(U)
        np.testing.assert_allclose(t.grad, differences(g, A, U), rtol=1e-7, atol=1e-8)


def test_unary_operators():
    assert np.array_equal(both(operator.neg, A)[0], -U)
    assert np.array_equal(both(abs, -A)[0], -U)
    t = Tensor(A)
    assert +t is t


@pytest.mark.parametrize(
    "left, right",
    [
        (np.ones((2, 3)), (3, 2)),
        (np.ones(3), (3, 2)),
        (np.ones((4, 2, 3)), (3,)),
        ([[1.0, 2.0, 3.0]], (3, 2)),
    ],
)
def test_matmul_from_either_side(left, right):
    t = Tensor(np.ones(right), requires_grad=True)
    for z in (left @ t, ag.matmul(left, t), np.matmul(left, t)):
        assert isinstance(z, Tensor) and z.requires_grad
        np.testing.assert_array_equal(z.data, np.matmul(left, np.ones(right)))
    s = Tensor(np.ones((2, 2)), requires_grad=True)
    z = s @ np.ones((2, 3))
    z.backward(np.ones((2, 3)))
    np.testing.assert_array_equal(s.grad, 3 * np.ones((2, 2)))


NUMPY = {
    "sin": np.sin,
    "cos": np.cos,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "abs": np.abs,
    "absolute": np.absolute,
    "negative": np.negative,
    "square by multiply": lambda x: np.multiply(x, x),
    "add": lambda x: np.add(x, B),
    "subtract": lambda x: np.subtract(B, x),
    "divide": lambda x: np.divide(B, x),
    "true_divide": lambda x: np.true_divide(x, B),
    "power": lambda x: np.power(x, B),
    "maximum": lambda x: np.maximum(x, B),
    "minimum": lambda x: np.minimum(B, x),
    "clip": lambda x: np.clip(x, 1.0, 2.0),
    "clip without a lower bound": lambda x: np.clip(x, None, 2.0),
    "sum": np.sum,
    "sum axis": lambda x: np.sum(x, axis=0),
    "sum position": lambda x: np.sum(x, 1),
    "mean": lambda x: np.mean(x, axis=(0, 1), keepdims=True),
    "max": lambda x: np.max(x, axis=-1),
    "min": np.min,
    "amax": lambda x: np.amax(x, 0),
    "amin": lambda x: np.amin(x, axis=1),
    "matmul": lambda x: np.matmul(x, B.T),
    "dot": lambda x: np.dot(B, np.transpose(x)),
    "reshape": lambda x: np.reshape(x, (3, 2)),
    "reshape -1": lambda x: np.reshape(x, -1),
    "transpose": np.transpose,
    "transpose axes": lambda x: np.transpose(x, (1, 0)),
    "broadcast_to": lambda x: np.broadcast_to(x, (4, 2, 3)),
    "squeeze": lambda x: np.squeeze(x[:, :1], axis=1),
    "expand_dims": lambda x: np.expand_dims(x, 1),
    "swapaxes": lambda x: np.swapaxes(x, 0, 1),
    "concatenate": lambda x: np.concatenate([B, x, x], axis=1),
    "stack": lambda x: np.stack([x, B], axis=-1),
    "where": lambda x: np.where(A > 1, x, B),
    "where both": lambda x: np.where([True, False, True], x, x * 2),
}


@pytest.mark.parametrize("name", NUMPY)
def test_numpys_functions_record(name):
    f = NUMPY[name]
    t = Tensor(A, requires_grad=True)
    z = f(t)
    assert isinstance(z, Tensor) and z.requires_grad
    np.testing.assert_allclose(z.data, f(A), rtol=1e-14)
    u = np.random.default_rng(0).normal(size=z.shape)
    z.backward(u)
    np.testing.assert_allclose(t.grad, differences(f, A, u), rtol=1e-7, atol=1e-8)


def test_numpy_scalars_and_arrays_on_the_left_record():
    """Without __array_ufunc__, an array on the left would create an object array of Tensors."""
    t = Tensor([1.0, 2.0], requires_grad=True)
    for z in (
        np.float64(2) * t,
        np.float32(2) * t,
        np.int64(2) * t,
        np.array(2.0) * t,
        np.array([2.0, 2.0]) * t,
        2 * t,
    ):
        assert isinstance(z, Tensor) and z.shape == (2,)
        np.testing.assert_array_equal(z.data, [2, 4])
    z = np.ones((3, 2)) @ t
    assert isinstance(z, Tensor) and z.shape == (3,)
    z = np.ones((3, 1)) - t
    assert isinstance(z, Tensor) and z.shape == (3, 2)
    assert isinstance(np.sum([3.0]) * t, Tensor)


def test_writing_into_an_array_is_refused():
    t, a = Tensor([1.0, 2.0], requires_grad=True), np.ones(2)
    with pytest.raises(TypeError, match="in place.*z = x \\+ y"):
        a += t
    with pytest.raises(TypeError, match="with out=, or in place"):
        np.add(t, 1, out=a)
    np.testing.assert_array_equal(a, 1)
    for call in (
        lambda: np.add.reduce(t),
        lambda: np.multiply.outer(t, t),
        lambda: np.add.at(a, [0], t),
        lambda: np.add.accumulate(t),
    ):
        with pytest.raises(TypeError, match="has no derivative rule"):
            call()
    with pytest.raises(TypeError):
        a[:] = t


def test_assigning_to_part_of_an_array_loses_no_gradient():
    """Assigning a Tensor that requires a gradient to part of an array raises an error, so that
    no gradient is lost. Outside transforms a single entry takes the number, as float(t) does.
    """
    t, a = Tensor(2.0, requires_grad=True), np.zeros((2, 2))
    for array in (a, np.zeros((2, 2), np.float32), np.zeros((2, 2), complex), a.T):
        for value in (t, t * 3):
            for index in (0, slice(1), ..., array > 5):
                with pytest.raises((TypeError, ValueError)):
                    array[index] = value
    with pytest.raises((TypeError, ValueError)):
        ag.grad(lambda x: (a.__setitem__((0, 0), x), x)[1])(1.0)
    np.testing.assert_array_equal(a, 0)
    a[0, 0], a[0, 1], a[1, 0], a[1, 1] = Tensor(1.0), t.detach(), t.data, float(t)
    np.testing.assert_array_equal(a, [[1, 2], [2, 2]])
    assert {"loss": float(t)} == {"loss": 2.0} and [math.sqrt(t.item() * 2)] == [2.0]
    kept = {}
    kept["loss"] = t
    assert kept["loss"] is t


def test_an_augmented_assignment_makes_a_new_tensor():
    t = Tensor([1.0, 2.0], requires_grad=True)
    u = v = t * 1
    u *= 3
    assert u is not v
    np.testing.assert_array_equal(v.data, [1, 2])
    u.sum().backward()
    np.testing.assert_array_equal(t.grad, 3)

    def f(x):
        x += 1
        return x * x

    assert ag.grad(f)(2.0) == 6
    total = 0
    total += t
    c = Tensor(1.0)
    c -= t
    assert total.requires_grad and c.requires_grad


@pytest.mark.parametrize(
    "line", ["p -= 0.1 * p.grad", "p += 1", "p *= 2", "p /= 2", "p **= 2", "p @= p"]
)
def test_an_update_that_would_train_nothing_is_an_error(line):
    """Regression: `for p in params: p -= lr * p.grad` bound the name p to a new Tensor, and
    nothing was trained.
    """
    p = Tensor([1.0, 2.0], requires_grad=True)
    (p * p).sum().backward()
    for guard in (ag.no_grad(), contextlib.nullcontext()):
        with guard, pytest.raises(TypeError, match=r"p\.data -= "):
            exec(line, {"p": p})


@pytest.mark.parametrize(
    "call",
    [
        np.prod,
        np.linalg.norm,
        np.cumprod,
        np.sort,
        np.median,
        np.fft.fft,
        np.arctan,
        np.square,
        lambda t: np.einsum("i->", t),
        lambda t: np.outer(t, t),
    ],
)
def test_functions_without_a_row_raise(call):
    """A function without a row raises an error; it never returns a number without its gradient."""
    with pytest.raises(TypeError, match="(no derivative rule|input|argument|two arrays)"):
        call(Tensor([1.0, 2.0], requires_grad=True))


@pytest.mark.parametrize(
    "call, ours",
    [
        (lambda t: t.view(-1), "reshape"),
        (lambda t: t.permute(1, 0), "transpose"),
        (lambda t: t.unsqueeze(0), "expand_dims"),
        (lambda t: t.numpy(), r"\.data"),
        (lambda t: t.clamp(0), "clip"),
        (lambda t: ag.cat([t, t]), "concatenate"),
        (lambda t: ag.tensor(1.0), "Tensor"),
        (lambda t: ag.tensordot(t, t), "einsum"),
        (lambda t: np.square(t), r"x \* x"),
        (lambda t: t.nothing, "nothing"),
        (lambda t: ag.cross_entropy, r"use autograd_lib\.nn\.functional\.cross_entropy$"),
        (lambda t: ag.Linear, r"use autograd_lib\.nn\.Linear$"),
        (lambda t: ag.SGD, r"use autograd_lib\.optim\.SGD$"),
        (lambda t: ag.np, "autograd_lib .*'np'$"),
        (lambda t: ag.nothing, "autograd_lib .*'nothing'$"),
    ],
)
def test_names_of_other_libraries_get_our_names(call, ours):
    with pytest.raises((AttributeError, TypeError), match=ours):
        call(Tensor([1.0, 2.0], requires_grad=True))
    assert not hasattr(Tensor(1.0), "numpy") and not hasattr(ag, "cat")
    assert "numpy" not in dir(Tensor(1.0)) and "reshape" in dir(Tensor(1.0))


def test_suggested_replacements_exist():
    """Every replacement that an error message recommends exists."""
    from autograd_lib.hints import _SUBSTITUTES

    x = Tensor([[0.5, 1.5], [2.5, 3.0]], requires_grad=True)
    for theirs, ours in _SUBSTITUTES.items():
        for name in re.findall(r"\b[a-z_]{3,}\b(?=\()", ours) + re.findall(r"^\w+$", ours):
            assert (
                hasattr(ag, name)
                or hasattr(x, name)
                or hasattr(x.data, name)
                or hasattr(np, name)
                or hasattr(np.random, name)
                or hasattr(np.random.Generator, name)
                or name == "slope"
            ), (theirs, name)


def test_missing_operators_are_type_errors():
    t = Tensor([1.0, 2.0], requires_grad=True)
    for call in (
        lambda: t % 2,
        lambda: np.ones(2) % t,
        lambda: t & t,
        lambda: ~t,
        lambda: divmod(t, 2),
        lambda: range(t),
    ):
        with pytest.raises(TypeError):
            call()


def test_comparisons_give_plain_arrays():
    t = Tensor(A, requires_grad=True)
    for op in (operator.gt, operator.ge, operator.lt, operator.le, operator.eq, operator.ne):
        for other in (1.1, A, Tensor(A), B.tolist()):
            raw = other.data if isinstance(other, Tensor) else np.array(other)
            for got, expected in [(op(t, other), op(A, raw)), (op(other, t), op(raw, A))]:
                assert type(got) is np.ndarray and got.dtype == bool
                np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(np.greater(A, t), np.zeros((2, 3), bool))
    ag.grad(lambda x: (x * (x > 1)).sum())(A)


def test_control_flow_on_values():
    def f(x):
        y = x
        while y < 100:
            y = y * x
        return y if y > 0 else -y

    assert ag.grad(f)(3.0) == 5 * 3**4
    assert ag.grad(ag.grad(f))(3.0) == 20 * 3**3


def test_functions_without_a_slope_are_constants():
    t = Tensor([-1.5, 0.0, 2.5], requires_grad=True)
    for f in (
        np.sign,
        np.floor,
        np.ceil,
        np.rint,
        np.isnan,
        np.isfinite,
        np.argmax,
        np.argsort,
        np.zeros_like,
        np.ones_like,
        np.shape,
        np.ndim,
        np.size,
    ):
        got = f(t)
        assert not isinstance(got, Tensor)
        np.testing.assert_array_equal(got, f(t.data))


@pytest.mark.parametrize("f", [np.sum, np.mean, np.max, np.min, np.amax, np.amin, np.var, np.std])
def test_numpys_third_argument_is_not_taken_for_keepdims(f):
    with pytest.raises(TypeError, match="position"):
        f(Tensor(A), 0, np.float64)


def test_functions_without_a_slope_take_keywords_too():
    """Regression: RecursionError, because Tensors in NumPy's keywords were not unwrapped."""
    t = Tensor([-1.5, 0.0, 2.5], requires_grad=True)
    assert np.argmax(a=t) == 2 and np.allclose(t, b=t) and np.array_equal(a1=t, a2=t)
    np.testing.assert_array_equal(np.zeros_like(a=t), np.zeros(3))


def test_methods_are_the_functions():
    t = Tensor(A, requires_grad=True)
    for name in (
        "exp",
        "log",
        "sqrt",
        "abs",
        "sin",
        "cos",
        "tanh",
        "sigmoid",
        "softplus",
        "gelu",
        "relu",
        "sum",
        "mean",
        "max",
        "min",
        "logsumexp",
        "softmax",
        "log_softmax",
        "transpose",
        "squeeze",
    ):
        got = getattr(t, name)()
        assert got.op is getattr(ops, name)
        np.testing.assert_array_equal(got.data, getattr(ag, name)(A))
    assert t.sum(axis=0, keepdims=True).shape == (1, 3)
    assert t.reshape(3, 2).shape == t.reshape((3, 2)).shape == t.reshape(-1, 2).shape == (3, 2)
    assert t.reshape(-1).shape == (6,) and Tensor([[1.0]]).reshape(()).shape == ()
    assert t.transpose(1, 0).shape == t.transpose((1, 0)).shape == t.T.shape == (3, 2)
    assert t.dot(A.T).shape == t.matmul(A.T).shape == (2, 2)
    assert t.clip(0, 1).data.max() == 1 and t.swapaxes(0, 1).shape == (3, 2)
    assert t.broadcast_to((2, 2, 3)).shape == (2, 2, 3) and t.expand_dims(0).shape == (1, 2, 3)


def test_public_names():
    names = """add subtract multiply divide negative power exp log sqrt abs sin cos tanh maximum minimum where clip sum mean
        max min matmul dot reshape transpose broadcast_to squeeze expand_dims concatenate stack relu sigmoid softplus gelu
        logsumexp softmax log_softmax Tensor no_grad grad value_and_grad vjp jvp jacobian hessian hvp check_grads
        elementwise linear bilinear primitive nn optim""".split()
    assert [name for name in names if not hasattr(ag, name)] == []


def test_the_version_is_stated_once():
    """pyproject.toml and the package state the same version."""
    assert metadata.version("autograd_lib") == ag.__version__


def test_len_iteration_and_format():
    t = Tensor(A, requires_grad=True)
    assert len(t) == 2
    first, second = t
    (first * second).sum().backward()
    np.testing.assert_array_equal(t.grad, A[::-1])
    for call in (len, list):
        with pytest.raises(TypeError, match="0-d"):
            call(Tensor(1.0))
    assert f"{Tensor(1.23456):.2f}" == "1.23"
    texts = []
    ag.grad(lambda x: (texts.append(f"{x:.2f}"), x * x)[1])(1.23456)
    ag.jvp(lambda x: (texts.append(f"{x:.2f}"), x * x)[1], (1.23456,), (1.0,))
    assert texts == ["1.23", "1.23"]
    assert float(Tensor([2.0])) == 2.0


def test_python_sum_and_max():
    ts = [Tensor(float(k), requires_grad=True) for k in range(1, 4)]
    sum(t * t for t in ts).backward()
    assert [t.grad for t in ts] == [2, 4, 6]
    assert max(ts) is ts[2]


def test_a_tensor_is_a_key_by_identity():
    a, b = Tensor(1.0), Tensor(1.0)
    assert len({a: 1, b: 2}) == 2 and {a: 1}[a] == 1


def filled(x):
    a = np.zeros(2)
    a[0] = x
    return ag.sum(a * x)


@pytest.mark.parametrize(
    "f", [lambda x: math.sin(x) * x, filled, lambda x: float(x) * x, lambda x: x.item() * x]
)
def test_converting_to_a_number_in_a_transform_is_an_error(f):
    """Regression: inside grad, math.sin(x) was treated as a constant, with no error."""
    with pytest.raises((TypeError, ValueError)):  # ValueError is NumPy's, from the TypeError
        ag.grad(f)(1.0)
    assert (
        float(Tensor(2.0, requires_grad=True)) == 2.0
    )  # outside a transform the conversion is explicit, as in print(float(loss))


def test_index_by_a_slice_of_tensors():
    t = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    np.testing.assert_array_equal(t[: Tensor(2)].data, [1, 2])
    t[[Tensor(1), Tensor(1)]].sum().backward()
    np.testing.assert_array_equal(t.grad, [0, 2, 0])


def test_functions_of_slope_zero_that_python_spells_with_an_operator():
    t = Tensor([-1.5, 0.4, 2.5], requires_grad=True)
    for got, expected in [
        (t // 2, t.data // 2),
        (2 // t, 2 // t.data),
        (round(t, 1), np.round(t.data, 1)),
        (np.round(t), np.round(t.data)),
        (np.around(t), np.round(t.data)),
        (np.trunc(t), np.trunc(t.data)),
        (np.fix(t), np.trunc(t.data)),
        (np.logical_and(t, 0), np.zeros(3, bool)),
        (np.logical_not(t), np.zeros(3, bool)),
    ]:
        assert type(got) is np.ndarray
        np.testing.assert_array_equal(got, expected)
    assert int(Tensor(3.7)) == 3 and round(Tensor(3.7)) == 4
    assert complex(Tensor(3.7)) == complex(Tensor(3.7, requires_grad=True)) == 3.7
    np.testing.assert_array_equal(ag.grad(lambda x: (x * np.round(x)).sum())(A), np.round(A))
    np.testing.assert_array_equal(ag.grad(lambda x: (x - 2 * (x // 2)).sum())(A), np.ones((2, 3)))


def test_clip_as_a_method_of_an_array_keeps_the_gradient():
    """Regression: the call failed with the message that np.clip has no derivative rule."""
    assert ag.grad(lambda x: np.arange(5.0).clip(0, x).sum())(2.5) == 2
    assert ag.grad(lambda x: np.arange(5.0).clip(None, x).sum())(2.5) == 2
    assert ag.grad(lambda x: np.arange(5.0).clip(x, 9).sum())(2.5) == 3


def test_np_pad_is_pad():
    np.testing.assert_array_equal(
        ag.grad(lambda x: (np.pad(x, 1) * np.arange(5.0)).sum())(np.ones(3)), [1, 2, 3]
    )
    for keywords in ({"mode": "edge"}, {"constant_values": 1}):
        with pytest.raises(TypeError, match="np.pad: expected .* zeros"):
            np.pad(Tensor([1.0], requires_grad=True), 1, **keywords)


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "logsumexp", "var", "std"])
def test_keepdims_is_given_by_name(name):
    """NumPy's third argument is dtype, PyTorch's is keepdim. Regression: a third positional
    argument was taken for keepdims.
    """
    t = Tensor(A, requires_grad=True)
    for call in (lambda: getattr(t, name)(0, 1), lambda: getattr(ops, name)(t, 0, 1)):
        with pytest.raises(TypeError, match=rf"^{name}: .*keepdims"):
            call()


def test_np_clip_takes_its_bounds_once():
    """Regression: if a bound was given twice, the first was ignored with no error."""
    t = Tensor(A, requires_grad=True)
    for bounds in ({"min": 2}, {"max": 3}):
        with pytest.raises(TypeError, match="np.clip: .* got both"):
            np.clip(t, 0, 1, **bounds)
    np.testing.assert_array_equal(np.clip(t, min=0, max=1).data, np.clip(A, 0, 1))


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda t: t.var(dim=0), ["var:", "'dim'", "axis"]),
        (lambda t: t.std(unbiased=False), ["std:", "'unbiased'", "ddof"]),
        (lambda t: np.var(t, correction=1), ["var:", "'correction'", "ddof"]),
        (lambda t: np.sum(t, 0, None), ["sum:", "positional", "keepdims by keyword"]),
        (lambda t: np.clip(t, 0, 1, out=A), ["np.clip:", "'out'", "a_min"]),
        (lambda t: t.reshape((6,), order="F"), ["reshape:", "'order'"]),
        (lambda t: np.einsum("ij,ij", t, t, optimize=True), ["einsum:", "'optimize'"]),
        (
            lambda t: np.concatenate([t, t], dtype=float),
            ["concatenate:", "'dtype'", "(xs, axis=0)"],
        ),
        (lambda t: np.stack([t], out=A), ["stack:", "'out'"]),
        (lambda t: np.matmul(t, t, axes=[]), ["matmul:", "'axes'"]),
        (lambda t: np.dot(t, t, out=A), ["dot:", "'out'"]),
        (lambda t: t.argmax(dim=0), ["argmax:", "'dim'", "axis"]),
        (lambda t: t % 2, ["%", "np.floor"]),
        (lambda t: divmod(t, 2), ["divmod", "np.floor"]),
        (lambda t: np.remainder(t, 2), ["np.remainder", "np.floor"]),
        (lambda t: list(t.sum()), ["0-d", "item()"]),
        (lambda t: bool(t), ["bool:", "np.any(t)", "(2, 3)"]),
        (lambda t: range(t[0, 0]), ["index:", "float64", "int(t)"]),
        (lambda t: np.add.outer(t, t), ["np.add.outer", "np.add(x.reshape(-1, 1), y)"]),
        (lambda t: np.linalg.norm(t), ["np.linalg.norm", "** 0.5"]),
        (lambda t: np.fft.fft(t), ["np.fft.fft"]),
        (lambda t: np.vstack([t, t]), ["np.vstack", "stack([x, y]) for 1-D arrays"]),
        (lambda t: A[0].dot(t), ["a @ t"]),
        (lambda t: t.clone(), ["clone", "the Tensor itself", ".detach()"]),
        (lambda t: t.copy(), ["copy", "the Tensor itself", ".detach()"]),
        (lambda t: t.numel(), ["numel", ".size"]),
        (lambda t: t.dim(), ["dim", ".ndim"]),
        (lambda t: t.to(float), ["to", "astype(dtype)"]),
        (lambda t: t.float(), ["float", "astype(np.float32)"]),
        (lambda t: t.cuda(), ["cuda", "CPU"]),
        (lambda t: t.grad_fn, ["grad_fn", ".op"]),
        (lambda t: t.is_leaf, ["is_leaf", ".op is None"]),
        (lambda t: t.flip(0), ["flip(x, axis)"]),
        (lambda t: t.split(2), ["split(x, indices_or_sections, axis)"]),
        (lambda t: t.argsort(), ["np.argsort"]),
        (lambda t: t.sign(), ["np.sign"]),
        (lambda t: t.any(), ["np.any"]),
        (lambda t: ag.zeros(3), ["autograd_lib", "np.zeros"]),
        (lambda t: ag.randn(3), ["autograd_lib", "normal("]),
        (lambda t: t.detach_(), ["detach_", "t.detach()"]),
        (lambda t: t.zero_(), ["zero_", "t.zero_grad()"]),
        (lambda t: t.fill_(0), ["fill_", "t.data[...]"]),
        (lambda t: t.requires_grad_(), ["t.requires_grad = True"]),
        (lambda t: t.masked_fill(t > 0, 0), ["masked_fill", "where(mask, value, x)"]),
        (lambda t: t.eq(1), ["eq", "=="]),
        (lambda t: t.chunk(2), ["chunk", "split(x"]),
        (lambda t: ag.jit, ["jit", "compile(f)"]),
        (lambda t: ag.float32, ["float32", "np.float32"]),
        (lambda t: ag.inference_mode, ["inference_mode", "no_grad"]),
        (lambda t: ag.nn.functional.linear, ["functional", "x @ weight.T + bias"]),
        (lambda t: ag.nn.functional.one_hot, ["functional", "np.eye"]),
        (lambda t: t.sum(dim=0, keepdim=True), ["sum:", "'dim'", "axis", "keepdims"]),
        (lambda t: ag.relu(t, inplace=True), ["relu:", "'inplace'", "assign the result"]),
        (lambda t: Tensor(A, dtype=float), ["Tensor:", "'dtype'", "astype"]),
        (lambda t: Tensor(A, device="cpu"), ["Tensor:", "'device'", "CPU"]),
        (lambda t: t.zero_grad(set_to_none=True), ["zero_grad:", "set_to_none", "are ()"]),
        (lambda t: ag.max(t, t), ["max:", "axis", "maximum"]),
    ],
)
def test_calls_in_the_style_of_pytorch_or_numpy_get_a_helpful_error(call, words):
    """Regression: the error was raised by Python or NumPy, named an internal function, or
    recommended a change of shape.
    """
    with pytest.raises((TypeError, AttributeError)) as caught:
        call(Tensor(A, requires_grad=True))
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize(
    "call, words",
    [
        (
            lambda t: t + np.ones(4),
            ["add:", "could not be broadcast", "(2, 3)", "(4,)", "length 1"],
        ),
        (lambda t: t.broadcast_to((4, 4)), ["broadcast_to:", "shape (4,4)", "(2, 3)"]),
        (lambda t: t @ t, ["matmul:", "(…, n, k) and (…, k, m)", "(2, 3)"]),
        (lambda t: t @ 2.0, ["matmul:", "at least one axis", "*"]),
        (lambda t: t.transpose(0), ["transpose:", "every axis once", "swapaxes"]),
        (lambda t: t.transpose(1, 1), ["transpose:", "every axis once", "swapaxes"]),
        (lambda t: t.sum(axis=[0, 1]), ["sum:", "tuple of ints", "list"]),
        (lambda t: t.reshape(2.5), ["reshape:", "an int", "float"]),
        (lambda t: -Tensor(True), ["negative:", "booleans", "astype(float)"]),
        (lambda t: t[t], ["getitem:", "ints or booleans", "astype(int)"]),
        (lambda t: t["a"], ["getitem:", "ints, slices"]),
        (lambda t: t.squeeze(0), ["squeeze:", "length 1", "(2, 3)"]),
        (lambda t: t[:0].max(), ["max:", "empty"]),
        (lambda t: t.astype(), ["astype: missing", "'dtype'"]),
        (lambda t: ag.expand_dims(t), ["expand_dims: missing", "'axis'"]),
        (lambda t: ag.split(t, "a"), ["split:", "'a'"]),
        (lambda t: ag.concatenate(3), ["concatenate:", "one list"]),
        (lambda t: ag.pad(t, (1, 2, 3)), ["pad:", "pad_width", "2 axes", "(1, 2, 3)"]),
        (lambda t: t.item(), ["item", "(2, 3)", "t.data"]),
        (lambda t: int(t), ["int", "(2, 3)", "t.data"]),
        (lambda t: f"{t:.2f}", ["format", "(2, 3)", "t.data"]),
        (lambda t: t == "a", ["equal:", "expected numbers", "Str"]),
        (lambda t: t < np.ones(4), ["less:", "length 1", "(2, 3)", "(4,)"]),
        (lambda t: t.argmax(axis=5), ["argmax: axis 5", "(2, 3)"]),
        (lambda t: np.any(t, axis="a"), ["any:", "an int", "str"]),
        (lambda t: ag.stack([t, t], axis=5), ["stack: axis 5"]),
        (lambda t: ag.stack(t, "a"), ["stack:", "an int", "str"]),
        (lambda t: t.var(axis=5), ["var: axis 5", "(2, 3)"]),
        (lambda t: t.std(axis=5), ["std: axis 5", "(2, 3)"]),
        (lambda t: t.dot(np.ones(2)), ["dot:", "(…, n, k) and (…, k, m)", "(2, 3)", "(2,)"]),
        (lambda t: ag.dot(t, "a"), ["dot: argument 1", "str"]),
        (lambda t: ag.pad(t, (1, -2)), ["pad:", "pad_width", "(1, -2)"]),
    ],
)
def test_obscure_errors_of_numpy_are_replaced(call, words):
    with pytest.raises((TypeError, ValueError, IndexError)) as caught:
        call(Tensor(A, requires_grad=True))
    text = str(caught.value)
    assert all(word in text for word in words), text
    assert not any(raw in text for raw in ("gufunc", "object cannot be", "remapped", "_astype"))


def test_the_value_of_a_tensor_kept_from_a_transform_is_read_by_data():
    kept = []
    ag.grad(lambda x: (kept.append(x * 3), (x * 3).sum())[1])(np.ones(2))
    with pytest.raises(TypeError, match=r"read \.data if the Tensor was kept"):
        float(kept[0].sum())
    assert float(kept[0].sum().data) == 6


def test_the_substitute_for_a_remainder_is_right():
    x, y = np.array([5.5, -5.5, 7.0]), np.array([2.0, 2.0, -3.0])
    z, pull = ag.vjp(lambda x, y: x - y * np.floor(x / y), x, y)
    np.testing.assert_allclose(z, x % y)
    ag.check_grads(lambda x, y: x - y * np.floor(x / y), x, y)
    np.testing.assert_array_equal(pull(np.ones(3))[0], 1)
