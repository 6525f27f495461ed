"""Lesson 18's test reports models that read the future, and no others."""

import numpy as np

import autograd_lib as ag
from autograd_course.lessons.lesson_18 import reader


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
