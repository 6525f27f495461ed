"""Run gradient descent on all weights of a network, and measure its largest curvature, for lesson 16."""

from dataclasses import dataclass

import numpy as np

import autograd_lib as ag

EARLY, END = (
    40,
    320,
)  # the opening shows a run up to the first, the end of the lesson up to the second


def largest_curvature(f, w, v, products=10):
    """Return the largest eigenvalue of the Hessian of f at w, and its eigenvector.

    `v` is the starting vector of the Lanczos method, of shape (n,) like w, and `products` is the
    greatest number of products with the Hessian.
    """
    return largest_eigenvalue(lambda v: ag.hvp(f, w, v), v, products)


def largest_eigenvalue(product, v, products=10):
    """Return the largest eigenvalue of a symmetric matrix and its eigenvector, by the Lanczos method (1950).

    The method needs only products with the matrix, not the matrix itself. In the small
    space that the products span, a small matrix represents the large matrix.

    Parameters
    ----------
    product : callable
        `product(v)` returns the matrix times v.
    v : array of shape (n,)
        The starting vector.
    products : int
        The greatest number of products.
    """
    space = [v / np.linalg.norm(v)]
    images = [product(space[0])]
    while len(images) < products:
        new = images[-1]
        for _ in range(2):  # the second pass removes what rounding left
            new = new - np.transpose(space) @ (space @ new)
        if np.linalg.norm(new) <= 1e-10 * np.linalg.norm(
            images[-1]
        ):  # nothing new: the space is complete
            break
        space.append(new / np.linalg.norm(new))
        images.append(product(space[-1]))
    curvatures, directions = np.linalg.eigh(space @ np.transpose(images))  # in rising order
    return float(curvatures[-1]), directions[:, -1] @ space


@dataclass
class Run:
    """Hold the result of gradient descent at one learning rate.

    `lr` is the learning rate, `losses` has the loss before each step and at the end, `curvatures`
    is a dict that maps some of the steps to the largest curvature λmax, and `end` holds the final
    weights.
    """

    lr: float
    losses: list
    curvatures: dict  # step -> λmax
    end: np.ndarray


def descend(f, w, lr):
    """Return a Run of END steps of gradient descent on f from the weights `w`, of shape (n,).

    `lr` is the learning rate. λmax is measured at every fourth step up to EARLY, then at every
    twentieth. The thousands of gradients and products are compiled, which halves the time and gives
    the same numbers.
    """
    both, hvp = ag.compile(ag.value_and_grad(f)), ag.compile(lambda w, v: ag.hvp(f, w, v))
    v = np.random.default_rng(0).normal(size=w.shape)
    losses, curvatures = [], {}
    for step in range(END + 1):
        value, gradient = both(w)
        losses.append(float(value))
        if step % (4 if step <= EARLY else 20) == 0:
            curvatures[step], v = largest_eigenvalue(lambda v: hvp(w, v), v)
        if step < END:
            w = w - lr * gradient
    return Run(lr, losses, curvatures, w)
