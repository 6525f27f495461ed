"""Define the course's colours, named by their meaning, each for a light and a dark theme.

Colour is never the only difference: each meaning has its own line style or marker too. A drawing
uses colours in the form `var(--value,#0072b2)`. This is the light colour unless a style sheet
redefines it, and the function `sheet` returns such a style sheet for the dark theme.
"""

PALETTE = {  # role: (on white, on a dark ground)
    "ink": ("#222222", "#e4e6e8"),
    "faint": ("#5f6368", "#a9b0b7"),  # words of less weight
    "line": ("#878d94", "#737b84"),  # axes, cards, and anything that comes later
    "paper": ("#ffffff", "#16181b"),
    "value": ("#0072b2", "#56aee6"),  # forward: solid lines
    "gradient": ("#d55e00", "#f58a3c"),  # backward: dashed lines
    "tangent": ("#009e73", "#2fc496"),  # dotted
    "difference": ("#000000", "#ffffff"),  # hollow circles
    "change": (
        "#8f3f97",
        "#d996e0",
    ),  # how far something moved: the prediction of a gradient is compared with it
    "class-0": ("#6a51a3", "#b6a2ee"),  # a circle
    "class-1": ("#8a6500", "#e0b54a"),  # a square
    "above": ("#0b7285", "#4fc3d6"),  # a weight above 0: +
    "below": ("#a61e4d", "#f783ac"),  # a weight below 0: −
    "other": ("#a61e4d", "#f783ac"),  # the other side of a comparison: another engine or method
    "path-2": ("#6a51a3", "#b6a2ee"),  # paths of optimizers; the first path is drawn in ink
    "path-3": ("#8a6500", "#e0b54a"),
    "path-4": ("#0b7285", "#4fc3d6"),
    "path-5": ("#4f7302", "#a9cf54"),
    # Background colours for text in ink.
    "value-ground": ("#cfe5f2", "#123a54"),
    "gradient-ground": ("#fadfcb", "#52301a"),
    "tangent-ground": ("#ccebe1", "#12443a"),
    "class-0-ground": ("#ece7f4", "#2a2440"),
    "class-0-sure": ("#d3c6ea", "#41366b"),
    "class-1-ground": ("#faf1da", "#39301a"),
    "class-1-sure": ("#efd795", "#5a4718"),
    "leaf-ground": ("#fef3d0", "#423a1d"),  # the head of a card: an input
    "ground": (
        "#e8eaed",
        "#2d3237",
    ),  # the header of a result; anything out of bounds, forgotten or safe
    "height": ("#fdfdfd", "#3b4148"),
    "depth": ("#202020", "#000000"),  # a landscape: darker where it is lower
    "panel": ("#f5f6f8", "#202428"),
    # The same roles in letters, dark enough to be read small.
    "gradient-words": ("#b84e00", "#f58a3c"),
    "tangent-words": ("#007a58", "#2fc496"),
}


def role(name):
    """Return the colour with this name in PALETTE, in a form that CSS and SVG accept."""
    return f"var(--{name},{PALETTE[name][0]})"


(
    INK,
    FAINT,
    LINE,
    PAPER,
    VALUE,
    GRADIENT,
    TANGENT,
    DIFFERENCE,
    CHANGE,
    ABOVE,
    BELOW,
    OTHER,
    GROUND,
    PANEL,
) = map(
    role,
    "ink faint line paper value gradient tangent difference change above below other ground panel".split(),
)
VALUE_GROUND, GRADIENT_GROUND, TANGENT_GROUND, LEAF_GROUND = map(
    role, "value-ground gradient-ground tangent-ground leaf-ground".split()
)
WRITTEN = {GRADIENT: role("gradient-words"), TANGENT: role("tangent-words"), LINE: FAINT}


def sheet(theme, selector=":root"):
    """Return CSS that defines all colours of PALETTE for one theme, 0 (light) or 1 (dark).

    The colours apply to the elements that `selector` selects. The CSS also defines --dark, which
    inverts images in the dark theme.
    """
    roles = "".join(f"--{name}:{colours[theme]};" for name, colours in PALETTE.items())
    return f"{selector}{{{roles}--dark:{theme}}}"


# Which of two drawings is seen; and what is wide becomes narrow, all but its letters, dots and strokes. Of what is too large for any
# window only a part is seen, as it is.
FITTING = (
    "@media screen and (max-width:720px){.across{display:none}.down{display:block!important}}"
    "@media(max-width:480px){"
    ".drawn{--pad:0px;padding-inline:0!important}.wide:not(.part *){min-width:0!important}"
    ".wide:not(.part *)>svg{width:369.3px;max-width:none!important;height:calc(.9231px*var(--high)/var(--tall))!important}"
    ".wide:not(.part *) :is(text,circle,.dot){"
    "transform:translateX(var(--by,0px)) scale(var(--wide),var(--tall));"
    "transform-box:fill-box;transform-origin:left}"
    ".wide :is([text-anchor=middle],[text-anchor=middle] text,circle,.dot){transform-origin:center!important}"
    ".wide :is([text-anchor=end],[text-anchor=end] text){transform-origin:right!important}"
    ".wide :is(path,rect,circle,line,polyline){vector-effect:non-scaling-stroke}.whole{margin-left:0!important}}"
)
# In JupyterLab, whose lines of text are as long as its window is wide, in whose narrow window choices overlap, and in whose dark
# theme comments are dim (these are as in its theme of high contrast), the arrow of a choice is black and scroll bars are white.
READING = (
    ".widget-radio-box-horizontal{flex-wrap:wrap}.widget-radio-box-horizontal label{white-space:nowrap}"
    ".widget-radio-box label{height:auto;min-height:20px}"
    ".jp-RenderedMarkdown :is(p,ul,ol,blockquote){max-width:42em}"
    ".jp-RenderedMarkdown details:not([open]){display:inline-block;margin-right:1.4em}"
    "body[data-jp-theme-light=false]{--jp-mirror-editor-comment-color:#56acac;"
    "scrollbar-color:#8b9198 transparent}"
    "body[data-jp-theme-light=false] .widget-dropdown>select"
    "{appearance:auto;background-image:none;padding-right:2px}"
)
# The style sheet in a notebook: dark forms for the dark themes of JupyterLab, which sets no media query, and of VS Code.
SHEET = f"<style>{sheet(1, 'body[data-jp-theme-light=false],body.vscode-dark')}{FITTING}{READING}</style>"
# For an image that is black where there is ink, and transparent elsewhere.
SCAN = "image-rendering:pixelated;filter:invert(var(--dark,0))"

FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
MONO = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
CARD = (
    f"background:{PAPER};color:{INK};display:inline-block;max-width:100%;box-sizing:border-box;"
    "padding:8px;border-radius:6px;overflow-x:auto"
)

# Text in a <pre>: wrapped between words, where JupyterLab would break a number in two.
LINES = "white-space:pre-wrap;word-break:normal;overflow-wrap:break-word;line-height:1.35;margin:0"

# matplotlib has no CSS variables: it draws in the light colours, and `Picture.of` replaces them by the variables.
_INK, _FAINT, _LINE, _PAPER = (PALETTE[name][0] for name in ("ink", "faint", "line", "paper"))
value = {"color": PALETTE["value"][0], "linestyle": "-", "linewidth": 2}
gradient = {"color": PALETTE["gradient"][0], "linestyle": "--", "linewidth": 2}
tangent = {"color": PALETTE["tangent"][0], "linestyle": ":", "linewidth": 2.5}
difference = {
    "color": PALETTE["difference"][0],
    "linestyle": "none",
    "marker": "o",
    "markerfacecolor": "none",
    "markersize": 6,
}
RC = {
    "figure.figsize": (6.4, 3.4),
    "figure.facecolor": _PAPER,
    "figure.constrained_layout.use": True,
    "font.size": 11,
    "axes.facecolor": _PAPER,
    "axes.edgecolor": _LINE,
    "axes.labelcolor": _INK,
    "axes.titlecolor": _INK,
    "axes.titlesize": 12,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": _INK,
    "xtick.color": _FAINT,
    "ytick.color": _FAINT,
    "lines.linewidth": 2,
    "legend.frameon": False,
    "image.cmap": "Blues",
    "svg.fonttype": "path",  # the same letters on every machine
}
