"""Run cells with PyTorch, JAX or Dask where they are installed, and show recorded output elsewhere.

    @elsewhere("21", "torch")
    def slope_there():
        import torch
        ...
        print(x.grad)

The function runs at once if its library is installed. Otherwise, the cell prints a message and the
recorded output from the lesson's recorded.json. `python tests/cross/test_recorded.py` writes
recorded.json with all three libraries installed, and tests that it is still right.
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
    """Return the import names of the libraries that are not installed here."""
    return [name for name in libraries if find_spec(name) is None]


def recorded(lesson):
    """Return the recorded outputs of a lesson, such as "21", for libraries that are missing.

    The result is {"cells": {function name: {"source": its digest, "output": its output}}}, and any
    other entries that the lesson records there.
    """
    return json.loads((LESSONS / f"lesson_{lesson}/recorded.json").read_text(encoding="utf-8"))


def excuse(*libraries):
    """Return the message that a cell prints for libraries that are not installed here."""
    gone = missing(*libraries)
    return (
        f"{' and '.join(CALLED[name] for name in gone)} {'is' if len(gone) == 1 else 'are'} not installed here "
        f"(%pip install {' '.join(PACKAGE[name] for name in gone)})."
    )


def digest(function):
    """Return a fingerprint of a function's code."""
    return hashlib.sha256(textwrap.dedent(inspect.getsource(function)).encode()).hexdigest()[:12]


PRINTED = {}  # {name of a function: {"source": its digest, "output": what it printed}}, of those that ran here


def elsewhere(lesson, library):
    """Run the decorated function at once if `library` is installed, else print its recorded output.

    Parameters
    ----------
    lesson : str
        The lesson whose notebook contains the function, such as "21".
    library : str
        The name by which the library is imported.
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
