"""Show a derivation in a lesson and ask for its lines one after another: derive("03.divide").

No function of this module raises an error. The learner does not have to type any line, because each
line has a button that shows it.
"""

import re
import time

import ipywidgets as widgets

from .. import record
from ..grading import registered
from ..quiz.questions import POLITE, Panel, as_html, fold, missing, say
from . import DERIVATIONS
from .expressions import FUNCTIONS, Unreadable, as_tex, parts
from .judge import judge

_ROW = {"flex_flow": "row wrap", "align_items": "center", "overflow": "visible"}
_MOST_FROM_MEMORY = 2  # lines that were shown, at the beginning of a later lesson
_LATE = 1.0  # seconds after Enter in which the last keys may arrive, as over a slow network
_SIGNS = ["+", "-", "*", "/", "^", "(", ")"]
_SPOKEN = {  # keys that a screen reader leaves out, or names in another way
    "+": "plus",
    "-": "minus",
    "*": "times",
    "/": "divided by",
    "^": "to the power of",
    "(": "opening bracket",
    ")": "closing bracket",
    "[": "opening square bracket",
    ",": "comma",
    "]": "closing square bracket",
    "sum_": "sum over",
    "@": "matrix product",
    ".T": ".T, transposed",
}
_PLAIN = {  # a left side without TeX
    r"_\{(\w+)\}": r"_\1",
    r"\\hat y": "ŷ",
    r"\\partial ": "∂",
    r"\\text\{(.*?)\}": r"\1",
    r"\\frac\{([^{}]*)\}\{([^{}]*)\}": lambda found: "/".join(map(_bracketed, found.groups())),
    r"\\approx": "≈",
    r"\\cdot": "·",
    r"\\ne": "≠",
    r"\\quad|\\": "",
}
_EMPTY_BOX = (
    '<span role="img" aria-label="blank" style="display:inline-block;width:9em;height:1.5em;border:1px solid;'
    'border-radius:3px;vertical-align:middle"></span>'
)


def derive(name):
    """Show a derivation, and ask for one line at a time.

    The learner types each line and checks it, or asks the widget to show it. All these lines are
    recorded, and appear again when the cell is rerun.

    Parameters
    ----------
    name : str
        The name of the derivation, such as "03.divide".

    Returns
    -------
    Panel
        The widget. If there is no such derivation, it says so.
    """
    registered()
    if name not in DERIVATIONS:
        return missing("derivation", name)
    return DerivationPanel(name, DERIVATIONS[name])


class DerivationPanel(Panel):
    """Show a derivation, and ask for its lines one after another.

    `lines` is a list of the accepted lines, each as [text, True if the line was shown to the
    learner]. `line` is the widget for the current line, or None at the end. `number` is the index
    of the current step, from 0.
    """

    def __init__(self, name, derivation):
        self.name, self.derivation = name, derivation
        self.lines, self.line, self.number = [], None, 0
        self.key_row = _key_row(self)
        super().__init__(
            [widgets.HTMLMath(say(derivation.given))] * bool(derivation.given),
            _as_html(derivation),
            _as_plain_text(derivation),
        )
        self._ask()
        for text, shown in record.read()["lines"].get(name, []):
            if not self.line or judge(derivation, self.number, text).kind != "right":
                break  # the derivation has changed since
            self._go_on(text, shown)

    def keep(self, text, shown):
        """Accept `text` as the current line, record it, and ask for the next line.

        `shown` is True if the line was shown to the learner, and False if the learner typed it.
        """
        self._go_on(text, shown, "It is shown above." if shown else "**Right.**")
        record.derived(self.name, self.lines)
        if self.line:
            self.line.box.focus()

    def _go_on(self, text, shown, said=""):
        self.lines.append([text, shown])
        self.children = self.children[:-2]  # remove the box and its keys
        self._stand(text)
        self._ask(said)

    def _ask(self, said=""):
        """Show the worked lines up to the next line that the learner types, and ask for that line.

        `said` is the verdict on the previous line.
        """
        steps = self.derivation.steps
        while self.number < len(steps) and steps[self.number].worked:
            self._stand(steps[self.number].right)
        if self.number < len(steps):
            self.line = Line(self)
            if said:
                said = f"{said} {self._asks_why()}Now the next line."
                self.line.said.value = say(said, role=POLITE)
            self.children += (self.line, self.key_row)
            return
        self.line = None
        text, shown = self.lines[-1]
        said += said and f" {self._asks_why()}That was the last line."
        if self.derivation.code and not shown:
            code = self.derivation.as_code(text)
            said += f" In code, this is your rule for the exercise: `{code}`"
        if said:
            self.children += (widgets.HTMLMath(say(said, role=POLITE)),)

    def _asks_why(self):
        asked = [
            one for one in self.children if isinstance(one, Reason) and not one.choices.disabled
        ]
        return "Choose the reason above. " if asked else ""

    def _stand(self, text):
        step = self.derivation.steps[self.number]
        self.children += (_standing(self.derivation, step, text),)
        self.number += 1
        if step.rivals:
            self.children += (Reason(self.name, step),)


class FromMemory(widgets.VBox):
    """Ask the learner to type a line that was only shown in an earlier lesson.

    The lines before this line are shown above the question. If the learner now types the line, it
    is recorded as typed and is not asked for again.

    Parameters
    ----------
    name : str
        The name of the derivation, such as "03.divide".
    index : int
        The position of the line among those that a learner types, from 0.
    """

    def __init__(self, name, index):
        self.name, self.index, self.derivation = name, index, DERIVATIONS[name]
        steps = self.derivation.steps
        self.number = [number for number, step in enumerate(steps) if not step.worked][index]
        self.line = Line(self)
        asked = say(f"*From lesson {name[:2]}, where you were shown it:* type the next line.")
        before = [_standing(self.derivation, step, step.right) for step in steps[: self.number]]
        super().__init__([widgets.HTMLMath(asked), *before, self.line, _key_row(self)])

    def keep(self, text, shown):
        """Accept `text` as the line and show it.

        If `shown` is False, the learner has typed the line, which is then recorded as typed.
        """
        lines = record.read()["lines"].get(self.name, [])
        if not shown and self.index < len(lines):
            record.derived(
                self.name,
                [*lines[: self.index], [text, False], *lines[self.index + 1 :]],
            )
        again = "You will be asked for this line again in a later lesson."
        said = again if shown else "**Right.** You will not be asked for this line again."
        self.children = [
            *self.children[:-2],
            _standing(self.derivation, self.derivation.steps[self.number], text),
            widgets.HTMLMath(say(said, role=POLITE)),
        ]


def from_memory(lesson):
    """Return FromMemory widgets for lines that were shown to the learner in earlier lessons.

    There is a widget for the first such line of each derivation, and at most two in all. `lesson`
    is the number of the current lesson, such as "05".
    """
    asked = []
    for name, lines in record.read()["lines"].items():
        if name in DERIVATIONS and name[:2] < lesson:
            typed = sum(not step.worked for step in DERIVATIONS[name].steps)
            shown = [index for index, (_, shown) in enumerate(lines[:typed]) if shown]
            asked += [FromMemory(name, index) for index in shown[:1]]
    return asked[:_MOST_FROM_MEMORY]


def _standing(derivation, step, text):
    """Return a widget that shows an accepted line and its reason.

    The reason is left out if the learner is asked for it. `text` is the right side.
    """
    reason = "" if step.rivals else f"\u2003{step.reason}"
    return widgets.HTMLMath(say(_drawn(derivation, step, text) + reason))


def _drawn(derivation, step, text):
    """Return a line as a formula in TeX, with `text` as its right side."""
    return f"$\\displaystyle {step.left} {as_tex(derivation.read(text))}$"


def _key_row(panel):
    """Return a row of buttons that type into the current line of `panel`."""

    def key(token):
        button = _button(token, f"type {spoken(token)}")
        button.on_click(lambda _: panel.line.type(token))
        return button

    erase = _button("⌫", "delete the last character")
    erase.on_click(lambda _: panel.line.erase())
    return widgets.HBox([*map(key, keys(panel.derivation)), erase], layout=widgets.Layout(**_ROW))


class Line(widgets.VBox):
    """Ask the learner for the current line of a derivation.

    The widget shows a text box, the line as it was parsed, and two buttons. If the learner checks
    the same wrong line twice, the exact hint is shown. `panel` is the DerivationPanel or the
    FromMemory that contains this widget.
    """

    def __init__(self, panel):
        self.panel, self.checked, self.entered = panel, None, float("-inf")
        self.step = step = panel.derivation.steps[panel.number]
        self.box = widgets.Text(
            placeholder="type the right-hand side",
            description=named(panel.derivation, panel.number),
            layout=widgets.Layout(width="min(20em, 90%)"),
            style={"description_width": "0px"},  # a screen reader names the box by it
        )
        self.echo, self.said = widgets.HTMLMath(), widgets.HTMLMath()
        check = _button("Check", "check this line")
        show = _button("Show this line", "show this line and go on")
        check.on_click(lambda _: self.check())
        show.on_click(lambda _: panel.keep(step.right, True))
        self.box.observe(lambda _: self.draw(), "value")
        self.box.on_msg(
            lambda _, content, buffers: self.enter() if content.get("event") == "submit" else None
        )
        row = [widgets.HTMLMath(say(f"$\\displaystyle {step.left}$")), self.box, check, show]
        super().__init__(
            [widgets.HBox(row, layout=widgets.Layout(**_ROW)), self.echo, self.said],
            layout=widgets.Layout(overflow="visible"),
        )

    def draw(self):
        """Show the formula as it has been parsed so far, so that the learner can see a misreading."""
        try:
            tex = as_tex(self.panel.derivation.read(self.box.value))
        except Unreadable:
            tex = r"\dots"
        self.echo.value = say(f"read as $\\displaystyle {self.step.left} {tex}$")
        if time.monotonic() < self.entered + _LATE and self.box.value.startswith(self.checked):
            self.check()

    def enter(self):
        """Check the line when Enter is pressed, and again if its last keystrokes arrive afterwards."""
        self.entered = time.monotonic()
        self.check()

    def check(self):
        typed = self.box.value
        verdict = judge(self.panel.derivation, self.panel.number, typed)
        if verdict.kind == "right":
            self.entered = float("-inf")
            self.panel.keep(typed, False)
            return
        more = ""
        if verdict.hint:
            more = verdict.hint if typed == self.checked else "Press Check again for a hint."
        title = {"wrong": "Not yet.", "equal": "True, but not this line.", "unreadable": ""}
        message = (
            f"**{title[verdict.kind]}** {verdict.message} {more}"
            if title[verdict.kind]
            else verdict.message
        )
        self.said.value = say(message, role=POLITE)
        self.checked = typed

    def type(self, token):
        spaced = token.isalpha() and self.box.value[-1:].isalnum()
        self.box.value += " " * spaced + token

    def erase(self):
        self.box.value = self.box.value[:-1].rstrip()


class Reason(widgets.VBox):
    """Ask for the reason for a line, with three choices, but do not require an answer.

    `name` is the name of the derivation, and `step` is the Step with the right reason and two wrong
    ones. The first choice is recorded, and appears again when the cell is rerun.
    """

    def __init__(self, name, step):
        self.choices = widgets.RadioButtons(
            options=sorted([step.reason, *step.rivals]),
            value=None,
            description="Why?",
            style={"description_width": "initial"},
            layout=widgets.Layout(width="auto"),
        )
        said = widgets.HTMLMath()

        def chosen(change):
            right = change["new"] == step.reason
            said.value = say(
                "**Right.**" if right else f"No. The reason is: {step.reason}.", role=POLITE
            )
            self.choices.disabled = True
            record.reasoned(name, change["new"])

        self.choices.observe(chosen, "value")
        made = record.read()["reasons"].get(name)
        if made in self.choices.options:  # the derivation may have changed since
            self.choices.value = made
        super().__init__([self.choices, said])


def _button(text, tooltip):
    return widgets.Button(description=text, tooltip=tooltip, layout=widgets.Layout(width="auto"))


def named(derivation, number):
    """Return the name that screen readers use for the text box of a line.

    `number` is the index of the line's step, from 0.
    """
    steps = derivation.steps
    left = [step.left for step in steps[: number + 1] if step.left != "="][-1]
    return f"right-hand side of line {number + 1} of {len(steps)}: {plain(left)}"


def plain(left):
    r"""Return the left side of a line as plain text; for example, \frac{dz}{dx} = becomes dz/dx =."""
    for tex, text in _PLAIN.items():
        left = re.sub(tex, text, left)
    return " ".join(left.split())


def _bracketed(part):
    return f"({part})" if re.search(r" [-+] |\d\w", part) else part


def spoken(key):
    """Return the name that screen readers use for a key."""
    return _SPOKEN.get(key, key)


def keys(derivation):
    """Return the labels of the keys with which a learner can type the lines of a derivation.

    Each label is a letter, an index, a function, a number or a sign. The keys are the same for
    every line, so that they do not show which letters a line needs. They are sufficient to type
    every line, so a phone user needs no keyboard.
    """
    trees = [part for step in derivation.steps for part in parts(derivation.read(step.right))]
    functions = [name for name in FUNCTIONS if any(part[:2] == ("call", name) for part in trees)]
    constants = ["e"] * any(part == ("name", "e") for part in trees)
    indices = ["[", ",", "]", *derivation.sizes, "sum_", "@", ".T"] if derivation.sizes else []
    largest = max([2, *(int(part[1]) for part in trees if part[0] == "number")])
    digits = [str(digit) for digit in range(1, largest + 1)]
    return [*derivation.names, *constants, *functions, *indices, *digits, *_SIGNS]


def _as_html(derivation):
    """Return the derivation as HTML for a page or for print.

    The lines that a learner types are empty boxes. Below them is a block, closed at first, with all
    lines.
    """
    drawn = [_drawn(derivation, step, step.right) for step in derivation.steps]
    lines = [f"{line}\u2003{step.reason}" for step, line in zip(derivation.steps, drawn)]
    rows = [
        (line if step.rivals else f"{line}\u2003{step.reason}")
        if step.worked
        else f"$\\displaystyle {step.left}$ □"
        for step, line in zip(derivation.steps, drawn)
    ]
    given = as_html(derivation.given) if derivation.given else ""
    html = given + "".join(map(as_html, rows)).replace("□", _EMPTY_BOX)
    return html + fold("The lines", "\n\n".join(lines))


def _as_plain_text(derivation):
    rows = [
        f"{plain(step.left)} {step.right if step.worked else '____'}" for step in derivation.steps
    ]
    return "\n".join(filter(None, [derivation.given, *rows]))
