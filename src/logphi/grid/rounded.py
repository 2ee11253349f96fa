"""Laws on the whole multiples of one width: buckets, and Connect-the-Dots.

notation: h the width, x_k = k h, l = e^X the density ratio, P(dx) = e^x Q(dx). A chord is the mass between x_k and x_{k+1}: a
Q-mass A, whose mean of l lies at the share s of [e^{x_k}, e^{x_{k+1}}], hence P-mass p = A e^{x_k} (1 + s (e^h - 1)).

* Buckets: p goes to x_{k+1}, which makes X larger, or to x_k, which makes it smaller ([PLD] section 2.1).
* Connect-the-Dots: P-masses A (1 - s) e^{x_k} and A s e^{x_{k+1}} keep P and Q. They are the differences of slopes that
  [PLD] section 2.2 has, without their cancellation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.grid.atoms import Points
from logphi.grid.discretizer import Piece
from logphi.grid.flat_cells import Flat
from logphi.grid.lattice_law import Grid, LatticeLaw
from logphi.grid.mixture_cells import Bell
from logphi.laws.transform import LossTransform
from logphi.normal.cells import WIDE
from logphi.normal.errors import MASS, SHARE

# measured: about a second, and half a gigabyte
MOST_BUCKETS = 1 << 22
# measured: rates of Chernoff bounds beside the tilt, in units of what a normal law of the same variance would have
_RATES = np.geomspace(1 / 16, 16, 17)

# measured: ends are settled to far less than a bucket
_BISECTIONS = 30


@dataclass(frozen=True)
class Chords:
    """Chords from the nodes at ``places`` upward: Q-masses with relative errors, shares with absolute ones.

    A share of exactly zero is mass on the node itself. Ends are within ``slack`` of their nodes.
    """

    places: NDArray[np.int64]
    log_mass: Array
    error: Array
    share: Array
    share_error: Array
    slack: float

    def __add__(self, other: Chords) -> Chords:
        return Chords(
            np.concatenate([self.places, other.places]),
            np.concatenate([self.log_mass, other.log_mass]),
            np.concatenate([self.error, other.error]),
            np.concatenate([self.share, other.share]),
            np.concatenate([self.share_error, other.share_error]),
            max(self.slack, other.slack),
        )

    def reversed(self, h: float) -> Chords:
        """Of -X under Q: the chords of the reversed pair."""
        growth = np.log1p(self.share * np.expm1(h))
        inside = self.share > 0
        log_mass = self.log_mass + self.places * h + growth
        share = np.where(inside, (1 - self.share) * np.exp(-growth), 0.0)
        error = self.error + np.expm1(h) * self.share_error + 2 * self.slack + 4 * ULP * (2 + np.abs(self.places * h))
        share_error = np.where(inside, np.exp(h) * self.share_error + SHARE, 0.0)
        # a share that was one is zero now: it would count as mass on the lower end
        share = np.where(inside, np.maximum(share, 1e-300), 0.0)
        return Chords(-self.places - inside, log_mass, error, share, share_error, self.slack)

    def on(self, grid: Grid, dots: bool) -> tuple[LatticeLaw, float]:
        """The nodes of one side, and how much of the P-mass is on them."""
        h, c = grid.step, grid.tilt
        inside = self.share > 0
        sign = 1.0 if grid.upper else -1.0
        share = np.where(inside, np.clip(self.share + sign * self.share_error, 0.0, 1.0), 0.0)
        x = self.places * h
        if grid.upper and dots:
            with np.errstate(divide="ignore"):  # a share of zero or one leaves nothing at one end
                logs = np.concatenate([self.log_mass + np.log1p(-share), self.log_mass + np.log(share) + h])
            places = np.concatenate([self.places, self.places + 1])
        else:
            logs = self.log_mass + np.log1p(share * np.expm1(h))
            places = self.places + (inside if grid.upper else 0)
        times = 2 if grid.upper and dots else 1
        exponent = logs + np.tile(x, times) + c * h * places
        peak = float(exponent.max())
        size = np.where(np.isfinite(logs), np.abs(logs), 0.0) + (1 + c) * (np.tile(np.abs(x), times) + h) + abs(peak)
        wrong = np.tile(self.error, times) + 2 * self.slack + MASS + 2 * ULP * size
        weights = np.exp(exponent - peak) * (1 + wrong if grid.upper else np.maximum(1 - wrong, 0.0))
        first = int(places.min())
        nodes: Array = np.bincount(places - first, weights).astype(np.float64)
        nodes *= 1 + sign * 4 * ULP * np.bincount(places - first)
        held = np.arange(first, first + nodes.size, dtype=np.int64)
        slack = self.slack + 4 * ULP * float(np.abs(x).max() + h)
        return LatticeLaw(held, nodes, peak, 0.0, slack), peak + float(np.log(max(nodes.sum(), 1e-300)))


@dataclass(frozen=True)
class Rounded:
    """A law and its piece, put on the multiples of the step: above by chords if ``dots``, else by rounding."""

    law: LossTransform
    piece: Piece
    dots: bool

    @property
    def top(self) -> float:
        """Rounded up, a support has no end that is known beforehand."""
        return np.inf

    @property
    def endless(self) -> bool:
        """As that of the piece."""
        return self.piece.endless

    @property
    def spans(self) -> Array:
        """The step is given."""
        return np.zeros(0)

    def misfit(self, steps: Array, tilt: float) -> Array:
        """The step is given."""
        return np.zeros_like(steps)

    def approximate(self, u: Array, cut: float) -> Array:
        """That of the piece."""
        return self.piece.approximate(u, cut)

    def on(self, grid: Grid) -> LatticeLaw:
        """What lies between two of Chernoff's end points of the tilted law; the rest is lost."""
        c, h = grid.tilt, grid.step
        below, there, above = self.piece.approximate(c * np.array([0.75, 1.0, 1.25]), grid.cut).tolist()
        bend = max((below - 2 * there + above) / (c / 4) ** 2, 1e-300)
        unit = min(max(float(np.sqrt(2 * grid.reach / bend)), c / 64), 2 * (1 + c))
        rates = np.concatenate([-unit * _RATES, unit * _RATES])
        away = self._log_moments(c + rates)
        ahead = rates > 0
        room = away - there + grid.reach
        # the end points of [PLD] section 5.2, of the law that is tilted by e^{cx}
        high = min(float((room[ahead] / rates[ahead]).min()), self.law.support.upper + h)
        low = max(float((room[~ahead] / rates[~ahead]).max()), self.law.support.lower - h)
        own = c + rates > 0
        if self.endless:
            high = self._cut_at(low, high, grid.cut)
        first, last = int(np.floor(low / h)), int(np.ceil(max(high, low) / h)) + 1
        if last - first > MOST_BUCKETS:
            raise ValueError(
                f"one release reaches over {last - first} buckets of width {h!r}, and at most {MOST_BUCKETS} are kept: take a "
                f"width of {(last - first) / MOST_BUCKETS * h:.3g} or more"
            )
        found, log_whole = chords(self.piece, first, last, h, grid.upper).on(grid, self.dots)
        if not grid.upper:
            return found
        edge = last * h
        lost = lost_mass = below = 0.0
        if edge < self.law.support.upper:
            lost = _exp(float((away - rates * edge)[ahead].min()) - log_whole)
            lost_mass = _exp(min(float((away - (c + rates) * edge)[own].min()), self._log_above(edge)))
        if first * h > self.law.support.lower:
            below = _exp(float((away - rates * (first * h))[~ahead].min()) - log_whole)
        return replace(found, lost=lost, lost_mass=min(lost_mass, 1.0), lost_below=below)

    def _log_above(self, x: float) -> float:
        """An upper bound of log P(X > x); zero where no such mass is known."""
        found = self.law.closed_form.partial_masses(x)
        return 0.0 if found is None else min(found[0].log_ends[1], 0.0)

    def _cut_at(self, low: float, high: float, cut: float) -> float:
        """The loss between two above which the P-mass is about e^cut; the higher one if more is above that."""
        if self._log_above(high) > cut:
            return high
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._log_above(middle) > cut else (low, middle)
        return high

    def _log_moments(self, u: Array) -> Array:
        """Upper bounds of K, infinite where nothing is known."""
        low, high = self.law.strip
        inside = (u > low) & (u < high)
        values = self.law.log_transform(np.where(inside, u, 0.0))
        known = inside & np.isfinite(values.mid.real) & np.isfinite(values.radius)
        if not known[inside].all() and u.size > 1:
            # a grid for far-apart points at once may be too fine: halves of them are nearer to one another
            return np.concatenate([self._log_moments(half) for half in np.array_split(u, 2)])
        mid, radius = np.where(known, values.mid.real, np.inf), np.where(known, values.radius, 0.0)
        return mid + radius + 1e-12 * (1 + np.abs(u) + np.where(known, np.abs(mid), 0.0))


@singledispatch
def chords(piece: Piece, first: int, last: int, h: float, upper: bool) -> Chords:
    """The law between two nodes, on one side in its parameters.

    Raises
    ------
    ValueError
        If the masses between given losses are not known.
    """
    raise ValueError(
        "rounding to a given width serves Gaussians and their mixtures, sampled or not, Laplace mechanisms and mechanisms with "
        "finitely many outcomes, and some loss here is of another kind; take method='discretized', which chooses its own nodes"
    )


@chords.register
def _(piece: Bell, first: int, last: int, h: float, upper: bool) -> Chords:
    if piece.turned:
        return chords(replace(piece, turned=False), -last, -first, h, upper).reversed(h)
    shape = piece.shape(upper)
    end = shape.log_rest
    bounded = end > -np.inf
    first = max(first, int(np.floor(end / h))) if bounded else first
    k = np.arange(first, max(last, first + 1) + 1)
    x = k * h
    with np.errstate(divide="ignore", over="ignore"):  # below the support, and from its end on
        big = x + (np.log(np.maximum(-np.expm1(end - x), 0.0)) if bounded else 0.0)
    y, missed = shape.ratio.moving_inverse(big)
    finite = np.isfinite(y)
    size = np.exp(np.minimum(big - x, 0.0))[finite] * shape.size(y[finite], big[finite])
    slack = 4 * ULP * float(size.max() + np.abs(x).max() + abs(end if bounded else 0.0)) + 2 * missed + piece.blur
    if not (y[1:] > y[:-1]).all():
        raise ValueError(f"a width of {h!r} is finer than the doubles at the losses of one release")
    log_mass, share, share_error, _, narrow = shape.cells(y)
    if not finite[0]:
        # the support begins within the first cell
        base = np.expm1(end - x[1]) / np.expm1(-h)
        share[0], share_error[0] = 1 - (1 - share[0]) * base, share_error[0] + SHARE * (1 + (abs(end) + h) / h)
    far = np.where(np.isinf(y[:-1]), np.abs(y[1:]), np.minimum(np.abs(y[1:]), np.abs(y[:-1]) + 1))
    error = MASS + WIDE * ~narrow + ULP * (2 * far * far + np.abs(log_mass))
    return Chords(k[:-1], log_mass, error, np.maximum(share, 1e-300), share_error, slack)


@chords.register
def _(piece: Points, first: int, last: int, h: float, upper: bool) -> Chords:
    return _atoms(np.asarray(piece.locations), np.asarray(piece.log_p), piece.slack, h)


@chords.register
def _(piece: Flat, first: int, last: int, h: float, upper: bool) -> Chords:
    w = piece.width.at(upper)
    log_c, log_p = piece.weights(w)
    slack = 48 * ULP * (w + h)
    if log_p > -np.inf:
        atoms = _atoms(np.array([-w, w]), np.array([log_p - w, log_p]), slack, h)
        return atoms if log_c == -np.inf or w == 0 else atoms + _flat(w, log_c, slack, first, last, h)
    return _flat(w, log_c, slack, first, last, h)


def _flat(w: float, log_c: float, slack: float, first: int, last: int, h: float) -> Chords:
    """P-density C e^{x/2} on [-w, w]."""
    k = np.arange(max(int(np.floor(-w / h)), first), min(int(np.ceil(w / h)), last))
    low, high = np.maximum(k * h, -w), np.minimum((k + 1) * h, w)
    k, low, high = (part[high > low] for part in (k, low, high))
    length = high - low
    # the mean of l in a cell is at the middle of its losses
    log_mass = log_c - low / 2 + np.log(-2 * np.expm1(-length / 2))
    share = np.clip(np.expm1((low - k * h) + length / 2) / np.expm1(h), 1e-300, 1.0)
    # an end of the support is off by its rounding, and a narrow cell's mass by that over its length
    error = MASS + ULP * (64 + 64 * w + np.abs(log_mass)) + 4 * ULP * w / length
    return Chords(k, log_mass, error, share, np.full(k.size, 2 * SHARE * (1 + w / h)), slack)


def _atoms(places: Array, log_p: Array, slack: float, h: float) -> Chords:
    """Each on a node if it is there within rounding."""
    position = places / h
    nearest = np.rint(position)
    hit = np.abs(position - nearest) <= 16 * ULP * (1 + np.abs(position)) + slack / h
    lower = np.where(hit, nearest, np.floor(position))
    rest = np.where(hit, 0.0, np.clip(places - lower * h, 0.0, h))
    share = np.expm1(rest) / np.expm1(h)
    log_mass = log_p - places
    error = MASS + ULP * (np.abs(log_p) + np.abs(places)) + slack
    share_error = np.where(hit, 0.0, SHARE * (1 + np.abs(position)) + 2 * slack / h)
    return Chords(
        lower.astype(np.int64), log_mass, error, share, share_error, slack + 32 * ULP * float(np.abs(places).max() + h)
    )


def _exp(exponent: float) -> float:
    return float(np.exp(min(exponent, 700.0)))
