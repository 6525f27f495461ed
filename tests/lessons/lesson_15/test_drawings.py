"""Lesson 15's pictures: a graph with tangents, errors on a logarithmic scale, sweeps that fill a
Jacobian, and a throw with its tangents.
"""

import json
import re
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course.drawing.axes import Axes
from autograd_course.drawing.formatting import number
from autograd_course.lessons.lesson_15 import drawings as drawn
from autograd_course.lessons.lesson_15.exercises import root
from autograd_course.widgets.forward_stepper import frames

NOTEBOOK = Path(__file__).parents[3] / "notebooks/15_push_forward.ipynb"


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


def test_the_graph_of_the_loop_carries_what_jvp_computes():
    """After three operations for each step, the last card holds the value and the tangent of jvp,
    and the next x is a copy of it. Its dot and its arrow have their lengths.
    """
    for steps in (1, 2, 3):
        picture = drawn.carry(3 * steps)
        value, tangent = ag.jvp(lambda a, steps=steps: root(a, steps), (2.0,), (1.0,))
        said = f": value {number(value)}, tangent {number(tangent)}"
        assert f"s / 2{said}\nthe tangent of s / 2 = 0.5 × " in picture.text
        assert f"\nx{said}\ny = a / x" in drawn.carry(3 * steps + 1).text
        left, top = drawn.CARDS["s / 2"]
        at, line = left + 4 + drawn.UNIT * value, top + 72
        dot, arrow = (
            picture.html.index(part)
            for part in (
                f'cx="{at:.1f}" cy="{line:.1f}"',
                f"M{at:.1f} {line:.1f}L{at + drawn.UNIT * tangent:.1f} {line:.1f}",
            )
        )
        assert dot < arrow, "the arrow is above the dot, which would hide a short one"
        assert f"M{left + 4} {line}h{4 * drawn.UNIT}M" in picture.html
        assert 4 * drawn.UNIT + 8 <= drawn.WIDE
    assert drawn.carry(0).html.count("not yet") == 3 and "not yet" not in picture.html
    assert drawn.carry(4).text.endswith("\nẏ = 0.6667 × 1 + (−0.8889) × 0.5 = 0.2222")


def two_outputs(v):
    x, y, w = v
    return ag.stack([x * (y + w), w * (y + w)])


@pytest.mark.parametrize("values", [(4.0, 3.0, 2.0), (-1.0, 0.5, 3.0)])
def test_a_sweep_fills_a_column_or_a_row(values):
    """The Jacobian is that of the library, and the numbers at the inputs or outputs are its row or
    column.
    """
    v, nodes = np.array(values), ("x", "y", "w", "z₁", "z₂")
    J = [[number(float(entry)) for entry in row] for row in ag.jacobian(two_outputs)(v)]
    for sweep, seed in enumerate(nodes, start=1):
        lines = drawn.passes(sweep, *values).text.splitlines()
        mode = "forward" if sweep <= 3 else "backward"
        assert lines[0] == f"Sweep {sweep}, {mode}: the seed is 1 at {seed}"
        found = dict(part.split(" has ") for part in lines[1].split(", "))
        if sweep <= 3:
            assert [found[z] for z in nodes[3:]] == [row[sweep - 1] for row in J]
        else:
            assert [found[x] for x in nodes[:3]] == J[sweep - 4]
        assert [line.count("?") for line in lines[2:]] == [
            2 * max(3 - sweep, 0),
            3 * min(5 - sweep, 2),
        ]
    assert lines[2].endswith(": " + "; ".join(map(" ".join, J)))
    assert lines[3].endswith(": " + "; ".join(map(" ".join, J)))
    assert drawn.passes(0).text.count("?") == 12


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

    picture = drawn.flight(path(0.7)[:end], tangent[:end], 40.1)
    text = picture.text
    slope = (lands(0.7 + 1e-6) - lands(0.7 - 1e-6)) / 2e-6 * np.pi / 180
    assert f"lands at {lands(0.7):.4g} m, after {end} steps" in text
    assert float(re.search(r"there: (\S+) m", text)[1].replace("−", "-")) == pytest.approx(
        slope, rel=1e-3
    )
    assert text.endswith("a little more angle makes it land farther.") == (slope > 0)

    # The arrow below the ground goes from the landing point to where it is after 5 degrees more.
    box = Axes((46, 30, 506, 264), (0, 84), (-4, 42))
    (x, ground), (to, _) = box.at(lands(0.7), 0), box.at(lands(0.7) + 5 * slope, 0)
    x0, y0, x1, y1 = map(
        float,
        re.search(r'M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)" [^>]*-width="4"', picture.html).groups(),
    )
    assert abs(x1 - x0) > 5 and y0 == y1 == pytest.approx(ground + 12, abs=0.1)
    assert (x0, x1) == pytest.approx((x, to), abs=0.1)
    assert f">{number(slope)} m per degree<" in picture.html


@pytest.mark.parametrize("low", [3.0, -0.5])
def test_the_dotted_path_continues_to_the_ground(low):
    """Without air resistance the positions after further steps are extrapolated exactly."""
    t = np.arange(40) * 0.1
    path = np.stack([20 * t, 10 + 10 * t - 5 * t * t], 1)
    end = int(np.argmax(path[:, 1] < low)) + 1
    more = drawn._to_the_ground(path[:end])
    assert np.allclose(more[:-1], path[end - 1 :][: len(more) - 1])
    if low > 0:
        assert more[-1, 1] == 0 and 54.6 < more[-1, 0] < 54.8  # 10 + 10t − 5t² is 0 at t = 1 + √3
    else:
        assert len(more) == 1, "a path that ends below the ground is not continued"


def test_the_fold_steps_through_a_graph():
    """The code in the fold beside the picture of the loop runs, and gets the tangent of `jvp`."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    (cell,) = (cell for cell in notebook["cells"] if cell["id"] == "carry-see")
    (code,) = re.findall(r"```python\n(.*?)```", "".join(cell["source"]), re.DOTALL)
    assert code.endswith("\nforward_stepper(L, x=1)\n")
    names = {"ag": ag, "frames": frames}
    exec(code.replace("forward_stepper(L, x=1)", "told = frames(L, {'x': 1})"), names)
    _, tangent = ag.jvp(lambda x: (x + 2 / x) / 2, (1.5,), (1.0,))
    assert f"has tangent {number(tangent)}." in names["told"][-1].say


def test_times_are_taken_in_turns(monkeypatch):
    """Times are measured alternately, and are positive even with a browser's clock that does not
    advance during a short job.
    """
    calls, reads = [], count()
    monkeypatch.setattr(drawn, "perf_counter", lambda: next(reads) // 9)
    times = drawn.medians(lambda: calls.append("a"), lambda: calls.append("b"), rounds=2)
    assert calls == ["a", "b", "a", "b"] and len(times) == 2 and all(t > 0 for t in times)
