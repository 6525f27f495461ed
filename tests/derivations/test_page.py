"""Derivations on a page without Python: the judge in JavaScript agrees with the one in Python,
and the text boxes work.
"""

import json
import re
from pathlib import Path

import derivation_spec
import lab
import pages
import pytest
import rotation
import tex
from derivations.typed import HOSTILE, TABLE, derivation_of
from playwright.sync_api import sync_playwright

from autograd_course import derive, record
from autograd_course.derivations import DERIVATIONS, expressions
from autograd_course.derivations.expressions import FUNCTIONS
from autograd_course.derivations.judge import judge
from autograd_course.grading import registered

pytestmark = pytest.mark.rotating(
    *rotation.RUNTIME, "autograd_course/derivations/", "tests/derivations/"
)

WEB = Path(pages.__file__).parent
registered()


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright, lab.chromium(playwright) as browser:
        if not browser:
            pytest.skip("no Chromium here")
        yield browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write all derivations of the course on one page, as `make site` writes them."""
    folder, shown = tmp_path_factory.mktemp("derivations"), []
    for name in DERIVATIONS:
        bundle = derivation_spec.bundle(derive(name))
        shown.append(
            pages.deriving(bundle[derivation_spec.MIME], tex.formulas(bundle["text/html"]))
        )
    body = f'<main id="main"><h1>1</h1>{"".join(shown)}<p class="turn end"></p></main>'
    for name in ("site.js", "derivations.js", "site.css"):
        (folder / name).write_text((WEB / name).read_text(encoding="utf-8"), encoding="utf-8")
    links = '<link rel="stylesheet" href="site.css"><script src="site.js" defer></script>'
    links += '<script src="derivations.js" defer></script>'
    html = f'<!doctype html><html lang="en"><meta charset="utf-8">{links}<body>{body}</body></html>'
    (folder / "page.html").write_text(html, encoding="utf-8")
    return folder


@pytest.fixture
def page(browser, folder):
    """Open the page with an empty storage."""
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto((folder / "page.html").as_uri())
    assert page.evaluate("localStorage.length") == 0
    yield page
    page.close()


def test_both_judges_give_the_same_verdicts_and_sentences(page):
    """The judges agree on the answers of the table and on hostile input."""
    cases = []
    for name, typed in TABLE["typed"].items():
        last = len(derivation_of(name).steps) - 1
        cases += [(name, step, text, kind) for step, text, kind in typed]
        cases += [(name, last, text, None) for text in HOSTILE]
    specs = {name: derivation_spec.spec(name, derivation_of(name)) for name in TABLE["typed"]}
    given = page.evaluate(
        """([specs, cases]) => cases.map(([name, step, text]) => {
            const {kind, message, hint} = derivations.judge(specs[name], step, text);
            return [kind, message, hint ?? ""];
        })""",
        [specs, cases],
    )
    assert len(given) > 1180 and sum(bool(hint) for *_, hint in given) > 190
    for (name, step, text, wanted), said in zip(cases, given, strict=True):
        verdict = judge(derivation_of(name), step, text)
        assert said == [verdict.kind, verdict.message, verdict.hint], (name, step, text)
        assert verdict.kind == wanted or wanted is None and verdict.kind in ("wrong", "unreadable")


def test_the_spellings_are_the_same():
    """The lists in derivations.js are JSON, so that this test can compare them."""
    script = (WEB / "derivations.js").read_text(encoding="utf-8")

    def listed(name):
        return json.loads(re.search(rf"const {name} = (\[.*?\]);\n", script, re.DOTALL)[1])

    assert listed("SPELLINGS") == [list(pair) for pair in expressions._SPELLINGS.items()]
    small = [expressions._SUPERSCRIPTS, expressions._SUBSCRIPTS]
    assert [one[:2] for one in listed("SMALL")] == [list(pair) for pair in small]


def test_the_functions_are_the_same(page):
    letters = {"letters": [["x", [0.5]]], "matrices": [], "vectors": [], "sizes": {}}
    for name in FUNCTIONS:
        tree = page.evaluate(
            "([text, spec]) => derivations.read(text, spec)", [f"{name}(x)", letters]
        )
        assert tree[0] == "call"


def boxes(page, name):
    return page.locator(".derive").nth(list(DERIVATIONS).index(name))


def test_lines_are_typed_judged_drawn_and_kept(page, tmp_path, monkeypatch):
    box = boxes(page, "03.divide")
    assert not box.locator(".paper").is_visible()
    typed = box.get_by_role("textbox", name="right-hand side of line 2")
    typed.fill("(dx")
    assert "…" in box.locator(".echo").inner_text()
    typed.fill("(dx + z dy)/y")
    assert box.locator(".echo mfrac").count() == 1
    typed.press("Enter")
    assert "Check again" in box.get_by_role("status").inner_text()
    typed.press("Enter")
    assert "z * dy" in box.get_by_role("status").inner_text(), "asked again"
    typed.fill("dz")
    box.get_by_role("button", name="check this line").click()
    assert "True, but" in box.get_by_role("status").inner_text()
    typed.fill("(dx - z dy)/y")
    typed.press("Enter")
    assert box.locator(".news").inner_text() == "Right. Line 3 is next."
    third = box.get_by_role("textbox", name="right-hand side of line 3")
    assert third.evaluate("box => box === document.activeElement")
    box.get_by_role("button", name="show this line and go on").click()
    assert (
        box.locator(".news").inner_text()
        == "It is shown above. Choose the reason above. That was the last line."
    )
    assert box.get_by_role("textbox").count() == 0
    box.get_by_role("radio", name=DERIVATIONS["03.divide"].steps[2].rivals[0]).check()
    assert DERIVATIONS["03.divide"].steps[2].reason in box.get_by_role("status").inner_text()
    kept = [["(dx - z dy)/y", False], ["-z/y", True]]
    record_file = tmp_path / "progress.json"
    record_file.write_text(page.evaluate("JSON.stringify(progress())"), encoding="utf-8")
    monkeypatch.setattr(record, "FILE", record_file)
    assert record.read()["lines"] == {"03.divide": kept}, "JupyterLab reads it"
    assert derive("03.divide").line is None
    rival = DERIVATIONS["03.divide"].steps[2].rivals[0]
    assert record.read()["reasons"] == {"03.divide": rival}
    page.reload()
    chosen = boxes(page, "03.divide").get_by_role("radio", name=rival)
    assert chosen.is_checked() and chosen.is_disabled()
    assert boxes(page, "03.divide").get_by_role("textbox").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") == 390


EXERCISE = "divide_x = lambda g, z, x, y: ...\ndivide_y = lambda g, z, x, y: ..."


def test_the_rule_that_was_typed_goes_into_the_exercise(page):
    page.evaluate(
        """text => document.querySelector("main").append(
            Object.assign(document.createElement("textarea"), {value: text, oninput: () => window.heard = true}))""",
        EXERCISE,
    )
    box = boxes(page, "03.divide")
    for typed in ["(dx - z dy)/y", "-x/y^2"]:
        box.get_by_role("textbox").fill(typed)
        box.get_by_role("textbox").press("Enter")
    assert box.locator(".lines").evaluate("lines => lines === document.activeElement")
    code = "divide_y = lambda g, z, x, y: g * (-x / y**2)"
    assert box.locator("p > code").inner_text() == code
    box.get_by_role("button", name="Write it into the exercise").click()
    editor = page.locator("textarea")
    assert editor.input_value().split("\n") == [EXERCISE.split("\n")[0], code]
    assert page.evaluate("heard"), "live.js stores what was written"
    editor.evaluate("editor => editor.remove()")
    box.get_by_role("button", name="Write it into the exercise").click()
    assert "divide_y" in box.get_by_role("status").last.inner_text()


def test_a_rule_in_code_is_that_of_python_and_is_left_out_if_the_line_was_shown(page):
    for name in [name for name, one in DERIVATIONS.items() if one.code]:
        derivation = DERIVATIONS[name]
        *before, last = [step for step in derivation.steps if not step.worked]
        number = derivation.steps.index(last)
        for step, typed, kind in TABLE["typed"][name]:
            if kind == "right" and step == number:
                lines = [[one.right, True] for one in before]
                page.evaluate(
                    "record => localStorage.setItem(KEPT, JSON.stringify(record))",
                    {"lines": {name: [*lines, [typed, False]]}},
                )
                page.reload()
                code = boxes(page, name).locator("p > code").inner_text()
                assert code == derivation.as_code(typed), typed
        page.evaluate(
            "record => localStorage.setItem(KEPT, JSON.stringify(record))",
            {"lines": {name: [*lines, [last.right, True]]}},
        )
        page.reload()
        assert boxes(page, name).locator("p > code").count() == 0
        assert boxes(page, name).get_by_role("textbox").count() == 0


@pytest.fixture
def later(page, folder):
    """Open a lesson that asks from memory, and has no derivation, after lines were shown."""

    def opened(lesson, lines):
        shown = json.dumps({"lines": lines})
        page.evaluate("shown => localStorage.setItem(KEPT, shown)", shown)
        earlier = (folder / "page.html").read_text(encoding="utf-8")
        derived = pages.derived([pages.Page("page", earlier)])
        (folder / "derived.js").write_text(derived, encoding="utf-8")
        source = f"""<div class="code_cell"><span hidden data-source='recall("{lesson}")'></span></div>"""
        html = re.sub(
            r"<main.*</main>",
            lambda _: f'<main id="main">{source}<p class="turn end"></p></main>',
            earlier,
            flags=re.S,
        )
        html = html.replace('<script src="derivations.js" defer></script>', "")
        (folder / "later.html").write_text(html, encoding="utf-8")
        page.goto((folder / "later.html").as_uri())
        return page

    return opened


def test_a_shown_line_comes_back_until_it_is_typed(later):
    lines = {"03.divide": [["(dx - z dy)/y", False], ["-z/y", True]], "09.matmul": [["A", True]]}
    page = later("06", lines)
    page.get_by_role("textbox", name="right-hand side of line 3").fill("z/y")
    assert page.locator(".derive").count() == 1, "lesson 09 comes later"
    assert page.locator(".derive > p:has(math)").count() == 2, "the lines before it"
    page.get_by_role("button", name="check this line").click()
    assert "Not yet" in page.get_by_role("status").last.inner_text()
    page.get_by_role("textbox").last.fill("-x/y^2")
    page.get_by_role("textbox").last.press("Enter")
    page.get_by_text("Right. You will not be asked for this line again.").wait_for()
    kept = page.evaluate("progress().lines['03.divide']")
    assert kept == [["(dx - z dy)/y", False], ["-x/y^2", False]]
    assert page.evaluate("document.activeElement.className") == "derive on"
    page.reload()
    page.wait_for_load_state()
    assert page.locator("script[src='derived.js']").count() == 0, "nothing to fetch"


def test_a_line_that_is_shown_again_comes_back_again_and_two_come_at_once(later):
    lines = {name: [["", True]] for name in ["03.divide", "04.tanh", "04.sigmoid", "05.gone"]}
    page = later("10", lines)
    page.locator(".derive").nth(1).wait_for()
    assert page.locator(".derive").count() == 2
    page.get_by_role("button", name="show this line and go on").first.click()
    page.get_by_text("You will be asked for this line again in a later lesson.").wait_for()
    assert page.evaluate("progress().lines['03.divide']") == [["", True]]


def test_formulas_in_a_sentence_are_drawn_as_code(page):
    box = boxes(page, "04.tanh")
    for typed in ["p", "1 - tanh(x)^2"]:
        box.get_by_role("textbox").fill(typed)
        box.get_by_role("textbox").press("Enter")
    said = box.locator("div > [role=status]").last
    assert said.locator("code").all_inner_texts() == ["tanh(x)"] and "`" not in said.inner_text()


def test_every_line_can_be_typed_with_the_keys(page):
    box = boxes(page, "04.sigmoid")
    for key in ["minus", "z", "divided by", "q"]:
        box.get_by_role("button", name=f"type {key}", exact=True).click()
    box.get_by_role("button", name="check this line").click()
    assert box.get_by_role("textbox", name="right-hand side of line 2").count() == 1
    keys = [one.get_attribute("aria-label") for one in box.locator(".keys button").all()]
    spec = derivation_spec.spec("04.sigmoid", DERIVATIONS["04.sigmoid"])
    assert keys[:-1] == [f"type {spoken}" for _, spoken in spec["keys"]]


def test_a_damaged_record_is_left_out(page):
    """Saved text is parsed like typed text and never inserted into the page unparsed."""
    for lines in ['[["<img src=x onerror=stop()>", false]]', '[["z/y", false]]', "3", '[["z"]]']:
        page.evaluate(
            "text => localStorage.setItem(KEPT, text)", f'{{"lines": {{"03.divide": {lines}}}}}'
        )
        page.reload()
        box = boxes(page, "03.divide")
        assert box.get_by_role("textbox", name="right-hand side of line 2").count() == 1
        assert box.locator("img").count() == 0


def test_on_paper_the_boxes_are_empty(page):
    page.emulate_media(media="print")
    box = boxes(page, "09.matmul")
    assert box.locator(".paper").is_visible() and not box.locator(".lines").is_visible()
    assert len(re.findall('aria-label="blank"', box.locator(".paper").inner_html())) == 3


def test_a_spec_is_small():
    for name, derivation in DERIVATIONS.items():
        assert len(json.dumps(derivation_spec.spec(name, derivation))) < 5000
