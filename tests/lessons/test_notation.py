"""The notation page is true, and no lesson uses a symbol before the place where the page says it
is introduced.

A symbol is anything in maths, `$…$` or `$$…$$`: a letter, a Greek letter, a function, a sign. Signs
such as ∂ and Σ count in plain text too. Each row of the page's tables introduces its symbols: at
school if the last column says "school", otherwise in the linked section of a lesson. "Symbols used
in one lesson" holds for one lesson.

A lesson that needs a new letter must explain it and add one line to `notebooks/notation.ipynb`.
"""

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from autograd_course.grading import registered
from autograd_course.quiz.texts import PREDICTIONS, RECALL

FOLDER = Path(__file__).parents[2] / "notebooks"
LESSONS = {path.stem[:2]: path for path in sorted(FOLDER.glob("[0-9]*.ipynb"))}
EVERY_LESSON = pytest.mark.parametrize("lesson", LESSONS)

# This question uses letters of later lessons on purpose: a reader who does not know one should
# start there.
AHEAD = {("00", "place")}

registered()

# --- Reading ----------------------------------------------------------------------------------------------------------------

# TeX commands for layout, and symbols that need no introduction.
PLAIN = {
    *"0123456789+-=<>()[].,;:/!^_&~",
    "\\frac",
    "\\begin",
    "\\end",
    "\\boxed",
    "\\phantom",
    "\\text",
    "\\texttt",
    "\\left",
    "\\right",
    "\\big",
    "\\Big",
    "\\bigg",
    "\\Bigg",
    "\\quad",
    "\\qquad",
    "\\ldots",
    "\\dots",
    "\\\\",
    "\\,",
    "\\;",
    "\\:",
    "\\!",
    "\\ ",
    "\\%",
}
SAME = {
    "\\lvert": "|",
    "\\rvert": "|",
    "\\vert": "|",
    "\\mid": "|",
    "\\times": "\\cdot",
    "\\prime": "'",
    "\\Sigma": "\\sum",
}
# The same symbols in plain text.
UNICODE = {
    "∂": "\\partial",
    "Σ": "\\sum",
    "ŷ": "\\hat",
    "′": "'",
    "ᵀ": "\\top",
    "λ": "\\lambda",
    "ρ": "\\rho",
    "σ": "\\sigma",
    "⟨": "\\langle",
    "∇": "\\nabla",
    "η": "\\eta",
    "θ": "\\theta",
    "β": "\\beta",
    "δ": "\\delta",
    "ε": "\\epsilon",
}
CODE = r"```.*?```|`[^`\n]*`"
MATHS = r"\$\$(.*?)\$\$|\$([^$\n]+)\$"
SYMBOL = r"\\[A-Za-z]+|\\.|(?P<nudge>d)(?=[A-Za-z])|[^\s{}]"
ELSEWHERE = r"(?ms)^\*\*Elsewhere\.\*\*.*?$|^### In PyTorch.*?(?=^#|\Z)"  # names used elsewhere


def symbols(text):
    """Return the symbols in a Markdown text, in order. The d of dx is "d·"."""
    text = re.sub(CODE, " ", text, flags=re.DOTALL)
    found = [
        UNICODE[letter] for letter in re.sub(MATHS, " ", text, flags=re.DOTALL) if letter in UNICODE
    ]
    for tex in map("".join, re.findall(MATHS, text, re.DOTALL)):
        tex = re.sub(r"\\(text|texttt|operatorname|begin|end)\{[^{}]*\}", " ", tex)
        found += [
            "d·" if symbol["nudge"] else SAME.get(symbol[0], symbol[0])
            for symbol in re.finditer(SYMBOL, tex)
        ]
    return [symbol for symbol in dict.fromkeys(found) if symbol not in PLAIN]


def code_words(text):
    """Return the library names and attributes in a Markdown text's inline code: "ag.grad",
    ".grad".
    """
    found = [
        re.findall(r"\bag\.\w+|(?<!\bag)(?<!\bnp)\.(?!py\b|npz|ipynb)[a-zA-Z]\w+", code)
        for code in re.findall(r"`([^`\n]+)`", text)
    ]
    return list(dict.fromkeys(sum(found, [])))


def cells(path):
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def text_of(cell):
    """Return the text of a cell that a learner reads, including the answer that a question
    reveals.
    """
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    return "\n".join(
        [
            *(
                PREDICTIONS[name].reveal
                for name in re.findall(r'^predict\("([^"]+)"', source, re.M)
                if name in PREDICTIONS
            ),
            *(
                question.reveal
                for name in re.findall(r'^recall\("(\d\d)"', source, re.M)
                for question in RECALL.get(name, [])
            ),
        ]
    )


# --- The page ---------------------------------------------------------------------------------------------------------------

PAGE = cells(FOLDER / "notation.ipynb")


def tables(first):
    """Return the rows, as lists of cells, of every table on the page whose first column has this
    heading.
    """
    rows, inside = [], False
    for line in "\n".join("".join(cell["source"]) for cell in PAGE).splitlines():
        parts = [part.strip() for part in line.split(" | ")] if line.startswith("| ") else None
        if parts is None:
            inside = inside and line.startswith("|---")
        elif inside:
            rows.append([parts[0].removeprefix("| "), *parts[1:-1], parts[-1].removesuffix(" |")])
        else:
            inside = parts[0] == f"| {first}"
    return rows


def words():
    """Return (word, meaning, lesson) of every entry of the glossary."""
    entry = r"^- \*\*(.+?)\*\* \((\[\d\d\]\(\S+?\))\)\. (.+?\.)(?: \*Elsewhere:\* .+\.)?$"
    lines = "\n".join(
        "".join(cell["source"]) for cell in PAGE if cell["id"].startswith("words-")
    ).splitlines()
    entries = [
        re.match(entry, line) or pytest.fail(f"no entry of the glossary: {line}")
        for line in lines
        if line.startswith("-")
    ]
    return [found.group(1, 3, 2) for found in entries]


def place(where):
    """Return ("NN", number of the cell) named in a row's last column; "school" comes before all
    lessons.
    """
    if link := re.fullmatch(r"\[(\d\d)\]\((\w+\.ipynb)(?:#(.+))?\)", where):
        lesson, file, heading = link.groups()
        assert LESSONS.get(lesson) == FOLDER / file, f"{where}: there is no such lesson"
        found = [
            i
            for i, cell in enumerate(cells(LESSONS[lesson]))
            if cell["cell_type"] == "markdown"
            and not heading
            or unquote(heading or "")
            in re.findall(
                r"^#+ (.+)", "".join(cell["source"]).replace(" ", "-").replace("#-", "# "), re.M
            )
        ]
        assert found, f"{where}: no heading of that lesson reads so"
        return lesson, found[0]
    assert where == "school", f"{where}: link to the lesson's section"
    return "", 0


def introduced():
    """Return a dict from each symbol of the page to its place, and a dict from (lesson, symbol) to
    the place of each symbol used in one lesson.
    """
    everywhere, lent = {}, {}
    for symbol, *about, where in tables("symbol"):
        for name in symbols(symbol):
            if len(about) == 1:
                lent[place(where)[0], name] = place(where)
            else:
                everywhere.setdefault(name, place(where))
    return everywhere, lent


def faults(lesson, cells):
    """Return the symbols that a lesson's cells use too early, or that the page does not list."""
    everywhere, lent = introduced()
    found = []
    for number, cell in enumerate(cells):
        for name in symbols(text_of(cell)) if (lesson, cell["id"]) not in AHEAD else []:
            home = lent.get((lesson, name), everywhere.get(name))
            if home is None:
                found.append(
                    f'{cell["id"]}: {name} is not on the notation page: add it there, or under "Symbols used in one lesson"'
                )
            elif home > (lesson, number):
                found.append(
                    f"{cell['id']}: {name} comes before it is introduced, in lesson {home[0]}, cell {home[1]}"
                )
    return found


# --- Tests ------------------------------------------------------------------------------------------------------------------


def test_every_row_of_the_page_is_whole():
    assert {len(row) for row in tables("symbol")} == {5, 3} and len(words()) > 90
    for row in tables("symbol") + words():
        assert all(row), row
        place(row[-1])
    alphabet = [word.lower() for word, *_ in words()]
    assert alphabet == sorted(alphabet) and len(set(alphabet)) == len(alphabet)


def test_symbols_are_found():
    assert symbols(r"so $\frac{dL}{dd} = e^{-d} \cdot \hat y_k$ and `$c$`, $\text{if } b$") == [
        "d·",
        "L",
        "d",
        "e",
        "\\cdot",
        "\\hat",
        "y",
        "k",
        "b",
    ]
    assert symbols("$$\\begin{aligned} \\lvert x\\rvert &= 3 \\end{aligned}$$ and ∂z") == [
        "\\partial",
        "|",
        "x",
    ]
    assert symbols("$f'(x)$") == ["f", "'", "x"]
    assert code_words("`ag.grad(f)(x)`, `x.grad`, `np.exp(0.5)`, x.sum") == ["ag.grad", ".grad"]


@EVERY_LESSON
def test_no_symbol_before_it_is_introduced(lesson):
    assert faults(lesson, cells(LESSONS[lesson])) == []


@pytest.mark.parametrize(
    "lesson, text, fault",
    [
        (
            "01",
            r"The slope is $\partial z / \partial x$.",
            "z comes before it is introduced, in lesson 02",
        ),
        ("00", "$e^x$", "e comes before"),
        ("01", "that is ∂z/∂x", "\\partial comes before"),
        ("02", r"$\zeta$", "\\zeta is not on the notation page"),
        ("12", "$q$", "q is not on the notation page"),
        ("02", "$d$", "d is not on the notation page"),
    ],
)
def test_a_symbol_too_early_or_unknown_is_found(lesson, text, fault):
    last = {"cell_type": "markdown", "id": "planted", "source": [text]}
    planted = [
        line
        for line in faults(lesson, [*cells(LESSONS[lesson]), last])
        if line.startswith("planted")
    ]
    assert any(fault in line for line in planted), planted


def test_a_symbol_of_a_later_section_is_found():
    first = {"cell_type": "markdown", "id": "planted", "source": ["$g$ and $x$"]}
    (fault,) = faults("02", [first, *cells(LESSONS["02"])])
    assert fault.startswith("planted: g comes before it is introduced, in lesson 02")


def test_no_name_of_the_library_before_its_lesson():
    homes = {}
    for row in tables("symbol") + words():
        for name in code_words(" ".join(row[:-1])):
            homes[name] = min(place(row[-1])[0], homes.get(name, "99"))
    assert {"ag.grad", ".backward", "ag.check_grads"} <= homes.keys()
    for lesson, path in LESSONS.items():
        for cell in cells(path):
            text = re.sub(ELSEWHERE, "", text_of(cell)) if (lesson, cell["id"]) not in AHEAD else ""
            early = [name for name in code_words(text) if homes.get(name, "") > lesson]
            assert not early, (
                f"{lesson}, {cell['id']}: {early} before the lesson that the notation page names"
            )


@EVERY_LESSON
def test_every_lesson_links_to_the_page(lesson):
    assert any("](notation.ipynb)" in text_of(cell) for cell in cells(LESSONS[lesson])), (
        "no cell says [notation](notation.ipynb)"
    )
