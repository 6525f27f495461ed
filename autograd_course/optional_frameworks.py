"""Run cells with PyTorch, JAX or Dask if they are installed, and otherwise show recorded output.

    @elsewhere("21", "torch")
    def slope_there():
        import torch
        ...
        print(x.grad)

The function runs at once if its library is installed. Otherwise the cell prints a message and the
output that is recorded in the lesson's recorded.json. `python tests/cross/test_recorded.py` writes
recorded.json, for which all three libraries must be installed, and tests that the recorded output
is still right.
"""

import hashlib
import inspect
import io
import json
import textwrap
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path

LESSONS = Path(__file__).parent / "lessons"
CALLED = {"torch": "PyTorch", "jax": "JAX", "distributed": "Dask"}
PACKAGE = {"torch": "torch", "jax": "jax", "distributed": '"dask[distributed]"'}


def missing(*libraries):
    """Return a list of the import names in `libraries` whose library is not installed here."""
    return [name for name in libraries if find_spec(name) is None]


def recorded(lesson):
    """Return the recorded outputs of a lesson, for libraries that are not installed here.

    Parameters
    ----------
    lesson : str
        The number of the lesson, such as "21".

    Returns
    -------
    dict
        The entry "cells" is a dict that maps the name of each function to a dict with "source", the
        digest of the function's code, and "output", the text that the function printed. A lesson
        may record further entries.
    """
    return json.loads((LESSONS / f"lesson_{lesson}/recorded.json").read_text(encoding="utf-8"))


def excuse(*libraries):
    """Return a message that tells the learner which of `libraries` are not installed.

    The libraries are given by their import names, and at least one of them is not installed.
    """
    gone = missing(*libraries)
    return (
        f"{' and '.join(CALLED[name] for name in gone)} {'is' if len(gone) == 1 else 'are'} not installed here "
        f"(%pip install {' '.join(PACKAGE[name] for name in gone)})."
    )


def digest(function):
    """Return a fingerprint of a function's source code, as a string of 12 characters."""
    return hashlib.sha256(textwrap.dedent(inspect.getsource(function)).encode()).hexdigest()[:12]


PRINTED = {}  # {name of a function: {"source": its digest, "output": what it printed}}, of those that ran here


def elsewhere(lesson, library):
    """Return a decorator that runs a function at once, or prints its recorded output instead.

    The function runs if `library` is installed. If no output is recorded for the function, only the
    message that the library is not installed is printed.

    Parameters
    ----------
    lesson : str
        The lesson whose notebook contains the function, such as "21".
    library : str
        The name by which the library is imported.

    Returns
    -------
    callable
        The decorator. It calls the function without arguments and returns the function unchanged.
    """

    def run(function):
        name = function.__name__
        if not missing(library):
            with redirect_stdout(io.StringIO()) as printed:
                function()
            PRINTED[name] = {"source": digest(function), "output": printed.getvalue()}
            print(printed.getvalue(), end="")
        elif name in (kept := recorded(lesson)["cells"]):
            as_it_came = ", from the original cell" * (digest(function) != kept[name]["source"])
            print(
                f"{excuse(library)} Recorded output{as_it_came}:\n{kept[name]['output']}",
                end="",
            )
        else:
            print(excuse(library))
        return function

    return run
