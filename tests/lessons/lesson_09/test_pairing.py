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
