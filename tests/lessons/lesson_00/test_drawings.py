"""The pictures of lesson 00, and the answers to its placement questions."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from drawn import hard_to_read

import autograd_lib as ag
from autograd_course import digits
from autograd_course.drawing import style
from autograd_course.drawing.formatting import number
from autograd_course.lessons.lesson_00.drawings import (
    Dots,
    as_read,
    curve_and_bars,
    digits_learning,
    weights_and_gradients,
)
from autograd_course.lessons.lesson_00.exercises import hidden
from autograd_course.lessons.lesson_20.tracer import trace
from autograd_course.quiz.texts import PLACEMENT
from autograd_lib import nn, optim
from autograd_lib.nn.functional import cross_entropy

SVG = "{http://www.w3.org/2000/svg}"


def bowl(x):
    return (x - 3) ** 2 + 5


def drawn(picture, tag):
    """Return all elements of this kind; assert that each drawing describes itself in words."""
    page = ET.fromstring(picture.html)
    images = [one for one in page.iter(f"{SVG}svg") if one.get("role") == "img"]
    assert images and all(
        one.get("aria-label") and one.find(f"{SVG}g/{SVG}title").text for one in images
    )
    return list(page.iter(SVG + tag))


def heights(picture):
    """Return a dict from the colour of each bar to its height in px."""
    return {bar.get("stroke"): float(bar.get("height")) for bar in drawn(picture, "rect")}


def test_bars_of_value_and_gradient():
    picture = curve_and_bars(bowl, 1.0, ag.grad(bowl)(1.0))
    assert picture.text == "at x = 1: value 9, gradient −4 (falling)"
    bars = heights(picture)
    assert bars[style.VALUE] / bars[style.GRADIENT] == pytest.approx(9 / 4, rel=0.01), (
        "on one scale"
    )
    assert {"9", "−4", "value", "gradient"} <= {text.text for text in drawn(picture, "text")}


def test_weights_are_drawn_above_their_gradients_and_the_largest_scans():
    """Positive numbers are squares, negative ones diamonds, zeros are not drawn; each frame has a
    scale of shades for the weights and one for the gradients, and its heading gives the mean size.
    """
    weights, gradients = np.zeros((2, 64)), np.zeros((2, 64))
    weights[0, 3], weights[1, 5], gradients[1, 63] = 0.5, -1.0, 0.25
    scans, factors = np.eye(64)[:2], [0.000252, -0.0001]
    frames = [
        (2.3, weights / 2, 4 * gradients, scans, factors),
        (0.5, weights, gradients, scans, factors),
    ]
    picture = weights_and_gradients(frames, 1)
    assert picture.text.splitlines() == [
        "after 1 pass, 2 hidden units with 64 weights each",
        "loss 0.500 on all training digits",
        "weights: mean size 0.016 without dead units, up to ±1",
        "weights above 0, for each unit: 1, 0",
        "weights below 0, for each unit: 0, 1",
        "gradients: mean size 0.0039 without dead units, up to ±0.25",
        "gradients above 0, for each unit: 0, 1",
        "gradients below 0, for each unit: 0, 0",
        "largest and smallest factors for unit 1, in thousandths: 0.25, −0.1",
    ]
    marks = [mark for mark in drawn(picture, "path") if mark.get("fill-opacity")]
    assert [(mark.get("fill"), mark.get("fill-opacity")) for mark in marks] == [
        (style.BELOW, "1.00"),
        (style.ABOVE, "0.50"),
        (style.ABOVE, "1.00"),
    ]
    assert marks[0].get("d") == "M213 41m5 0l5 5l-5 5l-5 -5z", (
        "unit 1, entry 5: first row, column 5"
    )
    assert marks[2].get("d") == "M237 275h10v10h-10z", "unit 1, entry 63: the last corner"
    headings = [text.text for text in drawn(picture, "text")]
    assert headings[0].endswith("mean size 0.016") and headings[1].endswith("mean size 0.0039")
    assert {"loss 0.500", "0.25 ×", "−0.1 ×"} < set(headings) and len(drawn(picture, "image")) == 2
    assert headings.count("unit 0") == headings.count("unit 1") == 1
    arrow = next(mark for mark in drawn(picture, "path") if mark.get("d").endswith("h-14z"))
    tip = [float(one) for one in arrow.get("d")[1:].split("l")[0].split()]
    _, box = [one for one in drawn(picture, "rect") if one.get("stroke") == style.GRADIENT]
    left, top, side = (float(box.get(name)) for name in ("x", "y", "width"))
    assert tip[0] == left + side / 2 and 0 < tip[1] - top - side < 8, "it points at unit 1"
    assert not hard_to_read(picture.html)


@pytest.mark.parametrize("x", [0.0, 3.6, 5.0, 6.5])
def test_the_leg_of_the_triangle_is_the_gradients_bar(x):
    """The vertical leg of the slope triangle is as long as the gradient's bar and has the same
    number. It is ahead of the point or, at the right end, behind it.
    """
    picture = curve_and_bars(bowl, x, ag.grad(bowl)(x))
    (leg,) = [line for line in drawn(picture, "polyline") if line.get("stroke") == style.GRADIENT]
    (left, top), (right, bottom) = (
        map(float, point.split(",")) for point in leg.get("points").split()
    )
    assert left == right and abs(top - bottom) == pytest.approx(
        heights(picture)[style.GRADIENT], abs=0.2
    )
    said = [
        text.text
        for text in drawn(picture, "text")
        if text.get("fill") == style.WRITTEN[style.GRADIENT]
    ]
    assert said == [number(2 * x - 6)] * 2 + ["gradient"]


@pytest.mark.parametrize("x", [0.5, 2.5])
def test_the_tangent_closes_the_triangle_over_a_narrow_span_too(x):
    lines = {
        line.get("stroke"): line.get("points").split()
        for line in drawn(curve_and_bars(np.square, x, 2 * x, span=(0, 3)), "polyline")
    }
    tip = min(lines[style.GRADIENT], key=lambda point: float(point.split(",")[1]))
    assert (tip if x == 0.5 else lines[style.INK][0]) in lines[style.TANGENT], (
        "ahead of the point, and behind it"
    )


def test_at_the_lowest_point_the_gradient_is_empty():
    picture = curve_and_bars(bowl, 3.0, -1e-17)
    assert (
        picture.text == "at x = 3: value 5, gradient 0 (flat)"
        and heights(picture)[style.GRADIENT] < 0.1
    )


def test_the_dark_walk_shows_neither_curve_nor_way():
    picture = curve_and_bars(hidden, 5.0, ag.grad(hidden)(5.0), span=(-10, 10), curve=False)
    assert picture.text == "at x = 5: value 7.517, gradient 1.551" and not drawn(
        picture, "polyline"
    )


def test_digits_learning():
    images, labels = np.zeros((12, 8, 8)), np.arange(12) % 10
    picture = digits_learning(images, labels, np.zeros(12, int), [0.1, 0.95], 1)
    assert picture.text == "after 1 pass: 2 of these 12 right, 95.0 % of all held-out digits"
    words = [text.text for text in drawn(picture, "text")]
    assert len(drawn(picture, "image")) == 12 and words.count("0✓") == 2 and "0✗7" in words


def test_digits_learning_before_the_first_pass():
    assert digits_learning(np.zeros((1, 8, 8)), [3], [3], [0.1, 0.95], 0).text.startswith(
        "after 0 passes: 1 of these 1 right, 10.0 %"
    )


def test_dots_are_drawn_by_their_buttons():
    dots, seen = Dots(np.eye(3) > 0), []
    assert dots.value == ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), (
        "it begins with the given drawing"
    )
    dots.observe(lambda change: seen.append(change["new"]), "value")
    dots.dots[0][2].value = True
    assert seen == [((1.0, 0.0, 1.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]
    assert dots.dots[0][2].tooltip == "row 1, column 3", "its name for a screen reader"
    dots.clear()
    assert dots.value == ((0.0,) * 3,) * 3 and not any(
        dot.value for row in dots.dots for dot in row
    )
    assert len(seen) == 2, "cleared at once"


def test_a_drawing_is_read():
    picture = as_read(
        ((1.0, 0.0), (0.0, 1.0)), np.log([0.1, 0, 0, 0.7, 0, 0.2, 0, 0, 0, 0] + np.full(10, 1e-30))
    )
    assert picture.text.splitlines() == [
        "read as 3 (share 0.70); second choice 5 (0.20)",
        "#·",
        "·#",
    ]
    assert max(float(bar.get("height")) for bar in drawn(picture, "rect")) == pytest.approx(
        0.7 * 230 / 1.08, abs=0.1
    )
    for digit in range(10):
        assert not hard_to_read(as_read(np.eye(8), 5.0 * np.eye(10)[digit]).html)
    assert "70" in {text.text for text in drawn(picture, "text")}


def test_answers_of_the_placement_questions():
    def central(h):
        return (np.exp(1 + h) - np.exp(1 - h)) / (2 * h)

    X, W, G = np.random.default_rng(0).random((3, 5, 5))
    _, row = ag.vjp(lambda b: np.zeros((2, 3)) + b, np.ones(3))
    _, weight = ag.vjp(lambda W: X[:, :3] @ W, W[:3, :2])
    assert np.allclose(weight(G[:, :2])[0], X[:, :3].T @ G[:, :2])
    a = ag.Tensor(0.0, requires_grad=True)
    for slope in (1, 2, 3):
        (slope * a).backward()
    calls = []  # of the function with 1000 outputs: one to see their shape, then one a sweep
    ag.jacobian(lambda x: calls.append(x) or x * np.ones(1000), mode="fwd")(1.0)
    measured = [
        3.01**2 - 3**2,
        "less" if abs(central(1e-12) - np.e) > 1000 * abs(central(1e-5) - np.e) else "more",
        ag.grad(lambda x: (x + 3.0) * -4.0)(2.0),
        ag.grad(np.tanh)(np.arctanh(0.6)),
        ag.grad(lambda a: (a * 5.0) * (a * 5.0))(10.0) / 2,
        a.grad,
        row(np.array([[1.0, 2, 3], [4, 5, 6]]))[0],
        "Xᵀ G",
        2 / ag.hessian(lambda w: 12.5 * w * w)(1.0),
        0.9**50,
        len(calls) - 1,
        ag.jvp(lambda x, y: x * y, (3.0, 4.0), (1.0, 2.0))[1],
        -ag.grad(lambda w: w**4)(3.0) / ag.hessian(lambda w: w**4)(3.0),
        100 / 10 + 10,
        ag.softmax(np.array([0, 0, -np.inf]))[0],
        cross_entropy(np.zeros((1, 36)), [0]),
        trace(lambda x: x if x > 0 else -x, x=2.0)(x=-1.0),
        np.average([1.0, 5.0], weights=[30, 10]),
    ]
    questions = [question for _, group in PLACEMENT.values() for question in group]
    for question, value in zip(questions, measured, strict=True):
        if isinstance(value, str):
            assert question.answer == value and value in question.choices
        else:
            np.testing.assert_allclose(
                value, question.answer, atol=question.tolerance or 1e-12, err_msg=question.question
            )


@pytest.fixture(scope="module")
def trained():
    """Return the model of lesson 00 after its training, with the gradients of the last batch."""
    model, rng = nn.MLP([64, 32, 10], rng=0), np.random.default_rng(0)
    optimizer = optim.Adam(model.parameters(), lr=0.005)
    x, y, *_ = digits()
    for _ in range(20):
        for batch in np.array_split(rng.permutation(len(x)), 45):
            optimizer.zero_grad()
            cross_entropy(model(x[batch]), y[batch]).backward()
            optimizer.step()
    return model


def test_the_falls_that_hints_recognise(trained):
    """`00.fall` recognises a fall measured on the trained model, with gradients that were not
    cleared, or on centred scans.
    """
    x, y, *_ = digits()

    def falls(numbers, gradients, scans=x):
        """Return the fall of the loss after a step with c = 0.1, and what the gradients promise."""
        model = nn.MLP([64, 32, 10], rng=0)
        if numbers:
            model.load_state_dict(numbers)
        for p, gradient in zip(model.parameters(), gradients, strict=True):
            p.grad = gradient
        before = cross_entropy(model(scans), y)
        before.backward()
        for p in model.parameters():
            p.data = p.data - 0.1 * p.grad
        after = cross_entropy(model(scans), y).item()
        promised = 0.1 * sum(np.sum(p.grad**2) for p in model.parameters())
        return before.item() - after, promised

    numbers, none = trained.state_dict(), [None] * 4
    left = [p.grad for p in trained.parameters()]
    assert falls(numbers, left) == pytest.approx((0.00244, 0.00872), rel=0.04)
    assert falls(numbers, none) == pytest.approx((0.00132, 0.00144), rel=0.04)
    assert falls(None, left)[0] == pytest.approx(0.00592, rel=0.04)
    assert falls(None, none, x - x.mean(axis=0)) == pytest.approx((0.0036, 0.0036), rel=0.04)


def test_the_loss_curves_most_along_the_mean_scan(trained):
    """For the weights of unit 1, more than ten times as much as at right angles to it."""
    x, y, *_ = digits()
    W, b, V, c = trained.state_dict().values()
    others = np.maximum(x @ W.T + b, 0)
    others[:, 1] = 0

    def loss(weights):
        unit = ag.relu(x @ weights + b[1])
        return cross_entropy(others @ V.T + c + ag.expand_dims(unit, 1) * V[:, 1], y)

    H = ag.hessian(loss)(W[1])
    along = x.mean(axis=0) / np.linalg.norm(x.mean(axis=0))
    across = np.eye(64) - np.outer(along, along)
    assert np.isclose(loss(W[1]).item(), cross_entropy(trained(x), y).item())
    assert along @ H @ along > 10 * np.linalg.eigvalsh(across @ H @ across).max()
