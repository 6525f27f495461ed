"""Lesson 04's pictures."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course.drawing import style
from autograd_course.drawing.formatting import number
from autograd_course.lessons.lesson_04.drawings import branches, exp_and_log, plateau


def drawn(picture, tag, **look):
    """Return all elements of this kind and look; assert that the drawing describes itself in
    words.
    """
    root = ET.fromstring(re.search(r"<svg.*</svg>", picture.html, re.DOTALL).group())
    assert root.get("role") == "img" and root.get("aria-label").split() == picture.text.split()
    return [
        one
        for one in root.iter("{http://www.w3.org/2000/svg}" + tag)
        if all(one.get(name) == value for name, value in look.items())
    ]


def test_plateau():
    """Each path has a dot on the curve, its earlier points, and a dot at the height of its
    gradient; one gradient is exactly 0, and only there is the curve at the bottom.
    """
    walks = {-20.0: [-20.0, -20.0], -3.0: [-3.0, 0.0]}
    before, picture = plateau(walks, 0), plateau(walks, 1)
    assert picture.text == (
        "From x = −20, after 1 step: x = −20, z = −1, L = 4, gradient exactly 0.0.\n"
        "From x = −3, after 1 step: x = 0, z = 0, L = 1, gradient −2."
    )
    assert "z = −0.999988, L = 4, gradient −9.8e−5" in plateau({-6.0: [-6.0]}, 0).text
    words = [one.text for one in drawn(picture, "text")]
    assert words.count("exactly 0") == 1 and {"−20", "−3"} <= set(words)
    (curve,) = drawn(picture, "polyline", stroke=style.GRADIENT)
    points = [tuple(map(float, one.split(","))) for one in curve.get("points").split()]
    lowest = max(y for _, y in points)
    assert points[0][1] == lowest > points[-1][1] + 3
    heights = [
        [float(dot.get("cy")) for dot in drawn(shown, "circle", fill=style.GRADIENT)]
        for shown in (before, picture)
    ]
    assert heights[0][0] == heights[1][0] > heights[0][1] > heights[1][1], (
        "the larger the gradient, the higher"
    )
    places = [
        [float(dot.get("cx")) for dot in drawn(shown, "circle", fill=style.VALUE)]
        for shown in (before, picture)
    ]
    assert places[0][0] == places[1][0] < places[0][1] < places[1][1]


@pytest.mark.parametrize(
    "x, steps", [(5.0, ["0.3", "1.5", "1.5", "0.3"]), (0.2, ["1.5", "0.3", "0.3", "1.5"])]
)
def test_exp_and_log(x, steps):
    picture = exp_and_log(x)
    assert (
        f"log at {x:g} has height" in picture.text and f"slope 1/{x:g} = {1 / x:g}." in picture.text
    )
    assert len(drawn(picture, "polyline", stroke=style.TANGENT)) == 2
    assert [
        one.text
        for one in drawn(picture, "text", **{"font-size": "13", "fill": style.INK})
        if one.text != "x"
    ] == steps


@pytest.mark.parametrize("replacement", [None, 1.0, 0.0])
@pytest.mark.parametrize("x", [-1.0, 0.0, 0.5, 4.0])
def test_branches(x, replacement):
    """The value and the gradient of x are the engine's; each nan gradient has a frame; only a
    value that a where takes has a blue arrow.
    """

    def f(x):
        root_input = x if replacement is None else ag.where(x > 0, x, replacement)
        return ag.where(x > 0, ag.sqrt(root_input), 0.0)

    with np.errstate(all="ignore"):
        z, gradient = f(np.float64(x)), ag.grad(f)(x)
    picture = branches(x, replacement)
    said = [one.text for one in drawn(picture, "text")]
    assert f"z = {number(float(z))}" in said and f"x = {number(x)}" in said
    assert f"The gradient of x is {number(float(gradient))}." in picture.text
    assert np.isnan(gradient) == (replacement is None and x <= 0)
    assert ("0 in place of nan" in said) == (replacement == 0 and x <= 0)
    widths = [
        float(one.get("stroke-width")) for one in drawn(picture, "path", stroke=style.GRADIENT)
    ]
    narrower = [
        float(one.get("stroke-width"))
        for one in drawn(branches(2 * x, replacement), "path", stroke=style.GRADIENT)
    ]
    assert x <= 0 or narrower[0] < widths[0] < widths[-1]  # the slope of the root falls
    framed = drawn(picture, "rect", stroke=style.INK)
    assert len(framed) == sum(label == "nan" or label.endswith("= nan") for label in said)
    assert len(framed) == (x <= 0 and not replacement) + (x < 0 and replacement is None)
    wheres = said.count("where")
    assert wheres == 1 + (replacement is not None)
    values = drawn(picture, "path", stroke=style.VALUE)
    ignored = drawn(picture, "path", stroke=style.LINE)
    assert len(ignored) == wheres and len(values) == 2 + wheres
