"""`run.py` on machines that are set up in other ways, and in a git clone."""

import json
import os
import shutil
import socketserver
import ssl
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

import run as runner

pytestmark = pytest.mark.rotating("run.py", "pyproject.toml", "requirements", "README.md", ".git")

ROOT = Path(__file__).parents[2]
needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


@pytest.fixture(scope="module")
def empty_venv(tmp_path_factory):
    """Create an empty environment without the network."""
    folder = tmp_path_factory.mktemp("empty") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return folder


@pytest.fixture
def venv(empty_venv, tmp_path):
    return shutil.copytree(empty_venv, tmp_path / "venv", symlinks=True)


def tiny_wheel(folder):
    wheel = folder / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny.py", "")
        archive.writestr("tiny-1.0.dist-info/METADATA", "Name: tiny\nVersion: 1.0\n")
        archive.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("tiny-1.0.dist-info/RECORD", "")
    return wheel


@pytest.mark.parametrize("setting", ["PIP_USER", "PIP_TARGET", "PIP_PREFIX"])
def test_packages_land_in_the_environment_whatever_pip_is_told(
    venv, tmp_path, monkeypatch, setting
):
    other = tmp_path / "elsewhere"
    monkeypatch.setenv(setting, "1" if setting == "PIP_USER" else str(other))
    runner.pip(venv, "--no-index", "--no-deps", tiny_wheel(tmp_path))
    assert list(venv.rglob("tiny.py")) and not other.exists()


def test_the_course_is_found_in_a_folder_with_an_umlaut_in_the_c_locale(tmp_path):
    folder = tmp_path / "Übung"
    (folder / "autograd_lib").mkdir(parents=True)
    shutil.copy(ROOT / "run.py", folder)
    (folder / "autograd_lib" / "__init__.py").write_text("print('found')", encoding="utf-8")
    (folder / "start.py").write_text(
        """import sys
import run

def lab(*args):
    run.make_venv(run.VENV)
    run.STAMP.write_text(str(run.ROOT), encoding="utf-8")
    [packages] = run.VENV.glob("[Ll]ib/**/site-packages")
    # As `pip install -e` does: a .pth file in ASCII, which imports a module that has the path.
    (packages / "course.pth").write_text("import finder", encoding="utf-8")
    (packages / "finder.py").write_text(
        f"import sys; sys.path.append({str(run.ROOT)!r})", encoding="utf-8"
    )
    return run.call(run.python_of(run.VENV), "-c", "import autograd_lib", cwd=run.VENV)

run.TARGETS["lab"] = lab
sys.exit(run.main("lab"))
""",
        encoding="utf-8",
    )
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    started = subprocess.run(
        [sys.executable, "Übung/start.py"],  # relative to another folder
        cwd=tmp_path,
        env={**os.environ, **locale},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    assert (started.returncode, started.stdout.strip()) == (0, "found"), started.stdout


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


@pytest.fixture
def serve():
    """Start a server on this machine and return its address."""
    servers = []

    def start(handle, certificate=None):
        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                handle(self)

        server = Server(("127.0.0.1", 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"127.0.0.1:{server.server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def quick_pip(monkeypatch):
    for name in [name for name in os.environ if name.startswith("PIP_") or "proxy" in name.lower()]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_RETRIES", "1")


def test_a_proxy_that_requires_a_password_is_named(venv, serve, quick_pip, monkeypatch):
    def refuse(request):
        while request.rfile.readline().strip():
            pass
        request.wfile.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")

    monkeypatch.setenv("HTTPS_PROXY", f"http://{serve(refuse)}")
    with pytest.raises(SystemExit, match="needs a user name and a password"):
        runner.pip(venv, "--index-url", "https://localhost/simple/", "tiny")


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
def test_an_untrusted_certificate_is_named(venv, serve, quick_pip, tmp_path):
    certificate = tmp_path / "both.pem"
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost".split()
    subprocess.run(
        ["openssl", *words, "-keyout", certificate, "-out", tmp_path / "certificate.pem"],
        check=True,
        capture_output=True,
    )
    certificate.write_text(certificate.read_text() + (tmp_path / "certificate.pem").read_text())
    address = serve(lambda request: None, certificate).replace("127.0.0.1", "localhost")
    with pytest.raises(SystemExit, match="certificate of the package index"):
        runner.pip(venv, "--index-url", f"https://{address}/simple/", "tiny")


def test_only_a_missing_wheel_is_blamed_on_python(venv, quick_pip, tmp_path):
    with pytest.raises(SystemExit, match="Try another Python version"):
        runner.pip(venv, "--no-index", "tiny")
    (tmp_path / "broken-1.0-py3-none-any.whl").write_bytes(b"")
    with pytest.raises(SystemExit) as failed:
        runner.pip(venv, "--no-index", tmp_path / "broken-1.0-py3-none-any.whl")
    assert "Fix the cause" in str(failed.value) and "another Python" not in str(failed.value)


# ---------------------------------------------------------------- a clone


def git(folder, *words, check=True):
    identity = ["-c", "user.name=A Learner", "-c", "user.email=learner@example.org"]
    return subprocess.run(
        ["git", *identity, *words], cwd=folder, check=check, capture_output=True, text=True
    ).stdout


def notebook_of(folder):
    return folder / "notebooks/02_draw_the_graph.ipynb"


def edit(folder, cell, source):
    """Change a cell as JupyterLab does, which also saves the outputs, the kernel's name, and which
    headings are folded.
    """
    path = notebook_of(folder)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    (found,) = [one for one in notebook["cells"] if one["id"] == cell]
    found["source"] = source.splitlines(keepends=True)
    for number, one in enumerate(notebook["cells"]):
        if one["cell_type"] == "code":
            one["execution_count"] = number
            one["outputs"] = [{"name": "stdout", "output_type": "stream", "text": ["out\n"]}]
            one["metadata"].update(editable=True, slideshow={"slide_type": ""}, collapsed=True)
        else:
            one["metadata"]["jp-MarkdownHeadingCollapsed"] = True
    notebook["metadata"] = {
        "toc-autonumbering": True,
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {
            "codemirror_mode": {"name": "ipython", "version": 3},
            "file_extension": ".py",
            "mimetype": "text/x-python",
            "name": "python",
            "nbconvert_exporter": "python",
            "pygments_lexer": "ipython3",
            "version": "3.12.1",
        },
    }
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


@pytest.fixture
def clones(tmp_path, monkeypatch):
    """Create a repository with one lesson, and two clones of it, each with the filter."""
    origin, learner, author = (tmp_path / name for name in ("origin", "learner", "author"))
    notebook_of(origin).parent.mkdir(parents=True)
    shutil.copy(notebook_of(ROOT), notebook_of(origin))
    shutil.copy(ROOT / ".gitattributes", origin)
    git(origin, "init", "-q", "-b", "main")
    git(origin, "add", ".")
    git(origin, "commit", "-qm", "Begin")
    git(origin, "config", "receive.denyCurrentBranch", "updateInstead")
    monkeypatch.setattr(runner, "python_of", lambda _: Path(sys.executable))
    for clone in (learner, author):
        git(tmp_path, "clone", "-q", str(origin), str(clone))
        monkeypatch.setattr(runner, "ROOT", clone)
        runner.keep_outputs_out_of_git()
    return learner, author


@needs_git
def test_what_jupyterlab_saves_beside_a_change_is_not_committed(clones):
    learner, _ = clones
    before = notebook_of(learner).read_text(encoding="utf-8")
    cell = json.loads(before)["cells"][0]
    edit(learner, cell["id"], "".join(cell["source"]))
    assert notebook_of(learner).read_text(encoding="utf-8") != before
    git(learner, "add", ".")
    assert git(learner, "diff", "--cached", "--stat") == ""
    edit(learner, cell["id"], "# Another title\n")
    git(learner, "commit", "-qam", "Change the title")
    stored = json.loads(git(learner, "show", "HEAD:notebooks/02_draw_the_graph.ipynb"))
    assert stored["cells"][0]["source"] == ["# Another title\n"]
    assert stored["metadata"] == {"language_info": {"name": "python"}}
    assert not any(cell.get("outputs") for cell in stored["cells"])


@needs_git
def test_the_course_is_updated_as_the_readme_says_and_answers_stay(clones):
    learner, author = clones
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = readme.partition("### Updating")[2].partition("```")[2].partition("```")[0]
    commands = [line.partition("#")[0].split() for line in commands.strip().splitlines()]
    assert [words[0] for words in commands] == ["git"] * len(commands) and len(commands) == 3
    edit(author, "title", "# The title, corrected\n")
    git(author, "commit", "-qam", "Correct the title")
    git(author, "push", "-q")
    cells = json.loads(notebook_of(learner).read_text(encoding="utf-8"))["cells"]
    last = [cell["id"] for cell in cells if cell["cell_type"] == "code"][-1]
    edit(learner, last, "answer = 42\n")
    for words in commands:
        git(learner, *words[1:])
    text = notebook_of(learner).read_text(encoding="utf-8")
    assert "answer = 42" in text and "# The title, corrected" in text
