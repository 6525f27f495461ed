"""The gym: the library agrees with the judge, every mistake gets a true hint, and right answers of
any style are accepted.

GYM_PROBLEMS=10000 in the environment draws that many random problems; the suite draws a sample.
"""

import os
import re
from html import escape
from math import prod

import numpy as np
import pytest

import autograd_lib as ag
from autograd_course import gym, record
from autograd_course.practice import (
    KINDS,
    LESSONS,
    Gym,
    by_hand,
    catches,
    jacobians,
    keys,
    pick,
    rules,
    shapes,
    walks,
)
from autograd_course.practice.problems import Line, Mark
from autograd_course.practice.shapes import axes_in

COUNT = int(os.environ.get("GYM_PROBLEMS", 60))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Create a learner's folder without a record."""
    monkeypatch.setattr(record, "FILE", tmp_path / "progress.json")
    monkeypatch.setattr(record, "unkept", [])
    return tmp_path


def marks(problem, **given):
    """Return the judge's Marks if only these boxes are filled: box_3="12"."""
    texts = [""] * len(problem.boxes)
    for name, text in given.items():
        texts[int(name.removeprefix("box_"))] = text
    return problem.judge(texts)


def one(problem, i, text):
    return marks(problem, **{f"box_{i}": text})[i]


# --- walks: worked out anew from what the learner sees, by finite differences -----------------------------------------

PLAIN = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "maximum": max,
    "divide": lambda x, y: x / y,
    "power": lambda x, y: x**y,
    "relu": lambda x: max(x, 0.0),
    "abs": abs,
}


def seen(problem):
    """Return a list of (name, op or None, list of inputs, dict from slot to the number of its
    arrow), read from the picture's text.
    """
    nodes = []
    for line in problem.picture([], []).text.splitlines()[1:]:
        head, *arrows = line.split("; ")
        name, op, inputs = re.match(r"(\w+)(?: = (\w+)\((.*)\))?: value", head).groups()
        inputs = inputs.split(", ") if inputs else []
        numbers = [int(re.search(r"\((\d+)\)", arrow)[1]) for arrow in arrows]
        if not op:
            op = float(re.search(r"value (\S+),", head)[1].replace("−", "-"))
        nodes.append((name, op, inputs, numbers))
    return nodes


def run(nodes, nudged=None, by=0.0):
    """Return a dict from name to value; `nudged` is a name, or (name, slot) to nudge only the input of that
    slot.
    """
    values = {}
    for name, op, inputs, _ in nodes:
        xs = [values[x] if x in values else float(x.replace("−", "-")) for x in inputs]
        if isinstance(nudged, tuple) and nudged[0] == name:
            xs[nudged[1]] += by
        values[name] = (op if isinstance(op, float) else PLAIN[op](*xs)) + by * (nudged == name)
    return values


def measured(problem):
    """Return the right number for every box, by central differences of the function in the
    picture.
    """
    nodes, found = seen(problem), {}
    for name, _op, inputs, numbers in nodes:
        slots = [slot for slot, x in enumerate(inputs) if re.match(r"[a-zA-Z]", x)]
        for slot, arrow in zip(slots, numbers):
            up, down = (run(nodes, (name, slot), h)[name] for h in (1e-5, -1e-5))
            found[f"{arrow}: {inputs[slot]} → {name}"] = (up - down) / 2e-5
        up, down = (run(nodes, name, h)["L"] for h in (1e-5, -1e-5))
        found[f"of {name}"] = (up - down) / 2e-5
    return [found[box.label] for box in problem.boxes]


# Statements of hints, as conditions on (typed, right, walk, the numbers of arrows named); each is
# checked for every mistake of every walk.
def parts(walk, arrows):
    return [walk.arrows[number - 1].passes for number in arrows]


CLAIMS = {
    r"The contribution of (?P<arrows>.*) is missing": lambda t, r, w, arrows: np.isclose(
        t + sum(parts(w, arrows)), r
    ),
    r"That is the product of the contributions of (?P<arrows>.*)\.": lambda t, r, w, arrows: (
        np.isclose(t, prod(parts(w, arrows)))
    ),
    r"The absolute value is right, but it has the wrong sign": lambda t, r, w, arrows: np.isclose(
        t, -r
    ),
    r"That is what passes along (?P<arrows>arrow \d)": lambda t, r, w, arrows: np.isclose(
        t, parts(w, arrows)[0]
    ),
    r"That is the local gradient of (?P<arrows>arrow \d)": lambda t, r, w, arrows: np.isclose(
        t, w.arrows[arrows[0] - 1].local
    ),
    r"0 would mean": lambda t, r, w, arrows: t == 0 != r,
    r"1 would mean": lambda t, r, w, arrows: t == 1 != r,
    r"That is the value of (?P<name>\w)": lambda t, r, w, name: t == value(w, name),
    r"That is the gradient of (?P<name>\w)\.": lambda t, r, w, name: np.isclose(
        t, gradient(w, name)
    ),
    r"That is the gradient of (?P<name>\w)": lambda t, r, w, name: np.isclose(t, gradient(w, name)),
    r"That uses an old g: (?P<old>\S+) was the gradient of (?P<name>\w)": lambda t, r, w, old, name: (
        not np.isclose(number(old), gradient(w, name))
    ),
}


def number(text):
    return float(text.replace("−", "-"))


def value(walk, name):
    return next(float(node.value) for node in walk.nodes if node.name == name)


def gradient(walk, name):
    return next(float(node.gradient) for node in walk.nodes if node.name == name)


def walk_problem(key, seed, monkeypatch):
    """Return (Problem, its Walk)."""
    made = []
    monkeypatch.setattr(
        walks, "Walk", lambda output, original=WALK: made.append(original(output)) or made[-1]
    )
    return walks.make(key, np.random.default_rng(seed)), made[-1]


WALK = walks.Walk


@pytest.mark.parametrize("key", walks.KEYS)
def test_walks_agree_with_differences_and_every_mistake_is_told(key, monkeypatch):
    claims = refused = own = 0
    for seed in range(max(COUNT // 10, 10)):
        problem, walk = walk_problem(key, seed, monkeypatch)
        right = measured(problem)
        told = problem.judge([repr(round(x, 5)) for x in right])
        assert all(mark.good for mark in told), (seed, problem.picture([], []).text)
        for i, text, hint in problem.wrong:
            mark = one(problem, i, text)
            assert mark.good is False and mark.hint, (seed, problem.boxes[i], text)
            refused, own = refused + 1, own + (hint in mark.hint)
            for sentence in mark.hint.split(" Or: "):
                for pattern, holds in CLAIMS.items():
                    if found := re.match(pattern, sentence):
                        given = found.groupdict()
                        given = (
                            given
                            if "name" in given
                            else {
                                "arrows": [
                                    int(n) for n in re.findall(r"\d", given.get("arrows", ""))
                                ]
                            }
                        )
                        assert holds(float(text), right[i], walk, **given), (
                            seed,
                            problem.boxes[i],
                            text,
                            right[i],
                            sentence,
                        )
                        claims += 1
        for i, x in enumerate(right):  # any other answer is wrong too and gets a hint
            mark = one(problem, i, repr(round(x + 0.37, 3)))
            assert mark.good is False and mark.hint
    assert claims > refused / 2 and own > 0.7 * refused


def test_a_hint_on_an_arrow_keeps_the_other_input_fixed():
    """q = y² / y grows as y grows, but along the arrow from y into q alone, it falls."""
    x, y = ag.Tensor(10.0, True, "x"), ag.Tensor(-2.0, True, "y")
    p = y**2
    q = p / y
    output = q - x
    p.name, q.name, output.name = "p", "q", "L"
    walk = WALK(output)
    arrow = next(
        arrow
        for arrow in walk.arrows
        if (walk.called[arrow.source], walk.called[arrow.user]) == ("y", "q")
    )
    assert arrow.local == -1
    asked = [
        hint for _, hint in walks.wrong_locals(walk, arrow) if "grow" in hint or "still" in hint
    ]
    assert len(asked) > 3 and all(
        "when y grows a little while the other input stays fixed" in hint for hint in asked
    )


def test_what_follows_from_a_wrong_number_is_called_so(monkeypatch):
    told = 0
    for seed in range(20):
        problem, walk = walk_problem("walk.chain", seed, monkeypatch)
        n = len(walk.arrows)
        card = next(
            (i for i, key in enumerate(walk.cards) if walk.leaving(key)[0].user in walk.cards), None
        )
        if card is None:
            continue
        arrow = walk.leaving(walk.cards[card])[0]
        user = walk.cards.index(arrow.user)
        mark = marks(
            problem,
            **{
                f"box_{n + user}": repr(walk.g[arrow.user] + 7),
                f"box_{n + card}": repr(arrow.local * (walk.g[arrow.user] + 7)),
            },
        )
        assert not mark[n + user].good and mark[n + card].hint == (
            f"Correct for your value at the card of {walk.called[arrow.user]}, but that value is wrong: fix it first."
        )
        told += 1
    assert told > 5


def test_a_0_is_not_taken_for_a_gradient_that_is_0(monkeypatch):
    seen_0 = 0
    for seed in range(30):
        problem, walk = walk_problem("walk.functions", seed, monkeypatch)
        if 0 in walk.g.values():
            for i, key in enumerate(walk.cards, len(walk.arrows)):
                seen_0 += walk.g[key] != 0
                assert (
                    walk.g[key] == 0
                    or "multiply its local gradient by the gradient of"
                    not in one(problem, i, "0").hint
                )
    assert seen_0 > 20


def test_one_arrow_has_nothing_to_multiply_it_with_and_one_input_no_other():
    problem = walks.make("walk.chain", np.random.default_rng(0))
    assert not any("product of the local gradients" in hint for _, _, hint in problem.wrong)
    for seed in range(20):
        problem = walks.make(
            ("walk.functions", "walk.arithmetic")[seed % 2], np.random.default_rng(seed)
        )
        alone = {
            name for name, op, inputs, _ in seen(problem) if sum(map(str.isalpha, inputs)) == 1
        }  # x² belongs here too
        for i, box in enumerate(problem.boxes):
            if box.label[-1] in alone and box.group == walks.ON_ARROWS:
                assert "other input" not in one(problem, i, "0.37").hint


def test_the_gradient_of_the_output_is_given_and_does_not_come_later():
    """Catch the hint "comes later" for a 1 on an arrow into L."""
    for seed in range(10):
        problem = walks.make("walk.chain", np.random.default_rng(seed))
        into = [i for i, box in enumerate(problem.boxes) if box.label.endswith("→ L")]
        assert into and not any("comes later" in one(problem, i, "1").hint for i in into)


def test_graphs_show_nothing_that_is_asked():
    for key in walks.KEYS:
        problem = walks.make(key, np.random.default_rng(3))
        text = problem.picture([], []).text + problem.picture([], []).html
        shown = problem.picture(problem.right, problem.judge(problem.right)).text
        assert "?" in text and "passes" not in text and "?" not in shown


def test_a_key_asks_for_what_it_says():
    for seed in range(10):
        for key, ops in [
            ("walk.arithmetic", {"subtract", "divide", "power"}),
            ("walk.functions", {"relu", "abs", "maximum"}),
        ]:
            assert {op for _, op, _, _ in seen(walks.make(key, np.random.default_rng(seed)))} & ops
        arrows = [
            re.findall(r"\d: (\w)", box.label)
            for box in walks.make("walk.chain", np.random.default_rng(seed)).boxes
        ]
        assert len({one[0] for one in arrows if one}) == sum(map(bool, arrows)), (
            "one path at a time"
        )


# --- rules ------------------------------------------------------------------------------------------------------------

STYLES = {
    "rule.multiply.x": [
        "y * g",
        "g · y",
        "g*y",
        "np.multiply(g, y)",
        "lambda g, z, x, y: g * y",
        "return g * y",
    ],
    "rule.subtract.y": ["-g", "−g", "0 - g", "-1 * g", "np.negative(g)"],
    "rule.divide.y": ["-g * x / y ** 2", "-g * x / (y * y)", "g * -z / y", "-(g / y) * z"],
    "rule.power.x": ["g * y * x ** (y - 1)", "y * g * np.power(x, y - 1)"],
    "rule.power.y": ["g * z * np.log(x)", "log(x) * z * g"],
    "rule.exp.x": ["g * np.exp(x)", "z * g", "g * exp(x)"],
    "rule.tanh.x": ["g * (1 - np.tanh(x) ** 2)", "g - g * z ** 2", "g * (1 - z) * (1 + z)"],
    "rule.sigmoid.x": ["g * (z - z * z)", "g * sigmoid(x) * (1 - sigmoid(x))"],
    "rule.relu.x": [
        "np.where(x > 0, g, 0)",
        "where(x > 0, g, 0)",
        "g * (z > 0)",
        "np.heaviside(x, 0) * g",
    ],
    "rule.abs.x": ["np.where(x > 0, g, -g)", "g * sign(x)"],
    "rule.matmul.x": ["g @ np.swapaxes(y, -1, -2)", "np.matmul(g, y.mT)"],
    "rule.softmax.x": ["z * g - z * np.sum(g * z, axis=axis, keepdims=True)"],
    "rule.where.y": ["g * (1 - c)", "np.where(c, 0, g)", "g * np.logical_not(c)"],
    "rule.squeeze.x": ["np.expand_dims(g, axis)", "g.reshape(x.shape)"],
}
LIES = {
    "rule.multiply.x": [
        "g * abs(y)",
        "y",
        "g * z / x",
        "g * x",
        "y * g if y > 0 else 0",
        "0",
        "g * y + 1e-3",
    ],
    "rule.divide.y": ["g * z / y", "-g / y ** 2", "-g * x / y", "-g * abs(x) / y ** 2"],
    "rule.power.x": [
        "g * y * abs(x) ** (y - 1)",
        "g * y * z",
        "g * x ** (y - 1)",
        "g * y * np.exp((y - 1) * np.log(abs(x)))",
    ],
    "rule.exp.x": ["g * np.exp(abs(x))", "g * x * z", "z"],
    "rule.tanh.x": ["g * (1 - z)", "g * (1 - x * x)", "1 - z * z", "g * (1 + z * z)"],
    "rule.relu.x": ["g", "g * z", "g * x", "g * (x > 1)", "g * (x > 0.001)"],
    "rule.sqrt.x": ["g / 2 * z", "g / z", "g / (2 * x)"],
    "rule.log.x": ["g / abs(x) * 2", "g * x", "1 / x"],
    "rule.maximum.x": ["g", "g * (x >= 0)", "g * (x < y)"],
    "rule.matmul.x": ["g @ y", "y.mT @ g", "g * y"],
    "rule.softmax.x": ["g * z * (1 - z)", "z * (g - np.sum(g * z))", "z * g"],
    "rule.reshape.x": ["g", "g.T", "np.zeros(x.shape)"],
}


@pytest.mark.parametrize("key", rules.KEYS)
def test_rules(key):
    problem = rules.make(key, None)
    for text in [*problem.right, *STYLES.get(key, [])]:
        mark = one(problem, 0, text)
        assert mark.good, (text, mark)
    for _, text, hint in problem.wrong:
        mark = one(problem, 0, text)
        assert mark.good is False and hint in mark.hint
    for text in LIES.get(key, []):
        mark = one(problem, 0, text)
        assert mark.good is False and mark.hint, text
    assert one(problem, 0, "...").good is None and one(problem, 0, "g * (").good is None
    assert "not defined here" in one(problem, 0, "g * q").hint


@pytest.mark.parametrize(
    "key, text, said, never",
    [
        ("rule.maximum.y", "g / 2", "gradient of this input is 0", "z stands"),
        ("rule.maximum.y", "g * (y >= x)", "2g in total", "double"),
        ("rule.abs.x", "g", "Right where x is above 0", "wrong sign"),
        ("rule.multiply.x", "y", "factor g", "What goes"),
        ("rule.abs.x", "g * x / z", "result is nan", "tuple"),
        ("rule.add.x", "(g, g)", "in a tuple", "nan"),
        ("rule.matmul.x", "y @ g", "which product", "asks first"),
        ("rule.where.y", "g", "Where c holds", "goes to x"),
        ("rule.softmax.x", "z * (g - np.sum(g * z, axis=axis))", "keepdims=True", "asks first"),
        ("rule.softmax.x", "g", "differs", "g is added"),
        ("rule.softmax.x", "0", "Expected shape", "Off by the factor g"),
        ("rule.power.x", "g * y * z / x", "y = 1", "y = 0"),
        ("rule.power.y", "g * z * y * np.log(x)", "log z", "z stands"),
        ("rule.divide.x", "g * y / x", "slope of a division by y", "z stands"),
        ("rule.divide.y", "-g", "x − y", "in place of z"),
        ("rule.reshape.x", "g", "the number of entries is right", "transposed"),
        ("rule.add.x", "g[0]", "variable.", ".."),
    ],
)
def test_a_hint_holds_for_all_inputs_and_not_for_one_alone(key, text, said, never):
    mark = one(rules.make(key, None), 0, text)
    assert mark.good is False and said in mark.hint and never not in mark.hint


def test_a_rule_that_returns_0_where_there_is_no_slope_is_right_with_a_remark():
    """x to the y has no slope with respect to y where x is negative; the library returns nan there."""
    text = "np.where(x > 0, g * z * np.log(x), 0)"
    mark = one(rules.make("rule.power.y", None), 0, text)
    assert mark.good is True and "nan" in mark.hint


# --- catches ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong", catches.ALL, ids=lambda wrong: f"{wrong.row}_{wrong.argument}_{wrong.rule}"
)
def test_a_wrong_rule_passes_exactly_where_it_says(wrong):
    rng, passed = np.random.default_rng(1), 0
    for _ in range(100):
        test = catches.draw(wrong, rng)
        got, right = catches.outcomes(wrong, test)
        assert np.isclose(got, right) == catches.hidden(wrong, test), test
        assert (
            wrong.row not in ("relu", "abs") or test["x"] != 0
        )  # at a kink more than one slope is right
        assert wrong.row not in ("maximum", "minimum") or test["x"] != test["y"]
        passed += catches.hidden(wrong, test)
    assert 0 < passed < 100


@pytest.mark.parametrize("key", catches.KEYS)
def test_catches_agree_with_the_library(key):
    for seed in range(max(COUNT // 40, 3)):
        problem = catches.make(key, np.random.default_rng(seed))
        rule = re.search(r"`(.*?)`", problem.question)[1]
        letter = re.search(r"the gradient of (\w) as", problem.question)[1]
        row = ag.ops.ROWS[key.partition(".")[2]]
        caught = []
        for box in problem.boxes:
            g, *xs = (number(text) for text in re.findall(r"= (\S+?)(?:,|$)", box.label))
            _, pull = ag.vjp(row, *xs)
            scope = dict(
                zip(["g", "z", *row.input_names], [g, row.function(*xs), *xs]), np=np, abs=abs
            )
            right = (
                pull(np.float64(g))[row.input_names.index(letter)]
                if len(xs) > 1
                else pull(np.float64(g))
            )
            caught.append("no" if np.isclose(eval(rule, scope), np.ravel(right)[0]) else "yes")
        assert problem.judge(caught) and all(mark.good for mark in problem.judge(caught)), (
            seed,
            problem.question,
        )
        for i, text, hint in problem.wrong:
            answer = [*caught[:i], text, *caught[i + 1 :]]
            said = problem.judge(answer)[i].hint
            assert problem.judge(answer)[i].good is False and hint in said
            assert "because g is 0" not in said or "g" in rule, "without a g it is not 0 for that"


# --- shapes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", shapes.KEYS)
def test_shapes_agree_with_the_library(key):
    for seed in range(max(COUNT // 5, 30)):
        problem = shapes.make(key, np.random.default_rng(seed))
        call = re.search(r"`z = (.*?)`", problem.question)[1].translate(str.maketrans("−·", "-*"))
        values = {
            name: ag.Tensor(np.ones(eval(shape)), True)
            for name, shape in re.findall(r"(\w) of shape (\(.*?\))", problem.question)
        }
        asked = re.search(r"the shape of the gradient of (\w)", problem.question)[1]
        z = eval(call, dict(values))
        z.sum().backward()
        back = values[asked].grad.shape
        answers = [str(z.shape), str(back), problem.right[2]]
        assert all(mark.good for mark in problem.judge(answers)), (problem.question, answers)
        axes = axes_in(problem.right[2], z.ndim)
        before = z.shape if key != "shape.matmul" else (*z.shape[:-2], *back[-2:])
        if key in (
            "shape.broadcast",
            "shape.matmul",
        ):  # the sum has as many entries as x
            assert prod(n for k, n in enumerate(before) if k not in axes) == prod(back)
        else:
            assert axes == ()
        for i, text, _ in problem.wrong:
            mark = one(problem, i, text)
            assert not mark.good and mark.hint, (problem.question, i, text)
            if "inside the matrix product" in mark.hint:
                assert z.shape[int(text)] not in back[-2:], (
                    "the product sums over the axis that does not come back"
                )
            if "has that axis itself" in mark.hint:  # another array may be broadcast along it
                assert (
                    f"{asked} has that axis itself, so" in mark.hint
                    and back[int(text) - z.ndim] == z.shape[int(text)]
                )
        minus = ", ".join(str(axis - z.ndim) for axis in reversed(axes)) or "no"
        styles = [str(z.shape).strip("(),") or "()", f"[{', '.join(map(str, back))}]", minus]
        assert all(mark.good for mark in problem.judge(styles)), styles


@pytest.mark.parametrize(
    "text, axes",
    [
        ("0, 2", (0, 2)),
        ("2 0", (0, 2)),
        ("-1", (2,)),
        ("−1 and 0", (0, 2)),
        ("none", ()),
        ("(1,)", (1,)),
        ("None", ()),
        ("()", ()),
    ],
)
def test_axes_are_parsed(text, axes):
    assert axes_in(text, 3) == axes


@pytest.mark.parametrize("text", ["3", "-4", "x", "1.5", ",", "all", "0-1", "0−1"])
def test_invalid_axes_are_reported(text):
    with pytest.raises(ValueError, match="axis|axes|none"):
        axes_in(text, 3)


@pytest.mark.parametrize(
    "key, line, said",
    [
        (
            "rule.relu.x",
            "g * (x >= 0)",
            "With g = -0.89, z = 0, x = 0, yours gives -0.89, and the library gives 0. At ",
        ),
        (
            "rule.multiply.x",
            "np.dot(g, y)",
            "Right for single numbers. With arrays in their place it is wrong: with g = [",
        ),
        (
            "rule.relu.x",
            "g * (x > 0) + 1.5 * g * (x == 0)",
            "but 0 is right. Your answer is right in a different case: ",
        ),
        (
            "rule.expand_dims.x",
            "np.squeeze(g)",
            "Right for the simplest call,",
        ),  # one of x's own axes is missing
        ("rule.exp.x", "g * np.ln(x)", "ln is np.log"),
        ("rule.relu.x", "g * (x = z)", "that comparisons use =="),
    ],
)
def test_what_was_tried_is_said_in_sentences(key, line, said):
    assert said in one(rules.make(key, None), 0, line).hint


# --- Jacobian puzzles -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", jacobians.PUZZLES)
def test_puzzles(name):
    puzzle, problem = jacobians.PUZZLES[name], jacobians.make(f"jacobian.{name}", None)
    for text in [puzzle.answer, *puzzle.also_right]:
        assert one(problem, 0, text).good, (text, one(problem, 0, text))
    output = puzzle.formula[0]
    assert f"∂{output}" in problem.question and output in "zZ"
    assert f"a row for each entry of {output} " in problem.picture([], []).text
    for case in jacobians.cases(
        name
    ):  # z and its Jacobian anew: NumPy's own function, and differences of it
        assert np.allclose(eval(puzzle.code, {**case.names, "np": np}), case.names["z"])
        x = case.names[puzzle.by]
        for place in np.ndindex(x.shape):
            up, down = (
                {
                    **case.names,
                    puzzle.by: x
                    + h
                    * np.isin(np.arange(x.size), np.ravel_multi_index(place, x.shape)).reshape(
                        x.shape
                    ),
                }
                for h in (1e-6, -1e-6)
            )
            slope = (eval(puzzle.code, up) - eval(puzzle.code, down)) / 2e-6
            assert np.allclose(slope, case.right[(..., *place)], atol=1e-6)
    got = jacobians.entries(compile(puzzle.answer, "", "eval"), jacobians.cases(name)[0])
    for text, hint in [
        (f"-1 * ({puzzle.answer})", "wrong sign"),
        (f"3 * ({puzzle.answer})", "3 times"),
        (f"np.array({got.tolist()}){[*'ijkl'[: got.ndim]]}".replace("'", ""), "Right for"),
        (f"({puzzle.answer}) + 1", ""),
        (f"({puzzle.answer}) * 1.001", "1.001 times"),
        (puzzle.by, "whole array"),
        ("nothing[i]", "not defined here"),
        (f"{puzzle.by}.fill(0)", "read-only"),
        ("1 / 0", "ZeroDivisionError"),
        ("float('nan')", ""),
    ]:
        mark = one(problem, 0, text)
        assert mark.good is False and mark.hint and hint in mark.hint, (text, mark)


def test_no_zero_in_a_drawn_matrix_is_accidental():
    # max and sort read entries that depend on x.
    for name in jacobians.PUZZLES.keys() - {"max", "sort"}:
        drawn, again = (case.right == 0 for case in jacobians.cases(name)[:2])
        assert np.array_equal(drawn, again), name


@pytest.mark.parametrize(
    "name, text, hint",
    [
        ("cumsum", "i <= j", "swapped rows and columns"),
        ("cumsum", "j < i", "right except those on the diagonal"),
        ("cumsum", "1", "The diagonal is right"),
        ("cumprod", "2 * z[i] / x[j]", "In row 0, column 0"),
        ("cumsum", "(j <= i) * (i < 4)", "Right for this size"),
        ("running_mean", "(j <= i)", "The zeros are in the right places"),
        ("running_mean", "(j <= i) / n", "The zeros are"),
        ("mean", "1", "too large: the factor is the number"),
        ("mean", "1 / 4", "does your line contain a size"),
        ("reverse", "(i + j == n - 1) * (i != j)", "does your line contain a size"),
        ("softmax", "0", "In row"),
        ("sum", "1 + (i == 0)", "In row"),
        ("differences", "(j == i) * 1 - (j == i + 1)", "wrong sign"),
        ("pad", "i == j", "too far to the right"),
        ("roll", "j == (i + 1) % n", "swapped rows and columns"),
        ("repeat", "j == i", "In row"),
        ("view", "i == j", "In row"),
        ("softmax", "z[i] * (1 - z[i]) * (i == j)", "Only the diagonal is filled"),
        ("softmax", "z[i] * (1 - z[j])", "The diagonal is right"),
        ("softmax", "-z[i] * z[j]", "right except those on the diagonal"),
        ("centre", "i == j", "Only the diagonal is filled"),
        ("sort", "i == np.argsort(x)[j]", "swapped rows and columns"),
        ("matmul", "Y[l, j]", "should be 0 and are not"),
        ("convolution", "w[j - i]", ""),
        ("convolution", "w[j - i] * (0 <= j - i < 3)", "index"),
        ("layer_norm", "((i == j) - 1 / n) / s", "In row"),
        ("layer_norm", "((i == j) - 1 / n - z[i] * z[j] / n) / (s + 1e-5)", "Nearly right"),
        ("window_mean", "0.33333 * (i <= j < i + 3)", "Nearly right"),
        ("sum", "1.0001", "Nearly right"),
        ("window_mean", "0.333 * (i <= j < i + 3)", "is 0.999 times"),
        ("layer_norm", "(i == j) - 1 / n - z[i] * z[j] / n", "is s times what it should be"),
        ("hessian_quadratic", "A[i, j] / 2", "In row"),
        ("attend", "v[i] - z", "lacks the factor p[i]"),
        ("attend", "p[i] * v[i]", "In row"),
        ("softmax", "z[i] * z[j]", "In row"),
        ("matvec", "A[i, j] * x[j]", "is x[j] times what it should be"),
        ("matvec", "A[j, i]", "At i = 0, j = 2: index 2"),
        ("matvec", "A[i, i]", "In row"),
        ("convolution", "w[j - i] * (0 <= j - i < len(w))", "Test the index first"),
        ("convolution", "w[j - i] if 0 <= j - i < 3 else 0", "Does your line contain a size"),
        ("transpose", "(i == k) * (j == l)", "In row"),
        ("square", "2 * x[i]", "The diagonal is right"),
    ],
)
def test_a_wrong_jacobian_gets_its_own_hint(name, text, hint):
    mark = one(jacobians.make(f"jacobian.{name}", None), 0, text)
    assert mark.good is False and hint in mark.hint, mark


def test_the_matrix_is_drawn_as_it_should_be_and_as_it_is():
    problem = jacobians.make("jacobian.cumsum", None)
    before = problem.picture([], [])
    assert (
        "Correct matrix:" in before.text
        and "yours" not in before.html
        and "row 1: [1, 1, 0, 0]" in before.text
    )
    after = problem.picture(["j < i"], problem.judge(["j < i"]))
    assert "row 1: [1, 0*, 0, 0]" in after.text and "yours" in after.html
    assert problem.picture(["q"], problem.judge(["q"])).text == before.text
    near = "(j <= i) + 1e-5"  # framed entries have a star too
    assert "row 1: [1*, 1*, 0*, 0*]" in problem.picture([near], problem.judge([near])).text


# --- numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["9**9**9", "g * 9**9**9", "1 << 10**10", "lambda g, z, x: ((9**999)**999)**999", "9**9**i"],
)
def test_a_line_that_is_too_large_is_refused_before_it_is_worked_out(text):
    """Python computes integers to the last digit, in one step that cannot be interrupted."""
    with pytest.raises(ValueError, match=r"^“.*” is too large to compute\. Use smaller numbers\.$"):
        Line(text)


def test_a_number_may_be_left_as_arithmetic():
    problem = by_hand.make("hand.nudge", np.random.default_rng(0))
    (right,) = problem.right
    for text, good in [(f"2*({right})/2", True), (f"{right} + 1", False), ("9^9^9", None)]:
        (mark,) = problem.judge([text])
        assert mark.good is good


def test_too_large_numbers_are_reported_in_every_box():
    for problem in (jacobians.make("jacobian.cumsum", None), rules.make("rule.multiply.x", None)):
        (mark,) = problem.judge(["9**9**9"])
        assert (
            mark.good is None
            and mark.hint == "“9**9**9” is too large to compute. Use smaller numbers."
        )


@pytest.mark.parametrize(
    "loop",
    [
        "[k for k in range(10**5) for _ in range(10**5)]",
        "(k for k in iter(int, 1) if k)",
        "range(10**9)",
        "map(abs, range(10**9))",
    ],
)
def test_a_line_whose_loop_is_too_long_is_stopped(loop):
    for problem in (jacobians.make("jacobian.cumsum", None), rules.make("rule.multiply.x", None)):
        assert problem.judge([f"0 * sum({loop})"]) == [
            Mark(False, "Your line takes too many steps, or never finishes.")
        ]


def test_a_loop_that_ends_is_worked_out():
    assert one(jacobians.make("jacobian.cumsum", None), 0, "sum(k == j for k in range(i + 1))").good


@pytest.mark.parametrize(
    "text",
    ["x**1000", "g * y * x**(y - 1)", "n**(i - j)", "10**-9", "2**(i + j + k + l)", "(-1)**(i*j)"],
)
def test_other_powers_are_not_too_large(text):
    assert Line(text).text == text


# --- the widget -------------------------------------------------------------------------------------------------------


def fill(training, texts):
    for box, text in zip(training.boxes, texts):
        box.value = text == "yes" if isinstance(box.value, bool) else text


def submit(box):
    box._handle_custom_msg({"event": "submit"}, [])  # what the browser sends for Enter


def test_enter_checks_and_then_goes_on(folder):
    training = gym("02")
    assert not record.FILE.exists(), "asking writes nothing"
    fill(training, training.problem.right)
    submit(training.boxes[0])
    assert (
        training.done
        and "Right on the first attempt." in training.verdict.value
        and training.boxes[0].disabled
    )
    assert record.read()["gym"] == {training.key: {"right": 1, "missed": 0, "owed": 0}}
    before = training.titled
    submit(training.boxes[0])
    assert training.titled != before and training.number == 2 and not training.done


def test_each_box_is_judged_and_can_be_corrected(folder):
    training = gym("02")
    i, text, hint = training.problem.wrong[0]
    training.boxes[i].value = text
    training.check()
    assert (
        hint in training.verdict.value
        and "✗" in training.icons[i].value
        and not training.boxes[i].disabled
    )
    fill(training, training.problem.right)
    training.check()
    assert "Right. You will see this problem again" in training.verdict.value
    assert record.read()["gym"][training.key] == {"right": 0, "missed": 1, "owed": 2}


def test_a_missed_and_skipped_problem_is_recorded(folder):
    """Catch a record of finished problems only."""
    training = gym("02")
    i, text, _ = training.problem.wrong[0]
    training.boxes[i].value, key = text, training.key
    training.check()
    training.check()
    training.next()
    assert record.read()["gym"] == {key: {"right": 0, "missed": 1, "owed": 2}}


def test_what_cannot_be_read_is_no_mistake(folder):
    training = gym("02")
    training.check()
    training.boxes[0].value = "<b>q</b>"
    training.check()
    assert (
        "not a number" in training.verdict.value
        and "<b>q" not in training.verdict.value
        and not training.missed
    )
    training.reveal()
    assert training.problem.reveal[:8] in training.verdict.value
    assert record.read()["gym"][training.key]["missed"] == 1
    training.reveal()
    training.check()
    assert record.read()["gym"][training.key]["missed"] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_answered_in_the_widget(folder, kind):
    training = Gym("14")
    training.kind.value = kind
    for _ in range(3):
        fill(training, training.problem.right)
        training.check()
        assert training.done and "Right on the first attempt." in training.verdict.value, (
            training.problem,
            training.verdict.value,
        )
        assert escape(training.titled) in training.html and "<details>" in training.html
        ticks = [box.label for box in training.problem.boxes if box.look == "tick"]
        assert all(
            escape(label) in training.html for label in ticks
        )  # a page without boxes names the entry in words
        training.next()


def test_a_kind_that_is_still_to_come_says_so(folder):
    training = gym("02")
    training.kind.value = "shape"
    assert "start with lesson 08" in training.head.value and all(
        button.disabled for button in training.buttons
    )
    training.check()
    training.reveal()
    training.lesson.value = "08"
    assert training.problem and not training.buttons[0].disabled


def test_the_same_record_gives_the_same_problem(folder):
    first, again = gym("04"), gym("04")
    assert first.text == again.text
    first.next()
    assert first.text != again.text


def test_owed_problems_return_but_not_twice_in_a_row():
    among, rng = keys("14"), np.random.default_rng(0)
    owed = {"jacobian.cumsum": {"owed": 2}}
    drawn = [pick(among, owed, "", rng) for _ in range(300)]
    assert 60 < drawn.count("jacobian.cumsum") < 120  # 2 of 7; without, 1 of 160
    assert all(pick(among, owed, "jacobian.cumsum", rng) != "jacobian.cumsum" for _ in range(50))
    kinds = [among[pick(among, dict.fromkeys(among, {"owed": 0}), "", rng)] for _ in range(500)]
    assert all(60 < kinds.count(kind) < 140 for kind in KINDS)


def test_two_owed_problems_leave_half_to_the_others():
    """Catch weights of 2 for each owed kind against a total of 1 for the others."""
    among, rng = keys("04", "walk"), np.random.default_rng(0)
    owed = {key: {"owed": 2} for key in list(among)[:2]}
    drawn = [pick(among, owed, "", rng) for _ in range(400)]
    assert 150 < sum(key in owed for key in drawn) < 260


def test_unanswered_problems_come_more_often():
    """Catch equal weights for all problems."""
    among, rng = keys("16", "jacobian"), np.random.default_rng(0)
    known = {key: {"owed": 0} for key in list(among)[: len(among) // 2]}
    drawn = [pick(among, known, "", rng) for _ in range(400)]
    assert sum(key in known for key in drawn) < 140


def test_problems_of_the_last_lesson_come_soon():
    """Catch the same weight for unanswered problems of the last lesson and of earlier ones."""
    among, trained, rng = keys("16"), {}, np.random.default_rng(0)
    for _ in range(30):
        trained[pick(among, trained, "", rng)] = {"owed": 0}
    assert {key for key in among if "hessian" in key} < {*trained}


def test_missed_is_paid_off(folder):
    for right in (False, True, True, True):
        record.trained("walk.paths", right)
    assert record.read()["gym"]["walk.paths"] == {"right": 3, "missed": 1, "owed": 0}


def test_a_lesson_asks_only_what_it_and_those_before_have_taught(folder):
    assert {key for key in keys("02") if KINDS[keys("02")[key]][1].KEYS[key] == "02"} == {
        "walk.chain",
        "walk.paths",
    }
    for lesson in LESSONS:
        for key, kind in keys(lesson).items():
            assert KINDS[kind][1].KEYS[key] <= lesson
    assert gym("05").lesson.value == "05" and gym().lesson.value == "02"
    record.solved("09.matmul")
    assert gym().lesson.value == "09"
    for wrong in ["1", 3, "xx"]:
        with pytest.raises(ValueError, match="two digits in quotes"):
            gym(wrong)


def test_ten_thousand_problems(folder, record_property):
    """The judge accepts the library's answers to problems of every kind, drawn as the gym draws
    them.
    """
    among, kinds, seen_before = keys("14"), {}, set()
    for n in range(COUNT):
        rng = np.random.default_rng([n, 14])
        key = pick(among, dict.fromkeys(among, {"owed": 0}), None, rng)  # equally likely kinds
        problem = KINDS[among[key]][1].make(key, rng)
        assert all(mark.good for mark in problem.judge(problem.right)), (n, key)
        if among[key] == "walk":
            assert all(
                mark.good for mark in problem.judge([repr(round(x, 5)) for x in measured(problem)])
            ), (n, key)
        first = among[key] != "rule" or key not in seen_before  # a rule has a single problem
        seen_before.add(key)
        for i, text, _ in problem.wrong if first else ():
            texts = list(problem.right)
            texts[i] = text
            mark = problem.judge(texts)[i]
            assert not mark.good and mark.hint, (n, key, text)
        kinds[among[key]] = kinds.get(among[key], 0) + 1
    record_property("summary", f"gym: {COUNT} problems agree with the library: {kinds}")
