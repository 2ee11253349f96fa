"""What a user holds: immutable mechanisms that compose by addition; the questions they answer are in their base class.

The file is longer than others because its classes make one another: a mechanism composes to a composition and is sampled to a
sampled mechanism, each of which is a mechanism.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import add
from typing import Any, ClassVar

from logphi.algebra import batches, certification, runs
from logphi.algebra.constructor import Constructed
from logphi.algebra.families import Family, Picked, sampled_family
from logphi.algebra.parametric import Parametric, symbolic
from logphi.algebra.parametric import poisson as sampled
from logphi.algebra.serializable import Serializable
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency, AdjacencyLike
from logphi.inputs.arguments import Real, RealLike, Scalar, Whole, frozen
from logphi.inputs.guesses import Guided, guided
from logphi.laws.log_phi import LogPhi
from logphi.pairs.extremes import known_by, product
from logphi.pairs.pair import Pair, UnsupportedError
from logphi.progress import shown
from logphi.sampling.group import LARGEST_SIZE, refusal
from logphi.sampling.poisson import one_pair_of_poisson, poisson, poisson_relation
from logphi.sampling.subset import meeting, subset, subset_relation
from logphi.text.description import canonical, composition_node, manner, node
from logphi.text.spelling import is_foreign, short
from logphi.text.written import Written, exactly, meant

# measured: the binomial weights of larger groups take long to sum over
LARGEST_GROUP = 1000


class Mechanism(Guided, Serializable, Picked):
    """A release about a data set, held by the log-phi of its privacy loss.

    ``m1 + m2`` composes (adaptively too, [AFA] Theorem 10), ``n * m`` is n-fold composition. Mechanisms stated under
    different relations do not compose.

    Notes
    -----
    Guarantees: ``epsilon``, ``delta``, ``log_delta``, ``pdp_epsilon``, ``pdp_delta``, ``zcdp``.
    Curves and divergences: ``tradeoff``, ``inverse_tradeoff``, ``hockey_stick``, ``renyi``, ``renyi_orders``,
    ``kl_divergence``, ``max_divergence``.
    Laws: ``loss``, ``dual_loss``, ``unit_pair``, ``phi``, ``log_phi``. Attacks: ``risk``. Proofs: ``explain``, ``certify``.
    Composition: ``m1 + m2``, ``n * m``. Sampling: ``poisson``, ``subset``. Batches: ``allocation``, ``shuffled``,
    ``fixed_order``.
    Tuning: ``repeat_and_select``.
    Data sets: ``adjacency``, ``group``.
    Text: ``str(m)``, which :func:`logphi.parse` reads, and ``to_json``, which :func:`logphi.from_json` reads.
    """

    # for those who write a mechanism of their own
    _unlisted = frozenset({"loss_law", "pair", "counted", "tree", "family"})
    # whether only bounds by different means are known of it
    _bracketed: ClassVar[bool] = False
    # NumPy's numbers leave ``*`` to the mechanism, and its arrays get the refusal
    __array_ufunc__ = None

    @abstractmethod
    def counted(self) -> tuple[tuple[Mechanism, int], ...]:
        """The distinct mechanisms that this one is composed of, with their counts."""

    certify = certification.certify
    allocation = batches.allocation
    shuffled = batches.shuffled
    fixed_order = batches.fixed_order
    repeat_and_select = runs.repeat_and_select

    def tree(self) -> list[tuple[int, dict[str, Any]]]:
        """Counts and distinct mechanisms as plain data: names, relations and exact parameters, in one order.

        Raises
        ------
        ValueError
            If a mechanism is not of the catalogue, or a parameter is not a number.
        """
        counts, nodes = Counter[str](), dict[str, dict[str, Any]]()
        for one, count in self.counted():
            described = one._node()
            key = canonical(described)
            # a float and the decimal that it stands for are one number
            counts[key] += count
            nodes[key] = described
        return [(counts[key], nodes[key]) for key in sorted(counts)]

    @guided()
    def group(self, size: Scalar) -> Mechanism:
        """The release as a group of records sees it that all change together, as one record does under the relation.

        P is the output with the whole group, Q without it; under ``"replace"`` all of the group take other values. What each
        mechanism makes of a group, and why, is in :mod:`logphi.sampling.group`: a query has ``size`` times the sensitivity,
        every record of a Poisson sample is drawn by itself, randomized responses are ``size`` responses, each release of a
        composition is that of its group.

        Ask for the group last: ``m.poisson(rate).group(size)`` draws each record, ``m.group(size).poisson(rate)`` draws the
        whole group by one coin.

        Parameters
        ----------
        size
            Number of records, 1 or more.

        Returns
        -------
        Mechanism
            Under the same relation.

        Raises
        ------
        ValueError, TypeError
            If the size is no such number, or the pair of one record does not determine that of several: the message names a
            bound that holds.

        Examples
        --------
        >>> import logphi as lp
        >>> (3 * lp.Gaussian(sigma=5) + lp.RandomizedResponse(p=0.6)).group(4)
        3 * Gaussian(sigma=5.0, sensitivity=4.0) + 4 * RandomizedResponse(p=0.6)
        """
        number = check.whole("size", size, 1, LARGEST_SIZE)
        return self if number == 1 else self._grouped(number)

    def _grouped(self, size: int) -> Mechanism:
        raise refusal(type(self).__name__, size)

    def _manner(self) -> str:
        """How the parameters are known: ``"as written"``, or ``"floats as their shortest decimals"``.

        Raises
        ------
        ValueError
            If different numbers have the same double, or listed probabilities do not sum to one exactly.
        """
        return manner(number for one, _ in self.counted() for number in one._numbers())

    def _numbers(self) -> Iterator[float]:
        """The parameters that are numbers, checked as they are read."""
        return iter(())

    @property
    def _reveals_all(self) -> bool:
        """Whether every output tells everything."""
        return self.loss_law().empty

    def pair(self) -> Pair:
        """The dominating pair, which sampling mixes: the product of those of all releases, which see one sample together."""
        return product(one.pair().repeated(count) for one, count in self.counted())

    def __add__(self, other: Mechanism) -> Mechanism:
        if not isinstance(other, Mechanism):
            return NotImplemented
        return compose([self, other])

    def __mul__(self, count: RealLike) -> Mechanism:
        if symbolic(count):
            return count * (Parametric(()) + self)  # type: ignore[no-any-return]
        return _collect(
            self.adjacency,
            [(one, own * check.count("the number of repetitions", count)) for one, own in self.counted()],
        )

    __rmul__ = __mul__

    def __radd__(self, other: object) -> Mechanism:
        """``sum(mechanisms)`` begins with zero."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    @guided()
    def poisson(
        self,
        rate: RealLike,
        *,
        group_size: Scalar = 1,
        adjacency: AdjacencyLike | None = None,
        one_pair: bool = False,
        truncated_batch_size: Scalar | None = None,
        dataset_size: Scalar | None = None,
    ) -> Mechanism:
        """The mechanism on a fresh Poisson sample: every record takes part with probability ``rate``.

        Rate 0 leaks nothing, rate 1 is the identity ([AFA] Theorem 11.1, [PLD] section 4). Under ``"replace_special"`` a
        record outside the sample counts as one of the value "nothing". Fixed-size, shuffled or fixed-order batches are not
        Poisson samples and get no such amplification; those that are cut off at ``truncated_batch_size`` leak more.

        All releases of a composition see *one* sample: ``(a + b).poisson(q)`` leaks more than ``a.poisson(q) + b.poisson(q)``,
        which draws two. Gaussians on one sample are one Gaussian, and finite mechanisms one finite mechanism as long as that is
        small; all others are sampled by the transform of their loss. A sample of a sample is one with the product of the rates.

        Parameters
        ----------
        rate
            Sampling rate in [0, 1].
        group_size
            How many records differ, each of which takes part by itself: 1 or more; above 1 for the Gaussian.
        adjacency
            The relation of the result; that of the base by default. ``"replace"`` for the Gaussian.
        one_pair
            Whether one pair is to dominate both orders of add/remove ([AFA] Corollary 32). Without it each order has its own
            pair, which is never worse and better under composition.
        truncated_batch_size
            Of a sample with more records, so many are kept, drawn uniformly; all of it by default. For the Gaussian, an upper
            bound (:mod:`logphi.sampling.truncated_poisson`).
        dataset_size
            How many records there are, of which the cut depends: a public number. Where neighbours differ in size, that of the
            larger one.

        Returns
        -------
        Mechanism
            One release of a sample.

        Raises
        ------
        ValueError, TypeError
            If a parameter is outside its range, the base is stated under replace, or no pair is known.

        Examples
        --------
        >>> import logphi as lp
        >>> round((1000 * lp.Gaussian(sigma=1).poisson(0.01)).epsilon(1e-5).value, 9)
        1.828236667
        """
        sizes = {"truncated_batch_size": truncated_batch_size, "dataset_size": dataset_size}
        if symbolic(rate):
            cut = {name: size for name, size in sizes.items() if size is not None}
            options = {"group_size": group_size, "adjacency": adjacency, "one_pair": one_pair, **cut}
            return Parametric.of(sampled, (self, rate), options)  # type: ignore[return-value]
        relation = poisson_relation(self.adjacency, None if adjacency is None else Adjacency.of(adjacency))
        if any(size is not None for size in sizes.values()):
            return batches.truncated(self, rate, relation, group_size=group_size, one_pair=one_pair, **sizes)
        kind = PoissonOnePair if check.flag("one_pair", one_pair) else PoissonSampled
        return kind(self, rate, group_size, relation)

    @guided("m.subset(size / dataset_size, adjacency=...), whose rate is the size of the subset over that of the data set")
    def subset(self, rate: Scalar, *, adjacency: AdjacencyLike) -> Mechanism:
        """The mechanism on a fresh uniformly random subset of fixed size, drawn without replacement.

        Rate 0 leaks nothing. The base must be stated under replace ([AFA] Theorem 11.2, Corollary 32).

        Parameters
        ----------
        rate
            Size of the subset over that of the data set, in [0, 1].
        adjacency
            The relation of the result: ``"add_remove"``, ``"add"``, ``"remove"`` or ``"replace"``.

        Returns
        -------
        Mechanism
            One release of a subset.

        Raises
        ------
        ValueError, TypeError
            If the rate is outside [0, 1], the base is not stated under replace, or no pair is known.

        Examples
        --------
        >>> import logphi as lp
        >>> base = lp.Gaussian(sigma=1, sensitivity=2, adjacency="replace")
        >>> round((100 * base.subset(0.01, adjacency="add_remove")).epsilon(1e-5).value, 9)
        6.476210004
        """
        return SubsetSampled(self, rate, subset_relation(self.adjacency, Adjacency.of(adjacency)))


class Primitive(Constructed, Mechanism):
    """A mechanism that is not composed of others: the base of every class of the catalogue, and of a user's own.

    A subclass is a frozen dataclass (``repr=False``) whose fields are its parameters, ``adjacency`` the last. It defines
    ``pair()``, from which its loss and its samples follow, or ``loss_law()`` where no pair is known; where it defines both,
    they have one loss. ``counted()`` and ``tree()`` follow. It may check its parameters in ``__post_init__``, which then calls
    this one.
    """

    # whether one formula of log-phi holds for all parameters, so that they may be symbols
    _one_formula: ClassVar[bool] = False
    # why nobody else could rebuild it from its parameters
    _undescribed: ClassVar[str] = ""
    # the parameter that is k times as large for a group of k records
    _grows: ClassVar[str] = ""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if cls.__doc__:
            # help() lists the questions first
            _, title, questions = inspect.cleandoc(Mechanism.__doc__ or "").partition("Notes\n-----\n")
            cls.__doc__ = f"{inspect.cleandoc(cls.__doc__)}\n\n{title}{questions}\n"
        # a dataclass would silently take the method for the default of the field
        taken = sorted(name for name in inspect.get_annotations(cls) if name[0] != "_" and hasattr(Mechanism, name))
        if taken:
            raise TypeError(f"a parameter of {cls.__name__} is called {taken[0]!r}, which is a question: choose another name")

    def __new__(cls, *arguments: Any, **keywords: Any) -> Any:
        """The instance; a release with symbols where an argument is one."""
        made = super().__new__(cls, *arguments, **keywords)
        given = cls._one_formula and symbolic((*arguments, *keywords.values()))
        return Parametric.of(cls, arguments, keywords) if given else made

    def __post_init__(self) -> None:
        """The relation may be given by its name."""
        self._settle()

    def counted(self) -> tuple[tuple[Mechanism, int], ...]:
        """Itself, once."""
        return ((self, 1),)

    def loss_law(self) -> LogPhi:
        """The loss of the pair; override it where a simpler form is known.

        Raises
        ------
        TypeError
            If the class has neither: one of ``pair()`` and ``loss_law()`` must be defined.
        """
        if type(self).pair is Primitive.pair:
            raise TypeError(f"{type(self).__name__} must define loss_law(), or the pair() whose loss it is")
        return self.pair().loss()

    def pair(self) -> Pair:
        """A pair of which only the loss is known; override it where the two laws are."""
        return known_by(self.loss_law())

    @property
    def _extreme(self) -> Pair | None:
        """The pair at an end of the parameters, where no noise or nothing but noise is left; None elsewhere."""
        return None

    def _grouped(self, size: int) -> Mechanism:
        if not self._grows:
            return super()._grouped(size)
        given = self._given()
        one = given[self._grows]
        given[self._grows] = size * (one if isinstance(one, int) else meant(one))
        grouped: Mechanism = type(self)(**given)
        return grouped

    def _uncertified(self) -> str:
        name = type(self).__name__
        if is_foreign(type(self)):
            return (
                f"{name} is not of the catalogue: nobody else would know what it is; certify a mechanism that "
                "dominates it, such as a Discrete, a GaussianMixture or a FromTradeoff"
            )
        if self._extreme is not None:
            return (
                f"certificates do not know {self!r}: its parameters are at an end of their range; where it leaks everything "
                "delta is 1 without a proof, where it leaks nothing leave it out, and else write what it leaks as a Discrete"
            )
        return f"certificates do not know a {name}: {self._undescribed}" if self._undescribed else ""


@frozen
class PoissonSampled(Primitive):
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
        return poisson(self.base.pair(), self.rate, self.group_size, self.adjacency)

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
class SubsetSampled(Primitive):
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
        return subset(self.base.pair(), self.rate, self.adjacency)

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


@dataclass(frozen=True, repr=False, eq=False)
class Composition(Mechanism):
    """Counted mechanisms under one relation; made by ``+`` and ``*``. Equal whatever the order."""

    terms: tuple[tuple[Mechanism, int], ...]
    adjacency: Adjacency

    def counted(self) -> tuple[tuple[Mechanism, int], ...]:
        """The terms."""
        return self.terms

    def _grouped(self, size: int) -> Mechanism:
        groups = [(one.group(size), count) for one, count in self.terms]
        return _collect(self.adjacency, [(one, own * count) for group, count in groups for one, own in group.counted()])

    def _uncertified(self) -> str:
        return (
            "certificates do not know several releases on one sample; for Gaussians certify the sample of one Gaussian with "
            "sigma = (n_1/sigma_1^2 + n_2/sigma_2^2 + ...)^(-1/2), rounded down"
        )

    def _data(self, write: Callable[[str, Any], Any]) -> dict[str, Any]:
        return composition_node(self.adjacency.value, [(count, one._data(write)) for one, count in self.terms])

    def loss_law(self) -> LogPhi:
        """K adds ([AFA] Proposition 13)."""
        return LogPhi.of((law, own * count) for one, count in self.terms for law, own in one.loss_law().terms)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Composition):
            return NotImplemented
        return self.adjacency is other.adjacency and self._counts() == other._counts()

    def __hash__(self) -> int:
        # each term is hashed once: twice would be exponential for samples of compositions of samples
        return hash((self.adjacency, sum(count * hash(one) for one, count in self.terms)))

    def _text(self, spell: Callable[[Any], str]) -> str:
        if not self.terms:
            relation = "" if self.adjacency is Adjacency.ADD_REMOVE else f", adjacency={self.adjacency.value!r}"
            return f"0 * Gaussian(sigma=1.0{relation})"
        return " + ".join(("" if count == 1 else f"{count} * ") + one._text(spell) for one, count in self.terms)

    def _counts(self) -> dict[Mechanism, int]:
        """The terms, where equal doubles stand for equal numbers."""
        counts: Counter[Mechanism] = Counter()
        for one, count in self.terms:
            counts[one] += count
        # counters would compare each term more than once
        return dict(counts)


def operand(mechanism: Mechanism, spell: Callable[[Any], str]) -> str:
    """Text that a method call may follow."""
    text = mechanism._text(spell)
    return f"({text})" if isinstance(mechanism, Composition) else text


def compose(mechanisms: Iterable[Mechanism]) -> Mechanism:
    """The composition of any number of mechanisms, in time linear in their number.

    ``sum(mechanisms)`` is the same; type checkers say that it may be 0, as it is of an empty list.

    Parameters
    ----------
    mechanisms
        Mechanisms under one relation, in any order; equal ones are counted.

    Returns
    -------
    Mechanism
        All of them together ([AFA] Theorem 10).

    Raises
    ------
    TypeError
        If something is not a mechanism.
    ValueError
        If two mechanisms are stated under different relations, or there is none.

    Examples
    --------
    >>> import logphi as lp
    >>> lp.compose([lp.Laplace(scale=5), lp.Gaussian(sigma=2), lp.Laplace(scale=5)])
    2 * Laplace(scale=5.0) + Gaussian(sigma=2.0)
    """
    listed = list(mechanisms)
    if any(isinstance(one, Parametric) for one in listed):
        # a release of symbols composes by addition only
        total: Mechanism = reduce(add, listed)
        return total
    for one in listed:
        if not isinstance(one, Mechanism):
            raise TypeError(f"only mechanisms compose, got {short(one)} of type {type(one).__name__}")
    relations = {one.adjacency: one for one in listed}
    if len(relations) > 1:
        names = " and ".join(f"{short(one)} ({relation.value})" for relation, one in list(relations.items())[:2])
        raise ValueError(f"mechanisms stated under different relations do not compose: {names}; state both under one adjacency")
    if not listed:
        raise ValueError("there is nothing to compose: give at least one mechanism")
    return _collect(listed[0].adjacency, [pair for one in listed for pair in one.counted()])


def _collect(adjacency: Adjacency, terms: Iterable[tuple[Mechanism, int]]) -> Mechanism:
    # equal mechanisms whose numbers were written differently stay apart, so that certificates do not take one for the other
    counts: Counter[tuple[Mechanism, Any]] = Counter()
    for one, count in shown(terms, "releases"):
        counts[one, exactly(one)] += count
    for count in counts.values():
        check.count("the number of repetitions", count)
    kept = tuple((one, count) for (one, _), count in counts.items() if count)
    if len(kept) == 1 and kept[0][1] == 1:
        return kept[0][0]
    if any(one._bracketed for one, _ in kept):
        from logphi.algebra.bracketed import BracketedComposition

        return BracketedComposition(kept, adjacency)
    return Composition(kept, adjacency)
