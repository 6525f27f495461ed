"""How much a calculation holds, asked of tracemalloc, Python's own ledger of what is allocated."""

import gc
import tracemalloc

import numpy as np


def footprint(forward, unit=1e6, back=True):
    """(held, most): what `forward()` leaves allocated as long as its result is there, and the most that is allocated at
    any time until the result's `backward()` is done, in units of so many bytes: 1e6 for megabytes, `x.nbytes` for
    arrays like x. Without `back` there is no `backward()`, for where only what is held is asked.

    What was allocated before the call is not counted. `forward` returns a Tensor; the gradient that arrives there is 1
    everywhere.
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
    """[(name, held, result)] for every layer of a Sequential called on x, in MB: what the layer adds to what is held,
    and the size of what it returns, which is among it if it is no view."""
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
