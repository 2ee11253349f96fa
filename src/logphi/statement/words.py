"""Releases, neighbouring relations and assumptions as sentences, for readers who do not know privacy accounting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from logphi.algebra.release import Mechanism
from logphi.inputs.adjacency import Adjacency

_NEIGHBOURS = {
    Adjacency.ADD_REMOVE: "data sets that differ in {unit}, present in one and absent from the other; both directions count",
    Adjacency.ADD: "a data set and the same with {unit} added; only this direction counts",
    Adjacency.REMOVE: "a data set and the same with {unit} removed; only this direction counts",
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
        """The words for a mechanism that is released ``count`` times."""
        base = one._parts()[0] if one._sampling(unit) else one
        about = (type(base).__doc__ or "").strip().partition("\n")[0]
        samplings = dict.fromkeys(text for part in _within(one) if (text := part._sampling(unit)))
        return Term(count, repr(base), about, "; ".join(samplings) or "each time on all data: no sampling is counted on")

    def __str__(self) -> str:
        about = f" - {self.about}" if self.about else ""
        return f"{self.count} x {self.mechanism}{about}\n{self.sampling}"


def _within(release: Mechanism) -> Iterator[Mechanism]:
    """The terms of a release, and those of all mechanisms that they are made of."""
    for one, _ in release.counted():
        yield one
        for part in one._parts():
            yield from _within(part)


def neighbours(release: Mechanism, unit: str) -> str:
    """Which data sets are neighbours, in words."""
    return _NEIGHBOURS[release.adjacency].format(unit=_protected(release, unit))


def _protected(release: Mechanism, unit: str) -> str:
    """The unit, or the smallest group of units that a sample states: larger groups leak more."""
    group = _group(release)
    return unit if group == 1 else f"a group of {group} (each {unit})"


def _group(release: Mechanism) -> int:
    return min((group for one, _ in release.counted() if (group := one._stated_group)), default=1)


def not_checked(release: Mechanism, unit: str, dataset_size: int | None) -> Iterator[str]:
    """What the numbers assume without a check."""
    grouped = _group(release) > 1
    yield (
        f"That {_protected(release, unit)} is all that a person contributes. For a person with more of them, or a "
        f"{'larger ' if grouped else ''}group of people, these numbers do not hold."
    )
    if grouped and any(one._stated_group is None for one, _ in release.counted()):
        yield "That what is released without sampling, or of subsets, is stated for the whole group too."
    yield "That every query has the stated sensitivity: contributions really are clipped or bounded, each by itself."
    yield from dict.fromkeys(assumption for one in _within(release) for assumption in one._assumptions())
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
