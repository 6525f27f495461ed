"""Fixture that raises KeyboardInterrupt at every instruction of the engine in turn."""

import sys
from pathlib import Path

import pytest

import autograd_lib

HOME = str(Path(autograd_lib.__file__).parent)


@pytest.fixture
def interrupted():
    """Return a generator that interrupts `act(make())` at each instruction of the engine in turn.

    `interrupted(make, act)` yields the object from `make` after each interrupted call, and ends
    when a call is not interrupted. The calls within the engine are traced one after the other,
    because counting the instructions of all of them every time takes twice as long.
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
