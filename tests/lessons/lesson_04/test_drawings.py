"""Lesson 04's pictures."""
import re
import xml.etree.ElementTree as ET

import pytest

from autograd_course.lessons.lesson_04.drawings import plateau, turned_over
from autograd_course.show import style


def drawn(picture, tag, **look):
    """All elements of that kind and look; the drawing says in words what it shows."""
    root = ET.fromstring(re.search(r"<svg.*</svg>", picture.html, re.DOTALL).group())
    assert root.get("role") == "img" and root.get("aria-label").split() == picture.text.split()
    return [one for one in root.iter("{http://www.w3.org/2000/svg}" + tag) if all(one.get(name) == value for name, value in look.items())]


@pytest.mark.parametrize("start, x, steps, says, begins", [
    (-20.0, -20.0, 1000, "From x = −20, after 1,000 steps: x = −20, z = −1, L = 4.\nThe gradient of x there is exactly 0.0.", False),
    (-3.0, 0.0, 1, "From x = −3, after 1 step: x = 0, z = 0, L = 1.\nThe gradient of x there is −2.", True)])
def test_plateau(start, x, steps, says, begins):
    picture = plateau(start, x, steps)
    assert picture.text == says and len(drawn(picture, "circle")) == 2
    words = [one.text for one in drawn(picture, "text")]
    assert ("start" in words) == begins and f"gradient {says.split(' is ')[1][:-1]}" in words


@pytest.mark.parametrize("x, steps", [(5.0, ["0.3", "1.5", "1.5", "0.3"]), (0.2, ["1.5", "0.3", "0.3", "1.5"])])
def test_turned_over(x, steps):
    picture = turned_over(x)
    assert f"log at {x:g} has the height" in picture.text and f"the slope 1/{x:g} = {1 / x:g}." in picture.text
    assert len(drawn(picture, "polyline", stroke=style.TANGENT)) == 2
    assert [one.text for one in drawn(picture, "text", **{"font-size": "13", "fill": style.INK}) if one.text != "x"] == steps
