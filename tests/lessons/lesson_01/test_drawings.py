"""The pictures of lesson 01."""

import warnings
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course import predict
from autograd_course.drawing import style
from autograd_course.lessons.lesson_01.drawings import chosen, descent, secant, secant_and_errors

SVG = "{http://www.w3.org/2000/svg}"
STEPS = [1.0, 0.1, 0.01]
ERRORS = {"forward": [2.0, 0.2, 0.02], "central": [0.5, 0.005, 0.0]}


def drawn(picture, tag, **look):
    """Return all elements of this kind and look; assert that each drawing describes itself in
    words.
    """
    page = ET.fromstring(picture.html)
    images = [one for one in page.iter(f"{SVG}svg") if one.get("role") == "img"]
    assert images and all(
        one.get("aria-label") and one.find(f"{SVG}g/{SVG}title").text for one in images
    )
    return [
        one
        for one in page.iter(SVG + tag)
        if all(one.get(name) == value for name, value in look.items())
    ]


def test_secant():
    picture = secant(np.square, 1.0, 0.5, slope=2.0)
    assert picture.text == "h = 0.5: secant slope 2.50000000, tangent slope 2.00000000, error 0.5"
    assert (
        len(drawn(picture, "circle")) == 4
        and len(drawn(picture, "polyline", stroke=style.TANGENT)) == 2
    ), "and magnified"


def test_errors_so_far():
    first, last = (secant_and_errors(np.square, 1.0, h, 2.0, STEPS, ERRORS) for h in (1.0, 0.01))
    assert first.text.splitlines()[1:] == ["forward error 2", "central error 0.5"]
    assert last.text.splitlines()[1:] == ["forward error 0.02", "central error 0"]
    assert [len(drawn(picture, "rect")) for picture in (first, last)] == [1 + 1, 3 + 1], (
        "the newest is drawn full, above its hollow one"
    )


@pytest.mark.parametrize("bet", [1e-5, 1e-8, 1e-16])
def test_the_bet_is_drawn(bet):
    picture = secant_and_errors(
        np.square, 1.0, 0.1, 2.0, [10.0**-k for k in range(17)], {"forward": [0.1] * 17}, bet
    )
    assert f"your bet: 1e−{-np.log10(bet):g}" in [text.text for text in drawn(picture, "text")]


def test_a_bet_counts_before_it_is_revealed():
    panel = predict("01.bet")
    assert chosen(panel) is None
    panel.children[0].parts[0].widget.value = "1e−11"
    assert chosen(panel) == 1e-11 and not panel.children[0].is_open


def test_descent():
    picture = descent(lambda x: (x - 3) ** 2 + 5, [0.0, 6.0, 0.0, 6.0, 12.0], span=(-2, 8))
    assert picture.text.splitlines()[:2] == [
        "after 0 steps: x = 0.00000, value 14.00000",
        "after 1 step: x = 6.00000, value 14.00000",
    ]
    assert len(picture.text.splitlines()) == 5 and len(drawn(picture, "circle")) == 4, (
        "12 is outside the picture"
    )
    assert {"0, 2", "1, 3"} <= {text.text for text in drawn(picture, "text")}, (
        "points at one place share a label"
    )
    assert "x = −1.00000" in descent(abs, [-1.0], span=(-2, 8)).text


def test_the_library_warns_of_the_kink_as_the_lesson_says():
    with pytest.warns(RuntimeWarning, match="kink"):
        ag.check_grads(abs, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ag.check_grads(abs, 1.0)
