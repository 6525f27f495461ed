"""Optional parts and checks of numbers can be skipped: no later cell, folded or not, needs them."""

import re
import symtable
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


@pytest.mark.rotating(every=9)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_lesson_runs_without_its_optional_parts(path):
    notebook = nbformat.read(path, as_version=4)
    count = sum(cell.cell_type == "code" for cell in notebook.cells)
    notebook.cells = required(notebook.cells)
    if len(notebook.cells) == count:
        return  # nothing is optional, and nbval runs the whole lesson
    kernel = once.Kernel(page=path)
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


def needed_later(cells):
    """Return a dict from each cell that may be skipped to the names that a later cell reads before
    it assigns them.
    """
    found = {}
    for index, cell in enumerate(cells):
        if cell.cell_type != "code" or "you may skip this cell" not in cell.source.split("\n")[0]:
            continue
        names, assigned = _assigned(cell), set()
        for later in cells[index + 1 :]:
            if later.cell_type == "code":
                found.setdefault(cell.id, set()).update(names & _read(later) - assigned)
                assigned |= _assigned(later)
    return {name: needed for name, needed in found.items() if needed}


def _assigned(cell):
    """Return the names that a cell defines; the body of a function or comprehension has its own."""
    table = symtable.symtable(cell.source, cell.id, "exec")
    return {
        name.get_name() for name in table.get_symbols() if name.is_assigned() or name.is_imported()
    }


def _read(cell):
    """Return the names of the notebook that a cell reads, in functions too."""
    tables, names = [symtable.symtable(cell.source, cell.id, "exec")], set()
    own = _assigned(cell)
    for table in tables:
        tables += table.get_children()
        names |= {
            name.get_name()
            for name in table.get_symbols()
            if name.is_referenced() and (name.is_global() or table is tables[0])
        }
    return names - own


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_later_cell_needs_a_cell_that_may_be_skipped(path):
    assert needed_later(nbformat.read(path, as_version=4).cells) == {}


def test_a_name_that_is_needed_later_is_found():
    def code(source, name):
        return nbformat.v4.new_code_cell(source, id=name)

    skipped = "# Checks the numbers; you may skip this cell\nkept = [x for x in (1, 2)]\nmine = 3"
    cells = [
        code(skipped, "numbers"),
        code("mine = 4\nmine", "assigns"),
        code("def f(x):\n    return kept[x]\nf(0)", "reads"),
    ]
    assert needed_later(cells) == {"numbers": {"kept"}}
    assert needed_later(cells[:2]) == {}


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
