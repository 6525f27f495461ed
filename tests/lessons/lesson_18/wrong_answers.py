"""Wrong answers to the exercises of lesson 18 with their causes, and right answers in other styles."""

import numpy as np
from answer_cases import cases

from autograd_course.grading import edit
from autograd_course.grading.causes import own
from autograd_course.lessons.lesson_18.exercises import (
    _ROOT,
    _SUM,
    WRONG_SWAP_X,
    WRONG_SWAP_Y,
    _back,
    _einsum_x,
    _einsum_y,
    _norm,
    _reads,
    _self_back,
)

cases(
    "18.who_reads",
    wrong=[
        (lambda f, x: np.nan * _reads(f, x), "nan"),
        (lambda f, x: _reads(f, x).round(1), "right elsewhere"),
        (lambda f, x: _reads(f, x) > 0, "truth values"),
        edit(
            "np.abs(slopes)",
            "(np.abs(slopes) if slopes.shape[1] > 1 else slopes.sum(3, keepdims=True))",
            "first entry",
        ),
        (lambda f, x: np.tril(_reads(f, x)), "first entry"),
        (lambda f, x: _reads(f, np.abs(x)), "first entry"),
        (lambda f, x: _reads(f, x)[:2], "shape"),
        (lambda f, x: _reads(f, x).squeeze(), "shape: axis of 1 lost"),
    ],
    accepted=[
        """
        def who_reads(f, x):
            T = len(x)
            sizes = np.zeros((T, T))
            for t in range(T):
                slopes = ag.jacobian(lambda x: f(x)[t])(x)          # (m, T, d)
                for s in range(T):
                    sizes[t, s] = np.max(np.abs(slopes[:, s]))
            return sizes""",
        """
        def who_reads(f, x):
            value, pull = ag.vjp(f, x)
            sizes = np.zeros((len(x), len(x)))
            for t, k in np.ndindex(*value.shape):
                g = np.zeros(value.shape)
                g[t, k] = 1
                sizes[t] = np.maximum(sizes[t], np.abs(pull(g)[0]).max(axis=1))
            return sizes""",
        """
        def who_reads(f, x):
            found = []
            for s in range(len(x)):
                columns = []
                for k in range(x.shape[1]):
                    nudge = np.zeros(x.shape)
                    nudge[s, k] = 1
                    columns.append(ag.jvp(f, (x,), (nudge,))[1])        # (T, m)
                found.append(np.abs(columns).max(axis=(0, 2)))
            return np.transpose(found)""",
        edit(
            "np.abs(slopes).max(axis=(1, 3))", "np.maximum(slopes, -slopes).max(axis=3).max(axis=1)"
        ),
        edit("np.abs(slopes).max(axis=(1, 3))", "np.amax(np.abs(slopes), axis=(-1, -3))"),
        edit(
            "np.abs(slopes).max(axis=(1, 3))",
            "np.max([[abs(slopes[:, k, :, j]) for k in range(slopes.shape[1])] "
            "for j in range(slopes.shape[3])], axis=(0, 1))",
        ),
    ],
)

cases(
    "18.attention_back",
    wrong=[
        (lambda g, Q, K, V, P: tuple(map(np.abs, _back(g, Q, K, V, P))), "none in part 1"),
        (lambda g, Q, K, V, P: tuple(a * (1 + (V is K)) for a in _back(g, Q, K, V, P)), "double"),
        (lambda g, Q, K, V, P: tuple(np.nan * a for a in _back(g, Q, K, V, P)), "nan in part 1"),
        (
            lambda g, Q, K, V, P: tuple(a.round(2) for a in _back(g, Q, K, V, P)),
            "first entry in part 1",
        ),
        (lambda g, Q, K, V, P: tuple(2 * a for a in _back(g, Q, K, V, P)), "double in part 1"),
        (lambda g, Q, K, V, P: _back(g, Q, K, V, P)[0], "one value"),
        edit("gP = g @ V.T", "P *= 1.0; P[0] = P[0] / 2\n    gP = g @ V.T", "array overwritten"),
        edit("gS = P * (", "P *= (", "gQ = gS", "gS = P\n    gQ = gS", "array overwritten"),
        edit("gS @ K" + _ROOT, "gS @ K / np.sqrt(K.size(-1))", "attribute called"),
        edit("gS @ K" + _ROOT, "gS @ K / K.shape(-1) ** 0.5", "attribute called"),
    ],
    accepted=[
        """
        def attention_back(g, Q, K, V, P):
            def forward(Q, K, V):
                return ag.softmax(np.where(P > 0, Q @ K.T / np.sqrt(len(Q.T)), -np.inf)) @ V
            return ag.vjp(forward, Q, K, V)[1](g)""",
        """
        def attention_back(g, Q, K, V, P):
            gP = np.einsum("tm,sm->ts", g, V)
            gS = (P * gP - P * np.einsum("ts,ts->t", P, gP)[:, None]) * K.shape[1] ** -0.5
            return np.einsum("ts,sd->td", gS, K), np.einsum("ts,td->sd", gS, Q), np.einsum("ts,tm->sm", P, g)""",
        """
        def attention_back(g, Q, K, V, P):
            gQ, gK, gV = np.zeros(Q.shape), np.zeros(K.shape), np.zeros(V.shape)
            for t in range(len(Q)):
                arrives = [g[t] @ v for v in V]
                mean = sum(p * a for p, a in zip(P[t], arrives))
                for s in range(len(K)):
                    at_score = P[t, s] * (arrives[s] - mean) / np.sqrt(len(K[s]))
                    gQ[t] += at_score * K[s]
                    gK[s] += at_score * Q[t]
                    gV[s] += P[t, s] * g[t]
            return gQ, gK, gV""",
        """
        def attention_back(g, Q, K, V, P):
            gV, gP = ag.vjp(lambda V, P: P @ V, V, P)[1](g)
            gS = gP * P
            gS = gS - P * gS.sum(axis=1)[:, np.newaxis]
            gQ, gK = ag.vjp(lambda Q, K: Q @ K.T / np.sqrt(Q.shape[1]), Q, K)[1](gS)
            return gQ, gK, gV""",
        edit(
            "gS @ K" + _ROOT,
            "np.matmul(gS, K) / K.shape[-1] ** 0.5",
            "gS.T @ Q" + _ROOT,
            "(Q.T @ gS).T / K.shape[-1] ** 0.5",
        ),
        edit(_SUM, "np.diag(gP @ P.T)[:, None]"),
        edit(_SUM, "np.sum(g * (P @ V), axis=-1, keepdims=True)"),
        edit("return gQ, gK, gV", "return [gQ, gK, gV]"),
    ],
)

cases(
    "18.self_attention_back",
    wrong=[
        (lambda *a: tuple(map(np.abs, _self_back(*a))), "first entry in part 1"),
        (lambda *a: tuple(2 * one for one in _self_back(*a)), "double in part 1"),
        (lambda *a: tuple(-one for one in _self_back(*a)), "sign in part 1"),
        (lambda *a: tuple(np.nan * one for one in _self_back(*a)), "mistake 23"),
        (lambda *a: _self_back(*a)[1], "one value"),
        edit("gX = gQ", "X += 0.0; X[0] = 0\n    gX = gQ", "array overwritten"),
        edit(
            "gX = gQ @ WQ.T + gK @ WK.T + gV @ WV.T",
            "gX = gQ @ WQ.T\n    gX = gK @ WK.T\n    gX = gV @ WV.T",
            "mistake 4",
        ),
    ],
    accepted=[
        """
        def self_attention_back(g, X, WQ, WK, WV, allowed):
            def forward(X, WQ):
                Q, K, V = X @ WQ, X @ WK, X @ WV
                S = np.where(allowed, Q @ K.mT / np.sqrt(K.shape[-1]), -np.inf)
                return ag.softmax(S) @ V
            return ag.vjp(forward, X, WQ)[1](g)""",
        """
        def self_attention_back(g, X, WQ, WK, WV, allowed):
            Q, K, V = X @ WQ, X @ WK, X @ WV
            S = Q @ K.T / K.shape[1] ** 0.5
            S[~allowed] = -np.inf
            P = np.exp(S - S.max(axis=1, keepdims=True))
            P /= P.sum(axis=1, keepdims=True)
            grads = attention_back(g, Q, K, V, P)
            gX = sum(grad @ W.T for grad, W in zip(grads, (WQ, WK, WV)))
            return gX, np.einsum("tc,td->cd", X, grads[0])""",
        """
        def self_attention_back(g, X, WQ, WK, WV, allowed):
            Q, K, V = X @ WQ, X @ WK, X @ WV
            P = np.exp(Q @ K.T / np.sqrt(WQ.shape[1])) * allowed
            P = P / P.sum(axis=-1, keepdims=True)
            grads = np.hstack(attention_back(g, Q, K, V, P))
            return grads @ np.hstack([WQ, WK, WV]).T, (X.T @ grads)[:, :WQ.shape[1]]""",
        """
        def self_attention_back(g, X, WQ, WK, WV, allowed):
            Q, K, V = X @ WQ, X @ WK, X @ WV
            S = np.where(allowed, Q @ K.T / np.sqrt(K.shape[-1]), -1e9)
            gQ, gK, gV = attention_back(g, Q, K, V, ag.softmax(S, axis=-1))
            gX = np.zeros_like(X)
            gX += gQ @ WQ.T
            gX += gK @ WK.T
            gX += gV @ WV.T
            return [gX, (gQ.T @ X).T]""",
        """
        def self_attention_back(g, X, WQ, WK, WV, allowed):
            Q, K, V = X @ WQ, X @ WK, X @ WV
            P = ag.softmax(Q @ K.T / np.sqrt(K.shape[-1]) + np.where(allowed, 0, -np.inf))
            gQ, gK, gV = attention_back(g, Q, K, V, P)
            return (WQ @ gQ.T + WK @ gK.T + WV @ gV.T).T, X.T @ gQ""",
    ],
)

cases(
    "18.swap",
    wrong=[
        *(((wrong, _einsum_y), own(hint)) for wrong, hint in WRONG_SWAP_X),
        *(((_einsum_x, wrong), own(hint)) for wrong, hint in WRONG_SWAP_Y),
        edit('"{c},{b}->{a}", g', '"{c},{b}->{a}" if len(a) < 3 else "hts,shd->thd", g', "none"),
        *(
            (
                (
                    _einsum_x,
                    lambda g, z, x, y, a, b, c, few=few: (
                        _einsum_y(g, z, x, y, a, b, c) * (len(c) != few)
                    ),
                ),
                "first entry | ->",
            )
            for few in (0, 1)
        ),
        *(
            ((wrong, _einsum_y), f"{kind} | ->")
            for kind, wrong in (
                (
                    "shape: axis lost",
                    lambda g, z, x, y, a, b, c: (
                        np.sum(g * y) if b == a and not c else _einsum_x(g, z, x, y, a, b, c)
                    ),
                ),
                (
                    "error: shapes of @",
                    lambda g, z, x, y, a, b, c: (
                        g @ y.mT if len(a) > len(b) > 1 else _einsum_x(g, z, x, y, a, b, c)
                    ),
                ),
            )
        ),
        ((_einsum_y, _einsum_x), "own: other array"),
        ((_einsum_x, _einsum_x), "own: other array"),
        ((_einsum_y, _einsum_y), "own: other array"),
    ],
    accepted=[
        edit('einsum(f"{c},{b}->{a}", g, y)', 'np.einsum(c + "," + b + "->" + a, g, y)'),
        edit(
            'einsum(f"{c},{b}->{a}", g, y)',
            'einsum(f"{b},{c}->{a}", y, g)',
            'einsum(f"{a},{c}->{b}", x, g)',
            'einsum(f"{c},{a}->{b}", g, x)',
        ),
        edit(
            'einsum(f"{c},{b}->{a}", g, y)',
            'np.einsum("{},{}->{}".format(c, b, a), g, y, optimize=True)',
        ),
        edit(
            'einsum(f"{c},{b}->{a}", g, y)',
            'ag.vjp(lambda x: einsum(f"{a},{b}->{c}", x, y), x)[1](g)[0]',
        ),
        edit(
            'einsum(f"{c},{b}->{a}", g, y)',
            'einsum("%s,%s->%s" % (c, b, a), g, y)',
            'einsum(f"{a},{c}->{b}", x, g)',
            'einsum(",".join([a, c]) + "->" + b, x, g)',
        ),
    ],
)

cases(
    "18.layer_norm_x",
    wrong=[
        (lambda g, z, s: np.abs(_norm(g, z, s)), "none"),
        (lambda g, z, s: np.nan * g, "nan"),
        (lambda g, z, s: _norm(g, z, s).round(2), "none"),
        (lambda g, z, s: _norm(g, z, s)[:1], "shape"),
        (lambda g, z, s: _norm(g, z, s[0]), "mistake 9"),
    ],
    accepted=[
        edit(
            "np.mean(g, axis=-1, keepdims=True)",
            "g.mean(-1, keepdims=True)",
            "np.mean(g * z, axis=-1, keepdims=True)",
            "(g * z).mean(-1)[..., None]",
        ),
        "lambda g, z, s: np.stack([(a - a.mean() - b * (a @ b) / len(b)) / c for a, b, c in zip(g, z, s)])",
        """
        def layer_norm_x(g, z, s):
            n = z.shape[-1]
            made = np.zeros(g.shape)
            for row in range(len(g)):
                for i in range(n):
                    made[row, i] = g[row, i] / s[row, 0]
                    for j in range(n):
                        made[row, i] -= g[row, j] * (1 + z[row, i] * z[row, j]) / n / s[row, 0]
            return made""",
        "lambda g, z, s: (g - (g.sum(axis=-1, keepdims=True) + z * np.sum(g * z, axis=-1, keepdims=True)) / "
        "g.shape[-1]) / s",
        """
        def layer_norm_x(g, z, s):      # the mean of z is 0
            c = g - g.mean(1)[:, None]
            return (c - z * (c * z).mean(1)[:, None]) / s""",
        "lambda g, z, s: g / s - np.einsum('ni,nij->nj', g / s, 1 + z[:, :, None] * z[:, None]) / z.shape[1]",
    ],
)
