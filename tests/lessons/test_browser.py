"""Every lesson in JupyterLab in a real browser: Run All, then every control operated by the
keyboard.

With --screenshots, as in `make test-browser`, pictures are saved in tests/screenshots/ for visual
review: each whole lesson at two widths and in two themes, and each widget alone and in its page,
before and after it was moved.
"""

import re
import shutil
from itertools import product
from operator import eq
from pathlib import Path
from statistics import median, quantiles

import lab
import nbformat
import pytest

from autograd_course.grading import EXERCISES, registered
from autograd_course.practice import Gym

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: lessons not opened in a browser"
)

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "tests/screenshots"

registered()

# Widgets on a page of their own: those that no lesson uses yet, and a graph of thirty nodes,
# whose time is measured.
KIT = {
    "imports": """
import autograd_lib as ag
from autograd_course import Picture, backward_stepper, explore, forward_stepper, live_graph
from autograd_course import predict, slope_explorer
from autograd_course.quiz.texts import prediction""",
    "thirty_nodes": """
def thirty(x, w, b):
    h = x
    for _ in range(5):
        h = ag.tanh(h * w + b * x)
    return (h * w) ** 2 + b * x - b * h

live_graph(thirty, x=(-3.0, 3.0, 0.7), w=(-3.0, 3.0, 1.2), b=(-3.0, 3.0, -0.4))""",
    "slopes": """
slope_explorer(ag.tanh)""",
    "stepper": """
a = ag.Tensor(3.0, requires_grad=True, name="a")
b = 2 * a
backward_stepper(b * (b + 1))""",
    "forward": """
c = ag.Tensor(3.0, requires_grad=True, name="c")
forward_stepper(c * (c + 1), c=1)""",
    "toggles": """
explore(lambda side, n, h: Picture(f"<p>{side} {n} {h}</p>", f"{side}, {n} at {h}"),
        side=["left", "right"], n=(0, 2, 1), h=[1, 1e-5, 0.1])""",
    "predict": """
prediction("kit.one", question="?", answer=1.0, reveal="One.")
predict("kit.one")""",
}
LESSONS = {
    path.stem: nbformat.read(path, as_version=4) for path in sorted(ROOT.glob("notebooks/*.ipynb"))
}
LESSONS["kit"] = nbformat.v4.new_notebook(
    metadata={"language_info": {"name": "python"}},  # or JupyterLab asks for a kernel
    cells=[nbformat.v4.new_code_cell(text.strip(), id=name) for name, text in KIT.items()],
)

# Return [drawing, words] of a widget, without its controls. A redrawn matplotlib figure differs
# only in its ids.
SHOWN = """widget => {
    const views = [...widget.cloneNode(true).querySelectorAll('.widget-html-content')];
    const take = what => views.flatMap(view => [...view.querySelectorAll(what)]).map(one => { one.remove(); return one.textContent });
    take('title, [aria-live]');
    const words = take('pre').join('\\n');
    const drawing = views.map(view => view.innerHTML).join().replace(/aria-label="[^"]*"/g, '').replace(/\\b[mp][0-9a-f]{10}\\b/g, '');
    return [drawing, words];
}"""
HANDLES = ".noUi-handle"
DROPDOWNS = ".widget-dropdown:not(:has(~ .widget-slider)) select"  # a dropdown before a slider is its number box
TOGGLES = ".toggle"
LABEL = "control => (control.closest('.widget-hbox') ?? control.parentElement).querySelector('.widget-label').innerText"


def every(test):
    """Run a test for each lesson; rotation.py chooses them if not all are run."""
    return pytest.mark.rotating(pytest.mark.parametrize("lesson", LESSONS, indirect=True)(test))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    shutil.copytree(
        ROOT / "notebooks", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("progress*")
    )
    nbformat.write(LESSONS["kit"], folder / "kit.ipynb")
    with lab.jupyterlab(folder, tmp_path_factory.mktemp("home")) as address:
        yield address


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright, lab.chromium(playwright) as browser:
        if browser is None:
            pytest.skip("no Chromium or Chrome on this machine: lessons not opened in a browser")
        yield browser


@pytest.fixture(scope="module")
def window(browser, server):
    return lab.Window(browser, server)


@pytest.fixture(scope="module")
def lesson(window, request):
    """Open a lesson and run all cells.

    The tests of one lesson share it, in the order of this file.
    """
    lesson = lab.Lesson(window, f"{request.param}.ipynb")
    lesson.run_all()
    lesson.name, lesson.shots = (
        request.param,
        SCREENSHOTS / request.param if request.config.getoption("--screenshots") else None,
    )
    if lesson.shots:
        shutil.rmtree(lesson.shots, ignore_errors=True)
        lesson.shots.mkdir(parents=True)
        for width, theme in [(1280, "Light"), (900, "Dark")]:
            lesson.look(width, theme)
            lesson.pictures(lesson.shots / f"whole_{width}_{theme.lower()}")
        lesson.look()
    yield lesson
    lesson.close()


def first_call(lesson, function):
    """Return [(id, name)] of the first cell that calls `function("name")`, or []."""
    calls = [
        (cell.id, re.search(rf'^{function}\("([^"]+)"', cell.source, re.MULTILINE))
        for cell in LESSONS[lesson.name].cells
    ]
    return [(cell_id, call[1]) for cell_id, call in calls if call][:1]


def photograph(lesson, widget, name, page=True):
    if lesson.shots:
        widget.scroll_into_view_if_needed()
        widget.screenshot(path=lesson.shots / f"{name}.png")
        if page:
            lesson.page.screenshot(path=lesson.shots / f"{name}_page.png")


@every
def test_all_cells_run(lesson):
    assert lesson.errors() == []


@every
def test_toggles(lesson):
    """Each choice is selected by the keyboard, twice, and is then the only one selected; the
    result depends only on the choice.

    Two choices in words may show the same at first.
    """
    for cell_id, widget in lesson.widgets():
        toggles = widget.query_selector_all(TOGGLES)
        for toggle in toggles:
            lesson.watch(widget)
            choices, seen = toggle.query_selector_all("input"), {}
            start = next(choice for choice in choices if choice.is_checked())
            for choice in [*choices, *choices, start]:
                if not choice.is_checked():
                    lesson.press(choice, "Space")
                assert [one for one in choices if one.is_checked()] == [choice]
                shown = widget.evaluate(SHOWN)
                assert seen.setdefault(choice, shown) == shown, (
                    f"{cell_id}: picked again, and the picture is another"
                )
            spelled = re.search(
                r"[a-z]{2}", toggle.query_selector(".widget-radio-box").inner_text()
            )
            drawings, words = (len(set(shown)) for shown in zip(*seen.values()))
            said = f"{cell_id}: {toggle.inner_text()!r} has {drawings} drawings and {words} texts"
            assert words > 1 and (spelled or drawings == words == len(choices)), said
        if toggles:
            photograph(lesson, widget, f"{cell_id}_toggles")
        assert lesson.errors() == [], f"{cell_id}"


@pytest.mark.parametrize("lesson", ["kit"], indirect=True)
def test_toggles_have_the_labels_of_their_choices(lesson):
    """The labels are the choices of the drawing function, each with its full accessible name and
    large enough to press.
    """
    widget = dict(lesson.widgets())["toggles"]
    lesson.watch(widget)
    choices = {"side": ["left", "right"], "n": ["0", "1", "2"], "h": ["1", "1e−5", "0.1"]}
    assert len(widget.query_selector_all(".toggle input")) == 8
    for side, n, h in product(*choices.values()):
        for name, choice in zip(choices, (side, n, h)):
            radio = lesson.page.get_by_role("radio", name=f"{name} {choice}", exact=True)
            room = radio.locator("..").bounding_box()
            assert min(room["width"], room["height"]) >= 24
            if not radio.is_checked():
                lesson.press(radio.element_handle(), "Space")
        assert widget.evaluate(SHOWN)[1] == f"{side}, {n} at {float(h.replace('−', '-')):g}"


@pytest.mark.parametrize("lesson", ["kit"], indirect=True)
def test_choices_in_a_narrow_window(lesson):
    """Regression: a radio button was below its label, and the button Reveal covered it."""
    panel = dict(lesson.widgets())["predict"]
    lesson.look(width=560)  # JupyterLab's list of files takes half of it
    try:
        boxes = panel.eval_on_selector_all(
            ".widget-radio-box label",
            """labels => labels.map(label => [label.firstChild, label.querySelector("input")].map(part => {
                const range = document.createRange();
                range.selectNode(part);
                const {top, bottom} = range.getBoundingClientRect();
                return (top + bottom) / 2;
            }))""",
        )
        assert len(boxes) == 3 and all(abs(text - radio) < 4 for text, radio in boxes), boxes
        button = panel.query_selector("button").bounding_box()
        radios = [one.bounding_box() for one in panel.query_selector_all("[type=radio]")]
        assert max(one["y"] + one["height"] for one in radios) <= button["y"]
    finally:
        lesson.look()


@pytest.mark.parametrize("lesson", ["kit"], indirect=True)
def test_scroll_bars_are_not_white_in_the_dark_theme(lesson):
    color = "getComputedStyle(lab.scroller()).scrollbarColor"
    assert lesson.page.evaluate(color) == "auto"
    lesson.look(theme="Dark")
    try:
        assert lesson.page.evaluate(color) != "auto"
    finally:
        lesson.look()


@every
def test_sliders(lesson, record_property):
    times, often = {}, 6 if lesson.name == "kit" else 1  # further presses only measure time
    for cell_id, widget in lesson.widgets():
        controls = widget.query_selector_all(f"{HANDLES}, {DROPDOWNS}")
        if controls:
            lesson.watch(widget)
            photograph(lesson, widget, f"{cell_id}_before")
        for control in controls:
            label, choices = (
                re.sub(r"\W", "", control.evaluate(LABEL)),
                control.query_selector_all("option"),
            )
            drawing, words = before = widget.evaluate(SHOWN)
            # an arrow key alone would leave the dropdown for the next cell
            there, back = (
                ("Space ArrowDown Enter", "Space ArrowUp Enter")
                if choices
                else ("ArrowRight", "ArrowLeft")
            )
            up = control.evaluate("at => at.selectedIndex") if choices else 0
            down = len(choices) - 1 - up
            if choices and up > down:
                there, back = back, there
            if (took := lesson.press(control, there)) is None:  # the slider is at its end
                there, back = back, there
                took = lesson.press(control, there)
            assert took, f"{cell_id}: {label} does not move"
            moves, after = [took], widget.evaluate(SHOWN)
            most = (
                min(2, max(up, down)) if choices else max(often, 3)
            )  # a step may be too small to see
            while (
                len(moves) < most
                and (len(moves) < often or any(map(eq, before, after)))
                and (took := lesson.press(control, there))
            ):
                moves.append(took)
                after = widget.evaluate(SHOWN)
            new_drawing, new_words = after
            assert new_drawing != drawing or choices, (
                f"{cell_id}: {label} moves, and the picture does not"
            )
            assert new_words != words, f"{cell_id}: {label} moves, and the words do not change"
            photograph(lesson, widget, f"{cell_id}_after_{label}", page=False)
            moves += [lesson.press(control, back) for _ in moves]
            assert widget.evaluate(SHOWN) == before, (
                f"{cell_id}: {label} moved back, and the picture is another"
            )
            if not choices:
                times.setdefault(
                    f"kit, {cell_id}" if lesson.name == "kit" else lesson.name, []
                ).extend(moves)
                for end in ["End", "Home"]:  # the ends are the most likely places for an error
                    lesson.press(control, end)
        if controls:
            photograph(lesson, widget, f"{cell_id}_after")
        assert lesson.errors() == [], f"{cell_id}"
    for what, pairs in times.items():
        change, screen = (
            f"{median(ms):.0f} and {quantiles(ms, n=20)[-1]:.0f} ms" for ms in zip(*pairs)
        )
        record_property(
            "summary",
            f"{what}: from key press to the last change in the page {change}, to the screen {screen} "
            f"(median and 95th percentile of {len(pairs)})",
        )


@every
def test_players(lesson):
    for cell_id, widget in lesson.widgets():
        for button in widget.query_selector_all("button[title^='play ']"):
            handle = button.evaluate_handle(
                "button => button.closest('.widget-hbox').querySelector('.noUi-handle')"
            ).as_element()
            lesson.watch(widget)
            lesson.press(handle, "Home")
            first = widget.evaluate(SHOWN)
            button.press("Space")
            lesson.wait(
                f"([widget, first]) => ({SHOWN})(widget).every((part, i) => part !== first[i])",
                given=[widget, first],
            )
            button.press("Space")
            while "mod-active" in button.get_attribute("class"):
                button.press(
                    "Space"
                )  # on a slow machine the player may already have finished and started again
            lesson.wait("button => button.title.startsWith('play ')", given=button)
            lesson.rest()
            at = handle.get_attribute("aria-valuetext")
            lesson.page.wait_for_timeout(1200)  # longer than any frame is shown
            assert handle.get_attribute("aria-valuetext") == at, (
                f"{cell_id}: paused, and it plays on"
            )
            paused = widget.evaluate(SHOWN)
            photograph(lesson, widget, f"{cell_id}_paused")
            away, again = "ArrowLeft", "ArrowRight"
            if lesson.press(handle, away) is None:  # the slider is at its start
                away, again = again, away
                lesson.press(handle, away)
            assert widget.evaluate(SHOWN) != paused
            lesson.press(handle, again)
            assert widget.evaluate(SHOWN) == paused, (
                f"{cell_id}: where it paused, it showed another frame"
            )
            lesson.press(handle, "Home")
            assert widget.evaluate(SHOWN) == first


@every
def test_prediction(lesson):
    for cell_id, name in first_call(lesson, "predict"):
        panel = dict(lesson.widgets())[cell_id]
        assert panel.query_selector("[role=status]") is None, (
            f"{name}: the answer shows before it was asked for"
        )
        photograph(lesson, panel, f"{cell_id}_before")
        for box in panel.query_selector_all("input[type=text]"):
            box.fill("1")
        for row in panel.query_selector_all(".widget-radio"):
            row.query_selector_all("input")[-1].press("Space")
        panel.query_selector("button").press("Enter")
        lesson.wait("panel => panel.querySelector('[role=status]')?.innerText.trim()", given=panel)
        assert "certain" in panel.query_selector("[role=status]").inner_text(), (
            f"{name}: not what was committed to"
        )
        photograph(lesson, panel, f"{cell_id}_after")


@every
def test_exercise(lesson):
    """Check the verdict of the untouched stub, of a wrong answer, and of the solution."""
    for cell_id, name in first_call(lesson, "check"):
        exercise, stub = EXERCISES[name], cell_id.removesuffix("check") + "stub"
        assert "not yet" in lesson.shown(cell_id)
        wrong, hint = wrong_answer(exercise)
        lesson.run(stub, wrong)
        lesson.run(cell_id)
        verdict = lesson.shown(cell_id)
        assert "✗ wrong" in verdict and hint in verdict
        photograph(lesson, lesson.cell(cell_id), f"{cell_id}_wrong")
        lesson.run(stub, exercise.solution)
        lesson.run(cell_id)
        verdict = lesson.shown(cell_id)
        assert "✓ right" in verdict and exercise.why in verdict
        photograph(lesson, lesson.cell(cell_id), f"{cell_id}_right")


def wrong_answer(exercise):
    """Return (wrong code for the stub, words that the verdict must contain)."""
    parts = exercise.stub.split("...")
    for answer, hint in filter(lambda mistake: isinstance(mistake, tuple), exercise.mistakes):
        values = answer if isinstance(answer, tuple) else (answer,)
        if len(values) == len(parts) - 1 and all(
            isinstance(value, (int, float, str)) for value in values
        ):
            return "".join(part + repr(value) for part, value in zip(parts, values)) + parts[
                -1
            ], hint
    return "print('a guess')".join(parts), "hint"


@every
def test_gym(lesson):
    """By keyboard: give a wrong answer, read its hint, give the right answers, and move on to
    the next problem.
    """
    if lesson.name != "practice":
        return
    panel = dict(lesson.widgets())["gym"]
    kind, upto = panel.query_selector_all("select")
    here = Gym(
        upto.evaluate("choice => choice.selectedOptions[0].text")
    )  # the problem for an empty record
    here.kind.value = "walk"
    problem = here.problem
    lesson.watch(panel)
    lesson.press(kind, "Space ArrowDown Enter")
    lesson.wait(
        "lab.widgets_show()"
    )  # the previous problem may have been the same, but its boxes are different
    assert here.titled in panel.inner_text()
    assert [label.inner_text().strip() for label in panel.query_selector_all(".widget-text")] == [
        box.label for box in problem.boxes
    ]
    boxes = panel.query_selector_all("input[type=text]")
    number, wrong, hint = problem.wrong[0]
    photograph(lesson, panel, "gym_before")
    boxes[number].fill(wrong)
    boxes[number].press("Enter")
    lesson.wait("panel => panel.querySelector('[role=status]')?.innerText.trim()", given=panel)
    assert hint in panel.query_selector("[role=status]").inner_text()
    photograph(lesson, panel, "gym_wrong")
    for box, text in zip(boxes, problem.right):
        box.fill(text)
    boxes[number].press("Enter")
    lesson.wait(
        "panel => panel.querySelector('[role=status]').innerText.startsWith('Right. You will see this problem again')",
        given=panel,
    )
    photograph(lesson, panel, "gym_right")
    lesson.wait("document.activeElement.innerText === 'Next problem'")
    lesson.page.keyboard.press("Enter")
    lesson.wait(
        "panel => panel.innerText.includes('Problem 2') && document.activeElement.matches('input')",
        given=panel,
    )
    photograph(lesson, panel, "gym_next")


@pytest.mark.parametrize("lesson", ["kit"], indirect=True)
def test_widgets_are_accessible(lesson, tmp_path):
    """axe-core finds no violation of WCAG 2.2 A and AA in either theme, and every handle has the
    name of its slider.
    """
    named = lesson.page.evaluate(
        "all => [...document.querySelectorAll(all)].map(one => one.getAttribute('aria-label'))",
        HANDLES,
    )
    assert named and all(name and name.startswith("slide ") for name in named), named
    lesson.page.evaluate(lab.from_npm(tmp_path, "axe-core@4", "axe.min.js"))
    for theme in ("Light", "Dark"):
        lesson.look(theme=theme)
        lesson.page.evaluate(
            "document.querySelectorAll('.jp-OutputArea details').forEach(fold => { fold.open = true })"
        )
        report = lesson.page.evaluate(
            """rules => axe.run({include: [['.jp-OutputArea-output']]},
            {resultTypes: ['violations'], runOnly: rules, preload: false})""",
            lab.WCAG,
        )
        found = {
            violation["id"]: [node["html"][:200] for node in violation["nodes"]]
            for violation in report["violations"]
        }
        assert len(report["passes"]) > 10 and not found, (theme, found)
    lesson.look()


@every
def test_the_browser_reported_no_errors(lesson):
    assert lesson.errors() == []
    assert lesson.window.console == []
    assert lesson.window.outside == [], "a lesson must work without a network"
