"""Thrown at the exercises of lesson 20, beside their mistakes: more wrong answers, and right ones in other styles."""

import numpy as np
from thrown import throw

from autograd_course.grading import edit
from autograd_course.lessons.lesson_20.exercises import _needed, _slip

throw(
    "20.Noted",
    planted=[
        edit("len(self.lines) + 1", "len(self.lines) % 10 + 1", "twelve times"),
        edit(
            "names = [x.name if isinstance(x, Noted) else x for x in inputs]",
            "names = [n for n in [x.name if isinstance(x, Noted) else x for x in inputs] if n]",
            "t2 = np.add(t1, 0).",
        ),
        edit("names))", "[*dict.fromkeys(names)]))", "first that differs: t1 = np.multiply(x)."),
        edit(
            "names = [x.name if isinstance(x, Noted) else x for x in inputs]",
            "names = [x.name if isinstance(x, Noted) else float(np.float32(x)) for x in inputs]",
            "6.2831853",
        ),
        edit("function(*values)", "np.nan * function(*values)", "nan"),
        edit("bool(self.value)", "True", "expected"),
        edit(
            "name = f",
            "if function is np.multiply and any(type(v) is float and v == 1 for v in values):\n"
            "            return self\n        name = f",
            "first that differs",
        ),
        edit(
            "name = f",
            "if names[1:] == [0] and function is np.add: return self\n        name = f",
            "+ 0",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "z = function(*values)\n        "
            "return z if isinstance(z, np.bool_) else Noted(z, name, self.lines)",
            "the plain value False",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "z = function(*values)\n        "
            "return Noted(z if np.ndim(z) else float(z), name, self.lines)",
            "It should be: and back comes t2 with the value False",
        ),
        edit(
            "names = [x.name if isinstance(x, Noted) else x for x in inputs]",
            "names = [x.name if isinstance(x, Noted) else x for x in inputs[:2]]",
            "pow(2, x, y)",
        ),
        edit(
            "names = [x.name if isinstance(x, Noted) else x for x in inputs]",
            "names = [x.name if isinstance(x, Noted) else int(x) for x in inputs]",
            "-1.5",
        ),
    ],
    also_right=[
        edit(
            "names = [x.name if isinstance(x, Noted) else x for x in inputs]",
            'names = [getattr(x, "name", x) for x in inputs]',
        ),
        edit(
            "names = [x.name if isinstance(x, Noted) else x for x in inputs]",
            "names = tuple(x.name if type(x) is Noted else x for x in inputs)",
        ),
        edit(
            "self.lines.append((name, function, names))",
            "self.lines += [(name, function, names)]",
            "function(*values)",
            "np.asarray(function(*values))",
        ),
        edit(
            "self.lines.append((name, function, names))\n",
            "self.lines.extend([(name, function, names)])\n",
            "Noted(function(*values), name, self.lines)",
            "type(self)(function(*values), name, self.lines)",
        ),
        """
        class Noted(NDArrayOperatorsMixin):
            def __init__(self, value, name, lines):
                self.value, self.name, self.lines = value, name, lines

            def __bool__(self):
                return bool(self.value)

            def __array_ufunc__(self, function, method, *inputs):
                values, names = [], []
                for x in inputs:
                    noted = isinstance(x, Noted)
                    values.append(x.value if noted else x)
                    names.append(x.name if noted else x)
                made = Noted(getattr(function, method)(*values), "t" + str(1 + len(self.lines)), self.lines)
                self.lines.append((made.name, function, names))
                return made""",
    ],
)


def _by_paths(lines, results):
    made = {line[0]: line for line in lines}

    def found(name):
        return (
            {name}.union(*(found(x) for x in made[name][2] if isinstance(x, str)))
            if name in made
            else set()
        )

    wanted = set().union(*map(found, results))
    return [line for line in lines if line[0] in wanted]


def _in_place(lines, results):
    kept = _needed(lines, results)
    for line in list(lines):
        if line not in kept:
            lines.remove(line)
    return lines


throw(
    "20.needed",
    planted=[
        edit("name in wanted", "name.strip() in wanted", "expected"),
        edit(
            "name in wanted",
            "name in results or name in wanted and all("
            "line in kept for line in lines if name in line[2])",
            "t1 = exp(x)",
        ),
        edit(
            "wanted.update",
            "all(isinstance(x, str) for x in names) and wanted.update",
            "you gave 2",
        ),
        edit("name in wanted", "name.lower() in {str(one).lower() for one in wanted}", "expected"),
        edit("update(names)", "update(names[:3])", "expected"),
        edit(
            "kept.append(line)",
            "kept.append(line)\n            wanted = {*sorted(map(str, wanted - {name}))[:8]}",
            "t13 = stack(",
        ),
        edit("reversed(lines)", "reversed(lines[-100:])", "expected"),
        edit("set(results)", "set(results[:3])", "expected"),
        edit("wanted.update(names)", "wanted.update(str(x).lower() for x in names)", "expected"),
        edit("name in wanted", "name in wanted and function is not np.greater", "t1 = greater"),
        (_by_paths, "Remember"),
        (_in_place, "caller"),
        (lambda lines, results: print(_needed(lines, results)), "print"),
        (
            lambda lines, results: set(map(str, _needed(lines, results))),
            "a set, which has no order",
        ),
        (lambda lines, results: len(_needed(lines, results)), "expected"),
        (lambda lines, results: _needed(lines, results)[:3], "expected"),
        edit("name in wanted", "name in wanted and name[0] == 't'", "error = subtract"),
        (
            lambda lines, results: [
                *{str(line[1:]): line for line in _needed(lines, results)}.values()
            ],
            "t2 = exp(x)",
        ),
        edit(
            "set(results)",
            "' '.join(results)",
            "wanted.update(names)",
            "wanted += ' '.join(map(str, names))",
            "t1 = exp(x)",
        ),
    ],
    also_right=[
        """
        def needed(lines, results):
            made, kept = {line[0]: line for line in lines}, set()
            def want(name):
                if name in made and name not in kept:
                    kept.add(name)
                    for x in made[name][2]:
                        want(x)
            for name in results:
                want(name)
            return [line for line in lines if line[0] in kept]""",
        """
        def needed(lines, results):
            wanted = list(results)
            while True:
                more = [x for name, _, names in lines if name in wanted for x in names if x not in wanted]
                if not more:
                    return [line for line in lines if line[0] in wanted]
                wanted.extend(more)""",
        """
        def needed(lines, results):
            if not lines:
                return []
            *before, last = lines
            if last[0] in results:
                return needed(before, [*results, *last[2]]) + [last]
            return needed(before, results)""",
        """
        def needed(lines, results):
            wanted, kept = dict.fromkeys(results), []
            for k in range(len(lines) - 1, -1, -1):
                if lines[k][0] in wanted:
                    kept.insert(0, lines[k])
                    wanted |= dict.fromkeys(lines[k][2])
            return tuple(kept)""",
        """
        def needed(lines, results):
            wanted = set(results)
            flags = [name in wanted and not wanted.update(names) for name, _, names in lines[::-1]]
            return [line for line, flag in zip(lines, flags[::-1]) if flag]""",
    ],
)

throw(
    "20.gradients",
    planted=[
        _slip("g_b", "g_t2.sum(axis=0, keepdims=True)", "(1, "),
        edit("return L, g_W, g_b", "return g_W, g_b", "3"),
        edit("return L, g_W, g_b", "print(L, g_W, g_b)", "print"),
        edit("h = np.tanh(t2)", "h = np.tanh(t2); W *= 1.0000001", "caller"),
        _slip("g_W", "(x @ g_t2.T if x is y and len(x) == len(W) else x.T @ g_t2)", "got"),
        _slip("g_W", "np.nan * W", "nan"),
        _slip("g_W", "x.T * g_t2 if x.T.shape == g_t2.shape else x.T @ g_t2", "(3, 3)"),
        _slip("g_t2", "error * (1 - h * h)", "needs all of it"),
        _slip("g_t2", "np.abs(g_error * (1 - h * h))", "expected"),
    ],
    also_right=[
        _slip("g_t2", "g_error / np.cosh(t2) ** 2"),
        edit(
            "g_error = 2 * error",
            "g_error = error + error",
            "g_W = x.T @ g_t2",
            "g_W = (g_t2.T @ x).T",
            "g_b = g_t2.sum(axis=0)",
            "g_b = np.ones(len(x)) @ g_t2",
        ),
        edit(
            "g_W = x.T @ g_t2",
            "g_W = np.einsum('Nn,Nm->nm', x, g_t2)",
            "g_b = g_t2.sum(axis=0)",
            "g_b = np.einsum('Nm->m', g_t2)",
        ),
        edit(
            "g_W = x.T @ g_t2",
            "g_W = sum(np.outer(row, g) for row, g in zip(x, g_t2))",
            "g_b = g_t2.sum(axis=0)",
            "g_b = sum(g_t2)",
        ),
        """
        def gradients(x, y, W, b):
            h = np.tanh(x @ W + b)
            g_W, g_b = np.zeros(W.shape), np.zeros(b.shape)
            for i in range(len(x)):
                for j in range(len(b)):
                    g = 2 * (h[i, j] - y[i, j]) * (1 - h[i, j] ** 2)
                    g_b[j] += g
                    g_W[:, j] += g * x[i]
            return ((h - y) ** 2).sum(), g_W, g_b""",
    ],
)

throw(
    "20.spoiled",
    planted=[
        ((7, "12"), "without quotes"),
        ((7, 13), "1 to 12"),
        ((0, 12), "1 to 12"),
        ((7, np.nan), "1 to 12"),
        ((7, 7), "further down"),
        ((7.5, 12), "1 to 12"),
        (([7], 12), "One number"),
        ((12, 12), "further down"),
        ((7,), "2 values"),
        ((7, 12, 12), "2 values"),
        ((5, 12), "expected"),
        ((7, 9), "Line 7 is right"),
        ((7, True), "1 to 12"),
    ],
    also_right=[
        "(7, 12)",
        "[7, 12]",
        "np.array([7, 12])",
        "reads_wrong, overwrites = 12, 7",
        "7.0, 12.0",
    ],
)
