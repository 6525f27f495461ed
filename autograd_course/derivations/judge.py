"""Judge a typed line of a derivation by its values, and name the mistake in a wrong line.

A line is right if it has the same value as the left side at twelve random points, contains only the
letters that the step allows, and does not repeat the line above. A mistake is named only if it
explains the whole difference: with the repair that the hint suggests, the line is right at all
points.
"""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations, product

import numpy as np

from .expressions import (
    CONSTANTS,
    Unreadable,
    as_text,
    names,
    parse,
    parts,
    replace,
    terms,
)

POINTS = 12
_FUNCTIONS = {
    name: getattr(np, name)
    for name in ("exp", "log", "sqrt", "sin", "cos", "tanh", "sinh", "cosh", "abs")
} | {"sigmoid": lambda x: 1 / (1 + np.exp(-x))}
_OPERATORS = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "^": np.power,
    "@": np.matmul,
}


class Mismatch(Exception):
    """Report that a line has no value; the message names the index or the shapes that do not fit."""


@dataclass(frozen=True)
class Step:
    """Hold one line of a derivation.

    Parameters
    ----------
    left : str
        The left side, as TeX.
    right : str
        The right side, as a learner may type it.
    reason : str
        The reason why this line follows from the line above.
    letters : str
        The letters that the line may contain, separated by spaces, or "" for all letters.
    indices : str
        The indices on the left side, without spaces, such as "ij"; "" if there are none.
    mistakes : tuple of (str, str)
        Pairs (wrong line, sentence that explains the mistake). If such a line has the right value,
        for example because it repeats the left side, it is recognised by its form instead of its
        value, and its verdict is "equal" instead of "wrong".
    rivals : tuple of str
        Two wrong reasons, offered as choices next to `reason`; () if the learner is not asked for
        the reason.
    worked : bool
        True if the line is shown, and the learner does not type it.
    """

    left: str
    right: str
    reason: str
    letters: str = ""
    indices: str = ""
    mistakes: tuple = ()
    rivals: tuple = ()
    worked: bool = False


@dataclass(frozen=True)
class Derivation:
    """Hold the lines of a derivation and the letters in them.

    Parameters
    ----------
    letters : dict
        For each letter, the shape of its random value, or the `range` of whole numbers from which
        its value is drawn, or a formula (str) in the letters before it. A key such as "p[i]"
        defines the entries of the array p by a formula.
    steps : tuple of Step
        The lines, from the first to the last.
    given : str
        The Markdown text above the first line.
    sizes : dict
        For each index, such as "i", the number of its values.
    code : str
        The answer to an exercise, with {} in place of the last line.
    renamed : dict
        For each letter that has a different name in `code`, this name.
    """

    letters: dict
    steps: tuple
    given: str = ""
    sizes: dict = field(default_factory=dict)
    code: str = ""
    renamed: dict = field(default_factory=dict)

    @cached_property
    def names(self):
        return [letter.partition("[")[0] for letter in self.letters]

    @cached_property
    def matrices(self):
        """Return the list of letters whose value is a matrix or a vector."""
        values = self.points()
        return [name for name in self.names if _is_matrix(values[name])]

    @cached_property
    def vectors(self):
        """Return the list of letters whose value is a vector, stored as a matrix with one column."""
        values = self.points()
        return [name for name in self.matrices if values[name].shape[-1] == 1]

    @cached_property
    def drawn(self):
        """Return the list of letters whose value is a random number."""
        return [
            letter
            for letter, value in self.letters.items()
            if value == () or isinstance(value, range)
        ]

    def read(self, text, **meant):
        """Parse a typed line with the letters of this derivation, and return its tree.

        The keyword arguments are `tight` and `wide` of `expressions.parse`.
        """
        return parse(
            text,
            self.names,
            self.matrices,
            vectors=self.vectors,
            indices=list(self.sizes),
            **meant,
        )

    def as_code(self, text):
        """Return the answer to the exercise as code, with the typed last line `text` in it."""
        names = {("name", old): ("name", new) for old, new in self.renamed.items()}
        return self.code.format(as_text(replace(self.read(text), names), code=True))

    def points(self, count=POINTS, **fixed):
        """Return a dict that maps each letter to its values at `count` random points.

        A keyword argument such as `x=0.0` sets the letter x to this number at all points. The
        values of a letter are an array with an axis for the points, one axis for each index, and
        two axes for the rows and columns. The axes of the indices have length 1, and a vector has a
        single column.
        """
        key = (count, *fixed.items())
        if key not in self._cache:
            random, values = np.random.default_rng(7), {}
            for letter, value in self.letters.items():
                name, _, indices = letter.rstrip("]").partition("[")
                if isinstance(value, str):
                    tree = parse(value, self.names, [k for k in values if _is_matrix(values[k])])
                    made = evaluate(tree, values, self.sizes, indices)
                    values[name] = _as_array(made, indices, self.sizes) if indices else made
                else:
                    if isinstance(value, range):
                        numbers = random.choice(value, count).astype(float)
                    else:
                        signs = random.choice([-1.0, 1.0], (count, *value))
                        numbers = signs * np.round(random.uniform(0.3, 2.5, (count, *value)), 1)
                    if name in fixed:
                        numbers = np.full_like(numbers, fixed[name])
                    values[name] = _expanded(numbers, self.sizes)
            self._cache[key] = values
        return self._cache[key]

    @cached_property
    def _cache(self):
        return {}


def _is_matrix(value):
    return value.shape[-2:] != (1, 1)


def _expanded(numbers, sizes):
    """Reshape random values to the form that `Derivation.points` returns.

    The values have the shape (points, *shape), and the result has the shape (points, 1 for each
    index, rows, columns).
    """
    shape = numbers.shape[1:]
    rows_and_columns = shape + (1,) * (2 - len(shape))
    return numbers.reshape(len(numbers), *(1,) * len(sizes), *rows_and_columns)


def _as_array(value, indices, sizes):
    """Return a value with the axes of the given indices moved to its rows and columns."""
    axes = [1 + list(sizes).index(index) for index in indices]
    moved = np.moveaxis(value, axes, range(1, 1 + len(axes)))
    return _expanded(moved.reshape(len(value), *moved.shape[1 : 1 + len(axes)]), sizes)


def evaluate(tree, values, sizes, bound):
    """Return the value of a tree at all points, for all values of all indices at once.

    Parameters
    ----------
    tree : tuple
        A formula, as `expressions.parse` returns it.
    values : dict
        The values of the letters, as `Derivation.points` returns them.
    sizes : dict
        The number of values of each index.
    bound : str
        The indices that the tree may use: those on the left side, and those of the sums around the
        tree.

    Returns
    -------
    ndarray
        Shape (points, one axis for each index, rows, columns). The axis of an index has length 1 if
        the value does not depend on this index.

    Raises
    ------
    Mismatch
        If an index is not bound or does not fit the array, or if shapes do not fit.
    """
    kind, first = tree[:2]
    if kind == "number":
        return np.full((1,) * (3 + len(sizes)), first)
    if kind == "name":
        return (
            values[first]
            if first in values
            else np.full((1,) * (3 + len(sizes)), getattr(np, first))
        )
    if kind == "entry":
        return _entry(first, tree[2], values, sizes, bound)
    if kind == "sum":
        if first not in sizes:
            return _sum_over_own_index(first, tree[2], values, sizes, bound)
        axis = 1 + list(sizes).index(first)
        summed = evaluate(tree[2], values, sizes, bound + first)
        repeats = sizes[first] if summed.shape[axis] == 1 else 1  # a sum of equal terms
        return summed.sum(axis=axis, keepdims=True) * repeats
    if kind == "call":
        return _FUNCTIONS[first](evaluate(tree[2], values, sizes, bound))
    operands = [evaluate(part, values, sizes, bound) for part in tree[1:]]
    if kind == "negative":
        return -operands[0]
    if kind == "transpose":
        return np.swapaxes(operands[0], -1, -2)
    left, right = (operand.shape[-2:] for operand in operands)
    fits = left[1] == right[0] if kind == "@" else left == right or (1, 1) in (left, right)
    if not fits or kind == "@" and (1, 1) in (left, right):
        advice = (
            " `*` multiplies entry by entry; write `@` for a matrix product." if kind == "*" else ""
        )
        raise Mismatch(
            f"The shapes {left} and {right} are incompatible in `{as_text(tree)}`.{advice}"
        )
    return _OPERATORS[kind](*operands)


def _sum_over_own_index(own, term, values, sizes, bound):
    """Return the value of a sum over `own`, an index that the derivation does not have.

    The learner may give any name to the index of a sum, so this index is replaced by an unused
    index of the derivation that fits. `term` is the tree under the sum. The other arguments are
    those of `evaluate`.

    Raises
    ------
    Mismatch
        If no index of the derivation fits.
    """
    entries = [part for part in parts(term) if part[0] == "entry"]
    used = {index for _, _, indices in entries for index in indices}
    for free in sizes if own in used else ():
        if free not in used | set(bound):
            renamed = {entry: (*entry[:2], entry[2].replace(own, free)) for entry in entries}
            try:
                return evaluate(("sum", free, replace(term, renamed)), values, sizes, bound)
            except Mismatch:
                continue
    inside = "".join(part[1] for part in parts(term) if part[0] == "sum")
    for entry in entries:
        _refuse_unbound(entry, bound + own + inside)
    if set(sizes) <= set(bound):
        raise Mismatch(
            "No index is left for this sum: every index is on the left-hand side or under another sum."
        )
    raise Mismatch(f"There is no index {own} to sum over.")


def _refuse_unbound(entry, bound):
    for index in entry[2]:
        if index not in bound:
            said = (
                "neither on the left-hand side nor under a sum"
                if index.isalpha()
                else "a number: write a letter, or a sum over a letter"
            )
            raise Mismatch(f"The index {index} of `{as_text(entry)}` is {said}.")


def _entry(name, indices, values, sizes, bound):
    """Return the value of the array entry name[indices], in the form that `evaluate` returns.

    `indices` is a string such as "ij", and the other arguments are those of `evaluate`.
    """
    shown = f"`{as_text(('entry', name, indices))}`"
    _refuse_unbound(("entry", name, indices), bound)
    array = values[name]
    shape = [n for n in array.shape[-2:] if n > 1]
    if [sizes[index] for index in indices] != shape:
        raise Mismatch(
            f"{shown} does not fit the shape of {name}, which is {tuple(shape)}: "
            + ", ".join(f"{index} has {sizes[index]} values" for index in dict.fromkeys(indices))
            + "."
        )
    numbers = array.reshape(len(array), *shape)
    order = list(sizes)
    if len(set(indices)) < len(indices):  # the diagonal, as in A[i, i]
        numbers, indices = np.diagonal(numbers, axis1=1, axis2=2), indices[0]
    by_order = sorted(range(len(indices)), key=lambda k: order.index(indices[k]))
    numbers = np.transpose(numbers, [0, *(1 + k for k in by_order)])
    axes = [sizes[index] if index in indices else 1 for index in order]
    return numbers.reshape(len(array), *axes, 1, 1)


# ---------------------------------------------------------------- the verdict


@dataclass(frozen=True)
class Verdict:
    """Hold the verdict on a typed line.

    Parameters
    ----------
    kind : str
        "right", "wrong", "unreadable", or "equal" if the line has the right value but is not the
        required line.
    message : str
        The text that is shown at once.
    hint : str
        The text that is shown if the learner checks the line again, or "".
    tree : tuple, optional
        The tree of the line; None if the line could not be read.
    """

    kind: str
    message: str = ""
    hint: str = ""
    tree: tuple | None = None


# How a line may have been meant, and where it needs brackets to be read so.
_MEANT = {"tight": "what you divide by", "wide": "the whole exponent"}


def judge(derivation, number, typed):
    """Return the Verdict on the text that a learner typed as the right side of a step.

    `number` is the index of the step, from 0.
    """
    with np.errstate(all="ignore"):
        return _judge(derivation, number, typed)


def _judge(derivation, number, typed):
    step = derivation.steps[number]
    try:
        tree = derivation.read(typed)
    except Unreadable as problem:
        return Verdict("unreadable", str(problem))
    right = derivation.read(step.right)
    if not _agree(derivation, step, tree, right):
        for meant, where in _MEANT.items():
            if _agree(derivation, step, derivation.read(typed, **{meant: True}), right):
                message = f"This is read as `{as_text(tree)}`. Put brackets around {where}."
                return Verdict("unreadable", message, tree=tree)
        return _explain(derivation, step, tree, right)
    pieces = sorted(map(str, parts(tree)))
    for line, sentence in step.mistakes:
        if pieces == sorted(map(str, parts(derivation.read(line)))):
            return Verdict("equal", sentence, tree=tree)
    for letter in derivation.drawn:
        at_zero = derivation.points(3, **{letter: 0.0})
        due = _values(derivation, step, right, at_zero)
        if np.isfinite(due).all() and not _agree(derivation, step, tree, right, at_zero):
            message = f"It is equal, except where {letter} is 0: there your line has no value, but the right line has one."
            return Verdict("equal", message, tree=tree)
    allowed = step.letters.split() or derivation.names
    surplus = sorted(names(tree) - {*allowed, *CONSTANTS})
    if surplus:
        where = _listed(_bridges(derivation, step, tree, right, allowed, surplus))
        message = (
            f"It is equal, but write it without {_listed(surplus)}: use only {', '.join(allowed)}"
        )
        message += f", where {where}." if where else "."
        return Verdict("equal", message, tree=tree)
    if number:
        above = derivation.read(derivation.steps[number - 1].right)
        if pieces == sorted(map(str, parts(above))):
            return Verdict(
                "equal",
                "It is equal, but it repeats the line above: take one more step.",
                tree=tree,
            )
    return Verdict("right", tree=tree)


def _bridges(derivation, step, tree, right, allowed, surplus):
    """Return hints on how to write a line without the letters in `surplus`.

    If a part of the line has the same value as an allowed letter, the only hint names this part and
    this letter. Otherwise the hints are the definitions that connect the surplus letters with the
    allowed ones, except a definition that is itself the required line.
    """
    points = derivation.points()
    for part, letter in product(parts(tree), () if derivation.sizes else allowed):
        if names(part) & {*surplus} and _equal(_values(derivation, step, part), points[letter]):
            return [f"`{as_text(part)}` is {letter}"]
    made_of, found = {}, []
    for letter, formula in derivation.letters.items():
        if not isinstance(formula, str):
            continue
        name, definition = letter.partition("[")[0], derivation.read(formula)
        direct = names(definition) - {*CONSTANTS}
        made_of[name] = direct.union(*(made_of.get(one, ()) for one in direct))
        leads = made_of[name] & {*surplus} or name in surplus and direct <= {*allowed}
        if leads and not _agree(derivation, step, definition, right):
            found.append((name, f"`{letter} = {formula}`"))
    ends = {*allowed, *surplus}
    on_the_way = ends.union(*(made_of.get(name, ()) for name in ends))
    return [said for name, said in found if name in on_the_way]


def _listed(words):
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def _values(derivation, step, tree, points=None):
    """Return the values of a line at all points, for all values of the indices on the left side.

    `points` are the values of the letters; by default, those of `derivation.points()`.

    Raises
    ------
    Mismatch
        If the line has no value.
    """
    points = derivation.points() if points is None else points
    value = evaluate(tree, points, derivation.sizes, step.indices)
    count = len(next(iter(points.values())))
    full = [size if index in step.indices else 1 for index, size in derivation.sizes.items()]
    return np.broadcast_to(value, (count, *full, *value.shape[-2:]))


def _agree(derivation, step, tree, right, points=None):
    due = _values(derivation, step, right, points) if points else _due(derivation, step)
    try:
        mine = _values(derivation, step, tree, points)
    except Mismatch:
        return False
    return _equal(mine, due)


def _due(derivation, step):
    """Return the values of the right line for `step` at all points, computed once and then cached."""
    key = (step.right, step.indices)
    if key not in derivation._cache:
        derivation._cache[key] = _values(derivation, step, derivation.read(step.right))
    return derivation._cache[key]


def _equal(mine, due):
    if mine.shape != due.shape or not np.isfinite(due).all():
        return False
    room = 1e-8 * (np.abs(due) + np.median(np.abs(due)) + 1e-3)
    return bool(np.all(np.abs(mine - due) <= room))


def _explain(derivation, step, tree, right):
    """Return the Verdict on a line whose value is wrong, with the mistake if it is recognised.

    `tree` is the learner's line, and `right` is the right line.
    """
    for line, sentence in step.mistakes:
        planted = derivation.read(line)
        if _agree(derivation, step, ("+", ("-", tree, planted), right), right):
            return Verdict("wrong", sentence, tree=tree)
    number = derivation.steps.index(step)
    above = derivation.steps[number - 1] if number else None
    is_above = above and _agree(derivation, above, tree, derivation.read(above.right))
    said = "That is right for the line above. " if is_above else ""
    for repaired, where, hint in _repairs(derivation, step, tree, right):
        if _agree(derivation, step, repaired, right):
            return Verdict("wrong", said + where, hint, tree)
    return Verdict("wrong", said + _symptom(derivation, step, tree, right), tree=tree)


def _symptom(derivation, step, tree, right):
    """Return a sentence about how a wrong line differs from the left side.

    The sentence is used if no small repair corrects the line.
    """
    if not step.indices and any(part[0] == "entry" for part in parts(tree)):
        return "The left side is a whole array, and your line has indices: write it with whole arrays only."
    try:
        mine, due = _values(derivation, step, tree), _due(derivation, step)
    except Mismatch as problem:
        return str(problem)
    if step.indices and mine.shape[-2:] != (1, 1) == due.shape[-2:]:
        return "Your line is a whole array, and the left side is one entry: write the indices."
    if mine.shape != due.shape:
        shapes = (
            "a single number" if one.shape[-2:] == (1, 1) else f"an array of shape {one.shape[-2:]}"
            for one in (mine, due)
        )
        return "Your line is {}, and the left side is {}.".format(*shapes)
    mine, due = mine.reshape(len(mine), -1), due.reshape(len(due), -1)
    has_value = np.isfinite(mine).all(axis=1)
    if not has_value.any():
        return "At every point that was tried, your line has no value, or its value is too large."
    if not has_value.all():
        return "At some points your line has no value, or its value is too large."
    points = derivation.points()
    numbers = [name for name in derivation.names if points[name].size == POINTS]
    allowed = step.letters.split() or derivation.names
    for name in (name for name in derivation.drawn if name in allowed):
        moves = [_depends(derivation, step, one, name) for one in (tree, right)]
        if moves[0] != moves[1]:
            subject, rest = ("changes", "does not") if moves[0] else ("does not change", "does")
            return f"Your line {subject} with {name}, and the left side {rest}."
    point, entry = np.argwhere(~np.isclose(mine, due, rtol=1e-6))[0]
    involved = [name for name in numbers if name in names(tree) | names(right)]
    at = ", ".join(f"{name} = {_short(points[name].ravel()[point])}" for name in involved)
    return (
        f"{f'Compare the two sides at {at}:' if at else 'In an example with random numbers,'} "
        f"your line is {_short(mine[point, entry])}, and the left side is {_short(due[point, entry])}."
    )


def _short(number):
    return f"{number:.4g}".replace("-", "−")


def _depends(derivation, step, tree, name):
    values = [
        _values(derivation, step, tree, derivation.points(4, **{name: at})) for at in (2.0, 3.0)
    ]
    return not _equal(*values)


def _repairs(derivation, step, tree, right):
    """Yield possible repairs of a wrong line, the most likely one first.

    Each is a triple (repaired tree, sentence that tells where the mistake is, hint on how to repair
    it). The caller tests whether the repaired tree is right.
    """
    # A repair that the step accepts comes before one with a letter that has to go.
    letters = list(dict.fromkeys([*step.letters.split(), *derivation.names]))
    yield from _sign_repairs(tree, right)
    if derivation.sizes:
        yield from _index_repairs(derivation, step, tree)
    yield from _function_repairs(tree)
    # A letter that the line asked for has too is seldom the wrong one, so it comes last.
    stays = names(right)
    yield from _letter_repairs(letters, tree, names(tree) - stays)
    if derivation.sizes:
        yield from _entry_repairs(derivation, letters, tree)
    yield from _factor_repairs(derivation, letters, tree)
    yield from _order_repairs(derivation, tree)
    yield from _term_repairs(letters, tree)
    yield from _letter_repairs(letters, tree, names(tree) & stays)
    yield (
        ("/", ("number", 1.0), tree),
        "Numerator and denominator are swapped.",
        "It is upside down: 1 divided by your line is right.",
    )
    for number in (2.0, 0.5, -2.0, -0.5, 3.0, 4.0):
        yield (
            ("*", ("number", number), tree),
            "A constant factor is wrong.",
            f"{number:g} times your line is right.",
        )
    mine = terms(tree)
    for (sign, term), number in product(mine if len(mine) > 1 else (), (2.0, 0.5, 3.0, 4.0)):
        yield (
            ("+", tree, ("*", ("number", sign * (number - 1)), term)),
            "A constant factor in one term is wrong.",
            f"Write {number:g} times `{as_text(term)}`.",
        )


def _sign_repairs(tree, right):
    yield (
        ("negative", tree),
        "A sign is wrong.",
        "The sign of the whole line is wrong, but its size is right.",
    )
    mine = terms(tree)
    for sign, term in mine if len(mine) > 1 else ():
        yield (
            ("+", tree, ("*", ("number", -2.0 * sign), term)),
            "The sign of one term is wrong.",
            f"The sign of `{as_text(term)}` is wrong.",
        )
    for sign, term in mine if len(mine) > 1 else ():
        yield (
            ("-" if sign > 0 else "+", tree, term),
            "There is one term too many.",
            f"The term `{as_text(term)}` does not belong there.",
        )
    if tree[0] in ("+", "-") and tree[2][0] in ("+", "-"):
        yield (
            tree[1],
            "There is one term too many.",
            f"The bracket `({as_text(tree[2])})` does not belong there.",
        )
    for one in (part for part in parts(tree) if part[0] in ("+", "-")):
        yield (
            replace(tree, {one: ("-" if one[0] == "+" else "+", *one[1:])}),
            "The sign of one term is wrong.",
            f"The sign of `{as_text(one[2])}` is wrong in `{as_text(one)}`.",
        )
    due = terms(right)
    for sign, term in due if len(due) > 1 else ():
        yield (
            ("+" if sign > 0 else "-", tree, term),
            "A term is missing.",
            f"The missing term contains {', '.join(sorted(names(term))) or 'no letter'}.",
        )
    for one in (part for part in parts(tree) if part[0] == "^" or part[:2] == ("call", "exp")):
        yield (
            replace(tree, {one: (*one[:2], ("negative", one[2]))}),
            "The sign of an exponent is wrong.",
            f"The exponent in `{as_text(one)}` must have the opposite sign.",
        )


def _index_repairs(derivation, step, tree):
    every, sizes = parts(tree), derivation.sizes
    for one in (part for part in every if part[0] == "entry" and len(part[2]) > 1):
        yield (
            replace(tree, {one: ("entry", one[1], one[2][::-1])}),
            "The order of two indices is wrong.",
            f"The indices of {one[1]} are exchanged in `{as_text(one)}`.",
        )
    entries = [part for part in every if part[0] == "entry"]
    for one, old, new in product(entries, sizes, sizes):
        if old != new and old in one[2]:
            yield (
                replace(tree, {one: (*one[:2], one[2].replace(old, new))}),
                "One index is wrong.",
                f"Write {new} in place of {old} in `{as_text(one)}`.",
            )
    for one in (part for part in every if part[0] in ("name", "transpose")):
        turned = one[1] if one[0] == "transpose" else ("transpose", one)
        yield (
            replace(tree, {one: turned}),
            "A transpose is missing, or there is one too many.",
            f"Write `{as_text(turned)}` in place of `{as_text(one)}`.",
        )
    for one, index in product([part for part in every if part[0] == "sum"], sizes):
        yield (
            replace(tree, {one: ("sum", index, one[2])}),
            "The sum is over the wrong index.",
            f"You sum over {one[1]}. Which index does the left side lack?",
        )
        if one[1] in step.indices:
            yield (
                replace(tree, {one: one[2]}),
                "There is one sum too many.",
                f"The left side has the index {one[1]}, so do not sum over it.",
            )
    for index in (index for index in sizes if index not in step.indices):
        yield (
            ("sum", index, tree),
            "A sum is missing.",
            f"The left side has no {index}, so sum over {index}.",
        )


def _function_repairs(tree):
    for one in (part for part in parts(tree) if part[0] == "call"):
        yield (
            replace(tree, {one: one[2]}),
            "There is one function too many.",
            f"Write `{as_text(one[2])}` in place of `{as_text(one)}`.",
        )


def _entry_repairs(derivation, letters, tree):
    """Yield repairs that replace an array entry with an entry of another array at different indices."""
    others = list(_all_entries(derivation, letters))
    for one, other in product([part for part in parts(tree) if part[0] == "entry"], others):
        if one[1] != other[1] and one[2] != other[2]:
            yield (
                replace(tree, {one: other}),
                "One factor or term is wrong.",
                f"Write `{as_text(other)}` in place of `{as_text(one)}`.",
            )


def _all_entries(derivation, letters):
    """Yield the tree of every array entry that the derivation's letters and indices allow.

    The indices of an entry differ from each other, and each has as many values as its axis of the
    array.
    """
    points, sizes = derivation.points(), derivation.sizes
    for name in letters:
        shape = [n for n in points[name].shape[-2:] if n > 1]
        for indices in permutations(sizes, len(shape)) if shape else ():
            if [sizes[index] for index in indices] == shape:
                yield ("entry", name, "".join(indices))


def _term_repairs(letters, tree):
    """Yield repairs that multiply or divide a single term of a sum by a letter."""
    mine = terms(tree)
    mine = [(sign, term) for sign, term in mine if len(mine) > 1 and names(term)]
    for (sign, term), name, operator in product(mine, letters, "*/"):
        repaired = (operator, term, ("name", name))
        where, said = (
            ("A factor is missing in one term.", "The factor {} is missing in `{}`.")
            if operator == "*"
            else ("A divisor is missing in one term.", "Divide by {} in the term `{}`.")
        )
        yield (
            ("+" if sign > 0 else "-", tree, ("-", repaired, term)),
            where,
            said.format(name, as_text(term)),
        )


def _letter_repairs(letters, tree, old_letters):
    every = parts(tree)
    mine = [term for _, term in terms(tree)]
    factors = [one for part in every if part[0] in ("*", "/") for one in part[1:]]
    wholes = dict.fromkeys([tree, *mine, *factors])
    for whole, old, new in product(wholes, sorted(old_letters - {*CONSTANTS}), letters):
        if old == new:
            continue
        changed = {
            one: (one[0], new, *one[2:])
            for one in every
            if one[0] in ("name", "entry") and one[1] == old
        }
        place = f" in `{as_text(whole)}`" if whole != tree else ""
        yield (
            replace(tree, {whole: replace(whole, changed)}),
            "One letter is wrong.",
            f"Write {new} in place of {old}{place}.",
        )


def _factor_repairs(derivation, letters, tree):
    every = parts(tree)
    if derivation.sizes:
        entries = [part for part in every if part[0] == "entry"]
        for factor, one in product(_all_entries(derivation, letters), entries):
            yield (
                replace(tree, {one: ("*", one, factor)}),
                "A factor is missing.",
                f"The factor `{as_text(factor)}` is missing.",
            )
    for one in (part for part in every if part[0] == "*"):
        for kept, surplus in (one[1:], one[:0:-1]):
            yield (
                replace(tree, {one: kept}),
                "There is one factor too many.",
                f"The factor `{as_text(surplus)}` does not belong there.",
            )
    for one in (part for part in every if part[0] == "/"):
        yield (
            replace(tree, {one: one[1]}),
            "There is one divisor too many.",
            f"`{as_text(one[1])}` must not be divided by `{as_text(one[2])}`.",
        )
    for one in (part for part in every if part[0] == "^"):
        for sign, less in (("-", "smaller"), ("+", "larger")):
            yield (
                replace(tree, {one: ("^", one[1], (sign, one[2], ("number", 1.0)))}),
                "One exponent is wrong.",
                f"The exponent in `{as_text(one)}` must be 1 {less}.",
            )
    for one in (part for part in every if part[0] in ("*", "/")):
        other, said = (
            ("/", "Divide by {} instead of multiplying.")
            if one[0] == "*"
            else ("*", "Multiply by {} instead of dividing.")
        )
        yield (
            replace(tree, {one: (other, *one[1:])}),
            "A multiplication and a division are exchanged.",
            said.format(f"`{as_text(one[2])}`"),
        )
    if derivation.sizes:
        return
    for name, power, operator in product(letters, (1.0, 2.0), "*/"):
        factor = ("name", name) if power == 1 else ("^", ("name", name), ("number", power))
        where, said = (
            ("A factor is missing", f"The factor `{as_text(factor)}` is missing")
            if operator == "*"
            else ("A divisor is missing", f"Your line must be divided by `{as_text(factor)}`")
        )
        yield (operator, tree, factor), f"{where}.", f"{said}."
        yield (
            ("negative", (operator, tree, factor)),
            f"{where}, and the sign is wrong.",
            f"{said}, and the sign is wrong.",
        )


def _order_repairs(derivation, tree):
    for one in (part for part in parts(tree) if part[0] == "@"):
        yield (
            replace(tree, {one: ("@", one[2], one[1])}),
            "The order of the matrices is wrong.",
            f"Exchange the two matrices in `{as_text(one)}`.",
        )
    if tree[0] not in ("+", "-"):
        return
    kind, left, right = tree
    for one, other in (
        (left, lambda rest: (kind, rest, right)),
        (right, lambda rest: (kind, left, rest)),
    ):
        if one[0] in ("*", "/"):
            yield (
                ("*", one[1], other(one[2])),
                "A factor of the whole sum is applied to one term only.",
                f"`{as_text(one[1])}` is a factor of the whole sum: put brackets around the sum.",
            )
            yield (
                ("/", other(one[1]), one[2]),
                "Only one term is divided, not the whole sum.",
                f"`{as_text(one[2])}` divides the whole sum: put brackets around the sum.",
            )
