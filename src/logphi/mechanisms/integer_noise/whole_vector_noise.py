"""Mechanisms that add noise of one law to every coordinate of an integer vector."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from logphi.algebra.families import Representative
from logphi.algebra.family import Family
from logphi.algebra.release import Mechanism, Primitive
from logphi.laws.log_phi import LogPhi
from logphi.mechanisms.declared import WithinCurve, converted
from logphi.mechanisms.declared_curves import Curve
from logphi.mechanisms.integer_noise.whole_vectors import WholeVectors
from logphi.pairs.pair import Pair


class OfWholeVectors(Curve):
    """A curve of such noise; its lower ends are those of ``one_query``."""

    one_query: tuple[tuple[Mechanism, int], ...]

    @property
    def gaussian(self) -> float:
        """Zero: no integer-valued query need leak as much as a Gaussian mechanism."""
        return 0.0

    @property
    def members(self) -> tuple[tuple[Mechanism, int], ...]:
        """One query, coordinate by coordinate."""
        return self.one_query


class WholeVectorNoise(Representative, Primitive):
    """Answers by one pair if a single coordinate moves, otherwise by bounds of the divergences.

    In one coordinate, noise with a log-concave law is easiest to distinguish if it is shifted as far as possible. For a shift s
    the best event at each threshold is an interval from some t on, as the likelihood ratio increases; under a larger shift that
    event is as likely without the record, and more likely with it.
    """

    _grows: ClassVar = ("l2_sensitivity", "l1_sensitivity")

    l2_sensitivity: float
    l1_sensitivity: float | None
    dimension: int | None

    @abstractmethod
    def _one_coordinate(self, move: int, sampled: bool = False) -> Mechanism | None:
        """The mechanism of one coordinate that moves by ``move``, if its pair is known; if ``sampled``, also its samples."""

    @abstractmethod
    def _bounds(self) -> Curve:
        """Bounds of the divergences, where more than one difference may be the worst."""

    @property
    def _moves(self) -> WholeVectors:
        return WholeVectors.of(self.l2_sensitivity, self.l1_sensitivity, self.dimension)

    @property
    def _exact(self) -> Mechanism | None:
        """The release of the worst difference, if there is one."""
        moves = self._moves
        if self._extreme or moves.coordinates > 1:
            return None
        return self._one_coordinate(next(moves.one_difference()), sampled=True)

    def _members(self) -> tuple[tuple[Mechanism, int], ...]:
        """The release of one difference."""
        counts: dict[Mechanism, int] = {}
        for move in self._moves.one_difference():
            one = self._one_coordinate(move)
            if one is None:
                return ()
            counts[one] = counts.get(one, 0) + 1
        return tuple(counts.items())

    def family(self) -> Family | None:
        """All queries of these sensitivities; None where one of them is the worst."""
        return None if self._extreme or self._exact else WithinCurve(self, self._bounds(), self.adjacency)

    def pair(self) -> Pair:
        """The pair of the worst difference, or the one that the divergences imply."""
        if extreme := self._extreme:
            return extreme
        exact = self._exact
        return exact.pair() if exact else converted(self._bounds())

    def loss_law(self) -> LogPhi:
        """The loss of the pair."""
        exact = self._exact
        return exact.loss_law() if exact else self.pair().loss()
