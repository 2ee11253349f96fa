"""Which routes are tried for a loss when none is named, and when one is enough."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from functools import cached_property, reduce

import numpy as np

from logphi.answers.bound import Entry
from logphi.answers.enclosure import meet
from logphi.arith.safe import safe_log
from logphi.arith.scaled import Scaled
from logphi.engine.ceiling import log_ceiling, perhaps_below
from logphi.engine.combined_profile import combination_of
from logphi.engine.log_probability import LogProbability, from_inversion, masses, trivial
from logphi.engine.method import CHERNOFF, EXACT, Retry
from logphi.engine.routes.atoms import ATOMS
from logphi.engine.routes.bent import BENT, LONG_BENT, QUICK_BENT
from logphi.engine.routes.clipped import CLIPPED_AFTER_ALL
from logphi.engine.routes.contour import CONTOUR, DECAYING_CONTOUR
from logphi.engine.routes.discretized import LATTICES
from logphi.engine.routes.evaluator import Evaluator
from logphi.engine.routes.exact import closed_form, has_closed_profile
from logphi.engine.routes.exponential import EXPONENTIAL
from logphi.engine.routes.lattice import LATTICE
from logphi.engine.routes.route import Local, NotApplicableError, Route
from logphi.engine.routes.smoothed import SMOOTHED
from logphi.engine.sampled_profile import release_of
from logphi.engine.sampled_terms import terms_of
from logphi.inversion import atoms, real_space
from logphi.inversion.contour import Inversion, Part
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi

# measured: about the width that a smoothed contour or lattice laws reach
_LARGE = 1e-6
# measured: what is wide this near the place of preparation, relatively, is no better prepared again
_NEAR = 1e-3
# measured: a fallback takes seconds; one that stays wide for so many places will stay wide
_AGAIN = 3
_FALLBACKS = (SMOOTHED, LATTICES, CONTOUR)
# measured: for sampled Gaussians lattices are no sharper, and other lines no longer, than contours that were given up
ROUGH_LATTICES = replace(LATTICES, reaches=1e-2)
# measured: shifts above which these are of use
_ALMOST_AN_ATOM = 4.0


class Automatic:
    """The routes that fit a loss, tried in turn; the one that led at one epsilon is the first at the next.

    Made for the questions to one release, so that what is learned from one of them serves the others.
    """

    def __init__(self) -> None:
        # by identity, as the hash of a loss takes as long as it has terms
        self._leading: dict[int, tuple[LogPhi, Route]] = {}

    def __call__(self, loss: LogPhi, epsilon: float, demand: Demand) -> InTurn:
        """The profile of a loss; what is worth preparing is prepared when it is first asked."""
        return InTurn(loss, demand, self._leading)


def _single_release(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    return closed_form(loss, demand, Evaluator(Automatic()))


SINGLE_RELEASE = Route(EXACT, _single_release, "closed forms: few atoms, one release, Gaussians together")


def _turned_at_zero(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """At zero both orders have one profile, the total variation distance; that of a bounded loss has no rare large values."""
    found = terms_of(loss) if epsilon == 0 else None
    if found is None or found[1]:
        raise NotApplicableError("only at epsilon = 0, where the other order is quicker")
    local, known = DECAYING_CONTOUR.prepare(loss.reflected(), 0.0, demand), masses(loss)
    return lambda x: local(0.0) if x == 0 else trivial(known, x)


TURNED = Route(CONTOUR.method, _turned_at_zero, CONTOUR.reason)


class InTurn:
    """The profile by the routes that fit a loss, each prepared where it is first asked."""

    def __init__(self, loss: LogPhi, demand: Demand, leading: dict[int, tuple[LogPhi, Route]]) -> None:
        self._loss, self._demand, self._leading = loss, demand, leading
        self._routes, self._large = fitting(loss), max(_LARGE, 10 * demand.rtol)
        self._prepared: dict[Route, tuple[float, Local | None]] = {}
        self._renewals: Counter[Route] = Counter()

    def __call__(self, x: float) -> LogProbability:
        """Log delta at an epsilon."""
        best: LogProbability | None = None
        ceiling: LogProbability | None = None
        own, level = (self._loss, self._demand.least) if x >= 0 else (self._turned, math.log(self._demand.rtol))
        if perhaps_below(own, abs(x), level):
            ceiling = _by_chernoff(self._loss, x)
            if ceiling.meets(self._demand):
                return ceiling
        for one in self._in_turn():
            # where a route has led, nearby profiles are not beneath all demands
            if one.fallback and ceiling is None and id(self._loss) not in self._leading:
                ceiling = _by_chernoff(self._loss, x)
                if ceiling.meets(self._demand):
                    break
            if best is not None and (best.meets(self._demand) or (one.fallback and self._final(best))):
                break
            if best is not None and best.relative_width <= one.reaches:
                continue
            done = one.once and best is not None and best.method is one.method
            answer = None if done else self._answered(one, x)
            if answer is not None:
                best = answer if best is None else meet(best, answer)
                if answer.meets(self._demand.sufficient):
                    self._leading[id(self._loss)] = self._loss, one
                    if one.fallback:
                        break
        if best is None or (best.lower == -math.inf and not self._loss.closed_form.alone):
            ceiling = ceiling or _by_chernoff(self._loss, x)
            best = ceiling if best is None else meet(best, ceiling)
        return best

    @cached_property
    def _turned(self) -> LogPhi:
        return self._loss.reflected()

    def _in_turn(self) -> list[Route]:
        leader = self._leading.get(id(self._loss))
        return self._routes if leader is None else sorted(self._routes, key=lambda one: one is not leader[1])

    def from_prepared(self, x: float) -> LogProbability | None:
        """The profile from what is prepared already; None if nothing is."""
        found = [local(x) for _, local in self._prepared.values() if local is not None]
        return reduce(meet, found) if found else None

    def _final(self, found: LogProbability) -> bool:
        """Whether no fallback would improve on what a route leaves.

        A contour is worth a second look where the profile is far below M(c) e^{-cx}, one large loss among many small ones, and
        a smoothed one near an atom.
        """
        if found.meets(self._demand.sufficient):
            return True
        retry = found.method.retry
        return retry is Retry.NEVER or (retry is Retry.IF_WIDE and found.relative_width <= self._large)

    def _answered(self, one: Route, x: float, *, again: bool = False) -> LogProbability | None:
        if again or one not in self._prepared:
            self._prepared[one] = x, _attempt(one, self._loss, x, self._demand.sufficient if one.fallback else self._demand)
        place, local = self._prepared[one]
        found = None if local is None else local(x)
        wide = found is not None and found.relative_width > self._large and not found.meets(self._demand)
        hopeless = one.fallback and self._renewals[one] >= _AGAIN
        if wide and abs(x - place) > _NEAR * abs(place) and not hopeless:
            # too far from where the route was prepared
            self._renewals[one] += 1
            return self._answered(one, x, again=True)
        return found


def fitting(loss: LogPhi) -> list[Route]:
    """The routes that may serve a loss, the quickest and sharpest first."""
    if release_of(loss) is not None or combination_of(loss) is not None:
        return [SINGLE_RELEASE]
    if has_closed_profile(loss):
        if loss.closed_form.alone:
            return [SINGLE_RELEASE]
        return [SINGLE_RELEASE, DECAYING_CONTOUR, *_FALLBACKS]
    lattice = loss.support.lattice
    if lattice is not None:
        sharp = [LATTICE, EXPONENTIAL] if math.isfinite(lattice.span) else [EXPONENTIAL]
        return [*sharp, *_FALLBACKS]
    if atoms.served(loss.terms) and not real_space.quick(loss.terms):
        return [ATOMS, DECAYING_CONTOUR, *_FALLBACKS]
    if real_space.served(loss.terms) and real_space.flat_count(loss.terms) < real_space.FLAT_PARTS:
        return [EXPONENTIAL, *_FALLBACKS]
    sampled = terms_of(loss)
    if sampled is None:
        return [DECAYING_CONTOUR, CLIPPED_AFTER_ALL, EXPONENTIAL, *_FALLBACKS]
    # with little noise, releases without the record are all but an atom
    others = [SMOOTHED, CONTOUR] if max(m for m, *_ in sampled[0]) > _ALMOST_AN_ATOM else []
    return [TURNED, QUICK_BENT, DECAYING_CONTOUR, CLIPPED_AFTER_ALL, BENT, LONG_BENT, *others, ROUGH_LATTICES]


def _attempt(one: Route, loss: LogPhi, epsilon: float, demand: Demand) -> Local | None:
    try:
        return one.prepare(loss, epsilon, demand)
    except NotApplicableError:
        return None


def _by_chernoff(loss: LogPhi, x: float) -> LogProbability:
    """An upper bound where no route leads; left of zero one of what delta exceeds 1 - e^x by, which may be all but nothing."""
    known = masses(loss)
    if x < 0:
        beyond = Scaled.between(-math.inf, x + log_ceiling(loss.reflected(), -x))
        return from_inversion(known, x, Inversion(Part.REVERSED, beyond), CHERNOFF)
    upper = min(float(np.logaddexp(safe_log(known[0][1]), log_ceiling(loss, x))) + 1e-14, 0.0)
    plain = trivial(known, x)
    value = plain.lower if plain.lower > -math.inf else upper - math.log(2.0)
    ledger = replace(plain.ledger, truncation=Entry(math.exp(upper)))
    return LogProbability(plain.lower, value, max(upper, plain.lower), CHERNOFF, ledger)
