"""Pages that run code, in a real browser. Pyodide and NumPy, with their hashes checked, are
served beside them.
"""

import hashlib
import json
import os
import re
import shutil
import sys
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product, zip_longest
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import browsers
import lab
import playground_texts
import psutil
import pyodide_bundle
import pytest
import rotation

from autograd_course import record
from autograd_course.grading import EXERCISES, check, registered
from autograd_course.quiz.texts import PREDICTIONS

# Of each kind one test runs at every commit: a page that answers in Chromium, and one in Firefox.
pytestmark = pytest.mark.rotating(*rotation.RUNTIME)
EVERY_COMMIT = pytest.mark.rotating(every=1)

ROOT = Path(__file__).parents[2]
WORK = "autograd-course cell "
LESSON = "03_derive_the_arithmetic"  # as in conftest.py
# Without the service worker, which fetches every page, and Python, ahead of what a test counts.
ONLINE = {"service_workers": "block"}
RUNS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb") if path.stem != "notation")
EVERY = ["index", *RUNS, "notation", "teachers_guide", "classroom", "404"]


class Server(SimpleHTTPRequestHandler):
    sent = []  # (path, bytes)

    def log_message(self, *args):
        pass

    def end_headers(self):
        # Otherwise the browser's own cache would hide what a page fetches twice.
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def copyfile(self, source, target):
        content = source.read()
        self.sent.append((self.path, len(content)))
        target.write(content)


@pytest.fixture(scope="module")
def address(bundled_site):
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Server, directory=bundled_site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def opened(context, address, name):
    """Open a page whose `.faults` collects its console errors and its requests to other hosts."""
    page = context.new_page()
    page.faults = []
    page.on("console", lambda said: page.faults.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((address, "blob:", "data:"))
            else page.faults.append(request.url)
        ),
    )
    page.goto(f"{address}/{name}.html")
    return page


@pytest.fixture(scope="module")
def visit(browser, address):
    """Yield visit(name), which opens a page in one browser with one storage; a console error
    fails the test.
    """
    with browser.new_context(viewport={"width": 1280, "height": 900}, **ONLINE) as context:
        context.set_default_timeout(1000 * lab.PATIENCE)

        def visit(name):
            page = opened(context, address, name)
            for done in context.pages[:-2]:
                done.close()  # the previous page stays open, because pages share compiled Python
            return page

        yield visit


@pytest.fixture
def page(visit):
    """Open the lesson as a reader sees it on the first visit."""
    page = visit(LESSON)
    yield page
    page.evaluate("localStorage.clear()")  # the pages share it
    page.close()


@pytest.fixture(scope="module")
def one_page(browser, address):
    with browser.new_context(viewport={"width": 1280, "height": 900}, **ONLINE) as context:
        context.set_default_timeout(1000 * lab.PATIENCE)
        yield opened(context, address, LESSON)


@pytest.fixture
def running(one_page):
    """Open the lesson in one page with one Python, for tests that work in different cells and
    restore the cells that others need.
    """
    one_page.evaluate("localStorage.clear()")
    one_page.faults.clear()
    return one_page


def cell(page, name):
    return page.locator(f'[id="cell-id={name}"]')


def settled(page):
    lab.until(page, "['ready', 'failed'].includes(document.querySelector('.live').dataset.state)")
    assert page.locator(".live").get_attribute("data-state") == "ready", page.locator(
        ".live-note"
    ).inner_text()


def press(page, name, button):
    """Return the output of the cell after its button was pressed and Python is idle."""
    cell(page, name).get_by_role("button", name=button).click()
    settled(page)
    return cell(page, name).locator(".output_wrapper").inner_text()


def answered(page, name, text):
    cell(page, f"{name}-stub").locator("textarea").fill(text)
    return checked(page, name)


def checked(page, name):
    """Return the verdict after the one button of an exercise was pressed."""
    press(page, f"{name}-stub", "Check")
    return cell(page, f"{name}-check").locator(".output_wrapper").inner_text()


@pytest.mark.rotating
@pytest.mark.parametrize("name", RUNS)
def test_a_page_runs_with_every_exercise_solved(visit, name, record_property):
    page = visit(name)
    registered()
    solved = {
        f"{one[3:].replace('_', '-')}-stub": EXERCISES[one].solution
        for one in EXERCISES
        if one[:2] == name[:2]
    }
    for stub, text in solved.items():
        if cell(page, stub).count():
            cell(page, stub).locator("textarea").fill(text)
    page.get_by_role("button", name="Run this page").click()
    settled(page)
    heap = page.workers[0].evaluate("python._module.HEAPU8.length") / 1e6
    failed = page.locator(".code_cell:has(.live-error)").evaluate_all(
        "all => all.map(one => `${one.id} ${one.querySelector('.live-error').textContent.slice(-300)}`)"
    )
    judged = page.locator(".code_cell").filter(
        has_text=re.compile(r"^\s*(check|same_line)\(", re.M)
    )
    failed += [
        text
        for text in judged.locator(".output_wrapper").all_inner_texts()
        if not re.search("^✓", text, re.M) or "✗" in text
    ]
    took = page.evaluate(MOVE_EACH)
    record_property(
        "summary",
        f"{name:33} all cells {float(page.locator('.live').get_attribute('data-seconds')):5.1f} s, "
        f"heap {heap:3.0f} MB, {len(failed)} fail, {len(took)} sliders"
        + (f", a picture in {max(took):.0f} ms at most" if took else ""),
    )
    page.evaluate("localStorage.clear()")  # the pages share it
    assert not failed and not page.faults


@pytest.fixture(scope="module", params=["firefox", "webkit"])
def other(request, tmp_path_factory):
    """Open another browser's window, or skip if that browser is not installed."""
    with getattr(browsers, request.param)(tmp_path_factory.mktemp(request.param)) as window:
        if not window:
            # `.ci/run` installs Firefox, and GitHub's Linux runners include it.
            expected = request.param == "firefox" and sys.platform == "linux"
            assert not (expected and "CI" in os.environ), f"no {request.param} here"
            pytest.skip(f"no {request.param} here")
        window.resize(1280, 900)
        yield window


@pytest.fixture
def other_with_python(other, request):
    """Use WebKit only with --all, because Python takes minutes to start and run there."""
    if isinstance(other, browsers.WebKit) and not request.config.getoption("--all"):
        pytest.skip("WebKit runs Python with --all")
    return other


@pytest.mark.rotating(every=9)
@pytest.mark.parametrize("name", ["index", *RUNS])
def test_a_page_runs_in_other_browsers(other_with_python, address, name, record_property):
    """All cells of an untouched page run and all sliders move without an error."""
    other = other_with_python
    other.open(f"{address}/{name}.html")
    other.evaluate("localStorage.clear()")
    state = other.evaluate(f"({RUN_ALL})()")
    took = other.evaluate(f"({MOVE_EACH})()")
    browser = type(other).__name__
    record_property(
        "summary",
        f"{name:33} {browser}: {state.get('seconds', '')} s, {len(took)} sliders, {state['note']}",
    )
    assert state["state"] == "ready" and not state["failed"] and not other.faults, state


@pytest.mark.rotating(every=9)
@pytest.mark.parametrize("name", EVERY)
def test_a_page_fits_in_other_browsers(other, address, name):
    """A page is as wide as its window on a desk and on a phone, and reports no error."""
    for width in (1280, 390):
        other.resize(width, 844)
        other.open(f"{address}/{name}.html")
        root = "document.documentElement"
        beyond = other.evaluate(f"[innerWidth, {root}.scrollWidth - {root}.clientWidth]")
        assert beyond == [width, 0], "pixels to the right of the window"
        faded = "[...document.querySelectorAll('.more')].filter(one => one.scrollWidth <= one.clientWidth)"
        assert other.evaluate(f"{faded}.map(one => one.className)") == [], "though nothing scrolls"
        bar = "getComputedStyle(document.querySelector('.aside')).scrollbarColor"
        assert other.evaluate(bar) != "auto", "Firefox draws it white in the dark theme"
        assert not other.faults
    other.resize(1280, 900)


@EVERY_COMMIT
def test_an_exercise_is_answered_and_stopped_in_other_browsers(other_with_python, address):
    """Answers are judged and kept, and Python runs again after an endless loop was stopped."""
    other = other_with_python
    other.open(f"{address}/{LESSON}.html")
    other.evaluate("localStorage.clear()")
    other.open(f"{address}/{LESSON}.html")
    said = other.evaluate(f"({ANSWER})('gradient_of_x = 3')")
    assert said.startswith("✗ wrong") and "That is the gradient from one slot." in said
    assert "Fix it first" in other.evaluate(f"({ANSWER})('while True: pass', 'Stop')")
    if isinstance(other, browsers.WebKit):
        assert uses_at_rest("WebKitWebProcess") < 1, "WebKit's stopped loop goes on"
    assert other.evaluate(f"({ANSWER})('gradient_of_x = 6')").startswith("✓ right")
    other.open(f"{address}/{LESSON}.html")
    kept = other.evaluate("document.querySelector('[id=\"cell-id=square-stub\"] textarea').value")
    solved = other.evaluate("progress().exercises")
    other.evaluate("localStorage.clear()")
    assert kept == "gradient_of_x = 6" and solved == ["03.square"] and not other.faults


def uses_at_rest(name):
    """Return the processor time, in seconds, that the processes of this name use within 5 seconds."""

    def used():
        children = psutil.Process().children(recursive=True)
        return sum(one.cpu_times().user for one in children if one.name() == name)

    before = used()
    time.sleep(5)
    return used() - before


# Type an answer, press Check, or also Stop once the cell is running, and return the verdict.
ANSWER = """async (text, stop) => {
    const [stub, check] = ["stub", "check"].map(part => document.getElementById(`cell-id=square-${part}`));
    const press = (root, name) => [...root.querySelectorAll("button")].find(one => one.textContent === name).click();
    const until = async state => { while (!state()) await new Promise(done => setTimeout(done, 20)); };
    const bar = document.querySelector(".live"), note = bar.querySelector(".live-note"), box = stub.querySelector("textarea");
    box.value = text;
    box.dispatchEvent(new Event("input"));
    note.textContent = "";
    press(stub, "Check");
    if (stop) {
        await until(() => stub.querySelector(".live-status").textContent.startsWith("running"));
        press(bar, stop);
    }
    await until(() => note.textContent.startsWith(stop ? "Python restarted" : "Ran "));
    return check.querySelector(".output_wrapper").innerText;
}"""


def test_backspace_takes_an_indent_in_other_browsers(other, address):
    """Regression: WebKit removed one space, because it deletes the selection before the script
    has selected the indent.
    """
    other.open(f"{address}/{LESSON}.html")
    other.evaluate(
        """(() => {
            const cell = document.getElementById("cell-id=multiply-rules");
            [...cell.querySelectorAll("button")].find(one => one.textContent === "Edit").click();
            const box = cell.querySelector("textarea");
            box.focus();
            box.select();
        })()"""
    )
    other.press("Backspace", *"if x:", "Enter", "Backspace", *"y  z", "Backspace", "Backspace")
    typed = other.evaluate("document.activeElement.value")
    other.evaluate("localStorage.clear()")
    assert typed == "if x:\ny "


def test_what_is_wrapped_is_indented_in_other_browsers(other, address):
    """On a phone, a long line continues 2 columns further in; the text box wraps like its copy."""
    other.resize(390, 844)
    other.open(f"{address}/{LESSON}.html")
    box, copy, columns = other.evaluate(
        """(() => {
            const editor = document.querySelector(".live-editor"), box = editor.querySelector("textarea");
            box.value = "if x:\\n    " + "wrapped ".repeat(9).trim();
            box.dispatchEvent(new Event("input"));
            const range = document.createRange(), text = editor.querySelector("pre").lastChild;
            range.setStart(text, text.data.indexOf("wrapped"));
            range.setEnd(text, text.data.length - 1);
            const left = editor.querySelector("pre").getBoundingClientRect().left;
            const indents = [...range.getClientRects()].map(row => row.left - left);
            return [box.scrollHeight, editor.querySelector("pre").offsetHeight,
                    indents.map(indent => Math.round(40 * indent / indents[0]) / 10)];
        })()"""
    )
    other.evaluate("localStorage.clear()")
    other.resize(1280, 900)
    assert box == copy and columns == [4, 2, 2], (box, copy, columns)


def test_a_comment_follows_its_code_closely_on_a_phone(browser, address):
    """Regression: aligned far to the right, it wrapped after its "#". A kept answer is not
    reported as one to an older version of the cell.
    """
    aligned = "gradient_of_x = ...              # a note"
    for width, first in [(1280, aligned), (390, "gradient_of_x = ...  # a note")]:
        with browser.new_context(viewport={"width": width, "height": 800}, **ONLINE) as context:
            context.add_init_script(
                """document.addEventListener("readystatechange", () => {
                    const code = document.querySelector("[id='cell-id=square-stub'] pre");
                    code.textContent = code.textContent.trim() + "              # a note";
                }, {once: true})"""
            )
            page = opened(context, address, LESSON)
            stub = page.locator("[id='cell-id=square-stub']")
            assert stub.locator("textarea").input_value() == first
            stub.locator("textarea").fill("gradient_of_x = 6")
            page.set_viewport_size({"width": 1670 - width, "height": 800})
            page.reload()
            assert stub.locator("textarea").input_value() == "gradient_of_x = 6"
            assert stub.locator(".live-status").inner_text() == ""
            stub.get_by_role("button", name="Restore original").click()
            assert stub.locator("textarea").input_value() != first
            assert not page.faults


def test_a_derivation_has_room_between_its_lines(other, address):
    """Lines are at least 8 px apart, and a boxed formula is centred in a single box."""
    other.open(f"{address}/02_draw_the_graph.html")
    gaps = other.evaluate(f"({GAPS})()")
    assert gaps and min(gaps) >= 8, gaps
    other.open(f"{address}/{LESSON}.html")
    other.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    boxed = other.evaluate("""[...document.querySelectorAll(".formula > math > mrow:only-child > .boxed:only-child")].map(box => {
        const [inner, outer] = [box, box.closest(".formula")].map(one => one.getBoundingClientRect());
        return Math.abs(inner.left - outer.left - outer.right + inner.right);
    })""")
    assert boxed and max(boxed) < 2, boxed


# Pixels between what two lines of a derivation contain, of all derivations in sight.
GAPS = """() => [...document.querySelectorAll("mtable")].filter(table => table.getClientRects().length).flatMap(table => {
    const lines = [...table.children].map(row => {
        const rects = [...row.querySelectorAll("mi, mn, mo")].map(one => one.getBoundingClientRect()).filter(one => one.height);
        return [Math.min(...rects.map(one => one.top)), Math.max(...rects.map(one => one.bottom))];
    });
    return lines.slice(1).map(([top], i) => top - lines[i][1]);
})"""

# Run the page and return its final state and the cells that show an error.
RUN_ALL = """async () => {
    const bar = document.querySelector(".live");
    bar.querySelector(".live-start").click();
    while (!["ready", "failed"].includes(bar.dataset.state))
        await new Promise(done => setTimeout(done, 50));
    const failed = [...document.querySelectorAll(".code_cell:has(.live-error)")]
        .map(one => `${one.id} ${one.querySelector(".live-error").textContent.slice(-300)}`);
    return {state: bar.dataset.state, seconds: bar.dataset.seconds, note: bar.querySelector(".live-note").textContent, failed};
}"""

# Return the milliseconds from the move of each slider to its picture.
MOVE_EACH = """async () => {
    const took = [];
    for (const slider of document.querySelectorAll(".moves[id^=live-] [type=range]:not([max='0'])")) {
        const box = slider.closest(".moves"), before = box.dataset.place, from = performance.now();
        slider.value = +slider.value + (slider.value === slider.max ? -1 : 1);
        slider.dispatchEvent(new Event("input"));
        while (box.dataset.place === before)
            await new Promise(done => setTimeout(done, 1));
        if (box.querySelector(".view").textContent.startsWith("✗"))
            throw new Error(box.textContent);
        took.push(performance.now() - from);
    }
    return took;
}"""


def test_python_starts_when_the_reader_begins_to_type(page, record_property):
    """Typing starts Python but runs no cell, so the first answer takes no longer than its cells.
    After Stop, Python starts only when a button is pressed.
    """
    page.locator("h1").click()
    page.get_by_label("Search").fill("chain")
    page.wait_for_timeout(300)
    # A worker may exist already, because the page stores Python for reading offline; that worker starts nothing.
    assert page.locator(".live").get_attribute("data-state") == "idle"
    cell(page, "square-stub").locator("textarea").press("End")
    page.keyboard.type(" ")
    page.get_by_text("Python is ready.").wait_for()
    assert not page.locator(".live-text, .live-error").count(), "a cell has run"
    assert answered(page, "square", "gradient_of_x = 6").startswith("✓ right")
    took = page.locator(".live").get_attribute("data-seconds")
    record_property("summary", f"first answer once Python is there: {took} s")
    page.evaluate("localStorage.clear()")
    page.reload()
    cell(page, "square-stub").locator("textarea").fill("x")
    assert page.get_by_role("button", name="Run this page").is_visible(), "also while Python starts"
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("Stopped. Press Run").wait_for()
    cell(page, "square-stub").locator("textarea").fill("xy")
    assert page.locator(".live").get_attribute("data-state") == "failed"


def test_the_code_on_the_first_page_is_changed_and_run(visit):
    """The graph on the front page moves before Python is loaded, and then shows the reader's
    code.
    """
    page = visit("index")
    graph = page.locator(".front .output_wrapper")
    graph.get_by_role("slider", name="x").press("ArrowRight")
    lab.until(page, "document.querySelector('.front .words').textContent.includes('value −24')")
    editor = cell(page, "try-stub").locator("textarea")
    code = editor.input_value()
    editor.fill(code.replace("z = x + y", "z = x * y"))
    shown = press(page, "try-stub", "Run")
    assert "z = x × y" in shown and "value −24" in graph.locator(".words").text_content()
    page.reload()
    assert "z = x * y" in editor.input_value(), "the reader's version is kept"
    tab = page.context.new_page()
    tab.goto(page.url)
    tab.evaluate("change(({exercises}) => exercises.push('05.order'))")
    page.get_by_text("1 of 3 exercises").wait_for()
    tab.close()
    page.evaluate("localStorage.clear()")
    assert not page.faults


def test_a_link_to_a_picture_holds_before_python_and_after(page):
    """The positions in a link apply at once, remain when the page runs, and change when another
    link is opened.
    """
    address = page.url
    page.goto(f"{address}#03.divide-slope:y=1")
    page.reload()
    box = cell(page, "divide-slope").locator(".moves")
    typed = box.get_by_label("y, typed")
    assert typed.input_value() == "1"
    box.locator("pre.words", has_text="at y = 1").wait_for(state="attached")
    lab.until(page, "scrollY > 500")
    press(page, "divide-slope", "Run")
    assert typed.input_value() == "1"
    box.locator("pre.words", has_text="at y = 1").wait_for(state="attached")
    page.evaluate("location.hash = '#03.divide-slope:y=2.5'")
    box.locator("pre.words", has_text="at y = 2.5").wait_for(state="attached")
    assert not page.faults


def test_an_exercise_on_a_phone(browser, address):
    """An exercise has one button below its answer, the bar at the bottom has Run or Stop and a
    count, and nothing is wider than the phone.
    """
    with browser.new_context(
        viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True, **ONLINE
    ) as context:
        page = context.new_page()
        page.set_default_timeout(1000 * lab.PATIENCE)
        page.goto(f"{address}/{LESSON}.html")
        dock = page.locator(".live-dock")
        assert not dock.is_visible()
        exercise = cell(page, "square-stub"), cell(page, "square-check")
        exercise[0].scroll_into_view_if_needed()
        dock.get_by_text("Run this page").wait_for()
        of = int(dock.locator("span").inner_text().removeprefix("0 of ").split()[0])
        shown = [
            button.inner_text()
            for part in exercise
            for button in part.get_by_role("button").all()
            if button.is_visible()
        ]
        assert shown == ["Check"] and not exercise[1].locator("pre").first.is_visible()
        exercise[0].locator("textarea").fill("while True: pass")
        exercise[0].get_by_role("button", name="Check").tap()
        exercise[0].get_by_text("running …").wait_for()
        dock.get_by_role("button", name="Stop").tap()
        settled(page)
        exercise[0].locator("textarea").fill("gradient_of_x = 6")
        exercise[0].get_by_role("button", name="Check").tap()
        dock.get_by_text(f"1 of {of} exercises").wait_for()
        slider = page.get_by_role("slider").first
        before = float(slider.input_value())
        page.get_by_role("button", name="Step back").first.tap()
        assert float(slider.input_value()) == before - 1
        for button in page.get_by_role("button").all():
            if button.is_visible():
                size = button.bounding_box()
                assert min(size["width"], size["height"]) >= 43.9, button.inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") == 390


# Add up how far what is seen moves by itself while a page opens, as browsers measure it.
SHIFTS = """window.shifts = [];
new PerformanceObserver(list => list.getEntries().forEach(one => one.hadRecentInput || shifts.push(one.value)))
    .observe({type: "layout-shift", buffered: true});"""


@pytest.mark.parametrize("name", ["index", LESSON, "warm_up", "playground", "engine"])
def test_nothing_moves_while_a_page_opens(browser, address, name):
    """Regression: the bar, the buttons and the text box pushed down what was already read."""
    with browser.new_context(viewport={"width": 1280, "height": 844}, **ONLINE) as context:
        page = context.new_page()
        page.add_init_script(SHIFTS)
        page.goto(f"{address}/{name}.html")
        page.locator(".live button, .live code").first.wait_for()
        page.wait_for_timeout(500)
        assert page.evaluate("shifts.reduce((a, b) => a + b, 0)") < 0.05


def test_a_page_that_runs_names_its_own_buttons(visit):
    """A note of a page does not send the reader to JupyterLab, and the cell that shows the
    reader's progress can be run again.
    """
    page = visit("00_start_here")
    outputs = page.locator(".code_cell .output_wrapper").all_text_contents()
    assert "press Run" in "".join(outputs) and "JupyterLab" not in "".join(outputs)
    assert "series of problems, press Answer" in "".join(outputs)
    problems = visit("practice").locator(".code_cell .output_wrapper").first.text_content()
    assert "series of problems, press Run" in problems, "its code is shown, and its button is Run"
    (name,) = page.evaluate("""[...document.querySelectorAll(".code_cell")].filter(cell =>
        cell.querySelector("[data-source^='progress(']")).map(cell => cell.id.replace("cell-id=", ""))""")
    assert "Nothing has been recorded yet." in press(page, name, "Run")
    page.evaluate("change(record => record.exercises.push('00.value'))")
    assert "00" in press(page, name, "Run") and cell(page, name).get_by_role("button").is_visible()
    page.evaluate("localStorage.clear()")


@EVERY_COMMIT
def test_an_exercise_is_answered_wrong_and_right(running, tmp_path, monkeypatch):
    assert answered(running, "square", "gradient_of_x = 3").startswith("✗ wrong")
    assert "That is the gradient from one slot." in cell(running, "square-check").inner_text()
    assert answered(running, "square", "gradient_of_x = 3 + 3").startswith("✓ right")
    monkeypatch.setattr(record, "FILE", tmp_path / "progress.json")
    for answer in (3, 6):
        check("03.square", answer)
    kept = running.evaluate("progress()")
    assert [kept[part] for part in ("exercises", "tries")] == [
        record.read()[part] for part in ("exercises", "tries")
    ]
    assert (
        kept["tries"]["03.square"]["wrong"]
        .popitem()[0]
        .startswith("That is the gradient from one slot.")
    ), "as JupyterLab keeps it"


def test_sliders_follow_the_learners_own_functions(running, record_property):
    """The picture reports a wrong rule at the slider's position, and every value of the slider
    can be reached.
    """
    stub = cell(running, "divide-stub").locator("textarea")
    stub.fill("divide_x = lambda g, z, x, y: g / y\ndivide_y = lambda g, z, x, y: g * z / y")
    said = press(running, "divide-slope", "Run")
    assert "your rule gives 1.5" in said
    slider = cell(running, "divide-slope").get_by_role("slider", name="y", exact=True)
    slider.press("ArrowRight")
    cell(running, "divide-slope").locator("pre.words", has_text="at y = 2.05").wait_for(
        state="attached"
    )
    stub.fill("divide_x = lambda g, z, x, y: g / y\ndivide_y = lambda g, z, x, y: -g * z / y")
    assert "your rule gives −1.5" in press(running, "divide-slope", "Run")
    took = []
    for _ in range(10):
        slider.press("ArrowRight")
        running.wait_for_timeout(100)
        took.append(int(cell(running, "divide-slope").locator(".moves").get_attribute("data-took")))
    record_property("summary", f"a slider's picture in a page: {sorted(took)[5]} ms")


def test_a_matrix_product_is_faster_and_equal_to_the_last_bit(running, record_property):
    """The loops of matmul.wat give sums in NumPy's order for all strides, and are faster than
    NumPy's loop for int32.
    """
    press(running, "square-stub", "Check")
    same, scratch, faster = json.loads(
        running.workers[0].evaluate(f"python.runPython({PRODUCTS!r})")
    )
    assert len(same) > 80 and all(same), same
    text = (ROOT / "web/matmul.wat").read_text(encoding="utf-8")
    assert f"(i32.const {scratch // 32})" in text and f"address of {scratch} bytes" in text
    record_property(
        "summary",
        "a product of matrices takes, of int32's time: "
        + ", ".join(f"{1 / ratio:.2f} for {dtype}" for dtype, ratio in faster.items()),
    )
    assert min(faster.values()) > 1.5


PRODUCTS = """
import json, time
import numpy as np
import pyodide_kernel

def in_order(a, b):
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    total = np.zeros((*stack, a.shape[-2], b.shape[-1]), a.dtype)
    for k in range(a.shape[-1]):
        total += a[..., k, None] * b[..., k, None, :]
    return total

def seconds(a, b):
    took = []
    for _ in range(5):      # many products at a time: a browser's clock ticks once a millisecond
        start = time.perf_counter()
        for _ in range(100):
            a @ b
        took.append(time.perf_counter() - start)
    return min(took)

rng = np.random.default_rng(0)
same, faster = [], {}
for dtype in ["float64", "float32"]:
    normal = lambda *shape: rng.normal(size=shape).astype(dtype)
    for m, n, p in [(1, 1, 1), (3, 3, 3), (4, 5, 8), (5, 7, 9), (6, 0, 5), (4, 256, 4), (4, 257, 8), (7, 600, 9), (2, 5, 9), (9, 5, 2), (13, 6, 11), (5, 4, 14), (3, 300, 23)]:
        a, b = normal(m, n), normal(n, p)
        for left, right in [(a, b), (np.asfortranarray(a), b), (a, np.asfortranarray(b)), (a[::-1, ::-1], b[:, ::-1])]:
            same.append((left @ right).tobytes() == in_order(left, right).tobytes())
    for a, b in [
        (normal(3, 2, 6, 5), normal(2, 5, 7)),
        (normal(3, 1, 6, 5), normal(2, 5, 7).mT.copy().mT),
        (np.broadcast_to(normal(1, 5), (6, 5)), normal(5, 20)[:, 1::4]),
        (normal(0, 4, 5), normal(5, 6)),
    ]:
        same.append((a @ b).tobytes() == in_order(a, b).tobytes())
    target, a, b = np.zeros((12, 12), dtype), normal(5, 6), normal(6, 7)
    np.matmul(a, b, out=target[1:11:2, 2:9])
    same.append((target[1:11:2, 2:9] == in_order(a, b)).all() and np.count_nonzero(target) == 35)
    a = normal(6, 6)
    a[2, 3], a[1, 1] = np.inf, np.nan
    same.append(np.array_equal(a @ a, in_order(a, a), equal_nan=True))
    a, b = normal(64, 64), normal(64, 64)
    integers = a.astype("int32"), b.astype("int32")
    # The best of three, because another process may slow one of them.
    faster[dtype] = max(seconds(*integers) / seconds(a, b) for _ in range(3))
same = [bool(one) for one in same]
json.dumps([same, pyodide_kernel.SCRATCH, faster])
"""


def test_a_picture_is_drawn_once_until_a_cell_is_run(running):
    cell(running, "imports").get_by_role("button", name="Edit").click()
    cell(running, "imports").locator("textarea").fill(COUNTED)
    press(running, "imports", "Run")
    slider, view = (cell(running, "imports").locator(one) for one in ("[type=range]", ".view"))
    for key, number in [("ArrowRight", 3), ("ArrowLeft", 4), ("ArrowRight", 3)]:
        slider.press(key)
        view.get_by_text(f"drawing {number}", exact=True).wait_for()
    cell(running, "square-stub").locator("textarea").fill("gradient_of_x = 6")
    press(running, "square-stub", "Check")
    slider.press("ArrowLeft")
    view.get_by_text("drawing 5", exact=True).wait_for()
    cell(running, "imports").get_by_role("button", name="Restore original").click()


COUNTED = """from itertools import count
from autograd_course import explore
from autograd_course.drawing.picture import Picture
number = count(1)
def drawn(x):
    said = f"drawing {next(number)}"
    return Picture(said, said)
explore(drawn, x=(0, 9, 0))"""


def test_an_error_is_shown_as_a_learner_needs_it(running):
    stub = cell(running, "drill-stub").locator("textarea")
    before = stub.input_value()
    stub.fill("def half(n):\n    return 1 / n\n\nhalf(0)")
    said = press(running, "drill-stub", "Check")
    assert said.startswith(
        "line 4: half(0)\nline 2: return 1 / n\nZeroDivisionError: division by zero"
    )
    assert "page_kernel" not in cell(running, "drill-stub").locator(".live-error").text_content()
    stub.fill("x = (1,\ny = 2")
    assert "SyntaxError: '(' was never closed" in press(running, "drill-stub", "Check")
    assert "Fix it first" in cell(running, "drill-check").inner_text(), (
        "no verdict on an earlier answer stays"
    )
    assert "Fix it first" in checked(running, "drill"), (
        "an earlier answer is not judged for this one"
    )
    running.get_by_role("link", name="1 raised an error").click()
    cell(running, "drill-stub").get_by_role("button", name="Restore original").click()
    assert stub.input_value() == before
    cell(running, "drill-stub").get_by_role("button", name="Restore my version").click()
    assert stub.input_value() == "x = (1,\ny = 2"
    cell(running, "drill-stub").get_by_role("button", name="Restore original").click()


def test_a_prediction_and_the_questions_from_memory(page):
    registered()
    box = page.locator("[id='ask-03.pattern']")
    box.locator("[type=text]").fill(str(PREDICTIONS["03.pattern"].answer))
    box.get_by_text("Reveal").click()
    assert box.locator(".verdict").inner_text().startswith("✓")
    press(page, "recall", "Answer")
    recall = cell(page, "recall")
    recall.get_by_label("2. your answer").fill("fish")
    recall.get_by_role("button", name="Show answer 2").click()
    recall.get_by_text("“fish” is not a number").wait_for()
    recall.get_by_label("2. your answer").fill("-10")
    recall.get_by_role("button", name="Show answer 2").click()
    recall.get_by_text("Try again").wait_for()
    assert not page.faults


def test_the_card_and_the_gym(running):
    press(running, "gym", "Answer")
    card, gym = cell(running, "card"), cell(running, "gym")
    card.get_by_label("my card").fill("times it, in the other's place")
    card.get_by_text("1 of 6 lines").wait_for()
    card.get_by_role("button", name="Compare with ours").click()
    card.get_by_text("Ours", exact=True).wait_for()
    head = gym.locator("strong").first.inner_text()
    gym.get_by_role("button", name="Show the answer").click()
    gym.get_by_text("The answer:").wait_for()
    gym.get_by_role("button", name="Next problem").click()
    lab.until(
        running,
        "([box, head]) => box.querySelector('strong').textContent !== head",
        [gym.element_handle(), head],
    )
    kept = running.evaluate("progress()")
    assert kept["cards"] == {"03": ["times it, in the other's place"]} and kept["gym"]


def test_an_endless_loop_is_stopped_and_a_dead_python_comes_back(page):
    stub = cell(page, "reflected-stub").locator("textarea")
    stub.fill("while True:\n    pass")
    cell(page, "reflected-stub").get_by_role("button", name="Check").click()
    cell(page, "reflected-stub").get_by_text("running …").wait_for()
    page.get_by_role("button", name="Stop").click()
    assert "Stopped." in cell(page, "reflected-stub").inner_text()
    assert "Fix it first" in cell(page, "reflected-check").inner_text()
    settled(page)
    assert stub.input_value() == "while True:\n    pass"
    stub.fill(
        "class Deep:\n    def __repr__(self):\n        return repr(self)\nrepr(Deep())"
    )  # the error is raised in C code
    cell(page, "reflected-stub").get_by_role("button", name="Check").click()
    page.get_by_text("Python restarted").wait_for()
    assert "Infinite recursion" in cell(page, "reflected-stub").locator(".live-error").inner_text()
    assert answered(
        page, "reflected", "slope_of_5_minus_x = -1\nslope_of_8_over_x = -2"
    ).startswith("✓ right")
    page.faults.clear()


def test_a_slider_whose_python_has_ended_runs_its_cell_again(page):
    """The slider moves after the first key press. Regression: each further key press stopped the
    new Python.
    """
    press(page, "divide-slope", "Run")
    cell(page, "reflected-stub").locator("textarea").fill("while True:\n    pass")
    cell(page, "reflected-stub").get_by_role("button", name="Check").click()
    cell(page, "reflected-stub").get_by_text("running …").wait_for()
    page.get_by_role("button", name="Stop").click()
    settled(page)
    started = []
    page.on("worker", lambda worker: started.append(worker))
    slider = cell(page, "divide-slope").get_by_role("slider", name="y", exact=True)
    slider.press("ArrowRight")
    cell(page, "divide-slope").locator("pre.words", has_text="at y = 2.05").wait_for(
        state="attached"
    )
    settled(page)
    page.keyboard.press("ArrowRight")  # the focus has moved to the new slider
    cell(page, "divide-slope").locator("pre.words", has_text="at y = 2.1").wait_for(
        state="attached"
    )
    assert not started and not page.faults


WRONG_RECORDS = [
    "no JSON",
    "null",
    "[]",
    "{}",
    '{"exercises": null}',
    '{"exercises": [], "predictions": {"03.pattern": {}}}',
    '{"exercises": [], "predictions": {"03.pattern": null}, "cards": 3}',
    '{"tries": {"03.square": {"wrong": null, "last": 1}}, "gym": {"x": {}}}',
]
WRONG_CELLS = ["no JSON", "null", "{}", '{"text": 3}', "[]"]


def test_a_damaged_record_breaks_nothing_else(page, tmp_path):
    """A damaged entry breaks neither this page nor Python. Regression: one damaged entry broke
    every page for good.
    """
    square = f"{WORK}{LESSON}/square-stub"
    own = f"{WORK}{LESSON}/divide-stub"
    for record_text, cell_text in zip_longest(WRONG_RECORDS, WRONG_CELLS):
        page.evaluate(
            "all => Object.entries(all).forEach(([key, text]) => localStorage.setItem(key, text))",
            {
                "autograd-course progress.json": record_text,
                square: cell_text or "{",
                f"{WORK}05_backpropagate/x-stub": cell_text or "{",
                own: '{"text": "mine", "ours": "another"}',
            },
        )
        page.reload()
        assert cell(page, "square-stub").locator("textarea").input_value() != "3"
        assert cell(page, "divide-stub").locator("textarea").input_value() == "mine"
        assert page.get_by_role("button", name="Delete my answers").is_visible()
        assert page.get_by_role("searchbox").is_visible()
        assert page.locator(".ask button").first.inner_text() == "Reveal"
    assert press(page, "imports", "Run").strip() == "passed"
    before = page.evaluate("localStorage['autograd-course progress.json']")
    for text in [*WRONG_RECORDS, '{"exercises": [], "cells": {"03/x": {}}}']:
        if text == "{}":
            continue
        (tmp_path / "progress.json").write_text(text)
        page.get_by_label("Load answers from progress.json").set_input_files(
            tmp_path / "progress.json"
        )
        page.get_by_text("This file is not a progress.json").wait_for()
        page.evaluate("offer()")
    assert page.evaluate("localStorage['autograd-course progress.json']") == before
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete my answers").click()
    lab.until(page, "!Object.keys(localStorage).length")
    assert not page.faults


def test_a_connection_that_fails_and_storage_that_is_blocked(bundled_site, browser, address):
    """Each failure shows what to do, and the next press works."""
    with browser.new_context(**ONLINE) as context:
        page = context.new_page()
        page.set_default_timeout(1000 * lab.PATIENCE)
        page.goto(f"{address}/{LESSON}.html")
        note, run = page.locator(".live-note"), page.get_by_role("button", name="Run this page")
        context.set_offline(True)
        run.click()
        note.get_by_text("the network did not respond").wait_for()
        context.set_offline(False)
        blocked = (
            "Object.defineProperty(self, 'caches', {get() { throw new Error('SecurityError') }});\n"
        )
        context.route(
            "**/worker.js",
            lambda route: route.fulfill(body=blocked + (bundled_site / "worker.js").read_text()),
        )
        context.route("**/course.zip.part", lambda route: route.abort())
        run.click()
        note.get_by_text("the network did not respond").wait_for()
        context.unroute("**/course.zip.part")
        context.route("**/course.zip.part", lambda route: None)  # a request without an answer
        run.click()
        note.get_by_text("Downloading Python").wait_for()
        page.get_by_role("button", name="Stop").click()
        note.get_by_text("Stopped. Press Run").wait_for()
        context.unroute("**/course.zip.part")
        assert press(page, "imports", "Run").strip() == "passed"


def test_work_is_saved_downloaded_and_restored(page, browser, address, tmp_path, monkeypatch):
    assert answered(page, "square", "gradient_of_x = 3 + 3").startswith("✓ right")
    page.reload()
    assert cell(page, "square-stub").locator("textarea").input_value() == "gradient_of_x = 3 + 3"
    assert "You have already solved this" in cell(page, "square-check").inner_text()
    with page.expect_download() as download:
        page.get_by_text("Download my answers").click()
    download.value.save_as(tmp_path / "progress.json")
    monkeypatch.setattr(record, "FILE", tmp_path / "progress.json")
    assert "03.square" in record.read()["exercises"], "JupyterLab reads it"
    record.missed("03.power", "a hint", "a verdict")
    record.solved("03.power")
    with browser.new_context(**ONLINE) as other:
        page = other.new_page()
        page.goto(f"{address}/{LESSON}.html")
        page.get_by_label("Load answers from progress.json").set_input_files(
            tmp_path / "progress.json"
        )
        page.get_by_text("Saved in this browser:").wait_for()
        assert "03.power" in page.evaluate("progress().exercises")
        assert page.evaluate("progress().tries['03.power'].wrong") == {"a hint": 1}
        assert (
            cell(page, "square-stub").locator("textarea").input_value() == "gradient_of_x = 3 + 3"
        )
        page.get_by_label("Load answers from progress.json").set_input_files(__file__)
        page.get_by_text("This file is not a progress.json").wait_for()


def test_work_survives_an_updated_lesson_and_shows_in_every_tab(browser, address):
    """A reader's answer is kept, with a note, when the lesson's cell has changed; buttons switch
    between the two versions.
    """
    with browser.new_context(**ONLINE) as context:
        tabs = [context.new_page(), context.new_page()]
        for tab in tabs:
            tab.goto(f"{address}/{LESSON}.html")
        boxes = [cell(tab, "square-stub").locator("textarea") for tab in tabs]
        boxes[0].fill("gradient_of_x = 6")
        lab.until(
            tabs[1],
            "text => document.querySelector('textarea').value === text",
            "gradient_of_x = 6",
        )
        tabs[0].evaluate(
            "name => keep(name, JSON.stringify({text: 'mine', ours: 'another'}))",
            f"{WORK}{LESSON}/square-stub",
        )
        tabs[0].reload()
        assert boxes[0].input_value() == "mine"
        assert "has changed since you edited it" in cell(tabs[0], "square-stub").inner_text()
        for button, text in [
            ("Restore original", "gradient_of_x = ..."),
            ("Restore my version", "mine"),
        ]:
            cell(tabs[0], "square-stub").get_by_role("button", name=button).click()
            assert boxes[0].input_value() == text


@pytest.mark.parametrize("room", [0, 6_000_000], ids=["none", "5 MB"])
def test_a_full_browser_storage_is_reported(browser, address, room):
    """The page also continues with the reader's text, which can be downloaded."""
    with browser.new_context(**ONLINE) as context:
        page = context.new_page()
        if not room:
            page.add_init_script(
                "Object.defineProperty(window, 'localStorage', {get: () => { throw new Error('blocked') }})"
            )
        page.goto(f"{address}/{LESSON}.html")
        box = cell(page, "square-stub").locator("textarea")
        box.evaluate(
            """(box, text) => {
            box.value = text;
            box.dispatchEvent(new Event("input")) }""",
            "gradient_of_x = 3 + 3 #" + room * "x",
        )
        assert page.locator(".keep").inner_text().startswith("This browser can't save your work")
        assert page.evaluate("Object.keys(work())") == [f"{LESSON}/square-stub"]
        if not room:
            assert checked(page, "square").startswith("✓ right")
            assert page.evaluate("progress().exercises") == ["03.square"]
        box.fill("gradient_of_x = ...")
        if room:
            assert page.locator(".keep").inner_text().startswith("Load answers")


def test_the_playground(browser, address, request, record_property):
    """A link restores text, sliders and step; typed text is drawn or explained; and no link runs
    code.
    """
    with browser.new_context(viewport={"width": 1280, "height": 900}, **ONLINE) as context:
        context.set_default_timeout(1000 * lab.PATIENCE)
        page = context.new_page()
        faults = []
        page.on("dialog", lambda dialog: faults.append(dialog.message))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "request",
            lambda asked: (
                None
                if asked.url.startswith((address, "blob:", "data:"))
                else faults.append(asked.url)
            ),
        )
        start = f"{address}/playground.html"
        page.goto(f"{start}#{urlencode({'text': 'y = a*b', 'a': 2, 'b': 3, 'step': 1})}")
        cell = page.locator(".code_cell:has(.plays)").first
        cell.get_by_role("button", name="Draw this function").click()
        words = cell.locator(".words")
        words.filter(has_text="Step 1 of 6").wait_for(state="attached")
        said = cell.locator(".plays [role=status]")
        text = cell.get_by_label("Function")
        text.fill("x = 3\ny = x*x\nL = x*detach(y)")
        words.filter(has_text="gradient 9, measured slope 27").wait_for(state="attached")
        page.set_viewport_size({"width": 390, "height": 400})
        cell.locator(".view").evaluate("view => view.scrollIntoView()")
        below = cell.locator(".controls").evaluate("one => one.getBoundingClientRect().bottom")
        assert below <= 400, "on a phone the controls stay in sight"
        page.set_viewport_size({"width": 1280, "height": 900})
        page.evaluate("navigator.clipboard.writeText = async text => { window.copied = text; }")
        cell.get_by_role("button", name="Copy link").click()
        said.filter(has_text="copied").wait_for()
        copied = page.evaluate("window.copied")
        assert parse_qs(urlsplit(copied).fragment) == {
            "text": ["x = 3\ny = x*x\nL = x*detach(y)"],
            "x": ["3"],
            "step": ["0"],
        }
        for kind, begin in [("svg", b"<svg"), ("png", b"\x89PNG")]:
            with page.expect_download() as saved:
                cell.get_by_role("button", name=f"Save as {kind.upper()}").click()
            assert Path(saved.value.path()).read_bytes().startswith(begin)
        texts = playground_texts.HOSTILE[:: 1 if request.config.getoption("--all") else 7]
        # Each text once, because a link that equals the one before it changes nothing.
        texts = [*dict.fromkeys([*texts, *playground_texts.HOSTILE[-5:]])]
        harm = page.evaluate(f"({ATTACK})({json.dumps(texts)})")
        assert harm == UNHARMED and not faults


@pytest.mark.rotating(every=9)
@pytest.mark.parametrize("name", ["playground"])
def test_hostile_links_in_other_browsers(other, address, name, record_property):
    other.open(f"{address}/{name}.html")
    texts = playground_texts.HOSTILE
    for some in (texts[at : at + 10] for at in range(0, len(texts), 10)):
        assert other.evaluate(f"({ATTACK})({json.dumps(some)})") == UNHARMED
    record_property("summary", f"{len(texts)} hostile links: {type(other).__name__}")
    # The console reports the handler that the test inserted, because the policy blocks it.
    assert all("Content-Security-Policy" in fault for fault in other.faults)


# Follow links with these texts, then insert a handler into a picture as if a text had reached its
# HTML. Each link must be drawn or explained; none may open a dialog, change the storage, run a
# handler, or contact another host.
ATTACK = """async texts => {
    const wait = time => new Promise(done => setTimeout(done, time)), harm = {dialogs: 0, unanswered: [], hosts: []};
    window.alert = window.confirm = window.prompt = () => { harm.dialogs += 1; };
    localStorage.setItem("secret", "kept");
    const cell = document.querySelector(".code_cell:has(.plays)"), said = cell.querySelector(".plays [role=status]");
    const words = () => cell.querySelector(".words")?.textContent;
    for (const text of [`y = a*b + ${Math.random()}`, ...texts]) {
        const before = words(), end = performance.now() + 90000;
        said.textContent = "";
        location.hash = `#${new URLSearchParams({text})}`;
        const done = () => (words() ?? before) !== before || said.textContent && !said.querySelector("button");
        while (!done() && performance.now() < end) {
            said.querySelector("button")?.click();      // where this browser does not keep Python yet
            await wait(20);
        }
        if (performance.now() >= end)
            harm.unanswered.push(text);
    }
    cell.querySelector(".view, .output_wrapper").innerHTML = "<img src=x onerror='window.ran = 1'>";
    await wait(300);
    harm.hosts = performance.getEntriesByType("resource").map(one => one.name)
        .filter(name => !name.startsWith(location.origin) && !/^(blob|data):/.test(name));
    return {...harm, ran: window.ran ?? null, secret: localStorage.getItem("secret")};
}"""
UNHARMED = {"dialogs": 0, "unanswered": [], "hosts": [], "ran": None, "secret": "kept"}


def test_the_editor(running):
    """A new line keeps its indent, Tab indents, Tab leaves the editor after Escape, and
    Shift+Enter runs the cell.
    """
    cell(running, "multiply-rules").get_by_role("button", name="Edit").click()
    box = cell(running, "multiply-rules").locator("textarea")
    box.fill("")
    for keys in [
        "def f():",
        "Enter",
        "return 1",
        "Enter",
        "Shift+Tab",
        "f() + 1",
        "Home",
        "Tab",
        "Backspace",
        "Tab",
        "Shift+Tab",
    ]:
        (running.keyboard.press if keys[0].isupper() else running.keyboard.type)(keys)
    assert box.input_value() == "def f():\n    return 1\nf() + 1"
    assert cell(running, "multiply-rules").locator("pre .k").all_inner_texts() == ["def", "return"]
    running.keyboard.press("Escape")
    running.keyboard.press("Tab")
    assert running.evaluate("document.activeElement.tagName") == "BUTTON"
    box.press("Shift+Enter")
    settled(running)
    assert cell(running, "multiply-rules").locator(".output_wrapper").inner_text().strip() == "2"
    cell(running, "multiply-rules").get_by_role("button", name="Restore original").click()


def test_a_running_page_is_accessible(page, tmp_path):
    page.get_by_role("button", name="Run this page").click()
    settled(page)
    page.evaluate(
        "document.querySelectorAll('details').forEach(fold => { fold.hidden = false; fold.open = true })"
    )
    page.evaluate(lab.from_npm(tmp_path, "axe-core@4", "axe.min.js"))
    for width, (theme, rules) in product(
        [1280, 390], [("light", lab.WCAG), ("dark", ["color-contrast"])]
    ):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        page.emulate_media(color_scheme=theme)
        report = page.evaluate(
            "rules => axe.run({resultTypes: ['violations'], runOnly: rules, preload: false})", rules
        )
        assert not [
            (one["id"], [node["html"][:200] for node in one["nodes"]][:3])
            for one in report["violations"]
        ]
    assert not page.faults


def test_what_is_fetched_is_small_and_fetched_once(browser, address, record_property):
    """The first page fetches at most 7.2 MB and the next nothing, because the browser caches the
    parts by their hashes, and Python's initial memory.

    If Python cannot start from that memory, the next page starts without it.
    """
    with browser.new_context(**ONLINE) as context:
        for most in (7.2e6, 0):
            page = context.new_page()
            page.goto(f"{address}/{LESSON}.html")
            Server.sent.clear()
            page.get_by_role("button", name="Run, cell 1", exact=True).click()
            settled(page)
            fetched = sum(size for path, size in Server.sent if path.endswith(".part"))
            assert fetched <= most
            took = page.locator(".live").get_attribute("data-seconds")
            record_property(
                "summary",
                f"a page that runs fetches {fetched / 1e6:.2f} MB; first output: {took} s",
            )
        page.reload()  # no page was closed, because open pages share compiled Python
        # A damaged part in the cache is fetched again; Python's initial memory is rebuilt without
        # fetching.
        spoiled = page.evaluate(SPOIL, "/[0-9a-f]{56,}$")
        assert spoiled == len(pyodide_bundle.PARTS) + 2
        page.get_by_role("button", name="Run, cell 1", exact=True).click()
        settled(page)
        assert page.evaluate(SPOILED) == 0
        page.reload()
        assert page.evaluate(SPOIL, "/[0-9a-f]{56}$") == 1
        page.get_by_role("button", name="Run, cell 1", exact=True).click()
        page.evaluate("""async () => {
            const kept = await caches.open("autograd-course");
            while (!(await kept.keys()).some(({url}) => url.endsWith("-tried")))
                await new Promise(done => setTimeout(done, 20)) }""")
        page.reload()
        page.get_by_role("button", name="Run, cell 1", exact=True).click()
        settled(page)


# Number of damaged parts left in the cache.
SPOILED = """async () => {
    const kept = await caches.open("autograd-course");
    const parts = (await kept.keys()).filter(({url}) => /[/][0-9a-f]{64}$/.test(url));
    const sizes = await Promise.all(parts.map(async one => (await (await kept.match(one)).arrayBuffer()).byteLength));
    return sizes.filter(size => size === 9).length }"""

# Replace the cached responses of these addresses. A memory keeps a matching hash, as if only
# Python could not start from it.
SPOIL = """async pattern => {
    const kept = await caches.open("autograd-course");
    const found = (await kept.keys()).filter(({url}) => new RegExp(pattern).test(url));
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(9)));
    const sha256 = [...digest].map(byte => byte.toString(16).padStart(2, "0")).join("");
    const headers = pattern.includes(",") ? {} : {sha256};
    await Promise.all(found.map(one => kept.put(one, new Response(new Uint8Array(9), {headers}))));
    return found.length }"""


def test_pyodide_comes_from_its_makers():
    """The parts have the hashes of npm's package of Pyodide and of the lock file in it."""
    try:
        made = pyodide_bundle.from_npm()
    except (OSError, RuntimeError) as error:
        pytest.skip(f"npm has no Pyodide for us: {error}")
    wheels = json.loads(made["pyodide-lock.json"])["packages"].values()
    hashes = {wheel["file_name"]: wheel["sha256"] for wheel in wheels}
    hashes |= {name: hashlib.sha256(content).hexdigest() for name, content in made.items()}
    for name, (_, sha256) in pyodide_bundle.PARTS.items():
        assert hashes[name] == sha256, name


def test_a_part_that_is_not_what_it_was_is_refused(bundled_site, browser, address):
    whole = next(bundled_site.glob("python_stdlib*.part")).read_bytes()
    with browser.new_context(**ONLINE) as context:
        context.route(
            "**/python_stdlib*.part", lambda route: route.fulfill(body=whole[:-9] + b"\0" * 9)
        )
        page = context.new_page()
        page.goto(f"{address}/{LESSON}.html")
        page.get_by_role("button", name="Run this page").click()
        page.get_by_text("is not the file that these pages were built with").wait_for()


def test_without_the_parts_a_page_uses_pyodides_own_address(site, bundled_site, browser, request):
    """The page fetches Pyodide only after the reader has run something. Here its address is
    served from the folder of the parts.
    """
    parts, asked = request.config.cache.mkdir("pyodide"), []

    def answer(route):
        asked.append(route.request.url)
        route.fulfill(
            body=(parts / route.request.url.split("/")[-1]).read_bytes(),
            headers={"Access-Control-Allow-Origin": "*"},
        )

    beside = [file for file in site.iterdir() if file.suffix != ".html"]
    assert not list(site.glob("numpy*")) and sum(file.stat().st_size for file in beside) < 4e6
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), partial(Server, directory=site)) as server,
        browser.new_context(**ONLINE) as context,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        context.route(f"{pyodide_bundle.ADDRESS}*", answer)
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/{LESSON}.html")
        page.wait_for_timeout(300)
        assert not asked
        page.get_by_role("button", name="Run, cell 1", exact=True).click()
        settled(page)
        assert cell(page, "imports").locator(".output_wrapper").inner_text().strip() == "passed"
        assert sorted(asked) == sorted(
            pyodide_bundle.ADDRESS + name for name in pyodide_bundle.PARTS
        )
        server.shutdown()


@pytest.fixture
def edition(bundled_site, tmp_path):
    """Return (copy of the site to change, its address, function that stops its server)."""
    folder = shutil.copytree(bundled_site, tmp_path / "site")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Server, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def end():
        server.shutdown()
        server.server_close()

    yield folder, f"http://127.0.0.1:{server.server_port}", end
    end()


def test_after_one_visit_the_course_opens_and_runs_without_a_network(browser, edition):
    """Python works offline too, although no reader has started it before, because its parts are
    served beside the pages.
    """
    _, address, end = edition
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(1000 * lab.PATIENCE)
        page.goto(f"{address}/{LESSON}.html")
        page.evaluate(KEPT, ["autograd-course", len(pyodide_bundle.PARTS) + 1])
        end()
        page.reload()
        assert press(page, "imports", "Run").strip() == "passed"
        for name in ["", "05_walk_backward", "classroom.html"]:
            page.goto(f"{address}/{name}")
            assert page.locator("h1").is_visible()
        page.get_by_label("Search").fill("chain rule")
        page.get_by_role("link", name="chain rule").first.wait_for()


def test_a_new_edition_replaces_the_kept_one_and_leaves_the_work(browser, edition):
    folder, address, end = edition
    names = json.loads((folder / "sw.js").read_text().partition(" = ")[2].partition(";\n")[0])
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(1000 * lab.PATIENCE)
        page.goto(f"{address}/{LESSON}.html")
        page.evaluate(KEPT, ["autograd-course pages", len(names)])
        cell(page, "square-stub").locator("textarea").fill("mine")
        lesson = folder / f"{LESSON}.html"
        old = lesson.read_bytes()
        new = old.replace(b"</h1>", b", second edition</h1>", 1)
        lesson.write_bytes(new)
        was, now = (hashlib.sha256(content).hexdigest() for content in (old, new))
        worker = folder / "sw.js"
        worker.write_text(worker.read_text().replace(was, now))
        page.reload()
        assert "second edition" in page.locator("h1").inner_text(), "the network comes first"
        page.evaluate(REPLACED, [was, now])
        end()
        page.reload()
        assert "second edition" in page.locator("h1").inner_text()
        assert cell(page, "square-stub").locator("textarea").input_value() == "mine"


# Wait until a cache holds this many entries.
KEPT = """async ([name, number]) => {
    while ((await (await caches.open(name)).keys()).length < number)
        await new Promise(done => setTimeout(done, 50)) }"""

# Wait until the second hash has replaced the first in the cache.
REPLACED = """async hashes => {
    const kept = async () => (await (await caches.open("autograd-course pages")).keys()).map(({url}) => url.split("/").at(-1));
    for (let all = await kept(); all.includes(hashes[0]) || !all.includes(hashes[1]); all = await kept())
        await new Promise(done => setTimeout(done, 50)) }"""


def test_from_disk_a_page_says_what_it_takes(bundled_site, browser):
    with browser.new_context(**ONLINE) as context:
        page = context.new_page()
        page.goto((bundled_site / f"{LESSON}.html").as_uri())
        assert "python -m http.server" in page.locator(".live").inner_text()
        assert not page.locator(".live button, .live-cell").count()
