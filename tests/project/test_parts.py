"""The suite is split so that the cells of a notebook run in order, in one process, before the
tests that use their outputs.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import nbformat
import nbval.kernel
import once
import pytest
import rotation
from parts import lesson_of, part_of

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "nodeid, part",
    [
        ("notebooks/03_derive_the_arithmetic.ipynb::Cell 4", "run 03"),
        ("notebooks/engine.ipynb::Cell 4", "run engine"),
        (
            "tests/grading/test_exercises.py::test_untouched_notebook_says_not_yet[03_derive_the_arithmetic]",
            "run 03",
        ),
        (
            "tests/grading/test_exercises.py::test_wrong_answers_get_their_cause[03.drill]",
            "tests/grading/test_exercises.py 03",
        ),
        ("tests/lessons/test_browser.py::test_sliders[03_derive_the_arithmetic]", "browser 1"),
        ("tests/lessons/test_browser.py::test_sliders[kit]", "browser 0"),
        (
            "tests/project/test_live.py::test_a_page_runs_in_other_browsers[firefox-03_derive_the_arithmetic]",
            "other browsers 1",
        ),
        ("tests/project/test_live.py::test_the_editor", "live"),
        ("tests/project/test_site.py::test_a_page_is_accessible[index]", "site measured"),
        (
            "tests/lessons/lesson_03/test_drawings.py::test_x[10]",
            "tests/lessons/lesson_03/test_drawings.py",
        ),
        ("tests/engine/test_ops.py::test_values[10_000]", "tests/engine/test_ops.py"),
    ],
)
def test_parts(nodeid, part):
    assert part_of(nodeid) == part


def test_processes_share_out_parts(tmp_path):
    """Regression: a release of pytest silently removed xdist's own groups, and cells ran in two
    processes.
    """
    (tmp_path / "conftest.py").write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT / 'tests')!r})\npytest_plugins = ['parts']"
    )
    (tmp_path / "test_exercises.py").write_text("""
import pytest
@pytest.mark.parametrize("name", [f"{lesson}.{name}" for name in range(3) for lesson in ["03", "04", "05"]])
def test_it(name, worker_id): print(name, worker_id)""")
    said = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-n",
            "2",
            "--dist",
            "loadscope",
            "-p",
            "no:cacheprovider",
            "-rP",
            "-p",
            "no:nbval",
            "test_exercises.py",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    ).stdout
    ran = {tuple(line.split()) for line in said.splitlines() if line.endswith(("gw0", "gw1"))}
    assert len(ran) == 9, said
    for lesson in ["03", "04", "05"]:
        assert len({worker for name, worker in ran if name.startswith(lesson)}) == 1, ran
    assert len({worker for _, worker in ran}) == 2, ran


LESSONS = [f"{number:02}" for number in range(23)]


@pytest.mark.parametrize("every", [3, 9])
def test_consecutive_commits_open_every_page_in_a_browser(every):
    chosen = [rotation.choose(rotation.PAGES, 70 + at, "", every) for at in range(every)]
    notebooks = [*LESSONS, "engine", "notation", "playground", "practice", "warm_up"]
    assert sorted(sum(chosen, [])) == sorted([*notebooks, *rotation.OTHERS])
    assert max(map(len, chosen)) <= len(rotation.PAGES) / every + 1


# At each of three commits, and at one of them after a change of each kind, print the tests that run.
CHOSEN = """
import json, os, rotation
def pytest_collection_modifyitems(items):
    def run_at(number, changed=""):
        os.environ.update({rotation.NUMBER: str(number), rotation.CHANGED: changed})
        return [item.nodeid for item in items if not rotation.is_left_out(item)]
    page = [item.nodeid for item in items if rotation.page_of(item)]
    commits = [run_at(number) for number in (70, 71, 72)]
    touched = {file: run_at(70, file) for file in ["web/live.js", "tests/project/test_live.py", "bench/bench.py"]}
    del os.environ[rotation.NUMBER], os.environ[rotation.CHANGED]
    every = [item.nodeid for item in items if not rotation.is_left_out(item)]
    print(json.dumps([page, commits, touched, every]))
    items.clear()"""


@pytest.fixture(scope="module")
def chosen(tmp_path_factory):
    """Return (tests of a page, tests at three commits, dict from changed file to tests, all tests)
    of the files that open pages in a browser.
    """
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "chosen.py").write_text(CHOSEN)
    files = ["project/test_live.py", "project/test_site.py", "lessons/test_browser.py"]
    said = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "chosen"]
        + [f"tests/{file}" for file in [*files, "derivations/test_page.py"]],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT / "tests")])},
        capture_output=True,
        text=True,
    )
    (found,) = [line for line in said.stdout.splitlines() if line.startswith("[[")]
    page, commits, touched, every = json.loads(found)
    page = set(page)
    touched = {file: set(tests) for file, tests in touched.items()}
    return page, list(map(set, commits)), touched, set(every)


SMOKE = [
    "test_live.py::test_an_exercise_is_answered_wrong_and_right",
    "test_live.py::test_an_exercise_is_answered_and_stopped_in_other_browsers[firefox]",
]


def test_a_feature_of_the_site_is_tested_at_one_of_three_commits(chosen):
    """Some are tested at every commit: those that are quick, and one answer in each browser."""
    page, commits, _, every = chosen
    always = set.intersection(*commits)
    (size,) = every - page - set.union(*commits)  # of the site with every picture: every=0
    assert size.endswith("test_the_whole_course_is_as_large_to_read_as_is_said")
    for test in every - page - always - {size}:
        assert sum(test in tests for tests in commits) == 1, test
    assert {f"tests/project/{one}" for one in SMOKE} <= always
    live = {test for test in every - page if "test_live.py" in test}
    assert len(live & always) == 3, "in Chromium, in Firefox, and in WebKit with --all"
    for tests in commits:
        assert len(live) / 5 < len(tests & live) < len(live) / 2
        assert any("test_browser.py::test_exercise" in test for test in tests), "in JupyterLab"


def test_a_change_selects_the_tests_of_what_it_touches(chosen):
    page, commits, touched, every = chosen
    features = every - page
    live = {test for test in features if "test_live.py" in test}
    assert features <= touched["web/live.js"]
    assert touched["tests/project/test_live.py"] == commits[0] | live != commits[0]
    assert touched["bench/bench.py"] == commits[0]


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_commits_are_counted_and_days_where_that_cannot_be(tmp_path, monkeypatch):
    """A shallow clone has a single commit and does not know which files it changed."""

    def git(*words):
        name = ["-c", "user.name=a", "-c", "user.email=a@localhost"]
        subprocess.run(["git", *name, *words], cwd=tmp_path, check=True, capture_output=True)

    def seen(folder):
        monkeypatch.setattr(rotation, "ROOT", tmp_path / folder)
        return rotation.number(), rotation.changed_files().split()

    monkeypatch.setattr(time, "time", lambda: 4000 * 86400 + 1.0)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    git("init", "whole")
    for at in range(1, 4):
        (tmp_path / f"whole/{at}.txt").touch()
        git("-C", "whole", "add", ".")
        git("-C", "whole", "commit", "-m", "more")
        assert seen("whole") == (at, [f"{at}.txt"] if at > 1 else [])
    git("clone", "--depth", "1", (tmp_path / "whole").as_uri(), "shallow")
    assert seen("shallow") == (4000, [])
    (tmp_path / "none").mkdir()
    assert seen("none") == (4000, [])


@pytest.mark.parametrize(
    "changed, page",
    [
        ("notebooks/05_walk_backward.ipynb", "05"),
        ("autograd_course/lessons/lesson_05/exercises.py", "05"),
        ("README.md\ntests/lessons/lesson_05/test_engine.py", "05"),
        ("README.md\nautograd_lib/ops.py", "engine"),
    ],
)
def test_a_page_that_the_change_touches_is_opened_whatever_the_commit(changed, page):
    for number in (70, 71, 72):
        assert page in rotation.choose(rotation.PAGES, number, changed)


SUITE = """
import pytest
LESSONS = [f"{number:02}.one" for number in range(23)]
@pytest.mark.rotating
@pytest.mark.parametrize("name", LESSONS)
def test_long(name): pass
@pytest.mark.rotating(every=9)
@pytest.mark.parametrize("name", [*LESSONS, "engine", "warm_up"])
def test_longer(name): pass
@pytest.mark.rotating("tests/project/")
@pytest.mark.parametrize("name", LESSONS)
def test_of_a_folder(name): pass
@pytest.mark.rotating("tests/project/", every=0)
def test_of_all_pages(): pass
@pytest.mark.rotating("docs/", every=0)
def test_left_out(): pass"""


def output_of_pytest(folder, *options):
    """Run pytest in a folder with the plugins of this suite, and return what it prints."""
    (folder / "conftest.py").write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT / 'tests')!r})\n"
        "import rotation\nrotation.changed_files = lambda: 'tests/project/x.py'\n"
        "pytest_plugins = ['parts', 'rotation']\n"
        "def pytest_addoption(parser): parser.addoption('--all', action='store_true')"
    )
    (folder / "tests").mkdir()
    (folder / "pytest.ini").write_text("[pytest]\ntestpaths = .")
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-v",
            "-p",
            "no:nbval",
            "-p",
            "no:cacheprovider",
            *options,
        ],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != rotation.NUMBER},
        capture_output=True,
        text=True,
    ).stdout


@pytest.mark.parametrize(
    "options, everything",
    [([], False), (["-k", "long or folder or out or all"], True)],
)
def test_a_selection_is_not_thinned_out(tmp_path, options, everything):
    """A third of the lessons is run, or all of them if a folder named in the marker has changed."""
    (tmp_path / "test_it.py").write_text(SUITE)
    found = output_of_pytest(tmp_path, *options)
    ran = set(re.findall(r"test_long\[(\d\d)", found))
    assert ran == set(LESSONS) if everything else len(ran) in (7, 8), found
    longer = re.findall(r"test_longer\[(\w+)", found)
    assert len(set(longer)) == 25 if everything else 1 <= len(set(longer)) <= 4, found
    assert set(re.findall(r"test_of_a_folder\[(\d\d)", found)) == set(LESSONS), found
    assert "test_of_all_pages" in found and ("test_left_out" in found) == everything, found


def test_pages_whose_sliders_no_test_moves_get_few_pictures(monkeypatch):
    """Their page still shows what each slider draws at its start and at both ends."""
    monkeypatch.setenv(rotation.NUMBER, "1")
    monkeypatch.setenv(rotation.CHANGED, "")
    started = {
        name: once.startup(Path(f"notebooks/{name}.ipynb"))
        for name in [
            "01_measure_a_slope",
            "03_derive_the_arithmetic",
            "05_walk_backward",
            "engine",
        ]
    }
    assert list(started.values()) == [
        *[once.STARTUP, once.STARTUP],
        *[once.FEW_FRAMES, once.FEW_FRAMES],
    ]
    monkeypatch.setenv(rotation.NUMBER, "2")  # lesson 13 asks for a position of a slider
    assert once.startup(Path("notebooks/13_remember_a_sequence.ipynb")) == once.STARTUP
    assert once.startup(Path("notebooks/16_differentiate_the_derivative.ipynb")) == once.FEW_FRAMES
    for changed in ["autograd_lib/ops.py", "web/site.js"]:
        monkeypatch.setenv(rotation.CHANGED, changed)
        assert once.startup(Path("notebooks/engine.ipynb")) == once.STARTUP
    monkeypatch.delenv(rotation.NUMBER)
    assert once.startup(Path("notebooks/05_walk_backward.ipynb")) == once.STARTUP


def test_few_pictures_of_controls_with_and_without_a_slider(monkeypatch):
    """A field of dots has no positions, so the page gets the picture of its start."""
    monkeypatch.setattr(once, "startup", lambda page: once.FEW_FRAMES)
    cell = nbformat.v4.new_code_cell(
        "from autograd_course import Picture, explore\n"
        "from autograd_course.lessons.lesson_00.drawings import Dots\n"
        "def text_of(**values):\n"
        "    return Picture('<svg></svg>', str(values))\n"
        "display(explore(text_of, x=(0, 9, 1, 4)))\n"
        "display(explore(text_of, dots=Dots([[0, 1]])))"
    )
    kernel = once.Kernel(page="without startup")
    try:
        kernel.run(cell)
    finally:
        kernel.stop()
    outputs = [
        output.data["application/vnd.autograd-course.frames+json"] for output in cell.outputs
    ]
    assert [control["values"] for control in outputs[0]["controls"]] == [["0", "4", "9"]]
    assert outputs[1]["controls"] == []


def test_kernels_that_start_at_the_same_time_have_their_own_startup_file(monkeypatch):
    """Regression: pages.build runs two notebooks at a time, in threads of one process. Each thread
    wrote its startup file to os.environ, so the engine's page got the few pictures of another page.
    """
    both_are_ready, start = Barrier(2), nbval.kernel.start_new_kernel

    def start_later(**options):
        both_are_ready.wait(timeout=60)
        return start(**options)

    monkeypatch.setattr(nbval.kernel, "start_new_kernel", start_later)
    monkeypatch.setattr(once, "startup", lambda page: page)

    def startup_of_kernel(page):
        cell = nbformat.v4.new_code_cell("import os\nprint(os.environ['PYTHONSTARTUP'])")
        kernel = once.Kernel(page=page)
        try:
            kernel.run(cell)
        finally:
            kernel.stop()
        return "".join(output.text for output in cell.outputs).strip()

    before, pages = dict(os.environ), ["first", "second"]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(startup_of_kernel, pages)) == pages
    assert os.environ == before


def test_a_notebook_is_run_once_for_all_that_request_it(monkeypatch, tmp_path):
    """A request waits for the run in progress, also for nbval's, unless its process has crashed."""
    monkeypatch.setenv(once.RUNS, str(tmp_path))
    path, runs = tmp_path / "source" / "page.ipynb", []
    path.parent.mkdir()
    nbformat.write(nbformat.v4.new_notebook(), path)

    def run(notebook, path):
        runs.append(path)
        time.sleep(0.3)
        return notebook

    monkeypatch.setattr(once, "run_in_copy", run)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(once.notebook, [path, path])
    assert first == second and runs == [path]

    monkeypatch.setattr(once.Kernel, "next_page", path)
    monkeypatch.setattr(once, "startup", lambda page: "")
    once.stored_path(path).unlink()
    kernel = once.Kernel()  # as nbval starts it
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(once.notebook, path)
        time.sleep(0.3)
        assert not waiting.done() and runs == [path]
        once.store(first, path)
        kernel.stop()
        assert waiting.result(timeout=60) == first and runs == [path]

    once.stored_path(path).unlink()
    crash = "import os, sys, filelock; filelock.FileLock(sys.argv[1]).acquire(); os._exit(1)"
    subprocess.run([sys.executable, "-c", crash, once.running(path).lock_file])
    once.notebook(path)
    assert runs == [path, path]


@pytest.mark.parametrize("options, opened", [([], False), (["--all"], True)])
def test_one_lesson_is_tested_without_its_page(tmp_path, options, opened):
    """Building a page and opening it take three quarters of the time of `-k lesson_03`."""
    for name in ("test_it", "test_live"):
        (tmp_path / f"{name}.py").write_text(SUITE)
    found = output_of_pytest(tmp_path, "-k", "lesson_03", *options)
    assert "test_it.py::test_long[03.one]" in found and "04.one" not in found, found
    assert ("test_live.py::test_long[03.one]" in found) == opened, found


def test_one_lesson_collects_no_tests_of_others(request):
    """`-k lesson_03` looks for them in every other file."""
    assert rotation.is_of_others(ROOT / "tests/lessons/lesson_04", "03")
    assert rotation.is_of_others(ROOT / "notebooks/04_derive_the_functions.ipynb", "03")
    assert rotation.is_of_others(ROOT / "tests/engine", "03")
    for path in ["tests/lessons/lesson_03", "notebooks/03_derive_the_arithmetic.ipynb", "tests"]:
        assert not rotation.is_of_others(ROOT / path, "03")
    engine = [item for item in request.session.items if "tests/engine/" in item.nodeid]
    assert not [item for item in engine if lesson_of(item)]
