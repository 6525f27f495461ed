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
        (1, (79, 83), (6.8, 7.5), (0.43, 0.45)),
        (2, (300, 600), (14, 17), (0, 0.3)),
        (3, (300, 800), (14, 17), (0, 0.3)),
        (4, (15_500, 16_900), (14, 17), (0, 0.3)),
        (5, (300, 800), (12, 14), (0, 0.3)),
    ],
)
def test_other_seeds_bring_what_the_fold_says(seed, grown, better, strays):
    names = run(
        "imports", "asked", "forecast", "windows", "train", "honest", "back", "blind", seed=seed
    )
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
    names = run("imports", "asked", "forecast", "windows", "train", seed=0)
    clipped = []
    for seed in range(10):
        descents = run("needed", seed=seed, names=names)["descents"]
        assert descents[np.inf][0][-1] > 1e100
        assert descents[1.0][0][-1] < float(below)
        clipped.append(clipped_steps(descents[1.0][1]))
    assert (min(clipped), max(clipped)) == (int(least), int(most))


def test_adam_does_as_well_without_clipping():
    names = run("imports", "asked", "forecast", "windows", "train", seed=0)
    assert "no gradient to be clipped" in LESSON["train-why"] and clipped_steps(names["norms"]) == 0
    source = LESSON["train"]
    exec(source.replace("max_norm=1.0", "max_norm=np.inf"), free := dict(names))
    assert np.isclose(free["losses"][-1], names["losses"][-1], rtol=0.02)


def test_no_two_layers_get_the_same_numbers(names):
    """The two layers share one generator. Regression: each began with the same seed, so the
    weights of the linear layer were those of the cell.
    """
    for seed in range(3):
        model = names["Forecast"](16, rng=seed)
        numbers = np.concatenate([p.data.ravel() for p in model.parameters()])
        assert len(np.unique(numbers)) == len(numbers)


@pytest.fixture(scope="module")
def names():
    """Return the names of the lesson after the two descents, with its own seed."""
    return run("imports", "asked", "forecast", "windows", "train", "needed", seed=0)


def descend(names, model, lr, steps):
    """Return the losses of plain gradient descent with c = ∞."""
    optimizer = names["optim"].SGD(model.parameters(), lr=lr)
    return names["train"](model, optimizer, steps, max_norm=np.inf)[0]


def layer_norms(names, steps):
    """Train without clipping; return the gradient norms of the linear layer, the share of the
    states that are exactly 1 or −1, and the largest weight of the cell, at each step.
    """
    seen, model = names["seen"], names["Forecast"](16, rng=0)
    optimizer = names["optim"].SGD(model.parameters(), lr=0.7)
    norms, saturated, largest = [], [], []
    for _ in range(steps):
        largest.append(max(np.abs(p.data).max() for p in model.cell.parameters()))
        optimizer.zero_grad()
        names["mse_loss"](model(seen[:, :-1]), seen[:, 1:]).backward()
        norms.append(np.sqrt(sum(np.sum(p.grad**2) for p in model.read.parameters())))
        s, ends = None, []
        for k in range(20):
            s = model.cell(seen[:, k : k + 1], s)
            ends.append(np.mean(np.abs(s.data) == 1))
        saturated.append(np.mean(ends))
        optimizer.step()
    return np.array(norms), saturated, largest


def test_a_long_step_saturates_the_cell_and_only_the_linear_layer_explodes(names):
    text = LESSON["needed-see"]
    ((step, share),) = re.findall(r"At step (\d+), ([\d.]+) % of the states are ±1", text)
    norms, saturated, largest = layer_norms(names, 13)
    assert "So the weights become large" in text
    assert largest[0] < 0.3 and largest[int(step)] > 1000
    assert round(100 * saturated[int(step)], 1) == float(share)
    assert max(saturated[: int(step)]) < 0.25
    (last,) = re.findall(r"all states are ±1 at step (\d+)", text)
    assert [k for k, part in enumerate(saturated) if part == 1] == [int(last)]
    (said,) = re.findall(r"about (\d+)-fold per step", text)
    assert np.allclose(norms[8:] / norms[7:-1], int(said), rtol=0.03)
    ((before, after),) = re.findall(r"its norm falls from ([\d,]+) to 2e−(\d)", text)
    cell = names["descents"][np.inf][2]
    assert np.isclose(cell[int(step) - 1], int(before.replace(",", "")), rtol=0.03)
    assert round(cell[int(step)] * 10 ** int(after)) == 2


def test_a_smaller_lr_needs_no_clipping(names):
    (said,) = re.findall(r"with lr = (0\.\d+) and no clipping", LESSON["needed-see"])
    losses = descend(names, names["Forecast"](16, rng=0), float(said), 100)
    assert losses[-1] < names["descents"][1.0][0][-1]


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_the_loss_explodes_without_gradients_through_time(seed):
    assert "Expect the loss to explode nevertheless" in LESSON["detached-why"]
    names = run("imports", "asked", "forecast", "windows", "train", seed=0)
    losses = run("detached", "detached-train", seed=seed, names=names)["by_detached"][0]
    assert losses[-1] > 1e4 * losses[0]


def test_no_gradient_goes_back_through_a_detached_state(names):
    """Each forecast depends on the inputs before it, but no gradient gets to them."""
    exec(LESSON["detached"], own := dict(names))
    values = names["ag"].Tensor(names["seen"][:1, :-1], requires_grad=True)
    for model, through in [(own["Detached"](16, rng=0), 1), (names["model"], 20)]:
        values.grad = None
        model(values)[:, -1].sum().backward()
        assert np.count_nonzero(values.grad) == through
