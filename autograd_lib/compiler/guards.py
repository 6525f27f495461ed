"""What has to be as it was for a program of `compile` to be the right one, written out as Python: every call passes it.

The parts of this file: *arguments*, their structure, shapes and dtypes; *what a function closes over*: its variables,
the functions it calls, the attributes that these name.
"""

import dis
import os
import pickle
import random
import re
import sys
from array import array
from collections import deque
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from copy import copy
from gc import get_referents
from operator import attrgetter, methodcaller
from types import CellType, CodeType, FunctionType, MemberDescriptorType, ModuleType
from weakref import ref

import numpy as np

from ..tape import Primitive, Tensor, as_array
from ..trace import Traced, Unseen, equal, fixed

LARGE = 1 << 24     # bytes of an array closed over from which on it is said that every call compares them
PLAIN = (type(None), bool, int, float, str, bytes, complex)
# What reaches an attribute by a name that need not stand in the code.
_REFLECTING = {"getattr", "vars", "dir", "__dict__", "__getattribute__", "getmembers", "asdict", "astuple"}


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
    if kind is np.ndarray or kind is float or isinstance(item, (Tensor, Traced, np.ndarray, np.number)):
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
    as_array(x, "compile: an argument")
    return type(x) if isinstance(x, (float, np.generic)) else (x.shape, x.dtype)


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
            number = isinstance(wanted, type)
            tests = [f"type({name}) is {known(wanted) if number else 'Tensor' if len(wanted) > 2 else 'ndarray'}"]
            if not number:
                tests += [f"{name}.shape == {wanted[0]}", f"{name}.dtype is {known(wanted[1])}"]
                tests += [f"{name}._requires_grad is {wanted[2]}", f"not {name}.level"] if len(wanted) > 2 else []
            lines.append(f"    if not ({' and '.join(tests)}): return None")
            leaves.append(name)
        elif structure[0] == "is":
            value = structure[1].item
            same = f"{name} is {known(value)}" if structure[1].by == id(value) else \
                f"type({name}) is {known(type(value))} and {name} == {known(value)}"
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
    """What the functions and objects `roots` close over.

    `tensors` are (name, Tensor), of which only the name is of interest. `holding` gives the function that says whether
    all is as it was: cells, globals, attributes and items the same, and every array that can be written to equal to a
    copy; of the `large` ones, (name, bytes). `changed` names what is not, of which generators of random numbers are a
    part.
    """

    def __init__(self, roots):
        self.names, self.all, self.grads, found = set(), False, False, None
        while found != (len(self.names), self.all, self.grads):     # an object may be met before its attribute is named
            found = len(self.names), self.all, self.grads
            self.written = _Written("def holds():", equal=equal)
            self.known, self.tests, self.tensors, self.large, self.seen = self.written.known, {}, [], [], {}
            self.drawn = [("np.random", np.random.mtrand._rand), ("random", random._inst)]
            self.todo = [("", x) for x in roots]
            for path, x in self.todo:       # which grows on the way
                self.look(path, x)
        self.drawn = [(path, x, pickle.dumps(x)) for path, x in self.drawn]

    def look(self, path, x):
        if id(x) in self.seen or type(x) is Traced or type(x) in PLAIN:
            return
        self.seen[id(x)] = x
        own = not installed(getattr(x if isinstance(x, (type, Primitive)) else type(x), "__module__", None) or "")
        if isinstance(x, Tensor):
            self.tensors.append((path.removeprefix("."), x))
            if self.grads:
                self.same(f"{path}.grad", x.grad, "{}.grad", x)
            self.attributes(path, vars(x), True, names={
                name for name in vars(x) if (self.all or name in self.names) and
                (name == "name" or name not in ("_data", "order") and not hasattr(Tensor, name))})
        elif isinstance(x, np.ndarray):
            if not fixed(x):
                self.test(path, "equal({}, {})", x, x.copy())
                self.large += [(path.removeprefix("."), x.nbytes)] * (x.nbytes >= LARGE)
        elif isinstance(x, (np.random.Generator, np.random.RandomState, random.Random)):
            self.drawn.append((path, x))
        elif isinstance(x, FunctionType):
            self.function(path, x)
        elif isinstance(x, ModuleType):
            if not ours(x.__name__):
                self.attributes(path, vars(x), not installed(x.__name__))
            elif x.__name__.startswith("autograd_lib"):
                for name in self.names & vars(x).keys():
                    if isinstance(vars(x)[name], (FunctionType, Primitive)):
                        self.test(path, f"{{}}.{name} is {{}}", x, vars(x)[name])
        elif isinstance(x, type):
            self.todo.append((path, type(x)))
            if own:
                self.test(path, "{}.__mro__ is {}", x, x.__mro__)
            for kind in x.__mro__:
                space = vars(kind)
                if installed(kind.__module__):
                    for value in space.values():
                        if isinstance(value, FunctionType):
                            self.code(value.__code__)
                else:
                    self.test(path, "len({}) == {}", space, len(space))
                    for name, value in space.items():
                        if self.all or name in self.names or name.startswith("__") and callable(value):
                            self.item(f"{path}.{name}", space, name)
        elif isinstance(x, Primitive):
            self.todo += [(path, part) for part in (x.function, x.rule, x.pushes) if own]
        elif type(x).__module__ != "functools" and "__wrapped__" in getattr(x, "__dict__", ()):
            self.todo.append((path, x.__wrapped__))             # a compiled function, or another's object around one
        elif isinstance(x, Iterator) and not hasattr(x, "readline"):
            raise Unseen(f"{path.removeprefix('.') or 'an argument'} is an iterator, a {type(x).__name__}: it gives "
                         "something else at every call, and a program would not ask it again; pass what it gives, in a "
                         "list")
        else:
            self.todo.append((path, type(x)))
            self.inside(path, x)
            if own:
                self.test(path, "type({}) is {}", x, type(x))
            if hasattr(x, "__dict__"):      # of a threading.local each thread has its own
                self.test(path, "{0}.__dict__ is {1} and len({1}) == {2}", x, vars(x), len(vars(x)))
                self.attributes(path, vars(x), own, object)
            for name, slot in [entry for kind in type(x).__mro__ for entry in vars(kind).items()]:
                if isinstance(slot, MemberDescriptorType) and (self.all and own or name in self.names):
                    if hasattr(x, name):
                        self.same(f"{path}.{name}", getattr(x, name), f"{{}}.{name}", x)
                    else:
                        self.test(path, "not hasattr({}, {})", x, name)

    def function(self, path, x):
        names, module = self.code(x.__code__), x.__globals__.get("__name__") or ""
        if not installed(module):
            self.test(path, "{}.__code__ is {}", x, x.__code__)
            self.all = self.all or bool(names & _REFLECTING)
            self.grads = self.grads or _reads_grad(x.__code__, x.__globals__)
            self.todo += [(f".{name}", sys.modules[name]) for name in names & sys.modules.keys()]     # imported inside
            self.test(path, "{}.keys().isdisjoint({})", x.__globals__, names - x.__globals__.keys())
        if not ours(module):
            self.attributes("", x.__globals__, not installed(module), names=names)
        for name, cell in zip(x.__code__.co_freevars, x.__closure__ or ()):
            try:
                self.same(f".{name}", cell.cell_contents, "{}.cell_contents", cell)
            except ValueError:              # a variable that has no value yet
                self.test(f".{name}", "{} == {}", cell, CellType())
        for name in ("__defaults__", "__kwdefaults__"):
            if getattr(x, name):
                self.same("", getattr(x, name), f"{{}}.{name}", x)
        if vars(x):
            self.todo.append((path, vars(x)))

    def inside(self, path, x):
        """What is in a container, or in an object of Python's that leads to another."""
        if isinstance(x, dict):
            self.test(path, "[*{}] == {}", x, [*x])
            for key in x:
                self.todo.append((path, key))
                self.item(f"{path}.{key}", x, key)
        elif isinstance(x, (list, deque)):
            self.test(path, "len({}) == {}", x, len(x))
            for i in range(len(x)):
                self.item(f"{path}.{i}", x, i)
        elif isinstance(x, tuple):
            self.todo += [(f"{path}.{i}", item) for i, item in enumerate(x)]
        elif isinstance(x, (set, bytearray, array)):
            self.test(path, "{} == {}", x, copy(x))
            self.todo += [(path, item) for item in x]
        elif isinstance(x, ref):
            self.same(path, x(), "{}()", x)
        elif isinstance(x, ContextVar):
            self.same(path, x.get(None), "{}.get(None)", x)
        elif isinstance(x, (attrgetter, methodcaller)):
            self.names |= _words(repr(x))
        elif type(x).__module__ in ("builtins", "functools"):       # a bound method, a partial, a frozenset
            self.todo += [(path, item) for item in get_referents(x)]

    def code(self, code):
        """The names in it, in the functions within, and its texts: what may be the name of an attribute."""
        texts = [_words(x) for x in code.co_consts if isinstance(x, str)]
        inside = [self.code(part) for part in code.co_consts if isinstance(part, CodeType)]
        found = set(code.co_names).union(*texts, *inside)
        self.names |= found
        return found

    def attributes(self, path, space, own, kind=None, names=None):
        """Watch what is named of a module or an object: by default everything of one's own, and numbers, texts, tables
        and functions of one that is installed."""
        kind = kind or (object if own else (*PLAIN, Mapping, list, FunctionType))
        if names is None:
            names = {name for name in space if not name.startswith("__")} if self.all and own else self.names
        for name in names & space.keys():
            if isinstance(space[name], kind):
                self.item(f"{path}.{name}", space, name)

    def item(self, path, items, key):
        self.same(path, items[key], "{}[{}]", items, key)

    def same(self, path, value, place, *of):
        """Demand that at `place`, Python text with {} for each `of`, is `value`, or an equal number, text or array."""
        place = place.format(*map(self.known, of))
        equals = f" or equal({place}, {{0}})" * (
            isinstance(value, (int, float, str, bytes, complex, np.generic, np.ndarray)) and type(value) is not Traced)
        self.test(path, f"({place} is {{0}}{equals})", value)
        self.todo.append((path, value))

    def test(self, path, text, *values):
        """Demand `text`, in which {} stands for each of `values`."""
        self.tests[text.format(*map(self.known, values))] = path.removeprefix(".")

    def changed(self):
        """The name of what is not as it was, or None."""
        for path, x, state in self.drawn:
            if pickle.dumps(x) != state:
                return path.removeprefix(".") or "an argument"
        failed = [path or "an argument" for text, path in self.tests.items() if not _holds(text, self.written.space)]
        return failed[0] if failed else None

    def holding(self, tensors):
        """A function that says whether all is as it was, and `tensors` keep shape and dtype."""
        for t in {*tensors, *[t for _, t in self.tensors]}:
            self.test("", "{0}.shape == {1} and {0}.dtype == {2} and {0}._requires_grad is {3}", t, *spec(t))
        self.written.lines += ["    try:", *[f"        if not ({test}): return False" for test in self.tests],
                               "        return True",
                               "    except (LookupError, ValueError, AttributeError):", "        return False"]
        return self.written.done()


def _holds(text, space):
    try:
        return eval(text, space)
    except (LookupError, ValueError, AttributeError):
        return False


def _words(text):
    return set(re.findall(r"\w+", text))


def _reads_grad(code, space):
    """Whether it names an attribute `grad` of what is no module."""
    before = None
    for step in dis.get_instructions(code):
        if step.argval == "grad" and step.opname != "LOAD_GLOBAL" and not isinstance(space.get(before), ModuleType):
            return True
        before = step.argval if isinstance(step.argval, str) else None
    return any(_reads_grad(part, space) for part in code.co_consts if isinstance(part, CodeType))


def static(structure):
    """The values that are part of a structure."""
    if structure is ...:
        return []
    kind, *parts = structure
    return [parts[0].item] if kind == "is" else [x for part in parts for x in static(part[1] if kind is dict else part)]


def installed(module):
    """Whether a module is Python's, or an installed library's: what its functions close over is not watched."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return module.partition(".")[0] in sys.stdlib_module_names
    return ours(module) or "site-packages" in file or os.path.dirname(file).startswith(os.path.dirname(os.__file__))


def ours(module):
    return module.partition(".")[0] in ("autograd_lib", "numpy")
