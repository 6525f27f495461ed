"""checkpoint returns bit-identical gradients, of any order, and uses less memory."""

import gc
import tracemalloc

import numpy as np
import pytest

import autograd_lib as ag
from autograd_lib import nn


def grads_of(model, loss):
    model.zero_grad()
    loss.backward()
    return [p.grad.copy() for p in model.parameters()]


def same_bits(a, b):
    return len(a) == len(b) and all(x.tobytes() == y.tobytes() for x, y in zip(a, b))


@pytest.fixture
def model():
    return nn.MLP([6] * 8, activation=ag.tanh, rng=0)


X = np.random.default_rng(0).normal(size=(5, 6))


def test_gradients_of_parameters_closed_over_are_the_same_to_the_last_bit(model):
    plain = grads_of(model, (model(X) ** 2).sum())
    again = grads_of(model, (ag.checkpoint(model)(X) ** 2).sum())
    assert same_bits(plain, again) and any(np.any(g) for g in plain)


def test_gradients_of_arguments_and_keyword_arguments():
    def f(x, scale=1.0, *, shift):
        return ag.sin(x * scale + shift) * x

    x, s = ag.Tensor([1.0, 2.0], requires_grad=True), ag.Tensor(0.5, requires_grad=True)
    results = []
    for g in (f, ag.checkpoint(f)):
        x.zero_grad(), s.zero_grad()
        g(x, scale=3.0, shift=s).sum().backward()
        results.append([x.grad, s.grad])
    assert same_bits(*results)


def test_several_outputs_share_one_repetition():
    calls = []

    def counted(z):
        calls.append(1)
        return z

    row = ag.elementwise(lambda x: counted(np.exp(x)), lambda g, z, x: g * z, name="counted")

    def f(x):
        y = row(x)
        return y * x, [1, 2], y.sum()

    f_again = ag.checkpoint(f)

    def loss(f):
        def run(x):
            a, untouched, b = f(x)
            assert untouched == [1, 2] and a.shape == (3,) and b.shape == ()
            return (a * b).sum()

        return run

    x = np.array([0.1, 0.2, 0.3])
    expected = ag.grad(loss(f))(x)
    calls.clear()
    assert np.allclose(ag.grad(loss(f_again))(x), expected, rtol=1e-14)
    assert len(calls) == 2  # once forward, once in the recomputation


def test_outputs_of_two_dtypes_keep_them():
    def f(x):
        return x * 2, x.astype(np.float32)

    a, b = ag.checkpoint(f)(ag.Tensor([1.0, 2.0], requires_grad=True))
    assert (a.dtype, b.dtype) == (np.float64, np.float32)


def test_random_numbers_drawn_inside_are_the_same_both_times(model):
    rng = np.random.default_rng(0)

    def dropout(x):
        return model(x * (rng.random(x.shape) > 0.5) * 2.0)

    plain = grads_of(model, dropout(X).sum())
    rng = np.random.default_rng(0)
    assert same_bits(plain, grads_of(model, ag.checkpoint(dropout)(X).sum()))


def test_peak_memory_falls():
    start = np.linspace(-1, 1, 50_000)

    def segment(x):
        for _ in range(10):
            x = ag.tanh(x) * 1.1
        return x

    def peak(segment):
        x = ag.Tensor(start, requires_grad=True)
        gc.collect()
        tracemalloc.start()
        y = x
        for _ in range(10):
            y = segment(y)
        y.sum().backward()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak, x.grad

    (kept, g), (recomputed, again) = peak(segment), peak(ag.checkpoint(segment))
    assert recomputed < kept / 3 and same_bits([g], [again])


def tower(x, n=40):
    for _ in range(n):
        x = ag.tanh(x) * 1.01
    return x


def memory(f, size=20_000):
    """Return (arrays kept by the forward pass, arrays at the peak, gradient) of the loss Σf(x)²."""
    x = ag.Tensor(np.linspace(-1, 1, size), requires_grad=True)
    gc.collect()
    tracemalloc.start()
    y = f(x)
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    loss = (y * y).sum()
    del y
    loss.backward()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return kept / x.data.nbytes, peak / x.data.nbytes, x.grad


NESTED = {
    "twice": lambda x: ag.checkpoint(lambda x: ag.checkpoint(tower)(tower(x)))(x),
    "the other way": lambda x: ag.checkpoint(lambda x: tower(ag.checkpoint(tower)(x)))(x),
    "one after the other inside": lambda x: ag.checkpoint(
        lambda x: ag.checkpoint(tower)(ag.checkpoint(tower)(x))
    )(x),
    "three deep": lambda x: ag.checkpoint(
        lambda x: ag.checkpoint(lambda x: ag.checkpoint(tower)(ag.tanh(x)))(ag.checkpoint(tower)(x))
    )(x),
}


@pytest.mark.parametrize("name", NESTED)
def test_nested_checkpoints_keep_bits_and_memory(name):
    """Regression: recomputing the inner checkpoint extended the graph of the first pass and kept
    it alive (82 of 160 arrays).
    """

    def plain(x):
        return tower(ag.tanh(tower(x)) if name == "three deep" else tower(x))

    _, peak, expected = memory(plain)
    kept, again, got = memory(NESTED[name])
    assert same_bits([expected], [got])
    assert kept < 3 and again < peak + 5
    if name in ("one after the other inside", "three deep"):
        assert again < 0.65 * peak  # one of the two towers at a time


def test_the_peak_of_a_checkpoint_is_one_block():
    """Regression: the loop kept the previous block alive, so two blocks were in memory (170
    arrays for blocks of 85).
    """

    def f(x):
        for _ in range(8):
            x = ag.checkpoint(tower)(x)
        return x

    kept, peak, _ = memory(f)
    block = memory(tower)[1]
    assert kept < 10 and peak < block + 12


def test_nested_checkpoints_share_inputs_parameters_and_masks():
    rng = np.random.default_rng(0)
    w, mask = ag.Tensor(rng.normal(size=(6, 6)), requires_grad=True), rng.random((5, 6)) > 0.5

    def inner(h, skip):
        return ag.tanh(h @ w) * mask + skip * h.data.mean()

    def outer(x, nested):
        h = x @ w
        a = nested(inner)(h, x)
        b = nested(inner)(a, h)
        return nested(lambda a, b: (a * b, b.sum(axis=0)))(a, b)[0] + a

    results = []
    for nested in (lambda f: f, ag.checkpoint):
        w.zero_grad()
        x = ag.Tensor(X, requires_grad=True)
        nested(lambda x, nested=nested: outer(x, nested))(x).sum().backward()
        results.append([x.grad, w.grad])
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-14)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-14)


def test_a_checkpoint_that_fails_leaves_recording_as_it_was():
    failing = []

    def function(x):
        if failing:
            raise KeyboardInterrupt
        return np.exp(x)

    op = ag.elementwise(function, lambda g, z, x: g * z, name="op")
    x = ag.Tensor([1.0, 2.0], requires_grad=True)
    y = ag.checkpoint(lambda x: op(x) * 2)(x).sum()
    failing.append(True)
    with ag.no_grad():
        with pytest.raises(KeyboardInterrupt):
            y.backward()
        assert x.grad is None and not (x * 2).requires_grad


@pytest.mark.parametrize(
    "nest",
    [
        lambda f: ag.grad(f),
        lambda f: ag.hessian(f),
        lambda f: ag.grad(lambda x: ag.grad(f)(x).sum()),
        lambda f: lambda x: ag.jvp(ag.grad(f), (x,), (np.ones(3),))[1],
        lambda f: lambda x: ag.jvp(f, (x,), (np.ones(3),))[1],
        lambda f: ag.grad(lambda x: ag.jvp(f, (x,), (np.ones(3),))[1]),
    ],
)
def test_under_nesting(nest):
    def f(x):
        return ag.sum(ag.tanh(x) ** 3 * x)

    inner = ag.checkpoint(lambda x: ag.sum(ag.checkpoint(lambda x: ag.tanh(x) ** 3)(x) * x))
    x = np.array([0.3, -0.7, 1.1])
    assert np.allclose(nest(f)(x), nest(inner)(x), rtol=1e-13, atol=0)


def test_a_backward_pass_inside_no_grad_still_computes_again(model):
    plain = grads_of(model, model(X).sum())
    loss = ag.checkpoint(model)(X).sum()
    with ag.no_grad():
        assert same_bits(plain, grads_of(model, loss))


def test_backward_twice_and_a_changed_parameter(model):
    loss = ag.checkpoint(model)(X).sum()
    once = grads_of(model, loss)
    loss.backward()
    assert all(np.allclose(p.grad, 2 * g) for p, g in zip(model.parameters(), once))
    model.layers[0].weight.data -= 1.0
    with pytest.raises(RuntimeError, match="checkpoint.*changed"):
        loss.backward()


def test_the_engine_checks_the_recomputed_value():
    ag.check_grads(
        ag.checkpoint(lambda x, y: ag.exp(x @ y) / (1 + x.sum() ** 2)), X[:2, :3], X[:3, 3:5]
    )


def test_a_result_keeps_its_lower_level():
    w, kept = ag.Tensor(3.0, requires_grad=True), []

    def f(x):
        y, z = ag.checkpoint(lambda x: (x * x, w * 2.0))(x)
        kept.append(z)
        return y * z

    np.testing.assert_array_equal(ag.grad(f)(5.0).data, 60.0)
    kept[0].backward()
    assert w.grad == 2
