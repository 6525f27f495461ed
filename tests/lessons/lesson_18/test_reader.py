"""Lesson 18's test reports models that read the future, and no others."""

import numpy as np

import autograd_lib as ag
from autograd_course.lessons.lesson_18 import reader
from autograd_course.lessons.lesson_18.exercises import _attention, _back, _norm


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


def test_what_the_solution_of_attention_back_says():
    """The sum in the rule of softmax is that of g · Z, and self-attention adds three gradients."""
    rng = np.random.default_rng(0)
    x, wQ, wK, wV, g = (rng.normal(size=shape) for shape in [(5, 4), *[(4, 3)] * 3, (5, 3)])
    allowed = np.tri(5, dtype=bool)
    Q, K, V = x @ wQ, x @ wK, x @ wV
    P = _attention(Q, K, V, allowed)
    assert np.allclose(np.sum(g @ V.T * P, axis=-1), np.sum(g * (P @ V), axis=-1))

    def loss(x):
        scores = np.where(allowed, (x @ wQ) @ (x @ wK).T / np.sqrt(3), -1e9)
        return np.sum(g * (ag.softmax(scores, axis=-1) @ (x @ wV)))

    contributions = [b @ w.T for b, w in zip(_back(g, Q, K, V, P), (wQ, wK, wV))]
    assert np.allclose(ag.grad(loss)(x), sum(contributions))
