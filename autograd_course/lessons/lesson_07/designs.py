"""Define the engine designs of lesson 07, each with only +, · and tanh, and measure the cost of a graph in each.

    x = Closures(0.5)
    L = x * x
    gradients(Closures, lambda x: x * x, 0.5)      # (1.0,), the same in every design
    visits(Trace, doubled(10), 1.0)                # counted: 2047
    compared()                                     # for each graph, a dict from design to Cost, measured now

The rules are right in all of them. The designs differ in where a rule is
stored, which code calls it, and which data is left after the pass.
"""

import gc
import inspect
import sys
import textwrap
import tracemalloc
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from math import tanh
from time import perf_counter

import numpy as np

# --- 000: a closure on each result ------------------------------------------------------------------------------------------


class Closures:
    def __init__(self, data, inputs=()):
        self.data, self.grad, self.inputs = data, 0.0, inputs

        def send():
            pass

        self.send = send

    def __add__(self, other):
        z = Closures(self.data + other.data, (self, other))

        def send():
            self.grad += z.grad
            other.grad += z.grad

        z.send = send
        return z

    def __mul__(self, other):
        z = Closures(self.data * other.data, (self, other))

        def send():
            self.grad += z.grad * other.data
            other.grad += z.grad * self.data

        z.send = send
        return z

    def tanh(self):
        z = Closures(tanh(self.data), (self,))

        def send():
            self.grad += z.grad * (1 - z.data * z.data)

        z.send = send
        return z

    def backward(self):
        self.grad = 1.0
        for z in users_first(self):
            z.send()


# --- 004: a class for each operation, and a context for each result ----------------------------------------------------------


class Context:
    def __init__(self, data, inputs=(), function=None, saved=()):
        self.data, self.grad = data, 0.0
        self.inputs, self.function, self.saved = inputs, function, saved

    def __add__(self, other):
        return Context(self.data + other.data, (self, other), Add)

    def __mul__(self, other):
        return Context(
            self.data * other.data, (self, other), Multiply, saved=(self.data, other.data)
        )

    def tanh(self):
        t = tanh(self.data)
        return Context(t, (self,), Tanh, saved=(t,))

    def backward(self):
        self.grad = 1.0
        for z in users_first(self):
            z.visit()

    def visit(self):
        if self.function:
            for x, sent in zip(self.inputs, self.function.backward(self.saved, self.grad)):
                x.grad += sent


class Add:
    @staticmethod
    def backward(saved, g):
        return g, g


class Multiply:
    @staticmethod
    def backward(saved, g):
        x, y = saved
        return g * y, g * x


class Tanh:
    @staticmethod
    def backward(saved, g):
        (z,) = saved
        return (g * (1 - z * z),)


# --- 001: an object for each operation, and a ledger for the walk -------------------------------------------------------------


class Ledger:
    def __init__(self, data, inputs=(), op=None):
        self.data, self.grad = data, 0.0
        self.inputs, self.op = inputs, op

    def __add__(self, other):
        return Ledger(self.data + other.data, (self, other), AddOp())

    def __mul__(self, other):
        return Ledger(self.data * other.data, (self, other), MultiplyOp())

    def tanh(self):
        return Ledger(tanh(self.data), (self,), TanhOp())

    def backward(self):
        ledger = {self: 1.0}
        for z in users_first(self):
            z.visit(ledger)

    def visit(self, ledger):
        g = ledger.pop(self)
        self.grad += g
        if self.op:
            for x, sent in zip(self.inputs, self.op.pull(g, self)):
                ledger[x] = ledger.get(x, 0.0) + sent


class AddOp:
    def pull(self, g, z):
        return g, g


class MultiplyOp:
    def pull(self, g, z):
        x, y = z.inputs
        return g * y.data, g * x.data


class TanhOp:
    def pull(self, g, z):
        return (g * (1 - z.data * z.data),)


# --- 002: local gradients on the result, walked path by path ------------------------------------------------------------------


class Locals:
    def __init__(self, data, inputs=(), locals=()):
        self.data, self.grad = data, 0.0
        self.inputs, self.locals = inputs, locals

    def __add__(self, other):
        return Locals(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        return Locals(self.data * other.data, (self, other), (other.data, self.data))

    def tanh(self):
        t = tanh(self.data)
        return Locals(t, (self,), (1 - t * t,))

    def backward(self, g=1.0):
        self.grad += g
        for x, local in zip(self.inputs, self.locals):
            x.backward(g * local)


# --- 003: partials on the input, walked path by path --------------------------------------------------------------------------


class Trace:
    """A value that stores its users, each with the local gradient along the edge to this user."""

    def __init__(self, data):
        self.data = data
        self.users = []

    def __add__(self, other):
        z = Trace(self.data + other.data)
        self.users.append((1.0, z))
        other.users.append((1.0, z))
        return z

    def __mul__(self, other):
        z = Trace(self.data * other.data)
        self.users.append((other.data, z))
        other.users.append((self.data, z))
        return z

    def tanh(self):
        z = Trace(tanh(self.data))
        self.users.append((1 - z.data * z.data, z))
        return z

    def gradient(self):
        if not self.users:
            return 1.0
        return sum(local * z.gradient() for local, z in self.users)


def users_first(output):
    """Return the values that `output` depends on, and `output` itself, in topological order, users first.

    The function is recursive, as the published engines 000, 001 and 004 are, so a deep graph raises
    RecursionError.
    """
    found, seen = [], set()

    def follow(value):
        if value not in seen:
            seen.add(value)
            for x in value.inputs:
                follow(x)
            found.append(value)

    follow(output)
    return found[::-1]


# --- The library's, as small as the others: a row for each operation, and a loop -----------------------------------------------


class Table:
    clock = count(1)

    def __init__(self, data, inputs=(), row=None):
        self.data, self.grad = data, 0.0
        self.inputs, self.row, self.number = inputs, row, next(Table.clock)

    def __add__(self, other):
        return Table(self.data + other.data, (self, other), ADD)

    def __mul__(self, other):
        return Table(self.data * other.data, (self, other), MULTIPLY)

    def tanh(self):
        return Table(tanh(self.data), (self,), TANH)

    def backward(self):
        ledger, waiting = {self: 1.0}, [(-self.number, self)]
        while waiting:
            _, z = heappop(waiting)
            z.arrive(ledger.pop(z), ledger, waiting)

    def arrive(self, g, ledger, waiting):
        self.grad += g
        if self.row:
            values = [x.data for x in self.inputs]
            for x, rule in zip(self.inputs, self.row):
                if x not in ledger:
                    ledger[x] = 0.0
                    heappush(waiting, (-x.number, x))
                ledger[x] += rule(g, self.data, *values)


ADD = (lambda g, z, x, y: g, lambda g, z, x, y: g)

MULTIPLY = (lambda g, z, x, y: g * y, lambda g, z, x, y: g * x)

TANH = (lambda g, z, x: g * (1 - z * z),)

DESIGNS = {
    "closures": Closures,
    "context": Context,
    "ledger": Ledger,
    "stored locals": Locals,
    "trace": Trace,
    "table": Table,
}
# The method that is called once for each value whose turn comes.
STEP = {
    Closures: "send",
    Context: "visit",
    Ledger: "visit",
    Locals: "backward",
    Trace: "gradient",
    Table: "arrive",
}


def source(Design):
    """Return the source code with which a design multiplies and runs its backward pass, as one string."""
    parts = {
        Context: [Context.__mul__, Multiply, Context.visit, Context.backward],
        Ledger: [Ledger.__mul__, MultiplyOp, Ledger.backward, Ledger.visit],
        Trace: [Trace.__mul__, Trace.gradient],
        Table: [Table.__mul__, Table.backward, Table.arrive],
    }
    code = [
        inspect.getsource(part) for part in parts.get(Design) or [Design.__mul__, Design.backward]
    ]
    if Design is Table:
        lines = inspect.getsource(sys.modules[__name__]).splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith("MULTIPLY"))
        code.insert(1, "\n".join(lines[start : start + 2]))
    return "\n\n".join(textwrap.dedent(part).rstrip() for part in code)


# --- Graphs: functions of anything that has +, * and tanh ---------------------------------------------------------------------


def doubled(n):
    """Return a function of x that doubles x n times by adding the result to itself."""

    def f(x):
        for _ in range(n):
            x = x + x
        return x

    return f


def chain(n):
    """Return a function f(x, w, b) of n operations in a row, which alternately multiply by w and add b."""

    def f(x, w, b):
        for k in range(n):
            x = x + b if k % 2 else x * w
        return x

    return f


def neurons(n):
    """Return a function f(x, y, *weights) that adds the outputs of n tanh neurons.

    All neurons have the inputs x and y. Each has two weights of its own, so f takes 2n weights.
    """

    def f(x, y, *weights):
        outputs = [(x * weights[2 * k] + y * weights[2 * k + 1]).tanh() for k in range(n)]
        total = outputs[0]
        for output in outputs[1:]:
            total = total + output
        return total

    return f


# --- What it gives and what it costs -------------------------------------------------------------------------------------------


def _record(Design, f, xs):
    inputs = [Design(x) for x in xs]
    return inputs, f(*inputs)


def _back(Design, inputs, L):
    if Design is Trace:
        return tuple(x.gradient() for x in inputs)
    L.backward()
    return tuple(x.grad for x in inputs)


def gradients(Design, f, *xs, calls=1):
    """Return a tuple of the gradients of f with respect to each of `xs`, computed by the class `Design`.

    The backward pass runs `calls` times on one graph, and the gradients are those after the last
    pass.
    """
    inputs, L = _record(Design, f, xs)
    for _ in range(calls):
        found = _back(Design, inputs, L)
    return found


def visits(Design, f, *xs):
    """Return how many times the backward pass of `Design` visits a value of f(*xs), including L and the inputs."""
    inputs, L = _record(Design, f, xs)
    steps, name = 0, STEP[Design]

    def count_calls(frame, event, argument):
        nonlocal steps
        steps += event == "call" and frame.f_code.co_name == name

    before = sys.getprofile()
    sys.setprofile(count_calls)
    try:
        _back(Design, inputs, L)
    finally:
        sys.setprofile(before)
    return steps


def reaches(Design, n):
    """Return True if the backward pass of `Design` through a chain of n operations ends without RecursionError."""
    inputs, L = _record(Design, chain(n), (1.0, 1.0, 0.0))
    try:
        _back(Design, inputs[:1], L)
    except RecursionError:
        return False
    return True


def deepest(Design, most=20_000):
    """Return the length of the longest chain through which the backward pass of `Design` does not fail.

    A pass fails if it raises RecursionError. The length is exact to within ten, and at most `most`.
    """
    if reaches(Design, most):
        return most
    low, high = 0, most
    while high - low > 10:
        middle = (low + high) // 2
        low, high = (middle, high) if reaches(Design, middle) else (low, middle)
    return low


@dataclass
class Cost:
    """Hold the cost of one graph in one design.

    `microseconds` and `bytes` are the time and the memory per operation, and `visits` is the number
    of visits in the whole backward pass.
    """

    microseconds: float  # for each operation, there and back
    bytes: float  # for each operation, what the record keeps
    visits: int  # in the whole backward pass


GRAPHS = {
    "12 doublings": (doubled(12), (1.0,), 12),
    "300 operations in a row": (chain(300), (1.0, 1.0, 0.0), 300),
    "50 neurons": (neurons(50), tuple(np.linspace(-1, 1, 102).tolist()), 50 * 4 + 49),
}


def compared(repeats=5):
    """Measure the cost of each graph in each design, and return a dict of dicts.

    The outer dict maps the name of each graph to a dict from the name of each design to its Cost.
    Each time is the shortest of `repeats` runs.
    """
    return {
        graph: {name: _cost(Design, *about, repeats) for name, Design in DESIGNS.items()}
        for graph, about in GRAPHS.items()
    }


def _cost(Design, f, xs, operations, repeats):
    times = []
    for _ in range(repeats):
        start = perf_counter()
        _back(Design, *_record(Design, f, xs))
        times.append(perf_counter() - start)
    size = min(_held(Design, f, xs) for _ in range(3))  # other threads allocate memory too
    return Cost(min(times) / operations * 1e6, size / operations, visits(Design, f, *xs))


def _held(Design, f, xs):
    """Return the memory, in bytes, of the values that the class `Design` records while it computes f(*xs)."""
    gc.collect()
    tracemalloc.start()
    kept = _record(Design, f, xs)
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del kept
    return size
