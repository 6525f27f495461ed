"""Verdict: what a check says. And how it shows a value and the learner's own error."""

import linecache
import re
import sys
import traceback
from html import escape

import numpy as np

from ..drawing.table import FAINT, table


class Verdict:
    """`status` is "not yet", "wrong" or "right"; `rows` are (label, text) pairs. As text it begins with the status."""

    # Each with a line beside it; in no colour, as those of the lessons mean something else.
    ICONS = {"not yet": ("…", "dotted"), "wrong": ("✗", "dashed"), "right": ("✓", "solid")}

    LONGEST = 2000  # characters of a text: the learner's own error may hold a whole data set

    def __init__(self, status, *rows):
        self.status, self.rows = (
            status,
            [(label, shortest(text, self.LONGEST)) for label, text in rows if text],
        )

    def __repr__(self):
        lines = (
            f"{label:<9} {text}".strip().replace("\n", "\n" + " " * 10) for label, text in self.rows
        )
        return "\n".join([self.status, *lines])

    def _repr_html_(self):
        icon, line = self.ICONS[self.status]
        plain = ("hint", "missing", "but", "look")
        lines = [
            ((label, FAINT), (escape(text), "" if label in plain else "font-family:monospace"))
            for label, text in self.rows
            if label
        ]
        words = "".join(f"<div>{escape(text)}</div>" for label, text in self.rows if not label)
        return (
            f'<div class="mathjax_ignore" style="border-left:5px {line};padding:2px 12px;line-height:1.5">'
            f'<strong style="font-size:1.25em"><span aria-hidden="true">{icon}</span> {self.status}</strong>{words}'
            f"{table(lines, cell='white-space:pre-wrap;') if lines else ''}</div>"
        )


class Wrong(Exception):
    """A difference found by a check: what was tried, what came back, what was expected, and the likely cause or ""."""


class NotYet(Exception):
    """The stub, or a part of it, still waits."""


def formula(text):
    """Decorator: a verdict shows the function by `text`, "f(x, y) = x²y", and not by its name in our file."""

    def register(function):
        function.formula = text
        return function

    return register


def brief(x):
    """A value in one line, as a verdict shows it."""
    if isinstance(x, np.ndarray) and not x.ndim:
        x = x[()]
    if isinstance(x, (float, np.floating)):
        return f"{x:.8g}"
    if isinstance(x, np.generic):
        x = x.item()
    if isinstance(x, (tuple, list)) and len(x) <= 12:
        return ("[{}]" if isinstance(x, list) else "({})").format(", ".join(map(brief, x)))
    if isinstance(x, np.ndarray):
        if x.size > 24:
            return f"array of shape {x.shape}"
        return re.sub(r"\s+", " ", np.array2string(x, precision=6, separator=", "))
    if hasattr(x, "formula"):
        return x.formula.partition("(")[0]
    if callable(x):
        return ("np." if isinstance(x, np.ufunc) else "") + getattr(x, "__name__", type(x).__name__)
    try:
        return shortest(repr(x), 120)
    except Exception:  # a __repr__ of the learner's own
        return type(x).__name__


def shortest(text, most):
    """A text of at most so many characters."""
    return text if len(text) <= most else text[: most - 3] + "…"


def called(function, args):
    """The call as a learner would write it, and the formulas of what it was given."""
    name = brief(function) if callable(function) else "f"
    formulas = "".join(f", where {a.formula}" for a in args if hasattr(a, "formula"))
    return f"{'your function' if name == '<lambda>' else name}({', '.join(map(brief, args))}){formulas}"


def shortened(error):
    """The error with the learner's own lines, those of `__main__`, and no others."""
    lines = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_globals.get("__name__") == "__main__":
            text = linecache.getline(frame.f_code.co_filename, line).strip()
            shown = f"{_cell(frame.f_code.co_filename)}line {line}: {text}"
            if (
                text and not text.startswith("check(") and lines[-1:] != [shown]
            ):  # a comprehension has a frame of its own
                lines.append(shown)
    return "\n".join([*lines[-6:], named(error)])  # the last six: recursion has a thousand


def named(error):
    return f"{type(error).__name__}: {said(error)}"


def said(error):
    """The error's own text; of a recursion without end not where it was stopped, which is chance."""
    try:
        return (
            str(error).split(" exceeded")[0] + " exceeded"
            if isinstance(error, RecursionError)
            else str(error)
        )
    except Exception:  # a __str__ of the learner's own
        return "(its text cannot be shown)"


def _cell(filename):
    """ "cell [7], " in a notebook: the number that JupyterLab shows beside the cell."""
    shell = "IPython" in sys.modules and sys.modules["IPython"].get_ipython()
    name = shell and shell.compile.format_code_name(filename)
    number = name and re.search(r"\d+", name[1])
    return f"cell [{number[0]}], " if number else ""


LIKELY = [
    (
        r"^name '(\w+)' is not defined",
        r"Nothing is called \1 here. A slip in the name? Or a cell above that has not been run?",
    ),
    (
        r"local variable '(\w+)'",
        r"\1 is used before it has a value: give it its first one before the loop.",
    ),
    (
        r"takes (?:from )?\d.* positional arguments? but \d+ (?:was|were) given|missing \d+ required positional",
        "Which arguments it takes, and in which order, is in the question.",
    ),
    (
        r"'(?:int|float|numpy\.\w+|Tensor)' object is not callable",
        "A number stands where a function is wanted: give the function itself, or make one with lambda.",
    ),
    (
        r"'float' object cannot be interpreted as an integer",
        "A whole number is wanted, and / gives a float: // drops the rest.",
    ),
    (
        r"truth value of an array",
        "x may be an array here. What wants a single truth cannot take it: if, and, or, a < b < c, and Python's own in, "
        "max, sorted and count. Use np.where, & and |, with each comparison in brackets.",
    ),
    (
        r"can only convert an array of size 1",
        "item() takes a single number out of an array, and this one has more.",
    ),
    (
        r"sub-type of ndarray type",
        "NumPy's view reads the same bytes as another dtype. The shape changes with x.reshape(…).",
    ),
    (
        r"Cannot interpret '-?\d+' as a data type",
        "A length was taken for a dtype: np.zeros takes the shape as one tuple, np.zeros((2, 3)), and what changes the "
        "shape is x.reshape(…), not x.view(…).",
    ),
    (
        r"axes don't match array",
        "NumPy's transpose takes every axis in its new order. Two of them change places with "
        "np.swapaxes(x, i, j), the last two with x.mT.",
    ),
    (
        r"module 'numpy' has no attribute '(\w+)'",
        r"NumPy has no np.\1: PyTorch's cat is np.concatenate there, its clamp np.clip; ln is np.log.",
    ),
    (
        r"arrays can be converted to Python scalars",
        "float( ), int( ) and the functions of math take single numbers: np.exp, np.tanh and so on take arrays.",
    ),
    (
        r"Integers to negative integer powers",
        "NumPy raises whole numbers to no negative whole power: divide, or write it as y ** -1.0.",
    ),
    (
        r"unsupported operand .*'(?:function|Primitive|ufunc|builtin_function_or_method)'",
        "A function stands where its value belongs: call it, f(x). Or are the parameters in another order?",
    ),
    (r"for \^|bitwise_xor", "A power is ** in Python: ^ is something else."),
    (
        r"argument '(?:dim|keepdim)'|Cannot interpret 'True' as a data type",
        "NumPy writes axis=… and keepdims=True, by name, where PyTorch has dim and keepdim.",
    ),
    (
        r"argument '(?:create_graph|retain_graph)'",
        "There is no such switch here: a graph may be walked again, and what ag.grad gives can be differentiated.",
    ),
    (
        r"argument 'gradient'",
        "What arrives is called grad here, and may stand without its name: z.backward(g).",
    ),
    (
        r"'(?:int|float)' object has no attribute '(\w+)'",
        r"That is a plain number of Python, and has no .\1.",
    ),
    (
        r"'numpy\.\w+' object has no attribute '(backward|detach|requires_grad_?)'",
        r"That is a plain array, and .\1 belongs to a Tensor. (What .data and .grad hold are arrays.)",
    ),
    (
        r"'numpy\.\w+' object has no attribute '(?:numpy|cpu|clone)'",
        "It is NumPy's already. A copy is x.copy().",
    ),
    (
        r"'numpy\.\w+' object has no attribute '([a-z]\w*)_'",
        r"An array has no .\1_, PyTorch's change in place: make a new array, by arithmetic or a function of np.",
    ),
    (
        r"'numpy\.(?:float|int)\w+' object has no attribute '(\w+)'",
        r"That is a single number, and has no .\1: a function of np takes numbers too.",
    ),
    (
        r"'numpy\.\w+' object has no attribute '(\w+)'",
        r"An array has no .\1: most of NumPy's functions are written np.name(x), a transpose x.T or x.mT.",
    ),
    (
        r"'NoneType' object cannot be interpreted as an integer",
        "A None stands where a whole number is wanted: is an axis None, or has something that it calls no return?",
    ),
    (
        r"'NoneType'|from dtype\('O'\)",
        "A None is among the numbers: something that it calls has no return.",
    ),
    (r"maximum recursion depth", "It calls itself, and never comes to an end."),
]


def likely(error):
    """The likely cause of a common error of Python, or ""."""
    if isinstance(error, SystemExit):
        return "exit ends the whole program. To end a function, write return."
    for pattern, sentence in LIKELY:
        if found := re.search(pattern, said(error)[:1000]):
            return found.expand(sentence)
    return ""
