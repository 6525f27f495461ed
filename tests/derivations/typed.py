"""Typed answers for both judges: typed.json, and hostile input."""

import json
from pathlib import Path

from autograd_course.derivations import DERIVATIONS, Derivation, Step
from autograd_course.derivations.expressions import LONGEST

TABLE = json.loads((Path(__file__).parent / "typed.json").read_text(encoding="utf-8"))


def derivation_of(name):
    """Return a derivation of the course, or one of the table."""
    if name in DERIVATIONS:
        return DERIVATIONS[name]
    described = TABLE["derivations"][name]
    letters = {
        letter: value if isinstance(value, str) else tuple(value)
        for letter, value in described["letters"].items()
    }
    steps = tuple(Step(**step) for step in described["steps"])
    return Derivation(letters=letters, sizes=described["sizes"], steps=steps)


HOSTILE = [
    "(" * 3000,
    "-" * 3000,
    "(" * 99 + "x" + ")" * 99,
    "-" * 150 + "x",
    "2^" * 90 + "2",
    "x" * LONGEST,
    "9^9^9^9",
    "1e999",
    "sum_ijk sum_ijk sum_ijk g[i,j]",
    "sum_i sum_j sum_k sum_i g[i,j]",
    '__import__("os").system("false")',
    "lambda: 0",
    "x.__class__",
    "open('progress.json')",
    "[x for x in y]",
    "g[i,j",
    "g[0]",
    "g[i][j]",
    "x_{",
    "^T",
    ".T",
    "x^T^T",
    "sum_",
    "sum_x g",
    "log(0)/0",
    "0/0",
    "x\n+1",
    "x;y",
    "\x00",
    "𝑥",
    "٣",
    "²",
    "½",
    "e",
    "T",
    "sum(x for i in range(3))" * 5,
    "<b>x</b>",
    "$x$",
]
