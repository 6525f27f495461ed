"""The inputs of a check vary in everything that an answer may ignore, and a cause is named only
where it holds.
"""

import functools

import numpy as np
import pytest

from autograd_course.grading import Wrong, expect_over
from autograd_course.grading.causes import Cause, own
from autograd_course.grading.inputs import Draw, Named
from autograd_course.grading.sandbox import StepLimitExceeded, run
from autograd_course.grading.sentences import named


def right(g, x, y):
    return g @ y.T, x.T @ g


def build(d):
    n, k, m = d.size(), d.size(), d.size()
    return d.g(n, m), d(n, k), d(k, m)


def kept(key):
    made = {}

    def answer(*args):
        return made.setdefault(key(*args), right(*args))

    return answer


def where(holds):
    return lambda *args: tuple(part + holds(*args) for part in right(*args))


@pytest.mark.parametrize(
    "answer",
    [
        kept(lambda g, x, y: (g.shape, y.shape)),
        kept(lambda g, x, y: (x.tobytes(), y.tobytes())),
        where(lambda g, x, y: x.shape[0] == x.shape[1] > 1),
        where(lambda g, x, y: x.shape[0] != x.shape[1]),
        where(lambda g, x, y: 1 in x.shape),
        where(lambda g, x, y: x.size > 8),
        where(lambda g, x, y: not np.any(g)),
        where(lambda g, x, y: g is x or g is y),
        where(lambda g, x, y: np.any((x != 0) & np.isclose(x, 0))),
        where(lambda g, x, y: np.any(x == 0)),
        where(lambda g, x, y: np.unique(x).size < x.size),
        where(lambda g, x, y: np.all(x > 0)),
        where(lambda g, x, y: np.all(x < 0)),
        where(lambda g, x, y: np.any(abs(x) > 100)),
        where(lambda g, x, y: np.any((abs(x) < 1e-5) & (x != 0))),
        where(lambda g, x, y: np.all(x == np.mean(x))),
        lambda *args: tuple(np.float32(part) for part in right(*args)),
        lambda *args: tuple(np.round(part, 7) for part in right(*args)),
        lambda *args: tuple(map(np.squeeze, right(*args))),
    ],
)
def test_no_habit_passes(answer):
    with pytest.raises(Wrong):
        expect_over(answer, right, build)
    expect_over(right, right, build)


LIMIT = 3e4


def cut(x, most=2e5):
    return np.minimum(x, most)


class Sliced:
    def __call__(self, x, most=250):
        return np.sum(x[:most])


@pytest.mark.parametrize(
    "answer, right",
    [
        (lambda x: np.clip(x, -LIMIT, None), lambda x: x),
        (lambda x: cut(x), lambda x: x),
        (functools.partial(lambda most, x: np.minimum(x, most), 400), lambda x: x),
        ((lambda most: lambda x: x * (np.max(x) < most))(5e3), lambda x: x),
        (Sliced(), np.sum),
        (lambda x: np.sum(x[:1000]), np.sum),
    ],
)
def test_so_are_those_of_what_it_calls_and_keeps(answer, right):
    with pytest.raises(Wrong):
        expect_over(answer, right, lambda d: (d(d.size()),))


def test_an_undefined_name_is_not_a_number():
    def answer(x):
        return x if np.size(x) else later

    expect_over(answer, lambda x: x, lambda d: (d(d.size()),))
    later = 0


def test_what_overflows_or_takes_long_is_not_tried():
    def in_pairs(x):
        return 800 * sum(one * other for one in x for other in x) / 800 + 0 * len(x[:900])

    expect_over(in_pairs, lambda x: np.sum(x) ** 2, lambda d: (d(d.size()),))
    expect_over(lambda x: np.exp(x) if np.max(x) < 1e5 else x, np.exp, lambda d: (d(d.size()) / 4,))


@pytest.mark.parametrize(
    "answer",
    [
        lambda x: np.where(abs(x) == 12.34, 0, np.exp(x)),
        lambda x: np.where((x > 23.4) & (x < 23.5), 0, np.exp(x)),
        lambda x: np.exp(np.where((x > 2e-4) & (x < 1e-3), 1e-3, x)),
        lambda x: np.exp(x) * (len(x) not in (23, 31)),
    ],
)
def test_the_numbers_in_an_answer_are_where_it_is_tried(answer):
    with pytest.raises(Wrong):
        expect_over(answer, np.exp, lambda d: (d(d.size()),))


def test_a_loop_that_stops_at_its_own_number():
    def doubled(x, times):
        for i in range(times):
            x = x + x / 1000 * (i < 200)
        return x

    with pytest.raises(Wrong):
        expect_over(doubled, lambda x, times: x * 1.001**times, lambda d: (d(), d.times(2, 3)))


def test_the_same_numbers_give_the_same_arguments():
    one, again, other_g, other = (
        build(Draw(*numbers)) for numbers in [(3, 0), (3, 0), (3, 0, 1), (3, 1)]
    )
    assert all(map(np.array_equal, one, again))
    assert np.array_equal(one[1], other_g[1]) and not np.array_equal(one[0], other_g[0])
    assert [x.shape for x in one] == [x.shape for x in other] and not np.array_equal(
        one[1], other[1]
    )


def test_an_array_is_met_again_beside_another_g():
    seen = []

    def answer(g, x, y):
        if not (seen and seen[0] is x):
            seen[:] = x, right(g, x, y)
        return seen[1]

    with pytest.raises(Wrong) as wrong:
        expect_over(answer, right, build)
    assert wrong.value.difference.when == "other g"


def test_other_entries_of_the_same_sum_are_met():
    made = {}
    with pytest.raises(Wrong):
        expect_over(
            lambda x: made.setdefault(tuple(sorted(x)), 2 * x),
            lambda x: 2 * x,
            lambda d: (d(d.size()),),
        )


def test_one_array_stands_in_two_places_only_where_it_may():
    met = []

    def seen(x, y, v):
        met.append((x is y, x is v, v is x and np.any(v < 0)))
        return x + y + v

    expect_over(seen, lambda x, y, v: x + y + v, lambda d: (d(4), d(4), d.above(4)), apart=True)
    assert any(one for one, *_ in met) and any(two for _, two, _ in met)
    assert not any(below for *_, below in met)  # v is drawn positive


def test_an_array_is_met_with_every_second_entry_of_another():
    met = []
    expect_over(
        lambda x, y: met.append((x == y).tolist()) or x + y,
        lambda x, y: x + y,
        lambda d: (d(11), d(11)),
        apart=True,
    )
    assert [True, False] * 5 + [True] in met


def test_a_function_is_tried_turned_over_too():
    drawn = {
        f.__name__: f(2.0)
        for f in (
            Draw(round, 0, g).function(np.square, np.sqrt) for round in range(9) for g in (0, 1)
        )
    }
    assert drawn["square"] == 4 and drawn["−40·np.square"] == -160


def test_an_axis_is_drawn_in_every_way_and_a_place_from_both_ends():
    axes = {
        build(Draw(round, 0))
        for round in range(22)
        for build in (lambda d: d.axis(3), lambda d: d.axis(2))
    }
    assert {None, 0, -1, 2, -3} < axes and {
        len(axis) for axis in axes if isinstance(axis, tuple)
    } == {1, 2, 3}
    places = [Draw(round, 0).places(3, 9, ends=ends) for round in range(22) for ends in (1, 2)]
    assert np.min(places[::2]) == 0 and np.min(places[1::2]) == -3 and np.max(places) == 2
    shapes, times = zip(
        *(
            (d.shape(0, 1, 3), d.times(1, 2))
            for d in (Draw(round, 0, g) for round in range(22) for g in (0, 1))
        )
    )
    assert (
        set(map(len, shapes)) == {0, 1, 3}
        and any(shape[-1:] == (1,) < shape for shape in shapes)
        and set(times) == {1, 2, 130}
    )


def test_arguments_that_belong_to_no_other_change_alone():
    answer = functools.lru_cache(lambda x, y: x + y)
    part = lambda x, y: answer(x, y) if y > 0 else x + y  # noqa: E731
    expect_over(part, lambda x, y: x + y, lambda d: (d(), d()), apart=True)
    made = {}
    with pytest.raises(Wrong):
        expect_over(
            lambda x, y: made.setdefault(y, x + y),
            lambda x, y: x + y,
            lambda d: (d(), d()),
            apart=True,
        )


def cause(answer, right, build, hints, **more):
    with pytest.raises(Wrong) as wrong:
        expect_over(answer, right, build, hints=hints, **more)
    return wrong.value.cause


def test_a_mistake_is_named_only_where_the_answer_makes_it_elsewhere_too():
    hints = [(lambda x: abs(x), "The size of x.")]
    size = cause(lambda x: abs(x), lambda x: 2 * x, lambda d: (d(),), hints, first=[(0.77,)])
    assert size == own("The size of x.")
    elsewhere = cause(
        lambda x: 0.77 if x == 0.77 else 2 * x,
        lambda x: 2 * x,
        lambda d: (d(),),
        hints,
        first=[(0.77,)],
    )
    assert elsewhere.kind == "right elsewhere"


def test_where_it_is_right_is_another_place_and_not_one_of_zeros():
    zeros = cause(lambda g, x: g * x + g, lambda g, x: g * x, lambda d: (d.g(), d()), ())
    assert zeros == Cause()
    alike = cause(
        lambda x: x + 1.5 * (x > 7) - (x < 0) / 3,
        lambda x: x,
        lambda d: (d(),),
        (),
        first=[(2.0,), (9.0,)],
        tried=lambda x: f"x above {2 * (x > 1)}",
    )
    assert alike == Cause("right elsewhere", ("x above 0",))


def test_a_mistake_is_not_named_where_an_example_tells_them_apart():
    hints = [(lambda x: abs(x), "The size of x.")]
    first = [(0.77,), (5.0,)]
    apart = cause(
        lambda x: 7.0 if x == 5 else abs(x), lambda x: 2 * x, lambda d: (d(),), hints, first=first
    )
    assert apart.kind != "own"


def test_a_cause_that_any_exercise_knows_too():
    assert cause(lambda x: 4 * x, lambda x: 2 * x, lambda d: (d(),), ()) == Cause("double")
    once = cause(
        lambda x: 4 * x if x == 0.77 else 2 * x,
        lambda x: 2 * x,
        lambda d: (d(),),
        (),
        first=[(0.77,)],
    )
    assert once.kind == "right elsewhere"
    signs = cause(
        lambda x: x - np.sign(x), lambda x: 0.77 * x, lambda d: (d() or 1.0,), (), first=[(3.0,)]
    )
    assert signs == Cause()  # 2 is 2.31 cut off to a whole number, by chance


def test_by_name_as_the_engine_calls():
    def rule(g, x, *, axis):
        return g * np.ones(x.shape).sum(axis)

    shown = lambda d: (d.g(), d(2, d.size()), Named(axis=d.choice(0, 1)))  # noqa: E731
    expect_over(rule, rule, shown, tried=lambda g, x, named: f"axis={named['axis']}")
    doubled = [(lambda g, x, axis: 2 * rule(g, x, axis=axis), "Twice.")]
    twice = cause(lambda g, x, axis: 2 * rule(g, x, axis=axis), rule, shown, doubled)
    assert twice == own("Twice.")


def test_a_text_that_reads_like_an_error_is_not_that_error():
    def fails(kind=ValueError):
        raise kind("no such axis")

    raised, text = run(fails, ()), run(lambda: named(raised.error), ())
    assert raised.raises_as(run(fails, ())) and not text.raises_as(raised)
    assert not raised.raises_as(run(fails, (TypeError,)))


def test_a_variable_without_a_value_is_the_same_error_whatever_its_name():
    def first(n):
        for _ in range(n):
            to_x = n
        return to_x

    def other(n):
        for _ in range(n):
            Bu = n
        return Bu

    assert run(first, (0,)).raises_as(run(other, (0,)))
    assert not run(first, (1,)).raises_as(run(other, (1,)))


def test_an_outcome_holds_what_was_printed_and_which_argument_was_changed():
    def fill(x, y):
        print("filled")
        y[...] = 7

    outcome = run(fill, (np.zeros(2), np.zeros(2)))
    assert outcome.printed == "filled\n"
    ((before, after),) = outcome.mutated
    assert before.tolist() == [0, 0] and after.tolist() == [7, 7]
    assert isinstance(run(lambda: [0 for _ in iter(int, 1)], (), most=100).error, StepLimitExceeded)
