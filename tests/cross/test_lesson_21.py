"""Lesson 21 with PyTorch, JAX and Dask: its notebook runs, and what it shows where they are missing is what they give.

`python tests/cross/test_lesson_21.py`, with all three installed, writes that anew: recorded.json beside the lesson.
"""
import json
import re
from dataclasses import asdict
from pathlib import Path

import nbformat
import numpy as np
import pytest

for library, called in [("torch", "PyTorch"), ("jax", "JAX"), ("distributed", "Dask")]:
    pytest.importorskip(library, reason=f"{called} is not installed: lesson 21 shows what was recorded of it")
from nbclient import NotebookClient  # noqa: E402

from autograd_course.lessons.lesson_21 import peers, ports  # noqa: E402

NOTEBOOK = next((Path(__file__).parents[2] / "notebooks").glob("21_*.ipynb"))
PRINT = "import json\nfrom autograd_course.lessons.lesson_21.peers import PRINTED\nprint(json.dumps(PRINTED))"


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """What each `@elsewhere` function of the notebook prints, and the digest of its code."""
    return ran(tmp_path_factory.mktemp("notebooks"))


def ran(folder):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(PRINT))
    NotebookClient(notebook, timeout=600, kernel_name="python3",
                   resources={"metadata": {"path": str(folder)}}).execute()
    return json.loads("".join(output.text for output in notebook.cells[-1].outputs))


def test_every_cell_prints_what_is_recorded(cells):
    assert cells == peers.recorded()["cells"], "python tests/cross/test_lesson_21.py records anew"


def test_what_the_cells_print_is_what_the_lesson_says(cells):
    said = {name: one["output"] for name, one in cells.items()}
    assert said["by_torch"].split()[1:] == said["by_jax"].split()[1:]
    assert re.fullmatch(r"my op: +True True\nsaves the slope: True .*[Jj]acobian mismatch.*\n", said["my_op_in_torch"])
    assert said["on_dask"] == "killed at work, and gone: True\nwithin 1e-14 of one process: True\n"
    assert said["rms_in_torch"] == "RMS norm: True\n"


@pytest.mark.parametrize("name", ["PyTorch", "JAX", *ports.PORTS])
def test_ports_are_as_recorded(name):
    now, then = ports.evidence(name), peers.recorded()["ports"][name]
    assert np.allclose(now.losses, then["losses"], rtol=1e-9)
    for mine, kept in [(now.values, then["values"]), (now.gradients, then["gradients"])]:
        assert list(mine) == list(kept)
        assert np.allclose(list(mine.values()), list(kept.values()), rtol=1e-6, atol=1e-13)


@pytest.mark.parametrize("engine", ["PyTorch", "JAX"])
def test_slopes_are_as_recorded(engine):
    now, then = ports.slopes(engine), peers.recorded()["agreement"][engine]
    assert list(now) == list(then) == list(ports.SCENES)
    for scene in now:
        assert np.allclose(now[scene], then[scene], rtol=0, atol=1e-14), scene


if __name__ == "__main__":
    import tempfile
    found = {"ports": {name: asdict(one) for name, one in ports.measured().items()},
             "agreement": {engine: ports.slopes(engine) for engine in ("PyTorch", "JAX")},
             "cells": ran(tempfile.mkdtemp())}
    text = re.sub(r"\[\s+([^][{}]*?)\s+\]", lambda row: f"[{' '.join(row[1].split())}]",
                  json.dumps(found, indent=1, ensure_ascii=False))
    peers.FILE.write_text(text + "\n", encoding="utf-8")
