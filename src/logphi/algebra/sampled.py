"""A mechanism on a random sample of the records: a Poisson sample, or a subset of fixed size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from logphi.algebra.batches import truncated
from logphi.algebra.families import Representative
from logphi.algebra.family import Family
from logphi.algebra.hulls import sampled_family
from logphi.algebra.operations import done_by
from logphi.algebra.parametric import Parametric, symbolic
from logphi.algebra.parametric import poisson as symbolic_poisson
from logphi.algebra.release import Mechanism, Primitive, operand
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency, AdjacencyLike
from logphi.inputs.arguments import Real, RealLike, Scalar, Whole, frozen
from logphi.laws.log_phi import LogPhi
from logphi.pairs.pair import Pair, UnsupportedError
from logphi.sampling.poisson import one_pair_of_poisson, poisson_relation
from logphi.sampling.poisson import poisson as poisson_law
from logphi.sampling.subset import meeting, subset_relation
from logphi.sampling.subset import subset as subset_law
from logphi.text.description import node
from logphi.text.written import Written, meant

# measured: the binomial weights of larger groups take long to sum over
LARGEST_GROUP = 1000


@frozen
class PoissonSampled(Representative, Primitive):
    """A mechanism on a Poisson sample; made by :meth:`Mechanism.poisson`."""

    base: Mechanism
    rate: Real
    group_size: Whole
    adjacency: Adjacency

    def __post_init__(self) -> None:
        size = check.whole("group_size", self.group_size, 1, LARGEST_GROUP)
        self._settle(rate=check.probability("rate", self.rate), group_size=size)
        self.loss_law()

    def family(self) -> Family | None:
        """That of the base, sampled."""
        return sampled_family(self, self.base, lambda base: type(self)(base, self.rate, self.group_size, self.adjacency))

    def loss_law(self) -> LogPhi:
        """By the pair of the base."""
        return poisson_law(self.base.pair(), self.rate, self.group_size, self.adjacency)

    def pair(self) -> Pair:
        """Known by its loss, for one record.

        Raises
        ------
        UnsupportedError
            For a group of records: those would be drawn together, and not each by itself.
        """
        if self.group_size > 1:
            raise UnsupportedError(
                f"a sample of a group of {self.group_size} records cannot be sampled again: each record is drawn by itself "
                "both times; give group_size to the outer sample alone"
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

    def _grouped(self, size: int) -> Mechanism:
        return type(self)(self.base, self.rate, self.group_size * size, self.adjacency)

    def _uncertified(self) -> str:
        return self.base._uncertified()

    def _data(self, write: Callable[[str, Any], Any]) -> dict[str, Any]:
        return node("poisson", self.adjacency.value, self._drawn(), write, self.base._data(write))

    def _drawn(self) -> dict[str, Any]:
        return {"rate": self.rate, "group_size": self.group_size}

    def _numbers(self) -> Iterator[float]:
        return chain([self.rate], self.base._numbers())


class PoissonOnePair(PoissonSampled):
    """A mechanism on a Poisson sample, by one pair for both orders; made by :meth:`Mechanism.poisson`."""

    def loss_law(self) -> LogPhi:
        """By the spliced pair of the base."""
        return one_pair_of_poisson(self.base.pair(), self.rate, self.group_size, self.adjacency)

    def _text(self, spell: Callable[[Any], str]) -> str:
        return f"{operand(self.base, spell)}.poisson({spell(self.rate)}, one_pair=True)"

    def _uncertified(self) -> str:
        return "certificates do not know one pair for both orders: leave one_pair out, which is sharper too"

    def _drawn(self) -> dict[str, Any]:
        return {**super()._drawn(), "one_pair": True}


@frozen
class SubsetSampled(Representative, Primitive):
    """A mechanism on a subset of fixed size; made by :meth:`Mechanism.subset`."""

    base: Mechanism
    rate: Real
    adjacency: Adjacency

    def __post_init__(self) -> None:
        self._settle(rate=check.probability("rate", self.rate))
        self.loss_law()

    def family(self) -> Family | None:
        """That of the base, sampled."""
        return sampled_family(self, self.base, lambda base: type(self)(base, self.rate, self.adjacency))

    def loss_law(self) -> LogPhi:
        """By the pair of the base."""
        return subset_law(self.base.pair(), self.rate, self.adjacency)

    def _text(self, spell: Callable[[Any], str]) -> str:
        return f"{operand(self.base, spell)}.subset({spell(self.rate)}, adjacency={self.adjacency.value!r})"

    def _grouped(self, size: int) -> Mechanism:
        return self.base.group(size).subset(meeting(self.rate, size), adjacency=self.adjacency)

    def _uncertified(self) -> str:
        return self.base._uncertified()

    def _data(self, write: Callable[[str, Any], Any]) -> dict[str, Any]:
        return node("subset", self.adjacency.value, {"rate": self.rate}, write, self.base._data(write))

    def _numbers(self) -> Iterator[float]:
        return chain([self.rate], self.base._numbers())


@done_by
def poisson(
    base: Mechanism,
    rate: RealLike,
    group_size: Scalar,
    adjacency: AdjacencyLike | None,
    one_pair: bool,
    truncated_batch_size: Scalar | None,
    dataset_size: Scalar | None,
) -> Mechanism:
    """See :meth:`Operations.poisson`."""
    sizes = {"truncated_batch_size": truncated_batch_size, "dataset_size": dataset_size}
    if symbolic(rate):
        cut = {name: size for name, size in sizes.items() if size is not None}
        options = {"group_size": group_size, "adjacency": adjacency, "one_pair": one_pair, **cut}
        return Parametric.of(symbolic_poisson, (base, rate), options)  # type: ignore[return-value]
    relation = poisson_relation(base.adjacency, None if adjacency is None else Adjacency.of(adjacency))
    if any(size is not None for size in sizes.values()):
        return truncated(base, rate, relation, group_size=group_size, one_pair=one_pair, **sizes)
    kind = PoissonOnePair if check.flag("one_pair", one_pair) else PoissonSampled
    return kind(base, rate, group_size, relation)


@done_by
def subset(base: Mechanism, rate: Scalar, adjacency: AdjacencyLike) -> Mechanism:
    """See :meth:`Operations.subset`."""
    return SubsetSampled(base, rate, subset_relation(base.adjacency, Adjacency.of(adjacency)))
