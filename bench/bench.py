"""How fast the engine is, beside NumPy written by hand and whichever peers are installed: `make bench`.

Prints one table. Every figure comes from interleaved rounds in one process on one BLAS thread, as a median. All engines
compute the same number from the same seed, and nothing is printed for a row where they disagree. A peer that is not
installed is a dash (`pip install -e .[bench]` brings them). The last two columns, with a star, repeat ours without the
peers in a process of the row's own, where malloc is left as it comes; elsewhere it is told to keep large blocks, because
page faults would drown the rest.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import tracemalloc

# isort: off
import training  # each adds its rows, in this order
import scalars  # noqa: F401
import arrays

# isort: on
from measure import MODULES, ROWS, have, measure, median

ENGINES = (
    "ours",
    "compiled",
    "NumPy",
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
    """Peak of what NumPy allocates in one training step beyond the parameters, relative to NumPy by hand."""
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
    """Seconds that `import` takes in a fresh process, relative to NumPy's own."""
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


def line(title, figures, unit, loose=()):
    cells = [
        f"{figures[e]:.3g}" if e in figures else "–"
        for figures, engines in [(figures, ENGINES), (loose, LOOSE)]
        for e in engines
    ]
    print(f"{title + ', ' + unit:56}" + "".join(f"{c:>15}" for c in cells), flush=True)


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
    print(f"{'':56}" + "".join(f"{e:>15}" for e in [*ENGINES, *[f"{e}*" for e in LOOSE]]))
    loose = dict(figures for title in ratios for figures in run_child([title], {"ALONE": "1"}))
    for title, figures in run_child(chosen, KEEP_BLOCKS):
        if "ours" not in figures:
            print(f"{title}, × NumPy by hand")
            for part, figure in figures.items():
                print(f"    {part:52}{figure:>15.3g}", flush=True)
            continue
        line(
            title,
            figures,
            "× NumPy" if ROWS[title][1][0] == "×" else ROWS[title][1][0],
            loose.get(title, ()),
        )
    if not arguments:
        for n in (1, 4, 16, 64):
            line(f"gradient of {n} inputs by jvp", arrays.gradient_by_columns(n), "× grad")
        line("peak memory of a step, MLP 784-1024-1024-10", peak_memory(), "× NumPy")
        line("import", import_time(), "× NumPy")


if __name__ == "__main__":
    main(sys.argv[1:])
