"""Check a backward rule derived without hints, and a gradient check that the learner wrote."""

from dataclasses import dataclass

import numpy as np

from .. import record
from ..grading.compare import unfinished
from ..grading.inputs import expect_over
from ..grading.sandbox import StepLimitExceeded, bounded, copies
from ..grading.sentences import brief, sentence
from ..grading.verdict import NotYet, Verdict, Wrong, shortened
from ..source import is_stub


@dataclass
class Task:
    """Hold a function for which the learner derives a backward rule.

    Attributes
    ----------
    lesson : str
        The lesson of the task, as two digits.
    f : callable
        The function, which takes and returns an array with one axis.
    rule : callable
        The right rule, a function of g, z and x that returns the gradient of x.
    wrong : dict
        The hints for wrong rules. The key is the wrong rule, an expression in g, z and x. The hint
        says why a gradient check may accept this rule.
    sizes : tuple of int
        The lengths of x to try.
    """

    lesson: str
    f: object
    rule: object
    wrong: dict
    sizes: tuple = (1, 4, 7)


def unit(x):
    return x / np.sqrt(np.sum(x * x))


ENTRIES = "Compare entry by entry, including the signs."
TASKS = {
    "softsign": Task(
        "05",
        lambda x: x / (1 + np.abs(x)),
        lambda g, z, x: g / (1 + np.abs(x)) ** 2,
        {
            "1 / (1 + np.abs(x)) ** 2": "It is right wherever g is 1. Make your check draw a different g for every entry.",
            "g / (1 + x) ** 2": "It is right wherever x is above 0. Make your check test entries below 0 too.",
            "g / (1 + np.abs(x))": "It is right only at x = 0. Compare with a finite difference, entry by entry.",
        },
    ),
    "x_tanh": Task(
        "07",
        lambda x: x * np.tanh(x),
        lambda g, z, x: g * (np.tanh(x) + x * (1 - np.tanh(x) ** 2)),
        {
            "np.tanh(x) + x * (1 - np.tanh(x) ** 2)": "It is right wherever g is 1. Make your check draw g at random.",
            "g * (np.tanh(x) + x)": "It is close near x = 0. Compare with a finite difference, to "
            "more than two digits.",
            "g * (np.tanh(np.abs(x)) + np.abs(x) * (1 - np.tanh(x) ** 2))": "It is right wherever x is above 0. Make your check test entries below 0 too, and their signs.",
        },
    ),
    "cumsum": Task(
        "08",
        np.cumsum,
        lambda g, z, x: np.cumsum(g[::-1])[::-1],
        {
            "g * np.arange(len(x), 0, -1)": "It is right where all entries of g are equal. Draw each entry of g separately.",
            "np.cumsum(g)": "Where all entries of g are equal, it returns the right entries in "
            "reverse order. Compare them entry by entry.",
            "np.full(len(x), np.sum(g))": "Its first entry is right. Compare every entry, not just one.",
        },
    ),
    "centre": Task(
        "10",
        lambda x: x - np.mean(x),
        lambda g, z, x: g - np.mean(g),
        {
            "g": "It is right where g sums to 0. Draw g at random.",
            "g * (1 - 1 / len(x))": "It is right if your check nudges one entry of x and compares only the same entry of z. "
            "Nudge one entry of x, and sum g times the change of every entry of z.",
            "g - np.sum(g)": "It is right if x has one entry. Make your check compare the numbers, not the shapes.",
        },
    ),
    "differences": Task(
        "14",
        np.diff,
        lambda g, z, x: np.concatenate([-g[:1], g[:-1] - g[1:], g[-1:]]),
        {
            "np.concatenate([[0], g[:-1] - g[1:], [0]])": "It is right in the middle. Compare the first and the last "
            "entry too.",
            "np.concatenate([g[:1], g[1:] - g[:-1], -g[-1:]])": "It has the wrong sign. Compare the numbers, not their absolute "
            "values.",
            "np.concatenate([-g[:1], 0 * g[1:], g[-1:]])": "It is right at both ends, and between them wherever two neighbours in g "
            "are equal. Draw each entry of g separately, and compare every entry.",
        },
        (2, 4, 7),
    ),
    "unit": Task(
        "14",
        unit,
        lambda g, z, x: (g - z * np.sum(g * z)) / np.sqrt(np.sum(x * x)),
        {
            "g / np.sqrt(np.sum(x * x))": "It is right where g and x are orthogonal. Draw g at random, and "
            "compare closely.",
            "(g - z * np.sum(g)) / np.sqrt(np.sum(x * x))": "It sums g instead of g · z. Compare every entry.",
            "(g - z * np.sum(g * z)) / np.sum(x * x)": "It is right where x has length 1. Draw x at random.",
        },
        (2, 4, 7),
    ),
}


def unaided(name, rule, my_check):
    """Judge a backward rule that the learner derived without help, and the learner's gradient check.

    Parameters
    ----------
    name : str
        The name of the task, one of TASKS, such as "softsign".
    rule : callable
        A function of g, z and x that returns the gradient of x. All of these are arrays with one
        axis.
    my_check : callable
        A function of f, rule and x that returns True if `rule` is right for f at the array x, and
        False otherwise. It must accept correct rules and reject incorrect ones.

    Returns
    -------
    Verdict
        The result. Its attribute `status` is "right" if the rule is right and the check judges
        rules correctly; the task is then recorded as solved. The status is
        "not yet" if one of the learner's functions is unfinished. Otherwise it is "wrong", with a
        hint, or with the error that one of the learner's functions raised. An unknown `name` is
        "wrong", too.
    """
    task = TASKS.get(str(name))
    if task is None:
        return Verdict(
            "wrong",
            (
                "hint",
                f"unaided: there is no task {str(name)[:40]!r}. Choose one of {', '.join(TASKS)}.",
            ),
        )
    if any(
        one is ... or one is None or is_stub(one) or unfinished(one) for one in (rule, my_check)
    ):
        return Verdict(
            "not yet",
            ("", "Your rule or your check still contains ... or pass. Replace it with your code."),
        )
    try:
        _rule_is_right(task, rule)
        _check_tells(task, my_check)
    except NotYet:
        return Verdict(
            "not yet",
            ("", "Your rule or your check still contains ... or pass. Replace it with your code."),
        )
    except Wrong as wrong:
        return Verdict(
            "wrong",
            *zip(("tried", "got", "expected", "hint"), (*wrong.shown, sentence(wrong.cause))),
        )
    except (Exception, SystemExit) as error:
        return Verdict("wrong", ("raised", shortened(error)))
    record.solved(f"{task.lesson}.unaided_{name}")
    return Verdict(
        "right",
        ("", "Your rule is right. Your check accepted right rules and rejected wrong ones."),
    )


def _inputs(task):
    """Return a list of arrays, one for each length in `task.sizes`, with entries not near 0.

    Arrays of more than one entry have entries of both signs.
    """
    rng = np.random.default_rng(11)
    return [
        rng.uniform(0.3, 2.0, n).round(2) * rng.permutation(np.resize([1, -1], n))
        for n in task.sizes
    ]


def _rule_is_right(task, rule):
    def arrives(x, draw):
        z = task.f(x)
        return draw(*z.shape), z, x

    def build(d):
        x = d(d.size(task.sizes[0]))
        x[0] += 0.31  # where all of x is 0, it has no direction
        return arrives(x, d.g)

    rng, inputs = np.random.default_rng(12), _inputs(task)
    expect_over(
        rule,
        task.rule,
        build,
        first=[
            arrives(x, lambda *shape: rng.normal(size=shape).round(2))
            for x in [*inputs, inputs[-1] * (np.arange(task.sizes[-1]) > 0)]
        ],  # at 0 as well
        tried=lambda g, z, x: f"g = {brief(g)}, x = {brief(x)} in your rule",
    )


def _check_tells(task, my_check):
    sine = Task("", np.sin, lambda g, z, x: g * np.cos(x), {})
    largest = _inputs(task)[-1]
    for x in _inputs(task):
        if _said(my_check, task, task.rule, x) is not True:
            raise Wrong(
                f"your check of a right rule, at x = {brief(x)}",
                "False",
                "True",
                "Your check rejects a right rule. Does it nudge each entry of x separately, by about 1e−6, and sum g times "
                "the change of every entry of z? Is its tolerance too narrow?",
            )
    if _said(my_check, sine, sine.rule, largest) is not True:
        raise Wrong(
            "your check of another f, sin, and its right rule",
            "False",
            "True",
            "Your check rejects a right rule. Does it measure the f that it receives, and does it do "
            "so accurately enough? Or does it compare with one fixed rule?",
        )

    def slip(made):
        return lambda g, z, x: made(task.rule(g, z, x))

    for what, wrong, why in [
        (
            "a rule whose result is 2 % too large",
            slip(lambda gx: 1.02 * gx),
            "Does it draw each entry of g at random, and compare every entry with the measured one, "
            "within a narrow tolerance?",
        ),
        *(
            (f"the wrong rule {text}", eval(f"lambda g, z, x: {text}", {"np": np}), why)
            for text, why in task.wrong.items()
        ),
        (
            "a rule whose last entry has the wrong sign",
            slip(lambda gx: np.append(gx[:-1], -gx[-1])),
            ENTRIES,
        ),
        (
            "a rule whose first entry is right, with the other entries in reverse order",
            slip(lambda gx: np.append(gx[0], gx[:0:-1])),
            ENTRIES,
        ),
    ]:
        if _said(my_check, task, wrong, largest) is not False:
            raise Wrong(f"your check of {what}", "True", "False", why)


def _said(my_check, task, rule, x):
    """Return the result of the learner's check for a rule at x, as a bool.

    The check is called twice, because a check that draws random numbers must return the same result
    both times.

    Raises
    ------
    Wrong
        If the check does not return a bool, returns different results, fails an assertion or never
        ends.
    """
    answers = set()
    for _ in range(2):
        try:
            answer = bounded(my_check, task.f, rule, *copies([x]))
        except StepLimitExceeded as endless:
            raise Wrong(
                "your check",
                str(endless),
                "True or False",
                "Does your check contain a loop that never ends?",
            ) from None
        except (
            AssertionError
        ):  # unaided would report the error of a wrong rule as the learner's own
            raise Wrong(
                "your check",
                "AssertionError",
                "True or False",
                "Your check is also called with wrong rules, so it must return True or False instead of using assert.",
            ) from None
        if not isinstance(answer, (bool, np.bool_)):
            raise Wrong(
                "your check",
                brief(answer),
                "True or False",
                "Make your check return a single bool, for example the result of np.allclose(…).",
            )
        answers.add(bool(answer))
    if len(answers) > 1:
        right = rule is task.rule
        raise Wrong(
            f"your check, called twice with one {'right' if right else 'wrong'} rule",
            "True and False",
            "the same result both times",
            "Your check returned different results. If it draws random numbers, "
            + (
                "use a more accurate finite difference or a wider tolerance."
                if right
                else "draw every entry of g, and compare every entry closely."
            ),
        )
    return answers.pop()
