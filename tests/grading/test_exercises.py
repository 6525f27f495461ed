"""Every lesson's exercises: wrong answers, stubs, and the notebook both unsolved (all "not yet")
and solved (all "right").
"""

import ast
import dis
import json
import re
import shutil
import subprocess
from functools import cache
from itertools import zip_longest
from pathlib import Path
from types import CodeType
from urllib.parse import parse_qs, urlsplit

import answer_cases
import nbformat
import once
import pytest
import rotation
from nbclient import NotebookClient

from autograd_course import record, sync_notebooks
from autograd_course.drawing.rules import AHEAD, derived
from autograd_course.grading import EXERCISES, check, edit
from autograd_course.grading.answers import defined
from autograd_course.grading.causes import ERRORS, WITH_FACTS, Cause, own
from autograd_course.grading.sentences import NOTES, SENTENCES, WHEN
from autograd_course.play.reader import read
from autograd_course.quiz.texts import Question

NOTEBOOKS = sorted(sync_notebooks.NOTEBOOKS.glob("[0-9]*.ipynb"))
EVERY_NOTEBOOK = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)

NAMES = list(EXERCISES)
# A change in this folder affects the verdict on every answer. Without one, the answers of a lesson
# that is not touched are checked at one of nine commits.
GRADER = "autograd_course/grading/"
ANSWERS = pytest.mark.rotating(GRADER, every=9)
WRONG = [(name, i) for name in NAMES for i in range(len(answer_cases.wrong_answers(name)))]


def of_lesson(path):
    return [name for name in NAMES if name[:2] == path.stem[:2]]


# ---------------------------------------------------------------- answers


@cache
def verdict_on(name, i):
    """Return the verdict on a wrong answer and the cause that it must name."""
    record.FILE.unlink(missing_ok=True)  # with thousands of wrong answers it would be slow to read
    answer, expected = EXERCISES[name].run(answer_cases.wrong_answers(name)[i])
    return check(name, answer), expected


def names_the_slip(cause):
    """Return False if a verdict only shows where the first difference is."""
    return cause.kind not in ("", "first entry") or bool(cause.part and cause.part.name)


def is_mistake(name, cause):
    """Return the number, from 1, of the exercise's mistake that has this hint, or None."""
    mistakes = (one for one in EXERCISES[name].mistakes if isinstance(one, tuple))
    known = (own(hint) for _, hint in mistakes)
    return next(
        (n for n, one in enumerate(known, 1) if (one.kind, one.text) == (cause.kind, cause.text)),
        None,
    )


def parsed(expected):
    """Return the kind, the number of the part or 0, and the other text required, of an entry of
    `wrong`.
    """
    if isinstance(expected, Cause):
        return expected.kind, 0, ""
    cause, _, shown = expected.partition(" | ")
    kind, _, part = cause.partition(" in part ")
    return kind, int(part or 0), shown


def without_numbers(text):
    return re.sub(r"[\d.,() −-]+", " ", text)


def fault(name, i):
    """Return what is wrong with the verdict on a wrong answer, or "" if it names the expected
    cause.
    """
    verdict, expected = verdict_on(name, i)
    cause = verdict.cause
    if verdict.status != "wrong":
        return f"not caught\n{verdict}"
    if i < answer_cases.count_of_mistakes(name):  # the exercise's own hint
        wanted = own(expected)
        if cause.kind == wanted.kind and wanted.text in cause.text:
            return ""
        return (
            f"the hint is not in the verdict. The check hands its mistakes on, hints={name.partition('.')[2]}.mistakes, "
            f"to expect_call or expect_over: expect alone calls no function\n{verdict}"
        )
    if isinstance(
        expected, Cause
    ):  # by reference: a hint of the exercise, or of grading/mistakes.py
        same = (cause.kind, cause.text) == (expected.kind, expected.text)
        return "" if same else f"another cause than {expected}\n{verdict}"
    kind, part, shown = parsed(expected)
    if kind.startswith("mistake "):
        kind, found = int(kind.split()[1]), is_mistake(name, cause)
    elif kind.startswith("own: "):
        kind, found = "own", cause.kind
    else:
        found = cause.kind or "none"
    found = found, cause.part.number if cause.part else 0
    if found != (kind, part):
        named = f"{found[0]} in part {found[1]}" if found[1] else found[0]
        return f"expected {expected!r}, but the verdict names {named!r}\n{verdict}"
    return "" if shown in repr(verdict) else f"{shown!r} is not in the verdict\n{verdict}"


@ANSWERS
@pytest.mark.parametrize("name", NAMES)
def test_wrong_answers_get_their_cause(name, record_property):
    """Each wrong answer is rejected, and its verdict names the expected cause."""
    answers = range(len(answer_cases.wrong_answers(name)))
    found = {i: fault(name, i) for i in answers}
    hinted = sum(not found[i] and names_the_slip(verdict_on(name, i)[0].cause) for i in answers)
    record_property("wrong answers", (len(found), hinted))
    assert not any(found.values()), "\n\n".join(
        f"{name}, wrong answer {i}: {said}" for i, said in found.items() if said
    )


@pytest.mark.rotating(GRADER, "autograd_lib/", "autograd_course/source.py", every=9)
@pytest.mark.parametrize("name", NAMES)
def test_mistakes_of_an_exercise_get_their_hint(name):
    """The most frequent wrong answers get their hints, also after a change of the engine."""
    found = {i: fault(name, i) for i in range(answer_cases.count_of_mistakes(name))}
    assert not any(found.values()), "\n\n".join(filter(None, found.values()))


@ANSWERS
@pytest.mark.parametrize("name", NAMES)
def test_answers_with_one_cause_get_one_hint(name):
    """Each "own: …" names one hint of the exercise, apart from its numbers, and no two names
    share a hint.
    """
    hints = {}
    for i in range(answer_cases.count_of_mistakes(name), len(answer_cases.wrong_answers(name))):
        verdict, expected = verdict_on(name, i)
        kind = parsed(expected)[0]
        if kind.startswith("own: "):
            hints.setdefault(kind, set()).add(without_numbers(verdict.cause.text))
            assert is_mistake(name, verdict.cause) is None, (
                f"{kind} is the hint of mistake {is_mistake(name, verdict.cause)}: write that"
            )
    for kind, texts in hints.items():
        assert len(texts) == 1, f"{kind} stands for several hints: {texts}"
        others = [other for other in hints if other != kind and hints[other] & texts]
        assert not others, f"{kind} and {others} are the same hint: {texts}"


@ANSWERS
@pytest.mark.parametrize("name", NAMES)
def test_a_check_gives_the_same_verdict_again(name):
    last = len(answer_cases.wrong_answers(name)) - 1
    again = check(name, EXERCISES[name].run(answer_cases.wrong_answers(name)[last])[0])
    assert repr(verdict_on(name, last)[0]) == repr(again)


@ANSWERS
@pytest.mark.parametrize("name", ["03.power", "08.scatter", "09.matmul", "10.careful", "14.pool"])
def test_no_verdict_depends_on_how_a_sentence_is_worded(name, monkeypatch):
    """Each wrong answer gets the same cause when every sentence of the grader is replaced by
    another.
    """
    chosen = range(0, len(answer_cases.wrong_answers(name)), 2)
    causes = [verdict_on(name, i)[0].cause for i in chosen]
    assert {cause.kind for cause in causes} - {"own"}, "no sentence of the grader is among these"
    for kind, text in SENTENCES.items():
        monkeypatch.setitem(SENTENCES, kind, f"Its {text[:1].lower()}{text[1:]} Look again.")
    for kind in NOTES:
        monkeypatch.setitem(NOTES, kind, "reworded")
    for when in WHEN:
        monkeypatch.setitem(WHEN, when, ("reworded {0}", "reworded {0}"))
    for i, cause in zip(chosen, causes):
        answer, _ = EXERCISES[name].run(answer_cases.wrong_answers(name)[i])
        assert check(name, answer).cause == cause


def test_the_kinds_with_facts_are_those_whose_sentence_mentions_one():
    mention = {kind for kind, text in SENTENCES.items() if "{0" in text}
    assert {kind for kind in SENTENCES if Cause(kind).of_shape} <= mention
    assert {kind for kind in mention if not kind.startswith(("shape", "error"))} == WITH_FACTS
    assert set(ERRORS) | {"error: exit"} == {kind for kind in SENTENCES if kind.startswith("error")}


@ANSWERS
@pytest.mark.parametrize("lesson", [f"{path.stem[:2]}.hints" for path in NOTEBOOKS])
def test_nine_in_ten_wrong_answers_get_a_hint_of_their_own(lesson):
    mine = [(name, i) for name, i in WRONG if name[:2] == lesson[:2]]
    bare = [f"{name} {i}" for name, i in mine if not names_the_slip(verdict_on(name, i)[0].cause)]
    assert len(bare) <= len(mine) / 10, (
        f"{len(bare)} of {len(mine)} have none; add (wrong answer, hint) to `mistakes` for some of {bare}"
    )


# A warning would be shown to a learner. A resource that nbval's kernel left open may be reported
# while an answer runs, so that warning is ignored.
@pytest.mark.filterwarnings("error", "ignore:Exception ignored in. <_io.FileIO name='/dev/null'")
@ANSWERS
@pytest.mark.parametrize("name", NAMES)
def test_the_solution_and_every_other_style_is_right(name):
    for code in answer_cases.right_answers(name):
        verdict = check(name, EXERCISES[name].answer(code))
        assert verdict.status == "right", f"{code}\n{verdict}"


@pytest.mark.parametrize("name", NAMES)
def test_an_exercise_is_whole(name):
    exercise = EXERCISES[name]
    wrong = answer_cases.wrong_answers(name)
    assert len(wrong) >= 4, (
        f"{name} has {len(wrong)} wrong answers, and 4 are the least: add to its mistakes, or to wrong_answers.py"
    )
    for _, expected in map(exercise.run, wrong[answer_cases.count_of_mistakes(name) :]):
        kind = parsed(expected)[0]
        assert kind in ("none", "own", *SENTENCES) or re.match(r"(own: .|mistake \d+$)", kind), (
            expected
        )
    assert all(hint for _, hint in map(exercise.run, wrong))
    assert (
        exercise.difficulty in ("easy", "medium", "hard", "optional")
        and 1 <= exercise.minutes <= 20
    )
    assert exercise.importance in (1, 2, 3)
    assert exercise.difficulty != "optional" or exercise.importance == 1, "optional is not needed"
    assert exercise.question and exercise.why and exercise.hints
    ast.parse(exercise.solution)


@pytest.mark.parametrize("name", NAMES)
def test_unfilled_stubs_never_pass(name):
    assert check(name, ...).status == check(name, None).status == "not yet"
    assert check(name, object()).status == "wrong"
    assert check(name, lambda *_: 1e9).status == "wrong"


def test_a_wrong_answer_leads_to_the_playground():
    """The link holds a text that the playground draws, and a right answer has no link."""
    shown = [one for one in EXERCISES.values() if one.playground]
    assert len(shown) > 3
    for one in shown:
        assert read(one.playground).output == "z"
    wrong = check("03.divide", (lambda g, z, x, y: g, lambda g, z, x, y: g))
    (address,) = re.findall('href="(.*?)"', wrong._repr_html_())
    assert address.startswith("playground.ipynb#")
    assert parse_qs(urlsplit(address).fragment) == {"text": [EXERCISES["03.divide"].playground]}
    right = check("03.divide", (lambda g, z, x, y: g / y, lambda g, z, x, y: -g * z / y))
    assert right.status == "right" and "href" not in right._repr_html_()


def blanks(stub):
    """Return one copy of the stub for each `...`, which keeps this one and fills the others with
    a number.
    """
    parts = stub.split("...")
    for kept in range(1, len(parts)):
        yield (
            "".join(
                part + ("..." if i == kept else "7.0") for i, part in enumerate(parts[:-1], start=1)
            )
            + parts[-1]
        )


@pytest.mark.parametrize("name", NAMES)
def test_a_stub_is_not_checked_until_every_blank_is_filled(name):
    stub = EXERCISES[name].stub
    assert "..." in stub
    for code in [stub, *blanks(stub)]:
        scope = {}
        exec(code, scope)
        assert check(name, eval(defined(stub), scope)).status == "not yet", code


def test_an_edit_is_the_solution_with_a_slip(monkeypatch):
    exercise = sample(
        solution="\n    left = 1 + x\n    right = 2 * x",
        names=lambda: {"x": 5},
        mistakes=[edit("1", "2", "2", "1", "Swapped?"), edit("+ x", "- x", "A sign.")],
    )
    monkeypatch.setitem(EXERCISES, "99.two_sides", exercise)
    for kept in (answer_cases.WRONG, answer_cases.ACCEPTED):
        monkeypatch.setitem(kept, "99.two_sides", [])
    answer_cases.cases(
        "99.two_sides",
        wrong=[edit("2", "3", "got")],
        accepted=["(6, 10)", edit("1 + x", "x + 1"), "a = x\nleft, right = a + 1, a + a"],
    )
    wrong = [*map(exercise.run, answer_cases.wrong_answers("99.two_sides"))]
    assert wrong == [((7, 5), "Swapped?"), ((-4, 10), "A sign."), ((6, 15), "got")]
    assert exercise.mistakes_in(1) == [(5, "Swapped?"), (10, "A sign.")]
    assert [exercise.answer(code) for code in answer_cases.right_answers("99.two_sides")[1:]] == [
        (6, 10)
    ] * 3
    for old, said in [
        ("x", "'x' once in the solution, found it 2 times"),
        ("y", "'y' once in the solution, found it 0 times"),
        ("left = 1 + x", "overlap"),
    ]:
        slip = edit("1 + x", "x", old, "", "!")
        with pytest.raises(ValueError, match=said):
            answer_cases.cases("99.two_sides", wrong=[slip])
        with pytest.raises(ValueError, match=said):
            sample(solution=exercise.solution, mistakes=[slip])
        monkeypatch.setitem(EXERCISES, "99.two_sides", exercise)


def test_wrong_answers_stand_beside_the_tests_of_their_lesson():
    """Wrong answers are in the test folder of their lesson, in the order of the exercises."""
    for number in {name[:2] for name in NAMES}:
        text = (
            Path(answer_cases.__file__).parent / f"lessons/lesson_{number}/wrong_answers.py"
        ).read_text(encoding="utf-8")
        names = re.findall(r'^cases\(\s+"(.*?)"', text, re.M)
        assert names == [name for name in NAMES if name[:2] == number and name in names] != []


# ---------------------------------------------------------------- in their notebooks

LEFT, ONE, SHORT = (
    "left to the learner, beside its partner",
    "the lesson's knows one axis, or none",
    "the library's is folded up",
)
# Every rule of the table has the verdict "same line" in the lesson that derives it, except for
# these, with the reason.
OTHERWISE = {
    "power, to x": "0 at 0⁰, which is stated",
    "power, to y": "0 at x = 0, which is stated",
    "gelu, to x": "x is clipped first, where x³ would overflow",
    "softplus, to x": "`ag.sigmoid` is `sigmoid` there",
    "maximum, to y": LEFT,
    "minimum, to x": LEFT,
    "minimum, to y": LEFT,
    "scatter, to x": LEFT,
    "sum, to x": "`restore` is `_keep_dims` there",
    "mean, to x": "0 of an empty array",
    "nll_loss, to x": "0 of an empty batch",
    "log_softmax, to x": "`g.sum()`, which is quicker than `np.sum(g)`",
    "relu, to x": "`_where` is np.where, quicker where 0 stands beside",
    "where, to x": "as with relu",
    "transpose, to x": ONE,
    "concatenate, to xs[0]": ONE,
    "concatenate, to xs[1]": ONE,
    "max, to x": ONE,
    "min, to x": ONE,
    "logsumexp, to x": ONE,
    "conv2d, to x": SHORT,
    "conv2d, to y": SHORT,
}


def home(rule):
    """Return the lesson that derives a rule such as "power, to y"."""
    row, _, letter = rule.partition(", to ")
    return AHEAD.get((row, letter), derived()[row])


class Run:
    """Run a notebook with its kernel, and put answers in place of its stubs."""

    def __init__(self, kernel, notebook):
        self.kernel, self.code = (
            kernel,
            [cell for cell in notebook.cells if cell.cell_type == "code"],
        )
        self.ran_again = set()

    def answer(self, answers):
        """Run the stubs of the exercises in `answers`, a dict from exercise to code, with this code,
        and all cells that depend on them, in order; return their numbers.
        """
        stubs = {f"{sync_notebooks.stem(name)}-stub": code for name, code in answers.items()}
        for cell in self.code:
            cell.source = stubs.get(cell.id, cell.source)
        again = depending(
            [cell.source for cell in self.code],
            {i for i, cell in enumerate(self.code) if cell.id in stubs},
            self.ran_again,
        )
        self.ran_again |= again
        for i in sorted(again):
            self.kernel.run(self.code[i])
        return [self.code[i] for i in again]

    def rules(self):
        """Return {"multiply, to x": "same line"}, the result of the notebook's `same_line` for
        each rule of the learner.
        """
        shown = "\n".join(
            output.get("data", {}).get("text/plain", "")
            for cell in self.code
            if "same_line(" in cell.source
            for output in cell.outputs
        )
        return dict(
            re.findall(
                r"^(\w+, to \S+): (same line|different, but correct|correct, with a limitation|not the same|not yet)",
                shown,
                re.M,
            )
        )


def depending(sources, changed, ran_again):
    """Return the numbers of the cells that must run again after these have changed.

    These are the cells that read a variable that one of them writes, and the cells that restore
    variables which were overwritten since.
    """
    used = [names(source) for source in sources]
    writers = {
        name: [i for i, (_, _, written) in enumerate(used) if name in written]
        for name in set().union(*(written for _, _, written in used))
    }

    def needs(i):
        """Return (name, last earlier cell that wrote it) for all variables that a cell or its
        functions read.
        """
        left, seen = set(used[i][0]), set()
        while left:
            seen.add(name := left.pop())
            if before := [j for j in writers.get(name, []) if j < i]:
                yield name, before[-1]
                left |= used[before[-1]][1] - seen

    needed, again, known = [[*needs(i)] for i in range(len(sources))], set(changed), None
    while known != again:
        known = set(again)
        for i, needs in enumerate(needed):
            for name, writer in needs:
                if writer in again:
                    again.add(i)
                elif i in again and any(
                    j > writer or j in again | ran_again for j in writers[name] if j != writer
                ):
                    again.add(writer)
    return again


def names(source):
    """Return the variables that a cell reads before it writes them, that its functions read, and
    that it writes or changes, as in `x.data = 1`.
    """
    read, later, written, changed = set(), set(), set(), set()
    for step in dis.get_instructions(compile(source, "a cell", "exec")):
        if step.opname == "STORE_NAME":
            written.add(step.argval)
        elif step.opname == "LOAD_NAME":
            read |= {step.argval} - written
        elif isinstance(step.argval, CodeType):
            later |= set(loaded(step.argval))
            read |= later - written
    for part in ast.walk(ast.parse(source)):
        if isinstance(part, ast.Attribute | ast.Subscript) and isinstance(part.ctx, ast.Store):
            while isinstance(part, ast.Attribute | ast.Subscript):
                part = part.value
            changed.add(getattr(part, "id", None))
    record = (
        {"progress", "learning_path"} if "check" in read else set()
    )  # they show results that a check has stored
    return read, later, written | record | changed & (read | later)


def loaded(code):
    """Return the global names that a function, or a function inside it, uses."""
    yield from (
        step.argval
        for step in dis.get_instructions(code)
        if step.opname in ("LOAD_NAME", "LOAD_GLOBAL")
    )
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from loaded(inner)


def verdicts(cells, names):
    """Return a dict from each exercise to the first line of its verdict."""
    shown = {cell.id: cell.outputs for cell in cells if cell.cell_type == "code"}
    return {
        name: shown[f"{sync_notebooks.stem(name)}-check"][-1]["data"]["text/plain"].splitlines()[0]
        for name in names
    }


@pytest.mark.parametrize(
    "sources, changed, again",
    [
        (
            ["f = 1", "y = f", "z = y", "f = 2", "f"],
            {0},
            {0, 1, 2},
        ),  # the cells that read it, until it is assigned again
        (["f = 1", "for f in range(3): f", "f"], {0}, {0}),  # written before it is read
        (["f = 1", "def g(x): return f * x", "h = lambda: g(2)", "h()"], {0}, {0, 1, 2, 3}),
        (["f = 1", "def g(f): return f"], {0}, {0}),
        (["f = 1", "x.data = f", "x", "x = 0"], {0}, {0, 1, 2}),
        (["x = 1", "f = 1", "f + x", "x = 2"], {1}, {0, 1, 2}),  # with the x of that cell
        (["x = 1", "def g(): return x", "f = 1", "f + g()", "x = 2"], {2}, {0, 1, 2, 3}),
        (["x = 1", "f = 1", "x, y = f, 2", "x + 1", "x = 3", "x + f"], {1}, {1, 2, 3, 4, 5}),
        (["x = 1", "x += 1", "f = 1", "f + x", "x = 0"], {2}, {0, 1, 2, 3}),
        (["from a import check, progress", "f = 1", "check(f)", "progress()"], {1}, {1, 2, 3}),
    ],
)
def test_cells_that_depend_on_others_are_run_again(sources, changed, again):
    assert depending(sources, changed, set()) == again


def test_a_cell_that_ran_again_has_written_over_what_others_wrote():
    sources = ["f = 1", "x = f", "x = 2", "h = 1", "h + x"]
    assert depending(sources, {0}, set()) == {0, 1} and depending(sources, {3}, set()) == {3, 4}
    assert depending(sources, {3}, {0, 1}) == {2, 3, 4}


@EVERY_NOTEBOOK
def test_untouched_notebook_says_not_yet(path):
    notebook = nbformat.read(path, as_version=4)
    worked_in = False  # if the learner has worked in this clone, the stored run is theirs
    for name in of_lesson(path):
        stub = next(
            cell for cell in notebook.cells if cell.id == f"{sync_notebooks.stem(name)}-stub"
        )
        worked_in |= stub.source != EXERCISES[name].stub
        stub.source = EXERCISES[name].stub
    untouched = once.run_in_copy(notebook, path) if worked_in else once.notebook(path)
    assert verdicts(untouched.cells, of_lesson(path)) == dict.fromkeys(of_lesson(path), "not yet")
    assert untouched.metadata.left == {}, "nothing was done, so nothing is kept"


def try_other_styles(solved, names):
    """Run every other style of an exercise whose answer the lesson uses later, and all cells
    that read it.
    """
    built_on = {
        name: cell
        for name in names
        for cell in solved.code
        if f'yours_or_ours("{name}"' in cell.source
    }
    for styles in zip_longest(*(answer_cases.right_answers(name)[1:] for name in built_on)):
        answers = {name: code for name, code in zip(built_on, styles) if code}
        again = solved.answer(answers)
        assert all(built_on[name] in again for name in answers)
        assert verdicts(solved.code, names) == dict.fromkeys(names, "right"), styles


@EVERY_NOTEBOOK
def test_solved_notebook_says_right(path):
    """Every verdict is "right" with the solutions and, for the lessons chosen by rotation.py,
    with other styles in the same kernel.
    """
    names = of_lesson(path)
    with once.continued_kernel(path) as (kernel, notebook):
        solved = Run(kernel, notebook)
        solved.answer({name: EXERCISES[name].solution for name in names})
        assert verdicts(solved.code, names) == dict.fromkeys(names, "right")
        rules = {
            rule: verdict for rule, verdict in solved.rules().items() if home(rule) == path.stem[:2]
        }
        assert "not the same" not in rules.values()
        others = {rule: verdict for rule, verdict in rules.items() if verdict != "same line"}
        listed = {rule for rule in OTHERWISE if home(rule) == path.stem[:2]}
        assert others.keys() <= listed, (
            f"{ {rule: others[rule] for rule in others.keys() - listed} }: pass the row's own rule to "
            "same_line in the notebook, or list the rule in OTHERWISE of this file, with the reason"
        )
        assert listed <= others.keys(), (
            f"remove {listed - others.keys()} from OTHERWISE: the verdict is "
            f"{[rules.get(rule, 'missing') for rule in listed - others.keys()]}"
        )
        if rotation.is_chosen(path.stem[:2], [GRADER], every=9):
            try_other_styles(solved, names)
        assert names, f"add an exercise to autograd_course/lessons/lesson_{path.stem[:2]}"
        record = json.loads((kernel.folder / "progress.json").read_text(encoding="utf-8"))
        assert sorted(record["exercises"]) == sorted(names)


def test_in_a_notebook_an_error_shows_the_learners_cells_and_lines(tmp_path, monkeypatch):
    monkeypatch.delenv(
        "JUPYTER_PATH", raising=False
    )  # a kernel as Jupyter starts it, not one of kernels.py
    cells = [
        "from autograd_course import check",
        "def inner(x):\n    return [unknown(i) for i in range(3)]",
        "def downhill(x, gradient):\n    def nested(y):\n        return inner(y)\n    return nested(x)",
        'check("00.downhill", downhill)',
        "def downhill(x, gradient):\n    return eval('x -')",
        'check("00.downhill", downhill)',
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(
        notebook, timeout=60, record_timing=False, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    assert [len(cell.outputs) for cell in notebook.cells] == [0, 0, 0, 1, 0, 1], (
        "a mistake that was compared has printed"
    )
    first, second = (notebook.cells[i].outputs[0]["data"]["text/plain"] for i in (3, 5))
    assert (
        first
        == """\
wrong
tried     downhill(2, 4)
raised    cell [3], line 4: return nested(x)
          cell [3], line 3: return inner(y)
          cell [2], line 2: return [unknown(i) for i in range(3)]
          NameError: name 'unknown' is not defined
hint      The name unknown is not defined. Is it misspelled, or has a cell above not been run?"""
    )
    assert "cell [5], line 2: return eval('x -')" in second and "SyntaxError" in second


def committed(path):
    """Return the cells as git would commit them, or None."""
    shown = (
        subprocess.run(["git", "show", f":./{path.name}"], cwd=path.parent, capture_output=True)
        if shutil.which("git")
        else None
    )
    return json.loads(shown.stdout)["cells"] if shown and shown.returncode == 0 else None


@EVERY_NOTEBOOK
def test_notebook_is_as_its_source_has_it(path):
    """A learner may have worked in the stub cells of a clone; for these, the committed version
    counts.
    """

    def off(cells):
        _, differ, worked = sync_notebooks.weave(cells, path.stem[:2])
        return differ + worked

    mine = off(sync_notebooks.read(path)["cells"])
    if mine and all(name.endswith("-stub") for name in mine) and committed(path):
        mine = off(committed(path))
    assert mine == [], (
        f"these cells differ from lesson_{path.stem[:2]}/exercises.py: run {sync_notebooks.COMMAND}"
    )


# ---------------------------------------------------------------- weave


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Create a lesson 99 with one exercise, one prediction and three questions, in a folder that
    holds only its notebook.
    """
    monkeypatch.setitem(EXERCISES, "99.two_sides", sample())
    monkeypatch.setitem(
        sync_notebooks.PREDICTIONS, "99.sign", Question("Up or down?\n\nHow *far*?")
    )
    monkeypatch.setitem(
        sync_notebooks.RECALL, "99", [Question("One?"), Question("Two?"), Question("Three?")]
    )
    store(
        tmp_path,
        [
            ("title", "markdown", "# Nothing"),
            ("ask", "code", 'recall("99")'),
            ("guess", "code", 'predict("99.sign")'),
            ("here", "markdown", "exercise 99.two_sides"),
            ("end", "markdown", "The end."),
        ],
    )
    return tmp_path


def sample(**changed):
    from autograd_course.grading import exercise

    told = {
        "minutes": 2,
        "difficulty": "easy",
        "importance": 2,
        "question": "Two sides of\nwhat?\n\n- one\n- two",
        "why": "So.",
        "stub": "\n    left = ...\n    right = ...",
        "hints": ["First.", ("Help: it is 0", "Is it?"), "Second."],
        "solution": "\n    left = 1\n    right = 2",
        "explained": "One and two.",
    }
    try:
        return exercise("99.two_sides", **told | changed)(lambda answer: None)
    finally:
        EXERCISES.pop("99.two_sides", None)


def store(folder, cells):
    sync_notebooks.write(
        folder / "99_nothing.ipynb",
        {
            "cells": [
                {
                    "cell_type": kind,
                    "id": name,
                    "metadata": {},
                    "source": text.splitlines(keepends=True),
                }
                for name, kind, text in cells
            ]
        },
    )


def stored(folder):
    return {
        cell["id"]: "".join(cell["source"])
        for cell in sync_notebooks.read(folder / "99_nothing.ipynb")["cells"]
    }


def test_weave_unfolds_an_exercise_and_is_content_afterwards(folder, capsys):
    assert sync_notebooks.main(["--check"], folder) == 1
    assert (
        "two-sides-hints differs from lesson_99/exercises.py. Run python" in capsys.readouterr().out
    )
    assert "here" in stored(folder), "--check changes nothing"
    assert sync_notebooks.main([], folder) == 0
    cells = stored(folder)
    assert list(cells) == [
        "title",
        "recall-questions",
        "ask",
        "sign-predict",
        "guess",
        "two-sides-question",
        "two-sides-stub",
        "two-sides-check",
        "two-sides-hints",
        "end",
    ]
    assert (
        cells["two-sides-question"]
        == '> **Exercise** (2 minutes, easy, <span aria-hidden="true">●●○</span> useful). '
        "Two sides of what?\n>\n> - one\n> - two"
    )
    assert cells["two-sides-stub"] == "left = ...\nright = ..."
    assert cells["two-sides-check"] == 'check("99.two_sides", (left, right))'
    assert (
        cells["two-sides-hints"]
        == """\
<details><summary>Hint 1</summary>

First.

</details>

<details><summary>Help: it is 0</summary>

Is it?

</details>

<details><summary>Hint 2</summary>

Second.

</details>

<details><summary>Solution</summary>

```python
left = 1
right = 2
```

One and two.

</details>"""
    )
    assert cells["sign-predict"] == "> **Predict.** Up or down?\n>\n> How *far*?"
    assert (
        cells["recall-questions"] == "## Three questions from memory\n\n1. One?\n2. Two?\n3. Three?"
    )
    before = (folder / "99_nothing.ipynb").read_bytes()
    assert sync_notebooks.main(["--check"], folder) == sync_notebooks.main([], folder) == 0
    assert (folder / "99_nothing.ipynb").read_bytes() == before


def test_weave_carries_a_change_over_and_mends_an_edited_cell(folder, monkeypatch):
    sync_notebooks.main([], folder)
    monkeypatch.setitem(EXERCISES, "99.two_sides", sample(minutes=3))
    cells = stored(folder) | {"two-sides-hints": "none", "two-sides-stub": "left = 1\nright = 2"}
    kinds = dict.fromkeys(cells, "markdown") | dict.fromkeys(
        ["ask", "guess", "two-sides-stub", "two-sides-check"], "code"
    )
    store(folder, [(name, kinds[name], text) for name, text in cells.items()])
    assert sync_notebooks.main([], folder) == 0
    cells = stored(folder)
    assert "3 minutes" in cells["two-sides-question"] and "First." in cells["two-sides-hints"]
    assert cells["two-sides-stub"] == "left = ...\nright = ...", "our own solution is nobody's work"


def test_weave_keeps_a_learners_work(folder, capsys):
    sync_notebooks.main([], folder)
    notebook = sync_notebooks.read(folder / "99_nothing.ipynb")
    next(cell for cell in notebook["cells"] if cell["id"] == "two-sides-stub")["source"] = [
        "left = 3"
    ]
    sync_notebooks.write(folder / "99_nothing.ipynb", notebook)
    assert (
        sync_notebooks.main([], folder) == 1
        and "a learner has edited two-sides-stub" in capsys.readouterr().out
    )
    assert (
        sync_notebooks.main(["--check"], folder) == 1
        and "two-sides-stub" in capsys.readouterr().out
    )
    assert stored(folder)["two-sides-stub"] == "left = 3"
    assert sync_notebooks.main(["--force"], folder) == 0
    assert stored(folder)["two-sides-stub"] == "left = ...\nright = ..."


@pytest.mark.parametrize(
    "order, said",
    [
        (["question", "stub", "hints"], "there is no cell with the id two-sides-check"),
        (["question", "check", "stub", "hints"], "two-sides-check comes too early"),
    ],
)
def test_weave_says_which_cell_is_misplaced(folder, capsys, order, said):
    store(folder, [(f"two-sides-{part}", sync_notebooks.PARTS[part], "") for part in order])
    before = (folder / "99_nothing.ipynb").read_bytes()
    assert sync_notebooks.main([], folder) == 1 and said in capsys.readouterr().out
    assert (folder / "99_nothing.ipynb").read_bytes() == before


def test_weave_stores_clean(folder):
    notebook = sync_notebooks.read(folder / "99_nothing.ipynb")
    notebook["cells"][1] |= {
        "outputs": [{"output_type": "stream", "name": "stdout", "text": ["x"]}],
        "execution_count": 3,
    }
    notebook["metadata"]["kernelspec"] = {"name": "mine"}
    (folder / "99_nothing.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    sync_notebooks.main([], folder)
    text = (folder / "99_nothing.ipynb").read_text(encoding="utf-8")
    assert text == json.dumps(json.loads(text), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    assert (
        "kernelspec" not in text
        and '"x"' not in text
        and Path(folder / "99_nothing.ipynb").stat().st_size
    )
    nbformat.validate(json.loads(text))
