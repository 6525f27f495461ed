"""Lesson 07's pictures show the data they are given."""

import re
import xml.etree.ElementTree as ET
from html import unescape

import numpy as np
import pytest

from autograd_course.lessons.lesson_07.clinic import PATIENTS, Scalar, Unknown, sheet
from autograd_course.lessons.lesson_07.designs import DESIGNS, Cost
from autograd_course.lessons.lesson_07.drawings import (
    case,
    costs,
    duel,
    mystery,
    reading,
    trained,
    two_losses,
    ward,
)


def drawings(picture):
    found = [
        ET.fromstring(one)
        for one in re.findall(r"<svg xmlns=.*?</svg>(?=</div>)", picture.html, re.DOTALL)
    ]
    assert found and all(root.get("role") == "img" and root.get("aria-label") for root in found)
    return found


def words(picture):
    return [
        one.text
        for root in drawings(picture)
        for one in root.iter("{http://www.w3.org/2000/svg}text")
    ]


def test_mystery_is_the_neuron_of_003():
    right, published = mystery()
    assert len(right) == len(published) == 201 and right[0] == published[0] == pytest.approx(
        (np.tanh(2) - 1) ** 2 / 2
    )
    assert right[-1] == pytest.approx(3.2e-4, rel=0.01) and published[-1] == pytest.approx(
        1.0e-5, rel=0.01
    )
    assert np.all(np.diff(right) < 0) and np.all(np.diff(published) < 0)


def test_two_losses_do_not_say_which_is_which():
    picture = two_losses(*mystery())
    assert {"A", "B"} <= set(words(picture)) and not re.search(
        "right|published", picture.html + picture.text
    )
    assert "A: from 6.5e−4 to 3.2e−4. B: from 6.5e−4 to 1.0e−5." in picture.text


def test_trained_goes_downhill():
    assert trained(lambda w, b: 0.0, 1.0) == [(np.tanh(2) - 1) ** 2 / 2] * 201
    losses = trained(
        lambda w, b: -0.5 if w == 1 else 0.0, 1.0
    )  # one step, to w = 1.05 and b = 0.025
    assert losses[1:] == pytest.approx([(np.tanh(2 * 1.05 + 0.025) - 1) ** 2 / 2] * 200)


def test_duel():
    picture = duel(0.4, lambda w, b=0.0: -w, lambda w, b=0.0: 0.0)
    assert "At w = 0.4 the right gradient is −0.4, the published one 0." in picture.text
    stays = (np.tanh(0.8) - 1) ** 2 / 2
    assert (
        f"{stays:.3f} with the published" in picture.text and "0.4407 and −0.4407" in picture.text
    )
    assert {"right", "published", "gradient of w, over w", "loss, trained from w = 0.4"} <= set(
        words(picture)
    )


@pytest.mark.parametrize("name", DESIGNS)
def test_reading_shows_the_code(name):
    picture = reading(name)
    assert "def __mul__(self, other):" in unescape(picture.html) and picture.text.startswith(
        f"{name}: "
    )
    assert (
        "6 lines" in picture.text or name != "stored locals"
    )  # the blank line between the two methods does not count


def test_costs_says_every_number():
    given = {name: Cost(1.5 + k, 200 + k, 10 ** (k % 5)) for k, name in enumerate(DESIGNS)}
    picture = costs(given, dict.fromkeys(DESIGNS, 985), dict.fromkeys(DESIGNS, 36.0), "a graph")
    shown = words(picture)
    for name, cost in given.items():
        line = next(line for line in picture.text.splitlines() if line.startswith(f"{name}: "))
        numbers = [float(text.replace(",", "")) for text in re.findall(r"\d[\d,.]*\d|\d", line)]
        assert numbers == [round(cost.microseconds, 1), cost.bytes, cost.visits, 985, 36]
        assert {name, f"{cost.microseconds:.1f}", str(cost.bytes), f"{cost.visits:,}"} <= set(shown)
    assert len(drawings(picture)) == 4 and picture.text.startswith("a graph, in six designs")


def test_ward_marks_what_is_not_right():
    picture = ward({"ill": sheet(PATIENTS["G"].engine), "well": sheet(Scalar), "?": sheet(Unknown)})
    assert "3·(x·x) at 2, backward twice: gradient of x: right 24; ill 36 ✗" in picture.text
    assert "(−3) ** (x·1) at 2: gradient of x: right nan; ? 0 ✗" in picture.text
    assert (
        picture.text.count("no engine fails") == 6
        and picture.html.count("dashed") == 2
        and picture.html.count("✓") == 8 * 3 - 2
    )
    assert (
        "tanh x at 400: gradient of x: right 0; B error ✗"
        in ward({"B": sheet(PATIENTS["B"].engine)}).text
    )


@pytest.mark.parametrize("letter", PATIENTS)
def test_case_turns_when_fixed(letter):
    patient, ill, healthy = PATIENTS[letter], case(letter), case(letter, "fixed")
    assert ill.text.startswith(f"Patient {letter}, as found.") and ill.text.endswith("✗")
    assert healthy.text.startswith(f"Patient {letter}, fixed.") and healthy.text.endswith("✓")
    for picture, code, mark in [(ill, patient.source, "✗"), (healthy, patient.healthy, "✓")]:
        lines = re.sub(
            "<[^>]+>", "", unescape(re.search(r"<pre.*?</pre>", picture.html, re.DOTALL)[0])
        ).splitlines()
        assert [line[2:] for line in lines] == code.splitlines() and any(
            line.startswith(mark) for line in lines
        )
