"""Both wards of the clinic: the correct engines pass, each faulty one fails exactly as its card
says, and passes once it is fixed.
"""

import ast
import subprocess
import sys

import pytest
from wards import PATIENTS, WARDS, own_methods

from autograd_course.lessons.lesson_07.clinic import agree

EACH = pytest.mark.parametrize("name", PATIENTS)
BOTH = pytest.mark.parametrize("lesson", WARDS)


@BOTH
def test_healthy_passes_every_examination(lesson):
    assert WARDS[lesson].wrong(WARDS[lesson].healthy) == {} and all(
        WARDS[lesson].passes(WARDS[lesson].healthy)
    )


@BOTH
def test_each_examination_but_the_plainest_has_a_patient_that_fails(lesson):
    module = WARDS[lesson].module
    assert {
        name for patient in module.PATIENTS.values() for name in patient.shows
    } == module.EXAMINATIONS.keys() - WARDS[lesson].unfailed


@BOTH
def test_unknown_has_one_defect_and_no_card(lesson):
    ward, unknown = WARDS[lesson], WARDS[lesson].module.Unknown
    assert len(own_methods(unknown)) == 1 and unknown not in [
        patient.engine for patient in PATIENTS.values()
    ]
    assert ward.wrong(ward.mended(unknown)) == {} and all(ward.passes(ward.mended(unknown)))


@EACH
def test_each_patient_has_one_short_faulty_method_with_its_own_cause(name):
    patient, ward = PATIENTS[name], WARDS[name[:2]]
    assert own_methods(patient.engine) == [patient.method] and patient.engine.__bases__ == (
        ward.healthy,
    )
    assert len(patient.source.splitlines()) <= ward.longest and patient.source != patient.healthy
    ast.parse(patient.source)
    assert [other.cause for other in PATIENTS.values()].count(patient.cause) == 1


@EACH
def test_a_patient_fails_exactly_as_its_card_says(name):
    patient, ward = PATIENTS[name], WARDS[name[:2]]
    found = ward.wrong(patient.engine)
    assert found.keys() == patient.shows.keys()
    assert all(agree(found[name], value) for name, value in patient.shows.items())


@EACH
def test_an_ordinary_check_finds_it_if_the_card_says_so(name):
    patient = PATIENTS[name]
    assert WARDS[name[:2]].passes(patient.engine) == [not patient.caught] * 3
    assert patient.check.startswith("It fails" if patient.caught else "It passes")


@EACH
def test_a_fixed_patient_passes(name):
    ward = WARDS[name[:2]]
    mended = ward.mended(PATIENTS[name].engine)
    assert ward.wrong(mended) == {} and all(ward.passes(mended))


@pytest.mark.parametrize("module", ["07.clinic", "07.designs", "09.array_ward"])
def test_a_ward_needs_no_widgets(module):
    code = (
        f"import sys, autograd_course.lessons.lesson_{module}; "
        "print([m for m in ('ipywidgets', 'matplotlib', 'IPython') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
