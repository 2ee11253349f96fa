"""Releases that stand for a family of mechanisms, of which an adversary picks one after the other.

The pair of one such release is the hull of the pairs of the family: whatever the threshold, some member attains its profile.
Several hulls together are an upper bound that nothing attains, as a member is picked before its outcome is seen: the largest
delta is that of the best picks, each of which may depend on what came before.

Steps of a family may be counted behind all other releases, where most is known when they are picked. Their profile delta_k
together with the loss L of other releases gives E[delta_k(x - L)], an upper bound in whatever order they come.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from logphi.algebra.asking import Questions
from logphi.algebra.ends import DIVERGENCES, PROFILES, Asked, between

if TYPE_CHECKING:
    from logphi.algebra.release import Mechanism
    from logphi.questions.risk import AttackRisk


class Family(ABC):
    """What one release stands for."""

    # whether the profile of the hull is that of one step
    attained = True

    @abstractmethod
    def alone(self, count: int, rtol: float | None = None) -> Mechanism | None:
        """A release with the profile of so many steps, known between bounds, as narrow as asked if that can be; or None."""

    @abstractmethod
    def above(self, count: int) -> Mechanism:
        """A pair that dominates so many steps, whatever is picked."""

    @abstractmethod
    def below(self, count: int, lean: float = 0.5) -> Mechanism:
        """A pair that the best picks of so many steps dominate at every threshold."""

    @abstractmethod
    def fixed(self, count: int, lean: float = 0.5) -> Mechanism:
        """So many steps, all by one member: balanced, or leaning up to 1 towards rare and large negative losses."""

    @abstractmethod
    def size(self) -> float:
        """In a composition, the family of the largest size times its count gets the sharper lower end."""

    @abstractmethod
    def divergence(self, order: float) -> tuple[float, float] | None:
        """Bounds of the largest Renyi divergence of one step in any direction; None where only the hull bounds it."""

    @abstractmethod
    def rho(self) -> float:
        """An upper bound of that divergence over its order, for all orders above 1."""

    def line(self) -> tuple[float, float]:
        """Xi and rho such that the divergence is at most xi + rho a at every order a above 1."""
        return 0.0, self.rho()

    def gathered(self, terms: Sequence[tuple[Family, int]]) -> Mechanism | None:
        """One release that stands for all those of a composition that gather; None where each stands for itself."""
        return None

    def together(self, terms: Terms) -> Mechanism | None:
        """Another pair that dominates a whole composition, if one is known."""
        return None


class Picked(Questions):
    """Questions to what may stand for a family."""

    @abstractmethod
    def counted(self) -> tuple[tuple[Mechanism, int], ...]:
        """The distinct mechanisms that this one is composed of, with their counts."""

    def family(self) -> Family | None:
        """What one such release stands for, if its pair is the hull of a family of which members are picked one by one."""
        return None

    if not TYPE_CHECKING:  # type checkers read the questions themselves
        delta, log_delta, epsilon, hockey_stick, tradeoff, inverse_tradeoff = map(Asked, PROFILES)
        renyi, kl_divergence, max_divergence, zcdp = map(Asked, DIVERGENCES)
        explain = Asked("explain")

    @property
    def risk(self) -> AttackRisk:
        """See :attr:`Questions.risk`; several steps of a family are those of the best picks."""
        terms = terms_of(self)
        return upper(terms).risk if picks(terms) else super().risk

    risk.__doc__ = Questions.risk.__doc__

    def _by_others(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """The answer of other releases to a question; None where the loss answers it."""
        return answered(self, name, arguments, options)


# chosen: members that are tried for a lower end
LEANS = (0.5, 0.7, 0.9, 0.98)

Terms = Sequence[tuple["Mechanism", Family | None, int]]


def terms_of(release: Picked) -> Terms:
    """The distinct mechanisms of a release with what they stand for, and their counts; those that gather are one."""
    terms = [(one, one.family(), count) for one, count in release.counted()]
    listed = [(family, count) for _, family, count in terms if family is not None]
    joined = next((found for family, _ in listed if (found := family.gathered(listed)) is not None), None)
    if joined is None:
        return terms
    rest = [term for term in terms if term[1] is None or term[1].gathered(()) is None]
    return [*rest, (joined, joined.family(), 1)]


def answered(release: Picked, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The answer to a question that the hulls do not answer; None where they do."""
    terms = terms_of(release)
    if name in DIVERGENCES:
        from logphi.algebra.divergences import largest

        return largest(terms, name, arguments, options) if any(family for _, family, _ in terms) else None
    if not picks(terms):
        return None
    if name == "explain":
        # what the hulls are made of, and the answer of the picks
        found = Questions.explain(release, *arguments, **options)
        asked = ("delta", "epsilon") if options.get("epsilon") is not None else ("epsilon", "delta")
        return replace(found, bound=getattr(release, asked[0])(options[asked[1]], method=options.get("method")))
    if options.get("method") is not None:
        others = {key: value for key, value in options.items() if key != "method"}
        above = getattr(Questions, name)(release, *arguments, **options)
        return between([above], *(getattr(one, name)(*arguments, **others) for one in lower(terms)))
    if len(terms) == 1 and (alone := _alone(terms, options.get("rtol"))) is not None:
        return getattr(alone, name)(*arguments, **options)
    above = [upper(terms), *(other for _, family, _ in terms if family and (other := family.together(terms)))]
    return between(
        [getattr(one, name)(*arguments, **options) for one in above],
        *(getattr(one, name)(*arguments, **options) for one in lower(terms)),
    )


def picks(terms: Terms) -> bool:
    """Whether the hulls together are more than the best picks."""
    families = [(family, count) for _, family, count in terms if family is not None]
    return sum(count for _, count in families) > 1 or any(not family.attained for family, _ in families)


def upper(terms: Terms) -> Mechanism:
    """A pair that dominates all of it."""
    from logphi.algebra.release import compose

    if len(terms) == 1 and (alone := _alone(terms)) is not None:
        return alone
    return compose(count * one if family is None else family.above(count) for one, family, count in terms)


def lower(terms: Terms) -> list[Mechanism]:
    """Pairs that the best picks dominate: those of one family adapt, all others are fixed."""
    from logphi.algebra.release import compose

    sizes = [0.0 if family is None else count * family.size() for _, family, count in terms]
    sharp = sizes.index(max(sizes))
    alike = all(family is None or place == sharp for place, (_, family, _) in enumerate(terms)) and sizes[sharp] > 0
    return [
        compose(
            count * one if family is None else family.below(count, lean) if place == sharp else family.fixed(count, lean)
            for place, (one, family, count) in enumerate(terms)
        )
        for lean in ((0.5,) if alike else LEANS)
    ]


def sampled_family(release: Mechanism, base: Mechanism, again: Callable[[Mechanism], Mechanism]) -> Family | None:
    """What a sample stands for, of a base that may stand for a family; ``again`` draws the same sample for another base."""
    if all(one.family() is None for one, _ in base.counted()):
        return None
    from logphi.algebra.hulls import Sampled

    return Sampled(release, base, again)


def _alone(terms: Terms, rtol: float | None = None) -> Mechanism | None:
    _, family, count = terms[0]
    return None if family is None else family.alone(count, rtol)
