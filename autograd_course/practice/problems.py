"""Define the classes that all kinds of problem use, and read the answers typed into their boxes."""

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
    """Describe the box for one part of an answer.

    Attributes
    ----------
    label : str
        The text beside the box.
    look : str
        The kind of answer: "number", "shape", "axes", "code" or "tick" (a checkbox).
    group : str
        The heading of the group of boxes that this box is shown in, or "" if there is none.
    """

    label: str
    look: str = "number"
    group: str = ""


@dataclass
class Mark:
    """Hold the result of judging the answer in one box.

    Attributes
    ----------
    good : bool or None
        True for a right answer, and False for a wrong answer. None for a text that cannot be read;
        such a text does not count as a mistake.
    hint : str
        The hint that is shown to the learner, or "" if there is none.
    """

    good: bool | None
    hint: str = ""


@dataclass
class Problem:
    """Hold one problem.

    Attributes
    ----------
    key : str
        The name of the skill that the problem trains, such as "walk.paths".
    question : str
        The question as Markdown, with formulas between dollar signs.
    boxes : list of Box
        The boxes for the parts of the answer.
    judge : callable
        `judge(texts)` takes the texts in the boxes. It returns a list with one item for each
        box: a Mark, or None if the text is empty.
    picture : callable
        `picture(texts, marks)` returns the Picture beside the question. `texts` holds the texts in
        the boxes, and `marks` is the result of `judge`. Both are [] before the first check.
    reveal : str
        Markdown that begins with the answer.
    right : list of str
        A right answer for every box.
    wrong : list of (int, str, str)
        Known mistakes: the index of the box, from 0, the wrong answer, and a text that the hint for
        this answer contains.
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
    """Return a list with one item for each text: a Mark, or None if the text is empty.

    `judge_one(i, text)` judges the text in the box with the index i, from 0. It returns a Mark, or
    raises ValueError if the text cannot be read; the message of the error is then the hint.
    """
    marks = []
    for i, text in enumerate(texts):
        try:
            marks.append(judge_one(i, text) if text.strip() else None)
        except ValueError as unclear:
            marks.append(Mark(None, str(unclear)))
    return marks


def hint_of(mistakes, explains):
    """Return the hint for a wrong answer, or "" if no known mistake explains it.

    If several mistakes lead to the same answer, the first two different hints are joined by "Or:".

    Parameters
    ----------
    mistakes : list of (object, str)
        The answer to which each known mistake leads, and its hint.
    explains : callable
        `explains(wrong)` returns True if the learner's answer equals `wrong`.
    """
    found = list(dict.fromkeys(hint for wrong, hint in mistakes if explains(wrong)))
    return " Or: ".join(found[:2])


# --- Limits for integers and loops ------------------------------------------------------------------------------------

SIGNS = str.maketrans({"−": "-", "–": "-", "·": "*", "×": "*", "÷": "/", "\u00a0": " "})
TOO_LARGE = "is too large to compute. Use smaller numbers."
MOST_BITS = 10_000  # 3,000 digits: Python computes every digit of an integer and cannot be interrupted meanwhile


def _bits(node):
    """Return an upper bound for the number of bits of the integer that an expression evaluates to.

    The result is 0 for other expressions: floats and arrays need no bound, because they cannot grow
    without limit.
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
    """Return `range(*bounds)`, and raise StepLimitExceeded if it is longer than MOST_TURNS.

    This limit is needed because the step limit of the sandbox does not count the iterations of `sum`
    or `list` over a range.
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
    """Hold one Python expression that the learner typed.

    Parameters
    ----------
    text : str
        The expression. Signs such as − and · are converted to Python, and a leading `return` is
        removed.

    Raises
    ------
    ValueError
        If the text is not a single expression, or computes an integer that is too large.
    """

    text: str

    def __post_init__(self):
        self.text = self.text.translate(SIGNS).strip().removeprefix("return ")
        try:
            tree = ast.parse(self.text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ValueError(
                f"“{self.text}” is not a single Python expression. Check that the brackets match, that every * "
                "is written, that comparisons use ==, and that every if has an else."
            ) from None
        for node in ast.walk(tree):
            if _bits(node) > MOST_BITS:
                raise ValueError(f"“{ast.get_source_segment(self.text, node)}” {TOO_LARGE}")
        self.is_lambda = isinstance(tree, ast.Lambda)

    @cached_property
    def code(self):
        return compile(self.text, "<your line>", "eval")

    def function(self, letters):
        """Return the line as a function with the parameters `letters`, for example "g, z, x".

        If the line is a lambda, return this lambda, whatever `letters` is.
        """
        return eval(
            self.text if self.is_lambda else f"lambda {letters}: (\n{self.text}\n)", dict(NAMES)
        )


def trouble(error):
    """Return a hint for an error that the learner's line raised."""
    if isinstance(error, StepLimitExceeded):
        return "Your line takes too many steps, or never finishes."
    if isinstance(error, NameError):
        return f"{error.name} is not defined here: the question lists the letters that your line may use."
    if "numpy boolean" in said(error):
        return "NumPy's True and False cannot be negated with a minus: convert the comparison to a number, 1 * (…)."
    return f"{type(error).__name__}: {said(error).rstrip('.')}. {sentence(likely(error))}".strip()
