"""Optimizers and learning-rate schedules, with PyTorch's names."""

import math
from copy import copy
from operator import setitem

import numpy as np

from .hints import check_function, plain_words
from .state import Stateful, clear_grads
from .tape import Tensor
from .values import as_array, assignments, commit

# The range of a setting, (least, below). Settings that are not listed are finite and at least 0.
_BOUNDS = {"alpha": (0, 1), "betas": (0, 1), "step_size": (1, math.inf), "T_max": (1, math.inf)}


def __getattr__(name):
    """Raise AttributeError for a name of torch.optim that is missing here."""
    raise AttributeError(
        f"autograd_lib.optim has no attribute {name!r}: use SGD, RMSprop, Adam or AdamW, with "
        "LambdaLR, StepLR or CosineAnnealingLR; or write a subclass of Optimizer with an _update method"
    )


def _check_settings(owner, settings):
    """Raise an error if a value in the dict `settings` is not a number in the allowed range.

    The error is a TypeError or a ValueError, and names the class of `owner` and the setting.
    """
    kind = type(owner).__name__
    for name, given in settings.items():
        count, (least, below) = (2 if name == "betas" else 1), _BOUNDS.get(name, (0, math.inf))
        values = given if count == 2 and isinstance(given, (tuple, list)) else [given]
        if len(values) != count or any(
            isinstance(v, Tensor) or np.ndim(v) or np.asarray(v).dtype.kind not in "biuf"
            for v in values
        ):
            raise TypeError(
                f"{kind}: {name} must be {'two numbers' if count == 2 else 'a number'}, "
                f"got {given!r:.80}"
            )
        if not all(least <= v < below for v in values):
            bounds = (
                f"a finite {name} >= {least}" if below == math.inf else f"0 <= {name} < {below}"
            )
            raise ValueError(f"{kind}: expected {bounds}, got {given}")


class Optimizer(Stateful):
    """Base class of optimizers: holds the parameters, their settings, and state for each parameter.

    A subclass lists the names of its state arrays in `state_names`, and computes the step of a
    parameter in `_update`.

    Parameters
    ----------
    params : iterable of Tensor or of dict
        Leaves that require a gradient, in an order that stays the same; or groups, which are dicts
        with their own settings, as in
        `[{"params": weights, "weight_decay": 0.1}, {"params": biases}]`.
    **settings : float, bool or tuple
        Settings for all groups that do not have their own value. All optimizers have `lr`, the
        learning rate, and `weight_decay`, which pulls every weight towards 0.

    Attributes
    ----------
    param_groups : list of dict
        The groups, as in PyTorch. The "lr" of a group may be replaced by an array that broadcasts
        to its parameters and holds a learning rate for each entry; such an array cannot be saved.
    lr : float
        The learning rate of the first group. Assigning to it sets the learning rate of all groups.

    Raises
    ------
    TypeError
        If `params` is a set or not iterable, a parameter is not a leaf that requires a gradient, a
        group has an unknown setting, or a setting is not a number.
    ValueError
        If there are no parameters, a parameter is given twice, or a setting is out of range.
    """

    state_names = ()  # the arrays kept for each parameter, all zero before the first step

    def __init__(self, params, **settings):
        name = type(self).__name__
        if (
            isinstance(params, (Tensor, dict, set, frozenset))
            or callable(params)
            or not hasattr(params, "__iter__")
        ):
            raise TypeError(
                f"{name}: expected a list of parameters such as model.parameters(), "
                f"got {type(params).__name__}"
            )
        params = list(params)
        groups = params if any(isinstance(p, dict) for p in params) else [{"params": params}]
        self.param_groups, self.params = [], []
        for group in groups:
            if (
                not isinstance(group, dict)
                or "params" not in group
                or group.keys() - {"params", *settings}
            ):
                raise TypeError(
                    f'{name}: expected each group to be a dict with "params" and any of the settings '
                    f"{', '.join(settings)}, got "
                    + (f"the keys {[*group]}" if isinstance(group, dict) else f"{group!r:.80}")
                )
            params = group["params"]
            if isinstance(params, (set, frozenset)):
                raise TypeError(
                    f'{name}: expected "params" of a group to be a list, got '
                    f"{type(params).__name__}"
                )
            params = (params,) if isinstance(params, Tensor) else tuple(params)
            group = {**settings, **group}
            self._check_group(group)
            self.param_groups.append({**group, "params": params})
            self.params += params
        if not self.params:
            raise ValueError(f"{name}: expected at least one parameter, got an empty list")
        for i, p in enumerate(self.params):
            if not isinstance(p, Tensor) or not p.requires_grad or p.op is not None:
                got = f"the result of {p.op.name}" if isinstance(p, Tensor) and p.op else repr(p)
                raise TypeError(
                    f"{name}: expected parameter {i} to be a Tensor made with requires_grad=True, "
                    f"got {got}"
                )
        if len(set(self.params)) < len(self.params):
            raise ValueError(f"{name}: the same parameter is given twice; pass each parameter once")
        self.steps = [0] * len(self.params)  # counted per parameter, because one may join late
        self._memory = [
            [np.zeros(p.shape, np.result_type(p.dtype, np.float32)) for _ in self.state_names]
            for p in self.params
        ]

    def __getattr__(self, name):
        """Raise AttributeError, with advice for `add_param_group` of PyTorch's optimizers."""
        raise AttributeError(
            f"{type(self).__name__} has no attribute {name!r}"
            + ": pass all groups when you create the optimizer" * (name == "add_param_group"),
            name=name,
            obj=self,
        )

    def _check_group(self, group):
        """Raise TypeError or ValueError if a setting in the dict `group` is not valid."""
        _check_settings(self, {name: value for name, value in group.items() if name != "params"})

    @property
    def lr(self):
        """The learning rate of the first group; assigning to it sets that of all groups."""
        return self.param_groups[0]["lr"]

    @lr.setter
    def lr(self, value):
        _check_settings(self, {"lr": value})
        for group in self.param_groups:
            group["lr"] = value

    def step(self, closure=None):
        """Update every parameter that has a gradient, and leave the others unchanged.

        If an error or an interrupt occurs, nothing is changed.

        Parameters
        ----------
        closure : None
            PyTorch's argument, which is not supported.

        Raises
        ------
        TypeError
            If a `closure` is given, or a `.grad` that was set by hand is not an array of real
            numbers.
        ValueError
            If the shape of such a `.grad` differs from that of its parameter, or an array given as
            the "lr" of a group does not broadcast to a parameter.
        """
        if closure is not None:
            raise TypeError(
                f"{type(self).__name__}.step: a closure is not supported; call loss.backward() "
                "and then step()"
            )
        updates, steps, memory, i = [], self.steps.copy(), self._memory.copy(), -1
        for group in self.param_groups:
            settings = {name: value for name, value in group.items() if name != "params"}
            if type(settings["lr"]) is not float and type(settings["lr"]) is not np.ndarray:
                _check_settings(self, {"lr": settings["lr"]})  # it may have been replaced
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
                try:
                    change, *memory[i] = self._update(g, value, steps[i], *memory[i], **settings)
                except ValueError as error:  # NumPy's, if the "lr" of the group does not fit
                    raise ValueError(
                        f"{type(self).__name__}: the step of parameter {i} of shape {value.shape} "
                        f'failed: {plain_words(error)}; an array given as "lr" must broadcast to '
                        "the parameter"
                    ) from error
                if change.shape != value.shape:
                    raise ValueError(
                        f"{type(self).__name__}: the step of parameter {i} has shape "
                        f"{change.shape}, expected {value.shape}; "
                        'an array given as "lr" must broadcast to the parameter'
                    )
                new = np.subtract(value, change, out=change if change.ndim else None)
                updates.append((p, new if new.dtype == value.dtype else new.astype(value.dtype)))
        commit(
            [
                *assignments(updates),
                (setattr, self, "steps", steps),
                (setattr, self, "_memory", memory),
            ]
        )

    def _gradient(self, i, p):
        """Return the `.grad` of `p`, the parameter with number `i`, after checking it.

        A float16 gradient is converted to float32, which can hold its square. Raise TypeError if
        the `.grad` is not an array of real numbers, and ValueError if its shape is not that of `p`.
        """
        g = as_array(p.grad, f"{type(self).__name__}: the .grad of parameter {i}")
        if g.shape != p.shape:
            raise ValueError(
                f"{type(self).__name__}: the .grad of parameter {i} has shape {g.shape}, "
                f"expected {p.shape}"
            )
        return g.astype(np.result_type(p.dtype, np.float32))

    def _update(self, g, p, step, *memory, **settings):
        """Return the step to subtract from `p` as a new array, followed by the new state arrays.

        `g` is the gradient of `p`, `step` counts from 1, `memory` holds the state arrays of `p`,
        and `settings` are the settings of its group.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no _update method; write one that returns the step and "
            "the new state arrays"
        )

    def zero_grad(self, set_to_none=True):
        """Set the gradient of every parameter to None.

        Parameters
        ----------
        set_to_none : bool, default True
            PyTorch's argument; only True is supported.

        Raises
        ------
        ValueError
            If `set_to_none` is False.
        """
        clear_grads(self, self.params, set_to_none)

    def _state(self):
        settings = {
            name: _per_group(name, [group[name] for group in self.param_groups])
            for name in self.param_groups[0]
            if name != "params"
        }
        arrays = {
            f"{name}.{i}": array
            for i, memory in enumerate(self._memory)
            for name, array in zip(self.state_names, memory)
        }
        return {**settings, "steps": np.array(self.steps), **arrays}

    def _changes(self, state):
        memory = [
            [state[f"{name}.{i}"] for name in self.state_names] for i in range(len(self.params))
        ]
        changes = [
            (setattr, self, "steps", state["steps"].tolist()),
            (setattr, self, "_memory", memory),
        ]
        for i, group in enumerate(self.param_groups):
            settings = {name: _of_group(state[name], i, self) for name in group if name != "params"}
            self._check_group(settings)
            changes += [(setitem, group, name, value) for name, value in settings.items()]
        return changes


def _per_group(name, values):
    """Return `values`, the values of the setting `name` in all groups, as an array.

    The first axis has an entry for each group. If there is only one group, this axis is missing.
    Raise TypeError if a learning rate is an array, which cannot be saved.
    """
    if name == "lr" and any(map(np.ndim, values)):
        raise TypeError(
            'state_dict: cannot save "lr" because it is an array; set it to a number in '
            "param_groups first"
        )
    return np.array(
        values if len(values) > 1 else values[0],
        bool if all(isinstance(value, bool) for value in values) else float,
    )


def _of_group(array, i, optimizer):
    """Return the setting of group `i` of `optimizer` from an array made by `_per_group`."""
    value = (array if len(optimizer.param_groups) > 1 else array[None])[i].tolist()
    return tuple(value) if isinstance(value, list) else value


def _with_decay(g, p, weight_decay):
    """Return the gradient `g` plus the gradient of the penalty ½·weight_decay·p²."""
    return g + weight_decay * p if weight_decay else g


class SGD(Optimizer):
    """Gradient descent: p ← p − lr·v, where v ← momentum·v + g, for a parameter p with gradient g.

    Without momentum, v is the gradient. `weight_decay` adds weight_decay·p to the gradient.

    Parameters
    ----------
    params : iterable of Tensor or of dict
        The parameters, or groups of them; see `Optimizer`.
    lr : float, default 1e-3
        Learning rate.
    momentum : float, default 0
        Fraction of the previous velocity v that is kept.
    nesterov : bool, default False
        Subtract lr·(g + momentum·v) instead of lr·v, where v is the new velocity.
    weight_decay : float, default 0
        Strength of the penalty ½·weight_decay·p².

    Raises
    ------
    TypeError, ValueError
        As for `Optimizer`. Also ValueError if `nesterov` is True and `momentum` is 0.

    References
    ----------
    Sutskever et al. (2013) for `nesterov`, in PyTorch's form, which needs no second gradient
    evaluation.
    """

    state_names = ("velocity",)

    def __init__(self, params, lr=1e-3, momentum=0.0, *, nesterov=False, weight_decay=0.0):
        super().__init__(
            params, lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay
        )

    def _check_group(self, group):
        super()._check_group(group)
        if group["nesterov"] and not group["momentum"] > 0:
            raise ValueError("SGD: expected momentum > 0 with nesterov=True, got momentum 0")

    def _update(self, g, p, step, velocity, lr, momentum, nesterov, weight_decay):
        g = _with_decay(g, p, weight_decay)
        if momentum:
            velocity = momentum * velocity + g
            g = g + momentum * velocity if nesterov else velocity
        return lr * g, velocity


class RMSprop(Optimizer):
    """RMSprop: p ← p − lr·g/(√v + eps), where v ← alpha·v + (1 − alpha)·g².

    Here p is a parameter, g is its gradient, and v is a moving average of g². `weight_decay` adds
    weight_decay·p to the gradient.

    Parameters
    ----------
    params : iterable of Tensor or of dict
        The parameters, or groups of them; see `Optimizer`.
    lr : float, default 1e-2
        Learning rate.
    alpha : float, default 0.99
        Fraction of the moving average that is kept in each step.
    eps : float, default 1e-8
        Added to the denominator.
    weight_decay : float, default 0
        Strength of the penalty ½·weight_decay·p².

    Raises
    ------
    TypeError, ValueError
        As for `Optimizer`.

    References
    ----------
    Tieleman and Hinton (2012), lecture 6.5, in PyTorch's form.
    """

    state_names = ("v",)

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0.0):
        super().__init__(params, lr=lr, alpha=alpha, eps=eps, weight_decay=weight_decay)

    def _update(self, g, p, step, v, lr, alpha, eps, weight_decay):
        g = _with_decay(g, p, weight_decay)
        # Not v + (1 − alpha)·(g² − v), where a large v would round g² away.
        v = alpha * v + (1 - alpha) * g * g
        return lr * g / (np.sqrt(v) + eps), v


class Adam(Optimizer):
    """Adam: p ← p − lr·m̂/(√v̂ + eps), with bias-corrected moving averages m̂ of g and v̂ of g².

    Here p is a parameter and g is its gradient. `weight_decay` adds weight_decay·p to the gradient.

    Parameters
    ----------
    params : iterable of Tensor or of dict
        The parameters, or groups of them; see `Optimizer`.
    lr : float, default 1e-3
        Learning rate.
    betas : pair of float, default (0.9, 0.999)
        Fractions of the two moving averages, of g and of g², that are kept in each step.
    eps : float, default 1e-8
        Added to the denominator.
    weight_decay : float, default 0
        Strength of the penalty ½·weight_decay·p².

    Raises
    ------
    TypeError, ValueError
        As for `Optimizer`.

    References
    ----------
    Kingma and Ba (2015), algorithm 1.
    """

    state_names = ("m", "v")

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        super().__init__(params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)

    def _update(self, g, p, step, m, v, lr, betas, eps, weight_decay):
        g, (beta1, beta2) = _with_decay(g, p, weight_decay), betas
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        m_hat = m / (1 - beta1**step)
        v_hat = v / (1 - beta2**step)
        return lr * m_hat / (np.sqrt(v_hat) + eps), m, v


class AdamW(Adam):
    """Adam with decoupled weight decay: p ← p − lr·weight_decay·p − Adam's step.

    The decay is not part of the gradient, so it is not divided by √v̂ as in `Adam`.

    Parameters
    ----------
    params, lr, betas, eps
        As for `Adam`.
    weight_decay : float, default 1e-2
        Each step subtracts the fraction lr·weight_decay of each weight.

    Raises
    ------
    TypeError, ValueError
        As for `Optimizer`.

    References
    ----------
    Loshchilov and Hutter (2019), algorithm 2, in PyTorch's form.
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        super().__init__(params, lr, betas, eps, weight_decay)

    def _update(self, g, p, step, m, v, lr, betas, eps, weight_decay):
        change, m, v = super()._update(g, p, step, m, v, lr, betas, eps, 0)
        return lr * weight_decay * p + change, m, v


class LRScheduler(Stateful):
    """Base class of schedules, which set the learning rate of an optimizer at every `step()`.

    The learning rate of each group is its starting value, in `base_lrs`, times
    `_factor(last_epoch)`, which a subclass computes. `last_epoch` counts the calls of `step`; call
    `step` after each batch or each pass over the data. Use one schedule per optimizer. The next
    `step` overwrites a learning rate that was set by hand.

    A subclass lists in `setting_names` the numbers that are saved with the state.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer whose learning rates are set.
    **settings : float
        Numbers that become attributes of the schedule.

    Raises
    ------
    TypeError
        If `optimizer` is not an Optimizer, or a factor is not a number.
    ValueError
        If a factor is negative or not finite. No learning rate is then changed.
    """

    setting_names = ()  # the numbers that are saved with the state

    def __init__(self, optimizer, **settings):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(
                f"{type(self).__name__}: the first argument must be an optimizer, "
                f"got {type(optimizer).__name__}"
            )
        self.optimizer = optimizer
        base_lrs = [group["lr"] for group in optimizer.param_groups]
        commit(self._changes_at(0, base_lrs, **settings))

    def step(self):
        """Advance `last_epoch` by 1, and set the learning rates for the new epoch."""
        commit(self._changes_at(self.last_epoch + 1, self.base_lrs))

    def _changes_at(self, epoch, base_lrs, **settings):
        """Return the changes, for `commit`, that set the schedule and its optimizer to `epoch`.

        The changes also set `base_lrs` and the attributes in `settings`. Raise TypeError or
        ValueError if a setting is out of range, or the factor at `epoch` is not a finite number
        >= 0.
        """
        _check_settings(self, settings)
        after = copy(self)
        vars(after).update(settings)
        factor = after._factor(epoch)
        _check_settings(self, {f"factor at epoch {epoch}": factor})
        settings |= {"last_epoch": epoch, "base_lrs": base_lrs}
        return [
            *((setattr, self, name, value) for name, value in settings.items()),
            *(
                (setitem, group, "lr", lr * factor)
                for group, lr in zip(self.optimizer.param_groups, base_lrs)
            ),
        ]

    def _state(self):
        return {
            **{name: np.array(getattr(self, name), float) for name in self.setting_names},
            "base_lr": _per_group("lr", self.base_lrs),
            "last_epoch": np.array(self.last_epoch),
        }

    def _changes(self, state):
        settings = {name: state[name].item() for name in self.setting_names}
        return self._changes_at(
            int(state["last_epoch"]), state["base_lr"].ravel().tolist(), **settings
        )


class LambdaLR(LRScheduler):
    """Multiply the starting learning rate by a function of the epoch.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer whose learning rates are set.
    lr_lambda : callable
        Takes the epoch, which counts from 0, and returns the factor. For example,
        `lambda epoch: min(1, (epoch + 1) / 100)` is a linear warm-up.

    Raises
    ------
    TypeError, ValueError
        As for `LRScheduler`. Also TypeError if `lr_lambda` is not callable.
    """

    def __init__(self, optimizer, lr_lambda):
        check_function("LambdaLR: lr_lambda", lr_lambda)
        self._factor = lr_lambda
        super().__init__(optimizer)


class StepLR(LRScheduler):
    """Multiply the learning rate by `gamma` after every `step_size` epochs.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer whose learning rates are set.
    step_size : int
        Number of epochs between two changes.
    gamma : float, default 0.1
        Factor by which each change multiplies the learning rate.

    Raises
    ------
    TypeError, ValueError
        As for `LRScheduler`. Also if `step_size` or `gamma` is not a number, or is out of range.
    """

    setting_names = ("step_size", "gamma")

    def __init__(self, optimizer, step_size, gamma=0.1):
        super().__init__(optimizer, step_size=step_size, gamma=gamma)

    def _factor(self, epoch):
        return self.gamma ** (epoch // self.step_size)


class CosineAnnealingLR(LRScheduler):
    """Lower the learning rate along half a cosine wave, to 0 at epoch `T_max`.

    The starting learning rate is multiplied by (1 + cos(π·epoch/T_max))/2, so the learning rate
    rises again after `T_max`.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer whose learning rates are set.
    T_max : int
        The epoch at which the learning rate is 0.

    Raises
    ------
    TypeError, ValueError
        As for `LRScheduler`. Also if `T_max` is not a number, or is out of range.

    References
    ----------
    Loshchilov and Hutter (2017), equation 5 without restarts.
    """

    setting_names = ("T_max",)

    def __init__(self, optimizer, T_max):
        super().__init__(optimizer, T_max=T_max)

    def _factor(self, epoch):
        return (1 + math.cos(math.pi * epoch / self.T_max)) / 2
