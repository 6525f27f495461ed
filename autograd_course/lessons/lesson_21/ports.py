"""Define the network of lesson 21 in three engines, and five ports with one faulty line each.

    values, gradients = run("ours", start(), scans, labels)      # {"bent": (N, 4, 8, 8), …, "loss": ()}, {"kernels":
    (4, 1, 3, 3), …}
    run("B", …)                                                  # a port, if its PyTorch or JAX is installed
    compared()                                                   # a dict from name to Evidence, measured now or as recorded

PyTorch and JAX are imported inside functions, because the course does not need them.
"""

import inspect
from dataclasses import dataclass
from functools import cache

import numpy as np

import autograd_lib as ag
from autograd_lib.nn.functional import conv2d, cross_entropy, max_pool2d

from ...data import digits
from ...optional_frameworks import excuse, missing, recorded
from ..lesson_14.drawings import STROKES

# --- The network ----------------------------------------------------------------------------------------------------


def start(seed=0):
    """Return a dict of the initial parameters by name: the four kernels of lesson 14, and two random layers."""
    rng = np.random.default_rng(seed)
    return {
        "kernels": STROKES * 1.0,
        "shifts": np.zeros(4),
        "W1": rng.normal(size=(64, 32)) / np.sqrt(64),
        "b1": np.zeros(32),
        "W2": rng.normal(size=(32, 10)) / np.sqrt(32),
        "b2": np.zeros(10),
    }


def ours(p, x, y):
    bent = ag.relu(conv2d(x, p["kernels"], p["shifts"], padding=1))
    pooled = max_pool2d(bent, 2).reshape(len(x), -1)
    scaled = (pooled - pooled.mean(axis=1, keepdims=True)) / ag.std(pooled, axis=1, keepdims=True)
    hidden = ag.gelu(scaled @ p["W1"] + p["b1"])
    logits = hidden @ p["W2"] + p["b2"]
    loss = cross_entropy(logits, y)
    return bent, pooled, scaled, hidden, logits, loss


def in_torch(p, x, y):
    import torch
    from torch.nn import functional as F

    bent = torch.relu(F.conv2d(x, p["kernels"], p["shifts"], padding=1))
    pooled = blocks(bent).amax(dim=(3, 5)).flatten(1)
    scaled = (pooled - pooled.mean(1, keepdim=True)) / pooled.std(1, correction=0, keepdim=True)
    hidden = F.gelu(scaled @ p["W1"] + p["b1"], approximate="tanh")
    logits = hidden @ p["W2"] + p["b2"]
    loss = F.cross_entropy(logits, y)
    return bent, pooled, scaled, hidden, logits, loss


def in_jax(p, x, y):
    import jax
    from jax import numpy as jnp

    bent = jax.nn.relu(jax.lax.conv(x, p["kernels"], (1, 1), "SAME") + p["shifts"][:, None, None])
    pooled = blocks(bent).max(axis=(3, 5)).reshape(len(x), -1)
    scaled = (pooled - pooled.mean(1, keepdims=True)) / pooled.std(1, keepdims=True)
    hidden = jax.nn.gelu(scaled @ p["W1"] + p["b1"])
    logits = hidden @ p["W2"] + p["b2"]
    loss = jnp.mean(-jax.nn.log_softmax(logits)[jnp.arange(len(y)), y])
    return bent, pooled, scaled, hidden, logits, loss


def blocks(h):
    """Return images of shape (N, C, H, W) as blocks of 2 × 2 pixels, of shape (N, C, H/2, 2, W/2, 2).

    The images may be a PyTorch tensor or a JAX array.
    """
    n, c, height, width = h.shape
    return h.reshape(n, c, height // 2, 2, width // 2, 2)


STAGES = ["bent", "pooled", "scaled", "hidden", "logits", "loss"]
NETWORK = {"ours": ours, "PyTorch": in_torch, "JAX": in_jax}


def lines(function):
    """Return the lines of the network `function` that assign its stages, from `bent` to `loss`."""
    return [
        line.strip()
        for line in inspect.getsource(function).splitlines()
        if line.strip().partition(" ")[0] in STAGES
    ]


# --- Five ports -----------------------------------------------------------------------------------------------------


@dataclass
class Port:
    """Describe a port of the network to another engine, in which one line is wrong.

    In the line that assigns `stage`, the text `old` is replaced by `new`. `engine` is "PyTorch" or
    "JAX", and `cause` describes the fault.
    """

    engine: str
    stage: str
    old: str
    new: str
    cause: str

    @property
    def healthy(self):
        return next(line for line in lines(NETWORK[self.engine]) if line.startswith(self.stage))

    @property
    def line(self):
        return self.healthy.replace(self.old, self.new)

    def network(self):
        scope = dict(NETWORK[self.engine].__globals__)
        exec(inspect.getsource(NETWORK[self.engine]).replace(self.healthy, self.line), scope)
        return scope[NETWORK[self.engine].__name__]


PORTS = {
    "A": Port("PyTorch", "scaled", "correction=0, ", "", "std divides by n − 1"),
    "B": Port(
        "PyTorch",
        "pooled",
        "blocks(bent).amax(dim=(3, 5))",
        "F.max_pool2d(bent, 2)",
        "at a tie, pooling passes the gradient to the first entry",
    ),
    "C": Port(
        "JAX", "bent", "jax.nn.relu(", "jnp.maximum(0, ", "relu is written as a maximum with 0"
    ),
    "D": Port(
        "PyTorch", "loss", "(logits, y)", "(torch.softmax(logits, 1), y)", "softmax is taken twice"
    ),
    "E": Port(
        "PyTorch", "hidden", ', approximate="tanh"', "", "gelu is computed with erf instead of tanh"
    ),
}


def run(name, p, x, y):
    """Run an engine or a port at the parameters `p`, and return its values and its gradients.

    The values are a dict of NumPy arrays by stage, and the gradients are a dict of NumPy arrays by
    parameter. `name` is the name of the engine or the port, `x` are the images, and `y` are their
    labels.
    """
    return runner(name)(p, x, y)


def lengths(name, x, y):
    """Return a line of text with the norm of each parameter's gradient at the start, for an engine or a port.

    `name` is the name of the engine or the port, `x` are the images, and `y` are their labels.
    """
    _, gradients = run(name, start(), x, y)
    return f"{name:8}" + " ".join(f"{key} {np.linalg.norm(g):.7f}" for key, g in gradients.items())


@cache
def runner(name):
    engine, network = (
        (PORTS[name].engine, PORTS[name].network()) if name in PORTS else (name, NETWORK[name])
    )
    return {"ours": _by_ours, "PyTorch": _by_torch, "JAX": _by_jax}[engine](network)


def _by_ours(network):
    def run(p, x, y):
        p = {name: ag.Tensor(value, requires_grad=True) for name, value in p.items()}
        values = network(p, x, y)
        values[-1].backward()
        return {stage: value.data for stage, value in zip(STAGES, values)}, {
            name: value.grad for name, value in p.items()
        }

    return run


def _by_torch(network):
    import torch

    def run(p, x, y):
        p = {name: torch.tensor(value, requires_grad=True) for name, value in p.items()}
        values = network(p, torch.tensor(x), torch.tensor(y))
        values[-1].backward()
        return {stage: value.detach().numpy() for stage, value in zip(STAGES, values)}, {
            name: value.grad.numpy() for name, value in p.items()
        }

    return run


def _by_jax(network):
    import jax

    jax.config.update("jax_enable_x64", True)  # else float32

    def loss(p, x, y):
        values = network(p, x, y)
        return values[-1], values

    differentiated = jax.jit(jax.grad(loss, has_aux=True))

    def run(p, x, y):
        gradients, values = differentiated(p, x, y)
        return dict(zip(STAGES, map(np.asarray, values))), {
            name: np.asarray(gradients[name]) for name in p
        }

    return run


# --- What is compared -----------------------------------------------------------------------------------------------


@dataclass
class Evidence:
    """Hold the losses of a network during training, and its initial differences from our network.

    A difference is the largest absolute difference, divided by the largest absolute entry of ours.
    """

    losses: list  # before each step, and after the last
    values: dict  # the difference of each stage
    gradients: dict  # the difference of the gradient of each parameter


def scans():
    """Return 200 scans of digits, of shape (200, 1, 8, 8), and their labels, of shape (200,)."""
    images, labels, _, _ = digits()
    return images[:200].reshape(-1, 1, 8, 8), labels[:200]


def evidence(name, steps=30, lr=0.2):
    """Train the engine or the port called `name` for `steps` steps of gradient descent, and return its Evidence.

    `lr` is the learning rate.
    """
    x, y = scans()
    p, (values, gradients) = start(), run("ours", start(), x, y)
    losses = []
    for step in range(steps + 1):
        mine, grads = run(name, p, x, y)
        if not step:
            apart = [
                {key: _apart(one[key], other[key]) for key in other}
                for one, other in [(mine, values), (grads, gradients)]
            ]
        losses.append(float(mine["loss"]))
        p = {key: p[key] - lr * grads[key] for key in p}
    return Evidence(losses, *apart)


@cache
def after_training(name, seed=0, steps=30, lr=0.2):
    """Train the engine or the port called `name` from the start of this seed, and return its parameters."""
    x, y = scans()
    p = start(seed)
    for _ in range(steps):
        grads = run(name, p, x, y)[1]
        p = {key: p[key] - lr * grads[key] for key in p}
    return p


def consequence(name, seeds=range(10)):
    """Measure what differs after training with the engine or the port called `name`.

    Returns
    -------
    dict of str to list
        Each list has one entry for each seed. "read": how many of 360 new scans the trained network
        reads correctly. "weights": the largest difference of its parameters from ours, relative to
        the largest entry of ours. With our trained parameters loaded into it, "logits": the largest
        difference of a logit, and "reread": how many of the new scans it reads differently.
    """
    _, _, images, labels = digits()
    images = images.reshape(-1, 1, 8, 8)
    found = {"read": [], "weights": [], "logits": [], "reread": []}
    for seed in seeds:
        p, mine = after_training(name, seed), after_training("ours", seed)
        own = run(name, p, images, labels)[0]["logits"]
        ours, loaded = (run(each, mine, images, labels)[0]["logits"] for each in ("ours", name))
        found["read"].append(int(np.sum(own.argmax(axis=1) == labels)))
        found["weights"].append(max(_apart(p[key], mine[key]) for key in p))
        found["logits"].append(float(np.max(np.abs(loaded - ours))))
        found["reread"].append(int(np.sum(loaded.argmax(axis=1) != ours.argmax(axis=1))))
    return found


def consequences():
    """Return the recorded result of `consequence` for our network and each port, as a dict by name.

    It is not measured in the lesson, because 70 training runs take too long.
    """
    return recorded("21")["consequences"]


def _apart(theirs, ours):
    return float(np.max(np.abs(theirs - ours)) / np.max(np.abs(ours)))


def compared():
    """Return a dict of the Evidence of our network, of both correct ports and of the ports A to E, by name.

    The ports are measured if PyTorch and JAX are installed. Otherwise their recorded Evidence is
    returned, and a line is printed to say so.
    """
    if missing("torch", "jax"):
        print(excuse("torch", "jax"), "Their numbers here were recorded.")
        return {"ours": evidence("ours")} | {
            name: Evidence(**kept) for name, kept in recorded("21")["ports"].items()
        }
    return {"ours": evidence("ours")} | measured()


def measured():
    return {name: evidence(name) for name in ["PyTorch", "JAX", *PORTS]}


# --- One number under a slider --------------------------------------------------------------------------------------

AT = [round(-2 + 0.1 * k, 1) for k in range(41)]
# What is differentiated by the number t, as each engine writes it.
SCENES = {
    "one weight of the network": {"ours": "loss(t)", "PyTorch": "loss(t)", "JAX": "loss(t)"},
    "tanh(t)": {"ours": "ag.tanh(t)", "PyTorch": "torch.tanh(t)", "JAX": "jnp.tanh(t)"},
    "gelu(t), by default": {"ours": "ag.gelu(t)", "PyTorch": "F.gelu(t)", "JAX": "jax.nn.gelu(t)"},
    "std of t, 1 and 2, by default": {
        "ours": "ag.stack([t, 1, 2]).std()",
        "PyTorch": "torch.stack([t, one, 2 * one]).std()",
        "JAX": "jnp.stack([t, 1, 2]).std()",
    },
    "maximum(t, 1)": {
        "ours": "ag.maximum(t, 1)",
        "PyTorch": "torch.maximum(t, one)",
        "JAX": "jnp.maximum(t, 1)",
    },
    "pooling t, 1, 0 and 0": {
        "ours": "max_pool2d(ag.stack([t, 1, 0, 0]).reshape(1, 1, 2, 2), 2).sum()",
        "PyTorch": "F.max_pool2d(torch.stack([t, one, 0 * one, 0 * one]).reshape(1, 1, 2, 2), "
        "2).sum()",
        "JAX": "jax.lax.reduce_window(jnp.stack([t, 1, 0, 0]), -jnp.inf, jax.lax.max, (4,), "
        "(4,), 'VALID').sum()",
    },
}


def slopes(engine):
    """Return the gradients with respect to t at each t of AT, as a dict of lists by scene.

    `engine` is "ours", "PyTorch" or "JAX". Each scene is computed in the code of this engine.
    """
    x, y = (part[:20] for part in scans())
    network = NETWORK[engine]
    others = start()

    def placed(t, place):
        """Return the network's loss with t in place of the weight kernels[0, 0, 1, 1].

        `place` takes the kernels and t, and returns the kernels with this weight replaced by t.
        """
        return network(others | {"kernels": place(others["kernels"], t)}, x, y)[-1]

    corner = np.zeros((4, 1, 3, 3))
    corner[0, 0, 1, 1] = 1
    if engine == "ours":
        scope = {
            "ag": ag,
            "max_pool2d": max_pool2d,
            "loss": lambda t: placed(t, lambda kernels, t: kernels * (1 - corner) + t * corner),
        }
        return {
            scene: [float(ag.grad(eval(f"lambda t: {code[engine]}", scope))(t)) for t in AT]
            for scene, code in SCENES.items()
        }
    if engine == "JAX":
        import jax
        from jax import numpy as jnp

        jax.config.update("jax_enable_x64", True)
        scope = {
            "jax": jax,
            "jnp": jnp,
            "loss": lambda t: placed(t, lambda kernels, t: kernels * (1 - corner) + t * corner),
        }
        return {
            scene: jax.jit(jax.vmap(jax.grad(eval(f"lambda t: {code[engine]}", scope))))(
                jnp.array(AT)
            ).tolist()
            for scene, code in SCENES.items()
        }
    import torch
    from torch.nn import functional as F

    x, y, corner = map(torch.tensor, (x, y, corner))
    others = {name: torch.tensor(value) for name, value in others.items()}
    scope = {
        "torch": torch,
        "F": F,
        "one": torch.tensor(1.0, dtype=torch.float64),
        "loss": lambda t: placed(t, lambda kernels, t: kernels * (1 - corner) + t * corner),
    }
    found = {}
    for scene, code in SCENES.items():
        ts = [torch.tensor(t, dtype=torch.float64, requires_grad=True) for t in AT]
        found[scene] = [
            float(torch.autograd.grad(eval(code[engine], scope | {"t": t}), t)[0]) for t in ts
        ]
    return found


def agreement():
    """Return the gradients with respect to t in the three engines, as a dict of dicts.

    The dict maps the name of each engine to the result of `slopes`. The gradients of PyTorch and of
    JAX are measured if both are installed, and recorded otherwise.
    """
    return {"ours": slopes("ours")} | (
        {name: slopes(name) for name in ("PyTorch", "JAX")}
        if not missing("torch", "jax")
        else recorded("21")["agreement"]
    )


# --- An op over there -------------------------------------------------------------------------------------------


class Context:
    """Replace the `ctx` of a torch.autograd.Function if PyTorch is not installed.

    The function has one input. For JAX, a Context holds the values that the function bwd needs.
    """

    needs_input_grad = (True,)

    def __init__(self, *saved):
        self._saved = saved

    @property
    def saved_tensors(self):
        return self._saved

    def save_for_backward(self, *tensors):
        self._saved = tensors
