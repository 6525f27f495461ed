"""Choose the long tests that `make test` runs: a third at each commit, and those that the change touches.

Tests marked `rotating` take most of the suite's time. There are two kinds:

- tests of a page: they open a lesson in JupyterLab or as a page, or try each of its wrong answers.
  The number of the commit modulo 3 chooses a third of the lessons; a lesson also runs if the change
  touches it.
- tests of a single feature, such as the playground in a browser. The number of the commit and the
  name of the test choose a third of these; one also runs if the change touches its own file.

Three consecutive commits therefore run every test. `rotating("a/folder/", "a/file.py")` also runs
for every page if the change touches one of these, and `rotating(every=9)` runs a ninth instead of a
third. `rotating(every=1)` runs at each commit, and `rotating("a/folder/", every=0)` only if that
folder changed. `--all` runs everything, and so does a selection by -k or by a path; but
`-k lesson_03` leaves out the tests of its page and those that open a browser, which take three
quarters of the time.
"""

import os
import re
import subprocess
import time
from functools import cache
from pathlib import Path
from zlib import crc32

import parts
import pytest

ROOT = Path(__file__).parents[1]


def name_of(notebook):
    """Return "03" for the notebook of lesson 03, or "engine"."""
    return re.match(r"\d\d|\w+", notebook.stem)[0]


PAGES = tuple(name_of(path) for path in sorted(ROOT.glob("notebooks/*.ipynb")))
# The other pages that tests open, and what they are made of.
OTHERS = {
    "404": "web/pages.py",
    "classroom": "docs/classroom.md",
    "index": "README.md",
    "kit": "autograd_course/widgets/",  # of tests/lessons/test_browser.py
    "teachers_guide": "notebooks/teachers_guide.md",
}
PAGES += tuple(OTHERS)
# Files whose tests build a page or open it in a browser.
OF_PAGES = {"test_browser", "test_live", "test_site"}
# What a page in a browser runs, apart from its own lesson: a change here runs the tests of every
# feature of a page.
RUNTIME = (
    "web/",
    "autograd_course/grading/",
    "autograd_course/quiz/",
    "autograd_course/record.py",
    "autograd_course/widgets/",
    "tests/browsers.py",
    "tests/lab.py",
    "tests/project/conftest.py",
)
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


def is_touched(paths, changed):
    """Return True if one of the changed files is in these folders, or is one of these files."""
    return any(file.startswith(paths) for file in changed.splitlines())


@cache
def choose(pages, number, changed, every=3):
    """Return every `every`-th page, different ones at each commit, and the pages of changed files.

    Examples
    --------
    >>> choose(("00", "01", "02", "03"), 5, "notebooks/01_measure_a_slope.ipynb")
    ['01', '02']
    """
    touched = re.findall(r"(?:lesson_|notebooks/)(\d\d|[a-z]\w+)", changed)
    if is_touched(("autograd_lib/", "autograd_course/tour/"), changed):
        touched.append("engine")
    touched += [page for page, source in OTHERS.items() if is_touched(source, changed)]
    return [
        page for at, page in enumerate(pages) if at % every == number % every or page in touched
    ]


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "rotating(*paths, every=3): takes long; runs for a third of the pages, or at a third of the commits, and always if a path changed",
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


def is_chosen(name, paths=(), every=3):
    """Return True if the long tests of a page, or the feature's test of this name, run."""
    if NUMBER not in os.environ:
        return True
    number, changed = int(os.environ[NUMBER]), os.environ[CHANGED]
    if is_touched(tuple(paths), changed):
        return True
    if name in PAGES:
        return bool(every) and name in choose(PAGES, number, changed, every)
    return bool(every) and crc32(name.encode()) % every == number % every


def page_of(item):
    """Return the lesson or other page that a test is about, or None."""
    given = item.callspec.params.values() if hasattr(item, "callspec") else []
    return parts.lesson_of(item) or next((one for one in given if one in PAGES), None)


def is_left_out(item):
    rotating = item.get_closest_marker("rotating")
    if not rotating:
        return False
    page, paths = page_of(item), rotating.args
    if page is None:
        paths += (item.nodeid.partition("::")[0],)
    return not is_chosen(page or item.originalname, paths, **rotating.kwargs)


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
