"""The excess of a curve, E[(1 - e^{x-X})_+] = integral of (e^l - e^x)_+ dQ, by Gauss-Legendre sums from the point where l = x.

notation as in :mod:`logphi.quadrature.curves.curve`. The integrand is positive, so that nothing cancels, however small
the excess is.
"""

from __future__ import annotations

import numpy as np

from logphi.arith.floats import ULP
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.quadrature.curves.curve import Curve
from logphi.quadrature.curves.gauss_legendre import Masses, atoms_of, nodes_of
from logphi.quadrature.curves.panels import Ellipses, best, halved, log_tail
from logphi.quadrature.values import LOG_ROUNDING

# measured: the initial number of panels
_FIRST = 8
# measured: the largest number of panels
_MOST = 600
# measured: the logarithm of the relative error asked of the quadrature
_SHARP = float(np.log(1e-17))


def excess(curve: Curve, x: float) -> Scaled | None:
    """The excess at x; None if the integral is out of range."""
    if curve.symmetric and x < 0:
        # P - e^x Q and the excess of the symmetric law
        reflected = _on_one_side(curve, -x, above=True)
        left = -np.expm1(x) * (1 - curve.omitted[0])
        known = Scaled(0.0, float(left), rounding=float(1e-15 * (left + abs(x))))
        return reflected and known + reflected.times_exp(x)
    return _on_one_side(curve, x, above=True)


def reversed_excess(curve: Curve, x: float) -> Scaled | None:
    """The integral of (e^x - e^l)_+ dQ, for a curve that is not symmetric."""
    return _on_one_side(curve, x, above=False)


def _on_one_side(curve: Curve, x: float, *, above: bool) -> Scaled | None:
    """The integral of |e^l - e^x| over l above x, or below x."""
    sign = 1 if above else -1
    atoms = atoms_of(curve)
    log_terms = [_log_gain(atoms, x, sign)]
    errors = [_errors(atoms, x, sign)]
    inner = -np.inf
    span = _range(curve, x, above)
    if span is None:
        return None
    low, high, cut, gap = span
    if low < high:
        found = _panels(curve, x, low, high, float(log_terms[0].max(initial=-np.inf)))
        if found is None:
            return None
        lower, upper, inner = found
        body = nodes_of(curve, lower, upper)
        log_terms.append(_log_gain(body, x, sign))
        errors.append(_errors(body, x, sign))
        inner = float(np.logaddexp(inner, cut))
    log_term, (log_wrong, relative) = np.concatenate(log_terms), np.concatenate(errors, axis=1)
    scale = float(max(log_term.max(initial=-np.inf), log_wrong.max(initial=-np.inf)))
    if scale == -np.inf:
        return None
    term = np.exp(log_term - scale)
    rounding = float((term * relative).sum() + np.exp(log_wrong - scale).sum()) * (1 + 1e-9)
    value = float(term.sum())
    rounding += value * ULP * (term.size + 4 * (2 + abs(scale) + abs(x)))
    left_out = float(np.exp(min(gap - scale, 700.0)))
    return Scaled(scale, value, truncation=left_out, inner=float(np.exp(min(inner - scale, 700.0))), rounding=rounding)


def _log_gain(masses: Masses, x: float, sign: int) -> Array:
    """The logarithm of |e^l - e^x| times the mass of each node."""
    with np.errstate(divide="ignore", over="ignore"):  # nodes without a contribution; far below x a node contributes e^x
        ahead = np.maximum(sign * (masses.loss - x), 0.0)
        top = masses.loss if sign > 0 else np.full(masses.loss.shape, x)
        log_gain: Array = masses.log_mass + top + np.log(-np.expm1(-ahead))
    return log_gain


def _errors(masses: Masses, x: float, sign: int) -> Array:
    """For each node the logarithm of the absolute error due to the losses and x, and a relative error."""
    wrong = masses.loss_error + ULP * (abs(x) + np.abs(masses.loss))
    with np.errstate(divide="ignore"):  # an exact node
        # a contribution changes by at most e^l or e^x times the error of the loss, also near its zero
        larger = np.maximum(masses.loss, x) if sign > 0 else np.full(wrong.shape, x)
        near = sign * (masses.loss - x) > -wrong
        log_wrong = np.where(near, masses.log_mass + larger + np.log(wrong) + wrong, -np.inf)
    return np.stack([log_wrong, masses.relative_error + 24 * ULP])


def _range(curve: Curve, x: float, above: bool) -> tuple[float, float, float, float] | None:
    """The range of the panels, and logarithms of what is omitted at the far end and at the start; None if out of range."""
    here = float(np.clip(curve.inverse(np.array([x])), curve.start, curve.end)[0])
    if np.isfinite(curve.start) and x <= curve.loss(np.array([curve.start]))[0]:
        here = curve.start
    gap = _log_gap(curve, x, here)
    if gap is None:
        return None
    far = curve.end if above else curve.start
    if np.isfinite(far):
        return (here, far, -np.inf, gap) if above else (far, here, -np.inf, gap)
    steps = np.concatenate([np.geomspace(1e-3, 1, 32), np.linspace(1.1, 80, 400)])
    end = here + (steps if above else -steps)
    end = end[end > 0] if above else end[end < 0]
    if not end.size:
        return None
    log_omitted = log_tail(curve, np.array([1.0]), end, 1 if above else -1)[1, :, 0] + (0.0 if above else max(x, 0.0))
    ahead = np.abs(curve.loss(end) - x)
    worth = curve.log_density(end) + (np.maximum(curve.loss(end), x) if above else x) + np.log(-np.expm1(-ahead) + 1e-300)
    good = np.flatnonzero(log_omitted <= worth.max() + _SHARP - 6)
    at = int(good[0]) if good.size else end.size - 1
    far, cut = float(end[at]), float(log_omitted[at])
    return (here, far, cut, gap) if above else (far, here, cut, gap)


def _log_gap(curve: Curve, x: float, here: float) -> float | None:
    """The logarithm of the integral between the computed point where l = x and the true one; None if they may be far apart."""
    # distances that exceed the rounding of s, and the step that moves the loss by its error
    at = np.array([here])
    room = float(curve.loss_error(at, np.abs(at))[0]) + ULP * abs(x)
    unit = np.array([8 * ULP * abs(here), room / curve.steepness]) + 1e-300
    distance = np.sort((unit[:, None] * 2.0 ** np.arange(0, 64, 4)).ravel())
    ends = np.stack([np.maximum(here - distance, curve.start), np.minimum(here + distance, curve.end)])
    loss = curve.loss(ends)
    wrong = curve.loss_error(ends, np.abs(ends)) + ULP * abs(x)
    beside = (loss[0] + wrong[0] < x) | (ends[0] == curve.start)
    beside &= (loss[1] - wrong[1] > x) | (ends[1] == curve.end)
    if not beside.any():
        return None
    found = int(np.argmax(beside))
    low, high = ends[:, found].tolist()
    apart = float(loss[1, found] - loss[0, found] + wrong[:, found].sum())
    size = max(abs(low), abs(high))
    if (high - low) * (curve.steepness + abs(curve.density[1]) + 2 * abs(curve.density[2]) * size) > 0.5 or apart > 0.5:
        return None
    # over an interval this short the density grows by less than e
    density = float(curve.log_density(ends[:, found]).max()) + 1.0
    return density + x + float(np.log(max(high - low, 1e-300))) + float(np.log(2 * apart + 1e-300))


def _panels(curve: Curve, x: float, low: float, high: float, log_atoms: float) -> tuple[Array, Array, float] | None:
    """Panels between two points, and the logarithm of the error of their sum; None if there would be too many."""
    # both ends may be neighbours among the doubles
    edges = np.unique(np.linspace(low, high, _FIRST + 1))
    body = nodes_of(curve, edges[:-1], edges[1:])
    worth = np.maximum(_log_gain(body, x, 1).max(), _log_gain(body, x, -1).max())
    goal = max(float(worth), log_atoms) + _SHARP - np.log(8 * _FIRST)

    def log_error(lower: Array, upper: Array) -> Array:
        around = Ellipses.around(curve, lower, upper)
        return best((np.logaddexp(around.most, x) + around.log_rest)[:, :, None])[:, 0]

    found = halved(edges, log_error, goal, _MOST)
    return found and (found[0], found[1], float(np.logaddexp.reduce(found[2])) + LOG_ROUNDING)
