"""Lesson 13's pictures: bars are as tall as the gradients are long, the next sample follows
the rule, and a run outside the picture is reported.
"""

import re

import numpy as np
import pytest
from drawn import SVG, svg_of, words_in

from autograd_course.drawing import style
from autograd_course.lessons.lesson_13 import drawings as drawn
from autograd_lib import nn


@pytest.mark.parametrize("rho, first", [(0.9, "0.005154"), (1.0, "1"), (1.1, "117.4")])
def test_the_bars_shrink_as_the_gradient_does(rho, first):
    """Catch bars as tall as the gradient at the previous state."""
    lengths = rho ** np.arange(50, -1, -1.0)
    picture = drawn.unrolled(rho, np.stack([lengths, 0 * lengths], axis=1))
    bars = rf' 150H[\d.]+" stroke="{re.escape(style.GRADIENT)}" stroke-width="([\d.]+)"'
    heights = [float(height) for height in re.findall(bars, picture.html)]
    assert np.allclose(heights, np.minimum(drawn.UNIT * lengths[:-1], 96), atol=6e-4)
    assert picture.text.splitlines()[0].endswith(f"has length {first} at s₀")
    assert ("cut off" in picture.text) == (rho > 1)


@pytest.mark.parametrize("h", [0.1, 0.2, 0.5, 1.0])
def test_the_rule_meets_the_wave_at_any_distance(h):
    for n in (1, 7, 120):
        by_rule, true = re.search(
            r"rule of two terms: (\S+); it is (\S+)", drawn.turning(h, n).text
        ).groups()
        assert by_rule == true
        start, end = map(
            float,
            re.search(r'd="M([\d.]+) [\d.]+H([\d.]+)M222 ', drawn.turning(h, n).html).groups(),
        )
        assert start <= end < 178, "the numbers of the axis stand from 178 to 215"
    assert f"{np.pi / h:.4g} samples per period" in drawn.turning(h, 0).text


def test_a_run_that_left_says_where_it_is():
    runs = {
        "clipped": np.array([1.1, 1.099, 1.098]),
        "not clipped": np.array([1.1, -154.0, np.nan]),
    }
    said = [drawn.cliff(runs, step).text for step in range(3)]
    assert (
        "not clipped: ρ = 1.1, loss 1,693" in said[0]
        and "ρ = −154, outside" in said[1]
        and "nan" in said[2]
    )


def test_a_forecast_names_its_largest_error():
    wave = np.sin(np.arange(20.0))
    text = drawn.continued(wave[:10], wave[10:], wave[10:] + 0.25, wave[10:]).text
    assert "network: 0.2" in text and text.endswith("rule: 0")
    assert "24 values" in drawn.asked(np.arange(24.0) / 10, wave[[0] * 24]).text


def test_gradient_sizes():
    picture = drawn.gradient_sizes(
        {
            "first": np.array([3e-5, -4e-5]),
            "dead": np.zeros((2, 2)),
            "last": np.array([[0.1]]),
            "none": None,
        }
    )
    assert picture.text.splitlines()[1:] == [
        "first (2,): 3.5e−5",
        "dead (2, 2): 0: every entry is zero",
        "last (1, 1): 0.1",
        "none: no gradient arrived",
    ]
    dots = [float(dot.get("cx")) for dot in svg_of(picture).iter(f"{SVG}circle")]
    assert len(dots) == 2 and dots[0] < dots[1]
    assert {"3.5e−5", "0: every entry is zero", "no gradient arrived"} <= set(words_in(picture))
    assert "a: 0: every entry" in drawn.gradient_sizes({"a": np.zeros(1)}).text, (
        "a shape that all gradients share is left out"
    )


def test_gradient_sizes_of_a_module():
    layer = nn.Linear(2, 3, rng=0)
    layer.weight.grad = np.full((3, 2), -2.0)
    assert drawn.gradient_sizes(layer).text.splitlines()[1:] == [
        "weight: 2",
        "bias: no gradient arrived",
    ]


def test_gradient_sizes_on_a_scale_that_stays():
    def places(size):
        picture = drawn.gradient_sizes(
            {"a": np.array([size]), "b": np.array([1.0])}, limits=(1e-4, 1)
        )
        small, one = (float(dot.get("cx")) for dot in svg_of(picture).iter(f"{SVG}circle"))
        return one - small

    two, three, outside = (places(size) for size in (1e-2, 1e-3, 1e-9))
    assert three == 1.5 * two and outside == 2 * two, (
        "what is too small for the scale stands at its edge"
    )


def test_labels_below_gradient_sizes_do_not_touch():
    """Labels are at least 40 px apart. Regression: nine labels 30 px apart, where 1e−7 is 31 px
    wide.
    """
    for size in 3 / 10.0 ** np.arange(1, 20):
        picture = drawn.gradient_sizes({"a": np.array([size]), "b": np.array([3.0])})
        places = [
            float(label.get("x"))
            for label in svg_of(picture).iter(f"{SVG}text")
            if re.fullmatch(r"1(e.+)?", "".join(label.itertext()))
        ]
        assert len(places) >= 3 and min(np.diff(places)) >= 40
