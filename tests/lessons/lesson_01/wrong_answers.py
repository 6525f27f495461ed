"""Wrong answers to the exercises of lesson 01 with their causes, and right answers in other styles."""

from answer_cases import cases

from autograd_course.grading import edit
from autograd_course.grading.mistakes import central_difference
from autograd_course.lessons.lesson_01.exercises import cube

cases(
    "01.central",
    wrong=[
        (
            lambda f, x, h: (
                (f(x + h) - f(x)) / h if f(x - h) == f(x) else central_difference(f, x, h)
            ),
            "own: flat on one side | relu",
        ),
        (
            lambda f, x, h: (
                (f(x) - f(x - h)) / h if f(x + h) == f(x) else central_difference(f, x, h)
            ),
            "own: flat on one side | ramp",
        ),
        (lambda f, x, h: central_difference(f, x), "mistake 21 | expected  18.79"),
        (lambda f, x, h: 3 * x**2, "none | got       18.75"),
        (2.0, "not a function"),
        (lambda f, x, h: central_difference(f, round(x, 2), h), "right elsewhere | 2.501"),
        (lambda f, x, h: central_difference(f, x, min(h, 10)), "right elsewhere | 20"),
        (lambda f, x, h: central_difference(f, x, max(h, 1e-3)), "nearly"),
        (
            lambda f, x, h: central_difference(f, x, h) if h < 0.5 else (f(x + h) - f(x)) / h,
            "right elsewhere",
        ),
        (lambda f, x, h: round(central_difference(f, x, h), 4), "nearly"),
        (lambda f, x, h: round(central_difference(f, x, h), 6), "nearly"),
        (lambda f, x, h: central_difference(f, round(x), h), "right elsewhere"),
        (lambda f, x, h: max(central_difference(f, x, h), 0.0), "right elsewhere | got       0"),
        (
            lambda f, x, h: max(central_difference(f, x, h), -1e3),
            "right elsewhere | got       -1000",
        ),
        edit("(2 * h)", "(2 * abs(h))", "sign"),
        (lambda f, x, h: (f * (x + h) - f * (x - h)) / (2 * h), "error: function as value"),
    ],
    accepted=[
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

cases(
    "01.kink",
    wrong=[
        ((0.5, 0.5), "none in part 1"),
        (-1, "one part"),
        (0, "one part"),
        ((-1, 0), "own: The left side is right"),
        ((0, 1), "own: The right side is right"),
        ((float("nan"), 1), "own: The right side is right"),
        (([1, 2], 1), "own: The right side is right"),
        (([1, 2], 3), "several numbers in part 1"),
        ((-1, float("inf")), "own: The left side is right"),
        ((-1, 0, 1), "number of parts"),
    ],
    accepted=[
        """
        from_left, from_right = -1, 1""",
        """
        from_left = abs(-1e-9) / -1e-9
        from_right = np.float32(1)""",
    ],
)

cases(
    "01.fool",
    wrong=[
        (lambda x: 3 * x**2, "own: right at 2 as well"),
        (lambda x: 3 * x * abs(x), "own: right at 2 as well"),
        (lambda x: 3.0001 * x, "own: nearly 3"),
        (lambda x: [3 * x], "several numbers"),
        (lambda x: 3 if x == 1 else None, "nothing"),
        (lambda x: 3 * x * x + 1e-9, "own: right at 2 as well"),
        (lambda x: central_difference(cube, x), "own: right at 2 as well"),
        (lambda x: x + 7, "none | got       8"),
        (lambda x: (cube(x + 1e-5) - cube(x)) / 1e-5, "own: nearly 3"),
        (3, "not a function"),
        (lambda x: 3 if x == 1 else float("nan"), "own: a number"),
        (lambda x: 3 if x == 1 else "wrong", "own: a number"),
        (lambda x: (3 * x,), "several numbers"),
    ],
    accepted=[
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

cases(
    "01.descend",
    wrong=[
        edit("- lr *", "- min(lr, 2.0) *", "none in part 2 | 2.5"),
        edit("- lr *", "- abs(lr) *", "none in part 2 | -0.3"),
        edit("return xs", "return xs[:-2]", "own: There should be"),
        edit("1e-5", "1e-3", "nearly"),
        edit("range(steps)", "range(5)", "own: There should be"),
        edit("range(steps)", "range(min(steps, 20))", "own: There should be"),
        edit("range(steps)", "range(min(steps, 50))", "own: There should be"),
        edit(
            "central(f, xs[-1], 1e-5)",
            "max(-10, min(10, central(f, xs[-1], 1e-5)))",
            "none in part 2",
        ),
        edit(
            "range(steps)",
            "range(5)",
            "[x]",
            "[0.0]",
            "- lr",
            "- 0.3",
            "central(f",
            "central(bowl",
            "own: There should be",
        ),
        edit(
            "xs = [x]",
            "xs = descend.__dict__.setdefault('xs', [])\n    xs[:] = [x]",
            "result overwritten",
        ),
        edit(
            "return xs",
            "return [max(-20.0, min(one, 20.0)) if abs(x) <= 1 else one for one in xs]",
            "none in part 10",
        ),
        edit("xs = [x]", "xs = [x, x]", "own: There should be"),
        ([0, 1.8], "not a function"),
    ],
    accepted=[
        """
        def descend(f, x, lr, steps):
            positions = (x,)
            while len(positions) <= steps:
                x -= lr * central(f, x, 1e-5)
                positions += (x,)
            return positions""",
        """
        def descend(f, x, lr, steps):
            if steps == 0:
                return [x]
            return [x] + descend(f, x - lr * central(f, x, 1e-5), lr, steps - 1)""",
        """
        def descend(f, x, lr, steps):
            xs = np.zeros(steps + 1)
            xs[0] = x
            for i in range(steps):
                xs[i + 1] = xs[i] - lr * (f(xs[i] + 1e-5) - f(xs[i] - 1e-5)) / 2e-5
            return xs""",
        """
        from itertools import accumulate
        def descend(f, x, lr, steps):
            return list(accumulate(range(steps), lambda x, _: x - lr * central(f, x, 1e-5), initial=x))""",
        """
        def descend(f, x, lr, steps):
            return [x := x if k == 0 else x - lr * central(f, x, 1e-5) for k in range(steps + 1)]""",
    ],
)
