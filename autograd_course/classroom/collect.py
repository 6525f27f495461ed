"""Collect the records of a class: each progress.json below a folder.

A record comes from JupyterLab or from a page, and may contain anything. Therefore a file is read
only up to a size limit, no code in it is run, and no link is followed. A file that cannot be used
is left out, and the reason is reported. Texts from files pass through `plain`, so that they cannot
do any harm where they are shown.
"""

import io
import json
import os
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from .. import record
from ..grading import EXERCISES, registered
from ..quiz.texts import PREDICTIONS

MOST = 2_000_000  # bytes in a record; one with every cell of every lesson rewritten has a tenth of that
ZIP, UNPACKED = 20_000_000, 200_000_000  # bytes in a zip file, before and after unpacking
MANY = 5000  # records
MEMBERS = 20_000  # files in a zip
BROKEN = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
)  # what `sound` may raise on a damaged record


class LeftOut(Exception):
    """Report that a file is left out; the message is the reason."""


def collect(folder):
    """Return the results of a class, and the files that are left out.

    Records are read from all *.json files below the folder, also from those in zip files.

    Parameters
    ----------
    folder : str or path-like
        The folder that contains the records of the class. Its subfolders are searched too.

    Returns
    -------
    learners : dict of str to dict
        For the name of each learner, a dict of results:

        - "solved" is a list of the names of the solved exercises;
        - "tries" is a dict from the name of each exercise that was tried to a dict from each hint
          that the learner got to a count, which is at most 999;
        - "predictions" is a dict from the name of each prediction to a tuple (answer, sure, right):
          a string, an entry of record.SURE or "", and a bool.

        The results are in the order of the course. Exercises and predictions that the course does
        not have are left out. The name of a learner is the path of the file below `folder`, without
        .json and .zip and without a last part "progress" or "notebooks".
    left_out : list of (str, str)
        For each file that is left out, its path below the folder and the reason.

    Raises
    ------
    NotADirectoryError
        If the folder does not exist.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise NotADirectoryError(f"collect: expected a folder, got {folder}")
    registered()
    learners, left_out = {}, []
    for where, content in _files(folder):
        try:
            done = _done(content() if callable(content) else content)
            if len(learners) >= MANY:
                raise LeftOut(f"only the first {MANY:,} records are read")
        except LeftOut as why:
            left_out.append((plain(where, 200), str(why)))
        else:
            name = once = _learner(where)
            for number in range(2, MANY):
                if name not in learners:
                    break
                name = f"{once} ({number})"
            learners[name] = done
    return dict(sorted(learners.items(), key=lambda one: one[0].casefold())), sorted(left_out)


def plain(text, most):
    """Return a string from a file as a single line, cut to at most `most` characters.

    If text is cut off, the string ends in …, which counts as one of these characters. Characters
    that cannot be printed, or that change the direction of text, become �.
    """
    kept = "".join(c if c.isprintable() else "�" for c in text[: most + 1].replace("\n", " "))
    return kept if len(kept) <= most else kept[: most - 1] + "…"


def _learner(where):
    """Return the name of a learner, taken from the path of the learner's record."""
    path = PurePosixPath(where)
    parts = [part.removesuffix(".zip") for part in path.parts[:-1]] + [path.stem]
    while len(parts) > 1 and parts[-1] in ("progress", "notebooks"):
        parts.pop()
    return plain("/".join(parts), 80)


def _files(folder):
    """Yield (path, content) for every possible record below the folder.

    The path is relative to the folder. The content is the bytes of the file, or a function that
    returns the bytes or raises LeftOut.
    """
    folders = [(folder, "")]
    while folders:
        here, above = folders.pop(0)
        try:
            entries = sorted(os.scandir(here), key=lambda entry: entry.name)
        except OSError as error:
            yield above, _refused(f"this folder cannot be read ({error.strerror})")
            continue
        for entry in entries:
            where, kind = above + entry.name, entry.name.lower()[-5:]
            if (
                entry.name.startswith(".") or entry.name == "progress.new.json"
            ):  # a checkpoint of Jupyter's, or a half-written record
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append((entry.path, f"{where}/"))
            elif entry.is_symlink():
                yield where, _refused("it is a link, and links are not followed")
            elif kind == ".json":
                yield where, lambda path=entry.path: _read(path, MOST)
            elif kind.endswith(".zip"):
                yield from _zipped(entry.path, where)


def _refused(why):
    def refuse():
        raise LeftOut(why)

    return refuse


def _read(path, most):
    """Return the bytes of a file that has at most `most` bytes.

    Raises
    ------
    LeftOut
        If the file is larger, cannot be read, or is not a regular file.
    """
    try:
        with open(path, "rb", opener=_careful) as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise LeftOut("it is not a regular file")
            if about.st_size > most:
                raise LeftOut(f"it is {about.st_size:,} bytes long; the limit is {most:,}")
            return file.read(most)
    except OSError as error:
        raise LeftOut(f"it cannot be read ({error.strerror})") from None


def _careful(path, flags):
    """Open a file like os.open, but do not follow a link and do not wait for a pipe.

    A link may have replaced the file since the folder was listed.
    """
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))


def _zipped(path, where):
    """Yield (path, content) for the files in a zip archive, in the form of `_files`.

    `path` is the location of the archive, and `where` is its path relative to the folder. An
    archive inside the archive is not opened.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(_read(path, ZIP))) as zipped:
            members = zipped.infolist()
            if len(members) > MEMBERS:
                raise LeftOut(f"it contains {len(members):,} files; the limit is {MEMBERS:,}")
            unpacked = []
            for one in members:
                name = one.filename
                if name.lower().endswith(".zip"):
                    yield f"{where}/{name}", _refused("a zip in a zip is not opened")
                elif name.lower().endswith(".json") and not any(
                    part.startswith(".") for part in name.split("/")
                ):
                    yield f"{where}/{name}", lambda one=one: _member(zipped, one, unpacked)
    except LeftOut as why:
        yield where, _refused(str(why))
    except (OSError, zipfile.BadZipFile, *BROKEN):
        yield where, _refused("it is not a zip file, or it is damaged")


def _member(zipped, one, unpacked):
    """Return the bytes of one file in a zip archive, and stop unpacking at the size limit.

    The size that the archive states is not trusted. `one` is the archive's entry for the file.
    `unpacked` is a list of the sizes of the files unpacked so far, and the size of this file is
    appended to it.

    Raises
    ------
    LeftOut
        If the file, or the files before it together, are too large, or if the file cannot be
        unpacked.
    """
    if sum(unpacked) > UNPACKED:
        raise LeftOut(
            f"the files before it in this zip unpack to more than {UNPACKED:,} bytes, which is the limit"
        )
    if one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise LeftOut("it uses a compression method that is not supported")
    try:
        with zipped.open(one) as file:
            content = file.read(MOST + 1)
    except (
        OSError,
        RuntimeError,
        EOFError,
        zipfile.BadZipFile,
        zlib.error,
        *BROKEN,
    ):  # RuntimeError: a password
        raise LeftOut("it cannot be unpacked") from None
    unpacked.append(len(content))
    if len(content) > MOST:
        raise LeftOut(f"it has more than {MOST:,} bytes when unpacked; the limit is {MOST:,}")
    return content


def _done(content):
    """Return a learner's results, in the form that `collect` returns, from the bytes of the record.

    Raises
    ------
    LeftOut
        If the bytes are not a valid record of this course.
    """
    try:
        text = content.decode("utf-8-sig")
        ours = isinstance(found := json.loads(text), dict) and "exercises" in found
        kept = record.sound(text) if ours else None
    except BROKEN:
        raise LeftOut("it is damaged: it is not a record in JSON format") from None
    if not ours:
        raise LeftOut("it is not a record of this course")
    solved, tries, made = set(kept["exercises"]), kept["tries"], kept["predictions"]
    return {
        "solved": [name for name in EXERCISES if name in solved],
        "tries": {name: _hints(tries[name]["wrong"]) for name in EXERCISES if name in tries},
        "predictions": {name: _said(made[name]) for name in PREDICTIONS if name in made},
    }


def _hints(wrong):
    return {plain(hint, 300): min(max(times, 1), 999) for hint, times in [*wrong.items()][:50]}


def _said(made):
    return (
        plain(", ".join(made["answer"][:8]), 60),
        made["sure"] if made["sure"] in record.SURE else "",
        made["right"],
    )
