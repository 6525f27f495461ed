"""Lesson 09's pictures show the data they are given."""

import re
import xml.etree.ElementTree as ET
from html import unescape
from itertools import product as pairs

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course.drawing import style
from autograd_course.lessons.lesson_09.array_ward import PATIENTS, Array, Unknown, sheet
from autograd_course.lessons.lesson_09.drawings import (
    SIDE,
    brackets,
    candidates,
    case,
    entry,
    jacobian,
    reach,
    ward,
)
from autograd_course.lessons.lesson_09.exercises import RECTANGLES, G

A, B = RECTANGLES


def drawings(picture):
    found = [
        ET.fromstring(one)
        for one in re.findall(r"<svg xmlns=.*?</svg>(?=</div>)", picture.html, re.DOTALL)
    ]
    assert found and all(root.get("role") == "img" and root.get("aria-label") for root in found)
    return found


def words(drawing):
    return [one.text for one in drawing.iter("{http://www.w3.org/2000/svg}text")]


def lit(drawing, colour):
    """Return the numbers of the cells with this outline, in the order of drawing."""
    numbers = [one for one in words(drawing) if re.fullmatch(r"−?\d+", one)]
    boxes = [
        one.get("stroke")
        for one in drawing.iter("{http://www.w3.org/2000/svg}rect")
        if one.get("rx")
    ]  # no frames
    assert len(numbers) == len(boxes)
    return [number for number, stroke in zip(numbers, boxes) if stroke == colour]


def test_an_entry_is_a_row_times_a_column():
    picture = entry(A, B, 0, 2)
    (drawing,) = drawings(picture)
    assert picture.text == "Z[0, 2]: row 0 of A times column 2 of B = 1·0 + 2·4 + 0·2 = 8"
    assert lit(drawing, style.VALUE) == ["1", "2", "0", "0", "4", "2"] and lit(
        drawing, style.INK
    ) == ["8"]


@pytest.mark.parametrize("i, k", list(np.ndindex(2, 3)))
def test_reach_lights_the_same_rows_forth_and_back(i, k):
    forth, back = drawings(reach(A, B, G, i, k))
    moved, gathered = A.copy(), (G @ B.T)[i, k]
    moved[i, k] += 1
    row = [str(n).replace("-", "−") for n in B[k]]
    assert np.array_equal((moved @ B - A @ B)[i], B[k])
    assert sorted(lit(forth, style.VALUE)) == sorted(row * 2)
    assert lit(forth, style.INK) == [str(A[i, k]).replace("-", "−")]
    assert lit(back, style.VALUE) == row
    assert sorted(lit(back, style.GRADIENT)) == sorted(
        str(n).replace("-", "−") for n in [*G[i], gathered]
    )
    assert f"= {gathered}".replace("-", "−") in reach(A, B, G, i, k).text


@pytest.mark.parametrize("sizes", list(pairs(range(2, 5), repeat=3)))
def test_of_the_candidates_one_is_right_and_the_others_may_fit(sizes):
    picture = candidates(*sizes)
    squares, other = picture.text.splitlines()
    assert squares.endswith("Right: g @ Bᵀ.") and other.endswith("Right: g @ Bᵀ.")
    m, k, n = sizes
    fits = int(other.partition(": ")[2][0])
    assert squares.startswith("A (2, 2), B (2, 2), g (2, 2): 8 of 8 have")
    assert other.startswith(f"A {m, k}, B {k, n}, g {m, n}: {fits} of 8")
    assert fits == 8 if m == k == n else fits == 1 if len({m, k, n}) == 3 else fits > 1
    assert picture.html.count("✓ shape") == 8 + fits and picture.html.count("✓ right") == 2


def test_candidates_names_the_shape_that_does_not_fit():
    assert (
        "shape (3, 2)" in candidates(2, 3, 4).html
        and candidates(2, 3, 4).html.count("does not fit") == 6
    )
    assert "1 of 8 has the shape of A: g @ Bᵀ." in candidates(2, 3, 4).text


def test_jacobian_shows_every_number_once():
    picture = jacobian(ag.jacobian(lambda A: A @ B)(A.astype(float)), B)
    (drawing,) = drawings(picture)
    assert picture.text.startswith(
        "J, 8 × 6 = 48 numbers: 24 of them are 0 for any A and B, the others are the 12 entries of B, each 2 times."
    )
    assert sorted(lit(drawing, style.VALUE)) == sorted(
        str(n).replace("-", "−") for n in [*B.ravel(), *B.ravel()]
    )


@pytest.mark.parametrize("inputs", [784, 256, 8, 1])
def test_brackets_count_the_multiplications_of_both_ways(inputs):
    J1, J2, J3, g = np.ones((256, inputs)), np.ones((64, 256)), np.ones((10, 64)), np.ones((10, 1))
    counts = []

    def product(P, Q):
        counts.append(P.size * Q.shape[1])
        return P @ Q

    product(J1.T, product(J2.T, product(J3.T, g)))
    product(product(product(J1.T, J2.T), J3.T), g)
    picture = brackets(inputs)
    bars, labels = [], []
    for drawing, line, costs in zip(
        drawings(picture), picture.text.splitlines(), [counts[:3], counts[3:]]
    ):
        said = " + ".join(f"{count:,}" for count in costs)
        assert line.endswith(f": {said} = {sum(costs):,} multiplications.")
        assert [
            float(word.split("= ")[1].replace(",", "")) for word in words(drawing) if " = " in word
        ] == costs
        *sides, bar = drawing.iter("{http://www.w3.org/2000/svg}rect")
        lines = list(drawing.iter("{http://www.w3.org/2000/svg}path"))
        highs = [float(side.get("height")) for side in sides]
        highs += [float(line.get("d").split("v")[1]) for line in lines]
        assert len(highs) == 9
        assert {round((high / SIDE) ** 2) for high in highs} <= {inputs, 256, 64, 10, 1}
        bars.append(float(bar.get("width")))
        labels.append([word for word in words(drawing) if re.fullmatch(r".*\(\d+, \d+\)", word)])
    assert bars[0] / bars[1] == pytest.approx(sum(counts[:3]) / sum(counts[3:]), rel=0.02)
    assert labels[0] == (
        "J₃ᵀ (64, 10)|g (10, 1)|(64, 1)|J₂ᵀ (256, 64)|(64, 1)|(256, 1)|"
        f"J₁ᵀ ({inputs}, 256)|(256, 1)|({inputs}, 1)"
    ).split("|")
    assert labels[1] == (
        f"J₁ᵀ ({inputs}, 256)|J₂ᵀ (256, 64)|({inputs}, 64)|({inputs}, 64)|J₃ᵀ (64, 10)|({inputs}, 10)|"
        f"({inputs}, 10)|g (10, 1)|({inputs}, 1)"
    ).split("|")


def test_ward_frames_what_is_not_right():
    picture = ward({number: sheet(patient.engine) for number, patient in PATIENTS.items()})
    assert (
        picture.html.count("2px dashed")
        == sum(len(patient.shows) for patient in PATIENTS.values())
        == 9
    )
    assert (
        "sum of A @ A: gradient of A: right [7 11; 9 13]; 3 [6 14; 6 14] ✗; 5 [2 4; 6 8] ✗"
        in picture.text
    )
    assert (
        "gradient of b: right error; 2 [2 4 6] ✗" in picture.text
        and "✗" in ward({"?": sheet(Unknown)}).text
    )
    assert "dashed" not in ward({"": sheet(Array)}).html


@pytest.mark.parametrize("number", PATIENTS)
def test_case_shows_the_faulty_method_and_the_healthy_one(number):
    found, healthy = case(number), case(number, "fixed")
    assert "✗" in found.text and "✗" not in healthy.text and "✓" in healthy.text
    assert PATIENTS[number].source.splitlines()[-1].strip() in unescape(found.html) and re.search(
        "font-weight:600.>✗", found.html
    )
