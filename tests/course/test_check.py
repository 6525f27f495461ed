"""check: three verdicts, the likely cause, and every planted wrong answer of every lesson caught with its hint."""
import linecache

import numpy as np
import pytest

import autograd_lib as ag
from autograd_lib.course import check, exercises
from autograd_lib.course.exercises import Wrong, exercise, expect, expect_call, registered, times, without


@pytest.fixture(autouse=True)
def samples(monkeypatch):
    """Exercises of our own, gone again after each test."""
    monkeypatch.setattr(exercises, "EXERCISES", dict(exercises.EXERCISES))

    @exercise("99.slope", why="It is a slope.")
    def slope(answer):
        for x in (0.5, -2.0):
            expect_call(answer, x, gives=2 * x, hints=[times(3, "Three times?"), (7, "Seven it is not.")])

    @exercise("99.pair", why="Two of them.")
    def pair(answer):
        expect(answer, (500, 1000), tried="both gradients", hints=[times(10, "Ten times both.")])

    @exercise("99.rule", why="A row.")
    def rule(answer):
        x, g = np.arange(6.0).reshape(2, 3) + 1, np.array([[1.0, -2.0, 3.0], [4.0, 0.5, 6.0]])
        right = (g * x).sum(0)
        for _ in range(2):
            expect_call(answer, g, x, gives=right, tried="rule(g, x)", hints=[without(2.0)])

    @exercise("99.word", why="Words too.")
    def word(answer):
        expect(answer, "Uphill", tried="the direction", shown="the other one")

    @exercise("99.truth", why="True.")
    def truth(answer):
        expect(answer, True, tried="the claim")


def learned(code):
    """What a learner's cell defines as `answer`, its lines known to tracebacks as in a notebook."""
    lines, scope = code.splitlines(keepends=True), {"__name__": "__main__", "np": np}
    linecache.cache["cell"] = len(code), None, lines, "cell"
    exec(compile(code, "cell", "exec"), scope)
    return scope["answer"]


NOT_YET = [
    ("99.slope", None), ("99.slope", ...), ("99.pair", (..., 1000)), ("99.pair", [500, None]),
    ("99.slope", learned("def answer(x):\n    ...")),
    ("99.slope", learned("def answer(x):\n    '''What to do.'''\n    ...")),
    ("99.slope", learned("def answer(x):\n    return ...")),
    ("99.slope", learned("def answer(x):\n    return 2 * ...")),
    ("99.slope", learned("def answer(x):\n    steps = ...\n    for step in steps:\n        x = x - step\n    return x")),
]


@pytest.mark.parametrize("name, answer", NOT_YET)
def test_not_yet(name, answer):
    verdict = check(name, answer)
    assert verdict.status == "not yet" and repr(verdict).startswith("not yet")


RIGHT = [
    ("99.slope", lambda x: 2 * x), ("99.slope", lambda x: np.float32(2 * x)), ("99.slope", lambda x: ag.Tensor(2 * x)),
    ("99.pair", (500, 1000)), ("99.pair", [500.0, np.float64(1000)]), ("99.pair", (ag.Tensor(500.0), ag.Tensor(1000.0))),
    ("99.rule", lambda g, x: (g * x).sum(0)), ("99.rule", lambda g, x: list((g * x).sum(0))),
    ("99.word", " uphill"), ("99.truth", True), ("99.truth", np.bool_(True)),
]


@pytest.mark.parametrize("name, answer", RIGHT)
def test_right(name, answer):
    verdict = check(name, answer)
    assert verdict.status == "right", verdict
    assert repr(verdict) == f"right\n{exercises.EXERCISES[name][1]}"


WRONG = [
    ("99.slope", lambda x: 6 * x, "Three times?"),
    ("99.slope", lambda x: 7, "Seven it is not."),
    ("99.slope", lambda x: 4 * x, "Exactly double."),
    ("99.slope", lambda x: x, "Exactly half."),
    ("99.slope", lambda x: -2 * x, "wrong sign"),
    ("99.slope", lambda x: x + 0.5, "got       -1.5"),
    ("99.slope", lambda x: "1", "A number was expected, and this is of type str."),
    ("99.slope", lambda x: True, "A number was expected, and this is of type bool."),
    ("99.slope", lambda x: np.array([2 * x]), "A single number was expected, and this holds 1"),
    ("99.slope", lambda x: np.nan, "got       nan"),
    ("99.slope", lambda x: print(end=""), "is there a return"),
    ("99.slope", lambda: 1, "TypeError"),
    ("99.slope", 1.0, "give it the function"),
    ("99.pair", (1000, 500), "the two swapped"),
    ("99.pair", (500, 2000), "Number 2 of 2 differs."),
    ("99.pair", (5000, 10000), "Ten times both."),
    ("99.pair", 500, "2 values were expected"),
    ("99.pair", (500, 1000, 1), "2 values were expected"),
    ("99.pair", "500, 1000", "2 values were expected"),
    ("99.rule", lambda g, x: (g * x).sum(0) / 2, "gradient that arrives"),
    ("99.rule", lambda g, x: g * x, "sum over the axis that was broadcast"),
    ("99.rule", lambda g, x: (g * x).sum(1), "Shape (2,), where (3,) was expected."),
    ("99.rule", lambda g, x: 5 * (g * x).sum(0), "Every entry is 5 times what was expected."),
    ("99.rule", lambda g, x: (g * x).sum(0)[::-1], "got "),
    ("99.rule", lambda g, x: [[1], [2, 3]], "An array was expected, and this is of type list."),
    ("99.rule", lambda g, x: 0 * x[0], "got       [0., 0., 0.]"),
    ("99.word", "downhill", "expected  the other one"),
    ("99.word", 3, "a text, in quotes"),
    ("99.truth", False, "got       False"),
    ("99.truth", 1, "True or False"),
    ("99.nothing", 1, "no exercise '99.nothing'"),
    ("nonsense", 1, "no exercise 'nonsense'"),
]


@pytest.mark.parametrize("name, answer, said", WRONG)
def test_wrong(name, answer, said):
    verdict = check(name, answer)
    assert verdict.status == "wrong" and repr(verdict).startswith("wrong\n")
    assert said in repr(verdict)


def test_a_difference_is_shown_whole():
    assert repr(check("99.slope", learned("def answer(x):\n    return 4 * x"))) == """\
wrong
tried     answer(0.5)
got       2
expected  1
hint      Exactly double."""


def test_the_learners_own_error_and_their_lines_alone():
    verdict = check("99.slope", learned("def helper(x):\n    return cos(x)\n\ndef answer(x):\n    return helper(x)"))
    assert repr(verdict) == """\
wrong
tried     answer(0.5)
raised    line 5: return helper(x)
          line 2: return cos(x)
          NameError: name 'cos' is not defined"""


def test_endless_recursion_is_shown_short():
    verdict = check("99.slope", learned("def answer(x):\n    return answer(x)"))
    assert "RecursionError" in repr(verdict) and len(repr(verdict).splitlines()) < 10


def test_the_caller_keeps_its_arrays():
    def careless(g, x):
        g *= x
        return g.sum(0)
    assert check("99.rule", careless).status == "right", "each call gets arrays of its own"


def test_html_says_it_with_icon_and_word():
    for answer, icon in [(None, "…"), (lambda x: 0, "✗"), (lambda x: 2 * x, "✓")]:
        verdict = check("99.slope", answer)
        html = verdict._repr_html_()
        assert icon in html and f"</span> {verdict.status}</strong>" in html
    assert "a &lt; b &amp; c" in exercises.Verdict("wrong", ("got", "a < b & c"))._repr_html_()


def test_one_check_can_say_it_in_its_own_words():
    @exercise("99.own", why="")
    def own(answer):
        raise Wrong("this", "that", "something else", "")
    assert repr(check("99.own", 1)) == "wrong\ntried     this\ngot       that\nexpected  something else"


# ---------------------------------------------------------------- the lessons' own exercises

LESSONS = registered()
PLANTED = [(name, i) for module in LESSONS.values() for name, answers in module.PLANTED.items() for i in range(len(answers))]


@pytest.mark.parametrize("name, i", PLANTED)
def test_planted_answer_is_caught_with_its_hint(name, i):
    answer, hint = LESSONS[name[:2]].PLANTED[name][i]
    first, second = check(name, answer), check(name, answer)
    assert first.status == "wrong", first
    assert hint in repr(first)
    assert repr(first) == repr(second)


def test_every_exercise_has_four_planted_answers_and_no_free_pass():
    names = [name for name in exercises.EXERCISES if not name.startswith("99")]
    planted = {name: answers for module in LESSONS.values() for name, answers in module.PLANTED.items()}
    assert sorted(names) == sorted(planted)
    assert min(map(len, planted.values())) >= 4
    for name in names:
        assert check(name, ...).status == check(name, None).status == "not yet"
        assert check(name, object()).status == "wrong"
        assert check(name, lambda *_: 1e9).status == "wrong"
    print(f"{len(PLANTED)} planted answers caught in {len(names)} exercises")
