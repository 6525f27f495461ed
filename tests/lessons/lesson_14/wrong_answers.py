"""Wrong answers to the exercises of lesson 14 with their causes, and right answers in other styles."""

import numpy as np
from answer_cases import cases

import autograd_lib as ag
from autograd_course.grading import edit
from autograd_course.grading.causes import own
from autograd_course.lessons.lesson_14.exercises import (
    WRONG_ENTRIES,
    WRONG_FOLD,
    WRONG_PIXELS,
    WRONG_UNFOLD,
    WRONG_X,
    WRONG_Y,
    _conv_x,
    _conv_y,
    _grad_x,
    _grad_y,
    _to_pooled,
    _unfold_x,
)

cases(
    "14.from_indices",
    wrong=[
        *(
            (lambda g, x, y, wrong=wrong: (wrong(g, x, y), _grad_y(g, x, y)), own(hint))
            for wrong, hint in WRONG_PIXELS
        ),
        *(
            (lambda g, x, y, wrong=wrong: (_grad_x(g, x, y), wrong(g, x, y)), own(hint))
            for wrong, hint in WRONG_ENTRIES
        ),
        (lambda g, x, y: (_grad_y(g, x, y), _grad_x(g, x, y)), "swapped"),
        (_grad_x, "one value"),
        edit(
            "np.zeros(x.shape), np.zeros(y.shape)",
            "np.zeros((6, 6)), np.zeros((3, 3))",
            "shape in part 1 | (2, 5), (4, 6) and (3, 2)",
        ),
        edit(
            "g[i, j] * y[a, b]", "g[i, j] * (y[a, b] if y.size > 1 else 1)", "first entry in part 1"
        ),
        edit(
            "*g.shape, *y.shape",
            "4, 4, 3, 3",
            "own: The kernel and grad_y have the shape of y, and a place in them is [a, b]. [i, j] is a place in z | (2, 5), (4, 6) and (3, 2)",
        ),
        edit(
            "np.zeros(x.shape), np.zeros(y.shape)",
            "np.zeros(x.shape, int), np.zeros(y.shape, int)",
            "first entry | (2, 5), (4, 6) and (3, 2)",
        ),
        edit("    return grad_x", "    g *= 0\n    return grad_x", "array overwritten"),
        edit(
            "return grad_x, grad_y",
            "return grad_x.astype(x.dtype), grad_y.astype(y.dtype)",
            "cut off",
        ),
        edit("return grad_x, grad_y", "return np.abs(grad_x), grad_y", "first entry | grad_x"),
        edit(
            "grad_x[i + a, j + b] += g[i, j]",
            "grad_x[i + a, j + b] += abs(g[i, j])",
            "first entry | grad_x",
        ),
        edit("grad_y[a, b] += g[i, j]", "grad_y[a, b] += abs(g[i, j])", "first entry | grad_y"),
        edit("return grad_x, grad_y", "return grad_x * np.nan, grad_y", "nan | grad_x"),
        edit("np.zeros(x.shape), np", "np.ones(x.shape), np", "too large"),
        edit(
            "np.zeros(x.shape), np.zeros(y.shape)",
            "np.zeros_like(x), np.zeros_like(x)",
            "shape in part 2",
        ),
    ],
    accepted=[
        """
        def from_indices(g, x, y):
            grad_x, grad_y = np.zeros(x.shape), np.zeros(y.shape)
            for i, j in np.ndindex(g.shape):
                here = slice(i, i + len(y)), slice(j, j + y.shape[1])
                grad_x[here] += g[i, j] * y
                grad_y[...] += g[i, j] * x[here]
            return grad_x, grad_y""",
        """
        def from_indices(g, x, y):
            windows = np.lib.stride_tricks.sliding_window_view(x, y.shape)
            (h, w), (kh, kw) = g.shape, y.shape
            padded = np.pad(g, ((kh - 1, kh - 1), (kw - 1, kw - 1)))
            around = np.lib.stride_tricks.sliding_window_view(padded, y.shape)
            return np.einsum("ijab,ab->ij", around, y[::-1, ::-1]), np.einsum("ij,ijab->ab", g, windows)""",
        """
        def from_indices(g, x, y):
            slide = lambda x, y: ag.conv2d(x[None, None], y[None, None])[0, 0]
            return ag.vjp(slide, x * 1.0, y * 1.0)[1](g * 1.0)""",
        edit("grad_x[i + a, j + b] +=", "grad_x[(i + a, j + b)] = grad_x[i + a, j + b] +"),
    ],
)


def _fold_x(g, z, x, output_size, kernel_size, stride=1, padding=0):
    return ag.unfold(g, kernel_size, stride, padding)


WRONG_DEFAULTS = [("stride=2, padding=0", "stride"), ("stride=1, padding=1", "padding")]

cases(
    "14.fold",
    wrong=[
        *(((wrong, _fold_x), own(hint)) for wrong, hint in WRONG_UNFOLD),
        *(((_unfold_x, wrong), own(hint)) for wrong, hint in WRONG_FOLD),
        edit(
            "fold(g, x.shape[2:],",
            "fold(g, x.shape[2:] if x.shape[1] > 1 else x.shape[-1:] * 2,",
            "none | x (",
        ),
        edit("fold(g, x", "fold(g.astype(int), x", "right elsewhere"),
        edit(
            "x.shape[2:], kernel_size, stride, padding)",
            "x.shape[2:], kernel_size, min(stride, 2), padding)",
            "none | stride=3",
        ),
        edit(
            "x.shape[2:], kernel_size, stride, padding)",
            "x.shape[2:], kernel_size, stride, min(padding, 1))",
            "none | padding=2",
        ),
        *(
            edit(
                f"{before}, kernel_size, stride=1, padding=0:",
                f"{before}, kernel_size, {defaults}:",
                f"{kind} | {left} left out",
            )
            for before, kind in [
                ("unfold_x = lambda g, z, x", "none"),
                ("z, x, output_size", "shape"),
            ]
            for defaults, left in WRONG_DEFAULTS
        ),
    ],
    accepted=[
        edit("x.shape[2:]", "(x.shape[-2], x.shape[-1])"),
        edit(
            "fold(g, x.shape[2:], kernel_size, stride, padding)",
            "ag.vjp(lambda x: unfold(x, kernel_size, stride, padding), x)[1](g)[0]",
        ),
        edit(
            "fold(g, x.shape[2:], kernel_size, stride, padding)",
            "ag.fold(g, output_size=x.shape[2:], kernel_size=kernel_size, stride=stride, padding=padding)",
        ),
        """
        def unfold_x(g, z, x, kernel_size, stride=1, padding=0):
            n, c, *size = x.shape
            return fold(g, size, kernel_size, stride, padding)
        fold_x = lambda g, z, x, output_size, *sizes: unfold(g, *sizes)""",
    ],
)

cases(
    "14.fast",
    wrong=[
        *(
            ((wrong, _conv_y(lambda G, X: (X.mT @ G).sum(axis=0))), own(hint))
            for wrong, hint in WRONG_X
        ),
        *(((_conv_x(lambda G, Y: G @ Y.mT), wrong), own(hint)) for wrong, hint in WRONG_Y),
        *(
            edit(
                f"def {name}(g, z, x, y, stride=1, padding=0)",
                f"def {name}(g, z, x, y, {defaults})",
                f"{kind} | {left} left out",
            )
            for name, kind in (("conv2d_x", "none"), ("conv2d_y", "error: shapes of @"))
            for defaults, left in WRONG_DEFAULTS
        ),
        edit("G @ Y.mT", "G @ (Y if Y.shape[0] == Y.shape[1] else Y.mT)", "right elsewhere"),
    ],
    accepted=[
        edit(
            "(X.mT @ G).sum(axis=0)",
            "np.einsum('nwp,nwk->pk', X, G)",
            "G @ Y.mT",
            "np.einsum('nwk,pk->nwp', G, Y)",
        ),
        edit(
            "(X.mT @ G).sum(axis=0)",
            "sum(x.T @ g for x, g in zip(X, G))",
            "G @ Y.mT",
            "np.stack([g @ Y.T for g in G])",
        ),
        edit("(X.mT @ G).sum(axis=0)", "X.reshape(-1, X.shape[-1]).T @ G.reshape(-1, G.shape[-1])"),
        edit(
            "(X.mT @ G).sum(axis=0)",
            "np.tensordot(X, G, axes=((0, 1), (0, 1)))",
            "G @ Y.mT",
            "np.matmul(G, np.transpose(Y))",
        ),
        edit("(X.mT @ G).sum(axis=0)", "(X[..., None] * G[..., None, :]).sum(axis=(0, 1))"),
    ],
)

cases(
    "14.pool",
    wrong=[
        ([[5, 0, 5, 5], [5, 0, 5, 5], [30, 0, 0, 0], [0, 0, 40, 0]], "other places"),
        ([[10, 20], [30, 40]], "shape"),
        (np.full((4, 4), np.nan), "nan"),
        (_to_pooled([[5, 0], [5, 0]], [[5, 5], [5, 5]]).ravel(), "shape: other layout"),
        (
            _to_pooled(
                [[-5, 0], [-5, 0]], [[-5, -5], [-5, -5]], [[-30, 0], [0, 0]], [[0, 0], [0, -40]]
            ),
            "sign",
        ),
    ],
    accepted=[
        "((5, 0, 5, 5), (5, 0, 5, 5), (30, 0, 0, 0), (0, 0, 0, 40))",
        "np.array([[5, 0, 5, 5], [5, 0, 5, 5], [30, 0, 0, 0], [0, 0, 0, 40]]) * 1.0",
        """
        from autograd_lib import nn
        x = np.array([[3, 1, 0, 0], [3, 2, 0, 0], [5, 1, 0, 2], [0, 2, 1, 6.0]])[None, None]
        g = np.array([[10, 20], [30, 40.0]])[None, None]
        gradient_of_x = ag.vjp(nn.MaxPool2d(2), x)[1](g)[0][0, 0]""",
    ],
)


def _silu(rule):
    return ag.elementwise(lambda x: x * ag.sigmoid(x), rule, name="silu")


def _rms(x):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1)


def _rms_rule(g, z, x):
    return (g - z * np.mean(g * z, axis=-1, keepdims=True)) / np.sqrt(
        np.mean(x * x, axis=-1, keepdims=True) + 1
    )


def _of_the_last_call():
    """Return the bell function with a rule that reads the x of the last call."""
    last = {}

    def bell(x):
        last["x"] = x
        return 1 / (1 + x * x)

    return ag.elementwise(bell, lambda g, z, x: -2 * g * last["x"] * z * z, name="bell")


def _right_silu(g, z, x):
    return g * (ag.sigmoid(x) + z * (1 - ag.sigmoid(x)))


def _in_its_place(x):
    x *= x
    return x


cases(
    "14.my_op",
    wrong=[
        (_silu(lambda g, z, x: ag.sigmoid(x) + z * (1 - ag.sigmoid(x))), "no g"),
        (_silu(lambda g, z, x: -_right_silu(g, z, x)), "own: wrong sign"),
        (_of_the_last_call(), "own: and the slope is"),
        (_silu(lambda g, z, x: g * _right_silu(g, z, x)), "own: g is in it twice"),
        (
            _silu(lambda g, z, x: _right_silu(g, z, x) * (np.abs(x) < 20)),
            "own: on both sides | your rule at x = 25",
        ),
        (
            ag.elementwise(
                lambda x: 1 / (1 + x * x),
                lambda g, z, x: -2 * g * x * z * z * (np.abs(x) < 12),
                name="bell",
            ),
            "right elsewhere",
        ),
        (
            _silu(lambda g, z, x, kept={}: g * kept.setdefault(x.shape, _right_silu(1.0, z, x))),
            "first entry",
        ),
        (_silu(lambda g, z, x: g * ag.sigmoid(x)), "own: one is missing"),
        (_silu(lambda g, z, x: g * x * ag.sigmoid(x) * (1 - ag.sigmoid(x))), "own: one is missing"),
        (
            ag.elementwise(lambda x: x**3, lambda g, z, x: g * x * x, name="mine"),
            "own: one is missing",
        ),
        (
            ag.elementwise(
                lambda x: ag.sigmoid(x) ** 2,
                lambda g, z, x: g * ag.sigmoid(x) * (1 - ag.sigmoid(x)),
            ),
            "own: slope of σ alone",
        ),
        (
            ag.elementwise(lambda x: np.exp(-x * x), lambda g, z, x: -g * 2 * x, name="mine"),
            "own: outer slope is missing",
        ),
        (
            ag.elementwise(
                lambda x: np.exp(-x * x), lambda g, z, x: (-g * 2 * x * z,), name="mine"
            ),
            "own: A tuple came back",
        ),
        (
            ag.elementwise(np.arcsinh, lambda g, z, x: g / (1 + x * x), name="mine"),
            "own: and the slope is",
        ),
        (
            ag.elementwise(lambda x: 3.0, lambda g, z, x: 0 * g, name="mine"),
            "own: one number of each entry",
        ),
        (
            _silu(lambda g, z, x: g * (ag.sigmoid(x) + x * (1 - ag.sigmoid(x)))),
            "own: σ is in the slope of σ",
        ),
        (_silu(lambda g, z, x: g * ag.sigmoid(x) * (1 - ag.sigmoid(x))), "own: slope of σ alone"),
        (
            _silu(lambda g, z, x: g * ag.sigmoid(x) + z * (1 - ag.sigmoid(x))),
            "own: first path alone",
        ),
        (
            _silu(lambda g, z, x: g * ag.sigmoid(x) * (2 - ag.sigmoid(x))),
            "own: x times the slope of σ",
        ),
        (_silu(lambda g, z, x: g * (ag.sigmoid(x) + z * (1 - z))), "own: z is x·σ(x) here"),
        (
            _silu(lambda g, z, x: g * (ag.sigmoid(x) + z * ag.sigmoid(x) * (1 - ag.sigmoid(x)))),
            "own: z already contains σ",
        ),
        (
            _silu(lambda g, z, x: g * (ag.sigmoid(x) - z * (1 - ag.sigmoid(x)))),
            "own: sign of the second path",
        ),
        (
            ag.elementwise(
                lambda x: x / (1 + np.abs(x)),
                lambda g, z, x: g * (1 / (1 + np.abs(x)) + np.abs(x) / (1 + np.abs(x)) ** 2),
            ),
            "own: sign of the second path",
        ),
        (_silu(lambda g, z, x: g + ag.sigmoid(x) + z * (1 - ag.sigmoid(x))), "own: g is added"),
        (_silu(lambda g, z, x: g * z), "own: g times the value"),
        (
            _silu(lambda g, z, x: g * (np.exp(x) / (1 + np.exp(x)) + z * (1 - ag.sigmoid(x)))),
            "own: Does exp overflow",
        ),
        (_silu(lambda g, z, x: (g * ag.sigmoid(x), g * x)), "own: A tuple came back"),
        (_silu(lambda g, z, x: g), "own: the value moves as fast as x"),
        (
            ag.elementwise(
                lambda x: 1 / (1 + x * x), lambda g, z, x: g * 2 * x * z * z, name="bell"
            ),
            "own: wrong sign",
        ),
        (
            ag.elementwise(lambda x: 1 / (1 + x * x), lambda g, z, x: -g * z * z, name="bell"),
            "own: A factor 2x",
        ),
        (
            ag.elementwise(lambda x: 1 / (1 + x * x), lambda g, z, x: -g * 2 * x * z, name="bell"),
            "own: One z is missing",
        ),
        (
            ag.elementwise(lambda x: 1 / (1 + x * x), lambda g, z, x: -g * 2 * x, name="bell"),
            "own: outer slope is missing",
        ),
        (
            ag.elementwise(
                lambda x: x / (1 + np.abs(x)), lambda g, z, x: g / (1 + np.abs(x)), name="softsign"
            ),
            "own: one is missing",
        ),
        (
            ag.elementwise(
                lambda x: x / (1 + np.abs(x)), lambda g, z, x: g / (1 + x * x), name="softsign"
            ),
            "own: bottom is squared",
        ),
        (
            ag.elementwise(
                lambda x: x / (1 + np.abs(x)), lambda g, z, x: g * (1 - z) ** 2, name="softsign"
            ),
            "own: Right above 0",
        ),
        (
            ag.elementwise(
                lambda x: x / (1 + np.abs(x)), lambda g, z, x: g / (1 + x) ** 2, name="softsign"
            ),
            "own: Below 0, too",
        ),
        (
            ag.elementwise(
                lambda x: x / (1 + np.abs(x)),
                lambda g, z, x: g * (1 - z) / (1 + np.abs(x)),
                name="softsign",
            ),
            "own: Right above 0 Below 0",
        ),
        (
            ag.elementwise(
                lambda x: x * np.tanh(x),
                lambda g, z, x: g * (np.tanh(x) + x * (1 - z * z)),
                name="mine",
            ),
            "own: and the slope is",
        ),
        (
            ag.elementwise(np.tanh, lambda g, z, x: g * (1 - z * z), name="mine"),
            "own: has it already",
        ),
        (
            ag.elementwise(lambda x: 3 * x + 1, lambda g, z, x: 3 * g, name="mine"),
            "own: linear wherever",
        ),
        (
            ag.elementwise(
                lambda x: np.sqrt(x) * x, lambda g, z, x: g * 1.5 * np.sqrt(x), name="mine"
            ),
            "own: takes every number",
        ),
        (
            ag.elementwise(lambda x: 1 / x, lambda g, z, x: -g * z * z, name="mine"),
            "own: takes every number",
        ),
        (
            ag.elementwise(lambda x: x / (1 + x), lambda g, z, x: g / (1 + x) ** 2, name="mine"),
            "own: takes every number | at x = −1",
        ),
        (
            ag.elementwise(lambda x: np.floor(x), lambda g, z, x: 0 * g, name="mine"),
            "own: no gradient would come through",
        ),
        (
            ag.elementwise(lambda x: x * x / np.sum(x * x), lambda g, z, x: g * x, name="mine"),
            "own: one number of each entry",
        ),
        (
            ag.elementwise(
                lambda x, y: x * x * y,
                lambda g, z, x, y: 2 * g * x * y,
                lambda g, z, x, y: g * x * x,
            ),
            "own: one input",
        ),
        (lambda x: x * ag.sigmoid(x), "own: elementwise(function, rule"),
        (ag.elementwise(lambda x: x * ag.sigmoid(x), name="mine"), "own: one input"),
        (
            ag.linear(
                lambda x: x @ np.triu(np.ones((x.shape[-1],) * 2)),
                lambda g, z, x: g @ np.triu(np.ones((x.shape[-1],) * 2)),
            ),
            "own: which entries of z",
        ),
        (
            ag.linear(
                lambda x: np.cumsum(x, axis=-1),
                lambda g, z, x: np.cumsum(g[..., ::-1], axis=-1)[..., ::-1],
            ),
            "own: those of np that the table has",
        ),
        (
            ag.linear(lambda x: x - np.mean(x, axis=-1, keepdims=True), lambda g, z, x: g),
            "own: which entries of z",
        ),
        (
            ag.linear(lambda x: x * np.sum(x), lambda g, z, x: g * np.sum(x)),
            "own: which entries of z",
        ),
        (
            ag.linear(
                lambda x: np.sum(x, axis=-1), lambda g, z, x: g[..., None] * np.ones(x.shape)
            ),
            "own: has to have the shape",
        ),
        (ag.linear(lambda x: 0 * x, lambda g, z, x: 0 * g), "own: Every entry is the same"),
        (
            ag.primitive(
                lambda x: x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True)),
                [lambda g, z, x: g],
                [lambda t, z, x: t],
            ),
            "own: 0 too",
        ),
        (
            ag.primitive(_rms, [lambda g, z, x: g * z / x], [lambda t, z, x: t * z / x]),
            "own: which entries of z",
        ),
        (
            ag.primitive(_rms, [lambda g, z, x: _rms_rule(g, z, x)], [None]),
            "own: which entries of z",
        ),
        (
            ag.elementwise(
                lambda x: 1 / (1 + x * x), lambda g, z, x: np.where(x == 0, g, -2 * g * x * z * z)
            ),
            "own: on both sides",
        ),
        (
            ag.elementwise(lambda x: x / (1 + np.abs(x)), lambda g, z, x: g * (z / x) ** 2),
            "own: nan is no number 0",
        ),
        (
            ag.elementwise(np.cbrt, lambda g, z, x: g / (3 * z * z)),
            "own: infinite slope | your rule at x = 0",
        ),
        (
            ag.elementwise(lambda x: np.clip(x, -3, 3) ** 3, lambda g, z, x: 3 * g * x * x),
            "own: on both sides",
        ),
        (
            ag.elementwise(lambda x: x**3 + 0 * np.max(x), lambda g, z, x: 3 * g * abs(x) * x),
            "own: At x =",
        ),
        (
            ag.elementwise(_in_its_place, lambda g, z, x: 2 * g * x),
            "array overwritten",
        ),
        (ag.elementwise(lambda x: x**3, lambda g, z, x: np.nan * g), "own: Does exp overflow"),
    ],
    accepted=[
        "ag.linear(lambda x: x - np.mean(x, axis=-1, keepdims=True),"
        " lambda g, z, x: g - np.mean(g, axis=-1, keepdims=True), name='centred')",
        "ag.elementwise(lambda x: np.where(x > 0, x, 0.1 * x), lambda g, z, x: np.where(x > 0, g, 0.1 * g))",
        "ag.elementwise(lambda x: np.clip(x, -1, 1), lambda g, z, x: g * np.where(np.abs(x) <= 1, 1, 0))",
        "ag.elementwise(lambda x: np.clip(x, 0, 6), lambda g, z, x: g * np.where((x >= 0) & (x <= 6), 1, 0))",
        "ag.elementwise(lambda x: np.maximum(x, -5), lambda g, z, x: g * np.where(x > -5, 1, 0))",
        "ag.elementwise(lambda x: x**4, lambda g, z, x: 4 * g * x**3)",
    ],
)
