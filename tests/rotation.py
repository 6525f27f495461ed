"""Which lessons open in a browser: a third of them, another third at each commit, and those that the change touches.

Tests marked `rotating` open a lesson in JupyterLab or as a page, which takes most of the suite's time. `--all` opens
every lesson; so does a selection, by -k or by a path.
"""

import os
import re
import subprocess
from pathlib import Path

import parts
import pytest

ROOT = Path(__file__).parents[1]
CHOSEN = "ROTATING_LESSONS"  # in the environment: what the first process chose, for the others


def git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def changed_files():
    """Return the names of the files that the change touches: what is not pushed, else the last commit."""
    unpushed = git("log", "--name-only", "--format=", "@{upstream}..HEAD")
    return unpushed + git("diff", "--name-only", "HEAD") or git("show", "--name-only", "--format=")


def choose(lessons, commit, changed):
    """Return the lessons of the commit's third, and those that a changed file belongs to.

    Examples
    --------
    >>> choose(["00", "01", "02", "03"], "5", "notebooks/01_measure_a_slope.ipynb")
    ['01', '02']
    """
    third = int(commit or "0", 16) % 3
    touched = re.findall(r"(?:lesson_|notebooks/)(\d\d)", changed)
    return [one for one in lessons if int(one) % 3 == third or one in touched]


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "rotating: opens a lesson in a browser; a third of them is run"
    )
    everything = config.getoption("--all") or config.option.keyword
    if CHOSEN in os.environ or everything or config.args_source != config.ArgsSource.TESTPATHS:
        return
    lessons = [path.name[:2] for path in sorted(ROOT.glob("notebooks/[0-9]*.ipynb"))]
    commit = git("rev-parse", "HEAD").strip()
    os.environ[CHOSEN] = ",".join(choose(lessons, commit, changed_files()))
    config.add_cleanup(lambda: os.environ.pop(CHOSEN, None))


def pytest_report_header():
    if CHOSEN in os.environ:
        return f"in a browser: lessons {os.environ[CHOSEN]} (--all: every lesson)"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if CHOSEN not in os.environ:
        return
    chosen = os.environ[CHOSEN].split(",")
    out = [
        item
        for item in items
        if item.get_closest_marker("rotating") and parts.lesson_of(item) not in (None, *chosen)
    ]
    config.hook.pytest_deselected(items=out)
    items[:] = [item for item in items if item not in set(out)]
