"""Draw the PNG, 1200 × 630 px, that chats and social networks show with a link to a page."""

import io
import textwrap

from matplotlib import image
from matplotlib.figure import Figure
from PIL import Image

from autograd_course.drawing.style import PALETTE

WIDTH, HEIGHT, MARGIN = 1200, 630, 80  # px
COLOURS = 16  # a quarter of the bytes that full colour takes; text looks the same


def share_picture(named, description, course, icon):
    """Return the PNG for a link to one page.

    Parameters
    ----------
    named : str
        Title of the page, preceded by its number if it is a lesson.
    description : str
        First sentences of the page, cut to the space available.
    course : str
        Title of the course, shown at the bottom of the picture.
    icon : path-like
        PNG of the course's icon.

    Returns
    -------
    bytes
        The content of the PNG file.
    """
    ink, faint, paper, value = (PALETTE[name][0] for name in ("ink", "faint", "paper", "value"))
    figure = Figure(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100, facecolor=paper)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.axis("off")
    axes.axvspan(0, 24, color=value, lw=0)

    def write(y, lines, size, **kind):
        axes.text(MARGIN, y, "\n".join(lines), size=size, va="top", parse_math=False, **kind)

    lines = textwrap.wrap(named, 26)[:3]
    write(MARGIN, lines, 46, weight="bold", color=ink, linespacing=1.15)
    below = MARGIN + 76 * len(lines) + 30
    room = (HEIGHT - 170 - below) // 46  # lines
    words = textwrap.shorten(description, 54 * room, placeholder=" …")
    write(below, textwrap.wrap(words, 56)[:room], 25, color=faint, linespacing=1.25)
    axes.imshow(image.imread(icon), extent=(MARGIN, MARGIN + 64, HEIGHT - 60, HEIGHT - 124))
    axes.text(MARGIN + 84, HEIGHT - 92, course, size=23, va="center", color=ink)
    axes.set(xlim=(0, WIDTH), ylim=(HEIGHT, 0))  # imshow has changed them
    drawn, png = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png")
    Image.open(drawn).convert("RGB").quantize(COLOURS).save(png, "png", optimize=True)
    return png.getvalue()
