"""Create problems that ask for ∂z[i] / ∂x[j] as one line of Python in the indices i and j.

The picture shows the right matrix and the learner's matrix. The library computes the right matrix
by differentiating z. The table below also has an answer as text, which is shown to the learner; a
test compares this answer with the matrix.
"""

from dataclasses import dataclass, field
from functools import cache
from math import prod

import numpy as np

import autograd_lib as ag

from ..drawing.formatting import cell, number, words
from ..drawing.picture import Picture, svg
from ..grading.sandbox import StepLimitExceeded, bounded
from .problems import NAMES, Box, Line, Mark, Problem, judged, trouble


def lower(n):
    """Return the n × n matrix with ones on and below the diagonal, and zeros above it."""
    return np.tril(np.ones((n, n)))


@dataclass
class Puzzle:
    """Hold a function z and the right answer for its Jacobian.

    Attributes
    ----------
    lesson : str
        The lesson of the puzzle, as two digits.
    formula : str
        The definition of z, entry by entry.
    code : str
        The same definition as NumPy code.
    z : callable
        Takes the inputs as Tensors, by keyword, and computes z with functions of the library.
    answer : str
        One entry of the Jacobian as Python code, in the indices i, j, k, l; the indices of z come
        first.
    why : str
        The reason for the answer.
    by : str
        The name of the input with respect to which z is differentiated.
    sizes : list of dict
        The shapes of the inputs by name, one dict for each test. The picture uses the first dict.
    also_right : tuple of str
        Other right answers.
    constants : dict
        The other values that an answer may use, by name. Each is an array, or a function that takes
        the inputs by keyword and returns an array.
    """

    lesson: str
    formula: str
    code: str
    z: object
    answer: str
    why: str
    by: str = "x"
    sizes: list = field(default_factory=lambda: [{"x": (n,)} for n in (4, 1, 2, 3, 6)])
    also_right: tuple = ()
    constants: dict = field(
        default_factory=dict
    )  # values by name; one is drawn as "idx = [2, 0, 2]"


def grid(*shapes):
    return [{"x": shape} for shape in shapes]


def pairs(*both, names="xy"):
    return [dict(zip(names, shapes)) for shapes in both]


IDX = np.array([2, 0, 2])


def kept(x):
    """Return an array of ones and zeros with the length of x, in which every third entry is 0.

    The index of the first 0 is 0 if the length is even, and 1 if the length is odd.
    """
    return np.where(np.arange(x.shape[0]) % 3 == x.shape[0] % 2, 0.0, 1.0)


PUZZLES = {
    "square": Puzzle(
        "08",
        "z[i] = x[i]²",
        "x * x",
        lambda x: x * x,
        "2 * x[i] * (i == j)",
        "Entry i reads only entry i, so the matrix is diagonal, and its entries are slopes of a square.",
        also_right=("2 * x[j] if i == j else 0", "(i == j) * (x[i] + x[j])"),
    ),
    "sum": Puzzle(
        "08",
        "z = Σⱼ x[j]",
        "x.sum()",
        lambda x: x.sum(),
        "1",
        "If one entry grows, z grows by the same amount.",
        also_right=("x[i] ** 0", "1.0"),
    ),
    "mean": Puzzle(
        "08",
        "z = Σⱼ x[j] / n",
        "x.mean()",
        lambda x: x.mean(),
        "1 / n",
        "Each entry has weight 1/n.",
        also_right=("1 / len(x)", "n ** -1"),
    ),
    "centre": Puzzle(
        "08",
        "z[i] = x[i] − Σₖ x[k] / n",
        "x - x.mean()",
        lambda x: x - x.mean(),
        "(i == j) - 1 / n",
        "x[j] has weight 1 in its own entry, and weight −1/n in every entry, through the mean.",
        also_right=("1 - 1/n if i == j else -1/n",),
    ),
    "repeat": Puzzle(
        "08",
        "z[i] = x[⌊i / 2⌋]: each entry appears twice",
        "np.repeat(x, 2)",
        lambda x: (x.reshape((-1, 1)) * np.ones((1, 2))).reshape(-1),
        "j == i // 2",
        "Rows 2j and 2j + 1 read entry j.",
        sizes=grid((3,), (1,), (2,), (5,)),
        also_right=("int(i // 2 == j)", "(i - i % 2) == 2 * j", "1 if 2*j <= i < 2*j + 2 else 0"),
    ),
    "tile": Puzzle(
        "08",
        "z[i] = x[i mod n]: the whole row, twice",
        "np.tile(x, 2)",
        lambda x: ag.concatenate([x, x]),
        "j == i % n",
        "Rows j and j + n read entry j.",
        sizes=grid((3,), (1,), (2,), (5,)),
        also_right=("i == j or i == j + n", "(i - j) % n == 0"),
    ),
    "reverse": Puzzle(
        "08",
        "z[i] = x[n − 1 − i]",
        "x[::-1]",
        lambda x: ag.flip(x),
        "j == n - 1 - i",
        "The ones are on the other diagonal.",
        also_right=("i + j == n - 1", "i + j + 1 == n"),
    ),
    "roll": Puzzle(
        "08",
        "z[i] = x[i − 1], and z[0] is the last of x",
        "np.roll(x, 1)",
        lambda x: ag.concatenate([x[-1:], x[:-1]]),
        "j == (i - 1) % n",
        "The ones are one row below the diagonal, with one more in the corner.",
        also_right=("i == (j + 1) % n", "(i - j - 1) % n == 0"),
    ),
    "differences": Puzzle(
        "08",
        "z[i] = x[i + 1] − x[i]",
        "np.diff(x)",
        lambda x: x[1:] - x[:-1],
        "(j == i + 1) * 1 - (j == i)",
        "Each row has a −1, and a 1 to the right of it.",
        sizes=grid((4,), (2,), (3,), (6,)),
        also_right=("1 if j == i + 1 else -1 if j == i else 0", "int(j == i + 1) - int(j == i)"),
    ),
    "cumsum": Puzzle(
        "08",
        "z[i] = x[0] + … + x[i]",
        "np.cumsum(x)",
        lambda x: ag.matmul(lower(x.shape[0]), x),
        "j <= i",
        "Row i reads all entries up to i: ones on and below the diagonal.",
        also_right=("1 * (i >= j)", "1 if j < i + 1 else 0"),
    ),
    "running_mean": Puzzle(
        "08",
        "z[i] = (x[0] + … + x[i]) / (i + 1)",
        "np.cumsum(x) / np.arange(1, n + 1)",
        lambda x: ag.matmul(lower(x.shape[0]), x) / np.arange(1, x.shape[0] + 1),
        "(j <= i) / (i + 1)",
        "It is the matrix of cumsum, with row i divided by the number of entries summed.",
        also_right=("1 / (i + 1) if j <= i else 0",),
    ),
    "window_mean": Puzzle(
        "08",
        "z[i] = (x[i] + x[i + 1] + x[i + 2]) / 3",
        "np.convolve(x, np.ones(3) / 3, 'valid')",
        lambda x: (x[:-2] + x[1:-1] + x[2:]) / 3,
        "(i <= j < i + 3) / 3",
        "Each row has 1/3 three times, one column further to the right than the row above.",
        sizes=grid((5,), (3,), (4,), (7,)),
        also_right=("1/3 if 0 <= j - i <= 2 else 0", "(0 <= j - i) * (j - i < 3) / 3"),
    ),
    "cumprod": Puzzle(
        "08",
        "z[i] = x[0] · … · x[i]",
        "np.cumprod(x)",
        lambda x: ag.stack([_product(x[: i + 1]) for i in range(x.shape[0])]),
        "z[i] / x[j] * (j <= i)",
        "The slope of a product with respect to one factor is the product of all other factors.",
        also_right=("(j <= i) * np.prod(x[:j]) * np.prod(x[j+1:i+1])",),
    ),
    "pick": Puzzle(
        "08",
        "z[i] = x[idx[i]]",
        "x[idx]",
        lambda x: x[IDX],
        "j == idx[i]",
        "Row i has its 1 in the column that it reads.",
        sizes=grid((4,), (3,), (5,)),
        also_right=("1 if idx[i] == j else 0",),
        constants={"idx": IDX},
    ),
    "mask": Puzzle(
        "08",
        "z[i] = keep[i] · x[i]",
        "keep * x",
        lambda x: x * kept(x),
        "keep[i] * (i == j)",
        "The matrix is diagonal, with a 0 where keep is 0.",
        sizes=grid((5,), (4,), (2,)),
        also_right=("keep[j] if i == j else 0",),
        constants={"keep": kept},
    ),
    "pad": Puzzle(
        "08",
        "z[0] = 0, z[i] = x[i − 1], and a 0 at the end",
        "np.pad(x, 1)",
        lambda x: ag.pad(x, 1),
        "j == i - 1",
        "The ones are one row below the diagonal. The first and the last row read nothing.",
        also_right=("i == j + 1", "int(i - 1 == j)"),
    ),
    "view": Puzzle(
        "08",
        "z = x as one row, read line by line: z[i] = x[⌊i / m⌋, i mod m], m columns",
        "x.reshape(-1)",
        lambda x: x.reshape(-1),
        "i == m * j + k",
        "Entry i of x, counted line by line, goes to z[i]. With this count, the matrix is diagonal.",
        sizes=grid((2, 3), (3, 2), (1, 4), (4, 1)),
        also_right=("j == i // m and k == i % m", "(i // m == j) * (i % m == k)"),
    ),
    "transpose": Puzzle(
        "08",
        "z[i, j] = x[j, i]",
        "x.T",
        lambda x: x.T,
        "(k == j) * (l == i)",
        "Entry [i, j] reads entry [j, i].",
        sizes=grid((2, 3), (3, 2), (1, 4), (3, 3)),
        also_right=("i == l and j == k", "int((k, l) == (j, i))"),
    ),
    "row_sums": Puzzle(
        "08",
        "z[i] = Σₚ x[i, p]",
        "x.sum(axis=1)",
        lambda x: x.sum(axis=1),
        "i == j",
        "z[i] reads row i of x, and every entry of that row.",
        sizes=grid((2, 3), (3, 2), (1, 4), (3, 3)),
        also_right=("1 if j == i else 0",),
    ),
    "outer": Puzzle(
        "08",
        "z[i, j] = x[i] · y[j], by x",
        "x[:, None] * y",
        lambda x, y: x.reshape((-1, 1)) * y,
        "y[j] * (i == k)",
        "Row i of z has x[i] in every entry, each time with the factor y[j].",
        sizes=pairs(((2,), (3,)), ((3,), (2,)), ((1,), (4,))),
        also_right=("y[j] if k == i else 0",),
    ),
    "dot": Puzzle(
        "09",
        "z = Σⱼ x[j] · y[j], by x",
        "x @ y",
        lambda x, y: ag.matmul(x, y),
        "y[i]",
        "The slope is the entry of the other array with the same index.",
        sizes=pairs(((4,), (4,)), ((1,), (1,)), ((3,), (3,))),
    ),
    "matvec": Puzzle(
        "09",
        "z[i] = Σₖ A[i, k] · x[k]",
        "A @ x",
        lambda A, x: ag.matmul(A, x),
        "A[i, j]",
        "The Jacobian of a linear function is its matrix.",
        sizes=pairs(((2, 3), (3,)), ((3, 2), (2,)), ((3, 3), (3,)), names="Ax"),
    ),
    "matmul": Puzzle(
        "09",
        "Z[i, j] = Σₚ X[i, p] · Y[p, j]",
        "X @ Y",
        lambda X, Y: ag.matmul(X, Y),
        "(i == k) * Y[l, j]",
        "Row i of Z reads only row i of X; X[i, l] meets Y[l, j].",
        by="X",
        sizes=pairs(
            ((2, 3), (3, 2)), ((3, 2), (2, 2)), ((1, 2), (2, 3)), ((2, 2), (2, 2)), names="XY"
        ),
        also_right=("Y[l, j] if i == k else 0",),
    ),
    "matmul_y": Puzzle(
        "09",
        "Z[i, j] = Σₚ X[i, p] · Y[p, j]",
        "X @ Y",
        lambda X, Y: ag.matmul(X, Y),
        "X[i, k] * (j == l)",
        "Column j of Z reads only column j of Y; Y[k, j] meets X[i, k].",
        by="Y",
        sizes=pairs(
            ((2, 2), (2, 3)), ((3, 2), (2, 2)), ((1, 2), (2, 3)), ((2, 2), (2, 2)), names="XY"
        ),
        also_right=("X[i, k] if l == j else 0",),
    ),
    "convolution": Puzzle(
        "14",
        "z[i] = Σₖ w[k] · x[i + k], by x",
        "np.correlate(x, w, 'valid')",
        lambda x, w: _slid(x, w),
        "w[j - i] if 0 <= j - i < len(w) else 0",
        "Every row contains the kernel, shifted one column further to the right each time.",
        sizes=pairs(((5,), (3,)), ((4,), (2,)), ((3,), (3,)), ((6,), (1,)), names="xw"),
        also_right=(
            "sum(w[k] * (j == i + k) for k in range(len(w)))",
            "0 if j < i or j >= i + len(w) else w[j - i]",
        ),
    ),
    "convolution_w": Puzzle(
        "14",
        "z[i] = Σₖ w[k] · x[i + k], by w",
        "np.correlate(x, w, 'valid')",
        lambda x, w: _slid(x, w),
        "x[i + j]",
        "w[j] meets x[i + j]: each row is a window.",
        by="w",
        sizes=pairs(((5,), (3,)), ((4,), (2,)), ((3,), (3,)), ((6,), (1,)), names="xw"),
        also_right=("x[j + i]",),
    ),
    "max": Puzzle(
        "10",
        "z = the largest x[j]",
        "x.max()",
        lambda x: x.max(),
        "x[i] == z",
        "z reads only the largest entry.",
        also_right=("x[i] == max(x)", "i == np.argmax(x)", "all(x[i] >= x[k] for k in range(n))"),
    ),
    "sort": Puzzle(
        "10",
        "z = the entries of x in increasing order",
        "np.sort(x)",
        lambda x: x[np.argsort(x.data)],
        "x[j] == z[i]",
        "Row i has its 1 where the entry came from.",
        also_right=("j == np.argsort(x)[i]", "sum(x < x[j]) == i"),
    ),
    "logsumexp": Puzzle(
        "10",
        "z = log Σⱼ exp(x[j])",
        "np.log(np.exp(x).sum())",
        lambda x: ag.logsumexp(x),
        "exp(x[i] - z)",
        "It is the contribution of entry i to the sum, divided by the sum: the softmax.",
        also_right=("exp(x[i]) / sum(exp(x))", "softmax(x)[i]"),
    ),
    "softmax": Puzzle(
        "10",
        "z[i] = exp(x[i]) / Σₖ exp(x[k])",
        "np.exp(x) / np.exp(x).sum()",
        lambda x: ag.softmax(x),
        "z[i] * ((i == j) - z[j])",
        "The probability of this entry grows by z(1 − z), and those of all other entries shrink.",
        also_right=(
            "z[i] * (1 - z[i]) if i == j else -z[i] * z[j]",
            "(np.diag(z) - np.outer(z, z))[i, j]",
        ),
    ),
    "log_softmax": Puzzle(
        "10",
        "z[i] = x[i] − log Σₖ exp(x[k])",
        "x - np.log(np.exp(x).sum())",
        lambda x: ag.log_softmax(x),
        "(i == j) - exp(z[j])",
        "x[j] has weight 1 in its own entry, and the slope of logsumexp is subtracted in every row.",
        also_right=("(i == j) - exp(x[j]) / exp(x).sum()",),
    ),
    "unit": Puzzle(
        "10",
        "z[i] = x[i] / r, r = √Σₖ x[k]²",
        "x / np.sqrt((x * x).sum())",
        lambda x: x / ag.sqrt((x * x).sum()),
        "((i == j) - z[i] * z[j]) / r",
        "A move of x along z does not change z, so this part is subtracted.",
        constants={"r": lambda x: np.sqrt(np.sum(x * x))},
        also_right=("(i == j) / r - x[i] * x[j] / r ** 3",),
    ),
    "layer_norm": Puzzle(
        "10",
        "z[i] = (x[i] − m) / s, with the mean m and s = √mean((x − m)²)",
        "(x - x.mean()) / x.std()",
        lambda x: (x - x.mean()) / ag.std(x),
        "((i == j) - 1 / n - z[i] * z[j] / n) / s",
        "Two parts are subtracted: the mean of the changes, and the part along z, which only makes s larger.",
        sizes=grid((4,), (3,), (5,), (6,)),
        constants={"s": lambda x: np.std(x)},
        also_right=("((i == j) - (1 + z[i] * z[j]) / n) / s",),
    ),
    "hessian_squared_sum": Puzzle(
        "16",
        "z is the gradient of (Σₖ x[k])², so this is a Hessian",
        "np.full(n, 2 * x.sum())",
        lambda x: ag.grad(lambda x: x.sum() ** 2)(x),
        "2",
        "Every entry of the gradient is 2 · Σₖ x[k], and every x has the same effect on it.",
        also_right=("2.0", "2 * x[j] ** 0"),
    ),
    "hessian_cubes": Puzzle(
        "16",
        "z is the gradient of Σₖ x[k]³, so this is a Hessian",
        "3 * x ** 2",
        lambda x: ag.grad(lambda x: (x**3).sum())(x),
        "6 * x[i] * (i == j)",
        "Entry i of the gradient reads only x[i], so the second derivatives are on the diagonal.",
        also_right=("6 * x[j] if i == j else 0",),
    ),
    "hessian_product": Puzzle(
        "16",
        "z is the gradient of x[0] · … · x[n − 1], so this is a Hessian",
        "np.prod(x) / x",
        lambda x: ag.grad(_product)(x),
        "(i != j) * z[i] / x[j]",
        "Entry i of the gradient is the product of all x except x[i]. Its derivative with respect "
        "to x[j] leaves out the factor x[j] as well.",
        sizes=grid((4,), (2,), (3,), (6,)),
        also_right=("np.prod(x) / x[i] / x[j] if i != j else 0", "z[j] / x[i] * (1 - (i == j))"),
    ),
    "hessian_quadratic": Puzzle(
        "16",
        "z is the gradient of ½ · Σᵢⱼ x[i] · A[i, j] · x[j], so this is a Hessian",
        "(A @ x + A.T @ x) / 2",
        lambda A, x: ag.grad(lambda x: (x * ag.matmul(A, x)).sum() / 2)(x),
        "(A[i, j] + A[j, i]) / 2",
        "x[i] and x[j] meet twice, with A[i, j] and with A[j, i]: a Hessian is symmetric, "
        "even if A is not.",
        sizes=pairs(((3, 3), (3,)), ((2, 2), (2,)), ((1, 1), (1,)), names="Ax"),
        also_right=("((A + A.T) / 2)[j, i]",),
    ),
    "attend": Puzzle(
        "18",
        "z = Σₖ p[k] · v[k], with the weights p = softmax(x), by the scores x",
        "np.exp(x) / np.exp(x).sum() @ v",
        lambda x, v: (ag.softmax(x) * v).sum(),
        "p[i] * (v[i] - z)",
        "A score moves z towards its own value, in proportion to its weight.",
        sizes=pairs(((4,), (4,)), ((2,), (2,)), ((3,), (3,)), ((5,), (5,)), names="xv"),
        constants={"p": lambda x, v: np.exp(x) / np.exp(x).sum()},
        also_right=(
            "sum(p[i] * ((i == k) - p[k]) * v[k] for k in range(n))",
            "p[i] * v[i] - p[i] * z",
        ),
    ),
}


def _product(x):
    z = x[0]
    for k in range(1, x.shape[0]):
        z = z * x[k]
    return z


def _slid(x, w):
    k = w.shape[0]
    windows = np.arange(x.shape[0] - k + 1)[:, None] + np.arange(k)
    return ag.matmul(x[windows], w)


KEYS = {f"jacobian.{name}": puzzle.lesson for name, puzzle in PUZZLES.items()}
TITLES = {key: key.partition(".")[2].replace("_", " ") for key in KEYS}


# --- Cases: inputs, and the library's Jacobian of each ----------------------------------------------------------------


@dataclass
class Case:
    """Hold the values that are used to test an answer to a puzzle.

    Attributes
    ----------
    names : dict
        The values that the learner's line may use, by name, except the indices.
    shape : tuple of int
        The shape of z.
    right : ndarray
        The correct Jacobian. Its axes are the axes of z, followed by the axes of the input
        with respect to which z is differentiated.
    """

    names: dict
    shape: tuple  # the shape of z
    right: np.ndarray


@cache
def cases(name):
    """Return a list of Cases of the puzzle called `name`, with random numbers.

    There is one Case for each entry of the puzzle's `sizes`, but two for the first entry. The picture
    shows the first Case.
    """
    puzzle, rng = (
        PUZZLES[name],
        np.random.default_rng(34),
    )  # with 7, entries of an A + A.T were 0 by chance
    return [
        _case(puzzle, {letter: _numbers(rng, shape) for letter, shape in sizes.items()})
        for sizes in [puzzle.sizes[0], puzzle.sizes[0], *puzzle.sizes[1:]]
    ]


def _numbers(rng, shape):
    """Return an array of different multiples of ½ from −3 to 3, without 0, in random order.

    The numbers differ, so that the reader can tell them apart in the matrix.
    """
    values = rng.choice(
        [-3, -2.5, -2, -1.5, -1, -0.5, 0.5, 1, 1.5, 2, 2.5, 3], prod(shape), replace=False
    )
    return values.reshape(shape)


def _case(puzzle, inputs):
    tensors = {letter: ag.Tensor(value, True) for letter, value in inputs.items()}
    z = puzzle.z(**tensors)
    x = inputs[puzzle.by]
    others = {letter: value for letter, value in inputs.items() if letter != puzzle.by}
    right = ag.jacobian(lambda moving: puzzle.z(**{puzzle.by: moving}, **others))(x)
    for value in inputs.values():
        value.setflags(write=False)  # a line of the learner's might write into it
    constants = {
        letter: value(**inputs) if callable(value) else value
        for letter, value in puzzle.constants.items()
    }
    names = {**NAMES, **inputs, **constants, "z": z.data, "Z": z.data, "n": len(x)}
    if x.ndim > 1:
        names["m"] = x.shape[1]
    return Case(names, z.shape, np.asarray(right))


def entries(code, case):
    """Return the Jacobian that the learner's line computes for a Case, as an array.

    `code` is the compiled line, which is evaluated once for each entry. Raise TypeError if its
    value is not a single number.
    """
    got = np.empty(case.right.shape)
    for place in np.ndindex(case.right.shape):
        indices = {letter: int(index) for letter, index in zip("ijkl", place)}
        entry = eval(code, {**case.names, **indices})
        if np.ndim(entry):
            raise TypeError("expected a single entry, got a whole array: write x[i], not x")
        got[place] = entry
    return got


def flat(jacobian, case):
    """Return a Jacobian as a matrix.

    The matrix has a row for each entry of z, and a column for each entry of the input. `jacobian`
    is an array for the Case `case`.
    """
    return jacobian.reshape(prod(case.shape), -1)


# --- Ask --------------------------------------------------------------------------------------------------------------


def make(key, rng):
    """Return the Problem for a key such as "jacobian.softmax".

    There is only one problem for each key; `rng` is not used.
    """
    name = key.partition(".")[2]
    puzzle, drawn = PUZZLES[name], cases(name)[0]
    letters = "ijkl"[: drawn.right.ndim]
    split = len(drawn.shape)
    z = puzzle.formula[0]
    asked = f"∂{z}{_index(letters[:split])} / ∂{puzzle.by}{_index(letters[split:])}"
    reads = [
        letter for letter in drawn.names if letter not in NAMES and letter not in ("z", "Z", "n")
    ]
    may = ", ".join(f"`{one}`" for one in [*letters, *reads, z, "n"])

    counts = (
        f"{puzzle.by} has n rows and m columns"
        if "m" in drawn.names
        else f"n is the length of {puzzle.by}"
    )

    def judge(texts):
        return judged(texts, lambda i, text: _judge(name, Line(text)))

    def picture(texts, marks):
        return _picture(name, _drawn(texts[0], drawn) if marks and marks[0] else None)

    return Problem(
        key,
        f"{puzzle.formula}; in NumPy `{puzzle.code}`. **What is {asked}?** Write one line of Python for this entry. "
        f"It may use {may}. A comparison such as `i == j` counts as 1 or 0. {counts}.",
        [Box(asked, "code")],
        judge,
        picture,
        f"`{puzzle.answer}`. {puzzle.why}",
        [puzzle.answer],
    )


def _index(letters):
    return f"[{', '.join(letters)}]" if letters else ""


def _drawn(text, case):
    """Return the Jacobian that the learner's text computes for a Case, or None if that fails."""
    try:
        with np.errstate(all="ignore"):
            return bounded(entries, Line(text).code, case, most=200_000)
    except (Exception, SystemExit, StepLimitExceeded):
        return None


def _judge(name, line):
    if line.text == "...":
        raise ValueError("Replace the dots with your line.")
    pairs = []
    for case in cases(name):
        try:
            with np.errstate(all="ignore"):
                got = bounded(entries, line.code, case, most=200_000)
        except (Exception, SystemExit, StepLimitExceeded) as error:
            if not pairs:
                return Mark(
                    False,
                    isinstance(error, IndexError) and _index_hint(line, case) or trouble(error),
                )
            if not _close(*pairs[0]):
                return Mark(False, diagnosis(name, pairs))
            why = (
                "an index is out of range. Does your line contain a size as a fixed number?"
                if isinstance(error, IndexError)
                else trouble(error)
            )
            return Mark(
                False,
                f"Right for the matrix that is drawn, but not with {_inputs(name, case)}: {why}",
            )
        pairs.append((got, case.right))
    return (
        Mark(True) if all(_close(*pair) for pair in pairs) else Mark(False, diagnosis(name, pairs))
    )


def _index_hint(line, case):
    """Return a hint for a line that uses an index out of range, or "" for any other line."""
    got, outside = np.zeros(case.right.shape), []
    for place in np.ndindex(case.right.shape):
        try:
            got[place] = bounded(eval, line.code, {**case.names, **dict(zip("ijkl", place))})
        except IndexError as error:
            outside.append((place, error))
        except (Exception, SystemExit, StepLimitExceeded):
            got[place] = np.nan
    if not outside:
        return ""
    place, why = outside[0][0], str(outside[0][1]).rstrip(".")
    at = ", ".join(f"{letter} = {index}" for letter, index in zip("ijkl", place))
    if _close(got, case.right):
        return f"At {at}: {why}. The entry is 0 there, so do not read an array. Test the index first: … if … else 0."
    return f"At {at}: {why}. Which index counts which axis, and is that entry read at all?"


def _close(got, right):
    return np.allclose(got, right, rtol=1e-6, atol=1e-9)


def diagnosis(name, pairs):
    """Return a hint on what is wrong with a Jacobian in all Cases, such as a swap of its axes.

    If no known mistake explains the Jacobian in all Cases, the hint names the first wrong entry.

    Parameters
    ----------
    name : str
        The name of the puzzle, such as "softmax".
    pairs : list of (ndarray, ndarray)
        The learner's Jacobian and the right Jacobian for each Case.
    """
    both = [(flat(got, case), flat(right, case)) for (got, right), case in zip(pairs, cases(name))]
    square = [(got, right) for got, right in both if got.shape == right.shape[::-1]]

    def always(holds, among=both):
        return bool(among) and all(holds(got, right) for got, right in among)

    if _close(*both[0]):
        if _close(*both[1]):
            case = next(case for pair, case in zip(pairs, cases(name)) if not _close(*pair))
            return (
                f"Right for this size, but wrong with {_inputs(name, case)}: does your line contain a size "
                "as a fixed number?"
            )
        return (
            f"Right for this matrix only, but wrong with {_inputs(name, cases(name)[1])}: "
            "write the entry in terms of the letters."
        )
    if always(
        lambda got, right: np.allclose(got, right, rtol=5e-4, atol=2e-5)
    ):  # no digit that is shown differs
        return "Nearly right. Did you round a number, or add a small number?"
    if always(lambda got, right: _close(got, -right)):
        return "The absolute value is right, but it has the wrong sign."
    if len(square) == len(both) and always(lambda got, right: _close(got, right.T)):
        return f"You swapped rows and columns: each row is an entry of z, and each column an entry of {PUZZLES[name].by}."
    for power, said in [(1, "too small"), (-1, "too large")]:
        if always(lambda got, right: _close(got * float(right.shape[1]) ** power, right)):
            return (
                f"Every entry is {said}: the factor is the number of entries of {PUZZLES[name].by}."
            )
    filled = [(got, right) for got, right in both if np.any(right)]
    scale = next((got[right != 0][0] / right[right != 0][0] for got, right in filled), 0)
    if scale and always(lambda got, right: _close(got, scale * right)):
        return f"Every entry is {number(scale)} times what it should be."
    if factor := _factor(name, pairs):
        return factor
    if len(square) == len(both) and any(len(right) > 1 for _, right in both):
        eye = [np.eye(len(right), dtype=bool) for _, right in both]
        full = np.all(both[0][1] != 0)
        if (
            full
            and np.any(both[0][0])
            and all(not np.any(got[~on]) for (got, _), on in zip(both, eye))
        ):
            return "Only the diagonal is filled. Every entry of z reads every entry of x: by which path?"
        if all(_close(got[on], right[on]) for (got, right), on in zip(both, eye)):
            return "The diagonal is right, but some of the other entries are not."
        if all(_close(got[~on], right[~on]) for (got, right), on in zip(both, eye)):
            return "All entries are right except those on the diagonal."
    for step, where in [(1, "too far to the right"), (-1, "too far to the left")]:
        if np.ptp(both[0][1], axis=1).any() and always(
            lambda got, right: _shifted(got, right, step)
        ):
            return f"Each row is shifted one column {where}."
    zeros = both[0][1] == 0
    if np.any(zeros) and always(lambda got, right: np.array_equal(got != 0, right != 0)):
        return "The zeros are in the right places, but some of the other entries are wrong."
    if np.any(both[0][0][zeros]) and always(
        lambda got, right: _close(got[right != 0], right[right != 0])
    ):
        return (
            "The entries that should not be 0 are right, but some others should be 0 and are not: which entries does an "
            "entry of z not read?"
        )
    place = tuple(
        int(k) for k in np.argwhere(~np.isclose(both[0][0], both[0][1], rtol=1e-6, atol=1e-9))[0]
    )
    return (
        f"In row {place[0]}, column {place[1]}, your line gives {number(both[0][0][place])}, and "
        f"{number(both[0][1][place])} is right: how far does that entry of z move when that entry of "
        f"{PUZZLES[name].by} grows?"
    )


def _factor(name, pairs):
    """Return a hint if every entry of a Jacobian has one factor too many or too few, else "".

    The factor is a variable of the puzzle or one of its entries, such as p[i] in p[i] · v[i]. `pairs`
    is described in `diagnosis`.
    """
    drawn = cases(name)[0]
    values = {
        letter: value
        for letter, value in drawn.names.items()
        if letter not in NAMES and letter != "Z"
    }
    texts = [letter for letter, value in values.items() if np.ndim(value) == 0]
    texts += [
        f"{letter}[{index}]"
        for letter, value in values.items()
        if np.ndim(value) == 1
        for index in "ijkl"[: drawn.right.ndim]
    ]
    for text in texts if np.any(pairs[0][0]) else ():
        try:
            factors = [
                entries(compile(text, "", "eval"), case) for _, case in zip(pairs, cases(name))
            ]
        except IndexError:
            continue  # this letter is not counted by this index
        if all(_close(got * by, right) for (got, right), by in zip(pairs, factors)):
            return f"Every entry lacks the factor {text}."
        if all(_close(got, right * by) for (got, right), by in zip(pairs, factors)):
            return f"Every entry is {text} times what it should be."
    return ""


def _shifted(got, right, step):
    """Return True if the matrix `got` is `right` with every row shifted sideways.

    The rows are shifted by `step` columns, to the right if `step` is positive. Entries that are
    shifted past the edge are ignored.
    """
    if right.shape[1] < 2:
        return True
    if not np.any(got):
        return False
    return (
        _close(got[:, step:], right[:, :-step])
        if step > 0
        else _close(got[:, :step], right[:, -step:])
    )


def _inputs(name, case):
    letters = [*PUZZLES[name].sizes[0], *PUZZLES[name].constants]
    return ", ".join(f"{letter} = {_row(case.names[letter])}" for letter in letters)


def _row(values):
    values = np.asarray(values)
    return number(float(values)) if values.ndim == 0 else "[" + ", ".join(map(_row, values)) + "]"


# --- Draw -------------------------------------------------------------------------------------------------------------

WIDE, HIGH = 52, 28


def _picture(name, got):
    """Draw the right matrix of a puzzle, and beside it the learner's matrix.

    `got` is the learner's Jacobian, or None to draw only the right matrix.
    """
    case = cases(name)[0]
    right = flat(case.right, case)
    said = [
        f"{_inputs(name, case)}. There is a row for each entry of {PUZZLES[name].formula[0]} and a column for "
        f"each entry of {PUZZLES[name].by}.",
        "Correct matrix:",
    ]
    said += [f"row {i}: {_row(row)}" for i, row in enumerate(right.round(4))]
    parts, end = _matrix(14, "correct", right, right)
    if got is not None:
        mine = flat(got, case)
        more, end = _matrix(end + 40, "yours", mine, right)
        parts += more
        said += ["Your matrix, with * where it differs:"]
        said += [
            f"row {i}: ["
            + ", ".join(number(a.round(4)) + "*" * (not _close(a, b)) for a, b in zip(*both))
            + "]"
            for i, both in enumerate(zip(mine, right))
        ]
    return Picture(
        svg(f"0 0 {end + 14:.0f} {48 + HIGH * len(right)}", "".join(parts), "\n".join(said)),
        "\n".join(said),
        says_all=True,
    )


def _matrix(left, title, values, right):
    """Return (SVG elements, x of the right edge) for the drawing of a matrix with its title.

    `left` is the x of the left edge. Entries of `values` that differ from `right` are framed.
    """
    parts = [words(left, 24, title, anchor="start", size=13)]
    for (r, c), value in np.ndenumerate(values):
        differs = not np.isclose(value, right[r, c], rtol=1e-6, atol=1e-9)
        text = number(round(float(value), 3)) if np.isfinite(value) else number(float(value))
        parts.append(
            cell(
                left + c * WIDE,
                36 + r * HIGH,
                WIDE,
                HIGH,
                text,
                "value" if value else "pale",
                framed=differs,
            )
        )
    return parts, left + max(WIDE * values.shape[1], 8 * len(title))
