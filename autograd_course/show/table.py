"""Tables of code and words in the page's own colours, so that both of JupyterLab's themes show through."""
from html import escape

# No colour is set, so that both of JupyterLab's themes show through.
FAINT = "opacity:.75"
CODE = "font-family:monospace;white-space:pre-wrap;overflow-wrap:anywhere"


def html_table(head, rows):
    """Rows of HTML cells, the first of each its heading; JupyterLab's stripes, alignment and equal columns are undone."""
    plain, cell = "background:none;border:none", ("padding:3px 18px 3px 0;text-align:left;vertical-align:top;max-width:none;border:none;"
                                                  "border-top:1px solid rgba(128,128,128,.35)")
    head = "".join(f'<th scope="col" style="{cell};border-top:none;font-weight:normal;{FAINT}">{words}</th>' for words in head)
    body = []
    for first, middle, *last in rows:
        last = "".join(f'<td style="{cell};white-space:nowrap">{part}</td>' for part in last)
        body.append(f'<tr style="{plain}"><th scope="row" style="{cell};min-width:8.5em">{first}</th>'
                    f'<td style="{cell};width:100%">{middle}</td>{last}</tr>')
    return (f'<table style="border:none;border-collapse:collapse;table-layout:auto;width:100%;margin:4px 0;font-size:inherit">'
            f'{f"""<thead><tr style="{plain}">{head}</tr></thead>""" if head else ""}<tbody>{"".join(body)}</tbody></table>')


def side_by_side(parts):
    """(label, code, words) side by side where there is room, and else one below the other."""
    blocks = [f'<div style="flex:1 1 15em;min-width:0"><div style="{FAINT}">{label}</div><div style="{CODE}">{escape(code)}</div>'
              f'{f"""<div style="{FAINT}">{escape(words)}</div>""" if words else ""}</div>' for label, code, words in parts]
    return f'<div style="display:flex;flex-wrap:wrap;gap:2px 18px">{"".join(blocks)}</div>'
