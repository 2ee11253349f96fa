"""Sums over atoms, for atomic losses with many equal terms or terms on lattices."""

from __future__ import annotations

from logphi.engine.log_probability import LogProbability, from_inversion, masses
from logphi.engine.method import Method
from logphi.engine.routes.route import LocalProfile, NotApplicableError, Request, Route
from logphi.inversion.atoms import atoms
from logphi.inversion.lines.contour import Inversion, Part


def prepare(request: Request) -> LocalProfile:
    """The atoms tilted for an epsilon, and tilted again for distant ones, unless they are too many there."""
    loss, enough = request.loss, request.demand.sufficient
    first = atoms.prepare(loss, request.epsilon)
    if first is None:
        raise NotApplicableError(
            "method 'atoms' needs a loss of atoms only, few of them or equally spaced, which this one is not; leave method out"
        )
    known, prepared = masses(loss), first

    def at(x: float) -> LogProbability:
        nonlocal prepared
        found = answer(prepared, x)
        if not (found.meets(enough) or prepared.serves(x)):
            prepared = atoms.prepare(loss, x) or prepared
            found = answer(prepared, x)
        return found

    def answer(near: atoms.Prepared, x: float) -> LogProbability:
        return from_inversion(known, x, Inversion(Part.EXCESS, near.at(x)), _METHOD)

    return at


_METHOD = Method("atoms", "sums over atoms: losses of discrete mechanisms of several kinds")
ATOMS = Route(_METHOD, prepare)
