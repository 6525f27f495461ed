"""The judge of typed lines: its verdicts, true hints, and hostile input.

typed.json holds typed answers with the verdict that each deserves, and three derivations that only
the tests use.
"""

import re
import time
from pathlib import Path

import numpy as np
import pytest
from derivations.typed import HOSTILE, TABLE, derivation_of

from autograd_course.derivations import DERIVATIONS, Derivation, Step
from autograd_course.derivations import judge as judging
from autograd_course.derivations.expressions import as_text, names
from autograd_course.derivations.judge import evaluate, judge
from autograd_course.grading import registered

registered()
CASES = [(name, *case) for name, cases in TABLE["typed"].items() for case in cases]
LINES = [(name, number) for name, one in DERIVATIONS.items() for number in range(len(one.steps))]


@pytest.mark.parametrize("name", TABLE["typed"])
def test_typed_answers_get_the_verdict_due(name):
    derivation = derivation_of(name)
    given = [
        [step, typed, judge(derivation, step, typed).kind]
        for step, typed, _ in TABLE["typed"][name]
    ]
    assert given == TABLE["typed"][name]


def test_the_table_has_every_line_that_a_learner_types():
    assert set(TABLE["typed"]) == {*DERIVATIONS, *TABLE["derivations"]}
    judged = {(name, step, kind) for name, step, _, kind in CASES}
    for name, number in LINES:
        assert (name, number, "right") in judged
        assert DERIVATIONS[name].steps[number].worked or (name, number, "wrong") in judged


@pytest.mark.parametrize("name, number", LINES)
def test_a_line_of_the_course_is_right_and_its_mistakes_are_not(name, number):
    derivation, step = DERIVATIONS[name], DERIVATIONS[name].steps[number]
    tree = derivation.read(step.right)
    assert judge(derivation, number, step.right).kind == "right"
    assert judge(derivation, number, as_text(tree)).kind == "right"
    assert names(tree) <= {*(step.letters.split() or derivation.names), "e"}
    for line, sentence in step.mistakes:
        assert judge(derivation, number, line).message == sentence
    assert step.reason not in step.rivals


def test_every_hint_names_a_repair_that_is_right():
    """Applying the correction that a hint names makes the line right."""
    tried = 0
    for name, step, typed, _kind in CASES:
        verdict = judge(derivation_of(name), step, typed)
        swap = re.fullmatch(r"Write (\w+) in place of (\w+)\.", verdict.hint)
        factor = re.fullmatch(r"The factor `(\w+)` is missing\.", verdict.hint)
        if swap:
            repaired = re.sub(rf"(?<![a-z]){swap[2]}(?![a-z])", swap[1], as_text(verdict.tree))
        elif factor:
            repaired = f"({as_text(verdict.tree)}) * {factor[1]}"
        elif "whole line" in verdict.hint:
            repaired = f"-({as_text(verdict.tree)})"
        else:
            continue
        tried += 1
        assert judge(derivation_of(name), step, repaired).kind in ("right", "equal"), (name, typed)
    assert tried > 20


@pytest.mark.parametrize(
    "name, number, typed, wrong",
    [
        ("03.divide", 1, "(dx + z dy)/y", "sign"),
        ("03.divide", 1, "dx/y - z dy", "divided"),
        ("03.divide", 1, "dx - z dy", "divisor"),
        ("03.divide", 1, "dx/y - z dz/y", "letter"),
        ("04.tanh", 2, "q/q - z p", "divided"),
        ("04.tanh", 3, "1 - tanh(z)^2", "function"),
        ("04.tanh", 3, "1 - z^2/q", "divisor"),
        ("04.sigmoid", 1, "-e^x", "exponent"),
        ("05.neuron", 1, "(ŷ - y)(1 - y^2)", "letter"),
        ("01.central", 2, "3x^2 + 6x h + h^2", "constant"),
        ("01.central", 2, "3x^2 + 3h + h^2", "factor"),
        ("09.matmul", 2, "sum_i,j g_ij A_ik", "sum"),
        ("09.matmul", 2, "sum_i g_ij B_kj", "factor"),
        ("04.tanh", 3, "1 - z^3", "exponent"),
        ("04.tanh", 3, "1 - z^2 + z", "term"),
        ("09.matmul", 2, "A[i,k] g[i,j]", "sum"),
        ("09.matmul", 2, "sum_i A[k,i] g[i,j]", "indices"),
        ("10.log_softmax", 0, "-p[i]", "index"),
    ],
)
def test_the_first_sentence_names_the_part_and_the_hint_the_repair(name, number, typed, wrong):
    verdict = judge(DERIVATIONS[name], number, typed)
    assert verdict.kind == "wrong" and wrong in verdict.message and "`" not in verdict.message
    assert verdict.hint


def test_no_sum_is_added_over_an_index_of_the_left_side():
    """Summing 1/3 over j would give 1, but ∂z_i/∂x_ij has the index j.

    Summing it over k would also give 1. The hint names the rule of the mean instead.
    """
    for name, typed in [("08.sum", "1/3"), ("08.mean", "1/6")]:
        assert "sum" not in judge(DERIVATIONS[name], 1, typed).message


def test_equal_lines_that_are_not_the_line_asked():
    tanh = DERIVATIONS["04.tanh"]
    assert "without x" in judge(tanh, 3, "1 - tanh(x)^2").message
    assert "without p and q" in judge(tanh, 3, "q/q - z p/q").message
    assert "where `z = p/q`." in judge(tanh, 3, "q/q - z p/q").message
    assert "where `tanh(x)` is z." in judge(tanh, 3, "1 - tanh(x)^2").message
    said = judge(DERIVATIONS["04.sigmoid"], 2, "e^-x/q^2").message
    assert "without q and x" in said and "where `q = 1 + e^-x` and `z = 1/q`." in said
    left = judge(DERIVATIONS["03.divide"], 1, "(dz y)/y").message
    assert "without dz" in left and "where" not in left, "the definition of dz is the line"
    again = Derivation(
        letters={"x": ()}, steps=(Step("a =", "x + x", "r"), Step("=", "2x", "collected"))
    )
    assert "line above" in judge(again, 1, "x + x").message
    assert "x is 0" in judge(again, 1, "2x*x/x").message


def test_a_line_that_repeats_the_line_above_is_called_so():
    for name, number in [("05.neuron", 2), ("09.matmul", 3)]:
        derivation = DERIVATIONS[name]
        for typed, said in [
            (derivation.steps[number - 1].right, True),
            ("A" if name[:2] == "09" else "x y", False),
        ]:
            verdict = judge(derivation, number, typed)
            assert verdict.kind == "wrong" and ("line above" in verdict.message) == said


def test_an_index_that_is_left_free_is_needed_for_a_sum():
    assert "No index is left" in judge(DERIVATIONS["03.divide"], 2, "sum_m 1").message
    assert "no index n" in judge(DERIVATIONS["08.sum"], 0, "sum_n 1").message
    assert "index i of `A[i, k]`" in judge(DERIVATIONS["09.matmul"], 2, "sum_m g_mj A_ik").message
    nested = judge(DERIVATIONS["09.matmul"], 2, "sum_m sum_i g_mj A_ik").message
    assert "no index m" in nested, "i is under a sum"


def test_entries_on_a_line_of_whole_arrays():
    for typed in ["sum_i A.T[k,i] g[i,j]", "sum_i A_ik g_ij", "A_ik"]:
        assert "whole arrays only" in judge(DERIVATIONS["09.matmul"], 3, typed).message


def test_a_point_of_disagreement_is_one():
    derivation, typed = DERIVATIONS["04.tanh"], "3 - 2z"
    said = judge(derivation, 3, typed).message
    z, mine, due = map(float, re.findall(r"-?\d+\.\d+", said.replace("−", "-")))
    assert abs(mine - (3 - 2 * z)) < 1e-3 and abs(due - (1 - z * z)) < 1e-3


def test_sums_and_products_have_the_values_of_einsum():
    derivation = DERIVATIONS["09.matmul"]
    points = derivation.points()
    a, b, g = (points[name].reshape(12, *points[name].shape[-2:]) for name in "ABg")
    for typed, indices, due in [
        ("sum_k A[i,k] B[k,j]", "ij", np.einsum("nik,nkj->nij", a, b)),
        ("sum_i A[i,k] g[i,j]", "kj", np.einsum("nik,nij->njk", a, g)),
        ("sum_ij g_ij", "", g.sum(axis=(1, 2))),
        ("sum_j 1", "", np.full(12, 4.0)),
        ("A.T[k,i] + 0 g_ij", "ijk", np.broadcast_to(a[:, :, None, :], (12, 2, 4, 3))),
    ]:
        value = evaluate(derivation.read(typed), points, derivation.sizes, indices)
        assert np.allclose(np.broadcast_to(value.squeeze(), due.shape), due), typed


@pytest.mark.parametrize("typed", HOSTILE, ids=lambda text: repr(text)[:24])
def test_hostile_input_gets_an_answer(typed, recwarn):
    for name in DERIVATIONS:
        number = len(DERIVATIONS[name].steps) - 1
        started = time.thread_time()
        verdict = judge(DERIVATIONS[name], number, typed)
        assert verdict.kind in ("wrong", "unreadable") and verdict.message
        assert time.thread_time() - started < 5
    assert not recwarn


def test_nothing_typed_is_given_to_python(monkeypatch):
    def refused(*args, **options):
        raise AssertionError("typed text was evaluated")

    fresh = Derivation(
        letters=DERIVATIONS["03.divide"].letters, steps=DERIVATIONS["03.divide"].steps
    )
    with monkeypatch.context() as patch:
        for name in ("eval", "exec", "compile"):
            patch.setattr(f"builtins.{name}", refused)
        kinds = [
            judge(fresh, 2, typed).kind for typed in ("-z/y", "z/y", "__import__('os')", "x +")
        ]
    assert kinds == ["right", "wrong", "unreadable", "unreadable"]
    assert "eval(" not in Path(judging.__file__).read_text(encoding="utf-8")
