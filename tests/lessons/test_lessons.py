"""What can be counted of a lesson: its frame and its size, and that the rows of the table are derived where they say."""

import ast
import re
from pathlib import Path
from statistics import median

import nbformat
import pytest

import autograd_lib as ag
from autograd_course.drawing.rules import derived

ROOT = Path(__file__).parents[2]
LESSONS = {path.stem[:2]: path for path in sorted(ROOT.glob("notebooks/[0-9]*.ipynb"))}
EVERY_LESSON = pytest.mark.parametrize("lesson", LESSONS)
LONGEST_CELL = 25
WIDEST_LINE = 111  # a cell of JupyterLab shows about as many at 1280 pixels; what is wider is cut off, or scrolled to
MOST_MINUTES, MOST_WORDS = 75, 2400


def cells(lesson, kind):
    return [
        cell
        for cell in nbformat.read(LESSONS[lesson], as_version=4).cells
        if cell.cell_type == kind
    ]


def calls(lesson, function):
    """The calls of `function` in the lesson's code, as syntax trees."""
    return [
        node
        for cell in cells(lesson, "code")
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == function
    ]


@EVERY_LESSON
def test_a_lesson_has_its_frame(lesson):
    text = [cell.source for cell in cells(lesson, "markdown")]
    assert re.match(r"# \w+", text[0]), "the first cell is the title"
    assert "| you build | you need | it takes |" in text[0] and "(notation.ipynb)" in text[0]
    for function in ["predict", "check", "card"] + ["recall"] * (lesson != "00"):
        assert calls(lesson, function), f"no cell calls {function}(…)"
        named = [ast.literal_eval(call.args[0])[:2] for call in calls(lesson, function)]
        assert set(named) == {lesson}
    torn = [
        cell.id
        for cell in cells(lesson, "code")
        if 'predict("' in cell.source and len(cell.source.splitlines()) > 2
    ]
    assert torn == [], (
        "predict(…) has a cell of its own: code would stand between the question and the box for its answer"
    )
    assert "PyTorch" in text[-1] and "**Next.**" in text[-1], (
        "the last cell says what is next, and what it is called elsewhere"
    )
    if following := LESSONS.get(f"{int(lesson) + 1:02}"):
        assert f"]({following.name})" in text[-1].split("**Next.**")[1], (
            "the last cell links to the lesson after this one"
        )


@EVERY_LESSON
def test_a_negative_number_has_a_minus(lesson):
    """Failed once: on 1e-16 in 01, beside pictures that say 1e−16."""
    text = "\n".join(cell.source for cell in cells(lesson, "markdown"))
    prose = re.sub(
        r"```.*?```|\$\$.*?\$\$|`[^`]*`|\$[^$]*\$|\]\([^)]*\)", "", text, flags=re.DOTALL
    )
    assert not re.findall(r"\S*e-\d+|(?<![\w-])-\d\S*", prose)


@EVERY_LESSON
def test_no_placeholder_of_an_exercise_is_left(lesson):
    """Catch the line "exercise 16.largest", which the sync command replaces in a cell of its own only."""
    text = "\n".join(cell.source for cell in cells(lesson, "markdown"))
    assert re.findall(r"^exercise \d\d\.\w+$", text, re.MULTILINE) == []


@EVERY_LESSON
def test_a_code_cell_is_read_at_a_glance(lesson):
    code = [cell.source for cell in cells(lesson, "code")]
    lines = [len(source.splitlines()) for source in code]
    longest = max(code, key=lambda source: len(source.splitlines()))
    assert max(lines) <= LONGEST_CELL, (
        f"a cell of {max(lines)} lines, and {LONGEST_CELL} is the most: cut it in two, or move what draws "
        f"into drawings.py. It begins with\n{longest[:200]}"
    )
    assert median(lines) <= 4, (
        f"half of the code cells have more than 4 lines: {sorted(lines)}. Cut some in two"
    )


@EVERY_LESSON
def test_a_line_of_code_fits_its_cell(lesson):
    wide = {
        cell.id: line
        for cell in cells(lesson, "code")
        if not cell.metadata.get("jupyter", {}).get("source_hidden")
        for line in cell.source.splitlines()
        if len(line) > WIDEST_LINE
    }
    assert wide == {}, f"a line is wider than {WIDEST_LINE}: break it"


@EVERY_LESSON
def test_the_announced_minutes_are_honest(lesson):
    """By what fresh learners needed for the first nine lessons, within a fifth: a minute for 110 words, 8 lines of code or 2/5 of
    a prediction, 1.4 times what an exercise says, 6 for the questions from memory and the card. What is optional takes none."""
    words = lines = predictions = exercises = 0
    optional = False
    for cell in nbformat.read(LESSONS[lesson], as_version=4).cells:
        if heading := re.match(r"#+ .*", cell.source) if cell.cell_type == "markdown" else None:
            optional = "(optional)" in heading[0]
        exercise = re.search(r"\*\*Exercise\*\* \((\d+) minutes?, (\w+)", cell.source)
        if optional or exercise and exercise[2] == "optional":
            continue
        if cell.cell_type == "markdown":
            exercises += int(exercise[1]) if exercise else 0
            words += len(
                re.findall(
                    r"\w+", re.sub(r"<details>.*?</details>", "", cell.source, flags=re.DOTALL)
                )
            )
        elif not cell.metadata.get("jupyter", {}).get("source_hidden"):
            lines += len(cell.source.splitlines())
            predictions += 'predict("' in cell.source
    needed = words / 110 + lines / 8 + 2.5 * predictions + 1.4 * exercises + 6
    announced = int(re.search(r"(\d+) minutes", cells(lesson, "markdown")[0].source)[1])
    assert needed - 1 <= announced <= MOST_MINUTES, (
        f"{announced} minutes announced, {needed:.0f} needed, {MOST_MINUTES} allowed: {words} words / 110, {lines} lines / 8, "
        f"{predictions} predictions × 2.5, exercises {exercises} × 1.4, and 6. "
        "Announce more in the first cell, cut, or make a section (optional)"
    )
    assert words <= MOST_WORDS, (
        f"{words} visible words on the required path, and {MOST_WORDS} is the most: cut, fold, or make optional"
    )


@EVERY_LESSON
def test_the_teachers_guide_has_its_page(lesson):
    first = cells(lesson, "markdown")[0].source
    title, minutes = re.match(r"# (.+)", first)[1], re.search(r"(\d+) minutes", first)[1]
    pages = (ROOT / "notebooks/teachers_guide.md").read_text(encoding="utf-8").split("\n## ")[1:]
    page = next((page for page in pages if page.startswith(f"{lesson} {title}\n")), "")
    for part in [
        f"**Minutes:** {minutes}",
        "**Misconception:**",
        "**Predictions to expect:**",
        "**On the board:**",
        "**Exit question:**",
    ]:
        assert part in page, f"teachers_guide.md, {lesson} {title}: {part}"


@pytest.mark.parametrize("row, lesson", derived().items())
def test_every_row_is_derived_and_compared_where_the_table_says(row, lesson):
    assert f"ag.{row}" in compared(lesson), (
        f"lesson {lesson} derives {row}: its same_line({{…}}) has to show the learner's rule"
    )


@EVERY_LESSON
def test_no_lesson_claims_a_row_that_does_not_exist(lesson):
    for row in compared(lesson):
        assert row.removeprefix("ag.") in derived() and hasattr(ag.ops, row.removeprefix("ag.")), (
            row
        )


def compared(lesson):
    """The rows that the lesson's `same_line` compares, "ag.multiply"; those without a public name are written ag.ops.getitem."""
    arguments = [call.args for call in calls(lesson, "same_line")]
    rows = [
        row
        for first, *rest in arguments
        for row in (first.keys if isinstance(first, ast.Dict) else rest[:1])
    ]
    return [ast.unparse(row).replace("ag.ops.", "ag.") for row in rows]
