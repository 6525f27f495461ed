"""Optimizers against two steps by hand, in PyTorch's conventions."""

import numpy as np
import pytest

import autograd_lib as ag
from autograd_lib import Tensor
from autograd_lib.optim import SGD, Adam

KINDS = [lambda ps: SGD(ps, lr=0.1), lambda ps: SGD(ps, lr=0.1, momentum=0.9, weight_decay=0.01), lambda ps: Adam(ps, lr=0.1)]


def leaf(data, dtype=float):
    return Tensor(np.array(data, dtype), requires_grad=True)


def steps(optimizer, p, grads):
    out = []
    for g in grads:
        p.grad = None if g is None else np.array(g, p.dtype)
        optimizer.step()
        out.append(p.data.copy())
    return np.array(out)


def test_sgd_by_hand():
    p = leaf([1.0, -2.0])
    got = steps(SGD([p], lr=0.1), p, [[1.0, 2.0], [3.0, -1.0]])
    np.testing.assert_allclose(got, [[0.9, -2.2], [0.6, -2.1]], rtol=1e-14)


def test_sgd_with_momentum_by_hand():
    """v: 1, then 0.9·1 + 3 = 3.9. p: 1 − 0.1 = 0.9, then 0.9 − 0.39 = 0.51. Broken once: (1 − momentum)·g."""
    p = leaf(1.0)
    np.testing.assert_allclose(steps(SGD([p], lr=0.1, momentum=0.9), p, [1.0, 3.0]), [0.9, 0.51], rtol=1e-14)


def test_sgd_with_weight_decay_by_hand():
    """g + 0.5·p: 1.5, then 1 + 0.5·0.85 = 1.425."""
    p = leaf(1.0)
    np.testing.assert_allclose(steps(SGD([p], lr=0.1, weight_decay=0.5), p, [1.0, 1.0]), [0.85, 0.7075], rtol=1e-14)
    p = leaf(1.0)  # with momentum: v = 1.5, then 0.9·1.5 + 1.425 = 2.775
    got = steps(SGD([p], lr=0.1, weight_decay=0.5, momentum=0.9), p, [1.0, 1.0])
    np.testing.assert_allclose(got, [0.85, 0.85 - 0.2775], rtol=1e-14)


def test_adam_by_hand():
    """Broken once: no bias correction (the first step is then 3.16·lr)."""
    lr, b1, b2, eps = 0.1, 0.9, 0.999, 1e-8
    g1, g2 = 0.5, -2.0
    p = leaf(1.0)
    got = steps(Adam([p], lr=lr), p, [g1, g2])
    first = 1.0 - lr * g1 / (abs(g1) + eps)  # both corrections undo the averages exactly
    m, v = b1 * (1 - b1) * g1 + (1 - b1) * g2, b2 * (1 - b2) * g1**2 + (1 - b2) * g2**2
    second = first - lr * (m / (1 - b1**2)) / (np.sqrt(v / (1 - b2**2)) + eps)
    np.testing.assert_allclose(got, [first, second], rtol=1e-13)
    assert abs(first - 0.9) < 1e-8


def test_adam_with_other_constants_by_hand():
    p = leaf([1.0])
    got = steps(Adam([p], lr=0.2, betas=(0.5, 0.75), eps=0.1), p, [[2.0], [1.0]])
    first = 1 - 0.2 * 2 / (2 + 0.1)
    m, v = 0.5 * 1.0 + 0.5 * 1.0, 0.75 * 1.0 + 0.25 * 1.0
    second = first - 0.2 * (m / 0.75) / (np.sqrt(v / (1 - 0.75**2)) + 0.1)
    np.testing.assert_allclose(got.ravel(), [first, second], rtol=1e-13)


def test_adam_corrects_the_bias_of_each_parameter_by_its_own_steps():
    """A wrong step once: a parameter whose first gradient came later was corrected as if it had had all."""
    a, b = leaf(1.0), leaf(1.0)
    optimizer = Adam([a, b], lr=0.1)
    for _ in range(5):
        a.grad = np.array(1.0)
        optimizer.step()
    b.grad = np.array(1.0)
    optimizer.step()
    np.testing.assert_allclose(b.data, 0.9, rtol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_what_has_no_gradient_stays(kind):
    p, q = leaf([1.0]), leaf([1.0])
    optimizer = kind([p, q])
    p.grad = np.array([1.0])
    optimizer.step()
    assert q.data == 1 and p.data != 1
    optimizer.zero_grad()
    before = p.data.copy()
    optimizer.step()
    assert p.grad is None and p.data == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (3,), (0, 2)])
def test_dtype_shape_gradient_and_the_callers_array_are_kept(kind, dtype, shape):
    raw = np.ones(shape, dtype)
    p = Tensor(raw, requires_grad=True)
    optimizer = kind([p])
    for _ in range(3):
        ag.sum(p * p).backward()
        g = p.grad.copy()
        optimizer.step()
        assert p.dtype == dtype and p.shape == shape
        np.testing.assert_array_equal(p.grad, g)
    np.testing.assert_array_equal(raw, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_is_a_change_that_backward_notices(kind):
    p = leaf([1.0, 2.0])
    optimizer = kind([p])
    loss = (p * p).sum()
    loss.backward()
    optimizer.step()
    with pytest.raises(RuntimeError, match="was changed"):
        loss.backward()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_finds_the_bottom(kind):
    target = np.array([3.0, -1.0])
    p = leaf([0.0, 0.0])
    optimizer = kind([p])
    for _ in range(400):
        optimizer.zero_grad()
        ag.sum((p - target) ** 2).backward()
        optimizer.step()
    np.testing.assert_allclose(p.data, target, atol=0.03)


def test_the_learning_rate_may_change():
    p = leaf(1.0)
    optimizer = SGD([p], lr=0.1)
    p.grad = np.array(1.0)
    optimizer.lr = 0.5
    optimizer.step()
    assert p.data == 0.5


def test_parameters_may_come_from_a_generator_and_a_module():
    model = ag.nn.MLP([2, 3, 1], rng=0)
    optimizer = SGD((p for p in model.parameters()), lr=0.1)
    before = [p.data.copy() for p in model.parameters()]
    for _ in range(2):
        model(np.ones(2)).sum().backward()
        optimizer.step()
    assert any(not np.array_equal(a, p.data) for a, p in zip(before, model.parameters(), strict=True))


@pytest.mark.parametrize("make, error, words", [
    (lambda: SGD([]), ValueError, "SGD.*no parameters"), (lambda: Adam(iter(())), ValueError, "Adam.*no parameters"),
    (lambda: SGD([np.ones(2)]), TypeError, "parameter 0"), (lambda: SGD([leaf(1.0), Tensor(1.0)]), TypeError, "parameter 1"),
    (lambda: SGD([leaf(1.0)], lr=-1), ValueError, "lr"), (lambda: Adam([leaf(1.0)], lr=np.nan), ValueError, "lr"),
    (lambda: SGD(leaf([1.0, 2.0])), TypeError, "parameter"),
])
def test_misuse_is_an_error(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_one_parameter_given_twice_is_not_stepped_twice():
    p = leaf(1.0)
    try:
        optimizer = SGD([p, p], lr=0.1)
    except ValueError:
        return
    p.grad = np.array(1.0)
    optimizer.step()
    assert p.data == 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_training_goes_on_from_a_saved_state_to_the_bit(kind, tmp_path):
    def run(p, optimizer, n):
        for _ in range(n):
            optimizer.zero_grad()
            ag.sum(ag.sin(p) * np.array([1.0, 2.0])).backward()
            optimizer.step()
    p = leaf([0.3, 0.4])
    optimizer = kind([p])
    run(p, optimizer, 3)
    optimizer.save(tmp_path / "o.npz")
    q = leaf(p.data)
    other = kind([q])
    other.load(tmp_path / "o.npz")
    run(p, optimizer, 3)
    run(q, other, 3)
    np.testing.assert_array_equal(p.data, q.data)
    third = leaf(p.data)
    fresh = kind([third])
    fresh.load_state_dict(optimizer.state_dict())
    run(p, optimizer, 1)
    run(third, fresh, 1)
    np.testing.assert_array_equal(p.data, third.data)  # a state is a copy: the first went on alone


def test_a_state_of_another_optimizer_is_refused():
    p, q = leaf([1.0, 2.0]), leaf([1.0, 2.0, 3.0])
    state = Adam([p]).state_dict()
    for other in (SGD([p]), Adam([q]), Adam([p, q])):
        before = other.state_dict()
        with pytest.raises(ValueError, match="does not fit"):
            other.load_state_dict(state)
        for name, array in other.state_dict().items():
            np.testing.assert_array_equal(array, before[name])
