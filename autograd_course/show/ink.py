"""The ink of every picture: numbers in words, and words and cells of an SVG, as strings."""
from . import style

# How a cell looks: its stroke, the stroke's width and dash, its fill, and the colour of what is written in it.
LOOKS = {
    "plain": (style.LINE, 1, "none", style.PAPER, style.INK),
    "pale": (style.LINE, 1, "none", style.PAPER, style.FAINT),
    "value": (style.VALUE, 2, "none", "#CFE5F2", style.INK),
    "gradient": (style.GRADIENT, 2, "5 3", "#FADFCB", style.INK),
    "tangent": (style.TANGENT, 2, "1.5 2.5", "#CCEBE1", style.INK),
    "picked": (style.INK, 3.2, "none", style.PAPER, style.INK),
    "ghost": (style.LINE, 1.4, "2 3", "none", style.FAINT),        # a copy
    "rim": (style.LINE, 1, "3 3", "#F1F3F4", style.FAINT),         # padding
}


def number(x, digits=4):
    """A number as every picture says it: so many significant digits, up to a million all that stand before the point.

    Its minus is a true one, and none stands in front of zero.
    """
    said = f"{x:.0f}" if 10**digits - 0.5 <= abs(x) < 1e6 else f"{x:.{digits}g}"
    return minus(said).replace("e−0", "e−").replace("e+0", "e").replace("e+", "e") if x else "0"


def minus(text):
    """A text with true minus signs for hyphens."""
    return text.replace("-", "−")


def words(x, y, text, colour=style.INK, anchor="middle", size=14, halo=False):
    """A line of text at (x, y) in px, in the colour of a role. `halo` keeps lines behind the words away from them."""
    halo = f'stroke="{style.PAPER}" stroke-width="6" stroke-linejoin="round" paint-order="stroke" ' if halo else ""
    colour = style.WRITTEN.get(colour, colour)
    return (f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}" font-size="{size:g}" '
            f'{halo}font-family="{style.FONT}">{text}</text>')


def cell(x, y, wide, high, text="", look="plain", size=13, framed=False):
    """A box of that size in px, its upper left corner at (x, y), in one of the LOOKS; `framed` puts a thick frame within."""
    stroke, width, dash, fill, ink = LOOKS[look]
    box = (f'<rect x="{x + 2:.1f}" y="{y + 2:.1f}" width="{wide - 4:g}" height="{high - 4:g}" rx="2" fill="{fill}" stroke="{stroke}" '
           f'stroke-width="{width}" stroke-dasharray="{dash}"/>')
    frame = (f'<rect x="{x + 3:.1f}" y="{y + 3:.1f}" width="{wide - 6:g}" height="{high - 6:g}" fill="none" stroke="{style.INK}" '
             'stroke-width="3"/>') if framed else ""
    return box + frame + (words(x + wide / 2, y + high / 2 + 4.5, text, ink, size=size) if text else "")
