"""Ctrl-C at every place of the engine."""

import sys
from pathlib import Path

import pytest

import autograd_lib

HOME = str(Path(autograd_lib.__file__).parent)


@pytest.fixture
def interrupted():
    """`interrupted(make, act)` calls act(make()) again and again, and Ctrl-C comes one instruction of the engine later.

    It yields what `make` made after each call that was cut short, and ends when one is not. One call within the engine
    is followed after the other: to count the instructions of all of them each time takes twice as long.
    """

    def run(make, act):
        places, entered, instruction = 0, 1, 0
        while True:
            instruction += 1
            made, calls, left, before = make(), entered, instruction, sys.gettrace()

            def trace(frame, event, arg):
                nonlocal calls
                if frame.f_code.co_filename.startswith(HOME) and (calls := calls - 1) == 0:
                    frame.f_trace_opcodes = True
                    return within

            def within(frame, event, arg):
                nonlocal left
                if event == "opcode" and (left := left - 1) == 0:
                    raise KeyboardInterrupt
                return within

            sys.settrace(trace)
            try:
                act(made)
            except KeyboardInterrupt:
                places += 1
            else:
                if calls > 0:
                    break
                entered, instruction = entered + 1, 0
                continue
            finally:
                sys.settrace(before)
            yield made
        assert places > 20

    return run
