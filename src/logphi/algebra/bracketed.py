"""Releases without a known loss between two others: an attack, which they dominate, and a cover, which dominates them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from logphi.algebra.asking import Questions
from logphi.algebra.by_others import TAILS, between
from logphi.algebra.enclosed import Enclosed, EnclosedComposition, Ends, ends_of
from logphi.algebra.release import Composition, Mechanism, compose
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
        return between([above], below, proofs=self._proofs)

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
