"""The range of a law's losses, and cells for it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import singledispatch
from itertools import pairwise
from typing import Any

from flint import arb, ctx

from logphi.checker.allocation.allocated import Allocated
from logphi.checker.allocation.levels import Kind
from logphi.checker.arithmetic.balls import ball, rough
from logphi.checker.arithmetic.work import STORED, Undecided, demand, spend
from logphi.checker.laws.composition import Composition, Terms
from logphi.checker.laws.finite import Finite
from logphi.checker.laws.law import Law, Reversed
from logphi.checker.laws.panels import Panel
from logphi.checker.laws.sampled import Sampled
from logphi.checker.laws.uniform import TiltedUniform
from logphi.checker.mechanisms.choice import Choice
from logphi.checker.mechanisms.densities import Densities

# chosen: where losses are larger, no cells are made; and a range of losses is not resolved below the other number
LARGEST_LOSS, SMALLEST_LOSS = 2.0**40, 2.0**-100
# chosen: how often a panel is halved to estimate the range of its losses
DEPTH = 5
# chosen: a constant loss of less mass does not count as an atom
ATOM = 2.0**-20
# chosen: a law whose range is this many times that of a law with atoms sets the width of cells
WIDER = 16
# chosen: nodes on the first level of one ratio
ROUGH = 64

Range = tuple[float, float]


def cells_of(laws: Terms, goal: float, number: int) -> tuple[float, Sequence[tuple[float, int]]]:
    """A width, and for each law where its cells begin, and how many; the leading law has atoms or the widest range."""
    floor = goal - math.log(64 + 64 * len(laws))
    ranges = [loss_range(law, floor - math.log(count)) for law, count in laws]
    atom_losses = [atoms(law) for law, _ in laws]
    leading = max(range(len(laws)), key=lambda k: (len(atom_losses[k]), ranges[k][1] - ranges[k][0]))
    low, high = ranges[leading]
    width = max(high - low, max(high - low for low, high in ranges) / WIDER) / number
    if len(atom_losses[leading]) == 2:
        # both atoms at the centre of a cell
        gap = abs(rough(atom_losses[leading][0] - atom_losses[leading][1]))
        width = gap / math.ceil(gap / width)
    found = []
    for (low, high), places in zip(ranges, atom_losses, strict=True):
        anchor = rough(places[0]) - width / 2 if places else low - width / 3
        base = anchor - math.ceil((anchor - low) / width) * width
        found.append((base, math.ceil((high - base) / width) + 1))
    return width, found


@singledispatch
def loss_range(law: Law, goal: float) -> Range:
    """Losses between which all but about e^``goal`` of the mass lies."""

    def outside(t: float) -> bool:
        spend(5 * STORED)
        p, q = law.tails(arb(t))
        rest = p - arb(t).exp() * q if t > 0 else 1 - law.infinite() - p
        return not rest.abs_upper() > 0 or rough(rest.abs_upper().log()) < goal

    ends = []
    for sign in (-1.0, 1.0):
        near, far = 0.0, 2.0**-20
        while not outside(sign * far):
            near, far = far, 2 * far
            demand(far <= LARGEST_LOSS, "the losses are too large for cells")
        while far - near > 1e-3 * far and far > SMALLEST_LOSS:
            middle = (near + far) / 2
            near, far = (near, middle) if outside(sign * middle) else (middle, far)
        ends.append(sign * far)
    return ends[0], ends[1]


@loss_range.register
def _(law: Reversed, goal: float) -> Range:
    low, high = loss_range(law.base, goal)
    return -high, -low


@loss_range.register
def _(law: Finite, goal: float) -> Range:
    places = [rough(loss) for loss in law.losses()]
    return min(places), max(places)


@loss_range.register
def _(law: Composition, goal: float) -> Range:
    return loss_range.dispatch(Law)(law, goal) if law.alone is None else loss_range(law.alone, goal)


@loss_range.register
def _(law: Choice, goal: float) -> Range:
    lows, highs = zip(*(loss_range(part, goal) for _, part in law.parts), strict=True)
    return min(lows), max(highs)


@loss_range.register
def _(law: Densities, goal: float) -> Range:
    """From the losses of all panels but those of little mass."""
    known, least, ends = law.known(), arb(goal).exp(), [0.0]
    for panel in known.panels:
        if panel.both and not all(one < least for one in panel.whole):
            ends += [rough(loss + known.shift) for loss in _extremes(panel, panel.low, panel.high, DEPTH)]
    demand(max(map(abs, ends)) < LARGEST_LOSS, "the losses are too large for cells")
    return min(ends) - SMALLEST_LOSS, max(ends) + SMALLEST_LOSS


@loss_range.register
def _(law: Allocated, goal: float) -> Range:
    """By the sums with few nodes."""
    low, high = loss_range(law.base, goal)
    demand(high <= 50, "the ratios are too large for this checker")
    tails = [law.base.tails(arb(low + k * (high - low) / 64)) for k in range(65)]
    square = sum(
        rough(one[0] - two[0]) * math.exp(low + (k + 1) * (high - low) / 64) for k, (one, two) in enumerate(pairwise(tails))
    )
    # a sum that is hardly exceeded, also under P
    most = math.exp(high) + law.batches + math.sqrt(2 * law.batches * max(square - 1, 0) * -goal)
    sums = law.sums(ROUGH, arb(most), Kind(True, False, ctx.prec))
    start, unit, scale = rough(sums.start) / law.batches, rough(sums.step) / law.batches, arb(2) ** -ctx.prec
    places = sorted((start + unit * w * k, rough(m * scale)) for w, row in sums.nodes() for k, m in enumerate(row) if m)
    heavy = [s for s, q in places if max(q, s * q) > math.exp(goal) / max(len(places), 1)]
    if not heavy or not heavy[-1] > 0:
        raise Undecided("the losses of an epoch are not resolved by this checker")
    # a mean of ratios is hardly below what each of them hardly is
    return math.log(heavy[0]) if heavy[0] > 0 else low, math.log(heavy[-1])


def _extremes(panel: Panel, low: Any, high: Any, depth: int) -> Iterator[Any]:
    """Losses between which about all losses of an interval of a panel lie: those at both ends, where the loss is monotone."""
    loss, slope = panel.over(low, high)
    if slope > 0 or slope < 0:
        yield from (panel.rising(place - panel.middle) for place in (low, high))
    elif depth:
        middle = ((low + high) / 2).mid()
        yield from _extremes(panel, low, middle, depth - 1)
        yield from _extremes(panel, middle, high, depth - 1)
    else:
        yield from (loss.lower(), loss.upper())


@singledispatch
def atoms(law: Law) -> list[Any]:
    """The losses of the atoms of a law that is not discrete; the smallest and the largest where there are many."""
    return []


@atoms.register
def _(law: Reversed) -> list[Any]:
    return [-loss for loss in atoms(law.base)]


@atoms.register
def _(law: TiltedUniform) -> list[Any]:
    return [] if law.atoms().is_zero() else [law.width(), -law.width()]


@atoms.register
def _(law: Sampled) -> list[Any]:
    return [(ball(law.rate) * loss.expm1()).log1p() for loss in atoms(law.base)]


@atoms.register
def _(law: Composition) -> list[Any]:
    return [loss for one, _ in law.terms for loss in atoms(one)]


@atoms.register
def _(law: Choice) -> list[Any]:
    return _both_ends([loss for _, part in law.parts for loss in atoms(part)])


@atoms.register
def _(law: Densities) -> list[Any]:
    """Of panels on which the loss is constant."""
    known, found = law.known(), list[Any]()
    for panel in known.panels:
        if panel.both and panel.flat(panel.loss) and panel.whole[0] > ATOM * known.totals[0]:
            loss = panel.loss + known.shift
            if not any(loss.overlaps(one) for one in found):
                found.append(loss)
    return _both_ends(found)


def _both_ends(losses: list[Any]) -> list[Any]:
    found = sorted(losses, key=rough)
    return found[:: max(len(found) - 1, 1)]


def stated(width: float, cells: Sequence[tuple[float, int]]) -> list[Fraction]:
    """As the numbers of a hull."""
    return [Fraction(width), *(Fraction(number) for one in cells for number in one)]
