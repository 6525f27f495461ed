"""Optimizers and learning-rate schedules, in PyTorch's names. A user of the engine's public interface, nothing more."""

import math
from operator import setitem

import numpy as np

from .state import Stateful
from .tape import Tensor, as_array, commit, replacing

# Of other settings: 0 and infinity.
_BOUNDS = {"alpha": (0, 1), "betas": (0, 1), "step_size": (1, math.inf), "T_max": (1, math.inf)}


def __getattr__(name):
    """The names of torch.optim that are not here."""
    raise AttributeError(
        f"autograd_lib.optim has no {name}: it has SGD, RMSprop, Adam and AdamW, and the schedules "
        "LambdaLR, StepLR and CosineAnnealingLR; another is an Optimizer with an _update method"
    )


def _demand(owner, **settings):
    kind = type(owner).__name__
    for name, given in settings.items():
        count, (least, below) = (2 if name == "betas" else 1), _BOUNDS.get(name, (0, math.inf))
        values = given if count == 2 and isinstance(given, (tuple, list)) else [given]
        if len(values) != count or any(
            np.ndim(v) or np.asarray(v).dtype.kind not in "biuf" for v in values
        ):
            raise TypeError(
                f"{kind}: {name} must be {'two numbers' if count == 2 else 'a number'}, not {given!r}"
            )
        if not all(least <= v < below for v in values):
            raise ValueError(
                f"{kind}: {name} must be at least {least} and less than {below}, and is {given}"
            )


class Optimizer(Stateful):
    """Holds the parameters and what is remembered of their gradients; subclasses write `_update`.

    Parameters
    ----------
    params : iterable of Tensors that require a gradient, or a list of dicts, each a group with settings of its own:
        `[{"params": weights, "weight_decay": 0.1}, {"params": biases}]`
    settings : of every group that does not say otherwise; `lr`, the factor of every step, and `weight_decay`, how
        strongly every weight is pulled towards 0, are common to all optimizers

    `param_groups` is the list of groups, as in PyTorch. `lr` is the rate of the first; to assign it sets that of all.
    A group's `lr` may be replaced there by an array that broadcasts to its parameters: a rate for each entry. It cannot be saved.

    Raises ValueError if there are no parameters, one is given twice, or a setting is negative or, for running means,
    not below 1; and TypeError if one of them is no leaf that requires a gradient, or a group has a setting that is
    not known.
    """

    memories = ()  # the names of the arrays kept per parameter, all zero before the first step

    def __init__(self, params, **settings):
        name = type(self).__name__
        if (
            isinstance(params, (Tensor, dict))
            or callable(params)
            or not hasattr(params, "__iter__")
        ):
            raise TypeError(
                f"{name}: a list of parameters is needed, as model.parameters() gives it, "
                f"not {type(params).__name__}"
            )
        groups = list(params)
        if not any(isinstance(group, dict) for group in groups):
            groups = [{"params": groups}]
        self.param_groups, self.params = [], []
        for group in groups:
            if (
                not isinstance(group, dict)
                or "params" not in group
                or group.keys() - {"params", *settings}
            ):
                raise TypeError(
                    f'{name}: a group is a dict of "params" and of settings among {", ".join(settings)}, '
                    f"not {group!r}"
                )
            mine = (
                (group["params"],)
                if isinstance(group["params"], Tensor)
                else tuple(group["params"])
            )
            self.param_groups.append({**settings, **group, "params": mine})
            _demand(
                self,
                **{key: value for key, value in self.param_groups[-1].items() if key != "params"},
            )
            self.params += mine
        if not self.params:
            raise ValueError(f"{name}: there are no parameters to optimize")
        for i, p in enumerate(self.params):
            if not isinstance(p, Tensor) or not p.requires_grad or p.op is not None:
                raise TypeError(
                    f"{name}: parameter {i} is not a Tensor made with requires_grad=True, but "
                    + (f"the result of {p.op.name}" if isinstance(p, Tensor) and p.op else repr(p))
                )
        if len(set(self.params)) < len(self.params):
            raise ValueError(f"{name}: the same parameter is given twice")
        self.steps = [0] * len(self.params)  # of each parameter, which may join late
        self._memory = [
            [np.zeros(p.shape, np.result_type(p.dtype, np.float32)) for _ in self.memories]
            for p in self.params
        ]

    @property
    def lr(self):
        return self.param_groups[0]["lr"]

    @lr.setter
    def lr(self, value):
        _demand(self, lr=value)
        commit([(setitem, group, "lr", value) for group in self.param_groups])

    def step(self):
        """Update every parameter that has a gradient; those without one stay as they are.

        Raises TypeError or ValueError if a `.grad` that was set by hand is not an array of its parameter's shape. Then
        nothing has changed, and so if it is interrupted. So, too, if an array put in for `lr` does not broadcast to a parameter.
        """
        updates, steps, memory, i = [], self.steps.copy(), self._memory.copy(), -1
        for group in self.param_groups:
            settings = {name: value for name, value in group.items() if name != "params"}
            for p in group["params"]:
                i += 1
                g, value = p.grad, p.data
                if g is None:
                    continue
                if (
                    type(g) is not np.ndarray
                    or g.shape != value.shape
                    or g.dtype != value.dtype
                    or g.itemsize < 4
                ):
                    g = self._gradient(i, p)
                steps[i] += 1
                change, *memory[i] = self._update(g, value, steps[i], *memory[i], **settings)
                if change.shape != value.shape:
                    raise ValueError(
                        f"{type(self).__name__}: parameter {i} has shape {value.shape}, and its step {change.shape}: "
                        "does the lr in param_groups broadcast to the parameter?"
                    )
                new = np.subtract(value, change, out=change if change.ndim else None)
                updates.append((p, new if new.dtype == value.dtype else new.astype(value.dtype)))
        commit(
            [
                *replacing(updates),
                (setattr, self, "steps", steps),
                (setattr, self, "_memory", memory),
            ]
        )

    def _gradient(self, i, p):
        """The gradient of parameter `i`, if it was set by hand or is a float16, which would not hold its square."""
        g = as_array(p.grad, f"{type(self).__name__}: the .grad of parameter {i}")
        if g.shape != p.shape:
            raise ValueError(
                f"{type(self).__name__}: parameter {i} has shape {p.shape}, and its .grad {g.shape}"
            )
        return g.astype(np.result_type(p.dtype, np.float32))

    def _update(self, g, p, step, *memory, **settings):
        """What is taken from `p`, an array of its own, given the gradient `g`; and new arrays to remember in place of
        those of `memory`. `step` counts from 1. `settings` are the group's.
        """
        raise NotImplementedError(f"{type(self).__name__} has no _update method")

    def zero_grad(self):
        """Forget every parameter's gradient."""
        commit([(setattr, p, "grad", None) for p in self.params])

    def _state(self):
        named = {
            f"{name}.{i}": array
            for i, memory in enumerate(self._memory)
            for name, array in zip(self.memories, memory)
        }
        return {
            "lr": _rates([group["lr"] for group in self.param_groups]),
            "steps": np.array(self.steps),
            **named,
        }

    def _changes(self, state):
        memory = [[state[f"{name}.{i}"] for name in self.memories] for i in range(len(self.params))]
        rates = state["lr"].ravel().tolist()
        for lr in rates:
            _demand(self, lr=lr)
        return [
            *((setitem, group, "lr", lr) for group, lr in zip(self.param_groups, rates)),
            (setattr, self, "steps", state["steps"].tolist()),
            (setattr, self, "_memory", memory),
        ]


def _rates(rates):
    """One rate per group; a single one as a number. Raises TypeError for a rate per entry, which a state does not hold."""
    if any(map(np.ndim, rates)):
        raise TypeError("an lr that is an array is not saved: set a number in param_groups first")
    return np.array(rates if len(rates) > 1 else rates[0], float)


def _decayed(g, p, weight_decay):
    """The gradient with that of the penalty ½·weight_decay·p² added."""
    return g + weight_decay * p if weight_decay else g


class SGD(Optimizer):
    """p ← p − lr·v with v ← momentum·v + g, PyTorch's form; plain gradient descent without momentum.

    With `nesterov` the step is lr·(g + momentum·v): the gradient as it would act after the next stretch of momentum
    (Sutskever et al. 2013, in the form that needs no second evaluation). `weight_decay` adds weight_decay·p to the gradient.
    Raises ValueError for `nesterov` without momentum.
    """

    memories = ("velocity",)

    def __init__(self, params, lr=1e-3, momentum=0.0, nesterov=False, weight_decay=0.0):
        super().__init__(
            params, lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay
        )
        if any(group["nesterov"] and not group["momentum"] > 0 for group in self.param_groups):
            raise ValueError(
                "SGD: nesterov looks ahead along the momentum, so momentum must be above 0"
            )

    def _update(self, g, p, step, velocity, lr, momentum, nesterov, weight_decay):
        g = _decayed(g, p, weight_decay)
        if momentum:
            velocity = momentum * velocity + g
            g = g + momentum * velocity if nesterov else velocity
        return lr * g, velocity


class RMSprop(Optimizer):
    """p ← p − lr·g/(√v + eps) with the running mean v ← alpha·v + (1 − alpha)·g², zero at the start.

    Tieleman and Hinton (2012), lecture 6.5, in PyTorch's form. `weight_decay` adds weight_decay·p to the gradient.
    """

    memories = ("v",)

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0.0):
        super().__init__(params, lr=lr, alpha=alpha, eps=eps, weight_decay=weight_decay)

    def _update(self, g, p, step, v, lr, alpha, eps, weight_decay):
        g = _decayed(g, p, weight_decay)
        v = (
            alpha * v + (1 - alpha) * g * g
        )  # not v + (1 − alpha)·(g² − v), where a large v rounds g² away
        return lr * g / (np.sqrt(v) + eps), v


class Adam(Optimizer):
    """p ← p − lr·m̂/(√v̂ + eps), with running means m of g and v of g² freed of their start at zero.

    Kingma and Ba (2015), algorithm 1. `weight_decay` adds weight_decay·p to the gradient.
    """

    memories = ("m", "v")

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        super().__init__(params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)

    def _update(self, g, p, step, m, v, lr, betas, eps, weight_decay):
        g, (beta1, beta2) = _decayed(g, p, weight_decay), betas
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        m_hat = m / (1 - beta1**step)
        v_hat = v / (1 - beta2**step)
        return lr * m_hat / (np.sqrt(v_hat) + eps), m, v


class AdamW(Adam):
    """Adam, with the weights decayed beside the gradient and not through it: p ← p − lr·weight_decay·p − Adam's step.

    Loshchilov and Hutter (2019), algorithm 2, in PyTorch's form: there no running mean rescales the decay.
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        super().__init__(params, lr, betas, eps, weight_decay)

    def _update(self, g, p, step, m, v, lr, betas, eps, weight_decay):
        change, m, v = super()._update(g, p, step, m, v, lr, betas, eps, 0)
        return lr * weight_decay * p + change, m, v


class LRScheduler(Stateful):
    """Sets an optimizer's `lr` anew at every `step()`, which is called after the optimizer's own; subclasses write `_factor`.

    The rate of each group is the one it had at the start, in `base_lrs`, times `_factor(last_epoch)`, where
    `last_epoch` counts the calls: batches or passes over the data, as you call it. An optimizer has one schedule, and a
    rate set by hand in between is overwritten. Raises TypeError if there is no optimizer, ValueError if a factor is
    negative; then nothing has changed.
    """

    def __init__(self, optimizer):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(
                f"{type(self).__name__}: the optimizer is needed first, not {type(optimizer).__name__}"
            )
        self.optimizer = optimizer
        commit(self._at(0, [group["lr"] for group in optimizer.param_groups]))

    def step(self):
        commit(self._at(self.last_epoch + 1, self.base_lrs))

    def _at(self, epoch, base_lrs):
        """The changes that this epoch brings."""
        factor = self._factor(epoch)
        _demand(self, **{f"the factor at epoch {epoch}": factor})
        return [
            (setattr, self, "last_epoch", epoch),
            (setattr, self, "base_lrs", base_lrs),
            *(
                (setitem, group, "lr", lr * factor)
                for group, lr in zip(self.optimizer.param_groups, base_lrs)
            ),
        ]

    def _state(self):
        return {"base_lr": _rates(self.base_lrs), "last_epoch": np.array(self.last_epoch)}

    def _changes(self, state):
        return self._at(int(state["last_epoch"]), state["base_lr"].ravel().tolist())


class LambdaLR(LRScheduler):
    """The starting rate times `lr_lambda(epoch)`, a function of the count; linear warm-up is `lambda epoch: min(1, (epoch + 1) / 100)`."""

    def __init__(self, optimizer, lr_lambda):
        if not callable(lr_lambda):
            raise TypeError(f"LambdaLR: lr_lambda is a function of the epoch, not {lr_lambda!r}")
        self._factor = lr_lambda
        super().__init__(optimizer)


class StepLR(LRScheduler):
    """The starting rate, times `gamma` after every `step_size` calls."""

    def __init__(self, optimizer, step_size, gamma=0.1):
        _demand(self, step_size=step_size, gamma=gamma)
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer)

    def _factor(self, epoch):
        return self.gamma ** (epoch // self.step_size)


class CosineAnnealingLR(LRScheduler):
    """Half a cosine wave from the starting rate at call 0 down to 0 at call `T_max`: (1 + cos(π·epoch/T_max))/2 of it.

    Loshchilov and Hutter (2017), equation 5 without restarts.
    """

    def __init__(self, optimizer, T_max):
        _demand(self, T_max=T_max)
        self.T_max = T_max
        super().__init__(optimizer)

    def _factor(self, epoch):
        return (1 + math.cos(math.pi * epoch / self.T_max)) / 2
