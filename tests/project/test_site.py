"""`make site` builds every page; browsers and screen readers can read them."""

import gzip
import html
import json
import re
import tomllib
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise, product
from math import prod
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import drawn
import lab
import launch_links
import nbformat
import numpy as np
import once
import pages
import precomputed_frames
import predictions
import pytest
import rotation
import tex
from nbconvert.filters import markdown2html_mistune
from PIL import Image

import autograd_lib as ag
from autograd_course import (
    Picture,
    backward_stepper,
    explore,
    live_graph,
    predict,
    record,
    slope_explorer,
    tour,
)
from autograd_course.grading import EXERCISES, registered
from autograd_course.quiz import questions
from autograd_course.quiz.texts import PREDICTIONS, Question

ROOT = Path(__file__).parents[2]
NAMES = [
    "index",
    *(path.stem for path in sorted((ROOT / "notebooks").glob("*.ipynb"))),
    "teachers_guide",
    "classroom",
]
EVERY_PAGE = pytest.mark.parametrize("name", NAMES)


@pytest.mark.rotating(*rotation.RUNTIME)
def test_a_notebook_is_run_for_its_page(capfd):
    """`make site` and the tests run a notebook with the same result, except for execution
    counts, and print nothing.
    """
    path = ROOT / "notebooks/03_derive_the_arithmetic.ipynb"
    (ran, moves), (kept, same) = (
        pages.render_outputs(notebook) for notebook in (pages.executed(path), once.notebook(path))
    )
    ran, kept = (
        [
            [{**output, "execution_count": None} for output in cell.get("outputs", [])]
            for cell in notebook.cells
        ]
        for notebook in (ran, kept)
    )
    assert ran == kept and any(ran) and moves == same and len(moves) == 4
    out, err = capfd.readouterr()
    # wasmtime, which lays out graphs, may warn when Python frees an engine that it has closed.
    assert out == "" and (err == "" or "wasmtime/_managed.py" in err)


# Statements that changed since `make mutate ARGS=--write`, which takes an hour, recorded the
# tests that fail without each of them. This number may only fall.
STALE = 0


@pytest.mark.rotating(*once.DRAWINGS)
@pytest.mark.parametrize("name", ["engine"])
def test_each_line_of_the_engine_breaks_a_contract_or_names_the_test_that_fails(
    name, record_property
):
    """The notebook deletes each statement in turn. If a statement is not listed, run make mutate
    ARGS=--write
    """
    shown = [
        output["data"][precomputed_frames.MIME]
        for cell in once.notebook(ROOT / f"notebooks/{name}.ipynb").cells
        if cell.source.startswith("delete_lines")
        for output in cell.outputs
    ]
    said = [words for one in shown for _, words in precomputed_frames.unpacked(one)]
    assert len(said) == sum(len(tour.page.deletable_in(part)) for part in tour.order.PARTS)
    kept = [words for words in said if "No contract is broken" in words]
    record_property(
        "summary",
        f"deleted from the engine: {len(said) - len(kept)} of {len(said)} statements break a contract",
    )
    # Guards with an error message are detected by tests, not by the contracts.
    assert len(kept) < 0.2 * len(said)
    unnoticed = [words for words in kept if "But a test of the engine fails: tests/" not in words]
    assert len(unnoticed) <= STALE, "\n\n".join(unnoticed)


def test_one_print_is_one_text():
    """The text of one print stays together even if the kernel sends it in parts. Regression: the
    second part became a separate paragraph.
    """
    parts = [nbformat.v4.new_output("stream", text=text) for text in ("caught:", " D\n")]
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell('print("caught:", "D")', outputs=parts)]
    )
    outputs = pages.render_outputs(notebook)[0].cells[0].outputs
    assert [output.text for output in outputs] == ["caught: D\n"]


def test_a_notebook_that_fails_is_named(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")])
    nbformat.write(notebook, tmp_path / "broken.ipynb")
    with pytest.raises(RuntimeError, match="(?s)broken.ipynb raised an error:.*ZeroDivisionError"):
        pages.executed(tmp_path / "broken.ipynb")


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    (tmp_path / "site.css").write_text("of another site")
    for folder in (tmp_path, tmp_path / "thesis.txt", ROOT / "web"):
        with pytest.raises(FileExistsError, match="files, but no site"):
            pages.build(folder)
    assert (tmp_path / "thesis.txt").exists() and (ROOT / "web/site.css").exists()


class Page(HTMLParser):
    """Parse a page for the tests: the tags with their attributes, and the text outside code,
    formulas and drawings.
    """

    def __init__(self, path):
        super().__init__()
        self.tags, self.words, self.inside, self.drawings = [], [], [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "svg" and "svg" not in self.inside and ("aria-hidden", "true") not in attributes:
            self.drawings.append("")
        if tag in ("pre", "code", "math", "svg", "script"):
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if self.inside and tag == self.inside[-1]:
            self.inside.pop()

    def handle_data(self, data):
        if "svg" in self.inside and self.tags[-1][0] == "title":
            self.drawings[-1] += data
        if not self.inside:
            self.words.append(data)

    def all(self, *tags):
        return [attributes for tag, attributes in self.tags if tag in tags]


@cache
def read(path):
    return Page(path)


@EVERY_PAGE
def test_links_lead_somewhere(site, name):
    """Regression: a heading with ² had one spelling in the link and another in its id."""
    for attributes in read(site / f"{name}.html").all("a"):
        target = attributes["href"]
        if re.match(r"https?://", target):
            continue
        file, _, anchor = target.partition("#")
        goal = site / (file or f"{name}.html")
        assert goal.is_file(), target
        assert not anchor or unquote(anchor) in {tag.get("id") for _, tag in read(goal).tags}, (
            target
        )


@EVERY_PAGE
def test_a_page_needs_no_other_host_and_three_scripts(site, name):
    page = read(site / f"{name}.html")
    assert {frozenset(script.items()) for script in page.all("script")} <= {
        *(
            frozenset({"src": src, "defer": None}.items())
            for src in (
                "site.js",
                "derivations.js",
                "live.js",
                *["playground.js"] * (name == "playground"),
            )
        ),
        frozenset({"type": "application/gzip;base85"}.items()),
    }
    assert not page.all("iframe") and not [
        key for _, tag in page.tags for key in tag if key.startswith("on")
    ]
    for attributes in page.all("img", "link", "source"):
        assert not re.match(r"(https?:)?//", attributes.get("src", attributes.get("href", ""))), (
            attributes
        )


@pytest.mark.parametrize("name", [*NAMES, "404"])
def test_a_page_runs_only_the_sites_own_scripts(site, name):
    """The policy comes before the content it governs. In the browser tests, a violation is a
    console error.
    """
    page = read(site / f"{name}.html")
    (policy,) = (
        tag["content"]
        for tag in page.all("meta")
        if tag.get("http-equiv") == "Content-Security-Policy"
    )
    allowed = dict(one.strip().split(" ", 1) for one in policy.split(";"))
    assert allowed["default-src"] == "'none'" and "connect-src" not in allowed
    assert allowed["script-src"] == allowed["worker-src"] == "'self'"
    assert "unsafe" not in policy.replace(allowed["style-src"], "")
    assert ("blob:" in policy) == (name == "playground")
    text = (site / f"{name}.html").read_text(encoding="utf-8")
    assert text.index(policy) < min(text.index("<script"), text.index("<link"))


@EVERY_PAGE
def test_no_heading_skips_a_level(site, name):
    """A heading is at most one level below the heading before it, also inside outputs."""
    text = (site / f"{name}.html").read_text(encoding="utf-8")
    levels = [int(level) for level in re.findall(r"<h([1-6])\b", text)]
    assert [pair for pair in pairwise([0, *levels]) if pair[1] > pair[0] + 1] == []


@EVERY_PAGE
def test_every_picture_has_a_text(site, name):
    page = read(site / f"{name}.html")
    assert all(image.get("alt", "").strip() for image in page.all("img"))
    assert all(title.strip() for title in page.drawings)


def test_the_front_page_says_what_x_does_to_L(site):
    """The front page states the effect of x on L in words and in the pictures behind its
    sliders, and each lesson has a picture of its own.
    """
    text = (site / "index.html").read_text(encoding="utf-8")
    assert "move x from 2 to 3, and watch L. It changes by −4, because the gradient of x" in plain(
        text
    )
    packed = pages.front_graph()
    pictures = precomputed_frames.unpacked(packed)
    before, after = (pictures[place(packed, [x, "3", "-4"])][1] for x in "23")
    assert "L = multiply(z, w): value −20" in before and "L = multiply(z, w): value −24" in after
    assert "x: value 2, gradient −4" in before
    shown = re.findall(r'<svg class="icon".*?</svg>', text)
    assert len({*shown}) == len(shown) == sum(name[:2].isdigit() for name in NAMES)


def test_the_front_page_adds_up_the_hours_of_the_lessons(site):
    """The total covers all lessons; a second one covers those that the README calls enough to
    train a network.
    """
    minutes = {}
    for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        minutes[path.name[:2]] = int(
            re.search(r"(\d+) minutes in two parts", path.read_text(encoding="utf-8"))[1]
        )
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first, last, *more = re.search(
        r"Lessons (\d+) to (\d+) are enough.*with (\d+), (\d+) and (\d+) you can train a network",
        readme,
        re.DOTALL,
    ).groups()
    enough = [number for number in minutes if first <= number <= last] + more
    assert enough == pages.ENOUGH and len(enough) == 10
    facts = re.search(
        r'<p class="facts">(.*?)</p>', (site / "index.html").read_text(encoding="utf-8"), re.DOTALL
    )
    numbers = [int(number) for number in re.findall(r"\d+", facts[1])]
    assert numbers == [
        len(minutes),
        round(sum(minutes.values()) / 60),
        *map(int, [first, last, *more]),
        round(sum(minutes[number] for number in enough) / 60),
    ]


def plain(text):
    return " ".join(html.unescape(re.sub("<[^>]+>", "", text)).split())


@pytest.mark.parametrize(
    "path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem
)
def test_words_for_jupyterlab_or_for_pages_are_shown_only_there(path):
    """No page mentions JupyterLab's keys and files or shows a marker, and JupyterLab shows no
    text meant for pages.
    """
    cells = [
        cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"
    ]
    jupyterlab = "\n".join(markdown2html_mistune(cell.source) for cell in cells)
    tagged = [cell for cell in cells if pages.LAB_ONLY in cell.metadata.get("tags", [])]
    everywhere = "\n".join(cell.source for cell in cells if cell not in tagged)
    page, _ = pages.export_notebook(once.without_code(path))
    marks = "<!-- lab-only -->(.*?)<!-- /lab-only -->|<!-- page-only: (.*?) -->"
    assert "<!--" not in re.sub(marks, "", everywhere, flags=re.DOTALL), "a mark without its end"
    assert "\n<!--" not in everywhere, "Markdown does not read a line that begins with a comment"
    for offline, online in re.findall(marks, everywhere, flags=re.DOTALL):
        wanted = plain(markdown2html_mistune(offline or online))
        assert (wanted in plain(page)) == bool(online), wanted
        assert (wanted in plain(jupyterlab)) == bool(offline), wanted
    for cell in tagged:
        assert f'"cell-id={cell.id}"' not in page, cell.id
    elsewhere = r"JupyterLab|progress\.json|Shift \+ Enter|make lab|%pip|matplotlib\b"
    assert not re.findall(elsewhere, plain(pages.for_pages(everywhere))), (
        "say it of a page, or mark it lab-only"
    )


def test_the_front_page_installs_in_four_lines(monkeypatch):
    """The front page has the commands both with and without a known repository; the README has
    the details.
    """
    requires = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "requires-python"
    ]
    for repository, lines in [("", 1), ("somebody/course", 3)]:
        monkeypatch.setattr(launch_links, "repository", lambda: repository)
        installing = pages.front()[0].partition('<h2 id="Installing">')[2]
        (code,) = re.findall("<pre>(.*?)</pre>", installing, re.DOTALL)
        assert len(code.strip().splitlines()) == lines and "python run.py lab" in code
        assert f"Python {requires.removeprefix('>=')} or newer" in plain(installing)
        assert ("git clone https://github.com/somebody/course " in code) == bool(repository)
        assert ('<a href="https://github.com/somebody/course#installing">' in installing) == bool(
            repository
        )


def test_plumbing_is_not_shown_as_code(site):
    """Regression: `predict("03.own")` was shown in a frame of its own."""
    shown = plain((site / "03_derive_the_arithmetic.html").read_text(encoding="utf-8"))
    assert (
        "predict(" not in shown.replace("card, check", "")
        and "check(" in shown
        and "same_line(" in shown
    )
    assert pages.PLUMBING.fullmatch('predict_deletion("own")') and not pages.PLUMBING.fullmatch(
        'check("03.add")'
    )
    engine = nbformat.read(ROOT / "notebooks/engine.ipynb", as_version=4)
    assert [
        cell.source
        for cell in engine.cells
        if cell.cell_type == "code"
        and not pages.PLUMBING.fullmatch(cell.source)
        and "import" not in cell.source
    ] == []


@EVERY_PAGE
def test_formulas_are_formulas(site, name):
    """Regression: `aligned`, which the converter turned into an &, and formulas within the
    answers of predictions.
    """
    page = read(site / f"{name}.html")
    words = " ".join(page.words)
    assert not re.search(r"\\[a-zA-Z]{2,}|\$[^$\s]+\$", words), re.search(
        r".{30}(\\[a-zA-Z]{2,}|\$[^$\s]+\$).{30}", words, re.DOTALL
    )
    for formula in re.findall(
        r"<math.*?</math>", (site / f"{name}.html").read_text(encoding="utf-8"), re.DOTALL
    ):
        shown = html.unescape(re.sub(r"<[^>]+>", "", formula))
        assert "\\" not in shown and "&" not in shown, shown


def test_a_function_stands_apart_from_its_argument():
    assert [
        tex.inline(text).count("<mspace")
        for text in (r"\log x", r"a \sin 2 x", r"\log(x) \cdot x y")
    ] == [1, 2, 0]


def test_a_sign_stands_with_its_number():
    """Regression: −3 was displayed as − 3, like a subtraction after the equals sign."""
    signs = {"z = -3": 1, "x \\cdot (-y)": 1, "|-3|": 1, "x - y": 0, "(x) - |y| - 1": 0}
    assert {text: tex.inline(text).count("prefix") for text in signs} == signs


def test_a_limit_stands_below_where_there_is_room():
    """Regression: lim, and a sum over a single letter."""
    for text in (r"\lim_{h \to 0} h", r"\boxed{\sum_k x_k}", r"\max_j x"):
        assert "<munder>" in tex.block(text) and "<munder>" not in tex.inline(text)


@pytest.mark.parametrize(
    "text, whole",
    [
        # Regression: in 1e-16, a line ended after the minus sign.
        ("To 1e-16, `h=1.5e-8`, e-mail; not in\n\n    h = 1e-3", ["1e-16", "1.5e-8"]),
        # Punctuation stays on the line of its formula. Regression: a full stop started a line.
        ("So $x$ is $-y$; now ($z$).", ["formula", "formula;", "(formula)."]),
    ],
)
def test_no_line_breaks_within_a_small_number_or_a_formula(text, whole):
    page = re.sub(r"<math.*?</math>", "formula", pages.markdown(text))
    assert re.findall(r'<span class="whole">(.*?)</span>', page) == whole


def test_no_line_breaks_within_a_shape_or_short_code():
    """Regression: (2, 1), which a phone split over two lines, and x[i, j]."""
    page = pages.markdown(
        "Of (2, 1) and [4, 2, 3], as (3) and (or not), `x[i, j]`, `np.add.at(out, index, g)`."
    )
    assert re.findall(r'class="whole">(.*?)</', page) == ["(2, 1)", "[4, 2, 3]", "x[i, j]"]


def test_interactive_calls_leave_a_drawing(site):
    """Every interactive call leaves a drawing, every question has its answer, and no cell
    failed.
    """
    for name in NAMES[1:-2]:
        source = (site / f"{name}.html").read_text(encoding="utf-8")
        assert "Traceback" not in source and "widget-view" not in source
        _, *cells = source.split('class="cell border-box-sizing code_cell rendered"')
        written = nbformat.read(ROOT / f"notebooks/{name}.ipynb", as_version=4).cells
        assert len(cells) == sum(
            cell.cell_type == "code" and pages.LAB_ONLY not in cell.metadata.get("tags", [])
            for cell in written
        )
        for cell in cells:
            code = html.unescape(
                re.sub(r"<[^>]+>", "", cell.split('<div class="output_wrapper"')[0])
            )
            last = code.strip().splitlines()[-1] if code.strip() else ""
            if re.match(r"(explore|live_graph|backward_stepper|slope_explorer|draw_graph)\(", last):
                assert any(seen in cell for seen in ["<svg", "<img", 'class="view"']), (name, last)
            if re.match(r"(check|unaided|gym)\(", last):
                told = (
                    "Work it out on paper first"
                    if last.startswith("check(")
                    else "<strong>In JupyterLab</strong>"
                )
                assert told in cell and "not yet" not in cell.split("<details")[0], (name, last)
            if re.match(r"predict\(", last):
                assert "<details" in cell, (name, last)
        assert source.count("In JupyterLab</strong>, replace the") == any(
            cell.source.startswith('check("') for cell in written
        ), name


def test_pages_turn_from_the_first_to_the_last(site):
    turned, name = ["index"], "index"
    while ahead := [
        a["href"] for a in read(site / f"{name}.html").all("a") if a.get("rel") == "next"
    ]:
        back = [a["href"] for a in read(site / ahead[0]).all("a") if a.get("rel") == "prev"]
        assert set(back) == {f"{name}.html"} and len(set(ahead)) == 1
        name = ahead[0].removesuffix(".html")
        turned.append(name)
    assert turned == NAMES


# --- What moves -----------------------------------------------------------------------------------------------------


def graph_at(x, w):
    return np.tanh(x * w)


EXPLORERS = {
    "numbers": lambda: explore(
        lambda x, h: Picture(f"<p>{x}</p><b>&lt;{h}</b>", f"x is {x} < 2\nand h {h} <> 3 >"),
        x=(-1.0, 1.0, 0.1, 0.3),
        h=[1e-5, 0.1],
    ),
    "choices": lambda: explore(
        lambda on, to: Picture(f"<p>{on}</p>", f"{on} {to}"), on=[True, False], to=[(3, 1), (4,)]
    ),
    "frames": lambda: explore(
        lambda step: Picture("<i>same</i>", f"step {step}"), step=range(0, 301, 10)
    ),
    "graph": lambda: live_graph(graph_at, x=(-3, 3, 1), w=(-1.0, 1.0, 0.5, 0.5)),
    "arrays": lambda: live_graph(lambda x: x.sum(), x=np.arange(3.0)),
    "slopes": lambda: slope_explorer(ag.tanh, h=[0.1, 1.0]),
    "stepper": lambda: backward_stepper(ag.Tensor(2.0, requires_grad=True) * 3.0).explorer,
}


@pytest.mark.parametrize("kind", EXPLORERS)
def test_packed_pictures_are_the_drawing_functions_own(kind):
    """At every position of every control, drawing and words are those that the function returns
    for its values.
    """
    ui = EXPLORERS[kind]()
    packed = precomputed_frames.packed(ui)
    pictures, controls = precomputed_frames.unpacked(packed), packed["controls"]
    names = [control["name"] for control in controls]
    offered = [
        [
            value
            for value in ui.positions()[control["name"]]
            if precomputed_frames.said(value) in control["values"]
        ]
        for control in controls
    ]
    assert [list(map(precomputed_frames.said, values)) for values in offered] == [
        control["values"] for control in controls
    ]
    assert packed["together"] and len(pictures) == prod(map(len, offered))
    assert [control["toggle"] for control in controls] == [
        len(ui.positions()[name]) <= 4 and name not in ui.players for name in names
    ]
    for values in product(*offered):
        picture = ui.draw(**dict(zip(names, values)))
        assert pictures[place(packed, list(map(precomputed_frames.said, values)))] == (
            picture.html,
            picture.text,
        ), values
    start = [control["values"][control["start"]] for control in controls]
    assert start == [precomputed_frames.said(ui.values()[name]) for name in names]
    assert pictures[place(packed, start)] == (packed["html"], packed["text"])


def test_many_sliders_move_one_at_a_time():
    ui = explore(
        lambda **values: Picture(str(values), "·"), **{name: (0, 9, 4) for name in "abcdef"}
    )
    packed = precomputed_frames.packed(ui)
    assert not packed["together"] and len(precomputed_frames.unpacked(packed)) == 60
    assert precomputed_frames.unpacked(packed)[place(packed, ["4", "4", "7", "4", "4", "4"])][
        0
    ] == str(ui.values() | {"c": 7})


def test_a_drawing_that_is_no_function_of_its_values_is_refused():
    turns = iter(range(1000))
    with pytest.raises(ValueError, match="controlled by x changes when it is drawn again"):
        precomputed_frames.packed(
            explore(lambda x: Picture(f"<p>{next(turns)}</p>", "."), x=(0, 3, 1))
        )


def test_the_values_offered_are_round_and_hold_the_start():
    every = [round(k * 0.01, 12) for k in range(-151, 151)]
    tenths = [round(k * 0.1, 12) for k in range(-15, 16)]
    assert precomputed_frames.thinned(every, 0.37, 41) == [-1.51, *tenths[:19], 0.37, *tenths[19:]]
    assert precomputed_frames.thinned(every, 0.37, 400) == every


def test_a_page_above_its_budget_names_the_sliders(monkeypatch):
    ui = explore(lambda λ: Picture(f"<p>{λ}</p>", "."), λ=range(50))
    mark = "<!-- moves 0 -->"
    page = pages.Page(
        "heavy",
        f"<h1>Heavy</h1>{mark}",
        {mark: pages.render_picture(precomputed_frames.packed(ui), 0)},
    )
    pages.within_budget({page.file: page.body}, [page])
    for most in ("PAGE_MOST", "SITE_MOST"):
        with (
            monkeypatch.context() as patch,
            pytest.raises(RuntimeError, match="(?s)steps:.heavy.html: sliders λ, "),
        ):
            patch.setattr(pages, most, 100)
            pages.within_budget({page.file: page.body}, [page])


# --- In a browser, opened from disk ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(browser):
    """Open a page of Chromium whose `.faults` collects console errors and requests to other
    hosts.
    """
    page = browser.new_page(viewport={"width": 900, "height": 700})
    page.set_default_timeout(1000 * lab.PATIENCE)
    page.faults = []
    page.on(
        "console",
        lambda message: page.faults.append(message.text) if message.type == "error" else None,
    )
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith(("file:", "data:")) else page.faults.append(request.url)
        ),
    )
    yield page
    assert not page.faults


@pytest.mark.rotating("web/")
@EVERY_PAGE
def test_pages_in_a_browser(site, page, name):
    """A page has no console errors, makes no requests to other hosts, and is no wider than a
    phone. Only large graphs and code scroll.
    """
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto((site / f"{name}.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert (
        page.evaluate("""[...document.querySelectorAll('svg[role=img]:not(.part *)')].filter(drawn => {
        for (let up = drawn.parentElement; up.localName !== 'main'; up = up.parentElement)
            if (up.scrollWidth > up.clientWidth + 1) return true;
    }).map(drawn => drawn.textContent.slice(0, 60))""")
        == []
    )
    assert page.locator("main").inner_text().strip()
    printed = "\n".join(page.locator(".output_text pre").all_text_contents())
    assert not re.findall(".{101,}", printed), "a printed line of more than 100 characters"
    scrolls = "item => getComputedStyle(item).overflowX !== 'visible'"
    assert not page.evaluate(f"[...document.querySelectorAll('li')].some({scrolls})"), (
        "its bullet or number is hidden"
    )
    assert page.evaluate("""[...document.querySelectorAll('.view')].every(view => {
        view.querySelectorAll('*').forEach(one => { one.scrollLeft = 0 });
        const {left} = view.getBoundingClientRect();
        return [...view.querySelectorAll('svg:not(svg svg)')].filter(svg => svg.checkVisibility())
            .every(svg => svg.getBoundingClientRect().left >= left)
    })"""), "a part of a picture cannot be scrolled to"
    sizes = page.evaluate("""[...document.querySelectorAll('svg[role=img] text')].filter(text => text.checkVisibility()).map(text => {
        const {a, d} = text.getScreenCTM();
        return parseFloat(getComputedStyle(text).fontSize) * Math.min(a, d);
    })""")
    assert min(sizes, default=12) > 11.99, "px, the smallest letters of a picture on a phone"
    dots = page.locator("svg[role=img] :is(circle,.dot)").evaluate_all("""all => all
        .filter(one => one.checkVisibility()).map(one => one.getBoundingClientRect())
        .map(({width, height}) => Math.abs(width - height))""")
    assert max(dots, default=0) < 0.5, "px, a round or square mark that is drawn out or pressed"
    choices = page.locator("fieldset label").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect())"
    )
    assert all(min(one["width"], one["height"]) >= 24 and one["right"] <= 400 for one in choices), (
        "to press"
    )
    page.emulate_media(media="print")
    picked = page.locator(".control [type=radio]:checked").evaluate_all(
        "all => all.map(one => one.checkVisibility())"
    )
    assert all(picked), "printed without the choice that the picture is of"
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 900, "height": 700})
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert page.evaluate("""new Promise(done => setTimeout(() => done([...document.querySelectorAll('.more')].every(
        one => one.scrollWidth > one.clientWidth + 4)), 50))"""), (
        "faded at its right, though all of it is seen"
    )
    assert not page.faults


@pytest.mark.rotating(*rotation.RUNTIME)
def test_on_paper_a_page_is_a_handout(site, page):
    """In print, an animation shows its last frame, folded text follows at the end, and each
    answer is listed under its section.
    """
    page.goto((site / "05_walk_backward.html").as_uri())
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    last_frames = page.locator(".moves .printed").all_inner_texts()
    stepper = page.locator(".moves").nth([text[:5] for text in last_frames].index("17/17"))
    assert not stepper.locator(".view").is_visible()
    assert page.locator(".answers h3").count() > 4 and not page.locator(".turn.end").is_visible()
    folds = page.locator(".answers > details").evaluate_all(
        "all => all.map(one => one.open && one.checkVisibility())"
    )
    assert (
        len(folds) > 10
        and all(folds)
        and "All 18 steps" not in page.locator(".answers").inner_text()
    )
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert not page.locator(".answers").count() and stepper.locator(".view").is_visible()
    assert not page.faults


def moving(name):
    """Return the pictures that precomputed_frames.py packed for the page `name`, in order."""
    if name == "index":
        return [pages.front_graph()]
    cells = once.notebook(ROOT / f"notebooks/{name}.ipynb").cells
    found = [
        output.get("data", {}).get(precomputed_frames.MIME)
        for cell in cells
        for output in cell.get("outputs", [])
    ]
    return [packed for packed in found if packed and packed["controls"]]


def place(packed, values):
    """Return the index of the unpacked picture for these values, one for each control."""
    controls, number, before = packed["controls"], 0, 0
    for control, value in zip(controls, values, strict=True):
        at = control["values"].index(value)
        if packed["together"]:
            number = number * len(control["values"]) + at
        elif at != control["start"]:
            return before + at
        before += len(control["values"])
    return number if packed["together"] else controls[0]["start"]


@pytest.mark.rotating(*rotation.RUNTIME)
def test_a_link_to_a_picture_carries_its_positions(site, page):
    """For a page opened from disk, the address from the Link button opens the same picture, and
    any other fragment does nothing.
    """
    home = (site / "02_draw_the_graph.html").as_uri()
    page.goto(home)
    moved = page.locator(".moves").nth(1)
    moved.get_by_role("slider").first.press("End")
    end = moved.get_by_role("spinbutton").first.input_value()
    moved.get_by_role("button", name="Link").click()
    moved.get_by_text(re.compile("Link copied|address bar")).wait_for()
    link = page.url
    name, _, positions = link.partition("#")[2].partition(":")
    assert name.startswith("02.") and f"={end}" in positions
    page.goto("about:blank")
    page.goto(link)
    again = page.locator(".moves").nth(1)
    lab.until(page, "scrollY > 100")
    assert again.get_by_role("spinbutton").first.input_value() == end
    page.goto("about:blank")
    page.goto(home)
    start = STARTED, page.evaluate(STARTED)
    for fragment in [
        "nothing",
        "02.x:y=1",
        "%",
        f"{name}:%=1",
        f"{name}:q=1,",
        f"{name}:x=fish",
        f"{name}:=,==",
    ]:
        page.goto("about:blank")
        page.goto(f"{home}#{fragment}")
        assert (STARTED, page.evaluate(STARTED)) == start, fragment
    assert not page.faults


STARTED = "[...document.querySelectorAll('.control input')].map(one => one.value).join()"


SEEN = """(box, drawn) => {
    const wanted = document.createElement("div");
    const plain = one => one.innerHTML.replace(/ font-family="[^"]*"/g, "")
        .replaceAll(' more" tabindex="0"', '"');      // what is wider than its place can be scrolled by keyboard
    wanted.innerHTML = drawn;
    return plain(box.querySelector(".view")) === plain(wanted);
}"""
# [values that the controls show, the words below the picture]; once the pictures are unpacked, a press shows at once
STANDS = """async box => {
    await box.load();
    return [[...box.querySelectorAll(".control")].map(row => row.querySelector("[type=number]")?.value
            ?? row.querySelector("option:checked")?.textContent ?? row.querySelector(":checked").value),
            box.querySelector(".words").textContent];
}"""


@pytest.mark.rotating("web/")
@pytest.mark.parametrize("name", NAMES[:-2])
def test_every_control_moves_its_picture(site, page, name):
    """By keyboard, to both ends and step by step: drawing and words are those that the function
    gives for the displayed values.
    """
    page.goto((site / f"{name}.html").as_uri())
    boxes, every = page.query_selector_all(".moves"), moving(name)
    assert len(boxes) == len(every)
    for box, packed in zip(boxes, every):
        pictures, seen = precomputed_frames.unpacked(packed), set()
        box.scroll_into_view_if_needed()
        for number, control in enumerate(box.query_selector_all(".control")):
            slider, stops = (
                control.query_selector("[type=range], select"),
                packed["controls"][number]["values"],
            )
            if packed["controls"][number]["toggle"]:  # once round, and one back
                keys, least = ["ArrowRight"] * len(stops) + ["ArrowLeft"], len(stops)
                assert (
                    control.query_selector(".named").inner_text()
                    == packed["controls"][number]["name"]
                )
                assert not re.search(r"-\d|(?<![.\d])\d{4}", control.inner_text()), (
                    "a true minus, and commas"
                )
            else:
                onward = "ArrowRight" if slider.get_attribute("type") else "ArrowDown"
                keys, least = ["Home", onward, "End", "PageDown", "ArrowLeft"], min(3, len(stops))
            entry = "entry" in control.get_attribute("class").split()
            if entry:  # an entry of an array has a box of its own instead of a slider
                keys = [stops[0], stops[-1], stops[1]]
            for key in keys:
                if entry:
                    typed = control.query_selector("[type=number]")
                    typed.fill(key)
                    typed.press("Enter")
                else:
                    (slider or control.query_selector(":checked")).press(key)
                for _ in range(
                    500
                ):  # it is drawn in the next frame, which may take a while on a loaded machine
                    values, said = box.evaluate(STANDS)
                    drawn, words = pictures[place(packed, values)]
                    if said == words and box.evaluate(SEEN, drawn):
                        break
                    page.wait_for_timeout(20)
                else:
                    pytest.fail(f"{values} after {key}: another drawing, or other words")
                seen.add(values[number])
                if slider and slider.get_attribute("type"):
                    name = packed["controls"][number]["name"]
                    assert slider.get_attribute("aria-valuetext") == f"{name} = {values[number]}"
            assert len(seen) >= least, (values, "did not move")
            seen.clear()
    assert not page.faults


def seen(drawing, words=True):
    """Return the visible part of a drawing, without its title and its text for screen readers;
    optionally without words and numbers.
    """
    unseen = r"<title>.*?</title>|aria-label=\"[^\"]*\"" + r"|<text.*?</text>" * (not words)
    return re.sub(unseen, "", drawing, flags=re.DOTALL)


@pytest.mark.rotating(*once.DRAWINGS)
@pytest.mark.parametrize("name", NAMES[:-2])
def test_a_slider_changes_its_picture(name, record_property):
    """Along a slider most pictures differ. The other controls are at their start or, if that hides
    the change, at one of their ends.

    Without words and numbers, every second picture still differs. A graph cannot do better, because
    its arrows are as wide as their gradients are large, which may be the same on both sides of 0.
    The test reports the slider that changes least.
    """
    poorest = 1.0, "none, all do"
    for number, packed in enumerate(moving(name)):
        pictures = precomputed_frames.unpacked(packed)
        ends = [
            [control["values"][at] for at in (control["start"], 0, -1)]
            if packed["together"]
            else [control["values"][control["start"]]]
            for control in packed["controls"]
        ]
        for i, control in enumerate(packed["controls"]):
            if control["numbers"]:
                ways = [
                    [
                        pictures[place(packed, [*others[:i], value, *others[i:]])][0]
                        for value in control["values"]
                    ]
                    for others in product(*ends[:i], *ends[i + 1 :])
                ]
                shares = {
                    words: max(
                        len({seen(drawing, words) for drawing in way}) / len(way) for way in ways
                    )
                    for words in (True, False)
                }
                said = f"{control['name']} of picture {number}, {shares[False]:.0%} of {len(control['values'])} values"
                assert min(shares.values()) >= 0.5, said
                poorest = min(poorest, (shares[False], said))
    record_property("summary", f"{name}: fewest shapes that differ under a slider: {poorest[1]}")


@pytest.mark.rotating(*once.DRAWINGS)
@pytest.mark.parametrize("name", NAMES[:-2])
def test_words_in_pictures_can_be_read(name):
    """Words do not overlap, stay within their picture, and are not small; no colour of the lesson
    means two things.

    This holds at every position of each slider while the others are at their start, at every
    combination of toggles, and with all controls at an end.
    """
    drawings = {}  # drawing -> where it occurs
    for number, packed in enumerate(moving(name)):
        pictures = precomputed_frames.unpacked(packed)
        starts = [control["values"][control["start"]] for control in packed["controls"]]
        ways = [
            [*starts[:i], value, *starts[i + 1 :]]
            for i, control in enumerate(packed["controls"])
            for value in control["values"]
        ]
        if packed["together"]:
            ways += [[control["values"][end] for control in packed["controls"]] for end in (0, -1)]
            ways += product(
                *[
                    control["values"] if control["toggle"] else [start]
                    for control, start in zip(packed["controls"], starts)
                ]
            )
        drawings |= {
            pictures[place(packed, values)][0]: f"picture {number} at {', '.join(values)}"
            for values in ways
        }
    if name != "index":
        shown = [
            output.get("data", {})
            for cell in once.notebook(ROOT / f"notebooks/{name}.ipynb").cells
            for output in cell.get("outputs", [])
        ]
        drawings |= {
            data.get("text/html", ""): "" for data in shown if precomputed_frames.MIME not in data
        }
    faults = {
        fault: where for drawing, where in drawings.items() for fault in drawn.hard_to_read(drawing)
    }
    faults |= dict.fromkeys(drawn.colours_with_two_meanings(drawings))
    assert not faults, "move or shorten these words, or change the colour:\n" + "\n".join(
        f"{fault} ({where})" if where else fault for fault, where in faults.items()
    )


def test_a_slider_offers_what_the_text_asks_for():
    """A page omits some of a slider's values, but none that the text asks for, as in "Move x to
    20".
    """
    asked_for = 0
    for name in NAMES[1:-2]:
        controls = [control for packed in moving(name) for control in packed["controls"]]
        for slider, value in once.positions_in_text(ROOT / f"notebooks/{name}.ipynb"):
            asked_for += 1
            assert any(
                control["name"] == slider and value in control["values"] for control in controls
            ), (name, slider)
    assert asked_for > 3


# What learners type, with the number that it is, and answers of other kinds.
TABLE = json.loads((ROOT / "tests/quiz/typed.json").read_text(encoding="utf-8"))
TYPED = [
    *(text for kind in ("numbers", "rows") for text, _ in TABLE[kind]),
    *(text for kind in ("unreadable", "too large") for text in TABLE[kind] if text),
    *["yes", "no", "(8, 5)", "8x5", "torch.Size([2, 3])", "2 * 3"],
]


registered()


def test_a_page_judges_as_the_kit_does(site, page):
    """For every prediction, the page and the kit agree on the answer, on values just outside its
    tolerance, and on the typed texts above.
    """
    page.goto((site / "index.html").as_uri())
    cases = []  # (typed text, part of the page, verdict of the kit)
    for name, question in PREDICTIONS.items():
        for (label, answer, choices), told in zip(
            questions.parts(question), predictions.prediction(predict(name))["parts"]
        ):
            alone = Question("?", answer, "", choices, question.tolerance)
            near = (
                [str(float(answer) * (1 + by)) for by in (0.001, -0.003, 0.1)]
                if told["kind"] == "number"
                else []
            )
            for text in [questions.shown(answer), *near, *TYPED]:
                try:
                    wanted = questions.right(alone, [text])
                except ValueError:
                    wanted = None
                cases.append(((name, label, text), told, wanted))
    given = page.evaluate(
        "cases => cases.map(([part, text]) => agrees(part, text))",
        [[told, text] for (_, _, text), told, _ in cases],
    )
    assert len(cases) > 1000
    assert not [
        typed
        for (typed, _, wanted), judged in zip(cases, given, strict=True)
        if judged is not wanted
    ]
    texts = [text for text, _ in TABLE["numbers"]]
    read = page.evaluate("texts => texts.map(text => parse(text))", texts)
    values = [float(value) for _, value in TABLE["numbers"]]
    assert read == [pytest.approx(value, rel=1e-14) for value in values]


@pytest.mark.rotating(*rotation.RUNTIME)
def test_a_prediction_is_asked_kept_and_saved(site, page, tmp_path, monkeypatch):
    page.goto((site / "02_draw_the_graph.html").as_uri())
    page.evaluate("localStorage.clear()")
    page.reload()
    box = page.locator("[id='ask-02.both']")
    assert not box.locator("details").is_visible()
    (_, number), (_, knob) = PREDICTIONS["02.both"].answer.items()
    box.get_by_label(knob, exact=True).check()
    box.get_by_text("Reveal").click()
    assert box.locator(".verdict").inner_text().startswith("Fill in every part")
    box.locator("[type=text]").fill("fish")
    box.get_by_text("Reveal").press("Enter")
    assert (
        "Can't read “fish”" in box.locator(".verdict").inner_text()
        and not box.locator("details").is_visible()
    )
    box.locator("[type=text]").fill("77")
    box.get_by_label("certain").check()
    box.get_by_text("Reveal").click()
    said = f"Worth remembering: you will be asked this question again in the next lesson. You: 77, {knob}."
    assert (
        box.locator(".verdict").inner_text().startswith(said)
        and box.locator("details").is_visible()
    )
    page.reload()
    assert box.locator(".verdict").inner_text().startswith(said), "kept"
    box.get_by_text("Try again").click()
    box.locator("[type=text]").fill(questions.shown(number))
    box.get_by_text("Reveal").click()
    assert box.locator(".verdict").inner_text().startswith("✓ Right this time."), (
        "the first answer counts"
    )
    with page.expect_download() as download:
        page.get_by_text("Download my answers").click()
    download.value.save_as(tmp_path / "progress.json")
    monkeypatch.setattr(record, "FILE", tmp_path / "progress.json")
    assert record.read()["predictions"] == {
        "02.both": {
            "answer": ["77", knob],
            "sure": "certain",
            "right": False,
            "recalled": False,
            "missed": 1,
        }
    }
    page.get_by_text("Delete my answers").click()  # the dialog is dismissed
    assert page.locator(".keep").inner_text().startswith("Saved")
    page.once("dialog", lambda asked: asked.accept())
    page.get_by_text("Delete my answers").click()
    lab.until(page, "document.querySelector('.keep')?.textContent.startsWith('Load')")
    assert box.locator("[type=text]").input_value() == "" and not page.faults


# --- Search -----------------------------------------------------------------------------------------------------------


def test_all_pages_are_searched(site, page):
    """From disk, a search finds a word, its beginning, or a similar word; every hit is an
    existing section that contains the marked text.
    """
    page.goto((site / "03_derive_the_arithmetic.html").as_uri())
    assert not page.locator("script[src='search.js']").count(), "brought before anybody searched"
    for typed, file, marked in [
        ("broadcasting", "08_share_and_sum.html", "broadcast"),
        ("momen", "11_descend_faster.html", "momen"),
        ("checkpiont", "17_trade_time_for_memory.html", "checkpoint"),
    ]:
        page.get_by_label("Search").fill(typed)
        lab.until(
            page,
            "marked => document.querySelector('.search mark')?.textContent.toLowerCase().includes(marked)",
            marked,
        )
        assert page.locator(".search mark:empty").count() == 0
        hits = page.locator(".search li a").evaluate_all(
            "links => links.map(link => link.getAttribute('href'))"
        )
        assert file in {hit.partition("#")[0] for hit in hits}
        assert re.match(r"\d+ section", page.locator(".search [role=status]").inner_text())
    sections = page.evaluate("TEXTS.map(({id}) => id)")
    assert len(sections) > 300 and set(hits) <= set(sections)
    ids = {}
    for section in sections:
        file, _, anchor = section.partition("#")
        if file not in ids:
            ids[file] = {tag.get("id") for _, tag in read(site / file).tags}
        assert unquote(anchor) in ids[file], section
    page.get_by_label("Search").fill("")
    lab.until(page, "!document.querySelector('.search li')")
    assert not page.faults


def test_the_best_section_comes_first(page):
    """Headings rank before text, and exact words before similar ones; a section must contain all
    words.
    """
    page.goto("about:blank")
    page.add_script_tag(path=ROOT / "web/search.js")
    texts = [
        {"heading": heading, "text": text}
        for heading, text in [
            ("Rules", "of a gradient, a gradient and again a gradient"),
            ("The gradient", "of a sum"),
            ("Else", "gradients"),
            ("Slips", "a gradeint of a sum"),
            ("Far", "great ingredient, café"),
        ]
    ]
    headings = [text["heading"] for text in texts]
    typed = ["gradient", "gradient sum", "grdient", "grad", "CAFÉ", "xyz gradient", ""]
    found = page.evaluate(
        "([texts, typed]) => typed.map(one => finder(texts)(one).map(hit => hit.heading))",
        [texts, typed],
    )
    found = [[headings.index(heading) for heading in hits] for hits in found]
    assert found == [[1, 0, 2, 3], [1, 3], [1, 0], [1, 0, 2, 3], [4], [], []]


# Number of children of each MathML element; browsers draw any other number as an error.
CHILDREN = dict.fromkeys(["msub", "msup", "mfrac", "mover", "munder", "mroot"], 2)
CHILDREN |= dict.fromkeys(["msubsup", "munderover"], 3)


def test_formulas_are_valid(site):
    found = 0
    for page in site.glob("*.html"):
        for formula in re.findall(r"<math.*?</math>", page.read_text(encoding="utf-8"), re.DOTALL):
            for part in ElementTree.fromstring(formula).iter():
                assert len(part) == CHILDREN.get(part.tag, len(part)), (page.name, formula)
            found += 1
    assert found > 1000


def test_a_sentence_that_all_lessons_share_is_not_searched():
    heading, stop = (
        '<h2 id="A">A</h2>',
        "<p><em>A good place to stop for today. Next: a bowl.</em></p>",
    )
    assert pages.searchable_sections(heading + stop) == [("A", "A", "Next: a bowl.")]
    time = "<td>75 minutes in two parts, 45 + 30; part 2 begins at B</td>"
    assert pages.searchable_sections(heading + time) == [("A", "A", "75 minutes B")]

    exercise = "<p><strong>Exercise</strong> (6 minutes, medium, ●●● essential). Write both.</p>"
    assert pages.searchable_sections(heading + exercise) == [("A", "A", "Exercise. Write both.")]


def test_words_of_a_derivation_are_searched_separately():
    line = "<mtr><mtd><mi>x</mi></mtd><mtd><mtext>new area</mtext></mtd></mtr>"
    table = f"<mtable>{line}{line}</mtable></math>"
    for display, text in [("inline", "x new area x new area"), ("block", "new area new area")]:
        body = f'<h2 id="A">A</h2><math display="{display}">{table}'
        assert pages.searchable_sections(body) == [("A", "A", text)]


# Terms that their lesson explains in folded text, which is not searched.
FOLDED_TERMS = {"FLOPs", "Wirtinger derivative", "fine-tuning", "freeze", "operator overloading"}
FOLDED_TERMS |= {"subgradient"}


def test_a_search_for_a_term_finds_the_lesson_that_introduces_it(site, page):
    """The lesson is among the 12 hits shown for most terms, and the lesson or the glossary for all."""
    notebook = once.without_code(ROOT / "notebooks/notation.ipynb")
    glossary = "\n".join(cell.source for cell in notebook.cells)
    terms = re.findall(r"^- \*\*(.+?)\*\* \(\[\d\d\]\((\w+)\.ipynb", glossary, re.M)
    page.goto("about:blank")
    page.add_script_tag(path=site / "search.js")
    found = page.evaluate(
        "terms => terms.map(term => finder(TEXTS)(term).map(({id}) => id.split('.')[0]))",
        [term for term, _ in terms],
    )
    hits = [(term, lesson, files) for (term, lesson), files in zip(terms, found, strict=True)]
    assert {term for term, lesson, files in hits if lesson not in files} == FOLDED_TERMS
    assert not [term for term, *files, hit in hits if not {*files, "notation"} & {*hit[:12]}]
    shown = [term for term, lesson, files in hits if lesson in files[:12]]
    assert len(shown) > 0.9 * len(terms) > 200


def test_a_search_does_not_find_the_answers_in_the_teachers_guide(site, page):
    page.goto("about:blank")
    page.add_script_tag(path=site / "search.js")
    files = page.evaluate("TEXTS.map(({id}) => id.split('.')[0])")
    assert {"index", "05_walk_backward", "notation"} <= {*files} and "teachers_guide" not in files


def test_what_is_searched_stays_small(site):
    """The index is fetched at the first search and measured compressed, as servers send it."""
    assert len(gzip.compress((site / "search.js").read_bytes())) <= 140_000


@pytest.mark.rotating(*once.DRAWINGS, every=0)  # only then every picture is on the pages
def test_the_whole_course_is_as_large_to_read_as_is_said(site):
    said = re.search(
        r"whole course takes ([\d.]+) MB",
        (ROOT / "docs/classroom.md").read_text(encoding="utf-8"),
    )[1]
    sent = sum(len(gzip.compress(page.read_bytes())) for page in site.glob("*.html")) / 1e6
    assert abs(sent - float(said)) < 0.3


# --- Accessibility, measured --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    """Return the script of axe-core from npm, which only this test uses."""
    return lab.from_npm(tmp_path_factory.mktemp("axe"), "axe-core@4", "axe.min.js")


@pytest.mark.rotating("web/")
@EVERY_PAGE
def test_a_page_is_accessible(site, page, axe, name):
    """With every fold open, axe-core finds no violation of WCAG 2.2 A and AA, and none of
    contrast in the dark theme.
    """
    found = {}
    page.goto((site / f"{name}.html").as_uri())
    page.evaluate(
        "document.querySelectorAll('details').forEach(fold => { fold.hidden = false; fold.open = true })"
    )
    page.evaluate(axe)
    for theme, rules in [("light", lab.WCAG), ("dark", ["color-contrast"])]:
        page.emulate_media(color_scheme=theme)
        report = page.evaluate(
            "rules => axe.run({resultTypes: ['violations'], runOnly: rules, preload: false})", rules
        )
        for violation in report["violations"]:
            found[theme, violation["id"]] = [node["html"][:200] for node in violation["nodes"]]
    page.emulate_media(color_scheme="light")
    assert not found, json.dumps(
        {" ".join(key): (len(nodes), nodes[:3]) for key, nodes in found.items()}, indent=1
    )


def test_a_boxed_formula_has_one_frame_in_every_browser():
    """Firefox and WebKit draw a frame for `menclose` themselves, Chromium does not, so site.css
    draws one for `mrow`.
    """
    made = tex.block(r"\boxed{x = \frac{1}{2}}")
    assert "menclose" not in made and made.count('<mrow class="boxed">') == 1


def test_every_page_says_what_it_is_to_a_search_engine_and_in_a_chat(site):
    descriptions = []
    for path in sorted(site.glob("*.html")):
        head = path.read_text(encoding="utf-8").partition("</head>")[0]
        (title,) = re.findall(r"<title>(.*?)</title>", head)
        assert title.endswith("Automatic differentiation, rule by rule"), path.name
        (description,) = re.findall(r'<meta name="description" content="([^"]+)">', head)
        assert f'<meta property="og:description" content="{description}">' in head
        descriptions.append(description)
        assert '<link rel="icon" href="icon.svg"' in head
    assert len(set(descriptions)) == len(descriptions) and (site / "icon.svg").exists()


@pytest.mark.rotating(*rotation.RUNTIME)
def test_a_published_page_has_an_address_and_a_picture(tmp_path, monkeypatch):
    """The head of a page names both, and the 404 page finds its styles from any folder."""
    monkeypatch.setattr(launch_links, "repository", lambda: "Owner/name")
    folder, address = (
        pages.build(tmp_path / "site", once.without_code),
        "https://owner.github.io/name/",
    )
    listed = (folder / "sitemap.txt").read_text().split()
    assert listed == [f"{address}{name}.html" for name in NAMES]
    for name in NAMES:
        head = (folder / f"{name}.html").read_text(encoding="utf-8").partition("</head>")[0]
        assert f'<link rel="canonical" href="{address}{name}.html">' in head
        assert (
            f'<meta property="og:image" content="{address}{name}.png">' in head
            and "<base" not in head
        )
        with Image.open(folder / f"{name}.png") as picture:
            assert picture.size == (1200, 630) and len(picture.convert("L").getcolors()) > 8
        assert (folder / f"{name}.png").stat().st_size < 30_000
    missing = (folder / "404.html").read_text(encoding="utf-8")
    assert missing.index(f'<base href="{address}">') < missing.index('href="site.css"')
    assert "noindex" in missing and "canonical" not in missing


@pytest.mark.rotating(*rotation.RUNTIME)
def test_a_page_that_does_not_exist_offers_the_search(site, page):
    page.goto((site / "404.html").as_uri())
    page.locator("main").get_by_label("Search").fill("product rule")
    assert page.locator("h1").inner_text() == "Page not found"
    page.locator("main").get_by_role("link", name="product rule").first.click()
    assert page.locator("h1").inner_text() == "03 Derive the arithmetic"


@pytest.mark.rotating(*rotation.RUNTIME)
def test_the_front_page_shows_the_progress_of_the_reader(site, page):
    """The front page shows the solved exercises of each lesson, and a link to the last lesson
    visited or to the next.
    """
    home, shown, go_on = (
        (site / "index.html").as_uri(),
        page.locator(".done"),
        page.locator(".continue a"),
    )
    of_05 = [name for name in EXERCISES if name.startswith("05.")]
    work = {"text": "1", "ours": "..."}

    def visited(exercises=(), predictions=(), cells=()):
        given = {"answer": ["1"], "sure": None, "right": True, "recalled": False, "missed": 0}
        kept = {
            "exercises": list(exercises),
            "predictions": dict.fromkeys(predictions, given),
            **{part: {} for part in ("cards", "lines", "gym", "tries")},
        }
        page.goto(home)
        page.evaluate(
            """([record, cells]) => {
                localStorage.clear();
                localStorage.setItem("autograd-course progress.json", JSON.stringify(record));
                for (const [name, cell] of Object.entries(cells))
                    localStorage.setItem(`autograd-course cell ${name}`, JSON.stringify(cell));
            }""",
            [kept, dict.fromkeys(cells, work)],
        )
        page.reload()
        return go_on.inner_text() if go_on.count() else ""

    assert visited() == "" and not shown.count()
    assert visited(predictions=["00.first"]) == "00 Start here" and not shown.count()
    assert visited(["05.order", "02.routes"]) == "05 Walk backward"
    assert shown.all_inner_texts() == ["1 of 3 exercises", "1 of 3 exercises"]
    assert visited(of_05) == "06 Train a neuron", "lesson 05 is complete"
    lesson = page.get_by_role("listitem").filter(has=shown)
    assert lesson.get_by_role("link").inner_text() == "05 Walk backward"
    assert shown.inner_text() == "✓ 3 of 3 exercises"
    assert visited(of_05, cells=["12_classify/curve-stub", "index/try-stub"]) == "12 Classify"
    go_on.click()
    assert page.locator("h1").inner_text() == "12 Classify"
    page.evaluate("localStorage.clear()")


@pytest.mark.rotating(*rotation.RUNTIME)
def test_each_heading_has_a_link_to_its_section(site, page):
    """The link can be reached by the Tab key, and its sign is not part of the heading's text."""
    page.goto((site / "03_derive_the_arithmetic.html").as_uri())
    heading = page.locator("h2", has_text="Division")
    assert heading.text_content() == "Division"
    heading.get_by_role("link", name="Link to this section").focus()
    page.keyboard.press("Enter")
    assert page.url.endswith("#Division")
    links = page.locator("main :is(h2, h3) .section-link")
    assert links.count() == page.locator("main :is(h2, h3)[id]").count() > 5


@pytest.mark.parametrize("heading", ["## The lessons", "## Installing", "# Automatic"])
def test_a_heading_that_the_front_page_misses_is_named(tmp_path, monkeypatch, heading):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (tmp_path / "README.md").write_text(readme.replace(heading, "x"), encoding="utf-8")
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    with pytest.raises(RuntimeError, match="README.md, which must contain"):
        pages.front()
