"""Samples: each record with a probability (Poisson), or a subset of fixed size."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from logphi.checker.arithmetic.work import Undecided
from logphi.checker.laws.composition import Composition
from logphi.checker.laws.law import Law
from logphi.checker.laws.normal import Normal, shifted
from logphi.checker.mechanisms.kind import PRESENCE, SHARE, Demands, Kind, Node, Stated, integer
from logphi.checker.mechanisms.pairs import joined, law_of
from logphi.checker.needed import needed


def _poisson(node: Node, stated: Stated, *, rate: Fraction, group_size: int) -> Law | None:
    """((1-q) Q + q P, Q) ([AFA] Theorem 11.1); for a Gaussian also groups, and under replace."""
    if node.base is not None and node.base.parts:
        return law_of(_each(node, node.base), stated)
    base = _base(node, stated, rate)
    if base is None:
        return None
    if node.adjacency != "replace" and group_size == 1:
        return _mixed(base, rate)
    if not isinstance(base, Normal) or base.shift is None:
        raise Undecided("groups and replacement in a Poisson sample are known for the Gaussian only")
    if rate == 1:
        return shifted(group_size * base.shift * (2 if node.adjacency == "replace" else 1))
    found: Law = needed("laws.normal_mixtures:sampled_group")(base.shift, rate, group_size, node.adjacency == "replace")
    return found


def _subset(node: Node, stated: Stated, *, rate: Fraction) -> Law | None:
    """((1-g) P + g Q, P) under add/remove ([AFA] Theorem 11.2), and :meth:`Law.subset` under replace."""
    if node.base is not None and node.base.parts:
        return law_of(_each(node, node.base), stated)
    base = _base(node, stated, rate)
    if base is None:
        return None
    if node.adjacency != "replace":
        return _mixed(base.reversed(), rate)
    if rate == 1:
        return base
    found: Law = base.subset(rate) or needed("laws.sampled:SubsetSampled")(base, rate, base.symmetric)
    return found


def _mixed(base: Law, rate: Fraction) -> Law:
    """((1-q) Q + q P, Q); by its tails if the base knows no more."""
    found: Law = base if rate == 1 else base.sampled(rate) or needed("laws.sampled:Sampled")(base, rate)
    return found


def _each(node: Node, choice: Node) -> Node:
    """A sample of a random choice, as a random choice of samples: the choice is public, so each pair is mixed separately."""
    if not all([count for count, _ in part] == [1] for part in choice.parts):
        raise Undecided("this checker does not know several releases on one sample")
    parts = tuple(((1, replace(node, base=part[0][1])),) for part in choice.parts)
    return replace(choice, adjacency=node.adjacency, parts=parts)


def _base(node: Node, stated: Stated, rate: Fraction) -> Law | None:
    """The law of what is sampled, or of one above it that is a single release; None if a sample of it has no loss."""
    assert node.base is not None, "a sample has a base"
    law = law_of(node.base, stated) if rate else None
    if law is None or not (law.declared or isinstance(law, Composition)):
        return law
    found: Law = needed("mechanisms.above:law_above")(joined([(law, 1)]), stated)
    return found


def _demands_of_poisson(node: Node) -> Demands:
    (base,), relation = {one.adjacency for _, one in node.within()}, node.adjacency
    # under these, Q is the law without the record
    yield base in (*PRESENCE, "replace_special"), "needs a mechanism that is stated under add/remove or replace_special"
    fits = base == relation or (base == "add_remove" and relation in (*PRESENCE, "replace"))
    yield fits, f"of a mechanism under {base} is not known under {relation}"
    gaussian = all(one.name == "Gaussian" for _, one in node.within())
    yield gaussian or node.parameters["group_size"] == 1, "of a group is known for the Gaussian"
    yield gaussian or relation != "replace", "under replace is known for the Gaussian"


def _demands_of_subset(node: Node) -> Demands:
    (base,) = {one.adjacency for _, one in node.within()}
    yield base == "replace" and node.adjacency != "replace_special", "needs a base under replace, for replace or add/remove"


_NOT_WITHIN = (frozenset({"poisson", "subset"}), "the base of a sample must not be a sample itself")
KINDS = {
    "poisson": Kind(
        {"rate": SHARE, "group_size": integer(1, 1000)},
        _poisson,
        _demands_of_poisson,
        base="mechanism",
        not_within=_NOT_WITHIN,
    ),
    "subset": Kind({"rate": SHARE}, _subset, _demands_of_subset, base="mechanism", not_within=_NOT_WITHIN),
}
