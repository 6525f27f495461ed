"""Picture: a drawing and its description in words."""

import io
import re
from html import escape

from . import style


class Picture:
    """Hold the result of a drawing function: `html` for Jupyter, `text` for terminals and screen readers.

    `html` is an SVG string with role="img" and a <title>, or any HTML; `text` describes the drawing
    in words and numbers. If `says_all` is True, the drawing shows every number of the text, and
    `explore` folds the text.
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
    "var(--least,.9231)"  # the smallest scale of a picture, at which 13 px letters shrink to 12 px
)
PHONE = 400  # px: what is wider has that width on a phone
WORDS = re.compile(
    r'(<text x="(\S+)" [^>]*?text-anchor="(\w+)" font-size="(\d+)"(?: [^>]*?textLength="([\d.]+)")?[^>]*)>(.*?)</text>'
)


def svg(view_box, body, text, unit="px", even=False):
    """Return an accessible SVG on a card in the theme's colours.

    Screen readers read the whole `text`; its first line appears on hover. The SVG has its natural
    size; in a narrower window it shrinks a little and then scrolls. On a phone the drawing is
    compressed to the window's width, but letters and dots keep their shape, and `_kept_within` keeps
    text inside the picture. With `even` the height shrinks as well, for round shapes and scans. The
    title belongs to the drawing: a title of the image would be read out a second time.
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
    """Return a line of text, shifted so that it stays within the picture on a phone."""
    looks, x, anchor, size, length, words = found.groups()
    said = re.sub("<.*?>|&.*?;", "_", words)
    long = wide * float(
        length or float(size) * (0.66 * len(said) - 0.24 * len(re.findall(r"[ ,.()\[\]]", said)))
    )
    start = float(x) - left - long * ["start", "middle", "end"].index(anchor) / 2
    by = max(min(start, wide * (PHONE - 2) - long), 2 * wide) - start
    return f'{looks} style="--by:{by:.0f}px">{words}</text>' if by else found[0]


def beside(*drawings):
    """Return the HTML of drawings by `svg` side by side, or stacked if the window is too narrow."""
    return (
        f'<div style="{style.CARD};display:flex;flex-wrap:wrap;padding:0">{"".join(drawings)}</div>'
    )


def begins_at(x, wide):
    """Return the CSS that centres x when content of width `wide` scrolls in a narrower frame."""
    return f"margin-left:clamp(min(0px,100% - {wide}),50% - {x},0px)"


def fitting(drawn, placed):
    """Return the HTML of `drawn(placed)`; below 720 px, the HTML of `drawn(placed.down)` if it exists."""
    if not placed.down:
        return drawn(placed)
    return (
        f'<div class="across">{drawn(placed)}</div>'
        f'<div class="down" style="display:none">{drawn(placed.down)}</div>'
    )


def figure(**options):
    """Return `plt.subplots(**options)`, a figure and its axes, in the course's style."""
    import matplotlib.pyplot as plt

    with plt.rc_context(style.RC):
        return plt.subplots(**options)
