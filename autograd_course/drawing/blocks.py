"""Draw arrays as blocks of cells, together with the copies that broadcasting makes."""

from html import escape
from itertools import product

import numpy as np

from . import style
from .formatting import cell, counted, number, words
from .picture import Picture, svg

WIDE, HIGH, TOP = 54, 30, 54  # a cell, and the words above a block
SIGNS = {
    "+": (np.add, "+"),
    "-": (np.subtract, "−"),
    "*": (np.multiply, "·"),
    "/": (np.divide, "/"),
}


def broadcast_blocks(sign, pick=None, **arrays):
    """Return a Picture of how an operation such as `x + b` broadcasts its arrays.

        broadcast_blocks("+", x=np.array([[1, 2, 3], [4, 5, 6]]), b=np.array([10, 20, 30]), pick=1)

    Each array is drawn as a block of cells, stretched to the common shape, and so is the result.
    The cells of the array itself are solid, and their copies are dotted. If there are three axes,
    the first axis is drawn as several sheets. If the shapes cannot be broadcast, the arrays are not
    stretched, and the picture names the axes that do not fit.

    Parameters
    ----------
    sign : str
        "+", "-", "*" or "/".
    pick : int or tuple, optional
        The index of a cell in the last array. A frame marks this cell, its copies, and the entries
        of the result that depend on it.
    **arrays : array_like or tuple
        The arrays, by name. If a shape is passed in place of an array, its cells are drawn without
        numbers.

    Returns
    -------
    Picture
        The drawing.

    Raises
    ------
    ValueError
        If `sign` is unknown, or an array has more than three axes.
    """
    if sign not in SIGNS:
        raise ValueError(
            f"broadcast_blocks: expected one of the signs {' '.join(SIGNS)}, got {sign!r}"
        )
    shapes = {
        name: array if isinstance(array, tuple) else np.shape(array)
        for name, array in arrays.items()
    }
    blocks = {
        name: None if isinstance(array, tuple) else np.asarray(array)
        for name, array in arrays.items()
    }
    _drawable(*shapes.values())
    operation, sign = SIGNS[sign]
    formula = f" {sign} ".join(shapes)
    try:
        whole = np.broadcast_shapes(*shapes.values())
    except ValueError:
        return _misfit(shapes, blocks, sign, formula)
    result = (
        None
        if any(block is None for block in blocks.values())
        else _reduce(operation, blocks.values())
    )
    *_, last = shapes
    picked = np.zeros(shapes[last], bool)
    if pick is not None:
        picked[pick] = True
    said = [
        f"{f' {sign} '.join(f'{name} {shape}' for name, shape in shapes.items())} gives shape {whole}"
    ]
    parts, x = [], 10
    for name, shape in shapes.items():
        frames = np.broadcast_to(picked, whole) if name == last else np.zeros(whole, bool)
        x = _block(
            parts,
            x,
            name,
            f"{shape}" if shape == whole else f"{shape} → {whole}",
            whole,
            blocks[name] if blocks[name] is None else np.broadcast_to(blocks[name], whole),
            _own(shape, whole),
            frames,
        )
        x = _sign(parts, x, whole, "=" if name == last else sign)
        times = [
            f"{n} times along axis {k}"
            for k, n in enumerate(whole)
            if n > 1 and not _kept(shape, whole)[k]
        ]
        said.append(
            name
            + (
                f" = {_nested(blocks[name].tolist())}"
                if blocks[name] is not None
                else f" has shape {shape}"
            )
            + (f", repeated {' and '.join(times)} of {formula}" if times else "")
        )
    right = _block(
        parts,
        x,
        formula,
        f"{whole}",
        whole,
        result,
        np.ones(whole, bool),
        np.broadcast_to(picked, whole),
    )
    if result is not None:
        said.append(f"{formula} = {_nested(result.tolist())}")
    if pick is not None:
        cells = np.argwhere(np.broadcast_to(picked, whole)).tolist()
        said.append(
            f"{last}{np.argwhere(picked)[0].tolist()} reaches {counted(len(cells), 'cell')} of {formula}: "
            + ", ".join(map(str, cells))
        )
    return drawing(parts, right, _height(whole), said)


# --- shapes -------------------------------------------------------------------------------------------------------------


def _drawable(*shapes):
    for shape in shapes:
        if len(shape) > 3:
            raise ValueError(
                f"broadcast_blocks: expected arrays with at most three axes, got shape {shape}"
            )


def _three(shape):
    """Return a shape of up to three axes as (sheets, rows, columns); missing axes have length 1."""
    return (1,) * (3 - len(shape)) + tuple(shape)


def _kept(shape, whole):
    """Return a list with True for each axis of `whole` along which the array is not repeated.

    `shape` is the shape of the array, and `whole` is the shape to which it is broadcast.
    """
    new = len(whole) - len(shape)
    return [k >= new and shape[k - new] == n for k, n in enumerate(whole)]


def _own(shape, whole):
    """Return a mask of shape `whole`: True for cells of the array itself, False for their copies."""
    own = np.zeros(whole, bool)
    own[tuple(slice(None) if kept else slice(1) for kept in _kept(shape, whole))] = True
    return own


def _reduce(operation, arrays):
    first, *rest = arrays
    for more in rest:
        first = operation(first, more)
    return first


def _misfit(shapes, blocks, sign, formula):
    """Return a Picture of arrays whose shapes cannot be broadcast, with the axes that do not fit.

    `shapes` and `blocks` are dicts from the name of each array to its shape, and to its numbers or
    None. `sign` is drawn between the arrays.
    """
    said = [
        f"{f' {sign} '.join(f'{name} {shape}' for name, shape in shapes.items())}: these shapes do not fit"
    ]
    for k, axis in enumerate(
        ["the last axis", "the axis before the last", "the third axis from the end"], start=1
    ):
        sizes = {name: shape[-k] for name, shape in shapes.items() if len(shape) >= k}
        if len(set(sizes.values()) - {1}) > 1:
            said.append(
                f"✗ {axis}: {', '.join(f'{name} has {size}' for name, size in sizes.items())}."
            )
    # Two lines, because one would leave the picture on a phone.
    said += ["On each axis, the lengths must be equal,", "or one of them must be 1."]
    parts, x = [], 10
    for name, shape in shapes.items():
        x = _block(
            parts,
            x,
            name,
            f"{shape}",
            shape,
            blocks[name],
            np.ones(shape, bool),
            np.zeros(shape, bool),
        )
        if name != list(shapes)[-1]:
            x = _sign(parts, x, shape, sign)
    bottom = max(map(_height, shapes.values()))
    for nth, line in enumerate(said[1:]):
        parts.append(words(10, bottom + 16 + 22 * nth, escape(line), anchor="start"))
    return drawing(parts, max(x, 7.2 * max(map(len, said[1:]))), bottom + 22 * len(said[1:]), said)


# --- ink ----------------------------------------------------------------------------------------------------------------


def _bold(name):
    return f"<tspan font-weight='bold'>{escape(name)}</tspan>"


def filled(x, y, value, look, framed):
    """Return an SVG cell at (x, y), in px, with the number `value` in it.

    If `value` is None, the cell is empty. `look` is a key of formatting.LOOKS. `framed` adds a
    thick frame.
    """
    text = "" if value is None else number(value)
    return cell(x, y, WIDE, HIGH, text, look, framed=framed)


def _block(parts, x, name, note, shape, values, own, frames):
    """Append the SVG of a block of cells to `parts`, and return the x of its right edge.

    `x` is the left edge, in px. `name` and `note` are the two lines of text above the block.
    `values` are the numbers in the cells, or None. The masks `own` and `frames` tell which cells
    are not copies and which cells get a frame.
    """
    sheets, rows, columns = _three(shape)
    width = max(columns * WIDE, 8.5 * len(name), 7.5 * len(note))
    parts.append(words(x + width / 2, 20, _bold(name)))
    parts.append(words(x + width / 2, 40, note, style.FAINT, size=13))
    left = x + (width - columns * WIDE) / 2
    for s, r, c in product(range(sheets), range(rows), range(columns)):
        place = (s, r, c)[3 - len(shape) :]
        value, look = None if values is None else values[place], "value" if own[place] else "ghost"
        parts.append(
            filled(
                left + c * WIDE, TOP + s * (rows * HIGH + 14) + r * HIGH, value, look, frames[place]
            )
        )
    return x + width


def _sign(parts, x, shape, sign):
    sheets, rows, _ = _three(shape)
    for s in range(sheets):
        parts.append(
            words(x + 20, TOP + s * (rows * HIGH + 14) + rows * HIGH / 2 + 6, sign, size=20)
        )
    return x + 40


def _height(shape):
    sheets, rows, _ = _three(shape)
    return TOP + sheets * (rows * HIGH + 14)


def _nested(numbers):
    return f"[{', '.join(map(_nested, numbers))}]" if isinstance(numbers, list) else number(numbers)


def drawing(parts, right, bottom, said):
    return Picture(
        svg(f"0 0 {right + 10:.0f} {bottom:.0f}", "".join(parts), "\n".join(said)), "\n".join(said)
    )
