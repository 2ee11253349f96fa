"""A dominating pair (P, Q) of output laws with and without the record ([AFA] Definition 7), and the losses of its samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from logphi.arith.protocol import Plain
from logphi.laws.log_phi import LogPhi

if TYPE_CHECKING:  # numerics that a first answer does not need
    from logphi.grid.ratio_laws import Ratios


class UnsupportedError(ValueError):
    """A combination of mechanism, sampling and relation without a known pair; the message says why, and what to do instead."""


class Pair(ABC):
    """Two laws on one space; the loss is log(p/q) under P. All sampling rates lie strictly between 0 and 1."""

    @abstractmethod
    def loss(self) -> LogPhi:
        """The loss of P against Q."""

    @abstractmethod
    def reversed(self) -> Pair:
        """Q against P."""

    @abstractmethod
    def mixed_loss(self, rate: float) -> LogPhi:
        """The loss of (1 - rate) Q + rate P against Q."""

    def repeated(self, count: int) -> Pair:
        """The product of ``count`` copies of the pair: that many releases on one sample."""
        return self if count == 1 else Joint(count * self.loss())

    def product_with(self, other: Pair) -> Pair:
        """The product of this pair and another: two releases on one sample."""
        return Joint(self.loss() + other.loss())

    def doubled(self) -> Pair:
        """The pair at twice the sensitivity, as of two records.

        Raises
        ------
        UnsupportedError
            If it is not known here.
        """
        raise UnsupportedError(
            "truncated batches are known for the Gaussian mechanism only, where replacing one record by another "
            "is a shift of twice the size: sample without truncated_batch_size, or a subset of fixed size"
        )

    def spliced_loss(self, rate: float) -> LogPhi:
        """The loss of the spliced pair ([AFA] Proposition 30 and Corollary 32).

        Its positive losses are those of (1 - rate) Q + rate P against Q, its negative ones those of P against
        (1 - rate) P + rate Q; the rest of the mass is an atom at zero.

        Raises
        ------
        UnsupportedError
            If the spliced law is not known here.
        """
        raise UnsupportedError(
            "a subset under replace is not known for this mechanism, as its pair has no known spliced law: ask for "
            "adjacency='add_remove'"
        )

    def allocated_loss(self, batches: int) -> LogPhi:
        """The loss if one of ``batches`` outputs, drawn uniformly, has the first law and all others have the second.

        There are at least two batches.

        Raises
        ------
        UnsupportedError
            If the law is not known here.
        """
        raise _not_allocated()

    def ratios(self, cells: int) -> Ratios:
        """The law of the ratio p/q under Q on so many cells, or fewer if they hold all values.

        Raises
        ------
        UnsupportedError
            If it is not known here, or its range is too wide.
        """
        raise _not_allocated()

    def grouped_loss(self, rate: float, size: int) -> LogPhi:
        """The loss of a group of ``size`` records, each drawn independently; the rate may be 1.

        Raises
        ------
        UnsupportedError
            If the law is not known here.
        """
        raise UnsupportedError(
            "group_size above 1 is known for the Gaussian mechanism only, whose groups are mixtures with binomial weights; "
            "for others multiply the sensitivity by the size of the group and sample at the rate at which any of it is drawn, "
            "1 - (1 - rate)^size, which is an upper bound"
        )

    def replaced_loss(self, rate: float) -> LogPhi:
        """The loss if the record takes another value, and is in either sample with probability ``rate``, at most 1.

        Raises
        ------
        UnsupportedError
            If the law is not known here.
        """
        raise UnsupportedError(
            "Poisson sampling under replace is known for the Gaussian mechanism only; state the release under add/remove, or "
            "sample a subset of fixed size"
        )

    def replaced_group_loss(self, rate: float, size: int) -> LogPhi:
        """The same for a group of ``size`` records, at least two, all replaced and drawn independently.

        Raises
        ------
        UnsupportedError
            If the law is not known here.
        """
        raise UnsupportedError(
            "group_size above 1 under replace is known for the Gaussian mechanism only, whose groups are two mixtures with "
            "binomial weights; state the release under add/remove, or sample a subset of fixed size and ask for its group"
        )


def _not_allocated() -> UnsupportedError:
    return UnsupportedError("the ratio of the two laws is not known, which random allocation needs")


@dataclass(frozen=True)
class Joint(Pair):
    """A pair of which only the loss is known, such as several releases on one sample, or a given transform."""

    joint_loss: LogPhi

    def loss(self) -> LogPhi:
        """The given loss."""
        return self.joint_loss

    def reversed(self) -> Joint:
        """The reflected loss."""
        return Joint(self.joint_loss.reflected())

    def mixed_loss(self, rate: float) -> LogPhi:
        """The loss of the mixture, from the transform of the loss; a deferred import, as a first answer rarely needs it."""
        from logphi.laws.combined.sampled_loss import SampledLoss

        return LogPhi.of([(SampledLoss(self.joint_loss, Plain(rate)), 1)])
