"""Thrown at the exercises of lesson 07, beside their mistakes: more wrong answers, and right ones in other styles."""

import math

import numpy as np
from thrown import throw

from autograd_course.grading import edit
from autograd_course.lessons.lesson_07.clinic import Scalar, Unknown
from autograd_course.lessons.lesson_07.exercises import AGAIN, EVIDENCE, RIGHT, WHOLE, Z

throw(
    "07.fooling_x",
    planted=[
        (1.0, "Compare both rules there: 0.42 and 0.58"),
        (0.88, "0.501 and 0.499"),
        (40.0, "Compare both rules there: 0 and 1"),
        ("half", "A number"),
        ("0.8814", "A number"),
        (math.nan, "z in np.arctanh(z) stays between −1 and 1"),
        (math.inf, "z in np.arctanh(z) stays between −1 and 1"),
        ([0.8814], "A number"),
        (np.array([0.8814]), "A number"),
        (0.8814j, "A number"),
        (1.88, "Where are they equal"),
        (0.881, "to four digits"),
    ],
    also_right=[
        "np.array(0.8814)",
        "-np.arctanh(2 ** -0.5)",
        "round(0.5 * np.log(3 + 2 * 2 ** 0.5), 4)",
        "np.log(1 + np.sqrt(2))",
        "__import__('fractions').Fraction(8814, 10000)",
        "ag.Tensor(0.8814).item()",
        "np.float32(0.88137)",
    ],
)

throw(
    "07.cached",
    planted=[
        edit("in x.users)", "in x.users[:20])", "got"),
        edit("in x.users)", "in x.users if z.users or z.data)", "A value may be 0"),
        edit("in x.users)", "in x.users[:1 if x.users[0][0] == 0 else None])", "got"),
        edit("local *", "max(local, -10) *", "w = -300"),
        edit("x not in cache", "not cache.get(x)", AGAIN),
        edit(
            WHOLE,
            """    cache.clear()
    def ask(x):
        if x not in cache:
            cache[x] = sum(local * ask(z) for local, z in x.users) if x.users else 1.0
        return cache[x]
    return ask(x)""",
            "leave there what it has",
        ),
        edit(
            WHOLE,
            """    def ask(x, depth=0):
        if x not in cache:
            cache[x] = sum(way * (ask(z, depth + 1) if depth < 60 else 1.0) for way, z in x.users) if x.users else 1.0
        return cache[x]
    return ask(x)""",
            "70 doublings",
        ),
        edit(Z, f"float(round({Z}, 6))", "all of its digits"),
        edit("x.users)", "x.users[:3])", "got"),
        edit(
            WHOLE,
            """    key = x.data, len(x.users)
    if key not in cache:
        cache[key] = sum(local * cached(z, cache) for local, z in x.users) if x.users else 1.0
    return cache[key]""",
            "Two values may hold",
        ),
        edit(Z, "x.gradient()", "and not x"),
        edit(Z, "z.gradient()", AGAIN),
        edit(Z, "cached(z, {})", AGAIN),
        edit(Z, "cached(z, dict(cache))", AGAIN),
        edit(WHOLE, "    return x.gradient()", AGAIN),
        edit(Z, "z.data", "What multiplies local is the gradient of z"),
        edit(Z, "z", "Which call gives its gradient"),
        edit(Z, "z.grad", "Which call gives its gradient"),
        edit(Z, "cached", "Call one: cached(z, cache)"),
        edit(Z, "z.gradient", "Call one: cached(z, cache)"),
        edit(Z, "cache", "cache is the whole dictionary"),
        edit(Z, "z.users", "Which call gives its gradient"),
        edit(Z, "x.data", "What multiplies local is the gradient of z"),
        edit(Z, f"round({Z}, 1)", "all of its digits"),
        edit(" if x.users else 1.0", " or 1.0", "A local gradient may be 0"),
        edit(
            WHOLE,
            """\
    known = dict(cache)
    def ask(x):
        if x not in known:
            known[x] = sum(local * ask(z) for local, z in x.users) if x.users else 1.0
        return known[x]
    return ask(x)""",
            "that is handed in, cache[x]",
        ),
        edit(Z, "cached(z)", "cached takes two things"),
        edit(Z, "cached(local, cache)", "The value asked here is z"),
        edit(Z, "cached(x, cache)", "The value asked here is z"),
        edit(Z, "cache[z]", "the cache is empty"),
        edit(Z, "cache.get(z, 0)", "At first the cache is empty"),
        edit(Z, "cache.get(z, 1.0)", "At first the cache is empty"),
        edit(Z, "cache.get(z)", "no entry yet"),
        edit(Z, "local", "4 is local · local"),
        edit(f"local * {Z}", "local", "The gradient of z is missing"),
        edit(f"local * {Z}", Z, "The local gradients are missing"),
        edit(f"local * {Z}", f"local + {Z}", "Along an arrow you multiply"),
        edit("sum(local", "math.prod(local", "Over the users you add"),
        edit(
            f"local * {Z} for local, z in x.users",
            f"local * {Z} for local, z in x.users[:1]",
            "Over the users you add, all of them",
        ),
        edit(" if x.users else 1.0", "", "L has no users"),
        edit("else 1.0", "else 0.0", "L has no users"),
        edit("else 1.0", "else x.data", "L has no users"),
        edit("local *", "abs(local) *", "keeps its sign"),
        edit("local *", "local /", "Along an arrow you multiply"),
        edit("in x.users)", "in set(x.users))", "count both"),
        edit(
            "if x not in cache",
            "if x.data not in cache",
            "cache[x] =",
            "cache[x.data] =",
            "return cache[x]",
            "return cache[x.data]",
            "Two values may hold the same number",
        ),
        edit(
            "    if x not in cache:",
            "    cache = YESTERDAY\n    if x not in cache:",
            "6 was right before those 40",
        ),
        edit("def cached(x, cache):", "def cached(x, _, cache={}):", "6 was right before those 40"),
        edit("    if x not in cache:", "    cache.clear()\n    if x not in cache:", AGAIN),
        edit(WHOLE, "    return x.users", "A single number"),
        (3.0, "give the function itself"),
    ],
    also_right=[
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

throw(
    "07.diagnose",
    planted=[
        *(
            (RIGHT | {letter: wrong}, EVIDENCE[letter][:30])
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
        ({letter: RIGHT[letter] for letter in "DEF"} | {"G": 4}, EVIDENCE["G"][:30]),
        (RIGHT | {"D": 20}, "from 1 to 10"),
        (RIGHT | {"A": "seed"}, "from 1 to 10"),
        ({"D": 2}, "has no entry"),
        ({"d": 2, "e": 4, "f": 9, "g": 3}, "capitals"),
        (RIGHT | {"D": "2"}, "without quotes"),
        (list(RIGHT.values()), "a dictionary"),
    ],
)

throw(
    "07.fixed_tanh",
    planted=[
        edit(
            "(g * (1 - t * t),)",
            "(g * (np.tanh(x.data + 1e-6) - np.tanh(x.data - 1e-6)) / 2e-6,)",
            "1 − z²",
        ),
        edit("(g * (1 - t * t),)", "(g * (1 - t * t),) if g else (1.0,)", "got"),
        edit("    return z", "    z.number = -1\n    return z", "number its own"),
        edit("(g * (1 - t * t),)", "(g * (1 - t * t) if abs(x.data) < 2 else 0.0,)", "got"),
        edit("(g * (1 - t * t),)", "(g * (1 - t * t) if abs(x.data) < 5 else 0.0,)", "got"),
        edit("np.tanh(x.data)", "np.tanh(x.data if x.data > -3 else 0.0)", "only the rule is ill"),
        edit("(g * (1 - t * t),)", "(max(g, -100.0) * (1 - t * t),)", "-700 · tanh"),
        edit("(g * (1 - t * t),)", "(max(g, 0) * (1 - t * t),)", "Nothing arrives where g is -700"),
        edit("Scalar(t, (x,))", "Scalar(t, (x.data,))", "not among the inputs"),
        *(edit("z.rule", name, "Under which name") for name in ("z.backward", "z._rule", "x.rule")),
        edit("g * (1 - t * t)", "g * t * t", "z²"),
        edit("g * (1 - t * t)", "1 - t * t", "As if g were 1"),
        edit("(g * (1 - t * t),)", "g * (1 - t * t)", "returns a tuple"),
        edit("1 - t * t", "1 - x * x", "what you need here is a number"),
        edit("1 - t * t", "1 - x.data ** 2", "That is 1 − x²"),
        edit("lambda g: (g * (1 - t * t),)", "lambda: (1 - t * t,)", "backward calls z.rule(g)"),
        edit(
            "lambda g: (g * (1 - t * t),)", "(lambda g: g * (1 - t * t),)", "in a list or a tuple"
        ),
        edit("lambda g: (g * (1 - t * t),)", "(1 - t * t,)", "give it the function"),
        edit("lambda g: (g * (1 - t * t),)", "(g * (1 - t * t),)", "when the walk comes by"),
        edit("1 - t * t", "1 - z * z", "what you need here is a number"),
        edit("np.tanh(x.data)", "(np.exp(2 * x.data) - 1) / (np.exp(2 * x.data) + 1)", "too large"),
        edit("np.tanh(x.data)", "np.tanh(x)", "x.data"),
        edit("return z", "pass", "is there a return"),
        edit("return z", "return t", "Return z itself"),
        edit("return z", "return z.data", "Return z itself"),
        edit("return z", "return Scalar(t)", "not among the inputs"),
        edit("Scalar(t, (x,))", "Scalar(t)", "not among the inputs"),
        edit("Scalar(t, (x,))", "Scalar(t, x)", "a tuple"),
        edit("g * (1 - t * t)", "g - t * t", "brackets and all"),
        edit("g * (1", "max(min(g, 5), -5) * (1", "expected"),
        edit("Scalar(t, (x,))", "Scalar(t, (x, x))", "x goes in once"),
        edit(
            "def fixed_tanh(x):",
            "def fixed_tanh(x, made={}):",
            "Scalar(t, (x,))",
            "made.setdefault(x.data, Scalar(t, (x,)))",
            "make a new one",
        ),
        edit("g * (1", "-g * (1", "wrong sign"),
        edit("g * (1", "abs(g) * (1", "sign of g"),
        edit("Scalar(t, (x,))", "Scalar(x.data, (x,))", "the value of the result"),
        edit("return z", "x.data = t\n    return z", "stays as it was"),
        edit("return z", "x.grad = 0.0\n    return z", "stays as it was"),
        edit("return z", "z.grad = 1.0\n    return z", "no gradient yet"),
        edit("(g * (1 - t * t),)", "(g * (1 - t * t), 0.0)", "so one entry"),
        edit("g * (1 - t * t)", "g * 0.5", "is 1 − z²"),
        edit("g * (1 - t * t)", "g * (1 - abs(t))", "is 1 − z²"),
        edit("np.tanh", "np.tan", "only the rule is ill"),
        edit("np.tanh(x.data)", "round(np.tanh(x.data), 3)", "only the rule is ill"),
        edit("return z", "z.backward = z.rule\n    return z", "hides the engine's own method"),
        edit("    t = np", "    global t\n    t = np", "a tanh made in between"),
    ],
    also_right=[
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


throw(
    "07.capstone",
    planted=[
        (("order", Unknown.order), "What decides"),
        edit(
            "if x not in found",
            "if x not in found and not any(x.data == y.data == 0 and not x.inputs for y in found)",
            "What decides",
        ),
        edit("if x not in found", "if x.data and x not in found", "What decides"),
        (("relu", Scalar.relu), "Any operation that gives back the number it got"),
        (("__mul__", Scalar.__mul__), "x + Unknown(0.0) fails too"),
        (("backward", Scalar.backward), "The ledger is right"),
        (("tanh", Scalar.tanh), "tanh passes"),
        (("backward", lambda self: 0), "The ledger is right"),
        (("order", lambda self: Scalar.order(self)[::-1]), "begins with the oldest"),
        edit("if x not in found", "if x not in todo", "Is every path walked"),
        (("order", lambda self: [self, *self.inputs]), "Inputs of inputs"),
        (("order", _unsorted), "Who still owes this value?"),
        (("order", lambda self: print(0)), "It prints the result"),
        (("sort", Scalar.order), "no method of this name"),
        (("__init__", Scalar.order), "__init__ is not what is ill"),
        edit("found.add(x)", "found.remove(x)", "KeyError: Fixed(2.0)"),
        ((7.0, Scalar.order), "in quotes"),
    ],
    also_right=[
        """
        faulty_method = "order"

        def fixed(self, found=None):
            found = [] if found is None else found
            for x in self.inputs:
                if x not in found:
                    fixed(x, found)
            found.append(self)
            return found[::-1]"""
    ],
)
