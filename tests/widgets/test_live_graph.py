"""live_graph shows the engine's numbers at every position of every slider, under the learner's
own names.
"""

import re
import sys

import numpy as np
import pytest
from drawn import across

import autograd_lib as ag
from autograd_course import live_graph
from autograd_course.drawing.formatting import number
from autograd_course.widgets import graph
from autograd_lib import Tensor, nn


def neuron(x, w, b):
    z = x * w + b
    y = ag.tanh(z)
    return y


SLIDERS = {"x": (-3, 3, 0.7), "w": (-3, 3, 1.5), "b": (-3.0, 3.0, 0.25, 0.5)}


def lines(ui):
    """Return a dict from the name at the start of each line to the line."""
    return {
        line.partition(":")[0].partition(" = ")[0]: line for line in ui.picture.text.splitlines()
    }


@pytest.mark.parametrize("x", [0.7, -2.0, 0.0])
def test_the_numbers_are_the_engines(x):
    ui = live_graph(neuron, **SLIDERS)
    ui.sliders["x"].value = x
    leaves = {"x": Tensor(x, True), "w": Tensor(1.5, True), "b": Tensor(0.5, True)}
    y = neuron(**leaves)
    y.backward()
    said = lines(ui)
    for name, leaf in leaves.items():
        assert said[name] == f"{name}: value {number(leaf.item())}, gradient {number(leaf.grad)}"
    assert said["y"].startswith(
        f"y = tanh(z): value {number(y.item())}, gradient 1; local gradients: z {number(1 - y.item() ** 2)}"
    )
    assert f">{y.item():.4g}<".replace("-", "−") in ui.picture.html


def test_the_expression_runs_once_for_each_picture():
    runs = []
    ui = live_graph(lambda x: runs.append(1) or x * 2.0, x=(-3, 3, 0.7))
    assert len(runs) == 1
    ui.sliders["x"].value = 1.0
    assert len(runs) == 2


def test_it_is_displayed_without_a_click_and_without_a_kernel():
    ui = live_graph(neuron, **SLIDERS)
    bundle = ui._repr_mimebundle_()
    assert "<svg" in bundle["text/html"] and "y = tanh(z)" in bundle["text/plain"]


def test_a_graph_is_placed_once(monkeypatch):
    calls = []
    monkeypatch.setattr(
        graph, "_dot", lambda *args, dot=graph._dot: calls.append(args) or dot(*args)
    )
    graph._place.cache_clear()
    ui = live_graph(neuron, **SLIDERS)
    drawn, first = len(calls), ui.picture.html
    for x in (-3.0, 1e-3, 2.25):
        ui.sliders["x"].value = x
    assert drawn and len(calls) == drawn and ui.picture.html != first


def test_other_control_flow_is_another_graph():
    def f(x):
        if x > 0:
            y = ag.exp(x) * x
        else:
            y = ag.tanh(x)
        return y

    ui = live_graph(f, x=(-3.0, 3.0, 0.5, 1.0))
    assert "y = multiply(n1, x)" in ui.picture.text
    ui.sliders["x"].value = -1.0
    assert "y = tanh(x): value −0.7616, gradient 1; local gradients: x 0.42" in ui.picture.text
    assert "exp" not in ui.picture.html


def test_the_choices_follow_the_graph():
    def f(x, c):
        if x > 0:
            y = ag.exp(x) * c
        else:
            y = ag.tanh(c) + x
        return ag.sum(y)

    ui = live_graph(f, x=(-3.0, 3.0, 0.5, 1.0), c=np.array([2.0, 1.0]))
    ui.sliders["show:"].value = "y = multiply"
    assert "Value of y:\n[5.4366 2.7183]" in ui.picture.text
    ui.sliders["x"].value = -1.0
    assert ui.sliders["show:"].value == "nothing" and "y = multiply" not in [
        choice for _, choice in ui.sliders["show:"].options
    ]
    ui.sliders["show:"].value = "c"
    ui.sliders["x"].value = 1.0
    assert ui.sliders["show:"].value == "c" and "Value of c:" in ui.picture.text, (
        "a choice that is still there is kept"
    )


def test_an_error_is_shown_and_raised():
    def f(x):
        if x > 1:
            raise ZeroDivisionError("the learner's own")
        return x * 2

    ui = live_graph(f, x=(-3.0, 3.0, 0.5, 0.0))
    with pytest.raises(ZeroDivisionError):
        ui.sliders["x"].value = 2.0
    assert any(
        "the learner&#x27;s own" in child.value for child in ui.children if hasattr(child, "value")
    )
    ui.sliders["x"].value = 0.5
    assert "<svg" in ui.picture.html
    with pytest.raises(ZeroDivisionError):
        live_graph(f, x=(-3.0, 3.0, 0.5, 2.0))


# --- Names --------------------------------------------------------------------------------------------------------------

SHARED = Tensor(3.0, requires_grad=True)


def test_names_are_those_of_f_as_it_returns():
    def f(x):
        h = x * 2.0
        for _ in range(2):
            h = h * SHARED
        named = h + x
        named.name = "its own"
        return named

    ui = live_graph(f, x=(-3, 3, 0.7))
    assert list(lines(ui))[1:] == ["x", "n1", "SHARED", "n2", "h", "its own"]
    assert SHARED.name is None and SHARED.grad is None

    def g(x):
        scale = SHARED
        return x * scale

    assert "scale: value 3" in live_graph(g, x=(-3, 3, 0.7)).picture.text


def test_an_argument_keeps_its_name_though_f_uses_it_again():
    def f(x):
        for _ in range(2):
            x = x * 2.0
        return x

    assert re.findall(
        r"^(\w+)(?: =|:)", live_graph(f, x=(-3, 3, 0.7)).picture.text, re.MULTILINE
    ) == ["x", "n1", "x"]


def test_a_profiler_is_restored():
    heard = []

    def profiler(frame, event, arg):
        heard.append(event)

    def fails(x):
        raise ValueError

    before = sys.getprofile()
    try:
        sys.setprofile(profiler)
        live_graph(neuron, **SLIDERS)
        assert sys.getprofile() is profiler
        with pytest.raises(ValueError):
            live_graph(fails, x=(0, 1, 0.5))
        assert sys.getprofile() is profiler
    finally:
        sys.setprofile(before)
    assert heard
    live_graph(neuron, **SLIDERS)
    assert sys.getprofile() is before


# --- What an argument may be --------------------------------------------------------------------------------------------


def test_kinds_of_arguments():
    got = {}

    def f(**given):
        got.update(given)
        return (
            given["act"](given["x"] * given["c"]) * given["n"]
            + ag.sum(given["a"])
            + given["k"].sum()
            + ag.sum(given["d"])
        )

    live_graph(
        f,
        x=(-3, 3, 1),
        c=[1, 10],
        n=range(1, 4),
        act=ag.tanh,
        a=np.ones(2),
        k=np.arange(3),
        d=Tensor(np.ones(2)),
    )
    assert {name: type(value).__name__ for name, value in got.items() if name != "act"} == {
        "x": "Tensor",
        "c": "Tensor",
        "n": "int",
        "a": "Tensor",
        "k": "ndarray",
        "d": "Tensor",
    }
    assert [got[name].requires_grad for name in "xcad"] == [True, True, True, False] and got[
        "x"
    ].dtype == float


def test_rows_and_arguments_in_order():
    assert "n1 = tanh(x)" in live_graph(ag.tanh, x=(-3, 3, 0.5)).picture.text
    assert "n1 = divide(u, v)" in live_graph(ag.divide, u=(-3, 3, 0.5), v=(1, 3, 2)).picture.text
    assert (
        "value 0.5"
        in live_graph(lambda b, a: a / b, a=(0, 3, 1), b=(1, 3, 2)).picture.text.splitlines()[-1]
    ), "by name, not by place"


def test_live_graph_refusals():
    with pytest.raises(ValueError, match="x: expected .min, max, start.*got 3"):
        live_graph(ag.tanh, x=3)
    with pytest.raises(TypeError, match="expected a function that returns one Tensor.*got float64"):
        live_graph(lambda x: x.data * 2.0, x=(-3, 3, 0.5))
    with pytest.raises(TypeError, match="got b; pass the function that computes the Tensor"):
        live_graph(Tensor(1.0, True) * 2.0, b=(0, 1, 0.5))
    with pytest.raises(TypeError, match="expected a function .*got 3.0"):
        live_graph(3.0)
    with pytest.raises(TypeError, match="checkpoint"):
        live_graph(ag.checkpoint(ag.tanh)(Tensor(1.0, True)))


def test_a_value_that_is_no_number_is_said_without_a_warning(recwarn):
    ui = live_graph(ag.log, x=(-3.0, 3.0, 0.5, 1.0))
    ui.sliders["x"].value = -1.0
    assert "value nan" in ui.picture.text and not recwarn.list


# --- Arrays -------------------------------------------------------------------------------------------------------------


def test_an_entry_of_an_array_can_be_moved():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])

    def f(x, w):
        return ag.sum(x * x) * w

    ui = live_graph(f, x=x, w=(-3.0, 3.0, 2.0))
    ui.sliders["show:"].value = "x"
    assert (
        "Value of x:\n[[1. 2.]\n [3. 4.]]\nGradient of x:\n[[ 4.  8.]\n [12. 16.]]"
        in ui.picture.text
    )
    ui.sliders["entry:"].value = "x[1, 0]"
    ui.sliders["by:"].value = -1.0
    assert (
        "Gradient of x:\n[[ 4.  8.]\n [ 8. 16.]]" in ui.picture.text
        and "x[1, 0] = 3 moved by -1 to 2" in ui.picture.text
    )
    ui.sliders["entry:"].value = "x[0, 0]"
    assert "Gradient of x:\n[[ 0.  8.]\n [12. 16.]]" in ui.picture.text, (
        "the others are as they were given"
    )
    assert "[12. 16.]]</pre>" in ui.picture.html, "seen without opening the words"
    np.testing.assert_array_equal(x, [[1, 2], [3, 4]])


def test_a_large_array_offers_its_first_entries():
    ui = live_graph(lambda x, y: ag.sum(x) + ag.sum(y), x=np.zeros((500, 500)), y=np.ones(3))
    assert [choice for _, choice in ui.sliders["entry:"].options][98:] == [
        "x[0, 98]",
        "x[0, 99]",
        "y[0]",
        "y[1]",
        "y[2]",
    ]
    assert "Only the first 100 entries of x can be moved." in ui.picture.text
    ui.sliders["show:"].value = "x"
    assert "..." in ui.picture.text and len(ui.picture.text) < 3000


# --- A Tensor computed already ------------------------------------------------------------------------------------------


def test_a_computed_tensor_moves_with_its_leaves():
    x, w, c = Tensor(0.7, True), Tensor(np.float32(-4.0), True, name="weight"), Tensor(2.0)
    h = x * w + c
    for _ in range(2):
        h = ag.tanh(h) * x
    before = x.data.copy()
    ui = live_graph(h)
    assert list(ui.sliders) == ["x", "weight", "c"], "nothing to show where all are numbers"
    assert ui.sliders["x"].value == 0.7 and ui.sliders["weight"].value == -4.0
    ui.sliders["x"].value = 1.25
    y = Tensor(1.25, True)
    g = y * w.detach() + c
    for _ in range(2):
        g = ag.tanh(g) * y
    g.backward()
    assert lines(ui)["x"] == f"x: value 1.25, gradient {number(y.grad)}"
    assert lines(ui)["h"].startswith(f"h = multiply(n5, x): value {number(g.item())}, gradient 1; ")
    assert (
        x.data == before
        and (x.grad, w.grad, h.grad, x.name, h.name) == (None,) * 5
        and w.name == "weight"
    )


def test_a_slider_stands_where_the_value_was():
    for value in (0.0, 0.68181, -4.0, 1e-7, 123456.0):
        leaf = Tensor(value, True)
        slider = live_graph(leaf * 2.0).sliders["leaf"]
        steps = (slider.value - slider.min) / slider.step
        assert (
            slider.value == value
            and steps == pytest.approx(round(steps))
            and slider.max - slider.min >= 2 * abs(value)
        )


def test_a_computed_tensors_if_goes_as_it_went():
    x = Tensor(1.0, True)
    y = x * 2.0 if x > 0 else x * 3.0
    ui = live_graph(y)
    ui.sliders["x"].value = -0.5
    assert "y = multiply(x, 2): value −1" in ui.picture.text


def test_a_computed_tensor_of_arrays():
    W, X = Tensor(np.ones((3, 2)), True), Tensor(np.ones((4, 3)))
    loss = ag.mean(X @ W, axis=0)[1]
    ui = live_graph(loss)
    assert set(ui.sliders) == {"entry:", "by:", "show:"}
    ui.sliders["entry:"].value = "W[0, 1]"
    ui.sliders["by:"].value = 1.0
    assert (
        lines(ui)["loss"].startswith("loss = getitem(n2, index=1): value 4, gradient 1")
        and W.data.sum() == 6
    )


def test_leaves_without_names_have_sliders_too():
    ui = live_graph(ag.stack([Tensor(1.0, True), Tensor(2.0, True)]).sum())
    assert list(ui.sliders) == ["leaf 1", "leaf 2", "show:"]
    ui.sliders["leaf 2"].value = 3.0
    assert "leaf 2: value 3, gradient 1" in ui.picture.text


# --- Modules ------------------------------------------------------------------------------------------------------------


def loss_of(model, data):
    p = model(data)
    err = p - 1.0
    L = ag.mean(err * err)
    return L


def folded(sizes=(2, 8, 8, 1), **more):
    return live_graph(
        loss_of,
        model=nn.MLP(list(sizes), rng=0),
        data=np.random.default_rng(0).normal(size=(5, 2)),
        **more,
    )


def test_a_big_graph_starts_with_its_modules_as_boxes():
    ui = folded()
    whole = nn.MLP([2, 8, 8, 1], rng=0)
    data = Tensor(np.random.default_rng(0).normal(size=(5, 2)), True)
    loss = loss_of(whole, data)
    loss.backward()
    box = lines(ui)["p"]
    assert (
        box.startswith("p = model(data): value (5, 1) ")
        and "MLP: (5, 2) → (5, 1); 17 values inside" in box
    )
    assert f"passed on: data (5, 2) {number(data.grad.min())} … {number(data.grad.max())}" in box
    assert "Folded: model (17 values). Choose one under “open:” to see inside." in ui.picture.text
    assert (
        "MLP: (5, 2) → (5, 1)" in ui.picture.html
        and "17 values inside" in ui.picture.html
        and "model.layers" not in ui.picture.html
    )
    assert lines(ui)["L"].startswith(f"L = mean(n1): value {loss.item():.4g}")


def test_opening_a_module_opens_what_it_is_in():
    ui = folded()
    assert [choice for _, choice in ui.sliders["open:"].options] == [
        "nothing",
        "model",
        "model.layers.0",
        "model.layers.2",
        "model.layers.4",
        "everything",
    ]
    ui.sliders["open:"].value = "model"
    assert [line for line in lines(ui) if "model" in line] == [] and ui.picture.text.count(
        "values inside"
    ) == 3
    ui.sliders["open:"].value = "model.layers.2"
    assert ui.picture.text.count("values inside") == 2 and "model.layers.2.weight" in lines(ui)
    assert "Folded: model.layers.0 (5 values), model.layers.4 (5 values)." in ui.picture.text
    ui.sliders["open:"].value = "everything"
    assert (
        "values inside" not in ui.picture.text
        and "Folded" not in ui.picture.text
        and "22 values" in ui.picture.text
    )
    ui.sliders["open:"].value = "nothing"
    assert "17 values inside" in ui.picture.text


def test_a_small_graph_starts_open_and_can_be_folded():
    unit = nn.Neuron(2, ag.tanh, rng=0)
    ui = live_graph(unit, x=np.ones(2))
    assert "unit.weight" in lines(ui) and ui.sliders["open:"].value == "everything"
    ui.sliders["open:"].value = "nothing"
    assert (
        "n1 = unit(x): value" in ui.picture.text
        and "Neuron: (2,) → (); 8 values inside" in ui.picture.text
    )


def test_boxes_between_numbers_say_what_passes():
    class Twice(nn.Module):
        def __init__(self):
            self.by = Tensor(2.0, requires_grad=True)

        def forward(self, x):
            return ag.tanh(x * self.by) * x

    twice = Twice()
    ui = live_graph(lambda x: twice(twice(x)), x=(-3, 3, 0.5))
    ui.sliders["open:"].value = "nothing"
    x = Tensor(0.5, True)
    twice(twice(x)).backward()
    assert lines(ui)["x"] == f"x: value 0.5, gradient {x.grad:.4g}"
    assert lines(ui)["twice.by"] == f"twice.by: value 2, gradient {twice.by.grad:.4g}", (
        "shared by two calls, so outside both"
    )
    assert f"passed on: x {x.grad:.4g}, " in lines(ui)["n1"], (
        "both ways through the box, in one arrow"
    )
    assert (
        across(ui.picture).count(">passes ") == 4 and ui.picture.text.count("3 values inside") == 2
    )
    twice.by.grad = None


def test_a_module_with_two_results_is_not_folded():
    class Both(nn.Module):
        def forward(self, x):
            return ag.tanh(x), ag.exp(x)

    both = Both()

    def f(x):
        s, e = both(x)
        return s * e

    ui = live_graph(f, x=(-3, 3, 0.5))
    ui.sliders["open:"].value = "nothing"
    assert "s = tanh(x)" in ui.picture.text and "inside" not in ui.picture.text


def test_too_many_nodes_are_listed_and_why():
    def f(x):
        for _ in range(200):
            x = ag.tanh(x)
        return x

    ui = live_graph(f, x=(-3, 3, 0.5))
    assert (
        "<svg" not in ui.picture.html
        and "more than 150 values" in ui.picture.text
        and "n199 = tanh(n198)" in ui.picture.text
    )
    assert "n199 = tanh(n198)" in ui.picture.html, "also without a kernel"


@pytest.mark.parametrize("value", [np.nan, np.inf, np.array([1.0, -np.inf])])
def test_a_leaf_where_no_slider_can_stand_is_named(value):
    k = Tensor(value, True)
    with pytest.raises(ValueError, match="live_graph: k contains nan or inf"):
        live_graph(ag.tanh(k) * 2)
