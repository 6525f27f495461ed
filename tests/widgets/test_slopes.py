"""The slope explorer: its drawings and words for every elementwise row, for kinks and edges, and
for a wrong rule.
"""

import math
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course import slope_explorer
from autograd_course.drawing.axes import DOTS
from autograd_course.widgets.slopes import BOX, ROWS
from autograd_lib import ops

ELEMENTWISE = [row for row in ops.ROWS.values() if row.kind == "elementwise"]
EACH = [
    pytest.param(row, i, id=f"{row.name}-{i}")
    for row in ELEMENTWISE
    for i, rule in enumerate(row.rules)
    if rule
]
SVG = "{http://www.w3.org/2000/svg}"


def panels(picture, n=3):
    """Parse the drawings; a syntax error in one, such as a bare <, or a nan, raises an error."""
    roots = [
        node for node in ET.fromstring(picture.html).iter(f"{SVG}svg") if node.get("role") == "img"
    ]
    assert len(roots) == n
    assert all(root.get("aria-label") and root.find(f"{SVG}g/{SVG}title").text for root in roots)
    assert not re.search(
        r"[\"\s,M](nan|-?inf)\b", re.sub(r"aria-label=\"[^\"]*\"|>[^<]*<", "", picture.html)
    )
    return roots


def lines(root, dash="none"):
    """Return the points of each line with this look."""
    return [
        [tuple(map(float, pair.split(","))) for pair in node.get("points").split()]
        for node in root.iter(f"{SVG}polyline")
        if node.get("stroke-dasharray") == dash
    ]


def numbers(text, words):
    """Return the number that follows these words."""
    return float(
        re.search(re.escape(words) + r" (?:exactly )?(\S+?)[,;]?(?:\s|$)", text)[1].replace(
            "−", "-"
        )
    )


@pytest.mark.parametrize("row, i", EACH)
def test_every_elementwise_row(row, i):
    names = [name for name in slope_explorer(row).sliders if name not in ("moving", "h")]
    ui = slope_explorer(row, moving=names[i])
    assert ui.sliders["h"].value == 1 and "passes through all 24 circles" in ui.picture.text
    slider = ui.sliders[names[i]]
    for share in (0.13, 0.55, 0.87):
        slider.value = round(slider.min + share * (slider.max - slider.min), 2)
        for h in (0.1, 1e-5):
            ui.sliders["h"].value = h
            panels(ui.picture)
            text, xs = ui.picture.text, [np.float64(ui.sliders[name].value) for name in names]
            with np.errstate(all="ignore"):
                z, slope = row(*xs), ag.grad(row, argnums=i)(*xs)
                ahead, behind = (row(*xs[:i], xs[i] + step, *xs[i + 1 :]) for step in (h, -h))
            if not np.isfinite(z):
                domain = ROWS.get(row.name, ([], ""))[1]
                assert domain, (
                    f"where {row.name} has a value is to be said in ROWS of autograd_course/widgets/slopes.py"
                )
                assert "no value (nan)" in text and domain in text
                continue
            assert numbers(text, "z =") == pytest.approx(z, rel=1e-9)
            assert numbers(text, "slope") == pytest.approx(slope, rel=1e-9)
            for name, measured in [
                ("forward", (ahead - z) / h),
                ("central", (ahead - behind) / (2 * h)),
            ]:
                assert numbers(text, f"{name} difference") == pytest.approx(measured, rel=1e-9)
                off = re.search(
                    rf"{name} difference [^;\n]*, off by (exactly )?(\S+) from the rule",
                    text,
                    re.MULTILINE,
                )[2]
                assert float(off.replace("−", "-")) == pytest.approx(
                    abs(measured - slope), rel=0.06
                )


def test_the_table_names_rows_and_fits_them():
    assert ROWS.keys() <= {row.name for row in ELEMENTWISE}
    for row in ELEMENTWISE:
        assert len(ROWS.get(row.name, ([], ""))[0]) in (0, len(row.rules))


@pytest.mark.parametrize("moving, slope", [("x", 1 / 3.0), ("y", -1.25 / 9)])
def test_any_argument_moves_and_the_others_have_sliders(moving, slope):
    ui = slope_explorer(ag.divide, x=1.25, y=3.0, moving=moving)
    assert ui.sliders["x"].value == 1.25 and ui.sliders["y"].value == 3
    assert numbers(ui.picture.text, "slope") == pytest.approx(slope)
    assert ui.picture.text.startswith(
        {"x": "divide(x, 3) at x = 1.25:", "y": "divide(1.25, y) at y = 3:"}[moving]
    )
    ui.sliders["moving"].value = {"x": "y", "y": "x"}[moving]
    assert numbers(ui.picture.text, "slope") == pytest.approx({"x": -1.25 / 9, "y": 1 / 3}[moving])
    ui.sliders["y"].value = 2.5
    assert numbers(ui.picture.text, "z =") == 0.5


def test_what_does_not_move_is_drawn_once():
    calls = []

    def f(x, a=1.0):
        calls.append(x)
        return a * x

    ui = slope_explorer(f)
    for x in (0.5, 1.5):
        calls.clear()
        ui.sliders["x"].value = x
        assert len(calls) < 100
    calls.clear()
    ui.sliders["a"].value = 2.0
    assert len(calls) > 160 and numbers(ui.picture.text, "z =") == 3


def test_functions_of_the_learner():
    def bump(t, width=2.0):
        return np.exp(-t * t / width)

    ui = slope_explorer(bump, t=(-2.0, 2.0, 1.0))
    assert ui.picture.text.startswith(
        f"bump(t, 2) at t = 1: z = {np.exp(-0.5):.10g}, slope −{np.exp(-0.5):.10g}"
    )
    w = ag.Tensor(3.0, requires_grad=True)
    assert (
        "f(x) at x = 2: z = 12, slope 12" in slope_explorer(lambda x: w * x * x, x=2.0).picture.text
    )
    assert "slope 0.5403023059" in slope_explorer(np.sin).picture.text
    assert "slope −1" in slope_explorer(lambda x: x if x > 0 else -x, x=-2.0).picture.text
    assert slope_explorer(ag.clip, min=0.0).picture.text.startswith("clip(x, 0, 1)")
    assert (
        "where(False, x, −1) at x = 1: z = −1, slope exactly 0.0"
        in slope_explorer(ag.where, c=False).picture.text
    )
    assert not w.grad


@pytest.mark.parametrize(
    "row, x, left, right, stated",
    [
        (ag.relu, 0.0, "0", "1", "0"),
        (ag.abs, 0.0, "−1", "1", "0"),
        (ag.maximum, 0.5, "0", "1", "0.5"),
        (ag.minimum, 0.5, "1", "0", "0.5"),
        (ag.clip, -1.0, "0", "1", "1"),
        (ag.clip, 1.0, "1", "0", "1"),
    ],
)
def test_kinks(row, x, left, right, stated):
    picture = slope_explorer(row, x=x).picture
    assert f"a kink at x = {x:g}: ".replace("-", "−") in picture.text
    assert (
        f"no slope; the rule states {stated}\n" in picture.text
        and "exactly" not in picture.text.splitlines()[0]
    )
    assert f"measured slope {left} on the left, {right} on the right\n" in picture.text
    curve, slope, _ = panels(picture)
    behind = [node.get("stroke-dasharray") for node in slope.iter()].index("3 3")
    assert any(f"stated: {stated}" == node.text for node in [*slope.iter()][behind:]), (
        "the line at x runs behind the words"
    )
    said = [node.text for panel in (curve, slope) for node in panel.iter(f"{SVG}text")]
    assert f"tangents: slope {left} and {right}" in said
    assert f"secants: slope {left} and {right}" in said
    assert f"differences: left {left}, right {right}" in said
    assert f"left difference {left if left != '0' else 'exactly 0.0'}, off by" in picture.text
    heights = [float(dot.get("cy")) for dot in slope.iter(f"{SVG}circle") if dot.get("r") == "5"]
    rises = float(right) > float(left.replace("−", "-"))
    assert (heights[0] > heights[1]) == rises, "the left difference first, lower if the slope grows"
    *_, first, second = curve.iter(f"{SVG}polyline")
    assert {first.get("stroke-dasharray"), second.get("stroke-dasharray")} == {DOTS}, (
        "the tangents lie over the curve and the secant"
    )
    middle = BOX[0] + (x + 3) / 6 * BOX[2]
    dots = [float(dot.get("cx")) for dot in curve.iter(f"{SVG}circle")]
    assert dots[0] < middle and np.isclose(dots[0] + dots[1], 2 * middle, atol=0.2)
    for line in lines(curve, DOTS):
        assert line[0][0] < middle < line[-1][0], "each leaves the curve on the other side"
    assert len(lines(slope, "6 4")) > 1
    for line in lines(slope, "6 4"):
        assert np.ptp([y for _, y in line]) == 0, "no line climbs the jump"
    beside = slope_explorer(row, x=x + 0.5).picture.text
    assert "kink" not in beside and "left difference" not in beside


def test_no_kink_where_the_slope_is_only_zero_or_steep():
    for f, x in [
        (lambda x: 1000 * x * x, 0.0),
        (lambda x: ag.tanh(100 * x), 0.0),
        (ag.cos, 0.0),
        (lambda x: 1e6 + x, 1.0),
    ]:
        text = slope_explorer(f, x=x).picture.text
        assert "kink" not in text and "jump" not in text and "passes through all 24" in text
    assert "kink" not in slope_explorer(lambda x: 1e9 + x * x, x=1.3).picture.text, (
        "rounding is no kink"
    )


def test_nothing_is_measured_at_a_kink():
    assert (
        "passes through all 23 circles" in slope_explorer(lambda x: ag.relu(x - 0.125)).picture.text
    )


def test_jumps_and_poles_are_not_joined():
    picture = slope_explorer(lambda x: ag.where(x > 0.3, x + 1, -x), x=0.3).picture
    assert "a jump at x = 0.3" in picture.text and "kink" not in picture.text
    assert "tangent: slope none" in picture.html
    for f in (lambda x: 1 / x, lambda x: 1 / (x - 0.01)):
        ui = slope_explorer(f, x=1.0)
        curve = panels(ui.picture)[0]
        assert len([line for line in lines(curve) if len(line) > 10]) == 2
        ticks = [
            float(node.text.replace("−", "-"))
            for node in curve.iter(f"{SVG}text")
            if node.get("text-anchor") == "end"
        ]
        assert 4 <= max(ticks) < 20, "the pole does not set the scale"


@pytest.mark.parametrize(
    "row, fixed, x, words",
    [
        (
            ag.log,
            {},
            0.0,
            "log(x) at x = 0: no value (−inf), so nothing can be drawn there: log x is defined for x > 0",
        ),
        (
            ag.log,
            {},
            -0.5,
            "log(x) at x = −0.5: no value (nan), so nothing can be drawn there: log x is defined for x > 0",
        ),
        (
            ag.sqrt,
            {},
            0.0,
            "sqrt(x) at x = 0: z = 0, but the rule gives ∞, so no tangent is drawn: the tangent is vertical\n",
        ),
        (
            ag.power,
            {"y": 0.5},
            -1.0,
            "power(x, 0.5) at x = −1: no value (nan), so nothing can be drawn there: a negative base has only integer",
        ),
        (
            ag.power,
            {"y": -1.0},
            0.0,
            "power(x, −1) at x = 0: no value (inf), so nothing can be drawn there",
        ),
    ],
)
def test_edges_of_a_domain(row, fixed, x, words):
    ui = slope_explorer(row, x=1.0, **fixed)
    ui.sliders["x"].value = x
    assert words in ui.picture.text
    curve, slope, _ = panels(ui.picture)
    if (
        "y" not in fixed or fixed["y"] > 0
    ):  # nothing is drawn where x is below 0, neither value nor rule
        nought = [
            float(node.get("x"))
            for node in curve.iter(f"{SVG}text")
            if node.text == "0" and node.get("text-anchor") == "middle"
        ][0]
        assert (
            min(x for line in lines(curve) + lines(slope, "6 4") if len(line) > 10 for x, _ in line)
            >= nought - 0.1
        )
    ui.sliders["x"].value = 1.5
    assert "no value" not in ui.picture.text and "slope" in ui.picture.text


@pytest.mark.parametrize(
    "row, fixed",
    [
        (ag.divide, {"x": 6.0, "y": (0.25, 4.0, 0.05, 0.25), "h": [1e-3]}),
        (ag.power, {"x": 2.0, "y": (0.0, 4.0, 4.0), "h": [0.1]}),
    ],
)
def test_off_scale_labels_cover_no_circle(row, fixed):
    """Catch a label for an off-scale value that starts on the vertical line and covers the
    circle of the measured slope.
    """
    slope = panels(
        slope_explorer(row, rule=lambda g, z, x, y: ..., moving="y", **fixed).picture, n=2
    )[1]
    said = [word for word in slope.iter(f"{SVG}text") if word.text[0] in "▲▼"]
    circles = np.array(
        [[float(dot.get(k)) for k in ("cx", "cy")] for dot in slope.iter(f"{SVG}circle")]
    )
    for word in said:
        start, below = float(word.get("x")), float(word.get("y"))
        wide = 7 * len(word.text) * (-1 if word.get("text-anchor") == "end" else 1)
        left, right = sorted([start, start + wide])
        assert (
            not ((circles > (left - 3, below - 14)) & (circles < (right + 3, below + 4)))
            .all(axis=1)
            .any()
        )
    assert said


def test_a_point_missing_for_the_difference():
    text = slope_explorer(ag.log, x=0.5).picture.text
    assert "no central difference" in text and numbers(text, "forward difference") == pytest.approx(
        np.log(3)
    )
    text = slope_explorer(ag.divide, moving="y", y=1.0).picture.text
    assert "no central difference" in text and numbers(text, "forward difference") == -0.5


def test_exponent_of_a_negative_base():
    ui = slope_explorer(ag.power, moving="y", x=-2.0)
    assert (
        "z = 4, but the rule gives nan, not a number, so no tangent is drawn: a negative base has only integer powers"
        in ui.picture.text
    )
    ui.sliders["y"].value = 0.5
    assert "no value (nan)" in ui.picture.text


def test_a_right_rule_of_the_learner():
    for rule in [lambda g, z, x: g * (1 - z * z), lambda x: 1 - np.tanh(x) ** 2]:
        text = slope_explorer(ag.tanh, rule=rule).picture.text
        assert (
            "your rule gives 0.786447733" in text
            and "your rule passes through all 24 circles" in text
            and "g = 2" not in text
        )
    ui = slope_explorer(ag.divide, rule=lambda g, z, x, y: -g * z / y, moving="y")
    assert (
        "your rule passes through all 24 circles" in ui.picture.text and "moving" not in ui.sliders
    )


@pytest.mark.parametrize(
    "row, rule, moving, where",
    [
        (
            ag.tanh,
            lambda g, z, x: g * (1 - z),
            "x",
            "at x = −3.833 it gives 1.999, but the measured slope is 0.001871",
        ),
        (ag.sigmoid, lambda g, z, x: g * x * (1 - x), "x", "measured"),
        (
            ag.softplus,
            lambda x: 1 / (1 + np.exp(x)),
            "x",
            "at x = −5.75 it gives 0.9968, but the measured slope is 0.003173",
        ),
        (ag.multiply, lambda g, z, x, y: g * x, "x", "the measured slope is 2"),
        (ag.divide, lambda g, z, x, y: g * z / y, "y", "measured"),
        (ag.sqrt, lambda g, z, x: g / z, "x", "measured"),
        (ag.relu, lambda g, z, x: g * (x < 0), "x", "measured"),
    ],
)
def test_a_wrong_rule_is_seen(row, rule, moving, where):
    picture = slope_explorer(row, rule=rule, moving=moving).picture
    assert (
        "your rule misses" in picture.text
        and where in picture.text
        and "passes" not in picture.text
    )
    slope = panels(picture)[1]
    drawn = [point for line in lines(slope, "6 4") for point in line]
    circles = [
        (float(c.get("cx")), float(c.get("cy")))
        for c in slope.iter(f"{SVG}circle")
        if c.get("r") == "3.5"
    ]
    off = [
        min(np.hypot(x - a, y - b) for a, b in drawn) for x, y in circles[:-1]
    ]  # the last is in the legend
    assert len(off) > 12 and max(off) > 15


def test_a_right_rule_runs_through_the_circles():
    slope = panels(slope_explorer(ag.tanh).picture)[1]
    drawn = [point for line in lines(slope, "6 4") for point in line]
    circles = [
        (float(c.get("cx")), float(c.get("cy")))
        for c in slope.iter(f"{SVG}circle")
        if c.get("r") == "3.5"
    ]
    assert max(min(np.hypot(x - a, y - b) for a, b in drawn) for x, y in circles[:-1]) < 2


def test_a_rule_without_g_and_one_not_written():
    text = slope_explorer(ag.tanh, rule=lambda g, z, x: 1 - z * z).picture.text
    assert (
        "your rule passes through all 24 circles" in text
        and "with g = 2 your rule must give twice as much" in text
    )
    for stub in (..., lambda x: ..., lambda g, z, x: None):
        picture = slope_explorer(ag.tanh, rule=stub).picture
        assert (
            "; your rule is still …\n" in picture.text
            and "the circles mark measured slopes" in picture.text
        )
        assert "forward difference 0.4430310964" in picture.text
        assert "slope none" not in picture.html and "off by" not in picture.html
        assert picture.html.count('role="img"') == 2, "no empty axes for error of the difference"


def test_where_there_is_no_difference_none_is_off():
    html = slope_explorer(ag.power, x=(-2.0, 3.0, -1.0), y=0.5).picture.html
    assert "forward: none" in html and "central: none" in html and "off by" not in html


def test_a_rule_that_gives_nan_is_no_stub():
    picture = slope_explorer(ag.tanh, rule=lambda g, z, x: g * z * np.log(-np.abs(x))).picture
    assert (
        "your rule gives nan, not a number, so no tangent is drawn" in picture.text
        and "…" not in picture.text
    )
    assert (
        "your rule gives nan, not a number, at all 24 circles" in picture.text
        and "rule: nan" in picture.html
    )
    assert "g = 2" not in picture.text


def test_a_plain_function_needs_a_rule():
    with pytest.raises(TypeError, match="autograd_lib or NumPy"):
        slope_explorer(math.sin)
    assert (
        "your rule passes through all 24"
        in slope_explorer(lambda x: math.sin(x), rule=lambda x: math.cos(x)).picture.text
    )


@pytest.mark.parametrize(
    "row, slope_at",
    [(ag.tanh, lambda z: 1 - z * z), (ag.exp, lambda z: z), (ag.sigmoid, lambda z: z * (1 - z))],
)
def test_against_z_the_point_runs_on_the_curve_of_the_rule(row, slope_at):
    ui = slope_explorer(row, against="z")
    for x in (-2.0, 0.5, 1.5):
        ui.sliders["x"].value = x
        z, slope = numbers(ui.picture.text, "z ="), numbers(ui.picture.text, "slope")
        assert slope == pytest.approx(slope_at(z), abs=1e-9)
        panel = panels(ui.picture)[1]
        point = [
            (float(c.get("cx")), float(c.get("cy")))
            for c in panel.iter(f"{SVG}circle")
            if c.get("r") == "4"
        ][0]
        line = max(lines(panel, "6 4"), key=len)
        assert min(np.hypot(point[0] - a, point[1] - b) for a, b in line) < 4
        spread = {"tanh": (-1, 1), "exp": (np.exp(-3), np.exp(2)), "sigmoid": (0, 1)}[row.name]
        left, _, wide, _ = BOX
        assert point[0] == pytest.approx(
            left + wide * (0.08 + (z - spread[0]) / (spread[1] - spread[0])) / 1.16, abs=2
        )
    assert "over z" in ui.picture.html


def test_saturated_tanh():
    text = slope_explorer(ag.tanh, against="z", x=(-20.0, 20.0, 20.0)).picture.text
    assert "tanh(x) at x = 20: z = 1, slope exactly 0.0, and nearby z stays the same" in text


def test_refusals():
    for call, words in [
        (lambda: slope_explorer(ag.sum), "sum works on whole arrays"),
        (lambda: slope_explorer(ag.tanh, w=3.0), "tanh has no argument w; use x"),
        (lambda: slope_explorer(ag.tanh, against="y"), "expected against=.x.* got 'y'"),
        (
            lambda: slope_explorer(ag.where, moving="c"),
            "argument of where that can vary .x, y., got 'c'",
        ),
        (lambda: slope_explorer(lambda w, h: w * h), "must not have an argument called h"),
        (lambda: slope_explorer(lambda: 1.0), "takes no arguments, so nothing can vary"),
        (
            lambda: slope_explorer(ag.tanh, rule=lambda g, z: g),
            "rule takes 2 arguments; write it as lambda x: … or",
        ),
        (
            lambda: slope_explorer(lambda x: np.array([1.0, 2.0]) * x),
            r"returned an array of shape \(2,\)",
        ),
    ]:
        with pytest.raises((TypeError, ValueError), match=words):
            call()


def test_steps_of_ones_own():
    ui = slope_explorer(ag.exp, x=0.0, h=[0.5, 0.25])
    assert "h = 0.5: forward difference 1.297442541" in ui.picture.text
    ui.sliders["h"].value = 0.25
    assert "h = 0.25: forward difference 1.136101667" in ui.picture.text


def test_flat_at_a_point_is_not_flat_nearby():
    """x³ at 0 has slope 0 and moves on both sides; relu at −1 does not move."""
    assert "slope exactly 0.0" in slope_explorer(lambda x: x**3, x=0.0).picture.text
    assert "stays the same" not in slope_explorer(lambda x: x**3, x=0.0).picture.text
    assert "stays the same" in slope_explorer(ag.relu, x=-1.0).picture.text


@pytest.mark.parametrize(
    "rule",
    [
        lambda *given: -given[0] * given[1] / given[3],
        lambda g, z, x, y, room=0.0: -g * z / (y + room),
    ],
)
def test_a_rule_may_take_further_arguments(rule):
    assert (
        "passes through all"
        in slope_explorer(ag.divide, rule=rule, moving="y", x=6.0, y=(0.25, 4.0, 2.0)).picture.text
    )


def test_the_panel_of_the_errors_can_be_left_out():
    """The first two panels and the text stay the same."""
    whole, short = (slope_explorer(ag.tanh, errors=errors).picture for errors in (True, False))
    panels = [picture.html.count("<svg xmlns") for picture in (whole, short)]
    assert panels == [3, 2] and "error of the difference" not in short.html
    assert whole.text == short.text
