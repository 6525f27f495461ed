"""Measure the memory that a calculation holds, with tracemalloc."""

import gc
import tracemalloc

import numpy as np

# NumPy's arrays alone, because the kernel's other threads allocate memory at any time.
ARRAYS = tracemalloc.DomainFilter(inclusive=True, domain=np.lib.tracemalloc_domain)


def _held():
    """Return the number of bytes in arrays that were allocated since tracing began and still exist."""
    return sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces([ARRAYS]).traces)


def footprint(forward, unit=1e6, back=True):
    """Return the memory held after `forward()`, and the peak of the memory up to the end of `backward()`.

    The memory held is that of the arrays that `forward()` has allocated and that still exist
    together with its result. The peak covers all memory that Python allocates.

    Parameters
    ----------
    forward : callable
        Returns a Tensor. Memory allocated before the call is not counted.
    unit : float
        The number of bytes in one unit of the results: 1e6 for megabytes, `x.nbytes` for arrays like x.
    back : bool
        If False, `backward()` does not run. Otherwise it runs with an upstream gradient of 1 everywhere.
    """
    gc.collect()
    tracemalloc.start()
    try:
        z = forward()
        held = _held()
        if back:
            z.backward(np.ones(z.shape))
        return held / unit, tracemalloc.get_traced_memory()[1] / unit
    finally:
        tracemalloc.stop()


def by_layer(model, x):
    """Return a list of (name, held, result), in MB, for every layer of the Sequential `model` called on x.

    `held` is the memory of the arrays that the layer adds, and `result` is the size of its output.
    The output is part of `held` unless it is a view.
    """
    gc.collect()
    tracemalloc.start()
    try:
        found, results = [], [x]
        for layer in model.layers:
            before = _held()
            results.append(layer(results[-1]))
            name = getattr(layer, "name", type(layer).__name__)
            found.append(
                (
                    name,
                    (_held() - before) / 1e6,
                    results[-1].data.nbytes / 1e6,
                )
            )
        return found
    finally:
        tracemalloc.stop()
