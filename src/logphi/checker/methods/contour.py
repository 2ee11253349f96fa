"""The excess D(eps) = E_P[(1 - e^{eps - L})_+; |L| < inf], delta without infinite losses, by nodes of a line c + i R, c > 0.

With step h, and F(z) = e^{-z eps} M(z) / (z (z+1)), Poisson summation says exactly

    (h / 2 pi) * sum over all k of F(c + i k h) = sum over all m of e^{2 pi m c / h} D(eps + 2 pi m / h),

where all terms are positive, and the term m = 0 is D(eps). The others are bounded by D(x) <= kappa(s) M(s) e^{-s x} for every
s >= 0 in the strip, with kappa(s) = s^s / (1+s)^{1+s}, the maximum of (1 - e^{-y}) e^{-s y} over y > 0. The nodes that a sum
leaves out are bounded by how |M| of each law falls along the line. Where losses lie on a lattice, e^{-z a} M(z) is periodic:
the same sum is one over a single period, with the kernel summed over all periods. Abscissa, step and number of nodes are
chosen in doubles; no proof rests on that choice, as all errors are enclosed for the line that was chosen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from flint import acb, arb

from logphi.checker.arithmetic.balls import ball, between, precision, rough, within
from logphi.checker.arithmetic.work import EXP, Undecided, spend
from logphi.checker.laws.composition import Composition
from logphi.checker.laws.law import Spacing

# measured: longer lines take minutes
MOST_NODES = 2**20
# measured: on a finer lattice the sum over the atoms is faster
MOST_FOLDED = 2**15
# chosen: the abscissa over that of the saddle point: close to it, but not the abscissa that certificates are made with
ASIDE = 0.9


def enclose(whole: Composition, epsilons: Sequence[Fraction], goal: float, lattice: Spacing | None = None) -> list[Any]:
    """D at neighbouring epsilons, with errors of about e^``goal``; an :class:`Undecided` if that needs too many nodes."""
    if not whole.omitted().is_zero():
        raise Undecided("this checker composes sampled discrete Gaussians only with losses of countably many values")
    spare = whole.count.bit_length()
    with precision(32 + spare):
        line = _Line(whole, float(epsilons[0]), goal)
        bounds = [log_chernoff(whole, arb(line.c), ball(epsilon)) for epsilon in epsilons]
        if all(rough(bound) < goal for bound in bounds):
            return [between(0, bound.exp()) for bound in bounds]
        nodes, step = line.truncated() if lattice is None else line.folded(rough(lattice.unit()))
    bits = int((line.peak - goal) / math.log(2)) + spare + nodes.bit_length() + 40
    with precision(bits):
        c, h = arb(line.c), arb(step) if lattice is None else 2 * arb.pi() / (nodes * lattice.unit())
        used = nodes if lattice is None else (nodes + 1) // 2
        values = whole.on_line(c, h, used)
        spend(4 * EXP * used * len(epsilons))
        return [
            _inverted(values, c, h, ball(epsilon), lattice, nodes)
            - between(0, line.aliasing(c, h, ball(epsilon)))
            + (within(line.tail(c, nodes, h, ball(epsilon))) if lattice is None else 0)
            for epsilon in epsilons
        ]


def enclose_on_lattice(whole: Composition, epsilons: Sequence[Fraction], goal: float) -> list[Any]:
    """The same by a sum over one period, of losses on a lattice."""
    return enclose(whole, epsilons, goal, whole.lattice())


def _inverted(values: list[Any], c: Any, h: Any, epsilon: Any, lattice: Spacing | None, nodes: int) -> Any:
    """The sum over all nodes; those below the real axis contribute the conjugates."""
    if lattice is None:
        error, scale = arb(0), h / (2 * arb.pi())

        def kernel(z: Any) -> Any:
            return (-z * epsilon).exp() / (z * (z + 1))
    else:
        base, span = lattice.base(), lattice.unit()
        # the first loss above epsilon. If the balls do not separate a loss from epsilon, it counts as above: its contribution
        # is at most the error, as its probability is at most M(c) e^{-c first}
        step, last = (end.ceil() for end in (((epsilon - base) / span).lower(), ((epsilon - base) / span).upper()))
        first, error, scale = base + span * step, arb(0), arb(1) / nodes
        if last != step:
            error = within(values[0].real * (-c * first).exp() * (epsilon - first).expm1())
            if not last == step + 1:
                raise Undecided("the precision does not separate neighbours on the lattice")

        def kernel(z: Any) -> Any:
            over = (epsilon - first).exp() / (-(z + 1) * span).expm1()
            return (-z * first).exp() * (over - 1 / (-z * span).expm1())

    halves = [(value * kernel(acb(c, k * h))).real for k, value in enumerate(values)]
    return scale * (2 * sum(halves[1:], arb(0)) + halves[0]) + error


class _Line:
    """A vertical line for one epsilon: its abscissa c near the saddle point, and bounds of the errors of sums over its nodes.

    ``goal`` is the logarithm of the error to reach, ``peak`` that of M(c) e^{-c eps}.
    """

    def __init__(self, whole: Composition, epsilon: float, goal: float) -> None:
        self.whole, self.epsilon, self.goal = whole, epsilon, goal
        self.end = whole.end
        self.known: dict[float, float] = {}
        self.c = ASIDE * self.abscissa(_minimizer(self.height, lambda place: self.peak_at(place) < goal - 1))
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

    def shifts(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """To the right and to the left, the widest step whose aliasing error is a quarter of the goal, and the shift s - c."""

        def step(shift: float) -> float:
            s = self.c + shift
            excess = self.growth(s) - s * self.epsilon - self.goal + math.log(4)
            excess += (s * math.log(s) if s else 0.0) - (1 + s) * math.log1p(s)
            return 2 * math.pi * abs(shift) / (max(excess, 0) + math.log1p(math.exp(-min(abs(excess), 50))))

        room = 0.9 * (self.end - self.c)
        up = min(room, self.c)
        while 2 * up < room and step(2 * up) > step(up):
            up *= 2
        while step(up / 2) > step(up):
            up /= 2
        return (step(up), up), max((step(-share * self.c), -share * self.c) for share in (1.0, 0.75, 0.5, 0.25))

    def folded(self, span: float) -> tuple[int, float]:
        """An odd number of nodes over one period, and their step."""
        (one, self.up), (other, self.down) = self.shifts()
        nodes = 2 * math.ceil(math.pi / (span * min(one, other))) + 1
        if nodes > MOST_FOLDED:
            raise Undecided("the lattice of the losses is too fine for this checker")
        return nodes, 2 * math.pi / (span * nodes)

    def truncated(self) -> tuple[int, float]:
        """A number of nodes after which less than a quarter of the goal remains, and their step."""
        (one, self.up), (other, self.down) = self.shifts()
        step = min(one, other)
        # the decrease of log |M| that each release needs
        share = max(self.peak - self.goal, 1) / self.whole.count
        lifts = [math.sqrt(2 * share) * 2.0**k for k in range(-2, 3)]
        self.ceiling = self.whole.ceiling_above(arb(self.c), lifts, int(2 * share) + 8)

        def enough(nodes: int) -> bool:
            if nodes > MOST_NODES:
                raise Undecided("the characteristic function falls too slowly for this checker")
            tail = self.tail(arb(self.c), nodes, arb(step), arb(self.epsilon))
            return bool(tail == 0) or rough(tail.log()) < self.goal - math.log(4)

        nodes = 8
        while not enough(nodes):
            nodes *= 2
        low = nodes // 2
        while nodes - low > 2 + nodes // 16:
            middle = (low + nodes) // 2
            low, nodes = (low, middle) if enough(middle) else (middle, nodes)
        return nodes, step

    def tail(self, c: Any, nodes: int, step: Any, epsilon: Any) -> Any:
        """A bound of the nodes from N on, as |z (z+1)| > t^2, and the sum of 1/k^2 over k >= N is below (1 + 1/N) / N."""
        time = nodes * step
        return self.ceiling(time) * (-c * epsilon).exp() * (1 + arb(1) / nodes) / (arb.pi() * time)

    def aliasing(self, c: Any, step: Any, epsilon: Any) -> Any:
        """A bound of the sum of all terms with m != 0."""
        found = arb(0)
        for shift in (self.up, self.down):
            # D(x) <= kappa(s) M(s) e^{-s x} holds for s >= 0
            s = c + arb(shift) if -shift < self.c else arb(0)
            found += log_chernoff(self.whole, s, epsilon).exp() / (2 * arb.pi() * abs(s - c) / step).expm1()
        return found


def log_chernoff(whole: Composition, s: Any, epsilon: Any) -> Any:
    """The logarithm of kappa(s) M(s) e^{-s eps}, a bound of D(eps) for every s >= 0 in the strip."""
    kappa = (s * s.log() if s > 0 else arb(0)) - (1 + s) * s.log1p()
    return kappa - s * epsilon + whole.log_moment(s)


def abscissa(whole: Composition, epsilon: float, goal: float) -> float:
    """The abscissa of the line for an epsilon."""
    return _Line(whole, epsilon, goal).c


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
