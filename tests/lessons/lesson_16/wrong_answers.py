"""Wrong answers to the exercises of lesson 16 with their causes, and right answers in other styles."""

import numpy as np
from answer_cases import cases

import autograd_lib as ag
from autograd_course.grading import edit
from autograd_course.grading.mistakes import in_place
from autograd_course.lessons.lesson_16.exercises import _UNIT, _downhill, _hvp, _largest, slide


def _imported(code):
    """Return the function hvp of a cell that imports the library's hvp under another name."""
    exec(f"from autograd_lib import hvp as library\n{code}", scope := {})
    return scope["hvp"]


cases(
    "16.hvp",
    wrong=[
        (lambda f, w, v: ag.hvp(f, w, v), "own: the library did the work"),
        (
            _imported("def hvp(f, w, v):\n    return library(f, w, v)"),
            "own: the library did the work",
        ),
        (lambda f, w, v: np.atleast_1d(ag.hvp(f, w, v)), "several numbers"),
        (lambda f, w, v: -ag.hvp(f, w, v), "sign"),
        (lambda f, w, v: 2 * ag.hvp(f, w, v), "double"),
        (lambda f, w, v: ag.hvp(f, w, v)[0], "shape: axis lost"),
        edit("* v))(w)", "* v))", "a function"),
        (lambda f, w, v: ag.hvp(f, w, v).ravel(), "shape: other layout"),
        (
            lambda f, w, v: (
                np.diag(ag.hessian(f)(w.ravel())) * v if w.ndim == 1 else ag.hvp(f, w, v)
            ),
            "first entry",
        ),
        (lambda f, w, v: ag.hvp(f, w, np.abs(v)), "first entry"),
        (lambda f, w, v: ag.hvp(f, w, v) + (w.ndim > 2), "too large"),
        (lambda f, w, v: ag.grad(f)(w) if np.all(v == 1) else ag.hvp(f, w, v), "first entry"),
        (lambda f, w, v: np.round(ag.hvp(f, w, v)), "first entry"),
        (
            lambda f, w, v: ag.hvp(f, w, np.sign(v) if v.size > 1 and np.ptp(v) == 0 else v),
            "factor",
        ),
        (
            lambda f, w, v: (
                _hvp(lambda w: np.sum(ag.grad(f)(w) * w), w, 1 + 0 * v) if v is w else _hvp(f, w, v)
            ),
            "first entry",
        ),
        (in_place(_hvp)[0], "array overwritten"),
        (lambda f, w, v: ag.hvp(f, w, v) * np.nan, "nan"),
        (
            lambda f, w, v: (ag.hessian(f)(w).reshape(w.size, -1) @ v.ravel()).reshape(w.shape),
            "own: half a Hessian",
        ),
        edit("ag.grad(f)(w)", "ag.grad(f)(at)", "lambda w:", "lambda w, at=w:", "mistake 2"),
    ],
    accepted=[
        "lambda f, w, v: ag.grad(lambda at: (ag.grad(f)(at) * v).sum())(w)",
        "lambda f, w, v: ag.vjp(ag.grad(f), w)[1](v)[0]",
        "lambda f, w, v: ag.jvp(ag.grad(f), (w,), (v,))[1]",
        """
        def hvp(f, w, v):
            def slope_along_v(at):
                return ag.sum(ag.multiply(v, ag.grad(f)(at)))
            return ag.grad(slope_along_v)(w)""",
        """
        def hvp(f, w, v):
            first = ag.grad(f)
            return ag.grad(lambda x: first(x).reshape(-1) @ v.reshape(-1))(w)""",
    ],
)


def _by_hessian(f, w, v, steps):
    H = np.reshape(ag.hessian(f)(w), (np.size(w), np.size(w)))
    for _ in range(steps):
        v = v / np.linalg.norm(v)
        image = np.reshape(H @ np.ravel(v), np.shape(v))
        curvature = np.sum(v * image)
        v = image
    return curvature


cases(
    "16.largest",
    wrong=[
        (lambda *given: _by_hessian(*given), "own: the whole Hessian"),
        edit("np.linalg.norm(v)", "np.sqrt(sum(np.ravel(v) ** 2) if len(v) else 0)", "none"),
        edit(_UNIT, "v /= np.linalg.norm(v)", "array overwritten"),
        edit(_UNIT, "v = v / np.linalg.norm(v, axis=0)", "right elsewhere"),
        edit(_UNIT, "v = np.abs(v) / np.linalg.norm(v)", "right elsewhere"),
        edit("return curvature", "return round(curvature)", "right elsewhere"),
        edit(
            "    for _",
            "    noted = []\n    for _",
            "v = Hv",
            "v = Hv; noted.append(curvature)",
            "return curvature",
            "return max(noted, key=abs)",
            "right elsewhere",
        ),
        edit(_UNIT, "v = np.float32(v / np.linalg.norm(v))", "nearly"),
        edit(
            "ag.hvp(f, w, v)",
            "(ag.grad(f)(w + 1e-5 * v) - ag.grad(f)(w - 1e-5 * v)) / 2e-5",
            "last digits",
        ),
        (lambda f, w, v, steps: _largest(f, w, v, steps) + (w.ndim > 2), "right elsewhere"),
        edit("range(steps)", "range(min(steps, 50))", "own: through all `steps`"),
        *(
            edit(
                "    for _",
                "    old = np.inf\n    for _",
                "        v = Hv\n",
                f"        if abs(curvature - old) < {near}:\n            break\n        old, v = curvature, Hv\n",
                "own: through all `steps`",
            )
            for near in (1e-3, 1e-6)
        ),
        edit("return curvature", "return (curvature,)", "several numbers"),
        edit("return curvature", "return curvature, v", "several numbers"),
        (lambda f, w, v, steps: np.nan, "nan"),
    ],
    accepted=[
        """
        def largest(f, w, v, steps):
            for _ in range(steps):
                v = v / np.sqrt((v * v).sum())
                before, v = v, ag.jvp(ag.grad(f), (w,), (v,))[1]
            return float((before * v).sum())""",
        """
        def largest(f, w, v, steps):
            image = v
            while steps:
                v, steps = image / np.linalg.norm(image), steps - 1
                image = ag.hvp(f, w, v)
            return np.vdot(v, image)""",
        """
        def largest(f, w, v, steps):
            Hv = ag.hvp(f, w, v)
            for _ in range(steps - 1):
                v = Hv / np.linalg.norm(Hv)
                Hv = ag.hvp(f, w, v)
            return np.sum(v * Hv) / np.sum(v * v)""",
        """
        def largest(f, w, v, steps):
            if steps == 1:
                return np.sum(v * ag.hvp(f, w, v)) / np.linalg.norm(v)**2
            return largest(f, w, ag.hvp(f, w, v / np.linalg.norm(v)), steps - 1)""",
        """
        def largest(f, w, v, steps):
            H = lambda v: ag.grad(lambda x: ag.sum(ag.grad(f)(x) * v))(w)
            unit = lambda v: v / np.linalg.norm(v.ravel())
            v = unit(v)
            for _ in range(steps - 1):
                v = unit(H(v))
            return np.einsum("i,i", v.ravel(), H(v).ravel())""",
    ],
)

cases(
    "16.downhill",
    wrong=[
        edit(
            "return x - slope / abs(curvature)",
            "return round(x - slope / abs(curvature), 2)",
            "none",
        ),
        edit(
            "return x - slope / abs(curvature)",
            "return (x - slope / abs(curvature),)",
            "several numbers",
        ),
        edit("return x - slope / abs(curvature)", "return abs(x - slope / abs(curvature))", "sign"),
        edit(
            "return x - slope / abs(curvature)",
            "return x - min(1, max(-1, slope / abs(curvature)))",
            "mistake 1",
        ),
        (lambda f, x: _downhill(slide, x), "right elsewhere"),
        edit(
            "slope / abs(curvature)",
            "np.clip(slope / abs(curvature), -1000, 1000)",
            "right elsewhere | 15000",
        ),
        edit(
            "slope / abs(curvature)", "(slope / abs(curvature) or 0.01)", "right elsewhere | , 0)"
        ),
        *(
            edit(
                "abs(curvature)",
                f"(abs(curvature) if abs(slope) < {most} else curvature)",
                "right elsewhere",
            )
            for most in (30, 100)
        ),
        edit("abs(curvature)", "max(abs(curvature), 1e-6)", "right elsewhere | downhill(slide, 3"),
        (lambda f, x: x - ag.grad(f)(x) / abs(ag.grad(ag.grad(f))(abs(x))), "right elsewhere"),
        (
            lambda f, x: x - ag.grad(f)(x) / abs((f(x + 0.1) - 2 * f(x) + f(x - 0.1)) / 0.01),
            "none",
        ),
        (lambda f, x: np.nan, "nan"),
    ],
    accepted=[
        "lambda f, x: x - ag.grad(f)(x) / np.abs(ag.grad(ag.grad(f))(x))",
        "lambda f, x: x - float(ag.grad(f)(x)) / abs(float(ag.grad(ag.grad(f))(x)))",  # plain floats raise an error for 0/0
        "lambda f, x: x - np.sign(ag.grad(f)(x)) * abs(ag.grad(f)(x) / ag.grad(ag.grad(f))(x))",
        """
        def downhill(f, x):
            slope, curvature = ag.jvp(ag.grad(f), (x,), (1.0,))
            return x - slope / (curvature if curvature > 0 else -curvature)""",
        """
        def downhill(f, x):
            slope, curvature = ag.grad(f)(x), ag.hessian(f)(x)
            newton = -slope / curvature
            return x + newton if newton * slope < 0 else x - newton""",
        """
        def downhill(f, x):
            slope, curvature = ag.value_and_grad(ag.grad(f))(x)
            return float(x - slope * (curvature**2)**-0.5)""",
    ],
)
