"""Wrong answers to the exercises of lesson 07 with their causes, and right answers in other styles."""

import math

import numpy as np
from answer_cases import cases

from autograd_course.grading import edit
from autograd_course.grading.causes import own
from autograd_course.lessons.lesson_07.clinic import Scalar, Unknown
from autograd_course.lessons.lesson_07.exercises import AGAIN, EVIDENCE, RIGHT, WHOLE, Z

cases(
    "07.fooling_x",
    wrong=[
        (1.0, "own: Where are they equal"),
        (0.88, "own: Where are they equal"),
        (40.0, "own: Where are they equal"),
        ("half", "own: number"),
        ("0.8814", "own: number"),
        (math.nan, "own: That is not a number"),
        (math.inf, "own: That is not a number"),
        ([0.8814], "own: number"),
        (np.array([0.8814]), "own: number"),
        (0.8814j, "own: number"),
        (1.88, "own: Where are they equal"),
        (0.881, "own: Where are they equal"),
    ],
    accepted=[
        "np.array(0.8814)",
        "-np.arctanh(2 ** -0.5)",
        "round(0.5 * np.log(3 + 2 * 2 ** 0.5), 4)",
        "np.log(1 + np.sqrt(2))",
        "__import__('fractions').Fraction(8814, 10000)",
        "ag.Tensor(0.8814).item()",
        "np.float32(0.88137)",
    ],
)

cases(
    "07.cached",
    wrong=[
        edit("in x.users)", "in x.users[:20])", "none"),
        edit("in x.users)", "in x.users if z.users or z.data)", "own: A value may be 0"),
        edit(
            "in x.users)",
            "in x.users[:1 if x.users[0][0] == 0 else None])",
            "own: A value may be 0",
        ),
        edit("local *", "max(local, -10) *", "none | w = -300"),
        edit("x not in cache", "not cache.get(x)", own(AGAIN)),
        edit(
            WHOLE,
            """    cache.clear()
    def ask(x):
        if x not in cache:
            cache[x] = sum(local * ask(z) for local, z in x.users) if x.users else 1.0
        return cache[x]
    return ask(x)""",
            "own: Write each gradient into the given cache",
        ),
        edit(
            WHOLE,
            """    def ask(x, depth=0):
        if x not in cache:
            cache[x] = sum(way * (ask(z, depth + 1) if depth < 60 else 1.0) for way, z in x.users) if x.users else 1.0
        return cache[x]
    return ask(x)""",
            "none | 70 doublings",
        ),
        edit(Z, f"float(round({Z}, 6))", "own: all of its digits"),
        edit("x.users)", "x.users[:3])", "too small"),
        edit(
            WHOLE,
            """    key = x.data, len(x.users)
    if key not in cache:
        cache[key] = sum(local * cached(z, cache) for local, z in x.users) if x.users else 1.0
    return cache[key]""",
            "own: Two values may have the same number",
        ),
        edit(Z, "x.gradient()", "own: Call it for z here"),
        edit(Z, "z.gradient()", own(AGAIN)),
        edit(Z, "cached(z, {})", own(AGAIN)),
        edit(Z, "cached(z, dict(cache))", own(AGAIN)),
        edit(WHOLE, "    return x.gradient()", own(AGAIN)),
        edit(Z, "z.data", "own: Multiply local by the gradient of z"),
        edit(Z, "z", "own: z is a value of the trace"),
        edit(Z, "z.grad", "own: z is a value of the trace"),
        edit(Z, "cached", "own: That is a function"),
        edit(Z, "z.gradient", "own: That is a function"),
        edit(Z, "cache", "own: cache is the whole dictionary"),
        edit(Z, "z.users", "own: z is a value of the trace"),
        edit(Z, "x.data", "own: Multiply local by the gradient of z"),
        edit(Z, f"round({Z}, 1)", "own: all of its digits"),
        edit(" if x.users else 1.0", " or 1.0", "own: A local gradient may be 0"),
        edit(
            WHOLE,
            """\
    known = dict(cache)
    def ask(x):
        if x not in known:
            known[x] = sum(local * ask(z) for local, z in x.users) if x.users else 1.0
        return known[x]
    return ask(x)""",
            "own: Write each gradient into the given cache",
        ),
        edit(Z, "cached(z)", "own: cached takes two arguments"),
        edit(Z, "cached(local, cache)", "own: The value here is z"),
        edit(Z, "cached(x, cache)", "own: It asks for itself and"),
        edit(Z, "cache[z]", "own: At first the cache is empty"),
        edit(Z, "cache.get(z, 0)", "own: At first the cache is empty"),
        edit(Z, "cache.get(z, 1.0)", "own: The gradient of z is missing"),
        edit(Z, "cache.get(z)", "own: no entry yet"),
        edit(Z, "local", "own: 4 is local · local"),
        edit(f"local * {Z}", "local", "own: The gradient of z is missing"),
        edit(f"local * {Z}", Z, "own: The local gradients are missing"),
        edit(f"local * {Z}", f"local + {Z}", "own: Along an arrow you multiply"),
        edit("sum(local", "math.prod(local", "own: Add over all users"),
        edit(
            f"local * {Z} for local, z in x.users",
            f"local * {Z} for local, z in x.users[:1]",
            "own: Add over all users",
        ),
        edit(" if x.users else 1.0", "", "own: L has no users"),
        edit("else 1.0", "else 0.0", "own: L has no users"),
        edit("else 1.0", "else x.data", "own: L has no users"),
        edit("local *", "abs(local) *", "own: keeps its sign"),
        edit("local *", "local /", "own: Along an arrow you multiply"),
        edit("in x.users)", "in set(x.users))", "own: count both"),
        edit(
            "if x not in cache",
            "if x.data not in cache",
            "cache[x] =",
            "cache[x.data] =",
            "return cache[x]",
            "return cache[x.data]",
            "own: Two values may have the same number",
        ),
        edit(
            "    if x not in cache:",
            "    cache = YESTERDAY\n    if x not in cache:",
            "own: 6 was right before those 40",
        ),
        edit(
            "def cached(x, cache):",
            "def cached(x, _, cache={}):",
            "own: 6 was right before those 40",
        ),
        edit("    if x not in cache:", "    cache.clear()\n    if x not in cache:", own(AGAIN)),
        edit(WHOLE, "    return x.users", "several numbers"),
        (3.0, "error: number called"),
    ],
    accepted=[
        edit(
            WHOLE,
            """\
    if x in cache:
        return cache[x]
    total = 0.0 if x.users else 1
    for local, z in x.users:
        total += cached(z, cache=cache) * local
    return cache.setdefault(x, total)""",
        ),
        edit(
            WHOLE,
            """\
    if id(x) not in cache:
        cache[id(x)] = np.dot([l for l, z in x.users], [cached(z, cache) for l, z in x.users]) if x.users else 1.0
    return cache[id(x)]""",
        ),
        """
        def cached(x, cache):
            todo = [x]
            while todo:
                waits = [z for _, z in todo[-1].users if z not in cache]
                if waits:
                    todo += waits
                else:
                    z = todo.pop()
                    cache[z] = sum(local * cache[user] for local, user in z.users) if z.users else 1.0
            return cache[x]""",
    ],
)

cases(
    "07.diagnose",
    wrong=[
        *(
            (RIGHT | {letter: wrong}, own(EVIDENCE[letter]))
            for letter, wrong in [
                ("D", 7),
                ("G", 1),
                ("A", 2),
                ("B", 7),
                ("E", 3),
                ("F", 7),
                ("C", 6),
                ("H", 10),
            ]
        ),
        ({letter: RIGHT[letter] for letter in "DEF"} | {"G": 4}, own(EVIDENCE["G"])),
        (RIGHT | {"D": 20}, "own: from 1 to 10"),
        (RIGHT | {"A": "seed"}, "own: from 1 to 10"),
        ({"D": 2}, "own: has no entry"),
        ({"d": 2, "e": 4, "f": 9, "g": 3}, "own: capitals"),
        (RIGHT | {"D": "2"}, "own: without quotes"),
        (list(RIGHT.values()), "own: a dictionary"),
    ],
)

cases(
    "07.fixed_tanh",
    wrong=[
        edit(
            "(g * (1 - t * t),)",
            "(g * (np.tanh(x.data + 1e-6) - np.tanh(x.data - 1e-6)) / 2e-6,)",
            "own: is 1 − z²",
        ),
        edit("(g * (1 - t * t),)", "(g * (1 - t * t),) if g else (1.0,)", "none"),
        edit("    return z", "    z.number = -1\n    return z", "own: x receives nothing"),
        edit(
            "(g * (1 - t * t),)", "(g * (1 - t * t) if abs(x.data) < 2 else 0.0,)", "own: is 1 − z²"
        ),
        edit(
            "(g * (1 - t * t),)", "(g * (1 - t * t) if abs(x.data) < 5 else 0.0,)", "own: is 1 − z²"
        ),
        edit(
            "np.tanh(x.data)",
            "np.tanh(x.data if x.data > -3 else 0.0)",
            "own: The result is the tanh of x",
        ),
        edit("(g * (1 - t * t),)", "(max(g, -100.0) * (1 - t * t),)", "none | -700 · tanh"),
        edit(
            "(g * (1 - t * t),)",
            "(max(g, 0) * (1 - t * t),)",
            "own: Nothing arrives where g is -700",
        ),
        edit("Scalar(t, (x,))", "Scalar(t, (x.data,))", "own: not among the inputs"),
        *(
            edit("z.rule", name, "own: Under which name")
            for name in ("z.backward", "z._rule", "x.rule")
        ),
        edit("g * (1 - t * t)", "g * t * t", "own: That is z² The slope"),
        edit("g * (1 - t * t)", "1 - t * t", "own: This is as if g were 1"),
        edit("(g * (1 - t * t),)", "g * (1 - t * t)", "own: returns a tuple"),
        edit("1 - t * t", "1 - x * x", "own: x and z are Scalars"),
        edit("1 - t * t", "1 - x.data ** 2", "own: That is 1 − x²"),
        edit(
            "lambda g: (g * (1 - t * t),)", "lambda: (1 - t * t,)", "own: backward calls z.rule(g)"
        ),
        edit("lambda g: (g * (1 - t * t),)", "(lambda g: g * (1 - t * t),)", "function in a tuple"),
        edit("lambda g: (g * (1 - t * t),)", "(1 - t * t,)", "not a function"),
        edit(
            "lambda g: (g * (1 - t * t),)",
            "(g * (1 - t * t),)",
            "own: g is known only in the backward pass",
        ),
        edit("1 - t * t", "1 - z * z", "own: x and z are Scalars"),
        edit(
            "np.tanh(x.data)",
            "(np.exp(2 * x.data) - 1) / (np.exp(2 * x.data) + 1)",
            "own: overflowed",
        ),
        edit("np.tanh(x.data)", "np.tanh(x)", "own: x.data"),
        edit("return z", "pass", "nothing"),
        edit("return z", "return t", "own: Return z itself"),
        edit("return z", "return z.data", "own: Return z itself"),
        edit("return z", "return Scalar(t)", "own: not among the inputs"),
        edit("Scalar(t, (x,))", "Scalar(t)", "own: not among the inputs"),
        edit("Scalar(t, (x,))", "Scalar(t, x)", "own: a tuple"),
        edit("g * (1 - t * t)", "g - t * t", "own: g multiplies the whole bracket"),
        edit("g * (1", "max(min(g, 5), -5) * (1", "none"),
        edit("Scalar(t, (x,))", "Scalar(t, (x, x))", "own: x is used once: the inputs are"),
        edit(
            "def fixed_tanh(x):",
            "def fixed_tanh(x, made={}):",
            "Scalar(t, (x,))",
            "made.setdefault(x.data, Scalar(t, (x,)))",
            "own: make a new one",
        ),
        edit("g * (1", "-g * (1", "own: wrong sign"),
        edit("g * (1", "abs(g) * (1", "own: sign of g"),
        edit("Scalar(t, (x,))", "Scalar(x.data, (x,))", "own: The result is the tanh of x"),
        edit(
            "return z",
            "x.data = t\n    return z",
            "own: Do not change x: the result is a new value",
        ),
        edit(
            "return z",
            "x.grad = 0.0\n    return z",
            "own: Do not change x: the result is a new value",
        ),
        edit("return z", "z.grad = 1.0\n    return z", "own: no gradient yet"),
        edit("(g * (1 - t * t),)", "(g * (1 - t * t), 0.0)", "own: There is one input"),
        edit("g * (1 - t * t)", "g * 0.5", "own: is 1 − z²"),
        edit("g * (1 - t * t)", "g * (1 - abs(t))", "own: is 1 − z²"),
        edit("np.tanh", "np.tan", "own: The result is the tanh of x"),
        edit("np.tanh(x.data)", "round(np.tanh(x.data), 3)", "own: The result is the tanh of x"),
        edit("return z", "z.backward = z.rule\n    return z", "own: hides the engine's own method"),
        edit(
            "    t = np",
            "    global t\n    t = np",
            "own: That is the slope of a tanh that was computed in between",
        ),
    ],
    accepted=[
        edit("def fixed", "from math import tanh\n\ndef fixed", "np.tanh", "tanh"),
        edit("t * t", "z.data ** 2"),
        edit("(g * (1 - t * t),)", "[g * (1 - t) * (1 + t)]"),
        edit("Scalar(t", "type(x)(t"),
        edit("Scalar(t, (x,))", "Scalar(t, [x])"),
        edit("(g * (1 - t * t),)", "np.array([g * (1 - t * t)])"),
        """
        def fixed_tanh(x):
            def rule(g):
                return g / np.cosh(min(abs(x.data), 300)) ** 2,
            z = Scalar(np.tanh(x.data), (x,))
            z.rule = rule
            return z""",
        "lambda x: Scalar.tanh(x)",
    ],
)


def _unsorted(output):
    found, todo = {output}, [output]
    while todo:
        new = [x for x in todo.pop().inputs if x not in found]
        found.update(new)
        todo += new
    return list(found)


def _stub(self): ...


cases(
    "07.capstone",
    wrong=[
        (("order", Unknown.order), "own: One of the values still receives nothing"),
        edit(
            "if x not in found",
            "if x not in found and not any(x.data == y.data == 0 and not x.inputs for y in found)",
            "own: One of the values still receives nothing",
        ),
        edit(
            "if x not in found",
            "if x.data and x not in found",
            "own: One of the values still receives nothing",
        ),
        (("relu", Scalar.relu), "own: relu fails where it is open"),
        (("__mul__", Scalar.__mul__), "own: x + Unknown(0.0) fails too"),
        (("backward", Scalar.backward), "own: The ledger is right"),
        (("tanh", Scalar.tanh), "own: tanh passes"),
        # the name is judged before `fixed` is written
        (("relu", _stub), "own: relu fails where it is open"),
        (("__mul__", _stub), "own: x + Unknown(0.0) fails too"),
        (("backward", _stub), "own: The ledger is right"),
        (("sort", _stub), "own: no method of this name"),
        (("backward", lambda self: 0), "own: The ledger is right"),
        (("order", lambda self: Scalar.order(self)[::-1]), "own: begins with the oldest"),
        edit("if x not in found", "if x not in todo", "own: Is every path walked"),
        (("order", lambda self: [self, *self.inputs]), "own: Inputs of inputs"),
        (("order", _unsorted), "own: Which users of this value had not been visited"),
        (("order", lambda self: print(0)), "printed"),
        (("sort", Scalar.order), "own: no method of this name"),
        (("__init__", Scalar.order), "own: __init__ is not what is ill"),
        edit("found.add(x)", "found.remove(x)", "none | KeyError: Fixed(2.0)"),
        ((7.0, Scalar.order), "own: in quotes"),
    ],
    accepted=[
        """
        faulty_method = "order"

        def fixed(self, found=None):
            found = [] if found is None else found
            for x in self.inputs:
                if x not in found:
                    fixed(x, found)
            found.append(self)
            return found[::-1]""",
        edit('"order"', '"Scalar.order"'),
    ],
)
