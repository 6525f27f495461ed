"""The learner's rules compared with the library's, for every row of the library."""

import linecache
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import autograd_course
import autograd_lib as ag
from autograd_course import same_line, table_of_rules
from autograd_course.drawing.rules import MET, derived
from autograd_course.source import source
from autograd_lib import ops

ROWS = sorted(ops.ROWS.values(), key=lambda row: row.name)
RULES = [
    pytest.param(row, i, id=f"{row.name}{i}")
    for row in ROWS
    for i in range(len(row.rules) or 2)
    if row.rule(i)
]
every_rule = pytest.mark.parametrize("row, i", RULES)


def verdict(mine, row, argument=0):
    (line,) = same_line(mine, row, argument).lines
    return line.verdict


# --- The verdict ------------------------------------------------------------------------------------------------------


@every_rule
def test_the_librarys_own_rule_is_the_same_line(row, i):
    found = same_line(row.rule(i), row, i)
    assert (found.status, found.lines[0].verdict, found.lines[0].note) == ("right", "same line", [])
    assert found.lines[0].mine == found.lines[0].library == source(row.rule(i)) != ""


@every_rule
def test_another_way_to_the_same_numbers_is_right(row, i):
    found = same_line(lambda *args, **keywords: 1.0 * row.rule(i)(*args, **keywords), row, i)
    assert (found.status, found.lines[0].verdict, found.lines[0].note) == (
        "right",
        "different, but correct",
        [],
    )


@every_rule
@pytest.mark.parametrize(
    "spoil",
    [
        lambda right: 1.001 * right,
        lambda right: right + 1e-3,
        lambda right: -right,
        lambda right: 0 * right,
    ],
)
def test_other_numbers_are_wrong(row, i, spoil):
    found = same_line(lambda *args, **keywords: spoil(row.rule(i)(*args, **keywords)), row, i)
    assert (found.status, found.lines[0].verdict) == ("wrong", "not the same")
    assert [label for label, _ in found.lines[0].note[:3]] == [
        "tried",
        "yours gives",
        "library gives",
    ]


def with_docstring(g, z, x):
    """Return the gradient of tanh."""
    # a comment
    return g * (1 - z * z)


@pytest.mark.parametrize(
    "mine, row, i",
    [
        (lambda g, z, x, y: g * y, ag.multiply, 0),
        (lambda g, y: g * y, ag.multiply, 0),
        (lambda y, g: g * y, ag.multiply, 0),
        (lambda g: g, ag.add, 1),
        (with_docstring, ag.tanh, 0),
        (lambda g, x: np.reshape(g, x.shape), ag.reshape, 0),
        (lambda g, z, x, low, high: np.where((low <= x) & (x <= high), g, 0), ag.clip, 0),
        (lambda c, g: np.where(c, 0, g), ag.where, 2),
    ],
)
def test_same_line(mine, row, i):
    assert verdict(mine, row, i) == "same line"


def test_where_numpy_was_imported_makes_no_difference():
    cell = {"np": np}  # a notebook cell whose import is in another cell
    exec("def sin_x(g, z, x): return g * np.cos(x)\nsin_y = lambda g, z, x: g * np.sin(x)", cell)
    assert (
        verdict(cell["sin_x"], ag.sin) == "same line"
        and verdict(cell["sin_y"], ag.sin) == "not the same"
    )


def test_other_letters():
    found = same_line(lambda upstream, out, a, b: upstream * b, ag.multiply, 0)
    assert (found.status, found.lines[0].verdict) == ("right", "same line, other letters")
    assert "Your rule writes upstream, out, a, b for g, z, x, y." in found.text
    assert (
        verdict(lambda g, z, y, x: g * x, ag.multiply, 0) == "same line, other letters"
    )  # it is called by position


@pytest.mark.parametrize(
    "mine, row",
    [
        (lambda g, y: y * g, ag.multiply),
        (lambda g, z: g / (2.0 * z), ag.sqrt),
        (lambda g, x: g * (1 - np.tanh(x) ** 2), ag.tanh),
        (lambda g, z, x, *, k=1: g * z * k, ag.exp),
        (lambda g, y: ag.Tensor(g * y), ag.multiply),
        (lambda *a: a[0] * a[3], ag.multiply),
    ],
)
def test_different_and_right(mine, row):
    found = same_line(mine, row)
    assert (found.status, found.lines[0].verdict, found.lines[0].note) == (
        "right",
        "different, but correct",
        [],
    )


@pytest.mark.parametrize(
    "mine, row, words, tried, gives",
    [
        (
            lambda g, x: g * np.exp(-x) / (1 + np.exp(-x)) ** 2,
            ag.sigmoid,
            "Right on paper,",
            "x = -1000",
            "nan",
        ),  # overflow
        (lambda g, z: g / (2 * np.maximum(z, 1e-9)), ag.sqrt, "Right on paper,", "x = 1e-20", ""),
        (
            lambda g, z, x: float(g) / float(x),
            ag.log,
            "Right for single numbers.",
            "x = [",
            "TypeError",
        ),
        (
            lambda g, y: g @ y.T,
            ag.matmul,
            "Right for the simplest call,",
            "y = array of shape (2, 3, 2)",
            "ValueError",
        ),
        (
            lambda g, x: np.broadcast_to(g, x.shape),
            ag.sum,
            "Right for the simplest call,",
            "axis=1",
            "ValueError",
        ),
        (
            lambda g, z, x: g * np.exp(x - z),
            ag.logsumexp,
            "Right for the simplest call,",
            "axis=1",
            "ValueError",
        ),
        (
            lambda g, x, axis=None, keepdims=False: (
                g[:, None] + 0 * x
                if axis == 1
                else (g[None] if axis == 0 and not keepdims else g) + 0 * x
            ),
            ag.sum,
            "Right for the simplest call,",
            "axis=-1",
            "",
        ),
        (
            lambda g, index: g[index, :],
            ag.ops.scatter,
            "Right for the simplest call,",
            "shape=(4,)",
            "IndexError",
        ),
        (
            lambda g, z: g - np.exp(z) * g.sum(-1, keepdims=True),
            ag.log_softmax,
            "Right for the",
            "axis=0",
            "array of",
        ),
    ],
)
def test_right_with_a_limit(mine, row, words, tried, gives):
    found = same_line(mine, row)
    assert (found.status, found.lines[0].verdict) == ("right", "correct, with a limitation")
    (_, said), (_, on), (_, mine), (_, library) = found.lines[0].note
    assert said.startswith(words) and tried in on and gives in mine and library != mine


def test_a_rule_may_return_0_where_there_is_no_slope():
    """Exercise 04.exponent accepts this rule too. Any other number is wrong there."""
    rule = "lambda g, z, x: g * z * np.where(x > 0, np.log(x), {})"
    verdicts = [
        verdict(eval(rule.format(other), {"np": np}), ag.power, 1) for other in ("0.0", "np.nan", 1)
    ]
    assert verdicts == ["correct, with a limitation"] * 2 + ["not the same"]


@pytest.mark.parametrize(
    "mine, row, i, cause",
    [
        (lambda g, x: g * x, ag.multiply, 0, "gradient of y: are the two swapped?"),
        (lambda g: g, ag.subtract, 1, "gradient of x"),
        (lambda g: g, ag.relu, 0, "x = -"),
        (lambda y: y, ag.multiply, 0, "factor g is missing"),
        (lambda g, z, y: g * z / y, ag.divide, 1, "wrong sign"),
        (lambda g, y: g @ y, ag.matmul, 0, "ValueError"),
        (lambda g: g, ag.sum, 0, "shape () for an input of shape (2, 3)"),
        (lambda g, x: g * cos(x), ag.sin, 0, "NameError: name 'cos' is not defined"),  # noqa: F821
        (lambda g: "g", ag.add, 0, "'g'"),
        (lambda u, v: u * v, ag.multiply, 0, "The engine passes g, z, x, y"),
        (np.multiply, ag.multiply, 0, "The engine passes g, z, x, y"),
        (lambda g, z, x, y: (g * y) and None, ag.multiply, 0, "is there a return?"),
        (6.0, ag.multiply, 0, "Expected a function"),
    ],
)
def test_not_the_same(mine, row, i, cause):
    found = same_line(mine, row, i)
    assert (found.status, found.lines[0].verdict) == (
        "wrong",
        "not the same",
    ) and cause in found.text


@pytest.mark.parametrize(
    "mine, row, i, tried, gives",
    [
        (lambda g, z, x: g * z / x, ag.divide, 0, "x = 0", "nan"),
        (lambda g, x, y: g * y * abs(x) ** (y - 1), ag.power, 0, "x = -30", ""),
        (
            lambda g, x, y: g * y * np.exp((y - 1) * np.log(np.where(x > 0, x, np.nan))),
            ag.power,
            0,
            "x = -30",
            "nan",
        ),
        (
            lambda g, x, y: np.where(x > 0, g * y * np.abs(x) ** (y - 1), 0),
            ag.power,
            0,
            "x = -30",
            "0",
        ),
        (
            lambda g, z, x: g * z * np.log(abs(x)),
            ag.power,
            1,
            "x = -30",
            "",
        ),  # at a point without a slope
        (lambda g, x: g * (x > -20), ag.softplus, 0, "", ""),
        (
            lambda g, x: g * 1.5 * (x == 0) + g * (x > 0),
            ag.relu,
            0,
            "x = 0",
            "",
        ),  # no slope between 0 and 1
        (lambda g, x, y: g * (x > y) + 1.5 * g * (x == y), ag.maximum, 0, "", ""),
        (lambda g, x: g * (x > 1e-4), ag.relu, 0, "x = 1e-06", ""),  # near a kink
        (
            lambda g, x, y: np.where(np.isclose(x, y), g / 2, g * (x > y)),
            ag.maximum,
            0,
            "x = 3, y = 3",
            "",
        ),  # nearly a tie
        (lambda g, y: g * np.reciprocal(y), ag.divide, 0, "y = 3", "0"),  # a constant, as in x / 3
        (
            lambda g, z: g / (2 * np.maximum(z, 0.01)),
            ag.sqrt,
            0,
            "x = 1e-06",
            "",
        ),  # where it is steep
        (lambda g, z, x: np.where(z == x, g, 0), ag.where, 1, "c = False", ""),
    ],
)  # both branches are equal, and c selects y
def test_wrong_in_one_place_is_wrong(mine, row, i, tried, gives):
    found = same_line(mine, row, i)
    assert (found.status, found.lines[0].verdict) == ("wrong", "not the same")
    assert tried in found.lines[0].note[0][1] and gives in found.lines[0].note[1][1]


def test_shares_that_add_up_and_are_no_slopes():
    found = same_line(
        {
            ag.maximum: [
                lambda g, x, y: g * (x > y) + 1.5 * g * (x == y),
                lambda g, x, y: g * (y > x) - 0.5 * g * (x == y),
            ]
        }
    )
    assert [line.verdict for line in found.lines] == ["not the same"] * 2
    assert "two slopes meet, 0 and 1. Your slope is not between them." in found.text


@pytest.mark.parametrize(
    "mine, row",
    [(lambda g, x: np.where(x >= 0, g, 0), ag.relu), (lambda g, x: np.where(x < 0, -g, g), ag.abs)],
)
def test_another_choice_at_a_kink_is_said(mine, row):
    found = same_line(mine, row)
    assert (found.status, found.lines[0].verdict) == ("right", "different, but correct")
    assert "x = 0" in found.lines[0].note[0][1] and "The library chose a different" in found.text


ALL, NONE, HALF = (
    lambda g, x, y: g * (x >= y),
    lambda g, x, y: g * (x > y),
    lambda g, x, y: g * (x > y) + 0.5 * g * (x == y),
)


@pytest.mark.parametrize(
    "rules, shares",
    [
        ([ALL], "the library’s rule for y, this rule passes on 1.5 · g"),
        ([NONE], "the library’s rule for y, this rule passes on 0.5 · g"),
        ([ALL, lambda g, x, y: g * (y >= x)], "your rule for y, this rule passes on 2 · g"),
        ([NONE, lambda g, x, y: g * (y > x)], "your rule for y, this rule passes on 0 · g"),
    ],
)
def test_a_forgotten_tie_is_wrong(rules, shares):
    found = same_line({ag.maximum: rules})
    assert {line.verdict for line in found.lines[: len(rules)]} == {
        "not the same"
    } and found.status == "wrong"
    assert "x = 3, y = 3" in found.lines[0].note[0][1] and shares in found.text


@pytest.mark.parametrize(
    "row, rules",
    [
        (ag.maximum, [ALL, lambda g, x, y: g * (y > x)]),
        (ag.minimum, [lambda g, x, y: g * (x < y), lambda g, x, y: g * (y <= x)]),
        (
            ag.clip,
            [
                lambda g, x, low, high: g * ((low < x) & (x <= high)),
                lambda g, x, low, high: g * ((x <= low) & (low <= high)),
                ...,
            ],
        ),
    ],
)
def test_a_tie_that_is_shared_in_another_way_is_another_choice(row, rules):
    found = same_line({row: rules})
    for line in found.lines[:2]:
        assert (
            line.verdict == "different, but correct"
            and "The library chose a different" in line.note[-1][1]
        )
    assert verdict(HALF, ag.maximum) == "different, but correct"


def test_ties_of_a_whole_array():
    once = lambda g, z, x, *, axis=None, keepdims=False: g * (x == np.max(x, axis, keepdims=True))  # noqa: E731
    assert "This rule passes on 6 · g instead of g." in same_line(once, ag.max).text
    (line,) = same_line(lambda g, x, low, high: g * ((low < x) & (x < high)), ag.clip).lines
    assert (
        line.verdict == "not the same"
        and "your rule" not in str(line.note)
        and "passes on 0 · g" in str(line.note)
    )


def test_the_same_words_that_mean_something_else():
    mine = eval("lambda g, z, x: g * sigmoid(x)", {"sigmoid": np.sin})
    assert (
        verdict(ag.softplus.rules[0], ag.softplus) == "same line"
        and verdict(mine, ag.softplus) == "not the same"
    )


def test_a_rule_must_not_write_into_what_others_read():
    def doubled(g, x):
        g *= 2
        return np.reshape(g, x.shape) / 2

    def scale(g, y):
        g *= y
        return g

    assert "writes into an array" in same_line(doubled, ag.reshape).text
    found = same_line(scale, ag.multiply)  # numbers, unlike arrays, cannot be written into
    assert found.status == "wrong" and "writes into an array" in found.text


# --- Not yet, and mistakes in the call ----------------------------------------------------------------------------------


def stub(g, z, x, y): ...


def documented_stub(g, z, x, y):
    """Write it here."""


def half_filled(g, z, x, y):
    part = ...
    return part.sum()


@pytest.mark.parametrize(
    "mine",
    [
        ...,
        None,
        stub,
        documented_stub,
        half_filled,
        lambda g, z, x, y: ...,
        lambda g, z, x, y: g * ...,
    ],
)
def test_not_yet(mine):
    for rules in (
        [mine],
        [mine, mine],
        [lambda g, y: g * y, ... if mine is None else mine],
    ):  # None among other rules is skipped
        found = same_line({ag.multiply: rules})
        assert found.status == found.text.splitlines()[0] == "not yet"
    assert same_line(mine, ag.multiply, 0).status == "not yet"
    assert same_line({ag.multiply: [lambda g, x: g * x, mine]}).status == "wrong"


@pytest.mark.parametrize(
    "call, says",
    [
        ((lambda g: g,), "Name the row"),
        ((3, ag.add), "Expected a function"),
        (([1, 2], ag.add), "Expected a function"),
        ((lambda g: g, "add"), "pass the row itself"),
        ((lambda g: g, ag.dot), "composed of other rows"),
        ((lambda g: g, ag.nn), "row itself"),
        ((lambda g: g, ag.add, 2), "no argument 2"),
        ((lambda g: g, ag.add, "x"), "no argument 'x'"),
        ((lambda g: g, ag.where, 0), "pass None"),
        (({ag.add: 3},), "list of rules"),
        (({ag.add: [None] * 3},), "one rule for each"),
        (({ag.where: [1, 2, 3, 4]},), "None for an argument without a gradient"),
        (({3: [lambda g: g]},), "row itself"),
    ],
)
def test_a_mistake_is_said_and_not_raised(call, says):
    found = same_line(*call)
    assert (
        found.status == "wrong" and says in found.text and says in found.html.replace("&#x27;", "'")
    )


def test_a_whole_lesson():
    rules = {
        ag.multiply: [lambda g, y: g * y, lambda g, x: x * g],
        ag.exp: lambda g, z: g * z,
        ag.where: [None, lambda g, c: g * c, ...],
        ag.clip: ...,
        ag.concatenate: [lambda g, starts: g[: starts[1]], lambda g, starts: g[starts[1] :]],
    }
    found = same_line(rules)
    assert [(line.where, line.verdict) for line in found.lines] == [
        ("multiply, to x", "same line"),
        ("multiply, to y", "different, but correct"),
        ("exp, to x", "same line"),
        ("where, to x", "different, but correct"),
        ("where, to y", "not yet"),
        *[(f"clip, to {letter}", "not yet") for letter in ("x", "low", "high")],
        ("concatenate, to xs[0]", "correct, with a limitation"),
        ("concatenate, to xs[1]", "correct, with a limitation"),
    ]  # right along axis 0 only
    assert (
        found.status == "not yet"
        and repr(same_line(rules)) == repr(found)
        and same_line(rules).html == found.html
    )
    assert found.html.count("<tr") == 6 and 'scope="row"' in found.html
    assert "Not yet: where, to y; clip, to x; clip, to low; clip, to high." in found.html, (
        "in one line"
    )


def test_a_custom_row():
    cube = ag.elementwise(lambda x: x**3, lambda g, z, x: g * 3 * x * x, name="cube")
    assert (
        verdict(lambda g, x: g * 3 * x * x, cube) == "same line"
        and verdict(lambda g, x: g * x * x, cube) == "not the same"
    )


# --- The source -----------------------------------------------------------------------------------------------------------

CELL = '''\
def named(g, z, x):
    """ü, for columns that count bytes"""
    return g / x
mine = {"ü": [lambda g, z, x, y: g * y, lambda g, z, x, y: g * x], "three": [lambda g: g, lambda g: g]}
long = [lambda g, z, x: (g
                         * z), (lambda a: lambda b: a)(1)]
'''


@pytest.fixture
def cell():
    """Return the names that CELL defines, run as in a notebook, where linecache knows its source
    under a name of its own.
    """
    linecache.cache["<cell>"] = len(CELL), None, CELL.splitlines(True), "<cell>"
    scope = {}
    exec(compile(CELL, "<cell>", "exec"), scope)
    yield scope
    del linecache.cache["<cell>"]


def test_source_is_cut_out_of_the_cell(cell):
    assert [source(rule) for rule in cell["mine"]["ü"]] == [
        "lambda g, z, x, y: g * y",
        "lambda g, z, x, y: g * x",
    ]
    assert source(cell["named"]) == CELL.partition("mine")[0].strip()
    assert (
        source(cell["long"][0]).splitlines()[0] == "lambda g, z, x: (g"
        and source(cell["long"][1]) == "lambda b: a"
    )


def test_without_source_the_code_is_still_compared():
    found = same_line(eval("lambda g, z, x, y: g * y"), ag.multiply, 0)
    assert found.lines[0].verdict == "same line" and "its source is not available" in found.text


# --- The table ------------------------------------------------------------------------------------------------------------


def test_every_row_has_a_lesson_that_derives_it():
    assert derived().keys() == {row.name for row in ROWS}
    assert all(lesson is not None for lesson in derived().values())
    assert list(derived().values()) == sorted(derived().values()), (
        "ops.py is in the order of the lessons"
    )
    assert all(lesson < derived()[name] for name, lesson in MET.items())


@pytest.mark.parametrize(
    "module, table",
    [
        ("op_inputs", "SAMPLES"),
        ("grading.same_line", "STATED"),
        ("grading.same_line", "TIES"),
        ("widgets.graph", "SYMBOLS"),
        ("drawing.rules", "FORMULAS"),
        ("drawing.rules", "MET"),
        ("drawing.rules", "AHEAD"),
        ("widgets.slopes", "ROWS"),
        ("practice.rules", "ARRAYS"),
        ("practice.rules", "TOO_LONG"),
        ("practice.rules", "DERIVED"),
        ("practice.rules", "WRONG"),
        ("practice.catches", "ALL"),
        ("practice.catches", "KINKS"),
    ],
)
def test_tables_are_keyed_by_rows(module, table):
    keys = {
        key[0] if isinstance(key, tuple) else getattr(key, "row", key)
        for key in getattr(import_module(f"autograd_course.{module}"), table)
    }
    old = keys - ops.ROWS.keys()
    assert not old, (
        f"{', '.join(old)} is no row: {table} in autograd_course/{module.replace('.', '/')}.py has an old name"
    )


def test_what_is_compared_with_the_name_of_an_op_is_a_row():
    for path in Path(autograd_course.__file__).parent.rglob("*.py"):
        for name in re.findall(r'(?:\.op|row\.name) == "(\w+)"', path.read_text(encoding="utf-8")):
            assert name in ops.ROWS or name == "checkpoint", (
                f"{path.name} asks for {name}, which is no row: an old name?"
            )


def test_the_table_grows_lesson_by_lesson():
    shown = {
        f"{n:02}": re.findall(
            r"^([● ]) (\w+): z = (.+); lesson (\d\d)", table_of_rules(f"{n:02}").text, re.M
        )
        for n in range(20)
    }
    assert (
        shown["00"] == shown["01"] == [] and "first come in lesson 02" in table_of_rules("01").text
    )
    assert [(mark, name) for mark, name, *_ in shown["02"]] == [("●", "add"), ("●", "multiply")]
    for lesson, before in zip(sorted(shown)[1:], sorted(shown)):
        assert {name for _, name, *_ in shown[before]} <= {name for _, name, *_ in shown[lesson]}
        today = {name for mark, name, *_ in shown[lesson] if mark == "●"}
        assert today == {
            name for name, home in derived().items() if lesson in (home, MET.get(name))
        }
    assert [name for _, name, *_ in shown["19"]] == list(derived())


def test_rules_stand_as_in_ops():
    with open(ops.__file__, encoding="utf-8") as file:
        library = re.sub(r"\s+", " ", file.read())
    lines = re.findall(r"^    of \w+: (.*(?:\n {10}.*)*)", table_of_rules("19").text, re.M)
    assert len(lines) == sum(rule is not None for row in ROWS for rule in row.rules) + sum(
        not row.rules for row in ROWS
    )
    for line in lines:
        rule, _, comment = (
            line.partition("    ")[0] if "\n" not in line else line,
            "",
            line.partition("    ")[2],
        )
        for part in rule.split("\n          weigh = "):
            assert re.sub(r"\s+", " ", part) in library
        assert "\n" in line or comment in library
    assert "of x: g * y    ∂z/∂x = y" in table_of_rules("02").text
    assert (
        "np.log" not in table_of_rules("03").text
        and "of y: derived in 04" in table_of_rules("03").text
    )  # 04's exercise


def test_a_rule_that_forgets_stride_and_padding_is_not_right():
    short = {
        ag.conv2d: [
            lambda g, z, x, y: ag.ops._conv2d_x(g, z, x, y),
            lambda g, z, x, y: ag.ops._conv2d_y(g, z, x, y),
        ]
    }
    assert same_line(short).status == "wrong"


def test_both_themes_show_through():
    for picture in (table_of_rules("04"), same_line({ag.add: [lambda g: g, lambda g: -g]})):
        assert not re.search(r"(?<![-\w])(color|background):(?!none)", picture.html)
    today = [name for name, home in derived().items() if "04" in (home, MET.get(name))]
    assert table_of_rules("04").html.count("today") == len(today) > 9


def test_a_lesson_is_two_digits():
    for wrong in (3, 12, "3", "03_derive", None):
        with pytest.raises(ValueError, match='such as "03"'):
            table_of_rules(wrong)


def test_no_number_where_the_library_states_one_is_a_limit():
    """The rule of lesson 03 gives nan at 0⁰, which counts as a limitation. Another number there,
    or nan where a slope is derived, is wrong.
    """
    assert (
        same_line(lambda g, z, x, y: g * y * x ** (y - 1), ag.power, 0).lines[0].verdict
        == "correct, with a limitation"
    )
    for wrong in [
        lambda g, z, x, y: np.where((x == 0) & (y == 0), 7.0, g * y * x ** (y - 1)),
        lambda g, z, x, y: g * y * np.exp((y - 1) * np.log(x)),
    ]:
        assert same_line(wrong, ag.power, 0).lines[0].verdict == "not the same"
    assert same_line(lambda g, z, x, y: g * z / x, ag.divide, 0).lines[0].verdict == "not the same"


@pytest.mark.parametrize(
    "mine, cause",
    [
        (lambda g, z, x: g * (x == z) / (x.size - np.unique(x).size + 1), "passes on 0."),
        (lambda g, z, x: g * np.isclose(x, z) / np.sum(np.isclose(x, z)), "a different entry"),
        (lambda g, z, x: g * (abs(x) == abs(z)) / np.sum(abs(x) == abs(z)), "a different entry"),
        (lambda g, z, x: g * x * (x == z) / np.sum(x * (x == z)), "a different entry"),  # z = 0
        (lambda g, z, x: g * (x == z) / np.unique(x, return_counts=True)[1].max(), "passes on 0."),
    ],
    ids=["repeats", "near tie", "absolute value", "weighted", "most frequent"],
)
@pytest.mark.parametrize("row", [ag.max, ag.min])
def test_ties_of_a_part_of_an_array(row, mine, cause):
    found = same_line(mine, row)
    assert found.lines[0].verdict == "not the same" and cause in found.text
