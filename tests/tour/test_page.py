"""The page of the engine explains every statement of the core and nothing else, and each
predicted failure occurs.
"""

import json
import re
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import unquote

import mutate
import pytest

from autograd_course.tour import page
from autograd_course.tour.contracts import CONTRACTS, said
from autograd_course.tour.mutations import DELETED, statements
from autograd_course.tour.order import BESIDE, DELETIONS, PARTS, PATIENTS

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
NAMED = [(key, names, section) for key, part in PARTS.items() for names, section, _ in part.lines]
LINES = {key: page.deletable_in(key) for key in PARTS}


def cells():
    return json.loads((NOTEBOOKS / "engine.ipynb").read_text(encoding="utf-8"))["cells"]


@pytest.mark.parametrize("name", [one.name for one in page.definitions()])
def test_every_definition_of_the_core_is_read(name):
    assert page.home(name), (
        f"{name} is in no part of the page: add it to a line of PARTS in "
        "autograd_course/tour/order.py, beside the definitions of the same section"
    )


def test_the_page_lists_no_other_definition():
    there = [one.name for one in page.definitions()]
    named = [pattern for _, names, _ in NAMED for pattern in names.split()]
    assert [
        pattern for pattern in named if not any(fnmatchcase(name, pattern) for name in there)
    ] == []


def test_every_statement_of_the_core_can_be_deleted():
    deleted = [one for lines in LINES.values() for one in lines]
    assert len(deleted) == len(set(deleted))
    assert set(deleted) == {one for file in DELETED for one in statements(file)}
    assert max(map(len, LINES.values())) <= 101, (
        "a slider of the site has so many places: cut the part in two"
    )


def test_without_the_notebooks_a_section_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(page, "HOME", tmp_path / "autograd_lib")
    assert page._link("05 The order of visits") == "(05 The order of visits)"


@pytest.mark.parametrize("section", sorted({section for _, _, section in NAMED}))
def test_a_link_leads_to_a_section(section):
    file, anchor = re.search(r"\]\((\S+?)#(\S+)\)\)$", unquote(page._link(section))).groups()
    notebook = json.loads((NOTEBOOKS / file).read_text(encoding="utf-8"))
    text = "\n".join(
        "".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"
    )
    assert re.search(rf"(?m)^##+ {re.escape(anchor.replace('-', ' '))}$", text.replace("-", " ")), (
        section
    )


def broken(where, line):
    return {
        one.program: outcome
        for one, outcome, mark in page.results(page.find(where, line))
        if mark != "right"
    }


def the_program(piece):
    (program,) = [one.program for one in CONTRACTS if piece in one.program]
    return program


@pytest.mark.parametrize("name", DELETIONS)
def test_each_predicted_failure_occurs(name):
    one = DELETIONS[name]
    without = broken(one.where, one.line)
    if isinstance(one.shown, dict):
        assert [choice for choice, piece in one.shown.items() if the_program(piece) in without] == [
            one.answer
        ]
    else:
        assert said(one.answer) in without[the_program(one.shown)]


def test_each_patient_has_an_illness_of_its_own():
    ills = [broken(*patient) for patient in PATIENTS.values()]
    assert all(ills) and len({json.dumps(ill) for ill in ills}) == len(PATIENTS)
    asked = {page.find(one.where, one.line) for one in DELETIONS.values()}
    assert not asked & {page.find(*patient) for patient in PATIENTS.values()}


def test_the_notebook_has_every_part_and_asks_before_it_shows():
    text = ["".join(cell["source"]) for cell in cells()]
    for key, part in PARTS.items():
        functions = ("read", "delete_lines") if LINES[key] else ("read",)
        at = [text.index(f'{function}("{key}")') for function in functions]
        assert at == sorted(at) and any(
            re.match(rf"## \d+ · {re.escape(part.title)}\n", one) for one in text
        ), key
    for name, one in DELETIONS.items():
        at = text.index(f'predict_deletion("{name}")')
        assert one.question in text[at - 1] and one.line in text[at - 1], (
            f"{name}: {one.question} {one.line}"
        )
        assert at < text.index(f'delete_lines("{asked_in(name)}")')
    assert all(f'yours_and_ours("{name}")' in text for name in BESIDE)


def asked_in(name):
    """Return the part that asks the question: the part of its definition, except for a line of
    `record` that another part explains.
    """
    return {"tangents": "forward"}.get(name) or page.home(DELETIONS[name].where)[0]


SPELLED = {"Five": 5, "Ten": 10, "Fifteen": 15, "Twenty": 20, "Twenty-five": 25, "Thirty": 30}


def minutes(cell):
    """Return the minutes for a first reading of a cell and for its folded text.

    A minute is 110 words, 8 lines of code, 2/5 of a prediction, or a slider. A
    reader who came from lesson 10 took 147 minutes, where this computes 130.
    """
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return words(text), 0
    function, key = re.match(r"(\w+)(?:\(\"(.*?)\"\))?", text).groups()
    if function == "read":
        every, first = [to_read(*line) for line in page.of_part(key)], len(PARTS[key].lines)
        return sum(every[:first]), sum(every[first:])
    return {
        "predict_deletion": 2.5,
        "delete_lines": 1,
        "patients": 1,
        "diagnose": 5,
        "from": 0,
        "yours_and_ours": words(BESIDE[key][1]) if key in BESIDE else 0,
    }[function], 0


def words(text):
    return len(re.findall(r"\w+", text)) / 110


def to_read(found, _, purpose):
    text = "\n".join("\n".join(one.lines) for one in found)
    said = r'""".*?"""'
    code = [line for line in re.sub(said, "", text, flags=re.DOTALL).split("\n") if line.strip()]
    return words(" ".join([purpose, *re.findall(said, text, re.DOTALL)])) + len(code) / 8


def test_the_announced_minutes_are_honest():
    parts, folded = {}, 0
    for cell in cells():
        if heading := re.match(r"## (.*)", "".join(cell["source"])):
            title, said = (
                heading[1],
                re.search(r"([A-Z][a-z-]+) minutes\.", "".join(cell["source"])),
            )
            parts[title] = SPELLED[said[1]] if said else None, 0
        if parts:
            now, later = minutes(cell)
            parts[title] = parts[title][0], parts[title][1] + now
            folded += later
    assert {
        title: needed for title, (said, needed) in parts.items() if said and needed > said + 2
    } == {}
    each = [needed for _, needed in parts.values()]
    at = list(parts).index("A second reading")
    needed = sum(each[:at]), sum(each[at:]) + folded
    announced = [int(n) for n in re.findall(r"\| (\d+) minutes", "".join(cells()[0]["source"]))]
    assert [n - 1 <= said <= n + 5 for n, said in zip(needed, announced, strict=True)] == [
        True,
        True,
    ], needed


def test_a_picture_says_what_it_shows():
    deleted = page.find("tape:backward_pass", "ledger[key] = ledger[key] + gx")
    picture = page.without(deleted)
    assert f'<s style="{page.BROKEN}">' in picture.html and deleted.text.strip() in picture.text
    assert "≠ expected 6.0, got 3.0" in picture.text and "✓" in picture.text
    assert picture.text.startswith("Deleted from backward_pass")
    assert page.without(page.find("values:as_array", "array = data")).text.startswith(
        "Second reading: deleted from as_array"
    )


def test_the_tests_that_are_named_exist():
    """The tests recorded by `make mutate ARGS=--write` exist; up to a tenth may have been
    renamed since.
    """
    named = {
        by
        for texts in json.loads(page.NOTICED.read_text(encoding="utf-8")).values()
        for by in texts.values()
    }
    parts = [(by, *by.partition("[")[0].split("::")) for by in named]
    lost = [by for by, file, test in parts if f"def {test}(" not in source(file)]
    assert len(lost) <= len(named) / 10, f"run make mutate ARGS=--write: {lost}"


def source(file):
    return (NOTEBOOKS.parent / file).read_text(encoding="utf-8")


def test_the_failing_tests_are_recorded(tmp_path):
    kept = tmp_path / "noticed.json"
    kept.write_text('{"ops:old": {"gone": "tests/x.py::test_x"}}')
    some = LINES["back"][:3]
    where, text = f"{some[0].file}:{some[0].where}", some[0].text.strip()
    mutate.write_down(dict(zip(some, ["tests/y.py::test_y", "contract: x", ""])), kept)
    assert json.loads(kept.read_text()) == {
        "ops:old": {"gone": "tests/x.py::test_x"},
        where: {text: "tests/y.py::test_y"},
    }
    mutate.write_down({some[0]: ""}, kept)
    assert json.loads(kept.read_text()) == {"ops:old": {"gone": "tests/x.py::test_x"}}
