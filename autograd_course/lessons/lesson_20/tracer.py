"""Define the tracer of lesson 20, which is as small as it can be.

    program = trace(lambda x, y: 2 * np.tanh(x + y), x=1.0, y=0.5)
    print(program.source)               # def program(x, y): …
    program(x=3.0, y=0.0)               # the same lines, with other numbers

A line is (name, function, names): the result, the NumPy function that computes it, and the names
of its inputs, in which a plain number is kept as a number. The tracer raises no error at an `if`, so the
program always follows the same branch. This is the first point of the lesson.
"""

from dataclasses import dataclass

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

SIGNS = {
    np.add: "+",
    np.subtract: "-",
    np.multiply: "*",
    np.divide: "/",
    np.matmul: "@",
    np.power: "**",
    np.less: "<",
    np.less_equal: "<=",
    np.greater: ">",
    np.greater_equal: ">=",
}


class Noted(NDArrayOperatorsMixin):
    """Hold a value and its name, and append every operation on it to the list `lines`."""

    def __init__(self, value, name, lines):
        self.value, self.name, self.lines = value, name, lines

    def __bool__(self):
        return bool(self.value)

    def __array_ufunc__(self, function, method, *inputs):
        values = [x.value if isinstance(x, Noted) else x for x in inputs]
        names = [x.name if isinstance(x, Noted) else x for x in inputs]
        name = f"t{len(self.lines) + 1}"
        self.lines.append((name, function, names))
        return Noted(function(*values), name, self.lines)


def trace(f, noted=Noted, **inputs):
    """Return the Program of f, recorded by one call of f at the given inputs.

    `noted` is the class of the values that f receives, and `inputs` are the arguments of f, given
    as keywords.
    """
    lines = []
    z = f(**{name: noted(value, name, lines) for name, value in inputs.items()})
    return Program(lines, [z.name], inputs)


@dataclass
class Program:
    """Hold the lines of a recorded program, the names of its results, and the inputs at which it was recorded.

    Each line is (name, function, inputs), and `inputs` is a dict that maps names to values. A call
    runs the program at new inputs, given as keywords.
    """

    lines: list
    results: list
    inputs: dict

    def values(self, **inputs):
        """Return a dict of the values of the inputs and of every line, by name.

        The values are computed at the recorded inputs, some of which keyword arguments replace.
        """
        known = self.inputs | inputs
        for name, function, names in self.lines:
            known[name] = function(*[known[x] if isinstance(x, str) else x for x in names])
        return known

    def __call__(self, **inputs):
        known = self.values(**inputs)
        found = [known[name] for name in self.results]
        return found[0] if len(found) == 1 else tuple(found)

    @property
    def source(self):
        """Return the program as Python source code."""
        body = [
            f"    {name} = {_written(function, list(map(str, names)))}"
            for name, function, names in self.lines
        ]
        return "\n".join(
            [
                f"def program({', '.join(self.inputs)}):",
                *body,
                f"    return {', '.join(self.results)}",
            ]
        )


def _written(function, names):
    if function in SIGNS and len(names) == 2:
        return f" {SIGNS[function]} ".join(names)
    return (
        f"-{names[0]}" if function is np.negative else f"np.{function.__name__}({', '.join(names)})"
    )
