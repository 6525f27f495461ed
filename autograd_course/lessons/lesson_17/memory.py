"""Measure the memory that a calculation holds, with tracemalloc."""

import gc
import tracemalloc

import numpy as np


def footprint(forward, unit=1e6, back=True):
    """Return the memory that `forward()` holds with its result, and the peak up to the end of `backward()`.

    Both are in units of `unit` bytes: 1e6 for megabytes, `x.nbytes` for arrays like x. Without `back`
    no `backward()` runs. Memory allocated before the call is not counted. `forward` returns a Tensor;
    the upstream gradient is 1 everywhere.
    """
    gc.collect()
    tracemalloc.start()
    try:
        z = forward()
        held = tracemalloc.get_traced_memory()[0]
        if back:
            z.backward(np.ones(z.shape))
        return held / unit, tracemalloc.get_traced_memory()[1] / unit
    finally:
        tracemalloc.stop()


def by_layer(model, x):
    """Return [(name, held, result)] in MB for every layer of a Sequential called on x.

    `held` is the memory that the layer adds, and `result` the size of its output, which is part of
    `held` unless the output is a view.
    """
    gc.collect()
    tracemalloc.start()
    try:
        found, results = [], [x]
        for layer in model.layers:
            before = tracemalloc.get_traced_memory()[0]
            results.append(layer(results[-1]))
            name = getattr(layer, "name", type(layer).__name__)
            found.append(
                (
                    name,
                    (tracemalloc.get_traced_memory()[0] - before) / 1e6,
                    results[-1].data.nbytes / 1e6,
                )
            )
        return found
    finally:
        tracemalloc.stop()
