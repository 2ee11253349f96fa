"""What a user holds: immutable mechanisms that compose by addition, and the questions they answer."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from logphi import check
from logphi.bound import Bound, Bounds, Direction
from logphi.core.adjacency import Adjacency
from logphi.core.logphi import LogPhi
from logphi.core.pair import Pair
from logphi.transforms.poisson import poisson
from logphi.views.delta import delta, log_delta
from logphi.views.directions import Loss, direction_of
from logphi.views.epsilon import epsilon
from logphi.views.explain import Explanation, explain

if TYPE_CHECKING:
    import sympy


class Mechanism(ABC):
    """A release about a data set, held by the log-phi of its privacy loss.

    ``m1 + m2`` composes (adaptively too, [AFA] Theorem 10), ``n * m`` is n-fold composition. Mechanisms stated under
    different relations do not compose.
    """

    adjacency: Adjacency

    @abstractmethod
    def loss(self) -> LogPhi:
        """K of the loss of the pair (P, Q), P the output law with the record present."""

    @abstractmethod
    def counted(self) -> tuple[tuple[Mechanism, int], ...]:
        """The distinct mechanisms that this one is composed of, with their counts."""

    def pair(self) -> Pair:
        """The dominating pair, where the library can sample it."""
        raise ValueError(
            f"no sampling of {type(self).__name__} is supported: its sampled pair is not known here; "
            "sample a Gaussian, a RandomizedResponse, a PureDP, an ApproximateDP or a Discrete mechanism"
        )

    def __add__(self, other: Mechanism) -> Mechanism:
        if not isinstance(other, Mechanism):
            return NotImplemented
        return compose([self, other])

    def __mul__(self, count: int) -> Mechanism:
        return _collect(
            self.adjacency,
            [(one, own * check.count("the number of repetitions", count)) for one, own in self.counted()],
        )

    __rmul__ = __mul__

    def poisson(self, rate: float) -> Mechanism:
        """The mechanism on a fresh Poisson sample: every record takes part with probability ``rate``.

        Add/remove only; rate 1 is the identity, rate 0 leaks nothing ([AFA] Theorem 11.1). Fixed-size, shuffled or
        fixed-order batches are not Poisson samples and get no such amplification.

        Raises
        ------
        ValueError, TypeError
            If the rate is outside [0, 1], the relation is not add/remove, add or remove, or the mechanism cannot be sampled.
        """
        return Sampled(self, rate)

    def delta(
        self, epsilon: Any, *, direction: Direction | str | None = None, method: str | None = None, rtol: float = 1e-9
    ) -> Bound | Bounds:
        """The privacy profile delta(epsilon), in nats; see :func:`logphi.views.delta.delta`."""
        return delta(self._loss(), epsilon, direction=direction, method=method, rtol=rtol)

    def log_delta(
        self, epsilon: Any, *, direction: Direction | str | None = None, method: str | None = None, rtol: float = 1e-9
    ) -> Bound | Bounds:
        """Natural logarithm of delta(epsilon), also where no double holds delta; see :func:`logphi.views.delta.log_delta`."""
        return log_delta(self._loss(), epsilon, direction=direction, method=method, rtol=rtol)

    def epsilon(
        self, delta: Any, *, direction: Direction | str | None = None, method: str | None = None, rtol: float = 1e-9
    ) -> Bound | Bounds:
        """The smallest non-negative epsilon, in nats; see :func:`logphi.views.epsilon.epsilon`."""
        return epsilon(self._loss(), delta, direction=direction, method=method, rtol=rtol)

    def explain(self, *, epsilon: float | None = None, delta: float | None = None, method: str | None = None) -> Explanation:
        """How an answer comes about; see :func:`logphi.views.explain.explain`."""
        return explain(self._loss(), repr(self), epsilon=epsilon, delta=delta, method=method)

    def log_phi(self, alpha: sympy.Symbol, *, direction: Direction | str = Direction.REMOVE) -> sympy.Expr:
        """The symbolic log-characteristic function K(i alpha) of the finite part of the loss.

        Equal terms stand once, with their counts; where no closed form exists the logarithm holds an uncollapsed
        ``Integral`` ([AFA] Definition 12). For the other direction the loss is that of the reversed pair.
        """
        import sympy

        from logphi.arith.symbolic import SYMBOLIC

        loss = self.loss() if direction_of(direction) is not Direction.ADD else self.loss().reflected()
        return sympy.sympify(loss.formula(SYMBOLIC, sympy.I * alpha))

    def _loss(self) -> Loss:
        return Loss(self.loss(), self.adjacency)


class Primitive(Mechanism):
    """A mechanism that is not composed of others."""

    # constructor arguments that are kept under another name, because the name is that of a question
    _stored: ClassVar[dict[str, str]] = {}

    def counted(self) -> tuple[tuple[Mechanism, int], ...]:
        """Itself, once."""
        return ((self, 1),)

    def __repr__(self) -> str:
        """The constructor call, as the expression language reads it; defaults are left out."""
        parameters = inspect.signature(type(self)).parameters.values()
        given = [(one.name, getattr(self, self._stored.get(one.name, one.name)), one.default) for one in parameters]
        shown = [
            f"{name}={(value.value if isinstance(value, Adjacency) else value)!r}"
            for name, value, default in given
            if value != default
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def _settle(self, **values: Any) -> None:
        """Store checked parameters; a frozen dataclass is written to only while it is made."""
        adjacency = Adjacency.of(values.pop("adjacency", None) or self.adjacency)
        for name, value in {**values, "adjacency": adjacency}.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, repr=False)
class Sampled(Primitive):
    """A mechanism on a Poisson sample; made by :meth:`Mechanism.poisson`."""

    base: Mechanism
    rate: float
    adjacency: Adjacency = Adjacency.ADD_REMOVE

    def __post_init__(self) -> None:
        if self.base.adjacency not in (Adjacency.ADD_REMOVE, Adjacency.ADD, Adjacency.REMOVE):
            raise ValueError(
                f"Poisson sampling needs a base stated under add/remove, got adjacency {self.base.adjacency.value!r}; "
                "state the sensitivity for one record added or removed"
            )
        self._settle(rate=check.unit("rate", self.rate), adjacency=self.base.adjacency)
        self.base.pair()

    def loss(self) -> LogPhi:
        """By the pair of the base."""
        return poisson(self.base.pair(), self.rate)

    def __repr__(self) -> str:
        return f"{self.base!r}.poisson({self.rate!r})"


@dataclass(frozen=True, repr=False, eq=False)
class Composition(Mechanism):
    """Counted mechanisms under one relation; made by ``+`` and ``*``. Equal whatever the order."""

    terms: tuple[tuple[Mechanism, int], ...]
    adjacency: Adjacency

    def counted(self) -> tuple[tuple[Mechanism, int], ...]:
        """The terms."""
        return self.terms

    def loss(self) -> LogPhi:
        """K adds ([AFA] Proposition 13)."""
        return LogPhi.of((law, own * count) for one, count in self.terms for law, own in one.loss().terms)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Composition):
            return NotImplemented
        return self.adjacency is other.adjacency and dict(self.terms) == dict(other.terms)

    def __hash__(self) -> int:
        return hash((self.adjacency, frozenset(self.terms)))

    def __repr__(self) -> str:
        return " + ".join(repr(one) if count == 1 else f"{count} * {one!r}" for one, count in self.terms) or "Composition()"


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
    counts: Counter[Mechanism] = Counter()
    for one, count in terms:
        counts[one] += count
    for count in counts.values():
        check.count("the number of repetitions", count)
    kept = tuple((one, count) for one, count in counts.items() if count)
    if len(kept) == 1 and kept[0][1] == 1:
        return kept[0][0]
    return Composition(kept, adjacency)
