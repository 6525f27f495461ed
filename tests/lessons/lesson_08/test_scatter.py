"""A loop in `scatter` takes only a list of positions, as a folded text of lesson 08 says."""

import numpy as np
import pytest

from autograd_course.lessons.lesson_08.exercises import scattered

G = np.array([10.0, 20.0])


def by_loop(g, index, shape):
    out = np.zeros(shape)
    for k, row in enumerate(index):
        out[row] += g[k]
    return out


@pytest.mark.parametrize("index", [[2, 0], [0, -3], np.array([2, 2])])
def test_a_loop_takes_a_list_or_an_array_with_one_axis(index):
    assert np.array_equal(by_loop(G, index, 3), scattered(G, index, 3))


@pytest.mark.parametrize("index", [slice(0, 2), np.array([True, False, True]), (np.array([2, 0]),)])
def test_a_loop_does_not_take_a_slice_a_mask_or_a_tuple(index):
    expected = np.zeros(3)
    expected[index] = G
    assert np.array_equal(scattered(G, index, 3), expected)
    try:
        assert not np.array_equal(by_loop(G, index, 3), expected)
    except (TypeError, IndexError):
        pass
