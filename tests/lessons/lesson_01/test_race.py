"""The cell that compares the times of central differences and a backward pass works with the
clocks of browsers.
"""

from pathlib import Path
from time import perf_counter

import nbformat
import numpy as np
import pytest

from autograd_course import digits
from autograd_lib import nn
from autograd_lib.nn import functional

NOTEBOOK = Path(__file__).parents[3] / "notebooks/01_measure_a_slope.ipynb"


@pytest.mark.parametrize("tick", [1e-3, 0.5])
def test_the_race_needs_no_fine_clock(tick, capsys):
    """Regression: division by zero in Firefox and WebKit, whose clocks tick once a millisecond
    or less often.
    """
    cells = {cell.id: cell.source for cell in nbformat.read(NOTEBOOK, as_version=4).cells}
    names = {"np": np, "nn": nn, "functional": functional, "digits": digits}
    names["perf_counter"] = lambda: perf_counter() // tick * tick
    exec(cells["race-model"], names)
    exec(cells["race"], names)
    assert 1 < names["slow"] / names["fast"] < np.inf
    assert "times faster" in capsys.readouterr().out
