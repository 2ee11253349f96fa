"""A dominating pair (P, Q) of output laws with and without the record ([AFA] Definition 7), and what sampling makes of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from logphi.arith.protocol import Plain
from logphi.laws.log_phi import LogPhi

if TYPE_CHECKING:  # numerics that a first answer does not need
    from logphi.grid.ratio_laws import Ratios


class UnsupportedError(ValueError):
    """A combination of mechanism, sampling and relation that has no known pair; the message says why, and what is near."""


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

    def beside(self, other: Pair) -> Pair:
        """The product of this pair and another: two releases on one sample."""
        return Joint(self.loss() + other.loss())

    def doubled(self) -> Pair:
        """The pair of two neighbouring steps at once: what two records do together.

        Raises
        ------
        UnsupportedError
            If it is not known here.
        """
        raise UnsupportedError(
            "batches that are cut off are known for the Gaussian mechanism only, where a record that takes the "
            "place of another one is a shift of twice the size; sample without truncated_batch_size, or a subset of fixed size"
        )

    def spliced_loss(self, rate: float) -> LogPhi:
        """Of (1 - rate) Q + rate P against Q where it is positive, of P against (1 - rate) P + rate Q where it is negative.

        The rest is an atom at zero ([AFA] Proposition 30 and Corollary 32).

        Raises
        ------
        UnsupportedError
            If the spliced law is not known here.
        """
        raise UnsupportedError(
            "no spliced law of this pair is known, which a subset under replace needs: ask for adjacency='add_remove'"
        )

    def allocated_loss(self, batches: int) -> LogPhi:
        """The loss if one of ``batches`` outputs, drawn uniformly, has the first law and all others have the second.

        There are at least two batches.

        Raises
        ------
        UnsupportedError
            If the law is not known here.
        """
        raise not_allocated()

    def ratios(self, cells: int) -> Ratios:
        """The law of the ratio p/q under Q, put on so many cells; fewer, where all its values are on them.

        Raises
        ------
        UnsupportedError
            If it is not known here, or reaches too far.
        """
        raise not_allocated()

    def grouped_loss(self, rate: float, size: int) -> LogPhi:
        """The loss of a group of ``size`` records, each drawn independently; the rate may be 1.

        Raises
        ------
        UnsupportedError
            If the law is not known here.
        """
        raise UnsupportedError(
            "group_size above 1 is known for the Gaussian mechanism only, whose groups are mixtures with binomial weights; "
            "for others multiply the sensitivity by the size of the group and sample at its rate of being met at all, "
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


class NotAllocatedError(UnsupportedError):
    """Nothing is known of the random allocation of a pair."""


def not_allocated() -> NotAllocatedError:
    """Why a pair has no random allocation, and what to do."""
    return NotAllocatedError(
        "random allocation is known for the Gaussian mechanism, for one release of Laplace noise and for mechanisms with few "
        "outcomes; m.fixed_order(batches) is an upper bound for every mechanism, and m.poisson(1 / batches) is another scheme"
    )


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
        from logphi.laws.sampled_loss import SampledLoss

        return LogPhi.of([(SampledLoss(self.joint_loss, Plain(rate)), 1)])
