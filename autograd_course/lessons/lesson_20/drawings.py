"""Draw a compiled program of lesson 20 in two columns, with the values that it holds at each line."""

import ast
from dataclasses import dataclass
from html import escape

import numpy as np

from ...drawing import formatting, style
from ...drawing.picture import LEAST, Picture, begins_at, svg

TOP, HIGH, LEFT, WIDE, GAP = 34, 26, 8, 272, 60  # px: of the columns, and of what is between them


@dataclass
class Line:
    """Hold one line of a program: its text, the name it assigns, and the names it reads.

    `back` is true for a line of the backward pass, and `row` is then the name of the op whose rule
    it belongs to. `size` is the number of bytes of the line's result, 0 for a view or a Python
    number.
    """

    text: str
    row: str
    name: str
    reads: list
    back: bool  # whether it belongs to the backward pass
    size: int  # bytes of its result; 0 for a view or a Python number


@dataclass
class Columns:
    """Hold the lines of a program, and for each name the place of the last line that needs its value.

    `until` is a dict that maps each name to this place, counted from 0. A result of the program is
    needed beyond the last line.
    """

    lines: list
    until: dict

    def __len__(self):
        return len(self.lines)

    def held(self, at):
        """Return the names of the values held after the line at place `at`, including that line's own value."""
        return [
            line.name
            for place, line in enumerate(self.lines[: at + 1])
            if self.until[line.name] > at or place == at
        ]

    def bytes(self, at):
        sizes = {line.name: line.size for line in self.lines}
        return sum(sizes[name] for name in self.held(at))


def columns(source, *arguments):
    """Run a program of `ag.compile` line by line at the given arguments, and return its Columns.

    Parameters
    ----------
    source : str
        The program of a function that returns a value and its gradients, or of a function whose result has
        `.backward()`. The first kind is one function, which is split where the value is computed. The
        second kind consists of two functions.
    *arguments : array
        The arguments of the program.

    Raises
    ------
    ValueError
        If the number of arguments is wrong, or if the program uses an op or a large array that the source
        does not contain.
    """
    said, tree = source.splitlines(), ast.parse(source)
    functions = [part for part in tree.body if isinstance(part, ast.FunctionDef)]
    names = [argument.arg for argument in functions[0].args.args]
    if len(names) != len(arguments):
        raise ValueError(
            f"columns: expected {len(names)} arrays ({', '.join(names)}), got {len(arguments)}"
        )
    space = {"np": np, "g": 1.0, **dict(zip(names, arguments))}
    for part in tree.body:
        if part not in functions:
            _run(part, space)
    returned = [_names(function.body[-1]) for function in functions]
    value, lines = returned[0][0], []
    for function in functions:
        for part in filter(lambda part: isinstance(part, ast.Assign), function.body):
            _run(part, space)
            if isinstance(part.targets[0], ast.Tuple):  # the memory that is kept between calls
                continue
            name, made = part.targets[0].id, space[part.targets[0].id]
            code, _, comment = said[part.lineno - 1].partition("#")
            back = function is not functions[0] or value in [line.name for line in lines]
            size = (
                made.nbytes
                if isinstance(made, (np.ndarray, np.generic)) and made.base is None
                else 0
            )
            known = {*names, "g", *(line.name for line in lines)}
            lines.append(
                Line(
                    code.strip(),
                    comment.partition(":")[0].strip() if back else "",
                    name,
                    [x for x in _names(part.value) if x in known],
                    back,
                    size,
                )
            )
    until = {x: place for place, line in enumerate(lines) for x in [line.name, *line.reads]}
    results = [value, *returned[-1][len(functions) == 1 :]]
    return Columns(lines, until | dict.fromkeys(results, len(lines)))


def _run(statement, space):
    try:
        exec(compile(ast.Module([statement], []), "<program>", "exec"), space)
    except NameError as error:
        raise ValueError(
            f"columns: the source does not contain {error.name}. Use only the library's ops, and "
            "pass large arrays as arguments or make them smaller."
        ) from None


def _names(part):
    return list(dict.fromkeys(node.id for node in ast.walk(part) if isinstance(node, ast.Name)))


def two_columns(program, line):
    """Draw a program in two columns while one of its lines runs.

    The picture marks what the line reads and which values are held. The forward pass is the left
    column and the backward pass the right one. `program` is a Columns, and `line` is the number of
    the line that runs, counted from 1.
    """
    at = line - 1
    lines, now, held = program.lines, program.lines[at], program.held(at)
    forward = sum(not line.back for line in lines)
    rows = max(forward, len(lines) - forward)
    low = TOP + rows * HIGH
    right = LEFT + WIDE + GAP
    partner = _partner(lines, now.name)

    def place(k):
        """Return the upper left corner of line k. The lines go down in the left column, and up in the right one."""
        return (
            (right, low - (k - forward + 1) * HIGH)
            if lines[k].back
            else (LEFT, low - (forward - k) * HIGH)
        )

    made = {line.name: k for k, line in enumerate(lines)}
    across, boxes = [], []
    for k, line in enumerate(lines):
        x, y = place(k)
        for name in line.reads:
            if line.back and name in made and not lines[made[name]].back:
                across.append(_across(place(made[name]), (x, y), k == at, made[name] <= at <= k))
        look = (
            "picked"
            if k == at
            else "pale"
            if k > at
            else "ghost"
            if line.name not in held
            else "gradient"
            if line.back
            else "value"
        )
        boxes.append(
            _box(
                x, y, line, look, line.name in now.reads and line.name in made, line.name == partner
            )
        )
    start, end = LEFT + WIDE / 2, right + WIDE / 2
    turn = f"M{start} {low + 4}C{start} {low + 34} {end} {low + 34} {end} {low + 4}"
    heads = [
        formatting.words(LEFT + 2, 16, "forward, down", style.VALUE, "start"),
        formatting.words(right + 2, 16, "backward, up", style.GRADIENT, "start"),
        formatting.words(LEFT + WIDE + GAP / 2, 16, "kept", style.FAINT, size=13),
        f'<path d="{turn}" fill="none" stroke="{style.GRADIENT}" stroke-width="2" stroke-dasharray="5 3"/>'
        f'<path d="M{end} {low + 3}l-6 11h12z" fill="{style.GRADIENT}"/>',
    ]
    text = _told(program, at)
    body = "".join(
        [*heads, *across, *boxes, _bars(program, at, low + 58, right + WIDE, place(at)[0])]
    )
    wide = right + WIDE + 8
    drawn = svg(f"0 0 {wide} {low + 132}", body, text)
    # Code becomes no narrower: on a phone it scrolls, and begins at the column that runs. What the frames mean wraps.
    least = f"({LEAST}*{wide}px + 16px)"
    across = f"min-width:calc{least};{begins_at(f'{now.back * wide}px', least)}"
    key = "thick frame: current line; thin frame: read by it; long dashes: its gradient or value; filled: held; dotted: freed; bars: bytes held after each line, without arguments and parameters"
    key = f'<div aria-hidden="true" style="font:13px {style.FONT};color:{style.FAINT};padding:8px 18px">{key}</div>'
    return Picture(
        f'<div style="min-width:0">{key}<div class="part" style="overflow:auto hidden">'
        f'<div style="{across}">{drawn}</div></div></div>',
        text,
    )


def _partner(lines, name):
    """Return the name of the gradient of a value, or of the value that a gradient belongs to, or None.

    `name` is the value or the gradient. Where paths meet, several lines compute a gradient, such as
    g_h, g_h_2 and g_h_3, and the last of them is returned.
    """
    read, gradients = (
        {x for line in lines for x in line.reads},
        {},
    )  # the inputs too: g_h_0 may be that of h_0
    for line in lines:
        if line.back and line.name.startswith("g_"):
            of = line.name[2:]
            gradients[of if of in read else of.rpartition("_")[0]] = line.name
    return gradients.get(name) or {gradient: value for value, gradient in gradients.items()}.get(
        name
    )


def _box(x, y, line, look, read, partner):
    """Return the SVG of one line of a column, framed if the current line reads it or is its partner.

    `look` is a key of `formatting.LOOKS`. `read` is true if the current line reads this line's
    value, and `partner` is true if this line computes the gradient of the current line's value, or
    the value that the current line's gradient belongs to.
    """
    stroke, width, dash, fill, colour = formatting.LOOKS[look]
    if read or partner:
        stroke, width, dash = style.INK, 1.8, "none" if read else "8 3"
    code = line.text if len(line.text) < 33 else f"{line.text[:31]}…"
    return (
        f'<rect x="{x}" y="{y + 2}" width="{WIDE}" height="{HIGH - 4}" rx="3" fill="{fill}" stroke="{stroke}" '
        f'stroke-width="{width}" stroke-dasharray="{dash}"/>'
        f'<text x="{x + 8}" y="{y + 17}" fill="{colour}" font-size="13" font-family="{style.MONO}">'
        f"{escape(code)}</text>"
        + (
            formatting.words(x + WIDE - 7, y + 17, line.row, style.FAINT, "end", 13)
            if 7.8 * len(code) + 7 * len(line.row) < WIDE - 20
            else ""
        )
    )


def _across(start, end, read, held):
    """Return the SVG of a curve from a value in the forward pass to the backward line that reads it.

    `start` and `end` are the corners of the two lines. The curve is bold if `read` is true, because
    the backward line runs now, and coloured if `held` is true.
    """
    (x, y), (u, v) = (start[0] + WIDE, start[1] + HIGH / 2), (end[0], end[1] + HIGH / 2)
    colour, width = (style.INK, 3) if read else (style.VALUE, 2) if held else (style.LINE, 0.8)
    middle = (x + u) / 2
    return (
        f'<path d="M{x} {y}C{middle} {y} {middle} {v} {u} {v}" fill="none" stroke="{colour}" '
        f'stroke-width="{width}"/>'
    )


def _bars(program, at, top, wide, x):
    """Return the SVG of a bar for the memory held after each line, dark for the line at place `at`.

    `top` is the position of the text above the bars, `x` is where this text starts, and `wide` is
    where the bars end, in pixels.
    """
    sizes = [program.bytes(k) for k in range(len(program.lines))]
    most, step, high = max(sizes) or 1, (wide - LEFT) / len(sizes), 56
    parts = [
        formatting.words(x + 2, top, f"held now: {_said(sizes[at])}", anchor="start", size=13),
        formatting.words(x + WIDE, top, f"at most {_said(max(sizes))}", style.FAINT, "end", 13),
    ]
    for k, size in enumerate(sizes):
        tall = max(1, high * size / most)
        colour = style.INK if k == at else style.GROUND
        parts.append(
            f'<rect x="{LEFT + k * step + 1:.1f}" y="{top + 12 + high - tall:.1f}" width="{step - 2:.1f}" '
            f'height="{tall:.1f}" fill="{colour}" stroke="{style.LINE}" stroke-width="0.6"/>'
        )
    return "".join(parts)


def _said(size):
    return f"{formatting.number(round(size / 1e3, 1))} kB" if size >= 1000 else f"{size} bytes"


def _told(program, at):
    line, held = program.lines[at], program.held(at)
    ways = "back" if line.back else "forward"
    gone = [
        x for x in line.reads if program.until[x] == at and x in [one.name for one in program.lines]
    ]
    kept = [
        one.name
        for one in program.lines[: at + 1]
        if not one.back
        and one.name in held
        and any(later.back and one.name in later.reads for later in program.lines[at + 1 :])
    ]
    return "\n".join(
        [
            f"line {at + 1} of {len(program.lines)}, {ways}: {line.text}"
            + f" ({line.row})" * bool(line.row),
            f"it reads {', '.join(line.reads)}",
            f"read here for the last time: {', '.join(gone) or 'nothing'}",
            f"kept for the backward pass: {', '.join(kept) or 'nothing'}",
            f"held, without arguments and parameters: {_said(program.bytes(at))} in {', '.join(held)}",
        ]
    )
