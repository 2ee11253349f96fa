"""The log-ratio of two normal laws of different widths, in balls."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import flint

from logphi.arith.protocol import Distance, Ratio
from logphi.certified.laws.formula import Falling
from logphi.certified.laws.law import FiniteLossInBalls
from logphi.certified.pair_exponent import PairExponent
from logphi.certified.reals import constant, real
from logphi.certified.route import Excess
from logphi.certified.transform import Transform
from logphi.laws.normal.normal_pair import NormalPair


class NormalPairInBalls(FiniteLossInBalls):
    """N(m_p, s_p^2) against N(m_q, s_q^2)."""

    kinds = (NormalPair,)

    @property
    def _widths(self) -> tuple[float, float]:
        """The widths of the first and of the second law."""
        return (self.law.sigma_q, self.law.sigma_p) if self.reflected else (self.law.sigma_p, self.law.sigma_q)

    def transform(self) -> Transform:
        """By the formula."""
        return PairTransform(self.law.reflected() if self.reflected else self.law, self.pair_exponent().bend)

    def pair_exponent(self) -> PairExponent:
        """K, with the numbers of the pair."""
        p, q = self._widths
        ratio, shift = real(Ratio(p, q)), real(Distance(self.law.mean_p, self.law.mean_q, q))
        bend = (1 - ratio) * (1 + ratio)
        weight = -(shift**2) * ratio**2 / (2 * bend**2)
        return PairExponent(shift**2 / (2 * bend) - ratio.log(), bend, weight)

    def closed_form(self) -> Excess:
        """The excess, from the roots of a quadratic."""
        mean_p, mean_q, p, q = map(constant, (self.law.mean_p, self.law.mean_q, *self._widths))
        return partial(_excess, abs(mean_p - mean_q) / q, p / q, (q - p) * (q + p) / (q * q))


@dataclass(frozen=True, eq=False)
class PairTransform(Falling):
    """M by its formula where y = 1 + z v is positive; outside of the strip M is infinite, whatever the formula says."""

    bend: Any

    def value(self, z: Any) -> Any:
        """M(z) inside the strip, and a NaN outside."""
        return super().value(z) if (1 + z.real * self.bend) > 0 else flint.acb("nan")


def _excess(d: Any, r: Any, v: Any, epsilon: Any) -> Any:
    """The excess of N(d, r^2) against N(0, 1), d >= 0, by the roots of v y^2 - 2 d y + n, v = 1 - r^2.

    The loss exceeds x between the roots for v > 0, and outside of them for v < 0; n = d^2 + 2 r^2 (x + log r). The roots are
    n/(d + s) and (d + s)/v, s^2 = d^2 - v n. Without roots, the set is empty or has all outcomes.
    """
    n = d * d + 2 * r * r * (epsilon + r.log())
    square = d * d - v * n
    if square < 0:
        return flint.arb(0) if v > 0 else -epsilon.expm1()
    # where the sign of s^2 is unknown, s may be zero: the interval between the roots is then empty
    s = square.sqrt() if square > 0 else square.upper().sqrt().union(0)
    one, other = n / (d + s), (d + s) / v
    if v > 0:
        return _between((one - d) / r, (other - d) / r) - epsilon.exp() * _between(one, other)
    outside = _above((d - other) / r) + _above((one - d) / r)
    return outside - epsilon.exp() * (_above(-other) + _above(one))


def _above(x: Any) -> Any:
    """The mass of N(0, 1) above x."""
    return (x / flint.arb(2).sqrt()).erfc() / 2


def _between(low: Any, high: Any) -> Any:
    """The mass of N(0, 1) between two points, as a difference of tails on one side."""
    return _above(low) - _above(high) if low > 0 else _above(-high) - _above(-low)
