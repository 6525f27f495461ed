"""expect and expect_call: the learner's answer against the right one, and the likely cause of a difference."""

import inspect
import io
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from functools import lru_cache, partial, wraps
from itertools import permutations
from numbers import Number
from types import FunctionType

import numpy as np

import autograd_lib
from autograd_lib import Tensor

from ..source import has_blank, is_stub, underneath
from .causes import Cause, Part, needs_facts, own
from .sandbox import Endless, Outcome, Printed, bounded, copies, run
from .verdict import NotYet, Wrong, brief, called


def expect(
    got,
    expected,
    *,
    tried,
    hints=(),
    shown=None,
    rtol=1e-6,
    atol=1e-9,
    args=(),
    function=None,
    sure=None,
):
    """Stop the check unless `got` equals `expected`, within the tolerance.

    Numbers and arrays have to be close and of the same shape; a tuple is compared part by part.

    `tried` and `shown` are texts, or functions that write them when they are needed. `hints` are
    looked through in order. (wrong, sentence) recognises the value `wrong`, or what the function
    `wrong` gives for the same `args`; anything else is called, `hint(got, expected)`, and gives a
    sentence or None. `function` is the learner's, called with `args`; `sure(wrong)` says whether it
    is the function `wrong` elsewhere too.
    """
    if got is None or waits(got, called=function is not None):
        raise NotYet
    if function is None:
        got, expected = _typed(got), _typed(expected)
    if not same(got, expected, rtol, atol):
        place = _first_difference(got, expected, rtol, atol)
        letters = parameter_names(function)
        cause = likely_cause(got, expected, hints, args, rtol, atol, letters, function, sure)
        if not cause.kind and not cause.part:
            cause = _not_linear(function, args, letters)
            if place and not cause.kind and np.size(expected) <= ALL_SHOWN:
                cause = Cause("first entry", (list(place),))
        here, right = _at(got, place), _text(shown) or _at(expected, place)
        if here == right and not shown:  # they differ beyond the digits that are shown
            here, right = (_at(value, place, digits=17) for value in (got, expected))
        raise Wrong(_text(tried), here, right, cause)


def expect_call(function, *args, gives, tried=None, hints=(), shown=None, **options):
    """Return what `function(*args)` gives after `expect` has compared it with `gives`.

    The text `tried` is written automatically.

    The one rule for every function of the learner's: it is called twice, each time on copies, has
    to come to an end, to give the same both times, to leave the caller's arrays and lists alone,
    and those that it gave back before.
    """
    tried, shown_or_gives = tried or partial(called, function, args), shown or partial(brief, gives)
    got, overwritten = _returned(function, args, tried, shown_or_gives, hints, options.get("sure"))
    expect(
        got, gives, tried=tried, shown=shown, hints=hints, args=args, function=function, **options
    )
    if overwritten:
        raise overwritten

    def once_more():
        with redirect_stdout(io.StringIO()):
            return _returned(
                function, args, lambda: f"{_text(tried)}, once more", shown_or_gives, ()
            )[0]

    again, written = _with_marks(once_more, _arrays(got, args))
    if written:
        raise Wrong(
            f"{_text(tried)}, and once more",
            "the result of the first call, written over",
            "a new array at each call",
            Cause("result overwritten"),
        )
    close = options.get("rtol", 1e-6), options.get("atol", 1e-9)
    if not same(again, gives, *close) and not same(
        again := once_more(), gives, *close
    ):  # the marks may have been read
        raise Wrong(
            f"{_text(tried)}, once more",
            brief(again),
            _text(shown_or_gives),
            Cause("state: second call"),
        )
    return got


def _arrays(got, args):
    """Return the arrays in a result, if the arguments are only numbers, arrays and functions.

    For others the list is empty, since an array of a Tensor could be the Tensor's own.
    """
    try:
        _Given(args)
    except TypeError:
        return []
    parts = got if isinstance(got, (tuple, list)) else [got]
    return [
        part
        for part in parts
        if isinstance(part, np.ndarray) and part.dtype.kind in "iufc" and part.flags.writeable
    ]


def _with_marks(call, arrays):
    """Return (what the call gives, whether it wrote into one of the arrays).

    The arrays are filled with a mark during the call and restored afterwards.
    """
    held = [array.copy() for array in arrays]
    for array in arrays:
        array[...] = 99
    try:
        got = call()
        return got, any(np.any(array != 99) for array in arrays)
    finally:
        for array, values in zip(arrays, held):
            array[...] = values


def returned(function, *args, tried, shown, hints=()):
    """Return what the learner's function gives; stop the check if it cannot be used.

    That is so if it is not a function, gives nothing, does not end, or overwrites `args`.
    """
    got, overwritten = _returned(function, args, tried, shown, hints)
    if overwritten:
        raise overwritten
    return got


def _returned(function, args, tried, shown, hints, sure=None):
    """Return (what came back, the Wrong that says which argument was overwritten, or None)."""
    if not callable(function):
        raise Wrong(
            _text(tried),
            brief(function),
            "a function",
            Cause("function in a tuple")
            if isinstance(function, (list, tuple)) and any(map(callable, function))
            else Cause("not a function"),
        )
    outcome = run(function, args, printed=Printed())
    error = outcome.error
    if isinstance(error, Endless):
        raise Wrong(
            _text(tried),
            str(error),
            _text(shown),
            error.cause,
        ) from None
    if error:
        error.tried = _text(tried)
        error.hint = next(
            (
                sentence
                for wrong, sentence in _functions(hints)
                if outcome.raises_as(_mistaken(wrong, args)) and (not sure or sure(wrong))
            ),
            "",
        )
        raise error
    if outcome.value is None and not is_stub(function):
        raise Wrong(
            _text(tried),
            "None",
            _text(shown),
            Cause("printed" if outcome.printed.strip() else "nothing"),
        )
    return outcome.value, _overwritten(function, args, outcome)


def _text(words):
    return words() if callable(words) else words


def expect_untouched(function, *args):
    """Stop the check if a call changes one of its arrays in place."""
    outcome = run(function, args)
    if outcome.error:
        raise outcome.error
    if overwritten := _overwritten(function, args, outcome):
        raise overwritten


def _overwritten(function, args, outcome):
    """Return the Wrong that says which of the arguments a call has changed, or None."""
    for before, after in outcome.mutated:
        kind = "list" if isinstance(before, (list, tuple)) else "array"
        return Wrong(
            f"the {kind} given to {called(function, args)}, after the call",
            brief(after),
            f"{brief(before)}, as it was",
            Cause(f"{kind} overwritten"),
        )
    return None


def times(c, sentence):
    """Return a hint for an answer that is exactly c times the right one."""
    return lambda got, expected: (
        sentence if same(got, scaled(c, expected), 1e-5, 0) and np.any(expected) else None
    )


def without(g, sentence=Cause("no g")):
    """Return a hint for an answer that lacks the factor g."""
    return lambda got, expected: (
        sentence if same(np.multiply(got, g), expected, 1e-5, 1e-9) else None
    )


@contextmanager
def calls_of(*names):
    """Yield a set that collects which functions of the library the block calls: "hvp", "Tensor.backward".

    For a question that asks for the calculation itself. The library's own functions do not look these names up, so
    that only calls of the learner's are seen.
    """
    called, held = set(), []
    for name in names:
        *owner, attribute = name.split(".")
        owner = getattr(autograd_lib, owner[0]) if owner else autograd_lib
        held.append((owner, attribute, getattr(owner, attribute)))

    def seen(name, function):
        @wraps(function)
        def call(*args, **kwargs):
            called.add(name)
            return function(*args, **kwargs)

        return call

    for name, (owner, attribute, function) in zip(names, held):
        setattr(owner, attribute, seen(name, function))
    try:
        yield called
    finally:
        for owner, attribute, function in held:
            setattr(owner, attribute, function)


def expect_own_work(function, args, banned, hint):
    """Stop the check if a call of the learner's function uses what the question rules out."""
    with calls_of(*banned) as called:
        returned(function, *args, tried="your function", shown="its own work")
    if called:
        names = ", ".join(
            name if "." not in name else f".{name.split('.')[1]}()" for name in sorted(called)
        )
        raise Wrong(
            "which functions of the library your function calls", names, "none of these", hint
        )


def parameter_names(function):
    """Return the names of the function's parameters; () if they cannot be read."""
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()


def scaled(c, x):
    return type(x)(scaled(c, part) for part in x) if isinstance(x, (tuple, list)) else c * x


def waits(answer, called=False):
    """Return True if a `...` or None stands in place of an answer.

    With `called`, `answer` was returned by a function, and a None in it is accepted.
    """
    if isinstance(answer, (tuple, list, dict)):
        return any(
            waits(part, called)
            for part in (answer.values() if isinstance(answer, dict) else answer)
        )
    return answer is ... or answer is None and not called


def unfinished(answer, indices=False):
    """Return True if a `...` stands anywhere in an answer, or in the code of its functions.

    `indices` is as in `has_blank`.
    """
    if isinstance(answer, type):
        answer = dict(vars(answer))
    if isinstance(answer, dict):
        answer = list(answer.values())
    if isinstance(answer, (tuple, list)):
        return any(unfinished(part, indices) for part in answer)
    return answer is ... or has_blank(underneath(answer), indices)


def same(got, expected, rtol, atol):
    if isinstance(expected, (tuple, list)):
        return (
            (_is_sequence(got) or np.ndim(got) and isinstance(got, np.ndarray))
            and len(got) == len(expected)
            and all(same(*pair, rtol, atol) for pair in zip(got, expected))
        )
    if isinstance(expected, str):
        return isinstance(got, str) and got == expected
    if isinstance(expected, (bool, np.bool_)) or not isinstance(
        expected, (Number, np.generic, np.ndarray)
    ):
        return type(got) in (bool, np.bool_, type(expected)) and got == expected
    got = _array(got)
    if got is None or np.iscomplexobj(got) and not np.iscomplexobj(expected):
        return False
    return got.shape == np.shape(expected) and _close(got, np.asarray(expected), rtol, atol)


def _typed(x):
    """Return a typed answer with its words in lower case and without spaces around them.

    What a function gives is not passed through this.
    """
    return (
        type(x)(map(_typed, x))
        if type(x) in (tuple, list)
        else x.strip().lower()
        if isinstance(x, str)
        else x
    )


def _close(got, expected, rtol, atol):
    """Return np.allclose(got, expected), by a faster way for finite floats."""
    if got.dtype.kind in "fc" and expected.dtype.kind in "fc":
        with np.errstate(all="ignore"):
            off = np.abs(got - expected)
            if np.isfinite(off.sum()):
                return bool((off <= atol + rtol * np.abs(expected)).all())
    return np.allclose(got, expected, rtol, atol, equal_nan=True)


ALL_SHOWN = 24  # entries of an array that a verdict shows; of a larger one the first that differs


def _first_difference(got, expected, rtol, atol):
    """Return the index of the first entry in which two arrays differ, or None."""
    have, want = _array(got), None if isinstance(expected, (tuple, bool)) else _array(expected)
    if have is None or want is None or have.shape != want.shape or want.ndim == 0:
        return None
    off = np.argwhere(~np.isclose(have, want, rtol, atol, equal_nan=True))
    return (
        tuple(map(int, off[0])) if len(off) else None
    )  # complex numbers may differ by their kind alone


def _at(value, place, digits=8):
    """Return `value` in words, with its entry at `place` if it is too large to be shown whole."""
    entry = (
        f", at {list(place)}: {brief(_array(value)[place], digits)}"
        if place and _array(value).size > ALL_SHOWN
        else ""
    )
    return brief(value, digits) + entry


def _functions(hints):
    return [hint for hint in hints if isinstance(hint, tuple) and callable(hint[0])]


def _silently(wrong, args):
    """Return what a mistake gives, without showing what it prints or warns of."""
    with redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        return wrong(*copies(args))


class _Given:
    """Make arguments a key: equal if they hold the same values.

    Raises TypeError for arguments that may change, or differ each time.
    """

    def __init__(self, args):
        self.args, self.key = args, tuple(map(_key, args))

    def __eq__(self, other):
        return self.key == other.key

    def __hash__(self):
        return hash(self.key)


def _key(x):
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "biufc":
        return type(x), x.dtype.str, x.shape, x.tobytes()
    if isinstance(x, (tuple, list)):
        return type(x), *map(_key, x)
    if isinstance(x, dict):
        return type(x), *x, *map(_key, x.values())
    if x is None or isinstance(x, (Number, str)):
        return type(x), repr(x)
    if isinstance(x, FunctionType) and not x.__closure__:
        return x
    raise TypeError


def _ended(wrong, args):
    """Return the Outcome of a mistake, which needs no bound since it is ours."""
    try:
        return Outcome(_silently(wrong, args))
    except Exception as error:
        return Outcome(error=error.with_traceback(None))  # it is cached, and frames are large


@lru_cache(maxsize=4096)
def _remembered(wrong, given):
    return _ended(wrong, given.args)


def _mistaken(wrong, args):
    """Return the same as `_ended`, cached for the same arguments.

    An exercise may have sixty mistakes, and all are asked at every press of a check.
    """
    try:
        return _remembered(wrong, _Given(args))
    except TypeError:
        return _ended(wrong, args)


def _is_sequence(x):
    return isinstance(x, (tuple, list, range)) or isinstance(x, np.ndarray) and x.ndim == 1


def _array(x):
    """Return x as an array of numbers, or None if it is not one.

    It is none for a Tensor, a list of Tensors, or fractions.
    """
    try:
        x = np.asarray(_plain(x))
        if x.dtype.kind == "O" and all(isinstance(entry, Number) for entry in x.flat):
            x = x.astype(float)
    except (TypeError, ValueError):  # a ragged list
        return None
    return x if x.dtype.kind in "iufc" else None


def _plain(x):
    return (
        x.data
        if isinstance(x, Tensor)
        else [*map(_plain, x)]
        if isinstance(x, (list, tuple))
        else x
    )


def _recognised(got, wrong, args, expected, rtol, atol):
    """Return True if `got` is what the mistake `wrong` gives in place of `expected`.

    What is nearly right is held to the check's own tolerance: else a mistake that is small here
    would explain it.
    """
    if callable(wrong):
        outcome = _mistaken(wrong, args)
        if outcome.error:  # and the learner's answer raised none
            return False
        wrong = outcome.value
    close = (rtol, atol) if same(got, expected, 1e-5, 1e-9) else (1e-5, 1e-9)
    return same(got, wrong, *close) and not same(wrong, expected, rtol, atol)


def _for_another_g(wrong, function, args, letters):
    """Return True if the rule agrees with the mistake `wrong` for another g too.

    So an agreement by chance for this g is not counted.

    Of a rule g alone may be changed: z belongs to x. What takes no g is not asked again.
    """
    if not callable(wrong) or letters[:1] != ("g",) or not args or _array(args[0]) is None:
        return True
    other = np.random.default_rng(5).normal(size=np.shape(args[0])).round(2)[()], *args[1:]
    try:
        mine = _silently(partial(bounded, function), other)
    except (Exception, Endless):
        return _mistaken(wrong, other).error is not None
    theirs = _mistaken(wrong, other)
    return not theirs.error and same(mine, theirs.value, 1e-5, 1e-9)


def likely_cause(got, expected, hints, args, rtol, atol, letters=(), function=None, sure=None):
    """Return the likely Cause of a difference: by the author's hints, then by general ones."""
    for hint in hints:
        if isinstance(hint, tuple):
            if needs_facts(hint[1]):
                continue  # it is recognised below, with its shapes or its count
            if _recognised(got, hint[0], args, expected, rtol, atol) and (
                sure(hint[0])
                if sure and callable(hint[0])
                else _for_another_g(hint[0], function, args, letters)
            ):
                return own(hint[1])
        elif (isinstance(expected, (tuple, list)) or _array(got) is not None) and (
            said := hint(got, expected)
        ):
            return own(said, by=hint)
    kind_of = type(got).__name__
    if hasattr(got, "__next__") and (isinstance(expected, (tuple, list)) or np.ndim(expected)):
        return Cause("iterator", (kind_of,))
    if isinstance(expected, (tuple, list)):
        return _cause_in_parts(got, expected, args, rtol, atol, letters)
    if isinstance(expected, str):
        return Cause() if isinstance(got, str) else Cause("not a text")
    if isinstance(expected, bool):
        return Cause() if isinstance(got, (bool, np.bool_)) else Cause("not a truth value")
    want, have = _array(expected), _array(got)
    if want is None:
        return Cause()
    if have is None and isinstance(got, np.ndarray) and got.dtype.kind == "b":
        return Cause("a comparison times g" if "g" in letters else "truth values")
    if want.ndim == 0 and isinstance(got, (tuple, list)) and have is None:
        return Cause("several numbers", (len(got),))
    if have is None:
        return Cause("not an array" if want.ndim else "not a number", (kind_of,))
    if want.ndim == 0 and have.ndim:
        return Cause("several numbers", (have.size,))
    if have.shape != want.shape:
        return _misshapen(have, want)
    if np.iscomplexobj(have) and not np.iscomplexobj(want):
        return Cause("complex")
    if np.isnan(have).any() and not np.isnan(want).any():
        return Cause("nan")
    return (
        _coarse(have, want)
        or _without_g(have, want, args, letters)
        or _factor(have, want)
        or _moved(have, want)
        or _truncated(have, want, args)
        or _rounded(have, want)
        or Cause()
    )


def _cause_in_parts(got, expected, args, rtol, atol, letters):
    count = len(expected)
    if not _is_sequence(got):
        return Cause("a set" if isinstance(got, (set, frozenset)) else "one value", (count,))
    if len(got) != count:
        return Cause("number of values", (count, len(got)))
    if len(got) <= 4 and any(same(order, expected, rtol, atol) for order in permutations(got)):
        return Cause("swapped" if len(got) == 2 else "order")
    want, have = _array(expected), _array(got)
    if (
        want is not None
        and have is not None
        and have.shape == want.shape
        and (cause := _factor(have, want))
    ):
        return cause
    wrong = [i for i in range(count) if not same(got[i], expected[i], rtol, atol)]
    pair = got[wrong[0]], expected[wrong[0]]
    cause = likely_cause(*pair, (), args, rtol, atol, letters)
    if not cause.kind and not cause.part and (place := _first_difference(*pair, rtol, atol)):
        cause = Cause("first entry", (list(place),))
    if count == 1:
        return cause
    return replace(cause, part=Part(wrong[0] + 1, count, len(wrong) == 1, cause.part))


def _misshapen(have, want):
    """Return the Cause that says how the shape differs."""

    def shape(kind, *more):
        return Cause(kind, (have.shape, want.shape, *more))

    try:
        wide = np.broadcast_shapes(have.shape, want.shape) == have.shape and have.size > want.size
        if wide and same(autograd_lib.values.unbroadcast(have, want.shape), want, 1e-5, 1e-9):
            return shape("shape: not summed")
    except ValueError:
        pass
    if have.ndim < want.ndim and np.squeeze(want).shape == np.squeeze(have).shape:
        return shape("shape: axis of 1 lost")
    if have.shape == want.shape[::-1] and have.ndim > 1:
        return shape("shape: transposed")
    if have.ndim == want.ndim - 1 and have.size and want.size % have.size == 0:
        lost = [
            axis
            for axis in range(want.ndim)
            if have.shape == (*want.shape[:axis], *want.shape[axis + 1 :])
        ]
        if lost:
            return shape("shape: axis lost", lost[0])
    return shape("shape: other layout" if have.size == want.size else "shape")


def _without_g(have, want, args, letters):
    """Return the Cause that the upstream gradient is missing, or None.

    The upstream gradient is the first argument, if the learner calls it g.
    """
    if (
        letters[:1] != ("g",)
        or not args
        or _array(args[0]) is None
        or not np.all(np.isfinite(have))
    ):
        return None
    try:
        there = np.all(np.isfinite(want)) and np.allclose(
            have * _array(args[0]), want, rtol=1e-5, atol=1e-9 * np.max(np.abs(want), initial=0)
        )
    except ValueError:
        return None
    return Cause("no g") if there and np.any(want) else None


def _not_linear(rule, args, letters):
    """Return the Cause that the result is not linear in g, or an empty Cause.

    g is the first argument, if the learner calls it so; the Cause is empty if this cannot be
    tested.
    """
    if letters[:1] != ("g",) or not args or _array(args[0]) is None:
        return Cause()
    try:
        once, twice, opposite = (
            _silently(partial(bounded, rule), (scaled(c, args[0]), *args[1:])) for c in (1, 2, -1)
        )
        follows = all(
            same(sent, scaled(c, once), 1e-5, 1e-9) for sent, c in [(twice, 2), (opposite, -1)]
        )
    except (Exception, Endless):
        return Cause()
    return Cause() if follows else Cause("not linear in g")


def _moved(have, want):
    """Return the Cause that the right entries are in other places, or None.

    They may be transposed, reshaped in another order, or reversed.
    """
    if want.ndim == 0 or not np.allclose(
        np.sort(have, None), np.sort(want, None), rtol=1e-5, atol=1e-9
    ):
        return None
    if want.ndim > 1 and any(
        other.shape == have.shape and np.allclose(have, other, rtol=1e-5, atol=1e-9)
        for other in [want.swapaxes(a, b) for a in range(want.ndim) for b in range(a)]
    ):
        return Cause("transposed")
    if want.ndim > 1 and any(
        np.allclose(have, want.transpose(order).reshape(want.shape), rtol=1e-5, atol=1e-9)
        for order in [range(want.ndim)[::-1], (*range(want.ndim - 2), want.ndim - 1, want.ndim - 2)]
    ):
        return Cause("layout")
    for axis in range(want.ndim):
        if np.allclose(have, np.flip(want, axis), rtol=1e-5, atol=1e-9):
            return Cause("reversed", (axis,))
    return Cause("other places")


KNOWN = {
    2: Cause("double"),
    0.5: Cause("half"),
    -1: Cause("sign"),
    np.pi / 180: Cause("degrees", ("π/180",)),
    180 / np.pi: Cause("degrees", ("180/π",)),
    np.log(10): Cause("base of the logarithm", ("log 10",)),
    1 / np.log(10): Cause("base of the logarithm", ("log 10",)),
    np.log(2): Cause("base of the logarithm", ("log 2",)),
    1 / np.log(2): Cause("base of the logarithm", ("log 2",)),
}


def _factor(got, expected):
    """Return the Cause with the constant c for which got = c · expected or got = expected + c.

    A single number is compared with known factors only.
    """
    if (
        not np.any(expected)
        or not np.all(np.isfinite(got))
        or not np.any(got)
        or np.iscomplexobj(got)
    ):
        return None
    pivot = np.unravel_index(np.argmax(np.abs(expected)), expected.shape)
    c, off = got[pivot] / expected[pivot], got[pivot] - expected[pivot]
    for factor, cause in KNOWN.items():
        if np.allclose(got, factor * expected, rtol=1e-5, atol=0):
            return cause
    if np.allclose(got, expected, rtol=5e-5, atol=0):
        return Cause("nearly")
    if expected.size > 1 and np.allclose(got, c * expected, rtol=1e-5, atol=0):
        return Cause("factor", (c,))
    if expected.size > 1 and np.allclose(got, expected + off, rtol=1e-5, atol=0):
        return Cause("too large" if off > 0 else "too small", (abs(off),))
    return None


def _coarse(have, want):
    """Return the Cause that the numbers are right, in a dtype of few digits; or None."""
    if (
        have.dtype.kind != "f"
        or have.dtype.itemsize >= 8
        or not np.allclose(have, want, rtol=10 * np.finfo(have.dtype).eps, atol=0)
    ):
        return None
    return Cause("few digits", (np.finfo(have.dtype).precision, have.dtype))


def _truncated(got, expected, args):
    """Return the Cause that new whole numbers came back in place of floats, or None."""
    given = [one.ravel() for one in map(_array, args) if one is not None]
    whole = (
        given
        and np.any(got)
        and np.any(got != expected)
        and (expected.size > 1 or abs(expected) > 2)
        and not np.isin(got, np.concatenate(given)).all()
        and (np.all(got == np.trunc(expected)) or np.all(got == np.floor(expected)))
    )
    return Cause("cut off") if whole else None


def _rounded(got, expected):
    """Return the Cause that every entry is right but rounded to a few decimals, or None."""
    for decimals in range(1, 5):
        rounded = np.round(expected, decimals)
        if (
            np.allclose(got, rounded, rtol=1e-9, atol=0)
            and np.any(got % 1)
            and np.allclose(got, expected, rtol=0.1)
        ):
            return Cause("rounded" if decimals > 1 else "rounded to 1", (decimals,))
    return None
