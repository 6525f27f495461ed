"""derive(…) draws each line while it is typed, judges it, records it, and can show the answer."""

import re
from pathlib import Path

import numpy as np
import pytest
from derivations.typed import TABLE

from autograd_course import check, derive, recall, record
from autograd_course.derivations import DERIVATIONS
from autograd_course.derivations.judge import judge
from autograd_course.derivations.panel import FromMemory, Reason, keys, named
from autograd_course.grading import registered

registered()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(record, "FILE", Path("progress.json"))
    monkeypatch.setattr(record, "unkept", [])
    return tmp_path


def drawn(panel):
    """Return the accepted lines as HTML."""
    return [child.value for child in panel.children if hasattr(child, "value")]


def button(panel, description):
    rows = [panel.line.children[0], panel.key_row]
    return next(
        one
        for row in rows
        for one in row.children
        if getattr(one, "description", "") == description
    )


def answer(panel, typed):
    panel.line.box.value = typed
    button(panel, "Check").click()


def test_a_line_is_drawn_from_the_first_key_on():
    panel = derive("03.divide")
    for typed, tex in [("(", r"\dots"), ("(dx", r"\dots"), ("(dx)/y", r"\frac{dx}{y}")]:
        panel.line.box.value = typed
        assert tex in panel.line.echo.value
    assert panel.line.said.value == "" and record.read()["lines"] == {}


def test_right_lines_stand_are_recorded_and_stand_again(folder):
    panel = derive("03.divide")
    assert len(drawn(panel)) == 1, "the first line is given"
    answer(panel, "dx/y - z/y dy")
    assert panel.lines == [["dx/y - z/y dy", False]] and r"\frac{dx}{y}" in drawn(panel)[1]
    answer(panel, "-x/y^2")
    assert panel.line is None and panel.key_row not in panel.children
    kept = [["dx/y - z/y dy", False], ["-x/y^2", False]]
    assert record.read()["lines"] == {"03.divide": kept}
    before = (folder / "progress.json").stat().st_mtime_ns
    again = derive("03.divide")
    assert again.lines == kept and again.line is None
    assert (folder / "progress.json").stat().st_mtime_ns == before, "showing it records nothing"


def test_no_line_answers_a_next_line_with_another_left_side():
    for name, derivation in DERIVATIONS.items():
        for number, (step, later) in enumerate(zip(derivation.steps, derivation.steps[1:]), 1):
            if later.left != "=" and not later.worked:
                assert judge(derivation, number, step.right).kind == "wrong", name


def test_lines_of_an_earlier_edition_are_left_out():
    record.derived("03.divide", [["(dx - z dy)/y", False], ["z/y", False], ["", True]])
    panel = derive("03.divide")
    assert panel.lines == [["(dx - z dy)/y", False]] and panel.line


def test_a_wrong_line_first_gets_where_then_how():
    panel = derive("03.divide")
    answer(panel, "(dx + z dy)/y")
    first = panel.line.said.value
    button(panel, "Check").click()
    second = panel.line.said.value
    assert "Not yet" in first and "z * dy" not in first and "z * dy" in second
    answer(panel, "dx - z dy")
    assert "divided by" not in panel.line.said.value, "another line starts from the beginning"
    assert panel.lines == [] and record.read()["lines"] == {}
    assert 'role="status"' in second


def test_enter_checks():
    panel = derive("03.divide")
    panel.line.box.value = "(dx - z dy)/y"
    panel.line.box._handle_custom_msg({"event": "submit"}, [])
    assert len(panel.lines) == 1


def test_keys_that_arrive_after_enter_are_checked_too():
    """JupyterLab reports Enter at once, and the text only when the kernel has taken in the text before."""
    panel = derive("03.divide")
    line = panel.line
    line.box.value = "(dx - z dy)"
    line.enter()
    assert "Not yet" in line.said.value
    line.entered = float("inf")  # no time passes
    line.box.value = "(dx - z dy)/y"
    assert panel.lines == [["(dx - z dy)/y", False]]
    line.box.value += " "
    assert len(panel.lines) == 1, "the line is kept once"


def test_nothing_is_checked_while_the_learner_goes_on_typing():
    panel = derive("03.divide")
    panel.line.box.value = "(dx - z dy)"
    panel.line.enter()
    panel.line.entered = float("-inf")  # a while ago
    panel.line.box.value = "(dx - z dy)/y"
    assert panel.lines == []


def test_an_equal_line_has_a_verdict_of_its_own():
    panel = derive("03.divide")
    answer(panel, "dz")
    assert "True, but" in panel.line.said.value and panel.lines == []


def test_a_line_can_be_shown_and_that_is_recorded():
    panel = derive("09.matmul")
    while panel.line:
        button(panel, "Show this line").click()
    steps = [step for step in DERIVATIONS["09.matmul"].steps if not step.worked]
    assert panel.lines == [[step.right, True] for step in steps]
    assert record.read()["lines"]["09.matmul"] == panel.lines


@pytest.mark.parametrize("name", DERIVATIONS)
def test_every_line_can_be_typed_with_the_keys(name):
    """The on-screen keys cover the whole derivation, so a phone needs no keyboard."""
    panel, derivation = derive(name), DERIVATIONS[name]
    for step in derivation.steps:
        rest = step.right.replace("**", "^")
        for key in sorted(keys(derivation), key=len, reverse=True):
            rest = rest.replace(key, "")
        assert not rest.strip(), (step.right, rest)
    for key in keys(derivation):
        button(panel, key).click()
    typed = panel.line.box.value
    assert typed.replace(" ", "") == "".join(keys(derivation))
    button(panel, "⌫").click()
    assert panel.line.box.value == typed[:-1].rstrip()


def test_letters_side_by_side_stay_apart():
    panel = derive("03.divide")
    for key in ["z", "dy", "/", "y"]:
        button(panel, key).click()
    assert panel.line.box.value == "z dy/y"


def test_the_reason_is_asked_once_and_never_blocks():
    panel = derive("03.divide")
    while panel.line:
        button(panel, "Show this line").click()
    (reason,) = [child for child in panel.children if isinstance(child, Reason)]
    step = next(step for step in DERIVATIONS["03.divide"].steps if step.rivals)
    choices, said = reason.children
    assert set(choices.options) == {step.reason, *step.rivals} and said.value == ""
    choices.value = step.rivals[0]
    assert step.reason in said.value and choices.disabled
    assert record.read()["reasons"] == {"03.divide": step.rivals[0]}
    (again,) = [child for child in derive("03.divide").children if isinstance(child, Reason)]
    choices, said = again.children
    assert choices.value == step.rivals[0] and choices.disabled and step.reason in said.value


def test_a_reason_of_another_edition_is_asked_again():
    record.reasoned("04.tanh", "a reason that was offered once")
    record.derived("04.tanh", [["p", False]])
    (reason,) = [child for child in derive("04.tanh").children if isinstance(child, Reason)]
    assert reason.choices.value is None and not reason.choices.disabled


def test_the_reason_of_a_line_that_is_given_is_asked_too():
    step = DERIVATIONS["04.tanh"].steps[2]
    assert step.worked and step.rivals
    before, fold = derive("04.tanh").html.split("<details>")
    assert step.reason not in before and step.reason in fold


@pytest.mark.parametrize("name", DERIVATIONS)
def test_one_reason_is_asked_for_in_each_derivation(name):
    assert sum(bool(step.rivals) for step in DERIVATIONS[name].steps) == 1


@pytest.mark.parametrize("name", DERIVATIONS)
def test_without_a_kernel_the_boxes_are_empty_and_the_lines_folded(name):
    panel = derive(name)
    typed = [step for step in DERIVATIONS[name].steps if not step.worked]
    before, fold = panel.html.split("<details>")
    assert before.count('aria-label="blank"') == len(typed)
    for step in DERIVATIONS[name].steps:
        asked = not step.worked or step.rivals
        assert (step.reason not in before) == bool(asked), step.left
    assert panel.text.count("____") == len(typed)
    assert "&amp;" not in panel.html
    data = panel._repr_mimebundle_()
    assert data["text/html"] == panel.html and data["text/plain"] == panel.text


def test_a_screen_reader_is_told_what_a_box_is_and_what_came_of_a_line():
    panel = derive("03.divide")
    assert panel.line.box.description == "right-hand side of line 2 of 3: dz ≈"
    answer(panel, "(dx - z dy)/y")
    assert "Right" in panel.line.said.value and "status" in panel.line.said.value
    assert panel.line.box.description.endswith("line 3 of 3: ∂z/∂y =")
    button(panel, "Show this line").click()
    assert (
        "It is shown above. Choose the reason above. That was the last line."
        in panel.children[-1].value
    )
    names = {
        named(DERIVATIONS[name], n)
        for name in DERIVATIONS
        for n in range(len(DERIVATIONS[name].steps))
    }
    assert not any(re.search(r"[\\{}]|: =", name) for name in names)
    assert "right-hand side of line 5 of 5: ((x + h)^3 - (x - h)^3)/(2h) =" in names
    assert "right-hand side of line 4 of 4: dz/dx" in " ".join(names), "a line that goes on"
    tips = [key.tooltip for key in derive("09.matmul").key_row.children]
    assert "type sum over" in tips and "type to the power of" in tips
    assert not any(re.fullmatch(r"type \W+", tip) for tip in tips)


def test_an_unknown_name_is_no_traceback():
    assert "03.sum" in derive("03.sum").text


# ---------------------------------------------------------------- the exercise

ANSWERS = {  # the exercise, and the answer to its other part
    "03.divide": ("03.divide", "divide_x = lambda g, z, x, y: g / y"),
    "03.power": ("03.power", ""),
    "09.matmul": ("09.matmul", "matmul_x = lambda g, z, x, y: g @ y.mT"),
}


def test_a_rule_in_code_is_shown_only_if_it_was_typed():
    panel = derive("03.divide")
    answer(panel, "(dx - z dy)/y")
    answer(panel, "-x/y²")
    assert "divide_y = lambda g, z, x, y: g * (-x / y**2)" in panel.children[-1].value
    shown_in("03.divide", False, True)
    assert "lambda" not in "".join(drawn(derive("03.divide")))


@pytest.mark.parametrize("name", ANSWERS)
def test_every_right_last_line_is_a_right_answer_to_the_exercise(name):
    """The exercise must not refuse a line that NumPy computes with fewer digits, or that uses
    another letter.
    """
    exercise, other = ANSWERS[name]
    derivation, tried = DERIVATIONS[name], 0
    for step, typed, kind in TABLE["typed"][name]:
        if kind == "right" and step == len(derivation.steps) - 1:
            scope = {"np": np}
            exec(f"{other}\n{derivation.as_code(typed)}", scope)
            rules = [scope[line.split(" = ")[0]] for line in (other, derivation.code) if line]
            verdict = check(exercise, tuple(rules) if other else rules[0])
            assert verdict.status == "right", (typed, derivation.as_code(typed), verdict)
            tried += 1
    assert tried >= 5


# ---------------------------------------------------------------- from memory


def memories(lesson):
    return [child for child in recall(lesson).children if isinstance(child, FromMemory)]


def shown_in(name, *shown):
    typed = [step.right for step in DERIVATIONS[name].steps if not step.worked]
    record.derived(name, [[text, one] for text, one in zip(typed, shown)])


def test_a_line_that_was_shown_comes_back_until_it_is_typed():
    assert memories("04") == []
    shown_in("03.divide", False, True)
    assert memories("03") == [], "not in the same lesson"
    (asked,) = memories("04")
    assert asked.number == 2 and len(asked.children) == 5, "the two lines before it are drawn"
    asked.line.box.value = "z/y"
    asked.line.check()
    assert "Not yet" in asked.line.said.value and len(memories("04")) == 1
    asked.line.box.value = "-x/y^2"
    asked.line.check()
    assert record.read()["lines"]["03.divide"] == [["(dx - z*dy)/y", False], ["-x/y^2", False]]
    assert "Right" in asked.children[-1].value and memories("04") == []


def test_a_line_shown_again_comes_back_again():
    shown_in("09.matmul", False, True, True)
    (asked,) = memories("10")
    asked.keep(asked.line.step.right, True)
    assert asked.index == 1 and len(memories("10")) == 1
    (asked,) = memories("10")
    asked.keep("sum_i A_ik g_ij", False)
    (asked,) = memories("10")
    assert asked.index == 2


def test_a_page_says_the_same_after_a_line_from_memory():
    script = (Path(derive.__code__.co_filename).parents[2] / "web/derivations.js").read_text(
        "utf-8"
    )
    for shown in (False, True):
        shown_in("09.matmul", False, True, True)
        (asked,) = memories("10")
        asked.keep(asked.line.step.right, shown)
        said = re.sub("<.*?>", "", asked.children[-1].value).strip()
        assert "You will" in said and f'"{said}"' in script


def test_at_most_two_lines_come_back():
    for name in ["03.divide", "04.tanh", "04.sigmoid"]:
        shown_in(name, True, True)
    assert len(memories("10")) == 2


def test_lines_of_another_edition_do_not_come_back():
    record.derived("03.gone", [["x", True]])
    record.derived("03.divide", [["(dx - z*dy)/y", False], ["-z/y", False], ["z", True]])
    assert memories("04") == []
