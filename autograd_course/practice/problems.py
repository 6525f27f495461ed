"""Define what all kinds of problem share, and the notation that their boxes accept."""

import ast
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import autograd_lib as ag

from ..grading.causes import likely, said
from ..grading.sandbox import StepLimitExceeded
from ..grading.sentences import sentence


@dataclass
class Box:
    """Hold the box for one part of an answer.

    `look` is "number", "shape", "axes", "code" or "tick"; boxes of one `group` are shown together.
    """

    label: str
    look: str = "number"
    group: str = ""


@dataclass
class Mark:
    """Hold the judge's result for one box.

    `good` is None for a text that cannot be read, which is not yet a mistake.
    """

    good: bool | None
    hint: str = ""


@dataclass
class Problem:
    """Hold one problem.

    `key` names the skill that the problem trains, such as "walk.paths". Texts are Markdown with
    $maths$; `reveal` begins with the answer.

    `judge(texts)` returns, for each of the boxes, a Mark, or None for an empty text.
    `picture(texts, marks)` returns a Picture; `marks` is [] before the first check. `right` are
    texts that `judge` calls right; `wrong` is [(number of the box, text, hint), …].
    """

    key: str
    question: str
    boxes: list
    judge: object
    picture: object
    reveal: str
    right: list
    wrong: object = ()


def judged(texts, judge_one):
    """Return a Mark for each text, or None for an empty text.

    `judge_one(i, text)` returns a Mark, or raises ValueError if the text cannot be read.
    """
    marks = []
    for i, text in enumerate(texts):
        try:
            marks.append(judge_one(i, text) if text.strip() else None)
        except ValueError as unclear:
            marks.append(Mark(None, str(unclear)))
    return marks


def hint_of(mistakes, explains):
    """Return the hints of all mistakes that explain an answer, two at most.

    Several mistakes may give the same number.
    """
    found = list(dict.fromkeys(hint for wrong, hint in mistakes if explains(wrong)))
    return " Or: ".join(found[:2])


# --- Whole numbers without an end -------------------------------------------------------------------------------------

SIGNS = str.maketrans({"−": "-", "–": "-", "·": "*", "×": "*", "÷": "/", "\u00a0": " "})
TOO_LARGE = "is too large to be worked out."
MOST_BITS = 10_000  # 3,000 digits: Python computes every digit of an integer and cannot be interrupted meanwhile


def _bits(node):
    """Return an upper bound for the bits of a whole number; 0 for other values.

    Floats and arrays need no bound, because they have a largest value.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value.bit_length()
    if isinstance(node, ast.Name) and node.id in "ijklnm":
        return 4  # indices, and the sizes of what they run over
    if isinstance(node, ast.UnaryOp):
        return _bits(node.operand)
    if isinstance(node, ast.BinOp):
        left, right = _bits(node.left), _bits(node.right)
        if isinstance(node.op, ast.Add | ast.Sub):
            return max(left, right) + 1 if left and right else 0
        if isinstance(node.op, ast.Mult):
            return left + right if left and right else 0
        if isinstance(node.op, ast.Pow):
            return left * 2 ** min(right, 64)
        if isinstance(node.op, ast.LShift):
            return left + 2 ** min(right, 64)
    return 0


MOST_TURNS = 100_000


def _range(*bounds):
    """Return Python's range; raise StepLimitExceeded if it is longer than MOST_TURNS.

    The step limit does not count how often `sum` or `list` runs through a range.
    """
    found = range(*bounds)
    if len(found) > MOST_TURNS:
        raise StepLimitExceeded
    return found


# --- One line of Python -----------------------------------------------------------------------------------------------

# Names that a line may use besides its letters: NumPy, the library, and their functions by bare name.
NAMES = {
    "np": np,
    "ag": ag,
    "inf": np.inf,
    "pi": np.pi,
    "range": _range,
    **{
        name: getattr(np, name)
        for name in [
            "exp",
            "log",
            "sqrt",
            "sin",
            "cos",
            "tanh",
            "sign",
            "where",
            "maximum",
            "minimum",
            "ones_like",
            "zeros_like",
            "mean",
        ]
    },
    **{name: getattr(ag, name) for name in ["sigmoid", "relu", "softmax"]},
}


@dataclass
class Line:
    """Hold one expression of Python as it was typed.

    Raises ValueError if the text is not an expression; the message says what to check.
    """

    text: str

    def __post_init__(self):
        self.text = self.text.translate(SIGNS).strip().removeprefix("return ")
        try:
            tree = ast.parse(self.text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ValueError(
                f"“{self.text}” is not one expression of Python: do the brackets match, is every * "
                "written, does a comparison have ==, and an if its else?"
            ) from None
        for node in ast.walk(tree):
            if _bits(node) > MOST_BITS:
                raise ValueError(f"“{ast.get_source_segment(self.text, node)}” {TOO_LARGE}")
        self.is_lambda = isinstance(tree, ast.Lambda)

    @cached_property
    def code(self):
        return compile(self.text, "<your line>", "eval")

    def function(self, letters):
        """Return the line as a function of these letters; return a lambda unchanged."""
        return eval(
            self.text if self.is_lambda else f"lambda {letters}: (\n{self.text}\n)", dict(NAMES)
        )


def trouble(error):
    """Describe an error of the learner's line in words."""
    if isinstance(error, StepLimitExceeded):
        return "Your line does not end, or ends only after too many steps."
    if isinstance(error, NameError):
        return f"{error.name} is not defined here: the question lists the letters that your line may use."
    if "numpy boolean" in said(error):
        return "NumPy's True and False cannot be negated with a minus: convert the comparison to a number, 1 * (…)."
    return f"{type(error).__name__}: {said(error).rstrip('.')}. {sentence(likely(error))}".strip()
