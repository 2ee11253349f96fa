"""What a user holds: immutable mechanisms that compose by addition; the questions they answer are in their base class."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

from logphi import check
from logphi.bound import Direction
from logphi.core.adjacency import Adjacency
from logphi.core.logphi import LogPhi
from logphi.core.pair import Pair, UnsupportedError
from logphi.core.pairs.extremes import known_by, product
from logphi.description import canonical, manner, node, normalised, numbers_in
from logphi.guesses import Guided, attribute_hint, guided
from logphi.progress import shown
from logphi.questions import Questions
from logphi.transforms.poisson import one_pair_of_poisson, poisson, poisson_relation
from logphi.transforms.subset import subset, subset_relation
from logphi.views.directions import direction_of
from logphi.written import Written, exact, exactly, meant

if TYPE_CHECKING:
    from logphi.certified.certificate import Certificate

# a slip of the hand beyond
MOST_DIGITS = 1000
# measured: the binomial weights of larger groups take long to sum over
LARGEST_GROUP = 1000


class Mechanism(Guided, Questions):
    """A release about a data set, held by the log-phi of its privacy loss.

    ``m1 + m2`` composes (adaptively too, [AFA] Theorem 10), ``n * m`` is n-fold composition. Mechanisms stated under
    different relations do not compose.
    """

    # NumPy's numbers leave ``*`` to the mechanism, and its arrays get the refusal
    __array_ufunc__ = None

    @abstractmethod
    def counted(self) -> tuple[tuple[Mechanism, int], ...]:
        """The distinct mechanisms that this one is composed of, with their counts."""

    def certify(
        self,
        *,
        epsilon: float | Fraction | None = None,
        delta: float | Fraction | None = None,
        digits: int = 15,
        direction: Direction | str | None = None,
    ) -> Certificate:
        """A proof of delta at an epsilon or of epsilon at a delta, which anyone can check again.

        Every error of the whole chain is enclosed in balls. Parameters and the question are exact: numbers of an expression
        and Fractions as they were written, other floats as the doubles that they are. Needs python-flint
        (``pip install "logphi[certify]"``).

        Parameters
        ----------
        epsilon, delta
            The question, exactly one of the two: an epsilon, in nats, or a delta strictly between 0 and 1.
        digits
            How many digits are claimed, 1 to 1000.
        direction
            One order of the neighbours, ``"remove"`` or ``"add"``; the larger of both unless given.

        Returns
        -------
        Certificate
            See :class:`logphi.certified.certificate.Certificate`.

        Raises
        ------
        ValueError, TypeError
            If the question is not such a number, or not exactly one is given; if a mechanism cannot be described to others or
            its numbers are ambiguous.
        NotCertifiedError
            If the loss cannot be certified, or there is no finite answer; a ValueError.
        ImportError
            If python-flint is not installed.

        Examples
        --------
        >>> from fractions import Fraction
        >>> import logphi as lp
        >>> print((100 * lp.Gaussian(sigma=20)).certify(delta=Fraction(1, 10**5), digits=10))
        certified: 1.99309140440 <= epsilon <= 1.99309140443 at delta = 1e-05
          to 10 digits, under add_remove, parameters as written, for 100 releases
        """
        if (epsilon is None) == (delta is None):
            raise ValueError(f"give exactly one of epsilon and delta, got epsilon={epsilon!r} and delta={delta!r}")
        at = check.real("epsilon", epsilon) if delta is None else check.open_unit("delta", delta)
        digits = check.whole("digits", digits, 1, MOST_DIGITS)
        order = None if direction is None else direction_of(direction)
        tree, manner = self.tree(), self._manner()
        if not tree:
            raise ValueError("nothing is released, so that there is nothing to certify: compose at least one mechanism")

        from logphi.certified.certificate import issue

        return issue(
            self._loss(),
            tree,
            manner,
            quantity="delta" if delta is None else "epsilon",
            at=exact(at),
            direction=None if order in (None, Direction.BOTH) else order.value,
            digits=digits,
        )

    def tree(self) -> list[tuple[int, dict[str, Any]]]:
        """Counts and distinct mechanisms as plain data: names, relations and exact parameters, in one order.

        Raises
        ------
        ValueError
            If a mechanism is not of the catalogue, or a parameter is not a number.
        """
        return sorted(((count, one._node()) for one, count in self.counted()), key=lambda term: canonical(term[1]))

    def _node(self) -> dict[str, Any]:
        """As one entry of :meth:`tree`."""
        raise ValueError(
            f"{type(self).__name__} is not of the catalogue: nobody else would know what it is; certify a mechanism that "
            "dominates it, such as a Discrete, a GaussianMixture or a FromTradeoff"
        )

    def _manner(self) -> str:
        """How the parameters are known: ``"as written"``, ``"exact doubles"``, or ``"mixed"``.

        Raises
        ------
        ValueError
            If different numbers have the same double, or listed probabilities do not sum to one exactly.
        """
        return manner(number for one, _ in self.counted() for number in one._numbers())

    def _numbers(self) -> Iterator[float]:
        """The parameters that are numbers, checked as they are read."""
        return iter(())

    def pair(self) -> Pair:
        """The dominating pair, which sampling mixes: the product of those of all releases, which see one sample together."""
        return product(one.pair().repeated(count) for one, count in self.counted())

    def __add__(self, other: Mechanism) -> Mechanism:
        if not isinstance(other, Mechanism):
            return NotImplemented
        return compose([self, other])

    def __mul__(self, count: Any) -> Mechanism:
        return _collect(
            self.adjacency,
            [(one, own * check.count("the number of repetitions", count)) for one, own in self.counted()],
        )

    __rmul__ = __mul__

    def __radd__(self, other: object) -> Mechanism:
        """``sum(mechanisms)`` begins with zero."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"a {type(self).__name__} has no {name!r}{attribute_hint(name)}")

    @guided
    def poisson(
        self, rate: float, *, group_size: int = 1, adjacency: Adjacency | str | None = None, one_pair: bool = False
    ) -> Mechanism:
        """The mechanism on a fresh Poisson sample: every record takes part with probability ``rate``.

        Rate 0 leaks nothing, rate 1 is the identity ([AFA] Theorem 11.1, [PLD] section 4). Under ``"replace_special"`` a
        record outside the sample counts as one of the value "nothing". Fixed-size, shuffled or fixed-order batches are not
        Poisson samples and get no such amplification.

        All releases of a composition see *one* sample: ``(a + b).poisson(q)`` leaks more than ``a.poisson(q) + b.poisson(q)``,
        which draws two. Gaussians on one sample are one Gaussian, and finite mechanisms one finite mechanism as long as that is
        small; any other composition is sampled once, with delta and epsilon of that single release and nothing beside it. A
        sample of a sample is one with the product of the rates.

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

        Raises
        ------
        ValueError, TypeError
            If a parameter is outside its range, the base is stated under replace, or no pair is known.
        """
        relation = poisson_relation(self.adjacency, None if adjacency is None else Adjacency.of(adjacency))
        kind = PoissonOnePair if check.flag("one_pair", one_pair) else PoissonSampled
        return kind(self, rate, group_size, relation)

    @guided
    def subset(self, rate: float, *, adjacency: Adjacency | str) -> Mechanism:
        """The mechanism on a fresh uniformly random subset of fixed size, drawn without replacement.

        Rate 0 leaks nothing. The base must be stated under replace ([AFA] Theorem 11.2, Corollary 32).

        Parameters
        ----------
        rate
            Size of the subset over that of the data set, in [0, 1].
        adjacency
            The relation of the result: ``"add_remove"``, ``"add"``, ``"remove"`` or ``"replace"``.

        Raises
        ------
        ValueError, TypeError
            If the rate is outside [0, 1], the base is not stated under replace, or no pair is known.
        """
        return SubsetSampled(self, rate, subset_relation(self.adjacency, Adjacency.of(adjacency)))

    def shuffled(self, *_: Any, **__: Any) -> Mechanism:
        """Refused: batches of a shuffled data set are not sampled independently of one another."""
        raise UnsupportedError(
            "shuffled batches are refused: a record is in exactly one batch of an epoch, so that the batches are dependent and "
            "the worst case is far from Poisson's, whose answer would be too small; account for one release per epoch "
            "without sampling, or draw Poisson samples"
        )

    def fixed_order(self, *_: Any, **__: Any) -> Mechanism:
        """Refused: batches in a fixed order are not sampled at all."""
        raise UnsupportedError(
            "batches in a fixed order are refused: an adversary may know which batch holds the record, so that nothing is "
            "amplified, and Poisson's answer would be too small; account for one release per epoch without sampling"
        )


class Primitive(Mechanism):
    """A mechanism that is not composed of others: the base of every class of the catalogue, and of a user's own.

    A subclass is a frozen dataclass (``repr=False``) whose fields are its parameters, ``adjacency`` the last; it defines
    ``loss_law()`` and, to be sampled, ``pair()``. It may check its parameters in ``__post_init__``, which then calls this one.
    """

    # constructor arguments that are kept under another name, because the name is that of a question
    _stored: ClassVar[dict[str, str]] = {}
    # those that list probabilities of everything there is
    _distributions: ClassVar[tuple[str, ...]] = ()
    # why nobody else could rebuild it from its parameters
    _undescribed: ClassVar[str] = ""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        # a dataclass would silently take the method for the default of the field
        taken = sorted(name for name in inspect.get_annotations(cls) if name[0] != "_" and hasattr(Mechanism, name))
        if taken:
            raise TypeError(f"a parameter of {cls.__name__} is called {taken[0]!r}, which is a question: choose another name")

    def __post_init__(self) -> None:
        """The relation may be given by its name."""
        self._settle()

    def counted(self) -> tuple[tuple[Mechanism, int], ...]:
        """Itself, once."""
        return ((self, 1),)

    def pair(self) -> Pair:
        """A pair of which no more is known than its loss; override it where the two laws are known."""
        return known_by(self.loss_law())

    @property
    def _extreme(self) -> Pair | None:
        """The pair at an end of the parameters, where no noise or nothing but noise is left; None elsewhere."""
        return None

    def __repr__(self) -> str:
        """The constructor call, as the expression language reads it; defaults are left out."""
        defaults = {name: one.default for name, one in inspect.signature(type(self)).parameters.items()}
        shown = [
            f"{name}={(value.value if isinstance(value, Adjacency) else value)!r}"
            for name, value in self._given().items()
            if value != defaults[name]
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def _node(self) -> dict[str, Any]:
        """Name, relation and all parameters, those that were left at their defaults too."""
        if type(self).__module__.partition(".")[0] != __package__:
            return super()._node()
        if self._undescribed:
            raise ValueError(f"certificates do not know a {type(self).__name__}: {self._undescribed}")
        if self._extreme is not None:
            raise ValueError(
                f"certificates do not know {self!r}: its parameters are at an end of their range; where it leaks everything "
                "delta is 1 without a proof, where it leaks nothing leave it out, and else write what it leaks as a Discrete"
            )
        given = self._given()
        return node(type(self).__name__, given.pop("adjacency").value, given)

    def _numbers(self) -> Iterator[float]:
        given = self._given()
        for name in self._distributions:
            normalised(f"{name} of a {type(self).__name__}", given[name])
        return numbers_in(given.values())

    def _given(self) -> dict[str, Any]:
        """The arguments of the constructor, in its order."""
        return {name: getattr(self, self._stored.get(name, name)) for name in inspect.signature(type(self)).parameters}

    def _settle(self, **values: Any) -> None:
        """Store checked parameters; a frozen dataclass is written to only while it is made."""
        adjacency = Adjacency.of(values.pop("adjacency", None) or self.adjacency)
        for name, value in {**values, "adjacency": adjacency}.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, repr=False)
class PoissonSampled(Primitive):
    """A mechanism on a Poisson sample; made by :meth:`Mechanism.poisson`."""

    base: Mechanism
    rate: float
    group_size: int
    adjacency: Adjacency

    def __post_init__(self) -> None:
        size = check.whole("group_size", self.group_size, 1, LARGEST_GROUP)
        self._settle(rate=check.probability("rate", self.rate), group_size=size)
        self.loss_law()

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

    def poisson(
        self, rate: float, *, group_size: int = 1, adjacency: Adjacency | str | None = None, one_pair: bool = False
    ) -> Mechanism:
        """The base on a sample of a sample: a Poisson sample with the product of the rates."""
        if self.group_size > 1:
            return super().poisson(rate, group_size=group_size, adjacency=adjacency, one_pair=one_pair)
        relation = poisson_relation(self.adjacency, None if adjacency is None else Adjacency.of(adjacency))
        product = Written(meant(self.rate) * meant(check.unit("rate", rate)))
        return self.base.poisson(product, group_size=group_size, adjacency=relation, one_pair=one_pair)

    def __repr__(self) -> str:
        group = f", group_size={self.group_size}" if self.group_size > 1 else ""
        relation = "" if self.adjacency is self.base.adjacency else f", adjacency={self.adjacency.value!r}"
        return f"{_operand(self.base)}.poisson({self.rate!r}{group}{relation})"

    def _node(self) -> dict[str, Any]:
        """Around that of the base."""
        parameters = {"rate": self.rate, "group_size": self.group_size}
        return node("poisson", self.adjacency.value, parameters, self.base._node())

    def _numbers(self) -> Iterator[float]:
        return chain([self.rate], self.base._numbers())


@dataclass(frozen=True, repr=False)
class PoissonOnePair(PoissonSampled):
    """A mechanism on a Poisson sample, by one pair for both orders; made by :meth:`Mechanism.poisson`."""

    def loss_law(self) -> LogPhi:
        """By the spliced pair of the base."""
        return one_pair_of_poisson(self.base.pair(), self.rate, self.group_size, self.adjacency)

    def __repr__(self) -> str:
        return f"{_operand(self.base)}.poisson({self.rate!r}, one_pair=True)"

    def _node(self) -> dict[str, Any]:
        raise ValueError("certificates do not know one pair for both orders: leave one_pair out, which is sharper too")


@dataclass(frozen=True, repr=False)
class SubsetSampled(Primitive):
    """A mechanism on a subset of fixed size; made by :meth:`Mechanism.subset`."""

    base: Mechanism
    rate: float
    adjacency: Adjacency

    def __post_init__(self) -> None:
        self._settle(rate=check.probability("rate", self.rate))
        self.loss_law()

    def loss_law(self) -> LogPhi:
        """By the pair of the base."""
        return subset(self.base.pair(), self.rate, self.adjacency)

    def __repr__(self) -> str:
        return f"{_operand(self.base)}.subset({self.rate!r}, adjacency={self.adjacency.value!r})"

    def _node(self) -> dict[str, Any]:
        """Around that of the base."""
        return node("subset", self.adjacency.value, {"rate": self.rate}, self.base._node())

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

    def _node(self) -> dict[str, Any]:
        """As the base of a sample.

        Raises
        ------
        ValueError
            Always.
        """
        raise ValueError(
            "certificates do not know several releases on one sample; for Gaussians certify the sample of one Gaussian with "
            "sigma = (n_1/sigma_1^2 + n_2/sigma_2^2 + ...)^(-1/2), rounded down"
        )

    def loss_law(self) -> LogPhi:
        """K adds ([AFA] Proposition 13)."""
        return LogPhi.of((law, own * count) for one, count in self.terms for law, own in one.loss_law().terms)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Composition):
            return NotImplemented
        return self.adjacency is other.adjacency and self._counts() == other._counts()

    def __hash__(self) -> int:
        return hash((self.adjacency, frozenset(self._counts().items())))

    def __repr__(self) -> str:
        return " + ".join(repr(one) if count == 1 else f"{count} * {one!r}" for one, count in self.terms) or "Composition()"

    def _counts(self) -> Counter[Mechanism]:
        """The terms, where equal doubles stand for equal numbers."""
        counts: Counter[Mechanism] = Counter()
        for one, count in self.terms:
            counts[one] += count
        return counts


def _operand(mechanism: Mechanism) -> str:
    """Text that a method call may follow."""
    return f"({mechanism!r})" if isinstance(mechanism, Composition) else repr(mechanism)


def compose(mechanisms: Iterable[Mechanism]) -> Mechanism:
    """The composition of any number of mechanisms, in time linear in their number.

    Raises
    ------
    TypeError
        If something is not a mechanism.
    ValueError
        If two mechanisms are stated under different relations, or there is none.
    """
    listed = list(mechanisms)
    for one in listed:
        if not isinstance(one, Mechanism):
            raise TypeError(f"only mechanisms compose, got {one!r} of type {type(one).__name__}")
    relations = {one.adjacency: one for one in listed}
    if len(relations) > 1:
        names = " and ".join(f"{one!r} ({relation.value})" for relation, one in list(relations.items())[:2])
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
    return Composition(kept, adjacency)
