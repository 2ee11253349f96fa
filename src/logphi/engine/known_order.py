"""Losses whose profiles are ordered by their form, without computing any of them.

Composition keeps the order ([AFA] Theorem 10): common terms cancel, and it is enough that each other term lies below a
different term of the second loss. The profile of one term lies below another's, at every eps of both orders, if

* both are one law;
* both are mixtures (1 - q) Q + q P against Q, the base of the first lies below that of the second, and its rate is no larger
  ([AFA] Theorem 11; the profile of a mixture with Q itself is convex in q); a law that is not mixed has rate 1;
* the second is the loss of N(m, 1) against N(0, 1), and m is at least the shift bound of the first.

Normal terms add up: their squares of m do (Dong, Roth & Su 2022, Corollary 3.3 of the preprint).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, cast

from logphi.arith.protocol import Arithmetic, Norm, Parameter, Plain
from logphi.laws.combined.parameters import as_mixture, normal_shift
from logphi.laws.log_phi import LogPhi
from logphi.laws.shift_bound import shift_bound, shift_bound_of_sum
from logphi.laws.transform import LossTransform
from logphi.text.written import exact, exactly, meant

# chosen: the largest number of pairs of terms that are compared
_MOST_PAIRS = 10_000
_CERTAIN = Plain(1.0)


def without_common(one: LogPhi, other: LogPhi) -> tuple[LogPhi, LogPhi]:
    """Both sums without their common terms."""
    # laws that are equal as doubles may differ as written
    counts = {(law, exactly(law)): count for law, count in one.terms}
    shared = [(law, min(count, counts.get((law, exactly(law)), 0))) for law, count in other.terms]
    gone = LogPhi(tuple((law, -count) for law, count in shared if count))
    return one + gone, other + gone


def surely_above(one: LogPhi, other: LogPhi) -> bool:
    """Whether the form of the terms shows that the profile of the second sum is nowhere above that of the first."""
    squares = [(_square(one, read), _square(other, read)) for read in (exact, meant)]
    most = Fraction(_finite(shift_bound_of_sum(other))) ** 2
    if all(most <= own for own, _ in squares) or _matched(one, other):
        return True
    # the normal terms of the second are below those of the first
    return all(own >= theirs for own, theirs in squares) and _matched(_without_normals(one), _without_normals(other))


def _without_normals(loss: LogPhi) -> LogPhi:
    return LogPhi(tuple((law, count) for law, count in loss.terms if normal_shift(law) is None))


def _matched(one: LogPhi, other: LogPhi) -> bool:
    """Whether the terms of the second can be matched with different terms of the first above them."""
    if len(one.terms) * len(other.terms) > _MOST_PAIRS:
        return False
    left = [count for _, count in one.terms]
    for law, count in other.terms:
        wanted = count
        for index, (candidate, _) in enumerate(one.terms):
            used = min(wanted, left[index]) if wanted and left[index] and _above(candidate, law) else 0
            left[index], wanted = left[index] - used, wanted - used
        if wanted:
            return False
    return True


def _above(one: LossTransform, other: LossTransform) -> bool:
    """Whether one term is above another, directly or by their reversed losses."""
    return _mixture_above(one, other) or _mixture_above(one.reflected(), other.reflected())


def _mixture_above(one: LossTransform, other: LossTransform) -> bool:
    (base, rate), (other_base, other_rate) = as_mixture(one) or (one, _CERTAIN), as_mixture(other) or (other, _CERTAIN)
    if not _at_least(rate, other_rate):
        return False
    if (base, exactly(base)) == (other_base, exactly(other_base)):
        return True
    shift = normal_shift(base)
    return shift is not None and all(
        Fraction(_finite(shift_bound(other_base))) ** 2 <= _squared(shift, read)
        or ((own := normal_shift(other_base)) is not None and _squared(own, read) <= _squared(shift, read))
        for read in (exact, meant)
    )


def _at_least(one: Parameter, other: Parameter) -> bool:
    return all(_rational(one, read) >= _rational(other, read) for read in (exact, meant))


def _square(loss: LogPhi, read: Callable[[float], Fraction]) -> Fraction:
    """The sum of the squares of the shifts of the normal terms."""
    shifts = [(normal_shift(law), count) for law, count in loss.terms]
    return sum((count * _squared(shift, read) for shift, count in shifts if shift is not None), Fraction(0))


def _squared(shift: Parameter, read: Callable[[float], Fraction]) -> Fraction:
    """The square of a shift, which is rational even if the shift of several releases on one sample is not."""
    if isinstance(shift, Norm):
        return sum((count * _squared(one, read) for one, count in shift.terms), Fraction(0))
    return _rational(shift, read) ** 2


def _finite(bound: float) -> float:
    """A bound as a finite number; an infinite one becomes a number above every shift."""
    return min(bound, 1e300)


class _Rationals:
    """The arithmetic of fractions, for shifts and rates, which are quotients and products of parameters."""

    def __init__(self, read: Callable[[float], Fraction]) -> None:
        self.constant = read


def _rational(parameter: Parameter, read: Callable[[float], Fraction]) -> Fraction:
    """A parameter without rounding."""
    value: Any = parameter.under(cast(Arithmetic, _Rationals(read)))
    return Fraction(value)
