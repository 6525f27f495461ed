"""Find the one or two places where a wrong answer differs from a right one in its syntax tree.

If there are two places, one of them may be right and differ only in style. To find out which one,
the check runs the solution with the learner's code in each place.
"""

import ast
import copy
import io
from contextlib import redirect_stdout
from functools import lru_cache
from itertools import chain

from ..source import find
from .sentences import shortest

MOST = 2  # places that differ
SIGNS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.And: "and",
    ast.Or: "or",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
# Fields of a node that are not compared
ALIKE = {
    "ctx",
    "annotation",
    "returns",
    "type_comment",
    "kind",
    "arg",
    "name",
    "decorator_list",
    "type_params",
}


def slip(exercise, answer):
    """Return a phrase that tells where in a wrong answer the error is, or "" if this is unknown.

    The learner's code is compared with the solution of `exercise`. Names that the learner chose do
    not count as a difference. The phrase names the place but not the right code, as in "at the - in
    line 2, x - y". The result is "" if the code is too different from the solution or not
    available.
    """
    several = len(exercise.parts) > 1 and isinstance(answer, (tuple, list))
    answers = dict(zip(exercise.parts, answer if several else [answer]))
    scope = next((one.__globals__ for one in answers.values() if hasattr(one, "__globals__")), {})
    answers = {
        name: scope.get(name) for name in _defined(exercise.solution)
    } | answers  # and its helpers
    found, right = [], _defined(exercise.solution)
    for name, one in answers.items():
        if name in right and (mine := _tree(one)):
            places = _places(mine, right[name])
            if _weight(places) > _size(mine) / 2:
                return ""
            found += [(*pair, _translated(mine, right[name])) for pair in places]
    found = [
        one for one in found if not any(one[0] in [*ast.walk(other)][1:] for other, *_ in found)
    ]
    if not 1 <= len(found) <= MOST:
        return ""
    guilty = [one for one in found if not _fits(exercise, *one)] if len(found) > 1 else []
    found = guilty or found
    words = dict.fromkeys(_said(*pair, alone=len(found) == 1) for *pair, _ in found)
    return f"at {' and at '.join(words)}"


def _fits(exercise, mine, other, translated):
    """Return True if the solution stays right with a piece of the learner's code in it.

    If so, the piece differs only in style and is not an error. `mine` is the syntax tree of the
    piece. `other` is the part of the solution that the piece replaces, or None if no part
    corresponds to it. `translated` maps the learner's names to those of the solution.
    """
    if other is None:
        return False
    piece = copy.deepcopy(mine)
    for node in ast.walk(piece):
        if isinstance(node, ast.Name):
            node.id = translated.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = translated.get(node.arg, node.arg)
    try:
        with redirect_stdout(io.StringIO()):
            exercise.check(
                exercise.answer(
                    ast.unparse(copy.deepcopy(_parsed(exercise.solution), {id(other): piece}))
                )
            )
    except (Exception, SystemExit):
        return False
    return True


def _weight(places):
    """Return the total size of the places that differ, in nodes of the learner's syntax tree.

    `places` are pairs of nodes, as `_places` returns them. A pair of expressions with different
    operators counts as 1.
    """
    return sum(1 if _operator(*pair) else _size(pair[0]) for pair in places)


@lru_cache(maxsize=4096)
def _size(node):
    return sum(1 for _ in ast.walk(node))


def _tree(answer):
    """Return the syntax tree of a function or class, or None if its source is not available."""
    if not isinstance(answer, type):
        found = find(answer)
        return found and found[1]
    inside = next(filter(None, map(find, vars(answer).values())), None)
    around = (
        [
            node
            for node in ast.walk(ast.parse("".join(inside[0])))
            if isinstance(node, ast.ClassDef) and node.lineno < inside[1].lineno <= node.end_lineno
        ]
        if inside
        else []
    )
    return max(around, key=lambda node: node.lineno, default=None)


_parsed = lru_cache(maxsize=512)(ast.parse)


@lru_cache(maxsize=512)
def _defined(code):
    """Return a dict that maps the name of each function and class in `code` to its syntax tree."""
    found = {}
    for line in _parsed(code).body:
        if isinstance(line, (ast.FunctionDef, ast.ClassDef)):
            found[line.name] = line
        elif isinstance(line, ast.Assign) and isinstance(line.value, ast.Lambda):
            found[ast.unparse(line.targets[0])] = line.value
    return found


# --- Two trees ----------------------------------------------------------------------------------------------------


def _places(mine, other):
    """Return the smallest pieces in which two syntax trees differ.

    The result is a list of pairs (node of `mine`, node of `other`). The second node is None if
    `other` has no node for the first one. Variables are compared by the order in which they first
    occur, not by their names.
    """
    return _differ(_body(mine), _body(other), mine, other, (_names(mine), _names(other)))


def _body(node):
    """Return the arguments and the statements of a function or class, as a list of nodes.

    A docstring is left out. A lambda counts as a function with a single return statement.
    """
    if isinstance(node, ast.Lambda):
        return [node.args, ast.copy_location(ast.Return(node.body), node.body)]
    documented = isinstance(node.body[0], ast.Expr) and isinstance(
        getattr(node.body[0].value, "value", None), str
    )
    return [getattr(node, "args", None), *node.body[documented:]]


@lru_cache(maxsize=512)  # called repeatedly for the same trees
def _names(node):
    """Return a dict that maps each name that is bound in a node to its number, counted from 0.

    The arguments come first, followed by all assigned names in the order of the text.
    """
    bound = [part.arg for part in ast.walk(node) if isinstance(part, ast.arg)]
    stored = [
        part
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    ]
    bound += [part.id for part in sorted(stored, key=lambda part: (part.lineno, part.col_offset))]
    return {name: number for number, name in enumerate(dict.fromkeys(bound))}


def _translated(mine, other):
    """Return a dict that maps names bound in `mine` to the names with the same numbers in `other`.

    A name for which `other` has no number is left out.
    """
    theirs = [*_names(other)]
    return {name: theirs[number] for name, number in _names(mine).items() if number < len(theirs)}


def _differ(a, b, within, beside, names):
    """Return the places in which `a` and `b` differ, in the form that `_places` returns.

    `a` and `b` are nodes, lists or values, and `within` and `beside` are the nodes that contain
    them. `names` are the results of `_names` for the two trees.
    """
    if isinstance(a, ast.AST) and isinstance(b, ast.AST):
        if type(a) is not type(b):
            return [(a, b) if hasattr(a, "lineno") else (within, beside)]
        if isinstance(a, ast.Name):
            return [] if names[0].get(a.id, a.id) == names[1].get(b.id, b.id) else [(a, b)]
        if isinstance(a, ast.BinOp) and type(a.op) is type(b.op):
            straight, crossed = (
                _differ([a.left, a.right], pair, a, b, names)
                for pair in ([b.left, b.right], [b.right, b.left])
            )
            if isinstance(a.op, (ast.Add, ast.Mult)):
                return min(straight, crossed, key=_weight)
            return [(a, b)] if straight and not crossed else straight
        fields = dict(ast.iter_fields(a)), dict(ast.iter_fields(b))
        where = (a, b) if hasattr(a, "lineno") else (within, beside)
        pairs = [
            _differ(value, fields[1].get(field), *where, names)
            for field, value in fields[0].items()
            if field not in ALIKE or field == "arg" and isinstance(a, ast.keyword)
        ]
        return list(dict.fromkeys(chain.from_iterable(pairs)))
    if isinstance(a, list) and isinstance(b, list):
        if len(a) == len(b):
            pairs = [_differ(one, two, within, beside, names) for one, two in zip(a, b)]
            return list(dict.fromkeys(chain.from_iterable(pairs)))
        return _one_too_many(a, b, within, beside, names) or [(within, beside)]
    return (
        []
        if type(a) is type(b) and a == b or _number(a) and _number(b) and a == b
        else [(within, beside)]
    )


def _one_too_many(a, b, within, beside, names):
    """Return the difference if list `a` is list `b` with an extra entry, else an empty list.

    The difference is a list with one pair: the extra entry of `a`, and None. The other arguments are those of `_differ`.
    """
    for at in range(len(a) if len(a) == len(b) + 1 and hasattr(a[0], "lineno") else 0):
        if not _differ(a[:at] + a[at + 1 :], b, within, beside, names):
            return [(a[at], None)]
    return []


def _number(x):
    return isinstance(x, (int, float)) and not isinstance(x, bool)


# --- In words -----------------------------------------------------------------------------------------------------


def _said(place, right, alone):
    """Return a phrase that names the code to look at and its line, such as "the - in line 2, x - y".

    `place` is a node of the learner's code, and `right` is the node of the solution, or None. If
    `alone` is True, there is no other place, and the phrase may also say that something is missing.
    """
    line = f"line {place.lineno}"
    text = shortest(ast.unparse(place).splitlines()[0], 50)
    if isinstance(place, ast.stmt):
        return f"{line}, {text}"
    if alone and right is not None and ast.dump(place) in map(ast.dump, ast.walk(right)):
        return f"{text} in {line}: something is missing there"
    if sign := _operator(place, right):
        return f"the {sign} in {line}, {text}"
    return f"{text} in {line}"


def _operator(place, right):
    """Return the operator of the expression `place`, or "" if `right` has the same operator.

    The result is also "" if they are not expressions of the same kind with an operator.
    """
    if type(place) is not type(right) or not isinstance(
        place, (ast.BinOp, ast.BoolOp, ast.Compare)
    ):
        return ""
    pairs = zip(place.ops, right.ops) if isinstance(place, ast.Compare) else [(place.op, right.op)]
    return next((SIGNS[type(one)] for one, two in pairs if type(one) is not type(two)), "")
