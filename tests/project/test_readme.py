"""The README of autograd_course: its examples run, and it names everything public."""

import re
from pathlib import Path

import autograd_course as course

PAGE = (Path(course.__file__).parent / "README.md").read_text(encoding="utf-8")


def test_examples_run():
    scope = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, scope)
    assert (
        scope["ui"].picture.text.startswith("Graph of n2")
        and "x: value 1.5, gradient 2" in scope["ui"].picture.text
    )


def test_everything_public_is_there():
    for name in course.__all__:
        assert re.search(rf"\b{name}\b", PAGE), name
        assert getattr(course, name) is not None
    assert set(course.__all__) <= set(dir(course))
