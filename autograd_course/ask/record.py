"""What the learner has got right so far: `progress.json` beside the notebook. Deleting it loses nothing else.

Written only when the learner does something: a check that says right, a prediction revealed, a card written. Each event waits its turn,
reads the file anew and replaces it in one step, so that two open notebooks do not lose each other's entries. Nothing here ever raises:
in a folder that cannot be written nothing is kept, and `progress()`, in report.py, says so.
"""
import json
import os
import time
from pathlib import Path

FILE = Path("progress.json")      # in the kernel's folder, which is the notebook's
SURE = ["guessing", "fairly sure", "certain"]

unkept = []      # events that could not be written


def read():
    """{"exercises": [name, …], "predictions": {name: {"answer", "sure", "right", "recalled", "missed"}}, "cards": {lesson: [line, …]}}

    A file that is none of ours is set aside as progress.damaged.json, and the record starts anew.
    """
    try:
        return _sound(FILE.read_text(encoding="utf-8"))
    except OSError:
        pass
    except (ValueError, KeyError, TypeError, AttributeError):
        try:
            os.replace(FILE, damaged())
        except OSError:
            pass
    return {"exercises": [], "predictions": {}, "cards": {}}


def damaged():
    return FILE.with_name("progress.damaged.json")


def _sound(text):
    """The record in a file's text; raises if it is not one."""
    found = json.loads(text)
    return {
        "exercises": [str(name) for name in found.get("exercises", [])],
        "predictions": {name: {"answer": [str(part) for part in made["answer"]], "sure": made["sure"],
                               "right": bool(made["right"]), "recalled": bool(made["recalled"]),
                               "missed": int(made.get("missed", not made["right"]))}      # files of the first months have none
                        for name, made in found.get("predictions", {}).items()},
        "cards": {lesson: [str(line) for line in lines] for lesson, lines in found.get("cards", {}).items()},
    }


def solved(name):
    """The check of exercise `name` said right."""
    _change(lambda record: record["exercises"].append(name) if name not in record["exercises"] else None)


def predicted(name, answer, sure, right):
    """A prediction was revealed: `answer` as typed, one text a part; `sure` from SURE or None. The first answer counts."""
    _change(lambda record: record["predictions"].setdefault(
        name, {"answer": list(answer), "sure": sure, "right": right, "recalled": False, "missed": int(not right)}))


def recalled(name, right):
    """A prediction that was wrong and certain was answered again at the opening of a later lesson."""
    def mark(record):
        if name in record["predictions"]:
            made = record["predictions"][name]
            made["recalled"], made["missed"] = right, made["missed"] + (not right)
    _change(mark)


def written(lesson, lines):
    """The learner's own card of a lesson; no lines, no card."""
    _change(lambda record: record["cards"].update({lesson: list(lines)}) if lines else record["cards"].pop(lesson, None))


def _change(event):
    if _after(event) == read():
        return
    new = FILE.with_name("progress.new.json")      # whoever makes it has the turn, and gives it on by moving it to FILE
    try:
        for _ in range(100):
            try:
                file = open(new, "x", encoding="utf-8")
                break
            except FileExistsError:
                time.sleep(0.02)
        else:
            file = open(new, "w", encoding="utf-8")      # left there by a kernel that was killed
        with file:
            json.dump(_after(event), file, indent=1, ensure_ascii=False)
        os.replace(new, FILE)
        unkept.clear()
    except OSError:
        new.unlink(missing_ok=True)
        unkept.append(event)


def _after(event):
    record = read()
    event(record)
    return record


def returning():
    """The names of the predictions that were wrong and certain, and not answered right since: the most often missed, then the latest."""
    made = read()["predictions"]
    names = [name for name, one in made.items() if one["sure"] == "certain" and not one["right"] and not one["recalled"]]
    return sorted(names, key=lambda name: (made[name]["missed"], name[:2]), reverse=True)


def lessons():
    """{"02": "02 Draw the graph", …}: the notebooks in this folder."""
    files = sorted(FILE.parent.glob("[0-9][0-9]_*.ipynb"))
    return {file.stem[:2]: f"{file.stem[:2]} {file.stem[3:].replace('_', ' ').capitalize()}" for file in files}
