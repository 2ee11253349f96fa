"""Releases without a known loss between two others: an attack, which they dominate, and a cover, which dominates them."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from logphi.algebra.asking import Questions
from logphi.algebra.by_others import DIVERGENCES, TAILS, between
from logphi.algebra.enclosed import Enclosed, EnclosedComposition, Ends, ends_of
from logphi.algebra.release import Composition, Mechanism, compose
from logphi.answers.bound import Bound, Bounds
from logphi.answers.status import Direction, Side
from logphi.arith.floats import ULP
from logphi.engine.directions import direction_of, directions_under
from logphi.inputs.arguments import DirectionLike
from logphi.laws.log_phi import LogPhi
from logphi.pairs.pair import UnsupportedError

if TYPE_CHECKING:
    from logphi.questions.risk import AttackRisk


class Bracketed(Enclosed):
    """A release that dominates its ``attack``, a post-processing of it, and is dominated by its ``cover``.

    Where an answer grows with the pair, it is an interval between the answers of attack and cover; other questions are refused.
    """

    _bracketed: ClassVar[bool] = True
    _unlisted = Mechanism._unlisted | {"attack", "cover", "few_outcomes"}

    @property
    @abstractmethod
    def attack(self) -> Mechanism:
        """A mechanism that the release dominates."""

    @property
    def few_outcomes(self) -> Mechanism:
        """An attack that composes quickly; by default, the attack itself."""
        return self.attack

    @property
    @abstractmethod
    def cover(self) -> Mechanism:
        """A mechanism that dominates the release."""

    @property
    def _enclosed(self) -> bool:
        return True

    def ends(self) -> Ends:
        """The attack that composes quickly, and the cover."""
        return self.few_outcomes, self.cover

    def _composition(self) -> type[Composition]:
        return BracketedComposition

    def _by_others(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if name in TAILS:
            self._refuse()
        if options.get("method") is not None:
            raise UnsupportedError("a bracket is not the answer of a single method: leave method out")
        if name == "explain":
            ends = self.attack, self.cover
            return self._explained(ends, options) or ends[1].explain(**options)
        above, below = (getattr(one, name)(*arguments, **options) for one in (self.cover, self.attack))
        if name in DIVERGENCES and isinstance(above, (Bound, Bounds)):
            asked = {"kl_divergence": 1.0, "max_divergence": math.inf}.get(name, (*arguments, *options.values(), 0.0)[0])
            above = self._by_moments("zcdp" if name == "zcdp" else "renyi", asked, options.get("direction"), above)
        return between([above], below, proofs=self._proofs)

    def _by_moments(self, name: str, asked: Any, direction: DirectionLike | None, found: Bound | Bounds) -> Bound | Bounds:
        """An answer of the cover, or at each point that of moments, if that is sharper."""
        if isinstance(found, Bounds):
            answers = np.empty(found.shape, dtype=object)
            for place in np.ndindex(found.shape):
                answers[place] = self._by_moments(name, np.asarray(asked)[place], direction, found[place])
            return Bounds(answers)
        if found.side is Side.LOWER or not found.ledger.proved or (name == "renyi" and asked <= 0):
            return found
        wanted = Direction.BOTH if direction is None else direction_of(direction)
        orders = directions_under(self.adjacency) if wanted is Direction.BOTH else (wanted,)
        upper = max(self._moment_above(name, float(asked), order) for order in orders)
        return replace(found, lower=0.0, value=upper, upper=upper) if upper < found.upper else found

    def _moment_above(self, name: str, asked: float, direction: Direction) -> float:
        """An upper bound of the answer to ``renyi`` or ``zcdp`` by moments; infinite if none is known."""
        return math.inf

    @property
    def _unanswered(self) -> str:
        """Why the release has no loss, for messages."""
        return "a release that is known by bounds has no loss"

    @property
    def risk(self) -> AttackRisk:
        """See :attr:`Questions.risk`; between the risks of the attack and of the cover."""
        from logphi.algebra.risk_between import RiskBetween

        return RiskBetween.of(self, [self.cover], [self.attack], self._proofs)

    risk.__doc__ = Questions.risk.__doc__

    def loss_law(self) -> LogPhi:
        """Not known.

        Raises
        ------
        UnsupportedError
            Always.
        """
        self._refuse()

    @property
    def _reveals_all(self) -> bool:
        return self.cover._reveals_all

    def _repr_latex_(self) -> None:
        """No formula."""

    def _refuse(self) -> NoReturn:
        raise UnsupportedError(
            f"{self._unanswered}: delta, epsilon, trade-off functions, risks, divergences and zCDP are answered with a "
            "bracket, and other questions by m.cover, an upper bound"
        )


@dataclass(frozen=True, repr=False, eq=False)
class BracketedComposition(Bracketed, EnclosedComposition):
    """A composition with a bracketed release: attacks compose, and so do covers."""

    loss_law = Bracketed.loss_law

    @property
    def attack(self) -> Mechanism:
        """The composition of all attacks, with few outcomes each."""
        return self._all(0)

    @property
    def cover(self) -> Mechanism:
        """The composition of all covers."""
        return self._all(1)

    def _all(self, side: int) -> Mechanism:
        # a release without ends stands for itself
        return compose(count * (ends_of(one) or (one, one))[side] for one, count in self.terms)

    def _moment_above(self, name: str, asked: float, direction: Direction) -> float:
        """The sum of the answers of all parts, which share the offset of zCDP."""
        number = sum(count for _, count in self.terms)
        share = asked / number * (1 - ULP) if name == "zcdp" else asked
        answers = [count * float(getattr(one, name)(share, direction=direction).upper) for one, count in self.terms]
        return sum(answers) * (1 + 2 * ULP * (1 + len(answers)))
