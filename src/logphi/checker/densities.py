"""Laws with densities whose logarithms are formulas, on intervals: log p and log q, each up to a constant.

P and Q are e^{log p} and e^{log q}, divided by their integrals. What lies outside of all panels may have any loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb

from logphi.checker.balls import between, remembered, rough
from logphi.checker.formula import Piece
from logphi.checker.law import LARGEST_LOSS, SMALLEST_LOSS, Law
from logphi.checker.panels import Panel, Part, panels_of
from logphi.checker.work import STORED, Undecided, spend

# chosen: how often a panel is halved to find its losses roughly
LOOKED = 5
# chosen: a loss of no more mass is no atom for cells
ATOM = 2.0**-20


@dataclass(frozen=True)
class _Known:
    """At one precision: the panels, what both densities have beyond them at most, and the whole of both.

    ``shift`` is what the wholes add to the loss; ``finite`` are the masses of P and Q where the loss is finite.
    """

    panels: tuple[Panel, ...]
    beyond: tuple[Any, Any]
    whole: tuple[Any, Any]
    shift: Any
    finite: tuple[Any, Any]


class Densities(Law):
    """The pair of such laws: the pieces, and bounds of what both densities have beside them, at the precision in force."""

    def __init__(self, source: Callable[[], tuple[Sequence[Piece], list[Any]]]) -> None:
        self._source = source
        self.known = remembered(self._prepared)

    def reversed(self) -> Law:
        """From the same masses."""
        return _Reversed(self)

    def infinite(self) -> Any:
        """Where q is zero."""
        return 1 - self.known().finite[0]

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        """The panels above, and all between nothing and the mass of what is not known."""
        above, unknown = self._above(epsilon)
        known = self.known()
        found = [
            (above[side] + between(0, sum((own[side] for own, _ in unknown), known.beyond[side]))) / known.whole[side]
            for side in (0, 1)
        ]
        return found[0], found[1]

    def single_excess(self, epsilon: Any) -> Any:
        """What is not known matters by p - e^eps q, which is at most p times 1 - e^{eps - L}."""
        (p, q), unknown = self._above(epsilon)
        known = self.known()
        lost = sum((own[0] * -(epsilon - loss).expm1().min(arb(0)) for own, loss in unknown), known.beyond[0])
        return (p + between(0, lost)) / known.whole[0] - epsilon.exp() * q / known.whole[1]

    def corners(self) -> list[Any]:
        """The smallest and the largest loss of a panel on which it is constant."""
        known, found = self.known(), list[Any]()
        for panel in known.panels:
            if panel.flat() and panel.masses(panel.high)[0] > ATOM * known.whole[0]:
                loss = panel.loss + known.shift
                if not any(loss.overlaps(one) for one in found):
                    found.append(loss)
        found.sort(key=rough)
        return found[:: max(len(found) - 1, 1)]

    def reach(self, goal: float) -> tuple[float, float]:
        """By the losses of all panels but those of little mass."""
        known, least = self.known(), arb(goal).exp()
        ends = [0.0]
        for panel in known.panels:
            if len(panel.given) == 2 and not all(one < least for one in panel.masses(panel.high)):
                ends += [rough(loss + known.shift) for loss in panel.extremes(LOOKED)]
        if not max(map(abs, ends)) < LARGEST_LOSS:
            raise Undecided("the losses are too large for cells")
        return min(ends) - SMALLEST_LOSS, max(ends) + SMALLEST_LOSS

    def _above(self, epsilon: Any) -> tuple[list[Any], list[tuple[list[Any], Any]]]:
        """Masses, not divided, where the loss is above, and those of parts where that is not known, with the loss there."""
        known, unknown = self.known(), []
        found = [arb(0), arb(0)]
        for whole in known.panels:
            spend(STORED / 4)
            if len(whole.given) < 2 or whole.loss < epsilon - known.shift:
                continue
            if whole.loss > epsilon - known.shift:
                found = [one + more for one, more in zip(found, whole.masses(whole.high), strict=True)]
                continue
            for first, low, last, high, above in _joined(whole.parts(epsilon - known.shift)):
                own = [b - a for a, b in zip(first.masses(low), last.masses(high), strict=True)]
                if above is True:
                    found = [one + more for one, more in zip(found, own, strict=True)]
                else:
                    unknown.append(([one.abs_upper() for one in own], above + known.shift))
        return found, unknown

    def _prepared(self) -> _Known:
        panels = list[Panel]()
        pieces, beyond = self._source()
        for piece in pieces:
            own, lost = panels_of(piece)
            panels += own
            beyond = [one + more for one, more in zip(beyond, lost, strict=True)]
        whole = [between(0, one) for one in beyond]
        finite = [between(0, one) for one in beyond]
        for panel in panels:
            for side, mass in enumerate(panel.masses(panel.high)):
                whole[side] += mass
                finite[side] += mass if len(panel.given) == 2 else 0
        if not all(one > 0 for one in (*whole, *finite)):
            raise Undecided("the two densities share no mass")
        alone = any(len(panel.given) < 2 for panel in panels)
        shares = [one / all_of_it if alone else arb(1) for one, all_of_it in zip(finite, whole, strict=True)]
        shift = whole[1].log() - whole[0].log()
        return _Known(tuple(panels), (beyond[0], beyond[1]), (whole[0], whole[1]), shift, (shares[0], shares[1]))


@dataclass(frozen=True)
class _Reversed(Law):
    """The densities exchanged: what is above an epsilon is what is not above its opposite, of finite losses."""

    base: Densities

    def reversed(self) -> Law:
        """As they were."""
        return self.base

    def infinite(self) -> Any:
        """Where p is zero."""
        return 1 - self.base.known().finite[1]

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        """The complements."""
        p, q = self.base.tails(-epsilon)
        finite = self.base.known().finite
        return finite[1] - q, finite[0] - p

    def single_excess(self, epsilon: Any) -> Any:
        """As q - e^eps p is (q - e^eps p)_+ less e^eps (p - e^{-eps} q)_+."""
        p, q = self.base.known().finite
        return q - epsilon.exp() * (p - self.base.single_excess(-epsilon))

    def corners(self) -> list[Any]:
        """With the other sign."""
        return [-one for one in self.base.corners()]

    def reach(self, goal: float) -> tuple[float, float]:
        """With the other sign."""
        low, high = self.base.reach(goal)
        return -high, -low


def _joined(parts: Iterator[Part]) -> Iterator[tuple[Panel, Any, Panel, Any, Any]]:
    """Parts above, or not known, with the panels of their ends; neighbours above are one."""
    start: tuple[Panel, Any] | None = None
    end: tuple[Panel, Any] | None = None
    for panel, low, high, above in parts:
        if above is True:
            start, end = start or (panel, low), (panel, high)
            continue
        if start and end:
            yield *start, *end, True
            start = None
        if above is not False:
            yield panel, low, panel, high, above
    if start and end:
        yield *start, *end, True
