"""Pictures, sliders and plots: something to see, the same in words, and nothing lost on the way."""
import re
import xml.etree.ElementTree as ET

import ipywidgets
import matplotlib.pyplot as plt
import numpy as np
import pytest

from autograd_lib.course import Picture, confusion, explore, misread, style
from autograd_lib.course.picture import figure


def svg_of(picture):
    """The one SVG of a picture, parsed: an error in its text, such as a bare <, would be an error here."""
    found = re.findall(r"<svg.*?</svg>", picture.html, re.DOTALL)
    assert len(found) == 1
    root = ET.fromstring(found[0])
    title = root.find("{http://www.w3.org/2000/svg}title")
    assert root.get("role") == "img" and title.text and root.get("aria-label").split() == picture.text.split()
    return root


def line(x=1.0):
    fig, ax = figure()
    ax.plot([0, x], **style.gradient)
    return Picture.of(fig, f"a line to {x} & <back>\nsecond line")


def test_picture_of_a_figure():
    picture = line()
    root = svg_of(picture)
    assert root.find("{http://www.w3.org/2000/svg}title").text == "a line to 1.0 & <back>"
    assert style.PAPER in picture.html.partition("<svg")[0], "opaque, so that it can be read in the dark theme too"
    assert repr(picture) == picture.text and picture._repr_html_() == picture.html
    assert not plt.get_fignums(), "the figure is closed"


def test_roles_differ_in_more_than_colour():
    looks = [style.value, style.gradient, style.tangent, style.difference]
    assert len({(look["linestyle"], look.get("marker")) for look in looks}) == len(looks)


@pytest.mark.parametrize("x, text", [(0.0, "0"), (-0.0, "0"), (12.0, "12"), (1 / 3, "0.3333"), (1.5e-7, "1.5e-7"),
                                     (-2e12, "-2e+12"), (3e7, "3e+7")])
def test_number(x, text):
    assert style.number(x) == text


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


def test_number_box_and_slider_are_one():
    ui = explore(echo, x=(-1.0, 1.0, 0.1, 0.5), n=(1, 5, 1, 2))
    for row, value in zip(ui.children, [0.3, 5]):
        box, slider = row.children
        box.value = value
        assert slider.value == value
        slider.value = box.min
        assert box.value == box.min
    assert isinstance(ui.sliders["n"], ipywidgets.IntSlider) and isinstance(ui.sliders["x"], ipywidgets.FloatSlider)
    box, slider = ui.children[0].children
    slider.value = 0.1 + 0.2
    assert box.value == 0.3


def test_every_control_has_a_name():
    ui = explore(echo, x=(0.0, 1.0, 0.1, 0.5), h=[1, 0.1], name=["sin", "cos"])
    row, h, name = ui.children[:3]
    assert [row.children[0].description, h.description, name.description] == ["x", "h", "name"]
    assert 'aria-live="polite"' in ui.children[-1].value


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
    assert picture.text == ("2 misread; surest first: a 2 read as 8 with 90%, its true digit had 1.0%; "
                            "a 1 read as 7 with 60%, its true digit had 1.0%.")
    assert "surest first: a 2 read as 8" in misread(images, true, probabilities, most=1).text
    assert misread(images[2:], true[2:], probabilities[2:]).text == "No image was misread."
