"""What is done to the gradients of a whole model, as in torch.nn.utils."""

import numpy as np

from ..tape import Tensor, commit


def clip_grad_norm_(parameters, max_norm):
    """Scale all gradients together so that their common norm is at most `max_norm`; returns the norm before, a float.

    The direction of the whole gradient stays; clipping each entry would change it (Pascanu et al. 2013, algorithm 1). Parameters
    without a gradient are passed over. Raises ValueError, with the gradients unchanged, if the norm is not finite or
    `max_norm` is negative.
    """
    if callable(parameters):  # a module, or its method without brackets
        raise TypeError(
            "clip_grad_norm_: a list of parameters is needed, as model.parameters() gives it, "
            f"not {type(parameters).__name__}"
        )
    parameters = [
        p
        for p in ([parameters] if isinstance(parameters, Tensor) else parameters)
        if p.grad is not None
    ]
    grads = [p.grad.astype(float) for p in parameters]
    largest = max(
        (float(np.abs(g).max(initial=0)) for g in grads), default=0.0
    )  # taken out, or its square might overflow
    norm = (
        largest * float(np.sqrt(sum(np.sum((g / largest) ** 2) for g in grads)))
        if 0 < largest < np.inf
        else largest
    )
    if not max_norm >= 0:
        raise ValueError(f"clip_grad_norm_: max_norm must not be negative, and is {max_norm}")
    if not np.isfinite(norm):
        raise ValueError(
            f"clip_grad_norm_: the norm of the gradients is {norm}; an entry is infinite or nan, and no factor mends that"
        )
    if norm > max_norm:
        commit(
            [
                (setattr, p, "grad", np.asarray(g * (max_norm / norm), p.dtype))
                for p, g in zip(parameters, grads)
            ]
        )
    return norm
