"""Lesson 10's pictures."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from drawn import SVG, svg_of, words_in

from autograd_course.drawing import style
from autograd_course.lessons.lesson_10.drawings import (
    choice_bars,
    from_logits,
    jacobian_map,
    reading,
    twins,
)

X = np.log([7.0, 2.0, 1.0])


def panels(picture):
    return [
        ET.fromstring(one)
        for one in re.findall(r"<svg.*?</svg>(?=</div>)", picture.html, re.DOTALL)
    ]


def heights(picture):
    """Return the bars' heights in px, from left to right; assert that the drawings describe
    themselves in words.
    """
    assert (
        " ".join(one.get("aria-label") for one in panels(picture)).split() == picture.text.split()
    )
    return [float(rect.get("height")) for one in panels(picture) for rect in one.iter(f"{SVG}rect")]


def test_from_logits():
    picture = from_logits(X)
    assert picture.text == "logits x: 1.946, 0.693, 0\neˣ: 7, 2, 1\np: 0.7, 0.2, 0.1"
    bars = heights(picture)
    assert len(bars) == 9 and np.allclose(np.divide(bars[3:6], bars[5]), [7, 2, 1], rtol=0.01)
    assert np.allclose(bars[6:], [19, 38, 133], atol=0.1), "one column of 190 px, class 2 on top"
    shades = [
        rect.get("fill-opacity") for one in panels(picture) for rect in one.iter(f"{SVG}rect")
    ]
    assert shades[:3] == shades[3:6] == shades[8:5:-1], "a class has the same shade in every panel"
    assert len(set(shades)) == 3
    assert all(120 < max(panel) < 190 for panel in (bars[:3], bars[3:6])), "the axes fit the bars"


@pytest.mark.parametrize("x", [[3.0, 3, 3], [3.0, -2, -2], [-2.0, -2, -2]])
def test_the_line_at_logsumexp(x):
    picture, z = from_logits(x, line=True), np.log(np.sum(np.exp(x)))
    assert picture.text.startswith(f"logits x: {words_of(x)}; z: {words_of([z])}\n")
    line = int(re.search(r"M34 (\d+)h138", picture.html)[1])
    bar = panels(picture)[0].find(f".//{SVG}rect")  # class 0, from 0 to x[0]
    top, bottom = float(bar.get("y")), float(bar.get("y")) + float(bar.get("height"))
    zero = bottom if x[0] > 0 else top
    assert np.isclose((zero - line) / (bottom - top), z / abs(x[0]), atol=0.01) and 56 < line < 246
    assert ">z</text>" in picture.html and ">z</text>" not in from_logits(x).html


def words_of(numbers):
    return ", ".join(f"{round(float(one), 3):g}".replace("-", "−") for one in numbers)


def test_jacobian_map():
    p = np.array([0.7, 0.2, 0.1])
    picture = jacobian_map(np.diag(p) - np.outer(p, p))
    assert picture.text.splitlines() == [
        "p0: 0.21, −0.14, −0.07; sum 0",
        "p1: −0.14, 0.16, −0.02; sum 0",
        "p2: −0.07, −0.02, 0.09; sum 0",
        "sums of the columns: 0, 0, 0",
    ]
    cells = list(svg_of(picture).iter(f"{SVG}rect"))
    shades = [float(cell.get("fill-opacity")) for cell in cells]
    assert len(cells) == 9 and shades[0] == max(shades)
    assert np.allclose(np.divide(shades, shades[0])[:3], [1, 2 / 3, 1 / 3], atol=0.02)
    assert [cells[0].get("fill"), cells[1].get("fill")] == [style.ABOVE, style.BELOW]
    assert words_in(picture).count("sum 0") == 6
    assert set(jacobian_map(np.zeros((2, 2))).text.split()) >= {"0,", "0;"}, "no division by 0"


@pytest.mark.parametrize("x", [X, [3.0, -2, -2], [-2.0, -2, 3]])
def test_the_words_beside_the_column_keep_apart(x):
    names = [
        text
        for text in panels(from_logits(x))[-1].iter(f"{SVG}text")
        if (text.text or "").startswith("class ")
    ]
    heights = [float(text.get("y")) for text in names]
    assert (
        len(heights) == 3
        and np.all(np.diff(heights) >= 17.9)
        and 60 < min(heights)
        and max(heights) < 290
    )


@pytest.mark.parametrize(
    "c, naive, powers",
    [
        (0, "0.7, 0.2, 0.1", "7, 2, 1"),
        (700, "0.7, 0.2, 0.1", "7.1e304, 2.03e304, 1.01e304"),
        (708.5, "nan, 0, 0", "inf, 9.97e307, 4.98e307"),
        (1000, "nan, nan, nan", "inf, inf, inf"),
        (-1000, "nan, nan, nan", "0, 0, 0"),
    ],
)
def test_twins(c, naive, powers):
    picture = twins(X, c)
    assert picture.text.splitlines()[1:] == [
        f"as written: p = {naive}; powers of e: {powers}",
        "largest subtracted first: p = 0.7, 0.2, 0.1; powers of e: 1, 0.286, 0.143",
    ]
    logits = picture.text.splitlines()[0].removeprefix("logits: ").split(", ")
    differences = [float(logit.replace("−", "-")) - c - X[0] for logit in logits]
    assert np.allclose(np.exp(differences), [1, 2 / 7, 1 / 7], atol=1e-3), "from the numbers shown"
    assert len(heights(picture)) == 6 - naive.count("nan")
    beyond = [power in ("0", "inf") for power in powers.split(", ")]
    assert picture.html.count("l10 10m0 -10l-10 10") == sum(beyond) and picture.html.count(
        "<circle"
    ) == 6 - sum(beyond)


def test_choice_bars():
    picture = choice_bars(np.array([0.5, 0.375, 0.125]), 1)
    assert picture.text.splitlines() == [
        "p: 0.5, 0.375, 0.125; sum 1",
        "p − onehot: 0.5, −0.625, 0.125; sum 0",
    ]
    assert "1 ✓" in words_in(picture) and len(list(svg_of(picture).iter(f"{SVG}rect"))) == 6
    assert "p: nan, 0, 1; sum nan" in choice_bars([np.nan, 0, 1], 1).text


def test_reading():
    scans, weights = np.zeros((4, 64)), np.zeros((64, 10))
    weights[::2, 3], weights[1, 3], weights[[27, 28, 35, 36], 0] = 1, 0.25, [-1, -1, -1, -0.25]
    picture = reading(scans, [0, 7, 6, 8], [0, 7, 6, 1], weights)
    assert picture.text.splitlines()[0] == (
        "Test scans: 0 read as 0, 7 read as 7, 6 read as 6, 8 read as 1."
    )
    assert "in the middle: −0.812 of 0, 0 of 1" in picture.text
    words = words_in(picture)
    assert words[1:5] == ["read 0 ✓", "read 7 ✓", "read 6 ✓", "read 1, is 8 ✗"]
    assert words[6:16] == [str(k) for k in range(10)], "each map has its digit above it"
    drawing = svg_of(picture)
    assert len(list(drawing.iter(f"{SVG}image"))) == 4
    squares = {}  # (colour, opacity) -> the corners of the pixels, without the two of the legend
    for path in list(drawing.iter(f"{SVG}path")):
        squares.setdefault((path.get("fill") or "dash", path.get("fill-opacity")), []).extend(
            re.findall(r"M(\S+) (\S+)h[59]", path.get("d"))
        )
    teal, pale = squares[style.ABOVE, "1.00"], squares[style.ABOVE, "0.33"]
    crimson, dashes = squares[style.BELOW, "1.00"], squares["dash", None]
    assert len(teal) == 32 and teal[0] == (str(8 + 3 * 78), "186") and len(pale) == 1
    assert crimson == [(str(8 + 9 * x), str(186 + 9 * y)) for x, y in [(3, 3), (4, 3), (3, 4)]]
    assert len(dashes) == 3 + 1, "a pixel clearly below 0 has a dash, and so has the legend"
    assert reading(scans[:1], [0], [0], np.zeros((64, 10))).text, "no division by 0"
