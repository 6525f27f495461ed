"""check_grads: derivatives by the rules against derivatives by finite differences."""

import warnings
from collections import namedtuple

import numpy as np

from . import ops
from .tape import Tensor, plain
from .transforms import jvp, vjp

_EPS = np.finfo(np.float64).eps
_STEP = 1e-5  # the first that is tried, relative to the input
_Measured = namedtuple("_Measured", "slope error sides bounds moved rounded trusted")


def check_grads(f, *xs, order=2, modes=("rev", "fwd")):
    """Compare the derivatives of `f` at `xs` with finite differences, entry by entry.

    The output is projected on a random direction, so that every entry of it counts. What arrives at the output is also made −8
    times as large, for a rule is linear in it, and from the second order on it varies as the inputs do. For the second order,
    the same is done to the first derivative, and so on. All is computed in float64. The step of a difference is chosen by how
    far the difference can be trusted: that serves numbers from 1e-6 to 1e6. With 1e50 beside 1 a wrong rule may pass.

    Parameters
    ----------
    f : function of the arrays `xs` that returns one array
    xs : arrays or numbers
    order : int, how many derivatives in a row to check
    modes : of "rev" (backward mode) and "fwd" (forward mode), and for higher orders every mix of them

    Raises an AssertionError that is a report: argument, entry, what the rule gave, what the difference gave; and
    ValueError if `modes` holds something else, or `f` gives two values for the same inputs. Warns (RuntimeWarning) at
    a kink, where the slopes on the two sides differ: any number between them is accepted there. Where several entries
    have a kink, as in a tie, the slope as all entries move together is checked too.
    """
    if not modes or not {"rev", "fwd"}.issuperset(modes):
        raise ValueError(f"check_grads: modes are chosen from 'rev' and 'fwd', not {modes!r}")
    rng = np.random.default_rng(0)
    xs = [np.array(x, dtype=np.float64) for x in xs]
    value = _at(f, xs)
    if not np.array_equal(value, _at(f, xs), equal_nan=True):
        raise ValueError(
            "check_grads: f gives two values for the same inputs; draw its random numbers before"
        )
    u = _direction(rng, value.shape)
    # With one output number the report gives the slope of f itself, free of the projection.
    names = [f"argument {i}" for i in range(len(xs))]
    _check(f, xs, u, names, order, modes, rng, "", u.item() if u.size == 1 else 1.0, set(), 0.0)


def _check(f, xs, u, names, order, modes, rng, path, scale, kinks, large):
    """Check the function `f` projected on `u`, then its derivative; `path` says how `f` was derived, `large` is what it was from."""
    value, faults, found = _at(f, xs), [], set()
    noise, large = large, large + np.abs(u * value).sum()
    vs = [_direction(rng, x.shape) for x in xs]
    given = {"rev": lambda: vjp(f, *xs)[1](u), "fwd": lambda: _by_columns(f, xs, u)}
    larger = {
        "rev": lambda: vjp(f, *xs)[1](-8 * u),
        "fwd": lambda: [jvp(f, xs, [-8 * v for v in vs])[1]],
    }
    once = {"rev": lambda: grads["rev"], "fwd": lambda: [jvp(f, xs, vs)[1]]}
    grads = {mode: [plain(g) for g in given[mode]()] for mode in modes}

    def compare(where, direction, rules):
        slope, error, sides, bounds = _slope(f, xs, u, value, direction, noise, large)
        for mode, (rule, size) in rules.items():
            near = 1e-5 * max(abs(slope), size) + 4 * error
            low, high = bounds if sides else (slope, slope)
            if not (error < np.inf and low - near <= rule <= high + near):
                faults.append(
                    f"  {where}: the rule gave {rule / scale + 0:.10g}, "  # + 0: never -0
                    f"the difference gave {slope / scale:.10g}   [{path}{mode}]"
                )
        return sides

    for i, x in enumerate(xs):
        for k in np.ndindex(x.shape):
            if (i, k) in kinks:
                continue  # no second derivative where there is no first
            where = names[i] + (f", entry {list(k)}" if k else "")
            direction = [np.zeros(x.shape) for x in xs]
            direction[i][k] = 1.0
            sides = compare(
                where, direction, {mode: (g := grads[mode][i][k].item(), abs(g)) for mode in modes}
            )
            if sides:
                found.add((i, k))
                left, right = sides
                warnings.warn(
                    f"check_grads: a kink at {where}: the slope is {left / scale:.6g} on the left and "
                    f"{right / scale:.6g} on the right",
                    RuntimeWarning,
                    stacklevel=3,
                )
    if len(found) > 1:
        compare(
            "all arguments together",
            [np.ones(x.shape) for x in xs],
            {
                mode: (sum(g.sum() for g in grads[mode]), sum(np.abs(g).sum() for g in grads[mode]))
                for mode in modes
            },
        )
    for mode in modes:
        what = {"rev": "the gradient that arrives", "fwd": "the tangent"}[mode]
        for g, h in zip(once[mode](), larger[mode]()):
            if not np.allclose(
                plain(h),
                -8 * plain(g),
                rtol=1e-9,
                atol=1e-9 * np.nanmax(np.abs(plain(g)), initial=0),
                equal_nan=True,
            ):
                faults.append(
                    f"  the rule is not linear in {what}: −8 times as much gives something else   [{path}{mode}]"
                )
    if faults:
        more = f"\n  … and {len(faults) - 8} more" if len(faults) > 8 else ""
        raise AssertionError(
            f"check_grads: the order {path.count('>') + 1} derivative is wrong in {len(faults)} "
            f"place{'s' * (len(faults) > 1)}\n" + "\n".join(faults[:8]) + more
        )
    if order > 1:
        # Functions of the inputs, and of what arrives: `t` times a fixed direction, at t = 1.
        derived = {
            "rev": lambda *xs: _joined(vjp(f, *xs[:-1])[1](xs[-1] * u)),
            "fwd": lambda *xs: jvp(f, xs[:-1], [xs[-1] * v for v in vs])[1],
        }
        projected = {"rev": np.concatenate([v.ravel() for v in vs]), "fwd": u}
        scale = scale * vs[0].item() if len(vs) == 1 and vs[0].size == 1 else 1.0
        for mode in modes:
            arriving = {"rev": "the gradient that arrives", "fwd": "the tangent"}[mode]
            _check(
                derived[mode],
                [*xs, np.ones(())],
                projected[mode],
                [*names, arriving],
                order - 1,
                modes,
                rng,
                f"{path}{mode} > ",
                scale,
                kinks | found,
                large,
            )


def _slope(f, xs, u, value, direction, noise, large):
    """(slope, error, sides, bounds) of `f`, projected on `u`, as the inputs move along `direction`.

    The slope is the four-point difference, wrong by about `error`, with the step that makes this small. At a kink, which no step
    removes, `sides` are the slopes on the left and on the right, and any between `bounds` are right; else it is None.
    """
    size = max([1.0, *(np.abs(x[d != 0]).max() for x, d in zip(xs, direction) if d.any())])

    def measure(step):
        return _measured(f, xs, u, value, direction, step, 4 * _EPS * noise, _EPS * large / size)

    best = measure(_STEP * size)
    if not best.moved:  # a slope of 0, or one that is lost in rounding so near
        far = measure(0.1 * size)
        return far[:4] if far.rounded else best[:4]
    start = _STEP * size
    if best.sides:
        start *= 1e-4
        near = measure(start)
        if near.sides and np.allclose(
            near.sides, best.sides, rtol=0, atol=1e-2 * np.abs(best.sides).max()
        ):
            return best[:4]
        best = near._replace(sides=None)
    for factor in (0.1, 10.0):
        step = start
        while not best.trusted and 1e-16 * size < step < 0.1 * size:
            step *= factor
            other = measure(step)
            if other.error < best.error:
                best = other._replace(sides=None)
            elif other.rounded or factor > 1:
                break
    return best[:4]


def _measured(f, xs, u, value, direction, h, noise, least):
    """One difference. `noise` is what `f` may be wrong by, beside its own rounding: that of what it was derived from. `least` is
    what any difference is wrong by: what changes `f` by a rounding as x changes by its own size."""
    with np.errstate(all="ignore"):
        at = {k: _at(f, [x + k * h * d for x, d in zip(xs, direction)]) for k in (-2, -1, 1, 2)}

        def change(
            a, b
        ):  # entry by entry, so that a large one that stays hides no small one that moves
            return np.where(a == b, 0.0, a - b) * u

        near, far = change(at[1], at[-1]).sum() / (2 * h), change(at[2], at[-2]).sum() / (4 * h)
        slope = (4 * near - far) / 3
        moved = (at[2] != at[-2]) | (at[1] != at[-1])
        rounding = (4 * _EPS * np.abs(u * value)[moved if moved.any() else ...].sum() + noise) / h
        lefts, rights = change(value, at[-1]) / h, change(at[1], value) / h
        left, right = lefts.sum(), rights.sum()
        # One-sided slopes differ by h·f″ where f is smooth, twice as much for twice the step; at a kink they do not.
        gap, wide = (
            abs(right - left),
            abs((change(at[2], value) - change(value, at[-2])).sum()) / (2 * h),
        )
        cut = abs(slope - near)  # what the nearer pair of points alone would be wrong by
        error = cut + rounding + least if np.isfinite(cut + rounding) else np.inf
        kink = gap > 1e-3 * (abs(left) + abs(right)) + 4 * rounding and gap > 0.75 * wide
        bounds = np.minimum(lefts, rights).sum(), np.maximum(lefts, rights).sum()
    return _Measured(
        slope,
        error,
        (left, right) if kink else None,
        bounds,
        moved.any(),
        not kink and cut <= 4 * rounding,
        error < np.inf and error <= 1e-6 * abs(slope),
    )


def _joined(arrays):
    return ops.concatenate([ops.reshape(a, -1) for a in arrays])


def _at(f, xs):
    """The value of `f` as a plain array; `f` may use methods, and close over parameters."""
    return plain(f(*[Tensor(x) for x in xs]))


def _direction(rng, shape):
    """Random numbers that are neither small nor 1."""
    return np.asarray(rng.uniform(0.5, 0.9, shape) * rng.choice([-1, 1], shape))


def _by_columns(f, xs, u):
    """The gradient of `f`, projected on `u`, by forward mode: one entry of one input moves at a time."""
    grads = [np.zeros(x.shape) for x in xs]
    for i, x in enumerate(xs):
        for k in np.ndindex(x.shape):
            tangents = [np.zeros(y.shape) for y in xs]
            tangents[i][k] = 1.0
            grads[i][k] = np.sum(plain(jvp(f, xs, tangents)[1]) * u)
    return grads
