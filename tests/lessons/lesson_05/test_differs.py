"""The end of lesson 05 lists every statement of the library's backward loop that differs from
the learner's.
"""

import ast
import inspect
import json
import re
from pathlib import Path

from autograd_lib import tape

NOTEBOOK = Path(__file__).parents[3] / "notebooks/05_walk_backward.ipynb"
YOURS = {
    "g = ledger.pop(number)",
    "ledger[key] = ledger[key] + gx",
    "ledger[key] = gx",
    "if key in ledger",
}
CHANGES = {  # a word of the row in the lesson's two tables -> the statements of `backward_pass` that make the change
    "heap": {
        "waiting = [(-output.number, output)]",
        "while waiting",
        "_, node = heappop(waiting)",
        "heappush(waiting, (-key, x))",
    },
    "rule": {"grads = input_gradients(node, g)"},
    "yields": {"yield (node, g, grads)"},
    "needed": {
        "number, inputs, edges = (node.number, node.inputs, node.edges)",
        "for i, _ in edges",
        "x, gx = (inputs[i], grads[i])",
    },
    "given": {"ledger = {output.number: g}"},
    "number": {"key = x.number"},
    "changed": {"if number < _values._last_change and inputs", "_values.check_unchanged(node)"},
    "fit": {
        "grads[i] = gx if type(gx) is float64 is type(values[i]) else match_input(gx, node, i)"
    },  # in `input_gradients`
    "again": {
        "if not edges and node.recompute",
        "x = call_recorded(node.recompute, node.inputs, node.level)",
        "ledger[x.number] = g",
        "heappush(waiting, (-x.number, x))",
    },
}


def statements(function):
    """Return every statement of `function` on one line, without its docstring, and only the head
    of `if`, `for` and `while`.
    """
    body = ast.parse(inspect.getsource(function)).body[0].body[1:]
    return {
        ast.unparse(node).splitlines()[0].removesuffix(":")
        for top in body
        for node in ast.walk(top)
        if isinstance(node, ast.stmt)
    }


def test_each_statement_of_the_loop_is_the_learners_or_one_of_the_changes_named():
    said = set().union(YOURS, *CHANGES.values()) - CHANGES["fit"]
    assert statements(tape.backward_pass) == said
    assert CHANGES["fit"] <= statements(tape.input_gradients)


def test_the_lesson_names_these_changes_and_no_others():
    text = next(
        source
        for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
        if "## Differences from the library (optional)" in (source := "".join(cell["source"]))
    )
    rows = re.findall(r"^\| (?!your engine)(.+) \|$", text, re.MULTILINE)
    named = [word for row in rows for word in CHANGES if f"*{word}*" in row]
    assert (
        sorted(named) == sorted(CHANGES)
        and len(rows) == len(CHANGES) == 9
        and "nine changes" in text
    )
