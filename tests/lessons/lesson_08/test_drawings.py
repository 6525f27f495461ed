"""Lesson 08's picture shows where an entry goes and which gradient it gets."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course.lessons.lesson_08.drawings import fall, follow

X = np.array([[8.0, 1.0, 0.0], [2.0, 4.0, 5.0]])
SVG = "{http://www.w3.org/2000/svg}"


def drawn(picture):
    """Return (numbers in the cells, number of framed cells)."""
    root = ET.fromstring(picture.html)
    words = [text.text for text in root.iter(f"{SVG}text") if text.text and len(text) == 0]
    return words, sum(rect.get("stroke-width") == "3" for rect in root.iter(f"{SVG}rect"))


@pytest.mark.parametrize(
    "formula, f, entry, framed, said",
    [
        (
            "x.T",
            lambda x: x.T,
            (0, 1),
            4,
            ["x[0, 1] = 1 goes to z[1, 0]", "the gradient of x[0, 1] is 3"],
        ),
        (
            "x.mean(axis=0)",
            lambda x: x.mean(axis=0),
            (1, 2),
            4,
            ["x[1, 2] = 5 goes to z[2]", "the gradient of x[1, 2] is 0.5 · 3 = 1.5"],
        ),
        (
            "x[[1, 0, 1]]",
            lambda x: x[[1, 0, 1]],
            (1, 1),
            6,
            [
                "x[1, 1] = 4 goes to z[0, 1], z[2, 1]",
                "the gradient of x[1, 1] is 2 + 8 = 10",
            ],
        ),
        (
            "x[:, 1]",
            lambda x: x[:, 1],
            (0, 0),
            2,
            ["x[0, 0] = 8 goes nowhere", "so the gradient of x[0, 0] is 0"],
        ),
        (
            "np.concatenate([x, 7])",
            lambda x: np.concatenate([x, np.full((1, 3), 7.0)]),
            (1, 0),
            4,
            ["x[1, 0] = 2 goes to z[1, 0]", "the gradient of x[1, 0] is 4"],
        ),
    ],
)
def test_an_entry_is_followed_and_its_gradient_is_the_librarys(formula, f, entry, framed, said):
    picture = follow(formula, f, X, entry)
    assert picture.text.splitlines()[1:] == said
    t = ag.Tensor(X, requires_grad=True)
    z = f(t)
    z.backward(np.arange(1.0, z.size + 1).reshape(z.shape))
    words, frames = drawn(picture)
    numbers = [
        f"{value:g}"
        for block in (X, z.data, t.grad, np.arange(1, z.size + 1))
        for value in np.ravel(block)
    ]
    assert [word for word in words if word.replace(".", "").isdigit()] == numbers
    assert frames == framed and str(z.shape) in picture.text
    terms = [word for word in words if " + " in word or " · " in word]
    assert terms == re.findall(r"is (.*[+·].*) = ", said[-1])
    rects = list(ET.fromstring(picture.html).iter(f"{SVG}rect"))
    thick = [rect for rect in rects if rect.get("stroke-width") == "3"]
    assert not any(rect.get("stroke-dasharray") for rect in thick), "a frame is solid"
    dashed = [rect for rect in rects if rect.get("stroke-dasharray", "none") != "none"]
    assert len(dashed) == t.grad.size + z.size, "the border of each gradient is dashed"


@pytest.mark.parametrize("entry", range(3))
def test_a_column_falls_into_one_cell(entry):
    b, g = np.array([1, 2, 3]), np.array([[1.0, -2, 3], [4, 5, 6]])
    picture = fall(b, g, entry)
    t = ag.Tensor(b.astype(float), requires_grad=True)
    (X + t).backward(g)
    assert (
        picture.text.splitlines()[0] == f"forward: b[{entry}] = {b[entry]} is copied into every row"
    )
    assert picture.text.endswith(f"= {t.grad[entry]:g} is the gradient of b[{entry}]")
    words, frames = drawn(picture)
    numbers = [
        f"{value:g}".replace("-", "−")
        for block in (b, b, b, g, t.grad)
        for value in np.ravel(block)
    ]
    assert [word for word in words if re.fullmatch(r"−?\d+", word)] == numbers and frames == 6
    bars = [
        (float(bar.get("width")), bar.get("fill"))
        for bar in ET.fromstring(picture.html).iter(f"{SVG}rect")
        if bar.get("height") == "2.4"
    ]
    longest = max(np.abs(t.grad).max(), 9)
    assert np.allclose([width for width, _ in bars[-3:]], 42 * t.grad / longest, atol=0.06)
    assert [fill == "none" for _, fill in bars] == [number.startswith("−") for number in numbers], (
        "below 0 hollow"
    )
    root = next(ET.fromstring(picture.html).iter(f"{SVG}svg"))
    terms = next(text for text in root.iter(f"{SVG}text") if text.text and " + " in text.text)
    assert float(terms.get("x")) + 7 * len(terms.text) <= float(root.get("viewBox").split()[2]), (
        "the sum is cut off"
    )
