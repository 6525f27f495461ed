"""The wrong and right answers on which each exercise is tested, from `wrong_answers.py` in the
tests of its lesson.
"""

import ast
from importlib.util import module_from_spec, spec_from_file_location
from inspect import cleandoc
from pathlib import Path

from autograd_course.grading import EXERCISES, edit, registered
from autograd_course.grading.answers import defined

WRONG = {}  # exercise -> [(wrong answer, the cause that the verdict must name) or an edit, …]
ACCEPTED = {}  # exercise -> [code, …]


def cases(name, *, wrong=(), accepted=()):
    """Register answers to exercise `name`: wrong ones, and right ones in other styles.

    A right answer is the text of a stub cell, one expression, or an edit without a hint. Each wrong
    answer is paired with the cause that its verdict must name, so that rewording a hint breaks no
    test:

    - a kind of `autograd_course.grading.causes`, such as "sign" or "shape: transposed", or "none"
    if no cause is known;

    - "own: a name" for a hint of the exercise, which all answers with this name get and no other
    answer gets;

    - "mistake 3" for the hint of the third mistake of the exercise.

    " in part 2" follows if the verdict is about the second of an answer's parts. Text after " | "
    must be in the verdict too: a number or code, not prose.
    """
    solution, stub = EXERCISES[name].solution, EXERCISES[name].stub
    for one in wrong:
        if isinstance(one, edit):
            one.applied(solution)
    WRONG[name] = list(wrong)
    ACCEPTED[name] = [
        one.applied(solution) if isinstance(one, edit) else as_cell(cleandoc(one), stub)
        for one in accepted
    ]


def as_cell(code, stub):
    """Return `code` as the code of a stub cell.

    If `code` is a single expression, the result assigns the expression to the names that the stub
    defines.
    """
    body = ast.parse(code).body
    return f"{defined(stub)} = {code}" if len(body) == 1 and isinstance(body[0], ast.Expr) else code


def wrong_answers(name):
    """Return [(answer or edit, the cause that its verdict must name), …], the exercise's
    mistakes first.
    """
    return mistakes(name) + WRONG.get(name, [])


def mistakes(name):
    return [one for one in EXERCISES[name].listed if isinstance(one, (tuple, edit))]


def count_of_mistakes(name):
    return len(mistakes(name))


def right_answers(name):
    """Return the code of the solution and of every other style."""
    return [EXERCISES[name].solution, *ACCEPTED.get(name, [])]


registered()
for path in sorted(Path(__file__).parent.glob("lessons/lesson_*/wrong_answers.py")):
    spec = spec_from_file_location(f"wrong_answers_{path.parent.name}", path)
    spec.loader.exec_module(module_from_spec(spec))
