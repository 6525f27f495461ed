"""Lesson 21's network and ports, as far as they can be tested without PyTorch and JAX."""

import json
import os
import signal
from pathlib import Path

import joblib
import numpy as np
import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError

import autograd_lib as ag
from autograd_course.grading import Wrong
from autograd_course.lessons.lesson_21 import ports
from autograd_course.lessons.lesson_21.exercises import (
    CAUSES,
    LISTED,
    RIGHT,
    _as_set,
    _rms,
    fooled,
)
from autograd_course.optional_frameworks import recorded

NOTEBOOK = Path(__file__).parents[3] / "notebooks/21_cross_over.ipynb"


def test_what_was_recorded_is_of_this_network():
    ours, kept = ports.evidence("ours"), recorded("21")
    assert max([*ours.values.values(), *ours.gradients.values()]) == 0
    for engine in ("PyTorch", "JAX"):
        assert np.allclose(ours.losses, kept["ports"][engine]["losses"], rtol=1e-9)
        slopes = kept["agreement"][engine]
        for scene, mine in ports.slopes("ours").items():
            assert len(slopes[scene]) == len(ports.AT)
            agree = np.allclose(mine, slopes[scene], rtol=0, atol=1e-14)
            assert agree == (
                scene.split()[0] in ("one", "tanh(t)", "maximum(t,")
                or engine == "JAX"
                and "by default" in scene
            ), scene


def test_the_network_has_the_right_gradient():
    """The test moves away from the start, where the integer kernels produce ties and kinks."""
    x, y = (part[:5] for part in ports.scans())
    rng = np.random.default_rng(0)
    p = {name: value + 0.3 * rng.normal(size=value.shape) for name, value in ports.start().items()}
    along = {name: rng.normal(size=value.shape) for name, value in p.items()}
    _, gradients = ports.run("ours", p, x, y)

    def loss(h):
        return ports.run("ours", {name: p[name] + h * along[name] for name in p}, x, y)[0]["loss"]

    assert np.isclose(
        sum(np.sum(gradients[name] * along[name]) for name in p),
        (loss(1e-6) - loss(-1e-6)) / 2e-6,
        rtol=1e-6,
    )


@pytest.mark.parametrize("letter", ports.PORTS)
def test_a_port_is_a_network_with_one_line_changed(letter):
    port = ports.PORTS[letter]
    assert (
        port.healthy.count(port.old) == 1
        and port.line != port.healthy
        and port.line.startswith(f"{port.stage} = ")
    )
    assert callable(port.network())
    healthy = ports.lines(ports.NETWORK[port.engine])
    assert [line.partition(" ")[0] for line in healthy] == ports.STAGES and port.healthy in healthy


def test_each_cause_is_that_of_its_port():
    words = {"A": "n − 1", "B": "tie", "C": "maximum", "D": "softmax", "E": "erf"}
    for letter, word in words.items():
        assert word in CAUSES[RIGHT[letter] - 1] and word in ports.PORTS[letter].cause


def test_the_notebook_lists_the_causes():
    """The list is in the cell of the prediction, and the exercise refers to it."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    [text] = ["".join(c["source"]) for c in notebook["cells"] if c["id"] == "losses-predict"]
    assert LISTED in text and len(CAUSES) == 8


def test_the_recorded_consequences_are_of_this_network():
    kept = recorded("21")["consequences"]
    now = ports.consequence("ours", seeds=[0])
    assert now["read"] == kept["ours"]["read"][:1]
    assert now["weights"] == now["logits"] == [0] and now["reread"] == [0]


def test_causes_without_a_port():
    """Statements of the hints: transposed kernels show in the first line, a summed loss is 200
    times as large, and float32 differs from `scaled` on, by less than 1e-5. And of the prediction:
    each of the three changes one of the first twelve digits of the loss.
    """
    x, y = ports.scans()
    p, (values, gradients) = ports.start(), ports.run("ours", ports.start(), x, y)
    transposed = ports.run("ours", p | {"kernels": p["kernels"].swapaxes(2, 3)}, x, y)[0]
    assert not np.allclose(transposed["bent"], values["bent"]) and len(y) == 200
    assert abs(transposed["loss"] - values["loss"]) > 1e-3
    single, single_gradients = ports.run(
        "ours",
        {name: value.astype(np.float32) for name, value in p.items()},
        x.astype(np.float32),
        y,
    )

    def apart(theirs, mine):
        return {
            name: np.max(np.abs(theirs[name] - mine[name])) / np.max(np.abs(mine[name]))
            for name in mine
        }

    far = apart(single, values) | apart(single_gradients, gradients)
    assert far.pop("bent") == far.pop("pooled") == 0 and "scaled" in far
    assert all(1e-9 < difference < 1e-5 for difference in far.values())


def test_a_g_along_x_gives_rms_norm_gradient_0_only_without_epsilon():
    """Statement of the final task: with ε = 0 the length of z is always √n."""
    x = np.random.default_rng(0).normal(size=(1, 5))
    for epsilon, zero in ((0.0, True), (0.1, False)):
        z, vjp = ag.vjp(lambda x: x / np.sqrt(mean(x * x) + epsilon), x)
        assert np.isclose(np.linalg.norm(z), np.sqrt(x.size)) == zero
        assert (np.max(np.abs(vjp(3 * x)[0])) < 1e-12) == zero


def die():
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows kills otherwise")
def test_joblib_loses_the_step_of_a_killed_worker():
    with pytest.raises(TerminatedWorkerError):
        joblib.Parallel(n_jobs=2)(joblib.delayed(die)() for _ in range(2))


def test_the_timed_workers_are_sent_arrays_not_files():
    """joblib 1.6 moves arrays above 1 MB into files and sometimes deletes one twice, which
    prints a traceback above the picture.
    """
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    line = next(
        line
        for cell in notebook["cells"]
        for line in cell["source"]
        if line.startswith("calls = {")
    )
    exec(line, scope := {"here": None, "Parallel": joblib.Parallel})
    for workers in (2, 4):
        assert scope["calls"][workers]([joblib.delayed(type)(np.zeros((2500, 1, 8, 8)))]) == [
            np.ndarray
        ]


def mean(x):
    return np.mean(x, axis=1, keepdims=True)


# The final task and its parallel forms, as in the teacher's guide: each op with its rule.
FORMS = {
    "root of the mean square": (
        lambda x: x / np.sqrt(mean(x * x) + 0.1),
        lambda g, z, x: (g - z * mean(g * z)) / np.sqrt(mean(x * x) + 0.1),
    ),
    "centred": (lambda x: x - mean(x), lambda g, z, x: g - mean(g)),
    "mean size": (
        lambda x: x / (mean(abs(x)) + 0.1),
        lambda g, z, x: (g - np.where(x > 0, 1, -1) * mean(g * z)) / (mean(abs(x)) + 0.1),
    ),
    "times its mean": (lambda x: x * mean(x), lambda g, z, x: g * mean(x) + mean(g * x)),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_forms_of_the_final_task(form):
    f, rule = FORMS[form]
    x, g = np.random.default_rng(0).normal(size=(2, 3, 4))
    assert np.allclose(rule(g, f(x), x), ag.vjp(f, x)[1](g)[0])


def test_a_set_is_shown_as_it_is_typed():
    """Regression: the verdict printed the set {"a"} as a list, although a list is rejected."""
    for letters, shown in [({"c", "a"}, '{"a", "c"}'), (set(), "set()"), ({"A", 1}, '{"A", 1}')]:
        assert _as_set(letters) == shown
        with pytest.raises(Wrong) as wrong:
            fooled.check((lambda rule: _accepts(rule), letters, set()))
        assert wrong.value.shown[1] == shown


def _accepts(rule):
    rng = np.random.default_rng(0)
    x, g, u = (rng.normal(size=(3, 4)) for _ in range(3))
    along = np.sum(g * (_rms(x + 1e-5 * u) - _rms(x - 1e-5 * u))) / 2e-5
    return bool(np.isclose(np.sum(rule(g, _rms(x), x) * u), along, rtol=1e-4))
