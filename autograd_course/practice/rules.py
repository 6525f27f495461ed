"""Write the rule of a row: what goes to one input of an op, as one line in g, z and the inputs."""
import inspect
from functools import cache

import numpy as np

from autograd_lib import ops

from ..ask.compare import Endless
from ..ask.probes import expect_rule, of_rule
from ..ask.same_line import same_line
from ..ask.verdict import NotYet, Wrong
from ..show.picture import Picture
from ..show.rules import AHEAD, FORMULAS, body, derived, letters_of
from .problems import Box, Line, Mark, Problem, judged, trouble

# Rows that are not elementwise, with what their rules are tried on.
ARRAYS = {
    "reshape": ([(2, 3)], {"shape": (3, 2)}), "squeeze": ([(2, 1, 3)], {"axis": 1}), "expand_dims": ([(2, 3)],
                                                                                                     {"axis": 1}),
    "matmul": ([(2, 3), (3, 4)], {}), "softmax": ([(2, 3)], {"axis": 1}), "log_softmax": ([(2, 3)], {"axis": 1}),
}
TOO_LONG = {"gelu", "clip"}      # for one line, or as good as `where`


def _keys():
    """{"rule.multiply.x": the lesson that derives it}"""
    found = {}
    for name, lesson in derived().items():
        row = ops.ROWS[name]
        if lesson and name not in TOO_LONG and (row.kind == "elementwise" or name in ARRAYS):
            letters = letters_of(row)[0][2:]
            found.update({f"rule.{name}.{letter}": AHEAD.get((name, letter), lesson)
                          for letter, rule in zip(letters, row.rules) if rule})
    return found


KEYS = _keys()
TITLES = {key: "z = {}, to {}".format(FORMULAS.get(key.split(".")[1], key.split(".")[1]), key.split(".")[2])
          for key in KEYS}


def make(key, rng):
    """A Problem: of a row and a letter there is one."""
    _, name, letter = key.split(".")
    row = ops.ROWS[name]
    letters, keywords = letters_of(row)
    argument = letters.index(letter) - 2
    formula = FORMULAS.get(name, f"{name}({', '.join(letters[2:] + keywords)})")
    parameters = str(inspect.signature(row.rules[argument]))[1:-1]      # "g, z, x, axis=-1"
    may = ", ".join(f"`{one}`" for one in letters + keywords)

    def judge(texts):
        return judged(texts, lambda i, text: _judge(row, argument, Line(text).function(parameters)))

    said = f"z = {formula}\ng arrives at z. What goes to {letter}?"
    return Problem(
        key, f"$g$ arrives at z = {formula}. **What goes to {letter}?** One line of Python; it may read {may}, and "
             f"NumPy as `np`.",
        [Box(f"to {letter}:", "code")], judge, lambda texts, marks: Picture("", said),
        f"`{_ours(row, argument)}`, as the library has it.",
        [_ours(row, argument)],
        [(0, wrong, hint) for wrong, hint in mistakes(row, argument, letters)])


def _ours(row, argument):
    """The library's rule as one line; the lesson's where the library's also minds a point at which the slope is
    stated."""
    return DERIVED.get((row.name, argument)) or body(row.rules[argument])[0].removeprefix("return ")


DERIVED = {("power", 0): "g * y * x ** (y - 1)", ("power", 1): "g * z * np.log(x)"}


@cache
def tried_on(name):
    """(inputs, keywords) that expect_rule takes for a row: its own choice where it is elementwise."""
    if name not in ARRAYS:
        return None, {}
    shapes, keywords = ARRAYS[name]
    rng = np.random.default_rng(5)
    return [tuple(rng.normal(size=shape).round(2) for shape in shapes) for _ in range(2)], keywords


def _judge(row, argument, rule):
    """same_line says whether it is right; what expect_rule recognises is the hint."""
    compared = same_line(rule, row, argument)
    if compared.status == "right":
        same = compared.lines[0].verdict.startswith("same line")
        return Mark(True, "" if same else " ".join(f"{label} {text}".strip() for label, text in compared.lines[0].note))
    inputs, keywords = tried_on(row.name)
    try:
        expect_rule(rule, row, argument, inputs=inputs, **keywords)
    except NotYet:
        raise ValueError("The dots are to be replaced.") from None
    except Wrong as wrong:
        tried, got, right, hint = wrong.args
        right = "0" if right == "-0" else right
        return Mark(False, f"{hint} With {tried.partition(', with ')[2] or tried}, yours gives {got}, and {right} is "
                           f"right.".strip())
    except (Exception, SystemExit, Endless) as error:
        return Mark(False, trouble(error))
    return Mark(False, " ".join(f"{label} {text}".strip() for label, text in compared.lines[0].note))


# --- Wrong rules, as learners write them ------------------------------------------------------------------------------

def mistakes(row, argument, letters):
    """[(a wrong line, a piece of the hint that it must get), …], those that are wrong for this row."""
    ours = _ours(row, argument)
    others = [(_ours(row, i), f"goes to {letters[2 + i]}") for i in range(len(row.rules)) if i != argument
              and row.rules[i]]
    made = [(f"-({ours})", "wrong sign"), *others, ("g * z", "g times the value")]
    if row.kind == "elementwise":
        made += [(f"(lambda g: {ours})(1)", "factor g"), (f"g + (lambda g: {ours})(1)", "g is added"),
                 (f"g * ({ours})", "g is in it twice")]
    inputs, keywords = tried_on(row.name)
    # some are right for this row
    known = [sentence for _, sentence in of_rule(row, argument, inputs=inputs, **keywords)]
    return [(wrong, hint) for wrong, hint in made if any(hint in sentence for sentence in known)]
