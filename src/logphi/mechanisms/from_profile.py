"""A mechanism known by upper bounds of its privacy profile at some points."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import ClassVar

from logphi.algebra.release import Primitive
from logphi.convex.hull import Hull, exponential
from logphi.inputs import check
from logphi.inputs.adjacency import ONE_ORDER, Adjacency
from logphi.inputs.arguments import ADD_REMOVE, Reals, Relation, frozen
from logphi.laws.atomic.cells import Cells
from logphi.pairs.finite import FinitePair
from logphi.text.written import meant

# derived: for larger epsilons e^epsilon times a probability overflows
LARGEST_EPSILON = 300.0
# derived: smaller masses lose digits
LEAST_DELTA = 1e-290
# derived: masses are rounded to doubles, and the exponentials to far more digits
RELATIVE_ERROR = 2.0**-51
# derived: a bound of the error of a value below one, computed in doubles from a rounded exponent
ROUNDED = Fraction(1, 2**51)
# derived: exceeds the upward rounding of an exponential
_LOWERED = 1 - Fraction(1, 2**190)


@frozen
class FromProfile(Primitive):
    """Any mechanism that is (eps_i, delta_i)-DP for each i, by the pair that dominates them all.

    As a function of a = e^eps, a privacy profile is convex and decreasing, and 1 at a = 0. The pair has the largest such
    function below the points as its profile: linear between the vertices of their lower convex hull with (0, 1), constant after
    the last. Pair: finitely many outcomes, one for each vertex, and one that reveals everything, of the smallest delta.
    log-phi: M(z) = sum of p^{1+z} q^{-z} over the vertices.

    Under a relation of one direction (``"remove"``, ``"add"``) the points bound that direction alone. Under all others they
    bound both directions, so that (eps, delta) also bounds the profile h at e^-eps: h(e^-eps) <= 1 - e^-eps + e^-eps delta. The
    hull of both kinds of points is symmetric, and dominates both directions.

    Every profile is at least 1 - e^eps. A delta that is below this by no more than rounding (2^-51) is raised to it, a weaker
    guarantee.

    Parameters
    ----------
    epsilons
        The epsilons of the points, in nats; real numbers from -300 to 300.
    deltas
        Upper bounds of the profile there, each at least 1 - e^eps, up to rounding, and at most 1.
    adjacency
        The relation under which the bounds hold.

    Raises
    ------
    ValueError, TypeError
        If the lists differ in length or are empty, a number is outside its range, or a delta is below 1 - e^eps, which no
        mechanism attains; or if all deltas are 1.

    References
    ----------
    [AFA] Corollary 26 (the hull); [PLD] section 2.2 (the masses).

    Examples
    --------
    >>> known = FromProfile(epsilons=[0.5, 1.0], deltas=[1e-3, 1e-6])
    >>> known.delta(1.0).upper < 1.0000001e-6
    True
    """

    epsilons: Reals
    deltas: Reals
    adjacency: Relation = ADD_REMOVE
    _dominating: ClassVar = True

    def __post_init__(self) -> None:
        epsilons, deltas = check.real_array("epsilons", self.epsilons), check.unit_array("deltas", self.deltas)
        check.paired("epsilons and deltas", epsilons, deltas, "each delta belongs to the epsilon at its place")
        self._settle(epsilons=check.entries(self.epsilons, epsilons), deltas=check.entries(self.deltas, deltas))
        seen: dict[float, float] = {}
        for place, (epsilon, delta) in enumerate(zip(self.epsilons, self.deltas, strict=True)):
            where = f"epsilon={epsilon!r} with delta={delta!r} at index {place}"
            if abs(epsilon) > LARGEST_EPSILON:
                raise ValueError(f"epsilons must lie between -{LARGEST_EPSILON:g} and {LARGEST_EPSILON:g}, got {where}")
            if 0 < delta < LEAST_DELTA:
                raise ValueError(f"a delta must be 0 or at least {LEAST_DELTA:g}, the range of doubles, got {where}")
            if meant(delta) < 1 - exponential(meant(epsilon)) - ROUNDED:
                raise ValueError(
                    f"a delta must be at least 1 - e^epsilon, got {where}: no mechanism is that private; "
                    "check the sign of epsilon and that the two lists are in the same order"
                )
            if seen.setdefault(epsilon, delta) != delta:
                raise ValueError(
                    f"epsilons must not repeat with different deltas, got {where} after delta={seen[epsilon]!r}: "
                    "keep the smaller if both are proved"
                )
        if len(self._hull().vertices) < 2 or self._hull().vertices[-1][1] == 1:
            raise ValueError(f"some delta must be below 1, got {self.deltas!r}: such a mechanism guarantees nothing")

    def _hull(self) -> Hull:
        points = [_attained(exponential(meant(e)), meant(d)) for e, d in zip(self.epsilons, self.deltas, strict=True)]
        if self.adjacency not in ONE_ORDER:
            points += [(1 / a, 1 - 1 / a + h / a) for a, h in points]
        return Hull.of(points)

    def pair(self) -> FinitePair:
        """The vertices of the hull; for direction add the outcome laws are exchanged."""
        return outcomes(*self._hull().pair(), self.adjacency)


def _attained(a: Fraction, h: Fraction) -> tuple[Fraction, Fraction]:
    """The point, raised to the line h = 1 - a if it is below.

    A convex profile that meets this line at a also does at smaller places, so that a may be rounded down.
    """
    return (a, h) if h >= 1 - a else (a * _LOWERED, 1 - a * _LOWERED)


def outcomes(p: Iterable[Fraction], q: Iterable[Fraction], adjacency: Adjacency, exact: Cells | None = None) -> FinitePair:
    """The pair of finitely many exact probabilities; under direction add they are exchanged."""
    pair = FinitePair(tuple(map(float, p)), tuple(map(float, q)), RELATIVE_ERROR, exact)
    return pair.reversed() if adjacency is Adjacency.ADD else pair
