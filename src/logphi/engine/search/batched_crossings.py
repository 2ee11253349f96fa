"""Epsilon of many repeated sampled Gaussians at once, with one contour each, computed together.

Each answer is proved like that of one release: by the profile of one order on either side of the crossing, and a bound of the
profile of the other order. If the first attempt proves nothing there is no answer, and the release is computed separately.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from logphi.answers.bound import Bound
from logphi.answers.status import Direction
from logphi.arrays import Array
from logphi.engine.answer import on_scale
from logphi.engine.directions import Loss
from logphi.engine.log_probability import FINITE, LogProbability, from_inversion
from logphi.engine.routes.contour import METHOD
from logphi.engine.search.crossing_search import level_error
from logphi.engine.search.warm_start import saddle_crossing
from logphi.inputs.tolerance import Tolerance
from logphi.inversion.lines import batched_contours
from logphi.inversion.lines.batched_contours import Laws
from logphi.inversion.lines.contour import Inversion, Part
from logphi.inversion.lines.kernels import Smooth, log_kappa
from logphi.inversion.lines.line_sum import Contour
from logphi.laws.normal.mixed_normal import mixed_normals
from logphi.quadrature.mixtures.log_ratio import TwoComponents

# derived: counts up to this are exact doubles
_MOST = 1 << 53
# chosen: the range of mu of the normal limit that occurs in training
_USUAL = (1e-3, 1e3)
# chosen: the largest shift that occurs in training
_LARGEST_SHIFT = 8.0
# measured: for a larger delta the crossing may be at zero
_LARGEST_DELTA = 1e-2
# measured: for a smaller epsilon the crossing may be at zero
_LEAST_EPSILON = 1e-3
# measured: the number of Newton steps from a guess with an error of a hundredth to the last digits
_STEPS = 5
# measured: a relative tolerance at which the profile of the other order is nearly always proved to be below
_COARSE = 1e-2
# derived: the distance of the ends that are tried from the guess, in widths of the profile
_AWAY = 1.25


@dataclass(frozen=True)
class Repeated:
    """A sampled Gaussian and how often it is repeated."""

    shift: float
    rate: float
    count: int

    @staticmethod
    def of(loss: Loss) -> Repeated | None:
        """The repeated sampled Gaussian of a loss; None if the loss is another one in either order."""
        own, others = mixed_normals(loss.remove.terms)
        if len(own) != 1 or others or len(loss.orders(None)) != 2:
            return None
        ((law, count),) = own
        if not count < _MOST:
            return None
        found = Repeated(*law.constants, count)
        return found if _USUAL[0] < found.normal_mu < _USUAL[1] and found.shift < _LARGEST_SHIFT else None

    @property
    def normal_mu(self) -> float:
        """An approximation of the mu of the normal limit, which has the same second moment."""
        return self.rate * math.sqrt(self.count * math.expm1(min(self.shift**2, 50.0)))


def epsilons(releases: Sequence[Repeated], delta: float, tolerance: Tolerance) -> list[Bound | None]:
    """Epsilon of each release at one delta, all of about the same size; None for those to be computed separately."""
    level = math.log(delta) if 0 < delta <= _LARGEST_DELTA else math.nan
    if math.isnan(level):
        return [None] * len(releases)
    shifts, rates, counts = np.array([(one.shift, one.rate, float(one.count)) for one in releases]).T
    laws = Laws(TwoComponents(shifts, rates, counts))
    normal = math.sqrt(-2 * level) / np.array([one.normal_mu for one in releases])
    found: list[Bound | None] = [None] * len(releases)
    saddles = batched_contours.minimise(laws, normal, lambda c, k: (k + log_kappa(c) - level) / c)
    guesses = _guesses(laws, saddles, level)
    kept = np.flatnonzero(np.isfinite(guesses) & (guesses > _LEAST_EPSILON))
    if not kept.size:
        return found
    guesses = guesses[kept]
    contours = batched_contours.lay(laws.of(kept), saddles[kept], guesses, math.log(tolerance.aim))
    proved = {}
    for row, contour, guess in zip(kept.tolist(), contours, guesses.tolist(), strict=True):
        own = None if contour is None else _crossing(contour, level, guess)
        if own is not None and own.width <= tolerance.aim * max(1.0, own.value):
            proved[row] = own
    if proved:
        those = np.array(list(proved))
        below = _surely_below(laws.of(those), [one.lower for one in proved.values()], saddles[those], level)
        for (row, own), sure in zip(proved.items(), below, strict=True):
            found[row] = on_scale(own, tolerance.enough) if sure else None
    return found


def _guesses(laws: Laws, c: Array, level: float) -> Array:
    """Approximate crossings."""
    low, middle, high = laws.approximate(c[:, None] * np.array([0.98, 1.0, 1.02])).T
    with np.errstate(invalid="ignore"):  # unknown values
        return saddle_crossing(middle, np.maximum((low + high - 2 * middle) / (0.02 * c) ** 2, 0.0), c, level)


def _crossing(contour: Contour, level: float, x: float) -> Bound | None:
    """The crossing of the excess with a level, by Newton's method on a contour from a guess, with a proof on either side."""
    z, k = contour.line.points, contour.values.mid
    weights = np.exp(k - contour.log_mass) / (z * (z + 1))
    weights[0] *= 0.5
    share, heights = math.log(contour.line.step / math.pi), 1j * contour.line.heights
    slope = -contour.abscissa
    for _ in range(_STEPS):
        terms = weights * np.exp(-heights * x)
        total = float(terms.real.sum())
        if not total > 0:
            return None
        slope = -float((terms * z).real.sum()) / total
        gap = math.log(total) + share + contour.log_mass - contour.abscissa * x - level
        if not (slope < 0 and math.isfinite(gap)):
            return None
        x -= gap / slope
        if abs(gap) < 1e-13:
            break
    here = _profile(contour, x)
    slack = level_error(level)
    step = _AWAY * max(here.upper - here.lower + 2 * slack, 1e-14) / -slope + 4e-16 * abs(x)
    lower, upper = x - step, x + step
    if not (lower > 0 and _profile(contour, lower).lower - slack >= level and _profile(contour, upper).upper + slack <= level):
        return None
    ledger = here.ledger.scaled(1 / (math.exp(level) * -slope))
    return Bound(lower, x, upper, method=METHOD, direction=Direction.REMOVE, ledger=ledger)


def _profile(contour: Contour, x: float) -> LogProbability:
    amount = contour.integral(x, Smooth(x))
    return from_inversion(FINITE, x, Inversion(Part.EXCESS, amount, contour.abscissa, contour.line.size), METHOD)


def _surely_below(laws: Laws, x: Sequence[float], saddles: Array, level: float) -> list[bool]:
    """For each threshold, whether the profile of the other order is proved to be below the level there."""
    other, thresholds = Laws(laws.mixtures, reflected=True), np.array(x)

    def height(c: Array, k: Array) -> Array:
        return np.asarray(k - c * thresholds[:, None] + Smooth(0.0).log_real(c))

    contours = batched_contours.lay(other, batched_contours.minimise(other, saddles, height), thresholds, math.log(_COARSE))
    return [one is not None and _profile(one, at).upper < level for one, at in zip(contours, x, strict=True)]
