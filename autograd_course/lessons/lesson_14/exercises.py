"""Ask the questions of lesson 14: both gradients of a convolution, a tie in pooling, and a custom operation."""

from functools import partial

import numpy as np

import autograd_lib as ag
from autograd_lib import ops
from autograd_lib.rows import Primitive

from ...drawing.formatting import number
from ...grading import (
    Named,
    NotYet,
    Wrong,
    brief,
    exercise,
    expect,
    expect_call,
    expect_over,
    has_blank,
    is_stub,
    outside_one_sided_slopes,
    returned,
    times,
    without,
)
from ...quiz.texts import Question, card, prediction, recall
from .layout import as_columns, as_kernels, as_rows

recall(
    "14",
    [
        Question(
            "A weight is used at 50 steps, and each use contributes a gradient. What is the gradient of the weight? "
            "(Lesson 13)",
            "their sum",
            "Their **sum**: the gradients of all 50 uses are added.",
            ["their sum", "their mean", "the gradient of the last step", "their product"],
        ),
        Question(
            "A network for ten digits has not been trained yet. What, approximately, is its loss, the mean of "
            "−log p at the true class? (12)",
            2.303,
            "−log(1/10) = log 10 ≈ **2.303**.",
            tolerance=0.1,
        ),
        Question(
            "X has shape (16, 9), Y has shape (9, 1), and g is the upstream gradient of X @ Y. What are the gradients of X and Y? (09)",
            None,
            "X: **g · Yᵀ**, (16, 1) times (1, 9). Y: **Xᵀ · g**, (9, 16) times (16, 1).",
        ),
    ],
)

prediction(
    "14.reach",
    question="""A 3 × 3 kernel slides over an image of 6 × 6 pixels, so z has shape (4, 4). Each
        output reads nine pixels. You change a single number. How many of the 16 outputs can change if this number is the
        pixel in the corner, x[0, 0]? How many if it is the pixel x[2, 2]? And how many if it is one entry of the
        kernel?""",
    answer={"x[0, 0]": 1, "x[2, 2]": 9, "a kernel entry": 16},
    reveal="""**1, 9, 16.** Only one window contains the corner. The pixel x[2, 2] is in nine windows, once at each of their nine
        positions. And the kernel is used for every output.""",
)

prediction(
    "14.stride",
    question="""One scan has shape (1, 1, 8, 8), and the 16 kernels have shape (16, 1, 3, 3). With padding 1,
        what is the shape of z at stride 1? And at stride 2?""",
    answer={"stride 1": (1, 16, 8, 8), "stride 2": (1, 16, 4, 4)},
    reveal="""**(1, 16, 8, 8)** and **(1, 16, 4, 4)**. There is one image, with a channel for each kernel. With the border
        there are 10 pixels down and across. A kernel of length 3 has 8 positions there, and stride 2 uses every second
        position.""",
)

prediction(
    "14.moved",
    question="""An MLP, trained as in lesson 12, reads 97 or 98 of 100 held-out scans correctly. Now each scan is moved to the
        right by one pixel. What percentage (0 to 100) of the moved scans does the MLP read correctly?""",
    answer=46,
    tolerance=12,
    reveal="""About **46 %**. To an MLP, the neighbour of a pixel is just another input. So a digit that is moved by one
        pixel uses other inputs, with other weights.""",
)

card(
    "14",
    [
        "Convolution: at each position, multiply pixels by the kernel and add. It is bilinear, like a product.",
        "A pixel affects at most kh·kw outputs of a kernel, and a kernel entry can affect all of them. The gradients from these outputs are added.",
        "With windows as rows, Z = X·Y. So the gradients are g·Yᵀ and Xᵀ·g, as for every matrix product.",
        "unfold copies and fold adds: each is the backward rule of the other.",
        "Number of windows along n pixels: (n + 2·padding − kernel) // stride + 1.",
        "A custom operation needs a function, a rule and check_grads. The engine does the rest.",
    ],
)


# --- From the indices -----------------------------------------------------------------------------------------------------------


def _loop(line, of):
    """Return a function of (g, x, y) that computes a gradient in a loop over the outputs and the kernel entries.

    The loop calls line(gradient, g, x, y, i, j, a, b) once for each output (i, j) and kernel entry
    (a, b). The gradient has the shape of x if `of` is 1, and of y if it is 2.
    """

    def gradient(g, x, y):
        made = np.zeros((g, x, y)[of].shape)
        for place in np.ndindex(*g.shape, *y.shape):
            line(made, g, x, y, *place)
        return made

    return gradient


def _adds(place, value):
    """Return a `line` for `_loop` that adds `value(…)` to the gradient at the index `place(…)`.

    `place` takes the indices i, j, a, b, and `value` takes g, x, y and these indices.
    """

    def line(grad, g, x, y, i, j, a, b):
        grad[place(i, j, a, b)] += value(g, x, y, i, j, a, b)

    return line


def _keeps(place, value):
    """Return a `line` for `_loop` that assigns `value(…)` to the gradient at the index `place(…)`.

    `place` takes the indices i, j, a, b, and `value` takes g, x, y and these indices.
    """

    def line(grad, g, x, y, i, j, a, b):
        grad[place(i, j, a, b)] = value(g, x, y, i, j, a, b)

    return line


def _pixel(i, j, a, b):
    return i + a, j + b


def _entry(i, j, a, b):
    return a, b


def _window(i, j, a, b):
    return i, j


def _times_y(g, x, y, i, j, a, b):
    return g[i, j] * y[a, b]


def _times_x(g, x, y, i, j, a, b):
    return g[i, j] * x[i + a, j + b]


_grad_x, _grad_y = _loop(_adds(_pixel, _times_y), 1), _loop(_adds(_entry, _times_x), 2)
OWN = "multiply swaps: the gradient of each factor uses the other factor, not its own."
OF_THE_KERNEL = (
    "The kernel and grad_y have the shape of y and the index [a, b]. [i, j] is the index of z."
)
NO_G = "g is missing: multiply by the upstream gradient of z[i, j], which is g[i, j]."
SUM = "That is the rule of a sum. Here two numbers are multiplied: use the upstream gradient times the other factor."
WRONG_PIXELS = [
    (_loop(line, 1), hint)
    for line, hint in [
        (
            _keeps(_pixel, _times_y),
            "For x: = keeps only the last window. Up to nine windows read a pixel: add all of them with +=.",
        ),
        (
            _adds(_window, _times_y),
            "For x: you add everything at [i, j], the window's first pixel. Which pixel did this multiplication read?",
        ),
        (
            _adds(_entry, _times_y),
            "For x: you add everything at [a, b]. Which pixel did this multiplication read?",
        ),
        (
            _adds(lambda i, j, a, b: (i, j, a, b), _times_y),
            "`place` contains all four indices. Each array has its own two: x[i + a, j + b] and y[a, b].",
        ),
        (
            _adds(lambda i, j, a, b: (i - a, j - b), _times_y),
            "For x: the multiplication read x[i + a, j + b], with plus signs.",
        ),
        (
            _adds(_window, lambda g, x, y, i, j, a, b: g[i - a, j - b] * y[a, b]),
            "For x: i and j are the index of z here, and a negative index counts from the end. The pixel is x[i + a, j + b].",
        ),
        (
            _adds(lambda i, j, a, b: (i + b, j + a), _times_y),
            "For x: a and b are swapped. a counts rows and b columns: x[i + a, j + b] and y[a, b].",
        ),
        (
            _adds(lambda i, j, a, b: ..., _times_y),
            "For x: without an index, += adds to every entry of grad_x. Write the index of the pixel in brackets.",
        ),
        (_adds(_pixel, _times_x), OWN),
        (_adds(_pixel, lambda g, x, y, i, j, a, b: y[a, b]), NO_G),
        (_adds(_pixel, lambda g, x, y, i, j, a, b: g[i, j]), SUM),
        *(
            (
                _adds(_pixel, wrong),
                "The upstream gradient of this product is that of z[i, j], to which the product was added.",
            )
            for wrong in [
                lambda g, x, y, i, j, a, b: g[i + a, j + b] * y[a, b],
                lambda g, x, y, i, j, a, b: g[a, b] * y[a, b],
            ]
        ),
        (_adds(_pixel, lambda g, x, y, i, j, a, b: g[i, j] * y[i, j]), OF_THE_KERNEL),
        (
            _adds(lambda i, j, a, b: (a + j, b + i), _times_y),
            "For x: i and j are swapped. i and a count rows, j and b columns: x[i + a, j + b].",
        ),
        (
            _adds(lambda i, j, a, b: [i + a, j + b], _times_y),
            "For x: a list as an index selects two whole rows. Write both numbers without a list: grad_x[i + a, j + b].",
        ),
        (
            _adds(_pixel, lambda g, x, y, i, j, a, b: g * y),
            "This is a single multiplication: use g[i, j] times the other factor, not all of g.",
        ),
        *(
            (
                _adds(_pixel, wrong),
                "For x: your kernel is rotated. The gradient of x[i + a, j + b] has the factor y[a, b].",
            )
            for wrong in [
                lambda g, x, y, i, j, a, b: g[i, j] * y[2 - a, 2 - b],
                lambda g, x, y, i, j, a, b: g[i, j] * y[-a, -b],
            ]
        ),
    ]
]
WRONG_ENTRIES = [
    (_loop(line, 2), hint)
    for line, hint in [
        (
            _keeps(_entry, _times_x),
            "For y: = keeps only the last position. The kernel is used at every position: add all uses with +=.",
        ),
        (
            _adds(_entry, lambda g, x, y, i, j, a, b: g[i, j] * x[i, j]),
            "For y: you multiply every entry by x[i, j], the window's first pixel. Which pixel is multiplied by y[a, b]?",
        ),
        (
            _adds(_entry, lambda g, x, y, i, j, a, b: g[i, j] * x[a, b]),
            "For y: x[a, b] is only in the first window. The kernel is used at every position: which pixel is multiplied by y[a, b] here?",
        ),
        (
            _adds(_entry, lambda g, x, y, i, j, a, b: g[a, b] * x[i + a, j + b]),
            "For y: the upstream gradient of this product is that of z[i, j], to which the product was added.",
        ),
        (
            _adds(_entry, lambda g, x, y, i, j, a, b: g[i, j] * x[i - a, j - b]),
            "For y: the multiplication read x[i + a, j + b], with plus signs.",
        ),
        (
            _adds(lambda i, j, a, b: ..., _times_x),
            "For y: without an index, += adds to every entry of grad_y. Write the index of the kernel entry in brackets.",
        ),
        (_adds(_window, _times_x), OF_THE_KERNEL),
        (_adds(_entry, _times_y), OWN),
        (_adds(_entry, lambda g, x, y, i, j, a, b: x[i + a, j + b]), NO_G),
        (_adds(_entry, lambda g, x, y, i, j, a, b: g[i, j]), SUM),
    ]
]


ANY_SIZE = "An image may have any size: x.shape[2:]."


@exercise(
    "14.from_indices",
    minutes=4,
    difficulty="easy",
    importance=3,
    question="""
        **From the indices.** The loop goes through every multiplication in z. What does a multiplication contribute to the gradient of
        the pixel that it read, and to the gradient of the kernel entry? Fill in the indices in brackets and the values on the
        right.""",
    stub="""
        def from_indices(g, x, y):
            grad_x, grad_y = np.zeros(x.shape), np.zeros(y.shape)
            for place in np.ndindex(*g.shape, *y.shape):    # every (i, j, a, b)
                i, j, a, b = place                          # z[i, j] += x[i + a, j + b] * y[a, b]
                grad_x[...] += ...
                grad_y[...] += ...
            return grad_x, grad_y""",
    hints=[
        "The gradient of each factor of a product is the upstream gradient times the other factor. The upstream gradient is that of the "
        "entry of z to which the product was added, g[i, j].",
        "The pixel that was read is x[i + a, j + b]. Its gradient has the same index in `grad_x`.",
        (
            "Help: index out of bounds",
            "Each array has its own two indices: x[i + a, j + b], y[a, b], and g[i, j], like z.",
        ),
    ],
    solution="""
        def from_indices(g, x, y):
            grad_x, grad_y = np.zeros(x.shape), np.zeros(y.shape)
            for place in np.ndindex(*g.shape, *y.shape):
                i, j, a, b = place
                grad_x[i + a, j + b] += g[i, j] * y[a, b]
                grad_y[a, b] += g[i, j] * x[i + a, j + b]
            return grad_x, grad_y""",
    explained="These are the two lines from lesson 09, with different indices. The `+=` adds the contributions, 16 for each entry of the kernel.",
    why="You needed only products, and `+=` for numbers that are used more than once: lessons 03 and 05.",
)
def from_indices(answer):
    if has_blank(answer):
        raise NotYet

    def build(d):
        rows, columns, high, wide = d.size(), d.size(), d.size(1, 3), d.size(1, 3)
        return d.g(rows, columns), d(rows + high - 1, columns + wide - 1), d(high, wide)

    rng = np.random.default_rng(0)
    example = rng.integers(1, 5, (4, 4)), rng.integers(1, 5, (6, 6)), rng.integers(-3, 4, (3, 3))
    oblong = (
        rng.normal(size=(2, 5)).round(2),
        rng.normal(size=(4, 6)).round(2),
        rng.normal(size=(3, 2)).round(2),
    )
    fraction = (
        oblong[0],
        *(np.rint(10 * one).astype(int) for one in oblong[1:]),
    )  # integer x and y, but not g
    for g, x, y in (example, oblong, fraction):
        both, shown = (_grad_x(g, x, y), _grad_y(g, x, y)), "other numbers"
        tried = f"from_indices(g, x, y) of {g.shape}, {x.shape} and {y.shape}"
        got = returned(
            answer, g, x, y, tried=tried, shown=shown, hints=WRONG_PIXELS + WRONG_ENTRIES
        )
        if isinstance(got, (tuple, list)) and [np.shape(one) for one in got] == [x.shape, y.shape]:
            for name, mine, right, hints in zip("xy", got, both, [WRONG_PIXELS, WRONG_ENTRIES]):
                expect(
                    mine,
                    right,
                    tried=f"grad_{name} of {tried}",
                    shown=shown,
                    hints=hints,
                    args=(g, x, y),
                )
        expect_call(answer, g, x, y, gives=both, tried=tried, shown=shown)
    expect_over(
        answer,
        lambda *given: (_grad_x(*given), _grad_y(*given)),
        build,
        apart=True,
        rounds=8,
        tried=lambda g, x, y: f"from_indices(g, x, y) of {g.shape}, {x.shape} and {y.shape}",
    )


# --- unfold and fold --------------------------------------------------------------------------------------------------------------


def _unfold_x(g, z, x, kernel_size, stride=1, padding=0):
    return ag.fold(g, x.shape[2:], kernel_size, stride, padding)


def _no_size(g, z, x, kernel_size, stride=1, padding=0):
    raise NameError("name 'output_size' is not defined")


ORDER = "stride comes before padding here. In PyTorch's fold and unfold, padding comes first."
WRONG_UNFOLD = [
    (
        lambda g, z, x, kernel_size, stride=1, padding=0: ag.fold(g, x.shape[2:], kernel_size),
        "This is right only if the stride is 1 and the padding is 0. Pass stride and padding on.",
    ),
    (
        lambda g, z, x, kernel_size, stride=1, padding=0: ag.fold(
            g, x.shape[2:], kernel_size, stride
        ),
        "Pass padding on too.",
    ),
    (
        lambda g, z, x, kernel_size, stride=1, padding=0: ag.fold(
            g, x.shape[2:], kernel_size, padding=padding
        ),
        "Pass stride on too.",
    ),
    (
        lambda g, z, x, kernel_size, stride=1, padding=0: ag.fold(
            g, (5, 7), kernel_size, stride, padding
        ),
        ANY_SIZE,
    ),
    (
        lambda g, z, x, kernel_size, stride=1, padding=0: ag.fold(
            g, x, kernel_size, stride, padding
        ),
        "fold needs the size of the image, not the image: x.shape[2:].",
    ),
    (
        lambda g, z, x, kernel_size, stride=1, padding=0: ag.fold(
            g, x.shape, kernel_size, stride, padding
        ),
        "fold needs only the height and the width: the last two numbers of x.shape, x.shape[2:].",
    ),
    (
        lambda g, z, x, kernel_size, stride=1, padding=0: ag.fold(
            g, x.shape[:2], kernel_size, stride, padding
        ),
        "That is (N, C). Height and width are the last two: x.shape[2:].",
    ),
    *(
        (
            lambda g, z, x, kernel_size, stride=1, padding=0, part=part: ag.fold(
                g, x.shape[part], kernel_size, stride, padding
            ),
            "fold needs the height and the width, the last two numbers of x.shape: x.shape[2:].",
        )
        for part in (slice(1, None), slice(3, None), 2, 3)
    ),
    (
        lambda g, z, x, kernel_size, stride=1, padding=0: ag.fold(
            g, x.shape[:1:-1], kernel_size, stride, padding
        ),
        "Width and height are swapped: x.shape[2:] has them in order.",
    ),
    (
        lambda g, z, x, kernel_size, stride=1, padding=0: ag.fold(
            g, g.shape[2:], kernel_size, stride, padding
        ),
        "g has the shape of the windows. What were the height and width of x?",
    ),
    (
        lambda g, z, x, kernel_size, stride=1, padding=0: ag.fold(
            z, x.shape[2:], kernel_size, stride, padding
        ),
        "That folds the windows themselves. Fold the upstream gradient g.",
    ),
    (
        lambda g, z, x, kernel_size, stride=1, padding=0: ag.fold(
            x, x.shape[2:], kernel_size, stride, padding
        ),
        "x is the image itself. The upstream gradient, in windows, is g.",
    ),
    (
        lambda g, z, x, kernel_size, stride=1, padding=0: ag.unfold(
            x, kernel_size, stride, padding
        ),
        "That is z again. The backward rule adds what was copied: which of the two functions adds?",
    ),
    (
        lambda g, z, x, kernel_size, stride=1, padding=0: g,
        "g has a number for each copy of a pixel, but x has one pixel: add the gradients of its copies.",
    ),
    (
        lambda g, z, x, kernel_size, stride=1, padding=0: (
            g * ag.fold(g, x.shape[2:], kernel_size, stride, padding)
        ),
        "g is already in the result: fold adds gradients, and nothing is multiplied.",
    ),
    (
        lambda g, z, x, kernel_size, stride=1, padding=0: (
            x * ag.fold(g, x.shape[2:], kernel_size, stride, padding)
        ),
        "x is not a factor here: unfold only copies it, so the gradients of the copies are added, and that is all.",
    ),
    (
        lambda g, z, x, kernel_size, stride=1, padding=0: ag.fold(
            g, (8, 8), kernel_size, stride, padding
        ),
        ANY_SIZE,
    ),
    (
        lambda g, z, x, kernel_size, stride=1, padding=0: ag.fold(
            g, (6, 6), kernel_size, stride, padding
        ),
        ANY_SIZE,
    ),
    (
        lambda g, z, x, kernel_size, stride=1, padding=0: ag.unfold(
            g, kernel_size, stride, padding
        ),
        "unfold copies. The backward rule adds what was copied.",
    ),
    (
        lambda g, z, x, kernel_size, stride=1, padding=0: ag.fold(g, kernel_size, stride, padding),
        "fold needs one more argument, right after g: the size of the image, x.shape[2:].",
    ),
    (
        lambda g, z, x, kernel_size, stride=1, padding=0: ag.fold(
            g, x.shape[2:], kernel_size, padding, stride
        ),
        ORDER,
    ),
    (
        _no_size,
        "output_size is an argument of fold. In the rule of unfold, use the height and width of x: x.shape[2:].",
    ),
]
WRONG_FOLD = [
    (
        lambda g, z, x, output_size, kernel_size, stride=1, padding=0: ag.unfold(g, kernel_size),
        "This is right only if the stride is 1 and the padding is 0. Pass stride and padding on.",
    ),
    (
        lambda g, z, x, output_size, kernel_size, stride=1, padding=0: ag.unfold(
            g, kernel_size, stride
        ),
        "Pass padding on too.",
    ),
    (
        lambda g, z, x, output_size, kernel_size, stride=1, padding=0: ag.unfold(
            g, kernel_size, padding=padding
        ),
        "Pass stride on too.",
    ),
    (
        lambda g, z, x, output_size, kernel_size, stride=1, padding=0: ag.unfold(
            z, kernel_size, stride, padding
        ),
        "That unfolds the value. Unfold the upstream gradient g.",
    ),
    (
        lambda g, z, x, output_size, kernel_size, stride=1, padding=0: ag.unfold(
            x, kernel_size, stride, padding
        ),
        "x is the input of fold, the windows. The upstream gradient, an image, is g.",
    ),
    (
        lambda g, z, x, output_size, kernel_size, stride=1, padding=0: ag.unfold(
            g, kernel_size, padding, stride
        ),
        ORDER,
    ),
    (
        lambda g, z, x, output_size, kernel_size, stride=1, padding=0: x,
        "That is x itself, the windows. Use the upstream gradient g.",
    ),
    (
        lambda g, z, x, output_size, kernel_size, stride=1, padding=0: ag.fold(
            g, output_size, kernel_size, stride, padding
        ),
        "fold adds. The backward rule copies what was added.",
    ),
    (
        lambda g, z, x, output_size, kernel_size, stride=1, padding=0: ag.unfold(
            g, output_size, kernel_size, stride, padding
        ),
        "unfold takes no output_size: it uses the size of g.",
    ),
    (
        lambda g, z, x, output_size, kernel_size, stride=1, padding=0: (
            x * ag.unfold(g, kernel_size, stride, padding)
        ),
        "x is not a factor here: fold only adds its entries, so each of them gets the g of its pixel.",
    ),
    (
        lambda g, z, x, output_size, kernel_size, stride=1, padding=0: ag.unfold(
            g, output_size, stride, padding
        ),
        "The windows are as large as the kernel: kernel_size, not output_size.",
    ),
]


@exercise(
    "14.fold",
    minutes=2,
    difficulty="easy",
    importance=2,
    names=lambda: {"fold": ag.fold, "unfold": ag.unfold},
    question="""
        Write the rules of `unfold(x, kernel_size, stride, padding)` and of
        `fold(x, output_size, kernel_size, stride, padding)`. Neither needs arithmetic. `output_size` is (H, W), the
        last two numbers of the image's shape.""",
    stub="""
        unfold_x = lambda g, z, x, kernel_size, stride=1, padding=0: ...
        fold_x = lambda g, z, x, output_size, kernel_size, stride=1, padding=0: ...""",
    hints=[
        "fold needs the height and width of x, because the windows do not contain them.",
        "Both take g, followed by the sizes that the forward pass used.",
        (
            "Help: fold is not defined",
            "`unfold` and `fold` are imported at the top of the lesson. Run that cell.",
        ),
    ],
    solution="""
        unfold_x = lambda g, z, x, kernel_size, stride=1, padding=0: (
            fold(g, x.shape[2:], kernel_size, stride, padding))
        fold_x = lambda g, z, x, output_size, kernel_size, stride=1, padding=0: (
            unfold(g, kernel_size, stride, padding))""",
    explained="As with `sum` and `broadcast_to` in lesson 08, each is the backward rule of the other.",
    why="unfold copies in the forward pass, so its backward rule adds. fold adds in the forward pass, so its backward rule copies.",
)
def fold(answer):
    if any(map(is_stub, answer)):
        raise NotYet

    def image(d):
        """Return the shape (N, C, H, W) of a random batch of images, and the sizes of a window as named arguments.

        The sizes are kernel_size, stride and padding, sometimes without the last one or two. `d` is
        the Draw that supplies the random numbers.
        """
        kernel = d.choice(1, 2, 3, (2, 3), (1, 2))
        high, wide = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        side = high + d.size(0)
        shape = (
            d.size(1, 3),
            d.choice(1, 1, 2, 7),
            side,
            side if high == wide and d.round % 3 == 0 else wide + d.size(0),
        )
        sizes = {"kernel_size": kernel, "stride": d.choice(1, 2, 3), "padding": d.choice(0, 1, 2)}
        return shape, Named(list(sizes.items())[: d.choice(3, 3, 1, 2)])

    def unfolded(d):
        shape, sizes = image(d)
        x = d(*shape)
        z = ag.unfold(x, **sizes)
        return d.g(*z.shape), z, x, sizes

    def folded(d):
        shape, sizes = image(d)
        windows = ag.unfold(d(*shape), **sizes)
        sizes = Named(output_size=shape[2:], **sizes)
        return d.g(*shape), ag.fold(windows, **sizes), windows, sizes

    def tried(op, g, z, x, sizes):
        said = ", ".join(
            [f"{name}={size}" for name, size in sizes.items()]
            + [f"{name} left out" for name in ("stride", "padding") if name not in sizes]
        )
        return f"the rule of {op}, with x {x.shape} and {said}"

    for rule, op, build, right, hints in [
        (answer[0], "unfold", unfolded, _unfold_x, WRONG_UNFOLD),
        (
            answer[1],
            "fold",
            folded,
            lambda g, z, x, output_size, **sizes: ag.unfold(g, **sizes),
            WRONG_FOLD,
        ),
    ]:
        expect_over(rule, right, build, hints=hints, tried=partial(tried, op), rounds=14)


# --- The fast form ----------------------------------------------------------------------------------------------------------------


def _conv_x(inner):
    """Return a conv2d_x in which `inner`, a function of two matrices, fills the first blank.

    The rest is the right rule for the image x.
    """

    def conv2d_x(g, z, x, y, stride=1, padding=0):
        return ag.fold(inner(as_rows(g), as_columns(y)), x.shape[2:], y.shape[2:], stride, padding)

    return conv2d_x


def _conv_y(inner):
    def conv2d_y(g, z, x, y, stride=1, padding=0):
        return as_kernels(inner(as_rows(g), ag.unfold(x, y.shape[2:], stride, padding)), y.shape)

    return conv2d_y


WRONG_X = [
    (
        _conv_x(lambda G, Y: G @ Y),
        "The gradient of X is G · Yᵀ: the columns of both G and Y count the kernels, so transpose Y.",
    ),
    *(
        (_conv_x(wrong), "The two matrices are in the wrong order: G · Yᵀ.")
        for wrong in [
            lambda G, Y: Y.mT @ G.mT,
            lambda G, Y: Y.mT @ G,
            lambda G, Y: Y @ G,
            lambda G, Y: Y @ G.mT,
        ]
    ),
    (
        lambda g, z, x, y, stride=1, padding=0: ag.fold(
            g @ as_columns(y).mT, x.shape[2:], y.shape[2:], stride, padding
        ),
        "g still has the layout of z. G is g written as rows.",
    ),
    (_conv_x(lambda G, Y: 2 * G @ Y.mT), "Exactly double."),
    (_conv_x(lambda G, Y: G * Y), "* multiplies entry by entry. The product of matrices is @."),
    (
        _conv_x(lambda G, Y: G),
        "You fold only the upstream gradient. First multiply it by the other matrix, transposed.",
    ),
    (_conv_x(lambda G, Y: Y.mT), "The upstream gradient is missing: G."),
    (
        _conv_x(lambda G, Y: (G @ Y.mT).sum(axis=0)),
        "Each image has its own windows: nothing is summed over the images in the rule for x.",
    ),
]
WRONG_Y = [
    (
        _conv_y(lambda G, X: X.mT @ G),
        "There is one axis too many, with a result for each image. All images share the kernels: sum over axis 0.",
    ),
    (
        _conv_y(lambda G, X: (X.mT @ G)[0]),
        "That is only the first image. All of them used the kernels.",
    ),
    (
        _conv_y(lambda G, X: (X.mT @ G)[-1]),
        "That is only the last image. All of them used the kernels.",
    ),
    (
        _conv_y(lambda G, X: (X.mT @ G)[:2].sum(axis=0)),
        "All of the images used the kernels, not just the first two.",
    ),
    (
        _conv_y(lambda G, X: (X.mT @ G).mean(axis=0)),
        "That is a mean over the images. Add the contributions of all images.",
    ),
    (
        _conv_y(lambda G, X: (X @ G).sum(axis=0)),
        "The rows of both X and G count the windows: which of the two must be transposed?",
    ),
    (
        _conv_y(lambda G, X: (G.mT @ X).sum(axis=0)),
        "That is the right product, transposed: swap the two matrices.",
    ),
    (_conv_y(lambda G, X: (G @ X.mT).sum(axis=0)), "For Y, the X is on the left: Xᵀ · G."),
    (_conv_y(lambda G, X: X.mT.sum(axis=0)), "The upstream gradient is missing: G."),
    (
        _conv_y(lambda G, X: X.sum(axis=0).mT @ G.sum(axis=0)),
        "You sum too early: this multiplies the windows of one image by the g of another.",
    ),
    (
        _conv_y(lambda G, X: (X.mT @ G).sum()),
        "That returns a single number. axis=0 sums only over the images.",
    ),
    *(
        (
            _conv_y(lambda G, X, axis=axis: (X.mT @ G).sum(axis=axis)),
            "You sum over the wrong axis: the images are axis 0.",
        )
        for axis in (1, 2)
    ),
    (
        _conv_y(lambda G, X: (X.T @ G).sum(axis=0)),
        "`.T` reverses all three axes. `.mT` exchanges the last two.",
    ),
    *(
        (
            _conv_y(wrong),
            "NumPy's transpose takes all axes, but PyTorch's swaps two: use `.mT`.",
        )
        for wrong in [lambda G, X: X.transpose(1, 2) @ G, lambda G, X: X.transpose(-2, -1) @ G]
    ),
]


@exercise(
    "14.fast",
    minutes=3,
    difficulty="medium",
    importance=2,
    names=lambda: {"as_rows": as_rows, "as_columns": as_columns, "as_kernels": as_kernels},
    question="""
        Here are both rules of `conv2d`, which computes Z = X @ Y, with one blank each. The comment after a blank gives the shape of the result.
        All N images share the kernels, as all matrices of a batch shared W in lesson 09.""",
    stub="""
        def conv2d_x(g, z, x, y, stride=1, padding=0):
            G, Y = as_rows(g), as_columns(y)                              # (N, windows, K), (kh·kw·C, K)
            windows = ...                                                 # (N, windows, kh·kw·C)
            return fold(windows, x.shape[2:], y.shape[2:], stride, padding)

        def conv2d_y(g, z, x, y, stride=1, padding=0):
            G, X = as_rows(g), unfold(x, y.shape[2:], stride, padding)    # …, (N, windows, kh·kw·C)
            columns = ...                                                 # (kh·kw·C, K)
            return as_kernels(columns, y.shape)""",
    hints=[
        "The gradient of X is G · Yᵀ, and that of Y is Xᵀ · G. `.mT` swaps the last two axes.",
        "Xᵀ · G has shape (N, kh·kw·C, K), a matrix for each image. All images share the kernels.",
        (
            "Help: cannot reshape",
            "Is there one axis too many? `.sum(axis=0)` sums over the images.",
        ),
    ],
    solution="""
        def conv2d_x(g, z, x, y, stride=1, padding=0):
            G, Y = as_rows(g), as_columns(y)
            windows = G @ Y.mT
            return fold(windows, x.shape[2:], y.shape[2:], stride, padding)

        def conv2d_y(g, z, x, y, stride=1, padding=0):
            G, X = as_rows(g), unfold(x, y.shape[2:], stride, padding)
            columns = (X.mT @ G).sum(axis=0)
            return as_kernels(columns, y.shape)""",
    explained="These are the two rules from lesson 09. The other lines only rearrange numbers and add what was copied.",
    why="A convolution is a matrix product with the windows as rows, so there was nothing new to derive.",
)
def fast(answer):
    if any(map(has_blank, answer)):
        raise NotYet

    def build(d):
        high, wide = d.size(1, 3), d.size(1, 3)
        x = d(d.size(1, 3), channels := d.size(1, 3), high + d.size(0), wide + d.size(0))
        kernels, numbers = (
            d.size(1, 3),
            high * wide * channels,
        )  # sometimes equal, so that Y is square
        y = d(numbers if d.round % 2 and numbers < 20 else kernels, channels, high, wide)
        sizes = Named(
            {"stride": d.choice(1, 2, 3), "padding": d.choice(0, 1, 2)} if d.round % 3 else {}
        )
        z = ag.conv2d(x, y, **sizes)
        return d.g(*z.shape), z, x, y, sizes

    for name, rule, right, hints in [
        ("x", answer[0], ops.conv2d.rules[0], WRONG_X),
        ("y", answer[1], ops.conv2d.rules[1], WRONG_Y),
    ]:
        expect_over(
            rule,
            right,
            build,
            hints=hints,
            rounds=14,
            tried=lambda g, z, x, y, sizes, name=name: (
                f"the rule for {name}, with x {x.shape}, y {y.shape}, "
                + ", ".join(
                    f"{size} {sizes.get(size, 'left out')}" for size in ("stride", "padding")
                )
            ),
        )


# --- Pooling ------------------------------------------------------------------------------------------------------------------------

POOLED = np.array([[3, 1, 0, 0], [3, 2, 0, 0], [5, 1, 0, 2], [0, 2, 1, 6]])


def _to_pooled(top_left, top_right, bottom_left=((30, 0), (0, 0)), bottom_right=((0, 0), (0, 40))):
    return np.block(
        [[np.array(top_left), np.array(top_right)], [np.array(bottom_left), np.array(bottom_right)]]
    ).astype(float)


@exercise(
    "14.pool",
    minutes=2,
    difficulty="optional",
    importance=1,
    question="""
        Max pooling turns x = [[3, 1, 0, 0], [3, 2, 0, 0], [5, 1, 0, 2], [0, 2, 1, 6]] into an array of shape (2, 2), whose upstream
        gradient is g = [[10, 20], [30, 40]]. What is the gradient of x, by the rule of `max` from lesson 10? Give four rows
        of four numbers.""",
    stub="""
        gradient_of_x = ...""",
    hints=[
        "There are four blocks of 2 × 2, each with its own `max`. Which entries are the largest in each block?",
        "In a tie, all the largest entries share the upstream gradient equally.",
        (
            "Help: the block of zeros",
            "All four entries are 0, so it is a four-way tie.",
        ),
    ],
    solution="""
        gradient_of_x = [[5, 0, 5, 5],
                         [5, 0, 5, 5],
                         [30, 0, 0, 0],
                         [0, 0, 0, 40]]""",
    explained="""
        Every block of blank paper is a tie, and so is every block that a relu has set to 0.""",
    why="Sharing g, or giving all of it to the first entry, are two conventions at a kink. In both, the gradients of a block add up to its g.",
    mistakes=[
        (
            _to_pooled([[10, 0], [0, 0]], [[20, 0], [0, 0]]),
            "You give all of g to the first entry, which is PyTorch's convention. The rule from lesson 10 shares equally in a tie.",
        ),
        (
            _to_pooled([[10, 0], [10, 0]], [[20, 20], [20, 20]]),
            "You give all of g to each of the largest entries: that adds up to 20 instead of 10, and 80 instead of 20.",
        ),
        (
            _to_pooled([[5, 0], [5, 0]], [[0, 0], [0, 0]]),
            "The gradients of the block of zeros are missing. Its largest entry is 0: which entries are 0?",
        ),
        (
            _to_pooled([[5, 0], [5, 0]], [[20, 0], [0, 0]]),
            "The block of zeros is a tie too: a tie of four.",
        ),
        (
            _to_pooled([[10, 0], [0, 0]], [[5, 5], [5, 5]]),
            "The block at the top left is a tie too: two entries are 3.",
        ),
        (
            _to_pooled([[10, 0], [10, 0]], [[0, 0], [0, 0]]),
            "You give all of g to each of the largest entries: share it. And which entries are the largest among zeros?",
        ),
        (
            _to_pooled([[5, 0], [0, 5]], [[5, 5], [5, 5]]),
            "In the first block one 3 is above the other.",
        ),
        (
            _to_pooled([[10, 0], [10, 0]], [[5, 5], [5, 5]]),
            "The two 3s also share g: you gave all of the 10 to each of them.",
        ),
        (
            _to_pooled([[5, 0], [5, 0]], [[20, 20], [20, 20]]),
            "The four 0s also share g: you gave all of the 20 to each of them.",
        ),
        (
            _to_pooled(
                [[10, 10], [10, 10]],
                [[20, 20], [20, 20]],
                [[30, 30], [30, 30]],
                [[40, 40], [40, 40]],
            ),
            "You give each entry the g of its block. The gradient of entries that are not the largest is 0.",
        ),
        (
            _to_pooled(
                [[0.5, 0], [0.5, 0]],
                [[0.25, 0.25], [0.25, 0.25]],
                [[1, 0], [0, 0]],
                [[0, 0], [0, 1]],
            ),
            "Those are the local gradients. Multiply them by the upstream gradient g.",
        ),
        (
            _to_pooled([[10, 0], [0, 0]], [[0, 0], [0, 0]]),
            "Two blocks are ties: the two 3s and the four 0s. The largest entries share equally.",
        ),
        (
            _to_pooled([[3, 0], [3, 0]], [[0, 0], [0, 0]], [[5, 0], [0, 0]], [[0, 0], [0, 6]]),
            "Those are the values. The gradients come from g.",
        ),
        (
            _to_pooled(
                [[2.5, 2.5], [2.5, 2.5]],
                [[5, 5], [5, 5]],
                [[7.5, 7.5], [7.5, 7.5]],
                [[10, 10], [10, 10]],
            ),
            "That is the rule of a mean, average pooling. In max pooling the gradient of entries that are not the largest is 0.",
        ),
        (
            _to_pooled([[1, 0], [1, 0]], [[1, 1], [1, 1]], [[1, 0], [0, 0]], [[0, 0], [0, 1]]),
            "Those are the positions. What are the gradients there?",
        ),
        (
            _to_pooled([[0, 0], [10, 0]], [[0, 0], [0, 20]]),
            "You give all of g to the last entry. The rule from lesson 10 shares equally in a tie.",
        ),
        (
            POOLED * _to_pooled([[5, 0], [5, 0]], [[5, 5], [5, 5]]),
            "You multiply g by the value. But the local gradient of the largest entry is 1, or its part of 1 in a tie.",
        ),
        (
            _to_pooled([[5, 0], [5, 0]], [[7.5, 7.5], [7.5, 7.5]], [[20, 0], [0, 0]]),
            "The top right block has g = 20 and the bottom left block g = 30: the second row of g is for the lower blocks.",
        ),
        (
            np.array([[3.0, 0.0], [5.0, 6.0]]),
            "Those are the largest values. What is the gradient of x, in the shape of x?",
        ),
    ],
)
def pool(answer):
    expect(
        answer,
        _to_pooled([[5, 0], [5, 0]], [[5, 5], [5, 5]]),
        tried="the gradient of x in max pooling",
        shown="other numbers, in the shape (4, 4)",
        hints=pool.mistakes,
    )


# --- A custom operation ---------------------------------------------------------------------------------------------------------------


def _slope(function, x, h=1e-5):
    return (function(x + h) - function(x - h)) / (2 * h)


X = np.array([[-2.31, -1.17, -0.43], [0.29, 0.84, 2.06]])


def _known(x, z):
    """Return the name of the elementwise op of the library whose result at `x` is `z`, or None."""
    for row in ops.ROWS.values():
        if row.kind == "elementwise" and row.arity == 1:
            with np.errstate(all="ignore"):
                if np.allclose(row.function(x), z):
                    return row.name
    return None


@exercise(
    "14.my_op",
    minutes=8,
    difficulty="hard",
    importance=2,
    question="""
        Write a table row for an operation with one input: a function and its rule. Use one of these functions, or any other function that is not in
        the table. It must accept every number, and its graph must not be a straight line:

        - $x \\cdot \\sigma(x)$
        - $x / (1 + \\lvert x \\rvert)$
        - $1 / (1 + x^2)$

        Derive the slope on paper. Use only functions from `np` and `ag` (σ is `ag.sigmoid`); in the rule, use only those `np`
        functions that are in the table.""",
    stub="""
        from autograd_lib import elementwise

        my_op = elementwise(
            lambda x: ...,                  # z
            lambda g, z, x: ...,            # the gradient of x
            name="my_op")""",
    hints=[
        "Draw the function as a graph of operations that you know. If two arrows leave x, there are two paths: multiply along each path, and add the results.",
        "For $x \\cdot \\sigma(x)$, the slope along one path is $\\sigma(x)$. Along the other path it is x times the slope of $\\sigma$, "
        "which is $\\sigma(x)(1 - \\sigma(x))$.",
        (
            "Help: an error about the truth value, or about a type",
            "x is an array. Use `np.where(x > 0, …, …)` instead of `if`, and `np.exp` instead of `math.exp`.",
        ),
        (
            "May an operation mix the entries of x?",
            "Yes, and then it may be linear: use `ag.linear(function, rule)` or `ag.primitive(function, [rule], [push])`, where z has the shape "
            "of x. Lesson 15 explains what a push is.",
        ),
    ],
    solution="""
        from autograd_lib import elementwise

        my_op = elementwise(
            lambda x: x * ag.sigmoid(x),
            lambda g, z, x: g * (ag.sigmoid(x) + z * (1 - ag.sigmoid(x))),      # x·σ·(1 − σ) is z·(1 − σ)
            name="my_op")""",
    explained="This function is called silu, or swish.",
    why="You wrote a function and its rule. The engine does the rest, in every graph and for higher derivatives.",
)
def my_op(answer):
    if not isinstance(answer, Primitive):
        raise Wrong(
            "your op",
            brief(answer),
            "a row",
            'Create the row with elementwise(function, rule, name="my_op").',
        )
    if is_stub(answer.function) or any(map(is_stub, answer.rules)):
        raise NotYet
    if len(answer.rules) != 1:
        raise Wrong(
            "your op",
            f"{len(answer.rules)} rules",
            "1 rule",
            "Write a row with one input: a function of x and one rule.",
        )
    if answer.kind != "elementwise":
        return _mixes(answer)
    function, rule = _called(answer), answer.rules[0]
    whole = np.array([-25, -15, *np.arange(-12, 13) / 2, 15, 25])
    with np.errstate(all="ignore"):
        z, at_whole = np.asarray(function(X)), np.asarray(function(whole))
    if z.shape != X.shape or not np.allclose(z[1, 2], function(X[1, 2]), equal_nan=True):
        raise Wrong(
            "your function, applied to an array and to one of its entries",
            f"shape {z.shape}, {brief(z)}",
            "the same number in both",
            "An elementwise operation computes one number from each entry of x, and reads no other entry.",
        )
    if not np.all(np.isfinite(z)) or not np.all(np.isfinite(at_whole)):
        x, got = [*whole, *X.ravel()], [*at_whole, *z.ravel()]
        first = np.argmin(np.isfinite(got))
        raise Wrong(
            f"your function at x = {number(x[first])}",
            number(got[first]),
            "a number everywhere",
            "In a network its input can be any number, including 0 and negative numbers. Choose a function that accepts every number.",
        )
    far = np.array([-1000.0, 1000.0])
    with np.errstate(all="ignore"):
        if np.isnan(function(far)).any() or np.isnan(rule(1.0, function(far), far)).any():
            raise Wrong(
                "your function and your rule at x = −1000 and 1000",
                "nan",
                "numbers",
                "Does exp overflow at such an x? ag.sigmoid and np.tanh do not overflow.",
            )
    if known := _known(np.append(whole, X), np.append(at_whole, z)):
        raise Wrong(
            "your function",
            f"the same as ag.{known}",
            "a new function",
            f"Your function is {known}, which is already in the table.",
        )
    slope = _slope(function, X)
    if np.ptp(_slope(function, np.append(whole + 0.3, X))) < 1e-6:
        raise Wrong(
            "your function",
            f"the slope {brief(slope[0, 0])} everywhere",
            "a slope that changes",
            "Your function is linear wherever it has a slope: choose a nonlinear function."
            if np.any(slope)
            else "Your function is flat wherever it has a slope, so no gradient would pass through it.",
        )
    g = np.array([[1.5, -2.0, 0.5], [3.0, -1.0, 0.25]])
    hints = [
        lambda got, expected: (
            "Your rule returned a tuple. One input has one gradient: if there are two paths, add their gradients."
            if isinstance(got, tuple)
            else None
        ),
        without(g),
        (lambda g, z, x: g + slope, "g is added. Multiply the slope by g instead."),
        (lambda g, z, x: g * z, "That is g times the value. It should be g times the slope."),
        (lambda g, z, x: g * g * slope, "Your rule contains g twice: multiply by g once."),
        (
            lambda g, z, x: g,
            "That would mean that the slope is 1. It should be g times the slope.",
        ),
        *(
            (
                path,
                "Does x occur twice in your function? Then there are two paths, and one is missing.",
            )
            for path in (lambda g, z, x: g * z / x, lambda g, z, x: g * (slope - z / x))
        ),
        (
            lambda g, z, x: g * (2 * z / x - slope),
            "The second path has the wrong sign. If its slope is right, add it instead of subtracting.",
        ),
        (
            lambda g, z, x: g * z / x + slope - z / x,
            "g multiplies only the first path: put the sum of both paths in parentheses.",
        ),
        *[
            (
                lambda g, z, x: g * (ag.sigmoid(x) + ag.sigmoid(x) * (1 - ag.sigmoid(x))),
                "The second path is x times the slope of σ.",
            ),
            (
                lambda g, z, x: g * (ag.sigmoid(x) + z * (1 - z)),
                "z is x·σ(x) here: the slope of σ is σ(1 − σ).",
            ),
            (
                lambda g, z, x: g * (ag.sigmoid(x) + z * ag.sigmoid(x) * (1 - ag.sigmoid(x))),
                "z already contains σ: the second path is x·σ·(1 − σ), which is z·(1 − σ).",
            ),
            (
                lambda g, z, x: g * (ag.sigmoid(x) + x * (1 - ag.sigmoid(x))),
                "The slope of σ contains σ itself: it is σ(x)(1 − σ(x)).",
            ),
            (
                lambda g, z, x: g * (1 + ag.sigmoid(x) * (1 - ag.sigmoid(x))),
                "Each path keeps the other factor: σ(x) · 1, and x times the slope of σ.",
            ),
        ]
        * np.allclose(z, X * ag.sigmoid(X)),
        (
            lambda g, z, x: g * ag.sigmoid(x) * (1 - ag.sigmoid(x)),
            "That is only the slope of σ. Which other path leads from x to z? Add both paths.",
        ),
        (
            lambda g, z, x: g * slope / (2 * x),
            "A factor 2x is missing: the slope of the inner function x².",
        ),
        (
            lambda g, z, x: -g * slope / (2 * x),
            "A factor −2x is missing: the slope of the inner function x², and a sign.",
        ),
        (lambda g, z, x: -2 * g * x * z, "One z is missing: the slope of 1/u is −1/u²."),
        (lambda g, z, x: -2 * g * x, "The outer slope is missing. (The slope of 1/u is −1/u².)"),
        *[
            (
                lambda g, z, x: g / (1 + np.abs(x) ** 2),
                "The whole denominator is squared: (1 + |x|)².",
            ),
            (
                lambda g, z, x: g / (1 + x) ** 2,
                "Your rule is right where x is above 0. Below 0, the denominator is also (1 + |x|)².",
            ),
            (
                lambda g, z, x: g * (1 / (1 + np.abs(x)) - x / (1 + np.abs(x)) ** 2),
                "Your rule is right where x is above 0. Below 0, the slope of |x| is −1: np.sign(x).",
            ),
            (
                lambda g, z, x: g * (1 - z) ** 2,
                "Your rule is right where x is above 0. Below 0, z is negative: there (1 + z)² is right.",
            ),
        ]
        * np.allclose(z, X / (1 + np.abs(X))),
        times(-1, "The absolute value is right, but the sign is wrong."),
        times(2, "Exactly double."),
        times(0.5, "Exactly half."),
        lambda got, expected: (
            " ".join(
                f"At x = {X[at]} you send g times {number(got[at] / g[at])}, and the slope is {number(slope[at])}."
                for at in [(1, 2), (0, 2)]
                if not np.isclose(got[at], expected[at], 1e-4)
            )
            if np.shape(got) == X.shape
            else None
        ),
    ]
    tried = f"your rule, with g = {brief(g)} and x = {brief(X)}"
    function(1 - 2 * X)  # what its last call kept is no longer of X
    expect_call(rule, g, z, X, gives=g * slope, tried=tried, hints=hints, rtol=1e-5, atol=1e-7)
    expect_call(
        rule,
        g[0, 0],
        z[0, 0],
        X[0, 0],
        gives=g[0, 0] * slope[0, 0],
        tried="your rule, for single numbers",
        rtol=1e-5,
        atol=1e-7,
    )
    g = np.where(whole < 0, -2.0, 1.5)
    sent = returned(
        rule, g, at_whole, whole, tried="your rule from x = −25 to 25", shown="g times the slope"
    )
    for i, *sides in outside_one_sided_slopes(np.asarray(sent) / g, function, whole):
        low, high = (number(round(slope, 3)) for slope in sides)
        if np.isinf(sent[i]):
            raise Wrong(
                f"your rule at x = {number(whole[i])}, with g = {number(g[i])}",
                number(sent[i]),
                "a finite number",
                "Does your rule divide by 0 here? If the slope of your function is infinite here, choose another function.",
            )
        raise Wrong(
            f"your rule at x = {number(whole[i])}, with g = {number(g[i])}",
            number(sent[i]),
            f"g times {low}" if low == high else f"g times {low} to {high}",
            "The result is nan: is there a 0/0, or the root of a negative number?"
            if np.isnan(sent[i])
            else "Look at the slopes of your function on both sides of this x.",
        )

    def build(d):
        x = (
            np.clip(d(*d.shape(0, 1, 3)), -25, 25) + 0.0123
        )  # between whole numbers, where no kink is likely
        return d.g(*np.shape(x)), function(x), x

    expect_over(
        rule,
        lambda g, z, x: g * _slope(function, x),
        build,
        rtol=1e-4,
        atol=1e-6,
        rounds=12,
        tried=lambda g, z, x: f"your rule, with g = {brief(g)} and x = {brief(x)}",
    )
    _silent(answer, PLAIN)


def _called(op):
    """Return the learner's function in the op `op`, wrapped so that the check stops if its result cannot be used."""
    return partial(returned, op.function, tried="your function", shown="a number for each of x")


def _mixes(op):
    """Raise Wrong unless `op`, which is not elementwise, has a correct rule and can be used between two layers.

    Its result must have the shape of x, must be finite, and must not be the same at every entry.
    """
    function = _called(op)
    for x in (X, np.array([[[0.7, -1.2, 0.4, 2.1], [1.5, 0.2, -0.6, -2.0]]])):
        with np.errstate(all="ignore"):
            z, at_zero = np.asarray(function(x)), np.asarray(function(0 * x))
        if z.shape != x.shape:
            raise Wrong(
                f"your function at an x of shape {x.shape}",
                f"shape {z.shape}",
                f"shape {x.shape}",
                "Later in this notebook your operation is used between two layers, so z must have the shape of x.",
            )
        if not np.all(np.isfinite(z)) or not np.all(np.isfinite(at_zero)):
            raise Wrong(
                f"your function at x = {brief(x)}, and at 0",
                brief(z),
                "a number everywhere",
                "In a network its input can be any number. Choose a function that accepts every number, including 0.",
            )
        if np.ptp(z) < 1e-9:
            raise Wrong(
                f"your function at x = {brief(x)}",
                brief(z),
                "different numbers",
                "Every entry of the result is the same, so the network could not tell two scans apart.",
            )
        _silent(
            op,
            "The rule of a row that mixes entries: which entries of z depend on x[i], and with which slope? "
            "Add their gradients times these slopes. (`linear` needs a linear function; a push returns how z changes.)",
            x,
        )


PLAIN = "Write the rule with ag functions, the np functions that are in the table, and + − · /, because the engine differentiates it."


def _silent(op, hint, x=X):
    """Raise Wrong if ag.check_grads raises an error for the op `op` at `x`.

    `hint` is the hint in the message if the check finds a wrong derivative.
    """
    try:
        ag.check_grads(op, x.copy())
    except Exception as error:
        said = str(error).splitlines()[0] if str(error) else ""
        raise Wrong(
            "ag.check_grads, including the second derivative",
            f"{type(error).__name__}: {said}",
            "no error",
            hint if isinstance(error, AssertionError) or "push" in said else PLAIN,
        ) from None
