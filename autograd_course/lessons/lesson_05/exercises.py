"""Ask the questions of lesson 05, in which the learner builds an engine: record, order and accumulate."""

import dis
from itertools import count

import numpy as np

from autograd_lib import Tensor

from ...derivations import Step, derivation
from ...grading import (
    Note,
    NotYet,
    Wrong,
    brief,
    exercise,
    expect,
    expect_engine,
    has_blank,
    returned,
)
from ...grading.causes import Cause, own
from ...grading.inputs import thresholds_in_source
from ...grading.rule_checks import DEEP, FAULTS, engine
from ...grading.same import same
from ...grading.sandbox import StepLimitExceeded
from ...quiz.texts import Question, card, prediction, recall
from ...source import names_in, underneath

# --- What the notebook imports ----------------------------------------------------------------------------------------------

as_found = (
    engine("early").backward
)  # visits each value as soon as it is found, even if some of its users have not been visited
_replaced = engine("=").backward


def replaced(output):
    """Run a backward pass in which each contribution replaces the one before, and add to every `.grad`."""
    _replaced(output)
    for value, g in output.arrived.items():
        if value.inputs:  # the leaves already have theirs
            value.grad += g


class Program:
    """Compute a random expression of a, b and c, for any three objects that support + and *.

    `steps` is a list of tuples (name, x, sign, y), one for each step. The last step is named L.
    `start` holds a number for each of a, b and c. `str` of a Program shows one step per line.
    """

    def __init__(self, steps, start):
        self.steps, self.start = steps, start

    def __call__(self, a, b, c):
        values = {"a": a, "b": b, "c": c}
        for name, x, sign, y in self.steps:
            values[name] = values[x] + values[y] if sign == "+" else values[x] * values[y]
        return values["L"]

    def __str__(self):
        return "\n".join(f"{name} = {x} {sign} {y}" for name, x, sign, y in self.steps)


def random_program(seed, steps=8):
    """Return the random Program for `seed`, which adds or multiplies two earlier values in each of its steps.

    The attribute `start` of the Program holds random numbers for a, b and c. Equal seeds give equal
    Programs.
    """
    rng, known, made = np.random.default_rng(seed), ["a", "b", "c"], []
    for k in range(steps):
        name = "L" if k == steps - 1 else f"p{k + 1}"
        x = known[-1] if k > 1 else str(rng.choice(known))
        made.append((name, x, str(rng.choice(["+", "*"])), str(rng.choice(known))))
        known.append(name)
    return Program(made, [round(float(x), 2) for x in rng.uniform(-1.5, 1.5, 3)])


def score(backward, Value, programs=200):
    """Return the number of random programs for which `backward` computes the same gradients as the library.

    `Value` is the class of the values that `backward` expects. The programs are those of the seeds
    from 0 to programs − 1.
    """
    right = 0
    for program in map(random_program, range(programs)):
        mine, theirs = (
            [Value(x) for x in program.start],
            [Tensor(x, requires_grad=True) for x in program.start],
        )
        backward(program(*mine))
        program(*theirs).backward()
        right += np.allclose([x.grad for x in mine], [x.grad or 0.0 for x in theirs])
    return right


# --- The engine of the lesson, for the checks -------------------------------------------------------------------------------


class _Value:
    """Replace the lesson's Value in a check, to stop an answer that never ends.

    The class counts how often `inputs` is read. After `most` reads, the next read raises
    _StepLimit.
    """

    looks, most, clock = 0, 200_000, count(1)
    learners = None  # the class that has this name in the answer
    __class__ = property(
        lambda self: _Value.learners or type(self)
    )  # so that isinstance accepts it

    def __init__(self, data, inputs=(), locals=(), name="a Value"):
        self.data, self.grad, self.locals, self.name = data, 0.0, locals, name
        self._inputs, self.number = inputs, next(_Value.clock)

    @property
    def inputs(self):
        _Value.looks += 1
        if _Value.looks > _Value.most:
            raise _StepLimit
        return self._inputs

    @inputs.setter
    def inputs(self, inputs):
        self._inputs = inputs

    def __hash__(
        self,
    ):  # scrambled, so that no set is in the right order by luck, and the same in every run
        return int(13 * self.number)

    def __repr__(self):
        return self.name

    def __add__(self, other):
        return type(self)(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        return type(self)(self.data * other.data, (self, other), (other.data, self.data))

    def called(self, name):
        self.name = name
        return self


_Value.__name__ = "Value"  # what an error of Python calls it


class _StepLimit(Exception):
    pass


# --- Record -----------------------------------------------------------------------------------------------------------------

KEPT = "Your function keeps its result and writes into it at the next call. Make a new tuple or list inside the function, at each call."
PAIRED = "Each local gradient fits its input, but the order differs from that of add: the inputs should be (x, y), and the local gradients in the same order."
NO_GRAD = "Your local gradients change with x.grad or y.grad. In the forward pass, .grad plays no part: each local gradient is the other number, .data."
NUMBERS = "x and y are Values. Multiply their numbers: x.data * y.data."


@exercise(
    "05.multiply",
    minutes=3,
    difficulty="easy",
    importance=3,
    question="""
        Write `multiply(x, y)`, modelled on `add`. It returns one new Value, made from three things: the product of the two numbers,
        the inputs (x, y), and a local gradient for each input, in the same order.""",
    stub="""
        def multiply(x, y):
            ...""",
    hints=[
        "`add` has 1.0 and 1.0, because a sum moves exactly as far as the input that moves. How far does a product move if x moves?",
        "In z = x · y, the local gradient of x is y, and the local gradient of y is x. In code, these numbers are `y.data` and `x.data`.",
    ],
    solution="""
        def multiply(x, y):
            return Value(x.data * y.data, (x, y), (y.data, x.data))""",
    explained="The first local gradient belongs to the first input, and it is the *other* number: multiply swaps.",
    why="This one line stores everything that the backward pass will need: the inputs, and how strongly each of them moves the result.",
    names=lambda: {"Value": _Value},
)
def multiply(answer):
    _expect_function(answer, "multiply(x, y)")

    class Plain(_Value):  # as the lesson's so far: without + and *
        __add__ = __mul__ = lambda self, other: NotImplemented

    Plain.__name__ = "Value"
    for a, b in [
        *((x, 0.75) for x in thresholds_in_source(answer)),
        (3.0, -2.5),
        (0.5, 0.25),
        (0.0, -1.5),
        (7.0, None),
        (1.0, -4.5),
        (4.5, 1.0),
        (1.0, 4.5),
        (-2.5, -2.5),
        (3e-7, 4e6),
        (-4e5, 3e-4),
        (-1 / 3, 1 / 7),
        (-1.0, None),
        (2.0, 2.0),
        (0.0, 0.0),
    ]:
        x = Plain(a, name="x")
        y = x if b is None else Plain(b, name="y")
        x.number, y.number = sorted(
            (x.number + 0.5, y.number + 0.5), reverse=a < 1
        )  # either may be the older one
        call = (
            f"multiply(x, x), where x holds {a:g}"
            if b is None
            else f"multiply(x, y), where x holds {a:g} and y holds {b:g}"
        )
        x.grad, y.grad = 0.25, 0.5
        before = [dict(vars(one)) for one in (x, y)]
        try:
            z = returned(answer, x, y, tried=call, shown="a Value")
        except ZeroDivisionError as error:
            error.hint = "A factor may be 0, so do not divide. The other number is available as y.data or x.data."
            raise
        except (TypeError, AttributeError) as error:
            error.hint = NUMBERS if "for *: 'Value' and 'Value'" in str(error) else _slip(error)
            raise
        if [vars(one) for one in (x, y)] != before:
            raise Wrong(
                f"x and y after {call}",
                "changed",
                "unchanged",
                "multiply only records: it makes one new Value, and does not change x or y.",
            )
        if not all(hasattr(z, part) for part in ("data", "inputs", "locals")):
            raise Wrong(
                call,
                brief(z),
                "a Value",
                "Return one new Value, Value(number, inputs, locals), because a plain number does not store how it was made.",
            )
        if isinstance(z.data, _Value):
            raise Wrong(
                f"the number in the result of {call}", brief(z.data), brief(a * y.data), NUMBERS
            )
        expect(
            z.data,
            a * y.data,
            rtol=1e-14,
            atol=0,
            tried=f"the number in the result of {call}",
            hints=[
                (
                    round(a * y.data),
                    "The product may have a fraction: do not round it to a whole number.",
                ),
                (a + y.data, "That is the sum. Return the product: x.data * y.data."),
            ],
        )
        _expect_inputs(z, (x, y), call)
        if any(
            hasattr(local, "data") and hasattr(local, "inputs")
            for local in np.ravel(np.array(z.locals, object))
        ):
            raise Wrong(
                f"the local gradients in the result of {call}",
                brief(z.locals),
                brief((y.data, a)),
                "One of these is a Value. A local gradient is a number: y.data, not y.",
            )
        expect(
            z.locals,
            (y.data, a),
            rtol=1e-14,
            atol=0,
            tried=f"the local gradients in the result of {call}",
            hints=[
                (
                    (a, y.data),
                    "The two are swapped: the local gradient of x is the other factor, y.",
                ),
                ((1.0, 1.0), "Those are the local gradients of add."),
                ((), "Pass the two local gradients to Value too: here a result stores numbers."),
                *[
                    (
                        (a * y.data,) * 2,
                        "That is the result, twice. How far does the result move if only x moves by 1?",
                    )
                ]
                * bool(a * y.data),
                (
                    (y.grad, x.grad),
                    "Those are gradients, which are not known yet. A local gradient is computed from the numbers, .data.",
                ),
                (
                    (int(y.data), int(a)),
                    "Do not round: each local gradient is the other number, unchanged.",
                ),
                (
                    (abs(y.data), abs(a)),
                    "A local gradient keeps its sign: it is the other number, unchanged.",
                ),
                lambda got, expected: NO_GRAD if _reads_grad(answer, x, y) else None,
            ],
        )
        expect(
            z.grad,
            0.0,
            tried=f"the .grad of the result of {call}",
            hints=[
                (
                    1.0,
                    "There has been no backward pass yet: .grad stays 0, and backward will fill it.",
                )
            ],
        )
        if z.number in (x.number, y.number):
            raise Wrong(
                f"the .number of the result of {call}",
                "the number of an input",
                "its own number",
                "Each Value gets its .number when it is created, and order sorts by .number: do not change it.",
            )
        if answer(x, y) is z:
            raise Wrong(
                f"{call}, twice",
                "one Value",
                "two Values",
                "Make a new Value at each call, even for equal numbers.",
            )
        answer(Plain(0.25), Plain(8.0))
        if [*z.inputs, *z.locals] != [x, y, y.data, a]:
            raise Wrong(
                f"the inputs and locals in the result of {call}, after another call",
                "changed",
                "unchanged",
                KEPT,
            )


def _reads_grad(answer, x, y):
    """Return True if the local gradients that `answer` stores depend on the `.grad` of x and y."""
    had, stored = (x.grad, y.grad), []
    for x.grad, y.grad in (had, (3.5, -1.25)):
        stored.append(answer(x, y).locals)
    x.grad, y.grad = had
    return not same(*stored, 0, 0)


def _expect_inputs(z, inputs, call):
    got = z.inputs
    if (
        isinstance(got, (tuple, list))
        and len(got) == 2
        and all(one is x for one, x in zip(got, inputs))
    ):
        return
    if not isinstance(got, (tuple, list)) or not all(isinstance(one, _Value) for one in got):
        hint = "The inputs are a tuple of the Values themselves, (x, y): the backward pass goes through them."
    elif not got:
        hint = "There are no inputs, so the backward pass would end here."
    elif len(got) == 1:
        hint = "There are two inputs, (x, y), even if both are the same Value."
    elif [*got] == [*inputs][::-1] and [*np.ravel(z.locals)] == [x.data for x in inputs]:
        hint = PAIRED
    else:
        hint = "The inputs are x and y themselves, in this order: the first local gradient belongs to the first input."
    raise Wrong(
        f"the inputs in the result of {call}",
        brief(got),
        "(x, y)" if inputs[0] is not inputs[1] else "(x, x)",
        hint,
    )


# --- Order ------------------------------------------------------------------------------------------------------------------


def _path():
    x, y, w = _Value(1.0, name="x"), _Value(4.0, name="y"), _Value(-3.0, name="w")
    return ((x + y).called("z") * w).called("L"), "z = x + y, L = z · w", "L, z, w, y, x"


def _leaf():
    return _Value(2.0, name="x"), "L is a leaf, x", "x"


def _waits():
    a, two = _Value(3.0, name="a"), _Value(2.0, name="2")
    b = (two * a).called("b")
    c = (b + _Value(1.0, name="1")).called("c")
    (b * b).called("M")
    return (
        (b * c).called("L"),
        "b = 2 · a, c = b + 1, L = b · c, and beside them M = b · b",
        "L, c, 1, b, 2, a",
    )


def _of_local_0():
    a, o = _Value(2.0, name="a"), _Value(0.0, name="o")
    z, e = (a * o).called("z"), _Value(5.0, name="e")
    return (z + e).called("L"), "a = 2, o = 0, z = a · o, e = 5, L = z + e", "L, e, z, o, a"


def _twice():
    a, b = _Value(10.0, name="a"), _Value(5.0, name="b")
    c = (a * b).called("c")
    return (c * c).called("L"), "c = a · b, L = c · c", "L, c, b, a"


def _long_way():
    a = _Value(2.0, name="a")
    b = (a * a).called("b")
    c = (b + a).called("c")
    e = (c * c).called("e")
    return (a + e).called("L"), "b = a · a, c = b + a, e = c · c, L = a + e", "L, e, c, b, a"


def _of_one_and_three():
    """Return a graph in which ops have one, two or four inputs.

    The result is (output, description, names), as for the other graphs of the check, where the
    names are those of all values in the right order of visits. One op has the same input twice, one
    local gradient is 0, and one value is used in two places.
    """
    a, b = _Value(2.0, name="a"), _Value(-1.0, name="b")
    c = _Value(4.0, (b, b), (1.0, -3.0), "c")
    t = _Value(0.5, (a,), (-0.25,), "t")
    return (
        _Value(3.0, (t, b, t, c), (1.5, 0.0, 2.0, -1.0), "L"),
        "t is made of a alone, c of b and b, and L of four inputs, t, b, t and c",
        "L, t, c, b, a",
    )


def _doubled(steps):
    x = _Value(1.0, name="x")
    for _ in range(steps):
        x = x + x
    return x


def _rungs(steps):
    x, one = _Value(1.0, name="x"), _Value(1.0)
    for _ in range(steps):
        x = x * one + x
    return x


def _tangle(steps):
    made, rng = [_Value(1.0, name="x")], np.random.default_rng(0)
    for _ in range(steps):
        x, y = made[-1], made[-1 - rng.integers(min(3, len(made)))]
        made.append(x + y if rng.integers(2) else y + x)
    return made[-1]


def _chain(steps):
    x, one = _Value(0.0, name="x"), _Value(1.0)
    for _ in range(steps):
        x = x + one
    return x


def _reached(output):
    found = {output}
    todo = [output]
    while todo:
        for x in todo.pop()._inputs:
            if x not in found:
                found.add(x)
                todo.append(x)
    return found


def _held(value):
    return value.data, value.grad, value.number, value.locals, value._inputs


def _newest_first(found):
    return sorted(found, key=lambda value: value.number, reverse=True)


def _equal_numbers():
    a, b = _Value(2.0, name="a"), _Value(2.0, name="b")
    c, d = (a + b).called("c"), (a + b).called("d")
    return (c * d).called("L"), "a = 2, b = 2, c = a + b, d = a + b, L = c · d", "L, d, c, b, a"


def _seven_arrivals():
    x = L = _Value(3.0, name="x")
    for _ in range(6):
        L = L + x
    return L.called("L"), "x = 3, and L = x + x + x + x + x + x + x", "L, five sums, x"


@exercise(
    "05.order",
    minutes=6,
    difficulty="medium",
    importance=3,
    question="""
        Write `order(output)`. It returns a list that contains the output itself and all Values that it was made from, directly or indirectly.
        Each Value appears once, after all its users. There are two jobs: find the Values, then sort them. The first is
        started for you.""",
    stub="""
        def order(output):
            found = [output]             # a list may grow while a loop runs over it
            seen = {output}              # the same Values as a set, because a search in a list is slow
            for value in found:
                pass                     # here: add each input that you have not seen yet to both
            return sorted(...)""",
    hints=[
        "`for x in value.inputs:`, then `if x not in seen:`, then `seen.add(x)` and `found.append(x)`. The loop reaches the appended Values later, so it finds the inputs of inputs too.",
        "For the second job, the box above has the answer: newest first.",
        (
            "Help: how do I sort by number?",
            "`sorted(found, key=lambda value: value.number, reverse=True)`: the largest number first.",
        ),
        (
            "Help: b comes before c",
            """
            You return the Values in the order in which you found them. You find b before c, because b is the first input of L.
            But c also uses b, so c must come before b. Sort at the end.""",
        ),
    ],
    solution="""
        def order(output):
            found = [output]
            seen = {output}
            for value in found:
                for x in value.inputs:
                    if x not in seen:
                        seen.add(x)
                        found.append(x)
            return sorted(found, key=lambda value: value.number, reverse=True)""",
    explained="""
        Without the test `if x not in seen`, a Value would appear in the list once for every path from it to the output. Why the set?
        `x in found` compares x with one Value after another, so for n Values the cost would grow like n². `x in seen` looks
        x up directly.""",
    why="A Value is made after its inputs. So if the newest Value goes first, every Value comes after all its users.",
    names=lambda: {"Value": _Value},
)
def order(answer):
    _expect_function(answer, "order(L)")
    _Value.clock = count(1)  # a verdict may show numbers, and is to be the same every time
    for build in (
        _path,
        _waits,
        _of_local_0,
        _twice,
        _long_way,
        _equal_numbers,
        _of_one_and_three,
        _leaf,
    ):
        output, words, right = build()
        reached = _newest_first(_reached(output))
        for value in reached:
            value.grad = 0.5
        before = [_held(value) for value in reached]
        got = _ordered(answer, output, f"order(L), where {words}", right)
        if [_held(value) for value in reached] != before:
            raise Wrong(
                f"the Values after order(L), where {words}",
                "changed",
                "unchanged",
                "order must not change any Value: it only returns a list of them.",
            )
        _expect_users_first(got, output, f"order(L), where {words}", right)
        again = f"a second call of order(L), where {words}"
        got = _ordered(answer, output, again, right)
        if len(got) != len(_reached(output)):
            raise Wrong(
                again,
                ", ".join(value.name for value in got),
                right,
                "The second call returns a different list, because the first call changed a Value or an "
                "outer variable.",
            )
        _expect_users_first(got, output, again, right)
    first = answer(output)
    held = [*first]
    answer(_path()[0])
    if [*first] != held:
        raise Wrong(
            "the list that order(L) returned, after another call", "changed", "unchanged", KEPT
        )
    for output, words, right in [
        (_doubled(40), "order of 40 doublings, x = x + x", "41 Values"),
        (_rungs(40), "order of x = x · 1 + x, 40 times", "82 Values"),
        (_tangle(40), "order of 40 sums, each of two of the last Values", "41 Values"),
        (_chain(5000), "order after 5,000 additions in a row", "5,002 Values"),
    ]:
        try:
            _expect_users_first(_ordered(answer, output, words, right), output, words, right)
        except RecursionError:
            return DEEP
        except Wrong as wrong:
            if wrong.cause.kind != "endless" or "5,000" not in words:
                raise
            return SLOW  # all the smaller ones came to an end
    return QUADRATIC if _comparisons(answer, 400) > 20_000 else ""


class _Compared(_Value):
    """Count the comparisons between Values, such as those that `value in a_list` makes."""

    comparisons = 0
    __hash__ = _Value.__hash__

    def __eq__(self, other):
        _Compared.comparisons += 1
        return self is other


def _comparisons(answer, steps):
    """Return how often `answer` compares two Values when it orders the result of `steps` additions in a row.

    The number is about 2 · steps² if the answer searches a list, and 0 if it uses a set.
    """
    x, one = _Compared(0.0, name="x"), _Compared(1.0)
    for _ in range(steps):
        x = x + one
    _Compared.comparisons, _Value.looks = 0, 0
    answer(x)
    return _Compared.comparisons


SLOW = (
    "It is slow on deep graphs: for 5,000 additions it needs more than 1,000,000 steps. Does it compare each Value "
    "with all the Values found so far? A set finds a Value directly."
)
QUADRATIC = (
    "It is slow on deep graphs: for n Values it makes about n² comparisons, because a search in a list looks at one Value "
    "after another. Keep a set of the Values found so far: there, `in` looks a Value up directly."
)


# Python's error message for a slip, and the hint
SLIPS = {
    "'list' object has no attribute": "A list has no such attribute. To add to a list, use append. Each Value in it has a number: key=lambda value: value.number.",
    "'dict' object has no attribute": "That is a dict. Write an entry of a dict with ledger[x] = ….",
    "no attribute 'get'": "The object before .get is not a dict. Write into the ledger with ledger[x] = ….",
    "variable 'g'": "g has no value yet. At each visit, first take out an entry: g = ledger.pop(value).",
    "variable 'grad'": "Each Value has its own .grad. Add g to that of the visited value: value.grad += g.",
    "name 'local' is not defined": "zip(value.inputs, value.locals) pairs each input with its local gradient.",
    "'tuple' object has no attribute": "value.inputs is a tuple of Values. Take them one by one: for x in value.inputs.",
    "can't multiply sequence": "value.locals holds one number for each input. zip(value.inputs, value.locals) pairs them.",
    "'<' not supported": "Python cannot compare two Values. Tell it what to sort by: key=lambda value: value.number.",
    **dict.fromkeys(
        ["'str' object is not callable", "'int' object is not callable"],
        "key must be a function that returns what to sort by: key=lambda value: value.number.",
    ),
    "name 'number' is not defined": "Every Value has its own number: key=lambda value: value.number.",
    "pop expected at least 1 argument": "Name the entry to take out: ledger.pop(value), once at each visit.",
    "values to unpack": "A leaf has no inputs, and a Value may have one, or three: go through all of them in a loop.",
    "'float' and 'Value'": "A Value is not a number. zip(value.inputs, value.locals) pairs each input with its local gradient.",
    "'float' object has no attribute": "A plain number has no such attribute. g, x.data and each local gradient are plain numbers already.",
    "'float' and 'NoneType'": "ledger.get(x) returns None if there is no entry yet. ledger.get(x, 0.0) returns 0.0.",
    "'NoneType' and 'float'": "ledger.get(x) returns None if there is no entry yet. ledger.get(x, 0.0) returns 0.0.",
    "has no attribute 'users'": "A Value stores its inputs, not its users. At its turn, send a contribution to each of its inputs.",
    "'function' object": "order is a function: order(output) returns the list to go through.",
    "has no attribute 'local'": "The attribute is called locals, with one number for each input. zip(value.inputs, value.locals) pairs them.",
    "changed size during iteration": "A set or a dict must not grow while a loop goes through it. A list may: found = [output].",
    "tuple index out of range": "A leaf has no inputs, and a Value may have one, or three: go through all of them in a loop.",
    "'Value' object is not iterable": "For a list, += expects a list on the right, and a set has no +=. To add one Value, use found.append(x) and seen.add(x).",
    "for +=: 'set'": "A set has no +=. To add one Value, use seen.add(x).",
    "has no attribute 'append'": "A set has add, and a list has append: found = [output] is a list.",
    "'Value' object has no attribute": "A Value has only data, grad, inputs, locals and number. x.data is its number.",
    "unexpected keyword argument": "Value takes three things: its number, its inputs and their local gradients.",
}


WITH_A_NUMBER = "A Value is added to or multiplied by a plain number. Add g to the value's gradient, value.grad += g. To send it on, multiply numbers: g * local."


def _slip(error):
    last = error.__traceback__
    while last.tb_next:
        last = last.tb_next
    if last.tb_frame.f_code in (_Value.__add__.__code__, _Value.__mul__.__code__):
        return WITH_A_NUMBER
    return next((hint for piece, hint in SLIPS.items() if piece in str(error)), "")


def _ordered(answer, output, tried, right):
    _Value.looks, _Value.most = (
        0,
        100 * len(_reached(output)),
    )  # few: `in` is slow in a list that keeps growing
    try:
        got = returned(answer, output, tried=tried, shown=right)
        if isinstance(got, (set, frozenset)):
            raise Wrong(
                tried,
                "a set",
                right,
                "A set has no order. Sort it: sorted returns a list.",
            )
        if hasattr(got, "__next__"):
            raise Wrong(
                tried,
                "an iterator",
                right,
                "An iterator can be read only once. Convert it: list(…).",
            )
        got = list(got) if hasattr(got, "__iter__") else got
    except _StepLimit:
        raise Wrong(
            tried,
            "not finished after many steps",
            right,
            "Does your code follow every path, or append to the list endlessly? Append an input only if you have not seen it yet.",
        ) from None
    except RecursionError:
        raise
    except Exception as error:
        error.hint = _slip(error)
        raise
    if not isinstance(got, list):
        raise Wrong(tried, brief(got), right, "Return a list of Values.")
    if any(isinstance(one, int) for one in got):
        raise Wrong(
            tried,
            brief(got),
            right,
            "The list contains whole numbers. Return the Values themselves.",
        )
    if strangers := [one for one in got if not isinstance(one, _Value)]:
        if all(hasattr(one, "inputs") for one in strangers):
            raise Wrong(
                tried,
                f"{len(strangers)} of {len(got)} Values from another calculation",
                right,
                "Your function keeps Values from an earlier call. Create the list or set of visited Values inside the function.",
            )
        raise Wrong(tried, brief(got), right, "Return a list of Values.")
    return got


def _expect_users_first(got, output, tried, right):
    reached = _reached(output)

    def wrong(hint):
        raise Wrong(
            tried,
            ", ".join(value.name for value in got[:20]) + ", …" * (len(got) > 20)
            or "an empty list",
            right,
            hint,
        )

    place = {value: i for i, value in enumerate(got)}
    for value in got if len(place) < len(got) or place.keys() - reached else []:
        if value not in reached:
            wrong(f"{value.name} does not belong here: {output.name} was not made from it.")
        if got.count(value) > 1:
            wrong(
                f"{value.name} is in the list {got.count(value)} times. Add each Value once: was it found before?"
            )
    if output not in place:
        wrong("The output itself is missing: the backward pass begins there.")
    missing = [value for value in _newest_first(reached) if value not in place]
    if missing:
        leaves = all(not value._inputs for value in missing) and len(missing) == sum(
            not value._inputs for value in reached
        )
        name, twins = (
            missing[0].name,
            [[one.name for one in got if one.data == value.data] for value in missing],
        )
        users = [
            user
            for user in got
            if missing[0] in user._inputs and (user is output or {*user._inputs} & {*got})
        ]
        wrong(
            "The leaves are missing: you need their gradients."
            if leaves and len(got) > 1
            else f"{name} is missing. It has the same number as {twins[0][0]}, but two Values with the same number are "
            "still two Values."
            if all(twins)
            else f"{name} is missing, and {users[0].name} was made from it: append all inputs of a value."
            if users
            else f"{name} is missing. Include the inputs of inputs too, until you find nothing new."
        )
    late = [
        (x, user) for user in _newest_first(reached) for x in user._inputs if place[x] < place[user]
    ]
    if late and got == _newest_first(got)[::-1]:
        wrong(
            "Your list begins with the oldest. The backward pass needs the newest first: reverse=True."
        )
    if late and all(place[x] < place[user] for user in got for x in user._inputs):
        wrong("Every value comes before its users here. Reverse your list: [::-1].")
    if late and any(
        got == sorted(got, key=lambda value: value.data, reverse=down) for down in (True, False)
    ):
        wrong(
            "Your list is sorted by the data of the Values. Sort by their number, the order of creation: "
            "key=lambda value: value.number."
        )
    if late:
        x, user = late[0]
        wrong(
            f"{x.name} comes before {user.name}, which uses it and has not sent anything yet. Visit each value after all its users."
        )


# --- Accumulate -------------------------------------------------------------------------------------------------------------


@exercise(
    "05.backward",
    minutes=6,
    difficulty="medium",
    importance=3,
    question="""
        Write `backward(output)`, the backward pass of the table. At each visit, do three things: take the value's gradient g out of
        the ledger, add g to the value's `.grad`, and for each of its inputs add g · local to the input's entry in the ledger.""",
    stub="""
        def backward(output):
            ledger = {output: 1.0}
            for value in order(output):
                g = ledger.pop(...)      # and so on""",
    hints=[
        "`g = ledger.pop(value)`, then `value.grad += g`. Then comes one loop over the inputs and their local gradients.",
        (
            "Help: how do I get each input with its local gradient?",
            "`for x, local in zip(value.inputs, value.locals):`",
        ),
        (
            "Help: KeyError, or an error at +=",
            """
            Before the first contribution to x, the ledger has no entry for x. In that case `ledger.get(x, 0.0)` returns 0.0. But
            `get` only reads: to write an entry, use `ledger[x] = …`.""",
        ),
        (
            "Help: a value used twice gets too little",
            """
            A value that is used twice gets two contributions, but `ledger[x] = g * local` keeps only the second. Add to the entry:
            `ledger[x] = ledger.get(x, 0.0) + g * local`.""",
        ),
    ],
    solution="""
        def backward(output):
            ledger = {output: 1.0}
            for value in order(output):
                g = ledger.pop(value)
                value.grad += g
                for x, local in zip(value.inputs, value.locals):
                    ledger[x] = ledger.get(x, 0.0) + g * local""",
    explained="""
        `value.grad += g` also accumulates: a second call of backward adds to the result of the first. Each call makes a new ledger, so
        nothing from an earlier call is sent again.""",
    why="Each value is visited once, after all its users, when its gradient is complete. That is the whole backward pass.",
    names=lambda: {"Value": _Value, "order": lambda output: _newest_first(_reached(output))},
)
def backward(answer):
    _expect_function(answer, "backward(L)")
    _Value.clock = count(1)  # a KeyError may show a number

    class Scalar(_Value):
        pass

    Scalar.__name__, Scalar.backward = "Value", _counting(answer)
    try:
        remark = expect_engine(Scalar)
    except KeyError as error:
        error.tried, error.hint = (
            "backward(L), on a small graph",
            _missing(answer, error.args[0], error.output, error.had),
        )
        raise
    except (AttributeError, IndexError, NameError, TypeError, ValueError) as error:
        error.tried, error.hint = "backward(L), on a small graph", _slip(error)
        raise
    except Wrong as wrong:
        difference, cause = wrong.difference, wrong.cause
        if cause.same_as(own(FAULTS["unseeded"])):
            cause = NOTHING
        elif cause.same_as(own(FAULTS["own"])):
            cause = BACK
        elif cause.same_as(own(FAULTS["="])):
            cause = ONE_LEFT
        elif cause.same_as(own(FAULTS["seeded twice"])):
            cause = OLD_LEDGER
        elif cause.same_as(own(FAULTS["kept"])):
            cause = SENT_AGAIN
        else:
            known = (hint for first, hint in FIRST.items() if same(difference.got, first, 0, 1e-9))
            cause = next(known, cause)
        if cause != ONE_LEFT:
            cause = _mistake(answer) or cause
        if cause == NOTHING:
            cause = _nothing(answer)
        if cause == Cause():
            if difference.expected != 2.0**40:
                _expect_everywhere(answer)  # a smaller graph may show it
            else:
                cause = "A graph may be deep, and a gradient large: do not cut anything off."
        raise wrong.because(cause) from None
    _expect_everywhere(answer)
    return remark or (LEFT_IN if _keeps_entries(answer) else "")


def _keeps_entries(answer):
    """Return True if the answer has a local variable `ledger` and never takes an entry out of it."""
    answer = underneath(answer)
    code = getattr(answer, "__code__", None)
    return (
        "ledger" in getattr(code, "co_varnames", ())
        and not names_in(answer) & {".pop", ".popitem", ".clear"}
        and all(step.opname != "DELETE_SUBSCR" for step in dis.get_instructions(code))
    )


LEFT_IN = Note(
    "The ledger keeps its entries, although the exercise takes g out of it. The sums are right, because each Value is visited "
    "once. ledger.pop(value) returns the sum and removes the entry, so that the ledger is empty at the end."
)


def _mistake(answer):
    """Return the hint for a common mistake in the loop over the inputs, or "" if it is none of them.

    The gradients that the answer gives are compared with those of each mistake, on a graph in which
    every Value holds a gradient from before.
    """

    def gradients(walk):
        reached = _newest_first(_reached(output := _of_one_and_three()[0]))
        for k, value in enumerate(reached):
            value.grad = 0.25 * k + 1.5
        walk(output)
        return tuple(value.grad for value in reached)

    try:
        got = gradients(answer)
    except Exception:
        return ""
    return next(
        (hint for wrong, hint in MISTAKES.items() if same(got, gradients(wrong), 0, 1e-9)), ""
    )


def _walk_that_sends(send):
    """Return a backward pass that sends `send(value, x, g, local)`, which returns (gradient, next g)."""

    def walk(output):
        ledger = {output: 1.0}
        for value in _newest_first(_reached(output)):
            g = ledger.pop(value)
            value.grad += g
            for x, local in zip(value.inputs, value.locals):
                sent, g = send(value, x, g, local)
                ledger[x] = ledger.get(x, 0.0) + sent

    return walk


MISTAKES = {
    _walk_that_sends(
        lambda value, x, g, local: (x.grad * local, g)
    ): "x.grad is the input's own gradient from before. Send the gradient of the visited value on, g: g * local.",
    _walk_that_sends(
        lambda value, x, g, local: (value.grad * local, g)
    ): "value.grad also holds the gradients of earlier calls. Send g on, the gradient of this pass: g * local.",
    _walk_that_sends(
        lambda value, x, g, local: (g * local, g * local)
    ): "g was overwritten inside the loop over the inputs, so the next input receives a wrong product. Keep g, and send g * local.",
}


def _expect_everywhere(answer):
    """Raise Wrong unless the learner's `backward` sets the gradient of every value.

    A second call must add to these gradients. A gradient of 0 must be passed on too.
    """
    for w, g in [(-3.0, -3.0), (0.0, 0.0), (-1 / 3, -1 / 3), (1e-30, 1e-30), (1e30, 1e30)]:
        x, y, w = _Value(1.0, name="x"), _Value(4.0, name="y"), _Value(w, name="w")
        z = (x + y).called("z")
        L, tried = (
            (z * w).called("L"),
            f"every .grad after backward(L), where z = x + y, L = z · w, at x = 1, y = 4, w = {w.data:g}",
        )
        right = (1.0, g, 5.0, g, g)
        try:
            answer(L)
        except KeyError as error:
            error.tried = tried
            error.hint = "Send a gradient of 0 on too. Otherwise the inputs never get an entry in the ledger."
            raise
        grads = tuple(v.grad for v in (L, z, w, y, x))
        expect(
            grads,
            right,
            rtol=1e-14,
            atol=0,
            tried=f"{tried} (of L, z, w, y, x)",
            hints=[
                (
                    (0.0, 0.0, 5.0, g, g),
                    "Every value gets its gradient, including intermediate values and L itself: value.grad += g at each visit.",
                ),
                (
                    (0.0, *right[1:]),
                    "L itself has a gradient too, 1: add it at its visit, as for any other value.",
                ),
                (
                    (1.0, 0.0, 5.0, 0.0, 0.0),
                    "A gradient may be small, or a fraction: do not round it or drop it.",
                ),
                (
                    (1.0, 0.0, *right[2:]),
                    "Every value gets its gradient, including intermediate values: value.grad += g at each visit.",
                ),
            ],
        )
        answer(L)
        expect(
            tuple(v.grad for v in (L, z, w, y, x)),
            tuple(2 * one for one in right),
            tried=f"the same, after a second call (of L, z, w, y, x, at w = {w.data:g})",
            hints=[
                lambda got, expected: (
                    "The gradients of all Values accumulate until you reset them: value.grad += g."
                )
            ],
        )
    x = _Value(2.0, name="x")
    answer(x)
    expect(x.grad, 1.0, tried="x.grad after backward(x), where x is a leaf")
    answer(x)
    expect(
        x.grad, 2.0, tried="x.grad after a second backward(x)", hints=[(1.0, FAULTS["replaced"])]
    )
    for build, right, hint in [
        (_of_one_and_three, (2.5, 5.25, 1.0, 4.25, 1.625), ""),
        (
            _equal_numbers,
            (2.5, 5.75, 6.0, 10.25, 10.5),
            "a and b have the same number. Each needs its own entry, so the keys must be Values.",
        ),
        (
            _seven_arrivals,
            (2.5, 2.75, 3.0, 3.25, 3.5, 3.75, 10.0),
            "x receives a 1 along each of seven paths.",
        ),
    ]:
        L, words, names = build()
        reached = _newest_first(_reached(L))
        for k, value in enumerate(reached):
            value.grad = 0.25 * k + 1.5  # all of them hold a gradient already
        had = {value: value.grad for value in reached}
        tried = f"every .grad after backward(L), where {words}, and each held a gradient before (of {names})"
        try:
            answer(L)
        except KeyError as error:
            error.tried, error.hint = tried, _missing(answer, error.args[0], L, had)
            raise
        expect(
            tuple(value.grad for value in reached),
            right,
            tried=tried,
            hints=[lambda got, right, hint=hint: hint],
        )


def _missing(answer, key, output, had):
    """Return the hint for a learner whose `backward` reads an entry that is missing from the ledger.

    Parameters
    ----------
    answer : callable
        The learner's function.
    key : object
        The key of the missing entry.
    output : Value
        The Value where the pass began.
    had : dict
        The `.grad` of each Value before the pass.
    """
    if not isinstance(key, _Value):
        return "The keys of the ledger are Values: ledger.pop(value), ledger[x]."
    if key is output:
        return "The output has no entry. The ledger begins with 1.0 for the output, and each visit takes out one entry, that of the value whose turn it is: ledger.pop(value)."
    if key.grad != had.get(key, key.grad):
        return "The ledger has no entry for this value, because its contribution went to x.grad. Write the contribution into the ledger, ledger[x] = …: x gets its .grad at its own visit."
    if key in output._inputs and output.grad == had[output] and ".grad" in names_in(answer):
        return "Is the output visited first? Its .grad has not changed, and so far nothing was sent to this value. Go through all of order(output): the output is its first entry."
    if key in output._inputs:
        return "The ledger has no entry for this value. ledger.get(x, 0.0) then returns 0.0, but it does not make an entry: only ledger[x] = … does."
    return "The turn of this value comes before any of its users has sent it a gradient. Go through order(output) unchanged, users first."


# More than one slip ends so; the ledger begins right in the stub.
NOTHING = "No .grad changes. Is there a value.grad += g at each visit? Does the ledger start as {output: 1.0}?"
ENDED = "Only the output gets its .grad, so the pass ends after the first visit. Is there a return or a break inside the loop?"
LEAVES = "The .grad of every leaf stays 0, although other Values get theirs. value.grad += g belongs before the loop over the inputs, because a leaf has none."
SENT_AGAIN = "Two calls gave three times the gradient: the second call sent a sum of the first call again. Keep the sums of a pass in a ledger, not in .grad, and start each call with a new one: {output: 1.0}."
ONE_LEFT = "Exactly half at a value that is used twice: of its two contributions only the last is left. Add each contribution to the old entry of the input, ledger[x] = ledger.get(x, 0.0) + …"
OLD_LEDGER = "Two calls gave four times the gradient. Does the ledger still hold sums from the first call? Make it inside the function: each pass starts with a new ledger."
BACK = "The local gradients are in the wrong order: the first belongs to the first input."
# What comes back from the path x = 1, y = 4, w = −3 of expect_engine, where (−3, −3, 5) is right.
FIRST = {  # the gradients of x, y and w in the first graph -> the hint
    (
        4,
        4,
        2,
    ): "Each local gradient belongs to one input. Go through both together: zip(value.inputs, value.locals).",
    (
        -6,
        -6,
        10,
    ): "Exactly double. Does the ledger begin with 1.0 for the output? And do you add g to .grad only once, at the visit? Contributions go only into the ledger.",
    (1, 1, 1): "The local gradients are missing: each input receives g times its local gradient.",
    (
        5,
        20,
        -3,
    ): "You multiply g by the value of the input. Multiply it by the local gradient, from value.locals.",
    (0, 0, 0): NOTHING,
    **dict.fromkeys(
        [(-1, -1, 6), (-4, -4, 6)],
        "An entry begins at 0.0, ledger.get(x, 0.0), and you add g times local to it.",
    ),
    (
        3,
        3,
        5,
    ): "The absolute values are right, but the signs are missing. A gradient may be negative.",
    (
        0,
        0,
        5,
    ): "x and y receive nothing. Go through all of order(output), and send a negative gradient on like any other.",
    (
        45,
        45,
        -75,
    ): "The ledger begins with 1.0 for the output, because the derivative of L with respect to itself is 1.",
}


def _counting(answer):
    def backward(output):
        _Value.looks, _Value.most = 0, 200_000
        reached = _reached(output)
        before = [(value.data, value._inputs, value.locals) for value in reached]
        had = {value: value.grad for value in reached}
        try:
            answer(output)
        except KeyError as error:
            error.output, error.had = output, had
            raise
        except _StepLimit:
            _Value.looks = 0
            raise StepLimitExceeded("not finished after 200,000 reads of inputs") from None
        if [(value.data, value._inputs, value.locals) for value in reached] != before:
            raise Wrong(
                "the Values of a small graph after backward(L)",
                "changed",
                "unchanged",
                "The backward pass changes only .grad. Do not delete anything: the next call needs data, "
                "inputs and locals.",
            )

    return backward


def _nothing(answer):
    """Return the hint for a learner whose `backward` leaves the `.grad` of every leaf unchanged."""
    z = _Value(1.0) + _Value(4.0)
    L = z * _Value(-3.0)
    try:
        answer(L)
    except Exception:
        return NOTHING
    return LEAVES if z.grad else ENDED if L.grad else NOTHING


def _paying(value, g):
    value.grad += g
    for x, local in zip(value.inputs, value.locals):
        _paying(x, g * local)


def _expect_function(answer, tried):
    if not callable(answer) or isinstance(answer, type):
        raise Wrong(
            tried,
            brief(answer),
            "a function",
            "The check calls your answer, so pass the function itself.",
        )
    if has_blank(answer):
        raise NotYet
    known = getattr(underneath(answer), "__globals__", {})
    _Value.learners = next(
        (known[name] for name in ("Value", "Scalar") if isinstance(known.get(name), type)), None
    )


# --- Predictions, questions, card -------------------------------------------------------------------------------------------

recall(
    "05",
    [
        Question(
            "In $z = \\tanh x$, what is $\\partial z/\\partial x$ in terms of z alone? (Lesson 04)",
            "1 − z²",
            """
        **1 − z²**. It is 1 where z is 0, and it approaches 0 as z approaches 1 or −1.
        A published engine uses z² instead: it has an optional section below.""",
            choices=["1 − z²", "z²", "1 − z"],
        ),
        Question(
            "Two paths lead from x to L. One contributes 10, and the other −4. What is the gradient of x? (02)",
            6.0,
            """
        **6**. Multiply along each path, and add over the paths.""",
        ),
        Question(
            "For $z = x \\cdot y$ with x = 3 and y = −2, the upstream gradient is g = 10. What is the gradient of x? (03)",
            -20.0,
            """
        **−20**: the upstream gradient times the local gradient, which is the other factor: 10 · (−2).""",
        ),
    ],
)

prediction(
    "05.early",
    question="""
        Suppose b goes first: it sends on the gradient that has arrived so far, and does not get a second turn. Then c goes. What number arrives at a?""",
    answer=14.0,
    reveal="""
        **14**: b has 7, so it sends 7 · 2. Only then does c send its 6 to b, and b does not get another turn to send it on. The right
        gradient is (7 + 6) · 2 = 26.""",
)

derivation(
    "05.neuron",
    letters={"x": (), "w": (), "b": (), "y": (), "s": "w*x + b", "ŷ": "tanh(s)"},
    steps=(
        Step(
            r"\frac{\partial L}{\partial \hat y} =",
            "ŷ - y",
            "the power rule: the 2 and the ½ cancel",
            letters="ŷ y",
            mistakes=(
                (
                    "y - ŷ",
                    "If ŷ is above y, a larger ŷ raises L. So which sign does the gradient have?",
                ),
                ("2 (ŷ - y)", "The ½ in front of the square cancels the 2."),
                ("(ŷ - y)^2 / 2", "That is L itself. What is its derivative with respect to ŷ?"),
            ),
        ),
        Step(
            r"\frac{\partial L}{\partial s} =",
            "(ŷ - y) (1 - ŷ^2)",
            "the chain rule: upstream times local",
            letters="ŷ y",
            mistakes=(
                ("1 - ŷ^2", "That is the local gradient. Multiply it by the upstream gradient."),
                (
                    "ŷ - y",
                    "That is the upstream gradient. Multiply it by the local gradient of tanh.",
                ),
                (
                    "(ŷ - y) ŷ^2",
                    "The local gradient of tanh is 1 − tanh². A published tutorial makes this mistake.",
                ),
                ("(ŷ - y) (1 - s^2)", "The rule of tanh uses its output ŷ, not its input s."),
            ),
            rivals=(
                "the product rule: both factors move with s",
                "paths add: one path for each factor",
            ),
        ),
        Step(
            r"\frac{\partial L}{\partial w} =",
            "(ŷ - y) (1 - ŷ^2) x",
            "in w · x, the local gradient of w is x",
            letters="ŷ y x",
            mistakes=(
                (
                    "(ŷ - y) (1 - ŷ^2) w",
                    "That is the gradient of x. In w · x, the local gradient of w is the other factor.",
                ),
                (
                    "(ŷ - y) (1 - ŷ^2) (x + b)",
                    "b is added, not multiplied by w, so it contributes nothing to the local gradient.",
                ),
                (
                    "(ŷ - y) x",
                    "The path leads through tanh too, so its local gradient is a factor.",
                ),
                ("x", "That is the last local gradient. Multiply it by the upstream gradient."),
            ),
        ),
    ),
)

prediction(
    "05.published",
    question="""
        The neuron uses `published` instead of `tanh`. One of your three factors changes, from 1 − ŷ² = 0.07065.
        The gradient of w is then how many times as large?""",
    answer=13.15,
    tolerance=0.25,
    reveal="""
        **About 13.15**. `published` stores z² as the local gradient, here ŷ² = 1 − 0.07065 = 0.92935. The other two factors stay the same,
        so the gradient grows by the factor 0.92935 / 0.07065. (Answers from 12.9 to 13.4 count as right.)""",
)

prediction(
    "05.twice",
    question="""
        Take $L = 3 \\cdot (x \\cdot x)$ at x = 2. A first call of `backward(L)` gives x.grad = 12. You call `backward(L)`
        again, without resetting anything. What is x.grad then?""",
    answer=24.0,
    reveal="""
        **24**. The second pass computes the same gradient, 12, and `value.grad += g` adds it to the 12 of the first pass.""",
)

prediction(
    "05.kept",
    question="""
        Take $c = x \\cdot x,\\ L = 3 \\cdot c$ at x = 2. A first call of `without_ledger(L)` gives c.grad = 3 and x.grad = 12,
        which are right. Gradients accumulate, so after a second call x.grad should be 24. What is it?""",
    answer=36.0,
    reveal="""
        **36**, which is three times 12, although there were only two calls. After the first call, c still held a 3. The second call added
        another 3, so c sent 6 · 4 = 24 instead of 12. So the fault is in c, an intermediate value whose gradient you did not even need.""",
)

prediction(
    "05.paths",
    question="""
        x is doubled n times by x = x + x. A program follows every path, at a million paths per second. What is the largest n
        for which it finishes within a day? (Ten doublings give about a thousand paths.)""",
    answer=36.0,
    tolerance=3.0,
    reveal="""
        **36**. A day has 86,400 seconds, enough for about 86 billion paths. 2¹⁰ is about a thousand, so 2³⁶ is about 69 billion,
        and 2³⁷ is too many. (Answers from 33 to 39 count as right.)""",
)

card(
    "05",
    [
        "Record: each value stores its inputs, and a local gradient for each of them.",
        "A value's gradient is a sum over the arrows that leave it: the user's gradient × the arrow's local gradient.",
        "So users come before inputs (a topological order in reverse). Newest first is such an order, because a value is made after its inputs.",
        "At each visit: take g out of the ledger, add g to .grad, and add g · local to the entry of each input.",
        "Accumulate: with = instead of +=, only the last contribution is left. Each backward pass starts with a new ledger.",
        "Each value is visited once, so the multiplications and additions are O(n) for n doublings, although there are 2ⁿ paths.",
    ],
)
