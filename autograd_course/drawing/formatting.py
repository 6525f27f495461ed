"""Format the content of pictures: numbers as strings, and text, cells and images as SVG."""

import struct
import zlib
from base64 import b64encode
from functools import lru_cache

import numpy as np

from . import style

# How a cell looks: its stroke, the stroke's width and dash, its fill, and the colour of what is written in it.
LOOKS = {
    "plain": (style.LINE, 1, "none", style.PAPER, style.INK),
    "pale": (style.LINE, 1, "none", style.PAPER, style.FAINT),
    "value": (style.VALUE, 2, "none", style.VALUE_GROUND, style.INK),
    "gradient": (style.GRADIENT, 2, "5 3", style.GRADIENT_GROUND, style.INK),
    "tangent": (style.TANGENT, 2, "1.5 2.5", style.TANGENT_GROUND, style.INK),
    "picked": (style.INK, 3.2, "none", style.PAPER, style.INK),
    "ghost": (style.LINE, 1.4, "2 3", "none", style.FAINT),  # a copy
    "rim": (style.LINE, 1, "3 3", style.PANEL, style.FAINT),  # padding
}


def number(x, digits=4):
    """Format a number as text with `digits` significant digits.

    Below 1e6, all digits before the decimal point are shown. The minus sign is a true minus sign,
    and -0 is written as 0.
    """
    said = f"{x:,.0f}" if 10**digits - 0.5 <= abs(x) < 1e6 else f"{x:,.{digits}g}"
    return minus(said).replace("e−0", "e−").replace("e+0", "e").replace("e+", "e") if x else "0"


def percent(share, digits=1):
    """Format a share from 0 to 1 as a percentage with `digits` decimals, such as 97.8 %."""
    return f"{100 * share:.{digits}f}\N{NO-BREAK SPACE}%"


def counted(n, what):
    """Format a count with its noun `what`, in the plural unless n is 1, as in 1,000 passes."""
    return f"{n:,} {what}" + ("" if n == 1 else "es" if what.endswith("s") else "s")


def minus(text):
    """Replace every hyphen in a string by a true minus sign."""
    return text.replace("-", "−")


def words(x, y, text, colour=style.INK, anchor="middle", size=14, halo=False, most=None):
    """Return a line of text as SVG, at (x, y) in px.

    Parameters
    ----------
    x, y : float
        The anchor of the text: its start, middle or end, according to `anchor`, on the baseline.
    text : str
        The text, as SVG markup.
    colour : str
        A colour of style.py. Colours too pale for text are replaced by a darker shade.
    anchor : str
        "start", "middle" or "end".
    size : float
        The font size in px.
    halo : bool
        True for a border in the paper's colour, which keeps other lines away from the text.
    most : float, optional
        The maximum width in px. A longer text is compressed.
    """
    halo = (
        f'stroke="{style.PAPER}" stroke-width="6" stroke-linejoin="round" paint-order="stroke" '
        if halo
        else ""
    )
    colour = style.WRITTEN.get(colour, colour)
    too_wide = most and 0.58 * size * len(text) > most
    squeezed = f'textLength="{most:g}" lengthAdjust="spacingAndGlyphs" ' if too_wide else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}" font-size="{size:g}" '
        f'{halo}{squeezed}font-family="{style.FONT}">{text}</text>'
    )


def cell(x, y, wide, high, text="", look="plain", framed=False):
    """Return a box as SVG, with its upper left corner at (x, y), in px, and `text` in its middle.

    `wide` and `high` are the size of the box in px, and `look` is a key of LOOKS. `framed` adds a
    thick frame inside the box.
    """
    stroke, width, dash, fill, ink = LOOKS[look]
    box = (
        f'<rect x="{x + 2:.1f}" y="{y + 2:.1f}" width="{wide - 4:g}" height="{high - 4:g}" rx="2" fill="{fill}" stroke="{stroke}" '
        f'stroke-width="{width}" stroke-dasharray="{dash}"/>'
    )
    frame = (
        (
            f'<rect x="{x + 3:.1f}" y="{y + 3:.1f}" width="{wide - 6:g}" height="{high - 6:g}" fill="none" stroke="{style.INK}" '
            'stroke-width="3"/>'
        )
        if framed
        else ""
    )
    return (
        box
        + frame
        + (
            words(x + wide / 2, y + high / 2 + 4.5, text, ink, size=13, most=wide - 8)
            if text
            else ""
        )
    )


def scan(image, x, y, side):
    """Return a grey-scale image as SVG, `side` px wide, with its upper left corner at (x, y).

    `image` is a square array with values from 0 (paper) to 1 (ink). In the dark theme, the ink is
    light.
    """
    png = _png(np.round(255 * np.clip(image, 0, 1)).astype(np.uint8).tobytes(), len(image))
    return (
        f'<image x="{x:g}" y="{y:g}" width="{side}" height="{side}" href="data:image/png;base64,{png}" '
        f'style="{style.SCAN}"/>'
    )


@lru_cache(maxsize=512)
def _png(shades, side):
    """Return a square PNG of black pixels, encoded in base64.

    `side` is the number of pixels per row. Each byte of `shades` is the opacity of one pixel.
    """

    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    rows = b"".join(
        b"\0" + bytes(byte for shade in shades[k : k + side] for byte in (0, shade))
        for k in range(0, len(shades), side)
    )
    return b64encode(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 4, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    ).decode()
