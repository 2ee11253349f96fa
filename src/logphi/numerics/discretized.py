"""Bounds that are valid for every sum of known laws: two lattice laws, composed by one Fourier sum each.

notation: X = sum of n_i independent X_i, D(x) = E[(1 - e^{x-X})_+]. Each X_i is replaced by a lattice law above it
and by one below it (:mod:`logphi.numerics.distribution`); so are then their sums, and D lies between the two. With
masses y_J at s_J = s_0 + J h, tilted by e^{c s_J}, and the discrete transform Phi_k = prod of phi_{i,k}^{n_i} on N
points, theta_k = 2 pi k / N,

    (1/N) sum over k of Phi_k sum over s_J > x of e^{i theta_k J} e^{-c s_J} (1 - e^{x - s_J})
        = sum over m of e^{cmNh} D(x + mNh),

where the inner sum is geometric. The terms m != 0 are positive and below their Chernoff bounds: wrap-around only
raises the sum, as in :mod:`logphi.numerics.contour`. A Fourier transform by doubles errs by log2(N) (few u) relative
to the 2-norm of its argument (Higham 2002, *Accuracy and Stability*, Theorem 24.2); by Cauchy and Schwarz that is
weighed with the 2-norm of what it is multiplied by. Halving h divides the distance of the bounds by four for
continuous laws; atoms are exact when h divides the distances between them, and of first order otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ULP
from logphi.numerics.contour import RIGHT, log_kappa
from logphi.numerics.distribution import Ends, Piece, pieces
from logphi.numerics.enclosure import Scaled
from logphi.numerics.lattice_law import Array, Grid, LatticeLaw
from logphi.numerics.law import Law
from logphi.numerics.saddle import minimise

Parts = tuple[tuple[Piece, int], ...]

# measured: smaller circles are not worth a second look
_FIRST = 1 << 14
# measured: wrap-around as a share of the requested tolerance
_SHARE = 1e-3
# derived: Theorem 24.2 has 6.7 u per level of a radix-2 transform; doubled for the real one
_FOURIER = 7 * ULP
# measured: candidates for a step that divides the distances between atoms
_STEPS = 1 << 14
# measured: steps over which the tilt grows by more than e^30 are of no use
_COARSE = 30.0
_UNKNOWN = Scaled(0.0, 0.5, truncation=0.5)
# measured: how many nodes of a single law are looked at, in turns of the circle
_TURNS = 16


def excess(law: Law, x: float, rtol: float, budget: int = 1 << 20) -> Scaled:
    """E[(1 - e^{x-X})_+] between two proved ends, as close together as ``rtol`` asks or as ``budget`` allows.

    Parameters
    ----------
    law
        A normal, mixed normal (also reflected), uniform (also with atoms), two-point, finite or thinned law, or a
        sum of such with ``terms``: pairs of a law and its count.
    x
        The threshold, any real number.
    rtol
        Requested width relative to the value.
    budget
        The largest number of lattice points.

    Returns
    -------
    Scaled
        ``discretization`` is half the distance of the two lattice laws, ``excess`` the wrap-around of the lower one,
        ``truncation`` what lies outside the nodes. ``low`` and ``high`` hold at any budget.

    Raises
    ------
    ValueError
        If the sum contains another law.

    References
    ----------
    Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022 (the upper lattice law).

    Examples
    --------
    >>> from logphi.arith.protocol import Plain
    >>> from logphi.numerics.laws.normal import Normal
    >>> found = excess(Normal(Plain(1.0)), 0.5, 1e-6)
    >>> found.relative_width < 1e-6
    True
    """
    parts, factor = pieces(getattr(law, "terms", ((law, 1),)))
    top = sum(count * part.top for part, count in parts)
    top += 16 * ULP * sum(count * abs(part.top) for part, count in parts if part.top < np.inf)
    if x >= top:
        return Scaled(factor.high, 0.0)
    plan = _plan(parts, x, rtol)
    if plan is None:
        return _UNKNOWN
    best = _UNKNOWN
    # a power of two
    budget = 1 << (budget.bit_length() - 1)
    size = min(_FIRST, budget)
    while True:
        found = _bounds(parts, factor, x, plan, size)
        if found.low == 0 and found.log_scale + _log(found.high) > 0:
            found = _UNKNOWN
        if found.relative_width < best.relative_width or best is _UNKNOWN:
            best = found
        if best.relative_width <= rtol or 2 * size > budget:
            return best
        # second order: the size that would do, with room, yet at most eight times this one before looking again
        wanted = math.sqrt(min(found.relative_width / rtol, 1e4)) * 1.1
        size = min(size << max(1, min(3, math.ceil(math.log2(wanted)))), budget)


@dataclass(frozen=True)
class _Plan:
    """The tilt, the length of the circle, where Chernoff bounds of the wrap-around are taken, and how deep tails go."""

    tilt: float
    length: float
    points: Array
    reach: float
    cut: float


# measured: deeper cuts than this have nothing to do with any answer; halvings of its order settle a cut within percents
_DEEPEST = -1e9
_BISECTIONS = 9
# measured: shifts of the abscissa among which the two of the wrap-around are chosen, in units of the tilt
_BELOW = np.geomspace(1 / 256, 1, 17)
_ABOVE = np.geomspace(1 / 256, 4, 21)


def _plan(parts: Parts, x: float, rtol: float) -> _Plan | None:
    """Tilt near the saddle; more tilt than that where it shortens the circle much and costs few digits.

    Nothing here is proved, and nothing proved depends on it. Endless tails are cut where their mass is a small share of
    the answer: that leaves moments of all orders, and a circle no longer than what matters.
    """
    total = sum(count for _, count in parts)
    log_share = math.log(_SHARE * rtol) - math.log(1 + total)

    def bound(u: Array, cut: float) -> Array:
        height: Array = sum((count * part.sketch(u, cut) for part, count in parts), np.zeros_like(u)) - u * x
        return height

    def settle(cut: float) -> tuple[float, float]:
        found = minimise(lambda u: bound(u, cut) - np.log(u) - np.log1p(u), RIGHT)
        # the value is about the bound over the slope; e^-4 is room
        return found.abscissa, found.value + math.log(found.abscissa) - 4

    cut = _DEEPEST
    c, log_value = settle(cut)
    if any(part.endless for part, _ in parts):
        # the highest cut that leaves out no more than the share of what is then the value
        deep, high = _DEEPEST, -1.0
        for _ in range(_BISECTIONS):
            middle = -math.sqrt(deep * high)
            at, value = settle(middle)
            if value + log_share >= middle:
                deep, cut, c, log_value = middle, middle, at, value
            else:
                high = middle
    if not np.isfinite(log_value):
        return None
    best: tuple[float, float, Array] | None = None
    base = 0.0
    for tilt in c * np.array([1.0, 1.5, 2.0, 3.0, 4.5, 7.0, 10.0]):
        u = np.concatenate([[tilt], tilt * (1 - _BELOW), tilt * (1 + _ABOVE)])
        heights = bound(u, cut) + log_kappa(u)
        base = float(heights[0]) if best is None else base
        # measured: a factor of twenty in the bound costs little more than a digit
        if heights[0] > base + 3:
            break
        # measured: the value is rarely less than e^-4 of its Chernoff bound
        needed = np.logaddexp(0.0, heights[1:] - base + 4 - math.log(_SHARE * rtol))
        lengths = needed / (tilt * np.concatenate([_BELOW, _ABOVE]))
        one, two = int(np.argmin(lengths[: _BELOW.size])), _BELOW.size + int(np.argmin(lengths[_BELOW.size :]))
        length = float(max(lengths[one], lengths[two]))
        if best is None or length < 0.8 * best[1]:
            best = float(tilt), length, u[[one + 1, two + 1]]
    if best is None or not 0 < best[1] < np.inf:
        return None
    # as deep as the wrap-around, shared out to the single laws
    return _Plan(*best, 12 - log_share, cut)


def _step(parts: Parts, plan: _Plan, size: int) -> float:
    """A step that goes round the circle and nearly divides the distances between atoms."""
    least = plan.length / size
    spans = [span for part, _ in parts for span in part.spans.tolist() if span >= least]
    if not spans:
        return least
    share = max(_STEPS // len(spans), 64)
    candidates = [np.array([least])]
    for span in spans:
        most = math.floor(span / least)
        candidates.append(span / np.arange(most, max(0, most - share, most // 3), -1))
    steps = np.unique(np.concatenate(candidates))
    c = plan.tilt
    second = sum(count for part, count in parts) * c * (c + 1) * steps**2 / 8
    first = c * sum(count * part.misfit(steps, c) for part, count in parts)
    return float(steps[np.argmin(first + second)])


@dataclass(frozen=True)
class _Sum:
    """One side: e^log_scale times the value, with its noise, both in units of that.

    ``log_lost`` bounds what is outside the nodes of an upper law, ``log_wrap`` the terms that go round.
    """

    log_scale: float
    value: float
    noise: float
    log_lost: float
    log_wrap: float


def _bounds(parts: Parts, factor: Ends, x: float, plan: _Plan, size: int) -> Scaled:
    """Both sides on one circle."""
    step = _step(parts, plan, size)
    if (plan.tilt + 1) * step > _COARSE:
        return _UNKNOWN
    above, below = (_side(parts, x, plan, step, upper, size) for upper in (True, False))
    # in units of the upper side
    unit = _exp(below.log_scale - above.log_scale)
    low, low_noise = below.value * unit, below.noise * unit
    log_scale = above.log_scale + factor.low
    slip = 8 * ULP * (abs(above.log_scale) + abs(below.log_scale) + abs(factor.low) + 4)
    slip = math.expm1(slip + factor.high - factor.low) * max(above.value, low, 0.0)
    return Scaled(
        float(log_scale),
        float(above.value + low) / 2,
        excess=_exp(below.log_wrap - above.log_scale) * (1 + 1e-9),
        truncation=_exp(above.log_lost - above.log_scale) * (1 + 1e-9),
        rounding=float(max(above.noise, low_noise) + slip),
        discretization=float(abs(above.value - low)) / 2,
    )


def _side(parts: Parts, x: float, plan: _Plan, step: float, upper: bool, size: int) -> _Sum:
    """The Fourier sum of one side's lattice laws, wrap-around included."""
    c, h = plan.tilt, step
    grid = Grid(step, plan.tilt, upper, plan.reach, plan.cut, _TURNS * size)
    half = size // 2 + 1
    k = np.arange(half)
    log_size, angle, noise = np.zeros(half), np.zeros(half), np.full(half, 32 * ULP)
    log_bound = np.zeros(half)
    wrong: list[tuple[Array, float]] = []
    location, shift, slack, log_scale, log_size_of_scale = 0.0, 0, 0.0, 0.0, 0.0
    lost, lost_mass, lost_below = 0.0, 0.0, 0.0
    log_moments = np.zeros(2)
    for part, count in parts:
        law = part.on(grid)
        transform, place, log_mass, error = _transform(law, size)
        modulus = np.maximum(np.abs(transform), 1e-300)
        log_modulus = np.log(modulus)
        log_size += count * log_modulus
        angle += count * np.angle(transform)
        noise += count * ULP * (16 + 2 * np.abs(log_modulus))
        # what the transform may be at most, entry by entry, given its error in the 2-norm
        log_largest = np.log(modulus + error * math.sqrt(size))
        log_bound += count * log_largest
        wrong.append((log_largest, count * error))
        location += count * law.origin
        shift += count * place
        slack += count * (law.slack + 2 * ULP * abs(law.origin))
        log_scale += count * (law.log_scale + log_mass)
        log_size_of_scale += count * (abs(law.log_scale) + abs(log_mass))
        lost += count * law.lost
        lost_mass += count * law.lost_mass
        lost_below += count * law.lost_below
        if not upper:
            log_moments += count * law.log_moments(plan.points - c, h)
    start = location + shift * h
    slack += 8 * ULP * (abs(location) + abs(shift) * h + abs(x) + h)
    # every node is known to within the slack: the threshold moves against the claim
    x_moved = x - slack if upper else x + slack
    first = math.floor((x_moved - start) / h) + 1
    rest = min(max(start + first * h - x_moved, 0.0), h)
    kernel, kernel_size = _kernel(c, h, rest, np.asarray(k * (2 * np.pi / size), dtype=np.float64))
    turn = (2 * np.pi / size) * ((k * (first % size)) % size)
    weight = np.full(half, 2.0 / size)
    weight[0] = weight[-1] = 1.0 / size
    value = float((weight * np.exp(log_size) * (np.exp(1j * (angle + turn)) * kernel).real).sum())
    absolute = weight * np.exp(log_size) * kernel_size
    total = float((absolute * np.expm1(np.minimum(noise, 700.0))).sum())
    total += ULP * (8 + math.log2(size)) * float(absolute.sum())
    for log_largest, error in wrong:
        size_of_rest = np.exp(np.minimum(log_bound - log_largest, 700.0)) * kernel_size
        total += error * float(np.sqrt((weight * size_of_rest**2).sum()))
    log_scale -= c * x_moved
    # the logarithm of the scale is a sum of large terms; each node's own tilt was counted with its mass
    total += 4 * ULP * (log_size_of_scale + abs(c * x_moved) + 4) * abs(value)
    # and what underflows beside the largest masses
    total = total * (1 + 1e-9) + 1e-290
    # any path through lost mass: by its tilted share, or, above, by its probability
    log_kernel = log_scale + float(log_kappa(np.array([c]))[0])
    log_lost = min(
        _log(_expm1(lost + lost_below)) + log_kernel,
        float(np.logaddexp(_log(_expm1(lost_below)) + log_kernel, _log(lost_mass))),
    )
    turns = np.abs(plan.points - c) * (h * size)
    room = turns + np.log(-np.expm1(-turns)) - 1e-12 * (1 + turns)
    log_wraps = log_moments + log_kappa(plan.points) - plan.points * x_moved - room
    return _Sum(log_scale, value, total, log_lost, float(np.logaddexp.reduce(log_wraps)))


def _expm1(exponent: float) -> float:
    return math.expm1(exponent) if exponent < 700 else math.inf


def _exp(exponent: float) -> float:
    return math.exp(exponent) if exponent < 700 else math.inf


def _log(number: float) -> float:
    return math.log(number) if number > 0 else -math.inf


def _transform(law: LatticeLaw, size: int) -> tuple[NDArray[np.complex128], int, float, float]:
    """The transform over its sum, the place of the largest node, log of the sum, and the 2-norm error over sqrt(size).

    The largest node is turned to place 0, where its transform is a constant: what is left has the smaller norm.
    """
    weights = law.folded(size)
    place = int(np.argmax(weights))
    rest = np.roll(weights, -place)
    largest = float(rest[0])
    rest[0] = 0.0
    # a lower law may have nothing left
    mass = max(float(largest + rest.sum()), 1e-300)
    transform = (np.fft.rfft(rest) + largest) / mass
    norm = float(np.sqrt((rest**2).sum())) / mass
    return transform, place, math.log(mass), _FOURIER * math.log2(size) * norm


def _kernel(c: float, h: float, rest: float, theta: Array) -> tuple[NDArray[np.complex128], Array]:
    """Sum over j >= 0 of e^{-c(rest + jh)} e^{i theta j} (1 - e^{-(rest + jh)}), and a bound of its parts."""
    sine, versine = np.sin(theta), 2 * np.sin(theta / 2) ** 2

    def gap(rate: float) -> NDArray[np.complex128]:
        # 1 - e^{-rate h + i theta} from positive parts
        decay = math.exp(-rate * h)
        value: NDArray[np.complex128] = -math.expm1(-rate * h) + decay * versine - 1j * decay * sine
        return value

    one, two = -math.expm1(-rest), -math.exp(-rest) * math.expm1(-(h - rest)) * math.exp(-c * h)
    below = gap(c) * gap(c + 1) * math.exp(c * rest)
    return (one + two * np.exp(1j * theta)) / below, (one + two) / np.abs(below)
