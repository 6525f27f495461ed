"""A prediction, for a page to ask and to judge without a kernel: what it asks of the kit are `panel.asks` and its Ask."""

from math import isinf

MIME = "application/vnd.autograd-course.prediction+json"


def bundle(panel):
    """What a notebook shows of a panel of questions, and, under MIME, the prediction in it, if it is one."""
    shown = panel._repr_mimebundle_()
    return shown | {MIME: prediction(panel)} if panel.asks else shown


def prediction(panel):
    """JSON: name; parts [{label, choices or None, kind, value, shown, room}]; sure, the words for it; praise {good sure: words}.

    kind: what is typed, "number", "row" or "shape", or "choice". value: the answer as texts, one a number or the choice;
    room: how far off a number may be.
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
