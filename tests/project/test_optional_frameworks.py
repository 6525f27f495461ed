"""The output shown where PyTorch, JAX or Dask is missing was recorded from the current code of
the cell.
"""

import ast
import hashlib
import json

import pytest

from autograd_course import optional_frameworks

NOTEBOOKS = optional_frameworks.LESSONS.parents[1] / "notebooks"
RECORDED = sorted(
    path.parent.name[-2:] for path in optional_frameworks.LESSONS.glob("*/recorded.json")
)


def elsewhere_functions(lesson):
    """Return the digest of each function of the notebook under @elsewhere, by name; all name the
    lesson.
    """
    found, notebook = {}, next(NOTEBOOKS.glob(f"{lesson}_*.ipynb"))
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        for node in ast.parse(source).body if cell["cell_type"] == "code" else []:
            if isinstance(node, ast.FunctionDef) and node.decorator_list:
                assert ast.unparse(node.decorator_list[0]).startswith(f"elsewhere('{lesson}', ")
                lines = source.splitlines(keepends=True)[
                    node.decorator_list[0].lineno - 1 : node.end_lineno
                ]
                found[node.name] = hashlib.sha256(
                    ("".join(lines).rstrip("\n") + "\n").encode()
                ).hexdigest()[:12]
    return found


@pytest.mark.parametrize("lesson", RECORDED)
def test_every_recording_is_of_the_cell_as_it_stands(lesson):
    recorded = {
        name: one["source"] for name, one in optional_frameworks.recorded(lesson)["cells"].items()
    }
    assert recorded == elsewhere_functions(lesson), (
        "record anew: python tests/cross/test_recorded.py"
    )


def test_elsewhere_runs_what_is_installed_and_shows_what_is_recorded(monkeypatch, capsys):
    def by_torch():
        print("ran")

    monkeypatch.setattr(optional_frameworks, "PRINTED", {})
    monkeypatch.setattr(optional_frameworks, "missing", lambda *names: [])
    optional_frameworks.elsewhere("21", "torch")(by_torch)
    assert (
        capsys.readouterr().out == "ran\n"
        and optional_frameworks.PRINTED["by_torch"]["output"] == "ran\n"
    )

    monkeypatch.setattr(optional_frameworks, "missing", lambda *names: list(names))
    recorded = {
        "cells": {
            "by_torch": {"source": optional_frameworks.digest(by_torch), "output": "it ran there\n"}
        }
    }
    monkeypatch.setattr(optional_frameworks, "recorded", lambda lesson: recorded)
    optional_frameworks.elsewhere("21", "torch")(by_torch)
    missing = "PyTorch is not installed here (%pip install torch)."
    assert capsys.readouterr().out == f"{missing} Recorded output:\nit ran there\n"
    recorded["cells"]["by_torch"]["source"] = "another"
    optional_frameworks.elsewhere("21", "torch")(by_torch)
    assert "Recorded output, from the original cell:\nit ran there" in capsys.readouterr().out
    recorded["cells"].clear()
    optional_frameworks.elsewhere("21", "distributed")(by_torch)
    assert (
        capsys.readouterr().out
        == 'Dask is not installed here (%pip install "dask[distributed]").\n'
    )
    assert (
        optional_frameworks.excuse("torch", "jax")
        == "PyTorch and JAX are not installed here (%pip install torch jax)."
    )
