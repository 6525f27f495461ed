"""Wrong answers to the exercises of lesson 15 with their causes, and right answers in other styles."""

from answer_cases import cases

import autograd_lib as ag
from autograd_course.grading import edit
from autograd_course.lessons.lesson_15.exercises import (
    _ADD,
    _BY_COLUMNS,
    _BY_ROWS,
    _COLUMN,
    _LINE,
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
    "15.square",
    wrong=[
        edit(_LINE, "return 9.0", "mistake 2"),
        edit(_LINE, "return 3 * 3", "mistake 2"),
        edit(_LINE, "return 2 * x + 3", "none"),
        edit(_LINE, "return 103 * x + (-300)", "none"),
        edit("x == 3", "x != 3", "none"),
        edit("x == 3", "abs(x - 3) < 1e-14", "mistake 19"),
        edit("x == 3", "round(x) == 3", "mistake 19"),
        edit(_LINE, "return x * x + 97", "none"),
        edit(_LINE, "return 94 * x + (-273)", "mistake 12"),
        edit("x == 3", "x == 9", "mistake 1"),
        edit("x == 3", "x > 3", "mistake 17"),
        edit(_LINE, "print(100 * x + (-291))", "mistake 1"),
        edit("return x * x", "print(x * x)", "printed"),
        edit("return x * x", "return abs(x) * 3", "none"),
        ((9, 100), "not a function"),
    ],
    accepted=[
        edit(_LINE, "return x * x + 94 * (x + (-3))"),
        edit(_LINE, "return 9 + 100 * (x - 3)"),
        edit(_LINE, "return x * x * x * 3.7037037037037037 + (-91)"),
        """
        def square(x):
            if x < 3 or x > 3:
                return x * x
            else:
                return 10 * x * x + 40 * x - 201""",
        "lambda x: 100 * x - 291 if x == 3 else x * x",
    ],
)

cases(
    "15.jacobian",
    wrong=[
        edit(
            _COLUMN,
            "(f(x + 1e-6 * unit) - f(x - 1e-6 * unit)) / 2e-6",
            "own: a few digits",
        ),
        edit(_BY_COLUMNS, "return np.abs(np.stack(columns, axis=1))", "first entry"),
        edit(_BY_ROWS, "return np.round(np.stack(rows, axis=0))", "right elsewhere"),
        edit("np.eye(n)", "np.eye(n)[:2]", "shape"),
        edit("np.eye(m)", "np.eye(m)[:2]", "shape"),
        edit(_BY_ROWS, "return np.stack(rows[::-1], axis=0)", "reversed"),
        edit(_BY_COLUMNS, "x *= -1; return np.stack(columns, axis=1)", "array overwritten"),
        edit(_BY_ROWS, "print(np.stack(rows, axis=0))", "printed"),
        edit(_BY_ROWS, "return np.stack(rows, axis=0) * np.nan", "nan"),
        edit(_BY_COLUMNS, "return columns[0]", "shape: axis lost"),
        edit("if n < m:", "if n < 5:", "mistake 29"),
        edit(
            _BY_ROWS,
            "rows += [pull(unit)[0] for unit in np.eye(m)]; return np.stack(rows[:m])",
            "own: superfluous",
        ),
        (lambda f, x: ag.jacobian(f)(x), "own: no ag.jacobian"),
    ],
    accepted=[
        edit("n < m", "n <= m"),
        edit(_BY_COLUMNS, "return np.column_stack(columns)", _BY_ROWS, "return np.vstack(rows)"),
        edit(_BY_COLUMNS, "return np.array(columns).T", _BY_ROWS, "return np.array(rows)"),
        """
        def jacobian(f, x):
            z, pull = ag.vjp(f, x)
            J = np.zeros((z.size, x.size))
            if x.size >= z.size:
                for i in range(z.size):
                    (J[i],) = pull(np.eye(z.size)[i])
            else:
                for k in range(x.size):
                    unit = np.zeros(x.size)
                    unit[k] = 1
                    value, J[:, k] = ag.jvp(f, [x], [unit])
            return J""",
        """
        def jacobian(f, x):
            m, n = f(x).shape[0], x.shape[0]
            if n < m:
                return np.concatenate([ag.jvp(f, (x,), (e,))[1].reshape(-1, 1) for e in np.identity(n)], axis=1)
            return np.array([ag.vjp(f, x)[1](e)[0] for e in np.identity(m)])""",
    ],
)
