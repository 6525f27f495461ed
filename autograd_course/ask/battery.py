"""expect_over: a learner's function beside the right one, on arguments that vary in all that an answer may ignore.

    def build(d):                                   # one call's arguments, drawn anew at each call of build
        n, m = d.size(), d.size()
        x = d(n, m)
        return d.g(n), np.sum(x, axis=1), x         # g, z, x
    expect_over(answer, right, build, hints=mistakes)

Sizes: 1, equal to each other, different, larger. Values: of both signs, whole, 0 here and there, all equal, of one
sign, large, small. Of every draw there is a second one in the same sizes; of both another g, which is what `d.g`
gives, and is once all 0; now and then one array stands in two places, whole or with every second entry; and in the
end the first comes once more, and some with another g beside the very same arrays. So whatever is kept from one
call to the next is found out, and whatever is right for one shape or sign alone. The numbers in the answer's own
text are tried too, where it may turn: as values, half and double, as lengths and as how many times. What an
exercise leaves out it says where it draws: `d.above(n)` where a logarithm is taken, `d.size(2)` where an axis has
to be longer than 1; and what may be empty, `d.size(0)`.
"""
import inspect
import io
import re
from contextlib import redirect_stdout
from functools import partial
from itertools import islice

import numpy as np

import autograd_lib as ag

from . import compare
from .compare import Endless, bounded, copies, expect_call, same, unchanged
from .verdict import Wrong, brief, called, formula, named, shortest

NEAR = 1e-9         # of its size: float32 and difference quotients are further off
ROUNDS = 22
KINDS = ["plain", "whole", "gaps", "equal", "above", "below", "large", "small"]


# How a sentence begins that says where something differs, or what kind of thing came back: it is true where it is seen.
PLACES = "Shape ", "nan ", "The first ", "A single ", "An array ", "A number ", "A complex ", "This is "
PART = r"Number \d+ of \d+ differs\.|The others? (is|are) right\."      # of an answer in several parts


class Named(dict):
    """Arguments that are passed by their names, as the engine passes them: the last of what `build` makes."""


class Draw:
    """One call's arguments. Which sizes and which values is told by two numbers: the same ones give the same again."""

    def __init__(self, sizes, values, g=0, near=()):
        self.round, self.kind, self.another_g = sizes, "near" if near else KINDS[sizes % len(KINDS)], g
        self.near, self.lengths = near, [int(c) for c in near if c == int(c) and c > 2]
        self.sizes, self.values, self.arriving = map(np.random.default_rng, (
            [1, sizes], [2, sizes, values % 2], [3, sizes, g]))
        self.turned = values == 2      # the entries of values 0, last to first: a sum or a length tells them not apart

    def size(self, least=1, most=5):
        """The length of an axis; often `least`, now and then `most` + 4; two are often equal, in two rounds all."""
        near = [n for c in self.lengths for n in (c, c + 1) if least <= n <= 40]
        drawn = self.sizes.choice(4 * near + [least, least + 1, least + 1, least + 2, most,
                                              most + 4 * (self.round % 3 == 0)])
        return {10: least + 2, 15: least}.get(self.round, int(drawn))

    def shape(self, *axes):
        """The lengths of so many axes; each of these numbers comes up, and now and then a last axis of length 1."""
        lengths = [self.size() for _ in range(self.choice(*axes))]
        return (*lengths[:-1], 1) if self.round % 10 == 7 and lengths else (*lengths,)

    def choice(self, *choices):
        """One of these, all in the same sizes; each comes up."""
        return choices[int(self.sizes.integers(len(choices)))]

    def __call__(self, *shape):
        """An array of floats, or, without a shape, a number of NumPy's."""
        x = self._drawn(self.values, shape, self.kind)
        return np.flip(x).copy() if self.turned else x

    def g(self, *shape):
        """What arrives: other numbers for the same inputs too."""
        kinds = "plain", "equal", "gaps", "small", "large", "below"
        times = 10 if self.round % 6 == 4 else 0 if self.round == 5 and self.another_g else 1
        return self._drawn(self.arriving, shape, kinds[self.round % 6]) * times

    def above(self, *shape):
        """Numbers above 0."""
        kind = self.kind if self.kind in ("equal", "large", "small", "near") else "above"
        return np.abs(self._drawn(self.values, shape, kind)) + (0 if kind in ("large", "small", "near") else 0.01)

    def another(self, *choices):
        """One of these, and another one in the same place for another g: the function whose slope is asked for."""
        return choices[int(self.arriving.integers(len(choices)))]

    def function(self, *few):
        """One of these functions, as `another`; now and then turned over, and steeper."""
        f = self.another(*few)
        return f if self.arriving.integers(3) else _turned(f)

    def times(self, *few):
        """How many times: one of these, as `another`, and once 130, which is more than anybody would set as a limit."""
        few += tuple(c + 1 for c in self.lengths if c <= 300)
        return 130 if self.round == 5 and self.another_g else self.another(*few)

    def places(self, n, *shape, ends=1):
        """Whole numbers from 0 to n − 1, some repeated, or each once; with `ends=2` also from −n on, from the end."""
        if self.round % 3 == 1 and shape == (n,):
            return self.values.permutation(n)
        low = -n if ends == 2 and self.round % 3 == 0 else 0
        return self.values.integers(low, n if self.round % 4 else max(1, n // 2), shape)[()]

    def axis(self, n, none=True):
        """An axis of n: from either end, several in a tuple or, with `none`, None."""
        some = tuple(range(-n, 0))[:1 + self.round % 3]
        return self.choice(*[None] * none, *range(-n, n), some, some[::-1])

    def _drawn(self, rng, shape, kind):
        x = np.round(rng.normal(scale=2, size=shape), 2)
        x = {"plain": lambda: x, "whole": lambda: np.round(x), "gaps": lambda: x * (rng.uniform(size=shape) < 0.5),
             "equal": lambda: np.zeros(shape) + np.round(rng.normal(), 1), "above": lambda: np.abs(x) + 0.05,
             "below": lambda: -np.abs(x) - 0.05, "large": lambda: 100 * x,
             "near": lambda: rng.choice(self.near, shape) * rng.choice([-2, -1, -0.5, 0.5, 1, 1.001, 2], shape),
             "small": lambda: x / rng.choice([1e6, 1e9, 1e20], shape)}[kind]()      # np.isclose takes the latter for 0
        return np.asarray(x, float)[()]      # of no shape NumPy's number, as the engine gives


def _turned(f):
    def turned(*args):
        return -40 * f(*args)
    turned.__name__ = f"−40·{brief(f)}"
    return formula(f"−40 times {f.formula}")(turned) if hasattr(f, "formula") else turned


def expect_over(function, right, build, *, first=(), hints=(), tried=None, apart=False, rtol=NEAR, atol=None,
                rounds=ROUNDS):
    """Stops the check unless `function` gives what `right` gives, for `first` and for all that `build(draw)` makes.

    `tried` writes, of one call's arguments, what was tried. `apart`: no argument belongs to another one, as z does to
    x, so that each may change alone, or be the very array that stands elsewhere; else only g is. A function
    among the `hints` is the cause only if it does as the learner's does on other draws too.
    """
    def draws():
        yield from first
        for number in (k * 5 % 24 if k < 24 else k for k in range(rounds)):      # so that few rounds have many kinds
            one, other = build(Draw(number, 0)), build(Draw(number, 1, 1))
            yield from (one, other_g := build(Draw(number, 0, 1)), build(Draw(number, 1)))
            if number % 3 == 0:
                yield build(Draw(number, 2))
            for at in range(len(one)) if number % 3 == 0 or number == 10 else ():
                if apart:
                    yield *one[:at], other[at], *one[at + 1:]
                if apart or not unchanged(one[at], other_g[at]):
                    yield from ((*one[:at], x, *one[at + 1:]) for x in _in_place_of(one[at], one))
        if near := numbers_of(function):
            yield from (build(Draw(number, 0, near=near)) for number in range(12))
        yield from [*first, build(Draw(0, 0))][:1]

    for args in draws():
        _expect(function, right, args, hints, tried, rtol, atol, draws)
    for number in 0, 3, 9:
        _expect(function, right, build(Draw(number, 0, 1)), hints, tried, rtol, atol, draws)
        _expect_met_again(function, right, build(Draw(number, 0)), build(Draw(number, 0, 1)), tried, rtol)
    _expect_left_alone(function, build(Draw(0, 0)), build(Draw(0, 1, 1)), tried)


def there_and_back(op):
    """Of an op of Tensors: the function of x and g that gives its value, and what goes back to x where g arrives."""
    def through(x, g):
        value, pull = ag.vjp(op, x)
        op(ag.Tensor(-2 * x))      # a call in between: what the last one kept is no longer of x
        return value, pull(g)[0]
    through.__wrapped__ = op
    return through


def numbers_of(function):
    """The numbers in a function's text, and in the functions in it, beside those that are tried anyway."""
    function, found = inspect.unwrap(function), set()
    parts = function, getattr(function, "function", None), *getattr(function, "rules", ())      # of a row
    todo = [getattr(part, "__code__", None) for part in parts]
    while todo:
        for x in getattr(todo.pop(), "co_consts", ()):
            todo.append(x)
            found |= {float(part) for part in (x if isinstance(x, (tuple, frozenset)) else (x,))
                      if type(part) in (int, float) and 1e-8 <= abs(part) <= 500 and abs(part) not in (1, 2)}
    return sorted(found)


def _in_place_of(place, args):
    """The other arguments that may stand there, each whole, and with every second entry."""
    for x in args:
        if _may_stand_for(x, place):
            yield x
            yield np.where(np.arange(x.size).reshape(x.shape) % 2 == 0, x, place)


def _may_stand_for(x, place):
    """Whether another array of the same shape and dtype is as good there: finite, and above 0 where that is."""
    return (x is not place and isinstance(x, np.ndarray) and isinstance(place, np.ndarray) and x.shape == place.shape
            and x.dtype == place.dtype and np.isfinite(x).all() and bool(np.all(x > 0) or not np.all(place > 0)))


def _expect_met_again(function, right, args, later, tried, rtol):
    """What differs between two calls is g alone, and the second gets the very arrays of the first."""
    f, given = _plain(function, args), copies(args)
    _gives(f, given)
    pairs = zip(given, copies(later))
    got = _gives(f, [a if isinstance(a, (np.ndarray, list)) and unchanged(a, b) else b for a, b in pairs])
    if not same(got, gives := _gives(_plain(right, later), later), rtol, 1e-6):
        raise Wrong(f"{tried(*later) if tried else called(f, later)}, with the arrays of the call before", brief(got), brief(gives),
                    "Right where the arrays are new: something is kept from an earlier call, with another g.")


def _expect_left_alone(function, args, later, tried):
    """That a second call, with other numbers in the same shapes, does not write over what the first one gave."""
    f = _plain(function, args)
    got = _gives(f, copies(args))
    (held,) = copies([got])
    _gives(f, copies(later))
    if not unchanged(held, got):
        raise Wrong(f"{tried(*args) if tried else called(f, args)}, and then another call",
                    brief(got), f"{brief(held)}, as it came back", compare.WRITTEN_OVER)


def _elsewhere(function, right, draws, hints, tried, here, hint, rtol):
    """A cause that was seen at one place, if it is seen nearly wherever the answer is wrong; else where it is right.

    Where an argument is 0 or nearly, as g may be, many a wrong answer is right.
    """
    well, wrong, recognisers = [], [], [one for one in hints if not isinstance(one, tuple)]
    for args in islice(draws(), 60):
        f = _plain(function, args)
        gives, got = _outcome(_plain(right, args), args), _outcome(f, args)
        if same(got, gives, rtol, 1e-9):
            well += [args] * all(np.any(np.abs(a) > 1e-6) for a in args if isinstance(a, (np.ndarray, np.floating)))
        else:
            cause = compare._cause(got, gives, recognisers, args, rtol, 1e-9, compare.parameter_names(f), f)
            wrong.append(_shape_of(cause) == _shape_of(hint))
    if hint and sum(wrong) >= max(2, 2 / 3 * len(wrong)):
        return hint
    places = (tried(*args) if tried else called(function, args) for args in well)
    where = next((place for place in places if place != here), "")
    return f"Right for {shortest(where, 160)}, and not here: what is different?" if where else ""


def _says(one, hint, got, gives):
    """Whether a hint is this one of the exercise's own."""
    try:
        return hint == (one[1] if isinstance(one, tuple) else one(got, gives))
    except (TypeError, ValueError):      # of a ragged tuple
        return False


def _shape_of(sentence):
    """A sentence without its numbers, and without which part of an answer it is about."""
    return re.sub(r"[\d.,() −-]+", " ", re.sub(PART, "", sentence)).strip()


def _named(function):
    """The function, called with a Named in the last place."""
    if not callable(function):
        return function
    def called(*args):
        *args, named = args
        try:
            inspect.signature(function).bind(*args, **named)
        except TypeError:       # lambda g, z, x, *sizes: … takes them in their order alone
            return function(*args, *named.values())
        except ValueError:      # NumPy's own function
            pass
        return function(*args, **named)
    called.__wrapped__ = function       # its letters can be read
    return called


def alike(function, draws, wrong):
    """Whether a mistake does as the learner's function does, on the first sixty of the draws."""
    return all(same(_outcome(_plain(function, args), args), error or value, 1e-5, 1e-9)
               for args in islice(draws(), 60) for value, error in [compare._gives_for(wrong, args)])


def _plain(function, args):
    return _named(function) if args and isinstance(args[-1], Named) else function


def _outcome(function, args):
    return _gives(function, copies(args))


def _gives(function, given):
    with np.errstate(all="ignore"), redirect_stdout(io.StringIO()):
        try:
            return bounded(function, *given)
        except (Exception, Endless) as error:
            return named(error)


def _expect(function, right, args, hints, tried, rtol, atol, draws):
    f, right_f = _plain(function, args), _plain(right, args)
    if f is not function:
        hints = [(_named(one[0]), one[1]) if isinstance(one, tuple) else one for one in hints]
    words = (lambda: tried(*args)) if tried else partial(called, f, args)
    with np.errstate(all="ignore"):
        gives = right_f(*args)
        near = {"rtol": rtol, "atol": atol or 1e-12 * min(max(map(_largest, args), default=1), 1000) ** 2}
        sure = partial(alike, function, draws)
        got, overwritten = compare._returned(f, args, words, lambda: brief(gives), hints, sure)
        if same(got, gives, **near):
            if overwritten:
                raise overwritten
            return
        try:
            expect_call(f, *args, gives=gives, tried=words, hints=hints, sure=sure, **near)
        except Wrong as wrong:
            *shown, hint = wrong.args
            claim = re.sub(PART, "", hint).strip()
            own = (same(got, gives, 5e-5, 0) or claim.startswith(PLACES) or claim != hint and not claim
                   or any(_says(one, hint, got, gives) for one in hints))
            sure = hint if own else _elsewhere(function, right, draws, hints, tried, shown[0], hint, rtol)
            if claim != hint != sure:
                sure = " ".join(hint.replace(claim, "").split())
            raise Wrong(*shown, sure) from None
        raise Wrong(words(), "another result at the first call than at the second", "the same, whatever came before",
                    "Right if asked once more: something is kept from an earlier call, with other arguments.")


def _largest(x):
    """The largest size of a number in an argument; 1 at least."""
    if isinstance(x, (list, tuple)):
        return max(map(_largest, x), default=1)
    numbers = isinstance(x, float) or getattr(x, "dtype", bool) is np.dtype(float)
    return float(np.max(np.abs(x), initial=1)) if numbers else 1
