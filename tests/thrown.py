"""What is thrown at the exercises: of each, by its name, what `planted.py` of its lesson's tests holds."""

from importlib.util import module_from_spec, spec_from_file_location
from inspect import cleandoc
from pathlib import Path

from autograd_course.grading import EXERCISES, edit, registered
from autograd_course.grading.answers import as_cell

PLANTED = {}  # exercise -> [(wrong answer, a piece of what the verdict must say) or an edit, …]
ALSO_RIGHT = {}  # exercise -> [code, …]


def throw(name, *, planted=(), also_right=()):
    """Of exercise `name`: wrong answers; and right ones, texts of a stub cell, expressions, or edits without a hint."""
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
    """[(answer, a piece of the verdict that it must get) or an edit, …]: the mistakes, and what is planted."""
    return [one for one in EXERCISES[name].listed if isinstance(one, (tuple, edit))] + PLANTED.get(
        name, []
    )


def right_answers(name):
    """The solution's code and that of every other style."""
    return [EXERCISES[name].solution, *ALSO_RIGHT.get(name, [])]


registered()
for path in sorted(Path(__file__).parent.glob("lessons/lesson_*/planted.py")):
    spec = spec_from_file_location(f"planted_{path.parent.name}", path)
    spec.loader.exec_module(module_from_spec(spec))
