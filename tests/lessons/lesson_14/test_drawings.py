"""Lesson 14's pictures highlight the entries that the library's convolution reads and changes."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course.drawing import style
from autograd_course.drawing.formatting import counted
from autograd_course.lessons.lesson_14.drawings import STROKES, copies, reach, responses, window

X = np.array(
    [
        [0, 2, 1, 0, 3],
        [1, 1, 0, 4, 0],
        [5, 0, 1, 1, 2],
        [0, 3, 0, 0, 1],
        [2, 0, 1, 6, 0],
        [0, 1, 0, 0, 2],
    ]
)  # (6, 5)
Y = np.array([[1, 2, 3], [4, 5, 6]])  # (2, 3)
SVG = "{http://www.w3.org/2000/svg}"


def slid(x, y, **sizes):
    return ag.conv2d(x[None, None] * 1.0, y[None, None] * 1.0, **sizes)[0, 0]


def cells(picture, stroke):
    """Return the numbers of the cells with this outline, in the order of drawing."""
    root = ET.fromstring(picture.html)[0][0]
    found = list(root)
    return [
        int(after.text)
        for cell, after in zip(found, found[1:])
        if cell.tag == f"{SVG}rect" and cell.get("stroke") == stroke
    ]


VALUE, PICKED, GRADIENT = style.VALUE, style.INK, style.GRADIENT


@pytest.mark.parametrize("i, j", [(0, 0), (2, 1), (4, 2)])
def test_a_window_reads_what_the_output_is_made_of(i, j):
    picture = window(X, Y, i, j)
    read = X[i : i + 2, j : j + 3]
    assert cells(picture, VALUE) == [*read.ravel(), *Y.ravel()]
    assert cells(picture, PICKED) == [slid(X, Y)[i, j]] == [np.sum(read * Y)]
    assert (
        f"= {np.sum(read * Y)} (" in picture.text
        and f"rows {i} to {i + 1} and columns {j} to {j + 2}" in picture.text
    )


@pytest.mark.parametrize("stride, padding", [(1, 0), (2, 0), (1, 1), (2, 1), (3, 1)])
@pytest.mark.parametrize(
    "i, j", [(0, 0), (2, 2), (5, 4), (3, 1), (1, 1)]
)  # at stride 3 no window reads the last pixel
def test_a_pixel_moves_what_its_nudge_moves(i, j, stride, padding):
    nudged = X.copy()
    nudged[i, j] += 1
    moves = slid(nudged, Y, stride=stride, padding=padding) - slid(
        X, Y, stride=stride, padding=padding
    )
    picture, moved = reach(X, Y, i, j, stride, padding), moves[moves != 0]
    assert cells(picture, VALUE) == [*sorted(moved), *moved] and cells(picture, PICKED) == [X[i, j]]
    assert f"and changes {counted(len(moved), 'output')} of {moves.size}." in picture.text
    assert ("Each changes" in picture.text) == (len(moved) > 0)
    assert ("and a border (8, 7)" in picture.html) == (padding == 1)
    back = reach(X, Y, i, j, stride, padding, backward=True)
    assert cells(back, VALUE) == cells(picture, VALUE) and cells(back, GRADIENT) == [
        moved.sum(),
        *(1 for _ in moved),
    ]
    assert back.text.endswith(f" {'=' if len(moved) > 1 else 'is'} {moved.sum():g}.")


@pytest.mark.parametrize("i, j, times", [(0, 0, 1), (2, 2, 6), (5, 2, 3)])
def test_copies_finds_a_pixel_in_every_row_that_reads_it(i, j, times):
    picture = copies(X, Y, i, j)
    assert (
        cells(picture, VALUE)[:times] == [X[i, j]] * times
        and len(cells(picture, VALUE)) == 2 * times
    )
    marked = np.arange(X.size).reshape(X.shape) == i * 5 + j
    assert cells(picture, VALUE)[times:] == [
        z for z, reads in zip(slid(X, Y).ravel(), slid(marked, Y).ravel()) if reads
    ]
    assert f"x[{i}, {j}] occurs in X {times} time" in picture.text


def test_responses_name_the_strongest_and_a_silent_kernel():
    scan = np.zeros((8, 8))
    scan[3, 1:7] = 1.0
    picture = responses(
        np.concatenate([STROKES, -STROKES[:1]]),
        scan,
        ["lying", "standing", "falling", "rising", "none"],
        bias=[0, 0, 0, 0, -3],
    )
    lines = picture.text.splitlines()
    assert (
        lines[1] == "lying: largest response 6, at row 3, column 2"
        and lines[5] == "none: no response"
    )
    blue = [
        rect for rect in ET.fromstring(picture.html).iter(f"{SVG}rect") if rect.get("fill") == VALUE
    ]
    made = np.maximum(ag.conv2d(scan[None, None], STROKES * 1.0, padding=1)[0], 0)
    assert len(blue) == np.count_nonzero(made > 0.02 * 6) and blue[2].get("fill-opacity") == "1.00"
