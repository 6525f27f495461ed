"""Optional parts of a lesson can be skipped: no later cell, folded ones included, needs them."""

import re
from pathlib import Path

import nbformat
import once
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("[0-9]*.ipynb"))


def required(cells):
    """Return the code cells outside optional sections, without those of optional exercises."""
    section = False
    skipped = set()
    left = []
    for cell in cells:
        if cell.cell_type == "markdown":
            for heading in re.findall(r"^#+ .*", cell.source, re.MULTILINE):
                section = "(optional)" in heading
            if re.search(r"\*\*Exercise\*\* \(\d+ minutes?, optional", cell.source):
                stem = cell.id.removesuffix("-question")
                skipped |= {f"{stem}-stub", f"{stem}-check"}
        elif not section and cell.id not in skipped:
            left.append(cell)
    return left


@pytest.mark.rotating
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_lesson_runs_without_its_optional_parts(path):
    notebook = nbformat.read(path, as_version=4)
    count = sum(cell.cell_type == "code" for cell in notebook.cells)
    notebook.cells = required(notebook.cells)
    if len(notebook.cells) == count:
        return  # nothing is optional, and nbval runs the whole lesson
    kernel = once.Kernel()
    try:
        kernel.run(nbformat.v4.new_code_cell(once.UNDO))  # draw each slider once
        kernel.run_all(notebook)
    finally:
        kernel.stop()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_an_exercise_of_an_optional_section_is_labelled_optional(path):
    section = False
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            for heading in re.findall(r"^#+ .*", cell.source, re.MULTILINE):
                section = "(optional)" in heading
            label = re.search(r"\*\*Exercise\*\* \(\d+ minutes?, (\w+)", cell.source)
            assert not (section and label) or label[1] == "optional", cell.id


def test_optional_cells_are_left_out():
    def markdown(source, name="text"):
        return nbformat.v4.new_markdown_cell(source, id=name)

    def code(name):
        return nbformat.v4.new_code_cell("1", id=name)

    cells = [
        code("first"),
        markdown("> **Exercise** (3 minutes, optional, extra). Try.", "try-question"),
        code("try-stub"),
        code("try-check"),
        code("after"),
        markdown("### More (optional)"),
        code("more"),
        markdown("A text."),
        code("even-more"),
        markdown("## Next"),
        code("last"),
    ]
    assert [cell.id for cell in required(cells)] == ["first", "after", "last"]
