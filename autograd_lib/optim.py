"""Optimizers and learning-rate schedules, in PyTorch's names. A user of the engine's public interface, nothing more."""

import math

import numpy as np

from .state import Stateful
from .tape import Tensor


class Optimizer(Stateful):
    """Holds the parameters and what is remembered of their gradients; subclasses write `_update`.

    Parameters
    ----------
    params : iterable of Tensors that require a gradient
    lr : learning rate, the factor of every step; the attribute `lr` may be changed between steps
    weight_decay : how strongly every weight is pulled towards 0

    Raises
    ------
    ValueError
        If there are no parameters, one is given twice, or a setting is negative or, for running means, not below 1.
    TypeError
        If one of them is not a leaf that requires a gradient.
    """

    memories = ()  # the names of the arrays kept per parameter, all zero before the first step

    def __init__(self, params, lr, weight_decay):
        self.params = list(params)
        if not self.params:
            raise ValueError(f"{type(self).__name__}: there are no parameters to optimize")
        for i, p in enumerate(self.params):
            if not isinstance(p, Tensor) or not p.requires_grad or p.op is not None:
                raise TypeError(f"{type(self).__name__}: parameter {i} is not a Tensor made with requires_grad=True, but "
                                + (f"the result of {p.op.name}" if isinstance(p, Tensor) and p.op else repr(p)))
        if len(set(self.params)) < len(self.params):
            raise ValueError(f"{type(self).__name__}: the same parameter is given twice")
        self._demand(lr=lr, weight_decay=weight_decay)
        self.lr, self.weight_decay = lr, weight_decay
        self.steps = [0] * len(self.params)  # of each parameter, which may join late
        self._memory = [[np.zeros(p.shape, p.dtype) for _ in self.memories] for p in self.params]

    def _demand(self, below=math.inf, **settings):
        for name, value in settings.items():
            if not 0 <= value < below:
                raise ValueError(f"{type(self).__name__}: {name} must be at least 0" + f" and less than {below}" * (below < math.inf)
                                 + f", and is {value}")

    def step(self):
        """Update every parameter that has a gradient; those without one stay as they are. Raises ValueError if a `.grad` that was
        set by hand has not its parameter's shape."""
        for i, p in enumerate(self.params):
            if p.grad is not None:
                if p.grad.shape != p.shape:
                    raise ValueError(f"{type(self).__name__}: parameter {i} has shape {p.shape}, and its .grad {p.grad.shape}")
                self.steps[i] += 1
                p.data -= self._update(p.grad, p, self.steps[i], *self._memory[i])

    def _decayed(self, g, p):
        """The gradient with that of the penalty ½·weight_decay·p² added."""
        return g + self.weight_decay * p.data if self.weight_decay else g

    def zero_grad(self):
        """Forget every parameter's gradient."""
        for p in self.params:
            p.zero_grad()

    def _state(self):
        named = {f"{name}.{i}": array for i, memory in enumerate(self._memory)
                 for name, array in zip(self.memories, memory)}
        return {"lr": np.array(self.lr), "steps": np.array(self.steps), **named}

    def _set_state(self, state):
        self.lr = float(state["lr"])
        self.steps = np.asarray(state["steps"]).tolist()
        for i, memory in enumerate(self._memory):
            for name, array in zip(self.memories, memory):
                array[...] = state[f"{name}.{i}"]


class SGD(Optimizer):
    """p ← p − lr·v with v ← momentum·v + g, PyTorch's form; plain gradient descent without momentum.

    With `nesterov` the step is lr·(g + momentum·v): the gradient as it would act after the next stretch of momentum
    (Sutskever et al. 2013, in the form that needs no second evaluation). `weight_decay` adds weight_decay·p to the gradient.
    Raises ValueError for `nesterov` without momentum.
    """

    memories = ("velocity",)

    def __init__(self, params, lr=1e-3, momentum=0.0, nesterov=False, weight_decay=0.0):
        super().__init__(params, lr, weight_decay)
        if nesterov and not momentum > 0:
            raise ValueError(f"SGD: nesterov looks ahead along the momentum, so momentum must be above 0, and is {momentum}")
        self._demand(momentum=momentum)
        self.momentum, self.nesterov = momentum, nesterov

    def _update(self, g, p, step, velocity):
        g = self._decayed(g, p)
        if self.momentum:
            velocity *= self.momentum
            velocity += g
            g = g + self.momentum * velocity if self.nesterov else velocity
        return self.lr * g


class RMSprop(Optimizer):
    """p ← p − lr·g/(√v + eps) with the running mean v ← alpha·v + (1 − alpha)·g²; both start at zero.

    Tieleman and Hinton (2012), lecture 6.5, in PyTorch's form. `weight_decay` adds weight_decay·p to the gradient.
    """

    memories = ("v",)

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0.0):
        super().__init__(params, lr, weight_decay)
        self._demand(below=1, alpha=alpha)
        self._demand(eps=eps)
        self.alpha, self.eps = alpha, eps

    def _update(self, g, p, step, v):
        g = self._decayed(g, p)
        v += (1 - self.alpha) * (g * g - v)
        return self.lr * g / (np.sqrt(v) + self.eps)


class Adam(Optimizer):
    """p ← p − lr·m̂/(√v̂ + eps), with running means m of g and v of g² freed of their start at zero.

    Kingma and Ba (2015), algorithm 1. `weight_decay` adds weight_decay·p to the gradient.
    """

    memories = ("m", "v")

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        super().__init__(params, lr, weight_decay)
        for beta in betas:
            self._demand(below=1, betas=beta)
        self._demand(eps=eps)
        self.betas, self.eps = betas, eps

    def _update(self, g, p, step, m, v):
        g = self._decayed(g, p)
        beta1, beta2 = self.betas
        m += (1 - beta1) * (g - m)
        v += (1 - beta2) * (g * g - v)
        m_hat = m / (1 - beta1 ** step)
        v_hat = v / (1 - beta2 ** step)
        return self.lr * m_hat / (np.sqrt(v_hat) + self.eps)


class AdamW(Adam):
    """Adam, with the weights decayed beside the gradient and not through it: p ← p − lr·weight_decay·p − Adam's step.

    Loshchilov and Hutter (2019), algorithm 2, in PyTorch's form: there no running mean rescales the decay.
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        super().__init__(params, lr, betas, eps, weight_decay)

    def _decayed(self, g, p):
        return g

    def _update(self, g, p, step, m, v):
        return self.lr * self.weight_decay * p.data + super()._update(g, p, step, m, v)


class LRScheduler(Stateful):
    """Sets an optimizer's `lr` anew at every `step()`, which is called after the optimizer's own; subclasses write `_factor`.

    The rate is the one the optimizer had at the start times `_factor(last_epoch)`, where `last_epoch` counts the calls:
    batches or passes over the data, as you call it. An optimizer has one schedule, and a rate set by hand in between is overwritten.
    Raises ValueError if the rate would be negative.
    """

    def __init__(self, optimizer):
        self.optimizer, self.base_lr, self.last_epoch = optimizer, optimizer.lr, 0
        self._apply()

    def step(self):
        self.last_epoch += 1
        self._apply()

    def _apply(self):
        lr = self.base_lr * self._factor(self.last_epoch)
        if not lr >= 0:
            raise ValueError(f"{type(self).__name__}: at epoch {self.last_epoch} the rate would be {lr}")
        self.optimizer.lr = lr

    def _state(self):
        return {"base_lr": np.array(self.base_lr), "last_epoch": np.array(self.last_epoch)}

    def _set_state(self, state):
        self.base_lr, self.last_epoch = float(state["base_lr"]), int(state["last_epoch"])
        self._apply()


class LambdaLR(LRScheduler):
    """The starting rate times `lr_lambda(epoch)`, a function of the count; linear warm-up is `lambda epoch: min(1, (epoch + 1) / 100)`."""

    def __init__(self, optimizer, lr_lambda):
        self._factor = lr_lambda
        super().__init__(optimizer)


class StepLR(LRScheduler):
    """The starting rate, times `gamma` after every `step_size` calls."""

    def __init__(self, optimizer, step_size, gamma=0.1):
        if not step_size >= 1:
            raise ValueError(f"StepLR: step_size must be at least 1, and is {step_size}")
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer)

    def _factor(self, epoch):
        return self.gamma ** (epoch // self.step_size)


class CosineAnnealingLR(LRScheduler):
    """Half a cosine wave from the starting rate at call 0 down to 0 at call `T_max`: (1 + cos(π·epoch/T_max))/2 of it.

    Loshchilov and Hutter (2017), equation 5 without restarts.
    """

    def __init__(self, optimizer, T_max):
        if not T_max > 0:
            raise ValueError(f"CosineAnnealingLR: T_max must be above 0, and is {T_max}")
        self.T_max = T_max
        super().__init__(optimizer)

    def _factor(self, epoch):
        return (1 + math.cos(math.pi * epoch / self.T_max)) / 2
