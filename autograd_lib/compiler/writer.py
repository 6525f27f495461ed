"""Write a program as Python source, with one NumPy call in each line.

Every Traced gets a name: the name that the user's variable has, or `g_x` for the gradient of `x`,
or else t1, t2, … Buffers are called m1, m2, …, and constant arrays that have no name in the user's
code are called c1, c2, …
"""

import builtins
import keyword
import operator
import re
from collections import Counter, defaultdict
from itertools import count
from unicodedata import normalize

import numpy as np

from .. import ops
from ..rows import traced_in
from .plan import UFUNCS, VIEWS, assign_buffers, is_user_op, ufunc
from .signature import STATIC
from .traced import PYTHON_NUMBERS, ZERO_GRADIENT, Traced, mapped, value_of

SIGNS = {
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
# Python's operators have the signs of their ufuncs. np.power has none: x ** 0.5 is √x in NumPy.
SIGNS |= {function: SIGNS[f] for function, f in (UFUNCS | ZERO_GRADIENT).items() if f in SIGNS}
METHODS = {ops.sum, ops.mean, ops.max, ops.min, ops.astype, ops.reshape, ops.transpose}
POSITIONAL = {"dtype", "shape", "axes"}  # keywords of rows that the methods take by position
MOST_ENTRIES = 64  # entries of the largest constant array that is written into the source


class _Code(str):
    """A piece of source code whose repr has no quotes.

    So the repr of a tuple or list of such pieces is source code too.
    """

    __repr__ = str.__str__


class Writer:
    """Write the functions of a program.

    Parameters
    ----------
    trace : Trace
        The recorded call, whose names for values are used unless they are already taken.

    Attributes
    ----------
    name : str
        The name of the forward function.
    """

    def __init__(self, trace):
        self.trace = trace
        # Names in the source, by the creation number of a Traced or the id of a row or constant array.
        self.named, self.texts = {}, []
        # Imports and assignments above the functions; and objects that the source cannot write.
        self.imports, self.header, self.namespace = ["import numpy as np"], [], {}
        # From each name in use to the last number that was added to it.
        self.used_names = Counter({"np", "ops", *dir(builtins)})
        self.counts = defaultdict(lambda: count(1))
        self.name = self.unique_name(trace.name)

    def function(self, name, inputs, lines, returned, saved=None):
        """Add one function to the source.

        Parameters
        ----------
        name : str
            The name of the function.
        inputs : list of Traced
            The parameters of the function.
        lines : list of Traced
            The lines of its body.
        returned : object
            The result: Traced and constants, in tuples, lists and dicts.
        saved : tuple of Traced, optional
            Values for the backward functions. If they are given, the function returns the pair
            (returned, saved).
        """
        results = [*traced_in(returned), *(saved or ())]
        buffers, out = assign_buffers(lines, results, lambda: self.numbered("m"))
        reads = [x for node in lines for x in node.reads]
        # Results count twice, so that none is inlined: each keeps its name and its comment.
        self.readers = Counter(x.number for x in [*results, *results, *reads])
        written = [node for node in lines if not self.is_inlined(node)]
        # From each call of a rule to its first or last line. The key None is for lines of no rule.
        first = {node.origin.call: node for node in reversed(written)}
        last = {node.origin.call: node for node in written}
        text = [f"def {name}({', '.join(map(self.name_of, inputs))}):"]
        if buffers:
            # Calls that run at the same time, in several threads, have buffers of their own.
            pool = self.unique_name(f"{name}_memory")
            self.header.append(f"{pool} = []")
            memory = f"{', '.join(buffers)},"
            text.append(f"    {memory} = {pool}.pop() if {pool} else (")
            text += [*(f"        {allocation}," for allocation in buffers.values()), "    )"]
        for node in written:
            is_first, is_last = (ends[node.origin.call] is node for ends in (first, last))
            line = (
                f"    {self.name_of(node, is_last)} = {self.expression(node, out.get(node.number))}"
            )
            comment = node.origin.first_comment if is_first else node.origin.comment
            text.append(f"{line:<59} # {comment}" if comment else line)
        if buffers:
            text.append(f"    {pool}.append(({memory}))")
        # The caller gets arrays that nothing else holds. A row of the user may keep what it returns.
        # A view that is its own root is one of a constant; or it was a copy in the recorded call,
        # and may be a view of an input in another.
        result = self.returned_source(
            returned,
            [
                *inputs,
                *(n for n in lines if is_user_op(n.op) or n.op in VIEWS and n.root is n),
            ],
        )
        if saved is not None:
            # The caller may write into the results before it runs the backward pass. Of an input it
            # gets a copy anyway, and a Python number cannot be written into.
            given = {
                z.root.number
                for z in traced_in(returned)
                if z.root.op and type(z._value) not in PYTHON_NUMBERS
            }
            result += ", " + repr(
                tuple(
                    _Code(self.value_source(x) + ".copy()" * (x.root.number in given))
                    for x in saved
                )
            )
        elif result.startswith("(") and result != "()":
            result = result[1:-1]  # `return` needs no parentheses around a tuple
        self.texts.append("\n".join([*text, f"    return {result}\n"]))

    def returned_source(self, returned, held):
        """Return the source of the result `returned` of a function.

        A result is copied if its memory also belongs to an earlier result or to a Traced in `held`.
        """
        held = {None, *(x.root.number for x in held)}  # None: a constant, which the program keeps

        def source(x):
            """Return the source of one result, with `.copy()` if its memory is used elsewhere."""
            root, value = x.root.number if isinstance(x, Traced) else None, value_of(x)
            shared = (
                # Broadcast arrays, whose entries may be one in memory, are read-only.
                (root in held or not value.flags.writeable)
                if isinstance(value, np.ndarray)
                # A Tensor of one number may hold it as an array of shape () at a later call, and so
                # would a view of it, except for x[()], which is a number again.
                else isinstance(value, np.generic)
                and root in held - {None}
                and x.root.op in {None, *VIEWS} - {ops.getitem}
            )
            held.add(root)  # a second result in the same memory is copied
            return _Code(self.value_source(x) + ".copy()" * shared)

        return repr(mapped(source, returned, lambda key: _Code(self.value_source(key))))

    def build(self):
        """Run the source, and return (source, namespace).

        The namespace is a dict of the functions and constants of the program.
        """
        header = "\n".join([*self.imports, "", *self.header]).rstrip()
        source = f"{header}\n\n\n" + "\n\n".join(self.texts)
        exec(compile(source, f"<{self.name}, compiled>", "exec"), self.namespace)
        return source, self.namespace

    # --- A line ---------------------------------------------------------------------------------

    def is_inlined(self, node):
        """Return True if `node` is a transpose to be written inside the only line that reads it.

        A transpose that already has a name stays a separate line. The name is that of a variable of
        the user, or that of a parameter if the forward function has saved the transpose. The
        transpose of a transpose also stays a separate line, because a long chain of transposes
        inside each other would exceed the recursion limit.
        """
        return (
            node.op is ops.transpose
            and self.readers[node.number] == 1
            and node.number not in self.trace.names
            and node.number not in self.named
            and getattr(node.inputs[0], "op", None) is not ops.transpose
        )

    def name_of(self, node, is_last=False):
        """Return the name of `node` in the source. The name is chosen at the first call.

        If a variable of the user holds `node`, its name is used. The last line in each call of a
        rule computes the gradient of an input of the row, `node.origin.of`, and is called g_x if
        the input is called x. All other lines are called t1, t2, …

        Parameters
        ----------
        node : Traced
            An input or a line.
        is_last : bool, default False
            True if `node` is the last line in a call of a rule.
        """
        if node.number not in self.named:
            # `of` is None for a line of the user, and an array for a constant argument of the row.
            x = self.named.get(getattr(node.origin.of, "number", None)) if is_last else None
            name = self.trace.names.get(node.number) or x and f"g_{x}"
            self.named[node.number] = self.unique_name(name) if name else self.numbered("t")
        return self.named[node.number]

    def expression(self, node, out=None):
        """Return the source of the call that computes `node`.

        `out` is the name of the buffer that the call writes into, or None.
        """
        function, args, params = node.op.function, node.inputs, node.params
        texts = [self.value_source(a, node) for a in args]
        if out:  # a ufunc without keywords, or the table's `where`: `takes_out` allows no others
            return f"{self.function_name(node.op)}({', '.join([*texts, f'out={out}'])})"
        # A sign between Python numbers gives a Python number, which a ufunc of them does not.
        *python_args, python = [type(value_of(x)) in PYTHON_NUMBERS for x in (*args, node)]
        if function in SIGNS and not params and python == all(python_args):
            # -2 ** x would be -(2 ** x).
            texts[0] = f"({texts[0]})" if texts[0].startswith("-") else texts[0]
            sign = SIGNS[function]
            return f" {sign} ".join(texts) if len(texts) > 1 else sign + texts[0]
        if node.op is ops.getitem:
            return f"{texts[0]}[{self.index_source(params['index'])}]"
        if node.op is ops.where:  # without `out` NumPy's own gives the same, and is easier to read
            return f"np.where({', '.join(texts)})"
        # x.sum() reads better than np.sum(x), but a Python number has no methods.
        method = node.op in METHODS and isinstance(value_of(args[0]), (np.ndarray, np.generic))
        # .T reverses all axes, as axes=None and, for a matrix, axes=(1, 0) do.
        if (
            method
            and node.op is ops.transpose
            and (params.get("axes") is None or list(params["axes"]) == [1, 0])
        ):
            return f"{texts[0]}.T"
        for name, value in params.items():
            text = self.value_source(value)
            if not method:
                texts.append(f"{name}={text}")
            # None and False are the defaults of the methods.
            elif value is not None and value is not False:
                texts.append(text if name in POSITIONAL else f"{name}={text}")
        callee = f"{texts.pop(0)}.{node.op.name}" if method else self.function_name(node.op)
        return f"{callee}({', '.join(texts)})"

    def function_name(self, row):
        """Return the name of the function of `row` in the source, such as "np.exp".

        A function that is neither in NumPy nor built into Python is defined at its first use.
        """
        # The table's `add` is operator.add, which takes no `out`, so a program calls np.add.
        function = UFUNCS.get(row.function, row.function)
        # The name alone is not enough: a function of the user may be called "sum".
        name = getattr(function, "__name__", "")
        for module, prefix in ((np, "np."), (builtins, "")):
            if vars(module).get(name) is function:
                return prefix + name
        if id(row) not in self.named:
            self.named[id(row)] = name = self.unique_name(row.name)
            # The row of the user makes an array of whatever its function returns.
            self.namespace[name] = row if is_user_op(row) else function
            if ops.ROWS.get(row.name) is row:  # so that the source runs without `namespace`
                # One import, after NumPy's, however many rows need it.
                self.imports[1:] = ["", "from autograd_lib import ops"]
                self.header.append(f'{name} = ops.ROWS["{row.name}"].function')
        return self.named[id(row)]

    def value_source(self, x, line=None):
        """Return the source of the value `x`.

        If `x` is an argument of the line `line`, a NumPy number may be written as a Python number.
        """
        if isinstance(x, Traced):
            return self.expression(x) if x.op and self.is_inlined(x) else self.name_of(x)
        if isinstance(x, (list, tuple)):
            return repr(  # a namedtuple is written as a tuple
                (list if isinstance(x, list) else tuple)(map(_Code, map(self.value_source, x)))
            )
        if isinstance(x, (np.dtype, type)) and np.dtype(x).isnative and np.dtype(x).kind in "biuf":
            return f"np.{np.dtype(x).name}"
        if type(x) is float and not np.isfinite(x):
            return f'float("{x}")'
        # The item() of a longdouble is a longdouble, but its repr is source.
        if isinstance(x, (np.number, np.bool_)) and type(x) is not np.longdouble:
            # A ufunc of an array of the same dtype gives the same for a Python number.
            weak = (
                line is not None
                and ufunc(line) in SIGNS
                and any(
                    isinstance(a, Traced) and a.ndim and a.dtype == x.dtype for a in line.inputs
                )
            )
            text = self.value_source(x.item())
            return text if weak else f"np.{x.dtype.name}({text})"
        if (
            # The repr of other types, such as that of an enum, is not source. A float that the user
            # has a name for is written by that name.
            type(x) not in {*STATIC, float, slice, np.str_, np.longdouble}
            or type(x) is float
            and id(x) in self.trace.constant_names
        ):
            return self.constant(x)
        return "..." if x is ... else repr(x)

    def index_source(self, index):
        """Return the source of `index`, as it is written between brackets."""
        if isinstance(index, slice):
            ends = [index.start, index.stop] + [index.step] * (index.step is not None)
            return ":".join(["" if end is None else self.value_source(end) for end in ends])
        if isinstance(index, tuple) and index:
            # A tuple inside the tuple keeps its brackets: x[(0, 1), 2] is not x[0, 1, 2].
            return ", ".join(
                self.value_source(part) if isinstance(part, tuple) else self.index_source(part)
                for part in index
            ) + "," * (len(index) == 1)
        return self.value_source(index)

    def constant(self, x):
        """Return the name of a constant `x`, an array or another object that the function used.

        At the first use of `x`, add the value to the namespace, and a definition or a comment to
        the source.
        """
        if id(x) not in self.named:
            original = self.trace.originals.get(id(x), x)
            name, _ = self.trace.constant_names.get(id(original), (None, None))
            self.named[id(x)] = name = self.unique_name(name) if name else self.numbered("c")
            self.namespace[name] = x
            if type(x) is float:
                self.header.append(f"{name} = {x!r}")
            elif (
                # Small enough to read, and equal to what np.array makes of its text: nan is not a
                # name in Python, a list has no shape (0, 2), and np.float64 has no byte order.
                type(x) is np.ndarray
                and x.dtype.kind in "biuf"
                and x.dtype.isnative
                and 0 < x.size <= MOST_ENTRIES
                and np.isfinite(x).all()
            ):
                self.header.append(f"{name} = np.array({x.tolist()}, np.{x.dtype.name})")
            else:
                self.header.append(
                    f"# {name}: an array of shape {x.shape} and dtype {x.dtype}"
                    if isinstance(x, np.ndarray)
                    else f"# {name}: an object of type {type(x).__name__}"
                )
        return self.named[id(x)]

    # --- Names ----------------------------------------------------------------------------------

    def unique_name(self, name):
        """Return `name` as a valid identifier that no earlier call returned.

        A numeric suffix is added to a name that is already used.
        """
        # Python normalises identifiers, so two names may be one in the source.
        name = normalize("NFKC", name)
        # A valid identifier stays as it is, also with letters outside ASCII.
        name = re.sub(r"[^0-9A-Za-z_]", "_", name) if not name.isidentifier() else name
        # `stem` is what a number is added to; a keyword of Python or a digit gets a _ in front.
        name = stem = f"_{name}" if keyword.iskeyword(name) or not name.isidentifier() else name
        while name in self.used_names:
            self.used_names[stem] += 1
            name = f"{stem}_{self.used_names[stem]}"
        self.used_names[name] = 1
        return name

    def numbered(self, letter):
        """Return the next unused name made of `letter` and a number: t1, then t2, and so on."""
        return self.unique_name(f"{letter}{next(self.counts[letter])}")
