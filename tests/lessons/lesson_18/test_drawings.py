"""Lesson 18's pictures."""

import re

import numpy as np
import pytest
from drawn import SVG, svg_of, words_in

from autograd_course.drawing import style
from autograd_course.lessons.lesson_18.drawings import (
    attention_row,
    by_position,
    dependence_matrix,
    sharpness,
)


def numbers(text):
    return [float(one.replace("−", "-")) for one in re.findall(r"−?\d+(?:\.\d+)?(?:e−\d+)?", text)]


def opacities(picture, colour):
    return [
        float(one)
        for one in re.findall(rf'fill="{re.escape(colour)}" fill-opacity="([0-9.]+)"', picture.html)
    ]


def test_who_reads_whom_marks_the_future():
    """Catch crosses on the past in place of the future."""
    sizes = np.array([[2.0, 1.0, 0], [0, 4.0, 0], [0.5, 0, 0]])
    picture = dependence_matrix(sizes, "abc")
    assert picture.text.splitlines() == [
        "The future is read 1 times.",
        "Position, what it reads, and the slope of each:",
        "0 (a): 0 2, 1 1",
        "1 (b): 1 4",
        "2 (c): 0 0.5",
    ]
    shades = opacities(picture, style.GRADIENT)
    assert np.allclose(shades, 0.12 + 0.88 * sizes[sizes > 0] / 4, atol=1e-3)
    assert picture.html.count("l16 16m0 -16") == 1
    (dots,) = [one for one in svg_of(picture).iter(f"{SVG}path") if "linecap" in str(one.attrib)]
    assert dots.get("d").count("h0") == 5, "one for each size that is 0"
    grounds = {
        one.get("fill"): one for one in svg_of(picture).iter(f"{SVG}path") if one.get("fill")
    }
    assert [grounds[key].get("d").count("z") for key in (style.GROUND, style.PAPER)] == [3, 6]
    assert {"strong colour: large; dot: 0", "grey: the future; crossed: read"} <= set(
        words_in(picture)
    )
    honest = dependence_matrix(np.tri(3) / 3, "abc", what="weight")
    assert honest.text.splitlines()[::3] == ["The future is read 0 times.", "1 (b): 0 0.33, 1 0.33"]
    assert opacities(honest, style.VALUE) == [1.0] * 6 and {
        "strong colour: large; dot: near 0",
        "grey: the future",
    } <= set(words_in(honest))


@pytest.mark.parametrize("position", [0, 3, 7])
def test_attention_row_shares_and_masks(position):
    scores, values = np.linspace(-1, 2, 8), np.array([3.0, -2, 1, 4, -1, 2, 0, -3])
    picture = attention_row("attended", scores, values, position)
    p = np.exp(scores[: position + 1]) / np.exp(scores[: position + 1]).sum()
    z = p @ values[: position + 1]
    lines = picture.text.splitlines()
    listed = [line.split(": ")[1].split(";")[0] for line in lines[1:3]]
    weights, back = ([numbers(one)[0] for one in line.split(", ")] for line in listed)
    masked = np.zeros(7 - position)
    assert np.allclose(weights, [*p, *masked], atol=1e-3)
    assert np.allclose(back, [*p * (values[: position + 1] - z), *masked], atol=1e-3) and lines[
        2
    ].endswith("their sum 0")
    said = words_in(picture)
    assert (
        said.count("−∞") == 7 - position
        and said.count("masked") == (position < 7)
        and {"▲", "query"} <= set(said)
    )


def test_losses_stand_against_the_best_possible():
    picture = by_position([2.0, 0.5], 2.08)
    assert picture.text == "Best honest loss: 2.08. At each position: 2.0, 0.5."
    tall = [float(one) for one in re.findall(r'width="30" height="([\d.]+)"', picture.html)]
    assert np.isclose(
        tall[0] / tall[1], 4, rtol=1e-3
    ) and "dashed: best honest loss, 2.08" in words_in(picture)


def test_sharpness_needs_the_root():
    largest, together = zip(
        *(numbers(sharpness(1024, by).text.splitlines()[1]) for by in ("1", "√d"))
    )
    assert largest[0] > 0.99 and largest[1] < 0.7
    assert together[1] > 20 * together[0]
    assert "d = 4, scores divided by √d: from" in words_in(sharpness(4, "√d"))[-1]
