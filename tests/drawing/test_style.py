"""Every role of the palette is legible and visible on its background, in the light and in the
dark theme.
"""

import pytest

from autograd_course.drawing import style

THEMES = pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])


def contrast(one, other):
    """Return the contrast of two colours, given as #rrggbb, by WCAG: from 1 to 21."""

    def light(colour):
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    brighter, darker = sorted((light(one), light(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def test_contrast_is_that_of_the_standard():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


GROUNDS = "ground", "sure", "panel", "height", "depth", "paper"
MARKS = [name for name in style.PALETTE if not name.endswith(GROUNDS)]
WRITTEN = {style.role(name): name for name in style.PALETTE}


@THEMES
@pytest.mark.parametrize("name", MARKS)
def test_marks_and_words_stand_out_from_the_paper(name, theme):
    """The contrast is at least 3 : 1 for marks and 4.5 : 1 for text, which some roles write in
    another colour.
    """
    colour, paper = style.PALETTE[name][theme], style.PALETTE["paper"][theme]
    assert contrast(colour, paper) >= 3
    written = WRITTEN[style.WRITTEN.get(style.role(name), style.role(name))]
    assert contrast(style.PALETTE[written][theme], paper) >= 4.5, f"{name} is written in {written}"


@THEMES
@pytest.mark.parametrize("name", [name for name in style.PALETTE if name not in [*MARKS, "depth"]])
def test_ink_can_be_read_on_every_ground(name, theme):
    assert contrast(style.PALETTE["ink"][theme], style.PALETTE[name][theme]) >= 7
    faint = contrast(style.PALETTE["faint"][theme], style.PALETTE[name][theme])
    assert name.startswith("class") or faint >= 4.5, "of a class nothing faint is written on"


def test_a_sheet_says_every_role_and_the_theme():
    for theme in (0, 1):
        assert all(
            f"--{name}:{colours[theme]};" in style.sheet(theme)
            for name, colours in style.PALETTE.items()
        )
        assert style.sheet(theme).startswith(":root{") and f"--dark:{theme}" in style.sheet(theme)
    assert style.sheet(1, "body[data-jp-theme-light=false],body.vscode-dark") in style.SHEET
