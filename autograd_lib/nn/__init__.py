"""Models: modules that hold parameters, in PyTorch's names. A user of the engine's public interface, nothing more."""

import numpy as np

from .. import ops
from ..state import Stateful
from ..tape import Tensor, as_array, commit, replacing
from . import functional as functional
from . import init as init
from . import utils as utils

_INSTEAD = {
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


def __getattr__(name):
    """The names of torch.nn that are not here."""
    instead = _INSTEAD.get(name, f"nn.functional.{name}" if hasattr(functional, name) else None)
    raise AttributeError(
        f"autograd_lib.nn has no {name}: "
        + (
            f"{instead} takes its place"
            if instead
            else "write it as a Module, with the functions of autograd_lib in its forward method"
        )
    )


class Module(Stateful):
    """A function with parameters: subclass it, set attributes in `__init__`, and write `forward`.

    Attributes that are Tensors requiring a gradient are its parameters; those that are modules, or lists, tuples and
    dicts of either, are searched too. A Tensor that is found twice counts once, under its first name. The state that is
    saved and loaded is the parameters, also those frozen by `requires_grad = False`, and the buffers; a constant, such
    as an input that `forward` keeps, is no part of it (of one that requires a gradient keep `x.detach()`).
    """

    training = True
    _buffers = ()

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} has no forward method")

    def named_modules(self, prefix=""):
        """A list of (path, module) pairs, this module first, each once; a path says where it is found, as in "layers.0"."""
        return [
            (path, item) for path, item in _walk(prefix, self, set()) if isinstance(item, Module)
        ]

    def named_tensors(self, prefix=""):
        """The same of every Tensor found, parameter or not: "layers.0.weight"."""
        return [
            (path, item) for path, item in _walk(prefix, self, set()) if isinstance(item, Tensor)
        ]

    def named_parameters(self, prefix=""):
        """The same of the parameters."""
        return [
            (path, t) for path, t in self.named_tensors(prefix) if t.requires_grad and t.parameter
        ]

    def parameters(self):
        """A list of the parameters."""
        return [tensor for _, tensor in self.named_parameters()]

    def zero_grad(self):
        """Forget every parameter's gradient."""
        commit([(setattr, p, "grad", None) for p in self.parameters()])

    def train(self, mode=True):
        """Set `training` here and in every module within; `eval()` unsets it. Returns self."""
        commit([(setattr, module, "training", mode) for _, module in self.named_modules()])
        return self

    def eval(self):
        return self.train(False)

    def to(self, dtype):
        """Turn every parameter and floating buffer into another floating dtype, such as np.float32. Returns self."""
        if np.dtype(dtype).kind != "f":
            raise TypeError(
                f"{type(self).__name__}.to: a floating dtype such as np.float32 is needed, not {dtype}"
            )
        commit(
            self._changes(
                {
                    name: array.astype(dtype if array.dtype.kind == "f" else array.dtype)
                    for name, array in self._state().items()
                }
            )
        )
        return self

    def register_buffer(self, name, array):
        """Make the array `self.name`, such as a running mean: saved and loaded like a parameter, and never trained.

        To change it, assign an array: `self.mean = 0.9 * self.mean + 0.1 * x.data.mean(axis=0)`.
        """
        if not name.isidentifier() or hasattr(type(self), name):
            raise ValueError(
                f"register_buffer: {name!r} cannot be the name of a buffer of {type(self).__name__}"
            )
        setattr(self, name, np.array(as_array(array, f"register_buffer: {name}")))
        self._buffers = tuple(dict.fromkeys((*self._buffers, name)))

    def named_buffers(self, prefix=""):
        """A list of (path, array) pairs of the buffers."""
        return [
            (path, as_array(getattr(module, name), f"buffer {path}"))
            for path, module, name in self._named_buffers(prefix)
        ]

    def _named_buffers(self, prefix=""):
        return [
            (f"{path}.{name}" if path else name, module, name)
            for path, module in self.named_modules(prefix)
            for name in module._buffers
        ]

    def _state(self):
        parameters = [(path, t.data) for path, t in self.named_tensors() if t.parameter]
        state = {}
        for name, array in parameters + self.named_buffers():
            if name in state:
                raise ValueError(
                    f"{type(self).__name__}: two Tensors are called {name}; a key with a dot in it can do that"
                )
            state[name] = array
        return state

    def _changes(self, state):
        values = [(t, state[path]) for path, t in self.named_tensors() if t.parameter]
        return replacing(values) + [
            (setattr, module, name, state[path]) for path, module, name in self._named_buffers()
        ]

    def __repr__(self):
        own = ", ".join(f"{name}{p.shape}" for name, p in self.named_parameters())
        return f"{type(self).__name__}({own})"


def _walk(path, item, seen):
    """Every module and Tensor within `item` with its path, outermost first, each once."""
    if id(item) in seen:
        return
    if isinstance(item, (Module, Tensor)):
        seen.add(id(item))
        yield path, item
    if isinstance(item, Module):
        item = vars(item)
    if isinstance(item, (list, tuple)):
        item = dict(enumerate(item))
    if isinstance(item, (set, frozenset)) and any(
        isinstance(value, (Module, Tensor)) for value in item
    ):
        raise TypeError(
            f"{path} is a set, which has no order to name its modules and Tensors by: make it a list"
        )
    if isinstance(item, dict):
        for key, value in item.items():
            yield from _walk(f"{path}.{key}" if path else str(key), value, seen)


def _parameter(shape, fan_in, rng, dtype):
    """Uniform between ±1/√fan_in, PyTorch's default for Linear (He et al. 2015 with a = √5)."""
    bound = 1 / np.sqrt(max(fan_in, 1))
    return Tensor(np.asarray(rng.uniform(-bound, bound, shape), dtype), requires_grad=True)


def _check_sizes(layer, **sizes):
    for name, n in sizes.items():
        if not isinstance(n, (int, np.integer)) or n < 0:
            raise TypeError(f"{type(layer).__name__}: {name} must be a whole number, not {n!r}")


def _times(layer, x, weight):
    """x @ weight.T, or the error of `layer` that they do not fit."""
    try:
        return x @ (weight.T if weight.ndim > 1 else weight)
    except ValueError:
        raise ValueError(
            f"{type(layer).__name__}: inputs of shape (…, {weight.shape[-1]}) are needed for weights of "
            f"shape {weight.shape}, not {np.shape(x)}"
        ) from None


class Neuron(Module):
    """activation(x · weight + bias): inputs of shape (…, in_features) give (…).

    `weight` has shape (in_features,), `bias` is a scalar. `rng` is a NumPy Generator or a seed.
    """

    def __init__(self, in_features, activation=None, rng=None, dtype=float):
        _check_sizes(self, in_features=in_features)
        rng = np.random.default_rng(rng)
        self.weight = _parameter(in_features, in_features, rng, dtype)
        self.bias = _parameter((), in_features, rng, dtype)
        self.activation = activation

    def forward(self, x):
        z = _times(self, x, self.weight) + self.bias
        return self.activation(z) if self.activation else z


class Linear(Module):
    """x @ weight.T + bias: inputs of shape (…, in_features) give (…, out_features).

    `weight` has shape (out_features, in_features), `bias` (out_features,). `rng` is a NumPy Generator or a seed.
    """

    def __init__(self, in_features, out_features, bias=True, rng=None, dtype=float):
        _check_sizes(self, in_features=in_features, out_features=out_features)
        rng = np.random.default_rng(rng)
        self.weight = _parameter((out_features, in_features), in_features, rng, dtype)
        self.bias = _parameter(out_features, in_features, rng, dtype) if bias else None

    def forward(self, x):
        z = _times(self, x, self.weight)
        return z if self.bias is None else z + self.bias


class Embedding(Module):
    """A row of `weight` for every whole number: integers of shape (…) give (…, embedding_dim).

    `weight` has shape (num_embeddings, embedding_dim), and starts normal with variance 1. `rng` is a NumPy Generator or
    a seed. Called with anything but integers from 0 to num_embeddings − 1 it raises TypeError or ValueError.
    """

    def __init__(self, num_embeddings, embedding_dim, rng=None, dtype=float):
        _check_sizes(self, num_embeddings=num_embeddings, embedding_dim=embedding_dim)
        rows = np.random.default_rng(rng).normal(size=(num_embeddings, embedding_dim))
        self.weight = Tensor(rows.astype(dtype), requires_grad=True)

    def forward(self, x):
        return self.weight[functional.whole_numbers("Embedding: its input", x, len(self.weight))]


class LayerNorm(Module):
    """`functional.layer_norm` over the last axes, those of `normalized_shape`, an int or a tuple (Ba et al. 2016).

    `weight` and `bias`, of that shape, start as ones and zeros; without `elementwise_affine` there are none.
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
        return functional.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


class MultiheadAttention(Module):
    """`functional.scaled_dot_product_attention` in `num_heads` parts (Vaswani et al. 2017, section 3.2.2).

    The query, (N, T, embed_dim), the key and the value, both (N, S, embed_dim), or all three without N, go through a
    third of `in_proj_weight` each, (3·embed_dim, embed_dim), and are cut into heads; what the heads give, joined again,
    goes through the Linear `out_proj`. `rng` is a NumPy Generator or a seed. The batch comes first: PyTorch's
    `batch_first=True`, which is not its default.

    A call gives the result, (N, T, embed_dim), and the weights, (N, T, S): their mean over the heads; without
    `average_attn_weights` (N, num_heads, T, S); without `need_weights` None. In `attn_mask` True *forbids* to look, and
    in `scaled_dot_product_attention` it allows, both as in PyTorch; or it holds numbers to add to the scores.
    `is_causal` needs no mask beside it. While training, a share `dropout` of the weights is set to 0.
    """

    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, rng=None, dtype=float):
        _check_sizes(self, embed_dim=embed_dim, num_heads=num_heads)
        if not embed_dim or not num_heads or embed_dim % num_heads:
            raise ValueError(
                f"MultiheadAttention: embed_dim {embed_dim} must be a multiple of num_heads {num_heads}"
            )
        rng = np.random.default_rng(rng)
        self.num_heads, self.dropout = num_heads, Dropout(dropout, rng)
        weight, zeros = np.zeros((3 * embed_dim, embed_dim), dtype), np.zeros(3 * embed_dim, dtype)
        self.in_proj_weight = init.xavier_uniform_(Tensor(weight, requires_grad=True), rng=rng)
        self.in_proj_bias = Tensor(zeros, requires_grad=True) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias, rng, dtype)
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
        query, key, value = (self._heads(x, i) for i, x in enumerate((query, key, value)))
        if attn_mask is not None and attn_mask.dtype == bool:
            attn_mask = ~attn_mask
        weights = functional.attention_weights(query, key, attn_mask, is_causal)
        z = ops.swapaxes(self.dropout(weights) @ value, -2, -3)
        z = self.out_proj(ops.reshape(z, (*z.shape[:-2], -1)))
        if not need_weights:
            return z, None
        return z, ops.mean(weights, axis=-3) if average_attn_weights else weights

    def _heads(self, x, i):
        """The i-th projection of (…, T, embed_dim), as (…, num_heads, T, embed_dim / num_heads)."""
        n = len(self.out_proj.weight)
        z = _times(self, x, self.in_proj_weight[i * n : (i + 1) * n])
        z = z if self.in_proj_bias is None else z + self.in_proj_bias[i * n : (i + 1) * n]
        return ops.swapaxes(ops.reshape(z, (*z.shape[:-1], self.num_heads, -1)), -2, -3)


class Conv2d(Module):
    """`functional.conv2d` with kernels and biases of its own: (N, in_channels, H, W) gives (N, out_channels, …, …).

    `weight` has shape (out_channels, in_channels, kh, kw), `bias` (out_channels,). `kernel_size`, `stride` and `padding` are an
    int or a pair. `rng` is a NumPy Generator or a seed.
    """

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        bias=True,
        rng=None,
        dtype=float,
    ):
        _check_sizes(self, in_channels=in_channels, out_channels=out_channels)
        rng = np.random.default_rng(rng)
        kh, kw = ops.pair(kernel_size, "Conv2d: kernel_size")
        fan_in = in_channels * kh * kw
        self.weight = _parameter((out_channels, in_channels, kh, kw), fan_in, rng, dtype)
        self.bias = _parameter(out_channels, fan_in, rng, dtype) if bias else None
        self.stride, self.padding = stride, padding
        self(np.zeros((0, in_channels, kh, kw)))  # refuses what fits no image

    def forward(self, x):
        return functional.conv2d(x, self.weight, self.bias, self.stride, self.padding)


class MaxPool2d(Module):
    """`functional.max_pool2d` as a layer."""

    def __init__(self, kernel_size, stride=None):
        self.kernel_size, self.stride = kernel_size, stride
        self(
            np.zeros((0, 1, *ops.pair(kernel_size, f"{type(self).__name__}: kernel_size")))
        )  # refuses what fits no image

    def forward(self, x):
        return functional.max_pool2d(x, self.kernel_size, self.stride)


class AvgPool2d(MaxPool2d):
    """`functional.avg_pool2d` as a layer."""

    def forward(self, x):
        return functional.avg_pool2d(x, self.kernel_size, self.stride)


class Flatten(Module):
    """All axes but the first as one: (N, C, H, W) gives (N, C·H·W)."""

    def forward(self, x):
        return ops.reshape(x, (len(x), int(np.prod(x.shape[1:]))))


class Dropout(Module):
    """`functional.dropout` while training, nothing after `eval()`. `rng` is a NumPy Generator or a seed."""

    def __init__(self, p=0.5, rng=None):
        functional.dropout(np.zeros(0), p)  # refuses what is no probability
        self.p, self.rng = p, np.random.default_rng(rng)

    def forward(self, x):
        return functional.dropout(x, self.p, self.training, self.rng)


class RNNCell(Module):
    """One step of a recurrent network: h′ = tanh(x·W_ihᵀ + b_ih + h·W_hhᵀ + b_hh) (Elman 1990).

    `x` has shape (N, input_size) and `h` (N, hidden_size), or both without N; without `h` it starts at zeros. `weight_ih` has shape
    (hidden_size, input_size), `weight_hh` (hidden_size, hidden_size), each bias (hidden_size,); all start uniform between
    ±1/√hidden_size. `activation` takes the place of tanh. `rng` is a NumPy Generator or a seed. Raises ValueError if h does not fit x.
    """

    def __init__(self, input_size, hidden_size, activation=ops.tanh, rng=None, dtype=float):
        _check_sizes(self, input_size=input_size, hidden_size=hidden_size)
        rng = np.random.default_rng(rng)
        self.weight_ih = _parameter((hidden_size, input_size), hidden_size, rng, dtype)
        self.weight_hh = _parameter((hidden_size, hidden_size), hidden_size, rng, dtype)
        self.bias_ih = _parameter(hidden_size, hidden_size, rng, dtype)
        self.bias_hh = _parameter(hidden_size, hidden_size, rng, dtype)
        self.activation = activation

    def forward(self, x, h=None):
        wanted = (*np.shape(x)[:-1], len(self.weight_hh))
        if h is not None and np.shape(h) != wanted:
            raise ValueError(
                f"RNNCell: x of shape {np.shape(x)} goes with h of shape {wanted}, not {np.shape(h)}"
            )
        z = _times(self, x, self.weight_ih) + self.bias_ih + self.bias_hh
        return self.activation(z if h is None else z + h @ self.weight_hh.T)


class Sequential(Module):
    """Its arguments, modules or plain functions, one after the other; `model[1]`, `model[:2]` and `len(model)` work."""

    def __init__(self, *layers):
        for i, layer in enumerate(layers):
            if not callable(layer) or isinstance(layer, type):
                raise TypeError(
                    f"{type(self).__name__}: layer {i} must be a module or a function, not {layer!r}; give "
                    "the layers one by one, Sequential(Linear(2, 3), relu), or as Sequential(*layers)"
                )
        self.layers = list(layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def __len__(self):
        return len(self.layers)

    def __getitem__(self, index):
        return Sequential(*self.layers[index]) if isinstance(index, slice) else self.layers[index]


class MLP(Sequential):
    """Linear layers of the given sizes with an activation between them: MLP([64, 32, 10]) takes (…, 64) to (…, 10)."""

    def __init__(self, sizes, activation=ops.relu, rng=None, dtype=float):
        if np.ndim(sizes) != 1 or len(sizes) < 2 or not callable(activation):
            raise TypeError(
                f"MLP: a list of sizes is needed, such as [2, 16, 1], and a function between the layers, "
                f"not {sizes!r} and {activation!r}"
            )
        rng = np.random.default_rng(rng)
        layers = []
        for n, m in zip(sizes, sizes[1:]):
            layers += [Linear(n, m, rng=rng, dtype=dtype), activation]
        super().__init__(*layers[:-1])
