"""A program as Python source: one NumPy call a line.

Every Traced gets a name: the user's, `g_x` for the gradient of `x`, or t1, t2, … Buffers are m1,
m2, …, constant arrays without a name of the user's c1, c2, …
"""

import builtins
import keyword
import operator
import re
from collections import Counter

import numpy as np

from .. import ops
from ..rows import traced_in
from ..transforms import _float64 as FLOAT64
from .plan import (
    LARGE,
    UFUNCS,
    alias_root,
    assign_buffers,
    fresh_names,
    live_lines,
    masked,
    ufunc,
)
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
    """A piece of source. Its repr is itself, so repr writes the tuples and lists around it."""

    __repr__ = str.__str__


class Writer:
    """Write the functions of a program.

    Parameters
    ----------
    trace : Trace
        What was recorded. Its names are used where they are free.
    name : str
        The name of the forward function.
    """

    def __init__(self, trace, name):
        self.trace, self.name = trace, identifier(name)
        # Of Traced, rows and constant arrays, by creation number or id: their names in the source.
        self.named, self.texts = {}, []
        # Assignments above the functions; and what the source cannot write: rows and long arrays.
        self.header, self.namespace = [], {}
        suffixes = "_memory", "_backward", "_backward_memory"
        reserved = {"np", "ops", "memory", *dir(builtins)}
        self.used_names = reserved | {self.name + suffix for suffix in suffixes}
        self.buffers, self.constants, self.numbers = (
            fresh_names(self.used_names, stem) for stem in "mct"
        )

    def function(self, suffix, inputs, returned, saved=None, known=frozenset(), checks=()):
        """Write one function.

        Parameters
        ----------
        suffix : str
            Its name is the program's with this at the end.
        inputs : list of Traced
            Its parameters.
        returned : object
            Traced and constants, in tuples, lists and dicts.
        saved : tuple of Traced, optional
            Returned beside `returned`, for the backward functions.
        known : set of int
            The creation numbers of lines that are computed elsewhere.
        checks : list of Traced
            Lines that stay although no other line reads them.
        """
        kept = [*traced_in(returned), *(saved or ())]
        lines = live_lines([*kept, *checks], known)
        buffers, out = assign_buffers(lines, kept, self.buffers)
        reads = [x for node in lines for x in node.reads]
        self.readers = Counter(x.number for x in [*kept, *kept, *reads])
        last = {node.origin.call: node for node in lines}
        name, before = self.name + suffix, None
        parameters = [self.name_of(x) for x in inputs]
        text = []
        if buffers:
            parameters.append("memory=None")
            inside = ",\n            ".join(buffers.values())
            self.texts.append(f"def {name}_memory():\n    return ({inside},)\n")
            text = [
                f"    {', '.join(buffers)}{',' * (len(buffers) == 1)} = memory or {name}_memory()"
            ]
        for node in lines:
            if not self.is_inlined(node):
                place = out.get(node.number)
                place = self.name_of(place) if isinstance(place, Traced) else place
                line = f"    {self.name_of(node, last)} = {self.expression(node, place)}"
                note = origin.rest if (origin := node.origin).call == before else origin.first
                text.append(f"{line:<59} # {note}" if note else line)
                before = node.origin.call
        result = self.returned_source(returned, inputs)
        bare = result[1:-1] if result.startswith("(") and result != "()" else result
        result = bare if saved is None else f"{result}, {self.value_source(saved)}"
        header = f"def {name}({', '.join(parameters)}):"
        self.texts.append("\n".join([header, *text, f"    return {result}"]) + "\n")

    def returned_source(self, returned, inputs):
        """Return the source of what a function returns: arrays that nothing else holds."""
        held = {alias_root(x).number for x in inputs}

        def source(x):
            root, value = alias_root(x).number if isinstance(x, Traced) else None, value_of(x)
            shared = isinstance(value, np.ndarray) and (
                root is None
                or root in held
                # Several entries of a broadcast array are one in memory.
                or any(n > 1 and not step for n, step in zip(value.shape, value.strides))
            )
            held.add(root)
            return _Code(self.value_source(x) + ".copy()" * shared)

        return repr(mapped(source, returned))

    def build(self):
        """Return the source, and its functions by name."""
        uses_table = any("= ops." in text for text in self.header)
        imports = "import numpy as np\n" + "\nfrom autograd_lib import ops\n" * uses_table
        header = "".join([f"{text}\n" for text in self.header])
        source = imports + ("\n" + header if header else "") + "\n\n" + "\n\n".join(self.texts)
        namespace = {}
        exec(compile(source, f"<{self.name}, compiled>", "exec"), namespace)
        namespace |= self.namespace  # arrays themselves, where the source has a copy
        functions = {
            name: with_buffer_pool(f, namespace.get(name + "_memory"))
            for name, f in namespace.items()
            if name.startswith(self.name)
        }
        return source, functions

    # --- A line ---------------------------------------------------------------------------------

    def is_inlined(self, node):
        """Return True for a transpose that is read once: it stands in the line that reads it."""
        return (
            node.op is ops.transpose
            and np.ndim(node._value)
            and self.readers[node.number] == 1
            and node.number not in self.trace.names
            and node.number not in self.named
            and getattr(node.inputs[0], "op", None) is not ops.transpose
        )

    def name_of(self, node, last=None):
        """Return the name of a Traced; `last` are the last lines of the calls of rules."""
        if node.number not in self.named:
            name = self.trace.names.get(node.number)
            if not name and last and last[node.origin.call] is node:
                x = node.origin.of
                if isinstance(x, Traced) and x.op is FLOAT64:
                    x = x.inputs[0]
                if isinstance(x, Traced) and (
                    x.number in self.named or x.number in self.trace.names
                ):
                    name = f"g_{self.name_of(x)}"
            self.named[node.number] = self.unique_name(name) if name else next(self.numbers)
        return self.named[node.number]

    def expression(self, node, out):
        """Return the right-hand side of the assignment."""
        function, args, params = node.op.function, node.inputs, node.params
        texts = [self.value_source(a, node) for a in args]
        first = value_of(args[0]) if args else None
        if out:
            product = ufunc(node) is np.matmul and _is_gemm(args)
            name = "np.dot" if product else self.function_name(node.op)
            return f"{name}({', '.join([*texts, f'out={out}'])})"
        if node.op is ops.where and not masked(node):
            return f"np.where({', '.join(texts)})"
        if function in _SIGNS and not params:
            texts[0] = f"({texts[0]})" if texts[0].startswith("-") else texts[0]
            sign = _SIGNS[function]
            return f" {sign} ".join(texts) if len(texts) > 1 else sign + texts[0]
        if node.op is ops.transpose and np.ndim(first):
            return texts[0] + _transpose_source(first, params.get("axes"))
        if node.op is ops.getitem:
            return f"{texts[0]}[{self.index_source(params['index'])}]"
        if node.op is ops.astype and isinstance(first, (np.ndarray, np.generic)):
            return f"{texts[0]}.astype({self.value_source(np.dtype(params['dtype']))})"
        if node.op is ops.reshape and isinstance(first, np.ndarray):
            return f"{texts[0]}.reshape({self.value_source(params['shape'])})"
        floats = isinstance(first, np.ndarray) and first.dtype.char in "fd" and first.size
        if node.op in _REDUCTIONS and floats:
            axis, keep = params.get("axis"), ", keepdims=True" * bool(params.get("keepdims"))
            axis_text = self.value_source(axis)
            if first.nbytes < LARGE:
                named = f"axis={axis_text}{keep}" if axis is not None else keep.removeprefix(", ")
                return f"{texts[0]}.{node.op.name}({named})"
            mean = f" / {first.size // max(node.size, 1)}" * (node.op is ops.mean)
            return f"np.{_REDUCTIONS[node.op]}.reduce({texts[0]}, axis={axis_text}{keep}){mean}"
        named = [f"{name}={self.value_source(value)}" for name, value in params.items()]
        return f"{self.function_name(node.op)}({', '.join(texts + named)})"

    def function_name(self, row):
        """Return the name of a row's function: NumPy's, the table's, or the user's."""
        function = UFUNCS.get(row.function, row.function)
        name = getattr(function, "__name__", "")
        for module, prefix in ((np, "np."), (builtins, "")):
            if vars(module).get(name) is function:
                return prefix + name
        if id(row) not in self.named:
            self.named[id(row)] = name = self.unique_name(row.name)
            if ops.ROWS.get(row.name) is row:
                self.header.append(f'{name} = ops.ROWS["{row.name}"].function')
            else:
                self.namespace[name] = function
        return self.named[id(row)]

    def unique_name(self, name):
        """Return `name`, or one like it that is not used yet."""
        name = identifier(name)
        if name in self.used_names:
            return next(fresh_names(self.used_names, name + "_", 2))
        self.used_names.add(name)
        return name

    def value_source(self, x, line=None):
        """Return the source of a value, as an argument of `line` if that is given."""
        if isinstance(x, Traced):
            return self.expression(x, None) if x.op and self.is_inlined(x) else self.name_of(x)
        if isinstance(x, (list, tuple)):
            return repr(mapped(lambda part: _Code(self.value_source(part)), x))
        number = isinstance(x, type) and issubclass(x, (np.generic, int, float))
        if isinstance(x, np.dtype) or number:
            return f"np.{np.dtype(x).name}" if np.dtype(x) != bool else "bool"
        named = type(x) is float and id(x) in self.trace.constant_names
        if named or isinstance(x, np.ndarray) and x.ndim or id(x) in self.trace.held:
            return self.constant(x)
        x = x[()] if isinstance(x, np.ndarray) else x
        if isinstance(x, np.generic) and type(x) is not np.longdouble:
            # Beside an array of the same dtype a Python number gives the same result.
            weak = (
                line is not None
                and ufunc(line)
                and x.dtype == line.dtype
                and any(
                    isinstance(a, Traced) and a.ndim and a.dtype == x.dtype for a in line.inputs
                )
            )
            text = self.value_source(x.item())
            return text if weak or x.dtype == bool else f"np.{x.dtype.name}({text})"
        if isinstance(x, float) and not np.isfinite(x):
            return f'float("{x}")'
        return "..." if x is ... else repr(x)

    def index_source(self, index):
        """Return what stands between the brackets."""

        def part(i):
            if not isinstance(i, slice):
                return self.value_source(i)
            ends = ["" if end is None else self.value_source(end) for end in (i.start, i.stop)]
            return ":".join(ends) + (f":{self.value_source(i.step)}" if i.step is not None else "")

        if isinstance(index, tuple) and index:
            return ", ".join(map(part, index)) + "," * (len(index) == 1)
        return part(index)

    def constant(self, x):
        """Return the name of an array or float that the function used and that is not an input."""
        key = id(x)
        if key not in self.named:
            name = self.trace.constant_names.get(id(x))
            self.named[key] = name = self.unique_name(name) if name else next(self.constants)
            self.header.append(_definition(name, x))
            array = self.trace.held.get(id(x))
            if array is not None and array.tobytes() == x.tobytes():
                x = array  # it holds what it held when it was used, so it is read at every call
            self.namespace[name] = x
        return self.named[key]


def identifier(name):
    """Return `name` as Python takes it."""
    name = name if name.isidentifier() else re.sub(r"[^0-9A-Za-z_]", "_", name)
    name = name if name.isidentifier() else f"_{name}"
    return name + "_" * keyword.iskeyword(name)


def _definition(name, x):
    """Return the line that defines a constant; a comment if it is long, empty, or holds nan."""
    if not isinstance(x, np.ndarray):
        return f"{name} = " + (repr(x) if np.isfinite(x) else f'float("{x}")')
    if x.ndim and x.dtype == np.int64 and np.array_equal(x, np.arange(len(x))):
        return f"{name} = np.arange({len(x)})"
    if 0 < x.size <= 64 and np.isfinite(x).all():
        dtype = "" if x.dtype in (np.float64, np.int64, bool) else f", np.{x.dtype.name}"
        return f"{name} = np.array({x.tolist()!r}{dtype})"
    return f"# {name}: an array of shape {x.shape} and dtype {x.dtype}"


def _transpose_source(x, axes):
    """Return the method that transposes `x`: `.T`, `.mT`, or `.transpose(…)`."""
    axes = [*range(x.ndim)][::-1] if axes is None else [int(axis) % x.ndim for axis in axes]
    straight = [*range(x.ndim)]
    if axes == straight[::-1]:
        return ".T"
    return ".mT" if axes == [*straight[:-2], *straight[:-3:-1]] else f".transpose({axes})"


def _is_gemm(args):
    """Return True if np.dot gives the bits of np.matmul, and reaches BLAS sooner.

    That is so for two matrices of one floating dtype, neither of them a row or a column.
    """
    values = [value_of(a) for a in args]
    return all(
        x.ndim == 2 and 1 not in x.shape and x.dtype == values[0].dtype and x.dtype.char in "fd"
        for x in values
    )


def with_buffer_pool(function, allocate):
    """Return `function` with buffers that are kept between its calls.

    Calls that run at the same time, in several threads, have buffers of their own.
    """
    if allocate is None:
        return function
    pool = []

    def run(*args):
        buffers = pool.pop() if pool else allocate()
        result = function(*args, buffers)
        pool.append(buffers)
        return result

    return run
