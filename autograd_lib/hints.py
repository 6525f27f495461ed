"""Explain misuse: names of other libraries, wrong arguments, and unclear errors of NumPy."""

import functools
import inspect
import re

import numpy as np

# Names that PyTorch, JAX or NumPy have and this engine does not, and what to use instead.
_SUBSTITUTES = {
    "view": "reshape(shape)",
    "flatten": "reshape(-1)",
    "ravel": "reshape(-1)",
    "permute": "transpose(axes)",
    "t": ".T",
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
    "zero_": "t.zero_grad() for the gradient, or t.data[...] = 0 on a leaf",
    "fill_": "t.data[...] = … on a leaf",
    "copy_": "t.data = … on a leaf",
    "uniform_": "autograd_lib.nn.init, or t.data = rng.uniform(low, high, t.shape)",
    "normal_": "autograd_lib.nn.init, or t.data = rng.normal(mean, std, t.shape)",
    "detach_": "t = t.detach()",
    "masked_fill": "where(mask, value, x)",
    "masked_fill_": "x = where(mask, value, x)",
    "clamp_": "x = clip(x, min, max)",
    "div_": "t.data /= … for a leaf, or z = x / y",
    "add_": "t.data += … for a leaf, or z = x + y",
    "sub_": "t.data -= … for a leaf, or z = x - y",
    "mul_": "t.data *= … for a leaf, or z = x * y",
    "stop_gradient": ".detach()",
    "tensor": "Tensor",
    "as_tensor": "Tensor",
    "new_tensor": "Tensor",
    "type_as": "astype(y.dtype)",
    "eq": "==",
    "ne": "!=",
    "gt": ">",
    "ge": ">=",
    "lt": "<",
    "le": "<=",
    "rsqrt": "1 / sqrt(x)",
    "expm1": "exp(x) - 1",
    "sinh": "(exp(x) - exp(-x)) / 2",
    "cosh": "(exp(x) + exp(-x)) / 2",
    "H": ".mT",
    "getitem": "x[index]",
    "save": "model.save(path), or np.save(path, t.data)",
    "load": "model.load(path), or np.load(path)",
    "autograd": "grad(f), or t.backward() and .grad",
    "jit": "compile(f)",
    "inference_mode": "no_grad",
    "enable_grad": "grad, which also works inside no_grad",
    "set_grad_enabled": "no_grad",
    "is_grad_enabled": "t.requires_grad of a result",
    "float32": "np.float32",
    "float64": "np.float64",
    "int64": "np.int64",
    "from_numpy": "Tensor",
    "square": "x * x",
    "reciprocal": "1 / x",
    "norm": "(x * x).sum() ** 0.5",
    "prod": "math.prod(x), which multiplies the entries one by one",
    "vdot": "(x * y).sum()",
    "tensordot": "einsum(letters, x, y)",
    "outer": "x.reshape(-1, 1) * y",
    "cumsum": "np.tri(n) @ x, a product with a triangle of ones",
    "take": "x[index]",
    "gather": "x[index]",
    "index_select": "x[index], or x[:, index] for axis 1",
    "scatter_": "where(mask, new, x)",
    "chunk": "split(x, sections, axis) of autograd_lib",
    "unbind": "the Tensor itself, as in a, b = x",
    "linear": "x @ weight.T + bias",
    "l1_loss": "abs(x - y).mean()",
    "one_hot": "np.eye(classes)[index]",
    "embedding": "weight[index]",
    "topk": "x[np.argsort(x)[-k:]] for a 1-D array",
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
    "manual_seed": "np.random.default_rng(seed), and pass rng= to layers",
    **{
        name: f"np.{name}"
        for name in """zeros ones full eye arange linspace zeros_like ones_like argsort sign floor
            ceil round any all isnan nonzero""".split()
    },
}
# Names for which there is no substitute, and why.
_NOTES = {
    "cuda": "the engine runs on the CPU; leave it out",
    "device": "the engine runs on the CPU; leave it out",
    "is_cuda": "the engine runs on the CPU; leave it out",
    "contiguous": "every layout works; leave it out",
    "vmap": "write f for arrays with one more axis; operations broadcast",
    "retain_graph": "the graph lives as long as its output; leave it out",
    "register_hook": "read .grad after backward(), or call retain_grad() first",
}


def hint_for(name):
    """Return advice for a name from another library.

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
        The object that lacks the name, such as "Tensor".
    name : str
        The missing name.

    Returns
    -------
    AttributeError
        The error, to be raised.
    """
    return AttributeError(
        f"{owner} has no attribute {name!r}" + (f": {hint}" if (hint := hint_for(name)) else "")
    )


def absent(name, _):
    """Raise AttributeError for a name that Tensor lacks, with advice if there is any.

    This function is the getter of the properties that Tensor has for such names.

    Parameters
    ----------
    name : str
        The missing name.
    _ : Tensor
        Ignored.
    """
    raise missing("Tensor", name)


# What PyTorch calls a keyword, and what to write here.
_KEYWORD_HINTS = {
    "dim": "PyTorch's dim is axis here",
    "dims": "PyTorch's dims is axis here",
    "keepdim": "PyTorch's keepdim is keepdims here",
    "unbiased": "PyTorch's unbiased=True is ddof=1 here",
    "correction": "PyTorch's correction is ddof here",
    "out": "operations never write into a Tensor; assign the result",
    "inplace": "operations never write into a Tensor; assign the result",
    "dtype": "convert with astype(dtype), or before you make a Tensor",
    "device": "the engine runs on the CPU; leave device out",
    "strict": "every array must fit; leave strict out",
    "approximate": "gelu is PyTorch's approximate='tanh'; leave approximate out",
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
        The name of the function that was called.
    error : object
        Python's message about the mismatch.
    keywords : dict
        The keyword arguments of the call, by name. For each keyword that PyTorch uses, the message
        includes a hint.
    parameters : object
        The signature of the function.

    Returns
    -------
    TypeError
        The error, to be raised.
    """
    hints = "; ".join(hint for keyword, hint in _KEYWORD_HINTS.items() if keyword in keywords)
    return TypeError(f"{name}: {error}{hints and f' ({hints})'}; its arguments are {parameters}")


def explain_arguments(f):
    """Wrap a function to explain its errors for arguments that do not match its signature.

    If an error message begins with the name of another function in the module of `f`, such as a row
    that `f` calls, the wrapped function raises the error with the name of `f` instead.

    Parameters
    ----------
    f : callable
        A function whose signature Python can read.

    Returns
    -------
    callable
        The wrapped function. If a call does not match its signature, it raises a TypeError that
        lists the arguments of `f`.
    """

    @functools.wraps(f)
    def wrapped(*args, **kwargs):
        try:
            return f(*args, **kwargs)
        except (TypeError, ValueError, IndexError) as error:
            try:
                parameters = inspect.signature(f)
                parameters.bind(*args, **kwargs)
            except TypeError as mismatch:
                raise argument_error(
                    f.__name__, mismatch, kwargs, re.sub(r"^\(self(, )?", "(", str(parameters))
                ) from None
            if (row := str(error).partition(":")[0]) not in getattr(f, "__globals__", ()):
                raise
            raise reworded(error, row, f.__name__) from None

    return wrapped


def check_function(name, f):
    """Raise TypeError if `f` cannot be called.

    Parameters
    ----------
    name : str
        The name of the function that was called with `f`, for the message.
    f : object
        The argument.
    """
    if not callable(f):
        raise TypeError(
            f"{name}: expected a function, got {type(f).__name__}; pass the function itself, "
            "not its result"
        )


# Words of NumPy and Python for common mistakes, as regular expressions, and plainer ones. The first
# words of some are kept, because readers search for them.
_PLAIN_WORDS = {
    r".*remapped shapes.*requested shape (.*)": r"the array cannot be broadcast to shape \1",
    r"(operands could not be broadcast together) .*": (
        r"\1: expected axes of equal length or of length 1, compared from the last axis"
    ),
    r".*mismatch in its core dimension.*": "expected shapes (…, n, k) and (…, k, m)",
    r".*(not have enough dimensions|type\(s\) for @).*": (
        "expected arrays with at least one axis; use * to multiply by a number"
    ),
    r"(axes don't match array|repeated axis in transpose)": (
        r"\1: expected every axis once; to exchange two axes use swapaxes(x, axis1, axis2)"
    ),
    r"'(\w+)' object cannot be interpreted as an integer": (
        r"expected an int or a tuple of ints, got a \1"
    ),
    r".*numpy boolean (\w+).*": r"expected numbers, got booleans; convert them with astype(float)",
    r"zero-size array.*": "an empty array has no largest or smallest entry",
    r"only integers, slices.*": (
        "expected an index of ints, slices, None, … or arrays of ints or booleans"
    ),
    r"arrays used as indices must be.*": (
        "expected an index of ints or booleans, got floating numbers; use i.data.astype(int)"
    ),
    r"cannot select an axis to squeeze.*": "expected axes of length 1",
    r"(This file contains pickled|Object arrays cannot be loaded).*": (
        "it contains pickled objects, which could run code; write the file with save(path)"
    ),
    r"[\w<>]+\(\) (missing|got|takes)": r"\1",
    r".*context manager protocol.*": "it contains one array, as np.save writes it",
    r".*did not contain a loop with .*\.(\w+)DType.*\.(\w+)DType.*": (
        r"expected numbers, got arrays of type \1 and \2"
    ),
}


def plain_words(error):
    """Return the message of a NumPy or Python error, in plainer words for common mistakes.

    Parameters
    ----------
    error : Exception
        The error.

    Returns
    -------
    str
        The message, with every match of a pattern in `_PLAIN_WORDS` replaced.
    """
    return functools.reduce(
        lambda text, words: re.sub(*words, text), _PLAIN_WORDS.items(), str(error)
    )


def reworded(error, row, name, details=""):
    """Return an error with a function's name and the message of `error` in plainer words.

    Parameters
    ----------
    error : Exception
        An error that NumPy or a called row has raised.
    row : str
        The name of a row. If the message begins with it and a colon, both are removed.
    name : str
        The name of the function that was called. The new message begins with this name.
    details : str
        Text to add at the end of the message, unless the message says what the function got.

    Returns
    -------
    Exception
        The error, to be raised. It is an AxisError, IndexError or ValueError if `error` is, and a
        TypeError otherwise.
    """
    kinds = [np.exceptions.AxisError, IndexError, ValueError]  # an AxisError is also the other two
    kind = next((kind for kind in kinds if isinstance(error, kind)), TypeError)
    text = plain_words(error).removeprefix(f"{row}: ")
    return kind(f"{name}: {text}{details * (', got ' not in text)}")


def as_generator(rng, name):
    """Return `rng` as a NumPy random generator.

    Parameters
    ----------
    rng : numpy.random.Generator, int or None
        Generator or seed. None gives a generator whose numbers differ from run to run.
    name : str
        The name of the function or class that was called with `rng`, for the message of an error.

    Returns
    -------
    numpy.random.Generator
        `rng` itself if it is a generator, else a new generator.

    Raises
    ------
    TypeError
        If `rng` is neither a generator nor a seed.
    """
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise TypeError(
            f"{name}: expected rng to be a seed (an int >= 0) or a numpy.random.Generator, "
            f"got {rng!r}"
        ) from None
