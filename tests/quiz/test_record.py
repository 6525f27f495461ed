"""The progress file is updated entry by entry, is never half written, and may be missing."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograd_course import grading as exercises
from autograd_course import progress, record
from autograd_course.quiz import texts
from autograd_course.quiz.texts import Question

REAL = exercises.EXERCISES
EMPTY = {"exercises": []} | {
    part: {} for part in ("predictions", "cards", "lines", "reasons", "gym", "tries")
}
AT_ONCE = {"wrong": {}, "last": 0}


def right(*names):
    """Return the record of a learner whose first answers were right."""
    return EMPTY | {"exercises": [*names], "tries": dict.fromkeys(names, AT_ONCE)}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Make a folder with two notebooks the current directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(record, "FILE", Path("progress.json"))
    monkeypatch.setattr(record, "unkept", [])
    monkeypatch.setattr(exercises, "registered", dict)
    monkeypatch.setattr(
        exercises, "EXERCISES", dict.fromkeys(["01.central", "01.kink", "02.routes"])
    )
    monkeypatch.setattr(
        texts, "PREDICTIONS", dict.fromkeys(["01.mean", "01.bet", "02.both"], Question("?"))
    )
    for name in ["01_measure_a_slope.ipynb", "02_draw_the_graph.ipynb"]:
        (tmp_path / name).touch()
    return tmp_path


def names(folder):
    return sorted(path.name for path in folder.glob("*.json"))


def test_the_record_is_read_back(folder):
    record.solved("01.kink")
    record.predicted("01.mean", ["6"], "certain", False)
    record.card("01", ["a line", "another"])
    record.derived("03.divide", [["1/y", False], ["-z/y", True]])
    record.reasoned("03.divide", "the product rule")
    record.reasoned("03.divide", "the quotient rule")
    made = {"answer": ["6"], "sure": "certain", "right": False, "recalled": False, "missed": 1}
    assert record.read() == {
        "exercises": ["01.kink"],
        "predictions": {"01.mean": made},
        "cards": {"01": ["a line", "another"]},
        "lines": {"03.divide": [["1/y", False], ["-z/y", True]]},
        "reasons": {"03.divide": "the product rule"},
        "gym": {},
        "tries": {"01.kink": AT_ONCE},
    }
    record.card("01", [])
    assert record.read()["cards"] == {} and names(folder) == ["progress.json"]


def test_the_first_prediction_counts():
    record.predicted("01.mean", ["6"], "certain", False)
    record.predicted("01.mean", ["5"], "guessing", True)
    assert record.read()["predictions"]["01.mean"]["answer"] == ["6"] and record.returning() == [
        "01.mean"
    ]


@pytest.mark.parametrize(
    "sure, right, returns",
    [
        ("certain", False, True),
        ("certain", True, False),
        ("fairly sure", False, False),
        ("guessing", False, False),
        (None, False, False),
    ],
)
def test_only_the_certain_and_wrong_returns_until_recalled(sure, right, returns):
    record.predicted("01.mean", ["6"], sure, right)
    assert record.returning() == ["01.mean"] * returns
    record.recalled("01.mean", False)
    assert record.returning() == ["01.mean"] * returns
    record.recalled("01.mean", True)
    assert record.returning() == []


def test_the_most_often_missed_comes_first_then_the_oldest():
    for name in ["01.mean", "01.bet", "02.both"]:
        record.predicted(name, ["6"], "certain", False)
    assert record.returning() == ["01.mean", "01.bet", "02.both"]
    record.recalled("02.both", False)
    assert record.returning() == ["02.both", "01.mean", "01.bet"]


def test_a_record_without_counts_of_misses_is_read(folder):
    record.predicted("01.mean", ["6"], "certain", False)
    text = (folder / "progress.json").read_text(encoding="utf-8")
    (folder / "progress.json").write_text(text.replace(',\n   "missed": 1', ""), encoding="utf-8")
    assert "missed" not in (folder / "progress.json").read_text(encoding="utf-8")
    record.recalled("01.mean", False)
    assert record.read()["predictions"]["01.mean"]["missed"] == 2 and names(folder) == [
        "progress.json"
    ]


def test_wrong_answers_are_counted_by_their_hint_until_the_exercise_is_solved(folder):
    for hint, verdict in [
        ("a", "1"),
        ("a", "1"),
        ("a", "2"),
        ("", "3"),
        ("a", "1"),
        ("", "half \ud83d of it"),
    ]:
        record.missed("01.kink", hint, verdict)
    wrong = {"a": 3, "": 2}  # the second answer was the first, run again
    assert record.read()["tries"]["01.kink"]["wrong"] == wrong and record.read()["exercises"] == []
    record.solved("01.kink")
    record.missed("01.kink", "b", "4")
    assert record.read()["tries"]["01.kink"]["wrong"] == wrong


def test_cells_run_again_are_no_further_try():
    record.missed("01.kink", "a", "cell [7], line 2: f(1)\n<C object at 0x7f00aa>")
    first = record.read()
    record.missed("01.kink", "a", "cell [19], line 2: f(1)\n<C object at 0x60cc1b>")
    assert record.read() == first
    record.missed("01.kink", "a", "cell [19], line 3: f(1)\n<C object at 0x60cc1b>")
    assert record.read()["tries"]["01.kink"]["wrong"] == {"a": 2}


def test_a_record_without_tries_is_read_and_stays_unknown(folder):
    (folder / "progress.json").write_text(
        '{"exercises": ["01.kink"], "predictions": {}, "cards": {}}'
    )
    record.solved("01.kink")
    record.missed("01.kink", "a", "1")
    assert record.read() == EMPTY | {"exercises": ["01.kink"]} and names(folder) == [
        "progress.json"
    ]
    record.solved("01.central")
    assert record.read()["tries"] == {"01.central": AT_ONCE}


def test_reading_the_record_writes_nothing(folder):
    record.read()
    record.recalled("01.mean", True)
    record.card("01", [])
    str(progress())
    assert names(folder) == []


def test_an_unchanged_record_is_not_written_again(monkeypatch):
    record.solved("01.kink")
    monkeypatch.setattr(record.os, "replace", None)
    record.solved("01.kink")
    assert record.read()["exercises"] == ["01.kink"]


def test_notebooks_open_at_once_lose_nothing(folder):
    add = "import sys; from autograd_course import record; [record.solved(f'{sys.argv[1]}.{i}') for i in range(40)]"
    kernels = [subprocess.Popen([sys.executable, "-c", add, name]) for name in "abc"]
    assert [kernel.wait() for kernel in kernels] == [0, 0, 0]
    assert sorted(record.read()["exercises"]) == sorted(
        f"{name}.{i}" for name in "abc" for i in range(40)
    )
    assert names(folder) == ["progress.json"]


def test_writers_take_turns(folder, monkeypatch):
    (folder / "progress.new.json").write_text(
        '{"exercises": ["theirs"]}'
    )  # another notebook has almost finished
    monkeypatch.setattr(
        record.time,
        "sleep",
        lambda seconds: (folder / "progress.new.json").replace("progress.json"),
    )
    record.solved("mine")
    assert record.read()["exercises"] == ["theirs", "mine"] and names(folder) == ["progress.json"]


def test_a_kernel_killed_while_writing_blocks_no_other(folder, monkeypatch):
    monkeypatch.setattr(record.time, "sleep", lambda seconds: None)
    (folder / "progress.new.json").write_text('{"exercises": ["half')
    record.solved("01.kink")
    assert record.read()["exercises"] == ["01.kink"] and names(folder) == ["progress.json"]


def test_an_interrupted_write_leaves_the_old_file(folder, monkeypatch):
    record.solved("01.kink")

    def full(*args):
        raise OSError("no space left on device")

    monkeypatch.setattr(record.os, "replace", full)
    record.solved("01.central")
    assert record.read()["exercises"] == ["01.kink"] and names(folder) == ["progress.json"]
    assert "cannot be written" in str(progress())


def test_a_folder_that_cannot_be_written_is_said_and_no_more(folder, monkeypatch):
    monkeypatch.setattr(record, "FILE", folder / "not there" / "progress.json")
    record.solved("01.kink")
    assert record.read() == EMPTY
    assert "Nothing has been recorded yet" in str(progress()) and "cannot be written to" in str(
        progress()
    )
    monkeypatch.setattr(record, "FILE", folder / "progress.json")
    record.solved("01.kink")
    assert "cannot be written" not in str(progress())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"exercises": 3}',
        '{"predictions": {"01.mean": {"sure": "certain"}}}',
        '{"predictions": {"01.mean": null}}',
        '{"predictions": []}',
        '{"cards": {"01": 3}}',
        '{"tries": {"01.kink": 3}}',
        '{"tries": {"01.kink": {"wrong": {"a": "b"}, "last": 0}}}',
        "\xff",
        "[" * 100_000 + "]" * 100_000,
        '{"predictions": {"01.mean": {"answer": [], "sure": null, "right": true, "recalled": true, '
        '"missed": 1e999}}}',
    ],
    ids=lambda text: text[:20],
)
def test_a_damaged_file_is_set_aside(folder, text):
    (folder / "progress.json").write_bytes(text.encode("latin-1"))
    record.solved("01.kink")
    assert record.read() == right("01.kink")
    assert (folder / "progress.damaged.json").read_bytes() == text.encode("latin-1")
    assert "progress.damaged.json" in str(progress()) and "progress.damaged.json" in progress().html


def test_a_record_that_cannot_be_read_is_left_as_it_is_and_catches_up(folder, monkeypatch):
    record.solved("01.kink")
    before = (folder / "progress.json").read_bytes()
    with monkeypatch.context() as patch:

        def locked(*args, **options):
            raise PermissionError("another program holds it")

        patch.setattr(record.time, "sleep", lambda seconds: None)
        patch.setattr(Path, "read_text", locked)
        record.solved("01.central")
        record.card("01", ["mine"])
        assert (
            record.read() == EMPTY
            and "cannot be read now" in str(progress())
            and "not kept yet" in str(progress())
        )
    assert (folder / "progress.json").read_bytes() == before and names(folder) == ["progress.json"]
    record.solved("02.routes")
    assert record.read() == right("01.kink", "01.central", "02.routes") | {
        "cards": {"01": ["mine"]}
    }
    assert record.unkept == [] and "cannot" not in str(progress())


def test_a_read_only_mount_is_no_traceback(folder, monkeypatch):
    def read_only(*args, **options):
        raise OSError(30, "Read-only file system")

    for name in ("open", "unlink", "replace"):
        monkeypatch.setattr(
            record.os if name == "replace" else Path if name == "unlink" else record,
            name,
            read_only,
            raising=False,
        )
    record.solved("01.kink")
    assert len(record.unkept) == 1 and record.read() == EMPTY


@pytest.mark.parametrize("name", ["progress.json", "progress.new.json", "progress.damaged.json"])
def test_a_folder_in_the_way(folder, monkeypatch, name):
    monkeypatch.setattr(record.time, "sleep", lambda seconds: None)
    (folder / name).mkdir()
    if name == "progress.damaged.json":
        (folder / "progress.json").write_text("{")
    record.solved("01.kink")
    assert (
        len(record.unkept) == 1 and (folder / name).is_dir() and "not kept yet" in str(progress())
    )
    (folder / name).rmdir()
    record.solved("01.kink")
    assert record.read()["exercises"] == ["01.kink"] and record.unkept == []


def test_an_unpaired_surrogate_is_recorded(folder):
    record.card("01", ["half \ud83d of it"])
    assert record.read()["cards"] == {"01": ["half ? of it"]} and record.unkept == []


def test_a_slow_writer_keeps_its_turn(folder, monkeypatch):
    new, waited = folder / "progress.new.json", []

    def slowly(seconds):  # another kernel writes a large record for 30 seconds
        waited.append(seconds)
        with open(new, "a") as file:
            file.write(" ")
        if len(waited) == 1500:
            new.write_text('{"exercises": ["theirs"]}')
            new.replace(folder / "progress.json")

    new.write_text("")
    monkeypatch.setattr(record.time, "sleep", slowly)
    record.solved("mine")
    assert record.read()["exercises"] == ["theirs", "mine"]


def test_progress_without_a_file():
    assert str(progress()).startswith("Nothing has been recorded yet") and "exercises" not in str(
        progress()
    )


def test_progress_by_lesson(folder):
    record.solved("01.kink")
    record.solved("07.from_a_lesson_that_was_renamed")
    record.predicted("01.mean", ["6"], "certain", False)
    record.predicted("01.bet", ["<b>"], "certain", True)
    record.predicted("02.both", ["3"], "guessing", True)
    picture = progress()
    assert str(picture).splitlines() == [
        "01 Measure a slope: exercises 1 of 2, predictions 1 right of 2",
        "02 Draw the graph: exercises 0 of 1, predictions 1 right of 1",
        "How sure you were, and how often you were right: guessing: 1 of 1 right, certain: 1 of 2 right",
        "Certain but wrong: 01.mean. You will be asked these questions again at the start of a later lesson.",
        "Kept in progress.json, in this folder. Delete the file to start over: every lesson runs without it.",
    ]
    assert "●○</span> 1 of 2" in picture.html and picture.html.count("<tr") == 6
    (folder / "progress.json").unlink()
    assert str(progress()).startswith("Nothing has been recorded yet")


def test_the_file_can_be_read_by_people(folder):
    record.card("02", ["∂ is round"])
    assert "∂ is round" in (folder / "progress.json").read_text(encoding="utf-8")
    assert json.loads((folder / "progress.json").read_text(encoding="utf-8"))["cards"] == {
        "02": ["∂ is round"]
    }


def test_a_check_is_recorded_right_or_wrong_and_nothing_before_an_answer(monkeypatch):
    monkeypatch.setattr(exercises, "EXERCISES", REAL)
    for answer in [..., None]:
        exercises.check("00.value", answer)
    exercises.check("00.no_such_exercise", 5)
    assert record.read() == EMPTY
    hint = dict(exercises.check("03.square", 9).rows)["hint"]
    for answer in [9, 5.17]:
        exercises.check("03.square", answer)
    assert (
        record.read()["tries"]["03.square"]["wrong"] == {hint: 1, "": 1}
        and record.read()["exercises"] == []
    )


def test_answers_right_at_the_first_try(monkeypatch):
    monkeypatch.setattr(exercises, "EXERCISES", REAL)
    exercises.check("00.value", 14)
    assert record.read() == right("00.value")


def test_lessons_without_an_answer_are_folded(folder):
    record.solved("01.kink")
    before, _, folded = progress().html.partition("<details")
    lessons = re.findall(r"^(\d\d) .*exercises", str(progress()), re.MULTILINE)
    assert "01" in lessons and len(lessons) > 1, "the text has all lessons"
    assert before.count("</tr>") == 1 + 1 and ">01 " in before
    assert folded.count("</tr>") == len(lessons) - 1 + 1 and ">01 " not in folded
