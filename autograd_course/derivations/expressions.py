"""Read formulas as people type them, and write them as TeX or as NumPy code.

A formula is a tree of nested tuples. In this list, a and b are trees:

- `("number", 2.0)` is a number, and `("name", "x")` is a letter;
- `("entry", "g", "ij")` is the entry g[i, j] of an array;
- `("negative", a)` is −a, and `("transpose", a)` is the transpose of a;
- `("call", "exp", a)` is a function call, and `("sum", "j", a)` is the sum over j;
- `(operator, a, b)` joins two trees, where the operator is one of `+ - * / ^ @`.

A typed text is never passed to Python's own parser or to `eval`.
"""

import re
import unicodedata

FUNCTIONS = ("exp", "log", "ln", "sqrt", "sin", "cos", "tanh", "sinh", "cosh", "abs", "sigmoid")
CONSTANTS = ("e", "pi")
LONGEST = 200  # characters
MOST_SUMS = 3  # each sum multiplies the number of entries to compute
MOST_SYMBOLS = 80  # letters, numbers and signs; the longest line of the course has 20
MOST_NESTED = 40  # brackets, signs and powers inside one another

# What people type or paste, and the symbol that the grammar uses for it.
_SPELLINGS = {
    "−": "-",
    "–": "-",
    "×": "·",
    "⋅": "·",
    "•": "·",
    "∗": "*",
    "÷": "/",
    "∕": "/",
    "⁄": "/",
    ":": "/",
    "**": "^",
    "ᵀ": "^T",
    "'": "^T",
    "’": "^T",
    "′": "^T",
    "⊤": "T",
    "½": "(1/2)",
    "⅓": "(1/3)",
    "⅔": "(2/3)",
    "¼": "(1/4)",
    "¾": "(3/4)",
    "Σ": " sum",
    "∑": " sum",
    "σ": " sigmoid",
    "√": " sqrt",
    "\\hat{y}": "ŷ",
    "\\hat y": "ŷ",
    "y_hat": "ŷ",
    "yhat": "ŷ",
    ".mT": "^T",
    ".T": "^T",
    ".dot(": "@(",
    ".matmul(": "@(",
    ".mm(": "@(",
    ".pow(": "^(",
    "≈": "",
    "\\cdot": "·",
    "\\times": "·",
    "\\top": "T",
    "\\intercal": "T",
    "\\limits": "",
    "\\dfrac": " frac",
    "\\tfrac": " frac",
    "\\frac": " frac",
    "\\sigma": " sigmoid",
    "\\left": "",
    "\\right": "",
    "\\,": " ",
    "\\;": " ",
    "\\!": "",
    "\\": " ",
}
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ʰⁿᵖˣʸᶻ", "0123456789+-()hnpxyz"
_SUBSCRIPTS = "ᵢⱼₖₙ", "ijkn"
# Spellings that need more than a replacement, in this order.
_PATTERNS = [
    (r"\b(?:np|numpy|torch|math)\.", ""),
    (r"([0-9]+)([½⅓⅔¼¾])", r"(\1+\2)"),
    (r"\\(?:mathrm|mathsf|mathbf|text|operatorname)\{([^{}]*)\}", r"\1"),
    (r"\^[({]\s*(?:T|\\top|\\intercal)\s*[)}]", "^T"),
    (r"\.(?:t|transpose|swapaxes)\([^()]*\)", "^T"),
    (r"(?:,\s*)?\b(?:axis|dim|keepdims?)\s*=\s*[-\w]+", ""),
    (r"([^\W\d_]+)\.sum\(\s*\)", r"sum(\1)"),
]
_SUM_OF = re.compile(  # sum(… for j in range(3)) and sum(…, j)
    r"sum\((.+)(?: for |,\s+|(?<=[\])}]),)(\w)( in [^()]*(\([^()]*\))?)?\)"
)
_TOKEN = re.compile(
    r"([^\W\d_]+)"  # letters: a name, or several names side by side
    r"|([0-9]+\.?[0-9]*(?:e[-+]?[0-9]+)?|\.[0-9]+"  # a number
    r"|_\{[^}]*\}|\[[^\]]*\]"  # indices: _{ij} or [i, j]
    r"|_[^\W_]+(?:,\s*[^\W_](?![^\W_]))*"  # _ij or _i,j
    r"|\S)"
)
_LIMITS = re.compile(r"sum\s*_?[{(]?\s*\w+\s*([!<>]?=|[<>≠≤≥])")  # sum_{i=1} and sum_{i≠j}
_WIDE = re.compile(  # an exponent without its brackets: x^n-1 and e^-2x
    r"\^\s*([^\W_]\s*[-+]\s*[0-9]|-?\s*[0-9]+\s*[^\W\d_])"
)
# How tightly an operator binds. "beside" is a product without a sign, as in 2x.
_BINDING = {"+": 1, "-": 1, "*": 3, "·": 3, "@": 3, "/": 3, "beside": 3, "^": 5}
_TIGHT = _BINDING | {"beside": 4}  # 1/2x is 1/(2x)
_SIGN = 3  # -x y is -(x y), -x^2 is -(x^2), and e^-x is allowed


_WORDS = ("sum", "frac", "transpose", "matmul", "dot", "T")
_OWN = "m"  # the index of sum(g), which the learner need not name
_OPERAND = "a letter, a number or an opening bracket"
_SQUARE = "Square brackets are for indices only. Use round brackets."


class Unreadable(Exception):
    """Report that the input is not a formula; the message tells the learner what to write."""


def parse(text, letters, arrays=(), *, vectors=(), indices=(), tight=False, wide=False):
    """Parse a formula that a learner has typed, and return its tree.

    Parameters
    ----------
    text : str
        The right-hand side of an equation, such as `y dz + z*dy`, `-g*z/y`, `1 - tanh^2 x`, `sum_j
        g[i,j] B[k,j]` or `g @ B.T`.
    letters : sequence of str
        The names that the formula may contain.
    arrays : sequence of str
        The letters that are matrices. Two matrices side by side, or with `·` between them, are
        multiplied as matrices.
    vectors : sequence of str
        The arrays that have a single index, so that `sum(g)` is the sum of all entries of g.
    indices : sequence of str
        The names that an index may have.
    tight : bool
        If True, a product without a sign binds more tightly than a division: 1/2x is 1/(2x).
    wide : bool
        If True, a number added to an exponent or subtracted from it is part of the exponent: x^n-1
        is x^(n-1).

    Returns
    -------
    tuple
        The tree, in the form that the docstring of this module describes.

    Raises
    ------
    Unreadable
        If the text is not a formula. The message tells the learner what to write instead.
    """
    return _Parser(text, letters, arrays, vectors, indices, tight, wide).whole()


def _plain(text):
    """Return the learner's input, with each spelling replaced by the one that the parser reads."""
    text = text.lstrip(" =$").rstrip(" .,;$")
    for (small, plain), opened, closed in [(_SUPERSCRIPTS, "^(", ")"), (_SUBSCRIPTS, "_{", "}")]:
        table = str.maketrans(small, plain)
        text = re.sub(f"[{small}]+", lambda run: opened + run[0].translate(table) + closed, text)
    for pattern, plain in _PATTERNS:
        text = re.sub(pattern, plain, text)
    text = unicodedata.normalize("NFC", text)  # a letter and its hat may come as two characters
    for typed, plain in _SPELLINGS.items():
        text = text.replace(typed, plain)
    text = unicodedata.normalize("NFKC", text)  # wide, slanted and bold characters
    return _SUM_OF.sub(r"sum_\2(\1)", text)


class _Parser:
    """Parse a formula by recursive descent, with a lookahead of one token.

    The parameters are those of `parse`. The method `whole` returns the tree.
    """

    def __init__(self, text, letters, arrays, vectors, indices, tight, wide):
        if len(text) > LONGEST:
            raise Unreadable(f"The line is too long: write at most {LONGEST} characters.")
        text = _plain(text)
        if wide:
            text = _WIDE.sub(r"^(\1)", text)
        if _LIMITS.search(text):
            raise Unreadable(
                "Write a sum with its index only, as in `sum_i`. The index runs over all values."
            )
        if "=" in text:
            raise Unreadable("Type the right-hand side only, without “=”.")
        for opened, closed in ("[]", "{}"):
            if text.count(opened) > text.count(closed):
                raise Unreadable(f"A closing “{closed}” is missing.")
        self.letters, self.arrays = list(letters), set(arrays)
        self.vectors, self.indices = vectors, indices
        self.known = [*letters, *FUNCTIONS, *CONSTANTS, *_WORDS]
        self.binding = _TIGHT if tight else _BINDING
        self.depth, self.position, self.tokens = 0, 0, []
        for word, other in _TOKEN.findall(text):
            self.tokens += self._names(word) if word else [other]
        if len(self.tokens) > MOST_SYMBOLS:
            raise Unreadable(f"The line is too long: write at most {MOST_SYMBOLS} symbols.")
        if self.tokens.count("sum") > MOST_SUMS:
            raise Unreadable(f"The line has too many sums: write at most {MOST_SUMS}.")

    def _names(self, word):
        """Split a word into letters and functions, such as "gy" into g and y.

        A word that is itself a letter of the derivation is not split.

        Raises
        ------
        Unreadable
            If a part of the word is neither a letter of the derivation nor a function.
        """
        longest_first = sorted(self.known, key=len, reverse=True)
        names = re.findall("|".join(map(re.escape, longest_first)), word)
        if "".join(names) != word:
            array = min(self.arrays, default="")
            entry = f" Write an entry as {array}[i], or as {array}[i,j] if it has two indices."
            functions = f" The functions are {', '.join(FUNCTIONS)}." if len(word) > 2 else ""
            if word in ("grad", "gout", "dout", "upstream") and "g" in self.letters:
                raise Unreadable(
                    "Write g for the upstream gradient, which PyTorch calls grad_output."
                )
            if word == "einsum":
                raise Unreadable(
                    "Write a sum as `sum_` followed by its index, for example `sum_i`, not with `einsum`. Write a matrix product with `@`."
                )
            if set(word) <= set(self.indices):
                raise Unreadable(
                    f"“{word}” is an index. Write it in square brackets, or after `sum_`.{entry}"
                )
            if re.fullmatch(r"[d∂]\w", word):
                raise Unreadable(self._no_letter(word))
            raise Unreadable(
                f"“{word}” is not defined in this derivation. Its letters are {', '.join(self.letters)}.{functions}{entry * bool(array)}"
            )
        return names

    def _no_letter(self, word):
        """Return the message for a word that looks like a derivative, such as dz or ∂.

        The word is not a letter of the derivation.
        """
        letters = ", ".join(self.letters)
        return f"“{word}” is not defined in this derivation. Write a derivative as a formula in the letters {letters}."

    def whole(self):
        if not self.tokens:
            raise Unreadable("The line is empty. Type the right-hand side.")
        tree = self._line(1)
        if self._next():
            raise Unreadable(
                f"Unexpected “{self._next()}”. Remove it, or correct the formula before it."
            )
        return tree

    def _next(self):
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def _take(self, wanted=""):
        if not self._next():
            raise Unreadable(
                f"“{wanted}” is missing at the end of the line."
                if wanted
                else f"The line ends after “{self.tokens[-1]}”, but {_OPERAND} must follow."
            )
        if wanted and self._next() != wanted:
            raise Unreadable(f"“{wanted}” is missing before “{self._next()}”.")
        self.position += 1
        return self.tokens[self.position - 1]

    def _line(self, least):
        """Read one operand, and all operators after it that bind at least as tightly as `least`.

        `least` is one of the binding strengths in `_BINDING`. The result is a tree.
        """
        self.depth += 1
        if self.depth > MOST_NESTED:
            raise Unreadable(
                "The brackets, signs and powers are nested too deeply: simplify the line."
            )
        if self._next() in ("+", "-"):
            sign = self._take()
            inside = self._line(max(least, _SIGN))
            left = ("negative", inside) if sign == "-" else inside
        else:
            left = self._atom()
        while True:
            beside = re.match(r"[^\W_]|[({.]", self._next())
            operator = "beside" if beside else self._next()
            if self.binding.get(operator, 0) < least:
                self.depth -= 1
                return left
            if not beside:
                self._take()
            if operator == "^" and self._next() == "T":
                self._take()
                left = self._transposed(left)
                continue
            # a^b^c is a^(b^c), and a - b - c is (a - b) - c
            right = self._line(5 if operator == "^" else self.binding[operator] + 1)
            if operator in ("beside", "·"):
                operator = "@" if self._is_matrix(left) and self._is_matrix(right) else "*"
            left = (operator, left, right)

    def _transposed(self, tree):
        if not self.arrays:
            raise Unreadable(
                "“'” and “T” transpose a matrix, but this derivation has no matrix. Write a derivative as a formula."
            )
        indices = self._indices() if tree[0] == "name" else ""
        return ("entry", tree[1], indices[::-1]) if indices else ("transpose", tree)

    def _indices(self):
        found = ""
        while self._next().startswith(("_", "[")):
            token = self._take()
            if not re.search(r"[^\W_]", token):
                raise Unreadable(f"Write an index after “{token[0]}”.")
            inside = re.sub(r"[_{}[\]]", "", token)
            if token[0] == "[" and re.search(r"[^\w\s,]", inside):
                raise Unreadable(_SQUARE)
            words = re.findall(r"[^\s,]+", inside)
            if len(words) > 1 and max(map(len, words)) > 1 or re.search(r"[^\w\s,]", inside):
                raise Unreadable(f"“{inside}” is not an index. Write each index as one letter.")
            found += "".join(re.findall(r"[^\W_]", token))
        return found

    def _is_matrix(self, tree):
        return any(part[0] == "name" and part[1] in self.arrays for part in parts(tree))

    def _atom(self):
        if self._next() in (")", "}", ",") or self._next() in self.binding:
            raise Unreadable(f"Expected {_OPERAND}, got “{self._next()}”.")
        token = self._take()
        if token in ("(", "{"):
            inside = self._line(1)
            self._take(")" if token == "(" else "}")
            indices = self._indices() if inside[0] == "transpose" and inside[1][0] == "name" else ""
            return ("entry", inside[1][1], indices[::-1]) if indices else inside
        if re.match(r"\.?[0-9]", token):
            return ("number", float(token))
        if token == "sum":
            return self._sum()
        if token == "frac":
            return ("/", self._atom(), self._atom())
        if token == "transpose":
            return ("transpose", self._argument())
        if token in FUNCTIONS:
            power = None
            if self._next() == "^":  # tanh^2 x
                self._take()
                power = self._line(5)
            if self._next() in ("", *")},*·@/^"):
                raise Unreadable(f"“{token}” needs an argument: write {token}(…).")
            called = ("call", "log" if token == "ln" else token, self._argument())
            return ("^", called, power) if power else called
        if token in ("matmul", "dot"):
            self._take("(")
            left = self._line(1)
            self._take(",")
            right = self._line(1)
            self._take(")")
            return ("@", left, right)
        if token.startswith("["):
            raise Unreadable(_SQUARE)
        if token == "∂":
            raise Unreadable(self._no_letter(token))
        if token not in self.known or token == "T":
            raise Unreadable(f"Expected {_OPERAND}, got “{token}”.")
        indices = self._indices()
        return ("entry", token, indices) if indices else ("name", token)

    def _argument(self):
        return self._atom() if self._next() in ("(", "{") else self._line(5)

    def _sum(self):
        if not self._next().startswith("_"):
            body = self._line(3)
            own = {("name", name): ("entry", name, _OWN) for name in self.vectors}
            if body == replace(body, own):
                raise Unreadable("Name the index of the sum, as in `sum_i`.")
            return ("sum", _OWN, replace(body, own))
        indices = dict.fromkeys(re.findall(r"[^\W_]", self._take()))
        body = self._line(3)
        for index in reversed(indices):
            body = ("sum", index, body)
        return body


def parts(tree):
    """Return a list of the tree itself and all trees inside it."""
    inside = [part for child in tree[1:] if isinstance(child, tuple) for part in parts(child)]
    return [tree, *inside]


def names(tree):
    """Return the set of all letters in a tree, including those of array entries."""
    return {part[1] for part in parts(tree) if part[0] in ("name", "entry")}


def replace(tree, new):
    """Return the tree with some of its parts replaced.

    `new` is a dict that maps each part to its replacement.
    """
    if tree in new:
        return new[tree]
    return tuple(replace(child, new) if isinstance(child, tuple) else child for child in tree)


def terms(tree, sign=1):
    """Return the terms of a sum as a list of (sign, term), where the sign is 1 or -1.

    A tree that is not a sum is a single term. `sign` is the sign of the whole tree.
    """
    if tree[0] in ("+", "-"):
        return terms(tree[1], sign) + terms(tree[2], sign if tree[0] == "+" else -sign)
    return terms(tree[1], -sign) if tree[0] == "negative" else [(sign, tree)]


# How tightly the written form of a tree binds; whatever is not here needs no brackets.
_RANK = {"+": 1, "-": 1, "negative": 2, "*": 3, "@": 3, "/": 3, "sum": 3, "^": 5, "transpose": 5}


def _left_precedence(kind, left):
    """Return how tightly the left operand of `kind` must bind to need no brackets.

    The result is a number of `_RANK`. A sum at the end of the left operand would include the right
    operand, so such a sum needs brackets.
    """
    if kind in "+-":
        return 1
    last = left
    while last[0] in ("*", "/", "@"):
        last = last[2]
    return 4 if last[0] == "sum" else 3


def as_tex(tree):
    """Return the tree as TeX, which shows learners how their text was parsed."""
    kind = tree[0]
    if kind == "number":
        return f"{tree[1]:g}"
    if kind == "name":
        return _letter(tree[1])
    if kind == "entry":
        return f"{_letter(tree[1])}_{{{tree[2]}}}"
    if kind == "negative":
        return "-" + _tex_within(tree[1], 3)
    if kind == "transpose":
        return _tex_within(tree[1], 6) + r"^\top"
    if kind == "call":
        name = (
            rf"\{tree[1]}"
            if tree[1] in ("exp", "log", "sin", "cos", "tanh", "sinh", "cosh")
            else ""
        )
        inside = as_tex(tree[2])
        if tree[1] == "sqrt":
            return rf"\sqrt{{{inside}}}"
        return (name or rf"\operatorname{{{tree[1]}}}") + rf"\left({inside}\right)"
    if kind == "sum":
        return rf"\sum_{{{tree[1]}}} {_tex_within(tree[2], 3)}"
    if kind == "/":
        return rf"\frac{{{as_tex(tree[1])}}}{{{as_tex(tree[2])}}}"
    if kind == "^":
        return rf"{_tex_within(tree[1], 6)}^{{{as_tex(tree[2])}}}"
    left, right = tree[1:]
    if kind == "@" or kind == "*" and right[0] == "number":
        sign = r" \cdot "
    else:
        sign = {"*": r"\,"}.get(kind, f" {kind} ")
    return (
        _tex_within(left, _left_precedence(kind, left))
        + sign
        + _tex_within(right, _RANK[kind] + (kind == "-"))
    )


def _letter(name):
    """Return the TeX of a name.

    Single letters and differentials such as dz are set in italics. Longer names are set upright.
    """
    if name == "ŷ":
        return r"\hat y"
    return name if len(name) == 1 or re.fullmatch("d[a-zA-Z]", name) else rf"\mathrm{{{name}}}"


def _tex_within(tree, least):
    bare = _RANK.get(tree[0], 9) >= least or tree[0] == "/" and least <= 3
    return as_tex(tree) if bare else rf"\left({as_tex(tree)}\right)"


def as_text(tree, *, code=False):
    """Return the tree as text in the course's notation or, if `code` is True, as NumPy code.

    A tree that contains a sum cannot be written as code.
    """
    kind = tree[0]
    if kind == "number":
        return f"{tree[1]:g}"
    if kind == "name":
        return tree[1]
    if kind == "entry":
        return f"{tree[1]}[{', '.join(tree[2])}]"
    if kind == "negative":
        return "-" + _text_within(tree[1], 3, code)
    if kind == "transpose":
        return _text_within(tree[1], 6, code) + ".T"
    if kind == "call":
        home = ("ag." if tree[1] == "sigmoid" else "np.") if code else ""
        return f"{home}{tree[1]}({as_text(tree[2], code=code)})"
    if kind == "sum":
        return f"sum_{tree[1]} {_text_within(tree[2], 3, code)}"
    left, right = tree[1:]
    if kind == "^":
        if code and left == ("name", "e"):
            return f"np.exp({as_text(right, code=code)})"
        power = "**" if code else "^"
        return f"{_text_within(left, 6, code)}{power}{_text_within(right, 6, code)}"
    least = _left_precedence(kind, left), _RANK[kind] + (kind in "-/")
    return f"{_text_within(left, least[0], code)} {kind} {_text_within(right, least[1], code)}"


def _text_within(tree, least, code):
    text = as_text(tree, code=code)
    return text if _RANK.get(tree[0], 9) >= least else f"({text})"
