"""Number the levels of nested derivatives (see the example in tape.py), and define `no_grad`."""

from contextlib import ContextDecorator
from contextvars import ContextVar, copy_context
from inspect import iscoroutinefunction, isgeneratorfunction
from itertools import count

_levels = count(1)
no_grad_level = ContextVar("no_grad_level", default=-1)  # nothing is recorded up to this level
_no_grad_blocks = ContextVar("no_grad_blocks", default=())  # the open blocks: (level, no_grad)


def new_level():
    """Return the number of a new level, higher than that of every open level."""
    return next(_levels)


class _NeedsBrackets(type):
    """Raise a clear TypeError for `with no_grad:`; Python's own error would only mention `type`."""

    def __enter__(cls):
        raise TypeError("no_grad: expected `with no_grad():`, got `with no_grad:` without brackets")

    def __exit__(cls, *_):
        pass


class no_grad(ContextDecorator, metaclass=_NeedsBrackets):
    """Record nothing in a `with no_grad():` block, or in a function decorated with `@no_grad()`.

    The block affects levels that were open before it; a `grad` called inside works as usual. The
    state is per thread, and restored when the block ends or raises, unless Ctrl-C arrives during
    the few lines that close the block. If a generator yields inside a block, the block stays open
    for the caller too, so do not use `yield` in a block.

    Parameters
    ----------
    *args : none
        Only `@no_grad` without brackets passes an argument.

    Raises
    ------
    TypeError
        If `no_grad` is used without brackets, or decorates a generator or coroutine function.
    RuntimeError
        If the block ends in another thread.
    """

    def __init__(self, *args):
        if args:
            raise TypeError(
                "no_grad: expected no argument, got one; write @no_grad() with brackets"
            )

    def __call__(self, f):
        """Return `f` wrapped so that each call runs in a block of its own."""
        if isgeneratorfunction(f) or iscoroutinefunction(f):
            raise TypeError(
                f"no_grad: {f.__name__} is a generator or coroutine function, whose body runs "
                "after the call; use `with no_grad():` in it, around code without yield or await"
            )
        return super().__call__(f)

    def __enter__(self):
        blocks = (*_no_grad_blocks.get(), (new_level(), self))
        _no_grad_blocks.set(blocks)
        no_grad_level.set(blocks[-1][0])

    def __exit__(self, *_):
        # Interleaved generators do not close their blocks in reverse order.
        blocks = list(_no_grad_blocks.get())
        mine = [block for block in blocks if block[1] is self]
        if not mine:
            raise RuntimeError("no_grad: the block was opened in another thread; end it there")
        blocks.remove(mine[-1])
        _no_grad_blocks.set(tuple(blocks))
        no_grad_level.set(max((level for level, _ in blocks), default=-1))


def record_above(level):
    """Record nothing up to `level` in this context, regardless of the blocks open outside it.

    Parameters
    ----------
    level : int
        The highest level on which nothing is recorded.
    """
    _no_grad_blocks.set(((level, None),))
    no_grad_level.set(level)


def call_recorded(f, inputs, level):
    """Return `f(inputs)`, recorded on `level` even if a `no_grad` block is open.

    The call runs in a separate context, so an error cannot leave no_grad switched off.

    Parameters
    ----------
    f : callable
        Recomputes the result of a checkpoint or a program.
    inputs : sequence
        The argument of `f`.
    level : int
        The level of the Tensors to record.
    """
    context = copy_context()
    if level <= no_grad_level.get():
        context.run(record_above, level - 1)
    return context.run(f, inputs)


def is_recording():
    """Return True if calls on Tensors of the user are recorded: no `no_grad` block is open."""
    return no_grad_level.get() < 0
