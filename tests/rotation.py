"""Which lessons the long tests are run for: a third of them, the next third at the next commit, and those that the change touches.

Three consecutive commits test every lesson, because the third is the number of the commit modulo 3.

Tests marked `rotating` take most of the suite's time: they open a lesson in JupyterLab or as a page, or try each of its
wrong answers. `rotating("a/folder/")` is run for every lesson if the change touches that folder. `--all` runs them for every
lesson; so does a selection, by -k or by a path.
"""

import os
import re
import subprocess
import time
from pathlib import Path

import parts
import pytest

ROOT = Path(__file__).parents[1]
# In the environment: what the first process chose, for the others.
CHOSEN = "ROTATING_LESSONS"
CHANGED = "ROTATING_CHANGES"


def git(*words):
    # Without the filter of .gitattributes, which takes half a second for each notebook of a fresh clone.
    command = ["git", "-c", "filter.notebook.clean=cat", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def changed_files():
    """Return the names of the files that the change touches: what is not pushed, else the last commit."""
    unpushed = git("log", "--name-only", "--format=", "@{upstream}..HEAD")
    unpushed += git("diff", "--name-only", "HEAD")
    return unpushed or git("diff", "--name-only", "HEAD~1", "HEAD")  # of a shallow clone, none


def number():
    """Return how many commits led to this one.

    A shallow clone and a tree without git cannot count them; there the number is that of the day, and three days in a row
    test every lesson.
    """
    if git("rev-parse", "--is-shallow-repository").strip() == "false":
        return int(git("rev-list", "--count", "HEAD") or 0)  # none yet: no commit at all
    return int(time.time()) // 86400


def choose(lessons, number, changed):
    """Return the lessons of the third of a commit, and those that a changed file belongs to.

    Examples
    --------
    >>> choose(["00", "01", "02", "03"], 5, "notebooks/01_measure_a_slope.ipynb")
    ['01', '02']
    """
    touched = re.findall(r"(?:lesson_|notebooks/)(\d\d)", changed)
    return [one for one in lessons if int(one) % 3 == number % 3 or one in touched]


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "rotating(*folders): takes long; is run for a third of the lessons, or for all if a file in a folder changed",
    )
    everything = config.getoption("--all") or config.option.keyword
    if CHOSEN in os.environ or everything or config.args_source != config.ArgsSource.TESTPATHS:
        return
    lessons = [path.name[:2] for path in sorted(ROOT.glob("notebooks/[0-9]*.ipynb"))]
    os.environ[CHANGED] = changed_files()
    os.environ[CHOSEN] = ",".join(choose(lessons, number(), os.environ[CHANGED]))
    for name in (CHOSEN, CHANGED):
        config.add_cleanup(lambda name=name: os.environ.pop(name, None))


def pytest_report_header():
    if CHOSEN in os.environ:
        return f"long tests are run for lessons {os.environ[CHOSEN]} (--all: every lesson)"


def is_chosen(lesson, folders=()):
    """Return whether the long tests of a lesson are run; those of no lesson, None, always are."""
    if CHOSEN not in os.environ or lesson is None:
        return True
    changed = os.environ[CHANGED].splitlines()
    return lesson in os.environ[CHOSEN].split(",") or any(
        file.startswith(tuple(folders)) for file in changed
    )


def is_left_out(item):
    rotating = item.get_closest_marker("rotating")
    return rotating and not is_chosen(parts.lesson_of(item), rotating.args)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if CHOSEN not in os.environ:
        return
    out = [item for item in items if is_left_out(item)]
    config.hook.pytest_deselected(items=out)
    items[:] = [item for item in items if item not in set(out)]
