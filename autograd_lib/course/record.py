"""What the learner has got right so far: `progress.json` beside the notebook. Deleting it loses nothing else.

Written only when the learner does something: a check that says right, a prediction revealed, a card written. Each event waits its turn,
reads the file anew and replaces it in one step, so that two open notebooks do not lose each other's entries. Nothing here ever raises:
in a folder that cannot be written nothing is kept, and `progress()` says so.
"""
import json
import os
import time
from html import escape
from pathlib import Path

from . import style
from .picture import Picture

FILE = Path("progress.json")      # in the kernel's folder, which is the notebook's
SURE = ["guessing", "fairly sure", "certain"]

_unkept = []      # events that could not be written


def read():
    """{"exercises": [name, …], "predictions": {name: {"answer", "sure", "right", "recalled"}}, "cards": {lesson: [line, …]}}

    A file that is none of ours is set aside as progress.damaged.json, and the record starts anew.
    """
    try:
        return _sound(FILE.read_text(encoding="utf-8"))
    except OSError:
        pass
    except (ValueError, KeyError, TypeError, AttributeError):
        try:
            os.replace(FILE, _damaged())
        except OSError:
            pass
    return {"exercises": [], "predictions": {}, "cards": {}}


def _damaged():
    return FILE.with_name("progress.damaged.json")


def _sound(text):
    """The record in a file's text; raises if it is not one."""
    found = json.loads(text)
    return {
        "exercises": [str(name) for name in found.get("exercises", [])],
        "predictions": {name: {"answer": [str(part) for part in made["answer"]], "sure": made["sure"],
                               "right": bool(made["right"]), "recalled": bool(made["recalled"])}
                        for name, made in found.get("predictions", {}).items()},
        "cards": {lesson: [str(line) for line in lines] for lesson, lines in found.get("cards", {}).items()},
    }


def solved(name):
    """The check of exercise `name` said right."""
    _change(lambda record: record["exercises"].append(name) if name not in record["exercises"] else None)


def predicted(name, answer, sure, right):
    """A prediction was revealed: `answer` as typed, one text a part; `sure` from SURE or None. The first answer counts."""
    _change(lambda record: record["predictions"].setdefault(
        name, {"answer": list(answer), "sure": sure, "right": right, "recalled": False}))


def recalled(name):
    """A prediction that was wrong and certain was answered right at the opening of a later lesson."""
    def mark(record):
        if name in record["predictions"]:
            record["predictions"][name]["recalled"] = True
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
        _unkept.clear()
    except OSError:
        new.unlink(missing_ok=True)
        _unkept.append(event)


def _after(event):
    record = read()
    event(record)
    return record


def returning():
    """The names of the predictions that were wrong and certain, and not answered right since."""
    return [name for name, made in read()["predictions"].items()
            if made["sure"] == "certain" and not made["right"] and not made["recalled"]]


def lessons():
    """{"02": "02 Draw the graph", …}: the notebooks in this folder."""
    files = sorted(FILE.parent.glob("[0-9][0-9]_*.ipynb"))
    return {file.stem[:2]: f"{file.stem[:2]} {file.stem[3:].replace('_', ' ').capitalize()}" for file in files}


def progress():
    """A Picture of what has been got right so far, lesson by lesson, how right you were when sure, and how to delete it."""
    # imported here alone, for `check` itself imports this module
    from .exercises import EXERCISES, registered
    from .exercises.texts import PREDICTIONS
    registered()
    record, titles = read(), lessons()
    rows = []
    for lesson in sorted({name.partition(".")[0] for name in [*EXERCISES, *PREDICTIONS]}):
        right = sorted((name in record["exercises"] for name in EXERCISES if name.startswith(f"{lesson}.")), reverse=True)
        made = [record["predictions"][name]["right"] for name in PREDICTIONS
                if name.startswith(f"{lesson}.") and name in record["predictions"]]
        rows.append((titles.get(lesson, lesson), "".join("○●"[done] for done in right), f"{sum(right)} of {len(right)}",
                     f"{sum(made)} right of {len(made)}" if made else "none yet"))
    return _picture(rows if any(record.values()) else [], _calibration(record["predictions"].values()), _notes(record))


def _calibration(predictions):
    """[(how sure, "3 of 4 right"), …] of what was predicted."""
    made = {sure: [one["right"] for one in predictions if one["sure"] == sure] for sure in SURE}
    return [(sure, f"{sum(right)} of {len(right)} right") for sure, right in made.items() if right]


def _notes(record):
    kept = f"Kept in {FILE.name}, in this folder and nowhere else. Delete the file to begin anew: nothing needs it."
    nothing = "Nothing has been recorded yet. What you get right in this folder's lessons will stand here; nothing needs it."
    notes = [kept if any(record.values()) else nothing]
    if returning():
        notes.insert(0, f"Certain, and wrong: {', '.join(returning())}. Worth remembering, so they come back when a later lesson opens.")
    if _unkept:
        notes.append("This folder cannot be written to, so your last answers were not kept. The lessons work without.")
    if _damaged().exists():
        notes.append(f"The record could not be read and began anew; the unreadable file is now {_damaged().name}.")
    return notes


def _picture(rows, calibration, notes):
    text = [f"{title}: exercises {done}, predictions {made}" for title, _, done, made in rows]
    if calibration:
        text.append("How sure, how right: " + ", ".join(": ".join(pair) for pair in calibration))
    cell = "background:none;border:none;padding:2px 18px 2px 0;text-align:left;font-weight:normal"      # JupyterLab stripes tables

    def line(tag, *cells):
        return "<tr style='background:none'>" + "".join(f'<{tag} style="{cell}">{one}</{tag}>' for one in cells) + "</tr>"

    def table(head, lines):
        return f'<table style="border:none;margin:0 0 8px;font-size:inherit">{line("th", *head)}{"".join(lines)}</table>' if lines else ""

    dots = f'<span aria-hidden="true" style="color:{style.VALUE};letter-spacing:2px">'
    html = (table(["lesson", "exercises right", "predictions"],
                  [line("td", escape(title), f"{dots}{marks}</span> {done}", made) for title, marks, done, made in rows])
            + table(["how sure you were", "how right"], [line("td", *pair) for pair in calibration])
            + "".join(f"<div>{escape(note)}</div>" for note in notes))
    return Picture(f'<div style="line-height:1.5">{html}</div>', "\n".join(text + notes))
