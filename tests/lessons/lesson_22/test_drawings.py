"""Lesson 22's pictures: a weight that votes, and the two loops of a fixed point."""

import re

import numpy as np
import pytest

from autograd_course.lessons.lesson_22 import drawings as drawn


def test_the_votes_are_counted_and_their_mean_is_drawn():
    q = np.array([1.0, -1.0, 1.0, 1.0])
    picture = drawn.votes(np.array([0.0, -0.07, 0.06, 0.02]), q, 0.3, 0.1)
    assert "q is +1 in 3 of 4 steps: its mean is 0.5" in picture.text
    assert "w stays between −0.07 and 0.06" in picture.text
    filled, hollow = re.findall(r'<path d="((?:M[\d. ]+h5v5h-5z)*)"', picture.html)
    assert (filled.count("M"), hollow.count("M")) == (3, 1)


@pytest.mark.parametrize(
    "w, said", [(np.linspace(0, 2, 5), "to 2<"), (np.linspace(0, -9, 5), "to −9<")]
)
def test_a_weight_that_leaves_says_where_to(w, said):
    """Catch "w stays between 0 and 0.99" for a weight that is still in the picture but on its
    way out.
    """
    for target, ws in [(1.2, w), (-1.1, w / 10)]:
        picture = drawn.votes(ws, np.sign(w + 1e-9 * w[-1]), target, 0.1)
        assert "w diverges: at the last of 5 steps it is" in picture.text
        assert (said in picture.html) == (ws is w)


def loops(slope, rounds):
    """Return the loops of f(z) = 2 + slope·(z − 2), whose results are known exactly."""
    return drawn.cobweb(lambda z: 2 + slope * (z - 2), lambda z: slope, 2.0, rounds, start=1.0)


@pytest.mark.parametrize("slope, rounds", [(0.5, 4), (-0.5, 5), (-1.5, 6)])
def test_both_loops_are_off_by_the_powers_of_the_slope(slope, rounds):
    """Catch a backward loop with one iteration too few."""
    text = loops(slope, rounds).text.splitlines()
    there, back = abs(slope) ** rounds, abs(slope) ** (rounds + 1) / (1 - slope)
    assert text[0].startswith(
        f"J = {slope}, and |J| is {'above' if abs(slope) > 1 else 'below'} 1".replace("-", "−")
    )
    assert text[1].endswith(f"off by {there:.4g}") and text[2].endswith(f"off by {back:.4g}")


def test_every_round_adds_to_both_pictures():
    lines = [re.findall(r'points="([^"]+)"', loops(-0.5, k).html) for k in (1, 2, 5)]
    assert [way.count(",") for _, _, way, *_ in lines] == [3, 5, 11]
    assert [sums.count(",") for *_, sums in lines] == [2, 3, 6]
    assert [loops(-0.5, k).html.count("<circle") for k in (0, 3)] == [2, 5]


def test_the_texts_name_one_round_and_a_weight_that_does_not_move():
    assert loops(0.5, 1).text.count("after 1 round:") == 2 and "1 rounds" not in loops(0.5, 1).html
    assert loops(0.5, 0).text.count("after 0 rounds:") == 2
    still = drawn.votes(np.zeros(4), np.ones(4), 1.0, 0.5)
    assert still.text.endswith("w stays at 0")
