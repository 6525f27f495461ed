"""Compute results once for all processes of the suite.

nbval runs each notebook once. Its outputs are stored for the tests of verdicts and for the page on
the site. Its kernel stays alive for tests that continue in it with answers in place of the stubs.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from copy import deepcopy
from pathlib import Path

import kernels
import nbformat
import nbval.kernel
import nbval.plugin
import pytest
import rotation
from filelock import FileLock, Timeout

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
# As for the site: with every picture behind the sliders, or with a few.
STARTUP, FEW_FRAMES = (
    NOTEBOOKS.parent / "web/kernel_startup.py",
    Path(__file__).parent / "few_frames.py",
)
# Folders in which a change affects the pictures of every lesson, and pages whose sliders tests move at every commit.
DRAWINGS = "autograd_course/drawing/", "autograd_course/widgets/", "web/"
MOVED = {"03"}
POSITION = re.compile(
    r"(?:[Ss]lide|[Mm]ove|[Dd]rag) `?(\w+)`?(?: from \S+)? to ([−-]?\d+(?:\.\d+)?)"
)
RUNS = "NOTEBOOK_RUNS"  # environment variable: a folder that the processes of this run share
UNDO = """formatter = get_ipython().display_formatter.mimebundle_formatter
formatter.type_printers.clear(); formatter.deferred_printers.clear(); del formatter"""  # undo STARTUP
FORKED = sys.platform == "linux"


def pytest_configure(config):
    if RUNS not in os.environ:
        os.environ[RUNS] = tempfile.mkdtemp()
        config.add_cleanup(lambda: shutil.rmtree(os.environ.pop(RUNS), ignore_errors=True))
        if FORKED:
            config.add_cleanup(kernels.install(Path(os.environ[RUNS])))
    config.add_cleanup(stop_kept_kernel)
    nbval.plugin.RunningKernel = Kernel


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if isinstance(item, nbval.plugin.IPyNbCell):
        Kernel.next_page = item.parent.path  # for the kernel that nbval is about to start


def pytest_runtest_teardown(item):
    if isinstance(item, nbval.plugin.IPyNbCell):
        store_when_complete(item)


class Kernel(nbval.plugin.RunningKernel):
    """Run nbval's kernel in a copy of the folder, because tests must not write progress.json
    beside the notebooks.
    """

    whole = None  # the notebook, once nbval has run every cell without an error
    stays = None  # the most recent of these kernels
    next_page = None  # the notebook whose first cell nbval runs next

    def __init__(self, kernel_name="python3", cwd=None, page=None, **options):
        # Pass the environment to the kernel, which RunningKernel.__init__ cannot do. Setting
        # os.environ is wrong, because pages.build starts kernels in two threads of one process.
        self.folder = copied_folder()
        self.km, self.kc = nbval.kernel.start_new_kernel(
            kernel_name="python3" if FORKED else kernel_name,
            cwd=str(self.folder),
            env=os.environ | {"PYTHONSTARTUP": str(startup(page or Kernel.next_page))},
            stderr=subprocess.DEVNULL,
            **options,
        )
        self._ensure_iopub_up()
        self.lock = None  # held while nbval runs the notebook, so that others wait for its outputs
        if Kernel.next_page and not page:
            self.lock = running(Kernel.next_page)
            with suppress(Timeout):  # another process is running it already
                self.lock.acquire(blocking=False)

    def run(self, cell):
        """Run a cell and store its outputs in it; an error raises."""
        cell.outputs = []

        def put_out(message):
            if message["msg_type"] in ("stream", "display_data", "execute_result", "error"):
                cell.outputs.append(nbformat.v4.output_from_msg(message))

        reply = self.kc.execute_interactive(
            cell.source, store_history=False, allow_stdin=False, timeout=600, output_hook=put_out
        )
        if reply["content"]["status"] != "ok":
            raise RuntimeError("\n".join([cell.source, *reply["content"]["traceback"]]))

    def run_all(self, notebook):
        """Return the notebook with the outputs of its cells."""
        for cell in notebook.cells:
            if cell.cell_type == "code":
                self.run(cell)
        return notebook

    def stop(self):
        """Keep the kernel when nbval stops it for the first time, and drop the kernel of the
        previous file.
        """
        if self.lock:
            self.lock.release()
        if self.whole and Kernel.stays is not self:
            stop_kept_kernel()
            Kernel.stays = self
        else:
            super().stop()
            if Kernel.stays is self:
                Kernel.stays = None


def startup(page):
    """Return the file that starts the kernel of a notebook.

    The kernel draws every picture if a test of this run moves the notebook's sliders, or if the
    notebook's instructions contain positions.
    """
    name = rotation.name_of(page)
    every = name in MOVED or rotation.is_chosen(name, DRAWINGS) or positions_in_text(page)
    return STARTUP if every else FEW_FRAMES


def positions_in_text(page):
    """Return (slider, value) for each instruction in a notebook's text, such as "Move x to 20"."""
    cells = nbformat.read(NOTEBOOKS.parent / page, as_version=4).cells
    return [
        (slider, value.replace("−", "-"))
        for cell in cells
        for slider, value in POSITION.findall(cell.source.replace("$", ""))
    ]


def stop_kept_kernel():
    if Kernel.stays:
        Kernel.stays.stop()


@contextmanager
def continued_kernel(path):
    """Return a kernel in which the notebook has run, and the notebook with its outputs.

    After this call, animated pictures are drawn only once.
    """
    stayed = Kernel.stays is not None and Kernel.stays.whole == path
    kernel = Kernel.stays if stayed else Kernel(page=path)
    try:
        outputs = notebook(path) if stayed else kernel.run_all(nbformat.read(path, as_version=4))
        kernel.run(nbformat.v4.new_code_cell(UNDO))
        yield kernel, outputs
    finally:
        kernel.stop()


def copied_folder():
    folder = Path(tempfile.mkdtemp(dir=os.environ[RUNS]), "notebooks")
    return shutil.copytree(NOTEBOOKS, folder, ignore=shutil.ignore_patterns("progress*", ".*"))


def store_when_complete(cell):
    """Store the notebook after nbval has run its last cell, unless a cell failed."""
    file = cell.parent
    file.done = [*getattr(file, "done", []), cell.test_outputs]
    notebook = deepcopy(file.nb)
    code = [each for each in notebook.cells if each.cell_type == "code"]
    if len(file.done) == len(code) and all(
        outputs is not None and all(output.output_type != "error" for output in outputs)
        for outputs in file.done
    ):
        for each, outputs in zip(code, file.done):
            each.outputs = outputs
        store(with_written_files(notebook, file.kernel.folder), file.path)
        file.kernel.whole = file.path


def run_in_copy(notebook, path):
    """Run all cells of the notebook of `path` in a copy of the folder, and return it; an error in a
    cell raises.
    """
    kernel = Kernel(page=path)
    try:
        return with_written_files(kernel.run_all(notebook), kernel.folder)
    finally:
        kernel.stop()


def with_written_files(notebook, folder):
    """Add the texts of the files that the run has written to the notebook's metadata, by name."""
    before = {file.name for file in NOTEBOOKS.iterdir() if not file.name.startswith("progress")}
    notebook.metadata.left = {
        file.name: file.read_text("utf-8") for file in folder.iterdir() if file.name not in before
    }
    return notebook


def store(notebook, path):
    """Store the notebook with its outputs, unless an earlier run is stored already.

    A page and its tests must use the same run, because lessons that measure time differ from run to
    run.
    """
    new = Path(tempfile.mkdtemp(dir=os.environ[RUNS]), path.name)
    nbformat.write(notebook, new)
    with suppress(FileExistsError):
        os.link(new, stored_path(path))


def made_once(name, make):
    """Return the folder `name`, which `make(folder)` fills in the first process that requests
    it; the others wait.
    """
    folder = Path(os.environ[RUNS], name)
    with FileLock(f"{folder} is being made"):
        if not folder.exists():
            folder.mkdir()
            make(folder)
    return folder


def stored_path(path):
    return Path(os.environ[RUNS], path.name)


def running(path):
    """Return the lock that is held while the notebook of `path` runs.

    The operating system releases it if the process crashes.
    """
    return FileLock(Path(os.environ[RUNS], f"{path.name} is running"))


def notebook(path):
    """Return the notebook with its outputs, from nbval's run or, if that is missing or failed,
    from a new run.

    If the notebook is running in another process or thread, wait for its result.
    """
    if not stored_path(path).exists():
        with running(path):
            if not stored_path(path).exists():  # nobody stored it while this call waited
                store(run_in_copy(nbformat.read(path, as_version=4), path), path)
    return nbformat.read(stored_path(path), as_version=4)


def without_code(path):
    """Return the notebook without its code, which is enough for a page that no test reads."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    return notebook
