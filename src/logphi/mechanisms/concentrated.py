"""A mechanism known only by its zero-concentrated differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from logphi.algebra.families import Representative
from logphi.algebra.family import Family
from logphi.algebra.release import Mechanism, Primitive
from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.inputs import check
from logphi.inputs.arguments import ADD_REMOVE, Real, Relation, default, frozen
from logphi.mechanisms.declared import WithinCurve, converted, of_both_orders
from logphi.mechanisms.declared_curves import Curve
from logphi.pairs.equal import EQUAL
from logphi.pairs.pair import Pair
from logphi.text.written import Written, meant

# derived: for smaller values the points of the implied profile are too far apart
SMALLEST_RHO = 1e-12
# derived: for larger values they are out of range
LARGEST_RHO = 50.0


@dataclass(frozen=True)
class LinearDivergence(Curve):
    """D_a = xi + rho a, that is K(z) = z (xi + rho (1 + z))."""

    rho_declared: float
    xi: float

    def bound(self, z: Array) -> Array:
        """The bound, rounded up."""
        value: Array = z * (self.xi + self.rho_declared * (1 + z)) * (1 + 8 * ULP)
        return value

    @property
    def listed(self) -> tuple[float, ...]:
        """Empty: the curve is known at all z."""
        return ()

    @property
    def mean(self) -> float:
        """The limit at order 1."""
        return self.rho

    @property
    def rho(self) -> float:
        """The limit at order 1."""
        return self.rho_declared + self.xi if self.xi == 0 else (self.rho_declared + self.xi) * (1 + 2 * ULP)

    @property
    def line(self) -> tuple[float, float]:
        """The declared xi and rho."""
        return self.xi, self.rho_declared

    @property
    def gaussian(self) -> float:
        """The declared rho."""
        return self.rho_declared


@frozen
class ZCDP(Representative, Primitive):
    """Any mechanism that is (xi, rho)-zCDP: D_a <= xi + rho a for all a > 1, in both directions.

    Answers hold for every such mechanism. Their private sides are what the divergences of all orders imply ([AFA] Appendix F),
    rounded up; the other ends are attained by a Gaussian mechanism with this rho. So answers are brackets.

    In a composition, the divergences of this and of :class:`RenyiDP` add up order by order, and are converted once. If there
    are other releases, the answer is the sharper of two: the converted pair composed with these, and what the divergences of
    all releases imply. ``renyi`` and ``zcdp`` are as declared. ``log_phi``, ``loss`` and samples are those of the converted
    pair, an upper bound.

    Parameters
    ----------
    rho
        In nats: from 1e-12 to 50, or 0, where nothing leaks.
    xi
        The offset, in nats: zero or more, at most 50.
    adjacency
        The relation under which it holds: one in which both directions count.

    Raises
    ------
    ValueError, TypeError
        If a parameter is outside its range, or the relation has one direction only.

    References
    ----------
    Bun & Steinke 2016, Definition 1.1; [AFA] Appendix F (the conversion).

    Examples
    --------
    >>> round(ZCDP(rho=0.1).epsilon(1e-6).upper, 4)
    2.1419
    """

    rho: Real
    xi: Real = default(0.0)
    adjacency: Relation = ADD_REMOVE
    _hints: ClassVar = {"sigma": "rho=1 / (2 * sigma**2), or lp.Gaussian(sigma), which is sharper"}

    def __post_init__(self) -> None:
        rho, xi = check.nonnegative("rho", self.rho), check.nonnegative("xi", self.xi)
        if rho and not SMALLEST_RHO <= rho <= LARGEST_RHO:
            raise ValueError(
                f"rho must be 0 or lie between {SMALLEST_RHO:g} and {LARGEST_RHO:g}, got {rho!r}: is it an epsilon or a sigma? "
                "rho is 1 / (2 sigma^2) for Gaussian noise"
            )
        if xi > LARGEST_RHO or (xi and not rho):
            rule = f"at most {LARGEST_RHO:g}" if rho else "0 where rho is"
            raise ValueError(f"xi must be {rule}, got {xi!r}: a bound of all divergences is a PureDP(epsilon=xi)")
        self._settle(rho=rho, xi=xi, adjacency=of_both_orders(self.adjacency))

    @property
    def _extreme(self) -> Pair | None:
        """The pair of equal laws for a rho of zero, where nothing leaks."""
        return None if self.rho else EQUAL

    @property
    def _curve(self) -> LinearDivergence:
        return LinearDivergence(float(self.rho), float(self.xi))

    def family(self) -> Family | None:
        """All mechanisms that satisfy the declaration."""
        return WithinCurve(self, self._curve, self.adjacency) if self.rho else None

    def pair(self) -> Pair:
        """The pair that the divergences imply."""
        return self._extreme or converted(self._curve)

    def _grouped(self, size: int) -> Mechanism:
        """k^2 rho; not known with an offset."""
        if self.xi:
            return super()._grouped(size)
        return ZCDP(Written(size * size * meant(self.rho)), 0.0, self.adjacency)
