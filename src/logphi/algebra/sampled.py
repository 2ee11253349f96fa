"""A mechanism on a random sample of the records: a Poisson sample, or a subset of fixed size."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

from logphi.algebra.attacks import attacks
from logphi.algebra.batches import truncated
from logphi.algebra.enclosed import Enclosed, Ends
from logphi.algebra.families import Representative
from logphi.algebra.family import Family
from logphi.algebra.group_bound import bound_of_group
from logphi.algebra.hulls import sampled_family
from logphi.algebra.on_samples import OnSamples
from logphi.algebra.one_sample import finite_ends, has_finite_ends, has_sharp_loss, is_resolved, variance_of
from logphi.algebra.operations import done_by
from logphi.algebra.parametric import Parametric, symbolic
from logphi.algebra.parametric import poisson as symbolic_poisson
from logphi.algebra.release import Mechanism, operand
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency, AdjacencyLike
from logphi.inputs.arguments import Real, RealLike, Scalar, Whole, frozen
from logphi.laws.log_phi import LogPhi
from logphi.pairs.pair import Pair, UnsupportedError
from logphi.sampling.poisson import one_pair_of_poisson, poisson_relation
from logphi.sampling.poisson import poisson as poisson_law
from logphi.sampling.subset import meeting, subset_relation
from logphi.sampling.subset import subset as subset_law
from logphi.text.written import Written, meant

# measured: the binomial weights of larger groups take long to sum over
LARGEST_GROUP = 1000


class EnclosedSamples(Enclosed, Representative, OnSamples):
    """A mechanism on samples, between the samples of the ends of its base: sampling keeps the order of pairs."""

    rate: Real

    def family(self) -> Family | None:
        """That of the base, sampled."""
        return sampled_family(self, self.base, self._on)

    @property
    def _enclosed(self) -> bool:
        return self._base_enclosed or has_finite_ends(self.base)

    @property
    def _base_enclosed(self) -> bool:
        return isinstance(self.base, Enclosed) and self.base._enclosed

    @property
    def _need_not_attain(self) -> bool:
        return self.base._need_not_attain

    def _attacks(self, *, sampled: bool = False) -> list[Mechanism]:
        return [self._on(one) for one in attacks(self.base, sampled=True)]

    @property
    def _loss_is_proved(self) -> bool:
        return not self._base_enclosed

    def _loss_is_sharp(self, count: int = 1, whole: LogPhi | None = None) -> bool:
        if self._base_enclosed or not has_sharp_loss(self.base, count * self.rate):
            return False
        own = self.loss_law()
        return is_resolved(own, count, count * variance_of(own) if whole is None else variance_of(whole))

    def _answering(self) -> Ends | None:
        # one sample of a base whose loss is proved has a closed form
        return self.ends() if self._base_enclosed else None

    def ends(self) -> Ends | None:
        """The ends of the base, sampled."""
        found = self.base.ends() if isinstance(self.base, Enclosed) and self.base._enclosed else None
        if found is None and has_finite_ends(self.base):
            found = finite_ends(self.base)
        try:
            return found and (self._on(found[0]), self._on(found[1]))
        except UnsupportedError:
            return None

    @abstractmethod
    def _on(self, base: Mechanism) -> Mechanism:
        """Another base on the same samples."""


@frozen
class PoissonSampled(EnclosedSamples):
    """A mechanism on a Poisson sample; made by :meth:`Mechanism.poisson`."""

    base: Mechanism
    rate: Real
    group_size: Whole
    adjacency: Adjacency
    _operation = "poisson"

    def __post_init__(self) -> None:
        size = check.whole("group_size", self.group_size, 1, LARGEST_GROUP)
        self._settle(rate=check.rate(self.rate), group_size=size)
        self.loss_law()

    def loss_law(self) -> LogPhi:
        """By the pair of the base."""
        return poisson_law(self.base.pair(), self.rate, self.group_size, self.adjacency)

    def pair(self) -> Pair:
        """The pair for one record, known by its loss.

        Raises
        ------
        UnsupportedError
            For a group of records, which another sample would draw as one, and not independently.
        """
        if self.group_size > 1:
            raise UnsupportedError(
                f"a sample for a group of {self.group_size} records cannot be sampled again, as each record is drawn "
                "independently both times; give group_size to the outer sample alone"
            )
        return super().pair()

    def poisson(self, rate: RealLike, *, adjacency: AdjacencyLike | None = None, **options: Any) -> Mechanism:
        """The base on a sample of a sample: a Poisson sample with the product of the rates."""
        if self.group_size > 1 or symbolic(rate):
            return super().poisson(rate, adjacency=adjacency, **options)
        relation = poisson_relation(self.adjacency, None if adjacency is None else Adjacency.of(adjacency))
        product = Written(meant(self.rate) * meant(check.unit("rate", rate)))
        return self.base.poisson(product, adjacency=relation, **options)

    def _text(self, spell: Callable[[Any], str]) -> str:
        group = f", group_size={self.group_size}" if self.group_size > 1 else ""
        relation = "" if self.adjacency is self.base.adjacency else f", adjacency={self.adjacency.value!r}"
        return f"{operand(self.base, spell)}.poisson({spell(self.rate)}{group}{relation})"

    def _on(self, base: Mechanism) -> Mechanism:
        return type(self)(base, self.rate, self.group_size, self.adjacency)

    def _grouped(self, size: int) -> Mechanism:
        return type(self)(self.base, self.rate, self.group_size * size, self.adjacency)

    def _drawn(self) -> dict[str, Any]:
        return {"rate": self.rate, "group_size": self.group_size}

    @property
    def _stated_group(self) -> int:
        return self.group_size

    def _sampling(self, unit: str) -> str:
        group = f"; for a group of {self.group_size} at once" if self.group_size > 1 else ""
        return (
            f"each time on a fresh Poisson sample: {unit} takes part with probability {self.rate!r}, independently of all "
            f"others{group}"
        )

    def _assumptions(self) -> Iterator[str]:
        yield (
            "That samples are drawn as stated, afresh and in secret each time. Shuffled batches, or batches in a fixed order, "
            "are not Poisson samples, and have no such guarantee. A mean must be divided by the expected size of a sample."
        )
        if self.adjacency is Adjacency.REPLACE_SPECIAL:
            yield "That a record which is not in a sample has the same effect there as one with the value 'nothing'."


class PoissonOnePair(PoissonSampled):
    """A mechanism on a Poisson sample, with one pair for both directions; made by :meth:`Mechanism.poisson`."""

    def loss_law(self) -> LogPhi:
        """By the spliced pair of the base."""
        return one_pair_of_poisson(self.base.pair(), self.rate, self.group_size, self.adjacency)

    def _text(self, spell: Callable[[Any], str]) -> str:
        return f"{operand(self.base, spell)}.poisson({spell(self.rate)}, one_pair=True)"

    def _uncertified(self) -> str:
        return "certificates do not know one pair for both directions: leave one_pair out, which is also sharper"

    def _drawn(self) -> dict[str, Any]:
        return {**super()._drawn(), "one_pair": True}


class CyclicPoissonSampled(PoissonSampled):
    """A mechanism on a Poisson sample of one of several parts of the records, taken in turn; made by :meth:`Mechanism.poisson`.

    For one record it is a Poisson sample like any other. The records of a group may be in several parts, and the steps of a
    banded run in which they take part may depend on each other. As the noise N(0, s^2) is the sum of k independent
    N(0, s^2 / k), each of k records is given a run of its own with one of these. The release is the sum of the k runs, so that
    their composition is an upper bound.
    """

    def poisson(self, rate: RealLike, *, adjacency: AdjacencyLike | None = None, **options: Any) -> Mechanism:
        """The base on a sample of a sample, with the same parts."""
        return super().poisson(rate, adjacency=adjacency, **{**options, "cyclic": True})

    def _grouped(self, size: int) -> Mechanism:
        return bound_of_group(size * type(self)(self.base._share(size), self.rate, self.group_size, self.adjacency))

    def _text(self, spell: Callable[[Any], str]) -> str:
        return f"{super()._text(spell)[:-1]}, cyclic=True)"

    def _drawn(self) -> dict[str, Any]:
        return {**super()._drawn(), "cyclic": True}

    def _node(self) -> dict[str, Any]:
        """For certificates, which are about one record: the data of a Poisson sample."""
        return PoissonSampled(self.base, self.rate, self.group_size, self.adjacency)._node()

    def _sampling(self, unit: str) -> str:
        return (
            f"each time on a fresh Poisson sample of the part whose turn it is: {unit} belongs to one part, and when its turn "
            f"comes it is drawn with probability {self.rate!r}, independently of all others"
        )

    def _assumptions(self) -> Iterator[str]:
        yield from super()._assumptions()
        yield "That a record stays in its part, whatever other records there are."


@frozen
class SubsetSampled(EnclosedSamples):
    """A mechanism on a subset of fixed size; made by :meth:`Mechanism.subset`."""

    base: Mechanism
    rate: Real
    adjacency: Adjacency
    _operation = "subset"

    def __post_init__(self) -> None:
        self._settle(rate=check.rate(self.rate))
        self.loss_law()

    def loss_law(self) -> LogPhi:
        """By the pair of the base."""
        return subset_law(self.base.pair(), self.rate, self.adjacency)

    def _text(self, spell: Callable[[Any], str]) -> str:
        return f"{operand(self.base, spell)}.subset({spell(self.rate)}, adjacency={self.adjacency.value!r})"

    def _on(self, base: Mechanism) -> Mechanism:
        return type(self)(base, self.rate, self.adjacency)

    def _grouped(self, size: int) -> Mechanism:
        return bound_of_group(self.base.group(size).subset(meeting(self.rate, size), adjacency=self.adjacency))

    def _drawn(self) -> dict[str, Any]:
        return {"rate": self.rate}

    def _sampling(self, unit: str) -> str:
        return f"each time on a fresh random subset of fixed size, {self.rate!r} of the data set, drawn without replacement"

    def _assumptions(self) -> Iterator[str]:
        yield "That subsets are drawn as stated, uniformly, afresh and in secret each time."


@done_by
def poisson(
    base: Mechanism,
    rate: RealLike,
    group_size: Scalar,
    adjacency: AdjacencyLike | None,
    one_pair: bool,
    truncated_batch_size: Scalar | None,
    dataset_size: Scalar | None,
    cyclic: bool,
) -> Mechanism:
    """See :meth:`Operations.poisson`."""
    sizes = {"truncated_batch_size": truncated_batch_size, "dataset_size": dataset_size}
    if symbolic(rate):
        given = {name: size for name, size in sizes.items() if size is not None}
        options = {"group_size": group_size, "adjacency": adjacency, "one_pair": one_pair, "cyclic": cyclic, **given}
        return Parametric.of(symbolic_poisson, (base, rate), options)  # type: ignore[return-value]
    relation = poisson_relation(base.adjacency, None if adjacency is None else Adjacency.of(adjacency))
    if check.flag("cyclic", cyclic):
        if group_size != 1 or one_pair is not False or any(size is not None for size in sizes.values()):
            raise UnsupportedError(
                "cyclic is for one record, a pair for each order, and batches that are not truncated: leave group_size, "
                "one_pair and truncated_batch_size out, and ask for m.group(k)"
            )
        return CyclicPoissonSampled(base, rate, 1, relation)
    if any(size is not None for size in sizes.values()):
        return truncated(base, rate, relation, group_size=group_size, one_pair=one_pair, **sizes)
    kind = PoissonOnePair if check.flag("one_pair", one_pair) else PoissonSampled
    return kind(base, rate, group_size, relation)


@done_by
def subset(base: Mechanism, rate: Scalar, adjacency: AdjacencyLike) -> Mechanism:
    """See :meth:`Operations.subset`."""
    return SubsetSampled(base, rate, subset_relation(base.adjacency, Adjacency.of(adjacency)))
