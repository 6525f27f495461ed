"""Ask the questions of lesson 08: gradients of broadcasting, sums, operations that move entries, and indexing."""

import numpy as np

import autograd_lib as ag

from ...derivations import Step, derivation
from ...grading import Named, NotYet, Wrong, brief, exercise, expect_over, is_stub
from ...quiz.texts import Question, card, prediction, recall

recall(
    "08",
    [
        Question(
            "The loss falls at every step. Does this prove that the gradient is right? (Lesson 07)",
            False,
            "**No.** In lesson 07 a wrong rule reached a lower loss than the right one. To test a gradient, compare it with finite differences, at more than one point.",
        ),
        Question(
            "A weight is 2, its gradient is 4, and the learning rate is 0.1. What is the weight after one step of gradient descent? (06)",
            1.6,
            "2 − 0.1 · 4 = **1.6**.",
        ),
        Question(
            "$z$ is x where a condition holds, and y elsewhere. Here the condition holds, and the upstream gradient is 5. What does the "
            "rule send to x, and what does it send to y? (04)",
            {"to x": 5, "to y": 0},
            "**5** to x, which was chosen, and **0** to y, which was not.",
        ),
    ],
)

prediction(
    "08.falls",
    question="""$z = x + b$. x has shape (2, 3); b, of shape (3,), is added to both rows. The upstream gradient is
        g = [[1, 2, 3], [4, 5, 6]]. What shape does the gradient of b have? And what is
        the gradient of `b[1]`?""",
    answer={"shape": (3,), "gradient of b[1]": 7},
    reveal="""**(3,)**: b has three numbers that can move, so its gradient has three numbers. And **7**: `b[1]` was copied into the
        middle of both rows, so it receives 2 and 5, which are added.""",
)

prediction(
    "08.spreads",
    question="""x has shape (2, 3). `z = x.sum(axis=1)` adds up each row, so z has shape (2,). The upstream gradient
        is g = [10, 20]. What shape does the gradient of x have? And what is its entry at [1, 2]?""",
    answer={"shape": (2, 3), "at [1, 2]": 20},
    reveal="""**(2, 3)**, the shape of x. And **20**: `x[1, 2]` is part of the second sum only. If it rises by 1, so does this sum.
        So each row of the gradient is a single number, copied: [[10, 10, 10], [20, 20, 20]].""",
)

derivation(
    "08.sum",
    letters={"x": (2, 3), "g": (2,), "z[i]": "sum_k x[i,k]"},
    sizes={"i": 2, "j": 3, "k": 3},
    steps=(
        Step("z_i =", "sum_k x[i,k]", "the definition of the sum", indices="i", worked=True),
        Step(
            r"\frac{\partial z_i}{\partial x_{ij}} =",
            "1",
            "the other entries are constant",
            indices="ij",
            mistakes=(
                (
                    "x[i,j]",
                    "That is the entry itself. If it rises by 1, how much does the sum rise?",
                ),
                ("sum_k x[i,k]", "That is the sum itself. How does it change with one entry?"),
                (
                    "0",
                    "The entry is one of the terms of z[i]: if it rises, the sum rises by the same amount.",
                ),
                ("sum_k 1", "Only one of the three entries moves; the others are constants."),
                ("1/3", "That is the local gradient of a mean. Here nothing is divided."),
                (
                    "g[i]",
                    "That is the upstream gradient, for the next line. This line asks for the local gradient.",
                ),
            ),
        ),
        Step(
            r"\frac{\partial L}{\partial x_{ij}} =",
            "g[i]",
            "one path: x[i, j] is a term of z[i] only",
            letters="g",
            indices="ij",
            mistakes=(
                ("1", "That is the local gradient. Multiply it by the upstream gradient."),
                ("g[i] x[i,j]", "The local gradient is 1, not the entry: see the line above."),
                ("g[i] / 3", "That is the rule of a mean. Here the local gradient is 1."),
                (
                    "sum_k g[i]",
                    "There is no sum over the row: the left side is the gradient of a single entry, which has only one path.",
                ),
                ("sum_i g[i]", "The entry is in row i, so it reaches L through z[i] only."),
            ),
            rivals=("paths add: one path for each k", "the product rule: both factors move"),
        ),
    ),
)

derivation(
    "08.mean",
    letters={"x": (2, 3), "g": (2,), "n": "3", "z[i]": "(sum_k x[i,k]) / n"},
    sizes={"i": 2, "j": 3, "k": 3},
    steps=(
        Step(
            "z_i =",
            "(sum_k x[i,k]) / n",
            "the definition of the mean",
            indices="i",
            worked=True,
        ),
        Step(
            r"\frac{\partial z_i}{\partial x_{ij}} =",
            "1/n",
            "n is a constant",
            indices="ij",
            mistakes=(
                ("1", "That is the derivative of the sum. The mean is the sum divided by n."),
                (
                    "x[i,j] / n",
                    "If the entry rises by 1, the sum rises by 1, for any value of the entry.",
                ),
                (
                    "-1 / n^2",
                    "That is the derivative of 1/n with respect to n, and n is a constant here.",
                ),
                (
                    "-z[i] / n",
                    "That is the derivative of z_i with respect to n, and n is a constant here.",
                ),
                (
                    "g[i] / n",
                    "g is the upstream gradient, for the next line. This line asks for the local gradient.",
                ),
            ),
            rivals=("the quotient rule: n moves with x", "paths add: one path for each k"),
            worked=True,
        ),
        Step(
            r"\frac{\partial L}{\partial x_{ij}} =",
            "g[i] / n",
            "upstream times local, on one path",
            letters="g n",
            indices="ij",
            mistakes=(
                ("1/n", "That is the local gradient. Multiply it by the upstream gradient."),
                (
                    "g[i]",
                    "That equals g[i], the rule of the sum. There is one path, with the local gradient of the line above.",
                ),
                ("g[i] / n^2", "That divides by n twice. The local gradient 1/n occurs once."),
                ("g[i] n", "The local gradient is 1/n: divide, do not multiply."),
                (
                    "-g[i] / n^2",
                    "That is the derivative of 1/n, times g[i]. But n is a constant here.",
                ),
                (
                    "sum_i g[i] / n",
                    "The entry is in row i, so it reaches L through z[i] only.",
                ),
            ),
        ),
    ),
)

prediction(
    "08.moves",
    question="""x has shape (2, 3), and `z = x.T` exchanges rows and columns. The upstream gradient is
        g = [[1, 2], [3, 4], [5, 6]]. What shape does the gradient of x have? And what is its entry at [0, 1]?""",
    answer={"shape": (2, 3), "at [0, 1]": 3},
    reveal="""**(2, 3)**, and **3**: `x[0, 1]` went to `z[1, 0]`, where g is 3. If you said 2, you reshaped g row by row into the
        shape of x. That gives the right shape, but the wrong numbers.""",
)

prediction(
    "08.repeats",
    question="""This code is meant to add 100, 20 and 3 to entries 0, 2 and 0: `out = np.zeros(3)`, and then
        `out[[0, 2, 0]] += np.array([100, 20, 3])`. What does out contain?""",
    answer=[3, 0, 20],
    reveal="""**[3, 0, 20]**. The 100 is lost, despite the `+=`. NumPy reads `out[[0, 2, 0]]` once, adds, and then writes: 100 to
        entry 0, 20 to entry 2, and 3 to entry 0. So the last value written to entry 0 is the one that stays.""",
)

card(
    "08",
    [
        "The gradient of x has the shape of x, for every op.",
        "Follow an entry to every place it went to. Its gradient is the sum of the upstream gradients there, each multiplied by its local gradient.",
        "Copied forward, added backward: g.sum(axis=0) for a row; axis=1 with keepdims=True for a column.",
        "Added forward, copied backward; for a mean, times 1/n.",
        "Moved forward (reshape, transpose, concatenate), moved back: each entry of x receives the entry of g at the place it went to.",
        "An entry that is read twice receives two gradients: np.add.at adds both, out[index] += g keeps only the last.",
    ],
)

# --- Broadcasting -----------------------------------------------------------------------------------------------------------

_ADD = "Each copy contributes its whole g: add them up, without taking the mean."
_SIZES = "The signs are lost: g may be negative, and so may the sum."
_NAMES = "Those are PyTorch's argument names or order. In NumPy: g.sum(axis=1, keepdims=True)."
_TO_COLUMN = [
    (
        lambda g: g.sum(axis=1),
        "The sums are right, but the axis is gone: b has shape (2, 1), with two axes. keepdims=True keeps the axis.",
    ),
    (lambda g: g.sum(dim=1, keepdim=True), _NAMES),
    (lambda g: g.sum(1, keepdim=True), _NAMES),
    (lambda g: g.sum(1, True), _NAMES),
    (
        lambda g: g.sum(axis=0),
        "That is the gradient of a row. b is a column: along which axis was it copied?",
    ),
    (
        lambda g: g.sum(axis=0, keepdims=True),
        "That sums each column of g. b is a column: along which axis was it copied?",
    ),
    (
        lambda g: np.array([[6.0], [15.0]]),
        "That is right only for the g of the picture. Add up each row of whichever g is passed.",
    ),
    (
        lambda g: g.sum(axis=1)[None, :],
        "That is a row, and b is a column. keepdims=True leaves the 1 where axis 1 was.",
    ),
    (
        lambda g: g.sum(axis=1).reshape(3, 1),
        "b has two numbers, one for each row: its shape is (2, 1), not (3, 1).",
    ),
    (
        lambda g: g.reshape(2, 1),
        "A reshape keeps all six numbers, but b has two: add the contributions of its copies.",
    ),
    (lambda g: g.sum(axis=2), "g has two axes, 0 and 1: axis 0 runs down, axis 1 runs across."),
    (lambda g: g.sum(), "That is the sum of all of g. b has two numbers, one for each row."),
    (
        lambda g: g.sum(keepdims=True),
        "That is the sum of all of g. b has two numbers, one for each row.",
    ),
    (lambda g: g, "That has the shape of z. b has two numbers: what does each of them receive?"),
    (lambda g: g.mean(axis=1, keepdims=True), _ADD),
    (lambda g: g[:, :1], "Only the first copy contributes its g here. What about the others?"),
    (
        lambda g: g.max(axis=1, keepdims=True),
        "That is the largest entry of each row. Every copy contributes its g: add them up.",
    ),
    (lambda g: np.abs(g).sum(axis=1, keepdims=True), _SIZES),
    (
        lambda g: g.sum(axis=0, keepdims=True).T,
        "Those are the sums of the columns of g, written as a column. b has one number for each row: sum along axis 1.",
    ),
    (
        lambda g: g * np.ones((3, 1)),
        "* multiplies entry by entry. The matrix product is @. You can also sum: g.sum(axis=1, keepdims=True).",
    ),
    (
        lambda g: np.cumsum(g, axis=1),
        "Those are the partial sums. Only the last of each row is the whole sum: g.sum(axis=1, keepdims=True).",
    ),
]
_TO_NUMBER = [
    *(
        (
            wrong,
            "One axis is left, but a number has none. The number went to every entry of z: add up all of g.",
        )
        for wrong in (
            lambda g: g.sum(axis=0),
            lambda g: g.sum(axis=1),
            lambda g: g.sum(axis=0, keepdims=True),
        )
    ),
    (
        lambda g: g.sum(axis=1, keepdims=True),
        "That is the gradient of a column. A number has no axis, and it went to every entry of z.",
    ),
    (
        lambda g: g.sum(keepdims=True),
        "That is the right sum, but with shape (1, 1). A number has shape (), like g.sum().",
    ),
    (lambda g: g, "That has the shape of z. b is one number, which went to every entry of z."),
    (lambda g: g.mean(), _ADD),
    (
        lambda g: g.size,
        "That is the number of entries, as if each contributed 1. Each contributes its g.",
    ),
    (
        lambda g: g.sum(axis=2),
        "g has two axes, 0 and 1. To add up everything, leave out the axis: g.sum().",
    ),
    (
        lambda g: g.sum(axis=1)[0],
        "That is only the first row. The number went to every entry of z.",
    ),
    (lambda g: g[0, 0], "Only one copy contributes its g here. What about the others?"),
    (lambda g: abs(g.sum()), _SIZES),
    (
        np.trace,
        "That is only the diagonal, g[0, 0] + g[1, 1]. The number went to every entry of z.",
    ),
    (lambda g: 21.0, "That is right only for the g of the picture. Add up whichever g is passed."),
]


@exercise(
    "08.bias",
    minutes=4,
    difficulty="easy",
    importance=3,
    question="""
        $z = x + b$ again, but now b is a column, of shape (2, 1): one number for each row. Write the gradient of
        b. Then write it for a b that is a single number, of shape ().""",
    stub="""
        to_column = lambda g: ...       # (2, 3) -> (2, 1)
        to_number = lambda g: ...       # (2, 3) -> ()""",
    hints=[
        "Follow `b[0, 0]`: which entries of z does it go to? Which entries of g belong to them?",
        (
            "Help: the shape of my column is (2,)",
            "The sum is right. But b has two axes, and a summed axis disappears: `keepdims=True` keeps the summed axis, with length 1.",
        ),
    ],
    solution="""
        to_column = lambda g: g.sum(axis=1, keepdims=True)      # (2, 3) -> (2, 1)
        to_number = lambda g: g.sum()                           # (2, 3) -> ()""",
    explained="Number the axes as in z. The backward pass sums g along each axis along which b was copied.",
    why="The sum runs along every axis of the copies. The shape of b tells you which of them stay, with length 1.",
    playground="""
        x = [[1, 2, 3], [4, 5, 6]]
        b = [[10], [20]]
        z = x + b""",
)
def bias(answer):
    if any(map(is_stub, answer)):
        raise NotYet
    for rule, name, right, hints in [
        (answer[0], "to_column", lambda g: g.sum(axis=1, keepdims=True), _TO_COLUMN),
        (answer[1], "to_number", np.sum, _TO_NUMBER),
    ]:
        expect_over(
            rule,
            right,
            lambda d: (d(2, 3),),
            first=[(np.array([[2.0, 1, 5], [3, 7, 8]]),)],
            hints=hints,
            tried=lambda g, name=name: f"{name}(g), with g = {brief(g)}",
        )  # no other shape: the question names it


# --- Sums -------------------------------------------------------------------------------------------------------------------


def restore(g, x, axis):
    return g if axis is None or g.ndim == x.ndim else np.expand_dims(g, axis)


def sum_x(g, z, x, axis=None, keepdims=False):
    return np.broadcast_to(restore(g, x, axis), x.shape)


def mean_x(g, z, x, axis=None, keepdims=False):
    return sum_x(g * z.size / x.size, z, x, axis)


def _no_n(g, z, x, axis, keepdims):
    raise NameError("name 'n' is not defined")


_FIT = "NumPy compares shapes from the right, and g has lost an axis. restore(g, x, axis) puts it back, with length 1."
_ONE_AXIS = "That is right only for axis=1. restore(g, x, axis) puts the axis back wherever it was."
_ONE_SHAPE = (
    "That is right only for an x of shape (2, 3). Use x.shape and x.size, which work for any x."
)
_N = "How many entries share one mean? x.size / z.size of them, for any axis."
_SUMS_AGAIN = (
    "That sums once more. The rule sums nothing: every entry of x receives a copy of its g."
)
_SUM = [
    (
        lambda g, z, x, axis, keepdims: np.broadcast_to(
            g[:, None] if axis == 1 and not keepdims else g, x.shape
        ),
        "axis may also count from the end, so −1 is the last axis: restore(g, x, axis) puts any axis back.",
    ),
    (lambda g, z, x, axis, keepdims: np.broadcast_to(g, x.shape), _FIT),
    *(
        (wrong, _FIT)
        for wrong in (
            lambda g, z, x, axis, keepdims: g * np.ones_like(x),
            lambda g, z, x, axis, keepdims: np.ones_like(x) * g,
            lambda g, z, x, axis, keepdims: np.full(x.shape, g),
        )
    ),
    (
        lambda g, z, x, axis, keepdims: np.broadcast_to(restore(g, x, axis), x.shape()),
        "x.shape is not a function: write it without parentheses.",
    ),
    (
        lambda g, z, x, axis, keepdims: np.broadcast_to(x.shape, restore(g, x, axis)),
        "The array comes first, and then the shape: np.broadcast_to(array, shape).",
    ),
    (
        lambda g, z, x, axis, keepdims: g,
        "That has the shape of z. Each entry of x needs a gradient: copy g along the axis.",
    ),
    (
        lambda g, z, x, axis, keepdims: restore(g, x, axis),
        "The axis is back, with length 1. Now use np.broadcast_to(…, x.shape).",
    ),
    (
        lambda g, z, x, axis, keepdims: np.broadcast_to(restore(g, x, axis), x),
        "np.broadcast_to expects a shape: x.shape.",
    ),
    (
        lambda g, z, x, axis, keepdims: restore(g, x, axis).expand(x.shape),
        "PyTorch's expand is np.broadcast_to(…, x.shape) in NumPy.",
    ),
    (
        lambda g, z, x, axis, keepdims: np.broadcast_to(restore(g, x, axis), z.shape),
        "The gradient of x has the shape of x, not that of z.",
    ),
    (
        lambda g, z, x, axis, keepdims: np.ones_like(x),
        "That is the local gradient. Multiply it by the upstream gradient: g is missing.",
    ),
    (
        lambda g, z, x, axis, keepdims: restore(g, x, axis) * x,
        "Your rule uses the entries of x. If an entry rises by 1, its sum rises by 1, for any x.",
    ),
    (
        lambda g, z, x, axis, keepdims: np.sum(g, axis=axis, keepdims=keepdims),
        _SUMS_AGAIN,
    ),
    (lambda g, z, x, axis, keepdims: g.sum(axis), _SUMS_AGAIN),
    (
        lambda g, z, x, axis, keepdims: np.broadcast_to(restore(z, x, axis), x.shape),
        "That copies z, the sum. Copy g instead.",
    ),
    (
        lambda g, z, x, axis, keepdims: np.broadcast_to(np.sum(g), x.shape),
        "You sum g. But an entry of x is part of only one sum.",
    ),
    *(
        (wrong, _SUMS_AGAIN)
        for wrong in (
            lambda g, z, x, axis, keepdims: np.broadcast_to(
                g.sum(axis=axis, keepdims=True), x.shape
            ),
            lambda g, z, x, axis, keepdims: sum_x(g, z, x, axis).sum(axis=axis),
        )
    ),
    *(
        (wrong, "That is z again, the forward pass. The rule copies g into the shape of x.")
        for wrong in (
            lambda g, z, x, axis, keepdims: x.sum(axis=axis, keepdims=keepdims),
            lambda g, z, x, axis, keepdims: x.sum(axis=axis),
        )
    ),
    (
        lambda g, z, x, axis, keepdims: np.broadcast_to(restore(x, g, axis), x.shape),
        "restore takes g first, then x: restore(g, x, axis).",
    ),
    (
        lambda g, z, x, axis, keepdims: np.broadcast_to(g, restore(g, x, axis).shape),
        "restore(g, x, axis) is the array to copy, and x.shape is the shape.",
    ),
    (mean_x, "That is the rule of the mean: 1/n belongs to mean_x."),
    (lambda g, z, x, axis, keepdims: np.broadcast_to(np.expand_dims(g, 1), x.shape), _ONE_AXIS),
    (
        lambda g, z, x, axis, keepdims: np.broadcast_to(g.reshape(-1, 1), x.shape),
        _ONE_AXIS,
    ),
    *(
        (wrong, "axis is not always 1: restore(g, x, axis) takes the axis of the call.")
        for wrong in (
            lambda g, z, x, axis, keepdims: np.broadcast_to(restore(g, x, 1), x.shape),
            lambda g, z, x, axis, keepdims: restore(g, x, 1) * np.ones(x.shape),
        )
    ),
    (
        lambda g, z, x, axis, keepdims: np.broadcast_to(g[:, None], x.shape),
        "g[:, None] is right only for axis=1. restore(g, x, axis) is right for every axis.",
    ),
    *(
        (
            wrong,
            "The third argument of restore is axis, not keepdims: restore(g, x, axis).",
        )
        for wrong in (
            lambda g, z, x, axis, keepdims: np.broadcast_to(restore(g, x, keepdims), x.shape),
            lambda g, z, x, axis, keepdims: restore(g, x, keepdims) * np.ones(x.shape),
        )
    ),
    (lambda g, z, x, axis, keepdims: g[:, None] * np.ones(x.shape), _ONE_AXIS),
    (lambda g, z, x, axis, keepdims: np.outer(g, np.ones(x.shape[1])), _ONE_AXIS),
    (lambda g, z, x, axis, keepdims: np.outer(g, np.ones(3)), _ONE_AXIS),
    (
        lambda g, z, x, axis, keepdims: np.repeat(restore(g, x, axis), x.shape[axis], axis),
        "axis may be None or a tuple, and x.shape[axis] needs one number. np.broadcast_to(…, x.shape) copies along any axes.",
    ),
    *(
        (
            wrong,
            "axis may be None, and with keepdims no axis is lost: restore(g, x, axis) handles both.",
        )
        for wrong in (
            lambda g, z, x, axis, keepdims: np.broadcast_to(np.expand_dims(g, axis), x.shape),
            lambda g, z, x, axis, keepdims: np.broadcast_to(
                g if keepdims else np.expand_dims(g, axis), x.shape
            ),
        )
    ),
    (lambda g, z, x, axis, keepdims: np.broadcast_to(restore(g, x, axis), (2, 3)), _ONE_SHAPE),
    (
        lambda g, z, x, axis, keepdims: np.abs(sum_x(g, z, x, axis)),
        "The signs are lost: copy g unchanged.",
    ),
    (
        lambda g, z, x, axis, keepdims: sum_x(g, z, x, axis) * (x != 0),
        "A 0 in x counts like any other entry: if it rises by 1, so does the sum.",
    ),
]
_MEAN = [
    (sum_x, "That is n times too large: a mean has a 1/n."),
    (_no_n, "There is no variable n here: compute it. " + _N),
    (
        lambda g, z, x, axis, keepdims: sum_x(g, z, x) * z.size / x.size,
        "g has lost an axis here. Do you pass axis on? sum_x(g, z, x, axis) puts it back.",
    ),
    (
        lambda g, z, x, axis, keepdims: np.broadcast_to(restore(z, x, axis), x.shape),
        "That copies z, the mean. Copy g instead.",
    ),
    (
        lambda g, z, x, axis, keepdims: sum_x(z, z, x, axis) * z.size / x.size,
        "That copies z, the mean. Copy g instead.",
    ),
    (
        lambda g, z, x, axis, keepdims: sum_x(g, z, x, axis) / x.size / z.size,
        "That divides by both sizes. n is x.size / z.size: put it in parentheses.",
    ),
    (
        lambda g, z, x, axis, keepdims: sum_x(g, x, axis) * z.size / x.size,
        "sum_x takes g, z, x and then axis: z is missing.",
    ),
    (
        lambda g, z, x, axis, keepdims: sum_x(g, z, x, keepdims) * z.size / x.size,
        "After x, sum_x takes axis, not keepdims: sum_x(g, z, x, axis).",
    ),
    (
        lambda g, z, x, axis, keepdims: restore(g, x, axis) * z.size / x.size,
        "The axis is back, with length 1: copy along it.",
    ),
    (
        lambda g, z, x, axis, keepdims: sum_x(g, z, x, axis) / x.size,
        "x.size counts all 6 entries. Each mean uses only 3 of them. " + _N,
    ),
    (
        lambda g, z, x, axis, keepdims: sum_x(g, z, x, axis) / z.size,
        "z.size is the number of means. " + _N,
    ),
    *(
        (wrong, "That divides by the length of z, the number of means. " + _N)
        for wrong in (
            lambda g, z, x, axis, keepdims: sum_x(g, z, x, axis) / len(z),
            lambda g, z, x, axis, keepdims: sum_x(g, z, x, axis) / z.shape[0],
        )
    ),
    (
        lambda g, z, x, axis, keepdims: sum_x(g, z, x, axis) * x.size / z.size,
        "That is multiplied by n, but should be divided by n.",
    ),
    (
        lambda g, z, x, axis, keepdims: sum_x(g, z, x, axis) / x.shape[1],
        "That is right only for axis=1. " + _N,
    ),
    (
        lambda g, z, x, axis, keepdims: sum_x(g, z, x, axis) / 3,
        "3 is right only for axis=1 and an x of three columns. " + _N,
    ),
    (
        lambda g, z, x, axis, keepdims: sum_x(g, z, x, axis) / len(x),
        "That divides by 2, the number of rows. " + _N,
    ),
    (
        lambda g, z, x, axis, keepdims: sum_x(g, z, x, axis) * len(z) / x.size,
        "z may be a scalar. " + _N,
    ),
    (
        lambda g, z, x, axis, keepdims: sum_x(g, z, x, axis) / x.shape[axis],
        "axis may be None: then the mean is over all entries. " + _N,
    ),
    (
        lambda g, z, x, axis, keepdims: (
            sum_x(g, z, x, axis) / (x.size if axis is None else x.shape[axis])
        ),
        "axis may be a tuple: then the mean is over several axes at once. " + _N,
    ),
    (
        lambda g, z, x, axis, keepdims: (
            sum_x(g, z, x, axis) / np.shape(x)[1 if axis is None else axis]
        ),
        "With axis=None, one mean is over all entries of x, not over one axis. " + _N,
    ),
    *(
        (
            wrong,
            "The mean of g mixes its entries. An entry of x belongs to one mean: it receives the g of this mean, divided by n.",
        )
        for wrong in (
            lambda g, z, x, axis, keepdims: np.mean(g),
            lambda g, z, x, axis, keepdims: np.broadcast_to(np.mean(g), x.shape),
            lambda g, z, x, axis, keepdims: sum_x(np.mean(g), z, x, axis),
        )
    ),
    *(
        (wrong, "That has the shape of z. Each entry of x needs a gradient.")
        for wrong in (
            lambda g, z, x, axis, keepdims: np.mean(sum_x(g, z, x, axis), axis, keepdims=keepdims),
            lambda g, z, x, axis, keepdims: np.mean(sum_x(g, z, x, axis), axis),
            lambda g, z, x, axis, keepdims: np.mean(x, axis, keepdims=keepdims),
            lambda g, z, x, axis, keepdims: np.mean(x, axis),
        )
    ),
    (
        lambda g, z, x, axis, keepdims: np.broadcast_to(z.size / x.size, x.shape),
        "g is missing: multiply 1/n by g.",
    ),
    (
        lambda g, z, x, axis, keepdims: sum_x(g, z, x, axis) / {None: 6, 0: 2, 1: 3, -1: 3}[axis],
        _ONE_SHAPE,
    ),
    (
        lambda g, z, x, axis, keepdims: sum_x(g, z, x, axis) // (x.size / z.size),
        "// drops the fraction: divide by n with /.",
    ),
]


@exercise(
    "08.spread",
    minutes=6,
    difficulty="medium",
    importance=3,
    question="""
        Write both rules in one line each, for any axis. First make `x.sum(axis=1)` work. `axis` and `keepdims` are the arguments
        of the forward call; you do not need `keepdims`. `axis` is one axis, a tuple of several, or None if all entries were added.
        `restore(g, x, axis)` puts each lost axis back, with length 1; then `np.broadcast_to(array, shape)` can copy along it.
        (With None it changes nothing, because a single number can be copied to any shape.) `x.size` is the number of
        entries of x.""",
    stub="""
        def restore(g, x, axis):                    # g.ndim is the number of axes of g
            return g if axis is None or g.ndim == x.ndim else np.expand_dims(g, axis)

        sum_x = lambda g, z, x, axis=None, keepdims=False: ...
        mean_x = lambda g, z, x, axis=None, keepdims=False: ...""",
    hints=[
        "Take x of shape (2, 3) and axis=1. g has shape (2,), and `restore(g, x, axis)` has shape (2, 1): `np.expand_dims(g, 1)` adds an axis of length 1 as axis 1. What shape must the gradient of x have? `np.broadcast_to` copies an array to this shape.",
        "The mean is the sum divided by n. How many entries of x share one entry of z? `x.size / z.size`.",
        (
            "Help: ValueError, could not be broadcast",
            "Shapes are compared from the right: (2,) does not fit (2, 3), but (2, 1) does.",
        ),
    ],
    solution="""
        def restore(g, x, axis):
            return g if axis is None or g.ndim == x.ndim else np.expand_dims(g, axis)

        sum_x = lambda g, z, x, axis=None, keepdims=False: np.broadcast_to(restore(g, x, axis), x.shape)
        mean_x = lambda g, z, x, axis=None, keepdims=False: sum_x(g * z.size / x.size, z, x, axis)""",
    explained="`x.size / z.size` is n, so `g * z.size / x.size` is g/n. For x of shape (2, 3), n is 3 with axis=1, 2 "
    "with axis=0, and 6 with axis=None.",
    why="A broadcast copies forward and adds backward. A sum adds forward and copies backward.",
)
def spread(answer):
    if any(map(is_stub, answer)):
        raise NotYet
    x, axes = np.array([[8.0, 1, 0], [2, 4, 5]]), {"axis": 1, "keepdims": False}
    for rule, name, right, forward, hints in zip(
        answer, ("sum_x", "mean_x"), (sum_x, mean_x), (np.sum, np.mean), (_SUM, _MEAN)
    ):

        def build(d, forward=forward):
            sizes = d.shape(2, 3, 3, 1)
            x = d(
                *(sizes if d.round % 3 else sizes[:1] * len(sizes))
            )  # a square now and then, or a cube
            named = Named(axis=d.axis(x.ndim), keepdims=d.choice(False, True, False))
            named = Named() if d.round % 5 == 4 else named
            z = forward(x, **named)
            return d.g(*z.shape), z, x, named

        def tried(g, z, x, named, name=name):
            said = (
                "".join(f", {one}={value}" for one, value in named.items())
                or ", axis and keepdims left out"
            )
            return f"{name}, with g = {brief(g)}, x of shape {x.shape}{said}"

        examples = [
            (np.array(g), forward(x, **axes | named), x, Named(axes | named))
            for g, named in [
                ([10.0, 20], {}),
                ([1.0, 2, 3], {"axis": 0}),
                (12.0, {"axis": None}),
                ([[10.0], [20]], {"keepdims": True}),
            ]
        ]
        expect_over(rule, right, build, first=examples, hints=hints, tried=tried, rounds=40)


# --- What only moves --------------------------------------------------------------------------------------------------------

_wrong_T = ag.linear(np.transpose, lambda g, z, x: np.reshape(g, x.shape), name="wrong_T")


@exercise(
    "08.lucky",
    minutes=3,
    difficulty="optional",
    importance=1,
    question="""
        **Fool the check.** `wrong_T` transposes, but its rule only reshapes g, as above. Find an array x with two axes and at
        least two entries, for which `ag.check_grads(wrong_T, x, order=1)` finds no error.""",
    stub="""
        lucky_x = ...""",
    hints=[
        "The numbers in x do not matter, because the rule does not use them. What does matter?",
        "Its shape. For which shape does a transpose leave the entries in the same order, read row by row?",
    ],
    solution="""
        lucky_x = np.ones((1, 3))""",
    explained="A single row becomes a single column, with its entries in the same order. So the wrong rule is right for every g.",
    why="With one row or one column, a transpose cannot change the order of the entries. So check with axes that are longer than 1. Different lengths, such as (2, 3), also reveal a wrong shape.",
)
def lucky(answer):
    if isinstance(answer, tuple) and np.shape(answer) == (2,):
        raise Wrong(
            "your x",
            brief(answer),
            "an array",
            f"If {brief(answer)} was meant as a shape, write np.ones({brief(answer)}).",
        )
    x = np.asarray(answer.data if isinstance(answer, ag.Tensor) else answer)
    if x.dtype.kind not in "iuf" or not np.isfinite(x).all():
        raise Wrong(
            "your x",
            brief(answer),
            "an array of finite numbers",
            "For example, np.ones((2, 3)).",
        )
    if x.ndim != 2:
        raise Wrong(
            "your x",
            f"shape {x.shape}",
            "an array with two axes",
            "Transposing an array with one axis changes nothing, which is too easy."
            if x.ndim == 1
            else "An array with two axes has rows and columns: for example, np.ones((2, 3)).",
        )
    if x.size < 2:
        raise Wrong(
            "your x",
            f"shape {x.shape}",
            "at least two entries",
            "With fewer than two entries, nothing can be in the wrong place.",
        )
    try:
        ag.check_grads(_wrong_T, x, order=1)
    except AssertionError as report:
        raise Wrong(
            f"the check, at your x of shape {x.shape}",
            str(report).splitlines()[0],
            "no error found",
            "Your x is square: it may be its own transpose, but g is not. For which shape does a transpose keep the order of the entries?"
            if x.shape[0] == x.shape[1]
            else "The numbers in x are too large for the check. Use smaller ones."
            if 1 in x.shape
            else "The numbers in x do not matter, but its shape does. For which shape does a transpose keep the order of the entries?",
        ) from None
    if 1 not in x.shape:
        raise Wrong(
            "your x",
            brief(x),
            "an x that fools the check by its shape",
            "With numbers this large, a small step is lost to rounding.",
        )


_RESHAPE = [
    (
        lambda g, z, x, shape: np.reshape(g, shape),
        "That has the shape of z. The gradient of x has the shape of x.",
    ),
    (
        lambda g, z, x, shape: np.transpose(g),
        "A reshape keeps the order, row by row; a transpose does not.",
    ),
    (lambda g, z, x, shape: x, "That is x itself. Return g, in the shape of x."),
    (
        lambda g, z, x, shape: np.reshape(g, (2, 3)),
        "That is right only for an x of shape (2, 3). How do you write the shape of any x?",
    ),
    (
        lambda g, z, x, shape: np.reshape(g, (len(x), -1)),
        "That is right only for an x of two axes. Use x.shape, which works for any x.",
    ),
    (lambda g, z, x, shape: np.reshape(g, x), "np.reshape expects a shape: x.shape."),
    (
        lambda g, z, x, shape: np.maximum(np.reshape(g, x.shape), 0),
        "Move negative numbers too, unchanged.",
    ),
    (lambda g, z, x, shape: np.ones(x.shape), "g is missing: the rule moves the entries of g."),
    (
        lambda g, z, x, shape: np.reshape(g, x.shape, order="F"),
        "That reads column by column. A reshape goes row by row, in both passes.",
    ),
    (
        lambda g, z, x, shape: np.reshape(np.abs(g), x.shape),
        "The signs are lost: move g unchanged.",
    ),
]
_TRANSPOSE = [
    (
        lambda g, z, x, axes: np.reshape(g, x.shape),
        "The shape is right, but the places are wrong: x[0, 1] went to z[1, 0]. Which function moves it back?",
    ),
    (lambda g, z, x, axes: g, "That has the shape of z. The gradient of x has the shape of x."),
    (lambda g, z, x, axes: np.transpose(x), "That is z. Move g instead."),
    (lambda g, z, x, axes: x, "That is x itself. Move g instead."),
    (
        lambda g, z, x, axes: np.rot90(g),
        "That is g rotated by 90°: x[0, 1] went to z[1, 0]. np.transpose(g) moves it back from there.",
    ),
    (
        lambda g, z, x, axes: np.rot90(g, -1),
        "That is g rotated by 90°: x[0, 1] went to z[1, 0]. np.transpose(g) moves it back from there.",
    ),
    (lambda g, z, x, axes: g.T[:2], "That is right only for an x of two rows. g.T has all rows."),
    (lambda g, z, x, axes: np.abs(g.T), "The signs are lost: move g unchanged."),
    (
        lambda g, z, x, axes: np.reshape([[1.0, 3, 5], [2, 4, 6]], x.shape),
        "That is right only for the g of the example.",
    ),
]
_MORE = "g has more entries than x: some of them belong to y. Which rows of z came from x?"
_JOIN_X = [
    (lambda g, z, x, y, axis, starts: x, "That is x itself. x receives rows of g."),
    (lambda g, z, x, y, axis, starts: g, "That is all of g. Only the first rows of z came from x."),
    (lambda g, z, x, y, axis, starts: g[len(x) :], "Those are the rows of y. Are the two swapped?"),
    (
        lambda g, z, x, y, axis, starts: g[len(y) :],
        "Those are the last rows of z. The first rows belong to x: g[:len(x)].",
    ),
    (lambda g, z, x, y, axis, starts: g[: len(y)], "Those are too few rows: x has len(x) of them."),
    (
        lambda g, z, x, y, axis, starts: g[:, : len(x)],
        "Those are columns. The first index is for rows: g[:len(x)].",
    ),
    (
        lambda g, z, x, y, axis, starts: g[:2],
        "That is right only for an x of two rows. How do you write the number of rows of any x?",
    ),
    (lambda g, z, x, y, axis, starts: g[0], "That is one row, and x has two."),
    (
        lambda g, z, x, y, axis, starts: g[1 : len(x)],
        "Python counts from 0: that leaves out the first row. g[:len(x)] begins at row 0.",
    ),
    (
        lambda g, z, x, y, axis, starts: g[: len(x) - 1],
        "A slice already stops before its end: g[:len(x)] contains rows 0 to len(x) − 1.",
    ),
    (
        lambda g, z, x, y, axis, starts: g[: -len(y)],
        "If y has no rows, g[:-0] is empty. Count forward: g[:len(x)].",
    ),
    (
        lambda g, z, x, y, axis, starts: g[len(x)],
        "That is one row, and it belongs to y. Use a slice with a colon.",
    ),
    *(
        (wrong, "A slice needs a colon, followed by a whole number of rows: len(x).")
        for wrong in (
            lambda g, z, x, y, axis, starts: g[:x],
            lambda g, z, x, y, axis, starts: g[x],
            lambda g, z, x, y, axis, starts: g[: x.shape],
            lambda g, z, x, y, axis, starts: g[x.shape],
        )
    ),
    (lambda g, z, x, y, axis, starts: np.reshape(g, x.shape), _MORE),
    (lambda g, z, x, y, axis, starts: np.broadcast_to(g, x.shape), _MORE),
]
_JOIN_Y = [
    (
        lambda g, z, x, y, axis, starts: g[-1:],
        "That is right only for a y of one row. y begins after len(x) rows.",
    ),
    (
        lambda g, z, x, y, axis, starts: g[-len(y) :],
        "If y has no rows, g[-0:] is all of g. Count forward: g[len(x):].",
    ),
    (lambda g, z, x, y, axis, starts: g, "That is all of g. Only the last rows of z came from y."),
    (lambda g, z, x, y, axis, starts: g[: len(x)], "Those are the rows of x. Are the two swapped?"),
    (lambda g, z, x, y, axis, starts: g[len(y) :], "y begins where x ends, after len(x) rows."),
    (
        lambda g, z, x, y, axis, starts: g[len(x)],
        "An axis is lost: a single index removes it, but a slice such as g[2:] keeps it.",
    ),
    (
        lambda g, z, x, y, axis, starts: g[2:],
        "That is right only for an x of two rows. How do you write the number of rows of any x?",
    ),
    (
        lambda g, z, x, y, axis, starts: g[len(x) + 1 :],
        "One row is lost: the row after rows 0 to len(x) − 1 is row len(x).",
    ),
    (lambda g, z, x, y, axis, starts: y, "That is y itself. y receives rows of g."),
    (
        lambda g, z, x, y, axis, starts: g[: len(y)],
        "That begins at row 0, where x is. y begins after len(x) rows.",
    ),
]


@exercise(
    "08.back",
    minutes=4,
    difficulty="optional",
    importance=1,
    question="""
        Write four rules. `np.reshape(x, shape)` keeps the entries in order, row by row: the n-th entry of x is the n-th entry of z.
        `np.transpose(x)` of an array with two axes is `x.T`. And `np.concatenate([x, y])` puts the rows of y under those of
        x (y may have no rows). `len(x)` is the number of rows of x: row k of x is row k of z, and row k of y is row `len(x) + k` of z. The first two have one rule each; the third has
        one rule for x and one for y. (The library also passes `axis`, here 0, and `starts`; you need neither.)""",
    stub="""
        reshape_x = lambda g, z, x, shape: ...
        transpose_x = lambda g, z, x, axes=None: ...
        join_x = lambda g, z, x, y, axis, starts: ...
        join_y = lambda g, z, x, y, axis, starts: ...""",
    hints=[
        "Where did each entry go? Take its gradient from that position in g. g has the shape of z, and the result needs the shape of x (or of y).",
        "In `concatenate`, the first `len(x)` rows of z come from x, and the rest from y. `g[:2]` is the first two rows of g, and `g[2:]` is the rest.",
    ],
    solution="""
        reshape_x = lambda g, z, x, shape: np.reshape(g, x.shape)
        transpose_x = lambda g, z, x, axes=None: np.transpose(g)
        join_x = lambda g, z, x, y, axis, starts: g[:len(x)]
        join_y = lambda g, z, x, y, axis, starts: g[len(x):]""",
    explained="""Each entry of x goes to exactly one place, with local gradient 1, so its gradient is the entry of g at that place. In a
        reshape, the n-th entry of x receives the n-th entry of g. In `concatenate`, row k of x receives row k of g, and row k of
        y receives row `len(x) + k`.""",
    why="The rule for an operation that only moves entries needs no arithmetic. It only moves each entry of g back.",
)
def back(answer):
    if any(map(is_stub, answer)):
        raise NotYet
    x, y = np.array([[8.0, 1, 0], [2, 4, 5]]), np.array([[7.0, 7, 7]])
    g, joined = np.array([[1.0, 2], [3, 4], [5, 6]]), np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]])
    z = np.concatenate([x, y])
    axes = Named(axis=0, starts=[0, 2, 3])
    both = joined, z, x, y, axes
    examples = [
        (g, x.reshape(3, 2), x, Named(shape=(3, 2))),
        (g, x.T, x, Named(axes=None)),
        both,
        both,
    ]

    def reshaped(d):
        x = d(*d.shape(2, 3, 1))
        shape = d.choice((x.size,), x.shape[::-1], (1, x.size))
        if x.ndim == 3 and d.round % 5 == 0:
            shape = len(x), *x.shape[:0:-1]
        return d.g(*shape[::-1]).T, x.reshape(shape), x, Named(shape=shape)

    def transposed(d):
        x = d(d.size(), d.size())
        return d.g(*x.T.shape), x.T, x, Named({} if d.round % 5 == 4 else {"axes": None})

    def joined(d):
        n, m, width = d.size(), d.size(0), d.size()
        x, y = d(n, width), d(m, width)
        return d.g(n + m, width), np.concatenate([x, y]), x, y, Named(axis=0, starts=[0, n, n + m])

    for rule, name, example, build, right, hints in zip(
        answer,
        ("reshape_x", "transpose_x", "join_x", "join_y"),
        examples,
        (reshaped, transposed, joined, joined),
        (
            lambda g, z, x, shape: g.reshape(x.shape),
            lambda g, z, x, axes=None: g.T,
            lambda g, z, x, y, axis, starts: g[: len(x)],
            lambda g, z, x, y, axis, starts: g[len(x) :],
        ),
        (_RESHAPE, _TRANSPOSE, _JOIN_X, _JOIN_Y),
    ):
        expect_over(
            rule,
            right,
            build,
            first=[example],
            hints=hints,
            tried=lambda g, z, *xs, name=name: (
                f"{name}, with g = {brief(g)}, "
                + " and ".join(f"{letter} of shape {x.shape}" for letter, x in zip("xy", xs[:-1]))
            ),
        )


# --- Indices ----------------------------------------------------------------------------------------------------------------


def scattered(g, index, shape):
    out = np.zeros(shape)
    np.add.at(out, index, g)
    return out


def _last_wins(g, index, shape):
    out = np.zeros(shape)
    out[index] = g
    return out


def _first_wins(g, index, shape):
    out = np.zeros(shape)
    out[index[::-1]] = g[::-1]
    return out


def _by_own_place(g, index, shape):
    out = np.zeros(shape)
    for row in index:
        out[row] += g[row]
    return out


def _all_to_each(g, index, shape):
    out = np.zeros(shape)
    for row in index:
        out[row] += g
    return out


def _first_alone(g, index, shape):
    return scattered(g[:1], index[:1], shape)


def _read_for_write(g, index, shape):
    out = np.zeros(shape)
    for k, row in enumerate(index):
        out[k] += g[row]
    return out


def _three(g, index, shape):
    return scattered(g, [index[k] for k in range(3)], shape)


def _exchanged(g, index, shape):
    np.add.at(np.zeros(shape), g, index)


def _exchanged_then_out(g, index, shape):
    out = np.zeros(shape)
    np.add.at(g, index, out)
    return out


def _whole(g, index, shape):
    out = np.zeros(shape, int)
    for k, row in enumerate(index):
        out[row] += g[k].astype(int)
    return out


def _into_integers(g, index, shape):
    out = np.zeros(shape, int)
    np.add.at(out, index, g)
    return out


def _ones(g, index, shape):
    return scattered(np.ones_like(g), index, shape)


def _from_the_front(g, index, shape):
    out = np.zeros(shape)
    for place in range(len(out)):
        out[place] = sum((a for a, row in zip(g, index) if row == place), 0 * out[place])
    return out


def _rows_from_the_front(g, index, shape):
    return np.array(
        [sum(a for a, row in zip(g, index) if row == place) for place in range(shape[0])]
    )


def _entries_from_the_front(g, index, shape):
    return np.array([g[np.array(index) == place].sum() for place in range(shape[0])])


def _list_and_number(g, index, shape):
    return np.array([g[index == place].sum(axis=0) for place in range(shape[0])])


def _list_and_number_alone(g, index, shape):
    return np.array([g[index == place].sum() for place in range(shape[0])])


def _as_many_as_places(g, index, shape):
    out = np.zeros(shape)
    for k in range(shape[0]):
        out[index[k]] += g[k]
    return out


def _last_wins_in_the_shape_of_g(g, index, shape):
    return _last_wins(g, index, g.shape)


def _in_the_mean(g, index, shape):
    count = scattered(np.ones_like(g), index, shape)
    return scattered(g, index, shape) / np.where(count, count, 1)


@exercise(
    "08.scatter",
    minutes=4,
    difficulty="medium",
    importance=3,
    question="""
        Write `scatter(g, index, shape)`, the rule for `x[index]`, where x has shape `shape`. `index` lists the entries that
        were read (or the rows, if x has two axes); −1 is the last entry or row. `np.add.at(out, index, g)` adds the values of
        g to `out` one at a time; a loop also works.""",
    stub="""
        def scatter(g, index, shape):
            ...""",
    hints=[
        "You need three lines: make an array of zeros with the shape of x, add g into it, and return it.",
        (
            "Help: I get None",
            "`np.add.at` changes `out` in place and returns None. Do not assign its result; return `out` on the next line.",
        ),
        (
            "Help: one entry is wrong",
            "`out[index] = g` and `out[index] += g` write entry 0 twice, so only the last value is left.",
        ),
    ],
    solution="""
        def scatter(g, index, shape):
            out = np.zeros(shape)
            np.add.at(out, index, g)
            return out""",
    explained="Instead of `np.add.at`, a loop also works: `for k, row in enumerate(index): out[row] += g[k]`.",
    why="An entry that is read twice receives two gradients, and they add up: it is the sum over paths from lesson 02, with one path "
    "for each place in z.",
    mistakes=[
        (
            _last_wins,
            "Entry 0 was read twice, so it receives both 100 and 3. With out[index] = g and out[index] += g only the last one is left.",
        ),
        (_first_wins, "Entry 0 was read twice, so it receives both 100 and 3."),
        (
            lambda g, index, shape: g[index],
            "That reads from the array again. The rule writes g to the places that were read.",
        ),
        (
            _read_for_write,
            "You read g at row and write at k. It is the other way round: g[k] goes to place row.",
        ),
        (
            lambda g, index, shape: g,
            "That has the shape of x[index]. The gradient of x has the shape of x.",
        ),
        (
            _by_own_place,
            "g[0] is for entry index[0], and g[1] for entry index[1]: you need two counters, as in enumerate(index).",
        ),
        (
            _all_to_each,
            "That adds all of g to each place. Each place receives one entry of g: zip(index, g).",
        ),
        (
            _first_alone,
            "Only g[0] was added. Is return inside the loop? It belongs after the loop.",
        ),
        (_three, "That is right only for an index of three entries. Use len(index)."),
        (
            lambda g, index, shape: np.add.at(np.zeros(shape)[index], g),
            "np.add.at takes three arguments: out, index, g.",
        ),
        (
            lambda g, index, shape: [gift for row, gift in (index, g)],
            "You need two counters: zip(index, g) pairs each place with its entry of g.",
        ),
        *(
            (exchanged, "np.add.at takes out first, then index, then g.")
            for exchanged in (_exchanged, _exchanged_then_out)
        ),
        (
            lambda g, index, shape: scattered(g, index, g.shape),
            "out has the shape of x, which is the argument shape. g has a different shape.",
        ),
        (_in_the_mean, "Add the entries of g that belong to one place: do not take their mean."),
        (
            _whole,
            "The result was truncated to integers: is out an array of integers? np.zeros(shape) makes floats.",
        ),
        (
            lambda g, index, shape: scattered(g, index, shape).astype(np.float16),
            "Digits are lost: an array of floats such as np.zeros(shape) keeps them.",
        ),
        (
            lambda g, index, shape: scattered(np.abs(g), index, shape),
            "The signs are lost: add g unchanged.",
        ),
        (
            lambda g, index, shape: scattered(g, sorted(index), shape),
            "g[k] is for entry index[k], in the order of index: do not sort it.",
        ),
        (
            lambda g, index, shape: scattered(g, list(dict.fromkeys(index)), shape),
            "Do you use each place only once? An entry that was read twice receives two entries of g.",
        ),
        (
            lambda g, index, shape: scattered(g, index, shape) + np.resize(g, shape),
            "out contains g from the beginning. It must start as zeros, with the shape of x: np.zeros(shape).",
        ),
        (
            lambda g, index, shape: np.add.at(np.zeros_like(shape), index, g),
            "np.zeros_like(shape) has one entry for each axis. For an array of that shape, write np.zeros(shape).",
        ),
        (
            lambda g, index, shape: np.zeros(shape),
            "There are only zeros: nothing was added into this array. Add into out, and return out.",
        ),
        *(
            (
                from_the_front,
                "An index may count from the end: −1 is the last place, and out[-1] is that place.",
            )
            for from_the_front in (_from_the_front, _rows_from_the_front, _entries_from_the_front)
        ),
        *(
            (
                list_and_number,
                "index is a list, and a list is never equal to a number: compare np.array(index) == i, entry by entry.",
            )
            for list_and_number in (_list_and_number, _list_and_number_alone)
        ),
        (
            _as_many_as_places,
            "The loop must run over all of g: len(index) times, not once for each place of out.",
        ),
        (
            _last_wins_in_the_shape_of_g,
            "Entry 0 was read twice, so it receives both 100 and 3. Also, out has the shape of x, which is the argument shape.",
        ),
        (
            lambda g, index, shape: scattered(g, index, len(index)),
            "out has one place for each place of x, not one for each entry of index: np.zeros(shape).",
        ),
        (_ones, "g is missing: this counts how often each entry was read."),
        (
            lambda g, index, shape: np.bincount(index, g, shape[0]),
            "That works only for one axis and for an index without negative entries. If x has two axes, a row of g goes to a row of x; and −1 is the last entry.",
        ),
        (
            lambda g, index, shape: scattered(g[1:], index[1:], shape),
            "g[0] is missing: k counts from 0, so the loop is over range(len(index)).",
        ),
        (
            lambda g, index, shape: np.eye(shape[0])[index] @ g,
            "That matrix reads from g. Its transpose writes g to the places that were read: (…).T @ g.",
        ),
        (
            lambda g, index, shape: scattered(g, index, len(shape)),
            "len(shape) is the number of axes. For an array with the shape of x, write np.zeros(shape).",
        ),
        (
            lambda g, index, shape: [0] * shape,
            "A list is not an array. For zeros with the shape of x, write np.zeros(shape).",
        ),
        (
            _into_integers,
            "out is an array of integers, which drops the fractions: np.zeros(shape) makes floats.",
        ),
        (
            lambda g, index, shape: scattered(g, [k - 1 for k in index], shape),
            "Python counts from 0, and so does index: index[k] is the place itself, without − 1.",
        ),
    ],
)
def scatter(answer):
    if is_stub(answer):
        raise NotYet

    def build(d):
        shape = (d.size(),) if d.round % 2 else (d.size(), d.size())
        index = d.places(shape[0], d.choice(shape[0], d.size()), ends=2).tolist()
        return d.g(len(index), *shape[1:]), index, shape

    examples = [
        (np.array([100.0, 20, 3]), [0, 2, 0], (3,)),
        (np.array([10.0, 1]), [-1, 1], (2,)),
        (np.array([[1.5, -2], [3, 4], [5, 6]]), [2, 0, 2], (3, 2)),
    ]
    try:
        expect_over(
            answer,
            scattered,
            build,
            first=examples,
            hints=scatter.mistakes,
            tried=lambda g, index, shape: (
                f"scatter(g, index, shape), with g = {brief(g)}, index = {index}, shape = {shape}"
            ),
        )
    except Wrong as wrong:
        none = "Your function returned None. np.add.at changes out in place and returns None: do not assign or return its result. Return out."
        raise wrong.because(none if wrong.cause.kind == "nothing" else wrong.cause) from None
