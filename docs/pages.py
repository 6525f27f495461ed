"""The course as pages to read without running: `make site` writes them into site/, and needs no network.

Every notebook is executed as it comes, so its exercises are unsolved. What is live in JupyterLab stands there as its first frame,
formulas as MathML, which browsers draw by themselves. Pages hold no script and ask nothing of another host.
"""
import argparse
import html
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jinja2
import nbformat
from latex2mathml.converter import convert
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments.formatters import HtmlFormatter

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
WRITTEN = ".written-by-make-site"      # in the site's folder: the names of the files that are ours to remove
LIVE = "application/vnd.jupyter.widget-view+json"

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ page.title }}</title>
<link rel="stylesheet" href="site.css">
</head>
<body>
<a class="skip" href="#main">To the text</a>
<nav class="contents" aria-label="Contents"><ul>
{%- for other in pages %}
<li><a href="{{ other.file }}"{% if other is sameas page %} aria-current="page"{% endif %}>{{ other.number }} {{ other.title }}</a>
{%- if other is sameas page and page.number %}<ul>
{%- for anchor, words in page.sections %}<li><a href="#{{ anchor }}">{{ words }}</a></li>{% endfor %}</ul>{% endif %}</li>
{%- endfor %}
</ul></nav>
<main id="main">
{{ page.body | safe }}
<nav class="turn" aria-label="Previous and next">
{%- if before %}<a rel="prev" href="{{ before.file }}">Previous: {{ before.title }}</a>{% endif %}
{%- if after %}<a rel="next" href="{{ after.file }}">Next: {{ after.title }}</a>{% endif -%}
</nav>
</main>
</body>
</html>
"""

# A cell whose source an author has collapsed stays collapsed.
CELLS = """{%- extends 'basic/index.html.j2' -%}
{%- block input -%}
{%- if cell.metadata.get('jupyter', {}).get('source_hidden') -%}<details><summary>code</summary>{{ super() }}</details>
{%- else -%}{{ super() }}{%- endif -%}
{%- endblock input -%}
{%- block in_prompt -%}{%- endblock in_prompt -%}
{%- block output_prompt -%}{%- endblock output_prompt -%}
"""


def inline(tex, display="inline"):
    # What the converter does not know: `aligned`, which is `align*` within a formula, and an escaped underscore in words.
    return convert(re.sub(r"(begin|end){aligned}", r"\1{align*}", tex).replace(r"\_", "_"), display)


def block(tex):
    return f'<div class="formula">{inline(tex, "block")}</div>'


def formula(found):
    r"""A formula within HTML, between \( and \) or \[ and \]."""
    tex = html.unescape(found[1] or found[2])
    return inline(tex) if found[1] else block(tex)


class Renderer(IPythonRenderer):
    """Markdown as nbconvert makes it, but formulas as MathML, and links to notebooks as links to their pages."""

    def __init__(self):
        super().__init__(escape=False)

    def inline_math(self, body):
        return inline(body)

    def block_math(self, body):
        return block(body)

    def heading(self, text, level):
        anchor = plain(text).replace(" ", "-")                   # as JupyterLab's links to headings
        return f'<h{level} id="{html.escape(anchor)}">{text}</h{level}>\n'

    def link(self, text, url, title=None):
        return super().link(text, page_of(url), title)


def page_of(url):
    """Where a link of a notebook or of the README leads on the site."""
    return re.sub(r"^(?:notebooks/)?([\w.]+)\.(?:ipynb|md)(?=$|#)", r"\1.html", url)


def markdown(text):
    return MarkdownWithMath(renderer=Renderer()).render(text)


def executed(path):
    """The notebook with its outputs, of a run of its own."""
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(NOTEBOOKS)}}
    try:
        NotebookClient(notebook, timeout=600, kernel_name="python3", record_timing=False, resources=where).execute()
    except CellExecutionError as error:
        raise RuntimeError(f"{path.name} does not run:\n{error}") from None
    return notebook


def seen(notebook):
    """The notebook, each output as what is seen of it without a kernel."""
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            shown = output.get("data", {})
            if shown.pop(LIVE, None) and "text/html" not in shown:
                shown.clear()                  # a progress bar: its text is that of its first moment
            if "text/html" in shown:
                shown["text/html"] = re.sub(r"\\\((.+?)\\\)|\\\[(.+?)\\\]", formula, shown["text/html"], flags=re.DOTALL)
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("data", True) and output.get("name") != "stderr"]
    return notebook


def readme():
    """What a reader of the site wants of the README: the promise, the lessons, installing; with pictures beside the pages."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    parts = [part for part in text.split("\n## ") if not part.startswith(("Working on it", "Licence"))]
    headings = {words.lower().replace(" ", "-"): words.replace(" ", "-") for words in re.findall(r"^#+ (.+)", text, re.MULTILINE)}
    shown = "\n## ".join(parts).replace("](docs/", "](")
    return re.sub(r"\]\(#([\w-]+)\)", lambda link: f"](#{headings[link[1]]})", shown)      # GitHub's anchors are small letters


class Page:
    def __init__(self, name, body):
        self.file, self.body, self.number = f"{name}.html", body, name[:2] if name[:2].isdigit() else ""
        self.title = plain(re.search(r"<h1[^>]*>(.*?)</h1>", body, re.DOTALL)[1])
        headings = re.findall(r'<h2 id="([^"]+)">(.*?)</h2>', body, re.DOTALL)
        self.sections = [(html.unescape(anchor), plain(words)) for anchor, words in headings]


def plain(words):
    return html.unescape(re.sub(r"<[^>]+>", "", words))


def build(folder, executed=executed):
    """Write the site into `folder`, and remove what an earlier build wrote there; other files stay.

    `executed(path)` is the notebook with its outputs. Raises FileExistsError, before anything is done, if there are files and none is
    from here; RuntimeError if a notebook fails.
    """
    folder = Path(folder)
    earlier = folder / WRITTEN
    if folder.exists() and not earlier.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder} holds other files than a site: name a new folder, or empty it")
    notebooks = sorted(NOTEBOOKS.glob("*.ipynb"))
    exporter = HTMLExporter(raw_template=CELLS, filters={"markdown2html": markdown})
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        lessons = [Page(path.stem, exporter.from_notebook_node(seen(notebook))[0])
                   for path, notebook in zip(notebooks, pool.map(executed, notebooks))]
    guide = (NOTEBOOKS / "teachers_guide.md").read_text(encoding="utf-8")
    pages = [Page("index", markdown(readme())), *lessons, Page("teachers_guide", markdown(guide))]

    files = {}
    template = jinja2.Template(PAGE, autoescape=True)
    for before, page, after in zip([None, *pages], pages, [*pages[1:], None]):
        files[page.file] = template.render(pages=pages, page=page, before=before, after=after)
    style = (ROOT / "docs/site.css").read_text(encoding="utf-8")
    files["site.css"] = f"{style}\n{HtmlFormatter().get_style_defs('.highlight')}\n"
    for picture in (ROOT / "docs").glob("*.svg"):
        files[picture.name] = picture.read_text(encoding="utf-8")

    folder.mkdir(parents=True, exist_ok=True)
    for name in earlier.read_text(encoding="utf-8").splitlines() if earlier.exists() else []:
        (folder / name).unlink(missing_ok=True)
    earlier.write_text("\n".join(files), encoding="utf-8")
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="make site", description="Write the course as pages to read without running.")
    parser.add_argument("folder", nargs="?", default=ROOT / "site", help="where to; site/ unless told")
    try:
        print(f"The course is in {build(parser.parse_args().folder)}: open index.html.")
    except (FileExistsError, RuntimeError) as error:
        sys.exit(str(error))
