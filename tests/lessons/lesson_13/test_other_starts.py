"""Lesson 13 states results for other seeds. They are computed here, because a learner would wait
too long.
"""

import json
from pathlib import Path

import numpy as np
import pytest

NOTEBOOK = Path(__file__).parents[3] / "notebooks/13_remember_a_sequence.ipynb"


@pytest.mark.parametrize(
    "seed, grown, better, strays",
    [(1, (200, 500), (9, 11), (0.4, 0.5)), (4, (1e4, 1e5), (14, 18), (0, 0.15))],
)
def test_other_seeds_bring_what_the_fold_says(seed, grown, better, strays):
    """The lesson's own cells run with every `rng=0` replaced by another seed."""
    source = {
        cell["id"]: "".join(cell["source"])
        for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    }
    names = {}
    for cell in ("imports", "asked", "forecast", "train", "honest", "back", "blind"):
        exec(source[cell].replace("rng=0", f"rng={seed}"), names)
    trained, untrained = (np.abs(names[which][:, -1]).mean() for which in ("trained", "untrained"))
    assert grown[0] < trained / untrained < grown[1]
    assert better[0] < names["same"] / names["net"] < better[1]
    assert strays[0] < np.abs(names["generated"][20:] - names["truth"]).max() < strays[1]
