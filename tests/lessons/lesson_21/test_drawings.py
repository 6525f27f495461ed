"""Lesson 21's pictures show the data they are given."""

import re
import xml.etree.ElementTree as ET

import pytest

from autograd_course.lessons.lesson_21 import ports
from autograd_course.lessons.lesson_21.drawings import (
    agree,
    chart,
    line_of,
    side_by_side,
    times,
    trained,
    way,
    what_follows,
)
from autograd_course.optional_frameworks import recorded

SVG = "{http://www.w3.org/2000/svg}"


def drawings(picture):
    found = [
        ET.fromstring(one)
        for one in re.findall(r"<svg xmlns=.*?</svg>(?=</div>)", picture.html, re.DOTALL)
    ]
    assert found and all(root.get("role") == "img" and root.get("aria-label") for root in found)
    return found


def words(picture):
    return [one.text for root in drawings(picture) for one in root.iter(f"{SVG}text")]


@pytest.fixture(scope="module")
def evidence():
    kept = {name: ports.Evidence(**one) for name, one in recorded("21")["ports"].items()}
    return {"ours": kept["PyTorch"]} | kept


def test_trained_names_those_that_end_together(evidence):
    picture = trained(evidence)
    assert "A, B, C, E and yours" in words(picture) and "D" in words(picture)
    starts = [line.split(" to ")[0] for line in picture.text.splitlines()[1:]]
    assert starts == [
        f"{name}: from {2.31 if name == 'D' else 2.45}" for name in ("yours", *"ABCDE")
    ], "as drawn"


def test_the_chart_frames_what_is_more_than_rounding(evidence):
    picture = chart(evidence)
    lines = dict(line.split(": ", 1) for line in picture.text.splitlines()[1:])
    assert lines["PyTorch"] == lines["JAX"] == "nothing" and re.fullmatch(
        r"kernels \S+", lines["B"]
    )
    assert lines["D"].startswith("loss ") and lines["E"].startswith("hidden ")
    framed = [
        one for one in drawings(picture)[0].iter(f"{SVG}rect") if one.get("stroke-width") == "3.2"
    ]
    assert len(framed) == sum(line.count(",") + 1 for line in lines.values() if line != "nothing")


def test_lines_stand_side_by_side():
    rows = side_by_side().text.splitlines()
    assert (
        rows[0] == "value | autograd_lib | PyTorch | JAX"
        and [row.partition(":")[0] for row in rows[1:]] == ports.STAGES
    )
    assert all(row.count(" | ") == 2 for row in rows[1:])
    for letter, port in ports.PORTS.items():
        said = line_of(letter).text
        assert (
            f"as people write it: {port.line}" in said
            and f"to agree with yours: {port.healthy}" in said
        )


def test_what_follows_shows_the_first_start():
    found = {
        name: {"read": [read, 1], "logits": [far, 9.0], "reread": [other, 7], "weights": [0, 0]}
        for name, read, far, other in [
            ("ours", 310, 0, 0),
            ("A", 309, 0.06, 2),
            ("D", 138, 4e-15, 0),
        ]
    }
    picture = what_follows(found)
    assert picture.text.splitlines() == [
        "yours: 310 of 360 new scans read correctly",
        "A: 309 of 360 new scans read correctly; with your trained weights, change of a logit: 0.06, scans read differently: 2",
        "D: 138 of 360 new scans read correctly; with your trained weights, change of a logit: only rounding, scans read differently: 0",
    ]
    cells = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in picture.html.split("<tr")[2:]]
    assert cells == [
        ["yours", "310", "", ""],
        ["A", "309", "0.06", "2"],
        ["D", "138", "only rounding", "0"],
    ]


def test_agree_frames_the_digits_that_differ():
    slopes = {
        "ours": {"tanh(t)": [0.25] * 41},
        "PyTorch": {"tanh(t)": [0.25] * 41},
        "JAX": {"tanh(t)": [0.25 + 1e-9] * 41},
    }
    picture = agree(slopes, "tanh(t)", 0.7)
    assert (
        "PyTorch 0.25, equal to the last bit" in picture.text
        and "JAX 0.25, 1e−9 from yours" in picture.text
    )
    framed = [
        one for one in drawings(picture)[-1].iter(f"{SVG}rect") if one.get("stroke-width") == "1.6"
    ]
    same = len("+0.25000000")
    assert len(framed) == len(f"{0.25:+.17f}") - same
    assert "at t = 0.7" in picture.text and agree(slopes, "tanh(t)", -2.0).text != picture.text


def test_agree_draws_no_line_over_a_jump():
    """Catch a single line from 0 through the tie to 1."""
    slopes = {
        engine: {"maximum(t, 1)": [0.0] * 30 + [0.5] + [1.0] * 10}
        for engine in ("ours", "PyTorch", "JAX")
    }
    dashed = [
        one
        for one in drawings(agree(slopes, "maximum(t, 1)", 0.7))[0].iter(f"{SVG}polyline")
        if one.get("stroke-dasharray") == "6 4"
    ]
    assert [len(one.get("points").split()) for one in dashed] == [30, 1, 10]


def test_agree_keeps_its_marks_off_the_numbers_at_the_axes():
    """Regression: where all engines give 0 at −2, the square covered the numbers at both axes."""
    slopes = {
        engine: {"maximum(t, 1)": [0.0] * 30 + [0.5] + [1.0] * 10}
        for engine in ("ours", "PyTorch", "JAX")
    }
    for root in drawings(agree(slopes, "maximum(t, 1)", -2.0))[:2]:
        shown = [*root.iter(f"{SVG}rect"), *root.iter(f"{SVG}text")]
        at = {one: (float(one.get("x")), float(one.get("y"))) for one in shown}
        [(left, top)] = [place for one, place in at.items() if one.get("width") == "14"]
        numbers = [(one.get("text-anchor"), *place) for one, place in at.items()]
        assert max(x for anchor, x, _ in numbers if anchor == "end") < left - 2
        assert min(y for anchor, _, y in numbers if anchor == "middle") - 10 > top + 14


def test_times_grow_and_say_what_ought_to_be():
    measured = {20: {0: 0.002, 2: 0.012}, 5000: {0: 0.4, 2: 0.25}}
    picture = times(measured, 20)
    assert (
        "this process: 2 ms" in picture.text
        and "2 workers: 12 ms; the time of this process, divided by 2: 1\n" in picture.text + "\n"
    )
    dots = [float(one.get("cx")) for one in drawings(picture)[0].iter(f"{SVG}circle")]
    [(ideal, end)] = [
        re.findall(r"[\d.]+", one.get("d"))[::2]
        for one in drawings(picture)[0].iter(f"{SVG}path")
        if "H" in one.get("d")
    ]
    assert float(ideal) < dots[0] < dots[1] == float(end)


def test_the_path_counts_missed_and_fixed_ports():
    made = {
        "01.p": {"right": True, "recalled": False},
        "01.q": {"right": False, "recalled": True},
        "03.r": {"right": False, "recalled": False},
    }
    kept = {"exercises": ["01.a", "03.b", "gone"], "cards": {"01": ["x"]}, "predictions": made}
    picture = way(
        kept,
        ["01.a", "01.c", "03.b"],
        ["01.p", "01.q", "03.r", "03.s"],
        {"01": "01 Measure a slope"},
    )
    head, *lessons = picture.text.splitlines()
    assert (
        head
        == "2 of 3 exercises right. 1 card. 3 predictions: 1 right at once, 1 missed and later right, 1 missed."
    )
    assert lessons == [
        "01 Measure a slope: 1 of 2 exercises, predictions 1 right, 1 corrected, a card",
        "03: 1 of 1 exercises, predictions 1 missed",
    ]
    assert "✓" in words(picture) and "?" in words(picture)
    fills = [one.get("fill") for one in drawings(picture)[0].iter(f"{SVG}rect")]
    assert fills.count("none") == 1 + 1, "01.c and the key"
    assert "an exercise, not right yet; some are optional" in words(picture)
    empty = way({"exercises": [], "predictions": {}, "cards": {}}, ["01.a"], ["01.p"], {})
    assert empty.text.endswith("Nothing is recorded in this folder yet.")
