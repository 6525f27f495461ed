"""Statements in a fold of lesson 06 that no cell shows."""

import numpy as np

import autograd_lib as ag
from autograd_lib import nn


class Neuron(nn.Module):
    def __init__(self, inputs, rng):
        self.w = [ag.Tensor(w, True) for w in rng.normal(size=inputs)]
        self.b = ag.Tensor(0.0, True)

    def forward(self, xs):
        return ag.tanh(sum(w * x for w, x in zip(self.w, xs)) + self.b)


class Layer(nn.Module):
    def __init__(self, inputs, outputs, rng):
        self.neurons = [Neuron(inputs, rng) for _ in range(outputs)]

    def forward(self, xs):
        return [neuron(xs) for neuron in self.neurons]


class MLP(nn.Module):
    def __init__(self, sizes, rng):
        self.layers = [Layer(n, m, rng) for n, m in zip(sizes, sizes[1:])]

    def forward(self, xs):
        for layer in self.layers:
            xs = layer(xs)
        return xs


def test_neurons_and_layers_as_classes():
    model = MLP([2, 4, 1], np.random.default_rng(1))
    assert len(model.parameters()) == 17
    (output,) = model([0.3, -0.7])
    output.backward()
    assert all(p.grad is not None for p in model.parameters())
    assert nn.Linear(2, 4, rng=0).weight.shape == (4, 2)
