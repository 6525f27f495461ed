"""Wrong answers to the exercises of lesson 00 with their causes, and right answers in other styles."""

import numpy as np
from answer_cases import cases

cases(
    "00.value",
    wrong=[(15, "none | expected  the height of the curve at x = 0"), ("14", "not a number")],
)

cases("00.nudge", wrong=[(11.9, "rounded to 1")])

cases(
    "00.lowest",
    wrong=[
        ((-2.4, 3), "own: one number: the x"),
        ([-2.4], "own: one number: the x"),
        (-3.0, "own: to the right"),
        (5.0, "own: to the left"),
    ],
)


def _tenth_downhill(x, gradient):
    if gradient > 0:
        return x - 0.1
    return x + 0.1


def _tenth_downhill_with_ge(x, gradient):
    if gradient >= 0:
        return x - 0.1
    return x + 0.1


cases(
    "00.downhill",
    wrong=[
        (_tenth_downhill, "mistake 12"),
        (_tenth_downhill_with_ge, "mistake 12"),
        (
            lambda x, gradient: x - 0.1 * gradient if gradient else 0.0,
            "right elsewhere | got       0",
        ),
        (lambda x, gradient: float(f"{x - 0.1 * gradient:.4g}"), "rounded to 1"),
        (lambda x, gradient: x - 0.1 * gradient if abs(gradient) > 0.01 else x, "right elsewhere"),
        (lambda x, gradient: x - 0.1 * max(gradient, -1e4), "right elsewhere"),
        (lambda x, gradient: x - gradient // 10, "right elsewhere"),
        (lambda x, gradient: (x - 0.1 * gradient,), "several numbers"),
        (lambda x, gradient: min(10.0, max(-10.0, x - 0.1 * gradient)), "right elsewhere"),
        (lambda x: x - 0.4, "error: arguments | takes 1 positional argument"),
        (1.6, "not a function"),
    ],
)

cases(
    "00.common_part",
    wrong=[
        (lambda delta, X: delta @ X.mean(axis=0), "error: shapes of @"),
        (lambda delta, X: 2 * np.outer(delta.sum(axis=0), X.mean(axis=0)), "double"),
        (lambda delta, X: delta @ W, "own: use W"),  # noqa: F821
    ],
    accepted=[
        """
        def common_part(delta, X):
            total = np.zeros((delta.shape[1], X.shape[1]))
            for factors in delta:
                total += np.outer(factors, X.mean(axis=0))
            return total""",
        "lambda delta, X: delta.sum(axis=0)[:, None] * X.mean(axis=0)",
        "lambda delta, X: delta.T @ np.broadcast_to(X.mean(axis=0), X.shape)",
        "lambda delta, X: delta.T @ X - delta.T @ (X - X.mean(axis=0))",
        "lambda delta, X: np.einsum('nu,md->ud', delta, X) / len(X)",
        "lambda delta, X: delta.T.sum(axis=1, keepdims=True) @ X.mean(axis=0, keepdims=True)",
        "lambda delta, X: (np.ones(len(X)) @ delta)[:, np.newaxis] * np.mean(X, 0)[np.newaxis]",
    ],
)

cases(
    "00.fall",
    wrong=[
        ((0.1 * 0.0637**0.5, 10), "own: square root"),
        ((0.025, 10), "own: square root"),
        ((0.0637**0.5, 10), "own: length"),
        ((0.0637, 10), "own: without c"),
        ((0.000637, 10), "own: c twice"),
        ((-0.00637, 10), "own: change"),
        ((0.1 * 0.0637 * 2410, 10), "own: sum already"),
        ((0.1 * 0.0637 / 2410, 10), "own: mean"),
        ((0.05 * 0.0637, 10), "own: half"),
        ((2.34, 10), "own: loss after"),
        ((2 * 0.1 * 0.0637, 10), "own: factor 2"),
        ((0.1 * 0.0637**2, 10), "own: squared"),
        ((-0.0637, 10), "own: fall positive"),
        ((-0.1 * 0.0637**0.5, 10), "own: root and sign"),
        ((0.637, 10), "own: divided by c"),
        ((0.057, 10), "own: another c"),
        ((0.216, 10), "own: another c"),
        ((0.13, 10), "own: another c"),
        ((0.191, 10), "own: promise of 3"),
        ((0.057, 10), "own: another c | (smallest_c is right)"),
        ((0.057, 3), "own: another c | (smallest_c is not right either)"),
        ((0.0013, 10), "own: trained model"),
        ((0.00244, 10), "own: zero_grad"),
        ((0.0087, 10), "own: zero_grad"),
        ((0.00592, 10), "own: zero_grad"),
        ((0.0036, 10), "own: centred"),
        ((0.1, 10), "own: That is c"),
        ((0.01, 10), "own: square of c"),
        ((10, 0.0064), "own: wrong order"),
        ((7, 3), "none | (smallest_c is not right either)"),
        ((0.00637, 5), "own: choose"),
        ((0.00637, 100), "own: choose"),
        ((0.00637, 4), "own: choose"),
        ((0.00637, 0.5), "own: choose"),
        ((0.00637, 30), "own: 300 times"),
        ((0.0064, 3), "own: more than half"),
        ((0.0063, 1), "own: more than half"),
        ((0.006, 0.1), "own: 0.1"),
    ],
    accepted=[
        """
        fall = 0.006
        smallest_c = 10.0""",
        """
        fall = np.float32(0.0063)
        smallest_c = np.array(10)""",
        """
        fall = 0.1 * 0.0637
        smallest_c = int(1e1)""",
    ],
)
