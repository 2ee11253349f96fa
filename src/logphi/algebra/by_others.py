"""Questions to a release that other releases answer: those that dominate it, and those that it dominates.

If A is dominated by a release, and B dominates it, its delta lies between those of A and B, and so does every answer that grows
with the pair: :func:`between`. There are three kinds of such releases:

* :class:`~logphi.algebra.enclosed.Enclosed`: the release has a loss, with estimated errors or one that is slow to compute, and
  lies between two others, its *ends*. They answer what grows with the profile; the loss answers the rest.
* :class:`~logphi.algebra.bracketed.Bracketed`, an enclosed release without a known loss: an *attack* and a *cover* are its
  ends, and what they do not answer is refused.
* :class:`~logphi.algebra.families.FamilyAnswers`: the release has a pair, which dominates it, and which it need not attain, or
  which compositions of it do not attain. There may be several releases on either side.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from logphi.algebra.asking import Questions
from logphi.algebra.release import Mechanism
from logphi.answers.bound import Bound, Bounds
from logphi.answers.status import Side
from logphi.engine.answer import between_others, of_pair_above
from logphi.pairs.pair import UnsupportedError

METHOD = "bracket"
Proofs = tuple[str, str]
BY_RELEASES: Proofs = ("a release that this one dominates", "a release that dominates this one")
OF_FAMILY: Proofs = ("members of the family, chosen beforehand", "a bound for every choice of members")
# questions whose answers grow with the profile; those that a dominating pair does not bound; those that grow with the moments
PROFILES = ("delta", "log_delta", "epsilon", "hockey_stick", "tradeoff", "inverse_tradeoff")
TAILS = ("pdp_delta", "pdp_epsilon")
DIVERGENCES = ("renyi", "kl_divergence", "max_divergence", "zcdp")


class Asked:
    """A question of a class, which an instance may let others answer."""

    def __init__(self, questions: type, name: str) -> None:
        self._questions, self._name = questions, name

    def __get__(self, instance: Any, owner: type) -> Any:
        question = getattr(self._questions, self._name)
        if instance is None:
            return question

        @functools.wraps(question)
        def ask(*arguments: Any, **options: Any) -> Any:
            found = instance._by_others(self._name, arguments, options)
            return question(instance, *arguments, **options) if found is None else found

        return ask


class ByOthers(Mechanism):
    """A mechanism some of whose questions are answered by other releases."""

    @abstractmethod
    def _by_others(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """The answer of other releases to a question; None where the loss of this one answers it."""
        return None


# type checkers read the questions themselves
for _name in (*PROFILES, *TAILS, *DIVERGENCES, "explain"):
    setattr(ByOthers, _name, Asked(Questions, _name))


def between(covers: Sequence[Any], *below: Any, proofs: Proofs = BY_RELEASES) -> Any:
    """The bracket by the answers of releases that dominate one, the sharpest of them, and of releases that it dominates.

    ``proofs`` says what the latter are, and the former.
    """
    if all(isinstance(one, Bounds) for one in (*covers, *below)):
        size = len(covers)
        return _by_point(lambda *answers: between(answers[:size], *answers[size:], proofs=proofs), *covers, *below)
    if not all(isinstance(one, Bound) for one in (*covers, *below)):
        raise UnsupportedError("a complex number has no bracket: ask at a real order")
    above = min(covers, key=lambda one: one.upper if one.side is Side.UPPER else -one.lower)
    lower, upper = above.lower, above.upper
    if above.side is Side.UPPER:
        lower = max(one.lower for one in below)
    else:
        upper = min(one.upper for one in below)
    if lower == upper:
        return above
    status = between_others(all(one.ledger.proved for one in (*covers, *below)))
    bracket = replace(above, lower=min(lower, above.value), upper=max(upper, above.value), status=status, method=METHOD)
    return replace(bracket, proofs=proofs if above.side is Side.UPPER else proofs[::-1])


def dominated(found: Any) -> Any:
    """The answer of a pair, point by point, as that of a release that it dominates."""
    if isinstance(found, Bounds):
        return _by_point(dominated, found)
    return of_pair_above(found) if isinstance(found, Bound) else found


def narrower(one: Any, other: Any) -> Any:
    """The narrower of two answers to one question, point by point."""
    if not isinstance(one, Bounds):
        return one if one.width < other.width else other
    return _by_point(narrower, one, other)


def _by_point(combined: Callable[..., Any], *answers: Bounds) -> Bounds:
    """The answers of one shape, combined at each point."""
    found = np.empty(answers[0].shape, dtype=object)
    for place in np.ndindex(found.shape):
        found[place] = combined(*(one[place] for one in answers))
    return Bounds(found)
