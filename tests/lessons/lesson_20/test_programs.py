"""Lesson 20's tracer and its four questions; the broken program fails as the exercise says."""

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course.lessons.lesson_20 import compilers
from autograd_course.lessons.lesson_20.exercises import SPOILED, _guarded
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


def test_numpy_functions_that_do_not_pass_through_the_tracer():
    """The solution of 20.Noted names two that are recorded wrongly and one that raises an error."""
    x = np.array([1.0, 2.0, 3.0])
    mean, dot = trace(lambda x: np.mean(x), x=x), trace(lambda x: np.dot(x, x), x=x)
    assert np.array_equal(mean(x=x), x) and np.array_equal(dot(x=x), x * x)
    assert "t1 = x / 1\n" in mean.source and "t1 = x * x\n" in dot.source
    with pytest.raises(TypeError, match="keyword"):
        trace(lambda x: np.sum(x), x=x)


def test_a_name_of_a_tensor_that_refers_to_another_one_has_no_effect():
    weight = ag.Tensor(2.0)
    compiled, checked = (ag.compile(lambda x: x * weight, check=check) for check in (False, True))
    assert compiled(1.0).data == checked(1.0).data == 2
    weight.data = np.array(3.0)
    assert compiled(1.0).data == checked(1.0).data == 3
    weight = ag.Tensor(5.0)
    assert compiled(1.0).data == 3
    with pytest.raises(RuntimeError, match="a name that refers to another Tensor now"):
        checked(1.0)


def test_check_compares_gradients_only_if_they_are_results():
    factor, w = 2.0, ag.Tensor(3.0, requires_grad=True)

    def f(w):
        return (w - 3) * factor

    results, gradients = ag.compile(f, check=True), ag.compile(ag.value_and_grad(f), check=True)
    results(w).backward()
    assert w.grad == gradients(3.0)[1] == 2
    factor, w.grad = 5.0, None
    results(w).backward()  # no error, because both results are 0
    assert w.grad == 2
    with pytest.raises(RuntimeError, match=r"for the result\[1\]"):
        gradients(3.0)


def test_an_if_may_depend_on_a_python_int_or_bool_but_not_on_a_numpy_integer():
    compiled = ag.compile(lambda x, n: x if n > 1 else -x)
    assert compiled(1.0, 2) == 1 and compiled(1.0, True) == -1
    with pytest.raises(TypeError, match="an if"):
        compiled(1.0, np.int64(2))


def test_a_guard_on_shapes_and_dtypes_does_not_notice_the_four_changes():
    def record(f, x):
        program = trace(f, x=x)
        return lambda x: program(x=x)

    found = compilers.answers(lambda f: _guarded(f, record), np.float64)
    assert found == dict.fromkeys(found, "WRONG") and "bend" in found
