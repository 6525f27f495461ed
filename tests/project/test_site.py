"""`make site`: every page built, and read as a browser and a screen reader would."""
import html
import re
import runpy
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import lab
import nbformat
import once
import pytest

ROOT = Path(__file__).parents[2]
PAGES = runpy.run_path(str(ROOT / "docs/pages.py"))
NAMES = ["index", *(path.stem for path in sorted((ROOT / "notebooks").glob("*.ipynb"))), "teachers_guide"]
EVERY_PAGE = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="session")
def site(tmp_path_factory, request):
    """The site as `make site` makes it, of runs that are had anyway. Of pages that no test will read there is only the text."""
    given = [item.callspec.params["name"] if hasattr(item, "callspec") else "all" for item in request.session.items
             if "site" in getattr(item, "fixturenames", [])]

    def executed(path):
        if {path.stem, "all"} & set(given):
            return once.notebook(path)
        notebook = nbformat.read(path, as_version=4)
        notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
        return notebook
    return PAGES["build"](tmp_path_factory.mktemp("site") / "pages", executed)


def test_a_notebook_is_run_for_its_page():
    """What `make site` runs itself is what the tests below read, but for the counts of cells, which no page shows."""
    path = ROOT / "notebooks/03_derive_the_arithmetic.ipynb"
    ran, kept = ([[{**output, "execution_count": None} for output in cell.get("outputs", [])] for cell in PAGES["seen"](notebook).cells]
                 for notebook in (PAGES["executed"](path), once.notebook(path)))
    assert ran == kept and any(ran)


def test_a_notebook_that_fails_is_named(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")])
    nbformat.write(notebook, tmp_path / "broken.ipynb")
    with pytest.raises(RuntimeError, match="(?s)broken.ipynb does not run:.*ZeroDivisionError"):
        PAGES["executed"](tmp_path / "broken.ipynb")


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    (tmp_path / "site.css").write_text("of another site")
    for folder in (tmp_path, tmp_path / "thesis.txt", ROOT / "docs"):
        with pytest.raises(FileExistsError, match="other files"):
            PAGES["build"](folder)
    assert (tmp_path / "thesis.txt").exists() and (ROOT / "docs/site.css").exists()


class Page(HTMLParser):
    """What the tests ask of a page: the tags with their attributes, and the text that is neither code, formula nor drawing."""

    def __init__(self, path):
        super().__init__()
        self.tags, self.words, self.inside, self.drawings = [], [], [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "svg" and "svg" not in self.inside:
            self.drawings.append("")
        if tag in ("pre", "code", "math", "svg"):
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
    """Failed once: on a heading with a ² in it, which was linked in one spelling and named in another."""
    for attributes in read(site / f"{name}.html").all("a"):
        target = attributes["href"]
        if re.match(r"https?://", target):
            continue
        file, _, anchor = target.partition("#")
        goal = site / (file or f"{name}.html")
        assert goal.is_file(), target
        assert not anchor or unquote(anchor) in {tag.get("id") for _, tag in read(goal).tags}, target


@EVERY_PAGE
def test_a_page_needs_no_other_host_and_no_script(site, name):
    page = read(site / f"{name}.html")
    assert not page.all("script", "iframe")
    for attributes in page.all("img", "link", "source"):
        assert not re.match(r"(https?:)?//", attributes.get("src", attributes.get("href", ""))), attributes


@EVERY_PAGE
def test_every_picture_has_a_text(site, name):
    page = read(site / f"{name}.html")
    assert all(image.get("alt", "").strip() for image in page.all("img"))
    assert all(title.strip() for title in page.drawings)


@EVERY_PAGE
def test_formulas_are_formulas(site, name):
    """Failed once: on `aligned`, of which the converter makes an &, and on formulas within the answers of predictions."""
    page = read(site / f"{name}.html")
    words = " ".join(page.words)
    assert not re.search(r"\\[a-zA-Z]{2,}|\$[^$\s]+\$", words), re.search(r".{30}(\\[a-zA-Z]{2,}|\$[^$\s]+\$).{30}", words, re.DOTALL)
    for formula in re.findall(r"<math.*?</math>", (site / f"{name}.html").read_text(encoding="utf-8"), re.DOTALL):
        shown = html.unescape(re.sub(r"<[^>]+>", "", formula))
        assert "\\" not in shown and "&" not in shown, shown


def test_what_is_live_in_a_lesson_is_seen(site):
    """Every call that makes something to move leaves a drawing, every question its answer; nothing failed under way."""
    for name in NAMES[1:-1]:
        source = (site / f"{name}.html").read_text(encoding="utf-8")
        assert "Traceback" not in source and "widget-view" not in source
        for cell in source.split('<div class="cell border-box-sizing code_cell rendered')[1:]:
            code = html.unescape(re.sub(r"<[^>]+>", "", cell.split('class="output_wrapper"')[0]))
            last = code.strip().splitlines()[-1] if code.strip() else ""
            if re.match(r"(explore|live_graph|backward_stepper|slope_explorer|draw_graph)\(", last):
                assert "<svg" in cell or "<img" in cell, (name, last)
            if re.match(r"predict\(", last):
                assert "<details" in cell, (name, last)


def test_pages_turn_from_the_first_to_the_last(site):
    turned, name = ["index"], "index"
    while ahead := [a["href"] for a in read(site / f"{name}.html").all("a") if a.get("rel") == "next"]:
        back = [a["href"] for a in read(site / ahead[0]).all("a") if a.get("rel") == "prev"]
        assert back == [f"{name}.html"]
        name = ahead[0].removesuffix(".html")
        turned.append(name)
    assert turned == NAMES


def test_pages_in_a_browser(site):
    """No error in the console, nothing asked of anybody, nothing wider than a narrow window."""
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright, lab.chromium(playwright) as browser:
        if not browser:
            pytest.skip("no Chromium or Chrome here")
        page = browser.new_page(viewport={"width": 900, "height": 700})
        faults = []
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: faults.append(request.url) if not request.url.startswith(("file:", "data:")) else None)
        for name in NAMES:
            page.goto((site / f"{name}.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= 900, name
            assert page.locator("main").inner_text().strip()
        assert not faults
