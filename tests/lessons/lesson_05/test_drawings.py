"""Lesson 05's pictures, and the other imports of its notebook."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course.grading import yours_or_ours
from autograd_course.grading.rule_checks import engine
from autograd_course.lessons.lesson_05.drawings import (
    draw_values,
    duration,
    in_order,
    neuron_steps,
    odometer,
    race,
    visits,
)
from autograd_course.lessons.lesson_05.engine import Value, add
from autograd_course.lessons.lesson_05.exercises import as_found, random_program, replaced, score
from autograd_lib import tape


def fork():
    a = ag.Tensor(3.0, True, "a")
    b = 2.0 * a
    c = b + 1.0
    L = b * c
    b.name, c.name, L.name = "b", "c", "L"
    return a, b, c, L


def svg_of(picture):
    root = ET.fromstring(re.search(r"<svg.*?</svg>", picture.html, re.DOTALL).group())
    assert root.get("role") == "img" and root.get("aria-label").split() == picture.text.split()
    return root


def words(picture):
    return [one.text for one in svg_of(picture).iter("{http://www.w3.org/2000/svg}text")]


# --- The Values of the learner's engine


def multiply(x, y):
    return Value(x.data * y.data, (x, y), (y.data, x.data))


def test_values_are_drawn_with_all_that_they_store():
    first = Value(1.0)
    Value(7.0)  # not used
    held = add(first, Value(4.0))
    held.grad, first.grad = 2.0, -3.0
    picture = draw_values(held)
    one, two, three = (
        f"first (#{first.number})",
        f"#{first.number + 2}",
        f"held (#{held.number})",
    )
    drawn = words(picture)
    titles = [one, two, f"held = first + {two} (#{held.number})"]
    assert [word for word in drawn if "#" in word] == titles
    assert drawn.count("local 1") == 2 and {"1", "4", "5", "2", "−3", "0"} <= set(drawn)
    assert "7" not in drawn
    assert picture.text.splitlines()[1:] == [
        f"{one}: value 1, gradient −3",
        f"{two}: value 4, gradient 0",
        f"{three} = add({one}, {two}): value 5, gradient 2; local gradients: {one} 1, {two} 1",
    ]


def test_a_formula_is_drawn_only_where_the_numbers_are_those_of_a_sum_or_a_product():
    def titles(data, x, y, locals):
        p, q = Value(x), Value(y)
        drawn = words(draw_values(Value(data, (p, q), locals)))
        number = q.number + 1
        return [word.removeprefix(f"#{number}") for word in drawn if word.startswith(f"#{number}")]

    for data, x, y, locals, sign in [
        (4.0, 2.0, 2.0, (1.0, 1.0), " + "),
        (4.0, 2.0, 2.0, (2.0, 2.0), " · "),
        (1.0, 1.0, 1.0, (1.0, 1.0), " · "),
        (5.0, 2.0, 2.0, (1.0, 1.0), ""),
        (6.0, 2.0, 3.0, (2.0, 3.0), ""),
        (0.0, 2.0, 2.0, (1.0, -1.0), ""),
    ]:
        (title,) = titles(data, x, y, locals)
        assert sign in title if sign else title == ""
    p, q = Value(10.0), Value(5.0)
    r = multiply(p, q)
    assert f"r = p · q (#{r.number})" in words(draw_values(r))


def test_a_value_used_twice_is_drawn_once_with_two_arrows():
    c = Value(50.0)
    drawn = words(draw_values(add(multiply(c, c), c)))
    assert drawn.count("local 50") == 2 and sum("#" in word for word in drawn) == 3


def test_replaced_loses_a_contribution_at_every_value():
    a, b = Value(10.0), Value(5.0)
    c = multiply(a, b)
    L = multiply(c, c)
    replaced(L)
    assert [value.grad for value in (L, c, a, b)] == [1, 50, 250, 500]


# --- A neuron


@pytest.mark.parametrize("w", [1.0, 0.5, 0.0])
def test_each_step_of_the_neuron_brings_its_gradients(w):
    t = np.tanh(2 * w)
    loss = {  # the part of the neuron after each value
        "ŷ": (lambda y: 0.5 * (y - 1) ** 2, t),
        "s": (lambda s: 0.5 * (ag.tanh(s) - 1) ** 2, 2 * w),
        "w": (lambda w: 0.5 * (ag.tanh(2 * w) - 1) ** 2, w),
        "b": (lambda b: 0.5 * (ag.tanh(2 * w + b) - 1) ** 2, 0.0),
    }
    told = {name: ag.grad(f)(float(at)) for name, (f, at) in loss.items()}
    for step, name in enumerate(["ŷ", "s", "w"], 1):
        said = neuron_steps(w, step).text.split("In the ledger, next first: ")[1].splitlines()[0]
        entries = dict(entry.split() for entry in said.split(", "))
        assert name in entries and len(entries) == (2 if name == "w" else 1)
        for entry, g in entries.items():
            assert np.isclose(float(g.replace("−", "-")), told[entry], rtol=5e-3)
            assert g in words(neuron_steps(w, step))
    told = {"L": 1.0} | told
    for step, visited in enumerate(["", "L", "Lŷ", "Lŷs", "Lŷswb"]):
        kept = neuron_steps(w, step).text.splitlines()[-1].removeprefix("In .grad so far: ")
        entries = dict(entry.split() for entry in kept.split(", "))
        assert [*entries] == [*"Lŷswb"]
        for name, g in entries.items():
            assert (g != "nothing") == (name in visited), "as in backward: .grad += g at its visit"
            if g != "nothing":
                assert np.isclose(float(g.replace("−", "-")), told[name], rtol=5e-4)


@pytest.mark.parametrize("w", [1.0, 0.5, 0.0])
def test_a_product_of_the_neuron_is_equal_or_nearly_equal_as_its_sign_says(w):
    for step in range(5):
        shown = re.findall(r"(\S+) × (\S+) ([=≈]) ([−\d.]+\d)", neuron_steps(w, step).text)
        assert len(shown) == 2 * [0, 1, 1, 2, 0][step], "in the sentence and in the panel"
        for *numbers, sign, product in shown:
            g, local, gx = (float(one.replace("−", "-")) for one in [*numbers, product])
            assert np.isclose(g * local, gx, rtol=0, atol=1e-12) == (sign == "=")
            assert np.isclose(g * local, gx, rtol=1e-3)


def test_no_mark_covers_the_head_of_an_arrow():
    for step in range(5):
        svg = svg_of(neuron_steps(1.0, step))
        heads = [
            tuple(map(float, tip))
            for path in svg.iter("{http://www.w3.org/2000/svg}path")
            for tip in re.findall(r"M([\d.-]+),([\d.-]+) L[^z]*z", path.get("d"))
        ]
        marks = [
            [float(one.get(side)) for side in ("x", "y", "width", "height")]
            for one in svg.iter("{http://www.w3.org/2000/svg}rect")
            if one.get("height") == "18"
        ]
        assert len(heads) == 6 and len(marks) == [1, 2, 3, 5, 5][step]
        for tip_x, tip_y in heads:
            for x, y, wide, high in marks:
                assert not (x - 4 < tip_x < x + wide + 4 and y < tip_y < y + high + 7)


def test_a_card_of_the_neuron_shows_no_gradient_before_its_turn():
    shown = [words(neuron_steps(1.0, step)).count("not yet") for step in range(5)]
    assert shown == [4, 3, 2, 0, 0]
    assert {"the sum s = w · x + b", "ŷ = tanh(s)", "L = ½ (ŷ − y)²", "x", "w", "b", "y"} <= set(
        words(neuron_steps(1.0, 0))
    )
    assert "nothing" in neuron_steps(1.0, 4).text and "−0.005083" in words(neuron_steps(1.0, 4))


# --- The order of the visits


def test_visits_newest_first_are_the_engines_own():
    a, b, c, L = fork()
    engine = list(tape.backward_pass(L, np.float64(1.0)))
    ours = list(visits([L, c, b, a]))
    assert [node for node, *_ in ours] == [node for node, *_ in engine]
    assert [(float(g), grads) for _, g, grads in ours] == [
        (float(g), grads) for _, g, grads in engine
    ]


@pytest.mark.parametrize("order, at_a", [("Lbca", 14), ("Lcba", 26), ("Lbcba", 26)])
def test_what_comes_late_is_not_sent(order, at_a):
    a, b, c, L = fork()
    *_, (last, g, _) = visits([dict(a=a, b=b, c=c, L=L)[name] for name in order])
    assert last is a and g == at_a


def test_every_story_is_told_to_its_end():
    a, b, c, L = fork()
    told = in_order(L, {"before c": [L, b, c, a], "both": [L, b, c, b, a]})
    assert told("before c", 0).text != told("before c", 1).text
    assert told("before c", 9).text == told("before c", 11).text, (
        "a shorter story waits at its last step"
    )
    assert (
        "The leaves have a 14" in told("before c", 9).text and "6 at b" in told("before c", 9).text
    )
    assert "5 visits" in told("both", 11).text and "a 26" in told("both", 11).text


# --- Paths and visits


@pytest.mark.parametrize("n", [0, 1, 16, 20, 60])
def test_odometer_shows_each_digit_and_stays_on_its_card(n):
    picture = odometer(n, 2**n, n + 1, 3e6, 5e-5, walked=n <= 16)
    digits = "".join(word for word in words(picture) if len(word) == 1)
    assert digits == f"{2**n}{n + 1}"
    assert f"{2**n:,} path" in picture.text and f"{n + 1} visit" in picture.text
    assert ("followed" in picture.text) == (
        n <= 16
    ) and "Time for all visits, as measured: 50 microseconds." in picture.text
    long = [float(x) for x in re.findall(r'd="M([\d.]+) 224v26"', picture.html)]
    above = re.findall(r'<text x="([\d.]+)" y="246[^>]+>([^<]+)', picture.html)
    assert len(long) + len(above) == 9
    for x, name in above:  # on a phone, 560 px are drawn in 370
        assert all(0.66 * abs(float(x) - line) > 3 * len(name) + 3 for line in long), (
            "no line goes through a name"
        )
    for one in svg_of(picture).iter("{http://www.w3.org/2000/svg}rect"):
        assert 0 <= float(one.get("x")) and float(one.get("x")) + float(one.get("width")) <= 700


@pytest.mark.parametrize(
    "seconds, said",
    [
        (3.2e-7, "0.32 microseconds"),
        (0.0221, "22 milliseconds"),
        (1.2, "1,200 milliseconds"),
        (19.5, "20 seconds"),
        (7200, "2.0 hours"),
        (86400 * 4.2, "4.2 days"),
        (31557600 * 12180, "12,000 years"),
    ],
)
def test_durations_in_words(seconds, said):
    assert duration(seconds) == said


def test_a_race_follows_the_paths_that_are_there():
    class Node:
        def __init__(self, *inputs):
            self.inputs = inputs

    def tripled(n):
        return Node(*[tripled(n - 1)] * 3) if n else Node()

    walked = []
    after = race(lambda n: tripled(min(n, 6)), lambda L: [L] * 5, walked.append)
    assert after(2) is after(2) and len(walked) == 1, "the time of a pass is measured once"
    assert after(2).text.startswith("9 paths (followed) and 5 visits") and after(
        20
    ).text.startswith("1,048,576 paths (computed)")


# --- Functions that the notebook runs


def test_random_programs():
    program = random_program(3)
    assert str(program) == str(random_program(3)) != str(random_program(4))
    assert str(program).splitlines()[-1].startswith("L = ") and len(program.start) == 3
    scope = dict(zip("abc", program.start))
    exec(str(program), scope)
    assert program(*program.start) == scope["L"], "what is printed is what runs"


def gradients(Scalar, program):
    leaves = [Scalar(x) for x in program.start]
    program(*leaves).backward()
    return [x.grad for x in leaves]


def test_random_programs_tell_broken_engines_from_right_ones():
    programs = [random_program(seed) for seed in range(50)]
    for fault, most in [("=", 5), ("early", 10)]:
        assert (
            sum(
                np.allclose(gradients(engine(fault), one), gradients(engine(), one))
                for one in programs
            )
            <= most
        )


def test_score_counts_right_programs():
    Scalar = engine()
    assert score(Scalar.backward, Scalar, 20) == 20
    assert score(replaced, Scalar, 20) < 5 and 0 < score(as_found, Scalar) < 20, (
        "two hundred different ones"
    )


def test_a_walk_as_found_is_an_early_one():
    class Node:
        def __init__(self, inputs=(), locals=()):
            self.inputs, self.locals, self.grad = inputs, locals, 0.0

    a = Node()
    b = Node((a,), (2.0,))
    c = Node((b,), (1.0,))
    as_found(Node((b, c), (7.0, 6.0)))
    assert a.grad == 14


def test_the_lesson_goes_on_without_an_answer(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a right answer is recorded in the current folder

    def stub(x, y): ...

    def mine(x, y):
        return Value(x.data * y.data, (x, y), (y.data, x.data))

    ours = yours_or_ours("05.multiply", stub, Value=Value)
    assert ours is not stub and "not written yet" in capsys.readouterr().out
    assert ours(Value(3.0), Value(4.0)).locals == (4.0, 3.0)
    assert (
        yours_or_ours("05.multiply", mine, Value=Value) is mine
        and "your multiply" in capsys.readouterr().out
    )
