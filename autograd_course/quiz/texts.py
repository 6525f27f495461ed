r"""Declare the questions of a lesson that are not exercises: predictions, recall, the summary card.

`lessons/lesson_NN/exercises.py` declares them, `questions.py` shows them, and `sync_notebooks.py`
copies the questions into the notebook. Every text is Markdown with $maths$.

    prediction("02.both", question="x is nudged by 0.1 and y by 0.2. About how far does z move?", answer=3.0, tolerance=0.2,
               reveal="12 · 0.1 + 9 · 0.2 = **3.0**.")
    prediction("02.bigger", question="Which knob brings more?", answer="y", choices=["x", "y"], reveal="**y**: it was turned further.")
    prediction("02.path", question="What is $\partial z/\partial x$? And $\partial L/\partial x$?",
               answer={"∂z/∂x": 1, "∂L/∂x": -3}, reveal="…")          # several labelled parts, all of which must be right
    recall("02", [Question("Which points does the central difference use?", reveal="Those at x − h and x + h."), …three…])
    card("02", ["Multiply along a path, add over the paths.", …at most six…])

The type of the answer decides how it is entered: a number is typed ("3", "-0.5", "1/3",
"3*4 + log(2)"), a tuple is a shape ("(2, 3)"), a list is a row of numbers ("5, 7, 9"), a bool is
yes or no, and a text is one of `choices`. If the answer is None, nothing is entered.
The reveal begins with the answer and gives the reason.
"""

from dataclasses import dataclass
from inspect import cleandoc

PREDICTIONS = {}  # "02.both" -> Question
RECALL = {}  # "02" -> [Question, Question, Question]
CARDS = {}  # "02" -> [line, …]
PLACEMENT = {}  # "05" -> (why to begin there, [Question, …]): begin at the first lesson of which a question is missed

BROUGHT_BACK = []  # functions that take a lesson, and return further widgets for its recall


@dataclass
class Question:
    """Hold one question with its answer.

    `tolerance` is absolute; the default is two thousandths of the answer, if it is a number.
    """

    question: str
    answer: object = None
    reveal: str = ""
    choices: object = None  # a list; for an answer in parts {label: list}
    tolerance: float | None = None

    def __post_init__(self):
        self.question, self.reveal = cleandoc(self.question), cleandoc(self.reveal)


def prediction(name, *, question, answer, reveal, choices=None, tolerance=None):
    """Declare prediction `name`, "NN.word"; shown by `predict(name)`."""
    PREDICTIONS[name] = Question(question, answer, reveal, choices, tolerance)


def recall(lesson, questions):
    """Declare the three opening questions of a lesson; shown by `recall(lesson)`.

    They are about earlier lessons.
    """
    RECALL[lesson] = questions


def card(lesson, lines):
    """Declare the lines of a lesson's closing card, six at most; shown by `card(lesson)`."""
    CARDS[lesson] = lines


def placement(lesson, why, questions):
    """Declare the questions for learners who may begin later than at `lesson`.

    Call this function in the order of the lessons.
    """
    PLACEMENT[lesson] = why, questions
