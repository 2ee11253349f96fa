"""D of any composition, between those of two lattice laws; for laws whose M is unknown or decays too slowly.

X = e^L is the likelihood ratio p/q, and D(eps) = E_Q[(X_1 ... X_n - e^eps)_+]. So D grows if the law of one X under Q is
replaced by a larger one in the increasing convex order, whatever the other factors are. The points t_k = b + kh divide the
losses of a law into cells, of masses p and q under P and Q.

Upper: the mass q of the cell from a = e^{t_k} to c = e^{t_{k+1}} goes to its ends, in the shares that keep p, which are
(p - a q) / (c - a) for c and (c q - p) / (c - a) for a. What lies below all cells goes to zero and the first point, what lies
above them to the last point and infinity. The mean of every convex function of X grows.

Lower: D falls when outcomes are merged, and when a loss falls while its p stays. The cell from t_k on becomes one outcome,
with a part of the next cell where needed, so that its loss is at least b + (k + s) h; the loss is then lowered to that. Where
the next cell is not enough, it is lowered to b + (k - 1 + s) h. The share s is the same for all cells of a law.

The errors of both fall as h^2. Losses on a lattice add by products of polynomials. Small coefficients at both ends are left
out, or added to another, on the safe side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, arb_poly, ctx

from logphi.checker.arithmetic.balls import ball, between, rough
from logphi.checker.arithmetic.work import EXP, STORED, demand, spend, whole_number
from logphi.checker.laws.composition import Composition, Terms
from logphi.checker.laws.law import Cells, Law
from logphi.checker.methods import residues

# chosen: more cells are refused
MOST_CELLS = 10**7
# chosen: bits of the precision in force that the error of an answer need not have
SPARE_BITS = 96
# chosen: the largest number of values of a sum of finite losses
MOST_VALUES = 4000


@dataclass(frozen=True)
class _OnLattice:
    """Masses under P of the losses base + k * step, k = first, first + 1, ..; and the mass of losses that may be infinite."""

    base: Any
    first: int
    masses: Sequence[Any]
    infinite: Any

    def excesses(self, step: Any) -> Callable[[Any], Any]:
        """D as a function of eps: the sum of p_k (1 - e^{eps - t_k}) over all t_k > eps, and the infinite mass."""
        spend(STORED * len(self.masses))
        fall = (-step).exp()
        # from each k on: the masses, and the masses times e^{t_k - t}
        sums = [(arb(0), arb(0))]
        for mass in reversed(self.masses):
            all_of_it, tilted = sums[-1]
            sums.append((all_of_it + mass, tilted * fall + mass))
        sums.reverse()

        def excess(epsilon: Any) -> Any:
            spend(5 * EXP)
            nearest = math.ceil(rough((epsilon - self.base) / step)) - self.first
            # the terms above this k count, the terms below it do not
            k = min(max(nearest, -1), len(self.masses))
            t = self.base + (self.first + k) * step
            separated = (k < 0 or t - step < epsilon) and (k == len(self.masses) or t + step > epsilon)
            demand(separated, "the precision does not separate neighbours on the lattice")
            all_of_it, tilted = sums[min(k + 1, len(self.masses))]
            own = (self.masses[k] * -(epsilon - t).expm1()).max(arb(0)) if 0 <= k < len(self.masses) else arb(0)
            return self.infinite + all_of_it - (epsilon - t - step).exp() * tilted + own

        return excess


def enclose(whole: Composition, epsilons: Sequence[Fraction], step: Fraction, *numbers: Fraction) -> list[Any]:
    """D at neighbouring epsilons, by cells of a width; for each law that they divide, where they begin, how many, and s.

    Laws of few values keep their losses.
    """
    few, others = separated(whole.terms)
    shares = numbers[2::3]
    demand(all(0 <= share <= 1 for share in shares), "a share of a cell is not between zero and one")
    atoms, omitted = residues.all_atoms(few)
    laid = lay(others, step, numbers[::3], numbers[1::3])
    lower, upper = laid.below(shares), laid.above()
    spend(10 * EXP * len(atoms) * len(epsilons))
    return [
        between(
            sum((mass * lower(ball(x) - y) for y, mass in atoms), arb(0)).lower(),
            (sum((mass * upper(ball(x) - y) for y, mass in atoms), arb(0)) + omitted + laid.omitted).upper(),
        )
        for x in epsilons
    ]


def goal_of(bits: int) -> float:
    """The logarithm of an error for which a precision of so many bits is enough; masses far below it are not kept."""
    return (SPARE_BITS - bits) * math.log(2)


def upper_bound(terms: Terms, step: Fraction, *numbers: Fraction) -> Callable[[Any], Any]:
    """An upper bound of D as a function of epsilon, by cells: for each law, where they begin, and how many."""
    laid = lay([(law.listed(), count) for law, count in terms], step, numbers[::2], numbers[1::2])
    upper = laid.above()
    return lambda epsilon: (upper(epsilon) + laid.omitted).upper()


@dataclass(frozen=True)
class Laid:
    """Laws in cells of one width: for each its cells below and above, and its count; and the probability that is omitted."""

    step: Any
    least: Any
    cut: Sequence[tuple[Cells, Cells, int]]
    omitted: Any

    def above(self) -> Callable[[Any], Any]:
        """An upper bound of D without the omitted outcomes, as a function of epsilon."""
        return self._added([(_upper_law(above, self.step), count) for _, above, count in self.cut], True)

    def below(self, shares: Sequence[Fraction]) -> Callable[[Any], Any]:
        """A lower bound."""
        given = zip(self.cut, shares, strict=True)
        return self._added([(_lower_law(below, self.step, ball(share)), count) for (below, _, count), share in given], False)

    def _added(self, laws: Sequence[tuple[_OnLattice, int]], upward: bool) -> Callable[[Any], Any]:
        found = _OnLattice(arb(0), 0, [arb(1)], arb(0))
        for law, count in laws:
            found = _sum(found, _power(law, count, self.least, upward), self.least, upward)
        return found.excesses(self.step)


def lay(others: Terms, step: Fraction, bases: Sequence[Fraction], numbers: Sequence[Fraction]) -> Laid:
    """The cells of each law, of a width."""
    demand(step > 0, "the width of its cells is not positive")
    least, omitted, cut = arb(goal_of(ctx.prec)).exp() / (64 + 64 * len(others)), arb(0), []
    for (law, count), base, number in zip(others, bases, numbers, strict=True):
        cut.append((*law.cuts(ball(base), ball(step), whole_number(number, MOST_CELLS)), count))
        omitted += count * law.omitted()
    return Laid(ball(step), least, cut, omitted)


def separated(terms: Terms) -> tuple[Terms, Terms]:
    """Atomic laws whose sum has few values, and all other laws."""
    few, others, size = list[tuple[Law, int]](), list[tuple[Law, int]](), 1
    for law, count in terms:
        values = residues.values_of(law, count) if law.atomic else MOST_VALUES + 1
        if size * values <= MOST_VALUES:
            few.append((law, count))
            size *= values
        else:
            others.append((law.listed(), count))
    return few, others


def _upper_law(cut: Cells, step: Any) -> _OnLattice:
    """The lattice law that bounds D from above."""
    spend(len(cut.p) * (EXP + 2 * STORED))
    ratio, grown = step.exp(), step.expm1()
    growth = [t.exp() for t in cut.points]
    masses = [arb(0)] * len(growth)
    for k, (p, q) in enumerate(zip(cut.p, cut.q, strict=True)):
        # Q-masses move to the ends in these shares; P-masses are Q-masses times the likelihood ratio at the end
        masses[k + 1] += (p - growth[k] * q) * ratio / grown
        masses[k] += (growth[k + 1] * q - p) / grown
    masses[0] += cut.below[0]
    p, q = cut.above
    masses[-1] += growth[-1] * q
    return _OnLattice(
        cut.points[0], 0, [_nonnegative(mass.upper()) for mass in masses], _nonnegative((p - growth[-1] * q).upper())
    )


def _lower_law(cut: Cells, step: Any, share: Any) -> _OnLattice:
    """The lattice law that bounds D from below."""
    spend(len(cut.p) * (4 * EXP + 2 * STORED))
    masses = [arb(0)] * len(cut.points)
    rest = [(p.lower(), p, q) for p, q in zip(cut.p, cut.q, strict=True)]
    for k, target in enumerate((t + share * step).exp() for t in cut.points[:-1]):
        least, p, q = rest[k]
        lacking = target * q - p
        if not lacking <= 0:
            # this cell is merged with as much of the next as gives both together the target's likelihood ratio
            more, p_next, q_next = rest[k + 1] if k + 1 < len(rest) else (arb(0), arb(0), arb(0))
            surplus = p_next - target * q_next
            part = (lacking / surplus).upper() if surplus > 0 else arb(2)
            if not part < 1:
                masses[k] += _nonnegative(least)
                continue
            least += part * more
            rest[k + 1] = tuple((1 - part) * mass for mass in rest[k + 1])
        masses[k + 1] += _nonnegative(least.lower())
    masses[-1] += _nonnegative(cut.above[0].lower())
    return _OnLattice(cut.points[0] + (share - 1) * step, 0, masses, arb(0))


def _nonnegative(mass: Any) -> Any:
    """The mass if it is proved to be positive, and zero otherwise."""
    demand(mass.is_finite(), "the losses of a law are too large for cells")
    return mass if mass > 0 else arb(0)


def _power(one: _OnLattice, count: int, floor: Any, upward: bool) -> _OnLattice:
    """The sum of ``count`` independent losses, by repeated squaring."""
    # else each squaring would increase the errors of the masses, and the work
    small = all(mass < 2 for mass in one.masses)
    demand(small, "the masses of the cells of a law are not known precisely enough by this checker")
    found = None
    while True:
        if count % 2:
            found = one if found is None else _sum(found, one, floor, upward)
        count //= 2
        if not count:
            assert found is not None
            return found
        one = _sum(one, one, floor, upward)


def _sum(one: _OnLattice, other: _OnLattice, floor: Any, upward: bool) -> _OnLattice:
    """The sum of two independent losses; masses at both ends that sum to less than ``floor`` go to the safe side."""
    spend((len(one.masses) + len(other.masses)) * STORED)
    # a product of zeros has no coefficients
    masses = (arb_poly(list(one.masses)) * arb_poly(list(other.masses))).coeffs() or [arb(0)]
    first, below = 0, arb(0)
    while first < len(masses) - 1 and below + masses[first] < floor:
        below += masses[first]
        first += 1
    last, above = len(masses), arb(0)
    while last > first + 1 and above + masses[last - 1] < floor:
        last -= 1
        above += masses[last]
    kept = masses[first:last]
    if upward:
        kept[0] += below
    infinite = one.infinite + other.infinite + above if upward else arb(0)
    return _OnLattice(one.base + other.base, one.first + other.first + first, kept, infinite)
