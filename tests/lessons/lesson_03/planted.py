"""Thrown at the exercises of lesson 03, beside their mistakes: more wrong answers, and right ones in other styles."""

from thrown import throw

from autograd_course.grading import edit
from autograd_course.lessons.lesson_03.exercises import SUBTRACT_X, SUBTRACT_Y

throw(
    "03.square",
    planted=[
        (6.1, "another number"),
        ((3, 3), "A single number"),
        (float("nan"), "another number"),
    ],
    also_right=["6", "2 * 3.0", "ag.grad(lambda x: ag.multiply(x, x))(3.0)", "np.float32(6)"],
)

throw(
    "03.divide",
    planted=[
        edit("-g * z", "g * z", "the sign is wrong"),
        edit("g / y", "-g * z / y", "-g * z / y", "g / y", "are the two swapped"),
        edit("g / y", "1 / y", "-g * z / y", "-z / y", "upstream gradient is missing"),
        edit("-g * z / y", "-g / y", "A factor z is missing"),
        edit("-g * z / y", "-g * x / y", "A division is missing"),
        edit("-g * z / y", "-g / y**2", "A factor x is missing"),
        edit("z / y", "z / y**2", "One division too many"),
        edit("z / y", "z * y", "you divide everything by y"),
        edit("-g * z / y", "-g * x / y ^ 2", "A power is **"),
        edit("g / y", "g * y", "50 is g"),
        edit(": g / y", ": g", "z rises by 1 / y"),
        edit("g / y", "g // y", "rule for x"),
        edit("g / y", "g * x / y", "does not grow with x"),
        edit("g / y", "g * z / y", "-g * z / y", "-g / y", "the factor of dy"),
        edit("g / y", "g * dx / y", "dx is a nudge"),
        edit("-g * z / y", "-g * z * dy / y", "dy is a nudge"),
        edit("g / y", "g / 2", "right only at y = 2"),
        edit("-g * z / y", "-1.5 * g", "right only at x = 6 and y = 2"),
        edit("-g * z / y", "print(-g * z / y)", "rule for y"),
        edit("g / y", "g * z / x", "z / x is 0 / 0"),
        edit("-g * z / y", "-g * z * z / x", "z / x is 0 / 0"),
        edit("g / y", "g / abs(y)", "y can be negative"),
        edit("-g * z / y", "-g * abs(z / y)", "z / y can be negative"),
        edit("g / y", "np.array([g / y])", "A single number was expected"),
        edit("-g * z / y", "-round(g * z / y, 2)", "rule for y"),
        edit("g / y", "(g / y, -g * z / y)", "rule for x"),
        edit("g / y", "g * np.reciprocal(y)", "rule for x"),
    ],
    also_right=[
        edit("-g * z / y", "-g * x / y**2"),
        edit("-g * z / y", "-g * x * np.power(y, -2)"),
        edit("g / y", "g * y**-1"),
        edit("-g * z / y", "-(g / y) * (x / y)"),
        edit("g / y", "g * y ** -1.0"),
        edit(
            "lambda g, z, x, y: g / y", "np.vectorize(lambda g, z, x, y: float(g) / float(y))"
        ),  # y is never 0
        edit("-g * z / y", "np.where(y == 0, 0.0, -g * z / np.where(y == 0, 1.0, y))"),
        edit("g / y", "np.true_divide(g, y)", "-g * z / y", "np.negative(g) * np.divide(z, y)"),
        """
                def divide_x(g, z, x, y):
                    return g * (1 / y)
                def divide_y(g, z, x, y):
                    local = 0
                    local -= x / (y * y)
                    return local * g""",
    ],
)

throw(
    "03.drill",
    planted=[
        edit(SUBTRACT_Y + "-g", SUBTRACT_Y + "g", "wrong sign"),
        edit(SUBTRACT_X + "g", SUBTRACT_X + "-g", "wrong sign"),
        edit(
            SUBTRACT_X + "g",
            SUBTRACT_X + "1",
            SUBTRACT_Y + "-g",
            SUBTRACT_Y + "-1",
            "upstream gradient is missing",
        ),
        edit("z, x: -g", "z, x: g", "wrong sign"),
        edit(SUBTRACT_X + "g", SUBTRACT_X + "g * x", "g times a value"),
        edit(SUBTRACT_Y + "-g", SUBTRACT_Y + "-g * y", "g times a value"),
        edit("z, x: -g", "z, x: -g * x", "g times a value"),
        edit("z, x: -g", "z, x: -x", "That is z"),
        edit("z, x: -g", "z, x: -abs(g)", "rule for x of negative"),
        edit(SUBTRACT_Y + "-g", SUBTRACT_Y + "-g if y > 0 else g", "rule for y of subtract"),
        edit(SUBTRACT_X + "g", SUBTRACT_X + "max(g, 0)", "rule for x of subtract"),
        edit(SUBTRACT_X + "g", SUBTRACT_X + "g + x - x // 1", "rule for x of subtract"),
        edit("z, x: -g", "z, x: (-g,)", "comma too many"),
        edit(
            SUBTRACT_Y + "-g",
            SUBTRACT_Y + "np.negative(g, out=g) if np.ndim(g) else -g",
            "caller's array",
        ),
        ((), "values were expected"),
        ("", "values were expected"),
    ],
    also_right=[
        edit("z, x: -g", "z, x: -1 * g", SUBTRACT_Y + "-g", SUBTRACT_Y + "0 - g"),
        edit(
            SUBTRACT_X + "g",
            SUBTRACT_X + "g * 1.0",
            SUBTRACT_Y + "-g",
            SUBTRACT_Y + "np.negative(g)",
        ),
        edit(SUBTRACT_X + "g", SUBTRACT_X + "np.copy(g)"),
        edit("z, x: -g", "z, x: np.multiply(g, -1)"),
        """
                def subtract_x(g, *others): return g
                def subtract_y(g, *others): return -g
                negative_x = subtract_y""",
    ],
)

throw(
    "03.reflected",
    planted=[
        ((-1, -1.4), "Number 2 of 2 differs"),
        ((-1, -1.9), "Number 2 of 2 differs"),
        ((-1, float("nan")), "Number 2 of 2 differs"),
        ((0, -2), "Number 1 of 2 differs"),
        (-1, "2 values were expected"),
        ((-2, -1), "in the wrong order"),
    ],
    also_right=[
        "-1, -2.0",
        "(ag.grad(lambda x: 5 - x)(2.0), ag.grad(lambda x: 8 / x)(2.0))",
        "np.array([-1.0, -8 / 2**2])",
    ],
)

throw(
    "03.power",
    planted=[
        edit("* x ** (y - 1)", "* x ** (y - 1) + (np.ndim(x) > 2)", "got"),
        edit("y * x ** (y - 1)", "y * z / x", "At x = 0"),
        edit("g * y", "2 * g * y", "Exactly double"),
        edit(
            "g * y * x ** (y - 1)",
            "np.where((x == 0) & (y == 0.5), np.inf, g * y * x ** (y - 1))",
            "g = -10",
        ),
        edit("* x **", "* abs(x) **", "x can be negative"),
        edit("x ** (y - 1)", "np.exp((y - 1) * np.log(x))", "needs no logarithm"),
        edit(
            "g * y * x ** (y - 1)",
            "np.where(x == 0, g * (y == 1), g * y * z / np.where(x == 0, 1, x))",
            "is vertical",
        ),
        edit(
            "g * y * x ** (y - 1)",
            "(g * y * x ** (y - 1))[:1] if np.ndim(x) > 1 else g * y * x ** (y - 1)",
            "Shape",
        ),
        edit(
            "g * y * x ** (y - 1)",
            "np.where(x > 0, g * y * np.abs(x) ** (y - 1), 0.0)",
            "z has a slope below 0 too",
        ),
        edit(
            "g * y * x ** (y - 1)",
            "g * y * x ** (y - 1) if np.all(x != 0) else 0.0 * g",
            "x = 0, y = 1",
        ),
        edit(
            "g * y * x ** (y - 1)", "g * y * x ** (y - 1) if y else g", "At y = 0 z is 1 everywhere"
        ),
        edit("x ** (y - 1)", "np.nan_to_num(x ** (y - 1))", "no root, and no slope"),
        edit("g * y * x ** (y - 1)", "np.real(g * y * (x + 0j) ** (y - 1))", "rule for x of power"),
        edit("(y - 1)", "abs(y - 1)", "rule for x of power"),
        edit("(y - 1)", "int(y - 1)", "rule for x of power"),
        edit("g * y * x ** (y - 1)", "(g * y * x ** (y - 1), None)", "holds 2"),
        edit("g * y", "abs(g * y)", "rule for x of power"),
        edit(
            "g * y * x ** (y - 1)",
            "g * sum(x ** (y - 1) for _ in range(int(y)))",
            "rule for x of power",
        ),
        edit("g * y", "np.maximum(g, 0) * y", "rule for x of power"),
        edit("x ** (y - 1)", "np.power(x, y) / x", "At x = 0"),
    ],
    also_right=[
        edit("x ** (y - 1)", "np.power(x, y - 1)"),
        edit("g * y", "y * g"),
        """
                def power_x(g, z, x, y):
                    local = y * np.float_power(x, y - 1)
                    return local * g""",
        edit("g * y * x ** (y - 1)", "np.multiply(g, x ** (y - 1) * y)"),
        edit(
            "g * y * x ** (y - 1)",
            "g * np.where(x == 0, y * x ** (y - 1), y * z / np.where(x == 0, 1, x))",
        ),
    ],
)
