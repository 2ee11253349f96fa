"""Events of dp-accounting as mechanisms: releases, releases on samples, and compositions of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from dp_accounting import dp_event
from dp_accounting.privacy_accountant import NeighboringRelation

from logphi.adapters.dp_accounting.leaves import Leak, UnreadableEventError, leaves, rate_of
from logphi.adapters.dp_accounting.releases import RELATIONS, Released, release, stated
from logphi.algebra.release import Composition, Mechanism, compose
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency
from logphi.mechanisms.exponential_mechanism import ExponentialMechanism
from logphi.mechanisms.gaussian import Gaussian
from logphi.mechanisms.pure_dp import ApproximateDP, PureDP
from logphi.pairs.pair import UnsupportedError
from logphi.text.written import Written, exact


def adjacency_of(relation: NeighboringRelation) -> Adjacency:
    """The adjacency that a relation of dp-accounting stands for; a TypeError if it is not one of its relations."""
    known = {
        NeighboringRelation.ADD_OR_REMOVE_ONE: Adjacency.ADD_REMOVE,
        NeighboringRelation.REPLACE_ONE: Adjacency.REPLACE,
        NeighboringRelation.REPLACE_SPECIAL: Adjacency.REPLACE_SPECIAL,
    }
    if not isinstance(relation, NeighboringRelation):
        raise TypeError(f"neighboring_relation must be a dp_accounting.NeighboringRelation, got {relation!r}")
    return known[relation]


def mechanism_of(event: Any, neighboring_relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE_ONE) -> Mechanism:
    """The mechanism that an event of dp-accounting describes, under a relation between data sets.

    Parameters
    ----------
    event
        A ``dp_accounting.DpEvent``, composed and sampled to any depth.
    neighboring_relation
        The ``dp_accounting.NeighboringRelation`` of the guarantee. Noise multipliers are relative to the norm of a record's
        contribution, so that under ``REPLACE_ONE`` the sensitivity is twice that norm.

    Raises
    ------
    UnsupportedError
        If no pair is known under the relation for the event or one of its parts, or the event is not private at all.

    Examples
    --------
    >>> from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent, SelfComposedDpEvent
    >>> mechanism_of(SelfComposedDpEvent(PoissonSampledDpEvent(0.01, GaussianDpEvent(1.1)), 1000))
    1000 * Gaussian(sigma=1.1).poisson(0.01)
    """
    adjacency = adjacency_of(neighboring_relation)
    terms = read(event, adjacency)
    if terms is None:
        raise UnsupportedError("the event is not private: it has no privacy loss that could be composed")
    return composed(terms, adjacency)


def composed(terms: Mapping[Mechanism, int], adjacency: Adjacency) -> Mechanism:
    """The composition of counted mechanisms, possibly empty."""
    return 1 * Composition(tuple(terms.items()), adjacency)


def read(event: Any, relation: Adjacency) -> Counter[Mechanism] | None:
    """The mechanisms of an event under a relation, with counts; None if a part of it is not private.

    Raises an UnreadableEventError if some part of the event is not supported.
    """
    terms: Counter[Mechanism] = Counter()
    private = True
    for leaf, count in leaves(event):
        try:
            found = _MADE.get(type(leaf), release)(leaf, relation)
        except UnreadableEventError:
            raise
        except (TypeError, ValueError, OverflowError) as error:
            raise UnreadableEventError(leaf, str(error)) from error
        if isinstance(found, Mechanism):
            for one, own in found.counted():
                terms[one] += own * count
        elif found is Leak.EVERYTHING:
            private = False
    return terms if private else None


def _poisson(event: Any, relation: Adjacency) -> Released:
    """A Poisson sample; a Poisson sample of a Poisson sample is one whose rate is the product."""
    rate, inner = rate_of(event), [(event.event, 1)]
    while True:
        inner = [leaf for one, count in inner for leaf in leaves(one, count) if type(leaf[0]) is not dp_event.NoOpDpEvent]
        if len(inner) != 1 or inner[0][1] != 1 or type(inner[0][0]) is not dp_event.PoissonSampledDpEvent:
            break
        rate, inner = Written(exact(rate) * exact(rate_of(inner[0][0]))), [(inner[0][0].event, 1)]
    special = relation is Adjacency.REPLACE_SPECIAL
    base = _one(event, inner, relation if special else Adjacency.ADD_REMOVE, relation)
    if isinstance(base, Mechanism) and not all(isinstance(one, Gaussian) for one, _ in base.counted()):
        stated(event, relation, Adjacency.ADD_REMOVE, Adjacency.REPLACE_SPECIAL)
    if not rate or isinstance(base, Leak):
        return base if rate else Leak.NOTHING
    return base.poisson(rate, adjacency=relation)


def _subset(event: Any, relation: Adjacency) -> Released:
    """A sample of fixed size without replacement; under add/remove the size of the data set includes the record."""
    size = check.count("source_dataset_size", event.source_dataset_size)
    rate = Written(Fraction(check.whole("sample_size", event.sample_size, 0, size), max(size, 1)))
    base = _one(event, list(leaves(event.event)), Adjacency.REPLACE, relation)
    if not rate or isinstance(base, Leak):
        return base if rate else Leak.NOTHING
    return base.subset(rate, adjacency=relation)


_SAMPLES: dict[type, Callable[[Any, Adjacency], Released]] = {
    dp_event.PoissonSampledDpEvent: _poisson,
    dp_event.SampledWithoutReplacementDpEvent: _subset,
}


def _selected(event: Any, relation: Adjacency) -> Released:
    """The best of a random number of runs."""
    if any(type(leaf) is dp_event.RepeatAndSelectDpEvent for leaf, _ in leaves(event.event)):
        raise UnreadableEventError(event, "the best of several runs is repeated here itself, of which no good pair is known")
    terms = read(event.event, relation)
    if terms is None:
        return Leak.EVERYTHING
    return composed(terms, relation).repeat_and_select(event.mean, event.shape) if terms else Leak.NOTHING


# mechanisms given by an epsilon under one relation, not by the sensitivity of a query
_GUARANTEES = (ApproximateDP, ExponentialMechanism, PureDP)
_MADE: dict[type, Callable[[Any, Adjacency], Released]] = {**_SAMPLES, dp_event.RepeatAndSelectDpEvent: _selected}


def _one(event: Any, inner: list[tuple[Any, int]], base: Adjacency, relation: Adjacency) -> Released:
    """All events on one sample, composed to one mechanism."""
    for leaf, _ in inner:
        if type(leaf) in _SAMPLES:
            raise UnreadableEventError(
                event, f"no pair of a sample of a sample is known here, got a {type(leaf).__name__} inside a sample"
            )
    found = [(_inside(leaf, base, relation), count) for leaf, count in inner]
    if any(one is Leak.EVERYTHING for one, _ in found):
        return Leak.EVERYTHING
    terms = [(own, n * count) for one, count in found if isinstance(one, Mechanism) for own, n in one.counted()]
    if not terms:
        return Leak.NOTHING
    if base is not relation and any(isinstance(one, _GUARANTEES) for one, _ in terms):
        raise UnreadableEventError(event, f"a guarantee under {relation.value!r} implies nothing for its mechanism on a sample")
    return compose([count * one for one, count in terms])


def _inside(event: Any, base: Adjacency, relation: Adjacency) -> Released:
    """One release on the sample, under the relation that the sampling theorem requires of the base."""
    try:
        return release(event, base)
    except UnreadableEventError as error:
        if base is relation:
            raise
        raise UnreadableEventError(
            error.event, f"{error}; under `{RELATIONS[relation]}` this sample needs it under `{RELATIONS[base]}`"
        ) from error
