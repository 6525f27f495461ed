"""Every lesson's exercises in their notebook: as it comes each check says "not yet", with the solutions "right"."""
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from autograd_lib.course.exercises import EXERCISES, registered

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

registered()


def read(path):
    """(the notebook, {exercise: (its stub cell, its check cell)})"""
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    exercises = {}
    for stub, cell in zip(code, code[1:]):
        for name in re.findall(r'\bcheck\("([^"]+)"', cell.source):
            exercises[name] = stub, cell
    return notebook, exercises


def solution(name):
    return FOLDER / "solutions" / f"{name.replace('.', '_')}.py"


def verdicts(notebook, exercises):
    """{exercise: the first line of what its check showed} after all cells were run; an error in a cell raises."""
    NotebookClient(notebook, timeout=120, record_timing=False, resources={"metadata": {"path": str(FOLDER)}}).execute()
    return {name: cell.outputs[-1]["data"]["text/plain"].splitlines()[0] for name, (_, cell) in exercises.items()}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_exercise_has_a_check_a_stub_and_a_solution(path):
    _, exercises = read(path)
    assert sorted(exercises) == sorted(name for name in EXERCISES if name[:2] == path.stem[:2])
    for name, (stub, _) in exercises.items():
        assert "..." in stub.source and "check(" not in stub.source, f"the cell before check({name!r}) is no stub"
        assert solution(name).exists()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_untouched_notebook_says_not_yet(path):
    notebook, exercises = read(path)
    assert verdicts(notebook, exercises) == dict.fromkeys(exercises, "not yet")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_solutions_are_right(path):
    notebook, exercises = read(path)
    for name, (stub, _) in exercises.items():
        stub.source = solution(name).read_text(encoding="utf-8")
    assert verdicts(notebook, exercises) == dict.fromkeys(exercises, "right")


def test_no_solution_without_its_exercise():
    assert {path.name for path in FOLDER.glob("solutions/*")} == {solution(name).name for name in EXERCISES}
