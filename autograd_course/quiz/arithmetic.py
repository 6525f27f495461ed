"""Read the numbers that learners type, including arithmetic.

web/site.js does the same for the site. The cases in tests/quiz/typed.json test both.
"""

import math
import operator
import re
import unicodedata

_SPELLINGS = [
    *[("−", "-"), ("–", "-"), ("∞", "inf"), ("·", "*"), ("×", "*"), ("⋅", "*"), ("÷", "/")],
    *[("**", "^"), ("²", "^2"), ("³", "^3"), ("√", "sqrt "), ("π", "pi"), ("\u00a0", " ")],
]
_FUNCTIONS = {
    "exp": math.exp,
    "log": math.log,
    "ln": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "tanh": math.tanh,
    "abs": abs,
}
_CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan}
_OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": operator.pow,
}
_THOUSANDS = r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?![0-9])"
_NUMBER = rf"(?:{_THOUSANDS}(?:\.[0-9]*)?|[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:e[+-]?[0-9]+)?"
_TOKEN = re.compile(rf"{_NUMBER}|log(?:2|10)(?=\()|[a-z]+|[^ ]")  # "log10" only before a bracket
_VULGAR = "¼-¾⅐-⅞"  # ½ and the other fractions that are one character
_LONGEST = 200


def number_in(text):
    """Return the number in a text, or the result of the arithmetic in it, as a float.

    Examples of texts are "3", "−0,5", "1/3", "2,410", "1e-8", "f(2) = 3", "2 %", "26 GB", "2**36",
    "3·10 + 10", "(2 − 5)^2", "½", "log 10" and "exp(-2)/3".

    Raises
    ------
    ValueError
        If the text is not a number, or if the result is too large. The message says what to write.
    """
    plain = re.sub(r"^about\s+", "", text.strip())
    plain = re.sub(rf"([0-9{_VULGAR}])\s*(?!inf|nan|pi)[a-zA-Z]{{2,}}$", r"\1", plain)  # a unit
    plain = re.sub(rf"([0-9]*)([{_VULGAR}])", _in_full, plain)
    for typed, written in _SPELLINGS:
        plain = plain.replace(typed, written)
    plain = re.sub(r"^[^=≈~<>≤≥]*[a-zA-Z∂][^=≈~<>≤≥]*(?=[=≈~<>≤≥])|\s*[%°]$", "", plain)
    plain = re.sub(r"\b(np|math|torch)\.", "", plain.lstrip("=≈~<>≤≥ "))
    plain = re.sub(r"([0-9]) (?=[0-9]{3}(?![0-9]))", r"\1", plain)  # 2 410
    try:
        return _Reader(plain).result()
    except OverflowError:
        raise ValueError(
            f"“{text.strip()}” is too large to compute. Use smaller numbers."
        ) from None
    except (ValueError, ArithmeticError, RecursionError):
        raise ValueError(
            f"“{text}” is not a number. Write it like 17, −0.3, 1/7, 2e-9 or 3*4 + log(2)."
        ) from None


def _in_full(fraction):
    """Return "(1+1/2)" for the match of 1½, and "(0+1/2)" for that of ½."""
    ratio = unicodedata.normalize("NFKC", fraction[2]).replace("\N{FRACTION SLASH}", "/")
    return f"({fraction[1] or 0}+{ratio})"


class _Reader:
    """Evaluate arithmetic by recursive descent, with one method for each level of precedence.

    A text that is not arithmetic raises ValueError.
    """

    def __init__(self, text):
        if len(text) > _LONGEST:
            raise ValueError("too long")
        self.tokens = [match[0] for match in _TOKEN.finditer(text.lower())]

    def result(self):
        value = self.sum()
        if self.tokens:
            raise ValueError("more than one number")
        return value

    def next(self, wanted):
        """Remove and return the next token if it is one of `wanted`, else return None."""
        return self.tokens.pop(0) if self.tokens and self.tokens[0] in wanted else None

    def left_to_right(self, signs, operand):
        value = operand()
        while sign := self.next(signs):
            value = _applied(_OPERATORS[sign], value, operand())
        return value

    def sum(self):
        return self.left_to_right("+-", self.product)

    def product(self):
        return self.left_to_right("*/", self.signed)

    def signed(self):
        if sign := self.next("+-"):
            return -self.signed() if sign == "-" else self.signed()
        return self.power()

    def power(self):
        value = self.atom()
        return _applied(operator.pow, value, self.signed()) if self.next("^") else value

    def atom(self):
        if self.next("("):
            value = self.sum()
            if not self.next(")"):
                raise ValueError("a bracket is open")
            return value
        token = self.tokens.pop(0) if self.tokens else ""
        if token in _FUNCTIONS:
            argument = self.atom() if self.tokens[:1] == ["("] else self.power()
            return _applied(_FUNCTIONS[token], argument)
        if token in _CONSTANTS:
            return _CONSTANTS[token]
        if not re.fullmatch(_NUMBER, token):
            raise ValueError("no number")
        if re.match(_THOUSANDS, token):
            token = token.replace(",", "")
        return float(token.replace(",", "."))


def _applied(function, *values):
    """Return `function(*values)`.

    Raises
    ------
    ValueError
        If the result is complex, or is nan although no value is nan.
    OverflowError
        If the result is infinite although all values are finite.
    """
    value = function(*values)
    if isinstance(value, complex) or math.isnan(value) and not any(map(math.isnan, values)):
        raise ValueError("not a real number")
    if math.isinf(value) and all(map(math.isfinite, values)):
        raise OverflowError
    return value
