"""Wrong answers to the exercises of lesson 22 with their causes, and right answers in other styles."""

import numpy as np
from answer_cases import cases

import autograd_lib as ag
from autograd_course.grading import edit
from autograd_course.grading.mistakes import in_place
from autograd_course.lessons.lesson_22.exercises import (
    _END,
    _INSIDE,
    _LOOP,
    _ROUND,
    _TERM,
    _length_x,
    _pull_back,
    _row,
    sign,
)


def _with_the_last_mask():
    kept = []

    def function(w):
        kept[:] = [np.abs(w) <= 1]
        return np.where(w < 0, -1.0, 1.0)

    return ag.elementwise(function, lambda g, z, x: g * kept[0])


cases(
    "22.one_bit",
    wrong=[
        (_row(lambda g, z, x: g * (np.abs(x) <= 1) * np.nan), "nan in part 2"),
        (_with_the_last_mask(), "first entry in part 2"),
        (lambda w: sign(w).tolist(), "own: One Tensor is wanted"),
        (lambda w: (sign(w), w), "own: One Tensor is wanted and"),
        (lambda w: ag.Tensor(1.0), "none"),
        edit(_INSIDE, "inside = np.clip(w, -1, 1.01)", "first entry in part 2 | 1.0001"),
        edit(
            _INSIDE,
            "cut = np.clip(w, -1, 1)\n    inside = cut + (w - cut).detach()",
            "own: third value",
        ),
        edit("sign(w) -", "sign(w + 1e-9) -", "first entry in part 1"),
        (_row(lambda g, z, x: g * ((np.abs(x) < 1) | np.isclose(np.abs(x), 1))), "mistake 28"),
        edit(_INSIDE, "inside = np.clip(w, -1.0000001, 1.0000001)", "mistake 28"),
        (lambda w: (np.clip(w, -1, 1) + (sign(w) - np.clip(w, -1, 1)).detach())[:1], "none"),
        (lambda w: (np.clip(w, -1, 1) + (sign(w) - np.clip(w, -1, 1)).detach()).sum(), "none"),
        (lambda w: 1.0 if w >= 0 else -1.0, "error: truth of an array"),
        edit("return ", "", "own: return"),
        edit("return", "while True:\n        pass\n    return", "endless"),
        edit(
            "one_bit(w):",
            "one_bit(w, masks={}):",
            _INSIDE,
            "inside = w * masks.setdefault(w.shape, abs(w.data) <= 1)",
            "first entry in part 2",
        ),
        edit(_INSIDE, "w.data[...] = sign(w)\n    " + _INSIDE, "mistake 57"),
        edit("return", "inside.data = sign(w)\n    return", "mistake 57"),
        (
            ag.elementwise(lambda x: x / np.abs(x), lambda g, z, x: g * (np.abs(x) <= 1)),
            "mistake 50",
        ),
        (
            ag.elementwise(
                lambda x: sign(x) * (np.abs(x) <= 1), lambda g, z, x: g * (np.abs(x) <= 1)
            ),
            "own: masked value",
        ),
        (lambda w: sign(w) * (abs(w.data) <= 1), "own: masked value"),
        (
            lambda w: np.where(abs(w) <= 1, w + (sign(w) - w).detach(), 0),
            "own: masked value",
        ),
        edit(
            _INSIDE,
            "w = w * (abs(w.data) <= 1)",
            "return inside + (sign(w) - inside)",
            "return w + (sign(w) - w)",
            "mistake 56",
        ),
        (
            lambda w: sign(w) + (np.clip(w, -1, 1) - sign(w)).detach(),
            "mistake 44 | [ 0.82, -1.38, 0. , 0. , 1.88]",
        ),
        (
            _row(lambda x, z, g: np.where(np.abs(x) <= 1, g, 0)),
            "mistake 46",
        ),
    ],
    accepted=[
        "ag.elementwise(sign, lambda g, z, x: g * (abs(x) <= 1))",
        "ag.elementwise(lambda x: np.where(x < 0, -1.0, 1.0), lambda g, z, x: np.where((x >= -1) & (x <= 1), g, 0))",
        """
        def one_bit(w):
            c = w * (abs(w.data) <= 1)
            return c - c.detach() + sign(w.detach())""",
        "lambda w: np.clip(w, -1, 1) - np.clip(w.data, -1, 1) + np.where(w.data >= 0, 1, -1)",
        """
        def one_bit(w):
            kept = np.where(abs(w.data) <= 1, w, w.detach())
            return sign(w) + (kept - kept.detach())""",
        """
        def one_bit(w):
            mask = ag.Tensor((np.abs(w.data) <= 1) * 1.0)
            return sign(w) + mask * (w - w.detach())""",
    ],
)

cases(
    "22.round_trip",
    wrong=[
        edit(
            "for k in range(steps)",
            "for k in range(len(np.arange(0, 1, 1 / steps)))",
            "right elsewhere",
        ),
        edit("    total = 0.0", "    total, steps = 0.0, min(steps, 100)", "right elsewhere"),
        edit(
            "field(start + (k + 0.5) * part)",
            "field((start + (k + 0.5) * part).astype(start.dtype))",
            "right elsewhere",
        ),
        edit("zip(corners, ", "zip(corners[:5], ", "right elsewhere"),
        edit(
            "total += np.sum(field(start + (k + 0.5) * part) * part)",
            "start += part\n            total += np.sum(field(start - part / 2) * part)",
            "array overwritten",
        ),
        edit(
            "total = 0.0",
            "corners = np.array([*dict.fromkeys(map(tuple, corners))])\n    total = 0.0",
            "right elsewhere",
        ),
        edit("total = 0.0", "total = 0.0\n    while len(corners):\n        pass", "endless"),
        edit(
            "part = (end - start) / steps",
            "part = ((end - start) / steps).astype(corners.dtype)",
            "right elsewhere",
        ),
        edit("return total", "return (total,)", "several numbers"),
        edit("return total", "return total * np.nan", "nan"),
        edit(
            "steps):\n    total = 0.0",
            "steps, sums=[0.0]):\n    total = sums.pop() if sums else 1.0",
            "none",
        ),
        edit("return total", "return np.array([total, total])", "several numbers"),
        edit(
            _TERM,
            "(lambda f: f[0] * part[0] + f[1] * part[1])(field(start + (k + 0.5) * part))",
            "right elsewhere",
        ),
        edit(
            "part = (end - start) / steps",
            "if np.all(start == end):\n            break\n        part = (end - start) / steps",
            "right elsewhere",
        ),
        (in_place(lambda corners, field, steps: 0.0)[0], "mistake 14"),
    ],
    accepted=[
        """
        def round_trip(field, corners, steps):
            total = 0
            for i in range(len(corners)):
                start, end = corners[i - 1], corners[i]
                for k in range(steps):
                    at = start + (end - start) * (2 * k + 1) / (2 * steps)
                    total = total + field(at) @ (end - start) / steps
            return total""",
        """
        def round_trip(field, corners, steps):
            ring = np.vstack([corners, corners[:1]])
            return sum(np.dot(field(a + (b - a) * t), b - a) for a, b in zip(ring, ring[1:])
                       for t in (np.arange(steps) + 0.5) / steps) / steps""",
        """
        def round_trip(field, corners, steps):
            ring = [*corners, corners[0]]
            places = np.concatenate([np.linspace(a, b, steps + 1)[:-1] for a, b in zip(ring, ring[1:])] + [[ring[0]]])
            return float(sum(field((p + q) / 2) @ (q - p) for p, q in zip(places, places[1:])))""",
        edit(_TERM, "float(np.inner(part, field(part * k + part / 2 + start)))"),
        """
        def round_trip(field, corners, steps):
            def leg(start, end):
                here, part, climbed = start.copy(), (end - start) / steps, []
                for _ in range(steps):
                    climbed.append(np.sum(field(here + part / 2) * part))
                    here = here + part
                return np.sum(climbed)
            return np.sum([leg(a, b) for a, b in zip(corners, [*corners[1:], corners[0]])])""",
    ],
)

cases(
    "22.length_x",
    wrong=[
        (lambda g, z, x: np.stack(_length_x(g, z, x)), "none"),
        (
            lambda g, z, x, kept={}: g * kept.setdefault((float(z), x.shape), _length_x(1.0, z, x)),
            "reversed",
        ),
        (lambda g, z, x: (_length_x(g, z, x),), "shape: other layout"),
        (lambda g, z, x: _length_x(g, z, x).ravel(), "shape: other layout"),
        (lambda g, z, x: _length_x(g, z, x).astype(int), "right elsewhere"),
        (lambda g, z, x: np.zeros_like(x), "first entry"),
        edit("x):", "x, seen=[]):\n    seen.append(g)\n    g = seen[0]", "factor"),
        edit("return", "while z == 0:\n        pass\n    return", "endless"),
    ],
    accepted=[
        "lambda g, z, x: np.zeros_like(x) if z == 0 else g * x / z",
        "lambda g, z, x: np.nan_to_num(g * x / z)",
        "lambda g, z, x: np.divide(g * x, z, out=np.zeros(x.shape), where=z != 0)",
        """
        def length_x(g, z, x):
            if z:
                return x * (g / z)
            return x""",
        "lambda g, z, x: np.where(x == 0, 0, g * x / z)",
        "lambda g, z, x: g * (x / (z + (z == 0)))",
    ],
)

cases(
    "22.pull_back",
    wrong=[
        edit(_ROUND, _ROUND + "\n        if np.sum(u) == np.sum(g): break", "right elsewhere"),
        edit("u = g\n", "u = np.zeros_like(g)\n    u[:] = g\n", "error: number of indices"),
        edit(_ROUND, "u += back(u)[0]", "mistake 3"),
        edit(
            "u = g\n",
            "u, to_x = g, back(g)[1]\n",
            _ROUND,
            "to_z, to_x = back(u)\n        u = g + to_z",
            _END,
            "return to_x",
            "mistake 1",
        ),
        edit(
            _ROUND,
            f"{_ROUND}\n        if np.max(abs(u)) > 100 * np.max(abs(g)):\n            break",
            "first entry",
        ),
        *(
            edit(
                _ROUND,
                f"old, u = u, g + back(u)[0]\n        if {near}:\n            break",
                "own: exactly `rounds` times",
            )
            for near in (
                "np.allclose(u, old)",
                "np.max(abs(u - old)) < 1e-3",
                "np.max(abs(u - old)) < 1e-9",
            )
        ),
        edit(
            _END,
            "to_x = back(u)[1]\n    z[...] = 0\n    return to_x",
            "array overwritten",
        ),
        edit(
            "rounds):\n    _,",
            "rounds, seen=[]):\n    seen.append(rounds)\n    rounds = seen[0]\n    _,",
            "first entry",
        ),
        edit(
            _LOOP,
            "for _ in range(1000):",
            _ROUND,
            "old, u = u, g + back(u)[0]\n        if np.allclose(u, old):\n            break",
            "own: exactly `rounds` times",
        ),
        edit(_LOOP, "while rounds:\n        pass\n    " + _LOOP, "endless"),
        edit(_END, "return back(u)[1] + (z.ndim > 2)", "own: exactly `rounds` times"),
        edit(_END, "return back(u)[1].sum()", "shape: axis lost"),
        edit(
            "u = g\n",
            "u, total = g, np.zeros_like(x)\n",
            _ROUND,
            "u = g + back(u)[0]\n        total += back(u)[1]",
            _END,
            "return total",
            "mistake 54",
        ),
        edit(_END, "return (back(u)[1],)", "shape: other layout"),
        edit(_END, "return back(u)[1] * np.nan", "nan"),
        edit(_END, "return ag.grad(lambda x: f(z, x).sum())(x)", "first entry"),
        (
            lambda f, z, x, g, rounds: (
                _pull_back(f, z, x, g, rounds) if np.size(z) == np.size(x) else 0 * x
            ),
            "first entry",
        ),
        (lambda f, z, x, g, rounds: g / (1 - ag.grad(lambda z: f(z, x).sum())(z)), "shape"),
    ],
    accepted=[
        """
        def pull_back(f, z, x, g, rounds):
            u = g
            for _ in range(rounds):
                u = g + ag.vjp(lambda z: f(z, x), z)[1](u)[0]
            return ag.vjp(lambda x: f(z, x), x)[1](u)[0]""",
        """
        def pull_back(f, z, x, g, rounds):
            back = ag.vjp(f, z, x)[1]
            if rounds == 0:
                return back(g)[1]
            term, u = g, g
            for _ in range(rounds):
                term = back(term)[0]
                u = u + term
            return back(u)[1]""",
        """
        def pull_back(f, z, x, g, rounds):
            _, back = ag.vjp(f, z, x)
            total, term = 0, g
            for _ in range(rounds + 1):
                term, to_x = back(term)
                total = total + to_x
            return total""",
        """
        from functools import reduce
        def pull_back(f, z, x, g, rounds):
            value, pull = ag.vjp(f, z, x)
            return pull(reduce(lambda u, _: g + pull(u)[0], range(rounds), g))[1]""",
    ],
)
