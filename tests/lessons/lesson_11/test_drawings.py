"""Lesson 11: the factors below the ravine agree with the path above them."""

import re

import numpy as np
import pytest

from autograd_course.lessons.lesson_11 import drawings as drawn
from autograd_lib import Tensor, optim


def ravine(w1, w2):
    return (w1**2 + 25 * w2**2) / 2


@pytest.mark.parametrize(
    "lr, w2, does",
    [
        (0.02, 0.5, "shrinks"),
        (0.06, -0.5, "oscillates and shrinks"),
        (0.08, -1, "oscillates without shrinking"),
        (0.1, -1.5, "diverges"),
    ],
)
def test_each_factor_and_what_it_does(lr, w2, does):
    """Catch a comparison of the signed factor with 1, by which −1.5 "shrinks"."""
    path = np.array([(-2.6 * (1 - lr) ** k, 1.2 * w2**k) for k in range(41)])
    picture = drawn.factors(ravine, path, (1, 25), lr)
    first, *_, of_w1, of_w2 = picture.text.splitlines()
    assert (
        first.startswith("after 40 steps")
        and of_w1 == f"each step multiplies w₁ by {1 - lr:g}: it shrinks"
    )
    assert of_w2 == f"each step multiplies w₂ by {w2:g}: it {does}".replace("-", "−")
    assert picture.html.count("<svg") == 2 + picture.html.count("<polyline")


def test_a_factor_far_outside_stays_in_the_picture():
    path = np.array([(-2.6, 1.2), (-2.1, -28.0)])
    html = drawn.factors(ravine, path, (1, 100), 0.25).html
    assert (
        "w₂ × −24" in html
        and min(float(part.split(",")[0].split(" ")[0]) for part in html.split('d="M')[1:]) > 0
    )


@pytest.mark.parametrize("name", drawn.LANDSCAPES)
def test_each_landscape_has_its_start_in_the_picture_and_the_bottom_it_says(name):
    f, start, bottom = drawn.LANDSCAPES[name]
    w1, w2 = np.meshgrid(np.linspace(*drawn.SPAN[0], 601), np.linspace(*drawn.SPAN[1], 401))
    assert all(low < w < high for w, (low, high) in zip(start, drawn.SPAN))
    assert bottom <= f(w1, w2).min() < bottom + 1e-6 and f(*start) > bottom + 1


def test_the_opening_picture_walks_far_and_comes_little_nearer():
    assert "distance covered 0; closer to the minimum by 0" in repr(drawn.zigzag(0))
    said = repr(drawn.zigzag(30))
    walked, nearer = (
        float(re.search(rf"{words} ([\d.]+)", said)[1])
        for words in ("distance covered", "to the minimum by")
    )
    assert "after 30 steps" in said and walked > 10 * nearer > 20
    widths = [
        float(width) for width in re.findall(r'width="([\d.]+)" height="10"', drawn.zigzag(30).html)
    ]
    assert widths[1] / widths[0] == pytest.approx(nearer / walked, rel=0.01)
    assert np.allclose(drawn.ZIGZAG[1:], drawn.ZIGZAG[:-1] * (1 - 0.077 * np.array([1, 25]))), (
        "it is gradient descent"
    )


def w2_with_momentum(lr, steps):
    """Return w₂ after every step of momentum 0.9 in the ravine of the lesson."""
    w = Tensor(1.2, requires_grad=True)
    optimizer, path = optim.SGD([w], lr, momentum=0.9), [1.2]
    for _ in range(steps):
        w.grad = 25 * w.data
        optimizer.step()
        path.append(w.item())
    return np.array(path)


def test_momentum_leaves_the_picture_below_its_limit():
    """Hold the numbers that the lesson states beside the slider of momentum, and what its lower plot shows."""
    top = drawn.SPAN[1][1]
    swing = w2_with_momentum(0.01, 6)
    assert np.all(swing[3:] < 0) and np.all(np.diff(swing) < 0)  # past 0 by more than one step
    below, at, above = (abs(w2_with_momentum(lr, 400)) for lr in (0.15, 0.152, 0.154))
    assert below.max() > top > below[40:].max()
    assert at[-1] > top and np.isclose(at.max(), 22.8, rtol=1e-6) and above[40] > 1000


def heights_of(picture):
    """Return the heights that the description of a picture states, by the name of the run."""
    return dict(re.findall(r"^(.*): height (.*)$", picture.text, re.MULTILINE))


def lines_of(html):
    """Return the points (px, py) of each line that is clipped to the lower plot."""
    return [
        np.array([[float(x) for x in point.split(",")] for point in points.split()])
        for points in re.findall(r'<polyline points="([^"]*)"', html.rpartition("<div class=")[2])
    ]


def test_the_heights_fall_below_the_paths_at_the_same_steps():
    path = np.array([(-2.6 * 0.98**k, 1.2 * 0.5**k) for k in range(41)])
    picture = drawn.descents(ravine, {"plain": path}, 10, level=0.01, powers=(-4, 1))
    share = ravine(*path[10]) / ravine(*path[0])
    assert float(heights_of(picture)["plain"]) == pytest.approx(share, rel=0.05)
    level, now, line = lines_of(picture.html)
    assert len(line) == 41 and np.ptp(level[:, 1]) == 0 and np.ptp(now[:, 0]) == 0
    assert now[0, 0] == line[10, 0] and line[0, 1] == 30 + 150 / 5  # 1 is one of five decades down
    assert line[10, 1] == pytest.approx(60 - 30 * np.log10(share), abs=0.1)
    assert level[0, 1] == 120 and "dotted: 1 %" in picture.html


def test_a_run_that_diverges_or_arrives_has_no_marker_outside_the_plot():
    rest, gone = np.zeros((5, 2)), np.array([(1.0, 1.0 * (-9.0) ** k) for k in range(5)])
    rest[0] = 1
    picture = drawn.descents(ravine, {"plain": rest, "momentum": gone}, powers=(-4, 4))
    assert heights_of(picture) == {"plain": "below 0.0001", "momentum": "above 10,000"}
    far = gone * np.array([[1, 1e200]])
    assert "nan" not in drawn.descents(ravine, {"plain": far}).html.rpartition("<div class=")[2]


def test_runs_keep_their_looks_in_the_plot_of_heights():
    """Catch a legend whose colours are not those of the lines."""
    runs = {f"run {k}": np.array([1.0, 10.0**-k]) for k in range(1, 6)}
    html = drawn.speeds(runs, level=1e-4).html
    drawn_in = re.findall(r'<polyline [^>]*stroke="([^"]*)"', html)[1:]
    named = re.findall(r'<text [^>]*fill="([^"]*)"[^>]*>run \d', html)
    assert len(set(named)) == 5 and drawn_in == named
    stated = heights_of(drawn.speeds(runs)).values()
    assert [float(at.replace("−", "-")) for at in stated] == pytest.approx(
        [0.1, 0.01, 0.001, 0.0001, 0.00001]
    )


def test_pictures_of_two_drawings_stack_them_in_a_wide_window_too():
    path = np.array([(-2.6, 1.2), (-2.5, 1.1)])
    for picture in (
        drawn.zigzag(3),
        drawn.factors(ravine, path, (1, 25), 0.02),
        drawn.descents(ravine, {"plain": path}),
    ):
        assert picture.html.count('<div><div class="drawn') == 2


def test_the_bar_says_that_a_factor_between_minus_1_and_0_also_shrinks():
    html = drawn.factors(ravine, np.array([(-2.6, 1.2), (-2.5, 0.6)]), (1, 25), 0.02).html
    words = re.findall(r">([^<>]+)</text>", html)
    assert [words.count(said) for said in ("oscillates, shrinks", "oscillates", "shrinks")] == [
        1,
        0,
        1,
    ]
