"""What a drawing shows, for every test that reads one."""
import re
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"


def svg_of(picture):
    """The one SVG of a picture, parsed: an error in its text, such as a bare <, would be an error here."""
    root = ET.fromstring(re.search(r"<svg.*</svg>", picture.html, re.DOTALL).group())
    title = root.find(f"{SVG}title")
    assert root.get("role") == "img" and title.text and root.get("aria-label").split() == picture.text.split()
    return root


def written(picture):
    """The words in it."""
    return ["".join(text.itertext()) for text in svg_of(picture).iter(f"{SVG}text")]
