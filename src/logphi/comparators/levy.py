"""Lévy's inversion on the lines through the poles at 0 and -1: two tails from one quadrature.

notation: mu a law with transform M = e^K, x a threshold; phi(t) = M(it) is the characteristic function of mu, and
phi'(t) = M(-1 - it) that of the reflected tilt, e^{-y} mu(dy) under y -> -y. Lévy's formula, mu((x, inf)) + mu({x})/2 =
M(0)/2 + (1/pi) int_0^inf Im(e^{-itx} phi(t)) dt/t, applied to each, gives the excess

    D(x) = E[(1 - e^{x-X})_+] = mu((x, inf)) - e^x * (e^{-y} mu)((x, inf)),

in which the halves of an atom at x cancel (Zhu, Dong & Wang 2022, Lemmas 18 and 19; finite measures of mass below
one are allowed, the first term is half the mass). The integral over t > 0 is mapped to an interval by
t = T u / (1 - u^2) (their Lemma 42, with a unit T) and computed by Gauss-Legendre rules on equal panels, whose number is
doubled until two answers agree.

Where the law has atoms, phi does not decay and the integrals converge only because the integrand oscillates. Truncated at T,
their difference is E[(1 - e^{x-X}) (1/2 + Si(T (X - x)) / pi)]. As |pi/2 - Si(u)| <= 1/u for u > 0, and
|1 - e^{-d}| <= |d| (1 + e^{-d}) / 2, the truncation error is below

    (M(0) + e^x M(-1)) / (2 pi T),

wherever the atoms are: near x, where one tail alone has an error of half an atom, 1 - e^{x-X} vanishes.

On these lines the error is *absolute*, at best about 1e-15 (1 + e^x): for small answers, or large x, the line of
:mod:`logphi.inversion.lines.contour` is better. The quadrature error is estimated from the doubling, not proved.

The file is longer than others because the nodes, their errors and the truncation bound belong to one quadrature.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

import numpy as np

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.laws.transform import LossTransform
from logphi.quadrature.values import Values

# chosen: nodes of a panel; from the paper: they are Gauss-Legendre nodes
ORDER = 32
# derived: this many nodes integrate 44 radians to 1e-21, the error being below (22 e / 128)^64
RADIANS = 44.0
# measured: takes seconds where K is itself an integral
MAX_PANELS = 128
# chosen: two answers agree when they differ by less than this share of the declared rounding
AGREEMENT = 1 / 32
# chosen: truncation errors, in units of the masses, tried from the smallest on
TRUNCATION = (1e-17, 1e-15, 1e-13, 1e-12)
# measured: panels where phi does not decay that far; takes a second for closed forms, and tens of megabytes for each rule
LONGEST = 1 << 13
# chosen: nor need they agree more closely than this share of the truncation error
_SHARE = 1e-3
# chosen: rules kept for neighbouring thresholds: each takes two, not always the same
_KEPT = 6
# chosen: heights computed at a time: bounds the memory where K is itself an integral
BLOCK = 1 << 10
# derived: the largest derivative of u / (1 - u^2) times the length of the interval up to u / (1 - u^2) = 1
_STRETCH = 2.24
# derived: the nodes and weights of a panel, on [-1, 1]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(ORDER)
# chosen: log2 of the first and last height of the search, in standard deviations of the characteristic function
_SEARCH = np.arange(-4.0, 64.0, 0.125)


def excess(law: LossTransform, x: float, most: int = MAX_PANELS) -> Scaled:
    """D(x) = E[(1 - e^{x-X})_+] by Lévy's formula (Zhu, Dong & Wang 2022, Lemmas 18, 19 and 42).

    Parameters
    ----------
    law
        Any law that is not one atom.
    x
        The threshold, any finite real.
    most
        The largest number of panels, of 32 nodes each, of the first rule, if an envelope proves that the characteristic
        function decays on the lines Re z = 0 and Re z = -1, or if K is itself an integral; otherwise it is ``LONGEST``.
        Doubling may use twice as many.

    Returns
    -------
    Scaled
        On the scale one (``log_scale = 0``), with *absolute* errors on both sides: ``truncation`` (of the integral, bounded by
        the envelope or by the bound of the module), ``rounding`` and ``inner`` (as the law declares them) and
        ``discretization``: twice the difference of the last two quadratures, an estimate. The value may be negative
        within its errors. Where they exceed the first tail, the answer is the interval from zero to that tail,
        which contains D if the quadrature of the first tail is right.

    Raises
    ------
    ValueError
        If the law is concentrated on one point, or its transform is out of the range of doubles.

    Examples
    --------
    >>> from logphi.arith.protocol import Plain
    >>> from logphi.laws.normal.normal import Normal
    >>> round(excess(Normal(Plain(1.0)), 0.5).value, 12)
    0.238421708135
    """
    return prepare(law, x, most)(x)


def prepare(law: LossTransform, x: float, most: int = MAX_PANELS) -> Callable[[float], Scaled]:
    """:func:`excess` as a function of the threshold alone: the computed values of K are kept for the next threshold.

    It is as accurate at any other threshold.

    The arguments and the errors raised are those of :func:`excess`; some of the errors are raised here already.
    """
    lines = [_Axis.of(law, abscissa) for abscissa in (0.0, -1.0)]

    @lru_cache(maxsize=_KEPT)
    def nodes(height: float, panels: int) -> _Nodes:
        return _nodes(law, lines, height, panels)

    return lambda x: _excess(law, lines, nodes, x, most)


def _excess(law: LossTransform, lines: list[_Axis], nodes: Callable[[float, int], _Nodes], x: float, most: int) -> Scaled:
    # above e^700 no digit of the difference is left
    factors = np.array([1.0, np.exp(min(x, 700.0))])
    masses = np.array([np.exp(line.log_mass) for line in lines])
    extent = _extent(law, x, lines, most)
    panels, rest = extent.panels, extent.rest
    coarse, fine = (_integral(law, x, lines, nodes(extent.height, panels * k)) for k in (1, 2))
    change = np.abs(fine.tails - coarse.tails)
    while (change > AGREEMENT * fine.rounding + _SHARE * rest * masses).any() and 4 * panels <= 2 * extent.most:
        panels *= 2
        coarse, fine = fine, _integral(law, x, lines, nodes(extent.height, panels * 2))
        change = np.abs(fine.tails - coarse.tails)
    # the rounding of the product with e^x, of the difference of the tails, and of x
    rounding = fine.rounding + np.abs(fine.tails) * ELEMENTARY * (1 + abs(x))
    answer = Scaled(
        0.0,
        float(fine.tails @ (factors * [1, -1])),
        truncation=float(rest * masses @ factors),
        inner=float(fine.inner @ factors),
        rounding=float(rounding @ factors),
        discretization=float(2 * change @ factors),
    )
    # the second tail, times its factor, lies between zero and the first: the interval is wide, but free of e^x
    ceiling = float((fine.tails + extent.first * masses + fine.inner + rounding + 2 * change)[0])
    return answer if answer.spread < ceiling else Scaled(0.0, ceiling / 2, truncation=ceiling / 2)


@dataclass(frozen=True)
class _Axis:
    """A line Re z = c: the mass of the law tilted to it, and mean and standard deviation, which only choose the rule."""

    abscissa: float
    log_mass: float
    mass_error: float
    mean: float
    spread: float

    @staticmethod
    def of(law: LossTransform, abscissa: float) -> _Axis:
        masses = law.support.masses
        at_zero, at_minus_one = (float(values.mid[0].real) for values in masses)
        dip = at_zero + at_minus_one - 2 * float(law.log_transform(np.array([-0.5])).mid[0].real)
        own = masses[0 if abscissa == 0 else 1]
        log_mass, error = float(own.mid[0].real), float(own.radius[0])
        if not (np.isfinite(dip) and error < 1):
            raise ValueError(
                "K must be known at 0, -1/2 and -1, and is not: parameters are outside the range of doubles; leave method out"
            )
        # exact for a normal law; two passes at a small height then measure the curvature
        mean, spread = 0.0, 2 * float(np.sqrt(max(dip, 0.0)))
        for _ in range(2):
            if not spread > 0:
                break
            height = 1e-3 / spread
            step = complex(law.log_transform(np.array([complex(abscissa, height)])).mid[0]) - log_mass
            mean, spread = step.imag / height, float(np.sqrt(max(-2 * step.real, 0.0))) / height
        if not (spread > 0 and np.isfinite(spread) and np.isfinite(mean)):
            raise ValueError(
                "Lévy inversion needs a law that is not concentrated on one point; this one is "
                "(or is too narrow for doubles): its excess is elementary"
            )
        return _Axis(abscissa, log_mass, error, mean, spread)


@dataclass(frozen=True)
class _Sum:
    """Both tails from one quadrature, with the errors of each."""

    tails: Array
    rounding: Array
    inner: Array


@dataclass(frozen=True)
class _Extent:
    """The height at which the integral is truncated, the first and the largest number of panels, and truncation errors.

    The errors are relative to the masses: ``rest`` for both tails together, ``first`` for the first one alone.
    """

    height: float
    panels: int
    most: int
    rest: float
    first: float


def _extent(law: LossTransform, x: float, lines: list[_Axis], most: int) -> _Extent:
    """The lowest height at which the truncation error is small; else the greatest that the longest rule resolves."""
    heights = 2.0**_SEARCH / max(line.spread for line in lines)
    envelope = np.exp(np.max([law.log_envelope(line.abscissa, heights) for line in lines], axis=0))
    bound = 1 / (2 * np.pi * heights) * (1 + 1e-9)
    parts = np.append(envelope[:-1] * np.diff(np.log(heights)) / np.pi * (1 + 1e-9), 0.0)
    # the error of truncation at each height: the envelope up to a second height and the bound above it, at the best second
    # height
    rest = np.array(list(accumulate(zip(bound[::-1], parts[::-1], strict=True), _least, initial=np.inf))[:0:-1])
    # the integral of one tail need not decay where there are atoms: its truncation error is at most half their mass
    first = np.minimum(envelope[-1] + np.cumsum(parts[::-1])[::-1], 0.5)
    pull = max(abs(x - line.mean) + 2 * line.spread for line in lines)

    def known(at: int) -> bool:
        # K may not be computable where the envelope has not yet fallen
        with np.errstate(invalid="ignore"):  # infinities of an unknown K: such a height is skipped
            ends = [law.log_transform(np.array([complex(line.abscissa, heights[at])])).mid[0] for line in lines]
        return bool(np.isfinite(ends).all())

    def extent(at: int, limit: int) -> _Extent:
        # few different sizes, so that neighbouring thresholds share their nodes
        panels = np.ceil(2 ** (np.ceil(4 * np.log2(limit * heights[at] / reach(limit))) / 4))
        return _Extent(float(heights[at]), int(np.clip(panels, 2, max(limit, 2))), limit, float(rest[at]), float(first[at]))

    def reach(limit: int) -> float:
        return limit * RADIANS / (_STRETCH * pull)

    for target in TRUNCATION:
        enough = np.flatnonzero(rest <= target)
        if enough.size and heights[enough[0]] <= reach(most) and known(enough[0]):
            return extent(enough[0], most)
    # where every K is an integral, the longest rule would take minutes
    closed = not law.log_transform(np.array([complex(0.0, heights[0])])).inner.any()
    longest = max(most, LONGEST) if closed else most
    for at in np.flatnonzero(heights <= reach(longest))[::-1]:
        if known(at):
            return extent(at, longest)
    raise ValueError(
        f"Lévy inversion must integrate up to the height {heights[0]:.3g} at least, which a quadrature for the threshold {x!r} "
        "does not reach: it is very far from the mean; use a route that integrates on a vertical line off the poles"
    )


def _least(later: float, here: tuple[float, float]) -> float:
    beyond, part = here
    return min(beyond, part + later)


@dataclass(frozen=True)
class _Nodes:
    """Heights t of a rule, the weights of dt / (pi t), and K there on every line."""

    heights: Array
    share: Array
    values: tuple[Values, ...]


def _nodes(law: LossTransform, lines: list[_Axis], height: float, panels: int) -> _Nodes:
    """Gauss-Legendre rules on equal panels of u, t = height u / (1 - u^2)."""
    end = (np.sqrt(5.0) - 1) / 2  # there u / (1 - u^2) = 1
    width = end / panels
    u = (width * (np.arange(panels)[:, None] + (1 + NODES) / 2)).ravel()
    gap = (1 - u) * (1 + u)
    t = height * u / gap
    # dt/t in terms of du
    share = np.tile(WEIGHTS, panels) * (width / 2 / np.pi) * (1 + u * u) / (gap * u)
    return _Nodes(t, share, _on(law, lines, t))


def _integral(law: LossTransform, x: float, lines: list[_Axis], nodes: _Nodes) -> _Sum:
    """Both tails."""
    t, share = nodes.heights, nodes.share
    tails, rounding, inner = np.zeros((3, len(lines)))
    for i, (line, values) in enumerate(zip(lines, nodes.values, strict=True)):
        known = np.isfinite(values.mid) & (values.radius < 1)
        mid = np.where(known, values.mid, 0)
        size = np.where(known, np.exp(mid.real), 0.0)
        terms = share * size * np.sin(mid.imag - t * x)
        mass = np.exp(line.log_mass)
        # the rounding of x, of the product tx, of the nodes, and of K as declared
        phase_error = 4 * ULP * (np.abs(mid) + 2 * t * abs(x))
        moved = size * np.expm1(np.where(known, np.minimum(values.rounding, 1) + phase_error, 0.0))
        if not known.all():
            # where K is not known: at most the proved envelope, or the upper end of the disc around K
            high = np.where(np.isfinite(values.mid), values.mid.real, np.inf) + values.radius
            limit = np.minimum(line.log_mass + law.log_envelope(line.abscissa, t), np.minimum(high, 700.0))
            moved = np.where(known, moved, np.exp(limit))
        own = np.abs(terms).sum() * (2 * ELEMENTARY + ULP * (24 + np.log2(t.size)))
        tails[i] = mass / 2 + terms.sum()
        rounding[i] = (share * moved).sum() + own + mass / 2 * (np.expm1(min(line.mass_error, 1.0)) + 2 * ELEMENTARY)
        inner[i] = 3 * (share * size * np.expm1(np.where(known, values.inner, 0.0))).sum()
    return _Sum(tails, rounding, inner)


def _on(law: LossTransform, lines: list[_Axis], heights: Array) -> tuple[Values, ...]:
    """K at c + it on every line, in blocks of neighbouring heights."""
    abscissas = np.array([line.abscissa for line in lines])
    blocks = np.split(heights, range(BLOCK, heights.size, BLOCK))
    values = [law.log_transform(abscissas[:, None] + 1j * block) for block in blocks]
    mid, rounding, inner = (
        np.concatenate([getattr(one, name) for one in values], axis=1) for name in ("mid", "rounding", "inner")
    )
    return tuple(Values(mid[i], rounding[i], inner[i]) for i in range(len(lines)))
