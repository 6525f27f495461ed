"""Lessons that run PyTorch, JAX and Dask: their notebooks run, and the recorded outputs, shown
where these are missing, are the real ones.

`python tests/cross/test_recorded.py`, with all three installed, updates recorded.json of each such
lesson.
"""

import inspect
import json
import re
from ast import literal_eval
from dataclasses import asdict, replace
from functools import cache
from tempfile import TemporaryDirectory

import nbformat
import numpy as np
import pytest

for library, called in [("torch", "PyTorch"), ("jax", "JAX"), ("distributed", "Dask")]:
    pytest.importorskip(
        library, reason=f"{called} is not installed: its recorded output is not checked"
    )
from nbclient import NotebookClient  # noqa: E402

from autograd_course import optional_frameworks  # noqa: E402
from autograd_course.lessons.lesson_21 import ports  # noqa: E402

RECORDED = sorted(
    path.parent.name[-2:] for path in optional_frameworks.LESSONS.glob("*/recorded.json")
)
PRINT = "import json\nfrom autograd_course.optional_frameworks import PRINTED\nprint(json.dumps(PRINTED))"


@cache
def ran(lesson):
    """Return the output of each `@elsewhere` function of the lesson's notebook, and the digest of
    its code.
    """
    notebook = nbformat.read(
        next((optional_frameworks.LESSONS.parents[1] / "notebooks").glob(f"{lesson}_*.ipynb")),
        as_version=4,
    )
    notebook.cells.append(nbformat.v4.new_code_cell(PRINT))
    with TemporaryDirectory() as folder:
        NotebookClient(
            notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": folder}}
        ).execute()
    return json.loads("".join(output.text for output in notebook.cells[-1].outputs))


@pytest.mark.parametrize("lesson", RECORDED)
def test_every_cell_prints_what_is_recorded(lesson):
    assert ran(lesson) == optional_frameworks.recorded(lesson)["cells"], (
        "python tests/cross/test_recorded.py records anew"
    )


def test_what_the_cells_of_lesson_21_print_is_what_it_says():
    said = {name: one["output"] for name, one in ran("21").items()}
    assert said["by_torch"].split()[1:] == said["by_jax"].split()[1:]
    values, gradients = map(literal_eval, said["port_A_by_stages"].splitlines())
    kept = optional_frameworks.recorded("21")["ports"]["A"]
    for printed, exact in [(values, kept["values"]), (gradients, kept["gradients"])]:
        assert printed == {key: round(far, 4) for key, far in exact.items()}
    assert said["my_op_in_torch"] == "my op: True True\n"
    assert said["my_op_in_jax"].endswith("first and second derivative: no error\n")
    assert re.fullmatch(
        r"saves the slope: True .*[Jj]acobian mismatch.*\n", said["saved_slope_in_torch"]
    )
    assert said["on_dask"] == "killed at work, and gone: True\nwithin 1e-14 of one process: True\n"
    assert said["rms_in_torch"] == "RMS norm: True\n"


@pytest.mark.parametrize("name", ["PyTorch", "JAX", *ports.PORTS])
def test_ports_are_as_recorded(name):
    now, then = ports.evidence(name), optional_frameworks.recorded("21")["ports"][name]
    assert np.allclose(now.losses, then["losses"], rtol=1e-9)
    for mine, kept in [(now.values, then["values"]), (now.gradients, then["gradients"])]:
        assert list(mine) == list(kept)
        assert np.allclose(list(mine.values()), list(kept.values()), rtol=1e-6, atol=1e-13)


@pytest.mark.parametrize("engine", ["PyTorch", "JAX"])
def test_slopes_are_as_recorded(engine):
    now, then = ports.slopes(engine), optional_frameworks.recorded("21")["agreement"][engine]
    assert list(now) == list(then) == list(ports.SCENES)
    for scene in now:
        assert np.allclose(now[scene], then[scene], rtol=0, atol=1e-14), scene


@pytest.mark.parametrize("name", ["ours", *ports.PORTS])
def test_consequences_are_as_recorded(name):
    now, then = ports.consequence(name), ports.consequences()[name]
    assert list(now) == list(then)
    assert (
        np.allclose(now["read"], then["read"], rtol=0, atol=1) and now["reread"] == then["reread"]
    )
    for key in ("weights", "logits"):
        assert np.allclose(now[key], then[key], rtol=1e-2, atol=1e-13), key


def test_a_port_with_two_differences_shows_only_the_larger(monkeypatch):
    """Statement of the lesson: in a port that contains A and E, you hardly notice E in `hidden`."""
    a, e = ports.PORTS["A"], ports.PORTS["E"]

    def network():
        source = inspect.getsource(ports.in_torch)
        for port in (a, e):
            source = source.replace(port.healthy, port.line)
        exec(source, scope := dict(vars(ports)))
        return scope["in_torch"]

    both = replace(a)
    both.network = network
    monkeypatch.setitem(ports.PORTS, "AE", both)
    alone, together = (ports.evidence(name, steps=0).values["hidden"] for name in ("A", "AE"))
    assert alone != together and abs(together - alone) < 0.03 * alone


if __name__ == "__main__":
    beside = {
        "21": {
            "ports": {name: asdict(one) for name, one in ports.measured().items()},
            "agreement": {engine: ports.slopes(engine) for engine in ("PyTorch", "JAX")},
            "consequences": {name: ports.consequence(name) for name in ["ours", *ports.PORTS]},
        }
    }
    for lesson, parts in beside.items():  # the notebook reads them while it runs
        (optional_frameworks.LESSONS / f"lesson_{lesson}/recorded.json").write_text(
            json.dumps(optional_frameworks.recorded(lesson) | parts), encoding="utf-8"
        )
    for lesson in RECORDED:
        text = re.sub(
            r"\[\s+([^][{}]*?)\s+\]",
            lambda row: f"[{' '.join(row[1].split())}]",
            json.dumps(
                beside.get(lesson, {}) | {"cells": ran(lesson)}, indent=1, ensure_ascii=False
            ),
        )
        (optional_frameworks.LESSONS / f"lesson_{lesson}/recorded.json").write_text(
            text + "\n", encoding="utf-8"
        )
