'''Declare an exercise in one place, `lessons/lesson_NN/exercises.py`, and check answers to it.

In a notebook, `check("01.central", answer)` checks an answer. The declaration of this exercise:

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

Then put a Markdown cell that contains only `exercise 01.central` into the notebook, and run
`python -m autograd_course.sync_notebooks`: it becomes the question, stub, check and hints cells.
Run the command again after every change here; never edit these cells. Further answers for the tests
are in `tests/lessons/lesson_01/wrong_answers.py`, under the name of the exercise:

    cases(
        "01.central",
        wrong=[(lambda f, x, h: 3 * x ** 2, "none")],
        accepted=["lambda f, x, h: (f(x + h) - f(x - h)) / 2 / h"])

- `difficulty` is "easy", "medium", "hard" or "optional". The lesson's minutes leave out optional
  exercises and sections whose heading ends in "(optional)".
- `importance` is 3 if later lessons build on the exercise, 2 if some of them use it, and 1 if a
  learner can skip it.
- The decorated function is the check. It stops at the first difference; if it returns, the answer
  is right, and `why` is shown.
- `expect(got, right, tried=...)` compares a value: number, array, tuple, bool, text.
  `expect_call(f, *args, gives=...)` calls the learner's function and compares its result. `shown`
  describes the expected value in words, where the number would give the answer away.
- `expect_rule(answer, ag.multiply, 0)` tests a rule of the table with random upstream gradients,
  whole numbers, broadcasting, one array in both places, and two calls. `expect_engine(answer)`
  tests a scalar engine: a class with + and *, `.backward()` and `.grad`.
  `mistakes=of_rule(ag.multiply, 0)` and `mistakes=of_engine()` are the matching wrong answers.
- `mistakes`: pairs (wrong answer, hint). The wrong answer is a value, or a function like the
  learner's. Each pair is used twice: a learner who gives this answer gets the hint, and a test
  checks it. mistakes.py holds the mistakes that many exercises share. The list may also contain
  recognisers, hint(got, expected) -> sentence or None: `times(c, sentence)`, `without(g,
  sentence)`, or a function that you write.
- `edit(old, new, hint)` among the mistakes is a wrong answer as learners type it: the solution with
  a slip in it. It may change several places: `edit(old, new, old, new, hint)`. An old text that
  does not occur exactly once in the solution raises an error. For an answer in several parts,
  `central.mistakes_in(0)` returns the hints for the first part.
- `wrong`: further wrong answers (also edits), each with the kind of cause that its verdict must
  name: a kind of causes.py, such as "sign"; "none"; "own: a name" for a hint of the exercise;
  "mistake 3" for the hint of its third mistake. So you can reword a hint without changing a test.
  An exercise needs at least four wrong answers, including its mistakes.
- `accepted`: right answers in other styles (loops, einsum, a library function, different algebra).
  Each is the text of a stub cell, one expression, or an edit without a hint. The tests run each
  through the check, whose verdict must be "right"; and, where the notebook continues with
  `yours_or_ours`, through all cells that follow.
- `names=lambda: {"train": train}`: the names from the notebook that the solution uses. They are
  defined when edits and accepted answers run, along with np, ag, the names of the module, and the
  names that the solutions of the lesson's earlier exercises define.
- Recognised automatically: nothing returned, printed instead, a wrong shape (a broadcast axis, a
  lost axis, transposed), swapped parts of a tuple, exactly double, half or negative, degrees, base
  of a logarithm, a constant factor or addend, truncation, and the common errors of Python.
- If none of the exercise's own hints fits, and the answer differs from the solution in one or two
  places, the verdict names them: `look      at the - in line 2, x - y`.
- For anything else, use `raise Wrong(tried, got, expected, hint)`. Each argument is text, and
  `hint` may be "".
- A check may return a remark, which is shown below "right" after the word "but", such as "it fails
  on a deep graph".
- `backward = yours_or_ours("05.backward", backward, order=order)` in a later cell returns the
  learner's answer if it is right, and otherwise the solution's, so that the rest of the lesson
  runs.
- The verdict is "not yet" if the answer is or contains `None` or `...`, if the body of a function
  is still `...`, or if `...` caused an error.
- A check gives the same verdict every time: draw random inputs from `np.random.default_rng(0)`
  inside it.
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

from ..source import blank_indices, has_blank, is_stub
from .. import record
from .answers import defined, edit
from .causes import SAYS_ALL, Cause, Difference, Words, likely, own
from .compare import (
    expect,
    expect_call,
    expect_own_work,
    returned,
    times,
    unfinished,
    waits,
    without,
)
from .inputs import Named, expect_over
from .rule_checks import expect_engine, expect_rule, not_between, of_engine, of_rule
from .locate_error import slip
from .sandbox import MOST_PRINTED, Printed
from .sentences import brief, formula, rows, sentence
from .verdict import NotYet, Verdict, Wrong, not_run, shortened

LESSONS = Path(__file__).parents[1] / "lessons"
EXERCISES = {}  # name -> Exercise


@dataclass
class Exercise:
    """Hold everything about one exercise. Texts are Markdown; `stub` and `solution` are code."""

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
        """Return the names that the learner's cell defines."""
        return defined(self.stub).strip("()").split(", ")

    @cached_property
    def mistakes(self):
        """Return [(wrong answer, hint) or a recogniser, …], with every edit applied."""
        return [*map(self.run, self.listed)]

    def mistakes_in(self, part):
        """Return [(part of the wrong answer, hint), …] for one part of an answer."""
        return [
            (wrong[part], hint)
            for wrong, hint in filter(lambda one: isinstance(one, tuple), self.mistakes)
        ]

    def names_mistake(self, cause):
        """Return True if `cause` is the hint of a listed mistake and concerns the whole answer."""
        return not cause.part and any(
            (cause.kind, cause.text) == (known.kind, known.text)
            for known in (own(one[1]) for one in self.mistakes if isinstance(one, tuple))
        )

    def run(self, one):
        """Return the (wrong answer, hint) of an edit, computed again, or else `one` itself."""
        return (self.answer(one.applied(self.solution)), one.hint) if isinstance(one, edit) else one

    def answer(self, code):
        """Return the answer that a stub cell with this code defines.

        The code can use the names that the lesson defined before the cell.
        """
        scope = dict(self._scope)
        exec(code, scope)
        return eval(defined(self.stub), scope)

    @cached_property
    def _scope(self):
        """Return the names that code of this exercise can use.

        They are np, ag, the names of the module and of `names`, and the names that the solutions of
        earlier exercises define.
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
    """Register the decorated function as the check of exercise `name`; return the Exercise.

    The verdict on a wrong answer links to the playground, which draws the text `playground`.
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
    """Return the text without indentation, with each paragraph and list item on one line."""
    text = cleandoc(markdown)
    return text if "```" in text else re.sub(r"(?<=\S)\n(?![\s|#]|\$\$|[*-] |\d+\. )", " ", text)


def check(name, answer):
    """Return the Verdict on `answer` for exercise `name`; never raise an error.

    `answer` is the learner's value, function or class.
    """
    name = str(name)
    if re.match(r"\d\d\.", name) and (LESSONS / f"lesson_{name[:2]}").is_dir():
        _lesson(name[:2])
    if name not in EXERCISES:
        return Verdict(
            "wrong",
            (
                "hint",
                f"There is no exercise {name[:40]!r}: write the name as it is in the question.",
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
        if waits(answer) or any(answer is ours for ours in OURS):
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
        if unfinished(answer, blank_indices(exercise.stub)) or likely(error).kind == "error: blank":
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
    return Verdict("right", ("", exercise.why), ("but", remark or ""))


def _tried(error):
    """Describe the call that raised `error`, with the exercise's own text if there is one."""
    difference = getattr(error, "raised_in", None)
    return getattr(error, "tried", "") or (rows(difference)[0] if difference else "")


OURS = []  # solutions that yours_or_ours returned, so that a later check does not take them for answers


def yours_or_ours(name, answer, **names):
    """Return the learner's answer if its check accepts it without a remark, else the solution.

    `names` are the notebook's variables that the solution uses: `yours_or_ours("05.backward",
    backward, order=order)`.
    """
    called = name.partition(".")[2]
    verdict = check(name, answer)
    remark = dict(verdict.rows).get("but")
    if verdict.status == "right" and not remark:
        print(f"From now on the course uses your {called}.")
        return answer
    print(
        f"{called}: {'right, but with a limit that a later cell may meet' if remark else 'not right yet'}; "
        "from now on the course uses its own."
    )
    exec(EXERCISES[name].solution, names)
    OURS.append(names[called])
    return OURS[-1]


def registered():
    """Import every lesson's module and return {lesson number: module}."""
    return {
        folder.name[-2:]: _lesson(folder.name[-2:]) for folder in sorted(LESSONS.glob("lesson_*"))
    }


def _lesson(number):
    return import_module(f"autograd_course.lessons.lesson_{number}.exercises")
