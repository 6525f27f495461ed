#!/usr/bin/env python3
"""Set up the course and run it:  python run.py TARGET [arguments]

lab           open JupyterLab on the first lesson      python run.py lab --no-browser --port 9999
test          run every test and every notebook        python run.py test -k relu
test-browser  of these, the lessons in a real browser  python run.py test-browser -k 02_draw
bench         time the engine beside NumPy and peers   python run.py bench MLP
site          write the course as pages to read        python run.py site folder
lock          write requirements.lock anew from pyproject.toml (--upgrade: to the newest releases)
clean         remove .venv and whatever else was made here; notebooks and data stay

`lab`, both tests, `bench` and `site` first install what requirements.lock names into .venv, unless that is done already.
"""
# Standard library only. Must parse on Python 3.6, or it could not say that Python is too old.
import hashlib
import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

OLDEST = (3, 11)
ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "installed.txt"  # written last: no stamp, no complete installation


def python_of(venv):
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def call(*command):
    """Run a command and return its exit code. Ctrl-C is the command's to answer: JupyterLab asks back."""
    process = subprocess.Popen([str(part) for part in command], cwd=str(ROOT))
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            pass


def use_new_enough_python():
    if sys.version_info >= OLDEST:
        return
    for minor in range(20, OLDEST[1] - 1, -1):
        newer = shutil.which(f"python3.{minor}")
        if newer and subprocess.call([newer, "-c", ""], stderr=subprocess.DEVNULL) == 0:
            sys.exit(call(newer, *sys.argv))
    sys.exit(f"Python 3.{OLDEST[1]} or newer is needed, found {sys.version.split()[0]} ({sys.executable}).\n"
             "Install a newer Python (python.org, or your system's packages) and run this again with it,\n"
             "for example:  python3.12 run.py lab")


def wanted_stamp():
    """Changes with the lock, the package's metadata, the Python, and the folder (a moved .venv is broken)."""
    key = hashlib.sha256((ROOT / "requirements.lock").read_bytes() + (ROOT / "pyproject.toml").read_bytes())
    return f"{key.hexdigest()} Python {sys.version_info[0]}.{sys.version_info[1]} {ROOT}"


def install():
    if python_of(VENV).exists() and STAMP.exists() and STAMP.read_text(encoding="utf-8") == wanted_stamp():
        return
    make_venv(VENV)
    print("Installing the course into .venv: once, about a minute, 900 MB on disk.", flush=True)
    pip(VENV, "--require-hashes", "--only-binary", ":all:", "-r", ROOT / "requirements.lock")
    pip(VENV, "--no-deps", "--no-build-isolation", "-e", ROOT)
    STAMP.write_text(wanted_stamp(), encoding="utf-8")


def make_venv(venv):
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        sys.exit(f"Python's venv or ensurepip module is missing ({sys.executable}).\n"
                 "On Debian or Ubuntu:  sudo apt install python3-venv   and run the same command again.")
    if Path(sys.prefix).resolve() == venv:  # started from the environment itself: install on top of it
        STAMP.unlink(missing_ok=True)
    elif call(sys.executable, "-m", "venv", "--clear", venv):
        sys.exit(f"Could not make {venv} (the reason is above).")


def pip(venv, *args):
    """pip install, its many lines shown as one that changes, and kept in a log."""
    command = [python_of(venv), "-m", "pip", "install", "--disable-pip-version-check", *args]
    width = shutil.get_terminal_size().columns - 1
    lines = []
    with subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", errors="replace") as process:
        for line in process.stdout:
            lines.append(line)
            if sys.stdout.isatty():
                print("\r" + line.strip()[:width].ljust(width), end="", flush=True)
    if sys.stdout.isatty():
        print("\r" + " " * width, end="\r")
    log = venv / "install.log"
    log.write_text("".join(lines), encoding="utf-8")
    if process.returncode == 0:
        return
    if any("connection broken by" in line for line in lines):
        sys.exit("No network: pip could not reach the package index. Connect (or set HTTPS_PROXY),\n"
                 f"then run the same command again. What pip said is in {log}")
    sys.exit("".join(lines[-12:]) + f"\npip failed: its last lines are above, all of them in {log}\n"
             f"'No matching distribution' means: nothing ready-made exists for Python {sys.version.split()[0]}\n"
             "on this machine; try another Python. After any other error run the same command again.")


def lab(*args):
    port = re.search(r"--(?:ServerApp\.)?port[= ](\d+)", " ".join(args))
    if port:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", int(port.group(1)))) == 0:
                sys.exit(f"Port {port.group(1)} is taken. Ask for another one, or leave --port out:\n"
                         "JupyterLab then takes the first free one.")
    install()
    root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # as in a container
    first = "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb"  # also in the address that is printed
    return call(python_of(VENV), "-m", "jupyterlab", first, *root, *args)


def test(*args):
    install()
    return call(python_of(VENV), "-m", "pytest", "-n", "logical", "--maxprocesses", "4",
                "--dist", "loadgroup", "--no-loadscope-reorder", *args)  # groups and their order: tests/parts.py


def test_browser(*args):
    install()
    return call(python_of(VENV), "-m", "pytest", "--screenshots", "tests/lessons/test_browser.py", *args)


def bench(*args):
    install()
    return call(python_of(VENV), "bench/bench.py", *args)


def site(*args):
    install()
    return call(python_of(VENV), "docs/pages.py", *args)


def lock(*args):
    with tempfile.TemporaryDirectory() as folder:
        venv = Path(folder) / "venv"
        make_venv(venv)
        pip(venv, "uv")
        return call(python_of(venv), "-m", "uv", "pip", "compile", "pyproject.toml", "--extra", "course",
                    "--extra", "test", "--universal", "--python-version", "3.11", "--generate-hashes", "--no-annotate",
                    "--no-header", "--quiet", "-o", "requirements.lock", *args)


def clean():
    for pattern in [".venv", ".pytest_cache", ".ruff_cache", ".hypothesis", "build", "*.egg-info",
                    "tests/screenshots", "site", "**/__pycache__", "**/.ipynb_checkpoints"]:
        for folder in list(ROOT.glob(pattern)):
            shutil.rmtree(str(folder), ignore_errors=True)


def main(target="", *args):
    targets = {"lab": lab, "test": test, "test-browser": test_browser, "bench": bench, "site": site, "lock": lock, "clean": clean}
    if target not in targets:
        sys.exit((f"There is no target {target!r}.\n\n" if target else "") + __doc__)
    use_new_enough_python()
    for name in ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"]:
        os.environ.setdefault(name, "1")  # the course's matrices are small: threads wait for each other longer than they work
    try:
        return targets[target](*args)
    except KeyboardInterrupt:
        sys.exit("\nInterrupted. Run the same command again: it starts over where that is needed.")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
