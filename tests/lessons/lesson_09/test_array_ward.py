"""The array ward of the clinic: the correct engine, the numbers on cards and in the write-ups.
test_wards.py has the rest.
"""

import numpy as np
import pytest
from wards import WARDS

import autograd_lib as ag
from autograd_course.lessons.lesson_07.clinic import agree
from autograd_course.lessons.lesson_09.array_ward import (
    Array,
    Dot,
    Multiplied,
    Reassigned,
    Seeded,
    Twice,
    Unknown,
    Unreduced,
    Unsummed,
    examine,
    ordinary,
)

x, b = np.array([[1, 2, 3], [4, 5, 6]]), np.array([1, 2, 3])


# --- The healthy engine


@pytest.mark.parametrize(
    "f, shapes",
    [
        (ordinary, [(3, 3)] * 3),
        (lambda x, y: (x * y - x).sum(), [(2, 3), (3,)]),
        (lambda x, y: (y - x * y).sum(), [(2, 1), (4, 2, 3)]),
        (lambda x, y: (x @ y * x.sum()).sum(), [(2, 3), (3, 4)]),
        (lambda x, y: (x @ y) * (x + y).sum(), [(3,), (3,)]),
        (lambda x, y: ((x + y) * y).sum(), [(), (2, 3)]),
        (lambda x: ((x @ x) @ x).sum(), [(3, 3)]),
    ],
)
def test_healthy_agrees_with_the_library_and_with_differences(f, shapes):
    rng = np.random.default_rng(1)
    xs = [rng.normal(size=shape) for shape in shapes]
    report = examine(Array, f, *xs)
    assert report.passed
    for (_, engine, _), library in zip(report.rows, ag.grad(f, tuple(range(len(xs))))(*xs)):
        assert engine.shape == library.shape
        np.testing.assert_allclose(engine, library, rtol=1e-12)


def test_healthy_takes_whole_numbers_and_adds_a_second_call():
    a = Array(b)
    L = (a * a).sum()
    L.backward()
    L.backward()
    assert a.grad.tolist() == [4, 8, 12]


def test_healthy_starts_at_a_single_number():
    with pytest.raises(ValueError, match=r"single number to start from, got shape \(3,\)"):
        Array(b).backward()


# --- What the cards say beside their examinations, and the numbers of the write-ups


def passes(engine, f, *shapes):
    rng = np.random.default_rng(2)
    return examine(engine, f, *(rng.normal(size=shape) for shape in shapes)).passed


@pytest.mark.parametrize(
    "engine, f, good, bad",
    [
        (Multiplied, lambda x, y: (x * y).sum(), [(2, 3), (2, 3)], [(2, 3), (3,)]),
        (Unreduced, lambda x, y: (x + y).sum(), [(2, 3), (3,)], [(2, 3), ()]),
        (Dot, lambda x, y: (x @ y).sum(), [(3,), (3,)], [(2, 3), (3, 2)]),
        (Dot, lambda x, y: (x @ y).sum(), [(2, 1), (1, 3)], [(1, 2), (2, 1)]),
        (Reassigned, lambda x, y: (x + y).sum(), [(2, 3), (3,)], [(3,), (2, 3)]),
        (Unsummed, lambda x, y: (x * y).sum(), [(2, 3), (2, 3)], [(2, 3), (2, 1)]),
        (Unknown, lambda x, y: (x + y).sum(), [(2, 3), (3,)], [(3, 3), (3,)]),
    ],
)
def test_the_cases_in_which_a_patient_fails(engine, f, good, bad):
    assert passes(engine, f, *good) and not passes(engine, f, *bad)
    assert passes(WARDS["09"].mended(engine), f, *bad)


def test_twice_is_right_for_two_matrices_square_or_not():
    assert passes(Twice, lambda x, y: (x @ y).sum(), (2, 3), (3, 4)) and passes(
        Twice, lambda x, y: (x @ y).sum(), (3, 3), (3, 3)
    )
    assert not passes(Twice, lambda x: (x @ x).sum(), (3, 3))


def test_002_the_gradient_that_is_reassigned():
    small, large = Reassigned(b), Reassigned(np.ones((2, 3)))
    (small + large).sum().backward()
    assert small.grad.tolist() == [2, 2, 2] and large.grad.tolist() == [[2, 2, 2], [2, 2, 2]]


def test_002_the_broadcast_product():
    small, large = Multiplied(b), Multiplied(np.ones((2, 3)))
    (small * large).sum().backward()
    assert small.grad.tolist() == [2, 2, 2]  # right: the card names only the larger one
    assert large.grad.tolist() == [[2, 4, 6]] * 2  # the published engine gives a single row


def test_004_dot_of_matrices():
    A, B = Dot([[1, 2], [3, 4]]), Dot([[5, 6], [7, 8]])
    (A @ B).sum().backward()
    assert A.grad.tolist() == [[5, 6], [7, 8]]


def test_001_no_sum_and_a_seed_of_ones():
    small, large = Unsummed(b), Unsummed(x)
    (small + large).sum().backward()
    assert small.grad.shape == (2, 3)
    a = Seeded(b)
    (a * a).backward()
    assert a.grad.tolist() == [2, 4, 6]


# --- The check


def test_a_report_says_what_it_found():
    assert str(examine(Reassigned, lambda b, x: (b + x).sum(), b, x)) == (
        "b (3,): engine [2, 2, 2], measured [2, 2, 2]\n"
        "x (2, 3): engine [[2, 2, 2], [2, 2, 2]], measured [[1, 1, 1], [1, 1, 1]]   ✗\nthe check fails"
    )
    assert "engine ValueError" in str(examine(Dot, lambda A, B: (A @ B).sum(), x, x.T))


@pytest.mark.parametrize(
    "engine, right",
    [
        ([2, 2, 2], [[2, 2, 2]]),
        (6, [6]),
        ([1, 2], [1, 2.1]),
        ("ValueError", [1]),
        ([1], "ValueError"),
    ],
)
def test_agree_wants_the_shape_and_the_numbers(engine, right):
    assert not agree(engine, right) and agree(right, right)
