"""Show the learner's record with the function `progress`."""

from html import escape

from .. import grading as exercises
from .. import record
from ..drawing.formatting import counted
from ..drawing.picture import Picture
from ..drawing.table import table
from . import texts


def progress():
    """Draw a table with the number of right answers in each lesson so far.

    Lessons without an answer are folded. The report also shows how often the learner was right at
    each level of confidence, and how to delete the record.

    Returns
    -------
    Picture
        The table and the remarks below it, with the same information as text.
    """
    exercises.registered()
    kept, titles = record.read(), record.lessons()
    rows = []
    for lesson in sorted(
        {name.partition(".")[0] for name in [*exercises.EXERCISES, *texts.PREDICTIONS]}
    ):
        right = sorted(
            (
                name in kept["exercises"]
                for name in exercises.EXERCISES
                if name.startswith(f"{lesson}.")
            ),
            reverse=True,
        )
        made = [
            kept["predictions"][name]["right"]
            for name in texts.PREDICTIONS
            if name.startswith(f"{lesson}.") and name in kept["predictions"]
        ]
        rows.append(
            (
                titles.get(lesson, lesson),
                "".join("○●"[done] for done in right),
                f"{sum(right)} of {len(right)}",
                f"{sum(made)} right of {len(made)}" if made else "none yet",
            )
        )
    return _picture(
        rows if any(kept.values()) else [],
        _calibration(kept["predictions"].values()),
        _gym(kept["gym"].values()) + _notes(any(kept.values())),
    )


def _calibration(predictions):
    """Return a list of (confidence, text) for the learner's recorded predictions.

    The text is, for example, "3 of 4 right". A level of confidence that was never chosen is left out.
    """
    made = {
        sure: [one["right"] for one in predictions if one["sure"] == sure] for sure in record.SURE
    }
    return [(sure, f"{sum(right)} of {len(right)} right") for sure, right in made.items() if right]


def _gym(trained):
    """Return a list with a line about the problems answered in the gym, or an empty list.

    `trained` holds the records of the gym's problems.
    """
    right, all_of_them = (
        sum(one["right"] for one in trained),
        sum(one["right"] + one["missed"] for one in trained),
    )
    return [f"In the gym: {right} of {all_of_them} right on the first attempt."] * bool(all_of_them)


def _notes(something):
    kept = f"Kept in {record.FILE.name}, in this folder. Delete the file to start over: every lesson runs without it."
    nothing = "Nothing has been recorded yet. After your first answer, run this cell again."
    notes = [kept if something else nothing]
    if back := record.returning():
        notes.insert(
            0,
            f"Certain but wrong: {', '.join(back)}. You will be asked these questions again at the start of a later lesson.",
        )
    if record.unreadable():
        notes[-1] = (
            f"{record.FILE.name} cannot be read now, so its contents are not shown, and the file is not changed. Check its permissions."
        )
    if record.unkept:
        notes.append(
            "This folder cannot be written to, so your last answers are not kept yet. The lessons also work without the file."
        )
    if record.damaged().exists():
        notes.append(
            f"Your progress file was unreadable, so a new one was started. The old file is now {record.damaged().name}."
        )
    return notes


def _picture(rows, calibration, notes):
    text = [f"{title}: exercises {done}, predictions {made}" for title, _, done, made in rows]
    if calibration:
        text.append(
            "How sure you were, and how often you were right: "
            + ", ".join(": ".join(pair) for pair in calibration)
        )
    dots = '<span aria-hidden="true" style="letter-spacing:2px">'
    begun, rest = [], []
    for title, marks, done, made in rows:
        (begun if "●" in marks or made != "none yet" else rest).append(
            (escape(title), f"{dots}{marks}</span> {done}", made)
        )

    def lessons(rows):
        return table(rows, ["lesson", "exercises right", "predictions"]) * bool(rows)

    folded = (
        f"<details{' open' * (not begun)}><summary>Nothing recorded yet in {counted(len(rest), 'lesson')}</summary>"
        f"{lessons(rest)}</details>"
    )
    html = (
        lessons(begun)
        + folded * bool(rest)
        + table(calibration, ["how sure you were", "how right"]) * bool(calibration)
        + "".join(f"<div>{escape(note)}</div>" for note in notes)
    )
    return Picture(f'<div style="line-height:1.5">{html}</div>', "\n".join(text + notes))
