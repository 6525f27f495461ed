"""The formula in the comment beside each rule of ops.py is read from the source and compared
with the rule at random inputs.
"""

import ast
import inspect
import io
import re
import tokenize

import numpy as np
import pytest

import autograd_lib as ag
from autograd_lib import ops
from autograd_lib.rows import Primitive

# Comments with a digit or a sign of mathematics that are not formulas, with the reason. A comment
# without them is prose, and is not evaluated.
WORDS = {
    "the product rule, with tanh′ = 1 − tanh²": "the formula is longer than the rule",
    "g may be ∞, and ∞·0 is nan": "why the rule chooses, and does not multiply",
    "every entry of x is in its mean with weight 1/n": "a copy, and a factor",
    "∂z/∂xₙₖ = −1/N at the target": "n, k and the target are places",
    "Z = X·Y as in matmul: windows are rows of X, kernels columns of Y": "matmul's are tried",
    "∂L/∂X = g·Yᵀ, folded": "matmul's are tried",
    "∂L/∂Y = Xᵀ·g, cut into kernels": "matmul's are tried",
}
MATHEMATICS = re.compile(r"[\d=∂√·⁰¹²³⁻ˣʸᵢⁱᵀ]")
RAISED = dict(zip("⁰¹²³⁻ˣʸᵢⁱ", [*"0123-xy", "", ""]))  # xᵢ is every entry at once, as x is
SCOPE = {
    "e": np.e,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "sqrt": np.sqrt,
    "where": np.where,
    "sign": np.sign,
    "sigma": ag.sigmoid,
    "total": np.sum,
}
COLUMNS = {
    "I": np.eye(3),
    "one": np.ones((3, 1)),
    "diag": lambda z: np.diag(z[:, 0]),
    "softmax": lambda x: ag.softmax(x, axis=0),
}


def comments():
    """Return [(row, rule or push that the comment belongs to, comment)]."""
    text, found = inspect.getsource(ops), []
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    beside = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokens
        if token.type == tokenize.COMMENT
    }
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and isinstance(
            row := getattr(ops, node.targets[0].id, None), Primitive
        ):
            rules = reversed([*enumerate(node.value.args[1:])])
            ends = {line: i for i, arg in rules for line in range(arg.lineno, arg.end_lineno + 1)}
            lines = range(node.lineno, node.end_lineno + 1)
            found += [(row, ends.get(line), beside[line]) for line in lines if line in beside]
    return found


def python(formula, product="*"):
    """Return the formula as Python code."""
    text = re.sub(r"√(\w)", r"sqrt(\1)", formula.replace("−", "-"))
    text = re.sub(
        r"\b(log|sin|cos|tanh|softmax)([⁰¹²³⁻ˣʸ]*) ?(\w)", r"\1(\3)\2", text
    )  # tanh²x is (tanh x)²
    text = re.sub(
        "[" + "".join(RAISED) + "]+",
        lambda power: f"**({''.join(map(RAISED.get, power[0]))})",
        text,
    )
    text = (
        re.sub(r"Σ(e\*\*\(\w\))", r"total(\1)", text).replace("σ", "sigma").replace("±1", "sign(x)")
    )
    text = (
        re.sub(r"(?<=[\d)])(?=[a-z])", "*", text)
        .replace("1ᵀ", "oneᵀ")
        .replace("1·p", "one·p")
        .replace("ᵀ", ".T")
    )
    return re.sub(r"(.+) above 0, else (.+)", r"where(x > 0, \1, \2)", text.replace("·", product))


def assert_true(row, place, comment):
    """Raise AssertionError if the comment is not true of the rule, and KeyError if it is neither a
    formula nor in WORDS.
    """
    rng = np.random.default_rng(0)
    shapes = [(2, 3), (3, 4)] if row.name == "matmul" else [(3,)] * len(row.input_names)
    xs = [rng.normal(size=shape) for shape in shapes]
    with np.errstate(all="ignore"):
        try:
            z = row.function(*xs)
        except TypeError as error:
            raise KeyError(
                f"{row.name}: {comment!r} cannot be tried, {error}: list it in WORDS of this file, with the reason"
            ) from None
        g = rng.normal(size=z.shape)
        rule = (row.rules, row.pushes)[place][0] if row.kind == "primitive" else row.rules[place]
        scope = SCOPE | dict(zip(row.input_names, xs))
        for said in reversed([clause for part in comment.split("; ") for clause in clauses(part)]):
            what, _, formula = said.partition(" is " if said.startswith("z is") else " = ")
            if found := re.fullmatch(r"(\w+) at (?:x = )?0(?:, (\w+) below)?", said):
                for x, right in zip(np.float64([0, -1]), filter(None, found.groups())):
                    others = list(map(np.abs, xs[1:]))
                    close(rule(np.float64(1), row.function(x, *others), x, *others), float(right))
            elif what == "z":
                close(eval(python(formula), scope), z)
            elif what[:5] in ("∂z/∂x", "∂z/∂y"):
                assert what[4] == row.input_names[place]
                close(g * eval(python(formula), scope), rule(g, z, *xs))
            elif what in ("∂L/∂X", "∂L/∂Y"):
                assert what[4].lower() == row.input_names[place]
                close(eval(python(formula, "@"), {"X": xs[0], "Y": xs[1], "g": g}), rule(g, z, *xs))
            elif what == "p":
                scope["p"] = eval(python(formula), COLUMNS | {"x": xs[0][:, None]})
            elif what in ("J", "Jᵀ"):
                scope.setdefault("p", np.exp(z)[:, None])
                columns = COLUMNS | {"z": z[:, None], "p": scope["p"]}
                J = eval(python(formula.removesuffix(" is its own transpose"), "@"), columns)
                close((J.T if (what == "J") == (place == 0) else J) @ g, rule(g, z, *xs))
            else:
                raise KeyError(
                    f"{row.name}: cannot evaluate {said!r}: write a formula such as ∂z/∂x = 1/x, or "
                    "list the comment in WORDS of this file, with the reason"
                )


def clauses(part):
    is_prose = part in WORDS or not MATHEMATICS.search(part)
    return [] if is_prose else re.split(", (?:and |with |(?=∂))", part)


def close(got, right):
    np.testing.assert_allclose(got, np.broadcast_to(right, np.shape(got)), rtol=1e-9, atol=1e-12)


COMMENTS = comments()
FORMULAS = [one for one in COMMENTS if any(map(clauses, one[2].split("; ")))]
EACH = pytest.mark.parametrize(
    "row, place, comment", FORMULAS, ids=[f"{one[0].name}: {one[2]}" for one in FORMULAS]
)


@EACH
def test_formulas_in_comments_agree_with_their_rules(row, place, comment):
    assert_true(row, place, comment)


@EACH
def test_any_other_formula_of_the_same_kind_disagrees(row, place, comment):
    """Swapping two comments makes the test above fail, except where both formulas are true."""
    for other in {
        other
        for _, _, other in FORMULAS
        if other[:4] == comment[:4] and python(other) != python(comment)
    }:
        with pytest.raises((AssertionError, NameError, IndexError, ValueError)):
            assert_true(row, place, other)


def test_rows_that_need_a_keyword_are_listed():
    with pytest.raises(KeyError, match="astype: '∂z/∂x = 1'.*dtype.*WORDS"):
        assert_true(ops.astype, 0, "∂z/∂x = 1")


def test_words_are_in_use_and_formulas_are_not_lost():
    assert WORDS.keys() <= {
        part for _, _, comment in COMMENTS for part in [comment, *comment.split("; ")]
    }
    assert len(FORMULAS) >= 24
    assert not clauses("every entry is in its sum once") and clauses("x² everywhere")
