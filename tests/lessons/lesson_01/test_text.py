"""Sentences of lesson 01 that no cell of the notebook checks."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course.lessons.lesson_01.exercises import _bowl, _walk, cube


def forward(f, x, h):
    return (f(x + h) - f(x)) / h


def central(f, x, h):
    return (f(x + h) - f(x - h)) / (2 * h)


@pytest.mark.parametrize("f", [np.exp, np.sin, np.tanh, cube])
@pytest.mark.parametrize("x", [-1.0, 0.0, 0.3, 2.0])
def test_errors_shrink_at_least_like_h_and_h_squared(f, x):
    slope = ag.grad(f)(x)
    for measure, power in ((forward, 1), (central, 2)):
        large, small = (abs(measure(f, x, h) - slope) for h in (1e-2, 1e-3))
        assert small <= 1.2 * 10.0**-power * large + 1e-12


def test_the_third_derivative_is_a_hypothesis():
    """x·|x| has one derivative at 0 but not two: there the central error is h, and does not shrink like h²."""
    for h in (1e-2, 1e-3):
        assert central(lambda x: x * abs(x), 0.0, h) == pytest.approx(h)


def test_the_forward_error_of_the_cube_is_only_almost_in_proportion_to_h():
    def off(x, h):
        return forward(cube, x, h) - 3 * x**2

    assert off(Fraction(-1), Fraction(3)) == 0, "so a larger step can have no error"
    assert float(off(Fraction(2), Fraction(1, 10**6)) / Fraction(1, 10**6)) == pytest.approx(6)


def test_half_and_two_thirds_of_the_digits():
    right = [
        -np.log10(abs(one / np.e - 1)) / 16
        for one in (
            forward(np.exp, 1.0, 1e-8),
            central(np.exp, 1.0, 1e-5),
        )
    ]
    assert right == pytest.approx([1 / 2, 2 / 3], abs=0.07)


def test_gaps_are_wider_at_much_larger_numbers():
    """Twice as large is enough; 1.5 has the same gap as 1."""
    xs = np.logspace(-300, 300, 1001)
    assert np.all(np.spacing(2 * xs) > np.spacing(xs)) and np.spacing(1.5) == np.spacing(1.0)


def test_learning_rates_between_a_half_and_one_and_above_one():
    def jumps(lr):
        return np.abs(np.diff(_walk(lambda x: 2 * (x - 3), 0.0, lr, 10)))

    for lr in (0.51, 0.75, 0.99):
        assert np.all(np.diff(jumps(lr)) < 0) and _walk(lambda x: 2 * (x - 3), 0.0, lr, 1)[1] > 3
    assert set(jumps(1.0)) == {6.0}
    for lr in (1.01, 1.05, 2.0):
        assert np.all(np.diff(jumps(lr)) > 0)


def test_far_away_the_measured_slope_is_not_exact():
    xs = _walk(lambda x: central(_bowl, x, 1e-5), 0.0, 2.0, 40)
    assert xs[-1] == xs[-2] > 1e11, "1e-5 is smaller than the gap between two floats there"


def test_single_precision_is_too_coarse_for_the_step_of_gradcheck():
    with_rounding = central(np.exp, np.float32(1), np.float32(1e-6))
    assert with_rounding.dtype == np.float32
    assert abs(with_rounding - np.e) > 5 * (1e-5 + 1e-3 * np.e), "its atol and rtol"
    assert abs(central(np.exp, 1.0, 1e-6) - np.e) < 1e-5


def test_later_lessons_check_gradients():
    notebooks = Path(__file__).parents[3] / "notebooks"
    for lesson in ("03", "04", "08", "09", "13", "14", "16", "21", "22"):
        (notebook,) = notebooks.glob(f"{lesson}_*.ipynb")
        assert "check_grads(" in notebook.read_text(encoding="utf-8"), lesson
