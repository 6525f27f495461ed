"""Compare the learner's answer with the right one: expect and expect_call."""

import io
from contextlib import contextmanager, redirect_stdout
from functools import wraps

import numpy as np

import autograd_lib

from ..source import has_blank, is_stub, underneath
from .causes import Call, Cause, Difference, Note, Words
from .likely_cause import Given, functions_of, likely_cause, mistaken, not_linear, parameter_names
from .same import first_difference, same, scaled, typed
from .sandbox import Printed, StepLimitExceeded, copies, run
from .sentences import ALL_SHOWN
from .verdict import NotYet, Wrong


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

    `tried` and `shown` are texts, or functions that return the texts when a verdict needs them.
    `hints` are tried in order. A hint (wrong, sentence) recognises the value `wrong`, or the result
    of the function `wrong` for the same `args`; any other hint is called as `hint(got, expected)`
    and returns a sentence or None. `function` is the learner's function, called with `args`;
    `sure(wrong)` is True if it agrees with `wrong` on other arguments too.
    """
    if got is None or waits(got, called=function is not None):
        raise NotYet
    if function is None:
        got, expected = typed(got), typed(expected)
    if not same(got, expected, rtol, atol):
        entry = first_difference(got, expected, rtol, atol)
        letters = parameter_names(function)
        cause = likely_cause(got, expected, hints, args, rtol, atol, letters, function, sure)
        if not cause.kind and not cause.part:
            cause = not_linear(function, args, letters)
            if entry and not cause.kind and np.size(expected) <= ALL_SHOWN:
                cause = Cause("first entry", (list(entry),))
        (got,) = copies([got])  # a later call may write into it
        wanted = Words(_text(shown)) if shown else expected
        raise Wrong.of(Difference(call_of(function, args, tried), got, wanted, entry), cause)


def call_of(function, args, tried=None):
    """Return the Call for a Difference; `tried` is its text, or a function that returns it."""
    return Call(function, tuple(args), _text(tried) or "")


def expect_call(function, *args, gives, tried=None, hints=(), shown=None, **options):
    """Return the result of `function(*args)` after `expect` has compared it with `gives`.

    Without `tried`, the verdict shows the call.

    The learner's function is called twice, each time with copies of `args`. It must end, return the
    same result both times, and change neither the caller's arrays and lists nor an earlier result.
    """
    wanted = Words(_text(shown)) if shown else gives
    got, overwritten = returned_once(function, args, tried, wanted, hints, options.get("sure"))
    expect(
        got, gives, tried=tried, shown=shown, hints=hints, args=args, function=function, **options
    )
    if overwritten:
        raise overwritten

    def once_more():
        with redirect_stdout(io.StringIO()):
            return returned_once(function, args, tried, wanted, (), when="again")[0]

    again, written = _with_marks(once_more, _arrays(got, args))
    if written:
        raise Wrong.of(
            Difference(
                call_of(function, args, tried),
                Note("overwritten"),
                Note("new array"),
                when="and again",
            ),
            Cause("result overwritten"),
        )
    close = options.get("rtol", 1e-6), options.get("atol", 1e-9)
    if not same(again, gives, *close) and not same(
        again := once_more(), gives, *close
    ):  # the marks may have been read
        raise Wrong.of(
            Difference(call_of(function, args, tried), again, wanted, when="again"),
            Cause("state: second call"),
        )
    return got


def _arrays(got, args):
    """Return the arrays in a result, if the arguments are only numbers, arrays and functions.

    For other arguments return an empty list, because the result may be an array of a Tensor.
    """
    try:
        Given(args)
    except TypeError:
        return []
    parts = got if isinstance(got, (tuple, list)) else [got]
    return [
        part
        for part in parts
        if isinstance(part, np.ndarray) and part.dtype.kind in "iufc" and part.flags.writeable
    ]


def _with_marks(call, arrays):
    """Return (result of the call, True if it wrote into one of the arrays).

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
    """Return the result of the learner's function; stop the check if the result cannot be used.

    The check stops if `function` is not a function, returns None, does not end, or overwrites
    `args`.
    """
    got, overwritten = returned_once(function, args, tried, Words(_text(shown)), hints)
    if overwritten:
        raise overwritten
    return got


def returned_once(function, args, tried, wanted, hints, sure=None, when=""):
    """Return the result of a call, and a Wrong that names the argument it overwrote, or None."""

    def difference(got, expected=wanted):
        return Difference(call_of(function, args, tried), got, expected, when=when)

    if not callable(function):
        raise Wrong.of(
            difference(function, Note("a function")),
            Cause("function in a tuple")
            if isinstance(function, (list, tuple)) and any(map(callable, function))
            else Cause("not a function"),
        )
    outcome = run(function, args, printed=Printed())
    error = outcome.error
    if isinstance(error, StepLimitExceeded):
        raise Wrong.of(difference(error), error.cause) from None
    if error:
        error.raised_in = difference(None)
        error.hint = next(
            (
                hint
                for wrong, hint in functions_of(hints)
                if outcome.raises_as(mistaken(wrong, args)) and (not sure or sure(wrong))
            ),
            "",
        )
        raise error
    if outcome.value is None and not is_stub(function):
        raise Wrong.of(difference(None), Cause("printed" if outcome.printed.strip() else "nothing"))
    return outcome.value, _overwritten(function, args, outcome)


def _text(words):
    return words() if callable(words) else words


def _overwritten(function, args, outcome):
    """Return a Wrong that names the argument a call has changed, or None."""
    for before, after in outcome.mutated:
        kind = "list" if isinstance(before, (list, tuple)) else "array"
        return Wrong.of(
            Difference(call_of(function, args), after, before, when=f"{kind} after"),
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
def calls_of(*names, scope=()):
    """Yield a set of the library functions that the block calls: "hvp", "Tensor.backward".

    Use it for a question that asks for the calculation itself. The library's own functions do not
    look these names up, so only calls in the learner's code are collected. `scope` holds the names
    of the learner's code, which may have imported a function by name.
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
    own = [
        (alias, held[k]) for alias in scope for k in range(len(held)) if scope[alias] is held[k][2]
    ]
    for alias, (owner, attribute, _) in own:
        scope[alias] = getattr(owner, attribute)
    try:
        yield called
    finally:
        for alias, (_, _, function) in own:
            scope[alias] = function
        for owner, attribute, function in held:
            setattr(owner, attribute, function)


def expect_own_work(function, args, banned, hint):
    """Stop the check if the learner's function uses something that the question forbids."""
    with calls_of(*banned, scope=getattr(function, "__globals__", ())) as called:
        returned(function, *args, tried="your function", shown="its own work")
    if called:
        names = ", ".join(
            name if "." not in name else f".{name.split('.')[1]}()" for name in sorted(called)
        )
        raise Wrong("the library functions that your function calls", names, "none of these", hint)


def waits(answer, called=False):
    """Return True if the answer is a placeholder, `...` or None.

    If `called`, `answer` is the result of a function, and a None inside it is accepted.
    """
    if isinstance(answer, (tuple, list, dict)):
        return any(
            waits(part, called)
            for part in (answer.values() if isinstance(answer, dict) else answer)
        )
    return answer is ... or answer is None and not called


def unfinished(answer, indices=False):
    """Return True if an answer, or the code of its functions, contains a `...`.

    `indices` has the same meaning as in `has_blank`.
    """
    if isinstance(answer, type):
        answer = dict(vars(answer))
    if isinstance(answer, dict):
        answer = list(answer.values())
    if isinstance(answer, (tuple, list)):
        return any(unfinished(part, indices) for part in answer)
    return answer is ... or has_blank(underneath(answer), indices)
