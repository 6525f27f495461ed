"""Ctrl-C at every place of the engine."""
import sys
from pathlib import Path

import pytest

import autograd_lib

HOME = str(Path(autograd_lib.__file__).parent)


@pytest.fixture
def interrupted():
    """`interrupted(make, act)` calls act(make()) again and again, and Ctrl-C comes one instruction of the engine later.

    It yields what `make` made after each call that was cut short, and ends when one is not.
    """
    def run(make, act):
        places = 0
        while True:
            places += 1
            made, left, before = make(), places, sys.gettrace()

            def trace(frame, event, arg):
                nonlocal left
                if not frame.f_code.co_filename.startswith(HOME):
                    return None
                frame.f_trace_opcodes = True
                if event == "opcode" and (left := left - 1) == 0:
                    raise KeyboardInterrupt
                return trace
            sys.settrace(trace)
            try:
                act(made)
            except KeyboardInterrupt:
                pass
            else:
                break
            finally:
                sys.settrace(before)
            yield made
        assert places > 20
    return run
