"""Wrong answers to the exercises of lesson 15 with their causes, and right answers in other styles."""

from answer_cases import cases

from autograd_course.grading import edit
from autograd_course.lessons.lesson_15.exercises import (
    _ADD,
    _BY_COLUMNS,
    _BY_ROWS,
    _COLUMN,
    _OVER,
    _TIMES,
)

cases(
    "15.Dual",
    wrong=[
        edit(
            _ADD,
            "self.value += other.value; self.tangent += other.tangent; return self",
            "own: It changes its input",
        ),
        edit(
            _ADD,
            "return self.value + other.value, self.tangent + other.tangent",
            "own: returns a new Dual",
        ),
        edit(_ADD, _ADD.replace("return ", ""), "own: returns a new Dual"),
        edit(_OVER, f"({_OVER}) if self.value else 0.0", "none in part 2"),
        edit(
            "self.value / other.value",
            "type(self.value)(self.value / other.value)",
            "none in part 1",
        ),
        edit(_OVER, f"1.0 if self is other else {_OVER}", "none in part 2"),
        edit(_OVER, f"({_OVER}) if self.tangent else abs({_OVER})", "sign in part 2"),
        edit(_ADD, _ADD.replace("self.tangent +", "int(self.tangent) +"), "none in part 2"),
        edit(
            "x if isinstance(x, Dual) else Dual(x)",
            "Dual(x) if isinstance(x, int) else x",
            "error: number attribute",
        ),
        edit(
            _OVER,
            f"{_OVER} if other.tangent else self.tangent / abs(other.value)",
            "sign in part 2 | c = -2",
        ),
        edit(
            "self.value, self.tangent = value, tangent",
            "self.value, self.tangent = value, 1.0",
            "own: Look at __init__",
        ),
        edit(
            "self.value, self.tangent = value, tangent",
            "self.value, self.tangent = value, abs(tangent)",
            "own: Look at __init__ | Dual(7.0, -2.0)",
        ),
        edit(_OVER, _OVER + " if self.value > 0 else 0.0", "none in part 2 | x * y / (x + y)"),
        edit(_OVER, _OVER + " if other.value > 0 else float('nan')", "nan in part 2"),
        edit("z = self.value / other.value", "z = self.value // other.value", "none in part 1"),
        edit(
            "    other = lift(other)\n        z",
            "    while True:\n            pass\n        z",
            "endless",
        ),
        edit(
            "other = lift(other)\n        return Dual(self.value * other.value, " + _TIMES,
            "return Dual(self.value * other.value, " + _TIMES,
            "error: number attribute",
        ),
        edit(_TIMES, f"float(np.float32({_TIMES}))", "own: a few digits"),
        edit(_TIMES, _TIMES + " if self.tangent < 4 else 0.0", "none in part 2"),
        edit(
            _TIMES,
            _TIMES + " if self.tangent and other.tangent else self.tangent * other.value",
            "none in part 2",
        ),
        edit(
            _ADD,
            _ADD.replace(
                "self.tangent + other.tangent",
                "self.tangent if self is other else self.tangent + other.tangent",
            ),
            "half in part 2",
        ),
    ],
    accepted=[
        edit(_OVER, "(self.tangent * other.value - self.value * other.tangent) / other.value**2"),
        edit(
            _TIMES,
            "other.tangent * self.value + other.value * self.tangent",
            _OVER,
            "self.tangent / other.value - z / other.value * other.tangent",
        ),
        """
        from dataclasses import dataclass

        def lift(x):
            return x if isinstance(x, Dual) else Dual(x)

        @dataclass(frozen=True)
        class Dual:
            value: float
            tangent: float = 0.0

            def __add__(self, other):
                o = lift(other)
                return Dual(self.value + o.value, self.tangent + o.tangent)

            def __mul__(self, other):
                o = lift(other)
                return Dual(self.value * o.value, o.value * self.tangent + o.tangent * self.value)

            def __truediv__(self, other):
                o = lift(other)
                return self * Dual(1 / o.value, -o.tangent / o.value**2)

            __radd__, __rmul__ = __add__, __mul__""",
        """
        def lift(x):
            return x if isinstance(x, Dual) else Dual(x)

        class Dual:
            def __init__(self, value, tangent=0.0):
                self.M = np.array([[value, tangent], [0.0, value]], dtype=float)

            value = property(lambda self: self.M[0, 0])
            tangent = property(lambda self: self.M[0, 1])

            @classmethod
            def of(cls, M):
                return cls(M[0, 0], M[0, 1])

            def __add__(self, other):
                return Dual.of(self.M + lift(other).M)

            def __mul__(self, other):
                return Dual.of(self.M @ lift(other).M)

            def __truediv__(self, other):
                return Dual.of(self.M @ np.linalg.inv(lift(other).M))

            __radd__, __rmul__ = __add__, __mul__""",
        """
        def lift(x):
            return Dual(*x) if isinstance(x, tuple) else Dual(x, 0)

        class Dual(tuple):
            def __new__(cls, value, tangent=0.0):
                return tuple.__new__(cls, (value, tangent))
            value = property(lambda self: self[0])
            tangent = property(lambda self: self[1])
            def __add__(self, other):
                (x, s), (y, t) = self, lift(other)
                return Dual(x + y, s + t)
            def __mul__(self, other):
                (x, s), (y, t) = self, lift(other)
                return Dual(x * y, s * y + x * t)
            def __truediv__(self, other):
                (x, s), (y, t) = self, lift(other)
                return Dual(x / y, (s * y - x * t) / (y * y))
            __radd__ = __add__
            __rmul__ = __mul__""",
    ],
)

cases(
    "15.jacobians",
    wrong=[
        edit(
            _COLUMN,
            "(f(x + 1e-6 * unit) - f(x - 1e-6 * unit)) / 2e-6",
            "own: a few digits in part 1",
        ),
        edit(_BY_COLUMNS, "return np.abs(np.stack(columns, axis=1))", "first entry in part 1"),
        edit(_BY_ROWS, "return np.round(np.stack(rows, axis=0))", "right elsewhere in part 2"),
        edit("np.eye(len(x))", "np.eye(3)", "none"),
        edit("np.eye(len(z))", "np.eye(len(z))[:2]", "shape in part 2"),
        edit(_BY_ROWS, "return np.stack(rows[::-1], axis=0)", "reversed in part 2"),
        edit(
            _BY_COLUMNS,
            "x *= -1; return np.stack(columns, axis=1)",
            "array overwritten in part 1",
        ),
        edit(_BY_COLUMNS, "print(np.stack(columns, axis=1))", "printed in part 1"),
        edit(_BY_ROWS, "return np.stack(rows, axis=0) * np.nan", "nan in part 2"),
        edit(_BY_COLUMNS, "return columns[0]", "shape: axis lost in part 1"),
        edit(
            "z, pull = ag.vjp(f, x)",
            "z, pull = ag.vjp(f, x); z = f(x) if len(x) > 3 else z[:2]",
            "none",
        ),
    ],
    accepted=[
        """
        def by_columns(f, x):
            return np.array([ag.jvp(f, [x], [unit])[1] for unit in np.eye(x.size)]).T

        def by_rows(f, x):
            z, pull = ag.vjp(f, x)
            return np.array([pull(unit)[0] for unit in np.eye(z.size)])""",
        """
        def by_columns(f, x):
            m, n = f(x).shape[0], x.shape[0]
            J = np.zeros((m, n))
            for k in range(n):
                unit = np.zeros(n)
                unit[k] = 1
                J[:, k] = ag.jvp(f, (x,), (unit,))[1]
            return J

        def by_rows(f, x):
            z, pull = ag.vjp(f, x)
            J = np.zeros((len(z), len(x)))
            for i in range(len(z)):
                (J[i],) = pull(np.eye(len(z))[i])
            return J""",
        edit(_BY_COLUMNS, "return np.column_stack(columns)", _BY_ROWS, "return np.vstack(rows)"),
        edit(_BY_COLUMNS, "return np.stack(columns, axis=-1)", _BY_ROWS, "return np.stack(rows)"),
        """
        from functools import partial

        def by_columns(f, x):
            value, *_ = ag.jvp(f, (x,), (0 * x,))
            return np.concatenate([ag.jvp(f, (x,), (e,))[1].reshape(-1, 1) for e in np.identity(len(x))], axis=1)

        def _by_rows(f, x, mode):
            return ag.jacobian(f, mode=mode)(x)

        by_rows = partial(_by_rows, mode="rev")""",
    ],
)

cases(
    "15.jobs",
    wrong=[
        (("forward", "backward"), "number of parts"),
        ("forward", "one part"),
        ((True, False, True), "not a text in part 1"),
        (("A", "B", "C"), "own: Each answer must be a string"),
        ((1, 500, 1), "not a text in part 1"),
        (("vorwärts", "rückwärts", "vorwärts"), "own: Each answer must be a string"),
        (("forwards", "backwards", "forwards"), "own: Each answer must be a string"),
    ],
    accepted=[
        "('Forward', 'Backward', 'forward')",
        "['forward', 'backward', 'forward']",
        "('fwd', 'rev', 'fwd')",
        "('forward mode', 'reverse mode', 'forward mode')",
        "('forward ', ' BACKWARD', 'jvp')",
    ],
)
