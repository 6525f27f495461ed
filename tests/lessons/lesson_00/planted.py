"""Thrown at the exercises of lesson 00, beside their mistakes: more wrong answers, and right ones in other styles."""

from thrown import throw

throw(
    "00.value",
    planted=[(15, "expected  the height of the curve at x = 0"), ("14", "of type str")],
)

throw("00.nudge", planted=[(11.9, "expected  the value after the nudge")])

throw(
    "00.lowest",
    planted=[
        ((-2.4, 3), "one number: the x"),
        ([-2.4], "one number: the x"),
        (-3.0, "to the right"),
        (5.0, "to the left"),
    ],
)

throw(
    "00.downhill",
    planted=[
        (lambda x, gradient: x - 0.1 * gradient if gradient else 0.0, "got       0"),
        (lambda x, gradient: float(f"{x - 0.1 * gradient:.4g}"), "got"),
        (lambda x, gradient: x - 0.1 * gradient if abs(gradient) > 0.01 else x, "and not here"),
        (lambda x, gradient: x - 0.1 * max(gradient, -1e4), "got"),
        (lambda x, gradient: x - gradient // 10, "got"),
        (lambda x, gradient: (x - 0.1 * gradient,), "holds 1"),
        (lambda x, gradient: min(10.0, max(-10.0, x - 0.1 * gradient)), "got"),
        (lambda x: x - 0.4, "takes 1 positional argument"),
        (1.6, "give it the function"),
    ],
)
