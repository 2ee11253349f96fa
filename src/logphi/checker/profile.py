"""The privacy profile of a composition, by the method that its certificate states."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker.arithmetic.balls import ball, precision
from logphi.checker.arithmetic.work import demand
from logphi.checker.laws.composition import Composition
from logphi.checker.needed import needed
from logphi.checker.text.reading import Proof


def delta(whole: Composition, epsilons: Sequence[Fraction], proof: Proof) -> list[Any]:
    """The privacy profile at neighbouring epsilons."""
    with precision(proof.bits):
        return [whole.infinite() + one for one in excess(whole, epsilons, proof)]


def excess(whole: Composition, epsilons: Sequence[Fraction], proof: Proof) -> list[Any]:
    """D, the profile without infinite losses."""
    demand(proof.method in _METHODS, f"its proof is by {proof.method}, which gives no profile")
    with precision(proof.bits):
        found: list[Any] = needed(_METHODS[proof.method])(whole, epsilons, *proof.numbers)
        return found


def _alone(whole: Composition, epsilons: Sequence[Fraction]) -> list[Any]:
    """D of a single release in closed form."""
    law = whole.alone
    demand(law is not None, "its proof is of one release alone, but there are several")
    assert law is not None, "demanded above"
    return [law.single_excess(ball(epsilon)) for epsilon in epsilons]


def _beyond(whole: Composition, epsilons: Sequence[Fraction]) -> list[Any]:
    """Zero above the largest loss."""
    most = whole.largest()
    beyond = most is not None and all(ball(epsilon) > most for epsilon in epsilons)
    demand(beyond, "an epsilon is not proved to lie above the largest loss")
    return [arb(0) for _ in epsilons]


# by the names that reading knows, with as many numbers as it demands; all enclose the same number
_METHODS = {
    "alone": "profile:_alone",
    "beyond": "profile:_beyond",
    "chernoff": "methods.contour:chernoff",
    "line": "methods.contour:line",
    "folded": "methods.folded:enclose",
    "bent": "methods.bent_line:enclose",
    "residues": "methods.residues:enclose",
    "averaged": "methods.residues:averaged",
    "two": "methods.two_releases:enclose",
    "cells": "methods.cells:enclose",
    "nodes": "allocation.allocated:enclose",
    "tangents": "methods.tangents:enclose",
}
