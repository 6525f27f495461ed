"""Run an answer: limit its steps and waiting time, capture its output, detect changed arguments."""

import _signal
import copy
import dis
import io
import signal
import sys
import sysconfig
import time
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import cache
from numbers import Number
from pathlib import Path

import numpy as np

import autograd_lib

from .causes import Cause, said

LONGEST = 2  # seconds that an answer may wait, for a sleep or for an input
MOST_SECONDS = 20  # seconds of computing, the limit for an infinite loop with slow steps
MOST_STEPS = 1_000_000  # lines of the answer and calls of any function; a correct answer needs a fraction of a second
JUMPS = {*dis.hasjrel, *dis.hasjabs}
LIBRARIES = tuple(
    {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    | {str(Path(autograd_lib.__file__).parent), "<frozen"}
)


MOST_PRINTED = 5_000  # characters that the calls of one check may print


class StepLimitExceeded(
    BaseException
):  # a BaseException, because an `except Exception` inside the loop would catch an Exception
    """Report that a call of the learner's code did not end within the limits."""

    cause = Cause("endless")


class Waiting(StepLimitExceeded):
    """Report that a call of the learner's code is waiting, for example for `sleep` or `input`."""

    cause = Cause("waits")


@cache  # every call of any function asks for it
def _in_library(file):
    return file.startswith(LIBRARIES)


@cache
def _has_one_line_loop(code):
    """Return True if the code has a `while` loop on one line, such as `while True: pass`."""
    lines, places = {}, {}
    for instruction in dis.get_instructions(code):
        line = instruction.positions.lineno
        places[instruction.offset] = instruction.opname
        lines[instruction.offset] = line
        target = instruction.argval
        if (
            instruction.opcode in JUMPS
            and target <= instruction.offset
            and places[target] not in ("FOR_ITER", "SEND")
            and lines[target] == line
        ):
            return True
    return False


def bounded(function, *args, most=None):
    """Return the result of `function(*args)`, but stop the call if it takes too many steps.

    A step is a call, or a line of code outside libraries. In code with a loop on one line, where no
    new line begins, a step is an instruction. `most` is the largest number of steps, by default
    MOST_STEPS. If a trace function is already set, for example by a debugger, steps are not
    counted.

    Raises
    ------
    StepLimitExceeded
        After more than `most` steps, or after MOST_SECONDS of computing.
    Waiting
        After the call has waited for LONGEST seconds, unless the machine is busy. This works only
        in the main thread, on a system that has signals, and not in a browser.
    """
    if sys.gettrace():
        return function(*args)
    steps, most = 0, most or MOST_STEPS
    begun = time.process_time()

    def count(frame, event, argument):
        nonlocal steps
        steps += 1
        if steps > most:
            raise StepLimitExceeded(f"not finished after {most:,} steps")
        if not steps % 256 and time.process_time() - begun > MOST_SECONDS:
            raise StepLimitExceeded(f"not finished after {MOST_SECONDS} seconds")
        if event == "call":
            if _in_library(frame.f_code.co_filename):
                return None
            frame.f_trace_opcodes = _has_one_line_loop(frame.f_code)
        return count

    at_work = begun

    def ring(*_):
        nonlocal at_work
        before, at_work = at_work, time.process_time()
        if at_work - before < LONGEST / 100:  # on a busy machine a running answer gets little time
            raise Waiting(f"no result after {LONGEST} seconds")

    with _alarm(ring):
        sys.settrace(count)
        try:
            return function(*args)
        finally:
            sys.settrace(None)


@contextmanager
def _alarm(ring):
    """Call `ring` every LONGEST seconds during the block, or never on a system without signals."""
    try:
        before = _signal.signal(
            signal.SIGALRM, ring
        )  # signal.signal makes enums first, which takes as long as many answers
        signal.setitimer(signal.ITIMER_REAL, LONGEST, LONGEST)
    except (AttributeError, ValueError):  # Windows and a browser; a thread
        yield
        return
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        _signal.signal(signal.SIGALRM, before)


def copies(args):
    """Return a list with a copy of each argument, for one call.

    The call may then write into the copied arrays, lists and dicts, and draw from the copied random
    generators. Objects of other kinds are not copied. An object that is passed twice is copied
    once, so that the copies are one object too.
    """
    made = {}

    def copied(a):
        if id(a) not in made:
            made[id(a)] = (
                a.copy("K")
                if isinstance(a, np.ndarray)
                # "K" keeps the memory layout
                else copy.deepcopy(a)
                if isinstance(a, np.random.Generator)
                else type(a)(map(copied, a))
                if type(a) in (list, tuple)
                else {key: copied(value) for key, value in a.items()}
                if type(a) is dict
                else a
            )
        return made[id(a)]

    return [copied(a) for a in args]


def unchanged(before, after):
    """Return True if `after` holds the same values as `before`.

    Numbers, strings and arrays are compared, also inside lists and tuples. Any other object counts
    as unchanged; for example, a function may fill a dict that it receives.
    """
    if isinstance(before, np.ndarray):
        return (
            np.array_equal(before, after)
            or before.dtype.kind in "fc"
            and np.array_equal(before, after, equal_nan=True)
        )
    if isinstance(before, (list, tuple)):
        return len(before) == len(after) and all(map(unchanged, before, after))
    return not isinstance(before, Number | str) or before is after or bool(before == after)


class Printed(io.StringIO):
    """Store what the learner's function prints, and show it up to a limit.

    All calls of one check together show at most MOST_PRINTED characters.
    """

    left = MOST_PRINTED

    def __init__(self):
        super().__init__()
        self.screen = sys.stdout

    def write(self, text):
        kept, Printed.left = Printed.left, Printed.left - len(text)
        if kept > 0:
            self.screen.write(text[:kept])
            if Printed.left <= 0:
                self.screen.write(
                    "\n… (your function printed more; the check shows no more of it)\n"
                )
        return super().write(text)


@dataclass(frozen=True)
class Outcome:
    """Hold the outcome of one call of a function.

    Parameters
    ----------
    value : object
        The result; None if the call raised an error.
    error : BaseException, optional
        The error that the call raised, a StepLimitExceeded if the call was stopped.
    printed : str
        The text that the call printed.
    passed : tuple of pairs
        For each argument, the original and the copy that was passed.
    """

    value: object = None
    error: BaseException | None = None
    printed: str = ""
    passed: tuple = ()

    @property
    def mutated(self):
        """Return the list of those pairs in `passed` in which the call changed the copy."""
        return [pair for pair in self.passed if not unchanged(*pair)]

    def raises_as(self, other):
        """Return True if this call and `other` raised the same type of error with the same message.

        Messages about a local variable without a value always count as the same, because they
        contain the name of the variable, which learners choose.
        """
        mine, theirs = self.error, other.error
        return (
            mine is not None
            and theirs is not None
            and type(mine) is type(theirs)
            and (isinstance(mine, UnboundLocalError) or said(mine) == said(theirs))
        )


def run(function, args, given=None, most=None, printed=None):
    """Call `function` with copies of `args`, and return the Outcome.

    A call that does not end is stopped. An error that the call raises becomes part of the Outcome.

    Parameters
    ----------
    function : callable
        The function to call; its NumPy warnings are not shown.
    args : sequence
        The arguments, which are copied before the call.
    given : sequence, optional
        The copies to pass, for a caller that passes the same copies again. By default, new copies
        are made.
    most : int, optional
        The largest number of steps; the default is MOST_STEPS.
    printed : io.StringIO, optional
        The file that collects the output of the call. An object of class Printed also shows the
        output.

    Returns
    -------
    Outcome
        The result or the error of the call, and what the call printed and changed.
    """
    given = copies(args) if given is None else given
    printed = io.StringIO() if printed is None else printed
    value = error = None
    with redirect_stdout(printed), np.errstate(all="ignore"):
        try:
            value = bounded(function, *given, most=most)
        except (Exception, SystemExit, StepLimitExceeded) as raised:
            error = raised
    return Outcome(value, error, printed.getvalue(), tuple(zip(args, given)))
