"""Lesson 20's picture of a program in two columns shows what the program does, line by line."""

import re
import xml.etree.ElementTree as ET
from contextlib import nullcontext

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course.lessons.lesson_20.drawings import columns, two_columns
from autograd_lib import nn

SVG = "{http://www.w3.org/2000/svg}"
rng = np.random.default_rng(0)
ARRAYS = [rng.normal(size=shape) for shape in [(3, 8), (8,), (16, 3), (16, 8)]]


def loss(W, b, x, y):
    h = np.tanh(x @ W + b)
    error = h - y
    L = np.sum(error * error)
    return L


@pytest.fixture(scope="module")
def program():
    step = ag.compile(ag.value_and_grad(loss, argnums=(0, 1)))
    step(*ARRAYS)
    return columns(step.source, *ARRAYS)


def at(program, name):
    return next(k for k, line in enumerate(program.lines) if line.name == name)


def test_it_is_parted_where_the_value_is_made(program):
    forward = [line for line in program.lines if not line.back]
    assert (
        forward[-1].name == "L"
        and forward[-1].text == "L = t3.sum()"
        and all(line.row == "" for line in forward)
    )
    assert [line.row for line in program.lines if line.name in ("g_b", "g_W")] == ["add", "matmul"]
    assert len(program) == len(program.lines) > len(forward) > 3


def test_a_value_is_held_until_its_last_reader(program):
    h, last = at(program, "h"), max(k for k, line in enumerate(program.lines) if "h" in line.reads)
    assert program.lines[last].back and "h" not in program.held(h - 1)
    assert all("h" in program.held(k) for k in range(h, last)) and "h" not in program.held(last)
    assert "t2" not in program.held(h), "tanh's rule reads its result"
    assert set(program.held(len(program) - 1)) == {"L", "g_b", "g_W"}, "results are the caller's"
    assert program.bytes(0) == 16 * 8 * 8 and program.bytes(len(program) - 1) == 8 * (1 + 8 + 3 * 8)


def drawn(program, k):
    picture = two_columns(program, k + 1)
    root = ET.fromstring(re.search(r"<svg .*</svg>", picture.html, re.DOTALL)[0])
    return picture, root


def test_every_line_is_there_and_the_one_that_runs_is_told(program):
    for k, line in enumerate(program.lines):
        picture, root = drawn(program, k)
        texts = [one.text for one in root.iter(f"{SVG}text")]
        assert [other.text in texts for other in program.lines] == [True] * len(program)
        assert picture.text.startswith(
            f"line {k + 1} of {len(program)}, {'back' if line.back else 'forward'}: {line.text}"
        )
        thick = [one for one in root.iter(f"{SVG}rect") if one.get("stroke-width") == "3.2"]
        framed = [
            one
            for one in root.iter(f"{SVG}rect")
            if one.get("stroke-width") == "1.8" and one.get("stroke-dasharray") == "none"
        ]
        made = [other.name for other in program.lines]
        assert len(thick) == 1 and len(framed) == sum(name in made for name in line.reads)
    frames = {two_columns(program, 1 + k).html for k in range(len(program))}
    assert len(frames) == len(program), "every step of the slider is to be seen"


def test_what_goes_back_lies_opposite(program):
    """The last forward line and the first backward line are lowest, and a curve leads from each
    value to each line that reads it.
    """
    _, root = drawn(program, at(program, "g_error"))
    height = {one.text: float(one.get("y")) for one in root.iter(f"{SVG}text")}
    first = next(line for line in program.lines if line.back)
    assert (
        height["L = t3.sum()"]
        == height[first.text]
        == max(height[line.text] for line in program.lines)
    )
    across = [one for one in root.iter(f"{SVG}path") if one.get("fill") == "none"][1:]
    ahead = {line.name for line in program.lines if not line.back}
    assert len(across) == sum(
        name in ahead for line in program.lines if line.back for name in line.reads
    )
    assert sum(one.get("stroke-width") == "3" for one in across) == 1


def dashed(program):
    """Return a dict from each name to the names in dashed frames when its line runs."""
    found = {}
    for k, line in enumerate(program.lines):
        parts = list(drawn(program, k)[1].iter())
        found[line.name] = [
            parts[j + 1].text.split()[0]
            for j, one in enumerate(parts)
            if one.get("stroke-dasharray") == "8 3"
        ]
    return found


def test_long_dashes_are_round_the_whole_gradient():
    """The gradient is a sum where two paths meet. Regression: for a squared error, half of it
    was marked.
    """
    step = ag.compile(ag.value_and_grad(lambda W, b, x, y: loss(W, b, x, y) / 3, argnums=(0, 1)))
    step(*ARRAYS)
    program = columns(step.source, *ARRAYS)
    found, whole = (
        dashed(program),
        next(x.name for x in program.lines if x.text.endswith("= g_error + g_error")),
    )
    assert (
        whole != "g_error"
        and found["error"] == [whole]
        and found[whole] == ["error"]
        and not found["g_error"]
    )
    assert (
        found["t2"] == ["g_t2"] and found["g_t2"] == ["t2"] and not found["g_W"] and not found["L"]
    )


def test_long_dashes_are_not_round_the_gradient_of_an_input_whose_name_is_longer():
    """Regression: the gradient of W_2 was taken for the second gradient of W."""

    def factored(W_1, W_2, x):
        W = W_1 @ W_2
        return np.sum((x @ W) ** 2)

    arrays = [np.ones((3, 4)), np.ones((4, 2)), np.ones((5, 3))]
    step = ag.compile(ag.value_and_grad(factored, argnums=(0, 1)))
    step(*arrays)
    found = dashed(columns(step.source, *arrays))
    assert (
        found["W"] == ["g_W"]
        and found["g_W"] == ["W"]
        and not found["g_W_1"]
        and not found["g_W_2"]
    )


def test_a_phone_shows_what_the_frames_mean_and_how_much_is_held(program):
    """The labels of the bars are in the active column, and the meaning of the frames is outside
    the part that scrolls.
    """
    for k, line in enumerate(program.lines):
        picture, root = drawn(program, k)
        x = {
            (one.text or "").partition(":")[0]: float(one.get("x"))
            for one in root.iter(f"{SVG}text")
        }
        assert x["held now"] == x["backward, up" if line.back else "forward, down"]
        assert picture.html.index("thick frame: current line") < picture.html.index(
            "overflow:auto hidden"
        )


def test_a_program_in_two_functions_is_drawn_too():
    model = nn.MLP([3, 4, 2], rng=0)
    step = ag.compile(lambda x: (model(x) ** 2).sum())
    x = ARRAYS[2]
    step(x).backward()
    program = columns(step.source, x, *[p.data for p in model.parameters()])
    assert any(line.back for line in program.lines) and not program.lines[0].back
    results = program.held(len(program) - 1)
    assert sum(name.startswith("g_") for name in results) == 4, (
        "the gradients of the four parameters"
    )


def test_arguments_that_do_not_fit_are_said():
    step = ag.compile(ag.value_and_grad(loss, argnums=(0, 1)))
    step(*ARRAYS)
    with pytest.raises(ValueError, match="expected 4 arrays \\(W, b, x, y\\), got 3"):
        columns(step.source, *ARRAYS[:3])
    mask = ag.compile(ag.value_and_grad(lambda x: ag.sum(x * np.tri(16))))
    mask(np.ones((16, 16)))
    with pytest.raises(
        ValueError, match=r"does not contain c1\. .* pass large arrays as arguments"
    ):
        columns(mask.source, np.ones((16, 16)))
    product = ag.compile(
        ag.value_and_grad(lambda x, y: ag.sum(x @ y))
    )  # the upstream gradient is 1 everywhere, in a new array
    for rows, where in [
        (16, pytest.raises(ValueError, match=r"does not contain c1\. .* or make them smaller")),
        (8, nullcontext()),
    ]:
        arrays = np.ones((rows, 3)), np.ones((3, 8))
        product(*arrays)
        with where:
            columns(product.source, *arrays)
    double = ag.elementwise(lambda x: 2 * x, lambda g, z, x: 2 * g)
    own = ag.compile(ag.value_and_grad(lambda x: ag.sum(double(x))))
    own(ARRAYS[0])
    with pytest.raises(ValueError, match=r"does not contain _lambda_\. Use only the library's ops"):
        columns(own.source, ARRAYS[0])


def test_results_that_are_written_over_others_count_as_they_are_read():
    step = ag.compile(ag.value_and_grad(loss, argnums=(0, 1)))
    large = [rng.normal(size=(90, 90)) for _ in range(4)]
    large[1] = large[1][0]
    step(*large)
    assert "out=" in step.source
    program = columns(step.source, *large)
    assert program.lines[0].reads == ["x", "W"] and program.bytes(0) == 90 * 90 * 8
    assert "t2" not in program.held(at(program, "h")) and "h" in program.held(at(program, "L"))
