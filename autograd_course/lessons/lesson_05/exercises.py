"""Lesson 05: the learner's own engine, piece by piece: record, order, accumulate."""
from itertools import count

import numpy as np

from autograd_lib import Tensor

from ...ask import NotYet, Wrong, brief, exercise, expect, expect_engine, has_blank, returned
from ...ask.probes import FAULTS, engine, recursive
from ...ask.texts import Question, card, prediction, recall

# --- What the notebook imports ----------------------------------------------------------------------------------------------

as_found = engine("early").backward      # visits what it finds when it finds it: inputs of inputs last, whatever still waits
replaced = engine("=").backward          # what arrives replaces what was there


class Program:
    """A random calculation on a, b and c. Call it on three of anything that has + and *; print it to see it."""

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
    """The Program of a seed: each step adds or multiplies two of the values so far. `start` holds three numbers to begin with."""
    rng, known, made = np.random.default_rng(seed), ["a", "b", "c"], []
    for k in range(steps):
        name = "L" if k == steps - 1 else f"p{k + 1}"
        x = known[-1] if k > 1 else str(rng.choice(known))
        made.append((name, x, str(rng.choice(["+", "*"])), str(rng.choice(known))))
        known.append(name)
    return Program(made, [round(float(x), 2) for x in rng.uniform(-1.5, 1.5, 3)])


def score(backward, Value, programs=200):
    """After how many random programs every gradient that `backward` leaves in the learner's Values is that of the library."""
    right = 0
    for program in map(random_program, range(programs)):
        mine, theirs = [Value(x) for x in program.start], [Tensor(x, requires_grad=True) for x in program.start]
        backward(program(*mine))
        program(*theirs).backward()
        right += np.allclose([x.grad for x in mine], [x.grad or 0.0 for x in theirs])
    return right


# --- The engine of the lesson, for the checks -------------------------------------------------------------------------------

class _Value:
    """As the lesson's Value; it counts how often its inputs are looked at, and stops what will not end."""
    looks, most, clock = 0, 200_000, count(1)

    def __init__(self, data, inputs=(), locals=(), name="a Value"):
        self.data, self.grad, self.locals, self.name = data, 0.0, locals, name
        self._inputs, self.number = inputs, next(_Value.clock)

    @property
    def inputs(self):
        _Value.looks += 1
        if _Value.looks > _Value.most:
            raise _Endless
        return self._inputs

    def __hash__(self):      # mixed up, so that a set has no order by luck; and the same every time
        return 13 * self.number

    def __repr__(self):
        return self.name

    def __add__(self, other):
        return type(self)(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        return type(self)(self.data * other.data, (self, other), (other.data, self.data))

    def called(self, name):
        self.name = name
        return self


_Value.__name__ = "Value"        # what an error of Python calls it


class _Endless(Exception):
    pass


# --- Record -----------------------------------------------------------------------------------------------------------------

def _product(local, data=lambda x, y: x.data * y.data, inputs=lambda x, y: (x, y)):
    return lambda x, y: _Value(data(x, y), inputs(x, y), local(x, y))


@exercise(
    "05.multiply", minutes=3, difficulty="easy",
    names=lambda: {"Value": _Value},
    question="""
        Write `multiply(x, y)` in the form of `add`: one new Value, made from its number, its two inputs, and a local gradient for each of
        them, in the same order.""",
    stub="""
        def multiply(x, y):
            ...""",
    hints=["`add` has 1.0 and 1.0 because a sum moves as far as each of its inputs. How far does a product move when x moves?",
           "In z = x · y the local gradient of x is y, and that of y is x. As numbers: `y.data` and `x.data`."],
    solution="""
        def multiply(x, y):
            return Value(x.data * y.data, (x, y), (y.data, x.data))""",
    explained="The first local gradient belongs to the first input: it is the *other* number.",
    why="One line holds all that the way back will need: who went in, and how strongly each of them moves the result.",
    planted=[
        (_product(lambda x, y: (x.data, y.data)), "The two are swapped"),
        (_product(lambda x, y: (1.0, 1.0)), "Those are add's"),
        (_product(lambda x, y: (y, x)), "These are Values"),
        (_product(lambda x, y: y.data), "2 values were expected, and this is one"),
        (_product(lambda x, y: (y.data,)), "you gave 1"),
        (_product(lambda x, y: (x.data * y.data,) * 2), "That is the result, twice"),
        (_product(lambda x, y: (y.data, x.data), lambda x, y: x.data + y.data), "the number in the result"),
        (_product(lambda x, y: (y.data, x.data), lambda x, y: x), "Multiply their numbers"),
        (_product(lambda x, y: (y, x), lambda x, y: x * y), "Multiply their numbers"),
        (_product(lambda x, y: (y.data, x.data), inputs=lambda x, y: (x.data, y.data)), "the Values themselves"),
        (_product(lambda x, y: (y.data, x.data), inputs=lambda x, y: ()), "the way back would end here"),
        (_product(lambda x, y: (y.data, x.data), inputs=lambda x, y: (y, x)), "in the order in which they came"),
        (_product(lambda x, y: (y.data, x.data), inputs=lambda x, y: (x,) if x is y else (x, y)), "also when both are the same Value"),
        (lambda x, y: x.data * y.data, "a number alone remembers nothing"),
        (lambda x, y: (x.data * y.data, (x, y), (y.data, x.data)), "wrap the three in Value"),
        (lambda x, y: print(x.data * y.data), "It prints the result")])
def multiply(answer):
    _expect_function(answer, "multiply(x, y)")
    for a, b in [(3.0, -2.0), (0.5, 4.0), (7.0, None)]:
        x = _Value(a, name="x")
        y = x if b is None else _Value(b, name="y")
        call = f"multiply(x, x), where x holds {a:g}" if b is None else f"multiply(x, y), where x holds {a:g} and y holds {b:g}"
        z = returned(answer, x, y, tried=call, shown="a Value")
        if not all(hasattr(z, part) for part in ("data", "inputs", "locals")):
            raise Wrong(call, brief(z), "a Value", "Those are its parts: wrap the three in Value( )." if isinstance(z, tuple) else
                        "Return a new Value: a number alone remembers nothing.")
        if isinstance(z.data, _Value):
            raise Wrong(f"the number in the result of {call}", brief(z.data), brief(a * y.data),
                        "x and y are Values. Multiply their numbers: x.data * y.data.")
        expect(z.data, a * y.data, tried=f"the number in the result of {call}")
        _expect_inputs(z.inputs, (x, y), call)
        if any(hasattr(local, "data") and hasattr(local, "inputs") for local in np.ravel(np.array(z.locals, object))):
            raise Wrong(f"the local gradients in the result of {call}", brief(z.locals), brief((y.data, a)),
                        "These are Values. A local gradient is a number: y.data.")
        expect(z.locals, (y.data, a), tried=f"the local gradients in the result of {call}", hints=[
            ((a, y.data), "The two are swapped: how far z moves with x is the other factor, y."), ((1.0, 1.0), "Those are add's."),
            ((a * y.data,) * 2, "That is the result, twice. How far does it move when x alone moves by one?")])


def _expect_inputs(got, inputs, call):
    if isinstance(got, (tuple, list)) and len(got) == 2 and all(one is x for one, x in zip(got, inputs)):
        return
    if not isinstance(got, (tuple, list)) or not all(isinstance(one, _Value) for one in got):
        hint = "The inputs are the Values themselves, (x, y): the way back goes through them."
    elif not got:
        hint = "No inputs: the way back would end here."
    elif len(got) == 1:
        hint = "Two inputs, (x, y), also when both are the same Value."
    else:
        hint = "The inputs in the order in which they came: the first local gradient belongs to the first of them."
    raise Wrong(f"the inputs in the result of {call}", brief(got), "(x, y)" if inputs[0] is not inputs[1] else "(x, x)", hint)


# --- Order ------------------------------------------------------------------------------------------------------------------

def _path():
    x, y, w = _Value(1.0, name="x"), _Value(4.0, name="y"), _Value(-3.0, name="w")
    return ((x + y).called("z") * w).called("L"), "z = x + y, L = z · w", "L, z, w, y, x"


def _waits():
    a, two = _Value(3.0, name="a"), _Value(2.0, name="2")
    b = (two * a).called("b")
    c = (b + _Value(1.0, name="1")).called("c")
    (b * b).called("M")
    return (b * c).called("L"), "b = 2 · a, c = b + 1, L = b · c, and beside them M = b · b", "L, c, 1, b, 2, a"


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


def _doubled(steps):
    x = _Value(1.0, name="x")
    for _ in range(steps):
        x = x + x
    return x


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


def _newest_first(found):
    return sorted(found, key=lambda value: value.number, reverse=True)


def _as_found(output):
    """In rings around the output: its inputs, then theirs."""
    found = [output]
    for value in found:
        found += [x for x in dict.fromkeys(value.inputs) if x not in found]
    return found


def _deep_first(output, found=None):
    """By recursion, each value before its inputs at the first sight of it."""
    found = [] if found is None else found
    if output not in found:
        found.append(output)
        for x in output.inputs:
            _deep_first(x, found)
    return found


def _every_path(output):
    found = [output]
    for value in found:
        found += value.inputs
    return found


def _without_output(output):
    return [value for value in _newest_first(_reached(output)) if value is not output]


def _growing_set(output):
    found = {output}
    for value in found:
        found.update(value.inputs)
    return _newest_first(found)


def _itself_again(output):
    found = [output]
    for value in found:
        for x in value.inputs:
            if x not in found:
                found.append(value)
    return _newest_first(found)


def _appended_whole(output):
    found = [output]
    for value in found:
        found.append(value.inputs)
    return _newest_first(found)


def _all_numbers(output):
    """All Values there are, as somebody who kept a list of every Value would give."""
    extra = [] if output.name != "L" else [_Value(0.0, name="M")]
    return _newest_first([*extra, *_reached(output)])


@exercise(
    "05.order", minutes=6, difficulty="medium",
    question="""
        Write `order(output)`: the list of all Values that the output was made from, near or far, the output itself included. Each is in it
        once, and each comes after all its users. Two jobs: find them, then sort. The first is begun.""",
    stub="""
        def order(output):
            found = [output]
            for value in found:          # a list may grow at its end while a loop walks along it
                pass                     # here: append each input of this value that is not in it yet
            return sorted(...)""",
    hints=["`for x in value.inputs:`, then `if x not in found:`, then `found.append(x)`. So inputs of inputs are found as well.",
           "For the second job the box has the answer: the newest first.",
           ("Help: how do I sort by number?", "`sorted(found, key=lambda value: value.number, reverse=True)`: the largest number first."),
           ("Help: b comes before c", """
            You give them in the order in which you found them. b is an input of L, so you meet it at once; but c, which you meet
            later, uses b too. Who still owes this value? Sort at the end.""")],
    solution="""
        def order(output):
            found = [output]
            for value in found:
                for x in value.inputs:
                    if x not in found:
                        found.append(x)
            return sorted(found, key=lambda value: value.number, reverse=True)""",
    explained="""
        Without the test `if x not in found`, a value would stand in the list once for every path from it to the output. (For many
        thousands of Values, keep a set beside the list: `in` is quick there.)""",
    why="A Value is always younger than its inputs. Newest first, each one's turn comes when all that it will ever get has arrived.",
    planted=[
        (_as_found, "Who still owes this value?"),
        (_deep_first, "Who still owes this value?"),
        (lambda output: _newest_first(_reached(output))[::-1], "Oldest first"),
        (lambda output: _newest_first(_every_path(output)), "is in it 2 times"),
        (lambda output: _newest_first(set(_every_path(output))), "Every path is walked"),
        (lambda output: _newest_first({output, *output.inputs}), "Inputs of inputs belong to it"),
        (_without_output, "The output itself is missing"),
        (lambda output: [value.number for value in _newest_first(_reached(output))], "creation numbers"),
        (lambda output: _reached(output), "A set has no order"),
        (lambda output: sorted(_reached(output), reverse=True), "instances of 'Value' and 'Value'"),
        (lambda output: sorted(_reached(output)), "key=lambda value: value.number"),
        (lambda output: sorted(_reached(output), key=output.number, reverse=True), "key is a function"),
        (lambda output: _itself_again(output), "the list grows for ever"),
        (lambda output: _growing_set(output), "A set may not grow"),
        (lambda output: _appended_whole(output), "Take them one by one"),
        (_all_numbers, "was not made from it"),
        (recursive, "The walk calls itself"),
        (lambda output: [value for value in _newest_first(_reached(output)) if value._inputs], "The walk needs the leaves too"),
        (lambda output: print(_newest_first(_reached(output))), "It prints the result")])
def order(answer):
    _expect_function(answer, "order(L)")
    _Value.clock = count(1)      # a verdict may show numbers, and is to be the same every time
    for build in (_path, _waits, _twice, _long_way):
        output, words, right = build()
        got = _ordered(answer, output, f"order(L), where {words}", right)
        _expect_users_first(got, output, f"order(L), where {words}", right)
    got = _ordered(answer, _doubled(40), "order of 40 doublings, x = x + x", "41 Values")
    expect(len(got), 41, tried="how many Values order gives after 40 doublings, x = x + x")
    got = _ordered(answer, _chain(5000), "order after 5000 additions in a row", "5002 Values")
    expect(len(got), 5002, tried="how many Values order gives after 5000 additions in a row")


# What Python says of a slip, and the hint
SLIPS = {
    "'tuple' object has no attribute": "value.inputs is a tuple of Values. Take them one by one: for x in value.inputs.",
    "can't multiply sequence": "value.locals holds one number for each input. zip(value.inputs, value.locals) pairs them.",
    "'<' not supported": "sorted cannot tell which of two Values is the larger. Say by what to sort: key=lambda value: value.number.",
    "'int' object is not callable": "key is a function, which says of any Value what to sort by: key=lambda value: value.number.",
    "name 'number' is not defined": "Every Value has a number of its own: key=lambda value: value.number.",
    "'float' and 'Value'": "A Value is no number. zip(value.inputs, value.locals) gives each input together with its local gradient.",
    "'float' object has no attribute": "A local gradient is a number already, and so is g: no .data here.",
    "'float' and 'NoneType'": "ledger.get(x) gives None where there is no entry yet. ledger.get(x, 0.0) gives 0.0.",
    "'NoneType' and 'float'": "ledger.get(x) gives None where there is no entry yet. ledger.get(x, 0.0) gives 0.0.",
    "has no attribute 'local'": "They are called locals, one for each input. zip(value.inputs, value.locals) pairs them.",
    "changed size during iteration": "A set may not grow while a loop walks along it. A list may, at its end: found = [output].",
    "has no attribute 'append'": "A set has add, a list has append: found = [output] is a list."}


def _slip(error):
    return next((hint for piece, hint in SLIPS.items() if piece in str(error)), "")


def _ordered(answer, output, tried, right):
    _Value.looks, _Value.most = 0, 100 * len(_reached(output))     # few: `in` is slow in a list that grows without end
    try:
        got = returned(answer, output, tried=tried, shown=right)
        if isinstance(got, (set, frozenset)):
            raise Wrong(tried, "a set", right, "A set has no order of its own. Sort it: sorted gives a list.")
        got = list(got) if hasattr(got, "__iter__") else got
    except _Endless:
        raise Wrong(tried, "no end", right,
                    "Every path is walked, or the list grows for ever. Append each input x once: is it found already?") from None
    except RecursionError:
        raise Wrong(tried, "RecursionError", right, FAULTS["recursive"]) from None
    except Exception as error:
        error.hint = _slip(error)
        raise
    if not isinstance(got, list):
        raise Wrong(tried, brief(got), right, "A list of Values was expected.")
    if any(isinstance(one, int) for one in got):
        raise Wrong(tried, brief(got), right, "These are creation numbers. Give the Values themselves.")
    if not all(isinstance(one, _Value) for one in got):
        raise Wrong(tried, brief(got), right, "A list of Values was expected.")
    return got


def _expect_users_first(got, output, tried, right):
    reached = _reached(output)

    def wrong(hint):
        raise Wrong(tried, ", ".join(value.name for value in got) or "an empty list", right, hint)

    for value in got:
        if value not in reached:
            wrong(f"{value.name} does not belong here: {output.name} was not made from it.")
        if got.count(value) > 1:
            wrong(f"{value.name} is in it {got.count(value)} times. Each Value once: was it found before?")
    if output not in got:
        wrong("The output itself is missing: the walk begins there.")
    missing = [value for value in _newest_first(reached) if value not in got]
    if missing:
        leaves = all(not value._inputs for value in missing) and len(missing) == sum(not value._inputs for value in reached)
        wrong("The walk needs the leaves too: it is they whose gradients you want." if leaves and len(got) > 1 else
              f"{missing[0].name} is missing. Inputs of inputs belong to it as well: go on until nothing new is found.")
    place = {value: i for i, value in enumerate(got)}
    late = [(x, user) for user in _newest_first(reached) for x in user._inputs if place[x] < place[user]]
    if late and got == _newest_first(got)[::-1]:
        wrong("Oldest first. The walk goes backward, so the newest comes first: reverse=True.")
    if late:
        x, user = late[0]
        wrong(f"{x.name} comes before {user.name}, which uses it and has not sent anything yet. Who still owes this value?")


# --- Accumulate -------------------------------------------------------------------------------------------------------------

@exercise(
    "05.backward", minutes=6, difficulty="medium",
    question="""
        Write `backward(output)`, the walk of the table. The ledger begins with the seed. At each visit: take the value's gradient g out of
        the ledger, add g to the value's `.grad`, and for each of its inputs add g · local to what the ledger holds for that input.""",
    stub="""
        def backward(output):
            ledger = {output: 1.0}
            for value in order(output):
                g = ledger.pop(...)      # and so on""",
    hints=["`g = ledger.pop(value)`, then `value.grad += g`. The rest is one loop over the inputs and their local gradients.",
           ("Help: how do I get each input with its local gradient?", "`for x, local in zip(value.inputs, value.locals):`"),
           ("Help: KeyError, or an error at +=", """
            The first time something arrives at x, the ledger has no entry for x yet. `ledger.get(x, 0.0)` gives 0.0 in that case. But
            it only reads: write with `ledger[x] = …`."""),
           ("Help: a value used twice gets too little", """
            Something used twice gets two contributions, and `ledger[x] = g * local` keeps only the second. Add to what is there:
            `ledger[x] = ledger.get(x, 0.0) + g * local`.""")],
    solution="""
        def backward(output):
            ledger = {output: 1.0}
            for value in order(output):
                g = ledger.pop(value)
                value.grad += g
                for x, local in zip(value.inputs, value.locals):
                    ledger[x] = ledger.get(x, 0.0) + g * local""",
    explained="""
        `value.grad += g` adds too: a second call of backward comes on top of the first. The ledger is made anew in each call, so that
        nothing of an earlier one is sent again.""",
    why="Each value is visited once, after all its users, with the whole of its gradient. That is backpropagation, all of it.",
    planted=[
        *((engine(fault).backward, FAULTS[fault]) for fault in ("replaced", "=", "early", "kept", "seeded twice", "local", "recursive")),
        (engine("unseeded").backward, "value.grad += g"),
        (lambda output: _no_grad(output), "value.grad += g"),
        (lambda output: _inner_grad(output), "a leaf has none"),
        (lambda output: _grad_twice(output), "written to .grad twice"),
        (lambda output: {}.get(output) + 1.0, "ledger.get(x, 0.0) gives 0.0"),
        (lambda output: 1.0 + {}.get(output), "ledger.get(x, 0.0) gives 0.0"),
        (lambda output: (1.0).data, "A local gradient is a number already"),
        (lambda output: _whole_locals(output), "zip(value.inputs, value.locals)"),
        (lambda output: _paying(output, 1.0), FAULTS["every path"]),
        (lambda output: _into_grad(output), FAULTS["kept"]),
        (lambda output: _no_entry(output), "ledger.get(x, 0.0)"),
        (lambda output: {output: 1.0}.pop(output.number), "The keys of the ledger are Values"),
        (lambda output: _crossed(output), "Each local gradient belongs to one input"),
        (lambda output: [1.0 * local for x, local in [output.inputs]], "gives each input together with"),
        (lambda output: output.local, "They are called locals"),
        (lambda output: 1.0, "Nothing arrives in any .grad")])
def backward(answer):
    _expect_function(answer, "backward(L)")
    _Value.clock = count(1)      # a KeyError may show a number

    class Scalar(_Value):
        pass

    Scalar.__name__, Scalar.backward = "Value", _counting(answer)
    try:
        expect_engine(Scalar)
    except KeyError as error:
        error.tried = "backward(L), on a small graph"
        error.hint = ("The ledger has no entry for that value: ledger.get(x, 0.0) gives 0.0 then. Or was it taken out already?"
                      if isinstance(error.args[0], Scalar) else "The keys of the ledger are Values: ledger.pop(value), ledger[x].")
        raise
    except (AttributeError, TypeError) as error:
        error.tried, error.hint = "backward(L), on a small graph", _slip(error)
        raise
    except Wrong as wrong:
        *said, hint = wrong.args
        raise Wrong(*said, NOTHING if hint == FAULTS["unseeded"] else CROSSED if said[1] == "(4, 4, 2)" else
                    TWICE if said[1] == "(-6, -6, 10)" else hint) from None
    except _Endless:
        raise Wrong("backward after 40 doublings, x = x + x", "no end", "41 visits", FAULTS["every path"]) from None


# More than one slip ends so; the ledger begins right in the stub.
NOTHING = ("Nothing arrives in any .grad. Is there a value.grad += g at each visit? It stands before the loop over the inputs: a leaf has "
           "none. Does the ledger begin with 1.0 for the output?")
# Two loops, one inside the other: each input gets every local gradient. On the path of expect_engine that is (4, 4, 2).
CROSSED = "Each local gradient belongs to one input. Walk along both at once: zip(value.inputs, value.locals)."

TWICE = "Exactly double: each gradient is written to .grad twice. At the visit is enough; what is sent goes into the ledger alone."


def _counting(answer):
    def backward(output):
        _Value.looks, _Value.most = 0, 200_000
        answer(output)
    return backward


def _paying(value, g):
    value.grad += g
    for x, local in zip(value.inputs, value.locals):
        _paying(x, g * local)


def _no_entry(output):
    ledger = {output: 1.0}
    for value in _newest_first(_reached(output)):
        g = ledger.pop(value)
        value.grad += g
        for x, local in zip(value.inputs, value.locals):
            ledger[x] += g * local


def _crossed(output):
    ledger = {output: 1.0}
    for value in _newest_first(_reached(output)):
        g = ledger.pop(value)
        value.grad += g
        for x in value.inputs:
            for local in value.locals:
                ledger[x] = ledger.get(x, 0.0) + g * local


def _no_grad(output):
    ledger = {output: 1.0}
    for value in _newest_first(_reached(output)):
        g = ledger.pop(value)
        for x, local in zip(value.inputs, value.locals):
            ledger[x] = ledger.get(x, 0.0) + g * local


def _inner_grad(output):
    ledger = {output: 1.0}
    for value in _newest_first(_reached(output)):
        g = ledger.pop(value)
        for x, local in zip(value.inputs, value.locals):
            value.grad += g
            ledger[x] = ledger.get(x, 0.0) + g * local


def _grad_twice(output):
    ledger = {output: 1.0}
    for value in _newest_first(_reached(output)):
        g = ledger.pop(value)
        value.grad += g
        for x, local in zip(value.inputs, value.locals):
            x.grad += g * local
            ledger[x] = ledger.get(x, 0.0) + g * local


def _whole_locals(output):
    ledger = {output: 1.0}
    for value in _newest_first(_reached(output)):
        g = ledger.pop(value)
        value.grad += g
        for x in value.inputs:
            ledger[x] = ledger.get(x, 0.0) + g * value.locals


def _into_grad(output):
    output.grad = 1.0
    for value in _newest_first(_reached(output)):
        for x, local in zip(value.inputs, value.locals):
            x.grad += value.grad * local


def _expect_function(answer, tried):
    if not callable(answer) or isinstance(answer, type):
        raise Wrong(tried, brief(answer), "a function", "The check calls your answer: give it the function itself.")
    if has_blank(answer):
        raise NotYet


# --- Predictions, questions, card -------------------------------------------------------------------------------------------

recall("05", [
    Question("In $z = \\tanh x$, what is $\\partial z/\\partial x$, written with z alone? (Lesson 04)", "1 − z²", """
        **1 − z²**. It is 1 where z is 0, and it closes as z comes near 1 or −1. Today you meet a published engine that has z².""",
             choices=["1 − z²", "z²", "1 − z"]),
    Question("Two paths lead from x to L. One brings 10, the other −4. What is the gradient of x? (02)", 6.0, """
        **6**. Multiply along a path, add over the paths."""),
    Question("$z = x \\cdot y$, with x = 3 and y = −2, and g = 10 arrives at z. What goes to x? (03)", -20.0, """
        **−20**: what arrives times the local gradient, and that is the other factor: 10 · (−2).""")])

prediction(
    "05.early", question="""
        Say b goes first: it passes on what it has got, and does not get a second turn. Then c goes. Which number arrives at a?""",
    answer=14.0, reveal="""
        **14**: b has 7 and passes 7 · 2. Only then does c send b its 6, and nobody carries that 6 on. The right gradient is
        (7 + 6) · 2 = 26.""")

prediction(
    "05.kept", question="""
        Now an engine without a ledger: at each call L's `.grad` is set to 1, what arrives at any other value is added straight to its
        `.grad`, and is read there when its turn comes. Take $c = x \\cdot x,\\ L = 3 \\cdot c$ at x = 2. The first call gives x.grad
        = 12, which is right. Each call adds, so after a second call 24 would be right. Which number is there?""",
    answer=36.0, reveal="""
        **36**, three times for two calls. c still held the 3 of the first call. The second added its own 3, so c passed on 6 · 4 = 24 in
        place of 12. Which value was not fresh? c, one in the middle, which nobody asked about.""")

prediction(
    "05.paths", question="""
        x is doubled n times by x = x + x. A program follows every path, a million paths each second. What is the largest n
        that it finishes within a day? (Ten doublings make about a thousand.)""",
    answer=36.0, tolerance=3.0, reveal="""
        **36**. A day has 86,400 seconds, so about 86 thousand million paths. 2¹⁰ is about a thousand, so 2³⁶ is about 69 thousand million,
        and 2³⁷ is too many. (33 to 39 counts as right.)""")

card("05", [
    "Record: each value keeps its inputs, and a local gradient for each of them.",
    "A value's gradient is a sum over the arrows that leave it: the user's gradient × the local gradient.",
    "So users come before inputs. Newest first is such an order, always.",
    "A visit: take g out of the ledger, add it to .grad, add g · local to the entry of each input.",
    "+=, or only the last arrival is left. A ledger of its own for each pass, or two calls give more than double.",
    "One visit a value; the paths may be 2ⁿ."])
