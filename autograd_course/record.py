"""Keep the learner's progress in the file `progress.json`, in the folder of the notebook.

Deleting the file deletes the progress and nothing else. The file is written only when the learner
does something: a check gives its verdict, a prediction is revealed, a card is written, or a
practice problem is answered. For a wrong answer, only the hint is recorded, not the answer. Each
such event rereads the file and replaces it atomically, so that two open notebooks do not lose each
other's entries.

No function of this module raises an error. If the file cannot be read or written, it is left as it
is, and `progress()` in report.py tells the learner. The entry is kept and is written with the next
event that succeeds.
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
    """Return True if the record file exists but cannot be read at the moment."""
    try:
        _read()
    except OSError:
        return True
    return False


def read():
    """Return the learner's record as a dict.

    If there is no record yet, the entries of the dict are empty. A file that is not a valid record
    is renamed to progress.damaged.json, and the record starts over. A file that cannot be read is
    left as it is, and the entries are empty.

    Returns
    -------
    dict
        The record, with these entries:

        - "exercises": a list of the names of the solved exercises;
        - "predictions": a dict from the name of each prediction to a dict with the first "answer",
          a list of one text for each part; "sure", an entry of SURE or None; "right", True if this
          answer is right; "recalled", True if a wrong answer has been corrected since; and
          "missed", the number of wrong answers, including later ones;
        - "cards": a dict from the number of each lesson, such as "05", to the lines of its card;
        - "lines": a dict from the name of each derivation to a list of its lines. A line is a list
          of the text and True if it was shown to the learner;
        - "reasons": a dict from the name of each derivation to the reason that the learner chose
          first;
        - "gym": a dict from the key of each practice problem to a dict with "right" and "missed",
          the numbers of right and wrong first attempts, and "owed", the number of right first
          attempts that are still required;
        - "tries": a dict from the name of each exercise to a dict with "wrong", a dict from each
          hint to the number of times that the learner got this hint, and "last", a checksum of the
          last verdict. A solved exercise without an entry was solved before tries were recorded;
        - "cells": the cells that the learner has edited, only in a record from a page.
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
    """Return the record, as `read` does, but raise OSError if the file exists and cannot be read.

    This happens, for example, if the file has no read permission or if another program has opened
    it.
    """
    try:
        return sound(_retry_if_denied(lambda: FILE.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return _empty()
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        os.replace(FILE, damaged())
        return _empty()


def _retry_if_denied(act):
    """Return the result of `act()`, and try again for a moment after a PermissionError.

    On Windows, a file that another kernel has opened can be neither read nor replaced.
    """
    for _ in range(20):
        try:
            return act()
        except PermissionError:
            time.sleep(0.02)
    return act()


def damaged():
    """Return the path to which a damaged record is renamed."""
    return FILE.with_name("progress.damaged.json")


def sound(text):
    """Parse the text of a record's file, and return the record in the form of `read`.

    Raises
    ------
    ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError
        If the text is not a valid record.
    """
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
    """Record that the learner solved the exercise `name`."""

    def mark(record):
        if name not in record["exercises"]:
            record["exercises"].append(name)
            _tries(record, name)

    _change(mark)


def missed(name, hint, verdict):
    """Record that the check of the exercise `name` rejected an answer.

    The same verdict twice in a row counts as one try. After the exercise is solved, tries are no
    longer counted.

    Parameters
    ----------
    name : str
        The name of the exercise, such as "01.my_name".
    hint : str
        The hint that the learner got, or "".
    verdict : str
        The text of the verdict.
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
    """Record the learner's first answer to the prediction `name`.

    Later answers to the same prediction are not recorded.

    Parameters
    ----------
    name : str
        The name of the prediction.
    answer : list of str
        The text that the learner typed for each part of the answer.
    sure : str or None
        An entry of SURE, or None if the learner chose none.
    right : bool
        True if the answer is right.
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
    """Record the answer to a question about an earlier prediction that was certain but wrong.

    `name` is the name of the prediction, and `right` is True if the new answer is right.
    """

    def mark(record):
        if name in record["predictions"]:
            made = record["predictions"][name]
            made["recalled"], made["missed"] = right, made["missed"] + (not right)

    _change(mark)


def card(lesson, lines):
    """Record the lines that the learner wrote on the card of a lesson.

    `lesson` is the number of the lesson, such as "05", and `lines` is a list of strings. If there
    are no lines, the card is deleted from the record.
    """
    _change(
        lambda record: (
            record["cards"].update({lesson: list(lines)})
            if lines
            else record["cards"].pop(lesson, None)
        )
    )


def derived(name, lines):
    """Record all accepted lines of the derivation `name`.

    Each entry of `lines` is a list: the text of the line, and True if the line was shown to the
    learner.
    """
    _change(lambda record: record["lines"].update({name: [list(line) for line in lines]}))


def reasoned(name, chosen):
    """Record the reason that the learner chose for a line of the derivation `name`.

    Only the first choice is kept.
    """
    _change(lambda record: record["reasons"].setdefault(name, chosen))


def trained(key, right):
    """Record whether the first attempt at a practice problem is right.

    A missed problem is asked again until the learner has answered it correctly at the first attempt
    on two more occasions. `key` identifies the problem, and `right` is True if the first attempt is
    right.
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
        _retry_if_denied(lambda: os.replace(new, FILE))
        unkept.clear()
    except OSError:
        unkept.append(event)
        if made:
            with suppress(OSError):
                new.unlink(missing_ok=True)


def _turn(new):
    """Create the file `new` and return it, open for writing; the file serves as a lock.

    If the file exists, another kernel holds the lock. Then wait until the file is deleted, or until
    it has not changed for ten seconds.
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
    """Return the names of predictions that were certain but wrong and are not yet corrected.

    The predictions that were missed most often come first. Ties are in the order of the lessons.
    """
    made = read()["predictions"]
    names = [
        name
        for name, one in made.items()
        if one["sure"] == "certain" and not one["right"] and not one["recalled"]
    ]
    return sorted(names, key=lambda name: (-made[name]["missed"], name[:2]))


def lessons(folder=None):
    """Return a dict from lesson number to title, such as {"02": "02 Draw the graph", …}.

    The lessons are those whose notebooks are in `folder`, a Path. The default is the folder of the
    record.
    """
    files = sorted((folder or FILE.parent).glob("[0-9][0-9]_*.ipynb"))
    return {
        file.stem[:2]: f"{file.stem[:2]} {file.stem[3:].replace('_', ' ').capitalize()}"
        for file in files
    }
