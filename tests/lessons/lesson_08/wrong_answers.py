"""Wrong answers to the exercises of lesson 08 with their causes, and right answers in other styles."""

import numpy as np
from answer_cases import cases

from autograd_course.grading import edit
from autograd_course.grading.causes import own
from autograd_course.lessons.lesson_08.exercises import (
    _JOIN_X,
    _JOIN_Y,
    _MEAN,
    _RESHAPE,
    _SUM,
    _TO_COLUMN,
    _TO_NUMBER,
    _TRANSPOSE,
    _last_wins,
    mean_x,
    scattered,
    sum_x,
)

cases(
    "08.bias",
    wrong=[
        *(((wrong, lambda g: g.sum()), own(hint)) for wrong, hint in _TO_COLUMN),
        *(
            ((lambda g: g.sum(axis=1, keepdims=True), wrong), own(hint))
            for wrong, hint in _TO_NUMBER
        ),
        ((lambda g: g.sum(axis=1, keepdims=True), lambda g: print(g.sum())), "printed"),
    ],
    accepted=[
        edit(
            "g.sum(axis=1, keepdims=True)",
            "g @ np.ones((3, 1))",
            "g.sum()",
            "np.ones(2) @ g @ np.ones(3)",
        ),
        edit(
            "g.sum(axis=1, keepdims=True)",
            "np.einsum('ij->i', g)[:, None]",
            "g.sum()",
            "np.einsum('ij->', g)",
        ),
        edit("g.sum(axis=1, keepdims=True)", "[[sum(row)] for row in g]", "g.sum()", "sum(sum(g))"),
        edit(
            "g.sum(axis=1, keepdims=True)", "g.sum(1).reshape(-1, 1)", "lambda g: g.sum()", "np.sum"
        ),
    ],
)

cases(
    "08.spread",
    wrong=[
        *(((wrong, mean_x), own(hint)) for wrong, hint in _SUM),
        *(((sum_x, wrong), own(hint)) for wrong, hint in _MEAN),
        ((sum_x, lambda g, z, x, axis, keepdims: sum_x(g, z, x, axis) / x.ndim), "factor"),
        edit(
            "restore(g, x, axis), x.shape",
            "g if g.shape == x.shape[-g.ndim:] else restore(g, x, axis), x.shape",
            "right elsewhere",
        ),
        edit("np.expand_dims(g, axis)", "np.expand_dims(g, abs(axis))", "none | axis=-1"),
        edit("z, x, axis)", "z, x, axis and abs(axis))", "none | axis=-1"),
        edit(
            "sum_x(g * z.size / x.size, z, x, axis)",
            "sum_x(g, z, x, axis) / (x.size if axis is None else x.shape[axis])",
            "own: axis may be a tuple: then the mean is over several axes at once. How many entries share one mean? x.size / z.size of them, whatever the axis",
        ),
        edit(
            "sum_x = lambda g, z, x, axis=None",
            "sum_x = lambda g, z, x, axis=1",
            "none",
        ),
        edit(
            "mean_x = lambda g, z, x, axis=None",
            "mean_x = lambda g, z, x, axis=1",
            "none",
        ),
    ],
    accepted=[
        edit(
            "np.broadcast_to(restore(g, x, axis), x.shape)",
            "restore(g, x, axis) * np.ones_like(x)",
            "sum_x(g * z.size / x.size, z, x, axis)",
            "sum_x(g, z, x, axis) / np.prod([x.shape[one] for one in "
            "(axis if isinstance(axis, tuple) else range(x.ndim) if axis is None else [axis])])",
        ),
        edit(
            "np.broadcast_to(restore(g, x, axis), x.shape)", "np.full(x.shape, restore(g, x, axis))"
        ),
        edit(
            "np.broadcast_to(restore(g, x, axis), x.shape)",
            "ag.vjp(lambda x: ag.sum(x, axis=axis, keepdims=keepdims), x)[1](g)[0]",
            "sum_x(g * z.size / x.size, z, x, axis)",
            "ag.vjp(lambda x: ag.mean(x, axis=axis, keepdims=keepdims), x)[1](g)[0]",
        ),
    ],
)

cases(
    "08.lucky",
    wrong=[
        (np.ones((2, 2)), "own: square"),
        (np.full((3, 1), -1.7e308), "own: smaller ones"),
        (np.eye(3), "own: square"),
        (np.zeros((2, 3)), "own: numbers in x do not matter"),
        (np.arange(8.0).reshape(4, 2), "own: numbers in x do not matter"),
        (np.ones(3), "own: Transposing an array of one axis changes nothing"),
        ((1, 3), "own: np.ones((1, 3))"),
        (np.ones((1, 1)), "own: two entries"),
        ([[1.0, 2.0], [2.0, 1.0]], "own: square"),
        (2.0, "own: two axes"),
        ("np.ones", "own: np ones 2 3 is"),
        (np.ones((2, 1, 3)), "own: two axes"),
        (np.ones((0, 3)), "own: two entries"),
        (np.full((1, 3), np.nan), "own: np ones 2 3 is"),
        ([[1e200, 1.0], [1.0, 1e200]], "own: In numbers as large as these"),
    ],
    accepted=[
        "[[1, 2, 3]]",
        "np.zeros((5, 1))",
        "ag.Tensor([[1.0, 2.0]])",
        "np.array([[1], [2]])",
    ],
)

cases(
    "08.back",
    wrong=[
        *(
            (
                (
                    wrong,
                    lambda g, z, x, axes=None: g.T,
                    lambda g, z, x, y, axis, starts: g[: len(x)],
                    lambda g, z, x, y, axis, starts: g[len(x) :],
                ),
                cause,
            )
            for wrong, cause in [
                *((wrong, own(hint)) for wrong, hint in _RESHAPE),
                (
                    lambda g, z, x, shape: np.reshape(g, x.shape, order="A"),
                    "other places | reshape_x",
                ),
                (
                    lambda g, z, x, shape: (
                        g if g.ndim == x.ndim and len(g) == len(x) else g.reshape(x.shape)
                    ),
                    "shape: other layout | reshape_x",
                ),
            ]
        ),
        *(
            (
                (
                    lambda g, z, x, shape: g.reshape(x.shape),
                    wrong,
                    lambda g, z, x, y, axis, starts: g[: len(x)],
                    lambda g, z, x, y, axis, starts: g[len(x) :],
                ),
                own(hint),
            )
            for wrong, hint in _TRANSPOSE
        ),
        *(
            (
                (
                    lambda g, z, x, shape: g.reshape(x.shape),
                    lambda g, z, x, axes=None: g.T,
                    wrong,
                    lambda g, z, x, y, axis, starts: g[len(x) :],
                ),
                own(hint),
            )
            for wrong, hint in _JOIN_X
        ),
        *(
            (
                (
                    lambda g, z, x, shape: g.reshape(x.shape),
                    lambda g, z, x, axes=None: g.T,
                    lambda g, z, x, y, axis, starts: g[: len(x)],
                    wrong,
                ),
                own(hint),
            )
            for wrong, hint in _JOIN_Y
        ),
    ],
    accepted=[
        edit(
            "np.reshape(g, x.shape)",
            "g.ravel().reshape(x.shape)",
            "np.transpose(g)",
            "np.einsum('ij->ji', g)",
            "g[:len(x)]",
            "g[:len(g) - len(y)]",
            "g[len(x):]",
            "g[len(g) - len(y):]",
        ),
        edit(
            "np.transpose(g)",
            "np.array(list(zip(*g)))",
            "g[:len(x)]",
            "np.split(g, [len(x)])[0]",
            "g[len(x):]",
            "g[starts[1]:]",
        ),
        edit(
            "np.transpose(g)",
            "np.swapaxes(g, 0, 1)",
            "g[:len(x)]",
            "[g[k] for k in range(len(x))]",
            "g[len(x):]",
            "np.delete(g, range(len(x)), axis=0)",
        ),
    ],
)


def _none(g, index, shape):
    return np.add.at(np.zeros(shape), index, g)


def _each_pair_once(g, index, shape):
    """Add up a set of (row, gradient) pairs, which loses repeated pairs."""
    out = np.zeros(shape)
    pairs = {(row % shape[0], tuple(np.ravel(one))): one for row, one in zip(index, g)}
    for (row, _), one in pairs.items():
        out[row] += one
    return out


def _until_a_zero(g, index, shape):
    out = np.zeros(shape)
    for row, one in zip(index, g):
        if not np.any(one):
            break
        out[row] += one
    return out


cases(
    "08.scatter",
    wrong=[
        (lambda g, index, shape: _each_pair_once(g, index, shape), "right elsewhere"),
        (lambda g, index, shape: _until_a_zero(g, index, shape), "first entry"),
        (_none, "own: Your function returned None"),
        (
            lambda g, index, shape: (_last_wins if len({*index}) == len(index) else scattered)(
                g, index, shape
            ),
            "right elsewhere",
        ),
        (lambda g, index, shape: np.array([103.0, 0, 20]), "shape"),
        (
            lambda g, index, shape: scattered(g, index, shape) if len(index) > 1 else None,
            "own: Your function returned None",
        ),
        edit("out, index, g", "out, np.abs(index), g", "error: index"),
        edit(  # what np.empty may find in memory
            "out = np.zeros(shape)",
            "out = np.empty(shape)\n    out.flat[:] = np.arange(out.size) + 7.5",
            "np.empty",
        ),
        edit("out, index, g", "out, index[:127], g[:127]", "right elsewhere"),
        edit(
            "return out",
            "return g if sorted(index) == list(range(len(out))) else out",
            "right elsewhere",
        ),
        edit(
            "    out =",
            "    kept = scatter.__dict__\n    if kept.get('index') is index:\n        return kept['out'].copy()\n    out =",
            "return out",
            "kept.update(index=index, out=out.copy())\n    return out",
            "state: other g",
        ),
    ],
    accepted=[
        edit("out, index, g", "out, np.array(index), g"),
        """
        def scatter(g, index, shape):
            onehot = (np.arange(shape[0])[:, None] == np.asarray(index) % shape[0]) * 1.0
            return (onehot @ np.reshape(g, (len(index), -1))).reshape(shape)""",
        """
        def scatter(g, index, shape):
            out, index = np.zeros(shape), np.arange(shape[0])[np.asarray(index)]
            for row in np.unique(index):
                out[row] = np.sum(np.asarray(g)[index == row], axis=0)
            return out""",
        """
        def scatter(g, index, shape):
            out = np.zeros(shape)
            for k, row in enumerate(index):
                out[row] += g[k]
            return out""",
        "lambda g, index, shape: np.array([sum((a for a, k in zip(g, index) if k % shape[0] == row), "
        "np.zeros(shape[1:])) for row in range(shape[0])])",
    ],
)
