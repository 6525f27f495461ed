"""Wrong answers to the exercises of lesson 09 with their causes, and right answers in other styles."""

import numpy as np
from answer_cases import cases

from autograd_course.grading import edit
from autograd_course.grading.causes import own
from autograd_course.lessons.lesson_09.array_ward import Array
from autograd_course.lessons.lesson_09.exercises import (
    EVIDENCE,
    RECTANGLES,
    RIGHT,
    WRONG_X,
    WRONG_Y,
    G,
    _matmul_x,
    _matmul_y,
    _to_w,
)

cases(
    "09.indices",
    wrong=[
        (lambda g, A, B: (g @ B.T, g.T @ A), "shape: transposed in part 2"),
        (lambda g, A, B: g @ B.T, "one value"),
        edit("np.zeros(A.shape)", "np.zeros_like(A)", "first entry in part 1"),
        edit("np.zeros(A.shape), np.zeros(B.shape)", "A, B", "array overwritten"),
        (lambda g, A, B: (G @ RECTANGLES[1].T, RECTANGLES[0].T @ G), "none in part 1"),
    ],
    accepted=[
        edit("g[i, j] * B[k, j]", "g[i][j] * B[k][j]", "g[i, j] * A[i, k]", "A[i, k] * g[i, j]"),
        """
        def from_indices(g, A, B):
            return np.einsum("ij,kj->ik", g, B), np.einsum("ij,ik->kj", g, A)""",
        "lambda g, A, B: [g @ B.T, A.T @ g]",
    ],
)

cases(
    "09.matmul",
    wrong=[
        edit("g @ y.mT", "np.squeeze(g @ y.mT)", "shape: axis of 1 lost"),
        edit("x.mT @ g", "np.squeeze(x.mT @ g)", "shape: axis of 1 lost"),
        edit("g @ y.mT", "g @ y^T", "error: name of the transpose"),
        *(
            ((lambda g, z, x, y: g @ y.transpose(0, 1), _matmul_y), own(hint))
            for wrong, hint in WRONG_X
            if hint.startswith("The columns of g")
        ),
        edit("x.mT @ g", "x^T @ g", "error: name of the transpose"),
        edit("g @ y.mT", "g @ y.mT + (not g.any())", "right elsewhere"),
        edit("x.mT @ g", "x.mT @ g + (not g.any())", "right elsewhere"),
        edit("x.mT @ g", "x.mT @ g if x is not y else g @ y.mT", "first entry"),
        *(((wrong, _matmul_y), own(hint)) for wrong, hint in WRONG_X),
        *(((_matmul_x, wrong), own(hint)) for wrong, hint in WRONG_Y),
        edit(
            "g @ y.mT",
            "g(y.mT)",
            "own: Round brackets call a function",
        ),
        ((_matmul_y, _matmul_x), "own: are the two rules swapped"),
    ],
    accepted=[
        edit("y.mT", "y.T", "x.mT", "x.T"),
        edit(
            "g @ y.mT",
            "np.einsum('...ij,...kj->...ik', g, y)",
            "x.mT @ g",
            "np.einsum('...ij,...ik->...kj', g, x)",
        ),
        edit(
            "g @ y.mT",
            "(y @ g.T).T",
            "x.mT @ g",
            "sum(np.outer(x[i], g[i]) for i in range(len(x)))",
        ),
        edit("g @ y.mT", "np.inner(g, y)", "x.mT @ g", "np.tensordot(x, g, (0, 0))"),
        edit("g @ y.mT", "[[sum(g[i] * y[k]) for k in range(len(y))] for i in range(len(g))]"),
    ],
)

cases(
    "09.square",
    wrong=[
        ([[7, 11], [9, 12]], "first entry"),
        ([7, 11, 9, 13], "shape: other layout"),
        (40, "shape"),
        (([[3, 7], [3, 7]], [[4, 4], [6, 6]]), "mistake 19"),
        ([[9, 13], [7, 11]], "reversed"),
        ([[7, 11], [9, np.nan]], "nan"),
    ],
    accepted=[
        "((7, 11), (9, 13))",
        "np.ones((2, 2)) @ [[1, 3], [2, 4]] + [[1, 3], [2, 4]] @ np.ones((2, 2))",
    ],
)

cases(
    "09.batch",
    wrong=[
        (lambda g, x, w: np.unique(x.mT @ g, axis=0).sum(axis=0), "right elsewhere"),
        (lambda g, x, w: -_to_w(g, x, w), "sign"),
        (lambda g, x, w: x.mT.sum(axis=0) @ g.sum(axis=0), "own: Each x belongs to its own g"),
    ],
    accepted=[
        "lambda g, x, w: np.einsum('nik,nij->kj', x, g)",
        "lambda g, x, w: np.tensordot(x, g, ([0, 1], [0, 1]))",
        "lambda g, x, w: x.reshape(-1, 3).T @ g.reshape(-1, 4)",
        "lambda g, x, w: sum(a.T @ b for a, b in zip(x, g))",
        "lambda g, x, w: ag.vjp(ag.matmul, x, w)[1](g)[1]",
        "lambda g, x, w: (x.transpose(0, 2, 1) @ g).sum(0).tolist()",
    ],
)

cases(
    "09.backpropagate",
    wrong=[
        edit("g = J.T @ g", "g = Js[0].T @ g", "first entry"),
        edit("J.T @ g", "-(J.T @ g)", "sign"),
        edit("J.T @ g", "np.abs(J.T @ g)", "first entry"),
        edit(
            "    for J in reversed(Js):\n        g = J.T @ g\n    return g",
            "    while Js:\n        g = Js.pop().T @ g\n    return g",
            "list overwritten",
        ),
        edit(
            "    for J in reversed(Js):\n        g = J.T @ g\n    return g",
            "    whole = Js[0]\n    for J in Js[1:]:\n        whole = J.dot(whole)\n    return g @ whole",
            "mistake 10",
        ),
        edit("    for J in reversed(Js):\n        g = J.T @ g\n", "", "first entry"),
    ],
    accepted=[
        edit("reversed(Js)", "Js[::-1]", "J.T @ g", "g @ J"),
        edit("J.T @ g", "np.dot(g, J)"),
        edit("J.T @ g", "J.T.dot(g)"),
        edit("J.T @ g", "(J.T * g).sum(axis=1)"),
        edit("reversed(Js)", "range(len(Js) - 1, -1, -1)", "J.T @ g", "Js[J].T @ g"),
        """
        from functools import reduce
        backpropagate = lambda Js, g: reduce(lambda g, J: J.T @ g, reversed(Js), g)""",
        """
        def backpropagate(Js, g):
            return backpropagate(Js[:-1], Js[-1].T @ g) if Js else g""",
    ],
)

RETURNED = "np.isclose(np.sum(u * op(v)), np.sum(rule(u) * v))"
cases(
    "09.is_adjoint",
    wrong=[
        edit("rng.normal(size=op(v).shape)", "op(v) * 0 + 3", "mistake 2"),
        edit("u = rng", "u = v if op(v).shape == v.shape else rng", "own: Your u is v itself"),
        edit(RETURNED, "True", "mistake 8"),
        edit(RETURNED, "False", "mistake 9"),
        edit(RETURNED, "(np.sum(u * op(v)), np.sum(rule(u) * v))", "mistake 5"),
        edit(RETURNED, "abs(np.sum(u * op(v)) - np.sum(rule(u) * v)) < 0.2", "mistake 11"),
        edit(RETURNED, "np.isclose(op(v), rule(u))", "mistake 6"),
        edit("rule(u) * v", "rule(v) * u", "mistake 14 | shape (2, 3)"),
        edit("u * op(v)", "op(u) * v", "mistake 14 | shape (2, 4)"),
        *(
            edit("rng.normal(size=op(v).shape)", u, f"mistake 12 | {part}")
            for u, part in [
                ("2 * op(v)", "roll(u, 1)"),
                ("op(v) + 1", "roll(u, 1)"),
                ("rng.normal() * op(v)", "roll(u, 1)"),
            ]
        ),
        *(
            edit("rng.normal(size=op(v).shape)", u, f"mistake 13 | {part}")
            for u, part in [
                ("np.sin(op(v))", "4 times the first"),
                ("op(rng.uniform(-1, 1, shape))", "4 times the first"),
                ("op(v) * rng.normal(size=op(v).shape)", "31 zeros"),
                ("op(v + 1) - op(v) + op(rng.normal(size=shape))", "4 times the first"),
            ]
        ),
        edit(
            "rng.normal(size=op(v).shape)",
            "np.arange(op(v).size).reshape(op(v).shape)",
            "own: Your u is not random | second difference",
        ),
        edit("v = rng.normal(size=shape)", "v = np.ones(shape)", "own: Your v is the same"),
        edit(
            RETURNED,
            "np.isclose(np.sum(u * op(v)) ** 2, np.sum(rule(u) * v) ** 2)",
            "mistake 7",
        ),
    ],
    accepted=[
        edit(RETURNED, "np.allclose(np.sum(u * op(v)), np.sum(rule(u) * v))"),
        edit(RETURNED, "abs(np.sum(u * op(v)) - np.sum(rule(u) * v)) < 1e-9"),
        edit(RETURNED, "bool(np.isclose(np.vdot(u, op(v)), np.vdot(rule(u), v)))"),
        edit(RETURNED, "round(np.sum(u * op(v)) - np.sum(rule(u) * v), 9) == 0"),
        edit("rng.normal(size=op(v).shape)", "rng.uniform(-1, 1, op(v).shape)"),
        edit("rng.normal(size=op(v).shape)", "rng.integers(-4, 5, op(v).shape)"),
        edit("rng.normal(size=op(v).shape)", "rng.choice([-1.0, 1.0], op(v).shape)"),
        edit("rng.normal(size=op(v).shape)", "op(v) + rng.normal(size=op(v).shape)"),
        """
        def is_adjoint(op, rule, shape):
            v = rng.normal(size=shape)
            z = op(v)
            u = np.random.standard_normal(z.shape)
            left = (u * z).sum()
            right = (rule(u) * v).sum()
            return True if np.isclose(left, right) else False""",
    ],
)

cases(
    "09.diagnose",
    wrong=[
        *(
            (RIGHT | {number: wrong}, own(EVIDENCE[number]))
            for number, wrong in [
                (1, "h"),
                (2, "a"),
                (3, "e"),
                (4, "a"),
                (5, "h"),
                (6, "a"),
                (7, "b"),
            ]
        ),
        (RIGHT | {1: 4}, "own: Give the letter of a"),
        (RIGHT | {1: "z"}, "own: Give the letter of a"),
        ({1: "g"}, "own: has no entry"),
        (list(RIGHT.values()), "own: a dictionary"),
        ({number: RIGHT[number] for number in (1, 3, 5)}, "own: has no entry"),
        ({str(number): letter for number, letter in RIGHT.items()}, "own: without quotes"),
    ],
    accepted=[
        "diagnosis = {1: 'G', 3: 'c', 5: 'f', 6: 'd', 2: 'e', 4: 'i', 7: 'a'}",
        "dict(zip((6, 5, 3, 1), 'dfcg'))",
    ],
)


def _add(rule=lambda g, x, y: (g, g), back=lambda z: z, value=np.add, name="rule"):
    """Return fixed_add with one thing changed."""

    def add(x, y):
        z = Array(value(x.data, y.data), (x, y))
        setattr(z, name, lambda g: rule(g, x, y))
        return back(z)

    return add


def _product(rule=lambda g, x, y: (np.dot(g, y.data.T), np.dot(x.data.T, g)), back=lambda z: z):
    """Return fixed_matmul with one thing changed."""

    def product(x, y):
        z = Array(x.data @ y.data, (x, y))
        z.rule = lambda g: rule(g, x, y)
        return back(z)

    return product


def _of_the_last():
    """Return fixed_matmul with rules that all read the factors of the newest product."""
    last = []

    def product(x, y):
        last[:] = x, y
        return _product(lambda g, x, y: (np.dot(g, last[1].data.T), np.dot(last[0].data.T, g)))(
            x, y
        )

    return product


def _handed_on(g, x, y):
    first = x.fitted(g)
    return first, y.fitted(first)


def _left_twice(g, x, y):
    return [np.dot(g, y.data.T) if value is x else np.dot(x.data.T, g) for value in (x, y)]


def _right_twice(g, x, y):
    return [np.dot(x.data.T, g) if value is y else np.dot(g, y.data.T) for value in (x, y)]


def _kept(rule):
    """Return a rule that adds to .grad itself and returns no gradient."""

    def wrong(g, x, y):
        sent = rule(g, x, y)
        for value, part in zip((x, y), sent):
            value.grad = value.grad + part
        return [np.zeros(value.data.shape) for value in (x, y)]

    return wrong


cases(
    "09.fixed",
    wrong=[
        ((_add(_handed_on), _product()), "own: x, on the right, receives 2"),
        edit("y.data.T", "y.data.mT", "x.data.T", "x.data.mT", "own: .mT needs two axes"),
        edit(
            "    z.rule = lambda g: [x.fitted(g), y.fitted(g)]",
            "    both = iter((x, y))\n    z.rule = lambda g: [value.fitted(g) for value in both]",
            "own: An iterator can be read only once",
        ),
        (
            (
                _add(
                    lambda g, x, y: (
                        _handed_on(g, x, y)
                        if x.data.size >= y.data.size
                        else _handed_on(g, y, x)[::-1]
                    )
                ),
                _product(),
            ),
            "none",
        ),
        ((_add(), _of_the_last()), "own: read its own x and y"),
        (
            (
                _add(
                    lambda g, x, y: [
                        g if one.data.shape == g.shape else g.sum(axis=0) for one in (x, y)
                    ]
                ),
                _product(),
            ),
            "own: does not fit",
        ),
        (
            (_add(), _product(_left_twice)),
            "own: The left rule still runs for both if x and y are the same",
        ),
        (
            (_add(), _product(lambda g, x, y: (np.dot(x.data.T, g), np.dot(g, y.data.T)))),
            "own: That is Aᵀ·g, the gradient of the right matrix",
        ),
        ((_add(), _product(lambda g, x, y: (g * y.data, g * x.data))), "own: entry by entry"),
        (
            (_add(), _product(lambda g, x, y: (np.dot(g, y.data.T), np.dot(g, x.data.T)))),
            "own: That is g·Aᵀ. The gradient of x",
        ),
        (
            (_add(), _product(lambda g, x, y: (np.dot(g, y.data.T),) * 2)),
            "own: Your rule sends the gradient of x to y as well",
        ),
        (
            (_add(), _product(lambda g, x, y: (np.dot(g, y.data.T) + np.dot(x.data.T, g),) * 2)),
            "own: Return one for each slot",
        ),
        (
            (
                _add(),
                _product(
                    lambda g, x, y: (
                        np.dot(g, y.data.T) + (np.dot(x.data.T, g) if x is y else 0),
                        np.dot(x.data.T, g),
                    )
                ),
            ),
            "own: counted twice",
        ),
        (
            (_add(), _product(lambda g, x, y: (np.dot(g, y.data), np.dot(x.data, g)))),
            "own: That is g·B, without a transpose",
        ),
        (
            (_add(), _product(_right_twice)),
            "own: Now the right rule runs for both if x and y are the same",
        ),
        (
            (
                _add(),
                _product(
                    lambda g, x, y: (
                        np.dot(g if x is not y or np.allclose(g, g.T) else g.T, y.data.T),
                        np.dot(x.data.T, g),
                    )
                ),
            ),
            "first entry | (A @ A) * B",
        ),
        (
            (
                _add(),
                _product(
                    lambda g, x, y: (
                        np.dot(g, y.data.T),
                        np.dot(x.data.T, g)
                        if x is y or not np.array_equal(x.data, y.data)
                        else np.dot(g, y.data.T),
                    )
                ),
            ),
            "first entry",
        ),
        ((_add(), _product(lambda g, x, y: (g @ y.data.T, x.data.T @ g))), "own: np.dot"),
        (
            (
                _add(),
                _product(
                    lambda g, x, y: (
                        np.dot(np.ones_like(g), y.data.T),
                        np.dot(x.data.T, np.ones_like(g)),
                    )
                ),
            ),
            "own: some of it is negative | * D) @ D",
        ),
        (
            (_add(), _product(_kept(lambda g, x, y: (np.dot(g, y.data.T), np.dot(x.data.T, g))))),
            "own: some of it is negative | * D) @ D",
        ),
        (
            (_add(_kept(lambda g, x, y: (x.fitted(g), y.fitted(g)))), _product()),
            "own: some of it is negative | (b * w + w)",
        ),
        *(
            edit(slot, slot.replace("g", "abs(g)"), "own: some of it is negative")
            for slot in ("x.fitted(g)", "y.fitted(g)", "np.dot(g, y.data.T)", "np.dot(x.data.T, g)")
        ),
        edit(
            "[np.dot(g, y.data.T), np.dot(x.data.T, g)]",
            "[g @ y.data.T, x.data.T @ g] if np.ndim(g) else [abs(g) * y.data, abs(g) * x.data]",
            "own: some of it is negative",
        ),
        (
            (_add(lambda g, x, y: (y.fitted(g), x.fitted(g))), _product()),
            "own: The two are swapped",
        ),
        (
            (_add(lambda g, x, y: (np.ones(x.data.shape), np.ones(y.data.shape))), _product()),
            "half",
        ),
        (
            (_add(), _product(lambda g, x, y: (np.dot(g, y.T), np.dot(x.T, g)))),
            "own: x.data and y.data",
        ),
        ((_add(lambda g, x, y: (g.fitted(x), g.fitted(y))), _product()), "own: value.fitted(g)"),
        ((_add(lambda g, x, y: g), _product()), "own: two gradients"),
        ((_add(lambda g, x, y: (x.fitted(g),)), _product()), "own: two gradients"),
        (
            (_add(lambda g, x, y: (y.fitted(g), y.fitted(g))), _product()),
            "own: x receives 2, the sum that belongs to b",
        ),
        ((_add(back=lambda z: z.data), _product()), "own: Return z itself"),
        ((_add(back=lambda z: None), _product()), "nothing"),
        ((_add(name="grad_rule"), _product()), "own: backward calls z.rule"),
        ((_add(lambda g, x, y: [g, None]), _product()), "own: backward calls z.rule"),
        ((_add(value=np.multiply), _product()), "first entry"),
        edit(
            "[x.fitted(g), y.fitted(g)]",
            "[g, 0 * g] if x is y else [g, g]",
            "own: x is in both slots",
        ),
        edit(
            "[x.fitted(g), y.fitted(g)]",
            "list({value: value.fitted(g) for value in (x, y)}.values())",
            "own: two gradients",
        ),
        edit(
            "    z.rule = lambda g: [x.fitted(g), y.fitted(g)]",
            "    sent = []\n    z.rule = lambda g: [sent.append(value.fitted(g)) for value in (x, y)] and sent",
            "own: outside the rule",
        ),
        edit(
            "lambda g: [x.fitted(g), y.fitted(g)]",
            "lambda g, sent=[]: sent or sent.extend((g, g)) or sent",
            "own: outside the rule",
        ),
        edit("np.dot(x.data.T, g)]", "np.round(np.dot(x.data.T, g))]", "first entry"),
        (_add(), "one part"),
    ],
    accepted=[
        edit(
            "[x.fitted(g), y.fitted(g)]",
            "(g, g)",
            "[np.dot(g, y.data.T), np.dot(x.data.T, g)]",
            "(np.dot(y.data, g.T).T, np.dot(g.T, x.data).T)",
        ),
        edit(
            "[np.dot(g, y.data.T), np.dot(x.data.T, g)]",
            "[np.dot(x.data.T, g) if place else np.dot(g, y.data.T) for place in range(2)]",
        ),
        edit(
            "[np.dot(g, y.data.T), np.dot(x.data.T, g)]",
            "[g @ y.data.T, x.data.T @ g] if np.ndim(g) else [g * y.data, g * x.data]",
        ),
    ],
)
