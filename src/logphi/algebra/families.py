"""Releases that stand for a family of mechanisms: at each step an adversary picks one member, knowing all earlier outcomes.

The pair of one such release is the hull of the pairs of the family: at every threshold, some member attains its profile. A
composition of hulls is an upper bound that no picks attain, as a member is picked before its outcome is seen. The largest
delta is that of the best picks.

It is largest if the steps of the family come after all other releases, when most is known. With delta_k the profile of k steps
and L the loss of the other releases, E[delta_k(x - L)] is an upper bound for every order.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from logphi.algebra.asking import Questions
from logphi.algebra.attacks import attacks, attained
from logphi.algebra.by_others import BY_RELEASES, DIVERGENCES, OF_FAMILY, PROFILES, TAILS, ByOthers, between, dominated
from logphi.algebra.family import CountedReleases, Family
from logphi.algebra.hull import hull
from logphi.algebra.release import Composition, Mechanism, Primitive, compose
from logphi.answers.bound import Bound, Bounds
from logphi.convex.symmetric_pair import SMALL, NearlyOneError
from logphi.pairs.pair import UnsupportedError

if TYPE_CHECKING:
    from logphi.questions.risk import AttackRisk
# measured: the two bounds are about as far apart, and a narrower answer for each takes longer
_APART = 5e-7
# measured: finite pairs may be sharper than densities from this share of the largest loss on, and beside so many tolerances
_NEAR_END, _WIDE = 0.9, 20.0
# chosen: if delta is still known to no more than this factor, finite pairs are computed that are sharp down to _TINY profiles
_FAR_APART, _TINY = 1.1, 1e-250


class FamilyAnswers(ByOthers):
    """Questions to a release with a part that stands for a family: where hulls are loose, other releases answer."""

    @property
    def risk(self) -> AttackRisk:
        """See :attr:`Questions.risk`; several steps of a family have the risk of the best picks."""
        from logphi.algebra.risk_between import RiskBetween

        terms = terms_of(self)
        if hulls_are_loose(terms):
            near = _nearly(terms)
            above, below = [upper(terms), *([near] if near else [])], lower(terms)
        elif self._need_not_attain:
            above, below = [hull(self)], []
        else:
            return super().risk
        proofs = BY_RELEASES if self._need_not_attain else OF_FAMILY
        return RiskBetween.of(self, above, [*below, *self._attacks()], proofs)

    risk.__doc__ = Questions.risk.__doc__

    def _composition(self) -> type[Composition]:
        found = super()._composition()
        return FamilyComposition if found is Composition and self._need_not_attain else found

    def _by_others(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        found = answered(self, name, arguments, options)
        if self._need_not_attain and name in TAILS:
            raise UnsupportedError(
                f"{name} is the tail of the loss of one pair; of this release only a pair that dominates it is known, and its "
                "own loss may have a larger tail: ask for delta or epsilon"
            )
        if not self._need_not_attain or name not in (*PROFILES, *DIVERGENCES, "explain"):
            return found
        if name == "explain":
            return found or explained(self, options)
        if found is None:
            found = getattr(Questions, name)(self, *arguments, **options)
        if not isinstance(found, (Bound, Bounds)):
            return found
        others = {key: value for key, value in options.items() if key != "method"}
        below = [getattr(one, name)(*arguments, **others) for one in self._attacks()]
        return between([found], *below) if below else dominated(found)


class Dominated(FamilyAnswers, Primitive):
    """A mechanism whose pair dominates it: it need not attain the pair, and its answers say so.

    They are brackets between the pair and attacks, where it has some.
    """

    _dominating: ClassVar = True

    @property
    def _need_not_attain(self) -> bool:
        return self._extreme is None


class Representative(FamilyAnswers):
    """A mechanism that may stand for a family, by the hull of its pairs."""

    _dominating: ClassVar = True

    @abstractmethod
    def family(self) -> Family | None:
        """The family that one such release stands for; None where it stands for itself alone."""

    def _composition(self) -> type[Composition]:
        return super()._composition() if self.family() is None else FamilyComposition


@dataclass(frozen=True, repr=False, eq=False)
class FamilyComposition(FamilyAnswers, Composition):
    """A composition with a mechanism that stands for a family, or that need not attain its pair."""

    @property
    def _need_not_attain(self) -> bool:
        return any(one._need_not_attain for one, _ in self.counted())

    def _attacks(self, *, sampled: bool = False) -> list[Mechanism]:
        return attacks(self, sampled=sampled)


# chosen: the skews of the members that are tried for a lower end
SKEWS = (0.5, 0.7, 0.9, 0.98)


def family_of(mechanism: Mechanism) -> Family | None:
    """The family for which a mechanism stands."""
    return mechanism.family() if isinstance(mechanism, Representative) else None


def terms_of(release: Mechanism) -> CountedReleases:
    """The distinct mechanisms of a release with their families and counts; families that merge are one."""
    terms = [(one, family_of(one), count) for one, count in release.counted()]
    for kind in dict.fromkeys(type(family) for _, family, _ in terms if family is not None):
        alike = [term for term in terms if type(term[1]) is kind]
        if (first := alike[0][1]) is not None and (joined := first.merged(alike)):
            terms = [*(term for term in terms if type(term[1]) is not kind), (*joined, 1)]
    return terms


def answered(release: Mechanism, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The answer to a question that the hulls do not answer; None where they do."""
    terms = terms_of(release)
    if name in TAILS and any(family for _, family, _ in terms):
        one = next(one for one, _ in release.counted() if family_of(one) is not None)
        raise UnsupportedError(
            f"{name} is the tail of the loss of one pair, and {one!r} stands for many pairs, some of which have a larger "
            "tail than the hull of all: ask for delta or epsilon, or ask the one pair that is meant, as a Discrete"
        )
    if name in DIVERGENCES:
        from logphi.algebra.divergences import largest

        return largest(terms, name, arguments, options) if any(family for _, family, _ in terms) else None
    if not hulls_are_loose(terms):
        return None
    if name == "explain":
        return explained(release, options)
    if options.get("method") is not None:
        others = {key: value for key, value in options.items() if key != "method"}
        above = getattr(Questions, name)(release, *arguments, **options)
        return between([above], *(getattr(one, name)(*arguments, **others) for one in lower(terms)), proofs=OF_FAMILY)
    near = _nearly(terms)
    _, single, count = terms[0]
    if len(terms) == 1 and single and (alone := single.alone(count, options.get("rtol"))) is not None:
        found = getattr(alone, name)(*arguments, **options)
        return found if near is None else between([found, getattr(near, name)(*arguments, **options)], found, proofs=OF_FAMILY)
    above = [upper(terms), *(other for _, family, _ in terms if family for other in family.joint_bounds(terms))]
    above += [near] if near else []
    below = lower(terms)
    finite = _finite(terms) if len(below) == 1 and name in _ASKED else None
    if finite and options.get("rtol") is None:
        options = {**options, "rtol": _APART}
    covers = [getattr(one, name)(*arguments, **options) for one in above]
    if name == "delta" and (nothing := _no_double(covers)) is not None:
        return nothing
    # any order of the pair gives a bound from below
    of_members = _in_largest_order(covers, options) if name in _ASKED else options
    members = [getattr(one, name)(*arguments, **of_members) for one in below]
    found = between(covers, *members, proofs=OF_FAMILY)
    asked = (*arguments, options.get(_ASKED.get(name, name)))[0]
    if finite is None or not _worth_finite(found, name, asked, options["rtol"], above[0]):
        return found
    for small in (SMALL, _TINY):
        for answers, other, own in zip((covers, members), _finite(terms, small) or (), (options, of_members), strict=True):
            # nothing is above steps that leak nearly everything
            with suppress(NearlyOneError):
                answers.append(getattr(other, name)(*arguments, **own))
        found = between(covers, *members, proofs=OF_FAMILY)
        if name != "delta" or not isinstance(found, Bound) or found.upper < _FAR_APART * found.lower:
            break
    return found


def explained(release: Mechanism, options: dict[str, Any]) -> Any:
    """The account of the pair, with the answer of the release."""
    found = Questions.explain(release, **options)
    asked = ("delta", "epsilon") if options.get("epsilon") is not None else ("epsilon", "delta")
    return replace(found, bound=getattr(release, asked[0])(options[asked[1]], method=options.get("method")))


def _no_double(covers: list[Any]) -> Bound | None:
    """The answer if a bound from above is at most the least positive double, so that no other one is narrower."""
    least = next((one for one in covers if isinstance(one, Bound) and one.upper <= math.ulp(0.0)), None)
    return None if least is None else replace(least, lower=0.0, value=0.0)


def _in_largest_order(covers: list[Any], options: dict[str, Any]) -> dict[str, Any]:
    """The options with the order of the pair that decides the sharpest bound from above, unless an order is given."""
    if options.get("direction") is not None or not all(isinstance(one, Bound) for one in covers):
        return options
    order = min(covers, key=lambda one: one.upper).direction
    return options if order is None else {**options, "direction": order}


# the arguments of two questions
_ASKED = {"delta": "epsilon", "epsilon": "delta"}


def _worth_finite(found: Any, name: str, asked: Any, rtol: float, above: Mechanism) -> bool:
    """Whether an answer is wider than each bound may be, together: by far, or at an epsilon near the largest loss."""
    if not isinstance(found, Bound) or not math.isfinite(found.upper):
        return False
    epsilon, scale = (float(asked), found.upper) if name == "delta" else (found.upper, max(found.upper, 1.0))
    width = found.upper - found.lower
    return width > 2 * rtol * scale and (width > _WIDE * rtol * scale or epsilon > _NEAR_END * above.loss_law().support.upper)


def _finite(terms: CountedReleases, small: float = SMALL) -> tuple[Mechanism, Mechanism] | None:
    """One more bound from above and one from below, if several steps are taken of one family only, and it has them."""
    families = [(family, count) for _, family, count in terms if family is not None]
    if len(families) != 1:
        return None
    ((family, steps),) = families
    others = [count * one for one, other, count in terms if other is None]
    found = [family.finite(steps, above=above, small=small) for above in (True, False)]
    above, below = (one and compose([*others, one]) for one in found)
    return (above, below) if above and below else None


def hulls_are_loose(terms: CountedReleases) -> bool:
    """Whether the composition of the hulls is only an upper bound of the best picks."""
    families = [(family, count) for _, family, count in terms if family is not None]
    return sum(count for _, count in families) > 1 or any(not family.attained for family, _ in families)


def upper(terms: CountedReleases) -> Mechanism:
    """A mechanism that dominates the whole composition."""
    _, single, count = terms[0]
    if len(terms) == 1 and single and (alone := single.alone(count)) is not None:
        return alone
    return compose(_each_above(terms))


def with_others(terms: CountedReleases, own: Family, above: Mechanism) -> Mechanism:
    """A mechanism that dominates the whole composition, from one that dominates all steps of a family."""
    return compose([above, *_each_above([term for term in terms if term[1] is not own])])


def _each_above(terms: CountedReleases) -> list[Mechanism]:
    return [
        family.above(count) if family else count * (hull(one) if one._need_not_attain else one) for one, family, count in terms
    ]


def lower(terms: CountedReleases, *, sampled: bool = False) -> list[Mechanism]:
    """Mechanisms that the best picks dominate: one family is picked adaptively, all others are fixed members.

    Of mechanisms that need not attain their pair, the first attack is taken, if there is one.
    """
    sizes = [0.0 if family is None else count * family.size() for _, family, count in terms]
    sharp = sizes.index(max(sizes))
    families = [family for _, family, _ in terms if family is not None]
    alike = len(families) == 1 and sizes[sharp] > 0 and families[0].skewless
    return [
        compose(
            part
            for place, (one, family, count) in enumerate(terms)
            for part in (
                attained(one, count, sampled=sampled)
                if family is None
                else [family.below(count, skew) if place == sharp else family.fixed(count, skew)]
            )
        )
        for skew in SKEWS[: 1 if alike else None]
    ]


def _nearly(terms: CountedReleases) -> Mechanism | None:
    """One more pair that dominates all of it, if every family has one."""
    parts = [one if family is None else family.nearly() for one, family, _ in terms]
    if not any(isinstance(one, tuple) for one in parts) or any(one is None for one in parts):
        return None
    return compose(
        count * part
        for one, (_, _, count) in zip(parts, terms, strict=True)
        for part in (one if isinstance(one, tuple) else (one,))
        if part is not None
    )
