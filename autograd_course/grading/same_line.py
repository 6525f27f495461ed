"""Compare the learner's rules with the rules of the library: `same_line`."""

import dis
import inspect
import warnings
from collections import namedtuple
from functools import lru_cache, partial
from html import escape
from types import CodeType

import numpy as np

from autograd_lib import ops
from autograd_lib.rows import Primitive
from autograd_lib.tape import Tensor
from autograd_lib.values import unbroadcast

from ..drawing.picture import Picture
from ..drawing.rules import letters_of
from ..drawing.table import CODE, FAINT, side_by_side, table
from ..op_inputs import SAMPLES
from ..source import has_blank, is_stub, source
from .causes import likely, said
from .rule_checks import special_points
from .sandbox import StepLimitExceeded, bounded
from .sentences import brief, shortest
from .verdict import Verdict

# One rule compared: where it belongs, the verdict, both texts, (label, text) pairs on what was tried, as in a Verdict, and the
# fault of the first Trial that had one.
Line = namedtuple("Line", "where verdict mine library note fault", defaults=[""])
ICONS = {
    "same line": "✓",
    "same line, other letters": "✓",
    "different, but correct": "✓",
    "correct, with a limitation": "✓",
    "not the same": "✗",
    "not yet": "…",
}


class Comparison(Picture):
    """Display the result of `same_line`, as a table in a notebook and as text elsewhere.

    `lines` is a list with one Line for each rule. `status` is "wrong" if a rule is wrong, "not yet"
    if a rule is not written yet or if there are no rules, and otherwise "right".
    """

    def __init__(self, lines):
        verdicts = {line.verdict for line in lines}
        self.lines = lines
        self.status = (
            "wrong"
            if "not the same" in verdicts
            else "not yet"
            if "not yet" in verdicts or not lines
            else "right"
        )
        super().__init__(self._table(), "\n".join([self.status, *map(self._words, lines)]))

    @staticmethod
    def _words(line):
        parts = [("yours", line.mine or "..."), ("library", line.library)] if line.library else []
        return "".join(
            [
                f"{line.where}: {line.verdict}",
                *(
                    "\n    " + f"{label:<13} {text}".strip().replace("\n", "\n" + " " * 18)
                    for label, text in [*parts, *line.note]
                ),
            ]
        )

    def _table(self):
        rows, waiting = [], [escape(line.where) for line in self.lines if line.verdict == "not yet"]
        for line in self.lines:
            if line.verdict == "not yet":
                continue
            both = (
                [("yours", line.mine or "...", ""), ("the library’s", line.library, "")]
                if line.library
                else []
            )
            note = "".join(
                f'<div style="display:flex"><span style="flex:none;width:7.5em;{FAINT}">{label}</span>'
                f'<span style="{CODE}">{escape(text)}</span></div>'
                if label
                else f"<div>{escape(text)}</div>"
                for label, text in line.note
            )
            verdict = f'<span aria-hidden="true">{ICONS[line.verdict]}</span> {line.verdict}'
            rows.append(
                (
                    f'<strong style="white-space:nowrap">{escape(line.where)}</strong><div>{verdict}</div>',
                    side_by_side(both) + f'<div style="margin-top:4px">{note}</div>' * bool(note),
                )
            )
        icon = {"not yet": "…", "wrong": "✗", "right": "✓"}[self.status]
        later = (
            f'<div>Not yet: {"; ".join(waiting)}.</div><div style="{FAINT}">The library’s line {LATER}.</div>'
            if waiting
            else ""
        )
        return (
            f'<div style="border-left:5px {Verdict.ICONS[self.status][1]};padding:2px 12px;line-height:1.5">'
            f'<strong style="font-size:1.25em"><span aria-hidden="true">{icon}</span> {self.status}</strong>'
            f"{table(rows, ruled=True, wide=True)}{later}</div>"
        )


LATER = "shown after you write yours"  # or it would be copied


def same_line(mine, row=None, argument=0):
    """Compare the learner's rules with the library's, by their code and by their results.

        same_line(my_rule, ag.multiply, 0)                # a single rule, for argument 0, x
        same_line({ag.multiply: [f, g], ag.add: [f, g]})  # all rules of a lesson, one per argument

    A rule takes the arguments that the engine passes, in this order: `g, z, x, y` and the row's
    keywords. It may also take only some of them, by these names.

    Each rule is tried at random numbers and at special ones: 0, below 0, large, small, nearly
    equal, and whole constants. At a kink, any slope between the slopes that meet there is right,
    and the verdict mentions the kink. At a tie, the gradients that the rules of all arguments
    return must add up to the upstream gradient; if the learner has no rule for an argument, the
    library's rule is used for it.

    Parameters
    ----------
    mine : callable or dict
        The learner's rule, or a dict that maps rows to lists of rules, one for each argument. A
        None in the list stands for an argument without a rule, such as the condition of `where`.
    row : Primitive, optional
        The row to which a single rule belongs, such as ag.multiply.
    argument : int
        The position, from 0, of the argument to which a single rule belongs.

    Returns
    -------
    Comparison
        A verdict on each rule. Mistakes in a rule or in the call are shown, never raised. The
        verdicts are:

        - "same line", or "same line, other letters";
        - "different, but correct";
        - "correct, with a limitation", with the limitation: other keywords, more axes, arrays in place of
          numbers, numbers so large or small that digits are lost, or 0 where there is no slope;
        - "not the same", with the input that was tried;
        - "not yet".
    """
    if row is not None:
        return Comparison([_one({argument: mine}, row, argument)])
    if not isinstance(mine, dict):
        waits = mine is None or mine is ...
        return Comparison(
            [
                Line(
                    "rule",
                    "not yet" if waits else "not the same",
                    brief(mine),
                    "",
                    []
                    if waits
                    else [
                        (
                            "",
                            "Name the row of the rule: same_line(rule, ag.multiply, 0), or same_line({ag.multiply: [rule, rule]}).",
                        )
                    ],
                )
            ]
        )
    return Comparison([line for key, rules in mine.items() for line in _lesson(key, rules)])


def _lesson(key, rules):
    """Return a list with a Line for each of the learner's rules of a single row.

    `key` is the row, or a function of the library that calls it. `rules` is a list of rules, or one
    rule.
    """
    row = _row(key)
    if callable(rules):
        rules = [rules]
    count = len(row.rules) if isinstance(row, Primitive) else 0
    if count and (rules is None or rules is ...):
        rules = [...] * count
    if not isinstance(rules, (list, tuple)):
        return [
            Line(
                _called(key),
                "not the same",
                brief(rules),
                "",
                [("", "Give a list of rules, one for each argument.")],
            )
        ]
    if count and len(rules) > count:
        none = ", and None for an argument without a gradient" if None in row.rules else ""
        return [
            Line(
                _called(key),
                "not the same",
                f"{len(rules)} rules",
                f"{count} rule{'s' * (count > 1)}",
                [("", f"{row.name} takes {_arguments(row)}: give one rule for each{none}.")],
            )
        ]
    rules = [*rules, *[...] * (count - len(rules))]
    return [
        _one(dict(enumerate(rules)), key, i)
        for i, rule in enumerate(rules)
        if not (rule is None and count)
    ]


def _one(rules, key, argument):
    """Return the Line for the learner's rule for one argument of a row.

    `key` is the row, or a library function that calls it. `rules` is a dict that maps the position
    of each argument to the learner's rule for it, and `argument` is the position to judge.
    """
    row, mine = _row(key), rules[argument]
    text = source(mine)
    if not text and mine is not None and mine is not ...:
        text = f"{brief(mine)} (its source is not available)" if callable(mine) else brief(mine)
    if not isinstance(row, Primitive):
        composed = callable(key) and any(key is value for value in vars(ops).values())
        return Line(
            _called(key),
            "not the same",
            text,
            "",
            [
                (
                    "",
                    f"{_called(key)} has no rule of its own, because it is composed of other rows: pass one of those rows."
                    if composed
                    else "That is not a row of the table: pass the row itself, such as ag.multiply.",
                )
            ],
        )
    count = len(row.rules) or 2  # a row with `each` takes any number: two are tried
    if not isinstance(argument, int) or not 0 <= argument < count:
        return Line(
            row.name,
            "not the same",
            text,
            "",
            [
                (
                    "",
                    f"{row.name} takes {_arguments(row)}: there is no argument "
                    f"{brief(argument)}; arguments are counted from 0 to {count - 1}.",
                )
            ],
        )
    letters, keywords = letters_of(row)
    where = f"{row.name}, to {letters[2 + argument]}"
    library = row.rule(argument)
    if library is None:
        return Line(
            where,
            "not the same",
            text,
            "None",
            [
                (
                    "",
                    f"{letters[2 + argument]} gets no gradient, because it has no slope: pass None in its place.",
                )
            ],
        )
    if mine is None or mine is ... or has_blank(mine):
        return Line(where, "not yet", text, LATER, [])
    line = Line(where, "not yet", text, source(library) or "(its source is not available)", [])
    if not callable(mine):
        return line._replace(
            verdict="not the same",
            note=[
                (
                    "",
                    "Expected a function, such as lambda g, z, x, y: g * y. "
                    "Pass the rule itself, not its result.",
                )
            ],
        )
    how = _convention(mine, letters, keywords)
    if how is None:
        return line._replace(
            verdict="not the same",
            note=[
                (
                    "",
                    f"The engine passes {', '.join(letters + keywords)}. Your rule must take all of "
                    "them in this order, or some of them by these names.",
                )
            ],
        )
    return _judged(line, rules, library, row, argument, how, letters, keywords)


def _judged(line, rules, library, row, argument, how, letters, keywords):
    """Return `line` with its verdict and, if necessary, a note that explains the verdict.

    The results of the two rules on the same numbers are compared first, and then their code.
    `library` is the library's rule, and `how` is the result of `_convention` for the learner's
    rule.
    """
    mine = rules[argument]
    trials = []
    for case in _cases(row, argument):
        trials.append(_trial(mine, how, case, letters))
        if (
            trials[-1].fault == "endless"
        ):  # the next ones would end the same way, and each takes time
            break
    if any(trial.fault == "not yet" for trial in trials):
        return line._replace(library=LATER)
    wrong = next((trial for trial in trials if trial.fault), None)
    if wrong:
        cause = _cause(trials, row, argument, letters)
        return line._replace(
            verdict="not the same",
            note=wrong.lines + [("", cause)] * bool(cause),
            fault=wrong.fault,
        )
    if hasattr(mine, "__code__"):
        roles = _roles(mine, how, letters, keywords)
        if _steps(mine.__code__, roles) == _steps(
            library.__code__, _roles(library, "name", letters, keywords)
        ):
            renamed = {
                name: role
                for name, role in roles.items()
                if role in [*letters, *keywords] and name != role
            }
            if not renamed:
                return line._replace(verdict="same line")
            return line._replace(
                verdict="same line, other letters",
                note=[
                    (
                        "",
                        f"Your rule writes {', '.join(renamed)} for {', '.join(renamed.values())}.",
                    )
                ],
            )
    for case in _ties(row, argument):
        trial = _trial(mine, how, case, letters)
        if (
            trial.fault
            and trial.got is not None
            and (said := _shared(rules, row, argument, trial, letters, keywords))
        ):
            return line._replace(verdict="not the same", note=[*trial.lines, ("", said)])
    note = []
    for case, sides in _kinks(row, argument):
        trial = _trial(mine, how, case, letters)
        if trial.fault:
            mines = trial.got is not None and trial.got / case.g
            between = mines is not False and min(sides) - 1e-9 <= mines <= max(sides) + 1e-9
            said = f"At this kink two slopes meet, {brief(sides[0])} and {brief(sides[1])}. " + (
                "Every slope between them is right. The library chose a different slope."
                if between
                else "Your slope is not between them."
            )
            if not between:
                return line._replace(verdict="not the same", note=[*trial.lines, ("", said)])
            note = note or [*trial.lines, ("", said)]
    limit = []
    for case, said in _limits(row, argument):
        trial = _trial(mine, how, case, letters)
        another_number = (
            said in (AS_STATED, NO_SLOPE)
            and trial.got is not None
            and np.isfinite(trial.got)
            and (trial.got != 0 or said == AS_STATED)
        )
        if trial.fault == "overwrites" or trial.fault and another_number:
            note = trial.lines
            if said == NO_SLOPE:
                note = [*note, ("", "There is no slope here, so the result should be nan.")]
            return line._replace(verdict="not the same", note=note)
        if trial.fault and not limit:
            limit = [("", said), *trial.lines]
    if limit:
        return line._replace(verdict="correct, with a limitation", note=limit)
    return line._replace(verdict="different, but correct", note=note)


Case = namedtuple("Case", "g z xs keywords wanted")
Trial = namedtuple("Trial", "fault lines wanted got g")


@lru_cache(maxsize=128)
def _cases(row, argument):
    """Return the list of Cases for which a rule must be right.

    For an elementwise row, the inputs are numbers at which its function is differentiable. For any
    other row, they are the arrays of the simplest call.
    """
    if row.kind != "elementwise":
        return _on_arrays(row, argument)[:1]
    rng, found = np.random.default_rng(0), []
    for low in (-2, 0.2):
        for k in range(12):
            xs = [
                np.float64(round(rng.uniform(low, 2), 2)) if rule else k % 2 == 0
                for rule in row.rules
            ]
            found.append(_case(row, argument, xs, {}, rng))
    close = [[np.float64(3 + k * 3e-12) for k in range(len(row.rules))]]  # nearly a tie,
    close.append(close[0][::-1])  # in both orders
    # The engine passes a constant as it was written: the 3 of x / 3 is an int.
    constants = [[np.float64(k + 2) if k == argument else k + 2 for k in range(len(row.rules))]]
    for xs in close + constants:
        xs = [x if rule else True for x, rule in zip(xs, row.rules)]
        found.append(_case(row, argument, xs, {}, rng))
    found += [
        _case(row, argument, xs, {}, rng, inside=False)
        for xs in special_points(row, argument)[0]
        if xs != STATED.get(row.name)
    ]
    return [case for case in found if case]


# Points where a row states its slope, which is neither a limit nor between two slopes. A rule that
# gives no number there is right elsewhere.
STATED = {"power": [0, 0]}
AS_STATED = "Right for bases above 0. At the base 0 it can differ from the library's rule:"
# At a point without a slope, a rule may return 0 in place of nan, and nothing else.
NO_SLOPE = "Right wherever there is a slope. Here there is no slope, so nan is expected:"


def _kinks(row, argument):
    """Return the kinks of a row as a list of (Case at the kink, (slope before it, slope after it)).

    The slopes are those with respect to the input number `argument`. The list is empty if the row
    is not elementwise.
    """
    if row.kind != "elementwise":
        return []
    rng = np.random.default_rng(2)
    return [
        (_case(row, argument, xs, {}, rng), sides)
        for xs, *sides in special_points(row, argument)[1]
    ]


def _limits(row, argument):
    """Return (Case, remark) pairs for Cases on which a rule may fail and still be right elsewhere.

    The verdict shows the remark if the rule fails on the Case.
    """
    if row.kind != "elementwise":
        return [
            (case, "Right for the simplest call, but wrong with these arguments:")
            for case in _on_arrays(row, argument)[1:]
        ]
    rng, cases = np.random.default_rng(1), _cases(row, argument)[:3]
    several = [np.array(column) for column in zip(*[case.xs for case in cases])]
    extreme = [
        [np.float64(x / (1 + i)) if rule else True for i, rule in enumerate(row.rules)]
        for x in (1000, -1000, 1e-20)
    ]  # no tie
    stated = [list(map(np.float64, STATED[row.name]))] if row.name in STATED else []
    return [
        (case, said)
        for said, inputs in [
            (NO_SLOPE, special_points(row, argument)[2]),
            (AS_STATED, stated),
            ("Right for single numbers. With arrays in their place it is wrong:", [several]),
            ("Right on paper, but floating-point numbers lose digits here:", extreme),
        ]
        for xs in inputs
        if (case := _case(row, argument, xs, {}, rng, inside=said != NO_SLOPE))
    ]


def _on_arrays(row, argument):
    rng = np.random.default_rng(0)
    return [
        _case(
            row, argument, [rng.uniform(-2, 2, shape).round(2) for shape in shapes], keywords, rng
        )
        for shapes, keywords, *_ in SAMPLES.get(row.name, [([(2, 3)] * len(row.rules), {})])
    ]


# At a tie of these rows the upstream gradient is shared among the slots: the parts add up to it.
TIES = {"maximum", "minimum", "clip", "max", "min"}


def _ties(row, argument):
    if row.name not in TIES:
        return []
    if row.kind == "elementwise":
        inputs = [[np.float64(3)] * len(row.rules)]
    else:  # a tie of all entries; of some, beside repeats, a near tie and −3; and one at 0
        some = np.array([[3, 1, 3, 1], [1, -3, 3 - 3e-12, 0]]) * (-1 if row.name == "min" else 1)
        inputs = [[np.full((2, 3), 3.0)], [some], [some - some[0, 0]]]
    return [_case(row, argument, xs, {}, np.random.default_rng(0)) for xs in inputs]


def _shared(rules, row, argument, trial, letters, keywords):
    """Return a sentence that explains wrong gradients at a tie, or "" if the gradients are right.

    `trial` is the Trial of the rule for `argument`. The gradients of the other arguments come from
    the learner's `rules`, or from the library if there is no such rule.
    """
    if row.kind != "elementwise" and np.any(trial.got[trial.wanted == 0]):
        return (
            "Only the entries equal to z share the upstream gradient. "
            "Here a different entry gets a part."
        )
    given, beside = [trial.got], []
    for other in range(len(row.rules)):
        if other != argument:
            case = _ties(row, other)[0]
            rule = rules.get(other)
            how = callable(rule) and _convention(rule, letters, keywords)
            theirs = _trial(rule, how, case, letters).got if how else None
            given.append(case.wanted if theirs is None else theirs)
            beside.append(
                f"{'the library’s' if theirs is None else 'your'} rule for {letters[2 + other]}"
            )
    share = np.sum(given) / np.sum(trial.g)
    together = "Together with " + " and ".join(beside) + ", this rule" if beside else "This rule"
    return (
        ""
        if np.isclose(share, 1)
        else f"At a tie, g is shared. {together} passes on {share:.3g} · g instead of g."
    )


def _case(row, argument, xs, keywords, rng, inside=True):
    """Return the Case with the inputs `xs` and a random upstream gradient.

    If `inside` is True, return None if the value or the gradient is not finite at these inputs.
    """
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        z = np.asarray(row.function(*xs, **keywords))[()]
        g = np.round(rng.uniform(0.5, 2, np.shape(z)) * rng.choice([-1, 1]), 2)[()]
        wanted = row.rule(argument)(g, z, *xs, **keywords)
    if inside and not (np.all(np.isfinite(z)) and np.all(np.isfinite(wanted))):
        return None
    return Case(g, z, xs, keywords, _fitted(np.asarray(wanted), np.shape(xs[argument])))


def _fitted(g, shape):
    """Return g summed over the broadcast axes, so that it has the given shape.

    The engine does the same with the result of a rule. If the shapes do not fit, g is returned
    unchanged.
    """
    try:
        return unbroadcast(g, shape)[()]
    except ValueError:
        return g


def _trial(mine, how, case, letters):
    """Call the learner's rule `mine` on a Case, and return the Trial.

    Its `fault` is "" if the rule agrees with the library. Its `lines` are (label, text) pairs that
    describe the call and the results. `how` is the result of `_convention`.
    """
    passed = [
        np.copy(value)[()] if isinstance(value, np.ndarray) else value
        for value in (case.g, case.z, *case.xs)
    ]
    tried = ", ".join(
        [f"{name} = {_shown(value)}" for name, value in zip(letters, (case.g, case.z, *case.xs))]
        + [f"{name}={brief(value)}" for name, value in case.keywords.items()]
    )
    named = {
        name: value
        for name, value in [*zip(letters, passed), *case.keywords.items()]
        if how == "name" and name in inspect.signature(mine).parameters
    }

    def ended(fault, words, got=None):
        library = _shown(case.wanted)
        other = " of other numbers" * (library == words)  # two arrays of one shape
        return Trial(
            fault,
            [("tried", tried), ("yours gives", words), ("library gives", library + other)],
            case.wanted,
            got,
            case.g,
        )

    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            came = bounded(
                partial(mine, **named)
                if how == "name"
                else partial(mine, *passed, **case.keywords),
                most=100_000,
            )  # one rule is short, so this limit is enough
        if came is ... or came is None and is_stub(mine):
            return ended("not yet", "")
        if came is None:
            return ended("wrong", "the rule returned None: is there a return?")
        got = np.asarray(came.data if isinstance(came, Tensor) else came)
        if got.dtype.kind not in "biuf":
            return ended("wrong", brief(came))
    except StepLimitExceeded as endless:
        return ended("endless", str(endless))
    except (Exception, SystemExit) as error:
        return ended(
            "not yet" if likely(error).kind == "error: blank" else "wrong",
            f"{type(error).__name__}: {shortest(said(error), 500)}",
        )
    if not all(
        np.array_equal(*pair, equal_nan=True) for pair in zip(passed, (case.g, case.z, *case.xs))
    ):
        return ended(
            "overwrites",
            "Your rule writes into an array that other operations still read: make a new array.",
        )
    got = _fitted(got, case.wanted.shape)
    if got.shape != case.wanted.shape:
        return ended("wrong", f"shape {got.shape} for an input of shape {case.wanted.shape}")
    return ended(
        "" if np.allclose(got, case.wanted, rtol=1e-7, atol=1e-9, equal_nan=True) else "wrong",
        _shown(got[()]),
        got,
    )


def _shown(value):
    return brief(value) if np.size(value) <= 6 else f"array of shape {np.shape(value)}"


def _cause(trials, row, argument, letters):
    """Return a sentence with the likely cause of a wrong rule, or "" if the cause is unknown.

    The cause must explain the results of all trials.
    """
    if any(trial.got is None for trial in trials):
        return ""

    def explained(fits):
        return all(
            np.shape(right := fits(i, trial)) == trial.got.shape
            and np.allclose(trial.got, right, rtol=1e-7, atol=1e-9)
            for i, trial in enumerate(trials)
        )

    for other, rule in enumerate(row.rules):
        if other != argument and rule:
            with np.errstate(all="ignore"):
                swapped = [
                    rule(case.g, case.z, *case.xs, **case.keywords)
                    for case in _cases(row, argument)
                ]
            if explained(lambda i, trial, swapped=swapped: swapped[i]):
                return f"That is the gradient of {letters[2 + other]}: are the two swapped?"
    if explained(lambda i, trial: -trial.wanted):
        return "The absolute value is right, but it has the wrong sign."
    if all(np.shape(trial.g) == () for trial in trials) and explained(
        lambda i, trial: trial.wanted / trial.g
    ):
        return "The factor g is missing: multiply by the upstream gradient."
    return ""


def _row(key):
    """Return the row of the table that belongs to `key`, or `key` itself if there is none.

    `key` may be a function of the library that calls a row of the same name; ag.clip is an example.
    """
    if callable(key) and not isinstance(key, Primitive):
        return ops.ROWS.get(getattr(key, "__name__", None), key)
    return key


def _called(key):
    return getattr(key, "name", None) or getattr(key, "__name__", None) or brief(key)


def _arguments(row):
    return (
        "any number of arguments"
        if row.arity is None
        else "the arguments " + ", ".join(letters_of(row)[0][2:])
    )


def _convention(mine, letters, keywords):
    """Return how to call the learner's rule `mine`: "position", "name", or None for neither.

    The engine passes arguments with the names `letters` and `keywords`. "position" means that the
    rule takes all of them in this order, and "name" that it takes some of them by name.
    """
    try:
        signature = inspect.signature(mine)
    except ValueError:  # NumPy's own functions may have no signature
        return None
    try:
        signature.bind(*letters, **dict.fromkeys(keywords))
        return "position"
    except TypeError:
        by_name = all(
            p.name in [*letters, *keywords] and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
            for p in signature.parameters.values()
        )
        return "name" if by_name else None


def _roles(function, how, letters, keywords):
    """Return a dict that maps each variable name in a rule to a name that all learners share.

    A parameter is mapped to the library's letter for it, and a local variable to a number, such as
    "own 0". `how` is the result of `_convention`.
    """
    code, passed, roles = function.__code__, iter([*letters, *keywords]), {}
    for p in inspect.signature(function).parameters.values():
        by_order = how == "position" and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        roles[p.name] = (
            "*" if p.kind is p.VAR_POSITIONAL else next(passed, p.name) if by_order else p.name
        )
    own = [
        name for name in dict.fromkeys((*code.co_varnames, *code.co_cellvars)) if name not in roles
    ]
    return roles | {name: f"own {k}" for k, name in enumerate(own)}


def _steps(code, roles):
    """Return the instructions of a function, with its variable names replaced by their `roles`.

    Two functions that differ only in line numbers, docstrings or unused parameters have equal
    instructions.
    """
    steps = []
    for step in dis.get_instructions(code):
        what = step.argval
        if isinstance(what, CodeType):
            what = _steps(what, roles)
        elif step.opcode in dis.hasconst:
            what = repr(0.0 if type(what) is int and what == 0 else what)  # 2 is not 2.0; 0 is 0.0
        elif step.opcode in dis.hasfree or "FAST" in step.opname:
            what = [roles.get(name, name) for name in ((what,) if isinstance(what, str) else what)]
        if (
            step.opname != "PUSH_NULL"
        ):  # np.cos( ) is called as a function or as a method, depending on where np was imported
            steps.append((step.opname.replace("LOAD_METHOD", "LOAD_ATTR"), what))
    return steps
