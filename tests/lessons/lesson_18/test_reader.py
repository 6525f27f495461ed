"""Lesson 18's test reports models that read the future, and no others."""

import numpy as np

import autograd_lib as ag
from autograd_course.lessons.lesson_18 import reader
from autograd_course.lessons.lesson_18.exercises import _attention, _back, _norm, _self_back


def slopes(model):
    text = reader.random_letters(np.random.default_rng(0), 1)[0, :-1]
    with ag.no_grad():
        return np.abs(np.asarray(ag.jacobian(model.read)(model.embed(text).data))).max(axis=(1, 3))


def test_the_suspect_reads_one_place_ahead_and_no_further():
    read = slopes(reader.Reader(reader.Suspect())) > 0
    assert np.array_equal(read, np.tri(12, k=1) > 0)


def test_texts():
    texts = reader.twice(np.random.default_rng(0), 50)
    assert texts.shape == reader.random_letters(np.random.default_rng(0), 50).shape == (50, 13)
    assert np.array_equal(texts[:, :7], texts[:, 6:]) and set(texts.ravel()) == set(
        range(len(reader.LETTERS))
    )


def test_loss_by_position_is_that_of_guessing_before_all_training():
    losses = reader.loss_by_position(reader.Reader(reader.Suspect()), reader.random_letters)
    assert losses.shape == (12,) and np.all(np.abs(losses - np.log(8)) < 0.5)


def test_what_the_rule_of_layer_norm_removes():
    """With eps = 0 a shift and a stretch of a row get no gradient; with a larger eps a stretch does."""
    x = np.random.default_rng(0).normal(size=(4, 6))
    for eps in (0, 0.5):
        s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
        z = (x - x.mean(axis=-1, keepdims=True)) / s
        assert np.allclose(_norm(np.ones_like(x), z, s), 0)
        assert np.allclose(_norm(z, z, s), 0) == (eps == 0)
        assert np.allclose(_norm(3 + 2 * z, z, s), _norm(2 * z, z, s))


def test_each_position_of_a_repeated_text_predicts_a_letter_five_back():
    texts = reader.twice(np.random.default_rng(0), 50)
    for t in range(5, 12):
        assert np.array_equal(texts[:, t + 1], texts[:, t - 5])
    assert not np.array_equal(texts[:, 5], texts[:, 0])


def test_the_sum_in_the_rule_of_softmax_is_that_of_g_and_z():
    rng = np.random.default_rng(0)
    Q, K, V, g = (rng.normal(size=(5, 3)) for _ in range(4))
    P = _attention(Q, K, V, np.tri(5, dtype=bool))
    assert np.allclose(np.sum(g @ V.T * P, axis=-1), np.sum(g * (P @ V), axis=-1))


def test_what_the_solution_of_self_attention_back_says():
    """Self-attention adds three gradients, and stacked weights need one product."""
    rng = np.random.default_rng(0)
    X, WQ, WK, WV, g = (rng.normal(size=shape) for shape in [(5, 4), *[(4, 3)] * 3, (5, 3)])
    allowed = np.tri(5, dtype=bool)

    def forward(X, WQ, WK, WV):
        scores = np.where(allowed, (X @ WQ) @ (X @ WK).T / np.sqrt(3), -np.inf)
        return ag.softmax(scores, axis=-1) @ (X @ WV)

    engine = ag.vjp(forward, X, WQ, WK, WV)[1](g)
    for mine, due in zip(_self_back(g, X, WQ, WK, WV, allowed), engine):
        assert np.allclose(mine, due)
    Q, K, V = X @ WQ, X @ WK, X @ WV
    gQ, gK, gV = _back(g, Q, K, V, _attention(Q, K, V, allowed))
    assert np.allclose(engine[2], X.T @ gK) and np.allclose(engine[3], X.T @ gV)
    together = np.hstack([gQ, gK, gV]) @ np.hstack([WQ, WK, WV]).T
    assert np.allclose(together, engine[0])


def test_what_the_solution_of_layer_norm_says():
    """The deviations add up to 0, so s does not change with μ alone."""
    x = np.random.default_rng(0).normal(size=6)
    assert np.isclose(ag.grad(lambda mu: np.mean((x - mu) ** 2))(x.mean()), 0)
    assert not np.isclose(ag.grad(lambda mu: np.mean((x - mu) ** 2))(x.mean() + 1), 0)
