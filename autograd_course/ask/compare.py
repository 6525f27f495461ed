"""expect and expect_call: the learner's answer against the right one, and the likely cause of a difference."""
import io
import sys
from contextlib import redirect_stdout

import numpy as np

from autograd_lib import Tensor

from ..source import is_stub
from .verdict import NotYet, Wrong, brief, called


def expect(got, expected, *, tried, hints=(), shown=None, rtol=1e-6, atol=1e-9, args=()):
    """Stops the check unless `got` is `expected`: close, for numbers and arrays of one shape; part by part, for a tuple.

    `hints` are looked through in order. (wrong, sentence) recognises the value `wrong`, or what the function `wrong` gives for the
    same `args`; anything else is called, `hint(got, expected)`, and gives a sentence or None.
    """
    if waits(got):
        raise NotYet
    if not same(got, expected, rtol, atol):
        raise Wrong(tried, brief(got), shown or brief(expected), _cause(got, expected, hints, args, rtol, atol))


def expect_call(function, *args, gives, tried=None, hints=(), shown=None, **options):
    """`expect(function(*args), gives)`, where `tried` is written for you. Returns what came back."""
    tried, shown = tried or called(function, args), shown or brief(gives)
    got = returned(function, *args, tried=tried, shown=shown, hints=hints)
    expect(got, gives, tried=tried, shown=shown, hints=hints, args=args, **options)
    return got


def returned(function, *args, tried, shown, hints=()):
    """What the learner's function gives back; stops the check if it is no function, or gives nothing."""
    if not callable(function):
        raise Wrong(tried, brief(function), "a function", "The check calls your answer: give it the function, not a result.")
    printed = _Tee()
    try:
        with redirect_stdout(printed):
            got = function(*copies(args))
    except Exception as error:
        error.tried = tried
        error.hint = next((sentence for wrong, sentence in _functions(hints) if _raises(wrong, args, error)), "")
        raise
    if got is None and not is_stub(function):
        raise Wrong(tried, "None", shown,
                    "It prints the result and gives None back: write return, and no print." if printed.getvalue().strip()
                    else "Nothing came back: is there a return, on every way through it?")
    return got


def expect_untouched(function, *args):
    """Stops the check if a call changes one of its arrays in place."""
    given = copies(args)
    function(*given)
    for before, after in zip(args, given):
        if isinstance(before, np.ndarray) and not np.array_equal(before, after):
            raise Wrong(f"the arrays given to {called(function, args)}, after the call", brief(after), f"{brief(before)}, as it was",
                        "It writes into the caller's array. -= and *= do that too: make a new one, x - … in place of x -= ….")


def times(c, sentence):
    """A hint for an answer that is exactly c times the right one."""
    return lambda got, expected: sentence if same(got, scaled(c, expected), 1e-5, 0) and np.any(expected) else None


def without(g, sentence="Off by the factor g: the upstream gradient is missing. Multiply by what arrives."):
    """A hint for an answer that lacks the factor g."""
    return lambda got, expected: sentence if same(np.multiply(got, g), expected, 1e-5, 1e-9) else None


def copies(args):
    """The arguments for one call, which may write into its arrays; an array given twice is one array in the copy too."""
    made = {id(a): a.copy() for a in args if isinstance(a, np.ndarray)}
    return [made.get(id(a), a) for a in args]


def scaled(c, x):
    return type(x)(scaled(c, part) for part in x) if isinstance(x, (tuple, list)) else c * x


def waits(answer):
    """Whether a `...` (or None) stands where an answer belongs."""
    if isinstance(answer, (tuple, list)):
        return any(map(waits, answer))
    return answer is None or answer is ...


def same(got, expected, rtol, atol):
    if isinstance(expected, (tuple, list)):
        return (_is_sequence(got) and len(got) == len(expected)
                and all(same(*pair, rtol, atol) for pair in zip(got, expected)))
    if isinstance(expected, str):
        return isinstance(got, str) and got.strip().lower() == expected.strip().lower()
    if isinstance(expected, (bool, np.bool_)) or not isinstance(expected, (int, float, complex, np.generic, np.ndarray)):
        return type(got) in (bool, np.bool_, type(expected)) and got == expected
    got = _array(got)
    return got is not None and got.shape == np.shape(expected) and np.allclose(got, expected, rtol, atol, equal_nan=True)


class _Tee(io.StringIO):
    """Passes on what is printed, and remembers it."""

    def __init__(self):
        super().__init__()
        self.screen = sys.stdout

    def write(self, text):
        self.screen.write(text)
        return super().write(text)


def _functions(hints):
    return [hint for hint in hints if isinstance(hint, tuple) and callable(hint[0])]


def _silently(wrong, args):
    """What a mistake gives; it must not show the learner what it prints, or warn of."""
    with redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        return wrong(*copies(args))


def _raises(wrong, args, error):
    """Whether the mistake `wrong` ends in the very same error."""
    try:
        _silently(wrong, args)
    except Exception as other:
        return (type(other), str(other)) == (type(error), str(error))
    return False


def _is_sequence(x):
    return isinstance(x, (tuple, list)) or isinstance(x, np.ndarray) and x.ndim == 1


def _array(x):
    """x as an array of numbers, or None where it is none."""
    try:
        x = np.asarray(x.data if isinstance(x, Tensor) else x)
    except (TypeError, ValueError):      # a ragged list, a list of Tensors
        return None
    return x if x.dtype.kind in "iufc" else None


def _recognised(got, wrong, args):
    """Whether `got` is what the mistake `wrong` gives."""
    if callable(wrong):
        try:
            wrong = _silently(wrong, args)
        except Exception:      # it ends in an error here, and the learner's answer did not
            return False
    return same(got, wrong, 1e-5, 1e-9)


def _cause(got, expected, hints, args, rtol, atol):
    """The likely cause of a difference: the author's hints first, then the mistakes that every exercise knows."""
    for hint in hints:
        if isinstance(hint, tuple):
            if _recognised(got, hint[0], args):
                return hint[1]
        elif (isinstance(expected, (tuple, list)) or _array(got) is not None) and (sentence := hint(got, expected)):
            return sentence
    if isinstance(expected, (tuple, list)):
        return _cause_in_parts(got, expected, args, rtol, atol)
    if isinstance(expected, str):
        return "" if isinstance(got, str) else "The answer is a text, in quotes."
    if isinstance(expected, bool):
        return "" if isinstance(got, (bool, np.bool_)) else "The answer is True or False."
    want, have = _array(expected), _array(got)
    if want is None:
        return ""
    if have is None and isinstance(got, np.ndarray) and got.dtype.kind == "b":
        return "That is True and False: a comparison, which comes last unless it stands in brackets. Multiply g by it: g * (…)."
    if have is None:
        return f"{'An array' if want.ndim else 'A number'} was expected, and this is of type {type(got).__name__}."
    if want.ndim == 0 and have.ndim:
        return f"A single number was expected, and this holds {have.size}: give the number itself, without brackets."
    if have.shape != want.shape:
        return f"Shape {have.shape}, where {want.shape} was expected{_misshapen(have, want)}"
    return _factor(have, want) or (_truncated(have, want) if args else "")


def _cause_in_parts(got, expected, args, rtol, atol):
    if not _is_sequence(got):
        return f"{len(expected)} values were expected, and this is one."
    if len(got) != len(expected):
        return f"{len(expected)} values were expected, and you gave {len(got)}."
    if same(got[::-1], expected, rtol, atol):
        return "The right numbers in the wrong order: are the two swapped?"
    want, have = _array(expected), _array(got)
    if want is not None and have is not None and have.shape == want.shape and (sentence := _factor(have, want)):
        return sentence
    first = next(i for i in range(len(expected)) if not same(got[i], expected[i], rtol, atol))
    cause = _cause(got[first], expected[first], (), args, rtol, atol) if np.ndim(expected[first]) else ""
    return f"Number {first + 1} of {len(expected)} differs. {cause}".strip()


def _misshapen(have, want):
    """What became of the shape, as the end of a sentence."""
    try:
        if np.broadcast_shapes(have.shape, want.shape) == have.shape and have.size > want.size:
            return ": sum over the axis that was broadcast."
    except ValueError:
        pass
    if have.ndim < want.ndim and np.squeeze(want).shape == np.squeeze(have).shape:
        return ": an axis of length 1 is lost. keepdims=True keeps it."
    if have.shape == want.shape[::-1] and have.ndim > 1:
        return ": transposed?"
    return "."


KNOWN = {2: "Exactly double.", 0.5: "Exactly half.", -1: "The right size with the wrong sign.",
         np.pi / 180: "Off by the factor π/180: degrees, where radians are meant?",
         180 / np.pi: "Off by the factor 180/π: degrees, where radians are meant?",
         np.log(10): "Off by the factor log 10: which base has your logarithm?",
         1 / np.log(10): "Off by the factor log 10: which base has your logarithm?",
         np.log(2): "Off by the factor log 2: which base has your logarithm?",
         1 / np.log(2): "Off by the factor log 2: which base has your logarithm?"}


def _factor(got, expected):
    """Names the constant c where got = c · expected, or got = expected + c; a single number is compared with known factors only."""
    if not np.any(expected) or not np.all(np.isfinite(got)) or not np.any(got):
        return ""
    pivot = np.unravel_index(np.argmax(np.abs(expected)), expected.shape)
    c, off = got[pivot] / expected[pivot], got[pivot] - expected[pivot]
    for factor, sentence in KNOWN.items():
        if np.allclose(got, factor * expected, rtol=1e-5, atol=0):
            return sentence
    if expected.size > 1 and np.allclose(got, c * expected, rtol=1e-5, atol=0):
        return f"Every entry is {c:.4g} times what was expected."
    if expected.size > 1 and np.allclose(got, expected + off, rtol=1e-5, atol=0):
        return f"Every entry is {abs(off):.4g} too {'large' if off > 0 else 'small'}."
    return ""


def _truncated(got, expected):
    whole = np.any(got) and np.any(got != expected) and (np.all(got == np.trunc(expected)) or np.all(got == np.floor(expected)))
    return "Whole numbers came back, the rest is cut off: is there a //, an int( ), or an array of integers?" if whole else ""
