"""Two normal laws of different means and widths."""

from __future__ import annotations

from typing import ClassVar

from logphi.algebra.release import Primitive
from logphi.arith.protocol import Distance
from logphi.inputs import check
from logphi.inputs.arguments import ADD_REMOVE, Real, Relation, frozen
from logphi.pairs.densities import NormalLaws
from logphi.pairs.disjoint import DISJOINT
from logphi.pairs.equal import EQUAL
from logphi.pairs.normal import NormalShift
from logphi.pairs.pair import Pair
from logphi.text.written import exact

# derived: the square of the ratio, over the square of a small step, does not overflow
LARGEST_RATIO = 1e50
# derived: the difference of doubles this close has hardly a correct digit
LEAST_GAP = 1e-14


@frozen
class GaussianPair(Primitive):
    """A mechanism with normal output whose mean and standard deviation both depend on the record.

    Pair: P = N(m_p, s_p^2) against Q = N(m_q, s_q^2). log-phi, with r = s_p/s_q, d = (m_p - m_q)/s_q and v = 1 - r^2:
    K(z) = -z log r - log(1 + z v)/2 + z (z + 1) d^2 / (2 (1 + z v)), finite where 1 + z v > 0, which always holds on
    [-1, 0]. The loss is a quadratic in the output: bounded above for s_p < s_q, below for s_p > s_q. Profile of one
    release: normal masses of the interval where the loss exceeds eps, or of its complement. Equal
    standard deviations give the Gaussian mechanism.

    Parameters
    ----------
    mean_p, sigma_p
        Mean and standard deviation of the output with the record present, in its own units. Where either standard deviation
        is 0 everything leaks, unless both laws are the same point.
    mean_q, sigma_q
        The same without the record.
    adjacency
        The relation that the two laws stand for. Under ``replace``, the pair must dominate the laws of two such data sets in
        either order: which of the two is the first may differ between the mechanisms of a composition.

    Raises
    ------
    ValueError, TypeError
        If a mean is not a finite number, or a standard deviation is negative or not finite; or if the two means or the two
        standard deviations are too close together, or too far apart, for doubles.

    References
    ----------
    [AFA] Example 15.

    Examples
    --------
    >>> round(GaussianPair(mean_p=0, sigma_p=1, mean_q=1, sigma_q=2).delta(0.5).value, 9)
    0.323786544
    """

    mean_p: Real
    sigma_p: Real
    mean_q: Real
    sigma_q: Real
    adjacency: Relation = ADD_REMOVE
    _one_formula: ClassVar = True

    def __post_init__(self) -> None:
        means = {name: check.real(name, getattr(self, name)) for name in ("mean_p", "mean_q")}
        sigmas = {name: check.moderate_or_zero(name, getattr(self, name)) for name in ("sigma_p", "sigma_q")}
        self._settle(**means, **sigmas)
        if not self._extreme and not 1 / LARGEST_RATIO <= self.sigma_p / self.sigma_q <= LARGEST_RATIO:
            raise ValueError(
                f"sigma_p / sigma_q must lie between {1 / LARGEST_RATIO:g} and {LARGEST_RATIO:g}, got {self.sigma_p!r} over "
                f"{self.sigma_q!r}: the wider law hardly meets the other; check that both are in the same units"
            )
        for one, other in (("mean_p", "mean_q"), ("sigma_p", "sigma_q")):
            a, b = getattr(self, one), getattr(self, other)
            if exact(a) != exact(b) and abs(a - b) < LEAST_GAP * max(abs(a), abs(b)):
                raise ValueError(
                    f"{one} and {other} must be equal or differ by more than a share of {LEAST_GAP:g}, got {a!r} and {b!r}: "
                    "their difference is lost in rounding; measure the output from an origin nearby, or give equal values"
                )
        if not self._extreme and self.mean_p != self.mean_q:
            check.moderate("abs(mean_p - mean_q) / sigma_q", abs(self.mean_p - self.mean_q) / self.sigma_q)
            check.moderate("abs(mean_p - mean_q) / sigma_p", abs(self.mean_p - self.mean_q) / self.sigma_p)

    @property
    def _extreme(self) -> Pair | None:
        """The pair of a point and another law, which are disjoint unless equal."""
        if self.sigma_p and self.sigma_q:
            return None
        return EQUAL if (self.mean_p, self.sigma_p) == (self.mean_q, self.sigma_q) else DISJOINT

    def pair(self) -> Pair:
        """The two laws; a shift if the widths agree."""
        if extreme := self._extreme:
            return extreme
        if self.sigma_p == self.sigma_q and self.mean_p != self.mean_q:
            return NormalShift(Distance(self.mean_p, self.mean_q, self.sigma_q))
        return NormalLaws(self.mean_p, self.sigma_p, self.mean_q, self.sigma_q)
