"""Convert mathematical notation, such as `f(x) = x² sin x` or LaTeX, to Python.

A line that Python can parse with the same meaning is left unchanged. Every other line is read as
mathematics.
"""

import ast
import keyword
import re

from .functions import FUNCTIONS
from .syntax import CannotDraw, called, stored, walk

# A sign, and what it is in Python.
SIGNS = str.maketrans(
    {"−": "-", "–": "-", "·": "*", "×": "*", "∗": "*", "⋅": "*", "÷": "/", "^": "**"}
    | {
        "½": "0.5",
        "¼": "0.25",
        "√": " sqrt ",
        "∛": " cbrt ",
        "≤": "<=",
        "≥": ">=",
        "≠": "!=",
    }
    | {"’": "'", "′": "'", "“": '"', "”": '"', "\xa0": " ", "\u200b": "", "\ufeff": "", "\r": ""}
)
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿˣ⁽⁾", "0123456789-+nx()")
LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
# LaTeX, in this order.
LATEX = [
    (re.compile(pattern), by)
    for pattern, by in (
        (r"\\sqrt\[3\]\{", " cbrt{"),
        (r"\\sqrt\[(\d)\]\{([^{}]*)\}", r"((\2)**(1/\1))"),
        (r"\\log(2|10)", r" log\1 "),
        (r"(?<![\\\w{])(?!ln|pi|at|of|is)([a-z])([a-z])(?![\w}])", r"\1 \2"),  # wx is a product
        (r"\\\[|\\\]|\\\(|\\\)|\$|\\begin\{(?:equation|align)\*?\}|\\end\{\w+\*?\}", " "),
        (r"\\displaystyle\s*\{(.*)\}", r"\1"),
        (r"\\(?:tag|label)\*?\{[^{}]*\}", " "),
        (r"\\(?:tiny|small|normalsize|large|Large|LARGE|huge|Huge)(?![a-zA-Z])", " "),
        (r"\\(?:left|right|big|Big|displaystyle|limits)(?![a-z])|\\[,;:!]|&", " "),
        (r"\\(?:quad|qquad)\b|\\\\", " "),
        (r"\\d?frac\{d\}\{d\w\}", " "),
        (r"\\(?:text|mathrm|operatorname|mathbf|mathit|mathcal|mathsf|boldsymbol|vec)\{(\w+)\}", r" \1 "),
        (r"\\(hat|tilde|bar)\{?(\w)\}?", r" \2_\1 "),
        (r"_\{(\w+)\}", r"_\1"),
        (r"(_\d)(?=[A-Za-z])", r"\1 "),
        (r"\\(?:cdot|times)(?![a-z])", "*"),
        (r"\\sigma\s*(?=\()", " sigmoid"),
        (r"\\(sin|cos|tan|sec|csc|cot|arcsin|arccos|arctan|sinh|cosh|tanh|exp|log|ln|max|min|sqrt|pi)(?![a-z])", r" \1 "),
        (r"\\(alpha|beta|gamma|delta|epsilon|eta|theta|mu|phi|omega|sigma|lambda)(?![a-z])", r" \1_"),
        (r"\\d?frac\s*\{((?:[^{}]|\{[^{}]*\})*)\}\s*\{((?:[^{}]|\{[^{}]*\})*)\}", r"((\1)/(\2))"),
    )
]  # fmt: skip
DERIVATIVE = re.compile(
    r"^\s*(?:[d∂] ?/ ?[d∂]\w\b|(?:[a-z']+ )*?(?:derivative|gradient|slope|differentiate)\b(?: of)?(?: the function)?)",
    re.IGNORECASE,
)
IN_SQUARE_BRACKETS = re.compile(r"^\s*\[(.*)\]\s*$")  # d/dx [x + 1]
WHERE = re.compile(r";\s*|,?\s+(?:at|where|when|with|for)\s+(?=\w+\s*=)|,\s*(?=\w+\s*=[^=])")
DEFINITION = re.compile(r"^(\w+)\(([\w, ]+)\)\s*=(?!=)", re.MULTILINE)  # f(x) = …
PRIME = re.compile(r"\b([A-Za-z]\w*)'\((?=[^'\n]*$)", re.MULTILINE)  # f'(3)
PRODUCT = re.compile(r"(?<![\w.])(\d+\.?\d*)(?![eE][-+]?\d)(?=[A-Za-z_(])")  # 2x, 3(x + 1)
# What Python reads as something else: sin²(x), |x|, xe^x and d/dx (x + 1).
MATHEMATICS = re.compile(
    r"\b(?:sin|cos|tan|sec|csc|cot|sinh|cosh|tanh|log|ln)\s*\*\*\s*[\d(-]|\||\b[txyz]e\*\*|\bd ?/ ?d[a-z] *[(\[]"
)
# A product with a square bracket, which Python reads as an entry: 4a [b - c].
SQUARE = re.compile(
    r"(\)|\b(?!(?:in|return|else|and|or|not|if|is|print|d[a-z])\b)\w+) \[(?!\d+\]|:)"
)
# A function's name and its argument in one word: sinx, xlnx, cos2x.
GLUED = re.compile(
    r"(?<![^\W\d])([xyz]?)(sin|cos|tan|sec|csc|cot|ln|log|exp|sqrt)([xyzθ]|(?<!log)\d+[a-z])\b(?! *[=(])"
)
# A letter and a function's name in one word: xsin(x).
GLUED_CALL = re.compile(r"(?<![^\W\d])([xyzt])(sin|cos|tan|sec|csc|cot|ln|log|exp|sqrt)(?= *\()")
# What a text of lines of code contains; its names are not split into letters. The brackets \[ and \left[ are LaTeX.
CODE = re.compile(
    r"\bfor\b.*\bin\b|\b(?:import|def|lambda|print|return|while)\b|\w\.[a-z_]+\(|(?<!\\)(?<!\\left)\[|\""
)
WORD = re.compile(r"(?<![^\W\d])(?:[a-zA-Zα-ω]{2,3})(?![\w(.'])")
LONG_WORD = re.compile(r"(?<![^\W\d_])(?<!\\)[^\W\d_]{3,}")  # not \frac
AFTER_NUMBER = re.compile(r"(?:\d|\b0\.5|pi\*|\))$")
COMMA = re.compile(r"(?<![\w.,])(\d+,\d+)(?=[ \t]*[A-Za-z(*])|(?<![\w.,])(0,\d+)")  # 0,5x; 1,000x
LOGARITHM = re.compile(r"\blog_\{?(\d+|[a-z])\}?(?=\s*\(| ?[a-z]\b)")  # log_3 x
LATEX_SIGN = re.compile(r"\\[a-zA-Z]+|\$|\\\[|\*\*\{")
# Words of an exercise around its formula.
TASK = re.compile(
    r"\b(?:find|let|given|where|when|differentiate|compute|calculate|determine|derivative|question|"
    r"solution|answer)\b",
    re.IGNORECASE,
)
PIECES = "Write a piecewise function with where, for example where(x < 1, x**2, 2*x - 1)."
OTHER_LANGUAGE = "This looks like another language. Write it as in Python: y = x**2 + tanh(3*x)."
# at (1, 2), at the point (x, y) = (1, 2)
POINT = re.compile(r",?\s+at\s+(?:the point\s+)?(?:\(([\w, ]+)\)\s*=\s*)?\(([-\d., ]+)\)\s*[.?]?$")
LISTED = re.compile(r"[^\s,]+")
TITLE = re.compile(r"^[A-Za-z][A-Za-z ]+:\s+")  # Original function: …
NUMBERED = re.compile(r"^\(?(?:\d{1,3}|[a-z])[.)]\s+(?=[A-Za-z])")  # 36. f(x) = …, of an exercise
# Letters before a bracket that are functions; others are factors.
NAMED_FUNCTIONS = {*"fghFGHφ", "phi_"}
ARROW = re.compile(r"^\s*(\w+)\s*:\s*(\w)\s*(?:->|→|↦)", re.MULTILINE)  # f: x → x²
TOKEN = re.compile(r"\s*(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|[^\W\d]\w*|\*\*|[<>=!]=|\S)")
BRACKETS = {"(": ")", "[": "]"}
BARS = {"|": "abs", "‖": "norm"}
NOT_FACTORS = {"+", "-", "*", "/", "@", "**", ")", "]", ",", "=", "<", ">", "==", "<=", ">=", "!="}


def as_python(text, imported=()):
    """Return the text, with its mathematical notation converted to Python.

    Parameters
    ----------
    text : str
        A formula, lines of code, or a mixture.
    imported : list of str, optional
        The names that the text imports. Such a name before a bracket is a function, not a factor.

    Returns
    -------
    str
        The converted text, which is not valid Python if some of the notation is unknown.

    Raises
    ------
    CannotDraw
        If the text contains LaTeX that is not supported, or notation that would be misread.
    """
    text = re.sub(r"\A\s*=(?!=)", "", text)  # =A1^2 of a spreadsheet
    if "\n" not in text.strip() and SQUARE.search(text):
        text = SQUARE.sub(lambda found: f"{found[1]}{'' if found[1] in FUNCTIONS else '*'}(", text)
        text = text.translate(str.maketrans("[]", "()"))
    _refuse_lost_exponents(text)
    raised = {*re.findall(r"(?<![A-Za-z_.])(?!d)([A-Za-z]{2})(?=\^|[⁰¹²³⁴-⁹⁻ⁿˣ])", text)}
    text = re.sub(r"[⁰¹²³⁴-⁹⁻ⁿˣ]+", lambda found: f"**({found[0].translate(RAISED)})", text)
    text = re.sub(r"([₀-₉])(?=[^\W\d_₀-₉])", r"\1 ", text)  # θ₁x
    text = re.sub(r"π(?=[\w(])", "pi*", text).replace("π", "pi")
    text = re.sub(r"σ(?=\s*\()", "sigmoid", text)
    text = ARROW.sub(r"\1(\2) =", text).translate(SIGNS).translate(LOWERED)
    text = re.sub(r"^ (?=(?:sqrt|cbrt) )", "", text, flags=re.MULTILINE)
    text = re.sub(r"\blog_\{?(2|10)\}?(?![\w}])", r"log\1", text)
    _refuse_commas_and_bases(text)
    if found := re.search(r"[∫∑Σ∏]|\\(?:int|sum|prod|lim)(?![a-z])|^\s*lim(?=[_\s])", text):
        write = "Write a sum term by term, for example x1**2 + x2**2, or as sum(x**2)."
        if found[0] in ("∫", "\\int"):
            write = "Write only the function under the integral, for example x**2."
        elif "lim" in found[0]:
            write = "Write the function itself, for example x**2."
        raise CannotDraw(f"The playground cannot read {found[0].strip()}. {write}")
    if re.search(r"\*\*\s*\{?\s*(?:T|⊤|\\top|\\intercal)\b(?!\s*=)", text):
        raise CannotDraw(
            "x^T is read as a power. Write x.T, and @ between arrays: x = [1.0, 2.0], A = [[2.0, 1.0], [1.0, 3.0]], then x @ A @ x."
        )
    if LATEX_SIGN.search(re.sub(r"""(["'])(?:\\.|(?!\1).)*\1|\#.*""", "", text)):
        text = _without_latex(text)
    if re.search(r"^\s*\w+ <- ", text, re.MULTILINE):
        raise CannotDraw(OTHER_LANGUAGE)
    text = PRIME.sub(r"grad(\1)(", text)
    text = re.sub(r",\s*(?=grad\(\w+\)\()", "\n", text)  # f(x) = x**2, f'(3)
    functions = {*NAMED_FUNCTIONS, *imported, *(name for name, _ in DEFINITION.findall(text))}
    variables = {
        name for _, names in DEFINITION.findall(text) for name in re.findall(r"\w+", names)
    }
    products = _products(text, raised)
    if not CODE.search(text):
        text = re.sub(r"\b([a-z]_\d)(?=[a-z]_\d\b)", r"\1 ", text)
        text = GLUED_CALL.sub(
            lambda found: " ".join(found.groups()) if found[0] not in functions else found[0], text
        )
        text = GLUED.sub(
            lambda found: (
                found[0]
                if re.search(rf"\b{found[0]} *=", text)
                else " ".join(found.groups()).strip()
            ),
            text,
        )
    for _ in range(2):  # products are found once every line can be read
        plain = PRODUCT.sub(r"\1*", DEFINITION.sub(r"\1 = lambda \2:", text))
        tree = tree_of(plain)
        again = _lines_with_products(tree, variables, imported) if tree else set()
        if (
            tree
            and not again
            and not MATHEMATICS.search(text)
            and not _joins(text, variables, products)
        ):
            return plain
        lines = enumerate(zip(text.split("\n"), plain.split("\n")), start=1)
        text = "\n".join(
            _line(line, functions, products)
            if number in again or _is_mathematics(line, simple, variables, products)
            else simple
            for number, (line, simple) in lines
        )
    return text if tree_of(text) else plain


def not_python(typed, error):
    """Return an error message that says what to write in place of a text that cannot be read.

    `typed` is the text as it was typed, and `error` is the SyntaxError that Python raised for this
    text after its conversion by `as_python`.
    """
    text = typed.translate(SIGNS)
    if re.search(
        r"=>|^julia>|\b(?:D|Sin|Cos|Tan|Exp|Log|Sqrt)\[|\bnew \w+\(|\w::\w|\bprintln|\bConsole\.|\bMath\.|\b(?:const|let|var|double|float|int)\s+\w+\s*[=({]|\bfunction\b.*\{",
        text,
    ):
        return OTHER_LANGUAGE
    if re.search(r"\botherwise\b|\{[^}]*\bif\b|\bcases\b", text):
        return PIECES
    words = {*LONG_WORD.findall(re.sub("#.*", "", text))} - {*FUNCTIONS}
    mixes = (len(words) > 2 or TASK.search(text)) and not CODE.search(text)
    if re.search(r"\w'+ *(?:\(\w+\))? *=", text) and not mixes:
        return "The playground draws functions, not derivatives. Write the function itself, for example y = x**2."
    if "cannot assign to" in error.msg or re.search(r"\bimplicit|[-+*/²³]\s*\w+\S?\s*=[^=]", text):
        return "The playground does not draw equations. Write one name on the left of =, for example F = x**2 + y**2 - 25."
    said = re.search(r"(?:[^\W\d_]{2,}[,']? ){3}", re.sub("#.*", "", text))
    if said and "=" not in text:
        return "This looks like a sentence, not a formula. Write an expression, for example tanh(w*x + b)."
    if mixes:
        return "This mixes words and formulas. Write the formula alone, for example y = x**2 + 3*x."
    at = (error.text or "")[max(0, (error.offset or 1) - 1) :].strip()[:20]
    place = f" at “{at}”" if at else ""
    return f"Line {error.lineno}: {error.msg.rstrip('?')}{place}. Write it as in Python: 2*x, x**2, exp(-x)."


def tree_of(text):
    """Return the syntax tree of a text, or None if Python cannot parse the text."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _without_latex(text):
    for pattern, by in LATEX:
        while pattern.search(text):
            text = pattern.sub(by, text)
    if "cases}" in text or "cases)" in text:
        raise CannotDraw(PIECES)
    if unknown := re.search(r"\\[a-zA-Z]+|\$", text):
        raise CannotDraw(
            f"The playground cannot read {unknown[0]}. Paste the formula alone, or write it as in Python: a/b, sqrt(x), x**2, exp(-x)."
        )
    text = text.translate(str.maketrans("{}[]", "()()"))
    return "\n".join(line.strip() for line in text.split("\n"))


def _refuse_lost_exponents(text):
    """Raise CannotDraw for f(x, y) = x2y, whose exponent was lost when x²y was copied."""
    for name, arguments in [] if CODE.search(text) else DEFINITION.findall(text):
        letters = {*re.findall(r"\b[A-Za-z]\b", arguments)}
        for word in re.findall(r"(?<![^\W\d])[A-Za-z]+[2-9][A-Za-z2-9]*(?![\w(])", text):
            if {*re.sub(r"\d", "", word)} <= letters and word not in LISTED.findall(arguments):
                meant = "*".join(re.findall(r"[A-Za-z]\d*", word))
                meant = re.sub(r"(\d+)", r"**\1", meant)
                raise CannotDraw(
                    f"{word} is read as one name. Write {meant}, or add {word} to the arguments of {name}."
                )


def _refuse_commas_and_bases(text):
    """Raise CannotDraw for a decimal comma, as in 0,5x, or the base of a logarithm, as in log_3 x.

    Without this check, 0,5x would be read as two numbers, and log_3 x as a product.
    """
    for found in COMMA.finditer(text):
        line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        if all(line.count(a) == line.count(b) for a, b in ("()", "[]", "{}")):
            number = found[1] or found[2]
            raise CannotDraw(
                f"{number} is read as two numbers. Write numbers without a comma, for example 0.5 or 1000."
            )
    if found := LOGARITHM.search(text):
        raise CannotDraw(f"Write log(x)/log({found[1]}) for a logarithm with base {found[1]}.")


def _products(text, raised):
    """Return the set of the words in a text that are products of letters.

    Examples are xy in 3xy + x, ac in 4ac, kt in e^(-kt), and mc in mc². `raised` is the set of the
    words of two letters that are followed by an exponent, such as mc. The result is empty if the
    text is code.
    """
    if CODE.search(text):
        return set()
    letters = {*re.findall(r"(?<![\w.'])([A-Za-z])(?![\w('])", text)}
    products = set()
    for found in WORD.finditer(text):
        word = found[0]
        if word in {*FUNCTIONS, "pi"} or keyword.iskeyword(word) or len({*word}) < len(word):
            continue
        if re.search(rf"\b{word} *=(?!=)|\b{word} *,[^=()]*=(?!=)", text):
            continue
        joined = {*word} <= letters or {*word} <= {*"xyzuvwt"} or word in raised
        joined = joined or bool(re.fullmatch(r"(?!d|at|it)\w[xt]", word))
        if joined or AFTER_NUMBER.search(text[: found.start()]):
            products.add(word)
    return products


def _is_mathematics(line, simple, variables, products):
    """Return True if Python cannot parse a line, or would read it with another meaning.

    `simple` is the line with its simplest notation already converted to Python. `variables` is the
    set of the arguments of the text's functions, and `products` the set of words that are products
    of letters.
    """
    return (
        bool(MATHEMATICS.search(line))
        or not tree_of(simple.strip())
        or _joins(line, variables, products)
    )


def _joins(text, variables, products):
    """Return True if a text contains a word that is a product of letters, such as xy in e^xy.

    A word is a product if it is in the set `products`, or if all its letters are in `variables`, the
    set of the arguments of the text's functions.
    """
    if any(re.search(rf"(?<![A-Za-z_]){word}(?!\w)", text) for word in products):
        return True
    single = {name for name in variables if len(name) == 1}
    names = {*re.findall(r"[^\W\d_]{2,}", text)} - variables
    return any(set(name) <= single for name in names)


def _line(line, functions, products):
    """Return a line of mathematics as Python, or unchanged if it cannot be read as mathematics.

    `functions` is the set of names that are functions before a bracket, and `products` is the set of
    words that are products of letters.
    """
    text = TITLE.sub("", NUMBERED.sub("", line.partition("#")[0].strip()))
    given = []  # at (1, 2)
    if point := POINT.search(text):
        text = text[: point.start()]
        names = point[1] or (re.search(r"\w+\(([\w, ]+)\)\s*=", text) or ["", ""])[1]
        names = LISTED.findall(names) or _coordinates(text)
        pairs = [*zip(names, LISTED.findall(point[2]))]
        if len(pairs) < len(LISTED.findall(point[2])):
            raise CannotDraw(
                f"Name the coordinates of the point ({point[2]}): for example, write “at (x, y) = (1, 2)”."
            )
        given = [f"{name} = {at if '.' in at else at + '.0'}" for name, at in pairs]
    first, *where = WHERE.split(DERIVATIVE.sub("", text).strip(" :?.;"))
    first = IN_SQUARE_BRACKETS.sub(r"(\1)", first) if DERIVATIVE.match(text) else first
    # A whole number would stay plain in an exponent, but this one is where the function is looked at.
    parts = [first, *(re.sub(r"=\s*(-?\d+)$", r"= \1.0", one) for one in where)]
    indent = line[: len(line) - len(line.lstrip())]
    try:
        return indent + "; ".join(
            [_Reader(part, functions, products).line() for part in parts] + given
        )
    except (_NotMathematics, RecursionError, ValueError):
        return line


def _coordinates(text):
    """Return a list of the letters x, y and z that occur in a formula, in this order.

    In an equation, only the right-hand side counts. Words of four or more letters do not count.
    """
    right = re.sub(r"[^\W\d_]{4,}", "", text.partition("=")[2] or text)
    return [letter for letter in "xyz" if letter in right]


class _NotMathematics(Exception):
    pass


class _Reader:
    """Convert one line of mathematics to Python, with a recursive descent parser.

    Two factors side by side are multiplied. A line that cannot be read raises _NotMathematics.
    `functions` and `products` are described in `_line`.
    """

    def __init__(self, text, functions, products):
        self.tokens, self.functions, self.bars = TOKEN.findall(text), functions, []
        self.products = products

    def line(self):
        """Return the line as Python code.

        The code is an expression, or the assignment of an expression or a lambda to a name.
        """
        tokens, head, arguments = self.tokens, "", []
        if "=" in tokens:
            at = tokens.index("=")
            if at == 1:
                head = f"{tokens[0]} = "
            elif re.fullmatch(r"[^\W\d]\w* \( [\w ,]+ \)", " ".join(tokens[:at])):
                arguments = tokens[2 : at - 1 : 2]
                head = f"{tokens[0]} = lambda {', '.join(arguments)}: "
            else:
                raise _NotMathematics
            tokens = tokens[at + 1 :]
        afterwards = [*tokens[1:], ""]
        self.tokens = [
            letter
            for token, after in zip(tokens, afterwards)
            for letter in _letters(token, {*arguments}, self.products, after)
        ][::-1]
        read = self.sum()
        if self.tokens:
            raise _NotMathematics
        return head + read

    @property
    def next(self):
        return self.tokens[-1] if self.tokens else ""

    def take(self, *expected):
        if not self.tokens or expected and self.next not in expected:
            raise _NotMathematics
        return self.tokens.pop()

    def sum(self):
        read = self.product()
        while self.next in {"+", "-", "<", ">", "<=", ">=", "=="}:
            read += f" {self.take()} {self.product()}"
        return read

    def product(self):
        read = last = self.factor()
        while True:
            if self.next in {"*", "/", "@"}:
                sign, last = self.take(), self.factor()
                read += sign + last
            elif self.begins_factor():
                if _is_word(self.next):
                    raise _NotMathematics
                if self.next[0].isdigit():  # x 2, where x² lost its exponent
                    raise CannotDraw(
                        f"There is no operator between {last} and {self.next}. Write {last}**{self.next} for a power, or {last}*{self.next} for a product."
                    )
                last = self.factor()
                read += f"*{last}"
            else:
                return read

    def begins_factor(self):
        return bool(self.tokens) and self.next not in {*NOT_FACTORS, *self.bars}

    def factor(self):
        if self.next in {"+", "-"}:
            return self.take() + self.factor()
        if re.fullmatch(r"\w(\*\w)+", self.next):  # x*y of xy², where only y is squared
            *letters, last = self.take().split("*")
            self.tokens.append(last)
            return f"({'*'.join([*letters, self.factor()])})"
        base = self.atom()
        if self.next == "**":
            return f"{base}{self.take()}{self.factor()}"
        return base

    def atom(self):
        token = self.take()
        if token in BRACKETS:
            bars, self.bars = self.bars, []
            read = f"({self.sum()})"
            self.bars = bars
            self.take(BRACKETS[token])
            return read
        if token in BARS:
            self.bars.append(token)
            read = f"{BARS[token]}({self.sum()})"
            self.take(token)
            self.bars.pop()
            return read
        if re.fullmatch(r"[\d.].*", token):
            return token
        if not token.isidentifier():
            raise _NotMathematics
        if token in FUNCTIONS and token != "t":
            return self.application(token)
        if self.next == "(" and (token in self.functions or not _is_variable(token)):
            return token + self.arguments()
        if _is_word(token) and self.begins_factor():
            raise _NotMathematics
        return token

    def application(self, name):
        """Return a call to the known function `name` as Python.

        The argument is the expression in the brackets that follow, or, without brackets, the factors
        that follow, as in sin 2x.
        """
        power = ""
        if self.next == "**":
            power = self.take() + self.factor()
            if power == "**(-1)" or power == "**-1":
                if name not in ("sin", "cos", "tan"):
                    raise CannotDraw(
                        f"{name}⁻¹ can mean the inverse or the reciprocal; write 1/{name}(x) for the reciprocal."
                    )
                name, power = f"arc{name}", ""  # sin⁻¹(x), the inverse
        if self.next == "(":
            return f"{name}{self.arguments()}{power}"
        read = self.factor()
        while (
            self.begins_factor()
            and self.next not in FUNCTIONS
            and self.next not in {*BRACKETS, *BARS}
        ):
            read += f"*{self.factor()}"
        return f"{name}({read}){power}"

    def arguments(self):
        self.take("(")
        bars, self.bars = self.bars, []
        parts = [self.sum()]
        while self.next == ",":
            self.take()
            parts.append(self.sum())
        self.bars = bars
        self.take(")")
        return f"({', '.join(parts)})"


def _is_variable(name):
    """Return True if a name before a bracket is a factor and not a function.

    Names such as x, x_1 and α_t are factors. Names such as f, f_1 and loss are functions.
    """
    if re.fullmatch(r"[a-z]{2,}_", name):  # alpha_, of LaTeX
        return name not in NAMED_FUNCTIONS
    return bool(re.fullmatch(r"[^\W\d_](?:_\w+|\d+)?", name)) and name[0] not in NAMED_FUNCTIONS


def _is_word(token):
    """Return True if a token is a word of several letters that names no known function."""
    return len(token) > 1 and token.isalpha() and token not in {*FUNCTIONS, "pi"}


def _letters(token, arguments, products, after):
    """Return the list of the tokens that replace a token.

    A product of letters such as xy becomes one token, `x*y`. xe in xe^x becomes two tokens, x and e.
    Any other token is returned unchanged, as the only item of the list.

    Parameters
    ----------
    token : str
    arguments : set of str
        The arguments of the function that the line defines; a word of these letters is a product.
    products : set of str
        Other words that are products of letters.
    after : str
        The next token of the line.
    """
    if len(token) > 1 and (set(token) <= arguments or token in products):
        return ["*".join(token)]
    return [*token] if after == "**" and re.fullmatch("[txyz]e", token) else [token]


def _lines_with_products(tree, variables, imported):
    """Return the line numbers of products that Python would read as calls, as a set.

    Examples are x(x + 1), 2 (x + 1) and (x + 1)(x - 1).

    Parameters
    ----------
    tree : ast.Module
        The syntax tree of the text.
    variables : set of str
        The arguments of the functions that the text defines; they can be factors.
    imported : list of str
        The names that the text imports; they are functions.
    """
    defined = {node.name for node in walk(tree, ast.FunctionDef, ast.ClassDef)} | {
        *FUNCTIONS,
        *NAMED_FUNCTIONS,
        *imported,
    }
    numbers = {
        called(one.targets[0])
        for one in walk(tree, ast.Assign)
        if isinstance(one.value, ast.Constant)
    }
    defined |= {*stored(tree)} - numbers
    defined |= {node.arg for node in walk(tree, ast.arg)} - variables
    lines = set()
    for call in walk(tree, ast.Call):
        name = getattr(call.func, "id", "")
        variable = _is_variable(name) and name not in defined and len(call.args) == 1
        if variable or isinstance(call.func, (ast.BinOp, ast.UnaryOp, ast.Constant)):
            lines.add(call.lineno)
    return lines
