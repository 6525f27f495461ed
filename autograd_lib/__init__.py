"""A small automatic differentiation engine, built on NumPy and written to be read.

To read the source, start with tape.py, and then read ops.py.
"""

__version__ = "0.1.0"

from . import operators as _operators  # attaches the operators to Tensor
from .hints import missing as _missing
from .ops import (
    abs,
    add,
    broadcast_to,
    clip,
    concatenate,
    conv2d,
    cos,
    divide,
    dot,
    einsum,
    exp,
    expand_dims,
    flip,
    fold,
    gelu,
    log,
    log_softmax,
    logsumexp,
    matmul,
    max,
    maximum,
    mean,
    min,
    minimum,
    multiply,
    negative,
    nll_loss,
    pad,
    power,
    relu,
    reshape,
    sigmoid,
    sin,
    softmax,
    softplus,
    split,
    sqrt,
    squeeze,
    stack,
    std,
    subtract,
    sum,
    swapaxes,
    tanh,
    transpose,
    unfold,
    var,
    where,
)
from . import data, nn, optim
from .check import check_grads
from .checkpoint import checkpoint
from .rows import bilinear, elementwise, linear, primitive
from .levels import no_grad
from .tape import Tensor
from .compiler import compile
from .transforms import grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp


def __getattr__(name):
    """Raise AttributeError for a name that this package lacks, with advice if there is any."""
    for module in (nn, nn.functional, nn.utils, optim, data):
        if getattr(vars(module).get(name), "__module__", None) == module.__name__:
            raise AttributeError(
                f"autograd_lib has no attribute {name!r}: use {module.__name__}.{name}"
            )
    raise _missing("autograd_lib", name)
