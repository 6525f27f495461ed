"""Wrong answers to the exercises of lesson 19 with their causes, and right answers in other styles."""

import numpy as np
from answer_cases import cases

from autograd_course.grading import edit
from autograd_course.lessons.lesson_19.exercises import _invented, _mix_slope, _pick, _smoothed

cases(
    "19.smoothed",
    wrong=[
        (
            lambda counts, shorter, a: (
                _smoothed(counts, shorter, a) if counts.sum() else 0 * shorter
            ),
            "first entry",
        ),
        (lambda counts, shorter, a: np.nan * shorter, "nan"),
        (
            lambda counts, shorter, a: (
                _smoothed(counts, shorter, a) if counts.sum() > 1 else 1.0 * shorter
            ),
            "first entry",
        ),
        (
            lambda counts, shorter, a: _smoothed(counts, np.maximum(shorter, 1e-4), a),
            "right elsewhere",
        ),
        (lambda counts, shorter, a: _smoothed(counts, shorter, a)[:36], "shape"),
        (lambda counts, shorter, a: _smoothed(counts, shorter, a)[:3], "shape"),
        (lambda counts, shorter, a: _smoothed(counts, shorter, a).round(2), "none"),
        edit(
            "return",
            "shorter = np.where(shorter > 0, shorter, 1e-9)\n    return",
            "right elsewhere",
        ),
        edit(
            "return",
            "if counts.dtype == float:\n        counts += 1\n    return",
            "array overwritten",
        ),
        edit(
            "return", "counts += 0; counts[0] = 0; shorter[0] = 0\n    return", "array overwritten"
        ),
    ],
    accepted=[
        edit("(counts +", "(counts.astype(int) +"),  # counts, not probabilities
        """
        def smoothed(counts, shorter, a):
            together = counts + a * shorter
            return together / together.sum()""",
        """
        def smoothed(counts, shorter, a):
            total = sum(counts) + a
            return np.array([(c + a * p) / total for c, p in zip(counts, shorter)])""",
        """
        def smoothed(counts, shorter, a):
            read = np.sum(counts)
            w = read / (read + a)
            return w * counts / max(read, 1) + (1 - w) * shorter""",
        "lambda counts, shorter, a: [(c + a * p) / (counts.sum() + a) for c, p in zip(counts, shorter)]",
        "lambda counts, shorter, a: np.add(counts, np.multiply(a, shorter)) / np.add(np.sum(counts), a)",
    ],
)

cases(
    "19.pick",
    wrong=[
        edit("np.cumsum(p)", "np.cumsum(p[:50])", "none"),
        (lambda logits, temperature, u: _pick(logits, max(temperature, 0.1), u), "mistake 7"),
        edit(
            "min(int((np.cumsum(p) <= u).sum()), len(p) - 1)",
            "np.cumsum(p) > u",
            "truth values in part 1",
        ),
        edit(
            "min(int((np.cumsum(p) <= u).sum()), len(p) - 1)",
            "np.random.default_rng(0).choice(len(p), p=p)",
            "own: interval of letter",
        ),
        (
            lambda logits, temperature, u: _pick(logits[:4], temperature, u),
            "own: interval of letter",
        ),
        (
            lambda logits, temperature, u: _pick(logits, round(temperature) or 1, u),
            "own: interval of letter",
        ),
        (lambda logits, temperature, u: float("nan"), "own: interval of letter"),
        (
            lambda logits, temperature, u: float(_pick(logits, temperature, u)),
            "own: has to be whole",
        ),
        edit(
            "(np.cumsum(p) <= u).sum()",
            "np.argmin(np.abs(np.cumsum(p) - u))",
            "own: interval of letter",
        ),
        edit("(np.cumsum(p) <= u).sum()", "np.argmax(np.cumsum(p) < u)", "own: interval of letter"),
        (lambda logits, temperature, u: 0, "own: interval of letter"),
        edit("len(p) - 1", "39", "none | 30 logits"),
        edit("p = ag", "logits -= logits.max()\n    p = ag", "array overwritten"),
    ],
    accepted=[
        """
        def pick(logits, temperature, u):
            e = np.exp((logits - np.max(logits)) / temperature)
            p = e / e.sum()
            for letter in range(len(p)):
                u -= p[letter]
                if u < 0:
                    break
            return letter""",
        """
        def pick(logits, temperature, u):
            p = ag.softmax(logits / temperature)
            return min(np.searchsorted(np.cumsum(p), u, side="right"), len(p) - 1)""",
        """
        def pick(logits, temperature, u):
            p = ag.softmax(logits / temperature)
            total = 0.0
            for letter, share in enumerate(p):
                total += share
                if u < total:
                    return letter
            return letter""",
        """
        def pick(logits, temperature, u):
            ends = np.cumsum(ag.softmax(np.array(logits) / temperature))
            ends[-1] = np.inf
            return int(np.argmax(ends > u))""",
        edit("int((np.cumsum(p) <= u).sum())", "np.count_nonzero(u >= np.add.accumulate(p))"),
    ],
)

cases(
    "19.invented",
    wrong=[
        (lambda written, known: _invented(written, known)[:1], "number of values"),
        (lambda written, known: _invented(written, known)[:10], "right elsewhere"),
        (lambda written, known: _invented(written, known) if known else [], "right elsewhere"),
        (
            lambda written, known: [
                w for w in _invented(written, known) if sorted(w) not in map(sorted, known)
            ],
            "right elsewhere",
        ),
        *(
            (lambda written, known, most=most: _invented(written, known[:most]), kind)
            for most, kind in [(2, "number of values"), (150, "right elsewhere")]
        ),
        (lambda written, known: "\n".join(_invented(written, known)), "mistake 28"),
        (lambda written, known: [], "number of values"),
        (lambda written, known: written.split("\n"), "number of values"),
        (
            lambda written, known: [name.title() for name in _invented(written, known)],
            "mistake 20",
        ),
        edit(
            'written.split("\\n")',
            '(line.strip() for line in written.split("\\n"))',
            "mistake 19",
        ),
        edit("return", "known.sort()\n    return", "list overwritten"),
        (lambda written, known: _invented(written, known)[::-1], "own: wrong order"),
        (
            lambda written, known: [*dict.fromkeys(_invented(written, known)[::-1])][::-1],
            "mistake 9",
        ),
        edit("name not in known", "name.upper() not in known", "number of values"),
        *(
            edit(
                "name not in known",
                f"name not in known and not any({alike} for one in known)",
                "number of values",
            )
            for alike in (
                "one.endswith(' ' + name)",
                "one.startswith(name) and len(one) == len(name) + 1",
                "name + 'S' == one",
                "len(name) > 4 and name in one",
                "one[1:] == name",
            )
        ),
        edit("return", "known.clear()\n    return", "number of values"),
    ],
    accepted=[
        """
        def invented(written, known):
            known, found = set(known), []
            for name in written.splitlines():
                if name != "" and name not in known:
                    found.append(name)
            return found""",
        "lambda written, known: list(filter(lambda name: name and name not in known, written.split('\\n')))",
        "lambda written, known: [n for n in written.split('\\n') if len(n) > 0 and known.count(n) == 0]",
        "lambda written, known: tuple(n for n in written.strip().split('\\n') if n not in known + [''])",
        """
        def invented(written, known):
            return [n for n in written.split("\\n") if n and all(n != one for one in known)]""",
    ],
)

cases(
    "19.mix_slope",
    wrong=[
        edit("(w * p + (1 - w) * q)", "np.maximum(w * p + (1 - w) * q, 1e-3)", "right elsewhere"),
        edit("(w * p", "(1e-6 + w * p", "nearly"),
        (lambda w, p, q: _mix_slope(w, *(one[p * q > 0] for one in (p, q))), "right elsewhere"),
        (lambda w, p, q: _mix_slope(w, p, q) * len(p) / min(len(p), 9), "right elsewhere"),
        (lambda w, p, q: _mix_slope(w, p[p != q], q[p != q]) if np.any(p != q) else 0.0, "double"),
        (lambda w, p, q: np.nan, "nan"),
        (lambda w, p, q: round(_mix_slope(w, p, q), 1), "none"),
        (lambda w, p, q: _mix_slope(max(w, 0.2), p, q), "right elsewhere"),
        (lambda w, p, q: _mix_slope(w, p[:3], q[:3]), "right elsewhere"),
    ],
    accepted=[
        "lambda w, p, q: ag.grad(lambda w: -ag.mean(ag.log(w * p + (1 - w) * q)))(w)",
        "lambda w, p, q: np.mean((q - p) / (q + w * (p - q)))",
        "lambda w, p, q: sum((b - a) / (w * a + (1 - w) * b) for a, b in zip(p, q)) / len(p)",
        """
        def mix_slope(w, p, q):
            ratio = p / q
            return np.mean((1 - ratio) / (1 + w * (ratio - 1)))""",
        "lambda w, p, q: -np.einsum('i,i->', p - q, 1 / (w * p + (1 - w) * q)) / p.size",
    ],
)
