"""nbgrader releases a lesson that `make nbgrader` wrote, and grades a right, a wrong and an
empty submission.
"""

import csv
import json
import os
import subprocess
import sys

import pytest

from autograd_course.classroom import nbgrader as ours
from autograd_course.grading import EXERCISES, registered

pytest.importorskip("nbgrader", reason="nbgrader is not installed: grading with it is not tested")
LESSON, NOTEBOOK = "lesson_02", "02_draw_the_graph.ipynb"


def nbgrader(course, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=course,
        capture_output=True,
        text=True,
        env=os.environ
        | {"PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]},
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_a_right_a_wrong_and_an_untouched_submission(tmp_path):
    registered()
    assert ours.main("02", str(tmp_path)) == 0
    nbgrader(tmp_path, "generate_assignment", LESSON)
    released = (tmp_path / "release" / LESSON / NOTEBOOK).read_text(encoding="utf-8")
    cells = {one["id"]: "".join(one["source"]) for one in json.loads(released)["cells"]}
    graded = {
        name: one
        for name, one in EXERCISES.items()
        if name[:2] == "02" and one.difficulty != "optional"
    }
    for name, one in graded.items():
        base = ours.stem(name)
        assert cells[f"{base}-stub"].strip() == one.stub, "as it always was"
        assert (
            one.solution not in "\n".join(cells.values())
            and "_asked" not in cells[f"{base}-points"]
        )
    right = {f"{ours.stem(name)}-stub": one.solution for name, one in graded.items()}
    wrong = right | {"routes-stub": EXERCISES["02.routes"].stub.replace("...", "17")}
    assert wrong != right
    for who, answers in {"right": right, "wrong": wrong, "untouched": {}}.items():
        handed_in = json.loads(released)
        for one in handed_in["cells"]:
            one["source"] = answers.get(one["id"], one["source"])
        path = tmp_path / "submitted" / who / LESSON / NOTEBOOK
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(handed_in), encoding="utf-8")
    nbgrader(tmp_path, "autograde", LESSON)
    nbgrader(tmp_path, "export")
    with open(tmp_path / "grades.csv", encoding="utf-8", newline="") as file:
        marks = {
            row["student_id"]: (float(row["score"]), float(row["max_score"]))
            for row in csv.DictReader(file)
        }
    every = len(graded)
    assert marks == {"right": (every, every), "wrong": (every - 1, every), "untouched": (0, every)}
