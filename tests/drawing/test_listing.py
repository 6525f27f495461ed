"""A listing shows the source itself, with its explanations and links."""

import re
from html import unescape

from autograd_course.drawing.listing import listing

SOURCE = '''def f(x):
    """Twice, [18],
    if < 3."""
    return x < "if" and 2 * x      # if [05]
'''


def test_a_listing_is_the_source(tmp_path, monkeypatch):
    (tmp_path / "18_attend.ipynb").touch()
    monkeypatch.chdir(tmp_path)
    shown = listing(SOURCE)
    assert shown.text == SOURCE == unescape(re.sub("<[^>]+>", "", shown.html))
    bold = re.findall('font-weight:700">(.*?)<', shown.html)
    assert bold == ["def", "return", "and"], "none in a string, nor in a comment"
    assert (
        re.findall('<a href="(.*?)">', shown.html) == ["18_attend.ipynb"]
        and "# if [05]</span>" in shown.html
    )
    (tmp_path / "04_derive_the_functions.ipynb").touch()
    program = listing(
        "t = h * h  # tanh: ∂z/∂x = 1 − tanh²x\nu = 1 - t  # tanh\nv = u + u  # nothing: tanh\n"
    ).html
    assert program.count('<a href="04_derive_the_functions.ipynb">tanh</a>') == 2
