"""make mutate: delete each statement of the core and list those whose deletion no test detects.

    make mutate                         all statements; README.md says how long it takes
    make mutate ARGS="tape"             those of the files whose path starts with "tape"
    make mutate ARGS="tape:Tensor"      those in the definitions that start with "Tensor"
    make mutate ARGS="--all tape"       print the contract or test that fails for every other statement
    make mutate ARGS="--write tape"     store what only tests detect, for the page *Read every line*;
                                        statements whose test is stored and still exists are skipped

Each statement is deleted in a separate process, forked from one that has imported NumPy and pytest.
The contracts of autograd_course/tour/contracts.py run first and take 50 ms. If all contracts are
kept, the tests that failed for other statements of the same definition or file run next, then all
of tests/engine, until a test fails. Infinite loops are stopped after a number of iterations or
seconds.
"""

import argparse
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import hypothesis
import hypothesis.extra.numpy  # with NumPy, here, so that each process has them from the start
import pytest

from autograd_course.tour.contracts import CONTRACTS, kept, outcomes
from autograd_course.tour.mutations import HOME, EngineWithout, files, statements
from autograd_course.tour.page import NOTICED

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests/engine"
LONGEST = 20, 200  # seconds allowed for one test: of CPU time, and of wall time if it waits forever
SLOW = {"test_a_million_ops_deep", "test_derivatives_of_a_deep_chain_by_every_transform"}
MOST_STEPS = 3_000_000  # limit for one test that is not in SLOW; the others take at most 300,000
MOST_STEPS_SLOW = 30_000_000  # the test a million ops deep takes four million
MOST_LIKELY = 30  # tests that run before all others
MOST_MEMORY = 6 * 2**30  # bytes, to stop unbounded growth
OPTIONS = [
    "-q",
    "-x",
    "-o",
    "addopts=",
    "--import-mode=importlib",
    "--assert=plain",
    "--tb=no",
    f"--rootdir={ROOT}",
    "-p",
    "no:cacheprovider",
]


class Watch:
    """Limit the steps and seconds of each test, and write the name of the running or failed test
    to `file`; a pytest plugin.

    Only the tests named in `only` run, in this order, unless it is empty.
    """

    def __init__(self, finder, file, only=()):
        self.finder, self.file, self.only, self.has_failed = finder, file, list(only), False

    def pytest_collection_modifyitems(self, items):
        items.sort(key=lambda item: item.name in SLOW)
        if self.only:
            found = {item.nodeid: item for item in items}
            items[:] = [found[name] for name in self.only if name in found]

    def pytest_runtest_setup(self, item):
        self.start(item.nodeid, MOST_STEPS_SLOW if item.name in SLOW else MOST_STEPS)

    def start(self, name, steps=MOST_STEPS_SLOW):
        self.file.write_text(name, encoding="utf-8")  # stays if a signal ends the process
        self.finder.steps = steps
        signal.setitimer(
            signal.ITIMER_PROF, LONGEST[0]
        )  # the default action ends the process, as for the other signal
        signal.alarm(LONGEST[1])

    def pytest_runtest_logreport(self, report):
        if report.failed and not self.has_failed:
            self.has_failed = True
            self.file.write_text(report.nodeid, encoding="utf-8")

    pytest_collectreport = pytest_runtest_logreport


def notice(statement, file, likely, folder=HOME, tests=TESTS):
    """Write the contract or test that fails without `statement` to `file`, or "".

    The tests named in `likely` run before all others. Call this in a separate process.
    """
    if broken := [
        one
        for one, outcome in zip(CONTRACTS, outcomes(statement, folder=folder))
        if not kept(one, outcome)
    ]:
        file.write_text(f"contract: {broken[0].program.splitlines()[-1]}", encoding="utf-8")
        return
    for name in list(sys.modules):
        if name.partition(".")[0] in ("autograd_lib", "autograd_course", "tests"):
            del sys.modules[name]
    finder = EngineWithout("autograd_lib", statement, folder, MOST_STEPS_SLOW)
    sys.meta_path.insert(0, finder)
    likely_files = sorted({ROOT / name.partition("::")[0] for name in likely})
    runs = [(likely, likely_files)] if likely else []
    for only, paths in [*runs, *(((), [path]) for path in in_order(tests, statement.file))]:
        watch = Watch(finder, file, only)
        watch.start(f"{paths[0].name} cannot be run")
        code = pytest.main([*OPTIONS, f"--confcutdir={tests}", *map(str, paths)], plugins=[watch])
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            return
    file.write_text("", encoding="utf-8")


def likely_tests(statement, known):
    """Return the tests known to notice a statement of the same definition, then of the same file,
    then of the compiler if it is one of the compiler's; within each of these groups, the newest
    come first.
    """

    def distance(place):
        file, _, where = place.partition(":")
        return (
            (where != statement.where)
            if file == statement.file
            else 2
            if file.partition("/")[0] == statement.file.partition("/")[0]
            else 3
        )

    near = sorted((place for place in known if distance(place) < 3), key=distance)
    return list(dict.fromkeys(by for place in near for by in reversed(known[place])))[:MOST_LIKELY]


def in_order(tests, file):
    """Return the test files: first the one named after the file of the statement, then the
    fastest.
    """
    own = "compile" if file.startswith("compiler") else file
    order = [
        own,
        "transforms",
        "checkpoint",
        "operators",
        "writeups",
        "tape",
        "cost",
        "check",
        "optim",
        "ops",
        "nn",
    ]
    return sorted(
        tests.glob("test_*.py"), key=lambda file: [*order, file.stem[5:]].index(file.stem[5:])
    )


def mutate(chosen, cores, folder=HOME, tests=TESTS, told=lambda *_: None, stored=()):
    """Return a dict from each statement to the contract or test that fails without it, or "", from
    `cores` processes at a time.

    `stored` maps each definition to a dict from the text of a statement to a test, as the file for
    the page does.
    """
    outcomes(folder=folder)  # compiles the engine once for all processes
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # finding plugins takes longer than a test
    running, found = {}, {}
    known = {place: list(texts.values()) for place, texts in dict(stored).items()}

    def wait():
        pid, status = os.wait()
        statement, file = running.pop(pid)
        stopped = f"stopped, {os.waitstatus_to_exitcode(status)}"
        by = found[statement] = file.read_text(encoding="utf-8") if file.exists() else stopped
        if "::" in by:
            known.setdefault(f"{statement.file}:{statement.where}", []).append(by)
        told(statement, by, len(found))

    with tempfile.TemporaryDirectory() as kept_in:
        for number, statement in enumerate(chosen):
            if len(running) == cores:
                wait()
            file = Path(kept_in, str(number))
            if pid := os.fork():
                running[pid] = statement, file
                continue
            try:
                resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                os.dup2(1, 2)
                notice(statement, file, likely_tests(statement, known), folder, tests)
            finally:
                os._exit(0)
        while running:
            wait()
    return found


def chosen_by(patterns, folder=HOME):
    """Return the statements selected by "tape" or "tape:Tensor", or without a pattern those of
    all files.
    """
    split = [pattern.partition(":")[::2] for pattern in patterns] or [("", "")]
    return [
        one
        for file in files(folder)
        for one in statements(file, folder)
        if any(one.file.startswith(file) and one.where.startswith(where) for file, where in split)
    ]


def write_down(found, file=NOTICED):
    """Write, by definition and text, which test fails without each statement that no contract
    needs.
    """
    kept_so_far = json.loads(file.read_text(encoding="utf-8"))
    for statement, by in found.items():
        texts = kept_so_far.setdefault(f"{statement.file}:{statement.where}", {})
        texts.pop(statement.text.strip(), None)
        if "::" in by:
            texts[statement.text.strip()] = by
    kept_so_far = {where: texts for where, texts in kept_so_far.items() if texts}
    unfinished = file.with_suffix(".tmp")  # so that a run that is ended leaves a whole file
    unfinished.write_text(
        json.dumps(kept_so_far, indent=1, ensure_ascii=False, sort_keys=True) + "\n",
        encoding="utf-8",
    )
    os.replace(unfinished, file)


def is_stored(statement, stored):
    """Return True if a test that still exists is stored for `statement`."""
    by = stored.get(f"{statement.file}:{statement.where}", {}).get(statement.text.strip(), "")
    file, _, test = by.partition("[")[0].partition("::")
    return bool(test) and f"def {test}(" in (ROOT / file).read_text(encoding="utf-8")


def main(*arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--all", action="store_true", help="name what notices each statement too")
    parser.add_argument(
        "--write", action="store_true", help="write down for the page which test notices"
    )
    parser.add_argument("patterns", nargs="*", metavar="FILE[:DEFINITION]")
    given = parser.parse_args(arguments)
    hypothesis.settings.register_profile(
        "mutate",
        derandomize=True,
        deadline=None,
        database=None,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
    )
    hypothesis.settings.load_profile("mutate")
    chosen, started = chosen_by(given.patterns), time.monotonic()
    stored = json.loads(NOTICED.read_text(encoding="utf-8"))
    if given.write:
        chosen = [one for one in chosen if not is_stored(one, stored)]

    def told(statement, by, done):
        if given.write:
            write_down({statement: by})
        if given.all or not by:
            print(
                f"autograd_lib/{statement.file}.py:{statement.line} in {statement.where or 'the module'}"
                f"{': ' + by if by else ' SURVIVES'}\n{statement.text}",
                flush=True,
            )
        elif sys.stdout.isatty():
            print(f"\r{done} of {len(chosen)}", end="\r", flush=True)

    found = mutate(chosen, len(os.sched_getaffinity(0)), told=told, stored=stored)
    counts = (
        Counter(one.file for one in chosen),
        Counter(one.file for one, by in found.items() if not by),
    )
    print(
        "\n".join(
            f"{file}: {counts[1][file]} of {number} survive" for file, number in counts[0].items()
        )
    )
    print(
        f"{sum(by.startswith('contract: ') for by in found.values())} of {len(chosen)} were noticed by a contract. "
        f"{(time.monotonic() - started) / 60:.1f} minutes, {sum(os.times()[:4]) / 60:.1f} of them at work."
    )
    return int(any(not by for by in found.values()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
