"""Lesson 20's tracer and its four questions; the broken program fails as the exercise says."""

import numpy as np

import autograd_lib as ag
from autograd_course.lessons.lesson_20 import compilers
from autograd_course.lessons.lesson_20.exercises import SPOILED
from autograd_course.lessons.lesson_20.tracer import trace


def test_a_program_is_what_was_done_and_its_source_runs():
    def f(x, y):
        return -np.exp(x) @ y / 2 + (x < 1)

    inputs = {"x": np.ones((2, 2)), "y": np.eye(2)}
    program = trace(f, **inputs)
    space = {"np": np}
    exec(program.source, space)
    other = np.array([[0.5, 2.0], [1.0, -1.0]])
    for x in (inputs["x"], other):
        assert np.array_equal(program(x=x), f(x, inputs["y"]))
        assert np.array_equal(space["program"](x, inputs["y"]), f(x, inputs["y"]))


def test_the_four_questions():
    functions = [f.__name__ for f, _, _ in compilers.CALLS]
    assert compilers.answers(compilers.careless) == dict.fromkeys(functions, "WRONG")
    assert compilers.answers(ag.compile) == dict(
        zip(functions, ["refused", "refused", "WRONG", "refused"])
    )
    assert compilers.answers(lambda f: f) == dict.fromkeys(functions, "right")


def run(lines):
    rng = np.random.default_rng(0)
    space = {
        name: rng.normal(size=shape)
        for name, shape in {"x": (5, 3), "y": (5, 2), "W1": (3, 4), "W2": (4, 2)}.items()
    }
    given = {name: value.copy() for name, value in space.items()}
    space |= {"np": np, "a": np.empty((5, 4)), "b": np.empty((5, 2)), "c": np.empty((5, 4))}
    exec("\n".join(lines), space)
    right = ag.grad(
        lambda W1, W2: np.sum((np.tanh(given["x"] @ W1) @ W2 - given["y"]) ** 2), argnums=(0, 1)
    )
    return [
        np.allclose(mine, theirs)
        for mine, theirs in zip((space["g_W1"], space["g_W2"]), right(given["W1"], given["W2"]))
    ]


def test_the_broken_program_has_one_wrong_gradient_that_reordering_fixes():
    assert run(SPOILED) == [True, False]
    assert run([*SPOILED[:6], SPOILED[11], *SPOILED[6:11]]) == [True, True]
