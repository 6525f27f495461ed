"""Lesson 16: measurements of a network, and the pictures of curvature."""

import re

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course.lessons.lesson_16 import drawings as drawn
from autograd_course.lessons.lesson_16.network import EARLY, END, Run, descend, largest_curvature


def bowl(curvatures):
    return lambda w: (w * w * np.array(curvatures)).sum() / 2


def test_the_largest_curvature_is_the_largest_and_not_the_largest_in_size():
    """Catch eigenvalues[0] in place of eigenvalues[-1]."""
    f, w = bowl([-7.0, 0.5, 2.0, 3.0]), np.zeros(4)
    curvature, direction = largest_curvature(f, w, np.ones(4), products=4)
    assert np.isclose(curvature, 3) and np.allclose(np.abs(direction), [0, 0, 0, 1])


def test_few_products_find_the_largest_of_many():
    rng = np.random.default_rng(0)
    f = bowl(np.concatenate([[9.0], rng.uniform(0, 5, 99)]))
    assert np.isclose(
        largest_curvature(f, np.zeros(100), rng.normal(size=100), products=20)[0], 9, rtol=1e-6
    )


def test_a_flat_loss_has_no_curvature():
    assert largest_curvature(lambda w: (0 * w).sum(), np.ones(3), np.ones(3))[0] == 0


def test_a_run_is_gradient_descent():
    run = descend(bowl([1.0, 4.0]), np.array([1.0, 1.0]), 0.1)
    assert np.allclose(run.end, [0.9**END, 0.6**END]) and len(run.losses) == END + 1
    assert np.isclose(run.losses[2], (0.9**4 + 4 * 0.6**4) / 2) and np.allclose(
        list(run.curvatures.values()), 4
    )
    assert {*range(0, EARLY + 1, 4), *range(0, END + 1, 20)} == run.curvatures.keys()


@pytest.mark.parametrize("curvature, said", [(1.5, "above 2/lr = 1"), (0.5, "below 2/lr = 1")])
def test_the_dial_says_on_which_side(curvature, said):
    run = Run(2, [2.0, 3.0, 1.0], {0: 0.9, 2: curvature}, np.zeros(1))
    picture = drawn.dial({2: run}, 2, 2, 2)
    assert f"largest curvature {curvature}, {said}" in picture.text and said in picture.html
    assert "loss 1" in picture.text and "between 1 and 3" in picture.text
    assert "after 0 steps: loss 2" in drawn.dial({2: run}, 2, 0, 2).text


def test_the_dial_rises_with_the_curvature_and_does_not_show_what_is_to_come():
    run = Run(2, [2.0, 3.0, 1.0], {0: 0.5, 1: 1.0, 2: 4.0}, np.zeros(1))
    dials = [drawn.dial({2: run}, 2, k, 2).html for k in range(3)]
    heights = [
        float(html.rpartition("<rect x=")[2].split('y="')[1].split('"')[0]) for html in dials
    ]
    assert heights[0] > heights[1] > heights[2]
    assert dials[0].count("<rect") == 2 and dials[2].count("<rect") == 4
    for html in dials:
        ends = {
            int(x) + int(wide)
            for x, wide in re.findall(r'<svg x="(\d+)" y="\d+" width="(\d+)"', html)
        }
        assert max(ends) + 10 == float(re.search(r'<text x="([\d.]+)"[^>]*>2/lr<', html)[1]), (
            "beside all lines"
        )


def test_the_dial_compares_the_losses_of_all_runs():
    ends = {0.5: 0.5, 1: 0.4, 2: 10.0, 4: 60.0}
    runs = {lr: Run(lr, [2.0, 3.0, end], {0: 0.5, 2: 1.0}, np.zeros(1)) for lr, end in ends.items()}
    html = drawn.dial(runs, 2, 2, 2).html
    strong, faint = (
        re.findall(rf'points="([^"]*)"[^>]*stroke-width="{width}"', html.partition("<rect")[0])
        for width in ("2.2", "1")
    )
    assert len(faint) == 4 and strong[0] in faint and "grey: other lr<" in html
    assert drawn.dial(runs, 2, 2, 2).text.endswith(
        "the other losses: 0.5 at lr = 0.5, 0.4 at lr = 1, 60 at lr = 4"
    )
    labels = {
        float(lr): float(y) for y, lr in re.findall(r'y="([\d.]+)"[^>]*>lr ([\d.]+)</text>', html)
    }
    assert sorted(labels, key=labels.get) == [4, 2, 0.5, 1], "in the order of the losses"
    assert min(np.diff(sorted(labels.values()))) >= 15 - 0.1, "labels that are close overlap"


@pytest.mark.parametrize("angle, times", [(0, 0), (0, 6), (5, 3), (30, 6), (175, 0), (175, 6)])
def test_the_title_names_the_angle_of_the_arrow(angle, times):
    html = drawn.bowl(drawn.turned((1, 6), 25), angle, times).html
    said = float(re.search(r">v at (−?[\d.]+)°", html)[1].replace("−", "-"))
    x, y = np.array(re.findall(r'd="M([\d.]+) ([\d.]+) [\d. ]+Z"', html)[1], float) - (169, 175)
    assert abs(said - np.degrees(np.arctan2(-y, x))) < 0.2


@pytest.mark.parametrize("x", [-1.2, 0.0, 0.5])
def test_the_slope_of_the_slope(x):
    picture = drawn.bend(ag.grad(np.tanh), x)
    first, second = (
        f"{value:.4g}".replace("-", "−")
        for value in (1 - np.tanh(x) ** 2, -2 * np.tanh(x) * (1 - np.tanh(x) ** 2))
    )
    assert (
        f"is {first}, and the slope of s is {second.removeprefix('−') if x == 0 else second}\n"
        in picture.text
    )
    assert (
        f"\nx: value {x:.4g}, gradient {second.removeprefix('−') if x == 0 else second}".replace(
            "-", "−"
        )
        in picture.text
    )


def test_a_turned_bowl_has_its_curvatures_along_its_axes():
    H = drawn.turned((1, 6), 25)
    for angle, curvature in [(25, 1), (115, 6)]:
        v = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
        assert np.allclose(H @ v, curvature * v)
        text = drawn.bowl(H, angle).text
        assert f"⟨v, Hv⟩: {curvature};" in text and "turned from v by 0 degrees" in text


@pytest.mark.parametrize("angle", [0, 30, 90, 160])
def test_products_turn_to_the_steepest_direction(angle):
    H = drawn.turned((1, 6), 25)
    along = [
        float(drawn.bowl(H, angle, times).text.split("⟨v, Hv⟩: ")[1].split(";")[0])
        for times in range(7)
    ]
    assert np.all(np.diff(along) >= 0) and along[-1] > 5.99
    assert (
        drawn.bowl(H, angle, 3).html.count("<polyline")
        == drawn.bowl(H, angle).html.count("<polyline") + 3
    )


@pytest.mark.parametrize("angle, times", [(0, 2), (25, 0), (30, 0), (110, 0), (115, 0), (130, 0)])
def test_the_names_of_the_arrows_stand_on_neither(angle, times):
    html, middle = drawn.bowl(drawn.turned((1, 6), 25), angle, times).html, (169, 175)
    tips = np.array(re.findall(r'd="M([\d.]+) ([\d.]+) [\d. ]+Z"', html), float) - middle
    names = (
        np.array(re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>H?v<', html), float)
        - middle
        - (0, 5)
    )
    for tip in tips:
        along = np.clip(names @ tip / (tip @ tip), 0, 1)
        assert len(names) == 2 and np.linalg.norm(names - along[:, None] * tip, axis=1).min() > 10


@pytest.mark.parametrize("w, shape, way", [(0.5, "a bottom", "down"), (-0.5, "a top", "up")])
def test_the_parabola_turns_where_newton_goes(w, shape, way):
    def f(w):
        return (np.tanh(2 * w) - 1) ** 2 / 2

    picture = drawn.parabola(f, w)
    step = -ag.grad(f)(w) / ag.grad(ag.grad(f))(w)
    assert f"has {shape}\nNewton's step {step:.4g} leads there".replace("-", "−") in picture.text
    assert picture.text.endswith(way)
    assert "to w = " not in picture.html.partition("<title>")[2].partition("</title>")[2]


def test_a_step_out_of_the_picture_says_where_it_leads():
    assert (
        "to w = 28.29"
        in drawn.parabola(lambda w: (np.tanh(2 * w) - 1) ** 2 / 2, -0.17).html.partition(
            "</title>"
        )[2]
    )


@pytest.mark.parametrize("w", [-0.24, -0.21, -0.18, -0.17, -0.12])
def test_the_parabola_does_not_cross_the_words_that_say_where_the_step_leads(w):
    html = drawn.parabola(lambda w: (np.tanh(2 * w) - 1) ** 2 / 2, w).html
    dots = re.search(r'<polyline points="([^"]*)"[^>]*stroke-dasharray="2 4"', html)[1]
    said = re.search(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>(?:← )?to w = ', html)
    x, y = map(float, said.groups())
    left = x if "← to w" in html else x - 130
    for dot in dots.split():
        across, down = map(float, dot.split(","))
        assert not (left < across < left + 130 and y - 15 < down < y + 5)
