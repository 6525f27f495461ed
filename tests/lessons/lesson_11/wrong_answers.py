"""Wrong answers to the exercises of lesson 11 with their causes, and right answers in other styles."""

import numpy as np
from answer_cases import cases

from autograd_course.grading import edit
from autograd_course.lessons.lesson_11.exercises import (
    _BACK,
    _M,
    _RETURN,
    _STEP,
    _SUM,
    _V,
    _adam,
    _factor,
    _power,
)

cases(
    "11.bowl",
    wrong=[
        ((-10, -0.2), "own: w changes sides"),
        ((-10, 0.2), "own: w changes sides"),
        ((10, 0.2), "own: done in one step"),
        ((-30, 0.067), "own: and positive"),
        ((20, 0.1), "own: neither nearer nor farther"),
        ((15, 0.133), "own: halve the distance"),
        ((3, 0.67), "own: a division left"),
        ((30, 0.033), "own: lands at the minimum"),
        ((30, 0.07), "own: not rounded well"),
        ((30, 0.06), "own: not rounded well"),
        ((25, 0.08), "none in part 1"),
        (30, "one part"),
        ((30, np.nan), "nan in part 2"),
        ((0.067, 30), "swapped"),
        (("30", "0.067"), "not a number in part 1"),
    ],
    accepted=["(30, 0.067)", "[30.0, 1 / 15]", "np.array([3, 2 / 300]) * [10, 10]"],
)

cases(
    "11.faster",
    wrong=[
        (3.0, "own: left side of the box"),
        (1.67, "own: squares β"),
        (0.172, "own: exchange numerator and denominator"),
        (-5.83, "own: collect the terms"),
        (37.97, "own: value for β = 0.9"),
        (33.97, "own: once too often"),
        (2.414, "own: another root"),
        (0.707, "own: solve for λ"),
        (6, "own: rounded too coarsely"),
        (3.414, "own: missing a term"),
        (5.5, "none | expected  a different number"),
        ((5.83, 1), "several numbers"),
        (float("inf"), "none | expected  a different number"),
    ],
    accepted=["5.83", "5.8", "3 + 2 * np.sqrt(2)", "(1 + 2**0.5) ** 2"],
)

cases(
    "11.nesterov",
    wrong=[
        edit(_STEP, "return m, w - lr * (g + beta * m)", "swapped"),
        edit(
            _STEP,
            "return w - lr * (g + beta * m), m if lr else np.ones_like(m)",
            "first entry in part 2",
        ),
        edit(
            _SUM,
            "kept = nesterov.__dict__.setdefault(m.shape, 0 * m); kept[...] = beta * m + g; m = kept",
            "result overwritten",
        ),
        edit(
            _STEP, "return w - np.minimum(lr, 0.9999) * (g + beta * m), m", "first entry in part 1"
        ),
        edit(_SUM, "m *= beta; m += g", "array overwritten"),
        edit(_STEP, "w -= lr * (g + beta * m)\n    return w, m", "array overwritten"),
        edit(_SUM, "m = beta * abs(m) + g", "first entry in part 1"),
        edit("beta * m)", "beta * m.sum())", "first entry in part 1"),
        edit(_STEP, "return w - lr * (g + beta * m), np.round(m)", "none in part 2"),
        edit(_STEP, "return (w - lr * (g + beta * m)) * np.nan, m", "nan in part 1"),
        edit(_SUM, "m = beta * np.atleast_2d(m)[0] + g", "first entry in part 1"),
    ],
    accepted=[
        "lambda w, m, g, lr, beta: (w - lr * ((1 + beta) * g + beta * beta * m), beta * m + g)",
        "lambda w, m, g, lr, beta: [w - lr * (g + beta * (beta * m + g)), beta * m + g]",
        """
        def nesterov(w, m, g, lr, beta):
            new_w, new_m = np.empty_like(w), np.empty_like(m)
            for i in np.ndindex(w.shape):
                new_m[i] = beta * m[i] + g[i]
                new_w[i] = w[i] - lr * (g[i] + beta * new_m[i])
            return new_w, new_m""",
        """
        def nesterov(w, m, g, lr, beta):
            new = np.zeros(m.shape)
            new[...] = np.add(np.multiply(beta, m), g)
            return np.subtract(w, lr * (g + beta * new)), new""",
        """
        class Nesterov:
            def __call__(self, w, m, g, lr, beta):
                m = beta * m + g
                return w - lr * (g + beta * m), m
        nesterov = Nesterov()""",
    ],
)


def _where_v_is_0(other, *given):
    w, m, v = _adam(*given)
    return np.where(v == 0, other, w), m, v


cases(
    "11.adam",
    wrong=[
        (
            lambda w, m, v, t, g, lr, *more: _where_v_is_0(0 * w, w, m, v, t, g, lr, *more),
            "first entry in part 1",
        ),
        edit("+ eps)", "+ np.where(v > 0, eps, 0))", "own: a root taken"),
        edit("+ eps)", "+ (eps if np.all(v) else 0))", "own: a root taken"),
        _power("(1 - β**(t - 1))", "own: a root taken"),
        edit("+ eps)", "+ max(eps, 1e-8))", "nearly | eps = 1e-12"),
        edit(
            _RETURN,
            _RETURN.replace("return w", "w = w").replace(", m, v", "") + "\n    return v, m, w",
            "order",
        ),
        edit(_M, "m *= beta1; m += (1 - beta1) * g", "array overwritten"),
        edit(_V, "v *= beta2; v += (1 - beta2) * g * g", "array overwritten"),
        edit(
            _RETURN,
            _RETURN.replace("return w -", "w -=").replace(", m, v", "") + "\n    return w, m, v",
            "array overwritten",
        ),
        edit(_V, "v = np.maximum(beta2 * v, g * g)", "first entry in part 1"),
        edit(_M, _M + "\n    t = t if t < 100 else np.inf", "nearly | step t = 200"),
        edit(_M, _M + "\n    t = min(t, 10_000)", "nearly | step t = "),
        _power("(1 - t**β)", "own: a root taken"),
        edit(_BACK, "eps), None, v", "not an array in part 2"),
        edit(_V, "v = beta2 * v - (1 - beta2) * g * g", "own: a root taken"),
        edit("m_hat / (np.sqrt(v_hat) + eps)", "np.sign(m_hat)", "none in part 1"),
        edit("m_hat /", "np.sign(g) /", "first entry in part 1"),
        edit(_BACK, "eps) - lr * 0.01 * w, m, v", "first entry in part 1"),
    ],
    accepted=[
        """
        def adam(w, m, v, t, g, lr, beta1, beta2, eps):
            m, v = m + (1 - beta1) * (g - m), v + (1 - beta2) * (g**2 - v)
            root = np.sqrt(v) / (1 - beta2**t)**0.5 + eps
            return w - lr / (1 - beta1**t) * m / root, m, v""",
        """
        def adam(w, m, v, t, g, lr, beta1, beta2, eps):
            new = [a.copy() for a in (w, m, v)]
            for i in np.ndindex(w.shape):
                new[1][i] = beta1 * m[i] + (1 - beta1) * g[i]
                new[2][i] = beta2 * v[i] + (1 - beta2) * g[i] * g[i]
                new[0][i] -= lr * new[1][i] / (1 - beta1**t) / ((new[2][i] / (1 - beta2**t))**0.5 + eps)
            return new""",
        """
        def adam(w, m, v, t, g, lr, beta1, beta2, eps):
            new = np.zeros(m.shape)
            new[..., :] = np.multiply(beta1, m) + (1 - beta1) * g
            v = beta2 * v + (1 - beta2) * np.square(g)
            m_hat, v_hat = new / (1 - pow(beta1, t)), v / (1 - np.power(beta2, t))
            return np.subtract(w, lr * m_hat * np.reciprocal(v_hat**0.5 + eps)), new, v""",
        edit("(np.sqrt(v_hat) + eps)", "np.add(np.sqrt(v_hat), eps)"),
        """
        class Adam:
            def __call__(self, w, m, v, t, g, lr, beta1, beta2, eps):
                m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2
                return w - lr * (m / (1 - beta1**t)) / ((v / (1 - beta2**t))**0.5 + eps), m, v
        adam = Adam()""",
    ],
)

cases(
    "11.decay",
    wrong=[
        ((0.1, 0.002), "double in part 2"),
        (0.1, "one part"),
        ((np.nan, 0.001), "nan in part 1"),
        ((0.3, 0.001), "none in part 1"),
    ],
    accepted=["[0.1, 0.001]", "(0.1 * 0.01 / (np.sqrt(0.01**2) + 1e-8), 1 - 0.999)"],
)

cases(
    "11.warmup",
    wrong=[
        (lambda epoch: 1.0, "right elsewhere"),
        (lambda epoch: np.round(_factor(epoch), 1), "rounded to 1"),
        edit("np.cos", "cos", "error: name of NumPy | np.cos"),
        (lambda epoch: _factor(epoch) if epoch < 100 else np.nan, "nan"),
        (
            lambda epoch: {0: 0.1, 4: 0.5, 9: 1.0, 40: 0.75, 10: 1.0}.get(epoch, _factor(85)),
            "right elsewhere",
        ),
    ],
    accepted=[
        "lambda epoch: min((epoch + 1) / 10, (1 + np.cos(np.pi * max(epoch - 10, 0) / 90)) / 2)",
        "lambda epoch: (epoch + 1) / 10 if epoch < 10 else np.cos(np.pi * (epoch - 10) / 180)**2",
        "lambda epoch: np.where(epoch < 10, (epoch + 1) / 10, (1 + np.cos(np.pi * (epoch - 10) / 90)) / 2)",
        "lambda epoch: (epoch + 1) / 10 if (epoch < 10) is True else (1 + np.cos(np.pi * (epoch - 10) / 90)) / 2",
        """
        table = [*np.arange(1, 11) / 10, *(1 + np.cos(np.linspace(0, np.pi, 91))) / 2]
        factor = table.__getitem__""",
    ],
)
