"""Lesson 12's pictures: the weights of ten neurons, and the scores of several networks."""

import re

import numpy as np
from drawn import words_in

from autograd_course.drawing import style
from autograd_course.lessons.lesson_12.drawings import neurons, scores


def test_a_title_says_that_only_ten_of_the_neurons_are_drawn():
    weights = np.random.default_rng(0).normal(size=(32, 64))
    picture = neurons([weights, weights[:10]], ["many", "ten"])
    said = words_in(picture)
    assert "many (10 of 32 neurons)" in said and "ten" in said
    assert "many: 32 distinct neurons among 32." in picture.text


def test_bars_are_as_long_as_the_scores_of_three_networks():
    named = {"reader": (1.0, 0.75), "200 true": (0.5, 0.25), "200 shuffled": (1.0, 0.1)}
    picture = scores(named, chance=0.1)
    bars = rf'width="([\d.]+)" height="18" fill="(none|{re.escape(style.VALUE)})"'
    widths = np.array([float(width) for width, _ in re.findall(bars, picture.html)])
    expected = np.ravel([*named.values()])
    assert np.allclose(widths / widths[0], expected, atol=0.001)
    assert (
        "200 true: 50.0\u00a0% on the training scans, 25.0\u00a0% on held-out ones." in picture.text
    )
