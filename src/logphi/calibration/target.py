"""The target of a calibration: an answer on the private side of a limit."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from logphi.algebra.families import hulls_are_loose, terms_of
from logphi.algebra.release import Mechanism
from logphi.answers.bound import Bound
from logphi.answers.status import Side
from logphi.inputs import check
from logphi.questions.delta import log_profile

# measured: coarser answers are no faster, and this is accurate enough for the search
_COARSE = 1e-2
# measured: the tolerance for delta as a share of that for the parameter, whose relative changes are at most those of delta
_SHARE = 0.05
# measured: answers that are more accurate take longer
_SHARPEST = 1e-9
# chosen: a reading this far below the limit, as a logarithm, may have any width
_FAR = 1.0
# chosen: wider readings do not direct the search
_UNINFORMATIVE = 5.0
# derived: the roundings of a logarithm and a difference
_ROUNDING = 1e-15


@dataclass(frozen=True)
class Reading:
    """Bounds of the excess of an answer over its limit, usually of the log of their ratio; positive if the limit is missed."""

    lower: float
    value: float
    upper: float

    @property
    def meets(self) -> bool:
        """Whether the answer is proved to be within the limit."""
        return self.upper <= 0

    @property
    def fails(self) -> bool:
        """Whether the answer is proved to miss the limit."""
        return self.lower > 0

    @property
    def uninformative(self) -> bool:
        """Whether the reading is undecided and too wide to direct the search."""
        return not (self.meets or self.fails) and self.upper - self.lower > _UNINFORMATIVE


class Target(ABC):
    """A question to a mechanism with the limit of its answer: an upper or a lower limit, by the side of the bound.

    ``limit`` is the limit of the question that decides, ``asked`` that of the quantity that the user named.
    """

    limit: float

    @property
    def asked(self) -> float:
        """The limit in the unit of the target."""
        return self.limit

    @abstractmethod
    def ask(self, mechanism: Mechanism) -> Bound:
        """The answer by which the goal is met or missed."""

    @abstractmethod
    def coarse(self, mechanism: Mechanism) -> Reading:
        """A quick reading, valid and perhaps wide."""

    def read(self, answer: Bound) -> Reading:
        """The excess of an answer over the limit."""
        ends = (excess(end, self.limit) for end in (answer.lower, answer.value, answer.upper))
        if answer.side is Side.UPPER:
            return Reading(*ends)
        upper, value, lower = (-end for end in ends)
        return Reading(lower, value, upper)

    def attained(self, mechanism: Mechanism, answer: Bound) -> Bound:
        """The answer in the unit of the target, if the question is already answered."""
        del mechanism
        return answer

    @property
    def point(self) -> tuple[float, float] | None:
        """The epsilon and the delta of a certificate; None for other targets."""
        return None

    def slack(self, attained: Bound) -> float:
        """The remaining slack of the target, on the private side."""
        left = self.asked - float(attained)
        return left if attained.side is Side.UPPER else -left


@dataclass(frozen=True)
class ProfileTarget(Target):
    """Delta at an epsilon, which must not exceed a delta above zero."""

    epsilon: float
    limit: float
    rtol: float

    @property
    def asked(self) -> float:
        """The epsilon of the target."""
        return self.epsilon

    @property
    def point(self) -> tuple[float, float]:
        """The epsilon and the delta."""
        return self.epsilon, self.limit

    def attained(self, mechanism: Mechanism, answer: Bound) -> Bound:
        """Epsilon at the delta of the target, on the side of the target that the delta proves."""
        found, reading = _one(mechanism.epsilon(self.limit)), self.read(answer)
        if not (reading.meets or reading.fails):
            return found
        side = min if reading.meets else max
        lower, value, upper = (side(end, self.epsilon) for end in (found.lower, found.value, found.upper))
        return replace(found, lower=lower, value=value, upper=upper)

    def ask(self, mechanism: Mechanism) -> Bound:
        """The privacy profile, as sharp as a decision may need."""
        answer = _one(mechanism.delta(self.epsilon, rtol=self.rtol))
        if self.rtol > _SHARPEST and answer.lower <= self.limit < answer.upper:
            answer = _one(mechanism.delta(self.epsilon, rtol=_SHARPEST))
        return answer

    def coarse(self, mechanism: Mechanism) -> Reading:
        """The log of delta, which directs the search even if delta underflows."""
        # far from the target doubles may overflow: the reading is then unknown
        level = math.log(self.limit)
        with np.errstate(all="ignore"):
            if mechanism._bracketed or mechanism._need_not_attain or hulls_are_loose(terms_of(mechanism)):
                found = _one(mechanism.log_delta(self.epsilon, rtol=_COARSE))
            else:
                loss = mechanism._loss()
                found = _one(log_profile(loss, self.epsilon, rtol=_COARSE, least=level - _FAR))
        error = _ROUNDING * (1 + abs(level))
        return Reading(found.lower - level - error, found.value - level, found.upper - level + error)

    def __str__(self) -> str:
        return f"epsilon <= {self.epsilon!r} at delta = {self.limit!r}"


@dataclass(frozen=True)
class QuestionTarget(Target):
    """Any question whose answer is a bound."""

    question: Callable[[Mechanism], Any]
    limit: float
    words: str

    def ask(self, mechanism: Mechanism) -> Bound:
        """The answer, checked."""
        return _one(self.question(mechanism))

    def coarse(self, mechanism: Mechanism) -> Reading:
        """The answer itself, because only the question knows its tolerance."""
        with np.errstate(all="ignore"):
            return self.read(self.ask(mechanism))

    def __str__(self) -> str:
        return self.words


def stated_target(epsilon: Any, delta: Any, question: Any, limit: Any, rtol: float) -> Target:
    """The target that the arguments of a calibration state; ``rtol`` is the tolerance of the parameter.

    Raises a ValueError or TypeError if they state none, or two, or a number is outside its range.
    """
    if (question is None) != (limit is None):
        raise ValueError("question and limit go together: give both, or epsilon and delta")
    if question is not None:
        if epsilon is not None or delta is not None:
            raise ValueError("give either epsilon and delta, or question and limit, not both")
        if not callable(question):
            raise TypeError(f"question must be a function of a mechanism, such as lambda m: m.zcdp(), got {question!r}")
        limit = check.real("limit", limit)
        return QuestionTarget(question, limit, f"the answer within {limit!r}")
    if epsilon is None or delta is None:
        raise ValueError(
            f"the target is an epsilon and a delta, got epsilon={epsilon!r} and delta={delta!r}: give both (delta=0 for pure "
            "privacy), or question= and limit="
        )
    epsilon = float(check.nonnegative("epsilon", epsilon))
    delta = float(check.unit("delta", delta))
    if delta == 1:
        raise ValueError("delta must be below 1, got 1.0: every mechanism meets that, and it guarantees nothing")
    if delta == 0:
        return QuestionTarget(lambda mechanism: mechanism.max_divergence(), epsilon, f"epsilon <= {epsilon!r} at delta = 0")
    return ProfileTarget(epsilon, delta, max(_SHARE * rtol, _SHARPEST))


def excess(answer: float, limit: float) -> float:
    """The logarithm of answer / limit if both are positive, otherwise their difference; its sign survives rounding."""
    if answer == limit:
        return 0.0
    if limit > 0 and answer >= 0:
        gap = math.log(answer / limit) if 0 < answer / limit < math.inf else math.copysign(math.inf, answer - limit)
    else:
        gap = answer - limit
    least = math.ulp(0.0)
    return max(gap, least) if answer > limit else min(gap, -least)


def _one(answer: Any) -> Bound:
    if not isinstance(answer, Bound):
        raise TypeError(f"the question must be answered by one Bound, got {answer!r} of type {type(answer).__name__}")
    return answer
