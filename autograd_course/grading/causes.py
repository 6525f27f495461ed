"""Describe a wrong answer as data: what differs (a Difference) and the reason (a Cause).

The grader works only with these data. The sentences that a learner reads are in sentences.py. Tests
assert on the kind of a Cause, so that every sentence can be reworded without changing a test.
"""

import re
from dataclasses import dataclass, replace

# Python's and NumPy's own messages -> the kind of error. The first pattern that fits counts.
ERRORS = {
    "error: blank": r"'ellipsis'",
    "error: name of another library": r"^name '(torch|F|jnp|jax)' is not defined",
    "error: name of NumPy": r"^name '(sin|cos|tan|sinh|cosh|tanh|arctanh|exp|log|sqrt|pi|sign|maximum|minimum|where|array|zeros|ones|eye|arange|mean|dot|outer)' is",
    "error: name of g": r"^name '(grad_output|grad_out|gout|dout|upstream)' is not defined",
    "error: name of the transpose": r"^name 'T' is not defined",
    "error: name": r"^name '(\w+)' is not defined",
    "error: unset variable": r"local variable '(\w+)'",
    "error: flatten": r"^flatten\(\) takes",
    "error: arguments": r"takes (?:from )?\d.* positional arguments? but \d+ (?:was|were) given|missing \d+ required positional",
    "error: array called": r"'numpy\.ndarray' object is not callable",
    "error: number called": r"'(?:int|float|numpy\.\w+|Tensor)' object is not callable",
    "error: float as whole number": "'float' object cannot be interpreted as an integer",
    "error: truth of an array": "truth value of an array",
    "error: item of many": "can only convert an array of size 1",
    "error: view": "sub-type of ndarray type",
    "error: ragged": "inhomogeneous shape",
    "error: length as dtype": r"Cannot interpret '-?\d+' as a data type",
    "error: transpose": "axes don't match array",
    "error: broadcast": "operands could not be broadcast together",
    "error: NumPy name": r"module 'numpy' has no attribute '(\w+)'",
    "error: array as number": "arrays can be converted to Python scalars",
    "error: negative whole power": "Integers to negative integer powers",
    "error: function as value": "(?:unsupported operand .*'|non-iterable )(?:function|Primitive|ufunc|builtin_function_or_method)\\b",
    "error: caret": r"for \^|bitwise_xor",
    "error: dim": "argument '(?:dim|keepdim)'|Cannot interpret 'True' as a data type",
    "error: create_graph": "argument '(?:create_graph|retain_graph)'",
    "error: gradient": "argument 'gradient'",
    "error: entry of a number": "'(?:int|float|numpy.(?:int|float)\\w+)' object does not support item assignment",
    "error: number attribute": r"'(?:int|float)' object has no attribute '(\w+)'",
    "error: Tensor attribute": r"'numpy\.\w+' object has no attribute '(backward|detach|grad|requires_grad_?)'",
    "error: NumPy already": r"'numpy\.\w+' object has no attribute '(?:numpy|cpu|clone)'",
    "error: in place name": r"'numpy\.\w+' object has no attribute '([a-z]\w*)_'",
    "error: number method": r"'numpy\.(?:float|int)\w+' object has no attribute '(\w+)'",
    "error: array attribute": r"'numpy\.\w+' object has no attribute '(\w+)'",
    "error: list attribute": r"'(list|tuple)' object has no attribute '(\w+)'",
    "error: None as whole number": "'NoneType' object cannot be interpreted as an integer",
    "error: None among numbers": r"'NoneType'|from dtype\('O'\)",
    "error: index": r"index (-?\d+) is out of bounds for axis \d+ with size (\d+)",
    "error: list index": r"(?:list|tuple) index out of range",
    "error: number of indices": r"too many indices for array: array is (\d+)-dimensional, but (\d+)",
    "error: shapes of @": r"matmul: Input operand|shapes .* not aligned",
    "error: recursion": "maximum recursion depth",
}

# Kinds whose sentence says all of it: a line to look at would name another mistake.
SAYS_ALL = {"swapped", "order", "array overwritten", "list overwritten", "result overwritten"}

# Kinds whose sentence mentions facts of the one answer: a count, a factor, a type.
WITH_FACTS = {
    "iterator",
    "a set",
    "one value",
    "number of values",
    "number of parts",
    "one part",
    "several numbers",
    "not an array",
    "not a number",
    "few digits",
    "degrees",
    "base of the logarithm",
    "factor",
    "too large",
    "too small",
    "reversed",
    "rounded",
    "first entry",
    "right elsewhere",
}

# Causes that are certain from one call, so that no other draws need to be tried.
CERTAIN_AFTER_ONE_CALL = {
    "order",
    "nan",
    "first entry",
    "several numbers",
    "a function",
    "not an array",
    "not a number",
    "complex",
    "iterator",
}

# Attributes of an array that a learner may call like a function, as x.size(0) in PyTorch.
CALLED_IN_PYTORCH = {"size", "shape", "ndim", "T", "mT"}

# Kinds that say where an answer is wrong, and not why.
# Kinds in place of which an array that was not filled, from np.empty, is the likelier reason.
MAY_BE_UNFILLED = {"", "first entry", "right elsewhere", "nan", "nearly"}
MAY_BE_UNFILLED |= {"state: second call", "state: other arguments", "state: other g"}
NO_EXPLANATION = {"", "first entry", "right elsewhere"}


@dataclass(frozen=True)
class Part:
    """Name the part that differs in an answer with several parts.

    Parameters
    ----------
    number, count : int
        The position of the part, counted from 1, and the number of all parts.
    alone : bool
        True if all other parts are right.
    inner : Part, optional
        The part that differs inside this part, if this part consists of parts itself.
    name : str
        The learner's name for the part, or "".
    noun : str
        What the parts are: "array" if all of them are arrays, otherwise "number".
    """

    number: int
    count: int
    alone: bool
    inner: "Part | None" = None  # set if this part has parts itself
    name: str = ""  # the learner's name for it
    noun: str = "number"


@dataclass(frozen=True)
class Cause:
    """Hold the reason why an answer is wrong.

    Parameters
    ----------
    kind : str
        A key of sentences.SENTENCES; "own" for a hint of the exercise; "" if the reason is unknown.
    facts : tuple
        The values that the sentence of this kind mentions, such as shapes or a factor.
    text : str
        The text of the exercise's hint, for the kind "own".
    own : bool
        True if the reason comes from the exercise, False if the grader found it.
    by : callable, optional
        The function of the exercise that recognised the mistake and returned `text`. The text may
        contain numbers that differ from call to call.
    part : Part, optional
        The part of the answer that is wrong; None if the Cause applies to the whole answer.
    """

    kind: str = ""
    facts: tuple = ()
    text: str = ""
    own: bool = False
    by: object = None
    part: Part | None = None

    def same_as(self, other):
        """Return True if this Cause and `other` give the same reason.

        The facts, the parts, and the numbers in the text of a hint may differ.
        """
        mine, theirs = ((one.kind, one.by or one.text) for one in (self, other))
        return mine == theirs

    @property
    def of_shape(self):
        """Return True if the reason is a wrong shape."""
        return self.kind.startswith("shape")

    @property
    def certain_after_one_call(self):
        """Return True if one call of the answer is enough to be certain of this Cause."""
        return self.of_shape or self.kind in CERTAIN_AFTER_ONE_CALL


@dataclass(frozen=True)
class Call:
    """Hold a call of the learner's function: the function and its arguments.

    `words` is the exercise's description of the call, or "".
    """

    function: object
    args: tuple
    words: str = ""


@dataclass(frozen=True)
class Note:
    """Represent a result that a verdict describes in words instead of showing its value.

    `kind` is a key of sentences.NOTES.
    """

    kind: str


class Words(str):
    """Mark a string as wording of the exercise, which a verdict shows without quotes."""


@dataclass(frozen=True)
class Difference:
    """Hold a call that was tried, its result and the expected result.

    Parameters
    ----------
    where : Call or Words
        The call, or a description of what was tried.
    got, expected : object
        The result and the expected result. Each is a value, an exception that was raised, a Note,
        or Words.
    entry : tuple of int, optional
        The index of the first entry in which two arrays differ.
    when : str
        A key of sentences.WHEN that tells when the call was made, such as "again" for the second
        call with the same arguments, or "" for an ordinary call.
    """

    where: object
    got: object
    expected: object
    entry: tuple | None = None
    when: str = ""


def own(hint, by=None):
    """Return the Cause for a hint of the exercise.

    `hint` is a string, a Cause, or "" for no hint, which gives an empty Cause. `by` is the function
    of the exercise that returned the hint, if there is one.
    """
    if isinstance(hint, Cause):
        return replace(hint, own=True, by=by)
    return Cause("own", text=hint, own=True, by=by) if hint else Cause()


def needs_facts(hint):
    """Return True if `hint` is a Cause that still lacks the facts that its sentence mentions."""
    return isinstance(hint, Cause) and (hint.of_shape or hint.kind in WITH_FACTS) and not hint.facts


def said(error):
    """Return the message of an error, or a replacement if its `__str__` fails.

    The message of a RecursionError is cut after "exceeded", because the rest depends on where the
    recursion stopped.
    """
    try:
        return (
            str(error).split(" exceeded")[0] + " exceeded"
            if isinstance(error, RecursionError)
            else str(error)
        )
    except Exception:  # a __str__ of the learner's own
        return "(its text cannot be shown)"


def likely(error):
    """Return the likely Cause of a common error of Python or NumPy, or an empty Cause."""
    if isinstance(error, SystemExit):
        return Cause("error: exit")
    text = said(error)[:1000]
    for kind, pattern in ERRORS.items():
        if found := re.search(pattern, text):
            return Cause(kind, found.groups())
    return Cause()
