"""Show questions that the learner answers before our answer is shown: predict, recall, card, place.

The texts of the questions are in lessons/lesson_NN/exercises.py. The functions that a lesson calls
raise no errors. No question has to be answered: the learner can show the answer to an unanswered
question, which then does not count.
"""

import re
from html import escape
from math import isinf

import ipywidgets as widgets
import mistune

from .. import record
from ..drawing import style
from ..drawing.formatting import minus, number
from ..drawing.table import table
from ..grading import registered
from .arithmetic import number_in
from .texts import BROUGHT_BACK, CARDS, PLACEMENT, PREDICTIONS, RECALL

_to_html = mistune.create_markdown(plugins=["math", "table"])
POLITE = 'role="status"'  # a screen reader reads it out when it comes
_ROW = {"flex_flow": "row wrap", "align_items": "flex-end", "overflow": "visible"}


# ---------------------------------------------------------------- answers, without a widget


def parts(question):
    """Return a list of tuples (label, answer, choices), one for each part of a Question.

    A question has several parts if its answer is a dict. Otherwise there is a single part with the
    label "", or no part if the question has no answer. `choices` is None if the answer is typed.
    """
    if isinstance(question.answer, dict):
        return [
            (label, answer, (question.choices or {}).get(label))
            for label, answer in question.answer.items()
        ]
    return [] if question.answer is None else [("", question.answer, question.choices)]


def right(question, typed):
    """Return True if the learner's answers are all right.

    Parameters
    ----------
    question : Question
        The question, with the right answers.
    typed : list of str
        The learner's answer to each part, in the order of `parts`.

    Raises
    ------
    ValueError
        If a text cannot be read. The message says how to write the answer.
    """
    return all(
        [
            _agrees(text, answer, question.tolerance)
            for text, (_, answer, _) in zip(typed, parts(question))
        ]
    )


def _agrees(text, answer, tolerance):
    if isinstance(answer, (bool, str)):
        return text == shown(answer)
    if isinstance(answer, tuple):
        return shape_in(text) == answer
    if isinstance(answer, list):
        numbers = numbers_of(text)
        agree = [_is_near(*pair, tolerance) for pair in zip(numbers, answer)]
        return len(numbers) == len(answer) and all(agree)
    return _is_near(text, answer, tolerance)


def numbers_of(text):
    """Split a text with several numbers into a list of strings, one for each number.

    Examples of texts are "5, 7, 9", "[5 7 9]", "0,5; 0,7", "tensor([5., 7.])" and "3 * 4, log 10".
    """
    inner = re.sub(r"^(np\.|torch\.)?(array|tensor)", "", text.strip()).strip("[]() ")
    more = inner.count("(") - inner.count(")")  # of these brackets were parts of a number
    inner = "(" * -more + inner + ")" * more
    decimal_commas = ";" in inner and not re.search(r",\s", inner)
    inner = re.sub(r"\s+%", "%", inner)
    inner = re.sub(r"\s*([*/^·×÷])\s*|\s+([+−-])\s+|([a-z])\s+", r"\1\2\3", inner)
    return re.split(r"\s*;\s*" if decimal_commas else r"[\s,;]+", inner)


def _is_near(text, answer, tolerance):
    """Return True if the number in a text equals the answer within the tolerance.

    "70 %" equals the answers 70 and 0.7.
    """
    x = number_in(text)
    in_percent = text.rstrip().endswith("%") and near(x / 100, answer, tolerance)
    return near(x, answer, tolerance) or in_percent


def near(x, answer, tolerance):
    room = abs(answer) * 0.002 if tolerance is None else tolerance
    return x == answer or not isinf(answer) and abs(x - answer) <= room + 1e-12


def shape_in(text):
    if not re.fullmatch(r"\s*(torch\.Size)?[\s0-9,x×*()\[\]]*", text):
        raise ValueError(
            f"“{text}” is not a shape. Write it like (8, 5), or () for a single number."
        )
    return tuple(map(int, re.findall("[0-9]+", text)))


def shown(answer):
    """Return an answer as text, in the form in which the learner sees the answer."""
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if isinstance(answer, list):
        return "[" + ", ".join(map(shown, answer)) + "]"
    if isinstance(answer, (tuple, str)):
        return str(answer)
    return minus(f"{answer:,}") if isinstance(answer, int) else number(answer)


# ---------------------------------------------------------------- parts of the widgets


class Panel(widgets.VBox):
    """Show a box of widgets, with a static version for a reader without a kernel.

    Parameters
    ----------
    children : list of widgets
        The widgets in the box, from top to bottom.
    html : str
        The static version as HTML, with folded answers.
    text : str
        The static version as plain text, without answers.
    asks : str, optional
        The name of the prediction in the box, if any. `children[0]` is then the Ask for this
        prediction.
    """

    def __init__(self, children, html, text, asks=None):
        super().__init__(
            children,
            layout=widgets.Layout(
                border_left=f"5px solid {style.LINE}",
                padding="2px 0 2px 10px",
                margin="2px 0",
                overflow="visible",
            ),
        )
        self.html, self.text, self.asks = html, text, asks

    def _repr_mimebundle_(self, **options):
        return super()._repr_mimebundle_(**options) | {
            "text/html": self.html,
            "text/plain": self.text,
        }


def as_html(markdown):
    """Convert Markdown to HTML with tightly spaced paragraphs and code that does not wrap."""
    return (
        _to_html(markdown)
        .replace("<p>", '<p style="margin:4px 0">')
        .replace("<code>", '<code style="white-space:pre">')
    )


def say(markdown, above="", role=""):
    """Convert Markdown to HTML for the widget HTMLMath, which renders the formulas.

    `above` is HTML that is put before the text; it is not escaped. `role` is an HTML attribute for
    the result, such as POLITE, or "" for no attribute.
    """
    return f'<div {role} style="line-height:1.5;max-width:50em">{above}{as_html(markdown)}</div>'


def fold(summary, markdown):
    return f"<details><summary>{summary}</summary>{as_html(markdown)}</details>"


def missing(what, name):
    """Return a Panel with the message that no question is called `name`.

    `what` is the kind of question: "prediction", "lesson" or "card".
    """
    text = f"There is no {what} {name!r}. Write the name exactly as the lesson does."
    return Panel([widgets.HTML(f"<div>{escape(text)}</div>")], escape(text), text)


class _Part:
    """Hold the text box or the choices for one part of an answer.

    The property `text` is the answer that was typed or chosen, or "" if there is none yet.
    """

    def __init__(self, label, answer, choices):
        options = ["yes", "no"] if isinstance(answer, bool) else choices
        looks = {"description": label, "style": {"description_width": "initial"}}
        if options:
            across = len("".join(options)) + 4 * len(options) < 60
            self.widget = widgets.RadioButtons(
                options=options, value=None, **looks, **_radio(across)
            )
        else:
            example = {tuple: "like (8, 5)", list: "like 17, −0.3, 11"}.get(
                type(answer), "like 17, −0.3, 1/7"
            )  # not an answer
            self.widget = widgets.Text(
                placeholder=example,
                **looks,
                layout=widgets.Layout(width=f"{13 + len(label) / 2}em", margin="2px 24px 2px 0"),
            )

    @property
    def text(self):
        return (self.widget.value or "").strip()

    @text.setter
    def text(self, text):
        options = getattr(self.widget, "options", None)
        self.widget.value = text if options is None or text in options else None


def _radio(across):
    return {
        "orientation": "horizontal" if across else "vertical",
        "layout": widgets.Layout(width="auto", margin="2px 24px 2px 0"),
    }


def _praise(good, sure):
    if good:
        return {
            "certain": "Right, and you were certain.",
            "guessing": "Right. Read the explanation, so that next time it is more than a guess.",
        }.get(sure, "Right.")
    if sure == "certain":
        return "Worth remembering: you will be asked this question again in the next lesson."
    return "Not this time. A surprising answer is easier to remember."


class Ask(widgets.VBox):
    """Show one question: boxes for the answer, and a button that shows our answer.

    After the answer is shown, the button lets the learner answer the question again.

    Parameters
    ----------
    question : Question
        The question to show.
    opened : callable
        `opened(ask)` is called with this Ask each time our answer is shown. `ask.good` is then
        True, False, or None if the learner gave no answer, and `ask.openings` counts the calls.
    above : str
        Markdown to show above the boxes, or "".
    number : str
        The number of the question, or "" for a question without a number.
    sure : bool
        If True, also ask how sure the learner is.
    praise : callable
        `praise(good, sure)` returns the sentence above our answer when our answer is shown for the
        first time. `good` is True or False, and `sure` is the level of confidence, or None.
    earlier : dict, optional
        The learner's recorded prediction, with the keys "answer", "right" and "sure". If given, our
        answer is shown from the start, unless the parts of the question have changed since.
    """

    def __init__(
        self, question, opened, *, above="", number="", sure=False, praise=_praise, earlier=None
    ):
        self.question, self.opened, self.praise = question, opened, praise
        self.number, self.openings, self.good, self.is_open = number, 0, None, False
        self.parts = [
            _Part(f"{number and number + '. '}{label or 'your answer'}", *rest)
            for label, *rest in parts(question)
        ]
        self.sure = widgets.RadioButtons(
            options=record.SURE,
            value=None,
            description="how sure?",
            style={"description_width": "initial"},
            **_radio(True),
        )
        self.button = widgets.Button(layout=widgets.Layout(width="auto"))
        self.answer = widgets.HTMLMath()
        boxes = [part.widget for part in self.parts] + [self.sure] * (sure and bool(self.parts))
        row = widgets.HBox([*boxes, self.button], layout=widgets.Layout(**_ROW))
        super().__init__(
            [widgets.HTMLMath(say(above))] * bool(above) + [row, self.answer],
            layout=widgets.Layout(overflow="visible", margin="0 0 6px"),
        )
        self.button.on_click(lambda _: self.again() if self.is_open else self.reveal())
        self.again()
        if earlier:
            for part, text in zip(self.parts, earlier["answer"]):
                part.text = text
            if [part.text for part in self.parts] == earlier["answer"]:
                self.sure.value = earlier["sure"] if earlier["sure"] in record.SURE else None
                self._show(earlier["right"])
            else:  # the question is another by now
                for part in self.parts:
                    part.text = ""

    def again(self):
        self._turn(
            False,
            f"Show answer {self.number}".strip() if self.number or not self.parts else "Reveal",
        )
        self.answer.value = ""

    def reveal(self):
        typed = [part.text for part in self.parts]
        try:
            if any(typed) and not all(typed):
                raise ValueError("Fill in every part, or clear them all to see the answer.")
            good = right(self.question, typed) if any(typed) else None
        except ValueError as unclear:
            self.answer.value = say("", escape(str(unclear)), role=POLITE)
            return
        self._show(good)
        self.opened(self)

    def _show(self, good):
        self.good, self.openings = good, self.openings + 1
        self._turn(True, "Try again" if self.parts else "Hide")
        self.answer.value = say(self.question.reveal, self._verdict(), POLITE)

    def _turn(self, is_open, action):
        self.is_open, self.button.description = is_open, action
        for control in [*(part.widget for part in self.parts), self.sure]:
            control.disabled = is_open

    def _verdict(self):
        """Return HTML with a remark and a table of the learner's answer beside our answer.

        If the learner gave no answer, return "".
        """
        if self.good is None:
            return ""
        word = (
            self.praise(self.good, self.sure.value)
            if self.openings == 1
            else "Right this time."
            if self.good
            else "Not this time."
        )
        mark = '<span aria-hidden="true">✓</span> ' if self.good else ""
        you = "You" + (f", {self.sure.value}" if self.sure.value else "")
        given = [
            (escape(label), part.text, shown(answer))
            for part, (label, answer, _) in zip(self.parts, parts(self.question))
        ]
        rows = [
            (
                label if label else ("", "padding:0"),
                *(f"<strong>{escape(text)}</strong>" for text in both),
            )
            for label, *both in given
        ]
        return f"<div><strong>{mark}{escape(word)}</strong></div>{table(rows, [('', 'padding:0'), you, 'Ours'])}"


# ---------------------------------------------------------------- what a lesson calls


def predict(name):
    """Show a prediction: input boxes, a choice of confidence, and a button that shows our answer.

    The learner's first answer is recorded, and is shown when the lesson is opened again.

    Parameters
    ----------
    name : str
        The name of the prediction, such as "02.both".

    Returns
    -------
    Panel
        The widget. If there is no such prediction, it says so.
    """
    registered()
    if name not in PREDICTIONS:
        return missing("prediction", name)
    question = PREDICTIONS[name]

    def opened(ask):
        if ask.good is not None and ask.openings == 1:
            record.predicted(name, [part.text for part in ask.parts], ask.sure.value, ask.good)

    ask = Ask(question, opened, sure=True, earlier=record.read()["predictions"].get(name))
    return Panel([ask], *_twin([question], "Predict"), asks=name)


def recall(lesson):
    """Show the three opening questions of a lesson.

    The questions are followed by the predictions of earlier lessons that the learner was certain
    about but got wrong, and by the widgets that the functions in BROUGHT_BACK return. Three of
    these predictions are shown at first, and the others after a click on a button.

    Parameters
    ----------
    lesson : str
        The number of the lesson, such as "02".

    Returns
    -------
    Panel
        The widget. If there is no such lesson, it says so.
    """
    registered()
    if lesson not in RECALL:
        return missing("lesson", lesson)
    back = [name for name in record.returning() if name in PREDICTIONS and name[:2] < lesson]
    asks = [
        Ask(question, lambda ask: None, number=str(number))
        for number, question in enumerate(RECALL[lesson], start=1)
    ]
    panel = Panel(
        [
            *asks,
            *map(_returning, back[:3]),
            *(widget for bring in BROUGHT_BACK for widget in bring(lesson)),
        ],
        *_twin([*RECALL[lesson], *(PREDICTIONS[name] for name in back)], "From memory"),
    )
    if later := back[3:]:
        more = widgets.Button(
            description=f"{len(later)} more that were certain and wrong",
            layout=widgets.Layout(width="auto"),
        )
        more.on_click(
            lambda _: setattr(panel, "children", [*panel.children[:-1], *map(_returning, later)])
        )
        panel.children = [*panel.children, more]
    return panel


def _returning(name):
    def opened(ask):
        if ask.good is not None and ask.openings == 1:
            record.recalled(name, ask.good)

    def praise(good, sure):
        return (
            "Right. You will not be asked this question again."
            if good
            else "Not yet. You will be asked this question again in a later lesson."
        )

    question = PREDICTIONS[name]
    return Ask(
        question,
        opened,
        praise=praise,
        above=f"*From lesson {name[:2]}, where you were certain:* {question.question}",
    )


def card(lesson):
    """Show a text box for the learner's summary of a lesson, with a button that shows ours.

    Such a summary is called a card and has at most six lines. The button shows our card beside the
    text box. The learner's card is saved while the learner types.

    Parameters
    ----------
    lesson : str
        The number of the lesson, such as "02".

    Returns
    -------
    Panel
        The widget. If there is no such card, it says so.
    """
    registered()
    if lesson not in CARDS:
        return missing("card", lesson)
    ours = CARDS[lesson]
    box = widgets.Textarea(
        value="\n".join(record.read()["cards"].get(lesson, [])),
        rows=7,
        description="my card",
        placeholder="At most six lines, in your own words. One idea per line.",
        style={"description_width": "initial"},
        layout=widgets.Layout(width="min(46em, 98%)"),
    )
    count, button, beside = (
        widgets.HTML(),
        widgets.Button(layout=widgets.Layout(width="auto")),
        widgets.HTMLMath(),
    )

    def lines():
        return [line.strip() for line in box.value.splitlines() if line.strip()]

    def typed(change=None):
        number = len(lines())
        said = (
            f"{number} of 6 lines"
            if number <= 6
            else f"{number} lines, but a card has at most 6. Which ones can you leave out?"
        )
        count.value = f"<div {POLITE}>&ensp;{said}</div>"
        if change:
            record.card(lesson, lines())
            if beside.value:
                compare()

    def compare():
        column = '<div style="flex:1 1 22em;line-height:1.5"><strong>{}</strong>{}</div>'
        pairs = [("Mine", _as_typed(lines() or ["…"])), ("Ours", as_html(_list(ours)))]
        columns = "".join(column.format(head, html) for head, html in pairs)
        beside.value = f'<div style="display:flex;flex-wrap:wrap;gap:0 32px">{columns}</div>'

    def toggle(_=None):
        if beside.value:
            beside.value = ""
        else:
            compare()
        button.description = "Hide ours" if beside.value else "Compare with ours"

    box.observe(typed, "value")
    button.on_click(toggle)
    button.description = "Compare with ours"
    typed()
    html = "<p>My card: at most six lines.</p>" + fold("Our card", _list(ours))
    return Panel(
        [box, widgets.HBox([button, count], layout=widgets.Layout(**_ROW)), beside],
        html,
        "My card: at most six lines.",
    )


def _as_typed(lines):
    """Return the lines that a learner typed as an HTML list.

    Text in `backticks` becomes code. All other characters are shown as they were typed.
    """
    items = (
        re.sub("`([^`]+)`", r'<code style="white-space:pre">\1</code>', escape(line, quote=False))
        for line in lines
    )
    return f"<ol>{''.join(f'<li>{item}</li>' for item in items)}</ol>"


def _list(lines):
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, start=1))


def place():
    """Show the questions of lesson 00 that tell an experienced learner where to begin.

    The questions are folded at first. Below the questions is the lesson to begin with, which
    follows from the answers so far. The questions about a later lesson appear once the questions
    before them are right, so that a beginner does not see questions that are too hard.
    """
    registered()
    groups, number = {}, 0
    for lesson, (_, questions) in PLACEMENT.items():
        groups[lesson] = []
        for question in questions:
            number += 1
            groups[lesson].append(
                Ask(
                    question,
                    lambda ask: update(),
                    number=str(number),
                    above=f"**{number}.** {question.question}",
                )
            )
    button, where = (
        widgets.Button(layout=widgets.Layout(width="auto", align_self="flex-start")),
        widgets.HTMLMath(),
    )
    inside = widgets.VBox(layout=widgets.Layout(overflow="visible"))

    def update():
        start = next(
            (lesson for lesson, asks in groups.items() if not all(ask.good for ask in asks)),
            list(groups)[-1],
        )
        missed = any(ask.openings and not ask.good for ask in groups[start])
        settled = missed or all(ask.good for ask in groups[start])
        where.value = say(
            f"{'' if settled else 'So far: '}{_begin(start)} {PLACEMENT[start][0]}", role=POLITE
        )
        inside.children = [
            ask for lesson, asks in groups.items() if lesson <= start for ask in asks
        ] + [where]

    def toggle(_=None):
        inside.layout.display = "none" if inside.layout.display is None else None
        button.description = "Open the questions" if inside.layout.display else "Fold the questions"

    button.on_click(toggle)
    update()
    toggle()
    every = [question for _, questions in PLACEMENT.values() for question in questions]
    answers, text = _twin(every, "Where to begin")
    html = as_html(_list([question.question for question in every])) + answers
    begin = [
        f"- First miss at question {' or '.join(ask.number for ask in asks)}: {_begin(lesson)} {PLACEMENT[lesson][0]}"
        for lesson, asks in groups.items()
    ]
    begin[-1] = begin[-1].replace(":", ", or none:", 1)
    return Panel(
        [button, inside],
        f"<details><summary>The questions</summary>{html}{as_html(chr(10).join(begin))}</details>",
        text,
    )


def _begin(lesson):
    """Return Markdown that tells the learner to begin with `lesson`, such as "02".

    It contains the title of the lesson if its notebook is in the current folder, else the number.
    """
    return f"**Begin with {record.lessons().get(lesson, lesson)}.**"


def _twin(questions, title):
    """Return (HTML, text) for the static version of a Panel with some questions.

    The HTML contains only the answers, folded, because the cell above contains the questions. The
    text contains the title and the questions.
    """
    asked, reveals = (
        [question.question for question in questions],
        [question.reveal for question in questions],
    )
    if len(questions) == 1:
        return fold("Answer", reveals[0]), f"{title}: {asked[0]}"
    return fold("Answers", _list(reveals)), f"{title}\n{_list(asked)}"
