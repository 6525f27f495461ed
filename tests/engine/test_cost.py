"""The cost of the engine in exact counts: ops recorded, rules run, arrays kept."""

import gc
import tracemalloc

import numpy as np
import pytest

import autograd_lib as ag
from autograd_lib import nn, ops, optim, tape


def visits(output):
    """Return the names of the ops that a backward pass visits, in order."""
    return [
        node.op.name for node, _, _ in tape.backward_pass(output, np.ones(output.shape)) if node.op
    ]


@pytest.fixture
def rules_run(monkeypatch):
    """Count how often each rule of multiply runs, with a new row whose rules report their calls."""
    ran = []

    def tell(i, rule):
        def rule_that_tells(g, z, x, y):
            ran.append(i)
            return rule(g, z, x, y)

        return rule_that_tells

    row = ag.elementwise(np.multiply, *(tell(i, rule) for i, rule in enumerate(ag.multiply.rules)))
    return row, ran


def mlp_step():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 5)), rng.integers(0, 3, 8)
    model = nn.MLP([5, 4, 3], rng=0)
    return model, nn.functional.cross_entropy(model(X), y)


def test_a_training_step_records_these_ops_and_no_others():
    model, loss = mlp_step()
    linear = ["add", "matmul", "transpose"]
    assert visits(loss) == ["nll_loss", "log_softmax", *linear, "relu", *linear]


def test_a_training_step_runs_one_rule_per_gradient_that_is_wanted():
    model, loss = mlp_step()
    wanted = [
        sum(gx is not None for gx in grads)
        for node, _, grads in tape.backward_pass(loss, np.ones(()))
        if node.op
    ]
    #                 nll, log_softmax, add, matmul, T, relu, add, matmul (its X is data), T
    assert wanted == [1, 1, 2, 2, 1, 1, 2, 1, 1]


@pytest.mark.parametrize(
    "x, y, expected",
    [(True, True, [0, 1]), (True, False, [0]), (False, True, [1]), (False, False, [])],
)
def test_only_the_rules_that_are_needed_run(rules_run, x, y, expected):
    row, ran = rules_run
    z = row(ag.Tensor(2.0, requires_grad=x), ag.Tensor(3.0, requires_grad=y))
    if x or y:
        z.backward()
    assert ran == expected


@pytest.mark.parametrize("constant", [3.0, 3, np.float32(3), np.ones(2), [1.0, 2.0]])
def test_a_constant_runs_no_rule(rules_run, constant):
    row, ran = rules_run
    row(ag.Tensor([2.0, 5.0], requires_grad=True), constant).backward(np.ones(2))
    assert ran == [0]


def test_no_hook_slows_the_attributes_of_a_tensor():
    """Regression: a __getattr__ that improved error messages made every op a fifth slower."""
    assert not any(
        hasattr(ag.Tensor, hook)
        for hook in ("__getattr__", "__setattr__")
        if getattr(ag.Tensor, hook, None) is not getattr(object, hook, None)
    )
    assert ag.Tensor.__getattribute__ is object.__getattribute__


def test_nothing_is_recorded_for_constants_or_under_no_grad():
    data, weight = ag.Tensor([1.0, 2.0]), ag.Tensor([1.0, 2.0], requires_grad=True)
    assert (data * data).sum().op is None
    with ag.no_grad():
        assert (weight * weight).sum().op is None


def test_a_shared_value_is_visited_once_however_many_paths_lead_to_it():
    x = ag.Tensor(1.0, requires_grad=True)
    y = x
    for _ in range(60):
        y = y + y
    assert len(visits(y)) == 60


def peak(run):
    gc.collect()
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_forward_mode_keeps_nothing_however_long_the_chain():
    x, v = np.ones(10_000), np.ones(10_000)

    def chain(n):
        def f(x):
            for _ in range(n):
                x = ag.tanh(x) * 1.01
            return x

        return f

    short, long = (peak(lambda: ag.jvp(chain(n), (x,), (v,))) for n in (5, 200))
    assert long < 1.2 * short
    assert (
        peak(lambda: ag.vjp(chain(200), x)) > 20 * long
    )  # reverse mode does keep them, so the test can fail


@pytest.mark.parametrize("weight_first", [False, True])
def test_a_stack_times_one_matrix_costs_what_the_product_of_all_rows_costs(weight_first):
    """Regression: the rule computed one weight gradient for each of the 64 matrices and then
    added them.
    """
    x, w = np.ones((64, 2, 100)), np.ones((100, 100))

    def product(w, x):
        return w @ x.mT if weight_first and x.ndim == 3 else x @ w

    def step(x):
        value, pull = ag.vjp(lambda w: product(w, x), w)
        return pull(value)[0]

    flat = x.reshape(-1, 100)
    np.testing.assert_array_equal(step(x), step(flat))
    assert peak(lambda: step(x)) < 1.5 * peak(lambda: step(flat)) + w.nbytes


def test_a_step_keeps_each_array_once():
    """Reverse mode keeps the results of the ops; the rules of exp, add and multiplication by a
    number need nothing else.
    """
    x = ag.Tensor(np.ones(100_000), requires_grad=True)
    array = x.data.nbytes
    tracemalloc.start()
    y = ag.exp(x * 0.5) + x
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert 3 * array <= kept < 3.1 * array
    assert y.shape == x.shape


def test_an_optimizer_step_keeps_no_array_more():
    weight = ag.Tensor(np.ones(100_000), requires_grad=True)
    weight.sum().backward()
    tracemalloc.start()
    adam, kept = optim.Adam([weight], lr=0.1), []
    for _ in range(3):
        adam.step()
        kept.append(tracemalloc.get_traced_memory()[0] / weight.data.nbytes)
    tracemalloc.stop()
    np.testing.assert_allclose(kept, 3, rtol=0.05)  # the new value, the first and the second moment


def test_a_slice_sends_back_one_array_and_no_list_of_places():
    g = np.ones(10_000)
    assert peak(lambda: ops.scatter.function(g, slice(None), g.shape)) < 1.5 * g.nbytes


def test_a_long_mask_is_applied_bit_by_bit(monkeypatch):
    """relu avoids np.where, which is twenty times slower on a mask that changes often."""
    x = np.tile([-1.0, 2.0], 1000)
    monkeypatch.delattr(np, "where")
    np.testing.assert_array_equal(ops.relu.rules[0](x, x, x), np.maximum(x, 0))


def test_a_gradient_that_fits_is_not_summed(monkeypatch):
    """Most gradients have the shape and dtype of their input, so the pass only compares these."""
    monkeypatch.setattr(tape, "unbroadcast", None)
    a, b = (ag.Tensor(np.ones(3), requires_grad=True) for _ in range(2))
    (a * b).backward(np.full(3, 2.0))
    np.testing.assert_array_equal([a.grad, b.grad], 2)
