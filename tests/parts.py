"""Parts of the suite: what a lesson's tests are called, which process runs what, and in which order."""
import re
from pathlib import Path

import pytest
from nbval.plugin import IPyNbCell


def lesson_of(item):
    """"03" for every test that is about lesson 03, by its place or by what it is given; None for the others."""
    given = item.callspec.params.values() if hasattr(item, "callspec") else []
    texts = [value.stem if isinstance(value, Path) else value for value in given if isinstance(value, Path | str)]
    found = re.search(r"(?:/lesson_|^notebooks/)(\d\d)", item.nodeid) or next(
        filter(None, (re.match(r"(\d\d)(?:[._]|$)", text) for text in texts)), None)
    return found and found[1]


# Parts of the suite are handed out in this order: what takes longest first, and what asks for the notebooks' outputs last.
FIRST = ["browser", "run 14", "run 12", "run 11", "run 13", "run 00", "run 06", "run 07"]
LAST = ["site"]


def pytest_itemcollected(item):
    """Each test is called by its lesson (`-k lesson_03`), and belongs to a group, which one process runs in order.

    A group is a file; but the runs of a notebook, and what is asked of them, are one, and so are a lesson's planted answers.
    """
    lesson, file = lesson_of(item), item.nodeid.partition("::")[0]
    group = {"test_browser": "browser", "test_site": "site"}.get(Path(file).stem, file)
    if isinstance(item, IPyNbCell) or group == file and "notebook_says" in item.name:
        group = f"run {lesson or file}"
    elif lesson and group == file:
        group = f"{file} {lesson}"
    if lesson:
        item.extra_keyword_matches.add(f"lesson_{lesson}")
    item.add_marker(pytest.mark.xdist_group(group))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    def place(item):
        group = item.get_closest_marker("xdist_group").args[0]
        first = FIRST.index(group) if group in FIRST else len(FIRST)
        return first, group in LAST, not group.startswith("run "), group, not isinstance(item, IPyNbCell)
    items.sort(key=place)
