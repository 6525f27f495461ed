"""Build the course as a website: `make site` writes it into site/ and needs no network.

Every notebook is executed unchanged, so its exercises are unsolved. A picture with sliders in
JupyterLab has the same sliders on a page. precomputed_frames.py draws the picture for every
position of the sliders; the page shows the first picture, and site.js replaces it when a slider
moves. Without JavaScript the page is still readable. Formulas are MathML, which browsers display
without a library.
"""

import argparse
import hashlib
import html
import json
import os
import re
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import derivation_spec
import icons
import jinja2
import launch_links
import nbformat
import precomputed_frames
import predictions
import pyodide_bundle
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter, TemplateExporter
from nbconvert.filters import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from share_pictures import share_picture
from tex import block, formulas, inline
from tqdm import tqdm

from autograd_course.drawing import style

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
WRITTEN = (
    ".written-by-make-site"  # in the site's folder: the names of the files that are ours to remove
)
LIVE = "application/vnd.jupyter.widget-view+json"
LAB_ONLY = (
    "lab-only"  # the tag of a cell that pages leave out, and the mark of such words in a cell
)
STARTUP = {"PYTHONSTARTUP": str(ROOT / "web/kernel_startup.py")}
PAGE_MOST, SITE_MOST = 1_000_000, 9_000_000  # bytes

# What a browser lets a page do: run the site's own scripts and workers, and nothing that a picture, an output or a link may
# bring. Styles are written in place. Nothing is fetched by a page: its worker does that, under a policy of its own.
POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; manifest-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:{also}; form-action 'none'; base-uri {base}"
)

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{{ page.policy | safe }}">
<title>{{ page.named }}{% if page.named != course %} · {{ course }}{% endif %}</title>
<meta name="description" content="{{ page.description }}">
<meta property="og:type" content="article">
<meta property="og:site_name" content="{{ course }}">
<meta property="og:title" content="{{ page.named }}">
<meta property="og:description" content="{{ page.description }}">
{%- if address and not missing %}
<link rel="canonical" href="{{ address }}{{ page.file }}">
<meta property="og:url" content="{{ address }}{{ page.file }}">
<meta property="og:image" content="{{ address }}{{ page.picture }}">
<meta property="og:image:alt" content="{{ page.named }}. {{ page.description }}">
<meta name="twitter:card" content="summary_large_image">
{%- endif %}
{%- if missing %}
<meta name="robots" content="noindex">
{% if address %}<base href="{{ address }}">{% endif %}
{%- endif %}
<link rel="icon" href="icon.svg" type="image/svg+xml">
<link rel="apple-touch-icon" href="icon.png">
<meta name="theme-color" content="#0072B2">
<link rel="stylesheet" href="site.css">
<style>@page { @top-left { content: {{ page.named | tojson }}; font: 9pt sans-serif; } }</style>
<script src="site.js" defer></script>
{%- if page.derives %}
<script src="derivations.js" defer></script>
{%- endif %}
{%- if page.runs %}
<link rel="stylesheet" href="live.css">
{%- if page.plays %}<script src="playground.js" defer></script>{% endif %}
<script src="live.js" defer></script>
{%- endif %}
</head>
<body{% if page.plays %} class="playing"{% endif %}>
<main id="main">
{%- macro turn(end) %}
<nav class="turn{{ end }}" aria-label="{{ 'Turn' if end else 'Go' }}">
{%- if before %}<a rel="prev" href="{{ before.file }}">← {{ before.named }}</a>{% endif %}
{%- if not end %}<a class="to-contents" href="#contents">Contents</a>{% endif %}
{%- if after %}<a rel="next" href="{{ after.file }}">{{ after.named }} →</a>{% endif -%}
</nav>
{%- endmacro %}
{{ turn("") }}
{{ page.body | safe }}
{%- if places %}
<p class="note">As a notebook: in <a href="{{ places.Colab }}">Colab</a>, on
<a href="{{ places.Binder }}">Binder</a>.</p>
{%- endif %}
{{ turn(" end") }}
<footer class="note">{{ course }} · MIT licence
{%- if source %} · <a href="{{ source }}">source code</a>{% endif %}</footer>
</main>
<div class="aside" id="contents">
{%- if page.sections | length > 1 %}
<nav aria-labelledby="on-this-page"><p id="on-this-page">On this page</p><ul>
{%- for anchor, words in page.sections %}
{%- set short = words in pages | map(attribute="named") %}
<li{% if short %} class="short"{% endif %}><a href="#{{ anchor }}">{{ words[:2] if short else words }}</a></li>
{%- endfor %}
</ul></nav>
{%- endif %}
<nav aria-labelledby="all-pages"><p id="all-pages">All pages</p><ul>
{%- for other in pages %}
{%- if other.group %}<li class="group">{{ other.group }}</li>{% endif %}
<li><a href="{{ other.file }}"{% if other is sameas page %} aria-current="page"{% endif %}>
{{- other.named }}</a></li>
{%- endfor %}
</ul></nav>
</div>
</body>
</html>
"""

# The front page: the README's words, and the course's first graph under the reader's hand.
FRONT = jinja2.Template(
    """<h1 id="{{ title | replace(' ', '-') }}">{{ title }}</h1>
<p>A <strong>gradient</strong> tells you how much a result changes when one of its inputs changes a little. Here you
derive every rule for it by hand, build an engine that applies the rules automatically, and use it to train networks
that recognise digits and generate text.</p>
<p class="facts">Python runs in this page and checks your answers. The course is free, with nothing to install: {{ many }} lessons, about
{{ hours }} hours. Ten of them ({{ enough }}; about {{ enough_hours }} hours) are enough to train a network. You need school
calculus in one variable.</p>
<p class="begin"><a class="start" href="{{ first }}">Start with lesson 00</a> <span class="continue"></span></p>
<p><strong>Try it:</strong> move x from 2 to 3, and watch L. It changes by −4, because the gradient of x (<code>grad</code>
in its box) is −4. The number <code>local</code> on an arrow is the gradient of that one step. Then change the code, for
example to <code>z = x * y</code>, and press Run.</p>
<div id="cell-id=try-stub" class="cell code_cell front">
<div class="input"><figure aria-label="code"><div class="input_area">{{ code | safe }}</div></figure></div>
<div class="output_wrapper">{{ graph | safe }}</div>
</div>
{%- for part, lessons in parts %}
<h2 id="{{ part | replace(' ', '-') }}">{{ part }}</h2>
<ul class="lessons">
{%- for number, name, what in lessons %}
<li data-exercises="{{ exercises[number] }}">{{ icons[number] | safe }}{{ name | safe }}<p>{{ what | safe }}</p></li>
{%- endfor %}
</ul>
{%- endfor %}
{{ rest | safe }}
<h2 id="Installing">Installing</h2>
<p>These pages need no installation. To work in JupyterLab instead, you need Python {{ python }} or newer and the folder of the
course. {% if not source %}Copy that folder from where you got these pages, and open a terminal in it. {% endif -%}
Type:</p>
<pre>
{%- if source %}git clone {{ source }} autograd
cd autograd
{% endif %}python run.py lab      # python3 on macOS and Linux, py on Windows
</pre>
<p>The last line installs the packages into the folder <code>.venv</code> ({{ size }}, once) and opens lesson 00.
{% if source %}<a href="{{ source }}#installing">The README</a>{% else %}<code>README.md</code> in that folder{% endif %}
explains the other ways, such as conda, a container or a hosted machine, and how to update.</p>
""",
    autoescape=True,
)

# A host shows this page for an address that does not exist, at any depth, so it needs a <base>.
MISSING = """<h1 id="Page-not-found">Page not found</h1>
<p>There is no page at this address. Search the course, choose a page from the list of all pages, or start at
<a href="index.html">the first page</a>.</p>
<div id="search-here"></div>
"""

# An interactive picture: the script makes its controls. The words are below, folded if the drawing contains them all.
MOVING = jinja2.Template(
    """<div class="moves" id="moves-{{ number }}" data-controls="{{ spec }}">
<div class="controls"></div>
{%- if not packed.together %}
<p class="note" data-live="Moving one control resets the others. To combine them, press Run.">On this page, moving one control
resets the others. In JupyterLab you can combine them.</p>
{%- endif %}
<div class="view">{{ packed.html | safe }}</div>
{{ below | safe }}
{%- if packed.says_all %}
<details><summary>Text description</summary><pre class="words">{{ packed.text }}</pre></details>
{%- else %}
<pre class="words">{{ packed.text }}</pre>
{%- endif %}
<div class="news" aria-live="polite"></div>
<script type="application/gzip;base85">{{ packed.data | safe }}</script>
</div>""",
    autoescape=True,
)

# A prediction: without script its answer is folded there; the script asks first.
ASKING = jinja2.Template(
    """<div class="ask" id="ask-{{ number }}" data-ask="{{ spec }}">
<div class="boxes"></div>
<div class="verdict" role="status"></div>
{{ answer | safe }}
</div>""",
    autoescape=True,
)

# The empty boxes are for paper; derivations.js puts boxes to type in beside them.
DERIVING = jinja2.Template(
    """<div class="derive" data-derive="{{ spec }}"><div class="paper">{{ paper | safe }}</div></div>""",
    autoescape=True,
)

# These replace what only a running cell can show; the first UNJUDGED of a page says where cells run. On a page that runs
# cells itself, live.js replaces a note by its attribute data-live.
UNJUDGED = """<p class="note room">{}Work it out on paper first, then open the hints below.</p>"""
ELSEWHERE = """<strong>In JupyterLab</strong>, replace the <code>...</code> with your answer and run both cells:
this one then checks your answer. (<a href="index.html#Installing">Install the course</a>.) """
UNAIDED = """<p class="note room" data-live="Press Edit to write your rule, then press Run."><strong>In JupyterLab</strong>, this cell checks your rule.
On this page, work on paper.</p>"""
GYM = """<p class="note" data-live="To get an endless series of problems, press Answer. Here is one example with its answer."><strong>In JupyterLab</strong>, you get an endless series of problems.
Here is one example with its answer.</p>"""

# What site.css gives no colour of its own in code: its tags are half of a page's code.
UNCOLOURED = re.compile(r'<span class="(?:n|nn|nb|bp|p|o|w|mi|mf|mh|fm|vm)">([^<]*)</span>')

# Calls of which a reader of a page needs only the output.
PLUMBING = re.compile(
    r"(predict|derive|predict_deletion|diagnose|recall|card|place|progress|gym|read|delete_lines|patients"
    r"|yours_and_ours)\([^()]*\)(\s*#.*)?"
)

# Signs that take less room as they are; so does an attribute that holds double quotes between single ones.
SPELLED_OUT = re.compile("&#x(?!0003C|0003E|00026)[0-9A-F]+;")
QUOTED = re.compile(r"""="([^"']*&#34;[^"']*)\"""")

PROMPT = re.compile(
    r'<div class="prompt[^"]*">[^<]*</div>\n?'
)  # Out[3]: counts that mean nothing on a page

# A cell whose source an author has collapsed stays collapsed; any other is announced as code.
CELLS = """{%- extends 'basic/index.html.j2' -%}
{%- block input -%}
{%- if cell.metadata.get('plumbing') -%}<span hidden data-source="{{ cell.source | e }}"></span>
{%- elif cell.metadata.get('jupyter', {}).get('source_hidden') -%}<details><summary>code</summary>
{{- super() }}</details>
{%- else -%}<figure aria-label="code">{{ super() }}</figure>{%- endif -%}
{%- endblock input -%}
{%- block in_prompt -%}{%- endblock in_prompt -%}
{%- block output_prompt -%}{%- endblock output_prompt -%}
"""


class Renderer(IPythonRenderer):
    """Render Markdown like nbconvert, but with formulas as MathML and links to pages."""

    def __init__(self):
        super().__init__(escape=False)

    def inline_math(self, body):
        return inline(body)

    def block_math(self, body):
        return block(body)

    def text(self, text):
        return small(super().text(text))

    def codespan(self, text):
        code = small(super().codespan(text))
        return code.replace("<code>", '<code class="whole">') if len(text) <= 16 else code

    def heading(self, text, level):
        anchor = plain(text).replace(" ", "-")  # as JupyterLab's links to headings
        return f'<h{level} id="{html.escape(anchor)}">{text}</h{level}>\n'

    def link(self, text, url, title=None):
        return super().link(text, page_of(url), title)


def small(text):
    """Return HTML that keeps a number or a list, such as 98 % or (2, 3), on one line."""
    whole = r"\d[\d.]*e-\d+|[(\[][\d, ]{2,12}[)\]]|\d[\d.,]* %|\b\w = [−-]?\d[\d.]*"
    return re.sub(whole, r'<span class="whole">\g<0></span>', text)


def page_of(url):
    """Return the page of the site for `url`, the target of a link in a notebook or in the README.

    A `url` that is not a notebook or a Markdown file of the course is returned unchanged.
    """
    return re.sub(
        r"^(?:(?:\.\./)?(?:notebooks|docs)/)?([\w.]+)\.(?:ipynb|md)(?=$|#)", r"\1.html", url
    )


# Browsers break a line between a formula and the bracket before it, or the comma behind it.
WHOLE = re.compile(r'\(*<math display="inline">(?:(?!</math>).)*</math>[^\s<]*', re.DOTALL)


def markdown(text):
    return WHOLE.sub(
        r'<span class="whole">\g<0></span>', MarkdownWithMath(renderer=Renderer()).render(text)
    )


def executed(path):
    """Run the notebook in the file `path`, and return it with its outputs.

    Raise RuntimeError if a cell raises an error.
    """
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(NOTEBOOKS)}},
    )
    try:
        client.execute(env=os.environ | STARTUP)
    except CellExecutionError as error:
        raise RuntimeError(f"{path.name} raised an error:\n{error}") from None
    return notebook


def deriving(spec, paper):
    """Return the HTML of a derivation, with the data for derivations.js.

    `spec` is the result of `derivation_spec.spec`; the left side of each line in it is replaced by
    MathML, in place. `paper` is the HTML of the empty boxes to fill in on paper.
    """
    for step in spec["steps"]:
        step["left"] = inline(rf"\displaystyle {step['left']}")
    spec = json.dumps(spec, ensure_ascii=False, sort_keys=True)
    return DERIVING.render(spec=spec, paper=paper)


def for_pages(text):
    """Return the Markdown `text` of a notebook as it is shown on a page.

    Text that is marked as only for JupyterLab is removed, and text that is marked as only for pages
    is inserted. The marks are HTML comments, which JupyterLab does not show.
    """
    text = re.sub(rf"<!-- {LAB_ONLY} -->.*?<!-- /{LAB_ONLY} -->", "", text, flags=re.DOTALL)
    return re.sub(r"<!-- page-only: (.*?) -->", r"\1", text, flags=re.DOTALL)


def render_outputs(notebook):
    """Replace the outputs of a notebook by HTML for a page; return the notebook and a dict.

    Interactive pictures become placeholders in the outputs. The dict contains the HTML of the
    picture for each placeholder.
    """
    notebook.metadata.pop("widgets", None)
    notebook.cells = [
        cell for cell in notebook.cells if LAB_ONLY not in cell.metadata.get("tags", [])
    ]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = for_pages(cell.source)
    moves, launch_links = {}, iter([ELSEWHERE])
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            shown = output.get("data", {})
            if shown.pop(LIVE, None) and "text/html" not in shown:
                shown.clear()  # a progress bar: its text is that of its first moment
            if packed := shown.pop(precomputed_frames.MIME, None):
                mark = f"<!-- moves {len(moves)} -->"
                moves[mark] = render_picture(packed, len(moves))
                shown["text/html"] = shown["text/html"].replace(packed["html"], mark)
            if prediction := shown.pop(predictions.MIME, None):
                spec = json.dumps(prediction, ensure_ascii=False, sort_keys=True)
                shown["text/html"] = ASKING.render(
                    number=prediction["name"], spec=spec, answer=shown["text/html"]
                )
            if spec := shown.pop(derivation_spec.MIME, None):
                shown["text/html"] = deriving(spec, shown["text/html"])
            if "text/html" in shown:
                shown["text/html"] = linked(
                    formulas(shown["text/html"].replace(style.SHEET, ""))  # site.css has the sheet
                )
        if re.match(r'check\("', cell.source):
            cell.outputs = [
                nbformat.v4.new_output(
                    "display_data", {"text/html": UNJUDGED.format(next(launch_links, ""))}
                )
            ]
        elif re.search(r'^unaided\("', cell.source, re.MULTILINE):
            cell.outputs = [nbformat.v4.new_output("display_data", {"text/html": UNAIDED})]
        elif re.search(r"^gym\(", cell.source, re.MULTILINE):
            cell.outputs.insert(0, nbformat.v4.new_output("display_data", {"text/html": GYM}))
        if cell.cell_type == "code":
            cell.metadata["plumbing"] = bool(PLUMBING.fullmatch(cell.source))
            cell.outputs = [
                output
                for output in cell.outputs
                if output.get("data", True) and output.get("name") != "stderr"
            ]
    CoalesceStreamsPreprocessor().preprocess(
        notebook, {}
    )  # a kernel sends one print in two parts if it is busy
    for output in (
        output for cell in notebook.cells for output in cell.get("outputs", []) if "text" in output
    ):
        output.text = re.sub(
            r".{101,}",
            lambda one: textwrap.fill(one[0], 100, subsequent_indent="    "),
            output.text,
        )
    return notebook, moves


def export_notebook(notebook):
    """Return the notebook as HTML with placeholders, and a dict with the HTML for each placeholder.

    The HTML of interactive pictures is large. Because it is inserted later, nothing has to parse
    it.
    """
    notebook, moves = render_outputs(notebook)
    made = PROMPT.sub(
        "", UNCOLOURED.sub(r"\1", TemplateExporter.from_notebook_node(exporter(), notebook)[0])
    )
    made = SPELLED_OUT.sub(lambda sign: html.unescape(sign[0]), made)
    return QUOTED.sub(lambda quoted: "='" + quoted[1].replace("&#34;", '"') + "'", made), moves


@cache
def exporter():
    """Return the exporter from notebooks to HTML.

    All notebooks share one exporter, so that its templates are compiled only once. It does not
    clean untrusted HTML as HTMLExporter usually does, which saves two thirds of the build time.
    """
    return HTMLExporter(
        raw_template=CELLS,
        filters={
            "markdown2html": markdown,
            "highlight_code": Highlight2HTML(pygments_lexer="ipython3"),
            "clean_html": lambda code: code,
        },
    )


def linked(shown):
    """Return HTML in which links to notebooks of lessons are replaced by links to their pages."""
    return re.sub(r'(<a href=")(?:\./)?(\d\d_\w+)\.ipynb(?=["#])', r"\1\2.html", shown)


def render_picture(packed, number):
    """Return the HTML of an interactive picture from `packed`, a result of precomputed_frames.

    `number` is the number of the picture on its page.
    """
    if not packed["controls"]:
        note = '<p class="note" data-live="To change this picture, press Run.">This picture is interactive in JupyterLab.</p>'
        return f"{packed['html']}\n{note}"
    spec = json.dumps(
        {"controls": packed["controls"], "together": packed["together"]},
        ensure_ascii=False,
        sort_keys=True,
    )
    return MOVING.render(packed=packed, below=linked(packed["below"]), number=number, spec=spec)


def front():
    """Return the HTML of the front page, with a placeholder for its interactive graph, and a dict.

    The dict contains the HTML of the graph, for the placeholder.
    """
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    title = find_in_readme(text, r"\A# ([^\n]+)\n", "a title")
    python = find_in_readme(text, r"You need Python ([\d.]+) or newer", "the oldest Python")
    size = find_in_readme(
        text, r"## Installing\n\n.+?\((\d+ MB), once\)", 'the size, in "## Installing"'
    )
    below = find_in_readme(text, r"## The lessons\n\n(.+?)\n\n\*\*", 'a section "## The lessons"')
    parts = [
        (part, [(number, cells(f"{number} {name}"), cells(what)) for number, name, what in rows])
        for part, rows in grouped(text)
    ]
    first = min(NOTEBOOKS.glob("00*.ipynb")).stem + ".html"
    repository = launch_links.repository()
    exercises, minutes = measured()
    mark = "<!-- moves 0 -->"
    page = FRONT.render(
        title=title,
        many=len(minutes),
        hours=round(sum(minutes.values()) / 60),
        enough=f"{ENOUGH[0]} to {ENOUGH[6]}, {', '.join(ENOUGH[7:-1])} and {ENOUGH[-1]}",
        enough_hours=round(sum(minutes[number] for number in ENOUGH) / 60),
        first=first,
        graph=mark,
        code=UNCOLOURED.sub(r"\1", Highlight2HTML(pygments_lexer="ipython3")(FRONT_CODE)),
        parts=parts,
        exercises={number: " ".join(names) for number, names in exercises.items()},
        icons=icons.ICONS,
        rest=markdown(below),
        python=python,
        size=size,
        source=repository and launch_links.GITHUB + repository,
    )
    return page, {mark: render_picture(front_graph(), 0)}


def find_in_readme(readme, pattern, what):
    """Return the text that the first group of `pattern` matches in the text of the README.

    Raise RuntimeError, which says that `what` is missing, if there is no match.
    """
    found = re.search(pattern, readme, re.DOTALL)
    if not found:
        raise RuntimeError(f"The front page is made from README.md, which must contain {what}.")
    return found[1]


def grouped(text):
    """Return a list of (heading, lessons) for the tables of lessons in the README's `text`.

    The lessons are a list of (number, name, outcome), in Markdown.
    """
    found = re.findall(r"^\*\*(.+)\*\*\n\n((?:\|.*\n)+)", text, re.MULTILINE)
    return [(part, re.findall(ROW, rows)) for part, rows in found]


ROW = re.compile(r"^\| (\d\d) \| (.+?) \| (.+?) \|$", re.MULTILINE)


def cells(text):
    """Return the HTML of a table cell with the Markdown `text`.

    If the cell is the number of a lesson and a link with its name, the link includes the number.
    """
    linked = re.fullmatch(r"(\d\d) \[(.+)\]\((.+)\)", text)
    if linked:
        text = f"[{linked[1]} {linked[2]}]({linked[3]})"
    made = markdown(f"**{text}**" if text[:2].isdigit() else text)
    return (
        re.sub(r"^<p>|</p>$", "", made.strip())
        .replace("<strong>", "<b>")
        .replace("</strong>", "</b>")
    )


def measured():
    """Return two dicts with lesson numbers as keys: the names of the exercises, and the announced minutes.

    Both are read from the notebooks.
    """
    exercises, minutes = {}, {}
    for path in NOTEBOOKS.glob("[0-9]*.ipynb"):
        first, *rest = (cell.source for cell in nbformat.read(path, as_version=4).cells)
        checks = [re.match(r'check\("([^"]+)"', source) for source in rest]
        exercises[path.name[:2]] = [check[1] for check in checks if check]
        minutes[path.name[:2]] = int(re.search(r"\| (\d+) minutes", first)[1])
    return exercises, minutes


# The code on the front page, which readers can change and run. It draws the graph of docs/graph.svg.
FRONT_CODE = """from autograd_course import live_graph

def L(x, y, w):
    z = x + y
    L = z * w
    return L

live_graph(
    L,  # min, max, step, start
    x=(-4.0, 4.0, 1.0, 2.0),
    y=(-4.0, 4.0, 1.0, 3.0),
    w=(-4.0, 4.0, 1.0, -4.0),
)"""

# The lessons that are enough to train a network on images, as README.md says.
ENOUGH = ["00", "01", "02", "03", "04", "05", "06", "08", "10", "12"]


@cache
def front_graph():
    """Return the result of `precomputed_frames.packed` for the explorer that FRONT_CODE shows."""
    definition, call = FRONT_CODE.rsplit("\n\n", 1)
    names = {}
    exec(definition, names)
    return precomputed_frames.packed(eval(call, names))


class Page:
    def __init__(self, name, body, moves=None):
        self.moves = moves or {}
        self.file, self.body, self.number = (
            f"{name}.html",
            body,
            name[:2] if re.match(r"\d\d_", name) else "",
        )
        self.title = plain(re.search(r"<h1[^>]*>(.*?)</h1>", body, re.DOTALL)[1])
        self.named = f"{self.number} {self.title}".strip()
        first = re.search(r"</h1>.*?<p>(.*?)</p>", body, re.DOTALL)
        self.description = textwrap.shorten(plain(first[1]) if first else self.title, 160)
        self.group = ""  # the heading above it in the list of all pages
        self.texts = searchable_sections(body)
        self.runs = "code_cell" in body
        self.derives = "data-derive=" in body
        self.plays = name == "playground"
        self.policy = POLICY.format(
            also=" blob:" * self.plays,  # the picture that is saved
            base="'self'" if name == "404" else "'none'",  # which has a <base>
        )
        headings = re.findall(r'<h2 id="([^"]+)">(.*?)</h2>', body, re.DOTALL)
        self.sections = [(html.unescape(anchor), plain(words)) for anchor, words in headings]
        self.body = re.sub(
            "|".join(map(re.escape, self.moves)) or "$^",
            lambda mark: self.moves[mark[0]],
            self.body,
        )
        self.body = (
            re.sub(r"(<h1[^>]*>)", rf"\g<1>{self.number} ", self.body, count=1)
            if self.number
            else self.body
        )
        self.body = self.body.replace(f' font-family="{style.FONT}"', "")  # said once, in site.css
        if self.runs:  # after the cell with the title; live.js fills it, and nothing below it moves
            bar = r'(<h1.*?)(?=<div id="cell-id=(?!try-stub))'
            self.body = re.sub(
                bar, r'\1<div class="live"></div>\n', self.body, count=1, flags=re.DOTALL
            )
        self.picture = f"{name}.png"  # shown with a link in a chat


SHARED = (
    r"(you build you need it takes|Forgotten a symbol or a term\? See Notation and glossary\."
    r"|A good place to stop for today\.|in two parts, \d+ \+ \d+; part 2 begins at"
    r"|(?<=Exercise) \(\d+ minutes?, \w+, [●○]+ \w+\)) ?"
)
ENDS_A_WORD = r"</(?:p|li|tr|td|h3|mtr|mtd|mtext)>"


def searchable_sections(body):
    """Return a list of (anchor, heading, text) with every section in the HTML of a page.

    The search uses this list. Code, outputs, folded text, the symbols of formulas on a line of their
    own and the sentences that all lessons share are left out.
    """
    code = r'<div id="cell-id=[^"]*" class="[^"]*code_cell.*?(?=<div id="cell-id=|<h2 id=|\Z)'
    body = re.sub(code, " ", body, flags=re.DOTALL)
    body = re.sub(r"<(pre|details)\b.*?</\1>", " ", body, flags=re.DOTALL)
    formula = r'<math display="block">.*?</math>'
    words = r"<mtext>(.*?)</mtext>"
    body = re.sub(formula, lambda it: " ".join(re.findall(words, it[0])), body, flags=re.DOTALL)
    _, *parts = re.split(r'<h[12] id="([^"]+)">(.*?)</h[12]>', body, flags=re.DOTALL)
    return [
        (
            html.unescape(anchor),
            plain(heading),
            re.sub(SHARED, "", " ".join(plain(re.sub(ENDS_A_WORD, " ", text)).split())),
        )
        for anchor, heading, text in zip(*[iter(parts)] * 3)
    ]


def search(pages):
    """Return the source of search.js, with the texts of all `pages` added.

    The script builds its index from these texts when a reader searches for the first time.
    """
    found = [[page.file, page.named, [section for _, *section in page.texts]] for page in pages]
    script = (ROOT / "web/search.js").read_text(encoding="utf-8")
    # Readers need not fetch comments and indentation.
    script = re.sub(r"^//.*\n|(?<=;) +//.*|^ +", "", script, flags=re.M)
    texts = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    # Readers fetch this file, so a page's name and the names of the fields are written once, and a
    # section's anchor, which is its heading with hyphens for spaces, is not written at all.
    named = (
        "([file, where, sections]) => sections.map(([heading, text]) => "
        "({id: `${file}#${encodeURIComponent(heading.replaceAll(' ', '-'))}`, where, heading, text}))"
    )
    return f"{script}\nconst TEXTS = {texts}.flatMap({named});\n"


def derived(pages):
    """Return the source of derived.js, which contains the derivations on all `pages`.

    Later lessons ask the reader to recall lines of these derivations.
    """
    found = [
        json.loads(html.unescape(spec))
        for page in pages
        for _, spec in re.findall(r"""data-derive=(["'])(.*?)\1""", page.body, re.DOTALL)
    ]
    return f"const DERIVED = {json.dumps(found, ensure_ascii=False, separators=(',', ':'))};\n"


def plain(words):
    return html.unescape(re.sub(r"<[^>]+>", "", words))


def build(folder, executed=executed, parts=None):
    """Write the site into `folder`, and return the folder as a Path.

    The files of an earlier build are removed, and all other files are kept. A progress bar is
    printed if the output is a terminal.

    Parameters
    ----------
    folder : path-like
        The folder, which may not exist yet.
    executed : callable
        Takes the path of a notebook and returns the notebook with its outputs.
    parts : path-like, optional
        A folder with the files of Pyodide, to be included in the site. Files that are missing
        are downloaded into the folder.

    Raises
    ------
    FileExistsError
        If `folder` contains files, but no files of an earlier build. Nothing is then written.
    RuntimeError
        If a notebook raises an error, a page or the site is too large, or a file of Pyodide cannot
        be downloaded or has an unexpected hash.
    """
    folder = Path(folder)
    earlier = folder / WRITTEN
    if folder.exists() and not earlier.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(
            f"{folder} contains files, but no site that was built here before; choose a new folder, or "
            "empty this one"
        )
    notebooks = sorted(NOTEBOOKS.glob("*.ipynb"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = tqdm(
            pool.map(executed, notebooks), "pages", len(notebooks), leave=False, disable=None
        )
        lessons = [
            Page(path.stem, *export_notebook(notebook)) for path, notebook in zip(notebooks, runs)
        ]
    guide = (NOTEBOOKS / "teachers_guide.md").read_text(encoding="utf-8")
    classroom = (ROOT / "docs/classroom.md").read_text(encoding="utf-8")
    pages = [
        Page("index", *front()),
        *lessons,
        for_teachers := Page("teachers_guide", markdown(guide)),
        Page("classroom", markdown(classroom)),
    ]

    headings = {
        rows[0][0]: part for part, rows in grouped((ROOT / "README.md").read_text(encoding="utf-8"))
    }
    for page in lessons:
        page.group = headings.get(page.number, "")
    files, repository = {}, launch_links.repository()
    address = repository and launch_links.pages(repository)
    template = jinja2.Template(PAGE, autoescape=True)
    for before, page, after in zip([None, *pages], pages, [*pages[1:], None]):
        places = (
            repository
            and page in lessons
            and launch_links.places(repository, page.file.removesuffix(".html"))
        )
        files[page.file] = template.render(
            pages=pages,
            page=page,
            before=before,
            after=after,
            places=places,
            course=pages[0].title,
            address=address,
            source=repository and launch_links.GITHUB + repository,
        )
    missing = Page("404", MISSING)
    files[missing.file] = template.render(
        pages=pages, page=missing, missing=True, course=pages[0].title, address=address
    )
    if repository:
        files["sitemap.txt"] = "".join(f"{address}{page.file}\n" for page in pages)
    for beside in (
        "site.css",
        "site.js",
        "derivations.js",
        "playground.js",
        "icon.svg",
        "manifest.webmanifest",
    ):
        files[beside] = (ROOT / "web" / beside).read_text(encoding="utf-8")
    dark = f"@media screen and (prefers-color-scheme: dark) {{ {style.sheet(1)} }}"
    files["site.css"] = f"{style.sheet(0)}\n{dark}\n{style.FITTING}\n{files['site.css']}"
    # The guide's answers must not be among the hits of a learner's search.
    files["search.js"] = search([page for page in pages if page is not for_teachers])
    files["derived.js"] = derived(lessons)
    within_budget(files, pages)
    files = {name: text.encode() for name, text in files.items()} | pyodide_bundle.written(parts)
    files["icon.png"] = (ROOT / "web/icon.png").read_bytes()
    files["sw.js"] = service_worker(files)
    for page in pages if address else []:
        files[page.picture] = share_picture(
            page.named, page.description, pages[0].title, ROOT / "web/icon.png"
        )

    folder.mkdir(parents=True, exist_ok=True)
    for name in earlier.read_text(encoding="utf-8").splitlines() if earlier.exists() else []:
        (folder / name).unlink(missing_ok=True)
    earlier.write_text("\n".join(files), encoding="utf-8")
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def service_worker(files):
    """Return the content of sw.js, in bytes, for a site with these files.

    `files` is a dict with the name and the content of each file.
    """
    hashes = {
        name: hashlib.sha256(content).hexdigest()
        for name, content in files.items()
        if name.endswith((".html", ".css", ".js", ".svg", ".webmanifest", "icon.png"))
        and name != "sw.js"
    }
    return pyodide_bundle.with_setting("sw.js", FILES=hashes)


def within_budget(files, pages):
    """Raise RuntimeError, which names the largest sliders, if a page or the site is too large.

    `files` is a dict with the name and the text of each file, and `pages` are the pages among them.
    """
    sizes = {name: len(text.encode()) for name, text in files.items()}
    heavy = [page for page in pages if sizes[page.file] > PAGE_MOST] or list(pages) * (
        sum(sizes.values()) > SITE_MOST
    )
    if heavy:
        found = sorted(
            (
                (len(picture), page.file, picture)
                for page in heavy
                for picture in page.moves.values()
            ),
            reverse=True,
        )
        worst = [
            f"{file}: sliders {', '.join(re.findall(r'&#34;name&#34;: &#34;(.*?)&#34;', picture))}, "
            f"{size / 1e3:.0f} kB"
            for size, file, picture in found[:5]
        ]
        whole, largest = sum(sizes.values()) / 1e6, max(sizes.values()) / 1e6
        raise RuntimeError(
            f"The site is {whole:.2f} MB large (limit: {SITE_MOST / 1e6:g} MB), and its largest page is "
            f"{largest:.2f} MB large (limit: {PAGE_MOST / 1e6:g} MB). "
            "Give the largest sliders fewer steps:\n" + "\n".join(worst)
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="make site", description="Build the course as a website.")
    parser.add_argument(
        "folder", nargs="?", default=ROOT / "site", help="output folder (default: site/)"
    )
    parser.add_argument(
        "--parts",
        metavar="FOLDER",
        help="bundle Pyodide with the site, using this folder as a download cache",
    )
    given = parser.parse_args()
    try:
        folder = build(given.folder, parts=given.parts)
        print(
            f"The course is in {folder}: open index.html; or, for pages that run, python -m http.server -d {folder}"
        )
    except (FileExistsError, RuntimeError) as error:
        sys.exit(str(error))
