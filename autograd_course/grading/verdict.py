"""Define Verdict, the result of a check, and how it shows values and the learner's errors."""

import linecache
import re
import sys
import traceback
from html import escape
from urllib.parse import urlencode

from ..drawing.table import FAINT, table
from .causes import Cause, Difference, Words, own
from .sentences import named, rows, sentence, shortest


class Verdict:
    """Hold and display the result of a check.

    Parameters
    ----------
    status : str
        "not yet", "wrong" or "right".
    *rows : pairs of str
        (label, text) pairs, shown in this order. A pair with an empty text is left out, and a text
        of more than 2,000 characters is cut. The text of the row "see" is the code of a function,
        shown in HTML as a link to the playground, which draws this function.
    cause : Cause, optional
        The reason why the answer is wrong.
    """

    # Each has a line style and no colour, because colours have other meanings in the lessons.
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
        plain = ("hint", "missing", "but", "note", "look", "see")
        lines = [
            (
                (label, FAINT),
                (
                    _link(text) if label == "see" else escape(text),
                    "" if label in plain else "font-family:monospace",
                ),
            )
            for label, text in self.rows
            if label
        ]
        words = "".join(f"<div>{escape(text)}</div>" for label, text in self.rows if not label)
        return (
            f'<div class="mathjax_ignore" style="border-left:5px {line};padding:2px 12px;line-height:1.5">'
            f'<strong style="font-size:1.25em"><span aria-hidden="true">{icon}</span> {self.status}</strong>{words}'
            f"{table(lines, cell='white-space:pre-wrap;') if lines else ''}</div>"
        )


def _link(text):
    """Return an HTML link to the playground, which shows the gradients of the function in `text`."""
    address = f"playground.ipynb#{urlencode({'text': text})}"
    return f'<a href="{address}">the gradients of <code>{escape(text.splitlines()[-1])}</code> in the Playground</a>'


class Note(str):
    """Hold a remark on a right answer that has no limitation, so that the lesson uses the answer."""


class Wrong(Exception):
    """Report a wrong answer, with its Difference and its Cause.

    Parameters
    ----------
    tried, got, expected : str
        Texts for the verdict: the call that was tried, its result and the expected result.
    hint : str or Cause
        The hint for the learner, or "".
    early : bool
        True if the verdict is shown even if another part of the answer is still a stub.
    """

    def __init__(self, tried, got, expected, hint, *, early=False):
        self.early = early
        self.difference = Difference(*map(Words, (tried, got, expected)))
        self.cause = hint if isinstance(hint, Cause) else own(hint)

    @classmethod
    def of(cls, difference, cause):
        """Create a Wrong from a Difference and a Cause."""
        wrong = cls("", "", "", cause)
        wrong.difference = difference
        return wrong

    def because(self, hint):
        """Return a Wrong with the same Difference and another hint, which is a string or a Cause."""
        wrong = Wrong.of(self.difference, hint if isinstance(hint, Cause) else own(hint))
        wrong.early = self.early
        return wrong

    @property
    def shown(self):
        """Return the texts (tried, got, expected) that a verdict shows."""
        return rows(self.difference)

    def __str__(self):
        return str((*self.shown, sentence(self.cause)))


class NotYet(Exception):
    """Report that the learner has not yet filled in the stub, or a part of it."""


def shortened(error):
    """Return an error's message, below the lines of the learner's code that led to the error.

    Only lines of `__main__` are shown, and at most the last six of these.
    """
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


def not_run(names):
    """Return True if the latest cell in Jupyter has a syntax error and assigns one of `names`.

    No line of such a cell has run, so the names still hold the values of an earlier version of the
    cell.
    """
    shell = "IPython" in sys.modules and sys.modules["IPython"].get_ipython()
    last = getattr(shell, "last_execution_result", None)
    cell = getattr(getattr(last, "info", None), "raw_cell", None) or ""
    return isinstance(getattr(last, "error_before_exec", None), SyntaxError) and any(
        re.search(rf"^(def|class)? *{name}\b", cell, re.MULTILINE) for name in names
    )


def _cell(filename):
    """Return a string such as "cell [7], ", with the number that JupyterLab shows beside the cell.

    Return "" outside Jupyter. `filename` is the name under which IPython compiled the cell.
    """
    shell = "IPython" in sys.modules and sys.modules["IPython"].get_ipython()
    name = shell and shell.compile.format_code_name(filename)
    number = name and re.search(r"\d+", name[1])
    return f"cell [{number[0]}], " if number else ""
