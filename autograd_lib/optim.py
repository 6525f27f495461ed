"""Optimizers: what to do with a gradient, in PyTorch's names. A user of the engine's public interface, nothing more."""

import numpy as np

from .state import Stateful
from .tape import Tensor


class Optimizer(Stateful):
    """Holds the parameters and what is remembered of their gradients; subclasses write `_update`.

    Parameters
    ----------
    params : iterable of Tensors that require a gradient
    lr : learning rate, the factor of every step; the attribute `lr` may be changed between steps

    Raises
    ------
    ValueError
        If there are no parameters, one is given twice, or `lr` is negative.
    TypeError
        If one of them is not a leaf that requires a gradient.
    """

    memories = ()  # the names of the arrays kept per parameter, all zero before the first step

    def __init__(self, params, lr):
        self.params = list(params)
        if not self.params:
            raise ValueError(f"{type(self).__name__}: there are no parameters to optimize")
        for i, p in enumerate(self.params):
            if not isinstance(p, Tensor) or not p.requires_grad or p.op is not None:
                raise TypeError(f"{type(self).__name__}: parameter {i} is not a Tensor made with requires_grad=True, but "
                                + (f"the result of {p.op.name}" if isinstance(p, Tensor) and p.op else repr(p)))
        if len(set(self.params)) < len(self.params):
            raise ValueError(f"{type(self).__name__}: the same parameter is given twice")
        if not lr >= 0:
            raise ValueError(f"{type(self).__name__}: lr must not be negative, and is {lr}")
        self.lr = lr
        self.steps = [0] * len(self.params)  # of each parameter, which may join late
        self._memory = [[np.zeros(p.shape, p.dtype) for _ in self.memories] for p in self.params]

    def step(self):
        """Update every parameter that has a gradient; those without one stay as they are."""
        for i, p in enumerate(self.params):
            if p.grad is not None:
                self.steps[i] += 1
                p.data -= self._update(p.grad, p, self.steps[i], *self._memory[i])

    def zero_grad(self):
        """Forget every parameter's gradient."""
        for p in self.params:
            p.zero_grad()

    def _state(self):
        named = {f"{name}.{i}": array for i, memory in enumerate(self._memory)
                 for name, array in zip(self.memories, memory)}
        return {"steps": np.array(self.steps), **named}

    def _set_state(self, state):
        self.steps = np.asarray(state["steps"]).tolist()
        for i, memory in enumerate(self._memory):
            for name, array in zip(self.memories, memory):
                array[...] = state[f"{name}.{i}"]


class SGD(Optimizer):
    """p ← p − lr·v with v ← momentum·v + g, PyTorch's form; plain gradient descent without momentum.

    `weight_decay` adds weight_decay·p to the gradient.
    """

    memories = ("velocity",)

    def __init__(self, params, lr=1e-3, momentum=0.0, weight_decay=0.0):
        super().__init__(params, lr)
        self.momentum, self.weight_decay = momentum, weight_decay

    def _update(self, g, p, step, velocity):
        if self.weight_decay:
            g = g + self.weight_decay * p.data
        if self.momentum:
            velocity *= self.momentum
            velocity += g
            g = velocity
        return self.lr * g


class Adam(Optimizer):
    """p ← p − lr·m̂/(√v̂ + eps), with running means m of g and v of g² freed of their start at zero.

    Kingma and Ba (2015), algorithm 1.
    """

    memories = ("m", "v")

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, lr)
        self.betas, self.eps = betas, eps

    def _update(self, g, p, step, m, v):
        beta1, beta2 = self.betas
        m += (1 - beta1) * (g - m)
        v += (1 - beta2) * (g * g - v)
        m_hat = m / (1 - beta1 ** step)
        v_hat = v / (1 - beta2 ** step)
        return self.lr * m_hat / (np.sqrt(v_hat) + self.eps)
