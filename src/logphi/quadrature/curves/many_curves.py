"""Many curves of one factor and an exponential density at once: Gauss-Legendre sums over the panels of all, as arrays.

notation and error bounds as in :mod:`logphi.quadrature.curves.panels` and :mod:`logphi.quadrature.curves.variation_envelope`.
Where g2 = 0 the slope u' = g1 + (a + 1) kappa r - kappa is monotone in s, as r is: e^u falls and then rises if a + 1 > 0, or
rises and then falls, and its variation is known from both ends and from its extreme value, where u is convex, or concave.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arrays import Array
from logphi.quadrature.curves.common_panels import BatchNodes, Powers
from logphi.quadrature.curves.curve import Curve, Factor
from logphi.quadrature.curves.gauss_legendre import Masses, nodes_of
from logphi.quadrature.curves.panels import ORDER, gauss, log_bounds, sizes
from logphi.quadrature.mixtures.log_ratio import LARGE
from logphi.quadrature.values import MASS_ROUNDING

# derived: the relative error asked of the quadrature, as for single curves
_LOG_SHARP = float(np.log(1e-17))
# measured: the largest number of panels, which take seconds
_MOST = 1 << 16
# measured: the largest number of halvings of a panel
_HALVINGS = 30


def batchable(curve: Curve) -> bool:
    """Whether a curve can be computed together with others: one factor, an exponential density, two ends."""
    factor, (_, linear, bend) = curve.factors[0], curve.density
    simple = len(curve.factors) == 1 and not factor.own and factor.sign == 1 and not bend and factor.slope > 0
    return simple and bool(np.isfinite([curve.start, curve.end, linear]).all()) and not factor.certain


@dataclass(frozen=True, eq=False)
class ManyCurves:
    """Counted curves that are :func:`batchable`, all symmetric or none."""

    curves: tuple[Curve, ...]
    count: Array

    def nodes(self, powers: Powers) -> BatchNodes | None:
        """Nodes that serve some powers; None if there would be too many panels."""
        found = self._panels(powers)
        if found is None:
            return None
        law, low, high, (quadrature, _) = found
        body = nodes_of(self._at(np.repeat(law, ORDER)), low, high)
        numbers, atoms = self._atoms
        law, whole = np.concatenate([np.repeat(law, ORDER), numbers]), body.joined_with(atoms)
        if self.curves[0].symmetric:
            law, whole = np.concatenate([law, law]), whole.with_mirror_image()
        omitted, error = np.array([curve.omitted for curve in self.curves]), [curve.omitted_error for curve in self.curves]
        return BatchNodes(
            self.count,
            law,
            whole.loss,
            np.exp(whole.log_mass),
            # the error of the exponent counts in the mass
            whole.relative_error + ELEMENTARY + ULP * np.abs(whole.log_mass),
            whole.loss_error,
            np.zeros(self.count.size),
            quadrature,
            omitted,
            omitted * (np.array(error)[:, None] + 8 * ULP),
        )

    def variation(self, power: float) -> tuple[Array, Array] | None:
        """The total variation of the smooth part of each law e^{al} Q, over that part's mass, and its share of the law."""
        found = self._panels(Powers(power, power, 0.0))
        if found is None:
            return None
        law, low, high, (_, plain) = found
        body, (number, atoms), every = nodes_of(self._at(np.repeat(law, ORDER)), low, high), self._atoms, self._at(slice(None))
        law, size = np.repeat(law, ORDER), self.count.size
        tilts = (power, 1 - power) if self.curves[0].symmetric else (power,)
        with np.errstate(over="ignore"):  # infinite: nothing is known
            smooth = sum(np.bincount(law, np.exp(body.log_mass + tilt * body.loss), size) for tilt in tilts)
            others = sum(np.bincount(number, np.exp(atoms.log_mass + tilt * atoms.loss), size) for tilt in tilts)
            others = others + np.array([curve.rest for curve in self.curves])
            variation = sum(_variation(every, tilt, joined=len(tilts) > 1) for tilt in tilts)
        least = smooth * (1 - MASS_ROUNDING) - plain
        known = (least > 0) & np.isfinite(variation) & np.isfinite(smooth + others)
        smooth, others, least = (np.where(known, part, 1.0) for part in (smooth, others, least))
        weight = least / (smooth + plain + others) * (1 - MASS_ROUNDING)
        return np.where(known, variation / least * (1 + MASS_ROUNDING), np.inf), np.where(known, weight, 0.0)

    def _at(self, law: Any, *, column: bool = False) -> Curve:
        """The curves with the given numbers, as one curve whose parameters are arrays."""
        table = self._table[law]
        parts = [table[:, [i]] if column else table[:, i] for i in range(table.shape[1])]
        rate, slope, offset, start, end, g0, g1, error = parts
        density = (g0, g1, 0.0)
        factors = (Factor(rate, slope, offset),)
        return Curve(factors, start, end, density, symmetric=self.curves[0].symmetric, error=error)

    @property
    def _table(self) -> Array:
        """The parameters, a row for each curve."""
        return np.array(
            [
                (f.rate, f.slope, f.offset, curve.start, curve.end, *curve.density[:2], curve.error)
                for curve in self.curves
                for f in curve.factors
            ]
        )

    @property
    def _atoms(self) -> tuple[NDArray[np.intp], Masses]:
        """The atoms of all curves, with the number of the curve of each."""
        law = np.repeat(np.arange(len(self.curves)), [len(curve.atoms) for curve in self.curves])
        locations, held = np.array([atom for curve in self.curves for atom in curve.atoms], dtype=float).reshape(-1, 2).T
        curve = self._at(law)
        # a point far to the left stands for minus infinity
        s, size = np.maximum(locations, -1e300), np.abs(np.where(np.isfinite(locations), locations, 0.0))
        relative = 48 * ULP + (2 * curve.error + 8 * ULP) * (1 + np.abs(held))
        return law, Masses(curve.loss(s), held, relative, curve.loss_error(s, size))

    def _panels(self, powers: Powers) -> tuple[NDArray[np.intp], Array, Array, Array] | None:
        """Panels of all curves, the number of each one's curve, and the errors of sums of h over |z| |z + 1| and of e^{al}."""
        law = np.arange(len(self.curves))
        own = self._at(law)
        low, high = np.asarray(own.start), np.asarray(own.end)
        s, log_weight, _ = gauss(low, high)
        second, _ = sizes(self._at(np.repeat(law, ORDER)), s, powers.ends)
        goal = np.logaddexp.reduceat((second.max(axis=1) + log_weight), law * ORDER) + _LOG_SHARP
        errors = np.zeros((2, law.size))
        done: list[tuple[NDArray[np.intp], Array, Array]] = []
        for _ in range(_HALVINGS):
            bounds = log_bounds(self._at(law, column=True), low, high, powers.ends, powers.top)
            log_errors = [part.max(axis=1) for part in bounds]
            good = log_errors[0] <= goal[law]
            done.append((law[good], low[good], high[good]))
            for kind, log_error in enumerate(log_errors):
                errors[kind] += np.bincount(law[good], np.exp(np.minimum(log_error[good], LARGE)), len(self.curves))
            if good.all():
                whose, lower, upper = (np.concatenate(parts) for parts in zip(*done, strict=True))
                return whose, lower, upper, errors * (1 + 1e-9)
            law, low, high = law[~good], low[~good], high[~good]
            if law.size > _MOST:
                return None
            middle = (low + high) / 2
            law, low, high = np.tile(law, 2), np.concatenate([low, middle]), np.concatenate([middle, high])
        return None


def _variation(curve: Curve, tilt: float, *, joined: bool) -> Array:
    """Bounds of the total variation of e^u with its jumps, without the jump at the start if another part continues there."""
    (factor,), (_, linear, _), power = curve.factors, curve.density, tilt + 1
    start, end = np.asarray(curve.start), np.asarray(curve.end)

    def exponent(s: Array) -> Array:
        rise = factor.exponent(s) + np.log(factor.slope * factor.rate)
        return np.asarray(curve.log_density(s) + power * factor.value(s) - rise)

    # u' is zero where r is this share; anywhere else the tangent there is a bound as well
    share = np.clip((factor.slope - linear) / (factor.slope * power) if power else np.ones(start.shape), 1e-12, 1 - 1e-12)
    odds = np.log(share) - np.log1p(-share) + np.log1p(-factor.rate) - np.log(factor.rate)
    at = np.clip((odds - factor.offset) / factor.slope, start, end)
    slope = linear + power * factor.slope * factor.share(at, factor.value(at)) - factor.slope
    ahead, behind = slope * (end - at), slope * (start - at)
    at_start, at_end, at_extreme = np.exp(exponent(start)), np.exp(exponent(end)), exponent(at)
    if power >= 0:
        least = np.exp(at_extreme + np.minimum(np.minimum(ahead, behind), 0.0)) * (1 - MASS_ROUNDING)
        whole = 2 * (at_start + at_end - np.minimum(least, np.minimum(at_start, at_end)))
    else:
        whole = 2 * np.exp(at_extreme + np.maximum(np.maximum(ahead, behind), 0.0))
    return np.asarray((whole - at_start if joined else whole) + MASS_ROUNDING * (at_start + at_end))
