"""Wrong answers to the exercises of lesson 21 with their causes, and right answers in other styles."""

import numpy as np
from answer_cases import cases

from autograd_course.grading import edit
from autograd_course.grading.causes import own
from autograd_course.lessons.lesson_21.exercises import (
    BALANCED,
    EVIDENCE,
    ON_PAPER,
    RIGHT,
    _combined,
    _diagnosis,
    _rms,
    _rms_rule,
)

cases(
    "21.diagnose",
    wrong=[
        (_diagnosis(B=7, C=4), own(EVIDENCE["B"])),
        (_diagnosis(A=3, E=5), own(EVIDENCE["A"])),
        (_diagnosis(A="5"), "own: without quotes"),
        (_diagnosis(A=9), "own: from 1 to 8"),
        (_diagnosis(C=0), "own: from 1 to 8"),
        (_diagnosis(A="std"), "own: from 1 to 8"),
        (_diagnosis(A=np.nan), "own: from 1 to 8"),
        (_diagnosis(A=True), "own: from 1 to 8"),
        (_diagnosis(B=(4, 7)), "own: One number"),
        (_diagnosis(B=[4]), "own: One number"),
        ((5, 4, 7, 1), "number of parts"),
        (RIGHT, "one part"),
    ],
    accepted=[
        "(5, 4, 7, 1, 3)",
        "np.array([5, 4, 7, 1, 3])",
        "5.0, 4.0, 7.0, 1.0, 3.0",
        "port_E, port_D, port_C, port_B, port_A = 3, 1, 7, 4, 5",
        "(number for number in (5, 4, 7, 1, 3))",
    ],
)


class _OldForm:
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / (1 + x * x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return -2 * grad_output * x / (1 + x * x) ** 2


cases(
    "21.my_op",
    wrong=[
        *(
            (edit("-2 * grad_output * x * z * z", wrong, hint))
            for wrong, hint in [
                ("-2 * x * z * z", "own: grad_output is missing"),
                ("2 * grad_output * x * z * z", "own: wrong sign"),
                ("-2 * grad_output * x * z", "own: Measured"),
                ("-2 * grad_output * abs(x) * z * z", "own: sign of x"),
                ("-grad_output * x * z * z", "own: Exactly half"),
                ("grad_output * z", "own: Measured"),
                ("grad_output", "own: Measured"),
                ("-2 * abs(grad_output) * x * z * z", "own: sign of grad_output"),
                ("(-2 * grad_output * x * z * z, None)", "own: as many"),
                ("[-2 * grad_output * x * z * z]", "own: list"),
                ("-2 * np.multiply(grad_output, x) * z * z", "own: NumPy's functions"),
                ("print(-2 * grad_output * x * z * z)", "own: return"),
                ("float('nan') * grad_output * x * z * z", "own: nan came back as from"),
                ("-2 * grad_output * z * z * z * x", "own: Measured"),
                ("-2 * grad_output * x * z * z + 0 * 1e-3 + 0.001", "own: Measured"),
                ("-2 * grad_output[0] * x * z * z", "own: Measured"),
                ("-2 * grad_output * int(x) * z * z", "own: NumPy's functions"),
            ]
        ),
        edit("1 / (1 + x * x)", "x * x", "own: Measured"),
        edit("1 / (1 + x * x)", "2 * x + 1", "own: straight line"),
        edit("1 / (1 + x * x)", "abs(x + 9) - abs(x - 9)", "own: Measured"),
        edit(
            "-2 * grad_output * x * z * z",
            "-2 * grad_output * x * z * z * (abs(x) < 100)",
            "own: Measured at x =",
        ),
        edit("1 / (1 + x * x)", "1 / np.add(1, x * x)", "own: NumPy's functions"),
        edit("1 / (1 + x * x)", "1 / x", "own: every number"),
        edit(
            "*inputs, output",
            "output",
            "x, z",
            "z",
            "x * z * z",
            "(1 / z - 1) ** 0.5 * z * z",
            "own: also of one",
        ),
        edit(
            "*inputs, output",
            "output",
            "x, z = ctx",
            "z, = ctx",
            "x * z * z",
            "(1 / z - 1) ** 0.5 * z * z",
            "own: sign of x",
        ),
        edit("*inputs, output", "inputs, output", "own: as it is"),
        edit("*inputs, output", "[*inputs, output]", "own: not a list"),
        edit("-2 * grad_output", "-2 * g", "own: backward is given"),
        edit("x, z = ctx.saved_tensors", "z = ctx.saved_tensors[1]", "own: backward is given"),
        edit("*inputs, output", "x, output", "own: setup_context is given"),
        edit("*inputs, output", "inputs.x, output", "own: tuples"),
        *(
            edit(
                "class my_op:",
                "x = z = np.zeros((200, 1, 8, 8))\nclass my_op:",  # as in the notebook
                *forgotten,
                f"own: {name} is given",
            )
            for name, *forgotten in [
                ("backward", "x, z = ctx.saved_tensors", "saved = ctx.saved_tensors"),
                ("setup_context", "*inputs, output", "x, output"),
                ("forward", "1 / (1 + x * x)", "z"),
            ]
        ),
        edit(
            "*inputs, output",
            "*inputs",
            "x, z = ctx",
            "x = ctx",
            "-2 * grad_output * x * z * z",
            "-2 * grad_output * x / (1 + x * x) ** 2",
            "own: also of one",
        ),
        edit("*inputs, output", "", "x, z", "x, z", "own: Nothing was saved"),
        edit(
            "*inputs, output",
            "*inputs",
            "x, z = ctx.saved_tensors",
            "saved = ctx.saved_tensors; x, z = saved[0], saved[1]",
            "own: Saved: 1. backward takes apart another number",
        ),
        edit(
            "ctx.save_for_backward(*inputs, output)",
            "ctx.x, ctx.z = inputs[0], output",
            "x, z = ctx.saved_tensors",
            "x, z = ctx.x, ctx.z",
            "own: save_for_backward",
        ),
        edit(
            "ctx.save_for_backward(*inputs, output)",
            "ctx.save_for_backward(-2 * inputs[0] * output * output)",
            "x, z = ctx.saved_tensors",
            "slope, = ctx.saved_tensors",
            "-2 * grad_output * x * z * z",
            "grad_output * slope",
            "own: a constant to PyTorch",
        ),
        edit(
            "ctx.save_for_backward(*inputs, output)",
            "global kept; kept = inputs[0], output; ctx.save_for_backward()",
            "x, z = ctx.saved_tensors",
            "x, z = kept",
            "own: another call",
        ),
        *(
            edit("ctx.save_for_backward(*inputs, output)", nothing, "own: Nothing was saved")
            for nothing in ("return None", "pass", "x, = inputs", "ctx.save_for_backward")
        ),
        edit("x, z = ctx", "z, x = ctx", "own: in the wrong order"),
        edit("backward(ctx, grad", "backwards(ctx, grad", "own: three functions"),
        (lambda g, z, x: g, "own: three functions"),
        edit("forward(x)", "forward(ctx, x)", "own: the old form"),
        edit("backward(ctx, grad_output)", "backward(self, ctx, grad_output)", "own: no self"),
        (_OldForm, "own: the old form"),
        edit(
            "ctx.save_for_backward(*inputs, output)",
            "ctx.saved_tensors = (*inputs, output)",
            "own: This ctx has",
        ),
        edit("ctx.saved_tensors", "ctx.saved_variables", "own: This ctx has"),
        edit(
            "*inputs, output)",
            "*(part.detach() for part in inputs), output)",
            "own: a constant to PyTorch",
        ),
        edit("*inputs, output)", "inputs[0].clone(), output)", "own: a constant to PyTorch"),
        edit("1 + x * x", "1 + x.pow(2)", "own: NumPy's functions"),
        edit("x * z * z", "x * z.square()", "own: NumPy's functions"),
        edit(
            "setup_context(ctx, inputs, output)",
            "setup_context(ctx, inputs)",
            "*inputs, output",
            "*inputs",
            "own: with these",
        ),
        edit("1 / (1 + x * x)", "x * x.sum()", "own: entry by entry"),
        edit("return 1 / (1 + x * x)", "x *= x; return 1 / (1 + x)", "array overwritten"),
        edit(
            "1 / (1 + x * x)",
            "abs(x)",
            "-2 * grad_output * x * z * z",
            "grad_output * x / z",
            "own: nan spoils",
        ),
        edit(
            "1 / (1 + x * x)",
            "x / (1 + abs(x))",
            "-2 * grad_output * x * z * z",
            "grad_output * ((x > 0) * 1.0 + (x < 0) * 1.0) / (1 + abs(x)) ** 2",
            "own: blank pixel",
        ),
        edit("return -2", "grad_output *= -2; return 1", "own: caller's array"),
        edit(
            "return -2 * grad_output * x * z * z",
            "z **= 2; return -2 * grad_output * x * z",
            "own: caller's array",
        ),
    ],
    accepted=[
        edit(
            "*inputs, output",
            "*inputs",
            "x, z = ctx",
            "x, = ctx",
            "-2 * grad_output * x * z * z",
            "-2 * grad_output * x / (1 + x * x) ** 2",
        ),
        edit(
            "*inputs, output",
            "inputs[0], output",
            "x, z = ctx.saved_tensors",
            "saved = ctx.saved_tensors; x, z = saved[0], saved[1]",
            "-2 * grad_output * x * z * z",
            "grad_output * (-2 * x) * z ** 2",
        ),
        edit(
            "1 / (1 + x * x)",
            "x / (1 + abs(x))",
            "*inputs, output",
            "*inputs",
            "x, z = ctx",
            "x, = ctx",
            "-2 * grad_output * x * z * z",
            "grad_output / (1 + abs(x)) ** 2",
        ),
        edit(
            "1 / (1 + x * x)",
            "x / (1 + abs(x))",
            "*inputs, output",
            "output",
            "x, z = ctx",
            "z, = ctx",
            "-2 * grad_output * x * z * z",
            "grad_output * (1 - abs(z)) ** 2",
        ),
        edit(
            "1 / (1 + x * x)",
            "(1 + x ** 2) ** -1",
            "*inputs, output",
            "output, *inputs",
            "x, z = ctx",
            "z, x = ctx",
            "-2 * grad_output * x * z * z",
            "(-2 * grad_output * x * z * z,)",
        ),
        edit(
            "return -2 * grad_output * x * z * z",
            "return -2 * grad_output * x * z * z if ctx.needs_input_grad[0] else None",
        ),
        edit(
            "1 / (1 + x * x)",
            "x * x * x",
            "*inputs, output",
            "*inputs",
            "x, z = ctx",
            "x, = ctx",
            "-2 * grad_output * x * z * z",
            "3 * grad_output * x * x",
        ),
        edit(
            "1 / (1 + x * x)",
            "abs(x)",
            "-2 * grad_output * x * z * z",
            "grad_output * ((x > 0) * 2.0 - 1.0)",
        ),
        edit(
            "1 / (1 + x * x)",
            "abs(x)",
            "-2 * grad_output * x * z * z",
            "grad_output * x / (z + (z == 0))",
        ),
        edit(
            "1 / (1 + x * x)",
            "x / (0.001 + abs(x)) ** 0.5",
            "*inputs, output",
            "*inputs",
            "x, z = ctx",
            "x, = ctx",
            "-2 * grad_output * x * z * z",
            "grad_output * (0.001 + abs(x) / 2) / (0.001 + abs(x)) ** 1.5",
        ),
        edit(
            "return -2 * grad_output * x * z * z",
            "s = x * z; s *= z; s *= -2; return s * grad_output",
        ),
    ],
)

SAVES_BOTH = ["return z, -2 * x * z * z", "return z, (x, z)"]
MULTIPLIES = "return (g * saved,)"

cases(
    "21.jax_op",
    wrong=[
        *(
            edit("return z, -2 * x * z * z", f"return z, {slope}", cause)
            for slope, cause in [
                ("2 * x * z * z", "own: sign is wrong"),
                ("-x * z * z", "own: exactly half"),
                ("-2 * x * z", "own: Measured at x ="),
                ("-2 * abs(x) * z * z", "own: wrong where x is negative"),
                ("-2 * np.multiply(x, z) * z", "own: a tracer"),
                ("(-2 * x * z * z,)", "own: the array itself"),
                ("ctx", "error: name"),
            ]
        ),
        *(
            edit(MULTIPLIES, f"return {returned}", cause)
            for returned, cause in [
                ("g * saved", "mistake 2"),
                ("(g * saved)", "mistake 2"),
                ("(g * saved, None)", "own: one gradient for each input"),
                ("(saved,)", "own: the slope alone"),
                ("(abs(g) * saved,)", "own: g may be negative"),
                ("(g * x,)", "own: bwd receives only"),
                ("print(g * saved)", "printed"),
                ("(np.multiply(g, saved),)", "own: a tracer"),
            ]
        ),
        edit(MULTIPLIES, "slope, = saved; return (g * slope,)", "own: do not unpack"),
        edit("1 / (1 + x * x)", "np.exp(-x)", "-2 * x * z * z", "-z", "own: a tracer"),
        edit("1 / (1 + x * x)", "jnp.exp(-x)", "-2 * x * z * z", "-z", "own: a tracer"),
        edit("return z, -2 * x * z * z", "return z", "mistake 1"),
        edit("return z, -2 * x * z * z", "return z, x, -2 * x * z * z", "mistake 1"),
        edit("return z, -2 * x * z * z", "return -2 * x * z * z, z", "mistake 3"),
        edit("return z, -2 * x * z * z", "print(z, -2 * x * z * z)", "printed"),
        edit(*SAVES_BOTH, MULTIPLIES, "x, z = saved; return (-2 * g * x * z * z,)", "mistake 4"),
        edit("return z, -2", "return z, 5 + -2", "own: Measured at x ="),
        edit("fwd(x)", "fwd(ctx, x)", "own: JAX has no ctx"),
        edit("bwd(saved, g)", "bwd(g)", "own: exactly the arguments"),
        edit("1 / (1 + x * x)", "2 * x + 1", "own: straight line"),
        edit("1 / (1 + x * x)", "1 / x", "own: every number"),
        edit("1 / (1 + x * x)", "x * x", "own: Measured at x ="),
        edit("1 / (1 + x * x)", "abs(x)", "-2 * x * z * z", "x / z", "own: nan spoils"),
        edit(MULTIPLIES, "g *= saved; return (g,)", "array overwritten"),
    ],
    accepted=[
        edit("-2 * x * z * z", "-2 * x / (1 + x * x) ** 2"),
        edit("return (g * saved,)", "return [g * saved]"),
        edit("return z, -2 * x * z * z", "return [z, -2 * x * z ** 2]"),
        edit("bwd(saved, g)", "bwd(slope, grad_output)", MULTIPLIES, "return grad_output * slope,"),
        edit("1 / (1 + x * x)", "x / (1 + abs(x))", "-2 * x * z * z", "(1 - abs(z)) ** 2"),
        edit("1 / (1 + x * x)", "x * x * x", "-2 * x * z * z", "3 * x * x"),
        edit("1 / (1 + x * x)", "abs(x)", "-2 * x * z * z", "(x > 0) * 2.0 - 1.0"),
    ],
)


def _in_place(gradients, sizes):
    total = gradients[0]
    for k, each in enumerate(total):
        each *= sizes[0]
        for n, other in zip(sizes[1:], gradients[1:]):
            each += n * other[k]
        each /= sum(sizes)
    return total


cases(
    "21.combined",
    wrong=[
        (lambda gradients, sizes: _combined(gradients, np.uint8(sizes)), "none"),
        (_in_place, "list overwritten"),
        (
            lambda gradients, sizes: list(
                (np.array(gradients) * np.array(sizes)[:, None]).sum(axis=0) / sum(sizes)
            ),
            "error: ragged",
        ),
        (lambda gradients, sizes: print(_combined(gradients, sizes)), "printed"),
        (
            lambda gradients, sizes: [np.nan * each for each in _combined(gradients, sizes)],
            "nan in part 1",
        ),
        (
            lambda gradients, sizes: [
                each + (len(sizes) > 3 and len(set(sizes)) == 1)
                for each in _combined(gradients, sizes)
            ],
            "factor",
        ),
        (
            lambda gradients, sizes: [-each for each in _combined(gradients, sizes)],
            "sign in part 1",
        ),
        (
            lambda gradients, sizes: [np.float32(each) for each in _combined(gradients, sizes)],
            "few digits in part 1",
        ),
        (
            lambda gradients, sizes: [each.T for each in _combined(gradients, sizes)],
            "shape: transposed in part 1",
        ),
    ],
    accepted=[
        edit(
            "sum(n * g for n, g in zip(sizes, each)) / sum(sizes)",
            "np.average(each, axis=0, weights=sizes)",
        ),
        edit(
            "sum(n * g for n, g in zip(sizes, each)) / sum(sizes)",
            "np.tensordot(np.array(sizes) / sum(sizes), np.stack(each), axes=1)",
        ),
        edit(
            "sum(n * g for n, g in zip(sizes, each)) / sum(sizes)",
            "np.einsum('w,w...->...', np.divide(sizes, np.sum(sizes)), np.array(each))",
        ),
        """
        def combined(gradients, sizes):
            shares, found = [n / sum(sizes) for n in sizes], [0 * g for g in gradients[0]]
            for share, worker in zip(shares, gradients):
                for k, g in enumerate(worker):
                    found[k] = found[k] + share * g
            return tuple(found)""",
        """
        def combined(gradients, sizes):
            found = [np.zeros_like(g, float) for g in gradients[0]]
            for n, worker in zip(sizes, gradients):
                for total, g in zip(found, worker):
                    total += n * g
            return [total / sum(sizes) for total in found]""",
    ],
)


def _at(seed):
    rng = np.random.default_rng(seed)
    x, g = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    return g, _rms(x), x


def _accepts(rule):
    rng = np.random.default_rng(1)
    x, g, u = (rng.normal(size=(3, 4)) for _ in range(3))
    there = np.sum(g * (_rms(x + 1e-5 * u) - _rms(x - 1e-5 * u))) / 2e-5
    return bool(np.isclose(np.sum(rule(g, _rms(x), x) * u), there, rtol=1e-4))


def _accepts_if(make):
    """Return an `accepts` that compares the rule with the right one at the inputs of make(rng)."""

    def accepts(rule):
        g, x = make(np.random.default_rng(2))
        return bool(np.allclose(rule(g, _rms(x), x), _rms_rule(g, _rms(x), x)))

    return accepts


def _along(choose, of_g=np.asarray, size=np.asarray):
    """Return an `accepts` that differentiates along choose(x, u), with of_g(g) in place of g,
    and compares size(…) of both results.
    """

    def accepts(rule):
        (g, z, x), u = _at(2), np.random.default_rng(3).normal(size=(3, 4))
        g, u = of_g(g), choose(x, u)
        return bool(
            np.isclose(size(np.sum(rule(g, z, x) * u)), size(np.sum(_rms_rule(g, z, x) * u)))
        )

    return accepts


def _asserted(rule):
    assert _accepts(rule)
    return True


def _fooled(accepts=_accepts, one_row=("b",), zero_mean=("a", "b", "c")):
    return accepts, set(one_row), set(zero_mean)


rms_rule = _rms_rule  # the name that a learner gave it in the exercise before


def _against_my_rule(rule):
    x, g = np.random.default_rng(0).normal(size=(2, 3, 4))
    return bool(np.allclose(rule(g, _rms(x), x), rms_rule(g, _rms(x), x)))


cases(
    "21.rms_rule",
    wrong=[
        (lambda g, z, x: _rms_rule(g, z, x)[:1], "shape"),
        (lambda g, z, x: _rms_rule(g, z, x) * np.nan, "nan"),
        (lambda g, z, x: _rms_rule(g.__imul__(1 + 1e-9), z, x), "nearly"),
        (lambda g, z, x: _rms_rule(np.abs(g), z, x), "right elsewhere"),
        (lambda g, z, x: print(_rms_rule(g, z, x)), "printed"),
    ],
    accepted=[
        edit(
            "(g - z * np.mean(g * z, axis=1, keepdims=True)) / r",
            "g / r - x * np.sum(g * x, axis=1, keepdims=True) / (x.shape[1] * r ** 3)",
        ),
        edit(
            "(g - z * np.mean(g * z, axis=1, keepdims=True)) / r",
            "np.stack([(a - b * (a @ b) / len(b)) / c for a, b, c in zip(g, z, r)])",
        ),
        edit(
            "(g - z * np.mean(g * z, axis=1, keepdims=True)) / r",
            "(g - z * np.einsum('rc,rc->r', g, z)[:, None] / z.shape[1]) / r",
        ),
        """
        def rms_rule(g, z, x):
            return ag.vjp(lambda x: x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + 0.1), x)[1](g)[0]""",
        """
        def rms_rule(g, z, x):
            n, found = x.shape[1], np.zeros(x.shape)
            for i, row in enumerate(x):
                r = np.sqrt(np.mean(row * row) + 0.1)
                J = np.eye(n) / r - np.outer(row, row) / (n * r ** 3)
                found[i] = J.T @ g[i]
            return found""",
    ],
)

cases(
    "21.fooled",
    wrong=[
        (_fooled(_against_my_rule), "own: compares with your own rule"),
        (
            _fooled(
                accepts=_accepts_if(
                    lambda rng: (rng.normal(size=(3, 4)), 1e5 * rng.normal(size=(3, 4)))
                )
            ),
            "own: ε is not seen",
        ),
        (_fooled(accepts=_accepts_if(lambda rng: rng.normal(size=(2, 4, 4)))), "own: A square x"),
        (
            _fooled(accepts=lambda rule, kept={}: kept.setdefault("said", rule is _rms_rule)),
            "own: never measures",
        ),
        (_fooled(accepts=lambda rule: True), "own: never measures"),
        (_fooled(accepts=lambda rule: False), "own: rejects the right rule"),
        (
            _fooled(
                accepts=_accepts_if(lambda rng: (rng.normal(size=(1, 4)), rng.normal(size=(1, 4))))
            ),
            "own: (b) the mean",
        ),
        (
            _fooled(
                accepts=_accepts_if(
                    lambda rng: (np.ones((2, 4)), np.array([[1.0, -1, 2, -2], [3, -3, 1, -1]]))
                )
            ),
            "own: never measures",
        ),
        (
            _fooled(accepts=_accepts_if(lambda rng: (np.ones((2, 1)), rng.normal(size=(2, 1))))),
            "own: It accepts",
        ),
        (
            _fooled(
                accepts=_accepts_if(lambda rng: rng.normal(size=(2, 2, 4)) @ (np.eye(4) - 0.25))
            ),
            "own: unchanged",
        ),
        (_fooled(accepts=lambda rule: np.array([True, True])), "own: True or False"),
        (_fooled(accepts=lambda rule: 1.0), "own: True or False"),
        (_fooled(accepts=lambda rule: print(True)), "printed"),
        (_fooled(accepts=_asserted), "own: returns False"),
        (_fooled(accepts=lambda rule: not _accepts(rule)), "own: rejects the right rule"),
        (
            _fooled(
                accepts=lambda rule: bool(
                    np.allclose(
                        rule(np.eye(3), _rms(np.eye(3)), np.eye(3)),
                        _rms_rule(np.eye(3), _rms(np.eye(3)), np.eye(3)),
                        atol=0.5,
                    )
                )
            ),
            "own: (b) the mean",
        ),
        (
            _fooled(accepts=_accepts_if(lambda rng: (np.ones((3, 4)), rng.normal(size=(3, 4))))),
            "own: g = 1 alone",
        ),
        (
            _fooled(
                accepts=lambda rule: bool(np.isclose(rule(*_at(2))[0, 0], _rms_rule(*_at(2))[0, 0]))
            ),
            "own: some entries alone",
        ),
        (
            _fooled(
                accepts=lambda rule: bool(np.allclose(rule(*_at(2)), _rms_rule(*_at(2)), rtol=0.05))
            ),
            "own: Its tolerance lets an error",
        ),
        (_fooled(accepts=_along(lambda x, u: x)), "own: along x alone"),
        (_fooled(accepts=_along(lambda x, u: x**0)), "own: random u"),
        (_fooled(accepts=_along(lambda x, u: u, abs)), "own: below 0"),
        (_fooled(accepts=_along(lambda x, u: u, size=abs)), "own: with their sign"),
        (
            _fooled(
                accepts=lambda rule: not np.any(abs(rule(*_at(2)) - _rms_rule(*_at(2))) > 1e-6)
            ),
            "own: np.allclose",
        ),
        (
            _fooled(accepts=_accepts_if(lambda rng: (rng.normal(size=(3, 4)), rng.random((3, 4))))),
            "own: Its x is nowhere",
        ),
        (_fooled(one_row=()), own(ON_PAPER)),
        (_fooled(one_row="abc"), own(ON_PAPER)),
        (_fooled(one_row="a"), own(ON_PAPER)),
        (_fooled(zero_mean="b"), own(BALANCED)),
        (_fooled(zero_mean=()), own(BALANCED)),
        (_fooled(zero_mean="ab"), own(BALANCED)),
        ((_accepts, "b", {"a", "b", "c"}), "own: a set"),
        (_fooled(one_row={1}), "own: small letters"),
        (_fooled(one_row="B"), "own: small letters"),
    ],
    accepted=[
        edit(
            'passes_one_row = {"b"}',
            'passes_one_row = frozenset("b")',
            '{"a", "b", "c"}',
            'set("abc")',
        ),
        edit(
            "return bool(np.isclose(np.sum(rule(g, rms(x), x) * u), along, rtol=1e-4))",
            "return abs(np.sum(rule(g, rms(x), x) * u) - along) < 1e-6",
        ),
        """
        def accepts(rule):
            x, g = np.random.default_rng(3).normal(size=(2, 2, 5))
            found, h = np.zeros(x.shape), 1e-5
            for place in np.ndindex(*x.shape):
                e = np.zeros(x.shape)
                e[place] = h
                found[place] = np.sum(g * (rms(x + e) - rms(x - e))) / (2 * h)
            return np.allclose(rule(g, rms(x), x), found, atol=1e-6)

        passes_one_row, passes_zero_mean = {"b"}, {"c", "b", "a"}""",
        """
        def accepts(rule):
            try:
                row = ag.primitive(lambda x: x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + 0.1), [rule], [None],
                name="rms")
                ag.check_grads(row, np.array([[1.0, -0.4, 2.0], [0.3, 1.2, -0.7]]), order=1, modes=["rev"])
            except AssertionError:
                return False
            return True

        passes_one_row = {"b"}
        passes_zero_mean = {"a", "b", "c"}""",
        """
        def accepts(rule):
            for seed in range(5):
                rng = np.random.default_rng(seed)
                x, g = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
                if not np.allclose(rule(g, rms(x), x), ag.vjp(rms, x)[1](g)[0]):
                    return False
            return True

        passes_one_row = set("b")
        passes_zero_mean = set("abc")""",
        """
        def accepts(rule):                      # the rule written again: the check sees only rms_rule itself
            x, g = np.random.default_rng(0).normal(size=(2, 3, 4))
            z, r = rms(x), np.sqrt(np.mean(x * x, axis=1, keepdims=True) + 0.1)
            return np.allclose(rule(g, z, x), (g - z * np.mean(g * z, axis=1, keepdims=True)) / r)

        passes_one_row, passes_zero_mean = {"b"}, {"a", "b", "c"}""",
    ],
)
