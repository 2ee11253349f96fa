"""The routes to a privacy profile, by name, and which of them are tried when none is named."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from logphi.core.logphi import LogPhi
from logphi.numerics import contour, exponential
from logphi.numerics.contour import Inversion, Part
from logphi.numerics.lattice import Periodic
from logphi.numerics.law import Law
from logphi.views.profile import LogDelta, from_inversion, masses, settled, trivial
from logphi.views.sampled import release_of, single_release

# a profile near one epsilon: whatever is worth preparing for the neighbourhood has been prepared
Local = Callable[[float], LogDelta]
# of a loss, near an epsilon, to a relative tolerance, with the abscissa of a saddle nearby if one is known
Route = Callable[[LogPhi, float, float, "float | None"], Local]


class NotApplicableError(ValueError):
    """The named route does not apply to this loss; the message says why and what does."""


def route(method: str | None) -> Route:
    """The route of a name; without one, those that fit the loss, in turn, until one meets the tolerance."""
    if method is not None and method not in list(ROUTES):
        raise NotApplicableError(f"method must be one of {', '.join(map(repr, ROUTES))}, got {method!r}")
    chosen = automatic if method is None else ROUTES[method]

    def prepared(loss: LogPhi, epsilon: float, rtol: float, hint: float | None = None) -> Local:
        known = masses(loss)
        local: Local | None = None if settled(loss, known, epsilon) else chosen(loss, epsilon, rtol, hint)

        def at(x: float) -> LogDelta:
            nonlocal local
            answer = settled(loss, known, x)
            if answer is None:
                local = local or chosen(loss, x, rtol, hint)
                answer = local(x).meet(trivial(known, x))
            return answer

        return at

    return prepared


def by_contour(loss: LogPhi, epsilon: float, rtol: float, hint: float | None = None) -> Local:
    """Inversion on a vertical line: losses with a smooth part."""
    return _inverted(loss, contour.prepare(loss, epsilon, rtol, contour.smooth, hint), "contour")


def by_lattice(loss: LogPhi, epsilon: float, rtol: float, hint: float | None = None) -> Local:
    """Inversion over one period: losses on a lattice."""
    lattice = loss.lattice
    if lattice is None or math.isinf(lattice.span):
        raise NotApplicableError("method 'lattice' needs a loss on a lattice, which this one is not; leave method out")

    def kernel(law: Law, x: float) -> contour.Kernel:
        # the reflected law lives on the mirrored lattice
        return Periodic.at(lattice if law is loss else replace(lattice, offset=-lattice.offset), x)

    return _inverted(loss, contour.prepare(loss, epsilon, rtol, kernel, hint), "lattice")


def by_pieces(loss: LogPhi, epsilon: float, rtol: float, hint: float | None = None, *, asked: str = "exponential") -> Local:
    """Sums over atoms and flat parts in real space: losses with atoms that do not fade."""
    if not exponential.made_of_pieces(loss.terms):
        raise NotApplicableError(f"method {asked!r} needs a loss of atoms and tilted flat parts only; leave method out")
    if exponential.cost(loss.terms) > exponential.MAX_TERMS:
        most = exponential.MAX_TERMS
        raise NotApplicableError(f"method {asked!r} would sum more than {most} terms here; leave method out")
    name = "exponential" if exponential.flat_count(loss.terms) else "exact"
    known = masses(loss)

    def at(x: float) -> LogDelta:
        if x >= 0:
            part, amount = Part.EXCESS, exponential.excess(loss, loss.terms, x, rtol)
        else:
            turned = loss.reflected()
            part, amount = Part.REVERSED, exponential.excess(turned, turned.terms, -x, rtol)
            amount = amount and amount.times_exp(x)
        return trivial(known, x) if amount is None else from_inversion(known, x, Inversion(part, amount), name)

    return at


def by_levy(loss: LogPhi, epsilon: float, rtol: float, hint: float | None = None) -> Local:
    """Levy inversion on both poles ([AFA] Lemmas 18, 19, 42): absolute errors, the quadrature's an estimate."""
    from logphi.numerics import levy

    known = masses(loss)

    def at(x: float) -> LogDelta:
        try:
            amount = levy.excess(loss, x)
        except ValueError as error:
            raise NotApplicableError(f"method 'levy' does not apply: {error}") from error
        found = from_inversion(known, x, Inversion(Part.EXCESS, amount), "levy")
        parts = {name: replace(getattr(found.ledger, name), proved=False) for name in ("truncation", "discretization")}
        return replace(found, ledger=replace(found.ledger, **parts))

    return at


def by_lattice_laws(loss: LogPhi, epsilon: float, rtol: float, hint: float | None = None) -> Local:
    """A lattice law above and one below, composed by a Fourier sum: valid for every loss of known laws."""
    # SciPy's normal tails would double the time of importing the package
    from logphi.numerics import discretized

    try:
        prepared = discretized.prepare(loss, epsilon, rtol)
    except ValueError as error:
        raise NotApplicableError(f"method 'discretized' does not apply: {error}") from error
    known = masses(loss)
    return lambda x: from_inversion(known, x, Inversion(Part.EXCESS, prepared.at(x)), "discretized")


def by_single_release(loss: LogPhi, epsilon: float, rtol: float, hint: float | None = None) -> Local:
    """The closed profile of one sampled release, from that of its base."""
    found = release_of(loss)
    if found is None:
        return by_pieces(loss, epsilon, rtol, hint, asked="exact")
    base_route = route(None)
    return lambda x: single_release(found, x, lambda at: base_route(found.base, at, rtol, None)(at))


ROUTES: dict[str, Route] = {
    "contour": by_contour,
    "lattice": by_lattice,
    "exact": by_single_release,
    "exponential": by_pieces,
    "discretized": by_lattice_laws,
    "levy": by_levy,
}


def automatic(loss: LogPhi, epsilon: float, rtol: float, hint: float | None = None) -> Local:
    """The routes that fit the loss, tried in turn."""
    prepared: dict[int, Local | None] = {}
    routes = _fitting(loss)

    def at(x: float) -> LogDelta:
        best: LogDelta | None = None
        for index, one in enumerate(routes):
            # what the sharp routes leave is rounding, which the fallbacks would not improve on
            if one in _FALLBACKS and best is not None and best.method not in ("trivial", "discretized"):
                break
            if index not in prepared:
                prepared[index] = _attempt(one, loss, x, rtol, hint)
            local = prepared[index]
            if local is None:
                continue
            answer = local(x)
            best = answer if best is None else best.meet(answer)
            if best.relative_width <= rtol:
                break
        return trivial(masses(loss), x) if best is None else best

    return at


_FALLBACKS = (by_lattice_laws, by_contour)


def _fitting(loss: LogPhi) -> list[Route]:
    if release_of(loss) is not None:
        return [by_single_release]
    lattice = loss.lattice
    if lattice is not None:
        sharp = [by_lattice, by_pieces] if math.isfinite(lattice.span) else [by_pieces]
        return [*sharp, *_FALLBACKS]
    if exponential.made_of_pieces(loss.terms) and not exponential.flat_count(loss.terms):
        return [by_pieces, *_FALLBACKS]
    return [_by_decaying_contour, by_pieces, *_FALLBACKS]


def _by_decaying_contour(loss: LogPhi, epsilon: float, rtol: float, hint: float | None = None) -> Local:
    prepared = contour.prepare(loss, epsilon, rtol, contour.smooth, hint, decaying=True)
    if prepared is None:
        raise NotApplicableError("the transform does not decay far enough for a contour of reasonable length")
    return _inverted(loss, prepared, "contour")


def _attempt(one: Route, loss: LogPhi, epsilon: float, rtol: float, hint: float | None) -> Local | None:
    try:
        return one(loss, epsilon, rtol, hint)
    except NotApplicableError:
        return None


def _inverted(loss: LogPhi, prepared: contour.Prepared | None, name: str) -> Local:
    known = masses(loss)

    def at(x: float) -> LogDelta:
        return trivial(known, x) if prepared is None else from_inversion(known, x, prepared.at(x), name)

    return at
