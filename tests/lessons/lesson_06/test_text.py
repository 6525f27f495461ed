"""Statements of lesson 06 that no cell shows."""

import numpy as np

import autograd_lib as ag
from autograd_course.lessons.lesson_06.drawings import chessboard
from autograd_course.lessons.lesson_06.exercises import right_by_hand
from autograd_lib import nn, optim


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


def test_from_the_second_start_the_neuron_ends_near_a_local_minimum():
    """On a sphere around `low` the error is higher than in its centre, so a local minimum is
    inside. After 3,000 rounds the neuron is inside too.
    """
    points, classes = chessboard()
    inputs, signs = np.c_[points, np.ones(40)], 2 * classes - 1

    def errors(w):  # mean squared error for each column
        return np.mean((np.tanh(inputs @ w) - signs[:, None]) ** 2, axis=0)

    w, low = np.array([2.0, 1.0, 0.0]), np.array([[5.066], [5.937], [3.316]])
    for x, y in [*zip(inputs, signs)] * 3000:
        output = np.tanh(w @ x)
        w = w - 0.1 * (output - y) * (1 - output**2) * x
    assert np.linalg.norm(w - low[:, 0]) < 0.25
    away = np.random.default_rng(0).normal(size=(3, 10_000))
    assert errors(low + 0.25 * away / np.linalg.norm(away, axis=0)).min() > errors(low)[0]
    assert np.sum((inputs @ low[:, 0] > 0) == classes) == 28


def test_a_parameter_frozen_before_training_does_not_change():
    """Neither a step that shrinks the weights nor an optimizer that holds the parameter moves it."""
    model = Neuron(2, np.random.default_rng(0))
    optimizer = optim.SGD(model.parameters(), lr=0.1, weight_decay=0.2)
    frozen, free = model.w
    frozen.requires_grad = False
    before = frozen.item(), free.item()
    for _ in range(3):
        model.zero_grad()
        model([0.3, -0.7]).backward()
        optimizer.step()
    assert frozen.item() == before[0] and free.item() != before[1]


def test_the_expected_gradients_have_no_minus_zero():
    """Both gates are closed, one is closed, or a is 0, and g is below 0."""
    for case in [(-1.0, -1.0, -1.0, 1.0, 2.0), (1.3, 0.1, -0.4, 0.9, 2.5), (0.2, 0.1, 0.3, 0.0, 9)]:
        gradients = np.array(right_by_hand(*case))
        assert 0 in gradients and not np.any(np.signbit(gradients[gradients == 0]))
