"""The routes to a privacy profile, by name, and which of them are tried when none is named."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from logphi.arith.scaled import Scaled
from logphi.bound import Entry
from logphi.bracketing import Crossing, Function, bisection, crossing
from logphi.engine import clipping
from logphi.engine.profile import LogDelta, bounded, from_inversion, masses, safe_log, settled, trivial
from logphi.engine.sampled_profile import release_of, single_release
from logphi.inversion import contour, real_space, smoothed
from logphi.inversion.contour import Inversion, Part
from logphi.inversion.lattice import Periodic
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import LossTransform


@dataclass(frozen=True)
class Demand:
    """How narrow a profile must be: relatively, unless it is proved to be below ``least`` (a logarithm).

    ``hint`` is the abscissa of a saddle nearby, if one is known.
    """

    rtol: float
    hint: float | None = None
    least: float = -math.inf

    def met_by(self, found: LogDelta) -> bool:
        """Whether an enclosure is as narrow as asked."""
        return found.relative_width <= self.rtol or found.upper < self.least


# a profile near one epsilon: whatever is worth preparing for the neighbourhood has been prepared
Local = Callable[[float], LogDelta]
# of a loss, near an epsilon
Route = Callable[[LogPhi, float, Demand], Local]
# encloses the crossing of a profile, prepared near a point, coarsely or sharply, with a level: between two ends, from a guess
Solver = Callable[[Callable[[float, bool], Function], float, float, float, float], Crossing]


class NotApplicableError(ValueError):
    """The named route does not apply to this loss; the message says why and what does."""


class Profiles:
    """Profiles of losses along a route, within what holds for every pair and computed where that does not settle them."""

    def __init__(self, along: Route) -> None:
        self._along = along

    def __call__(self, loss: LogPhi, epsilon: float, demand: Demand) -> Local:
        """Prepared near one epsilon."""
        known = masses(loss)
        local: Local | None = None if settled(loss, known, epsilon) else self._along(loss, epsilon, demand)

        def at(x: float) -> LogDelta:
            nonlocal local
            answer = settled(loss, known, x)
            if answer is None:
                local = local or self._along(loss, x, demand)
                answer = local(x).meet(bounded(loss, known, x))
            return _told(loss, answer)

        return at

    def at_hand(self, loss: LogPhi, epsilon: float, demand: Demand) -> LogDelta | None:
        """The profile at epsilon, if an earlier question left all that is needed for it."""
        return None

    def surely_below(self, loss: LogPhi, epsilon: float, level: float) -> bool:
        """Whether a quick bound proves the profile to be below a level, a logarithm."""
        return masses(loss)[0][1] == 0 and self._ceiling(loss, epsilon, level) < level

    def _ceiling(self, loss: LogPhi, epsilon: float, level: float) -> float:
        return contour.ceiling(loss, epsilon).at(epsilon)


class SharedProfiles(Profiles):
    """Profiles for many questions to the same losses: what was prepared for one answers the others, where it is sharp.

    Made for one array of questions, best asked in order: only the last preparation for a loss is kept.
    """

    def __init__(self) -> None:
        super().__init__(self._shared)
        # by identity, as the hash of a loss takes as long as it has terms
        self._kept: dict[int, tuple[LogPhi, _InTurn]] = {}
        self._ceilings: dict[int, tuple[LogPhi, contour.Ceiling]] = {}

    def at_hand(self, loss: LogPhi, epsilon: float, demand: Demand) -> LogDelta | None:
        """By what is kept, where that need be asked: routes are not made for what lies beyond the support."""
        known = masses(loss)
        answer = settled(loss, known, epsilon)
        if answer is None:
            found = self._from_kept(loss, epsilon, demand)
            answer = found and found.meet(bounded(loss, known, epsilon))
        return answer and _told(loss, answer)

    def _ceiling(self, loss: LogPhi, epsilon: float, level: float) -> float:
        if id(loss) not in self._ceilings or self._ceilings[id(loss)][1].at(epsilon) >= level:
            self._ceilings[id(loss)] = loss, contour.ceiling(loss, epsilon)
        return self._ceilings[id(loss)][1].at(epsilon)

    def _from_kept(self, loss: LogPhi, x: float, demand: Demand) -> LogDelta | None:
        found = self._kept[id(loss)][1].at_hand(x) if id(loss) in self._kept else None
        return found if found is not None and demand.met_by(found) else None

    def _shared(self, loss: LogPhi, epsilon: float, demand: Demand) -> Local:
        own = automatic(loss, epsilon, demand)

        def at(x: float) -> LogDelta:
            kept = self._kept.get(id(loss))
            found = None if kept is None or kept[1] is own else self._from_kept(loss, x, demand)
            if found is None:
                self._kept[id(loss)] = loss, own
                found = own(x)
            return found

        return at


def _told(loss: LogPhi, found: LogDelta) -> LogDelta:
    """With what is known of the transform itself."""
    return replace(found, ledger=found.ledger.estimating("truncation", "inner")) if loss.estimated else found


def route(method: str | Route | None) -> Profiles:
    """The route of a name, or one as it is; without either, those that fit the loss, in turn, until one meets the tolerance."""
    if method is None or isinstance(method, ByGridApproximation):
        return Profiles(method or automatic)
    if method not in list(ROUTES):
        names = ", ".join(map(repr, ROUTES))
        raise NotApplicableError(f"method must be one of {names}, or 'certified' for delta and epsilon, got {method!r}")
    return Profiles(ROUTES[method])


def by_contour(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """Inversion on a vertical line: losses with a smooth part."""
    return _inverted(loss, contour.prepare(loss, epsilon, demand.rtol, contour.smooth, demand.hint), "contour")


def by_lattice(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """Inversion over one period: losses on a lattice."""
    lattice = loss.lattice
    if lattice is None or math.isinf(lattice.span):
        raise NotApplicableError("method 'lattice' needs a loss on a lattice, which this one is not; leave method out")

    def kernel(law: LossTransform, x: float) -> contour.Kernel:
        # the reflected law lives on the mirrored lattice
        return Periodic.at(lattice if law is loss else replace(lattice, offset=-lattice.offset), x)

    return _inverted(loss, contour.prepare(loss, epsilon, demand.rtol, kernel, demand.hint), "lattice")


def by_pieces(loss: LogPhi, epsilon: float, demand: Demand, *, asked: str = "exponential") -> Local:
    """Sums over atoms and flat parts in real space: losses with atoms that do not fade."""
    if not real_space.made_of_pieces(loss.terms):
        raise NotApplicableError(f"method {asked!r} needs a loss of atoms and tilted flat parts only; leave method out")
    if real_space.cost(loss.terms) > real_space.MAX_TERMS:
        most = real_space.MAX_TERMS
        raise NotApplicableError(f"method {asked!r} would sum more than {most} terms here; leave method out")
    name = "exponential" if real_space.flat_count(loss.terms) else "exact"
    known = masses(loss)
    prepared: dict[bool, real_space.Prepared] = {}

    def answer(turned: bool, x: float) -> LogDelta:
        found = prepared[turned]
        amount = found.at(-x).times_exp(x) if turned else found.at(x)
        return from_inversion(known, x, Inversion(Part.REVERSED if turned else Part.EXCESS, amount), name)

    def at(x: float) -> LogDelta:
        turned = x < 0
        found = answer(turned, x) if turned in prepared else trivial(known, x)
        if found.relative_width <= demand.rtol or (turned in prepared and prepared[turned].serves(abs(x))):
            return found
        own = loss.reflected() if turned else loss
        fresh = real_space.prepare(own, own.terms, abs(x), demand.rtol)
        if fresh is None:
            return found
        prepared[turned] = fresh
        return answer(turned, x)

    return at


def by_levy(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """Levy inversion on both poles ([AFA] Lemmas 18, 19, 42): absolute errors, the quadrature's an estimate."""
    from logphi.comparators import levy

    return _on_the_poles(loss, "levy", lambda: levy.prepare(loss))


@dataclass(frozen=True)
class ByGridApproximation:
    """The profiles of a rounded-down and of a rounded-up loss ([AFA] Definition 39, Algorithm 2, Theorem 44).

    ``cells`` and ``reach`` are their N and S, the latter in units of the sensitivity, by default all of the output.
    """

    cells: int = 100_000
    reach: float | None = None

    def __call__(self, loss: LogPhi, epsilon: float, demand: Demand) -> Local:
        """Prepared near one epsilon."""
        # SciPy's normal tails would double the time of importing the package
        from logphi.comparators import levy_sums

        try:
            prepared = levy_sums.prepare(loss.terms, epsilon, self.cells, self.reach)
        except ValueError as error:
            raise NotApplicableError(f"method 'levy-sums' does not apply: {error}") from error
        known = masses(loss)
        return lambda x: from_inversion(known, x, Inversion(Part.EXCESS, prepared.at(x)), "levy-sums")


def by_levy_quadrature(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """Levy inversion of a phi that is itself taken by quadrature ([AFA] double quadrature): both errors are estimates."""
    from logphi.comparators import levy
    from logphi.comparators.levy_quadrature import double_quadrature

    doubled = [(double_quadrature(law), law, count) for law, count in loss.terms]
    if all(own is None for own, _, _ in doubled):
        raise NotApplicableError(
            "method 'levy-quadrature' needs a loss whose phi is an integral, that of a sampled Gaussian; "
            "this phi is known in closed form: use 'levy', or leave method out"
        )
    plain = LogPhi(tuple((own or law, count) for own, law, count in doubled))
    return _on_the_poles(loss, "levy-quadrature", lambda: levy.prepare(plain), "inner")


def _on_the_poles(loss: LogPhi, name: str, prepare: Callable[[], Callable[[float], Scaled]], *estimates: str) -> Local:
    known = masses(loss)
    try:
        excess = prepare()
    except ValueError as error:
        raise NotApplicableError(f"method {name!r} does not apply: {error}") from error

    def at(x: float) -> LogDelta:
        try:
            amount = excess(x)
        except ValueError as error:
            raise NotApplicableError(f"method {name!r} does not apply: {error}") from error
        found = from_inversion(known, x, Inversion(Part.EXCESS, amount), name)
        # where the answer is given up for a coarse one, its truncation rests on the quadrature too
        return replace(found, ledger=found.ledger.estimating("truncation", "discretization", *estimates))

    return at


def by_smoothed_contour(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """Inversion with a smoothed threshold, and a bound of what that adds: any loss away from its atoms."""
    prepared = smoothed.prepare(loss, epsilon, demand.rtol, demand.hint)
    known = masses(loss)
    return lambda x: trivial(known, x) if prepared is None else from_inversion(known, x, prepared.at(x), "smoothed")


def by_lattice_laws(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """A lattice law above and one below, composed by a Fourier sum: valid for every loss of known laws."""
    # SciPy's normal tails would double the time of importing the package
    from logphi.grid import discretized

    try:
        prepared = discretized.prepare(loss, epsilon, demand.rtol, _BUDGET if demand.rtol < _COARSE else _BUDGET >> 4)
    except ValueError as error:
        raise NotApplicableError(f"method 'discretized' does not apply: {error}") from error
    known = masses(loss)
    return lambda x: from_inversion(known, x, Inversion(Part.EXCESS, prepared.at(x)), "discretized")


def by_clipped_contour(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """Inversion of the loss without rare large ones, whose share has a closed form: sampled normal pairs at small rates."""
    prepared = clipping.prepare(loss, epsilon, demand.rtol, demand.least)
    if prepared is None:
        raise NotApplicableError(
            "method 'clipped' needs epsilon > 0 and a few kinds of Poisson-sampled Gaussians, "
            "of which a contour of reasonable length serves the small losses; leave method out"
        )
    return _clipped(loss, prepared)


def by_buckets(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """Every loss rounded up, or down, to a multiple of one width, composed by convolution: wide, and there to compare with."""
    from logphi.comparators import buckets

    try:
        prepared = buckets.prepare(loss.terms, epsilon)
    except ValueError as error:
        raise NotApplicableError(f"method 'buckets' does not apply: {error}") from error
    known = masses(loss)
    return lambda x: from_inversion(known, x, Inversion(Part.EXCESS, prepared(x)), "buckets")


def by_single_release(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """The closed profile of one release: its own or, of a sampled one, from that of its base."""
    found = release_of(loss)
    if found is None:
        if not _closed(loss):
            return by_pieces(loss, epsilon, demand, asked="exact")
        known, law = masses(loss), loss.terms[0][0]

        def at(x: float) -> LogDelta:
            amount = law.closed_form.excess(x)
            return trivial(known, x) if amount is None else from_inversion(known, x, Inversion(Part.EXCESS, amount), "exact")

        return at
    base_route = route(None)
    return lambda x: single_release(found, x, lambda at: base_route(found.base, at, Demand(demand.rtol))(at))


ROUTES: dict[str, Route] = {
    "contour": by_contour,
    "lattice": by_lattice,
    "exact": by_single_release,
    "exponential": by_pieces,
    "smoothed": by_smoothed_contour,
    "discretized": by_lattice_laws,
    "clipped": by_clipped_contour,
    "buckets": by_buckets,
    "levy": by_levy,
    "levy-sums": ByGridApproximation(),
    "levy-quadrature": by_levy_quadrature,
}


def solver(method: str | Route | None) -> Solver:
    """How the profile of a route is inverted: bisection for those of [AFA], as there; secants for all others."""
    along = ROUTES.get(method) if isinstance(method, str) else method
    return bisection if along in _BISECTED or isinstance(along, ByGridApproximation) else crossing


_BISECTED = (by_levy, by_levy_quadrature)


def automatic(loss: LogPhi, epsilon: float, demand: Demand) -> _InTurn:
    """The routes that fit the loss, tried in turn."""
    return _InTurn(loss, demand)


class _InTurn:
    """The profile by the routes that fit a loss, each prepared where it is first asked."""

    def __init__(self, loss: LogPhi, demand: Demand) -> None:
        self._loss, self._demand = loss, demand
        self._routes, self._large = _fitting(loss), max(_LARGE, 10 * demand.rtol)
        self._prepared: dict[Route, tuple[float, Local | None]] = {}
        self._renewals: Counter[Route] = Counter()

    def __call__(self, x: float) -> LogDelta:
        best: LogDelta | None = None
        for one in self._routes:
            if best is not None and (self._demand.met_by(best) or (one in _FALLBACKS and _final(best, self._large))):
                break
            done = one is _by_clipping_after_all and best is not None and best.method == "clipped"
            answer = None if done else self._answered(one, x)
            if answer is not None:
                best = answer if best is None else best.meet(answer)
        best = trivial(masses(self._loss), x) if best is None else best
        return best.meet(_by_chernoff(self._loss, x)) if best.lower == -math.inf and best.upper > _NOTHING else best

    def at_hand(self, x: float) -> LogDelta | None:
        """What the preparations tell that are there already; None if there are none."""
        found = [local(x) for _, local in self._prepared.values() if local is not None]
        return reduce(LogDelta.meet, found) if found else None

    def _answered(self, one: Route, x: float, *, again: bool = False) -> LogDelta | None:
        if again or one not in self._prepared:
            self._prepared[one] = x, _attempt(one, self._loss, x, self._demand)
        place, local = self._prepared[one]
        found = None if local is None else local(x)
        wide = found is not None and found.relative_width > self._large and not self._demand.met_by(found)
        hopeless = one in _FALLBACKS and self._renewals[one] >= _AGAIN
        if wide and abs(x - place) > _NEAR * abs(place) and not hopeless:
            # too far from where the route was prepared
            self._renewals[one] += 1
            return self._answered(one, x, again=True)
        return found


def _by_chernoff(loss: LogPhi, x: float) -> LogDelta:
    """An upper bound where no route leads."""
    known = masses(loss)
    upper = min(float(np.logaddexp(safe_log(known[0][1]), contour.ceiling(loss, x).at(x))) + 1e-14, 0.0)
    plain = trivial(known, x)
    value = plain.lower if plain.lower > -math.inf else upper - math.log(2.0)
    return LogDelta(
        plain.lower, value, max(upper, plain.lower), "chernoff", replace(plain.ledger, truncation=Entry(math.exp(upper)))
    )


_FALLBACKS = (by_smoothed_contour, by_lattice_laws, by_contour)
# measured: a transform that never falls below this needs the longest lines even for a coarse answer
_DECAYED = 1e-2
# a height beyond which no envelope falls any more
_FAR = np.array([1e100])
# a profile of which only this is known, as a logarithm, is asked for Chernoff's bound
_NOTHING = -3.0
# measured: about the width that a smoothed contour or lattice laws reach
_LARGE = 1e-6
# measured: what is wide this near the place of preparation, relatively, is no better prepared again
_NEAR = 1e-3
# measured: a fallback takes seconds; one that stays wide for so many places will stay wide
_AGAIN = 3
# lattice points at most; measured: an answer that may be this coarse needs few, or will not come
_BUDGET = 1 << 20
_COARSE = 1e-4


def _final(found: LogDelta, large: float) -> bool:
    """Whether what a route leaves is rounding that the fallbacks behind it would not improve on.

    A contour is worth a second look where the profile is far below M(c) e^{-cx}, one large loss among many small ones, and a
    smoothed one near an atom.
    """
    wide = found.method in ("contour", "smoothed", "clipped") and found.relative_width > large
    return found.method not in ("trivial", "discretized") and not wide


def closed(loss: LogPhi, x: float) -> bool:
    """Whether the loss is that of one release with a closed profile, its own or that of its base; or is below x anyway."""
    return x >= loss.support.upper or release_of(loss) is not None or _closed(loss)


def _closed(loss: LogPhi) -> bool:
    """Whether the loss is that of one release with a profile of its own."""
    return loss.closed_form.has_profile


def _fitting(loss: LogPhi) -> list[Route]:
    if release_of(loss) is not None:
        return [by_single_release]
    if _closed(loss):
        return [by_single_release, _by_decaying_contour, *_FALLBACKS]
    lattice = loss.lattice
    if lattice is not None:
        sharp = [by_lattice, by_pieces] if math.isfinite(lattice.span) else [by_pieces]
        return [*sharp, *_FALLBACKS]
    if real_space.made_of_pieces(loss.terms) and real_space.flat_count(loss.terms) < real_space.FLAT_PARTS:
        return [by_pieces, *_FALLBACKS]
    return [_by_decaying_contour, _by_clipping_after_all, by_pieces, *_FALLBACKS]


def _by_clipping_after_all(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """Where a plain contour stands well, but large losses are most of its rounding errors."""
    if not clipping.decides(loss, epsilon, _saddle(loss, epsilon, demand.hint)):
        raise NotApplicableError("no large losses are in the way of a plain contour")
    return by_clipped_contour(loss, epsilon, demand)


def _saddle(loss: LogPhi, epsilon: float, hint: float | None) -> float:
    return contour.saddle(loss, contour.smooth(loss, epsilon), contour.RIGHT, hint).abscissa


def _clipped(loss: LogPhi, prepared: clipping.Prepared) -> Local:
    known = masses(loss)
    return lambda x: from_inversion(known, x, prepared.at(x), "clipped")


def _by_decaying_contour(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    hint = demand.hint
    if clipping.large_of(loss):
        hint = _saddle(loss, epsilon, hint)
        clipped = clipping.prepare_where_needed(loss, epsilon, demand.rtol, demand.least, hint)
        if clipped is not None:
            return _clipped(loss, clipped)
    # the longest line gains no more than its number of nodes over what atoms do not lose by themselves, and is long
    atoms = real_space.made_of_pieces(loss.terms) and float(loss.log_envelope(0.0, _FAR)[0])
    hopeless = atoms is not False and atoms > math.log(min(demand.rtol * contour.MAX_NODES, _DECAYED))
    prepared = None if hopeless else contour.prepare(loss, epsilon, demand.rtol, contour.smooth, hint, decaying=True)
    if prepared is None:
        raise NotApplicableError("the transform does not decay far enough for a contour of reasonable length")
    return _inverted(loss, prepared, "contour")


def _attempt(one: Route, loss: LogPhi, epsilon: float, demand: Demand) -> Local | None:
    try:
        return one(loss, epsilon, demand)
    except NotApplicableError:
        return None


def _inverted(loss: LogPhi, prepared: contour.Prepared | None, name: str) -> Local:
    known = masses(loss)

    def at(x: float) -> LogDelta:
        return trivial(known, x) if prepared is None else from_inversion(known, x, prepared.at(x), name)

    return at
