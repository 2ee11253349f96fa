"""Transforms that are integrals over panels: Gauss-Legendre sums with a proof.

notation: s the variable of integration, w_k = 1 - q_k + q_k e^{Y_k} with Y_k = kappa_k s + o_k, l the sum of +-log w_k (the
loss), Q(ds) = e^{g(s)} ds times some of the w_k, with g a polynomial of degree two, a = z + 1, and

    h_z(l) = e^{al} - 1 - a (e^l - 1),      M(z) - 1 = integral of h_z(l) dQ,

where P and Q have mass one: a sum of second order, so that a small K keeps its digits. From h' = a e^l (e^{zl} - 1)

    |h_z(l)| <= |z| |z + 1| |l|^2/2 times the largest of 1, |e^l| and |e^{al}|.

On the Bernstein ellipse with parameter rho around a panel of half-length r the variable stays within r (rho + 1/rho)/2 of
the middle and v = r (rho - 1/rho)/2 of the real line. Where theta = |kappa| v < pi/2, w_k has no zero there, its modulus lies
between cos(theta/2) w_k and w_k of the real part, |arg w_k| <= theta q e^Y / (1 - q + q e^Y cos(theta)), and log w_k
has a derivative of at most |kappa| q e^Y / (cos(theta/2) w_k); all of these are monotone. If |f| <= B on the ellipse,
the rule with n nodes is wrong by at most

    (64/15) r B rho^{-2n} / (1 - rho^{-2})

(Trefethen, *Approximation Theory and Approximation Practice*, Theorem 19.3). Panels are halved until that is negligible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.quadrature.log_ratio import Array
from logphi.quadrature.mixture_trapezoid import (
    Nodes,
    SecondMoments,
    along_line,
    deviations,
    gathered,
    one_by_one,
    second_exp,
    to_log,
    weighted,
)
from logphi.quadrature.values import Line, Values

# measured: panels at first, and at most: sums over more nodes take seconds
_FIRST = 8
_MOST = 1200
# nodes of the rule; measured: more nodes on longer panels, or fewer on shorter ones, are hardly fewer in all
_ORDER = 24
# parameters of the ellipses that are tried
_RHO = np.geomspace(1.25, 64.0, 14)
# measured: how many abscissas share their panels at most, and how far apart they may be, as a logarithm
_FEW = 32
_APART = 1.5
# derived: below pi/2
_WIDEST = 1.5
# the relative error asked of the quadrature
_SHARP = 1e-17
# measured: shares of a length by which panels of a rough sum approach its ends, lengths of panels that follow any strand, and
# how many of these there may be
_SHARES = 8.0 ** -np.arange(1, 11)
_LONG = 4.0
_MANY = 1000.0
# measured: points that find where a tilted law is, and how far below its peak it no longer matters, as a logarithm
_SCAN = 1025
_DEEP = 60.0
# derived: far above what rounding does to the logarithm of a bound
_SLACK = 1e-9
# below this exponent e^Y does not overflow
_LARGE = 600.0
# measured: no saddle of interest is so far out
_FARTHEST = 2.0**30


@dataclass(frozen=True)
class Strand:
    """w = 1 - rate + rate e^{slope s + offset}: to the power ``sign`` in e^l, to the power ``own`` in the density of Q.

    The rate is at most one.
    """

    rate: float
    slope: float
    offset: float = 0.0
    sign: int = 1
    own: int = 0

    def growth(self, s: Array) -> Array:
        """E^Y - 1, capped."""
        growth: Array = np.expm1(np.minimum(self.slope * s + self.offset, _LARGE))
        return growth

    def log(self, s: Array) -> Array:
        """Log w."""
        y = self.slope * s + self.offset
        if self.rate == 1:
            return np.asarray(y)
        return np.where(y < _LARGE, np.log1p(self.rate * self.growth(s)), np.log(self.rate) + y)

    def share(self, s: Array) -> Array:
        """Rate e^Y / w, between 0 and 1."""
        log_share = np.log(self.rate) + self.slope * s + self.offset - self.log(s)
        share: Array = np.exp(np.minimum(log_share, 0.0))
        return share

    def slip(self, s: Array, place: Array, blur: float) -> Array:
        """How far log w may be off: s is known to a few ulps of ``place``, parameters to ``blur``, the rate to half an ulp."""
        wrong = (place * abs(self.slope) + abs(self.offset)) * (2 * blur + 8 * ULP)
        growth = self.rate * np.abs(self.growth(s)) * np.exp(-np.minimum(self.log(s), _LARGE))
        moved: Array = ELEMENTARY * (np.abs(self.log(s)) + growth) + wrong * self.share(s) * (1 + wrong)
        return moved


@dataclass(frozen=True)
class Curve:
    """A law as a curve: where s runs, the loss l(s), increasing, and the Q-density e^{g(s)}, g = g0 + g1 s + g2 s^2, g2 <= 0.

    ``atoms`` are places (-inf allowed) and logarithms of Q-masses. A curve that is ``mirrored`` stands for l > 0 only: below
    zero the law is its mirror image, with P and Q exchanged. ``rest`` is mass at l = 0, under P and Q; ``lost`` the masses of P
    and Q elsewhere, with a relative error ``lost_blur`` beside a few ulps. All parameters but rates are known to within a
    relative ``blur`` and a few ulps.
    """

    strands: tuple[Strand, ...]
    start: float
    end: float
    density: tuple[float, float, float]
    atoms: tuple[tuple[float, float], ...] = ()
    mirrored: bool = False
    rest: float = 0.0
    lost: tuple[float, float] = (0.0, 0.0)
    blur: float = 0.0
    lost_blur: float = 0.0

    def loss(self, s: Array) -> Array:
        """L(s)."""
        return np.asarray(sum(strand.sign * strand.log(s) for strand in self.strands))

    def log_density(self, s: Array) -> Array:
        """Of Q."""
        g0, g1, g2 = self.density
        own = sum(strand.own * strand.log(s) for strand in self.strands if strand.own)
        return np.asarray(g0 + s * (g1 + g2 * s) + own)

    def place(self, loss: Array) -> Array:
        """Where the loss has a value, to some ulps; of one strand, or of two that mirror each other."""
        strand = self.strands[0]
        q = strand.rate
        if len(self.strands) == 1:
            near = np.log1p(np.maximum(np.expm1(np.minimum(loss, 1.0)) / q, -1.0 + 2.0**-53))
            far = loss + np.log1p(-(1 - q) * np.exp(-np.maximum(loss, 1.0))) - np.log(q)
            place: Array = (np.where(loss < 1, near, far) - strand.offset) / strand.slope
            return place
        # sinh(kappa s - l/2) = (1 - q)/q e^{-o} sinh(l/2)
        half = np.abs(loss) / 2
        log_sinh = np.log1p(-q) - np.log(q) - strand.offset + half + np.log(-np.expm1(-2 * half) / 2 + 1e-300)
        turned = np.where(log_sinh < 300, np.arcsinh(np.exp(np.minimum(log_sinh, 300.0))), log_sinh + np.log(2))
        mirrored: Array = np.sign(loss) * (half + turned) / strand.slope
        return mirrored

    @property
    def steepness(self) -> float:
        """A bound of the slope of the loss."""
        return sum(abs(strand.slope) for strand in self.strands)

    def slopes_beyond(self, end: Array, outward: int) -> tuple[Array, Array]:
        """Bounds of the slopes outward from an end: of the size of the loss, and of the strands in the density."""
        of_loss, of_density = np.zeros(end.shape), np.zeros(end.shape)
        for strand in self.strands:
            # a strand that falls is flatter the further it is
            rises = strand.slope * outward > 0
            of_loss += abs(strand.slope) * (np.ones(end.shape) if rises else strand.share(end))
            of_density += strand.own * abs(strand.slope) * rises
        return of_loss, of_density


@dataclass(frozen=True)
class Panels:
    """The panels, side by side in no order; ``start`` and ``end`` are where the curve is cut."""

    low: Array
    high: Array
    start: float
    end: float


@cache
def _legendre(order: int) -> tuple[Array, Array]:
    """Nodes and weights on [0, 2]; measured: to within three ulps of one, and a dozen of themselves."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    return nodes + 1, weights


def gauss(low: Array, high: Array, order: int = _ORDER) -> tuple[Array, Array, Array]:
    """Nodes, logarithms of weights, and what a node's rounding is relative to."""
    nodes, weights = _legendre(order)
    half = (high - low)[:, None] / 2
    s = low[:, None] + half * nodes
    place = np.abs(s) + half
    return s.ravel(), np.log(half * weights).ravel(), place.ravel()


def panels(curve: Curve, powers: Array, top: float) -> Panels | None:
    """Panels fit for some real parts of a and heights up to ``top``; None where they would be too many."""
    if not np.abs(powers).max() < _FARTHEST or not top < _FARTHEST:
        return None
    edges = _rough(curve, powers)
    if edges is None:
        return None
    length = np.log(np.diff(edges))[:, None]
    second, plain = (_log_sum(part + length) for part in _sizes(curve, (edges[1:] + edges[:-1]) / 2, powers))
    # relative to the sum itself, and to M(c)
    mass = np.logaddexp(plain, np.log(1e-300 + curve.rest)) + np.log(_SHARP)
    size = (np.abs(powers - 1) + top) * (np.abs(powers) + top)
    goal = np.stack([np.minimum(second + np.log(_SHARP), mass - np.log(size + 1)), mass])
    start, end = (
        own if np.isfinite(own) else _end(curve, powers, goal, float(rough), outward)
        for own, rough, outward in ((curve.start, edges[0], -1), (curve.end, edges[-1], 1))
    )
    goal += -np.log(8 * _FIRST)
    found = halved(
        np.linspace(start, end, _FIRST + 1),
        lambda low, high: np.stack(_log_bounds(curve, low, high, powers, top), axis=1),
        goal,
        _MOST,
    )
    return found and Panels(found[0], found[1], start, end)


def halved(
    edges: Array, log_errors_of: Callable[[Array, Array], Array], goal: Array | float, most: int
) -> tuple[Array, Array, Array] | None:
    """Panels between edges, halved until every error, the panels along the first axis, meets a goal; and these errors.

    None if more than ``most`` would be needed.
    """
    low, high = edges[:-1], edges[1:]
    done: list[tuple[Array, Array, Array]] = []
    count = 0
    while low.size:
        errors = log_errors_of(low, high)
        good = (errors <= goal).reshape(low.size, -1).all(axis=1)
        done.append((low[good], high[good], errors[good]))
        count += int(good.sum())
        low, high = low[~good], high[~good]
        if count + 2 * low.size > most:
            return None
        middle = (low + high) / 2
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
    low, high, errors = (np.concatenate(parts) for parts in zip(*done, strict=True))
    return low, high, errors


def log_errors(curve: Curve, found: Panels, powers: Array, top: float) -> tuple[Array, Array]:
    """Logarithms of what sums over the panels are wrong by, per power: of h over |z| |z + 1|, and of e^{al}."""
    second, plain = (_log_sum(part) for part in _log_bounds(curve, found.low, found.high, powers, top))
    for own, end, outward in ((curve.start, found.start, -1), (curve.end, found.end, 1)):
        if not np.isfinite(own):
            cut = log_beyond(curve, powers, np.array([end]), outward)[:, 0]
            second, plain = np.logaddexp(second, cut[0]), np.logaddexp(plain, cut[1])
    return second, plain


def _log_sum(exponent: Array) -> Array:
    """log(sum(exp)) along the first axis."""
    peak = np.maximum(exponent.max(axis=0), -1e300)
    finite = np.where(peak < np.inf, peak, 0.0)
    with np.errstate(over="ignore"):  # infinite where a term is
        total: Array = np.log(np.exp(exponent - finite).sum(axis=0) + 1e-300) + finite
    return total


def _tilts(curve: Curve, powers: Array) -> Array:
    """The powers of e^l that occur, one row for each side of the law."""
    return np.stack([powers, 1 - powers] if curve.mirrored else [powers])


def _sizes(curve: Curve, s: Array, powers: Array) -> tuple[Array, Array]:
    """Logarithms of l^2/2 W and of W, times the density; W sums the largest of 1, e^l and e^{al} over the sides."""
    loss = curve.loss(s)
    tilt = _tilts(curve, powers)[:, None, :] * loss[:, None]
    log_size = _log_sum(np.maximum(np.maximum(tilt, loss[:, None]), 0.0)) + curve.log_density(s)[:, None]
    square = np.log(np.maximum(loss * loss, 1e-300) / 2)[:, None]
    return log_size + square, log_size


def _rough(curve: Curve, powers: Array) -> Array | None:
    """Ends of the panels of a rough sum, beyond which nothing matters; None where they would be many."""
    if np.isfinite(curve.start + curve.end):
        length = curve.end - curve.start
        count = min(np.ceil(length * curve.steepness / _LONG), _MANY)
        # a tilted law may lie at either end
        near = length * _SHARES
        edges = np.concatenate([np.linspace(curve.start, curve.end, int(count) + 1), curve.start + near, curve.end - near])
        return np.unique(edges)
    reach = 12.0 + 2.5 * float(np.abs(_tilts(curve, powers)).max() + 1) * curve.steepness
    s = np.linspace(max(curve.start, -reach), min(curve.end, reach), _SCAN)
    _, plain = _sizes(curve, s, powers)
    kept = np.flatnonzero((plain > plain.max(axis=0) - _DEEP).any(axis=1))
    if not kept.size:
        # sizes beyond the range of doubles
        return None
    start, end = float(s[max(kept[0] - 1, 0)]), float(s[min(kept[-1] + 1, _SCAN - 1)])
    count = np.ceil((end - start) * max(max(abs(strand.slope) for strand in curve.strands) / _LONG, 0.5))
    return np.linspace(start, end, int(count) + 1) if count <= _MANY else None


def _end(curve: Curve, powers: Array, goal: Array, rough: float, outward: int) -> float:
    """An end of an endless curve, near a rough one, beyond which little enough is lost: above zero or below it."""
    distance = max(outward * rough, 0.0)
    e = outward * np.linspace(distance / 2, 2 * distance + 14, 193)[1:]
    good = (log_beyond(curve, powers, e, outward) <= goal[:, None, :] - 4).all(axis=(0, 2))
    return float(e[int(np.argmax(good))]) if good.any() else float(e[-1])


def log_beyond(curve: Curve, powers: Array, end: Array, outward: int) -> Array:
    """Logarithms of what sums lose above ends (1) or below them (-1), (kind, end, power), kinds as in :func:`log_errors`.

    With u the distance from the end, what is summed grows at most like e^{ku} times a decreasing normal factor, where k is the
    slope of g there and those of the strands; |l| grows by at most its own slope times u.
    """
    g1, g2 = curve.density[1:]
    second, plain = _sizes(curve, end, powers)
    loss = np.abs(curve.loss(end))[:, None]
    steep, own = (part[:, None] for part in curve.slopes_beyond(end, outward))
    tilts = np.maximum(outward * _tilts(curve, powers), outward)
    fall = (-outward * (g1 + 2 * g2 * end))[:, None] - np.maximum(tilts.max(axis=0), 0.0) * steep - own
    safe = np.where(fall > 0, fall, 1.0)
    rise = steep / (np.maximum(loss, 1e-150) * safe)
    beyond = np.stack([second + np.log1p(2 * rise * (1 + rise)), plain]) - np.log(safe)
    return np.where(fall > 0, beyond + _SLACK * (1 + np.abs(beyond)), np.inf)


@dataclass(frozen=True)
class Ellipses:
    """Around each panel, (panel, rho): ``log_rest`` is the logarithm of the error for a factor of the density up to one.

    The real part of l lies between ``least`` and ``most``, its imaginary part is at most ``turn``; at the real ends it is
    ``left`` and ``right``, and nowhere further from a value between these than ``moved``.
    """

    log_rest: Array
    least: Array
    most: Array
    turn: Array
    left: Array
    right: Array
    moved: Array

    @property
    def size(self) -> Array:
        """A bound of |l|."""
        size: Array = np.maximum(np.abs(self.left), np.abs(self.right)) + self.moved
        return size

    @staticmethod
    def around(curve: Curve, low: Array, high: Array, rho: Array = _RHO, order: int = _ORDER) -> Ellipses:
        """The ellipses of panels; an infinite error where a strand may have a zero."""
        r, middle = ((high - low) / 2)[:, None], ((high + low) / 2)[:, None]
        along, v = r * (rho + 1 / rho) / 2, r * (rho - 1 / rho) / 2
        left, right = middle - along, middle + along
        g0, g1, g2 = curve.density
        peak = np.clip(-g1 / (2 * g2), left, right) if g2 else np.where(g1 > 0, right, left)
        log_density = g0 + peak * (g1 + g2 * peak) - g2 * v * v
        least, most, turn, moved, loss_left, loss_right = (np.zeros(v.shape) for _ in range(6))
        near = np.ones(v.shape, dtype=bool)
        for strand in curve.strands:
            theta = abs(strand.slope) * v
            near &= theta < _WIDEST
            theta = np.minimum(theta, _WIDEST)
            log_left, log_right = strand.log(left), strand.log(right)
            rises = strand.slope > 0
            log_down, log_up = (log_left, log_right) if rises else (log_right, log_left)
            log_share = np.log(strand.rate) + strand.slope * (right if rises else left) + strand.offset - log_up
            share, half = np.exp(np.minimum(log_share, 0.0)), np.cos(theta / 2)
            if strand.sign > 0:
                least, most = least + log_down + np.log(half), most + log_up
            else:
                # the loss increases: such a strand falls, and is largest where the loss is least
                least, most = least - log_up, most - log_down - np.log(half)
            loss_left, loss_right = loss_left + strand.sign * log_left, loss_right + strand.sign * log_right
            log_density = log_density + strand.own * log_up
            turn = turn + theta * np.minimum(1.0, share / (1 - 2 * share * (1 - half * half)))
            moved = moved + theta * share / half
        # a panel of no length has no error
        log_rest = np.log(np.maximum(64 / 15 * r, 1e-300)) + log_density - 2 * order * np.log(rho) - np.log1p(-(rho**-2.0))
        return Ellipses(np.where(near, log_rest, np.inf), least, most, turn, loss_left, loss_right, moved)


def best(log_error: Array) -> Array:
    """The smallest bound over the ellipses, the second axis, rounded up."""
    least = np.minimum(log_error.min(axis=1), 1e300)
    total: Array = least + _SLACK * (1 + np.abs(least))
    return total


def _log_bounds(curve: Curve, low: Array, high: Array, powers: Array, top: float) -> tuple[Array, Array]:
    """Logarithms of the error bounds of each panel, (panel, power): of h over |z| |z + 1|, and of e^{al}."""
    own = Ellipses.around(curve, low, high)
    tilts = _tilts(curve, powers)[:, None, None, :]
    grown = np.maximum(tilts * own.least[:, :, None], tilts * own.most[:, :, None]) + top * own.turn[:, :, None]
    plain = _log_sum(np.maximum(np.maximum(grown, own.most[:, :, None]), 0.0)) + own.log_rest[:, :, None]
    return best(plain + np.log(np.maximum(own.size * own.size, 1e-300) / 2)[:, :, None]), best(plain)


@dataclass(frozen=True)
class Masses:
    """Atoms or nodes: losses, logarithms of Q-masses, relative errors of the masses and errors of the losses."""

    loss: Array
    log_mass: Array
    unit: Array
    slip: Array

    def beside(self, other: Masses) -> Masses:
        """Both together."""
        return Masses(*(np.concatenate([getattr(self, one.name), getattr(other, one.name)]) for one in fields(self)))


def nodes_of(curve: Curve, low: Array, high: Array) -> Masses:
    """The nodes on panels, of the curve itself."""
    s, log_weight, place = gauss(low, high)
    blur = 2 * curve.blur + 12 * ULP
    g0, g1, g2 = (abs(one) for one in curve.density)
    unit = 48 * ULP + 2 * curve.blur + blur * (g0 + place * (g1 + g2 * place))
    slip = np.zeros(s.size)
    for strand in curve.strands:
        own = strand.slip(s, place, curve.blur)
        slip, unit = slip + own, unit + strand.own * own
    return Masses(curve.loss(s), curve.log_density(s) + log_weight, unit, slip)


def atoms_of(curve: Curve) -> Masses:
    """The atoms of the curve itself."""
    place, held = (
        (np.array(column, dtype=float) for column in zip(*curve.atoms, strict=True)) if curve.atoms else np.zeros((2, 0))
    )
    # at minus infinity a strand is as good as there
    s, size = np.maximum(place, -1e300), np.abs(np.where(np.isfinite(place), place, 0.0))
    slip = sum((strand.slip(s, size, curve.blur) for strand in curve.strands), np.zeros(s.size))
    return Masses(curve.loss(s), held, 48 * ULP + (2 * curve.blur + 8 * ULP) * (1 + np.abs(held)), slip)


def nodes(curve: Curve, powers: Array, found: Panels) -> Nodes:
    """The nodes of both sides, of the atoms and of the rest."""
    whole = nodes_of(curve, found.low, found.high).beside(atoms_of(curve))
    if curve.mirrored:
        # P and Q exchanged
        whole = whole.beside(Masses(-whole.loss, whole.log_mass + whole.loss, whole.unit + whole.slip, whole.slip))
    if curve.rest:
        rest = (0.0, np.log(curve.rest), 64 * ULP + 4 * curve.blur, 0.0)
        whole = whole.beside(Masses(*(np.array([one]) for one in rest)))
    return gathered(whole.loss[None, :], whole.log_mass, powers, whole.unit, whole.slip[None, :], curve.lost, curve.lost_blur)


def parts_of(curve: Curve, found: Panels, power: float) -> tuple[float, float]:
    """Logarithms of the sums of e^{al} over the panels, and with the atoms, of the curve itself."""
    body, atoms = nodes_of(curve, found.low, found.high), atoms_of(curve)
    smooth = float(np.logaddexp.reduce(body.log_mass + power * body.loss))
    return smooth, float(np.logaddexp.reduce(atoms.log_mass + power * atoms.loss, initial=smooth))


def _inner(curve: Curve, found: Panels, powers: Array, top: float, known: Nodes, size: Array) -> Array:
    """The quadrature's error relative to M(c), where |z| |z + 1| is ``size``; sums that are not of second order have both."""
    second, plain = log_errors(curve, found, powers, top)
    exponent = np.abs(known.loss).max() * np.maximum(np.abs(powers), 1.0)
    plain = np.where((known.log_mass[0] > 0.99) | (exponent > 0.99 * _LARGE), plain, -np.inf)
    total = np.logaddexp(second + np.log(np.maximum(size, 1e-300)), plain) - known.log_mass[0]
    error: Array = np.exp(np.minimum(total, _LARGE))
    return error


def _unknown(size: int) -> Values:
    return Values(*np.full((3, size), np.inf))


def approximate(curve: Curve, abscissas: Array) -> Array:
    """K at real points to some digits, with no bound; infinite where it is out of reach."""
    values = np.full(abscissas.size, np.inf)
    for those in alike(abscissas):
        powers = abscissas[those] + 1
        edges = _rough(curve, powers)
        if edges is not None:
            values[those] = _log_mass(curve, edges, powers)
    return values


def _log_mass(curve: Curve, edges: Array, powers: Array) -> Array:
    """What :func:`nodes` sums, without its errors, which take longer than the sums."""
    s, log_weight, _ = gauss(edges[:-1], edges[1:])
    loss, log_mass = curve.loss(s), curve.log_density(s) + log_weight
    if curve.atoms:
        places, held = np.array(curve.atoms).T
        loss, log_mass = np.append(loss, curve.loss(np.maximum(places, -1e300))), np.append(log_mass, held)
    if curve.mirrored:
        loss, log_mass = np.append(loss, -loss), np.append(log_mass, log_mass + loss)
    if curve.rest:
        loss, log_mass = np.append(loss, 0.0), np.append(log_mass, np.log(curve.rest))
    exponent = powers[:, None] * loss
    whole = _log_sum((exponent + log_mass).T)
    if max(np.abs(exponent).max(), np.abs(loss).max()) > _LARGE:
        return whole
    # near one, from what it differs from one
    mass = np.exp(log_mass)
    excess = second_exp(exponent) @ mass - powers * (second_exp(loss) @ mass)
    excess += (powers - 1) * curve.lost[1] - powers * curve.lost[0]
    near = np.abs(excess) < 0.5
    return np.where(near, np.log1p(np.where(near, excess, 0.0)), whole)


def on_axis(curve: Curve, abscissas: Array) -> Values:
    """K at real points; infinite where it is out of reach."""
    values = _unknown(abscissas.size)
    for those in alike(abscissas):
        powers, size = abscissas[those] + 1, np.abs(abscissas[those])
        found = panels(curve, powers, 0.0)
        if found is not None:
            known = nodes(curve, powers, found)
            inner = to_log(_inner(curve, found, powers, 0.0, known, size * np.abs(powers)))
            part = weighted(np.ones(1), known.log_mass, to_log(known.noise.of_size(size)), inner[None, :])
            values.mid[those], values.rounding[those], values.inner[those] = part.mid, part.rounding, part.inner
    return values


def alike(abscissas: Array) -> Iterator[NDArray[np.intp]]:
    """Which of them are of one size: far ones need nodes that spoil the sums of near ones. Not too many at once."""
    level = np.floor(np.log(np.maximum(np.abs(abscissas), 1.0)) / _APART)
    for one in np.unique(level):
        those = np.flatnonzero(level == one)
        yield from np.split(those, range(_FEW, those.size, _FEW))


def at_heights(curve: Curve, abscissa: float, heights: Array, count: int) -> Values:
    """K at points of one vertical line, in any order: one sum per point."""
    # below the real axis the values are those above, conjugate
    above = np.abs(heights)
    values = _on_vertical(curve, abscissa, above, count, one_by_one)
    return Values(np.where(heights < 0, values.mid.conj(), values.mid), values.rounding, values.inner)


def on_line(curve: Curve, line: Line, count: int) -> Values:
    """K on a line, as a matrix product."""
    return _on_vertical(curve, line.abscissa, line.heights, count, along_line(line))


def _on_vertical(curve: Curve, abscissa: float, heights: Array, count: int, second_moments: SecondMoments) -> Values:
    powers, top = np.array([abscissa + 1]), float(heights.max())
    found = panels(curve, powers, top)
    if found is None:
        return _unknown(heights.size)
    known = nodes(curve, powers, found)
    size = np.hypot(abscissa, heights) * np.hypot(abscissa + 1, heights)
    known = replace(known, inner=_inner(curve, found, powers, top, known, size)[None, :])
    found_values = deviations(known, np.array([float(count)]), abscissa, heights, top, second_moments)
    return weighted(np.ones(1), *found_values)
