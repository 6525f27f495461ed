"""`make class ARGS=FOLDER`: FOLDER/class.html and FOLDER/class.csv, of every progress.json below the folder."""
import sys
from pathlib import Path

from .collect import collect
from .page import page, write_table


def main(*arguments):
    """Writes both files; 0, or a sentence that says what was wanting."""
    if len(arguments) != 1:
        return "Say which folder the records are in:  make class ARGS=FOLDER"
    folder = Path(arguments[0])
    try:
        learners, left_out = collect(folder)
        for where, why in left_out[:20]:
            print(f"left out: {where}: {why}")
        if len(left_out) > 20:
            print(f"left out: {len(left_out) - 20:,} more")
        if not learners:
            return f"There is no record below {folder}: no progress.json, no learner's *.json, no zip of them."
        with _new(folder / "class.html") as file:
            file.write(page(learners, left_out))
        with _new(folder / "class.csv", "utf-8-sig") as file:      # by its mark Excel knows UTF-8
            write_table(learners, file)
    except OSError as error:
        return str(error)
    print(f"{len(learners):,} records: {folder / 'class.html'} and class.csv beside it")
    return 0


def _new(path, encoding="utf-8"):
    """The file opened to be written anew: were it a link, what it leads to is left alone."""
    path.unlink(missing_ok=True)
    return open(path, "x", encoding=encoding, newline="", errors="replace")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
