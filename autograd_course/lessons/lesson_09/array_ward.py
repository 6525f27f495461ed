"""Define the array ward of lesson 09: a correct engine, and patients, which have one faulty method each.

    b, x = Array([1, 2, 3]), Array([[1, 2, 3], [4, 5, 6]])
    (b + x).sum().backward()                                   # b.grad is now [2, 2, 2]
    examine(Reassigned, lambda b, x: (b + x).sum(), b.data, x.data)     # a Report: the gradients of the engine beside measured ones
    sheet(Reassigned)                                          # its results in the checks that every engine gets
    PATIENTS[6].engine, PATIENTS[6].writeup                    # the faulty engine and its card

As in clinic.py, which defines Scalar and the cards, each fault was published. The engine `Unknown`
has no card.
"""

from functools import partial

import numpy as np

from ..lesson_07 import clinic
from ..lesson_07.clinic import Patient, Scalar, asked


class Array(Scalar):
    """Record a computation on arrays and differentiate it correctly.

    The operators +, − and · work entry by entry, as in Scalar. `@` takes two matrices, or two
    arrays of one axis each. `rule(g)` may return gradients of the broadcast shape, because
    `backward` sums each gradient to the shape of its input with `fitted`.
    """

    def __init__(self, data, inputs=()):
        super().__init__(np.asarray(data, float), inputs)
        self.grad = np.zeros(self.data.shape)

    def __matmul__(self, other):
        x, y = self.data, other.data
        z = type(self)(x @ y, (self, other))
        z.rule = lambda g: (np.dot(g, y.T), np.dot(x.T, g))
        return z

    def sum(self):
        z = type(self)(self.data.sum(), (self,))
        z.rule = lambda g: (np.full(self.data.shape, g),)
        return z

    def fitted(self, g):
        g = g.sum(axis=tuple(range(g.ndim - self.data.ndim)))
        return g.sum(axis=tuple(k for k, n in enumerate(self.data.shape) if n == 1), keepdims=True)

    def backward(self):
        if self.data.ndim:
            raise ValueError(
                f"backward: expected a single number to start from, got shape {self.data.shape}"
            )
        ledger = {self: np.ones(())}
        for z in self.order():
            g = ledger.pop(z)
            z.grad = z.grad + g
            for x, sent in zip(z.inputs, z.rule(g)):
                ledger[x] = ledger.get(x, 0.0) + x.fitted(sent)


# --- The patients -----------------------------------------------------------------------------------------------------------


class Multiplied(Array):
    def __mul__(self, other):
        z = type(self)(self.data * other.data, (self, other))
        z.rule = lambda g: (other.fitted(g) * other.data, self.fitted(g) * self.data)
        return z


class Seeded(Array):
    def backward(self):
        ledger = {self: np.ones(self.data.shape)}
        for z in self.order():
            g = ledger.pop(z)
            z.grad = z.grad + g
            for x, sent in zip(z.inputs, z.rule(g)):
                ledger[x] = ledger.get(x, 0.0) + x.fitted(sent)


class Twice(Array):
    def __matmul__(self, other):
        x, y = self.data, other.data
        z = type(self)(x @ y, (self, other))
        z.rule = lambda g: [
            np.dot(g, y.T) if value is self else np.dot(x.T, g) for value in (self, other)
        ]
        return z


class Unreduced(Array):
    def fitted(self, g):
        if self.data.ndim == 0:
            return g
        g = g.sum(axis=tuple(range(g.ndim - self.data.ndim)))
        return g.sum(axis=tuple(k for k, n in enumerate(self.data.shape) if n == 1), keepdims=True)


class Dot(Array):
    def __matmul__(self, other):
        x, y = self.data, other.data
        z = type(self)(x @ y, (self, other))
        z.rule = lambda g: (g * y, g * x)
        return z


class Reassigned(Array):
    def __add__(self, other):
        z = type(self)(self.data + other.data, (self, other))

        def rule(g):
            sent = []
            for value in (self, other):
                g = value.fitted(g)
                sent.append(g)
            return sent

        z.rule = rule
        return z


class Unsummed(Array):
    def fitted(self, g):
        return g


class Unknown(Array):
    """Differentiate arrays with one fault, which the learner has to find.

    No cause listed in the lesson describes this fault.
    """

    def fitted(self, g):
        if all(m == n for m, n in zip(g.shape, self.data.shape)):
            return g
        g = g.sum(axis=tuple(range(g.ndim - self.data.ndim)))
        return g.sum(axis=tuple(k for k, n in enumerate(self.data.shape) if n == 1), keepdims=True)


# --- Their cards ------------------------------------------------------------------------------------------------------------

PATIENTS = {
    1: Patient(
        Multiplied,
        "__mul__",
        "If a smaller array is multiplied by a larger one, the gradient of the larger one has the right shape but wrong numbers.",
        "the blog series on Zen",
        "in a product, g is summed to the shape of the other factor",
        "It passes for factors of the same shape. If one of them is broadcast, it fails.",
        {"scaled": np.array([[2, 4, 6], [2, 4, 6]])},
    ),
    2: Patient(
        Seeded,
        "backward",
        "It returns gradients although the output is not a scalar.",
        "the blog series on babygrad",
        "backward starts from ones, for an output of any shape",
        "It passes, because a check starts from a scalar. If it starts from an array, the engine should raise an error, but returns a result.",
        {"several": np.array([2, 4, 6])},
    ),
    3: Patient(
        Twice,
        "__matmul__",
        "Right for A @ B, wrong for A @ A.",
        "the blog series on Zen",
        "if one matrix is in both slots, the rule of the first slot runs twice",
        "It passes for two different matrices, square or not. With the same matrix in both slots, it usually fails.",
        {"square": np.array([[6, 14], [6, 14]])},
    ),
    4: Patient(
        Unreduced,
        "fitted",
        "The gradient of a scalar is an array.",
        "the blog series on Zen",
        "the gradient of a broadcast scalar is not summed",
        "It passes for arrays, broadcast or not. If a scalar is added to an array, it fails.",
        {"number": np.ones((2, 3))},
    ),
    5: Patient(
        Dot,
        "__matmul__",
        "Right for vectors; for most matrices, a wrong result or an error.",
        "Mateen Ulhaq’s talk, Building a mini autodiff engine",
        "a matrix product uses the rule of a dot product",
        "It fails for matrices, unless a column is multiplied by a row. For two vectors it passes.",
        {"product": np.array([[5, 6], [7, 8]]), "square": np.array([[2, 4], [6, 8]])},
        caught=True,
    ),
    6: Patient(
        Reassigned,
        "__add__",
        "Right for x + b, wrong for b + x.",
        "the blog series on Zen",
        "the g that was summed for one input is also used for the next",
        "It passes for equal shapes, and for x + b. With the smaller array first, it fails.",
        {"second": np.full((2, 3), 2)},
    ),
    7: Patient(
        Unsummed,
        "fitted",
        "The gradients have the shape of the output.",
        "the blog series on babygrad, and Mateen Ulhaq’s talk",
        "gradients of broadcast arrays are never summed",
        "It passes for arrays of the same shape. With any broadcasting, it fails.",
        {"bias": np.ones((2, 3)), "number": np.ones((2, 3))},
    ),
}


# --- Examinations -----------------------------------------------------------------------------------------------------------


def ordinary(x, y, w):
    """Return the sum of an expression that uses every operation of Array once, and w twice.

    `x`, `y` and `w` are square matrices of the same size.
    """
    return ((x * w - y) @ w + x).sum()


x, b, c = np.array([[1, 2, 3], [4, 5, 6]]), np.array([1, 2, 3]), 2
A, B = np.array([[1, 2], [3, 4]]), np.array([[5, 6], [7, 8]])

# The check in words, its right result, and a function that runs it. x is (2, 3), b is (3,), c a single number, A and B are (2, 2).
EXAMINATIONS = {
    "bias": ("sum of x + b: gradient of b", np.full(3, 2), asked(lambda b, x: (x + b).sum(), b, x)),
    "second": (
        "sum of b + x: gradient of x",
        np.ones((2, 3)),
        asked(lambda x, b: (b + x).sum(), x, b),
    ),
    "scaled": (
        "sum of b * x: gradient of x",
        np.array([[1, 2, 3], [1, 2, 3]]),
        asked(lambda x, b: (b * x).sum(), x, b),
    ),
    "number": ("sum of c + x: gradient of c", np.array(6), asked(lambda c, x: (c + x).sum(), c, x)),
    "dot": ("b @ b of one axis: gradient of b", np.array([2, 4, 6]), asked(lambda b: b @ b, b)),
    "product": (
        "sum of A @ B: gradient of A",
        np.array([[11, 15], [11, 15]]),
        asked(lambda A, B: (A @ B).sum(), A, B),
    ),
    "square": (
        "sum of A @ A: gradient of A",
        np.array([[7, 11], [9, 13]]),
        asked(lambda A: (A @ A).sum(), A),
    ),
    "several": ("b * b, and no sum: gradient of b", "ValueError", asked(lambda b: b * b, b)),
}

# As in the clinic: a gradient check, the results of an engine, and whether a result is wrong
examine = clinic.examine
sheet, fails = (
    partial(clinic.sheet, examinations=EXAMINATIONS),
    partial(clinic.fails, examinations=EXAMINATIONS),
)
