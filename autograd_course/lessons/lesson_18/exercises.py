"""Ask the questions of lesson 18: which position reads which, attention, layer norm and einsum."""

import numpy as np

import autograd_lib as ag

from ...derivations import Step, derivation
from ...grading import NotYet, edit, exercise, expect_over, formula, has_blank, is_stub
from ...grading.mistakes import doubled, printed, sign_lost
from ...quiz.texts import Question, card, prediction, recall

recall(
    "18",
    [
        Question(
            "Which arrays does the rule of softmax need besides g? (Lesson 17)",
            "the output",
            "Only the **output**, which is p in p · (g − Σ g·p).",
            ["the input", "the output", "both"],
        ),
        Question(
            "x is multiplied by 0.9 in each of 50 steps. By which factor does a gradient shrink in the backward pass? "
            "(13)",
            0.00515,
            "0.9⁵⁰ ≈ **0.005**: the factors of a path are multiplied.",
            tolerance=0.002,
        ),
        Question(
            "z = x[[0, 2, 0]], and the gradient of z is [1, 10, 100]. What is the gradient of x[0]? (08)",
            101,
            "1 + 100 = **101**: an entry that was read twice receives both gradients.",
        ),
    ],
)

prediction(
    "18.stored",
    question="""A trained model reads a text of 12 letters, so P has 144 entries. How many of these are parameters that the
    optimizer has updated? Now the model reads a different text. Does P change?""",
    answer={"parameters in P": 0, "P changes": "yes"},
    choices={"P changes": ["yes", "no"]},
    reveal="""**0** of them, and **yes**. P is computed from the text, again for each text. The parameters are the matrices that produce the
    queries, keys and values.""",
)

prediction(
    "18.spread",
    question="""A query and a key have 64 entries each. All entries are drawn independently, with mean 0
        and variance 1. Their product q · k is a sum of 64 terms. What is its standard deviation?""",
    answer=8,
    tolerance=0.5,
    reveal="""**8**. The variance of a product of two such numbers is 1 · 1, because they are independent and have mean 0.
        The 64 terms are independent too, so their variances add up to 64. The standard deviation is the root, √64 = 8.""",
)

prediction(
    "18.order",
    question="""You shuffle all the rows of x except the last. What happens to the output at the last position if there is one
    causal block? And if there are two, one after the other?""",
    answer={"one block": "stays", "two blocks": "changes"},
    choices={"one block": ["stays", "changes"], "two blocks": ["stays", "changes"]},
    reveal="""One block: the output **stays** the same, up to rounding. A weighted sum does not depend on the order of its
    terms. Two blocks: it **changes**. In the first block each position reads itself and the positions before it, and the shuffle
    changes which rows these are.""",
)

_FIRST_PATH = "That is the direct path, in the line above. Here x[j] moves z[i] only through μ."
derivation(
    "18.layer_norm",
    letters={
        "x": (3,),
        "g": (3,),
        "n": "3",
        "μ": "(sum_k x[k]) / n",
        "s": "sqrt((sum_k (x[k] - μ)^2) / n)",
        "z[i]": "(x[i] - μ) / s",
    },
    sizes={"i": 3, "j": 3, "k": 3},
    steps=(
        Step(
            r"\text{direct:} \quad \frac{\partial z_j}{\partial x_j} =",
            "1/s",
            "μ and s are held still",
            indices="j",
            worked=True,
        ),
        Step(
            r"\frac{\partial z_i}{\partial \mu} \cdot \frac{\partial \mu}{\partial x_j} =",
            "-1/(n s)",
            "each entry has a share of 1/n in the mean, which is subtracted",
            letters="n s",
            indices="ij",
            mistakes=(
                ("1/(n s)", "μ is subtracted from every entry. So what is the sign?"),
                ("-1/s", "That is ∂z/∂μ. Multiply it by ∂μ/∂x: μ is a mean of n entries."),
                ("1/n", "That is ∂μ/∂x. Multiply it by ∂z/∂μ."),
                ("-1/n", "z is also divided by s."),
                (
                    "-x[j]/(n s)",
                    "If x[j] rises by 1, the mean rises by 1/n, for any value of x[j].",
                ),
                (
                    "-z[j]/(n s)",
                    "If x[j] rises by 1, the mean rises by 1/n, for any value of x[j].",
                ),
                ("1/s", _FIRST_PATH),
                ("1/s - 1/(n s)", _FIRST_PATH),
                (
                    "-g[i]/(n s)",
                    "g is the upstream gradient, for the exercise. This line has none.",
                ),
            ),
        ),
        Step(
            r"\frac{\partial s}{\partial x_j} =",
            "z[j]/n",
            "s² has the derivative 2 (x − μ)/n with respect to x[j], and 2 s with respect to s",
            indices="j",
            worked=True,
        ),
        Step(
            r"\frac{\partial z_i}{\partial s} \cdot \frac{\partial s}{\partial x_j} =",
            "-z[i] z[j]/(n s)",
            "1/s has the slope −1/s², and z contains one 1/s already",
            letters="z n s",
            indices="ij",
            mistakes=(
                ("z[i] z[j]/(n s)", "If s grows, z[i] comes closer to 0. So what is the sign?"),
                ("-z[i]/s", "That is ∂z/∂s. Multiply it by the line above."),
                ("-z[i] z[j]/n", "∂z/∂s is −z[i]/s: a division by s is missing."),
                ("-z[j]/(n s)", "∂z/∂s is −z[i]/s: the factor z[i] is missing."),
                ("-z[j]/(n s^2)", "z[i] is (x[i] − μ)/s. Its numerator is missing in ∂z/∂s."),
                ("-z[i] z[j]/(n s^2)", "∂z/∂s is −(x[i] − μ)/s². How much of that is z[i]?"),
                (
                    "-z[j] z[j]/(n s)",
                    "One factor belongs to the output, z[i], and one to the input.",
                ),
                (
                    "-z[i] z[i]/(n s)",
                    "One factor belongs to the output, z[i], and one to the input.",
                ),
                (
                    "-g[i] z[i] z[j]/(n s)",
                    "g is the upstream gradient, for the exercise. This line has none.",
                ),
            ),
            rivals=("the entries of z add up to 0", "s is the same for all entries of a row"),
        ),
    ),
)

card(
    "18",
    [
        "If a model does not cheat, the gradient of output t with respect to each later letter, s > t, is 0.",
        "An embedding is indexing: a row that was read twice receives both gradients.",
        "Attention: P = softmax(Q·Kᵀ/√d), masked before the softmax, and Z = P·V. P is computed, not learned.",
        "Its backward pass: the gradient of V is Pᵀ·g, and that of P is g·Vᵀ. The rule of softmax turns the latter into gS. The gradient of Q is gS·K/√d, and that of K is gSᵀ·Q/√d. The rows X are used three times, so their gradient is gQ·WQᵀ + gK·WKᵀ + gV·WVᵀ.",
        "A residual connection x + f(x) leaves a path on which every factor is 1, through any number of layers.",
        "Layer norm: subtract from g its mean and z times the mean of g·z, then divide by s.",
    ],
)


# --- 18.who_reads -----------------------------------------------------------------------------------------------------


def _reads(f, x):
    return np.abs(ag.jacobian(f)(x)).max(axis=(1, 3))


def _summed(f, x):
    return np.stack(
        [np.abs(ag.grad(lambda x: ag.sum(f(x)[t]))(x)).max(axis=1) for t in range(len(x))]
    )


CANCEL = (
    "The outputs of a position are added up first, and their derivatives can cancel. (Those of a softmax always do.) Take "
    "the derivative of every output by itself, then the largest magnitude."
)


@exercise(
    "18.who_reads",
    minutes=4,
    difficulty="medium",
    importance=2,
    question="""
        Write `who_reads(f, x)`. `f` takes an x of shape (T, d) and returns an array of shape (T, m). Return
        an array of shape (T, T). Its entry [t, s] is the largest magnitude of any derivative of an output at position t
        with respect to an input at position s.""",
    stub="""
        def who_reads(f, x):
            slopes = ag.jacobian(f)(x)          # (T, m, T, d)
            return ...                          # (T, T)""",
    hints=[
        "The magnitude is `np.abs`. Then take the maximum over two of the four axes.",
        "`.max(axis=(…, …))`: of shape (T, m, T, d), keep the two axes of length T.",
        (
            "Help: why not one gradient for each position?",
            "A gradient needs a scalar, so you would first have to add up the outputs of a position. Then derivatives of opposite sign can cancel. If the outputs come from a softmax, they add up to 1 for every input. So all derivatives of their sum are 0, and you do not find the leak.",
        ),
    ],
    solution="""
        def who_reads(f, x):
            slopes = ag.jacobian(f)(x)          # (T, m, T, d)
            return np.abs(slopes).max(axis=(1, 3))""",
    explained="The rows of the result are the output positions, and the columns are the input positions.",
    why="If an entry is not 0, the input was read. A 0 does not prove that it was not.",
    mistakes=[
        (_summed, CANCEL),
        edit(
            "np.abs(slopes)",
            "slopes",
            "A derivative of −3 means that the position is read, too. Take the magnitude first, np.abs, and then the maximum.",
        ),
        edit(
            "np.abs(slopes).max(axis=(1, 3))",
            "np.abs(slopes.max(axis=(1, 3)))",
            "You take the maximum first and its magnitude afterwards, so 0.1 wins over −3. Take np.abs first.",
        ),
        edit(
            "(1, 3))",
            "(1, 3)).T",
            "This is transposed. A row is the position that reads (output), a column the position "
            "that is read.",
        ),
        edit(
            "(1, 3)",
            "(0, 2)",
            "You took the maximum over the positions, axes 0 and 2. Take it over m and d, axes 1 and 3.",
        ),
        edit(
            "(1, 3)",
            "(0, 1)",
            "Axis 0 is the position that reads, so keep it. Remove m and d: axes 1 and 3.",
        ),
        edit(
            "(1, 3)",
            "(1, 2)",
            "Axis 2 is the position that is read, so keep it. Remove m and d: axes 1 and 3.",
        ),
        edit(
            ".max(axis=(1, 3))",
            ".max(1, 3)",
            "In .max(1, 3) only the 1 is an axis. Pass both axes as one tuple: .max(axis=(1, 3)).",
        ),
        edit(
            "(1, 3)",
            "[1, 3]",
            "NumPy expects several axes as a tuple, in round brackets: axis=(1, 3).",
        ),
        edit(
            "np.abs(slopes).max(axis=(1, 3))",
            "np.linalg.norm(slopes, 2, axis=(1, 3))",
            "That is the largest singular value of each (m, d) matrix. The question asks for the largest magnitude of an entry.",
        ),
        edit(
            ".max(axis=(1, 3))",
            ".max(axis=1).max(axis=3)",
            "After the first max three axes are left. Take both axes at once: .max(axis=(1, 3)).",
        ),
        edit(
            "(1, 3)",
            "1",
            "One axis too many is left. Take the maximum over the inputs d as well, axis 3.",
        ),
        edit(
            "(1, 3)",
            "(2, 3)",
            "Axis 2 is the position that is read, so keep it. Remove m and d: axes 1 and 3.",
        ),
        edit(
            "np.abs(slopes).max(axis=(1, 3))",
            "np.abs(slopes).amax(dim=(1, 3))",
            "amax(dim=…) is PyTorch. In NumPy it is .max(axis=(1, 3)).",
        ),
        edit(
            "(1, 3)",
            "None",
            "You return a single number, but each pair of positions needs one: take the maximum over axes 1 and 3 only.",
        ),
        edit(
            ".max(", ".sum(", "You add the magnitudes. The question asks for the largest of them."
        ),
        edit(
            ".max(axis=(1, 3))",
            ".max(axis=1).sum(axis=-1)",
            "You add over the inputs d. The question asks for the largest: take the maximum over both axes.",
        ),
        edit(
            ".max(",
            ".mean(",
            "That is the mean of the magnitudes. The question asks for the largest of them.",
        ),
        edit(
            ".max(",
            ".min(",
            "That is the smallest: one output that does not read would hide all the others. Take "
            "the largest.",
        ),
        edit(
            "np.abs(slopes).max(axis=(1, 3))",
            "1.0 * (np.abs(slopes).max(axis=(1, 3)) > 0)",
            "That tells you whether a position is read at all. The question asks how strongly: give the largest magnitude.",
        ),
        edit(
            "np.abs(slopes).max(axis=(1, 3))",
            "np.sqrt((slopes ** 2).sum(axis=(1, 3)))",
            "That is the norm of all these derivatives. The question asks for their largest magnitude.",
        ),
        edit("np.abs(slopes).max(axis=(1, 3))", "np.abs(slopes.sum(axis=1)).max(axis=-1)", CANCEL),
        edit("np.abs(slopes).max(axis=(1, 3))", "np.abs(slopes.mean(axis=1)).max(axis=-1)", CANCEL),
        edit("np.abs(slopes).max(axis=(1, 3))", "np.abs(slopes.sum(axis=(1, 3)))", CANCEL),
        edit("np.abs(slopes).max(axis=(1, 3))", "np.abs(slopes.mean(axis=(1, 3)))", CANCEL),
        edit(
            "np.abs(slopes).max(axis=(1, 3))",
            "np.abs(slopes[:, 0]).max(axis=-1)",
            "You look only at the first output of each position. Another output may read more.",
        ),
        edit(
            "np.abs(slopes).max(axis=(1, 3))",
            "np.abs(slopes[:, :, :, 0]).max(axis=1)",
            "You look only at the first entry of each input. Another entry may be read.",
        ),
        (
            lambda f, x: np.tri(len(x)),
            "That tells you which position may read which. The derivatives tell you which position does.",
        ),
        (
            lambda f, x: np.abs(f(x)),
            "Those are values. The derivatives tell you which position reads which.",
        ),
        (
            lambda f, x: np.abs(ag.grad(lambda x: ag.sum(f(x)))(x)),
            "A single gradient of the sum tells you which positions are read, but not by which position. Each output position needs a row of its own.",
        ),
        printed(_reads),
    ],
)
def leak(answer):
    if has_blank(answer):
        raise NotYet
    rng = np.random.default_rng(0)
    W, V = rng.normal(size=(3, 2)).round(1), rng.normal(size=(3, 4)).round(1)
    models = [
        (
            "positions that read all positions up to the one after them",
            4,
            lambda x: -3 * np.tri(4, k=1) @ (x * x) @ np.abs(W),
        ),
        (
            "positions that read those before them, through a softmax",
            4,
            lambda x: ag.softmax(np.tri(4) @ x @ V),
        ),
        (
            "positions that read any other position",
            3,
            lambda x: np.tanh(np.array([[0, 0, 1], [1, 0, 0], [0.2, -2, 0]]) @ x) * x,
        ),
        (
            "two positions, the second never read",
            2,
            lambda x: np.array([[1.5, 0], [-2.5, 0]]) @ x @ W,
        ),
        ("a position that reads itself alone", 1, lambda x: x * x @ W),
    ]
    examples = []
    for what, positions, f in models:
        x = rng.normal(size=(positions, 3)).round(2)
        x[0] = np.abs(x[0])
        examples.append((formula(what)(f), x))
    examples.append((examples[0][0], 30 * examples[0][1]))  # slopes of any size
    small = formula("positions that read each other a little")(
        lambda x: 1e-9 * np.tri(len(x), k=1) @ (x * x) @ V
    )
    column = formula("positions with a single number each")(
        lambda x: np.tri(len(x)) @ (x * x).sum(1, keepdims=True)
    )
    four = [column, *(f for f, x in examples if len(x) == 4), small]
    expect_over(
        answer,
        _reads,
        lambda d: (d.function(*four), d(4, 3)),
        apart=True,
        rounds=8,
        first=examples,
        hints=leak.mistakes,
        tried=lambda f, x: f"who_reads of {f.formula}, with x of shape {x.shape}",
    )


# --- 18.attention_back ------------------------------------------------------------------------------------------------


def _attention(Q, K, V, allowed):
    S = np.where(allowed, Q @ K.T / np.sqrt(K.shape[-1]), -np.inf)
    P = np.exp(S - S.max(axis=-1, keepdims=True))
    return P / P.sum(axis=-1, keepdims=True)


def _back(g, Q, K, V, P):
    gP = g @ V.T
    gS = P * (gP - np.sum(gP * P, axis=-1, keepdims=True))
    return gS @ K / np.sqrt(K.shape[-1]), gS.T @ Q / np.sqrt(K.shape[-1]), P.T @ g


def _unmasked(g, Q, K, V, P):
    return _back(g, Q, K, V, _attention(Q, K, V, True))


_SUM = "np.sum(gP * P, axis=-1, keepdims=True)"
_ROOT = " / np.sqrt(K.shape[-1])"
ARRIVES = "The gradient of P has P's shape, (T, n): gP = g @ V.T. Pass gP, and not g, to the rule of softmax."
ENTRIES = "* multiplies entry by entry. A product of matrices is written with @."
IN_NUMPY = "(In NumPy a matrix's .transpose(-2, -1) is the matrix itself.)"
FORGOTTEN = "The factor 1/√d is missing in the backward pass. Because S = Q·Kᵀ/√d, both gradients, of Q and of K, are divided by √d."


@exercise(
    "18.attention_back",
    minutes=6,
    difficulty="medium",
    importance=3,
    question="""
        Fill in the five blanks of attention's backward pass. d is `K.shape[-1]`. The comment after each blank gives its shape
        and the line of the forward pass whose rule you need. (Transpose with `V.T`, or `V.mT` for a stack of matrices.
        PyTorch's `V.transpose(-2, -1)` leaves a NumPy matrix unchanged.)""",
    stub="""
        def attention_back(g, Q, K, V, P):      # (T, m); (T, d), (n, d), (n, m), (T, n)
            gV = ...                            # (n, m)   from Z = P @ V
            gP = ...                            # (T, n)   from Z = P @ V
            gS = ...                            # (T, n)   from P = softmax(S), row by row
            gQ = ...                            # (T, d)   from S = Q @ K.T / √d
            gK = ...                            # (n, d)   from S = Q @ K.T / √d
            return gQ, gK, gV""",
    hints=[
        "Lesson 09: in X @ Y, the gradient of X is g @ Y.T, and that of Y is X.T @ g. In P @ V, which matrix is X and which is Y?",
        "Lesson 10: the rule of softmax is p · (g − Σ g·p), row by row. Here P plays the role of p, and gP that of g.",
        "In Q @ K.T / √d the right factor is K.T. So the gradient of Q is gS @ K / √d. For K, transpose gS and write Q in place of K.",
        (
            "Help: what about the mask?",
            "At a masked position P is 0, so the rule of softmax gives gradient 0 there. As long as each row has a position that is not masked, you need not do anything else.",
        ),
    ],
    solution="""
        def attention_back(g, Q, K, V, P):      # (T, m); (T, d), (n, d), (n, m), (T, n)
            gV = P.T @ g
            gP = g @ V.T
            gS = P * (gP - np.sum(gP * P, axis=-1, keepdims=True))
            gQ = gS @ K / np.sqrt(K.shape[-1])
            gK = gS.T @ Q / np.sqrt(K.shape[-1])
            return gQ, gK, gV""",
    explained="These are four products and the rule of softmax. (gQ is a sum of outer products, one for each key.) The mask needs no line of its own: where P is 0, gS is 0. Along each row, Σ gP · P equals Σ g · Z, so this sum needs only g and Z, and not a whole row of P: programs that compute P in pieces use this.",
    why="That is the whole backward pass of attention, and you had derived each of its rules before.",
    mistakes=[
        (
            _unmasked,
            "Your function receives P, already masked. If you compute P again from Q and K, the mask is lost.",
        ),
        edit(
            "P.T @ g",
            "P @ g",
            "For V: row t of P holds the weights with which output t reads the values. So value s receives a gradient from every output that reads it. These weights are column s of P, so use P.T @ g. "
            + IN_NUMPY,
        ),
        edit(
            "P.T @ g",
            "P.transpose(-2, -1) @ g",
            "g @ V.T",
            "g @ V.transpose(-2, -1)",
            "gS.T @ Q",
            "gS.transpose(-2, -1) @ Q",
            "In NumPy a matrix's .transpose(-2, -1) is the matrix itself. Write P.T, V.T and gS.T.",
        ),
        edit("P.T @ g", "g", "For V: g is spread over the positions by the weights, P.T @ g."),
        edit(
            "g @ V.T",
            "g @ V",
            "For P: the gradient of one factor of a product is g times the other factor, transposed: g @ V.T. "
            + IN_NUMPY,
        ),
        edit("g @ V.T", "P @ V", ARRIVES),
        edit(
            "g @ V.T",
            "V @ g.T",
            "For P: that is the transpose, of shape (n, T). The gradient has P's shape: g @ V.T.",
        ),
        edit(
            "g @ V.T",
            "g @ V.T * P",
            "The factor P belongs to the rule of softmax, in the next line. The gradient of P is g @ V.T.",
        ),
        edit(
            "P * (gP - " + _SUM + ")",
            "gP",
            "The rule of softmax is missing: gP is the gradient of P, and the scores are the input of softmax.",
        ),
        edit(
            "P * (gP - " + _SUM + ")",
            "P * gP",
            "The sum in the rule of softmax is missing: if one score rises, the other weights fall. The rule is p · (g − Σ g·p).",
        ),
        edit(
            "P * (gP - " + _SUM + ")",
            "P * (1 - P) * gP",
            "Here each score has an effect on its own weight alone, which is the diagonal. The rule is p · (g − Σ "
            "g·p).",
        ),
        edit(
            "P * (gP - " + _SUM + ")",
            "gP - P * np.sum(gP, axis=-1, keepdims=True)",
            "That is the rule of log_softmax. P came out of softmax, so the rule is p · (g − Σ g·p).",
        ),
        edit(
            "P * (gP - " + _SUM + ")",
            "P - gP",
            "p − target is the rule of softmax and cross-entropy together. Here P comes from softmax alone, and gP is a "
            "gradient, not a target: p · (g − Σ g·p).",
        ),
        edit(
            "P * (gP -",
            "(gP -",
            "The factor P before the bracket in the rule of softmax is missing.",
        ),
        edit(
            "P * (gP - np",
            "P * (gP + np",
            "In the rule of softmax the sum is subtracted from g, not added.",
        ),
        edit(
            _SUM,
            "np.sum(gP, axis=-1, keepdims=True)",
            "The sum in the rule of softmax is over g · p: each gradient times its weight.",
        ),
        edit(_SUM, "np.sum(g * P, axis=-1, keepdims=True)", ARRIVES),
        edit(
            _SUM,
            "np.mean(gP * P, axis=-1, keepdims=True)",
            "Take the sum, not the mean, because the weights P add up to 1 already.",
        ),
        edit(
            _SUM,
            "np.sum(gP * P, axis=0, keepdims=True)",
            "You sum down the columns. Each query has a row of its own: axis=-1.",
        ),
        edit(
            _SUM,
            "np.sum(gP * P)",
            "You sum over everything. Each query has a row of its own: axis=-1, and keepdims.",
        ),
        edit(
            _SUM,
            "np.sum(gP * P, axis=-1)",
            "The sums have lost their axis: keepdims=True puts each beside its row.",
        ),
        edit(
            "gP - " + _SUM,
            "g - np.sum(g * P, axis=-1, keepdims=True)",
            ARRIVES,
        ),
        edit(
            "P * (gP - " + _SUM + ")",
            "P * gP - " + _SUM,
            "P multiplies the whole difference: put gP minus the sum in brackets.",
        ),
        edit("P.T @ g", "P.T * g", ENTRIES),
        edit("g @ V.T", "g * V.T", ENTRIES),
        edit(
            "P.T @ g",
            "P.T @ V",
            "For V: the gradient of one factor of a product is P.T times the upstream gradient, g, not times V itself.",
        ),
        edit(
            "gS @ K /",
            "gS @ K.T /",
            "For Q: the right factor of Q·Kᵀ is Kᵀ already, and the rule transposes it back: gS @ K.",
        ),
        edit("gS @ K" + _ROOT, "gS @ K", "gS.T @ Q" + _ROOT, "gS.T @ Q", FORGOTTEN),
        edit("gS @ K" + _ROOT, "gS @ K", FORGOTTEN),
        edit("gS.T @ Q" + _ROOT, "gS.T @ Q", FORGOTTEN),
        edit(
            "gS @ K" + _ROOT,
            "gS @ K * np.sqrt(K.shape[-1])",
            "gS.T @ Q" + _ROOT,
            "gS.T @ Q * np.sqrt(K.shape[-1])",
            "You multiply by √d. S was divided by √d, so divide here too.",
        ),
        edit(
            "gS @ K" + _ROOT,
            "gS @ K / K.shape[-1]",
            "gS.T @ Q" + _ROOT,
            "gS.T @ Q / K.shape[-1]",
            "Altogether you divide by d. S was divided by √d, so divide by √d once.",
        ),
        edit(
            "g @ V.T",
            "g @ V.T" + _ROOT,
            "Altogether you divide by d. S was divided by √d, so divide by √d once.",
        ),
        edit(
            "gS @ K" + _ROOT,
            "gS @ K / np.sqrt(len(K))",
            "gS.T @ Q" + _ROOT,
            "gS.T @ Q / np.sqrt(len(K))",
            "d is the number of entries of a key, K.shape[-1]. len(K) is the number of keys.",
        ),
        edit(
            "gS @ K" + _ROOT,
            "gS @ K / np.sqrt(len(Q))",
            "gS.T @ Q" + _ROOT,
            "gS.T @ Q / np.sqrt(len(Q))",
            "d is the number of entries of a query and of a key, K.shape[-1]. len(Q) is the number of queries.",
        ),
        edit(
            "gS @ K" + _ROOT,
            "gS @ K / np.sqrt(V.shape[-1])",
            "gS.T @ Q" + _ROOT,
            "gS.T @ Q / np.sqrt(V.shape[-1])",
            "d is the number of entries of a key, K.shape[-1], not that of a value.",
        ),
        edit(
            "gS @ K /",
            "gS @ Q /",
            "gS.T @ Q",
            "gS.T @ K",
            "Each gradient is gS times the *other* factor: gS @ K for Q, and gS.T @ Q for K.",
        ),
        edit("gS @ K /", "gS @ Q /", "The gradient of Q is gS times the *other* factor, K."),
        edit(
            "gS @ K /", "gS.T @ K /", "For Q: it has the rows of gS, so use gS @ K, not transposed."
        ),
        edit(
            "gS.T @ Q",
            "gS @ Q",
            "For K: row s of its gradient comes from column s of gS, so use gS.T @ Q. " + IN_NUMPY,
        ),
        edit("gS.T @ Q", "gS.T @ K", "The gradient of K is gS.T times the *other* factor, Q."),
        edit(
            "gS.T @ Q",
            "Q.T @ gS",
            "For K: that is the transpose, of shape (d, n). The gradient has K's shape: gS.T @ Q.",
        ),
        edit(
            "gS.T @ Q",
            "gP.T @ Q",
            "K: gP is the gradient of the output of softmax. Use gS, the gradient of its input.",
        ),
        edit(
            "gS @ K /",
            "gP @ K /",
            "Q: gP is the gradient of the output of softmax. Use gS, the gradient of its input.",
        ),
        edit(
            "return gQ, gK, gV",
            "return gQ, gV, gK",
            "Keys and values are swapped in the last line.",
        ),
        edit(
            "return gQ, gK, gV",
            "return gV, gK, gQ",
            "Queries and values are swapped in the last line.",
        ),
        edit(
            "return gQ, gK, gV",
            "return gK, gQ, gV",
            "Queries and keys are swapped in the last line.",
        ),
        edit(
            "gQ = gS",
            "gS = np.tril(gS)\n    gQ = gS",
            "np.tril also removes positions that another mask may allow: not every mask is causal. Where P is 0, gS is 0 already.",
        ),
        edit(
            "return gQ, gK, gV", "return gQ, gK", "The gradient of V is missing: return all three."
        ),
        *(
            edit(
                "g @ V.T",
                new,
                "For P: the gradient has shape (T, n). g is (T, m), and V is (n, m), so g @ V.T.",
            )
            for new in ("V @ g", "g.T @ V", "V.T @ g")
        ),
        edit(
            _SUM,
            "np.sum(g * V, axis=-1, keepdims=True)",
            "For gS: the sum in the rule of softmax is over gP · P, entry by entry. Along a row it equals the sum over g · Z, but not that over g · V.",
        ),
        edit(
            "P * (gP - " + _SUM + ")",
            "(np.diag(P) - P @ P.T) @ gP",
            "For gS: each row of P comes from a softmax of its own, so each row has its own Jacobian. The rule p · (g − Σ g·p) treats all rows at once.",
        ),
    ],
)
def back(answer):
    if has_blank(answer):
        raise NotYet
    rng = np.random.default_rng(0)

    def build(d):
        T, n, width, m = d.size(), d.size(), d.size(), d.size()
        Q, K, V, allowed = (
            np.tanh(d(T, width)),
            d(n, width),
            d(n, m),
            d.choice(np.ones((T, n), bool), np.tri(T, n) > 0),
        )
        Q, V = (
            K if one.shape == K.shape and d.round % 2 else one for one in (Q, V)
        )  # all of one array
        return d.g(T, m), Q, K, V, _attention(Q, K, V, allowed)

    examples = []
    for T, n, d, m, allowed in [(2, 2, 4, 3, np.tri(2) > 0), (3, 5, 4, 2, np.ones((3, 5), bool))]:
        g, Q, K, V = (rng.normal(size=shape).round(1) for shape in [(T, m), (T, d), (n, d), (n, m)])
        examples.append((g, Q, K, V, _attention(Q, K, V, allowed)))
    unsure = np.array(
        [[0.9995, 4e-4, 1e-4], [2e-5, 0.4, 0.59998]]
    )  # small weights carry something too
    g, V = rng.normal(size=(2, 2, 3)).round(1)
    examples.append((g, np.sqrt(3) * np.log(unsure), np.eye(3), np.vstack([V, g[:1]]), unsure))
    expect_over(
        answer,
        _back,
        build,
        first=examples,
        hints=back.mistakes,
        tried=lambda g, Q, K, V, P: (
            f"attention_back with {len(Q)} queries and {len(K)} keys, d = {K.shape[1]}, values of {V.shape[1]}"
        ),
    )


# --- 18.self_attention_back -------------------------------------------------------------------------------------------


def _projected(X, WQ, WK, WV, allowed):
    Q, K, V = X @ WQ, X @ WK, X @ WV
    return Q, K, V, _attention(Q, K, V, allowed)


def _self_back(g, X, WQ, WK, WV, allowed):
    gQ, gK, gV = _back(g, *_projected(X, WQ, WK, WV, allowed))
    return gQ @ WQ.T + gK @ WK.T + gV @ WV.T, X.T @ gQ


_ADDED = "gQ @ WQ.T + gK @ WK.T + gV @ WV.T"
_MASKED = "ag.softmax(np.where(allowed, Q @ K.T / np.sqrt(K.shape[-1]), -np.inf))"
USES = "X is used three times: for the queries, for the keys and for the values. "
TURN = "For X: the weights are not transposed. In Q = X @ WQ the gradient of X is gQ @ WQ.T (lesson 09), and likewise for K and V."
JOINED = "You put the three contributions side by side. The gradient of X has the shape of X, (T, c): the contributions of all uses are added."
MASK_LOST = "The mask is missing: without `allowed`, the softmax also gives weights to positions that must not be read."
BY_HAND = "The mask of this call is not causal. Use `allowed`, whatever it holds."
OWN_ROOT = "S is divided by √d. d is the number of entries of a key, K.shape[-1], and not that of a row of X."


@exercise(
    "18.self_attention_back",
    minutes=5,
    difficulty="medium",
    importance=2,
    question="""
        Write `self_attention_back`. g is the upstream gradient of Z, and `allowed` is the mask. Return the gradients of X and of
        WQ. Call your `attention_back`, and first compute what it needs. The function `attention` above shows how the scores are
        masked.""",
    stub="""
        # g (T, m); X (T, c); WQ and WK (c, d); WV (c, m); allowed (T, T)
        def self_attention_back(g, X, WQ, WK, WV, allowed):
            gX = ...                            # (T, c)
            gWQ = ...                           # (c, d)
            return gX, gWQ""",
    hints=[
        "`attention_back` needs Q, K, V and P. Q is `X @ WQ`. P is the softmax of the masked scores, `ag.softmax(np.where(allowed, …, -np.inf))`.",
        "Follow X forward: it is used in three products. Lesson 09 gives the gradient of X in each of them. How do the gradients of three uses combine?",
        "The contribution through the queries is `gQ @ WQ.T`. In `Q = X @ WQ` the matrix WQ is the right factor, so its gradient is X.T times the gradient of Q.",
        (
            "Help: the shapes do not fit",
            "Write the shapes beneath each product: gQ is (T, d), and WQ is (c, d). So the product of shape (T, c) is gQ @ WQ.T.",
        ),
    ],
    solution="""
        def self_attention_back(g, X, WQ, WK, WV, allowed):
            Q, K, V = X @ WQ, X @ WK, X @ WV
            P = ag.softmax(np.where(allowed, Q @ K.T / np.sqrt(K.shape[-1]), -np.inf))
            gQ, gK, gV = attention_back(g, Q, K, V, P)
            gX = gQ @ WQ.T + gK @ WK.T + gV @ WV.T
            gWQ = X.T @ gQ
            return gX, gWQ""",
    explained="X is a fan-out with three uses, so its gradient is a sum of three contributions. The gradients of the other two weights are X.T @ gK and X.T @ gV. (If the three weights are stacked into one matrix of shape (c, 2d + m), one product computes Q, K and V, and one computes gX: a matrix product adds the contributions.)",
    why="The layer before attention receives gX as its upstream gradient, and the optimizer needs the gradients of the weights.",
    mistakes=[
        *(
            edit(
                _ADDED,
                kept,
                USES + f"The contribution through the {missing} is missing.",
            )
            for kept, missing in [
                ("gK @ WK.T + gV @ WV.T", "queries"),
                ("gQ @ WQ.T + gV @ WV.T", "keys"),
                ("gQ @ WQ.T + gK @ WK.T", "values"),
            ]
        ),
        *(
            edit(
                _ADDED,
                kept,
                USES + "You return only one of the three contributions: add the other two.",
            )
            for kept in ("gQ @ WQ.T", "gK @ WK.T", "gV @ WV.T")
        ),
        edit(_ADDED, "gQ @ WQ + gK @ WK + gV @ WV", TURN),
        edit(_ADDED, "gQ @ WQ + gK @ WK.T + gV @ WV.T", TURN),
        edit(_ADDED, "gQ @ WQ.T + gK @ WK + gV @ WV.T", TURN),
        edit(_ADDED, "gQ @ WQ.T + gK @ WK.T + gV @ WV", TURN),
        *(
            edit(_ADDED, f"np.{join}([gQ @ WQ.T, gK @ WK.T, gV @ WV.T]{axis})", JOINED)
            for join, axis in [
                ("concatenate", ""),
                ("concatenate", ", axis=-1"),
                ("stack", ""),
                ("array", ""),
            ]
        ),
        edit(
            _ADDED,
            f"({_ADDED}) / 3",
            "You take the mean of the three contributions. The gradients of several uses are added, not averaged.",
        ),
        edit(
            _ADDED,
            "(gQ @ WQ.T) * (gK @ WK.T) * (gV @ WV.T)",
            "You multiply the three contributions. Each use of X contributes to the change of L: add them.",
        ),
        edit(
            _ADDED,
            "(gQ + gK + gV) @ (WQ + WK + WV).T",
            "Each gradient goes back through its own weights only: add gQ @ WQ.T, gK @ WK.T and gV @ WV.T.",
        ),
        edit(
            _ADDED,
            "gQ + gK + gV",
            "gQ, gK and gV are the gradients of Q, K and V. To reach X, each of them is multiplied by its weights, transposed.",
        ),
        edit(
            _ADDED,
            "gQ @ WK.T + gK @ WQ.T + gV @ WV.T",
            "Queries and keys are swapped: gQ goes back through WQ, and gK through WK.",
        ),
        edit(_MASKED, "ag.softmax(Q @ K.T / np.sqrt(K.shape[-1]))", MASK_LOST),
        edit(
            _MASKED,
            "ag.softmax(Q @ K.T / np.sqrt(K.shape[-1])) * allowed",
            "You mask after the softmax, so the masked scores are still in the sum that it divides by. Set the scores to −∞ before it.",
        ),
        edit(
            "-np.inf",
            "0",
            "A score of 0 is a score like any other: its weight is exp(0) divided by the sum. A masked score is −∞.",
        ),
        edit(
            "np.where(allowed, Q @ K.T / np.sqrt(K.shape[-1]), -np.inf)",
            "np.where(allowed, -np.inf, Q @ K.T / np.sqrt(K.shape[-1]))",
            "All entries are nan, as they are if all scores of a row are −∞. Is the mask the wrong way round? Where `allowed` is True, the score stays.",
        ),
        edit(
            "np.where(allowed, Q @ K.T",
            "np.where(np.tri(len(X), dtype=bool), Q @ K.T",
            BY_HAND,
        ),
        edit(
            " / np.sqrt(K.shape[-1])",
            "",
            "The scores are not divided by √d, so P is not that of the forward pass.",
        ),
        edit("np.sqrt(K.shape[-1])", "np.sqrt(X.shape[-1])", OWN_ROOT),
        edit("np.sqrt(K.shape[-1])", "np.sqrt(len(K))", OWN_ROOT),
        edit("np.sqrt(K.shape[-1])", "np.sqrt(V.shape[-1])", OWN_ROOT),
        edit(
            "np.sqrt(K.shape[-1])",
            "K.shape[-1]",
            "You divide the scores by d. They are divided by √d.",
        ),
        edit(
            _MASKED,
            "ag.softmax(np.where(allowed, Q @ K.T / np.sqrt(K.shape[-1]), -np.inf), axis=0)",
            "Your softmax runs down the columns. Each query has a row of weights: axis=-1.",
        ),
        edit(
            _MASKED,
            "np.where(allowed, Q @ K.T / np.sqrt(K.shape[-1]), -np.inf)",
            "You pass the scores to `attention_back` in place of P. P is the softmax of the scores.",
        ),
        edit(
            _MASKED,
            "np.where(allowed, Q @ K.T / np.sqrt(K.shape[-1]), 0)",
            "You pass the scores to `attention_back` in place of P. P is the softmax of the scores.",
        ),
        edit(
            "attention_back(g, Q, K, V, P)",
            "attention_back(g, X, X, X, P)",
            "`attention_back` needs the queries, keys and values, Q, K and V, and not the rows that they are computed from.",
        ),
        edit(
            "attention_back(g, Q, K, V, P)",
            "attention_back(P @ V, Q, K, V, P)",
            "The first argument of `attention_back` is g, the upstream gradient, and not Z.",
        ),
        edit(
            "X.T @ gQ",
            "gQ.T @ X",
            "For WQ: that is the transpose, of shape (d, c). The gradient has the shape of WQ: X.T @ gQ.",
        ),
        edit(
            "X.T @ gQ",
            "X.T @ g",
            "For WQ: use gQ, the gradient of Q. g is the gradient of Z.",
        ),
        edit(
            "X.T @ gQ",
            "Q.T @ gQ",
            "For WQ: in Q = X @ WQ the other factor is X. The gradient of WQ is X.T @ gQ.",
        ),
        edit(
            "X.T @ gQ",
            "X @ gQ",
            "For WQ: X is not transposed. In Q = X @ WQ the gradient of the right factor is X.T @ gQ.",
        ),
        edit("X.T @ gQ", "X.T @ gK", "For WQ: that is the gradient of WK. Use gQ."),
        edit("X.T @ gQ", "X.T @ gV", "For WQ: that is the gradient of WV. Use gQ."),
        edit("X.T @ gQ", "gQ", "For WQ: gQ is the gradient of Q. The gradient of WQ is X.T @ gQ."),
        edit(
            "X.T @ gQ",
            "X.T @ gQ / np.sqrt(K.shape[-1])",
            "For WQ: `attention_back` has divided by √d already, so you divide twice.",
        ),
        edit(
            "X.T @ gQ",
            "X.T @ gQ / len(X)",
            "For WQ: every row of X has used WQ, and the gradients of all uses are added, not averaged.",
        ),
        edit(
            "return gX, gWQ",
            "return gWQ, gX",
            "The two gradients are swapped: return that of X first.",
        ),
        edit(
            "return gX, gWQ",
            "return gX",
            "The gradient of WQ is missing: return gX, gWQ.",
        ),
        edit(
            "return gX, gWQ",
            "return gX, gWQ, X.T @ gK, X.T @ gV",
            "All four gradients are useful, but the question asks for two: return gX, gWQ.",
        ),
        edit(
            _MASKED,
            "ag.softmax(Q @ K.T / np.sqrt(K.shape[-1]) + allowed)",
            "`allowed` holds True and False, so adding it adds 1 or 0 to a score, which masks nothing. Write np.where(allowed, …, -np.inf).",
        ),
        edit(
            "attention_back(g, Q, K, V, P)",
            "attention_back(g, Q, K, V, allowed)",
            "The last argument of `attention_back` is P, the weights, and not the mask.",
        ),
        edit(
            _MASKED,
            _MASKED + " @ V",
            "That is Z, which `attention` returns. P is the softmax of the masked scores.",
        ),
        edit(
            "X @ WQ, X @ WK, X @ WV",
            "X @ WQ.T, X @ WK.T, X @ WV.T",
            "WQ has the shape (c, d) here, so Q is X @ WQ, without a transpose.",
        ),
    ],
)
def self_back(answer):
    if has_blank(answer):
        raise NotYet
    rng = np.random.default_rng(0)

    def drawn(normal, T, c, d, m):
        return (normal(T, m), normal(T, c), normal(c, d), normal(c, d), normal(c, m))

    def build(d):
        T, c, width, m = d.size(), d.size(), d.size(), d.size()
        masks = [np.ones((T, T), bool), np.tri(T) > 0, np.tri(T).T > 0]
        _, X, WQ, WK, WV = drawn(d, T, c, width, m)
        X, WQ, WK = np.tanh(X), np.tanh(WQ) / c, np.tanh(WK) / c  # no softmax saturates
        return d.g(T, m), X, WQ, WK, WV, d.choice(*masks)

    backward = np.array([[1, 0, 1], [1, 1, 1], [0, 1, 1]], bool)
    examples = [
        (*drawn(lambda *shape: rng.normal(size=shape).round(1), *sizes), allowed)
        for sizes, allowed in [
            ((3, 4, 2, 5), np.tri(3) > 0),
            ((3, 3, 3, 3), backward),
            ((4, 2, 3, 2), np.ones((4, 4), bool)),
        ]
    ]
    expect_over(
        answer,
        _self_back,
        build,
        first=examples,
        hints=self_back.mistakes,
        tried=lambda g, X, WQ, WK, WV, allowed: (
            f"self_attention_back with {len(X)} rows of {X.shape[1]} numbers, d = {WQ.shape[1]}, values of {WV.shape[1]}"
        ),
    )


# --- 18.swap ----------------------------------------------------------------------------------------------------------

ROW = ag.ops.ROWS["einsum"]


def _einsum_x(g, z, x, y, a, b, c):
    return np.einsum(f"{c},{b}->{a}", g, y)


def _einsum_y(g, z, x, y, a, b, c):
    return np.einsum(f"{a},{c}->{b}", x, g)


# As many as all come up in the rounds of the battery.
SUBSCRIPTS = [
    "ij jk ik",
    "ij kj ki",
    "thd shd hts",
    "i j ij",
    "ij ij ji",
    "ji j i",
    "ij ji ",
    "bij bjk bik",
    "ij i ij",
    "j ij i",
    "i i ",
    "nij kj nik",
    "bthd bshd bhts",
    "i jk ikj",
]
TURNED = "The letters are in the wrong places. Each array has its own letters, and g has those of z, c. The result has the letters of the input, in the same order."
PLAIN = (
    "einsum received the names a, b and c, not their letters. Write an f before the quotes and each name in curly "
    'brackets: f"{c},…".'
)
WRONG_SWAP_X = [
    (
        lambda g, z, x, y, a, b, c: ag.einsum("ik,jk->ij", g, y),
        "That is written for one product only. Use the letters that your rule receives: a, b, c.",
    ),
    (
        lambda g, z, x, y, a, b, c: g @ y.mT,
        "That is written for one product only. Use the letters that your rule receives: a, b, c.",
    ),
    (
        lambda g, z, x, y, a, b, c: ag.einsum(f"{a},{b}->{c}", g, y),
        "You give g the letters of x, but g has those of z, c. The result has the letters of x, a.",
    ),
    (lambda g, z, x, y, a, b, c: ag.einsum(f"{b},{c}->{a}", g, y), TURNED),
    (lambda g, z, x, y, a, b, c: ag.einsum(f"{c},{b}->{a}", y, g), TURNED),
    (
        lambda g, z, x, y, a, b, c: ag.einsum(f"{c},{b}->{a}", z, y),
        "You use z in place of g: use the upstream gradient, not the output itself.",
    ),
    (
        lambda g, z, x, y, a, b, c: ag.einsum(f"{c},{b}->{a}", g, x),
        "You multiply by x itself. In a product the gradient of a factor is g times the *other* factor, here y.",
    ),
    (
        lambda g, z, x, y, a, b, c: ag.einsum(f"{c},{a}->{a}", g, x),
        "You multiply by x itself. In a product the gradient of a factor is g times the *other* factor, here y.",
    ),
    (
        lambda g, z, x, y, a, b, c: ag.einsum(f"{c},{b}->{b}", g, y),
        "The gradient of x has the letters of x, a.",
    ),
    (lambda g, z, x, y, a, b, c: ag.einsum(f"{c},{b}->{a[::-1]}", g, y), TURNED),
    (lambda g, z, x, y, a, b, c: np.einsum(f"{b}->{b}", y), "The upstream gradient g is missing."),
    (
        lambda g, z, x, y, a, b, c: _einsum_x(np.ones_like(g), z, x, y, a, b, c),
        "Off by the factor g: the upstream gradient is missing.",
    ),
    (
        lambda g, z, x, y, a, b, c: -_einsum_x(g, z, x, y, a, b, c),
        "The magnitudes are right, but the sign is wrong.",
    ),
    (lambda g, z, x, y, a, b, c: np.abs(_einsum_x(g, z, x, y, a, b, c)), "The signs are lost."),
    (
        lambda g, z, x, y, a, b, c: _einsum_x(g, z, x, y, a, b, c) / y.shape[-1],
        "You divide, but the product is a sum, not a mean.",
    ),
    (
        lambda g, z, x, y, a, b, c: g * y,
        "* multiplies entry by entry. Use einsum, with the letters of each array.",
    ),
    (lambda g, z, x, y, a, b, c: ag.einsum("{c},{b}->{a}", g, y), PLAIN),
    (lambda g, z, x, y, a, b, c: ag.einsum("c,b->a", g, y), PLAIN),
    (
        lambda g, z, x, y, a, b, c: (
            _einsum_x(g, z, x, y, a, b, c),
            _einsum_y(g, z, x, y, a, b, c),
        ),
        "You return both gradients in a tuple. This rule is for x only.",
    ),
]
WRONG_SWAP_Y = [
    (
        lambda g, z, x, y, a, b, c: ag.einsum("ij,ik->jk", x, g),
        "That is written for one product only. Use the letters that your rule receives: a, b, c.",
    ),
    (
        lambda g, z, x, y, a, b, c: x.mT @ g,
        "That is written for one product only. Use the letters that your rule receives: a, b, c.",
    ),
    (
        lambda g, z, x, y, a, b, c: ag.einsum(f"{a},{b}->{c}", x, g),
        "You give g the letters of y, but g has those of z, c. The result has the letters of y, b.",
    ),
    (lambda g, z, x, y, a, b, c: ag.einsum(f"{a},{c}->{b}", g, x), TURNED),
    (lambda g, z, x, y, a, b, c: ag.einsum(f"{c},{a}->{b}", x, g), TURNED),
    (
        lambda g, z, x, y, a, b, c: ag.einsum(f"{c},{b}->{a}", g, x),
        "Those are the letters of the rule for x. Here the factor is x, with the letters a, and the result has the letters of y, b.",
    ),
    (
        lambda g, z, x, y, a, b, c: ag.einsum(f"{a},{c}->{b}", x, z),
        "You use z in place of g: use the upstream gradient, not the output itself.",
    ),
    (lambda g, z, x, y, a, b, c: ag.einsum(f"{a},{c}->{b[::-1]}", x, g), TURNED),
    (
        lambda g, z, x, y, a, b, c: _einsum_y(np.ones_like(g), z, x, y, a, b, c),
        "Off by the factor g: the upstream gradient is missing.",
    ),
    (
        lambda g, z, x, y, a, b, c: -_einsum_y(g, z, x, y, a, b, c),
        "The magnitudes are right, but the sign is wrong.",
    ),
]


@exercise(
    "18.swap",
    minutes=3,
    difficulty="optional",
    importance=1,
    question="""
        Write both rules of `z = einsum(f"{a},{b}->{c}", x, y)`. Here a, b and c are the letters of x, y and z, such as
        "ij", "jk" and "ik".""",
    stub="""
        einsum_x = lambda g, z, x, y, a, b, c: ...
        einsum_y = lambda g, z, x, y, a, b, c: ...""",
    hints=[
        "Each rule is one call of einsum. g has the same letters as z.",
        "For x: multiply g, with the letters c, by y, with the letters b. The result has the letters of x, a.",
        (
            "Help: '{c},{b}->{a}' is not understood",
            'The f before the quotes inserts the letters: `f"{c},…"`.',
        ),
    ],
    solution="""
        einsum_x = lambda g, z, x, y, a, b, c: einsum(f"{c},{b}->{a}", g, y)
        einsum_y = lambda g, z, x, y, a, b, c: einsum(f"{a},{c}->{b}", x, g)""",
    explained='With "ij", "jk" and "ik" the first is "ik,jk->ij": that is g · Yᵀ, without a transpose in '
    "the code.",
    names=lambda: {"einsum": ag.einsum},
    why="The same two lines work for matrices, heads and batches.",
)
def swap(answer):
    if any(map(is_stub, answer)):
        raise NotYet
    rng = np.random.default_rng(0)
    for slot, rule, right, hints, other in [
        ("x", answer[0], _einsum_x, WRONG_SWAP_X, _einsum_y),
        ("y", answer[1], _einsum_y, WRONG_SWAP_Y, _einsum_x),
    ]:
        swapped = (other, "That is the gradient of the other array: are the two rules swapped?")

        def build(d):
            a, b, c = SUBSCRIPTS[d.round % len(SUBSCRIPTS)].split(" ")
            length = {letter: d.size() for letter in sorted({*a, *b})}
            x, y = (d(*(length[letter] for letter in letters)) for letters in (a, b))
            z = np.einsum(f"{a},{b}->{c}", x, y)
            return d.g(*z.shape), z, x, y, a, b, c

        x, y = rng.normal(size=(2, 3)).round(1), rng.normal(size=(3, 4)).round(1)
        example = rng.normal(size=(2, 4)).round(1), x @ y, x, y, "ij", "jk", "ik"
        expect_over(
            rule,
            right,
            build,
            first=[example],
            hints=[swapped, *hints],
            tried=lambda g, z, x, y, a, b, c, slot=slot: (
                f"the rule for {slot} of einsum('{a},{b}->{c}', x, y), x {x.shape} and y {y.shape}"
            ),
        )


# --- 18.layer_norm_x --------------------------------------------------------------------------------------------------


def _norm(g, z, s):
    return (g - np.mean(g, axis=-1, keepdims=True) - z * np.mean(g * z, axis=-1, keepdims=True)) / s


_MEAN, _ALONG = (
    " - np.mean(g, axis=-1, keepdims=True)",
    " - z * np.mean(g * z, axis=-1, keepdims=True)",
)
LOST = "A mean has lost its axis: keepdims=True keeps the axis, so that each mean lines up with its row."
DOWN = "You take a mean down the columns. Each row is normalised by itself: axis=-1."
SECOND = "The mean of g · z is missing. (The mean of z alone is 0.) x changes s as well as the mean, and s divides every entry of its row."
WHOLE = (
    "You take a mean over the whole array. Each row is normalised by itself: axis=-1, and keepdims."
)


@exercise(
    "18.layer_norm_x",
    minutes=4,
    difficulty="medium",
    importance=2,
    question="""
        Write the gradient of x, for a batch of N rows: multiply the derivative of each path by the upstream gradient of the $z_i$
        at its end, and add over all i. z and g have shape (N, n), and s has shape (N, 1).""",
    stub="""
        layer_norm_x = lambda g, z, s: ...""",
    hints=[
        "The direct path contributes g_j/s. Through μ, the sum over i is −(1/s) · Σ g/n. Which mean is Σ g/n?",
        "Through s, the sum is −(1/s) · z_j · Σ g·z/n. Each mean is `np.mean(…, axis=-1, keepdims=True)`. Everything is divided by s.",
        (
            "Help: how do I test it?",
            "A shift of a row does not change z, so it must not change L: the gradient of each row adds up to 0. Call your result `b`, and print `b.sum(axis=-1)`.",
        ),
    ],
    solution="""
        layer_norm_x = lambda g, z, s: (
            g - np.mean(g, axis=-1, keepdims=True) - z * np.mean(g * z, axis=-1, keepdims=True)) / s""",
    explained="The first mean comes from the path through μ, and the second from the path through s. (x_j also moves s through μ. That contributes nothing, because all x_k − μ add up to 0.) Two sums test the rule without its derivation: if z does not change, neither does L, and L changes by about the sum of gradient times step. So along each row, the gradient adds up to 0 (a shift: all steps are equal), and the gradient times z adds up to nearly 0 (a stretch: each step is in proportion to z). The direct path alone, g/s, fails both tests.",
    why="With eps = 0 the rule removes the parts of g that would only shift or stretch the row, because neither changes z.",
    mistakes=[
        edit(
            _MEAN,
            "",
            _ALONG,
            "",
            "Both means are missing: x also changes the mean and s, and through them every entry of z.",
        ),
        edit(_ALONG, "", SECOND),
        edit(
            _MEAN,
            "",
            "The first mean is missing: x also changes the mean. If you raise a whole row, z stays the same.",
        ),
        edit(
            "(\n    g -",
            "g -",
            "keepdims=True)) / s",
            "keepdims=True) / s",
            "Divide the whole difference by s, not only its last term: put it in brackets.",
        ),
        edit(
            " / s",
            "",
            "The division by s is missing. It is a factor of all three paths: 1/s.",
        ),
        edit("/ s", "* s", "You multiply by s. z is divided by s, so divide here too."),
        edit("/ s", "/ s ** 2", "You divide by s twice."),
        edit("/ s", "/ s.mean()", "You use one s for all rows. Each row is divided by its own."),
        edit(
            "/ s",
            "/ s[0]",
            "You use the s of the first row for all rows. Each row is divided by its own.",
        ),
        edit(
            "/ s",
            "/ np.sqrt(s * s - 1e-5)",
            "s already contains eps, so use s unchanged.",
        ),
        edit(
            "np.mean(g * z, axis=-1, keepdims=True)",
            "np.mean(g * z, axis=-1, keepdims=True) / np.mean(z * z, axis=-1, keepdims=True)",
            "No divisor is needed there. The mean of z² is just below 1 because of eps, and s "
            "contains eps already.",
        ),
        edit(
            "np.mean(g * z, axis=-1, keepdims=True)",
            "np.sum(g * z, axis=-1, keepdims=True) / (z.shape[-1] - 1)",
            "You divide by n − 1. The variance here is a mean of all n squares.",
        ),
        edit(
            "g - np.mean(g, axis=-1, keepdims=True) - z * np.mean(",
            "z * (g - np.mean(g, axis=-1, keepdims=True) - np.mean(",
            "keepdims=True)) / s",
            "keepdims=True))) / s",
            "z is a factor of the second mean only, not of the whole bracket.",
        ),
        edit(
            "np.mean(g, axis",
            "np.sum(g, axis",
            "The first term is a mean too: each entry has a share of 1/n in the mean of the row.",
        ),
        edit(
            "np.mean(g * z, axis",
            "np.sum(g * z, axis",
            "The second is a mean too: each entry has a share of 1/n in the variance.",
        ),
        edit(
            "np.mean(g, axis",
            "np.sum(g, axis",
            "np.mean(g * z, axis",
            "np.sum(g * z, axis",
            "Both are n times too large: a mean is the sum divided by n, the number of entries in a row.",
        ),
        edit(" - np.mean(g,", " + np.mean(g,", "Subtract the first mean, do not add it."),
        edit(" - z * ", " + z * ", "Subtract the second mean, do not add it."),
        edit(
            " - z * ",
            " - ",
            "Multiply the second mean by z, because the part of g *along z* is subtracted.",
        ),
        edit("np.mean(g * z, axis", "np.mean(z, axis", SECOND),
        edit(
            "np.mean(g * z, axis",
            "np.mean(g, axis",
            "The second mean is that of g · z: it measures how far g and z point the same way.",
        ),
        edit(
            "np.mean(g * z, axis",
            "np.mean(z * z, axis",
            "The second mean is that of g · z. (The mean of z² does not depend on g.)",
        ),
        edit("    g -", "    1 -", "g itself is missing in the bracket."),
        edit(
            "np.mean(g, axis",
            "np.mean(g * z, axis",
            "np.mean(g * z, axis",
            "np.mean(g, axis",
            "The two means are swapped: the path through μ gives the mean of g, and that through s gives z times the mean of g · z.",
        ),
        edit(
            "z * np.mean(g * z, axis",
            "np.mean(z * g * z, axis",
            "z stands outside the mean: the factor z belongs to entry j, and the mean is over all i.",
        ),
        edit(
            "np.mean(g, axis=-1, keepdims=True)",
            "np.mean(g, axis=-1)",
            "np.mean(g * z, axis=-1, keepdims=True)",
            "np.mean(g * z, axis=-1)",
            LOST,
        ),
        edit(
            "np.mean(g, axis=-1, keepdims=True)",
            "np.mean(g, axis=0)",
            "np.mean(g * z, axis=-1, keepdims=True)",
            "np.mean(g * z, axis=0)",
            DOWN,
        ),
        edit("np.mean(g, axis=-1, keepdims=True)", "np.mean(g, axis=-1)", LOST),
        edit("np.mean(g * z, axis=-1, keepdims=True)", "np.mean(g * z, axis=-1)", LOST),
        edit("np.mean(g, axis=-1, keepdims=True)", "np.mean(g)", WHOLE),
        edit("np.mean(g * z, axis=-1, keepdims=True)", "np.mean(g * z)", WHOLE),
        edit(
            "np.mean(g, axis=-1, keepdims=True)",
            "np.mean(g)",
            "np.mean(g * z, axis=-1, keepdims=True)",
            "np.mean(g * z)",
            WHOLE,
        ),
        (
            lambda g, z, s: (
                (g - np.mean(g, axis=-1, keepdims=True)) / s
                - z * np.mean(g * z, axis=-1, keepdims=True)
            ),
            "Divide the whole difference by s, the last term too: put it in brackets.",
        ),
        edit(
            "(\n    g -",
            "g / s -",
            "keepdims=True)) / s",
            "keepdims=True)",
            "Divide the whole difference by s, not only g: put it in brackets.",
        ),
        edit(
            "np.mean(g * z, axis",
            "np.mean(g @ z.T, axis",
            "g @ z.T multiplies each row of g by every row of z. Multiply entry by entry: g * z.",
        ),
        (
            lambda g, z, s: (g - np.mean(g, axis=-1, keepdims=True) - g * z * z) / s,
            "g·z² is only the path from an entry to its own z. Through s each entry affects every z of its row: subtract z times the mean of g · z.",
        ),
        (
            lambda g, z, s: (
                (
                    g
                    - np.mean(g, axis=-1, keepdims=True)
                    - g * np.mean(z * z, axis=-1, keepdims=True)
                )
                / s
            ),
            "In the last term z and g have changed places. The term is z times the mean of g · z.",
        ),
        (
            lambda g, z, s: z * (g - np.sum(g * z, axis=-1, keepdims=True)),
            "That is softmax's rule. Here each row is shifted and scaled.",
        ),
        edit(
            _ALONG,
            _ALONG + " / s",
            "You divide the second mean by s twice: once is enough, outside the bracket.",
        ),
        edit(
            "np.mean(g, axis=-1, keepdims=True)",
            "np.sum(g, axis=-1, keepdims=True) / len(g)",
            "np.mean(g * z, axis=-1, keepdims=True)",
            "np.sum(g * z, axis=-1, keepdims=True) / len(g)",
            "len(g) is the number of rows. The mean of a row divides by the number of its entries, n, which is g.shape[-1].",
        ),
        sign_lost(_norm),
        doubled(_norm, "Exactly double: is one of the paths counted twice?"),
    ],
)
def norm(answer):
    if is_stub(answer):
        raise NotYet
    rng = np.random.default_rng(0)

    def build(d):
        x = d(d.size(), d.size())
        s = np.sqrt(x.var(axis=-1, keepdims=True) + d.choice(1e-5, 0.5))
        return d.g(*x.shape), (x - x.mean(axis=-1, keepdims=True)) / s, s

    examples = []
    for shape, eps in [((1, 3), 0), ((2, 4), 1e-5), ((5, 3), 0.5)]:
        x, g = 2 * rng.normal(size=shape).round(1), rng.normal(0.4, size=shape).round(1)
        g[0, 0] += 1
        s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
        examples.append((g, (x - x.mean(axis=-1, keepdims=True)) / s, s))
    expect_over(answer, _norm, build, first=examples, hints=norm.mistakes)
