"""unaided judges both the learner's rule and the learner's own gradient check."""

from itertools import count

import numpy as np
import pytest

from autograd_course import record, unaided
from autograd_course.practice.unaided import TASKS, _inputs


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "FILE", tmp_path / "progress.json")
    monkeypatch.setattr(record, "unkept", [])


def measured(f, x, g, h=1e-6):
    nudges = h * np.eye(len(x))
    return np.array([np.sum(g * (f(x + n) - f(x - n))) / (2 * h) for n in nudges])


def good(f, rule, x, g=None):
    """Check a gradient as a learner would write it."""
    z = f(x)
    g = np.random.default_rng(3).normal(size=z.shape) if g is None else g
    return np.allclose(rule(g, z, x), measured(f, x, g), rtol=1e-4, atol=1e-6)


def one_at_a_time(f, rule, x):
    """Check a gradient in another style: a loop, with a separate g for each entry."""
    z = f(x)
    for k in range(len(z)):
        g = np.zeros(len(z))
        g[k] = 1.5
        if np.max(np.abs(rule(g, z, x) - measured(f, x, g))) > 1e-5:
            return False
    return True


CHECKS = {
    "g is 1": lambda f, rule, x: good(f, rule, x, np.ones_like(f(x))),
    "above 0 alone": lambda f, rule, x: good(f, rule, np.abs(x)),
    "g is 2 everywhere": lambda f, rule, x: good(f, rule, x, np.full(f(x).shape, 2.0)),
    "always": lambda f, rule, x: True,
    "shapes": lambda f, rule, x: rule(f(x), f(x), x).shape == x.shape,
    "length": lambda f, rule, x: seen(np.linalg.norm, f, rule, x),
    "sum": lambda f, rule, x: seen(np.sum, f, rule, x),
    "first": lambda f, rule, x: seen(lambda gx: gx[0], f, rule, x),
    "all but the last": lambda f, rule, x: all(
        seen(lambda gx: gx[k], f, rule, x) for k in range(len(x) - 1)
    ),
    "loosely": lambda f, rule, x: seen(lambda gx: gx, f, rule, x, within=0.3),
}


def seen(of, f, rule, x, within=1e-4):
    """Check a gradient by comparing a summary of all entries."""
    g = np.random.default_rng(3).normal(size=f(x).shape)
    return bool(np.all(abs(of(rule(g, f(x), x)) - of(measured(f, x, g))) < within))


@pytest.mark.parametrize("name", TASKS)
def test_the_right_rule_with_a_sound_check(name):
    task = TASKS[name]
    for x in _inputs(
        task
    ):  # our right rules agree with finite differences, and our wrong ones do not
        z = task.f(x)
        g = np.random.default_rng(1).normal(size=z.shape)
        assert np.allclose(task.rule(g, z, x), measured(task.f, x, g), atol=1e-6)
    for text in task.wrong:
        assert not np.allclose(eval(text), measured(task.f, x, g), atol=1e-3)
    for check in (good, one_at_a_time):
        assert unaided(name, task.rule, check).status == "right"
    assert any(one.endswith(f"unaided_{name}") for one in record.read()["exercises"])


@pytest.mark.parametrize("name", TASKS)
def test_wrong_rules_are_refused(name):
    for text in TASKS[name].wrong:
        verdict = unaided(name, eval(f"lambda g, z, x: {text}"), good)
        assert verdict.status == "wrong" and "your rule" in repr(verdict)
    assert "your rule" in repr(
        unaided("cumsum", lambda g, z, x: np.cumsum(g[::-1])[::-1] if len(x) < 8 else g, good)
    )
    assert "nan" in repr(
        unaided("x_tanh", lambda g, z, x: g * (z / x + x - z * z / x), good)
    )  # 0/0 at 0
    assert record.read()["exercises"] == []


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_that_lets_a_wrong_rule_pass_is_refused(check):
    refused = 0
    for name, task in TASKS.items():
        verdict = unaided(name, task.rule, CHECKS[check])
        refused += verdict.status == "wrong" and "hint" in repr(verdict)
    assert (
        refused == len(TASKS)
        if check not in ("g is 1", "above 0 alone", "g is 2 everywhere")
        else refused >= 2
    )


@pytest.mark.parametrize(
    "check, said",
    [
        (
            lambda f, rule, x: good(
                f, lambda g, z, x: np.sign(rule(g, z, x)) * abs(measured(f, x, g)), x
            ),
            "narrow tolerance",
        ),
        (lambda f, rule, x: False, "rejects a right rule"),
        (lambda f, rule, x: print(x), "a single bool"),
        (lambda f, rule, x: good(f, rule, x) and bool(COIN.integers(2)), ""),
        (lambda f, rule, x: 1 / 0, "ZeroDivisionError"),
        (3, "not callable"),
        (lambda f, rule: True, "argument"),
        (
            lambda f, rule, x: np.testing.assert_equal(good(f, rule, x), True) or True,
            "must return True or False",
        ),
    ],
)
def test_a_check_that_is_none(check, said):
    verdict = unaided("softsign", TASKS["softsign"].rule, check)
    assert verdict.status == "wrong" and said in repr(verdict)


COIN, TURN = np.random.default_rng(0), count()


def one_entry(f, rule, x):
    """Check one entry, alternating between the first and the second."""
    k = next(TURN) % min(2, len(x))
    return seen(lambda gx: gx[k], f, rule, x)


@pytest.mark.parametrize(
    "name, check, said",
    [
        (
            "cumsum",
            lambda f, rule, x: np.allclose(
                rule(f(x), f(x), x), f(x) * (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
            ),
            "entry of x separately",
        ),
        ("centre", CHECKS["g is 1"], "draw each entry of g at random"),
        ("cumsum", one_entry, "compare every entry"),
        (
            "cumsum",
            lambda f, rule, x: np.allclose(
                rule(f(x), f(x), x),
                [measured(f, x, f(x) * k)[i] for i, k in enumerate(np.eye(len(x)))],
            ),
            "every entry of z",
        ),
        ("cumsum", lambda f, rule, x: good(f, rule, x) and next(TURN) % 2 == 0, "wider tolerance"),
    ],
)
def test_a_check_is_told_what_it_lacks(name, check, said):
    """Catch a hint about the step or the comparison where these are right."""
    assert said in repr(unaided(name, TASKS[name].rule, check))


def test_a_check_that_knows_the_answer_measures_nothing():
    def check(f, rule, x):
        g = np.random.default_rng(5).normal(size=x.shape)
        return np.allclose(rule(g, f(x), x), TASKS["softsign"].rule(g, f(x), x))

    assert "the f that it receives" in repr(unaided("softsign", TASKS["softsign"].rule, check))


def test_unfinished_answers_get_not_yet():
    def rule(g, z, x): ...

    assert unaided("cumsum", rule, good).status == unaided("cumsum", ..., good).status == "not yet"
    assert unaided("cumsum", TASKS["cumsum"].rule, rule).status == "not yet"
    assert "Choose one of softsign" in repr(unaided("sofsign", rule, rule))
