"""Keep the learner's progress in `progress.json` beside the notebook. Deleting the file deletes nothing else.

The file is written only when the learner acts: a check gives its verdict, a prediction is revealed,
a card is written, or a practice problem is answered. For a wrong answer, only the hint is kept, not
the answer. Events are queued; each one rereads the file and replaces it atomically, so that two
open notebooks do not lose each other's entries. No function of this module raises an error: if the
file cannot be read or written, it is left as it is, `progress()` in report.py says so, and the
entry is kept with the next event that succeeds.
"""

import json
import os
import re
import time
from contextlib import suppress
from pathlib import Path
from zlib import crc32

FILE = Path("progress.json")  # in the kernel's folder, which is the notebook's
SURE = ["guessing", "fairly sure", "certain"]

unkept = []  # events that could not be written


def unreadable():
    """Return True if there is a record that cannot be read now."""
    try:
        _read()
    except OSError:
        return True
    return False


def read():
    """Return the learner's record, empty if there is none.

    It is {"exercises": [name, …], "predictions": {name: {"answer", "sure", "right", "recalled",
    "missed"}}, "cards": {lesson: [line, …]}, "lines": {derivation: [[text, shown], …]},
    "reasons": {derivation: chosen}, "gym": {key: {"right", "missed", "owed"}}, "tries": {exercise: {"wrong": {hint: times}, "last"}}}.

    An exercise that was solved and is not in "tries" was solved before tries were kept, so their
    number is unknown. A file that is not a valid record is renamed to progress.damaged.json, and
    the record starts over. A file that cannot be read stays as it is.
    """
    try:
        return _read()
    except OSError:
        return _empty()


def _empty():
    return {
        "exercises": [],
        "predictions": {},
        "cards": {},
        "lines": {},
        "reasons": {},
        "gym": {},
        "tries": {},
    }


def _read():
    """Return the record; raise OSError if it exists and cannot be read.

    For example, the file has no read permission, or another program has it open.
    """
    try:
        return sound(_patiently(lambda: FILE.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return _empty()
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        os.replace(FILE, damaged())
        return _empty()


def _patiently(act):
    """Return the result of `act`; on Windows, try again for a moment.

    On Windows, a file that another kernel has open can be neither read nor replaced.
    """
    for _ in range(20):
        try:
            return act()
        except PermissionError:
            time.sleep(0.02)
    return act()


def damaged():
    return FILE.with_name("progress.damaged.json")


def sound(text):
    """Return the record in a file's text, as `read` does; raise an exception if it is not valid."""
    found = json.loads(text)
    return {
        "exercises": [str(name) for name in found.get("exercises", [])],
        "predictions": {
            name: {
                "answer": [str(part) for part in made["answer"]],
                "sure": made["sure"],
                "right": bool(made["right"]),
                "recalled": bool(made["recalled"]),
                "missed": int(made.get("missed", not made["right"])),
            }  # files of the first months have none
            for name, made in found.get("predictions", {}).items()
        },
        "cards": {
            lesson: [str(line) for line in lines]
            for lesson, lines in found.get("cards", {}).items()
        },
        "lines": {
            name: [[str(text), bool(shown)] for text, shown in lines]
            for name, lines in found.get("lines", {}).items()
        },
        "reasons": {name: str(chosen) for name, chosen in found.get("reasons", {}).items()},
        "gym": {
            key: {name: int(one[name]) for name in ("right", "missed", "owed")}
            for key, one in found.get("gym", {}).items()
        },
        "tries": {
            name: {
                "wrong": {hint: int(times) for hint, times in one["wrong"].items()},
                "last": int(one["last"]),
            }
            for name, one in found.get("tries", {}).items()
        },  # older files have none
        **{
            key: found[key] for key in ("cells",) if key in found
        },  # a page that runs has more to keep
    }


def solved(name):
    """Record that exercise `name` was solved."""

    def mark(record):
        if name not in record["exercises"]:
            record["exercises"].append(name)
            _tries(record, name)

    _change(mark)


def missed(name, hint, verdict):
    """Record that the check of exercise `name` found a wrong answer, with this hint or "".

    The same verdict twice in a row is one try, and no try counts once the exercise is solved.
    """

    def mark(record):
        if name in record["exercises"]:
            return
        one, last = _tries(record, name), crc32(_SAME.sub("", verdict).encode("utf-8", "replace"))
        if last != one["last"]:
            one["wrong"][hint], one["last"] = one["wrong"].get(hint, 0) + 1, last

    _change(mark)


_SAME = re.compile(r"cell \[\d+\]|0x[0-9a-fA-F]+")  # differs where the same cells are run again


def _tries(record, name):
    return record["tries"].setdefault(name, {"wrong": {}, "last": 0})


def predicted(name, answer, sure, right):
    """Record a prediction when its answer is revealed; only the first answer counts.

    `answer` holds one text for each part, as typed; `sure` is one of SURE, or None.
    """
    _change(
        lambda record: record["predictions"].setdefault(
            name,
            {
                "answer": list(answer),
                "sure": sure,
                "right": right,
                "recalled": False,
                "missed": int(not right),
            },
        )
    )


def recalled(name, right):
    """Record that a certain but wrong prediction was answered again in a later lesson."""

    def mark(record):
        if name in record["predictions"]:
            made = record["predictions"][name]
            made["recalled"], made["missed"] = right, made["missed"] + (not right)

    _change(mark)


def card(lesson, lines):
    """Record the learner's own card of a lesson; delete it if there are no lines."""
    _change(
        lambda record: (
            record["cards"].update({lesson: list(lines)})
            if lines
            else record["cards"].pop(lesson, None)
        )
    )


def derived(name, lines):
    """Record the accepted lines of a derivation, as [[text, whether it was shown], …]."""
    _change(lambda record: record["lines"].update({name: [list(line) for line in lines]}))


def reasoned(name, chosen):
    """Record the reason that was chosen for a line of derivation `name`; the first choice counts."""
    _change(lambda record: record["reasons"].setdefault(name, chosen))


def trained(key, right):
    """Record that a practice problem was answered, and if the first answer was right.

    A missed problem comes back until its first answer has been right two more times.
    """

    def mark(record):
        one = record["gym"].setdefault(key, {"right": 0, "missed": 0, "owed": 0})
        one["right" if right else "missed"] += 1
        one["owed"] = max(0, one["owed"] - 1) if right else 2

    _change(mark)


def _change(event):
    new = FILE.with_name(
        "progress.new.json"
    )  # the process that creates it holds the lock, until it moves it to FILE
    made = False
    try:
        if not unkept and _after(event) == _read():
            return
        with _turn(new) as file:
            made = True
            json.dump(_after(*unkept, event), file, indent=1, ensure_ascii=False)
        _patiently(lambda: os.replace(new, FILE))
        unkept.clear()
    except OSError:
        unkept.append(event)
        if made:
            with suppress(OSError):
                new.unlink(missing_ok=True)


def _turn(new):
    """Create the file `new` and return it, open for writing.

    If the file exists, wait until it is deleted, or until it has been unchanged for ten seconds.
    """
    seen, unchanged = None, 0
    while unchanged < 500:
        try:
            return open(new, "x", encoding="utf-8", errors="replace")  # half an emoji is no text
        except FileExistsError:
            time.sleep(0.02)
        with suppress(OSError):
            now = (new.stat().st_mtime_ns, new.stat().st_size)
            unchanged, seen = unchanged + 1 if now == seen else 0, now
    return open(
        new, "w", encoding="utf-8", errors="replace"
    )  # left there by a kernel that was killed


def _after(*events):
    record = _read()
    for event in events:
        event(record)
    return record


def returning():
    """Return the names of predictions that were certain but wrong, and have not been right since.

    The most often missed come first, then the oldest.
    """
    made = read()["predictions"]
    names = [
        name
        for name, one in made.items()
        if one["sure"] == "certain" and not one["right"] and not one["recalled"]
    ]
    return sorted(names, key=lambda name: (-made[name]["missed"], name[:2]))


def lessons(folder=None):
    """Return the notebooks in a folder: {"02": "02 Draw the graph", …}.

    The default is the folder of the record.
    """
    files = sorted((folder or FILE.parent).glob("[0-9][0-9]_*.ipynb"))
    return {
        file.stem[:2]: f"{file.stem[:2]} {file.stem[3:].replace('_', ' ').capitalize()}"
        for file in files
    }
