"""Verdict: what a check says. And how it shows a value and the learner's own error."""

import linecache
import re
import sys
import traceback
from html import escape

import numpy as np

from ..drawing.table import FAINT, table
from .causes import ERRORS, Cause, own, sentence


class Verdict:
    """Hold the result of a check: `status` is "not yet", "wrong" or "right".

    `rows` are (label, text) pairs. As text it begins with the status.
    """

    # Each with a line beside it; in no colour, as those of the lessons mean something else.
    ICONS = {"not yet": ("…", "dotted"), "wrong": ("✗", "dashed"), "right": ("✓", "solid")}

    LONGEST = 2000  # characters of a text: the learner's own error may hold a whole data set

    def __init__(self, status, *rows, cause=None):
        self.cause = cause
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
    """Report a difference: what was tried, what came back, what was expected, the likely cause.

    `hint` is the exercise's own sentence, or a Cause, or "".
    """

    def __init__(self, tried, got, expected, hint):
        self.shown = tried, got, expected
        self.cause = hint if isinstance(hint, Cause) else own(hint)
        super().__init__(*self.shown, sentence(self.cause))


class NotYet(Exception):
    """Report that the stub, or a part of it, is not filled in."""


def formula(text):
    """Decorate a function so that a verdict shows it as `text`, such as "f(x, y) = x²y".

    Otherwise its name in the course's file would be shown.
    """

    def register(function):
        function.formula = text
        return function

    return register


def brief(x, digits=8):
    """Return a value in one line, as a verdict shows it, with `digits` digits of a number."""
    if isinstance(x, np.ndarray) and not x.ndim:
        x = x[()]
    if isinstance(x, (float, np.floating)):
        return f"{x:.{digits}g}"
    if isinstance(x, np.generic):
        x = x.item()
    if isinstance(x, (tuple, list)) and len(x) <= 12:
        inside = ", ".join(brief(part, digits) for part in x)
        if isinstance(x, list):
            return f"[{inside}]"
        return f"({inside},)" if len(x) == 1 else f"({inside})"
    if isinstance(x, np.ndarray):
        if x.size > 24:
            return f"array of shape {x.shape}"
        return re.sub(
            r"\s+", " ", np.array2string(x, precision=6 if digits == 8 else digits, separator=", ")
        )
    if hasattr(x, "formula"):
        return x.formula.partition("(")[0]
    if callable(x):
        return ("np." if isinstance(x, np.ufunc) else "") + getattr(x, "__name__", type(x).__name__)
    try:
        return shortest(repr(x), 120)
    except Exception:  # a __repr__ of the learner's own
        return type(x).__name__


def shortest(text, most):
    """Return a text cut to at most so many characters."""
    return text if len(text) <= most else text[: most - 3] + "…"


def called(function, args):
    """Return the call as a learner would write it, and the formulas of its arguments."""
    name = brief(function) if callable(function) else "f"
    formulas = "".join(f", where {a.formula}" for a in args if hasattr(a, "formula"))
    return f"{'your function' if name == '<lambda>' else name}({', '.join(map(brief, args))}){formulas}"


def shortened(error):
    """Return the error's text with the learner's own lines only, those of `__main__`."""
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
    """Return the error's own text.

    For an endless recursion, the place where it was stopped is left out, since that is chance.
    """
    try:
        return (
            str(error).split(" exceeded")[0] + " exceeded"
            if isinstance(error, RecursionError)
            else str(error)
        )
    except Exception:  # a __str__ of the learner's own
        return "(its text cannot be shown)"


def _cell(filename):
    """Return "cell [7], " in a notebook: the number that JupyterLab shows beside the cell."""
    shell = "IPython" in sys.modules and sys.modules["IPython"].get_ipython()
    name = shell and shell.compile.format_code_name(filename)
    number = name and re.search(r"\d+", name[1])
    return f"cell [{number[0]}], " if number else ""


def likely(error):
    """Return the likely Cause of a common error of Python."""
    if isinstance(error, SystemExit):
        return Cause("error: exit")
    for kind, (pattern, _) in ERRORS.items():
        if pattern and (found := re.search(pattern, said(error)[:1000])):
            return Cause(kind, found.groups())
    return Cause()
