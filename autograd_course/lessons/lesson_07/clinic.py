"""Define the gradient clinic of lesson 07: a correct engine, and patients, which have one faulty method each.

    x = Scalar(0.5)
    L = Scalar(2.0) * x.tanh()
    L.backward()                                       # x.grad is now 1.57289547
    examine(Squared, lambda x: x.tanh(), 0.5)          # a Report: the gradients of the engine beside measured ones
    sheet(Squared)                                     # its results in the eight checks that every engine gets
    PATIENTS["A"].engine, PATIENTS["A"].writeup        # the faulty engine and its card

Each fault was published, and the card says where. The engine `Unknown` has no card.
"""

import inspect
import math
import textwrap
from dataclasses import dataclass
from itertools import count

import numpy as np


def power(x, y):
    """Return x ** y as a float, or nan if the result is not a real number."""
    try:
        return math.pow(x, y)
    except ValueError:
        return math.nan


def log(x):
    """Return the natural logarithm of x, or nan if it is undefined."""
    return math.log(x) if x > 0 else math.nan


class Scalar:
    """Record a computation on single numbers, and differentiate it without a fault.

    Each Scalar stores its `inputs` and a function `rule(g)`, which returns one gradient for each
    input, or None for an input that receives no gradient. The faulty engines are subclasses.
    """

    clock = count(1)

    def __init__(self, data, inputs=()):
        self.data, self.grad, self.inputs = data, 0.0, inputs
        self.rule = lambda g: [None] * len(inputs)
        self.number = next(Scalar.clock)

    def __repr__(self):
        return f"{type(self).__name__}({np.asarray(self.data).tolist()})"

    def __add__(self, other):
        z = type(self)(self.data + other.data, (self, other))
        z.rule = lambda g: (g, g)
        return z

    def __sub__(self, other):
        z = type(self)(self.data - other.data, (self, other))
        z.rule = lambda g: (g, -g)
        return z

    def __mul__(self, other):
        z = type(self)(self.data * other.data, (self, other))
        z.rule = lambda g: (g * other.data, g * self.data)
        return z

    def __pow__(self, other):
        x, y = self.data, other.data
        z = type(self)(power(x, y), (self, other))
        z.rule = lambda g: (
            g * y * power(x, y - 1) if y else 0.0,
            g * z.data * log(x or 1.0),  # 0 where x is 0
        )
        return z

    def tanh(self):
        t = math.tanh(self.data)
        z = type(self)(t, (self,))
        z.rule = lambda g: (g * (1 - t * t),)
        return z

    def relu(self):
        z = type(self)(max(self.data, 0.0), (self,))
        z.rule = lambda g: (g if self.data > 0 else None,)
        return z

    def half_squared_error(self, target):
        error = self - target
        return type(self)(0.5) * (error * error)

    def order(self):
        found, todo = {self}, [self]
        while todo:
            for x in todo.pop().inputs:
                if x not in found:
                    found.add(x)
                    todo.append(x)
        return sorted(found, key=lambda value: value.number, reverse=True)

    def backward(self):
        ledger = {self: 1.0}
        for z in self.order():
            g = ledger.pop(z, 0.0)
            z.grad += g
            for x, sent in zip(z.inputs, z.rule(g)):
                if sent is not None:
                    ledger[x] = ledger.get(x, 0.0) + sent


# --- The patients -----------------------------------------------------------------------------------------------------------


class Squared(Scalar):
    def tanh(self):
        t = math.tanh(self.data)
        z = type(self)(t, (self,))
        z.rule = lambda g: (g * t * t,)
        return z


class Deaf(Scalar):
    def tanh(self):
        t = math.tanh(self.data)
        z = type(self)(t, (self,))
        z.backward = lambda g: (g * (1 - t * t),)
        return z


class Far(Scalar):
    def tanh(self):
        e = math.exp(2 * self.data)
        t = (e - 1) / (e + 1)
        z = type(self)(t, (self,))
        z.rule = lambda g: (g * (1 - t * t),)
        return z


class Kept(Scalar):
    def backward(self):
        self.grad = 1.0
        for z in self.order():
            for x, sent in zip(z.inputs, z.rule(z.grad)):
                if sent is not None:
                    x.grad += sent


class Paths(Scalar):
    def backward(self, g=1.0):
        self.grad += g
        for x, sent in zip(self.inputs, self.rule(g)):
            if sent is not None:
                x.backward(sent)


class Hushed(Scalar):
    def backward(self):
        ledger = {self: 1.0}
        for z in self.order():
            g = ledger.pop(z, 0.0)
            z.grad += g
            for x, sent in zip(z.inputs, z.rule(0.0 if math.isnan(g) else g)):
                if sent is not None:
                    ledger[x] = ledger.get(x, 0.0) + sent


class Invented(Scalar):
    def __pow__(self, other):
        x, y = self.data, other.data
        z = type(self)(power(x, y), (self, other))
        z.rule = lambda g: (
            g * y * power(x, y - 1) if y else 0.0,
            g * z.data * log(abs(x) or 1.0),
        )
        return z


class Misread(Scalar):
    def half_squared_error(self, target):
        return type(self)(0.5) * (self - target * target)


class Seeded(Scalar):
    def backward(self):
        ledger = {}
        for z in self.order():
            g = ledger.pop(z, 1.0)
            z.grad += g
            for x, sent in zip(z.inputs, z.rule(g)):
                if sent is not None:
                    ledger[x] = ledger.get(x, 0.0) + sent


class Unknown(Scalar):
    """Differentiate with one fault, which the learner has to find.

    No cause listed in the lesson describes this fault.
    """

    def order(self):
        found, todo = {self.data: self}, [self]
        while todo:
            for x in todo.pop().inputs:
                if x.data not in found:
                    found[x.data] = x
                    todo.append(x)
        return sorted(found.values(), key=lambda value: value.number, reverse=True)


# --- Their cards ------------------------------------------------------------------------------------------------------------


@dataclass
class Patient:
    """Describe one faulty engine, a patient of the clinic.

    `engine` is the class with the fault, `method` is the name of its faulty method, and the texts
    `symptom`, `writeup`, `cause` and `check` are shown on the patient's card. `shows` is a dict
    that maps the name of each check that the engine fails to the result of the check. `caught` is
    True if a gradient check at typical values finds the fault.
    """

    engine: type
    method: str
    symptom: str
    writeup: str
    cause: str
    check: str
    shows: dict
    caught: bool = False

    @property
    def source(self):
        """Return the source code of the faulty method."""
        return source(self.engine, self.method)

    @property
    def healthy(self):
        return source(self.engine.__base__, self.method)


def source(engine, method):
    """Return the source of a method of an engine, without its indentation.

    `engine` is a class, and `method` is the name of one of its methods.
    """
    return textwrap.dedent(inspect.getsource(getattr(engine, method)))


SQUARED = Patient(
    Squared,
    "tanh",
    "The gradients have the right sign but the wrong size.",
    "the tutorial with the trace",
    "the derivative of tanh is taken as z², not 1 − z²",
    "It fails, except at z² = ½.",
    {"tanh": 2 * math.tanh(0.5) ** 2, "far": 1.0},
    caught=True,
)

PATIENTS = {
    "A": Patient(
        Seeded,
        "backward",
        "A value that received no gradient behaves as if it were L.",
        "the talk, with its contexts; there a constant exponent received no gradient",
        "a value without a gradient gets the gradient 1",
        "It passes, unless some operation sends no gradient: here a closed relu.",
        {"closed": 1.0},
    ),
    "B": Patient(
        Far,
        "tanh",
        "It raises an error for a large input of tanh.",
        "the tutorial with closures",
        "tanh is computed from exponentials that grow too large",
        "It passes wherever the forward pass works. At 400 there is no number to check.",
        {"far": "OverflowError"},
    ),
    "C": Patient(
        Hushed,
        "backward",
        "It returns 0 where the gradient is undefined.",
        "the tutorial with stored locals",
        "a gradient that is nan is replaced by 0",
        "It passes if no gradient is nan. It sends 0 instead of nan.",
        {"none": 0.0},
    ),
    "D": Patient(
        Deaf,
        "tanh",
        "No gradient passes through tanh.",
        "the tutorial with closures",
        "the rule is stored under another name",
        "It fails wherever tanh is not flat. Far out, at 20, 0 is right.",
        {"tanh": 0.0},
        caught=True,
    ),
    "E": Patient(
        Paths,
        "backward",
        "All numbers are right, but each further doubling doubles the time.",
        "the tutorial with stored locals, and the one with the trace",
        "every path is followed separately",
        "It passes. A check of numbers alone does not show the cost.",
        {"doubled": 1023},
    ),
    "F": Patient(
        Misread,
        "half_squared_error",
        "The loss is negative.",
        "the tutorial with the trace, in its first listing",
        "y is squared, not the error",
        "It passes: these are the right gradients of another function.",
        {"loss": -1.0},
    ),
    "G": Patient(
        Kept,
        "backward",
        "The first call is right, but the second adds too much: with one value in between, 12 becomes 36, not 24.",
        "the tutorial with closures, and the talk with its contexts",
        "intermediate values keep their gradients from the previous call",
        "It passes: a check makes a new graph every time.",
        {"twice": 36.0},
    ),
    "H": Patient(
        Invented,
        "__pow__",
        "It returns a number where the gradient is undefined.",
        "the tutorial with the trace",
        "the logarithm is taken of |x|, not of x",
        "It passes for positive bases. At a negative base and a whole exponent, the exponent's gradient is undefined, but this engine returns a number.",
        {"none": 9 * math.log(3)},
    ),
}


# --- Examinations -----------------------------------------------------------------------------------------------------------


@dataclass
class Report:
    """Hold the result of a gradient check.

    `rows` lists (letter, gradient of the engine, measured gradient) for each input. `repr` shows
    one line for each input and says whether the check passes.
    """

    rows: list

    @property
    def passed(self):
        return all(agree(engine, measured) for _, engine, measured in self.rows)

    def __repr__(self):
        lines = []
        for letter, engine, measured in self.rows:
            shape = f" {np.shape(measured)}" if np.ndim(engine) or np.ndim(measured) else ""
            lines.append(
                f"{letter}{shape}: engine {seven_digits(engine)}, measured {seven_digits(measured)}"
                + ("" if agree(engine, measured) else "   ✗")
            )
        return "\n".join(lines + ["the check passes" if self.passed else "the check fails"])


def seven_digits(value):
    """Return a gradient as one line of text with seven significant digits.

    If `value` is the name of an error, it is returned unchanged.
    """
    if isinstance(value, str):
        return value
    return (
        f"[{', '.join(map(seven_digits, value))}]"
        if np.ndim(value)
        else f"{value:.7g}".replace("-", "−")
    )


def agree(engine, right):
    """Return True if two results have the same shape and nearly equal numbers, or are the same error name.

    Two nan count as equal.
    """
    if isinstance(engine, str) or isinstance(right, str):
        return isinstance(engine, str) and isinstance(right, str) and engine == right
    return np.shape(engine) == np.shape(right) and np.allclose(
        engine, right, rtol=1e-6, atol=1e-8, equal_nan=True
    )


def examine(Engine, f, *xs, h=1e-6):
    """Return a Report that compares the gradients of f at `xs` with central differences of step `h`.

    `Engine` is the class of values with which both the gradients and the differences are computed. `f`
    takes one value for each of `xs`, numbers or arrays. If the backward pass raises ValueError, the
    gradients are replaced by the name of the error.
    """
    inputs = [Engine(x) for x in xs]
    L = f(*inputs)
    try:
        Engine.backward(L)
        found = [x.grad for x in inputs]
    except ValueError as error:  # shapes that do not fit
        found = [type(error).__name__] * len(inputs)
    return Report(
        [
            (letter, found[i], _measured(Engine, f, xs, i, h))
            for i, letter in enumerate(inspect.signature(f).parameters)
        ]
    )


def _measured(Engine, f, xs, i, h):
    """Return the gradient of f with respect to input number `i`, measured by central differences of step `h`.

    Each entry is changed separately. The result has the shape of the input.
    """

    def moved(step):
        return f(*(Engine(x + step if k == i else x) for k, x in enumerate(xs))).data

    xs = [np.asarray(x, float)[()] for x in xs]
    slope = np.zeros(np.shape(xs[i]))
    for place in np.ndindex(slope.shape):
        step = np.zeros(slope.shape)
        step[place] = h
        slope[place] = (moved(step[()]) - moved(-step[()])) / (2 * h)
    return slope[()]


def ordinary(x, y, w):
    """Return an expression of x, y and w that uses every operation of the engine, and each input at least twice.

    The gradient check of the clinic uses this expression at points where every operation is smooth.
    """
    return ((x * w).tanh() + (x + y).relu() ** (w - x)).half_squared_error(y)


def asked(f, *xs, calls=1):
    """Return a function that takes an engine and returns the gradient of f with respect to the first of `xs`.

    `backward` is called `calls` times on the same graph, so that gradients may accumulate.
    """

    def ask(Engine):
        inputs = [Engine(x) for x in xs]
        L = f(*inputs)
        for _ in range(calls):
            Engine.backward(L)
        return inputs[0].grad

    return ask


def _count_rule_calls(Engine):
    """Return how many times `Engine` calls a rule in the backward pass through ten doublings, x = x + x."""
    values, runs = [Engine(1.0)], []

    def counted(rule):
        return lambda g: runs.append(g) or rule(g)

    for _ in range(10):
        values.append(values[-1] + values[-1])
        values[-1].rule = counted(values[-1].rule)
    Engine.backward(values[-1])
    return len(runs)


# The check in words, its right result, and a function that runs it
EXAMINATIONS = {
    "sum": (
        "(x + y)·w at 1, 4, −3: gradient of x",
        -3.0,
        asked(lambda x, y, w: (x + y) * w, 1.0, 4.0, -3.0),
    ),
    "tanh": (
        "2·tanh x at 0.5: gradient of x",
        2 * (1 - math.tanh(0.5) ** 2),
        asked(lambda x, c: c * x.tanh(), 0.5, 2.0),
    ),
    "far": ("tanh x at 400: gradient of x", 0.0, asked(lambda x: x.tanh(), 400.0)),
    "closed": (
        "relu(x·1) at −1: gradient of x",
        0.0,
        asked(lambda x, c: (x * c).relu(), -1.0, 1.0),
    ),
    "none": (
        "(−3) ** (x·1) at 2: gradient of x",
        math.nan,
        asked(lambda x, b, c: b ** (x * c), 2.0, -3.0, 1.0),
    ),
    "twice": (
        "3·(x·x) at 2, backward twice: gradient of x",
        24.0,
        asked(lambda x, c: c * (x * x), 2.0, 3.0, calls=2),
    ),
    "doubled": ("x = x + x ten times: rules run", 10, _count_rule_calls),
    "loss": (
        "½(ŷ − y)² at ŷ = −1, y = 1: L itself",
        2.0,
        lambda Engine: Engine(-1.0).half_squared_error(Engine(1.0)).data,
    ),
}


def sheet(Engine, examinations=EXAMINATIONS):
    """Return a dict that maps the name of each check to the result that `Engine` produces.

    The result is a number or an array, or the name of the error if the check raises one.
    `examinations` is a dict that maps the name of each check to a tuple. The last item of the tuple
    is a function that takes an engine and returns the result.
    """
    found = {}
    for name, (_, _, ask) in examinations.items():
        try:
            found[name] = ask(Engine)
        except (ArithmeticError, RecursionError, ValueError) as error:
            found[name] = type(error).__name__
    return found


def fails(name, shown, examinations=EXAMINATIONS):
    """Return True if `shown` is not the right result of the check called `name`.

    `examinations` is a dict that maps the name of each check to a tuple (description, right result,
    function that runs the check).
    """
    return not agree(shown, examinations[name][1])
