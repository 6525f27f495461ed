"""Optimizers compared with two steps worked out by hand, in PyTorch's conventions."""

from functools import partial

import numpy as np
import pytest

import autograd_lib as ag
from autograd_lib import Tensor
from autograd_lib.optim import SGD, Adam, AdamW, CosineAnnealingLR, LambdaLR, RMSprop, StepLR

KINDS = [
    lambda ps: SGD(ps, lr=0.1),
    lambda ps: SGD(ps, lr=0.1, momentum=0.9, weight_decay=0.01),
    lambda ps: SGD(ps, lr=0.02, momentum=0.9, nesterov=True),
    lambda ps: RMSprop(ps, lr=0.02),
    lambda ps: Adam(ps, lr=0.1),
    lambda ps: AdamW(ps, lr=0.1, weight_decay=1e-3),
]


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
    """v is 1, then 0.9·1 + 3 = 3.9; p is 1 − 0.1 = 0.9, then 0.9 − 0.39 = 0.51. Catches v = μv +
    (1 − μ)g.
    """
    p = leaf(1.0)
    np.testing.assert_allclose(
        steps(SGD([p], lr=0.1, momentum=0.9), p, [1.0, 3.0]), [0.9, 0.51], rtol=1e-14
    )


def test_sgd_with_weight_decay_by_hand():
    """The steps use g + 0.5·p, which is 1.5, then 1 + 0.5·0.85 = 1.425."""
    p = leaf(1.0)
    np.testing.assert_allclose(
        steps(SGD([p], lr=0.1, weight_decay=0.5), p, [1.0, 1.0]), [0.85, 0.7075], rtol=1e-14
    )
    p = leaf(1.0)  # with momentum: v = 1.5, then 0.9·1.5 + 1.425 = 2.775
    got = steps(SGD([p], lr=0.1, weight_decay=0.5, momentum=0.9), p, [1.0, 1.0])
    np.testing.assert_allclose(got, [0.85, 0.85 - 0.2775], rtol=1e-14)


def test_adam_by_hand():
    """Catch a missing bias correction, which makes the first step 3.16·lr."""
    lr, b1, b2, eps = 0.1, 0.9, 0.999, 1e-8
    g1, g2 = 0.5, -2.0
    p = leaf(1.0)
    got = steps(Adam([p], lr=lr), p, [g1, g2])
    first = 1.0 - lr * g1 / (abs(g1) + eps)  # both corrections undo the averages exactly
    m, v = b1 * (1 - b1) * g1 + (1 - b1) * g2, b2 * (1 - b2) * g1**2 + (1 - b2) * g2**2
    second = first - lr * (m / (1 - b1**2)) / (np.sqrt(v / (1 - b2**2)) + eps)
    np.testing.assert_allclose(got, [first, second], rtol=1e-13)
    assert abs(first - 0.9) < 1e-8


def test_nesterov_by_hand():
    """v is 1, then 0.9·1 + 3 = 3.9; the steps are 0.1·(1 + 0.9·1) and 0.1·(3 + 0.9·3.9). Catches
    a look-ahead with the old v.
    """
    p = leaf(1.0)
    got = steps(SGD([p], lr=0.1, momentum=0.9, nesterov=True), p, [1.0, 3.0])
    np.testing.assert_allclose(got, [0.81, 0.81 - 0.651], rtol=1e-13)


def test_nesterov_is_the_gradient_at_the_point_ahead():
    """Sutskever's form, v ← μv − lr·f′(p + μv), p ← p + v, visits the same points q = p + μv as
    SGD(nesterov=True).
    """

    def slope(p):
        return p**3 + p

    p, v, q = 2.0, 0.0, leaf(2.0)
    optimizer = SGD([q], lr=0.05, momentum=0.8, nesterov=True)
    for _ in range(5):
        v = 0.8 * v - 0.05 * slope(p + 0.8 * v)
        p = p + v
        q.grad = np.array(slope(q.data))
        optimizer.step()
        np.testing.assert_allclose(q.data, p + 0.8 * v, rtol=1e-13)


def test_rmsprop_by_hand():
    """v is 0.01·4 = 0.04, then 0.99·0.04 + 0.01·1 = 0.0496, so the steps are lr·2/0.2 and
    lr·1/√0.0496.
    """
    p = leaf(1.0)
    got = steps(RMSprop([p], lr=0.01), p, [2.0, 1.0])
    np.testing.assert_allclose(got, [0.9, 0.9 - 0.01 / np.sqrt(0.0496)], rtol=1e-7)


@pytest.mark.parametrize(
    "kind",
    [
        lambda ps, wd: RMSprop(ps, lr=0.1, weight_decay=wd),
        lambda ps, wd: Adam(ps, lr=0.1, weight_decay=wd),
    ],
)
def test_weight_decay_is_the_gradient_of_a_penalty(kind):
    penalised, decayed = leaf([1.0, -3.0]), leaf([1.0, -3.0])
    one, other = kind([penalised], 0.0), kind([decayed], 0.3)
    for g in ([0.5, 1.0], [-0.2, 2.0], [0.1, 0.1]):
        steps(one, penalised, [g + 0.3 * penalised.data])
        steps(other, decayed, [g])
        np.testing.assert_allclose(decayed.data, penalised.data, rtol=1e-14)


def test_adamw_by_hand():
    """Adam's first step is lr·sign(g), whatever the decay. AdamW goes to 2 − 0.1·0.5·2 − 0.1 =
    1.8; Adam with weight_decay goes to 1.9.
    """
    p, q = leaf(2.0), leaf(2.0)
    np.testing.assert_allclose(
        steps(AdamW([p], lr=0.1, weight_decay=0.5), p, [1.0]), [1.8], rtol=1e-7
    )
    np.testing.assert_allclose(
        steps(Adam([q], lr=0.1, weight_decay=0.5), q, [1.0]), [1.9], rtol=1e-7
    )
    plain = leaf(1.8)
    both = Adam([plain], lr=0.1)
    steps(both, plain, [1.0])
    adam = steps(both, plain, [-4.0])[0] - 1.7  # Adam's own second step
    got = steps(AdamW([r := leaf(2.0)], lr=0.1, weight_decay=0.5), r, [1.0, -4.0])
    np.testing.assert_allclose(got[1], 1.8 * (1 - 0.05) + adam, rtol=1e-7)


def test_schedules():
    def rates(kind, n):
        optimizer = SGD([leaf(1.0)], lr=0.5)
        schedule = kind(optimizer)
        out = [optimizer.lr]
        for _ in range(n):
            schedule.step()
            out.append(optimizer.lr)
        return out

    assert rates(lambda o: StepLR(o, step_size=2, gamma=0.5), 5) == [
        0.5,
        0.5,
        0.25,
        0.25,
        0.125,
        0.125,
    ]
    np.testing.assert_allclose(
        rates(lambda o: CosineAnnealingLR(o, T_max=4), 4),
        [0.5, 0.25 + 0.25 * np.sqrt(0.5), 0.25, 0.25 - 0.25 * np.sqrt(0.5), 0],
        atol=1e-15,
    )
    assert rates(lambda o: LambdaLR(o, lambda epoch: min(1, (epoch + 1) / 4)), 4) == [
        0.125,
        0.25,
        0.375,
        0.5,
        0.5,
    ]


def test_a_schedule_continues_from_its_saved_state(tmp_path):
    one, other = SGD([leaf(1.0)], lr=0.5), SGD([leaf(1.0)], lr=0.1)
    schedule = StepLR(one, step_size=2)
    for _ in range(3):
        schedule.step()
    schedule.save(tmp_path / "s.npz")
    resumed = StepLR(other, step_size=2)
    resumed.load(tmp_path / "s.npz")
    assert other.lr == one.lr
    schedule.step(), resumed.step()
    assert other.lr == one.lr == pytest.approx(0.005)


def test_adam_with_other_constants_by_hand():
    p = leaf([1.0])
    got = steps(Adam([p], lr=0.2, betas=(0.5, 0.75), eps=0.1), p, [[2.0], [1.0]])
    first = 1 - 0.2 * 2 / (2 + 0.1)
    m, v = 0.5 * 1.0 + 0.5 * 1.0, 0.75 * 1.0 + 0.25 * 1.0
    second = first - 0.2 * (m / 0.75) / (np.sqrt(v / (1 - 0.75**2)) + 0.1)
    np.testing.assert_allclose(got.ravel(), [first, second], rtol=1e-13)


def test_adam_corrects_the_bias_of_each_parameter_by_its_own_steps():
    """Regression: a parameter whose first gradient came later was corrected as if it had taken
    every step.
    """
    a, b = leaf(1.0), leaf(1.0)
    optimizer = Adam([a, b], lr=0.1)
    for _ in range(5):
        a.grad = np.array(1.0)
        optimizer.step()
    b.grad = np.array(1.0)
    optimizer.step()
    np.testing.assert_allclose(b.data, 0.9, rtol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_without_a_gradient_stay(kind):
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
def test_every_optimizer_finds_the_minimum(kind):
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
    assert any(
        not np.array_equal(a, p.data) for a, p in zip(before, model.parameters(), strict=True)
    )


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda: SGD([]), ValueError, "SGD.*at least one parameter"),
        (lambda: Adam(iter(())), ValueError, "Adam.*at least one parameter"),
        (lambda: SGD([np.ones(2)]), TypeError, "parameter 0"),
        (lambda: SGD([leaf(1.0), Tensor(1.0)]), TypeError, "parameter 1"),
        (lambda: SGD([leaf(1.0)], lr=-1), ValueError, "lr"),
        (lambda: Adam([leaf(1.0)], lr=np.nan), ValueError, "lr"),
        (lambda: SGD(leaf([1.0, 2.0])), TypeError, "a list of parameters"),
        (lambda: SGD([leaf(1.0)], nesterov=True), ValueError, "nesterov.*momentum"),
        (lambda: AdamW([leaf(1.0)], weight_decay=-1.0), ValueError, "AdamW: .*weight_decay >= 0"),
        (lambda: SGD([leaf(1.0)], momentum=np.nan), ValueError, "SGD: .*momentum"),
        (lambda: SGD([leaf(1.0)], lr=np.inf), ValueError, "SGD: .*lr"),
        (lambda: RMSprop([leaf(1.0)], alpha=1), ValueError, "RMSprop: .*alpha < 1"),
        (lambda: Adam([leaf(1.0)], betas=(0.9, 1)), ValueError, "Adam: .*betas < 1"),
        (lambda: Adam([leaf(1.0)], eps=-1), ValueError, "Adam: .*eps >= 0"),
        (lambda: StepLR(SGD([leaf(1.0)]), 0), ValueError, "StepLR: .*step_size"),
        (lambda: CosineAnnealingLR(SGD([leaf(1.0)]), 0), ValueError, "CosineAnnealingLR: .*T_max"),
        (
            lambda: LambdaLR(SGD([leaf(1.0)]), lambda epoch: -1.0),
            ValueError,
            "LambdaLR: expected a finite factor at epoch 0 >= 0",
        ),
        (
            lambda: LambdaLR(SGD([leaf(1.0)]), lambda epoch: None),
            TypeError,
            "LambdaLR: factor at epoch 0.* None",
        ),
        (
            lambda: LambdaLR(SGD([leaf(1.0)]), 0.5),
            TypeError,
            "LambdaLR: lr_lambda: expected a function, got float",
        ),
        (lambda: StepLR(SGD([leaf(1.0)]), 2, gamma=-0.5), ValueError, "StepLR: .*gamma"),
        (lambda: StepLR(SGD([leaf(1.0)]), "2"), TypeError, "StepLR: .*step_size"),
        (
            lambda: CosineAnnealingLR(SGD([leaf(1.0)]), None),
            TypeError,
            "CosineAnnealingLR: .*T_max",
        ),
        (lambda: StepLR(0.1, 2), TypeError, "StepLR: .*optimizer, got float"),
        (lambda: SGD(ag.nn.MLP([2, 1])), TypeError, r"SGD: .*model\.parameters\(\).*got MLP"),
        (
            lambda: SGD(ag.nn.MLP([2, 1]).parameters),
            TypeError,
            r"SGD: .*model\.parameters\(\).*got method",
        ),
        (
            lambda: SGD({"params": [leaf(1.0)]}),
            TypeError,
            "SGD: expected a list of parameters.*got dict",
        ),
        (
            lambda: SGD([leaf(1.0)]).param_groups[0]["params"].append(leaf(1.0)),
            AttributeError,
            "tuple",
        ),
        (
            lambda: Adam([leaf(1.0)], betas=0.9),
            TypeError,
            "Adam: betas must be two numbers, got 0.9",
        ),
        (lambda: Adam([leaf(1.0)], betas=(0.9,)), TypeError, "Adam: betas must be two numbers"),
        (lambda: SGD([leaf(1.0)], lr="0.1"), TypeError, "SGD: lr must be a number, got '0.1'"),
        (lambda: SGD([leaf(1.0)], lr=None), TypeError, "SGD: .*lr"),
        (
            lambda: SGD([{"params": [leaf(1.0)], "rate": 0.1}]),
            TypeError,
            "SGD: expected each group.*lr, momentum.*rate",
        ),
        (lambda: SGD([{"lr": 0.1}]), TypeError, "SGD: expected each group"),
        (lambda: SGD([{"params": [leaf(1.0)]}, leaf(1.0)]), TypeError, "SGD: expected each group"),
        (lambda: SGD([{"params": [leaf(1.0)], "lr": -0.1}]), ValueError, "SGD: .*lr"),
        (lambda: SGD([{"params": [p := leaf(1.0)]}, {"params": [p]}]), ValueError, "twice"),
        (lambda: SGD([{"params": [leaf(1.0)], "nesterov": True}]), ValueError, "nesterov"),
        (lambda: setattr(SGD([leaf(1.0)]), "lr", -1), ValueError, "SGD: .*lr"),
    ],
)
def test_misuse_is_an_error(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_a_gradient_of_another_shape_is_refused():
    p = leaf([1.0, 2.0])
    p.grad = np.ones(1)
    with pytest.raises(ValueError, match=r".grad of parameter 0 has shape \(1,\), expected \(2,\)"):
        SGD([p], lr=0.1).step()


def test_the_learning_rate_is_saved():
    one, other = Adam([leaf(1.0)], lr=0.1), Adam([leaf(1.0)], lr=0.1)
    one.lr = 0.05
    other.load_state_dict(one.state_dict())
    assert other.lr == 0.05


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
def test_training_continues_bit_identically_from_a_saved_state(kind, tmp_path):
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
    np.testing.assert_array_equal(p.data, third.data)  # a state is a copy


def test_a_state_of_another_optimizer_is_refused():
    p, q = leaf([1.0, 2.0]), leaf([1.0, 2.0, 3.0])
    state = Adam([p]).state_dict()
    for other in (SGD([p]), Adam([q]), Adam([p, q])):
        before = other.state_dict()
        with pytest.raises(ValueError, match="does not fit"):
            other.load_state_dict(state)
        for name, array in other.state_dict().items():
            np.testing.assert_array_equal(array, before[name])


# --- Whole or not at all ---------------------------------------------------------------------------------


def numbers(*things):
    """Return the whole state of an optimizer or a schedule, and the values of its parameters."""
    return [
        array.tolist()
        for thing in things
        for array in ([thing.data] if isinstance(thing, Tensor) else thing.state_dict().values())
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_is_taken_whole_or_not_at_all(kind, interrupted):
    """Catch parameters that are written one after the other, and moving averages that change
    before the parameters.
    """

    def make():
        ps = [leaf([1.0, 2.0]), leaf(3.0), leaf([[4.0]], np.float32)]
        optimizer = kind(ps)
        for p in ps:
            p.grad = np.asarray(p.data * 0.5)
        optimizer.step()
        return ps, optimizer

    ps, optimizer = make()
    before = numbers(*ps, optimizer)
    optimizer.step()
    after = numbers(*ps, optimizer)
    assert all(a != b for a, b in zip(before[:3], after))
    seen = [
        numbers(*ps, optimizer) for ps, optimizer in interrupted(make, lambda made: made[1].step())
    ]
    assert seen and all(now in (before, after) for now in seen)


def test_an_interrupted_assignment_updates_the_version(interrupted):
    def make():
        a = leaf([1.0, 2.0])
        return a, (a * a).sum()

    for a, y in interrupted(make, lambda made: setattr(made[0], "data", [5.0, 6.0])):
        if a.data[0] == 5:
            with pytest.raises(RuntimeError, match="was changed"):
                y.backward()


@pytest.mark.parametrize(
    "wrong", [np.ones(5), np.full(3, 1j), np.array([None] * 3), Tensor(np.ones(3)), np.ma.ones(3)]
)
def test_a_step_with_a_bad_gradient_changes_nothing(wrong):
    a, b = leaf([1.0, 2.0]), leaf([1.0, 2.0, 3.0])
    optimizer = Adam([a, b])
    a.grad, b.grad = np.ones(2), wrong
    before = numbers(a, b, optimizer)
    with pytest.raises((ValueError, TypeError), match="Adam.*parameter 1"):
        optimizer.step()
    assert numbers(a, b, optimizer) == before


def test_a_schedule_steps_whole_or_not_at_all(interrupted):
    def make():
        optimizer = SGD([{"params": [leaf(1.0)]}, {"params": [leaf(2.0)], "lr": 0.5}], lr=0.1)
        return optimizer, StepLR(optimizer, step_size=1)

    before = numbers(*make())
    (optimizer, schedule) = make()
    schedule.step()
    after = numbers(optimizer, schedule)
    seen = [numbers(*made) for made in interrupted(make, lambda made: made[1].step())]
    assert seen and all(now in (before, after) for now in seen)
    failing = LambdaLR(optimizer, lambda epoch: 1 / (2 - epoch) if epoch < 2 else -1)
    failing.step()
    before = numbers(optimizer, failing)
    with pytest.raises(ValueError, match="epoch 2"):
        failing.step()
    assert numbers(optimizer, failing) == before


def test_a_state_is_loaded_whole_or_not_at_all(interrupted):
    def make(lr=0.1):
        optimizer = Adam(
            [{"params": [p := leaf([1.0, 2.0])]}, {"params": [leaf(1.0)], "lr": lr / 2}], lr=lr
        )
        p.grad = np.ones(2)
        optimizer.step()
        return optimizer

    state = make(lr=0.4).state_dict()
    before = numbers(make())
    (loaded := make()).load_state_dict(state)
    after = numbers(loaded)
    assert after[0] == [0.4, 0.2] and before[0] == [0.1, 0.05]
    seen = [numbers(made) for made in interrupted(make, lambda made: made.load_state_dict(state))]
    assert seen and all(now in (before, after) for now in seen)
    for key, wrong in [
        ("lr", np.array([0.1, -1.0])),
        ("lr", np.array([0.1, np.nan])),
        ("steps", np.array([0.5, 1.0])),
        ("v.1", "x"),
        ("v.1", Tensor(1.0)),
    ]:
        with pytest.raises((ValueError, TypeError), match="Adam"):
            loaded.load_state_dict({**state, "m.0": np.full(2, 7.0), key: wrong})
        assert numbers(loaded) == after


# --- Numbers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [lambda ps: RMSprop(ps, lr=0.1, alpha=0), lambda ps: Adam(ps, lr=0.1, betas=(0, 0))]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_without_averaging_only_the_last_gradient_counts(kind, dtype):
    """Regression: a step of 100, because v += g² − v keeps the rounding error of the old v."""
    p = leaf(1.0, dtype)
    got = steps(kind([p]), p, [1.0, 1e-4 if dtype == np.float32 else 1e-7])
    np.testing.assert_allclose(got, [0.9, 0.8], rtol=1e-3 if dtype == np.float32 else 0.02)


def test_a_float16_parameter_is_stepped_in_float32():
    """Regression: nan and 0, because in float16 1e-8 is 0 and 300² is inf."""
    p = leaf([1.0, 1.0, 1.0], np.float16)
    got = steps(Adam([p], lr=0.25), p, [[0.0, 300.0, 1.0]])
    assert p.dtype == np.float16
    np.testing.assert_array_equal(got, [[1.0, 0.75, 0.75]])


# --- Groups ----------------------------------------------------------------------------------------------------


def test_groups_have_settings_of_their_own(tmp_path):
    def run(weight, bias, optimizers):
        for g in (1.0, -0.5):
            weight.grad, bias.grad = np.full(2, g), np.array(2 * g)
            for optimizer in optimizers:
                optimizer.step()
        return numbers(weight, bias)

    weight, bias, other, apart = leaf([1.0, 2.0]), leaf(3.0), leaf([1.0, 2.0]), leaf(3.0)
    both = Adam(
        [
            {"params": [weight], "weight_decay": 0.1},
            {"params": bias, "lr": 0.5, "betas": (0.5, 0.9)},
        ],
        lr=0.01,
    )
    two = [Adam([other], lr=0.01, weight_decay=0.1), Adam([apart], lr=0.5, betas=(0.5, 0.9))]
    assert run(weight, bias, [both]) == run(other, apart, two)
    assert both.lr == 0.01 and [group["lr"] for group in both.param_groups] == [0.01, 0.5]
    assert both.params == [weight, bias]
    schedule = StepLR(both, step_size=1)
    schedule.step()
    np.testing.assert_allclose([group["lr"] for group in both.param_groups], [0.001, 0.05])
    both.save(tmp_path / "o.npz"), schedule.save(tmp_path / "s.npz")
    resumed = Adam([{"params": [other]}, {"params": [apart]}])
    again = StepLR(resumed, step_size=1)
    resumed.load(tmp_path / "o.npz"), again.load(tmp_path / "s.npz")
    schedule.step(), again.step()
    np.testing.assert_allclose([group["lr"] for group in resumed.param_groups], [0.0001, 0.005])
    both.lr = 0.2
    assert [group["lr"] for group in both.param_groups] == [0.2, 0.2]
    both.param_groups[1]["lr"] = 0.0
    before = bias.data.copy()
    both.step()
    assert bias.data == before


@pytest.mark.parametrize("make", [partial(SGD, momentum=0.9), RMSprop, Adam, AdamW])
def test_a_learning_rate_for_each_entry(make):
    """An array as "lr" in param_groups steps as if every entry had an optimizer of its own."""
    rates, gs = [0.1, 0.5], [[1.0, -2.0], [0.5, 3.0]]
    together, apart = leaf([1.0, 2.0]), [leaf([1.0]), leaf([2.0])]
    optimizer = make([together])
    optimizer.param_groups[0]["lr"] = np.array(rates)
    wanted = [
        steps(make([p], lr=lr), p, [[g] for g in column])
        for p, lr, column in zip(apart, rates, zip(*gs))
    ]
    np.testing.assert_allclose(
        steps(optimizer, together, gs), np.concatenate(wanted, axis=1), rtol=1e-14
    )
    with pytest.raises(TypeError, match='cannot save "lr" because it is an array'):
        optimizer.state_dict()
    scalar = leaf(1.0)
    optimizer, scalar.grad = make([scalar]), np.array(1.0)
    optimizer.param_groups[0]["lr"] = np.array(rates)
    with pytest.raises(
        ValueError,
        match=r"step of parameter 0 has shape \(2,\), expected \(\)",
    ):
        optimizer.step()
    assert scalar.data == 1 and optimizer.steps == [0]
    three = leaf([1.0, 2.0, 3.0])
    optimizer, three.grad = make([three]), np.ones(3)
    optimizer.param_groups[0]["lr"] = np.array(rates)
    name = type(optimizer).__name__
    with pytest.raises(ValueError, match=f'^{name}: .* parameter 0 .*\\(3,\\).*"lr".* broadcast'):
        optimizer.step()
    assert optimizer.steps == [0]


def test_a_set_of_parameters_is_refused():
    """Regression: a set was accepted. Its order changes, so loading a state gave parameters each
    other's momentum.
    """
    ps = [Tensor([0.0], requires_grad=True) for _ in range(4)]
    for params in (set(ps), frozenset(ps), [{"params": set(ps)}]):
        with pytest.raises(TypeError, match="SGD: .*list.*got (frozen)?set"):
            ag.optim.SGD(params, lr=1.0)
    assert ag.optim.SGD(iter(ps)).params == ag.optim.SGD(dict.fromkeys(ps).keys()).params == ps


@pytest.mark.parametrize("groups", [1, 2])
def test_a_state_holds_every_setting(groups):
    """Regression: only lr was restored, and training continued without momentum, with no error."""
    for kind, settings in [
        (ag.optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
        (ag.optim.RMSprop, {"alpha": 0.5, "eps": 1e-3}),
        (ag.optim.AdamW, {"betas": (0.5, 0.75), "eps": 1e-2, "weight_decay": 0.25}),
    ]:
        ps = [[Tensor([1.0, 2.0], requires_grad=True) for _ in range(2)] for _ in range(2)]
        first, second = (
            kind(make([{"params": p} for p in both] if groups == 2 else both))
            for make, both in zip((list, list), ps)
        )
        for i, group in enumerate(first.param_groups):
            group.update({**settings, "lr": 0.1 * (i + 1)})
        second.load_state_dict(first.state_dict())
        for a, b in zip(first.param_groups, second.param_groups, strict=True):
            assert {**a, "params": 0} == {**b, "params": 0}
            assert {k: type(v) for k, v in b.items()} == {
                **{k: type(v) for k, v in a.items()},
            }
        for _ in range(3):
            for optimizer in (first, second):
                for p in optimizer.params:
                    p.grad = np.array([0.5, -1.0])
                optimizer.step()
        for p, q in zip(first.params, second.params, strict=True):
            np.testing.assert_array_equal(p.data, q.data)


def test_a_state_with_a_setting_out_of_range_changes_nothing():
    p = Tensor([1.0], requires_grad=True)
    o = ag.optim.SGD([p], lr=0.1, momentum=0.9)
    for wrong in ({"momentum": -1.0}, {"nesterov": True, "momentum": 0.0}):
        with pytest.raises(ValueError, match="momentum"):
            o.load_state_dict({**o.state_dict(), **wrong, "lr": 0.5})
        assert o.lr == 0.1 and o.param_groups[0]["momentum"] == 0.9


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda o, p: o.step(lambda: 1.0), "SGD.step: .*closure.*backward"),
        (lambda o, p: o.zero_grad(set_to_none=False), "SGD.zero_grad: set_to_none=False"),
        (lambda o, p: o.add_param_group({"params": [p]}), "'add_param_group': .*create"),
        (lambda o, p: ag.optim.SGD([p], lr=Tensor(0.1)), "SGD: lr must be a number, got Tensor"),
        (lambda o, p: (o.param_groups[0].update(lr="a"), o.step()), "SGD: lr must be .*'a'"),
        (lambda o, p: (o.param_groups[0].update(lr=Tensor(1.0)), o.step()), "SGD: lr .*Tensor"),
    ],
)
def test_calls_in_the_style_of_pytorch_get_a_helpful_error(call, words):
    """Regression: the error was raised by Python, or by NumPy about np.subtract."""
    p = Tensor([1.0], requires_grad=True)
    o = ag.optim.SGD([p], lr=0.1)
    p.grad = np.ones(1)
    with pytest.raises((TypeError, ValueError, AttributeError), match=words):
        call(o, p)
    assert p.item() == 1.0 and not hasattr(o, "add_param_group")
    o.zero_grad(set_to_none=True)
    assert p.grad is None


def test_a_schedules_state_holds_its_settings():
    """Regression: the new schedule applied its own factor to the old step count, with no error."""

    def make(kind, *settings):
        optimizer = ag.optim.SGD([Tensor([1.0], requires_grad=True)], lr=0.5)
        return kind(optimizer, *settings)

    for kind, old, other in [
        (ag.optim.StepLR, (2, 0.5), (3, 0.1)),
        (ag.optim.CosineAnnealingLR, (10,), (20,)),
    ]:
        first, second = make(kind, *old), make(kind, *other)
        for _ in range(3):
            first.step()
        second.load_state_dict(first.state_dict())
        for _ in range(3):
            assert first.optimizer.lr == second.optimizer.lr
            first.step()
            second.step()
    step = make(ag.optim.StepLR, 2, 0.5)
    with pytest.raises(ValueError, match="StepLR: .*gamma >= 0"):
        step.load_state_dict({**step.state_dict(), "gamma": -1.0, "last_epoch": 5})
    assert (step.gamma, step.last_epoch) == (0.5, 0)
