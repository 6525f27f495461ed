"""Claims in the text of lesson 10 about the library and about the lines that learners type."""

import json
from pathlib import Path

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course import same_line, table_of_rules
from autograd_course.derivations import DERIVATIONS
from autograd_course.derivations.judge import judge
from autograd_course.grading import registered

registered()  # this fills DERIVATIONS

CELLS = {
    cell["id"]: "".join(cell["source"])
    for cell in json.loads(
        (Path(__file__).parents[3] / "notebooks/10_choose_and_normalise.ipynb").read_text("utf-8")
    )["cells"]
}


@pytest.mark.parametrize("row, best", [(ag.max, np.max), (ag.min, np.min)])
def test_the_line_for_shared_extreme_is_what_it_computes(row, best):
    line = "`_shared_extreme`, which computes `g * (x == z) / np.sum(x == z, axis=axis, keepdims=True)`"
    assert line in CELLS["tie-same-line"] and line in CELLS["same-line"]
    assert table_of_rules("10").text.count("weigh = _shared_extreme") == 2, "max and min"
    x, g, axis = np.array([[1.0, 5, 5], [4, 4, 4], [3, 0, 1]]), np.array([[6.0], [-3], [2]]), 1
    z = best(x, axis=axis, keepdims=True)
    computed = eval(line.split("`")[3], {"g": g, "x": x, "z": z, "axis": axis, "np": np})
    assert np.array_equal(row.rules[0](g[:, 0], z[:, 0], x, axis=axis), computed)


@pytest.mark.parametrize("line", ["sum_i g[i] (delta_ij - p[j])", "sum_i g[i] (δ_ij - p[j])"])
def test_delta_cannot_be_typed(line):
    assert "you cannot type δ" in CELLS["logarithm-derive"]
    assert judge(DERIVATIONS["10.log_softmax"], 2, line).kind == "unreadable"
    assert judge(DERIVATIONS["10.log_softmax"], 2, "g[j] - sum_i g[i] p[j]").kind == "right"


def test_the_headline_of_the_comparison_needs_no_optional_exercise():
    first_rule = same_line({ag.max: [lambda g, z, x: g * (x == z)]})
    assert first_rule.status == "wrong", "the rule of cell max-rule does not share g"
    assert "max_x" in CELLS["max-rule"] and "[max_x]" not in CELLS["same-line-checked"]


@pytest.mark.parametrize(
    "line, reason",
    [
        ("g[j] - sum_i g[i] p[i]", "You nudge x[j]"),
        ("g_j - sum_k p_k g_k", "You nudge x[j]"),
        ("p[j] (g[j] - sum_i g[i])", "it multiplies only the sum"),
        ("p[j] - g[j]", "log s is subtracted"),
    ],
)
def test_a_wrong_gradient_of_log_softmax_gets_a_reason(line, reason):
    verdict = judge(DERIVATIONS["10.log_softmax"], 2, line)
    assert verdict.kind == "wrong" and reason in verdict.message
