"""Lesson 13 states results for other seeds. They are computed here, because a learner would wait
too long.
"""

import re

import numpy as np
import pytest
from lesson_cells import sources

LESSON = sources("13")


def run(*cells, seed, names=None):
    """Run the lesson's own cells, with every `rng=0` replaced by another seed."""
    names = {} if names is None else names
    for cell in cells:
        exec(LESSON[cell].replace("rng=0", f"rng={seed}"), names)
    return names


@pytest.mark.parametrize(
    "seed, grown, better, strays",
    [
        (1, (200, 500), (9, 11), (0.4, 0.5)),
        (2, (200, 500), (18, 22), (0, 0.15)),
        (3, (195, 215), (15, 19), (0, 0.15)),
        (4, (28_000, 29_500), (14, 18), (0, 0.15)),
        (5, (1e4, 29_000), (19, 24), (0, 0.15)),
    ],
)
def test_other_seeds_bring_what_the_fold_says(seed, grown, better, strays):
    names = run("imports", "asked", "forecast", "train", "honest", "back", "blind", seed=seed)
    trained, untrained = (np.abs(names[which][:, -1]).mean() for which in ("trained", "untrained"))
    assert grown[0] < trained / untrained < grown[1]
    assert better[0] < names["same"] / names["net"] < better[1]
    assert strays[0] < np.abs(names["generated"][20:] - names["truth"]).max() < strays[1]


def clipped_steps(norms):
    return sum(norm > 1 for norm in norms)


def test_clipping_decides_whether_plain_gradient_descent_learns():
    """The training explodes without clipping, and learns with it, with each of ten seeds."""
    below, least, most = re.search(
        r"the loss fell below (0\.\d+), and (\d+) to (\d+) gradients were clipped",
        LESSON["back-why"],
    ).groups()
    names = run("imports", "asked", "forecast", "train", seed=0)
    clipped = []
    for seed in range(10):
        descents = run("needed", seed=seed, names=names)["descents"]
        assert descents[np.inf][0][-1] > 1e100
        assert descents[1.0][0][-1] < float(below)
        clipped.append(clipped_steps(descents[1.0][1]))
    assert (min(clipped), max(clipped)) == (int(least), int(most))


def test_adam_does_as_well_without_clipping():
    names = run("imports", "asked", "forecast", "train", seed=0)
    assert clipped_steps(names["norms"]) == 1
    source = LESSON["train"]
    exec(source.replace("max_norm=1.0", "max_norm=np.inf"), free := dict(names))
    assert np.isclose(free["losses"][-1], names["losses"][-1], rtol=0.02)


@pytest.fixture(scope="module")
def names():
    """Return the names of the lesson after the two descents, with its own seed."""
    return run("imports", "asked", "forecast", "train", "needed", seed=0)


def descend(names, model, lr, steps):
    """Return the losses and the gradient norms of plain gradient descent with c = ∞."""
    optimizer = names["optim"].SGD(model.parameters(), lr=lr)
    return names["train"](model, optimizer, steps, max_norm=np.inf)


def test_a_long_step_saturates_the_cell_and_only_the_linear_layer_explodes(names):
    seen, model = names["seen"], names["Forecast"](16, rng=0)
    losses, _ = descend(names, model, 0.7, 12)
    assert losses == names["descents"][np.inf][0][:12]
    (said,) = re.findall(r"about (\d+)-fold per step", LESSON["needed-see"])
    assert np.allclose(np.array(losses[-3:]) / losses[-4:-1], int(said), rtol=0.1)
    model.zero_grad()
    names["mse_loss"](model(seen[:, :-1]), seen[:, 1:]).backward()
    states = model.cell(seen[:, :1])
    assert np.array_equal(np.abs(states.data), np.ones(states.shape))
    for name, parameter in model.named_parameters():
        assert (np.abs(parameter.grad).max() == 0) == name.startswith("cell"), name


def test_a_smaller_lr_needs_no_clipping(names):
    (said,) = re.findall(r"with lr = (0\.\d+) and no clipping", LESSON["needed-see"])
    losses, _ = descend(names, names["Forecast"](16, rng=0), float(said), 100)
    assert losses[-1] < names["descents"][1.0][0][-1]


def test_the_loss_explodes_without_gradients_through_time(names):
    assert "with each state detached, the loss explodes too" in LESSON["needed-see"]

    class Detached(names["Forecast"]):
        def forward(self, values):
            s, forecasts = None, []
            for k in range(values.shape[1]):
                s = self.cell(values[:, k : k + 1], s)
                forecasts.append(self.read(s))
                s = s.detach()
            return names["ag"].concatenate(forecasts, axis=1)

    losses, _ = descend(names, Detached(16, rng=0), 0.7, 12)
    assert losses[-1] > 1e6 * losses[0]
