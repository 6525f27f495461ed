"""Wrong answers to the exercises of lesson 02 with their causes, and right answers in other styles."""

from answer_cases import cases

from autograd_course.grading import edit
from autograd_course.lessons.lesson_02.exercises import BOTH, central_difference
from autograd_lib import Tensor


def _kept_near(f, x, y, dx, dy):
    kept, at = _kept_near.__dict__, (f, round(x, 1), round(y, 1))
    if at not in kept:
        kept[at] = (
            central_difference(lambda x: f(x, y), x),
            central_difference(lambda y: f(x, y), y),
        )
    return kept[at][0] * dx + kept[at][1] * dy


cases(
    "02.two_knobs",
    wrong=[
        (_kept_near, "right elsewhere | _kept_near(f, 0.51, -2"),
        edit(
            BOTH,
            "slope_x * dx * (abs(dx) > 1e-3) + slope_y * dy * (abs(dy) > 1e-3)",
            "right elsewhere | 0.0005",
        ),
        edit(
            "return " + BOTH,
            f"return {BOTH} if abs(dx) < 5 else f(x + dx, y + dy) - f(x, y)",
            "right elsewhere | 6, 6",
        ),
        edit(BOTH, "max(0, slope_x) * dx + max(0, slope_y) * dy", "right elsewhere"),
        edit(BOTH, f"round({BOTH}, 1)", "rounded to 1 | f(x, y) = "),
        edit(BOTH, f"{BOTH} + dx * dy", "right elsewhere"),
        edit(BOTH, "abs(slope_x) * dx + abs(slope_y) * dy", "right elsewhere"),
        edit(BOTH, "0.0", "none"),
        edit(BOTH, f"({BOTH}) * (dx != 0)", "right elsewhere"),
        edit(BOTH, "2 * (slope_x * dx + slope_y * dy)", "own: Exactly double"),
        edit(BOTH, "2e-5 * (slope_x * dx + slope_y * dy)", "own: not divided by 2 * h"),
        edit(BOTH, "abs(slope_x * dx + slope_y * dy)", "mistake 31"),
    ],
    accepted=[
        "lambda f, x, y, dx, dy: (f(x + 1e-5 * dx, y + 1e-5 * dy) - f(x - 1e-5 * dx, y - 1e-5 * dy)) / 2e-5",
        "lambda f, x, y, dx, dy: ag.jvp(f, (x, y), (dx, dy))[1]",
        "lambda f, x, y, dx, dy: np.dot([central(lambda x: f(x, y), x), central(lambda y: f(x, y), y)], [dx, dy])",
        """
                def two_knobs(f, x, y, dx, dy):
                    point, total = (x, y), 0.0
                    for slot, nudge in enumerate((dx, dy)):
                        def one(moving):
                            return f(*(moving if i == slot else held for i, held in enumerate(point)))
                        total += central(one, point[slot]) * nudge
                    return total""",
        """
                from functools import partial
                def two_knobs(f, x, y, dx, dy):
                    return dx * (f(x + 1e-6, y) - f(x, y)) / 1e-6 + dy * central(partial(f, x), y)""",
    ],
)

cases(
    "02.hidden_edge",
    wrong=[
        (-2.4, "own: multiplied back | −4 · (−2.4) = 9.6"),
        (-3, "own: multiplied back | −4 · (−3) = 12"),
        (-7.5, "own: multiplied back | = 30"),
        (float("inf"), "none | expected  a different number"),
        (float("nan"), "nan | expected  a different number"),
        ((10, -4), "several numbers"),
    ],
    accepted=["-2.5", "-5 / 2", "np.float32(-2.5)", "np.array(-2.5)", "10.0 / (2 * -2)"],
)

cases(
    "02.routes",
    wrong=[
        (Tensor(900.0), "own: Put a = 2 first"),
        (35.9, "none | expected  a different number"),
        ((12, 24), "several numbers"),
        (float("inf"), "none | expected  a different number"),
    ],
    accepted=[
        "36",
        "9 * 2 ** 2",
        "ag.grad(lambda a: 3 * a * a ** 2)(2.0)",
        "np.float64(36)",
        """
        a = ag.Tensor(2.0, requires_grad=True)
        ((3 * a) * a ** 2).backward()
        gradient_of_a = a.grad""",
    ],
)
