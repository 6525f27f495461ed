"""Lesson 19's pictures."""

import re

import numpy as np
import pytest
from drawn import words_in

from autograd_course.lessons.lesson_19.drawings import (
    COUNTING,
    NETWORK,
    compare_predictions,
    guess,
    learning,
    mixture,
    written,
)
from autograd_course.lessons.lesson_19.exercises import _mix_slope

RUN = {"steps": [0, 10, 20], "held_out": [3.5, 2.4, 1.7], "wrote": ["\nq<x\n", "CIT", "CAT\nHAT"]}


def test_guess_has_a_bar_for_the_likeliest_letters_and_one_for_the_others():
    picture = guess("\n A<", np.array([0.1, 0.2, 0.0, 0.7]), "BLACK S", most=2)
    lengths = [float(one) for one in re.findall(r'width="([\d.]+)" height="18"', picture.html)]
    assert np.allclose(
        lengths, 350 * np.array([0.7, 0.2, 0.1]), atol=0.1
    ) and "2 others" in words_in(picture)
    assert picture.text == "After BLACK S: < 0.70, ␣ 0.20" and "0.70" in words_in(picture)
    sure = guess("\n A<", np.array([0.001, 0.001, 0.001, 0.997]), "BLACK S", most=2)
    assert "> 0.99" in words_in(sure) and "< 0.01" in words_in(sure)


@pytest.mark.parametrize(
    "step, says",
    [
        (0, "Step 0: loss 3.50, beats none of the n-gram counts. It writes:\nq<x"),
        (10, "Step 10: loss 2.40, beats the counts up to the 2-gram. It writes:\nCIT"),
        (20, "Step 20: loss 1.70, beats the counts up to the 3-gram. It writes:\nCAT\nHAT"),
    ],
)
def test_learning_compares_with_the_baselines(step, says):
    picture = learning(RUN, [3.0, 2.5, 1.9, 1.6], step)
    assert picture.text == says and "4-gram 1.60" in picture.html and "q<x" not in picture.html
    assert learning(RUN, [3.0], 20).html != picture.html or step == 20


def test_learning_that_was_stopped_at_once():
    """Regression: "math domain error" for an axis from 0 to 0."""
    stopped = {"steps": [0], "held_out": [3.6], "wrote": ["x"], "losses": [3.6] * 7}
    assert "Step 0: loss 3.60" in learning(stopped, [3.0, 2.5], 0).text


def test_who_knew_marks_a_doubled_probability():
    """Catch swapped colours of the network and the counts."""
    picture = compare_predictions(
        "ab<\nc", np.array([0.9, 0.5, 0.1, 0.3, 0.5]), np.array([0.2, 0.4, 0.9, 0.5, 0.25])
    )
    for colour in (NETWORK, COUNTING):
        assert picture.html.count(f"background:{colour}") == 2 + (
            colour == NETWORK
        )  # and the legend
    assert (
        "The network gave at least twice the probability: a···c" in picture.text
        and "Counting gave at least twice the probability: ··<··" in picture.text
    )
    assert (
        f"network {-np.log([0.9, 0.5, 0.1, 0.3, 0.5]).mean():.2f} nats" in picture.text
        and "&lt;</span>" in picture.html
    )


def test_a_mixture_has_its_valley_inside():
    p, q = np.array([0.9, 0.01, 0.5]), np.array([0.02, 0.8, 0.5])
    said = [float(re.search(r"loss ([\d.]+)\.", mixture(p, q, w).text)[1]) for w in (0.0, 0.5, 1.0)]
    assert np.allclose(
        said, [-np.log(w * p + (1 - w) * q).mean() for w in (0.0, 0.5, 1.0)], atol=1e-3
    )
    assert said[1] < min(said[0], said[2])


def test_the_loss_of_a_mixture_has_one_minimum_unless_both_models_agree():
    """The exercise says this in its verdict."""
    p, q, at = np.array([0.5, 0.2, 0.3]), np.array([0.5, 0.4, 0.1]), np.linspace(0, 1, 11)
    assert np.all(np.diff([_mix_slope(w, p, q) for w in at]) > 0)
    assert np.allclose([_mix_slope(w, p, p) for w in at], 0)
    assert np.isclose(_mix_slope(0.0, p, q), 1 - np.mean(p / q))


def test_written_escapes():
    assert "a &lt;b&gt;" in written("a <b>").html and written("a <b>").text == "It writes:\na <b>"
