"""Show Python source in HTML, with bold keywords, faint comments, and links to lessons."""

import io
import keyword
import re
import tokenize
from html import escape
from pathlib import Path

from . import style
from .picture import Picture
from .rules import derived

LOOKS = {"word": "font-weight:700", "said": f"color:{style.FAINT}"}


def listing(source):
    """Return a Picture of Python source, with the source itself as the text of the Picture.

    In a comment, a number such as [18] links to the lesson with this number. The name of a row at
    the start of a comment links to the lesson that derives the row.

    Parameters
    ----------
    source : str
        The source, which must be valid Python.

    Returns
    -------
    Picture
        The highlighted source.
    """
    lines = [[] for _ in range(source.count("\n") + 1)]
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME and keyword.iskeyword(token.string):
            _mark(lines, token, "word")
        elif (
            token.type == tokenize.COMMENT
            or token.type == tokenize.STRING
            and '"""' in token.string
        ):
            _mark(lines, token, "said")
    html = "\n".join(_written(text, marks) for text, marks in zip(source.split("\n"), lines))
    look = f"{style.CARD};background:{style.PANEL};font:var(--code,13px)/1.45 {style.MONO};white-space:pre;margin:0"
    return Picture(f'<pre style="{look}">{html}</pre>', source, says_all=True)


def _mark(lines, token, look):
    (first, start), (last, end) = token.start, token.end
    for line in range(first, last + 1):
        lines[line - 1].append((start if line == first else 0, end if line == last else None, look))


def _written(text, marks):
    """Return a line of source as HTML, with parts of it highlighted.

    `marks` is a list of (start, end, look): the columns of a part, where an `end` of None is the
    end of the line, and a key of LOOKS.
    """
    parts, at = [], 0
    for start, end, look in marks:
        said = re.sub(r"(?<=\[)(\d\d)(?=\])", _link, escape(text[start:end]))
        said = re.sub(r"(?<=^# )(\w+)(?=:|$)", _link, said)
        parts += [escape(text[at:start]), f'<span style="{LOOKS[look]}">{said}</span>']
        at = len(text) if end is None else end
    return "".join([*parts, escape(text[at:])])


def _link(found):
    """Return an HTML link to the lesson that a regex match names.

    The match contains the number of a lesson, or the name of a row. If the notebook of the lesson
    is not in the current folder, the result is the text of the match without a link.
    """
    lesson = found[1] if found[1].isdigit() else derived().get(found[1])
    beside = lesson and next(Path().glob(f"{lesson}_*.ipynb"), None)
    return f'<a href="{beside}">{found[1]}</a>' if beside else found[1]
