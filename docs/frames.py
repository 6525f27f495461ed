"""Every picture behind the sliders of an explorer, packed for a page to show without a kernel.

It asks of the kit only what anybody may: `ui.positions()`, `ui.values()` and the pure function `ui.draw(**values)`.
`kernel.py` calls it for each explorer that a notebook shows while the site is built.
"""
import base64
import gzip
import json
from itertools import product
from math import prod

MIME = "application/vnd.autograd-course.frames+json"
MOST = 1350                             # pictures behind the sliders of one explorer
EACH = [41, 31, 21, 17, 13, 11, 9]      # values of one slider: the first that keeps all together within MOST
PLAYED = 101                            # of one that plays, as long as the others leave it so many
ALONE = 41                              # where nothing fits: of each, while the others stay where they start
MARK = "\x1f"                           # stands in no picture


def bundle(ui):
    """What a notebook shows of an explorer, or of a stepper, which holds one; and, under MIME, the packed pictures."""
    return ui._repr_mimebundle_() | {MIME: packed(getattr(ui, "explorer", ui))}


def packed(ui):
    """JSON of the controls of `ui`, of its first picture, and of the picture for each place its controls can be in.

    controls: [{name, values (as they are said), numbers (whether they are), start (an index), pace (ms a frame; 0 if it
    does not play)}]. together: whether there is a picture for every combination, the last control running fastest; else
    the places are those of each control in turn while the others stand at their start. data: gzip in base64 of
    {pieces, frames, at}: a frame is the pieces of its drawing and of its words, by number, and `at` says which frame
    belongs to a place; so what does not change is stored once.
    """
    start, every = ui.values(), {name: values for name, values in ui.positions().items() if values}
    values, together = chosen(every, start, ui.players)
    if together:
        places = [start | dict(zip(values, place)) for place in product(*values.values())]
    else:
        places = [start | {name: value} for name in values for value in values[name]]
    pieces, frames, at = {}, {}, []
    for place in places:
        picture = ui.draw(**place)
        at.append(frames.setdefault((picture.html, picture.text), len(frames)))
    first = ui.draw(**start)
    if (first.html, first.text) not in frames or (first.html, first.text) != (ui.picture.html, ui.picture.text):
        raise ValueError(f"the drawing under {', '.join(every)} is another when it is drawn again: it must be a function of "
                         "its values")
    cut = [[[pieces.setdefault(piece, len(pieces)) for piece in parts(text)] for text in frame] for frame in frames]
    data = json.dumps({"pieces": list(pieces), "frames": cut, "at": at}, ensure_ascii=False, separators=(",", ":"))
    pace = {name: round(player.interval * len(every[name]) / len(values[name])) for name, player in ui.players.items()}
    controls = [{"name": name, "values": list(map(said, values[name])), "numbers": not is_choice(values[name]),
                 "start": values[name].index(start[name]), "pace": pace.get(name, 0)} for name in values]
    return {"controls": controls, "together": together,
            "html": first.html, "text": first.text, "says_all": first.says_all,
            "data": base64.b64encode(gzip.compress(data.encode(), 9, mtime=0)).decode()}


def unpacked(frames):
    """[(drawing, words)] of each place of what `packed` made, as the script of the page has them."""
    data = json.loads(gzip.decompress(base64.b64decode(frames["data"])))
    whole = [tuple("".join(data["pieces"][piece] for piece in text) for text in frame) for frame in data["frames"]]
    return [whole[frame] for frame in data["at"]]


def parts(text):
    """The text in pieces, each a tag, what stands between two, or a line of words: the smallest that still repeat."""
    marked = text.replace("<", f"{MARK}<").replace(">", f">{MARK}").replace("\n", f"\n{MARK}")
    return [piece for piece in marked.split(MARK) if piece]


def chosen(every, start, players):
    """({name: the values that the page offers}, whether in every combination)."""
    for played, most in [*product([PLAYED], EACH), *zip(EACH, EACH)]:
        values = {name: thinned(every[name], start[name], played if name in players else most) for name in every}
        if prod(map(len, values.values())) <= MOST:
            return values, True
    return {name: thinned(every[name], start[name], ALONE) for name in every}, False


def thinned(values, start, most):
    """At most about so many of the numbers: the roundest, with both ends and the start. All of what is no number."""
    if len(values) <= most or is_choice(values):
        return values
    ends = {values[0], values[-1], start}
    for step in (digit * 10.0 ** power for power in range(-9, 9) for digit in (1, 2, 5)):
        found = ends | {value for value in values if abs(value / step - round(value / step)) < 1e-6}
        if len(found) <= most:
            return sorted(found)


def is_choice(values):
    """Whether they are no numbers: words, shapes, yes or no."""
    return any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in values)


def said(value):
    """A value as its control says it."""
    return str(value) if is_choice([value]) else f"{value:.10g}".replace("e-0", "e-").replace("e+0", "e+")
