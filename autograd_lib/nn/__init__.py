"""Models: modules that hold parameters, with PyTorch's names."""

from collections import deque

import numpy as np

from .. import ops
from ..hints import as_generator
from ..state import Stateful, clear_grads
from ..tape import Tensor
from ..values import as_array, commit, assignments
from . import functional as functional
from . import init as init
from . import utils as utils

# Names of torch.nn that are missing here, and what to use instead.
_SUBSTITUTES = {
    "LogSoftmax": "autograd_lib.log_softmax",
    "SiLU": "nn.functional.silu",
    "MSELoss": "nn.functional.mse_loss",
    "LeakyReLU": "nn.functional.leaky_relu",
    "CrossEntropyLoss": "nn.functional.cross_entropy",
    "BCEWithLogitsLoss": "nn.functional.binary_cross_entropy_with_logits",
    "RNN": "nn.RNNCell in a loop",
    "Parameter": "Tensor(data, requires_grad=True)",
    "ModuleList": "a list",
    "ModuleDict": "a dict",
    **{
        name: f"autograd_lib.{name.lower()}"
        for name in "ReLU Tanh Sigmoid Softplus GELU Softmax".split()
    },
}
mode_changes = 0  # how often train() or eval() was called: compile makes another program

# Names of PyTorch's Module that are missing here, and what to do instead.
_MODULE_HINTS = {
    "cuda": "the engine runs on the CPU; leave it out",
    "cpu": "the engine runs on the CPU; leave it out",
    "float": "use to(np.float32)",
    "double": "use to(float)",
    "half": "use to(np.float16)",
    "modules": "use named_modules()",
    "children": "use named_modules()",
    "named_children": "use named_modules()",
    "buffers": "use named_buffers()",
    "apply": "loop over named_modules()",
    "requires_grad_": "set requires_grad of each Tensor in parameters()",
    "register_parameter": "assign Tensor(data, requires_grad=True) to an attribute",
    "add_module": "assign the module to an attribute",
    "device": "the engine runs on the CPU; leave it out",
    "register_forward_hook": "return the values to inspect from forward",
}


def __getattr__(name):
    """Raise AttributeError for a name of torch.nn that is missing here."""
    here = {name: f"nn.functional.{name}"} if hasattr(functional, name) else _SUBSTITUTES
    raise AttributeError(
        f"autograd_lib.nn has no attribute {name!r}: "
        + (
            f"use {here[name]}"
            if name in here
            else "write it as a Module, with the functions of autograd_lib in its forward method"
        )
    )


class Module(Stateful):
    """Base class of models: subclass it, set attributes in `__init__`, and write `forward`.

    The parameters are the Tensors that require a gradient among the attributes of this module and
    of the modules in it. Lists, tuples, deques and dicts are searched too. A Tensor that is found
    twice counts once, under its first name.

    The state that is saved and loaded consists of the parameters, including frozen parameters
    (`requires_grad = False`), and the buffers. A constant, such as an input that `forward` stores
    in an attribute, is not part of the state. If such an input x requires a gradient, store
    `x.detach()`, because x itself would count as a parameter.

    Attributes
    ----------
    training : bool
        True in training mode, False in evaluation mode; see `train` and `eval`.
    """

    training = True
    _buffers = ()

    def __init_subclass__(cls, **keywords):
        """Raise TypeError for `__slots__`, and keep `==` and `hash` of a dataclass those of objects.

        A dataclass compares its attributes, but `==` of Tensors returns an array.
        """
        super().__init_subclass__(**keywords)
        if vars(cls).get("__slots__"):
            raise TypeError(
                f"{cls.__name__}: a Module cannot have __slots__, because parameters() would not "
                "find the Tensors in them; remove __slots__ (for a dataclass, slots=True)"
            )
        cls.__eq__, cls.__hash__ = cls.__eq__, cls.__hash__  # @dataclass keeps those of the class

    def __call__(self, *args, **kwargs):
        """Call `forward` with these arguments and return its output."""
        return self.forward(*args, **kwargs)

    def __getattr__(self, name):
        """Raise AttributeError, with advice for some attributes of PyTorch's Module."""
        raise AttributeError(
            f"{type(self).__name__} has no attribute {name!r}"
            + (f": {_MODULE_HINTS[name]}" if name in _MODULE_HINTS else ""),
            name=name,
            obj=self,
        )

    def __setattr__(self, name, value):
        if isinstance(value, Tensor) and name in self._buffers:
            raise TypeError(
                f"{type(self).__name__}: the buffer {name} must be an array, got a Tensor, which "
                "would keep the graph of every call; compute the buffer from .data, as in "
                "x.data.mean(axis=0)"
            )
        super().__setattr__(name, value)

    def forward(self, *args, **kwargs):
        """Return the output for these inputs. Every subclass must define this method.

        Parameters
        ----------
        *args, **kwargs
            The arguments of the call of the module.

        Raises
        ------
        NotImplementedError
            If the subclass does not define `forward`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no forward method; write one")

    def named_modules(self, prefix=""):
        """Return a list of (path, module) pairs: this module first, and each module once.

        Parameters
        ----------
        prefix : str, default ""
            The path of this module, put at the start of every returned path. With the prefix
            "model", a path may be "model.layers.0".

        Returns
        -------
        list of (str, Module)
            The modules in the order of their attributes.

        Raises
        ------
        TypeError
            If a set or an array contains modules or Tensors.
        """
        return [
            (path, item) for path, item in _walk(prefix, self, set()) if isinstance(item, Module)
        ]

    def named_tensors(self, prefix=""):
        """Return a list of (path, Tensor) pairs of all Tensors, whether they are parameters or not.

        Parameters
        ----------
        prefix : str, default ""
            The path of this module, put at the start of every returned path. With the prefix
            "model", a path may be "model.layers.0.weight".

        Returns
        -------
        list of (str, Tensor)
            The Tensors in the order of their attributes, each once.

        Raises
        ------
        TypeError
            As for `named_modules`.
        """
        return [
            (path, item) for path, item in _walk(prefix, self, set()) if isinstance(item, Tensor)
        ]

    def named_parameters(self, prefix=""):
        """Return a list of (path, Tensor) pairs of the trainable parameters.

        Parameters
        ----------
        prefix
            As for `named_tensors`.

        Returns
        -------
        list of (str, Tensor)
            The pairs of `named_tensors` whose Tensor is trainable.

        Raises
        ------
        TypeError
            As for `named_modules`.
        """
        return [
            (path, t)
            for path, t in self.named_tensors(prefix)
            if t.requires_grad and t.was_trainable
        ]

    def parameters(self):
        """Return the trainable parameters.

        Returns
        -------
        list of Tensor
            The parameters, in the order of `named_parameters`.

        Raises
        ------
        TypeError
            As for `named_modules`.
        """
        return [tensor for _, tensor in self.named_parameters()]

    def zero_grad(self, set_to_none=True):
        """Set the gradient of every parameter to None, also of those that are frozen.

        Parameters
        ----------
        set_to_none : bool, default True
            PyTorch's argument; only True is supported.

        Raises
        ------
        ValueError
            If `set_to_none` is False.
        """
        clear_grads(
            self,
            [tensor for _, tensor in self.named_tensors() if tensor.was_trainable],
            set_to_none,
        )

    def train(self, mode=True):
        """Set the training mode of this module and all modules in it.

        Parameters
        ----------
        mode : bool, default True
            True for training mode, False for evaluation mode.

        Returns
        -------
        Module
            This module.
        """
        global mode_changes
        mode_changes += 1
        for _, module in self.named_modules():
            module.training = mode
        return self

    def eval(self):
        """Set evaluation mode, in which dropout does nothing.

        Returns
        -------
        Module
            This module.
        """
        return self.train(False)

    def to(self, dtype):
        """Convert every parameter and floating-point buffer to `dtype`.

        Parameters
        ----------
        dtype : dtype_like
            A floating dtype such as np.float32.

        Returns
        -------
        Module
            This module.

        Raises
        ------
        TypeError
            If `dtype` is not a floating dtype. PyTorch's devices, such as "cuda", are not
            supported.
        """
        try:
            floating = np.dtype(dtype).kind == "f"
        except TypeError:
            floating = False
        if not floating:
            raise TypeError(
                f"{type(self).__name__}.to: expected a floating dtype such as np.float32, "
                f"got {dtype!r}"
            )
        converted = {
            name: array.astype(dtype if array.dtype.kind == "f" else array.dtype)
            for name, array in self._state().items()
        }
        commit(self._changes(converted))
        return self

    def register_buffer(self, name, array):
        """Add an array as an attribute that is saved and loaded like a parameter but never trained.

        To change a buffer, such as a running mean, assign a new array:
        `self.mean = 0.9 * self.mean + 0.1 * x.data.mean(axis=0)`.

        Parameters
        ----------
        name : str
            The name of the attribute.
        array : array_like
            The initial value, which is copied.

        Raises
        ------
        TypeError
            If `array` is a Tensor, or does not contain real numbers.
        ValueError
            If `name` is not an identifier, or is an attribute of the class.
        """
        if not name.isidentifier() or hasattr(type(self), name):
            raise ValueError(
                f"register_buffer: {name!r} cannot be the name of a buffer of "
                f"{type(self).__name__}; choose an identifier that is not an attribute of the class"
            )
        setattr(self, name, np.array(as_array(array, f"register_buffer: {name}")))
        self._buffers = tuple(dict.fromkeys((*self._buffers, name)))

    def named_buffers(self, prefix=""):
        """Return a list of (path, array) pairs of the buffers.

        Parameters
        ----------
        prefix : str, default ""
            The path of this module, put at the start of every returned path. With the prefix
            "model", a path may be "model.layers.0.mean".

        Returns
        -------
        list of (str, ndarray)
            The buffers, module by module.

        Raises
        ------
        TypeError
            If a buffer has been replaced by something other than an array of real numbers.
        """
        return [
            (path, as_array(getattr(module, name), f"buffer {path}"))
            for path, module, name in self._buffer_attributes(prefix)
        ]

    def _buffer_attributes(self, prefix=""):
        """Return a list with (path, module, name of the attribute) for each buffer."""
        return [
            (f"{path}.{name}" if path else name, module, name)
            for path, module in self.named_modules(prefix)
            for name in module._buffers
        ]

    def _state(self):
        parameters = [(path, t.data) for path, t in self.named_tensors() if t.was_trainable]
        state = {}
        for name, array in parameters + self.named_buffers():
            if name in state:
                raise ValueError(
                    f"{type(self).__name__}: two arrays have the path {name}; rename a key that "
                    "contains a dot"
                )
            state[name] = array
        return state

    def _changes(self, state):
        values = [(t, state[path]) for path, t in self.named_tensors() if t.was_trainable]
        return assignments(values) + [
            (object.__setattr__, module, name, state[path])
            for path, module, name in self._buffer_attributes()
        ]

    def __repr__(self):
        shapes = ", ".join(f"{name}{p.shape}" for name, p in self.named_parameters())
        return f"{type(self).__name__}({shapes})"


def _walk(path, item, seen):
    """Yield (path, object) for `item` and every module and Tensor in it, outermost first.

    `path` is the path of `item`. Each object is yielded once: `seen` is a set with the ids of all
    objects that have been yielded, and is updated. Raise TypeError for modules or Tensors in a set
    or an array.
    """
    if id(item) in seen:
        return
    if isinstance(item, (Module, Tensor)):
        seen.add(id(item))
        yield path, item
    if isinstance(item, Module):
        item = vars(item)
    if isinstance(item, (list, tuple, deque)):
        item = dict(enumerate(item))
    is_array = isinstance(item, np.ndarray) and item.dtype == object
    if (is_array or isinstance(item, (set, frozenset))) and any(
        isinstance(value, (Module, Tensor)) for value in (item.flat if is_array else item)
    ):
        raise TypeError(
            f"Module: the attribute {path} must be a list if it contains modules or Tensors, "
            f"got {type(item).__name__}; make it a list"
        )
    if isinstance(item, dict):
        for key, value in item.items():
            yield from _walk(f"{path}.{key}" if path else str(key), value, seen)


def _parameter(shape, fan_in, rng, dtype):
    """Return a parameter with entries drawn uniformly between −1/√fan_in and 1/√fan_in.

    This is the default of PyTorch's Linear: the initialization of He et al. (2015) with a = √5.
    """
    bound = 1 / np.sqrt(max(fan_in, 1))
    return Tensor(np.asarray(rng.uniform(-bound, bound, shape), dtype), requires_grad=True)


def _check_sizes(layer, **sizes):
    """Raise TypeError if one of the `sizes` is not an integer >= 0; the error names the layer."""
    for name, n in sizes.items():
        if not isinstance(n, (int, np.integer)) or n < 0:
            raise TypeError(f"{type(layer).__name__}: {name} must be an integer >= 0, got {n!r}")


def _linear(layer, x, weight):
    """Return x @ weight.T, or raise a ValueError that names the layer if the shapes do not fit."""
    try:
        return x @ (weight.T if weight.ndim > 1 else weight)
    except ValueError:
        raise ValueError(
            f"{type(layer).__name__}: expected inputs of shape (…, {weight.shape[-1]}) for weights "
            f"of shape {weight.shape}, got {np.shape(x)}"
        ) from None


class Neuron(Module):
    """One neuron: activation(x · weight + bias).

    `weight` has shape (in_features,), and `bias` is a scalar. Inputs of shape (…, in_features) give
    outputs of shape (…).

    Parameters
    ----------
    in_features : int
        Length of the last axis of the inputs.
    activation : callable, optional
        Activation function; None applies no activation.
    rng : numpy.random.Generator or int, optional
        Generator or seed for the initial weights.
    dtype : dtype_like, default float
        Floating dtype of the parameters.

    Raises
    ------
    TypeError
        If a size is not an integer >= 0, or `rng` is neither a generator nor a seed.
    """

    def __init__(self, in_features, activation=None, *, rng=None, dtype=float):
        _check_sizes(self, in_features=in_features)
        rng = as_generator(rng, "Neuron")
        self.weight = _parameter(in_features, in_features, rng, dtype)
        self.bias = _parameter((), in_features, rng, dtype)
        self.activation = activation

    def forward(self, x):
        """Return activation(x · weight + bias).

        Parameters
        ----------
        x : Tensor or array_like
            Inputs of shape (…, in_features).

        Returns
        -------
        Tensor
            Outputs of shape (…).

        Raises
        ------
        ValueError
            If the last axis of `x` does not have length in_features.
        """
        z = _linear(self, x, self.weight) + self.bias
        return self.activation(z) if self.activation else z


class Linear(Module):
    """Linear layer: x @ weight.T + bias.

    `weight` has shape (out_features, in_features), and `bias` (out_features,). Inputs of shape (…,
    in_features) give outputs of shape (…, out_features).

    Parameters
    ----------
    in_features, out_features : int
        Lengths of the last axis of the inputs and of the outputs.
    bias : bool, default True
        Add a bias.
    rng : numpy.random.Generator or int, optional
        Generator or seed for the initial weights.
    dtype : dtype_like, default float
        Floating dtype of the parameters.

    Raises
    ------
    TypeError
        If a size is not an integer >= 0, or `rng` is neither a generator nor a seed.
    """

    def __init__(self, in_features, out_features, bias=True, *, rng=None, dtype=float):
        _check_sizes(self, in_features=in_features, out_features=out_features)
        rng = as_generator(rng, "Linear")
        self.weight = _parameter((out_features, in_features), in_features, rng, dtype)
        self.bias = _parameter(out_features, in_features, rng, dtype) if bias else None

    def forward(self, x):
        """Return x @ weight.T + bias.

        Parameters
        ----------
        x : Tensor or array_like
            Inputs of shape (…, in_features).

        Returns
        -------
        Tensor
            Outputs of shape (…, out_features).

        Raises
        ------
        ValueError
            If the last axis of `x` does not have length in_features.
        """
        z = _linear(self, x, self.weight)
        return z if self.bias is None else z + self.bias


class Embedding(Module):
    """Table of vectors: an integer selects a row of `weight`.

    `weight` has shape (num_embeddings, embedding_dim) and is initialised from a standard normal
    distribution. Integers of shape (…) give outputs of shape (…, embedding_dim).

    Parameters
    ----------
    num_embeddings, embedding_dim : int
        Number and length of the vectors.
    rng : numpy.random.Generator or int, optional
        Generator or seed for the initial weights.
    dtype : dtype_like, default float
        Floating dtype of the parameters.

    Raises
    ------
    TypeError
        If a size is not an integer >= 0, or `rng` is neither a generator nor a seed.
    """

    def __init__(self, num_embeddings, embedding_dim, *, rng=None, dtype=float):
        _check_sizes(self, num_embeddings=num_embeddings, embedding_dim=embedding_dim)
        rng = as_generator(rng, "Embedding")
        rows = rng.normal(size=(num_embeddings, embedding_dim))
        self.weight = Tensor(rows.astype(dtype), requires_grad=True)

    def forward(self, x):
        """Return the rows of `weight` that the integers `x` select.

        Parameters
        ----------
        x : Tensor or array_like
            Integers from 0 to num_embeddings − 1, of shape (…).

        Returns
        -------
        Tensor
            Rows, of shape (…, embedding_dim).

        Raises
        ------
        TypeError
            If `x` does not have an integer dtype.
        ValueError
            If an integer is out of range.
        """
        return self.weight[functional.class_indices("Embedding", x, len(self.weight))]


class LayerNorm(Module):
    """Layer normalisation over the last axes; see `functional.layer_norm`.

    `weight` is initialised with ones and `bias` with zeros, both of shape `normalized_shape`.

    Parameters
    ----------
    normalized_shape : int or tuple of int
        Lengths of the axes to normalise.
    eps : float, default 1e-5
        Added to the variance.
    elementwise_affine : bool, default True
        Multiply by `weight` and add `bias`.
    bias : bool, default True
        Also add `bias`, if `elementwise_affine` is True.
    dtype : dtype_like, default float
        Floating dtype of the parameters.

    Raises
    ------
    TypeError
        If a length is not an integer >= 0.

    References
    ----------
    Ba et al. (2016).
    """

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, dtype=float):
        self.normalized_shape, self.eps = tuple(np.atleast_1d(normalized_shape).tolist()), eps
        _check_sizes(
            self, **{f"normalized_shape[{i}]": n for i, n in enumerate(self.normalized_shape)}
        )
        ones = np.ones(self.normalized_shape, dtype)
        self.weight = Tensor(ones, requires_grad=True) if elementwise_affine else None
        self.bias = Tensor(0 * ones, requires_grad=True) if elementwise_affine and bias else None

    def forward(self, x):
        """Return `x`, normalised to mean 0 and variance 1, times `weight`, plus `bias`.

        Parameters
        ----------
        x : Tensor or array_like
            Array of shape (…, *normalized_shape).

        Returns
        -------
        Tensor
            Array of the same shape.

        Raises
        ------
        ValueError
            If the last axes of `x` do not have the shape `normalized_shape`.
        """
        return functional.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


class MultiheadAttention(Module):
    """Attention with several heads; see `functional.scaled_dot_product_attention`.

    `in_proj_weight` has shape (3·embed_dim, embed_dim): one third of its rows projects the query,
    one the key, and one the value. The projections are split into heads. The outputs of the heads
    are concatenated and passed to the Linear layer `out_proj`. The batch axis comes first, as with
    `batch_first=True` in PyTorch, where False is the default.

    Parameters
    ----------
    embed_dim : int
        Length of the vectors, a multiple of `num_heads`.
    num_heads : int
        Number of heads.
    dropout : float, default 0
        Probability of setting an attention weight to 0 in training mode.
    bias : bool, default True
        Add biases to the projections.
    rng : numpy.random.Generator or int, optional
        Generator or seed for the initial weights and the dropout.
    dtype : dtype_like, default float
        Floating dtype of the parameters.

    Raises
    ------
    TypeError
        If a size is not an integer >= 0, or `rng` is neither a generator nor a seed.
    ValueError
        If `embed_dim` is not a multiple of `num_heads`.

    References
    ----------
    Vaswani et al. (2017), section 3.2.2.
    """

    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, *, rng=None, dtype=float):
        _check_sizes(self, embed_dim=embed_dim, num_heads=num_heads)
        rng = as_generator(rng, "MultiheadAttention")
        if not embed_dim or not num_heads or embed_dim % num_heads:
            raise ValueError(
                "MultiheadAttention: embed_dim must be a positive multiple of num_heads, "
                f"got embed_dim {embed_dim} and num_heads {num_heads}"
            )
        self.num_heads, self.dropout = num_heads, Dropout(dropout, rng=rng)
        weight, zeros = np.zeros((3 * embed_dim, embed_dim), dtype), np.zeros(3 * embed_dim, dtype)
        self.in_proj_weight = init.xavier_uniform_(Tensor(weight, requires_grad=True), rng=rng)
        self.in_proj_bias = Tensor(zeros, requires_grad=True) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias, rng=rng, dtype=dtype)
        if bias:
            self.out_proj.bias.data = zeros[:embed_dim]

    def forward(
        self,
        query,
        key,
        value,
        *,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
        is_causal=False,
    ):
        """Return the output and the attention weights.

        Parameters
        ----------
        query : Tensor or array_like
            Array of shape (N, T, embed_dim) or (T, embed_dim).
        key, value : Tensor or array_like
            Arrays of shape (N, S, embed_dim) or (S, embed_dim).
        need_weights : bool, default True
            Return the attention weights; if False, return None in their place.
        attn_mask : array_like or Tensor, optional
            Array that broadcasts to (N, num_heads, T, S). A bool array is True where a query must
            *not* attend to a key, as in PyTorch; `scaled_dot_product_attention` uses the opposite.
            A floating array is added to the scores.
        average_attn_weights : bool, default True
            Return the mean of the weights over the heads.
        is_causal : bool, default False
            Let query t attend to keys 0 to t only. Do not pass `attn_mask` as well.

        Returns
        -------
        Tensor
            Array of shape (N, T, embed_dim).
        Tensor or None
            Weights of shape (N, T, S), or (N, num_heads, T, S) if they are not averaged.

        Raises
        ------
        TypeError, ValueError
            As for `functional.scaled_dot_product_attention`.
        """
        query, key, value = (self._heads(x, i) for i, x in enumerate((query, key, value)))
        if attn_mask is not None and not isinstance(attn_mask, Tensor):
            attn_mask = as_array(attn_mask, "MultiheadAttention: attn_mask")
        if attn_mask is not None and attn_mask.dtype == bool:
            attn_mask = ~attn_mask
        weights = functional.attention_weights(query, key, attn_mask, is_causal)
        z = ops.swapaxes(self.dropout(weights) @ value, -2, -3)
        z = self.out_proj(ops.reshape(z, (*z.shape[:-2], len(self.out_proj.weight))))
        if need_weights and average_attn_weights:
            weights = ops.mean(weights, axis=-3)
        return z, weights if need_weights else None

    def _heads(self, x, i):
        """Return projection `i` of `x`, split into heads.

        `i` is 0 for the query, 1 for the key and 2 for the value. `x` has shape (…, T, embed_dim).
        The result has shape (…, num_heads, T, embed_dim/num_heads).
        """
        n = len(self.out_proj.weight)
        z = _linear(self, x, self.in_proj_weight[i * n : (i + 1) * n])
        z = z if self.in_proj_bias is None else z + self.in_proj_bias[i * n : (i + 1) * n]
        return ops.swapaxes(
            ops.reshape(z, (*z.shape[:-1], self.num_heads, n // self.num_heads)), -2, -3
        )


class Conv2d(Module):
    """Convolution of images; see `functional.conv2d`.

    `weight` has shape (out_channels, in_channels, kh, kw), and `bias` (out_channels,). Images of
    shape (N, in_channels, H, W) give outputs of shape (N, out_channels, windows down, windows
    across).

    Parameters
    ----------
    in_channels, out_channels : int
        Number of channels of the inputs and of the outputs.
    kernel_size : int or pair of int
        Height and width of the kernels.
    stride : int or pair of int, default 1
        Distance between windows.
    padding : int or pair of int, default 0
        Zeros on every side of the image.
    bias : bool, default True
        Add a bias.
    rng : numpy.random.Generator or int, optional
        Generator or seed for the initial weights.
    dtype : dtype_like, default float
        Floating dtype of the parameters.

    Raises
    ------
    TypeError
        If a size is not an integer >= 0, or `rng` is neither a generator nor a seed.
    ValueError
        If `kernel_size` or `stride` is less than 1, or `padding` is negative.
    """

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        *,
        bias=True,
        rng=None,
        dtype=float,
    ):
        _check_sizes(self, in_channels=in_channels, out_channels=out_channels)
        rng = as_generator(rng, "Conv2d")
        kh, kw = ops.pair(kernel_size, "Conv2d: kernel_size")
        fan_in = in_channels * kh * kw
        self.weight = _parameter((out_channels, in_channels, kh, kw), fan_in, rng, dtype)
        self.bias = _parameter(out_channels, fan_in, rng, dtype) if bias else None
        self.stride, self.padding = stride, padding
        self(np.zeros((0, in_channels, kh, kw)))  # raises for arguments that fit no image

    def forward(self, x):
        """Return the convolution of images `x`.

        Parameters
        ----------
        x : Tensor or array_like
            Images of shape (N, in_channels, H, W).

        Returns
        -------
        Tensor
            Array of shape (N, out_channels, windows down, windows across).

        Raises
        ------
        ValueError
            If `x` has another shape, or the kernel does not fit the padded images.
        """
        return functional.conv2d(x, self.weight, self.bias, self.stride, self.padding)


class MaxPool2d(Module):
    """Max pooling of images; see `functional.max_pool2d`.

    Parameters
    ----------
    kernel_size : int or pair of int
        Height and width of the windows.
    stride : int or pair of int, optional
        Distance between windows; None means `kernel_size`.

    Raises
    ------
    TypeError
        If `kernel_size` or `stride` is neither an int nor a pair of ints.
    ValueError
        If `kernel_size` or `stride` is less than 1.
    """

    def __init__(self, kernel_size, stride=None):
        self.kernel_size, self.stride = kernel_size, stride
        size = ops.pair(kernel_size, f"{type(self).__name__}: kernel_size")
        self(np.zeros((0, 1, *size)))  # raises for arguments that fit no image

    def forward(self, x):
        """Return the largest entry of each window of images `x`.

        Parameters
        ----------
        x : Tensor or array_like
            Images of shape (N, C, H, W).

        Returns
        -------
        Tensor or ndarray
            Array of shape (N, C, windows down, windows across).

        Raises
        ------
        ValueError
            If `x` has another shape, or the window does not fit the images.
        """
        return functional.max_pool2d(x, self.kernel_size, self.stride)


class AvgPool2d(MaxPool2d):
    """Average pooling of images; see `functional.avg_pool2d`.

    Parameters
    ----------
    kernel_size, stride
        As for `MaxPool2d`.

    Raises
    ------
    TypeError, ValueError
        As for `MaxPool2d`.
    """

    def forward(self, x):
        """Return the mean of each window of images `x`.

        Parameters
        ----------
        x : Tensor or array_like
            Images of shape (N, C, H, W).

        Returns
        -------
        Tensor or ndarray
            Array of shape (N, C, windows down, windows across).

        Raises
        ------
        ValueError
            If `x` has another shape, or the window does not fit the images.
        """
        return functional.avg_pool2d(x, self.kernel_size, self.stride)


class Flatten(Module):
    """Join all axes except the first: (N, C, H, W) becomes (N, C·H·W)."""

    def forward(self, x):
        """Return `x` as a 2-D array.

        Parameters
        ----------
        x : Tensor or array_like
            Array of shape (N, …).

        Returns
        -------
        Tensor or ndarray
            Array with N rows.
        """
        return ops.reshape(x, (len(x), int(np.prod(x.shape[1:]))))


class Dropout(Module):
    """Dropout in training mode, and the identity after `eval()`; see `functional.dropout`.

    Parameters
    ----------
    p : float, default 0.5
        Probability of setting an entry to 0.
    rng : numpy.random.Generator or int, optional
        Generator or seed.

    Raises
    ------
    TypeError
        If `rng` is neither a generator nor a seed.
    ValueError
        If `p` is out of range.
    """

    def __init__(self, p=0.5, *, rng=None):
        functional.dropout(np.zeros(0), p)  # raises for a p that is not a probability
        self.p, self.rng = p, as_generator(rng, "Dropout")

    def forward(self, x):
        """Return `x` with random entries set to 0 in training mode, else `x` itself.

        Parameters
        ----------
        x : Tensor or array_like
            Array of any shape.

        Returns
        -------
        Tensor or ndarray
            Array of the same shape.

        Raises
        ------
        TypeError
            In training mode, if a function that is being compiled calls the layer.
        """
        return functional.dropout(x, self.p, self.training, rng=self.rng)


class RNNCell(Module):
    """One step of a recurrent network: h′ = activation(x·W_ihᵀ + b_ih + h·W_hhᵀ + b_hh).

    `weight_ih` has shape (hidden_size, input_size), `weight_hh` (hidden_size, hidden_size), and
    each bias (hidden_size,). All are drawn uniformly between −1/√hidden_size and 1/√hidden_size.

    Parameters
    ----------
    input_size, hidden_size : int
        Lengths of the input x and of the hidden state h.
    activation : callable, default tanh
        Activation function.
    rng : numpy.random.Generator or int, optional
        Generator or seed for the initial weights.
    dtype : dtype_like, default float
        Floating dtype of the parameters.

    Raises
    ------
    TypeError
        If a size is not an integer >= 0, `activation` is not callable, or `rng` is neither a
        generator nor a seed.

    References
    ----------
    Elman (1990).
    """

    def __init__(self, input_size, hidden_size, activation=ops.tanh, *, rng=None, dtype=float):
        _check_sizes(self, input_size=input_size, hidden_size=hidden_size)
        rng = as_generator(rng, "RNNCell")
        if not callable(activation):
            raise TypeError(f"RNNCell: activation must be a function, got {activation!r}")
        self.weight_ih = _parameter((hidden_size, input_size), hidden_size, rng, dtype)
        self.weight_hh = _parameter((hidden_size, hidden_size), hidden_size, rng, dtype)
        self.bias_ih = _parameter(hidden_size, hidden_size, rng, dtype)
        self.bias_hh = _parameter(hidden_size, hidden_size, rng, dtype)
        self.activation = activation

    def forward(self, x, h=None):
        """Return the next hidden state.

        Parameters
        ----------
        x : Tensor or array_like
            Input of shape (N, input_size) or (input_size,).
        h : Tensor or array_like, optional
            Hidden state of shape (N, hidden_size) or (hidden_size,). None means zeros.

        Returns
        -------
        Tensor
            Hidden state of shape (N, hidden_size) or (hidden_size,).

        Raises
        ------
        ValueError
            If the shapes of `x` and `h` are incompatible with the layer or with each other.
        """
        expected = (*np.shape(x)[:-1], len(self.weight_hh))
        if h is not None and np.shape(h) != expected:
            raise ValueError(
                f"RNNCell: expected h of shape {expected} for x of shape {np.shape(x)}, "
                f"got {np.shape(h)}"
            )
        z = _linear(self, x, self.weight_ih) + self.bias_ih + self.bias_hh
        return self.activation(z if h is None else z + h @ self.weight_hh.T)


class Sequential(Module):
    """Apply layers one after another.

    `model[1]` is a layer, `model[:2]` is a Sequential of two layers, and `len(model)` is the number
    of layers.

    Parameters
    ----------
    *layers : Module or callable
        The layers in order, modules or plain functions.

    Raises
    ------
    TypeError
        If a layer is not callable, or is a class.
    """

    def __init__(self, *layers):
        for i, layer in enumerate(layers):
            if not callable(layer) or isinstance(layer, type):
                raise TypeError(
                    f"{type(self).__name__}: layer {i} must be a module or a function, "
                    f"got {layer!r}; pass the layers one by one, as in "
                    "Sequential(Linear(2, 3), relu) or Sequential(*layers)"
                )
        self.layers = list(layers)

    def forward(self, x):
        """Return the output of the last layer.

        Parameters
        ----------
        x : Tensor or array_like
            Input of the first layer, in a shape that this layer accepts.

        Returns
        -------
        Tensor or ndarray
            Output of the last layer; `x` itself if there is no layer.
        """
        for layer in self.layers:
            x = layer(x)
        return x

    def __len__(self):
        return len(self.layers)

    def __getitem__(self, index):
        return Sequential(*self.layers[index]) if isinstance(index, slice) else self.layers[index]


class MLP(Sequential):
    """Multilayer perceptron: linear layers with an activation between them.

    Parameters
    ----------
    sizes : sequence of int
        Lengths of the input, the hidden layers and the output. With the sizes [64, 32, 10], inputs
        of shape (…, 64) give outputs of shape (…, 10).
    activation : callable, default relu
        Activation function between the layers.
    rng : numpy.random.Generator or int, optional
        Generator or seed for the initial weights.
    dtype : dtype_like, default float
        Floating dtype of the parameters.

    Raises
    ------
    TypeError
        If `sizes` is not a sequence of at least two ints, or `activation` is not callable.
    """

    def __init__(self, sizes, activation=ops.relu, rng=None, dtype=float):
        if np.ndim(sizes) != 1 or len(sizes) < 2 or not callable(activation):
            raise TypeError(
                "MLP: expected a list of sizes such as [2, 16, 1] and an activation function, "
                f"got {sizes!r} and {activation!r}"
            )
        rng = as_generator(rng, "MLP")
        layers = [
            layer
            for n, m in zip(sizes, sizes[1:])
            for layer in (Linear(n, m, rng=rng, dtype=dtype), activation)
        ]
        super().__init__(*layers[:-1])
