"""Lesson 06 uses the learner's engine from lesson 05 where it is right, with the same source as
in the notebook.
"""

import ast
import inspect
import json
from itertools import count

import answer_cases
import numpy as np
import pytest
from lesson_cells import sources

import autograd_lib as ag
from autograd_course import sync_notebooks
from autograd_course.grading import EXERCISES, check, registered, rule_checks
from autograd_course.lessons.lesson_05 import engine
from autograd_course.lessons.lesson_05 import exercises as lesson_05

NAME = "05_walk_backward.ipynb"
registered()


def saved(folder, **answers):
    """Save lesson 05 in a folder, with these answers in its stub cells."""
    notebook = sync_notebooks.read(sync_notebooks.NOTEBOOKS / NAME)
    for one in notebook["cells"]:
        if (name := one["id"].removesuffix("-stub")) in answers:
            one["source"] = answers[name].splitlines(keepends=True)
    (folder / NAME).write_text(json.dumps(notebook), encoding="utf-8")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("__add__", "__radd__", "__mul__", "__rmul__", "__sub__"):
        monkeypatch.delattr(engine.Value, name, raising=False)
    return tmp_path


def gradient(Value, backward):
    a = Value(3.0)
    backward(2 * a * (a * 2 + 1 - 0) - a)
    return a.grad


def test_a_walk_that_asks_every_user_is_right_and_told_that_it_is_slow():
    slow = EXERCISES["05.backward"].answer(answer_cases.right_answers("05.backward")[-1])
    verdict = check("05.backward", slow)
    assert verdict.status == "right" and dict(verdict.rows)["but"] == rule_checks.SLOW


def test_a_search_in_a_list_is_right_and_called_slow_and_a_set_is_not():
    in_a_list = """
def order(output):
    found = [output]
    for value in found:
        for x in value.inputs:
            if x not in found:
                found.append(x)
    return sorted(found, key=lambda value: value.number, reverse=True)"""
    exercise = EXERCISES["05.order"]
    slow, fast = (
        check("05.order", exercise.answer(code)) for code in (in_a_list, exercise.solution)
    )
    assert slow.status == fast.status == "right"
    assert dict(slow.rows)["but"] == lesson_05.QUADRATIC and "but" not in dict(fast.rows)


def test_a_ledger_that_keeps_its_entries_is_right_with_a_remark():
    exercise = EXERCISES["05.backward"]
    pop = "ledger.pop(value)"
    for code, kept in [
        (exercise.solution, False),
        (exercise.solution.replace(pop, "ledger.get(value, 0.0)"), True),
        (exercise.solution.replace(pop, "ledger[value]"), True),
        (exercise.solution.replace(pop, "ledger[value]\n        del ledger[value]"), False),
    ]:
        verdict = check("05.backward", exercise.answer(code))
        assert verdict.status == "right"
        assert (dict(verdict.rows).get("note") == lesson_05.LEFT_IN) == kept
        assert "but" not in dict(verdict.rows), "the lesson goes on with the learner's answer"


def test_the_engine_has_about_thirty_lines():
    given = [engine.Value, engine.add]
    lines = [len(inspect.getsource(one).strip().splitlines()) for one in given]
    lines += [len(SOLVED[name].strip().splitlines()) for name in SOLVED]
    assert 25 <= sum(lines) <= 35


@pytest.mark.parametrize("values", [500, 5000, 50_000])
def test_sorting_needs_about_log_n_comparisons_for_each_value(values):
    class Number(int):
        comparisons = 0

        def __lt__(self, other):
            Number.comparisons += 1
            return int(self) < int(other)

    rng, found = np.random.default_rng(0), [engine.Value(1.0)]
    for _ in range(values):  # of two earlier Values each, so that they are not found in order
        found.append(engine.add(*(found[i] for i in rng.integers(len(found), size=2))))
    output = engine.add(found[-1], found[-2])
    for i in rng.permutation(len(found))[: values // 2]:
        output = engine.add(output, found[i])
    stack, seen = [output], {output}
    while stack:
        fresh = set(stack.pop().inputs) - seen
        seen |= fresh
        stack += fresh
    for value in seen:
        value.number = Number(value.number)
    scope = {}
    exec(SOLVED["order"], scope)
    scope["order"](output)
    each = Number.comparisons / len(seen)
    assert 0.6 < each / np.log2(len(seen)) < 1.1


SOLVED = {name: EXERCISES[f"05.{name}"].solution for name in ("multiply", "order", "backward")}


def test_it_is_the_engine_of_the_notebook():
    cells = sources("05")
    for where, parts in [("value", [engine.Value, engine.add]), ("operation", [engine.operation])]:
        for part in parts:
            ours = ast.dump(ast.parse(inspect.getsource(part)).body[0])
            assert ours in map(ast.dump, ast.parse(cells[where]).body)
    assert "clock = count(1)" in cells["value"] and isinstance(engine.clock, count)


def test_without_the_notebook_and_with_stubs_ours_is_taken(here, capsys):
    for prepare in (
        lambda: None,
        lambda: saved(here),
        lambda: saved(here, order="def order(output:"),
    ):
        prepare()
        Value, backward, operation = engine.from_lesson_05()
        assert (
            gradient(Value, backward) == 25
            and capsys.readouterr().out.count("the course uses its own") == 3
        )
    assert not (here / "progress.json").exists()


def test_the_learners_own_code_runs(here, capsys):
    marked = SOLVED | {
        "backward": SOLVED["backward"] + "\n    output.walked = True",
        "order": SOLVED["order"] + "  # mine",
    }
    saved(here, **marked)
    Value, backward, operation = engine.from_lesson_05()
    assert (
        gradient(Value, backward) == 25
        and capsys.readouterr().out.count("the course uses your") == 3
    )
    L = Value(1.0) * 2
    backward(L)
    assert L.walked and L.inputs[0].grad == 2


def test_one_wrong_piece_is_replaced_alone(here, capsys):
    saved(here, **SOLVED | {"order": "def order(output):\n    return [output]"})
    Value, backward, _ = engine.from_lesson_05()
    said = capsys.readouterr().out.splitlines()
    assert [line for line in said if "its own" in line] == [
        "order: not right yet. From now on the course uses its own version."
    ]
    assert gradient(Value, backward) == 25


def test_operations_of_the_table_and_a_minus():
    Value, backward, operation = engine.from_lesson_05()
    x = Value(0.5)
    backward(1 - (operation(ag.tanh)(x) - 1))
    assert np.isclose(x.grad, np.tanh(0.5) ** 2 - 1)


def test_the_published_rule_can_be_corrected_after_the_stepper_has_run(capsys):
    cells = sources("05")
    corrected = cells["published"].replace("(z ** 2,)", "(1 - z ** 2,)")
    names = {}
    for code in [
        *(cells["imports"], cells["value"], *SOLVED.values()),
        "Value.__add__, Value.__mul__ = add, multiply",
        *(cells[name] for name in ("subtract-tanh", "neuron-code", "published", "published-run")),
        *(cells["own"], corrected, cells["published-run"]),
    ]:
        exec(code, names)
    *_, published, again = capsys.readouterr().out.splitlines()
    assert published.startswith("-0.066862, 13.2 times")
    assert again.startswith("-0.005083, 1.0 times")
