"""Releases, relations and assumptions in words that a person who knows no accounting can check."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from logphi.algebra.allocated import Allocated
from logphi.algebra.release import Mechanism, PoissonSampled, SubsetSampled
from logphi.algebra.shuffled import Shuffled
from logphi.algebra.truncated_sample import TruncatedSample
from logphi.inputs.adjacency import Adjacency

_NEIGHBOURS = {
    Adjacency.ADD_REMOVE: "data sets that differ in {unit}, present in one and absent from the other; both orders count",
    Adjacency.ADD: "a data set and the same with {unit} added; only this order counts",
    Adjacency.REMOVE: "a data set and the same with {unit} removed; only this order counts",
    Adjacency.REPLACE: "data sets of the same size that differ in the value of {unit}",
    Adjacency.REPLACE_SPECIAL: "data sets of the same size, in one of which {unit} has the special value 'nothing'",
}


@dataclass(frozen=True)
class Term:
    """One mechanism of a release, in words."""

    count: int
    mechanism: str
    about: str
    sampling: str

    @staticmethod
    def of(one: Mechanism, count: int, unit: str) -> Term:
        """The words for a mechanism that is released so often."""
        base = getattr(one, "base", one) if _kind(one) else one
        about = (type(base).__doc__ or "").strip().partition("\n")[0]
        return Term(count, repr(base), about, _sampling(one, unit))

    def __str__(self) -> str:
        about = f" - {self.about}" if self.about else ""
        return f"{self.count} x {self.mechanism}{about}\n{self.sampling}"


# how the records of one release are drawn, and what is taken for granted of it, by the kind of the release
_KINDS: dict[type, tuple[Callable[[Any, str], str], str]] = {
    PoissonSampled: (
        lambda one, unit: (
            f"each time on a fresh Poisson sample: {unit} takes part with probability {one.rate!r}, "
            f"independently of all others{_at_once(one)}"
        ),
        (
            "That samples are drawn as stated, afresh and in secret each time. Shuffled batches, or batches in a fixed order, "
            "are no Poisson samples, and have no such guarantee. A mean must be divided by the expected size of a sample."
        ),
    ),
    TruncatedSample: (
        lambda one, unit: (
            f"each time on a fresh Poisson sample of {one.dataset_size} records: {unit} is drawn with probability "
            f"{one.rate!r}, independently of all others, and {one.truncated_batch_size} records, drawn uniformly, are kept of "
            "a larger sample"
        ),
        (
            "That samples are drawn and cut off as stated, afresh and in secret each time, and that the number of records is "
            "the stated one. A mean must be divided by a number that does not depend on the sample."
        ),
    ),
    SubsetSampled: (
        lambda one, unit: (
            f"each time on a fresh random subset of fixed size, {one.rate!r} of the data set, drawn without replacement"
        ),
        "That subsets are drawn as stated, uniformly, afresh and in secret each time.",
    ),
    Allocated: (
        lambda one, unit: (
            f"each time on {one.batches} batches: {unit} is in exactly one, drawn uniformly and independently of all others"
        ),
        (
            "That every record is put into one batch as stated, afresh each time and in secret, and by itself: batches of a "
            "shuffled data set are not drawn so. A mean must be divided by the expected size of a batch."
        ),
    ),
    Shuffled: (
        lambda one, unit: (
            f"each time on all {one.batches} batches of a data set that is shuffled afresh: {unit} is in exactly one; counted "
            "on for the upper bounds is no more than that"
        ),
        (
            "That every record is in one batch of an epoch only, and that its place stays empty without it: no other record "
            "moves into another batch."
        ),
    ),
}


def _at_once(one: PoissonSampled) -> str:
    return f"; for a group of {one.group_size} at once" if one.group_size > 1 else ""


def _kind(one: Mechanism) -> tuple[Callable[[Any, str], str], str] | None:
    return next((words for kind, words in _KINDS.items() if isinstance(one, kind)), None)


def _sampling(one: Mechanism, unit: str) -> str:
    kind = _kind(one)
    return kind[0](one, unit) if kind else "each time on all data: no sampling is counted on"


def neighbours(release: Mechanism, unit: str) -> str:
    """Which data sets an attacker is to confuse."""
    return _NEIGHBOURS[release.adjacency].format(unit=_protected(release, unit))


def _protected(release: Mechanism, unit: str) -> str:
    """The unit, or a group of them: the smallest one that a sample is stated for, as larger ones leak more."""
    group = _group(release)
    return unit if group == 1 else f"a group of {group} (each {unit})"


def _group(release: Mechanism) -> int:
    return min((one.group_size for one, _ in release.counted() if isinstance(one, PoissonSampled)), default=1)


def not_checked(release: Mechanism, unit: str, dataset_size: int | None) -> Iterator[str]:
    """What the numbers take for granted."""
    terms = [one for one, _ in release.counted()]
    grouped = _group(release) > 1
    yield (
        f"That {_protected(release, unit)} is all that a person contributes. For a person with more of them, or a "
        f"{'larger ' if grouped else ''}group of people, these numbers do not hold."
    )
    if grouped and not all(isinstance(one, PoissonSampled) for one in terms):
        yield "That what is released without sampling, or of subsets, is stated for the whole group too."
    yield "That every query has the stated sensitivity: contributions really are clipped or bounded, each by itself."
    kinds = dict.fromkeys(kind for one in terms if (kind := _kind(one)))
    yield from (assumed for _, assumed in kinds)
    if release.adjacency is Adjacency.REPLACE_SPECIAL and any(isinstance(one, PoissonSampled) for one in terms):
        yield "That a record which is not in a sample has the very effect there of one with the value 'nothing'."
    yield "That the noise is drawn as stated, is never drawn twice alike, and cannot be predicted or read by anyone."
    yield "That noise which is made of floating-point numbers has the stated law: its last digits may reveal more."
    yield (
        "That nothing else was computed from the data: tuning of hyper-parameters, early stopping, evaluation, and other "
        "releases count only if they are listed."
    )
    yield "That numbers of repetitions, noise and rates were not chosen by looking at what was released before."
    if release.adjacency in (Adjacency.REPLACE, Adjacency.REPLACE_SPECIAL):
        yield "That the size of the data set may be known: it is no secret under this relation."
    else:
        yield "That the size of the data set, where rates or numbers of steps were computed from it, may be known."
    if dataset_size is None:
        yield "That delta is far below one over the number of records, which was not given."
