"""Batches of which one holds the record, between an attack on one batch and a release without amplification."""

from __future__ import annotations

from fractions import Fraction

from logphi.algebra.attacks import attained, attained_part
from logphi.algebra.bracketed import Bracketed
from logphi.algebra.by_others import Proofs
from logphi.algebra.families import terms_of
from logphi.algebra.group_bound import bound_of_group
from logphi.algebra.on_samples import OnSamples
from logphi.algebra.release import Mechanism, Primitive, compose
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import frozen
from logphi.laws.log_phi import LogPhi
from logphi.text.written import Written


def one_below(release: Mechanism) -> Mechanism:
    """One release that this one dominates, also on samples: members of families, and attacks on what need not attain its pair.

    Members are fixed beforehand: a hull is attained at each threshold by another one, and on samples by none.
    """
    terms = terms_of(release)
    if all(family is None for _, family, _ in terms):
        return attained_part(release, sampled=True)
    parts = ([family.fixed(count)] if family else attained(one, count, sampled=True) for one, family, count in terms)
    return compose(part for some in parts for part in some)


@frozen
class FirstBatch(Primitive):
    """The output on the first of all batches, which the record is in as often as in any other.

    Under replace the other records hold what the record does under the second law; otherwise they leave no trace in a batch.
    """

    base: Mechanism
    batches: int
    adjacency: Adjacency
    _undescribed = "it is one of many attacks"

    def loss_law(self) -> LogPhi:
        """That of a mixture with the second law."""
        return self.base.pair().mixed_loss(Written(Fraction(1, self.batches)))


class Unamplified(Bracketed, OnSamples):
    """A mechanism on batches, one of which holds the record; each of them is equally likely to be that one."""

    batches: int
    adjacency: Adjacency

    @property
    def attack(self) -> Mechanism:
        """The attack by the output on one batch."""
        return FirstBatch(one_below(self.base), self.batches, self.adjacency)

    @property
    def cover(self) -> Mechanism:
        """One release without amplification: an adversary who knows the order sees which batch holds the record."""
        return self.base

    @property
    def _proofs(self) -> Proofs:
        return (
            "an attack that looks at the output on one batch",
            "one release an epoch, without amplification: the attacker knows the order",
        )

    def _grouped(self, size: int) -> Mechanism:
        """The group of the cover, an upper bound."""
        return bound_of_group(self.cover.group(size))
