"""Wrong answers to the exercises of lesson 06 with their causes, and right answers in other styles."""

import numpy as np
from answer_cases import cases

from autograd_course.grading import edit
from autograd_course.grading.causes import own
from autograd_course.lessons.lesson_06.exercises import (
    _CALL,
    _FEW,
    _HALF,
    _PLAIN,
    _ROUTES,
    CLEAR,
    COPIES,
    OFTEN,
    STEP,
    WALK,
    B,
    C,
    right_by_hand,
)

cases(
    "06.routes",
    wrong=[
        *((tuple(np.round(wrong, 4)), own(hint)) for wrong, hint in _ROUTES[:2]),
        ((0.6331, 0.6331), "none in part 1"),
        ((0.8376, 0.335), own(_ROUTES[25][1])),
        ((0.0687, 0.3010), own(_ROUTES[26][1])),
        ((0.231, 0.1008), own(_FEW)),
    ],
)

cases(
    "06.train",
    wrong=[
        edit("rate * p.grad", "min(rate, 0.5) * p.grad", "none in part 1"),
        edit("p.data -=", "p.data -= abs(p.grad) > 1e-6 and", "nearly"),
        edit(
            "for x, y in examples:",
            "for k in range(1, len(examples) + 1):\n        x, y = examples[k]",
            "error: list index | counts from 0",
        ),
        edit("parameters, x, y", "parameters, float(x), float(y)", "own: Only loss uses x and y"),
        edit(
            CLEAR,
            "",
            "        backward(L)",
            """\
        todo = [L]
        while todo:
            value = todo.pop()
            value.grad = 0.0
            todo.extend(value.inputs)
        backward(L)""",
            "none in part 1",
        ),
        edit("in examples:", "in examples[:50]:", "none in part 1"),
        edit(
            "loss(parameters, x, y)",
            "loss(parameters if len(parameters) > 1 else parameters[0], x, y)",
            "none",
        ),
        edit(
            STEP,
            STEP.replace("in parameters:", "in {p.data: p for p in parameters}.values():"),
            "none in part 1",
        ),
        edit("backward(L)", "L.backward()", "own: backward(L)"),
        edit("in examples:", "in dict(examples).items():", "none in part 1"),
        edit(
            "p.data -= rate * p.grad",
            "p.data = float(np.float32(p.data - rate * p.grad))",
            "nearly",
        ),
        edit("backward(L)", "backward(L.data)", "own: backward starts at the Value"),
        edit(
            "backward(L)",
            "g = backward(L)",
            "rate * p.grad",
            "rate * g",
            "own: One of them is None",
        ),
        edit(
            CLEAR + WALK + STEP,
            "        L = loss(parameters, x, y)\n" + CLEAR + "            backward(L)\n    "
            "        p.data -= rate * p.grad",
            own(OFTEN),
        ),
        edit("p.grad = 0.0", "p.zero_grad()", "own: p.grad = 0.0"),
        edit(CLEAR, "        parameters.zero_grad()\n", "own: one by one"),
        edit("p.grad = 0.0", "p.grad = None", "own: One of them is None"),
        edit(
            STEP,
            "        w, b = parameters\n        w.data, b.data = w.data - rate * w.grad, b.data - rate * b.grad",
            "own: any number of parameters",
        ),
        edit("backward(L)", "backward(loss)", "own: The backward pass begins at L"),
        edit("rate * p.grad", "rate * p.gradient", "own: its gradient"),
        edit("p.data -=", "parameters -=", "own: parameters is a list Take"),
        edit("rate * p.grad", "rate * p", "own: the whole Value"),
        edit(
            "for x, y in examples:",
            "while examples:\n        x, y = examples.pop(0)",
            "own: Do not change the list of examples",
        ),
        edit("rate * p.grad", "rate * min(p.grad, 100)", "none in part 1"),
        edit("rate * p.grad", "rate * p.grad * (abs(p.grad) > 1e-3)", "nearly"),
        edit("loss(parameters, x, y)", "_line(parameters, x, y)", "own: any number of parameters"),
        edit(CLEAR, "        p.grad = 0.0\n", "own: The reset is a loop"),
        edit("for p in parameters:\n            p.grad = 0.0", "L.grad = 0.0", "own: not L"),
        edit(CLEAR, "", "backward(L)", "L.grad = 0.0\n        backward(L)", "mistake 1"),
        edit(CLEAR, CLEAR.replace("for p", "for w"), "own: The reset is a loop"),
        edit(CLEAR, "", STEP, STEP.replace("for p", "for w"), "own: Only the loop defines p"),
        edit("loss(parameters, x, y)", "loss(x, y)", "own: three arguments | loss() missing"),
        edit("loss(parameters, x, y)", "loss(parameters, examples)", "own: three arguments"),
        edit("loss(parameters, x, y)", "loss(*parameters, x, y)", "own: three arguments"),
        edit("loss(parameters, x, y)", "loss(parameters[0], x, y)", "own: the list of all"),
        edit("backward(L)", "backward(parameters)", "own: The backward pass begins at L"),
        edit(STEP, STEP.replace("in parameters", "in range(parameters)"), "own: no range"),
        edit(CLEAR, CLEAR.replace("parameters", "range(len(parameters))"), "own: range gives"),
        edit("backward(L)", "backward()", "own: The backward pass begins at L"),
        edit("rate * p.grad", "lr * p.grad", "own: the argument rate"),
        edit("rate * p.grad", "rate * grad", "own: its own gradient"),
        edit(
            STEP,
            "        for i, p in enumerate(parameters):\n            parameters[i] = Value(p.data - rate * p.grad)",
            own(COPIES),
        ),
    ],
    accepted=[
        edit("p.data -= rate * p.grad", "p.data = p.data - rate * p.grad"),
        edit("0.0", "0"),
        edit(
            "        L = loss(parameters, x, y)\n        backward(L)",
            "        backward(loss(parameters, x, y))",
        ),
        """
        def train(parameters, loss, examples, rate):
            losses, i = [], 0
            while i < len(examples):
                [setattr(p, "grad", 0.0) for p in parameters]
                L = loss(parameters, *examples[i])
                backward(L)
                gradients = [p.grad for p in parameters]
                for p, g in zip(parameters, gradients):
                    p.data += -rate * g
                losses.append(L.data)
                i += 1
            return losses""",
        """
        def clear(parameters):
            for p in parameters:
                p.grad = 0.0

        def train(parameters, loss, examples, rate):
            clear(parameters)
            for example in examples:
                backward(loss(parameters, example[0], example[1]))
                for k in range(len(parameters)):
                    parameters[k].data -= rate * parameters[k].grad
                clear(parameters)""",
    ],
)

cases(
    "06.by_hand",
    wrong=[
        edit("gb * a, gc * a, gb + gc", "gb + gc", "one value"),
        edit("np.sin(b + c)", "sin(b + c)", "4 * np.cos", "4 * cos", own(_PLAIN)),
        edit("np.sin(b + c)", "np.sin * (b + c)", own(_CALL)),
        edit("np.cos(b + c)", "np.cos * (b + c)", own(_CALL)),
        edit(B, "g / 2 if b > 0 else 0.0", C, "g / 2 if c > 0 else 0.0", own(_HALF)),
        edit("max(w1 * a + w3, 0)", "relu(w1 * a + w3)", own(_PLAIN)),
        edit("gb * a, gc * a, gb + gc", "2 * w1, 2 * w2, 2 * w3", "none in part 1"),
        edit("if b > 0", "if b > 0.1", "none in part 1"),
        edit("if c > 0", "if c > 0.1", "none in part 2"),
        edit("np.sin(b + c)", "np.sin(min(b + c, 3))", "factor"),
        edit("gb + gc", "gb + gc if a else gb", "right elsewhere"),
        edit("max(w1", "max(abs(w1)", "none in part 1"),
        edit("max(w2", "max(abs(w2)", "none in part 1"),
        edit("max(w1", "max(max(w1, 0)", "none in part 1"),
        edit("max(w2", "max(max(w2, 0)", "none in part 1"),
        edit("x * x", "x * abs(x)", "none in part 1"),
        edit(") - y", ") - abs(y)", "factor"),
        (
            lambda w1, w2, w3, x, y: tuple(-1e-3 * one for one in right_by_hand(w1, w2, w3, x, y)),
            "factor",
        ),
    ],
    accepted=[
        edit(B, "g * (b > 0)", C, "g * (c > 0)"),
        edit("gb * a, gc * a, gb + gc", "[gb * a, gc * a, gb + gc]"),
        edit("if b > 0", "if w1 * a + w3 > 0", "if c > 0", "if w2 * a + w3 > 0"),
        edit("gb * a, gc * a, gb + gc", "np.array([gb * a, gc * a, gb + gc])"),
        """
        def by_hand(w1, w2, w3, x, y):
            from math import cos, sin
            opens = [w * x ** 2 + w3 > 0 for w in (w1, w2)]
            s = sum(max(0.0, w * x ** 2 + w3) for w in (w1, w2))
            g = 8 * cos(s) * (4 * sin(s) - y)
            return g * x ** 2 * opens[0], g * x ** 2 * opens[1], g * sum(opens)""",
        "ag.grad(lambda w1, w2, w3, x, y: (4 * ag.sin(ag.relu(w1 * x * x + w3) + ag.relu(w2 * x * x + w3)) - y) ** 2, (0, 1, 2))",
    ],
)
