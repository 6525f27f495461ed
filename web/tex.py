"""Convert formulas from TeX to MathML, which browsers display, in the build and on live pages."""

import html
import re
from functools import cache

from latex2mathml.converter import convert


@cache
def inline(tex, display="inline"):
    # What the converter does not know: `aligned`, which is `align*` within a formula, an escaped underscore in words,
    # and that limits are written below where there is room.
    tex = re.sub(r"(begin|end){aligned}", r"\1{align*}", tex).replace(r"\_", "_")
    if display == "block":
        tex = re.sub(r"\\(lim|sum|max|min)(?=_)", r"\g<0>\\limits", tex)
    made = convert(tex, display=display)
    made = made.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")  # said by HTML itself
    # Chromium draws no menclose, other browsers draw a frame of their own: site.css draws this one in all of them.
    made = re.sub(
        r'<menclose notation="box">(.*?)</menclose>',
        r'<mrow class="boxed">\1</mrow>',
        made,
        flags=re.DOTALL,
    )
    # TeX's spacing, of which the converter says nothing: a sign after an operator is a number's own, | a bracket,
    # and ∂ a letter.
    made = re.sub(
        r"(?<=</mo>)(?<!(?:29|5D|7C|7D);</mo>)<mo>(?=&#x02212;)", '<mo form="prefix">', made
    )
    made = re.sub(
        r"(<mrow><mo[^>]*>&#x0007C;</mo>)<mo>(?=&#x02212;)", r'\1<mo form="prefix">', made
    )
    made = re.sub(
        r"<mo( stretchy=\"false\")?>(?=&#x(?:0007C|02202);)", r'<mo\1 lspace="0" rspace="0">', made
    )
    made = re.sub(r"<mo>(?=lim|max|min)", '<mo lspace="0" rspace="0.17em">', made)
    before, after, based = (
        r"(?<=</m[in]>)(?=<mi>[a-z]{2})",
        # Not the base of an index: two children are all that msub may have.
        r"(?<!<msub>)(?<!<msup>)(<mi>[a-z]{2,}</mi>)(?=<m(?:i|n|sup|sub|frac)>)",
        r"(<msub><mi>[a-z]{2,}</mi><m[in]>[^<]*</m[in]></msub>)(?=<m[in]>)",
    )
    made = re.sub(f"{before}|{after}", r'\1<mspace width="0.17em"/>', made)  # a log x, not alogx
    return re.sub(based, r'\1<mspace width="0.17em"/>', made)


def block(tex):
    return f'<div class="formula">{inline(tex, "block")}</div>'


def formulas(text):
    r"""Return the HTML `text` with every formula converted to MathML.

    A formula is enclosed in \( and \), or in \[ and \], or in $$ and $$.
    """
    return re.sub(r"\\\((.+?)\\\)|\\\[(.+?)\\\]|\$\$(.+?)\$\$", formula, text, flags=re.DOTALL)


def formula(found):
    tex = html.unescape(found[1] or found[2] or found[3])
    return inline(tex) if found[1] else block(tex)
