"""Exercises: `check("01.central", answer)` in a notebook, and what a lesson's author writes behind it.

Write `lesson_NN.py` beside this file; `check` finds it by the number. One function an exercise:

    import numpy as np
    from . import exercise, expect, expect_call, times

    @exercise("01.central", why="One step each way cancels the largest part of the error.")
    def central(answer):
        for x in (0.5, -2.0):
            expect_call(answer, np.sin, x, 1e-5, gives=np.cos(x), rtol=1e-6,
                        hints=[times(2, "Exactly double: how far apart are your two points?"),
                               times(-1, "The sign is lost: which of the two points is subtracted?")])

    @exercise("00.bar", why="Where the slope is 0, the value may be anything.")
    def bar(answer):
        expect(answer, 5, tried="the value where the gradient's bar is empty", shown="another number",
               hints=[(0, "That is the gradient there; the question asks for the value.")])

    PLANTED = {                      # wrong answers, at least four an exercise, each with a piece of the hint it must get
        "01.central": [(lambda f, x, h: (f(x + h) - f(x - h)) / h, "how far apart"), ...],
        "00.bar": [(0, "asks for the value"), (3, "another number"), ...]}

- `expect(got, expected, tried=...)` compares a value: number, array, tuple, bool, text. `expect_call(f, *args, gives=...)`
  calls the learner's function, then does the same. Both stop the check at the first difference; a check that returns says right.
- `hints`: tried in order. `(value, sentence)` recognises a value; `times(c, sentence)` a multiple of the right answer;
  `without(g, sentence)` one that lacks a factor g. Without a hint of yours these are recognised: nothing returned, another shape
  (a broadcast axis to sum), swapped parts of a tuple, exactly double, half or negative, a constant factor.
- `shown` says what was expected in words where the number itself would be the answer.
- Anything else: `raise Wrong(tried, got, expected, hint)`; each is text, `hint` may be "".
- Not yet: `None` or `...` as the answer or inside it, a function whose body is still `...`, an error that `...` caused.
- A check gives the same verdict every time: draw random inputs from `np.random.default_rng(0)` inside it.
"""
import linecache
import re
import traceback
from html import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from ... import Tensor
from .. import style

EXERCISES = {}      # name -> (the check's function, why it matters)


def exercise(name, why):
    """Registers the decorated function as the check of exercise `name`; `why` is the sentence of a right answer."""
    def register(function):
        EXERCISES[name] = function, why
        return function
    return register


class Verdict:
    """`status` is "not yet", "wrong" or "right"; `rows` are (label, text) pairs. As text it begins with the status."""

    ICONS = {"not yet": ("…", style.LINE), "wrong": ("✗", style.GRADIENT), "right": ("✓", style.TANGENT)}

    def __init__(self, status, *rows):
        self.status, self.rows = status, [(label, text) for label, text in rows if text]

    def __repr__(self):
        lines = (f"{label:<9} {text}".strip().replace("\n", "\n" + " " * 10) for label, text in self.rows)
        return "\n".join([self.status, *lines])

    def _repr_html_(self):
        icon, colour = self.ICONS[self.status]
        plain = "background:none;border:none"           # JupyterLab stripes the rows of a table
        cell = f"{plain};padding:1px 12px 1px 0;text-align:left;vertical-align:top;white-space:pre-wrap"
        rows = []
        for label, text in self.rows:
            words = label in ("", "hint", "missing")
            head = f'<th scope="row" style="{cell};font-weight:normal;opacity:.75">{label}</th>' if label else ""
            rows.append(f'<tr style="{plain}">{head}<td colspan="{1 if label else 2}" '
                        f'style="{cell}{"" if words else ";font-family:monospace"}">{escape(text)}</td></tr>')
        return (f'<div style="border-left:5px solid {colour};padding:2px 12px;line-height:1.5">'
                f'<strong><span aria-hidden="true">{icon}</span> {self.status}</strong>'
                f'<table style="border:none;margin:2px 0;font-size:inherit">{"".join(rows)}</table></div>')


class Wrong(Exception):
    """A difference found by a check: what was tried, what came back, what was expected, and the likely cause or ""."""


class NotYet(Exception):
    """The stub, or a part of it, still waits."""


def check(name, answer):
    """The Verdict on `answer`, the learner's value, function or class for exercise `name`. Never raises."""
    lesson = f"lesson_{name.partition('.')[0]}"
    if find_spec(f"{__name__}.{lesson}"):
        import_module(f"{__name__}.{lesson}")
    if name not in EXERCISES:
        return Verdict("wrong", ("hint", f"There is no exercise {name!r}: write the name as it is in the question."))
    function, why = EXERCISES[name]
    try:
        if _waits(answer):
            raise NotYet
        function(answer)
    except NotYet:
        return Verdict("not yet", ("", "Replace the ... above, run that cell, then this one."))
    except Wrong as difference:
        return Verdict("wrong", *zip(("tried", "got", "expected", "hint"), difference.args))
    except Exception as error:
        if "ellipsis" in str(error):
            return Verdict("not yet", ("", "One ... is still there. Replace it, run that cell, then this one."))
        return Verdict("wrong", ("tried", getattr(error, "tried", "")), ("raised", _shortened(error)))
    return Verdict("right", ("", why))


def expect(got, expected, *, tried, hints=(), shown=None, rtol=1e-6, atol=1e-9):
    """Stops the check unless `got` is `expected`: close, for numbers and arrays of one shape; part by part, for a tuple."""
    if _waits(got):
        raise NotYet
    if not _same(got, expected, rtol, atol):
        raise Wrong(tried, brief(got), shown or brief(expected), _cause(got, expected, hints, rtol, atol))


def expect_call(function, *args, gives, tried=None, **options):
    """`expect(function(*args), gives)`, where `tried` is written for you. Returns what came back."""
    tried = tried or f"{getattr(function, '__name__', 'f')}({', '.join(map(brief, args))})"
    if not callable(function):
        raise Wrong(tried, brief(function), "a function", "The check calls your answer: give it the function, not a result.")
    try:
        got = function(*(a.copy() if isinstance(a, np.ndarray) else a for a in args))
    except Exception as error:
        error.tried = tried
        raise
    if got is None and not is_stub(function):
        raise Wrong(tried, "None", options.get("shown") or brief(gives), "Nothing came back: is there a return?")
    expect(got, gives, tried=tried, **options)
    return got


def times(c, sentence):
    """A hint for an answer that is exactly c times the right one."""
    return lambda got, expected: sentence if _same(got, _scaled(c, expected), 1e-5, 0) and np.any(expected) else None


def without(g, sentence="Off by the factor g: multiply by the gradient that arrives."):
    """A hint for an answer that lacks the factor g."""
    return lambda got, expected: sentence if _same(np.multiply(got, g), expected, 1e-5, 1e-9) else None


def _scaled(c, x):
    return [_scaled(c, part) for part in x] if isinstance(x, (tuple, list)) else c * x


def brief(x):
    """A value in one line, as a verdict shows it."""
    if isinstance(x, (float, np.floating)):
        return f"{x:.8g}"
    if isinstance(x, (tuple, list)) and len(x) <= 12:
        return ("[{}]" if isinstance(x, list) else "({})").format(", ".join(map(brief, x)))
    if isinstance(x, np.ndarray):
        if x.size > 24:
            return f"array of shape {x.shape}"
        return re.sub(r"\s+", " ", np.array2string(x, precision=6, separator=", "))
    if callable(x):
        return ("np." if isinstance(x, np.ufunc) else "") + getattr(x, "__name__", type(x).__name__)
    text = repr(x)
    return text if len(text) <= 120 else text[:117] + "…"


def _waits(answer):
    if isinstance(answer, (tuple, list)):
        return any(map(_waits, answer))
    return answer is None or answer is ...


def is_stub(function):
    """Whether the function's body is nothing but `...` or `pass`, apart from a docstring."""
    code = getattr(function, "__code__", None)
    return code is not None and len(code.co_code) <= len((lambda: None).__code__.co_code)


def _same(got, expected, rtol, atol):
    if isinstance(expected, (tuple, list)):
        return (_is_sequence(got) and len(got) == len(expected)
                and all(_same(*pair, rtol, atol) for pair in zip(got, expected)))
    if isinstance(expected, str):
        return isinstance(got, str) and got.strip().lower() == expected.strip().lower()
    if isinstance(expected, (bool, np.bool_)) or not isinstance(expected, (int, float, complex, np.generic, np.ndarray)):
        return type(got) in (bool, np.bool_, type(expected)) and got == expected
    got = _array(got)
    return got is not None and got.shape == np.shape(expected) and np.allclose(got, expected, rtol, atol, equal_nan=True)


def _is_sequence(x):
    return isinstance(x, (tuple, list)) or isinstance(x, np.ndarray) and x.ndim == 1


def _array(x):
    """x as an array of numbers, or None where it is none."""
    try:
        x = np.asarray(x.data if isinstance(x, Tensor) else x)
    except (TypeError, ValueError):      # a ragged list, a list of Tensors
        return None
    return x if x.dtype.kind in "iufc" else None


def _cause(got, expected, hints, rtol, atol):
    """The likely cause of a difference: the author's hints first, then the mistakes that every exercise knows."""
    for hint in hints:
        if isinstance(hint, tuple):
            value, sentence = hint
            if _same(got, value, 1e-5, 1e-9):
                return sentence
        elif (isinstance(expected, (tuple, list)) or _array(got) is not None) and (sentence := hint(got, expected)):
            return sentence
    if isinstance(expected, (tuple, list)):
        if not _is_sequence(got):
            return f"{len(expected)} values were expected, and this is one."
        if len(got) != len(expected):
            return f"{len(expected)} values were expected, and you gave {len(got)}."
        if _same(got[::-1], expected, rtol, atol):
            return "The right numbers in the wrong order: are the two swapped?"
        first = next(i for i in range(len(expected)) if not _same(got[i], expected[i], rtol, atol))
        cause = _cause(got[first], expected[first], (), rtol, atol) if np.ndim(expected[first]) else ""
        return f"Number {first + 1} of {len(expected)} differs. {cause}".strip()
    if isinstance(expected, str):
        return "" if isinstance(got, str) else "The answer is a text, in quotes."
    if isinstance(expected, bool):
        return "" if isinstance(got, (bool, np.bool_)) else "The answer is True or False."
    want, have = _array(expected), _array(got)
    if want is None:
        return ""
    if have is None:
        return f"{'An array' if want.ndim else 'A number'} was expected, and this is of type {type(got).__name__}."
    if want.ndim == 0 and have.ndim:
        return f"A single number was expected, and this holds {have.size}: give the number itself, without brackets."
    if have.shape != want.shape:
        summed = ": sum over the axis that was broadcast." if _broadcast(want.shape, have.shape) else "."
        return f"Shape {have.shape}, where {want.shape} was expected{summed}"
    return _factor(have, want)


def _broadcast(small, large):
    """Whether an array of shape `small` broadcasts to shape `large`."""
    try:
        return np.broadcast_shapes(small, large) == large
    except ValueError:
        return False


def _factor(got, expected):
    """Names the constant c where got = c · expected; a single number is compared with 2, ½ and −1 only."""
    if not np.any(expected) or not np.all(np.isfinite(got)) or not np.any(got):
        return ""
    pivot = np.unravel_index(np.argmax(np.abs(expected)), expected.shape)
    c = got[pivot] / expected[pivot]
    known = {2: "Exactly double.", 0.5: "Exactly half.", -1: "The right size with the wrong sign."}
    for factor, sentence in known.items():
        if np.allclose(got, factor * expected, rtol=1e-5, atol=0):
            return sentence
    if expected.size > 1 and np.allclose(got, c * expected, rtol=1e-5, atol=0):
        return f"Every entry is {c:.4g} times what was expected."
    return ""


def _shortened(error):
    """The error with the learner's own lines, those of `__main__`, and no others."""
    lines = [f"line {line}: {text}" for frame, line in traceback.walk_tb(error.__traceback__)
             if frame.f_globals.get("__name__") == "__main__"
             and (text := linecache.getline(frame.f_code.co_filename, line).strip()) and not text.startswith("check(")]
    return "\n".join([*lines[-6:], f"{type(error).__name__}: {error}"])      # the last six: recursion has a thousand


def registered():
    """Imports every lesson's module and returns {lesson number: module}; for the tests."""
    files = sorted(Path(__file__).parent.glob("lesson_*.py"))
    return {file.stem[-2:]: import_module(f"{__name__}.{file.stem}") for file in files}
