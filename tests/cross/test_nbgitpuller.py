"""nbgitpuller pulls corrected lessons into a learner's folder: what is kept, what is updated,
and where the learner's old version goes.
"""

import json
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest

pull = pytest.importorskip(
    "nbgitpuller.pull",
    reason="nbgitpuller is not installed: pulling a corrected lesson is not tested",
)
ROOT = Path(__file__).parents[2]
LESSON = "notebooks/03_derive_the_arithmetic.ipynb"
MINE, PROGRESS = "gradient_of_x = 3 + 3      # mine", '{"exercises": ["03.square"]}'


def git(folder, *arguments):
    command = ["git", "-c", "user.name=teacher", "-c", "user.email=teacher@localhost", *arguments]
    return subprocess.run(
        command, cwd=folder, check=True, capture_output=True, text=True, encoding="utf-8"
    ).stdout


class Class:
    """Set up a teacher's repository, and a learner's folder that nbgitpuller fills from it."""

    def __init__(self, folder):
        self.teacher, self.learner = folder / "teacher", folder / "learner"
        (self.teacher / "notebooks").mkdir(parents=True)
        shutil.copy(ROOT / ".gitignore", self.teacher)
        shutil.copy(ROOT / LESSON, self.teacher / LESSON)
        git(self.teacher, "init", "-q", "-b", "main")
        self.publish()
        self.pull()

    def publish(self):
        git(self.teacher, "add", "-A")
        git(self.teacher, "commit", "-qm", "mended")

    def pull(self):
        list(pull.GitPuller(self.teacher.as_uri(), str(self.learner), branch="main").pull())

    def work(self):
        """Run all cells, answer one exercise, add a cell, and save, as a learner does in
        JupyterLab.
        """
        lesson = nbformat.read(self.learner / LESSON, as_version=4)
        lesson.cells.insert(20, nbformat.v4.new_code_cell("1 + 1", id="scratch"))
        for number, one in enumerate(
            (one for one in lesson.cells if one.cell_type == "code"), start=1
        ):
            one.execution_count = number
            one.outputs = [nbformat.v4.new_output("stream", name="stdout", text=f"{number}\n")]
        cell(lesson, "square-stub").source = MINE
        lesson.metadata.kernelspec = {
            "display_name": "Python 3 (ipykernel)",
            "language": "python",
            "name": "python3",
        }
        nbformat.write(lesson, self.learner / LESSON)
        (self.learner / "notebooks/progress.json").write_text(PROGRESS, encoding="utf-8")

    def mend(self, name, text):
        """Write a line above the text of a cell, as the teacher."""
        lesson = json.loads((self.teacher / LESSON).read_text(encoding="utf-8"))
        one = cell(lesson, name)
        one["source"] = [f"{text}\n", *one["source"]]
        self.write(lesson)

    def write(self, lesson):
        written = json.dumps(lesson, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
        (self.teacher / LESSON).write_text(written, encoding="utf-8", newline="\n")

    def says(self, name, text=None):
        """Return the text of a cell of the learner's lesson, or of the notebook `text`."""
        lesson = nbformat.reads(
            text or (self.learner / LESSON).read_text(encoding="utf-8"), as_version=4
        )
        nbformat.validate(lesson)
        return cell(lesson, name).source


def cell(lesson, name):
    return next(one for one in lesson["cells"] if one["id"] == name)


@pytest.fixture
def room(tmp_path):
    room = Class(tmp_path)
    room.work()
    return room


def test_other_cells_are_corrected_and_the_learners_work_stays(room):
    mended = [
        "square-question",
        "divide-question",
        "rectangle",
    ]  # first a cell beside the answer, last a cell that has run
    for name in mended:
        room.mend(name, "# Mended.")
    (room.teacher / "notebooks/04_new.ipynb").write_text("{}")
    room.publish()
    room.pull()
    assert all(room.says(name).startswith("# Mended.\n") for name in mended)
    assert room.says("square-stub") == MINE and room.says("scratch") == "1 + 1"
    assert (room.learner / "notebooks/progress.json").read_text(encoding="utf-8") == PROGRESS
    assert (room.learner / "notebooks/04_new.ipynb").exists()


def test_of_a_cell_that_both_changed_the_learners_stays_and_the_teachers_is_in_a_fresh_copy(room):
    room.mend("square-stub", "# Mended.")
    room.mend("divide-question", "# Mended.")
    room.publish()
    room.pull()
    assert room.says("square-stub") == MINE and room.says("divide-question").startswith("# Mended.")
    room.pull()
    assert room.says("square-stub") == MINE, "nor does it come with a later pull"
    assert room.says("square-stub", git(room.learner, "show", f"origin/main:{LESSON}")).startswith(
        "# Mended."
    )
    mine = room.learner / "notebooks/mine.ipynb"
    (room.learner / LESSON).rename(mine)
    room.pull()
    assert room.says("square-stub").startswith("# Mended.\n"), "a lesson that is renamed comes anew"
    assert room.says("square-stub", mine.read_text(encoding="utf-8")) == MINE


def test_a_removed_cell_stays_if_the_learner_worked_in_it(room):
    lesson = json.loads((room.teacher / LESSON).read_text(encoding="utf-8"))
    lesson["cells"] = [
        one for one in lesson["cells"] if not one["id"].startswith(("square-", "close"))
    ]
    room.write(lesson)
    room.publish()
    room.pull()
    assert room.says("square-stub") == MINE
    with pytest.raises(StopIteration):
        room.says("close")


def test_a_cell_that_the_teacher_moves_comes_twice(room):
    lesson = json.loads((room.teacher / LESSON).read_text(encoding="utf-8"))
    lesson["cells"].insert(
        2, lesson["cells"].pop(lesson["cells"].index(cell(lesson, "square-stub")))
    )
    room.write(lesson)
    room.publish()
    room.pull()
    pulled = json.loads((room.learner / LESSON).read_text(encoding="utf-8"))["cells"]
    stubs = ["".join(one["source"]) for one in pulled if one["id"] == "square-stub"]
    assert len(stubs) == 2 and stubs[0] != MINE and stubs[1] == MINE


def test_what_the_learner_had_before_every_pull_is_kept_in_git(room):
    room.mend("divide-question", "# Mended.")
    room.publish()
    room.pull()
    before = git(
        room.learner, "log", "--format=%H", "--grep", "Automatic commit by nbgitpuller"
    ).split()
    assert len(before) == 1
    kept = git(room.learner, "show", f"{before[0]}:{LESSON}")
    assert room.says("square-stub", kept) == MINE and not room.says(
        "divide-question", kept
    ).startswith("# Mended.")
