"""Compare a learner's function with the right one on varied arguments: `expect_over`.

    def build(d):  # the arguments of one call, drawn with the Draw d
        n, m = d.size(), d.size()
        x = d(n, m)
        return d.g(n), np.sum(x, axis=1), x  # g, z, x
    expect_over(answer, right, build, hints=mistakes)

The sizes drawn are 1, equal to each other, different, and larger. The values drawn have both signs
or one sign, and are whole, partly 0, all equal, large or small. Every draw is followed by a second
draw with the same sizes, and both are repeated with a new upstream gradient g from `d.g`. One g is
all 0. Sometimes one array is used in two places, whole or with every second entry. At the end the
first draw is repeated, and some arrays are repeated with a different g. In this way the check finds
functions that keep a value from one call to the next, and functions that are right for one shape or
sign only.

The numbers in the learner's code are tried too, because the behaviour of the function may change
there. They are used as values (exactly, slightly changed, and multiplied by 3), as the length of an
axis, and as a number of calls.

An exercise restricts the draws in `build`. It uses `d.above(n)` for the argument of a logarithm,
`d.size(2)` for an axis longer than 1, and `d.size(0)` for an axis that may be empty. The argument
`most` of `d.size` limits an axis that would be slow if it were long.
"""

import inspect
from functools import cache, lru_cache, partial
from itertools import accumulate, combinations, islice, tee
from types import CellType, CodeType

import numpy as np

import autograd_lib as ag

from ..source import underneath
from .causes import NO_EXPLANATION, Cause, Difference, Note, own
from .compare import call_of, expect_call, returned_once
from .likely_cause import likely_cause, mistaken, parameter_names
from .same import same
from .sandbox import StepLimitExceeded, copies, run, unchanged
from .sentences import brief, called, formula, shortest
from .verdict import Wrong

NEAR = 1e-9  # relative tolerance, which float32 and difference quotients do not meet
ROUNDS = 22
# Numbers from an answer's code are tried between the bounds NUMBERS, and between MEASURED where
# slopes are measured. LONG is the largest length, MOST the number of draws, WORK that of steps.
NUMBERS, MEASURED, LONG, MOST, WORK = (1e-8, 1e6), (1e-3, 10), 3000, 40, 20_000
KINDS = ["plain", "whole", "gaps", "equal", "above", "below", "large", "small"]


ONES, ZEROS_FIRST = (
    2,
    4,
)  # a g of ones; a g whose first rows are 0: random numbers never give these

_seed = cache(
    lambda *parts: np.random.SeedSequence(parts)
)  # cached, since it takes half of the time to create a generator


class Named(dict):
    """Hold the keyword arguments that the engine passes to a rule.

    If a rule takes keyword arguments, `build` returns a Named as the last argument of the call.
    """


class Draw:
    """Draw random arguments for one call.

    Equal parameters always give the same arguments.

    Parameters
    ----------
    sizes : int
        The number of the round, from 0. It determines all sizes, and the kind of values (see
        KINDS).
    values : int
        Determines the values: 0 and 1 give two different draws, and 2 gives the values of 0 in
        reverse order.
    g : int
        Determines the upstream gradient: 0 and 1 give two different draws, ONES gives ones, and
        ZEROS_FIRST gives 0 in the first half of the rows.
    near : sequence of float
        Numbers from the answer's code, which are used as values. If there are none, all values are
        random.
    long : (int, int)
        (length, n): the n-th axis drawn, counted from 1, gets this length. (0, 0) changes nothing.
    """

    def __init__(self, sizes, values, g=0, near=(), long=(0, 0)):
        self.round, self.another_g = sizes, g % ONES
        self.special = g
        self.kind = "near" if near else "plain" if long[0] else KINDS[sizes % len(KINDS)]
        self.near, self.long, self.drawn = (
            near,
            long,
            0,
        )  # long is (length, n): the length of the n-th axis drawn
        self.sizes, self.values, self.arriving = map(
            np.random.default_rng,
            (_seed(1, sizes), _seed(2, sizes, values % 2), _seed(3, sizes, g % ONES)),
        )
        self.flipped = (
            values == 2
        )  # reverse the entries of values 0: a sum or a length cannot tell the two apart

    def size(self, least=1, most=5):
        """Return a random length for an axis, at least `least`.

        The length is often `least`. Lengths near `least` and the length `most` are drawn too, and
        in some rounds `most` + 4. Two lengths are often equal, and in two rounds all lengths are
        equal. If this Draw tests a length that was found in the answer's code, one axis gets that
        length, unless it is too large.
        """
        drawn = self.sizes.choice(
            [least, least + 1, least + 1, least + 2, most, most + 4 * (self.round % 3 == 0)]
        )
        return self._long(least, LONG if most == 5 else 40) or {10: least + 2, 15: least}.get(
            self.round, int(drawn)
        )

    def _long(self, least, most):
        length, place = self.long
        self.drawn += 1
        return length if self.drawn == place and least <= length <= most else 0

    def shape(self, *axes):
        """Return a random shape, a tuple of axis lengths.

        The number of axes is one of the numbers in `axes`. In some rounds the last axis has length
        1.
        """
        lengths = [self.size() for _ in range(self.choice(*axes))]
        return (*lengths[:-1], 1) if self.round % 10 == 7 and lengths else (*lengths,)

    def choice(self, *choices):
        """Return one of `choices` at random.

        Draws with the same sizes make the same choice. Over all rounds, every choice occurs.
        """
        return choices[int(self.sizes.integers(len(choices)))]

    def __call__(self, *shape):
        """Return an array of random floats with this shape or, without a shape, a NumPy scalar."""
        x = self._drawn(self.values, shape, self.kind)
        return np.flip(x).copy() if self.flipped else x

    def g(self, *shape):
        """Return an upstream gradient of this shape.

        Its entries are random. In some draws, they are all 1, all 0, or 0 in the first half of the
        rows.
        """
        if self.special == ONES:
            return np.ones(shape)[()]
        g = self._random_g(*shape)
        if self.special == ZEROS_FIRST and np.ndim(g):
            g[: (len(g) + 1) // 2] = 0
        return g

    def _random_g(self, *shape):
        """Return a random upstream gradient of this shape.

        Two draws with the same inputs may have different upstream gradients.
        """
        kinds = "plain", "equal", "gaps", "small", "large", "below"
        times = 10 if self.round % 6 == 4 else 0 if self.round == 5 and self.another_g else 1
        kind = self.kind if self.long[0] or self.near and self.round % 3 else kinds[self.round % 6]
        return self._drawn(self.arriving, shape, kind) * times

    def above(self, *shape):
        """Return an array of positive random numbers with this shape.

        Without a shape, return a NumPy scalar.
        """
        kind = self.kind if self.kind in ("equal", "large", "small", "near") else "above"
        return np.abs(self._drawn(self.values, shape, kind)) + (
            0 if kind in ("large", "small", "near") else 0.01
        )

    def another(self, *choices):
        """Return a random choice, which may differ between draws that differ only in g.

        For example, `build` uses this method to choose the function whose slope the learner
        computes. If all choices are numbers and this Draw tries numbers from the answer's code, the
        result is a tried number between the smallest and the largest choice, if possible.
        """
        if self.near and not any(map(callable, choices)):
            whole = all(type(x) is int for x in choices)
            choices = [
                int(x) if whole else x for x in self.near if min(choices) <= x <= max(choices)
            ] or choices
        return choices[int(self.arriving.integers(len(choices)))]

    def function(self, *few):
        """Return one of the functions in `few`, chosen by `another`.

        One time in three, the result is −40 times this function.
        """
        f = self.another(*few)
        return f if self.arriving.integers(3) else _scaled(f)

    def times(self, *few):
        """Return a number of calls: one of the numbers in `few`, chosen by `another`.

        In one round the result is 130, which is above any likely limit in an answer. If this Draw
        tests a length that was found in the answer's code, the result may be that length.
        """
        return self._long(0, 300) or (
            130 if self.round == 5 and self.another_g else self.another(*few)
        )

    def places(self, n, *shape, ends=1):
        """Return an integer array of this shape, whose entries are indices from 0 to n − 1.

        Some indices are usually repeated. But in a third of the rounds, if the shape is (n,), each
        index occurs exactly once. With `ends=2`, a third of the rounds use negative indices too,
        from −n.
        """
        if self.round % 3 == 1 and shape == (n,):
            return self.values.permutation(n)
        low = -n if ends == 2 and self.round % 3 == 0 else 0
        return self.values.integers(low, n if self.round % 4 else max(1, n // 2), shape)[()]

    def axis(self, n, none=True):
        """Return a random value for the argument `axis` of a NumPy function.

        For an array with n axes, the value is an axis from −n to n − 1, a tuple of axes, or None.
        If `none` is False, the value is never None.
        """
        some = tuple(range(-n, 0))[: 1 + self.round % 3]
        return self.choice(*[None] * none, *range(-n, n), some, some[::-1])

    def _near(self, rng, shape):
        """Return an array of this shape, made from the numbers in the answer's code.

        Depending on the round, the array repeats one of the numbers, holds random values around one
        of them, or holds many of the numbers. Each call starts with a different number. `rng` is
        the random generator.
        """
        self.drawn += 1
        turn = np.roll(np.random.default_rng(self.drawn).permutation(self.near), self.round)
        if not shape or self.round % 3 == 0:
            return np.full(shape, turn[0])
        about = rng.choice([1, turn[1]]) * rng.normal(size=shape)
        return turn[0] + about if self.round % 3 == 1 else np.resize(turn, shape)

    def _drawn(self, rng, shape, kind):
        x = np.round(rng.normal(scale=2, size=shape), 2)
        x = {
            "plain": lambda: x,
            "whole": lambda: np.round(x),
            "gaps": lambda: x * (rng.uniform(size=shape) < 0.5),
            "equal": lambda: np.zeros(shape) + np.round(rng.normal(), 1),
            "above": lambda: np.abs(x) + 0.05,
            "below": lambda: -np.abs(x) - 0.05,
            "large": lambda: 100 * x,
            "near": lambda: self._near(rng, shape),
            "small": lambda: x / rng.choice([1e6, 1e9, 1e20], shape),
        }[kind]()  # np.isclose takes the small ones for 0
        return np.asarray(x, float)[()]  # without a shape, a NumPy scalar, as the engine gives


def _scaled(f):
    def scaled(*args):
        return -40 * f(*args)

    scaled.__name__ = f"−40·{brief(f)}"
    return formula(f"−40 times {f.formula}")(scaled) if hasattr(f, "formula") else scaled


def expect_over(
    function,
    right,
    build,
    *,
    first=(),
    hints=(),
    tried=None,
    apart=False,
    rtol=NEAR,
    atol=None,
    rounds=ROUNDS,
):
    """Stop the check unless `function` agrees with `right` on all arguments that are tried.

    Parameters
    ----------
    function, right : callable
        The learner's function and the right one.
    build : callable
        Takes a Draw and returns the arguments of one call, as a tuple.
    first : sequence of tuples
        The arguments of calls to try before those that `build` returns.
    hints : sequence
        Hints as for `expect`. A pair (wrong function, hint) applies only if the wrong function
        agrees with the learner's function on other draws too.
    tried : callable, optional
        Takes the arguments of a call and returns the text that a verdict shows for the call.
    apart : bool
        True if no argument depends on the others. Then each argument is also changed alone and
        replaced by another argument. Otherwise this happens only to g, because z, for example,
        depends on x.
    rtol, atol : float
        The relative and the absolute tolerance. If `atol` is None, the absolute tolerance depends
        on the size of the arguments.
    rounds : int
        The number of rounds, each with its own sizes.

    Raises
    ------
    NotYet
        If the learner's function is still a stub.
    Wrong
        If the two functions disagree, or if the learner's function depends on earlier calls.
    """

    def every():
        yield from first
        for number in (
            k * 5 % 24 if k < 24 else k for k in range(rounds)
        ):  # so that few rounds have many kinds
            one, other = build(Draw(number, 0)), build(Draw(number, 1, 1))
            yield from (one, other_g := build(Draw(number, 0, 1)), build(Draw(number, 1)))
            if number % 3 == 0:
                yield build(Draw(number, 2))
            for at in range(len(one)) if number % 3 == 0 or number == 10 else ():
                if apart:
                    yield *one[:at], other[at], *one[at + 1 :]
                if apart or not unchanged(one[at], other_g[at]):
                    yield from (
                        (*one[:at], x, *one[at + 1 :]) for x in _replacements_for(one[at], one)
                    )
        yield from (
            args
            for args in map(
                build, _draws_at_thresholds(function, NUMBERS if rtol <= NEAR else MEASURED)
            )
            if _is_sure(function, right, args, rtol, atol)
        )
        yield from (
            build(Draw(number, 0, special))
            for number in (3, 4, 11)
            for special in (ONES, ZEROS_FIRST)
        )
        yield from [*first, build(Draw(0, 0))][:1]

    # each is made once, even if the draws are iterated over several times
    draws = tee(every(), 1)[0].__copy__
    for args in draws():
        _expect(function, right, args, hints, tried, rtol, atol, draws)
    for number in 0, 3, 9:
        _expect(function, right, build(Draw(number, 0, 1)), hints, tried, rtol, atol, draws)
        _expect_with_same_arrays(
            function, right, build(Draw(number, 0)), build(Draw(number, 0, 1)), tried, rtol
        )
    _expect_result_kept(function, build(Draw(0, 0)), build(Draw(0, 1, 1)), tried)


def value_and_vjp(op):
    """Return a function that computes the value of `op` and its gradient with respect to x.

    `op` takes a Tensor and returns a Tensor. The returned function takes the array x and the
    upstream gradient g, and returns the pair (value, gradient). Before the backward pass, it calls
    `op` with another input, so that the gradient is wrong if `op` stores values of its last call.
    """

    def through(x, g):
        value, pull = ag.vjp(op, x)
        # call the op on another input, so that state kept by the op does not belong to x
        op(ag.Tensor(-2 * x))
        return value, pull(g)[0]

    through.__wrapped__ = op
    return through


def numbers_of(answer):
    """Return the absolute values of the numbers in an answer's code, in ascending order.

    The code of the learner's functions that the answer calls is included. The numbers 1 and 2 are
    left out, because they are tried anyway.
    """
    found, met, todo = set(), set(), [(answer, {})]
    while todo:
        x, names = todo.pop()
        if isinstance(x, (int, float)):
            found |= {float(abs(x))} if abs(x) <= NUMBERS[1] else set()
        elif isinstance(x, (tuple, list, frozenset)):
            todo += [(part, names) for part in x]
        elif isinstance(x, CodeType):
            read = map(names.get, x.co_names)
            todo += [
                (part, names)
                for part in (
                    *x.co_consts,
                    *(
                        part
                        for part in read
                        if isinstance(part, (int, float))
                        or getattr(part, "__globals__", 0) is names
                    ),
                )
            ]
        elif callable(x) and id(x) not in met:
            met.add(id(x))
            todo += [
                (part, {})
                for part in (*getattr(x, "__dict__", {}).values(), getattr(x, "args", ()))
            ]
            f = underneath(x)
            if hasattr(f, "__code__"):
                kept = [
                    cell.cell_contents for cell in f.__closure__ or () if cell != CellType()
                ]  # one may be empty
                todo += [(part, f.__globals__) for part in (f.__code__, f.__defaults__ or (), kept)]
    return sorted(c for c in found if c not in (1, 2))  # 1 and 2 are tried anyway


def thresholds_in_source(answer, least=NUMBERS[0], most=NUMBERS[1]):
    """Return values at which the behaviour of an answer may change, according to its code.

    For each number c in the code with an absolute value from `least` to `most`, the values are c,
    1.001 c, 0.999 c and 3 c. The midpoint of each pair of neighbouring c is added. The list
    contains all values with both signs.
    """
    some = [c for c in numbers_of(answer) if least <= c <= most]
    values = [c * by for c in some for by in (1, 1.001, 0.999, 3)] + [
        sum(two) / 2 for two in zip(some, some[1:])
    ]
    return values + [-x for x in values]


def lengths_of(answer, most=LONG):
    """Return lengths at which the behaviour of an answer may change, according to its code.

    For each whole number c in the code with 2 < c < `most`, the list contains c + 1 and c. All the
    lengths c + 1 come first.
    """
    return [
        int(c) + more for more in (1, 0) for c in numbers_of(answer) if 2 < c < most and c == int(c)
    ]


def _draws_at_thresholds(answer, some):
    """Yield Draws that try the numbers in the code of `answer`.

    The numbers between the two bounds `some` are first used as values. Then each whole number is
    used as the length of the first, the second and the third axis drawn, until the sum of these
    lengths reaches a limit.
    """
    values = thresholds_in_source(answer, *some)
    yield from (Draw(number, 0, near=values) for number in range(min(2 * len(values), MOST)))
    lengths = [length for length in lengths_of(answer) for _ in range(3)]
    for number, (length, entries) in enumerate(zip(lengths, accumulate(lengths))):
        if entries <= LONG + 10:
            yield Draw(2, 0, long=(length, number % 3 + 1))


def _is_sure(function, right, args, rtol, atol):
    """Return True if a wrong result for `args` can only be the fault of the learner's function.

    This holds if both functions end soon, and if the right result is finite and stable. The result
    is stable if it does not change with the last digits of the arguments.
    """
    floats = [getattr(x, "dtype", np.dtype(int)).kind == "f" for x in args]
    other = [x * (1 + 1e-13 * (-1) ** k) if floats[k] else x for k, x in enumerate(args)]
    calls = [(right, args), (right, other), (function, args)]
    gives, beside, got = (run(_plain(f, given), given, most=WORK) for f, given in calls)
    if gives.error or isinstance(got.error, StepLimitExceeded):
        return False
    return np.isfinite(_largest(gives.value)) and _agree(
        beside, gives, **_tolerance(args, rtol, atol)
    )


def _tolerance(args, rtol, atol):
    return {"rtol": rtol, "atol": atol or 1e-12 * min(_largest(args), 1000) ** 2}


def _replacements_for(place, args):
    """Yield arrays to pass for the argument `place`, so that one array is used in two places.

    The arrays come from `args`, all arguments of the call. Each array that fits is yielded whole,
    followed by a copy of `place` in which every second entry comes from this array.
    """
    for x in args:
        if _can_replace(x, place):
            yield x
            yield np.where(np.arange(x.size).reshape(x.shape) % 2 == 0, x, place)


def _can_replace(x, place):
    """Return True if `x` is a different array that may be passed in place of the array `place`.

    `x` must be finite and have the shape and the dtype of `place`. If all entries of `place` are
    above 0, all entries of `x` must be too.
    """
    return (
        x is not place
        and isinstance(x, np.ndarray)
        and isinstance(place, np.ndarray)
        and x.shape == place.shape
        and x.dtype == place.dtype
        and np.isfinite(x).all()
        and bool(np.all(x > 0) or not np.all(place > 0))
    )


def _expect_with_same_arrays(function, right, args, later, tried, rtol):
    """Stop the check if a second call with the same arrays and a different g is wrong.

    The first call gets `args` and the second call gets `later`. Each array that is equal in both is
    passed as the same object. The other arguments are those of `expect_over`.
    """
    f, given = _plain(function, args), copies(args)
    run(f, args, given)
    pairs = zip(given, copies(later))
    met = [a if isinstance(a, (np.ndarray, list)) and unchanged(a, b) else b for a, b in pairs]
    got, gives = run(f, later, met), run(_plain(right, later), later)
    if not _agree(got, gives, rtol, 1e-6):
        raise Wrong.of(
            Difference(
                call_of(f, later, tried and partial(tried, *later)),
                got.error or got.value,
                gives.error or gives.value,
                when="other g",
            ),
            Cause("state: other g"),
        )


def _expect_result_kept(function, args, later, tried):
    """Stop the check if a second call overwrites the result of the first one.

    The first call gets `args`. The second call gets `later`, different numbers in the same shapes.
    `tried` is as for `expect_over`.
    """
    f = _plain(function, args)
    got = run(f, args).value
    (held,) = copies([got])
    run(f, later)
    if not unchanged(held, got):
        where = call_of(f, args, tried and partial(tried, *args))
        raise Wrong.of(
            Difference(where, got, held, when="another call"), Cause("result overwritten")
        )


def _confirm_cause(function, right, draws, hints, tried, here, cause, rtol):
    """Return `cause` if it explains most of the wrong results of the learner's function.

    It must explain at least two results, and at least two thirds of all wrong results. Otherwise
    return a Cause that names a call on which the answer is right, or an empty Cause if there is no
    such call. The Cause never names a call on which many wrong answers are right, or `here`, the
    call that the verdict shows. `draws()` returns an iterator over the arguments of all calls.
    """
    well, wrong, recognisers = [], [], [one for one in hints if not isinstance(one, tuple)]
    for args in islice(draws(), 60):
        f = _plain(function, args)
        gives, got = run(_plain(right, args), args), run(f, args)
        if _agree(got, gives, rtol, 1e-9):
            well += [args] * _is_informative(args, gives.value)
        elif got.error or gives.error:
            wrong.append(False)
        else:
            letters = parameter_names(f)
            other = likely_cause(got.value, gives.value, recognisers, args, rtol, 1e-9, letters, f)
            wrong.append(other.same_as(cause))
    if cause.kind and sum(wrong) >= max(2, 2 / 3 * len(wrong)):
        return cause
    places = (tried(*args) if tried else called(function, args) for args in well)
    where = next((place for place in places if place != here), "")
    return Cause("right elsewhere", (shortest(where, 160),)) if where else Cause()


def _is_informative(args, gives):
    """Return True if a right result of this call distinguishes a right answer from a wrong one.

    On some calls many wrong answers are right. These are calls in which an argument or the result
    is 0 or nearly 0, in which two arguments are equal, or whose result is an empty list. `gives` is
    the right result.
    """
    arrays = [a for a in args if isinstance(a, (np.ndarray, np.floating))]
    results = gives if isinstance(gives, (tuple, list)) else [gives]
    numbers = [r for r in results if isinstance(r, (int, float, np.ndarray, np.number))]
    return (
        len(results) > 0
        and all(np.any(np.abs(a) > 0.01) for a in arrays + numbers)
        and not any(np.array_equal(a, b) for a, b in combinations(arrays, 2))
    )


def _named(function):
    """Return `function` wrapped so that its last argument, a Named, is passed as keyword arguments.

    If `function` does not accept these keywords, it gets their values by position. A `function`
    that is not callable is returned unchanged.
    """
    if not callable(function):
        return function

    @cache
    def takes(count, *names):
        try:
            inspect.signature(function).bind(*range(count), **dict.fromkeys(names))
        except TypeError:  # lambda g, z, x, *sizes: … takes them in their order alone
            return False
        except ValueError:  # NumPy's own function
            pass
        return True

    def called(*args):
        *args, named = args
        return (
            function(*args, **named)
            if takes(len(args), *named)
            else function(*args, *named.values())
        )

    called.__wrapped__ = function  # its letters can be read
    return called


def alike(function, draws, wrong):
    """Return True if the mistake `wrong` agrees with the learner's function on sixty draws.

    Two calls agree if they return equal values or raise the same error. `draws()` returns an
    iterator over the arguments of all calls, and the first sixty are used.
    """
    return all(
        _agree(run(_plain(function, args), args), mistaken(wrong, args), 1e-5, 1e-9)
        for args in islice(draws(), 60)
    )


def _plain(function, args):
    if not args or not isinstance(args[-1], Named):
        return function
    try:
        return _named_before(function)
    except TypeError:  # an object that cannot be remembered
        return _named(function)


_named_before = lru_cache(maxsize=256)(_named)


def _agree(one, other, rtol, atol):
    """Return True if two Outcomes hold equal values, within the tolerance, or the same error."""
    if one.error or other.error:
        return one.raises_as(other)
    return same(one.value, other.value, rtol, atol)


def _expect(function, right, args, hints, tried, rtol, atol, draws):
    f, right_f = _plain(function, args), _plain(right, args)
    if f is not function:
        hints = [(_plain(one[0], args), one[1]) if isinstance(one, tuple) else one for one in hints]
    words = tried and partial(tried, *args)
    with np.errstate(all="ignore"):
        gives = right_f(*args)
        near = _tolerance(args, rtol, atol)
        sure = partial(alike, function, draws)
        got, overwritten = returned_once(f, args, words, gives, hints, sure)
        if same(got, gives, **near):
            if overwritten:
                raise overwritten
            return
        try:
            expect_call(f, *args, gives=gives, tried=words, hints=hints, sure=sure, **near)
        except Wrong as wrong:
            cause = wrong.cause
            certain = (
                cause.own
                or cause.certain_after_one_call
                or (cause.part and not cause.kind)
                or cause.kind in {own(one[1]).kind for one in hints if isinstance(one, tuple)}
                or same(got, gives, 5e-5, 0)
            )
            if not certain:
                other = _confirm_cause(
                    function, right, draws, hints, tried, wrong.shown[0], cause, rtol
                )
                cause = Cause(part=cause.part) if cause.part and other != cause else other
            if overwritten and cause.kind in NO_EXPLANATION:
                raise overwritten from None
            raise wrong.because(cause) from None
        raise Wrong.of(
            Difference(call_of(f, args, words), Note("first call differs"), Note("same always")),
            Cause("state: other arguments"),
        )


def _largest(x):
    """Return the largest absolute value of the floats in x, but at least 1.

    x is an argument or a result: a number, an array, or a list or tuple of them.
    """
    if isinstance(x, (list, tuple)):
        return float(np.max([1, *map(_largest, x)]))
    numbers = isinstance(x, float) or getattr(x, "dtype", bool) is np.dtype(float)
    return float(np.max(np.abs(x), initial=1)) if numbers else 1
