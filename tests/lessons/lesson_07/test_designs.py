"""Lesson 07's designs compute the same numbers on the same graphs; depth and visits are counted,
and times are only present.
"""

import ast
import inspect
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course.lessons.lesson_05.exercises import random_program
from autograd_course.lessons.lesson_07.designs import (
    DESIGNS,
    GRAPHS,
    Trace,
    chain,
    compared,
    deepest,
    doubled,
    gradients,
    neurons,
    reaches,
    source,
    visits,
)
from autograd_course.lessons.lesson_07.exercises import cached
from autograd_lib import ops

EACH = pytest.mark.parametrize("name", DESIGNS)
GRAPHS_OF_NUMBERS = [
    (doubled(5), (1.5,)),
    (chain(9), (0.5, 1.2, -0.3)),
    (neurons(3), (0.5, -1.0, *np.linspace(-1, 1, 6).tolist())),
    (lambda x, w: (x * w + x).tanh() * x, (0.4, -0.9)),
]


@EACH
@pytest.mark.parametrize("f, xs", GRAPHS_OF_NUMBERS)
def test_the_same_numbers_as_the_library(name, f, xs):
    right = np.ravel(ag.grad(f, tuple(range(len(xs))))(*xs))
    np.testing.assert_allclose(gradients(DESIGNS[name], f, *xs), right, rtol=1e-12, atol=1e-14)


@EACH
def test_random_programs(name):
    """The trace takes an unused value, even an input, for the output, so it is right exactly
    where a program leaves no other value unused.
    """
    for program in map(random_program, range(40)):
        right = np.allclose(
            gradients(DESIGNS[name], program, *program.start),
            ag.grad(program, (0, 1, 2))(*program.start),
        )
        used = {one for _, x, _, y in program.steps for one in (x, y)}
        assert right == (
            name != "trace" or {"a", "b", "c", *(step[0] for step in program.steps)} - used == {"L"}
        )


def test_one_dictionary_cures_the_trace_of_its_paths():
    names, x, cache = {}, Trace(1.0), {}
    exec(cached.solution, names)
    doubled(12)(x)
    assert names["cached"](x, cache) == 4096 and len(cache) == 13


@pytest.mark.parametrize("n", [1, 5, 12])
def test_visits_of_doublings(n):
    counted = {name: visits(Design, doubled(n), 1.0) for name, Design in DESIGNS.items()}
    paths = 2 ** (n + 1) - 1
    assert counted == {
        "closures": n + 1,
        "context": n + 1,
        "ledger": n + 1,
        "stored locals": paths,
        "trace": paths,
        "table": n + 1,
    }


def test_a_shared_weight_costs_the_trace_a_square():
    assert visits(DESIGNS["trace"], chain(100), 1.0, 1.0, 0.0) > 100**2 / 4
    assert visits(DESIGNS["stored locals"], chain(100), 1.0, 1.0, 0.0) == 201


@EACH
def test_longest_chain(name):
    limit = sys.getrecursionlimit()
    assert reaches(DESIGNS[name], 100) and reaches(DESIGNS[name], limit) == (name == "table")
    assert (
        (limit / 4 < deepest(DESIGNS[name]) < limit)
        if name != "table"
        else deepest(DESIGNS[name]) == 20_000
    )


def test_two_calls():
    f = lambda x, three: three * (x * x)  # noqa: E731
    assert [gradients(Design, f, 2.0, 3.0)[0] for Design in DESIGNS.values()] == [12] * 6
    assert [gradients(Design, f, 2.0, 3.0, calls=2)[0] for Design in DESIGNS.values()] == [
        36,
        36,
        24,
        24,
        12,
        24,
    ]


def test_003_what_the_trace_gets_wrong():
    x, unused = Trace(1.0), Trace(7.0)
    answers = []
    for _ in range(3):
        Trace(2.0) * x
        answers.append(x.gradient())
    assert answers == [2, 4, 6] and unused.gradient() == 1
    a, b, c = Trace(2.0), Trace(10.0), Trace(8.0)
    assert (a + b + c).data == 20 and [v.gradient() for v in (a, b, c)] == [1, 1, 1]


@EACH
def test_a_design_is_read_from_its_own_code(name):
    tree = ast.parse(source(DESIGNS[name]))
    assert {node.name for node in tree.body if isinstance(node, ast.FunctionDef)} >= {
        "__mul__",
        "gradient" if name == "trace" else "backward",
    }


@pytest.mark.rotating
def test_costs_are_measured_for_each():
    costs = compared(repeats=1)
    assert list(costs) == list(GRAPHS) and all(
        list(found) == list(DESIGNS) for found in costs.values()
    )
    assert all(
        cost.microseconds > 0 and 100 < cost.bytes < 5000
        for found in costs.values()
        for cost in found.values()
    )
    assert (
        costs["12 doublings"]["trace"].visits == 8191
        and costs["300 operations in a row"]["table"].visits == 303
    )


def test_the_row_that_the_lesson_shows_is_the_librarys():
    notebook = Path(__file__).parents[3] / "notebooks/07_compare_and_fix_engines.ipynb"
    cells = (
        "".join(cell["source"])
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    )
    (shown,) = re.findall(r"```python\n(multiply = .*?\n)```", "\n".join(cells), re.DOTALL)
    assert shown in re.sub(" +#.*", "", inspect.getsource(ops))
