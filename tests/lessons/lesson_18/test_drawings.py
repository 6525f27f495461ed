"""Lesson 18's pictures."""

import re

import numpy as np
import pytest
from drawn import SVG, svg_of, words_in

from autograd_course.drawing import style
from autograd_course.lessons.lesson_18.drawings import (
    LENGTHS,
    WORD,
    attended,
    attention_row,
    by_position,
    dependence_matrix,
    random_queries,
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
        "The future is read 1 times. The largest slope is 4.",
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
    assert {"full colour: 4; dot: 0", "grey: the future; crossed: read"} <= set(words_in(picture))
    honest = dependence_matrix(np.tri(3) / 3, "abc", what="weight")
    assert honest.text.splitlines()[::3] == [
        "The future is read 0 times. The largest weight is 0.33.",
        "1 (b): 0 0.33, 1 0.33",
    ]
    assert opacities(honest, style.VALUE) == [1.0] * 6 and {
        "full colour: 0.33; dot: near 0",
        "grey: the future",
    } <= set(words_in(honest))


def test_matrices_that_are_compared_share_a_scale():
    sizes = np.array([[0.5, 0], [0.25, 0.1]])
    picture = dependence_matrix(sizes, "ab", strongest=2.0)
    shades = opacities(picture, style.GRADIENT)
    assert np.allclose(shades, 0.12 + 0.88 * sizes[sizes > 0] / 2, atol=1e-3)
    assert {"full colour: 2; dot: 0", "largest slope here: 0.5"} <= set(words_in(picture))


def test_the_word_repeats_no_letter_and_one_score_is_raised():
    """Equal letters would have equal keys and values, because no position is added to them."""
    assert len(set(WORD)) == len(WORD) == 8
    for letter in (1, 6):
        picture = attended(letter, -2.4, 7)
        assert f"{WORD[letter]}: −2.4" in words_in(picture)
        scores, before = (
            [numbers(one)[0] for one in words_in(drawn)[1:] if re.fullmatch(r"−?[\d.]+", one)]
            for drawn in (picture, attended(letter, 0.0, 7))
        )
        differs = np.flatnonzero(np.array(scores[8:16]) != np.array(before[8:16]))
        assert differs.tolist() == [letter]


@pytest.mark.parametrize("position", [0, 3, 7])
def test_attention_row_shares_and_masks(position):
    scores, values = np.linspace(-1, 2, 8), np.array([3.0, -2, 1, 4, -1, 2, 0, -3])
    picture = attention_row(WORD, scores, values, position)
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
    """The picture shows what the text claims: the gradient shrinks with d unless it is divided."""
    said = {
        (d, by): numbers(sharpness(d, by).text.splitlines()[1].replace("1,000", ""))
        for d in LENGTHS
        for by in ("1", "√d")
    }
    largest, together, median = (
        {by: np.array([said[d, by][n] for d in LENGTHS]) for by in ("1", "√d")} for n in range(3)
    )
    assert np.all(np.diff(largest["1"]) > 0) and largest["1"][-1] == 1
    assert np.all(np.diff(together["1"]) < 0) and np.all(np.diff(median["1"]) < 0)
    assert np.all(largest["√d"] < 0.4) and np.all(together["√d"] > 0.35)
    assert np.all(np.abs(median["√d"] - 0.66) < 0.02)
    times = median["√d"] / median["1"]
    assert times[2] > 10 and times[4] > 1e5


@pytest.mark.parametrize("by", ["1", "√d"])
@pytest.mark.parametrize("d", [4, 64, 1024])
def test_sharpness_draws_what_it_says(d, by):
    picture = sharpness(d, by)
    said = words_in(picture)
    largest, together, median = numbers(picture.text.splitlines()[1].replace("1,000", ""))
    assert f"largest weight: {largest:.3f}" in said
    assert any(numbers(one) == [together] for one in said if one.startswith("size of the gradient"))
    assert any(one.startswith(f"d = {d:,}, scores divided by {by}: from") for one in said)
    bars = [float(one) for one in re.findall(r'width="16" height="([\d.]+)"', picture.html)]
    scores, g, chosen = random_queries()
    p = np.exp(scores[d, by][chosen])
    assert np.allclose(bars, p / p.sum() * 190 / 1.1, atol=0.02)
    lines = [
        np.array([one.split(",") for one in line.get("points").split()], float)
        for line in svg_of(picture).iter(f"{SVG}polyline")
    ]
    (circle,) = svg_of(picture).iter(f"{SVG}circle")
    height = lambda size: 124 + (0.6 - np.log10(size)) / 7.8 * 190  # noqa: E731
    at = LENGTHS.index(d)
    assert np.isclose(float(circle.get("cy")), height(together), atol=0.3)
    assert np.isclose(float(circle.get("cx")), lines[0][at, 0], atol=0.1)
    thick = [float(line.get("stroke-width")) for line in svg_of(picture).iter(f"{SVG}polyline")]
    active = ["1", "√d"].index(by)
    assert np.argmax(thick) == active
    assert np.isclose(lines[active][at, 1], height(median), atol=0.3)
