"""What the notebooks need and the engine must not know. README.md beside this file shows every piece.

Names are fetched on first use, so that `installation()` can still report when matplotlib or ipywidgets is missing.
"""

from importlib import import_module

_HOME = {
    "Picture": "show.picture",
    "explore": "show.sliders",
    "track": "show.bar",
    "draw_graph": "show.graph",
    "live_graph": "show.live",
    "backward_stepper": "show.stepper",
    "forward_stepper": "show.forward",
    "slope_explorer": "show.slopes",
    "table_of_rules": "show.rules",
    "check": "ask",
    "Verdict": "ask",
    "yours_or_ours": "ask",
    "same_line": "ask.same_line",
    "predict": "ask.questions",
    "recall": "ask.questions",
    "card": "ask.questions",
    "place": "ask.questions",
    "progress": "ask.report",
    "gym": "practice",
    "unaided": "practice.unaided",
    "elsewhere": "peers",
    "digits": "data",
    "scans": "data",
    "moons": "data",
    "mnist": "data",
    "installation": "doctor",
}
__all__ = list(_HOME)


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            f"{name} needs {missing.name}, which is not installed. autograd_course.installation() shows the command "
            "that installs all that the course needs.",
            name=missing.name,
        ) from None
    return globals()[name]


def __dir__():
    return sorted(__all__)
