#!/usr/bin/env python3
"""Set up the course and run it:  python run.py TARGET [arguments]

lab           open JupyterLab on the first lesson      python run.py lab --no-browser --port 9999
test          run every test and every notebook        python run.py test -k relu
test-browser  of these, the lessons in a real browser  python run.py test-browser -k 02_draw
mutate        delete each statement of the engine and list those that no test misses
                                                       python run.py mutate tape
mutate-exercises  list wrong answers that the checks of exercises accept
                                                       python run.py mutate-exercises 08 11.adam
bench         time the engine beside NumPy and peers   python run.py bench MLP
site          write the course as pages that move     python run.py site folder
class-report  summarise the progress files of a class  python run.py class-report folder
nbgrader      a lesson that nbgrader hands out, marks  python run.py nbgrader 03 folder
lock          write requirements*.lock anew from pyproject.toml (--upgrade: to the newest releases)
clean         remove .venv and whatever else was made here; notebooks and data stay

`lab` first installs what requirements.lock names into .venv, unless that is done already; `bench` too.
Both tests, `mutate`, `mutate-exercises` and `site` also install requirements-test.lock.
"""

# Standard library only. Must parse on Python 2.7, or it could not say that Python is too old: no f-strings, no * within lists.
from __future__ import print_function

import sys

OLDEST = (3, 11)
TOO_OLD = """Python {0[0]}.{0[1]} or newer is needed, found {1} ({2}).
Install a newer Python (python.org, or your system's packages) and run this again with it,
for example:  python3.12 run.py lab""".format(OLDEST, sys.version.split()[0], sys.executable)
if sys.version_info < (3, 6):
    sys.exit(TOO_OLD)

import errno
import hashlib
import importlib.util
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = (
    VENV / "installed.txt"
)  # written last: what is installed; UNFINISHED until then; a .venv without it is not ours
UNFINISHED = "unfinished"
COURSE = ["requirements.lock"]
ALL = COURSE + ["requirements-test.lock"]
MB = {1: 400, 2: 620}  # on disk, by how many of these are installed


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
        newer = shutil.which("python3.{}".format(minor))
        if newer and subprocess.call([newer, "-c", ""], stderr=subprocess.DEVNULL) == 0:
            sys.exit(call(newer, *sys.argv))
    sys.exit(TOO_OLD)


def stamp_of(locks):
    """Changes with the locks, the package's metadata, and the folder (a moved .venv is broken). Not with the Python that runs this."""
    key = hashlib.sha256(
        b"".join((ROOT / name).read_bytes() for name in locks + ["pyproject.toml"])
    )
    return "{} {}".format(key.hexdigest(), ROOT)


def packages():
    """How many files and folders lie where .venv has its packages."""
    return sum(1 for folder in VENV.glob("[Ll]ib*/**/site-packages") for _ in folder.iterdir())


def stamped():
    """What .venv was installed from, or "" where it is not whole: unfinished, moved, or with fewer packages than it had."""
    if not (python_of(VENV).exists() and STAMP.exists()):
        return ""
    stamp, _, count = STAMP.read_text(encoding="utf-8").partition("\n")
    return (
        stamp if stamp.endswith(" {}".format(ROOT)) and count and packages() >= int(count) else ""
    )


def install(locks=COURSE):
    enough = [stamp_of(locks), stamp_of(ALL)]
    if stamped() in enough:
        return
    with alone():
        stamp = stamped()  # again: the one waited for may have done it
        if stamp in enough:
            return
        free, size = shutil.disk_usage(str(ROOT)).free / 1e6, MB[len(locks)]
        if free < 1.3 * size:
            sys.exit(
                "The disk is too full: this takes {} MB, and {:.0f} MB are free.".format(size, free)
            )
        if not stamp:
            clear()
            make_venv(VENV)
        STAMP.write_text(UNFINISHED, encoding="utf-8")
        print(
            "Installing the course{} into .venv: once, half a minute, {} MB on disk.".format(
                "" if locks == COURSE else " and its tests", size
            ),
            flush=True,
        )
        files = [part for name in locks for part in ("-r", ROOT / name)]
        pip(
            VENV, "--require-hashes", "--only-binary", ":all:", "--no-compile", *files
        )  # Python compiles what is used
        pip(VENV, "--no-deps", "--no-build-isolation", "-e", ROOT)
        STAMP.write_text("{}\n{}".format(stamp_of(locks), packages()), encoding="utf-8")


def clear():
    """Make .venv an empty folder that is known to be ours."""
    if VENV.exists() and any(VENV.iterdir()) and not STAMP.exists():
        sys.exit(
            "There is a .venv here that run.py has not made, or only a part of one: {}\n"
            "Move it away if it is yours, or remove it (make clean does), and run the same command again.".format(
                VENV
            )
        )
    if Path(sys.prefix).resolve() == VENV:
        sys.exit(
            "The installation in .venv is damaged, and this Python is part of it: run the same command with another Python."
        )
    shutil.rmtree(str(VENV), ignore_errors=True)
    VENV.mkdir(exist_ok=True)
    STAMP.write_text(UNFINISHED, encoding="utf-8")


@contextmanager
def alone():
    """One installs at a time; a second `make lab` waits. The lock is on this file, and ends with the process however that ends."""
    with open(str(ROOT / "run.py"), "rb") as file:
        if not locked(file):
            print("Another run.py is installing; waiting for it.", flush=True)
            while not locked(file):
                time.sleep(0.5)
        yield


def locked(file):
    try:
        if os.name == "nt":
            import msvcrt

            file.seek(1 << 20)  # a byte that nobody reads
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (
            errno.EACCES,
            errno.EAGAIN,
            errno.EDEADLK,
        )  # else: a file system without locks
    return True


def make_venv(venv):
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        sys.exit(
            "Python's venv or ensurepip module is missing ({}).\n"
            "On Debian or Ubuntu:  sudo apt install python3-venv   and run the same command again.".format(
                sys.executable
            )
        )
    made = subprocess.run(
        [sys.executable, "-m", "venv", str(venv)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    if made.returncode:
        sys.exit("{}\nCould not make {} (the reason is above).".format(made.stdout, venv))


def pip(venv, *args):
    """pip install, its many lines shown as one that changes, and kept in a log."""
    command = [python_of(venv), "-m", "pip", "install", "--disable-pip-version-check"] + list(args)
    width = shutil.get_terminal_size().columns - 1
    lines = []
    with subprocess.Popen(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        for line in process.stdout:
            lines.append(line)
            if sys.stdout.isatty():
                print("\r" + line.strip()[:width].ljust(width), end="", flush=True)
    if sys.stdout.isatty():
        print("\r" + " " * width, end="\r")
    if process.returncode and any("No space left on device" in line for line in lines):
        raise OSError(errno.ENOSPC, "while installing")
    log = venv / "install.log"
    log.write_text("".join(lines), encoding="utf-8")
    if process.returncode == 0:
        return
    if any("connection broken by" in line for line in lines):
        sys.exit(
            "No network: pip could not reach the package index. Connect (or set HTTPS_PROXY),\n"
            "then run the same command again. What pip said is in {}".format(log)
        )
    sys.exit(
        "{}\npip failed: its last lines are above, all of them in {}\n"
        "'No matching distribution' means: nothing ready-made exists for Python {}\n"
        "on this machine; try another Python. After any other error run the same command again.".format(
            "".join(lines[-12:]), log, sys.version.split()[0]
        )
    )


def lab(*args):
    port = re.search(r"--(?:ServerApp\.)?port[= ](\d+)", " ".join(args))
    if port:
        port = int(port.group(1))
        if port > 65535:
            sys.exit(
                "There is no port {}: the last one is 65535. Leave --port out, and JupyterLab takes a free one.".format(
                    port
                )
            )
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                sys.exit(
                    "Port {} is taken. Ask for another one, or leave --port out:\n"
                    "JupyterLab then takes the first free one.".format(port)
                )
    install()
    root = (
        ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    )  # as in a container
    first = "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb"  # also in the address that is printed
    return call(python_of(VENV), "-m", "jupyterlab", first, *(root + list(args)))


def test(*args):
    install(ALL)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    # One more than cores, for one waits for the browser most of the time; but each collects every test first, four seconds
    processes = min(cores if "-k" in args else cores + 1, 4)
    return call(
        python_of(VENV),
        "-m",
        "pytest",
        "-n",
        processes,
        "--dist",
        "loadscope",
        "--no-loadscope-reorder",
        *args,
    )  # parts and their order: tests/parts.py


def test_browser(*args):
    install(ALL)
    return call(
        python_of(VENV), "-m", "pytest", "--screenshots", "tests/lessons/test_browser.py", *args
    )


def mutate(*args):
    install(ALL)
    return call(python_of(VENV), "-m", "tests.mutate", *args)


def mutate_exercises(*args):
    install(ALL)
    return call(python_of(VENV), "-m", "tests.mutate_exercises", *args)


def bench(*args):
    install()
    return call(python_of(VENV), "bench/bench.py", *args)


def site(*args):
    install(ALL)
    return call(python_of(VENV), "web/pages.py", *args)


def class_report(*args):
    install()
    return call(python_of(VENV), "-m", "autograd_course.classroom", *map(os.path.abspath, args))


def nbgrader(*args):
    install()
    args = list(args[:1]) + [os.path.abspath(one) for one in args[1:]]
    return call(python_of(VENV), "-m", "autograd_course.classroom.nbgrader", *args)


def lock(*args):
    with tempfile.TemporaryDirectory() as folder:
        venv = Path(folder) / "venv"
        make_venv(venv)
        pip(venv, "uv")
        write = [
            python_of(venv),
            "-m",
            "uv",
            "pip",
            "compile",
            "pyproject.toml",
            "--extra",
            "course",
            "--universal",
            "--quiet",
            "--python-version",
            "3.11",
            "--generate-hashes",
            "--no-annotate",
            "--no-header",
            "--no-strip-extras",
        ]
        course, tests = [ROOT / name for name in ALL]
        failed = call(*(write + ["-o", course] + list(args)))
        there = re.findall(r"^[\w.-]+", course.read_text(encoding="utf-8"), re.MULTILINE)
        rest = ["--extra", "test", "-c", course] + [
            "--no-emit-package={}".format(name) for name in there
        ]
        return failed or call(*(write + rest + ["-o", tests] + list(args)))


def clean():
    for pattern in [
        ".venv",
        ".pytest_cache",
        ".ruff_cache",
        ".hypothesis",
        "build/lib",
        "build/bdist.*",
        "autograd_lib.egg-info",
        "tests/screenshots",
        "**/__pycache__",
        "**/.ipynb_checkpoints",
    ]:
        for folder in list(ROOT.glob(pattern)):
            shutil.rmtree(str(folder), ignore_errors=True)
    written = ROOT / "site" / ".written-by-make-site"
    if written.exists():
        for name in written.read_text(encoding="utf-8").splitlines() + [written.name]:
            if (written.parent / name).exists():
                (written.parent / name).unlink()
    for folder in ["build", "site"]:  # what else is in them is somebody's own
        if (ROOT / folder).is_dir() and not any((ROOT / folder).iterdir()):
            (ROOT / folder).rmdir()


TARGETS = {
    "lab": lab,
    "test": test,
    "test-browser": test_browser,
    "mutate": mutate,
    "mutate-exercises": mutate_exercises,
    "bench": bench,
    "site": site,
    "class-report": class_report,
    "nbgrader": nbgrader,
    "lock": lock,
    "clean": clean,
}


def main(target="", *args):
    if target not in TARGETS:
        sys.exit(("There is no target {!r}.\n\n".format(target) if target else "") + __doc__)
    use_new_enough_python()
    os.environ.pop(
        "PYTHONDONTWRITEBYTECODE", None
    )  # else each process compiles every module anew, half of its start
    for name in [
        "OPENBLAS_NUM_THREADS",
        "OMP_NUM_THREADS",
        "MKL_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    ]:
        os.environ.setdefault(
            name, "1"
        )  # the course's matrices are small: threads wait for each other longer than they work
    try:
        return TARGETS[target](*args)
    except KeyboardInterrupt:
        sys.exit("\nInterrupted. Run the same command again: it starts over where that is needed.")
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        sys.exit(
            "The disk is full. The course takes {} MB, with its tests {}: make room,\n"
            "and run the same command again.".format(*MB.values())
        )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
