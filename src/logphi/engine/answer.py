"""From enclosures in each order of a pair to one answer: the worse order, and whether it is as narrow as requested."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from logphi.answers.bound import Bound
from logphi.answers.enclosure import Ends
from logphi.answers.ledger import Entry, Ledger
from logphi.answers.status import Direction, Side, Status
from logphi.engine.log_probability import LogProbability, masses
from logphi.laws.log_phi import LogPhi

# derived: the logarithm of a number below the smallest double
NEGLIGIBLE = -745.2


class Directed(Ends, Protocol):
    """An enclosure in one order of a pair."""

    @property
    def direction(self) -> Direction | None:
        """The order of the pair."""

    @property
    def ledger(self) -> Ledger:
        """The errors by kind."""


D = TypeVar("D", bound=Directed)


def worst(answers: Sequence[D], side: Side = Side.UPPER) -> D:
    """The largest of the answers of one or two orders; the smallest, if the lower side is the private one.

    Each end is the largest, or smallest, of the ends. Everything else is that of the order with the largest value, except that
    an estimated error in an order that may attain the answer makes it an estimate. ``BOTH`` means that the bounds do not
    determine the order. The maximum is taken after composition, never before it ([AFA] Lemma 28).
    """
    if len(answers) == 1:
        return answers[0]
    extreme, sign = (max, 1) if side is Side.UPPER else (min, -1)
    best = max(answers, key=lambda one: sign * one.value)
    lower, upper = extreme(one.lower for one in answers), extreme(one.upper for one in answers)
    rivals = [one for one in answers if (one.upper >= lower if sign > 0 else one.lower <= upper)]
    estimates = {name for one in rivals if not one.ledger.proved for name, entry in one.ledger.items() if not entry.proved}
    changed: Any = best
    found: D = replace(
        changed,
        lower=lower,
        upper=upper,
        direction=best.direction if len(rivals) == 1 else Direction.BOTH,
        ledger=best.ledger.estimating(*sorted(estimates)) if estimates else best.ledger,
    )
    return found


def status_of(narrow: bool, proved: bool, *, trivial: bool = False) -> Status:
    """The status of an answer: whether it is as narrow as requested, every error is proved, and anything was computed."""
    if narrow:
        return Status.MET if proved else Status.ESTIMATED
    return Status.UNRESOLVED if trivial else Status.WIDE


def between_others(proved: bool) -> Status:
    """The status of an interval between answers of other releases."""
    return Status.BRACKET if proved else Status.ESTIMATED


def of_pair_above(found: Bound) -> Bound:
    """The answer of a pair as that of a release that it dominates: narrow, but for the pair alone."""
    return replace(found, status=Status.DOMINATED) if found.status is Status.MET else found


def unresolved(lower: float, value: float, upper: float, method: str, ledger: Ledger | None = None) -> Bound:
    """The trivial bounds of a number that no method resolved."""
    return Bound(lower, value, upper, Status.UNRESOLVED, method, ledger=ledger or Ledger())


def judged(found: Bound, widest: float, *, trivial: bool | None = None) -> Bound:
    """A bound with its status: ``MET`` up to the width ``widest``.

    An infinite number keeps its status, which says why it is infinite. Unless it is narrow, a trivial bound is unresolved: one
    that was so before, if not said otherwise.
    """
    if math.isinf(found.lower) and found.lower == found.upper:
        return found
    if trivial is None:
        trivial = found.status is Status.UNRESOLVED
    # the requested width may be infinite, like the best value
    narrow = math.isfinite(found.width) and found.width <= widest
    return replace(found, status=status_of(narrow, found.ledger.proved, trivial=trivial))


def relatively(found: Bound, rtol: float) -> Bound:
    """A bound with its status, by its width relative to its value."""
    return judged(found, rtol * abs(found.value))


def on_scale(found: Bound, rtol: float) -> Bound:
    """A bound of a loss with its status, by its width in units of ``max(1, |x|)``."""
    return judged(found, rtol * max(1.0, abs(found.value)))


def probability(found: LogProbability, rtol: float, side: Side = Side.UPPER) -> Bound:
    """A probability from its logarithm; one below the smallest double counts as narrow."""
    # outward: the exponential of a number up to 745 errs by 2e-16 times that number, and by its own rounding
    lower, upper = math.exp(found.lower) * (1 - 1e-15), math.exp(found.upper) * (1 + 1e-15)
    upper = min(1.0, math.nextafter(upper, 1.0)) if found.upper > -math.inf else 0.0
    lower = max(0.0, math.nextafter(lower, 0.0)) if found.lower < 0 else 1.0
    value = min(max(math.exp(found.value), lower), upper)
    narrow = found.relative_width <= rtol or found.upper < NEGLIGIBLE
    status = status_of(narrow, found.ledger.proved, trivial=found.method.trivial)
    return Bound(lower, value, upper, status, found.method, found.direction, found.ledger, side)


def log_probability(found: LogProbability, rtol: float) -> Bound:
    """The logarithm of a probability, the ledger in units of the logarithm."""
    per_unit = math.exp(min(-found.value, 700.0)) if found.value > -math.inf else 0.0
    ledger = Ledger() if found.value < -700 else found.ledger.scaled(per_unit)
    status = status_of(found.relative_width <= rtol, found.ledger.proved, trivial=found.method.trivial)
    return Bound(found.lower, found.value, found.upper, status, found.method, found.direction, ledger)


def infinite_mass(law: LogPhi, direction: Direction | None = None) -> Bound:
    """P(L = inf) in one order of the pair."""
    lower, upper = (min(end, 1.0) for end in masses(law)[0])
    ledger = Ledger(rounding=Entry(upper - lower, proved=not law.traits.estimated), infinite_mass=Entry(upper))
    return Bound(lower, (lower + upper) / 2, upper, direction=direction, ledger=ledger)
