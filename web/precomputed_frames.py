"""Draw the pictures for all slider positions of an explorer, and pack them for a static page.

An explorer (autograd_course.widgets) is a picture with sliders. This module uses only its public
interface: `ui.positions()`, `ui.values()`, `ui.sliders`, and the pure function `ui.draw(**values)`.
While the site is built, `kernel_startup.py` calls it for each explorer that a notebook shows.
"""

import base64
import gzip
import json
import re
from itertools import product
from math import prod

from ipywidgets import RadioButtons

MIME = "application/vnd.autograd-course.frames+json"
MOST = 1350  # pictures behind the sliders of one explorer
EACH = [
    41,
    31,
    21,
    17,
    13,
    11,
    9,
]  # values of one slider: the first that keeps all together within MOST
PLAYED = 101  # values of a slider with a play button, if the others leave room
ALONE = 41  # values of each slider if no combination fits, while the others keep their start values
MARK = "\x1f"  # occurs in no picture
NUMBER = re.compile(r"(\d+(?:\.\d+)?)")
FEW = 4  # pictures built alike: of fewer each is stored by itself


def bundle(ui):
    """Return the notebook output of an explorer or stepper: a dict of data by MIME type.

    The packed pictures are added under the type MIME.
    """
    return ui._repr_mimebundle_() | {MIME: packed(getattr(ui, "explorer", ui))}


def packed(ui):
    """Return a dict with the controls of `ui`, its first picture, and a picture for each position.

    If "together" is True, there is a picture for every combination of control values, and the last
    control varies fastest. Otherwise only one control changes at a time, and the others keep their
    start values. "data" contains the frames, as `stored` returns them, and the list "at" with the
    index of the frame for each position, written as JSON, compressed by gzip and encoded by
    `as_text`. A frame consists of a drawing, MARK and a description of the drawing. Raise
    ValueError if a picture changes when it is drawn again.
    """
    start, every = ui.values(), {name: values for name, values in ui.positions().items() if values}
    values, together = chosen(every, start, ui.players)
    if together:
        places = [start | dict(zip(values, place)) for place in product(*values.values())]
    else:
        places = [start | {name: value} for name in values for value in values[name]]
    frames, at = {}, []
    for place in places:
        picture = ui.draw(**place)
        at.append(frames.setdefault(f"{picture.html}{MARK}{picture.text}", len(frames)))
    first = ui.draw(**start)
    again = f"{ui.picture.html}{MARK}{ui.picture.text}"
    if again not in frames or again != f"{first.html}{MARK}{first.text}":
        raise ValueError(
            f"the drawing controlled by {', '.join(every)} changes when it is drawn again; "
            "make it depend only on its arguments"
        )
    data = json.dumps(stored(list(frames)) | {"at": at}, ensure_ascii=False, separators=(",", ":"))
    return {
        "controls": controls(ui, values),
        "together": together,
        "html": first.html,
        "text": first.text,
        "says_all": first.says_all,
        "below": getattr(ui, "below", ""),
        "data": as_text(compressed(data.encode())),
    }


def controls(ui, values):
    """Return a list with the data from which a page builds each control of `ui`.

    `values` is a dict with the name of each control and a list of the values that the page offers.
    The data of a control are a dict with the keys name, values (strings), numbers (True if the
    values are numbers), toggle (True if all values are visible at once), start (the index of the
    first value shown), and pace (milliseconds per frame, or 0 if the control does not play).
    """
    start, every = ui.values(), ui.positions()
    pace = {
        name: round(player.interval * len(every[name]) / len(values[name]))
        for name, player in ui.players.items()
    }
    return [
        {
            "name": name,
            "values": list(map(said, values[name])),
            "numbers": not is_choice(values[name]),
            "toggle": isinstance(ui.sliders[name], RadioButtons),
            "start": values[name].index(start[name]),
            "pace": pace.get(name, 0),
        }
        for name in values
    ]


def compressed(content):
    """Return the bytes `content`, compressed by gzip at libdeflate's highest level.

    The result is about a tenth smaller than that of Python's gzip.
    """
    import deflate  # pages that run import this module too, and have no such package

    return bytes(deflate.gzip_compress(content, 12))


def as_text(data):
    """Return the bytes `data` as text in base 85, which is 6 % shorter than base 64.

    A comma replaces "<", which HTML would have to escape.
    """
    return base64.b85encode(data).decode().replace("<", ",")


def unpacked(frames):
    """Return a list with (drawing, words) for each position, given the result of `packed`.

    site.js unpacks the frames in the same way.
    """
    data = json.loads(gzip.decompress(base64.b85decode(frames["data"].replace(",", "<"))))

    def whole(group, row):
        return "".join(
            data["pieces"][part] if isinstance(part, int) else part[1][data["ways"][part[0]][row]]
            for part in data["groups"][group]
        )

    return [tuple(whole(*data["frames"][frame]).split(MARK)) for frame in data["at"]]


def stored(frames):
    """Return the strings in the list `frames` in a form that compresses well.

    The form is a dict with four lists: pieces, ways, groups and frames. Pictures with the same tags
    form a group, and each picture is a row of its group. An entry of "frames" is (number of the
    group, number of the row). An entry of "groups" describes each part of the pictures in a group:
    by the number of a piece, if all rows have the same text, or else by (number of a way, values).
    A way is a list with one index for each row: the row's value is at this index in the values.
    Several parts often have the same way, such as the coordinates that one slider moves, so each
    way is stored once.
    """
    alike = {}
    for number, frame in enumerate(frames):
        parts = re.findall(rf"<[^<>{MARK}]*>|[^<\n{MARK}]+\n?|.|\n", frame)
        alike.setdefault(
            tuple(part.split()[0] if part[0] == "<" else "" for part in parts), []
        ).append((number, parts))
    pieces, ways, groups, where = {}, {}, [], {}
    for group in alike.values():
        for rows in [group] if len(group) >= FEW else [[row] for row in group]:
            where.update({number: (len(groups), row) for row, (number, _) in enumerate(rows)})
            parts = [
                part
                for column in zip(*(parts for _, parts in rows))
                for part in split_at_numbers(column)
            ]
            groups.append(
                [
                    pieces.setdefault(part, len(pieces))
                    if isinstance(part, str)
                    else (ways.setdefault(part[0], len(ways)), part[1])
                    for part in parts
                ]
            )
    return {
        "pieces": list(pieces),
        "ways": list(ways),
        "groups": groups,
        "frames": [where[number] for number in range(len(frames))],
    }


def split_at_numbers(column):
    """Yield the descriptions of one part of the pictures in a group, in the form of `stored`.

    `column` contains the text of this part in each picture. The texts are split at their numbers if
    they can all be split alike. For each piece, yield its text if all pictures have the same text,
    or else (way, values).
    """
    if len(set(column)) == 1:  # as most are
        yield column[0]
        return
    values, way = unique(column)
    cut = [NUMBER.split(value) for value in values]
    for texts in zip(*cut) if len(set(map(len, cut))) == 1 else [values]:
        few, which = unique(texts)
        yield texts[0] if len(few) == 1 else (tuple([which[one] for one in way]), few)


def unique(column):
    """Return the distinct entries of a column, and for each position the index of its entry."""
    seen = {}
    which = [seen.setdefault(entry, len(seen)) for entry in column]
    return list(seen), which


def chosen(every, start, players):
    """Return a dict of the values that the page offers, and True if it offers every combination.

    Parameters
    ----------
    every : dict of str to list
        All values of each control.
    start : dict of str to object
        The start value of each control.
    players : container of str
        The names of the controls with a play button, which keep more values.
    """
    for played, most in [*product([PLAYED], EACH), *zip(EACH, EACH)]:
        values = {
            name: thinned(every[name], start[name], played if name in players else most)
            for name in every
        }
        if prod(map(len, values.values())) <= MOST:
            return values, True
    return {name: thinned(every[name], start[name], ALONE) for name in every}, False


def thinned(values, start, most):
    """Return the roundest of the numbers in `values`, at most `most` of them.

    The first value, the last value and `start` are always kept. If `values` are not numbers, all of
    them are kept.
    """
    if len(values) <= most or is_choice(values):
        return values
    ends = {values[0], values[-1], start}
    for step in (digit * 10.0**power for power in range(-9, 9) for digit in (1, 2, 5)):
        found = ends | {value for value in values if abs(value / step - round(value / step)) < 1e-6}
        if len(found) <= most:
            return sorted(found)


def is_choice(values):
    """Return True if any of `values` is not a number; a bool does not count as a number."""
    return any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in values)


def said(value):
    """Return the text that a control displays for a value."""
    return (
        str(value)
        if is_choice([value])
        else f"{value:.10g}".replace("e-0", "e-").replace("e+0", "e+")
    )
