"""Tell right predictions in lesson 12 from answers that show the misconception."""

import pytest

from autograd_course.grading import registered
from autograd_course.quiz.questions import right
from autograd_course.quiz.texts import PREDICTIONS

registered()


@pytest.mark.parametrize("more", [0, 2])
def test_the_best_of_a_hundred_scores_lower_on_other_scans(more):
    """An equal or a higher second answer means that the choice by the score has no effect."""
    for tenths in range(301):
        typed = [f"{tenths / 10:g}", f"{tenths / 10 + more:g}"]
        assert not right(PREDICTIONS["12.best"], typed), typed


@pytest.mark.parametrize("typed", [("16", "10"), ("15", "10"), ("14", "9"), ("18 %", "11 %")])
def test_a_higher_score_of_the_best_is_right(typed):
    assert right(PREDICTIONS["12.best"], list(typed))
