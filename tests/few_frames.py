"""Start a kernel like web/kernel_startup.py, but draw only the ends and the start of each slider.

This is for pages whose sliders no test of this run moves; drawing every position would take a third
of the time of all runs.
"""

import sys
from pathlib import Path

WEB = Path(__file__).parents[1] / "web"
sys.path.insert(0, str(WEB))
import precomputed_frames  # noqa: E402


def few(every, start, players):
    """Return a dict from name to the values that the page offers, and True if the page combines them.

    One slider moves at a time, so the second result is False unless there are no sliders.
    """
    return {
        name: [values[i] for i in sorted({0, values.index(start[name]), len(values) - 1})]
        for name, values in every.items()
    }, not every


precomputed_frames.chosen = few
exec((WEB / "kernel_startup.py").read_text(encoding="utf-8"))
sys.path.remove(str(WEB))
del sys, Path, WEB, few
