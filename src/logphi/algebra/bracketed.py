"""Releases of which bounds by different means are known: what an attack attains, and what covers them."""

from __future__ import annotations

import functools
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from logphi.algebra.release import Composition, Mechanism, compose
from logphi.answers.bound import Bound, Side, Status
from logphi.answers.bounds import Bounds
from logphi.laws.log_phi import LogPhi
from logphi.pairs.pair import UnsupportedError

_METHOD = "bracket"


class _BothEnds:
    """A question that grows with the pair, put to the attack and to the cover."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: Bracketed | None, owner: type) -> Any:
        question = getattr(Mechanism, self._name)
        if instance is None:
            return question

        @functools.wraps(question)
        def ask(*arguments: Any, **options: Any) -> Bound | Bounds:
            if options.get("method") is not None:
                raise UnsupportedError("a bracket is no answer of one method: leave method out")
            above, below = (getattr(one, self._name)(*arguments, **options) for one in (instance.cover, instance.attack))
            found: Bound | Bounds = _between(above, below)
            return found

        return ask


class Bracketed(Mechanism):
    """A release that dominates its ``attack``, as post-processing, and is dominated by its ``cover``.

    What grows with the pair lies between the answers of the two. Nothing else is answered.
    """

    _bracketed: ClassVar[bool] = True
    _unlisted = Mechanism._unlisted | {"attack", "cover", "few_outcomes"}

    @property
    @abstractmethod
    def attack(self) -> Mechanism:
        """What it is at least."""

    @property
    @abstractmethod
    def few_outcomes(self) -> Mechanism:
        """An attack that composes quickly."""

    @property
    @abstractmethod
    def cover(self) -> Mechanism:
        """What it is at most."""

    if not TYPE_CHECKING:  # type checkers read the questions of every mechanism
        delta, log_delta, epsilon, hockey_stick, tradeoff, inverse_tradeoff, renyi, kl_divergence, max_divergence, zcdp = map(
            _BothEnds,
            (
                "delta",
                "log_delta",
                "epsilon",
                "hockey_stick",
                "tradeoff",
                "inverse_tradeoff",
                "renyi",
                "kl_divergence",
                "max_divergence",
                "zcdp",
            ),
        )

    @property
    def _unanswered(self) -> str:
        """What there is no loss of."""
        return "a release that is known by bounds has no loss"

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
            f"{self._unanswered}: delta, epsilon, trade-off functions, divergences and zCDP are answered with a bracket, and "
            "other questions by m.cover, an upper bound"
        )


@dataclass(frozen=True, repr=False, eq=False)
class BracketedComposition(Bracketed, Composition):
    """A composition with a release that is bracketed; attacks compose, and so do covers."""

    loss_law = Bracketed.loss_law

    @property
    def attack(self) -> Mechanism:
        """All attacks, by few outcomes each."""
        return compose(count * (one.few_outcomes if isinstance(one, Bracketed) else one) for one, count in self.terms)

    @property
    def few_outcomes(self) -> Mechanism:
        """The same."""
        return self.attack

    @property
    def cover(self) -> Mechanism:
        """All covers."""
        return compose(count * (one.cover if isinstance(one, Bracketed) else one) for one, count in self.terms)


def _between(above: Any, below: Any) -> Any:
    """From the answers of the cover and of the attack: the private side is that of the cover."""
    if isinstance(above, Bounds) and isinstance(below, Bounds):
        answers = np.empty(above.shape, dtype=object)
        for place in np.ndindex(above.shape):
            answers[place] = _between(above[place], below[place])
        return Bounds(answers)
    if not (isinstance(above, Bound) and isinstance(below, Bound)):
        raise UnsupportedError("a complex number has no bracket: ask at a real order")
    lower, upper = (below.lower, above.upper) if above.side is Side.UPPER else (above.lower, below.upper)
    if lower == upper:
        return above
    return replace(above, lower=min(lower, above.value), upper=max(upper, above.value), status=Status.BRACKET, method=_METHOD)
