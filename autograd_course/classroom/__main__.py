"""Write a report on a class, class.html and class.csv: `make class-report ARGS=FOLDER`.

FOLDER contains the progress.json of each learner. `make class-report ARGS="FOLDER WHERE"` writes
the report into the folder WHERE, for example if FOLDER is read-only, or if learners could read the
report there.
"""

import sys
from pathlib import Path

from ..drawing.formatting import counted
from .collect import collect
from .page import page, write_table


def main(*arguments):
    """Write class.html and class.csv, and return 0 or an error message.

    Parameters
    ----------
    *arguments : str
        The arguments of the command: the folder that contains the records and, optionally, the
        folder for the report. By default, the report is written into the folder of the records.

    Returns
    -------
    int or str
        0 if the files are written, else an error message.
    """
    if len(arguments) not in (1, 2):
        return (
            "Name the folder with the records:  make class-report ARGS=FOLDER  "
            'or  make class-report ARGS="FOLDER WHERE"'
        )
    folder, where = Path(arguments[0]), Path(arguments[-1])
    try:
        learners, left_out = collect(folder)
        for file, why in left_out[:20]:
            print(f"left out: {file}: {why}")
        if len(left_out) > 20:
            print(f"left out: {len(left_out) - 20:,} more")
        if not learners:
            return (
                f"There is no record below {folder}: expected progress.json or other *.json files, "
                "or a zip of them."
            )
        where.mkdir(parents=True, exist_ok=True)
        with _new(where / "class.html") as file:
            file.write(page(learners, left_out))
        with _new(
            where / "class.csv", "utf-8-sig"
        ) as file:  # Excel recognises UTF-8 by the byte order mark
            write_table(learners, file)
    except OSError as error:
        return str(error)
    print(f"{counted(len(learners), 'record')}: {where / 'class.html'} and class.csv beside it")
    return 0


def _new(path, encoding="utf-8"):
    """Create the file `path` and return it, open for writing text.

    An existing file is deleted first. If it is a link, the file to which it points is not changed.
    """
    path.unlink(missing_ok=True)
    return open(path, "x", encoding=encoding, newline="", errors="replace")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
