"""A notebook as it stands is run once, by nbval. What that run put out is kept for whoever asks: its verdicts, its page on the site."""
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from copy import deepcopy
from pathlib import Path

import kernels
import nbformat
import nbval.plugin
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
STARTUP = str(NOTEBOOKS.parent / "docs/kernel.py")      # as for the site: with every picture behind the sliders
RUNS = "NOTEBOOK_RUNS"      # in the environment: a folder of this run of the suite, which its processes share
FORKED = sys.platform == "linux"


def pytest_configure(config):
    if RUNS not in os.environ:
        os.environ[RUNS] = tempfile.mkdtemp()
        config.add_cleanup(lambda: shutil.rmtree(os.environ.pop(RUNS), ignore_errors=True))
        if FORKED:
            config.add_cleanup(kernels.install(Path(os.environ[RUNS])))
    nbval.plugin.RunningKernel = Kernel


def pytest_runtest_teardown(item):
    if isinstance(item, nbval.plugin.IPyNbCell):
        keep(item)


class Kernel(nbval.plugin.RunningKernel):
    """nbval's, in a copy of the folder: a learner's record beside the notebooks is not for tests to write."""

    def __init__(self, kernel_name, cwd, **options):
        self.folder = copied_folder()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONSTARTUP", STARTUP)
            super().__init__("python3" if FORKED else kernel_name, cwd=str(self.folder), **options)


def copied_folder():
    folder = Path(tempfile.mkdtemp(dir=os.environ[RUNS]), "notebooks")
    return shutil.copytree(NOTEBOOKS, folder, ignore=shutil.ignore_patterns("progress*", ".*"))


def keep(cell):
    """Called with each of nbval's cells after its run: with the last one the notebook is kept, unless a cell failed."""
    file = cell.parent
    file.done = [*getattr(file, "done", []), cell.test_outputs]
    notebook = deepcopy(file.nb)
    code = [each for each in notebook.cells if each.cell_type == "code"]
    if len(file.done) == len(code) and all(outputs is not None
                                           and all(output.output_type != "error" for output in outputs)
                                           for outputs in file.done):
        for each, outputs in zip(code, file.done):
            each.outputs = outputs
        store(with_what_is_left(notebook, file.kernel.folder), file.path)


def ran(notebook):
    """The notebook after all its cells were run, in a copy of the folder; an error in a cell raises."""
    folder = copied_folder()
    NotebookClient(notebook, timeout=600, kernel_name="python3", record_timing=False,
                   resources={"metadata": {"path": str(folder)}}).execute(env=os.environ | {"PYTHONSTARTUP": STARTUP})
    return with_what_is_left(notebook, folder)


def with_what_is_left(notebook, folder):
    """In its metadata the files that its run has written, {name: text}."""
    before = {file.name for file in NOTEBOOKS.iterdir() if not file.name.startswith("progress")}
    notebook.metadata.left = {file.name: file.read_text("utf-8") for file in folder.iterdir()
                              if file.name not in before}
    return notebook


def store(notebook, path):
    """The first run stays: a page and what is asked of it must be of one, and lessons that measure differ from run to run."""
    new = Path(tempfile.mkdtemp(dir=os.environ[RUNS]), path.name)
    nbformat.write(notebook, new)
    with suppress(FileExistsError):
        os.link(new, kept(path))


def kept(path):
    return Path(os.environ[RUNS], path.name)


def notebook(path):
    """The notebook with its outputs: of nbval's run or, where that is still to come or failed, of one of its own."""
    if not kept(path).exists():
        store(ran(nbformat.read(path, as_version=4)), path)
    return nbformat.read(kept(path), as_version=4)
