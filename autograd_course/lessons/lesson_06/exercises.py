"""Ask the questions of lesson 06: the training loop, gradients by hand, and failures that raise no error."""

from functools import partial

import numpy as np

import autograd_lib as ag

from ...grading import NotYet, Wrong, brief, edit, exercise, expect, expect_over, has_blank
from ...grading.compare import same
from ...grading.mistakes import printed
from ...grading.rule_checks import engine
from ...grading.sandbox import StepLimitExceeded, bounded
from ...quiz.texts import Question, card, prediction, recall
from ..lesson_05.engine import Value, operation

# --- The slide: three paths from w₃ ------------------------------------------------------------------------------------------

P = 0.5 * 0.49 + 0.3  # w₁·a + w₃
Q = 0.4 * P * P + 0.3  # w₂·b + w₃
ARRIVES = 2 * (np.sin(P * P + Q * Q) - 0.3) * np.cos(P * P + Q * Q)  # at b + c
ROUTES = ARRIVES * 2 * P, ARRIVES * 2 * Q, ARRIVES * 2 * Q * 0.4 * 2 * P


def _about(wrong, hint):
    """Return a function that returns `hint` for an answer within 0.0006 of `wrong`, and None otherwise.

    So a rounded answer is recognised too.
    """
    return lambda got, expected: hint if same(got, wrong, 0, 6e-4) else None


_B, _C, _BOTH = ROUTES
FROM_C = np.cos(P * P + Q * Q)  # the arrow from c to ŷ
_FEW = "These are close, but not close enough: give four decimals for each."
_ROUTES = [
    (
        (_B, _C),
        "0.3010 is the path through b alone, which is given. The question asks for the other two.",
    ),
    ((_BOTH, _C), "The two are swapped: the path through c alone is w₃ → c → ŷ → L."),
    (
        (_C, 0.0),
        "w₃ moves b, and b also moves c, so there is a third path. Multiply along its four arrows.",
    ),
    (
        (_C, _B + _C),
        "The path through b and c is a path of its own, not the sum of two others: w₃ → b → c → ŷ → L.",
    ),
    (
        (_C, _B * _C),
        "Multiply the local gradients along the last path. The contributions of the other paths do not belong in it.",
    ),
    (
        (_C + _BOTH, _BOTH),
        "One path is counted twice: the path through c alone is w₃ → c → ŷ → L, without b.",
    ),
    (
        (_C, _C + _BOTH),
        "One path is counted twice: the path through b and c is w₃ → b → c → ŷ → L, and nothing else.",
    ),
    (
        (_C, 0.8 * P * Q * 2),
        "That is the path from w₃ to c. Continue it to L: from c to ŷ, and from ŷ to L.",
    ),
    (
        (2 * Q, 0.8 * P * Q * 2),
        "These are local gradients. Continue each path to L: from c to ŷ, and from ŷ to L.",
    ),
    (
        (2 * P * _C / (2 * Q), _BOTH),
        "The arrow from w₃ to c has the local gradient 0.8376. 1.09 belongs to the arrow from w₃ to b.",
    ),
    (
        (_C / FROM_C, _BOTH / FROM_C),
        "From c the paths go to ŷ and then to L: the arrow from c to ŷ, 0.8905, is missing.",
    ),
    (
        (_C / FROM_C, _BOTH),
        "The path goes from c to ŷ and then to L: the arrow from c to ŷ, 0.8905, is missing.",
    ),
    (
        (_C, _BOTH / FROM_C),
        "The path goes from c to ŷ and then to L: the arrow from c to ŷ, 0.8905, is missing.",
    ),
    (
        (_C, _B + _BOTH),
        "That is the sum of both paths through b, including the one from b straight to ŷ. The path through b and c is w₃ → b → c → ŷ → L.",
    ),
    (
        (_C, ARRIVES * 0.8 * Q),
        "The last path begins at w₃: its first arrow, with local gradient 1.09, is missing.",
    ),
    (
        (_C, ARRIVES * 2 * P * 0.4),
        "The arrow from b to c has the local gradient 0.335. 0.4 is the value of w₂ alone.",
    ),
    ((-_C, -_BOTH), "Every local gradient on these paths is positive, and so are the products."),
    (
        (_B + _C, _B + _C + _BOTH),
        "These are sums. What does each of the two paths contribute by itself?",
    ),
    (
        (2 * Q * FROM_C, 0.8 * P * Q * 2 * FROM_C),
        "The paths go on from ŷ to L: that arrow, 0.3101, is missing.",
    ),
    (
        (0.8376 + 0.8905 + 0.3101, 1.09 + 0.335 + 0.8905 + 0.3101),
        "Along a path the local gradients are multiplied, not added.",
    ),
    (
        (_B + _C + _BOTH, _BOTH),
        "0.6331 is the sum of all three paths. What does the path through c alone contribute?",
    ),
    (
        (_C, _B),
        "0.3010 is the path through b alone, which is given. This path goes on from b to c, along the arrow with 0.335.",
    ),
    (
        (_C, _BOTH * 2 * Q),
        "The last path reaches c from b. The arrow from w₃ to c, 0.8376, is not part of it.",
    ),
    ((0.23, 0.10), _FEW),
    ((0.231, 0.101), _FEW),
    (
        (2 * Q, 0.8 * Q),
        "These are single local gradients. A path contributes the product of the local gradients of all its arrows, up to L.",
    ),
    (
        (ARRIVES * 2 * Q * P * P, _B),
        "0.0687 is the gradient of w₂, and 0.3010 is the path through b alone, which is given. Both paths here begin at w₃ and use the arrow from c to ŷ.",
    ),
    (
        (_C, 2 * P * 2 * Q * ARRIVES),
        "0.8376 belongs to the arrow from w₃ to c. This path reaches c from b, along the arrow with 0.335.",
    ),
    (
        (2 * Q * FROM_C, 0.8 * P * Q * 2),
        "Both paths end at L. Multiply along all their arrows: the last ones are 0.8905 and 0.3101.",
    ),
    (
        (_B + _C, _BOTH),
        "0.5323 is the sum of the path through b alone and the path through c alone. What does the path through c contribute?",
    ),
    (
        (2 * Q * FROM_C, _BOTH),
        "The path goes from c to ŷ and then to L: the arrow from ŷ to L, 0.3101, is missing.",
    ),
    (
        (_C, 0.8 * P * Q * 2 * FROM_C),
        "The path goes from c to ŷ and then to L: the arrow from ŷ to L, 0.3101, is missing.",
    ),
    (
        (ARRIVES * 2 * Q * P * P, _BOTH),
        "0.0687 is the gradient of w₂. The path through c alone begins at w₃: its arrow to c has the local gradient 0.8376.",
    ),
]


@exercise(
    "06.routes",
    minutes=5,
    difficulty="optional",
    importance=1,
    question="""
        w₃ reaches L by three paths. The path through b alone contributes 1.09 · 0.8905 · 0.3101 = 0.3010, the product of the
        local gradients along w₃ → b → ŷ → L in the picture above. What does the path through c alone contribute? And the
        path through b *and* c? Give four decimals.""",
    stub="""
        through_c = ...
        through_both = ...""",
    hints=[
        "The path through c alone is w₃ → c → ŷ → L: three arrows, so three numbers from the picture.",
        "The path through b and c has four arrows: w₃ → b → c → ŷ → L.",
        (
            "Help: my three paths add up to 0.5323",
            """
            That is also the sum of the talk's two paths. Two of your three paths must go through the arrow from c to ŷ: one reaches c
            from w₃ directly, the other by way of b.""",
        ),
    ],
    solution="""
        through_c = 0.8376 * 0.8905 * 0.3101
        through_both = 1.09 * 0.335 * 0.8905 * 0.3101""",
    explained="0.3010 + 0.2313 + 0.1008 = 0.6331. The first two alone add up to 0.5323, the number on the slide.",
    why="The gradient adds up all paths. If a weight is used in several places, look for the path that is easy to forget.",
    mistakes=[*_ROUTES, *(_about(*pair) for pair in _ROUTES)],
)
def routes(answer):
    expect(
        answer,
        ROUTES[1:],
        tried="what the two paths contribute",
        shown="two other numbers",
        atol=6e-5,
        hints=routes.mistakes,
    )


# --- The loop ------------------------------------------------------------------------------------------------------------------


class _Value(Value):
    """Add, subtract and multiply Values and plain numbers, without using the learner's `multiply`."""

    def __add__(self, other):
        other = other if isinstance(other, Value) else _Value(other)
        return _Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        other = other if isinstance(other, Value) else _Value(other)
        return _Value(self.data * other.data, (self, other), (other.data, self.data))

    def __sub__(self, other):
        return self + other * -1.0

    __radd__, __rmul__ = __add__, __mul__


_Value.__name__ = "Value"  # what an error of Python calls it
_engine = engine()


def backward(L):
    """Run the backward pass from L, and add 1 to L.grad, as the engine of lesson 05 does."""
    _engine.backward(L)
    L.grad += 1.0


def _line(parameters, x, y):
    w, b = parameters
    error = w * _Value(x) + b + _Value(-y)
    return error * error


def _curve(parameters, x, y):
    """Return a loss of three parameters at the example (x, y).

    The loss is not a square, and uses one of the parameters twice.
    """
    a, b, c = parameters
    z = a * _Value(x) + b * b * _Value(x * x) + c
    return z * _Value(y) + z * z * a


def _many(parameters, x, y):
    """Return a squared error at the example (x, y), for any number of parameters.

    Each parameter has a different factor.
    """
    total = _Value(-y)
    for k, p in enumerate(parameters):
        total = total + p * _Value(x * (k + 1) / 40)
    return total * total


def _by_sign(parameters, x, y):
    """Return a squared error at the example (x, y) that uses only one of two parameters.

    The first parameter is used if x ≥ 0, and the second otherwise. The unused parameter is not in
    the graph of the loss.
    """
    error = parameters[x < 0] * _Value(x) + _Value(-y)
    return error * error


def _plane(parameters, x, y):
    """Return the squared error of a linear model of two parameters at the example (x, y), where x is a pair."""
    error = parameters[0] * _Value(x[0]) + parameters[1] * _Value(x[1]) + _Value(-y)
    return error * error


for loss in (_line, _curve, _many, _by_sign, _plane):
    loss.__qualname__ = "loss"  # what an error of Python calls it

CASES = [  # (words, where the parameters start, what their .grad holds, loss, examples, rate)
    (
        "a line w·x + b, from w = 0.5 and b = −0.25, on three examples, rate 0.1",
        (0.5, -0.25),
        0.0,
        _line,
        [(1.0, 2.0), (-2.0, 1.0), (0.5, -1.0)],
        0.1,
    ),
    (
        "the same line from w = −1 and b = 2, on two examples, rate 0.03, with 5 left in each .grad from before",
        (-1.0, 2.0),
        5.0,
        _line,
        [(0.5, -1.0), (3.0, 0.25)],
        0.03,
    ),
    (
        "another loss, with three parameters, on four examples, rate 0.02",
        (0.5, -0.75, 0.25),
        0.0,
        _curve,
        [(1.0, 2.0), (-2.0, 1.0), (0.5, -1.0), (1.5, 0.5)],
        0.02,
    ),
    (
        "the line from w = 0.3 and b = −0.2, on an example that it almost fits, and on one far off, rate 0.001",
        (0.3, -0.2),
        0.0,
        _line,
        [(0.7, 0.0101), (-13.7, 61.3)],
        0.001,
    ),
    (
        "the line from w = 0 and b = 0, on examples with an input of 0, a target of 0, and one that appears twice, "
        "rate 0.2",
        (0.0, 0.0),
        0.0,
        _line,
        [(1.0, 0.5), (1.0, 0.5), (0.0, 1.5), (1.0, 0.0), (0.0, 0.0)],
        0.2,
    ),
    (
        "the line from w = 2 and b = −1, which fits its first example exactly, on large numbers, rate 0.0001",
        (2.0, -1.0),
        -3.0,
        _line,
        [(3.0, 5.0), (30.0, -100.0), (-40.0, 1000.0)],
        0.0001,
    ),
    ("the line from w = 0.5 and b = 1, on no examples", (0.5, 1.0), 2.0, _line, [], 0.1),
    (
        "a sum of 12 different parameters, on 130 examples, rate 0.5",
        tuple(k / 8 - 0.5 for k in range(12)),
        0.0,
        _many,
        [(k % 15 / 10, (k % 4) / 2) for k in range(130)],
        0.5,
    ),
    (
        "the line from w = 0.5 and b = −0.25, on two examples, rate 1.5",
        (0.5, -0.25),
        0.0,
        _line,
        [(0.5, 1.0), (-0.25, 0.5)],
        1.5,
    ),
    (
        "p·x or q·x, depending on the sign of x, from p = q = 1, on three examples, rate 0.1",
        (1.0, 1.0),
        3.0,
        _by_sign,
        [(1.0, 3.0), (-1.0, 3.0), (0.5, -1.0)],
        0.1,
    ),
    (
        "a sum of one parameter, from 0, on two examples, rate 0.5",
        (0.0,),
        0.0,
        _many,
        [(30.0, 1.0), (10.0, 2.0)],
        0.5,
    ),
    (
        "a plane w·x₀ + v·x₁ from w = 0.5 and v = 1, on one example, whose x is a pair, rate 3",
        (0.5, 1.0),
        0.0,
        _plane,
        [((0.5, 2e-7), 1.0)],
        3.0,
    ),
]


CLEAR, STEP = (
    f"        for p in parameters:\n            p.{line}"
    for line in ("grad = 0.0\n", "data -= rate * p.grad")
)
WALK = "        L = loss(parameters, x, y)\n        backward(L)\n"
LAST = "\n    for p in parameters:\n        p.data -= rate * p.grad"
OLD = "The gradients of earlier examples are still in .grad: p.grad = 0.0 for every parameter, at the beginning of each example. (Resetting L.grad changes nothing: each example makes a new L.)"
ONCE = "Compute the loss of each example after the update for the previous example: each example needs a whole training step, update included."
STILL = "Nothing has moved. Is there a p.data -= rate * p.grad for every p in parameters, after the backward pass, and before you reset the gradients? (p -= … only makes a new Value.)"
ALONE = "Only the gradient moves a parameter: p.data -= rate * p.grad."
COPIES = "The parameters that train received have not moved, because the loss was computed from new Values, such as copies of them. Use the given Values, and change their numbers: p.data -= rate * p.grad."
OFTEN = "Is backward(L) inside a loop over the parameters? One backward pass per example is enough, because it fills in the gradient of every parameter: end the loop of the reset before backward(L), and begin a second loop for the update."
_FROM_LOSS = "The backward pass begins at L, the loss of this example: backward(L)."
_FROM_L = "Begin the backward pass at L, not at p: backward(L)."
# Python's error message for a slip, and the hint
SAID = {
    "local variable 'L'": "L has no value before L = loss(parameters, x, y). Reset the parameters, not L: each example makes a new L.",
    "local variable": "The reset is a loop, and p is its variable: for p in parameters: p.grad = 0.0.",
    "name 'p' is not defined": "Only the loop for p in parameters defines p. Inside each loop, use the variable of that loop.",
    "loss() ": "loss takes three arguments: loss(parameters, x, y).",
    "non-iterable Value": "loss takes the list of all parameters, not one of them: loss(parameters, x, y).",
    "cannot be interpreted as an integer": "A list needs no range: for p in parameters.",
    **dict.fromkeys(
        [
            "unhashable",
            *(f"'list' object has no attribute '{name}'" for name in ("inputs", "arrived")),
        ],
        _FROM_LOSS,
    ),
    "has no attribute 'backward'": "In your engine backward is a function: backward(L).",
    "'function' object has no attribute": _FROM_LOSS,
    "'float' and 'Value'": "p.data is a number, but p is the whole Value: p.data -= rate * p.grad.",
    "'list' and": "parameters is a list. Take them one by one, for p in parameters, and move p.data.",
    "'NoneType'": "One of the values in this line is None. backward(L) returns nothing: it fills the .grad of each parameter. And the reset sets p.grad to 0.0, not to None.",
    "number, not 'Value'": "p.data is a number, but p is the whole Value: p.data = p.data - rate * p.grad.",
    "number, not 'tuple'": "Only loss uses x and y: pass them on unchanged.",
    "unpack": "An example is a pair, (x, y). There may be any number of parameters: go through them in a loop, for p in parameters.",
    "'list' object has no attribute": "parameters is a list. Take them one by one: for p in parameters.",
    "has no attribute 'zero_grad'": "In your engine the reset is p.grad = 0.0, for every p in parameters.",
    **dict.fromkeys(
        ["'float' object has no attribute 'inputs'", "'float' object has no attribute 'arrived'"],
        "backward starts at the Value, not at its number: backward(L).",
    ),
    "'Value' object has no attribute": "A Value has .data, its number, and .grad, its gradient.",
    "unary -: 'Value'": "You cannot put a minus sign in front of a Value. Pass the plain numbers x and y to the loss unchanged, and run the backward pass from L itself.",
    "backward() ": _FROM_LOSS,
    "'int' object has no attribute 'grad'": "range gives numbers. Take the parameters themselves: for p in parameters.",
    "name 'lr' is not defined": "Here the learning rate is the argument rate.",
    "name 'grad' is not defined": "Each parameter has its own gradient: p.grad.",
    "name 'backward' is not defined": "Run the cell above that loads your engine: it defines backward.",
}


def _after(train, start, left, loss, examples, rate):
    """Return the values of the parameters, as a list of floats, after one call to the learner's `train`.

    Raise Wrong if `train` changes the list of examples.

    Parameters
    ----------
    train : callable
        The learner's function, called with the parameters, the loss, the examples and the rate.
    start : sequence of float
        The values of the parameters before training.
    left : float
        The .grad that each parameter holds before training.
    loss, examples, rate
        The loss function, the list of examples and the learning rate that are passed to `train`.
    """
    parameters = [_Value(number) for number in start]
    for p in parameters:
        p.grad = left
    given = list(examples)
    seen = []

    def recorded(*args):
        seen.append(args[0] if args else None)
        return loss(*args)

    recorded.__qualname__ = "loss"  # what an error of Python calls it
    try:
        bounded(train, list(parameters), recorded, given, rate)
    except StepLimitExceeded as endless:
        endless.losses = len(seen)
        raise
    if given != examples:
        raise Wrong(
            "the examples after training",
            brief(given),
            brief(examples),
            "Do not change the list of examples, because the caller uses it again. Do not remove any example, and keep their order.",
        )
    moved = [float(p.data) for p in parameters]
    return Moved(moved, any(map(partial(_holds_others, parameters), seen)))


class Moved(list):
    """Hold the values of the parameters after training.

    `copied` is True if the loss was computed from other Values than the given ones.
    """

    def __init__(self, values, copied):
        super().__init__(values)
        self.copied = copied


def _holds_others(parameters, used):
    """Return True if `used`, the first argument of a loss, is a list of other Values."""
    return isinstance(used, (list, tuple)) and any(
        all(p is not q for q in parameters) for p in used
    )


def _after_if_it_ends(*case):
    try:
        return _after(*case)
    except (AttributeError, UnboundLocalError):  # a mistake that counts on an example
        return None


@exercise(
    "06.train",
    minutes=6,
    difficulty="medium",
    importance=3,
    question="""
        Complete `train(parameters, loss, examples, rate)`. For each example (x, y) in turn, do four things: **reset** the old gradients
        to 0; run the **forward** pass, `L = loss(parameters, x, y)`; run the **backward** pass; and **update** the number in
        every parameter. The four together are one **training step**.""",
    stub="""
        def train(parameters, loss, examples, rate):
            for x, y in examples:
                L = ...""",
    hints=[
        "Put one loop before `L = …`, for the reset: `for p in parameters: p.grad = 0.0`. After `L = …`, put the "
        "backward pass, `backward(L)`, and a second loop, for the update.",
        "The update is a separate loop, inside the loop over the examples: `for p in parameters: p.data -= rate * p.grad`.",
        (
            "Help: the loss does not fall",
            """
            Check the indentation. Lines outside the loop over the examples run only once.""",
        ),
        (
            "Help: has no attribute 'backward'",
            "`backward` is the function that you wrote in lesson 05: `backward(L)`.",
        ),
    ],
    solution="""
        def train(parameters, loss, examples, rate):
            for x, y in examples:
                for p in parameters:
                    p.grad = 0.0
                L = loss(parameters, x, y)
                backward(L)
                for p in parameters:
                    p.data -= rate * p.grad""",
    explained="Reset, forward, backward, update: wherever `.grad` accumulates, a training loop has these four parts.",
    why="This loop works for any model whose loss your engine can record.",
    mistakes=[
        edit(CLEAR, "", OLD),
        edit(
            CLEAR,
            "        if x == examples[0][0]:\n            for p in parameters:\n                p.grad = 0.0\n",
            OLD,
        ),
        edit(
            CLEAR,
            "",
            STEP,
            f"{STEP}\n            p.grad = 0.0",
            "The .grad from before the first example is old too: reset it first, then run the backward pass.",
        ),
        edit(CLEAR, "", WALK, WALK + CLEAR, STILL),
        edit(WALK, "", STEP, f"{STEP}\n{WALK}", STILL),
        edit("p.data -=", "p -=", STILL),
        edit(
            "p.data -=",
            "p.data +=",
            "This goes uphill. Going downhill means going against the gradient: minus.",
        ),
        edit(CLEAR, "", STEP, LAST, ONCE),
        edit(STEP, LAST, ONCE),
        edit(
            WALK,
            "            L = loss(parameters, x, y)\n            backward(L)\n            p.data -= rate * p.grad",
            STEP,
            "",
            "You run a new backward pass for each parameter, after the previous one has moved. First reset every gradient, then run one backward pass, then update every parameter.",
        ),
        edit("rate * p.grad", "p.grad", "That is a step without the learning rate: rate * p.grad."),
        edit(
            "rate * p.grad",
            "0.1 * p.grad",
            "The learning rate is not always 0.1: it is the argument rate.",
        ),
        edit(
            "rate * p.grad",
            "rate / 2 * p.grad",
            "That is half a step: the whole one is rate * p.grad.",
        ),
        edit(
            STEP,
            f"{STEP}\n        return",
            "It learns only from the first example. Is there a return inside the loop, or is a line indented wrongly?",
        ),
        edit(
            "in examples",
            "in examples[::-1]",
            "Take the examples in the given order: each step begins where the previous step ended.",
        ),
        edit(
            STEP,
            STEP + "\n            break",
            "Only the first parameter has moved. The step is a loop over all of them.",
        ),
        edit(
            STEP,
            "        p.data -= rate * p.grad",
            "Only the last parameter has moved. Is the step outside its loop over the parameters?",
        ),
        edit(
            "rate * p.grad",
            "rate * p.data",
            "A parameter moves by its gradient, not by its value: rate * p.grad.",
        ),
        edit("rate * p.grad", "rate * (p.data + p.grad)", ALONE),
        edit("rate * p.grad", "rate * p.data * p.grad", ALONE),
        edit(
            "p.data -= rate * p.grad",
            "p.data = -rate * p.grad",
            "That replaces the parameter by the step: p.data -= … moves it.",
        ),
        edit(
            "rate * p.grad",
            "rate * np.sign(p.grad)",
            "The full size of the gradient counts: do not use only its sign, and do not limit it.",
        ),
        edit(
            "rate * p.grad",
            "rate * abs(p.grad)",
            "A negative gradient moves its parameter too: upwards.",
        ),
        edit(
            "rate * p.grad",
            "rate * max(p.grad, 0)",
            "A negative gradient moves its parameter too: upwards.",
        ),
        edit(
            "rate * p.grad",
            "rate * p.grad / len(examples)",
            "Each example contributes a whole step: do not divide.",
        ),
        edit(
            "rate * p.grad",
            "rate * min(max(p.grad, -1), 1)",
            "The full size of the gradient counts: do not use only its sign, and do not limit it.",
        ),
        edit(
            "parameters, x, y", "parameters, y, x", "x and y are swapped: loss(parameters, x, y)."
        ),
        edit(
            "backward(L)",
            "backward(L)\n        backward(L)",
            "Each step is twice as long as rate * p.grad. Do you call backward twice? .grad accumulates.",
        ),
        edit(
            "in examples",
            "in examples * 2",
            "Use each example once. You use each of them twice.",
        ),
        edit(
            "rate * p.grad",
            "min(rate, 2) * p.grad",
            "Use the given rate, however large: rate * p.grad.",
        ),
        edit(
            "in examples",
            "in examples * (len(examples) > 1)",
            "A single example needs a step too.",
        ),
        edit("in examples", "in examples[:2]", "The last example is left out."),
        edit("backward(L)", "backward(p)", _FROM_L),
        edit(
            "        backward(L)\n",
            "",
            "p.data -= rate * p.grad",
            "backward(p)\n            p.data -= rate * p.grad",
            _FROM_L,
        ),
        edit("backward(L)", "backward(L * L)", "Run the backward pass from L itself: backward(L)."),
        edit(
            "p.data -= rate * p.grad",
            "p.data -= rate * p.grad\n        rate *= 0.9",
            "Do not change the rate.",
        ),
        edit(
            "p.data -= rate * p.grad",
            "p.data = abs(p.data - rate * p.grad)",
            "A parameter may be negative, and need not be a whole number: do not change it after the update.",
        ),
        edit(
            "p.data -= rate * p.grad",
            "p.data = round(p.data - rate * p.grad)",
            "A parameter may be negative, and need not be a whole number: do not change it after the update.",
        ),
        edit(
            "    for x, y in examples:",
            "    total = 0\n    for x, y in examples:",
            "L = loss",
            "total = total + loss",
            "        backward(L)\n",
            "    backward(total)\n",
            STEP,
            LAST[1:],
            ONCE,
        ),
        edit(
            CLEAR,
            "        for p in parameters:\n            pass\n        p.grad = 0.0\n",
            "Only the gradient of the last parameter is reset. Is the reset outside its loop over the parameters?",
        ),
        edit(
            "p.grad = 0.0",
            "p.grad /= 2",
            "Half of the old gradient is still in .grad: p.grad = 0.0.",
        ),
        edit("loss(parameters, x, y)", "loss([_Value(p.data) for p in parameters], x, y)", COPIES),
        edit(
            "    for x, y",
            "    parameters = [_Value(p.data) for p in parameters]\n    for x, y",
            COPIES,
        ),
        edit(
            STEP,
            STEP + "\n            return parameters",
            "Only the first parameter has moved, and only for the first example: the return is inside the loop over the parameters, and ends train there.",
        ),
        edit(
            "rate * p.grad",
            "rate * p.grad / sum(q.grad**2 for q in parameters) ** 0.5",
            "The full size of the gradient counts: do not divide it by its length.",
        ),
        edit(
            "rate * p.grad",
            "rate * p.grad ** 2",
            "A parameter moves by its gradient, not by the square of the gradient: rate * p.grad.",
        ),
        edit(
            "p.data -= rate * p.grad",
            "p.data = rate * p.grad",
            "That replaces the parameter by the step: p.data -= … moves it.",
        ),
        edit(
            "rate * p.grad",
            "rate * p.grad * L.data",
            "The loss is not part of the update: it is rate * p.grad, and nothing else.",
        ),
        edit(
            WALK,
            "        L = loss(parameters, x, y)\n",
            "p.data -=",
            "backward(L)\n            p.data -=",
            "You run the backward pass once for every parameter, and .grad accumulates. Once is enough, before the update.",
        ),
        edit(
            "rate * p.grad",
            "rate * L.grad",
            "L.grad is 1. Each parameter has its own gradient, p.grad.",
        ),
        edit(
            STEP,
            STEP.replace("for p", "for w"),
            "Inside the loop, use the variable of the loop everywhere: for p in parameters: p.data -= rate * p.grad.",
        ),
        edit(
            "rate * p.grad",
            "rate * L.data",
            "Each parameter has a gradient of its own, p.grad; L is the loss.",
        ),
        edit(
            "p.grad = 0.0",
            "p.data = 0.0",
            "Reset the gradient, p.grad, not the parameter.",
        ),
        edit(
            WALK,
            "            L = loss(parameters, x, y)\n            backward(L)\n",
            OFTEN,
        ),
    ],
)
def train(answer):
    if has_blank(answer):
        raise NotYet
    fit = train.mistakes  # those that give what is right on all cases so far, as the answer does
    for words, *case in CASES:
        tried = f"the parameters after training {words}"
        try:
            got = _after(answer, *case)
        except Wrong:
            raise
        except StepLimitExceeded as endless:
            raise Wrong(
                tried,
                str(endless),
                "a result",
                OFTEN
                if 0 < endless.losses <= len(case[3])
                else "Go through the examples once. Does the list grow while the loop runs over it?",
            ) from None
        except Exception as error:
            error.tried = tried
            error.hint = next((hint for piece, hint in SAID.items() if piece in str(error)), "")
            raise
        if got.copied and got == list(case[0]):
            raise Wrong(tried, brief(list(got)), "parameters that have moved", COPIES)
        right = _after(train.answer(train.solution), *case)
        seen = [
            (came, hint, wrong) for wrong, hint in fit if (came := _after_if_it_ends(wrong, *case))
        ]
        expect(
            got,
            right,
            rtol=1e-12,
            atol=1e-13,
            tried=tried,
            hints=[(came, hint) for came, hint, _ in seen if not same(came, right, 1e-9, 1e-12)],
        )
        fit = [(wrong, hint) for came, hint, wrong in seen if same(came, right, 1e-9, 1e-12)]


# --- The talk's model by hand --------------------------------------------------------------------------------------------------


def right_by_hand(w1, w2, w3, x, y):
    a = x * x
    b, c = max(w1 * a + w3, 0), max(w2 * a + w3, 0)
    g = 2 * (4 * np.sin(b + c) - y) * 4 * np.cos(b + c)
    gb, gc = (g if one > 0 else 0.0 for one in (b, c))
    return gb * a + 0.0, gc * a + 0.0, gb + gc  # at a = 0 the sum turns −0 into 0


B, C = "g if b > 0 else 0.0", "g if c > 0 else 0.0"
_GATE = "A relu passes 0 if its sum is not above 0. Do both gates, the gate of b and the gate of c, test this?"
_OWN = "Each branch has its own gate: the gate of b tests b, and the gate of c tests c."
_PLAIN = "The relu and sin defined above are for Values. Here, use np.sin, np.cos and g if b > 0 else 0.0."
_NAMELESS = "ŷ has no variable of its own here: it is 4 * np.sin(b + c)."
_TRUTH = "The gate is 1 or 0, true or false, and g times this number passes: g if b > 0 else 0.0."
_ALL = "A gate passes all of g, or nothing: the size of b does not matter."
_LATER = "Each relu only passes g on, or blocks it: g if b > 0 else 0.0, and the same for c. No w belongs here, and the last line multiplies by a already."
_CALL = "np.sin and np.cos are functions: np.sin(b + c), np.cos(b + c)."
_HALF = "Exactly half. L = (ŷ − y)² has the slope 2 (ŷ − y), without a half, and 4 sin has the slope 4 cos. Add sends all of g to b and to c."
_REVERSED = "The gates are the wrong way round: if b is above 0, g passes, otherwise nothing."
_FOUR = "4 sin(b + c) is four times the sine of b + c, not the sine of 4 (b + c)."
_SQUARE = "The derivative of the square is 2 (ŷ − y): the error appears only once."
_WHOLE = "w₃ is in both branches: add the gradient through b and the gradient through c, each of them in full."


@exercise(
    "06.by_hand",
    minutes=5,
    difficulty="medium",
    importance=2,
    names=lambda: {
        "relu": operation(ag.relu),
        "sin": operation(ag.sin),
        "target": lambda x: 4 * np.sin(x**4),
    },
    question="""
        Complete `by_hand(w1, w2, w3, x, y)`, which returns the gradients of w₁, w₂ and w₃. All arguments are plain numbers. The
        forward pass is given, and so are the boxed formulas, in the last line. Fill in g from the derivation, and the two gates. (You need `np.sin` and `np.cos`.)""",
    stub="""
        def by_hand(w1, w2, w3, x, y):
            a = x * x
            b = max(w1 * a + w3, 0)
            c = max(w2 * a + w3, 0)
            g = ...
            gb = ...
            gc = ...
            return gb * a, gc * a, gb + gc""",
    hints=[
        "g is the second line of the derivation, with $\\hat y = 4 \\sin(b + c)$.",
        "The relu of b works like a gate, open if b > 0: `gb = g if b > 0 else 0.0`. The same holds for c, with its own gate.",
        (
            "Help: right at first, then wrong",
            "In the first test both gates are open. In some later tests one or both are closed: if b is 0, what is gb?",
        ),
    ],
    solution="""
        def by_hand(w1, w2, w3, x, y):
            a = x * x
            b = max(w1 * a + w3, 0)
            c = max(w2 * a + w3, 0)
            g = 2 * (4 * np.sin(b + c) - y) * 4 * np.cos(b + c)
            gb = g if b > 0 else 0.0
            gc = g if c > 0 else 0.0
            return gb * a, gc * a, gb + gc""",
    explained="Both branches receive the same g, and each relu either passes it on or blocks it. `b > 0` is true exactly when `w1 * a + w3 > 0` is true.",
    why="While both gates are open, w₁ and w₂ receive the same gradient, g·a, and w₃ receives g twice. If only one is open, w₃ receives g once.",
    mistakes=[
        edit(B, "g", C, "g", _GATE),
        edit(B, "g", _GATE),
        edit(C, "g", _GATE),
        edit("if c > 0", "if b > 0", _OWN),
        edit("if b > 0", "if c > 0", _OWN),
        edit(
            "max(w1 * a + w3, 0)",
            "w1 * a + w3",
            "max(w2 * a + w3, 0)",
            "w2 * a + w3",
            "In the forward pass relu is missing: below 0, b and c are 0. `max(…, 0)`.",
        ),
        edit(
            "max(w1 * a + w3, 0)",
            "w1 * a + w3",
            "max(w2 * a + w3, 0)",
            "w2 * a + w3",
            B,
            "g",
            C,
            "g",
            "The relus are missing in both passes: if the sum is below 0, b is 0 in the forward pass, and nothing passes in the backward pass. The same holds for c.",
        ),
        edit(
            B,
            "w1 * g if b > 0 else 0.0",
            C,
            "w2 * g if c > 0 else 0.0",
            "The local gradient of w₁ is a, which is in the last line. Only g passes through the gate.",
        ),
        edit(
            "gb * a, gc * a, gb + gc",
            "gb * a + 0.2 * w1, gc * a + 0.2 * w2, gb + gc + 0.2 * w3",
            "That is with the penalty. The derivation leaves it out, and so does by_hand.",
        ),
        edit(
            "(4 * np.sin(b + c) - y) * ",
            "",
            "The error is missing: g is 2 (ŷ − y) times the slope, 4 cos(b + c).",
        ),
        edit(
            "2 * (4 * np.sin(b + c) - y)",
            "2 * 4 * np.sin(b + c) - y",
            "A pair of brackets is missing: the error is one number, (ŷ − y).",
        ),
        edit(
            "np.cos(b + c)",
            "np.cos(b) * np.cos(c)",
            "Take the slope of 4 sin at the input of sin: at b + c.",
        ),
        edit(
            " * np.cos(b + c)",
            "",
            B,
            "g * np.cos(b) if b > 0 else 0.0",
            C,
            "g * np.cos(c) if c > 0 else 0.0",
            "Take the slope of 4 sin at the input of sin: at b + c.",
        ),
        edit(
            B,
            "g * b",
            C,
            "g * c",
            _ALL,
        ),
        edit(B, "max(g * b, 0)", C, "max(g * c, 0)", _ALL),
        edit(B, "min(b, 1) * g", C, "min(c, 1) * g", _ALL),
        edit(B, "b", C, "c", "What passes the gate is g, not b."),
        edit(
            B,
            "1.0 if b > 0 else 0.0",
            C,
            "1.0 if c > 0 else 0.0",
            _TRUTH,
        ),
        edit(B, "b > 0", C, "c > 0", _TRUTH),
        edit(B, "g and b > 0", C, "g and c > 0", _TRUTH),
        edit(
            B,
            "g if b > 0 and c > 0 else 0.0",
            C,
            "gb",
            "Each branch has its own gate: if one is closed, the other may still pass g.",
        ),
        edit(
            B,
            "max(g, 0)",
            C,
            "max(g, 0)",
            "The gate tests b, not g: if b is above 0, a negative g passes too.",
        ),
        edit(
            "if b > 0",
            "if g > 0",
            "if c > 0",
            "if g > 0",
            "The gate tests b, not g: if b is above 0, a negative g passes too.",
        ),
        edit(
            "if b > 0",
            "if c > 0",
            "if c > 0",
            "if b > 0",
            "The gradients of w₁ and w₂ are swapped, or their gates: the gate of b tests b.",
        ),
        edit("if b > 0", "if w1 > 0", "if c > 0", "if w2 > 0", _GATE),
        edit(
            "if b > 0",
            "if w1 * a > 0",
            "if c > 0",
            "if w2 * a > 0",
            "The gate tests the whole sum, w₁a + w₃, or b.",
        ),
        edit(B, "g * a", C, "g * a", _LATER),
        edit(B, "g * w1", C, "g * w2", _LATER),
        edit(B, "g * a", _LATER),
        edit(C, "g * a", _LATER),
        edit(B, "g * w1", _LATER),
        edit(C, "g * w2", _LATER),
        edit(
            B,
            "g * a if b > 0 else 0.0",
            C,
            "g * a if c > 0 else 0.0",
            "The factor a comes in the last line, for w₁ and w₂ only: w₃ is not multiplied by a.",
        ),
        edit(
            " * 4 * np.cos(b + c)",
            " * 4 * np.cos(b + c) * a",
            "The factor a comes in the last line, for w₁ and w₂ only: w₃ is not multiplied by a.",
        ),
        edit(
            "2 * (4 * np.sin(b + c) - y) * 4",
            "4",
            "That is only the slope. The upstream gradient, that of ŷ, is missing: 2 (ŷ − y).",
        ),
        edit(
            " * 4 * np.cos(b + c)",
            " + 4 * np.cos(b + c)",
            "Along an arrow you multiply: 2 (ŷ − y) times the slope.",
        ),
        edit("4 * np.sin(b + c) - y", "b + c - y", "ŷ is 4 sin(b + c), and not the sum alone."),
        edit("gb + gc", "gb", _WHOLE),
        edit("gb + gc", "gc", _WHOLE),
        edit("gb + gc", "(gb + gc) / 2", _WHOLE),
        edit("gb + gc", "g", _WHOLE),
        edit(
            "gb + gc",
            "2 * g",
            "w₃ receives the gradients behind the gates, gb and gc, not g itself.",
        ),
        edit(
            "gb + gc", "(gb + gc) * a", "w₃ is added, not multiplied by a: its local gradient is 1."
        ),
        edit(
            "4 * np.cos",
            "np.cos",
            "One 4 is missing, the second: ŷ = 4 sin(b + c) has the slope 4 cos(b + c).",
        ),
        edit(
            "(4 * np.sin", "(np.sin", "One 4 is missing, the first: the error is 4 sin(b + c) − y."
        ),
        edit(
            "4 * np.cos",
            "np.cos",
            "(4 * np.sin",
            "(np.sin",
            "Both 4s are missing: ŷ is 4 sin(b + c), in the error and in the slope.",
        ),
        edit(
            " * 4 * np.cos(b + c)",
            "",
            "That is the gradient of ŷ. To go on to b + c, multiply by the slope, 4 cos(b + c).",
        ),
        edit(" * np.cos(b + c)", "", "The slope of 4 sin is 4 cos(b + c): the cos is missing."),
        edit(
            "np.cos(b + c)",
            "np.cos(4 * np.sin(b + c))",
            "Take the slope of 4 sin at the input of sin: at b + c, not at ŷ.",
        ),
        edit(
            "* 4 * np.cos(b + c)", "* 4 * np.sin(b + c)", "The slope of sin is cos: 4 cos(b + c)."
        ),
        edit(
            "* 4 * np.cos",
            "* -4 * np.cos",
            "The slope of sin is cos, without a minus; and the error is ŷ − y, with its sign.",
        ),
        edit(
            "2 * (4",
            "(4",
            _HALF,
        ),
        edit(
            "gb * a",
            "gb * x",
            "gc * a",
            "gc * x",
            "w₁ is multiplied by a, and a is x²: the local gradient is a, not x.",
        ),
        edit("gb * a", "gb", "gc * a", "gc", "w₁ is multiplied by a: its local gradient is a."),
        edit(
            "gb * a",
            "gb * w1",
            "gc * a",
            "gc * w2",
            "In w₁ · a the local gradient of w₁ is the other factor, a.",
        ),
        edit(
            "gb * a, gc * a",
            "gc * a, gb * a",
            "The gradients of w₁ and w₂ are swapped, or their gates: the gate of b tests b.",
        ),
        edit("gb * a, gc * a, gb + gc", "gb + gc, gb * a, gc * a", "The order is w₁, w₂, w₃."),
        edit("a = x * x", "a = x", "a is x²: x * x."),
        edit("a = x * x", "a = 2 * x", "a is x²: x * x."),
        edit("max(w2 * a", "max(w1 * a", "c has its own weight, w₂."),
        edit(
            "np.sin(b + c)",
            "(np.sin(b) + np.sin(c))",
            "Take the sine of the sum b + c: sin b + sin c is a different number.",
        ),
        edit(
            "np.cos(b + c)", "np.cos(b)", "Take the slope of 4 sin at the input of sin: at b + c."
        ),
        edit("np.cos(b + c)", "np.cos(b + c) ** 2", "The cos appears only once: 4 cos(b + c)."),
        edit(
            "(4 * np.sin(b + c) - y)",
            "abs(4 * np.sin(b + c) - y)",
            "The slope of sin is cos, without a minus; and the error is ŷ − y, with its sign.",
        ),
        edit(
            "(4 * np.sin(b + c) - y)",
            "(4 * np.sin(b + c) - y) ** 2",
            _SQUARE,
        ),
        edit("2 * (4 * np.sin(b + c) - y)", "(4 * np.sin(b + c) - y) ** 2", _SQUARE),
        edit("if b > 0", "if b + c > 0", "if c > 0", "if b + c > 0", _OWN),
        edit("gb + gc", "gb * gc", _WHOLE),
        edit("gb + gc", "gb - gc", _WHOLE),
        edit("gb + gc", "max(gb, gc)", _WHOLE),
        edit(
            B,
            "0.0 if b > 0 else g",
            C,
            "0.0 if c > 0 else g",
            _REVERSED,
        ),
        printed(right_by_hand),
        edit(
            "4 * np.sin(b + c) - y",
            "y_hat - y",
            _NAMELESS,
        ),
        edit("4 * np.sin(b + c) - y", "yhat - y", _NAMELESS),
        edit("4 * np.sin(b + c) - y", "ŷ - y", _NAMELESS),
        edit("np.sin(b + c)", "sin(b + c)", _PLAIN),
        edit(B, "relu(g)", C, "relu(g)", _PLAIN),
        edit(" - y)", " - target(x))", "The target is the argument y."),
        edit(
            "4 * np.sin(b + c)",
            "np.sin(4 * (b + c))",
            "4 * np.cos(b + c)",
            "4 * np.cos(4 * (b + c))",
            _FOUR,
        ),
        edit("4 * np.sin(b + c)", "np.sin(4 * (b + c))", _FOUR),
        edit("* 4 * np.cos", "* -4 * np.sin", "The slope of sin is cos: 4 cos(b + c)."),
        edit(
            "np.cos(b + c)",
            "np.cos(b + c) * (b + c)",
            "The local gradients of b and c in b + c are 1: the sum is not a factor of g.",
        ),
        edit("if b > 0", "if b < 0", "if c > 0", "if c < 0", _REVERSED),
    ],
)
def by_hand(answer):
    if has_blank(answer):
        raise NotYet

    def build(d):
        w1, w2, w3, x = d(), d.choice(d(), 0.5), d(), d.choice(d(), 1.0)
        # now and then a sum lies exactly at the kink: 1 · w₁ + w₃, or all of it at x = 0
        return (w1, w2, d.choice(w3, -w1, -w2) if x == 1.0 else 0.0 if x == 0 else w3, x, d.g())

    try:
        expect_over(
            answer,
            right_by_hand,
            build,
            apart=True,
            hints=by_hand.mistakes,
            first=[
                (1.7, 0.2, 0.6, 0.9, 2.5),
                (1.7, 0.2, 0.6, 0.9, 1.0),
                (1.3, 0.1, -0.4, 0.9, 2.5),
                (-0.5, 1.5, 0.25, 0.8, 1.0),
                (1.3, 0.1, -0.4, 0.3, 0.5),
                (1.6, 0.3, 0.1, 0.5, 0.25),
                (0.7, -1.5, 0.4, -0.8, -1.25),
                (0.3, 0.2, -0.1, 0.8, 0.0),
                (3.1, 1.9, 0.2, 0.9, -2.0),
                (1.7, 0.2, 0.6, 0.0, 1.0),
                (0.5, -0.25, -0.5, 1.0, 0.75),
                (0.25, 0.5, -0.5, -1.0, 2.0),
            ],
        )
    except (AttributeError, TypeError) as error:
        if "has no attribute 'data'" in str(error):
            error.hint = _PLAIN
        elif "'numpy.ufunc'" in str(error):  # np.sin * (b + c)
            error.hint = _CALL
        raise


# --- Predictions, questions, card ----------------------------------------------------------------------------------------------

recall(
    "06",
    [
        Question(
            "In a backward pass, b receives 7 from L, and later 6 from c. b is 2a. What must b send to a? (Lesson 05)",
            26.0,
            """
        (7 + 6) · 2 = **26**: b waits until its gradient is complete.""",
        ),
        Question(
            "z = relu(x), and the upstream gradient is g = 5. What does the rule send to x if x is −2? (04)",
            0.0,
            """
        **0**. Below 0 relu is flat, so nothing passes. Above 0 its slope is 1, so all 5 would pass.""",
        ),
        Question(
            "x is 3, the gradient is 4 and the learning rate is 0.1. Where is x after one gradient step? (01)",
            2.6,
            """
        3 − 0.1 · 4 = **2.6**: a step goes against the gradient.""",
        ),
    ],
)

prediction(
    "06.forget",
    question="""
        Suppose you leave out the line that resets the gradients. All else stays the same: four neurons and 2,000 updates. How many of the
        forty points are right at the end? And which gradients pile up from step to step: those of the 17 parameters, or those
        of all values in the graph?""",
    answer={"right at the end": "about half", "what piles up": "those of the parameters"},
    choices={
        "right at the end": ["all forty", "thirty-odd", "about half"],
        "what piles up": ["those of the parameters", "those of all values"],
    },
    reveal="""**About half**, 22: the model predicts the same class for every point. Only the gradients **of the parameters**
        pile up. Every example makes a new graph, whose values start with gradient 0. But the parameters stay from
        step to step, and their `.grad` accumulates until you reset it.""",
)

prediction(
    "06.rate",
    question="""
        Now vary the learning rate from 0.00001 to 0.1, with 500 steps at each rate. At 0.001 the mean squared error went from 10.2 to 0.016.
        What is it at the end with a learning rate of 0.1, a hundred times as large?""",
    answer="stuck in between",
    choices=["below 0.016", "stuck in between", "far above 10.2"],
    reveal="""**Stuck in between**, at 1.491. The error cannot grow without bound, because 4 sin lies between −4 and 4.
        Instead the model dies: move the slider and see.""",
)

prediction(
    "06.edge",
    question="Which arrow did the author of the slide overlook?",
    answer="from b to c",
    choices=["from x to a", "from w₃ to c", "from b to c", "from c to ŷ"],
    reveal="""**From b to c.** w₁ and w₃ reach L through b, and two arrows leave b: one to ŷ, and one to c. Only w₂ has no path
        through b, and only its number was right.""",
)

card(
    "06",
    [
        "A training step: reset the gradients, forward pass, backward pass, update. All four are inside the loop.",
        "One neuron draws a straight line. A neuron behind a hidden layer can bend the boundary.",
        ".grad accumulates until you reset it. If you never do, each update also follows old gradients.",
        "If the learning rate is too small, training crawls. If it is too large, every relu may die: then no example changes a weight.",
        "Training minimises the loss, penalty included. What you plot or count may be something else.",
        "A module finds its parameters by itself: in its attributes, in its lists, and in the modules inside it.",
    ],
)
