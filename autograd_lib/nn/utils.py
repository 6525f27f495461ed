"""Functions that act on all gradients of a model, as in torch.nn.utils."""

import numpy as np

from ..tape import Tensor


def clip_grad_norm_(parameters, max_norm):
    """Scale all gradients by one factor so that their total norm is at most `max_norm`.

    The total norm is that of one vector with the entries of all gradients. The direction of this
    vector stays the same, whereas clipping each entry would change the direction. Parameters
    without a gradient are skipped.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
        Parameters such as model.parameters().
    max_norm : float
        The largest total norm that is allowed.

    Returns
    -------
    float
        The total norm before scaling.

    Raises
    ------
    TypeError
        If `parameters` is a module, a function, or contains something other than Tensors.
    ValueError
        If `max_norm` is negative or not a number, or the norm is not finite. The gradients are then
        unchanged.

    References
    ----------
    Pascanu et al. (2013), algorithm 1.
    """
    if callable(parameters):  # a module, or its method without brackets
        raise TypeError(
            "clip_grad_norm_: expected a list of parameters such as model.parameters(), "
            f"got {type(parameters).__name__}"
        )
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    for i, p in enumerate(parameters):
        if not isinstance(p, Tensor):
            raise TypeError(
                f"clip_grad_norm_: parameter {i} must be a Tensor, got {type(p).__name__}"
            )
    parameters = [p for p in parameters if p.grad is not None]
    grads = [p.grad.astype(float) for p in parameters]
    norm = largest = max((float(np.abs(g).max(initial=0)) for g in grads), default=0.0)
    if 0 < largest < np.inf:  # divided out first, because its square might overflow
        norm = largest * float(np.sqrt(sum(np.sum((g / largest) ** 2) for g in grads)))
    if np.ndim(max_norm) or np.asarray(max_norm).dtype.kind not in "biuf" or not max_norm >= 0:
        raise ValueError(f"clip_grad_norm_: expected a number max_norm >= 0, got {max_norm!r}")
    if not np.isfinite(norm):
        raise ValueError(
            f"clip_grad_norm_: the norm of the gradients is {norm}, because an entry is infinite "
            "or nan; scaling cannot fix it, so find the cause in the loss, or skip this step"
        )
    if norm > max_norm:
        for p, g in zip(parameters, grads):
            p.grad = np.asarray(g * (max_norm / norm), p.dtype)
    return norm
