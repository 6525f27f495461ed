"""check_grads: derivatives by the rules against derivatives by finite differences."""

import warnings

import numpy as np

from . import ops
from .tape import Tensor, plain
from .transforms import jvp, vjp

_STEP = 1e-5  # relative to the input; the four-point difference is then good to about 1e-10


def check_grads(f, *xs, order=2, modes=("rev", "fwd")):
    """Compare the derivatives of `f` at `xs` with finite differences, entry by entry.

    The output is projected on a random direction, so that every entry of it counts, and a rule that ignores the
    gradient arriving at it is seen. For the second order, the same is done to a random projection of the first
    derivative, and so on. All is computed in float64.

    Parameters
    ----------
    f : function of the arrays `xs` that returns one array
    xs : arrays or numbers
    order : int, how many derivatives in a row to check
    modes : of "rev" (backward mode) and "fwd" (forward mode), and for higher orders every mix of them

    Raises
    ------
    AssertionError
        That is a report: argument, entry, what the rule gave, what the difference gave.

    Warns
    -----
    RuntimeWarning
        At a kink, where the slopes on the two sides differ: any number between them is accepted there.
    """
    if not modes or not {"rev", "fwd"}.issuperset(modes):
        raise ValueError(f"check_grads: modes are chosen from 'rev' and 'fwd', not {modes!r}")
    rng = np.random.default_rng(0)
    xs = [np.array(x, dtype=np.float64) for x in xs]
    u = _direction(rng, _at(f, xs).shape)
    # With one output number the report gives the slope of f itself, free of the projection.
    _check(lambda *xs: ops.sum(f(*xs) * u), xs, order, modes, rng, "", u.item() if u.size == 1 else 1.0, set())


def _check(f, xs, order, modes, rng, path, scale, kinks):
    """Check the scalar function `f`, then projections of its derivative; `path` says how `f` was derived."""
    value = _at(f, xs).item()
    given = {"rev": lambda: vjp(f, *xs)[1](1.0), "fwd": lambda: _by_columns(f, xs)}
    grads = {mode: given[mode]() for mode in modes}
    faults = []
    for i, x in enumerate(xs):
        for k in np.ndindex(x.shape):
            if (i, k) in kinks:
                continue  # no second derivative where there is no first
            slope, left, right = _slopes(f, xs, i, k, value)
            where = f"argument {i}" + (f", entry {list(k)}" if k else "")
            kink = left is not None
            if kink:
                kinks = kinks | {(i, k)}
                warnings.warn(f"check_grads: a kink at {where}: the slope is {left / scale:.6g} on the left and "
                              f"{right / scale:.6g} on the right", RuntimeWarning, stacklevel=3)
            for mode in modes:
                rule = plain(grads[mode][i])[k].item()
                fits = min(left, right) - 1e-6 <= rule <= max(left, right) + 1e-6 if kink else \
                    abs(rule - slope) <= 1e-5 * abs(slope) + 1e-8 * (1 + abs(value))
                if not fits:
                    faults.append(f"  {where}: the rule gave {rule / scale:.10g}, the difference gave {slope / scale:.10g}"
                                  f"   [{path}{mode}]")
    if faults:
        more = f"\n  … and {len(faults) - 8} more" if len(faults) > 8 else ""
        raise AssertionError(f"check_grads: {len(faults)} entries of the order {path.count('>') + 1} derivative are wrong\n"
                             + "\n".join(faults[:8]) + more)
    if order > 1:
        vs = [_direction(rng, x.shape) for x in xs]
        scale = scale * vs[0].item() if len(vs) == 1 and vs[0].size == 1 else 1.0
        derived = {"rev": lambda *xs: sum(ops.sum(gx * v) for gx, v in zip(vjp(f, *xs)[1](1.0), vs)),
                   "fwd": lambda *xs: jvp(f, xs, vs)[1]}
        for mode in modes:
            _check(derived[mode], xs, order - 1, modes, rng, f"{path}{mode} > ", scale, kinks)


def _at(f, xs):
    """The value of `f` as a plain array; `f` may use methods, and close over parameters."""
    return plain(f(*[Tensor(x) for x in xs]))


def _direction(rng, shape):
    """Random numbers that are neither small nor 1."""
    return np.asarray(rng.uniform(0.5, 0.9, shape) * rng.choice([-1, 1], shape))


def _by_columns(f, xs):
    """The gradient of the scalar function `f` by forward mode: one entry of one input moves at a time."""
    grads = [np.zeros(x.shape) for x in xs]
    for i, x in enumerate(xs):
        for k in np.ndindex(x.shape):
            tangents = [np.zeros(y.shape) for y in xs]
            tangents[i][k] = 1.0
            grads[i][k] = plain(jvp(f, xs, tangents)[1])
    return grads


def _slopes(f, xs, i, k, value):
    """The slope of `f` as entry `k` of input `i` moves: by the four-point difference, and at a kink also from the
    left and from the right (else None, None).

    One-sided slopes differ by h·f″ where `f` is smooth, twice as much for twice the step; at a kink they do not.
    """
    h = _STEP * max(1.0, abs(xs[i][k]))

    def at(shift):
        moved = [x.copy() for x in xs]
        moved[i][k] += shift
        return _at(f, moved).item()

    far_left, near_left, near_right, far_right = at(-2 * h), at(-h), at(h), at(2 * h)
    slope = (8 * (near_right - near_left) - (far_right - far_left)) / (12 * h)
    left, right = (value - near_left) / h, (near_right - value) / h
    gap, wide_gap = abs(right - left), abs(far_right - 2 * value + far_left) / (2 * h)
    rounding = 1e-15 * abs(value) / h
    if gap > 1e-3 * (1 + abs(slope)) + rounding and gap > 0.75 * wide_gap:
        return slope, left, right
    return slope, None, None
