"""Pack a prediction, so that a page can show and check it without a kernel."""

from math import isinf

MIME = "application/vnd.autograd-course.prediction+json"


def bundle(panel):
    """Return the notebook output of a panel of questions: a dict of data by MIME type.

    If the panel asks for a prediction, the data of the prediction are added under the type MIME.
    """
    shown = panel._repr_mimebundle_()
    return shown | {MIME: prediction(panel)} if panel.asks else shown


def prediction(panel):
    """Return the data of the prediction in `panel` as a dict that can be written as JSON.

    The dict has the keys name, parts, sure (the levels of confidence to choose from) and praise
    (the verdict for a right or wrong answer and each level of confidence, such as "True certain").

    Each part of the answer is a dict with the keys label, kind, choices, shown, value and room.
    kind is "number", "row" or "shape" for an answer that is typed, or "choice". choices is a list
    or None, shown is the text of the right answer, value lists its numbers as texts, and room lists
    the tolerance of each number.
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
