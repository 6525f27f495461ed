"""Settings of the whole suite."""
import os

import hypothesis

# One BLAS thread in every process: the suite fills all cores with processes, and threads that wait for each other
# made a lesson of 8 s take 140 s. Here, because it must be said before NumPy is loaded; kernels inherit it.
for name in ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"]:
    os.environ.setdefault(name, "1")

# The same examples every time, and no time limit: a slow machine is not a failure.
hypothesis.settings.register_profile("suite", derandomize=True, deadline=None)
hypothesis.settings.load_profile("suite")
