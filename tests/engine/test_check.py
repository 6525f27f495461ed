"""check_grads rejects wrong rules, reports where they are wrong, and accepts correct rules."""

import re
import warnings

import numpy as np
import pytest

import autograd_lib as ag
from autograd_lib import Tensor, check_grads

X = np.array([[0.5, -1.2, 2.0], [0.3, 0.9, -0.7]])


def row(rule, function=np.square, **kwargs):
    return ag.elementwise(function, rule, name="op", **kwargs)


def report(f, *xs, **kwargs):
    with pytest.raises(AssertionError) as caught:
        check_grads(f, *xs, **kwargs)
    return str(caught.value)


def numbers(text):
    return [
        (float(a), float(b))
        for a, b in re.findall(r"the rule gave (\S+), the finite difference gave (\S+)", text)
    ]


def detached(x):
    return x.detach() if isinstance(x, Tensor) else x


# --- What is wrong is rejected ---------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("factor", [1.001, 0.999])
@pytest.mark.parametrize("mode", ["rev", "fwd"])
def test_a_rule_off_by_a_thousandth(factor, mode, scale):
    wrong = row(lambda g, z, x: g * 2 * x * factor)
    report(wrong, scale, modes=[mode])
    report(lambda x: ag.sum(wrong(x)), X * scale, modes=[mode])
    report(wrong, X * scale, modes=[mode], order=1)


def test_a_rule_that_ignores_g():
    report(row(lambda g, z, x: 2 * x), X)
    report(lambda x: 3.0 * row(lambda g, z, x: 2 * x)(x), 1.5)
    report(row(lambda g, z, x: 2 * x), 1.5)  # even if the op is the output itself


def test_a_missing_sum_over_a_broadcast_axis():
    first_row_only = ag.primitive(
        lambda x, b: x + b,
        [lambda g, z, x, b: g, lambda g, z, x, b: g[:1]],
        [lambda t, z, x, b: t, lambda t, z, x, b: t],
        name="add_bias",
    )
    text = report(first_row_only, X, X[0])
    assert "argument 1" in text and "argument 0" not in text
    mean = ag.linear(
        lambda x: x.mean(axis=0), lambda g, z, x: np.broadcast_to(g, x.shape), name="mean"
    )
    assert "argument 0" in report(mean, X)


def test_a_wrong_second_derivative():
    """Only the second order shows that a rule treats x as a constant; its first derivative is
    right.
    """
    op = row(lambda g, z, x: g * 2 * detached(x))
    check_grads(op, X, order=1)
    for mode in ("rev", "fwd"):
        assert "order 2" in report(op, X, modes=[mode])
    deaf = ag.elementwise(np.exp, lambda g, z, x: g * detached(z), name="op")
    check_grads(deaf, X, order=1)
    assert "order 2" in report(deaf, X)


def test_a_wrong_third_derivative():
    square = row(lambda g, z, x: g * 2 * detached(x))
    cube = ag.elementwise(lambda x: x**3, lambda g, z, x: 3 * g * square(x), name="cube")
    check_grads(cube, X, order=2)
    assert "order 3" in report(cube, X, order=3)


@pytest.mark.parametrize(
    "rule",
    [
        lambda g, z, x: -g * 2 * x,
        lambda g, z, x: g * 0,
        lambda g, z, x: g * x,
        lambda g, z, x: g * g * 2 * x,
        lambda g, z, x: g * 2 * x + 1e-4,
        lambda g, z, x: g * 2 * np.abs(x),
        lambda g, z, x: g * np.nan,
        lambda g, z, x: g[::-1] * 2 * x,
        lambda g, z, x: np.mean(g) * 2 * x,
        lambda g, z, x: g * 2 * z / x * (x < 1.9),
    ],
)
def test_published_kinds_of_wrong_rules(rule):
    report(row(rule), X)


def test_a_matrix_rule_with_the_right_shape_and_the_wrong_number():
    left_twice = ag.bilinear(
        np.matmul, lambda g, z, x, y: g @ y.T, lambda g, z, x, y: g @ y.T, name="matmul"
    )
    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    text = report(lambda a: left_twice(a, a), a)
    assert "argument 0" in text
    swapped = ag.bilinear(
        np.matmul, lambda g, z, x, y: g @ y, lambda g, z, x, y: x.T @ g, name="matmul"
    )
    report(swapped, a, a + 0.5)


def test_the_two_modes_are_checked_apart():
    right, wrong = (lambda g, z, x: g * 2 * x), (lambda g, z, x: g * 3 * x)
    for rules, pushes, bad, good in [
        ([wrong], [right], "rev", "fwd"),
        ([right], [wrong], "fwd", "rev"),
    ]:
        op = ag.primitive(np.square, rules, pushes, name="op")
        assert f"[{bad}]" in report(op, X, order=1)
        check_grads(op, X, order=1, modes=[good])
        report(op, X, order=1, modes=(bad,))


def test_one_wrong_entry_among_many():
    wrong = row(lambda g, z, x: g * 2 * x * np.where(np.arange(x.shape[-1]) == 2, 1.01, 1))
    text = report(lambda x: wrong(x)[1], X)
    assert "entry [1, 2]" in text and len(numbers(text)) == 2  # once in each mode


def elementwise(function, *rules):
    return ag.elementwise(function, *rules, name="op")


def half_detached(g):
    return ag.where(np.arange(g.size).reshape(g.shape) % 2 == 0, g, detached(g))


def deaf_push(detach_t, detach_z):
    return ag.primitive(
        np.exp,
        [lambda g, z, x: g * z],
        [lambda t, z, x: (detached(t) if detach_t else t) * (detached(z) if detach_z else z)],
        name="op",
    )


softmax_rule = ag.softmax.rules[0]
softmax_of_rows = ag.primitive(
    ag.softmax.function,
    [lambda g, z, x, axis=-1: softmax_rule(g, z, x)],
    [lambda t, z, x, axis=-1: softmax_rule(t, z, x)],
    name="op",
)
TIED = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 0.5]])
PLANTED = {
    "g detached": (elementwise(np.exp, lambda g, z, x: detached(g) * z), X),
    "g detached in one of two": (
        elementwise(np.multiply, lambda g, z, x, y: g * y, lambda g, z, x, y: detached(g) * x),
        (X, X),
    ),
    "every other g detached": (elementwise(np.exp, lambda g, z, x: half_detached(g) * z), X),
    "z detached": (elementwise(np.exp, lambda g, z, x: g * detached(z)), X),
    "tangent detached": (deaf_push(True, False), X),
    "z detached in the push": (deaf_push(False, True), X),
    "a function that has no rule": (
        ag.linear(np.cumsum, lambda g, z, x: np.flip(np.cumsum(np.flip(g))), name="op"),
        X[0],
    ),
    "the size of g": (elementwise(np.square, lambda g, z, x: np.abs(g) * 2 * x), 1.5),
    "the size of g, below 0": (elementwise(np.square, lambda g, z, x: -np.abs(g) * 2 * x), 1.5),
    "g clipped": (elementwise(np.square, lambda g, z, x: ag.clip(g, -1, 1) * 2 * x), X),
    "g rounded": (elementwise(np.square, lambda g, z, x: np.floor(g * 64) / 64 * 2 * x), X),
    "g twice": (elementwise(np.square, lambda g, z, x: g * g * 2 * x), X),
    "flipped, and small": (
        lambda x: 1e-9 * elementwise(np.sin, lambda g, z, x: -g * np.cos(x))(x),
        X,
    ),
    "flipped, and small inside": (
        elementwise(lambda x: 1e-9 * np.sin(x), lambda g, z, x: -1e-9 * g * np.cos(x)),
        X,
    ),
    "1.5 beside a large number": (elementwise(lambda x: x + 1e8, lambda g, z, x: 1.5 * g), X),
    "1.001 beside a large number": (elementwise(lambda x: x + 1e6, lambda g, z, x: 1.001 * g), X),
    "beside a large entry": (
        lambda x: ag.stack([1e9 * x[0], elementwise(np.sin, lambda g, z, x: g)(x[1])]),
        X[:, 0],
    ),
    "off at large numbers": (elementwise(np.sin, lambda g, z, x: 1.001 * g * np.cos(x)), 3e4 * X),
    "off at small numbers": (elementwise(np.square, lambda g, z, x: g * (2 * x + 1e-9)), 1e-6 * X),
    "where numbers lie far apart": (
        ag.linear(np.transpose, lambda g, z, x: np.reshape(g, x.shape)),
        np.array([[1e6, 1.0], [1.0, 1e-6]]),
    ),
    "off below 0": (elementwise(np.square, lambda g, z, x: g * 2 * np.abs(x)), X),
    "axis ignored": (lambda x: softmax_of_rows(x, axis=0), X),
    "mean over all, not over the axis": (
        lambda x: ag.linear(
            np.mean,
            lambda g, z, x, axis=None: ag.broadcast_to(np.expand_dims(g, axis) / x.size, x.shape),
            name="op",
        )(x, axis=0),
        X,
    ),
    "ties: all of it to both": (
        elementwise(np.maximum, lambda g, z, x, y: g * (x >= y), lambda g, z, x, y: g * (y >= x)),
        (TIED, 2.0),
    ),
    "ties: too little": (
        elementwise(
            np.maximum,
            lambda g, z, x, y: g * (x > y),
            lambda g, z, x, y: g * ((y > x) + (x == y) / 2),
        ),
        (TIED, 2 * np.ones(3)),
    ),
    "ties: to every largest": (
        ag.primitive(
            np.max,
            [lambda g, z, x: g * (x == z)],
            [lambda t, z, x: ag.sum(t * (x == z))],
            name="op",
        ),
        TIED[0],
    ),
    "a kink of a small function": (
        elementwise(lambda x: 1e-9 * np.abs(x), lambda g, z, x: 2e-9 * g * (x >= 0)),
        np.zeros(1),
    ),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_planted_wrong_rules(kind):
    """Regression: half of these rules passed when g never varied and the tolerances had no
    scale.
    """
    op, xs = PLANTED[kind]
    with (
        warnings.catch_warnings(),
        pytest.raises((AssertionError, TypeError), match="check_grads|no derivative rule"),
    ):
        warnings.simplefilter("ignore")
        check_grads(op, *(xs if isinstance(xs, tuple) else (xs,)))


def test_a_wrong_use_of_g_is_reported():
    assert "the upstream gradient" in report(PLANTED["g detached"][0], X)
    assert "not linear in the upstream gradient" in report(
        PLANTED["the size of g"][0], 1.5, order=1
    )
    assert "the tangent" in report(deaf_push(True, False), X, modes=["fwd"])


def test_a_function_that_draws_random_numbers_is_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="not deterministic"):
        check_grads(lambda x: x * rng.normal(), X)


# --- The report ------------------------------------------------------------------------------------------


def test_the_report_names_argument_entry_and_both_numbers():
    twice = ag.elementwise(
        lambda x, y: x * y, lambda g, z, x, y: g * y, lambda g, z, x, y: g * x * 2, name="op"
    )
    text = report(
        lambda x, y: ag.sum(twice(x, y)),
        np.array([1.0, 2.0]),
        np.array([3.0, 4.0]),
        modes=["rev"],
        order=1,
    )
    assert (
        "argument 1, entry [0]" in text
        and "argument 1, entry [1]" in text
        and "argument 0" not in text
    )
    np.testing.assert_allclose(numbers(text), [(2, 1), (4, 2)], rtol=1e-7)
    assert "order 1" in text and "[rev]" in text


def test_the_report_of_a_scalar_function_gives_its_slope():
    text = report(row(lambda g, z, x: g * x), 3.0, modes=["rev"])
    assert "argument 0:" in text
    np.testing.assert_allclose(numbers(text), [(3, 6)], rtol=1e-7)


def test_a_long_report_is_cut():
    text = report(row(lambda g, z, x: g * x), np.ones((10, 10)))
    assert len(text.splitlines()) < 15 and "more" in text and "wrong in 200 places" in text


def test_a_single_wrong_entry_is_reported_as_one():
    assert report(row(lambda g, z, x: g * x), 3.0, modes=["rev"]).startswith(
        "check_grads: the derivative of order 1 is wrong in 1 place\n"
    )


# --- What is right is accepted ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f, xs",
    [
        (ag.tanh, (X,)),
        (lambda x: ag.sum(x * x), (X,)),
        (lambda x, y: x @ y, (X, X.T)),
        (ag.exp, (1.0,)),
        (ag.divide, (X, 2.0)),
        (lambda x: 3.0 * ag.sum(x), (X,)),
        (lambda x: np.ones(2), (X,)),
        (ag.add, (X, X[0])),
        (ag.exp, (2,)),
        (ag.sin, ([1, 2, 3],)),
        (ag.log, (np.float32([0.5, 2.0]),)),
        (ag.exp, (np.zeros((0, 3)),)),
        (lambda x: x[:0], (X,)),
        (lambda x: ag.jvp(ag.tanh, (x,), (x,))[1], (X,)),
        (lambda x: ag.grad(lambda y: ag.sum(y**4))(x), (X,)),
        (ag.checkpoint(lambda x: ag.sin(x) * x), (X,)),
        (lambda x: 1e6 * ag.sin(x), (X,)),
        (lambda x: 1e-6 * ag.sin(x), (X,)),
        (lambda x: ag.sum(x**2) + 1e8, (X,)),
        (lambda x: x**2, (1e4 * X,)),
        (lambda x: ag.exp(20 * x), (1.0,)),
        (lambda x: ag.sin(50 * x), (X,)),
        (lambda x: ag.sqrt(x), (1e-3,)),
    ],
)
def test_right_rules_pass_without_a_warning(f, xs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check_grads(f, *xs) is None


@pytest.mark.parametrize(
    "f, xs",
    [
        (ag.sin, (3e4 * X,)),
        (ag.cos, (1e7 * X,)),
        (lambda x: x * x * x, ([1e6, 0.7, 1e-6],)),
        (lambda x: x + 1e8, (X,)),
        (lambda x: 1e-6 * x + 1e8, (X,)),
        (lambda x: 1e-9 * ag.sin(x), (X,)),
        (lambda x: 1e-200 * ag.sin(x), (X,)),
        (lambda x: 1e9 * ag.sin(x), (X,)),
        (lambda x: 1e200 * ag.sin(x), (X,)),
        (lambda x: ag.exp(1e8 * x), (1e-8 * X,)),
        (ag.log, (1e-6,)),
        (ag.sqrt, (1e-6,)),
        (ag.divide, (1.0, 1e-7)),
        (lambda x: x**3, (0.0,)),
        (lambda x: x**4, ([0.0, 1e-5, 3.0],)),
        (ag.tanh, (20.0,)),
        (ag.sigmoid, (40.0,)),
        (ag.softmax, (100 * X,)),
        (ag.logsumexp, (1e4 * X,)),
        (ag.log_softmax, (X,)),
        (lambda x: ag.sum(ag.softmax(x)), (X,)),
        (lambda x: ag.stack([1e12 * ag.sum(x), ag.sin(x[0, 0])]), (X,)),
        (lambda x: ag.sum(x) * 0.0 + 5.0, (X,)),
        (lambda x: ag.sin(1e3 * x), (X,)),
        (ag.relu, ([1e-7, -1e-7],)),
        (lambda x: ag.abs(x) * 1e6, (1e-4 * X,)),
        (ag.gelu, (X,)),
        (ag.power, (np.abs(X), X)),
        (lambda x: 1 / (1 + x * x), (1e3 * X,)),
        (ag.maximum, (X, 0.1 * X)),
    ],
)
def test_right_rules_pass_at_every_scale(f, xs):
    """Regression: with a step relative to x alone, check_grads rejected sin at 30,000."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_grads(f, *xs)


@pytest.mark.parametrize(
    "f, xs",
    [
        (lambda x: 1e-9 * ag.relu(x), (0.0,)),
        (lambda x: 1e9 * ag.abs(x), (0.0,)),
        (ag.maximum, (TIED, 2.0)),
        (ag.max, (TIED[0],)),
        (ag.minimum, (X, X)),
        (lambda x: ag.max(x, axis=1), (TIED,)),
        (ag.clip, (TIED, 1.0, 3.0)),
        (ag.relu, (np.zeros(3),)),
        (lambda x: ag.concatenate([ag.relu(x), ag.abs(x), 3 * ag.relu(-x)]), (np.zeros(2),)),
    ],
)
def test_stated_rules_pass_at_kinks_and_ties_of_every_scale(f, xs):
    with pytest.warns(RuntimeWarning, match="kink"):
        check_grads(f, *xs)


def test_functions_may_use_methods():
    """Regression: check_grads ran f on plain arrays, which have no .tanh()."""
    check_grads(lambda x: (x.tanh() * x.reshape(3, 2).T.reshape(2, 3).relu()).sum(), X)
    check_grads(lambda x, y: x.matmul(y).logsumexp(), X, X.T)


def test_closed_over_tensors_may_require_a_gradient():
    """Regression: check_grads could not check a function that uses a model."""
    model = ag.nn.MLP([3, 4, 2], activation=ag.tanh, rng=0)
    check_grads(lambda x: ag.nn.functional.cross_entropy(model(x), [0, 1]), X)
    assert all(p.grad is None for p in model.parameters())
    w = Tensor(2.0, requires_grad=True)
    assert "argument 0" in report(lambda x: w * row(lambda g, z, x: g * x)(x), X)


def test_nothing_is_changed_by_a_check():
    x, before = X.copy(), np.random.get_state()[1].copy()
    check_grads(ag.sin, x)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(np.random.get_state()[1], before)


def test_a_wrong_choice_of_modes_is_an_error():
    for modes in (("reverse",), (), ("rev", "x")):
        with pytest.raises(ValueError, match="modes"):
            check_grads(ag.sin, X, modes=modes)


# --- Kinks -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f, x, left, right",
    [
        (ag.relu, 0.0, 0, 1),
        (ag.abs, 0.0, -1, 1),
        (lambda x: ag.maximum(x, 2.0), 2.0, 0, 1),
        (lambda x: ag.clip(x, 0.0, 1.0), 1.0, 1, 0),
        (lambda x: 5 * ag.abs(x - 3.0), 3.0, -5, 5),
        (lambda x: ag.max(ag.stack([x, -x])), 0.0, -1, 1),
    ],
)
def test_a_kink_gives_a_warning(f, x, left, right):
    with pytest.warns(RuntimeWarning, match="kink at argument 0") as caught:
        check_grads(f, x, order=1)
    slopes = [
        float(s)
        for s in re.findall(
            r"the slope is (\S+) on the left and (\S+) on the right", str(caught[0].message)
        )[0]
    ]
    np.testing.assert_allclose(slopes, [left, right], atol=1e-6)


def test_a_kink_names_its_entry_and_hides_no_other():
    x = np.array([1.0, 0.0, -1.0])
    with pytest.warns(RuntimeWarning, match=r"entry \[1\]") as caught:
        check_grads(ag.relu, x)
    assert len(caught) == 1
    wrong = row(lambda g, z, x: g * (x > 0) * 1.001, lambda x: np.maximum(x, 0))
    with pytest.warns(RuntimeWarning):
        text = report(wrong, x, order=1)
    assert "entry [0]" in text


def test_a_rule_outside_the_slopes_of_a_kink_is_wrong():
    wrong = row(lambda g, z, x: g * np.where(x >= 0, 2.0, 0.0), lambda x: np.maximum(x, 0))
    with pytest.warns(RuntimeWarning):
        report(wrong, 0.0)


def test_no_kink_is_seen_where_there_is_none():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (1e-3, -1e-3, 1.0):
            check_grads(ag.relu, x)
            check_grads(lambda x: ag.abs(x) ** 3, x * 0.5)


@pytest.mark.parametrize(
    "f, x",
    [
        (ag.abs, 0.0),
        (ag.relu, 0.0),
        (lambda x: ag.maximum(x, -x), [0.0, 1.0]),
        (ag.max, [1.0, 1.0, 0.0]),
    ],
)
def test_a_kink_gives_a_warning_and_no_second_derivative_error(f, x):
    """Regression: abs at 0, whose slope jumps from −1 to 1, was reported as a wrong second
    derivative.
    """
    with pytest.warns(RuntimeWarning, match="kink at argument 0"):
        assert check_grads(f, x) is None
    with pytest.raises(AssertionError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_grads(
            ag.elementwise(
                lambda x: np.abs(x) + x * x, lambda g, z, x: g * (np.sign(x) + 3 * x), name="bad"
            ),
            [0.0, 1.0],
        )
