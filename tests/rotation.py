"""Choose the lessons for which the long tests run.

Chosen are a third of the lessons, a different third at the next commit, and the lessons that the
change touches.

Three consecutive commits test every lesson, because the number of the commit modulo 3 chooses the
third.

Tests marked `rotating` take most of the suite's time: they open a lesson in JupyterLab or as a
page, or try each of its wrong answers. `rotating("a/folder/")` runs for every lesson if the change
touches that folder. `--all` runs them for every lesson, and so does a selection by -k or by a path;
but `-k lesson_03` leaves out the tests of its page and those that open a browser, which take three
quarters of the time. `rotating(every=9)` chooses a ninth of the lessons instead of a third, and
`rotating("a/folder/", every=0)` chooses none, so the test runs only if that folder changed.
"""

import os
import re
import subprocess
import time
from functools import cache
from pathlib import Path

import parts
import pytest

ROOT = Path(__file__).parents[1]


def name_of(notebook):
    """Return "03" for the notebook of lesson 03, or "engine"."""
    return re.match(r"\d\d|\w+", notebook.stem)[0]


PAGES = tuple(
    name_of(path) for path in sorted(ROOT.glob("notebooks/*.ipynb")) if path.stem != "notation"
)
# Files whose tests build a page or open it in a browser.
OF_PAGES = {"test_browser", "test_live", "test_site"}
# Environment variables by which the first process tells the others its results.
NUMBER = "ROTATING_NUMBER"
CHANGED = "ROTATING_CHANGES"


def git(*words):
    # Skip the filter of .gitattributes, which takes half a second for each notebook of a fresh
    # clone.
    command = ["git", "-c", "filter.notebook.clean=cat", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def changed_files():
    """Return the names of the files that the change touches: the unpushed commits, or else the
    last commit.
    """
    unpushed = git("log", "--name-only", "--format=", "@{upstream}..HEAD")
    unpushed += git("diff", "--name-only", "HEAD")
    return unpushed or git("diff", "--name-only", "HEAD~1", "HEAD")  # "" for a shallow clone


def number():
    """Return the number of commits up to this one.

    In a shallow clone or without git, commits cannot be counted; the number is then that of the
    day, so three consecutive days test every lesson.
    """
    if git("rev-parse", "--is-shallow-repository").strip() == "false":
        return int(git("rev-list", "--count", "HEAD") or 0)  # no commit yet
    return int(time.time()) // 86400


@cache
def choose(pages, number, changed, every=3):
    """Return every `every`-th page, different ones at each commit, and the pages of changed files.

    Examples
    --------
    >>> choose(("00", "01", "02", "03"), 5, "notebooks/01_measure_a_slope.ipynb")
    ['01', '02']
    """
    touched = re.findall(r"(?:lesson_|notebooks/)(\d\d|[a-z]\w+)", changed)
    if re.search("^autograd_(lib|course/tour)/", changed, re.MULTILINE):
        touched.append("engine")
    return [
        page for at, page in enumerate(pages) if at % every == number % every or page in touched
    ]


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "rotating(*folders, every=3): takes long; is run for a third of the pages, or for all if a file in a folder changed",
    )
    everything = config.getoption("--all") or config.option.keyword
    if NUMBER in os.environ or everything or config.args_source != config.ArgsSource.TESTPATHS:
        return
    os.environ.update({NUMBER: str(number()), CHANGED: changed_files()})
    for name in (NUMBER, CHANGED):
        config.add_cleanup(lambda name=name: os.environ.pop(name, None))


def pytest_report_header():
    if NUMBER in os.environ:
        chosen = choose(PAGES, int(os.environ[NUMBER]), os.environ[CHANGED])
        return f"long tests are run for {', '.join(chosen)} (--all: every lesson)"


def is_chosen(page, folders=(), every=3):
    """Return True if the long tests of a page run; tests without a page, None, always do."""
    if NUMBER not in os.environ or page is None and every:
        return True
    number, changed = int(os.environ[NUMBER]), os.environ[CHANGED]
    if any(file.startswith(tuple(folders)) for file in changed.splitlines()):
        return True
    return bool(every) and page in choose(PAGES, number, changed, every)


def page_of(item):
    """Return the lesson or other notebook that a test is about, or None."""
    given = item.callspec.params.values() if hasattr(item, "callspec") else []
    return parts.lesson_of(item) or next((one for one in given if one in PAGES), None)


def is_left_out(item):
    rotating = item.get_closest_marker("rotating")
    return rotating and not is_chosen(page_of(item), rotating.args, **rotating.kwargs)


def only_lesson(config):
    """Return "03" for `-k lesson_03` without `--all`, else None."""
    found = re.fullmatch(r"lesson_(\d\d)", config.option.keyword.strip())
    return found and not config.getoption("--all") and found[1]


def is_of_others(path, lesson):
    """Return True if a file or folder contains only tests of other lessons or of the engine."""
    other = re.search(r"tests/lessons/lesson_(\d\d)$|notebooks/(\d\d)_\w+\.ipynb$", path.as_posix())
    return bool(other and lesson not in other.groups() or path == ROOT / "tests/engine")


def pytest_ignore_collect(collection_path, config):
    """Skip files of other lessons for `-k lesson_03`; collecting them takes half of the time."""
    if (lesson := only_lesson(config)) and is_of_others(collection_path, lesson):
        return True


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if only_lesson(config):
        out = {item for item in items if item.path.stem in OF_PAGES}
    elif NUMBER in os.environ:
        out = {item for item in items if is_left_out(item)}
    else:
        return
    config.hook.pytest_deselected(items=list(out))
    items[:] = [item for item in items if item not in out]
