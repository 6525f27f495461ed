r"""Declare the questions of a lesson that are not exercises: predictions, recall, the summary card.

`lessons/lesson_NN/exercises.py` calls these functions, `questions.py` shows the questions, and
`sync_notebooks.py` copies the questions into the notebook. Every text is Markdown with $maths$.

    prediction("02.both", question="x is nudged by 0.1 and y by 0.2. About how far does z move?", answer=3.0, tolerance=0.2,
               reveal="12 · 0.1 + 9 · 0.2 = **3.0**.")
    prediction("02.bigger", question="Which knob brings more?", answer="y", choices=["x", "y"], reveal="**y**: it was turned further.")
    prediction("02.path", question="What is $\partial z/\partial x$? And $\partial L/\partial x$?",
               answer={"∂z/∂x": 1, "∂L/∂x": -3}, reveal="…")          # several labelled parts, all of which must be right
    recall("02", [Question("Which points does the central difference use?", reveal="Those at x − h and x + h."), …three…])
    card("02", ["Multiply along a path, add over the paths.", …at most six…])

The type of the answer decides how the learner enters it. A number is typed ("3", "-0.5", "1/3",
"3*4 + log(2)"), a tuple is typed as a shape ("(2, 3)"), and a list as a row of numbers ("5, 7, 9").
For a bool, the learner chooses yes or no, and for a str, one of `choices`. If the answer is None,
the learner enters nothing. `reveal` begins with the answer and gives the reason.
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

    Attributes
    ----------
    question : str
        The question as Markdown.
    answer : object
        The right answer, or a dict that maps the label of each part to the right answer for a
        question with several parts. The type of the answer decides how the learner enters it: a
        number is typed, a tuple is typed as a shape, a list is typed as a row of numbers, a bool is
        chosen from yes and no, and a str is chosen from `choices`. None means that the learner
        enters nothing.
    reveal : str
        Markdown that begins with the answer and gives the reason.
    choices : list of str, dict or None
        The choices for an answer of type str. For a question with several parts, a dict that maps
        the label of each part with such an answer to the list of its choices.
    tolerance : float or None
        The largest absolute difference at which a number is still right. The default, None, means
        0.2 % of the answer.
    """

    question: str
    answer: object = None
    reveal: str = ""
    choices: object = None  # a list; for an answer in parts, a dict from label to list
    tolerance: float | None = None

    def __post_init__(self):
        self.question, self.reveal = cleandoc(self.question), cleandoc(self.reveal)


def prediction(name, *, question, answer, reveal, choices=None, tolerance=None):
    """Declare the prediction that `questions.predict(name)` shows.

    `name` consists of the lesson's number and a word, as in "02.both". The other arguments are the
    attributes of the Question.
    """
    PREDICTIONS[name] = Question(question, answer, reveal, choices, tolerance)


def recall(lesson, questions):
    """Declare the opening questions of a lesson, which `questions.recall(lesson)` shows.

    `questions` is a list of three Questions about earlier lessons.
    """
    RECALL[lesson] = questions


def card(lesson, lines):
    """Declare our summary of a lesson, which `questions.card(lesson)` shows.

    `lines` is a list of at most six lines of Markdown.
    """
    CARDS[lesson] = lines


def placement(lesson, why, questions):
    """Declare questions that decide whether a learner should begin with `lesson`.

    A learner who misses one of these questions, and none of the questions for earlier lessons,
    should begin with `lesson`. Call this function in the order of the lessons.

    Parameters
    ----------
    lesson : str
        The number of the lesson, such as "05".
    why : str
        The reason to begin there, as Markdown.
    questions : list of Question
        The questions, which a learner who can skip the lesson answers correctly.
    """
    PLACEMENT[lesson] = why, questions
