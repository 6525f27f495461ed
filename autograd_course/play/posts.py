"""Find what a post in a forum is about: its code between words and outputs, or the formulas of its sentences.

`code_of` leaves out what is certainly no code. `formulas` is asked only if the rest cannot be read.
"""

import re

from .syntax import CannotDraw

FENCED = re.compile(r"^[ \t]*```[^\n]*\n(.*?)^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)
PROMPT = re.compile(r"^(>>> ?|\.\.\. ?|In ?\[(?:\d*| |None)\]: ?)", re.MULTILINE)
TRACEBACK = re.compile(
    r"^Traceback \(most recent call last\).*?(?=^\w[\w.]*:|\Z)", re.MULTILINE | re.DOTALL
)
RAISED_ERROR = re.compile(r"^[\w.]*(?:Error|Exception|Warning): .*$", re.MULTILINE)
# Numbers that a program printed: arrays as NumPy, PyTorch, JAX and TensorFlow write them, and answers of the text.
PRINTED = re.compile(
    r"^(?:\[\[?[-\d. e+\]]*\s[-\d. e+\[\]]*\]?|(?:tf\.Tensor|tensor|Array|array|DeviceArray|<tf\.\w+.*)\(?.*|\w+ ?[:=] ?tensor\(.*\)|[-\d.]+)$"
)
WORDS = re.compile(r"[^\W\d_]{2,}(?:'[a-z]+)?,? [^\W\d_]+,? [^\W\d_]+")


def code_of(text):
    """Return the text without what surrounds its code, and the lines left out.

    Of a text with fenced blocks only these remain; of one with prompts, its prompted lines and the program before the first prompt.
    A traceback is left out.

    Raises
    ------
    CannotDraw
        If the text is only an error message.
    """
    left_out = []
    if blocks := FENCED.findall(text):
        left_out += [line for line in FENCED.sub("", text).split("\n") if line.strip()]
        text = "\n".join(blocks)
    if (bare := RAISED_ERROR.sub("", TRACEBACK.sub("", text))) != text:
        if not bare.strip():
            raise CannotDraw("This is an error message. Paste the lines of the program instead.")
        text = bare
    if re.search(
        r"^>>>", text, re.MULTILINE
    ):  # lines without a prompt are what Python answered, except a program before the first
        lines = text.split("\n")
        first = next((i for i, line in enumerate(lines) if PROMPT.match(line)), 0)
        program = first and any(re.match(r"\w+ *=[^=]", line) for line in lines[:first])
        text = "\n".join(
            line if PROMPT.match(line) or program and i < first else ""
            for i, line in enumerate(lines)
        )
    return text, left_out


def is_said(line, text):
    """Return whether a line that Python cannot read is an output, a sentence or an answer such as `f'(x) = 2x`.

    In a `text` of code that asks for gradients, every sentence and every line that assigns nothing is.
    """
    line = line.strip()
    if PRINTED.match(line) or ANSWER.match(line):
        return True
    if re.search(r"\bbackward\(", text) and (
        len(WORDS.findall(line)) > 1 or not re.search(r"[=:\[({,]", line)
    ):
        return True
    return bool(WORDS.search(line)) and not re.search(r"[=(*+/]|^(for|while|if|def|with)\b", line)


# --- The formulas in sentences ---------------------------------------------------------------------------------------------

ANSWER = re.compile(
    r"^\W*(?:[d∂]\w*(?:\([\w, ]*\))? ?/ ?[d∂]\w|\w'+ ?(?:\(|=)|\\frac\{(?:d|\\partial))[^=]*="
)
WORDS_OF_TASK = re.compile(
    r"\b(?:let|if|find|given|where|when|with|at|is|of|the|determine|evaluate|use|compute|calculate|consider|suppose|differentiate|derivative|answer|solution|hint|help|question|problem|exercise|example)\b",
    re.IGNORECASE,
)
CODE = re.compile(
    r"^\s*(?:import|from|def|class|with|print)\b|^\s*for\b.*\bin\b|\w\.\w+\(", re.MULTILINE
)
TOKEN = re.compile(r"\\[a-zA-Z]+|[A-Za-z]+|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
# Functions that school writes as words. Others, such as where and mean, are words of the sentence.
IN_FORMULAS = {
    *("sin cos tan sec csc cot arcsin arccos arctan asin acos atan sinh cosh tanh exp log ln sqrt cbrt".split()),
    *("abs max min sigmoid relu softplus".split()),
}  # fmt: skip
UNIT = re.compile(r"^([\d.]+) (?:[cmk]?m|[m]?s|k?g|[NJW]|Hz|rad|ft|min|h)(?:/(?:s|h|m|min)[²2]?)?$")
GREEK = "αβγδεζηθκλμνξπρστφχψω"
SIGNS = {*"+-−–*·×⋅∗/÷^_=()[]{}|<>≤≥√∛½¼⅓∞'′₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿˣ⁽⁾&", *GREEK}
SHORT_WORDS = {
    *("a an and are as at be but by can cm do find for from get has hi how i if in is it km kg let me mm my".split()),
    *("no not of on or pls so than the to up use via was we when who why with you your yes let's ans".split()),
}  # fmt: skip
NAME = r"(?:[A-Za-z](?:_\{?\w+\}?|[₀-₉]+|\d+)?|\\[a-z]+|[" + GREEK + r"]|[a-z]{2,8})"
HEAD = re.compile(
    rf"(?<![\w\\+\-−*/^=)}}·])({NAME})\s*(\(\s*{NAME}(?:\s*,\s*{NAME})*\s*\))?\s*=(?!=)"
)
ABOUT = re.compile(
    r"(?:derivatives?|gradient|slope)\s+(?:of|for)\s+(?:the\s+)?(?:function\s+)?|\b(?:differentiate|d/d\w(?:\s+of)?)\s+(?:the function\s+)?",
    re.IGNORECASE,
)
# What ends a formula after which more of it would follow: y = x to the power of 3, y = x!, y = 2,5 x.
CUT_SHORT = re.compile(
    r"^\s*(?:(?:squared|cubed|to|times|plus|minus|over|divided|raised|multiplied|if|mod)\b|[^\s\w.,;:?=)]|,\d|\.\S)"
)
BETWEEN = re.compile(r"[<≤]\s*[^\W\d]\s*[<≤]")  # 0 < x < 1
PIECES = re.compile(r"[<>≤≥]|\\(?:leq?|geq?)\b|\b(?:otherwise|else|cases|piecewise)\b")
NUMBER = r"[-−]?\s*(?:\d+(?:\.\d+)?|\d*\s*π)(?:\s*/\s*\d+)?"
AT = re.compile(
    rf"\bat\s+(?:the\s+)?(?:point\s+)?(?:[A-Z]\s*)?(?:\(([\w, ]+)\)\s*=\s*)?[(\[]\s*({NUMBER}(?:\s*,\s*{NUMBER})*)\s*[)\]]"
)
PRIMED = re.compile(rf"(\w)\s*['′]+\s*\(\s*({NUMBER})\s*\)(?!\s*=\s*[^.?\s]*[a-z])")
WITH_RESPECT = re.compile(r"[d∂]\w*\s*/\s*[d∂]([a-zA-Zα-ω])|respect to ([a-zA-Zα-ω])\b")


def formulas(text):
    """Return the formulas and numbers that the sentences of a text state, a line for each, or None.

    `Let z = x² + y², where x = 3 and y = 4. Find dz/dx` becomes `x = 3.0`, `y = 4.0` and `z = x² + y²`.

    Raises
    ------
    CannotDraw
        If several formulas do not depend on each other: the text should hold one.
    """
    if (
        CODE.search(text)
        or len(PIECES.findall(BETWEEN.sub("<", text))) > 1
        or not WORDS_OF_TASK.search(text)
    ):
        return None
    text = re.sub(r"\$\$?|\\[\[\]()]|\\(?:left|right|displaystyle)\b|\\[,;:! ]|~", " ", text)
    found = {}  # name: (arguments, expression)
    for head in HEAD.finditer(text):
        before = text[: head.start()]
        if ANSWER.match(text[before.rfind("\n") + 1 : head.end()]):
            continue
        if head[1] in SHORT_WORDS:  # at (x, y) = (1, 2)
            continue
        name, expression = head[1], _run(text[head.end() :], _letters(text))
        if not expression:
            return None
        if name in found and not _is_number(expression):
            raise CannotDraw(f"The text states {name} several times. Paste one of its formulas.")
        found.setdefault(name, (re.findall(NAME, head[2] or ""), expression))
    if not any(not _is_number(expression) for _, expression in found.values()):
        if not (about := ABOUT.search(text)):
            return None
        expression = _run(text[about.end() :], _letters(text))
        if not expression or _is_number(expression) or not _names(expression):
            return None
        found = {"y" if "y" not in expression else "L": ([], expression)} | found
    return _ordered(found, text)


def _letters(text):
    """Return the letters that a text uses as variables, so that xy is a product of two of them."""
    heads = [re.findall(NAME, head[0]) for head in HEAD.finditer(text)]
    respect = [one or other for one, other in WITH_RESPECT.findall(text)]
    return {name for names in [*heads, respect] for name in names if len(name) == 1}


def _run(text, letters):
    """Return the formula at the beginning of a text, up to the first word or sign that belongs to no formula."""
    taken, depth = [], 0
    tokens = TOKEN.findall(text)
    for i, token in enumerate(tokens):
        after = next((one for one in tokens[i + 1 :] if not one.isspace()), "")
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
            if depth < 0:
                break
        if token.isspace():
            if "\n" in token and not depth:
                break
        elif token.isascii() and token.isalpha():
            if not _is_variable(token, letters, after):
                if depth:
                    return ""
                break
            if len(token) > 1 and token not in {*IN_FORMULAS, "pi"}:
                token = " ".join(token)
        elif token == ",":
            if not depth:
                break
        elif token == "=" and not (taken and taken[-1] in ("<", ">")):
            break
        elif not (token in SIGNS or token[0] == "\\" or token[0].isdigit()):
            break
        taken.append(token)
    run, rest = "".join(taken).strip(), "".join(tokens[len(taken) :])
    if unit := UNIT.match(run):
        run = unit[1]
    if CUT_SHORT.search(rest) or re.search(r"[-+−*/·^_([{]$", run):
        return ""
    return run if run.count("(") == run.count(")") else ""


def _is_variable(word, letters, after):
    """Return whether a word is a function, a letter or a product of letters in a formula."""
    if word in IN_FORMULAS or word in ("pi", "lim") or set(word) <= letters:
        return not (word == "a" and len(after) > 1 and after.isalpha() and after not in IN_FORMULAS)
    if word == "I" or word.lower() in SHORT_WORDS and len(word) > 1 or word == "a":
        return word == "a" and not (len(after) > 1 and after.isalpha() and after not in IN_FORMULAS)
    return (
        len(word) == 1 or len(word) == 2 and (word[1] in "xyzt" or word[1] == "e" and after == "^")
    )  # mx, gt, xe^x


def _is_number(expression):
    return not re.search(r"[A-Za-zα-ορ-ω]", re.sub(r"\\?(?:pi|sqrt|frac)\b", "", expression))


def _ordered(found, text):
    """Return lines that set every name before it is read, the one formula that no other reads at the end."""
    names = {name: _names(expression) - {name} for name, (_, expression) in found.items()}
    numbers = {name for name, (_, expression) in found.items() if _is_number(expression)}
    read = {one for several in names.values() for one in several}
    last = [name for name in found if name not in read | numbers]
    if len(last) != 1:
        raise CannotDraw(
            f"The text states several formulas: {', '.join(last)}. Paste one of them."
            if last
            else "The formulas of this text depend on each other in a circle. Paste one of them."
        )
    arguments = found[last[0]][0]
    starts = {name: _as_float(value) for name, (_, value) in found.items() if name in numbers}
    free = arguments or sorted(_names(found[last[0]][1]) & {*"xyztuv"})
    if at := AT.search(text):
        given, numbers_at = re.findall(r"\w+", at[1]) if at[1] else free, at[2].split(",")
        if len(given) != len(numbers_at):
            return None
        starts |= {name: _as_float(value) for name, value in zip(given, numbers_at)}
    elif primed := PRIMED.search(text):
        starts |= {name: _as_float(primed[2]) for name in free[:1]}
    heads = {last[0]: f"{last[0]}({', '.join(arguments)})"} if arguments else {}
    lines, placed = [f"{name} = {value}" for name, value in starts.items()], {*starts}
    while len(placed) < len({*found} | {*starts}):
        ready = [
            name for name in found if name not in placed and not (names[name] & {*found}) - placed
        ]
        if not ready:
            return None
        for name in ready:
            lines.append(f"{heads.get(name, name)} = {found[name][1]}")
            placed.add(name)
    return "\n".join(lines)


def _names(expression):
    return {
        one
        for word in re.findall(rf"[A-Za-z]\w*|[{GREEK}]", expression)
        if word not in IN_FORMULAS
        for one in (word, *word)
    }


def _as_float(number):
    """Return the text of a number with a point: a whole number would stay a constant where it is an exponent."""
    number = number.strip()
    return f"{number}.0" if re.fullmatch(r"[-−]?\s*\d+", number) else number
