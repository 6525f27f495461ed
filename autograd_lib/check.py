"""Define `check_grads`, which compares the derivatives of a function with finite differences."""

import warnings

import numpy as np

from . import ops
from .tape import Tensor, to_array
from .transforms import jvp, vjp

_EPS = np.finfo(np.float64).eps


def check_grads(f, *xs, order=2, modes=("rev", "fwd")):
    """Compare the derivatives of `f` at `xs` with finite differences, entry by entry.

    The output is projected onto a random direction, so that every entry of the output affects the
    result. Each rule is called a second time with its upstream gradient multiplied by −8, because a
    rule must be linear in the upstream gradient. For the second order, the first derivative is
    compared with finite differences in the same way, and so on for higher orders. From the second
    order on, the upstream gradient is varied like an input.

    Everything is computed in float64. The step of a difference is 1e-5·|x|, with |x| limited to the
    range from 1e-3 to 1e3; this suits inputs from 1e-6 to 1e6. The tolerance grows with the
    rounding error of the difference, so a wrong rule may pass if values as different as 1e50 and 1
    occur together.

    Parameters
    ----------
    f : callable
        Takes the arrays `xs` and returns one array.
    *xs : array_like
        Arrays or numbers.
    order : int, default 2
        Highest order of derivative to check.
    modes : sequence of {"rev", "fwd"}, default both
        Modes to check: "rev" is reverse mode, "fwd" is forward mode. For higher orders, every
        combination of these modes is checked.

    Raises
    ------
    AssertionError
        If a derivative is wrong. The message gives the argument, the entry, the result of the rule
        and the finite difference.
    ValueError
        If `modes` is empty or contains an unknown mode, or `f` is not deterministic.

    Warns
    -----
    RuntimeWarning
        At a kink, where the slopes on the two sides differ. Any slope between these two is then
        accepted. If several entries have a kink, as in a tie of `max`, the slope is also checked
        while all entries increase together.
    """
    if not modes or not {"rev", "fwd"}.issuperset(modes):
        raise ValueError(
            f"check_grads: expected modes to contain 'rev', 'fwd' or both, got {modes!r}"
        )
    rng = np.random.default_rng(0)
    xs = [np.array(x, dtype=np.float64) for x in xs]
    value = _value_at(f, xs)
    if not np.array_equal(value, _value_at(f, xs), equal_nan=True):
        raise ValueError("check_grads: f is not deterministic; draw its random numbers outside f")
    u = _direction(rng, value.shape)
    names = [f"argument {i}" for i in range(len(xs))]
    # With one output number the report gives the slope of f itself, without the projection.
    scale = u.item() if u.size == 1 else 1.0
    _check(f, xs, u, names, order, modes, rng, "", scale, set(), 0.0)


def _check(f, xs, u, names, order, modes, rng, path, scale, kinks, magnitude):
    """Compare the derivatives of the sum of u·f(*xs) with finite differences, up to order `order`.

    Raise AssertionError if a derivative is wrong, and warn at each kink. For the higher orders the
    function calls itself with the derivative in place of `f`.

    Parameters
    ----------
    f, xs, order, modes
        As for `check_grads`; `xs` is a list of float64 arrays.
    u : ndarray
        The direction onto which the output of `f` is projected.
    names : list of str
        The names of the arguments `xs` in messages.
    rng : numpy.random.Generator
        Draws the directions for the next order.
    path : str
        The modes that led from the original function to `f`, such as "rev > fwd > ".
    scale : float
        The number by which the slopes in messages are divided.
    kinks : set of (int, tuple of int)
        The argument and index of each entry that had a kink at a lower order; these are skipped.
    magnitude : float
        The size of the functions that `f` was derived from. Their rounding errors add to that of
        `f`.
    """
    value, faults, found = _value_at(f, xs), [], set()
    noise, magnitude = magnitude, magnitude + np.abs(u * value).sum()
    vs = [_direction(rng, x.shape) for x in xs]
    # The derivatives are functions of the inputs and of t, the factor of the upstream gradient.
    derivatives = {
        "rev": lambda *xs, t: vjp(f, *xs)[1](t * u),
        "fwd": lambda *xs, t: [jvp(f, xs, [t * v for v in vs])[1]],
    }
    results = {mode: list(map(to_array, derivatives[mode](*xs, t=1.0))) for mode in modes}

    def compare(where, direction):
        slope, error, sides, bounds = _slope(f, xs, u, value, direction, noise, magnitude)
        low, high = bounds if sides else (slope, slope)
        for mode in modes:
            if mode == "rev":
                terms = [g[d != 0] for g, d in zip(results["rev"], direction)]
            else:
                terms = [to_array(jvp(f, xs, direction)[1]) * u]
            rule = sum(term.sum() for term in terms)
            size = sum(np.abs(term).sum() for term in terms)
            near = 1e-5 * max(abs(slope), size) + 4 * error
            if not (error < np.inf and low - near <= rule <= high + near):
                faults.append(
                    f"  {where}: the rule gave {rule / scale + 0:.10g}, "  # + 0: never -0
                    f"the finite difference gave {slope / scale:.10g}   [{path}{mode}]"
                )
        return sides

    for i, x in enumerate(xs):
        for k in np.ndindex(x.shape):
            if (i, k) in kinks:
                continue  # no second derivative where there is no first
            where = names[i] + (f", entry {list(k)}" if k else "")
            direction = [np.zeros(x.shape) for x in xs]
            direction[i][k] = 1.0
            if sides := compare(where, direction):
                found.add((i, k))
                left, right = sides
                warnings.warn(
                    f"check_grads: a kink at {where}: the slope is {left / scale:.6g} on the left "
                    f"and {right / scale:.6g} on the right",
                    RuntimeWarning,
                    stacklevel=3,
                )
    if len(found) > 1:
        compare("all arguments together", [np.ones(x.shape) for x in xs])
    upstream = {"rev": "the upstream gradient", "fwd": "the tangent"}
    for mode in modes:
        for g, h in zip(results[mode], map(to_array, derivatives[mode](*xs, t=-8.0))):
            atol = 1e-9 * np.nanmax(np.abs(g), initial=0)
            if not np.allclose(h, -8 * g, rtol=1e-9, atol=atol, equal_nan=True):
                faults.append(
                    f"  the rule is not linear in {upstream[mode]}: multiplying it by −8 "
                    f"does not multiply the result by −8   [{path}{mode}]"
                )
    if faults:
        more = f"\n  … and {len(faults) - 8} more" if len(faults) > 8 else ""
        raise AssertionError(
            f"check_grads: the derivative of order {path.count('>') + 1} is wrong in {len(faults)} "
            f"place{'s' * (len(faults) > 1)}\n" + "\n".join(faults[:8]) + more
        )
    if order > 1:
        # The next functions have one more argument: t, which is 1.
        projected = {"rev": np.concatenate([v.ravel() for v in vs]), "fwd": u.ravel()}
        scale = scale * vs[0].item() if len(vs) == 1 and vs[0].size == 1 else 1.0
        for mode in modes:
            _check(
                lambda *xs, mode=mode: ops.concatenate(
                    [ops.reshape(d, -1) for d in derivatives[mode](*xs[:-1], t=xs[-1])]
                ),
                [*xs, np.ones(())],
                projected[mode],
                [*names, upstream[mode]],
                order - 1,
                modes,
                rng,
                f"{path}{mode} > ",
                scale,
                kinks | found,
                magnitude,
            )


def _slope(f, xs, u, value, direction, noise, magnitude):
    """Return the slope of the sum of u·f(*xs) as the inputs move along `direction`.

    Parameters
    ----------
    f, xs, u
        As for `_check`.
    value : ndarray
        The value f(*xs).
    direction : list of ndarray
        The direction, one array for each input.
    noise : float
        The argument `magnitude` of `_check`.
    magnitude : float
        The sum of `noise` and the size of `f`.

    Returns
    -------
    slope, error : float
        The four-point difference, and an estimate of its error.
    sides : tuple of float or None
        At a kink, the slopes on the left and on the right; None elsewhere.
    bounds : tuple of float
        The smallest and the largest slope that are accepted at a kink.
    """
    moving = [np.abs(x[d != 0]).max() for x, d in zip(xs, direction) if d.any()]
    size = min(max([1e-3, *moving]), 1e3)
    h = 1e-5 * size
    with np.errstate(all="ignore"):
        at = {
            k: _value_at(f, [x + k * h * d for x, d in zip(xs, direction)]) for k in (-2, -1, 1, 2)
        }

        def change(a, b):  # entry by entry, so that a large entry that stays hides no small one
            return np.where(a == b, 0.0, a - b) * u

        near, far = change(at[1], at[-1]).sum() / (2 * h), change(at[2], at[-2]).sum() / (4 * h)
        slope = (4 * near - far) / 3
        moved = (at[2] != at[-2]) | (at[1] != at[-1])
        rounding = 4 * _EPS * (np.abs(u * value)[moved if moved.any() else ...].sum() + noise) / h
        lefts, rights = change(value, at[-1]) / h, change(at[1], value) / h
        left, right = lefts.sum(), rights.sum()
        # One-sided slopes differ by h·f″ where f is smooth, twice as much for twice the step; at a
        # kink they differ by the same amount.
        gap = abs(right - left)
        wide = abs((change(at[2], value) - change(value, at[-2])).sum()) / (2 * h)
        # The error of the nearer pair of points alone, rounding, and one rounding of x.
        error = abs(slope - near) + rounding + _EPS * magnitude / size
        kink = gap > 1e-3 * (abs(left) + abs(right)) + 4 * rounding and gap > 0.75 * wide
        bounds = np.minimum(lefts, rights).sum(), np.maximum(lefts, rights).sum()
    return slope, error if np.isfinite(error) else np.inf, (left, right) if kink else None, bounds


def _value_at(f, xs):
    """Return f(*xs) as a plain array; `f` receives Tensors, and may return a Tensor."""
    return to_array(f(*[Tensor(x) for x in xs]))


def _direction(rng, shape):
    """Return an array of random numbers with random signs and absolute values from 0.5 to 0.9."""
    return np.asarray(rng.uniform(0.5, 0.9, shape) * rng.choice([-1, 1], shape))
