"""tests/mutate_exercises.py finds what it should, and each check varies its inputs enough."""

import mutate_exercises
import pytest

from autograd_course.grading import EXERCISES, exercise, expect_call, registered

registered()


@pytest.mark.rotating("autograd_course/grading/", "tests/mutate_exercises.py", every=9)
@pytest.mark.parametrize(
    "name", [name for name in EXERCISES if name != "12.curve"]
)  # this exercise trains for seconds
def test_a_check_tries_all_that_its_arguments_allow_or_says_why_not(name):
    """Inputs must vary in shape (square and not, an axis of length 1, many entries) and in value
    (0, 1, positive, negative, large, ties), unless the exercise says why not.
    """
    assert mutate_exercises.untried(name) == [], (
        "vary it in expect_over, or say in RIGHT_ALL_THE_SAME why it cannot be"
    )


def test_each_reason_belongs_to_an_exercise():
    assert set(mutate_exercises.RIGHT_ALL_THE_SAME) <= set(EXERCISES)


def test_a_slip_and_a_habit_that_pass_are_found(monkeypatch, tmp_path):
    def weak(answer):
        expect_call(answer, 2.0, 2.0, gives=4.0)

    try:
        found = exercise(
            "99.weak",
            minutes=1,
            difficulty="easy",
            importance=3,
            question="?",
            hints=["!"],
            why=".",
            stub="f = ...",
            solution="f = lambda x, y: x * y",
        )(weak)
    finally:
        EXERCISES.pop("99.weak")
    monkeypatch.setitem(EXERCISES, "99.weak", found)
    through = mutate_exercises.holes("99.weak")
    assert "line 1: Mult → Add in x * y" in through and "line 1: y → x" in through
    assert (
        "gives another result where a number is 0" in through
        and "gives its result without its sign" in through
    )
    assert not any(
        "Mult → Div" in said or "where two numbers are equal" in said for said in through
    )
    assert mutate_exercises.untried("99.weak") == [
        "gives another result where a number is 0",
        "gives another result where a number is below 0",
    ]
