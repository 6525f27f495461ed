"""Wrong answers to the exercises of lesson 00 with their causes, and right answers in other styles."""

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
