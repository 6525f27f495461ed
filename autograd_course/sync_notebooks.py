"""Write the texts of lessons/lesson_NN/exercises.py into the notebooks.

Run `python -m autograd_course.sync_notebooks`, with --check or --force if necessary.

An exercise NN.name consists of four cells with the ids name-question, name-stub, name-check and
name-hints, in which - replaces each _ of the name. Other cells may come between them. A Markdown
cell that contains only `exercise NN.name` is replaced by these four cells. The question of a
prediction is written into the Markdown cell before the one that calls `predict("NN.name")`, and the
opening questions into the Markdown cell before `recall("NN")`. Text that an author writes above a
question, in the same cell, is kept. A stub cell that a learner has edited is not changed, unless
--force is given. --check changes nothing and lists the differences.
"""

import json
import re
import sys
from pathlib import Path

from .grading import EXERCISES, registered
from .grading.answers import defined
from .quiz.texts import PREDICTIONS, RECALL

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
COMMAND = "python -m autograd_course.sync_notebooks"
PARTS = {"question": "markdown", "stub": "code", "check": "code", "hints": "markdown"}


IMPORTANCE = {3: "●●● essential", 2: "●●○ useful", 1: "●○○ extra"}


class Misplaced(Exception):
    """Report that a cell of an exercise or a question is missing, or is in the wrong place."""


def texts(exercise):
    """Return the texts of an exercise's four cells, as a dict with the keys of PARTS."""
    minutes = f"{exercise.minutes} minute{'s' * (exercise.minutes > 1)}"
    return {
        "question": quoted(f"**Exercise** ({minutes}, {rating(exercise)}). {exercise.question}"),
        "stub": exercise.stub,
        "check": f'check("{exercise.name}", {defined(exercise.stub)})',
        "hints": hints(exercise),
    }


def rating(exercise):
    """Return the difficulty and the importance of an exercise, as they are shown in its question.

    The importance is shown as a word and as circles, which are hidden from screen readers.
    """
    circles, word = IMPORTANCE[exercise.importance].split()
    return f'{exercise.difficulty}, <span aria-hidden="true">{circles}</span> {word}'


def quoted(text):
    """Return `text` as a Markdown quote."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def hints(exercise):
    """Return the Markdown of the blocks that a learner can open below an exercise.

    There is one block for each hint, followed by the solution.
    """
    plain = sum(isinstance(hint, str) for hint in exercise.hints)
    folds, number = [], 0
    for hint in exercise.hints:
        if isinstance(hint, str):
            number += 1
            hint = f"Hint {number}" if plain > 1 else "Hint", hint
        folds.append(hint)
    folds.append(
        ("Solution", f"```python\n{exercise.solution}\n```\n\n{exercise.explained}".rstrip())
    )
    return "\n\n".join(
        f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>" for summary, text in folds
    )


def read(path):
    """Return the notebook in the file `path`, a Path, as a dict."""
    return json.loads(path.read_text(encoding="utf-8"))


def write(path, notebook):
    """Write a notebook into the file `path`, in the layout of all notebooks of the course.

    Parameters
    ----------
    path : Path
        The file. An existing file is overwritten.
    notebook : dict
        The content of the notebook. The outputs, the execution counts and the name of the kernel
        are removed from this dict, too.
    """
    for one in notebook["cells"]:
        if one["cell_type"] == "code":
            one.update(execution_count=None, outputs=[])
    notebook.update(nbformat=4, nbformat_minor=5, metadata={"language_info": {"name": "python"}})
    path.write_text(
        json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n",
        encoding="utf-8",
        newline="\n",
    )


def source(one):
    """Return the text of the cell `one` as one string."""
    return "".join(one["source"])


def weave(cells, lesson, force=False):
    """Return the cells of a lesson's notebook with the texts from exercises.py written into them.

    Parameters
    ----------
    cells : list of dict
        The cells of the notebook. They are not changed.
    lesson : str
        The number of the lesson, such as "05".
    force : bool, default False
        If True, replace stubs that a learner has edited, too.

    Returns
    -------
    cells : list of dict
        The new cells.
    differ : list of str
        The ids of the cells whose text differs from the given cells.
    worked : list of str
        The ids of the stub cells that a learner has edited.

    Raises
    ------
    Misplaced
        If a cell is missing, or is in the wrong place.
    """
    cells, differ, worked = [dict(one) for one in cells], [], []
    for exercise in (one for name, one in EXERCISES.items() if name.startswith(f"{lesson}.")):
        base, last = stem(exercise.name), -1
        _unfold(cells, exercise.name, base)
        for part, text in texts(exercise).items():
            at = _find(cells, f"{base}-{part}")
            if at is None:
                raise Misplaced(
                    f"there is no cell with the id {base}-{part}. Add a Markdown cell that "
                    f"contains only `exercise {exercise.name}` where the exercise belongs, and "
                    "delete its other cells."
                )
            if at < last:
                raise Misplaced(
                    f"the cell {base}-{part} comes too early: the order must be {', '.join(PARTS)}."
                )
            last, now = at, source(cells[at])
            if part == "stub" and now not in ("", text, exercise.solution):
                worked.append(f"{base}-stub")
                if not force:
                    continue
            _set(cells[at], text, differ)
    for name, question in PREDICTIONS.items():
        if name.startswith(f"{lesson}."):
            _before(
                cells,
                "predict",
                name,
                f"{stem(name)}-predict",
                quoted(f"**Predict.** {question.question}"),
                differ,
            )
    if lesson in RECALL:
        numbered = "\n".join(
            f"{i}. {question.question}" for i, question in enumerate(RECALL[lesson], start=1)
        )
        _before(
            cells,
            "recall",
            lesson,
            "recall-questions",
            f"## Three questions from memory\n\n{numbered}",
            differ,
        )
    return cells, differ, worked


def stem(name):
    """Return the part that the ids of an exercise's cells have in common.

    For example, the exercise "01.my_name" gives "my-name".
    """
    return name.partition(".")[2].replace("_", "-")


def _find(cells, name):
    return next((i for i, one in enumerate(cells) if one["id"] == name), None)


def _set(one, text, differ):
    """Write text into cell `one`, and append the id of the cell to `differ` if its text changes.

    A question is a Markdown quote. It replaces the first quote in the cell and everything after it,
    and the text above the quote is kept.
    """
    if text.startswith("> "):
        above = re.match(r"(?:(?!> ).*\n)*", source(one) + "\n")[0].strip()
        text = f"{above}\n\n{text}" if above else text
    if source(one) != text:
        differ.append(one["id"])
        one["source"] = text.splitlines(keepends=True)


def _new(kind, name):
    return {
        "cell_type": kind,
        "id": name,
        "metadata": {},
        "source": [],
    }  # `write` adds the other keys of a code cell


def _unfold(cells, name, base):
    """Replace the cell that contains only `exercise NN.name` with four empty cells, in place.

    `name` is the name of the exercise, and `base` is the part that the ids of its cells have in
    common.
    """
    for at, one in enumerate(cells):
        if one["cell_type"] == "markdown" and source(one).strip("` \n") == f"exercise {name}":
            cells[at : at + 1] = [_new(kind, f"{base}-{part}") for part, kind in PARTS.items()]
            return


def _before(cells, function, name, where, text, differ):
    """Write text into the Markdown cell directly before the cell that calls `function(name)`.

    `where` is the id of the Markdown cell, which is added to `cells` if it does not exist. If no
    cell calls the function, nothing is changed. The id is appended to `differ` if the text of the
    cell changes.

    Raises
    ------
    Misplaced
        If the Markdown cell is not directly before the cell that calls the function.
    """
    call = re.compile(rf"\b{function}\(['\"]{re.escape(name)}['\"]")
    at = next(
        (
            i
            for i, one in enumerate(cells)
            if one["cell_type"] == "code" and call.search(source(one))
        ),
        None,
    )
    if at is None:
        return  # the lesson does not show it (yet)
    if _find(cells, where) is None:
        cells.insert(at, _new("markdown", where))
    elif _find(cells, where) != at - 1:
        raise Misplaced(f'the cell {where} must come directly before {function}("{name}").')
    _set(cells[_find(cells, where)], text, differ)


def main(arguments, folder=NOTEBOOKS):
    """Update every notebook in the folder, or with --check list the differences.

    Parameters
    ----------
    arguments : list of str
        The options of the command: "--check", "--force", both or neither.
    folder : Path, optional
        The folder of the notebooks. The default is that of the course.

    Returns
    -------
    int
        The exit code: 1 if --check finds a difference, if a cell is missing or in the wrong place,
        or if a stub was not replaced because a learner has edited it; otherwise 0.
    """
    registered()
    failed = False
    for path in sorted(folder.glob("*.ipynb")):
        notebook = read(path)
        try:
            cells, differ, worked = weave(notebook["cells"], path.stem[:2], "--force" in arguments)
        except Misplaced as error:
            print(f"{path.name}: {error}")
            failed = True
            continue
        if "--check" in arguments:
            for name in dict.fromkeys(differ + worked):
                print(
                    f"{path.name}: the cell {name} differs from lesson_{path.stem[:2]}/exercises.py. Run {COMMAND}"
                )
                failed = True
            continue
        before = path.read_text(encoding="utf-8")
        write(path, notebook | {"cells": cells})
        if path.read_text(encoding="utf-8") != before:
            print(f"{path.name}: written ({', '.join(differ) or 'only the layout changed'})")
        for name in worked if "--force" not in arguments else []:
            print(
                f"{path.name}: a learner has edited {name}, so it was not changed. Use --force to replace it by the stub."
            )
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
