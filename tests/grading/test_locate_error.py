"""A verdict says where a wrong answer differs from a right one, if the difference is in one or
two places, without giving the answer away.
"""

import linecache
from types import SimpleNamespace

import answer_cases
import pytest
import rotation

from autograd_course.grading import EXERCISES, check, edit
from autograd_course.grading.locate_error import slip

GRADER = ("autograd_course/grading/",)  # a change there concerns every lesson

TWO = SimpleNamespace(
    parts=["left", "right"],
    solution='''
def left(x):
    """Thrice."""
    total = 0
    for _ in range(3):
        total += x
    return total

right = lambda x: x * x
''',
)
ONE = SimpleNamespace(
    parts=["f"],
    solution="""
def f(g, x, y):
    top = helper(g) - x * y
    return np.maximum(top / (x + 2), 0)

def helper(g):
    return g + 1""",
)


def typed(code, scope=None):
    """Return the names that a cell with this code defines; its source is registered as for a
    notebook's cell.
    """
    name = f"<cell {hash(code)}>"
    linecache.cache[name] = len(code), None, code.splitlines(keepends=True), name
    scope = dict(scope or {})
    exec(compile(code, name, "exec"), scope)
    return scope


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("- x", "+ x", "the + in line 2, helper(g) + x * y"),
        ("x * y", "x / y", "the / in line 2, x / y"),
        ("x + 2", "x + 3", "3 in line 3"),
        ("x * y", "x * x", "x in line 2"),
        ("top / (x + 2)", "(x + 2) / top", "(x + 2) / top in line 3"),
        (
            "np.maximum(top / (x + 2), 0)",
            "top / (x + 2)",
            "top / (x + 2) in line 3: something is missing there",
        ),
        ("np.maximum", "np.minimum", "np.minimum in line 3"),
        ("helper(g) -", "g -", "g in line 2: something is missing there"),
        ("helper(g) - x * y", "x * y", "x * y in line 2: something is missing there"),
        ("helper(g) - x * y", "helper(g) - abs(x * y)", "abs(x * y) in line 2"),
        ("g + 1", "g - 1", "the - in line 6, g - 1"),
        ("2), 0", "2), 0, y", "y in line 3"),
        ("x * y", "y * (x - 1)", "x - 1 in line 2"),
    ],
)
def test_the_verdict_says_where(old, new, said):
    assert slip(ONE, typed(ONE.solution.strip().replace(old, new))["f"]) == f"at {said}"


def test_of_two_values_that_are_swapped_neither_lacks_anything():
    exercise = EXERCISES["11.nesterov"]
    code = exercise.solution.replace("return w - ", "return m, w - ").replace("m), m", "m)")
    answer = typed(code)["nesterov"]
    assert "line 3" in slip(exercise, answer) and "missing" not in slip(exercise, answer)
    verdict = check("11.nesterov", answer)
    assert verdict.cause.kind == "swapped" and "line 3" not in str(verdict)


def test_names_and_documentation_are_the_learners_own():
    names = typed(
        "def left(number):\n    s = 0\n    for i in range(2):\n        s += number\n    return s\n"
        "right = lambda q: q * q"
    )
    assert slip(TWO, (names["left"], names["right"])) == "at 2 in line 3"
    names = typed(
        "def left(x):\n    total = 0\n    for _ in range(3):\n        total += x\n    return total\n"
        "def right(one):\n    return one * 2"
    )
    assert slip(TWO, (names["left"], names["right"])) == "at 2 in line 7"


@pytest.mark.parametrize(
    "code",
    [
        "f = lambda g, x, y: 0",
        "f = 3",
        "f = print",
        "class f: pass",
        ONE.solution.strip(),
        "def f(g, x, y):\n    return [g, x, y].sort()",
        "f = eval('lambda x: x')",
    ],
)
def test_what_is_like_no_right_answer_or_like_one_all_over_has_none(code):
    assert slip(ONE, typed(code)["f"]) == ""


def test_a_class_is_compared_too():
    right = (
        "class V:\n    def __init__(self, data):\n        self.data = data\n"
        "    def grown(self):\n        return self.data + 1"
    )
    exercise = SimpleNamespace(parts=["V"], solution=right)
    assert slip(exercise, typed(right.replace("+ 1", "+ 2"))["V"]) == "at 2 in line 5"


def test_no_solution_has_one_and_most_edits_have():
    """Check the lessons that this run of the suite tests at length (rotation.py)."""
    found = []
    chosen = [name for name in EXERCISES if rotation.is_chosen(name[:2], GRADER)]
    for exercise in map(EXERCISES.get, chosen):
        assert slip(exercise, answer(exercise, exercise.solution)) == "", exercise.name
        edits = [
            wrong
            for wrong in answer_cases.wrong_answers(exercise.name)
            if isinstance(wrong, edit) and len(wrong.changes) == 1
        ]
        found += [
            slip(exercise, answer(exercise, wrong.applied(exercise.solution)))
            for wrong in edits
            if "(" in exercise.stub
        ]
    assert sum(map(bool, found)) > 0.6 * len(found) > 60


def answer(exercise, code):
    scope = typed(code, exercise._scope)
    return (
        tuple(scope[name] for name in exercise.parts)
        if len(exercise.parts) > 1
        else scope[exercise.parts[0]]
    )


@pytest.mark.parametrize(
    "name, changed, said",
    [
        ("08.back", ("np.transpose(g)", "g.T", "[:len(x)]", "[:-len(y)]"), "-len(y) in line 3"),
        (
            "05.order",
            ("value", "v", "v.number, reverse=True", "-v.number", "v.inputs", "v.inputs[:2]"),
            "v.inputs[:2] in line 5",
        ),
        (
            "05.backward",
            ("zip(value.inputs, value.locals)", "dict(zip(value.inputs, value.locals)).items()"),
            "dict(zip(value.inputs, value.locals)).items() in line 6",
        ),
    ],
)
def test_another_style_and_a_part_of_a_place_are_no_place(name, changed, said):
    code = EXERCISES[name].solution
    for old, new in zip(changed[::2], changed[1::2]):
        code = code.replace(old, new)
    assert slip(EXERCISES[name], answer(EXERCISES[name], code)) == f"at {said}"


def test_a_verdict_says_it_where_no_hint_of_the_exercise_fits():
    name = "04.stable_tanh"
    wrong = typed(
        EXERCISES[name].solution.replace("(1 - p)", "(1 - p * p)"), EXERCISES[name]._scope
    )["stable_tanh"]
    assert dict(check(name, wrong).rows)["look"] == "at p * p in line 3"
    for planted, hint in EXERCISES[name].mistakes:
        rows = dict(check(name, planted).rows)
        assert "look" not in rows or rows["hint"] != hint
