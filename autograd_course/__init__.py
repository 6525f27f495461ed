"""Tools for the notebooks. The engine does not depend on them; README.md describes every part.

Names are imported on first use, so that `installation()` can still report a missing matplotlib or
ipywidgets.
"""

from importlib import import_module

_HOME = {
    "Picture": "drawing.picture",
    "explore": "widgets.sliders",
    "track": "widgets.progress_bar",
    "draw_graph": "widgets.graph",
    "live_graph": "widgets.live_graph",
    "backward_stepper": "widgets.stepper",
    "forward_stepper": "widgets.forward_stepper",
    "slope_explorer": "widgets.slopes",
    "playground": "play.view",
    "table_of_rules": "drawing.rules",
    "check": "grading",
    "Verdict": "grading",
    "yours_or_ours": "grading",
    "same_line": "grading.same_line",
    "predict": "quiz.questions",
    "derive": "derivations.panel",
    "recall": "quiz.questions",
    "card": "quiz.questions",
    "place": "quiz.questions",
    "progress": "quiz.report",
    "gym": "practice",
    "unaided": "practice.unaided",
    "elsewhere": "optional_frameworks",
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
            f"autograd_course.{name} requires {missing.name}, which is not installed. Run "
            "autograd_course.installation() for the command that installs everything that the "
            "course needs.",
            name=missing.name,
        ) from None
    return globals()[name]


def __dir__():
    return sorted(__all__)
