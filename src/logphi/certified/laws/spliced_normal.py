"""A sampled Gaussian under replacement in balls: its positive and negative losses have different formulas, spliced at zero.

With w = 1 - g + g e^{mx} and t = Phi(-m/2), M(z) is the mass (1 - g)(1 - 2t) of the loss zero, plus the integral over x > 0 of
phi(x + m/2) (w^{1+z} + w^{-z}), where w^{1+z} is of positive losses and w^{-z} of negative ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from flint import acb, arb, ctx

from logphi.certified.exponential_sums import exponential_sums
from logphi.certified.laws.law import FiniteLossInBalls, halves
from logphi.certified.laws.normal import alone
from logphi.certified.normal_mixtures import Component, NormalMixtures
from logphi.certified.reals import constant, real
from logphi.certified.route import Excess
from logphi.certified.transform import Transform
from logphi.laws.normal.curved_normal import SplicedNormal

# measured: the length of a panel, in standard deviations
_PANEL = 1.5
# measured: the ellipses that are tried, as shares of the widest one around a panel
_SHARES = (0.9, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12)
# derived: for a larger b, e^{b^2/2} exceeds what the contour gains
_HIGHEST = 1.0


class SplicedNormalInBalls(FiniteLossInBalls):
    """A sampled Gaussian under replace: the sample against no sample above zero, and the reverse below."""

    kinds = (SplicedNormal,)

    def transform(self) -> Transform:
        """M by quadrature over a half-line."""
        return SplicedTransform(real(self.law.shift), constant(self.law.rate))

    def closed_form(self) -> Excess:
        """The excess by [AFA] Proposition 30."""
        shift, rate = real(self.law.shift), constant(self.law.rate)
        mixed = NormalMixtures((Component(1 - rate, arb(0)), Component(rate, shift)), (alone(arb(0)),))
        return halves(mixed.excess, mixed.reversed().excess)


@dataclass(frozen=True, eq=False)
class SplicedTransform(Transform):
    """M for a shift m and a rate g, real balls, 0 < g < 1."""

    shift: Any
    rate: Any

    def on_line(self, c: Any, step: Any, size: int) -> list[Any]:
        """M on a line, by Gauss-Legendre rules on panels.

        On the ellipse around a panel whose semi-axes are r (rho +- 1/rho)/2, r half the panel, the integrand is at most B, and
        a rule of n points misses at most (64/15) r B rho^{-2n}/(1 - rho^{-2}) (Trefethen 2019, Theorem 19.3). There, for
        |Im x| <= b, |w| lies between cos(mb/2) (1 - g) and w at the right end, and |arg w| <= mb.
        """
        nodes, error = self._rule(c, step * (size - 1))
        logs = [self._w(x).log() for x, _ in nodes]
        heights = [weight * _density(x + self.shift / 2) for x, weight in nodes]
        above = [height * ((1 + c) * log).exp() for height, log in zip(heights, logs, strict=True)]
        below = [height * (-c * log).exp() for height, log in zip(heights, logs, strict=True)]
        factors = [acb(0, step * log).exp() for log in logs]
        both = exponential_sums([*above, *below], [*factors, *(turn.conjugate() for turn in factors)], size)
        error = arb(0, error.upper())
        first, *others = (one + self._atom for one in both)
        return [acb(first.real + error), *(one + acb(error, error) for one in others)]

    def ceiling(self, c: Any, height: Any, count: int, whole: Any) -> Any:
        """A bound of |M|, from the path 0, ib, ib + infinity for w^{1+z} and from its conjugate for w^{-z}.

        For 0 <= y <= b <= pi/(2m), arg w(iy) >= atan(g sin(my)) >= g m y / 2 and cos(my/2) <= |w(iy)| <= 1, and arg w(x + ib)
        grows with x: every bound falls with t, and either integral over x of the density times a power of w is below M(c).
        """
        b = (arb.pi() / (2 * self.shift)).min(arb(_HIGHEST)).lower()
        turn = acb(1 - self.rate + self.rate * acb(0, self.shift * b).exp()).arg()
        rise = (b * b / 2).exp() * (1 + (self.shift * b / 2).cos() ** (-c))
        corner = 2 * _density(self.shift / 2) / (height * self.rate * self.shift)
        return (self._atom + rise * (corner + (-height * turn).exp() * whole)).min(whole).upper()

    def fall(self, c: float, height: float) -> float:
        """How far M falls, by the ceiling."""
        whole = self._whole(c)
        return float((self.ceiling(arb(c), arb(height), 1, whole) / whole).log().mid())

    @lru_cache(maxsize=4)  # noqa: B019 (at most four transforms are kept)
    def _whole(self, c: float) -> Any:
        """An upper bound of M(c)."""
        return self.at(arb(c)).upper()

    @cached_property
    def _atom(self) -> Any:
        return (1 - self.rate) * (self.shift / arb(8).sqrt()).erf()

    def _w(self, x: Any) -> Any:
        return 1 - self.rate + self.rate * (self.shift * x).exp()

    def _rule(self, c: Any, top: Any) -> tuple[list[tuple[Any, Any]], Any]:
        """Points with weights, and a bound of the error of the rule for heights up to ``top``."""
        sharp = ctx.prec * math.log(2)
        slope = float(((1 + c) * self.shift).upper())
        panels = math.ceil((slope + math.sqrt(slope**2 + 2 * sharp) + 2) / _PANEL)
        end, half = arb(_PANEL) * panels, arb(_PANEL) / 2
        # the tails bound w^{1+c} by 1 - g + g e^{(1+c) m x}, and w^{-c} by 1
        error = 2 * _tail(self.shift, arb(0), end) + _tail(self.shift, (1 + c) * self.shift, end)
        found: list[tuple[Any, Any]] = []
        for panel in range(panels):
            middle = (2 * panel + 1) * half
            rho, bound = self._ellipse(c, top, middle, half, sharp)
            size = max(4, math.ceil((sharp + float(bound.log().upper())) / (2 * math.log(float(rho)))))
            error += arb(64) / 15 * half * bound * rho ** (-2 * size) / (1 - rho ** (-2))
            for k in range(size):
                root, weight = arb.legendre_p_root(size, k, weight=True)
                found.append((middle + half * root, half * weight))
        return found, error

    def _ellipse(self, c: Any, top: Any, middle: Any, half: Any, sharp: float) -> tuple[Any, Any]:
        """The parameter of the ellipse that takes the fewest points, and a bound of the integrand on it."""
        best = None
        for share in _SHARES:
            b = (arb.pi() / self.shift).min(arb(8)).lower() * arb(share)
            rho = ((b / half) ** 2 + 1).sqrt() + b / half
            reach = half * (rho + 1 / rho) / 2
            nearest = (middle - reach + self.shift / 2).max(arb(0))
            least = (self.shift * b / 2).cos() * (1 - self.rate)
            size = self._w(middle + reach) ** (1 + c) + least ** (-c)
            bound = _density(nearest) * (b * b / 2 + top * self.shift * b).exp() * size
            points = (sharp + float(bound.log().upper())) / math.log(float(rho.lower()))
            if best is None or points < best[0]:
                best = (points, rho.lower(), bound.upper())
        assert best is not None
        return best[1], best[2]


def _density(x: Any) -> Any:
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def _tail(shift: Any, slope: Any, end: Any) -> Any:
    """The integral of phi(x + m/2) e^{Ax}, with A the ``slope``, over x above an end, which must lie above the mode."""
    return _density(end + shift / 2) * (slope * end).exp() / (end + shift / 2 - slope)
