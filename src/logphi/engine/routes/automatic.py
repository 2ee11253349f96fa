"""The choice among the routes that fit a loss, if the user names none."""

from __future__ import annotations

import math
from dataclasses import replace

from logphi.engine.cancellation import needs_long_line
from logphi.engine.combined_profile import combination_of
from logphi.engine.large_losses.sampled_terms import sampled_terms
from logphi.engine.log_probability import masses, trivial
from logphi.engine.method import EXACT
from logphi.engine.routes.atoms import ATOMS
from logphi.engine.routes.bent import BENT
from logphi.engine.routes.branch_cut import BRANCH_CUT, EPOCHS_ON_CONTOUR, mean_of, served
from logphi.engine.routes.clipped import CLIPPED
from logphi.engine.routes.contour import CONTOUR, LONGEST
from logphi.engine.routes.discretized import LATTICES, TAILS
from logphi.engine.routes.evaluator import Evaluator
from logphi.engine.routes.exact import closed_form, has_closed_profile
from logphi.engine.routes.exponential import EXPONENTIAL
from logphi.engine.routes.lattice import LATTICE
from logphi.engine.routes.planner import Planned
from logphi.engine.routes.route import LocalProfile, NotApplicableError, Offer, Route
from logphi.engine.routes.separated import by_rest, separated_from
from logphi.engine.routes.smoothed import SMOOTHED
from logphi.engine.sampled_profile import release_of
from logphi.inversion.atoms import atoms
from logphi.inversion.demand import Demand, Promise
from logphi.inversion.pieces import real_space
from logphi.laws.log_phi import LogPhi

_FALLBACKS = (SMOOTHED, LATTICES, LONGEST, TAILS)
# measured: of more different laws it takes long to count the atoms, which are more than a smoothed line has nodes
_MANY = 200
# measured: for sampled Gaussians, the accuracy and cost of lattices where contours have failed
COARSE_LATTICES = replace(LATTICES, mostly=Promise(1e-2, 2e8))
# measured: for these, a smoothed line is about as accurate as other lines
COARSE_SMOOTHED = replace(SMOOTHED, mostly=Promise(1e-5, 3e8))
# measured: for more batches than this a contour takes a minute
_MANY_BATCHES = 100_000
# measured: the shift above which these two are useful
_ALMOST_AN_ATOM = 4.0


class Automatic:
    """The routes that fit a loss, chosen by their promises; the route that was taken at one epsilon is tried first at the next.

    One object serves all questions to one release, so that later questions use what earlier ones found.
    """

    def __init__(self) -> None:
        # keys are identities, as the hash of a loss takes time for each term
        self._leading: dict[int, tuple[LogPhi, Route]] = {}
        # the last profile of each loss
        self._planned: dict[int, tuple[LogPhi, Planned]] = {}

    def __call__(self, loss: LogPhi, epsilon: float, demand: Demand) -> Planned:
        """The profile of a loss, which is prepared when it is first evaluated."""
        before = self._planned.get(id(loss))
        found = Planned(loss, demand, fitting(loss), self._leading) if before is None else before[1].near(epsilon, demand)
        self._planned[id(loss)] = loss, found
        return found


def _single_release(loss: LogPhi, epsilon: float, demand: Demand) -> LocalProfile:
    return closed_form(loss, demand, Evaluator(Automatic()))


def _closed(loss: LogPhi, epsilon: float, demand: Demand) -> Offer:
    """The offer of a closed profile, which is as quick as any forecast of it."""
    local = _single_release(loss, epsilon, demand)
    if not has_closed_profile(loss) or loss.closed_form.without_transform:
        return Offer(Promise(demand.rtol, 1e6), lambda: local)
    found = local(epsilon)
    if found.method.trivial:
        raise NotApplicableError("the closed form has no digits here")
    # its width is that of rounding
    return Offer(Promise(demand.rtol, 1e5), lambda: lambda x: found if x == epsilon else local(x))


SINGLE_RELEASE = Route(EXACT, _single_release, forecast=_closed)


def _reversed(loss: LogPhi, epsilon: float, demand: Demand) -> Offer:
    """The offer of the other order at zero, where both have one profile; a bounded loss has no large values."""
    found = sampled_terms(loss) if epsilon == 0 else None
    if found is None or found[1]:
        raise NotApplicableError("only at epsilon = 0, where the other order is quicker")
    offer, known = CONTOUR.offer(loss.reflected(), 0.0, demand), masses(loss)

    def prepare() -> LocalProfile:
        local = offer.prepare()
        return lambda x: local(0.0) if x == 0 else trivial(known, x)

    return Offer(offer.promise, prepare)


REVERSED = replace(CONTOUR, forecast=_reversed)
SEPARATED = by_rest(lambda: Evaluator(Automatic()))


def fitting(loss: LogPhi) -> list[Route]:
    """The routes that may serve a loss, in the order in which they are tried."""
    if release_of(loss) is not None or combination_of(loss) is not None:
        return [SINGLE_RELEASE]
    if has_closed_profile(loss):
        if loss.closed_form.without_transform:
            return [SINGLE_RELEASE]
        return [SINGLE_RELEASE, CONTOUR, *_FALLBACKS]
    lattice = loss.support.lattice
    listed = [ATOMS] if len(loss.terms) <= _MANY and atoms.served(loss.terms) else []
    if lattice is not None:
        # with atoms that are rare and high, the saddle of the whole law is far from that of the others
        sharp = [LATTICE, *listed, EXPONENTIAL] if math.isfinite(lattice.span) else [EXPONENTIAL]
        return [*sharp, *_FALLBACKS]
    if atoms.served(loss.terms) and not real_space.quick(loss.terms):
        return [*listed, CONTOUR, *_FALLBACKS]
    if real_space.served(loss.terms) and real_space.flat_count(loss.terms) < real_space.FLAT_PARTS:
        return [EXPONENTIAL, *_FALLBACKS]
    if (mean := mean_of(loss)) is not None:
        return [BRANCH_CUT, *([CONTOUR] if mean.count <= _MANY_BATCHES else []), *_FALLBACKS]
    sampled = sampled_terms(loss)
    if served(loss):
        return [EPOCHS_ON_CONTOUR, BRANCH_CUT, *_FALLBACKS]
    first = [SEPARATED] if separated_from(loss) is not None else []
    if sampled is None:
        return [*first, CONTOUR, CLIPPED, EXPONENTIAL, *_FALLBACKS]
    # with little noise, the loss without the record is nearly an atom
    others = [COARSE_SMOOTHED, LONGEST] if max(m for m, *_ in sampled[0]) > _ALMOST_AN_ATOM else []
    lines = [BENT, REVERSED, CONTOUR, CLIPPED] if needs_long_line(loss) else [REVERSED, CONTOUR, CLIPPED, BENT]
    return [*first, *lines, *others, COARSE_LATTICES, TAILS]
