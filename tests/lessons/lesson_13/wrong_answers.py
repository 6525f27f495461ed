"""Wrong answers to the exercises of lesson 13 with their causes, and right answers in other styles."""

import numpy as np
from answer_cases import cases

from autograd_course.grading import edit
from autograd_course.lessons.lesson_13.exercises import _ADD, _ALL, _ON, _SHORT, _TANH, _uses

cases(
    "13.rule",
    wrong=[
        ((1.65, -1), "rounded in part 1"),
        (("2 cos 0.6", -1), "not a number in part 1"),
        (1.65067, "one part"),
        ((0.6, -1), "none in part 1"),
        ((np.nan, -1), "nan in part 1"),
        ((1.6507, 0), "none in part 2"),
        ((3.3013, -2), "none in part 1"),
    ],
    accepted=[
        "(1.6507, -1)",
        "[2 * np.cos(0.6), -1.0]",
        "(np.exp(0.6j) + np.exp(-0.6j)).real, -1",
        "np.sin(1.2) / np.sin(0.6), -1",
        "np.array([2 * np.cos(0.6), -1])",
    ],
)


def _by_identity():
    kept = []

    def gradient_of_w(w, states, g):
        if not (kept and kept[0] is states):
            kept[:] = states, _uses(w, states, g)
        return kept[1]

    return gradient_of_w


cases(
    "13.uses",
    wrong=[
        (lambda w, states, g: 0.0, "mistake 20"),
        (lambda w, states, g: w and _uses(w, states, g), "right elsewhere | w = 0"),
        edit("total + g", "total + g / 50", "none"),
        edit("- 1, 0, -1", "- 1, max(0, len(states) - 21), -1", "right elsewhere"),
        (lambda w, states, g: np.nan, "nan"),
        edit("return total", "return abs(total)", "mistake 1"),
        edit("return total", "return np.clip(total, -1e6, 1e6)", "right elsewhere | 2e+09"),
        edit("return total", "return round(total, 2)", "right elsewhere"),
        edit("total = 0.0", "total = 0.0; states = states[-4:]", "right elsewhere"),
        (_by_identity(), "state: other g"),
        edit(
            "total = 0.0",
            "total = 0.0; states.reverse(); states.reverse(); states.append(0.0); states.pop(0)",
            "list overwritten",
        ),
    ],
    accepted=[
        """
        def gradient_of_w(w, states, g):
            if len(states) == 1:
                return 0.0
            at_product = g * (1 - states[-1] ** 2)
            return at_product * states[-2] + gradient_of_w(w, states[:-1], at_product * w)""",
        """
        def gradient_of_w(w, states, g):
            slopes = 1 - np.array(states[1:]) ** 2
            arrives = g * np.cumprod(slopes[::-1])[::-1] * w ** np.arange(len(slopes) - 1, -1, -1)
            return np.sum(arrives * states[:-1])""",
        """
        def gradient_of_w(w, states, g):
            w = ag.Tensor(w, requires_grad=True)
            s = states[0]
            for _ in states[1:]:
                s = np.tanh(w * s)
            s.backward(g)
            return w.grad""",
        """
        def gradient_of_w(w, states, g):
            slope = 0.0             # of s_k over w, forwards
            for before, after in zip(states, states[1:]):
                slope = (1 - after ** 2) * (before + w * slope)
            return g * slope""",
        edit(
            _TANH,
            "g -= g * states[k] * states[k]",
            _ADD,
            "total += g * states[k - 1]",
            _ON,
            "g *= w",
        ),
    ],
)

cases(
    "13.truncated",
    wrong=[
        (5, "not a function"),
        edit("k == steps - keep", "k > steps - keep", "none in part 2"),
        edit("range(steps)", "range(steps - 1)", "none in part 1"),
        edit("range(steps)", "range(keep)", "none in part 1"),
        edit("return s", "return w", "none in part 1"),
        edit("return s", "pass", "nothing"),
    ],
    accepted=[
        """
        def truncated(w, s, steps, keep):
            with ag.no_grad():
                for k in range(steps - keep):
                    s = ag.tanh(w * s)
            for k in range(keep):
                s = ag.tanh(w * s)
            return s""",
        edit("k == steps - keep", "k <= steps - keep"),
        edit("k == steps - keep", "steps - k == keep"),
        edit("s = s.detach()", "s = ag.Tensor(s.data)"),
        """
        def truncated(w, s, steps, keep):
            for k in range(steps):
                used = w.detach() if k < steps - keep else w
                s = np.tanh(used * s)
            return s""",
    ],
)

cases(
    "13.clip",
    wrong=[
        edit("norm <= max_norm", "norm <= 1.001 * max_norm", "none in part 1"),
        edit(_ALL, "sum({np.sum(g * g) for g in gradients})", "right elsewhere"),
        edit(_SHORT, _SHORT + "[0]", "shape: axis lost in part 1"),
        edit(_ALL, "sum(np.sum(g * g) for g in gradients if np.ndim(g))", "none in part 1"),
        edit(
            _SHORT,
            "return [np.atleast_1d(g * (max_norm / norm)) for g in gradients]",
            "several numbers in part 2",
        ),
        (2.6, "not a function"),
        edit("max_norm / norm", "0.3", "factor in part 1"),
        edit(
            _SHORT,
            "for g in gradients:\n        g *= max_norm / norm\n    return gradients",
            "list overwritten",
        ),
        edit(
            _SHORT,
            "return [g * (max_norm / norm) for g in gradients if g.any()]",
            "number of values",
        ),
        edit(
            _SHORT, "return [np.round(g * (max_norm / norm)) for g in gradients]", "none in part 1"
        ),
        edit(
            _SHORT,
            "return [g.ravel() * (max_norm / norm) for g in gradients]",
            "shape: axis of 1 lost in part 2",
        ),
        edit(_SHORT, "return [g * np.nan for g in gradients]", "nan in part 1"),
    ],
    accepted=[
        "lambda gradients, c: [g * min(1, c / np.sqrt(sum(np.vdot(a, a) for a in gradients))) for g in gradients]",
        """
        def clip(gradients, max_norm):
            everything = np.concatenate([g.ravel() for g in gradients])
            factor = max_norm / max(np.linalg.norm(everything), max_norm)
            return tuple(factor * g for g in gradients)""",
        """
        def clip(gradients, max_norm):
            squares = 0.0
            for g in gradients:
                for entry in g.flat:
                    squares += entry ** 2
            shorter = []
            for g in gradients:
                shorter.append(g.copy() if squares <= max_norm ** 2 else g / squares ** 0.5 * max_norm)
            return shorter""",
        """
        def clip(gradients, max_norm):
            norm = np.linalg.norm([np.linalg.norm(g) for g in gradients])
            return [np.where(norm > max_norm, g * max_norm / norm, g) for g in gradients]""",
        edit(_ALL, "sum(np.einsum('i,i', g.ravel(), g.ravel()) for g in gradients)"),
        """
        def clip(gradients, max_norm):          # PyTorch's, with 1e-6 under the line
            copies = [g.copy() for g in gradients]
            norm = np.sqrt(sum((g ** 2).sum() for g in copies))
            for g in copies:
                g *= min(1.0, max_norm / (norm + 1e-6))
            return copies""",
    ],
)
