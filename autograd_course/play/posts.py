"""Find the code in a forum post, between sentences, prompts, outputs and error messages.

`code_of` removes the lines that are certainly not code. The reader calls `is_not_code` only if Python
cannot parse the remaining text. Formulas inside a sentence are ignored, because it is not clear
which words of the sentence belong to the formula.
"""

import re

from .school import tree_of
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
# An array that a program printed over several lines, with its function.
RESULT = re.compile(r"^tensor\([^()<]*grad_fn=<\w+>\)$", re.MULTILINE)
# A derivative that the post states, such as f'(x) = 2x or dy/dx = 2x.
ANSWER = re.compile(
    r"^\W*(?:[d∂]\w*(?:\([\w, ]*\))? ?/ ?[d∂]\w|\w'+ ?(?:\(|=)|\\frac\{(?:d|\\partial))[^=]*="
)
# Three words in a row.
WORDS = re.compile(r"[^\W\d_]{2,}(?:'[a-z]+)?,? [^\W\d_]+,? [^\W\d_]+")


def code_of(text):
    """Return the code in a text, and a list of the lines that are not code.

    If the text has blocks fenced by ```, only the blocks remain. If the text has prompts such as
    `>>>`, only the lines with a prompt and any program before the first prompt remain. Tracebacks
    and the outputs between prompts are removed without being listed.

    Parameters
    ----------
    text : str
        The text as it was pasted.

    Returns
    -------
    code : str
        The lines of code, with their prompts.
    left_out : list of str
        The lines that are not code.

    Raises
    ------
    CannotDraw
        If the text is only an error message.
    """
    left_out = []
    if blocks := FENCED.findall(text):
        left_out += [line for line in FENCED.sub("", text).split("\n") if line.strip()]
        programs = [one for one in blocks if tree_of(one)]
        if re.search(r"\b(?:backward|grad)\(", "\n".join(programs)):
            # The others are outputs, errors or mathematics.
            left_out += [line for one in blocks if one not in programs for line in one.splitlines()]
            blocks = programs
        text = "\n".join(blocks)
    if (bare := RAISED_ERROR.sub("", TRACEBACK.sub("", text))) != text:
        if not bare.strip():
            raise CannotDraw("This is an error message. Paste the lines of the program instead.")
        text = bare
    left_out += RESULT.findall(text)
    text = RESULT.sub(lambda found: "\n" * found[0].count("\n"), text)
    if re.search(r"^>>>", text, re.MULTILINE):
        # Lines without a prompt are what Python answered, except a program before the first prompt.
        lines = text.split("\n")
        first = next((i for i, line in enumerate(lines) if PROMPT.match(line)), 0)
        program = first and any(re.match(r"\w+ *=[^=]", line) for line in lines[:first])
        text = "\n".join(
            line if PROMPT.match(line) or program and i < first else ""
            for i, line in enumerate(lines)
        )
    return text, left_out


def is_not_code(line, text):
    """Return True if a line that Python cannot parse is an output, a sentence or an answer.

    An answer is a line such as `f'(x) = 2x`. If `text`, which contains the line, calls `backward`, two
    more kinds of line count as sentences: a line with two groups of three words in a row, and a line
    without an equals sign, a colon, a comma or an opening bracket.
    """
    line = line.strip()
    if PRINTED.match(line) or ANSWER.match(line):
        return True
    if re.search(r"\bbackward\(", text) and (
        len(WORDS.findall(line)) > 1 or not re.search(r"[=:\[({,]", line)
    ):
        return True
    return bool(WORDS.search(line)) and not re.search(r"[=(*+/]|^(for|while|if|def|with)\b", line)
