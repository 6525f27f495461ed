"""Thrown at the exercises of lesson 21, beside their mistakes: more wrong answers, and right ones in other styles."""

import numpy as np
from thrown import throw

from autograd_course.grading import edit
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

throw(
    "21.diagnose",
    planted=[
        (_diagnosis(B=7, C=4), EVIDENCE["B"][:30]),
        (_diagnosis(A=3, E=5), EVIDENCE["A"][:30]),
        (_diagnosis(A="5"), "without quotes"),
        (_diagnosis(A=9), "from 1 to 8"),
        (_diagnosis(C=0), "from 1 to 8"),
        (_diagnosis(A="std"), "from 1 to 8"),
        (_diagnosis(A=np.nan), "from 1 to 8"),
        (_diagnosis(A=True), "from 1 to 8"),
        (_diagnosis(B=(4, 7)), "One number"),
        (_diagnosis(B=[4]), "One number"),
        ((5, 4, 7, 1), "5 values"),
        (RIGHT, "5 values"),
    ],
    also_right=[
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


throw(
    "21.my_op",
    planted=[
        *(
            (edit("-2 * grad_output * x * z * z", wrong, hint))
            for wrong, hint in [
                ("-2 * x * z * z", "grad_output is missing"),
                ("2 * grad_output * x * z * z", "wrong sign"),
                ("-2 * grad_output * x * z", "Measured"),
                ("-2 * grad_output * abs(x) * z * z", "Measured"),
                ("-grad_output * x * z * z", "Exactly half"),
                ("grad_output * z", "Measured"),
                ("grad_output", "Measured"),
                ("-2 * abs(grad_output) * x * z * z", "Measured"),
                ("(-2 * grad_output * x * z * z, None)", "as many"),
                ("[-2 * grad_output * x * z * z]", "list"),
                ("-2 * np.multiply(grad_output, x) * z * z", "NumPy's functions"),
                ("print(-2 * grad_output * x * z * z)", "return"),
                ("float('nan') * grad_output * x * z * z", "nan"),
                ("-2 * grad_output * z * z * z * x", "Measured"),
                ("-2 * grad_output * x * z * z + 0 * 1e-3 + 0.001", "Measured"),
                ("-2 * grad_output[0] * x * z * z", "Measured"),
                ("-2 * grad_output * int(x) * z * z", "a tensor"),
            ]
        ),
        edit("1 / (1 + x * x)", "x * x", "Measured"),
        edit("1 / (1 + x * x)", "2 * x + 1", "straight line"),
        edit("1 / (1 + x * x)", "abs(x + 9) - abs(x - 9)", "Measured"),
        edit(
            "-2 * grad_output * x * z * z",
            "-2 * grad_output * x * z * z * (abs(x) < 100)",
            "Measured at x = ",
        ),
        edit("1 / (1 + x * x)", "1 / np.add(1, x * x)", "NumPy's functions"),
        edit("1 / (1 + x * x)", "1 / x", "every number"),
        edit(
            "*inputs, output",
            "output",
            "x, z",
            "z",
            "x * z * z",
            "(1 / z - 1) ** 0.5 * z * z",
            "also of one",
        ),
        edit(
            "*inputs, output",
            "output",
            "x, z = ctx",
            "z, = ctx",
            "x * z * z",
            "(1 / z - 1) ** 0.5 * z * z",
            "Measured",
        ),
        edit("*inputs, output", "inputs, output", "as it is"),
        edit(
            "*inputs, output",
            "*inputs",
            "x, z = ctx",
            "x = ctx",
            "-2 * grad_output * x * z * z",
            "-2 * grad_output * x / (1 + x * x) ** 2",
            "also of one",
        ),
        edit("*inputs, output", "", "x, z", "x, z", "Nothing was saved"),
        edit(
            "*inputs, output",
            "*inputs",
            "x, z = ctx.saved_tensors",
            "saved = ctx.saved_tensors; x, z = saved[0], saved[1]",
            "Saved: 1. backward takes apart another number",
        ),
        edit(
            "ctx.save_for_backward(*inputs, output)",
            "ctx.x, ctx.z = inputs[0], output",
            "x, z = ctx.saved_tensors",
            "x, z = ctx.x, ctx.z",
            "save_for_backward",
        ),
        edit(
            "ctx.save_for_backward(*inputs, output)",
            "ctx.save_for_backward(-2 * inputs[0] * output * output)",
            "x, z = ctx.saved_tensors",
            "slope, = ctx.saved_tensors",
            "-2 * grad_output * x * z * z",
            "grad_output * slope",
            "a constant to PyTorch",
        ),
        edit(
            "ctx.save_for_backward(*inputs, output)",
            "global kept; kept = inputs[0], output; ctx.save_for_backward()",
            "x, z = ctx.saved_tensors",
            "x, z = kept",
            "another call",
        ),
        edit("x, z = ctx", "z, x = ctx", "Measured"),
        edit("backward(ctx, grad", "backwards(ctx, grad", "three functions"),
        (lambda g, z, x: g, "A class"),
        edit("forward(x)", "forward(ctx, x)", "the old form"),
        (_OldForm, "the old form"),
        edit(
            "ctx.save_for_backward(*inputs, output)",
            "ctx.saved_tensors = (*inputs, output)",
            "This ctx has",
        ),
        edit("ctx.saved_tensors", "ctx.saved_variables", "This ctx has"),
        edit(
            "*inputs, output)",
            "*(part.detach() for part in inputs), output)",
            "a constant to PyTorch",
        ),
        edit("*inputs, output)", "inputs[0].clone(), output)", "a constant to PyTorch"),
        edit("1 + x * x", "1 + x.pow(2)", "Both know"),
        edit("x * z * z", "x * z.square()", "Both know"),
        edit(
            "setup_context(ctx, inputs, output)",
            "setup_context(ctx, inputs)",
            "*inputs, output",
            "*inputs",
            "with these",
        ),
        edit("1 / (1 + x * x)", "x * x.sum()", "entry by entry"),
        edit("return 1 / (1 + x * x)", "x *= x; return 1 / (1 + x)", "caller's array"),
        edit(
            "1 / (1 + x * x)",
            "abs(x)",
            "-2 * grad_output * x * z * z",
            "grad_output * x / z",
            "nan spoils",
        ),
        edit(
            "1 / (1 + x * x)",
            "x / (1 + abs(x))",
            "-2 * grad_output * x * z * z",
            "grad_output * ((x > 0) * 1.0 + (x < 0) * 1.0) / (1 + abs(x)) ** 2",
            "blank pixel",
        ),
        edit("return -2", "grad_output *= -2; return 1", "caller's array"),
        edit(
            "return -2 * grad_output * x * z * z",
            "z **= 2; return -2 * grad_output * x * z",
            "caller's array",
        ),
    ],
    also_right=[
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


def _in_place(gradients, sizes):
    total = gradients[0]
    for k, each in enumerate(total):
        each *= sizes[0]
        for n, other in zip(sizes[1:], gradients[1:]):
            each += n * other[k]
        each /= sum(sizes)
    return total


throw(
    "21.combined",
    planted=[
        (lambda gradients, sizes: _combined(gradients, np.uint8(sizes)), "OverflowError"),
        (_in_place, "caller"),
        (lambda gradients, sizes: print(_combined(gradients, sizes)), "print"),
        (lambda gradients, sizes: [np.nan * each for each in _combined(gradients, sizes)], "nan"),
        (
            lambda gradients, sizes: [
                each + (len(sizes) > 3 and len(set(sizes)) == 1)
                for each in _combined(gradients, sizes)
            ],
            "got",
        ),
        (lambda gradients, sizes: [-each for each in _combined(gradients, sizes)], "wrong sign"),
        (
            lambda gradients, sizes: [np.float32(each) for each in _combined(gradients, sizes)],
            "float32",
        ),
        (lambda gradients, sizes: [each.T for each in _combined(gradients, sizes)], "Number 1"),
    ],
    also_right=[
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
    """An `accepts` that compares the rule with the right one at the inputs of make(rng)."""

    def accepts(rule):
        g, x = make(np.random.default_rng(2))
        return bool(np.allclose(rule(g, _rms(x), x), _rms_rule(g, _rms(x), x)))

    return accepts


def _along(choose, of_g=np.asarray, size=np.asarray):
    """An `accepts` that goes along choose(x, u), with of_g(g) for g, and compares the size(…) of what it finds."""

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


throw(
    "21.rms_rule",
    planted=[
        (lambda g, z, x: _rms_rule(g, z, x)[:1], "Shape"),
        (lambda g, z, x: _rms_rule(g, z, x) * np.nan, "nan"),
        (lambda g, z, x: _rms_rule(g.__imul__(1 + 1e-9), z, x), "Nearly right"),
        (lambda g, z, x: _rms_rule(np.abs(g), z, x), "expected"),
        (lambda g, z, x: print(_rms_rule(g, z, x)), "print"),
    ],
    also_right=[
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

throw(
    "21.fooled",
    planted=[
        (
            _fooled(
                accepts=_accepts_if(
                    lambda rng: (rng.normal(size=(3, 4)), 1e5 * rng.normal(size=(3, 4)))
                )
            ),
            "ε is not seen",
        ),
        (_fooled(accepts=_accepts_if(lambda rng: rng.normal(size=(2, 4, 4)))), "A square x"),
        (
            _fooled(accepts=lambda rule, kept={}: kept.setdefault("said", rule is _rms_rule)),
            "keeps the answer",
        ),
        (_fooled(accepts=lambda rule: True), "never measures"),
        (_fooled(accepts=lambda rule: False), "refuses the right rule"),
        (
            _fooled(
                accepts=_accepts_if(lambda rng: (rng.normal(size=(1, 4)), rng.normal(size=(1, 4))))
            ),
            "(b) the mean",
        ),
        (
            _fooled(
                accepts=_accepts_if(
                    lambda rng: (np.ones((2, 4)), np.array([[1.0, -1, 2, -2], [3, -3, 1, -1]]))
                )
            ),
            "never measures",
        ),
        (
            _fooled(accepts=_accepts_if(lambda rng: (np.ones((2, 1)), rng.normal(size=(2, 1))))),
            "It accepts",
        ),
        (
            _fooled(
                accepts=_accepts_if(lambda rng: rng.normal(size=(2, 2, 4)) @ (np.eye(4) - 0.25))
            ),
            "unchanged",
        ),
        (_fooled(accepts=lambda rule: np.array([True, True])), "True or False"),
        (_fooled(accepts=lambda rule: 1.0), "True or False"),
        (_fooled(accepts=lambda rule: print(True)), "print"),
        (_fooled(accepts=_asserted), "give back False"),
        (_fooled(accepts=lambda rule: not _accepts(rule)), "refuses the right rule"),
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
            "It accepts",
        ),
        (
            _fooled(accepts=_accepts_if(lambda rng: (np.ones((3, 4)), rng.normal(size=(3, 4))))),
            "g = 1 alone",
        ),
        (
            _fooled(
                accepts=lambda rule: bool(np.isclose(rule(*_at(2))[0, 0], _rms_rule(*_at(2))[0, 0]))
            ),
            "some entries alone",
        ),
        (
            _fooled(
                accepts=lambda rule: bool(np.allclose(rule(*_at(2)), _rms_rule(*_at(2)), rtol=0.05))
            ),
            "1 %",
        ),
        (_fooled(accepts=_along(lambda x, u: x)), "along x alone"),
        (_fooled(accepts=_along(lambda x, u: x**0)), "random u"),
        (_fooled(accepts=_along(lambda x, u: u, abs)), "below 0"),
        (_fooled(accepts=_along(lambda x, u: u, size=abs)), "with their sign"),
        (
            _fooled(
                accepts=lambda rule: not np.any(abs(rule(*_at(2)) - _rms_rule(*_at(2))) > 1e-6)
            ),
            "np.allclose",
        ),
        (
            _fooled(accepts=_accepts_if(lambda rng: (rng.normal(size=(3, 4)), rng.random((3, 4))))),
            "Its x is nowhere",
        ),
        (_fooled(one_row=()), ON_PAPER[:20]),
        (_fooled(one_row="abc"), ON_PAPER[:20]),
        (_fooled(one_row="a"), ON_PAPER[:20]),
        (_fooled(zero_mean="b"), BALANCED[:20]),
        (_fooled(zero_mean=()), BALANCED[:20]),
        (_fooled(zero_mean="ab"), BALANCED[:20]),
        ((_accepts, "b", {"a", "b", "c"}), "a set"),
        (_fooled(one_row={1}), "small letters"),
        (_fooled(one_row="B"), "small letters"),
    ],
    also_right=[
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
    ],
)
