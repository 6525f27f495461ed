"""The clinic of lesson 07: the correct engine, the numbers of the write-ups, and the bug that
has no card. test_wards.py has the rest.
"""

import math

import numpy as np
import pytest
from wards import WARDS

import autograd_lib as ag
from autograd_course.lessons.lesson_05.exercises import random_program
from autograd_course.lessons.lesson_07.clinic import (
    PATIENTS,
    SQUARED,
    Scalar,
    Unknown,
    examine,
    ordinary,
    sheet,
)

WARD = WARDS["07"]


# --- The healthy engine


@pytest.mark.parametrize("xs", WARD.ordinary)
def test_healthy_agrees_with_the_library(xs):
    def same(x, y, w):
        return 0.5 * (ag.tanh(x * w) + ag.relu(x + y) ** (w - x) - y) ** 2

    assert examine(Scalar, ordinary, *xs).passed
    inputs = [Scalar(x) for x in xs]
    L = ordinary(*inputs)
    L.backward()
    np.testing.assert_allclose(L.data, same(*map(ag.Tensor, xs)).data, rtol=1e-13)
    np.testing.assert_allclose([x.grad for x in inputs], ag.grad(same, (0, 1, 2))(*xs), rtol=1e-12)


def test_healthy_agrees_on_random_programs():
    for seed in range(30):
        program = random_program(seed)
        inputs = [Scalar(x) for x in program.start]
        program(*inputs).backward()
        np.testing.assert_allclose(
            [x.grad for x in inputs], ag.grad(program, (0, 1, 2))(*program.start), atol=1e-12
        )


def test_healthy_has_a_slope_where_the_base_is_0():
    def power(x, y):
        return x**y

    for y in (1.0, 2.0, 3.0):
        assert examine(Scalar, power, 0.0, y).passed
    assert np.isnan(examine(Scalar, power, -3.0, 2.0).rows[1][1])
    for x in (0.0, 2.0, -3.0):  # x ** 0 is 1 for every x
        assert examine(Scalar, lambda x: x ** Scalar(0.0), x).passed
    for y, invented in ((0.0, True), (2.0, True), (1.5, False)):
        assert np.isfinite(examine(PATIENTS["H"].engine, power, -3.0, y).rows[1][1]) == invented


@pytest.mark.parametrize("x, sent", [(-2.0, None), (0.0, None), (2.0, 1.0)])
def test_a_relu_is_closed_up_to_0(x, sent):
    assert Scalar(x).relu().rule(1.0) == (sent,)


def test_healthy_is_deep_and_does_not_walk_paths():
    x = y = Scalar(0.0)
    for _ in range(5000):
        y = y + Scalar(1.0)
    y.backward()
    assert x.grad == 1
    x = y = Scalar(1.0)
    for _ in range(60):
        y = y + y
    y.backward()
    assert x.grad == 2.0**60


WARD = WARDS["07"]


# --- The patients


def test_there_are_enough():
    assert len(PATIENTS) >= 8 and list(PATIENTS) == sorted(PATIENTS)


# --- The numbers of the write-ups


def test_003_the_neuron_of_tanh_squared():
    engine = SQUARED.engine
    w = engine(1.0)
    (w * engine(2.0) + engine(0.0)).tanh().half_squared_error(engine(1.0)).backward()
    assert w.grad == pytest.approx(-0.06686187756915031, rel=1e-14)


def test_000_the_rule_that_never_runs():
    x = PATIENTS["D"].engine(0.5)
    (PATIENTS["D"].engine(2.0) * x.tanh()).backward()
    assert x.grad == 0 and sheet(Scalar)["tanh"] == pytest.approx(1.57289547, rel=1e-8)


def test_000_overflow_at_400():
    with pytest.raises(OverflowError):
        PATIENTS["B"].engine(400.0).tanh()


def test_004_a_constant_exponent_is_seeded_with_1():
    """As published, power sends no gradient to the exponent, and a value without a gradient gets
    1. The right number is 5.545.
    """

    def power(self, other):
        z = Scalar.__pow__(self, other)
        both = z.rule
        z.rule = lambda g: (both(g)[0], None)
        return z

    engine = type("Talk", (PATIENTS["A"].engine,), {"__pow__": power})
    x, c = engine(2.0), engine(3.0)
    (x ** (c * engine(1.0))).backward()
    assert (x.grad, c.grad) == (12, 1)
    assert examine(Scalar, lambda c: Scalar(2.0) ** (c * Scalar(1.0)), 3.0).rows[0][
        1
    ] == pytest.approx(8 * math.log(2))


def test_002_a_nan_is_hidden_only_inside():
    x = PATIENTS["C"].engine(2.0)
    (PATIENTS["C"].engine(-3.0) ** x).backward()
    assert math.isnan(x.grad), "as published, it is what arrives at a value that is turned into 0"


def test_003_the_loss_that_falls_below_0():
    y_hat, y = PATIENTS["F"].engine(-1.0), PATIENTS["F"].engine(1.0)
    L = y_hat.half_squared_error(y)
    L.backward()
    assert (L.data, y_hat.grad) == (-1, 0.5)
    # Its gradients agree with their measurements, but they are not those of the intended loss
    assert examine(
        PATIENTS["F"].engine, lambda y_hat, y: y_hat.half_squared_error(y), -1.0, 1.0
    ).passed
    y_hat, y = Scalar(-1.0), Scalar(1.0)
    y_hat.half_squared_error(y).backward()
    assert y_hat.grad == -2
    assert not examine(PATIENTS["F"].engine, lambda x: x.relu(), 0.0).passed, "nor does any engine"


# --- The bug without a card


@pytest.mark.parametrize(
    "f, good, bad",
    [
        (lambda x, y: x * y, (2.0, 3.0), (3.0, 3.0)),
        (lambda x, y: x + y, (2.0, 3.0), (2.0, 0.0)),
        (lambda x, y: x.relu() * y, (-2.0, 3.0), (2.0, 3.0)),
        (lambda x, y: x * y, (2.0, -1.5), (2.0, 1.0)),
    ],
)
def test_unknown_is_wrong_where_two_values_have_one_number(f, good, bad):
    assert examine(Unknown, f, *good).passed and not examine(Unknown, f, *bad).passed
    assert examine(WARD.mended(Unknown), f, *bad).passed


def test_unknown_looks_like_patient_c_on_the_sheet():
    assert WARD.wrong(Unknown) == {"none": 0.0} == PATIENTS["C"].shows


# --- The check


def test_a_report_says_what_it_found():
    assert str(examine(SQUARED.engine, lambda x: x.tanh(), 0.5)) == (
        "x: engine 0.2135523, measured 0.7864477   ✗\nthe check fails"
    )
    assert str(examine(Scalar, lambda x, y: x * y, 2.0, 3.0)) == (
        "x: engine 3, measured 3\ny: engine 2, measured 2\nthe check passes"
    )
