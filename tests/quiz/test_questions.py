"""predict, recall, card and place: which answers are right, what is shown before and after, and
what is recorded.
"""

import json
import re
from pathlib import Path

import pytest

from autograd_course import card, place, predict, recall, record
from autograd_course import grading as exercises
from autograd_course.quiz import questions, texts
from autograd_course.quiz.arithmetic import number_in
from autograd_course.quiz.questions import parts, right, shown
from autograd_course.quiz.texts import Question

exercises.registered()  # register the lessons' texts before a test replaces them
REAL = {name: getattr(texts, name) for name in ["PREDICTIONS", "RECALL", "CARDS", "PLACEMENT"]}
NO_ANSWER = Question("Which points?", reveal="Those at x − h and x + h.")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Provide a learner's working folder, and sample texts instead of the lessons' texts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(record, "FILE", Path("progress.json"))
    monkeypatch.setattr(record, "unkept", [])
    monkeypatch.setattr(questions, "registered", dict)
    for name in REAL:
        monkeypatch.setattr(texts, name, {})
        monkeypatch.setattr(questions, name, getattr(texts, name))
    texts.prediction(
        "01.mean",
        question="What is the mean of $6 + h$ and $6 - h$?",
        answer=6,
        reveal="Exactly **6**: $h$ cancels.",
    )
    texts.prediction("01.true", question="`1 + 1e-16 == 1`?", answer=True, reveal="**Yes.**")
    texts.prediction(
        "02.both",
        question="""
        Which moves further,
        and how far?""",
        answer={"further": "y", "how far": 3.0},
        choices={"further": ["x", "y"]},
        tolerance=0.2,
        reveal="**y**, by **3.0**: $\\frac{1}{2} < 1$.",
    )
    for lesson in ["01", "02", "03"]:
        texts.recall(
            lesson,
            [
                Question("$2 + 3$?", 5, "**5**."),
                NO_ANSWER,
                Question("Shape?", (2, 3), "**(2, 3)**"),
            ],
        )
    texts.card("01", ["Move $x$ a little.", "Divide: `rise / run`."])
    texts.placement(
        "00", "Slopes come first.", [Question("One?", 1, "1"), Question("Two?", 2, "2")]
    )
    texts.placement("02", "Paths come next.", [Question("Three?", 3, "3")])
    texts.placement("05", "Arrays come last.", [Question("Four?", 4, "4")])
    return tmp_path


def press(ask):
    ask.button.click()


def compared(html):
    """Return the rows of the table, [label, learner's answer, ours], below its header."""
    return [
        [re.sub("<.*?>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row)]
        for row in re.findall("<tr.*?</tr>", html)
    ]


def answer(ask, *given, sure=None):
    for part, text in zip(ask.parts, given, strict=True):
        part.widget.value = text
    ask.sure.value = sure
    press(ask)
    return ask.answer.value


# ---------------------------------------------------------------- what is right


# What learners type, with the number that it is; tests/project/test_site.py gives the same to a page.
TYPED = json.loads((Path(__file__).parent / "typed.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("text, value", TYPED["numbers"])
def test_numbers_and_arithmetic_are_read_as_people_write_them(text, value):
    value = float(value)
    assert number_in(text) == pytest.approx(value, rel=1e-14)
    assert right(Question("?", value), [text])
    assert not right(Question("?", value + 1 if abs(value) < 1e300 else 0, tolerance=0), [text])


@pytest.mark.parametrize("text, values", TYPED["rows"])
def test_rows_of_numbers_are_read(text, values):
    assert right(Question("?", values), [text])
    assert not right(Question("?", [*values, 1]), [text])


@pytest.mark.parametrize(
    "kind, said",
    [
        ("unreadable", r"not a number. Write it like 17, −0.3, 1/7, 2e-9 or "),
        ("too large", r"^“.*” is too large to compute\. Use smaller numbers\.$"),
    ],
)
def test_an_error_says_what_a_text_is(kind, said):
    for text in TYPED[kind]:
        with pytest.raises(ValueError, match=said):
            right(Question("?", 3), [text])


@pytest.mark.parametrize(
    "question, text, good",
    [
        (Question("?", 1 / 3), "0.333", True),
        (Question("?", 1 / 3), "0.33", False),
        (Question("?", 0), "0.001", False),
        (Question("?", 3.0, tolerance=0.2), "3.2", True),
        (Question("?", 3.0, tolerance=0.2), "3.21", False),
        (Question("?", -4), "4", False),
        (Question("?", 0.125), "12.5 %", True),
        (Question("?", 12.5), "12.5 %", True),
        (Question("?", 0.125), "12.5", False),
        (Question("?", 1250), "12.5 %", False),
        (Question("?", 0.7), "70 %", True),
        (Question("?", 70), "70 %", True),
        (Question("?", 0.7), "7 %", False),
        (Question("?", 0.7), "70", False),
        (Question("?", [0.7, 0.3]), "70 %, 30 %", True),
        (Question("?", [-0.3, 0.2]), "−0,3; 0,2", True),
        (Question("?", [3, 20]), "array([ 3., 20.])", True),
        (Question("?", [3, 20]), "tensor([3., 20.])", True),
        (Question("?", (2, 3)), "2 * 3", True),
        (Question("?", (2, 3)), "torch.Size([2, 3])", True),
        (Question("?", (2, 3)), "torch.Size([3, 2])", False),
        (Question("?", float("inf")), "5", False),
        (Question("?", 5), "nan", False),
        (Question("?", (2, 3)), "(2, 3)", True),
        (Question("?", (2, 3)), "2,3", True),
        (Question("?", (2, 3)), "[2 x 3]", True),
        (Question("?", (2, 3)), "(3, 2)", False),
        (Question("?", (3,)), "(3,)", True),
        (Question("?", (3,)), "3", True),
        (Question("?", (3,)), "(1, 3)", False),
        (Question("?", ()), "()", True),
        (Question("?", ()), "(1,)", False),
        (Question("?", [5, 7, 9]), "[5, 7, 9]", True),
        (Question("?", [5, 7, 9]), "5 7 9", True),
        (Question("?", [5, 7, 9]), "5; 7; 8", False),
        (Question("?", [5, 7, 9]), "5, 7", False),
        (Question("?", [0.5]), "1/2", True),
        (Question("?", "y", choices=["x", "y"]), "y", True),
        (Question("?", "y", choices=["x", "y"]), "x", False),
        (Question("?", True), "yes", True),
        (Question("?", True), "no", False),
        (Question("?", False), "no", True),
    ],
)
def test_right_and_wrong(question, text, good):
    assert right(question, [text]) is good


def test_a_text_that_is_no_shape_is_reported():
    with pytest.raises(ValueError, match=r"not a shape. Write it like \(8, 5\)"):
        right(Question("?", (2, 3)), ["two by three"])


def test_all_parts_have_to_be_right():
    question = Question("?", {"a": 1, "b": "up"}, choices={"b": ["up", "down"]})
    assert (
        right(question, ["1", "up"])
        and not right(question, ["1", "down"])
        and not right(question, ["2", "up"])
    )


# ---------------------------------------------------------------- predict


def ask_of(name):
    return predict(name).children[0]


def test_first_frame_hides_the_answer():
    panel = predict("01.mean")
    ask = panel.children[0]
    assert (
        ask.answer.value == ""
        and ask.button.description == "Reveal"
        and not ask.parts[0].widget.disabled
    )
    bundle = panel._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/plain"] == "Predict: What is the mean of $6 + h$ and $6 - h$?"
    before, fold = bundle["text/html"].split("<details>")
    assert not before and "cancels" in fold.split("</summary>")[1]


def test_reveal_shows_both_answers_the_reason_and_its_maths():
    said = answer(ask_of("01.mean"), "6.0", sure="certain")
    assert "Right, and you were certain" in said and compared(said) == [
        ["", "You, certain", "Ours"],
        ["", "6.0", "6"],
    ]
    assert "Exactly <strong>6</strong>" in said and r'<span class="math">\(h\)</span>' in said
    assert record.read()["predictions"]["01.mean"] == {
        "answer": ["6.0"],
        "sure": "certain",
        "right": True,
        "recalled": False,
        "missed": 0,
    }


@pytest.mark.parametrize(
    "sure, word",
    [
        ("certain", "Worth remembering: you will be asked this question again"),
        ("fairly sure", "Not this time"),
        ("guessing", "Not this time"),
        (None, "Not this time"),
    ],
)
def test_a_wrong_answer_gets_a_kind_reply_and_is_recorded(sure, word):
    said = answer(ask_of("01.mean"), "5", sure=sure)
    assert word in said and "✓" not in said and compared(said)[1] == ["", "5", "6"]
    made = record.read()["predictions"]["01.mean"]
    assert (made["sure"], made["right"]) == (sure, False)


def test_revealing_without_an_answer_counts_for_nothing(folder):
    ask = ask_of("01.mean")
    press(ask)
    assert "cancels" in ask.answer.value and compared(ask.answer.value) == []
    press(ask)
    assert "Right this time." in answer(ask, "6", sure="certain")
    assert not (folder / "progress.json").exists()


@pytest.mark.parametrize(
    "name, given, said",
    [
        ("01.mean", ["six"], "“six” is not a number"),
        ("01.mean", ["<b>"], "&lt;b&gt;"),
        ("02.both", ["y", ""], "Fill in every part"),
        ("02.both", [None, "3"], "Fill in every part"),
    ],
)
def test_an_unreadable_answer_is_reported_and_reveals_nothing(folder, name, given, said):
    ask = ask_of(name)
    shown = answer(ask, *given)
    assert (
        said in shown
        and "**" not in shown
        and "<strong>" not in shown
        and ask.button.description == "Reveal"
    )
    assert not (folder / "progress.json").exists()
    assert "Right." in answer(
        ask, *(["6"] if name == "01.mean" else ["y", "2.9"])
    )  # the first answer that could be read


def test_parts_stand_beside_their_labels():
    said = answer(ask_of("02.both"), "x", "3.1", sure="certain")
    assert compared(said)[1:] == [["further", "x", "y"], ["how far", "3.1", "3"]]
    assert "Worth remembering" in said and r"\frac{1}{2} &lt; 1" in said


def test_signs_in_a_choice_are_shown_as_they_are():
    texts.prediction("01.sign", question="?", answer="<", choices=["<", "≥"], reveal="$a < b$")
    said = answer(ask_of("01.sign"), "<")
    assert compared(said)[1] == ["", "&lt;", "&lt;"] and r"\(a &lt; b\)" in said


def test_run_again_the_first_answer_is_there():
    answer(ask_of("01.mean"), "5", sure="certain")
    again = ask_of("01.mean")
    assert (
        again.parts[0].text == "5"
        and again.sure.value == "certain"
        and again.button.description == "Try again"
    )
    assert again.parts[0].widget.disabled and "Worth remembering" in again.answer.value
    press(again)
    assert (
        again.answer.value == ""
        and not again.parts[0].widget.disabled
        and again.parts[0].text == "5"
    )
    assert "Right this time." in answer(again, "6", sure="certain")
    assert record.read()["predictions"]["01.mean"]["answer"] == ["5"] and record.returning() == [
        "01.mean"
    ]


@pytest.mark.parametrize(
    "name, given", [("01.mean", ["6", "7"]), ("01.true", ["6"]), ("02.both", ["z", "3"])]
)
def test_an_answer_to_an_older_question_is_not_shown(name, given):
    record.predicted(name, given, "very", True)
    ask = ask_of(name)
    assert ask.answer.value == "" and not ask.sure.disabled
    press(ask)
    assert ask.button.description == "Try again"


@pytest.mark.parametrize("panel, name", [(predict, "01.nothing"), (recall, "99"), (card, "99")])
def test_an_unknown_name_is_reported(panel, name):
    assert "There is no" in panel(name).text and repr(name) in panel(name).text


# ---------------------------------------------------------------- recall


def test_three_questions_by_number():
    panel = recall("01")
    assert [ask.button.description for ask in panel.children] == [
        "Show answer 1",
        "Show answer 2",
        "Show answer 3",
    ]
    assert [len(ask.parts) for ask in panel.children] == [1, 0, 1] and panel.children[0].parts[
        0
    ].widget.description == "1. your answer"
    assert panel.text == "From memory\n1. $2 + 3$?\n2. Which points?\n3. Shape?"
    before, fold = panel.html.split("<details>")
    assert not before and "Those at" in fold.split("</summary>")[1]


def test_an_answer_in_the_head_is_enough(folder):
    ask = recall("01").children[1]
    press(ask)
    assert "Those at x − h" in ask.answer.value and ask.button.description == "Hide"
    press(ask)
    assert ask.answer.value == ""
    answer(recall("01").children[0], "4")
    assert not (folder / "progress.json").exists()


def test_certain_and_wrong_comes_back_until_answered_right():
    answer(ask_of("01.mean"), "5", sure="certain")
    answer(ask_of("01.true"), "no", sure="fairly sure")
    assert len(recall("01").children) == 3, "not in its own lesson"
    panel = recall("02")
    back = panel.children[3]
    assert (
        len(panel.children) == 4
        and "From lesson 01, where you were certain" in back.children[0].value
    )
    assert "the mean of" in back.children[0].value and "4. What is the mean" in panel.text
    assert "You will be asked this question again" in answer(back, "4")
    press(back)
    assert "Right this time." in answer(back, "6")
    assert len(recall("02").children) == 4, "right after seeing the answer is not from memory"
    assert "You will not be asked this question again" in answer(recall("02").children[3], "6")
    assert len(recall("02").children) == 3
    assert len(recall("03").children) == 3


def test_all_come_back_the_most_often_missed_then_the_oldest_first():
    for name in ["01.a", "01.b", "02.c", "02.d"]:
        texts.prediction(name, question=name, answer=1, reveal="1")
        record.predicted(name, ["2"], "certain", False)
    record.predicted("02.renamed_since", ["2"], "certain", False)
    assert recall("03").text.splitlines()[4:] == ["4. 01.a", "5. 01.b", "6. 02.c", "7. 02.d"]
    answer(recall("03").children[5], "3")
    assert recall("03").text.splitlines()[4:] == ["4. 02.c", "5. 01.a", "6. 01.b", "7. 02.d"], (
        "missed twice: it comes first"
    )
    press(recall("03").children[4])
    assert recall("03").text.splitlines()[5] == "5. 01.a", "opened without an answer is no miss"
    panel = recall("03")
    assert (
        len(panel.children) == 7
        and panel.children[6].description == "1 more that were certain and wrong"
    )
    panel.children[6].click()
    assert len(panel.children) == 7 and "02.d" in panel.children[6].children[0].value
    answer(panel.children[6], "1")
    assert recall("03").text.splitlines()[4:] == ["4. 02.c", "5. 01.a", "6. 01.b"]
    assert len(recall("03").children) == 6


# ---------------------------------------------------------------- card


def open_card():
    panel = card("01")
    box, (button, count), beside = panel.children[0], panel.children[1].children, panel.children[2]
    return panel, box, button, count, beside


def test_the_learners_card_comes_first_and_is_kept():
    panel, box, button, count, beside = open_card()
    assert box.value == "" and beside.value == "" and "0 of 6 lines" in count.value
    box.value = "Divide $y$ by x.\n\n  Be kind. \n"
    assert "2 of 6 lines" in count.value and record.read()["cards"] == {
        "01": ["Divide $y$ by x.", "Be kind."]
    }
    button.click()
    mine, ours = beside.value.split("Ours")
    assert (
        "Divide $y$ by x." in mine
        and "Be kind." in mine
        and r"\(x\)" in ours
        and "rise / run</code>" in ours
    )
    box.value += "A third."
    assert "A third." in beside.value
    button.click()
    assert beside.value == ""
    assert open_card()[1].value == "Divide $y$ by x.\nBe kind.\nA third."
    box.value = ""
    assert record.read()["cards"] == {}


def test_a_card_shows_code_as_it_was_typed():
    _, box, button, _, beside = open_card()
    box.value = "x - 0.1*grad*scale and y*z\n`class A: def __init__(self)`\n__init__ <b> & 1. <img onerror=alert(1)> $<b>$"
    button.click()
    mine = beside.value.split("Ours")[0]
    assert (
        "x - 0.1*grad*scale and y*z</li>" in mine and ">class A: def __init__(self)</code>" in mine
    )
    assert "<li>__init__ &lt;b&gt; &amp; 1. &lt;img onerror=alert(1)&gt; $&lt;b&gt;$</li>" in mine


@pytest.mark.parametrize(
    "typed, html",
    [
        ("<script>x</script>", "&lt;script&gt;x&lt;/script&gt;"),
        ("$a<b$", r"\(a&lt;b\)"),
        ("`x < y`", "x &lt; y"),
        ("$$\na < b & c\n$$", "a &lt; b &amp; c"),
        ("|a|b|\n|-|-|\n|$x<1$|<i>|", "<td>&lt;i&gt;</td>"),
        ("[a](javascript:alert(1))", '<a href="#harmful-link">'),
        ('![x" onerror="y](z)', 'alt="x&quot; onerror=&quot;y"'),
    ],
)
def test_html_in_a_text_is_escaped(typed, html):
    """A learner's card is their own Markdown. Releases of mistune before 3.2.1 passed maths
    through unescaped.
    """
    assert html in questions.as_html(typed)


def test_unreadable_text_is_shown_as_typed():
    ask = ask_of("01.mean")
    assert "“x*y*z &lt;img&gt; __a__” is not a number" in answer(ask, "x*y*z <img> __a__")


def test_more_than_six_lines_are_counted_not_cut():
    _, box, _, count, _ = open_card()
    box.value = "\n".join("1234567")
    assert (
        "7 lines, but a card has at most 6" in count.value
        and len(record.read()["cards"]["01"]) == 7
    )


def test_the_cards_twin_folds_ours():
    panel = open_card()[0]
    assert (
        "Divide" not in panel.text
        and "Divide" not in panel.html.split("<details>")[0]
        and "rise / run" in panel.html
    )


# ---------------------------------------------------------------- place


def placing():
    panel = place()
    return panel, *panel.children


def asks_and_where(inside):
    return inside.children[:-1], inside.children[-1].value


def test_the_questions_are_folded_at_first():
    panel, button, inside = placing()
    assert inside.layout.display == "none" and button.description == "Open the questions"
    button.click()
    assert inside.layout.display is None and button.description == "Fold the questions"
    assert panel.html.startswith("<details>") and "Four?" in panel.text
    assert (
        "First miss at question 1 or 2: <strong>Begin with 00.</strong> Slopes come first."
        in panel.html
    )
    assert (
        "First miss at question 4, or none: <strong>Begin with 05.</strong> Arrays come last."
        in panel.html
    )


def test_it_goes_on_while_all_is_right(folder):
    _, _, inside = placing()
    asks, where = asks_and_where(inside)
    assert len(asks) == 2 and "So far" in where and "Begin with 00" in where
    answer(asks[0], "1")
    assert len(asks_and_where(inside)[0]) == 2 and "So far" in asks_and_where(inside)[1]
    answer(asks[1], "2")
    asks, where = asks_and_where(inside)
    assert len(asks) == 3 and "So far: " in where and "Begin with 02" in where
    answer(asks[2], "3")
    answer(asks_and_where(inside)[0][3], "4")
    asks, where = asks_and_where(inside)
    assert (
        len(asks) == 4
        and "So far" not in where
        and "Begin with 05.</strong> Arrays come last." in where
    )
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("given", ["7", ""])
def test_a_miss_ends_it_and_trying_again_goes_on(given):
    _, _, inside = placing()
    asks, _ = asks_and_where(inside)
    answer(asks[0], "1")
    answer(asks[1], given)
    shown, where = asks_and_where(inside)
    assert (
        len(shown) == 2
        and "So far" not in where
        and "Begin with 00.</strong> Slopes come first." in where
    )
    press(asks[1])
    answer(asks[1], "2")
    assert len(asks_and_where(inside)[0]) == 3


def test_where_to_begin_is_named(folder):
    (folder / "00_start_here.ipynb").touch()
    _, _, inside = placing()
    assert "Begin with 00 Start here." in asks_and_where(inside)[1]


# ---------------------------------------------------------------- the lessons' own texts


def test_run_all_leaves_no_file(folder):
    for panel in [
        predict("01.mean"),
        predict("01.true"),
        predict("02.both"),
        recall("02"),
        card("01"),
        place(),
    ]:
        panel._repr_mimebundle_()
    assert list(folder.iterdir()) == []


def test_every_text_of_the_lessons_is_sound():
    exercises.registered()
    asked = {
        **REAL["PREDICTIONS"],
        **{f"recall {lesson}": one for lesson, three in REAL["RECALL"].items() for one in three},
        **{
            f"place {lesson}": one
            for lesson, (_, some) in REAL["PLACEMENT"].items()
            for one in some
        },
    }
    for name, question in asked.items():
        assert question.reveal, name
        for _, value, choices in parts(question):
            assert choices is None or isinstance(value, str) and value in choices, (
                f"{name}: {value!r} is not among its choices"
            )
            assert choices or not isinstance(value, str), f"{name}: a text needs choices"
        assert (
            right(question, [shown(value) for _, value, _ in parts(question)])
            or question.answer is None
        ), name
    for lesson, three in REAL["RECALL"].items():
        assert len(three) == 3, lesson
    for lesson, lines in REAL["CARDS"].items():
        assert 1 <= len(lines) <= 6, lesson
