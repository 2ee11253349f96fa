"""Rare large losses of finite laws: a contour for the other losses, and the masses of the large ones.

notation: X a sum of independent losses, some of them finite; F the event that one of the finite ones exceeds a cap B > x, T the
law of X on the complement of F. Then

    D(x) = E[(1 - e^{x-X})_+; not F] + P(F) - e^x Q(F) + R,    Q(F) = E[e^{-X}; F],
    0 <= R = E[(e^{x-X} - 1)_+; F] <= kappa(v) e^{(1+v) x} sum over i of E[e^{-(1+v) X_i}; X_i > B] M(-1 - v) / M_i(-1 - v),

for all v > 0, since (e^y - 1)_+ <= kappa(v) e^{(1+v) y}. The moments of T do not grow with the rare losses, so that its saddle
lies where M(c) e^{-cx} is close to D. For sampled normal laws, see :mod:`logphi.engine.large_losses.clipping`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import ULP
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.inversion.lines.half_line import spread
from logphi.inversion.lines.kernels import Smooth, log_kappa
from logphi.inversion.lines.saddle import RIGHT, saddle
from logphi.laws.atomic.finite import CountedFinite, finite_laws
from logphi.laws.log_phi import LogPhi, terms_of
from logphi.laws.transform import LossTransform, Terms

# measured: the share of the tolerance that R may take
_REST = 0.05
# measured: the least amount, as a logarithm, by which a cap must lower the integrand
_GAIN = 3.0
# chosen: exponents v among which the best is found, over the spread of X
_EXPONENTS = np.geomspace(0.1, 100.0, 32)
# derived: thresholds for which e^x and its powers neither underflow nor overflow
_NEAREST, _FARTHEST = 1e-100, 300.0
# derived: far above the rounding of logarithms and of sums of few terms
_ROUNDING = 1e-12
# derived: up to this mass, log(1 - mass) has about the relative error of the mass
_RARE = 0.5
# measured: the step of a difference quotient at zero
_STEP = 1e-3


@dataclass(frozen=True)
class RareLosses:
    """P(F), and e^{log_q} = Q(F), with their relative error; R is at most e^{log_rest + (1 + exponent) x}."""

    log_p: float
    log_q: float
    error: float
    exponent: float
    log_rest: float

    def at(self, x: float) -> Scaled:
        """P(F) - e^x Q(F) + R, a number between 0 and P(F)."""
        taken = math.exp(min(x + self.log_q - self.log_p, _FARTHEST))
        wrong = 2 * (self.error + _ROUNDING * (1 + abs(x) + abs(self.log_p) + abs(self.log_q)))
        rest = self.log_rest + (1 + self.exponent) * x - self.log_p
        rest += _ROUNDING * (1 + abs(self.log_rest) + (1 + self.exponent) * abs(x) + abs(self.log_p))
        if not (taken < 1 and rest < 0):
            return Scaled(self.log_p, 0.5, truncation=0.5 + wrong)
        share = math.exp(rest)
        return Scaled(self.log_p, 1 - taken + share / 2, truncation=share / 2, rounding=wrong)


def without_large_losses(
    law: LossTransform, x: float, rtol: float, hint: float | None = None
) -> tuple[LossTransform, RareLosses | None]:
    """The law without losses above a cap, and the contribution of these; the law itself if that is no better near x.

    The saddle of the law is sought near a hint.
    """
    finite, others = finite_laws(terms_of(law))
    large = tuple((term, count) for term, count in finite if term.support.upper > x)
    if not large or not _NEAREST < x < _FARTHEST:
        return law, None
    exponents = _EXPONENTS / spread(law)
    moments = law.approximate(-1 - exponents)
    cap = _cap(large, x, rtol, log_kappa(exponents) + moments, exponents, _drift(finite, others, x))
    if cap is None:
        return law, None
    small = _capped(finite, others, cap)
    cut = tuple((term, count) for term, count in large if term.capped(cap) is not term)
    if not cut:
        return law, None
    whole = saddle(law, Smooth(x), RIGHT, hint)
    if not saddle(small, Smooth(x), RIGHT, whole.abscissa).value < whole.value - _GAIN:
        return law, None
    large_losses = _large_losses(law, cut, cap, x, exponents)
    return (law, None) if large_losses is None else (small, large_losses)


def _capped(finite: CountedFinite, others: Terms, cap: float) -> LogPhi:
    return LogPhi.of([*((term.capped(cap), count) for term, count in finite), *others])


def _drift(finite: CountedFinite, others: Terms, x: float) -> float:
    """An estimate of minus the mean of the smaller losses, or zero if that is negative."""
    low, high = _capped(finite, others, x).approximate(np.array([0.0, _STEP]))
    return max(float(low - high) / _STEP, 0.0)


def _cap(large: CountedFinite, x: float, rtol: float, log_moments: Array, exponents: Array, drift: float) -> float | None:
    """The lowest cap at which R is a small share of the contribution of one large loss; None if there is none."""
    loss = np.concatenate([term.losses for term, _ in large])
    p, q = (np.log(np.concatenate(parts)) for parts in ([term.p for term, _ in large], [term.q for term, _ in large]))
    weight = np.concatenate([np.full(len(term.p), math.log(count)) for term, count in large])
    order = np.argsort(-loss)
    order = order[loss[order] > x]
    loss, p, q = loss[order], (p + weight)[order], (q + weight)[order]
    # one large loss, while the sum of the others is about its mean
    far = loss > x + drift
    if not far.any():
        return None
    alone = float(np.logaddexp.reduce(p[far] + np.log(-np.expm1(x + drift - loss[far]))))
    above = np.logaddexp.accumulate(q - exponents[:, None] * loss, axis=1)
    rest = (log_moments[:, None] + (1 + exponents[:, None]) * x + above).min(axis=0)
    good = np.flatnonzero(rest <= alone + math.log(_REST * rtol))
    # the kept losses end with the next one below
    last = int(good[-1]) + 1 if good.size else 0
    if not last:
        return None
    return float(loss[last]) if last < loss.size else x


def _large_losses(law: LossTransform, cut: CountedFinite, cap: float, x: float, exponents: Array) -> RareLosses | None:
    """The masses of F and the best bound of R, with proofs."""
    whole = law.log_transform(-1 - exponents)
    known = np.isfinite(whole.mid) & np.isfinite(whole.radius)
    exponents, log_whole = exponents[known], (whole.mid + np.where(known, whole.radius, 0.0))[known]
    if not exponents.size:
        return None
    sides: list[Array] = []
    tails, error = np.full(exponents.size, -np.inf), 0.0
    for term, count in cut:
        loss, p, q = np.asarray(term.losses), np.asarray(term.p), np.asarray(term.q)
        above = loss > cap
        omitted = np.array([p[above].sum() / p.sum(), q[above].sum() / q.sum()])
        if not omitted.max() < _RARE:
            return None
        sides.append(count * np.log1p(-omitted))
        # the error of sums of probabilities, each with half an ulp, relative to these sums
        error = max(error, 8 * term.relative_error + 2 * ULP * (loss.size + 8))
        own = term.log_transform(-1 - exponents)
        unsure = (
            2 * term.relative_error + exponents * term.support.error + _ROUNDING * (1 + exponents * float(np.abs(loss).max()))
        )
        tail = np.logaddexp.reduce(np.log(q[above]) - exponents[:, None] * loss[above], axis=1) + unsure
        tails = np.logaddexp(tails, math.log(count) + tail + log_whole - own.mid + own.radius)
    log_kept = np.sum(sides, axis=0)
    ends = law.log_transform(np.array([0.0, -1.0]))
    if not (np.isfinite(ends.mid).all() and np.isfinite(log_kept).all() and (log_kept < 0).all()):
        return None
    log_p, log_q = (ends.mid + np.log(-np.expm1(log_kept))).tolist()
    rests = log_kappa(exponents) + tails
    best = int(np.argmin(np.where(np.isfinite(rests), rests + (1 + exponents) * x, np.inf)))
    if not math.isfinite(rests[best]):
        return None
    return RareLosses(log_p, log_q, error + float(ends.radius.max()), float(exponents[best]), float(rests[best]) + _ROUNDING)
