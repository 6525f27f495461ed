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

    The block also applies to a `grad`, `vjp` or `jvp` that was called outside the block and is
    still running; a `grad` that is called inside the block works as usual. The block applies to the
    current thread only. The previous state is restored when the block ends or raises an error,
    unless Ctrl-C arrives during the few lines that close the block. If a generator yields inside a
    block, the block stays open for the caller too, so do not use `yield` in a block.

    Parameters
    ----------
    *args : none
        Must be empty. (Python passes the function here if `@no_grad` is written without brackets.)

    Raises
    ------
    TypeError
        If `no_grad` is used without brackets, or decorates a generator or coroutine function.
    RuntimeError
        If the block ends in a different thread from the one in which it began.
    """

    def __init__(self, *args):
        if args:
            raise TypeError(
                "no_grad: expected no argument, got one; write @no_grad() with brackets"
            )

    def __call__(self, f):
        """Return `f` wrapped so that each call runs in a separate `no_grad` block.

        Raise TypeError if `f` is a generator or coroutine function, whose body runs after the call.
        """
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
    """Record only on levels higher than `level`, regardless of the `no_grad` blocks that are open.

    This changes the current context (`contextvars`), so it does not affect other threads.

    Parameters
    ----------
    level : int
        The highest level on which nothing is recorded.
    """
    _no_grad_blocks.set(((level, None),))
    no_grad_level.set(level)


def call_recorded(f, inputs, level):
    """Return `f(inputs)`, recorded on `level` even if a `no_grad` block is open.

    The call runs in a separate context (`contextvars`), so an open `no_grad` block is in effect
    again after the call, even if `f` raises an error.

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
    """Return True unless a `no_grad` block stops the recording of calls on the user's Tensors."""
    return no_grad_level.get() < 0
