"""Lesson 22's pictures: a weight that votes, a closed path, and the two loops of a fixed point."""

import re

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course.lessons.lesson_22 import drawings as drawn


def squares(html):
    """Return the paths of the filled and of the hollow squares."""
    return re.findall(r'<path d="((?:M[\d. ]+h5v5h-5z)*)"', html)


def test_the_votes_are_counted_and_their_mean_is_drawn():
    picture = drawn.votes(np.array([[0.0], [-0.07], [0.06], [0.02]]), 0.3)
    assert "q is +1 in 3 of 4 steps: its mean is 0.5" in picture.text
    assert "w stays between −0.07 and 0.06" in picture.text
    assert [path.count("M") for path in squares(picture.html)] == [3, 1]
    assert "mean of q so far" in picture.html


def test_the_bits_of_many_weights_are_averaged_at_each_step():
    """Catch a mean over time in place of the mean over the weights."""
    w = np.array([[-0.5, -0.1, 0.3, 0.7], [-0.4, 0.0, 0.4, 0.8], [-0.4, -0.1, 0.3, 0.7]])
    for ws, reached in [(w, "0 to 0.5"), (w[:2], "0.5")]:
        picture = drawn.votes(ws, 0.3)
        assert re.search(rf"mean of 4 bits, in the last \d steps: {reached}\n", picture.text)
    picture = drawn.votes(w, 0.3)
    filled, hollow = squares(picture.html)
    heights = [float(y) for y in re.findall(r"M[\d.]+ ([\d.]+)h", filled)]
    assert not hollow and heights[0] == heights[2] and "so far" not in picture.html
    assert heights[0] - heights[1] == pytest.approx(0.5 * 170 / 3, abs=0.1)
    assert "at the last step, the weights are between −0.4 and 0.7" in picture.text


@pytest.mark.parametrize("n, lines", [(1, 1), (16, 16), (256, 16)])
def test_at_most_16_weights_are_drawn(n, lines):
    html = drawn.votes(np.linspace(-1, 1, n) + np.zeros((100, 1)), 0.3).html
    assert html.count('fill="none" stroke="var(--value') == lines
    assert ("16 of the 256 weights" in html) == (n == 256)


@pytest.mark.parametrize(
    "w, said", [(np.linspace(0, 3, 5), "to 3<"), (np.linspace(0, -9, 5), "to −9<")]
)
def test_a_weight_that_leaves_says_where_to(w, said):
    """Catch "w stays between 0 and 0.99" for a weight that is still in the picture but on its
    way out.
    """
    for target, ws in [(1.2, w), (-1.1, w / 10)]:
        picture = drawn.votes(ws[:, None], target)
        assert "w diverges: at the last of 5 steps it is" in picture.text
        assert (said in picture.html) == (ws is w)
        both = drawn.votes(np.stack([ws, ws / 2], axis=1), target)
        assert "the weights diverge: at the last of 5 steps one is" in both.text
        assert (said in both.html) == (ws is w)


PATH = np.array([[-1.0, 1.0], [1.0, 1.0], [1.0, 2.0], [-1.0, 2.0]])
LOSSES = {
    "true": lambda w: w[0] * w[1] ** 2,
    "detached": lambda w: w[0] * w[1].detach(),
    "a jump": lambda w: ag.where(w[0] > 0, 1.0, -1.0) + w[1],
}


@pytest.mark.parametrize(
    "loss, parts, total, risen",
    [
        ("detached", 0, 0, 0),
        ("detached", 4, 2, 2),
        ("detached", 8, 2, 3),
        ("detached", 16, -2, 0),
        ("a jump", 4, 0, 2),
        ("a jump", 16, 0, 0),
    ],
)
def test_the_sum_along_a_path_is_compared_with_the_rise_of_the_loss(loss, parts, total, risen):
    picture = drawn.closed_path(LOSSES[loss], PATH, parts)
    where = {0: "(−1, 1)", 4: "(1, 1)", 8: "(1, 2)"}.get(parts)
    first = picture.text.splitlines()[0].replace("−2", "-2")
    assert first.startswith(
        f"after {parts} parts, {'at ' + where if where else 'back at the start'}:"
    )
    assert first.endswith(f"the sum is {total}, and the loss has risen by {risen}")


def test_a_true_gradient_follows_its_loss_around_the_path():
    """Catch an arrow that is not taken at the middle of a part: then the two curves differ."""
    loss = LOSSES["true"]
    for parts in (1, 4, 6, 8, 13, 16):
        said = drawn.closed_path(loss, PATH, parts).text.replace("−", "-").splitlines()[0]
        total, risen = map(float, re.search(r"sum is ([-.\d]+), .* by ([-.\d]+)$", said).groups())
        assert total == pytest.approx(risen, abs=0.02), parts


def test_an_arrow_is_as_long_as_the_gradient_and_points_its_way():
    fields = [lambda w: 2 * w[0], lambda w: -4 * w[1]]
    for field, expected in zip(fields, [(27, 0), (0, 54)]):  # px; 90 px are 1 on both axes
        arrows = re.findall(
            r'<path d="(M[^"]*)" fill="none" stroke="var\(--gradient',
            drawn.closed_path(field, PATH, 5).html,
        )
        assert [path.count("M") for path in arrows] == [2 * 24, 2 * 5]
        x, y, u, v = map(float, re.match(r"M(\S+) (\S+)L(\S+?) (\S+?)M", arrows[1]).groups())
        assert (u - x, v - y) == pytest.approx(expected, abs=0.2)


def test_a_jump_of_the_loss_is_a_vertical_line():
    html = drawn.closed_path(LOSSES["a jump"], PATH, 4).html
    line = re.search(r'points="([^"]+)" fill="none" stroke="var\(--value', html)[1]
    xs = [float(point.split(",")[0]) for point in line.split()]
    ys = [float(point.split(",")[1]) for point in line.split()]
    assert xs[3] == xs[4] and ys[3] - ys[4] == pytest.approx(60, abs=0.2)  # 2 of 6 units of 180 px


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


def test_the_slope_at_the_fixed_point_is_shown():
    assert "(at the circle, f has slope J = −0.5)" in loops(-0.5, 3).html


def test_every_round_adds_to_both_pictures():
    lines = [re.findall(r'points="([^"]+)"', loops(-0.5, k).html) for k in (1, 2, 4)]
    assert [way.count(",") for _, _, way, *_ in lines] == [3, 5, 9]
    assert [sums.count(",") for *_, sums in lines] == [2, 3, 5]


def test_only_the_last_four_rounds_are_not_faint():
    for rounds in (5, 9):
        _, _, old, new, *_ = re.findall(
            r'points="([^"]+)" fill="none" stroke="var\(--(\w+)', loops(-0.9, rounds).html
        )
        assert (old[1], new[1]) == ("faint", "value")
        assert new[0].count(",") == 1 + 2 * 4 and old[0].count(",") == 2 * rounds - 7
        assert old[0].split()[-1] == new[0].split()[0]


def test_the_circles_count_the_sums_of_the_backward_loop():
    assert [loops(-0.5, k).html.count("<circle") for k in (0, 3)] == [2, 5]


def test_the_texts_name_one_round_and_a_weight_that_does_not_move():
    assert loops(0.5, 1).text.count("after 1 round:") == 2 and "1 rounds" not in loops(0.5, 1).html
    assert loops(0.5, 0).text.count("after 0 rounds:") == 2
    still = drawn.votes(np.zeros((4, 1)), 1.0)
    assert still.text.endswith("w stays at 0")
