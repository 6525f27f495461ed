"""Define `compile`, which records a function once and then runs it as a program of NumPy calls.

`signature.py` decides which calls share a program, `trace.py` records one call, `plan.py` chooses
the lines and their memory, `writer.py` writes them as Python, and `program.py` runs them.
"""

import sys
from functools import update_wrapper
from types import MethodType

import numpy as np

from .. import nn
from ..hints import check_function
from ..levels import is_recording
from ..ops import NegativeClass
from ..tape import Tensor, tracer
from .program import Program
from .signature import OuterTransform, signature

MAX_PROGRAMS = 16  # for the same Modules; if more are needed, a number changes at every call


class compile:
    """Record one call of `f` as a program of NumPy calls, and run the program in later calls.

    A program contains the operations recorded in one call. At every call it reads the arrays, floats
    and Tensors among the arguments, and the data of each other Tensor that `f` used; ints and strings
    among the arguments are compared. Everything else that Python computed is a constant.

    Parameters
    ----------
    f : callable
        Takes arrays, Tensors, numbers, strings, None, Modules, and tuples, lists and dicts of
        these, but no instances of subclasses of these types. Returns arrays, Tensors, numbers,
        strings and None, or tuples, lists and dicts of these.
    check : bool, default False
        Also run `f` at every call, and raise an error if a result differs from that of the program
        by more than rounding. Use this if you are not sure whether `f` reads something that the
        program treats as a constant. A gradient that `backward` computes later is not compared: to
        check gradients, compile `value_and_grad(f)`.

    Attributes
    ----------
    source : str
        The Python source of the program that ran last. It lists the constants first, under the
        names that they have in `f`.

    Raises
    ------
    TypeError
        When the compiled function is called: if an argument has a type not listed above; if `f`
        looks at a value (`if`, `float()`), writes into an argument or draws from a global random
        generator while it is recorded; or if the calls need more than 16 programs.
    RuntimeError
        When the compiled function is called: if a program raises an error and `f` does not; or,
        with `check`, if their results differ.

    Notes
    -----
    - Another program is recorded if an argument has a new structure, shape or dtype, or is a
      different int, string or Module, after a call of `train()` or `eval()` on any Module, and when
      `cross_entropy` ignores a target for the first time. The value of a float is read at every
      call, like that of an array.
    - Tensors that `f` closes over, such as the parameters of a model, are inputs of the program, so
      an optimizer may change them.
    - Examples of constants are a global number or array, an attribute that is not a Tensor, the
      numbers drawn from a random generator that `f` owns, and the time. If an attribute or a global
      variable is set to a different Tensor later, the program still reads the first Tensor.
    - Anything that `f` does besides computing its result happens only while it is recorded, such as
      printing, `w.data = …` or `w.zero_grad()`. The same holds for `np.errstate`, which silences
      warnings.
    - A result requires a gradient if it was computed from a Tensor that requires a gradient. Inside
      `grad`, `vjp` or `jvp`, `f` itself is called instead of a program. To compile the derivative
      as well, write `compile(value_and_grad(f))`.
    - While `f` is recorded, it receives Tensors in place of arrays and floats, so `is`, `hash` and
      `isinstance` may give unusual results. A program may return a NumPy scalar where `f`
      returns an array of shape ().

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
        """Return the function bound to `instance`, so that it can be a method of a class.

        Return the function itself if `instance` is None.
        """
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self):
        """Return what copy and pickle need to restore this object.

        A function that was decorated in its module is restored by its name. Any other function is
        compiled again with the arguments `f` and `check`, without its programs.
        """
        found = getattr(sys.modules.get(self.__module__), self.__qualname__, None)
        return self.__qualname__ if found is self else (compile, (self.f, self.check))

    @property
    def source(self):
        """Return the Python source of the program that ran last.

        Raise RuntimeError if no program has run yet.
        """
        if self._last is None:
            raise RuntimeError(
                "compile: source is available after the first call; call the function first"
            )
        return self._last.source

    def __call__(self, /, *args, **kwargs):
        """Return the result of the program for these arguments, recording the program if necessary.

        `f` itself is called instead if another compiled function is being recorded, or if `f` reads
        a Tensor of a transform that is still running.
        """
        if tracer.get() is not None:  # this call is part of another compiled function
            return self.f(*args, **kwargs)
        leaves, modules = [], []
        try:
            form = signature((args, kwargs), leaves, modules)
            # What all calls of a program have in common. Under no_grad a program has no backward
            # function, and nn.mode_changes counts the calls of train() and eval().
            key = form, tuple(modules), is_recording(), nn.mode_changes
            program = self.programs.get(key)
            if program is None or not program.fits():
                program = self.programs[key] = self._record(key, args, kwargs)
        except OuterTransform:  # the derivative that is being computed needs the calls of f
            return self.f(*args, **kwargs)
        self._last = program
        try:
            out = program.run(leaves)
        except NegativeClass:  # until now, cross_entropy has ignored no target: record it again
            self.programs.pop(key, None)  # another thread may have done so
            return self(*args, **kwargs)
        except Exception as error:
            self.f(*args, **kwargs)  # if the arguments are wrong, f raises its own error here
            raise RuntimeError(
                f"compile: the program of {self.__name__} raised {type(error).__name__} ({error}), "
                f"but {self.__name__} itself did not. Either the function handles some values "
                "differently, as in a try block, or this is a bug in compile; call the function itself "
                "for such arguments"
            ) from error
        if self.check:
            self._compare("the result", out, self.f(*args, **kwargs))
        return out

    def _record(self, key, args, kwargs):
        """Record the call of `f` with these arguments, and return its Program.

        The caller stores the program in `self.programs` under `key`. This method removes programs
        from `self.programs` that can no longer be used. Raise TypeError, before `f` is called, if
        there are MAX_PROGRAMS other programs for the same Modules.
        """
        # Forget programs that cannot run again: those recorded before the last train() or eval(),
        # whose count is the last part of a key, and those of Modules that are gone.
        self.programs = {
            other: program
            for other, program in self.programs.items()
            if other[-1] == key[-1] and all(module() is not None for module in other[1])
        }
        # Count the programs of the same Modules only: a loop may train many models, and each needs
        # its own. A program with this key does not fit any more and is replaced: it does not count.
        if sum(other[1] == key[1] and other != key for other in self.programs) >= MAX_PROGRAMS:
            raise TypeError(
                f"compile: {self.__name__} already has the maximum of {MAX_PROGRAMS} programs; this call "
                "needs another, because a shape, a dtype, an int or a string changes from call to call; "
                "pass a float or an array for a number that changes"
            )
        return Program(self.f, args, kwargs)

    def _compare(self, path, result, expected):
        """Raise RuntimeError if the result of a program differs from that of the function.

        `result` is that of the program, and `expected` is that of the function. Floating numbers
        may differ by rounding. `path` names the compared part of the result in the error, such as
        "the result[0]['loss']".
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
                # The root of the precision is far above the rounding of any sum. The tolerance for
                # small entries is relative to the largest: they may be differences of large ones.
                rtol = np.finfo(b.dtype).eps ** 0.5
                atol = rtol * np.max(np.abs(b), initial=0.0, where=np.isfinite(b))
                same = np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
            same = same and (a.dtype.kind == "f" or np.array_equal(a, b))
        if not same:
            raise RuntimeError(
                f"compile: for {path} of {self.__name__} the program returns {result!r:.80}, but the "
                f"function returns {expected!r:.80}. The function reads something that the program "
                "does not and that has changed since it was recorded, such as a global number or a "
                "name that refers to another Tensor now; pass it as an argument"
            )
