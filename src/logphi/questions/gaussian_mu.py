"""The smallest mu of Gaussian differential privacy of a release, up to a slack.

notation: G_mu the trade-off function of N(mu, 1) against N(0, 1) and delta_mu its profile; t = e^eps; s the slack. Equivalent
are f >= G_mu - s at every type I error, and delta <= delta_mu + s at every eps >= 0, of both directions.

Above: delta is convex in t, so that on a cell it is below the chord k - c t of two upper bounds. The line is nowhere above
delta_mu + s if the normal test of type I error c has power k - s or more: Phi(mu + Phi^-1(c)) >= k - s. This
gives a mu for each cell, and the largest of them suffices. It is attained where delta_mu has the slope of the chord, at
eps = -mu (Phi^-1(c) + mu/2): there the profile is computed next. No mu is needed from the eps on where delta <= s, or above the
largest loss.
Below: delta > delta_mu + s at any eps proves that mu is too small.
Without slack the far tail matters, too. It is bounded by a mu for each release, whose squares add (Dong, Roth & Su 2022,
Corollary 3.3 of the preprint); the square of the smallest mu is at least twice the rho of zCDP.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import log_ndtr

from logphi.answers.bound import Bound, single
from logphi.answers.ledger import Entry, Ledger
from logphi.answers.status import Status
from logphi.arith.floats import ULP
from logphi.arith.protocol import Plain
from logphi.arith.safe import log_difference, safe_log
from logphi.engine.answer import status_of
from logphi.engine.directions import HasLoss, Loss
from logphi.engine.log_probability import masses
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.normal import Normal
from logphi.laws.shift_bound import shift_bound_of_sum
from logphi.normal.quantile import quantile_above, quantile_below
from logphi.progress import shown
from logphi.questions.delta import log_delta
from logphi.questions.epsilon import epsilon
from logphi.questions.zcdp import zcdp

# measured: the largest number of points of the profile; a smooth loss takes some thirty, one whose mu hardly depends on eps
# some hundred
_MOST = 300
# measured: the relative width of the profile, in units of the tolerance
_SHARPER = 0.1
# measured: the smallest distance of a new point from the ends of its cell, as a share of the cell
_EDGE = 1 / 16
# measured: in narrower cells the error of the profile dominates that of the chord
_NARROWEST = 1e-6
# measured: a negligible slack
_HARDLY = 1e-12
# derived: the relative rounding of sums of a few logarithms of doubles
_ROUNDING = 2e-15
# derived: the number of halvings down to neighbouring doubles
_HALVINGS = 60
# derived: the largest number of steps to the proved side
_STEPS = 40


def gaussian_mu(self: HasLoss, slack: float = 0.0, *, rtol: float = 1e-4) -> Bound:
    """The smallest mu for which no attack's true positive rate exceeds that on a Gaussian mechanism of mu by more than a slack.

    Both directions of the pair count under any relation: a trade-off function determines the profile at negative eps, too,
    which is that of the other direction at positive eps.

    Parameters
    ----------
    slack
        A probability below one: f >= G_mu - slack at every type I error, or equivalently
        delta(eps) <= delta_mu(eps) + slack at every eps. Zero asks for mu-GDP.
    rtol
        Requested ``upper - lower`` relative to mu.

    Returns
    -------
    Bound
        ``float`` gives the upper end, for which the claim is proved. Infinite if the probability of an infinite loss exceeds
        the slack, with an infinite upper end if the far tail has no bound; a larger slack makes both finite.

    Raises
    ------
    ValueError, TypeError
        If the slack is not in [0, 1).

    References
    ----------
    Dong, Roth & Su 2022, *Gaussian Differential Privacy*, Definition 4 (mu-GDP) and Proposition 2.12 of the preprint
    (profile and trade-off function).

    Examples
    --------
    >>> import logphi as lp
    >>> round((16 * lp.Gaussian(sigma=8)).risk.gaussian_mu().value, 9)
    0.5
    """
    slack = check.unit("slack", slack)
    if slack == 1:
        raise ValueError("slack must be below 1, got 1.0: any mechanism is within one of any other")
    rtol = check.tolerance("rtol", rtol)
    loss = self._loss()
    pair = Loss(loss.remove, Adjacency.ADD_REMOVE)
    parts = [part for _, part in pair.orders(None)]
    if any(masses(part)[0][0] > slack for part in parts):
        return Bound(math.inf, math.inf, math.inf, Status.UNBOUNDED)
    lower, upper, method = 0.0, shift_bound_of_sum(loss.remove), "composition"
    proved = not loss.remove.traits.estimated
    if slack == 0:
        divergences = zcdp(pair)
        lower, proved = math.sqrt(2 * divergences.lower) * (1 - 4 * ULP), proved and divergences.ledger.proved
        if math.isinf(lower):
            return Bound(lower, lower, lower, Status.DIVERGENT)
    if not _near(lower, upper, rtol):
        end = _end(pair, slack, parts)
        if end is not None:
            search = _Search(pair, slack, rtol)
            least, most = search.between(end, lower, upper)
            method = "cells" if most < upper else method
            lower, upper, proved = least, min(upper, most), proved and search.proved
        elif slack == 0:
            # if the tail is unknown, the other points still give a lower bound
            lower = max(lower, gaussian_mu(pair, _HARDLY, rtol=rtol).lower)
    lower = min(lower, upper)
    value = lower if math.isinf(upper) else lower / 2 + upper / 2
    ledger = Ledger(discretization=Entry(upper - lower, proved))
    return Bound(lower, value, upper, status_of(_near(lower, upper, rtol), proved), method, ledger=ledger)


@dataclass(frozen=True)
class _Point:
    """An eps, with bounds of the logarithm of the profile there."""

    at: float
    low: float
    high: float


@dataclass(frozen=True)
class _Cell:
    """The profile between two points: a mu that suffices there, and the point where its normal profile touches the chord."""

    left: _Point
    right: _Point
    mu: float
    tangent_at: float


def _end(pair: Loss, slack: float, parts: list[LogPhi]) -> _Point | None:
    """The eps from which on the profile is at most the slack; None if there is none."""
    if slack > 0:
        at, high = single(epsilon(pair, slack)).upper, math.log(slack) + _ROUNDING * (1 - math.log(slack))
    elif any(masses(part)[0][1] > 0 for part in parts):
        return None
    else:
        at, high = max(0.0, *(part.support.upper for part in parts)), -math.inf
    return _Point(at, -math.inf, high) if math.isfinite(at) else None


class _Search:
    """Bisection of the cell of the largest mu, until the bounds are close enough."""

    def __init__(self, pair: Loss, slack: float, rtol: float) -> None:
        self.pair, self.slack, self.rtol = pair, slack, rtol
        self.proved = True

    def between(self, end: _Point, lower: float, known: float) -> tuple[float, float]:
        """Bounds of mu; ``known`` is an upper bound from elsewhere."""
        if end.at == 0:
            return lower, 0.0
        first = self._point(0.0)
        lower = max(lower, self._least(first, lower))
        cells = [self._cell(first, end)]
        for _ in shown(range(_MOST), "cells", total=0):
            widest = max(cells, key=lambda cell: cell.mu)
            if _near(lower, min(widest.mu, known), self.rtol):
                break
            # on a linear part of the profile all chords agree, and the tangent may be in another cell
            chosen = next((cell for cell in cells if cell.left.at < widest.tangent_at < cell.right.at), widest)
            length = chosen.right.at - chosen.left.at
            if length <= _NARROWEST * (1 + chosen.right.at):
                break
            middle = self._point(min(max(widest.tangent_at, chosen.left.at + _EDGE * length), chosen.right.at - _EDGE * length))
            lower = max(lower, self._least(middle, lower))
            cells.remove(chosen)
            cells += [self._cell(chosen.left, middle), self._cell(middle, chosen.right)]
        return lower, max(cell.mu for cell in cells)

    def _point(self, eps: float) -> _Point:
        found = single(log_delta(self.pair, eps, rtol=max(_SHARPER * self.rtol, 1e-9)))
        self.proved = self.proved and found.ledger.proved
        return _Point(eps, found.lower, found.upper)

    def _cell(self, left: _Point, right: _Point) -> _Cell:
        middle = left.at / 2 + right.at / 2
        if left.high == -math.inf:
            return _Cell(left, right, 0.0, middle)
        # any line above both ends is above the profile between them
        drop = min(right.high - left.high, -_ROUNDING)
        log_width = right.at + math.log(-math.expm1(left.at - right.at))
        log_slope = left.high + math.log(-math.expm1(drop)) - log_width
        log_height = max(_height(left, log_slope), _height(right, log_slope))
        first = quantile_below(log_slope)
        mu = max(self._quantile_of_power(log_height) - first, 0.0) * (1 + 2 * ULP)
        tangent_at = -mu * (first + mu / 2)
        return _Cell(left, right, mu, tangent_at if math.isfinite(tangent_at) else middle)

    def _quantile_of_power(self, log_height: float) -> float:
        """A y with Phi(y) at least the height minus the slack."""
        log_power = min(log_height, 0.0)
        if self.slack > 0:
            log_power = safe_log((math.exp(log_power) * (1 + 4 * ULP) - self.slack) * (1 + ULP))
            log_power += _ROUNDING * (1 + abs(log_power)) if log_power > -math.inf else 0.0
        if log_power <= -math.log(2):
            return quantile_above(log_power)
        rest = -math.expm1(log_power) * (1 - 4 * ULP) if log_power < 0 else 0.0
        return -quantile_below(safe_log(rest))

    def _least(self, here: _Point, known: float) -> float:
        """A mu proved to be too small at this point; the known one unless this is larger."""
        level = safe_log((math.exp(here.low) * (1 - 4 * ULP) - self.slack) * (1 - ULP)) if self.slack > 0 else here.low
        if level == -math.inf or (known > 0 and not _most(known, here.at) < level):
            return known
        low, high = known, max(2 * known, 1.0)
        while _about(high, here.at) < level and high < 1e6:
            low, high = high, 2 * high
        for _ in range(_HALVINGS):
            middle = low / 2 + high / 2
            low, high = (middle, high) if _about(middle, here.at) < level else (low, middle)
        step = 16 * ULP
        for _ in range(_STEPS):
            if low <= known or _most(low, here.at) < level:
                return max(low, known)
            low *= 1 - step
            step *= 2
        return known


def _near(lower: float, upper: float, rtol: float) -> bool:
    return upper - lower <= rtol * upper < math.inf


def _height(here: _Point, log_slope: float) -> float:
    """The logarithm of the height at t = 0 of the line through a point with a slope, rounded up."""
    one, other = here.high, log_slope + here.at
    larger, smaller = max(one, other), min(one, other)
    total = larger + math.log1p(math.exp(smaller - larger)) if larger > -math.inf else larger
    return total + _ROUNDING * (4 + abs(log_slope) + here.at + (abs(one) if one > -math.inf else 0.0))


def _about(mu: float, eps: float) -> float:
    """An approximation of the logarithm of the profile of N(mu, 1) against N(0, 1)."""
    if mu == 0:
        return -math.inf
    above, tilted = float(log_ndtr(mu / 2 - eps / mu)), eps + float(log_ndtr(-mu / 2 - eps / mu))
    return log_difference(above, tilted)


def _most(mu: float, eps: float) -> float:
    """An upper bound of the logarithm of the profile of N(mu, 1) against N(0, 1)."""
    law = Normal(Plain(mu))
    above, tilted = law.partial_masses(eps), law.partial_masses(eps, tilted=True)
    if above is None or tilted is None:
        return math.inf
    high, less = above[0].log_ends[1], eps + tilted[0].log_ends[0]
    less -= _ROUNDING * (1 + abs(less))
    return log_difference(high, less) + _ROUNDING * (1 + abs(high)) if less < high else math.inf
