"""The clinic of lesson 07: the healthy engine is right, each patient fails exactly as its card says, and mended it passes."""
import ast
import math
import subprocess
import sys

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course.lessons.lesson_05.exercises import random_program
from autograd_course.lessons.lesson_07.clinic import (
    EXAMINATIONS,
    PATIENTS,
    SQUARED,
    Scalar,
    Unknown,
    agree,
    examine,
    fails,
    ordinary,
    sheet,
)

EVERYBODY = {"the known one": SQUARED, **PATIENTS}
EACH = pytest.mark.parametrize("letter", EVERYBODY)
ORDINARY = [(0.7, 0.4, 1.3), (1.1, 0.3, 0.5), (0.2, 1.9, 0.8)]


def own_methods(engine):
    return [name for name, value in vars(engine).items() if callable(value)]


def mended(engine):
    """The engine with the healthy method in the place of its own."""
    name, = own_methods(engine)
    return type("Mended", (engine,), {name: vars(Scalar)[name]})


def wrong(engine):
    return {name: value for name, value in sheet(engine).items() if fails(name, value)}


# --- The healthy engine

def test_healthy_passes_every_examination():
    assert wrong(Scalar) == {}


@pytest.mark.parametrize("xs", ORDINARY)
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
        np.testing.assert_allclose([x.grad for x in inputs], ag.grad(program, (0, 1, 2))(*program.start), atol=1e-12)


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
    assert x.grad == 2.0 ** 60


# --- The patients

def test_there_are_enough():
    assert len(PATIENTS) >= 8 and list(PATIENTS) == sorted(PATIENTS)
    assert len({patient.cause for patient in EVERYBODY.values()}) == len(EVERYBODY)


@EACH
def test_a_patient_is_ill_in_one_short_method(letter):
    patient = EVERYBODY[letter]
    assert own_methods(patient.engine) == [patient.method] and patient.engine.__bases__ == (Scalar,)
    assert len(patient.source.splitlines()) <= 9
    ast.parse(patient.source)
    assert patient.source != patient.healthy


@EACH
def test_a_patient_fails_exactly_as_its_card_says(letter):
    patient, found = EVERYBODY[letter], wrong(EVERYBODY[letter].engine)
    assert found.keys() == patient.shows.keys()
    for name, value in patient.shows.items():
        assert found[name] == value if isinstance(value, str) else agree(found[name], value)


@EACH
@pytest.mark.parametrize("xs", ORDINARY)
def test_an_ordinary_check_finds_it_if_the_card_says_so(letter, xs):
    patient = EVERYBODY[letter]
    assert examine(patient.engine, ordinary, *xs).passed != patient.caught
    assert patient.check.startswith("It fails" if patient.caught else "It passes")


@EACH
def test_mended_it_passes(letter):
    engine = mended(EVERYBODY[letter].engine)
    assert wrong(engine) == {}
    assert all(examine(engine, ordinary, *xs).passed for xs in ORDINARY)


def test_each_examination_but_the_ordinary_one_is_failed_by_somebody():
    failed = {name for patient in PATIENTS.values() for name in patient.shows}
    assert failed == EXAMINATIONS.keys() - {"sum"}


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
    """As published: its power sends nothing to the exponent, and whatever has nothing is given 1. Right is 5.545."""
    def power(self, other):
        z = Scalar.__pow__(self, other)
        both = z.rule
        z.rule = lambda g: (both(g)[0], None)
        return z

    engine = type("Talk", (PATIENTS["A"].engine,), {"__pow__": power})
    x, c = engine(2.0), engine(3.0)
    (x ** (c * engine(1.0))).backward()
    assert (x.grad, c.grad) == (12, 1)
    assert examine(Scalar, lambda c: Scalar(2.0) ** (c * Scalar(1.0)), 3.0).rows[0][1] == pytest.approx(8 * math.log(2))


def test_002_a_nan_is_hushed_only_further_in():
    x = PATIENTS["C"].engine(2.0)
    (PATIENTS["C"].engine(-3.0) ** x).backward()
    assert math.isnan(x.grad), "as published, it is what arrives at a value that is turned into 0"


def test_003_the_loss_that_falls_below_0():
    y_hat, y = PATIENTS["F"].engine(-1.0), PATIENTS["F"].engine(1.0)
    L = y_hat.half_squared_error(y)
    L.backward()
    assert (L.data, y_hat.grad) == (-1, 0.5)


# --- The one without a card

def test_unknown_has_one_defect_and_no_card():
    assert own_methods(Unknown) == ["order"] and Unknown not in [patient.engine for patient in EVERYBODY.values()]
    assert wrong(mended(Unknown)) == {} and all(examine(mended(Unknown), ordinary, *xs).passed for xs in ORDINARY)


@pytest.mark.parametrize("f, good, bad", [
    (lambda x, y: x * y, (2.0, 3.0), (3.0, 3.0)), (lambda x, y: x + y, (2.0, 3.0), (2.0, 0.0)),
    (lambda x, y: x.relu() * y, (-2.0, 3.0), (2.0, 3.0)), (lambda x, y: x * y, (2.0, -1.5), (2.0, 1.0))])
def test_unknown_is_wrong_where_two_values_have_one_number(f, good, bad):
    assert examine(Unknown, f, *good).passed and not examine(Unknown, f, *bad).passed
    assert examine(mended(Unknown), f, *bad).passed


def test_unknown_looks_like_patient_c_on_the_sheet():
    assert wrong(Unknown) == {"none": 0.0} == PATIENTS["C"].shows


# --- The check

def test_a_report_says_what_it_found():
    assert str(examine(SQUARED.engine, lambda x: x.tanh(), 0.5)) == (
        "x: the engine says 0.2135523, measured 0.7864477   ✗\nthe check fails")
    assert str(examine(Scalar, lambda x, y: x * y, 2.0, 3.0)) == (
        "x: the engine says 3, measured 3\ny: the engine says 2, measured 2\nthe check passes")


def test_clinic_and_designs_need_no_widgets():
    code = ("import sys, autograd_course.lessons.lesson_07.clinic, autograd_course.lessons.lesson_07.designs; "
            "print([m for m in ('ipywidgets', 'matplotlib', 'IPython') if m in sys.modules])")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
