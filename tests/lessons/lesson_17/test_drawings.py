"""Lesson 17: the numbers in the pictures of a chain, and in their text, are those of the tape."""

import re
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course.drawing import style
from autograd_course.lessons.lesson_17 import drawings as drawn
from autograd_course.lessons.lesson_17.memory import _held, by_layer, footprint
from autograd_lib import nn


def repeat(step, n):
    def run(x):
        for _ in range(n):
            x = step(x)
        return x

    return run


@pytest.mark.parametrize("n, k", [(12, 0), (12, 3), (12, 12), (12, 1), (20, 7)])
def test_the_steps_are_those_of_a_real_pass(n, k):
    """Each step runs forward, again from its checkpoint, and backward; the peak of arrays held
    is that of `cost`.
    """
    marks = drawn.evenly(n, k)
    every = drawn.moments(n, marks)
    for what, order in [("forward", range(1, n + 1)), ("back", range(n, 0, -1))]:
        assert [at for done, at, _, _ in every if done == what] == list(order)
    assert sorted(at for done, at, _, _ in every if done == "again") == list(
        range(1, n + 1)
    ) * bool(k)
    most = max(len(segment) + len(kept) for _, _, segment, kept in every)
    assert most == (sum(drawn.cost([1] * (n + 1), marks)[:2]) if k else n + 1)


@pytest.mark.parametrize("k", [2, 5, 10, 25])
def test_marks_hold_what_the_tape_holds(k):
    """The peak measured by tracemalloc exceeds the picture's number by about five arrays, which
    are temporary.
    """
    x = ag.Tensor(np.linspace(-1, 1, 20_000), requires_grad=True)
    counted = sum(drawn.cost([1] * 101, drawn.evenly(100, k))[:2])
    assert counted == k + 100 // k
    most = footprint(lambda: repeat(ag.checkpoint(repeat(ag.tanh, 100 // k)), k)(x), x.data.nbytes)[
        1
    ]
    assert np.isclose(most - counted, 5, atol=1)


def test_an_uneven_chain_holds_what_is_drawn():
    """The chain has fifty steps, then fifty on arrays four times as large, with 2 and 5
    checkpoints.
    """
    x = ag.Tensor(np.linspace(-1, 1, 10_000), requires_grad=True)
    steps = [ag.tanh] * 50 + [lambda x: ag.broadcast_to(x, (4, 10_000)) * 1.01] + [ag.tanh] * 49
    widths = [1] * 51 + [4] * 50

    def chain(marks):
        def run(x):
            for p, q in zip(marks, [*marks[1:], 100]):

                def segment(x, p=p, q=q):
                    for step in steps[p:q]:
                        x = step(x)
                    return x

                x = ag.checkpoint(segment)(x)
            return x

        return run

    for first, second in [(2, 5), (5, 2)]:
        marks = drawn.evenly(50, first) + drawn.evenly(50, second, 50)
        kept, longest, _ = drawn.cost(widths, marks)
        most = footprint(lambda marks=marks: chain(marks)(x), x.data.nbytes)[1]
        assert (
            0 < most - kept - longest < 25
        )  # plus five temporary large arrays and the last result


def test_cost_names_the_heaviest_stretch():
    assert drawn.cost([1, 1, 1, 5, 1], [0, 2]) == (2, 6, (2, 4))
    assert drawn.cost([1, 2, 2, 2], [0]) == (1, 6, (0, 3))


def test_the_words_of_each_step():
    assert drawn.walked(12, 0, 11).text.splitlines() == [
        "forward, step 12: 13 arrays held, at most 13 so far",
        "no marks",
        "held: 0 to 12",
    ]
    assert drawn.walked(12, 3, 20).text.splitlines() == [
        "recompute step 5: 4 arrays held, at most 7 so far",
        "marks at 0, 4, 8",
        "held beside them: 5",
    ]
    assert drawn.walked(12, 3, 31).text.splitlines()[2] == (
        "held beside them: 1 to 4; 4 is held twice"
    )
    assert drawn.walked(12, 0, 23).text.startswith("back through step 1:")
    for moment in (24, 35):  # nothing is left to do
        assert drawn.walked(12, 0, moment).text.startswith("done at moment 23: 13 arrays held")
        assert ">done at moment 23<" in drawn.walked(12, 0, moment).html


@pytest.mark.parametrize("k", [0, 1, 2, 3, 4, 6, 12])
def test_the_filled_cells_are_as_many_as_the_arrays_held(k):
    """At every position of the sliders, also where a value is held twice."""
    for moment in range(36):
        picture = drawn.walked(12, k, moment)
        filled = [
            int(text)
            for text in re.findall(
                rf'<rect [^>]*fill="{re.escape(style.VALUE_GROUND)}"[^>]*/><text [^>]*>(\d+)<',
                picture.html,
            )
        ]
        now, most = map(int, re.search(r"now (\d+), at most so far (\d+)", picture.html).groups())
        assert len(filled) == now <= most
        assert picture.text.startswith(re.match(r"[^:]*", picture.text)[0] + f": {now} array")
        twice = sorted(value for value in set(filled) if filled.count(value) == 2)
        assert twice == [int(p) for p in re.findall(r"(\d+) is held twice", picture.text)]
        assert len(filled) == len(set(filled)) + len(twice)


WIDE = [1] * 51 + [4] * 50
UNEVEN = [drawn.evenly(50, i) + drawn.evenly(50, j, 50) for i in range(1, 13) for j in range(1, 13)]


@pytest.mark.parametrize(
    "widths, every",
    [
        ([1] * 101, [drawn.evenly(100, k) for k in range(1, 51)]),
        (WIDE, UNEVEN),
    ],
    ids=["equal", "uneven"],
)
def test_the_coloured_bars_are_as_many_as_the_arrays_held(widths, every):
    """The heights of the black and the blue bars add up to the two printed terms."""
    for marks in every:
        picture = drawn.marked(widths, marks)
        unit = 48 / max(widths)
        heights = {
            colour: sum(
                round(float(high) / unit)
                for high in re.findall(
                    rf'<rect [^>]*height="([\d.]+)" fill="{re.escape(colour)}"/>', picture.html
                )
            )
            for colour in (style.INK, style.VALUE)
        }
        kept, segment, total, plain = map(
            int, re.search(r"most (\d+) \+ (\d+) = (\d+), .* (\d+)", picture.text).groups()
        )
        assert heights == {style.INK: kept, style.VALUE: segment}
        assert f">{kept} + {segment} = {total}<" in picture.html
        assert total == kept + segment and plain == sum(widths)
        end = int(re.search(r"to step (\d+)", picture.text)[1])
        assert (f"value {end} is held twice" in picture.text) == (end in marks)


def test_the_dot_is_on_the_curve_at_the_printed_number():
    for k in range(2, 51):
        picture = drawn.marked([1] * 101, drawn.evenly(100, k), 50)
        assert drawn.marked([1] * 101, drawn.evenly(100, k)).html.count("<polyline") == 0
        points = re.search(r'points="([^"]*)"', picture.html)[1].split()
        (x, y), *_ = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', picture.html)
        assert points[k - 2] == f"{x},{y}" and len(points) == 49
        total = int(re.search(r"= (\d+)", picture.text)[1])
        assert np.isclose(float(y), 406 - 96 * total / 60, atol=0.06)
        assert total == k + -(-100 // k)
        lowest = max(range(49), key=lambda i: float(points[i].split(",")[1])) + 2
        assert lowest == 10
        assert picture.text.endswith(
            "from 52 with 2 marks down to 20 with 10, and up to 52 with 50; "
            f"a dot at {k} marks and {total}"
        )


def test_planned_marks_are_hollow_flags():
    """So the number of marks changes the picture at every moment, also at the first one."""

    def flags(k, moment):
        picture = drawn.walked(12, k, moment)
        fills = re.findall(r'l9 5l-9 5" fill="([^"]*)"', picture.html)
        return fills.count(style.INK), fills.count(style.PAPER), picture.text.splitlines()[1]

    assert flags(3, 0) == (1, 2, "marks at 0; planned marks at 4, 8")
    assert flags(3, 6) == (2, 1, "marks at 0, 4; planned marks at 8")
    assert flags(3, 8) == flags(3, 35) == (3, 0, "marks at 0, 4, 8")
    choices = [0, 1, 2, 3, 4, 6, 12]
    assert len({flags(k, 0) for k in choices}) == len(choices)


def test_every_moment_can_be_drawn_and_the_line_grows():
    for k in (0, 3, 12):
        lengths = [
            len(re.search(r'points="([^"]*)"', drawn.walked(12, k, moment).html)[1].split())
            for moment in range(36)
        ]
        assert lengths == [min(moment + 1, 24 if k == 0 else 36) for moment in range(36)]


def test_marked_flags_and_words():
    picture = drawn.marked([1] * 101, drawn.evenly(100, 10))
    assert picture.html.count("l9 5l-9 5") == 10
    assert picture.text.splitlines() == [
        "10 marks: held at most 10 + 10 = 20, where a plain tape holds 101",
        "the marks hold 10",
        "the heaviest segment holds 10: from step 1 to step 10",
        "value 10 is held twice: as a mark, and at the end of the segment",
        "run again: 100 steps, each once",
    ]
    picture = drawn.marked([1] * 101, [0])
    assert picture.text.startswith("1 mark: held at most 1 + 100 = 101")
    assert not re.search("--by[^>]*>1 . 100 = 101<", picture.html), (
        "on a phone it would lie on its bar"
    )


def test_bars_are_as_long_as_what_they_measure():
    def widths(picture):
        return [
            float(w) for w in re.findall(r'<rect [^>]*width="([\d.]+)" height="30"', picture.html)
        ]

    one, two = widths(drawn.shares({"a": 10.0, "b": 40.0}, 50))
    assert np.isclose(two, 4 * one, rtol=0.01)
    assert drawn.shares({"a": 0.16, "b": 39.92}, 50).text.splitlines() == [
        "Memory of a training step, before its backward pass.",
        "a: 0.16 MB",
        "b: 40 MB",
    ]


TABLE = [("Conv2d", 16.8, 8.4), ("relu", 8.4, 8.4), ("MaxPool2d", 2.1, 2.1)]


def test_layers_say_what_is_freed():
    lines = drawn.layers(TABLE, 0, 3, (14.8, 61.0)).text.splitlines()
    assert lines == [
        "measured: held 15 MB after the forward pass, at most 61 MB until the backward pass is done",
        "wrapped, 0 to 2: 25.2 MB are freed",
        "0 Conv2d: 0 MB held of 16.8",
        "1 relu: 0 MB held of 8.4",
        "2 MaxPool2d: 2.1 MB held of 2.1",
    ]
    assert drawn.layers(TABLE).text.splitlines()[0] == "0 Conv2d: 16.8 MB held"
    linear = [*TABLE, ("Linear", 0.04, 0.02)]
    assert drawn.layers(linear).text.endswith("3 Linear: 0.04 MB held")
    assert drawn.layers(linear, first=3, count=1).text.endswith("3 Linear: 0.02 MB held of 0.04")
    assert "wrapped" not in drawn.layers(TABLE).html


def test_what_layers_says_is_freed_is_what_is_measured():
    """Catch the mask of a Dropout being counted as freed."""
    model = nn.Sequential(ag.relu, nn.Dropout(0.5, rng=0), ag.tanh)
    x = ag.Tensor(np.linspace(-1, 1, 100_000), requires_grad=True)
    table = by_layer(model, x)
    for end, megabytes in [(1, 0.0), (2, 0.8), (3, 1.6)]:
        held = footprint(lambda: ag.checkpoint(model[:end])(x), back=False)[0]
        assert np.isclose(sum(held for _, held, _ in table[:end]) - held, megabytes, atol=0.05)
        assert f"0 to {end - 1}: {megabytes:g} MB are freed" in drawn.layers(table, 0, end).text


def test_trade_says_both_prices():
    assert drawn.trade({"plain": (132.3, 1024), "halves": (3.0, 6144)}).text.splitlines()[1:] == [
        "plain: at most 132.3 MB, 1,024 steps run",
        "halves: at most 3 MB, 6,144 steps run",
    ]


@pytest.mark.parametrize("n", [1, 2, 8, 16])
def test_the_schedule_by_halves_is_the_engine_s(n):
    """At each call of a step or its rule, the engine holds the arrays of `nested`, plus temporary ones.

    The input is not measured. In the forward pass, the result of the step is not made yet. In the
    backward pass, the same three arrays, or one more or less, come on top.
    """
    seen = []

    def noting(done, value):
        seen.append((done, _held() / value.nbytes))
        return value

    step = ag.elementwise(
        lambda x: noting("run", np.tanh(x)),
        lambda g, z, x: noting("back", g * (1 - z * z)),
        name="tanh",
    )

    def by_halves(n):
        if n == 1:
            return step
        half = by_halves(n // 2)
        return lambda s: half(ag.checkpoint(half)(s))

    x = ag.Tensor(np.linspace(-1, 1, 20_000), requires_grad=True)
    tracemalloc.start()
    try:
        z = by_halves(n)(x)
        z.backward(np.ones(z.shape))
    finally:
        tracemalloc.stop()
    every = drawn.nested(n)
    assert [done for done, _ in seen] == ["back" if done == "back" else "run" for done, *_ in every]
    for (done, _, kept, again), (_, held) in zip(every, seen, strict=True):
        more = held - len(kept) - len(again)
        low, high = {"forward": (-1, 0), "again": (1, 4), "back": (1, 5)}[done]
        assert low - 0.1 < more < high + 0.1, (done, more)
    steps = [at for done, at, *_ in every if done == "back"]
    assert steps == list(range(n, 0, -1))
    assert sum(done == "again" for done, *_ in every) == n * np.log2(n) / 2


def test_the_bars_of_the_schedule_are_what_is_held():
    """Every bar covers the moments at which its value is held; the text names the same values."""
    every, picture = drawn.nested(16), drawn.halved(16)
    wide = 484 / len(every)
    for which, colour, high in [(2, style.INK, "10"), (3, style.VALUE, "7")]:
        found = re.findall(
            rf'<rect x="([^"]*)" y="([^"]*)" width="([^"]*)" height="{high}" fill="{re.escape(colour)}"',
            picture.html,
        )
        cells = {
            (round((float(x) - 56) / wide) + k, 16 - int((float(y) - 62) // 11))
            for x, y, width in found
            for k in range(round(float(width) / wide))
        }
        assert cells == {(m, j) for m, moment in enumerate(every) for j in moment[which]}
    lines = picture.text.splitlines()
    assert lines[0] == (
        "A chain of 16 steps by halves, at 64 moments: at most 10 arrays are held, where a plain "
        "tape holds 17"
    )
    assert lines[1] == "after the forward pass, held to the end: 0, 8, 12, 14, 15, 16"
    assert every[15][2] == every[63][2] == [0, 8, 12, 14, 15, 16]
    assert "steps 1 to 8 run again, up to moment 44; held beside them: 4, 6, 7, 8" in lines
    assert "step 15 runs again, up to moment 18; held beside them: 15" in lines
    assert "at most 10 (a plain tape: 17)" in picture.html
    for done, at, _, again in every:  # released as soon as g has passed
        assert done != "back" or not again or max(again) == at
    for (done, at, _, again), (*_, later) in pairwise(every):
        for gone in (j for j in set(again) if again.count(j) > later.count(j)):
            assert done == "again" or gone == at, "forgotten after a step, or passed by g"
