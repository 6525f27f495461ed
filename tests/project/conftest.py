"""Fixtures: the site, built once for all processes, and a browser to open it in."""

import os
import shutil
from pathlib import Path

import lab
import once
import pages
import pyodide_bundle
import pytest

LESSON = "03_derive_the_arithmetic"  # the page in which all tests of running pages work


@pytest.fixture(scope="session")
def site(request):
    """Build the site as `make site` does, from runs that exist already.

    Pages that no test reads contain only their text.
    """
    given = {
        read
        for item in request.session.items
        if "site" in getattr(item, "fixturenames", [])
        for read in read_by(item)
    }

    def executed(path):
        return once.notebook(path) if {path.stem, "all"} & given else once.without_code(path)

    return once.made_once("site", lambda folder: pages.build(folder / "pages", executed)) / "pages"


def read_by(item):
    """Return the names of the pages that a test reads: the page it is given, or else "all"."""
    given = item.callspec.params if hasattr(item, "callspec") else {}
    if item.path.name == "test_live.py":
        other = "playground" if item.name == "test_the_playground" else LESSON
        return {LESSON, given.get("name", other)}
    return {given.get("name", "all")}


@pytest.fixture(scope="session")
def bundled_site(site, request):
    """Build the site with Pyodide included. Skip if Pyodide cannot be downloaded, except in CI."""
    parts = Path(request.config.cache.mkdir("pyodide"))

    def make(folder):
        shutil.copytree(site, folder / "pages")
        try:
            files = pyodide_bundle.written(parts)
        except RuntimeError as error:
            (folder / "failed").write_text(str(error))
            return
        files = {file.name: file.read_bytes() for file in site.iterdir()} | files
        files["sw.js"] = pages.service_worker(files)
        for name, content in files.items():
            (folder / "pages" / name).write_bytes(content)

    folder = once.made_once("bundled site", make)
    if (folder / "failed").exists():
        assert "CI" not in os.environ, (folder / "failed").read_text()
        pytest.skip((folder / "failed").read_text())
    return folder / "pages"


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: no page opened"
    )
    with sync_api.sync_playwright() as playwright, lab.chromium(playwright) as browser:
        if not browser:
            pytest.skip("no Chromium or Chrome here: pages not opened in a browser")
        yield browser
