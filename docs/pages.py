"""The course as pages to read without running: `make site` writes them into site/, and needs no network.

Every notebook is executed as it comes, so its exercises are unsolved. What is live in JupyterLab stands there as its first frame, formulas as
MathML, which browsers draw by themselves. Pages hold no script and ask nothing of another host.
"""
import html
import os
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from latex2mathml.converter import convert
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments.formatters import HtmlFormatter

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
LIVE = "application/vnd.jupyter.widget-view+json"

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="site.css">
</head>
<body>
<a class="skip" href="#main">To the text</a>
<nav class="contents" aria-label="Contents">{contents}</nav>
<main id="main">
{body}
<nav class="turn" aria-label="Previous and next">{turn}</nav>
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
        anchor = html.unescape(re.sub(r"<[^>]+>", "", text)).replace(" ", "-")       # as JupyterLab's links to headings
        return f'<h{level} id="{html.escape(anchor)}">{text}</h{level}>\n'

    def link(self, text, url, title=None):
        return super().link(text, page_of(url), title)


def page_of(url):
    """Where a link of a notebook or of the README leads on the site."""
    return re.sub(r"^(?:notebooks/)?([\w.]+)\.(?:ipynb|md)(?=$|#)", r"\1.html", url)


def markdown(text):
    return MarkdownWithMath(renderer=Renderer()).render(text)


def executed(path):
    """The notebook with its outputs, each as what is seen of it without a kernel."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=600, kernel_name="python3", record_timing=False, resources={"metadata": {"path": str(NOTEBOOKS)}}).execute()
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
    """What a reader of the site wants of the README: the promise, how to run it, the lessons; with pictures beside the pages."""
    return (ROOT / "README.md").read_text(encoding="utf-8").split("\n## Adding to it")[0].replace("](docs/", "](")


def title_of(body):
    return html.unescape(re.sub(r"<[^>]+>", "", re.search(r"<h1[^>]*>(.*?)</h1>", body, re.DOTALL)[1]))


def build(folder):
    """Write the site into `folder`, which is made anew."""
    lessons = sorted(NOTEBOOKS.glob("*.ipynb"))
    exporter = HTMLExporter(raw_template=CELLS, filters={"markdown2html": markdown})
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        bodies = {path.stem: exporter.from_notebook_node(notebook)[0] for path, notebook in zip(lessons, pool.map(executed, lessons))}
    bodies = {"index": markdown(readme()), **bodies,
              "teachers_guide": markdown((NOTEBOOKS / "teachers_guide.md").read_text(encoding="utf-8"))}
    titles = {name: title_of(body) for name, body in bodies.items()}

    def link(name, words, **attributes):
        return f'<a href="{name}.html"{"".join(f" {key}={value}" for key, value in attributes.items())}>{html.escape(words)}</a>'

    folder = Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    names = list(bodies)
    for k, (name, body) in enumerate(bodies.items()):
        contents = "<ul>" + "".join(f'<li>{link(n, n[:2] + " " + titles[n] if n[:2].isdigit() else titles[n], **{"aria-current": "page"} if n == name else {})}'
                                    + sections(body) * (n == name and n != "index") + "</li>" for n in names) + "</ul>"
        turn = "".join(link(names[j], f"{words}: {titles[names[j]]}", rel=rel) for j, words, rel in
                       [(k - 1, "Previous", "prev"), (k + 1, "Next", "next")] if 0 <= j < len(names))
        page = PAGE.format(title=html.escape(titles[name]), contents=contents, body=body, turn=turn)
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    highlighting = HtmlFormatter().get_style_defs(".highlight")
    (folder / "site.css").write_text(f"{(ROOT / 'docs/site.css').read_text(encoding='utf-8')}\n{highlighting}\n", encoding="utf-8")
    for picture in (ROOT / "docs").glob("*.svg"):
        shutil.copy(picture, folder)
    return folder


def sections(body):
    found = re.findall(r'<h2 id="([^"]+)">(.*?)</h2>', body, re.DOTALL)
    return "<ul>" + "".join(f'<li><a href="#{anchor}">{words}</a></li>' for anchor, words in found) + "</ul>" if found else ""


if __name__ == "__main__":
    print(f"The course is in {build(*(sys.argv[1:] or [ROOT / 'site']))}: open index.html.")
