"""The program of a trace as Python source: one NumPy call a line."""

import builtins
import keyword
import linecache
import operator
import re
from collections import Counter
from itertools import count
from types import MappingProxyType, SimpleNamespace

import numpy as np

from .. import ops
from ..tape import Primitive
from ..trace import UFUNCS, Traced, astype, equal
from .plan import LARGE, arguments, needed, own, placed, root

_SIGNS = {np.add: "+", np.subtract: "-", np.multiply: "*", np.true_divide: "/", np.matmul: "@", operator.pow: "**",
          np.greater: ">", np.greater_equal: ">=", np.less: "<", np.less_equal: "<=", np.equal: "==",
          np.not_equal: "!=", np.bitwise_and: "&", np.bitwise_or: "|", np.bitwise_xor: "^", np.remainder: "%",
          np.floor_divide: "//", np.negative: "-", np.invert: "~"}
_SIGNS |= {function: _SIGNS[ufunc] for function, ufunc in UFUNCS.items() if ufunc in _SIGNS}
_METHODS = {getattr(np, name): name for name in """sum mean max min prod any all argmax argmin argsort cumsum reshape
    ravel squeeze""".split()}
_REDUCED = {np.sum: "add", np.prod: "multiply", np.max: "maximum", np.min: "minimum"}


class Writer:
    """Writes the nodes of a trace as functions of NumPy calls, one operation a line, nothing that is not needed."""

    def __init__(self, trace, name):
        self.trace, self.texts, self.own = trace, [], {}
        self.names, self.header, self.constants, self.placed, self.stems = {}, {}, {}, {}, Counter()
        self.taken = {"np", "ops", "memory", "abs", "bool", "float", "slice", "range"}
        self.name, self.numbers = name + "_" * (name in self.taken), count(1)

    def function(self, suffix, inputs, results, saved, known, structure=None):
        """Write one, of the nodes `inputs`: it returns `results` in a `structure`, or in one tuple with, unless it is
        None, a tuple of `saved`; the nodes `known` are computed elsewhere."""
        kept = [x for x in [*results, *(saved or ())] if isinstance(x, Traced)]
        checks = {} if known else self.trace.checks
        lines = [self.trace.nodes[n] for n in sorted(needed(kept + [self.trace.nodes[n] for n in checks], known))]
        memory, out = placed(lines, kept, self.taken)
        name, last = self.name + suffix, {_group(node): node for node in lines if node.why}
        several = Counter(map(_group, lines))
        self.count(lines, kept)
        inside = ",\n            ".join(memory.values())
        self.texts.append(f"def {name}_memory():\n    return ({inside},)" if memory else "")
        parameters = [self.name_of(x) for x in inputs] + ["memory=None"] * bool(memory)
        text = [f"def {name}({', '.join(parameters)}):"]
        if memory:
            text.append(f"    {', '.join(memory)}{',' * (len(memory) == 1)} = memory or {name}_memory()")
        before = quiet = None
        for node in lines:
            if self.inlined(node):
                continue
            place = out.get(node.order)
            place = self.name_of(place) if isinstance(place, Traced) else place
            if node.errors != quiet and node.errors:
                text.append(f"    with np.errstate({', '.join(f'{name}={how!r}' for name, how in node.errors)}):")
            quiet = node.errors
            line = f"    {'    ' * bool(quiet)}{self.name_of(node, last)} = {self.expression(node, place)}"
            comment, before = _comment(node, before, several), node
            text.append(f"{line:<59} # {comment}" if comment else line)
            if node.order in checks:
                text += [f"    if {'not ' * checks[node.order]}{self.names[node.order]}:",
                         '        raise ValueError("this program was written for other arguments: compile anew")']
        taken, returned = {root(x).order for x in inputs}, []
        for x in results:
            array = isinstance(x.value if isinstance(x, Traced) else x, np.ndarray)
            source = root(x) if isinstance(x, Traced) else None
            shared = array and (source is None or source.order in taken or _repeated(x.value)
                                or not np.may_share_memory(source.value, x.value))
            returned.append(self.say(x) + ".copy()" * shared)
            taken |= {source.order} if source is not None else set()
        if saved is not None:
            returned.append(self.say(tuple(saved)))
        flat = (tuple, *[...] * len(returned))
        whole = self.structure(structure or flat, iter(returned))
        text.append(f"    return {whole[1:-1] if whole.startswith('(') and whole != '()' else whole}")
        self.texts.append("\n".join(text) + "\n")

    def structure(self, structure, texts):
        """The text of what is returned, with the next of `texts` in each place."""
        if structure is ...:
            return next(texts)
        kind, *parts = structure
        if kind == "is":
            value = parts[0].item
            return repr(value) if value is None or type(value) in (bool, int, str) else self.name_own(value)
        if kind is dict:
            said = [self.say(key) if type(key) in (str, int, float, tuple) else self.name_own(key) for key, _ in parts]
            return "{" + ", ".join(f"{key}: {self.structure(part, texts)}" for key, (_, part) in zip(said, parts)) + "}"
        inside = [self.structure(part, texts) for part in parts]
        if kind is list:
            return f"[{', '.join(inside)}]"
        if kind is tuple:
            return f"({', '.join(inside)}{',' * (len(inside) == 1)})"
        return f"{self.name_own(kind)}({', '.join(inside)})"

    def name_own(self, value):
        """A name for what cannot be written as text, a class or a row of the learner's for example."""
        name = re.sub(r"\W", "_", getattr(value, "name", None) or getattr(value, "__name__", f"k{len(self.own)}"))
        while self.own.get(name, self) is not value and (name in self.taken or name == self.name):
            name += "_"
        self.own[name] = value
        self.taken.add(name)
        return name

    def done(self):
        """The source, and its functions."""
        imports = ["import numpy as np"]
        imports += ["\nfrom autograd_lib import ops"] * any("ops." in text for text in self.texts)
        header = [f"{name} = {value}" for name, value in self.header.items()]
        source = "\n".join([*imports, *([""] + header if header else []), "\n", ""])
        source += "\n\n".join(text.rstrip("\n") + "\n" for text in self.texts if text)
        file = f"<{self.name}, compiled: {id(self):x}>"
        linecache.cache[file] = len(source), None, source.splitlines(True), file
        space = {self.name: SimpleNamespace(constants=self.constants), **self.own}
        exec(builtins.compile(source, file, "exec"), space)
        names = re.findall(r"^def (\w+)\(", source, re.M)
        return source, [_pooled(space[n], space.get(n + "_memory")) for n in names if not n.endswith("_memory")]

    def count(self, lines, kept):
        self.readers = {}
        for x in [*kept, *(x for node in lines for x in arguments(node))]:
            self.readers[x.order] = self.readers.get(x.order, 0) + 1
        for x in kept:
            self.readers[x.order] += 2

    def inlined(self, node):
        """Whether it stands in the line that reads it: a transpose that is read once."""
        return node.function in (np.transpose, np.swapaxes) and np.ndim(node.value) and self.readers.get(node.order) == 1 \
            and node.order not in self.names

    def name_of(self, node, last=MappingProxyType({})):
        """Its name in the source: the learner's, or g_x for the gradient of x, or t and a number."""
        if node.order not in self.names:
            name = self.trace.names.get(node) or (node.why if isinstance(node.why, str) else None)
            if not name and node.why and last.get(_group(node)) is node and isinstance(node.why[3], Traced) \
                    and not self.inlined(node.why[3]):
                of = node.why[3]
                name = f"g_{self.name_of(of.args[0] if of.function is astype else of)}"
            name = re.sub(r"\W", "_", name or f"t{next(self.numbers)}" if node.function else name or "x")
            name = name + "_" if keyword.iskeyword(name) else name if name.isidentifier() else "_" + name
            stem = name
            while name in self.taken:
                self.stems[stem] += 1
                name = f"{stem}_{self.stems[stem] + 1}"
            self.names[node.order] = name
            self.taken.add(name)
        return self.names[node.order]

    def expression(self, node, out):
        """The line that computes it, after the equals sign."""
        function, args, keywords = node.function, list(node.args), node.keywords
        if function in (np.transpose, np.swapaxes) and np.ndim(args[0].value):      # a number has no methods
            return self.say(args[0]) + self.transposed(args[0].value, *args[1:], **keywords)
        said = [self.say(a) for a in args]
        first = args[0].value if args and isinstance(args[0], Traced) else None
        if isinstance(function, np.ufunc) and out:
            called = "dot" if function is np.matmul and _gemm(args) else function.__name__
            return f"np.{called}({', '.join([*said, f'out={out}'])})"
        if function in _SIGNS and not keywords and (not isinstance(function, np.ufunc) or _of_arrays(args)):
            said[0] = f"({said[0]})" if said[0].startswith("-") else said[0]
            return f" {_SIGNS[function]} ".join(said) if len(said) > 1 else _SIGNS[function] + said[0]
        if function is operator.getitem:
            return f"{said[0]}[{self.index(args[1])}]"
        if function is astype:
            return f"{said[0]}.astype({said[1]})" if hasattr(first, "astype") else f"{said[1]}({said[0]})"
        axis = keywords.get("axis", args[1] if len(args) > 1 else None)
        if function is np.expand_dims and isinstance(axis, int) and axis >= -1 and np.ndim(first):
            return f"{said[0]}[{':, ' * axis if axis >= 0 else '..., '}None]"
        named = {name: f"{name}={self.say(value)}" for name, value in keywords.items()}
        if isinstance(function, Primitive):
            return f"{self.row(function)}({', '.join([*said, *named.values()])})"
        named = [text for name, text in named.items() if text not in ("axis=None", "keepdims=False")]  # as in NumPy
        if function is np.reshape and hasattr(first, "shape"):
            named = [word.removeprefix("shape=") for word in named]
        if function in _REDUCED and axis is not None and keywords.keys() <= {"axis", "keepdims"} \
                and getattr(first, "nbytes", 0) >= LARGE:
            keep = ", keepdims=True" * bool(keywords.get("keepdims"))
            return f"np.{_REDUCED[function]}.reduce({said[0]}, axis={self.say(axis)}{keep})"
        if function in _METHODS and hasattr(first, "shape"):
            return f"{said[0]}.{_METHODS[function]}({', '.join(said[1:] + named)})"
        return f"{_path(function)}({', '.join(said + named)})"

    def transposed(self, x, *axes, **keywords):
        """The method that does it: `.T`, `.mT`, or transpose."""
        places = np.broadcast_to(False, range(2, 2 + x.ndim))
        order = np.transpose(places, *axes, **keywords).shape if len(axes) < 2 else np.swapaxes(places, *axes).shape
        order = [n - 2 for n in order]
        straight = [*range(x.ndim)]
        return ".T" if order == straight[::-1] else ".mT" if order == [*straight[:-2], *straight[:-3:-1]] \
            else f".transpose({order})"

    def row(self, row):
        """A row that is one line: by its name in the table, or as it came from the learner's code."""
        if not own(row):
            return f"ops.{row.name}" if getattr(ops, row.name, None) is row else f'ops.ROWS["{row.name}"]'
        return self.name_own(row)

    def say(self, x):
        """A value as it stands in the source."""
        if isinstance(x, Traced):
            return self.expression(x, None) if x.function and self.inlined(x) else self.name_of(x)
        if isinstance(x, (list, tuple)):
            inside = ", ".join(map(self.say, x))
            return f"[{inside}]" if isinstance(x, list) else f"({inside}{',' * (len(x) == 1)})"
        if isinstance(x, np.dtype) or isinstance(x, type) and issubclass(x, (np.generic, int, float)):
            return f"np.{np.dtype(x).name}" if np.dtype(x) != bool else "bool"
        if isinstance(x, slice):
            return f"slice({self.say(x.start)}, {self.say(x.stop)}, {self.say(x.step)})"
        if isinstance(x, np.longdouble):
            return repr(x)
        if isinstance(x, np.generic):
            return f"np.{x.dtype.name}({self.say(x.item())})" if x.dtype != bool else repr(bool(x))
        if isinstance(x, float) and not np.isfinite(x):
            return f'float("{x}")'
        return self.constant(x) if isinstance(x, np.ndarray) else "..." if x is ... else repr(x)

    def index(self, index):
        def part(i):
            if not isinstance(i, slice):
                return self.say(i)
            ends = ["" if end is None else self.say(end) for end in (i.start, i.stop)]
            return ":".join(ends) + (f":{self.say(i.step)}" if i.step is not None else "")
        if isinstance(index, tuple) and index:
            return ", ".join(map(part, index)) + "," * (len(index) == 1)
        return part(index)

    def constant(self, array):
        """The name of an array that is the same in every call, which the header gives."""
        if id(array) in self.placed:
            return self.placed[id(array)]
        if array.ndim == 0:
            return self.say(array[()])
        name = next(n for n in map("c{}".format, count(len(self.constants))) if n not in self.taken)
        self.constants[name], self.placed[id(array)] = array, name
        self.taken.add(name)
        self.header[name] = _literal(array) or (f'{self.name}.constants["{name}"]    # {array.dtype}, shape '
                                                f'{array.shape}')
        return name


def _literal(array):
    """An array as source, if that is short."""
    shape, n = array.shape, len(array)
    texts = {f"np.arange({n})": lambda: np.arange(n), f"np.ones({shape})": lambda: np.broadcast_to(1.0, shape),
             f"np.zeros({shape})": lambda: np.broadcast_to(0.0, shape)}
    if shape == (n, n):         # else it might be larger than all there is
        texts[f"np.eye({n})"] = lambda: np.eye(n)
    for text, make in texts.items():
        if equal(array, make()):
            return text
    if not 0 < array.size <= 64 or (array != array).any():      # a nan has a sign, which its text lacks
        return None
    dtype = "" if array.dtype in (np.float64, np.int64, bool) else f", np.{array.dtype.name}"
    return f"np.array({array.tolist()!r}{dtype})".replace("inf", "np.inf")


def _repeated(array):
    """Whether several of its entries are one in memory, so that nobody can write into it."""
    return any(n > 1 and not step for n, step in zip(array.shape, array.strides))


def _of_arrays(args):
    """Whether a sign between these does what NumPy's function does: of two plain numbers, or of a list, it does not."""
    kinds = [type(a.value) if type(a) is Traced else type(a) for a in args]
    return any(issubclass(kind, (np.ndarray, np.generic)) for kind in kinds) and not {list, tuple} & {*kinds}


def _gemm(args):
    """Whether np.dot, sooner at BLAS than np.matmul, gives the same bits: of two matrices, none a row or a column."""
    values = [a.value if isinstance(a, Traced) else a for a in args]
    return all(x.ndim == 2 and 1 not in x.shape and x.dtype == values[0].dtype and x.dtype.char in "fd" for x in values)


def _path(function):
    if function is operator.abs:        # of a number of Python's
        return "abs"
    module = getattr(function, "__module__", None) or "numpy"
    if isinstance(getattr(function, "__self__", None), np.ufunc):
        return f"np.{function.__self__.__name__}.{function.__name__}"
    return f"{'np.linalg' if module == 'numpy.linalg' else 'np'}.{function.__name__}"


def _pooled(function, memory):
    """`function` with memory that is kept between its calls; calls at the same time have memory of their own."""
    pool = []

    def run(*args):
        mine = pool.pop() if pool else memory()
        found = function(*args, mine)
        pool.append(mine)
        return found
    return run if memory else function


def _group(node):
    return (node.why[4], node.why[2]) if isinstance(node.why, tuple) else None


def _comment(node, before, several):
    """The row that a line comes from, with the formula of its rule where a new one begins."""
    if not isinstance(node.why, tuple):
        return ""
    kind, row, i, _, _ = node.why
    new = before is None or before.why is None or _group(before) != _group(node)
    if kind == "sum":
        return "two paths meet: what they bring adds up"
    if kind == "fit":
        return f"{row.name}: what was broadcast is summed"
    if kind == "run":
        return row.name if several[_group(node)] > 1 else ""
    if kind == "push":
        return f"{row.name}, its tangent"
    formula = _formula(row.rule(i)) if new else ""
    return row.name + (f": {formula}" if formula else ", backward" * new)


def _formula(rule):
    """The comment beside a rule, where it stands."""
    code = getattr(rule, "__code__", None)
    if code is None:
        return ""
    line = linecache.getline(code.co_filename, code.co_firstlineno)
    return line.partition("#")[2].strip()
