"""Draw the table of rules: the library's rows by lesson, with their formulas and their rules."""

import ast
import inspect
import re
import textwrap
from functools import lru_cache
from html import escape

from autograd_lib import ops
from autograd_lib.rows import Primitive

from ..source import cut, find, source
from .formatting import counted
from .picture import Picture
from .table import FAINT, side_by_side, table

# Rows that a lesson uses before the lesson of their heading in ops.py derives them all.
MET = {"add": "02", "multiply": "02"}
# A rule that a later lesson derives than the rest of its row: until then it is an exercise.
AHEAD = {("power", "y"): "04"}
FORMULAS = {  # z, where the name of the row is not how it is written
    "add": "x + y",
    "subtract": "x − y",
    "multiply": "x · y",
    "divide": "x / y",
    "negative": "−x",
    "power": "xʸ",
    "exp": "eˣ",
    "log": "log x",
    "sqrt": "√x",
    "sin": "sin x",
    "cos": "cos x",
    "tanh": "tanh x",
    "sigmoid": "σ(x) = 1 / (1 + e⁻ˣ)",
    "softplus": "log(1 + eˣ)",
    "gelu": "½x · (1 + tanh(√(2/π) · (x + 0.044715x³)))",
    "relu": "x where x > 0, else 0",
    "abs": "|x|",
    "maximum": "the larger of x and y",
    "minimum": "the smaller of x and y",
    "clip": "x, kept between low and high",
    "where": "x where c holds, else y",
    "concatenate": "x₀, x₁, … joined",
    "sum": "Σ x",
    "mean": "Σ x / n",
    "transpose": "Xᵀ",
    "getitem": "x[index]",
    "matmul": "X · Y",
    "max": "the largest of x",
    "min": "the smallest of x",
    "logsumexp": "log Σ eˣ",
    "softmax": "eˣ / Σ eˣ",
    "log_softmax": "log softmax x",
    "nll_loss": "−mean of x at the target",
    "einsum": "Σ x · y, by the letters",
}


def derived():
    """Return a dict that maps the name of each row of ops.py to the lesson that derives the row.

    A lesson is a string such as "03", or None for a row whose heading in ops.py names no lesson.
    The rows are in the order of ops.py.
    """
    lesson, found = None, {}
    for line in inspect.getsource(ops).splitlines():
        if heading := re.match(r"# --- (?:Lesson (\d\d))?", line):
            lesson = heading[1]
        elif (start := re.match(r"(\w+) = ", line)) and isinstance(
            row := getattr(ops, start[1]), Primitive
        ):
            found[row.name] = lesson
    return found


def table_of_rules(lesson):
    """Return a Picture of all rows that the course has derived by the end of a lesson.

    The table shows the formula of each row and its rules as they are written in ops.py.

    Parameters
    ----------
    lesson : str
        The number of the lesson, such as "03".

    Returns
    -------
    Picture
        The table, in which the rows of this lesson are marked.

    Raises
    ------
    ValueError
        If `lesson` is not a string of two digits.
    """
    if not (isinstance(lesson, str) and re.fullmatch(r"\d\d", lesson)):
        raise ValueError(
            f'table_of_rules: expected a lesson as two digits in quotes, such as "03", got {lesson!r}'
        )
    rows = ops.ROWS
    shown = [
        (rows[name], home)
        for name, home in derived().items()
        if home and MET.get(name, home) <= lesson
    ]
    today = [row.name for row, home in shown if lesson in (home, MET.get(row.name))]
    title = (
        f"The rules so far: {len(shown)} rows" + f", {len(today)} of them new" * bool(today) + "."
        if shown
        else f"No rules so far: the first come in lesson {min(MET.values())}."
    )
    fresh, earlier, words = [], [], [title]
    for row, home in shown:
        new, met = row.name in today, MET.get(row.name)
        formula = FORMULAS.get(row.name) or f"{row.name}({', '.join(letters_of(row)[0][2:])})"
        columns = _columns(row, lesson)
        where = [f"met in {met}", f"derived in {home}"] if met else [f"lesson {home}"]
        words.append(
            f"{'●' if new else ' '} {row.name}: z = {formula}; lesson {home}"
            + f", met in {met}" * bool(met)
            + ", today" * new
        )
        for letter, text, comment in columns:
            words.append(
                f"    of {letter}: {text}".replace("\n", "\n" + " " * 10)
                + f"    {comment}" * bool(comment)
            )
        name = f"<strong>{row.name}</strong>" if new else row.name
        (fresh if new else earlier).append(
            (
                (f"{name}<div>z = {escape(formula)}</div>", "min-width:9em"),
                side_by_side(
                    [(f"of {letter}", text, comment) for letter, text, comment in columns]
                ),
                ("<br>".join([*where, *["today"] * new]), "white-space:nowrap"),
            )
        )

    def shown(rows):
        return table(
            rows, [(words, FAINT) for words in ("row", "gradient", "from")], ruled=True, wide=True
        )

    html = shown(fresh) if fresh else ""
    if earlier:
        html += (
            f"<details{' open' * (not fresh)}><summary>Earlier lessons: {counted(len(earlier), 'row')}</summary>"
            f"{shown(earlier)}</details>"
        )
    return Picture(
        f'<div style="line-height:1.5"><strong>{title}</strong>{html}</div>', "\n".join(words)
    )


def _columns(row, lesson):
    """Return the rules of a row as a list of (letter of the input, code of the rule, comment).

    Inputs without a rule are left out. If a rule is derived after the lesson with the number
    `lesson`, a note that names the later lesson replaces its code.
    """
    if row.arity is None:
        return [("each", *body(row.rule(0)))]
    letters, _ = letters_of(row)
    columns = []
    for letter, rule in zip(letters[2:], row.rules):
        home = AHEAD.get((row.name, letter), lesson)
        if rule:
            columns.append(
                (letter, *body(rule)) if home <= lesson else (letter, f"derived in {home}", "")
            )
    return columns


@lru_cache(maxsize=256)  # a lesson's table has all rules of the tables before it
def body(function):
    """Return (code, comment) of a rule, as they are written in its file.

    The code is the expression that the rule returns, or all lines of a longer rule. The comment is
    the one beside the expression, or "" if there is none or the rule is longer.
    """
    lines, node = find(function)
    single = (
        node.body
        if isinstance(node, ast.Lambda)
        else node.body[0].value
        if isinstance(node.body[0], ast.Return)
        else None
    )
    if single:
        text = cut(lines, single)
    else:
        text = textwrap.dedent("".join(lines[node.body[0].lineno - 1 : node.end_lineno])).strip()
    for name, value in zip(
        function.__code__.co_freevars, [cell.cell_contents for cell in function.__closure__ or ()]
    ):
        if callable(value):
            text += (
                f"\n{name} = {source(value) if value.__name__ == '<lambda>' else value.__name__}"
            )
    rest = (
        lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode()
    )  # columns count bytes
    comment = re.match(r"[\s,)\]]*#\s*(.*)", rest)
    return text, comment[1] if comment and single else ""


def letters_of(row):
    """Return the argument names of a row's rules, as (list of letters, list of keywords).

    The letters are g, z and the names of the inputs. For a row with any number of inputs, two
    inputs are named.
    """
    inputs = (
        row.input_names
        if row.arity
        else [f"{row.input_names[0].removeprefix('*')}[{i}]" for i in range(2)]
    )
    return ["g", "z", *inputs], list(row.keywords)
