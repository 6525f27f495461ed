"""Wrong answers to the exercises of lesson 03 with their causes, and right answers in other styles."""

from answer_cases import cases

from autograd_course.grading import edit
from autograd_course.lessons.lesson_03.exercises import SUBTRACT_X, SUBTRACT_Y

cases(
    "03.square",
    wrong=[
        (6.1, "none | a different number"),
        ((3, 3), "several numbers"),
        (float("nan"), "nan | a different number"),
    ],
    accepted=["6", "2 * 3.0", "ag.grad(lambda x: ag.multiply(x, x))(3.0)", "np.float32(6)"],
)

cases(
    "03.divide",
    wrong=[
        edit("-g * z", "g * z", "own: the sign is wrong"),
        edit("g / y", "-g * z / y", "-g * z / y", "g / y", "own: are the two swapped"),
        edit("g / y", "1 / y", "-g * z / y", "-z / y", "own: upstream gradient is missing"),
        edit("-g * z / y", "-g / y", "own: A factor z is missing"),
        edit("-g * z / y", "-g * x / y", "own: A division is missing"),
        edit("-g * z / y", "-g / y**2", "own: A factor x is missing"),
        edit("z / y", "z / y**2", "own: One division too many"),
        edit("z / y", "z * y", "own: you divide everything by y"),
        edit("-g * z / y", "-g * x / y ^ 2", "own: In Python, write a power"),
        edit("g / y", "g * y", "own: 50 is g"),
        edit(": g / y", ": g", "own: z rises by 1 / y"),
        edit("g / y", "g // y", "cut off"),
        edit("g / y", "g * x / y", "own: does not grow with x"),
        edit("g / y", "g * z / y", "-g * z / y", "-g / y", "own: the factor of dy"),
        edit("g / y", "g * dx / y", "own: dx is a nudge"),
        edit("-g * z / y", "-g * z * dy / y", "own: dy is a nudge"),
        edit("g / y", "g / 2", "own: right only at y = 2"),
        edit("-g * z / y", "-1.5 * g", "own: right only at x = 6 and y = 2"),
        edit("g / y", "1 / 2", "own: write it with y, and"),
        edit("-g * z / y", "-3 / 2", "own: with z and y, and"),
        edit("g / y", "g / x", "own: That is g / x"),
        edit("-g * z / y", "g * (1 - z) / y", "own: only the factor of dy is left"),
        edit("-g * z / y", "print(-g * z / y)", "printed"),
        edit("g / y", "g * z / x", "own: z / x is 0 / 0"),
        edit("-g * z / y", "-g * z * z / x", "own: z / x is 0 / 0"),
        edit("g / y", "g / abs(y)", "own: y can be negative"),
        edit("-g * z / y", "-g * abs(z / y)", "own: z / y can be negative"),
        edit("g / y", "np.array([g / y])", "several numbers"),
        edit("-g * z / y", "-round(g * z / y, 2)", "rounded"),
        edit("g / y", "(g / y, -g * z / y)", "several numbers"),
        edit("g / y", "g * np.reciprocal(y)", "first entry"),
    ],
    accepted=[
        edit("-g * z / y", "-g * x / y**2"),
        edit("-g * z / y", "-g * x * np.power(y, -2)"),
        edit("g / y", "g * y**-1"),
        edit("-g * z / y", "-(g / y) * (x / y)"),
        edit("g / y", "g * y ** -1.0"),
        edit(
            "lambda g, z, x, y: g / y", "np.vectorize(lambda g, z, x, y: float(g) / float(y))"
        ),  # the check never uses y = 0
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

cases(
    "03.drill",
    wrong=[
        edit(SUBTRACT_Y + "-g", SUBTRACT_Y + "g", "sign"),
        edit(SUBTRACT_X + "g", SUBTRACT_X + "-g", "sign"),
        edit(
            SUBTRACT_X + "g",
            SUBTRACT_X + "1",
            SUBTRACT_Y + "-g",
            SUBTRACT_Y + "-1",
            "no g",
        ),
        edit("z, x: -g", "z, x: g", "sign"),
        edit(SUBTRACT_Y + "-g", SUBTRACT_Y + "0", "own: does z stay the same"),
        edit(SUBTRACT_X + "g", SUBTRACT_X + "g * x", "own: g times a value"),
        edit(SUBTRACT_Y + "-g", SUBTRACT_Y + "-g * y", "own: g times a value"),
        edit("z, x: -g", "z, x: -g * x", "own: g times a value"),
        edit("z, x: -g", "z, x: -x", "own: That is z"),
        edit("z, x: -g", "z, x: -abs(g)", "sign"),
        edit(SUBTRACT_Y + "-g", SUBTRACT_Y + "-g if y > 0 else g", "sign"),
        edit(SUBTRACT_X + "g", SUBTRACT_X + "max(g, 0)", "not linear in g"),
        edit(SUBTRACT_X + "g", SUBTRACT_X + "g + x - x // 1", "not linear in g"),
        edit("z, x: -g", "z, x: (-g,)", "own: comma too many"),
        edit(
            SUBTRACT_Y + "-g",
            SUBTRACT_Y + "np.negative(g, out=g) if np.ndim(g) else -g",
            "array overwritten",
        ),
        ((), "number of parts"),
        ("", "one part"),
    ],
    accepted=[
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

cases(
    "03.reflected",
    wrong=[
        ((-1, -1.4), "none in part 2"),
        ((-1, -1.9), "none in part 2"),
        ((-1, float("nan")), "nan in part 2"),
        ((0, -2), "none in part 1"),
        (-1, "one part"),
        ((-2, -1), "swapped"),
    ],
    accepted=[
        "-1, -2.0",
        "(ag.grad(lambda x: 5 - x)(2.0), ag.grad(lambda x: 8 / x)(2.0))",
        "np.array([-1.0, -8 / 2**2])",
    ],
)

cases(
    "03.power",
    wrong=[
        edit("* x ** (y - 1)", "* x ** (y - 1) + (np.ndim(x) > 2)", "right elsewhere"),
        edit("y * x ** (y - 1)", "y * z / x", "own: At x = 0"),
        edit("g * y * x ** (y - 1)", "g * y * x ** (y - 1) / g", "no g | cancels"),
        edit("g * y", "grad_output * y", "error: name of g | grad_output"),
        edit("g * y", "2 * g * y", "double"),
        edit(
            "g * y * x ** (y - 1)",
            "np.where((x == 0) & (y == 0.5), np.inf, g * y * x ** (y - 1))",
            "own: The slope there is inf | g = -10",
        ),
        edit("* x **", "* abs(x) **", "own: x can be negative"),
        edit("x ** (y - 1)", "np.exp((y - 1) * np.log(x))", "own: needs no logarithm"),
        edit(
            "g * y * x ** (y - 1)",
            "np.where(x == 0, g * (y == 1), g * y * z / np.where(x == 0, 1, x))",
            "own: is vertical",
        ),
        edit(
            "g * y * x ** (y - 1)",
            "(g * y * x ** (y - 1))[:1] if np.ndim(x) > 1 else g * y * x ** (y - 1)",
            "shape",
        ),
        edit(
            "g * y * x ** (y - 1)",
            "np.where(x > 0, g * y * np.abs(x) ** (y - 1), 0.0)",
            "own: z has a slope below 0 too",
        ),
        edit(
            "g * y * x ** (y - 1)",
            "g * y * x ** (y - 1) if np.all(x != 0) else 0.0 * g",
            "own: x = 0, y = 1",
        ),
        edit(
            "g * y * x ** (y - 1)",
            "g * y * x ** (y - 1) if y else g",
            "own: At y = 0 z is 1 everywhere",
        ),
        edit("x ** (y - 1)", "np.nan_to_num(x ** (y - 1))", "own: no root, and no slope"),
        edit("g * y * x ** (y - 1)", "np.real(g * y * (x + 0j) ** (y - 1))", "nan"),
        edit("(y - 1)", "abs(y - 1)", "own: is vertical"),
        edit("(y - 1)", "int(y - 1)", "none"),
        edit("g * y * x ** (y - 1)", "(g * y * x ** (y - 1), None)", "several numbers"),
        edit("g * y", "abs(g * y)", "own: The slope there is inf"),
        edit(
            "g * y * x ** (y - 1)",
            "g * sum(x ** (y - 1) for _ in range(int(y)))",
            "own: is vertical",
        ),
        edit("g * y", "np.maximum(g, 0) * y", "nan"),
        edit("x ** (y - 1)", "np.power(x, y) / x", "own: At x = 0"),
    ],
    accepted=[
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
