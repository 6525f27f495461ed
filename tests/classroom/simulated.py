"""A simulated class: learners who give wrong answers, chosen at random from a seed, to the real
checks.
"""

import random
from pathlib import Path

import answer_cases

from autograd_course import record
from autograd_course.grading import EXERCISES, check
from autograd_course.quiz import questions
from autograd_course.quiz.texts import PREDICTIONS

NAMES = [
    "01.central",
    "01.kink",
    "02.two_knobs",
    "02.routes",
    "03.square",
    "03.divide",
    "03.power",
    "04.from_z",
    "04.switches",
    "05.multiply",
]


def answers(question, right, chance):
    """Return a typed or chosen answer, one text for each part."""
    if right:
        return [questions.shown(answer) for _, answer, _ in questions.parts(question)]
    while True:
        said = [
            chance.choice(
                ["yes", "no"]
                if isinstance(answer, bool)
                else choices or ["0", "1", "2", "5", "100"]
            )
            for _, answer, choices in questions.parts(question)
        ]
        if not questions.right(question, said):
            return said


def verdicts(name):
    """Return [(hint, verdict as text), …] for at most ten wrong answers."""
    exercise, found = EXERCISES[name], []
    for one in answer_cases.wrong_answers(name)[:10]:
        said = check(name, exercise.run(one)[0])
        assert said.status == "wrong"
        found.append((dict(said.rows).get("hint", ""), repr(said)))
    return found


def write_class(folder, many, patch, seed=0):
    """Write `many` records below the folder, using `record` itself, and return {exercise: {hint,
    …}}.
    """
    chance, keep = random.Random(seed), Path(folder) / "nobody.json"
    patch.setattr(record, "FILE", keep)
    wrong = {name: verdicts(name) for name in NAMES}
    keep.unlink()
    asked = [name for name in PREDICTIONS if "01" <= name[:2] <= "05"]
    for number in range(many):
        learner = Path(folder) / f"learner {number + 1:03}"
        learner.mkdir()
        patch.setattr(record, "FILE", learner / "progress.json")
        able, reached = chance.random(), 1 + int(5 * chance.betavariate(3, 2))
        for name in asked:
            if int(name[:2]) <= reached:
                right = chance.random() < 0.3 + 0.5 * able
                sure = chance.choices(record.SURE, [1, 2, 3 if right else 1.5 + able])[0]
                record.predicted(name, answers(PREDICTIONS[name], right, chance), sure, right)
        for name in NAMES:
            if int(name[:2]) > reached:
                break
            while chance.random() > 0.35 + 0.5 * able:
                record.missed(
                    name,
                    *chance.choices(wrong[name], [1 / (1 + i) for i in range(len(wrong[name]))])[0],
                )
            if chance.random() < 0.85 + 0.15 * able:
                record.solved(name)
    return {name: {hint for hint, _ in verdict} for name, verdict in wrong.items()}
