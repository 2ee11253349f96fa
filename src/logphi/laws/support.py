"""The support of a law: its ends, its atoms and flat part, its lattice, its mass."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import NamedTuple

from logphi.laws.spans import common_span
from logphi.quadrature.values import CERTAIN, Values


@dataclass(frozen=True)
class Pieces:
    """A law of atoms and a flat part; all weights are those of e^{-x/2} mu(dx).

    ``width`` is half the length of the flat part, centred at 0, ``log_density`` its height; -inf where there is none.
    ``location_error`` bounds the error of a location, ``relative_error`` the relative error of a weight.
    """

    locations: tuple[float, ...]
    log_weights: tuple[float, ...]
    width: float = 0.0
    log_density: float = -math.inf
    location_error: float = 0.0
    relative_error: float = 0.0

    def reflected(self) -> Pieces:
        """The pieces of the reflected law: the tilt by e^{-x/2} is symmetric under reflection."""
        return replace(self, locations=tuple(-x for x in self.locations[::-1]), log_weights=self.log_weights[::-1])


@dataclass(frozen=True)
class Lattice:
    """Atoms at points ``offset + span k`` only; a single atom has an infinite span.

    Each is within ``location_error`` of its point, once all points are scaled by a common factor within ``scale_error`` of one.
    """

    offset: float
    span: float
    location_error: float = 0.0
    scale_error: float = 0.0

    def reflected(self) -> Lattice:
        """The lattice of the law reflected at 0."""
        return replace(self, offset=-self.offset)

    @staticmethod
    def of_sum(terms: Iterable[tuple[Lattice | None, float, int]]) -> Lattice | None:
        """The finest lattice that carries a sum of counted terms, given with their widths; None if no span divides theirs."""
        known: list[tuple[Lattice, float, int]] = []
        for lattice, width, count in terms:
            if lattice is None:
                return None
            known.append((lattice, width, count))
        if not known:
            return None
        moving = [one for one in known if math.isfinite(one[0].span)]
        common = common_span(sorted({(lattice.span, 4e-16 * lattice.span) for lattice, _, _ in moving}))
        if common is None:
            return None
        span, span_error = common
        offset = float(sum(count * lattice.offset for lattice, _, count in known))
        # a common scale factor remains one; different ones add to the errors of the locations
        shared = len({lattice for lattice, _, _ in moving}) == 1
        scale_error = max((lattice.scale_error for lattice, _, _ in known), default=0.0) if shared else 0.0
        errors = [
            lattice.location_error + (0.0 if shared else lattice.scale_error * abs(lattice.offset)) for lattice, _, _ in known
        ]
        location_error = sum(count * error for error, (_, _, count) in zip(errors, known, strict=True)) + 4e-16 * abs(offset)
        # in n terms of a law that is m spans wide, locations err by at most n m times the error of a span
        steps = sum(count * width / lattice.span * 1.01 for lattice, width, count in moving)
        location_error += steps * span_error if math.isfinite(span) and not shared else 0.0
        # the errors of a law without ends have no bound
        return Lattice(offset, span, float(location_error), scale_error) if math.isfinite(location_error) else None

    @staticmethod
    def of_union(laws: Iterable[tuple[Lattice | None, float, float]]) -> Lattice | None:
        """The finest lattice that carries several laws, given with the ends of their supports; None if there is none."""
        known: list[tuple[Lattice, float]] = []
        for lattice, lower, upper in laws:
            if lattice is None:
                return None
            known.append((lattice, max(abs(lower), abs(upper))))
        first, largest = known[0][0], max(size for _, size in known)
        if all(lattice == first for lattice, _ in known):
            return first
        # the errors of a law without ends have no bound
        if not math.isfinite(largest):
            return None
        located = [(lattice, lattice.location_error + (lattice.scale_error + 4e-16) * largest) for lattice, _ in known]
        gaps = [(abs(lattice.offset - first.offset), own + located[0][1]) for lattice, own in located[1:]]
        # offsets within rounding of the first count as equal to it
        close = max((gap for gap, own in gaps if gap <= 4 * own), default=0.0)
        moving = [lattice for lattice, _ in known if math.isfinite(lattice.span)]
        common = common_span([*((one.span, 4e-16 * one.span) for one in moving), *(gap for gap in gaps if gap[0] > 4 * gap[1])])
        if common is None:
            return None
        span, span_error = common
        # the number of its own spans between an atom and its offset
        steps = max(((largest + abs(one.offset)) / one.span for one in moving), default=0.0) + 2
        return Lattice(first.offset, span, max(own for _, own in located) + close + steps * span_error)


class LogMasses(NamedTuple):
    """K(0) and K(-1), arrays of one element: the logarithms of the masses of mu and of its tilt by e^{-x}, never positive."""

    own: Values = CERTAIN
    tilted: Values = CERTAIN

    @property
    def certain(self) -> bool:
        """Whether both are exactly zero: mu and its tilt are probabilities."""
        return self is PROBABILITIES or all(one.mid[0] == one.radius[0] == 0 for one in self)

    def reflected(self) -> LogMasses:
        """The masses of the reflected law: the two measures are exchanged."""
        return self if self.own is self.tilted else LogMasses(self.tilted, self.own)

    @staticmethod
    def of_sum(terms: Iterable[tuple[LogMasses, int]]) -> LogMasses:
        """The masses of a sum of counted independent terms, whose logarithms add."""
        known = [(own.times(count), tilted.times(count)) for (own, tilted), count in terms if not (own is tilted is CERTAIN)]
        return LogMasses(*(reduce(add, side) for side in zip(*known, strict=True))) if known else PROBABILITIES


# the masses of a law that is always finite
PROBABILITIES = LogMasses()


@dataclass(frozen=True)
class Omitted:
    """Mass of a law that its transform omits: at most ``mass``, at unknown points.

    With it K(z) is at most z (z + 1) ``growth`` / 2 for z >= 0, of the law and of the reflected one; infinite if unknown.
    """

    mass: float = 0.0
    growth: float = math.inf


NONE_OMITTED = Omitted()


@dataclass(frozen=True)
class Support:
    """An interval that carries a law: ``lower`` <= X <= ``upper``, both rounded outward; infinite where no end is known.

    A finite end is within ``error`` of the true one. ``atomless``: no point has a positive mass; false if unknown. ``pieces``
    are the law itself, to a few ulps, if it is made of atoms and a flat part; ``lattice`` carries it, if there is one.
    ``masses`` says how much of the law is finite, ``omitted`` is mass that all else leaves out. Ends,
    masses and omitted masses of sums add. A sum with an atomless term has no atoms; the pieces of a sum are not known.
    """

    lower: float = -math.inf
    upper: float = math.inf
    error: float = 0.0
    atomless: bool = False
    pieces: Pieces | None = None
    lattice: Lattice | None = None
    omitted: Omitted = NONE_OMITTED
    masses: LogMasses = field(default=PROBABILITIES, compare=False)

    @staticmethod
    def within(
        end: float,
        error: float = 0.0,
        pieces: Pieces | None = None,
        lattice: Lattice | None = None,
        masses: LogMasses = PROBABILITIES,
    ) -> Support:
        """The support of a law on [-end, end]."""
        return Support(-end, end, error, pieces=pieces, lattice=lattice, masses=masses)

    @property
    def width(self) -> float:
        """From the lower end to the upper one."""
        return self.upper - self.lower

    def reflected(self) -> Support:
        """The support of the law reflected at 0."""
        return replace(
            self,
            lower=-self.upper,
            upper=-self.lower,
            pieces=self.pieces and self.pieces.reflected(),
            lattice=self.lattice and self.lattice.reflected(),
            masses=self.masses.reflected(),
        )

    @staticmethod
    def of_sum(terms: Iterable[tuple[Support, int]]) -> Support:
        """The support of a sum of counted independent terms."""
        terms = list(terms)
        lower = upper = lower_size = upper_size = error = omitted = 0.0
        atomless = False
        for one, count in terms:
            low, high = count * one.lower, count * one.upper
            lower, upper = lower + low, upper + high
            # an infinite end is exact
            lower_size += abs(low) if low > -math.inf else 0.0
            upper_size += abs(high) if high < math.inf else 0.0
            error, omitted = error + count * one.error, omitted + count * one.omitted.mass
            atomless = atomless or one.atomless
        share = 4e-16 + 2e-16 * len(terms)
        return Support(
            lower - share * lower_size,
            upper + share * upper_size,
            error + 2 * share * (lower_size + upper_size),
            atomless,
            lattice=Lattice.of_sum((one.lattice, one.width, count) for one, count in terms),
            omitted=Omitted(omitted * (1 + share)) if omitted else NONE_OMITTED,
            masses=LogMasses.of_sum((one.masses, count) for one, count in terms),
        )


# the support of a law of which nothing is known
WHOLE_LINE = Support()
# the support of a smooth function of a normal variable
ATOMLESS = Support(atomless=True)
