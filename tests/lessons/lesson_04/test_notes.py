"""Lesson 04's notes on right answers that have a weakness, and a sentence on a typed line."""

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course import same_line
from autograd_course.derivations import DERIVATIONS
from autograd_course.derivations.judge import judge
from autograd_course.grading import check
from autograd_course.lessons.lesson_04.exercises import RIGHT


def note(name, answer):
    verdict = check(name, answer)
    assert verdict.status == "right"
    return dict(verdict.rows)["note"] if "note" in dict(verdict.rows) else ""


@pytest.mark.parametrize(
    "place, op, product",
    [
        (0, "relu", lambda g, z, x: g * (x > 0)),
        (0, "relu", lambda g, z, x: g * np.heaviside(x, 0.0)),
        (2, "maximum", lambda g, z, x, y: g * (x > y) + g / 2 * (x == y)),
        (3, "where", lambda g, z, c, x, y: g * c),
    ],
)
def test_a_rule_that_multiplies_by_0_gets_a_note(place, op, product):
    said = note("04.switches", (*RIGHT[:place], product, *RIGHT[place + 1 :]))
    assert f"For {op}:" in said and "nan" in said


def test_a_rule_that_chooses_gets_no_note():
    assert note("04.switches", RIGHT) == ""
    chosen = lambda g, z, x, y: np.select([x > y, x == y], [g, g / 2], 0.0)  # noqa: E731
    assert note("04.switches", (*RIGHT[:2], chosen, RIGHT[3])) == ""


def test_all_rules_that_multiply_are_named():
    rules = (lambda g, z, x: g * (x > 0), *RIGHT[1:3], lambda g, z, c, x, y: g * c)
    assert "For relu and where:" in note("04.switches", rules)


def test_a_rule_of_log_that_uses_z_gets_a_note():
    assert "eᶻ is x" in note("04.turn", lambda g, z, x: g / np.exp(z))
    assert "eᶻ is x" in note("04.turn", lambda g, z, x: g * np.exp(-z))
    assert note("04.turn", lambda g, z, x: g / x) == ""


def test_the_comparison_with_the_library_accepts_a_product():
    """The lesson's text says so, because only finite upstream gradients are tried."""
    (line,) = same_line({ag.relu: [lambda g, z, x: g * (x > 0)]}).lines
    assert line.verdict == "different, but correct" and not line.note
    assert np.isnan(np.inf * (-1.0 > 0))


@pytest.mark.parametrize("typed", ["z^2", "z*z", "-z^2"])
def test_a_last_line_of_tanh_with_the_second_term_alone(typed):
    assert "q/q, is 1" in judge(DERIVATIONS["04.tanh"], 3, typed).message
