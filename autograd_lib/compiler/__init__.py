"""`compile`: trace a function once, and run the program of NumPy calls from then on.

`signature.py` says which calls share a program, `trace.py` records one call, `plan.py` chooses the
lines and their memory, `writer.py` writes them as Python, and `program.py` runs them.
"""

import sys
from functools import update_wrapper
from types import MethodType

import numpy as np

from .. import nn
from ..hints import check_function
from ..levels import is_recording
from ..tape import Tensor, tracer
from .program import Program
from .signature import signature
from .trace import OuterTransform

MAX_PROGRAMS = 16  # more are taken for a number that changes from call to call


class compile:
    """Compile `f`: record one call as a program of NumPy calls, and run that from then on.

    A program contains the operations recorded in one call. Arguments and Tensors are read at every
    call; everything else Python computed on the way is a constant of that call.

    Parameters
    ----------
    f : callable
        Takes arrays, Tensors, numbers, strings, None, Modules, and tuples, lists and dicts of
        exactly these; returns arrays, Tensors, numbers, strings and None in such structures.
    check : bool
        Run `f` beside the program at every call, and raise where a value differs beyond rounding.
        Use it when in doubt whether something that `f` reads is a constant.

    Attributes
    ----------
    source : str
        The program that ran last, as Python. Constants are listed above it, under the names that they
        have in `f`.

    Raises
    ------
    TypeError
        When called: if an argument has a type not listed above; if `f` looks at a value (`if`,
        `float()`), writes into an argument or draws from a global random generator while it is
        recorded; or if more than 16 programs are needed.
    RuntimeError
        When called: if a program raises and `f` does not, or with `check` if they differ.

    Notes
    -----
    - A new structure, shape or dtype, or a different int, string or Module, makes another program,
      and so does `train()` or `eval()` of any Module. A float is read at every call, as an array is.
    - Tensors that `f` closes over, such as the parameters of a model, are inputs: an optimizer may
      change them.
    - Constants are, for example: a global number or array, an attribute that is not a Tensor, a
      Tensor that replaces another, the numbers of a random generator that `f` owns, the time.
    - What `f` does besides computing its result happens only while it is recorded: printing,
      `w.data = …`, `w.zero_grad()`, a warning that `np.errstate` silences.
    - A result has a gradient if a Tensor that requires one took part. Inside a `grad`, `vjp` or
      `jvp` `f` itself runs; `compile(value_and_grad(f))` compiles the derivative too.
    - While `f` is recorded it receives Tensors for arrays and floats, as isinstance, `is` and hash
      reveal. For an array of shape () a program may return a NumPy number.

    Examples
    --------
    >>> w = ag.Tensor([1.0, 2.0], requires_grad=True)
    >>> loss = ag.compile(lambda x: ((w * x) ** 2).sum())
    >>> loss(np.array([3.0, 4.0])).backward()
    >>> w.grad
    array([18., 64.])
    >>> w.data = np.array([0.0, 1.0])
    >>> float(loss(np.array([3.0, 4.0])).data)
    16.0
    """

    def __init__(self, f, check=False):
        check_function("compile", f)
        self.f, self.check, self.programs, self._last = f, check, {}, None
        # For an f without a name, such as a partial. The attributes of f, as those of a Module, are
        # not copied, because they would hide those of this object.
        self.__name__ = self.__qualname__ = "program"
        update_wrapper(self, f, updated=())

    def __get__(self, instance, owner):
        """Bind a compiled function in the body of a class as a method."""
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self):
        """Copy and pickle a decorated function by its name; any other without its programs."""
        there = getattr(sys.modules.get(self.__module__), self.__qualname__, None)
        return self.__qualname__ if there is self else (compile, (self.f, self.check))

    @property
    def source(self):
        """Return the program that ran last, as Python source."""
        if self._last is None:
            raise RuntimeError("compile: there is no program before the first call")
        return self._last.source

    def __call__(self, /, *args, **kwargs):
        """Run the program for these arguments, and record it first if there is none."""
        if tracer.get() is not None:  # its lines become part of the program that is recorded
            return self.f(*args, **kwargs)
        leaves, modules = [], []
        form = signature((args, kwargs), leaves, modules)
        # What all calls of a program have in common. nn.mode_changes counts train() and eval().
        key = form, tuple(modules), is_recording(), nn.mode_changes
        program = self.programs.get(key)
        if program is None or not program.fits():
            try:
                program = self.programs[key] = self._record(key, args, kwargs)
            except OuterTransform:  # the derivative that is being computed needs the calls of f
                return self.f(*args, **kwargs)
        self._last = program
        try:
            out = program.run(leaves)
        except Exception as error:
            self.f(*args, **kwargs)  # if the arguments are wrong, f raises its own error here
            raise RuntimeError(
                f"compile: the program of {self.__name__} raised {type(error).__name__} ({error}), "
                f"but {self.__name__} itself did not. Either its control flow depends on a value, as in a "
                "try block, or this is a bug in compile; call the function itself for such arguments"
            ) from error
        if self.check:
            self._compare("the result", out, self.f(*args, **kwargs))
        return out

    def _record(self, key, args, kwargs):
        """Record this call, and return its program."""
        # Programs of another mode of training, and of Modules that are gone, are of no more use.
        self.programs = {
            other: program
            for other, program in self.programs.items()
            if other[-1] == key[-1] and all(module() is not None for module in other[1])
        }
        # Of one model at a time: a loop may train many, and each needs a program of its own. A
        # program that does not fit any more is replaced, so it does not count.
        if sum(other[1] == key[1] and other != key for other in self.programs) >= MAX_PROGRAMS:
            raise TypeError(
                f"compile: {self.__name__} has {MAX_PROGRAMS} programs; this call needs another, "
                "because a shape, a dtype, an int or a string changes from call to call; "
                "pass a float or an array for a number that changes"
            )
        return Program(self.f, args, kwargs)

    def _compare(self, path, result, expected):
        """Raise RuntimeError where a program's result differs from the function's.

        `path` names the part of the result in the error, such as "the result[0]['loss']".
        """
        if {type(result), type(expected)} & {tuple, list, dict}:
            a, b = (
                dict(enumerate(x)) if type(x) in (tuple, list) else x for x in (result, expected)
            )
            same = type(result) is type(expected) and a.keys() == b.keys()
            for key in a if same else ():
                self._compare(f"{path}[{key!r}]", a[key], b[key])
        else:
            # Strings and None become arrays of dtype str and object, which compare as they do.
            a, b = (np.asarray(x.data if isinstance(x, Tensor) else x) for x in (result, expected))
            same = a.shape == b.shape and a.dtype == b.dtype
            if same and a.dtype.kind == "f":
                # The root of the precision is far above the rounding of any sum.
                rtol = np.finfo(b.dtype).eps ** 0.5
                atol = rtol * np.max(np.abs(b), initial=0.0, where=np.isfinite(b))
                same = np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
            same = same and (a.dtype.kind == "f" or np.array_equal(a, b))
        if not same:
            raise RuntimeError(
                f"compile: for {path} of {self.__name__} the program returns {result!r:.80}, but the "
                f"function returns {expected!r:.80}. The function reads something that is "
                "neither an argument nor a Tensor and that has changed since the program was "
                "recorded; pass it as an argument"
            )
