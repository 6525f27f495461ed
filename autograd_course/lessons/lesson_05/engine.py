"""Load the engine of lesson 05, with the learner's functions where they pass their checks."""

from itertools import count
from pathlib import Path

import autograd_lib as ag

from ... import sync_notebooks
from ...grading import yours_or_ours

clock = count(1)


class Value:
    def __init__(self, data, inputs=(), locals=()):
        self.data = data
        self.grad = 0.0
        self.inputs = inputs
        self.locals = locals
        self.number = next(clock)

    def __repr__(self):
        return f"#{self.number}: value {self.data:g}, gradient {self.grad:g}"


def add(x, y):
    return Value(x.data + y.data, (x, y), (1.0, 1.0))


def operation(row):
    def record(*xs):
        values = [x.data for x in xs]
        z = row.function(*values)
        return Value(z, xs, [rule(1.0, z, *values) for rule in row.rules])

    return record


def from_lesson_05():
    """Return the class `Value` and the functions `backward` and `operation` of the engine of lesson 05.

    The learner's answers to the exercises multiply, order and backward are read from notebook 05 in
    the current folder, as it was last saved. If an answer is missing or does not pass its check,
    the course's solution is used instead. Unlike in lesson 05, Values can be subtracted and
    combined with plain numbers.
    """
    names = {"Value": Value, "ag": ag}
    written = _stubs(Path("05_walk_backward.ipynb"))
    for name in ("multiply", "order", "backward"):
        try:
            exec(written.get(name, ""), names)
        except Exception:  # half-written: the learner sees the error in notebook 05
            names.pop(name, None)
        names[name] = yours_or_ours(f"05.{name}", names.get(name), **names)
    Value.__add__ = Value.__radd__ = _with_numbers(add)
    Value.__mul__ = Value.__rmul__ = _with_numbers(names["multiply"])
    Value.__sub__ = _with_numbers(operation(ag.subtract))
    Value.__rsub__ = lambda y, x: Value(x) - y
    return Value, names["backward"], operation


def _stubs(path):
    """Return a dict that maps the name of each exercise to the code in its answer cell.

    `path` is the path of the notebook. The dict is empty if there is no such file.
    """
    cells = sync_notebooks.read(path)["cells"] if path.is_file() else []
    return {
        one["id"].removesuffix("-stub"): sync_notebooks.source(one)
        for one in cells
        if one["id"].endswith("-stub")
    }


def _with_numbers(operation):
    return lambda x, y: operation(x, y if isinstance(y, Value) else Value(y))
