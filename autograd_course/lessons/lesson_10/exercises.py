"""Ask the questions of lesson 10: max and its ties, logsumexp, softmax, log_softmax and cross-entropy."""

import numpy as np

import autograd_lib as ag

from ...derivations import Step, derivation
from ...grading import (
    Named,
    edit,
    exercise,
    expect_call,
    expect_over,
    expect_own_work,
    expect_rule,
    is_stub,
    of_rule,
)
from ...grading.causes import Cause
from ...grading.sentences import brief
from ...grading.verdict import NotYet
from ...quiz.texts import Question, card, prediction, recall

recall(
    "10",
    [
        Question(
            "X has shape (2, 3), Y has shape (3, 4), and g is the upstream gradient of `X @ Y`. What is the gradient of X? (Lesson 09)",
            "g @ Y.T",
            "**g @ Y.T**: (2, 4) times (4, 3) is (2, 3), the shape of X.",
            ["g @ Y.T", "Y.T @ g", "g @ Y", "X.T @ g"],
        ),
        Question(
            "z is the mean of the four entries of x, and its upstream gradient is 1. What is the gradient of each entry? (08)",
            0.25,
            "**1/4**: each entry occurs once in the sum, and the sum is divided by 4.",
        ),
        Question(
            "The rules of exp and tanh use g and one more value. Which one? (04)",
            "the output z",
            "**The output z**: the derivative of exp is z itself, and that of tanh is 1 − z².",
            ["the input x", "the output z", "both"],
        ),
    ],
)

_LOCAL = "g is the upstream gradient, for the last line. This line asks for a local gradient."
_VALUE = "That is a value, not a derivative."
_OTHER = "i is not j, so x[i] adds no 1."
_FIRST = "Only output j has the 1."
derivation(
    "10.log_softmax",
    letters={"x": (3,), "g": (3,), "s": "sum_k e^x[k]", "p[j]": "e^x[j] / s"},
    sizes={"i": 3, "j": 3, "k": 3},
    steps=(
        Step(
            r"i \ne j: \quad \frac{\partial \log p_i}{\partial x_j} =",
            "-p[j]",
            "only log s depends on this logit",
            letters="p",
            indices="ij",
            mistakes=(
                ("p[j]", "log s is subtracted. So what is the sign?"),
                ("-e^x[j]", "That is the derivative of −s. The log divides it by s."),
                ("-1/s", "Multiply by the derivative of s with respect to x[j]."),
                ("-log s", _VALUE),
                ("1/s", "log s is subtracted, and s changes too."),
                ("-1", "x[j] is only one of the logits in s."),
                ("1 - p[j]", _OTHER),
                ("1", _OTHER),
                ("-g[i] p[j]", _LOCAL),
                ("-p[j] sum_i g[i]", _LOCAL),
                ("0", "Every log p contains log s, and every logit is part of s."),
            ),
            rivals=("a quotient changes by −quotient / denominator", "the logits add up to 0"),
        ),
        Step(
            r"\frac{\partial \log p_j}{\partial x_j} =",
            "1 - p[j]",
            "the logit itself adds 1",
            letters="p",
            indices="j",
            mistakes=(
                ("-p[j]", "Here the logit also appears by itself, in x − log s."),
                ("p[j]", "Differentiate both terms of x − log s."),
                ("x[j] - p[j]", "What is the derivative of x[j] with respect to x[j]?"),
                ("1 - log s", "What is the derivative of log s?"),
                ("1 - 1/s", "Multiply 1/s by the derivative of s with respect to x[j]."),
                ("1/p[j]", "That is with respect to p[j]. Use x − log s."),
                ("0", "The two terms of x − log s do not cancel."),
                ("g[j] - p[j]", _LOCAL),
                ("g[j] (1 - p[j])", _LOCAL),
            ),
        ),
        Step(
            r"\frac{\partial L}{\partial x_j} =",
            "g[j] - p[j] sum_i g[i]",
            "each output is a path, so sum over the paths",
            letters="g p",
            indices="j",
            mistakes=(
                (
                    "g[j] (1 - p[j])",
                    "That is only the path through output j. The logit reaches L through every output.",
                ),
                (
                    "g[j] (1 - p[j]) - p[j] sum_i g[i]",
                    "The sum runs over all i, so it counts output j again. Its −p[j] is already in the first term.",
                ),
                (
                    "g[j] - p[j]",
                    "That holds only if the upstream gradients add up to 1. Output i contributes −p[j] times g[i].",
                ),
                ("sum_i g[i] (1 - p[j])", _FIRST + " The other outputs have −p[j]."),
                ("sum_i g[i] - p[j]", _FIRST),
                ("sum_i g[i] - p[j] g[j]", _FIRST),
                ("1 - p[j] sum_i g[i]", "Output j contributes g[j] · (1 − p[j])."),
                ("1 - p[j]", "Multiply by the upstream gradients, and sum the paths."),
                ("1 - 2 p[j]", "Multiply by the upstream gradients, and sum the paths."),
                ("p[j] g[j]", "Use the two lines above: 1 − p[j] and −p[j]."),
                ("sum_i (g[i] - p[j])", "Multiply by the upstream gradients."),
                ("g[j] (1 - p[j]) + p[j] sum_i g[i]", "The other outputs contribute −p[j] g[i]."),
                ("g[j] - sum_i p[i]", "Output i contributes −p[j] g[i]."),
                (
                    "p[j] (g[j] - sum_i g[i] p[i])",
                    "That is the rule of softmax. Here −p does not depend on i.",
                ),
                (
                    "g[j] - sum_i g[i] p[i]",
                    "Which logit do you nudge? You nudge x[j], and through log s it changes every log p[i] by −p[j].",
                ),
                (
                    "p[j] (g[j] - sum_i g[i])",
                    "p[j] is the derivative of log s, so it multiplies only the sum. The direct path has the derivative 1.",
                ),
                (
                    "p[j] - g[j]",
                    "The signs are reversed: x[j] is added, and log s is subtracted. Also, log s is in every output: sum their g[i].",
                ),
            ),
        ),
    ),
)

prediction(
    "10.business",
    question="""The probabilities are 0.7, 0.2 and 0.1. You raise the logit of class 0 a little, and leave the others unchanged.
        What happens to the probability of class 1? And what do the three changes add up to?""",
    answer={"class 1": "falls", "all three changes": 0},
    choices={"class 1": ["stays", "rises", "falls"]},
    reveal="""It **falls**, and so does the probability of class 2. The changes add up to **0**, because the probabilities always add up to
        1: what class 0 gains, the others lose.""",
)

prediction(
    "10.sure",
    question="""Class 0 is the true one, and the logits are 0, 20 and 0: the model is confident, and wrong. What is the gradient
        of the cross-entropy with respect to the three logits, to one decimal place? And what is its sum?""",
    answer={"gradient": [-1, 1, 0], "sum": 0},
    tolerance=0.05,
    reveal="""**[−1, 1, 0]**, because p is (0, 1, 0) to one decimal place, and onehot is (1, 0, 0). The sum is always **0**,
        because p and onehot both add up to 1.""",
)

prediction(
    "10.thousand",
    question="""The logits log 7, log 2 and 0 give the probabilities 0.7, 0.2 and 0.1. Add 1000 to each. What is the probability of class 0
        on paper? And in floats, from `np.exp(x) / np.sum(np.exp(x))`?""",
    answer={"on paper": 0.7, "in floats": "nan"},
    choices={"in floats": ["0.7", "1.0", "inf", "nan"]},
    reveal="""On paper still **0.7**: the factor $e^{1000}$ is in both the numerator and the denominator, so it cancels. In floats, **nan**: $e^{1000}$
        is too large, so it becomes inf, and inf / inf is not a number.""",
)

card(
    "10",
    [
        "max routes: the largest entry receives g, the others 0. Equal largest entries share g.",
        "logsumexp is a smooth max. Its derivatives are p = softmax(x), which is eˣ⁻ᶻ.",
        "softmax: p · (g − Σ g·p), row by row, without the Jacobian.",
        "log_softmax: g − p · Σ g.",
        "The gradient of cross-entropy with respect to the logits: (p − onehot) / N. Each row adds up to 0.",
        "Adding c to all logits does not change p. So subtract the largest logit first: then exp cannot overflow.",
    ],
)


# --- 10.tie ---------------------------------------------------------------------------------------------------------------

IN_COLUMNS = "That counts in each column. z is the largest entry of all of x: np.sum(x == z) counts in all of x."
IN_ROWS = "That counts in each row. z is the largest entry of all of x: np.sum(x == z) counts in all of x."
OPPOSITE = "−3 has the same absolute value as 3, but it is smaller. Only entries equal to z share."


def _first(g, z, x):
    return g * (np.arange(x.size) == np.argmax(x)).reshape(x.shape)


@exercise(
    "10.tie",
    minutes=4,
    difficulty="optional",
    importance=1,
    question="""
        Write the rule for `z = np.max(x)` that shares g equally in a tie. Here x is any array, and z and g are single numbers.""",
    stub="""
        max_x = lambda g, z, x: ...""",
    hints=[
        "How many entries are the largest? `np.sum` of an array of True and False counts how many are True.",
        (
            "Help: I get 10, 0, 10 for g = 10",
            "That adds up to 20, not to 10. Divide by the number of largest entries.",
        ),
        (
            "Help: np.argmax",
            "`np.argmax` finds only the first of the largest entries. `x == z` finds all of them.",
        ),
    ],
    solution="""
        max_x = lambda g, z, x: g * (x == z) / np.sum(x == z)""",
    explained="Without a tie, the sum is 1, and the rule is the same as `g * (x == z)`.",
    why="The parts add up to g, as they must: when all entries rise by c, z rises by c.",
    mistakes=[
        edit("/ np.sum", "// np.sum", "// truncates: divide with /."),
        edit(
            "np.sum(x == z)",
            "np.minimum(np.sum(x == z), 2)",
            "That is right for one or two largest entries. More than two may tie: divide by their number.",
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
            "That also counts repeats of smaller numbers. How many entries are the largest? Count where x == z.",
        ),
        edit(
            "np.sum(x == z)",
            "np.unique(x, return_counts=True)[1].max()",
            "That counts the most frequent number. How many entries are the largest? Count where x == z.",
        ),
        edit(
            "np.sum(x == z)",
            "np.unique(x).size",
            "That counts the distinct numbers in x. How many entries are the largest? Count where x == z.",
        ),
        edit(
            "(x == z) /",
            "np.isclose(x, z) /",
            "np.sum(x == z)",
            "np.sum(np.isclose(x, z))",
            "An entry that is almost the largest gets nothing, even if the difference is tiny.",
        ),
        edit(
            "g *",
            "g * x *",
            "np.sum(x == z)",
            "np.sum(x * (x == z))",
            "x is in the numerator and the denominator: if the largest entry is 0, that is 0/0.",
        ),
        (
            lambda g, z, x: g * x * (x == z) / np.sum(x == z),
            "You multiply by x. The largest entries share g equally, for any value.",
        ),
        (
            lambda g, z, x: g * (x == z),
            "Each of the tied entries gets all of g: with two of them, the parts add up to 20, not 10. Share g.",
        ),
        (
            lambda g, z, x: g * (x == z) / x.size,
            "You divide by the number of all entries. Only the largest entries share: count them.",
        ),
        (
            lambda g, z, x: g * (x == z) * np.sum(x == z),
            "You multiply by the number of largest entries. They share g: divide by this number.",
        ),
        (
            lambda g, z, x: g * (x == z) / 2,
            "You always halve g, which is right for two tied entries. Count the tied entries.",
        ),
        (
            lambda g, z, x: g * (x == z) / len(x),
            "len(x) is the length of x. Only the largest entries share: count them.",
        ),
        *(
            (
                first,
                "Only the first of the largest entries gets g. In a tie, all of the largest entries share it.",
            )
            for first in (
                _first,
                lambda g, z, x: g * (np.arange(len(x)) == np.argmax(x)),
                lambda g, z, x: g * (np.arange(x.size) == np.argmax(x)),
                lambda g, z, x: np.eye(len(x))[np.argmax(x)] * g,
            )
        ),
        (
            lambda g, z, x: (x == z) / np.sum(x == z),
            Cause("no g"),
        ),
        (
            lambda g, z, x: g * x / np.sum(x),
            "You share g in proportion to x. The smaller entries do not affect z, so they get 0.",
        ),
        (
            lambda g, z, x: g * np.exp(x) / np.sum(np.exp(x)),
            "Here every entry gets a part. Only the largest entries affect z.",
        ),
        (
            lambda g, z, x: g * (x == z) / np.sum(x),
            "You divide by the sum of x. How many entries are the largest? Count where x == z.",
        ),
        (lambda g, z, x: g * (x == z) / sum(x == z), IN_COLUMNS),
        (
            lambda g, z, x: g / np.sum(x == z),
            "You return one number, the part. Which entries get it? Multiply by x == z.",
        ),
        *of_rule(ag.max, 0, inputs=[(np.array([3.0, 1.0, 3.0]),)]),
    ],
    playground="""
        x = [3, 1, 3]
        z = max(x)""",
)
def tie(answer):
    if is_stub(answer):
        raise NotYet

    def build(d):
        x = d(*d.shape(1, 2, 3))
        if d.round % 3 == 0:
            x.flat[-1] = (
                x.max() if d.round % 2 else np.nextafter(x.max(), -np.inf)
            )  # a tie, and nearly a tie
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


def _undefined(name):
    """Return a wrong rule that raises NameError for `name`, a name that only the text of the lesson defines."""

    def rule(g, z, x, *target):
        raise NameError(f"name '{name}' is not defined")

    return rule


P = np.array([0.7, 0.2, 0.1])  # the global variable p of the notebook
WHOLE = (
    "You sum over the whole array. Every row is a separate example: axis=-1 sums along each row."
)
LOST = "An axis is lost, so the sums do not line up with their rows. keepdims=True keeps the axis."
COLUMNS = "You sum down the columns. The rows are the batch: sum along each row, axis=-1."
WITHOUT_INDICES = (
    "A rule computes whole arrays, without indices: p_j is {}, g_j is g, and Σ is "
    "np.sum(…, axis=axis, keepdims=True)."
)
MEAN = (
    "You divide by the number of rows. z is not a mean over the rows: each row has its own output."
)
WRONG_SOFTMAX = [
    (
        lambda g, z, x: g * (1 - z),
        "The path through its own p has the derivative p · (1 − p), so a factor p is missing. "
        "The paths through the other p are missing too: each logit changes every p.",
    ),
    (
        lambda g, z, x: z * np.sum(g * z, axis=-1, keepdims=True),
        "That is only the path through the denominator, without its sign. The numerator contributes too: "
        "subtract the sum from g.",
    ),
    (
        lambda g, z, x: z * (g - g * np.sum(z, axis=-1, keepdims=True)),
        "g is outside the sum. The sum of p alone is 1, so g − g · 1 is 0. Every upstream gradient has its own "
        "weight: sum g · p.",
    ),
    (
        lambda g, z, x: g * z * (1 - z),
        "Here each logit affects only its own p: that is the diagonal of the Jacobian. The other p change "
        "too, and contribute to the gradient.",
    ),
    (
        lambda g, z, x: g * z * (1 - z) - z * np.sum(g * z, axis=-1, keepdims=True),
        "The sum over all i contains i = j too, so −p · p · g is counted twice: p · (g − Σ g·p).",
    ),
    (
        lambda g, z, x: g * z,
        "That is only the path through the numerator. The denominator changes too: subtract the sum.",
    ),
    (
        lambda g, z, x: z * (g - np.sum(g, axis=-1, keepdims=True)),
        "Sum g · p: each upstream gradient times its weight.",
    ),
    (
        lambda g, z, x: z * (g - z * np.sum(g, axis=-1, keepdims=True)),
        "p is outside the sum. Every upstream gradient has its own weight: sum g · p.",
    ),
    (
        lambda g, z, x: g - np.sum(g * z, axis=-1, keepdims=True),
        "The parentheses are right, but the factor p in front of them is missing.",
    ),
    (
        lambda g, z, x: z * (1 - np.sum(g * z, axis=-1, keepdims=True)),
        "The first term in the parentheses is g, the upstream gradient, not 1.",
    ),
    (
        lambda g, z, x: z * (g - np.mean(g * z, axis=-1, keepdims=True)),
        "Take the sum, not the mean: the weights p already add up to 1.",
    ),
    (
        lambda g, z, x: z * g - np.sum(g * z, axis=-1, keepdims=True),
        "The factor p must multiply everything in the parentheses, the sum too.",
    ),
    (
        lambda g, z, x: x * (g - np.sum(g * x, axis=-1, keepdims=True)),
        "You use x in place of p. p is the output: in the rule it is z.",
    ),
    (
        lambda g, z, x: z - np.sum(g * z, axis=-1, keepdims=True),
        "Where is g outside the sum? The result is p times (g minus the sum).",
    ),
    (
        lambda g, z, x: -_softmax(g, z, x),
        "The absolute values are right, but the sign is wrong: g minus the sum, not the sum minus g.",
    ),
    (
        lambda g, z, x, axis=-1: np.abs(_softmax(g, z, x)),
        "The signs are lost: what one class gains, the others lose.",
    ),
    (
        lambda g, z, x, axis=-1: z * (g - np.max(g * z, axis=axis, keepdims=True)),
        "You take the largest term, but all terms must be added: np.sum.",
    ),
    *(
        (
            wrong,
            "@ and np.dot are matrix products, and the J above belongs to a single row. Here the rule needs no J: "
            "multiply g and p, which is z, entry by entry: np.sum(g * z, …).",
        )
        for wrong in (
            lambda g, z, x: z * (g - g @ z),
            lambda g, z, x: z * (g - g @ z.mT),
            lambda g, z, x: z * (g - np.dot(g, z)),
        )
    ),
    *((_undefined(name), WITHOUT_INDICES.format("z")) for name in "ij"),
    (
        lambda g, z, x: P * (g - np.sum(g * P, axis=-1, keepdims=True)),
        "Your rule uses p = [0.7, 0.2, 0.1], or its J, from the cells above for every row. Each row has its own p: the output z.",
    ),
    (
        lambda g, z, x: P * (g - np.sum(g * P)),
        "Your rule uses the global variable p = [0.7, 0.2, 0.1] of a cell above for every row. In the rule, p is the output z: sum along each row.",
    ),
    (
        lambda g, z, x: z * (g - (g * z).sum(-1, True)),
        "The argument after the axis is the dtype in NumPy. Write keepdims=True.",
    ),
    (
        lambda g, z, x: g - z * np.sum(g * z, axis=-1, keepdims=True),
        "The first g has no factor p: p multiplies everything in the parentheses.",
    ),
    (
        lambda g, z, x: _softmax(g, np.exp(z), x),
        "z is already p, so it needs no exp.",
    ),
    (
        lambda g, z, x: (np.diag(z) - np.outer(z, z)) @ g,
        "That is the Jacobian of one row. Here are N rows, and the rule needs no Jacobian: p · (g − Σ g·p), row by row.",
    ),
    (lambda g, z, x: z * (g - np.sum(g * z)), WHOLE),
    (lambda g, z, x: z * (g - np.sum(g * z, keepdims=True)), WHOLE),
    (lambda g, z, x: z * (g - np.sum(g * z, axis=-1)), LOST),
    (lambda g, z, x: z * (g - np.sum(g * z, axis=0)), COLUMNS),
    (lambda g, z, x: z * (g - np.sum(g * z, axis=0, keepdims=True)), COLUMNS),
    (
        lambda g, z, x: g - np.exp(z) * np.sum(g, axis=-1, keepdims=True),
        "z is already p, so it needs no exp. And p multiplies everything in the parentheses: p · (g − Σ g·p).",
    ),
    (
        lambda g, z, x: g - z * np.sum(g, axis=-1, keepdims=True),
        "p multiplies everything in the parentheses, g too, and the sum is that of g · p.",
    ),
    (
        lambda g, z, x: _softmax(g, z, x) / len(g),
        MEAN,
    ),
    (
        lambda g, z, x: z * (g + np.sum(g * z, axis=-1, keepdims=True)),
        "The path through the denominator has a minus sign: subtract the sum from g.",
    ),
]
WRONG_LOG = [
    (
        lambda g, z, x: g - np.log(z) * np.sum(g, axis=-1, keepdims=True),
        "z is already log p, which is below 0, so it has no log and no root. p itself is np.exp(z).",
    ),
    (
        lambda g, z, x: g - z * np.sum(g, axis=-1, keepdims=True),
        "In log_softmax z is log p. p itself is np.exp(z).",
    ),
    (
        lambda g, z, x: g - P * np.sum(g, axis=-1, keepdims=True),
        "Your rule uses the global variable p = [0.7, 0.2, 0.1] of a cell above for every row. In the rule, p is np.exp(z).",
    ),
    (
        lambda g, z, x: g - np.exp(z),
        "The second path collects the gradients of all outputs: p times the sum of g.",
    ),
    (
        lambda g, z, x: 1 - np.exp(z) * np.sum(g, axis=-1, keepdims=True),
        "The direct path contributes g times 1, not 1.",
    ),
    (
        lambda g, z, x: g - np.sum(np.exp(z), axis=-1, keepdims=True),
        "That is g − 1, since p adds up to 1. Sum g, and multiply the sum by p from outside.",
    ),
    (
        lambda g, z, x: g - np.exp(z) * g,
        "The second path leads into every output: sum g over all outputs.",
    ),
    (
        lambda g, z, x: g - np.sum(g, axis=-1, keepdims=True),
        "The sum is propagated through logsumexp, whose derivatives are p: multiply the sum by p.",
    ),
    (
        lambda g, z, x: g - np.sum(np.exp(z) * g, axis=-1, keepdims=True),
        "p is inside the sum. But p is the derivative with respect to this one logit, p_j: "
        "p multiplies the sum from outside.",
    ),
    (
        _softmax,
        "That is softmax's rule, where z is p. Here z is log p, and the local gradient of the direct path is 1.",
    ),
    (
        lambda g, z, x: g - np.exp(z) * np.mean(g, axis=-1, keepdims=True),
        "Take the sum, not the mean: each output contributes all of its g.",
    ),
    (
        lambda g, z, x: _softmax(g, np.exp(z), x),
        "That is softmax's rule again. Here the local gradient of the direct path is 1, not p.",
    ),
    (
        lambda g, z, x: g - np.exp(x) * np.sum(g, axis=-1, keepdims=True),
        "eˣ is not p, because it is not divided by the sum. Use np.exp(z).",
    ),
    (
        lambda g, z, x: g + np.exp(z) * np.sum(g, axis=-1, keepdims=True),
        "logsumexp is subtracted, so its path has a minus sign.",
    ),
    (
        lambda g, z, x: g - np.exp(z) * np.sum(g * np.exp(z), axis=-1, keepdims=True),
        "softmax's rule sums g · p. Here every output contributes g itself.",
    ),
    (lambda g, z, x: g, "That is only the direct path. The other path goes through logsumexp."),
    (
        lambda g, z, x: 1 - np.exp(z),
        "The upstream gradient g is missing, on both paths.",
    ),
    (
        lambda g, z, x: np.exp(z) * np.sum(g, axis=-1, keepdims=True) - g,
        "The absolute values are right, but the sign is wrong.",
    ),
    (
        lambda g, z, x: g / np.exp(z),
        "That is only the rule of log. Before the log comes softmax, in which every logit affects every p.",
    ),
    (
        lambda g, z, x: g - np.sum(g, axis=-1, keepdims=True) / g.shape[-1],
        "You subtract the mean of g. Each logit gets its own fraction of the sum: p.",
    ),
    (
        lambda g, z, x: g - np.exp(z) * (np.sum(g, axis=-1, keepdims=True) - g),
        "The logit's own output contributes g (1 − p), not g: add g over all outputs, including this one.",
    ),
    (
        lambda g, z, x: g * (1 - np.exp(z)) - np.exp(z) * np.sum(g, axis=-1, keepdims=True),
        "The sum over all outputs contains the logit's own output too, so its −p · g is counted twice: g − p · Σ g.",
    ),
    (
        lambda g, z, x: g - np.exp(x) / np.sum(np.exp(x)) * np.sum(g, axis=-1, keepdims=True),
        "Your p divides by the sum over the whole array. p is np.exp(z), row by row.",
    ),
    (
        lambda g, z, x: g - np.exp(z) * np.sum(g * z, axis=-1, keepdims=True),
        "That sums g · log p. Here every output contributes g itself: sum g.",
    ),
    *(
        (wrong, MEAN)
        for wrong in (
            lambda g, z, x: g - np.exp(z) * np.sum(g, axis=-1, keepdims=True) / len(g),
            lambda g, z, x: (g - np.exp(z) * np.sum(g, axis=-1, keepdims=True)) / len(g),
        )
    ),
    (
        lambda g, z, x: (g - np.exp(z) * np.sum(g, axis=-1, keepdims=True)) * np.exp(z),
        "Only the sum is multiplied by p. The local gradient of the direct path is 1, so g has no factor p.",
    ),
    (
        lambda g, z, x: np.exp(z) * (g - np.sum(g, axis=-1, keepdims=True)),
        "p multiplies only the sum. The local gradient of the direct path is 1, so the first g has no factor p.",
    ),
    (
        lambda g, z, x: g / z - np.sum(g, axis=-1, keepdims=True),
        "z is already log p, so no 1/z is needed: the direct path contributes g, and the sum is multiplied by p.",
    ),
    *((_undefined(name), WITHOUT_INDICES.format("np.exp(z)")) for name in "ij"),
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
            "For these inputs exp(x) is inf or 0, and some p are 0. Do you take exp(x), or divide by p? Everything that the rule needs from x "
            "is in z already."
        )
    )


def _expect_rule_of_softmax(rule, row, z, g, gives, hints):
    """Check `rule` for x of the row `row`, softmax or log_softmax, on rows, batches and logits of ±1000.

    `z` is the output in the first example, where the logits are X, `g` is its upstream gradient, and
    `gives` is the gradient of X.
    """
    expect_call(
        rule,
        np.array(g, float),
        z,
        X,
        gives=np.array(gives),
        hints=hints,
        tried=f"the rule for x of {row.name}, with g = {g}, where p = {ROWS.tolist()}",
    )

    def build(d):
        x = d(*d.shape(2, 2, 3))
        named = (
            Named() if d.round % 5 == 4 else Named(axis=d.choice(-1, -1, *range(-x.ndim, x.ndim)))
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
        tried=lambda g, z, x, named: (
            f"the rule for x of {row.name}, a batch of shape {x.shape}, with "
            + (f"axis={named['axis']}" if named else "axis left out")
        ),
        hints=[
            *hints,
            *of_rule(row, inputs=[(np.array([[0.5, -1.0, 2.0], [0.0, 0.0, 3.0]]),)]),
            (
                lambda g, z, x, axis=-1: row.rules[0](g, z, x, axis=1),
                "That sums along axis 1 at every call. Sum along the axis that is passed: axis=axis.",
            ),
            (
                lambda g, z, x, axis=-1: row.rules[0](g, z, x),
                "axis is passed to the rule, and here it is not −1. Sum along axis.",
            ),
            (
                lambda g, z, x, axis=1: row.rules[0](g, z, x, axis=axis),
                "If axis is left out it is −1, and −1 is the last axis, however many there are: write axis=-1 before the colon.",
            ),
            (
                lambda g, z, x, axis=-1: row.rules[0](g, z, x, axis=1 if axis == -1 else axis),
                "That sums along axis 1. −1 is the last axis, however many there are: pass axis on unchanged.",
            ),
        ],
    )
    large = np.array([[1000.0, 0.0, -1000.0], [-1000.0, -1001.0, -1000.0], [1000.0, 980.0, 999.0]])
    g = np.array(
        [[0.5, 1, -2], [1, -0.25, 2], [0.5, -1e9, 1]]
    )  # as the backward pass of a log returns where p is small
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


X = np.log([[7.0, 2.0, 1.0], [2.0, 1.0, 1.0]])
ROWS = np.array([[0.7, 0.2, 0.1], [0.5, 0.25, 0.25]])  # softmax of X


@exercise(
    "10.normalise",
    minutes=6,
    difficulty="medium",
    importance=3,
    question="""
        Write the rule of softmax. g, z and x have the same shape: (N, C), for N rows of C classes, or a shape with more axes.
        `z` is the output, p. Sum along `axis`: −1 is the last axis, so you sum each row.""",
    stub="""
        softmax_x = lambda g, z, x, axis=-1: ...""",
    hints=[
        "The rule is the boxed formula, with z in place of p. The sum is `np.sum(…, axis=axis, keepdims=True)`; "
        "keepdims lines each sum up with its row.",
        (
            "Help: operands could not be broadcast",
            "The array of row sums has shape (N,). With `keepdims=True` it has shape (N, 1).",
        ),
    ],
    solution="""
        softmax_x = lambda g, z, x, axis=-1: z * (g - np.sum(g * z, axis=axis, keepdims=True))""",
    explained="The rule does not use x: the output z is enough.",
    why="One line replaces N Jacobians of shape (C, C).",
)
def normalise(answer):
    if is_stub(answer):
        raise NotYet
    _expect_rule_of_softmax(
        answer,
        ag.softmax,
        ROWS,
        g=[[1, 0, 0], [0, 1, 0]],
        gives=[[0.21, -0.14, -0.07], [-0.125, 0.1875, -0.0625]],
        hints=WRONG_SOFTMAX,
    )


# --- 10.logarithm ---------------------------------------------------------------------------------------------------------


@exercise(
    "10.logarithm",
    minutes=3,
    difficulty="easy",
    importance=3,
    question="""
        Write the rule of log_softmax, for the same shapes. Now `z` is log p. Sum along `axis` again.""",
    stub="""
        log_softmax_x = lambda g, z, x, axis=-1: ...""",
    hints=[
        "The gradient is $g_j - p_j \\sum_i g_i$. How do you get p from z = log p?",
        (
            "Help: operands could not be broadcast",
            "The array of row sums has shape (N,). With `keepdims=True` it has shape (N, 1).",
        ),
    ],
    solution="""
        log_softmax_x = lambda g, z, x, axis=-1: g - np.exp(z) * np.sum(g, axis=axis, keepdims=True)""",
    explained="Here p is `np.exp(z)`. The rule does not use x: the output z is enough.",
    why="The sum over the classes is taken once for each row, and no Jacobian is built.",
)
def logarithm(answer):
    if is_stub(answer):
        raise NotYet
    _expect_rule_of_softmax(
        answer,
        ag.log_softmax,
        np.log(ROWS),
        g=[[1, 2, 0], [0, 1, 0]],
        gives=[[-1.1, 1.4, -0.3], [-0.5, 0.75, -0.25]],
        hints=WRONG_LOG,
    )


# --- 10.loss --------------------------------------------------------------------------------------------------------------


def _onehot(x, target):
    return np.arange(x.shape[-1]) == target[:, None]


def _whole_rows(g, z, x, target):
    out = np.zeros(x.shape)
    out[target] = -g / len(target)
    return out


MOVED = "The targets are in a different order. Row n belongs to target[n]."
PASSED = "A rule can use only its arguments: N is len(target), C is x.shape[-1], and onehot is the comparison of the two."


@exercise(
    "10.loss",
    minutes=5,
    difficulty="medium",
    importance=3,
    question="""
        Write the rule of `nll_loss` for x, the log-probabilities of shape (N, C). Here g is one number, and `target` contains N
        class numbers.""",
    stub="""
        nll_loss_x = lambda g, z, x, target: ...""",
    hints=[
        "Which entries of x does z depend on? If you raise one of them by 1, how does z change? The other entries get 0, and onehot already has these zeros.",
        (
            "Help: my numbers are N times too big",
            "The loss is a mean over N rows. Where is the 1/N?",
        ),
        (
            "Help: onehot, N or C is not defined",
            "A rule can use only its arguments: N is `len(target)`, C is `x.shape[-1]`, "
            "and onehot is `np.arange(C) == target[:, None]`.",
        ),
        (
            "Help: operands could not be broadcast",
            "`np.arange(C)` is a row, so target must be a column: `target[:, None]`.",
        ),
    ],
    solution="""
        nll_loss_x = lambda g, z, x, target: -g * (np.arange(x.shape[-1]) == target[:, None]) / len(target)""",
    explained="The values of x do not matter, because picking and averaging are linear.",
    why="In each row one entry gets −g/N, and the others get 0. That is the whole gradient of nll_loss.",
    mistakes=[
        edit("-g *", "-abs(g) *", "The sign of g is lost: multiply by g itself."),
        (
            lambda g, z, x, target: -g * x[np.arange(len(x)), target] / len(x),
            "That picks the value, log p, from each row. The gradient has the shape of x: −g/N at each picked entry, and 0 elsewhere.",
        ),
        (
            lambda g, z, x, target: -g * _onehot(x, target),
            "That is N times too big, because the loss is a mean over the N rows.",
        ),
        (
            lambda g, z, x, target: g * _onehot(x, target),
            "That is N times too big and has the wrong sign: the loss is a mean over N rows of minus log p.",
        ),
        (
            lambda g, z, x, target: g * _onehot(x, target) / len(target),
            "The absolute value is right, but the sign is wrong: the loss is minus log p.",
        ),
        (
            lambda g, z, x, target: -g * _onehot(x, target) / x.size,
            "You divide by the number of all entries. The loss reads one entry per row: divide by N.",
        ),
        (
            lambda g, z, x, target: -g * _onehot(x, target) / x.shape[-1],
            "You divide by the number of classes. The mean is over the N rows.",
        ),
        (
            lambda g, z, x, target: -1 * _onehot(x, target) / len(target),
            "The upstream gradient g is missing.",
        ),
        (
            lambda g, z, x, target: -_onehot(x, target),
            "NumPy cannot negate True and False. Put the minus sign in front of g: -g * (…).",
        ),
        *((_undefined(name), PASSED) for name in ("onehot", "N", "C")),
        (
            lambda g, z, x, target: -g * _onehot(x, target) / 2,
            "That is right for two rows. For any batch, the number of rows is len(target).",
        ),
        (
            lambda g, z, x, target: -g * (np.arange(3) == target[:, None]) / len(target),
            "That is right for three classes. For any x, the number of classes is x.shape[-1].",
        ),
        (
            lambda g, z, x, target: -g / x * _onehot(x, target) / len(target),
            "x is already log p. If you raise a picked entry by 1, z falls by 1/N.",
        ),
        (
            lambda g, z, x, target: -g / np.exp(x) * _onehot(x, target) / len(target),
            "−1/p is the derivative with respect to p. But x is already log p: if you raise a picked entry by 1, z falls by 1/N.",
        ),
        (
            lambda g, z, x, target: -g * x * _onehot(x, target) / len(target),
            "You multiply by x. But if you raise a picked entry of x by 1, z always falls by 1/N.",
        ),
        (
            lambda g, z, x, target: -g * np.exp(x) * _onehot(x, target) / len(target),
            "You multiply by p. But x is log p, and the derivative with respect to it is −1/N.",
        ),
        *(
            (
                wrong,
                "p − onehot is the gradient of the logits, one operation further back. "
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
            "len(x) is N, the number of rows. The number of classes is x.shape[-1].",
        ),
        (
            lambda g, z, x, target: -g * (np.arange(x.shape) == target[:, None]) / len(target),
            "x.shape is (N, C). C is x.shape[-1].",
        ),
        (
            lambda g, z, x, target: -g[:, None] * _onehot(x, target) / len(target),
            "g and z are single numbers, without axes: write -g, not -g[:, None].",
        ),
        (
            lambda g, z, x, target: -g * _onehot(x, target) / len(g),
            "g and z are single numbers and have no rows. N is len(target).",
        ),
        (
            lambda g, z, x, target: -g * np.mean(_onehot(x, target)),
            "np.mean returns one number. Keep the shape of x, and divide by N.",
        ),
        (
            lambda g, z, x, target: -g * np.ones_like(x) / len(target),
            "Here every entry gets a part. The loss reads only the entries at the target.",
        ),
        *(
            (wrong, "Compare a column of targets with the row of class numbers: target[:, None].")
            for wrong in (
                lambda g, z, x, target: -g * (np.arange(x.shape[-1]) == target) / len(target),
                lambda g, z, x, target: -g * (np.arange(x.shape[-1]) == target[None]) / len(target),
            )
        ),
        (
            _whole_rows,
            "out[target] is a whole row for each target. The entry of row n is at target[n]: out[np.arange(N), target], or onehot.",
        ),
        (
            lambda g, z, x, target: -g / len(target),
            "You return one number. Which entries get it? Multiply by onehot.",
        ),
        edit("/ len(target)", "// len(target)", "// truncates: divide by N with /."),
        (
            lambda g, z, x, target: -g * _onehot(x, (target - 1) % x.shape[-1]) / len(target),
            "Classes count from 0: the place of class k is k, not k − 1.",
        ),
        (
            lambda g, z, x, target: (
                -g * (np.arange(1, x.shape[-1] + 1) == target[:, None]) / len(target)
            ),
            "Classes count from 0: np.arange(C) is 0, …, C − 1.",
        ),
        (
            lambda g, z, x, target: -g * np.any(_onehot(x, target), axis=0) / len(target) + 0 * x,
            "Every row gets the targets of all rows. Row n belongs to target[n] alone: out[np.arange(N), target], or onehot.",
        ),
        edit(
            "len(target)",
            "np.unique(target).size",
            "That counts the distinct classes in target. N is the number of targets: len(target).",
        ),
        edit(
            "np.arange(x.shape[-1])",
            "np.unique(target)",
            "These are only the classes that occur in target. There may be more: np.arange(x.shape[-1]).",
        ),
        edit(
            "x.shape[-1]",
            "(np.max(target) + 1)",
            "These are only the classes up to the largest in target. There may be more: np.arange(x.shape[-1]).",
        ),
        edit(
            "len(target)",
            "np.sum(target)",
            "That adds up the class numbers. N is the number of targets: len(target).",
        ),
        edit(
            "len(target)",
            "np.max(target)",
            "That is the largest class number. N is the number of targets: len(target).",
        ),
        edit("target[:, None]", "target[::-1, None]", MOVED),
        edit("target[:, None]", "np.sort(target)[:, None]", MOVED),
        edit(
            "(np.arange(x.shape[-1]) == target[:, None])",
            "(x == np.min(x, axis=-1, keepdims=True))",
            "That finds the least likely class of each row. target gives the true class.",
        ),
        edit(
            "(np.arange(x.shape[-1]) == target[:, None])",
            "(x == np.max(x, axis=-1, keepdims=True))",
            "That finds the most likely class of each row. target gives the true class.",
        ),
        edit(
            "(np.arange(x.shape[-1]) == target[:, None])",
            "np.eye(len(target))[target]",
            "len(target) is N, the number of rows. The number of classes is x.shape[-1].",
        ),
        (
            lambda g, z, x, target: -g * (x == target[:, None]) / len(target),
            "x holds log-probabilities, not class numbers. Compare the class numbers with target: np.arange(x.shape[-1]).",
        ),
        (
            lambda g, z, x, target: -g * x[target] / len(target),
            "x[target] takes whole rows of x, and the gradient needs no value of x. Multiply by onehot.",
        ),
        (
            lambda g, z, x, target: -g * (np.arange(10) == target[:, None]) / len(target),
            "That is right for ten classes. For any x, the number of classes is x.shape[-1].",
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
    """Return a function of x that computes logsumexp, with the number `by(x)` as the shift.

    The shift is subtracted from x before exp, and added to the result after log. If it is not the
    largest entry of x, exp may overflow.
    """
    return lambda x: np.log(np.sum(np.exp(x - by(x)))) + by(x)


def _right(x):
    return _shifted(np.max)(x)


DIVIDED = "You divide by the largest entry m. A factor eᵐ is taken out of the sum by subtraction: eˣ / eᵐ is np.exp(x - m)."


def _only_the_largest(got, expected):
    """Name the mistake of an answer that is right for small numbers, but returns max(x) for [1000, 999]."""
    return (
        "For large numbers you return only the maximum. But the other entries still add something: at [1000, 999], "
        "the second term is 0.37 times the largest."
        if got == 1000 and 1000.31 < expected < 1000.32
        else None
    )


@exercise(
    "10.careful",
    minutes=4,
    difficulty="medium",
    importance=2,
    question="""
        Write logsumexp for one row x, so that it also works at ±1000 and beyond: subtract the largest entry before exp, and add it
        back where it belongs. (Do not call `ag.logsumexp`.)""",
    stub="""
        def my_logsumexp(x):
            ...""",
    hints=[
        "Your sum is $s / e^m$. What is then missing from $\\log s$?",
        (
            "Help: inf, or −inf",
            "exp is still applied to a number above 709, or only to numbers far below 0. What must you subtract to make the "
            "largest exactly 0?",
        ),
    ],
    solution="""
        def my_logsumexp(x):
            m = np.max(x)
            return np.log(np.sum(np.exp(x - m))) + m""",
    explained="""Now the largest term is $e^0 = 1$. So, for any finite floats, exp does not overflow, and the sum is at least 1, so
        its log is finite.""",
    why="It is the same number on paper, and in floats it works where the plain formula fails.",
    mistakes=[
        (
            lambda x: np.log(np.sum(np.exp(x - np.max(x)))),
            "You subtracted the largest entry and never added it back. What is missing from log s?",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x - np.max(x)) + np.max(x))),
            "You added the largest back to every term of the sum. It belongs outside the log: the log of a product is a sum.",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x - np.max(x))) + np.max(x)),
            "You added the largest back inside the log. It belongs outside: the log of a product is a sum.",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x - np.max(x)))) * np.max(x),
            "A factor eᵐ in the sum becomes a term m in its log: add m.",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x - np.max(x)))) - np.max(x),
            "You subtracted the largest entry. To undo this, add it.",
        ),
        (lambda x: np.sum(np.exp(x - np.max(x))) + np.max(x), "Where is the log?"),
        (np.max, "That is only the maximum. What do the other entries add?"),
        (
            lambda x: np.exp(x - _right(x)),
            "Those are the probabilities. Return one number, log Σ eˣ.",
        ),
        (
            _shifted(np.median),
            "You subtract less than the largest (the median?). Which number makes the largest exactly 0?",
        ),
        (_shifted(lambda x: x[-1]), "You subtract the last entry, but another one may be larger."),
        (
            _shifted(np.mean),
            "The largest is still far above the number that you subtract (the mean?). Which number makes the largest exactly 0?",
        ),
        (_shifted(lambda x: x[0]), "You subtract the first entry, but another one may be larger."),
        (
            lambda x: np.log2(np.sum(np.exp2(x - np.max(x)))) + np.max(x),
            "Those are powers of 2 and log2. Use powers of e: np.exp, np.log.",
        ),
        (
            lambda x: np.log(np.mean(np.exp(x - np.max(x)))) + np.max(x),
            "That is the mean of the powers. logsumexp adds them: np.sum.",
        ),
        (lambda x: np.max(x) + np.sum(np.exp(x - np.max(x))) - 1, "Where is the log?"),
        (_shifted(np.sum), "You subtract the sum. Which number makes the largest exactly 0?"),
        (
            _shifted(np.min),
            "You subtract the smallest: the rest is 0 or above, and can still be large. Which "
            "number makes the largest exactly 0?",
        ),
        (
            _shifted(lambda x: max(np.max(x), 0)),
            "All entries are far below 0, and the largest has not become 0. Subtract the largest, also if it is negative.",
        ),
        (
            _shifted(lambda x: np.max(np.abs(x))),
            "You subtract the largest absolute value |x|, here 5000. Subtract the largest x.",
        ),
        (
            _shifted(lambda x: 1000),
            "You always subtract 1000. What about −300? Subtract the largest entry of x.",
        ),
        (
            lambda x: np.log(np.sum(np.exp(np.clip(x, -700, 700)))),
            "A logit that is clipped at 700 is a different number.",
        ),
        (
            lambda x: np.log1p(np.sum(np.exp(x - np.max(x)))) + np.max(x),
            "log1p adds a 1 to the sum, but the largest entry already contributes a 1, e⁰.",
        ),
        (
            lambda x: np.log10(np.sum(np.exp(x - np.max(x)))) + np.max(x),
            "That is log10. Use the natural logarithm: np.log.",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x))),
            "Here exp is applied to a number above 709 (to x, or to m itself), and the result is too large for a float. What makes the largest 0? (np.max gives the largest, np.argmax only its place.)",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x) - np.max(x))) + np.max(x),
            "You subtract the largest after exp. Subtract it before: np.exp(x - m).",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x)) - np.max(x)) + np.max(x),
            "You subtract the largest from the sum. Subtract it from the logits: np.exp(x - m).",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x) / np.exp(np.max(x)))) + np.max(x),
            "exp is still applied to 1000, twice. Use a single exp, of x - m.",
        ),
        (lambda x: np.log(np.exp(x - np.max(x))) + np.max(x), "That is x again. Where is the sum?"),
        (
            lambda x: np.log(np.sum(np.exp(np.max(x) - x))) + np.max(x),
            "The exponent has the wrong sign: subtract the largest from x, which gives x - m.",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x))) + np.max(x),
            "You add the largest, but you never subtract it before exp.",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x - np.max(x)))) + np.exp(np.max(x)),
            "The log of the factor eᵐ is m: add m.",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x - np.max(x)))) * np.exp(np.max(x)),
            "A factor eᵐ in the sum becomes a term m in its log: add m.",
        ),
        (
            lambda x: np.log(np.sum(np.exp(x - np.max(x)))) + np.log(np.max(x)),
            "The log of the factor eᵐ is m: add m.",
        ),
        (
            lambda x: np.sum(np.log(np.exp(x - np.max(x)))) + np.max(x),
            "Take the sum first, and then its log: np.log(np.sum(…)).",
        ),
        (
            lambda x: np.exp(np.max(x)) * np.sum(np.exp(x - np.max(x))),
            "That is s itself. The question asks for its log: the log of the product is a sum.",
        ),
        *(
            (wrong, DIVIDED)
            for wrong in (
                lambda x: np.log(np.sum(np.exp(x / np.max(x)))),
                lambda x: np.log(np.sum(np.exp(x / np.max(x)))) * np.max(x),
                lambda x: np.log(np.sum(np.exp(x / np.max(x)))) + np.max(x),
                lambda x: np.log(np.sum(np.exp(x / np.max(x))) * np.max(x)),
                lambda x: np.log(np.sum(np.exp(x / np.max(x)))) + np.log(np.max(x)),
            )
        ),
    ],
)
def careful(answer):
    if is_stub(answer):
        raise NotYet
    # Each wrong number to subtract fails in a case of its own: none, the smallest, the last, the mean, the median,
    # the first, 1000, the largest absolute value.
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
        hints=[*careful.mistakes, _only_the_largest],
        tried=lambda x: f"my_logsumexp of x = {np.round(x, 3).tolist()}",
    )
    expect_own_work(
        answer,
        examples[0],
        ["logsumexp"],
        "The numbers are right, but the library did the work. Build logsumexp from np.max, np.exp, np.sum and np.log.",
    )
