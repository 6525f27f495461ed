"""Every lesson exports as an nbgrader source version. These tests run without nbgrader;
tests/cross/test_nbgrader.py grades one lesson with it.
"""

import json
import re
from pathlib import Path

import answer_cases
import nbformat
import pytest

from autograd_course.classroom import nbgrader
from autograd_course.grading import EXERCISES, registered
from autograd_course.grading.answers import defined

registered()
LESSONS = sorted(path.stem[:2] for path in nbgrader.NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
REGION = re.compile(r"\n### BEGIN [A-Z ]+\n(.*)\n### END [A-Z ]+", re.DOTALL)


def made(lesson):
    stored = nbgrader.read(next(nbgrader.NOTEBOOKS.glob(f"{lesson}_*.ipynb")))
    return stored["cells"], nbgrader.source_version(stored["cells"], lesson)


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_exercise_is_an_answer_and_a_hidden_test(lesson):
    before, after = made(lesson)
    graded = [
        name
        for name, one in EXERCISES.items()
        if name[:2] == lesson and one.difficulty != "optional"
    ]
    nbformat.validate(
        nbformat.from_dict({"cells": after, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    about = [one["metadata"]["nbgrader"] for one in after if "nbgrader" in one["metadata"]]
    assert sum(one.get("points", 0) for one in about) == len(graded) == len(about) / 2
    assert len({one["grade_id"] for one in about}) == len(about)
    cells = {one["id"]: "".join(one["source"]) for one in after}
    order = [one["id"] for one in after]
    for name in graded:
        base, exercise = nbgrader.stem(name), EXERCISES[name]
        assert REGION.sub("", cells[f"{base}-stub"]) == exercise.stub
        assert REGION.search(cells[f"{base}-stub"])[1] == exercise.solution
        assert order.index(f"{base}-points") == order.index(f"{base}-check") + 1
        assert f'"{name}", {defined(exercise.stub)})' in REGION.search(cells[f"{base}-points"])[1]
        assert (
            "Solution</summary>" not in cells[f"{base}-hints"]
            and "<details>" in cells[f"{base}-hints"]
        )
    known = {one["id"]: one for one in before}
    touched = [one["id"] for one in after if one != known.get(one["id"])]
    assert len(touched) == 3 * len(graded), "stub, hints and the test: nothing else"


@pytest.mark.parametrize("name", ["01.kink", "02.routes", "03.divide"])
def test_a_hidden_test_passes_what_the_check_calls_right_and_nothing_else(name):
    cells, exercise = (
        {one["id"]: "".join(one["source"]) for one in made(name[:2])[1]},
        EXERCISES[name],
    )

    def ask(answer):
        names = dict(zip(exercise.parts, answer if exercise.parts[1:] else [answer]))
        exec(cells[f"{nbgrader.stem(name)}-points"], names)

    ask(exercise.answer(exercise.solution))
    with pytest.raises(AssertionError, match="^not yet"):
        ask(exercise.answer(exercise.stub))
    with pytest.raises(AssertionError, match="^wrong"):
        ask(exercise.run(answer_cases.wrong_answers(name)[0])[0])


def test_the_command_writes_what_nbgrader_looks_for_and_keeps_its_settings(tmp_path, capsys):
    assert (
        nbgrader.main("03", str(tmp_path)) == 0
        and "generate_assignment lesson_03" in capsys.readouterr().out
    )
    written = tmp_path / "source/lesson_03/03_derive_the_arithmetic.ipynb"
    assert json.loads(written.read_text(encoding="utf-8"))["cells"] == made("03")[1]
    settings = tmp_path / "nbgrader_config.py"
    compile(settings.read_text(encoding="utf-8"), "nbgrader_config.py", "exec")
    settings.write_text("# mine")
    assert nbgrader.main("03", str(tmp_path)) == 0 and settings.read_text() == "# mine"


@pytest.mark.parametrize(
    "arguments", [[], ["03"], ["3", "x"], ["99", "x"], ["*", "x"], ["..", "x"], ["03", "x", "y"]]
)
def test_the_command_explains_its_arguments(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert nbgrader.main(*arguments).startswith("Name the lesson") and not [*Path().iterdir()]
