"""Lesson 15's pictures: errors on a logarithmic scale, passes that fill a Jacobian, and a throw
with its tangents.
"""

import re
from itertools import count

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course.lessons.lesson_15 import drawings as drawn
from autograd_course.lessons.lesson_15.exercises import root


def carried(start):
    return lambda k: ag.jvp(lambda a: root(a, k, start) + 0 * a, (2.0,), (1.0,))


def test_the_errors_and_how_many_times_as_far():
    picture = drawn.lag(carried(1.0), 1.0, 2**0.5, 0.5 / 2**0.5)
    assert (
        picture.text.splitlines()[4]
        == "step 3: value off by 2.124e−6, tangent by 1.255e−5, 5.907 times as far"
    )
    assert "as far" not in picture.text.splitlines()[6], (
        "at the last digit a quotient of rounding errors says nothing"
    )
    ys = [float(y) for y in re.findall(r'cy="([\d.]+)"', picture.html)]
    assert len(ys) == 16 and max(ys) <= 36 + 250, "an error of 0 stays in the picture"


@pytest.mark.parametrize(
    "n, m, winner",
    [(3, 2, "backward"), (1000, 1, "backward"), (1, 1000, "forward"), (5, 5, "neither")],
)
def test_sweeps_are_counted_and_drawn(n, m, winner):
    picture = drawn.sweeps(n, m)
    assert picture.text.endswith(f"fewer: {winner}")
    assert f"forward {n:,} sweep" in picture.text and f"backward {m:,}, one per row" in picture.text
    wide, high = map(
        float,
        re.search(r'<rect x="90" y="66" width="([\d.]+)" height="([\d.]+)"', picture.html).groups(),
    )
    assert (wide > high) == (n > m) and wide < 290 and 66 + high + 26 < 340


def test_the_jacobian_fills_by_columns_and_by_rows():
    f, x = lambda x: ag.softmax(x)[:2], np.array([1.0, 2.0, 0.0])
    J = [
        [f"{entry:.3f}".rstrip("0").replace("-", "−") for entry in row] for row in ag.jacobian(f)(x)
    ]
    first, forward, backward = drawn.filled(f, x, 1).text.splitlines()
    assert first == "after 1 sweep forward, 1 backward"
    assert forward.endswith(f": {J[0][0]} ? ?; {J[1][0]} ? ?") and backward.endswith(
        f": {' '.join(J[0])}; ? ? ?"
    )
    assert "?" not in drawn.filled(f, x, 3).text and drawn.filled(f, x, 0).text.count("?") == 12
    assert drawn.filled(f, x, 3).text.startswith("after 3 sweeps forward, 2 backward\n"), (
        "two rows take two sweeps"
    )


def test_the_crossing_says_every_number():
    text = drawn.crossing([1, 4, 16], [8.0, 8.0, 8.0], [0.5, 2.0, 9.0], n=4).text
    assert text.splitlines()[1:] == [
        "1 output: forward 8, backward 0.5",
        "4 outputs: forward 8, backward 2",
        "16 outputs: forward 8, backward 9",
    ]


def test_where_the_throw_comes_down_and_how_that_moves():
    """The tangent of the landing point agrees with a second path at a slightly different angle.

    Catch the tangent of the last point alone, which is below ground.
    """

    def path(angle):  # without air resistance, with its own time steps
        t = np.arange(1, 30) * 0.1
        return np.stack([20 * t * np.cos(angle), 20 * t * np.sin(angle) - 5 * t * t], 1)

    tangent = (path(0.7 + 1e-6) - path(0.7 - 1e-6)) / 2e-6 * np.pi / 180
    end = int(np.argmax(path(0.7)[:, 1] < 0)) + 1

    def lands(angle):
        (x0, y0), (x1, y1) = path(angle)[end - 2 : end]
        return x0 + (x1 - x0) * y0 / (y0 - y1)

    text = drawn.flight(path(0.7)[:end], tangent[:end], 40.1).text
    slope = (lands(0.7 + 1e-6) - lands(0.7 - 1e-6)) / 2e-6 * np.pi / 180
    assert f"lands at {lands(0.7):.4g} m, after {end} steps" in text
    assert float(re.search(r"there: (\S+) m", text)[1].replace("−", "-")) == pytest.approx(
        slope, rel=1e-3
    )
    assert text.endswith("a little more angle makes it land farther.") == (slope > 0)


def test_times_are_taken_in_turns(monkeypatch):
    """Times are measured alternately, and are positive even with a browser's clock that does not
    advance during a short job.
    """
    calls, reads = [], count()
    monkeypatch.setattr(drawn, "perf_counter", lambda: next(reads) // 9)
    times = drawn.medians(lambda: calls.append("a"), lambda: calls.append("b"), rounds=2)
    assert calls == ["a", "b", "a", "b"] and len(times) == 2 and all(t > 0 for t in times)
