"""The array ward of the clinic: the healthy engine is right, each patient fails exactly as its card says, and mended it passes."""
import ast
import subprocess
import sys

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course.lessons.lesson_09.array_ward import (
    EXAMINATIONS,
    PATIENTS,
    Array,
    Dot,
    Multiplied,
    Reassigned,
    Seeded,
    Twice,
    Unknown,
    Unreduced,
    Unsummed,
    agree,
    examine,
    fails,
    ordinary,
    sheet,
)

EACH = pytest.mark.parametrize("number", PATIENTS)
ORDINARY = [np.random.default_rng(seed).normal(size=(3, n, n)) for seed, n in enumerate([2, 2, 3])]
x, b = np.array([[1, 2, 3], [4, 5, 6]]), np.array([1, 2, 3])


def own_methods(engine):
    return [name for name, value in vars(engine).items() if callable(value)]


def mended(engine):
    """The engine with the healthy method in the place of its own."""
    name, = own_methods(engine)
    return type("Mended", (engine,), {name: getattr(Array, name)})


def wrong(engine):
    return {name: value for name, value in sheet(engine).items() if fails(name, value)}


# --- The healthy engine

def test_healthy_passes_every_examination():
    assert wrong(Array) == {}


@pytest.mark.parametrize("f, shapes", [
    (ordinary, [(3, 3)] * 3), (lambda x, y: (x * y - x).sum(), [(2, 3), (3,)]),
    (lambda x, y: (y - x * y).sum(), [(2, 1), (4, 2, 3)]),
    (lambda x, y: (x @ y * x.sum()).sum(), [(2, 3), (3, 4)]), (lambda x, y: (x @ y) * (x + y).sum(), [(3,), (3,)]),
    (lambda x, y: ((x + y) * y).sum(), [(), (2, 3)]), (lambda x: ((x @ x) @ x).sum(), [(3, 3)])])
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
    with pytest.raises(ValueError, match=r"single number, and this has shape \(3,\)"):
        Array(b).backward()


# --- The patients

@EACH
def test_a_patient_is_ill_in_one_short_method(number):
    patient = PATIENTS[number]
    assert own_methods(patient.engine) == [patient.method] and patient.engine.__bases__ == (Array,)
    assert len(patient.source.splitlines()) <= 12
    ast.parse(patient.source)
    assert patient.source != patient.healthy


@EACH
def test_a_patient_fails_exactly_as_its_card_says(number):
    patient, found = PATIENTS[number], wrong(PATIENTS[number].engine)
    assert found.keys() == patient.shows.keys()
    assert all(agree(found[name], value) for name, value in patient.shows.items())


@EACH
@pytest.mark.parametrize("xs", ORDINARY, ids=["2", "2 again", "3"])
def test_an_ordinary_check_finds_it_if_the_card_says_so(number, xs):
    patient = PATIENTS[number]
    assert examine(patient.engine, ordinary, *xs).passed != patient.caught
    assert patient.check.startswith("It fails" if patient.caught else "It passes")


@EACH
def test_mended_it_passes(number):
    engine = mended(PATIENTS[number].engine)
    assert wrong(engine) == {}
    assert all(examine(engine, ordinary, *xs).passed for xs in ORDINARY)


def test_each_examination_but_that_of_one_axis_is_failed_by_somebody():
    assert {name for patient in PATIENTS.values() for name in patient.shows} == EXAMINATIONS.keys() - {"dot"}


# --- What the cards say beside their examinations, and the numbers of the write-ups

def passes(engine, f, *shapes):
    rng = np.random.default_rng(2)
    return examine(engine, f, *(rng.normal(size=shape) for shape in shapes)).passed


@pytest.mark.parametrize("engine, f, good, bad", [
    (Multiplied, lambda x, y: (x * y).sum(), [(2, 3), (2, 3)], [(2, 3), (3,)]),
    (Unreduced, lambda x, y: (x + y).sum(), [(2, 3), (3,)], [(2, 3), ()]),
    (Dot, lambda x, y: (x @ y).sum(), [(3,), (3,)], [(2, 3), (3, 2)]),
    (Reassigned, lambda x, y: (x + y).sum(), [(2, 3), (3,)], [(3,), (2, 3)]),
    (Unsummed, lambda x, y: (x * y).sum(), [(2, 3), (2, 3)], [(2, 3), (2, 1)]),
    (Unknown, lambda x, y: (x + y).sum(), [(2, 3), (3,)], [(3, 3), (3,)])])
def test_when_a_patient_is_ill(engine, f, good, bad):
    assert passes(engine, f, *good) and not passes(engine, f, *bad)
    assert passes(mended(engine), f, *bad)


def test_twice_is_right_for_two_matrices_square_or_not():
    assert passes(Twice, lambda x, y: (x @ y).sum(), (2, 3), (3, 4)) and passes(Twice, lambda x, y: (x @ y).sum(), (3, 3), (3, 3))
    assert not passes(Twice, lambda x: (x @ x).sum(), (3, 3))


def test_002_the_gradient_that_is_reassigned():
    small, large = Reassigned(b), Reassigned(np.ones((2, 3)))
    (small + large).sum().backward()
    assert small.grad.tolist() == [2, 2, 2] and large.grad.tolist() == [[2, 2, 2], [2, 2, 2]]


def test_002_the_broadcast_product():
    small, large = Multiplied(b), Multiplied(np.ones((2, 3)))
    (small * large).sum().backward()
    assert large.grad.tolist() == [[2, 4, 6]] * 2      # as published it is one row of them


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


def test_unknown_has_one_defect_and_no_card():
    assert own_methods(Unknown) == ["fitted"] and Unknown not in [patient.engine for patient in PATIENTS.values()]
    assert wrong(mended(Unknown)) == {}


# --- The check

def test_a_report_says_what_it_found():
    assert str(examine(Reassigned, lambda b, x: (b + x).sum(), b, x)) == (
        "b (3,): the engine says [2, 2, 2], measured [2, 2, 2]\n"
        "x (2, 3): the engine says [[2, 2, 2], [2, 2, 2]], measured [[1, 1, 1], [1, 1, 1]]   ✗\nthe check fails")
    assert "the engine says ValueError" in str(examine(Dot, lambda A, B: (A @ B).sum(), x, x.T))


@pytest.mark.parametrize("engine, right", [([2, 2, 2], [[2, 2, 2]]), (6, [6]), ([1, 2], [1, 2.1]), ("ValueError", [1]),
                                           ([1], "ValueError")])
def test_agree_wants_the_shape_and_the_numbers(engine, right):
    assert not agree(engine, right) and agree(right, right)


def test_the_ward_needs_no_widgets():
    code = ("import sys, autograd_course.lessons.lesson_09.array_ward; "
            "print([m for m in ('ipywidgets', 'matplotlib', 'IPython') if m in sys.modules])")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
