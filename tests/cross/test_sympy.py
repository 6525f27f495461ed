"""The judge of typed lines accepts every form into which SymPy rewrites a right line."""

import random
import re
from collections import Counter
from contextlib import suppress

import pytest

from autograd_course.derivations import DERIVATIONS
from autograd_course.derivations.expressions import LONGEST, as_text
from autograd_course.derivations.judge import judge
from autograd_course.grading import registered

sympy = pytest.importorskip(
    "sympy", reason="SymPy is not installed: the derivations are not compared with it"
)
registered()

REWRITES = [
    sympy.expand,
    sympy.factor,
    sympy.together,
    sympy.cancel,
    sympy.simplify,
    sympy.powsimp,
    lambda e: sympy.collect(sympy.expand(e), sorted(e.free_symbols, key=str)[0]),
    lambda e: sympy.apart(e, sorted(e.free_symbols, key=str)[-1]),
]
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
SPELLINGS = [
    lambda text: text,
    lambda text: text.replace("**", "^"),
    lambda text: text.replace(" ", ""),
    lambda text: text.replace("**", "^").replace("*", " "),
    lambda text: text.replace("-", "−").replace("**2", "²").replace("*", "·").replace("··", "**"),
    lambda text: text.replace("exp(", "np.exp("),
    lambda text: text.replace("**", "^").replace("*", " × ").replace("/", " ÷ "),
    lambda text: (
        re.sub(r"\*\*(\d+)", lambda power: power[1].translate(SUPERSCRIPTS), text)
        .replace("*", "·")
        .replace("··", "**")
    ),
    lambda text: sympy.latex(sympy.sympify(text, evaluate=False)),
]


# Lines with indices: what SymPy rewrites, with each entry as a symbol, and what is then put around it.
INDEXED = {
    ("08.sum", 2): ("g_i", "{}"),
    ("08.mean", 1): ("1/n", "{}"),
    ("08.mean", 2): ("g_i/n", "{}"),
    ("09.matmul", 0): ("A_ik*B_kj", "sum_k ({})"),
    ("09.matmul", 1): ("A_ik", "{}"),
    ("09.matmul", 2): ("A_ik*g_ij", "sum_i ({})"),
    ("10.log_softmax", 0): ("-p_j", "{}"),
    ("10.log_softmax", 1): ("1 - p_j", "{}"),
    ("10.log_softmax", 2): ("g_j - p_j*total", "{}"),
}


def rewritten(derivation, line, around, chance, count):
    """Yield forms of a line that SymPy rewrote, also with its letters replaced by what they
    stand for.
    """
    defined = {
        sympy.Symbol(name): sympy.sympify(
            value.replace("e^x", "exp(x)").replace("e^-x", "exp(-x)").replace("^", "**")
        )
        for name, value in derivation.letters.items()
        if isinstance(value, str) and not derivation.sizes
    }
    for _ in range(count):
        made = line
        if defined and chance.random() < 0.3:
            made = made.subs(*chance.choice(sorted(defined.items(), key=str)))
        for _ in range(chance.randint(1, 3)):
            with suppress(IndexError, NotImplementedError, sympy.PolynomialError):
                made = chance.choice(REWRITES)(made)
        number = chance.randint(2, 40)
        made = chance.choice(
            [
                made,
                sympy.Add(made, number, -number, evaluate=False),
                sympy.Mul(made, number, sympy.Rational(1, number), evaluate=False),
                sympy.expand(number * made) / number,
            ]
        )
        for spelled in SPELLINGS:
            yield around.format(spelled(str(made))).replace("total", "(sum_i g_i)")


def test_no_right_line_is_refused():
    chance, tried, kinds = random.Random(0), set(), Counter()
    for name, derivation in DERIVATIONS.items():
        for number, step in enumerate(derivation.steps):
            if derivation.sizes and (name, number) not in INDEXED:
                continue  # a matrix product
            line, around = INDEXED.get(
                (name, number), (as_text(derivation.read(step.right), code=True), "{}")
            )
            line = sympy.sympify(line.replace("np.", ""))
            for typed in rewritten(derivation, line, around, chance, 40):
                if (name, number, typed) in tried or len(typed) > LONGEST:
                    continue
                tried.add((name, number, typed))
                verdict = judge(derivation, number, typed)
                too_long = verdict.kind == "unreadable" and "too long" in verdict.message
                assert too_long or verdict.kind in ("right", "equal"), (name, number, typed)
                kinds["too long" if too_long else verdict.kind] += 1
    assert kinds["right"] + kinds["equal"] >= 1000, kinds
    assert kinds["right"] > 700 and kinds["too long"] < 20, kinds
    print(kinds)
