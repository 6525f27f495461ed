"""Write the links that open the course without an installation, using the URL in pyproject.toml.

python web/launch_links.py OWNER/NAME         set the repository, and the links made from it
python web/launch_links.py --colab FOLDER     write lessons for Colab, which install the course
"""

import json
import re
import sys
import tomllib
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
GITHUB, NOBODY = "https://github.com/", "OWNER/NAME"
LAB = "```\nmake lab\n```\n"
PAGES = "**[Read and run the course in your browser]({})**, with nothing to install, also on a phone. Or run it in JupyterLab:\n\n"
UNSET = """\
- In Colab, on Binder, in a codespace: `python web/launch_links.py OWNER/NAME`, with the name of your repository on GitHub,
  writes the links into this README and onto every page.
"""
SET = (
    "- On a hosted machine: [Colab]({Colab}),\n  [Binder]({Binder})\n  or [a codespace]({codespace}). "
    "Your work there is lost when the session ends, unless you save a copy.\n"
)
INSTALL = "%pip install --quiet --no-deps git+{}  # the course; Colab has what it needs"


def repository(root=ROOT):
    """Return the name of the GitHub repository, "OWNER/NAME", from the pyproject.toml in `root`.

    Return "" if pyproject.toml names no owner yet.
    """
    address = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "urls"
    ]["Repository"]
    name = address.removeprefix(GITHUB)
    return "" if name == NOBODY else name


def pages(repository):
    """Return the address of the site that `.github/workflows/pages.yml` publishes.

    `repository` is the name of the repository, "OWNER/NAME".
    """
    owner, name = repository.split("/")
    return f"https://{owner.lower()}.github.io/" + f"{name}/" * (
        name.lower() != f"{owner.lower()}.github.io"
    )


def places(repository, stem):
    """Return a dict of links under "Colab", "Binder" and "codespace".

    The first two links open notebooks/`stem`.ipynb of the repository "OWNER/NAME", and the last
    link opens the repository.
    """
    return {
        "Colab": f"https://colab.research.google.com/github/{repository}/blob/colab/{stem}.ipynb",
        "Binder": f"https://mybinder.org/v2/gh/{repository}/main?urlpath=lab/tree/notebooks/{stem}.ipynb",
        "codespace": f"https://codespaces.new/{repository}",
    }


def links(repository):
    """Return a list of (file, text) for every piece of text that contains the repository's address.

    `repository` is "OWNER/NAME", or "" for the texts of a course without an address. The order of
    the list is always the same, so that `publish` can replace one text by another.
    """
    open_it = PAGES.format(pages(repository)) if repository else ""
    line = SET.format(**places(repository, "00_start_here")) if repository else UNSET
    address = GITHUB + (repository or NOBODY)
    return [
        ("README.md", open_it + LAB),
        ("README.md", line),
        ("docs/classroom.md", f"repo={quote(address, safe='')}&"),
        ("pyproject.toml", f'"{address}"'),
    ]


def publish(new, root=ROOT):
    """Replace the repository in every file below `root` that contains its address.

    `new` is the name of the new repository, "OWNER/NAME".
    """
    for (name, was), (_, now) in zip(links(repository(root)), links(new)):
        text = (root / name).read_text(encoding="utf-8")
        (root / name).write_text(text.replace(was, now), encoding="utf-8")


def for_colab(folder, repository):
    """Write every notebook into `folder`, with an added first cell that installs the course.

    The cell installs the course from the GitHub repository "OWNER/NAME".
    """
    cell = {
        "cell_type": "code",
        "execution_count": None,
        "id": "colab",
        "metadata": {},
        "outputs": [],
        "source": [INSTALL.format(GITHUB + repository)],
    }
    Path(folder).mkdir(exist_ok=True)
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        notebook["cells"].insert(0, cell)
        (Path(folder) / path.name).write_text(
            json.dumps(notebook, indent=1, ensure_ascii=False), encoding="utf-8"
        )


if __name__ == "__main__":
    if len(sys.argv) == 2 and re.fullmatch(r"[\w-]+/[\w.-]+", sys.argv[1]):
        publish(sys.argv[1])
    elif len(sys.argv) == 3 and sys.argv[1] == "--colab" and repository():
        for_colab(sys.argv[2], repository())
    else:
        sys.exit(__doc__)
