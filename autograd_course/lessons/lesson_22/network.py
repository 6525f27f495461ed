"""Train the network of lesson 22 on digits. Its forward pass uses only one bit of each weight."""

import numpy as np

import autograd_lib as ag
from autograd_lib import optim
from autograd_lib.nn.functional import cross_entropy

from ...data import digits


def learn(bit):
    """Train a 64-256-10 network of one-bit weights, and return its test accuracy and its two weight matrices.

    `bit` is the op that turns a weight into ±1. Biases stay real numbers. A sum over n inputs is
    divided by √n, so that its size does not depend on n.
    """
    images, labels, test_images, test_labels = digits()
    rng = np.random.default_rng(0)
    shapes = (64, 256), (256,), (256, 10), (10,)
    W1, b1, W2, b2 = weights = [
        ag.Tensor(0.1 * rng.normal(size=shape), requires_grad=True) for shape in shapes
    ]

    def model(x):  # (N, 64)
        hidden = np.tanh(x @ bit(W1) / 8 + b1)  # (N, 256)
        return hidden @ bit(W2) / 16 + b2  # (N, 10)

    optimizer = optim.Adam(weights, lr=0.03)
    for epoch in range(8):
        optimizer.lr = 0.03 * (1 - epoch / 8)
        for rows in np.array_split(rng.permutation(len(labels)), 23):  # about 64 each
            optimizer.zero_grad()
            cross_entropy(model(images[rows]), labels[rows]).backward()
            optimizer.step()
    with ag.no_grad():
        return np.mean(model(test_images).data.argmax(axis=1) == test_labels), W1, W2
