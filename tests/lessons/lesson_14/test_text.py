"""Lesson 14: statements of its text that its own cells do not check."""

import numpy as np
from lesson_cells import sources

import autograd_lib as ag
from autograd_course.lessons.lesson_14.drawings import STROKES

CODE = sources("14")


def test_each_kernel_of_the_first_picture_responds_most_to_its_own_strokes():
    """Take strokes of 3 to 8 pixels on a scan, in the directions of the four kernels."""
    for length in range(3, 9):
        lying, falling = np.zeros((8, 8)), np.zeros((8, 8))
        lying[4, :length] = 1
        falling[range(length), range(length)] = 1
        scans = np.stack([lying, lying.T, falling, falling[:, ::-1]])[:, None]
        largest = ag.conv2d(scans, STROKES * 1.0, padding=1).max(axis=(2, 3))
        assert largest.argmax(axis=0).tolist() == largest.argmax(axis=1).tolist() == [0, 1, 2, 3]
        assert (np.sort(largest)[:, -2] < np.sort(largest)[:, -1]).all()
        assert largest.min() > 0, "it also responds to other strokes, so the text says most"


def test_the_network_is_still_guessing_after_three_epochs_with_the_bell_curve():
    names = {}
    for source in [
        CODE["imports"].rpartition("\n")[0],
        CODE["moved-measured"].partition("moved = ")[0],
        CODE["train"].partition("reader = ")[0],
    ]:
        exec(source, names)
    bell = ag.elementwise(lambda x: 1 / (1 + x * x), lambda g, z, x: -2 * g * x * z * z)
    reader = names["train"](names["network"](bell), epochs=3)
    assert names["accuracy"](reader, names["test_scans"]) < 0.15
