"""Create problems that ask for the shape of a gradient and the axes over which g is summed."""

import re

import numpy as np

from ..drawing.picture import Picture
from ..quiz.questions import shape_in
from .problems import Box, Mark, Problem, hint_of, judged

KEYS = {"shape.broadcast": "08", "shape.reduce": "08", "shape.move": "08", "shape.matmul": "09"}
TITLES = {
    "shape.broadcast": "through a broadcast",
    "shape.reduce": "through a sum",
    "shape.move": "through reshape, transpose, index",
    "shape.matmul": "through a matrix product",
}


def make(key, rng):
    """Return the Problem for a key such as "shape.broadcast", with random shapes.

    `key` is one of KEYS, and `rng` is a NumPy generator.
    """
    kinds = {
        "shape.broadcast": _broadcast,
        "shape.reduce": _reduce,
        "shape.move": _move,
        "shape.matmul": _matmul,
    }
    return kinds[key](key, rng)


# --- The four kinds ---------------------------------------------------------------------------------------------------


def _broadcast(key, rng):
    """Return a Problem on an operation such as z = x + y that broadcasts x along at least one axis."""
    while True:
        z = tuple(int(n) for n in rng.choice([2, 3, 4, 5], rng.integers(1, 4)))
        x = _shrunk(z, rng)
        y = _shrunk(z, rng)
        if x != z and np.broadcast_shapes(x, y) == z and len(x) + len(y) > 1:
            break
    sign = "+−·/"[rng.integers(4)]
    new = len(z) - len(x)
    summed = tuple(k for k in range(len(z)) if k < new or x[k - new] == 1 and z[k] > 1)
    wrong = [
        (
            tuple(k - new for k in summed if k >= new),
            "Those are the numbers of the axes in x. Count the axes of g, which has more axes.",
        ),
        (
            tuple(k for k in range(len(z)) if k >= len(x) or x[k] == 1 < z[k]),
            "Shapes are compared from the right, so the axes that x lacks are on the left.",
        ),
        (
            tuple(k for k in range(len(z)) if k not in summed),
            "Those are the axes that x already has. Sum over the axes along which x was copied.",
        ),
        (
            tuple(k for k in summed if k >= new),
            "x was also copied along the axes that it lacks: sum over those too.",
        ),
        (
            tuple(k for k in summed if k < new),
            "x was also copied along each axis of length 1 that is longer in z: sum over it too.",
        ),
        (tuple(range(len(z))), "A sum over all of them would leave a single number."),
    ]
    wrong = [(axes, hint) for axes, hint in wrong if axes]
    wrong.append(((), "x was copied, so the gradients of its copies are added."))
    return _asked(key, f"x {sign} y", {"x": x, "y": y}, z, "x", summed, wrong)


def _shrunk(shape, rng):
    """Return a random shape that broadcasts to `shape`.

    Axes on the left may be left out, and other axes may have length 1.
    """
    kept = shape[rng.integers(len(shape) + 1) if rng.random() < 0.6 else 0 :]
    return tuple(1 if rng.random() < 0.35 else n for n in kept)


def _reduce(key, rng):
    """Return a Problem on z = x.sum(axis) or z = x.mean(axis), sometimes with keepdims=True.

    The backward pass copies g along the axis, and does not sum.
    """
    x = tuple(int(n) for n in rng.choice([2, 3, 4, 5], rng.integers(2, 4), replace=False))
    axis, keepdims = int(rng.integers(len(x))), bool(rng.integers(2))
    negative = axis - len(x) if rng.random() < 0.4 else axis
    op = ("sum", "mean")[rng.integers(2)]
    z = x[:axis] + (1,) * keepdims + x[axis + 1 :]
    wrong = [
        (
            (axis,),
            "The forward pass summed along that axis. In the backward pass g is copied along it, so nothing is "
            "summed.",
        )
    ]
    return _asked(
        key, f"x.{op}(axis={negative}{', keepdims=True' * keepdims})", {"x": x}, z, "x", (), wrong
    )


def _move(key, rng):
    """Return a Problem on an operation that moves or selects entries, such as a transpose."""
    x = tuple(int(n) for n in rng.choice([2, 3, 4, 5], rng.integers(2, 4), replace=False))
    axes = tuple(int(k) for k in rng.permutation(len(x)))
    row, cut = int(rng.integers(x[0])), int(rng.integers(1, x[0]))
    call, z = [
        (f"x.transpose{axes}", tuple(x[k] for k in axes)),
        ("x.reshape(-1)", (int(np.prod(x)),)),
        (f"x.reshape({x[0]}, -1)", (x[0], int(np.prod(x[1:])))),
        (f"x[{row}]", x[1:]),
        (f"x[:{cut}]", (cut, *x[1:])),
        (f"x[..., {row % x[-1]}]", x[:-1]),
    ][rng.integers(6)]
    wrong = [
        (
            (0,),
            "Every entry of z came from one entry of x, so each entry of g goes back to that entry, "
            "and nothing is added up.",
        )
    ]
    return _asked(key, call, {"x": x}, z, "x", (), wrong)


def _matmul(key, rng):
    """Return a Problem on Z = X @ Y, where X and Y may be stacks of matrices that are broadcast."""
    n, k, m, stack = (int(size) for size in rng.permutation([2, 3, 4, 5]))
    shapes = [
        {"X": (n, k), "Y": (k, m)},
        {"X": (stack, n, k), "Y": (k, m)},
        {"X": (n, k), "Y": (stack, k, m)},
        {"X": (stack, n, k), "Y": (stack, k, m)},
        {"X": (stack, 1, n, k), "Y": (m, k, m)},
    ][rng.integers(5)]
    asked = "XY"[rng.integers(2)]
    stacked = np.broadcast_shapes(shapes["X"][:-2], shapes["Y"][:-2])
    z = (*stacked, shapes["X"][-2], shapes["Y"][-1])
    own = shapes[asked][:-2]
    new = len(stacked) - len(own)
    summed = tuple(
        axis for axis in range(len(stacked)) if axis < new or own[axis - new] == 1 < stacked[axis]
    )
    inside, kept = (
        (len(z) - 1, len(z) - 2) if asked == "X" else (len(z) - 2, len(z) - 1)
    )  # the sizes of g·Yᵀ and of Xᵀ·g
    wrong = [
        (
            (inside,),
            "That sum is inside the matrix product. The question asks which axes of the stack are "
            "summed after the product.",
        ),
        ((), f"Several products of the stack share {asked}, so their gradients are added."),
        *(
            ((axis,), f"{asked} has that axis itself, so it is not shared along it.")
            for axis in (*range(len(stacked)), kept)
            if axis not in summed
        ),
        *[
            (
                tuple(range(len(stacked))),
                f"Those are all axes of the stack. But {asked} has an axis of the stack too, which is not summed.",
            )
        ]
        * (len(stacked) > 1),
    ]
    return _asked(
        key,
        "X @ Y",
        shapes,
        z,
        asked,
        summed,
        wrong,
        what="the gradient of {} is summed over the axes",
        of="the stack, if any,",
    )


# --- Ask --------------------------------------------------------------------------------------------------------------


def _asked(
    key,
    call,
    shapes,
    z,
    asked,
    summed,
    wrong,
    what="for the gradient of {}, g is summed over the axes",
    of="g",
):
    back, others = shapes[asked], [shape for name, shape in shapes.items() if name != asked]
    stated = " and ".join(f"{name} of shape {shape}" for name, shape in shapes.items())
    wrong_g = [
        *(
            (shape, f"That is the shape of {name}. g has the shape of the output z.")
            for name, shape in shapes.items()
        ),
        (z[::-1], "Those are the axes of z, in reverse order: g has them in the order of z."),
        ((), "g is a single number only if z is a single number."),
        (tuple(n for n in z if n > 1), "An axis of length 1 is an axis too."),
    ]
    wrong_back = [
        (
            z,
            f"That is the shape of the upstream gradient. The gradient of {asked} has the shape of {asked}.",
        ),
        *(
            (
                shape,
                f"That is the shape of the other input. The gradient of {asked} has the shape of {asked}.",
            )
            for shape in others
        ),
        (back[::-1], f"Those are the axes of {asked}, in reverse order: they keep their order."),
        (tuple(n for n in back if n > 1), "An axis of length 1 is an axis too: it stays."),
    ]
    right = [z, back, summed]
    mistakes = [
        [(shape, hint) for shape, hint in ones if shape != right[i]]
        for i, ones in enumerate([wrong_g, wrong_back, wrong])
    ]
    nudges = [
        "g has the shape of z: work that out first.",
        f"The gradient has the shape of its value, here {asked}.",
        f"Sum over the axes of g along which {asked} was copied in the forward pass.",
    ]

    def judge(texts):
        def judge_one(i, text):
            got = axes_in(text, len(z)) if i == 2 else shape_in(text)
            if got == right[i]:
                return Mark(True)
            return Mark(False, hint_of(mistakes[i], lambda wrong: wrong == got) or nudges[i])

        return judged(texts, judge_one)

    none = "none" if not summed else ", ".join(map(str, summed))
    reveal = f"g has shape **{z}**, and the gradient of {asked} has the shape of {asked}, **{back}**. Axes summed over: **{none}**."
    said = f"z = {call}, with {stated}"
    return Problem(
        key,
        f"`z = {call}`, with {stated}. What is the shape of the upstream gradient g of z, and what is the shape of the gradient of {asked}? "
        f"Over which axes of {of} is it summed?",
        [
            Box("g has the shape", "shape"),
            Box(f"the gradient of {asked} has the shape", "shape"),
            Box(what.format(asked), "axes"),
        ],
        judge,
        lambda texts, marks: Picture("", said),
        reveal,
        [str(z), str(back), none],
        [
            (i, str(wrong) if i < 2 else ", ".join(map(str, wrong)) or "none", hint)
            for i, ones in enumerate(mistakes)
            for wrong, hint in ones
        ],
    )


def axes_in(text, ndim):
    """Read a typed list of axes, such as "0, 2", "-1" or "none", as a sorted tuple of integers.

    Negative axes are converted to count from the front, and each axis is listed once.

    Parameters
    ----------
    text : str
        The list as it was typed.
    ndim : int
        The number of axes of the array.

    Raises
    ------
    ValueError
        If the text is not a list of axes, or if the array does not have one of the axes.
    """
    if text.strip().lower() in ("none", "no", "()", "-", "–", "no axis", "nothing"):
        return ()
    if re.search(r"\d[−-]", text) or not re.fullmatch(
        r"[\s\d,;()\[\]−-]*(and)?[\s\d,;()\[\]−-]*", text.strip()
    ):
        raise ValueError(
            f"“{text}” is not a list of axes. Separate the axes with commas, for example 0, 2; if "
            "there are none, write none."
        )
    axes = [int(axis.replace("−", "-")) for axis in re.findall(r"[−-]?\d+", text)]
    outside = [axis for axis in axes if not -ndim <= axis < ndim]
    if outside or not axes:
        raise ValueError(
            f"g has {ndim} {'axis' if ndim == 1 else 'axes'}, counted from 0: there is no axis "
            f"{outside[0]}."
            if outside
            else "Write the axes as numbers such as 0, 2, or write none."
        )
    return tuple(sorted({axis % ndim for axis in axes}))
