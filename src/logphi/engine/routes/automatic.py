"""The choice among the routes that fit a loss, if the user names none."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from logphi.engine.cancellation import pairs_need_long_line
from logphi.engine.combined_profile import combination_of
from logphi.engine.concentration import at_once
from logphi.engine.large_losses.sampled_terms import sampled_terms
from logphi.engine.log_probability import LogProbability, bounded, masses, trivial
from logphi.engine.method import EXACT
from logphi.engine.routes.atoms import ATOMS
from logphi.engine.routes.bent import BENT
from logphi.engine.routes.branch_cut import BRANCH_CUT, EPOCHS_ON_CONTOUR, mean_of, served
from logphi.engine.routes.capped import CAPPED
from logphi.engine.routes.clipped import CLIPPED
from logphi.engine.routes.contour import CONTOUR, LONGEST
from logphi.engine.routes.discretized import LATTICES, TAILS
from logphi.engine.routes.evaluator import Evaluator, as_known
from logphi.engine.routes.exact import closed_form, has_closed_profile
from logphi.engine.routes.experience import Experience
from logphi.engine.routes.exponential import EXPONENTIAL
from logphi.engine.routes.lattice import LATTICE
from logphi.engine.routes.planner import Planned
from logphi.engine.routes.route import LocalProfile, NotApplicableError, Offer, Request, Route
from logphi.engine.routes.separated import by_rest, separated_from
from logphi.engine.routes.smoothed import SMOOTHED
from logphi.engine.sampled_profile import release_of
from logphi.inversion.atoms import atoms
from logphi.inversion.demand import Promise
from logphi.inversion.pieces import term_counts
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.curved_normal import Cappable

if TYPE_CHECKING:
    from logphi.inversion.bent.clipped_ceiling import SampledPairs

# for losses on which other routes refuse, or break their promises
_FALLBACKS = (SMOOTHED, LATTICES, LONGEST, TAILS)
# measured: atoms of more different laws than this are more than a smoothed line has nodes, and take long to count
_MANY = 200
# measured: for sampled Gaussians, the accuracy and cost of lattices where contours have failed
COARSE_LATTICES = replace(LATTICES, mostly=Promise(1e-2, 2e8))
# measured: for sampled Gaussians with little noise, the accuracy and cost of a smoothed line
COARSE_SMOOTHED = replace(SMOOTHED, mostly=Promise(1e-5, 3e8))
# measured: for more batches than this a contour takes a minute
_MANY_BATCHES = 100_000
# measured: the shift above which a smoothed line and the longest line are useful for sampled Gaussians
_ALMOST_AN_ATOM = 4.0


class Automatic(Evaluator):
    """Profiles by the routes that fit a loss, chosen by their promises; what one request leaves serves the next.

    One object serves all questions to one release. Arrays are quickest in order, as preparations serve neighbours.
    """

    def __init__(self) -> None:
        super().__init__(self._planned)
        # keys are identities, as the hash of a loss takes time for each term
        self._experiences: dict[int, Experience] = {}

    def from_prepared(self, request: Request) -> LogProbability | None:
        """The profile from what earlier requests have prepared, if it meets the demand."""
        loss, x = request.loss, request.epsilon
        experience = self._experiences.get(id(loss))
        if experience is None:
            return None
        known = masses(loss)
        found = at_once(loss, known, x)
        if found is None:
            prepared = experience.profile(x, request.demand)
            if prepared is None or not prepared.meets(request.demand):
                return None
            found = bounded(loss, known, x, prepared)
        return as_known(loss, found)

    def _planned(self, request: Request) -> LocalProfile:
        loss = request.loss
        experience = self._experiences.get(id(loss))
        if experience is None:
            experience = self._experiences[id(loss)] = Experience(loss, fitting(loss))
        return Planned(experience, request)


def _single_release(request: Request) -> LocalProfile:
    return closed_form(request, Automatic())


def _closed(request: Request) -> Offer:
    """The offer of a closed profile, which is as quick as any forecast of it."""
    own, epsilon, local = request.loss.closed_form, request.epsilon, _single_release(request)
    if not own.has_profile or own.without_transform:
        return Offer(Promise(request.demand.rtol, 1e6), lambda: local)
    found = local(epsilon)
    if found.method.trivial:
        raise NotApplicableError("the closed form loses all digits here")
    # its width is that of rounding
    return Offer(Promise(request.demand.rtol, 1e5), lambda: lambda x: found if x == epsilon else local(x))


SINGLE_RELEASE = Route(EXACT, _single_release, forecast=_closed)


def _reversed(request: Request) -> Offer:
    """The offer of the other order at zero, where both have one profile; a bounded loss has no large values."""
    loss = request.loss
    found = sampled_terms(loss) if request.epsilon == 0 else None
    if found is None or found[1]:
        raise NotApplicableError("only at epsilon = 0, where the other order is quicker")
    offer, known = CONTOUR.offer(Request(loss.reflected(), 0.0, request.demand)), masses(loss)

    def prepare() -> LocalProfile:
        local = offer.prepare()
        return lambda x: local(0.0) if x == 0 else trivial(known, x)

    return Offer(offer.promise, prepare)


REVERSED = replace(CONTOUR, forecast=_reversed)
SEPARATED = by_rest(Automatic)


def fitting(loss: LogPhi) -> list[Route]:
    """The routes that may serve a loss, in the order in which they are tried."""
    if release_of(loss) is not None or combination_of(loss) is not None:
        return [SINGLE_RELEASE]
    sampled = sampled_terms(loss)
    if sampled is not None:
        return _fitting_sampled(loss, sampled[0])
    if has_closed_profile(loss):
        return [SINGLE_RELEASE] if loss.closed_form.without_transform else [SINGLE_RELEASE, CONTOUR, *_FALLBACKS]
    lattice = loss.support.lattice
    listed = [ATOMS] if len(loss.terms) <= _MANY and atoms.served(loss.terms) else []
    if lattice is not None:
        # with atoms that are rare and high, the saddle of the whole law is far from that of the others
        sharp = [LATTICE, *listed] if math.isfinite(lattice.span) else []
        return [EXPONENTIAL, *sharp, *_FALLBACKS] if term_counts.quick(loss.terms) else [*sharp, EXPONENTIAL, *_FALLBACKS]
    if atoms.served(loss.terms) and not term_counts.quick(loss.terms):
        return [*listed, CONTOUR, *_FALLBACKS]
    if term_counts.served(loss.terms) and term_counts.flat_count(loss.terms) < term_counts.FLAT_PARTS:
        return [EXPONENTIAL, *_FALLBACKS]
    if (mean := mean_of(loss)) is not None:
        return [BRANCH_CUT, *([CONTOUR] if mean.count <= _MANY_BATCHES else []), *_FALLBACKS]
    if served(loss):
        return [EPOCHS_ON_CONTOUR, BRANCH_CUT, *_FALLBACKS]
    first = [SEPARATED] if separated_from(loss) is not None else []
    capped = [CAPPED] if any(isinstance(law, Cappable) for law, _ in loss.terms) else []
    return [*first, *capped, CONTOUR, CLIPPED, EXPONENTIAL, *_FALLBACKS]


def _fitting_sampled(loss: LogPhi, pairs: SampledPairs) -> list[Route]:
    """The routes for sampled Gaussians alone."""
    lines = [BENT, REVERSED, CONTOUR, CLIPPED] if pairs_need_long_line(pairs) else [REVERSED, CONTOUR, CLIPPED, BENT]
    if max(shift for shift, *_ in pairs) <= _ALMOST_AN_ATOM:
        return [*lines, COARSE_LATTICES, TAILS]
    # with little noise, the loss without the record is nearly an atom
    first = [SEPARATED] if separated_from(loss) is not None else []
    return [*first, *lines, COARSE_SMOOTHED, LONGEST, COARSE_LATTICES, TAILS]
