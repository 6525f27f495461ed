"""Turn the data of causes.py into the sentences that a learner reads.

No other module of the grader contains these sentences.
"""

import inspect
import re

import numpy as np

import autograd_lib
from autograd_lib.hints import hint_for

from .causes import Call, Note, Words, said
from .same import as_numbers
from .sandbox import StepLimitExceeded

SENTENCES = {
    # what kind of thing came back
    "iterator": "The result is of type {0}, which can be read only once. Convert it to a list: list(…).",
    "a set": "Expected {0} values in order, got a set, which has no order.",
    "one value": "Expected {0} values, got one.",
    "number of values": "Expected {0} values, got {1}.",
    "number of parts": "Expected {0} values, got {1}: write them in the order shown, in brackets.",
    "one part": "Expected {0} values, got one: write them in the order shown, in brackets.",
    "not a text": "Expected a string, in quotes.",
    "not a truth value": "Expected True or False.",
    "a comparison times g": "This is a Boolean. Python compares last, so put the comparison in parentheses. "
    "Multiply g by it: g * (…).",
    "truth values": "Expected numbers, got True or False for each entry.",
    "several numbers": "Expected a single number, got a list or an array (number of entries: {0}): is a sum missing, or is there a bracket or a comma too many?",
    "a function": "The result is a function. Call it, with its argument in parentheses.",
    "not an array": "Expected an array, got an object of type {0}.",
    "not a number": "Expected a number, got an object of type {0}.",
    "complex": "Expected a real number, got a complex number: x.real and x.imag are its parts.",
    # the shape
    "shape": "Expected shape {1}, got {0}.",
    "shape: not summed": "Expected shape {1}, got {0}: sum over the axis that was broadcast.",
    "shape: axis of 1 lost": "Expected shape {1}, got {0}: an axis of length 1 is missing. A sum or a mean keeps it "
    "with keepdims=True; squeeze, ravel and a single index remove it.",
    "shape: transposed": "Expected shape {1}, got {0}: is the result transposed?",
    "shape: axis lost": "Expected shape {1}, got {0}: axis {2} is missing.",
    "shape: other layout": "Expected shape {1}, got {0}: the number of entries is right.",
    # the numbers
    "nan": "The result is nan, as from 0/0, inf/inf, 0 · inf, inf − inf, or the root or log of a negative number.",
    "swapped": "The right values in the wrong order: are the two swapped?",
    "order": "The right values in the wrong order: are two of them swapped?",
    "few digits": "Right to the {0} digits that a {1} holds. NumPy computes in float64, with 15 digits, unless you pass "
    "a different dtype.",
    "no g": "Off by the factor g: the upstream gradient is missing or cancels. Multiply by it once.",
    "not linear in g": "A rule is linear in g: for −g its result changes sign, and for 2g it doubles. Here, your rule's result does not.",
    "double": "Exactly double.",
    "half": "Exactly half.",
    "sign": "The absolute value is right, but it has the wrong sign.",
    "degrees": "Off by the factor {0}: degrees, where radians are meant?",
    "base of the logarithm": "Off by the factor {0}: which base does your logarithm have?",
    "nearly": "Nearly right, less than 0.005 % off. The cause may be a difference quotient, a rounded number, or a "
    "small number that was added.",
    "last digits": "About nine digits are right. Digits are lost by rounding, by subtracting nearly equal numbers, and "
    "by adding a small number to a large one.",
    "factor": "Every entry is {0:.4g} times what was expected.",
    "too large": "Every entry is {0:.4g} too large.",
    "too small": "Every entry is {0:.4g} too small.",
    "transposed": "The right numbers, but transposed.",
    "layout": "The right numbers in other places: reshape keeps the entries in their order, but a transpose "
    "changes it.",
    "reversed": "The right numbers, in reverse order along axis {0}.",
    "other places": "The right numbers in other places.",
    "cut off": "The result was truncated to whole numbers: is there a //, an int( ), or an array of integers?",
    "rounded": "Right, but rounded to {0} decimals: keep all decimals.",
    "rounded to 1": "Right, but rounded to 1 decimal: keep all decimals.",
    "first entry": "The first entry that differs is {0}.",
    "right elsewhere": "Your answer is right in a different case: {0}. What is different here?",
    # what the function does
    "not a function": "The check calls your answer, so pass the function itself, not a result.",
    "function in a tuple": "Expected a function, got a list or tuple that contains one: is a comma or a bracket in the wrong place?",
    "endless": "Your function does not end: what should become smaller, or become False, so that the loop stops?",
    "waits": "Your function waits for input() or sleep(). The check passes all inputs as arguments, and types nothing.",
    "printed": "Your function prints the result and returns None: write return instead of print.",
    "nothing": "Your function returned None. Write return in front of the result. Does every branch return a value? (x -= 1 returns nothing; list.sort, list.reverse, list.append and np.add.at return None.)",
    "array overwritten": "Your function modifies the caller's array. -= and *= do that too. Make a new array: write x - … "
    "instead of x -= ….",
    "list overwritten": "Your function modifies the caller's list. Make a new list instead.",
    "result overwritten": "Your function returns the same array every time and overwrites it at the next call, so "
    "earlier results change. Create a new array inside the function.",
    "np.empty": "np.empty reserves memory and leaves in it whatever was there before. If you add into the array, begin with np.zeros.",
    "state: second call": "The first call is right, but the second call returns a different result for the same arguments: "
    "your function keeps something between the calls.",
    "state: other arguments": "The result is right when the call is repeated: your function keeps something from an earlier call with other arguments.",
    "state: other g": "The result is right for new arrays: your function keeps something from an earlier call with a different g.",
    "attribute called": "In NumPy, size, shape, ndim, T and mT are not functions, so they have no round brackets. For example, PyTorch's K.size(-1) is K.shape[-1] in NumPy.",
    # an error of Python or NumPy; {0} is the name in its message
    "error: blank": "Your answer still contains a ...: replace it with a value.",
    "error: name of another library": "Answers use NumPy here, not {0}: np.exp, np.sqrt, np.where. The library has some functions that NumPy lacks, such as ag.sigmoid.",
    "error: name of NumPy": "NumPy's names have the prefix np: write np.{0}.",
    "error: name of g": "Here the upstream gradient is called g, but you wrote {0}.",
    "error: name of the transpose": "In Python, the transpose of B is written B.T, with a dot.",
    "error: name": "The name {0} is not defined. Is it misspelled, or has a cell above not been run?",
    "error: unset variable": "{0} is used before it has a value: assign its first value before the loop.",
    "error: flatten": "NumPy's flatten joins all axes. x.reshape(-1, x.shape[-1]) joins all but the last.",
    "error: arguments": "The message names the function, and how many arguments it takes or which are missing. If it is your own, compare its arguments with the question's.",
    "error: array called": "Round brackets call a function. Write an entry of an array with square brackets, such as x[i, j]. "
    "(If you passed an array where a function is expected, pass the function.)",
    "error: number called": "A number or an array was called like a function. Is a * missing in front of a bracket? Entries are in square brackets, g[i, j]. Where a function is expected, pass the function itself.",
    "error: float as whole number": "Python expects a whole number here, but / gives a float: // drops the fraction.",
    "error: truth of an array": "x may be an array here, but if, and, or, a < b < c, and Python's own in, max, sorted and count need a single True or False. Use np.where, & and |, with each comparison in brackets.",
    "error: item of many": "item() returns the only number of an array, but this array has several.",
    "error: view": "NumPy's view reads the same bytes as a different dtype. To change the shape, write x.reshape(…).",
    "error: ragged": "The parts have different shapes, so they do not fit into one array: go through them one by one.",
    "error: length as dtype": "A length was taken for a dtype: np.zeros takes the shape as one tuple, np.zeros((2, 3)), and x.reshape(…) changes the shape, not x.view(…).",
    "error: transpose": "NumPy's transpose takes every axis in its new order. To swap two axes, write np.swapaxes(x, i, j), or x.mT for the last two.",
    "error: broadcast": "The shapes of two arrays do not match. Has an axis been lost, or is it in the wrong place? A sum or a mean keeps its axis, with length 1, only if keepdims is True; x[:, None] and np.expand_dims add one.",
    "error: NumPy name": "NumPy has no np.{0}: PyTorch's cat is np.concatenate in NumPy, clamp is np.clip, and ln is np.log.",
    "error: array as number": "float( ), int( ) and the functions of math take single numbers: np.exp, np.tanh and so on take arrays.",
    "error: negative whole power": "NumPy cannot raise integers to negative integer powers: divide, or write it as y ** -1.0.",
    "error: function as value": "Expected a value, got a function: call it, f(x). Or are the parameters in another order?",
    "error: caret": "In Python, write a power as **: ^ is a different operator.",
    "error: dim": "NumPy writes axis=… and keepdims=True, by name, where PyTorch has dim and keepdim.",
    "error: create_graph": "The library does not have this argument, and does not need it: a backward pass can be repeated, and the result of ag.grad can be differentiated.",
    "error: gradient": "Pass the upstream gradient as grad, or by position: z.backward(g).",
    "error: entry of a number": "A number has no entries to write into, and the check also passes single numbers. np.where works for numbers and arrays.",
    "error: number attribute": "That is a plain Python number, which has no .{0}.",
    "error: Tensor attribute": "That is a plain array, and .{0} belongs to a Tensor. (.data and .grad are arrays.)",
    "error: NumPy already": "This is already a NumPy array. Write x.copy() for a copy.",
    "error: in place name": "An array has no .{0}_, which changes a PyTorch tensor in place: make a new array, with arithmetic or a function of np.",
    "error: number method": "That is a single number, which has no .{0}: {1}.",
    "error: array attribute": "An array has no .{0}: {1}.",
    "error: list attribute": "A {0} has no .{1}. Read its entries with sum(…), len(…) or for, or convert it with np.array(…).",
    "error: None as whole number": "Expected an integer, got None: is an axis None, or does a function that you call lack a return?",
    "error: None among numbers": "One of the numbers is None: a function that you call lacks a return.",
    "error: index": "An axis of length {1} has no index {0}. Python counts from 0, and −1 is the last index.",
    "error: list index": "Python counts from 0: the last of n entries has index n − 1, or −1.",
    "error: number of indices": "Too many indices for the {0} axes that the array has here: {1}. x[i] reads an entry if there is one axis, and a row if there are two.",
    "error: shapes of @": "@ is the matrix product of two arrays. The last axis of the left array must be as long as the first axis "
    "of the right array (with more axes, the second to last). * multiplies entry by entry.",
    "error: recursion": "Your function calls itself and never ends.",
    "error: exit": "exit ends the whole program. To end a function, write return.",
}

NOTES = {  # results that are described, not shown
    "a function": "a function",
    "overwritten": "the result of the first call, overwritten",
    "new array": "a new array at each call",
    "first call differs": "a result that differs between the first and the second call",
    "same always": "the same result, regardless of earlier calls",
    "no library function": "none of these",
}

WHEN = {  # when a call was made: (what was tried, what was expected)
    "": ("{0}", "{0}"),
    "again": ("{0}, called again", "{0}"),
    "and again": ("{0}, called twice", "{0}"),
    "other g": ("{0}, with the arrays of the previous call", "{0}"),
    "another call": ("{0}, and then a second call", "{0}, as it was returned"),
    "array after": ("the array given to {0}, after the call", "{0}, as it was"),
    "list after": ("the list given to {0}, after the call", "{0}, as it was"),
}

ALL_SHOWN = 24  # entries of an array that a verdict shows; of a larger one the first that differs


def sentence(cause):
    """Return the sentence that explains a Cause to the learner.

    If `cause` is a string, it is returned unchanged.
    """
    if isinstance(cause, str):
        return cause
    if cause.kind == "own":
        return _of_part(cause.part, cause.text)
    facts = cause.facts
    if cause.kind == "error: array attribute":
        other = "most of NumPy's functions are written np.name(x), a transpose x.T or x.mT"
        facts += (_instead(*facts) or other,)
    if cause.kind == "error: number method":
        facts += (_instead(*facts) or "use a function of np, which takes numbers too",)
    return _of_part(cause.part, SENTENCES.get(cause.kind, "").format(*facts))


def _instead(name):
    """Return advice on what to write for a method that only PyTorch's tensors have.

    Return "" if no replacement is known.
    """
    advice = hint_for(name)
    if advice and ".data" not in advice and "Tensor" not in advice:
        if "autograd_lib" in advice:
            return advice
        # the answer computes with arrays, so where(…) becomes np.where(…)
        advice = re.sub(
            r"(?<![\w.])(\w+)(?=\((mask|\[?-?x\b|1 \+ x))",
            lambda call: f"np.{call[0]}" if hasattr(np, call[0]) else call[0],
            advice,
        )
        # and a method of a Tensor becomes a method of an array, or a function of NumPy
        method = re.fullmatch(r"use ((\w+)\((?!.*\bx\b)[\w., ]*\))", advice)
        if method and hasattr(np.ndarray, method[2]):
            return f"use x.{method[1]}"
        if method and hasattr(np, method[2]):
            return f"use {_call_in(np, method[2])}"
        return advice
    module = np if hasattr(np, name) else autograd_lib
    return f"write {_call_in(module, name)}" if hasattr(module, name) else ""


def _call_in(module, name):
    """Return the text of a call of a function of NumPy or autograd_lib, with its required arguments.

    For example, the call of expand_dims is "np.expand_dims(x, axis)".
    """
    try:
        first, *others = inspect.signature(getattr(module, name)).parameters.values()
    except (TypeError, ValueError):  # not a function, or one whose arguments Python cannot read
        others = ()
    required = [
        other.name
        for other in others
        if other.default is other.empty and other.kind < other.VAR_POSITIONAL
    ]
    return f"{'np' if module is np else 'ag'}.{name}({', '.join(['x', *required])})"


def _of_part(part, text):
    """Return a sentence about a single part of an answer, or `text` if `part` is None.

    The sentence begins with the name of the part, and tells the learner if another part differs
    too. If all other parts are right, the sentence ends by telling the learner so.
    """
    if not part:
        return text
    others = f"The other{'s are' if part.count > 2 else ' is'} right." if part.alone else ""
    # the part is the first one that differs
    differs = (
        " differs."
        if part.alone
        else " differs, and so does "
        + (f"{part.noun} 2." if part.count == 2 else "at least one other.")
    )
    return " ".join(
        filter(
            None,
            [
                f"{part.noun.capitalize()} {part.number} of {part.count}{f', {part.name}.' if part.name else differs}",
                _of_part(part.inner, text),
                others,
            ],
        )
    )


def rows(difference):
    """Return the texts (call, result, expected result) of a Difference for a verdict."""
    tried, wanted = WHEN[difference.when]
    where, entry = difference.where, difference.entry
    got, expected = (shown(x, entry) for x in (difference.got, difference.expected))
    if got == expected and not isinstance(difference.expected, (Words, Note)):
        # they differ beyond the digits that are shown
        got, expected = (shown(x, entry, 17) for x in (difference.got, difference.expected))
    if isinstance(where, Call):
        where = where.words or called(where.function, where.args)
    return tried.format(where), got, wanted.format(expected)


def shown(value, entry=None, digits=8):
    """Return the result or the expected result of a Difference as a string.

    If the value is an array with too many entries to show, the text includes the entry at index
    `entry`. `digits` is the number of digits shown.
    """
    if isinstance(value, Words):
        return str(value)
    if isinstance(value, Note):
        return NOTES[value.kind]
    if isinstance(value, BaseException):
        return str(value) if isinstance(value, StepLimitExceeded) else named(value)
    text = brief(value, digits)
    if entry and as_numbers(value).size > ALL_SHOWN:
        text += f", at {list(entry)}: {brief(as_numbers(value)[entry], digits)}"
    return text


def formula(text):
    """Return a decorator that makes verdicts show a function as `text`, such as "f(x, y) = x²y".

    Without the decorator, verdicts show the name that the function has in the course's files.
    """

    def register(function):
        function.formula = text
        return function

    return register


def brief(x, digits=8):
    """Format a value in one line for a verdict, with `digits` significant digits."""
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
        if x.size > ALL_SHOWN:
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
    """Return `text`, with its end replaced by "…" if it has more than `most` characters.

    A text that was cut has `most` − 2 characters.
    """
    return text if len(text) <= most else text[: most - 3] + "…"


def called(function, args):
    """Return a call as a learner would write it, followed by the formulas of its arguments."""
    name = brief(function) if callable(function) else "f"
    formulas = "".join(f", where {a.formula}" for a in args if hasattr(a, "formula"))
    return f"{'your function' if name == '<lambda>' else name}({', '.join(map(brief, args))}){formulas}"


def named(error):
    return f"{type(error).__name__}: {said(error)}"
