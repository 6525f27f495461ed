"""Build HTML tables, and code next to text, in the colours of JupyterLab's theme."""

from html import escape

FAINT = "opacity:.75"
CODE = "font-family:var(--mono,monospace);font-size:var(--code,1em);white-space:pre-wrap;overflow-wrap:anywhere"
LINE = "border-top:1px solid rgba(128,128,128,.35);"
BARE = "background:none;border:none;"  # JupyterLab stripes tables


def table(rows, head=(), ruled=False, wide=False, style="", cell=""):
    """Return a table as HTML.

    Parameters
    ----------
    rows : iterable of sequences
        The cells of each row. A cell is HTML, or a pair (HTML, CSS). The first cell of a row is its
        heading.
    head : sequence
        The cells of the header row; () for no header.
    ruled : bool
        True if there is a line above each row.
    wide : bool
        True if the table is as wide as the page, and its second column fills the remaining width.
        On a phone, the site then stacks the cells of a row.
    style, cell : str
        The CSS of the table, and of every cell.
    """
    cell = f"{BARE}padding:2px 18px 2px 0;text-align:left;vertical-align:top;max-width:none;font-weight:normal;{cell}"

    def tagged(tag, one, line=""):
        html, own = one if isinstance(one, tuple) else (one, "")
        return f'<{tag} style="{cell}{line}{own}">{html}</{tag[:2]}>'

    lines = ["".join(tagged('th scope="col"', one) for one in head)] if head else []
    for first, *others in rows:
        line = LINE if ruled else ""
        lines.append(
            tagged('th scope="row"', first, line)
            + "".join(
                tagged("td", one, line + ("width:100%;min-width:14em;" if wide and not i else ""))
                for i, one in enumerate(others)
            )
        )
    kind, style = ('class="wide" ', "width:100%;" + style) if wide else ("", style)
    body = "".join(f'<tr style="{BARE}">{line}</tr>' for line in lines)
    return (
        f'<table {kind}style="border:none;border-collapse:collapse;table-layout:auto;margin:2px 0;font-size:inherit;{style}">'
        f"<tbody>{body}</tbody></table>"
    )


def side_by_side(parts):
    """Return blocks of code as HTML, side by side if there is room and otherwise stacked.

    `parts` is a list of (label, code, text), where the text, if not "", is shown below the code.
    """
    blocks = [
        f'<div style="flex:1 1 24em;min-width:0"><div style="{FAINT}">{label}</div><div style="{CODE}">{escape(code)}</div>'
        f'{f"""<div style="{FAINT}">{escape(words)}</div>""" if words else ""}</div>'
        for label, code, words in parts
    ]
    return f'<div style="display:flex;flex-wrap:wrap;gap:2px 18px">{"".join(blocks)}</div>'
