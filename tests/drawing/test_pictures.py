"""Pictures, sliders and plots: each has the same content in words, and nothing is cut off."""

import re
from html import unescape
from pathlib import Path

import ipywidgets
import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawn import SVG, hard_to_read, svg_of, words_in

from autograd_course import Picture, explore, moons
from autograd_course.drawing import landscapes, style
from autograd_course.drawing.axes import Axes
from autograd_course.drawing.blocks import broadcast_blocks
from autograd_course.drawing.formatting import counted, number, words
from autograd_course.drawing.landscapes import boundary, landscape, plane
from autograd_course.drawing.picture import figure, svg
from autograd_course.lessons.lesson_06.drawings import chessboard
from autograd_course.lessons.lesson_12.drawings import confusion, misread
from autograd_course.widgets import sliders


def line(x=1.0):
    fig, ax = figure()
    ax.plot([0, x], **style.gradient)
    return Picture.of(fig, f"a line to {x} & <back>\nsecond line")


def test_picture_of_a_figure():
    picture = line()
    root = svg_of(picture)
    assert root.find("{*}g/{*}title").text == "a line to 1.0 & <back>"
    assert style.PAPER in picture.html.partition("<svg")[0], (
        "opaque, so that it can be read in the dark theme too"
    )
    assert repr(picture) == picture.text and picture._repr_html_() == style.SHEET + picture.html
    assert not plt.get_fignums(), "the figure is closed"


def test_on_a_phone_a_wide_drawing_keeps_its_words_within():
    """A text that starts or ends near the edge moves inward on a phone; a text in the middle
    stays.

    Unmoved, the first text would stick out on the right and the third on the left. A picture that a
    phone shows whole is unchanged.
    """
    said = [
        words(700, 20, "begins here", anchor="start"),
        words(400, 40, "stays"),
        words(60, 60, "in the middle"),
    ]
    drawn = svg("0 0 800 80", "".join(said), "three")
    assert [bool(re.search(rf"--by[^>]*>{text}", drawn)) for text in ("begins", "stays", "in")] == [
        True,
        False,
        True,
    ]
    assert not hard_to_read(drawn) and any(
        "phone" in fault for fault in hard_to_read(re.sub("--by.*?px", "--by:0px", drawn))
    )
    assert "--by" not in svg("0 0 800 40", words(600, 20, "z (3, 3), (4)", anchor="start"), ""), (
        "signs and spaces are narrow"
    )
    beside = svg("0 0 800 80", words(60, 60, "≤ 0.25", anchor="end"), "")
    assert hard_to_read(beside) == {"over its axis (phone): ≤ 0.25"}
    assert 'class="drawn wide"' in drawn and 'class="drawn"' in svg("0 0 400 80", "", "narrow")


def test_no_style_sheet_redefines_the_variables_of_a_pictures_width():
    """Regression: a colour --edge in site.css invalidated the min-width of pictures, and letters
    shrank to 9 px on medium screens.
    """
    mine = set(re.findall(r"var\(--([\w-]+)", svg("0 0 900 50", "", "wide"))) - style.PALETTE.keys()
    sheet = (Path(__file__).parents[2] / "web/site.css").read_text(encoding="utf-8")
    ours = re.findall(r"--([\w-]+):", "".join(re.findall(r":root \{([^}]*)", sheet)))
    assert mine and "read" in ours and not mine & set(ours)


def test_roles_differ_in_more_than_colour():
    looks = [style.value, style.gradient, style.tangent, style.difference]
    assert len({(look["linestyle"], look.get("marker")) for look in looks}) == len(looks)


@pytest.mark.parametrize(
    "x, text",
    [
        (0.0, "0"),
        (-0.0, "0"),
        (12.0, "12"),
        (1 / 3, "0.3333"),
        (1.5e-7, "1.5e−7"),
        (-2e12, "−2e12"),
        (3e7, "3e7"),
        (-12000, "−12,000"),
        (9999.7, "10,000"),
        (123456.7, "123,457"),
        (np.inf, "inf"),
    ],
)
def test_number(x, text):
    assert number(x) == text


def test_counted():
    said = [counted(n, what) for n, what in [(0, "step"), (1, "step"), (2, "step"), (1437, "pass")]]
    assert said == ["0 steps", "1 step", "2 steps", "1,437 passes"]


def echo(**values):
    return Picture(f"<p>{values}</p>", f"{values}")


def shown(ui):
    view, words = ui.children[-2:]
    return view.value, words.value


def test_explore_draws_at_once_and_follows_every_control():
    ui = explore(echo, x=(-1.0, 1.0, 0.1, 0.5), n=(1, 5, 1, 2), h=[1, 0.1], name=["sin", "cos"])
    assert ui.picture.text == "{'x': 0.5, 'n': 2, 'h': 1, 'name': 'sin'}"
    for name, value in {"x": -0.25, "n": 4, "h": 0.1, "name": "cos"}.items():
        before = shown(ui)
        ui.sliders[name].value = value
        assert all(new != old for new, old in zip(shown(ui), before)), name
    assert ui.picture.text == "{'x': -0.25, 'n': 4, 'h': 0.1, 'name': 'cos'}"
    assert all(str(value) in text for text in shown(ui) for value in (-0.25, 4, 0.1, "cos"))


def announced(ui):
    """Return the lines in the live region, which comes last below the picture, after the whole
    text.
    """
    found = re.fullmatch(
        r"<pre [^>]*>(.*)</pre><div aria-live=\"polite\"[^>]*>(.*)</div>",
        unescape(shown(ui)[1]),
        re.DOTALL,
    )
    text, region = found.groups()
    assert text == ui.picture.text
    return region.splitlines()


def test_words_that_the_drawing_says_too_are_folded_and_stay_so_when_it_moves():
    assert not any(
        "<details" in str(child.get_state().get("value"))
        for child in explore(echo, x=(0, 9, 4)).children
    )
    ui = explore(lambda x: Picture(f"<p>{x}</p>", f"{x}", says_all=True), x=(0, 9, 4))
    *_, view, fold, words = ui.children
    before = fold.value
    assert "<details><summary>in words</summary>" in before and "in-words" in fold._dom_classes
    ui.sliders["x"].value = 5
    assert fold.value == before and words.value.count("<pre") == 1 and "aria-live" in words.value


def test_only_changed_lines_are_announced():
    ui = explore(lambda x: Picture("", f"always\nx is {x}\nagain\nits half {x // 2}"), x=(0, 9, 4))
    assert announced(ui) == [], "nothing has changed yet"
    ui.sliders["x"].value = 5
    assert announced(ui) == ["x is 5"]
    ui.sliders["x"].value = 6
    assert announced(ui) == ["x is 6", "its half 3"]


@pytest.mark.parametrize(
    "spec, step, kind",
    [
        ((-3.0, 3.0, 0.7), 0.05, "FloatSlider"),
        ((0, 1.0, 0), 0.01, "FloatSlider"),
        ((0.0, 250, 3), 2, "FloatSlider"),
        ((-3, 3, 1), 1, "IntSlider"),
    ],
)
def test_step_of_its_own(spec, step, kind):
    slider = explore(echo, x=spec).sliders["x"]
    assert (slider.min, slider.max, slider.value) == spec
    assert slider.step == pytest.approx(step) and type(slider).__name__ == kind


def test_the_picture_gets_round_numbers():
    ui = explore(echo, x=(-1.0, 1.0, 0.5), h=[1, 1e-16])
    ui.sliders["x"].value = 0.1 + 0.2
    assert ui.picture.text == "{'x': 0.3, 'h': 1}"
    ui.sliders["x"].value, ui.sliders["h"].value = 2.7e-17, 1e-16
    assert ui.picture.text == "{'x': 0.0, 'h': 1e-16}", "a choice stays as it is"


def test_no_picture_is_drawn_twice():
    drawn = []
    ui = explore(lambda x: drawn.append(x) or echo(x=x), x=(0.0, 1.0, 0.7))
    ui.sliders["x"].value = 0.7000000000000002
    assert drawn == [0.7]


def test_frames_play(monkeypatch):
    linked = []
    monkeypatch.setattr(ipywidgets, "jslink", lambda *ends: linked.append(ends))
    ui = explore(echo, step=range(0, 305, 10), x=(0.0, 1.0, 0.5))
    box, slider, button, player = ui.children[0].children
    assert (
        list(ui.players) == ["step"]
        and ui.players["step"] is player
        and ui.sliders["step"] is slider
    )
    for part in (box, slider, player):
        assert (part.min, part.max, part.step, part.value) == (0, 300, 10, 0)
    assert linked == [((player, "playing"), (button, "value"))], "in the browser"
    player.value = 30
    assert (slider.value, box.value, ui.picture.text) == (30, 30, "{'step': 30, 'x': 0.5}")
    slider.value = 40
    assert player.value == 40, "it plays on from there"
    assert (box.description, button.description, button.tooltip) == ("step", "play", "play step")
    box.value = 17
    assert (box.value, slider.value, ui.picture.text) == (20, 20, "{'step': 20, 'x': 0.5}"), (
        "a number between two frames"
    )


def test_frames_are_announced_once_they_stop():
    ui = explore(echo, step=range(5))
    player = ui.players["step"]
    player.playing = True
    assert ui.children[0].children[2].description == "pause"
    for step in (1, 2, 3):
        ui.sliders["step"].value = step
        assert announced(ui) == []
    player.playing = False
    assert announced(ui) == ["{'step': 3}"] and ui.children[0].children[2].description == "play"


def test_frames_play_in_colab(monkeypatch):
    """Colab has ipywidgets 7, where the trait `playing` of version 8 has another name."""

    class Seven(ipywidgets.Play):
        _playing = type(ipywidgets.Play.playing)().tag(sync=True)

    monkeypatch.setattr(ipywidgets, "Play", Seven)
    monkeypatch.setattr(sliders, "PLAYING", "_playing")
    ui = explore(echo, step=range(5))
    ui.players["step"]._playing = True
    ui.sliders["step"].value = 3
    assert announced(ui) == [] and ui.children[0].children[2].description == "pause"
    ui.players["step"]._playing = False
    assert announced(ui) == ["{'step': 3}"]


@pytest.mark.parametrize("frames, pace", [(4, 1000), (40, 200), (300, 100)])
def test_pace_of_the_frames(frames, pace):
    assert explore(echo, step=range(frames)).players["step"].interval == pace


@pytest.mark.parametrize(
    "spec",
    [
        (1, 2),
        (0, 1, 5),
        (0, 1, 0.1, -1),
        range(0),
        range(5, 0, -1),
        3,
        [],
        (1.0, 1.0, 1.0),
        (0.0, np.inf, 1.0),
        (0.0, 1.0, np.nan),
        (0, 1, 0, 0),
        "x",
    ],
)
def test_a_wrong_spec_is_named(spec):
    with pytest.raises(ValueError, match=f"^explore: x: .*{re.escape(repr(spec))}"):
        explore(echo, x=spec)


def test_number_box_and_slider_are_one():
    ui = explore(echo, x=(-1.0, 1.0, 0.1, 0.5), n=(1, 5, 1, 2))
    for row, value in zip(ui.children, [0.3, 5]):
        box, slider = row.children
        box.value = value
        assert slider.value == value
        slider.value = box.min
        assert box.value == box.min
    assert isinstance(ui.sliders["n"], ipywidgets.IntSlider) and isinstance(
        ui.sliders["x"], ipywidgets.FloatSlider
    )
    box, slider = ui.children[0].children
    slider.value = 0.1 + 0.2
    assert box.value == 0.3


def test_every_control_has_a_name():
    ui = explore(
        echo,
        x=(0.0, 1.0, 0.1, 0.5),
        h=[1, 0.1, 1e-2, 1e-3, 1e-4],
        name=[*"abcde"],
        side=["left", "right"],
    )
    x, h, name, side = ui.children[:4]
    assert [x.children[0].description, h.children[0].description, name.description] == [
        "x",
        "h",
        "name",
    ]
    h.children[0].value = 0.1
    assert ui.sliders["h"].value == 0.1
    (own,) = set(side.children[0]._dom_classes) - {"toggle", "widget-inline-hbox"}
    assert side.children[0].description == "side"
    assert f'.{own} .widget-radio-box label::before{{content:"side "' in side.children[1].value


@pytest.mark.parametrize(
    "spec, stops, start, said",
    [
        ((0, 2, 1), [0, 1, 2], 1, "0 1 2"),
        ((0.0, 1.5, 0.5, 0.5), [0.0, 0.5, 1.0, 1.5], 0.5, "0 0.5 1 1.5"),
        ((0.0, 1.0, 0.5, 0.7), [0.0, 0.5, 0.7, 1.0], 0.7, "0 0.5 0.7 1"),
        ([1, 1e-5], [1, 1e-5], 1, "1 1e−5"),
        ([True, False], [True, False], True, "True False"),
        ([(2, 3), ()], [(2, 3), ()], (2, 3), "(2, 3) ()"),
        (["cos", "sin", "exp", "log"], ["cos", "sin", "exp", "log"], "cos", "cos sin exp log"),
    ],
)
def test_few_stops_are_seen_at_once(spec, stops, start, said):
    ui = explore(echo, x=spec)
    radios = ui.sliders["x"]
    assert isinstance(radios, ipywidgets.RadioButtons) and radios.orientation == "horizontal"
    assert (
        ui.positions() == {"x": stops}
        and ui.values() == {"x": start}
        and " ".join(radios._options_labels) == said
    )
    for at, stop in enumerate(stops):
        radios.index = at  # as a mouse press does
        assert ui.picture.text == str({"x": stop})
        radios.index = (at + 1) % len(stops)
        radios.value = stop
        assert ui.picture.text == str({"x": stop}) and radios.index == at


@pytest.mark.parametrize(
    "spec", [(0, 4, 1), (0.0, 2.0, 0.5, 0.5), range(3), [1, 2, 3, 4, 5], [*"abcde"]]
)
def test_more_stops_and_frames_keep_their_control(spec):
    assert not isinstance(explore(echo, x=spec).sliders["x"], ipywidgets.RadioButtons)


def test_explore_escapes_the_text():
    ui = explore(lambda x: Picture("<b>bold</b>", "a < b"), x=(0.0, 1.0, 0.1, 0.5))
    assert shown(ui)[0] == "<b>bold</b>" and "a &lt; b" in shown(ui)[1]


def test_static_twin_stands_beside_the_widget():
    bundle = explore(echo, x=(0.0, 1.0, 0.1, 0.5))._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/html"] == "<p>{'x': 0.5}</p>" and bundle["text/plain"] == "{'x': 0.5}"


def inverse(x):
    return echo(y=1 / x)


def test_an_error_in_the_picture_surfaces():
    with pytest.raises(ZeroDivisionError):
        explore(inverse, x=(-1, 1, 1, 0))
    ui = explore(inverse, x=(-1, 1, 1, 1))
    with pytest.raises(ZeroDivisionError):
        ui.sliders["x"].value = 0
    assert "ZeroDivisionError" in shown(ui)[0] and not shown(ui)[1]
    ui.sliders["x"].value = -1
    assert "-1.0" in shown(ui)[0]


def test_confusion():
    true, read = np.array([0, 0, 1, 9, 9, 9]), np.array([0, 1, 1, 4, 4, 9])
    picture = confusion(true, read)
    svg_of(picture)
    assert picture.text == "3 of 6 read right. Wrong: 9 read as 4: 2, 0 read as 1: 1."
    assert confusion(true, true).text == "6 of 6 read right."


def test_misread_shows_the_surest_first():
    images, true = np.zeros((3, 64)), np.array([1, 2, 3])
    probabilities = np.full((3, 10), 0.01)
    probabilities[0, 7], probabilities[1, 8], probabilities[2, 3] = 0.6, 0.9, 0.8
    picture = misread(images, true, probabilities)
    svg_of(picture)
    assert picture.text == (
        "2 misread; most confident first: 2 read as 8 with 90 %, its true digit had 1.0 %; "
        "1 read as 7 with 60 %, its true digit had 1.0 %."
    )
    assert "most confident first: 2 read as 8" in misread(images, true, probabilities, most=1).text
    assert misread(images[2:], true[2:], probabilities[2:]).text == "No image was misread."


# --- blocks -------------------------------------------------------------------------------------------------------------

X, B = np.array([[1, 2, 3], [4, 5, 6]]), np.array([10, 20, 30])
GHOST, OWN, FRAME = {"stroke-dasharray": "2 3"}, {"stroke": style.VALUE}, {"stroke-width": "3"}


def cells(picture, **look):
    """Return the number of rectangles with these attributes."""
    return sum(
        all(rect.get(name) == value for name, value in look.items())
        for rect in svg_of(picture).iter(f"{SVG}rect")
    )


def test_broadcast_repeats_a_row():
    picture = broadcast_blocks("+", x=X, b=B, pick=1)
    assert picture.text.splitlines() == [
        "x (2, 3) + b (3,) gives shape (2, 3)",
        "x = [[1, 2, 3], [4, 5, 6]]",
        "b = [10, 20, 30], repeated 2 times along axis 0 of x + b",
        "x + b = [[11, 22, 33], [14, 25, 36]]",
        "b[1] reaches 2 cells of x + b: [0, 1], [1, 1]",
    ]
    assert (
        cells(picture, **GHOST) == 3
        and cells(picture, **OWN) == 6 + 3 + 6
        and cells(picture, **FRAME) == 2 + 2
    )
    assert words_in(picture).count("20") == 2 and "(3,) → (2, 3)" in words_in(picture)


@pytest.mark.parametrize(
    "sign, shown, arrays, ghosts, line",
    [
        (
            "*",
            "·",
            {"u": np.array([[1], [2]]), "v": B},
            4 + 3,
            "u · v = [[10, 20, 30], [20, 40, 60]]",
        ),
        ("-", "−", {"x": X, "c": 0.5}, 5, "x − c = [[0.5, 1.5, 2.5], [3.5, 4.5, 5.5]]"),
        (
            "/",
            "/",
            {"x": np.ones((2, 2, 3)), "b": np.array([[2.0], [4.0]])},
            10,
            "x / b = [[[0.5, 0.5, 0.5], [0.25, 0.25, 0.25]], [[0.5, 0.5, 0.5], [0.25, 0.25, 0.25]]]",
        ),
    ],
)
def test_broadcasts(sign, shown, arrays, ghosts, line):
    picture = broadcast_blocks(sign, **arrays)
    assert (
        line in picture.text.splitlines()
        and shown in words_in(picture)
        and cells(picture, **GHOST) == ghosts
    )


def test_shapes_alone():
    picture = broadcast_blocks("+", x=(2, 1, 3), b=(4, 1))
    assert picture.text.splitlines() == [
        "x (2, 1, 3) + b (4, 1) gives shape (2, 4, 3)",
        "x has shape (2, 1, 3), repeated 4 times along axis 1 of x + b",
        "b has shape (4, 1), repeated 2 times along axis 0 and 3 times along axis 2 of x + b",
    ]
    assert cells(picture) == 3 * 24 and cells(picture, **GHOST) == 18 + 20
    assert broadcast_blocks("+", x=(3, 1), b=()).text.endswith(
        "b has shape (), repeated 3 times along axis 0 of x + b"
    )
    with pytest.raises(ValueError, match="three axes"):
        broadcast_blocks("+", x=(2, 1, 3, 1), b=(4, 1))


def test_shapes_that_do_not_fit_say_where():
    picture = broadcast_blocks("+", x=(2, 5, 3), b=(4, 2))
    assert picture.text.splitlines() == [
        "x (2, 5, 3) + b (4, 2): these shapes do not fit",
        "✗ the last axis: x has 3, b has 2.",
        "✗ the axis before the last: x has 5, b has 4.",
        "On each axis, the lengths must be equal,",
        "or one of them must be 1.",
    ]
    assert cells(picture) == 30 + 8 and picture.text.splitlines()[1] in words_in(picture)


# --- landscapes ---------------------------------------------------------------------------------------------------------

asked = []


def bowl(x, y):
    asked.append(np.shape(x))
    return x**2 + 4 * y**2


SPAN = ((-2.0, 2.0), (-1.0, 1.0))
PATHS = {
    "SGD": np.array([[-1.5, 0.5], [1.0, 0.5], [0.5, 0.25]]),
    "Adam": np.array([[-1.5, 0.5], [0.5, -0.5], [3.0, 0.0]]),
}


def test_landscape_says_where_every_path_is():
    asked.clear()
    first, second, last = (landscape(bowl, PATHS, SPAN, step) for step in (0, 1, 2))
    assert second.text.splitlines() == [
        "after 1 step; lowest in the picture: 0 at (0, 0)",
        "SGD: at (1, 0.5), value 2",
        "Adam: at (0.5, −0.5), value 1.25",
    ]
    assert last.text.splitlines()[1:] == [
        "SGD: at (0.5, 0.25), value 0.5",
        "Adam: outside the picture, at (3, 0), value 9",
    ]
    assert landscape(bowl, PATHS, SPAN).text == last.text, "without a step: all the way"
    assert [shape for shape in asked if shape] == [(97, 145)], "the contours are drawn once"
    assert {"SGD", "Adam", "after 1 step", "w₁"} <= set(
        words_in(second)
    ) and "Adam, gone" in words_in(last)
    lengths = [
        [len(line.get("points").split()) for line in svg_of(picture).iter(f"{SVG}polyline")]
        for picture in (first, second, last)
    ]
    assert lengths == [[1, 1], [2, 2], [3, 3]]
    dashes = {line.get("stroke-dasharray") for line in svg_of(last).iter(f"{SVG}polyline")}
    assert len(dashes) == 2, "not told apart by colour alone"
    order = ["level" if one.get("paint-order") else one.tag for one in svg_of(last).iter()]
    assert f"{SVG}polyline" not in order[order.index("level") :], (
        "no path over the number of a level"
    )


def test_an_optimizer_has_one_look_in_every_picture():
    """An optimizer has the same colour in a picture of five as in a picture of two."""

    def colour(name, *names):
        picture = svg_of(landscape(bowl, dict.fromkeys(names, PATHS["SGD"]), SPAN))
        return next(text.get("fill") for text in picture.iter(f"{SVG}text") if text.text == name)

    race = "SGD", "momentum", "Nesterov", "RMSprop", "Adam"
    assert (
        colour("RMSprop", "plain", "RMSprop")
        == colour("RMSprop", *race)
        != colour("momentum", *race)
    )
    assert colour("plain, larger lr", "plain", "momentum", "plain, larger lr") == colour(
        "SGD", *race
    )


def test_contours_are_kept_by_the_values_of_the_function(monkeypatch):
    """With a slider, a lesson creates a new function for each frame, so the cache cannot use its
    identity.
    """
    drawn = []
    monkeypatch.setattr(
        landscapes,
        "_field",
        lambda *given, field=landscapes._field: drawn.append(1) or field(*given),
    )
    first, again, other = (
        landscape(lambda x, y: x**2 + k * y**2, PATHS, SPAN).html for k in (0.123, 0.123, 0.124)
    )
    assert first == again != other and len(drawn) == 2


def test_names_of_paths_stand_still_below_the_landscape():
    """The names of five diverged paths fit below the picture, also in a phone's letters, and
    none moves when the paths do.
    """
    paths = {
        name: np.full((2, 2), 9.0)
        for name in ("SGD", "momentum", "plain, larger lr", "RMSprop", "Adam")
    }
    for walk in paths.values():
        walk[0] = 0
    first, last = (landscape(bowl, paths, SPAN, step) for step in (0, 1))
    assert not hard_to_read(first.html) | hard_to_read(last.html)
    assert {f"{name}, gone" for name in paths} <= set(words_in(last)) and set(paths) <= set(
        words_in(first)
    )
    places = [
        [(text.get("x"), text.get("y")) for text in svg_of(picture).iter(f"{SVG}text")]
        for picture in (first, last)
    ]
    assert places[0] == places[1]


@pytest.mark.filterwarnings("error")
def test_a_path_that_runs_away_is_drawn_as_far_as_it_goes():
    wild = np.array([[1.0, 1.0], [-10.0, 10.0], [1e200, -1e200], [np.inf, np.nan]])
    assert landscape(bowl, {"wild": wild}, SPAN, 2).text.endswith("at (1e200, −1e200), value inf")
    picture = landscape(bowl, {"wild": wild}, SPAN)
    assert [len(line.get("points").split()) for line in svg_of(picture).iter(f"{SVG}polyline")] == [
        2
    ]
    assert picture.text.endswith("wild: outside the picture, at (inf, nan), value nan")
    assert "wild, gone" in words_in(picture)


@pytest.fixture
def forty():
    """Return forty points and their classes."""
    return moons(40)


def left_or_right(points):
    return 1 / (1 + np.exp(-5 * points[:, 0]))


def test_boundary_from_recorded_probabilities(forty):
    points, labels = forty
    where = plane(points)
    assert np.array_equal(where[-40:], points)
    picture = boundary(points, labels, left_or_right(where), "After 3 steps")
    right = np.sum((points[:, 0] > 0) == (labels == 1))
    assert picture.text == f"After 3 steps. {right} of 40 points are right."
    assert {"0.25", "0.5", "0.75", "class 0", "class 1"} <= set(words_in(picture))
    line = [path for path in svg_of(picture).iter(f"{SVG}path") if path.get("stroke-width") == "2"]
    xs = [
        float(place.split()[0])
        for place in line[0].get("d")[1:].replace("M", " ").split(" ")
        if "." in place
    ][::2]
    (low, high), (left, _, width, _) = (
        (points[:, 0].min() - 0.4, points[:, 0].max() + 0.4),
        landscapes.BOX,
    )
    assert np.allclose(xs, left + (0 - low) / (high - low) * width, atol=1), (
        "undecided where x is 0"
    )


def test_the_levels_of_a_boundary_leave_the_points_free():
    """Regression: in lesson 06, the label 0.75 covered a point."""
    points, labels = chessboard()
    picture = svg_of(boundary(points, labels, 1 / (1 + np.exp(-2 * plane(points) @ [2, 1])), ""))
    plot = Axes(landscapes.BOX, *landscapes._span(points))
    levels = [
        text
        for text in picture.iter(f"{SVG}text")
        if text.text in ("0.25", "0.5", "0.75") and text.get("stroke")
    ]  # excludes the numbers of the axes
    assert len(levels) == 3
    for level in levels:
        off = np.abs(
            np.transpose(plot.at(*points.T)) - [float(level.get("x")), float(level.get("y")) - 4]
        )
        assert not (off < [6.3 * len(level.text), 11]).all(1).any()


def test_dotted_lines_lie_where_their_formula_is_zero():
    points = np.random.default_rng(0).uniform(-1, 1, (40, 2))
    labels, p = (points[:, 0] > 0).astype(int), np.full(len(plane(points)), 0.9)
    weights = [(1.0, -2.0, 0.3), (0.0, 1.0, 0.5), (1.0, 1.0, 50.0)]  # the last is outside
    plain, picture = (boundary(points, labels, p, "", dotted=lines) for lines in ([], weights))
    assert "Dotted" not in plain.text and picture.text.endswith(" Dotted lines: 3.")
    drawn = re.findall(r'<path d="M([^"]*)"[^>]*stroke-dasharray="1.5 4"', picture.html)
    low, high = points.min(0) - 0.4, points.max(0) + 0.4
    for (w1, w2, b), line in zip(weights, drawn, strict=False):
        places = np.reshape(re.findall(r"[\d.]+", line), (-1, 2)).astype(float)
        across = (places - [56, 34]) / [492, 328] * [1, -1] + [0, 1]
        x1, x2 = (low + (high - low) * across).T
        np.testing.assert_allclose(w1 * x1 + w2 * x2 + b, 0, atol=0.01)
    assert len(drawn) == 2


def test_boundary_of_a_model_that_knows_one_class(forty):
    points, labels = forty
    picture = boundary(points, labels, np.full(len(plane(points)), 0.9), "At the start")
    assert picture.text == "At the start. 20 of 40 points are right."
    assert not {"0.25", "0.75"} & set(words_in(picture))


def test_boundary_with_pull(forty):
    points, labels = forty
    p = left_or_right(plane(points))
    pull = np.abs(p[-40:] - labels)
    rows = boundary(points, labels, p, "After 3 steps", pull).text.splitlines()
    hardest = np.argsort(-pull)[0]
    assert (
        len(rows) == 7
        and rows[2].split()
        == (
            f"( {points[hardest][0]:.2f}, {points[hardest][1]:.2f}) class {labels[hardest]} "
            f"pull {pull[hardest]:.2f} wrong side"
        )
        .replace("( -", "(-")
        .split()
    )


def test_a_name_is_text_and_no_tag():
    picture = broadcast_blocks("+", **{"<img src=x onerror=alert(1)>": X, "b": np.ones(3)})
    assert "<img" not in picture.html and any("<img" in words for words in words_in(picture))
    assert "<img" not in broadcast_blocks("+", **{"<img>": X, "b": np.ones((4, 5))}).html
