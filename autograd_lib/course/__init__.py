"""What the notebooks need and the engine must not know. README.md beside this file shows every piece.

Names are fetched on first use, so that `installation()` can still report when matplotlib or ipywidgets is missing.
"""
from importlib import import_module

_HOME = {
    "Picture": "picture", "explore": "sliders", "track": "bar",
    "draw_graph": "graph", "live_graph": "live", "backward_stepper": "stepper", "slope_explorer": "slopes",
    "check": "exercises", "Verdict": "exercises",
    "predict": "questions", "recall": "questions", "card": "questions", "place": "questions", "progress": "report",
    "same_line": "rules", "table_of_rules": "rules",
    "digits": "data", "moons": "data", "mnist": "data",
    "confusion": "plots", "misread": "plots",
    "installation": "doctor",
    "style": None, "plots": None,
}
__all__ = list(_HOME)


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOME[name]
    found = import_module(f"{__name__}.{home or name}")
    globals()[name] = found if home is None else getattr(found, name)
    return globals()[name]


def __dir__():
    return sorted(__all__)
