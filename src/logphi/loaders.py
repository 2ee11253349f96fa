"""How a training loop draws its batches: what is assumed about each sampler, and the release that follows.

A sampler that draws a new batch for every step makes one release per step. One that goes through all records makes one release
per epoch: the privacy loss of an epoch does not follow from a rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from logphi.algebra.release import Mechanism, compose
from logphi.inputs import check
from logphi.inputs.adjacency import ONE_ORDER, Adjacency
from logphi.mechanisms import Gaussian
from logphi.pairs.pair import UnsupportedError

# derived: under replace a sum of clipped gradients changes by up to twice the clipping norm
_REPLACED = 2


@dataclass(frozen=True)
class Batches:
    """One step: the noise of each sum of its batch, the average number of its records, and the number of all records."""

    noises: tuple[float, ...]
    size: int
    dataset_size: int
    largest: int | None
    group_size: int
    adjacency: Adjacency

    @property
    def share(self) -> Fraction:
        """The sampling rate."""
        return Fraction(self.size, self.dataset_size)

    def sums(self, sensitivity: int, adjacency: Adjacency) -> Mechanism:
        """The noisy sums over one batch, all of the same records."""
        return compose([Gaussian(noise, sensitivity, adjacency) for noise in self.noises])

    @property
    def present(self) -> Adjacency:
        """The relation of the base that is sampled: add/remove where the relation of the sample is replace."""
        one_order = self.adjacency in ONE_ORDER
        return self.adjacency if one_order else Adjacency.ADD_REMOVE

    @property
    def rate(self) -> float:
        """The sampling rate as it was written."""
        return check.unit("rate", self.share)


@dataclass(frozen=True)
class Sampler:
    """What is assumed about a sampler, and the release of a step, or of an epoch where ``batches`` counts its steps."""

    drawn: str
    release: Callable[[Batches], Mechanism]
    batches: Callable[[Fraction], int] | None = None


def _poisson(step: Batches) -> Mechanism:
    base = step.sums(1, step.present)
    return base.poisson(step.rate, group_size=step.group_size, adjacency=step.adjacency)


def _truncated_poisson(step: Batches) -> Mechanism:
    sampled = step.sums(1, step.present).poisson(
        step.rate, adjacency=step.adjacency, truncated_batch_size=step.largest, dataset_size=step.dataset_size
    )
    return sampled.group(step.group_size)


def _without_replacement(step: Batches) -> Mechanism:
    return step.sums(_REPLACED, Adjacency.REPLACE).subset(step.rate, adjacency=step.adjacency).group(step.group_size)


def _of_an_epoch(step: Batches) -> Mechanism:
    """The sums of the batch with the record, which under replace has another value in it."""
    return step.sums(_REPLACED if step.adjacency is Adjacency.REPLACE else 1, step.adjacency)


def _balls_in_bins(step: Batches) -> Mechanism:
    return step.sums(1, step.adjacency).allocation(_whole(step.share)).group(step.group_size)


def _shuffled(step: Batches) -> Mechanism:
    return _of_an_epoch(step).shuffled(_begun(step.share)).group(step.group_size)


def _fixed_order(step: Batches) -> Mechanism:
    return _of_an_epoch(step).fixed_order(_begun(step.share)).group(step.group_size)


def _whole(share: Fraction) -> int:
    """The number of full batches in an epoch: fewer batches make it likelier that a record is in a given one."""
    return math.floor(1 / share)


def _begun(share: Fraction) -> int:
    """The number of batches in an epoch, with a last one that may be smaller."""
    return math.ceil(1 / share)


_ONCE = "each record is in exactly one batch of an epoch, whose place stays empty without it: no other record takes it"
SAMPLERS: Mapping[str, Sampler] = {
    "poisson": Sampler(
        "every step draws a fresh Poisson sample: each record is drawn independently, with the sampling rate", _poisson
    ),
    "truncated_poisson": Sampler(
        "every step draws a fresh Poisson sample, of which at most truncated_batch_size records, drawn uniformly, are kept",
        _truncated_poisson,
    ),
    "without_replacement": Sampler(
        "every step draws a fresh, uniformly random batch of fixed size, without replacement", _without_replacement
    ),
    "balls_in_bins": Sampler(
        "every epoch allocates again: each record is in one of its batches, drawn uniformly and independently",
        _balls_in_bins,
        _whole,
    ),
    "shuffled": Sampler(f"every epoch shuffles all records again and divides them into batches: {_ONCE}", _shuffled, _begun),
    "fixed_order": Sampler(f"batches keep the order of the data, which may be known: {_ONCE}", _fixed_order, _begun),
}


def sampler_of(name: str) -> Sampler:
    """The sampler of a name.

    Raises
    ------
    UnsupportedError
        If no proved bound is known for it.
    ValueError
        If it is unknown.
    """
    if name == "with_replacement":
        raise UnsupportedError(
            "sampler 'with_replacement' is not covered: no useful proved bound of batches with replacement is known "
            "here, as a record may be in one batch several times; draw with 'without_replacement' or 'poisson' instead"
        )
    if name not in SAMPLERS:
        raise ValueError(f"sampler must be one of {', '.join(map(repr, SAMPLERS))}, got {name!r}")
    return SAMPLERS[name]


def check_truncation(name: str, largest: int | None, batch: int) -> None:
    """Check that the largest batch is given if the sampler truncates batches, and only then.

    Raises
    ------
    ValueError
        If it is not.
    """
    truncated = name == "truncated_poisson"
    if truncated and largest is None:
        raise ValueError(
            "truncated_batch_size is missing: it decides how often a batch is truncated; give the size of the accelerator's "
            f"batch, above the average of {batch}"
        )
    if not truncated and largest is not None:
        raise ValueError(
            f"truncated_batch_size is for sampler='truncated_poisson', got sampler={name!r}: leave it out for other samplers"
        )
