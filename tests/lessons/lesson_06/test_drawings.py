"""Lesson 06's pictures: two graphs show the engine's gradients, and a closed relu is drawn as
closed.
"""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from drawn import words_in

import autograd_lib as ag
from autograd_course.drawing.picture import Picture
from autograd_course.lessons.lesson_06 import drawings as drawn


def svg_of(picture):
    """Parse the only SVG, and check that it has the whole text for a screen reader."""
    root = ET.fromstring(re.search(r"<svg.*</svg>", picture.html, re.DOTALL).group())
    assert root.get("role") == "img" and root.get("aria-label").split() == picture.text.split()
    return root


def gradients(text):
    """Return a dict from name to the gradient in the text."""
    said = re.findall(r"^(\S+?)(?:, closed)?: value \S+, gradient ([^;\n]+)", text, re.MULTILINE)
    return {name: float(number.replace("−", "-")) for name, number in said}


def slide(w1, w2, w3, x, y):
    b = (w1 * x * x + w3) ** 2
    c = (w2 * b + w3) ** 2
    return (ag.sin(b + c) - y) ** 2


def talk(w1, w2, w3, x, y):
    return (4 * ag.sin(ag.relu(w1 * x * x + w3) + ag.relu(w2 * x * x + w3)) - y) ** 2


def test_the_graph_of_the_slides_has_every_path():
    for given in [(0.5, 0.4, 0.3, 0.7, 0.3), (-0.7, 1.1, 0.2, 0.5, -0.4)]:
        picture = drawn.slide_graph(*given)
        svg_of(picture)
        said = gradients(picture.text)
        np.testing.assert_allclose(
            [said[w] for w in ("w₁", "w₂", "w₃")], ag.grad(slide, (0, 1, 2))(*given), atol=6e-5
        )


def test_the_paths_of_w3_stack_up_to_its_gradient():
    """Each path highlights its arrows, shows the product of their local gradients, and is drawn
    to scale beside the paths before it.
    """
    given, so_far, wholes = (0.5, 0.4, 0.3, 0.7, 0.3), 0.0, []
    arrows = [["w₃ in b", "b in ŷ"], ["w₃ in c", "c in ŷ"], ["w₃ in b", "b in c", "c in ŷ"]]
    for paths, before in enumerate(arrows, 1):
        picture = drawn.stacked_paths(*given, paths=paths)
        lit = re.findall(r'stroke-width="3"><title>([^<]*): ▶ local ([\d.]+)', picture.html)
        assert {name for name, _ in lit} == {*before, "ŷ in L"}
        brings = np.prod([float(local) for _, local in lit])
        so_far += brings
        said = [
            float(number)
            for number in re.findall(r"[\d.]+$|[\d.]+(?=,)", picture.text, re.MULTILINE)
        ]
        np.testing.assert_allclose(said, [brings, so_far], atol=2e-4)
        boxes = re.findall(
            r'<rect x="[^"]*" y="[^"]*" width="([\d.]+)"[^>]*stroke-dasharray="[52] 3"',
            picture.html,
        )
        wholes.append(np.array(boxes, float) + 4)
        assert len(re.findall(r'stroke-dasharray="5 3"', picture.html)) == paths
    np.testing.assert_allclose(so_far, ag.grad(slide, 2)(*given), atol=2e-4)
    np.testing.assert_allclose(
        wholes, [np.array([0.3010, 0.2313, 0.1008]) / 0.6331 * 560] * 3, atol=0.2
    )


@pytest.mark.parametrize("w", [(1.7, 0.2, 0.6), (1.3, 0.13, -0.37), (0.1, 0.0, -0.5)])
@pytest.mark.parametrize("x", [0, 0.3, 0.9])
def test_the_talks_graph_and_its_gates(w, x):
    picture = drawn.kink(w, x, 7, lambda x: 4 * np.sin(x**4), 0.5)
    said, right = gradients(picture.text), ag.grad(talk, (0, 1, 2))(*w, x, 4 * np.sin(x**4))
    np.testing.assert_allclose(
        [said[name] for name in ("w₁", "w₂", "w₃")], right, atol=6e-5, rtol=1e-3
    )
    for name, weight in [("b", w[0]), ("c", w[1])]:
        shut = weight * x * x + w[2] <= 0
        assert (f">{name}, closed<" in picture.html) == shut
        assert (
            (f"\n{name}, closed: value 0, " in picture.text)
            == shut
            == (f"; local gradients: w{'₁' if name == 'b' else '₂'} 0, w₃ 0" in picture.text)
        )
    assert (
        ("; barred: 0<" in picture.html)
        == ('stroke-width="1.4"' in picture.html)
        == (x == 0 or w[1] + w[2] < 0)
    )
    assert picture.text.startswith("After 7 steps: ")
    once = drawn.kink(w, x, 1, np.sin, 0.5)
    assert once.text.startswith("After 1 step: ") and ">after 1 step: " in once.html
    assert ("branch c: closed everywhere" in picture.text) == (w[1] + w[2] <= 0)
    assert ("branch b: open from x = 0.53\n" in picture.text) == (w == (1.3, 0.13, -0.37))
    assert "branch b: open up to x = 0.71" in drawn.kink((-1.0, 0.0, 0.5), x, 7, np.sin, 0.5).text


def test_every_step_has_the_same_size():
    def size(w):
        html = drawn.kink(w, 0.5, 3, np.sin, 0.1).html
        return [part.split('"')[0] for part in html.split('viewBox="')[1:]]

    assert size((1.7, 0.2, 0.6)) == size((0.0, 0.0, -9.0))


def test_errors_over_steps():
    lines = {"down": (range(3), [10.0, 1.0, 0.1]), "low": (range(0, 5, 2), [1.0, 1e-9, 0.0])}
    picture = drawn.courses(lines, "two lines", powers=(-3, 1), dots=[1.0, 20.0, 0.5])
    svg_of(picture)
    assert picture.text.splitlines() == [
        "two lines",
        "down: 10 at first, lowest 0.1, 0.1 after 2 steps",
        "low: 1 at first, lowest below 1e−3, below 1e−3 after 4 steps",
        "circles, one per step: from 0.5 to 20",
    ]
    assert "≤1e−3" in words_in(picture), (
        "the lowest number of the axis stands for what is smaller, too"
    )
    assert "1e−1" in words_in(drawn.courses({"down": lines["down"]}, "one line", powers=(-1, 1)))


def test_names_at_the_ends_stay_apart_and_above_the_axis():
    lines = {
        name: ([0, 9], [1.0, last])
        for name, last in [("low", 1e-9), ("lower", 0.0), ("lowest", 0.0)]
    }
    root = svg_of(drawn.courses(lines, "three lines", powers=(-3, 1)))
    ys = sorted(
        float(word.get("y"))
        for word in root.iter("{http://www.w3.org/2000/svg}text")
        if word.get("x") == "390.0"
    )
    assert (
        len(ys) == 6 and ys[-1] < 34 + 230 and min(b - a for a, b in zip(ys, ys[1:])) > 15
    )  # the axis is 34 + 230 px down


def test_fit_shows_the_course_so_far():
    xs = np.linspace(0, 1, 5)
    picture = drawn.fit((xs, xs), (xs, xs**2), [1.0, 0.5, 0.25], 1, "a parabola", (0, 1), (-1, 0))
    assert (
        isinstance(picture, Picture)
        and picture.text == "a parabola: mean squared error 0.5 after 1 of 2 steps"
    )
    assert picture.html.count("<circle") == 1


def test_a_chessboard_that_no_line_can_part():
    points, classes = drawn.chessboard()
    assert (
        points.shape == (40, 2)
        and ((points[:, 0] * points[:, 1] < 0) == classes).all()
        and 15 < classes.sum() < 25
    )
    most = 0
    for p in points:  # some best line always comes close to two points
        for q in points:
            across = np.array([p[1] - q[1], q[0] - p[0]])
            side = points @ across - p @ across
            for keep in (0, 1):
                for ends in ((0, 0), (0, 1), (1, 0), (1, 1)):
                    up = np.where(np.isclose(side, 0), 0, side > 0).astype(int) ^ keep
                    up[(points == p).all(1)], up[(points == q).all(1)] = ends
                    most = max(most, (up == classes).sum())
    assert most == 33


def test_descend_goes_by_the_gradient_of_the_other_function():
    steps, values = drawn.descend(lambda *w: sum(w), lambda a, b, c: a * 1.0)
    assert list(steps) == list(range(31)) and np.allclose(np.diff(values), -0.1)
