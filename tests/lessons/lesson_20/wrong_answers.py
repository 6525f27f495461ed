"""Wrong answers to the exercises of lesson 20 with their causes, and right answers in other styles."""

import numpy as np
from answer_cases import cases

import autograd_lib as ag
from autograd_course.grading import edit
from autograd_course.lessons.lesson_20.exercises import _loss, _needed, _slip

cases(
    "20.Noted",
    wrong=[
        edit("len(self.lines) + 1", "len(self.lines) % 10 + 1", "own: The first that differs t1"),
        edit(
            "names = [x.name if isinstance(x, Noted) else x for x in inputs]",
            "names = [n for n in [x.name if isinstance(x, Noted) else x for x in inputs] if n]",
            "own: t2 = np.add(t1, 0)",
        ),
        edit(
            "names))", "[*dict.fromkeys(names)]))", "own: first that differs: t1 = np.multiply(x)"
        ),
        edit(
            "names = [x.name if isinstance(x, Noted) else x for x in inputs]",
            "names = [x.name if isinstance(x, Noted) else float(np.float32(x)) for x in inputs]",
            "own: 6.2831853",
        ),
        edit("function(*values)", "np.nan * function(*values)", "own: The first that differs and"),
        edit("bool(self.value)", "True", "own: The first that differs t2"),
        edit(
            "name = f",
            "if function is np.multiply and any(type(v) is float and v == 1 for v in values):\n"
            "            return self\n        name = f",
            "own: first that differs",
        ),
        edit(
            "name = f",
            "if names[1:] == [0] and function is np.add: return self\n        name = f",
            "own: The first that differs the result is | + 0",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "z = function(*values)\n        "
            "return z if isinstance(z, np.bool_) else Noted(z, name, self.lines)",
            "own: the plain value False",
        ),
        edit(
            "return Noted(function(*values), name, self.lines)",
            "z = function(*values)\n        "
            "return Noted(z if np.ndim(z) else float(z), name, self.lines)",
            "own: It should be: the result is t2 with value False",
        ),
        edit(
            "names = [x.name if isinstance(x, Noted) else x for x in inputs]",
            "names = [x.name if isinstance(x, Noted) else x for x in inputs[:2]]",
            "own: The first that differs t1 np pow | pow(2, x, y)",
        ),
        edit(
            "names = [x.name if isinstance(x, Noted) else x for x in inputs]",
            "names = [x.name if isinstance(x, Noted) else int(x) for x in inputs]",
            "own: -1.5",
        ),
    ],
    accepted=[
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


cases(
    "20.needed",
    wrong=[
        edit("name in wanted", "name.strip() in wanted", "number of values"),
        edit(
            "name in wanted",
            "name in results or name in wanted and all("
            "line in kept for line in lines if name in line[2])",
            "number of values | t1 = exp(x)",
        ),
        edit(
            "wanted.update",
            "all(isinstance(x, str) for x in names) and wanted.update",
            "number of values",
        ),
        edit(
            "name in wanted",
            "name.lower() in {str(one).lower() for one in wanted}",
            "number of values",
        ),
        edit("update(names)", "update(names[:3])", "number of values"),
        edit(
            "kept.append(line)",
            "kept.append(line)\n            wanted = {*sorted(map(str, wanted - {name}))[:8]}",
            "number of values | t13 = stack(",
        ),
        edit("reversed(lines)", "reversed(lines[-100:])", "number of values"),
        edit("set(results)", "set(results[:3])", "number of values"),
        edit(
            "wanted.update(names)", "wanted.update(str(x).lower() for x in names)", "none in part 1"
        ),
        edit(
            "name in wanted",
            "name in wanted and function is not np.greater",
            "number of values | t1 = greater",
        ),
        (_by_paths, "own: Remember"),
        (_in_place, "list overwritten"),
        (lambda lines, results: print(_needed(lines, results)), "printed"),
        (
            lambda lines, results: set(map(str, _needed(lines, results))),
            "a set",
        ),
        (lambda lines, results: len(_needed(lines, results)), "one value"),
        (lambda lines, results: _needed(lines, results)[:3], "number of values"),
        edit(
            "name in wanted",
            "name in wanted and name[0] == 't'",
            "number of values | error = subtract",
        ),
        (
            lambda lines, results: [
                *{str(line[1:]): line for line in _needed(lines, results)}.values()
            ],
            "number of values | t2 = exp(x)",
        ),
        edit(
            "set(results)",
            "' '.join(results)",
            "wanted.update(names)",
            "wanted += ' '.join(map(str, names))",
            "number of values | t1 = exp(x)",
        ),
    ],
    accepted=[
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


def _by_engine(x, y, W, b):
    L, (g_W, g_b) = ag.value_and_grad(_loss, argnums=(2, 3))(x, y, W, b)
    return L, g_W, g_b


def _by_backward(x, y, W, b):
    W, b = (ag.Tensor(one, requires_grad=True) for one in (W, b))
    L = _loss(x, y, W, b)
    L.backward()
    return float(L.data), W.grad, b.grad


cases(
    "20.gradients",
    wrong=[
        (lambda *given: _by_engine(*given), "own: the engine did the work"),
        (lambda *given: _by_backward(*given), "own: the engine did the work"),
        _slip("g_b", "g_t2.sum(axis=0, keepdims=True)", "mistake 47"),
        edit("return L, g_W, g_b", "return g_W, g_b", "number of values"),
        edit("return L, g_W, g_b", "print(L, g_W, g_b)", "printed"),
        edit("h = np.tanh(t2)", "h = np.tanh(t2); W *= 1.0000001", "array overwritten"),
        _slip(
            "g_W",
            "(x @ g_t2.T if x is y and len(x) == len(W) else x.T @ g_t2)",
            "first entry in part 2",
        ),
        _slip("g_W", "np.nan * W", "nan in part 2"),
        _slip(
            "g_W",
            "x.T * g_t2 if x.T.shape == g_t2.shape else x.T @ g_t2",
            "first entry in part 2 | (3, 3)",
        ),
        _slip("g_t2", "error * (1 - h * h)", "mistake 1"),
        _slip("g_t2", "np.abs(g_error * (1 - h * h))", "mistake 55"),
    ],
    accepted=[
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

cases(
    "20.spoiled",
    wrong=[
        ((7, "12"), "own: without quotes"),
        ((7, 13), "own: 1 to 12"),
        ((0, 12), "own: 1 to 12"),
        ((7, np.nan), "own: 1 to 12"),
        ((7, 7), "own: comes after the first"),
        ((7.5, 12), "own: 1 to 12"),
        (([7], 12), "own: One number"),
        ((12, 12), "own: comes after the first"),
        ((7,), "number of parts"),
        ((7, 12, 12), "number of parts"),
        ((5, 12), "own: The line that reads a"),
        ((7, 9), "own: Line 7 is right"),
        ((7, True), "own: 1 to 12"),
    ],
    accepted=[
        "(7, 12)",
        "[7, 12]",
        "np.array([7, 12])",
        "reads_wrong, overwrites = 12, 7",
        "7.0, 12.0",
    ],
)

_GUARD = "key = x.shape, x.dtype"

cases(
    "20.guarded",
    wrong=[
        edit(_GUARD, "key = x.shape[-1:], x.dtype", "mistake 2"),
        edit(_GUARD, "key = x.shape, x.dtype.kind", "mistake 1"),
        edit(_GUARD, "key = sorted(x.shape).__repr__(), x.dtype", "mistake 3"),
        edit(_GUARD, "key = x.shape, x.dtype, len(programs)", "mistake 11"),
        edit("return programs[key](x)", "print(programs[key](x))", "mistake 15"),
        edit("return programs[key](x)", "return programs[key](x + 1)", "own: Run the program at x"),
        edit("record(f, x)", "record(f, x + 1)", "own: Pass record"),
        edit("record(f, x)", "record(x, f)", "own: Pass record"),
        edit("return call", "return call(np.ones(3))", "own: Return the inner function"),
        edit(
            "guarded(f, record):\n    programs = {}\n",
            "guarded(f, record, programs={}):\n",
            "own: Create the dict",
        ),
        (lambda f, record: record(f, np.ones(3)), "own: No program has been recorded"),
    ],
    accepted=[
        edit(_GUARD, "key = str(x.shape), x.dtype.str"),
        edit(_GUARD, "key = np.shape(x), x.dtype.name"),
        """
        def guarded(f, record):
            programs = {}

            def call(x):
                try:
                    return programs[x.shape, x.dtype](x)
                except KeyError:
                    programs[x.shape, x.dtype] = record(f, x)
                    return call(x)
            return call""",
        """
        def guarded(f, record):
            programs = {}

            def call(x):
                of_shape = programs.setdefault(x.shape, {})
                program = of_shape.get(x.dtype)
                if program is None:
                    program = of_shape[x.dtype] = record(f, x)
                return program(x)
            return call""",
        """
        def guarded(f, record):
            recorded = []

            def call(x):
                for shape, dtype, program in recorded:
                    if shape == x.shape and dtype == x.dtype:
                        return program(x)
                recorded.append((x.shape, x.dtype, record(f, x)))
                return recorded[-1][2](x)
            return call""",
    ],
)
