"""Show the engine's definitions on the page `engine.ipynb`, and what breaks without a statement."""

import ast
import json
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from html import escape
from urllib.parse import quote

from ..drawing import style
from ..drawing.picture import Picture
from ..drawing.table import side_by_side
from ..grading import EXERCISES, registered
from ..quiz.questions import Ask, Panel, as_html, fold
from ..quiz.texts import Question
from ..widgets.sliders import explore
from .contracts import CONTRACTS, kept, outcomes, reached
from .mutations import DELETED, HOME, READ, statements
from .order import BESIDE, DELETIONS, PARTS, PATIENTS

NOTICED = HOME.parent / "autograd_course/tour/noticed.json"
MARKS = {"right": "✓", "another number": "≠", "an error": "✗", "does not end": "∞"}
AROUND, MOST_LINES = (
    5,
    10,
)  # lines shown around a deleted statement, and lines shown of the statement
MOST_TOLD = 3  # contracts described in full
KEPT = f"color:{style.WRITTEN[style.TANGENT]};font-family:monospace;letter-spacing:2px;overflow-wrap:anywhere"
BROKEN = f"color:{style.WRITTEN[style.GRADIENT]};font-weight:bold"
CODE = "font-family:monospace;font-size:13px;line-height:1.4;white-space:pre;margin:0"
WRAPPED = f"{CODE.replace('pre;', 'pre-wrap;')};overflow-wrap:anywhere;color:{style.INK}"  # nothing scrolls


@dataclass(frozen=True)
class Definition:
    """Hold the position of a function, class, method or variable in the engine's source.

    Attributes
    ----------
    name : str
        The file and the name, such as "tape:Tensor.backward".
    first : int
        The number of the first line of the definition in the file, from 1.
    last : int
        The number of the last line of the definition in the file, from 1.
    """

    name: str
    first: int
    last: int

    @property
    def file(self):
        return self.name.partition(":")[0]

    @property
    def lines(self):
        return _lines(self.file)[self.first - 1 : self.last]


@cache
def _lines(file):
    return (HOME / f"{file}.py").read_text(encoding="utf-8").splitlines()


@cache
def definitions():
    """Return a list of all Definitions on the page, in the order of the files.

    Methods are separate Definitions, so the Definition of a class ends where its first method begins.
    """
    found = []
    for file in READ:
        lines = _lines(file)

        def add(node, name, last=None):
            first = min(
                [node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", []))]
            )
            while re.match(r"\s*#(?! ---)", lines[first - 2]):
                first -= 1
            found.append(Definition(f"{file}:{name}", first, last or node.end_lineno))

        for node in ast.parse("\n".join(lines)).body:
            if isinstance(node, ast.ClassDef):
                methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
                add(
                    node,
                    node.name,
                    min(
                        [
                            min([one.lineno, *(mark.lineno for mark in one.decorator_list)])
                            for one in methods
                        ],
                        default=node.end_lineno + 1,
                    )
                    - 1,
                )
                for one in methods:
                    add(one, f"{node.name}.{one.name}")
            elif isinstance(node, ast.FunctionDef):
                add(node, node.name)
            elif (
                not isinstance(node, ast.Import | ast.ImportFrom | ast.Expr)
                or "(" in ast.unparse(node)[:40]
            ):
                add(node, _named(node))
    return found


def _named(node):
    """Return the name of a top-level statement: the variable that it assigns, or its first line."""
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return ast.unparse(node if target is None or isinstance(node, ast.For) else target).split("\n")[
        0
    ]


def of_part(key):
    """Return a list of tuples (list of Definitions, section, purpose) for a part of the page.

    `key` is a key of PARTS in order.py, such as "values". The section is text such as "05 The order
    of visits", and names the section of a lesson that derives the Definitions. The purpose is text
    too. The entries have the order of order.py.
    """
    return [
        ([one for one in definitions() if home(one.name) == (key, number)], section, purpose)
        for number, (_, section, purpose) in enumerate(PARTS[key].every)
    ]


@cache
def home(name):
    """Return the place (key, number) on the page of the Definition called `name`, or None.

    `key` is the key of the part in PARTS, and `number` is the index, from 0, of the first entry of
    this part that lists the name. The result is None if no part lists the name.
    """
    return next(
        (
            (key, number)
            for key, part in PARTS.items()
            for number, (names, *_) in enumerate(part.every)
            if any(fnmatchcase(name, pattern) for pattern in names.split())
        ),
        None,
    )


@cache
def definition_of(statement):
    """Return the innermost Definition that contains a Statement."""
    return max(
        (
            one
            for one in definitions()
            if one.file == statement.file and one.first <= statement.line <= one.last
        ),
        key=lambda one: one.first,
    )


def deletable_in(key):
    """Return a list of the Statements in a part of the page, in reading order.

    `key` is a key of PARTS in order.py, such as "values".
    """
    every = {}
    for file in DELETED:
        for one in statements(file):
            every.setdefault(definition_of(one), []).append(one)
    return [
        one
        for found, _, _ in of_part(key)
        for definition in found
        for one in every.get(definition, [])
    ]


# --- What is shown ------------------------------------------------------------------------------------------------


def read(key):
    """Draw the definitions in a part of the page, from the current source, as a Picture.

    Each definition is shown with its purpose and a link to the lesson that derives it. Definitions
    for a second reading are folded, under a title that names the lessons after 10 that they need.

    Parameters
    ----------
    key : str
        A key of PARTS in order.py, such as "values".

    Returns
    -------
    Picture
        The definitions, each with its purpose.
    """
    every, first = of_part(key), len(PARTS[key].lines)
    blocks, words = zip(*map(_block, every))
    html = "".join(blocks[:first])
    if second := every[first:]:
        needs = sorted({section[:2] for _, section, _ in second if section[:2] > "10"})
        after = (
            f", after {'lessons' if len(needs) > 1 else 'lesson'} {' and '.join(needs)}"
            if needs
            else ""
        )
        count = sum(
            1 for found, *_ in second for one in found for line in one.lines if line.strip()
        )
        html += f"<details><summary>A second reading{after}: {count} lines</summary>{''.join(blocks[first:])}</details>"
    return Picture(f'<div style="line-height:1.5">{html}</div>', "\n\n".join(words))


def _block(line):
    """Return (HTML, text) for one entry in the list that `of_part` returns."""
    found, section, purpose = line
    names = ", ".join(
        dict.fromkeys(f"<code>{escape(one.name.partition(':')[2])}</code>" for one in found)
    )
    code = "".join(
        "\n" * (1 if one.first == end + 1 else 2) + _dedented(one.lines)
        for one, end in zip(found, [-1, *(one.last for one in found)])
    ).strip()
    return (
        f"<h3>{names}</h3>{as_html(f'{purpose} {_link(section)}')}"
        f'<pre style="{CODE};overflow-x:auto">{_coloured(code)}</pre>',
        f"{purpose}\n\n{code}",
    )


def _link(section):
    """Return a Markdown link to a section of a lesson, such as "05 The order of visits".

    Without the notebooks, return the name of the section in brackets.
    """
    number, _, heading = section.partition(" ")
    file = next((HOME.parent / "notebooks").glob(f"{number}_*.ipynb"), None)
    if not file:  # the course was installed without its notebooks, as in Colab
        return f"({number} {heading})"
    anchor = quote(heading.replace(" ", "-"), safe="?,√")
    # Without "./", Markdown takes a heading's colon for the end of a protocol, and drops the link.
    return f"([{number} {heading}](./{file.name}#{anchor}))"


def _dedented(lines):
    indent = (
        len(lines[-1]) - len(lines[-1].lstrip())
        if len(lines) == 1
        else min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    )
    return "\n".join(line[indent:] for line in lines)


def _coloured(code):
    """Return code as HTML, with its comments and docstrings half transparent."""
    said = r"^\s*(?:&quot;){3}.*?(?:&quot;){3}|#(?![^\n]*&quot;[^\n#]*$).*?$"
    fainter = r'<span style="opacity:.7">\g<0></span>'
    return re.sub(said, fainter, escape(code), flags=re.DOTALL | re.MULTILINE)


def delete_lines(key):
    """Show a slider over the statements in a part of the page, and the results of deleting each.

    The chosen statement is deleted from a copy of the engine, and every contract that runs the
    statement is run again on this copy.

    Parameters
    ----------
    key : str
        A key of PARTS in order.py, such as "values".

    Returns
    -------
    Explorer
        The widget.
    """
    every = deletable_in(key)
    return explore(lambda line: without(every[line - 1]), line=range(1, len(every) + 1))


@cache
def results(statement):
    """Return the result of every contract, with a Statement of the engine deleted.

    A contract that does not run the statement is not run again; its result is the expected result.

    Returns
    -------
    list of (Contract, str, str)
        Each contract, its result as text, and its mark. The mark is a key of MARKS, such as "right"
        or "another number".
    """
    run = reached(statement)
    came = dict(zip(run, outcomes(statement, run)))
    return [
        (one, came.get(one, one.right), _mark(one, came[one]) if one in came else "right")
        for one in CONTRACTS
    ]


def _mark(contract, outcome):
    if kept(contract, outcome):
        return "right"
    return (
        outcome
        if outcome == "does not end"
        else "an error"
        if re.match(r"\w+: ", outcome)
        else "another number"
    )


def without(statement):
    """Return a Picture of a Statement, crossed out in its definition, and of the contract results.

    The results are those of the engine without the statement.
    """
    definition = definition_of(statement)
    file, _, name = definition.name.partition(":")
    lines, first = definition.lines, statement.line - definition.first
    last = first + statement.text.count("\n") + 1
    documented = max((i + 1 for i in range(first) if lines[i].rstrip().endswith('"""')), default=0)
    start, end = max(documented, first - AROUND), min(len(lines), last + AROUND)
    indent = min(len(line) - len(line.lstrip()) for line in lines[start:end] if line.strip())
    code = [line[indent:] for line in lines[start:end]]
    gone = range(first - start, last - start)
    drawn = [*map(escape, code)]
    for i in gone:
        drawn[i] = re.sub(r"\S.*", lambda text: f'<s style="{BROKEN}">{text[0]}</s>', drawn[i])
    if (more := len(gone) - MOST_LINES) > 0:
        drawn[gone.start + MOST_LINES : gone.stop] = [
            f'<span style="{BROKEN}">… {more} more lines</span>'
        ]
    key, line = home(definition.name)
    title = f"{'Second reading: d' if line >= len(PARTS[key].lines) else 'D'}eleted from {name} in {file}.py:"
    html, told = contracts_without(statement)
    return Picture(
        f'<div style="{style.CARD};display:block;line-height:1.5"><b>{escape(title)}</b>'
        f'<pre style="{WRAPPED}">{"⋯" * (start > documented)}\n'
        f"{chr(10).join(drawn)}\n{'⋯' * (end < len(lines))}</pre>{html}</div>",
        "\n".join([title, *(code[i].strip() for i in gone), *told]),
        says_all=True,
    )


def contracts_without(statement):
    """Return HTML and lines of text that show which contracts still hold without a Statement.

    The lines are a list of str. Up to MOST_TOLD broken contracts are described, each with the wrong
    result or the error.
    """
    found, rows, words = results(statement), [], []
    for group in dict.fromkeys(one.group for one in CONTRACTS):
        marks = [MARKS[mark] for one, _, mark in found if one.group == group]
        seen = "".join(
            mark if mark == "✓" else f'<span style="{BROKEN}">{mark}</span>' for mark in marks
        )
        rows.append(
            f'<div style="display:flex;gap:8px"><span style="flex:0 0 8em">{group}</span>'
            f'<span style="{KEPT}">{seen}</span></div>'
        )
        words.append(f"{group}: {''.join(marks)}")
    broken = [one for one in found if one[2] != "right"]
    broken.sort(
        key=lambda one: one[2] == "an error"
    )  # a wrong number is more informative than an error
    if len({outcome for _, outcome, _ in found}) == 1:
        lines = ["The engine does not load, so every contract is broken."]
    elif broken:
        lines = [
            f"{len(broken)} of {len(found)} contracts {'is' if len(broken) == 1 else 'are'} broken."
        ]
    else:
        lines = [f"No contract is broken. {_noticed(statement)}"]
    html = f"<b>{lines[0]}</b>"
    for one, outcome, mark in broken[:MOST_TOLD]:
        came = outcome if len(outcome) < 160 else f"{outcome[:160]}…"
        right = f'<span style="font-family:monospace">{escape(one.right)}</span>'
        html += (
            f'<div style="margin-top:6px"><pre style="{WRAPPED}">{escape(one.program)}</pre>'
            f'{MARKS[mark]} expected {right}, got <span style="{BROKEN};overflow-wrap:anywhere">{escape(came)}</span></div>'
        )
        lines.append(f"{one.program}\n{MARKS[mark]} expected {one.right}, got {came}")
    if len(broken) > MOST_TOLD:
        lines.append(f"And {len(broken) - MOST_TOLD} more.")
        html += f"<div>{lines[-1]}</div>"
    return f'<div style="margin:8px 0">{"".join(rows)}</div>{html}', words + lines


def _noticed(statement):
    by = noticed(statement).get(statement.text.strip())
    return (
        f"But a test of the engine fails: {by}."
        if by
        else "Run make mutate to see which test fails."
    )


def noticed(statement):
    """Return a dict that maps the text of each statement to a test that fails without it.

    The statements are those of the function, method or class that contains `statement`, and the
    tests are given by name. The dict is read from the file that `make mutate` writes.
    """
    return json.loads(NOTICED.read_text(encoding="utf-8")).get(
        f"{statement.file}:{statement.where}", {}
    )


# --- Deletion -----------------------------------------------------------------------------------------------------


def predict_deletion(name):
    """Show a question about what the engine does without one of its lines.

    The answer is not recorded.

    Parameters
    ----------
    name : str
        A key of DELETIONS in order.py.

    Returns
    -------
    Panel
        The widget.
    """
    one = DELETIONS[name]
    choices = list(one.shown) if isinstance(one.shown, dict) else None
    return _ask(name, Question(one.question, one.answer, one.reveal, choices))


def _ask(name, asked):
    return Panel(
        [Ask(asked, lambda ask: None, sure=True)],
        fold("Answer", asked.reveal),
        f"Predict: {asked.question}",
        asks=f"engine.{name}",
    )


def yours_and_ours(name):
    """Draw an exercise's solution beside the engine's definition, and explain how they differ.

    Parameters
    ----------
    name : str
        The name of the exercise, a key of BESIDE in order.py.

    Returns
    -------
    Picture
        The two columns of code, with the explanation below them.
    """
    registered()
    where, differs = BESIDE[name]
    ours = "\n".join(_dedented(one.lines) for one in definitions() if one.name == where)
    ours = re.sub(r'\n *""".*?"""\n', "\n", ours, flags=re.DOTALL)
    columns = [
        (f"yours, exercise {name}", EXERCISES[name].solution, ""),
        (where.replace(":", ".py, "), ours, ""),
    ]
    html = f'<div style="font-size:13px">{side_by_side(columns)}</div>{as_html(differs)}'
    return Picture(html, f"{differs}\n\n{ours}")


def find(where, line):
    """Return the Statement that begins with `line` in the definition called `where`.

    Parameters
    ----------
    where : str
        The name of the definition, such as "tape:backward_pass".
    line : str
        The beginning of the statement, without its indentation.

    Raises
    ------
    LookupError
        If there is no such statement, or more than one.
    """
    found = [
        one
        for file in DELETED
        for one in statements(file)
        if definition_of(one).name == where and one.text.strip().startswith(line)
    ]
    if len(found) != 1:
        raise LookupError(
            f"find: expected exactly one statement in {where} that begins with {line!r}, got {len(found)}; "
            "change the entry in order.py"
        )
    return found[0]


def patients():
    """Show a slider over five engines, each without one line, and the contracts that still hold.

    The missing line is not shown.
    """

    def picture(engine):
        html, words = contracts_without(find(*PATIENTS[engine]))
        return Picture(
            f'<div style="{style.CARD};display:block;line-height:1.5"><b>Engine {engine}</b>{html}</div>',
            "\n".join([f"Engine {engine}", *words]),
            says_all=True,
        )

    return explore(picture, engine=list(PATIENTS))


def diagnose():
    """Show a question that asks which line is missing from each of the five engines."""
    found = {engine: find(*one) for engine, one in PATIENTS.items()}
    lines = [
        f"{re.split(' +#', one.text.strip())[0]} ({one.where or one.file})"  # a comment would tell
        for one in found.values()
    ]
    order = sorted(lines)
    asked = Question(
        "Which line is missing in which engine?",
        dict(zip(PATIENTS, lines)),
        "\n".join(f"- **{engine}** lacks `{line}`" for engine, line in zip(PATIENTS, lines)),
        dict.fromkeys(PATIENTS, order),
    )
    return _ask("patients", asked)
