"""Write a lesson as an assignment for nbgrader: `make nbgrader ARGS="03 FOLDER"`.

FOLDER is the course folder of nbgrader, and the result is nbgrader's source version of the
assignment. Each exercise that is not optional is worth one point. Its stub is an autograded answer,
with the solution in a region that nbgrader removes. A hidden test below its check runs the same
check again. This module works without the package nbgrader, which the extra `nbgrader` in
pyproject.toml installs.
"""

import sys
from pathlib import Path

from ..grading import EXERCISES, registered
from ..grading.answers import defined
from ..sync_notebooks import NOTEBOOKS, PARTS, hints, read, source, stem, write

CONFIG = """c = get_config()
c.CourseDirectory.course_id = "autograd"
c.ClearSolutions.code_stub = {"python": ""}      # what learners fill in is the stub with its ..., and nothing more
c.Execute.timeout = 300                          # seconds a cell
"""
TEST = """# After submission, the course's own check runs here.
### BEGIN HIDDEN TESTS
from autograd_course.grading import check as _asked
_verdict = _asked("{name}", {answer})
assert _verdict.status == "right", _verdict
### END HIDDEN TESTS"""


def source_version(cells, lesson):
    """Return new cells for nbgrader's source version of a lesson, made from the lesson's cells.

    Parameters
    ----------
    cells : list of dict
        The cells of the lesson's notebook. They are not changed.
    lesson : str
        The number of the lesson, such as "03".

    Returns
    -------
    list of dict
        The new cells, including a hidden test for each exercise that is not optional.
    """
    graded = {
        stem(name): one
        for name, one in EXERCISES.items()
        if name[:2] == lesson and one.difficulty != "optional"
    }
    made = []
    for one in cells:
        base, _, part = one["id"].rpartition("-")
        exercise = graded.get(base) if part in PARTS else None
        if exercise and part == "stub":
            text = f"{exercise.stub}\n### BEGIN SOLUTION\n{exercise.solution}\n### END SOLUTION"
            one = _cell(one, text, exercise, grade=False, solution=True, locked=False)
        elif exercise and part == "hints":
            without = hints(exercise).rpartition("<details><summary>Solution")[0].rstrip()
            text = source(one).replace(hints(exercise), without)
            one = one | {"source": text.splitlines(keepends=True)}
        made.append(one)
        if exercise and part == "check":
            test = TEST.format(name=exercise.name, answer=defined(exercise.stub))
            asked = one | {"id": f"{base}-points"}
            made.append(
                _cell(asked, test, exercise, grade=True, solution=False, locked=True, points=1)
            )
    return made


def _cell(one, text, exercise, **kind):
    """Return a copy of cell `one` with a new text and the metadata that nbgrader needs.

    `kind` holds further entries of this metadata, such as grade=True.
    """
    name = f"{stem(exercise.name)}-{'points' if kind['grade'] else 'answer'}"
    about = {"grade_id": name, "cell_type": "code", "schema_version": 3, "task": False} | kind
    return one | {
        "source": text.splitlines(keepends=True),
        "metadata": one["metadata"] | {"nbgrader": about},
    }


def main(lesson="", folder="", *more):
    """Write the assignment of a lesson, and return 0 or an error message.

    The assignment is the file FOLDER/source/lesson_NN/NN_….ipynb. The file
    FOLDER/nbgrader_config.py is also written if it does not exist yet.

    Parameters
    ----------
    lesson : str
        The number of the lesson, such as "03".
    folder : str
        The course folder of nbgrader.
    *more : str
        Further arguments of the command. They are an error.

    Returns
    -------
    int or str
        0 if the assignment is written, else an error message.
    """
    found = (
        sorted(NOTEBOOKS.glob(f"{lesson}_*.ipynb"))
        if lesson.isdecimal() and len(lesson) == 2
        else []
    )
    if not found or not folder or more:
        return 'Name the lesson and the course folder of nbgrader:  make nbgrader ARGS="03 FOLDER"'
    registered()
    notebook, config = read(found[0]), Path(folder) / "nbgrader_config.py"
    path = Path(folder) / "source" / f"lesson_{lesson}" / found[0].name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, notebook | {"cells": source_version(notebook["cells"], lesson)})
        if not config.exists():
            config.write_text(CONFIG, encoding="utf-8")
    except OSError as error:
        return str(error)
    print(f"{path}\nNext, in {folder}:  nbgrader generate_assignment lesson_{lesson}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
