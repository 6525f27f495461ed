"""Thrown at the exercises of lesson 01, beside their mistakes: more wrong answers, and right ones in other styles."""

from thrown import throw

from autograd_course.grading import edit
from autograd_course.grading.mistakes import central_difference
from autograd_course.lessons.lesson_01.exercises import cube

throw(
    "01.central",
    planted=[
        (lambda f, x, h: central_difference(f, x), "expected  18.79"),
        (lambda f, x, h: 3 * x**2, "got       18.75"),
        (2.0, "give it the function"),
        (lambda f, x, h: central_difference(f, round(x, 2), h), "2.501"),
        (lambda f, x, h: central_difference(f, x, min(h, 10)), "20"),
        (lambda f, x, h: central_difference(f, x, max(h, 1e-3)), "got"),
        (lambda f, x, h: central_difference(f, x, h) if h < 0.5 else (f(x + h) - f(x)) / h, "got"),
        (lambda f, x, h: round(central_difference(f, x, h), 4), "got"),
        (lambda f, x, h: round(central_difference(f, x, h), 6), "Nearly right"),
        (lambda f, x, h: central_difference(f, round(x), h), "got"),
        (lambda f, x, h: max(central_difference(f, x, h), 0.0), "got       0"),
        (lambda f, x, h: max(central_difference(f, x, h), -1e3), "got       -1000"),
        edit("(2 * h)", "(2 * abs(h))", "wrong sign"),
        (lambda f, x, h: (f * (x + h) - f * (x - h)) / (2 * h), "call it, f(x)"),
    ],
    also_right=[
        "lambda f, x, h: ((f(x + h) - f(x)) / h + (f(x) - f(x - h)) / h) / 2",
        "lambda f, x, h: f(x + h) / (2 * h) - f(x - h) / (2 * h)",
        "lambda f, x, h: np.gradient([f(x - h), f(x), f(x + h)], h)[1]",
        "lambda f, x, h: np.polyfit([x - h, x + h], [f(x - h), f(x + h)], 1)[0]",
        """
                def my_central(f, x, h):
                    rise = 0
                    for way in (1, -1):
                        rise += way * f(x + way * h)
                    return rise / h / 2""",
    ],
)

throw(
    "01.kink",
    planted=[
        ((0.5, 0.5), "expected  the slope on each side"),
        (-1, "2 values were expected"),
        (0, "2 values were expected"),
        ((-1, 0), "The left side is right"),
        ((0, 1), "The right side is right"),
        ((float("nan"), 1), "The right side is right"),
        (([1, 2], 1), "The right side is right"),
        (([1, 2], 3), "differs"),
        ((-1, float("inf")), "The left side is right"),
        ((-1, 0, 1), "2 values were expected"),
    ],
    also_right=[
        """
        from_left, from_right = -1, 1""",
        """
        from_left = abs(-1e-9) / -1e-9
        from_right = np.float32(1)""",
    ],
)

throw(
    "01.fool",
    planted=[
        (lambda x: 3 * x**2, "right at 2 as well"),
        (lambda x: 3 * x * abs(x), "right at 2 as well"),
        (lambda x: 3.0001 * x, "nearly 3"),
        (lambda x: [3 * x], "without brackets"),
        (lambda x: 3 if x == 1 else None, "on every way"),
        (lambda x: 3 * x * x + 1e-9, "right at 2 as well"),
        (lambda x: central_difference(cube, x), "right at 2 as well"),
        (lambda x: x + 7, "got       8"),
        (lambda x: (cube(x + 1e-5) - cube(x)) / 1e-5, "nearly 3"),
        (3, "give it the function"),
        (lambda x: 3 if x == 1 else float("nan"), "a number"),
        (lambda x: 3 if x == 1 else "wrong", "a number"),
        (lambda x: (3 * x,), "holds 1"),
    ],
    also_right=[
        "lambda x: 3",
        "lambda x: x + 2",
        "lambda x: 3 * x ** 3",
        "lambda x: 3 / x",
        "lambda x: 4 * x - 1",
        "lambda x: np.array(3 * x)",
        """
                def wrong_slope(x):
                    if x == 1:
                        return 3
                    return 3 * x ** 2 + 0.001""",
    ],
)

throw(
    "01.descend",
    planted=[
        edit("- rate *", "- min(rate, 2.0) *", "2.5"),
        edit("- rate *", "- abs(rate) *", "-0.3"),
        edit("return xs", "return xs[:-2]", "You returned 2 positions"),
        edit("1e-5", "1e-3", "Nearly right"),
        edit("range(steps)", "range(5)", "You returned 6 positions"),
        edit("range(steps)", "range(min(steps, 20))", "You returned 21"),
        edit("range(steps)", "range(min(steps, 50))", "You returned 51"),
        edit("central(f, xs[-1], 1e-5)", "max(-10, min(10, central(f, xs[-1], 1e-5)))", "differs"),
        edit(
            "range(steps)",
            "range(5)",
            "[x]",
            "[0.0]",
            "- rate",
            "- 0.3",
            "central(f",
            "central(bowl",
            "You returned 6 positions",
        ),
        edit(
            "xs = [x]",
            "xs = descend.__dict__.setdefault('xs', [])\n    xs[:] = [x]",
            "It keeps what it gives back",
        ),
        edit(
            "return xs",
            "return [max(-20.0, min(one, 20.0)) if abs(x) <= 1 else one for one in xs]",
            "differs",
        ),
        edit("xs = [x]", "xs = [x, x]", "There should be"),
        ([0, 1.8], "give it the function"),
    ],
    also_right=[
        """
        def descend(f, x, rate, steps):
            positions = (x,)
            while len(positions) <= steps:
                x -= rate * central(f, x, 1e-5)
                positions += (x,)
            return positions""",
        """
        def descend(f, x, rate, steps):
            if steps == 0:
                return [x]
            return [x] + descend(f, x - rate * central(f, x, 1e-5), rate, steps - 1)""",
        """
        def descend(f, x, rate, steps):
            xs = np.zeros(steps + 1)
            xs[0] = x
            for i in range(steps):
                xs[i + 1] = xs[i] - rate * (f(xs[i] + 1e-5) - f(xs[i] - 1e-5)) / 2e-5
            return xs""",
        """
        from itertools import accumulate
        def descend(f, x, rate, steps):
            return list(accumulate(range(steps), lambda x, _: x - rate * central(f, x, 1e-5), initial=x))""",
        """
        def descend(f, x, rate, steps):
            return [x := x if k == 0 else x - rate * central(f, x, 1e-5) for k in range(steps + 1)]""",
    ],
)
