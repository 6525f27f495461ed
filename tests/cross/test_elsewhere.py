"""The lessons' statements about PyTorch and JAX, checked by running both; `.ci/run` installs them
in an environment of their own.

The tests of a lesson follow the order of its sentences. Every name that the lessons quote in code
must exist.
"""

import inspect
import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: the claims of the lessons about it are not tested"
)
jax = pytest.importorskip(
    "jax", reason="JAX is not installed: the claims of the lessons about it are not tested"
)
from jax import numpy as jnp  # noqa: E402
from jax import test_util  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import autograd_lib as ag  # noqa: E402
from autograd_lib.nn.functional import conv2d, scaled_dot_product_attention  # noqa: E402

jax.config.update("jax_enable_x64", True)
torch.set_default_dtype(torch.float64)

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
HOMES = {
    "torch": torch,
    "jax": jax,
    "jnp": jnp,
    "F": F,
    "nn": nn,
    "optim": torch.optim,
    "lax": jax.lax,
}
NAME = r"(?<![\w.])(?:torch|jax|jnp|F|nn|optim|lax)(?:\.[a-zA-Z_]\w*)+"
OURS = {"nn.MLP", "nn.Neuron"}  # our own names in paragraphs about PyTorch


def leaf(value):
    return torch.tensor(value, requires_grad=True)


def slopes(f, *values):
    """Return the gradients of the inputs of f in PyTorch."""
    inputs = [leaf(value) for value in values]
    f(*inputs).sum().backward()
    return [x.grad.numpy() for x in inputs]


# ---------------------------------------------------------------- programs beside ours


def programs():
    """Return (code, output) of every fold "The same in PyTorch" or "The same in JAX" in the
    lessons.
    """
    fold = (
        r"<summary>The same in (PyTorch|JAX)</summary>\s+```python\n(.+?)```\s+"
        r"```text\n(.+?)```(?=.*?</details>)"
    )
    return [
        pytest.param(code, output, id=f"{path.stem[:2]}-{framework}")
        for path in NOTEBOOKS
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "markdown"
        for framework, code, output in re.findall(fold, "".join(cell["source"]), re.DOTALL)
    ]


@pytest.mark.parametrize("code, output", programs())
def test_the_same_elsewhere_prints_what_the_lesson_shows(code, output, capsys):
    torch.set_default_dtype(torch.float32)  # PyTorch's default, as for a reader
    jax.config.update("jax_enable_x64", False)
    try:
        exec(code, {})
    finally:
        torch.set_default_dtype(torch.float64)
        jax.config.update("jax_enable_x64", True)
    assert capsys.readouterr().out == output


def test_every_lesson_that_promises_a_program_beside_ours_has_one():
    lessons = {param.id.rpartition("-")[0] for param in programs()}
    assert lessons >= {"02", "05", "06", "08", "10", "12", "13", "15", "16"}


# ---------------------------------------------------------------- every name


def quoted():
    """Return a dict from each name in code to its notebook, for the paragraphs about PyTorch or JAX."""
    found = {}
    for path in NOTEBOOKS:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            text = "".join(cell["source"]) if cell["cell_type"] == "markdown" else ""
            for paragraph in re.split(r"\n\n|\n(?=- )", text):
                if re.search("PyTorch|JAX|Elsewhere", paragraph):
                    for code in re.findall(r"`([^`]+)`", paragraph):
                        found |= dict.fromkeys(re.findall(NAME, code), path.stem)
    return {name: where for name, where in found.items() if name not in OURS}


@pytest.mark.parametrize("name, where", sorted(quoted().items()))
def test_every_name_is_there(name, where):
    home, *parts = name.split(".")
    found = HOMES[home]
    for part in parts:
        assert hasattr(found, part), f"{where} speaks of {name}"
        found = getattr(found, part)


def test_names_are_found():
    assert {"torch.optim.SGD", "jax.grad", "F.gelu", "nn.Linear"} <= set(quoted())


# ---------------------------------------------------------------- lesson by lesson


def test_00_the_same_loop_name_for_name():
    assert jax.grad(lambda x: (x - 3) ** 2)(5.0) == ag.grad(lambda x: (x - 3) ** 2)(5.0) == 4
    assert torch.func.grad(lambda x: (x - 3) ** 2)(torch.tensor(5.0)) == 4
    x = leaf(5.0)
    ((x - 3) ** 2).backward()
    assert x.grad == 4
    assert {"zero_grad", "step"} <= set(dir(torch.optim.Adam)) and hasattr(F, "cross_entropy")
    theirs, ours = nn.Linear(2, 2), ag.nn.Linear(2, 2)
    shared, copied = theirs.state_dict()["weight"], ours.state_dict()["weight"]
    with torch.no_grad():
        theirs.weight.fill_(7.0)
    ours.weight.data[...] = 7.0
    assert (shared == 7).all() and not (copied == 7).any()


def test_01_checks_and_the_step():
    from scipy.optimize import approx_fprime

    h = inspect.signature(approx_fprime).parameters["epsilon"].default
    assert np.isclose(h, np.sqrt(np.finfo(float).eps)) and round(h * 1e8, 1) == 1.5
    theirs = approx_fprime(np.array([1.0]), lambda x: np.exp(x[0]), h)[0]
    assert np.isclose(theirs, (np.exp(1 + h) - np.exp(1)) / h, atol=0)
    assert torch.autograd.gradcheck(torch.exp, leaf([1.0]))
    test_util.check_grads(jnp.exp, (1.0,), order=1)
    x = leaf(1.0)
    torch.exp(x).backward()
    torch.optim.SGD([x], lr=0.1).step()
    assert np.isclose(x.item(), 1 - 0.1 * np.e)


def test_02_the_graph():
    x, y, w = leaf(1.0), leaf(4.0), leaf(-3.0)
    L = (x + y) * w
    L.backward()
    assert L.grad_fn is not None and x.grad_fn is None and x.is_leaf and x.grad == -3
    assert not hasattr(x, "zero_grad")
    x.grad = None
    assert (
        type(jax.make_jaxpr(lambda x, y, w: (x + y) * w)(1.0, 4.0, -3.0).jaxpr).__name__ == "Jaxpr"
    )


def test_03_division_keeps_both():
    z = leaf(6.0) / leaf(3.0)
    assert z.grad_fn._saved_self == 6 and z.grad_fn._saved_other == 3


def test_04_saved_tensors_and_conventions():
    for name, kept in {
        "exp": "result",
        "tanh": "result",
        "sigmoid": "result",
        "sqrt": "result",
        "log": "self",
        "sin": "self",
        "cos": "self",
    }.items():
        assert hasattr(getattr(torch, name)(leaf(0.5)).grad_fn, f"_saved_{kept}"), name
    for f in ("relu", "abs"):
        assert slopes(getattr(torch, f), 0.0) == [0] == [ag.grad(getattr(ag, f))(0.0)]
    for f in ("maximum", "minimum"):
        assert slopes(getattr(torch, f), 2.0, 2.0) == [0.5, 0.5]
        assert ag.grad(getattr(ag, f), argnums=(0, 1))(2.0, 2.0) == (0.5, 0.5)
    with np.errstate(invalid="ignore"):
        assert slopes(torch.relu, np.nan) == [1] != [ag.grad(ag.relu)(np.nan)] == [0]
    # In 2.14, x at a bound of clip gets 0 if the bounds are numbers, and half if they are tensors.
    ties = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 14)
    zero = torch.zeros(())
    alike = [torch.relu, lambda x: torch.maximum(x, zero), lambda x: torch.clip(x, 0, torch.inf)]
    assert [slopes(f, 0.0)[0] for f in alike] == [0, 0.5, 0 if ties else 1]
    at_bounds = slopes(lambda x: torch.clip(x, -1, 1), [-1.0, 1.0, 2.0])[0].tolist()
    assert at_bounds == ([0, 0, 0] if ties else [1, 1, 0])
    assert slopes(torch.clip, 0.5, 0.5, 1.0) == ([0.5, 0.5, 0] if ties else [1, 0, 0])
    assert slopes(torch.clip, 1.0, 0.5, 1.0) == ([0.5, 0, 0.5] if ties else [1, 0, 0])
    assert slopes(torch.clip, 0.5, 0.5, 0.5) == [1, 0, 0]
    assert (
        slopes(torch.clip, -1.0, 0.5, 0.6)
        == [0, 1, 0]
        == [*ag.grad(ag.clip, argnums=(0, 1, 2))(-1.0, 0.5, 0.6)]
    )
    assert (
        slopes(torch.clip, -1.0, 0.5, 0.5) == ([0, 1, 0] if ties else [0, 0, 0])
        and ag.grad(ag.clip, argnums=1)(-1.0, 0.5, 0.5) == 1
    )
    assert slopes(lambda x: torch.relu(x) - torch.relu(-x), 0.0) == [0], (
        "x itself, whose slope is 1"
    )
    x = np.linspace(-4, 4, 17)
    assert np.allclose(F.gelu(torch.tensor(x), approximate="tanh"), ag.gelu(x))
    assert np.allclose(jax.nn.gelu(x), ag.gelu(x))
    assert not np.allclose(F.gelu(torch.tensor(x)), ag.gelu(x), atol=1e-6), (
        "there the default is by erf"
    )
    assert torch.exp(torch.tensor([88.0, 89.0], dtype=torch.float32)).isinf().tolist() == [
        False,
        True,
    ]


def test_04_a_loss_computed_from_the_input_of_a_sigmoid():
    one = torch.ones(())
    assert slopes(lambda x: nn.BCEWithLogitsLoss()(x, one), -800.0) == [-1]
    assert slopes(lambda x: nn.BCELoss()(torch.sigmoid(x), one), -800.0) == [0]


def test_04_the_trap_of_where():
    """The gradient passes through both branches of where, and 0 times an infinite slope is nan in
    all three libraries.

    Selecting the input as well avoids the nan.
    """

    def torch_grad(f):
        return lambda x: slopes(f, x)[0]

    for where, sqrt, grad in [
        (torch.where, torch.sqrt, torch_grad),
        (jnp.where, jnp.sqrt, jax.grad),
        (np.where, np.sqrt, ag.grad),
    ]:
        assert np.isnan(grad(lambda x: where(x > 0, sqrt(x), 0.0))(0.0))
        assert grad(lambda x: where(x > 0, sqrt(where(x > 0, x, 1.0)), 0.0))(0.0) == 0


def test_05_the_second_call_and_detach():
    x = leaf(3.0)
    L = x * x
    L.backward(retain_graph=True)
    L.backward()
    assert x.grad == 12
    with pytest.raises(RuntimeError, match="second time"):
        L.backward()
    assert not x.detach().requires_grad
    assert jax.grad(lambda x: x * x)(3.0) == 6
    x = leaf(3.0)
    L = x + x  # a sum saves nothing
    L.backward()
    L.backward()
    assert x.grad == 4


def test_05_what_each_notices_that_was_changed():
    """PyTorch notices a write in place and misses a replaced `.data`; here it is the other way
    round.
    """
    x = leaf(2.0)
    y = x * 1
    z = y * y
    y.data = torch.tensor(5.0)
    z.backward()
    assert x.grad == 10  # 2 · 5, and 4 would be right
    y = leaf(2.0) * 1
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()
    x = ag.Tensor([2.0], requires_grad=True)
    z = (x * x).sum()
    x.data[0] = 5.0
    z.backward()
    assert x.grad[0] == 10
    x = ag.Tensor([2.0], requires_grad=True)
    z = (x * x).sum()
    x.data = np.array([5.0])
    with pytest.raises(RuntimeError, match="data"):
        z.backward()


def test_05_leaves_come_first():
    """PyTorch runs AccumulateGrad of a leaf before an operation that is newer."""
    x, y = leaf(1.0), leaf(2.0)
    visited = []
    x.register_hook(lambda g: visited.append("x"))
    inner = y * 2
    inner.register_hook(lambda g: visited.append("inner"))
    accumulate = x.view_as(x).grad_fn.next_functions[0][0]
    accumulate.register_hook(lambda *_: visited.append("AccumulateGrad"))
    z = inner * 3
    z.grad_fn.register_hook(lambda *_: visited.append("multiply"))
    (x * z).backward()
    assert visited.index("AccumulateGrad") < visited.index("multiply"), visited


def test_06_modules_and_the_penalty():
    class Forgetful(nn.Module):
        def __init__(self):
            self.weight = nn.Parameter(torch.ones(1))

    with pytest.raises(AttributeError, match=r"Module.__init__\(\)"):
        Forgetful()

    class Several(nn.Module):
        def __init__(self):
            super().__init__()
            self.loose, self.kept = (
                [nn.Parameter(torch.ones(1))],
                nn.ParameterList([nn.Parameter(torch.ones(1))]),
            )

    assert [name for name, _ in Several().named_parameters()] == ["kept.0"]
    w, v = leaf(1.7), leaf(1.7)
    ((w - 3) ** 2 + 0.1 * w * w).backward()
    ((v - 3) ** 2).backward()
    torch.optim.SGD([w], lr=0.1).step()
    torch.optim.SGD([v], lr=0.1, weight_decay=0.2).step()
    assert torch.isclose(w, v)


def test_07_a_second_backward_and_a_custom_op():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * 2 * x

    for check in (torch.autograd.gradcheck, torch.autograd.gradgradcheck):
        assert check(Square.apply, leaf([1.5, -2.0]))
    assert torch.func.grad(lambda x: Square.apply(x).sum())(torch.tensor([3.0])) == 6

    class Older(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        backward = Square.backward

    assert torch.autograd.gradcheck(Older.apply, leaf([1.5, -2.0]))
    with pytest.raises(RuntimeError, match="setup_context"):
        torch.func.grad(lambda x: Older.apply(x).sum())(torch.tensor([3.0]))
    single = torch.tensor([1.5], dtype=torch.float32, requires_grad=True)
    with (
        pytest.warns(UserWarning, match="double precision"),
        pytest.raises(RuntimeError, match="Jacobian mismatch"),
    ):
        torch.autograd.gradcheck(torch.sin, single)


def test_08_shapes():
    g = torch.arange(6.0).reshape(2, 3)
    assert g.sum_to_size(3).tolist() == [3, 5, 7] and torch.ones(3).expand(2, 3).shape == (2, 3)
    assert g.sum(dim=1, keepdim=True).shape == (2, 1)
    with pytest.warns(UserWarning, match="size"):
        nn.MSELoss()(torch.ones(3, 1), torch.ones(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (torch.ones(3, 1) - torch.ones(3)).shape == (3, 3)
    index = torch.tensor([0, 2, 0])
    out, forgets = torch.zeros(3), torch.zeros(3)
    out.index_add_(0, index, torch.tensor([1.0, 10.0, 100.0]))
    forgets[index] += torch.tensor([1.0, 10.0, 100.0])
    assert out.tolist() == [101, 0, 10] and forgets.tolist() != out.tolist()
    with pytest.raises((IndexError, RuntimeError), match="out of range"):
        out.index_add_(0, torch.tensor([-1]), torch.ones(1))


def test_09_products():
    rng = np.random.default_rng(0)
    A, B, G = rng.normal(size=(2, 3)), rng.normal(size=(3, 4)), rng.normal(size=(2, 4))
    _, pull = torch.func.vjp(lambda A: A @ torch.tensor(B), torch.tensor(A))
    assert np.allclose(pull(torch.tensor(G))[0], G @ B.T)
    _, tangent = torch.func.jvp(
        lambda A: A @ torch.tensor(B), (torch.tensor(A),), (torch.tensor(A),)
    )
    assert np.allclose(tangent, A @ B)
    assert torch.func.jacrev(lambda A: A @ torch.tensor(B))(torch.tensor(A)).shape == (2, 4, 2, 3)
    layer = nn.Linear(3, 4)
    x = torch.tensor(A)
    assert torch.allclose(layer(x), x @ layer.weight.T + layer.bias)
    layer(x).backward(torch.tensor(G))
    assert torch.allclose(layer.weight.grad, torch.tensor(G).T @ x)
    assert np.allclose(jax.linear_transpose(lambda A: A @ B, A)(G)[0], G @ B.T)
    assert np.allclose(jax.vjp(lambda A: A @ B, A)[1](G)[0], G @ B.T)


def test_10_ties_and_logits():
    x = np.array([[2.0, 1.0, 2.0]])
    assert slopes(lambda x: torch.amax(x, 1), x)[0].tolist() == [[0.5, 0, 0.5]]
    assert ag.grad(lambda x: ag.max(x, axis=1).sum())(x).tolist() == [[0.5, 0, 0.5]]
    assert sorted(slopes(lambda x: torch.max(x, dim=1).values, x)[0][0].tolist()) == [0, 0, 1]
    assert jax.grad(lambda x: jnp.max(x))(x[0]).tolist() == [0.5, 0, 0.5]
    logits, target = np.array([[2.0, -1.0, 0.5], [0.1, 0.2, 0.3]]), np.array([2, 0])
    ours = ag.nn.functional.cross_entropy(logits, target)
    assert np.isclose(F.cross_entropy(torch.tensor(logits), torch.tensor(target)), ours)
    twice = F.cross_entropy(torch.softmax(torch.tensor(logits), 1), torch.tensor(target))
    assert not np.isclose(twice, ours)


def both(name, ours, theirs):
    """Return the path of a weight over six steps, with our optimizer and with PyTorch's."""
    w, v = ag.Tensor(np.array([3.0, -1.0]), requires_grad=True), leaf([3.0, -1.0])
    mine, other = getattr(ag.optim, name)([w], **ours), getattr(torch.optim, name)([v], **theirs)
    for _ in range(6):
        for optimizer, x in ((mine, w), (other, v)):
            optimizer.zero_grad()
            (
                x * x * np.array([1.0, 5.0]) if x is w else x * x * torch.tensor([1.0, 5.0])
            ).sum().backward()
            optimizer.step()
    return w.data, v.detach().numpy()


@pytest.mark.parametrize(
    "name, given",
    [
        ("SGD", {"lr": 0.05}),
        ("SGD", {"lr": 0.05, "momentum": 0.9}),
        ("SGD", {"lr": 0.05, "weight_decay": 0.2}),
        ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True}),
        ("RMSprop", {"lr": 0.05, "alpha": 0.9}),
        ("Adam", {"lr": 0.05, "betas": (0.8, 0.9)}),
        ("Adam", {"lr": 0.05, "weight_decay": 0.2}),
        ("AdamW", {"lr": 0.05, "weight_decay": 0.2}),
    ],
)
def test_11_arguments_mean_the_same(name, given):
    assert np.allclose(*both(name, given, given), rtol=1e-12)


def test_11_decay_in_the_gradient_or_beside_it():
    given = {"lr": 0.05, "weight_decay": 0.2}
    adam, adamw = (both(name, given, given)[1] for name in ("Adam", "AdamW"))
    assert not np.allclose(adam, adamw)
    assert {"dampening", "nesterov"} <= set(inspect.signature(torch.optim.SGD).parameters)
    assert "amsgrad" in inspect.signature(torch.optim.Adam).parameters


def test_12_the_rate_and_the_pair():
    w = leaf([1.0])
    optimizer = torch.optim.SGD([w], lr=0.1)
    optimizer.lr = 100.0
    (w * w).sum().backward()
    optimizer.step()
    assert np.isclose(w.item(), 0.8), "silently the old rate"
    assert optimizer.param_groups[0]["lr"] == 0.1
    both_of_them = jax.value_and_grad(lambda x: x * x)
    assert callable(both_of_them) and both_of_them(3.0) == (9, 6)


def test_13_clipping_and_cells():
    def clipped(*gradients, **given):
        parameters = [leaf([0.0]) for _ in gradients]
        for p, g in zip(parameters, gradients):
            p.grad = torch.tensor([g])
        nn.utils.clip_grad_norm_(parameters, 1.0, **given)
        return [p.grad.item() for p in parameters]

    assert np.allclose(clipped(3.0, 4.0), [0.6, 0.8])
    assert all(g == 0 or np.isnan(g) for g in clipped(float("inf"), 4.0))
    with pytest.raises(RuntimeError, match="non-finite"):
        clipped(float("inf"), 4.0, error_if_nonfinite=True)
    torch.manual_seed(0)
    cell = nn.LSTMCell(4, 16)
    x, state = torch.randn(200, 4), torch.zeros(200, 16)
    gates = torch.sigmoid(
        x @ cell.weight_ih.T + cell.bias_ih + state @ cell.weight_hh.T + cell.bias_hh
    )
    assert abs(gates[:, 16:32].mean() - 0.5) < 0.05, "the forget gates begin at about a half"


def test_13_retain_grad_reads_and_a_hook_replaces():
    w = leaf(2.0)
    s = w * w
    s.retain_grad()
    (3 * s).backward()
    assert s.grad == 3 and w.grad == 12
    w = leaf(2.0)
    s = w * w
    s.register_hook(lambda g: g / 3)
    (3 * s).backward()
    assert w.grad == 4
    w = leaf(2.0)
    s = w * w
    s.register_hook(lambda g: None)
    (3 * s).backward()
    assert w.grad == 12, "a hook that returns None leaves the gradient as it is"


def test_14_images():
    rng = np.random.default_rng(0)
    x, y, g = (rng.normal(size=shape) for shape in [(2, 3, 6, 5), (4, 3, 3, 2), (2, 4, 4, 4)])
    z = F.conv2d(torch.tensor(x), torch.tensor(y))
    assert np.allclose(z, conv2d(x, y))
    rows = ag.unfold(x, kernel_size=(3, 2))
    theirs = F.unfold(torch.tensor(x), (3, 2))
    assert theirs.shape == (2, 3 * 3 * 2, 16) and rows.shape == (2, 16, 3 * 3 * 2)
    ours = np.swapaxes(np.asarray(rows), 1, 2)
    assert np.allclose(np.sort(theirs.numpy(), 1), np.sort(ours, 1)), (
        "the same numbers in another order"
    )
    (back,) = slopes(lambda x: F.conv2d(x, torch.tensor(y)) * torch.tensor(g), x)
    assert np.allclose(F.conv_transpose2d(torch.tensor(g), torch.tensor(y)), back)
    channel_first = theirs.numpy().reshape(2, 3, 3 * 2, 16)
    channel_last = ours.reshape(2, 3 * 2, 3, 16)
    assert np.allclose(channel_first, np.swapaxes(channel_last, 1, 2))
    for sizes, outer in [({"padding": 1}, {}), ({"stride": 2}, {"output_padding": (1, 1)})]:
        z, pull = ag.vjp(lambda x: conv2d(x, y, **sizes), x)
        g = rng.normal(size=z.shape)
        given = torch.tensor(g), torch.tensor(y)
        assert F.conv_transpose2d(*given).shape != x.shape, "other sizes have to be passed"
        assert np.allclose(F.conv_transpose2d(*given, **sizes, **outer), pull(g)[0])
    (tied,) = slopes(lambda x: F.max_pool2d(x, 2), np.zeros((1, 1, 2, 2)))
    assert tied.ravel().tolist() == [1, 0, 0, 0], "all to the first"
    with pytest.raises(TypeError, match="Module"):
        nn.Sequential(nn.Linear(2, 2), torch.relu)


def test_14_a_custom_op_in_jax():
    @jax.custom_vjp
    def square(x):
        return x * x

    square.defvjp(lambda x: (x * x, x), lambda x, g: (g * 2 * x,))
    assert jax.grad(square)(3.0) == 6


def test_15_forward_mode():
    def f(xp):
        return lambda x: xp.stack([x[0] * x[1], xp.sin(x[2]), x[1] / x[2], xp.tanh(x[0])])

    rng = np.random.default_rng(0)
    x, v = rng.normal(size=(2, 3))
    u = rng.normal(size=4)
    there, along = torch.tensor(x), torch.tensor(v)
    value, tangent = ag.jvp(f(ag), (x,), (v,))
    for theirs in (jax.jvp(f(jnp), (x,), (v,)), torch.func.jvp(f(torch), (there,), (along,))):
        assert np.allclose(theirs[0], value) and np.allclose(theirs[1], tangent)
    J = ag.jacobian(f(ag))(x)
    for theirs in (
        jax.jacfwd(f(jnp))(x),
        jax.jacrev(f(jnp))(x),
        torch.func.jacfwd(f(torch))(there),
        torch.func.jacrev(f(torch))(there),
    ):
        assert np.allclose(theirs, J)
    with torch.autograd.forward_ad.dual_level():
        z = torch.autograd.forward_ad.unpack_dual(
            f(torch)(torch.autograd.forward_ad.make_dual(there, along))
        )
    assert np.allclose(z.tangent, tangent), "dual numbers as such"
    forward = jax.linearize(f(jnp), x)[1]
    (backward,) = jax.linear_transpose(forward, x)(u)
    assert np.allclose(backward, ag.vjp(f(ag), x)[1](u)[0]), "backward is forward, transposed"


def test_15_most_rules_of_jax_are_forward_ones():
    from jax.interpreters import ad

    forward, transposed = set(ad.primitive_jvps), set(ad.primitive_transposes)
    assert len(forward) > 1.5 * len(transposed)
    assert jax.lax.tanh_p in forward - transposed and jax.lax.sin_p in forward - transposed


def test_16_derivatives_of_derivatives():
    def f(xp):
        return lambda w: xp.sum(xp.tanh(w)) * xp.sum(w**3)

    rng = np.random.default_rng(0)
    w, v = rng.normal(size=(2, 4))
    Hv, H = ag.hvp(f(ag), w, v), ag.hessian(f(ag))(w)
    there, along = torch.tensor(w), torch.tensor(v)
    assert np.allclose(jax.jvp(jax.grad(f(jnp)), (w,), (v,))[1], Hv)
    assert np.allclose(torch.func.jvp(torch.func.grad(f(torch)), (there,), (along,))[1], Hv)
    assert np.allclose(jax.hessian(f(jnp))(w), H) and np.allclose(
        torch.func.hessian(f(torch))(there), H
    )
    x = leaf(2.0)
    for grad, at in [(jax.grad, 2.0), (torch.func.grad, x)]:
        assert grad(grad(lambda x: x**3))(at) == 12
    (slope,) = torch.autograd.grad(x**3, x, create_graph=True)
    assert torch.autograd.grad(slope, x)[0] == 12
    (slope,) = torch.autograd.grad(x**3, x)
    assert not slope.requires_grad, "without create_graph the backward pass is not recorded"


def test_16_a_rule_with_a_constant_and_levels():
    class Deaf(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            return g * 3 * ctx.saved_tensors[0].detach() ** 2

    assert torch.autograd.gradcheck(Deaf.apply, leaf([2.0]))
    assert torch.autograd.gradgradcheck(lambda x: x**3, leaf([2.0]))
    with pytest.raises(RuntimeError, match="[Jj]acobian|grad"):
        torch.autograd.gradgradcheck(Deaf.apply, leaf([2.0]))
    for grad, one in [(ag.grad, 1.0), (jax.grad, 1.0), (torch.func.grad, leaf(1.0))]:
        assert grad(lambda x, grad=grad, one=one: x * grad(lambda y: x + y)(one))(one) == 1


def test_17_what_is_saved_and_what_is_recomputed():
    """PyTorch keeps what a rule saved; its checkpoint calls f again with the same state of the
    random generator.
    """
    from torch.utils.checkpoint import checkpoint, checkpoint_sequential

    x, w = leaf(np.linspace(0.1, 1, 6)), leaf(1.5)
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(lambda a: saved.append(a) or a, lambda a: a):
        z = x
        for _ in range(10):
            z = z + 1
        assert saved == [], "of ten additions nothing"
        torch.relu(z)
        assert len(saved) == 1 and hasattr(torch.relu(x).grad_fn, "_saved_result"), "relu saves z"
    calls = []

    def f(x):
        calls.append(1)
        return torch.tanh(x * w) * (torch.rand(6) > 0.5)

    def run(wrap):
        torch.manual_seed(0)
        x.grad = w.grad = None
        wrap(f).sum().backward()
        return x.grad.clone(), w.grad.clone()

    plain = run(lambda f: f(x))
    assert len(calls) == 1
    again = run(lambda f: checkpoint(f, x, use_reentrant=False))
    assert len(calls) == 3 and all(map(torch.equal, plain, again)), (
        "called once more, with the same mask"
    )
    generator = np.random.default_rng(0)
    z = checkpoint(
        lambda x: torch.tanh(x * torch.tensor(generator.random(6) > 0.5)), x, use_reentrant=False
    )
    x.grad = None
    z.sum().backward()
    assert not torch.equal(z != 0, x.grad != 0), "NumPy's generator is not set back"
    own = torch.Generator().manual_seed(1)
    z = checkpoint(
        lambda x: torch.tanh(x * (torch.rand(6, generator=own) > 0.5)), x, use_reentrant=False
    )
    x.grad = None
    z.sum().backward()
    assert not torch.equal(z != 0, x.grad != 0), "nor is a generator of your own"
    v = leaf(1.0)
    z = checkpoint(lambda x: torch.tanh(x * v), x, use_reentrant=False).sum()
    right = torch.autograd.grad(torch.tanh(x * v).sum(), v)[0]
    with torch.no_grad():
        v += 1
    z.backward()
    assert not torch.allclose(v.grad, right), "a weight overwritten in between: no error"
    calls.clear()
    layers = [lambda x, i=i: calls.append(i) or torch.tanh(x) for i in range(6)]
    checkpoint_sequential(layers, 3, x, use_reentrant=False).sum().backward()
    assert sorted(calls) == [0, 0, 1, 1, 2, 2, 3, 3, 4, 5], "the last of 3 segments runs once"
    z = torch.exp(x)
    versions = [z._version]
    for change in (lambda: z.data.sub_(7), lambda: z.detach().numpy().fill(7), lambda: z.mul_(1)):
        change()
        versions.append(z._version)
    assert versions == [0, 0, 0, 1], "only the last is counted"
    z = torch.exp(x)
    z.data.fill_(7)
    assert torch.equal(torch.autograd.grad(z.sum(), x)[0], torch.full((6,), 7.0, dtype=x.dtype)), (
        "through data unseen"
    )
    z = torch.exp(x)
    z.detach().numpy()[:] = 7
    assert torch.equal(torch.autograd.grad(z.sum(), x)[0], torch.full((6,), 7.0, dtype=x.dtype)), (
        "through NumPy too"
    )
    for spoiled in range(5):  # a to e of the lesson's exercise
        W, bias = leaf(np.ones((3, 2))), leaf(np.zeros(2))
        a = torch.ones(4, 3) @ W
        b = a + bias
        c = torch.relu(b)
        d = 0.5 * c
        results = a, b, c, d, torch.tanh(d)
        right = torch.autograd.grad(results[-1].sum(), W, retain_graph=True)[0]
        with torch.no_grad():
            results[spoiled].sub_(7)
        if spoiled in (2, 4):  # c is what PyTorch's relu saved; ours reads b
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                results[-1].sum().backward()
        else:
            results[-1].sum().backward()
            assert torch.equal(W.grad, right), "no error after b -= 7, and a right gradient"
    bits = [
        jax.grad(lambda x: wrap(lambda x: jnp.tanh(x) * x)(x).sum())(jnp.ones(3))
        for wrap in (lambda f: f, jax.checkpoint, jax.remat)
    ]
    assert np.allclose(bits[0], bits[1]) and np.allclose(bits[0], bits[2])


def torchs(given):
    return {name: torch.tensor(a) if isinstance(a, np.ndarray) else a for name, a in given.items()}


def test_18_layers_agree_including_gradients():
    """Embedding, layer norm and attention agree in value and gradient when they have the same
    weights and upstream gradient.
    """
    rng = np.random.default_rng(0)
    x, memory, g = (rng.normal(size=shape) for shape in [(2, 5, 6), (2, 7, 6), (2, 5, 6)])
    hidden = rng.random((5, 7)) > 0.6
    hidden[:, 0] = False

    def agree(ours, theirs, *inputs, **given):
        for name, parameter in theirs.named_parameters():
            mine = dict(ours.named_parameters())[name]
            parameter.data = torch.tensor(rng.normal(size=mine.shape))
            mine.data = parameter.detach().numpy().copy()
        leaves = [ag.Tensor(a, requires_grad=True) if a.dtype == float else a for a in inputs]
        other = [leaf(a) if a.dtype == float else torch.tensor(a) for a in inputs]
        z, w = ours(*leaves, **given), theirs(*other, **torchs(given))
        for one, other_one in zip(z, w) if isinstance(z, tuple) else [(z, w)]:
            if one is not None:
                np.testing.assert_allclose(
                    one.data, other_one.detach().numpy(), rtol=1e-12, atol=1e-14
                )
        z, w = (z[0], w[0]) if isinstance(z, tuple) else (z, w)
        z.backward(g)
        w.backward(torch.tensor(g))
        pairs = [(p, dict(theirs.named_parameters())[name]) for name, p in ours.named_parameters()]
        for one, other_one in pairs + [
            (a, b) for a, b in zip(leaves, other) if isinstance(a, ag.Tensor)
        ]:
            np.testing.assert_allclose(one.grad, other_one.grad.numpy(), rtol=1e-11, atol=1e-13)

    agree(ag.nn.Embedding(9, 6), nn.Embedding(9, 6), rng.integers(0, 9, (2, 5)))
    agree(ag.nn.LayerNorm(6), nn.LayerNorm(6), x)
    agree(
        ag.nn.LayerNorm((5, 6), eps=0.1, bias=False), nn.LayerNorm((5, 6), eps=0.1, bias=False), x
    )
    for bias in (True, False):
        ours = ag.nn.MultiheadAttention(6, 3, 0.0, bias)
        theirs = nn.MultiheadAttention(6, 3, 0.0, bias, batch_first=True)
        agree(ours, theirs, x, memory, memory)
        agree(ours, theirs, x, memory, memory, attn_mask=hidden, average_attn_weights=False)
        agree(
            ours,
            theirs,
            x,
            memory,
            memory,
            attn_mask=np.where(hidden, -1.0, 0.5),
            need_weights=False,
        )
    causal = {"need_weights": False, "is_causal": True}
    with pytest.raises(RuntimeError, match="attn_mask"):
        theirs(*[torch.tensor(x)] * 3, **causal)
    fast = nn.MultiheadAttention(8, 2, batch_first=True).eval()
    with torch.no_grad():  # PyTorch's fast path: no error, and no mask
        one = torch.ones(1, 5, 8)
        one[0, 0] = 0
        assert torch.equal(fast(one, one, one, is_causal=True)[0], fast(one, one, one)[0])
    future = torch.ones(5, 5, dtype=torch.bool).triu(1)
    assert np.allclose(
        ours(x, x, x, **causal)[0].data,
        theirs(*[torch.tensor(x)] * 3, attn_mask=future, **causal)[0].detach(),
        rtol=1e-12,
    )
    mine, there = (inspect.signature(home.MultiheadAttention).parameters for home in (ag.nn, nn))
    assert list(mine)[:4] == list(there)[:4] and there["batch_first"].default is False
    assert inspect.signature(nn.TransformerEncoderLayer).parameters["norm_first"].default is False
    assert torch.var(torch.tensor([1.0, 3.0])) == 2  # divides by n − 1


def test_18_attention_agrees_including_gradients():
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=shape) for shape in [(2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 6)])
    g, allowed = rng.normal(size=(2, 3, 5, 6)), np.tri(5, 7, k=1, dtype=bool)
    bias = rng.normal(size=(5, 7))
    for given in (
        {},
        {"is_causal": True},
        {"attn_mask": allowed},
        {"attn_mask": bias, "scale": 0.3},
    ):
        z, pull = ag.vjp(
            lambda q, k, v, given=given: scaled_dot_product_attention(q, k, v, **given), q, k, v
        )
        inputs = [leaf(a) for a in (q, k, v)]
        w = F.scaled_dot_product_attention(*inputs, **torchs(given))
        np.testing.assert_allclose(z, w.detach().numpy(), rtol=1e-12)
        w.backward(torch.tensor(g))
        for mine, x in zip(pull(g), inputs):
            np.testing.assert_allclose(mine, x.grad.numpy(), rtol=1e-11, atol=1e-13)


def test_19_nats_and_the_drawing_of_a_letter():
    from autograd_course.lessons.lesson_19 import writer

    model = writer.Writer("abcdef", width=8, context=5, heads=2)
    text = np.random.default_rng(0).integers(0, 6, (3, 6))
    logits = torch.tensor(model(text[:, :-1]).data.astype(float))
    nats = F.cross_entropy(logits.reshape(-1, 6), torch.tensor(text[:, 1:].ravel()))
    ours = ag.mean(writer.surprise(model, text[:, :-1], text[:, 1:]))
    assert float(ours.data) == pytest.approx(float(nats), rel=1e-5)
    logits, temperature = logits[0, 0], 0.5
    drawn = [writer.pick(logits.numpy(), temperature, u) for u in (np.arange(2000) + 0.5) / 2000]
    shares = np.bincount(drawn, minlength=6) / 2000
    there = torch.distributions.Categorical(logits=logits / temperature)
    assert np.allclose(shares, there.probs, atol=1e-3) and 0 <= int(there.sample()) < 6
    keys = jax.random.split(jax.random.key(0), 4000)
    sampled = jax.vmap(
        lambda key: jax.random.categorical(key, jnp.array(logits.numpy()) / temperature)
    )(keys)
    assert np.allclose(np.bincount(np.asarray(sampled), minlength=6) / 4000, shares, atol=0.04)


def test_20_what_compilers_do():
    """Four compilers treat four functions as the lesson's closing table and the text beside it
    say.
    """
    from autograd_course.lessons.lesson_20 import compilers

    functions = [f.__name__ for f, _, _ in compilers.CALLS]
    graphs = []

    def counted(graph, _):
        graphs.append(graph.graph)
        return graph.forward

    def table(*words):
        return dict(zip(functions, words))

    assert compilers.answers(compilers.careless) == table(*["WRONG"] * 4)
    assert compilers.answers(ag.compile) == table("refused", "refused", "WRONG", "refused")
    assert compilers.answers(jax.jit) == table("refused", "refused", "WRONG", "WRONG")
    assert compilers.answers(lambda f: torch.compile(f, backend="eager"), torch.tensor) == table(
        *["right"] * 4
    )
    torch._dynamo.reset()
    whole = torch.compile(compilers.bend, backend="eager", fullgraph=True)
    with pytest.raises(torch._dynamo.exc.Unsupported, match="[Dd]ata-dependent"):
        whole(torch.tensor(2.0))
    torch._dynamo.reset()
    bend = torch.compile(compilers.bend, backend=counted)
    assert [bend(torch.tensor(x)) for x in (2.0, 5.0, -1.0)] == [6, 15, 1]
    called = [
        [node.target.__name__ for node in graph.nodes if node.op == "call_function"]
        for graph in graphs
    ]
    assert called == [["gt"], ["mul"], ["neg"]] and all(
        isinstance(graph, torch.fx.Graph) for graph in graphs
    )
    graphs.clear()
    assert [
        torch.compile(compilers.grow, backend=counted)(torch.tensor(x)) for x in (3.0, 20.0)
    ] == [96, 80]
    called = [
        [node.target.__name__ for node in graph.nodes if node.op == "call_function"]
        for graph in graphs
    ]
    assert called == [["lt"], ["mul", "lt"]], "what is in the while is compiled"

    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    torch.compile(compilers.noisy, backend="eager")(torch.tensor(0.0))
    assert torch._dynamo.utils.counters["graph_break"], "a random number is a graph break"
    torch._dynamo.reset()
    with pytest.raises(torch._dynamo.exc.TorchDynamoException):
        torch.compile(compilers.noisy, backend="eager", fullgraph=True)(torch.tensor(0.0))
    # A global float is an input of the second program; each new int needs another program.
    for numbers, programs in [((2.0, 3.0, 4.0, 5.0), [1, 2, 2, 2]), ((2, 3, 4, 5), [1, 2, 3, 4])]:
        torch._dynamo.reset()
        graphs.clear()
        scaled, found = torch.compile(compilers.scaled, backend=counted), []
        for compilers.scale in numbers:
            assert scaled(torch.tensor(1.0)) == compilers.scale
            found.append(len(graphs))
        assert found == programs
    whole = torch.ones(4, 3)
    for view in (whole.detach(), whole.view(3, 4), whole.t(), whole.expand(4, 3)):
        assert view.data_ptr() == whole.data_ptr(), "detach, view, t and expand compute nothing"
    own = np.random.default_rng(0)
    for compiled_by in (jax.jit, ag.compile):
        frozen = compiled_by(lambda x: x + own.random())
        assert frozen(0.0) == frozen(0.0), "an own generator is a constant, without an error"

    traced = []
    doubled = jax.jit(lambda x: traced.append(x) or 2 * x)
    for shape in (3, 3, 4):
        doubled(jnp.ones(shape))
    assert len(traced) == 2, "once for each shape"
    scaled, compilers.scale = jax.jit(compilers.scaled), 2.0
    assert scaled(1.0) == 2
    compilers.scale = 3.0
    assert scaled(1.0) == 2 and scaled(jnp.ones(1)) == 3, "frozen, until another shape is traced"
    assert jax.random.uniform(jax.random.key(0)) == jax.random.uniform(jax.random.key(0))
    assert [
        line.primitive.name for line in jax.make_jaxpr(lambda x, y: (x + y) * y)(1.0, 2.0).eqns
    ] == ["add", "mul"]
    assert jax.jit(lambda x: jax.lax.cond(x > 0, lambda x: 3 * x, lambda x: -x, x))(-1.0) == 1


def test_21_what_is_kept_and_changed_in_place():
    x = leaf([1.0, 2.0])
    for _ in range(2):
        (3 * x).sum().backward()
    assert x.grad.tolist() == [6, 6]
    assert jax.grad(lambda x: 3 * x)(1.0) == jax.grad(lambda x: 3 * x)(1.0) == 3
    assert {"grad", "vjp", "jvp", "vmap"} <= set(dir(torch.func))

    y = leaf([1.0, 2.0]) * 1
    z = y * y
    y[0] = 5.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    y = leaf([1.0, 2.0]) * 1
    z = y + 1
    y[0] = 5.0
    z.sum().backward()  # the backward pass needs no value of y
    x = jnp.array([3.0, 4.0])
    with pytest.raises(TypeError, match="immutable"):
        x[0] = 1.0
    assert x.at[0].set(1.0).tolist() == [1, 4] and x[0] == 3


def test_21_the_order_of_the_backward_pass():
    """PyTorch visits the newest operation first, even where another order would be right; JAX
    starts with the last line.
    """
    visited = []
    x = leaf(2.0)
    first = torch.sin(x)
    second = torch.exp(x)
    for name, z in [("first", first), ("second", second)]:
        z.grad_fn.register_hook(lambda *_, name=name: visited.append(name))
    (first * second).backward()
    assert visited == ["second", "first"]

    stored = []
    for x, y in [(leaf(2.0), leaf(3.0)), [leaf(2.0)] * 2]:
        first, second = torch.sin(x), torch.exp(y)
        first.grad_fn.register_prehook(lambda *_, y=y: stored.append(y.grad is not None))
        (first * second).backward()
    assert stored == [True, False], (
        "as soon as it is whole: a leaf that is used twice waits for the second"
    )

    def noted(name):
        op = jax.custom_vjp(lambda x: 2 * x)
        op.defvjp(lambda x: (2 * x, None), lambda _, g: visited.append(name) or (2 * g,))
        return op

    one, other = noted("one"), noted("other")

    def both_of_them(x):
        a = one(x)
        b = other(x)
        return a * b

    assert jax.grad(both_of_them)(1.0) == 8 and visited[2:] == ["other", "one"]


def test_21_the_lines_of_the_ports():
    x = np.array([1.0, 2.0, 4.0])
    assert np.isclose(torch.tensor(x).std(), x.std(ddof=1)) and np.isclose(
        jnp.array(x).std(), x.std()
    )
    assert jax.grad(lambda x: jnp.maximum(0, x))(0.0) == 0.5 and jax.grad(jax.nn.relu)(0.0) == 0
    block = jnp.array([1.0, 1.0, 0.0])
    pooled = jax.grad(
        lambda x: jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (3,), (3,), "VALID").sum()
    )(block)
    assert sorted(pooled.tolist()) == [0, 0, 1], "to one of the tied here too"


def test_21_an_array_on_ctx_is_not_guarded():
    class Kept(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            (ctx.x,) = inputs

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.x

    class Saved(Kept):
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.saved_tensors[0]

    def changed_in_between(op):
        x = leaf([3.0])
        inner = x * 1
        z = op.apply(inner)
        with torch.no_grad():
            inner.zero_()
        z.backward()
        return x.grad

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        changed_in_between(Saved)
    assert changed_in_between(Kept) == 0, "6 is right, and nothing was said"


def test_21_what_setup_context_computes_is_a_constant():
    """Values computed in setup_context have no gradient: the second derivative of the op is
    missing, and that of a function of the op is wrong.
    """

    class SavesTheSlope(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(2 * inputs[0])

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    def second(f):
        x = leaf(1.5)
        (first,) = torch.autograd.grad(f(x), x, create_graph=True)
        return float(torch.autograd.grad(first, x)[0])

    with pytest.raises(RuntimeError, match="does not require grad"):
        second(SavesTheSlope.apply)
    assert (
        second(lambda x: (x * x) ** 2) == 27 and second(lambda x: SavesTheSlope.apply(x) ** 2) == 18
    )

    class InGradMode(SavesTheSlope):  # grad mode is the cause: with it, the slope is no constant
        @staticmethod
        def setup_context(ctx, inputs, output):
            assert not torch.is_grad_enabled()
            with torch.enable_grad():
                ctx.save_for_backward(2 * inputs[0])

    assert second(lambda x: InGradMode.apply(x) ** 2) == 27

    class SavesTheSign(SavesTheSlope):  # piecewise linear, so the slope is constant
        @staticmethod
        def forward(x):
            return abs(x)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(torch.sign(inputs[0]))

    assert second(lambda x: SavesTheSign.apply(x) ** 3) == second(lambda x: abs(x) ** 3) == 9


def test_21_what_fwd_computes_is_not_a_constant():
    """JAX differentiates fwd for the second derivative, and bwd must return a tuple or a list."""
    x = np.array([-1.3, 0.4, 2.1])

    def op(fwd, bwd):
        made = jax.custom_vjp(lambda x: fwd(x)[0])
        made.defvjp(fwd, bwd)
        return made

    def fwd(x):
        z = 1 / (1 + x * x)
        return z, -2 * x * z * z

    def constant(x):
        z, slope = fwd(x)
        return z, jax.lax.stop_gradient(slope)

    def bwd(saved, g):
        return (g * saved,)

    test_util.check_grads(op(fwd, bwd), (x,), order=2, modes=["rev"])
    test_util.check_grads(op(constant, bwd), (x,), order=1, modes=["rev"])
    with pytest.raises(AssertionError):
        test_util.check_grads(op(constant, bwd), (x,), order=2, modes=["rev"])
    with pytest.raises(TypeError, match="forward-mode"):
        test_util.check_grads(op(fwd, bwd), (x,), order=1, modes=["fwd"])
    slope = jax.grad(lambda x: op(fwd, lambda saved, g: [g * saved])(x).sum())(x)
    assert np.allclose(slope, fwd(x)[1])
    with pytest.raises(TypeError, match="must produce a tuple"):
        jax.grad(lambda x: op(fwd, lambda saved, g: g * saved)(x).sum())(x)
    with pytest.raises(TypeError, match="must produce a pair"):
        jax.grad(lambda x: op(lambda x: [x], bwd)(x).sum())(x)
    with pytest.raises(jax.errors.TracerArrayConversionError):
        jax.jit(lambda x: np.exp(x))(x)


ALONE = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax, torch
from jax import numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec
print(torch.tensor(1.0).dtype, jnp.array(1.0).dtype)
x, w = jnp.arange(8.0), jnp.float32(2.0)
dealt = jax.device_put(x, NamedSharding(Mesh(jax.devices(), ("rows",)), PartitionSpec("rows")))
loss = lambda w, x: jnp.mean((w * x) ** 2)
print(len(dealt.addressable_shards), jax.jit(jax.grad(loss))(w, dealt) == jax.grad(loss)(w, x))

def work(rank, port):
    import torch.distributed as dist
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    torch.manual_seed(rank)                          # another start in each process
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1, bias=False))
    rows = [[2.0], [2.0], [2.0]] if rank == 0 else [[10.0]]
    model(torch.tensor(rows)).mean().backward()      # by its weight: 2 here, 10 there
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    after = [torch.zeros(1, 1) for _ in range(2)]
    dist.all_gather(after, model.module.weight.detach())
    if rank == 0:
        print(model.module.weight.grad.item(), after[0] == after[1])
    dist.destroy_process_group()
"""


def test_21_dtypes_shards_and_a_plain_mean(tmp_path):
    """A separate process checks the float32 defaults, gradients of sharded arrays in JAX, and
    PyTorch's mean over workers, which is 6 where the mean over rows is 4. After a step, both
    workers have the same parameters.
    """
    import socket
    import subprocess
    import sys

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    file = tmp_path / "alone.py"
    file.write_text(
        f"{ALONE}\nif __name__ == '__main__':\n    torch.multiprocessing.start_processes(work, ({port},), "
        f"2, start_method='fork')\n"
    )
    ran = subprocess.run([sys.executable, str(file)], capture_output=True, text=True)
    assert ran.stdout.splitlines() == ["torch.float32 float32", "2 True", "6.0 tensor([[True]])"], (
        ran.stdout + ran.stderr
    )


def test_22_rules_that_are_no_derivatives():
    """Both libraries offer two ways to write a straight-through estimator; PyTorch's gradcheck
    rejects them. The gradient of a length at 0 is as stated.
    """

    class Straight(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return torch.sign(x)

        @staticmethod
        def backward(ctx, g):
            return g

    @jax.custom_vjp
    def straight(x):
        return jnp.sign(x)

    straight.defvjp(lambda x: (straight(x), None), lambda kept, g: (g,))
    x = [-0.7, 0.2, 1.5]
    for f in (Straight.apply, lambda x: x + (torch.sign(x) - x).detach()):
        assert slopes(f, x)[0].tolist() == [1, 1, 1] and np.allclose(f(torch.tensor(x)), np.sign(x))
        assert f(torch.zeros(())) == 0
        with pytest.raises(RuntimeError, match="Jacobian mismatch"):
            torch.autograd.gradcheck(f, leaf(x))
    for f in (straight, lambda x: x + jax.lax.stop_gradient(jnp.sign(x) - x)):
        assert jax.grad(lambda x: f(x).sum())(np.array(x)).tolist() == [1, 1, 1]
        assert np.allclose(f(np.array(x)), np.sign(x))
    assert (
        slopes(torch.sign, x)[0].tolist()
        == [0, 0, 0]
        == jax.grad(lambda x: jnp.sign(x).sum())(np.array(x)).tolist()
    )
    assert slopes(torch.linalg.norm, [0.0, 0.0])[0].tolist() == [0, 0]
    assert np.isnan(jax.grad(jnp.linalg.norm)(np.zeros(2))).all()


def test_22_a_root_that_is_differentiated_by_its_equation():
    """The solver itself is not differentiated: this one bisects, so it only compares."""

    def halve(f, start):
        def half(k, ends):
            low, high = ends
            middle = (low + high) / 2
            return jnp.where(f(middle) > 0, low, middle), jnp.where(f(middle) > 0, middle, high)

        return jax.lax.fori_loop(0, 60, half, (0.0 * start, 2 * np.pi + 0.0 * start))[0]

    def angle(x):
        return jax.lax.custom_root(
            lambda z: z - x - 0.5 * jnp.sin(z), 1.0, halve, lambda linear, y: y / linear(1.0)
        )

    assert np.isclose(jax.grad(angle)(1.0), 1 / (1 - 0.5 * np.cos(angle(1.0))))
