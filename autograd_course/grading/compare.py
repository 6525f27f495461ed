"""Compare the learner's answer with the right one: `expect` and `expect_call`."""

import io
from contextlib import contextmanager, redirect_stdout
from functools import wraps
from operator import attrgetter

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

    Numbers and arrays must be close and of the same shape. Tuples and lists are compared part by
    part.

    Parameters
    ----------
    got, expected : object
        The learner's value and the right value.
    tried, shown : str or callable
        What was tried, and a description to show in the verdict in place of `expected`. A
        callable returns this string, and is called only if the check fails.
    hints : sequence
        Hints for wrong values, tried in order. A pair (wrong, hint) applies if `got` equals the
        value `wrong`, or the result of the function `wrong` for the same `args`. Any other hint is
        a function that takes `got` and `expected`, and returns a hint or None.
    rtol, atol : float
        The relative and the absolute tolerance.
    args : tuple
        The arguments of the call, if `got` is the result of a call.
    function : callable, optional
        The learner's function, if `got` is its result.
    sure : callable, optional
        A test that a function `wrong` among the hints must pass before its hint is given. It takes
        `wrong`, and returns True if the learner's function agrees with `wrong` on other arguments
        too.

    Raises
    ------
    NotYet
        If `got` is None or contains a placeholder.
    Wrong
        If `got` differs from `expected`.
    """
    if got is None or has_placeholder(got, called=function is not None):
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
    """Return the Call of `function` with `args`, for a Difference.

    `tried` is a description of the call, or a function that returns the description.
    """
    return Call(function, tuple(args), _text(tried) or "")


def expect_call(function, *args, gives, tried=None, hints=(), shown=None, **options):
    """Call the learner's function, check that its result equals `gives`, and return the result.

    The function is called at least twice, each time with copies of `args`. It must end, return the
    same result each time, and change neither the caller's arrays and lists nor an earlier result.
    `tried`, `hints`, `shown` and the other options are those of `expect`; without `tried`, the
    verdict shows the call.

    Raises
    ------
    NotYet
        If the function is still a stub, or if its result contains a placeholder.
    Wrong
        If the function fails one of these tests.
    """
    wanted = Words(_text(shown)) if shown else gives
    got, overwritten = returned_once(function, args, tried, wanted, hints, options.get("sure"))
    expect(
        got, gives, tried=tried, shown=shown, hints=hints, args=args, function=function, **options
    )
    if overwritten:
        raise overwritten

    def call_again():
        with redirect_stdout(io.StringIO()):
            return returned_once(function, args, tried, wanted, (), when="again")[0]

    again, written = _with_marks(call_again, _arrays(got, args))
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
        again := call_again(), gives, *close
    ):  # the marks may have been read
        raise Wrong.of(
            Difference(call_of(function, args, tried), again, wanted, when="again"),
            Cause("state: second call"),
        )
    return got


def _arrays(got, args):
    """Return the writeable numeric arrays in `got`, the result of a call with the arguments `args`.

    Return an empty list if an argument is not a number, an array or a plain function, because an
    array in the result may then belong to that argument, for example to a Tensor.
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
    """Return the result of `call()`, and True if the call wrote into one of the arrays.

    The arrays are filled with the number 99 before the call, and restored after it.
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
    """Return the result of the learner's function for `args`; stop the check if the call fails.

    `tried`, `shown` and `hints` have the same meaning as for `expect`.

    Raises
    ------
    Wrong
        If `function` cannot be called, returns None, does not end, or overwrites an argument.
    Exception
        Any error that the function raises.
    """
    got, overwritten = returned_once(function, args, tried, Words(_text(shown)), hints)
    if overwritten:
        raise overwritten
    return got


def returned_once(function, args, tried, wanted, hints, sure=None, when=""):
    """Call `function` once with copies of `args`, and return (result, overwritten).

    `overwritten` is a Wrong that names the argument that the call overwrote, or None. `wanted` is
    the expected result that a verdict shows, and `when` is a key of sentences.WHEN. The other
    arguments are those of `expect`.

    Raises
    ------
    Wrong
        If `function` cannot be called, returns None, or does not end.
    Exception
        Any error that the function raises. The attribute `hint` of the error is the hint of the
        first mistake in `hints` that raises the same error (and passes `sure`, if given), or "".
    """

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
    """Return a Wrong that names the first argument that the call changed, or None.

    `outcome` is the Outcome of calling `function` with `args`.
    """
    for before, after in outcome.mutated:
        kind = "list" if isinstance(before, (list, tuple)) else "array"
        return Wrong.of(
            Difference(call_of(function, args), after, before, when=f"{kind} after"),
            Cause(f"{kind} overwritten"),
        )
    return None


def times(c, sentence):
    """Return a recogniser of answers that are c times the right value.

    A recogniser is a function that takes the answer and the right value. It returns the hint
    `sentence` if it recognises the answer, and otherwise None.
    """
    return lambda got, expected: (
        sentence if same(got, scaled(c, expected), 1e-5, 0) and np.any(expected) else None
    )


def without(g, sentence=Cause("no g")):
    """Return a recogniser of answers that lack the factor g.

    A recogniser is a function that takes the answer and the right value. It returns the hint
    `sentence` if it recognises the answer, and otherwise None.
    """
    return lambda got, expected: (
        sentence if same(np.multiply(got, g), expected, 1e-5, 1e-9) else None
    )


@contextmanager
def calls_of(*names, scope=()):
    """Yield a set that collects the names of the library functions that the block calls.

    Only the functions in `names` are observed, such as "hvp" or "Tensor.backward". Use this context
    manager for a question that asks the learner to do a calculation without these functions. Calls
    that the library itself makes are not collected, because the library does not look its functions
    up by these names. `scope` is the dict of global names of the learner's code, which may have
    imported a function by name.
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
    """Stop the check if the learner's function is or calls a library function that the question forbids.

    `function` is called with `args`. `banned` holds the names of the forbidden functions, such as
    "hvp" or "Tensor.backward", and `hint` is the hint for a learner who uses one of them.

    Raises
    ------
    Wrong
        If `function` is or calls one of the forbidden functions.
    """
    with calls_of(*banned, scope=getattr(function, "__globals__", ())) as called:
        returned(function, *args, tried="your function", shown="a result")
    called |= {name for name in banned if function is attrgetter(name)(autograd_lib)}
    if called:
        names = ", ".join(
            name if "." not in name else f".{name.split('.')[1]}()" for name in sorted(called)
        )
        raise Wrong("the library functions that your function calls", names, "none of these", hint)


def has_placeholder(answer, called=False):
    """Return True if the answer is or contains a placeholder: `...` or None.

    If `called` is True, `answer` is the result of a function, and None does not count as a
    placeholder.
    """
    if isinstance(answer, (tuple, list, dict)):
        return any(
            has_placeholder(part, called)
            for part in (answer.values() if isinstance(answer, dict) else answer)
        )
    return answer is ... or answer is None and not called


def unfinished(answer, indices=False):
    """Return True if an answer, or the code of its functions, contains a `...`.

    `answer` is a value, a function or a class, or a tuple, list or dict of them. If `indices` is
    True, an index that is only `...`, as in `x[...]`, counts too.
    """
    if isinstance(answer, type):
        answer = dict(vars(answer))
    if isinstance(answer, dict):
        answer = list(answer.values())
    if isinstance(answer, (tuple, list)):
        return any(unfinished(part, indices) for part in answer)
    return answer is ... or has_blank(underneath(answer), indices)
