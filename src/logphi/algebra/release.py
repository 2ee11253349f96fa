"""Mechanisms and compositions: immutable values that compose by addition.

Their base classes hold the questions that they answer, and the operations that make other mechanisms of them. The file is
longer than others because a composition of mechanisms is a mechanism.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from operator import add
from typing import Any, ClassVar

from logphi.algebra import certification
from logphi.algebra.asking import Questions
from logphi.algebra.constructor import Constructed
from logphi.algebra.operations import Operations
from logphi.algebra.parametric import Parametric, symbolic
from logphi.algebra.serializable import Serializable
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import RealLike, Scalar
from logphi.inputs.guesses import Guided, guided
from logphi.laws.log_phi import LogPhi
from logphi.pairs.extremes import known_by, product
from logphi.pairs.pair import Pair, UnsupportedError
from logphi.progress import shown
from logphi.sampling.group import LARGEST_SIZE, refusal
from logphi.text.description import canonical, composition_node, manner
from logphi.text.spelling import is_foreign, short
from logphi.text.written import exactly, meant

# the classes that use these members: in any other, the hull would answer alone, and its lower ends do not hold for a family
_ASKED_BY = {
    "family": "logphi.algebra.families.Representative",
    "_by_others": "logphi.algebra.by_others.ByOthers",
}


class Mechanism(Guided, Serializable, Operations["Mechanism"], Questions):
    """A mechanism, or a composition of mechanisms, described by the log-phi of its privacy loss.

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

    # members for those who write a mechanism of their own
    _unlisted = frozenset({"loss_law", "pair", "counted", "tree", "family"})
    # whether it is known only between an attack and a cover
    _bracketed: ClassVar[bool] = False
    # so that NumPy's numbers leave ``*`` to the mechanism, which refuses arrays
    __array_ufunc__ = None

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        for name, base in _ASKED_BY.items():
            defined = [vars(one)[name] for one in cls.__mro__ if name in vars(one)]
            if defined and not any(getattr(member, "__isabstractmethod__", False) for member in defined):
                raise TypeError(f"{cls.__name__} defines {name}(), which is called on a {base} only: derive it from that class")

    @abstractmethod
    def counted(self) -> tuple[tuple[Mechanism, int], ...]:
        """The distinct mechanisms that this one is composed of, with their counts."""

    certify = certification.certify

    def tree(self) -> list[tuple[int, dict[str, Any]]]:
        """Counts and distinct mechanisms as plain data: names, relations and exact parameters, in one order.

        Raises
        ------
        ValueError
            If a mechanism is not in the catalogue, or a parameter is not a number.
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
        """The release for a group of records: all of them change at once, each as one record does under the relation.

        P is the output with the whole group, Q without it; under ``"replace"`` all of the group take other values.
        :mod:`logphi.sampling.group` says what this means for each mechanism, and why: a query has ``size`` times the
        sensitivity, a Poisson sample draws every record independently, a randomized response becomes ``size`` responses, and a
        composition is that of the groups of its releases.

        Ask for the group last: ``m.poisson(rate).group(size)`` draws each record independently, ``m.group(size).poisson(rate)``
        draws all of the group or none.

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
            If the size is out of range, or the pair of one record does not determine that of several; the message then names
            a bound that holds.

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

    def _share(self, size: int) -> Mechanism:
        """One of ``size`` independent releases of which this one is a function, one release for each record of a group."""
        raise refusal(f"random allocation of a {type(self).__name__}", size)

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

    def _composition(self) -> type[Composition]:
        """The class of a composition with this mechanism; among those of its terms, one is a subclass of all others."""
        return Composition

    def _parts(self) -> tuple[Mechanism, ...]:
        """The mechanisms of which this one is made, and which a release may run."""
        return ()

    @property
    def _stated_group(self) -> int | None:
        """The number of records that are protected together; None where sampling does not state one."""
        return None

    def _sampling(self, unit: str) -> str:
        """How one release samples its records, for a privacy statement; empty where it does not."""
        return ""

    def _assumptions(self) -> Iterator[str]:
        """What the guarantee assumes of the sampling, for a privacy statement."""
        return iter(())

    @property
    def _exact_largest_loss(self) -> Fraction | None:
        """The largest finite loss of either direction, if it is a quotient of parameters; otherwise None."""
        return None

    @property
    def _certified_by(self) -> Mechanism:
        """A release that certificates name instead, as it dominates this one; mostly this one itself."""
        parts = [(one, one._certified_by if one is not self else one, count) for one, count in self.counted()]
        return self if all(own is one for one, own, _ in parts) else compose(count * own for _, own, count in parts)

    @property
    def _exact_infinite_mass(self) -> Fraction | None:
        """The probability of an infinite loss of either direction, if it is a parameter; otherwise None."""
        return None

    @property
    def _need_not_attain(self) -> bool:
        """Whether the pair, or that of a part, only dominates the release, which has no family that attains it."""
        return False

    def _attacks(self, *, sampled: bool = False) -> list[Mechanism]:
        """Releases that this one dominates, if it need not attain its pair; empty where none is known.

        They hold on samples, too, if ``sampled``: whatever other records are drawn.
        """
        return []

    @property
    def _reveals_all(self) -> bool:
        """Whether every output reveals everything: the loss is always infinite."""
        return self.loss_law().empty

    def pair(self) -> Pair:
        """The dominating pair, which sampling mixes: the product of those of all releases, as they see one sample."""
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


class Primitive(Constructed, Mechanism):
    """A mechanism that is not composed of others: the base of every class of the catalogue, and of a user's own.

    A subclass is a frozen dataclass (``repr=False``) whose fields are its parameters, ``adjacency`` the last. It defines
    ``pair()``, from which its loss and its samples follow, or ``loss_law()`` where no pair is known; where it defines both,
    they must have the same loss. ``counted()`` and ``tree()`` follow. If it checks its parameters in ``__post_init__``, that
    calls the one of this class.
    """

    # whether one formula of log-phi holds for all parameters, so that they may be symbols
    _one_formula: ClassVar[bool] = False
    # why nobody else could make it again from its parameters
    _undescribed: ClassVar[str] = ""
    # whether its pair dominates every mechanism of the description, and none need attain it
    _dominating: ClassVar[bool] = False
    # why a sample has no pair to mix; empty where it has one
    _no_pair: ClassVar[str] = ""
    # the parameters that are k times as large for a group of k records
    _grows: ClassVar[tuple[str, ...]] = ()
    # whether each record of a group has an independent release of its own
    _responds: ClassVar[bool] = False

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if cls.__doc__:
            # help() lists the questions first
            _, title, questions = inspect.cleandoc(Mechanism.__doc__ or "").partition("Notes\n-----\n")
            cls.__doc__ = f"{inspect.cleandoc(cls.__doc__)}\n\n{title}{questions}\n"
        # a dataclass would silently take the method as the default of the field
        taken = sorted(name for name in inspect.get_annotations(cls) if name[0] != "_" and hasattr(Mechanism, name))
        if taken:
            raise TypeError(f"a parameter of {cls.__name__} has the name of a method, {taken[0]!r}: choose another name")

    def __new__(cls, *arguments: Any, **keywords: Any) -> Any:
        """The instance, or a :class:`Parametric` release where an argument is symbolic."""
        made = super().__new__(cls, *arguments, **keywords)
        given = cls._one_formula and symbolic((*arguments, *keywords.values()))
        return Parametric.of(cls, arguments, keywords) if given else made

    def __post_init__(self) -> None:
        """Store the relation, which may be given by its name."""
        self._settle()

    def counted(self) -> tuple[tuple[Mechanism, int], ...]:
        """Itself, once."""
        return ((self, 1),)

    def loss_law(self) -> LogPhi:
        """The loss of the pair; override it where a simpler form is known.

        Raises
        ------
        TypeError
            If the class defines neither ``pair()`` nor ``loss_law()``.
        """
        if type(self).pair is Primitive.pair:
            raise TypeError(f"{type(self).__name__} must define loss_law(), or the pair() whose loss it is")
        return self.pair().loss()

    def pair(self) -> Pair:
        """A pair of which only the loss is known; override it where the two laws are known.

        Raises
        ------
        UnsupportedError
            If the class says why it has none.
        """
        if self._no_pair:
            raise UnsupportedError(self._no_pair)
        return known_by(self.loss_law())

    @property
    def _extreme(self) -> Pair | None:
        """The pair at an end of the parameters' range, where there is no noise or nothing but noise; None elsewhere."""
        return None

    def _share(self, size: int) -> Mechanism:
        return self if self._responds else super()._share(size)

    def _grouped(self, size: int) -> Mechanism:
        if self._responds:
            return size * self
        if not self._grows:
            return super()._grouped(size)
        given = self._given()
        for name in self._grows:
            one = given[name]
            given[name] = size * (one if isinstance(one, int) else meant(one)) if one is not None else None
        grouped: Mechanism = type(self)(**given)
        return grouped

    def _uncertified(self) -> str:
        name = type(self).__name__
        if is_foreign(type(self)):
            return (
                f"{name} is not in the catalogue, so that no checker knows what it is: certify a mechanism that "
                "dominates it, such as a Discrete, a GaussianMixture or a FromTradeoff"
            )
        if self._extreme is not None:
            return (
                f"certificates do not know {self!r}, whose parameters are at an end of their range: if it leaks everything, "
                "delta is 1 without a proof; if it leaks nothing, leave it out; otherwise state what it leaks as a Discrete"
            )
        return f"certificates do not know a {name}: {self._undescribed}" if self._undescribed else ""


# counts of mechanisms; equal ones whose numbers were written differently stay apart, so that certificates do not take one for
# the other
Tally = dict[tuple[Mechanism, Any], int]


@dataclass(frozen=True, repr=False, eq=False)
class Composition(Mechanism):
    """Counted mechanisms under one relation, made by ``+`` and ``*``. The order of the terms does not matter."""

    terms: tuple[tuple[Mechanism, int], ...]
    adjacency: Adjacency

    @cached_property
    def _tally(self) -> Tally:
        return {(one, exactly(one)): count for one, count in self.terms}

    def counted(self) -> tuple[tuple[Mechanism, int], ...]:
        """The terms."""
        return self.terms

    def _grouped(self, size: int) -> Mechanism:
        groups = [(one.group(size), count) for one, count in self.terms]
        return _collect(self.adjacency, [(one, own * count) for group, count in groups for one, own in group.counted()])

    def _uncertified(self) -> str:
        return (
            "certificates do not know several releases on one sample; for Gaussians, certify the sample of one Gaussian with "
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
    """The text of a mechanism, in parentheses where a method call needs them."""
    text = mechanism._text(spell)
    return f"({text})" if isinstance(mechanism, Composition) else text


def compose(mechanisms: Iterable[Mechanism]) -> Mechanism:
    """The composition of any number of mechanisms, in time linear in their number.

    ``sum(mechanisms)`` is the same, but for type checkers it may be 0, the sum of an empty list.

    Parameters
    ----------
    mechanisms
        Mechanisms under one relation, in any order; equal ones are counted.

    Returns
    -------
    Mechanism
        The composition of all of them ([AFA] Theorem 10).

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
    # what is already composed is not counted again, however many are added one after the other
    first, *others = listed
    if isinstance(first, Composition):
        return _collect(first.adjacency, [pair for one in others for pair in one.counted()], first)
    return _collect(first.adjacency, [pair for one in listed for pair in one.counted()])


def _collect(adjacency: Adjacency, terms: Iterable[tuple[Mechanism, int]], before: Composition | None = None) -> Mechanism:
    """The composition of terms, after one whose terms are counted."""
    tally = {} if before is None else before._tally.copy()
    # each kind is a subclass of those that its answers include
    kinds = {Composition} if before is None else {type(before)}
    for one, count in shown(terms, "releases"):
        key = one, exactly(one)
        tally[key] = check.count("the number of repetitions", tally.get(key, 0) + count)
        if count:
            kinds.add(one._composition())
    kept = tuple((one, count) for (one, _), count in tally.items() if count)
    if len(kept) == 1 and kept[0][1] == 1:
        return kept[0][0]
    made = next(kind for kind in kinds if all(issubclass(kind, one) for one in kinds))(kept, adjacency)
    made.__dict__["_tally"] = tally
    return made
