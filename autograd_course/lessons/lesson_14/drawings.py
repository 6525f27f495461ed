"""Draw the pictures of lesson 14: a kernel on an image, windows as rows of a matrix, and responses of kernels."""

import numpy as np

import autograd_lib as ag

from ...drawing import style
from ...drawing.axes import Axes
from ...drawing.formatting import cell, counted, number
from ...drawing.picture import Picture, svg

WIDE, HIGH, TOP, GAP = 32, 28, 44, 18  # a cell, the words above a grid, the space between two

# Kernels made by hand: a horizontal stroke, a vertical one, and the two diagonal ones.
_LYING = np.array([[-1, -1, -1], [2, 2, 2], [-1, -1, -1]])
_FALLING = 3 * np.eye(3, dtype=int) - 1
STROKES = np.stack([_LYING, _LYING.T, _FALLING, _FALLING[:, ::-1]])[:, None]  # (4, 1, 3, 3)


def window(x, y, i, j):
    """Draw the kernel `y` on the image `x` at the pixels that the output z[i, j] of the convolution reads.

    `x` and `y` are two-dimensional arrays. The text version shows how z[i, j] is computed.
    """
    z = _slid(x, y, 1, 0)
    read = np.zeros(x.shape, bool)
    read[i : i + y.shape[0], j : j + y.shape[1]] = True
    here = np.zeros(z.shape, bool)
    here[i, j] = True
    terms = [
        f"{number(pixel)}·{number(weight)}" for pixel, weight in zip(x[read], y.ravel()) if pixel
    ]
    text = (
        f"z[{i}, {j}] reads {read.sum()} pixels of x, rows {i} to {i + y.shape[0] - 1} and columns {j} to {j + y.shape[1] - 1}.\n"
        f"Times the kernel, then added: {' + '.join(terms) + ' = ' if terms else 'every pixel there is 0, so '}{number(z[i, j])}"
        f"{' (without the pixels that are 0)' * bool(terms)}."
    )
    return _drawn(
        [
            [
                ("image x", x, np.where(read, "value", "plain")),
                ("kernel y", y, np.full(y.shape, "value")),
                ("output z", z, np.where(here, "picked", "plain")),
            ]
        ],
        text,
    )


def reach(x, y, i, j, stride=1, padding=0, backward=False):
    """Draw by how much each output of a convolution changes if the pixel x[i, j] grows by 1.

    Each of these changes is an entry of the kernel `y`. `stride` and `padding` are those of the
    convolution. With `backward`, the gradient of x for an upstream gradient of 1 at every output is
    drawn below. The gradient of x[i, j] is the sum of the same entries.
    """
    padded = np.pad(np.zeros(x.shape), padding)
    raised = padded.copy()
    raised[i + padding, j + padding] = 1
    moves = _slid(raised, y, stride, 0)
    reached = _slid(raised, np.ones(y.shape), stride, 0) > 0
    used = _slid(
        raised, np.arange(1, y.size + 1).reshape(y.shape), stride, 0
    )  # the place in the kernel, from 1
    looks = np.pad(np.full(x.shape, "plain", "U6"), padding, constant_values="rim")
    looks[i + padding, j + padding] = "picked"
    count = int(reached.sum())
    text = f"x[{i}, {j}] is read by {counted(count, 'window')}, and changes {counted(count, 'output')} of {moves.size}."
    if count:
        text += f"\nEach changes by the kernel entry that is multiplied by this pixel: {', '.join(number(v) for v in moves[reached])}."
    lying = np.isin(np.arange(1, y.size + 1), used).reshape(y.shape)
    rim = " and a border" * bool(padding)
    rows = [
        [
            ("image x" + rim, np.pad(x, padding), looks),
            ("kernel", y, np.where(lying, "value", "plain")),
            ("change", moves, np.where(reached, "value", "pale")),
        ]
    ]
    if backward:
        ones = np.ones(moves.shape)
        _, pull = ag.vjp(
            lambda x: ag.conv2d(x[None, None], y[None, None] * 1.0, stride=stride, padding=padding),
            x * 1.0,
        )
        (gradient,) = pull(ones[None, None])
        entries = " + ".join(number(v) for v in moves[reached]).replace("+ −", "− ") or "0"
        text += f"\nBackward, with g = 1 at every output: the gradient of x[{i}, {j}] is {entries}"
        text += f" = {number(gradient[i, j])}." if count > 1 else "."
        found = np.where(looks == "picked", "gradient", np.where(looks == "rim", "rim", "pale"))
        rows.append(
            [
                ("gradient of x" + rim, np.pad(gradient, padding), found),
                None,
                ("g at z", ones, np.where(reached, "gradient", "pale")),
            ]
        )
    return _drawn(rows, text)


def _slid(x, y, stride, padding):
    return ag.conv2d(x[None, None] * 1.0, y[None, None] * 1.0, stride=stride, padding=padding)[0, 0]


def _drawn(lines, text):
    """Return a Picture of grids of numbers, arranged in lines.

    Each line lists one (name, array, array of looks) for each grid, or None for a gap. A look is
    the name of a style for a cell. No line may be longer than the first one, whose grids set the widths of the
    columns. `text` is the text version.
    """
    plot, above = Axes((0, 0, 1, 1), (0, 1), (0, 1)), 0
    for grids in lines:
        high, left = max(len(grid[1]) for grid in grids if grid), 12
        for grid, (_, widest, _) in zip(grids, lines[0]):
            if grid:
                name, values, looks = grid
                top = above + TOP + (high - len(values)) * HIGH / 2
                plot.words(left, top - 12, f"{name} {values.shape}", anchor="start", size=13)
                for r, c in np.ndindex(values.shape):
                    plot.parts.append(
                        cell(
                            left + c * WIDE,
                            top + r * HIGH,
                            WIDE,
                            HIGH,
                            number(values[r, c]),
                            looks[r, c],
                        )
                    )
            left += max(widest.shape[1] * WIDE, 124) + GAP
        above += TOP + high * HIGH + 10
    return Picture(svg(f"0 0 {left - GAP + 12} {above}", "".join(plot.parts), text), text)


def copies(x, y, i, j):
    """Draw the convolution of x with the kernel y as a matrix product, Z = X @ Y.

    Each window of x is a row of the matrix X, and the kernel is the column Y. The copies of the
    pixel x[i, j] in X are highlighted.
    """
    (h, w), (kh, kw) = x.shape, y.shape
    places = ag.unfold(np.arange(x.size).reshape(1, 1, h, w) * 1.0, kernel_size=y.shape)[0].astype(
        int
    )  # (windows, kh·kw)
    X, mine = x.ravel()[places], places == i * w + j
    Z = X @ y.reshape(-1, 1)
    plot, wide, high, below = Axes((0, 0, 1, 1), (0, 1), (0, 1)), 24, 22, 60
    columns_at = 12 + w * wide + 98
    left_of_y = columns_at + kh * kw * wide + 14
    left_of_z = left_of_y + 60
    plot.words(12, below - 12, f"image x {x.shape}", anchor="start", size=13)
    for r, c in np.ndindex(x.shape):
        plot.parts.append(
            cell(
                12 + c * wide,
                below + r * wide,
                wide,
                wide,
                number(x[r, c]),
                "picked" if (r, c) == (i, j) else "plain",
            )
        )
    plot.words(columns_at, below - 30, "a window is a row", anchor="start", size=13)
    plot.words(columns_at, below - 12, f"X {X.shape}", anchor="start", size=13)
    for r, c in np.ndindex(X.shape):
        if c == 0:
            plot.words(
                columns_at - 6,
                below + r * high + 15,
                "z[{}, {}]".format(*divmod(r, w - kw + 1)),
                style.FAINT,
                "end",
                13,
            )
        plot.parts.append(
            cell(
                columns_at + c * wide,
                below + r * high,
                wide,
                high,
                number(X[r, c]),
                "value" if mine[r, c] else "pale",
            )
        )
    plot.words(left_of_y + 12, below - 12, "Y", size=13)
    for r, value in enumerate(y.ravel()):
        plot.parts.append(cell(left_of_y, below + r * high, wide, high, number(value), "plain"))
    plot.words(left_of_z + 18, below - 12, "Z", size=13)
    for r, value in enumerate(Z[:, 0]):
        plot.parts.append(
            cell(
                left_of_z,
                below + r * high,
                wide + 12,
                high,
                number(value),
                "value" if mine[r].any() else "plain",
            )
        )
    count = int(mine.sum())
    text = (
        f"Z = X @ Y: {X.shape} times {(kh * kw, 1)} is {Z.shape}, the {len(X)} outputs one below the other.\n"
        f"x[{i}, {j}] occurs in X {counted(count, 'time')}, once in each window that reads it."
    )
    return Picture(
        svg(
            f"0 0 {left_of_z + 48} {below + max(len(X) * high, h * wide) + 10}",
            "".join(plot.parts),
            text,
        ),
        text,
    )


def responses(kernels, scan, names=None, bias=0):
    """Draw a scan, several kernels, and below each kernel its response: relu of the convolution plus the bias.

    Parameters
    ----------
    kernels : array of shape (K, 1, 3, 3)
        The kernels. Positive weights are marked with +, negative weights with −.
    scan : array of shape (8, 8)
        The image. A stronger blue in a response is a larger number.
    names : sequence of str, optional
        The K names of the kernels. By default they are numbered.
    bias : float or array of shape (K,)
        The number added to each convolution.
    """
    made = ag.conv2d(scan[None, None], kernels * 1.0, padding=1)[0]  # (K, 8, 8)
    made = np.maximum(made + np.reshape(bias, (-1, 1, 1)), 0)
    plot, pixel, step = Axes((0, 0, 1, 1), (0, 1), (0, 1)), 12, 110
    called = names or [f"kernel {k}" for k in range(len(kernels))]
    plot.words(10, 96, "scan", anchor="start", size=13)
    _image(plot, 10, 104, pixel, scan / scan.max(), style.INK)
    said, strongest = [], made.max() or 1
    for k, (kernel, response) in enumerate(zip(kernels[:, 0], made)):
        left, top = 130 + k % 4 * step, k // 4 * 212
        plot.words(left, top + 20, called[k], anchor="start", size=13)
        for r, c in np.ndindex(kernel.shape):
            share = kernel[r, c] / np.abs(kernel).max()
            colour = style.ABOVE if share > 0 else style.BELOW
            plot.parts.append(
                f'<rect x="{left + 20 * c}" y="{top + 30 + 20 * r}" width="19" height="19" '
                f'fill="{colour}" '
                f'fill-opacity="{abs(share):.2f}" stroke="{style.LINE}" stroke-width="0.5"/>'
            )
            if abs(share) > 0.2:
                ink = style.PAPER if abs(share) > 0.6 else style.INK
                plot.words(
                    left + 20 * c + 9.5, top + 44 + 20 * r, "+" if share > 0 else "−", ink, size=13
                )
        _image(plot, left, top + 104, pixel, response / strongest, style.VALUE)
        if not response.any():
            plot.words(left + 48, top + 156, "none", style.FAINT, size=13)
        row, column = np.unravel_index(response.argmax(), response.shape)
        largest = (
            f"largest response {number(response.max())}, at row {row}, column {column}"
            if response.any()
            else "no response"
        )
        said.append(f"{called[k]}: {largest}")
    text = "\n".join(
        [
            "A scan, and how each kernel responds: the bluer, the stronger; blank is 0 or less.",
            *said,
        ]
    )
    high = 212 * -(-len(kernels) // 4)
    for k, words in enumerate(
        ["small: the kernel; + positive, − negative weight", "blue: its response; blank: 0 or less"]
    ):
        plot.words(10, high + 18 + 24 * k, words, style.FAINT, "start", 13)
    size = f"{130 + step * min(4, len(kernels))} {high + 54}"
    return Picture(svg(f"0 0 {size}", "".join(plot.parts), text, even=True), text)


def _image(plot, x, y, pixel, shades, colour):
    """Draw a square image with its top left corner at (x, y) and `pixel` px for each of its pixels.

    `shades` is a square array of numbers from 0 to 1, the opacity of `colour` at each pixel.
    """
    side = len(shades) * pixel
    plot.parts.append(
        f'<rect x="{x}" y="{y}" width="{side}" height="{side}" fill="none" stroke="{style.LINE}" stroke-width="1"/>'
    )
    for r, c in np.argwhere(shades > 0.02):
        plot.parts.append(
            f'<rect x="{x + c * pixel}" y="{y + r * pixel}" width="{pixel}" height="{pixel}" fill="{colour}" '
            f'fill-opacity="{shades[r, c]:.2f}"/>'
        )
