"""What has to be as it was for a program of `compile` to be the right one, written out as Python: every call passes it.

The parts of this file: *arguments*, their structure, shapes and dtypes; *what a function closes over*: its variables,
the functions it calls, the attributes that these name.
"""

import sys
from collections import deque
from functools import partial
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType

import numpy as np

from .tape import Primitive, Tensor, as_array, recording
from .trace import Traced, equal


class _Written:
    """A function that is being written, of `lines` and of values that have names."""

    def __init__(self, head, **space):
        self.lines, self.space, self.names = [head], space, {}

    def known(self, value):
        """The name of a value that is not written as text."""
        if id(value) not in self.names:
            self.names[id(value)] = f"k{len(self.names)}"
            self.space[self.names[id(value)]] = value
        return self.names[id(value)]

    def done(self):
        exec("\n".join(self.lines), self.space)
        return self.space[self.lines[0].split()[1].partition("(")[0]]


# --- Arguments --------------------------------------------------------------------------------------------


def flatten(item, leaves):
    """The structure of `item`, hashable, all arrays, Tensors and floats in it being put into `leaves`."""
    kind = type(item)
    if kind is np.ndarray or kind is float or isinstance(item, (Tensor, Traced, np.ndarray, np.generic)):
        leaves.append(item)
        return ...
    if isinstance(item, (list, tuple)):
        return kind, *[flatten(x, leaves) for x in item]
    if kind is dict:
        return kind, *[(name, flatten(x, leaves)) for name, x in item.items()]
    return "is", _Same(item)


def rebuilt(structure, leaves):
    """What was flattened, with the next of `leaves`, an iterator, in each place."""
    if structure is ...:
        return next(leaves)
    kind, *parts = structure
    if kind == "is":
        return parts[0].item
    if kind is dict:
        return {name: rebuilt(part, leaves) for name, part in parts}
    items = [rebuilt(part, leaves) for part in parts]
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


class _Same:
    """A value that is part of a program: the same one, or an equal number or string of the same type."""

    def __init__(self, item):
        self.item = item
        self.by = (type(item), item) if isinstance(item, (int, str, bytes, type(None), complex)) else id(item)

    def __eq__(self, other):
        return self.by == other.by

    def __hash__(self):
        return hash(self.by)


def spec(x):
    """What an argument has to have."""
    if type(x) is np.ndarray:
        return x.shape, x.dtype
    if isinstance(x, Tensor):
        return x.shape, x.dtype, x.requires_grad
    if type(x) is float:
        return float
    as_array(x, "compile: an argument")
    return x.shape, x.dtype


def taking(structure, specs):
    """A function of (args, kwargs) that gives the tuple of their arrays, Tensors and floats if all is as these say,
    and else None."""
    written, leaves, specs = _Written("def taken(args, kwargs):", Tensor=Tensor, ndarray=np.ndarray), [], iter(specs)
    lines, known = written.lines, written.known

    def look(place, structure):
        name = f"x{len(lines)}"
        lines.append(f"    {name} = {place}")
        if structure is ...:
            wanted = next(specs)
            tests = [f"type({name}) is {'float' if wanted is float else 'Tensor' if len(wanted) > 2 else 'ndarray'}"]
            if wanted is not float:
                tests += [f"{name}.shape == {wanted[0]}", f"{name}.dtype is {known(wanted[1])}"]
                tests += [f"{name}._requires_grad is {wanted[2]}", f"not {name}.level"] if len(wanted) > 2 else []
            lines.append(f"    if not ({' and '.join(tests)}): return None")
            leaves.append(name)
        elif structure[0] == "is":
            value = structure[1].item
            same = f"{name} is {known(value)}" if structure[1].by == id(value) else \
                f"{name} == {known(value)} and type({name}) is {known(type(value))}"
            lines.append(f"    if not ({same}): return None")
        else:
            kind, *parts = structure
            keys = [key for key, _ in parts] if kind is dict else range(len(parts))
            lines.append(f"    if type({name}) is not {known(kind)} or len({name}) != {len(parts)}"
                         + f" or list({name}) != {known(list(keys))}" * (kind is dict) + ": return None")
            for key, part in zip(keys, parts):
                look(f"{name}[{known(key) if kind is dict else key}]", part[1] if kind is dict else part)

    look("args", structure[1])
    if structure[2] == (dict,):
        lines.append("    if kwargs: return None")
    else:
        look("kwargs", structure[2])
    lines.append(f"    return ({', '.join(leaves)}{',' * (len(leaves) == 1)})")
    return written.done()


# --- What a function closes over --------------------------------------------------------------------------


class Watched:
    """What `f` closes over.

    `tensors` are (name, Tensor), of which only the name is of interest. `holding` gives the function that says whether
    all is as it was: cells, globals, attributes and items the same, and every array that can be written to equal to a
    copy.
    """

    def __init__(self, f):
        self.names, before = set(), None
        while before != self.names:         # an object may be met before the function that names its attribute
            before = self.names.copy()
            self.written = _Written("def holds():", equal=equal, recording=recording)
            self.known, self.tests, self.tensors, self.seen = self.written.known, {}, [], {}
            self.todo = [("", f)]
            for path, x in self.todo:       # which grows on the way
                self.look(path, x)

    def look(self, path, x):
        plain_value = isinstance(x, (type(None), bool, int, float, str, bytes, complex))
        if id(x) in self.seen or type(x) is Traced or plain_value:
            return
        self.seen[id(x)] = x
        if isinstance(x, Tensor):
            self.tensors.append((path.removeprefix("."), x))
        elif isinstance(x, np.ndarray):
            if x.flags.writeable or x.base is not None:
                self.test(f"equal({self.known(x)}, {self.known(x.copy())})")
        elif isinstance(x, MethodType):
            self.todo.append((path, x.__self__))
            self.todo.append((path, x.__func__))
        elif isinstance(x, partial):
            self.todo += [(path, part) for part in (x.func, x.args, x.keywords)]
        elif isinstance(x, FunctionType):
            for name in self.code(x.__code__):
                if name in x.__globals__ and not installed(x.__globals__.get("__name__") or ""):
                    self.item(f".{name}", x.__globals__, name)
            for name, cell in zip(x.__code__.co_freevars, x.__closure__ or ()):
                try:
                    self.same(f".{name}", f"{self.known(cell)}.cell_contents", cell.cell_contents)
                except ValueError:          # a variable that has no value yet
                    pass
            for name in ("__defaults__", "__kwdefaults__"):
                if getattr(x, name):
                    self.same("", f"{self.known(x)}.{name}", getattr(x, name))
        elif isinstance(x, (staticmethod, classmethod)):
            self.todo.append((path, x.__func__))
        elif isinstance(x, property):
            self.todo.append((path, x.fget))
        elif "__wrapped__" in getattr(x, "__dict__", ()):       # a compiled function, or another's object around one
            self.todo.append((path, x.__wrapped__))
        elif isinstance(x, ModuleType):
            if not installed(x.__name__):
                self.attributes(path, vars(x))
        elif isinstance(x, dict):
            self.test(f"len({self.known(x)}) == {len(x)}")
            for key in list(x):
                self.item(f"{path}.{key}", x, key)
        elif isinstance(x, tuple):
            self.todo += [(f"{path}.{i}", item) for i, item in enumerate(x)]
        elif isinstance(x, (list, deque)):
            self.test(f"len({self.known(x)}) == {len(x)}")
            for i in range(len(x)):
                self.item(f"{path}.{i}", x, i)
        elif isinstance(x, set):
            self.test(f"{self.known(x)} == {self.known(set(x))}")
        elif isinstance(x, type):
            for kind in x.__mro__:
                if installed(kind.__module__):
                    for value in vars(kind).values():
                        if isinstance(value, FunctionType):
                            self.code(value.__code__)
                else:
                    for name, value in vars(kind).items():
                        if name in self.names or name.startswith("__") and callable(value):
                            self.item(f"{path}.{name}", vars(kind), name)
        elif not isinstance(x, Primitive):
            self.todo.append((path, type(x)))
            if hasattr(x, "__dict__"):
                self.test(f"len({self.known(vars(x))}) == {len(vars(x))}")
                self.attributes(path, vars(x))
            for name in self.names:
                if isinstance(getattr(type(x), name, None), MemberDescriptorType) and hasattr(x, name):
                    self.same(f"{path}.{name}", f"{self.known(x)}.{name}", getattr(x, name))

    def code(self, code):
        """The names in it, in the functions within, and its texts: what may be the name of an attribute."""
        texts = [x for x in code.co_consts if isinstance(x, str)]
        found = {*code.co_names, *texts}.union(*[self.code(part) for part in code.co_consts if isinstance(part, CodeType)])
        self.names |= found
        return found

    def attributes(self, path, names):
        for name in self.names & names.keys():
            self.item(f"{path}.{name}", names, name)

    def item(self, path, items, key):
        self.same(path, f"{self.known(items)}[{self.known(key)}]", items[key])

    def same(self, path, place, value):
        """Demand that at `place`, Python text, is `value`, or an equal number, text or array."""
        known = self.known(value)
        equals = f" or equal({place}, {known})" * isinstance(value, (int, float, str, bytes, complex, np.generic,
                                                                     np.ndarray))
        self.test(f"({place} is {known}{equals})")
        self.todo.append((path, value))

    def test(self, text):
        self.tests[text] = None

    def holding(self, tensors):
        """A function that says whether all is as it was, `tensors` keep shape and dtype, and recording is on or off as
        now."""
        for t in tensors:
            shape, dtype, wanted = spec(t)
            self.test(f"{self.known(t)}.shape == {shape} and {self.known(t)}.dtype == {self.known(dtype)} and "
                      f"{self.known(t)}._requires_grad is {wanted}")
        self.written.lines += ["    try:", f"        return recording() is {recording()} \\",
                               *[f"            and {test} \\" for test in self.tests], "            and True",
                               "    except (LookupError, ValueError, AttributeError):", "        return False"]
        return self.written.done()


def installed(module):
    """Whether a module is Python's, or an installed library's: what its functions close over is not watched."""
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return ours(module) or module.partition(".")[0] in sys.stdlib_module_names or "site-packages" in file


def ours(module):
    return module.partition(".")[0] in ("autograd_lib", "numpy")
