"""Links to Colab, Binder and codespaces use a single address and lead to notebooks that exist."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import jinja2
import launch_links
import pages
import pytest
import yaml

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted(path.stem for path in ROOT.glob("notebooks/*.ipynb"))
TRIED = "some-body/a.course"


@pytest.fixture
def published(tmp_path):
    """Create a copy of the files that depend on the project's address, with that address."""
    (tmp_path / "docs").mkdir()
    for name in ["README.md", "pyproject.toml", "docs/classroom.md"]:
        shutil.copy(ROOT / name, tmp_path / name)
    launch_links.publish(TRIED, tmp_path)
    return tmp_path


def test_all_that_follows_from_the_address_is_there(published):
    def there(root, repository):
        return [
            text in (root / name).read_text(encoding="utf-8")
            for name, text in launch_links.links(repository)
        ]

    assert all(there(ROOT, launch_links.repository()))
    assert launch_links.repository(published) == TRIED and all(there(published, TRIED))
    readme = (published / "README.md").read_text(encoding="utf-8")
    assert readme.index(launch_links.pages(TRIED)) < readme.index("make lab"), (
        "the pages come first"
    )
    launch_links.publish("other/name", published)
    assert all(there(published, "other/name"))
    for name in ["README.md", "pyproject.toml", "docs/classroom.md"]:
        assert TRIED.split("/")[0] not in (published / name).read_text(encoding="utf-8")


def linked(text):
    """Return the notebook that each address of a place names, or None if it names no branch and
    folder of ours.
    """
    for address in re.findall(r'https://(?:colab|mybinder|codespaces)[^\s)"]+', text):
        assert TRIED in address, address
        if not address.startswith("https://codespaces.new/"):
            yield re.search(
                r"/(?:blob/colab|main\?urlpath=lab/tree/notebooks)/(.+)\.ipynb$", address
            )[1]


def test_every_link_names_a_notebook(published, tmp_path):
    launch_links.for_colab(tmp_path / "colab", TRIED)
    assert sorted(path.stem for path in (tmp_path / "colab").iterdir()) == NOTEBOOKS
    assert set(linked((published / "README.md").read_text(encoding="utf-8"))) == {"00_start_here"}
    template = jinja2.Template(pages.PAGE, autoescape=True)
    for stem in NOTEBOOKS:
        page = pages.Page(stem, "<h1>Title</h1>")
        with_links = template.render(
            pages=[page], page=page, places=launch_links.places(TRIED, stem)
        )
        assert list(linked(with_links)) == [stem, stem]
        assert "As a notebook" not in template.render(pages=[page], page=page)


def test_the_classroom_link_opens_a_notebook():
    """The link in docs/classroom.md is parsed as nbgitpuller parses it."""
    page = (ROOT / "docs/classroom.md").read_text(encoding="utf-8")
    asked = parse_qs(urlsplit(re.search(r"\nhttps://HUB\S+", page)[0]).query)
    (repository,), (folder,), (path,) = asked["repo"], asked["targetPath"], asked["urlpath"]
    assert repository == launch_links.GITHUB + (
        launch_links.repository() or launch_links.NOBODY
    ) and asked["branch"] == ["main"]
    assert (ROOT / path.removeprefix(f"lab/tree/{folder}/")).is_file()
    config = (ROOT / "docs/jupyterhub_config.py").read_text(encoding="utf-8")
    assert f'"/{path}"' in config, "where the hub begins by itself"


def test_colab_gets_one_cell_more(tmp_path):
    launch_links.for_colab(tmp_path, TRIED)
    for stem in NOTEBOOKS:
        ours, theirs = (
            json.loads((folder / f"{stem}.ipynb").read_text(encoding="utf-8"))
            for folder in (ROOT / "notebooks", tmp_path)
        )
        first, *rest = theirs["cells"]
        assert rest == ours["cells"] and first["id"] not in {cell["id"] for cell in rest}
        assert first["source"][0].startswith(
            f"%pip install --quiet --no-deps git+https://github.com/{TRIED}  #"
        )


def test_pages_are_published_where_github_puts_them():
    for repository, address in [
        ("Some-Body/a.course", "some-body.github.io/a.course/"),
        ("Some/some.github.io", "some.github.io/"),
    ]:
        assert launch_links.pages(repository) == f"https://{address}"


@pytest.mark.skipif(
    sys.platform == "win32" or not shutil.which("git"),
    reason="the workflow runs on Linux, with git",
)
def test_the_workflow_writes_the_branch_that_colab_opens(tmp_path):
    """The workflow's own commands run in a new repository whose `origin` is a folder."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/pages.yml").read_text(encoding="utf-8"))
    ours = [
        step["run"]
        for step in workflow["jobs"]["publish"]["steps"]
        if "launch_links" in step.get("run", "")
    ]
    lessons = [f"notebooks/{stem}.ipynb" for stem in NOTEBOOKS]
    for part in [
        "README.md",
        "pyproject.toml",
        "web/launch_links.py",
        "docs/classroom.md",
        *lessons,
    ]:
        (tmp_path / "work" / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / part, tmp_path / "work" / part)
    script = "\n".join(
        ["git init -q", "git init -q --bare ../origin", "git remote add origin ../origin", *ours]
    )
    script = script.replace("${{ github.repository }}", TRIED).replace(
        "python ", f'"{sys.executable}" '
    )
    done = subprocess.run(
        ["bash", "-ec", script], cwd=tmp_path / "work", capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    listed = subprocess.check_output(
        ["git", "ls-tree", "--name-only", "colab"], cwd=tmp_path / "origin", text=True
    )
    assert listed.split() == [f"{stem}.ipynb" for stem in NOTEBOOKS]
