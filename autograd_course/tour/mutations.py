"""Load a copy of the engine from its current source, with one statement deleted."""

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
    """Report that the loops of the engine ran for too many steps."""


@dataclass(frozen=True)
class Statement:
    """Hold one statement of the engine.

    Attributes
    ----------
    file : str
        The name of the file without its suffix, such as "tape" or "compiler/plan".
    where : str
        The function, method or class that contains the statement, such as "Primitive.record", or ""
        for a statement outside of all of them.
    line : int
        The number of the first line of the statement in the file, from 1.
    text : str
        The lines of the statement, with their indentation.
    """

    file: str
    where: str
    line: int
    text: str


def files(folder=HOME):
    """Return the names of the files whose statements can be deleted, such as "tape".

    These are the files of the core and, if the folder `compiler` exists, the files in this folder.
    `folder` is the Path of the engine's source.
    """
    return CORE + [f"compiler/{path.stem}" for path in sorted((folder / "compiler").glob("*.py"))]


def statements(file, folder=HOME):
    """Return a list of all Statements in a file, including those inside other statements.

    Docstrings, imports, `pass`, and the `def` and `class` statements are left out.

    Parameters
    ----------
    file : str
        The name of the file without its suffix, such as "tape".
    folder : Path
        The folder of the engine's source.
    """
    return list(_read(file, folder)[1])


@cache
def _read(file, folder):
    """Parse a file, and return its syntax tree and the place of each Statement in the tree.

    The places are a dict that maps Statement to (body, node), where `node` is its node in the tree
    and `body` is the list of statements that contains this node. A call to `__step__` is added to
    the start of every loop in the tree, to count its iterations.
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
    """Return a list with the compiled code of each top-level statement of a file.

    To delete a statement, it is enough to recompile the top-level statement that contains it.
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
    """Find and load the modules of a copy of the engine, as an entry of `sys.meta_path`.

    The attribute `steps` is the number of loop iterations that are left. When none are left, a loop
    of the copy raises StepLimitExceeded.

    Parameters
    ----------
    name : str
        The name of the package that contains the copy.
    statement : Statement, optional
        The statement that is deleted from the copy. By default, none is deleted.
    folder : Path
        The folder of the engine's source.
    most : int
        The number of loop iterations that are allowed.
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
    """Load a copy of the engine without `statement`, as a context manager.

    The copy is a package with a different name, so the engine itself does not change. The copy is
    removed from `sys.modules` at the end of the block.

    Parameters
    ----------
    statement : Statement, optional
        The statement to delete. By default, none is deleted.
    folder : Path
        The folder of the engine's source.

    Yields
    ------
    module
        The package, with all public names of the core and of the compiler. Its attribute `finder`
        is the EngineWithout.

    Raises
    ------
    StepLimitExceeded
        If the loops run for too many steps while the copy is loaded. Every other error of the copy
        is raised too.
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
