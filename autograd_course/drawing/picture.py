"""Define Picture, a drawing together with its description in words."""

import io
import re
from html import escape

from . import style


class Picture:
    """Hold a drawing in two forms, one for Jupyter and one for terminals and screen readers.

    Parameters
    ----------
    html : str
        The drawing as HTML, usually the result of `svg`.
    text : str
        A description of the drawing in words and numbers.
    says_all : bool
        True if the drawing itself shows every number of the text. Then `explore` hides the text in
        a fold.
    """

    def __init__(self, html, text, says_all=False):
        self.html, self.text, self.says_all = html, text, says_all

    @classmethod
    def of(cls, figure, text):
        """Convert a matplotlib figure, described by `text`, to a Picture, and close the figure."""
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
    """Return HTML that shows an SVG, with a description for screen readers, on a card.

    The SVG has its natural size. In a narrower window it shrinks slightly, and then scrolls. On a
    phone, the drawing is compressed to the width of the window, but letters and dots keep their
    shape. Screen readers read the whole description, and its first line appears when the pointer is
    over the drawing.

    Parameters
    ----------
    view_box : str
        The viewBox of the SVG: left, top, width and height, separated by spaces.
    body : str
        The content of the SVG.
    text : str
        The description of the drawing.
    unit : str
        The unit of the width, "px" or "pt".
    even : bool
        True if the height is compressed as much as the width, for round shapes and images.
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
    """Return the SVG of a line of text, shifted if it would not fit inside the picture on a phone.

    `found` is a match of WORDS, `left` is the left edge of the picture, and `wide` is the factor by
    which a phone compresses its width.
    """
    looks, x, anchor, size, length, words = found.groups()
    said = re.sub("<.*?>|&.*?;", "_", words)
    long = wide * float(
        length or float(size) * (0.66 * len(said) - 0.24 * len(re.findall(r"[ ,.()\[\]]", said)))
    )
    start = float(x) - left - long * ["start", "middle", "end"].index(anchor) / 2
    by = max(min(start, wide * (PHONE - 2) - long), 2 * wide) - start
    return f'{looks} style="--by:{by:.0f}px">{words}</text>' if by else found[0]


def beside(*drawings):
    """Return the HTML that puts several results of `svg` side by side.

    If the window is too narrow, the drawings are stacked.
    """
    return (
        f'<div style="{style.CARD};display:flex;flex-wrap:wrap;padding:0">{"".join(drawings)}</div>'
    )


def begins_at(x, wide):
    """Return CSS that moves the point x of wide content to the middle of a narrower frame.

    `x` and `wide`, the width of the content, are CSS lengths.
    """
    return f"margin-left:clamp(min(0px,100% - {wide}),50% - {x},0px)"


def fitting(drawn, placed):
    """Return the HTML of a drawing in a wide layout and, if there is one, a narrow layout.

    `placed` is the wide layout, and `placed.down` is the layout for windows below 720 px, or None.
    The function `drawn` takes a layout and returns its HTML.
    """
    if not placed.down:
        return drawn(placed)
    return (
        f'<div class="across">{drawn(placed)}</div>'
        f'<div class="down" style="display:none">{drawn(placed.down)}</div>'
    )


def figure(**options):
    """Return a matplotlib figure and its axes in the course's style.

    The options are those of `plt.subplots`.
    """
    import matplotlib.pyplot as plt

    with plt.rc_context(style.RC):
        return plt.subplots(**options)
