"""Thrown at the exercises of lesson 11, beside their mistakes: more wrong answers, and right ones in other styles."""

import numpy as np
from thrown import throw

from autograd_course.grading import edit
from autograd_course.lessons.lesson_11.exercises import (
    _BACK,
    _M,
    _RETURN,
    _STEP,
    _SUM,
    _V,
    _factor,
    _power,
)

throw(
    "11.bowl",
    planted=[
        ((-10, -0.2), "w changes sides"),
        ((-10, 0.2), "w changes sides"),
        ((10, 0.2), "done in one step"),
        ((-30, 0.067), "and positive"),
        ((20, 0.1), "neither nearer nor farther"),
        ((15, 0.133), "halve the distance"),
        ((3, 0.67), "a division left"),
        ((30, 0.033), "lands at the minimum"),
        ((30, 0.07), "not rounded well"),
        ((30, 0.06), "not rounded well"),
        ((25, 0.08), "Number 1 of 2"),
        (30, "2 values were expected"),
        ((30, np.nan), "2 of 2"),
        ((0.067, 30), "swapped"),
        (("30", "0.067"), "1 of 2"),
    ],
    also_right=["(30, 0.067)", "[30.0, 1 / 15]", "np.array([3, 2 / 300]) * [10, 10]"],
)

throw(
    "11.nesterov",
    planted=[
        edit(_STEP, "return m, w - lr * (g + beta * m)", "swapped"),
        edit(_STEP, "return w - lr * (g + beta * m), m if lr else np.ones_like(m)", "differs"),
        edit(
            _SUM,
            "kept = nesterov.__dict__.setdefault(m.shape, 0 * m); kept[...] = beta * m + g; m = kept",
            "It keeps what it gives back",
        ),
        edit(_STEP, "return w - np.minimum(lr, 0.9999) * (g + beta * m), m", "differs"),
        edit(_SUM, "m *= beta; m += g", "writes into the caller's array"),
        edit(_STEP, "w -= lr * (g + beta * m)\n    return w, m", "writes into the caller's array"),
        edit(_SUM, "m = beta * abs(m) + g", "differs"),
        edit("beta * m)", "beta * m.sum())", "differs"),
        edit(_STEP, "return w - lr * (g + beta * m), np.round(m)", "got"),
        edit(_STEP, "return (w - lr * (g + beta * m)) * np.nan, m", "differs"),
        edit(_SUM, "m = beta * np.atleast_2d(m)[0] + g", "differs"),
    ],
    also_right=[
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

throw(
    "11.adam",
    planted=[
        _power("(1 - β**(t - 1))", "t counts from 1"),
        edit("+ eps)", "+ max(eps, 1e-8))", "eps = 1e-12"),
        edit(
            _RETURN,
            _RETURN.replace("return w", "w = w").replace(", m, v", "") + "\n    return v, m, w",
            "swapped",
        ),
        edit(_M, "m *= beta1; m += (1 - beta1) * g", "writes into the caller's array"),
        edit(_V, "v *= beta2; v += (1 - beta2) * g * g", "writes into the caller's array"),
        edit(
            _RETURN,
            _RETURN.replace("return w -", "w -=").replace(", m, v", "") + "\n    return w, m, v",
            "writes into the caller's array",
        ),
        edit(_V, "v = np.maximum(beta2 * v, g * g)", "differs"),
        edit(_M, _M + "\n    t = t if t < 100 else np.inf", "step t = 200"),
        edit(_M, _M + "\n    t = min(t, 10_000)", "step t = "),
        _power("(1 - t**β)", "divided by 0"),
        edit(_BACK, "eps), None, v", "Number 2 of 3"),
        edit(_V, "v = beta2 * v - (1 - beta2) * g * g", "a root taken"),
        edit("m_hat / (np.sqrt(v_hat) + eps)", "np.sign(m_hat)", "differs. The others are right"),
        edit("m_hat /", "np.sign(g) /", "differs"),
        edit(_BACK, "eps) - lr * 0.01 * w, m, v", "got"),
    ],
    also_right=[
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

throw(
    "11.decay",
    planted=[
        ((0.1, 0.002), "Number 2 of 2"),
        (0.1, "2 values were expected"),
        ((np.nan, 0.001), "1 of 2"),
        ((0.101, 0.001), "1 of 2"),
    ],
    also_right=["[0.1, 0.001]", "(0.1 * 0.01 / (np.sqrt(0.01**2) + 1e-8), 1 - 0.999)"],
)

throw(
    "11.warmup",
    planted=[
        (lambda epoch: 1.0, "got"),
        (lambda epoch: np.round(_factor(epoch), 1), "got"),
        (lambda epoch: _factor(epoch) if epoch < 100 else np.nan, "got"),
        (lambda epoch: {0: 0.1, 4: 0.5, 9: 1.0, 40: 0.75, 10: 1.0}.get(epoch, _factor(85)), "got"),
    ],
    also_right=[
        "lambda epoch: min((epoch + 1) / 10, (1 + np.cos(np.pi * max(epoch - 10, 0) / 90)) / 2)",
        "lambda epoch: (epoch + 1) / 10 if epoch < 10 else np.cos(np.pi * (epoch - 10) / 180)**2",
        "lambda epoch: np.where(epoch < 10, (epoch + 1) / 10, (1 + np.cos(np.pi * (epoch - 10) / 90)) / 2)",
        "lambda epoch: (epoch + 1) / 10 if (epoch < 10) is True else (1 + np.cos(np.pi * (epoch - 10) / 90)) / 2",
        """
        table = [*np.arange(1, 11) / 10, *(1 + np.cos(np.linspace(0, np.pi, 91))) / 2]
        factor = table.__getitem__""",
    ],
)
