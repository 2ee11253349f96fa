"""A mechanism on Poisson samples that are truncated at a largest size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from logphi.algebra.families import Dominated
from logphi.algebra.on_samples import OnSamples
from logphi.algebra.release import Mechanism, operand
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import Real, Whole, frozen
from logphi.laws.log_phi import LogPhi
from logphi.sampling.group import refusal
from logphi.sampling.truncated_poisson import truncated_poisson

# measured: the sums over the binomial probabilities of more records take longer than a second
MOST_RECORDS = 10**9


@frozen
class TruncatedSample(Dominated, OnSamples):
    """A mechanism on a truncated Poisson sample, an upper bound; made by :meth:`Mechanism.poisson`.

    Whether a batch is full is not published, so that answers have the status ``DOMINATED``.
    """

    base: Mechanism
    rate: Real
    truncated_batch_size: Whole
    dataset_size: Whole
    adjacency: Adjacency
    _operation = "poisson"
    _no_pair = (
        "a truncated Poisson sample cannot be sampled again, as its dataset_size is fixed and that of a sample is not; take "
        "one truncated sample at the product of the rates"
    )

    def __post_init__(self) -> None:
        size = check.whole("dataset_size", self.dataset_size, 1, MOST_RECORDS)
        batch = check.whole("truncated_batch_size", self.truncated_batch_size, 1, MOST_RECORDS)
        if batch > size:
            raise ValueError(
                f"truncated_batch_size must be at most the dataset_size, got {batch} of {size}: no batch has more records than "
                "there are; leave both out"
            )
        self._settle(rate=check.rate(self.rate), truncated_batch_size=batch, dataset_size=size)
        self.loss_law()

    @property
    def _need_not_attain(self) -> bool:
        """Unless no batch is truncated."""
        return self.truncated_batch_size < self.dataset_size

    def loss_law(self) -> LogPhi:
        """By the pair of the base."""
        return truncated_poisson(self.base.pair(), self.rate, self.truncated_batch_size, self.dataset_size, self.adjacency)

    def _grouped(self, size: int) -> Mechanism:
        raise refusal("truncated Poisson sample", size)

    def _uncertified(self) -> str:
        return (
            "certificates do not know truncated Poisson batches, as the probability of a full batch is not a formula: without "
            "truncated_batch_size there is a certificate, for batches of any size"
        )

    def _text(self, spell: Callable[[Any], str]) -> str:
        relation = "" if self.adjacency is self.base.adjacency else f", adjacency={self.adjacency.value!r}"
        sizes = f"truncated_batch_size={self.truncated_batch_size}, dataset_size={self.dataset_size}"
        return f"{operand(self.base, spell)}.poisson({spell(self.rate)}, {sizes}{relation})"

    def _drawn(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("rate", "truncated_batch_size", "dataset_size")}

    def _sampling(self, unit: str) -> str:
        return (
            f"each time on a fresh Poisson sample of {self.dataset_size} records: {unit} is drawn with probability "
            f"{self.rate!r}, independently of all others, and {self.truncated_batch_size} records, drawn uniformly, are kept "
            "of a larger sample"
        )

    def _assumptions(self) -> Iterator[str]:
        yield (
            "That samples are drawn and truncated as stated, afresh and in secret each time, and that the number of records is "
            "the stated one. A mean must be divided by a number that does not depend on the sample."
        )
