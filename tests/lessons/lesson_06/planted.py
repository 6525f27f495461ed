"""Thrown at the exercises of lesson 06, beside their mistakes: more wrong answers, and right ones in other styles."""

import numpy as np
from thrown import throw

from autograd_course.grading import edit
from autograd_course.lessons.lesson_06.exercises import _ROUTES, CLEAR, STEP, B, C, right_by_hand

throw(
    "06.routes",
    planted=[(tuple(np.round(wrong, 4)), hint) for wrong, hint in _ROUTES[:2]]
    + [((0.6331, 0.6331), "Number 1 of 2")],
)

throw(
    "06.train",
    planted=[
        edit("rate * p.grad", "min(rate, 0.5) * p.grad", "got"),
        edit("p.data -=", "p.data -= abs(p.grad) > 1e-6 and", "whose x is a pair"),
        edit("parameters, x, y", "parameters, float(x), float(y)", "is for loss to know"),
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
            "whichever the sign of x says",
        ),
        edit("in examples:", "in examples[:50]:", "got"),
        edit(
            "loss(parameters, x, y)",
            "loss(parameters if len(parameters) > 1 else parameters[0], x, y)",
            "one parameter",
        ),
        edit(
            STEP,
            STEP.replace("in parameters:", "in {p.data: p for p in parameters}.values():"),
            "Number 1",
        ),
        edit("backward(L)", "L.backward()", "backward(L)"),
        edit("in examples:", "in dict(examples).items():", "Number 1"),
        edit(
            "p.data -= rate * p.grad",
            "p.data = float(np.float32(p.data - rate * p.grad))",
            "Nearly right",
        ),
        edit("backward(L)", "backward(L.data)", "not from its number"),
        edit("backward(L)", "g = backward(L)", "rate * p.grad", "rate * g", "gives nothing back"),
        edit("p.grad = 0.0", "p.zero_grad()", "p.grad = 0.0"),
        edit(CLEAR, "        parameters.zero_grad()\n", "one by one"),
        edit("p.grad = 0.0", "p.grad = None", "not None"),
        edit(
            STEP,
            "        w, b = parameters\n        w.data, b.data = w.data - rate * w.grad, b.data - rate * b.grad",
            "any number of parameters",
        ),
        edit("backward(L)", "backward(loss)", "what the loss gave"),
        edit("rate * p.grad", "rate * p.gradient", "its gradient"),
        edit("p.data -=", "parameters -=", "one by one"),
        edit("rate * p.grad", "rate * p", "the whole Value"),
        edit(
            "for x, y in examples:",
            "while examples:\n        x, y = examples.pop(0)",
            "the caller's",
        ),
        edit("rate * p.grad", "rate * min(p.grad, 100)", "expected"),
        edit("rate * p.grad", "rate * p.grad * (abs(p.grad) > 1e-3)", "expected"),
        edit("loss(parameters, x, y)", "_line(parameters, x, y)", "any number of parameters"),
        edit(
            STEP,
            "        for i, p in enumerate(parameters):\n            parameters[i] = Value(p.data - rate * p.grad)",
            "parameter",
        ),
    ],
    also_right=[
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

throw(
    "06.by_hand",
    planted=[
        edit("gb * a, gc * a, gb + gc", "gb + gc", "3 values were expected"),
        edit("gb * a, gc * a, gb + gc", "2 * w1, 2 * w2, 2 * w3", "expected"),
        edit("if b > 0", "if b > 0.1", "expected"),
        edit("if c > 0", "if c > 0.1", "expected"),
        edit("np.sin(b + c)", "np.sin(min(b + c, 3))", "expected"),
        edit("gb + gc", "gb + gc if a else gb", "expected"),
        edit("max(w1", "max(abs(w1)", "expected"),
        edit("max(w2", "max(abs(w2)", "expected"),
        edit("max(w1", "max(max(w1, 0)", "expected"),
        edit("max(w2", "max(max(w2, 0)", "expected"),
        edit("x * x", "x * abs(x)", "expected"),
        edit(") - y", ") - abs(y)", "expected"),
        (
            lambda w1, w2, w3, x, y: tuple(-1e-3 * one for one in right_by_hand(w1, w2, w3, x, y)),
            "Every entry is",
        ),
    ],
    also_right=[
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
