"""What a function depends on: its arguments, and what it and the functions it calls close over. This file is the
contract of `compile`: what is an input, what is compared at every call, and what is refused.

A `Walk` goes through all of it once. It finds the *leaves*, which are the inputs, and a *form*, which is hashable:
what has to be the same for a program to be right. It also makes a copy with something else in the place of every
leaf; the function is traced on that, so what it changes under way is seen, and reaches nobody.
"""

import copy
import dis
import os
import pickle
from functools import partial
from operator import attrgetter, is_not
from types import CellType, CodeType, FunctionType, MethodType, ModuleType

import numpy as np

from ..nn import Module
from ..tape import Primitive, Tensor

_PLAIN = {int, bool, str, bytes, type(None), type(...)}
# By identity.
_NAMED = (type, np.ufunc, Primitive, np.dtype, np.random.Generator, type(len), type(np.sum), type(str.join))
INSTALLED = os.path.dirname(os.__file__), os.path.dirname(os.path.dirname(np.__file__))     # Python's own, and packages
ENGINE = __name__.partition(".")[0]
_code, _defaults = attrgetter("__code__"), attrgetter("__defaults__")


def spec(x):
    """What has to be the same of a leaf; None for what is no leaf."""
    kind = type(x)
    if kind is np.ndarray:
        return x.shape, x.dtype
    if kind is Tensor:
        return x._data.shape, x._data.dtype, x._requires_grad, x.level
    if kind is float:
        return kind
    return (kind,) if isinstance(x, (np.number, np.bool_)) else None


def taken(x, leaves):
    """The form of an argument, as quickly as may be, its leaves added to `leaves`; None in it for what is no form."""
    kind = type(x)
    if kind is np.ndarray or kind is float or kind is Tensor:
        leaves.append(x)
        return ...
    if kind is tuple or kind is list:
        return (kind, *[taken(part, leaves) for part in x])
    if kind is dict:
        return (kind, *[(type(key), key, taken(part, leaves)) for key, part in x.items()])
    return (kind, x) if kind in _PLAIN else None


def is_library(thing):
    """Whether a function, class or module belongs to Python, to an installed package, or to the engine."""
    name = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None) or ""
    code = getattr(thing, "__code__", None)
    file = code.co_filename if code else getattr(thing, "__file__", None)
    return file.startswith(INSTALLED) or name.partition(".")[0] == ENGINE if file else \
        name.partition(".")[0] in ("builtins", "numpy", ENGINE)


def _contents(cell):
    try:
        return cell.cell_contents
    except ValueError:      # it is empty
        return ...


class Compiled:
    """What `compile` returns: a function, `f`, and its programs."""


class Walk:
    """Attributes, beside `leaves`:

    functions : the names of the learner's functions, in the order they were met
    places, parts : what is compared by identity, each with its value: while it is all the same, so is the form
    nested : whether a leaf is a Tensor of a transform that is open
    """

    def __init__(self, stand_in=lambda leaf, path: None):
        self.leaves, self.places, self.parts, self.nested = [], [], [], False
        self.functions = []
        self._stand_in, self._made, self._drawn, self._seen, self._within = stand_in, [], [], {}, set()

    def same(self):
        """Whether nothing that is closed over was replaced since."""
        for read, place, value in self.places:
            if read(place) is not value:
                return False
        for view, values in self.parts:
            if len(view) != len(values) or any(map(is_not, view, values)):
                return False
        return True

    def changed(self):
        """What the function has changed of the copies, or None."""
        for path, view, values in self._made:
            if len(view) != len(values) or any(map(is_not, view, values)):
                return path
        return next((path for path, rng, state in self._drawn if pickle.dumps(rng.bit_generator.state) != state), None)

    def walk(self, x, path, where="argument"):
        """(form, copy) of an "argument", an "attribute" of a Module, something "closed" over, or a "library"'s own."""
        kind = type(x)
        if kind is float and where != "argument":       # an if may ask it
            return (kind, repr(x)), x
        if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind not in "biuf":
            raise TypeError(f"compile: {path} is of dtype {x.dtype}, and real numbers are needed")
        if id(x) in self._seen:
            return self._seen[id(x)]
        if spec(x) is not None or isinstance(x, Tensor):
            self.nested |= isinstance(x, Tensor) and x.level > 0
            self.leaves.append(x)
            found = self._stand_in(x, path)
            if isinstance(x, Tensor):       # met again it is the same
                self._seen[id(x)] = ("again", len(self._seen)), found
            return ..., found
        if kind in _PLAIN:
            return (kind, x), x
        if kind is slice:
            return (slice, x.start, x.stop, x.step), x
        if isinstance(x, Module):
            return self._module(x, path)
        if kind is tuple or kind in (list, dict) and where != "closed":
            return self._entries(x, path, where)
        if where != "argument":
            if kind is FunctionType:
                return self._function(x, path)
            if isinstance(x, Compiled):
                return self.walk(x.f, path, where)
            if kind is MethodType:
                return self._rebuilt(MethodType, (x.__func__, x.__self__), path)
            if kind is partial:
                self._watch(x.keywords)
                parts = x.func, x.args, dict(x.keywords)
                return self._rebuilt(lambda f, args, named: partial(f, *args, **named), parts, path, "attribute")
            if isinstance(x, np.random.Generator):
                self._drawn.append((path, x, pickle.dumps(x.bit_generator.state)))
            if isinstance(x, _NAMED) or isinstance(x, ModuleType) and is_library(x) or where == "library":
                return x, x
        raise TypeError(f"compile: {path} is of type {kind.__name__}. " + (
            "The arguments of a compiled function are arrays, Tensors, numbers, strings, None, Modules, and tuples, "
            "lists and "
            "dicts of exactly these: take out of it what is needed" if where == "argument" else
            "A compiled function closes over Tensors, arrays, Modules, functions, numbers, strings and tuples of "
            "these: pass "
            "what it needs of anything else as an argument"))

    def _rebuilt(self, make, parts, path, where="closed"):
        found = [self.walk(part, path, where) for part in parts]
        return (make, *[form for form, _ in found]), make(*[new for _, new in found])

    def _entries(self, x, path, where):
        if id(x) in self._within:
            raise TypeError(f"compile: {path} holds itself: take out of it what is needed")
        self._within.add(id(x))
        if type(x) is dict:
            if odd := [key for key in x if type(key) not in _PLAIN]:
                raise TypeError(f"compile: {path} is a dict with the key {odd[0]!r}: whole numbers and strings are "
                                "needed")
            found = {key: self.walk(value, f"{path}_{key}", where) for key, value in x.items()}
            new = {key: part for key, (_, part) in found.items()}
            form = (dict, *[(type(key), key, part) for key, (part, _) in found.items()])
        else:
            found = [self.walk(value, f"{path}_{i}", where) for i, value in enumerate(x)]
            new, form = type(x)([part for _, part in found]), (type(x), *[part for part, _ in found])
        self._within.discard(id(x))
        if type(x) is not tuple:
            mine = new.values() if type(x) is dict else new
            self._made.append((path, mine, [*mine]))
            if where != "argument":
                self._watch(x)
        return form, new

    def _watch(self, entries):
        """Compare the entries of a list, or the names and values of a dict, at every call."""
        self.parts.append((entries, [*entries]))
        if type(entries) is dict:
            self.parts.append((entries.values(), [*entries.values()]))

    def _module(self, x, path):
        new, cls = copy.copy(x), type(x)
        self._seen[id(x)] = ("again", len(self._seen)), new
        self._watch(vars(x))
        self.places.append((type, x, cls))
        form, methods = [cls, x.training], {}
        for name, value in vars(x).items():
            part, vars(new)[name] = self.walk(value, f"{path}_{name}", "attribute")
            form += [name, part]
        for base in reversed([base for base in cls.__mro__ if not is_library(base)]):
            for name, f in vars(base).items():
                inner, before = getattr(f, "__func__", None) or getattr(f, "fget", None) or f, len(self.leaves)
                if isinstance(inner, (FunctionType, Compiled)):
                    part, copied = self.walk(inner, f"{path}_{name}", "closed")
                    form.append(part)
                    if len(self.leaves) > before:
                        methods[name] = copied
                        if inner is not f:
                            raise TypeError(f"compile: {path}.{name}, which is no plain method, closes over a Tensor or an array: "
                                            "make that an attribute of the Module, or pass it as an argument")
        if methods:
            new.__class__ = type(cls.__name__, (cls,), methods)
        self._made.append((path, vars(new).values(), [*vars(new).values()]))
        return tuple(form), new

    def _function(self, f, path):
        code, library = f.__code__, is_library(f)
        where = "library" if library else "closed"
        cells = [CellType() for _ in f.__closure__ or ()]
        space = f.__globals__ if library else dict(f.__globals__)
        new = FunctionType(code, space, f.__name__, f.__defaults__, tuple(cells))
        self.places += [(_code, f, code), (_defaults, f, f.__defaults__)]
        self._watch(vars(f))
        self._watch(f.__kwdefaults__ or {})
        self._seen[id(f)] = ("again", len(self._seen)), new
        form = [code]
        for name, value in vars(f).items():
            part, vars(new)[name] = self.walk(value, f"{path}_{name}", where)
            form += [name, part]
        self._made.append((path, vars(new).values(), [*vars(new).values()]))
        if not library:
            self.functions.append(f.__name__)
            loaded, stored = _names(code)
            if stored:
                raise TypeError(f"compile: {f.__name__} assigns to {stored[0]}, which is not its own, and a program "
                                "would "
                                "not: return the new value")
            for name in loaded:
                value = f.__globals__.get(name)
                self.places.append((f.__globals__.get, name, value))
                if name in f.__globals__:
                    part, space[name] = self.walk(value, name, where)
                    form += [name, part]
        for name, cell, mine in zip(code.co_freevars, f.__closure__ or (), cells):
            try:
                value = cell.cell_contents
            except ValueError:      # not filled yet
                continue
            self.places.append((_contents, cell, value))
            part, mine.cell_contents = self.walk(value, name, where)
            form.append(part)
        defaults = f.__defaults__ or ()
        names = code.co_varnames[code.co_argcount - len(defaults):code.co_argcount]
        found = [self.walk(value, name, where) for name, value in zip(names, defaults)]
        new.__defaults__ = tuple([part for _, part in found]) or None
        named = {name: self.walk(value, name, where) for name, value in (f.__kwdefaults__ or {}).items()}
        new.__kwdefaults__ = {name: part for name, (_, part) in named.items()} or None
        return (FunctionType, *form, *[part for part, _ in [*found, *named.values()]]), new


def _names(code):
    """The global names that a function's code reads, and what it assigns to that is not its own; the functions in it,
    too."""
    loaded, stored, todo = {}, [], [code]
    while todo:
        inner = todo.pop()
        todo += [c for c in inner.co_consts if isinstance(c, CodeType)]
        for line in dis.get_instructions(inner):
            if line.opname == "LOAD_GLOBAL" or line.opname == "LOAD_NAME":
                loaded[line.argval] = None
            elif line.opname in ("STORE_GLOBAL", "DELETE_GLOBAL") or (
                    line.opname in ("STORE_DEREF", "DELETE_DEREF") and line.argval in code.co_freevars):
                stored.append(line.argval)
    return list(loaded), stored
