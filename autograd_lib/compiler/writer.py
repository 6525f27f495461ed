"""A program as Python source: one NumPy call a line."""

import builtins
import keyword
import operator
import re
from collections import Counter

import numpy as np

from .. import ops
from ..tape import traced_in
from .plan import LARGE, UFUNCS, masked, names_but, needed, placed, root, ufunc
from .traced import Traced, mapped, value_of

_SIGNS = {
    np.add: "+",
    np.subtract: "-",
    np.multiply: "*",
    np.true_divide: "/",
    np.matmul: "@",
    operator.pow: "**",
    np.greater: ">",
    np.greater_equal: ">=",
    np.less: "<",
    np.less_equal: "<=",
    np.equal: "==",
    np.not_equal: "!=",
    np.bitwise_and: "&",
    np.bitwise_or: "|",
    np.bitwise_xor: "^",
    np.remainder: "%",
    np.floor_divide: "//",
    np.negative: "-",
    np.invert: "~",
}
_SIGNS |= {function: _SIGNS[uf] for function, uf in UFUNCS.items()}
_REDUCTIONS = {ops.sum: "add", ops.mean: "add", ops.max: "maximum", ops.min: "minimum"}


class _Code(str):
    """A piece of source: so Python itself writes the tuples, lists and dicts that it lies in."""

    __repr__ = str.__str__


class Writer:
    """Writes functions of the lines of a trace, nothing that is not needed.

    names : what Traced are called, by their order
    space : what the names in the source mean that it does not define: constants, and rows that are the learner's
    """

    def __init__(self, names, name):
        self.names, self.space, self.header, self.texts, self.said = names, {}, {}, [], {}
        self.name = identifier(name)
        self.taken = {
            "np",
            "ops",
            "memory",
            *dir(builtins),
            *[self.name + end for end in ("_memory", "_backward", "_backward_memory")],
        }
        self.memory, self.constants, self.numbers = (names_but(self.taken, stem) for stem in "mct")

    def function(self, end, inputs, returned, saved=None, known=frozenset()):
        """Write one of `inputs`: it returns what is `returned`, Traced and constants in tuples, lists and dicts; and
        beside it `saved`, if that is given. Lines of which the order is `known` are computed elsewhere."""
        kept = [*traced_in(returned), *(saved or ())]
        lines = needed(kept, known)
        memory, out = placed(lines, kept, self.memory)
        self.readers = Counter(
            x.order for x in [*kept, *kept, *[x for node in lines for x in node.reads]]
        )
        last = {_rule(node): node for node in lines if node.origin}
        name, before = self.name + end, None
        if memory:
            inside = ",\n            ".join(memory.values())
            self.texts.append(f"def {name}_memory():\n    return ({inside},)\n")
        parameters = [self.name_of(x) for x in inputs] + ["memory=None"] * bool(memory)
        text = [f"def {name}({', '.join(parameters)}):"]
        if memory:
            text.append(
                f"    {', '.join(memory)}{',' * (len(memory) == 1)} = memory or {name}_memory()"
            )
        for node in lines:
            if not self.inlined(node):
                place = out.get(node.order)
                place = self.name_of(place) if isinstance(place, Traced) else place
                line = f"    {self.name_of(node, last)} = {self.expression(node, place)}"
                text.append(
                    f"{line:<59} # {node.origin[2 + (_rule(node) == before)]}"
                    if node.origin
                    else line
                )
                before = _rule(node)
        taken = {root(x).order for x in inputs}

        def own(x):
            """A result, as an array that nobody else has."""
            source, value = root(x).order if isinstance(x, Traced) else None, value_of(x)
            shared = isinstance(value, np.ndarray) and (
                source is None
                or source in taken
                or any(n > 1 and not step for n, step in zip(value.shape, value.strides))
            )  # entries that are one in memory
            taken.add(source)
            return _Code(self.say(x) + ".copy()" * shared)

        whole = repr(mapped(own, returned))
        whole = whole[1:-1] if saved is None and whole.startswith("(") and whole != "()" else whole
        text.append(f"    return {whole}" + ("" if saved is None else f", {self.say(saved)}"))
        self.texts.append("\n".join(text) + "\n")

    def done(self):
        """The source, and its functions by name."""
        rows = any(value.startswith("ops.") for value in self.header.values())
        imports = "import numpy as np\n" + "\nfrom autograd_lib import ops\n" * rows
        header = "".join([f"{name} = {value}\n" for name, value in self.header.items()])
        source = imports + ("\n" + header if header else "") + "\n\n" + "\n\n".join(self.texts)
        space = dict(self.space)
        exec(compile(source, f"<{self.name}, compiled>", "exec"), space)
        return source, {
            name: _pooled(f, space.get(name + "_memory"))
            for name, f in space.items()
            if name.startswith(self.name)
        }

    # --- A line -----------------------------------------------------------------------------------------------

    def inlined(self, node):
        """Whether it stands in the line that reads it: a transpose that is read once."""
        return (
            node.op is ops.transpose
            and np.ndim(node._value)
            and self.readers[node.order] == 1
            and node.order not in self.names
            and node.order not in self.said
            and getattr(node.inputs[0], "op", None) is not ops.transpose
        )

    def name_of(self, node, last=None):
        """Its name in the source: the learner's, or g_x for the gradient of x, or t and a number."""
        if node.order not in self.said:
            name = self.names.get(node.order)
            of = (
                node.origin[1]
                if node.op and node.origin and last and last.get(_rule(node)) is node
                else None
            )
            of = (
                of.inputs[0]
                if isinstance(of, Traced) and of.op and of.op.function is np.float64
                else of
            )
            if (
                not name
                and isinstance(of, Traced)
                and (of.order in self.said or of.order in self.names)
            ):
                name = f"g_{self.name_of(of)}"
            self.said[node.order] = self.free(name) if name else next(self.numbers)
        return self.said[node.order]

    def expression(self, node, out):
        """What stands after the equals sign."""
        function, args, params = node.op.function, node.inputs, node.params
        said = [self.say(a, node) for a in args]
        first = value_of(args[0]) if args else None
        if out:
            called = "np.dot" if ufunc(node) is np.matmul and _gemm(args) else self.called(node.op)
            return f"{called}({', '.join([*said, f'out={out}'])})"
        if node.op is ops.where and not masked(node):
            return f"np.where({', '.join(said)})"
        if function in _SIGNS and not params:
            said[0] = f"({said[0]})" if said[0].startswith("-") else said[0]
            return (
                f" {_SIGNS[function]} ".join(said) if len(said) > 1 else _SIGNS[function] + said[0]
            )
        if node.op is ops.transpose and np.ndim(first):
            return said[0] + _transposed(first, params.get("axes"))
        if node.op is ops.getitem:
            return f"{said[0]}[{self.index(params['index'])}]"
        if node.op is ops.astype and isinstance(first, (np.ndarray, np.generic)):
            return f"{said[0]}.astype({self.say(np.dtype(params['dtype']))})"
        if node.op is ops.reshape and isinstance(first, np.ndarray):
            return f"{said[0]}.reshape({self.say(params['shape'])})"
        if (
            node.op in _REDUCTIONS
            and isinstance(first, np.ndarray)
            and first.dtype.char in "fd"
            and first.size
        ):
            axis, keep = params.get("axis"), ", keepdims=True" * bool(params.get("keepdims"))
            if first.nbytes < LARGE:
                named = (
                    f"axis={self.say(axis)}{keep}" if axis is not None else keep.removeprefix(", ")
                )
                return f"{said[0]}.{node.op.name}({named})"
            mean = f" / {first.size // max(node.size, 1)}" * (node.op is ops.mean)
            return (
                f"np.{_REDUCTIONS[node.op]}.reduce({said[0]}, axis={self.say(axis)}{keep})" + mean
            )
        named = [f"{name}={self.say(value)}" for name, value in params.items()]
        return f"{self.called(node.op)}({', '.join(said + named)})"

    def called(self, row):
        """The name of a row's function: NumPy's, the table's, which the header gives, or one of the learner's."""
        function = UFUNCS.get(row.function, row.function)
        name = getattr(function, "__name__", "")
        if vars(np).get(name) is function:
            return f"np.{name}"
        if id(row) not in self.said:
            self.said[id(row)] = name = self.free(row.name)
            if ops.ROWS.get(row.name) is row:
                self.header[name] = f'ops.ROWS["{row.name}"].function'
            else:
                self.space[name] = function
        return self.said[id(row)]

    def free(self, name):
        """`name`, or one like it that nothing has."""
        name = identifier(name)
        if name in self.taken:
            return next(names_but(self.taken, name + "_", 2))
        self.taken.add(name)
        return name

    def say(self, x, line=None):
        """A value as it stands in the source, in a `line` as one of its arguments."""
        if isinstance(x, Traced):
            return self.expression(x, None) if x.op and self.inlined(x) else self.name_of(x)
        if isinstance(x, (list, tuple)):
            return repr(mapped(lambda part: _Code(self.say(part)), x))
        if (
            isinstance(x, np.dtype)
            or isinstance(x, type)
            and issubclass(x, (np.generic, int, float))
        ):
            return f"np.{np.dtype(x).name}" if np.dtype(x) != bool else "bool"
        if isinstance(x, np.generic) and type(x) is not np.longdouble:
            weak = (
                line is not None
                and ufunc(line)
                and x.dtype == line.dtype
                and any(
                    isinstance(a, Traced) and a.ndim and a.dtype == x.dtype for a in line.inputs
                )
            )
            return (
                self.say(x.item())
                if weak or x.dtype == bool
                else f"np.{x.dtype.name}({self.say(x.item())})"
            )
        if isinstance(x, float) and not np.isfinite(x):
            return f'float("{x}")'
        if isinstance(x, np.ndarray):
            return self.constant(x) if x.ndim else self.say(x[()], line)
        return "..." if x is ... else repr(x)

    def index(self, index):
        """What stands between the brackets."""

        def part(i):
            if not isinstance(i, slice):
                return self.say(i)
            ends = ["" if end is None else self.say(end) for end in (i.start, i.stop)]
            return ":".join(ends) + (f":{self.say(i.step)}" if i.step is not None else "")

        if isinstance(index, tuple) and index:
            return ", ".join(map(part, index)) + "," * (len(index) == 1)
        return part(index)

    def constant(self, array):
        """The name of an array that is the same in every call."""
        if id(array) not in self.said:
            self.said[id(array)] = name = next(self.constants)
            if text := _literal(array):
                self.header[name] = text
            else:
                self.space[name] = array.copy()
        return self.said[id(array)]


def identifier(name):
    """`name` as Python takes it."""
    name = name if name.isidentifier() else re.sub(r"[^0-9A-Za-z_]", "_", name)
    name = name if name.isidentifier() else f"_{name}"
    return name + "_" * keyword.iskeyword(name)


def _literal(array):
    """An array as source, or None: it may be too long, or NaN."""
    if array.dtype == np.int64 and np.array_equal(array, np.arange(len(array))):
        return f"np.arange({len(array)})"
    if 0 < array.size <= 64 and np.isfinite(array).all():
        dtype = "" if array.dtype in (np.float64, np.int64, bool) else f", np.{array.dtype.name}"
        return f"np.array({array.tolist()!r}{dtype})"


def _transposed(x, axes):
    """The method that does it: `.T`, `.mT`, or transpose."""
    axes = [*range(x.ndim)][::-1] if axes is None else [int(axis) % x.ndim for axis in axes]
    straight = [*range(x.ndim)]
    if axes == straight[::-1]:
        return ".T"
    return ".mT" if axes == [*straight[:-2], *straight[:-3:-1]] else f".transpose({axes})"


def _gemm(args):
    """Whether np.dot, sooner at BLAS than np.matmul, gives the same bits: of two matrices, none a row or a column."""
    values = [value_of(a) for a in args]
    return all(
        x.ndim == 2 and 1 not in x.shape and x.dtype == values[0].dtype and x.dtype.char in "fd"
        for x in values
    )


def _pooled(function, memory):
    """`function` with memory that is kept between its calls; calls at the same time have memory of their own."""
    pool = []

    def run(*args):
        mine = pool.pop() if pool else memory()
        found = function(*args, mine)
        pool.append(mine)
        return found

    return run if memory else function


def _rule(node):
    """Which call of a rule a line belongs to."""
    return node.origin and node.origin[0]
