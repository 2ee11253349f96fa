"""Two releases of normal mixtures: the excess of one in closed form, integrated over the loss of the other.

notation: P_1, Q_1 on x and P_2, Q_2 on y, both losses rising; t(x) = epsilon - L_1(x), y(x) the root of L_2 = t(x), and
D_2(t) = P_2(Y > y) - e^t Q_2(Y > y) the excess of the second release.

D(epsilon) is the integral of p_1(x) D_2(t(x)). D_2 falls with t, so that what lies below any x is at most
P_1(X < x) D_2(t(x)); r(t) = D_2(t) - (1 - e^t) = E[(e^{t - L_2} - 1)_+] rises with t. Hence

    D(epsilon) = integral from a to b + P_1(X > b) - e^epsilon Q_1(X > b) + [0, P_1(X < a) D_2(t(a)) + P_1(X > b) r(t(b))].

In between the integrand is analytic, and enclosed by FLINT's quadrature (Johansson 2018).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import flint

from logphi.arith.ball import precision
from logphi.certified.laws.law import LawInBalls
from logphi.certified.merged_gaussians import FewReleases, merged
from logphi.certified.normal_mixtures import Component, ExplicitRoot, NormalMixtures
from logphi.certified.reals import SMALLEST_BITS, TOO_SMALL
from logphi.certified.route import Demand, Excess, NotCertifiedError, NotThisRouteError
from logphi.laws.log_phi import LogPhi

# derived: bits beyond those asked for; exponents as large as that of the smallest answer take twenty of them
_SPARE = 44
# measured: the number of points of the first estimate of the excess
_POINTS = 400
# measured: how far the search for the ends of the integral extends beyond the outermost centres, in standard deviations
_FARTHEST = 60
# measured: the search for an end stops once the tail is above this share of the error that is allowed
_NEAR = 2.0**-8
_FEW_BITS = 64


@dataclass(frozen=True)
class Integral:
    """Two releases at an epsilon: the integrand, and bounds by which the ends of the integral are chosen."""

    first: NormalMixtures
    second: ExplicitRoot
    epsilon: Any

    def odds(self, x: Any) -> Any:
        """e^{t(x)}."""
        return self.epsilon.exp() / self.first.ratio(x)

    def integrand(self, x: Any, analytic: bool) -> Any:
        """p_1(x) D_2(t(x)), at complex x too."""
        y = self.second.root(self.odds(x), analytic=analytic)
        p, q = (sum(one.above(y) for one in side) for side in (self.second.mixtures.p, self.second.mixtures.q))
        sizes = [sum(one.size(x) for one in side) for side in (self.first.p, self.first.q)]
        return (-x * x / 2).exp() / (2 * flint.arb.pi()).sqrt() * (sizes[0] * p - self.epsilon.exp() * sizes[1] * q)

    def before(self, x: Any) -> Any:
        """A bound of the integral below x."""
        odds = self.odds(x)
        return _below(self.first.p, x) * self.second.mixtures.above(self.second.root(odds), odds.log())

    def after(self, x: Any) -> Any:
        """A bound of the difference of the integral above x and P_1(X > x) - e^epsilon Q_1(X > x)."""
        odds = self.odds(x)
        y = self.second.root(odds)
        rest = odds * _below(self.second.mixtures.q, y) - _below(self.second.mixtures.p, y)
        return sum(one.above(x) for one in self.first.p) * rest

    @property
    def ends(self) -> tuple[Any, Any]:
        """Infimum and supremum of the whole loss."""
        (low, high), (bottom, top) = self.first.ends, self.second.mixtures.ends
        return low + bottom, high + top

    def cuts(self, bits: int) -> tuple[Any, Any, Any]:
        """The ends of the integral, and about 2^-bits times the excess; no proof rests on them, as any ends do."""
        low, high = self._reach()
        step = (high - low) / _POINTS
        inside = [self.integrand(flint.acb((low + step * k).mid()), False).real for k in range(1, _POINTS)]
        size = sum((value.mid() for value in inside if value.is_finite()), flint.arb(0)) * step
        wanted = (size * flint.arb(2) ** -bits).mid()
        start = _last(self.before, low, high, wanted)
        return start, _last(self.after, high, start, wanted), wanted

    def _reach(self) -> tuple[Any, Any]:
        """An estimate of the range of x in which the second release has a root and all normal laws have most of their mass."""
        least, most = self.second.mixtures.ends
        bottom, top = self.first.ends
        # beyond the x where the loss of the first release alone is epsilon, little mass remains
        far = abs(self.first.root(self.epsilon)).mid() if bottom < self.epsilon < top else 0
        low, high = (
            (side.centre + sign * (far + _FARTHEST)).mid() for side, sign in ((self.first.p[0], -1), (self.first.p[-1], 1))
        )
        if bottom < self.epsilon - most < top:
            low = low.max(self.first.root((self.epsilon - most).mid())).mid()
        if bottom < self.epsilon - least < top:
            high = high.min(self.first.root((self.epsilon - least).mid())).mid()
        return low, high


def _last(bound: Callable[[Any], Any], good: Any, bad: Any, wanted: Any) -> Any:
    """About the last point from ``good`` to ``bad`` at which a bound is as small as wanted."""
    for _ in range(4 * flint.ctx.prec):
        middle = ((good + bad) / 2).mid()
        size = bound(middle)
        if size <= wanted:
            good = middle
            if size > wanted * _NEAR:
                break
        else:
            bad = middle
    return good


@dataclass(frozen=True)
class Two:
    """Two releases, the second of them with an explicit root: the excess to about 2^-goal of it."""

    first: NormalMixtures
    second: ExplicitRoot
    goal: int

    def at(self, epsilon: Any) -> Integral:
        """The integral at an exact epsilon."""
        return Integral(self.first, self.second, epsilon)

    def excess(self, epsilon: Any) -> Any:
        """The excess by the integral, at an exact epsilon."""
        integral = self.at(epsilon)
        low, high = integral.ends
        if epsilon <= low:
            return -epsilon.expm1()
        if epsilon >= high:
            return flint.arb(0)
        if not (epsilon > low and epsilon < high):
            # epsilon may be an end: the excess is known only to be a probability
            return flint.arb(0).union(1)
        start, end, wanted = integral.cuts(self.goal)
        if wanted < flint.arb(2) ** (-SMALLEST_BITS - self.goal):
            raise NotCertifiedError(TOO_SMALL)
        inside = flint.acb.integral(integral.integrand, start, end, rel_tol=flint.arb(2) ** -self.goal, abs_tol=wanted).real
        left = (integral.before(start) + integral.after(end)).upper().union(0)
        return inside + self.first.above(end, epsilon) + left


def prepare(loss: LogPhi, epsilon: Any, demand: Demand) -> Excess:
    """A route for two releases at the precision in force; it is as accurate at any other epsilon.

    Raises
    ------
    NotCertifiedError
        If there are not two, counting all Gaussian mechanisms as one, or neither has an explicit root of its loss.
    """
    goal = flint.ctx.prec + _SPARE
    with precision(_FEW_BITS):
        m = float(_two(merged(loss)[0], goal).second.shift)
    # at the limit of the second loss, q e^{m (y - m/2)} is the difference of two numbers of size one; y goes as far as a normal
    # law has 2^-goal left, twice over for answers that are small themselves
    far = math.sqrt(4 * math.log(2) * goal)
    more = math.ceil(m * (far + m / 2) / math.log(2))
    return FewReleases(loss, goal + more, lambda laws: _two(laws, goal).excess).excess


def _two(laws: list[LawInBalls], goal: int) -> Two:
    if len(laws) != 2:
        raise NotThisRouteError(
            "the integral over the loss of one release is for two releases, where all Gaussian mechanisms count as one"
        )
    explicit = [found for law in laws if (found := law.explicit_root()) is not None]
    if not explicit:
        raise NotThisRouteError(
            "of two releases one must be a Gaussian mechanism or a Poisson sample of one, the loss of which has an "
            "explicit root"
        )
    # normal laws come first, because they have no kink
    other = laws[1] if laws[0].explicit_root() is not None else laws[0]
    return Two(other.mixtures(), explicit[0], goal)


def _below(side: tuple[Component, ...], x: Any) -> Any:
    """The mass below x."""
    return sum((Component(one.weight, -one.centre).above(-x) for one in side), flint.arb(0))
