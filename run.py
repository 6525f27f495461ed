#!/usr/bin/env python3
"""Set up the course and run it: python run.py TARGET [arguments].

lab               open JupyterLab on the first lesson         run.py lab --no-browser --port 9999
test              run the tests, every notebook included      run.py test -k relu
test-all          run the tests, and open every lesson in a   run.py test-all
                  browser (`test` opens a third of them)
test-browser      run the lessons in a real browser           run.py test-browser -k 02_draw
mutate            delete each statement of the engine and     run.py mutate tape
                  list those whose deletion no test detects
mutate-exercises  list wrong answers that checks accept       run.py mutate-exercises 08 11.adam
bench             time the engine beside NumPy and peers      run.py bench MLP
site              build the website in site/                  run.py site FOLDER
class-report      summarise the progress files of a class     run.py class-report FOLDER
nbgrader          export a lesson for nbgrader                run.py nbgrader 03 FOLDER
lock              write requirements*.lock from               run.py lock --upgrade
                  pyproject.toml, and check that every        run.py lock --check
                  supported platform can install them
clean             delete .venv and generated files; notebooks, data and progress stay

`lab` and `bench` first install the packages in requirements.lock into .venv, if they are missing.
`test`, `test-browser`, `mutate`, `mutate-exercises` and `site` also install requirements-test.lock.
"""

# Standard library only. The file must parse on Python 2.7, so that it can report that Python is too
# old: no f-strings, and no * inside lists.
from __future__ import print_function

import sys

OLDEST = (3, 11)
TOO_OLD = """The course requires Python {0[0]}.{0[1]} or newer, but this is Python {1} ({2}).
Install a newer Python (python.org, or your system's packages) and use it for the same command,
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
# What JupyterLab saves in a notebook and commits leave out: the kernel, headings that are numbered
# or folded, and the fields of its property inspector. nbstripout leaves out the outputs itself.
NOT_COMMITTED = [
    "metadata.kernelspec",
    "metadata.language_info.codemirror_mode",
    "metadata.language_info.file_extension",
    "metadata.language_info.mimetype",
    "metadata.language_info.nbconvert_exporter",
    "metadata.language_info.pygments_lexer",
    "metadata.language_info.version",
    "metadata.toc-autonumbering",
    "cell.metadata.jp-MarkdownHeadingCollapsed",
    "cell.metadata.editable",
    "cell.metadata.slideshow",
]
# Where the course can be installed: the names that uv has for them. The tests run on all but musl.
PLATFORMS = [
    "x86_64-pc-windows-msvc",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-manylinux_2_28",
    "aarch64-manylinux_2_28",
    "x86_64-unknown-linux-musl",
]
PYTHONS = ["3.11", "3.12", "3.13", "3.14", "3.15"]
MB = {1: 400, 2: 620}  # on disk, by how many of these are installed


def python_of(venv):
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def call(*command, **options):
    """Run a command in the course's folder and return its exit code.

    The command handles Ctrl-C itself, because JupyterLab asks for confirmation.
    """
    options.setdefault("cwd", str(ROOT))
    process = subprocess.Popen([str(part) for part in command], **options)
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
            sys.exit(call(newer, *sys.argv, cwd=None))
    sys.exit(TOO_OLD)


def use_utf8():
    """Restart run.py in UTF-8 mode if the path of the course is not ASCII.

    In a locale without UTF-8, Python can neither write this path to a file nor import from it.
    """
    if os.environ.get("PYTHONUTF8") != "1" and any(ord(letter) > 127 for letter in str(ROOT)):
        os.environ["PYTHONUTF8"] = "1"  # for JupyterLab and its kernels too
        sys.exit(call(sys.executable, *sys.argv, cwd=None))  # None: paths in argv stay valid


def stamp_of(locks):
    """Return a stamp of the locks, the package's metadata and the folder.

    The folder is included because moving a .venv breaks it. The stamp does not depend on the Python
    that runs this file.
    """
    key = hashlib.sha256(
        b"".join((ROOT / name).read_bytes() for name in locks + ["pyproject.toml"])
    )
    return "{} {}".format(key.hexdigest(), ROOT)


def packages():
    """Return the number of entries in the package folders of .venv."""
    return sum(1 for folder in VENV.glob("[Ll]ib*/**/site-packages") for _ in folder.iterdir())


def stamped():
    """Return the stamp of the last complete install, or "" if .venv is unfinished, moved or damaged."""
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
                "The disk is too full: this needs {} MB, but only {:.0f} MB are free. Free some space and run the same command again.".format(
                    size, free
                )
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
        keep_outputs_out_of_git()
        STAMP.write_text("{}\n{}".format(stamp_of(locks), packages()), encoding="utf-8")


def clear():
    """Replace .venv by an empty folder that is marked as made by run.py, or exit."""
    if VENV.exists() and any(VENV.iterdir()) and not STAMP.exists():
        sys.exit(
            "{} was not made by run.py, or is incomplete.\n"
            "Move the folder away if you need it, or remove it with make clean, and run the same command again.".format(
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
    """Let one process install at a time; a second `make lab` waits.

    The lock is on this file, and is released at the latest when the process ends.
    """
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

            file.seek(1 << 20)  # a byte that is never read
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


NO_CERTIFICATE = """The certificate of the package index could not be verified. A company proxy or an antivirus
program that opens encrypted connections causes this, and so does a wrong system clock. Check the clock,
or set PIP_CERT to the certificate file of your organisation (ask your administrator), and run the
same command again. The full output of pip is in {}"""
NO_PASSWORD = """The proxy refused the connection because it needs a user name and a password. Set
HTTPS_PROXY=USER:PASSWORD@HOST:PORT and run the same command again. The full output of pip is in {}"""
NO_NETWORK = """No network: pip could not reach the package index. Connect to the internet (or set HTTPS_PROXY)
and run the same command again. The full output of pip is in {}"""
NO_WHEEL = """{}
pip failed because this Python ({}) on this machine has no ready-made package for
the requirement named above. Try another Python version. The full output of pip is in {}"""
FAILED = """{}
pip failed: the last lines of its output are above, and all of it is in {}
Fix the cause and run the same command again."""


def pip_environment():
    """Return the environment for pip, without the settings that make it install outside .venv."""
    elsewhere = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT")
    kept = {name: value for name, value in os.environ.items() if name not in elsewhere}
    kept["PIP_USER"] = "0"  # a `user = true` in pip.conf counts less than this
    return kept


def pip(venv, *args):
    """Run pip install, show its output as one changing line, and keep all of it in a log."""
    command = [python_of(venv), "-m", "pip", "install", "--disable-pip-version-check"] + list(args)
    width = shutil.get_terminal_size().columns - 1
    lines = []
    with subprocess.Popen(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        env=pip_environment(),
    ) as process:
        for line in process.stdout:
            lines.append(line)
            if sys.stdout.isatty():
                print("\r" + line.strip()[:width].ljust(width), end="", flush=True)
    if sys.stdout.isatty():
        print("\r" + " " * width, end="\r")
    output = "".join(lines)
    if process.returncode and "No space left on device" in output:
        raise OSError(errno.ENOSPC, "while installing")
    log = venv / "install.log"
    log.write_text(output, encoding="utf-8")
    if process.returncode == 0:
        return
    if "CERTIFICATE_VERIFY_FAILED" in output:
        sys.exit(NO_CERTIFICATE.format(log))
    if "407 Proxy Authentication Required" in output:
        sys.exit(NO_PASSWORD.format(log))
    if "connection broken by" in output:
        sys.exit(NO_NETWORK.format(log))
    end = "".join(lines[-12:])
    if "No matching distribution" in output:
        sys.exit(NO_WHEEL.format(end, sys.version.split()[0], log))
    sys.exit(FAILED.format(end, log))


def keep_outputs_out_of_git():
    """Let git ignore the outputs and the settings that JupyterLab saves in a notebook.

    `.gitattributes` names the filter; each clone has to define the filter once, and nbstripout does
    the filtering.
    """
    git = shutil.which("git")
    if not git or not (ROOT / ".git").exists():
        return
    clean = '"{}" -m nbstripout --keep-id --extra-keys "{}"'.format(
        python_of(VENV).as_posix(), " ".join(NOT_COMMITTED)
    )
    for key, value in [("clean", clean), ("smudge", "cat")]:
        subprocess.call([git, "config", "filter.notebook." + key, value], cwd=str(ROOT))


def lab(*args):
    port = re.search(r"--(?:ServerApp\.)?port[= ](\d+)", " ".join(args))
    if port:
        port = int(port.group(1))
        if port > 65535:
            sys.exit(
                "Port {} does not exist: the highest is 65535. Without --port, JupyterLab takes a free port.".format(
                    port
                )
            )
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                sys.exit(
                    "Port {} is in use. Choose a different port, or leave --port out:\n"
                    "JupyterLab then takes the first free port.".format(port)
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


def test_all(*args):
    return test("--all", *args)


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
        uv = [python_of(venv), "-m", "uv", "pip"]
        course, tests = [ROOT / name for name in ALL]
        if "--check" not in args:
            write = uv + "compile pyproject.toml --extra course --universal --quiet".split()
            write += "--python-version 3.11 --generate-hashes".split()
            write += "--no-annotate --no-header --no-strip-extras".split()
            failed = call(*(write + ["-o", course] + list(args)))
            there = re.findall(r"^[\w.-]+", course.read_text(encoding="utf-8"), re.MULTILINE)
            rest = ["--extra", "test", "-c", course]
            rest += ["--no-emit-package={}".format(name) for name in there]
            failed = failed or call(*(write + rest + ["-o", tests] + list(args)))
            if failed:
                return failed
        return check_lock(uv, course, tests, Path(folder) / "target")


def check_lock(uv, course, tests, target):
    """Resolve the locks for every supported platform and Python, from wheels, with hashes."""
    failed = 0
    for platform in PLATFORMS:
        locks = ["-r", course] + ([] if "musl" in platform else ["-r", tests])
        for python in PYTHONS:
            options = "install --no-config --dry-run --quiet --require-hashes".split()
            options += ["--only-binary", ":all:", "--target", target]
            options += ["--python-platform", platform, "--python-version", python]
            if call(*(uv + options + locks)):
                print("The lock cannot be installed on {}, Python {}.".format(platform, python))
                failed = 1
    return failed


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
    for folder in ["build", "site"]:  # other files in them may be the user's
        if (ROOT / folder).is_dir() and not any((ROOT / folder).iterdir()):
            (ROOT / folder).rmdir()


TARGETS = {
    "lab": lab,
    "test": test,
    "test-all": test_all,
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
        sys.exit(("Unknown target {!r}.\n\n".format(target) if target else "") + __doc__)
    use_new_enough_python()
    use_utf8()
    os.environ.pop(
        "PYTHONDONTWRITEBYTECODE", None
    )  # else each process recompiles every module, half of its start-up time
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
        sys.exit(
            "\nInterrupted. Run the same command again; it repeats only the steps that did not finish."
        )
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        sys.exit(
            "The disk is full. The course needs {} MB, and {} MB with its tests. Free some space\n"
            "and run the same command again.".format(*MB.values())
        )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
