'''Declare an exercise in one place, `lessons/lesson_NN/exercises.py`, and check answers to it.

In a notebook, `check("01.central", answer)` checks an answer to the exercise that is declared here:

    import numpy as np
    from ...grading import Wrong, exercise, expect, expect_call
    from ...grading.mistakes import doubled, one_sided, printed

    def right(f, x, h):
        return (f(x + h) - f(x - h)) / (2 * h)

    @exercise(
        "01.central", minutes=5, difficulty="easy", importance=3,
        question="Write the central difference as a function of f, x and h.",
        stub="""
            def my_central(f, x, h):
                ...""",
        hints=["Two points: one at x + h, one at x − h.",
               ("Help: I get exactly double", "How far apart are the two points?")],
        solution="""
            def my_central(f, x, h):
                return (f(x + h) - f(x - h)) / (2 * h)""",
        explained="How far the value moved, divided by how far x moved.",
        why="One step each way: the largest part of the error cancels.",
        mistakes=[
            doubled(right, "Exactly double: how far apart are your two points?"),
            one_sided(),
            printed(right),
            (
                lambda f, x, h: f(x + h) - f(x - h),
                "That is how far the value moved. Divide by how far x moved.",
            ),
        ],
    )
    def central(answer):
        for f, x, h in [(np.exp, 1.0, 1e-4), (np.sin, -2.0, 0.1)]:
            expect_call(answer, f, x, h, gives=right(f, x, h), hints=central.mistakes)

Then put a Markdown cell that contains only `exercise 01.central` into the notebook, and run the
command `python -m autograd_course.sync_notebooks`. It replaces this cell by four cells: question,
stub, check and hints. Run the command again after every change of the declaration, and never edit the
four cells. Further answers for the tests are in `tests/lessons/lesson_01/wrong_answers.py`:

    cases(
        "01.central",
        wrong=[(lambda f, x, h: 3 * x ** 2, "none")],
        accepted=["lambda f, x, h: (f(x + h) - f(x - h)) / 2 / h"])

- `difficulty` is "easy", "medium", "hard" or "optional". The minutes that a lesson announces do not
  include optional exercises and sections whose heading ends in "(optional)".
- `importance` is 3 if later lessons build on the exercise, 2 if some of them use it, and 1 if a
  learner can skip it.
- The decorated function is the check. It stops at the first difference. If it returns, the answer
  is right, and the verdict shows `why`.
- `expect(got, right, tried=...)` compares a value: a number, an array, a tuple, a Boolean or a
  text. `expect_call(f, *args, gives=...)` calls the learner's function and compares its result. If
  the expected value would give the answer away, describe it in words with `shown`.
- `expect_rule(answer, ag.multiply, 0)` tests a rule of the table with random upstream gradients,
  whole numbers, broadcasting, one array as both arguments, and two calls. `expect_engine(answer)`
  tests a scalar engine: a class with + and *, `.backward()` and `.grad`.
  `mistakes=of_rule(ag.multiply, 0)` and `mistakes=of_engine()` are the matching wrong answers.
- `mistakes` is a list of pairs (wrong answer, hint). The wrong answer is a value, or a function
  like the learner's. Each pair is used twice: a learner who gives this answer gets the hint, and a
  test checks that the hint appears. mistakes.py defines the mistakes that many exercises share. The
  list may also contain recognisers. A recogniser is a function of the learner's value and the
  expected value that returns a hint or None: `times(c, sentence)`, `without(g, sentence)`, or your
  own.
- An `edit(old, new, hint)` in `mistakes` declares a wrong answer as a change to the text of the
  solution. It may change several places: `edit(old, new, old, new, hint)`. Each old text must occur
  exactly once in the solution. For an answer in several parts, `central.mistakes_in(0)` returns the
  mistakes of the first part.
- In `cases`, `wrong` lists further wrong answers or edits. Each comes with the kind of cause that
  its verdict must name: a kind from causes.py, such as "sign"; "none"; "mistake 3" for the hint of
  the third mistake; or "own: a name" for another hint of the exercise, where you choose the name
  and use it for all answers that get this hint. You can therefore reword a hint without changing a
  test. An exercise needs at least four wrong answers, including its mistakes.
- In `cases`, `accepted` lists right answers in other styles (loops, einsum, a library function,
  different algebra). Each is the text of a stub cell, a single expression, or an edit without a
  hint. The tests run the check on each, and the verdict must be "right". If the notebook continues
  with `yours_or_ours`, the tests also run all the cells that follow with this answer.
- `names=lambda: {"train": train}` returns the names from the notebook that the solution uses. They
  are defined when edits and accepted answers run, along with np, ag, the names of the module, and
  the names that the solutions of the lesson's earlier exercises define.
- These mistakes are recognised automatically: a function that returns nothing or prints its result,
  a wrong shape (a broadcast axis, a lost axis, a transpose), swapped parts of a tuple, a result
  that is exactly double, half or negative, degrees, the base of a logarithm, a constant factor or
  addend, truncation, and the common errors of Python.
- If no hint of the exercise applies, and the answer differs from the solution in one or two places,
  the verdict names these places: `look      at the - in line 2, x - y`.
- For anything else, use `raise Wrong(tried, got, expected, hint)`. Each argument is text, and
  `hint` may be "". With `early=True`, it is shown even if another part of the answer is a stub.
- A check may return a remark, such as "it fails on a deep graph". The verdict shows the remark
  below "right", after the word "but", and `yours_or_ours` then uses the solution. A remark that
  does not matter to later cells is a `Note`, shown after the word "note".
- `backward = yours_or_ours("05.backward", backward, order=order)` in a later cell returns the
  learner's answer if it is right, and otherwise that of the solution, so that the rest of the
  lesson runs.
- The verdict is "not yet" if the answer is or contains `None` or `...`, if the body of a function
  is still `...`, or if `...` caused an error.
- A check must give the same verdict every time, so draw its random inputs from
  `np.random.default_rng(0)` inside the check.
'''

import re
import warnings
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from inspect import cleandoc
from itertools import takewhile
from pathlib import Path

import numpy as np

import autograd_lib

from ..source import blank_indices, has_blank, is_stub, methods_in, names_in, underneath
from .. import record
from .answers import defined, edit
from .causes import (
    CALLED_IN_PYTORCH,
    MAY_BE_UNFILLED,
    SAYS_ALL,
    Cause,
    Difference,
    Words,
    likely,
    own,
    said,
)
from .compare import (
    expect,
    expect_call,
    expect_own_work,
    has_placeholder,
    returned,
    times,
    unfinished,
    without,
)
from .inputs import Named, expect_over
from .rule_checks import expect_engine, expect_rule, of_engine, of_rule, outside_one_sided_slopes
from .locate_error import slip
from .sandbox import MOST_PRINTED, Printed
from .sentences import brief, formula, rows, sentence
from .verdict import NotYet, Note, Verdict, Wrong, not_run, shortened

LESSONS = Path(__file__).parents[1] / "lessons"
EXERCISES = {}  # name -> Exercise


@dataclass
class Exercise:
    """Hold everything that the course knows about one exercise.

    Parameters
    ----------
    name : str
        Lesson and short name, such as "01.central".
    check : callable
        The decorated function. It takes the learner's answer and raises Wrong or NotYet unless the
        answer is right.
    minutes : int
        The time that the exercise takes.
    difficulty : str
        "easy", "medium", "hard" or "optional".
    importance : int
        From 1 (can be skipped) to 3 (later lessons build on it).
    question, explained, why : str
        Markdown: the question, the explanation below the solution, and the reason shown after a
        right answer.
    stub, solution : str
        Code: the cell that the learner starts from, and a right answer.
    hints : list
        Markdown strings, or pairs (title, text).
    listed : list
        The mistakes as they were declared, with edits not applied.
    names : callable
        Takes no arguments, and returns a dict that maps the names of the notebook's variables
        that the solution uses to their values.
    playground : str
        The code of a function that the playground draws, or "".
    """

    name: str
    check: object
    minutes: int
    difficulty: str
    importance: int
    question: str
    stub: str
    hints: list
    solution: str
    explained: str
    why: str
    listed: list
    names: object
    playground: str

    @property
    def parts(self):
        """Return the list of names that the learner's cell defines, one per part of the answer."""
        return defined(self.stub).strip("()").split(", ")

    @cached_property
    def mistakes(self):
        """Return the list of mistakes, with every `edit` replaced by (wrong answer, hint).

        The list may also contain recognisers. A recogniser is a function that takes the learner's
        answer and the expected answer, and returns a hint or None.
        """
        return [*map(self.run, self.listed)]

    def mistakes_in(self, part):
        """Return the mistakes of a single part of an answer that has several parts.

        `part` is the index of the part, from 0. The result is a list of pairs (this part of the
        wrong answer, hint). Recognisers are left out.
        """
        return [
            (wrong[part], hint)
            for wrong, hint in filter(lambda one: isinstance(one, tuple), self.mistakes)
        ]

    def names_mistake(self, cause):
        """Return True if `cause` applies to the whole answer and is the hint of a listed mistake."""
        return not cause.part and any(
            (cause.kind, cause.text) == (known.kind, known.text)
            for known in (own(one[1]) for one in self.mistakes if isinstance(one, tuple))
        )

    def run(self, one):
        """Return the declared mistake `one`, or (wrong answer, hint) if it is an `edit`.

        `one` is an entry of `listed`. An edited solution is executed again at each call.
        """
        return (self.answer(one.applied(self.solution)), one.hint) if isinstance(one, edit) else one

    def answer(self, code):
        """Execute `code` like the learner's cell, and return the answer that it defines.

        If the answer has several parts, the result is a tuple. The code can use the names that the
        lesson defined before the cell.
        """
        scope = dict(self._scope)
        exec(code, scope)
        return eval(defined(self.stub), scope)

    @cached_property
    def _scope(self):
        """Return a dict of the names that the code of this exercise can use.

        They are np, ag, the names in the module of the exercise, the notebook's variables that
        `names` returns, and the names that the solutions of earlier exercises of the lesson define.
        """
        scope = {"np": np, "ag": autograd_lib, **self.check.__globals__}
        for one in takewhile(lambda one: one is not self, EXERCISES.values()):
            if one.name[:2] == self.name[:2]:
                scope.update(one.names())
                exec(one.solution, scope)
        scope.update(self.names())
        return scope


def exercise(
    name,
    *,
    minutes,
    difficulty,
    importance,
    question,
    stub,
    hints,
    solution,
    why,
    explained="",
    mistakes=(),
    names=dict,
    playground="",
):
    """Register the decorated function as the check of the exercise `name`.

    The decorated name becomes an Exercise. The docstring of this module explains the arguments.
    `playground` is the code of a function; the verdict on a wrong answer links to the playground,
    which draws this function.

    Raises
    ------
    ValueError
        If the old text of an `edit` among the mistakes does not occur exactly once in the solution.
    """
    stub, solution = cleandoc(stub), cleandoc(solution)
    for one in mistakes:
        if isinstance(one, edit):
            one.applied(solution)

    def register(check):
        staged = [
            _text(hint) if isinstance(hint, str) else (hint[0], _text(hint[1])) for hint in hints
        ]
        EXERCISES[name] = Exercise(
            name,
            check,
            minutes,
            difficulty,
            importance,
            _text(question),
            stub,
            staged,
            solution,
            _text(explained),
            why,
            list(mistakes),
            names,
            cleandoc(playground),
        )
        return EXERCISES[name]

    return register


def _text(markdown):
    """Return Markdown without indentation, with each paragraph and list item on one line.

    If the text contains a block of code, no lines are joined.
    """
    text = cleandoc(markdown)
    return text if "```" in text else re.sub(r"(?<=\S)\n(?![\s|#]|\$\$|[*-] |\d+\. )", " ", text)


def check(name, answer):
    """Check the learner's answer to an exercise, and record whether it is right.

    An error that the answer raises becomes part of the verdict.

    Parameters
    ----------
    name : str
        The lesson and the short name of the exercise, such as "05.backward".
    answer : object
        A value, a function or a class, or a tuple of them if the answer has several parts.

    Returns
    -------
    Verdict
        Its `status` is "not yet", "wrong" or "right". If there is no such exercise, it says so.
    """
    name = str(name)
    if re.match(r"\d\d\.", name) and (LESSONS / f"lesson_{name[:2]}").is_dir():
        _lesson(name[:2])
    if name not in EXERCISES:
        return Verdict(
            "wrong",
            (
                "hint",
                f"There is no exercise {name[:40]!r}. Copy the name from the question.",
            ),
        )
    exercise = EXERCISES[name]
    Printed.left = MOST_PRINTED
    if not_run(exercise.parts):
        return Verdict(
            "not yet",
            (
                "",
                "The cell above has a syntax error, so it did not run. Fix and run it, then run this cell.",
            ),
        )
    try:
        if has_placeholder(answer) or any(answer is ours for ours in OURS):
            raise NotYet
        wanted = len(exercise.parts)
        if wanted > 1 and not (isinstance(answer, (tuple, list)) and len(answer) == wanted):
            raise Wrong.of(
                Difference(Words("your answer"), answer, Words(f"({', '.join(exercise.parts)})")),
                Cause("number of parts", (wanted, len(answer)))
                if isinstance(answer, (tuple, list))
                else Cause("one part", (wanted,)),
            )
        with warnings.catch_warnings(
            action="ignore", category=RuntimeWarning
        ):  # NumPy warns about ddof
            remark = exercise.check(answer)
    except NotYet:
        return Verdict(
            "not yet", ("", "Replace each ... (or pass) above, run that cell, then run this one.")
        )
    except (Exception, SystemExit) as error:
        if not (isinstance(error, Wrong) and error.early) and (
            unfinished(answer, blank_indices(exercise.stub)) or likely(error).kind == "error: blank"
        ):
            return Verdict(
                "not yet",
                (
                    "",
                    "The cell still contains ... (or pass). Replace it, run that cell, then run this one.",
                ),
            )
        if isinstance(error, Wrong):
            shown, cause = [*zip(("tried", "got", "expected"), error.shown)], error.cause
        else:
            shown = [("tried", _tried(error)), ("raised", shortened(error))]
            hint = getattr(error, "hint", "")
            cause = own(hint) if hint else likely(error)
        functions = answer if isinstance(answer, (tuple, list)) else [answer]
        names = {name for one in functions for name in names_in(underneath(one))}
        if cause.kind in MAY_BE_UNFILLED and names & {".empty", ".empty_like"}:
            cause = Cause("np.empty")
        if cause.kind == "error: shapes of @" and "T" in names:  # y^T: x @ y comes first
            cause = Cause("error: name of the transpose")
        if isinstance(error, TypeError) and "not callable" in said(error) and not cause.own:
            called = {name for one in functions for name in methods_in(underneath(one))}
            if called & CALLED_IN_PYTORCH:
                cause = Cause("attribute called")
        verdict = Verdict(
            "wrong",
            *shown,
            ("hint", sentence(cause)),
            (
                "look",
                ""
                if exercise.names_mistake(cause) or cause.kind in SAYS_ALL
                else slip(exercise, answer),
            ),
            ("see", exercise.playground),
            cause=cause,
        )
        record.missed(name, sentence(cause), repr(verdict))
        return verdict
    record.solved(name)
    label = "note" if isinstance(remark, Note) else "but"
    return Verdict("right", ("", exercise.why), (label, remark or ""))


def _tried(error):
    """Return a description of the call that raised `error`, or "" if the call is unknown.

    If the exercise describes the call itself, its description is returned.
    """
    difference = getattr(error, "raised_in", None)
    return getattr(error, "tried", "") or (rows(difference)[0] if difference else "")


OURS = []  # solutions that yours_or_ours returned, so that a later check does not take them for answers


def yours_or_ours(name, answer, **names):
    """Return the learner's answer if it is right, and otherwise the answer that the solution defines.

    An answer counts as right if the check accepts it without a remark. A printed line tells the
    learner which of the two answers the lesson uses from now on.

    Parameters
    ----------
    name : str
        The name of the exercise, such as "05.backward".
    answer : object
        The learner's answer.
    **names
        The notebook's variables that the solution uses, as in
        `yours_or_ours("05.backward", backward, order=order)`.

    Returns
    -------
    object
        `answer`, or the value that the solution gives to the short name of the exercise.

    Raises
    ------
    KeyError
        If there is no such exercise.
    """
    called = name.partition(".")[2]
    verdict = check(name, answer)
    remark = dict(verdict.rows).get("but")
    if verdict.status == "right" and not remark:
        print(f"From now on the course uses your {called}.")
        return answer
    state = (
        "correct, but with a limitation that may matter in a later cell"
        if remark
        else f"not {'written' if verdict.status == 'not yet' else 'right'} yet"
    )
    print(f"{called}: {state}. From now on the course uses its own version.")
    exec(EXERCISES[name].solution, names)
    OURS.append(names[called])
    return OURS[-1]


def registered():
    """Import the exercises of every lesson and return a dict that maps lesson numbers to modules.

    A lesson number is a string of two digits, such as "03".
    """
    return {
        folder.name[-2:]: _lesson(folder.name[-2:]) for folder in sorted(LESSONS.glob("lesson_*"))
    }


def _lesson(number):
    return import_module(f"autograd_course.lessons.lesson_{number}.exercises")
