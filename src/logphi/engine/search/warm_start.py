"""Crossings of a profile with one level after another: each crossing is the first guess of the next."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from logphi.arith.safe import log1mexp
from logphi.arrays import Array
from logphi.bracketing import fall
from logphi.engine.cancellation import log_answer, needs_long_line
from logphi.engine.large_losses import large_guesses
from logphi.inversion.chernoff import log_moments
from logphi.inversion.lines.kernels import log_kappa
from logphi.inversion.lines.layout import exactly_reflectable
from logphi.inversion.lines.saddle import RIGHT, interval_of, minimise
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.curved_normal import Cappable

# measured: nine in ten guesses of the logarithm of an excess are at most so much too low; lines that are laid a little above
# the crossing serve it as well, those below it do not
_TOO_LOW = 1.0
# chosen: the first step towards a rough crossing, as a logarithm
_STEP = 0.2
# chosen: how near a rough crossing is approached, as a logarithm
_ENOUGH = 0.05
# chosen: rough crossings below this share of the highest one may be at zero
_LEAST = 1e-6
# measured: where a tilted law is wider by this factor than a normal one, a few of its atoms carry nearly all of the mass
_WIDER = 3.0
# measured: the largest change of log delta over which the slope at one crossing predicts the next one
_STRIDE = 1.0
# chosen: large losses whose mass, as a logarithm, is so far below the level are left out
_NEGLIGIBLE = 35.0


class WarmStart:
    """The crossing of a profile with the previous level, from which the search for the next one starts."""

    def __init__(self, loss: LogPhi) -> None:
        self.loss = loss
        self._chernoff: Chernoff | None = None
        # the logarithm of the excess that the bound is best for
        self._known_at = math.nan
        # the previous level, its crossing, and minus the slope of the log-profile there
        self._last: tuple[float, float, float] | None = None
        self._near = False

    def mark(self, level: float, x: float, slope: float) -> None:
        """Store a crossing, and minus the slope of the logarithm of the profile there."""
        self._last = level, x, slope

    def chernoff(self, log_excess: float) -> Chernoff:
        """Chernoff's bound of the crossing with a level, given without infinite losses."""
        if self._chernoff is None or self._known_at != log_excess:
            loss, log_lost = self._without_large(log_excess)
            self._chernoff, self._known_at = Chernoff.of(loss, log_excess, log_lost), log_excess
        return self._chernoff

    def _without_large(self, log_excess: float) -> tuple[LogPhi, float]:
        """The loss without large ones that are negligible, and the logarithm of what is left out."""
        if not any(isinstance(law, Cappable) for law, _ in self.loss.terms):
            return self.loss, -math.inf
        # SciPy's normal tails would double the time of importing the package
        from logphi.engine.large_losses.capped import Capped

        capped = Capped.below(self.loss, log_excess - _NEGLIGIBLE)
        return capped.loss, capped.log_lost

    def guess(self, level: float, log_excess: float) -> FirstGuess:
        """The guess of the next crossing."""
        if self._chernoff is None or self._last is None or abs(level - self._last[0]) > _STRIDE:
            self._chernoff = self.chernoff(log_excess)
            guess = large_guesses.guess(self.loss, self._chernoff.guess, level, self._chernoff.abscissa)
            slope, rough = -self._chernoff.abscissa, None
            if guess != self._chernoff.guess or needs_long_line(self.loss):
                rough = _rough_crossing(self.loss, guess, self._chernoff.rough_ceiling(log_excess), level)
            alone = guess == self._chernoff.guess and (self.loss.support.atomless or self._chernoff.like_normal)
            self._near = rough is not None or alone
            if rough is not None:
                guess, slope = rough
        else:
            before, x, steepness = self._last
            guess, slope = x + (before - level) / steepness, -steepness
        ceiling = self._chernoff.rough_ceiling(log_excess)
        return FirstGuess(guess if math.isfinite(guess) else ceiling, ceiling, self._chernoff.abscissa, slope, self._near)

    def ceiling(self, log_excess: float) -> float:
        """An upper bound of the crossing."""
        return math.inf if self._chernoff is None else self._chernoff.ceiling(log_excess)


def _rough_crossing(loss: LogPhi, start: float, highest: float, level: float) -> tuple[float, float] | None:
    """About the crossing of the excess of sampled Gaussians with a level, and the slope of its logarithm there, from guesses.

    The slope is NaN if it is unknown. None if there are no guesses.
    """
    if not 0 < highest < math.inf:
        return None
    start = start if 0 < start < highest else highest

    seen: dict[float, float] = {}

    def above(log_x: float) -> float:
        found = large_guesses.alone(loss, math.exp(log_x))
        if found is None:
            rough = log_answer(loss, math.exp(log_x))
            found = math.nan if rough is None else rough + _TOO_LOW
        seen[log_x] = found - level
        return seen[log_x]

    if not math.isfinite(above(math.log(start))):
        return None
    least = math.log(_LEAST * highest)
    log_x = fall(above, math.log(start), _STEP, least, math.log(highest), _ENOUGH)
    if log_x <= least + _STEP:
        # the crossing may be at zero
        return None
    one, *others = sorted(seen, key=lambda place: abs(place - log_x))
    # the first place may be the crossing
    rise = (seen[one] - seen[others[0]]) / (one - others[0]) if others else math.nan
    return math.exp(log_x), rise / math.exp(log_x) if rise < 0 else math.nan


@dataclass(frozen=True)
class FirstGuess:
    """A guess of a crossing, an approximate upper bound of it, the abscissa of its saddle, and the slope of the log-profile.

    With ``near``, the guess is so near that a sharp profile prepared there is used at once: a saddle-point approximation,
    mostly within a thousandth, or a rough one of sampled Gaussians, for which coarse profiles are hardly quicker.
    """

    epsilon: float
    rough_ceiling: float
    abscissa: float
    slope: float
    near: bool


@dataclass(frozen=True)
class Chernoff:
    """The bound eps from kappa(c) M(c) e^{-c eps} <= delta - P(L = inf), at a c that is close to the best for one delta.

    ``height`` is about log kappa(c) M(c), ``guess`` about the crossing for that delta; ``like_normal`` says whether the tilted
    law is about as wide as a normal one, so that atoms do not spoil the guess. ``log_lost`` is the logarithm of a bound of the
    mass that the loss leaves out.
    """

    loss: LogPhi
    abscissa: float
    height: float
    guess: float
    like_normal: bool = False
    log_lost: float = -math.inf

    @staticmethod
    def of(loss: LogPhi, log_excess: float, log_lost: float = -math.inf) -> Chernoff:
        """The bound for one delta."""

        def objective(c: Array) -> Array:
            return (loss.approximate(c) + log_kappa(c) - log_excess) / c

        within = interval_of(loss, RIGHT)
        if not within.low < within.high:
            # without a moment on this side nothing is known, and one is as good a guess as any
            return Chernoff(loss, 1.0, math.inf, 1.0)
        found = minimise(objective, within)
        c = exactly_reflectable(found.abscissa)
        height = found.value * c + log_excess
        # at its minimum the second derivative of f(c)/c is f''(c)/c, and (log kappa)'' is 1 / (c (c + 1))
        own = max(found.curvature * c - 1 / (c * (c + 1)), 0.0)
        guess = float(saddle_crossing(height - log_kappa(np.array([c])), own, c, log_excess)[0])
        # for a normal law c^2 K'' is -2 log delta
        return Chernoff(loss, c, height, guess, own * c * c < -2 * _WIDER * log_excess, log_lost)

    def rough_ceiling(self, log_excess: float) -> float:
        """An approximate upper bound of the crossing for any delta."""
        return (self.height - log_excess) / self.abscissa

    def ceiling(self, log_excess: float) -> float:
        """An upper bound of the crossing for any delta."""
        if not self.log_lost < log_excess - 1:
            return math.inf
        log_excess += log1mexp(self.log_lost - log_excess) - 1e-15
        c = np.array([self.abscissa])
        log_moment, log_constant = float(log_moments(self.loss, c)[0]), float(log_kappa(c)[0])
        top = (log_moment + log_constant - log_excess) / self.abscissa
        return top + 1e-14 * (abs(top) + (abs(log_moment) + abs(log_excess)) / self.abscissa)


def saddle_crossing(log_moment: Array, curvature: Array | float, c: Array | float, log_excess: Array | float) -> Array:
    """About the crossing of an excess with a level, from K(c) and K''(c) at the abscissa c of the best bound.

    At its saddle, the integral is the integrand e^{K(c) - cx} / (c (c + 1)) over (2 pi g'')^{1/2}, with
    g'' = K'' + c^-2 + (c + 1)^-2.
    """
    bend = curvature + c**-2 + (c + 1) ** -2
    return np.asarray((log_moment - log_excess - np.log(c * (c + 1)) - 0.5 * np.log(2 * np.pi * bend)) / c)
