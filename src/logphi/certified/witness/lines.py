"""Lines to the right of zero, for one epsilon: the abscissa, the step, and how many nodes are needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker.arithmetic.balls import ball, precision, rough
from logphi.checker.arithmetic.work import Undecided
from logphi.checker.laws.composition import Composition
from logphi.checker.methods import contour
from logphi.checker.methods.folded import MOST_FOLDED
from logphi.checker.text.reading import Proof

# chosen: the abscissa over that of the saddle point: close to it, but not the abscissa of the proof in balls
ASIDE = 0.9
# chosen: bits of the numbers that a proof states; more would only make it longer
SHORT = 12


def by_line(whole: Composition, epsilons: Sequence[Fraction], goal: float, *, folded: bool = False) -> Proof:
    """A proof with errors of about e^``goal`` at neighbouring epsilons; an :class:`Undecided` if that needs too many nodes."""
    spare = whole.count.bit_length()
    with precision(32 + spare):
        line = _Line(whole, float(epsilons[0]), goal)
        bounds = [contour.log_chernoff(whole, Fraction(line.c), ball(epsilon)) for epsilon in epsilons]
        if all(rough(bound) < goal for bound in bounds):
            return Proof("chernoff", 32 + spare, (Fraction(line.c),))
        step, right, left = line.steps()
        if folded:
            lattice = whole.lattice()
            assert lattice is not None, "the method applies"
            nodes, more = 2 * math.ceil(math.pi / (rough(lattice.unit()) * step)) + 1, list[float]()
            if nodes > MOST_FOLDED:
                raise Undecided("the lattice of the losses is too fine for this checker")
        else:
            nodes, more = line.truncated(step)
    bits = int((line.peak - goal) / math.log(2)) + spare + nodes.bit_length() + 40
    numbers = (line.c, *([] if folded else [step]), nodes, right, left, *more)
    return Proof("folded" if folded else "line", bits, tuple(map(Fraction, numbers)))


def abscissa(whole: Composition, epsilon: float, goal: float) -> float:
    """The abscissa of the line for an epsilon."""
    return _Line(whole, epsilon, goal).c


def short(number: float) -> float:
    """A positive number that is not larger, of few bits."""
    mantissa, exponent = math.frexp(number)
    return math.ldexp(math.floor(mantissa * 2**SHORT), exponent - SHORT)


class _Line:
    """A vertical line: its abscissa c near the saddle point, and the errors of sums over its nodes.

    ``goal`` is the logarithm of the error to reach, ``peak`` that of M(c) e^{-c eps}.
    """

    def __init__(self, whole: Composition, epsilon: float, goal: float) -> None:
        self.whole, self.epsilon, self.goal = whole, epsilon, goal
        self.end = float(whole.end)
        self.known: dict[float, float] = {}
        near = _minimizer(self.height, lambda place: self.peak_at(place) < goal - 1)
        self.c = short(ASIDE * self.abscissa(near))
        self.peak = self.growth(self.c) - self.c * epsilon

    def abscissa(self, place: float) -> float:
        """The abscissa in the strip at a place on a logarithmic scale."""
        return 2.0**place if self.end == math.inf else float(self.end / (1 + 2.0**-place))

    def growth(self, x: float) -> float:
        """K(x)."""
        if x not in self.known:
            self.known[x] = rough(self.whole.log_moment(arb(x)))
        return self.known[x]

    def peak_at(self, place: float) -> float:
        """The logarithm of M(c) e^{-c eps}, a bound of D."""
        return self.growth(self.abscissa(place)) - self.abscissa(place) * self.epsilon

    def height(self, place: float) -> float:
        """The logarithm of the integrand on the real axis."""
        x = self.abscissa(place)
        return self.peak_at(place) - math.log(x) - math.log1p(x)

    def steps(self) -> tuple[float, float, float]:
        """The widest step whose aliases are a quarter of the goal on either side, and how far their bounds are to each."""

        def step(shift: float) -> float:
            s = self.c + shift
            excess = self.growth(s) - s * self.epsilon - self.goal + math.log(4)
            excess += (s * math.log(s) if s else 0.0) - (1 + s) * math.log1p(s)
            return 2 * math.pi * abs(shift) / (max(excess, 0) + math.log1p(math.exp(-min(abs(excess), 50))))

        room = 0.9 * (self.end - self.c)
        right = short(min(room, self.c))
        while 2 * right < room and step(2 * right) > step(right):
            right *= 2
        while step(right / 2) > step(right):
            right /= 2
        left = max((share * self.c for share in (1.0, 0.75, 0.5, 0.25)), key=lambda one: step(-one))
        return short(min(step(right), step(-left))), right, left

    def truncated(self, step: float) -> tuple[int, list[float]]:
        """A number of nodes after which less than a quarter of the goal remains; bits and lifts of the bound of the rest."""
        # the decrease of log |M| that each release needs
        share = max(self.peak - self.goal, 1) / self.whole.count
        bits, lifts = int(2 * share) + 8, [short(math.sqrt(2 * share) * 2.0**k) for k in range(-2, 3)]
        ceiling = self.whole.ceiling_above(arb(self.c), lifts, bits)

        def enough(nodes: int) -> bool:
            if nodes > contour.MOST_NODES:
                raise Undecided("the characteristic function falls too slowly for this checker")
            time = nodes * arb(step)
            tail: Any = ceiling(time) * (-arb(self.c) * arb(self.epsilon)).exp() * (1 + arb(1) / nodes) / (arb.pi() * time)
            return bool(tail == 0) or rough(tail.log()) < self.goal - math.log(4)

        nodes = 8
        while not enough(nodes):
            nodes *= 2
        low = nodes // 2
        while nodes - low > 2 + nodes // 16:
            middle = (low + nodes) // 2
            low, nodes = (low, middle) if enough(middle) else (middle, nodes)
        return nodes, [bits, *lifts]


def _minimizer(height: Callable[[float], float], enough: Callable[[float], bool]) -> float:
    """About the minimizer of a convex function, or any point where it is small enough: by steps of one, half, a quarter."""
    place, width = 0.0, 1.0
    while width > 0.2:
        while place < 40 and not enough(place) and height(place + width) < height(place):
            place += width
        while place > -40 and not enough(place) and height(place - width) < height(place):
            place -= width
        width /= 2
    return place
