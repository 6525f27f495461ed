"""The course's colours and roles, once. Colour is never the only carrier: each role has its own line or marker too."""

VALUE = "#0072B2"        # a value, forwards: solid
GRADIENT = "#D55E00"     # a gradient, backwards: dashed
TANGENT = "#009E73"      # a tangent: dotted
DIFFERENCE = "#000000"   # a finite difference: hollow circles
WANTED, UNWANTED = "#6A51A3", "#8A6500"     # a weight that wants ink, with +, and one that wants none, with −
INK, FAINT, LINE, PAPER = "#222222", "#5f6368", "#9aa0a6", "#ffffff"

# The same in letters, dark enough to be read small: at least 4.5 : 1 on paper.
WRITTEN = {GRADIENT: "#B84E00", TANGENT: "#007A58", LINE: FAINT}

# Keyword arguments for matplotlib, one set a role: ax.plot(x, y, **style.gradient)
value = {"color": VALUE, "linestyle": "-", "linewidth": 2}
gradient = {"color": GRADIENT, "linestyle": "--", "linewidth": 2}
tangent = {"color": TANGENT, "linestyle": ":", "linewidth": 2.5}
difference = {"color": DIFFERENCE, "linestyle": "none", "marker": "o", "markerfacecolor": "none", "markersize": 6}

FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"

# Pictures are paper: opaque white with dark ink, the same in JupyterLab's light and dark themes.
CARD = (f"background:{PAPER};color:{INK};display:inline-block;max-width:100%;box-sizing:border-box;"
        "padding:8px;border-radius:6px;overflow-x:auto")

# Text in a <pre>: wrapped between words, where JupyterLab would break a number in two.
LINES = "white-space:pre-wrap;word-break:normal;overflow-wrap:break-word;line-height:1.35;margin:0"

RC = {
    "figure.figsize": (6.4, 3.4), "figure.facecolor": PAPER, "figure.constrained_layout.use": True, "font.size": 11,
    "axes.facecolor": PAPER, "axes.edgecolor": LINE, "axes.labelcolor": INK, "axes.titlesize": 12,
    "axes.titlelocation": "left",
    "axes.spines.top": False, "axes.spines.right": False, "text.color": INK, "xtick.color": FAINT, "ytick.color": FAINT,
    "lines.linewidth": 2, "legend.frameon": False, "image.cmap": "Blues",
    "svg.fonttype": "path",      # the same letters on every machine
}
