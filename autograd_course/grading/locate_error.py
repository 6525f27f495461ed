"""Find the one or two places where a wrong answer differs from a right one in its syntax tree.

If there are two places, one of them may be right and only differ in style. To find out, the check
runs the solution with the learner's code in that place.
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
    """Return a text that says where in a wrong answer to look.

    Return "" if the answer is not like any right one, or if its text is not available.

    The answer is compared with the solution, and names that the learner chose do not count as a
    difference. The text names the place, but not what belongs there.
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
    """Return True if the solution stays right with this piece of the learner's code in it.

    Then the piece differs in style only, and is not an error.
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
    """Return the size of the places that differ; a differing operator counts as 1."""
    return sum(1 if _operator(*pair) else _size(pair[0]) for pair in places)


@lru_cache(maxsize=4096)
def _size(node):
    return sum(1 for _ in ast.walk(node))


def _tree(answer):
    """Return the syntax tree of a function or class, or None."""
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
    """Return {name: syntax tree} of the functions and classes that a stub cell's code defines."""
    found = {}
    for line in _parsed(code).body:
        if isinstance(line, (ast.FunctionDef, ast.ClassDef)):
            found[line.name] = line
        elif isinstance(line, ast.Assign) and isinstance(line.value, ast.Lambda):
            found[ast.unparse(line.targets[0])] = line.value
    return found


# --- Two trees ----------------------------------------------------------------------------------------------------


def _places(mine, other):
    """Return the smallest pieces that differ: [(node of mine, node of other or None), …].

    Names are compared by their number in each tree.
    """
    return _differ(_body(mine), _body(other), mine, other, (_names(mine), _names(other)))


def _body(node):
    """Return the arguments and statements of a node; a lambda counts as a def with one return."""
    if isinstance(node, ast.Lambda):
        return [node.args, ast.copy_location(ast.Return(node.body), node.body)]
    documented = isinstance(node.body[0], ast.Expr) and isinstance(
        getattr(node.body[0].value, "value", None), str
    )
    return [getattr(node, "args", None), *node.body[documented:]]


@lru_cache(maxsize=512)  # called repeatedly for the same trees
def _names(node):
    """Return {name: number} for the names bound in a node.

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
    """Return a dict from each name in `mine` to the name at the same place in `other`."""
    theirs = [*_names(other)]
    return {name: theirs[number] for name, number in _names(mine).items() if number < len(theirs)}


def _differ(a, b, within, beside, names):
    """Return the places in which two nodes, lists or values differ, as `_places` does.

    `within` and `beside` are the nodes that hold them.
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
    """Return [(the extra entry of a, None)] if list a is list b with one extra entry, else []."""
    for at in range(len(a) if len(a) == len(b) + 1 and hasattr(a[0], "lineno") else 0):
        if not _differ(a[:at] + a[at + 1 :], b, within, beside, names):
            return [(a[at], None)]
    return []


def _number(x):
    return isinstance(x, (int, float)) and not isinstance(x, bool)


# --- In words -----------------------------------------------------------------------------------------------------


def _said(place, right, alone):
    """Return the line and the text to look at, such as: the - in line 2, x - y.

    Mention a missing piece only if the place is `alone`. Of two places that differ, each may
    contain the text that the other lacks, as in an answer whose parts are swapped.
    """
    line = f"line {place.lineno}"
    text = shortest(ast.unparse(place).splitlines()[0], 50)
    if sign := _operator(place, right):
        return f"the {sign} in {line}, {text}"
    if isinstance(place, ast.stmt):
        return f"{line}, {text}"
    if alone and right is not None and ast.dump(place) in map(ast.dump, ast.walk(right)):
        return f"{text} in {line}: something is missing there"
    return f"{text} in {line}"


def _operator(place, right):
    """Return the sign of an expression whose operator differs.

    Return "" if no operator does.
    """
    if type(place) is not type(right) or not isinstance(
        place, (ast.BinOp, ast.BoolOp, ast.Compare)
    ):
        return ""
    pairs = zip(place.ops, right.ops) if isinstance(place, ast.Compare) else [(place.op, right.op)]
    return next((SIGNS[type(one)] for one, two in pairs if type(one) is not type(two)), "")
