"""Ask the questions of lesson 09: the gradients of a matrix product, and the array ward of the clinic."""

from functools import partial

import numpy as np

import autograd_lib as ag

from ...derivations import Step, derivation
from ...grading import (
    NotYet,
    Wrong,
    brief,
    edit,
    exercise,
    expect,
    expect_over,
    has_blank,
    has_placeholder,
    is_stub,
    of_rule,
    returned,
)
from ...quiz.texts import Question, card, prediction, recall
from .array_ward import PATIENTS, A, Array, B, b, examine, x

recall(
    "09",
    [
        Question(
            "b of shape (3,) is added to x of shape (2, 3). The upstream gradient is [[1, 2, 3], [4, 5, 6]]. What is the gradient of b? "
            "(Lesson 08)",
            [5, 7, 9],
            "**[5, 7, 9]**. b was copied into both rows, so the two rows of g are added.",
        ),
        Question(
            "A gradient check uses a single input, and passes. Why is that weak evidence? (07)",
            None,
            "A wrong rule can agree with the right one at this input. Check at **several different inputs**, including special ones such as 0.",
        ),
        Question(
            "$z = x \\cdot x$ at x = 3, and the upstream gradient is g = 2. What is the gradient of x? (02)",
            12,
            "Each slot receives the upstream gradient times the *other* factor, 2 · 3. There are two slots: 6 + 6 = **12**.",
        ),
    ],
)

derivation(
    "09.matmul",
    letters={"A": (2, 3), "B": (3, 4), "g": (2, 4), "Z": "A@B"},
    sizes={"i": 2, "j": 4, "k": 3},
    code="matmul_y = lambda g, z, x, y: {}",
    renamed={"A": "x", "B": "y"},
    steps=(
        Step("Z_{ij} =", "sum_k A[i,k] B[k,j]", "rows times columns", indices="ij", worked=True),
        Step(
            r"\frac{\partial Z_{ij}}{\partial B_{kj}} =",
            "A[i,k]",
            "all other entries are held still",
            letters="A",
            indices="ijk",
            mistakes=(
                ("B[k,j]", "That is the entry itself. What is it multiplied by?"),
                (
                    "sum_k A[i,k] B[k,j]",
                    "That is the output itself. How does it change with B[k, j]?",
                ),
                (
                    "sum_i A[i,k] g[i,j]",
                    "That is ∂L/∂B, the next line. Here a single entry of Z is differentiated.",
                ),
            ),
        ),
        Step(
            r"\frac{\partial L}{\partial B_{kj}} =",
            "sum_i A[i,k] g[i,j]",
            "B[k, j] is used once for each i, so add over the paths",
            letters="A g",
            indices="kj",
            rivals=("the product rule: both factors move", "the transpose exchanges two indices"),
        ),
        Step(
            r"\frac{\partial L}{\partial B} =",
            "A.T @ g",
            "a matrix product adds over the columns of the left matrix",
            letters="A g",
        ),
    ),
)

prediction(
    "09.row",
    question="""A has shape (2, 3), B has shape (3, 4), and Z = A @ B. Row 1 of B is [3, −2, 4, −1]. You raise one entry, A[0, 1],
        by 1. How many of the eight entries of Z move? By how much does Z[0, 3] move?""",
    answer={"entries that move": 4, "Z[0, 3] moves by": -1},
    reveal="""**4**: only row 0 of Z moves. A[0, 1] is in row 0 of A, which takes part in every dot product in row 0 of Z. In
        each of them A[0, 1] is multiplied by an entry of *row 1 of B*, so the four entries move by 3, −2, 4 and **−1**.""",
)

prediction(
    "09.shapes",
    question="""Z = A @ B, with the upstream gradient g. Take g and B, each either unchanged or transposed, and multiply them in
        either order. This gives eight products. If A, B and g are all (2, 2), how many of the eight are defined and have the
        shape of A? And how many if A is (2, 3), B is (3, 4) and g is (2, 4)?""",
    answer={"all (2, 2)": 8, "(2, 3) and (3, 4)": 1},
    reveal="""With square matrices, all **8**: every result is (2, 2). With these rectangular ones, only **1**: $g \\cdot B^\\top$, (2, 4) times
        (4, 3), is (2, 3).""",
)

Z_ENTRIES, W_ENTRIES = 64 * 256, 784 * 256
prediction(
    "09.gigabytes",
    question="""
        Z has 64 · 256 entries, and W has 784 · 256. J has one 8-byte number for each pair of entries, one of Z and one of W. About how many
        gigabytes (10⁹ bytes) does J need?""",
    answer=round(8 * Z_ENTRIES * W_ENTRIES / 1e9, 1),
    tolerance=1.5,
    reveal=f"""About **26**. Z has 64 · 256 = {Z_ENTRIES:,} entries and W has 784 · 256 = {W_ENTRIES:,}. Every pair needs 8 bytes:
        {8 * Z_ENTRIES * W_ENTRIES / 1e9:.1f} · 10⁹. The result that we want, the gradient of W, needs {8 * W_ENTRIES / 1e6:.1f}
        *mega*bytes.""",
)

card(
    "09",
    [
        "Z = A @ B: entry Z[i, j] is row i of A times column j of B.",
        "A[i, k] moves row i of Z, weighted by row k of B. The backward pass uses the same weights: the gradient of A is g·Bᵀ, and that of B is Aᵀ·g.",
        "If all sides differ, the shapes determine the product. With square matrices, every product has the right shape, but perhaps the wrong numbers.",
        "⟨u, Jv⟩ = ⟨Jᵀu, v⟩ for every J. For a linear op Jv is the op itself, so random u and v test its rule, without h.",
        "Backpropagation computes J₁ᵀ(J₂ᵀ(… (Jₙᵀ g))): only matrix–vector products, and no J is built.",
        "If a matrix is used by a whole batch, or in both places of a product, its gradients are added.",
    ],
)


# The lesson's own A and B, and a gradient for their product.
RECTANGLES = (
    np.array([[1, 2, 0], [-1, 1, 2]]),
    np.array([[2, 1, 0, 1], [3, -2, 4, -1], [1, 0, 2, 5]]),
)
G = np.array([[2, 1, 0, -1], [1, 0, 3, 1]])
TALL = tuple(
    np.random.default_rng(0).integers(-4, 5, shape).astype(float)
    for shape in [(3, 5), (3, 2), (2, 5)]
)  # another such case
THIN = (
    np.array([[2.0, -1, 3]]),
    np.array([[0.5], [4], [-2]]),
)  # axes of length 1, which a squeeze loses


# --- From the indices -----------------------------------------------------------------------------------------------------------

MISPLACED = "An index is out of bounds. This product has the factors A[i, k] and B[k, j], and the upstream gradient g[i, j]."


@exercise(
    "09.indices",
    minutes=4,
    difficulty="easy",
    importance=2,
    question="""
        The loop goes through every multiplication in Z = A @ B. Each one multiplies two numbers, and their product is added to Z[i, j]. What does the rule for this product send to A[i, k], and what does it send to B[k, j]? The `+=` adds up all
        contributions.""",
    stub="""
        def from_indices(g, A, B):
            grad_A, grad_B = np.zeros(A.shape), np.zeros(B.shape)
            for i, j, k in np.ndindex(2, 4, 3):        # Z[i, j] += A[i, k] * B[k, j]
                grad_A[i, k] += ...
                grad_B[k, j] += ...
            return grad_A, grad_B""",
    hints=[
        "It is a product of two numbers, so its rule is the one from lesson 03: the upstream gradient times the other factor.",
        "The upstream gradient of this product is the gradient of the entry that it was added to: g[i, j].",
        (
            "Help: index out of bounds",
            "Each array has two indices of its own: A[i, k], B[k, j], and g[i, j], like Z.",
        ),
    ],
    solution="""
        def from_indices(g, A, B):
            grad_A, grad_B = np.zeros(A.shape), np.zeros(B.shape)
            for i, j, k in np.ndindex(2, 4, 3):
                grad_A[i, k] += g[i, j] * B[k, j]
                grad_B[k, j] += g[i, j] * A[i, k]
            return grad_A, grad_B""",
    explained="A[i, k] is in four of the products, one for each j. B[k, j] is in two, one for each i. Their contributions add up.",
    why="There are 24 small products, and each follows the rule from lesson 03. The next section writes all of them in one line.",
    mistakes=[
        edit(
            "g[i, j] * B[k, j]",
            "B[k, j]",
            "g[i, j] * A[i, k]",
            "A[i, k]",
            "g is missing: multiply by the gradient of Z[i, j].",
        ),
        edit(
            "g[i, j] * B[k, j]",
            "g(i, j) * B(k, j)",
            "g[i, j] * A[i, k]",
            "g(i, j) * A(i, k)",
            "Round brackets call a function. An entry of an array is written with square brackets: g[i, j].",
        ),
        edit(
            "g[i, j] * B[k, j]",
            "g_ij * B_kj",
            "g[i, j] * A[i, k]",
            "g_ij * A_ik",
            "In code, an index is written in square brackets: g[i, j].",
        ),
        edit(
            "* B[k, j]",
            "* A[i, k]",
            "* A[i, k]",
            "* B[k, j]",
            "Are the two blanks swapped? In a product each slot receives g times the other factor, not its own.",
        ),
        edit(
            " * B[k, j]",
            "",
            " * A[i, k]",
            "",
            "That is the rule of a sum. Here two numbers are multiplied.",
        ),
        edit(
            "* B[k, j]",
            "* B.T[k, j]",
            "* A[i, k]",
            "* A.T[i, k]",
            "Nothing is transposed here: each entry has its own two indices, B[k, j] and A[i, k].",
        ),
        edit("* A[i, k]", "* A[k, i]", MISPLACED),
        edit("* B[k, j]", "* B[j, k]", MISPLACED),
        edit("* A[i, k]", "* A[i, j]", MISPLACED),
        edit("g[i, j] * A", "g[k, j] * A", MISPLACED),
        edit(
            "g[i, j] * B",
            "g[i, k] * B",
            "The upstream gradient of this product is the gradient of Z[i, j].",
        ),
        edit(
            "g[i, j] * B",
            "g * B",
            "g[i, j] * A",
            "g * A",
            "You add a whole array to one entry. This product was added to one entry of Z, so its upstream gradient is g[i, j].",
        ),
        edit(
            "g[i, j] * B",
            "g[i, j] * A[i, k] * B",
            "* A[i, k]",
            "* A[i, k] * B[k, j]",
            "You multiply by both factors. The gradient of one factor is g times the other factor only.",
        ),
        edit(
            "g[i, j] * B",
            "A[i, k] * B",
            "g[i, j] * A[i, k]",
            "A[i, k] * B[k, j]",
            "That is the product itself. The gradient of one factor is g[i, j] times the other.",
        ),
        edit("g[i, j] * A", "A", "grad_A is right. In the line for grad_B, the g is missing."),
        edit("g[i, j] * B", "B", "grad_B is right. In the line for grad_A, the g is missing."),
        edit(
            "g[i, j] * B[k, j]",
            "(g @ B.T)[i, k]",
            "g[i, j] * A[i, k]",
            "(A.T @ g)[k, j]",
            "grad_A is 4 times too large and grad_B 2 times, because the loop adds to each entry that many times. Add only the contribution of this one product.",
        ),
        edit(
            "    return",
            "        return",
            "Only the first product contributed. Is return inside the loop? It belongs after the loop.",
        ),
        edit(
            "[i, k] +=",
            "[i, k] =",
            "[k, j] +=",
            "[k, j] =",
            "Only the contribution of the last product is left: = overwrites, += adds.",
        ),
        edit(
            "g[i, j] * B",
            "g.sum() * B",
            "g[i, j] * A",
            "g.sum() * A",
            "You use all of g for each entry. This product was added to one entry of Z, so its upstream gradient is g[i, j].",
        ),
        edit(
            "g[i, j] * B",
            "g[i, j] @ B",
            "g[i, j] * A",
            "g[i, j] @ A",
            "These are two numbers: multiply them with *. @ is for arrays.",
        ),
        edit(
            "* B[k, j]",
            "+ B[k, j]",
            "* A[i, k]",
            "+ A[i, k]",
            "You add g. Multiply g by the other factor instead.",
        ),
        edit(
            "g[i, j] * B[k, j]",
            "abs(g[i, j] * B[k, j])",
            "g[i, j] * A[i, k]",
            "abs(g[i, j] * A[i, k])",
            "The signs are lost: a contribution may be negative.",
        ),
        edit(
            "(A.shape)",
            "(A.shape, int)",
            "(B.shape)",
            "(B.shape, int)",
            "The result was truncated to integers: are the zeros integers? np.zeros(A.shape) makes floats.",
        ),
        edit(
            "(A.shape)",
            "_like(A)",
            "(B.shape)",
            "_like(B)",
            "A and B are arrays of integers here, and so are zeros like them, so the result is truncated. np.zeros(A.shape) makes floats.",
        ),
        edit(
            "g[i, j] * A[i, k]",
            "g[i, j] * B[k, j]",
            "grad_A is right. In the line for grad_B, the other factor is A[i, k].",
        ),
        edit(
            "g[i, j] * B[k, j]",
            "g[i, j] * A[i, k]",
            "grad_B is right. In the line for grad_A, the other factor is B[k, j].",
        ),
    ],
)
def indices(answer):
    if has_blank(answer):
        raise NotYet
    # the shapes are those of the loop that the question gives
    expect_over(
        answer,
        lambda g, A, B: (g @ B.T, A.T @ g),
        lambda d: (d.g(2, 4), d(2, 3), d(3, 4)),
        apart=True,
        first=[(1.0 * G, *(1.0 * side for side in RECTANGLES)), (G / 4, *RECTANGLES)],
        hints=indices.mistakes,
        tried=lambda g, A, B: f"from_indices(g, A, B), with g = {brief(g)}",
    )


# --- As one line ------------------------------------------------------------------------------------------------------------------

_matmul_x, _matmul_y = (lambda g, z, x, y: g @ y.mT), (lambda g, z, x, y: x.mT @ g)
RESHAPED = "A reshape goes row by row, so it mixes rows and columns. To transpose, use .mT."
WRONG_X = [
    (lambda g, z, x, y: g * y, "* multiplies entry by entry. The product of matrices is @."),
    (lambda g, z, x, y: g * y.mT, "* multiplies entry by entry. The product of matrices is @."),
    (
        lambda g, z, x, y: g @ y.T(),
        "Round brackets call a function, but an array is not a function. Write .T without them.",
    ),
    (
        lambda g, z, x, y: g @ RECTANGLES[1].T,
        "That is right only for the lesson's B. A rule receives its matrices as x and y.",
    ),
    (
        lambda g, z, x, y: g @ y,
        "The columns of g belong to the columns of y, not to its rows: which of the two must be transposed?",
    ),
    (lambda g, z, x, y: y.mT @ g, "The two factors are in the wrong order."),
    *(
        (own, "This is the rule for x, so the other factor is y: multiply g by y, not by x.")
        for own in (
            lambda g, z, x, y: g @ x.mT,
            lambda g, z, x, y: g @ x,
            lambda g, z, x, y: x @ g,
        )
    ),
    (
        lambda g, z, x, y: g.mT @ y,
        "The wrong factor is transposed: the sum runs over the columns of g and of y.",
    ),
    (
        lambda g, z, x, y: y @ g.mT,
        "That is the right matrix, but transposed: is the order of the two reversed?",
    ),
    (lambda g, z, x, y: y.mT, "The upstream gradient is missing: g."),
    (lambda g, z, x, y: y, "The upstream gradient is missing: g."),
    (
        lambda g, z, x, y: g @ np.linalg.inv(y),
        "An inverse solves for x. The rule needs the transpose: y.mT.",
    ),
    (lambda g, z, x, y: g @ np.reshape(y, y.shape[::-1]), RESHAPED),
    (
        lambda g, z, x, y: z @ y.mT,
        "You use z instead of g: the rule needs the upstream gradient, not the product itself.",
    ),
    (lambda g, z, x, y: np.abs(g @ y.mT), "The signs are lost."),
    (
        lambda g, z, x, y: (g @ y.mT, x.mT @ g),
        "Your rule returns both gradients in a tuple. This rule is only for x.",
    ),
    (
        lambda g, z, x, y: g @ y.mT / y.shape[1],
        "That is divided by the number of columns: a matrix product adds, without taking a mean.",
    ),
]
WRONG_Y = [
    (lambda g, z, x, y: x * g, "* multiplies entry by entry. The product of matrices is @."),
    (lambda g, z, x, y: x.mT * g, "* multiplies entry by entry. The product of matrices is @."),
    (
        lambda g, z, x, y: RECTANGLES[0].T @ g,
        "That is right only for the lesson's A. A rule receives its matrices as x and y.",
    ),
    (
        lambda g, z, x, y: g @ x.mT,
        "That is the rule of the left slot again. For y, x comes on the left: sum over the rows i of both.",
    ),
    (
        lambda g, z, x, y: x @ g,
        "The sum runs over the rows of both, x[i, k] and g[i, j]: which of the two must be transposed?",
    ),
    (
        lambda g, z, x, y: x @ g.mT,
        "The wrong factor is transposed: the sum runs over the rows of x and of g.",
    ),
    (
        lambda g, z, x, y: g.mT @ x,
        "That is the right matrix, but transposed: is the order of the two reversed?",
    ),
    (
        lambda g, z, x, y: g @ x,
        "That is the rule of the left slot again, without a transpose. For y, x comes on the left.",
    ),
    *(
        (own, "This is the rule for y, so the other factor is x: multiply g by x, not by y.")
        for own in (
            lambda g, z, x, y: y.mT @ g,
            lambda g, z, x, y: y @ g,
            lambda g, z, x, y: g @ y,
        )
    ),
    (
        lambda g, z, x, y: g @ y.mT,
        "That is the gradient of x. This is the rule for y, so multiply g by x.",
    ),
    (lambda g, z, x, y: x.mT, "The upstream gradient is missing: g."),
    (lambda g, z, x, y: x, "The upstream gradient is missing: g."),
    (lambda g, z, x, y: np.reshape(x, x.shape[::-1]) @ g, RESHAPED),
    (
        lambda g, z, x, y: x.mT @ z,
        "You use z instead of g: the rule needs the upstream gradient, not the product itself.",
    ),
    (
        lambda g, z, x, y: np.linalg.pinv(x) @ g,
        "An inverse solves for y. The rule needs the transpose: x.mT.",
    ),
    (
        lambda g, z, x, y: x.mT @ g / len(x),
        "That is divided by the number of rows: a matrix product adds, without taking a mean.",
    ),
]


@exercise(
    "09.matmul",
    minutes=2,
    difficulty="easy",
    importance=3,
    question="Write both rules with the library's names: x is the left matrix, and y is the right one. (`x.mT` is the transpose of x: it exchanges the last two axes.)",
    stub="""
        matmul_x = lambda g, z, x, y: ...
        matmul_y = lambda g, z, x, y: ...""",
    hints=[
        "Use the two boxed formulas, with x in place of A and y in place of B. The transpose of y is `y.mT`.",
        (
            "Help: the shapes do not fit",
            "Write the shapes below the matrices: g (2, 4), x (2, 3), y (3, 4). The two inner numbers must be equal. "
            "(In NumPy `y.transpose(0, 1)` changes nothing, because it lists the axes in their old order: write `y.mT`.)",
        ),
    ],
    solution="""
        matmul_x = lambda g, z, x, y: g @ y.mT
        matmul_y = lambda g, z, x, y: x.mT @ g""",
    explained="""
        For a matrix, `.mT` is the same as `.T`, which reverses all axes. For a batch of matrices the two differ, and a rule of the
        library must also work for a batch.""",
    why="One product in the forward pass needs two in the backward pass, each with as many multiplications as the first.",
    playground="""
        x = [[1, 2, 3], [4, 5, 6]]
        y = [[1, 0], [2, 1], [0, 3]]
        z = x @ y""",
)
def matmul(answer):
    if any(map(is_stub, answer)):
        raise NotYet
    swapped = (_matmul_y, "That is the gradient of the other matrix: are the two rules swapped?")
    to_x, to_y = answer
    for slot, rule, right, hints in [
        ("x", to_x, _matmul_x, [swapped, *WRONG_X]),
        ("y", to_y, _matmul_y, WRONG_Y),
    ]:
        example = G, RECTANGLES[0] @ RECTANGLES[1], *RECTANGLES
        hints = hints + of_rule(ag.ops.ROWS["matmul"], int(slot == "y"), inputs=[TALL[1:], THIN])
        expect_over(
            rule,
            right,
            _product,
            first=[example],
            hints=hints,
            tried=lambda g, z, x, y: (
                f"the rule for {slot}, with g {g.shape}, x {x.shape} and y {'the same array' if y is x else y.shape}"
            ),
        )


def _product(d):
    """Return random g, z, x and y with z = x @ y, where x and y are sometimes the same square matrix.

    `d` is the Draw that supplies the random numbers.
    """
    n, k, m = d.size(), d.size(), d.size()
    x, y = (d(n, k), d(k, m)) if d.round % 11 != 7 else [d(n, n)] * 2
    return d.g(*(x @ y).shape), x @ y, x, y


# --- The same matrix twice ----------------------------------------------------------------------------------------------------------


@exercise(
    "09.square",
    minutes=5,
    difficulty="medium",
    importance=2,
    question="""
        Now the same matrix is in both places: A = [[1, 2], [3, 4]] and Z = A @ A. L is the sum of all entries of Z, so every entry of g
        is 1. Compute the gradient of A by hand, and write it as a list of two rows. (Do not assign to A, because later cells use the lesson's A.)""",
    stub="""
        gradient_of_A = ...""",
    hints=[
        "A is in two slots, so it receives two gradients, which are added. Which rule belongs to which slot?",
        "$g \\cdot A^\\top + A^\\top \\cdot g$, with g = [[1, 1], [1, 1]].",
        (
            "Help: I get [[6, 14], [6, 14]]",
            "You used the rule of the left slot twice. Would it fit the right slot if the matrices were rectangular?",
        ),
    ],
    solution="""
        gradient_of_A = [[7, 11], [9, 13]]      # left slot [[3, 7], [3, 7]] + right slot [[4, 4], [6, 6]]""",
    explained="In a product of matrices the order matters. The two contributions differ here, so the gradient is not twice "
    "either of them. And it is not 2A, as it would be for numbers.",
    why="Using the left rule twice also gives shape (2, 2). Only the numbers show the mistake.",
    mistakes=[
        (
            np.array([[6, 14], [6, 14]]),
            "That is the left rule, twice: only the shape is right. Would g·Aᵀ have the shape of B for rectangles?",
        ),
        (
            np.array([[8, 8], [12, 12]]),
            "That is the right rule, twice. What does the left slot receive?",
        ),
        (
            np.array([[3, 7], [3, 7]]),
            "That is the gradient of the left slot. A is in the right slot too.",
        ),
        (
            np.array([[4, 4], [6, 6]]),
            "That is the gradient of the right slot. A is in the left slot too.",
        ),
        (
            np.array([[2, 4], [6, 8]]),
            "2A is the rule for numbers, entry by entry. Here rows are multiplied by columns.",
        ),
        (
            np.array([[7, 9], [11, 13]]),
            "That is g·A + A·g, the transpose of the correct answer. In both rules A is transposed.",
        ),
        (np.array([[8, 10], [10, 12]]), "That is g·A + Aᵀ·g: the left rule lacks its transpose."),
        (np.array([[6, 10], [10, 14]]), "That is g·Aᵀ + A·g: the right rule lacks its transpose."),
        (
            np.array([[4, 6], [4, 6]]),
            "That is g·A: the left rule without its transpose. And A is in the right slot too.",
        ),
        (
            np.array([[3, 3], [7, 7]]),
            "That is A·g: the right rule without its transpose. And A is in the left slot too.",
        ),
        (
            np.array([[8, 12], [8, 12]]),
            "That is twice g·A: the left rule without its transpose. What does the right slot receive?",
        ),
        (
            np.array([[6, 6], [14, 14]]),
            "That is twice A·g: the right rule without its transpose. What does the left slot receive?",
        ),
        (
            np.array([[7, 13], [7, 13]]),
            "That is g·Aᵀ + g·A, with g on the left in both. In the rule of the right slot, g is on the right.",
        ),
        (
            np.array([[7, 7], [13, 13]]),
            "That is A·g + Aᵀ·g, with g on the right in both. In the rule of the left slot, g is on the left.",
        ),
        (np.array([[7, 10], [15, 22]]), "That is the value A @ A. What is the gradient of A?"),
        (np.array([[2, 2], [2, 2]]), "That is g, twice: each slot receives a product of g and Aᵀ."),
        (
            np.array([[14, 22], [18, 26]]),
            "That is exactly double: add the two slots, each only once. (A second backward() adds to .grad.)",
        ),
        (np.array([[1, 1], [1, 1]]), "That is g, the gradient of Z."),
        (
            np.array([[[3, 7], [3, 7]], [[4, 4], [6, 6]]]),
            "Both contributions are right, but there is only one A: add them.",
        ),
        (
            np.array([[3, 7], [3, 7], [4, 4], [6, 6]]),
            "Both contributions are right, but + joins two lists into one of four rows. Add the entries, or write np.array(…) around each.",
        ),
        (
            np.array([[5, 11], [11, 25]]),
            "That is A·Aᵀ, without g. Each contribution is g times the transpose of A, or the other way round.",
        ),
        *(
            (
                np.array(rows),
                f"That is {name}. In g·Aᵀ and Aᵀ·g, rows are multiplied by columns: each entry is the sum of a row or of a column of A.",
            )
            for rows, name in [
                ([[2, 6], [4, 8]], "2Aᵀ"),
                ([[1, 3], [2, 4]], "Aᵀ"),
                ([[2, 5], [5, 8]], "A + Aᵀ"),
            ]
        ),
    ],
)
def square(answer):
    expect(
        answer,
        np.array([[7, 11], [9, 13]]),
        tried="the gradient of A in L = sum of A @ A",
        shown="a different array of shape (2, 2)",
        hints=square.mistakes,
    )


# --- A shared matrix --------------------------------------------------------------------------------------------------------------


def _to_w(g, x, w):
    return np.sum(x.mT @ g, axis=0)


@exercise(
    "09.batch",
    minutes=3,
    difficulty="medium",
    importance=3,
    question="""
        X is a *batch* of five matrices, with shape (5, 2, 3). W, of shape (3, 4), is one matrix that is used for all five. Z = X @ W
        has shape (5, 2, 4): `@` multiplies along the last two axes, and broadcasts the others. Write the gradient of W, with
        the shape of W, for a batch of any size whose matrices have any number of rows.""",
    stub="""
        gradient_w = lambda g, x, w: ...""",
    hints=[
        "First compute a gradient for each of the five. What is the shape of `x.mT @ g`?",
        "It is (5, 3, 4): one gradient for each of the five uses of W. W was broadcast. What did you do with broadcast arrays in lesson 08?",
        ("Help: my result has one axis too many", "The whole batch shares W: sum over axis 0."),
    ],
    solution="""
        gradient_w = lambda g, x, w: (x.mT @ g).sum(axis=0)      # (5, 3, 2) @ (5, 2, 4) → (5, 3, 4) → (3, 4)""",
    explained="""
        W was broadcast, so its gradients are summed. A single matrix product over all ten rows gives the same sum,
        `x.reshape(10, 3).T @ g.reshape(10, 4)`, and this is what the library computes.""",
    why="Each of the five uses of W contributes a gradient, and they add up. So a batch of any size trains one W.",
    mistakes=[
        (
            lambda g, x, w: x.mT @ g,
            "There is one axis too many, with one matrix for each of the five. They share W: sum over axis 0.",
        ),
        (
            lambda g, x, w: (x.mT @ g).mean(axis=0),
            "That is five times too small: each use counts in full, so take the sum, not the mean.",
        ),
        (lambda g, x, w: (x.mT @ g)[0], "That is only the first of the five. All of them used W."),
        (
            lambda g, x, w: (x.mT @ g).sum(),
            "That sums over everything. Only the batch, axis 0, was shared.",
        ),
        (
            lambda g, x, w: (x.mT @ g).sum(axis=0, keepdims=True),
            "The axis of the batch is still there, with length 1. W has two axes.",
        ),
        (
            lambda g, x, w: (x.mT @ g).sum(axis=1),
            "That is summed over the wrong axis: the batch is axis 0.",
        ),
        (
            lambda g, x, w: (x.mT @ g).sum(axis=-1),
            "That is summed over the wrong axis: the batch is axis 0.",
        ),
        (
            lambda g, x, w: g @ w.mT,
            "That is the gradient of X. The gradient of W is the transpose of x, times g.",
        ),
        (
            lambda g, x, w: (x.T @ g).sum(axis=0),
            "`.T` reverses all three axes. `.mT` exchanges the last two.",
        ),
        (lambda g, x, w: x.T @ g, "`.T` reverses all three axes. `.mT` exchanges the last two."),
        (
            lambda g, x, w: (x.transpose(1, 2) @ g).sum(axis=0),
            "NumPy's transpose expects every axis: (0, 2, 1). `x.mT` is shorter.",
        ),
        (
            lambda g, x, w: (x @ g).sum(axis=0),
            "x must be transposed: (3, 2) @ (2, 4) in each of the five.",
        ),
        (
            lambda g, x, w: (g @ x.mT).sum(axis=0),
            "The two factors are in the wrong order: in X @ W, x is on the left.",
        ),
        (
            lambda g, x, w: (g @ w.mT).sum(axis=0),
            "That is the gradient of X, summed. The gradient of W is the transpose of x, times g.",
        ),
        (
            lambda g, x, w: (x.mT * g).sum(axis=0),
            "* multiplies entry by entry. The product of matrices is @.",
        ),
        (
            lambda g, x, w: (x.mT() @ g).sum(axis=0),
            "Round brackets call a function, but an array is not a function. Write .mT without them.",
        ),
        (lambda g, x, w: (x.mT @ g)[-1], "That is only the last of the five. All of them used W."),
        (
            lambda g, x, w: (x.mT @ g).max(axis=0),
            "That is the largest of the five. Each use contributes its own gradient: add them up.",
        ),
        (lambda g, x, w: np.abs((x.mT @ g).sum(axis=0)), "The signs are lost."),
        (lambda g, x, w: (x.mT @ g).sum(axis=0).T, "That is transposed: W has shape (3, 4)."),
        (
            lambda g, x, w: (x.mT @ g).sum(axis=0) * w,
            "Your rule multiplies by W. For W the other factor is only x.",
        ),
        (
            lambda g, x, w: np.reshape(x, (3, -1)) @ np.reshape(g, (-1, 4)),
            "A reshape is not a transpose: np.reshape(x, (-1, 3)) has the ten rows, and .T transposes them.",
        ),
        (
            lambda g, x, w: sum(x[n].T @ g[n] for n in range(5)),
            "The check tries other batches too. The number of matrices is len(x).",
        ),
        (
            lambda g, x, w: x.reshape(10, 3).T @ g.reshape(10, 4),
            "That is right only for five times two rows. The check tries other batches too: write −1 instead of 10.",
        ),
        (
            lambda g, x, w: x.mT.reshape(3, -1) @ g.reshape(-1, 4),
            "A reshape is not a transpose: x.reshape(-1, 3) has the rows, and .T transposes them.",
        ),
    ],
)
def batch(answer):
    def build(d):  # the question gives W the shape (3, 4)
        n, rows = d.size(), d.size()
        return d.g(n, rows, 4), d(n, rows, 3), d(3, 4)

    rng = np.random.default_rng(0)
    example = (
        rng.integers(-6, 7, (5, 2, 4)) / 2,
        rng.integers(-6, 7, (5, 2, 3)) / 2,
        rng.integers(-6, 7, (3, 4)) / 2,
    )
    expect_over(
        answer,
        _to_w,
        build,
        first=[example],
        apart=True,
        tried=lambda g, x, w: f"gradient_w(g, x, w), with g {g.shape}, x {x.shape} and w {w.shape}",
        hints=[
            *batch.mistakes,
            *(
                (
                    early,
                    "That is summed too early. Each x belongs to its own g: multiply first, then sum.",
                )
                for early in (
                    lambda g, x, w: x.mT.sum(axis=0) @ g.sum(axis=0),
                    lambda g, x, w: x.mT.sum(axis=0) @ g,
                    lambda g, x, w: x.mT @ g.sum(axis=0),
                )
            ),
        ],
    )


# --- The chain, and a check of a rule -------------------------------------------------------------------------------------------


class _Counted(np.ndarray):
    """Count the multiplications in products with @ and dot, as numbers in the list `counts`."""

    counts = []

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        inputs = [np.asarray(x) for x in inputs]
        if ufunc is np.matmul:
            columns = inputs[1].shape[-1] if inputs[1].ndim > 1 else 1
            self.counts.append(inputs[0].size * columns)
        return np.asarray(getattr(ufunc, method)(*inputs, **keywords)).view(_Counted)

    def __array_function__(self, function, types, args, keywords):
        if function is np.dot:
            return args[0] @ args[1]
        return super().__array_function__(function, types, args, keywords)

    def dot(self, other):
        return self @ other


def _backpropagate(Js, g):
    for J in reversed(Js):
        g = J.T @ g
    return g


def _chain(*sizes):
    """Return Jacobians for layers of these sizes, and an upstream gradient of the last layer."""
    rng = np.random.default_rng(0)
    Js = [rng.integers(-4, 5, (m, n)) / 2 for n, m in zip(sizes, sizes[1:])]
    return Js, rng.integers(-4, 5, sizes[-1]) / 2


NOT_REVERSED = "The loop begins with J_1. But g belongs to the last operation, so begin with the last Jacobian: reversed(Js)."
NOT_TRANSPOSED = (
    "J must be transposed: the box has Jᵀ times g. (For a vector g, g @ J.T is J times g.)"
)
MATRICES = (
    "The numbers are right, but you multiply matrices. With the brackets of the box, every product is a matrix times a "
    "vector: begin with g."
)


@exercise(
    "09.backpropagate",
    minutes=2,
    difficulty="easy",
    importance=2,
    question="""
        Write backpropagation, as in the box, for a list `Js` = [J_1, …, J_n] of any length and a vector g. Place the brackets as the
        box does: the check counts your multiplications. (`reversed(Js)` goes through a list from its end.)""",
    stub="""
        def backpropagate(Js, g):
            for J in ...:
                g = ...
            return g""",
    hints=[
        "Which Jacobian is next to g in the box? The loop begins with this one.",
        "In each step, the new g is the transpose of J times the old g.",
        (
            "Help: the shapes do not fit",
            "J has a row for each output of its operation, and g has an entry for each output. So J.T @ g fits.",
        ),
    ],
    solution="""
        def backpropagate(Js, g):
            for J in reversed(Js):
                g = J.T @ g
            return g""",
    explained="After each step, g is the gradient of the value before this operation. `g @ J` is the same vector as `J.T @ g`.",
    why="This loop is backpropagation along a chain. It never multiplies two matrices.",
    mistakes=[
        edit("reversed(Js)", "Js", NOT_REVERSED),
        edit(
            "reversed(Js)",
            "Js.reverse()",
            "Js.reverse() changes the list and returns None. reversed(Js) returns what the loop needs.",
        ),
        edit("J.T @ g", "J @ g", NOT_TRANSPOSED),
        edit(
            "reversed(Js)",
            "Js",
            "J.T @ g",
            "J @ g",
            "That is J_n … J_1 times g: it carries a change of x forward. The box has the transposes, and begins with J_n.",
        ),
        edit(
            "J.T @ g",
            "g @ J.T",
            NOT_TRANSPOSED,
        ),
        edit("J.T @ g", "J.T * g", "* multiplies entry by entry. The product of matrices is @."),
        edit(
            "    return g",
            "        return g",
            "Only one Jacobian was used. Is return inside the loop? It belongs after the loop.",
        ),
        edit(
            "reversed(Js)",
            "reversed(Js[1:])",
            "The first Jacobian, J_1, is missing.",
        ),
        edit("reversed(Js)", "reversed(Js[:-1])", "The last Jacobian, J_n, is missing."),
        edit(
            "    for J in reversed(Js):\n        g = J.T @ g\n    return g",
            "    product = Js[0].T\n    for J in Js[1:]:\n        product = product @ J.T\n    return product @ g",
            MATRICES,
        ),
    ],
)
def backpropagate(answer):
    if has_blank(answer):
        raise NotYet

    def build(d):
        sizes = [d.size() for _ in range(d.size() + 1)]
        Js = [d(rows, columns) for columns, rows in zip(sizes, sizes[1:])]
        return Js, d.g(sizes[-1])

    def said(Js, g):
        shapes = ", ".join(str(J.shape) for J in Js)
        return f"backpropagate(Js, g), with Js of the shapes {shapes}, and g {g.shape}"

    expect_over(
        answer,
        _backpropagate,
        build,
        # a square chain first: on it, each mistake has a result of its own, and not the same error
        first=[_chain(3, 3, 3, 3), _chain(2, 3, 4), _chain(3, 2)],
        hints=backpropagate.mistakes[:-1],
        tried=said,
    )
    Js, g = _chain(40, 30, 20, 10)
    _Counted.counts.clear()
    returned(
        answer,
        [J.view(_Counted) for J in Js],
        g.view(_Counted),
        tried=said(Js, g),
        shown="a vector",
    )
    fewest, counted = sum(J.size for J in Js), sum(_Counted.counts)
    if counted > fewest:
        raise Wrong(
            "backpropagate(Js, g), for layers of 40, 30, 20 and 10",
            f"{counted:,} multiplications",
            f"{fewest:,} multiplications",
            MATRICES,
        )


BOTH_SIDES = "Compare two numbers: np.sum(u * op(v)) and np.sum(rule(u) * v)."
NO_BOOLEAN = "Return True or False: np.isclose(p, q) says whether two numbers p and q are equal up to rounding."
ENTRIES = "The identity is about two numbers: add up the products with np.sum before you compare."
ROUNDED = "Here the rule is right, but the two sums were rounded differently. Compare them with np.isclose(p, q), not exactly."
OUTPUT_SHAPE = "u must have the shape of the output, op(v), because rule receives it: rng.normal(size=op(v).shape)."
CONSTANT = (
    "Your u is the same number everywhere, and then this wrong rule passes. Draw u at random."
)
CONSTANT_V = (
    "Your v is the same number everywhere, and then this wrong rule passes: keep the random v."
)
MADE_OF_V = (
    "Your u is computed from v, and then this wrong rule passes. u must be independent of v: draw it "
    "at random, with the shape of op(v)."
)
IN_RANGE = (
    "Your u does not test every entry of the rule, so this wrong rule passes. Is u an output of op, or "
    "computed from one? Use op(v) only for the shape of u, and draw the entries at random."
)
EVEN = "Your u is not random, and this wrong rule is right for it. Draw u at random."
EXCHANGED = "op takes v, which has the shape of the input. rule takes u, which has the shape of the output. Are u and v exchanged?"
SAME = "Your u is v itself. Then both sides are ⟨v, Jv⟩ for the wrong rule u ↦ Ju too. Draw a new random u."
NO_SIGN = "A rule with the wrong sign passes: compare the two numbers themselves, not their absolute values or squares."
NEVER_FALSE = "This wrong rule passes. " + BOTH_SIDES
LOOSE = "This rule returns twice the right gradient, and passes: the tolerance is too large. Use np.isclose(p, q)."


class _Tried:
    """Hold the operation and the rule that `is_adjoint` gets, and record what it passes to them.

    All cases get the same two functions, so that an answer cannot return an earlier verdict again.
    """

    def __init__(self):
        self.functions = self.apply, self.pull

    def use(self, op, rule, shape):
        self.op, self.rule, self.input = op, rule, shape
        self.output = np.shape(op(np.zeros(shape)))
        self.v = self.u = np.nan
        self.calls = 0

    def apply(self, v):
        if np.shape(v) != self.input:
            said = f"shape {np.shape(v)}", f"shape {self.input}"
            raise Wrong("v, in op(v)", *said, EXCHANGED)
        self.v = np.array(v)
        return self.op(v)

    def pull(self, u):
        if np.shape(u) != self.output:
            said = f"shape {np.shape(u)}", f"shape {self.output}"
            cause = EXCHANGED if np.array_equal(u, self.v) else OUTPUT_SHAPE
            raise Wrong("u, in rule(u)", *said, cause)
        self.u, self.calls = np.array(u), self.calls + 1
        return self.rule(u)

    def verdict(self, answer, shape, gives, words, hint):
        """Stop the check unless `answer` accepts or rejects the rule, as `gives` says.

        `words` describes the operation and the rule. `hint` takes the last v and u that the
        learner's function used, and returns the hint for a wrong verdict.
        """
        tried = f"is_adjoint(op, rule, {shape}), with {words}"
        try:
            got = returned(answer, *self.functions, shape, tried=tried, shown=str(gives))
        except ValueError as error:
            if "broadcast" not in str(error):
                raise
            cause = BOTH_SIDES if self.calls else OUTPUT_SHAPE
            raise Wrong(tried, f"ValueError: {error}", str(gives), cause) from None
        if has_placeholder(got, called=True):
            raise NotYet
        if np.size(got) != 1:
            cause = ENTRIES if np.asarray(got).dtype == bool else NO_BOOLEAN
        elif not isinstance(got, (bool, np.bool_)):
            cause = NO_BOOLEAN
        elif got != gives:
            cause = hint(self.v, self.u)
        else:
            return
        raise Wrong(tried, brief(got), str(gives), cause)


@exercise(
    "09.is_adjoint",
    minutes=4,
    difficulty="medium",
    importance=2,
    question="""
        Write this check for a linear operation. `op(v)` is Jv, and `rule(u)` should be $J^\\top u$. Return True if the two sides of
        the identity agree for a random u and v, otherwise False. (`shape` is the shape of the input. `np.isclose(p, q)` compares two numbers
        up to rounding.)""",
    stub="""
        def is_adjoint(op, rule, shape):
            v = rng.normal(size=shape)
            u = ...
            return ...""",
    hints=[
        "rule receives u. So u has the shape of the output, op(v).shape, and random entries of its own.",
        "The left side is `np.sum(u * op(v))`. In the right side, rule(u) is multiplied by v.",
        (
            "Help: a right rule is rejected",
            "The two sums were rounded differently, so == is too strict. Use np.isclose.",
        ),
    ],
    solution="""
        def is_adjoint(op, rule, shape):
            v = rng.normal(size=shape)
            u = rng.normal(size=op(v).shape)
            return np.isclose(np.sum(u * op(v)), np.sum(rule(u) * v))""",
    explained="""The function never builds J, and it needs no step size h. A wrong rule passes only if ⟨its error, v⟩ happens to be 0.
        If u and v are random and independent of each other, this is unlikely. But if u = op(v), the wrong rule
        u + roll(u, 1) − roll(u, −1) always passes for op(v) = v. And if u is op of another random array, then for
        op(v) = (v, v) the wrong rule 2u[0] always passes.""",
    why="One random u and v test all entries of the rule at once, without h and without J.",
    names=lambda: {"rng": np.random.default_rng(0)},
    mistakes=[
        edit("size=op(v).shape", "size=shape", OUTPUT_SHAPE),
        edit("rng.normal(size=op(v).shape)", "np.ones(op(v).shape)", CONSTANT),
        edit("rng.normal(size=op(v).shape)", "op(v) * 0 + 1", CONSTANT),
        edit(
            "np.isclose(np.sum(u * op(v)), np.sum(rule(u) * v))",
            "np.sum(u * op(v)) == np.sum(rule(u) * v)",
            ROUNDED,
        ),
        edit(
            "np.isclose(np.sum(u * op(v)), np.sum(rule(u) * v))",
            "np.sum(u * op(v)) - np.sum(rule(u) * v)",
            NO_BOOLEAN,
        ),
        edit(
            "np.isclose(np.sum(u * op(v)), np.sum(rule(u) * v))",
            "np.isclose(u * op(v), rule(u) * v)",
            ENTRIES,
        ),
        edit(
            "np.isclose(np.sum(u * op(v)), np.sum(rule(u) * v))",
            "np.isclose(abs(np.sum(u * op(v))), abs(np.sum(rule(u) * v)))",
            NO_SIGN,
        ),
        edit("rule(u) * v", "u * op(v)", NEVER_FALSE),
        edit("np.sum(rule(u) * v)", "np.sum(rule(u) * u)", BOTH_SIDES),
        edit("np.sum(u * op(v))", "np.sum(op(v))", BOTH_SIDES),
        edit("rule(u) * v))", "rule(u) * v), atol=1)", LOOSE),
        edit("rng.normal(size=op(v).shape)", "op(v)", MADE_OF_V),
        edit("rng.normal(size=op(v).shape)", "op(rng.normal(size=shape))", IN_RANGE),
        edit("u * op(v)", "op(u) * v", "rule(u) * v", "u * rule(v)", EXCHANGED),
    ],
)
def is_adjoint(answer):
    if has_blank(answer):
        raise NotYet
    rng = np.random.default_rng(0)
    # large entries, so that a large tolerance does not accept a wrong rule by chance
    M, S, T = (rng.normal(size=size) for size in [(3, 4), (3, 3), (60, 50)])
    S = 100 * S
    # the vectors have 31 entries, so that a random u of whole numbers is hardly ever even
    R = 100 * np.roll(np.eye(31), 1, axis=1)  # its rows and columns have equal sums

    def not_random(v, u):
        if np.ptp(u) == 0 or np.ptp(v) == 0:
            return CONSTANT if np.ptp(u) == 0 else CONSTANT_V
        return SAME if np.array_equal(u, v) else MADE_OF_V

    both_sides, rounded, loose, never_false, no_sign, made_of_v, in_range, even = (
        lambda v, u, hint=hint: hint
        for hint in (
            BOTH_SIDES,
            ROUNDED,
            LOOSE,
            NEVER_FALSE,
            NO_SIGN,
            MADE_OF_V,
            IN_RANGE,
            EVEN,
        )
    )
    many, copies = partial(partial, np.multiply), partial(np.broadcast_to, shape=(4, 31))

    def turned(u):
        """Return u + K u with an antisymmetric K, so that ⟨K v, v⟩ = 0 for every v."""
        return u + np.roll(u, 1) - np.roll(u, -1)

    def bent(u):
        """Return u plus a second difference, which is 0 for equal or evenly spaced entries."""
        return u + np.pad(np.diff(u, 2), 1)

    def padded(v):
        return np.pad(v, (0, 31))

    def folded(u):
        return u[:31] + u[31:]

    cases = [  # op, rule, shape of the input, verdict, op and rule in words, hint
        (np.copy, np.copy, (2, 3), True, "op: v, rule: u", both_sides),
        (many(100), many(300), (2, 3), False, "op: 100v, rule: 300u", never_false),
        (many(100), many(-100), (2, 3), False, "op: 100v, rule: −100u", no_sign),
        (lambda v: v @ M, lambda u: u @ M.T, (2, 3), True, "op: v @ M, rule: u @ M.T", rounded),
        (lambda v: T @ v, lambda u: T.T @ u, (50, 4), True, "op: T @ v, rule: T.T @ u", rounded),
        (lambda v: v @ R, lambda u: u @ R, (31,), False, "op: v @ R, rule: u @ R", not_random),
        (lambda v: v @ S, lambda u: u @ S, (3, 3), False, "op: v @ S, rule: u @ S", never_false),
        (many(0.01), many(0.02), (2, 3), False, "op: v / 100, rule: u / 50", loose),
        (
            np.copy,
            turned,
            (31,),
            False,
            "op: v, rule: u + roll(u, 1) − roll(u, −1)",
            made_of_v,
        ),
        (
            np.copy,
            bent,
            (31,),
            False,
            "op: v, rule: u plus its second difference, in the middle",
            even,
        ),
        (copies, partial(np.sum, axis=0), (31,), True, "op: four copies, rule: sum", rounded),
        (
            copies,
            partial(np.mean, axis=0),
            (31,),
            False,
            "op: four copies, rule: mean",
            never_false,
        ),
        (
            copies,
            lambda u: 4 * u[0],
            (31,),
            False,
            "op: four copies, rule: 4 times the first",
            in_range,
        ),
        (
            padded,
            folded,
            (31,),
            False,
            "op: v and 31 zeros, rule: u[:31] + u[31:]",
            in_range,
        ),
    ]
    tried = _Tried()
    for _ in range(3):  # the learner's u and v are random
        for op, rule, shape, *verdict in cases:
            tried.use(op, rule, shape)
            tried.verdict(answer, shape, *verdict)


# --- The array ward ---------------------------------------------------------------------------------------------------------------

OF = {letter: PATIENTS[number].cause for letter, number in zip("acdefgi", (7, 3, 6, 2, 5, 1, 4))}
CAUSES = dict(
    sorted(
        [
            *OF.items(),
            ("b", "a sum loses an axis of length 1"),
            ("h", "in a product, each slot receives its own factor instead of the other"),
        ]
    )
)
RIGHT = {
    number: next(letter for letter, cause in OF.items() if cause == patient.cause)
    for number, patient in PATIENTS.items()
}
ASKED = 1, 3, 5, 6  # the others may be given too
EVIDENCE = {
    1: "The shape is right, but every number is doubled, because x has two rows. Only the check of b * x shows this. (Cause h would "
    "send x itself. Cause d is that of another engine.)",
    2: "Nothing was summed, so there is no scalar L to start from. And yet this engine returns [2, 4, 6].",
    3: "[[6, 14], [6, 14]] is twice [[3, 7], [3, 7]], the contribution of the left slot. A @ B is right, so both rules exist.",
    4: "The gradient of b is summed as it should be, but that of c is not. What is special about c?",
    5: "[[5, 6], [7, 8]] is B times g = 1, entry by entry. And for vectors the result is right. Which operation has this rule?",
    6: "x + b is right, b + x is not, and 2 is the sum over two rows. What was summed before the rule for x ran?",
    7: "The gradients of b and of c both have the shape of the output. Which cause affects both?",
}


@exercise(
    "09.diagnose",
    minutes=5,
    difficulty="optional",
    importance=1,
    question="What is the fault in engines 1, 3, 5 and 6? Give the letter of each cause.\n\n"
    + "\n".join(f"- **{letter}** {cause}" for letter, cause in CAUSES.items())
    + "\n\nTwo of the causes apply to none of the seven engines, and each of the others to exactly one.",
    stub="""
        diagnosis = {1: ..., 3: ..., 5: ..., 6: ...}""",
    hints=[
        "Start with 1 and 6. Each fails exactly one check, and no other engine fails that check.",
        "Compare 5 with 3: which check does one fail and the other pass?",
        *((f"Help: {number}", EVIDENCE[number]) for number in ASKED),
        (
            "Help: 2, 4 and 7, if you diagnose them too",
            """
            2 returns gradients although the output is not a scalar. Compare 7 with 4: which check does one fail and the other
            pass?""",
        ),
    ],
    solution="diagnosis = {" + ", ".join(f'{number}: "{RIGHT[number]}"' for number in ASKED) + "}",
    explained="""
        The other three: 2 e, 4 i, 7 a. Each wrong array points to its cause: a 2 where two rows were summed, B itself where the
        dot-product rule ran, and twice [[3, 7], [3, 7]] where the rule for the left slot ran twice.""",
    why="Six of the seven pass the check on three square arrays. They fail if there is broadcasting, a scalar, "
    "one matrix in both places, or a loss that is an array.",
)
def diagnose(answer):
    if not isinstance(answer, dict):
        raise Wrong(
            "diagnosis",
            brief(answer),
            'a dictionary, {1: "a", …}',
            "Write a dictionary that maps each number to the letter of a cause.",
        )
    if any(letter is ... or letter is None for letter in answer.values()):
        raise NotYet
    for number, right in RIGHT.items():
        if number not in answer and number not in ASKED:
            continue
        if number not in answer:
            raise Wrong(
                "diagnosis",
                brief(list(answer)),
                "entries 1, 3, 5 and 6",
                f"Patient {number} has no entry."
                + " Write its number without quotes." * (str(number) in answer),
            )
        letter = str(answer[number]).strip().lower()
        if letter not in CAUSES:
            raise Wrong(
                f"patient {number}",
                brief(answer[number]),
                "a letter from a to i",
                "Give the letter of a cause, in quotes.",
            )
        if letter != right:
            raise Wrong(
                f"patient {number}",
                f"{letter}: {CAUSES[letter]}",
                "a different cause",
                EVIDENCE[number],
            )


# --- Two of them, fixed ----------------------------------------------------------------------------------------------------------


def _sent_on(got, expected):
    return "Here g is not all ones, and some of it is negative. A rule must work for any g, and must not add to a .grad itself."


WRONG_MATMUL = "The left rule still runs for both if x and y are the same. Choose the rule by the slot, not by the value in it."


@exercise(
    "09.fixed",
    minutes=6,
    difficulty="optional",
    importance=1,
    question="""
        Here are patients 6 and 3 as published, each as a function. Fix the fault in each rule, and replace the `...` with z. (A
        rule returns a list of two gradients: that of x, then that of y. `value.fitted(g)` is g, summed to the shape of the
        value. For vectors and matrices `np.dot` works like `@`, but it also accepts a scalar; the upstream gradient g of a dot product is a scalar.)""",
    stub="""
        def fixed_add(x, y):
            z = Array(x.data + y.data, (x, y))
            def rule(g):
                sent = []
                for value in (x, y):
                    g = value.fitted(g)
                    sent.append(g)
                return sent
            z.rule = rule
            return ...

        def fixed_matmul(x, y):
            z = Array(x.data @ y.data, (x, y))
            z.rule = lambda g: [np.dot(g, y.data.T) if value is x else np.dot(x.data.T, g)
                                for value in (x, y)]
            return ...""",
    hints=[
        "In `fixed_add`, follow g through the loop, with b on the left and a larger array on the right. What is g on the second pass through the loop?",
        "In `fixed_matmul`, think of A @ A: x and y are the same object. For which of the two is `value is x` true?",
        (
            "Help: what does a rule return?",
            "A list or tuple of two gradients: first that of x, then that of y.",
        ),
    ],
    solution="""
        def fixed_add(x, y):
            z = Array(x.data + y.data, (x, y))
            z.rule = lambda g: [x.fitted(g), y.fitted(g)]
            return z

        def fixed_matmul(x, y):
            z = Array(x.data @ y.data, (x, y))
            z.rule = lambda g: [np.dot(g, y.data.T), np.dot(x.data.T, g)]
            return z""",
    explained="""
        In the sum, one name, g, was used for two things. In the product, the code tested whether the value was x, when it
        should have tested whether it was in the first slot. (For the sum, `[g, g]` also works, because `backward` calls `fitted`
        on every gradient.)""",
    why="Both rules looked right. For two different square matrices, they are.",
)
def fixed(answer):
    if not all(map(callable, answer)):
        raise Wrong(
            "(fixed_add, fixed_matmul)",
            brief(answer),
            "two functions",
            "The check calls your functions: pass the functions, not their results.",
        )
    if any(map(has_blank, answer)):
        raise NotYet
    Fixed = type(
        "Fixed",
        (Array,),
        {"__add__": lambda x, y: answer[0](x, y), "__matmul__": lambda x, y: answer[1](x, y)},
    )
    for name, f, xs, hints in [
        (
            "b + x",
            lambda x, y: x + y,
            (b, x),
            [
                (
                    np.full((2, 3), 2),
                    "x, on the right, receives 2, the sum that belongs to b. Both need the original g: do not assign to g.",
                )
            ],
        ),
        (
            "x + b",
            lambda x, y: x + y,
            (x, b),
            [
                (
                    np.full((2, 3), 2),
                    "x receives 2, the sum that belongs to b. Fit g to each input separately.",
                )
            ],
        ),
        (
            "A @ B",
            lambda x, y: x @ y,
            (A, B),
            [
                (
                    B,
                    "That is B, entry by entry, as in the rule of a dot product. For matrices, the gradient of x is g·yᵀ.",
                ),
                (
                    np.array([[12, 14], [12, 14]]),
                    "That is g·B, without a transpose: the gradient of x is g·yᵀ, and that of y is xᵀ·g.",
                ),
                (
                    np.array([[3, 7], [3, 7]]),
                    "That is g·Aᵀ. The gradient of x, on the left, is g·yᵀ; that of y, on the right, is xᵀ·g.",
                ),
                (
                    np.array([[11, 15], [11, 15]]),
                    "Your rule sends the gradient of x to y as well. The gradient of y is xᵀ·g.",
                ),
                (
                    np.array([[5, 7], [6, 8]]),
                    "That multiplies g by Bᵀ entry by entry, with *. Use np.dot for a product of matrices.",
                ),
                (
                    np.array([[15, 19], [17, 21]]),
                    "You add the two. Return one for each slot: backward adds them if both slots hold the same matrix.",
                ),
                (
                    np.array([[4, 4], [6, 6]]),
                    "That is Aᵀ·g, the gradient of the right matrix. The first entry of the list, for x, is g·yᵀ.",
                ),
            ],
        ),
        ("a (2, 3) @ a (3, 1)", lambda x, y: x @ y, (x, x.T[:, :1]), []),
        ("b @ b of one axis", lambda x, y: x @ y, (b, b + 1), []),
        ("a column + a row", lambda x, y: x + y, (x[:, :1], b), []),
        ("(b * w + w) * w, w = x − 3", lambda x, y: (x * y + y) * y, (b, x - 3), [_sent_on]),
        (
            "((C * D) @ D) * C, C = A − 2, D = B − 7",
            lambda x, y: ((x * y) @ y) * x,
            (A - 2, B - 7),
            [_sent_on],
        ),
        (
            "A @ (B @ A)",
            lambda x, y: x @ (y @ x),
            (A, B),
            [
                lambda got, right: (
                    "Two products are made here, and only then do their rules run. Does each still "
                    "read its own x and y?"
                )
            ],
        ),
        ("(b @ c) * (b @ c), c = −b", lambda x, y: (x @ y) * (x @ y), (b, -b), [_sent_on]),
        (
            "x + x",
            lambda x, y: x + x,
            (x, b),
            [
                (
                    np.ones((2, 3)),
                    "x is in both slots, and each slot has its own gradient: backward adds the two.",
                )
            ],
        ),
        (
            "A @ A",
            lambda x, y: x @ x,
            (A, B),
            [
                (np.array([[6, 14], [6, 14]]), WRONG_MATMUL),
                (
                    np.array([[8, 8], [12, 12]]),
                    "Now the right rule runs for both if x and y are the same. Each slot has its own rule.",
                ),
                (
                    np.array([[11, 15], [15, 19]]),
                    "One of the two is counted twice. Return one for each slot: backward adds them if both slots hold the same matrix.",
                ),
            ],
        ),
        ("(A @ A) * B", lambda x, y: (x @ x) * y, (A, B), []),
        ("A @ C, two Arrays with the numbers of A", lambda x, y: x @ y, (A, A), []),
    ]:
        _expect_gradients(name, Fixed, f, xs, hints)
    for name, f, xs in [("b + x", answer[0], (b, x)), ("A @ B", answer[1], (A, B))]:
        z = f(*map(Fixed, xs))
        g = np.ones(z.data.shape)
        sent = [*map(np.array, z.rule(g))]
        later = [*z.rule(g / 4)]
        if len(later) < len(sent):
            raise Wrong(
                f"the rule of {name}, at its second call",
                f"{len(later)} gradients",
                "two gradients",
                "An iterator can be read only once: make it inside the rule, or use a tuple.",
            )
        for part, again in zip(sent, later):
            expect(
                again,
                part / 4,
                tried=f"the rule of {name}: with g all ones, then with a quarter of that",
                hints=[
                    (
                        part,
                        "That is the first result again. Values stored outside the rule survive the call: compute them inside.",
                    )
                ],
            )


def _expect_gradients(name, Fixed, f, xs, hints):
    """Raise Wrong unless the engine `Fixed` computes f and the gradients of the sum of f at `xs` correctly.

    `f` is an operation with two operands, `xs` are two arrays, and `name` is the name of the
    operation in messages. `hints` lists known wrong gradients with a hint for each.
    """
    z = returned(f, *map(Fixed, xs), tried=name, shown="an Array")
    if not isinstance(z, Array):
        raise Wrong(
            name,
            brief(z),
            "an Array",
            "Return z itself: the value that stores its inputs.",
        )
    expect(z.data, f(*xs), tried=f"{name}: the value")
    sent = returned(
        z.rule,
        np.ones(z.data.shape),
        tried=f"the rule of {name}",
        shown="two gradients",
        hints=[
            (
                lambda g: g @ b,
                "The upstream gradient of a dot product is a scalar, which @ does not accept: use np.dot.",
            ),
            (
                lambda g: b.mT,
                ".mT needs two axes, and here both arrays have one: write .T, as in the question.",
            ),
            (lambda g: Fixed(0).T, "x and y are Arrays: their numbers are x.data and y.data."),
            (
                lambda g: g.fitted,
                "g is a NumPy array. fitted is a method of the value: value.fitted(g).",
            ),
        ],
    )
    if not isinstance(sent, (list, tuple)) or len(sent) != 2:
        raise Wrong(
            f"the rule of {name}",
            brief(sent),
            "two gradients",
            "A rule returns a list of two gradients: that of x, then that of y.",
        )
    shapes = [np.shape(value) for value in xs]
    if shapes[0] != shapes[1] and [np.shape(part) for part in sent] == shapes[::-1]:
        raise Wrong(
            f"the rule of {name}",
            f"shapes {np.shape(sent[0])} and {np.shape(sent[1])}",
            f"shapes {shapes[0]} and {shapes[1]}",
            "The two gradients are swapped: the first entry of the list is the gradient of x.",
        )
    if any(part is None for part in sent):
        raise Wrong(
            f"the rule of {name}",
            brief(sent),
            "two gradients",
            "backward calls z.rule(g), which returns None here instead of a gradient.",
        )
    for slot, (_, got, measured) in zip(
        ["left", "right"], examine(Fixed, lambda x, y: f(x, y).sum(), *xs).rows
    ):
        if isinstance(got, str):
            raise Wrong(
                f"backward, from the sum of {name}",
                got,
                "gradients",
                "A shape does not fit in the backward pass, either in a rule or in a gradient that a rule returns.",
            )
        expect(
            got,
            measured.round(6),
            tried=f"the sum of {name}: the gradient of the {slot} operand",
            shown="a different array",
            hints=hints,
        )
