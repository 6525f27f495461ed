"""Pack a prediction, so that a page can show and check it without a kernel."""

from math import isinf

MIME = "application/vnd.autograd-course.prediction+json"


def bundle(panel):
    """Return the notebook output of a panel of questions, with a prediction's data under MIME."""
    shown = panel._repr_mimebundle_()
    return shown | {MIME: prediction(panel)} if panel.asks else shown


def prediction(panel):
    """Return a prediction as JSON: name, parts, sure (confidence labels), praise {label: text}.

    A part is {label, choices or None, kind, value, shown, room}. `kind` is "number", "row" or
    "shape" for a typed answer, or "choice". `value` is the answer as texts, one for each number, or
    the choice; `room` is the tolerance of a number.
    """
    from autograd_course import record
    from autograd_course.quiz import questions

    ask = panel.children[0]
    told = [part(*one, ask.question.tolerance) for one in questions.parts(ask.question)]
    praise = {
        f"{good} {sure or ''}": ask.praise(good, sure)
        for good in (True, False)
        for sure in (None, *record.SURE)
    }
    return {"name": panel.asks, "parts": told, "sure": record.SURE, "praise": praise}


def part(label, answer, choices, tolerance):
    from autograd_course.quiz.questions import shown

    kind = {bool: "choice", str: "choice", tuple: "shape", list: "row"}.get(type(answer), "number")
    numbers = [] if kind == "choice" else list(answer) if kind in ("shape", "row") else [answer]
    return {
        "label": label,
        "kind": kind,
        "choices": ["yes", "no"] if isinstance(answer, bool) else choices,
        "shown": shown(answer),
        "value": [repr(float(number)) for number in numbers],
        "room": [
            0.0
            if isinf(number)
            else 1e-12 + (abs(number) * 0.002 if tolerance is None else tolerance)
            for number in numbers
        ],
    }
