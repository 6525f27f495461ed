"""What lesson 04 says of PyTorch."""
import math

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: what lesson 04 says of it is not run")


def gradients(f, *xs):
    leaves = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in xs]
    f(*leaves).backward()
    return [leaf.grad.item() for leaf in leaves]


def test_what_is_stated_at_kinks_is_the_same():
    assert gradients(torch.relu, 0.0) == gradients(torch.abs, 0.0) == [0]
    assert gradients(torch.maximum, 3.0, 3.0) == gradients(torch.minimum, 3.0, 3.0) == [0.5, 0.5]
    assert gradients(lambda x: torch.clip(x, -1.0, 1.0), 1.0) == [1]
    assert gradients(lambda x: torch.relu(x) - torch.relu(-x), 0.0) == [0]


def test_the_where_trap():
    trap = gradients(lambda x: torch.where(x > 0, torch.sqrt(x), 0.0), 0.0)
    assert math.isnan(trap[0])
    assert gradients(lambda x: torch.where(x > 0, torch.sqrt(torch.where(x > 0, x, 1.0)), 0.0), 0.0) == [0]


def test_output_or_input_is_saved():
    x = torch.tensor(1.0, requires_grad=True)
    assert all(hasattr(f(x).grad_fn, "_saved_result") for f in (torch.exp, torch.tanh, torch.sigmoid, torch.sqrt))
    assert all(hasattr(f(x).grad_fn, "_saved_self") for f in (torch.log, torch.sin, torch.cos))


def test_gelu_by_tanh():
    x = torch.tensor(0.7, dtype=torch.float64)
    import autograd_lib as ag
    assert torch.nn.functional.gelu(x, approximate="tanh").item() == pytest.approx(float(ag.gelu(0.7)), rel=1e-12)
