"""Create problems that ask for the backward rule of an operation, as one line of Python.

A row is an operation of the library, an entry of the table `autograd_lib.ops.ROWS`. Its rules are
functions of the upstream gradient g, the output z and the inputs; each returns the gradient of one
input.
"""

import inspect
from functools import cache

import numpy as np

from autograd_lib import ops

from ..drawing.picture import Picture
from ..drawing.rules import AHEAD, FORMULAS, body, derived, letters_of
from ..grading.rule_checks import expect_rule, format_arguments, of_rule
from ..grading.same_line import STATED, same_line
from ..grading.sandbox import StepLimitExceeded
from ..grading.sentences import sentence
from ..grading.verdict import NotYet, Wrong
from .problems import Box, Line, Mark, Problem, judged, trouble

# Rows that are not elementwise, with what their rules are tried on.
ARRAYS = {
    "reshape": ([(2, 3)], {"shape": (6,)}),
    "squeeze": ([(2, 1, 3)], {"axis": 1}),
    "expand_dims": ([(2, 3)], {"axis": 1}),
    "matmul": ([(2, 3), (3, 4)], {}),
    "softmax": ([(2, 3)], {"axis": 1}),
    "log_softmax": ([(2, 3)], {"axis": 1}),
}
Z_IS = FORMULAS | {"matmul": "x @ y"}  # in the letters that a line may use
TOO_LONG = {"gelu", "clip"}  # too long for one line, or nearly the same as `where`


def _keys():
    """Return a dict that maps the keys of rules that fit on one line to the lessons that derive them.

    A key such as "rule.multiply.x" names an operation and an input.
    """
    found = {}
    for name, lesson in derived().items():
        row = ops.ROWS[name]
        if lesson and name not in TOO_LONG and (row.kind == "elementwise" or name in ARRAYS):
            letters = letters_of(row)[0][2:]
            found.update(
                {
                    f"rule.{name}.{letter}": AHEAD.get((name, letter), lesson)
                    for letter, rule in zip(letters, row.rules)
                    if rule
                }
            )
    return found


KEYS = _keys()
TITLES = {
    key: "z = {}, gradient of {}".format(
        Z_IS.get(key.split(".")[1], key.split(".")[1]), key.split(".")[2]
    )
    for key in KEYS
}


def make(key, rng):
    """Return the Problem for a key such as "rule.multiply.x".

    There is only one problem for each key; `rng` is not used.
    """
    _, name, letter = key.split(".")
    row = ops.ROWS[name]
    letters, keywords = letters_of(row)
    argument = letters.index(letter) - 2
    formula = Z_IS.get(name, f"{name}({', '.join(letters[2:] + keywords)})")
    parameters = str(inspect.signature(row.rules[argument]))[1:-1]  # "g, z, x, axis=-1"
    may = ", ".join(f"`{one}`" for one in letters + keywords)

    def judge(texts):
        return judged(texts, lambda i, text: _judge(row, argument, Line(text).function(parameters)))

    said = f"z = {formula}, with the upstream gradient g. What is the gradient of {letter}?"
    return Problem(
        key,
        f"$g$ is the upstream gradient of z = {formula}. **What is the gradient of {letter}?** Write one line of Python. It may use {may}, and "
        f"NumPy as `np`.",
        [Box(f"gradient of {letter}:", "code")],
        judge,
        lambda texts, marks: Picture("", said),
        f"`{_ours(row, argument)}`.",
        [_ours(row, argument)],
        [(0, wrong, hint) for wrong, hint in mistakes(row, argument, letters)],
    )


def _ours(row, argument):
    """Return the right rule for an input of a row as one line of Python.

    `argument` is the number of the input, from 0. The line is the library's rule. If that rule also
    handles special cases, the line is the simpler rule that the lesson derives, from DERIVED.
    """
    return DERIVED.get((row.name, argument)) or body(row.rules[argument])[0].removeprefix("return ")


DERIVED = {
    ("power", 0): "g * y * x ** (y - 1)",
    ("power", 1): "g * z * np.log(x)",
    ("relu", 0): "np.where(x > 0, g, 0)",
    ("where", 1): "np.where(c, g, 0)",
}


@cache
def rule_inputs(name):
    """Return the inputs and keywords with which to test a rule of the row called `name`.

    Returns
    -------
    inputs : list of tuple, or None
        The values of the inputs for each test. None for an elementwise row, for which `expect_rule`
        chooses the inputs.
    keywords : dict
        The keyword arguments of the operation, such as {"axis": 1}.
    """
    if name == "where":  # c is a condition
        return [
            (True, 1.65, -1.35),
            (False, 1.65, -1.35),
            (
                np.array([True, False, True]),
                np.array([0.49, 0.82, -2.06]),
                np.array([1.25, -0.3, 0.7]),
            ),
        ], {}
    if name not in ARRAYS:
        return None, {}
    shapes, keywords = ARRAYS[name]
    rng = np.random.default_rng(5)
    return [tuple(rng.normal(size=shape).round(2) for shape in shapes) for _ in range(2)], keywords


AS_SENTENCE = {
    "tried": "with {},",
    "yours gives": "yours gives {},",
    "library gives": "and the library gives {}.",
}


def _judge(row, argument, rule):
    """Return the Mark for `rule`, the function that the learner wrote.

    `same_line` decides whether the rule is right. If it is wrong, the hint comes from `expect_rule`.
    `argument` is the number of the input whose gradient the rule computes.
    """
    compared = same_line(rule, row, argument)
    note = " ".join(
        AS_SENTENCE.get(label, "{}").format(text) for label, text in compared.lines[0].note
    )
    note = note[:1].upper() + note[1:]
    if compared.status == "right":
        same = compared.lines[0].verdict.startswith("same line")
        return Mark(True, "" if same else note)
    if compared.lines[0].fault == "endless":
        return Mark(False, trouble(StepLimitExceeded()))
    inputs, keywords = rule_inputs(row.name)
    parameters = str(inspect.signature(row.rules[argument]))[1:-1]
    known = [
        (Line(line).function(parameters), hint)
        for line, hint in WRONG.get((row.name, argument), ())
    ]
    try:
        expect_rule(rule, row, argument, inputs=inputs, hints=known, **keywords)
    except NotYet:
        raise ValueError("Replace the dots with your line.") from None
    except Wrong as wrong:
        given = wrong.difference.where.args
        # there the rule that is derived gives nan too
        if row.name in STATED and not any(np.any(x) for x in given[2:]):
            return Mark(False, note)
        _, got, right = wrong.shown
        here = f"With {format_arguments(row, given)}, your line gives {got}, but {right} is right."
        return Mark(False, f"{here} {sentence(wrong.cause)}".strip())
    except (Exception, SystemExit, StepLimitExceeded) as error:
        fits = FITS.get(row.name, "") if isinstance(error, ValueError) else ""
        return Mark(False, f"{trouble(error)} {fits}".strip())
    return Mark(False, note)


# --- Wrong rules, as learners write them ------------------------------------------------------------------------------

FITS = {
    "matmul": "With x of shape (n, k) and y of shape (k, m), g has shape (n, m): which "
    "product has the shape of the gradient?",
    "softmax": "Does a sum lose its axis there? keepdims=True keeps it.",
    "log_softmax": "Does a sum lose its axis there? keepdims=True keeps it.",
}
OWN = "np.sum(g * z, axis=axis, keepdims=True)"
TIES = "At a tie, x and y share the upstream gradient: each receives half."
BOTH = "At a tie, that sends all of g to x and all of g to y, 2g in total."
WHICH = "Where the result is the other input, the gradient of this input is 0."
OTHER = "That is the gradient of the other input, except at a tie."
# Wrong lines with their hints, by row and argument. A hint is shown if the learner's line has the same
# values as the wrong line for every input tried.
WRONG = {
    ("divide", 0): [
        (line, "The slope of a division by y is 1 / y.") for line in ("g * y", "g", "g / z")
    ],
    ("divide", 1): [
        ("-g * x / y", "1 / y has slope −1 / y²: the denominator contains y twice."),
        ("-g / y ** 2", "The factor x is missing: x multiplies 1 / y, whose slope is −1 / y²."),
        ("-g", "That is the rule of x − y. Here x multiplies 1 / y, whose slope is −1 / y²."),
    ],
    ("power", 0): [
        ("g * x ** (y - 1)", "The factor y is missing."),
        ("g * y * z", "The exponent must be one less: x ** (y − 1)."),
    ],
    ("power", 1): [
        (
            "g * np.log(x)",
            "The factor z is missing: xʸ is e to the power of y · log x, and the slope of eᵘ is eᵘ itself.",
        ),
        *(
            (line, "log z is y · log x, and its slope with respect to y is log x.")
            for line in ("g * z * np.log(z)", "g * np.log(z)")
        ),
    ],
    ("tanh", 0): [
        ("g * (1 - z)", "The square is missing: 1 − z²."),
        ("g * z * (1 - z)", "That is the rule of the sigmoid."),
        ("g * (1 + z ** 2)", "A sign is wrong in 1 − z²: where |z| is close to 1, tanh is flat."),
    ],
    ("sigmoid", 0): [
        ("g * (1 - z ** 2)", "That is the rule of tanh."),
        ("g * (1 - z)", "A factor z is missing: z · (1 − z)."),
    ],
    ("softplus", 0): [
        (
            "g * np.exp(x)",
            "That is only the slope of 1 + eˣ. The outer function, log, has slope 1 / (1 + eˣ) there.",
        ),
        (
            "g / (1 + np.exp(x))",
            "That is only the slope of the logarithm. Its argument, 1 + eˣ, has slope eˣ.",
        ),
    ],
    ("abs", 0): [
        ("g", "Right where x is above 0. Below 0, |x| falls as x grows."),
        ("-g", "Right where x is below 0. Above 0, |x| grows with x."),
        ("g * x", "The slope is the sign of x, not x."),
    ],
    ("relu", 0): [("g", "Right where x is above 0. Below 0, z is constant.")],
    ("maximum", 0): [
        ("g / 2", WHICH),
        ("g", WHICH),
        ("g * (x > y)", TIES),
        ("g * (x >= y)", BOTH),
        ("g * (x < y)", OTHER),
    ],
    ("maximum", 1): [
        ("g / 2", WHICH),
        ("g", WHICH),
        ("g * (y > x)", TIES),
        ("g * (y >= x)", BOTH),
        ("g * (y < x)", OTHER),
    ],
    ("minimum", 0): [
        ("g / 2", WHICH),
        ("g", WHICH),
        ("g * (x < y)", TIES),
        ("g * (x <= y)", BOTH),
        ("g * (x > y)", OTHER),
    ],
    ("minimum", 1): [
        ("g / 2", WHICH),
        ("g", WHICH),
        ("g * (y < x)", TIES),
        ("g * (y <= x)", BOTH),
        ("g * (y > x)", OTHER),
    ],
    ("where", 1): [("g", "Where c does not hold, x is not read.")],
    ("where", 2): [
        ("g", "Where c holds, y is not read."),
        *(
            (
                line,
                "Where c is Python's own True, ~c is −2. np.logical_not(c) is right for both kinds.",
            )
            for line in ("np.where(~c, g, 0)", "g * ~c")
        ),
    ],
    ("softmax", 0): [
        (
            "g * z * (1 - z)",
            "That is only the path from each x to its own z. Through the sum in the denominator, x reaches the other outputs too.",
        ),
        (
            "z * (g - np.sum(g * z))",
            "That sums over everything. Each row has its own sum: axis=axis, keepdims=True.",
        ),
        (
            "z * (g - np.mean(g * z, axis=axis, keepdims=True))",
            "The gradients of the sum in the denominator are added, not averaged.",
        ),
        (f"z * (g + {OWN})", "A sign is wrong: if one probability grows, the others shrink."),
        (f"g - z * {OWN}", "The direct path has a factor too: z times g."),
    ],
    ("log_softmax", 0): [
        (
            f"z * (g - {OWN})",
            "That is the rule of softmax. Here z is x minus the log of a sum: derive that.",
        ),
        (
            "g - z * np.sum(g, axis=axis, keepdims=True)",
            "z is a logarithm here: the weights are exp(z).",
        ),
        (
            "g - np.exp(z) * np.sum(g)",
            "That sums over everything. Each row has its own sum: axis=axis, keepdims=True.",
        ),
        (
            "g - np.exp(z) * np.mean(g, axis=axis, keepdims=True)",
            "The gradients of the logarithm are added, not averaged.",
        ),
        (
            "g + np.exp(z) * np.sum(g, axis=axis, keepdims=True)",
            "A sign is wrong: the logarithm is subtracted.",
        ),
        (
            "g - np.exp(z) * g",
            "That is only the path from each x to its own z. Through the sum, x reaches the other outputs too.",
        ),
    ],
}


def mistakes(row, argument, letters):
    """Return a list of known mistakes in the rule for an input of a row.

    Parameters
    ----------
    row : Primitive
        The operation.
    argument : int
        The position of the input, from 0.
    letters : list of str
        The names of g, z and the inputs, in this order.

    Returns
    -------
    list of (str, str)
        The wrong line for each mistake, and a text that must occur in the hint for this line. A
        line that is right for this row is left out.
    """
    ours = _ours(row, argument)
    others = [
        (_ours(row, i), f"gradient of {letters[2 + i]}")
        for i in range(len(row.rules))
        if i != argument and row.rules[i]
    ]
    made = [(f"-({ours})", "wrong sign"), *others, ("g * z", "g times the value")]
    if row.kind == "elementwise":
        made += [
            (f"(lambda g: {ours})(1)", "factor g"),
            (f"g + (lambda g: {ours})(1)", "g is added"),
            (f"g * ({ours})", "it contains g twice"),
        ]
    inputs, keywords = rule_inputs(row.name)
    # some are right for this row
    known = [sentence(hint) for _, hint in of_rule(row, argument, inputs=inputs, **keywords)]
    return [
        (wrong, hint) for wrong, hint in made if any(hint in sentence for sentence in known)
    ] + [*WRONG.get((row.name, argument), ())]
