"""Helpers that read the contents of a drawing."""

import re
import xml.etree.ElementTree as ET
from functools import cache
from itertools import combinations
from pathlib import Path

import matplotlib
from PIL import ImageFont

from autograd_course.drawing import style
from autograd_course.drawing.picture import PHONE

SVG = "{http://www.w3.org/2000/svg}"


def svg_of(picture):
    """Parse the only SVG of a picture; a syntax error, such as a bare <, raises an error."""
    root = ET.fromstring(re.search(r"<svg.*?</svg>(?=</div>)", picture.html, re.DOTALL).group())
    title = root.find(f"{SVG}g/{SVG}title")  # screen readers read only the label
    assert (
        root.get("role") == "img"
        and title.text
        and root.get("aria-label").split() == picture.text.split()
    )
    return root


def across(picture):
    """Return the HTML that a wide window shows."""
    return picture.html.partition('<div class="down"')[0]


def words_in(picture):
    """Return the words in an SVG."""
    return ["".join(text.itertext()) for text in svg_of(picture).iter(f"{SVG}text")]


# --- Whether its words can be read ------------------------------------------------------------------------------------

SIZES = 13, 14, 16, 20  # font sizes in px
DRAWING = r'(class="part"(?:(?!<svg).)*)?(<svg [^>]*role="img".*?</svg>)(?=</div>)((?:</div>)*<div class="down")?'
TOUCH = (
    2,
    3,
)  # px by which boxes of words may overlap, horizontally and vertically: a box is slightly larger than its letters


def hard_to_read(html):
    """Return complaints about words in the drawings that overlap, leave their picture, or are too
    small.

    A wide drawing is checked twice, because on a phone everything except the letters is narrower.
    """
    faults = set()
    for part, found, down in re.findall(DRAWING, html, re.DOTALL):
        root = ET.fromstring(found)
        x, y, width, height = map(float, root.get("viewBox").split())
        # On a phone, a drawing in parts shows the parts that fit, and a drawing with a vertical
        # form shows that form.
        wide = 1 if part or down else max(1, width / PHONE)
        tall = float(re.search(r"--tall:([\d.]+)", found)[1])
        for where, words in [("", list(_words(root)))] + [
            (" (phone)", list(_words(root, wide, tall)))
        ] * (wide > 1):
            for text, size, (left, right, top, bottom) in words:
                if (
                    left < x - TOUCH[0]
                    or right > x + width + TOUCH[0]
                    or top < y - TOUCH[1]
                    or bottom > y + height + TOUCH[1]
                ):
                    faults.add(f"outside{where}: {text}")
                if size not in SIZES:
                    faults.add(f"{size:g} px: {text}")
            if where:  # a word at an axis that is too wide for the margin
                aside = re.findall(r'text-anchor="end"[^>]*--by:(\d+)px[^>]*>([^<]*)', found)
                faults |= {f"over its axis{where}: {text}" for by, text in aside if int(by) > 5}
            for (one, _, a), (other, _, b) in combinations(words, 2):
                if (
                    min(a[1], b[1]) - max(a[0], b[0]) > TOUCH[0]
                    and min(a[3], b[3]) - max(a[2], b[2]) > TOUCH[1]
                ):
                    faults.add(f"overlap{where}: {one} | {other}")
    return faults


def colours_with_two_meanings(drawings):
    """Return the roles in one lesson's drawings that look the same in one of the themes, and the
    colours without a role.
    """
    roles, faults = set(), set()
    for html in drawings:
        roles |= set(re.findall(r"var\(--([\w-]+),#", html)) & style.PALETTE.keys()
        seen = re.sub(r"var\(--[\w-]+,#\w+\)|&#\w+;|(href|aria-label)=\"[^\"]*\"|>[^<]*<", "", html)
        faults |= {
            f"no role: {colour}"
            for colour in re.findall(r"#[0-9a-fA-F]{6}\b|#[0-9a-fA-F]{3}\b", seen)
        }
    named = [(name, re.sub("-(words|ground|sure)$", "", name)) for name in roles]
    return faults | {
        f"{one} looks like {other}"
        for (one, a), (other, b) in combinations(sorted(named), 2)
        if a != b and any(map(str.__eq__, style.PALETTE[one], style.PALETTE[other]))
    }


def _words(element, wide=1, tall=1, inherited=("start", "16", "400")):
    """Return (text, size, box (left, right, top, bottom)) of each text that is not rotated.

    If the picture is narrowed but its letters are not, the boxes are widened accordingly.
    """
    for one in element:
        looks = tuple(
            one.get(name, own)
            for name, own in zip(("text-anchor", "font-size", "font-weight"), inherited)
        )
        if one.tag != f"{SVG}text":
            yield from _words(one, wide, tall, looks)
        elif not one.get("transform"):
            text, (anchor, size, weight) = "".join(one.itertext()), looks
            size = float(size)
            long = wide * (
                float(one.get("textLength", 0)) or size * _wide(text, weight in ("600", "bold"))
            )
            left = float(one.get("x")) - {"start": 0, "middle": long / 2, "end": long}[anchor]
            if wide > 1:
                left += float(one.get("style", "").removeprefix("--by:").removesuffix("px") or 0)
            middle = float(one.get("y")) - 0.27 * size
            yield (
                text,
                size,
                (left, left + long, middle - 0.46 * size * tall, middle + 0.47 * size * tall),
            )


@cache
def _wide(text, bold):
    """Return the width of a text in a font wider than most, as a multiple of its size."""
    return _font(bold).getlength(text) / 100


@cache
def _font(bold):
    return ImageFont.truetype(
        str(Path(matplotlib.get_data_path(), f"fonts/ttf/DejaVuSans{'-Bold' * bold}.ttf")), 100
    )
