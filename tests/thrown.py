"""What is thrown at the exercises: of each, by its name, what `planted.py` of its lesson's tests holds."""

from importlib.util import module_from_spec, spec_from_file_location
from inspect import cleandoc
from pathlib import Path

from autograd_course.grading import EXERCISES, edit, registered
from autograd_course.grading.answers import as_cell

PLANTED = {}  # exercise -> [(wrong answer, the cause that the verdict must name) or an edit, …]
ALSO_RIGHT = {}  # exercise -> [code, …]


def throw(name, *, planted=(), also_right=()):
    """Keep, for exercise `name`, wrong answers; and right ones, texts of a stub cell, expressions, or edits without a hint.

    A wrong answer stands beside the cause that its verdict must name, so that every hint may be reworded:

    - a kind of `autograd_course.grading.causes`, such as "sign" or "shape: transposed"; "none" if no cause is known;
    - "own: a name": a hint of the exercise, which all answers with this name get, and no other;
    - "mistake 3": the hint of the third mistake of the exercise.

    " in part 2" follows if the verdict is about the second of an answer's parts. What follows " | " stands in the verdict too: a number or code, not prose.
    """
    solution, stub = EXERCISES[name].solution, EXERCISES[name].stub
    for one in planted:
        if isinstance(one, edit):
            one.applied(solution)
    PLANTED[name] = list(planted)
    ALSO_RIGHT[name] = [
        one.applied(solution) if isinstance(one, edit) else as_cell(cleandoc(one), stub)
        for one in also_right
    ]


def wrong_answers(name):
    """Return [(answer, the cause that its verdict must name) or an edit, …]: the mistakes, then what is planted."""
    return mistakes(name) + PLANTED.get(name, [])


def mistakes(name):
    return [one for one in EXERCISES[name].listed if isinstance(one, (tuple, edit))]


def count_of_mistakes(name):
    return len(mistakes(name))


def right_answers(name):
    """The solution's code and that of every other style."""
    return [EXERCISES[name].solution, *ALSO_RIGHT.get(name, [])]


registered()
for path in sorted(Path(__file__).parent.glob("lessons/lesson_*/planted.py")):
    spec = spec_from_file_location(f"planted_{path.parent.name}", path)
    spec.loader.exec_module(module_from_spec(spec))
