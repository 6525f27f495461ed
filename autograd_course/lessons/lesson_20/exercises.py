"""Ask the questions of lesson 20: a tracer, dead code, backward lines by hand, and a buffer that is reused too early."""

import io
import re
from contextlib import redirect_stdout
from functools import partial
from itertools import zip_longest

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ...grading import (
    NotYet,
    Wrong,
    brief,
    edit,
    exercise,
    expect_call,
    expect_over,
    expect_own_work,
    has_blank,
    is_stub,
    returned,
)
from ...grading.inputs import alike
from ...quiz.texts import Question, card, prediction, recall

recall(
    "20",
    [
        Question(
            "An attention mask hides a position from a query, so its weight is exactly 0. What gradient does the value at that "
            "position get from this query? (Lesson 18)",
            0,
            "**0**, exactly, because the upstream gradient is multiplied by the weight.",
        ),
        Question(
            "z = tanh(x). Which of x and z does its rule read? (17)",
            "z",
            "**z**, because the local gradient is 1 − z². So x can be freed as soon as z is computed.",
            ["x", "z", "both"],
        ),
        Question(
            "b, of shape (3,), is added to x, of shape (4, 3). The upstream gradient g has shape (4, 3). Along which "
            "axis is it summed for b? (08)",
            0,
            "Along axis **0**: each of the four rows used b, so their gradients are added.",
        ),
    ],
)

prediction(
    "20.while",
    question="""`grow` doubles x as long as x is below 50. It is traced at x = 3. `grow(20)` returns 80. What does the program
    return for x = 20?""",
    answer=640,
    reveal="""**640.** It takes five doublings to get from 3 to 96. So the program doubles five times, and 20 · 32 is 640. The
    program repeats the loop as often as it ran at x = 3. The comparisons are lines of the program, but nothing
        depends on their results.""",
)

prediction(
    "20.another",
    question="""
        A compiled function has been called once. Now it is called six more times, with: different numbers in x; an x of a
        different shape; the first x as float32; the first x again; an updated parameter; a changed global number. How many
        of these six calls run a different program from the call before?""",
    answer=3,
    reveal="""**3**: at the new shape, at float32 and at the first x again. (The first x runs the program of the first call again,
    so this call does not recompile.) New numbers in an argument or a parameter need no new program, because the program
    reads them at every call. The global number is a constant of the program: its change goes unnoticed, and the result still
    uses the old number.""",
)

prediction(
    "20.lines",
    question="""L = (x + y)·w takes two lines in the forward pass. The upstream gradient at L is g. What is the smallest number
    of lines that the backward pass needs for the gradients of x, y and w together?""",
    answer=2,
    reveal="""**2**: `g * w` and `g * (x + y)`. The rule of + only passes on its upstream gradient, which needs no line. So x
        and y share the line `g * w`. The value x + y has been computed already.""",
)

prediction(
    "20.kept",
    question="""In the solution's `gradients`, which of these does the backward pass read again?""",
    answer={
        "t1 = x @ W": False,
        "t2 = t1 + b": False,
        "h = np.tanh(t2)": True,
        "error = h - y": True,
    },
    reveal="""**No, no, yes, yes.** The rules of + and − read nothing. The rule of tanh reads its result, h. The rule of
        a square reads its argument, error. So the memory of t1 and t2 can be reused as soon as h is computed.""",
)

card(
    "20",
    [
        "A tracer records operations. It does not record an if or a while: each condition is evaluated only during tracing.",
        "A rule is NumPy code: called with tracers, it writes the backward lines itself.",
        "Go from the results back to the inputs: a line that nothing reads is dead code.",
        "A value that a backward line reads is kept until then; after its last reader its memory can be reused.",
        "Find out what a compiler does with an if, a global number or a random number: error, guard or constant?",
        "Pass everything that may change as an argument.",
    ],
)


# --- A value that writes down -----------------------------------------------------------------------------------------


class _Model(NDArrayOperatorsMixin):
    def __init__(self, value, name, lines):
        self.value, self.name, self.lines = value, name, lines

    def __array_ufunc__(self, function, method, *inputs):
        values = [x.value if isinstance(x, _Model) else x for x in inputs]
        self.lines.append(
            (
                f"t{len(self.lines) + 1}",
                function,
                [x.name if isinstance(x, _Model) else x for x in inputs],
            )
        )
        return _Model(function(*values), self.lines[-1][0], self.lines)

    def __bool__(self):
        return bool(self.value)


THREE = np.frompyfunc(pow, 3, 1)
PROBES = [
    ("x - y, with x = 3 and y = 1", lambda x, y: x - y, {"x": 3.0, "y": 1.0}),
    ("2 * (x - y)", lambda x, y: 2 * (x - y), {"x": 3.0, "y": 1.0}),
    (
        "np.tanh(x) * y + x, with arrays",
        lambda x, y: np.tanh(x) * y + x,
        {"x": np.array([0.5, -1.0]), "y": np.array([2.0, 3.0])},
    ),
    ("x * x + -x, with x = 3", lambda x: x * x + -x, {"x": 3.0}),
    ("y * -1.5 - x, with x = −3 and y = −1", lambda x, y: y * -1.5 - x, {"x": -3.0, "y": -1.0}),
    ("x * y + x * y, with x = 0 and y = −2", lambda x, y: x * y + x * y, {"x": 0.0, "y": -2.0}),
    (
        "a pow of three inputs, pow(2, x, y), with x = 3 and y = 5",
        lambda x, y: THREE(2, x, y),
        {"x": 3, "y": 5},
    ),
    (
        "twelve times y = y + x, with x = 3 and y = 1",
        lambda x, y: sum([x] * 12, y),
        {"x": 3.0, "y": 1.0},
    ),
    ("-x if x > 4 else x + 1, with x = 3", lambda x: -x if x > 4 else x + 1, {"x": 3.0}),
    ("x * 6.2831853 + 1e-9, with x = 3", lambda x: x * 6.2831853 + 1e-9, {"x": 3.0}),
    (
        "np.exp(x @ W / 4 - 0.5) < 2",
        lambda x, W: np.exp(x @ W / 4 - 0.5) < 2,
        {"x": np.ones((2, 3)), "W": np.arange(6.0).reshape(3, 2)},
    ),
]
# Every operation, of the result of every operation.
PROBES += [
    (f"{said}, with x = 3 and y = 1", eval(f"lambda x, y: {said}"), {"x": 3.0, "y": 1.0})
    for said in [
        outer.format(inner)
        for inner in ["x - y", "np.tanh(x)", "x > y", "x <= y", "x == y", "y / 2"]
        for outer in [
            "({}) * x",
            "2 - ({})",
            "np.exp({})",
            "x < ({})",
            "({}) != y",
            "({}) + 0",
            "1 * ({})",
            "({}) * 1.0",
            "y * ({})",
            "({}) - 0.0",
            "({}) / 1",
        ]
    ]
]


def _noted(kind, f, inputs):
    """Return text that lists the lines that the learner's tracer records for f, and describes the result.

    `kind` is the learner's class, and `inputs` are the arguments of f by name.
    """
    lines = []
    try:
        z = f(**{name: kind(value, name, lines) for name, value in inputs.items()})
    except RecursionError:
        return "it calls itself endlessly"
    said = [
        " = ".join([str(line[0]), f"{brief(line[1])}({', '.join(map(_name, line[2]))})"])
        if isinstance(line, (tuple, list)) and len(line) == 3 and isinstance(line[2], (tuple, list))
        else f"a line that is not (name, function, names): {re.sub(' at 0x[0-9a-f]+', '', brief(line))}"
        for line in lines
    ]
    result = (
        f"{_name(z.name)} with value {_name(z.value)}"
        if hasattr(z, "lines") and hasattr(z, "value")
        else f"the plain value {brief(z)}"
    )
    own = ", with a list of its own" * (getattr(z, "lines", lines) is not lines)
    return "; ".join([*said, f"the result is {result}{own}"])


def _name(x):
    return (
        (x if x.isidentifier() else repr(x))
        if isinstance(x, str)
        else brief(x if np.ndim(x) else np.asarray(x).item())
        if isinstance(x, (int, float, np.ndarray, np.generic))
        else f"<{type(x).__name__}>"
    )


def _outcome(kind, probe):
    with redirect_stdout(io.StringIO()):
        try:
            return _noted(kind, *probe[1:])
        except Exception as error:
            return f"{type(error).__name__}: {error}"


@exercise(
    "20.Noted",
    minutes=4,
    difficulty="medium",
    importance=3,
    question="""
        **The tracer.** A `Noted` has a value, a name, and a list of lines. All `Noted` objects of one program share this list.
        The class inherits + − · / @ and the comparisons from the mixin. (A mixin is a class that only adds methods to other
        classes.) Each of these operators, like `np.tanh(x)`, calls `__array_ufunc__` with a function and its inputs. Fill in
        the line that the method writes, (name, function, names), and the value that it returns. For a plain number, write the
        number instead of a name.""",
    stub="""
        from numpy.lib.mixins import NDArrayOperatorsMixin

        class Noted(NDArrayOperatorsMixin):
            def __init__(self, value, name, lines):
                self.value, self.name, self.lines = value, name, lines

            def __bool__(self):                         # called by an if and a while
                return bool(self.value)

            def __array_ufunc__(self, function, method, *inputs):   # method is "__call__" here
                values = [x.value if isinstance(x, Noted) else x for x in inputs]
                names = ...                             # a list: the names of the inputs
                name = f"t{len(self.lines) + 1}"        # t1, t2, …
                self.lines.append(...)
                return ...      # the result, as a value that also records""",
    hints=[
        "`values` shows the pattern: take `x.name` instead of `x.value`, and leave a number unchanged.",
        "A line is a tuple with three entries: `(name, function, names)`.",
        "Return a new `Noted`. Its value is the result of applying `function` to the values, and it shares the list of lines.",
        (
            "Help: RecursionError",
            "`function(*inputs)` calls NumPy, and NumPy calls this method again. Call the function with "
            "`values`.",
        ),
    ],
    solution="""
        from numpy.lib.mixins import NDArrayOperatorsMixin

        class Noted(NDArrayOperatorsMixin):
            def __init__(self, value, name, lines):
                self.value, self.name, self.lines = value, name, lines

            def __bool__(self):
                return bool(self.value)

            def __array_ufunc__(self, function, method, *inputs):
                values = [x.value if isinstance(x, Noted) else x for x in inputs]
                names = [x.name if isinstance(x, Noted) else x for x in inputs]
                name = f"t{len(self.lines) + 1}"
                self.lines.append((name, function, names))
                return Noted(function(*values), name, self.lines)""",
    explained="Before NumPy evaluates a function such as np.tanh, or an operator, it checks whether the class of an input defines "
    "this method. So every such operation passes through it. np.mean and np.dot do not look for it, so for an array x this class "
    "records wrong lines **without an error**: np.mean(x) becomes x / 1, and np.dot(x, x) becomes x * x. (np.sum calls the method "
    "with keywords, so it raises an error.)",
    why="Twelve lines are enough for a tracer, because NumPy itself calls your method for each operation.",
    mistakes=[
        edit(
            "names = [x.name if isinstance(x, Noted) else x for x in inputs]",
            "names = [x.name for x in inputs]",
            "A plain number, such as the 2 in 2 * x, has no name: it is written into the line itself.",
        ),
        edit(
            "names = [x.name if isinstance(x, Noted) else x for x in inputs]",
            "names = values",
            "The line holds the numbers of this run, so the program could not run with other numbers. Store names instead.",
        ),
        edit(
            "names = [x.name if isinstance(x, Noted) else x for x in inputs]",
            "names = [x.name for x in inputs if isinstance(x, Noted)]",
            "The plain numbers are missing: for 2 * x your line contains only x.",
        ),
        edit(
            "names = [x.name if isinstance(x, Noted) else x for x in inputs]",
            "names = [self.name]",
            "Your line has only one name. Write one for each input.",
        ),
        edit(
            "names = [x.name if isinstance(x, Noted) else x for x in inputs]",
            "names = [self.name for x in inputs]",
            "You give every input the name of `self`. Each `x` has a name of its own.",
        ),
        edit(
            "names = [x.name if isinstance(x, Noted) else x for x in inputs]",
            "names = [str(x.name if isinstance(x, Noted) else x) for x in inputs]",
            "You convert a plain number to a string, so the program would look for a value of that name.",
        ),
        edit(
            "names = [x.name if isinstance(x, Noted) else x for x in inputs]",
            "names = sorted([x.name if isinstance(x, Noted) else x for x in inputs], key=str, reverse=True)",
            "The names are not in the order of the inputs: x − y is not y − x.",
        ),
        edit(
            "names = [x.name if isinstance(x, Noted) else x for x in inputs]",
            "names = inputs",
            "The line holds the values themselves, not their names.",
        ),
        edit(
            "self.lines.append((name, function, names))",
            "self.lines.append((name, function.__name__, names))",
            "That is the name of the function, as text. Put the function itself into the line.",
        ),
        edit(
            "self.lines.append((name, function, names))",
            "self.lines.append((function, name, names))",
            "The order is (name, function, names).",
        ),
        edit(
            "self.lines.append((name, function, names))",
            "self.lines.append((name, names))",
            "A line has three parts: (name, function, names).",
        ),
        edit(
            "self.lines.append((name, function, names))",
            "self.lines.append([(name, function, names)])",
            "The tuple is inside another list or tuple: append the tuple itself.",
        ),
        edit(
            "self.lines.append((name, function, names))",
            "self.lines.extend([(name, function, names)] * (1 + (len(self.lines) > 3)))",
            "Your program contains a line twice.",
        ),
        edit(
            "self.lines.append((name, function, names))",
            "self.lines.insert(0, (name, function, names))",
            "The newest line comes first: a program is read from the top, so append the line.",
        ),
        edit(
            "self.lines.append((name, function, names))",
            "self.lines.append(name, function, names)",
            "append takes one argument, here a tuple. Give the tuple brackets of its own: append((name, function, names)).",
        ),
        edit(
            "self.lines.append((name, function, names))",
            "self.lines.append((name, function(*values), names))",
            "The line must contain the function itself, not its result in this call.",
        ),
        edit(
            "self.lines.append((name, function, names))",
            "self.lines.append((self.name, function, names))",
            "A line begins with the name of its result, `name`, not with the name of an input.",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "return Noted(function(values), name, self.lines)",
            "np.subtract expects its inputs as separate arguments: function(*values), with the star, passes all of them.",
        ),
        edit(
            "function(*values)",
            "function(self.value)",
            "np.subtract expects all of its inputs, and self is only one of them: function(*values).",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "return Noted(function(*names), name, self.lines)",
            "The names are strings, so you cannot compute with them: call function(*values).",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "return self",
            "That is an input. Return a new Noted, with the value of the function and the new name.",
        ),
        edit(
            "self.lines.append((name, function, names))",
            "print((name, function, names))",
            "The list is empty: append the line to self.lines.",
        ),
        edit(
            "self.lines.append((name, function, names))",
            "self.lines = [*self.lines, (name, function, names)]",
            "You make a new list, but the other objects still write into the old one. append changes the list that all of them share.",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "return function(*values)",
            "You return a plain value, so the next operation on it is not recorded. Return a Noted.",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "return Noted(function(*inputs), name, self.lines)",
            "function(*inputs) calls this method again, endlessly. Call the function with `values`.",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "return Noted(function(*values), name, [])",
            "Your result has a list of its own, but all Noted objects share one list, self.lines.",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "return Noted(function(*values), self.name, self.lines)",
            "The result has the name of its input. So the lines that follow read the wrong value.",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "self.value, self.name = function(*values), name; return self",
            "You changed the input itself into the result, so a second use of x would read a different number. Create a new Noted.",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "return Noted(values, name, self.lines)",
            "Your value is the list of the inputs: you do not call the function.",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "return name",
            "You return a string. Return a Noted; otherwise no later operation is recorded.",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "Noted(function(*values), name, self.lines)",
            "Your method returns None: write return.",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "self.value = function(*values); return Noted(self.value, name, self.lines)",
            "You overwrite the value of the input itself, so a second use of x would read a different number.",
        ),
        edit(
            "self.lines.append((name, function, names))",
            "self.name = name; self.lines.append((name, function, names))",
            "You rename the input itself, so a second use of x would refer to a different value.",
        ),
        edit(
            "self.lines.append((name, function, names))",
            "self.lines.append((name, method, names))",
            "`method` is the way in which the function was called. The function itself is `function`.",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            'return Noted(function(*values), "t1", self.lines)',
            "Every result is called t1.",
        ),
        edit(
            "function(*values)",
            "float(function(*values))",
            "float() and int() convert to a single number, but the value may be an array or a bool.",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "return Noted(name, function(*values), self.lines)",
            "The name and the value are swapped: __init__ takes the value first.",
        ),
        edit(
            "function(*values)",
            "np.subtract(*values)",
            "You subtract for every operation. Call `function`.",
        ),
        edit('name = f"t{len(self.lines) + 1}"', 'name = "t1"', "Every line is called t1."),
        edit(
            'name = f"t{len(self.lines) + 1}"',
            'name = f"t{len(self.lines)}"',
            "The first name must be t1.",
        ),
        edit(
            "names = [x.name if isinstance(x, Noted) else x for x in inputs]",
            "names = (x.name if isinstance(x, Noted) else x for x in inputs)",
            "Round brackets make a generator, which can be read only once. Write a list, with square brackets.",
        ),
        edit(
            "self.lines.append((name, function, names))",
            "self.lines.append((name, function, *names))",
            "A line has three parts, and the third is the list of names: write names, without a star.",
        ),
        edit(
            "self.lines.append((name, function, names))",
            "self.lines += (name, function, names)",
            "+= adds the three parts as three lines. Append one tuple: self.lines.append((name, function, names)).",
        ),
        edit(
            "self.lines.append((name, function, names))",
            "lines.append((name, function, names))",
            "The list belongs to the object: write self.lines.",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "return Noted(function(*values), name, lines)",
            "The list belongs to the object: write self.lines.",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "return Noted(function(*values), name)",
            "A Noted needs three arguments. The third is the list that all share: self.lines.",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "return Noted(self.value, name, self.lines)",
            "That is the value of the input. The value of the result is function(*values).",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "return Noted(function(*values), names, self.lines)",
            "`names` are the names of the inputs. The name of the result is `name`.",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "return Noted(function, name, self.lines)",
            "You pass the function itself as the value. Call it: function(*values).",
        ),
    ],
)
def noted(answer):
    if not isinstance(answer, type):
        raise Wrong("your answer", brief(answer), "a class", "Pass the class Noted itself.")
    if any(map(has_blank, vars(answer).values())):
        raise NotYet
    for probe in PROBES:
        tried, right = probe[0], _outcome(_Model, probe)

        def recognised(mine, probe=probe):
            """Return the hint of the mistake that gives the result `mine` at this probe, or an empty string.

            A mistake does not count if it fails at another probe where the learner's answer is
            right.
            """
            return next(
                (
                    hint
                    for wrong, hint in noted.mistakes
                    if _outcome(wrong, probe) == mine
                    and not any(
                        _outcome(wrong, one) != _outcome(_Model, one) == _outcome(answer, one)
                        for one in PROBES
                    )
                ),
                "",
            )

        try:
            got = returned(lambda probe=probe: _noted(answer, *probe[1:]), tried=tried, shown=right)
        except Wrong:
            raise
        except Exception as error:
            error.tried, error.hint = tried, recognised(f"{type(error).__name__}: {error}")
            raise
        if got != right:
            mine, ours = next(
                both
                for both in zip_longest(got.split("; "), right.split("; "))
                if both[0] != both[1]
            )
            raise Wrong(
                tried,
                got,
                right,
                recognised(got) or f"The first line that differs is {mine}. It should be {ours}.",
            )


# --- Dead code --------------------------------------------------------------------------------------------------------


def _needed(lines, results):
    wanted, kept = set(results), []
    for line in reversed(lines):
        name, _, names = line
        if name in wanted:
            kept.append(line)
            wanted.update(x for x in names if isinstance(x, str))
    return kept[::-1]


# Lines, and their results.
CASES = [
    (
        [
            ("t1", np.exp, ["x"]),
            ("t2", np.tanh, ["t1"]),
            ("t3", np.multiply, ["x", "y"]),
            ("t4", np.add, ["t3", 1.0]),
            ("t5", np.sqrt, ["t4"]),
            ("t6", np.add, ["x", 2.0]),
        ],
        ["t5"],
    ),
    ([("t1", np.add, ["x", "y"]), ("t2", np.exp, ["x"]), ("t3", np.multiply, ["t1", 2.0])], ["t3"]),
    (
        [
            ("t1", np.add, ["x", 1.0]),
            ("t2", np.multiply, ["t1", "t1"]),
            ("t3", np.exp, ["t2"]),
            ("t4", np.tanh, ["t3"]),
            ("t5", np.add, ["t4", "t1"]),
            ("t6", np.sqrt, ["t5"]),
        ],
        ["t5"],
    ),
    ([("t1", np.exp, ["x"]), ("t2", np.exp, ["y"]), ("t3", np.exp, ["t1"])], ["t2", "t3"]),
    ([("t1", np.exp, ["x"])], ["x"]),
    ([("t1", np.exp, ["x"]), ("t2", np.tanh, ["x"]), ("t3", np.add, ["t1", "t2"])], ["t3", "t1"]),
    (
        [
            ("t1", np.exp, ["x"]),
            *((f"t{k + 1}", np.add, [f"t{k}" if k > 1 else "x", 1.0]) for k in range(1, 12)),
        ],
        ["t12"],
    ),
    ([(f"t{k + 1}", np.add, [f"t{k}" if k else "x"] * 2) for k in range(130)], ["t130"]),
    (
        [
            ("t1", np.where, ["x", "y", 0.0]),
            ("t2", np.exp, ["y"]),
            ("t3", np.clip, ["t1", 0.0, "t2"]),
        ],
        ["t3"],
    ),
    (
        [("h", np.tanh, ["x"]), ("error", np.subtract, ["h", "y"]), ("unused", np.exp, ["error"])],
        ["error"],
    ),
    (
        [
            *((f"t{k}", np.exp, ["x"]) for k in range(1, 13)),
            ("t13", np.stack, [f"t{k}" for k in range(1, 13)]),
        ],
        ["t13"],
    ),
    ([], ["x"]),
    ([("t1", np.greater, ["x", 0.0]), ("t2", np.multiply, ["t1", "x"])], ["t2"]),
    *(
        ([("t1", np.exp, ["x"]), ("t2", np.tanh, ["t1"]), ("t3", np.sqrt, ["t1"])], [one])
        for one in ("t2", "t3")
    ),
    ([("t1", np.exp, ["x"]), ("t2", np.exp, ["x"])], []),
    ([("t1", np.exp, ["x"]), ("t2", np.exp, ["x"])], ["t1", "t2"]),
]
CASES += [
    (CASES[0][0], ["t6", "t1", "t3", "t2"]),  # the same lines, and other results
    (
        [
            ("t1", np.exp, ["x"]),
            ("T1", np.exp, ["X"]),
            ("T1 ", np.exp, ["X"]),
            ("L", np.stack, ["X", "y", "x", "T1"]),
        ],
        ["L"],
    ),
]


def _one_round(lines, results):
    wanted = set(results) | {x for line in lines if line[0] in results for x in line[2]}
    return [line for line in lines if line[0] in wanted]


def _forwards(lines, results):
    wanted, kept = set(results), []
    for line in lines:
        if line[0] in wanted:
            kept.append(line)
            wanted.update(x for x in line[2] if isinstance(x, str))
    return kept


def _last_line_only(lines, results):
    wanted, kept = set(results), []
    for line in reversed(lines):
        if line[0] in wanted:
            kept.append(line)
            wanted = set(line[2])
    return kept[::-1]


def _first_names(lines, results):
    kept = {
        line[0]
        for line in _needed(
            [(name, function, names[:1]) for name, function, names in lines], results
        )
    }
    return [line for line in lines if line[0] in kept]


def _added_whole(lines, results):
    wanted = set(results)
    for name, _, names in reversed(lines):
        if name in wanted:
            wanted.add(names)
    return [line for line in lines if line[0] in wanted]


def _whole_line_wanted(lines, results):
    wanted, kept = set(results), []
    for line in reversed(lines):
        if line in wanted:
            kept.append(line)
            wanted.update(line[2])
    return kept[::-1]


def _doubled(lines, results):
    wanted, kept = list(results), []
    for line in reversed(lines):
        for _ in range(wanted.count(line[0])):
            kept.insert(0, line)
        if line[0] in wanted:
            wanted += [x for x in line[2] if isinstance(x, str)]
    return kept


def _read_by_any(lines, results):
    read = {x for line in lines for x in line[2]} | set(results)
    return [line for line in lines if line[0] in read]


@exercise(
    "20.needed",
    minutes=3,
    difficulty="easy",
    importance=2,
    question="""
        **Dead code.** `lines` is a program: a list of lines (name, function, names). `results` is a list of the names
        that it returns. Return the lines that are needed for these results, in their original order. A line that is read only
        by dead lines is also dead. Do not modify the caller's lists.""",
    stub="""
        def needed(lines, results):
            ...""",
    hints=[
        "Go through the lines from the last to the first, `reversed(lines)`, with a set of the names that are needed so far.",
        "Keep a line if its name is in the set. Then add the names that it reads to the set.",
    ],
    solution="""
        def needed(lines, results):
            wanted, kept = set(results), []
            for line in reversed(lines):
                name, function, names = line
                if name in wanted:
                    kept.append(line)
                    wanted.update(names)
            return kept[::-1]""",
    explained="One pass is enough, because every line that reads a value comes after the line that computes it. (Plain numbers also get into the set, but they do no harm.)",
    why="The backward pass from lesson 05 again, with a set in place of gradients.",
    mistakes=[
        (
            lambda lines, results: list(lines),
            "You return all lines. Leave out those that no result needs.",
        ),
        (_read_by_any, "A line that is read only by dead lines is also dead."),
        (
            _one_round,
            "You go only one step back from the results. Which lines do those lines need?",
        ),
        (_first_names, "A line may read several values, and all of them are needed."),
        (
            _forwards,
            "A line that a needed line reads is needed too. Go from the last line to the first, because the readers of a line come after it.",
        ),
        (
            _last_line_only,
            "When you keep a line, the names wanted so far are still wanted. update adds the names of the line to them.",
        ),
        (
            _added_whole,
            "add adds a single element, which cannot be a list. update adds each name of the list.",
        ),
        (
            lambda lines, results: _needed(lines, results)[::-1],
            "These are the right lines in reverse order: a program must compute a value before it reads it.",
        ),
        (
            lambda lines, results: [
                line for line in _needed(lines, results) if line[0] not in results
            ],
            "The lines that make the results are missing.",
        ),
        (
            lambda lines, results: [line[0] for line in _needed(lines, results)],
            "Those are the names. Return the whole lines.",
        ),
        (
            lambda lines, results: _needed(lines, results[:1]),
            "You look only at the first result, but there may be several.",
        ),
        (
            lambda lines, results: _needed(lines, results[-1:]),
            "You look only at the last result, but there may be several.",
        ),
        (
            lambda lines, results: _needed(lines, [lines[-1][0]]),
            "Those are the lines that the last line needs, but the results may be other lines.",
        ),
        (
            lambda lines, results: [line for line in lines if line not in _needed(lines, results)],
            "Those are the dead lines. Return the others.",
        ),
        (_doubled, "A line that is read twice is in your result twice."),
        (
            lambda lines, results: lines[
                : 1 + max((k for k, line in enumerate(lines) if line[0] in results), default=-1)
            ],
            "You keep everything above the last result. Not all of it is needed.",
        ),
        (
            lambda lines, results: lines[:1] + lines[2:],
            "You always leave out the second line, which is right for one program only.",
        ),
        (
            _whole_line_wanted,
            "`wanted` contains names, so look for the name of the line, not for the whole line.",
        ),
        (
            lambda lines, results: [line for line in [*lines].reverse() if line[0] in results],
            "lines.reverse() reverses the caller's list and returns None. Use reversed(lines), which leaves the list unchanged.",
        ),
    ],
)
def needed(answer):
    if is_stub(answer):
        raise NotYet
    for lines, results in CASES:
        said = "; ".join(
            f"{name} = {function.__name__}({', '.join(map(_name, names))})"
            for name, function, names in lines
        )
        try:
            expect_call(
                answer,
                lines,
                results,
                gives=_needed(lines, results),
                tried=f"{said if len(lines) < 20 else '130 doublings, t1 = add(x, x); t2 = add(t1, t1); …'}, for "
                f"{results}",
                shown=", ".join(line[0] for line in _needed(lines, results)[:12]) or "no line",
                hints=needed.mistakes,
                sure=partial(alike, answer, lambda: CASES),
            )
        except Wrong as wrong:
            if wrong.cause.kind != "endless" or len(lines) < 100:
                raise
            raise wrong.because(
                "Each line reads the line above it twice, so following each read separately takes "
                "2¹³⁰ visits. Remember which names you have visited.",
            ) from None


# --- The backward lines, by hand --------------------------------------------------------------------------------------


def _loss(x, y, W, b):
    return np.sum((np.tanh(x @ W + b) - y) ** 2)


def _gradients(x, y, W, b):
    h = np.tanh(x @ W + b)
    error = h - y
    g_t2 = 2 * error * (1 - h * h)
    return np.sum(error * error), x.T @ g_t2, g_t2.sum(axis=0)


BACK = {
    "g_error": "2 * error",
    "g_t2": "g_error * (1 - h * h)",
    "g_W": "x.T @ g_t2",
    "g_b": "g_t2.sum(axis=0)",
}


def _slip(name, new, hint=None):
    return edit(f"{name} = {BACK[name]}", f"{name} = {new}", *([hint] if hint else []))


_ENTRIES = (
    "The Jacobian of tanh is diagonal, so multiply entry by entry, with *. (@ is a matrix product.)"
)


@exercise(
    "20.gradients",
    minutes=5,
    difficulty="medium",
    importance=3,
    question="""
        **The backward pass, by hand.** The forward pass is given: one layer, tanh, and the sum of squared errors. Write the
        four lines of the backward pass. Each line may use any name defined above it. Do not use an engine, only rules that you have
        derived.""",
    stub="""
        def gradients(x, y, W, b):
            t1 = x @ W                          # (N, n) @ (n, m) is (N, m)
            t2 = t1 + b                         # b is (m,)
            h = np.tanh(t2)
            error = h - y
            t3 = error * error
            L = t3.sum()
            g_error = ...                       # (N, m)
            g_t2 = ...                          # (N, m)
            g_W = ...                           # (n, m)
            g_b = ...                           # (m,)
            return L, g_W, g_b""",
    hints=[
        "`error` is both factors of a product: error * error.",
        "The rule of tanh is the upstream gradient times 1 − z·z, and z is h.",
        "In a product X @ Y, the gradient of X is g @ Y.T, and that of Y is X.T @ g. For b, sum over the axis along which it was broadcast.",
    ],
    solution="""
        def gradients(x, y, W, b):
            t1 = x @ W
            t2 = t1 + b
            h = np.tanh(t2)
            error = h - y
            t3 = error * error
            L = t3.sum()
            g_error = 2 * error
            g_t2 = g_error * (1 - h * h)
            g_W = x.T @ g_t2
            g_b = g_t2.sum(axis=0)
            return L, g_W, g_b""",
    explained="The four rules are from lessons 03, 04, 09 and 08. The gradient of the sum is 1 at every entry of t3, and − passes its upstream gradient on to h, so neither needs a line.",
    why="A compiler does exactly this: it writes your lines, in the order of the backward pass.",
    mistakes=[
        _slip(
            "g_error",
            "error",
            "Your gradients are exactly half: the slope of error * error is 2 * error, and g_t2 needs all of it.",
        ),
        _slip(
            "g_error",
            "error * error",
            "The gradient of error uses the slope of the square, not the square itself.",
        ),
        _slip("g_error", "2 * h", "The program squares error, not h."),
        _slip(
            "g_error",
            "-2 * error",
            "The sign is wrong: error is h − y, so its derivative with respect to h is 1, not −1.",
        ),
        _slip("g_error", "2 * error / len(x)", "L is the sum, not the mean: nothing is divided."),
        _slip(
            "g_error", "2 * error / error.size", "L is the sum, not the mean: nothing is divided."
        ),
        _slip(
            "g_error",
            "2 * error.mean()",
            "That is one number for all entries. Each error has its own slope.",
        ),
        _slip(
            "g_error",
            "2 * error.sum()",
            "That is one number for all entries. Each error has its own slope.",
        ),
        _slip("g_error", "2 * h - y", "Twice the error is 2 * (h - y): the brackets are missing."),
        _slip(
            "g_error",
            "2 * np.ones(error.shape)",
            "The slope of a square is not constant: it is 2 · error.",
        ),
        _slip(
            "g_error", "2 * L", "2 · L is one number for all entries. Each error has its own slope."
        ),
        _slip("g_error", "2 * error * L", "The backward pass starts from ∂L/∂L = 1, not from L."),
        _slip("g_error", "np.sign(error)", "That is the slope of |error|."),
        _slip(
            "g_error",
            "2 * t3",
            "That is twice the square. The slope of a square is twice the error.",
        ),
        _slip(
            "g_error",
            "2 * error * (1 - h * h)",
            "This applies the slope of tanh twice: it belongs only to the next line.",
        ),
        _slip(
            "g_error",
            "y - h",
            "The 2 is missing, and the sign is wrong: error · error has slope 2 · error, and "
            "error is h − y.",
        ),
        _slip(
            "g_t2",
            "g_error @ np.diag(1 - h * h)",
            "np.diag of a matrix returns its diagonal, not a diagonal matrix. Multiply entry by entry, with *.",
        ),
        _slip("g_t2", "g_error @ (1 - h * h).T", _ENTRIES),
        _slip(
            "g_t2",
            "g_error * 1 - h * h",
            "Brackets are missing: multiply g_error by the whole of 1 − h·h.",
        ),
        _slip("g_t2", "g_error / (1 - h * h)", "Multiply by the slope, do not divide by it."),
        _slip(
            "g_t2",
            "g_error * (1 - error * error)",
            "In 1 − z·z, z is the result of tanh, which is h, not the error.",
        ),
        _slip(
            "g_t2",
            "g_error",
            "You skip the tanh. Multiply the upstream gradient by the slope of tanh.",
        ),
        _slip(
            "g_t2",
            "1 - h * h",
            "That is the slope of tanh alone. Multiply it by the upstream gradient, 2 * error.",
        ),
        _slip("g_t2", "g_error * (1 - h)", "tanh's slope is 1 − h·h: the square is missing."),
        _slip("g_t2", "g_error * (1 - h) ** 2", "tanh's slope is 1 − h·h: only h is squared."),
        _slip("g_t2", "g_error * h", "That is tanh itself. Its slope is 1 − h·h."),
        _slip(
            "g_t2", "g_error * h * (1 - h)", "That is the slope of the sigmoid. tanh's is 1 − h·h."
        ),
        _slip(
            "g_t2",
            "g_error * (1 - t2 * t2)",
            "In 1 − z·z, z is the result of tanh, which is h, not its argument.",
        ),
        _slip("g_t2", "g_error * (1 - np.tanh(h) ** 2)", "h is the tanh already: 1 − h·h."),
        _slip(
            "g_t2",
            "g_error * (1 + h * h)",
            "A sign is wrong in the slope of tanh, which is largest at 0, where it is 1.",
        ),
        _slip(
            "g_W",
            "x.T @ g_error",
            "You skip the tanh. The gradient of x @ W is g_t2.",
        ),
        _slip(
            "g_W",
            "x.T @ error",
            "You skip the tanh. The gradient of x @ W is g_t2.",
        ),
        _slip(
            "g_W",
            "np.dot(x, g_t2)",
            "x is (N, n) and g_t2 is (N, m), so transpose x: x.T @ g_t2. (If you wrote x.transpose(0, 1): in NumPy it returns x unchanged.)",
        ),
        _slip(
            "g_W",
            "np.outer(x, g_t2)",
            "np.outer multiplies every entry by every other. Only entries of the same row belong together, and the rows add up: x.T @ g_t2.",
        ),
        _slip("g_W", "g_t2 @ x.T", "x.T comes first: (n, N) @ (N, m) is (n, m), W's shape."),
        _slip(
            "g_W",
            "x * g_t2",
            "x is (N, n) and g_t2 is (N, m): take the matrix product of x transposed and g_t2.",
        ),
        _slip("g_W", "g_t2.T @ x", "That is the transpose, of shape (m, n). W has shape (n, m)."),
        _slip(
            "g_W", "g_t2 @ W.T", "That is the gradient of x. W is the right factor of the product."
        ),
        _slip(
            "g_W",
            "x.reshape(x.shape[1], -1) @ g_t2",
            "reshape keeps the entries in their order. A transpose is x.T.",
        ),
        _slip(
            "g_W",
            "x @ g_t2",
            "x is (N, n) and g_t2 is (N, m), so transpose x: x.T @ g_t2. (If you wrote x.transpose(0, 1): in NumPy it returns x unchanged.)",
        ),
        _slip("g_W", "(x.T @ g_t2) / len(x)", "You take a mean over the rows, but L is a sum."),
        _slip(
            "g_b",
            "g_t2.sum()",
            "That is one number for all of b. b was broadcast to every row, so sum over the rows only, axis 0.",
        ),
        _slip(
            "g_b",
            "g_t2.sum(axis=1)",
            "You sum over the wrong axis. b was broadcast to every row, so sum over the rows, axis 0.",
        ),
        _slip(
            "g_b",
            "g_t2.mean(axis=0)",
            "You take a mean, but the gradients from all rows add up: take the sum.",
        ),
        _slip(
            "g_b",
            "np.ones(b.shape)",
            "That is the local gradient of b, for one row. Multiply by the upstream gradient, g_t2.",
        ),
        _slip("g_b", "g_W.sum(axis=0)", "g_W contains x. The gradient of b comes from g_t2 alone."),
        _slip(
            "g_b",
            "np.ones((1, len(x))) @ g_t2",
            "The numbers are right, but their shape is (1, m), and b has shape (m,).",
        ),
        _slip(
            "g_b",
            "g_t2",
            "b was broadcast to every row, so sum its gradient over the rows, to the shape (m,) of b.",
        ),
        _slip(
            "g_b",
            "g_t2[0]",
            "That is the gradient from the first row alone. b was broadcast to all rows.",
        ),
        _slip(
            "g_b",
            "g_error.sum(axis=0)",
            "You skip the tanh. The gradient of t1 + b is g_t2, so sum g_t2.",
        ),
        edit("return L, g_W, g_b", "return L, g_b, g_W", "The order is L, g_W, g_b."),
        _slip("g_t2", "g_error @ (1 - h * h)", _ENTRIES),
        _slip("g_t2", "g_error * (1 - h @ h)", _ENTRIES),
        _slip("g_t2", "g_error * (1 - h.T @ h)", _ENTRIES),
        _slip("g_error", "2 * np.abs(error)", "The signs are lost: do not use abs."),
        *(
            _slip("g_W", new, "The gradient of W is a matrix product, with @: x.T @ g_t2.")
            for new in ("x.T * g_t2", "g_t2 * x", "g_t2.T * x")
        ),
        _slip(
            "g_W",
            "W.T @ g_t2",
            "The gradient of W contains the *other* factor of the product, x: x.T @ g_t2.",
        ),
        _slip(
            "g_W",
            "x @ g_t2.T",
            "The wrong factor is transposed: (n, N) @ (N, m) is (n, m), so x.T @ g_t2.",
        ),
    ],
)
def gradients(answer):
    if has_blank(answer):
        raise NotYet
    rng = np.random.default_rng(0)

    def build(d):
        N, n, m = d.size(), d.size(), d.size()
        return np.tanh(d(N, n)), d.g(N, m), d(n, m), d(m)

    x, y, W, b = (rng.normal(size=shape).round(2) for shape in [(4, 3), (4, 2), (3, 2), (2,)])
    expect_over(
        answer,
        _gradients,
        build,
        apart=True,
        first=[(x, y, W, b)],
        hints=gradients.mistakes,
        tried=lambda x, y, W, b: (
            f"gradients(x, y, W, b), with x {x.shape}, y {y.shape}, W {W.shape}, b {b.shape}"
        ),
    )
    expect_own_work(
        answer,
        (x, y, W, b),
        ["grad", "value_and_grad", "vjp", "jvp", "jacobian", "Tensor.backward"],
        "The gradients are right, but the engine computed them. Write the lines of the backward pass yourself.",
    )


# --- A buffer that is written too early -------------------------------------------------------------------------------

SPOILED = """
np.matmul(x, W1, out=a)        # x·W1
np.tanh(a, out=a)              # h
np.matmul(a, W2, out=b)        # ŷ
np.subtract(b, y, out=b)       # error
L = np.sum(b * b)
np.multiply(2, b, out=b)       # g at ŷ
np.multiply(a, a, out=a)       # h·h
np.subtract(1, a, out=a)       # 1 − h·h
np.matmul(b, W2.T, out=c)      # g at h
np.multiply(c, a, out=c)       # g at x·W1
g_W1 = x.T @ c
g_W2 = a.T @ b""".strip().splitlines()


# Why each line but 7 does not write over a value too early.
FIRST_LINES = {
    1: "line 1 writes into a, which held nothing",
    2: "line 2 writes over x·W1, which no later line needs",
    3: "line 3 writes into b, which held nothing",
    4: "line 4 writes over ŷ, which no later line needs",
    5: "line 5 writes into no buffer",
    6: "line 6 writes over the error, which no later line needs",
    8: "line 8 writes over h·h, which no later line needs",
    9: "line 9 writes into c, which held nothing",
    10: "line 10 writes over the gradient at h, which no later line needs",
    11: "line 11 writes into no buffer",
}


@exercise(
    "20.spoiled",
    minutes=4,
    difficulty="optional",
    importance=1,
    question="""
        **One line too early.** A compiler with three buffers, a, b and c, wrote this program. One of its gradients is
        wrong. Which line writes over a value that is still needed, and which line then reads the wrong value?

        """
    + "\n        ".join(
        ["```", *(f"{k:2}  {line}" for k, line in enumerate(SPOILED, start=1)), "```"]
    ),
    stub="""
        overwrites = ...            # the number of a line
        reads_wrong = ...           # the number of a later line""",
    hints=[
        "Go from the bottom up: which value should each line read, and which line was the last to write into that buffer?",
        "Lines 2, 4 and 6 are each the last reader of the value that they write over, so they are correct.",
        ("Help: line 12", "It should read h. What does a contain by then?"),
    ],
    solution="""
        overwrites = 7
        reads_wrong = 12""",
    explained="Line 7 writes h·h over h, so line 12 multiplies by 1 − h·h, which a contains by then. Moving line 12 before line 7 fixes it.",
    why="Memory can be reused when the last reader of its value has run, and the backward pass has readers too.",
    mistakes=[
        (
            (8, 12),
            "Line 8 reads h·h and writes over it, and no later line reads h·h. h had been overwritten before line 8.",
        ),
        (
            (2, 12),
            "Line 2 writes over x·W1: the rule of tanh reads its result, so no line needs x·W1 again.",
        ),
        ((2, 7), "Line 2 writes over x·W1, which no later line reads. Line 7 reads h, and gets h."),
        (
            (4, 6),
            "Line 4 is the last reader of ŷ, and writes over it. Line 6 needs the error, and reads it.",
        ),
        (
            (6, 9),
            "Line 6 writes over the error after L has been computed. Line 9 needs the gradient, and reads it.",
        ),
        (
            (6, 12),
            "Line 12 needs the gradient at ŷ from b, and reads it. Look at the other value that it reads.",
        ),
        (
            (10, 11),
            "Line 10 writes over the gradient at h after reading it for the last time; line 11 reads the right value.",
        ),
        (
            (7, 8),
            "Line 7 is right. But line 8 needs h·h, and reads it: which later line still needs h?",
        ),
        (
            (7, 10),
            "Line 7 is right. But line 10 needs 1 − h·h, and reads it: which later line still needs h?",
        ),
        ((7, 11), "Line 7 is right. But line 11 does not read a: which later line still needs h?"),
        ((8, 10), "Line 10 needs 1 − h·h, and reads it. Which later line still needs h?"),
        ((9, 10), "Line 9 writes into c, which held nothing."),
        ((3, 4), "Line 3 writes into b, which held nothing."),
        ((12, 7), "These are the right lines in the wrong order: first the line that overwrites."),
        ((1, 2), "Line 1 writes into a, which held nothing."),
    ],
)
def spoiled(answer):
    answer = [
        number.item()
        if isinstance(number, (np.ndarray, np.generic)) and number.ndim == 0
        else number
        for number in answer
    ]
    for number in answer:
        if isinstance(number, (list, tuple, np.ndarray)):
            raise Wrong(
                "your answer",
                brief(number),
                "a number",
                "Give overwrites and reads_wrong one line number each, without a list.",
            )
        if type(number) not in (int, float) or number not in range(1, len(SPOILED) + 1):
            raise Wrong(
                "your answer",
                brief(number),
                "the number of a line",
                "Write a number, without quotes."
                if isinstance(number, str) and number.isdigit()
                else f"The lines are numbered from 1 to {len(SPOILED)}.",
            )
    if tuple(answer) == (7, 12):
        return
    hint = next((hint for wrong, hint in spoiled.mistakes if tuple(answer) == wrong), "")
    if not hint:
        hint = (
            "A line can only read a value that was written before: the second line comes after the first."
            if answer[0] >= answer[1]
            else "Line 7 is right: which later line still needs h?"
            if answer[0] == 7
            else f"You found the line that reads a wrong value. But {FIRST_LINES[answer[0]]}. Which line wrote over the value that line 12 needs?"
            if answer[1] == 12
            else f"Look for another first line: {FIRST_LINES[answer[0]]}."
        )
    raise Wrong(
        "your answer",
        f"line {answer[0]:g} writes too early, line {answer[1]:g} reads the wrong value",
        "another pair of lines",
        hint,
    )


# --- A guard on shapes and dtypes ---------------------------------------------------------------------------------------

_FIRST = np.array([1.0, 2.0, 3.0])
_WIDE = np.arange(6.0).reshape(2, 3)
# What x is, x, and which of the two compiled functions is called.
GUARDED_CALLS = [
    ("the first x, of shape (3,) and float64", _FIRST, 0),
    ("other numbers, of shape (3,) and float64", np.array([-1.0, 0.0, 4.0]), 0),
    ("an x of shape (2, 3) and float64", _WIDE, 0),
    ("an x of shape (3, 2) and float64", np.ones((3, 2)), 0),
    ("the transpose of the x of shape (2, 3)", _WIDE.T, 0),
    ("an x of shape (4,) and float64", np.ones(4), 0),
    ("an x of shape (3,) and float32", np.ones(3, np.float32), 0),
    ("the first x again", _FIRST, 0),
    ("a copy of the first x", _FIRST.copy(), 0),
    ("an x of shape (3,) and int64", np.ones(3, np.int64), 0),
    ("an x of shape (2, 3) and float32", np.ones((2, 3), np.float32), 0),
    ("an x of shape () and float64", np.array(2.0), 0),
    ("the first x, passed to a second compiled function", _FIRST, 1),
    ("other numbers, passed to the first function", np.array([5.0, 6.0, 7.0]), 0),
]


def _guarded_calls(guarded):
    """Return a list of texts, one per call in GUARDED_CALLS, that describe what the call does.

    `guarded` is the learner's function. It receives a `record` that notes every recording, and
    programs that note every run.
    """
    events, programs, told = [], [], []

    def function(name):
        def f(x):
            events.append(f"calls {name} itself")
            return 2 * x

        return f

    functions = [function("f"), function("the second function")]
    x = which = None

    def record(f, example):
        number = len(programs) + 1
        own = which is not None and f is functions[which] and example is x
        events.append(f"records program {number}" + " of something else" * (not own))

        def program(y):
            events.append(f"runs program {number}" + " at another array" * (y is not x))
            return np.array([number, len(told)])

        programs.append(program)
        return program

    compiled = [guarded(f, record) for f in functions]
    if not all(map(callable, compiled)):
        return [f"guarded(f, record) returns {brief(compiled[0])}"]
    for _, x, which in GUARDED_CALLS:
        events.clear()
        z = compiled[which](x)
        ran = [event.split()[2] for event in events if event.startswith("runs")]
        result = np.array([int(ran[-1]), len(told)]) if ran else None
        events.append(
            "returns its result"
            if ran and isinstance(z, np.ndarray) and np.array_equal(z, result)
            else "returns the program itself"
            if any(z is program for program in programs)
            else "returns None"
            if z is None
            else "returns something else"
        )
        told.append(", ".join(events))
    return told


def _guarded(f, record):
    programs = {}

    def call(x):
        key = x.shape, x.dtype
        if key not in programs:
            programs[key] = record(f, x)
        return programs[key](x)

    return call


def _quiet_calls(guarded):
    """Return the texts of `_guarded_calls`, or one text that names the error, without printing."""
    with redirect_stdout(io.StringIO()):
        try:
            return _guarded_calls(guarded)
        except Exception as error:
            return [f"{type(error).__name__}: {error}"]


_KEY = "key = x.shape, x.dtype"
_RETURN = "return programs[key](x)"
_RECORD = "programs[key] = record(f, x)"
_EVERY_CALL = (
    "You record at every call, also where the dict has the key already. (setdefault(key, record(f, x)) does so too, because "
    "Python calls record first.)"
)


@exercise(
    "20.guarded",
    minutes=5,
    difficulty="optional",
    importance=1,
    question="""
        **A guard.** `record(f, x)` traces f at the array x and returns a program, which is a function of an array. Write
        `guarded(f, record)`. It returns a function of x that runs a program and returns its result. The program must have been
        recorded for an array with the shape and the dtype of x: record it if there is none yet.""",
    stub="""
        def guarded(f, record):
            programs = {}               # one program for each shape and dtype

            def call(x):
                ...
            return call""",
    hints=[
        "The key of the dict is a tuple: x.shape and x.dtype.",
        "If the key is not in `programs`, store `record(f, x)` under it. Then run the program that is stored there.",
    ],
    solution="""
        def guarded(f, record):
            programs = {}

            def call(x):
                key = x.shape, x.dtype
                if key not in programs:
                    programs[key] = record(f, x)
                return programs[key](x)
            return call""",
    explained="`ag.compile` has the same dict, `programs`. Its keys also contain the structure of the arguments, and ints and strings.",
    why="The key of the dict is the guard: calls with the same key share a program.",
    mistakes=[
        edit(
            _KEY,
            "key = x.shape",
            "An x with another dtype needs another program: add it to the key.",
        ),
        edit(
            _KEY, "key = x.dtype", "An x of another shape needs another program: add it to the key."
        ),
        edit(
            _KEY,
            "key = x.size, x.dtype",
            "Arrays of shapes (2, 3) and (3, 2) have the same size. Use x.shape.",
        ),
        edit(
            _KEY,
            "key = x.ndim, x.dtype",
            "ndim is the number of axes, without their lengths. Use x.shape.",
        ),
        edit(
            _KEY,
            "key = x.shape, x.itemsize",
            "int64 and float64 have entries of the same size. Use x.dtype.",
        ),
        edit(
            _KEY,
            "key = x.shape, x.strides",
            "A transpose has other strides but needs no program of its own. Use x.shape and x.dtype.",
        ),
        edit(
            _KEY,
            "key = id(x)",
            "Each array has its own id, so other numbers of the same shape are recorded again.",
        ),
        edit(
            _KEY,
            "key = x.tobytes()",
            "The key contains the numbers of x, but the program reads them at every call.",
        ),
        edit(
            _KEY,
            "key = x.shape, x.dtype, x.tobytes()",
            "The key contains the numbers of x, but the program reads them at every call.",
        ),
        edit(
            _KEY, "key = 0", "You run the first program for every x. Which x may share a program?"
        ),
        edit(
            "if key not in programs:",
            "if True:",
            _EVERY_CALL,
        ),
        edit(
            "if key not in programs:\n            programs[key] = record(f, x)\n",
            "programs.setdefault(key, record(f, x))\n",
            _EVERY_CALL,
        ),
        edit(
            "if key not in programs:",
            "if key not in programs:\n            programs.clear()",
            "You keep only the last program, so the first x is recorded twice.",
        ),
        edit(_RETURN, "return programs[key]", "You return the program. Call it with x."),
        edit(_RETURN, "programs[key](x)", "Your function returns None: write return."),
        edit(_RETURN, "return f(x)", "You call f itself, so the program is never used."),
        edit(_RECORD, "programs[key] = f", "You store f itself. Store the program, record(f, x)."),
        edit(
            _RECORD,
            "programs[key] = record(f, x)(x)",
            "You store a result in place of the program, which is needed for the next x.",
        ),
        edit(
            _RECORD,
            "programs[key] = record(f, x)\n            return f(x)",
            "After you record, you call f itself. Run the new program instead.",
        ),
        edit(
            _RECORD,
            "programs[key] = record(f, x); programs[key](x)",
            "In the call that records, you run the program twice.",
        ),
    ],
)
def guarded(answer):
    if has_blank(answer):
        raise NotYet
    right = _guarded_calls(_guarded)

    try:
        got = returned(
            lambda: _guarded_calls(answer),
            tried="a sequence of calls",
            shown="programs and results",
        )
    except Wrong:
        raise
    except Exception as error:
        mine = [f"{type(error).__name__}: {error}"]
        error.tried = "a sequence of calls"
        error.hint = next(
            (hint for wrong, hint in guarded.mistakes if _quiet_calls(wrong) == mine), ""
        )
        raise
    if got == right:
        return
    if len(got) < len(right):
        raise Wrong(
            "your answer",
            got[0],
            "a function of x",
            "Return the inner function, call, without calling it.",
        )
    first = next(k for k, pair in enumerate(zip(got, right)) if len(set(pair)) > 1)
    mine, wanted = got[first], right[first]
    known = [(_quiet_calls(wrong), hint) for wrong, hint in guarded.mistakes]
    hint = next((hint for calls, hint in known if calls == got), "") or next(
        (hint for calls, hint in known if calls[: first + 1] == got[: first + 1]), ""
    )
    if not hint:
        hint = (
            "Pass record the function f and the array x."
            if "of something else" in mine
            else "Run the program at x itself."
            if "at another array" in mine
            else "A program of the other function, or of an earlier check, is in your dict. Create the dict in guarded, not outside."
            if GUARDED_CALLS[first][2] == 1 or mine == "returns something else"
            else "No program has been recorded for this shape and dtype, so the call must record one."
            if "records" in wanted and "records" not in mine
            else "A program has been recorded for this shape and dtype already: run it."
            if "records" in mine and "records" not in wanted
            else "Run the program of this shape and dtype once, and return its result."
        )
    raise Wrong(f"call {first + 1}: {GUARDED_CALLS[first][0]}", mine, wanted, hint)
