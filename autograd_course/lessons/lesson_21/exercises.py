"""Ask the questions of lesson 21: five ports to diagnose, a PyTorch op, gradients of shards, and the final task."""

import dis
import operator
import re

import numpy as np

import autograd_lib as ag

from ...grading import (
    NotYet,
    Wrong,
    brief,
    edit,
    exercise,
    expect_over,
    has_blank,
    is_stub,
    outside_one_sided_slopes,
    returned,
)
from ...grading.compare import parameter_names
from ...quiz.texts import Question, card, prediction, recall
from ...source import underneath
from .ports import Context

recall(
    "21",
    [
        Question(
            "Your tracer runs a function at x = 2. The function contains `if x > 0`. Which branch does the "
            "program take at x = −1? (Lesson 20)",
            "the one for x > 0",
            "**The one for x > 0**: the `if` was evaluated once, while tracing, and left no line in the program.",
            ["the one for x > 0", "the other", "it evaluates the if again"],
        ),
        Question(
            "A loss falls for 200 steps. Is the gradient right? (07)",
            "not proved",
            "**Not proved.** The published rule from lesson 07 was wrong, but from one start it trained better. A falling loss does not prove "
            "that the gradient is right.",
            ["proved", "not proved"],
        ),
        Question(
            "z = maximum(x, y), with x = y = 3, and the upstream gradient of z is 6. What is the gradient of x? (04)",
            3,
            "**3**: at a tie each input gets half. That is a convention, not a derivation.",
        ),
    ],
)

prediction(
    "21.agree",
    question="""Each engine uses its own functions and defaults. Which of the following have the same gradient in all three, up
    to rounding: gelu(t)? the std of three numbers? maximum(t, 1) at t = 1? at a tie, max pooling by the engine's own
    pooling function?""",
    answer={"gelu": False, "std": False, "maximum(t, 1) at t = 1": True, "pooling at a tie": False},
    reveal="""**No, no, yes, no.** PyTorch computes gelu with a different function, erf instead of tanh, and its std divides by
    n − 1: a different *calculation* has a different gradient. At a tie the function is not differentiable, so its gradient
    there is a convention. In all three, maximum passes half of the gradient to each input. Our pooling shares it too, but the pooling of the other two
    passes all of it to the first of the tied entries.""",
)

prediction(
    "21.losses",
    question="""You compare only one number: the loss before the first step. How many of the eight causes leave this number
    as it is, to twelve digits?""",
    answer=2,
    reveal="""**2.** Causes 4 and 7 change only the backward pass. Each of the other six changes a value, and so the loss.
    But the change may be small: float32 changes this loss by less than a hundred-thousandth.""",
)

prediction(
    "21.shards",
    question="""Four scans are distributed over two workers: the first gets three, the second one. Each worker computes the
    gradient of the *mean* loss of its own scans. This gradient is 2 for the first worker and 10 for the second. What is the
    gradient of the mean loss of all four scans?""",
    answer=4,
    reveal="""**4.** The first worker's mean stands for three scans, the second's for one: (3 · 2 + 1 · 10) / 4. The plain mean
    of the two gradients, 6, is wrong, because one scan would count as much as three. (PyTorch's DDP takes this plain mean, as if all shards had the same size.)""",
)

prediction(
    "21.workers",
    question="""A step over 20 scans takes about a millisecond in one process. Now two workers, on two cores, process half of
    the scans each. How long does the step take?""",
    answer="longer",
    choices=["half as long", "about as long", "longer"],
    reveal="""**Longer**, on all computers that we tried. Calling a worker and waiting for it takes longer than the work on
        20 scans, even if the worker receives no data and computes nothing. Below you measure it on your computer, with up
        to 5,000 scans.""",
)

card(
    "21",
    [
        "One calculation has one gradient, and engines agree on it up to rounding. If they differ, the calculation "
        "differs, or a convention at a tie or a kink, or a rule is wrong.",
        "Compare a port by stages: the values forward one by one, then the gradient of each parameter. The first loss "
        "alone missed two of five.",
        "Look first at gelu's form, n or n − 1, ties, softmax taken twice, mean or sum, the dtype.",
        "An op in PyTorch: forward, setup_context, backward. Save only inputs or outputs: for the second derivative, a value "
        "that setup_context computes is a constant.",
        "An op in JAX: fwd returns z and what bwd reads. fwd may compute these values, because JAX differentiates fwd too.",
        "Gradients of shards are added, each weighted by its number of rows.",
    ],
)


# --- Five ports -----------------------------------------------------------------------------------------------------

CAUSES = [
    "softmax is applied twice: `cross_entropy` applies it again",
    "each kernel is transposed",
    "gelu is computed with erf instead of tanh",
    "at a tie, pooling passes the gradient to the first entry",
    "std divides by n − 1",
    "the losses are added, not averaged",
    "relu is maximum(0, x), with slope ½ at 0",
    "float32 instead of float64",
]
LISTED = "\n".join(f"{number}. {cause}" for number, cause in enumerate(CAUSES, start=1))
RIGHT = {"A": 5, "B": 4, "C": 7, "D": 1, "E": 3}
EVIDENCE = {
    "A": "A: `bent` and `pooled` are equal to yours, and `scaled` is the first that differs, by 0.8 %. What could its 64 "
    "numbers be divided by?",
    "B": "B: Every value is equal to yours, but one gradient is not: the gradient of the kernels. The gradient of the shifts is "
    "equal, so the total gradient passed on is the same as in your network, but it goes to different entries. Which line chooses among entries?",
    "C": "C: Every value is equal to yours, and the gradient of the shifts differs most. Where the paper is blank, the input "
    "of relu is exactly 0. Which slope does your relu use there?",
    "D": "D: All logits are equal to yours, but the loss is not, and every gradient differs by 90 % or more. What is computed between the logits and the loss?",
    "E": "E: `scaled` is equal to yours, but `hidden` differs by about two ten-thousandths. Which two formulas give nearly the same curve?",
}
NOBODY = {
    2: " (Transposed kernels would change `bent`, the first line.)",
    6: " (If the losses were added, the loss and all gradients would be 200 times as large.)",
    8: " (In float32 `scaled` and every number after it would differ, by less than 1e−5.)",
}


def _diagnosis(**changes):
    return tuple((RIGHT | changes).values())


def _misread(letter, number):
    """Return a diagnosis in which only port `letter` has a wrong cause, and the hint for this mistake.

    `number` is the number of the wrong cause.
    """
    return _diagnosis(**{letter: number}), EVIDENCE[letter] + NOBODY.get(number, "")


@exercise(
    "21.diagnose",
    minutes=5,
    difficulty="medium",
    importance=2,
    question="In each port, one line of the network is written differently from yours. Which of the eight causes above is it? Give its number. Use only the table.",
    stub="""
        port_A = ...
        port_B = ...
        port_C = ...
        port_D = ...
        port_E = ...""",
    hints=[
        "Go down a column. The first value that differs is computed by the line that you are looking for. If no value "
        "differs, the port uses a different convention at a tie or a kink.",
        ("The eight causes again", LISTED),
        *((f"Help: {letter}", EVIDENCE[letter][3:]) for letter in RIGHT),
    ],
    solution="\n".join(f"port_{letter} = {number}" for letter, number in RIGHT.items()),
    explained="A, D and E differ from yours in the forward pass, B and C only in the backward pass. So no comparison of losses or predictions before the first step can detect B and C.",
    why="The first value that differs identifies the line. If no value differs, the gradients that differ do: "
    "in B only that of the kernels, in C also that of the shifts.",
    mistakes=[
        _misread(*pair)
        for pair in [
            ("A", 3),
            ("A", 6),
            ("B", 7),
            ("B", 2),
            ("C", 4),
            ("C", 8),
            ("D", 6),
            ("D", 5),
            ("E", 5),
            ("E", 8),
        ]
    ],
)
def diagnose(answer):
    for (letter, right), number in zip(RIGHT.items(), answer):
        if np.ndim(number):
            raise Wrong(
                f"port {letter}",
                brief(number),
                "a number from the list",
                "Give one number for each port.",
            )
        number = number.item() if isinstance(number, (np.ndarray, np.generic)) else number
        if type(number) not in (int, float) or number not in range(1, len(CAUSES) + 1):
            raise Wrong(
                f"port {letter}",
                brief(number),
                "a number from the list",
                "Write the number without quotes."
                if isinstance(number, str) and number.isdigit()
                else f"The causes are numbered from 1 to {len(CAUSES)}: give a number.",
            )
        if number != right:
            raise Wrong(
                f"port {letter}",
                f"{int(number)}: {CAUSES[int(number) - 1]}",
                "a different line",
                EVIDENCE[letter] + NOBODY.get(number, ""),
            )


# --- An op as PyTorch wants it --------------------------------------------------------------------------------------


class Foreign:
    """Wrap an array so that NumPy's functions reject it, as they reject a PyTorch tensor that requires a gradient.

    The wrapped array supports only + − · / **, abs, comparisons and indexing.
    """

    __array_ufunc__ = None

    def __init__(self, data):
        self.data = data

    @property
    def shape(self):
        return self.data.shape

    def __abs__(self):
        return Foreign(abs(self.data))

    def detach(self):
        return Foreign(self.data)

    clone = detach

    def __neg__(self):
        return Foreign(-self.data)

    def __pos__(self):
        return self

    def __getitem__(self, index):
        return Foreign(self.data[index])

    def __array__(self, *_, **__):
        raise TypeError("NumPy's functions do not accept a PyTorch tensor that requires a gradient")


def _with_operators():
    def two(operate):
        def made(x, y):
            if isinstance(y, tuple):
                raise TypeError("unsupported operand types: 'Tensor' and 'tuple'")
            return Foreign(operate(x.data, y.data if isinstance(y, Foreign) else y))

        return made

    def in_place(operate):
        def written(x, y):
            x.data = operate(x.data, y.data if isinstance(y, Foreign) else y)
            return x

        return written

    for name in ["add", "sub", "mul", "truediv", "pow", "gt", "ge", "lt", "le", "eq", "ne"]:
        operate = getattr(operator, name)
        setattr(Foreign, f"__{name}__", two(operate))
        setattr(Foreign, f"__r{name}__", two(lambda x, y, operate=operate: operate(y, x)))
    for name in ["iadd", "isub", "imul", "itruediv", "ipow"]:
        setattr(Foreign, f"__{name}__", in_place(getattr(operator, name)))


_with_operators()
ONLY_OPERATORS = (
    "Here x is an array, and in PyTorch it is a tensor. PyTorch cannot differentiate NumPy's functions, and an "
    "array lacks most of PyTorch's methods. Both support + − · / ** and abs(x): use only these."
)
ONLY_CTX = (
    "This ctx has only three of the attributes that PyTorch's has: `save_for_backward(…)`, which setup_context calls, "
    "`saved_tensors`, which backward reads, and `needs_input_grad`."
)
OLD_FORM = (
    "That is the old form, with ctx in forward. PyTorch still accepts it, but torch.func does not. Here "
    "forward takes x alone, and setup_context saves."
)
FAR = np.array([-300.0, 150.0, 300.0])
POINTS = [  # pairs of an x and an upstream gradient
    (
        np.array([[-2.31, -1.17, -0.43], [0.29, 0.84, 2.06]]),
        np.array([[1.5, -2.0, 0.5], [3.0, -1.0, 0.25]]),
    ),
    (np.array([-2.31, -1.17, -0.43]), np.array([3.0, -1.0, 0.25])),
    (np.array(0.7), np.array(-1.5)),
    (np.array([2.0, -1.0, 3.0]), np.array([1.0, -2.0, 1.0])),
    (FAR, np.array([1.5, -2.0, 0.5])),
]
THREE_PARTS = ["forward", "setup_context", "backward"]
SAVED_NOTHING = (
    "Save the values that backward reads: ctx.save_for_backward(*inputs), or output, or both."
)
COMPUTED = (
    "The first derivative is right. But what setup_context computes is a constant to PyTorch, so the second derivative "
    "may be wrong in a network, and no error would be raised. Save inputs or output, and compute in backward."
)


@exercise(
    "21.my_op",
    minutes=5,
    difficulty="medium",
    importance=3,
    question="""
        **Write your op from lesson 14 as a custom function.** `forward` computes z. `setup_context` receives `inputs`, a tuple (here
        with one entry), and `output`, which is z. It saves those that backward will read, and computes nothing: below you see
        why. `backward` is the rule, and the upstream gradient is called `grad_output`. (`@staticmethod` marks a method that
        takes no `self`.) Take $1 / (1 + x^2)$, or your own op if it uses only + − · / `**` and `abs`.""",
    stub="""
        class my_op:
            @staticmethod
            def forward(x):
                return ...                          # z

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.save_for_backward(...)          # one array or several

            @staticmethod
            def backward(ctx, grad_output):
                saved = ctx.saved_tensors           # a tuple of them
                return ...                          # the gradient of x""",
    hints=[
        "In the notation of the course: with z = 1/(1 + x²), the gradient of x is $-2\\,g\\,x\\,z^2$. Which of x and z does this rule read?",
        "`ctx.save_for_backward(*inputs, output)` saves both, and in backward `x, z = ctx.saved_tensors`.",
        (
            "Help: nothing was saved",
            "backward receives only ctx and grad_output. Anything else that it reads must be saved beforehand: `ctx.save_for_backward(…)`.",
        ),
        (
            "Help: not enough values to unpack",
            "`ctx.saved_tensors` is a tuple, even if it holds only one tensor: `x, = ctx.saved_tensors`.",
        ),
    ],
    solution="""
        class my_op:
            @staticmethod
            def forward(x):
                return 1 / (1 + x * x)

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.save_for_backward(*inputs, output)

            @staticmethod
            def backward(ctx, grad_output):
                x, z = ctx.saved_tensors
                return -2 * grad_output * x * z * z""",
    explained="It is a row of your table in three pieces: the function, what the rule reads, and the rule itself, with grad_output in place of g.",
    why="The rule is the same. What changed is where it is kept: in a class with a context, the second design of "
    "lesson 07.",
)
def my_op(answer):
    if not isinstance(answer, type) or not all(hasattr(answer, name) for name in THREE_PARTS):
        raise Wrong(
            "my_op",
            brief(answer),
            "a class",
            OLD_FORM
            if parameter_names(getattr(answer, "forward", None))[:1] == ("ctx",)
            else "Pass a class with the three methods forward, setup_context and backward.",
        )
    three = [getattr(answer, name) for name in THREE_PARTS]
    empty = is_stub(three[1])  # the stub contains a call, so the learner deleted it
    if any(has_blank(each) for each in (three[::2] if empty else three)):
        raise NotYet
    if empty:
        raise Wrong(
            "setup_context",
            "nothing saved",
            "what backward reads",
            f"Nothing was saved. {SAVED_NOTHING}",
            early=True,
        )
    forward = three[0]
    for name, function, wanted in zip(
        THREE_PARTS, three, ["x", "ctx, inputs, output", "ctx, grad_output"]
    ):
        if len(letters := parameter_names(function)) != wanted.count(",") + 1:
            raise Wrong(
                f"my_op.{name}",
                f"{name}({', '.join(letters)})",
                f"{name}({wanted})",
                OLD_FORM
                if letters[:1] == ("ctx",) and name == "forward"
                else "A static method has no self: PyTorch calls it with exactly the arguments shown."
                if letters[:1] == ("self",)
                else "PyTorch calls this function with exactly the arguments shown.",
            )
    _without_notebook(
        {f"my_op.{name}": function for name, function in zip(THREE_PARTS, three)},
        [
            "forward receives only x: compute z from it.",
            "setup_context receives the input in `inputs`, and z as `output`: save *inputs, or output, or both.",
            "backward receives only ctx and grad_output, the upstream gradient. Save what else it reads, and unpack it in the same order: x, z = ctx.saved_tensors.",
        ],
    )
    for at, arriving in POINTS:
        slope = _slope_of(forward, at)
        tried = f"backward, with grad_output = {brief(arriving)} and x = {brief(at)}"
        got, remark = returned(
            lambda: _there_and_back(three, at, arriving), tried=tried, shown="the gradient of x"
        )
        if np.shape(got) != at.shape or not np.allclose(
            got, arriving * slope, rtol=1e-5, atol=1e-7
        ):
            raise Wrong(
                tried,
                brief(got),
                brief(arriving * slope),
                "backward unpacks the two tensors in the wrong order: setup_context saves them in the other "
                "order."
                if _exchanged(three, at, arriving, arriving * slope)
                else _why(got, arriving, slope, at, remark),
            )
        exact = arriving * ag.grad(lambda x: np.sum(forward(x)))(at)
        if not np.allclose(got, exact, rtol=1e-12, atol=1e-12):
            raise Wrong(
                tried,
                brief(got),
                brief(exact),
                "Nearly right. Did you use a difference quotient? A rule is exact."
                if np.allclose(got, exact, rtol=1e-3)
                else _why(got, arriving, exact / arriving, at, remark),
            )
        if remark:
            raise remark
    _at_zero(three)
    _twice(*three)


def _without_notebook(functions, hints):
    """Raise Wrong if one of the learner's functions reads an array that is not one of its arguments.

    The array is a variable of the notebook, such as its x, or is defined in another function.

    `functions` maps the name of each function to the function, and `hints` has a hint for each.
    """
    for (name, function), hint in zip(functions.items(), hints):
        code, scope = getattr(function, "__code__", None), getattr(function, "__globals__", {})
        for step in dis.get_instructions(code) if code else ():
            undefined = (
                step.argval in ("x", "z", "g", "inputs", "output") and step.argval not in scope
            )
            if step.opname == "LOAD_GLOBAL" and (
                undefined or isinstance(scope.get(step.argval), np.ndarray)
            ):
                raise Wrong(
                    name,
                    f"{step.argval}, which is not one of its arguments",
                    "only its arguments",
                    hint,
                )


def _slope_of(forward, x, call="forward(x)", only=ONLY_OPERATORS):
    """Return the slope of the learner's function `forward` at each entry of `x`, measured by central differences.

    A verdict shows `call`, and the hint `only` if a function of NumPy is used.

    Raise Wrong if the function cannot be part of a network: if it does not work entry by entry,
    does not depend on x, is not finite everywhere, or is a straight line.
    """
    tried = f"{call}, with x = {brief(x)}"
    try:
        z, up, down, zero = (
            returned(forward, at, tried=tried, shown="z")
            for at in (x, x + 1e-5, x - 1e-5, np.zeros(1))
        )
        if (
            np.shape(z) != x.shape
            or x.ndim
            and not np.allclose(forward(x[:1]), z[:1], equal_nan=True)
        ):
            raise Wrong(
                tried,
                f"shape {np.shape(z)}, {brief(z)}",
                f"shape {x.shape}, each entry computed from the same entry of x",
                "Your function must work entry by entry: z has the shape of x, and each entry of z depends on one entry of x.",
            )
        foreign = forward(Foreign(x.copy()))
    except (TypeError, AttributeError) as error:
        raise _only_operators(tried, error, only) from None
    except NameError as error:
        if error.name in ("torch", "F", "jax", "jnp"):
            error.hint = only
        raise
    if not isinstance(foreign, Foreign):
        raise Wrong(
            tried,
            brief(z),
            "a z that depends on x",
            "The result does not depend on x: compute z from x.",
        )
    if not np.all(np.isfinite(z)) or not np.all(np.isfinite(zero)):
        raise Wrong(
            f"{tried}, and with 0",
            f"{brief(z)}, and {brief(zero)}",
            "a finite number for every x",
            "In a network x may be any number: choose a function that is defined everywhere.",
        )
    slope = (np.asarray(up) - np.asarray(down)) / 2e-5
    if x.ndim == 2 and np.ptp(slope) < 1e-6 and np.ptp(np.diff(forward(FAR)) / np.diff(FAR)) < 1e-6:
        raise Wrong(
            call,
            f"the slope {brief(slope.flat[0])} everywhere",
            "a slope that changes",
            "Your function is a straight line. Between two linear layers it would add nothing.",
        )
    return slope


def _exchanged(three, x, g, expected):
    """Return True if the learner's backward would be right with its two saved tensors in the opposite order.

    `three` holds the functions forward, setup_context and backward. `g` is the upstream gradient at
    `x`, and `expected` is the right gradient of x.
    """
    forward, setup_context, backward = three
    ctx, z = Context(), forward(x)
    setup_context(ctx, (x,), z)
    if len(ctx.saved_tensors) != 2:
        return False
    got = backward(Context(*ctx.saved_tensors[::-1]), g)
    return np.shape(got) == np.shape(expected) and np.allclose(got, expected, rtol=1e-5, atol=1e-7)


def _at_zero(three):
    """Raise Wrong unless backward uses, at x = 0, a slope between the slopes of forward on both sides of 0.

    `three` holds the functions forward, setup_context and backward.
    """
    x, g = np.zeros(2), np.array([1.0, -2.0])
    tried = f"backward, with grad_output = {brief(g)} and x = {brief(x)}"
    got, _ = returned(lambda: _there_and_back(three, x, g), tried=tried, shown="the gradient of x")
    for _, low, high in outside_one_sided_slopes(got / g, three[0], x):
        raise Wrong(
            tried,
            brief(got),
            f"grad_output times {round(low, 3) + 0:g} to {round(high, 3) + 0:g}",
            "0/0 is nan, and one nan spoils every sum: x is 0 on every blank pixel."
            if np.isnan(got).any()
            else "x is 0 on every blank pixel: look at the slopes on both sides of 0.",
        )


NOT_ARRAYS = {  # what is saved -> how it may have been written, and the advice
    tuple: (
        "inputs, …",
        "`inputs` is a tuple, and save_for_backward expects arrays. Unpack the tuple: *inputs.",
    ),
    list: (
        "[…]",
        "save_for_backward expects the arrays themselves, not a list: remove the brackets [ ].",
    ),
}


def _there_and_back(three, x, g):
    """Return the gradient of x that the learner's three functions compute, and a Wrong or None.

    The Wrong reports a mistake in the saved values that does not affect this gradient. Any other
    mistake is raised as Wrong. `three` holds the functions forward, setup_context and backward, and
    `g` is the upstream gradient.
    """
    forward, setup_context, backward = three
    tried = "your three functions, with tensors as PyTorch has them"
    ctx, other, fx, fg = Context(), Context(), Foreign(x.copy()), Foreign(g.copy())
    try:
        fz = forward(fx)
        setup_context(ctx, (fx,), fz)
        for kind, (saves, advice) in NOT_ARRAYS.items():
            if any(isinstance(saved, kind) for saved in ctx.saved_tensors):
                raise Wrong(
                    "setup_context", f"ctx.save_for_backward({saves})", "arrays only", advice
                )
        z, elsewhere = fz.data.copy(), Foreign(x * 0 + 0.31)
        setup_context(other, (elsewhere,), forward(elsewhere))  # another call in between
        unsaved = not ctx.saved_tensors
        got = backward(ctx, fg)
    except (TypeError, AttributeError) as error:
        if "'tuple' object has no attribute" in str(error):
            raise Wrong(
                "setup_context",
                f"{type(error).__name__}: {error}",
                "no error",
                "`inputs` and `ctx.saved_tensors` are tuples. Unpack them: *inputs, and x, z = ctx.saved_tensors.",
            ) from None
        if isinstance(error, AttributeError) and not re.search("'(Foreign|Context)'", str(error)):
            raise
        raise _only_operators(tried, error) from None
    except (ValueError, IndexError) as error:
        if not re.search("unpack|tuple index", str(error)):
            raise
        raise Wrong(
            tried,
            f"{type(error).__name__}: {error}",
            "the gradient of x",
            f"Nothing was saved. {SAVED_NOTHING}"
            if unsaved
            else f"Arrays saved: {len(ctx.saved_tensors)}. backward unpacks a different number of them.",
        ) from None
    if not all(map(np.array_equal, (fg.data, fx.data, fz.data), (g, x, z))):
        raise Wrong(
            tried,
            "a changed array",
            "an unchanged array",
            "Your functions write into the caller's array. Make a new array instead.",
        )
    if isinstance(got, list):
        raise Wrong(
            tried,
            "a list",
            "the gradient of x",
            "backward returned a list. Return the array itself, or a tuple with one array.",
        )
    if isinstance(got, tuple) and len(got) != 1:
        raise Wrong(
            tried,
            f"{len(got)} values",
            "1 value",
            "backward must return one value for each input, and there is one input.",
        )
    got = got[0] if isinstance(got, tuple) else got
    if got is None:
        raise Wrong(
            tried,
            "None",
            "the gradient of x",
            "backward returned None. Does it end with a return statement?",
        )
    return np.asarray(got.data if isinstance(got, Foreign) else got, float), _kept_badly(
        ctx, fx, fz, unsaved
    )


def _kept_badly(ctx, x, z, unsaved):
    """Return the Wrong for a mistake in the values that `ctx` saved, or None if there is no mistake.

    `x` and `z` are the input and the output of forward, and `unsaved` is true if nothing was saved.
    """
    if stray := [
        name
        for name, value in vars(ctx).items()
        if name != "_saved" and isinstance(value, (Foreign, tuple, list))
    ]:
        return Wrong(
            "setup_context",
            f"ctx.{stray[0]} = …",
            "ctx.save_for_backward(…)",
            "PyTorch does not notice if an array that is kept on ctx "
            "itself is changed before backward. Use ctx.save_for_backward(…).",
        )
    if not all(saved is x or saved is z for saved in ctx.saved_tensors):
        return Wrong("setup_context", "a computed value was saved", "inputs or output", COMPUTED)
    if unsaved:
        return Wrong("setup_context", "nothing saved", "what backward reads", SAVED_NOTHING)
    return None


def _only_operators(tried, error, only=ONLY_OPERATORS):
    return Wrong(
        tried,
        f"{type(error).__name__}: {error}".replace("Foreign", "Tensor")[:200],
        "no error",
        ONLY_CTX
        if "'Context'" in str(error)
        else "`ctx.saved_tensors` is a tuple, even if it holds one array: x, = ctx.saved_tensors."
        if "'tuple'" in str(error)
        else only,
    )


def _why(got, g, slope, x, remark):
    """Return text that names the likely cause of a wrong gradient `got`.

    `g` is the upstream gradient, `slope` is the measured slope of forward at `x`, and `remark` is
    another mistake that was found, or None.
    """
    expected = g * slope
    if got.shape != x.shape:
        return f"Shape {got.shape}, where {x.shape} was expected: the gradient of x has x's shape."
    if np.isnan(got).any():
        return "The result is nan, as from 0/0 or the root of a negative number."
    for other, sentence in [
        (-expected, "The magnitude is right, but the sign is wrong."),
        (2 * expected, "The result is exactly twice as large as it should be."),
        (
            expected / 2,
            "The result is exactly half as large as it should be. If your op contains x²: the slope of x² is 2x.",
        ),
        (
            np.abs(g) * slope,
            "grad_output may be negative, and the gradient of x must keep its sign.",
        ),
        (
            np.sign(x) * expected,
            "The size is right, but the sign is wrong where x is negative. Does backward read x itself? From |x|, or from "
            "a z that is the same for x and −x, it cannot tell the sign of x.",
        ),
        (
            -np.sign(x) * expected,
            "The size is right, but the sign is wrong where x is positive. Does backward read x itself? From |x|, or from "
            "a z that is the same for x and −x, it cannot tell the sign of x.",
        ),
        (slope, "That is the slope alone: multiply it by grad_output, the upstream gradient."),
    ]:
        if np.allclose(got, other, rtol=1e-5, atol=1e-7):
            return sentence
    if remark and np.ptp(got / g) < 1e-9:
        return (
            "backward used the same slope for every x. Did it use numbers that belong to another call? "
            + SAVED_NOTHING
        )
    at = np.unravel_index(np.argmax(np.abs(got - expected)), x.shape)
    return (
        f"Measured at x = {brief(x[at])}, the slope of your forward is {slope[at]:.4g}, "
        f"and the slope that backward uses is {got[at] / g[at]:.4g}."
    )


def _twice(forward, setup_context, backward):
    """Raise Wrong unless the learner's three functions make a rule that the engine can differentiate again."""

    def rule(g, z, x):
        ctx = Context()
        setup_context(ctx, (x,), z)
        got = backward(ctx, g)
        return got[0] if isinstance(got, tuple) else got

    try:
        ag.check_grads(ag.elementwise(forward, rule, name="my_op"), np.array([[-1.3, 0.4, 2.1]]))
    except Exception as error:
        said = str(error).splitlines()[0] if str(error) else ""
        raise Wrong(
            "the second derivative",
            f"{type(error).__name__}: {said}",
            "no error",
            "Compute backward from the saved values and grad_output, with operations that can be differentiated themselves.",
        ) from None


# --- The same op for JAX ----------------------------------------------------------------------------------------------

PAIR = "fwd must return two values: z, and what bwd will read. End it with return z, slope."
TUPLE = "JAX expects a tuple, with one gradient for each input. For one input the comma makes the tuple: return (g * saved,)."
SLOPE = (
    "The gradient is right, and JAX would accept this. But here save one array, the slope of each entry: compute it in fwd, "
    "so that bwd only multiplies. The next cells compare this with PyTorch."
)
ONLY_IN_JAX = (
    "Here x is a NumPy array. In JAX it may be a tracer, which NumPy's functions reject. Both support + − · / ** and "
    "abs(x): use only these."
)
NO_CTX = "JAX has no ctx: fwd receives only x, and bwd receives saved, which fwd returned, and g."
ONE_GRADIENT = (
    "bwd must return one gradient for each input, and there is one input. `saved` needs none."
)
NO_UNPACKING = (
    "`saved` is what fwd returned as its second value. Here it is one array, so do not unpack it."
)
ONE_ARRAY = "JAX would accept a tuple or a list with one entry, but here save the array itself: return z, slope."
EXCHANGED = "fwd returns the two values in the wrong order: z comes first, then the slope."


@exercise(
    "21.jax_op",
    minutes=4,
    difficulty="medium",
    importance=2,
    question="""
        In JAX there is no `ctx`: `jax.custom_vjp` takes the rule as two functions. **Write the same op for JAX.** `fwd(x)`
        returns the pair `z, saved`. JAX passes `saved` on to `bwd(saved, g)`, where g is the upstream gradient, and `bwd`
        returns a tuple with one gradient for each input. In JAX, `fwd` may compute what it saves. So here let `saved` be one
        array: the slope at each entry of x. Again use
        only + − · / `**` and `abs`.""",
    stub="""
        def fwd(x):
            return ..., ...          # z, and the slope of each entry

        def bwd(saved, g):
            return (...,)            # a tuple with one gradient""",
    hints=[
        "Of z = 1/(1 + x²) the slope is $-2\\,x\\,z^2$: your rule without g. Compute z first, then the slope.",
        "bwd is the chain rule: the upstream gradient times the slope.",
        ("Help: a tuple with one entry", "The comma makes the tuple: `(a,)`. `(a)` is only a."),
    ],
    solution="""
        def fwd(x):
            z = 1 / (1 + x * x)
            return z, -2 * x * z * z

        def bwd(saved, g):
            return (g * saved,)

        jax_op = fwd, bwd            # the pair, for the next cell""",
    explained="The rule is split in two: fwd computes the slope, and bwd multiplies it by the upstream gradient.",
    why="It is the same rule, split in another place: the slope in fwd, the upstream gradient in bwd.",
    mistakes=[
        edit("return z, -2 * x * z * z", "return z", PAIR),
        edit("return (g * saved,)", "return g * saved", TUPLE),
        edit("return z, -2 * x * z * z", "return -2 * x * z * z, z", EXCHANGED),
        edit(
            "return z, -2 * x * z * z",
            "return z, (x, z)",
            "return (g * saved,)",
            "x, z = saved\n    return (-2 * g * x * z * z,)",
            SLOPE,
        ),
    ],
)
def jax_op(answer):
    if any(map(has_blank, answer)):
        raise NotYet
    fwd, bwd = answer
    for name, function, wanted in [("fwd", fwd, "x"), ("bwd", bwd, "saved, g")]:
        if (
            callable(function)
            and len(letters := parameter_names(function)) != wanted.count(",") + 1
        ):
            raise Wrong(
                name,
                f"{name}({', '.join(letters)})",
                f"{name}({wanted})",
                NO_CTX
                if "ctx" in letters
                else "JAX calls this function with exactly the arguments shown.",
            )
    _without_notebook(
        {"fwd": fwd, "bwd": bwd},
        [
            "fwd receives only x: compute z and the slope from it.",
            "bwd receives only saved, the slope that fwd returned, and g, the upstream gradient.",
        ],
    )

    def forward(x):
        return fwd(x)[0]

    for x, g in POINTS:
        tried = f"fwd(x), with x = {brief(x)}"
        try:
            pair = returned(fwd, x, tried=tried, shown="z, slope")
        except NameError as error:
            if error.name in ("torch", "jax", "jnp"):
                error.hint = ONLY_IN_JAX
            raise
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise Wrong(tried, brief(pair), "z, slope", PAIR)
        z, saved = pair
        if isinstance(saved, (tuple, list)) and len(saved) == 1:
            raise Wrong(tried, "z, (slope,)", "z, slope", ONE_ARRAY)
        if _is_slope_of(z, lambda x: fwd(x)[1], x) and not _is_slope_of(saved, forward, x):
            raise Wrong(tried, "slope, z", "z, slope", EXCHANGED)
        slope = _slope_of(forward, x, "z, the first value of fwd(x)", ONLY_IN_JAX)
        tried = f"bwd(saved, g), with x = {brief(x)} and g = {brief(g)}"
        try:
            got = returned(bwd, saved, g, tried=tried, shown="(the gradient of x,)")
        except ValueError as error:
            if "unpack" in str(error) and hasattr(saved, "shape"):
                error.hint = NO_UNPACKING
            raise
        if not isinstance(got, (tuple, list)):
            raise Wrong(tried, brief(got), "(the gradient of x,)", TUPLE)
        if len(got) != 1:
            raise Wrong(tried, f"{len(got)} values", "1 value", ONE_GRADIENT)
        got = np.asarray(got[0], float)
        if np.shape(got) != x.shape or not np.allclose(got, g * slope, rtol=1e-5, atol=1e-7):
            why = _why(got, g, slope, x, None)
            for theirs, here in [
                ("your forward", "your z"),
                ("backward", "fwd"),
                ("grad_output", "g"),
            ]:
                why = why.replace(theirs, here)
            raise Wrong(tried, brief(got), brief(g * slope), why)
        exact = g * ag.grad(lambda x: np.sum(forward(x)))(x)
        if not np.allclose(got, exact, rtol=1e-12, atol=1e-12):
            raise Wrong(
                tried,
                brief(got),
                brief(exact),
                "Nearly right. Did you use a difference quotient? A rule is exact.",
            )
        if np.shape(saved) != x.shape or not np.allclose(saved * g, got):
            raise Wrong("saved, the second value of fwd(x)", brief(saved), brief(slope), SLOPE)
        try:
            bwd(fwd(Foreign(x.copy()))[1], Foreign(g.copy()))
        except (TypeError, AttributeError) as error:
            raise _only_operators(
                "fwd and bwd, with arrays as JAX has them", error, ONLY_IN_JAX
            ) from None
    zero, g = np.zeros(2), np.array([1.0, -2.0])
    got = bwd(fwd(zero)[1], g)[0]
    for _, low, high in outside_one_sided_slopes(got / g, forward, zero):
        raise Wrong(
            f"bwd(saved, g), with x = {brief(zero)} and g = {brief(g)}",
            brief(got),
            f"g times {round(low, 3) + 0:g} to {round(high, 3) + 0:g}",
            "0/0 is nan, and one nan spoils every sum: x is 0 on every blank pixel."
            if np.isnan(got).any()
            else "x is 0 on every blank pixel: look at the slopes on both sides of 0.",
        )
    _twice(
        forward,
        lambda ctx, inputs, output: ctx.save_for_backward(fwd(*inputs)[1]),
        lambda ctx, g: tuple(bwd(*ctx.saved_tensors, g)),
    )


def _is_slope_of(z, function, x):
    """Return True if `z` is the slope of `function` at `x`, and is not constant."""
    try:
        slope = (function(x + 1e-5) - function(x - 1e-5)) / 2e-5
    except TypeError:
        return False
    return (
        x.ndim == 2
        and np.shape(z) == x.shape
        and np.ptp(z) > 1e-3
        and np.allclose(slope, z, rtol=1e-5, atol=1e-7)
    )


# --- Gradients of shards --------------------------------------------------------------------------------------------


def _added_in_place(gradients, sizes):
    found = [0 * g for g in gradients[0]]
    for n, worker in zip(sizes, gradients):
        for total, g in zip(found, worker):
            total += n * g / sum(sizes)
    return found


def _combined(gradients, sizes):
    return [sum(n * g for n, g in zip(sizes, each)) / sum(sizes) for each in zip(*gradients)]


ADDS_PARAMETERS = (
    "You add the parameters of each worker. Add the gradients of each parameter over the workers: zip(*gradients) goes "
    "through the parameters."
)


@exercise(
    "21.combined",
    minutes=3,
    difficulty="easy",
    importance=2,
    question="""
        Write `combined(gradients, sizes)`. `gradients` contains one list for each worker. This list contains one array for each
        parameter: the gradient of the *mean* loss of the worker's rows. `sizes` contains the number of rows of each worker.
        Return one list of the same form, with the gradients of the mean loss of *all* rows.""",
    stub="""
        def combined(gradients, sizes):
            ...""",
    hints=[
        "A mean over n rows, times n, is the sum over these rows. The sums of all shards add up.",
        "`zip(*gradients)` iterates over the parameters. For each parameter it yields one array from each worker.",
        (
            "Help: inhomogeneous shape",
            "The parameters have different shapes, so they do not fit into one array: process them one by one.",
        ),
    ],
    solution="""
        def combined(gradients, sizes):
            return [sum(n * g for n, g in zip(sizes, each)) / sum(sizes) for each in zip(*gradients)]""",
    explained="Each worker's mean is weighted by its number of rows.",
    why="The gradient of a sum is the sum of the gradients, as with lesson 02's paths, here in several processes.",
    mistakes=[
        (
            lambda gradients, sizes: [sum(each) / len(gradients) for each in zip(*gradients)],
            "That is the plain mean over the workers: a worker with a single row would count as much as a worker with three.",
        ),
        (
            lambda gradients, sizes: [sum(each) for each in zip(*gradients)],
            "Each is the gradient of a mean, so their plain sum is too large. Multiply each by its number of rows, and "
            "divide the sum by the number of all rows.",
        ),
        (
            lambda gradients, sizes: [
                sum(n * g for n, g in zip(sizes, each)) for each in zip(*gradients)
            ],
            "That is the gradient of the *sum* of all losses. Divide by the number of all rows.",
        ),
        (
            lambda gradients, sizes: [
                sum(n * g for n, g in zip(sizes, each)) / len(sizes) for each in zip(*gradients)
            ],
            "You divide by the number of workers. Divide by the number of rows, sum(sizes).",
        ),
        (
            lambda gradients, sizes: [sum(each) / sum(sizes) for each in zip(*gradients)],
            "You only divide by the number of all rows. First multiply each worker's gradient by the number of its own rows.",
        ),
        (
            lambda gradients, sizes: [
                sum(g / n for n, g in zip(sizes, each)) for each in zip(*gradients)
            ],
            "You divide by each worker's number of rows, but its mean is already divided by that number. Multiply instead.",
        ),
        (
            lambda gradients, sizes: [
                sum(g / n for n, g in zip(sizes, each)) / sum(1 / n for n in sizes)
                for each in zip(*gradients)
            ],
            "The weights are upside down: a worker with more rows should count more.",
        ),
        (
            lambda gradients, sizes: [
                sum(g / n for n, g in zip(sizes, each)) * sum(sizes) for each in zip(*gradients)
            ],
            "You divide by each worker's number of rows and multiply by that of all rows. It is the other way round.",
        ),
        (
            lambda gradients, sizes: [
                np.sum([n * g for n, g in zip(sizes, each)]) / sum(sizes)
                for each in zip(*gradients)
            ],
            "np.sum adds up all entries. Python's sum adds the arrays, and so does np.sum with axis=0.",
        ),
        (lambda gradients, sizes: gradients[0], "That is the first worker alone."),
        (lambda gradients, sizes: gradients[-1], "That is the last worker alone."),
        (
            lambda gradients, sizes: [
                (sizes[0] * each[0] + sizes[1] * each[1]) / (sizes[0] + sizes[1])
                for each in zip(*gradients)
            ],
            "You use only the first two workers. There may be any number.",
        ),
        edit(
            "return [sum",
            "one, other = gradients\n    return [sum",
            "There may be any number of workers, not only two.",
        ),
        (
            lambda gradients, sizes: [
                sum(n * g for n, g in zip(sizes, each)) / (sizes[0] * len(sizes))
                for each in zip(*gradients)
            ],
            "That assumes that all shards are as large as the first.",
        ),
        (
            lambda gradients, sizes: [
                sum(n * g for n, g in zip(sizes, each)) // sum(sizes) for each in zip(*gradients)
            ],
            "`//` rounds down to a whole number: divide with /.",
        ),
        (
            lambda gradients, sizes: [
                sum(n * g.mean() for n, g in zip(sizes, each)) / sum(sizes)
                for each in zip(*gradients)
            ],
            "Do not average the entries of a gradient: it keeps the shape of its parameter.",
        ),
        (
            lambda gradients, sizes: [
                sum(n * g for n, g in zip(sizes, worker)) / sum(sizes) for worker in gradients
            ],
            ADDS_PARAMETERS,
        ),
        (
            lambda gradients, sizes: [
                sum(n * g for g in worker) / sum(sizes) for n, worker in zip(sizes, gradients)
            ],
            ADDS_PARAMETERS,
        ),
        (
            lambda gradients, sizes: _combined([worker[:2] for worker in gradients], sizes),
            "There may be any number of parameters, not only two.",
        ),
        (
            lambda gradients, sizes: _combined(gradients, sizes)[0],
            "That is the first parameter only. Give a list, with an array for each parameter.",
        ),
        (
            lambda gradients, sizes: [abs(each) for each in _combined(gradients, sizes)],
            "Gradients keep their signs.",
        ),
        (
            lambda gradients, sizes: sum(n * g for n, g in zip(sizes, gradients)) / sum(sizes),
            "n times a list repeats the list, and sum begins at the number 0. Go through the arrays one by one: zip(*gradients), with the star.",
        ),
        edit(
            "return [sum(n * g for n, g in zip(sizes, each)) / sum(sizes) for each in zip(*gradients)]",
            "total = 0\n    for n, g in zip(sizes, gradients):\n        total += n * g\n    return total / sum(sizes)",
            "Each g is a list here: n times a list repeats it, and a list cannot be added to 0. Go through the arrays one by one: zip(*gradients).",
        ),
        edit(
            "return [sum(n * g for n, g in zip(sizes, each)) / sum(sizes) for each in zip(*gradients)]",
            "return [g * n / sum(sizes) for n, worker in zip(sizes, gradients) for g in worker]",
            "These are the weighted gradients of all workers, one after another. Add those of each parameter over the workers.",
        ),
        edit(
            "sum(n * g for n, g in zip(sizes, each)) / sum(sizes)",
            "[n * g / sum(sizes) for n, g in zip(sizes, each)]",
            "These are the weighted gradients of all workers, parameter by parameter. Add them over the workers: sum(…).",
        ),
        (
            lambda gradients, sizes: np.mean(gradients, axis=0),
            "The parameters have different shapes, so they do not fit into one array: go through them one by one, and weight each worker by its rows.",
        ),
        edit(
            "sum(n * g for n, g in zip(sizes, each)) / sum(sizes) for each in zip(*gradients)",
            "sum(n * worker[k] for n, worker in zip(sizes, gradients)) / sum(sizes) for k in range(len(gradients))",
            "len(gradients) is the number of workers. The number of parameters is len(gradients[0]).",
        ),
        *(
            edit(
                "sum(n * g for n, g in zip(sizes, each))",
                weighted,
                "Pair each worker's size with its array: n * g for n, g in zip(sizes, each).",
            )
            for weighted in ("sum(sizes * each)", "sum(np.array(sizes) * each)")
        ),
        *(
            edit(
                "[sum(n * g for n, g in zip(sizes, each)) / sum(sizes) for each in zip(*gradients)]",
                whole,
                "Each worker's gradients are a list. Go through the arrays one by one: zip(*gradients).",
            )
            for whole in (
                "gradients * sizes / sum(sizes)",
                "sum([g * n / sum(sizes) for g, n in zip(gradients, sizes)])",
            )
        ),
        (
            lambda gradients, sizes: np.average(gradients, axis=0, weights=sizes),
            "The parameters have different shapes, so they do not fit into one array: process them one by one.",
        ),
        (
            lambda gradients, sizes: [
                sum(n * n * g for n, g in zip(sizes, each)) / sum(n * n for n in sizes)
                for each in zip(*gradients)
            ],
            "You weight by the square of the number of rows. Multiply by the number of rows once.",
        ),
        (
            lambda gradients, sizes: (
                sum(n * np.array(worker) for n, worker in zip(sizes, gradients)) / sum(sizes)
            ),
            "The parameters have different shapes, so they do not fit into one array: process them one by one.",
        ),
        (
            _added_in_place,
            "A gradient may be a single number, of shape (). Then 0 * g is a plain number, and += on its name in a loop does "
            "not change the list. Write total[k] = total[k] + …, or begin with np.zeros_like(g).",
        ),
    ],
)
def combined(answer):
    if is_stub(answer):
        raise NotYet
    rng = np.random.default_rng(0)

    def build(d):
        sizes = [d.another(1, 2, 5, 4, 300) for _ in range(d.size())]
        sizes = sizes[:1] * len(sizes) if d.kind == "equal" else sizes
        shapes = [d.shape(0, 1, 2) for _ in range(d.size(1, 3))]
        return [[d(*shape) for shape in shapes] for _ in sizes], sizes

    examples = [
        ([[rng.normal(size=shape).round(2) for shape in shapes] for _ in sizes], sizes)
        for sizes, *shapes in [
            ([2, 5, 4], (2, 3), (4,)),
            ([3, 1], (4,), (2, 2), (3,)),
            ([1, 1], (2,)),
            ([7], (3,), (2,)),
        ]
    ]
    expect_over(
        answer,
        _combined,
        build,
        first=examples,
        hints=combined.mistakes,
        apart=True,
        rtol=1e-11,
        tried=lambda gradients, sizes: (
            f"combined(gradients, {sizes}), parameters {' and '.join(str(np.shape(g)) for g in gradients[0])}"
        ),
    )


# --- The final task -------------------------------------------------------------------------------------------------


def _root(x, eps=0.1):
    return np.sqrt(np.mean(x * x, axis=1, keepdims=True) + eps)


def _rms(x):
    return x / _root(x)


def _rms_rule(g, z, x):
    return (g - z * np.mean(g * z, axis=1, keepdims=True)) / _root(x)


THREE = [
    ("r is treated as a constant", lambda g, z, x: g / _root(x)),
    ("the mean is taken over the whole array", lambda g, z, x: (g - z * np.mean(g * z)) / _root(x)),
    (
        "the mean is replaced by a sum",
        lambda g, z, x: (g - z * np.sum(g * z, axis=1, keepdims=True)) / _root(x),
    ),
]


MEASURE = (
    "Your check accepts all three wrong rules. Does it measure anything, and does it measure at every call? Are all "
    "three right for its inputs? Is its tolerance too wide? Use a random x and g with several rows. Compare the sum of "
    "rule(g, z, x)·u with the central difference of the sum of g·rms(x) along u."
)
ON_PAPER = "If there is only one row, the mean over the row is the mean over the whole array. Look at each rule again."
BALANCED = "With g = 1, mean(g·z) by rows is mean(x)/r, which is 0 here. What is left of each rule?"


@exercise(
    "21.rms_rule",
    minutes=12,
    difficulty="optional",
    importance=1,
    question="""
        Every row of x is divided by its root mean square, with ε under the root: z = x / r, with $r = \\sqrt{\\text{mean}(x^2) +
        \\epsilon}$. The mean runs along each row of n entries, and ε is 0.1. Draw the graph of one row on paper, with each squaring as one
        arrow. By how many paths does an entry of x reach its own z? By how many does it reach another entry of z? Derive the
        gradient of x and write `rms_rule`. All arrays have shape (rows, columns).""",
    stub="""
        def rms(x):
            return x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + 0.1)

        def rms_rule(g, z, x):
            ...""",
    hints=[
        "An entry reaches its own z by two paths: the direct one, with slope 1/r, and the one through r. It reaches any other z only through r.",
        "Every z of the row depends on r, with slope −z/r. And r depends on each x of the row, with slope x/(n·r) = z/n.",
        "The gradient of r, summed over the row, is −Σ g·z / r. Pass it on to x, and add the direct path.",
    ],
    solution="""
        def rms(x):
            return x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + 0.1)

        def rms_rule(g, z, x):
            r = np.sqrt(np.mean(x * x, axis=1, keepdims=True) + 0.1)
            return (g - z * np.mean(g * z, axis=1, keepdims=True)) / r""",
    explained="(g − z·mean(g·z)) / r is the direct path minus the path through r. With ε = 0, a g that points along x (and so along z) would give gradient 0: z then has length √n, so it cannot change along itself.",
    why="From the graph to its paths, and to sums over the row: you derived and checked an op that was new to you.",
    mistakes=[
        *((rule, f"That rule is wrong in a common way: {said}.") for said, rule in THREE),
        (
            lambda g, z, x: (g + z * np.mean(g * z, axis=1, keepdims=True)) / _root(x),
            "A sign is wrong: r grows with |x|, and |z| falls as r grows.",
        ),
        (
            lambda g, z, x: (g - x * np.mean(g * x, axis=1, keepdims=True)) / _root(x),
            "The second term contains z, not x: both slopes through r are written with z = x/r.",
        ),
        (
            lambda g, z, x: (g - z * np.mean(g * z, axis=1)) / _root(x),
            "That mean has shape (rows,). With keepdims=True it has shape (rows, 1).",
        ),
        (
            lambda g, z, x: g - z * np.mean(g * z, axis=1, keepdims=True),
            "The factor 1/r is missing: both paths contain it.",
        ),
        (
            lambda g, z, x: (g - z * np.mean(g * z, axis=1, keepdims=True)) * _root(x),
            "You multiply by r. Both paths contain the factor 1/r: divide.",
        ),
        *(
            (
                lambda g, z, x, by=by: (
                    (g - by * z * np.mean(g * z, axis=1, keepdims=True)) / _root(x)
                ),
                "The square's 2 and the root's ½ cancel: r has slope z/n.",
            )
            for by in (0.5, 2)
        ),
        (
            lambda g, z, x: (
                (
                    g
                    - z
                    * np.sum(g * z, axis=1, keepdims=True)
                    / np.sum(z * z, axis=1, keepdims=True)
                )
                / _root(x)
            ),
            "No divisor is needed there. The mean of z² is below 1 because of ε, and r contains ε already.",
        ),
        (
            lambda g, z, x: (
                (g - z * np.mean(g * z, axis=1, keepdims=True))
                / np.sqrt(x.var(axis=1, keepdims=True) + 0.1)
            ),
            "x.var subtracts the mean of x first. r is the root of the mean *square*.",
        ),
        (
            lambda g, z, x: (g - z * np.mean(g * z, axis=1, keepdims=True)) / (x / z),
            "x/z is r, but where x is 0 it is 0/0. Compute r as `rms` does.",
        ),
        (
            lambda g, z, x: g / _root(x) - z * np.mean(g * z, axis=1, keepdims=True),
            "The second path lacks a factor 1/r. Its two slopes are −z/r and z/n, or, written with x, −x/r² and x/(n·r).",
        ),
        (
            lambda g, z, x: -z * np.mean(g * z, axis=1, keepdims=True) / _root(x),
            "That is only the path through r. Add the direct one.",
        ),
        (
            lambda g, z, x: (g - z * np.mean(g * z, axis=1, keepdims=True)) / _root(x, 0.0),
            "ε is under the root here too, and it is 0.1.",
        ),
        (
            lambda g, z, x: (g - z * np.mean(g * z, axis=1, keepdims=True)) / _root(x, 1e-5),
            "ε is 0.1 here, as in `rms`.",
        ),
        (
            lambda g, z, x: (g - z * np.mean(g * z, axis=1, keepdims=True)) / (_root(x, 0.0) + 0.1),
            "ε is under the root here: √(mean(x²) + ε), not √mean(x²) + ε.",
        ),
        (
            lambda g, z, x: (g - z * np.mean(g * z, axis=1, keepdims=True)) / _root(x) ** 2,
            "You divide by r², not by r. Is the root missing? And the slopes through r are written with z, which contains 1/r already.",
        ),
        (
            lambda g, z, x: g * (1 - z * z) / _root(x),
            "1 − z² is the slope of tanh, which works entry by entry. Here an x reaches every z of its row through r.",
        ),
        (
            lambda g, z, x: (
                (g - np.mean(g, axis=1, keepdims=True) - z * np.mean(g * z, axis=1, keepdims=True))
                / _root(x)
            ),
            "The mean of g belongs to layer norm, which subtracts the mean of x. RMS norm subtracts nothing from x.",
        ),
        (
            lambda g, z, x: (1 - z * np.mean(z, axis=1, keepdims=True)) / _root(x),
            "The upstream gradient is missing: your rule uses g = 1.",
        ),
        (
            lambda g, z, x: (g - z * np.mean(z, axis=1, keepdims=True)) / _root(x),
            "g is missing in the mean: take the mean of g·z.",
        ),
        (
            lambda g, z, x: g * (1 - z * np.mean(z, axis=1, keepdims=True)) / _root(x),
            "g is outside the mean. Each z of the row has its own g, so g belongs inside the mean.",
        ),
        (
            lambda g, z, x: g * (1 - z * z / x.shape[1]) / _root(x),
            "That counts only each entry's paths to its own z. Through r an x reaches every z of the row: add over the row.",
        ),
        *(
            (
                lambda g, z, x, n=n: (g - z * np.sum(g * z, axis=1, keepdims=True) / n) / _root(x),
                f"You divide by {n}, as if every row had {n} entries. A row may have any length: use np.mean, or x.shape[1].",
            )
            for n in (3, 4)
        ),
        *(
            (
                lambda g, z, x, count=count: (
                    (g - z * np.sum(g * z, axis=1, keepdims=True) / count(x)) / _root(x)
                ),
                f"{said}. A mean over a row divides by the number of its entries, x.shape[1].",
            )
            for said, count in [
                ("len(x) is the number of rows", len),
                ("x.size counts every row", np.size),
                ("You divide by one too few", lambda x: max(x.shape[1] - 1, 1)),
            ]
        ),
        (
            lambda g, z, x: (g - z * np.mean(g * z, axis=0, keepdims=True)) / _root(x),
            "That mean goes down the columns. The entries of a row share one r: axis=1.",
        ),
        (
            lambda g, z, x: (g - z * np.mean(g * z)) / np.sqrt(np.mean(x * x) + 0.1),
            "Each row has an r of its own. Your means go over the whole array: axis=1, with keepdims=True.",
        ),
        (
            lambda g, z, x: (
                (g - z * np.mean(g * z, axis=1, keepdims=True)) / np.sqrt(np.mean(x * x) + 0.1)
            ),
            "Each row has an r of its own. Your r is the mean over the whole array: axis=1, with keepdims=True.",
        ),
    ],
)
def rms_rule(answer):
    if is_stub(answer):
        raise NotYet
    rng = np.random.default_rng(0)

    def build(d):
        x = d(d.size(), d.size())
        x[3:] = 0  # where there are more rows: z is 0 there, and r is √ε
        return d.g(*x.shape), _rms(x), x

    x, g = rng.normal(size=(2, 5, 3)).round(2)
    expect_over(
        answer,
        _rms_rule,
        build,
        first=[(g, _rms(x), x)],
        hints=rms_rule.mistakes,
        rtol=1e-12,
        atol=1e-12,
        tried=lambda g, z, x: f"rms_rule(g, z, x) with x {x.shape}",
    )


@exercise(
    "21.fooled",
    minutes=10,
    difficulty="optional",
    importance=1,
    question="""
        Write a check of your own. `accepts(rule)` returns False if a rule for `rms` is wrong, and True if the check finds no
        mistake. It may use `rms`, but not `rms_rule`. It will be called with these three wrong rules and with others: (a) r
        is treated as a constant, which gives g/r; (b) the mean of g·z is taken over the whole array instead of the row;
        (c) that mean is replaced by a sum. Then answer two questions. Which of the three give the right answer for every x and
        g if x has a single row? Which give the right answer if every row of x adds up to 0 and g is 1
        everywhere?""",
    stub="""
        def accepts(rule):
            ...

        passes_one_row = {...}              # such as {"a", "c"}
        passes_zero_mean = {...}""",
    hints=[
        "Take random x, g and u of shape (3, 4), and z = rms(x). Compare the sum of rule(g, z, x)·u with the "
        "central difference of the sum of g·rms along u.",
        "One row: which of the three differ from the right rule if there is only one row? Rows that add up to 0, and g = 1: what is mean(g·z)?",
        ("Help: sets", '`{"a", "c"}` is a set of two letters, and `set()` is the empty set.'),
    ],
    names=lambda: {"rms": _rms},
    solution="""
        def accepts(rule):
            rng = np.random.default_rng(0)
            x, g, u = (rng.normal(size=(3, 4)) for _ in range(3))
            along = np.sum(g * (rms(x + 1e-5 * u) - rms(x - 1e-5 * u))) / 2e-5
            return bool(np.isclose(np.sum(rule(g, rms(x), x) * u), along, rtol=1e-4))

        passes_one_row = {"b"}
        passes_zero_mean = {"a", "b", "c"}""",
    explained="""
        One row: its mean is the mean over the whole array, so (b) passes. Zero mean and g = 1: mean(g·z) is 0, so all three
        return g/r, like the right rule. A check with g = 1 on centred rows detects none of the three.""",
    why="You derived a rule, wrote it, and wrote a check that finds wrong ones. You also know for which inputs a check "
    "misses them.",
)
def fooled(answer):
    accepts, one_row, zero_mean = answer
    if is_stub(accepts) or any(
        isinstance(letters, set) and ... in letters for letters in (one_row, zero_mean)
    ):
        raise NotYet
    _judge_check(accepts)
    for name, letters, right, hint in [
        ("passes_one_row", one_row, {"b"}, ON_PAPER),
        ("passes_zero_mean", zero_mean, {"a", "b", "c"}, BALANCED),
    ]:
        if not isinstance(letters, (set, frozenset)):
            raise Wrong(
                name,
                brief(letters),
                'a set, such as {"a", "c"}',
                "Give a set of letters, in curly brackets.",
            )
        if not letters <= {"a", "b", "c"}:
            raise Wrong(
                name,
                _as_set(letters),
                "only the letters a, b and c",
                "Name the rules by lower-case letters, in quotes.",
            )
        if letters != right:
            raise Wrong(name, _as_set(letters), "different letters", hint)


def _as_set(letters):
    """Format a set as Python writes it, with sorted entries and with double quotes, as in the stub."""
    inside = ", ".join(sorted(brief(each).replace("'", '"') for each in letters))
    return f"{{{inside}}}" if letters else "set()"


def _judge_check(accepts):
    """Raise Wrong unless the learner's function `accepts` accepts the right rule and rejects every wrong rule."""

    def asked(rule):
        try:
            return accepts(rule)
        except AssertionError as error:
            raise Wrong(
                "accepts(rule)",
                f"{type(error).__name__}",
                "True or False",
                "PyTorch's gradcheck raises an error; this function returns False instead.",
            ) from None

    def says(rule, what):
        tried = f"accepts(rule), where {what}"
        said = returned(asked, rule, tried=tried, shown="True or False")
        if not isinstance(said, (bool, np.bool_)):
            raise Wrong(
                tried, brief(said), "True or False", "Return True or False: bool(np.isclose(…))."
            )
        return said

    if not says(_rms_rule, "the rule is right"):
        raise Wrong(
            "accepts(rule), where the rule is right",
            "False",
            "True",
            "Your check rejects the right rule. Is h too small or too large, or is the tolerance too tight? Do you "
            "divide the difference by 2h?",
        )
    let_through = [
        f"({letter}) {said}" for letter, (said, rule) in zip("abc", THREE) if says(rule, said)
    ]
    if let_through:
        raise Wrong(
            f"accepts(rule), where {let_through[0][4:]}",
            "True",
            "False",
            MEASURE
            if len(let_through) == 3
            else f"Your check accepts a wrong rule: {', '.join(let_through)}. Use a random x and "
            "g of several rows, with a small tolerance.",
        )
    for what, rule, hint in [
        (
            "the rule is 1 % too large",
            lambda g, z, x: _rms_rule(g, z, x) * 1.01,
            "The tolerance of your check is too wide.",
        ),
        (
            "the rule uses g = 1",
            lambda g, z, x: _rms_rule(np.ones(g.shape), z, x),
            "Your check tries only g = 1: take a random g.",
        ),
        (
            "the sign is wrong",
            lambda g, z, x: -_rms_rule(g, z, x),
            "Compare the numbers with their signs.",
        ),
        (
            "the rule returns nan",
            lambda g, z, x: np.nan * x,
            "nan > 1e-6 is False, and Python's max may skip nan. np.isclose and np.allclose return False for nan.",
        ),
        (
            "each entry gets the gradient of its neighbour",
            lambda g, z, x: np.roll(_rms_rule(g, z, x), 1, axis=1),
            "Your check adds up the entries without weights: multiply by a random u, or compare every entry.",
        ),
        (
            "only the component along x is right",
            lambda g, z, x: (
                x
                * np.sum(_rms_rule(g, z, x) * x, axis=1, keepdims=True)
                / np.sum(x * x, axis=1, keepdims=True)
            ),
            "Your check takes u = x alone, or g = x: draw a random g, and then a random u.",
        ),
        (
            "the error is orthogonal to g",
            lambda g, z, x: (
                _rms_rule(g, z, x) + np.cumsum(g, axis=1) - np.cumsum(g[:, ::-1], axis=1)[:, ::-1]
            ),
            "Your check takes u = g: draw a separate random u.",
        ),
        (
            "only the first row is right",
            lambda g, z, x: np.append(_rms_rule(g, z, x)[:1], 2 * _rms_rule(g, z, x)[1:], axis=0),
            "Your check looks only at some entries: compare all of them, or multiply them by a random u and add up.",
        ),
        (
            "the sum over a row is divided by the number of rows",
            lambda g, z, x: (g - z * np.sum(g * z, axis=1, keepdims=True) / len(x)) / _root(x),
            "If x is square, or very small, the two rules agree: take shape (3, 4), and use rng.normal unchanged.",
        ),
        (
            "ε is left out",
            lambda g, z, x: (
                (g - z * np.mean(g * z, axis=1, keepdims=True))
                / np.sqrt(np.mean(x * x, axis=1, keepdims=True))
            ),
            "The x of your check is so large that ε makes no difference: use rng.normal unchanged.",
        ),
        (
            "r is computed from x minus its mean",
            lambda g, z, x: _rms_rule(g, z, x - np.mean(x, axis=1, keepdims=True)),
            "Every row of your x adds up to 0: use rng.normal unchanged.",
        ),
        (
            "the rule uses |g|",
            lambda g, z, x: _rms_rule(abs(g), z, x),
            "No entry of your g is negative: use rng.normal.",
        ),
        (
            "the rule uses |x|",
            lambda g, z, x: _rms_rule(g, abs(z), abs(x)),
            "No entry of your x is negative: use rng.normal.",
        ),
        (
            "the gradient of the last entry is 0",
            lambda g, z, x: _rms_rule(g, z, x) * (np.arange(x.size).reshape(x.shape) < x.size - 1),
            "Your check looks only at some entries: compare all of them, or multiply them by a random u and add up.",
        ),
    ]:
        if says(rule, what):
            raise Wrong(f"accepts(rule), where {what}", "True", "False", hint)
    code = getattr(underneath(accepts), "__code__", None)
    if code and "rms_rule" in code.co_names:
        raise Wrong(
            "the functions that accepts calls",
            "rms_rule",
            "rms alone",
            "A check that compares with your own rule would accept your own mistakes. Measure the slopes of rms.",
        )
    if not says(_rms_rule, "the rule is right, called again"):
        raise Wrong(
            "accepts(rule), where the rule is right, called again",
            "False",
            "True",
            "Your check rejects the right rule at the second call.",
        )
