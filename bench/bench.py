"""Compare the speed of the engine with hand-written NumPy and the installed peers: `make bench`.

Print one table in Markdown: autograd_lib/README.md has a copy of this table. Every figure is a
median over interleaved rounds in one process on one BLAS thread, so that the columns can be
compared. All engines compute the same number from the same seed; a row where they disagree is an
error. A cell is empty where an engine cannot run it or is not installed, and the line below the
table lists these engines; `pip install -e .[bench]` installs all of them. The last two columns,
marked with a star, time our engine without the peers, in a separate process for each row and with
malloc's defaults; elsewhere malloc is set to keep large blocks, because page faults would otherwise
dominate.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import tracemalloc
from importlib import metadata

# isort: off
import training  # each adds its rows, in this order
import scalars  # noqa: F401
import arrays

# isort: on
from measure import MODULES, ROWS, have, measure, median

ENGINES = (  # the columns; NumPy by hand is the 1 of every ×
    "ours",
    "compiled",
    "PyTorch",
    "torch.compile",
    "JAX jit",
    "HIPS autograd",
    "MyGrad",
    "micrograd",
)
LOOSE = ENGINES[:2]
ONE_THREAD = {
    name: "1"
    for name in (
        "OPENBLAS_NUM_THREADS",
        "OMP_NUM_THREADS",
        "MKL_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    )
}
KEEP_BLOCKS = {
    "MALLOC_TRIM_THRESHOLD_": str(2**32 - 1),
    "MALLOC_MMAP_THRESHOLD_": str(2**32 - 1),
    "MALLOC_TOP_PAD_": str(2**28),
}


def peak_memory():
    """Return the peak memory of one training step, relative to that of handwritten NumPy code."""
    runs = training.mlp([784, 1024, 1024, 10], 256, "float32")
    peaks = {}
    for engine in runs.keys() - {
        "PyTorch",
        "torch.compile",
        "JAX jit",
    }:  # which do not allocate through Python
        runs[engine]()
        tracemalloc.start()
        runs[engine]()
        peaks[engine] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return {engine: peak / peaks["NumPy"] for engine, peak in peaks.items()}


def import_time():
    """Return the time of `import` in a fresh process, relative to NumPy's own."""
    names = {
        "ours": "autograd_lib",
        "NumPy": "numpy",
        **{e: m for e, m in MODULES.items() if have(e)},
    }
    times = {engine: [] for engine in names}
    for _ in range(5):
        for engine, name in names.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", f"import {name}"], check=True)
            times[engine].append(time.perf_counter() - start)
    return {
        engine: median([t / n for t, n in zip(ts, times["NumPy"])]) for engine, ts in times.items()
    }


def child(titles):
    for title in titles:
        build, unit, rounds = ROWS[title]
        print(json.dumps([title, measure(build, unit, rounds)]), flush=True)


def run_child(titles, env):
    process = subprocess.Popen(
        [sys.executable, __file__, "--rows", *titles],
        env=os.environ | ONE_THREAD | env,
        stdout=subprocess.PIPE,
        text=True,
    )
    for line in process.stdout:
        yield json.loads(line)
    if process.wait():
        raise SystemExit(process.returncode)


def cells(*texts):
    print("| " + " | ".join(texts) + " |", flush=True)


def header():
    columns = [*ENGINES, *[f"{engine}*" for engine in LOOSE]]
    cells("", *columns)
    cells("---", *["---:"] * len(columns))


def digits(figure):
    """Format a number with three digits, or with all digits before the decimal point."""
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"


def line(title, figures, unit, loose=()):
    cells(
        title,
        *[
            f"{digits(of_run[engine])} {unit}" if engine in of_run else ""
            for of_run, engines in [(figures, ENGINES), (loose, LOOSE)]
            for engine in engines
        ],
    )


def versions():
    """Return the names and versions of NumPy and the peers that were timed."""
    names = {"NumPy": "numpy", **{engine: m for engine, m in MODULES.items() if have(engine)}}
    return ", ".join(
        f"{engine.removesuffix(' jit')} {metadata.version(module)}"
        for engine, module in names.items()
    )


def main(arguments):
    if arguments[:1] == ["--rows"]:
        return child(arguments[1:])
    parser = argparse.ArgumentParser(
        prog="make bench",
        description="Time the engine beside NumPy by hand and its peers.",
        epilog="The rows:\n  " + "\n  ".join(ROWS),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "words", nargs="*", help="only the rows that have these words in their title"
    )
    arguments = parser.parse_args(arguments).words
    chosen = [t for t in ROWS if all(a.lower() in t.lower() for a in arguments)]
    ratios = [t for t in chosen if ROWS[t][1][0] == "×"]
    header()
    loose = dict(figures for title in ratios for figures in run_child([title], {"ALONE": "1"}))
    parts = []
    for title, figures in run_child(chosen, KEEP_BLOCKS):
        if "ours" in figures:
            line(title, figures, ROWS[title][1][0], loose.get(title, ()))
        else:
            parts.append((title, figures))
    if not arguments:
        for n in (1, 4, 16, 64):
            line(
                f"gradient of {n} input{'s' * (n > 1)} by jvp",
                arrays.gradient_by_columns(n),
                "× grad",
            )
        line("peak memory of a step, MLP 784-1024-1024-10", peak_memory(), "×")
        line("import", import_time(), "×")
    print(f"\n× NumPy by hand. Python {platform.python_version()}, {versions()}.")
    if missing := [engine for engine in MODULES if not have(engine)]:
        print(f"Not installed: {', '.join(missing)}. `pip install -e .[bench]` installs them.")
    for title, figures in parts:
        print(f"\n{title}, × NumPy by hand:\n")
        for part, figure in figures.items():
            print(f"- {part}: {figure:.3g}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
