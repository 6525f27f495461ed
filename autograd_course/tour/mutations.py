"""Delete one statement of the engine, and load the package without it, from the current source."""

import ast
import importlib
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

HOME = Path(__file__).parents[2] / "autograd_lib"
CORE = [
    "values",
    "levels",
    "tape",
    "rows",
    "forward",
    "ops",
    "operators",
    "transforms",
    "checkpoint",
]
DELETED = [*CORE, "compiler/traced", "compiler/plan"]  # *Read every line* deletes their statements
READ = [  # the files on the page *Read every line*
    *CORE,
    *(
        f"compiler/{file}"
        for file in ("traced", "trace", "__init__", "signature", "program", "plan", "writer")
    ),
]
MOST_STEPS = (
    50_000  # times round any loop of the engine: four times what the longest contract takes
)
NAMES = (
    ast.FunctionDef,
    ast.ClassDef,
    ast.Import,
    ast.ImportFrom,
    ast.Pass,
)  # never deleted: these only define names


class StepLimitExceeded(
    BaseException
):  # a BaseException, because an `except Exception` in the engine would catch an Exception
    """Report that a program did not end."""


@dataclass(frozen=True)
class Statement:
    """Hold one statement of the engine.

    `file` is "tape" or "compiler/plan"; `where` is the definition around it, "Primitive.record", or
    "".
    """

    file: str
    where: str
    line: int
    text: str


def files(folder=HOME):
    """Return the files whose statements can be removed: the core, and the compiler if present."""
    return CORE + [f"compiler/{path.stem}" for path in sorted((folder / "compiler").glob("*.py"))]


def statements(file, folder=HOME):
    """Return every Statement of a file, including those that contain others.

    Docstrings, imports, and the `def` and `class` statements are left out.
    """
    return list(_read(file, folder)[1])


@cache
def _read(file, folder):
    """Return (syntax tree of a file, {Statement: (the list that holds it, its node)}).

    Loops in the tree count their steps.
    """
    text = (folder / f"{file}.py").read_text(encoding="utf-8")
    lines, tree, found, loops = text.splitlines(), ast.parse(text), {}, []

    def walk(node, where):
        for body in (
            getattr(node, field, None) for field in ("body", "orelse", "handlers", "finalbody")
        ):
            for one in body if isinstance(body, list) else []:
                inner = where
                if isinstance(one, (ast.FunctionDef, ast.ClassDef)):
                    inner = f"{where}.{one.name}".lstrip(".")
                elif (
                    isinstance(one, ast.stmt)
                    and not isinstance(one, NAMES)
                    and not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
                ):
                    said = "\n".join(lines[one.lineno - 1 : one.end_lineno])
                    found[Statement(file, where, one.lineno, said)] = body, one
                walk(one, inner)
        if isinstance(node, (ast.For, ast.While)):
            loops.append(node)

    walk(tree, "")
    for node in loops:
        step = ast.Expr(ast.Call(ast.Name("__step__", ast.Load()), [], []))
        node.body.insert(0, ast.copy_location(step, node.body[0]))
        ast.fix_missing_locations(node.body[0])
    return tree, found


@cache
def _codes(file, folder):
    """Return the compiled code of each statement of the module itself.

    To remove a statement, only one of them is recompiled.
    """
    return [_compiled(node, file, folder) for node in _read(file, folder)[0].body]


def _compiled(node, file, folder):
    return compile(ast.Module([node], []), str(folder / f"{file}.py"), "exec")


def _codes_without(statement, folder):
    tree, found = _read(statement.file, folder)
    codes, (body, node) = list(_codes(statement.file, folder)), found[statement]
    at = body.index(node)
    body[at] = ast.copy_location(ast.Pass(), node)
    try:
        top = next(i for i, one in enumerate(tree.body) if one.end_lineno >= statement.line)
        codes[top] = _compiled(tree.body[top], statement.file, folder)
    finally:
        body[at] = node
    return codes


class EngineWithout:
    """Find and load the modules of a copy of the engine called `name`.

    The copy lacks `statement`, if one is given.

    Insert the finder into sys.meta_path. `steps` is the rest of MOST_STEPS: at 0, a loop of the
    package raises StepLimitExceeded.
    """

    def __init__(self, name, statement=None, folder=HOME, most=MOST_STEPS):
        self.name, self.statement, self.folder, self.most = name, statement, folder, most
        self.steps = most

    def step(self):
        self.steps -= 1
        if self.steps < 0:
            raise StepLimitExceeded

    def find_spec(self, fullname, path=None, target=None):
        name, _, rest = fullname.partition(".")
        place = self.folder / rest.replace(".", "/")
        if name != self.name or not (place.is_dir() or place.with_suffix(".py").exists()):
            return None
        inside = [str(place)] if place.is_dir() else None
        file = place / "__init__.py" if inside else place.with_suffix(".py")
        return spec_from_file_location(
            fullname, file, loader=self, submodule_search_locations=inside
        )

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        file = Path(module.__spec__.origin).relative_to(self.folder).with_suffix("").as_posix()
        module.__step__ = self.step
        lacks = self.statement is not None and self.statement.file == file
        for code in (
            _codes_without(self.statement, self.folder) if lacks else _codes(file, self.folder)
        ):
            exec(code, module.__dict__)


@contextmanager
def engine_without(statement=None, folder=HOME):
    """Provide the engine without `statement` as a context manager.

    It yields a module with the public names of the core; the `finder` of the module is the
    EngineWithout.

    The copy is a package with a different name, so that the engine itself does not change, and it
    is removed afterwards. An error or StepLimitExceeded during loading is raised.
    """
    name = "autograd_without"
    finder, package = EngineWithout(name, statement, folder), ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules[name] = package
    sys.meta_path.insert(0, finder)
    try:
        parts = [importlib.import_module(f"{name}.{file}") for file in [*CORE, "compiler"]]
        for part in parts:
            vars(package).update(
                (key, value) for key, value in vars(part).items() if not key.startswith("_")
            )
        package.finder = finder
        yield package
    finally:
        sys.meta_path.remove(finder)
        for one in [one for one in sys.modules if one.partition(".")[0] == name]:
            del sys.modules[one]
