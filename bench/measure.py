"""Define the rows of the table, and measure a row."""

import importlib.util
import os
import time

MODULES = {
    "PyTorch": "torch",
    "JAX jit": "jax",
    "HIPS autograd": "autograd",
    "MyGrad": "mygrad",
    "micrograd": "micrograd",
}
ROWS = {}


def row(title, unit, rounds=15):
    """Register a benchmark: a function that returns a dict that maps engines to functions to time.

    All functions in the dict must return the same number, which is checked. `unit` is a pair: the
    name of the unit, and the number of operations by which the time is divided. The unit "×" is
    the time divided by that of NumPy code written by hand.
    """

    def register(build):
        ROWS[title] = build, unit, rounds
        return build

    return register


def have(engine):
    return not os.environ.get("ALONE") and importlib.util.find_spec(MODULES[engine]) is not None


def measure(build, unit, rounds):
    """Return a dict that maps engines to their medians over interleaved rounds, for one row."""
    runs = build()
    values = {engine: [float(run()) for _ in range(3)] for engine, run in runs.items()}
    first = next(iter(values.values()))
    for engine, value in values.items():
        if any(abs(a - b) > 1e-4 * (1 + abs(b)) for a, b in zip(value, first)):
            raise SystemExit(
                f"{engine} computes {value}, but {next(iter(values))} computes {first}; "
                "make both compute the same number"
            )
    quickest = min(timed(run, 1) for run in runs.values())
    repeat = max(1, int(0.004 / quickest))
    times = {engine: [] for engine in runs}
    for _ in range(rounds):
        for engine, run in runs.items():
            once = timed(run, 1)
            times[engine].append(timed(run, repeat) if once < 0.01 else once)
    if unit[0] == "×":
        return {
            engine: median([t / n for t, n in zip(ts, times["NumPy"])])
            for engine, ts in times.items()
        }
    return {engine: median(ts) * 1e6 / unit[1] for engine, ts in times.items()}


def timed(run, repeat):
    start = time.perf_counter()
    for _ in range(repeat):
        run()
    return (time.perf_counter() - start) / repeat


def median(xs):
    return sorted(xs)[len(xs) // 2]
