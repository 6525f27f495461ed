"""Split the suite into parts: name the tests of a lesson, choose the process that runs each, and
their order.
"""

import re
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

# The slowest parts of the first kind.
FIRST = [
    "browser 0",
    "browser 1",
    "run engine",
    "run 14",
    "run 12",
    "run 19",
    "run 11",
    "run 05",
    "run 13",
    "run 00",
    "run 06",
    "run 07",
    "run 21",
]
# Tests that use the outputs of all runs.
SITE_PARTS = [
    "live 0",
    "live 1",
    "other browsers 0",
    "other browsers 1",
    "live",
    "site measured",
    "site moved",
    "site",
]
SITE = {
    "test_a_page_is_accessible": "site measured",
    "test_every_control_moves_its_picture": "site moved",
    "test_a_slider_changes_its_picture": "site moved",
}
HALVES = {  # half of the lessons each, in a browser of its own
    "test_a_page_runs_with_every_exercise_solved": "live",
    "test_a_page_runs_in_other_browsers": "other browsers",
    "test_hostile_links_in_other_browsers": "other browsers",
}


# Parts are distributed in this order of kinds. The notebooks have run before the site is built
# from them, and the many short parts at the end keep every process busy.
ORDER = [
    lambda part: part.startswith(("browser ", "run ")),
    lambda part: part.startswith("tests/engine/"),
    lambda part: part in SITE_PARTS,
    lambda part: True,
]


def part_of(nodeid):
    """Return the part a test belongs to; one process runs a part, in order.

    A part is a file, but the run of a notebook and the tests that use this run form one part, and
    so do the wrong answers of a lesson.
    """
    file, _, test = nodeid.partition("::")
    lesson = re.match(r"notebooks/(\d\d)", file) or re.search(r"[\[-](\d\d)[._]", test)
    half = int(lesson[1]) % 2 if lesson else 0
    name, function = Path(file).stem, test.partition("[")[0]
    if name == "test_browser":  # half of the lessons each, in a JupyterLab of its own
        return f"browser {half}"
    if name == "test_site":
        return SITE.get(function, "site")
    if name == "test_live":
        return f"{HALVES[function]} {half}" if function in HALVES else "live"
    if file.startswith("notebooks/") or (lesson and "notebook_says" in test):
        return f"run {lesson[1] if lesson else name}"
    return f"{file} {lesson[1]}" if lesson and name == "test_exercises" else file


class Parts(LoadScopeScheduling):
    """Schedule tests by part, which is a scope of xdist's scheduler."""

    def _split_scope(self, nodeid):
        return part_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return Parts(config, log)


def lesson_of(item):
    """Return "03" for every test about lesson 03, by its folder or its parameters, and None for
    other tests.
    """
    given = item.callspec.params.values() if hasattr(item, "callspec") else []
    texts = [
        value.stem if isinstance(value, Path) else value
        for value in given
        if isinstance(value, Path | str)
    ]
    found = re.search(r"(?:/lesson_|^notebooks/)(\d\d)", item.nodeid) or next(
        filter(None, (re.match(r"(\d\d)(?:[._]|$)", text) for text in texts)), None
    )
    return found and found[1]


def pytest_itemcollected(item):
    if lesson := lesson_of(item):
        item.extra_keyword_matches.add(f"lesson_{lesson}")  # for -k


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    def place(item):
        part = part_of(item.nodeid)
        kind = next(at for at, belongs in enumerate(ORDER) if belongs(part))
        within = [
            parts.index(part) if part in parts else len(parts) for parts in (FIRST, SITE_PARTS)
        ]
        return kind, *within, part, not item.nodeid.startswith("notebooks/")

    items.sort(key=place)
