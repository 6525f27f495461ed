"""The class report counts correctly, also for a hundred simulated learners, and survives any
damaged file.
"""

import csv
import io
import json
import os
import re
import subprocess
import sys
import time
import zipfile
from html.parser import HTMLParser
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import lab
import pytest

from autograd_course import record
from autograd_course.classroom import collect, page
from autograd_course.classroom.__main__ import main
from autograd_course.grading import EXERCISES, registered
from autograd_course.quiz.texts import PREDICTIONS

ROOT = Path(__file__).parents[2]
registered()
spec = spec_from_file_location("simulated", Path(__file__).with_name("simulated.py"))
simulated = module_from_spec(spec)
spec.loader.exec_module(simulated)


def made(answer, sure, right):
    return {
        "answer": [answer],
        "sure": sure,
        "right": right,
        "recalled": False,
        "missed": int(not right),
    }


def kept(exercises=(), tries=None, **parts):
    counted = {name: {"wrong": wrong, "last": 0} for name, wrong in (tries or {}).items()}
    return {"exercises": [*exercises], "tries": counted} | parts


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())


CLASS = {
    "anna": kept(
        ["03.square", "03.divide"],
        {"03.square": {"one arrival": 2, "": 1}, "03.divide": {}},
        predictions={"02.both": made("7", "certain", False), "02.path": made("1", "certain", True)},
    ),
    "bert": kept(
        ["03.square"],
        {"03.square": {"one arrival": 1}},
        predictions={
            "02.both": made("7", "certain", False),
            "02.path": made("5", "guessing", False),
        },
    ),
    "carl": kept(
        [], {"03.square": {"one arrival": 4}}, predictions={"02.both": made("8", "certain", False)}
    ),
    "dora": {"exercises": ["03.square", "99.of_another_year"], "predictions": {}, "cards": {}},
}  # a file from before this field existed


@pytest.fixture
def four(tmp_path):
    for learner, content in CLASS.items():
        put(tmp_path / learner / "notebooks/progress.json", content)
    return tmp_path


def test_what_is_counted(four):
    learners, left_out = collect.collect(four)
    assert [*learners] == ["anna", "bert", "carl", "dora"] and left_out == []
    assert page.exercises(learners) == {
        "03.square": {
            "solved": 3,
            "stuck": 1,
            "tries": 3,
            "wrong": [("one arrival", 3, 7), ("", 1, 1)],
        },
        "03.divide": {"solved": 1, "stuck": 0, "tries": 1, "wrong": []},
    }
    assert page.predictions(learners) == {
        "02.both": {"made": 3, "right": 0, "sure and wrong": 3, "wrong": [("7", 2), ("8", 1)]},
        "02.path": {"made": 2, "right": 1, "sure and wrong": 0, "wrong": [("5", 1)]},
    }


def test_the_most_frequent_mistakes_come_first(four):
    shown = page.page(*collect.collect(four))
    top = shown[shown.index("To discuss next") : shown.index("<h2>Progress")]
    said = [
        "02.both: 3 of 3 were certain but wrong.",
        "2 learners answered <code>7</code>",
        "03.square: 1 tried it but have not solved it, and 3 have.",
        "1 of them got the hint “one arrival”",
    ]
    assert [one in top for one in said] == [True] * 4 and "02.path" not in top
    assert 'title="03 Derive the arithmetic: 2 of 5' in shown and "0 of 5 solved, 1 tried" in shown
    assert "No learner was certain" in page.page({"dora": collect.collect(four)[0]["dora"]})


def test_the_table_has_a_line_for_each_learner_and_question(four):
    assert main(str(four)) == 0
    rows = [*csv.DictReader(io.StringIO((four / "class.csv").read_text(encoding="utf-8-sig")))]
    assert len(rows) == 5 + 5
    assert rows[0] == {
        "learner": "anna",
        "kind": "exercise",
        "name": "03.square",
        "right": "yes",
        "wrong tries": "3",
        "sure": "",
        "hints, or the answer": "2 × one arrival; 1 × no hint",
    }
    assert [*rows[-1].values()] == ["dora", "exercise", "03.square", "yes", "", "", ""]
    assert main(str(four)) == 0 and len(collect.collect(four)[0]) == 4, (
        "its own files are no records"
    )


@pytest.mark.parametrize(
    "where, learner",
    [
        ("anna.json", "anna"),
        ("progress.json", "progress"),
        ("a/b/notebooks/progress.json", "a/b"),
        ("progress (3).json", "progress (3)"),
        ("x/Anna_1_file_progress.json", "x/Anna_1_file_progress"),
        ("class.zip/anna/progress.json", "class/anna"),
        ("anna.zip/progress.json", "anna"),
    ],
)
def test_a_learner_is_named_by_the_file_or_its_folder(tmp_path, where, learner):
    outer, zipped, inner = where.rpartition(".zip/")
    if zipped:
        with zipfile.ZipFile(tmp_path / f"{outer}.zip", "w") as file:
            file.writestr(inner, json.dumps(CLASS["anna"]))
            file.writestr("__MACOSX/._progress.json", b"\x00")
    else:
        put(tmp_path / where, CLASS["anna"])
    put(tmp_path / "x/.ipynb_checkpoints/progress-checkpoint.json", CLASS["bert"])
    learners, left_out = collect.collect(tmp_path)
    assert [*learners] == [learner] and left_out == []


def test_two_of_one_name_are_two_and_a_page_and_windows_are_read(tmp_path):
    put(
        tmp_path / "anna.json",
        b"\xef\xbb\xbf" + json.dumps(CLASS["anna"] | {"cells": {"03/a": {"text": ""}}}).encode(),
    )
    put(tmp_path / "anna/progress.json", CLASS["bert"])
    learners, _ = collect.collect(tmp_path)
    assert {name: len(one["solved"]) for name, one in learners.items()} == {
        "anna": 2,
        "anna (2)": 1,
    }


# ---------------------------------------------------------------- a hundred learners


@pytest.mark.rotating("autograd_course/classroom/", "autograd_course/record.py", "tests/classroom/")
def test_a_hundred_simulated_learners(tmp_path, monkeypatch, record_property):
    start = time.process_time()
    hints = simulated.write_class(tmp_path, 100, monkeypatch)
    made_them = time.process_time() - start
    assert main(str(tmp_path)) == 0
    took = time.process_time() - start - made_them
    record_property(
        "summary", f"a class of 100: simulated in {made_them:.1f} s, its page in {took:.1f} s"
    )
    assert made_them + took < 10
    records = [
        record.sound(path.read_text(encoding="utf-8")) for path in tmp_path.glob("*/progress.json")
    ]
    counts = page.exercises(collect.collect(tmp_path)[0])
    assert len(records) == 100 and set(counts) == set(simulated.NAMES)
    for name, one in counts.items():
        assert one["solved"] == sum(name in each["exercises"] for each in records) > 5
        assert {hint for hint, *_ in one["wrong"]} <= hints[name], (
            "what the check said, and nothing else"
        )
        assert sum(times for *_, times in one["wrong"]) == sum(
            sum(each["tries"][name]["wrong"].values()) for each in records if name in each["tries"]
        )
    shown = (tmp_path / "class.html").read_text(encoding="utf-8")
    assert (
        all(f"{one['solved']} solved" in shown for one in counts.values()) and len(shown) < 200_000
    )


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: no page is opened"
    )
    with sync_api.sync_playwright() as playwright, lab.chromium(playwright) as browser:
        if not browser:
            pytest.skip("no Chromium or Chrome here: the class page is not opened in a browser")
        yield browser


@pytest.mark.parametrize(
    "width, scheme, paper",
    [(1280, "light", "rgb(255, 255, 255)"), (390, "dark", "rgb(22, 24, 27)")],
)
def test_the_page_fits_and_fetches_nothing(four, browser, width, scheme, paper):
    put(
        four / f"{'n' * 60}.json", CLASS["anna"] | kept(["00.value"], {"03.square": {"w" * 250: 1}})
    )
    main(str(four))
    with browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme
    ) as context:
        opened, asked = context.new_page(), []
        opened.on("request", lambda request: asked.append(request.url))
        opened.goto((four / "class.html").as_uri())
        assert opened.evaluate("document.documentElement.scrollWidth") == width and len(asked) == 1
        assert opened.evaluate("getComputedStyle(document.body).backgroundColor") == paper
        opened.emulate_media(media="print", color_scheme=scheme)
        assert (
            opened.evaluate("getComputedStyle(document.body).backgroundColor")
            == "rgb(255, 255, 255)"
        ), "on paper"


# ---------------------------------------------------------------- hostile files


def zipped(*members, **options):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **options) as made:
        for name, content in members:
            made.writestr(name, content)
    return file.getvalue()


DEEP = b'{"exercises": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
GOOD = json.dumps(CLASS["anna"]).encode()
HOSTILE = {
    "empty.json": (b"", "damaged"),
    "half.json": (b'{"exercises": ["03.sq', "damaged"),
    "deep.json": (DEEP, "damaged"),
    "bytes.json": (bytes(range(256)), "damaged"),
    "list.json": (b"[]", "not a record of this course"),
    "package.json": (b'{"name": "left-pad", "predictions": {}}', "not a record of this course"),
    "types.json": (kept(["03.square"], predictions=[]), "damaged"),
    "times.json": (kept([], {"03.square": {"a": "b"}}), "damaged"),
    "infinite.json": (
        b'{"exercises": [], "tries": {"03.square": {"wrong": {"a": 1e999}, "last": 0}}}',
        "damaged",
    ),
    "digits.json": (
        b'{"exercises": [], "gym": {"a": {"right": ' + b"9" * 10_000 + b"}}}",
        "damaged",
    ),
    "huge.json": (
        b'{"exercises": []' + b" " * collect.MOST + b"}",
        "the limit is 2,000,000",
    ),
    "none.zip": (b"PK\x03\x04 and no more", "not a zip file, or it is damaged"),
    "bomb.zip": (
        zipped(("a.json", b" " * 50_000_000), compression=zipfile.ZIP_DEFLATED),
        "more than 2,000,000 bytes",
    ),
    "inner.zip": (
        zipped(("itself.zip", zipped(("anna.json", GOOD)))),
        "a zip in a zip is not opened",
    ),
    "packed.zip": (
        zipped(("a.json", GOOD), compression=zipfile.ZIP_LZMA),
        "a compression method that is not supported",
    ),
    "spoilt.zip": (
        zipped(("a.json", GOOD)).replace(b"03.square", b"03.squarf"),
        "cannot be unpacked",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_left_out_with_a_reason(four, name, capsys):
    content, why = HOSTILE[name]
    put(four / name, content)
    learners, left_out = collect.collect(four)
    ((where, said),) = left_out
    assert len(learners) == 4 and where.startswith(name) and why in said
    assert main(str(four)) == 0 and f"left out: {where}: {said}" in capsys.readouterr().out
    assert f"<li><code>{where}</code>: {said}</li>" in (four / "class.html").read_text(
        encoding="utf-8"
    )


def test_a_zip_whose_parts_are_one_another_is_unpacked_to_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(collect, "UNPACKED", 3 * collect.MOST)
    members = [(f"{i}.json", b" " * collect.MOST) for i in range(9)]
    put(tmp_path / "many.zip", zipped(*members, compression=zipfile.ZIP_DEFLATED))
    left_out = collect.collect(tmp_path)[1]
    assert ["the files before it in this zip unpack to more" in why for _, why in left_out] == [
        False
    ] * 4 + [True] * 5


def test_too_many_records_and_members(four, monkeypatch):
    monkeypatch.setattr(collect, "MANY", 3)
    assert collect.collect(four)[1] == [
        ("dora/notebooks/progress.json", "only the first 3 records are read")
    ]
    monkeypatch.setattr(collect, "MEMBERS", 2)
    put(four / "many.zip", zipped(*((f"{i}.json", GOOD) for i in range(3))))
    assert ("many.zip", "it contains 3 files; the limit is 2") in collect.collect(four)[1]


@pytest.mark.skipif(os.name == "nt", reason="links and pipes as Linux and macOS have them")
def test_links_are_not_followed_and_a_pipe_is_not_waited_for(four, tmp_path_factory, capsys):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    put(elsewhere / "secret.json", CLASS["anna"])
    (four / "link.json").symlink_to(elsewhere / "secret.json")
    (four / "up").symlink_to(four, target_is_directory=True)
    (four / "itself.json").symlink_to(four / "itself.json")
    os.mkfifo(four / "pipe.json")
    with pytest.raises(collect.LeftOut):
        collect._read(
            four / "link.json", collect.MOST
        )  # as if it had come after the folder was read
    put(elsewhere / "mine.txt", b"mine")
    (four / "class.html").symlink_to(elsewhere / "mine.txt")
    learners, left_out = collect.collect(four)
    assert len(learners) == 4 and dict(left_out) == dict.fromkeys(
        ["class.html", "itself.json", "link.json", "up"], "it is a link, and links are not followed"
    ) | {"pipe.json": "it is not a regular file"}
    assert main(str(four)) == 0 and not (four / "class.html").is_symlink()
    assert (elsewhere / "mine.txt").read_text() == "mine"


def test_unreadable_files_are_reported(four, monkeypatch):
    def refusing(act, where):
        def refuse(path, *more, **options):
            if where in str(path):
                raise PermissionError(13, "Permission denied")
            return act(path, *more, **options)

        return refuse

    monkeypatch.setattr(collect.os, "scandir", refusing(os.scandir, "anna"))
    monkeypatch.setattr(collect, "open", refusing(open, "bert"), raising=False)
    assert collect.collect(four)[1] == [
        ("anna/", "this folder cannot be read (Permission denied)"),
        ("bert/notebooks/progress.json", "it cannot be read (Permission denied)"),
    ]


def test_folders_are_walked_to_any_depth(tmp_path):
    deep = tmp_path
    for _ in range(sys.getrecursionlimit() // 20):
        deep = deep / "d"
    put(deep / "progress.json", CLASS["anna"])
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(deep.parts) + 120)
    try:
        assert len(collect.collect(tmp_path)[0]) == 1
    finally:
        sys.setrecursionlimit(limit)


class Tags(HTMLParser):
    def __init__(self, shown):
        super().__init__()
        self.tags, self.words, self.inside = set(), [], ""
        self.feed(shown)

    def handle_starttag(self, tag, attributes):
        self.tags |= {tag, *(name for name, _ in attributes)}
        self.inside = tag

    def handle_data(self, data):
        self.words += [data] * (self.inside != "style")


EVIL = '"><script>alert(1)</script><img src=x onerror=alert(2)>\u202etxt\ud800\x1b[31m\nnew'


@pytest.mark.skipif(os.name == "nt", reason="no such names there")
def test_everything_from_a_file_is_escaped(tmp_path, capsys):
    evil = kept(
        ["03.square", EVIL],
        {"03.divide": {EVIL: 2}, EVIL: {EVIL: 1}},
        cards={EVIL: [EVIL]},
        predictions={
            "02.both": made(EVIL, "certain", False),
            EVIL: made(EVIL, EVIL, False),
            "02.path": made("=1+cmd|' /C calc'!A0", EVIL, False),
        },
    )
    put(tmp_path / f"{EVIL[:2]}<b onclick=alert(3)>\x1b[31m.json", evil)
    put(tmp_path / "<script>.json", b"damaged")
    assert main(str(tmp_path)) == 0
    assert "\x1b" not in capsys.readouterr().out
    shown = (tmp_path / "class.html").read_text(encoding="utf-8")
    tags = Tags(shown)
    assert not tags.tags & {"script", "img", "onerror", "onclick", "src"} and not re.search(
        "[\u202e\x1b\ud800]", shown
    )
    assert any("<script>alert(1)</script>" in words for words in tags.words), "it is shown as it is"
    table = (tmp_path / "class.csv").read_text(encoding="utf-8-sig")
    cells = [cell for row in csv.reader(io.StringIO(table)) for cell in row]
    assert "'=1+cmd|' /C calc'!A0" in cells and not any(
        re.match(r"[=+@]|-\D", cell) for cell in cells
    )


def test_a_number_in_the_table_stays_a_number():
    file = io.StringIO()
    said = {name: (answer, "", True) for name, answer in zip(PREDICTIONS, ["-3", "-1/3", "-a"])}
    page.write_table({"a": {"solved": [], "tries": {}, "predictions": said}}, file)
    assert [row[-1] for row in csv.reader(io.StringIO(file.getvalue()))][1:] == [
        "-3",
        "-1/3",
        "'-a",
    ]


# ---------------------------------------------------------------- formulas, and the command


@pytest.mark.parametrize(
    "tex, shown",
    [
        (r"\frac{1}{2}(w_1^2 + 25\,w_2)", "½(w<sub>1</sub><sup>2</sup> + 25 w<sub>2</sub>)"),
        (r"\partial z / \partial x", "∂ z / ∂ x"),
        ("e^{-2x}", "e<sup>−2x</sup>"),
        (r"\sqrt{x_1^2}", "√(x<sub>1</sub><sup>2</sup>)"),
        (r"\sin x \cdot \cos x", "sin x · cos x"),
    ],
)
def test_formulas_are_spelled(tex, shown):
    assert page._spelled(tex) == shown


@pytest.mark.parametrize(
    "one", [*PREDICTIONS.values(), *EXERCISES.values()], ids=[*PREDICTIONS, *EXERCISES]
)
def test_no_question_shows_its_tex(one):
    shown = page._html(one.question) + page._html(getattr(one, "reveal", ""))
    assert not re.search(r"\\|\$", re.sub("<code>.*?</code>", "", shown, flags=re.DOTALL))


def test_the_command_reports_missing_arguments(tmp_path):
    def said(*arguments):
        command = [sys.executable, "-m", "autograd_course.classroom", *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    wanting = [said(str(tmp_path / "nowhere")), said(str(tmp_path)), said()]
    assert [one.stderr[:18] for one in wanting] == [
        "collect: expected ",
        "There is no record",
        "Name the folder wi",
    ]
    assert [one.returncode for one in wanting] == [1, 1, 1] and not list(tmp_path.iterdir())


def test_the_page_goes_elsewhere_if_asked(four, tmp_path_factory, capsys):
    where = tmp_path_factory.mktemp("where")
    assert main(str(four), str(where)) == 0 and str(where / "class.html") in capsys.readouterr().out
    assert sorted(path.name for path in where.iterdir()) == ["class.csv", "class.html"]
    assert not (four / "class.html").exists() and main(str(four), str(where / "new")) == 0


def test_run_py_makes_the_page(four):
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import run, sys; run.install = lambda: None; run.VENV = None; "
            "run.python_of = lambda _: sys.executable; sys.exit(run.main('class-report', *sys.argv[1:]))",
            ".",
        ],
        cwd=four,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "4 records" in done.stdout and (four / "class.html").exists(), (
        done.stderr
    )
