"""Random allocation: each record is in one of several batches, drawn uniformly."""

from __future__ import annotations

from logphi.checker.allocation.allocated import Allocated, counted
from logphi.checker.arithmetic.work import Undecided, demand
from logphi.checker.laws.law import Law
from logphi.checker.mechanisms.kind import PRESENCE, Demands, Kind, Node, Stated, integer
from logphi.checker.mechanisms.pairs import composed


def _law(node: Node, stated: Stated, *, batches: int) -> Law | None:
    """One of the batches has P of the base, all others Q (Chua et al. 2024, *Balls-and-Bins Sampling*)."""
    base = composed(node.parts[0], stated)
    if not base.terms:
        return None
    law = base.alone
    if law is None:
        raise Undecided("this checker knows several releases in one batch for Gaussian noise only")
    demand(not base.declared, "this checker does not know random allocation of declared divergences")
    demand(law.omitted().is_zero(), "this checker does not allocate releases some of whose outcomes it leaves out")
    return counted(law.listed(), batches) if law.atomic else Allocated(law, batches)


def _demands(node: Node) -> Demands:
    known = node.adjacency in (*PRESENCE, "replace_special")
    yield known, "needs a mechanism that is stated under add/remove or replace_special"
    yield all(one.adjacency == node.adjacency for _, one in node.within()), "needs mechanisms under its own adjacency"


KINDS = {
    "allocation": Kind(
        {"batches": integer(2, 10**6)},
        _law,
        _demands,
        base="composition",
        not_within=(
            frozenset({"poisson", "subset", "allocation"}),
            "random allocation is not known as a part of a sample, or of random allocation",
        ),
    )
}
