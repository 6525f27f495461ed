"""Explain misuse: names of other libraries, and arguments that a function does not take."""

import functools
import inspect

# Names that PyTorch, JAX or NumPy have and this engine does not, and what to use instead.
_SUBSTITUTES = {
    "view": "reshape(shape)",
    "flatten": "reshape(-1)",
    "ravel": "reshape(-1)",
    "permute": "transpose(axes)",
    "t": "T",
    "unsqueeze": "expand_dims(axis)",
    "expand": "broadcast_to(shape)",
    "clamp": "clip(min, max)",
    "cat": "concatenate([x, y], axis)",
    "vstack": "stack([x, y]) for 1-D arrays, concatenate([x, y]) for others",
    "hstack": "concatenate([x, y]) for 1-D arrays, concatenate([x, y], 1) for others",
    "mm": "@",
    "bmm": "@",
    "mul": "multiply(x, y) or *",
    "sub": "subtract(x, y) or -",
    "div": "divide(x, y) or /",
    "neg": "negative(x) or -",
    "pow": "power(x, y) or **",
    "remainder": "x - y * np.floor(x / y)",
    "mod": "x - y * np.floor(x / y)",
    "fmod": "x - y * np.trunc(x / y)",
    "divmod": "np.floor(x / y) and x - y * np.floor(x / y)",
    "numpy": ".data",
    "tolist": ".data.tolist()",
    "cpu": ".data",
    "size": ".size without brackets, or .shape",
    "numel": ".size",
    "dim": ".ndim",
    "clone": "the Tensor itself, because operations never change it; or .detach() for a constant",
    "copy": "the Tensor itself, because operations never change it; or .detach() for a constant",
    "to": "astype(dtype)",
    "type": "astype(dtype)",
    "float": "astype(np.float32)",
    "double": "astype(float)",
    "half": "astype(np.float16)",
    "int": ".data.astype(int), which is a constant",
    "long": ".data.astype(int), which is a constant",
    "bool": ".data.astype(bool), which is a constant",
    "grad_fn": ".op",
    "is_leaf": ".op is None",
    "requires_grad_": "t.requires_grad = True",
    "zero_": ".zero_grad()",
    "add_": "t.data += … for a leaf, or z = x + y",
    "sub_": "t.data -= … for a leaf, or z = x - y",
    "mul_": "t.data *= … for a leaf, or z = x * y",
    "stop_gradient": ".detach()",
    "tensor": "Tensor",
    "from_numpy": "Tensor",
    "square": "x * x",
    "reciprocal": "1 / x",
    "norm": "(x * x).sum() ** 0.5",
    "prod": "math.prod(x), which multiplies the entries one by one",
    "vdot": "(x * y).sum()",
    "tensordot": "einsum(letters, x, y)",
    "outer": "x.reshape(-1, 1) * y",
    "cumsum": "@ with a triangle of ones, np.tri(n)",
    "take": "x[index]",
    "gather": "x[index]",
    "repeat": "x[index], with indices repeated",
    "sort": "x[np.argsort(x)]",
    "flip": "flip(x, axis) of autograd_lib",
    "split": "split(x, indices_or_sections, axis) of autograd_lib",
    "log1p": "log(1 + x)",
    "log_sigmoid": "-softplus(-x)",
    "silu": "x * sigmoid(x)",
    "leaky_relu": "where(x > 0, x, slope * x)",
    "tan": "sin(x) / cos(x)",
    "randn": "np.random.default_rng(seed).normal(size=shape)",
    "rand": "np.random.default_rng(seed).random(shape)",
    "randint": "np.random.default_rng(seed).integers(low, high, shape)",
    "manual_seed": "np.random.default_rng(seed), and give layers rng=",
    **{
        name: f"np.{name}"
        for name in """zeros ones full eye arange linspace zeros_like ones_like argsort sign floor
            ceil round any all isnan""".split()
    },
}
# Names for which there is no substitute, and why.
_NOTES = {
    "cuda": "the engine runs on the CPU; leave it out",
    "device": "the engine runs on the CPU; leave it out",
    "contiguous": "every layout works; leave it out",
    "register_hook": "read .grad after backward(), or call retain_grad() first",
}


def hint_for(name):
    """Return the advice for a name of another library.

    Parameters
    ----------
    name : str
        A name such as "view".

    Returns
    -------
    str
        Advice such as "use reshape(shape)", or an empty string.
    """
    return _NOTES.get(name) or (name in _SUBSTITUTES and f"use {_SUBSTITUTES[name]}") or ""


NAMES = _SUBSTITUTES.keys() | _NOTES.keys()


def missing(owner, name):
    """Return the error for a missing name, with advice if there is any.

    Parameters
    ----------
    owner : str
        What lacks the name, such as "a Tensor".
    name : str
        The missing name.

    Returns
    -------
    AttributeError
        The error, to be raised.
    """
    return AttributeError(
        f"{owner} has no {name}" + (f": {hint}" if (hint := hint_for(name)) else "")
    )


class Missing:
    """An attribute that raises `missing`. A `__getattr__` would slow every op down by a fifth.

    Parameters
    ----------
    name : str
        The missing name.
    """

    def __init__(self, name):
        self.name = name

    def __get__(self, instance, owner):
        raise missing("a Tensor", self.name)


# What PyTorch calls a keyword, and what to write here.
_KEYWORD_HINTS = {
    "dim": "PyTorch's dim is axis here",
    "dims": "PyTorch's dims is axis here",
    "keepdim": "PyTorch's keepdim is keepdims here",
    "unbiased": "PyTorch's unbiased=True is ddof=1 here",
    "correction": "PyTorch's correction is ddof here",
    "out": "a Tensor is never written into; assign the result",
    "gradient": "PyTorch's gradient is grad here",
    "retain_graph": "the graph lives as long as its output; leave retain_graph out",
    "create_graph": "use grad(grad(f)) for second derivatives; leave create_graph out",
    "set_to_none": ".grad is always set to None; leave set_to_none out",
}


def argument_error(name, error, keywords, parameters):
    """Return a TypeError for a call whose arguments do not match its signature.

    Parameters
    ----------
    name : str
        The function that was called.
    error : object
        Python's own words for the mismatch.
    keywords : dict
        The keywords of the call.
    parameters : object
        The signature of the function.

    Returns
    -------
    TypeError
        The error, to be raised.
    """
    hints = [f" ({hint})" for keyword, hint in _KEYWORD_HINTS.items() if keyword in keywords]
    return TypeError(f"{name}: {error}{''.join(hints)}; its arguments are {parameters}")


def explain_arguments(f):
    """Wrap a function to explain calls whose arguments do not match its signature.

    Parameters
    ----------
    f : callable
        A function whose signature Python can read.

    Returns
    -------
    callable
        The same function, which raises a TypeError that names its arguments.
    """

    @functools.wraps(f)
    def wrapped(*args, **kwargs):
        try:
            return f(*args, **kwargs)
        except TypeError:
            try:
                parameters = inspect.signature(f)
                parameters.bind(*args, **kwargs)
            except TypeError as error:
                raise argument_error(f.__name__, error, kwargs, parameters) from None
            raise

    return wrapped
