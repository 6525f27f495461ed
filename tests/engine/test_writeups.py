"""The examples of the five write-ups that the course starts from, with the right numbers.

Where no formula is known, the right number comes from central differences with plain floats.
"""

import numpy as np
import pytest

import autograd_lib as ag
from autograd_lib import Tensor


def leaf(data):
    return Tensor(np.array(data, float), requires_grad=True)


def differences(f, *xs, h=1e-6):
    return [
        (f(*xs[:i], x + h, *xs[i + 1 :]) - f(*xs[:i], x - h, *xs[i + 1 :])) / (2 * h)
        for i, x in enumerate(xs)
    ]


# --- 000: a scalar engine with closures and nn -----------------------------------------------------------


def test_000_local_and_global_gradients():
    x, y, w = leaf(2.0), leaf(3.0), leaf(4.0)
    z = x + y
    loss = z * w
    z.retain_grad()
    loss.backward()
    assert (loss.item(), z.grad, x.grad, y.grad, w.grad) == (20, 4, 4, 4, 5)


def test_000_tanh_has_a_rule_that_runs():
    """The write-up assigns the rule to a wrong name, so its slope is 0."""
    x = leaf(0.5)
    (2 * x.tanh()).backward()
    np.testing.assert_allclose(x.grad, 1.57289547, rtol=1e-8)


def test_000_relu_below_and_above():
    """The text of the write-up gives both 0 and 1 for the same case."""
    assert [float(ag.grad(ag.relu)(x)) for x in (-2.0, 0.0, 3.0)] == [0, 0, 1]


def test_000_tanh_does_not_overflow():
    value, slope = ag.value_and_grad(ag.tanh)(400.0)
    assert (value, slope) == (1, 0)


def test_000_backward_twice():
    """The write-up's engine gives 36, because an inner node keeps its gradient."""
    x = leaf(2.0)
    z = 3.0 * x * x
    z.backward()
    z.backward()
    assert x.grad == 24


def test_000_reflected_operators():
    a = leaf(4.0)
    for f in (
        lambda a: 2 + a,
        lambda a: 2 - a,
        lambda a: 2 * a,
        lambda a: 2 / a,
        lambda a: a / 2,
        lambda a: -a,
        lambda a: a**3,
    ):
        np.testing.assert_allclose(ag.grad(f)(4.0), differences(f, 4.0)[0], rtol=1e-8)
    assert a.grad is None


def test_000_neuron_and_linear():
    neuron = ag.nn.Neuron(3, activation=ag.tanh, rng=0)
    out = neuron(np.array([1.0, -2.0, 0.5]))
    out.backward()
    np.testing.assert_allclose(
        neuron.weight.grad, (1 - out.data**2) * np.array([1.0, -2.0, 0.5]), rtol=1e-14
    )
    np.testing.assert_allclose(neuron.bias.grad, 1 - out.data**2, rtol=1e-14)
    assert len(neuron.parameters()) == 2 and ag.nn.Linear(3, 2, rng=0)(np.ones(3)).shape == (2,)


# --- 001: operations as classes and a ledger -------------------------------------------------------------


def test_001_product():
    a, b = leaf([2.0]), leaf([3.0])
    (a * b).backward()
    assert (a.grad, b.grad) == ([3], [2])


def test_001_sum_of_2_and_3():
    """The write-up prints [3, 5, 7]."""
    c = leaf([2.0]) + leaf([3.0])
    np.testing.assert_array_equal(c.data, [5])
    assert c.op is ag.add and len(c.inputs) == 2


def test_001_integers_and_missing_seeds_are_errors():
    with pytest.raises(TypeError):
        Tensor([1, 2, 3], requires_grad=True)
    a, b, d = leaf([1, 2, 3]), leaf([2, 3, 4]), leaf([3, 4, 5])
    e = (a + b) + d
    with pytest.raises(RuntimeError, match="sum"):
        e.backward()
    e.sum().backward()
    for t in (a, b, d):
        np.testing.assert_array_equal(t.grad, [1, 1, 1])


def test_001_a_broadcast_axis_is_summed():
    """The write-up gives a gradient of shape (2, 3) for an input of shape (3,)."""
    b = leaf([1.0, 2.0, 3.0])
    (b + np.ones((2, 3))).sum().backward()
    np.testing.assert_array_equal(b.grad, [2, 2, 2])


# --- 002: stored local gradients, walked depth first -----------------------------------------------------


def test_002_the_square_of_a_product():
    a, b = leaf(10), leaf(5)
    d = (a * b) ** 2
    d.backward()
    assert (a.grad, b.grad) == (500, 1000)


def test_002_twenty_doublings():
    """The write-up's engine takes 19.5 s, because it follows every path."""
    x = leaf(1.0)
    y = x
    for _ in range(20):
        y = y + y
    y.backward()
    assert x.grad == 2**20


def test_002_one_operands_broadcasting_does_not_touch_the_other():
    """In the write-up x.grad is 2, because the gradient is reassigned inside the loop over the
    operands.
    """
    b, x = leaf([1.0, 2.0, 3.0]), leaf(np.ones((2, 3)))
    (b + x).sum().backward()
    np.testing.assert_array_equal(x.grad, np.ones((2, 3)))
    np.testing.assert_array_equal(b.grad, [2, 2, 2])


def test_002_broadcast_multiply():
    b, x = leaf([1.0, 2.0, 3.0]), leaf(np.ones((2, 3)))
    (b * x).sum().backward()
    np.testing.assert_array_equal(x.grad, [[1, 2, 3], [1, 2, 3]])
    np.testing.assert_array_equal(b.grad, [2, 2, 2])


def test_002_a_scalar_operand_is_reduced():
    s = leaf(2.0)
    (s * np.arange(6.0).reshape(2, 3)).sum().backward()
    assert s.grad == 15 and s.grad.shape == ()


def test_002_a_matrix_by_itself():
    a = leaf([[1, 2], [3, 4]])
    (a @ a).sum().backward()
    np.testing.assert_array_equal(a.grad, [[7, 11], [9, 13]])


def test_002_one_minus_x():
    """The write-up calls `np.one_like`, which does not exist."""
    assert ag.grad(lambda x: 1 - x)(3.0) == -1


def test_002_nan_stays_nan_and_precision_stays():
    with np.errstate(invalid="ignore"):
        assert np.isnan(ag.grad(lambda x: ag.sqrt(x))(-1.0))
    x = leaf(1.0 + 1e-12)
    (x * x).backward()
    assert x.grad == 2 * (1.0 + 1e-12) and x.grad.dtype == np.float64


def test_002_saved_arrays_are_not_aliased():
    a, b = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    y = (a * b).sum()
    y.backward()
    a.grad += 100
    np.testing.assert_array_equal(b.data, [3, 4])
    np.testing.assert_array_equal(b.grad, [1, 2])


# --- 003: a trace of partials, forward and reverse -------------------------------------------------------


def neuron_loss(x, w, b, y):
    return (ag.tanh(x * w + b) - y) ** 2 / 2


def test_003_the_neuron():
    """The write-up prints −0.06686187756915031, because it takes tanh² for the derivative of
    tanh.
    """
    w = leaf(1.0)
    neuron_loss(2.0, w, 0.0, 1.0).backward()
    np.testing.assert_allclose(w.grad, -0.005082962279215885, rtol=1e-13)
    np.testing.assert_allclose(
        ag.jvp(lambda w: neuron_loss(2.0, w, 0.0, 1.0), (1.0,), (1.0,))[1], w.grad, rtol=1e-14
    )
    np.testing.assert_allclose(
        ag.grad(neuron_loss, (0, 1, 2, 3))(2.0, 1.0, 0.0, 1.0),
        differences(neuron_loss, 2.0, 1.0, 0.0, 1.0),
        rtol=1e-6,
    )


def test_003_where_the_wrong_rule_agrees():
    """At W = 0.4407, z² is ½, and a gradient check at this single point passes with the wrong
    rule.
    """
    w = np.arctanh(np.sqrt(0.5)) / 2
    assert abs(w - 0.4407) < 1e-4
    z = np.tanh(2 * w)
    np.testing.assert_allclose(
        ag.grad(neuron_loss, 1)(2.0, w, 0.0, 1.0), (z - 1) * z * z * 2, rtol=1e-12
    )


def test_003_sum_and_partials():
    a, b, c = leaf(2), leaf(10), leaf(8)
    total = a + b + c
    total.backward()
    assert total.item() == 20 and (a.grad, b.grad, c.grad) == (1, 1, 1)


def test_003_an_unconnected_variable_has_gradient_0():
    """The write-up's engine gives 1.0."""
    assert ag.grad(lambda x, y: x * x, 1)(2.0, 3.0) == 0
    y = leaf(3.0)
    (leaf(2.0) * 2).backward()
    assert y.grad is None


def test_003_several_outputs_stay_apart():
    x = leaf(3.0)
    first, second = x * 2, x * x
    first.backward()
    assert x.grad == 2
    x.zero_grad()
    second.backward()
    assert x.grad == 6
    np.testing.assert_array_equal(ag.jacobian(lambda x: ag.stack([x * 2, x * x]))(3.0), [2, 6])


def test_003_a_reused_variable_keeps_nothing_stale():
    """The write-up's engine gives 2, 4, 6."""
    x, got = leaf(1.0), []
    for _ in range(3):
        x.zero_grad()
        (2 * x).backward()
        got.append(float(x.grad))
    assert got == [2, 2, 2]


def test_003_the_exponent_of_a_negative_base():
    """The write-up's engine gives 9.89, by log|x|; the derivative is undefined."""
    with np.errstate(invalid="ignore"):
        assert np.isnan(ag.grad(lambda y: ag.power(-3.0, y))(2.0))
    np.testing.assert_allclose(ag.grad(lambda y: ag.power(3.0, y))(2.0), 9 * np.log(3), rtol=1e-14)
    assert ag.grad(lambda x: ag.power(x, 2.0))(-3.0) == -6


# --- 004: a talk, shared weights, a trained toy model ----------------------------------------------------


def slide(w1, w2, w3, x=0.7, y=0.3):
    a = x * x
    b = (w1 * a + w3) ** 2
    c = (w2 * b + w3) ** 2
    return (y - ag.sin(b + c)) ** 2


def test_004_the_slides_graph_with_every_route():
    """The formulas of the slides forget the edge b → c: (.1475, .0687, .5323)."""
    w = 0.5, 0.4, 0.3
    got = ag.grad(slide, (0, 1, 2))(*w)
    np.testing.assert_allclose(got, [0.1969, 0.0687, 0.6331], atol=5e-5)
    np.testing.assert_allclose(got, differences(slide, *w), rtol=1e-8)

    def routed(by_b, by_c, by_b_to_c):
        """Treat w₃ in each of its three places as a separate variable."""

        def f(r1, r2, r3):
            a = 0.7 * 0.7
            b, b_to_c = (0.5 * a + r1) ** 2, (0.5 * a + r3) ** 2
            return (0.3 - ag.sin(b + (0.4 * b_to_c + r2) ** 2)) ** 2

        return ag.grad(f, (0, 1, 2))(by_b, by_c, by_b_to_c)

    np.testing.assert_allclose(routed(0.3, 0.3, 0.3), [0.3010, 0.2313, 0.1008], atol=5e-5)


class Talk(ag.nn.Module):
    def __init__(self):
        self.w1, self.w2, self.w3 = leaf(1.7), leaf(0.2), leaf(0.6)

    def forward(self, x):
        a = x * x
        return 4 * ag.sin(ag.relu(self.w1 * a + self.w3) + ag.relu(self.w2 * a + self.w3))


def trained(lr, steps):
    model, rng, grid = Talk(), np.random.default_rng(0), (np.arange(200) + 0.5) / 200
    optimizer = ag.optim.SGD(model.parameters(), lr=lr)
    target = lambda x: 4 * np.sin(x**4)  # noqa: E731
    with ag.no_grad():
        before = ag.nn.functional.mse_loss(model(grid), target(grid)).item()
    for _ in range(steps):
        x = rng.random(1)
        loss = ((model(x) - target(x)) ** 2).sum() + 0.1 * sum(w * w for w in model.parameters())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with ag.no_grad():
        return model, before, ag.nn.functional.mse_loss(model(grid), target(grid)).item()


def test_004_both_branches_open_give_equal_gradients():
    model = Talk()
    x = np.array([0.9])
    ((model(x) - 4 * np.sin(x**4)) ** 2).sum().backward()
    np.testing.assert_allclose(model.w1.grad, model.w2.grad, rtol=1e-14)


def test_004_the_model_learns_and_dies_of_too_large_a_step():
    model, before, after = trained(1e-3, 500)
    assert abs(before - 10.2) < 0.05 and after < 0.05
    assert model.w3.item() < 0  # the kink moves to where x⁴ starts to rise
    assert (
        abs(trained(0.1, 500)[2] - 1.495) < 0.01
    )  # both relus are closed, so the model returns 0 everywhere


def test_004_dot_of_matrices():
    """The write-up's engine gives [[5, 6], [7, 8]], which is right for vectors only."""
    a, b = leaf([[1, 2], [3, 4]]), leaf([[5, 6], [7, 8]])
    ag.dot(a, b).sum().backward()
    np.testing.assert_array_equal(a.grad, [[11, 15], [11, 15]])


def test_004_a_constant_exponent_is_not_seeded_with_1():
    x, c = leaf(2.0), leaf(3.0)
    (x ** (c * 1)).backward()
    np.testing.assert_allclose(c.grad, 8 * np.log(2), rtol=1e-14)  # 5.545
    assert x.grad == 12
    y = leaf(2.0)
    (y**3).backward()
    assert y.grad == 12


def test_004_shared_weights_add_up():
    c = leaf(3.0)
    (c * 2 + c * c).backward()
    assert c.grad == 8


def test_004_an_integer_seed_is_cast():
    x = leaf([1.0, 2.0])
    (x * 0.5).backward(np.array([1, 3]))
    np.testing.assert_array_equal(x.grad, [0.5, 1.5])
