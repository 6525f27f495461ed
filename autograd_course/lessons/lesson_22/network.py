"""Train the network of lesson 22 on digits. Its forward pass uses only one bit of each weight."""

import numpy as np

import autograd_lib as ag
from autograd_lib import optim
from autograd_lib.nn.functional import cross_entropy

from ...data import digits


def learn(bit, hidden=256, watch=None):
    """Train a 64-`hidden`-10 network of one-bit weights, and return its test accuracy and its two weight matrices.

    Biases stay real numbers. A sum over n inputs is divided by √n, so that its size does not
    depend on n.

    Parameters
    ----------
    bit : callable
        The op that turns a weight into ±1.
    hidden : int
        The number of hidden units.
    watch : callable, optional
        Called after each step as `watch(loss, before, after)`. `loss(W1, W2)` is the loss on the
        rows of this step with other weight matrices and the biases from before the step. `before`
        and `after` are the pairs (W1, W2) before and after the step, as arrays.
    """
    images, labels, test_images, test_labels = digits()
    rng = np.random.default_rng(0)
    shapes = (64, hidden), (hidden,), (hidden, 10), (10,)
    W1, b1, W2, b2 = weights = [
        ag.Tensor(0.1 * rng.normal(size=shape), requires_grad=True) for shape in shapes
    ]

    def model(x, W1=W1, b1=b1, W2=W2, b2=b2):  # (N, 64)
        h = np.tanh(x @ bit(W1) / 8 + b1)  # (N, hidden)
        return h @ bit(W2) / np.sqrt(hidden) + b2  # (N, 10)

    optimizer = optim.Adam(weights, lr=0.03)
    for epoch in range(8):
        optimizer.lr = 0.03 * (1 - epoch / 8)
        for rows in np.array_split(rng.permutation(len(labels)), 23):  # about 64 each
            optimizer.zero_grad()
            cross_entropy(model(images[rows]), labels[rows]).backward()
            before = [w.data.copy() for w in weights]
            optimizer.step()
            if watch:
                _, b1_before, _, b2_before = before

                def loss(W1, W2):
                    with ag.no_grad():
                        scores = model(images[rows], W1, b1_before, W2, b2_before)
                        return cross_entropy(scores, labels[rows]).item()

                watch(loss, before[::2], [W1.data, W2.data])
    with ag.no_grad():
        return np.mean(model(test_images).data.argmax(axis=1) == test_labels), W1, W2
