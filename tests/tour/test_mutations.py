"""Deleted statements: which contracts break without one, and which statements `make mutate`
reports as surviving.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import mutate
import pytest

import autograd_lib as ag
from autograd_course.tour import mutations, page
from autograd_course.tour.contracts import CONTRACTS, Contract, kept, outcomes

ROOT = Path(__file__).parents[2]


def test_every_contract_is_kept():
    """The engine gives the numbers that the table of contracts expects."""
    results = zip(CONTRACTS, outcomes(), strict=True)
    assert [
        (contract, outcome) for contract, outcome in results if not kept(contract, outcome)
    ] == []
    assert len(CONTRACTS) > 60 and len({contract.program for contract in CONTRACTS}) == len(
        CONTRACTS
    )


@pytest.mark.rotating("autograd_course/tour/", "tests/mutate.py")
def test_a_contract_that_does_not_reach_a_statement_is_kept_without_it():
    """Contracts that do not execute a statement are not run without it. Catch `global`, which is
    never an executed line.
    """
    some = [one for key in page.PARTS for one in page.deletable_in(key)][::40]
    for one in [*some, page.find("values:_date_change", "global")]:
        broken = [
            contract
            for contract, outcome in zip(CONTRACTS, outcomes(one), strict=True)
            if not kept(contract, outcome)
        ]
        assert [contract for contract, _, mark in page.results(one) if mark != "right"] == broken, (
            one
        )


def test_a_deleted_statement_is_gone_and_the_engine_in_use_is_not_touched():
    (rule,) = [one for one in mutations.statements("ops") if one.text.startswith("unfold = ")]
    before = set(sys.modules), list(sys.meta_path), ag.unfold
    with mutations.engine_without(rule) as without:
        assert not hasattr(without, "unfold") and without.Tensor is not ag.Tensor
    assert (set(sys.modules), list(sys.meta_path), ag.unfold) == before
    with mutations.engine_without() as whole:
        assert repr(whole.Tensor(2.0) * 3) == "Tensor(6.0)"


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Create a folder with a copy of the engine that contains a function of five statements, and
    a test that needs four of them.
    """
    folder = tmp_path_factory.mktemp("planted")
    shutil.copytree(
        mutations.HOME, folder / "autograd_lib", ignore=shutil.ignore_patterns("__pycache__")
    )
    with open(folder / "autograd_lib/transforms.py", "a", encoding="utf-8") as file:
        file.write(
            "\n\ndef planted(x):\n    y = x\n    x = x + 1\n    while y != 3:\n        y = 3\n    return y\n"
        )
    (folder / "tests").mkdir()
    (folder / "tests/test_planted.py").write_text(
        "import autograd_lib.transforms\ndef test_planted(): assert autograd_lib.transforms.planted(2) == 3\n"
    )
    return folder


def test_infinite_loops_are_stopped_by_the_step_limit(planted):
    every = mutations.statements("transforms", planted / "autograd_lib")
    found = {one.text.strip(): one for one in every if one.where == "planted"}
    contract = Contract("", "ag.planted(2)", "3")
    assert outcomes(None, [contract], planted / "autograd_lib") == ["3"]
    assert outcomes(found["y = 3"], [contract], planted / "autograd_lib") == ["does not end"]
    assert outcomes(found["return y"], [contract], planted / "autograd_lib") == ["None"]


@pytest.mark.rotating("autograd_course/tour/", "tests/mutate.py")
def test_make_mutate_reports_the_survivors(planted):
    code = (
        "import json, sys; from pathlib import Path; from tests import mutate\n"
        "engine, tests = map(Path, sys.argv[1:])\n"
        "mutate.MOST_STEPS = 1000\n"
        "found = mutate.mutate(mutate.chosen_by(['transforms:planted'], engine), 2, engine, tests)\n"
        "print(json.dumps({one.text.split()[0]: by for one, by in found.items()}))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, planted / "autograd_lib", planted / "tests"],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=ROOT,
        check=True,
    )
    by = json.loads(run.stdout)
    assert (
        by.pop("x") == ""
        and len(by) == 3
        and all(test.endswith("::test_planted") for test in by.values())
    ), by


def test_tests_that_noticed_neighbours_run_first():
    one = mutations.Statement("compiler/plan", "ufunc", 1, "x = 1")
    known = {
        "tape:ufunc": ["t::other_file"],
        "compiler/trace:f": ["t::compiler"],
        "compiler/plan:g": ["t::file"],
        "compiler/plan:ufunc": ["t::older", "t::newer", "t::file"],
    }
    expected = ["t::file", "t::newer", "t::older", "t::compiler"]
    assert mutate.likely_tests(one, known) == expected


def test_a_statement_is_stored_until_its_text_or_its_test_changes():
    place, name = "tape:f", "test_tests_that_noticed_neighbours_run_first"
    stored = {place: {"x = 1": f"tests/tour/test_mutations.py::{name}[a]"}}
    stored[place]["z = 1"] = "tests/tour/test_mutations.py::test_that_was_renamed"
    ones = [mutations.Statement("tape", "f", 1, text) for text in ("  x = 1", "x = 2", "z = 1")]
    assert [mutate.is_stored(one, stored) for one in ones] == [True, False, False]
