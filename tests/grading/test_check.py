"""check returns three verdicts and the likely cause; this covers common mistakes, rules and
engines.
"""

import functools
import json
import linecache
import math
import re
import sys
import time
from decimal import Decimal
from fractions import Fraction
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course import check, record
from autograd_course import grading as exercises
from autograd_course.grading import (
    Wrong,
    exercise,
    expect,
    expect_call,
    formula,
    mistakes,
    rule_checks,
    sandbox,
    sentences,
    times,
    without,
)
from autograd_course.grading.causes import own
from autograd_course.grading.rule_checks import expect_engine, expect_rule, of_engine, of_rule
from autograd_course.grading.sandbox import StepLimitExceeded, bounded
from autograd_course.source import has_blank


def sample(name, why="So.", **told):
    """Return an exercise for which only the check matters."""
    return exercise(
        name,
        why=why,
        **{
            "minutes": 1,
            "difficulty": "easy",
            "importance": 3,
            "question": "?",
            "stub": "a = ...",
            "hints": ["!"],
            "solution": "a = 1",
        }
        | told,
    )


@formula("f(x) = 2x")
def twice(x):
    return 2 * x


@pytest.fixture(autouse=True)
def samples(monkeypatch):
    """Register sample exercises, and remove them after each test."""
    monkeypatch.setattr(exercises, "EXERCISES", dict(exercises.EXERCISES))
    monkeypatch.setattr(exercises, "OURS", [])

    @sample("99.slope", why="It is a slope.")
    def slope(answer):
        for x in (0.5, -2.0):
            expect_call(
                answer,
                x,
                gives=2 * x,
                hints=[
                    times(3, "Three times?"),
                    (7, "Seven it is not."),
                    (lambda x: x + 8, "Eight is added."),
                    (lambda x: x[0], "x is one number."),
                ],
            )

    @sample("99.applied")
    def applied(answer):
        for x in (0.5, -2.0):
            expect_call(
                answer, twice, x, gives=2 * x, hints=[(lambda f, x: f(x, x), "f takes one number.")]
            )

    @sample("99.pair", why="Two of them.")
    def pair(answer):
        expect(answer, (500, 1000), tried="both gradients", hints=[times(10, "Ten times both.")])

    @sample("99.rule", why="A row.")
    def rule(answer):
        x, g = np.arange(6.0).reshape(2, 3) + 1, np.array([[1.0, -2.0, 3.0], [4.0, 0.5, 6.0]])
        right = (g * x).sum(0)
        for _ in range(2):
            expect_call(answer, g, x, gives=right, tried="rule(g, x)", hints=[without(2.0)])

    @sample("99.word", why="Words too.")
    def word(answer):
        expect(answer, "Uphill", tried="the direction", shown="the other one")

    @sample("99.truth", why="True.")
    def truth(answer):
        expect(answer, True, tried="the claim")


def learned(code):
    """Return the `answer` that a learner's cell defines, with its source known to tracebacks as
    in a notebook.
    """
    lines, scope = code.splitlines(keepends=True), {"__name__": "__main__", "np": np}
    linecache.cache["cell"] = len(code), None, lines, "cell"
    exec(compile(code, "cell", "exec"), scope)
    return scope["answer"]


NOT_YET = [
    ("99.slope", None),
    ("99.slope", ...),
    ("99.pair", (..., 1000)),
    ("99.pair", [500, None]),
    ("99.slope", learned("def answer(x):\n    ...")),
    ("99.slope", learned("def answer(x):\n    pass")),
    ("99.slope", learned("def answer(x):\n    '''What to do.'''\n    ...")),
    ("99.slope", learned("def answer(x):\n    return ...")),
    ("99.slope", learned("def answer(x):\n    return 2 * ...")),
    (
        "99.slope",
        learned(
            "def answer(x):\n    steps = ...\n    for step in steps:\n        x = x - step\n    return x"
        ),
    ),
]


@pytest.mark.parametrize("name, answer", NOT_YET)
def test_not_yet(name, answer):
    verdict = check(name, answer)
    assert (
        verdict.status == "not yet"
        and repr(verdict).startswith("not yet")
        and "... (or pass)" in repr(verdict)
    )


RIGHT = [
    ("99.slope", lambda x: 2 * x),
    ("99.slope", lambda x: np.float32(2 * x)),
    ("99.slope", lambda x: ag.Tensor(2 * x)),
    ("99.pair", (500, 1000)),
    ("99.pair", [500.0, np.float64(1000)]),
    ("99.pair", (ag.Tensor(500.0), ag.Tensor(1000.0))),
    ("99.rule", lambda g, x: (g * x).sum(0)),
    ("99.rule", lambda g, x: list((g * x).sum(0))),
    ("99.word", " uphill"),
    ("99.truth", True),
    ("99.truth", np.bool_(True)),
]


@pytest.mark.parametrize("name, answer", RIGHT)
def test_right(name, answer):
    verdict = check(name, answer)
    assert verdict.status == "right", verdict
    assert repr(verdict) == f"right\n{exercises.EXERCISES[name].why}"


def unpacked(pair):
    first, second = pair
    return first + second


def cleared(g):
    g[g > 0] = 0
    return g


WRONG = [
    ("99.slope", lambda x: 6 * x, "Three times?"),
    ("99.slope", lambda x: 7, "Seven it is not."),
    ("99.slope", lambda x: 4 * x, "Exactly double."),
    ("99.slope", lambda x: x, "Exactly half."),
    ("99.slope", lambda x: -2 * x, "wrong sign"),
    ("99.slope", lambda x: x + 0.5, "got       -1.5"),
    ("99.slope", lambda x: "1", "Expected a number, got an object of type str."),
    ("99.slope", lambda x: True, "Expected a number, got an object of type bool."),
    ("99.slope", lambda x: lambda y: 2 * y, "The result is a function. Call it"),
    (
        "99.slope",
        lambda x: np.array([2 * x]),
        "Expected a single number, got a list or an array (number of entries: 1)",
    ),
    ("99.slope", lambda x: np.nan, "got       nan"),
    ("99.slope", lambda x: 2 * x + 0j, "got a complex number"),
    ("99.pair", (500, 1000 + 1e-9j), "complex number"),
    ("99.slope", lambda x: print(end=""), "Does every branch return"),
    ("99.slope", lambda: 1, "TypeError"),
    ("99.slope", 1.0, "pass the function itself"),
    ("99.pair", (1000, 500), "the two swapped"),
    ("99.pair", (500, 2000), "Number 2 of 2 differs."),
    ("99.pair", (5000, 10000), "Ten times both."),
    ("99.pair", (250, 500), "Exactly half."),
    ("99.slope", lambda x: x + 8, "Eight is added."),
    ("99.slope", lambda x: x[0], "x is one number."),
    ("99.slope", lambda x: x[1], "not subscriptable"),
    ("99.slope", lambda x: print(2 * x), "write return instead of print"),
    ("99.slope", lambda x: 2 * x * np.pi / 180, "degrees"),
    ("99.slope", lambda x: 2 * x / np.log(10), "which base"),
    ("99.slope", lambda x, y: 2 * x, "compare its arguments"),
    ("99.slope", lambda x: x(2), "pass the function itself"),
    ("99.slope", lambda x: x * np.array([x]).size(-1), "K.size(-1) is K.shape[-1]"),
    ("99.slope", lambda x: x * np.array([x]).shape(-1), "K.size(-1) is K.shape[-1]"),
    ("99.slope", lambda x: [np.array([x]).T() for _ in "a"], "K.size(-1) is K.shape[-1]"),
    ("99.slope", lambda x: x(np.array([x]).size), "pass the function itself"),
    ("99.slope", lambda x: 2 * print(end=""), "a function that you call lacks a return"),
    ("99.slope", lambda x: np.expand_dims(x, None), "is an axis None"),
    ("99.slope", lambda x: x * np.zeros(2, 3), "the shape as one tuple"),
    ("99.slope", lambda x: x ^ 2, "write a power as **"),
    ("99.slope", lambda x: math.tanh(np.array([x, x])), "np.tanh and so on take arrays"),
    ("99.slope", lambda x: np.array([x]).pow(2), "no .pow: use np.power(x, y) or **."),
    ("99.slope", lambda x: np.array([x]).mm(2), "no .mm: use @."),
    ("99.slope", lambda x: np.array([x]).log(), "no .log: write np.log(x)."),
    ("99.slope", lambda x: np.array([x]).sigmoid(), "no .sigmoid: write ag.sigmoid(x)."),
    ("99.slope", lambda x: np.array([x]).int(), "no .int: most of NumPy's functions"),
    ("99.slope", lambda x: np.array([[x]]).flatten(0, 1), "NumPy's flatten joins all axes"),
    ("99.slope", lambda x: np.ones((2, 3)) + np.ones(2), "only if keepdims is True"),
    ("99.slope", lambda x: np.array([x]).unsqueeze(1), "use np.expand_dims(x, axis)."),
    ("99.slope", lambda x: np.array([x]).expand_dims(1), "write np.expand_dims(x, axis)."),
    ("99.slope", lambda x: np.array([x]).expand(3, 1), "use np.broadcast_to(x, shape)."),
    ("99.slope", lambda x: np.array([x]).permute(0), "use x.transpose(axes)."),
    ("99.slope", lambda x: np.array([x]).tensordot(x), "use einsum(letters, x, y)."),
    ("99.slope", lambda x: unpacked(ag.grad(np.sum)), "Expected a value, got a function"),
    ("99.slope", lambda x: np.array(2 * x).grad, ".grad belongs to a Tensor"),
    (
        "99.slope",
        lambda x: [x, x].sum(),
        "A list has no .sum. Read its entries with sum(…), len(…)",
    ),
    ("99.slope", lambda x: cleared(np.float64(x)), "has no entries to write into"),
    ("99.slope", lambda x: torch.exp(x), "Answers use NumPy here, not torch"),  # noqa: F821
    (
        "99.slope",
        lambda x: np.array([x]).mul_(2),
        "no .mul_, which changes a PyTorch tensor in place",
    ),
    ("99.slope", lambda x: np.sum([x], dim=0), "axis=… and keepdims=True"),
    ("99.slope", lambda x: np.array([[x]]).sum(1, True), "axis=… and keepdims=True"),
    ("99.slope", lambda x: np.array([x, x]).item(), "the only number of an array"),
    ("99.slope", lambda x: np.array([x, x]).view(2, -1), "x.reshape(…)"),
    ("99.slope", lambda x: np.array([x, x]).view(-1), "x.reshape(…)"),
    ("99.slope", lambda x: np.array([[[x]]]).transpose(-1, -2), "x.mT for the last two"),
    ("99.slope", lambda x: np.cat([[x], [x]]), "cat is np.concatenate"),
    ("99.slope", lambda x: float(x).item(), "a plain Python number, which has no .item"),
    (
        "99.slope",
        lambda x: np.float64(x).dot(2),
        "a single number, which has no .dot: write np.dot",
    ),
    ("99.slope", lambda x: np.float64(x).sigmoid(), "which has no .sigmoid: write ag.sigmoid(x)."),
    ("99.slope", lambda x: np.float64(x).addcmul(2), "use a function of np, which takes"),
    ("99.slope", lambda x: np.array(2 * x).backward(), ".backward belongs to a Tensor"),
    ("99.slope", lambda x: np.array(2 * x).clone(), "x.copy() for a copy"),
    (
        "99.slope",
        lambda x: ag.Tensor(x, requires_grad=True).backward(retain_graph=True),
        "backward pass can be repeated",
    ),
    (
        "99.slope",
        lambda x: ag.Tensor(x, requires_grad=True).backward(gradient=1.0),
        "Pass the upstream gradient as grad",
    ),
    ("99.applied", lambda f, x: 3 * f(x), "your function(f, 0.5), where f(x) = 2x"),
    ("99.applied", lambda f, x: f(x, x), "f takes one number."),
    ("99.rule", lambda g, x: np.trunc((g * x).sum(0)), "truncated to whole numbers"),
    ("99.rule", lambda g, x: (g * x).sum(0) + 0.25, "Every entry is 0.25 too large."),
    ("99.rule", lambda g, x: (g * x).sum(0).astype(int), "truncated to whole numbers"),
    ("99.pair", 500, "Expected 2 values"),
    ("99.pair", (500, 1000, 1), "Expected 2 values"),
    ("99.pair", "500, 1000", "Expected 2 values"),
    ("99.rule", lambda g, x: (g * x).sum(0) / 2, "the upstream gradient is missing"),
    ("99.rule", lambda g, x: g * x, "sum over the axis that was broadcast"),
    ("99.rule", lambda g, x: (g * x).sum(1), "Expected shape (3,), got (2,)."),
    ("99.rule", lambda g, x: 5 * (g * x).sum(0), "Every entry is 5 times what was expected."),
    ("99.rule", lambda g, x: (g * x).sum(0)[::-1], "got "),
    ("99.rule", lambda g, x: x[0] > 1, "Multiply g by it"),
    ("99.rule", lambda g, x: g if x > 0 else 0 * g, "need a single True or False"),
    ("99.rule", lambda g, x: np.sum, "The result is a function. Call it"),
    ("99.rule", lambda g, x: [[1], [2, 3]], "Expected an array, got an object of type list."),
    ("99.rule", lambda g, x: 0 * x[0], "got       [0., 0., 0.]"),
    ("99.word", "downhill", "expected  the other one"),
    ("99.word", 3, "a string, in quotes"),
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


def test_a_sum_is_named_only_where_it_mends_the_shape():
    assert repr(check("99.rule", lambda g, x: g + x)).endswith("Expected shape (3,), got (2, 3).")


def test_a_difference_is_shown_whole():
    assert (
        repr(check("99.slope", learned("def answer(x):\n    return 4 * x")))
        == """\
wrong
tried     answer(0.5)
got       2
expected  1
hint      Exactly double."""
    )


def test_the_learners_own_error_and_their_lines_alone():
    verdict = check(
        "99.slope",
        learned("def helper(x):\n    return cos(x)\n\ndef answer(x):\n    return helper(x)"),
    )
    assert (
        repr(verdict)
        == """\
wrong
tried     answer(0.5)
raised    line 5: return helper(x)
          line 2: return cos(x)
          NameError: name 'cos' is not defined
hint      NumPy's names have the prefix np: write np.cos."""
    )


@pytest.mark.parametrize(
    "cell, error, judged",
    [
        ("slope = lambda x: 2x", SyntaxError(), False),
        ("def slope(x):\n    return 2x", SyntaxError(), False),
        ("other = slope 1", SyntaxError(), True),  # another name is assigned
        ("slope = lambda x: 2 * x", None, True),
        ("slope = lambda x: 2 * x", KeyboardInterrupt(), True),
    ],
)
def test_an_answer_whose_last_version_did_not_run_is_not_judged(monkeypatch, cell, error, judged):
    """Jupyter keeps the earlier answer if the cell of the answer has a syntax error."""
    last = SimpleNamespace(error_before_exec=error, info=SimpleNamespace(raw_cell=cell))
    shell = SimpleNamespace(last_execution_result=last)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    exercises.EXERCISES["99.slope"].stub = "slope = ..."
    verdict = check("99.slope", lambda x: 2 * x)
    assert (verdict.status != "not yet") == judged
    assert judged or "syntax error" in repr(verdict)


def test_endless_recursion_is_shown_short():
    verdict = check("99.slope", learned("def answer(x):\n    return answer(x)"))
    assert "RecursionError" in repr(verdict) and len(repr(verdict).splitlines()) < 10


# ---------------------------------------------------------------- one rule for every function of the learner's


def careless(g, x):
    g *= x
    return g.sum(0)


def pops(numbers):
    return 2 * numbers.pop()


def grows(x, seen=[]):  # noqa: B006
    seen.append(x)
    return 2 * x * len(seen)


def endless(x):
    while x != 5:
        try:
            x = x + 0
        except Exception:
            pass
    return x


def one_array_for_all(x, out=np.empty(5)):  # noqa: B008
    return np.multiply(2, x, out=out)


@pytest.mark.parametrize(
    "name, answer, said",
    [
        (
            "99.row",
            one_array_for_all,
            "Your function returns the same array every time and overwrites it at the next call",
        ),
        ("99.row", lambda x: np.float16(2.002 * x), "Right to the 3 digits that a float16 holds"),
        ("99.row", lambda x: 2 * x + 0j, "got a complex number"),
        ("99.rule", careless, "Your function modifies the caller's array. -= and *= do that too"),
        ("99.last", pops, "Your function modifies the caller's list."),
        ("99.slope", grows, "keeps something between the calls"),
        ("99.slope", endless, "not finished after 1,000,000 steps"),
        ("99.slope", lambda x: sum(1 for _ in iter(int, 1)), "does not end"),
        ("99.slope", lambda x: sys.exit("done"), "exit ends the whole program"),
        (
            "99.row",
            lambda x: (2 * a for a in x),
            "type generator, which can be read only once",
        ),
        ("99.row", lambda x: map(lambda a: 2 * a, x), "type map, which can be read only once"),
        ("99.pair", iter((500, 1000)), "Convert it to a list"),
        ("99.slope", lambda x: np.nan, "result is nan"),
        ("99.row", lambda x: 2 * x + np.nan * (x > 3), "result is nan"),
    ],
)
def test_one_rule_for_every_function(name, answer, said):
    @sample("99.last")
    def last(answer):
        expect_call(answer, [1.0, 2.0], gives=4.0)

    @sample("99.row")
    def row(answer):
        expect_call(answer, np.arange(5.0), gives=2 * np.arange(5.0))

    first, second = check(name, answer), check(name, answer)
    assert first.status == "wrong" == second.status and said in repr(first)
    assert sys.gettrace() is None


class Twice:
    def __call__(self, x):
        return 2 * x


@pytest.mark.parametrize(
    "name, answer",
    [
        ("99.slope", np.vectorize(lambda x: 2 * x)),
        ("99.slope", functools.cache(lambda x: 2 * x)),
        ("99.slope", Twice()),
        ("99.slope", functools.partial(lambda y, x: y * x, 2)),
        ("99.slope", lambda x: Fraction(x) * 2),
        ("99.slope", lambda x: Decimal(2 * x)),
        ("99.slope", lambda x: np.array(2 * x)),
        ("99.pair", (Fraction(500), Decimal(1000))),
        ("99.pair", np.array([500, 1000])),
        ("99.pair", range(500, 1001, 500)),
        ("99.rule", lambda g, x: [Fraction(float(a)) for a in (g * x).sum(0)]),
        ("99.rule", lambda g, x: [ag.Tensor(a) for a in (g * x).sum(0)]),
        ("99.rule", lambda g, x: (g[..., None] * x[..., None])[..., 0].sum(0)),
        ("99.drawn", lambda x, rng: x * rng.normal()),
    ],
)
def test_every_kind_of_function_and_number(name, answer):
    @sample("99.drawn")
    def drawn(answer):
        expect_call(
            answer, 2.0, np.random.default_rng(0), gives=2 * np.random.default_rng(0).normal()
        )

    assert check(name, answer).status == "right"


def test_an_answer_that_waits_is_not_waited_for_and_one_that_works_is(monkeypatch):
    monkeypatch.setattr(sandbox, "LONGEST", 1)

    def works(x):
        begun = time.process_time()
        while time.process_time() - begun < 0.5:
            np.linalg.inv(np.eye(300))
        return 2 * x

    begun = time.perf_counter()
    verdict = check("99.slope", lambda x: time.sleep(60) or 2 * x)
    assert "no result after 1 seconds" in repr(verdict) and "Your function waits" in repr(verdict)
    assert time.perf_counter() - begun < 30
    assert bounded(works, 2) == 4
    in_a_thread = Thread(
        target=lambda: kept.append(bounded(lambda: time.sleep(1.2) or 4))
    )  # no signals on this platform
    kept = []
    in_a_thread.start()
    in_a_thread.join()
    assert kept == [4]


def test_bounded_counts_calls_and_lines_and_leaves_a_debugger_alone():
    assert bounded(lambda n: [n, n], 3, most=10) == [3, 3]
    for function in (
        lambda n: [str(k) for k in range(n)],
        lambda n: max(range(n), key=lambda k: -k),
    ):
        with pytest.raises(StepLimitExceeded):
            bounded(function, 10_000, most=1000)

    def on_one_line(n):
        while True:
            pass  # noqa: E701

    def on_two_lines(n):
        while True:
            pass

    def with_a_condition(n):
        k = 1
        while k:
            k += 1  # noqa: E701

    for function in (on_one_line, on_two_lines, with_a_condition):
        with pytest.raises(StepLimitExceeded):
            bounded(function, 1, most=1000)
    sys.settrace(tracer := lambda *_: None)
    try:
        assert (
            bounded(lambda n: len([k for k in range(n)]), 10_000, most=10) == 10_000
            and sys.gettrace() is tracer
        )
    finally:
        sys.settrace(None)


@pytest.mark.parametrize(
    "answer, got, expected, hint",
    [
        (
            lambda x: x + (x == 13),
            "array of shape (5, 8), at [1, 5]: 14",
            "array of shape (5, 8), at [1, 5]: 13",
            "",
        ),
        (
            lambda x: x.T.reshape(5, 8),
            "at [0, 1]: 8",
            "at [0, 1]: 1",
            "in other places: reshape keeps the entries",
        ),
        (lambda x: x[::-1], "at [0, 0]: 32", "at [0, 0]: 0", "in reverse order along axis 0"),
        (lambda x: x.T, "shape (8, 5)", "shape (5, 8)", "transposed?"),
        (lambda x: x[0], "shape (8", "shape (5, 8)", "axis 0 is missing"),
        (
            lambda g: np.ones_like(g),
            "at [0, 0]: 1",
            "at [0, 0]: 0",
            "the upstream gradient is missing",
        ),
    ],
)
def test_the_first_entry_that_differs(answer, got, expected, hint):
    @sample("99.large")
    def large(answer):
        expect_call(
            answer, np.arange(40.0).reshape(5, 8), gives=np.arange(40.0).reshape(5, 8), tried="it"
        )

    rows = dict(check("99.large", answer).rows)
    assert (
        (got in rows["got"] or len(rows["got"]) > 30)
        and expected in rows["expected"]
        and hint in rows.get("hint", "")
    )


@pytest.mark.parametrize(
    "got, hint",
    [
        ((3.0, np.eye(2)), "Number 1 of 2 differs. Exactly half. The other is right."),
        (
            (6.0, np.array([[1.0, 0], [0, 2]])),
            "Number 2 of 2 differs. The first entry that differs is [1, 1]. The other is right.",
        ),
        ((3.0, np.zeros((2, 2))), "Number 1 of 2 differs, and so does number 2. Exactly half."),
        ((6.0, np.ones(2)), "Number 2 of 2 differs. Expected shape (2, 2), got (2,)"),
        ((np.eye(2), 6.0), "the wrong order: are the two swapped?"),
        (np.eye(2), "Expected 2 values, got one"),
    ],
)
def test_inside_a_pair_it_says_which_and_how(got, hint):
    @sample("99.two")
    def two(answer):
        expect(answer, (6.0, np.eye(2)), tried="both")

    assert hint in repr(check("99.two", got))


def test_among_arrays_a_part_is_called_array():
    @sample("99.arrays")
    def arrays(answer):
        expect(answer, [np.ones(2), np.eye(2)], tried="both")

    assert "Array 1 of 2 differs, and so does array 2. Exactly half." in repr(
        check("99.arrays", [np.ones(2) / 2, np.zeros((2, 2))])
    )


def test_a_single_part_is_not_numbered():
    @sample("99.alone")
    def alone(answer):
        expect(answer, [np.eye(2)], tried="it")

    assert (
        dict(check("99.alone", [np.ones((2, 2))]).rows)["hint"]
        == "The first entry that differs is [0, 1]."
    )


# ---------------------------------------------------------------- not yet

INDICES = [
    "return g[..., None]",
    "return g[...]",
    "A[k, ...] += g",
    "A[...] = g",
    "return g[..., k]",
    "del A[...]",
    "A[...] *= 2",
    "return A[..., 1:2] @ B[:, ..., k+1:2]",
    "return np.einsum('...ij->ij', g)",
    "A[..., 0] = B[..., 1]",
    "return (lambda x: x[..., 0])(g)",
    "x = A[..., None, :k] if k else A[...]",
    "A[..., k], B[..., i] = g, 1",
    "return g[0][..., None][...]",
]
BLANKS = [
    "...",
    "return ...",
    "A[i, k] += ...",
    "A[i, k] = ...",
    "return 2 * ...",
    "return ... * 2",
    "x = ...",
    "return (..., 2)",
    "return [..., g]",
    "return foo(...)",
    "return g[i](...)",
    "return (lambda g: ...)(g)",
    "A[..., k] = ...",
    "A[..., k] += ...",
    "return A[..., 0] + ...",
    "windows = ...\n    return fold(windows, A.shape[2:])",
]


@pytest.mark.parametrize("body", INDICES + BLANKS)
def test_an_ellipsis_in_an_index_is_no_blank(body):
    scope = {}
    exec(f"def function(g, A, B, i=0, j=1, k=2):\n    {body}", scope)
    assert has_blank(scope["function"]) == (body in BLANKS)
    assert has_blank(scope["function"], indices=True) == (body in BLANKS or "[...]" in body)


def test_only_a_verdict_of_the_check_is_shown_before_the_answer_is_complete(monkeypatch):
    class Late(Exception):
        early = True

    def slope(x):
        return ...

    for error, status in [
        (Late("too late"), "not yet"),
        (Wrong("a", "b", "c", "d"), "not yet"),
        (Wrong("a", "b", "c", "d", early=True), "wrong"),
        (Wrong("a", "b", "c", "d", early=True).because("another hint"), "wrong"),
    ]:

        def raises(answer, error=error):
            raise error

        monkeypatch.setattr(exercises.EXERCISES["99.slope"], "check", raises)
        assert check("99.slope", slope).status == status


def test_an_error_that_speaks_of_an_ellipsis_is_an_error():
    verdict = check("99.slope", lambda x: np.einsum("i->i", np.ones((2, 2))))
    assert verdict.status == "wrong" and "no '...' ellipsis" in repr(verdict)
    waiting = ...
    assert check("99.slope", lambda x: 2 * waiting).status == "not yet"
    assert check("99.slope", functools.partial(lambda y, x: ..., 2)).status == "not yet"


def test_too_few_answers_never_pass():
    @sample("99.rules", stub="a = ...\nb = ...")
    def rules(answer):
        for rule, x in zip(answer, (1.0, 2.0)):
            expect_call(rule, x, gives=2 * x)

    for answer in [(), "", [], {}, [Twice()], [Twice()] * 3]:
        assert "Expected 2 values" in repr(check("99.rules", answer))
    assert check("99.rules", [Twice(), Twice()]).status == "right"


def test_texts_of_any_length_and_dollars():
    class Loud(Exception):
        def __str__(self):
            raise ValueError

    def fails(x):
        raise ValueError("$5 and $6 " * 10**6)

    def loud(x):
        raise Loud

    verdict = check("99.slope", fails)
    assert len(repr(verdict)) < 3000 and 'class="mathjax_ignore"' in verdict._repr_html_()
    assert "Loud: (its text cannot be shown)" in repr(check("99.slope", loud))
    assert len(repr(check("9" * 10**6, 1))) < 200


def test_right_with_a_remark():
    @sample("99.deep", solution="deep = 7")
    def deep(answer):
        expect(answer, 1, tried="it")
        return "It fails when deep."

    assert repr(check("99.deep", 1)) == "right\nSo.\nbut       It fails when deep."
    assert exercises.yours_or_ours("99.deep", 1) == 7, "a later cell may go deep"


def test_a_verdict_has_an_icon_and_a_word_in_html():
    """The edge of the box has no colour, because the colours of a lesson have other meanings."""
    for answer, icon, edge in [
        (None, "…", "dotted"),
        (lambda x: 0, "✗", "dashed"),
        (lambda x: 2 * x, "✓", "solid"),
    ]:
        verdict = check("99.slope", answer)
        html = verdict._repr_html_()
        assert (
            icon in html
            and f"</span> {verdict.status}</strong>" in html
            and f"border-left:5px {edge};" in html
        )
    assert "a &lt; b &amp; c" in exercises.Verdict("wrong", ("got", "a < b & c"))._repr_html_()


def test_one_check_can_say_it_in_its_own_words():
    @sample("99.own")
    def own(answer):
        raise Wrong("this", "that", "something else", "")

    assert (
        repr(check("99.own", 1))
        == "wrong\ntried     this\ngot       that\nexpected  something else"
    )


def test_check_never_raises():
    class Hostile:
        def __eq__(self, other):
            raise ValueError("no")

        __hash__ = None

        def __repr__(self):
            return "hostile"

    for name, answer in [
        ("99.slope", lambda x: Hostile()),
        ("99.pair", Hostile()),
        ("99.word", Hostile()),
    ]:
        assert check(name, answer).status == "wrong"
    for name in [None, 99, "", "99", "99.", "../99.slope", "99.slope.more", ["99.slope"]]:
        assert "no exercise" in repr(check(name, 1))


def test_only_right_is_solved(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "FILE", tmp_path / "progress.json")
    check("99.slope", ...)
    assert not list(tmp_path.iterdir())
    for answer in (lambda x: 0, lambda x: 1 / 0):
        check("99.slope", answer)
    assert (
        record.read()["exercises"] == []
        and sum(record.read()["tries"]["99.slope"]["wrong"].values()) == 2
    )
    check("99.slope", lambda x: 2 * x)
    assert json.loads((tmp_path / "progress.json").read_text(encoding="utf-8"))["exercises"] == [
        "99.slope"
    ]


def test_our_answer_is_not_taken_for_the_learners(capsys):
    @sample("99.ours", solution="\ndef ours(x):\n    return 2 * x")
    def ours(answer):
        expect_call(answer, 3.0, gives=6.0)

    given = exercises.yours_or_ours("99.ours", lambda x: 5)
    assert "ours: not right yet. From now on" in capsys.readouterr().out
    assert given(4) == 8 and exercises.yours_or_ours("99.ours", given)(4) == 8, (
        "its cell, run twice"
    )
    assert check("99.ours", given).status == "not yet"
    said = capsys.readouterr().out
    assert "ours: not written yet. From now on" in said and "yours" not in said

    def mine(x):
        return x + x

    assert (
        exercises.yours_or_ours("99.ours", mine) is mine
        and "the course uses your ours" in capsys.readouterr().out
    )


def test_right_where_nothing_can_be_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "FILE", tmp_path / "no folder" / "progress.json")
    assert check("99.slope", lambda x: 2 * x).status == "right"


def test_what_a_mistake_prints_is_not_shown_and_what_the_learner_prints_is(capsys):
    @sample("99.loud")
    def loud(answer):
        expect_call(answer, 2.0, gives=4.0, hints=[mistakes.printed(lambda x: 2 * x)])

    def mine(x):
        print("x is", x)
        return 5.0

    check("99.loud", mine)
    check("99.loud", lambda x: 1 / 0)
    assert capsys.readouterr().out == "x is 2.0\n"


def test_what_numpy_warns_of_is_not_shown(recwarn):
    @sample("99.warned")
    def warned(answer):
        expect_call(
            answer,
            np.ones(1),
            gives=0.0,
            hints=[(lambda x: x.std(ddof=1), "One row over n − 1 is 0/0.")],
        )

    check("99.warned", lambda x: x.std(ddof=1))
    assert not recwarn.list


def test_an_array_changed_in_place_is_named():
    @sample("99.place")
    def place(answer):
        expect_call(answer, np.array([1.0, 3.0]), gives=np.array([-1.0, 1.0]))

    right, hint = mistakes.in_place(lambda x: x - x.mean())
    assert check("99.place", lambda x: x - x.mean()).status == "right"
    assert check("99.place", right).cause.kind == hint.kind


# ---------------------------------------------------------------- the library of common mistakes

ROWS = np.array([[1.5, -2.25, 3.0], [0.5, 4.75, -1.0]])
CALLS = {  # the right answer, and the arguments of the check's calls
    mistakes.sign_lost: (np.exp, 0.5),
    mistakes.doubled: (np.exp, 0.5),
    mistakes.reciprocal: (np.exp, 0.5),
    mistakes.in_a_tuple: (np.exp, 0.5),
    mistakes.printed: (np.exp, 0.5),
    mistakes.swapped: (lambda x: (x, 2 * x), 0.5),
    mistakes.keepdims_lost: (lambda x: x.sum(1, keepdims=True), ROWS),
}


@pytest.mark.parametrize("mistake", CALLS, ids=lambda mistake: mistake.__name__)
def test_a_mistake_is_made_and_recognised(mistake):
    right, x = CALLS[mistake]
    wrong, hint = mistake(right)

    @sample("99.known", mistakes=[mistake(right)])
    def known(answer):
        expect_call(answer, x, gives=right(x), hints=known.mistakes)

    assert check("99.known", right).status == "right"
    assert names(check("99.known", wrong), hint)


def names(verdict, hint):
    """Return True if a verdict names the cause listed with a mistake."""
    cause, known = verdict.cause, own(hint)
    return (cause.kind, cause.text) == (known.kind, known.text)


@pytest.mark.parametrize(
    "wrong, hint, right",
    [
        (*mistakes.sign_lost(-2.5), -2.5),
        (*mistakes.off_by(1, 36), 36),
        (*mistakes.multiplied(12, 24), 36),
        (*mistakes.local_gradient_only(1), -3),
        (*mistakes.reciprocal(-2.5), -2.5),
        (*mistakes.swapped((500, 1000)), (500, 1000)),
        (*mistakes.doubled((500, 1000)), (500, 1000)),
    ],
)
def test_a_mistake_in_a_value(wrong, hint, right):
    @sample("99.known")
    def known(answer):
        expect(answer, right, tried="it", hints=[(wrong, hint)])

    assert check("99.known", right).status == "right" and names(check("99.known", wrong), hint)


def test_close_to_right_is_not_a_mistake_that_is_right_here():
    @sample("99.size")
    def size(answer):
        expect_call(answer, 2.0, gives=2.0, hints=[(lambda x: x, "Without its sign.")])

    verdict = check("99.size", lambda x: abs(x) + 4e-6)
    assert verdict.status == "wrong" and "Without its sign." not in repr(verdict)


def test_every_mistake_is_used_by_a_lesson():
    named = [
        name
        for name, value in vars(mistakes).items()
        if callable(value) and value.__module__ == mistakes.__name__
    ]
    lessons = "".join(
        path.read_text(encoding="utf-8") for path in exercises.LESSONS.glob("*/exercises.py")
    )
    lessons += open(rule_checks.__file__, encoding="utf-8").read()
    unused = [
        name
        for name in named
        if not name.startswith("_") and not re.search(rf"\b{name}\(", lessons)
    ]
    assert named and unused == []


def test_a_mistake_of_its_own_arguments():
    wrong, hint = mistakes.one_sided()
    assert wrong(np.square, 3.0, 0.5) == 6.5 and "one-sided" in hint


# ---------------------------------------------------------------- rules

SQUARE = np.random.default_rng(0).normal(size=(2, 2))
TABLE = [
    ag.add,
    ag.subtract,
    ag.multiply,
    ag.divide,
    ag.power,
    ag.exp,
    ag.log,
    ag.sqrt,
    ag.tanh,
    ag.sigmoid,
    ag.relu,
]
TRIED = [(row, arg, {}) for row in TABLE for arg in range(len(row.rules))]
TRIED += [(row, arg, {"whole": True}) for row in [ag.add, ag.multiply, ag.divide] for arg in (0, 1)]
TRIED += [
    (ag.mean, 0, {"inputs": [(ROWS,)], "axis": 0}),
    (ag.sum, 0, {"inputs": [(ROWS,), (SQUARE,)], "axis": 1, "keepdims": True}),
    *(
        (ag.ops.ROWS["matmul"], arg, {"inputs": [(ROWS, ROWS.T), (SQUARE, SQUARE)]})
        for arg in (0, 1)
    ),
]


@pytest.mark.parametrize(
    "row, arg, told", TRIED, ids=lambda given: getattr(given, "name", None) or str(given)[:20]
)
def test_rules_right_and_wrong(row, arg, told):
    @sample("99.row", mistakes=of_rule(row, arg, **told))
    def tried(answer):
        expect_rule(answer, row, arg, **told)

    params = {name: value for name, value in told.items() if name not in ("whole", "inputs")}
    right = rule_checks._right(row, arg, told.get("whole", False), params)
    assert check("99.row", lambda g, z, *xs, **_: right(g, z, *xs)).status == "right"
    assert len(tried.mistakes) >= 3
    for wrong, hint in tried.mistakes:
        verdict = check("99.row", lambda g, z, *xs, **_: wrong(g, z, *xs))
        assert names(verdict, hint) and verdict.status == "wrong"


@pytest.fixture
def product():
    @sample("99.product")
    def tried(answer):
        expect_rule(answer, ag.multiply, 0)


@pytest.mark.parametrize(
    "rule, said",
    [
        (lambda g, z, x, y: y, "the upstream gradient is missing"),
        (lambda g, z, x, y: g * x, "That is the gradient of y, but the question is about x."),
        (lambda g, z, x, y: -g * y, "wrong sign"),
        (lambda g, z, x, y: (g * y, g * x), "This rule is for x alone"),
        (lambda g, z, x, y: g * z, "g times the value"),
        (lambda g, z, x, y: g * z / x if np.ndim(x) == 0 else 0, "got       0"),
        (lambda g, z, x, y: g * y if x is not y else 2 * g * y, "Exactly double"),
        (
            lambda g, z, x, y: g * y if np.shape(x) == np.shape(y) else g,
            "the rule for x of multiply, with g = [[",
        ),
        (
            lambda g, z, x, y: (g * y).sum(0) if np.ndim(g) > 1 else g * y,
            "Expected shape (2, 3), got (3,)",
        ),
        (
            lambda g, z, x, y: np.multiply(g, y, out=y) if np.ndim(y) == np.ndim(g) > 0 else g * y,
            "modifies the caller's array",
        ),
        (lambda g, z, x, y: np.maximum(g, -0.2) * y, "A rule is linear in g"),
        (lambda g, z, x, y: g * y + 1, "linear in g"),
        (lambda g, z, x, y: np.round(g * y, 1), "Right, but rounded to 1 decimal"),
        (lambda g, z: g, "compare its arguments"),
    ],
)
def test_a_rule_of_the_learners_own(product, rule, said):
    assert said in repr(check("99.product", rule))


def test_a_rule_is_called_twice(product):
    seen = []

    def remembers(g, z, x, y):
        seen.append(x)
        return g * y * (1 if seen.count(x) < 2 else 2) if np.ndim(x) == 0 else g * y

    assert "keeps something between the calls" in repr(check("99.product", remembers))
    assert check("99.product", lambda g, z, x, y: g * y).status == "right"
    assert check("99.product", lambda g, z, x, y: ...).status == "not yet"


# ---------------------------------------------------------------- engines


@pytest.fixture
def walk():
    @sample("99.walk")
    def tried(answer):
        expect_engine(answer)


@pytest.mark.parametrize("i", range(len(of_engine())))
def test_a_wrong_engine_is_told_which_fault_it_has(walk, i):
    wrong, hint = of_engine()[i]
    assert hint in repr(check("99.walk", wrong))


def test_a_right_engine(walk):
    assert check("99.walk", rule_checks.engine()).status == "right"
    assert sys.getprofile() is None

    class Ours(ag.Tensor):  # the library's Tensor, created from data alone
        def __init__(self, data):
            super().__init__(data, requires_grad=True)

    assert check("99.walk", Ours).status == "right"


def test_an_engine_that_waits_or_is_none(walk):
    class Waiting:
        def __init__(self, data):
            self.data = data

        def backward(self): ...

    assert (
        check("99.walk", Waiting).status
        == "not yet"
        == check("99.walk", type("Empty", (), {})).status
    )
    assert "pass the class itself" in repr(check("99.walk", 3.0))
    assert "unsupported operand" in repr(
        check(
            "99.walk", type("No", (), {"__init__": lambda self, data: setattr(self, "data", data)})
        )
    )


@pytest.mark.parametrize(
    "row, arg, rule, where",
    [
        (ag.divide, 0, lambda g, z, x, y: g * z / x, "x = 0"),
        (ag.divide, 1, lambda g, z, x, y: -g * abs(z / y), "x = "),
        (ag.power, 0, lambda g, z, x, y: g * y * abs(x) ** (y - 1), "x = -"),
        (ag.power, 0, lambda g, z, x, y: g * y * np.exp((y - 1) * np.log(x)), "x = -"),
        (ag.power, 0, lambda g, z, x, y: np.where(x > 0, g * y * np.abs(x) ** (y - 1), 0), "x = -"),
        (
            ag.power,
            0,
            lambda g, z, x, y: np.where(x == 0, 0, g * y * np.where(x == 0, 1, x) ** (y - 1)),
            "x = 0, y = 1",
        ),
        (ag.power, 1, lambda g, z, x, y: g * z * np.log(abs(x)) * (np.abs(x) < 20), "x = 30"),
        (
            ag.gelu,
            0,
            lambda g, z, x: g * (z / x + x * (ag.gelu.rules[0](1.0, z, x) - z / x) / x),
            "x = 0",
        ),
        (ag.maximum, 0, lambda g, z, x, y: g * (abs(x) > abs(y)) + g / 2 * (x == y), "x = -"),
        (ag.multiply, 0, lambda g, z, x, y: g * z / x, "x = 0"),
        (
            ag.tanh,
            0,
            lambda g, z, x: g * (1 - z * z) * (abs(x) < 20) + g * (abs(x) >= 20),
            "x = -30",
        ),
        (ag.exp, 0, lambda g, z, x: g * z if np.all(x > -10) else g, "x = -30"),
    ],
)
def test_no_shortcut_survives(row, arg, rule, where):
    @sample("99.short")
    def short(answer):
        expect_rule(answer, row, arg)

    verdict = check("99.short", rule)
    assert verdict.status == "wrong" and where in repr(verdict), verdict
    assert check("99.short", lambda *args: row.rules[arg](*args)).status == "right"


def test_an_axis_is_tried_from_both_ends():
    @sample("99.axis")
    def axis(answer):
        expect_rule(answer, ag.sum, inputs=[(ROWS,)], axis=1)

    def forward(g, z, x, axis, keepdims=False):
        return np.broadcast_to(g[:, None] if axis == 1 else g, x.shape)

    assert "axis = -1" in repr(check("99.axis", forward))
    assert (
        check(
            "99.axis", lambda g, z, x, axis: np.broadcast_to(np.expand_dims(g, axis), x.shape)
        ).status
        == "right"
    )


def test_a_walk_that_calls_itself_is_right_and_fails_when_deep():
    @sample("99.walk")
    def walk(answer):
        return expect_engine(answer)

    def backward(output):
        found, arrived = [], {output: 1.0}

        def visit(node):
            if node not in found:
                for x in node.inputs:
                    visit(x)
                found.append(node)

        visit(output)
        for node in found[::-1]:
            if not node.inputs:
                node.grad += arrived[node]
            for x, local in zip(node.inputs, node.locals):
                arrived[x] = arrived.get(x, 0.0) + arrived[node] * local

    Scalar = rule_checks.engine()
    Scalar.backward = backward
    verdict = check("99.walk", Scalar)
    assert verdict.status == "right" and dict(verdict.rows)["but"] == rule_checks.DEEP
    Scalar.backward = lambda output: [*iter(lambda: output, 0)]
    assert "not finished after" in repr(check("99.walk", Scalar))
    assert check("99.walk", rule_checks.engine()).rows == [("", "So.")]


def test_a_slow_loop_without_an_end_is_stopped_by_the_clock(monkeypatch):
    monkeypatch.setattr(sandbox, "MOST_SECONDS", 0.2)

    @sample("99.slow")
    def slow(answer):
        expect_call(answer, 2.0, gives=4.0)

    def trains(x):
        while x:
            np.linalg.inv(np.eye(60))

    verdict = check("99.slow", trains)
    assert verdict.cause.kind == "endless" and "0.2 seconds" in repr(verdict)


def test_what_a_check_prints_is_cut_off(capsys):
    @sample("99.loud")
    def loud(answer):
        for x in range(50):
            expect_call(answer, float(x), gives=2.0 * x)

    def prints(x):
        print("x" * 1000)
        return 2 * x

    assert check("99.loud", prints).status == "right"
    shown = capsys.readouterr().out
    assert 1000 < len(shown) < sandbox.MOST_PRINTED + 200 and shown.count("printed more") == 1
    check("99.loud", prints)
    assert len(capsys.readouterr().out) == len(shown)


def test_got_and_expected_do_not_look_alike():
    @sample("99.near")
    def near(answer):
        expect(answer, 4.0064981e180, tried="it", rtol=1e-12)

    rows = dict(check("99.near", 4.0064981e180 * (1 + 1e-11)).rows)
    assert rows["got"] != rows["expected"]
    assert rows["got"].startswith("4.0064981") and rows["expected"].startswith("4.0064981")


def test_a_tuple_of_one_is_shown_as_one():
    brief = sentences.brief
    assert brief((14,)) == "(14,)" and brief([14]) == "[14]" and brief((1, 2)) == "(1, 2)"


def test_training_without_an_end_is_stopped_by_the_clock(monkeypatch):
    monkeypatch.setattr(sandbox, "MOST_SECONDS", 0.2)

    def train(parameters, loss, examples, rate):
        while True:
            loss(parameters, *examples[0])

    verdict = check("06.train", train)
    assert str(verdict).startswith("wrong") and "not finished after" in str(verdict)
