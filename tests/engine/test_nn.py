"""Modules, losses, and saved states."""

import copy
import operator
import os
import pickle
import re
import threading
import warnings
import zipfile
from collections import deque
from dataclasses import dataclass, field

import numpy as np
import pytest

import autograd_lib as ag
from autograd_lib import Tensor, check_grads, nn
from autograd_lib.data import DataLoader
from autograd_lib.nn import functional as F


def leaf(data):
    return Tensor(np.array(data, float), requires_grad=True)


class Pair(nn.Module):
    def __init__(self, a=(1.0, 2.0), b=((1.0, 2.0, 3.0),)):
        self.a, self.b = leaf(a), leaf(b)


class Itself(nn.Module):
    """Apply self-attention: query, key and value are the same array."""

    def __init__(self, attention):
        self.attention = attention

    def forward(self, x):
        return self.attention(x, x, x, is_causal=True)[0]


# --- Layers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [(), (1,), (4,), (2, 4), (0,)])
def test_shapes(batch):
    x = np.random.default_rng(0).normal(size=(*batch, 3))
    assert nn.Linear(3, 2, rng=0)(x).shape == (*batch, 2)
    assert nn.Linear(3, 2, bias=False, rng=0)(x).shape == (*batch, 2)
    assert nn.Neuron(3, rng=0)(x).shape == batch
    assert nn.MLP([3, 5, 4, 2], rng=0)(x).shape == (*batch, 2)
    assert nn.Sequential(nn.Linear(3, 4, rng=0), ag.tanh, nn.Linear(4, 1, rng=1))(x).shape == (
        *batch,
        1,
    )


def test_layers_compute_their_formulas():
    rng = np.random.default_rng(0)
    x, layer, neuron = rng.normal(size=(4, 3)), nn.Linear(3, 2, rng=1), nn.Neuron(3, ag.relu, rng=2)
    np.testing.assert_allclose(layer(x).data, x @ layer.weight.data.T + layer.bias.data, rtol=1e-14)
    np.testing.assert_allclose(
        neuron(x).data, np.maximum(x @ neuron.weight.data + neuron.bias.data, 0), rtol=1e-14
    )
    assert layer.weight.shape == (2, 3) and layer.bias.shape == (2,)
    assert neuron.weight.shape == (3,) and neuron.bias.shape == ()
    model = nn.MLP([3, 5, 2], activation=ag.tanh, rng=3)
    first, _, last = model.layers
    np.testing.assert_allclose(
        model(x).data, last(np.tanh(first(x).data)).data, rtol=1e-14
    )  # no activation after the last layer


def test_convolution_and_pooling_layers():
    x = np.random.default_rng(0).normal(size=(2, 3, 5, 6))
    layer = nn.Conv2d(3, 4, (3, 2), stride=(2, 1), padding=1, rng=0)
    assert layer.weight.shape == (4, 3, 3, 2) and layer.bias.shape == (4,)
    assert np.abs(layer.weight.data).max() <= 1 / np.sqrt(18)
    z = layer(x)
    assert z.shape == (2, 4, 3, 7)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    window = padded[1, :, 2:5, 3:5]
    np.testing.assert_allclose(
        z.data[1, 2, 1, 3], np.sum(window * layer.weight.data[2]) + layer.bias.data[2], rtol=1e-13
    )
    np.testing.assert_allclose(
        layer(x).data - nn.functional.conv2d(x, layer.weight, stride=(2, 1), padding=1).data,
        np.broadcast_to(layer.bias.data.reshape(4, 1, 1), z.shape),
        rtol=1e-9,
    )
    assert len(nn.Conv2d(1, 2, 3, bias=False, rng=0).parameters()) == 1
    for pool, reduce in [(nn.MaxPool2d, np.max), (nn.AvgPool2d, np.mean)]:
        whole = pool(2)(ag.Tensor(x[:, :, :4]))
        np.testing.assert_allclose(
            whole.data, reduce(x[:, :, :4].reshape(2, 3, 2, 2, 3, 2), axis=(3, 5)), rtol=1e-14
        )
        np.testing.assert_array_equal(
            pool(2)(ag.Tensor(x)).data, whole.data
        )  # the fifth row does not fill a window
        overlapping = pool((3, 2), stride=(2, 1))(ag.Tensor(x)).data
        assert overlapping.shape == (2, 3, 2, 5)
        np.testing.assert_allclose(overlapping[0, 1, 1, 4], reduce(x[0, 1, 2:5, 4:6]), rtol=1e-14)
    assert nn.Flatten()(z).shape == (2, 84) and nn.Flatten()(np.ones((0, 2, 3))).shape == (0, 6)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda x: F.max_pool2d(x, 0), r"max_pool2d: windows of size \(0, 0\)"),
        (lambda x: F.avg_pool2d(x, 2, 0), r"avg_pool2d: .*stride \(0, 0\)"),
        (lambda x: F.max_pool2d(x, 6), r"max_pool2d: windows of size \(6, 6\).*\(5, 5\)"),
        (lambda x: F.max_pool2d(x[0], 2), r"max_pool2d: .*\(3, 5, 5\)"),
        (
            lambda x: F.conv2d(x, np.ones((4, 3, 2, 2)), np.ones(3)),
            r"conv2d: .*bias of shape \(4,\).* got \(3,\)",
        ),
        (
            lambda x: F.conv2d(x, np.ones((1, 3, 2, 2)), np.ones(7)),
            r"conv2d: .*bias .* got \(7,\)",
        ),
        (
            lambda x: F.conv2d(x, np.ones((1, 3, 2, 2)), stride="same"),
            "conv2d: stride: .*int.*, got 'same'",
        ),
        (
            lambda x: F.conv2d(x, np.ones((1, 3, 2, 2)), padding=1.0),
            "conv2d: padding: .*int.*, got 1.0",
        ),
    ],
)
def test_image_layers_report_wrong_shapes(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call(Tensor(np.ones((2, 3, 5, 5))))


def test_a_pair_may_be_a_list():
    x = np.ones((2, 3, 5, 5))
    assert nn.Conv2d(3, 4, [2, 3], stride=[1, 2], rng=0)(x).shape == (2, 4, 4, 2)
    assert F.max_pool2d(ag.Tensor(x), [2, 1]).shape == (2, 3, 2, 5)


def test_a_pooling_tie_shares_the_gradient():
    x = ag.Tensor([[[[1.0, 5.0], [5.0, 2.0]]]], requires_grad=True)
    F.max_pool2d(x, 2).sum().backward()
    np.testing.assert_array_equal(x.grad, [[[[0, 0.5], [0.5, 0]]]])


def test_gradients_of_convolution_and_pooling_by_differences():
    rng = np.random.default_rng(0)
    x, w, b = rng.normal(size=(2, 2, 4, 3)), rng.normal(size=(1, 2, 3, 2)), rng.normal(size=1)
    check_grads(lambda x, w, b: F.conv2d(x, w, b, stride=(2, 1), padding=(1, 0)), x, w, b)
    image = rng.normal(size=(1, 2, 5, 4))
    check_grads(lambda x: F.max_pool2d(x, (3, 2), stride=1), image)
    check_grads(lambda x: F.avg_pool2d(x, 3, stride=(2, 1)), image)


def test_recurrent_cell():
    cell, x, h = nn.RNNCell(3, 4, rng=0), np.ones((2, 3)), np.full((2, 4), 0.5)
    by_hand = np.tanh(
        x @ cell.weight_ih.data.T
        + cell.bias_ih.data
        + h @ cell.weight_hh.data.T
        + cell.bias_hh.data
    )
    np.testing.assert_allclose(cell(x, h).data, by_hand, rtol=1e-14)
    np.testing.assert_allclose(cell(x).data, cell(x, np.zeros((2, 4))).data, rtol=1e-14)
    np.testing.assert_allclose(cell(x[0], h[0]).data, by_hand[0], rtol=1e-14)
    assert [p.shape for p in cell.parameters()] == [(4, 3), (4, 4), (4,), (4,)]
    assert max(np.abs(p.data).max() for p in cell.parameters()) <= 0.5
    for wrong in (h[:1], h[0], np.zeros((2, 3))):
        with pytest.raises(
            ValueError, match=r"RNNCell: expected h of shape \(2, 4\) for x of shape \(2, 3\)"
        ):
            cell(x, wrong)
    plain = nn.RNNCell(3, 4, activation=lambda z: z, rng=0)
    np.testing.assert_allclose(np.tanh(plain(x, h).data), by_hand, rtol=1e-14)

    def twice(weight):
        cell.weight_hh.data = weight
        return cell(x, cell(x, h)).sum().item()

    start = cell.weight_hh.data
    cell(x, cell(x, h)).sum().backward()
    moved = np.zeros((4, 4))
    moved[1, 2] = 1e-5
    np.testing.assert_allclose(
        cell.weight_hh.grad[1, 2], (twice(start + moved) - twice(start - moved)) / 2e-5, rtol=1e-6
    )


def test_dropout():
    x = ag.Tensor(np.ones((100, 100), np.float32), requires_grad=True)
    layer = nn.Dropout(0.25, rng=0)
    z = layer(x)
    assert z.dtype == np.float32 and set(np.unique(z.data)) == {np.float32(0), np.float32(1 / 0.75)}
    assert 0.73 < np.mean(z.data > 0) < 0.77
    z.sum().backward()
    np.testing.assert_array_equal(x.grad, z.data)  # dropped entries get no gradient
    assert not np.array_equal(layer(x).data, z.data)  # drawn again at each call
    np.testing.assert_array_equal(nn.Dropout(0.25, rng=0)(x).data, z.data)
    model = nn.Sequential(layer).eval()
    np.testing.assert_array_equal(model(x).data, x.data)
    np.testing.assert_array_equal(nn.Dropout(0.0)(x).data, x.data)
    assert 0.45 < np.mean(F.dropout(x, rng=1).data > 0) < 0.55
    np.testing.assert_allclose(np.unique(F.dropout(np.full(50, 10), 0.3, rng=0)), [0, 10 / 0.7])
    for p in (1.0, -0.1, np.nan, "a", None, np.ones(2)):
        with pytest.raises(ValueError, match="dropout: .*p < 1"):
            F.dropout(x, p)


@pytest.mark.parametrize(
    "shape, norm", [((4, 5), 5), ((2, 3, 4), (3, 4)), ((2, 3, 4), [4]), ((7,), 7)]
)
def test_layer_norm(shape, norm):
    """Catch a variance divided by n − 1, and an eps outside the square root."""
    x, layer = 5 + 3 * np.random.default_rng(0).normal(size=shape), nn.LayerNorm(norm, eps=0.1)
    axes = tuple(range(-len(layer.normalized_shape), 0))
    normal = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 0.1)
    np.testing.assert_allclose(layer(x).data, normal, rtol=1e-12)
    layer.weight.data, layer.bias.data = layer.weight.data * 2, layer.bias.data + 1
    np.testing.assert_allclose(layer(Tensor(x)).data, 2 * normal + 1, rtol=1e-12)
    w, b = layer.weight.data + 0.5, layer.bias.data
    check_grads(lambda x, w, b: F.layer_norm(x, layer.normalized_shape, w, b), x, w, b)
    assert [p.shape for p in layer.parameters()] == [layer.normalized_shape] * 2
    assert len(nn.LayerNorm(norm, bias=False).parameters()) == 1
    np.testing.assert_allclose(
        nn.LayerNorm(norm, eps=0.1, elementwise_affine=False)(x).data, normal, rtol=1e-12
    )
    with pytest.raises(ValueError, match=r"layer_norm: .* \(…, 9\), got"):
        nn.LayerNorm(9)(x)


def test_layer_norm_of_equal_numbers_has_a_gradient():
    x = leaf(np.full((2, 3), 7.0))
    F.layer_norm(x, 3).sum().backward()
    np.testing.assert_array_equal(x.grad, 0)


def test_embedding():
    """Catch a negative index that counts from the end."""
    layer, x = nn.Embedding(5, 3, rng=0), np.array([[0, 4, 0], [1, 0, 1]])
    z = layer(x)
    np.testing.assert_array_equal(z.data, layer.weight.data[x])
    z.sum().backward()
    np.testing.assert_array_equal(
        layer.weight.grad, np.repeat([[3.0], [2], [0], [0], [1]], 3, axis=1)
    )
    for same in (Tensor(x), x.tolist(), x.astype(np.uint8)):
        np.testing.assert_array_equal(layer(same).data, z.data)
    assert layer(2).shape == (3,) and nn.Embedding(5, 3, rng=0)(x).data[0, 0, 0] == z.data[0, 0, 0]
    np.testing.assert_allclose(nn.Embedding(300, 100, rng=0).weight.data.var(), 1, rtol=0.02)
    for wrong, error in [
        ([-1], ValueError),
        ([5], ValueError),
        ([1.0], TypeError),
        ([True], TypeError),
    ]:
        with pytest.raises(error, match="Embedding: .*integers from 0 to 4"):
            layer(wrong)


def attention_by_loops(q, k, v, allowed, scale):
    """Compute attention one query at a time, without an array of weights."""
    out = np.zeros((*q.shape[:-1], v.shape[-1]))
    for *n, t in np.ndindex(q.shape[:-1]):
        n = tuple(n)
        seen = [s for s in range(k.shape[-2]) if allowed[t, s]]
        w = np.array([np.exp(q[n][t] @ k[n][s] * scale) for s in seen])
        out[n][t] = sum(share * v[n][s] for share, s in zip(w / w.sum(), seen))
    return out


@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
def test_attention(batch):
    """Catch a missing scale, an inverted mask, and a mask applied after the softmax."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=(*batch, *shape)) for shape in [(3, 4), (5, 4), (5, 2)])
    attend, causal, mask = (
        F.scaled_dot_product_attention,
        np.tri(3, 5) > 0,
        rng.random((3, 5)) > 0.4,
    )
    bias = rng.normal(size=(3, 5))
    for given, allowed, scale in [
        ({}, causal | True, 0.5),
        ({"is_causal": True}, causal, 0.5),
        ({"attn_mask": mask}, mask, 0.5),
        ({"attn_mask": mask.tolist(), "scale": 2.0}, mask, 2.0),
        ({"attn_mask": Tensor(np.where(mask, 0, -np.inf))}, mask, 0.5),
    ]:
        np.testing.assert_allclose(
            attend(q, k, v, **given), attention_by_loops(q, k, v, allowed, scale), rtol=1e-12
        )
        if not batch:
            check_grads(lambda q, k, v, given=given: attend(q, k, v, **given), q, k, v, order=1)
    check_grads(lambda bias: attend(q, k, v, bias), bias, order=1)
    weights = F.attention_weights(q, k, bias)
    np.testing.assert_allclose(
        weights, ag.softmax(q @ np.swapaxes(k, -1, -2) / 2 + bias), rtol=1e-12
    )
    single = [x.astype(np.float32) for x in (q, k, v)]
    assert attend(*single, mask).dtype == attend(*single, bias).dtype == np.float32


def test_masked_keys_get_no_gradient():
    q, k, v = (leaf(np.random.default_rng(i).normal(size=(4, 3))) for i in range(3))
    F.scaled_dot_product_attention(q, k, v, is_causal=True)[1].sum().backward()
    for x in (k, v):
        assert (x.grad[2:] == 0).all() and (x.grad[:2] != 0).all()


def test_multihead_attention():
    """Each head is computed alone, from its own rows of the weights. Catches heads split without
    swapping the axes.
    """
    layer = nn.MultiheadAttention(6, 2, rng=0)
    rng = np.random.default_rng(1)
    layer.in_proj_bias.data = rng.normal(size=18)
    layer.out_proj.bias.data = rng.normal(size=6)
    q, k, v = (rng.normal(size=shape) for shape in [(2, 3, 6), (2, 4, 6), (2, 4, 6)])
    hidden = np.tri(3, 4, dtype=bool)[::-1]
    ws, bs = layer.in_proj_weight.data.reshape(3, 6, 6), layer.in_proj_bias.data.reshape(3, 6)
    for given, allowed in [
        ({}, ~hidden | True),
        ({"attn_mask": hidden}, ~hidden),
        ({"is_causal": True}, np.tri(3, 4) > 0),
        ({"attn_mask": np.where(hidden, -np.inf, 0)}, ~hidden),
    ]:
        parts = [x @ w.T + b for x, w, b in zip((q, k, v), ws, bs)]
        heads = [
            F.scaled_dot_product_attention(*(x[..., h : h + 3] for x in parts), allowed)
            for h in (0, 3)
        ]
        z, weights = layer(q, k, v, **given)
        np.testing.assert_allclose(
            z.data, layer.out_proj(np.concatenate(heads, -1)).data, rtol=1e-12
        )
        each = layer(q, k, v, average_attn_weights=False, **given)[1]
        assert weights.shape == (2, 3, 4) and each.shape == (2, 2, 3, 4)
        np.testing.assert_allclose(weights.data, each.data.mean(axis=1), rtol=1e-12)
        np.testing.assert_allclose(
            layer(q[0], k[0], v[0], need_weights=False, **given)[0].data, z.data[0], rtol=1e-12
        )
    assert layer(q, k, v, need_weights=False)[1] is None
    assert [p.shape for p in layer.parameters()] == [(18, 6), (18,), (6, 6), (6,)]
    assert len(nn.MultiheadAttention(6, 2, bias=False).parameters()) == 2
    spread = nn.MultiheadAttention(64, 4, rng=0).in_proj_weight.data.var()
    assert abs(spread * (64 + 192) / 2 - 1) < 0.05  # Glorot and Bengio


def test_attention_drops_weights_while_it_trains():
    layer, x = (
        nn.MultiheadAttention(4, 1, dropout=0.5, rng=0),
        np.random.default_rng(0).normal(size=(2, 8, 4)),
    )
    assert not np.array_equal(layer(x, x, x)[0].data, layer(x, x, x)[0].data)
    layer.eval()
    assert np.array_equal(layer(x, x, x)[0].data, layer(x, x, x)[0].data)
    kept = F.scaled_dot_product_attention(x, x, np.ones((2, 8, 1)), dropout_p=0.5, rng=0)
    assert 0.5 < kept.mean() < 1.5 and kept.std() > 0.1


def test_sequential_is_a_list_of_layers():
    model = nn.MLP([3, 4, 5, 2], rng=0)
    x = np.ones(3)
    assert (
        len(model) == 5
        and model[-1] is model.layers[4]
        and list(model) == model.layers
        and model[1] is ag.relu
    )
    assert isinstance(model[:2], nn.Sequential) and model[:2].layers == model.layers[:2]
    np.testing.assert_array_equal(model[2:](model[:2](x)).data, model(x).data)


@pytest.mark.parametrize(
    "make",
    [
        lambda dtype: nn.MLP([3, 4, 2], rng=0, dtype=dtype),
        lambda dtype: nn.Linear(3, 2, rng=0, dtype=dtype),
        lambda dtype: nn.Neuron(3, ag.tanh, rng=0, dtype=dtype),
        lambda dtype: nn.RNNCell(3, 2, rng=0, dtype=dtype),
        lambda dtype: nn.LayerNorm(3, dtype=dtype),
        lambda dtype: Itself(nn.MultiheadAttention(3, 1, rng=0, dtype=dtype)),
    ],
)
def test_a_model_may_be_of_float32(make):
    """Every module takes a dtype. Regression: weights were always float64, so a step took 27 ms
    in place of 15.
    """
    model, double = make(np.float32), make(float)
    inputs = [np.ones((2, 3), np.float32), np.ones((2, 2), np.float32)][
        : 1 + isinstance(model, nn.RNNCell)
    ]
    for p, q in zip(model.parameters(), double.parameters(), strict=True):
        assert p.dtype == np.float32
        np.testing.assert_array_equal(
            p.data, q.data.astype(np.float32)
        )  # the same numbers, rounded
    z = model(*inputs)
    z.sum().backward()
    assert z.dtype == np.float32 and {p.grad.dtype for p in model.parameters()} == {
        np.dtype(np.float32)
    }
    assert double.to(np.float32) is double
    np.testing.assert_array_equal(double(*inputs).data, z.data)
    ag.optim.Adam(model.parameters()).step()
    assert {p.dtype for p in model.parameters()} == {np.dtype(np.float32)}


def test_a_model_changes_its_dtype_whole(interrupted):
    model = Centre(2)
    model.register_buffer("count", 3)
    (model.scale * 2.0).sum().backward()
    y = (model.scale * model.scale).sum()
    model.to("float32")
    assert (
        model.scale.dtype == model.scale.grad.dtype == model.mean.dtype == np.float32
        and model.count.dtype == int
    )
    with pytest.raises(RuntimeError, match="was changed"):
        y.backward()
    model.scale.data = model.scale.data.astype(float)  # so it has to be converted by hand
    assert model.scale.dtype == model.scale.grad.dtype == float
    for wrong in (int, complex):
        with pytest.raises(TypeError, match="Centre.to: .*floating dtype"):
            model.to(wrong)
    for model in interrupted(Pair, lambda model: model.to(np.float32)):
        assert model.a.dtype == model.b.dtype
    assert nn.Embedding(2, 3, dtype=np.float32).weight.dtype == np.float32
    assert nn.Conv2d(1, 2, 3, dtype=np.float32).bias.dtype == np.float32


def attend(query, key, *given, **more):
    return F.scaled_dot_product_attention(query, key, key, *given, **more)


class Scattered(nn.Module):
    def __init__(self):
        self.words, self.parts = {"a", "b"}, {nn.Linear(2, 2)}


@pytest.mark.parametrize(
    "call, error, words",
    [
        (
            lambda: nn.Linear(4, 2)(np.ones((2, 3))),
            ValueError,
            r"Linear: .*\(…, 4\).*of shape \(2, 4\), got \(2, 3\)",
        ),
        (lambda: nn.Linear(4, 2)(Tensor(1.0)), ValueError, r"Linear: .*\(…, 4\).*got \(\)"),
        (lambda: nn.MLP([4, 8, 2])(np.ones(3)), ValueError, r"Linear: .*\(…, 4\).*got \(3,\)"),
        (lambda: nn.Neuron(4)(np.ones((2, 3))), ValueError, r"Neuron: .*\(…, 4\).*got \(2, 3\)"),
        (
            lambda: nn.RNNCell(4, 2)(np.ones((2, 3))),
            ValueError,
            r"RNNCell: .*\(…, 4\).*got \(2, 3\)",
        ),
        (
            lambda: nn.Linear(2.0, 3),
            TypeError,
            "Linear: in_features must be an integer .*got 2.0",
        ),
        (lambda: nn.Linear(2, -3), TypeError, "Linear: out_features"),
        (lambda: nn.Neuron([2]), TypeError, "Neuron: in_features"),
        (lambda: nn.Conv2d("1", 2, 3), TypeError, "Conv2d: in_channels"),
        (lambda: nn.RNNCell(2, None), TypeError, "RNNCell: hidden_size"),
        (lambda: nn.LayerNorm(2.5), TypeError, "LayerNorm: normalized_shape"),
        (lambda: nn.Embedding(2.0, 3), TypeError, "Embedding: num_embeddings"),
        (
            lambda: nn.MultiheadAttention(6, 4),
            ValueError,
            "MultiheadAttention: embed_dim .* 6 and num_heads 4",
        ),
        (lambda: nn.MultiheadAttention(6, 0), ValueError, "MultiheadAttention: .*num_heads 0"),
        (
            lambda: nn.MultiheadAttention(6, 2)(*[np.ones((2, 5))] * 3),
            ValueError,
            r"MultiheadA.*\(…, 6\).*got \(2, 5\)",
        ),
        (
            lambda: attend(np.ones(3), np.ones(3)),
            ValueError,
            r"scaled_dot.*\(…, T, d\).*got \(3,\) and \(3,\)",
        ),
        (lambda: attend(np.ones((2, 3)), np.ones((2, 4))), ValueError, r"\(2, 3\) and \(2, 4\)"),
        (
            lambda: attend(np.ones((2, 3)), np.ones((2, 3)), np.tri(2) > 0, is_causal=True),
            ValueError,
            "got both",
        ),
        (
            lambda: attend(np.ones((2, 3)), np.ones((2, 3)), np.tri(2, k=-1) > 0),
            ValueError,
            "attn_mask .*one key",
        ),
        (
            lambda: attend(np.ones((2, 3)), np.ones((2, 3)), np.tri(2, dtype=int)),
            TypeError,
            "attn_mask .*int64",
        ),
        (lambda: nn.Linear(2, 3, dtype=int), TypeError, "int64"),
        (lambda: nn.Dropout(1.5), ValueError, "dropout: .*p < 1, got 1.5"),
        (
            lambda: Centre(2).register_buffer("forward", [1.0]),
            ValueError,
            "'forward' cannot be the name.* Centre",
        ),
        (lambda: Centre(2).register_buffer("a.b", [1.0]), ValueError, "'a.b' cannot be the name"),
        (
            lambda: nn.Sequential(Scattered()).parameters(),
            TypeError,
            "layers.0.parts .*got set",
        ),
        (
            lambda: F.layer_norm(leaf([[1, 2]]), (2,), np.ones(1)),
            ValueError,
            r"layer_norm: weight has shape \(1,\)",
        ),
        (
            lambda: F.layer_norm(leaf([[1, 2]]), (2,), bias=np.ones((3, 1))),
            ValueError,
            r"layer_norm: bias has shape",
        ),
        (
            lambda: Pair().load_state_dict("m.npz"),
            TypeError,
            r"Pair.load_state_dict: .*dict.* got str; .*load\(path\)",
        ),
        (
            lambda: nn.utils.clip_grad_norm_(Pair(), 1.0),
            TypeError,
            "clip_grad_norm_: .*parameters.* got Pair",
        ),
        (
            lambda: nn.utils.clip_grad_norm_(Pair().parameters, 1.0),
            TypeError,
            "clip_grad_norm_: .* got method",
        ),
        (lambda: nn.init.zeros_, AttributeError, "init .*'zeros_'"),
        (lambda: nn.Conv2d(1, 2, 0), ValueError, r"conv2d: a kernel of size \(0, 0\)"),
        (lambda: nn.Conv2d(1, 2, 3, stride=0), ValueError, r"conv2d: .*stride \(0, 0\)"),
        (lambda: nn.Conv2d(1, 2, 3, padding=-1), ValueError, r"conv2d: .*padding \(-1, -1\)"),
        (lambda: nn.MaxPool2d(2, 0), ValueError, r"max_pool2d: .*stride \(0, 0\)"),
        (lambda: nn.AvgPool2d("2"), TypeError, "AvgPool2d: kernel_size: .*int.*, got '2'"),
        (lambda: ag.optim.lr_scheduler, AttributeError, "optim .*'lr_scheduler'.* StepLR"),
        (
            lambda: nn.Sequential([nn.Linear(2, 3)]),
            TypeError,
            r"Sequential: layer 0 .* got \[Linear.*one by one",
        ),
        (
            lambda: nn.Sequential(ag.relu, nn.Linear),
            TypeError,
            "Sequential: layer 1 must be a module .*, got <class",
        ),
        (lambda: nn.Sequential(None), TypeError, "Sequential: layer 0"),
        (
            lambda: nn.MLP(2, 3, 1),
            TypeError,
            r"MLP: expected a list of sizes such as \[2, 16, 1\]",
        ),
        (lambda: nn.MLP([2]), TypeError, "MLP: expected a list of sizes"),
        (lambda: nn.MLP([2, 3], 1), TypeError, "MLP: .* and 1"),
        (lambda: nn.ReLU(), AttributeError, "'ReLU': use autograd_lib.relu"),
        (lambda: nn.BatchNorm1d(3), AttributeError, "'BatchNorm1d': .* Module"),
        (
            lambda: nn.cross_entropy,
            AttributeError,
            "nn .*'cross_entropy': use nn.functional.cross_entropy",
        ),
        (lambda: F.relu, AttributeError, "functional .*'relu': use autograd_lib.relu"),
        (lambda: F.huber_loss, AttributeError, "functional .*'huber_loss'"),
        (
            lambda: nn.init.xavier_uniform_(nn.Linear(2, 3)),
            TypeError,
            "Tensor.*weight.*got Linear",
        ),
    ],
)
def test_layers_report_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_every_suggested_name_exists():
    for name, words in nn._SUBSTITUTES.items():
        assert not hasattr(nn, name) and not hasattr(F, name)
        for path in re.findall(r"(?:nn|autograd_lib)\.[\w.]+", words):
            assert operator.attrgetter(path.removeprefix("autograd_lib."))(ag)


# --- Starting values, clipping, batches -----------------------------------------------------------------


@pytest.mark.parametrize(
    "fill, variance",
    [
        (nn.init.xavier_uniform_, 2 / (300 + 600)),
        (nn.init.xavier_normal_, 2 / (300 + 600)),
        (nn.init.kaiming_uniform_, 2 / 300),
        (nn.init.kaiming_normal_, 2 / 300),
    ],
)
def test_starting_values(fill, variance):
    """Catch swapped fan_in and fan_out in kaiming, and a gain that is not squared."""
    weight = Tensor(np.zeros((600, 300), np.float32), requires_grad=True)
    assert fill(weight, rng=0) is weight and weight.dtype == np.float32
    assert abs(weight.data.mean()) < 1e-3
    np.testing.assert_allclose(weight.data.var(), variance, rtol=0.02)
    first = weight.data.copy()
    np.testing.assert_array_equal(fill(weight, rng=0).data, first)
    assert not np.array_equal(fill(weight, rng=1).data, first)
    if "uniform" in fill.__name__:
        assert (
            np.sqrt(3 * variance) * 0.99 < np.abs(first).max() <= np.sqrt(3 * variance) * (1 + 1e-6)
        )
    kernel = Tensor(np.zeros((60, 30, 2, 5)), requires_grad=True)
    np.testing.assert_allclose(
        fill(kernel, rng=0).data.var(), variance, rtol=0.05
    )  # the same fans: 30·2·5 and 60·2·5
    with pytest.raises(ValueError, match=f"^{fill.__name__}: .*fan_out, fan_in"):
        fill(Tensor(np.zeros(3), requires_grad=True))
    for wrong, words in [
        (Tensor(np.zeros((2, 2), int)), "int64"),
        (weight * 2, "the result of multiply"),
    ]:
        with pytest.raises(TypeError, match=f"^{fill.__name__}: .*weight.*{words}"):
            fill(wrong)


def test_gains_keep_the_size_of_signals():
    """Through thirty relu layers, the gain of relu preserves the size of the signal; the gain of
    a linear layer halves it in every layer.
    """
    sizes = {}
    for name in ("relu", "linear"):
        x = np.random.default_rng(0).normal(size=(100, 256))
        for k in range(30):
            x = np.maximum(
                x @ nn.init.kaiming_normal_(Tensor(np.zeros((256, 256))), name, rng=k).data.T, 0
            )
        sizes[name] = np.mean(x**2)
    assert 0.1 < sizes["relu"] < 10 and sizes["linear"] < 1e-7
    with pytest.raises(ValueError, match="nonlinearity.*'swish'"):
        nn.init.calculate_gain("swish")
    weight = Tensor(np.zeros((400, 400)))
    np.testing.assert_allclose(
        nn.init.xavier_normal_(weight, nn.init.calculate_gain("tanh"), rng=0).data.var(),
        25 / 9 / 400,
        rtol=0.02,
    )


def test_gradients_are_clipped_together():
    a, b, c = leaf([3.0, 0.0]), Tensor(np.zeros(1, np.float32), requires_grad=True), leaf(1.0)
    a.grad, b.grad = np.array([3.0, 0.0]), np.array([4.0], np.float32)
    assert nn.utils.clip_grad_norm_([a, b, c], 10.0) == 5.0
    np.testing.assert_array_equal(a.grad, [3, 0])
    assert nn.utils.clip_grad_norm_((p for p in [a, b, c]), 1.0) == 5.0
    np.testing.assert_allclose(a.grad, [0.6, 0], rtol=1e-15)
    np.testing.assert_allclose(b.grad, [0.8], rtol=1e-6)
    assert b.grad.dtype == np.float32 and c.grad is None
    assert nn.utils.clip_grad_norm_([c], 1.0) == 0
    c.grad = np.array(3.0)
    assert (
        nn.utils.clip_grad_norm_(c, 1.0) == 3 and c.grad == 1 and type(c.grad) is np.ndarray
    )  # a single 0-d Tensor
    for size, most in [(1e30, 1.0), (1e-30, 1e-35)]:  # squares leave the range of float32
        b.grad = np.array([3 * size], np.float32)
        np.testing.assert_allclose(nn.utils.clip_grad_norm_([b], most), 3 * size, rtol=1e-6)
        np.testing.assert_allclose(b.grad, [most], rtol=1e-5)
    half = Tensor(np.zeros(2, np.float16), requires_grad=True)
    half.grad = np.full(2, 3e4, np.float16)
    nn.utils.clip_grad_norm_([half], 1e-3)  # by a factor that float16 cannot represent
    np.testing.assert_allclose(half.grad, 1e-3 / np.sqrt(2), rtol=1e-3)
    for grad, most, words in [
        (np.inf, 1.0, "norm of the gradients is inf"),
        (np.nan, 1.0, "nan"),
        (1.0, -1.0, "max_norm"),
    ]:
        c.grad = np.array(grad)
        with pytest.raises(ValueError, match=words):
            nn.utils.clip_grad_norm_([c], most)
        np.testing.assert_array_equal(c.grad, grad)


def test_batches():
    x, y = np.arange(10), np.arange(10) * 2
    loader = DataLoader(x, y, batch_size=4)
    assert [a.tolist() for a, _ in loader] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]] and len(
        loader
    ) == 3
    whole = DataLoader(x, y, batch_size=4, drop_last=True)
    assert [len(a) for a, _ in whole] == [4, 4] and len(whole) == 2
    mixed = DataLoader(x, y, batch_size=3, shuffle=True, rng=0)
    first, second = [list(mixed) for _ in range(2)]
    for batches in (first, second):
        assert sorted(np.concatenate([a for a, _ in batches])) == list(x)
        assert all(np.array_equal(b, 2 * a) for a, b in batches)
    assert [a.tolist() for a, _ in first] != [a.tolist() for a, _ in second]
    assert [a.tolist() for a, _ in first] == [
        a.tolist() for a, _ in DataLoader(x, y, batch_size=3, shuffle=True, rng=0)
    ]
    assert next(iter(DataLoader(np.ones((5, 2)), batch_size=2))).shape == (2, 2)
    assert list(DataLoader(np.ones((0, 2)), batch_size=2)) == []
    for arrays, size, words in [
        ((x, y[:9]), 1, r"\(10,\), \(9,\)"),
        ((), 1, "the same length"),
        ((x,), 0, "batch_size"),
        ((x,), 2.5, "positive integer"),
        ((x, 4), 1, "batch_size by keyword"),
        (((x, y),), 1, "one by one"),
    ]:
        with pytest.raises(ValueError, match=words):
            DataLoader(*arrays, batch_size=size)
    seen = []
    for batch in (changing := DataLoader(x, batch_size=5)):
        changing.batch_size = 1
        seen += batch.tolist()
    assert seen == list(x)


def test_initial_weights_are_random_reproducible_and_small():
    a, b, c = nn.Linear(100, 50, rng=0), nn.Linear(100, 50, rng=0), nn.Linear(100, 50, rng=1)
    np.testing.assert_array_equal(a.weight.data, b.weight.data)
    assert not np.array_equal(a.weight.data, c.weight.data)
    assert np.abs(a.weight.data).max() <= 0.1 and np.abs(a.weight.data).max() > 0.09
    rng = np.random.default_rng(0)
    assert not np.array_equal(
        nn.Linear(3, 2, rng=rng).weight.data, nn.Linear(3, 2, rng=rng).weight.data
    )
    model = nn.MLP([3, 3, 3], rng=0)
    assert not np.array_equal(model.layers[0].weight.data, model.layers[2].weight.data)


def test_gradients_of_a_model_by_differences():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(4, 3)), np.array([0, 1, 1, 0])
    model = nn.MLP([3, 4, 2], activation=ag.gelu, rng=1)

    def loss_of(w):
        model.layers[0].weight.data = w
        with ag.no_grad():
            return F.cross_entropy(model(x), y).item()

    w = model.layers[0].weight.data.copy()
    F.cross_entropy(model(x), y).backward()
    got, h = model.layers[0].weight.grad, 1e-6
    for k in np.ndindex(w.shape):
        e = np.zeros_like(w)
        e[k] = h
        np.testing.assert_allclose(
            got[k], (loss_of(w + e) - loss_of(w - e)) / (2 * h), rtol=1e-5, atol=1e-9
        )


def test_a_module_without_forward_raises():
    with pytest.raises(NotImplementedError, match="Pair has no forward"):
        Pair()(1.0)


# --- Finding parameters ----------------------------------------------------------------------------------


class Nested(nn.Module):
    def __init__(self):
        self.own = leaf(1.0)
        self.data = Tensor(np.ones(3))  # a constant is not a parameter
        self.array = np.ones(3)
        self.none = None
        self.text = "text"
        self.inner = Pair()
        self.list = [nn.Linear(2, 2, rng=0), ag.relu, leaf(2.0)]
        self.tuple = (nn.Linear(2, 2, bias=False, rng=0),)
        self.dict = {"x": leaf(3.0), "y": {"z": Pair()}}
        self.tied = self.list[0].weight
        self.again = self.inner


def test_parameters_are_found_wherever_they_are():
    model = Nested()
    names = [name for name, _ in model.named_parameters()]
    assert names == [
        "own",
        "inner.a",
        "inner.b",
        "list.0.weight",
        "list.0.bias",
        "list.2",
        "tuple.0.weight",
        "dict.x",
        "dict.y.z.a",
        "dict.y.z.b",
    ]
    assert [p for _, p in model.named_parameters()] == model.parameters()
    assert len({id(p) for p in model.parameters()}) == len(names)
    assert set(names) <= set(model.state_dict())


def test_modules_and_tensors_are_named_by_their_path():
    model = Nested()
    assert [(path, type(module).__name__) for path, module in model.named_modules()] == [
        ("", "Nested"),
        ("inner", "Pair"),
        ("list.0", "Linear"),
        ("tuple.0", "Linear"),
        ("dict.y.z", "Pair"),
    ]
    assert [path for path, _ in model.named_modules("net")] == [
        "net",
        "net.inner",
        "net.list.0",
        "net.tuple.0",
        "net.dict.y.z",
    ]
    assert dict(model.named_tensors("net"))["net.data"] is model.data
    assert [path for path, _ in model.named_parameters("net")] == [
        f"net.{path}" for path, _ in model.named_parameters()
    ]


def test_zero_grad_train_and_eval():
    model = Nested()
    sum(ag.sum(p * p) for p in model.parameters()).backward()
    assert all(p.grad is not None for p in model.parameters())
    model.zero_grad()
    assert all(p.grad is None for p in model.parameters())
    assert model.training and model.inner.training
    assert model.eval() is model
    assert not (
        model.training
        or model.inner.training
        or model.list[0].training
        or model.dict["y"]["z"].training
    )
    assert model.train() is model and model.inner.training
    assert "training" not in model.state_dict()


def test_zero_grad_also_resets_frozen_parameters():
    model = nn.Linear(2, 1, rng=0)
    model(np.ones((1, 2))).sum().backward()
    model.weight.requires_grad = False
    assert model.weight.grad is not None
    model.zero_grad()
    assert model.weight.grad is None and model.bias.grad is None


def test_a_module_may_know_its_parent():
    """Regression: RecursionError."""
    model = nn.Sequential(nn.Linear(2, 2, rng=0))
    model.layers[0].parent = model
    assert [name for name, _ in model.named_parameters()] == ["layers.0.weight", "layers.0.bias"]
    model.eval()
    assert not model.layers[0].training


def test_a_frozen_parameter_stays_in_the_state():
    """Regression: a frozen layer was neither saved nor restored, with no error."""
    model, other = nn.MLP([2, 3, 1], rng=0), nn.MLP([2, 3, 1], rng=1)
    for m in (model, other):
        m.layers[0].weight.requires_grad = False
    other.load_state_dict(model.state_dict())
    np.testing.assert_array_equal(other.layers[0].weight.data, model.layers[0].weight.data)
    x = np.ones(2)
    np.testing.assert_array_equal(other(x).data, model(x).data)
    model(x).sum().backward()
    assert model.layers[0].weight.grad is None


# --- Losses ----------------------------------------------------------------------------------------------


def test_mse_loss():
    a, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.0, 2.0], [5.0, 1.0]])
    assert F.mse_loss(leaf(a), b).item() == (1 + 0 + 4 + 9) / 4
    t = leaf(a)
    F.mse_loss(t, b).backward()
    np.testing.assert_allclose(t.grad, 2 * (a - b) / 4)
    check_grads(F.mse_loss, a, b)
    for wrong in (b[0], b[:, :1], 1.0, b.ravel()):
        with pytest.raises(ValueError, match=r"mse_loss.*\(2, 2\)"):
            F.mse_loss(t, wrong)


def test_cross_entropy():
    x, y = np.random.default_rng(0).normal(size=(5, 3)), np.array([0, 2, 1, 1, 2])
    p = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    t = leaf(x)
    loss = F.cross_entropy(t, y)
    np.testing.assert_allclose(loss.item(), -np.mean(np.log(p[np.arange(5), y])), rtol=1e-14)
    loss.backward()
    np.testing.assert_allclose(t.grad, (p - np.eye(3)[y]) / 5, rtol=1e-13, atol=1e-16)
    np.testing.assert_allclose(t.grad.sum(axis=1), 0, atol=1e-16)
    check_grads(lambda x: F.cross_entropy(x, y), x)
    for same in (y.tolist(), Tensor(y), y.astype(np.uint8), tuple(y)):
        assert F.cross_entropy(t, same).item() == loss.item()
    assert F.cross_entropy(Tensor(np.float32(x), requires_grad=True), y).dtype == np.float32


@pytest.mark.parametrize(
    "x, y, error, words",
    [
        ((5, 3), [0, 1, 2, 3, 0], ValueError, "0 to 2, .* 0 to 3"),
        (
            (5, 3),
            [0, 1, 2, -1, 0],
            ValueError,
            "0 to 2, .* -1 to 2",
        ),  # NumPy would take −1 for the last class
        ((5, 3), [0, 1], ValueError, r"\(5, 3\).*\(2,\)"),
        ((5, 3), [[0], [1], [2], [0], [0]], ValueError, r"\(5, 1\)"),
        ((5, 3), 1, ValueError, r"\(5, 3\)"),
        ((3,), [1], ValueError, r"\(3,\)"),
        ((5, 3), [0.0, 1.0, 2.0, 0.0, 0.0], TypeError, "integers"),
        ((5, 3), [True, False, True, True, True], TypeError, "integers"),
        (
            (5, 3),
            np.eye(3)[[0, 1, 2, 0, 0]],
            TypeError,
            r"integers from 0 to 2, .*float64; .*x\.argmax\(axis=1\)",
        ),
        (
            (5, 3),
            np.eye(3, dtype=int)[[0, 1, 2, 0, 0]],
            ValueError,
            r"got \(5, 3\) and \(5, 3\); for one-hot rows use target\.argmax\(axis=1\)",
        ),
    ],
)
def test_cross_entropy_of_wrong_shapes(x, y, error, words):
    with pytest.raises(error, match=f"cross_entropy.*{words}"):
        F.cross_entropy(leaf(np.zeros(x)), y)


@pytest.mark.parametrize(
    "shape, wanted", [((5, 3), (5,)), ((3,), ()), ((2, 3, 2), (2, 2)), ((1, 3, 2, 2), (1, 2, 2))]
)
def test_cross_entropy_of_any_shape(shape, wanted):
    """As in PyTorch, the loss is −log softmax along axis 1 at the target. Ignored targets do not
    count in the mean.
    """
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=shape), rng.integers(0, 3, wanted)
    p = np.moveaxis(np.exp(x), min(1, x.ndim - 1), -1)
    each = -np.log(np.take_along_axis(p, y[..., None], -1)[..., 0] / p.sum(-1))
    for ignored in (-100, (y.flat[0] + 1) % 3):
        kept = y != ignored
        total = (each * kept).sum()
        for reduction, value in [
            ("none", each * kept),
            ("sum", total),
            ("mean", total / kept.sum()),
        ]:

            def loss(x):
                return F.cross_entropy(x, y, ignore_index=ignored, reduction=reduction)

            np.testing.assert_allclose(loss(Tensor(x)).data, value, rtol=1e-12, atol=1e-15)
            check_grads(loss, x, order=1)
    with pytest.raises(ValueError, match="cross_entropy: reduction must be .*got 'avg'"):
        F.cross_entropy(Tensor(x), y, reduction="avg")


def test_binary_cross_entropy():
    x, y = (
        np.array([[0.3, -2.0, 5.0], [-30.0, 0.0, 30.0]]),
        np.array([[1.0, 0.0, 0.25], [0.0, 1.0, 1.0]]),
    )
    s = 1 / (1 + np.exp(-x))
    each = -y * np.log(s) - (1 - y) * np.log1p(-s)
    got = F.binary_cross_entropy_with_logits(leaf(x), y, reduction="none").data
    np.testing.assert_allclose(got[0], each[0], rtol=1e-12)
    np.testing.assert_allclose(got[1, ::2], np.exp(-30), rtol=1e-12)
    assert F.binary_cross_entropy_with_logits(leaf(x), y).item() == got.mean()
    t = leaf([1000.0, -1000.0, 1000.0])
    F.binary_cross_entropy_with_logits(t, np.array([1.0, 0.0, 0.0]), reduction="sum").backward()
    np.testing.assert_array_equal(t.grad, [0, 0, 1])
    check_grads(F.binary_cross_entropy_with_logits, x, y)
    with pytest.raises(
        ValueError, match=r"binary_cross_entropy_with_logits: .*\(2, 3\) and \(3,\)"
    ):
        F.binary_cross_entropy_with_logits(leaf(x), y[0])
    assert F.mse_loss(leaf(x), y, reduction="sum").item() == pytest.approx(((x - y) ** 2).sum())


def test_composite_activations():
    x = np.array([-3.0, -0.5, 0.5, 30.0])
    np.testing.assert_allclose(F.silu(leaf(x)).data, x / (1 + np.exp(-x)), rtol=1e-14)
    np.testing.assert_array_equal(F.leaky_relu(leaf(x), 0.25).data, [-0.75, -0.125, 0.5, 30])
    check_grads(F.silu, x), check_grads(F.leaky_relu, x)


# --- Learning --------------------------------------------------------------------------------------------


def test_an_mlp_learns_xor():
    x, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    model = nn.MLP([2, 8, 2], activation=ag.tanh, rng=0)
    optimizer = ag.optim.Adam(model.parameters(), lr=0.05)
    losses = []
    for _ in range(200):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[0] > 0.6 and losses[-1] < 0.01
    np.testing.assert_array_equal(np.argmax(model(x).data, axis=1), y)


# --- State -----------------------------------------------------------------------------------------------


def test_state_is_saved_and_loaded(tmp_path):
    model, other = nn.MLP([3, 4, 2], rng=0), nn.MLP([3, 4, 2], rng=1)
    path = tmp_path / "model.npz"
    model.save(path)
    other.load(str(path))
    for a, b in zip(model.parameters(), other.parameters(), strict=True):
        np.testing.assert_array_equal(a.data, b.data)
        assert not np.shares_memory(a.data, b.data)
    assert os.listdir(tmp_path) == ["model.npz"]
    with np.load(path, allow_pickle=False) as file:
        assert set(file) == {name for name, _ in model.named_parameters()}
    assert zipfile.is_zipfile(path)


def test_a_state_is_a_copy():
    model = Pair()
    state = model.state_dict()
    state["a"][:] = 9
    np.testing.assert_array_equal(model.a.data, [1, 2])
    model.load_state_dict(state)
    state["a"][:] = 5
    np.testing.assert_array_equal(model.a.data, 9)


def test_loading_is_a_change_of_data():
    model = Pair()
    y = (model.a * model.a).sum()
    model.load_state_dict(model.state_dict())
    with pytest.raises(RuntimeError, match="was changed"):
        y.backward()


FITS = {"a": np.array([9.0, 9.0]), "b": np.full((1, 3), 9.0)}


@pytest.mark.parametrize(
    "state, words",
    [
        ({"a": FITS["a"]}, "b is missing"),
        ({}, "a is missing.*b is missing"),
        ({**FITS, "c": 1.0}, "c is unknown"),
        ({**FITS, "b": np.ones((3, 1))}, r"b has shape \(3, 1\), expected \(1, 3\)"),
        ({**FITS, "a": 1.0}, r"a has shape \(\)"),
        ({**FITS, "b": np.ones((1, 1))}, r"b has shape"),
        ({**FITS, "b": np.array([["x"] * 3])}, "dict: b: expected real"),
        ({**FITS, "b": np.full((1, 3), 1j)}, "dict: b: expected real"),
        ({**FITS, "b": np.array([[None] * 3])}, "dict: b: expected real"),
    ],
    ids=range(9),
)
def test_a_state_that_does_not_fit_changes_nothing(state, words):
    """Regression: the state was half loaded, because the first array was assigned before the
    second failed.
    """
    model = Pair()
    with pytest.raises((ValueError, TypeError), match=words):
        model.load_state_dict(state)
    np.testing.assert_array_equal(model.a.data, [1, 2])
    np.testing.assert_array_equal(model.b.data, [[1, 2, 3]])


def test_a_file_of_another_model_is_refused(tmp_path):
    nn.MLP([3, 4, 2], rng=0).save(tmp_path / "m.npz")
    with pytest.raises(ValueError, match=r"layers.0.weight has shape \(4, 3\), expected \(5, 3\)"):
        nn.MLP([3, 5, 2], rng=0).load(tmp_path / "m.npz")
    with pytest.raises(ValueError, match="is unknown"):
        nn.MLP([3, 2], rng=0).load(tmp_path / "m.npz")


def test_no_tensor_is_lost_behind_another_of_its_name():
    class Dotted(nn.Module):
        def __init__(self):
            self.layers = {"a.b": leaf(1.0), "a": {"b": leaf(2.0)}}

    with pytest.raises(ValueError, match=r"two arrays have the path layers\.a\.b"):
        Dotted().state_dict()


@pytest.mark.parametrize("name", ["file", "allow_pickle", "x.npy"])
def test_names_that_npz_cannot_hold_are_refused(tmp_path, name):
    """Regression: np.savez complained about its own argument, dropped `allow_pickle`, and stored
    "x.npy" as "x".
    """

    class Odd(nn.Module):
        def __init__(self, value):
            self.args, self.kwds, self.self_ = (leaf(value + k) for k in range(3))
            self.d = {"a b": leaf(value), "π": leaf(value)}

    model, other, path = Odd(1.0), Odd(7.0), tmp_path / "m"
    model.save(path)
    other.load(path)
    for a, b in zip(model.parameters(), other.parameters(), strict=True):
        assert a.item() == b.item()
    vars(model)[name] = leaf(2.0)
    with pytest.raises(ValueError, match=f"Odd.save: .*{name!r}"):
        model.save(path)
    other.load(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(f"{name}.npy", archive.read("args.npy"))
    with pytest.raises(ValueError, match=f"damaged.*{name!r}"):
        other.load(path)


def test_float32_and_0d_and_empty_survive(tmp_path):
    class Mixed(nn.Module):
        def __init__(self):
            self.a = Tensor(np.float32([1.5]), requires_grad=True)
            self.b, self.c = leaf(2.0), leaf(np.zeros((0, 3)))

    model, other = Mixed(), Mixed()
    model.a.data, model.b.data = [0.1], 5.0
    model.save(tmp_path / "m.npz")
    other.load(tmp_path / "m.npz")
    assert other.a.dtype == np.float32 and other.a.data[0] == np.float32(0.1)
    assert other.b.item() == 5 and other.b.shape == () and other.c.shape == (0, 3)


@pytest.mark.parametrize("moment", ["write", "flush", "replace", "interrupt"])
def test_an_interrupted_save_leaves_the_old_file_whole(tmp_path, monkeypatch, moment):
    """Catch a save that lets np.savez write directly to the path."""
    path = tmp_path / "m.npz"
    Pair().save(path)
    before = path.read_bytes()
    stop = KeyboardInterrupt if moment == "interrupt" else OSError

    def broken(*args, **kwargs):
        raise stop("disk full")

    if moment in ("write", "interrupt"):
        real = zipfile.ZipFile.open
        calls = []

        def half(self, *args, **kwargs):
            calls.append(1)
            if len(calls) == 2:
                broken()
            return real(self, *args, **kwargs)

        monkeypatch.setattr(zipfile.ZipFile, "open", half)
    else:
        monkeypatch.setattr(os, {"flush": "fsync", "replace": "replace"}[moment], broken)
    with pytest.raises(stop):
        Pair((7.0, 7.0)).save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m.npz"]
    Pair((7.0, 7.0)).save(path)
    other = Pair()
    other.load(path)
    np.testing.assert_array_equal(other.a.data, 7)


def test_two_threads_may_save_to_one_path(tmp_path):
    """Regression: both threads wrote to the same temporary file."""
    path, faults = tmp_path / "m.npz", []

    def work(value):
        for _ in range(30):
            try:
                Pair(np.full(5000, value)).save(path)
            except Exception as error:
                faults.append(error)

    threads = [threading.Thread(target=work, args=(value,)) for value in (1.0, 2.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    other = Pair(np.zeros(5000))
    other.load(path)
    assert len(set(other.a.data)) == 1 and os.listdir(tmp_path) == ["m.npz"]


class Bomb:
    exploded = []

    def __reduce__(self):
        return (Bomb.exploded.append, (1,))


def test_no_pickle_is_ever_read(tmp_path):
    for name, write in [
        ("object.npz", lambda p: np.savez(p, a=np.array([Bomb(), Bomb()]), b=np.ones((1, 3)))),
        ("object.npy", lambda p: np.save(p, np.array([Bomb()]))),
        ("plain.pkl", lambda p: p.write_bytes(pickle.dumps({"a": Bomb()}))),
    ]:
        write(tmp_path / name)
        model = Pair()
        with pytest.raises(ValueError, match=name.replace(".", r"\.")):
            model.load(tmp_path / name)
        np.testing.assert_array_equal(model.a.data, [1, 2])
    assert Bomb.exploded == []


def test_a_state_is_loaded_whole_or_not_at_all(interrupted):
    class Counted(Pair):
        def __init__(self, *args):
            super().__init__(*args)
            self.register_buffer("mean", [0.0, 0.0])

    def numbers(model):
        return [array.tolist() for array in model.state_dict().values()]

    before, state = numbers(Counted()), {**FITS, "mean": np.ones(2)}
    after = [array.tolist() for array in state.values()]
    seen = [
        numbers(model) for model in interrupted(Counted, lambda model: model.load_state_dict(state))
    ]
    assert seen and all(now in (before, after) for now in seen)
    for wrong in (Tensor(np.ones((1, 3))), leaf(np.ones((1, 3))), np.ma.ones((1, 3)), None, "x"):
        model = Counted()
        with pytest.raises((ValueError, TypeError), match="b"):
            model.load_state_dict({**state, "b": wrong})
        assert numbers(model) == before


# --- Buffers, constants, copies -----------------------------------------------------------------------------


class Centre(nn.Module):
    """Subtract a running mean of the inputs so far."""

    def __init__(self, n):
        self.scale = leaf(np.ones(n))
        self.register_buffer("mean", np.zeros(n))
        self.table = np.arange(3)  # a plain array is not part of the state

    def forward(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x.data.mean(axis=0)
        return (x - self.mean) * self.scale


def test_buffers_are_saved_and_not_trained(tmp_path):
    """Regression: buffers were lost, with no error."""
    model, other = nn.Sequential(Centre(2)), nn.Sequential(Centre(2))
    x = Tensor(np.array([[1.0, 2.0], [3.0, 6.0]]))
    model(x).sum().backward()
    assert (
        list(model.state_dict()) == ["layers.0.scale", "layers.0.mean"]
        and len(model.parameters()) == 1
    )
    np.testing.assert_allclose(model.state_dict()["layers.0.mean"], [0.2, 0.4])
    model.save(tmp_path / "m.npz")
    other.load(tmp_path / "m.npz")
    assert [name for name, _ in other.named_buffers("net")] == ["net.layers.0.mean"]
    np.testing.assert_array_equal(other.layers[0].mean, model.layers[0].mean)
    assert not np.shares_memory(other.layers[0].mean, model.layers[0].mean)
    model.state_dict()["layers.0.mean"][:] = 7
    np.testing.assert_allclose(model.layers[0].mean, [0.2, 0.4])
    model.layers[0].register_buffer("mean", np.ones(2))  # registering again replaces the buffer
    assert (
        list(model.state_dict()) == ["layers.0.scale", "layers.0.mean"]
        and model.layers[0].mean[0] == 1
    )
    with pytest.raises(TypeError, match="Centre: the buffer mean .*array, got a Tensor.*[.]data"):
        model.layers[0].mean = x.mean(axis=0) * 1.0
    np.testing.assert_array_equal(model.layers[0].mean, 1)
    model.layers[0].mean = "words"
    with pytest.raises(TypeError, match=r"buffer layers\.0\.mean"):
        model.state_dict()
    with pytest.raises(TypeError, match="register_buffer: mean"):
        Centre(2).register_buffer("mean", x)


def test_stored_inputs_are_not_part_of_the_state():
    """Regression: a module that stored an input changed its own state and could no longer load
    it.
    """

    class Remembers(nn.Module):
        def __init__(self):
            self.inner, self.seen = nn.Linear(2, 1, rng=0), []

        def forward(self, x):
            self.x, self.z = x, self.inner(x)
            self.seen.append(x)
            return self.z

    model = Remembers()
    before = list(model.state_dict())
    x = np.ones((1, 2))
    with ag.no_grad():
        model(Tensor(x))
    model(Tensor(x))
    ag.grad(lambda x: model(x).sum())(x)
    assert list(model.state_dict()) == before == ["inner.weight", "inner.bias"]
    assert [name for name, _ in model.named_parameters()] == before


@pytest.mark.parametrize("copied", [lambda model: pickle.loads(pickle.dumps(model)), copy.deepcopy])
def test_models_are_copied_and_pickled(copied):
    """Regression: copying failed on the lambdas in the row of relu."""
    model = nn.Sequential(nn.MLP([2, 3, 1], rng=0), nn.Dropout(0.5), ag.gelu, Centre(1))
    model.layers[0].layers[0].weight.requires_grad = False
    model.eval()
    other = copied(model)
    x = Tensor(np.ones((2, 2)))
    np.testing.assert_array_equal(other(x).data, model(x).data)
    assert list(other.state_dict()) == list(model.state_dict()) and other.layers[2] is ag.gelu
    assert [name for name, _ in other.named_parameters()] == [
        name for name, _ in model.named_parameters()
    ]
    other.layers[3].scale.data = [9.0]
    assert model.layers[3].scale.data[0] == 1
    cube = ag.elementwise(lambda x: x**3, lambda g, z, x: g * 3 * x * x, name="cube")
    assert copy.deepcopy(cube) is cube
    with pytest.raises(
        (pickle.PicklingError, AttributeError), match="cube"
    ):  # the array is not found under its name
        pickle.dumps(cube)


def test_a_damaged_file_is_a_value_error_or_the_same_numbers(tmp_path):
    """The file is truncated at many places, and single bytes of it are changed."""
    path = tmp_path / "m.npz"
    Pair().save(path)
    whole = path.read_bytes()
    damaged = [whole[:k] for k in range(0, len(whole), 7)]
    damaged += [
        whole[:k] + bytes([whole[k] ^ 0xFF]) + whole[k + 1 :] for k in range(0, len(whole), 3)
    ]
    damaged += [whole[:k] + bytes([whole[k] ^ 0x01]) + whole[k + 1 :] for k in range(len(whole))]
    model = Pair((7.0, 7.0))
    for raw in damaged:
        path.write_bytes(raw)
        try:
            model.load(path)
        except ValueError:
            np.testing.assert_array_equal(model.a.data, 7)
        else:
            np.testing.assert_array_equal(model.a.data, [1, 2])
            np.testing.assert_array_equal(model.b.data, [[1, 2, 3]])
            model.a.data = [7.0, 7.0]


def test_a_file_with_two_arrays_of_one_name_is_refused(tmp_path):
    """Regression: the last of the two arrays was loaded."""
    path, model = tmp_path / "m.npz", Pair((7.0, 7.0))
    for name in ("a.npy", "a"):
        Pair().save(path)
        with (
            zipfile.ZipFile(path, "a") as archive,
            warnings.catch_warnings(action="ignore"),
        ):  # Python warns about the duplicate name
            archive.writestr(name, archive.read("a.npy"))
        with pytest.raises(ValueError, match="m.npz is damaged.* two arrays have the same name"):
            model.load(path)
        np.testing.assert_array_equal(model.a.data, 7)


def test_a_missing_file_raises_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError):
        Pair().load(tmp_path / "none.npz")
    with pytest.raises(FileNotFoundError) as caught:
        Pair().save(tmp_path / "none" / "m.npz")
    assert caught.value.filename == str(tmp_path / "none")


def test_a_pickle_is_refused_without_advice_to_load_it_unsafely(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(pickle.dumps(Pair().state_dict()))
    with pytest.raises(ValueError, match="pickled objects.* save") as caught:
        Pair().load(path)
    assert "allow_pickle" not in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX")
def test_special_files_are_not_replaced(tmp_path):
    """Regression: when run as root, save replaced /dev/full by a file."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for path in [tmp_path / "pipe", tmp_path / "link", tmp_path]:
        with pytest.raises(ValueError, match="Pair.save: .* is not a file"):
            Pair().save(path)
    assert (tmp_path / "pipe").is_fifo() and sorted(os.listdir(tmp_path)) == ["link", "pipe"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes and links")
def test_a_saved_file_has_the_usual_mode_and_links_stay_links(tmp_path):
    """Regression: the mode was 0600 whatever the umask, so no other user could read the model."""
    path = tmp_path / "m.npz"
    Pair().save(path)
    (tmp_path / "plain").write_text("")
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode
    link = tmp_path / "link.npz"
    link.symlink_to("m.npz")
    Pair((5.0, 5.0)).save(link)
    assert link.is_symlink()
    other = Pair()
    other.load(path)
    np.testing.assert_array_equal(other.a.data, 5)


def test_saving_to_a_name_without_suffix_adds_none(tmp_path):
    Pair().save(tmp_path / "model")
    assert os.listdir(tmp_path) == ["model"]
    Pair().load(tmp_path / "model")


def test_a_running_mean_that_keeps_a_graph_is_refused_at_once():
    """Regression: 50 training steps kept 50 graphs, and only state_dict() reported it."""

    class Normed(nn.Module):
        def __init__(self):
            self.register_buffer("mean", np.zeros(2))

        def forward(self, x):
            self.mean = 0.9 * self.mean + 0.1 * x.mean(axis=0)
            return x - self.mean

    model, x = Normed(), Tensor(np.ones((3, 2)), requires_grad=True)
    for call in (lambda: model(x), lambda: ag.grad(lambda x: model(x).sum())(np.ones((3, 2)))):
        with pytest.raises(TypeError, match="the buffer mean"):
            call()
        assert type(model.mean) is np.ndarray and not model.mean.any()


@pytest.mark.parametrize("wrap", [deque, list, tuple, lambda layers: dict(enumerate(layers))])
def test_layers_in_a_container_are_found(wrap):
    """Regression: layers in a deque were not found, with no error."""

    class Held(nn.Module):
        def __init__(self):
            self.layers = wrap([nn.Linear(2, 3, rng=0), nn.Linear(3, 1, rng=0)])

    assert [name for name, _ in Held().named_parameters()] == [
        "layers.0.weight",
        "layers.0.bias",
        "layers.1.weight",
        "layers.1.bias",
    ]


@pytest.mark.parametrize("kind", ["set", "frozenset", "ndarray"])
def test_layers_in_a_container_without_names_are_refused(kind):
    held = nn.Module()
    layers = [nn.Linear(2, 3, rng=0), nn.Linear(3, 1, rng=0)]
    array = np.empty((2, 1), object)
    array[:, 0] = layers
    held.inner = {
        "layers": {"set": set(layers), "frozenset": frozenset(layers), "ndarray": array}[kind]
    }
    with pytest.raises(TypeError, match=f"inner.layers .*got {kind}"):
        held.parameters()
    held.inner = [{1, "a"}, np.array(["a", None]), np.array([[1, 2], [3]], dtype=object)]
    assert held.parameters() == []


@pytest.mark.parametrize("dtype", [bool, float])
def test_a_mask_is_checked_at_every_call_of_a_program(dtype):
    """Regression: compiled attention returned nan for a float mask that forbids everything,
    where the function itself raises an error.
    """
    q = np.random.default_rng(0).normal(size=(3, 2))
    allowed = np.tri(3, dtype=bool)
    masks = [m if dtype is bool else np.where(m, 0.0, -np.inf) for m in (allowed, 0 * allowed > 0)]
    attend = ag.compile(lambda q, m: F.scaled_dot_product_attention(q, q, q, attn_mask=m))
    np.testing.assert_allclose(
        attend(q, masks[0]), F.scaled_dot_product_attention(q, q, q, is_causal=True)
    )
    with pytest.raises(ValueError, match="attn_mask .*one key"):
        attend(q, masks[1])


def test_a_floating_mask_gets_its_gradient():
    q = np.random.default_rng(0).normal(size=(3, 2))
    ag.check_grads(
        lambda q, m: F.scaled_dot_product_attention(q, q, q, attn_mask=m), q, np.tri(3) / 2
    )


@pytest.mark.parametrize(
    "call, error, words",
    [
        (
            lambda: F.cross_entropy(np.zeros((2, 3)), np.eye(3)[:2]),
            TypeError,
            r"^cross_entropy: target .*float64.*argmax\(axis=1\)",
        ),
        (
            lambda: F.cross_entropy(np.zeros((2, 3)), np.eye(3, dtype=int)[:2]),
            ValueError,
            r"^cross_entropy: .*target of shape \(N,\).*argmax\(axis=1\)",
        ),
        (
            lambda: nn.Embedding(4, 2)([0.5]),
            TypeError,
            "^Embedding: the input .*0 to 3, .*float64",
        ),
        (lambda: nn.Linear(2, 1).to("cuda"), TypeError, "Linear.to: .*floating dtype.*'cuda'"),
        (lambda: nn.Linear(2, 1).zero_grad(False), ValueError, "Linear.zero_grad: set_to_none"),
        (
            lambda: nn.utils.clip_grad_norm_([np.ones(2)], 1.0),
            TypeError,
            "clip_grad_norm_: parameter 0 must be a Tensor, got ndarray",
        ),
        (lambda: F.mse_loss([1.0, 2.0], [1.0]), ValueError, r"mse_loss: .*\(2,\) and \(1,\)"),
        *(
            (
                lambda max_norm=max_norm: nn.utils.clip_grad_norm_([Tensor(1.0)], max_norm),
                ValueError,
                "^clip_grad_norm_: .*max_norm >= 0, got",
            )
            for max_norm in ("a", None, np.ones(2))
        ),
        *(
            (
                lambda mask=mask: F.scaled_dot_product_attention(*np.ones((3, 1, 3, 4)), mask),
                ValueError,
                r"^scaled_dot_product_attention: .*attn_mask.* \(1, 3, 3\), got \(5, 5\)",
            )
            for mask in (np.ones((5, 5), bool), np.zeros((5, 5)))
        ),
    ],
)
def test_errors_name_the_function_that_was_called(call, error, words):
    """Regression: errors named an internal function, `whole_numbers`, or were those of Python
    itself.
    """
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("rng", ["a", -1, 1.5])
@pytest.mark.parametrize(
    "name, call",
    [
        ("Neuron", lambda rng: nn.Neuron(2, rng=rng)),
        ("Linear", lambda rng: nn.Linear(2, 3, rng=rng)),
        ("Embedding", lambda rng: nn.Embedding(2, 3, rng=rng)),
        ("MultiheadAttention", lambda rng: nn.MultiheadAttention(4, 2, rng=rng)),
        ("Conv2d", lambda rng: nn.Conv2d(1, 2, 3, rng=rng)),
        ("Dropout", lambda rng: nn.Dropout(rng=rng)),
        ("RNNCell", lambda rng: nn.RNNCell(2, 3, rng=rng)),
        ("MLP", lambda rng: nn.MLP([2, 3], rng=rng)),
        ("dropout", lambda rng: F.dropout(np.ones(2), rng=rng)),
        ("kaiming_normal_", lambda rng: nn.init.kaiming_normal_(Tensor(np.ones((2, 3))), rng=rng)),
        ("xavier_uniform_", lambda rng: nn.init.xavier_uniform_(Tensor(np.ones((2, 3))), rng=rng)),
        ("DataLoader", lambda rng: ag.data.DataLoader(np.ones(2), rng=rng)),
    ],
)
def test_a_wrong_rng_is_named(name, call, rng):
    with pytest.raises(TypeError, match=f"^{name}: expected rng to be a seed.*got {rng!r}"):
        call(rng)


def test_losses_take_lists():
    """Regression: "'list' object has no attribute 'shape'"."""
    assert F.cross_entropy([[0.0, 0.0]], [1]) == pytest.approx(np.log(2))
    assert F.mse_loss([1.0, 2.0], [1.0, 4.0]) == 2
    assert F.binary_cross_entropy_with_logits([0.0], [1.0]) == pytest.approx(np.log(2))
    np.testing.assert_allclose(F.silu([0.0]), [0])
    np.testing.assert_allclose(F.leaky_relu([-1.0, 1.0]), [-0.01, 1])
    x = [[1.0, 3.0]]
    np.testing.assert_allclose(F.layer_norm(x, (2,), eps=0), [[-1, 1]])
    z, _ = nn.MultiheadAttention(2, 1, rng=0)(np.ones((1, 1, 2)), x, x, attn_mask=[[False]])
    assert z.shape == (1, 1, 2)


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_a_copy_keeps_the_gradient(duplicate):
    """Regression: the gradient was lost, so the next step of a copied model changed nothing."""
    w = leaf([1.0, 2.0])
    (w * w).sum().backward()
    other = duplicate(w)
    np.testing.assert_array_equal(other.grad, [2, 4])
    assert other.grad is not w.grad and duplicate(leaf(1.0)).grad is None
    model = Pair()
    (model.a * 3.0).sum().backward()
    copied = copy.deepcopy(model)
    ag.optim.SGD(copied.parameters(), lr=1.0).step()
    np.testing.assert_array_equal(copied.a.data, model.a.data - 3)


@pytest.mark.parametrize(
    "f, words",
    [
        (lambda x: (copy.copy(x) * 2).sum(), "the argument of a transform"),
        (lambda x: copy.deepcopy(x * 2).sum(), "the result of multiply"),
    ],
)
def test_a_copy_that_would_lose_the_gradient_is_refused(f, words):
    """Regression: the error recommended .detach(), which loses the gradient too."""
    with pytest.raises(TypeError, match=f"{words} cannot be copied.*use the Tensor itself"):
        ag.grad(f)(np.ones(2))


@pytest.mark.parametrize(
    "call",
    [
        lambda: nn.Conv2d(1, 2, 3, 1, 0, 2),  # PyTorch's dilation was taken for bias
        lambda: nn.Dropout(0.5, True),  # inplace, for rng
        lambda: nn.Embedding(5, 2, 0),  # padding_idx, for rng
        lambda: nn.MultiheadAttention(4, 2, 0.0, True, True),  # add_bias_kv, for rng
        lambda: nn.RNNCell(2, 3, True),  # bias, for activation
        lambda: F.dropout(np.ones(3), 0.5, True, True),  # inplace, for rng
        lambda: F.cross_entropy(np.zeros((2, 3)), [0, 1], np.ones(3)),  # weight, for ignore_index
        lambda: F.mse_loss([1.0], [1.0], True),  # size_average, for reduction
        lambda: ag.optim.SGD([leaf(1.0)], 0.1, 0.9, 0.5),  # dampening, for nesterov
    ],
)
def test_positional_arguments_in_pytorchs_order_are_refused(call):
    with pytest.raises(TypeError, match="positional|activation"):
        call()


def test_names_of_pytorchs_module_get_a_helpful_error():
    model = nn.MLP([2, 3], rng=0)
    for name, hint in nn._MODULE_HINTS.items():
        with pytest.raises(
            AttributeError, match=f"MLP has no attribute '{name}': {re.escape(hint)}"
        ):
            getattr(model, name)
        for ours in re.findall(r"\b([a-z_]+)\(", hint):
            assert hasattr(model, ours) or ours == "Tensor"
    with pytest.raises(AttributeError, match="MLP has no attribute 'layer'$") as caught:
        _ = model.layer
    assert (caught.value.name, caught.value.obj) == ("layer", model)  # "Did you mean: 'layers'?"
    assert copy.deepcopy(model).layers[0].weight.shape == (3, 2)


@pytest.mark.parametrize("options", [{}, {"eq": False}, {"frozen": True}, {"kw_only": True}])
def test_a_dataclass_may_be_a_module(options):
    @dataclass(**options)
    class Scale(nn.Module):
        weight: Tensor = Tensor([2.0, 3.0], requires_grad=True)
        bias: Tensor = field(default_factory=lambda: Tensor([0.0, 1.0], requires_grad=True))
        layers: list = field(default_factory=lambda: [nn.Linear(2, 1, rng=0)])

        def forward(self, x):
            return self.layers[0](x * self.weight + self.bias)

    model, other, x = Scale(), Scale(), np.array([1.0, -1.0])
    assert [name for name, _ in model.named_parameters()] == [
        "weight",
        "bias",
        "layers.0.weight",
        "layers.0.bias",
    ]
    assert model.bias is not other.bias and model == model != other
    run = ag.compile(lambda model, x: model(x))
    for m in (model, other):  # each has a program of its own
        np.testing.assert_array_equal(run(m, x).data, m(x).data)


def test_classes_with_equality_of_their_own_keep_it():
    class Named(nn.Module):
        def __init__(self, name):
            self.name = name

        def __eq__(self, other):
            return self.name == other.name

        def __hash__(self):
            return hash(self.name)

    class Child(Named):
        pass

    assert Child("a") == Child("a") != Child("b") and len({Child("a"), Child("a")}) == 1


def test_slots_would_hide_parameters():
    with pytest.raises(TypeError, match="Scale: a Module cannot have __slots__.*slots=True"):

        @dataclass(slots=True)
        class Scale(nn.Module):
            weight: Tensor


@pytest.mark.parametrize("shape", [(0, 5, 4), (2, 5, 4)])
def test_attention_of_an_empty_batch(shape):
    attention, x = nn.MultiheadAttention(4, 2, rng=0), Tensor(np.ones(shape), requires_grad=True)
    z, weights = attention(x, x, x)
    assert z.shape == shape and weights.shape == (shape[0], 5, 5)
    z.sum().backward()
    assert x.grad.shape == shape and len(attention.parameters()) == 4
