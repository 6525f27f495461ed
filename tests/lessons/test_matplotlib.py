"""The matplotlib code in folds draws a figure with labelled axes when it is pasted below its
cell.
"""

import re
from pathlib import Path

import nbformat
import once
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("[0-9]*.ipynb"))
FOLD = r"<summary>Draw it yourself with matplotlib</summary>.*?```python\n(.*?)```"
DRAWN = "\nassert ax.has_data() and ax.get_xlabel() and ax.get_ylabel()"


def with_folds(path):
    """Return the notebook up to its last fold with matplotlib, each fold followed by its code,
    or None.
    """
    notebook = nbformat.read(path, as_version=4)
    cells, last = [], 0
    for cell in notebook.cells:
        cells.append(cell)
        for code in re.findall(FOLD, cell.source, re.DOTALL):
            cells.append(nbformat.v4.new_code_cell(code + DRAWN))
            last = len(cells)
    notebook.cells = cells[:last]
    return notebook if last else None


FOLDS = [path for path in NOTEBOOKS if with_folds(path)]


def test_the_folds_are_found():
    assert [path.stem[:2] for path in FOLDS] == ["06", "11", "12", "13"]


@pytest.mark.rotating
@pytest.mark.parametrize("path", FOLDS, ids=lambda path: path.stem)
def test_what_a_fold_says_to_paste_draws_a_figure(path):
    kernel = once.Kernel(page=path)
    try:
        kernel.run(nbformat.v4.new_code_cell(once.UNDO))
        kernel.run_all(with_folds(path))
    finally:
        kernel.stop()
