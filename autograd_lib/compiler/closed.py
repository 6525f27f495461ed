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
import sys
from functools import partial
from operator import attrgetter, is_not
from types import CellType, CodeType, FunctionType, MethodType, ModuleType

import numpy as np

from ..nn import Module
from ..rows import Primitive
from ..tape import Tensor

_PLAIN = {int, bool, str, bytes, type(None), type(...)}
# By identity.
_NAMED = (
    type,
    np.ufunc,
    Primitive,
    np.dtype,
    np.random.Generator,
    type(len),
    type(np.sum),
    type(str.join),
)
INSTALLED = (
    os.path.dirname(os.__file__),
    os.path.dirname(os.path.dirname(np.__file__)),
)  # Python's own, and packages
ENGINE = __name__.partition(".")[0]
_code, _defaults = attrgetter("__code__"), attrgetter("__defaults__")


def spec(x):
    """What has to be the same of a leaf; None for what is no leaf."""
    kind = type(x)
    if kind is np.ndarray:
        return x.shape, x.dtype
    if kind is Tensor:
        return x._value.shape, x._value.dtype, x._requires_grad, x.level
    return kind if kind is float or isinstance(x, (np.number, np.bool_)) else None


def taken(x, leaves):
    """The form of an argument, as quickly as may be, its leaves added to `leaves`; None in it for what is no form."""
    kind = type(x)
    if kind is tuple or kind is list:
        return (kind, *[taken(part, leaves) for part in x])
    if kind is dict:
        return (kind, *[(type(key), key, taken(part, leaves)) for key, part in x.items()])
    if (found := spec(x)) is not None:
        leaves.append(x)
        return found
    return (kind, x) if kind in _PLAIN else None


def is_library(thing):
    """Whether a function, class or module belongs to Python, to an installed package, or to the engine."""
    name = (
        thing.__name__
        if isinstance(thing, ModuleType)
        else getattr(thing, "__module__", None) or ""
    )
    code = getattr(thing, "__code__", None)
    file = code.co_filename if code else getattr(thing, "__file__", None)
    top = name.partition(".")[0]
    return (
        file.startswith(INSTALLED) or top == ENGINE
        if file
        else top in (*sys.builtin_module_names, "numpy", ENGINE)
    )


def _contents(cell):
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
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
        self.leaves, self.functions, self.places, self.parts, self.nested = [], [], [], [], False
        self._stand_in, self._made, self._drawn, self._seen, self._within = (
            stand_in,
            [],
            [],
            {},
            set(),
        )

    def changed(self):
        """What the function has changed of the copies, or None."""
        drawn = [
            path
            for path, rng, state in self._drawn
            if pickle.dumps(rng.bit_generator.state) != state
        ]
        return next(iter([path for path, *part in self._made if replaced(*part)] + drawn), None)

    def walk(self, x, path, where="argument"):
        """(form, copy) of an "argument", an "attribute" of a Module, something "closed" over, or a "library"'s own."""
        kind = type(x)
        if kind is float and where != "argument":  # an if may ask it
            return (kind, repr(x)), x
        if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind not in "biuf":
            raise TypeError(f"compile: {path} is of dtype {x.dtype}, and real numbers are needed")
        if id(x) in self._seen:
            return self._seen[id(x)]
        if spec(x) is not None or isinstance(x, Tensor):
            self.leaves.append(x)
            found = self._stand_in(x, path)
            if isinstance(x, Tensor):
                self.nested |= x.level > 0
                self._met(x, found)
            return spec(x), found
        if kind in _PLAIN:
            return (kind, x), x
        if kind is slice:
            return (slice, x.start, x.stop, x.step), x
        if isinstance(x, Module):
            return self._module(x, path)
        if kind is tuple or kind in (list, dict) and where != "closed":
            return self._entries(x, path, where)
        if where == "argument":
            raise TypeError(
                f"compile: {path} is of type {kind.__name__}. The arguments of a compiled function are "
                "arrays, Tensors, numbers, strings, None, Modules, and tuples, lists and dicts of exactly "
                "these: take out of it what is needed"
            )
        if kind is FunctionType:
            return self._function(x, path)
        if isinstance(x, Compiled):
            return self.walk(x.f, path, where)
        if kind is MethodType:
            return self._rebuilt(MethodType, (x.__func__, x.__self__), path, "closed")
        if kind is partial:
            parts = x.func, x.args, x.keywords
            return self._rebuilt(
                lambda f, args, named: partial(f, *args, **named), parts, path, "attribute"
            )
        if isinstance(x, np.random.Generator):
            self._drawn.append((path, x, pickle.dumps(x.bit_generator.state)))
        if (
            isinstance(x, _NAMED)
            or isinstance(x, ModuleType)
            and is_library(x)
            or where == "library"
        ):
            return x, x
        raise TypeError(
            f"compile: {path} is of type {kind.__name__}. A compiled function closes over Tensors, arrays, "
            "Modules, functions, numbers, strings and tuples of these: pass what it needs of anything else "
            "as an argument"
        )

    def _met(self, x, new):
        """Met again `x` is the same."""
        self._seen[id(x)] = ("again", len(self._seen)), new

    def _rebuilt(self, make, parts, path, where):
        found = [self.walk(part, path, where) for part in parts]
        return (make.__name__, *[form for form, _ in found]), make(*[new for _, new in found])

    def _entries(self, x, path, where):
        """A tuple, list or dict."""
        if id(x) in self._within:
            raise TypeError(f"compile: {path} holds itself: take out of it what is needed")
        self._within.add(id(x))
        keys, parts = (list(x), x.values()) if type(x) is dict else (range(len(x)), x)
        if odd := [key for key in keys if type(key) not in _PLAIN]:
            raise TypeError(
                f"compile: {path} is a dict with the key {odd[0]!r}: whole numbers and strings are needed"
            )
        found = [self.walk(part, f"{path}_{key}", where) for key, part in zip(keys, parts)]
        self._within.discard(id(x))
        form, new = [form for form, _ in found], [new for _, new in found]
        if type(x) is dict:
            form, new = (
                [(type(key), key, part) for key, part in zip(keys, form)],
                dict(zip(keys, new)),
            )
        new = type(x)(new)
        if type(x) is not tuple:  # the function gets the new one, and is not to change it
            view = new.values() if type(x) is dict else new
            self._made.append((path, view, [*view]))
            if where != "argument":
                self._watch(x)
        return (type(x), *form), new

    def _watch(self, entries):
        """Compare the entries of a list, or the names and values of a dict, at every call."""
        if not entries:  # as in most functions: a quicker comparison
            return self.places.append((len, entries, 0))
        self.parts.append((entries, [*entries]))
        if type(entries) is dict:
            self.parts.append((entries.values(), [*entries.values()]))

    def _module(self, x, path):
        new, cls = copy.copy(x), type(x)
        self._met(x, new)
        self.places.append((type, x, cls))
        attributes, mine = self._entries(vars(x), path, "attribute")
        object.__setattr__(
            new, "__dict__", mine
        )  # whatever its class does when an attribute is set
        form = [cls, attributes]
        for base in [base for base in cls.__mro__ if not is_library(base)]:
            if vars(base).get("__slots__"):
                raise TypeError(
                    f"compile: {cls.__name__} has __slots__, into which compile does not look: leave them "
                    "out"
                )
            for name, f in vars(base).items():
                inner, before = (
                    getattr(f, "__func__", None) or getattr(f, "fget", None) or f,
                    len(self.leaves),
                )
                if isinstance(inner, (FunctionType, Compiled)):
                    form.append(self.walk(inner, f"{path}_{name}", "closed")[0])
                    if len(self.leaves) > before:
                        raise TypeError(
                            f"compile: {cls.__name__}.{name} closes over a Tensor or an array: make that "
                            "an attribute of the Module, or pass it as an argument"
                        )
        return tuple(form), new

    def _function(self, f, path):
        code, library = f.__code__, is_library(f)
        where = "library" if library else "closed"
        cells = [CellType() for _ in f.__closure__ or ()]
        space = f.__globals__ if library else dict(f.__globals__)
        new = FunctionType(code, space, f.__name__, None, tuple(cells))
        self._met(f, new)
        attributes, new.__dict__ = self._entries(vars(f), path, where)
        form = [code, attributes]
        if not library:
            self.places += [(_code, f, code), (_defaults, f, f.__defaults__)]
            self.functions.append(f.__name__)
            loaded, stored = _names(code)
            if stored:
                raise TypeError(
                    f"compile: {f.__name__} assigns to {stored[0]}, which is not its own, and a program "
                    "would not: return the new value"
                )
            for name in loaded:
                value = f.__globals__.get(name)
                self.places.append((f.__globals__.get, name, value))
                if name in f.__globals__:
                    part, space[name] = self.walk(value, name, where)
                    form += [name, part]
        for name, cell, mine in zip(code.co_freevars, f.__closure__ or (), cells):
            if (value := _contents(cell)) is not ...:
                self.places.append((_contents, cell, value))
                part, mine.cell_contents = self.walk(value, name, where)
                form.append(part)
        names, given = code.co_varnames[: code.co_argcount], f.__defaults__ or ()
        found = [
            self.walk(value, name, where)
            for name, value in zip(names[len(names) - len(given) :], given)
        ]
        new.__defaults__ = tuple([part for _, part in found]) or None
        if named := f.__kwdefaults__:
            self._watch(named)
            parts = {name: self.walk(value, name, where) for name, value in named.items()}
            new.__kwdefaults__ = {name: part for name, (_, part) in parts.items()}
            found += parts.values()
        return (FunctionType, *form, *[part for part, _ in found]), new


def replaced(view, values):
    """Whether a list or a view of a dict has other entries than these."""
    return len(view) != len(values) or any(map(is_not, view, values))


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
                line.opname in ("STORE_DEREF", "DELETE_DEREF") and line.argval in code.co_freevars
            ):
                stored.append(line.argval)
    return list(loaded), stored
