"""Draw the pictures of lesson 09: matrix products, a Jacobian, and the patients of the array ward."""

from itertools import product as pairs

import numpy as np

from ...drawing import style
from ...drawing.axes import Axes
from ...drawing.formatting import cell, number
from ...drawing.picture import Picture, beside, svg
from ..lesson_07 import drawings as lesson_07
from . import array_ward

WIDE, HIGH = 46, 30


class _Cross:
    """Lay out a matrix product as in a calculation by hand.

    One factor is to the left of the result, and the other factor is above it. `above`, `left` and
    `corner` describe the upper factor, the left factor and the result, each as (name, array, array
    of looks), where a look is the name of a style for a cell.
    """

    def __init__(self, above, left, corner):
        (tall, wide), (rows, inner) = above[1].shape, left[1].shape
        self.plot = Axes((0, 0, 1, 1), (0, 1), (0, 1))
        self.places = {
            "left": (14, 66 + tall * HIGH),
            "above": (44 + inner * WIDE, 34),
            "corner": (44 + inner * WIDE, 66 + tall * HIGH),
        }
        self.size = 44 + (inner + wide) * WIDE + 14, 66 + (tall + rows) * HIGH
        for place, (name, values, looks) in zip(self.places, (left, above, corner)):
            x, y = self.places[place]
            self.plot.words(x, y - 10, f"{name} {values.shape}", anchor="start", size=13)
            for r, c in np.ndindex(values.shape):
                look = "gradient" if looks[r, c] == "framed" else looks[r, c]
                self.plot.parts.append(
                    cell(
                        x + c * WIDE,
                        y + r * HIGH,
                        WIDE,
                        HIGH,
                        number(values[r, c]),
                        look,
                        framed=looks[r, c] == "framed",
                    )
                )

    def svg(self, words):
        """Return the drawing as SVG, with the lines `words` below it. Screen readers read the lines too."""
        wide, high = self.size
        for nth, line in enumerate(words):
            self.plot.words(14, high + 24 + 20 * nth, line, anchor="start", size=13)
        wide = max(wide, 24 + 7.2 * max(map(len, words)))
        return svg(
            f"0 0 {wide:.0f} {high + 14 + 20 * len(words)}",
            "".join(self.plot.parts),
            "\n".join(words),
        )


def _looks(shape, look="pale", at=()):
    """Return an array of the given shape with the look of each cell: `look` at the index `at`, "pale" elsewhere.

    The look "framed" is for a gradient in a thick frame.
    """
    looks = np.full(shape, "pale", "U8")
    looks[at] = look
    return looks


def _terms(left, right):
    """Return the sum of the products of two sequences as text, such as 3·1 + (−2)·4."""
    return " + ".join(
        "·".join(f"({number(value)})" if value < 0 else number(value) for value in pair)
        for pair in zip(left, right)
    )


def entry(A, B, i, j):
    """Draw the product Z = A @ B, and highlight Z[i, j], row i of A and column j of B."""
    Z = A @ B
    cross = _Cross(
        ("B", B, _looks(B.shape, "value", np.s_[:, j])),
        ("A", A, _looks(A.shape, "value", np.s_[i])),
        ("Z = A @ B", Z, _looks(Z.shape, "picked", (i, j))),
    )
    said = [
        f"Z[{i}, {j}]: row {i} of A times column {j} of B",
        f"= {_terms(A[i], B[:, j])} = {number(Z[i, j])}",
    ]
    return Picture(cross.svg(said), " ".join(said))


def reach(A, B, g, i, k):
    """Draw how A[i, k] affects the product Z = A @ B, and how its gradient is computed.

    In the forward pass, increasing A[i, k] by 1 adds row k of B to row i of Z. In the backward
    pass, the gradient of A[i, k] is the dot product of row k of B with row i of the upstream
    gradient `g`.
    """
    Z = A @ B
    moves = np.zeros(Z.shape)
    moves[i] = B[k]
    row = _looks(B.shape, "value", np.s_[k])
    forth = _Cross(
        ("B", B, row),
        ("A", A, _looks(A.shape, "picked", (i, k))),
        ("Z moves by", moves, _looks(Z.shape, "value", np.s_[i])),
    )
    back = _Cross(
        ("B", B, row),
        ("gradient of A", g @ B.T, _looks(A.shape, "framed", (i, k))),
        ("g", g, _looks(g.shape, "gradient", np.s_[i])),
    )
    text = (
        f"Forward: A[{i}, {k}] grows by 1, and row {i} of Z moves by row {k} of B, {_row(B[k])}. The other row does not move.\n"
        f"Backward: the gradient of A[{i}, {k}] is row {i} of g times row {k} of B, {_terms(g[i], B[k])} = {number(g[i] @ B[k])}."
    )
    return Picture(
        beside(
            forth.svg([f"forward: row {k} of B moves row {i} of Z"]),
            back.svg([f"backward: row {i} of g times row {k} of B"]),
        ),
        text,
    )


def _row(values):
    return "[" + ", ".join(map(number, values)) + "]"


UNIT, LONG, ROW = (
    8,
    46,
    40,
)  # of a factor: px for each row or column, its length, and the height of its line


def candidates(m, k, n):
    """Draw the eight products of g and B, and mark those that have the shape of A.

    Each factor is used with and without a transpose. The product that is the gradient of A is
    marked as right. The left panel is for A and B of shape (2, 2), and the right panel is for A of
    shape (m, k) and B of shape (k, n). Each factor is drawn with a left edge as high as its number
    of rows, and a right edge as high as its number of columns. So two factors can be multiplied if
    the edges between them are equally high.
    """
    panels, lines, left = [], [], 74
    for rows, inner, columns in [(2, 2, 2), (m, k, n)]:
        plot = Axes((0, 0, 1, 1), (0, 1), (0, 1))
        rng = np.random.default_rng(
            1
        )  # with these numbers no wrong product is right by chance; the tests try all sizes
        A, B, g = (
            rng.integers(-9, 10, shape)
            for shape in ((rows, inner), (inner, columns), (rows, columns))
        )
        head, fitting, right = f"A {A.shape}, B {B.shape}, g {g.shape}", [], []
        plot.words(14, 22, head, anchor="start", size=13)
        _factor(plot, left, 52, A.shape, style.INK, "none")
        plot.words(left + 2 * LONG + 20, 56, "A", anchor="start", size=13)
        for line, (swap, t, s) in enumerate(pairs((False, True), repeat=3), start=1):
            factors = [
                ("gᵀ" if t else "g", g.T if t else g, style.GRADIENT, "5 3"),
                ("Bᵀ" if s else "B", B.T if s else B, style.VALUE, "none"),
            ]
            first, second = factors[::-1] if swap else factors
            called, y = f"{first[0]} @ {second[0]}", 52 + ROW * line
            verdict = _verdict(first[1], second[1], A.shape, g @ B.T)
            apart = 10 * (verdict == "does not fit")
            for x, (_, values, colour, dash) in [(left, first), (left + LONG + apart, second)]:
                _factor(plot, x, y, values.shape, colour, dash)
            plot.words(14, y + 4, called, anchor="start", size=13)
            plot.words(
                left + 2 * LONG + 20,
                y + 4,
                verdict,
                style.INK if "✓ right" in verdict else style.FAINT,
                "start",
                13,
            )
            fitting += [called] * ("✓ shape" in verdict)
            right += [called] * ("✓ right" in verdict)
        panels.append(plot.parts)
        verb = "has" if len(fitting) == 1 else "have"
        lines.append(
            f"{head}: {len(fitting)} of 8 {verb} the shape of A: {', '.join(fitting)}. Right: {', '.join(right)}."
        )
    return Picture(
        beside(
            *(
                svg(f"0 0 342 {76 + 8 * ROW}", "".join(parts), line)
                for parts, line in zip(panels, lines)
            )
        ),
        "\n".join(lines),
    )


def _factor(plot, x, y, shape, colour, dash):
    """Draw a matrix as a shape whose two vertical edges show its number of rows and of columns.

    The left edge, for the rows, is at `x`. The right edge is for the columns. The middle of both
    edges is at `y`, and `colour` and `dash` are for the outline.
    """
    rows, columns = (size * UNIT for size in shape)
    plot.parts.append(
        f'<path d="M{x} {y - rows / 2}L{x + LONG} {y - columns / 2}v{columns}L{x} {y + rows / 2}z" fill="{colour}" '
        f'fill-opacity="0.15" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
    )
    plot.words(x + 10, y + 4.5, str(shape[0]), size=13)
    plot.words(x + LONG - 10, y + 4.5, str(shape[1]), size=13)


def _verdict(left, right, shape, wanted):
    if left.shape[1] != right.shape[0]:
        return "does not fit"
    if (left @ right).shape != shape:
        return f"shape {(left @ right).shape}"
    return "✓ shape, ✓ right" if np.allclose(left @ right, wanted) else "✓ shape, ✗ numbers"


def jacobian(J, B):
    """Draw the Jacobian of Z = A @ B with respect to A as a table with one row for each entry of Z.

    `J` has shape (2, n, 2, 3), for A of shape (2, 3) and B of shape (3, n).
    """
    rows, columns = list(np.ndindex(J.shape[:2])), list(np.ndindex(J.shape[2:]))
    plot = Axes((0, 0, 1, 1), (0, 1), (0, 1))
    plot.words(12, -4, "J: the change in each entry of Z per entry of A", anchor="start")
    for c, (i, k) in enumerate(columns):
        plot.words(89 + 55 * c, 22, f"A[{i}, {k}]", style.FAINT, size=13)
    for r, (i, j) in enumerate(rows):
        plot.words(52, 47 + 26 * r, f"Z[{i}, {j}]", style.FAINT, "end", 13)
        for c, place in enumerate(columns):
            look = "value" if i == place[0] else "pale"
            plot.parts.append(cell(61 + 55 * c, 29 + 26 * r, 55, 26, number(J[i, j][place]), look))
    nothing = J.size - 2 * B.size
    text = (
        f"J, {len(rows)} × {len(columns)} = {J.size} numbers: {nothing} of them are 0 for any A and B, "
        f"the others are the {B.size} entries of B, each {(J.size - nothing) // B.size} times."
    )
    return Picture(
        svg(f"0 -28 {69 + 55 * len(columns)} {72 + 26 * len(rows)}", "".join(plot.parts), text),
        text,
    )


def ward(sheets):
    """Draw a table of the checks for array engines, with a column of results for each engine.

    `sheets` is a dict that maps the name of each engine to its results, as `sheet` returns them.
    """
    return lesson_07.ward(sheets, of=array_ward)


def case(patient, method="as found"):
    """Draw the card of a patient among the array engines, with its faulty or its correct method.

    `patient` is the number of the patient, from 1, and `method` is "as found" for the faulty method
    or "fixed" for the correct one.
    """
    return lesson_07.case(patient, method, of=array_ward)


# px: the height of a step, the middle of the first, the longest bar, and the side for one row or column
STEP, TOP, BAR, SIDE = 114, 88, 338, 2.0
COLUMN = 120  # px: the width for a factor, or for the result


def brackets(inputs):
    """Draw two ways of multiplying J₁ᵀ J₂ᵀ J₃ᵀ g, for layers of `inputs`, 256, 64 and 10 numbers.

    Each panel has a line for each of the three products: the number of multiplications, and both
    factors and the result as rectangles, with their shapes below. The sides grow with the square
    root of the size. The bar at the bottom is proportional to the sum of the multiplications.
    """
    J1, J2, J3, g = (inputs, 256), (256, 64), (64, 10), (10, 1)
    one, two = (64, 1), (256, 1)
    left, whole = (inputs, 64), (inputs, 10)
    panels = [
        ("Start at g: J₁ᵀ (J₂ᵀ (J₃ᵀ g))", [(J3, g), (J2, one), (J1, two)]),
        ("Start at x: ((J₁ᵀ J₂ᵀ) J₃ᵀ) g", [(J1, J2), (left, J3), (whole, g)]),
    ]
    names = [
        [("J₃ᵀ ", "g "), ("J₂ᵀ ", ""), ("J₁ᵀ ", "")],
        [("J₁ᵀ ", "J₂ᵀ "), ("", "J₃ᵀ "), ("", "g ")],
    ]
    costs = [
        [rows * inner * columns for (rows, inner), (_, columns) in steps] for _, steps in panels
    ]
    drawn, lines = [], []
    for (head, steps), called, cost in zip(panels, names, costs):
        plot = Axes((0, 0, 1, 1), (0, 1), (0, 1))
        plot.words(14, 24, head, anchor="start")
        for nth, ((first, second), factors, count) in enumerate(zip(steps, called, cost)):
            y = TOP + STEP * nth
            (rows, inner), columns = first, second[1]
            said = f"{rows} · {inner} · {columns} = {count:,}"
            plot.words(14, y - 37, said, anchor="start", size=13)
            shapes = [first, second, (rows, columns)]
            for column, (shape, name, sign) in enumerate(zip(shapes, (*factors, ""), "·= ")):
                middle = 3 + COLUMN * (column + 0.5)
                _rectangle(plot, middle, y, shape)
                if sign != " ":
                    plot.words(middle + COLUMN / 2, y + 5, sign)
                plot.words(middle, y + 46, f"{name}{shape}", size=13)
        y = TOP + STEP * len(steps) - 28
        total = sum(cost)
        plot.words(14, y, f"together {total:,} multiplications", anchor="start", size=13)
        width = BAR * total / max(map(sum, costs))
        plot.parts.append(
            f'<rect x="14" y="{y + 10}" width="{width:.1f}" height="12" fill="{style.INK}"/>'
        )
        line = f"{head}: {' + '.join(f'{count:,}' for count in cost)} = {total:,} multiplications."
        lines.append(line)
        drawn.append(svg(f"0 0 366 {y + 32}", "".join(plot.parts), line))
    few, many = map(sum, costs)
    lines.append(f"Starting at x takes {number(many / few, 3)} times as many as starting at g.")
    return Picture(beside(*drawn), "\n".join(lines))


def _rectangle(plot, x, y, shape):
    """Draw a matrix of this shape as a rectangle whose centre is (x, y); a vector is a dashed line."""
    high, wide = (SIDE * size**0.5 for size in shape)
    if shape[1] == 1:
        plot.parts.append(
            f'<path d="M{x:.1f} {y - high / 2:.1f}v{high:.1f}" stroke="{style.GRADIENT}" '
            f'stroke-width="4" stroke-dasharray="5 3"/>'
        )
        return
    plot.parts.append(
        f'<rect x="{x - wide / 2:.1f}" y="{y - high / 2:.1f}" width="{wide:.1f}" height="{high:.1f}" '
        f'stroke="{style.VALUE}" fill="{style.VALUE}" stroke-width="2" fill-opacity="0.15"/>'
    )
