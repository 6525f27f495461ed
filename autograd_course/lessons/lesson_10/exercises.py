"""Lesson 10: max and its ties, logsumexp, softmax, log_softmax, and the loss that is made of them."""

import numpy as np

import autograd_lib as ag

from ...grading import (
    Named,
    edit,
    exercise,
    expect_call,
    expect_over,
    expect_rule,
    is_stub,
    of_rule,
)
from ...grading.verdict import NotYet, brief
from ...quiz.texts import Question, card, prediction, recall

recall(
    "10",
    [
        Question(
            "X has the shape (2, 3), Y has (3, 4), and g arrives at `X @ Y`. What goes to X? (Lesson 09)",
            "g @ Y.T",
            "**g @ Y.T**: (2, 4) times (4, 3) is (2, 3), the shape of X.",
            ["g @ Y.T", "Y.T @ g", "g @ Y", "X.T @ g"],
        ),
        Question(
            "z is the mean of the four entries of x, and 1 arrives at z. What goes to each entry? (08)",
            0.25,
            "**1/4**: each entry is in the sum once, and the sum is divided by 4.",
        ),
        Question(
            "exp and tanh: their rules read g and one thing more. Which? (04)",
            "the output z",
            "**The output z**: the slope of exp is z itself, that of tanh is 1 − z².",
            ["the input x", "the output z", "both"],
        ),
    ],
)

prediction(
    "10.business",
    question="""The probabilities are 0.7, 0.2 and 0.1. You raise the logit of class 0 a little, and touch no other.
        What happens to the probability of class 1? And what do the three changes add up to?""",
    answer={"class 1": "falls", "all three changes": 0},
    choices={"class 1": ["stays", "rises", "falls"]},
    reveal="""It **falls**, and so does that of class 2. The changes add up to **0**, since the three always add up to 1: what class 0 gains
        the others lose.""",
)

prediction(
    "10.sure",
    question="""Class 0 is the true one, and the logits are 0, 20 and 0: sure, and wrong. What is the gradient of the
        cross-entropy at the three, to one decimal? And their sum?""",
    answer={"gradient": [-1, 1, 0], "sum": 0},
    tolerance=0.05,
    reveal="""**[−1, 1, 0]**, for p is (0, 1, 0) as far as one decimal shows, and onehot is (1, 0, 0). The sum is **0**, here and
        always: p and onehot both add up to 1.""",
)

prediction(
    "10.thousand",
    question="""Three logits give the probabilities 0.7, 0.2 and 0.1. Add 1000 to all three. What is the
        probability of class 0 on paper? And in floats, from `np.exp(x) / np.sum(np.exp(x))`?""",
    answer={"on paper": 0.7, "in floats": "nan"},
    choices={"in floats": ["0.7", "1.0", "inf", "nan"]},
    reveal="""On paper still **0.7**: the factor $e^{1000}$ stands above and below, and cancels. In floats **nan**: $e^{1000}$ is too large,
        so it is inf, and inf / inf is no number.""",
)

card(
    "10",
    [
        "max: the largest gets all that arrives, and the others 0. A tie shares.",
        "logsumexp is a softer max: its slopes are p = softmax x, and eˣ⁻ᶻ is p.",
        "softmax: p · (g − Σ g·p), row by row. No Jacobian is built.",
        "log_softmax: g − p · Σ g.",
        "Cross-entropy at the logits: (p − onehot) / N. Each row adds up to 0.",
        "c added to all logits leaves p as it is. So take the largest off first: then exp does not overflow.",
    ],
)


# --- 10.tie ---------------------------------------------------------------------------------------------------------------

IN_COLUMNS = (
    "That counts in each column. z is the largest of all of x: np.sum(x == z) counts them all."
)
IN_ROWS = "That counts in each row. z is the largest of all of x: np.sum(x == z) counts them all."
OPPOSITE = "−3 is as large in size as 3, and less. Only those that are equal to z share."


def _first(g, z, x):
    return g * (np.arange(x.size) == np.argmax(x)).reshape(x.shape)


@exercise(
    "10.tie",
    minutes=4,
    difficulty="optional",
    question="""
        Write the rule of `z = np.max(x)` so that a tie shares. Here x is any array, z and g are single numbers.""",
    stub="""
        max_x = lambda g, z, x: ...""",
    hints=[
        "How many are largest? `np.sum` of an array of True and False counts the True.",
        (
            "Help: I get 10, 0, 10 where 10 arrived",
            "That gives away 20 of 10. Divide by how many are largest.",
        ),
        ("Help: np.argmax", "It names the first of the largest only. `x == z` finds all of them."),
    ],
    solution="""
        max_x = lambda g, z, x: g * (x == z) / np.sum(x == z)""",
    explained="Without a tie the sum is 1, and the line says the same as `g * (x == z)`.",
    why="The parts add up to what arrived, as they must: raise all entries by c, and z rises by c.",
    mistakes=[
        edit("/ np.sum", "// np.sum", "// drops the rest: divide by how many there are with /."),
        edit(
            "np.sum(x == z)",
            "np.minimum(np.sum(x == z), 2)",
            "That is right for one and for two. As many as you like may tie: divide by how many there are.",
        ),
        edit("np.sum(x == z)", "np.sum(x == z, axis=0)", IN_COLUMNS),
        edit("np.sum(x == z)", "np.sum(x == z, axis=-1, keepdims=True)", IN_ROWS),
        edit(
            "(x == z) /",
            "(np.abs(x) == np.abs(z)) /",
            "np.sum(x == z)",
            "np.sum(np.abs(x) == np.abs(z))",
            OPPOSITE,
        ),
        edit(
            "np.sum(x == z)",
            "(x.size - np.unique(x).size + 1)",
            "That counts repeats, also of the smaller numbers. How many are largest? Count where x == z.",
        ),
        edit(
            "np.sum(x == z)",
            "np.unique(x, return_counts=True)[1].max()",
            "That counts the most frequent number. How many are largest? Count where x == z.",
        ),
        edit(
            "np.sum(x == z)",
            "np.unique(x).size",
            "That counts the different numbers in x. How many are largest? Count where x == z.",
        ),
        edit(
            "(x == z) /",
            "np.isclose(x, z) /",
            "np.sum(x == z)",
            "np.sum(np.isclose(x, z))",
            "What is nearly the largest is not the largest: an entry that is larger by a hair alone gets all.",
        ),
        edit(
            "g *",
            "g * x *",
            "np.sum(x == z)",
            "np.sum(x * (x == z))",
            "x is in the fraction, above and below: where the largest is 0, that is 0/0.",
        ),
        (
            lambda g, z, x: g * x * (x == z) / np.sum(x == z),
            "x is multiplied in: those that are largest share g, whatever their value.",
        ),
        (
            lambda g, z, x: g * (x == z),
            "Each of those that tie gets all of g: with two of them, 20 is given away of 10. Share it.",
        ),
        (
            lambda g, z, x: g * (x == z) / x.size,
            "That is divided by the number of all entries. Only those that are largest share: count them.",
        ),
        (
            lambda g, z, x: g * (x == z) / 2,
            "That is always halved, which is right for two that tie. Count those that tie.",
        ),
        *(
            (first, "The first of the largest gets it all. They tie: nobody is first.")
            for first in (
                _first,
                lambda g, z, x: g * (np.arange(len(x)) == np.argmax(x)),
                lambda g, z, x: g * (np.arange(x.size) == np.argmax(x)),
            )
        ),
        (
            lambda g, z, x: (x == z) / np.sum(x == z),
            "Off by the factor g: the upstream gradient is missing. Multiply by what arrives.",
        ),
        (
            lambda g, z, x: g * x / np.sum(x),
            "That is shared by size. Nothing of the smaller ones reaches z, so they get nothing.",
        ),
        (
            lambda g, z, x: g * np.exp(x) / np.sum(np.exp(x)),
            "Everybody gets a share here. Only the largest reach z.",
        ),
        (
            lambda g, z, x: g * (x == z) / np.sum(x),
            "That is divided by the sum of x. How many are largest? Count where x == z.",
        ),
        (lambda g, z, x: g * (x == z) / sum(x == z), IN_COLUMNS),
        (
            lambda g, z, x: g / np.sum(x == z),
            "One number came back, the share. Who gets it? Multiply by x == z.",
        ),
        *of_rule(ag.max, 0, inputs=[(np.array([3.0, 1.0, 3.0]),)]),
    ],
)
def tie(answer):
    if is_stub(answer):
        raise NotYet

    def build(d):
        x = d(*d.shape(1, 2, 3))
        if d.round % 3 == 0:
            x.flat[-1] = (
                x.max() if d.round % 2 else np.nextafter(x.max(), -np.inf)
            )  # a tie, and what is nearly one
        return d.g(), x.max(), x

    examples = [
        (10.0, max(x), np.array(x))
        for x in (
            [3.0, 1.0, 3.0],
            [1.0, 5.0, 2.0],
            [-1.0, -1.0, -4.0, -1.0, -1.0, -3.0],
            [3.0, -3.0, 1.0, 1.0, 1.0, 3.0],
        )
    ]
    expect_over(
        answer,
        lambda g, z, x: g * (x == z) / np.sum(x == z),
        build,
        first=examples,
        hints=tie.mistakes,
        tried=lambda g, z, x: (
            f"the rule for x of max, with g = {brief(g)}, z = {brief(z)}, x = {brief(x)}"
        ),
    )
    expect_rule(
        answer, ag.max, inputs=[(np.array([[top, 4.0], [4.0, 2.0]]),) for top in (1.0, 4.0)]
    )


# --- 10.normalise ---------------------------------------------------------------------------------------------------------


def _softmax(g, z, x, axis=-1):
    return z * (g - np.sum(g * z, axis=axis, keepdims=True))


P = np.array([0.7, 0.2, 0.1])  # what the lesson calls p outside of every rule
WHOLE = "That is summed over the whole array. Every row is a choice of its own: axis=-1 sums along each row."
LOST = (
    "An axis is lost, so the numbers do not stand beside their rows. keepdims=True keeps the axis."
)
COLUMNS = "That is summed down the columns. Rows are the batch: sum along each row, axis=-1."
WRONG_SOFTMAX = [
    (
        lambda g, z, x: g * z * (1 - z),
        "Here each logit minds its own business: that is the diagonal alone. The other p move "
        "too, and send something back.",
    ),
    (
        lambda g, z, x: g * z,
        "That is the top of the quotient alone. The bottom moves too: take off the sum.",
    ),
    (
        lambda g, z, x: z * (g - np.sum(g, axis=-1, keepdims=True)),
        "In the sum stands g · p, each arrival with its weight.",
    ),
    (
        lambda g, z, x: z * (g - z * np.sum(g, axis=-1, keepdims=True)),
        "p stands outside of the sum. Every arrival has a weight of its own: g · p inside.",
    ),
    (
        lambda g, z, x: g - np.sum(g * z, axis=-1, keepdims=True),
        "The bracket is right. The factor p in front of it is missing.",
    ),
    (
        lambda g, z, x: z * (1 - np.sum(g * z, axis=-1, keepdims=True)),
        "In the bracket stands g, what arrives, not 1.",
    ),
    (
        lambda g, z, x: z * (g - np.mean(g * z, axis=-1, keepdims=True)),
        "Take the sum, and no mean: the weights p add up to 1 already.",
    ),
    (
        lambda g, z, x: z * g - np.sum(g * z, axis=-1, keepdims=True),
        "The factor p is to multiply the whole bracket, also the sum.",
    ),
    (
        lambda g, z, x: x * (g - np.sum(g * x, axis=-1, keepdims=True)),
        "x stands where p belongs. p is the output: in the rule it is z.",
    ),
    (
        lambda g, z, x: z - np.sum(g * z, axis=-1, keepdims=True),
        "Where is g outside the sum? The bracket is g less the sum, times p.",
    ),
    (
        lambda g, z, x: -_softmax(g, z, x),
        "The size is right, and the sign is wrong: g less the sum, not the sum less g.",
    ),
    (
        lambda g, z, x, axis=-1: np.abs(_softmax(g, z, x)),
        "The signs are lost: what one gains, the others lose.",
    ),
    (
        lambda g, z, x, axis=-1: z * (g - np.max(g * z, axis=axis, keepdims=True)),
        "The largest is taken, where all are added: np.sum.",
    ),
    *(
        (wrong, "@ is a product of matrices. g and z multiply entry by entry: np.sum(g * z, …).")
        for wrong in (lambda g, z, x: z * (g - g @ z), lambda g, z, x: z * (g - g @ z.mT))
    ),
    (
        lambda g, z, x: P * (g - np.sum(g * P, axis=-1, keepdims=True)),
        "Every row gets p = [0.7, 0.2, 0.1] here, as in a cell above. p is the output, z.",
    ),
    (
        lambda g, z, x: P * (g - np.sum(g * P)),
        "Every row gets p = [0.7, 0.2, 0.1] here, as in a cell above. p is the output, z: sum along each row.",
    ),
    (
        lambda g, z, x: z * (g - (g * z).sum(-1, True)),
        "After the axis NumPy takes the dtype. Write it out: keepdims=True.",
    ),
    (
        lambda g, z, x: g - z * np.sum(g * z, axis=-1, keepdims=True),
        "The first g stands alone: p multiplies the whole bracket.",
    ),
    (
        lambda g, z, x: _softmax(g, np.exp(z), x),
        "z is p already, and needs no exp: it is log_softmax whose z is log p.",
    ),
    (
        lambda g, z, x: (np.diag(z) - np.outer(z, z)) @ g,
        "That is one row's Jacobian. Here are N rows, and no Jacobian is built: p · (g − Σ g·p), row by row.",
    ),
    (lambda g, z, x: z * (g - np.sum(g * z)), WHOLE),
    (lambda g, z, x: z * (g - np.sum(g * z, keepdims=True)), WHOLE),
    (lambda g, z, x: z * (g - np.sum(g * z, axis=-1)), LOST),
    (lambda g, z, x: z * (g - np.sum(g * z, axis=0)), COLUMNS),
    (lambda g, z, x: z * (g - np.sum(g * z, axis=0, keepdims=True)), COLUMNS),
    (
        lambda g, z, x: g - np.exp(z) * np.sum(g, axis=-1, keepdims=True),
        "That is the rule of log_softmax. Here z is p itself: the rule of softmax comes first.",
    ),
    (
        lambda g, z, x: z * (g + np.sum(g * z, axis=-1, keepdims=True)),
        "The bottom of the quotient works against the top: the sum is taken off g.",
    ),
]
WRONG_LOG = [
    (
        lambda g, z, x: g - z * np.sum(g, axis=-1, keepdims=True),
        "z is log p in this op. p itself is np.exp(z).",
    ),
    (
        lambda g, z, x: g - P * np.sum(g, axis=-1, keepdims=True),
        "Every row gets p = [0.7, 0.2, 0.1] here, as in a cell above. p is np.exp(z).",
    ),
    (
        lambda g, z, x: g - np.exp(z),
        "The second path brings what arrives at all outputs: p times the sum of g.",
    ),
    (
        lambda g, z, x: 1 - np.exp(z) * np.sum(g, axis=-1, keepdims=True),
        "The direct path brings its own arrival: g times ①, not 1.",
    ),
    (
        lambda g, z, x: g - np.sum(np.exp(z), axis=-1, keepdims=True),
        "That is g − 1, since p adds up to 1. What is summed is g, and p multiplies the sum from outside.",
    ),
    (
        lambda g, z, x: g - np.exp(z) * g,
        "The second path leads into every output: sum what arrives at all of them.",
    ),
    (
        lambda g, z, x: g - np.sum(g, axis=-1, keepdims=True),
        "The sum goes back through logsumexp, whose slopes are p: multiply the sum by p.",
    ),
    (
        lambda g, z, x: g - np.sum(np.exp(z) * g, axis=-1, keepdims=True),
        "p stands inside the sum. p is the slope at this one logit, p_j: "
        "p multiplies the sum from outside.",
    ),
    (
        _softmax,
        "That is softmax's rule, where z was p: here z is log p, and the direct path has the slope 1.",
    ),
    (
        lambda g, z, x: g - np.exp(z) * np.mean(g, axis=-1, keepdims=True),
        "Take the sum, and no mean: each output sends all of its g.",
    ),
    (
        lambda g, z, x: _softmax(g, np.exp(z), x),
        "That is softmax's rule once more. Here the direct path has the slope 1, not p.",
    ),
    (
        lambda g, z, x: g - np.exp(x) * np.sum(g, axis=-1, keepdims=True),
        "eˣ is not p yet: it is not divided by the sum. Take np.exp(z).",
    ),
    (
        lambda g, z, x: g + np.exp(z) * np.sum(g, axis=-1, keepdims=True),
        "logsumexp is taken off: its path has a minus.",
    ),
    (
        lambda g, z, x: g - np.exp(z) * np.sum(g * np.exp(z), axis=-1, keepdims=True),
        "g · p is summed in softmax's rule. Here every output brings its g as it is.",
    ),
    (lambda g, z, x: g, "That is the direct path alone. The other one goes through logsumexp."),
    (
        lambda g, z, x: 1 - np.exp(z),
        "Off by the factor g: the upstream gradient is missing, on both paths.",
    ),
    (
        lambda g, z, x: np.exp(z) * np.sum(g, axis=-1, keepdims=True) - g,
        "The right size with the wrong sign.",
    ),
    (
        lambda g, z, x: g / np.exp(z),
        "That is the log's rule alone. In front of it stands softmax, where all logits meet.",
    ),
    (
        lambda g, z, x: g - np.sum(g, axis=-1, keepdims=True) / g.shape[-1],
        "A mean of g is taken off. Each output has its own share of the sum: p.",
    ),
    (lambda g, z, x: g - np.exp(z) * np.sum(g), WHOLE),
    (lambda g, z, x: g - np.exp(z) * np.sum(g, axis=-1), LOST),
    (lambda g, z, x: g - np.exp(z) * np.sum(g, axis=0), COLUMNS),
    (lambda g, z, x: g - np.exp(z) * np.sum(g, axis=0, keepdims=True), COLUMNS),
]


def _overflown(got, expected):
    return (
        None
        if np.all(np.isfinite(got))
        else (
            "exp(x) is inf or 0 there, and some p are 0. Do you take exp(x), or divide by p? All that the rule needs of x "
            "is in z already."
        )
    )


@exercise(
    "10.normalise",
    minutes=9,
    difficulty="medium",
    question="""
        Write both rules. g, z and x have the same shape: (N, C), for N rows of C classes, or one with more axes. `z` is
        what the op gave: p for softmax, log p for log_softmax. Sum along `axis`: −1 is the last axis,
        so each row is summed.""",
    stub="""
        softmax_x = lambda g, z, x, axis=-1: ...
        log_softmax_x = lambda g, z, x, axis=-1: ...""",
    hints=[
        "The first rule is the box of softmax, with z for p. The sum is `np.sum(…, axis=axis, keepdims=True)`; "
        "keepdims makes it fit its row.",
        "① is 1 and ② is $-p_j$. In the second rule p is `np.exp(z)`.",
        (
            "Help: operands could not be broadcast",
            "The sum of each row has the shape (N,). With `keepdims=True` it is (N, 1).",
        ),
    ],
    solution="""
        softmax_x = lambda g, z, x, axis=-1: z * (g - np.sum(g * z, axis=axis, keepdims=True))
        log_softmax_x = lambda g, z, x, axis=-1: g - np.exp(z) * np.sum(g, axis=axis, keepdims=True)""",
    explained="Neither rule reads x: the output z is enough.",
    why="Two lines stand in place of N Jacobians, each C by C.",
)
def normalise(answer):
    if any(map(is_stub, answer)):
        raise NotYet
    to_x, to_log_x = answer
    x = np.log([[7.0, 2.0, 1.0], [2.0, 1.0, 1.0]])
    p = np.array([[0.7, 0.2, 0.1], [0.5, 0.25, 0.25]])
    for rule, row, z, g, gives, hints in [
        (
            to_x,
            ag.softmax,
            p,
            [[1, 0, 0], [0, 1, 0]],
            [[0.21, -0.14, -0.07], [-0.125, 0.1875, -0.0625]],
            WRONG_SOFTMAX,
        ),
        (
            to_log_x,
            ag.log_softmax,
            np.log(p),
            [[1, 2, 0], [0, 1, 0]],
            [[-1.1, 1.4, -0.3], [-0.5, 0.75, -0.25]],
            WRONG_LOG,
        ),
    ]:
        expect_call(
            rule,
            np.array(g, float),
            z,
            x,
            gives=np.array(gives),
            hints=hints,
            tried=f"the rule for x of {row.name}, with g = {g}, where p = {p.tolist()}",
        )

        def build(d, row=row):
            x = d(*d.shape(2, 2, 3))
            named = (
                Named()
                if d.round % 5 == 4
                else Named(axis=d.choice(-1, -1, *range(-x.ndim, x.ndim)))
            )
            return d.g(*x.shape), row.function(x, **named), x, named

        two, g = np.random.default_rng(0).normal(size=(2, 2, 3, 4)).round(2)
        examples = [
            (g, row.function(two, **named), two, named)
            for named in (Named(axis=-1), Named(), *(Named(axis=axis) for axis in range(-3, 3)))
        ]
        expect_over(
            rule,
            row.rules[0],
            build,
            first=examples,
            tried=lambda g, z, x, named, row=row: (
                f"the rule for x of {row.name}, a batch of shape {x.shape}, with "
                + (f"axis={named['axis']}" if named else "axis left out")
            ),
            hints=[
                *hints,
                *of_rule(row, inputs=[(np.array([[0.5, -1.0, 2.0], [0.0, 0.0, 3.0]]),)]),
                (
                    lambda g, z, x, axis=-1: row.rules[0](g, z, x),
                    "axis is passed to the rule, and here it is not −1: sum along it.",
                ),
                (
                    lambda g, z, x, axis=1: row.rules[0](g, z, x, axis=axis),
                    "axis left out is −1, and −1 is the last, however many there are: axis=-1 before the colon.",
                ),
                (
                    lambda g, z, x, axis=-1: row.rules[0](g, z, x, axis=1 if axis == -1 else axis),
                    "That sums along axis 1. −1 is the last axis, however many there are: hand axis on as it is.",
                ),
            ],
        )
        large = np.array(
            [[1000.0, 0.0, -1000.0], [-1000.0, -1001.0, -1000.0], [1000.0, 980.0, 999.0]]
        )
        g = np.array(
            [[0.5, 1, -2], [1, -0.25, 2], [0.5, -1e9, 1]]
        )  # as a log sends where p is small
        z = row.function(large)
        with np.errstate(all="ignore"):
            expect_call(
                rule,
                g,
                z,
                large,
                gives=row.rules[0](g, z, large),
                hints=[_overflown],
                tried=f"the rule for x of {row.name} at logits of ±1000",
            )


# --- 10.loss --------------------------------------------------------------------------------------------------------------


def _onehot(x, target):
    return np.arange(x.shape[-1]) == target[:, None]


MOVED = "The targets have changed places. Row n wants target[n]."
PASSED = "A rule has what is passed to it: N is len(target), C is x.shape[-1], and onehot is the comparison of the two."


def _undefined(name):
    """A rule that counts on a name of the prose."""

    def rule(g, z, x, target):
        raise NameError(f"name '{name}' is not defined")

    return rule


@exercise(
    "10.loss",
    minutes=6,
    difficulty="medium",
    question="""
        Write the rule of `nll_loss`: what goes to x, the log-probabilities of shape (N, C). Here g is one number, and `target` holds N
        class numbers.""",
    stub="""
        nll_loss_x = lambda g, z, x, target: ...""",
    hints=[
        "Which entries of x does z read? Raise one of them by 1: what does z do? The others get 0, and onehot has the zeros already.",
        ("Help: my numbers are N times too big", "A mean over N rows: where is the 1/N?"),
        (
            "Help: onehot, N or C is not defined",
            "A rule has what is passed to it: N is `len(target)`, C is `x.shape[-1]`, "
            "and onehot is the comparison above.",
        ),
        (
            "Help: operands could not be broadcast",
            "`np.arange(C)` is a row, so target has to be a column: `target[:, None]`.",
        ),
    ],
    solution="""
        nll_loss_x = lambda g, z, x, target: -g * (np.arange(x.shape[-1]) == target[:, None]) / len(target)""",
    explained="The values of x do not matter: picking and averaging are linear.",
    why="In each row one entry gets −g/N, and the others get 0. That is all that the loss itself sends back.",
    mistakes=[
        edit("-g *", "-abs(g) *", "The sign of g is lost: g multiplies as it is."),
        (
            lambda g, z, x, target: -g * _onehot(x, target),
            "That is N times too big: the loss is a mean over the N rows.",
        ),
        (
            lambda g, z, x, target: g * _onehot(x, target),
            "That is N times too big, and has the wrong sign: the loss is a mean over N rows, of minus log p.",
        ),
        (
            lambda g, z, x, target: g * _onehot(x, target) / len(target),
            "The size is right, and the sign is wrong: the loss is minus log p.",
        ),
        (
            lambda g, z, x, target: -g * _onehot(x, target) / x.size,
            "That is divided by the number of all entries. One entry is read in each row: divide by N.",
        ),
        (
            lambda g, z, x, target: -g * _onehot(x, target) / x.shape[-1],
            "That is divided by the number of classes. The mean is over the N rows.",
        ),
        (
            lambda g, z, x, target: -1 * _onehot(x, target) / len(target),
            "Off by the factor g: the upstream gradient is missing.",
        ),
        (
            lambda g, z, x, target: -_onehot(x, target),
            "True and False take no minus. Put the minus in front of g: -g * (…).",
        ),
        *((_undefined(name), PASSED) for name in ("onehot", "N", "C")),
        (
            lambda g, z, x, target: -g * _onehot(x, target) / 2,
            "That is right for two rows. How many has any batch? len(target).",
        ),
        (
            lambda g, z, x, target: -g * (np.arange(3) == target[:, None]) / len(target),
            "That is right for three classes. Any x has x.shape[-1].",
        ),
        (
            lambda g, z, x, target: -g / x * _onehot(x, target) / len(target),
            "x is log p already. Raise it by 1: z falls by 1/N.",
        ),
        (
            lambda g, z, x, target: -g / np.exp(x) * _onehot(x, target) / len(target),
            "−1/p is the slope along p. x is log p already: raise it by 1, and z falls by 1/N.",
        ),
        (
            lambda g, z, x, target: -g * x * _onehot(x, target) / len(target),
            "x is multiplied in. Raise it by 1: z falls by 1/N, always.",
        ),
        (
            lambda g, z, x, target: -g * np.exp(x) * _onehot(x, target) / len(target),
            "p is multiplied in. x is log p: its slope is −1/N.",
        ),
        *(
            (
                wrong,
                "p − onehot belongs to cross-entropy, one operation further back, at the logits. "
                "nll_loss only picks and averages.",
            )
            for wrong in (
                lambda g, z, x, target: g * (np.exp(x) - _onehot(x, target)) / len(target),
                lambda g, z, x, target: (np.exp(x) - _onehot(x, target)) / len(target),
                lambda g, z, x, target: np.exp(x) - _onehot(x, target) / len(target),
            )
        ),
        (
            lambda g, z, x, target: -g * (np.arange(len(x)) == target[:, None]) / len(target),
            "len(x) is N, the rows. The classes are the columns: x.shape[-1].",
        ),
        (
            lambda g, z, x, target: -g * (np.arange(x.shape) == target[:, None]) / len(target),
            "x.shape is (N, C). C is x.shape[-1].",
        ),
        (
            lambda g, z, x, target: -g * _onehot(x, target) / len(g),
            "g and z are single numbers, and have no rows. N is len(target).",
        ),
        (
            lambda g, z, x, target: -g * np.mean(_onehot(x, target)),
            "np.mean leaves one number. Each entry keeps its place: divide by N.",
        ),
        (
            lambda g, z, x, target: -g * np.ones_like(x) / len(target),
            "Every entry gets a share here. Only those at the target were read.",
        ),
        (
            lambda g, z, x, target: -g * (np.arange(x.shape[-1]) == target) / len(target),
            "target has to stand as a column beside the row of class numbers: target[:, None].",
        ),
        (
            lambda g, z, x, target: -g / len(target),
            "One number came back. Which entries get it? Multiply by onehot.",
        ),
        edit("/ len(target)", "// len(target)", "// drops the rest: divide by N with /."),
        edit(
            "len(target)",
            "np.unique(target).size",
            "That counts the different classes in target. N is how many targets there are: len(target).",
        ),
        edit(
            "np.arange(x.shape[-1])",
            "np.unique(target)",
            "Those are only the classes that occur in target. There may be more: np.arange(x.shape[-1]).",
        ),
        edit(
            "x.shape[-1]",
            "(np.max(target) + 1)",
            "Those are only the classes up to the largest in target. There may be more: np.arange(x.shape[-1]).",
        ),
        edit(
            "len(target)",
            "np.sum(target)",
            "That adds the class numbers up. N is how many there are: len(target).",
        ),
        edit(
            "len(target)",
            "np.max(target)",
            "That is the largest class number. N is how many targets there are: len(target).",
        ),
        edit("target[:, None]", "target[::-1, None]", MOVED),
        edit("target[:, None]", "np.sort(target)[:, None]", MOVED),
        edit(
            "(np.arange(x.shape[-1]) == target[:, None])",
            "(x == np.min(x, axis=-1, keepdims=True))",
            "That finds the least likely class of each row. The true one is told by target.",
        ),
        edit(
            "(np.arange(x.shape[-1]) == target[:, None])",
            "(x == np.max(x, axis=-1, keepdims=True))",
            "That finds the most likely class of each row. The true one is told by target.",
        ),
        edit(
            "(np.arange(x.shape[-1]) == target[:, None])",
            "np.eye(len(target))[target]",
            "len(target) is N, the rows. The classes are the columns: x.shape[-1].",
        ),
    ],
)
def loss(answer):
    if is_stub(answer):
        raise NotYet
    p = np.array([[0.2, 0.7, 0.1], [0.25, 0.25, 0.5]])
    example = 10.0, (-np.log(0.1) - np.log(0.25)) / 2, np.log(p), np.array([2, 0])

    def build(d):
        classes = d.size()
        target = d.places(classes, d.size())
        x = ag.log_softmax.function(d(len(target), classes))
        return d.g(), ag.nll_loss.function(x, target), x, target

    def right(*args):
        return ag.nll_loss.rules[0](*args) + 0.0  # 0 in place of −0

    expect_over(
        answer,
        right,
        build,
        first=[example],
        hints=loss.mistakes,
        tried=lambda g, z, x, target: (
            f"the rule for x of nll_loss, with g = {brief(g)}, target = {target.tolist()}, and {x.shape[1]} classes"
        ),
    )


# --- 10.careful -----------------------------------------------------------------------------------------------------------


def _shifted(by):
    """logsumexp with another number taken off before exp."""
    return lambda x: np.log(np.sum(np.exp(x - by(x)))) + by(x)


def _right(x):
    return _shifted(np.max)(x)


@exercise(
    "10.careful",
    minutes=4,
    difficulty="medium",
    question="""
        Write logsumexp for one row x that holds at ±1000, and beyond: take the largest off before exp, and put it back
        where it belongs.""",
    stub="""
        def my_logsumexp(x):
            ...""",
    hints=[
        "$s$ has lost the factor $e^m$. What has $\\log s$ lost?",
        (
            "Help: inf, or −inf",
            "exp still sees a number above 709, or only numbers far below 0. What has to be taken off to make the "
            "largest exactly 0?",
        ),
    ],
    solution="""
        def my_logsumexp(x):
            m = np.max(x)
            return np.log(np.sum(np.exp(x - m))) + m""",
    explained="""Now the largest term is $e^0 = 1$. So exp does not overflow, and the sum is at least 1, so its log is
        finite. (For any finite x.)""",
    why="The same number on paper, and in floats it holds where the plain formula fails.",
    mistakes=[
        (
            lambda x: np.log(np.sum(np.exp(x - np.max(x)))),
            "The largest was taken off and never put back. What has log s lost?",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x - np.max(x))) + np.max(x)),
            "The largest is put back inside the log, and belongs outside: the log of a product is a sum.",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x - np.max(x)))) * np.max(x),
            "The factor eᵐ of the sum is an addend of its log: add m.",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x - np.max(x)))) - np.max(x),
            "The largest was taken off. To put it back, add it.",
        ),
        (lambda x: np.sum(np.exp(x - np.max(x))) + np.max(x), "Where is the log?"),
        (np.max, "That is the maximum alone. What do the others add?"),
        (
            lambda x: np.exp(x - _right(x)),
            "Those are the probabilities. One number is asked for, log Σ eˣ.",
        ),
        (
            _shifted(np.median),
            "Less than the largest is taken off: is it the median? Which number makes the largest exactly 0?",
        ),
        (_shifted(lambda x: x[-1]), "The last is taken off, and another one may be larger."),
        (
            _shifted(np.mean),
            "The largest is still far above what is taken off: the mean? Which number makes the largest exactly 0?",
        ),
        (_shifted(lambda x: x[0]), "The first is taken off, and another one may be larger."),
        (
            lambda x: np.log2(np.sum(np.exp2(x - np.max(x)))) + np.max(x),
            "Those are powers of 2 and log2. Powers of e are meant: np.exp, np.log.",
        ),
        (
            lambda x: np.log(np.mean(np.exp(x - np.max(x)))) + np.max(x),
            "That is a mean of the powers. logsumexp adds them up: np.sum.",
        ),
        (lambda x: np.max(x) + np.sum(np.exp(x - np.max(x))) - 1, "Where is the log?"),
        (_shifted(np.sum), "The sum is taken off. Which number makes the largest exactly 0?"),
        (
            _shifted(np.min),
            "The smallest is taken off: what is left is 0 or above, and can still be large. Which "
            "number makes the largest exactly 0?",
        ),
        (
            _shifted(lambda x: max(np.max(x), 0)),
            "All are far below 0, and the largest has not become 0. Take the largest off, whatever its sign.",
        ),
        (
            _shifted(lambda x: np.max(np.abs(x))),
            "The largest size, |x|, is taken off, here 5000. Take the largest x.",
        ),
        (
            _shifted(lambda x: 1000),
            "1000 is always taken off: what of −300? Take off what is there, the largest of x.",
        ),
        (
            lambda x: np.log(np.sum(np.exp(np.clip(x, -700, 700)))),
            "A logit that is cut off at 700 is another number.",
        ),
        (
            lambda x: np.log1p(np.sum(np.exp(x - np.max(x)))) + np.max(x),
            "A 1 too many is in the sum, as log1p adds one: the largest has brought its own, e⁰.",
        ),
        (
            lambda x: np.log10(np.sum(np.exp(x - np.max(x)))) + np.max(x),
            "That is log10. The natural logarithm is meant: np.log.",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x))),
            "exp sees a number above 709 here, whose power is too large for a float. What makes the largest 0?",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x) - np.max(x))) + np.max(x),
            "The largest is taken off after exp. Take it off before: np.exp(x - m).",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x)) - np.max(x)) + np.max(x),
            "The largest is taken off the sum. Take it off the logits: np.exp(x - m).",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x) / np.exp(np.max(x)))) + np.max(x),
            "exp still sees 1000, twice. Take one exp, of x - m.",
        ),
        (lambda x: np.log(np.exp(x - np.max(x))) + np.max(x), "That is x again. Where is the sum?"),
        (
            lambda x: np.log(np.sum(np.exp(x))) + np.max(x),
            "The largest is added, but never taken off before exp.",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x - np.max(x)))) + np.exp(np.max(x)),
            "The log of the factor eᵐ is m: add m.",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x - np.max(x)))) * np.exp(np.max(x)),
            "The factor eᵐ of the sum is an addend of its log: add m.",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x - np.max(x)))) + np.log(np.max(x)),
            "The log of the factor eᵐ is m: add m.",
        ),
        (
            lambda x: np.sum(np.log(np.exp(x - np.max(x)))) + np.max(x),
            "First the sum, then its log: np.log(np.sum(…)).",
        ),
    ],
)
def careful(answer):
    if is_stub(answer):
        raise NotYet
    # What else may be taken off fails in a case of its own: nothing, the smallest, the last, the mean, the median,
    # the first, 1000, the largest size.
    examples = [
        (np.array(x, float),)
        for x in [
            np.log([7, 2, 1]),
            [1000, 999],
            [1000, 0, 900],
            [1000, 900, 0],
            [1000, -5000, 1000],
            [1000, 0, 0, 0],
            [0, 1000],
            [-300, -301],
            [-1000, -1001],
            [1000, -1000],
            [5000, 0],
            [708] * 9,
            [-1e30, -2e30],
        ]
    ]
    expect_over(
        answer,
        lambda x: float(_right(x)),
        lambda d: (d(d.size()),),
        first=examples,
        hints=careful.mistakes,
        tried=lambda x: f"my_logsumexp of x = {np.round(x, 3).tolist()}",
    )
