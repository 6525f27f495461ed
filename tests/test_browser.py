"""Every lesson as a learner meets it: JupyterLab in a real browser, Run All, every slider moved by the keyboard.

Screenshots are left in tests/screenshots/: each lesson after Run All, and around the first move of each slider.
"""
import shutil
from pathlib import Path

import lab
import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: lessons not opened in a browser")

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))
SCREENSHOTS = Path(__file__).parent / "screenshots"

# All that a cell shows, less the sliders and number boxes themselves.
SHOWN = """handle => {
    const shown = handle.closest('.jp-Cell-outputWrapper').cloneNode(true);
    shown.querySelectorAll('.widget-slider, .widget-text').forEach(control => control.remove());
    return shown.innerHTML;
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    shutil.copytree(ROOT / "notebooks", folder / "notebooks")
    with lab.jupyterlab(folder, tmp_path_factory.mktemp("home")) as address:
        yield address


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright, lab.chromium(playwright) as browser:
        if browser is None:
            pytest.skip("no Chromium or Chrome on this machine: lessons not opened in a browser")
        SCREENSHOTS.mkdir(exist_ok=True)
        yield browser


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_lesson_in_the_browser(browser, server, path):
    lesson = lab.Lesson(browser, server, f"notebooks/{path.name}")
    lesson.run_all()
    lesson.page.wait_for_timeout(500)
    lesson.picture(SCREENSHOTS / f"{path.stem}.png")
    assert lesson.errors() == []

    handles = lesson.page.locator(".jp-Notebook .noUi-handle").element_handles()
    for number, handle in enumerate(handles, start=1):
        handle.scroll_into_view_if_needed()
        before = handle.evaluate(SHOWN)
        lesson.page.screenshot(path=SCREENSHOTS / f"{path.stem}_slider{number}_before.png")
        handle.focus()
        at_end = handle.get_attribute("aria-valuenow") == handle.get_attribute("aria-valuemax")
        for _ in range(3):
            lesson.page.keyboard.press("ArrowLeft" if at_end else "ArrowRight")
        for _ in range(50):
            if handle.evaluate(SHOWN) != before:
                break
            lesson.page.wait_for_timeout(100)
        else:
            pytest.fail(f"slider {number} of {path.name} moves, and nothing else on the page does")
        lesson.page.screenshot(path=SCREENSHOTS / f"{path.stem}_slider{number}_after.png")
        for end in ["End", "Home"]:  # where a picture breaks, if it does
            lesson.page.keyboard.press(end)
            lesson.page.wait_for_timeout(200)

    assert lesson.errors() == []
    assert lesson.console == []
    assert lesson.outside == [], "a lesson must work without a network"
    lesson.page.close()
