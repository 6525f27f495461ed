"""Lesson 09's check without h: the right rule always passes, and a wrong one almost never does."""

import numpy as np
import pytest


@pytest.mark.parametrize("wrong", [lambda u, S: u @ S, lambda u, S: S @ u, lambda u, S: u * S.T])
def test_a_wrong_rule_passes_only_by_accident(wrong):
    passed = 0
    for seed in range(1000):
        u, v, S = np.random.default_rng(seed).integers(-4, 5, (3, 3, 3))
        result, right = wrong(u, S), u @ S.T
        assert np.sum(u * (v @ S)) == np.sum(right * v)
        passes = np.sum(u * (v @ S)) == np.sum(result * v)
        assert passes == (np.sum((result - right) * v) == 0)
        passed += passes
    assert passed < 20


def test_a_wrong_rule_always_passes_if_u_is_an_output_of_op():
    def turned(u):
        return u + np.roll(u, 1) - np.roll(u, -1)

    passed = np.zeros(2)
    for seed in range(1000):
        v, w, free = np.random.default_rng(seed).integers(-4, 5, (3, 7))
        assert v @ v == turned(v) @ v  # op(v) = v, and u = op(v)
        assert w @ v + w @ v == 2 * w @ v  # op(v) = (v, v), and u = op(w) = (w, w)
        passed += [free @ v == turned(free) @ v, w @ v + free @ v == 2 * w @ v]
    assert all(passed < 50)
