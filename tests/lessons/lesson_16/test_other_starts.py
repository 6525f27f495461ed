"""Lesson 16 states where runs at lr = 2 end for nine other starts. They run here, because a
learner would wait too long.
"""

import numpy as np
import pytest
from lesson_cells import sources

import autograd_lib as ag
from autograd_course.lessons.lesson_16.network import END, largest_curvature


@pytest.mark.parametrize("seed", range(1, 10))
def test_from_other_starts_too_it_ends_below_the_mark(seed):
    """The lesson's own loss and start are used. With lr = 0.5, λmax would end above 1."""
    source = sources("16")
    names = {}
    exec(
        source["imports"]
        + "\n"
        + source["opening"].partition("runs =")[0].replace("rng=0", f"rng={seed}"),
        names,
    )
    loss, w = names["loss"], names["start"]
    gradient = ag.grad(loss)
    for _ in range(END):
        w = w - 2 * gradient(w)
    assert loss(w) < 0.1 and largest_curvature(loss, w, np.ones(w.size), products=20)[0] < 1
