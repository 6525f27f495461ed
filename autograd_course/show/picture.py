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
        """The picture of a matplotlib figure, as SVG. Closes the figure."""
        import matplotlib.pyplot as plt
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
        plt.close(figure)
        view_box, body = re.search(r'<svg.*?viewBox="([^"]*)".*?>(.*)</svg>', file.getvalue(), re.DOTALL).groups()
        return cls(svg(view_box, body, text, unit="pt"), text)

    def _repr_html_(self):
        return self.html

    def __repr__(self):
        return self.text


def least(width):
    """How small a picture so many px wide may be shown, as a part of its natural size, in CSS; a page may ask for more by `--least`.

    At 0.62 what is 720 px wide just fits JupyterLab in a window of 900. What is wider scrolls there anyway; its
    letters of 12 px stay 10.
    """
    return f"var(--least,{.62 if width <= 720 else .84})"


def svg(view_box, body, text, unit="px"):
    """An accessible SVG on a paper card: `text` whole for a screen reader, its first line on hover.

    It has its natural size; in a narrower window it is smaller as long as it can be read, and then scrolls.
    The title is the drawing's: were it the image's own, a screen reader would say it again.
    """
    width = view_box.split()[2]
    return (f'<div style="{style.CARD};min-width:calc({least(float(width))}*{float(width):g}{unit})">'
            f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
            f'viewBox="{view_box}" width="{width}{unit}" role="img" aria-label="{escape(text)}" '
            f'style="display:block;max-width:100%;height:auto;background:{style.PAPER}">'
            f"<g><title>{escape(text.partition(chr(10))[0])}</title>{body}</g></svg></div>")


def beside(*drawings):
    """HTML of drawings by `svg` next to each other; where the window is too narrow for that, one below the other."""
    return f'<div style="{style.CARD};display:flex;flex-wrap:wrap;padding:0">{"".join(drawings)}</div>'


def figure(**options):
    """`plt.subplots(**options)` in the course's style: (figure, axes)."""
    import matplotlib.pyplot as plt
    with plt.rc_context(style.RC):
        return plt.subplots(**options)
