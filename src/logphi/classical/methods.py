"""The classical methods, applied to a release with the premises that each needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TypeVar

from logphi.algebra.families import hulls_are_loose, terms_of
from logphi.algebra.release import Mechanism
from logphi.answers.approximation import Approximation
from logphi.answers.status import Side
from logphi.classical import composition, concentrated, loss_class, markov, premises, renyi, saddle_point
from logphi.classical.claim import Claim
from logphi.classical.composition import Advanced, Guarantee
from logphi.engine.directions import directions_under
from logphi.laws.log_phi import LogPhi
from logphi.pairs.pair import UnsupportedError

Answer = Claim | Approximation
T = TypeVar("T")

# the sources of the approximations; claims name their theorems themselves
SOURCES: Mapping[str, str] = {
    "central limit theorem": "Sommer, Meiser & Mohammadi 2019",
    "saddle point": "Alghamdi et al. 2023",
}

# chosen: the delta that all releases with unbounded losses spend together, where delta is asked for: one of these
_SPENT = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
# chosen: what they spend together of a given delta: one of these shares
_SHARES = (0.9, 0.5, 0.1)
# measured: the moments of a sampled loss take about twenty milliseconds
_MOST_LOSSES = 256
# measured: such a sum takes milliseconds, and is computed some fifty times
_LONGEST_SUM = 1 << 15
# derived: the rounded sum of the shares stays below the whole
_WITHIN = 1 - 1e-9


@dataclass(frozen=True)
class Methods:
    """The methods, for delta at an epsilon or for epsilon at a delta of one release."""

    mechanism: Mechanism
    asks_delta: bool
    at: float

    def all(self) -> Iterator[tuple[str, Callable[[], Answer]]]:
        """Names and functions without arguments, in order; an UnsupportedError says why a method does not apply."""
        basic = partial(self._composed, composition.basic_delta, composition.basic_epsilon)
        yield "basic composition", partial(basic, (1.0,), both=False)
        for theorem, name in ((Advanced.STEINKE, "advanced composition"), (Advanced.KAIROUZ, "advanced composition, sharper")):
            of_delta, of_epsilon = (
                partial(one, theorem=theorem) for one in (composition.advanced_delta, composition.advanced_epsilon)
            )
            yield name, partial(self._composed, of_delta, of_epsilon, _SHARES)
        yield "optimal composition", self._optimal
        yield "zCDP, tail", partial(self._of_budget, concentrated.tail_delta, concentrated.tail_epsilon)
        yield "zCDP, best order", self._best_order
        yield "Renyi, integer orders", self._integer_orders
        for how in renyi.Conversion:
            of = self._asked(renyi.delta, renyi.epsilon)
            yield f"Renyi, {how.value}", partial(of, self.mechanism, self.at, conversion=how)
        yield "Markov-ADP", partial(self._asked(markov.delta, markov.epsilon), self.mechanism, self.at)
        for name, delta, epsilon in (
            ("Berry-Esseen", loss_class.berry_esseen_delta, loss_class.berry_esseen_epsilon),
            ("Nagaev", loss_class.nagaev_delta, loss_class.nagaev_epsilon),
        ):
            for side in (Side.UPPER, Side.LOWER):
                yield name, partial(self._of_class, delta, epsilon, side)
        yield "central limit theorem", partial(self._of_class, loss_class.normal_delta, loss_class.normal_epsilon)
        yield "saddle point", self._saddle_point

    def _asked(self, delta: Callable[..., T], epsilon: Callable[..., T]) -> Callable[..., T]:
        return delta if self.asks_delta else epsilon

    def _composed(
        self, delta: Callable[..., Claim], epsilon: Callable[..., Claim], shares: tuple[float, ...], both: bool = True
    ) -> Claim:
        """A theorem on guarantees, at the best of a few deltas for the releases with unbounded losses."""
        of = self._asked(delta, epsilon)
        known = self._of_both_orders if both or self._has_both_orders else premises.guarantees(self.mechanism)
        releases = premises.unbounded_releases(self.mechanism, both)
        if releases == 0:
            best, note = of(known(0.0), self.at), "each part at its largest loss"
        else:
            left = max(self.at - premises.bounded_mass(self.mechanism, both), 0.0) * _WITHIN
            tried = _SPENT if self.asks_delta else tuple(left * share for share in shares)
            tried = tuple(total for total in tried if total / releases > 0)
            if not tried:
                raise UnsupportedError("delta is hardly larger than the probability of an infinite loss, or zero")
            found = [(of(known(total / releases), self.at), total / releases) for total in tried]
            best, each = min(found, key=lambda pair: float(pair[0]))
            note = f"each unbounded release at delta {each:.3g}"
        return replace(best, note=", ".join(filter(None, (note, best.note))))

    @cached_property
    def _has_both_orders(self) -> bool:
        return len(directions_under(self.mechanism.adjacency)) == 2

    @cached_property
    def _of_both_orders(self) -> Callable[[float], list[Guarantee]]:
        """Guarantees, each of which is asked for once: several theorems need those at the same deltas."""
        return cache(premises.guarantees(self.mechanism, both=True))

    def _optimal(self) -> Claim:
        if math.prod(count + 1 for _, count in self.mechanism.counted()) > _LONGEST_SUM:
            raise UnsupportedError(f"the best composition of these guarantees is a sum of more than {_LONGEST_SUM} terms")
        return self._composed(composition.optimal_delta, composition.optimal_epsilon, _SHARES)

    def _of_budget(self, delta: Callable[..., Claim], epsilon: Callable[..., Claim]) -> Claim:
        return self._asked(delta, epsilon)(self._budget, self.at)

    def _best_order(self) -> Claim:
        return replace(self._of_budget(concentrated.delta, concentrated.epsilon), source="Steinke 2022, Proposition 14")

    def _integer_orders(self) -> Claim:
        curve = premises.whole_order_curve(self.mechanism)
        found = self._asked(renyi.delta, renyi.epsilon)(curve, self.at, conversion=renyi.Conversion.CANONNE)
        return replace(found, note=f"{found.note} of 2 to {premises.LARGEST_ORDER}" if found.note else "")

    def _of_class(self, delta: Callable[..., Answer], epsilon: Callable[..., Answer], *side: Side) -> Answer:
        """The larger answer of both directions, which is valid for upper and lower bounds unless the pair is a hull."""
        if Side.LOWER in side and hulls_are_loose(terms_of(self.mechanism)):
            raise UnsupportedError(
                "a lower bound of the hulls of mechanisms of bounded range is not one of the mechanisms themselves, each of "
                "which may be chosen after seeing the outputs of those before"
            )
        of = self._asked(delta, epsilon)
        return max((of(known, self.at, *side) for known in self._classes), key=float)

    def _saddle_point(self) -> Answer:
        of = self._asked(saddle_point.saddle_point_delta, saddle_point.saddle_point_epsilon)
        return max((of(law, self.at) for law in self._laws), key=float)

    @cached_property
    def _budget(self) -> concentrated.Concentrated:
        return concentrated.Concentrated.of(self.mechanism)

    @cached_property
    def _laws(self) -> tuple[LogPhi, ...]:
        return tuple(law for _, law in self.mechanism._loss().orders(None))

    @cached_property
    def _classes(self) -> tuple[loss_class.LossClass, ...]:
        if len(self._laws[0].terms) > _MOST_LOSSES:
            raise UnsupportedError(f"more than {_MOST_LOSSES} distinct losses: a third moment of each would take long")
        return tuple(loss_class.classes(self.mechanism))
