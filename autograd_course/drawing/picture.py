"""Picture: something to look at, and the same in words."""

import io
import re
from html import escape

from . import style


class Picture:
    """What every drawing function returns; Jupyter shows `html`, a terminal and a screen reader get `text`.

    html: an SVG string with role="img" and a <title>, or any HTML. text: the same in words and numbers. says_all: whether
    all numbers of the text can be seen in the drawing too; then `explore` folds the text.
    """

    def __init__(self, html, text, says_all=False):
        self.html, self.text, self.says_all = html, text, says_all

    @classmethod
    def of(cls, figure, text):
        """Return a matplotlib figure as a Picture in SVG, and close the figure."""
        import matplotlib.pyplot as plt

        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
        plt.close(figure)
        view_box, body = re.search(
            r'<svg.*?viewBox="([^"]*)".*?>(.*)</svg>', file.getvalue(), re.DOTALL
        ).groups()
        roles = {colours[0]: style.role(name) for name, colours in reversed(style.PALETTE.items())}
        body = re.sub(r"#[0-9a-f]{6}\b", lambda found: roles.get(found[0], found[0]), body)
        return cls(svg(view_box, body, text, unit="pt"), text)

    def _repr_html_(self):
        return style.SHEET + self.html

    def __repr__(self):
        return self.text


LEAST = (
    "var(--least,.9231)"  # of its size, how small a picture is shown: then letters of 13 px have 12
)
PHONE = 400  # px: what is wider has that width on a phone
WORDS = re.compile(
    r'(<text x="(\S+)" [^>]*?text-anchor="(\w+)" font-size="(\d+)"(?: [^>]*?textLength="([\d.]+)")?[^>]*)>(.*?)</text>'
)


def svg(view_box, body, text, unit="px", even=False):
    """An accessible SVG on a card in the theme's colours: `text` whole for a screen reader, its first line on hover.

    It has its natural size; in a narrower window it is a little smaller, and then scrolls. On a phone only what is drawn becomes
    as narrow as that: letters and dots keep their shape, and `_kept_within` their place in the picture. `even`: it becomes as much
    lower, for what is round or a scan.
    The title is the drawing's: were it the image's own, a screen reader would say it again.
    """
    left, _, width, height = map(float, view_box.split())
    wide, kind = width / PHONE, "drawn"
    if wide > 1 and unit == "px":
        body, kind = WORDS.sub(lambda found: _kept_within(found, left, wide), body), "drawn wide"
    return (
        f'<div class="{kind}" style="{style.CARD};min-width:calc({LEAST}*{width:g}{unit} + var(--pad,16px))">'
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{view_box}" '
        f'preserveAspectRatio="none" width="{width:g}{unit}" role="img" aria-label="{escape(text)}" '
        f'style="--wide:{wide:.3f};--tall:{wide if even else 1:.3f};--high:{height:g};aspect-ratio:{width:g}/{height:g};'
        f'display:block;max-width:100%;height:auto;background:{style.PAPER}">'
        f"<g><title>{escape(text.partition(chr(10))[0])}</title>{body}</g></svg></div>"
    )


def _kept_within(found, left, wide):
    """A line of words, and how far it steps aside on a phone so as not to leave its picture."""
    looks, x, anchor, size, length, words = found.groups()
    said = re.sub("<.*?>|&.*?;", "_", words)
    long = wide * float(
        length or float(size) * (0.66 * len(said) - 0.24 * len(re.findall(r"[ ,.()\[\]]", said)))
    )
    start = float(x) - left - long * ["start", "middle", "end"].index(anchor) / 2
    by = max(min(start, wide * (PHONE - 2) - long), 2 * wide) - start
    return f'{looks} style="--by:{by:.0f}px">{words}</text>' if by else found[0]


def beside(*drawings):
    """Return HTML of drawings by `svg` next to each other; where the window is too narrow for that, one below the other."""
    return (
        f'<div style="{style.CARD};display:flex;flex-wrap:wrap;padding:0">{"".join(drawings)}</div>'
    )


def begins_at(x, wide):
    """CSS of what is `wide` and scrolls in a narrower frame: it begins with x in the middle, as far as that goes."""
    return f"margin-left:clamp(min(0px,100% - {wide}),50% - {x},0px)"


def fitting(drawn, placed):
    """HTML of `drawn(placed)`, and of `drawn(placed.down)` in its place below 720 px, if there is one."""
    if not placed.down:
        return drawn(placed)
    return (
        f'<div class="across">{drawn(placed)}</div>'
        f'<div class="down" style="display:none">{drawn(placed.down)}</div>'
    )


def figure(**options):
    """`plt.subplots(**options)` in the course's style: (figure, axes)."""
    import matplotlib.pyplot as plt

    with plt.rc_context(style.RC):
        return plt.subplots(**options)
