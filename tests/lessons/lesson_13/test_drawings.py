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


def test_the_trail_of_the_clipped_run_is_filled_like_its_mark():
    """Catch a trail of hollow dots, which looks like that of the other run."""
    ρ = 1.1 - 0.001 * np.arange(12)
    runs = {"clipped": ρ, "not clipped": np.full(12, np.nan)}
    fills = {dot.get("fill") for dot in svg_of(drawn.cliff(runs, 11)).iter(f"{SVG}circle")}
    assert fills == {style.INK}


def test_a_forecast_names_its_largest_error():
    wave = np.sin(np.arange(20.0))
    text = drawn.continued(wave[:10], wave[10:], wave[10:] + 0.25, wave[10:]).text
    assert "network: 0.2" in text and text.endswith("rule: 0")
    assert "24 values" in drawn.asked(np.arange(24.0) / 10, wave[[0] * 24]).text


def test_one_window_shows_each_forecast_at_its_own_sample():
    """Catch a forecast drawn at the sample before the one that it forecasts."""
    window = np.array([0.1, 0.2, 0.3, 0.4])
    picture = drawn.one_window(window, window[1:] - 0.3, window[1:])
    assert picture.text.splitlines()[1:] == [
        "before training: error 0.3 in the first forecast, 0.3 in the last, 0.3 at most",
        "after training: error 0 in the first forecast, 0 in the last, 0 at most",
    ]
    dots = [
        (float(dot.get("cx")), float(dot.get("cy"))) for dot in svg_of(picture).iter(f"{SVG}circle")
    ][:4]
    squares = [
        (float(dot.get("x")) + 3, float(dot.get("y")) + 3)
        for dot in svg_of(picture).iter(f"{SVG}rect")
        if dot.get("class") == "dot"
    ][:3]
    assert np.allclose(dots[1:], squares, atol=0.1)
    lines = [line.get("points") for line in svg_of(picture).iter(f"{SVG}polyline")]
    before, after = (
        np.array([[*map(float, at.split(","))] for at in points.split()]) for points in lines
    )
    assert np.allclose(after, squares, atol=0.1) and np.allclose(before[:, 0], after[:, 0])
    assert np.allclose(before[:, 1] - after[:, 1], 0.3 * 190 / 1.44, atol=0.2)


def descents(last):
    norms = [1.0, 10.0, 100.0, last]
    return {
        np.inf: ([0.1, 1.0, 10.0, last], norms, [0.5, 8.0, 1e-9, 0.0]),
        1.0: ([0.1, 1.0, 0.1, 0.01], [0.5, 10.0, 2.0, 0.1], [0.1, 1.0, 1.0, 0.1]),
    }


@pytest.mark.parametrize("last, words", [(1e250, "1e250"), (np.inf, "inf"), (np.nan, "nan")])
def test_two_descents_mark_the_clipped_steps(last, words):
    picture = drawn.two_descents(descents(last))
    assert picture.text.splitlines()[1:] == [
        f"not clipped: loss 0.1 at first, {words} at the end; norm at most {words if last > 1 else '100'}",
        f"not clipped: norm at the first steps: 1, 10, 100, {words}",
        "not clipped: of the cell alone at the first steps: 0.5, 8, 1e−9, 0",
        "clipped: loss 0.1 at first, 0.01 at the end; norm at most 10",
        "clipped: norm at the first steps: 0.5, 10, 2, 0.1",
        "2 steps clipped at c = 1: 1, 2",
    ]
    dots = [
        (float(dot.get("cx")), float(dot.get("cy"))) for dot in svg_of(picture).iter(f"{SVG}circle")
    ]
    (loss, loss_2), (norm, norm_2), _ = dots[:2], dots[2:4], dots[4:]
    assert len(dots) == 5 and loss[0] < loss_2[0] and norm[0] < norm_2[0]
    assert np.isclose(loss_2[1] - loss[1], 150 / 5.6, atol=0.2), (
        "a tenth of the loss is one line lower"
    )
    assert np.isclose(norm_2[1] - norm[1], np.log10(10 / 2) * 220 / 21.5, atol=0.2)
    assert "not clipped: leaves the picture" in words_in(picture)
    points = " ".join(line.get("points") for line in svg_of(picture).iter(f"{SVG}polyline"))
    assert "nan" not in points and "inf" not in points and "e" not in points


def test_two_descents_inside_the_picture():
    assert "not clipped: leaves the picture" not in words_in(drawn.two_descents(descents(20.0)))


def test_the_norm_of_the_cell_is_drawn_where_it_vanishes():
    """Catch a curve that leaves the picture before it is 0, and one that is drawn too high."""
    picture = drawn.two_descents(descents(20.0))
    assert "0 at step 3" in words_in(picture)
    (cell,) = (
        np.array([[*map(float, at.split(","))] for at in line.get("points").split()])
        for line in svg_of(picture).iter(f"{SVG}polyline")
        if line.get("stroke") == style.OTHER
    )
    one_step, decade = 482 / drawn.FIRST, 220 / 21.5
    assert np.allclose(np.diff(cell[:, 0]), one_step, atol=0.2)
    assert np.isclose(cell[2, 1] - cell[1, 1], np.log10(8e9) * decade, atol=0.2)
    bottom = 278 + 220
    assert cell[:3, 1].max() < bottom < cell[3, 1] < bottom + 2 * decade


def test_two_descents_draw_the_norms_of_the_first_steps_only():
    long = [float(k + 1) for k in range(40)]
    runs = {np.inf: (long, long, long), 1.0: (long, long, long)}
    counts = [
        len(line.get("points").split())
        for line in svg_of(drawn.two_descents(runs)).iter(f"{SVG}polyline")
    ]
    assert sorted(counts) == [2, drawn.FIRST, drawn.FIRST, drawn.FIRST, 40, 40]


@pytest.mark.parametrize("limits", [[1.0], [np.inf], [1.0, 2.0], [1.0, 2.0, np.inf]])
def test_two_descents_need_one_run_that_is_not_clipped(limits):
    with pytest.raises(ValueError, match="expected the maximum norms inf and one number"):
        drawn.two_descents(dict.fromkeys(limits, ([1.0], [1.0], [1.0])))


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
