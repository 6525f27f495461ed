"""Show endless small problems on the lessons that a learner has done, with the widget `gym`.

A problem that the learner missed comes back. Each kind of problem is a module of this package. The
module defines `KEYS`, which maps the key of a problem, such as "walk.paths", to the first lesson
that may ask it; `TITLES`, which maps the key to a title; and `make(key, rng)`, which returns a
Problem, as described in problems.py. The widget below works for every kind of problem.
"""

from html import escape

import ipywidgets as widgets
import numpy as np

from .. import record
from ..quiz.questions import POLITE, Panel, as_html, fold, say
from ..grading.sentences import shortest
from ..drawing import style
from ..widgets.sliders import FOLD
from . import by_hand, catches, jacobians, rules, shapes, walks

KINDS = {
    "walk": ("walk a graph", walks),
    "rule": ("write a rule", rules),
    "shape": ("shapes in the backward pass", shapes),
    "catch": ("catch a wrong rule", catches),
    "jacobian": ("Jacobian puzzle", jacobians),
    "hand": ("work it out by hand", by_hand),
}
LESSONS = sorted({lesson for _, module in KINDS.values() for lesson in module.KEYS.values()})
ROW = {"flex_flow": "row wrap", "align_items": "center", "overflow": "visible"}
CHOICE = {
    "style": {"description_width": "initial"},
    "layout": {"width": "auto", "margin": "2px 24px 2px 0"},
}
WIDTHS = {"number": 6, "shape": 8, "axes": 6, "code": 30}  # em, beside the label
EXAMPLES = {
    "number": "−2, 3·5",
    "shape": "(2, 3)",
    "axes": "0, 2; none",
    "code": "one line of Python",
}


def gym(lesson=None):
    """Return a widget that shows small problems, one after another, for as long as you like.

    There are six kinds of problem: the gradients of a graph, the backward rule of an operation,
    shapes and axes in the backward pass, tests that catch a wrong rule, the entries of a Jacobian,
    and numbers worked out by hand. Everything can be done from the keyboard: Enter checks the answers and, once
    all are right, shows the next problem. A problem that was not solved at the first attempt is
    recorded in progress.json and comes back soon.

    Parameters
    ----------
    lesson : str, optional
        The last lesson to ask about, as two digits, such as "05". By default, the last lesson in the
        learner's record.

    Returns
    -------
    Gym
        The widget.

    Raises
    ------
    ValueError
        If `lesson` is not a string of two digits, or is below the first lesson with problems.
    """
    if lesson is not None and not (
        isinstance(lesson, str) and len(lesson) == 2 and lesson.isdigit() and lesson >= LESSONS[0]
    ):
        raise ValueError(
            f'gym: expected `lesson` as two digits in quotes, "{LESSONS[0]}" or higher, got {lesson!r}'
        )
    return Gym(max(home for home in LESSONS if home <= (lesson or last_lesson())))


def last_lesson():
    """Return the last lesson in the learner's record, such as "05".

    This is the last lesson with a solved exercise, a prediction or a card. If there is none, return
    "02".
    """
    kept = record.read()
    return max(
        (
            name[:2]
            for names in (kept["exercises"], kept["predictions"], kept["cards"])
            for name in names
        ),
        default="02",
    )


def keys(lesson, kind=""):
    """Return a dict that maps the keys of the problems for lessons up to `lesson` to their kinds.

    For example, the key "walk.paths" has the kind "walk".

    Parameters
    ----------
    lesson : str
        The last lesson, as two digits, such as "05".
    kind : str
        The only kind of problem to include. The default, "", means all kinds.
    """
    return {
        key: name
        for name, (_, module) in KINDS.items()
        if kind in ("", name)
        for key, home in module.KEYS.items()
        if home <= lesson
    }


def pick(among, trained, last, rng):
    """Choose the key of the next problem at random, and return it.

    All kinds are equally likely. Within a kind, a problem that was never answered is three times as
    likely as one that was answered before. This is changed in two ways: the problems of the last
    lesson in `among` that were never answered get as much extra weight as all problems have
    together, and missed problems get extra weight, which in total is at most the weight of all
    problems together.

    Parameters
    ----------
    among : dict
        The kinds of the problems to choose from, by the key of the problem.
    trained : dict
        The learner's records of the answered problems, by the key of the problem. Each record is a
        dict, whose item "owed" is the number of times that a missed problem still has to come back.
    last : str or None
        The key of the previous problem, which is not chosen again unless `among` has no other. None
        before the first problem.
    rng : numpy.random.Generator
        The generator that chooses.

    Returns
    -------
    str
        The key of the next problem.
    """
    homes = {key: KINDS[kind][1].KEYS[key] for key, kind in among.items()}
    newest = max(homes.values())
    fresh = {key: 1 if key in trained else 3 for key in among}
    of_kind = {
        kind: sum(fresh[key] for key in among if among[key] == kind) for kind in among.values()
    }
    weights = {
        key: fresh[key] / of_kind[kind]
        for key, kind in among.items()
        if key != last or len(among) == 1
    }
    total = sum(weights.values())
    new = [key for key in weights if key not in trained and homes[key] == newest]
    owed = {key: trained[key]["owed"] for key in weights if key in trained}
    each = min(1, total / max(1, sum(owed.values()))) * (2 if new else 1)
    for key in new:
        weights[key] += total / len(new)
    for key, times in owed.items():
        weights[key] += each * times
    return str(
        rng.choice(list(weights), p=np.array(list(weights.values())) / sum(weights.values()))
    )


class Gym(Panel):
    """Show one problem after another, with answer boxes and buttons.

    The methods `check`, `reveal` and `next` do what the buttons do.

    Parameters
    ----------
    lesson : str
        The last lesson to ask about, as two digits.

    Attributes
    ----------
    problem : Problem
        The problem that is shown.
    boxes : list of widgets
        The input widgets for the answer to `problem`.
    """

    def __init__(self, lesson):
        self.number = 1 + sum(one["right"] + one["missed"] for one in record.read()["gym"].values())
        self.last = None
        kinds = [("everything", ""), *((title, name) for name, (title, _) in KINDS.items())]
        self.kind = widgets.Dropdown(options=kinds, description="problems:", **CHOICE)
        self.lesson = widgets.Dropdown(
            options=LESSONS, value=lesson, description="lessons up to:", **CHOICE
        )
        self.head, self.words, self.verdict = widgets.HTMLMath(), widgets.HTML(), widgets.HTMLMath()
        self.view = widgets.HTML(layout={"overflow": "auto"})
        self.form, self.fold = (
            widgets.VBox(layout={"overflow": "visible"}),
            widgets.HTML(style.SHEET + FOLD),
        )
        self.fold.add_class("in-words")
        self.buttons = [
            widgets.Button(description=text, layout={"width": "auto"})
            for text in ("Check", "Show the answer", "Next problem")
        ]
        for button, action in zip(self.buttons, (self.check, self.reveal, self.next)):
            button.on_click(lambda _, action=action: action())
        choices = widgets.HBox([self.kind, self.lesson], layout=ROW)
        super().__init__(
            [
                choices,
                self.head,
                self.view,
                self.fold,
                self.words,
                self.form,
                widgets.HBox(self.buttons, layout=ROW),
                self.verdict,
            ],
            "",
            "",
        )
        for control in (self.kind, self.lesson):
            control.observe(lambda change: self.ask(), "value")
        self.ask()

    # --- a problem comes

    def ask(self):
        """Show a new problem.

        The choice depends on the number of the problem, the two menus and the learner's record.
        """
        among = keys(self.lesson.value, self.kind.value)
        if not among:
            self.show_no_problem()
            return
        rng = np.random.default_rng([self.number, int(self.lesson.value)])
        self.key = pick(among, record.read()["gym"], self.last, rng)
        title, module = KINDS[among[self.key]]
        self.problem = module.make(self.key, rng)
        self.titled = f"Problem {self.number}: {title}, {module.TITLES[self.key]}"
        self.missed = self.done = False
        self.head.value = say(self.problem.question, f"<strong>{escape(self.titled)}</strong>")
        self.boxes, self.icons = [], []
        groups = {}
        for box in self.problem.boxes:
            entry, icon = self._entry(box), widgets.HTML(layout={"width": "1.4em"})
            self.boxes.append(entry)
            self.icons.append(icon)
            groups.setdefault(box.group, []).append(
                widgets.HBox([entry, icon], layout={"overflow": "visible", "max_width": "100%"})
            )
        self.form.children = [
            part
            for group, entries in groups.items()
            for part in (
                *[widgets.HTML(escape(group))] * bool(group),
                widgets.HBox(entries, layout=ROW),
            )
        ]
        self.verdict.value = ""
        for button in self.buttons:
            button.disabled = False
        picture = self.show([], [])
        ticks = "".join(
            f"<li>{escape(box.label)}</li>" for box in self.problem.boxes if box.look == "tick"
        )
        self.html = (
            f"<p><strong>{escape(self.titled)}</strong></p>{as_html(self.problem.question)}{picture.html}"
            f"{f'<ul>{ticks}</ul>' * bool(ticks)}{fold('Answer', self.problem.reveal)}"
        )
        self.text = f"{self.titled}\n{self.problem.question}\n{picture.text}"

    def _entry(self, box):
        if box.look == "tick":
            return widgets.Checkbox(description=box.label, indent=False, layout={"width": "auto"})
        wide = f"{WIDTHS[box.look] + 2 + 0.55 * len(box.label):.0f}em"
        entry = widgets.Text(
            description=box.label,
            placeholder=EXAMPLES[box.look],
            layout={"width": wide, "max_width": "calc(100% - 2em)"},
            style={"description_width": "initial"},
        )
        entry.on_msg(
            lambda _, content, buffers: self.enter() if content.get("event") == "submit" else None
        )
        return entry

    def show_no_problem(self):
        self.problem, self.boxes, self.icons, self.form.children = None, [], [], []
        home = min(KINDS[self.kind.value][1].KEYS.values())
        self.head.value = say(
            f"Problems of this kind start with lesson {home}. Choose {home} above, or a different kind of problem."
        )
        self.view.value = self.verdict.value = ""
        self.words.value = f"<pre>{self.kind.value}, {self.lesson.value}</pre>"
        for button in self.buttons:
            button.disabled = True

    def show(self, texts, marks):
        picture = self.problem.picture(texts, marks)
        self.view.value = picture.html
        for part in (
            self.fold,
            self.words,
        ):  # where nothing is drawn, the question has said it in words
            part.layout.display = None if picture.html else "none"
        text = f"{self.titled} (lessons up to {self.lesson.value})\n{picture.text}"
        self.words.value = f'<pre style="{style.LINES}">{escape(text)}</pre>'
        return picture

    # --- and is answered

    def enter(self):
        """Check the answers, or show the next problem if the current problem is done.

        This is called when the learner presses Enter in a box.
        """
        if self.done:
            self.next()
        else:
            self.check()

    def check(self):
        """Judge the answers in the boxes, and show the result, unless the problem is done.

        The problem is done once all answers are right. The learner's record stores whether the
        first attempt was right.
        """
        if self.done or not self.problem:
            return
        texts = [
            ("no", "yes")[box.value] if isinstance(box, widgets.Checkbox) else box.value
            for box in self.boxes
        ]
        marks = self.problem.judge(texts)
        self.show(texts, marks)
        for box, icon, mark in zip(self.boxes, self.icons, marks):
            icon.value = "" if mark is None or mark.good is None else _icon(mark.good)
            box.disabled = bool(mark and mark.good) and not isinstance(box, widgets.Checkbox)
        hints = [
            f"<strong>{escape(box.label)}</strong> {escape(shortest(mark.hint, 600))}"
            for box, mark in zip(self.problem.boxes, marks)
            if mark and mark.hint
        ]
        good = sum(bool(mark and mark.good) for mark in marks)
        if any(mark and mark.good is False for mark in marks):
            self.miss()
        if good == len(marks):
            word = (
                "Right. You will see this problem again, because your first answer was not right."
                if self.missed
                else "Right on the first attempt."
            )
            self.end(word, hints)
        else:
            first = (
                f"{good} of {len(marks)} right so far."
                if any(texts)
                else "Fill in at least one box, then check."
            )
            self.speak(first, hints)
            waiting = next(box for box, mark in zip(self.boxes, marks) if not (mark and mark.good))
            waiting.focus()

    def reveal(self):
        """Show the answer, and count the problem as missed, unless the problem is done."""
        if not self.done and self.problem:
            self.miss()
            self.end("The answer:", [])

    def miss(self):
        """Record that the problem was missed, unless that is already recorded.

        The miss is recorded at once, so that the problem comes back even if the learner never
        corrects the answer.
        """
        if not self.missed:
            self.missed = True
            record.trained(self.key, False)

    def next(self):
        """Show the next problem."""
        self.number, self.last = self.number + 1, self.key
        self.ask()
        self.boxes[0].focus()

    def end(self, word, hints):
        if not self.missed:
            record.trained(self.key, True)
        self.done = True
        self.buttons[0].disabled = self.buttons[1].disabled = True
        self.speak(word, hints, as_html(self.problem.reveal))
        self.buttons[2].focus()

    def speak(self, word, hints, html=""):
        lines = "".join(f'<div class="mathjax_ignore">{line}</div>' for line in hints)
        self.verdict.value = say("", f"<strong>{escape(word)}</strong>{lines}{html}", POLITE)


def _icon(good):
    sign, said = ("✓", "right") if good else ("✗", "not right")
    return f'<span role="img" aria-label="{said}" style="font-weight:bold">{sign}</span>'
