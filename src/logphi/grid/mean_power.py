"""The law of a sum of independent copies of a variable on equally spaced nodes, relatively accurate far from the mean.

notation: weights w_k on the nodes k = 0 .. K, of which t are drawn; J is the sum of the nodes. For draws tilted by e^{ck} over
e^{K(c)}, the sum of w_k e^{ck}, the weights of J have the factor e^{cJ - t K(c)}. A Fourier transform of N nodes gives them
with one absolute error, so that each of several tilts is accurate near its own mean, and each J is taken from the best tilt.

The transform of the tilted weights is that of the two largest, node by node, plus that of the others in doubles, which errs by
eta = 7u log2 N relative to the 2-norm (Higham 2002, *Accuracy and Stability*, Theorem 24.2). The t-th power errs by t times as
much times |phi|^{t-1}, and its inverse transform by the mean of that product over all frequencies, which Cauchy and Schwarz
bound. The wrap-around is below Chernoff's bound. A few draws are convolved directly: all terms are positive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from logphi.arith.floats import FOURIER, ULP
from logphi.arith.powers import power
from logphi.arrays import Array

# derived: the rounding of the phase of one of the largest weights, of its product and of a power, for each draw
_DRAW = 12 * ULP
# measured: the number of draws above which direct convolutions take longer than transforms
MOST_DIRECT = 32
# measured: the distance of the means of neighbouring tilts, in standard deviations, with which all nodes have eight digits
_APART = 3.5
# chosen: the logarithm of the smallest mass for which a tilt is used
_DEEP = -60.0
# chosen: the largest number of tilts on each side
_MOST = 24
# chosen: nodes whose relative error is larger are left out
SHARP = 1e-8
# measured: if all draws are at an end with a larger probability than this, as a logarithm, no further tilt is needed
_ENDED = -2.0
# derived: smaller weights lose digits in products with others
_LEAST = 1e-60
# measured: the rates of Chernoff bounds of the wrap-around, in units of one over the standard deviation
_RATES = np.geomspace(0.5, 64, 15)
# chosen: bisections for a tilt, whose mean may miss its target by a fraction of a standard deviation
_BISECTIONS = 12


@dataclass(frozen=True, eq=False)
class Sum:
    """Weights of the sums ``first``, ``first + 1`` and so on, with a relative ``error``; zero if unknown.

    The total of the unknown weights is at most ``omitted``.
    """

    first: int
    weights: Array
    error: float
    omitted: float


@dataclass(frozen=True, eq=False)
class Draws:
    """Weights on the nodes 0 .. K, whose sum is about one."""

    weights: Array

    @cached_property
    def _held(self) -> tuple[Array, Array]:
        held = np.flatnonzero(self.weights)
        return held.astype(np.float64), np.asarray(np.log(self.weights[held]))

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """K(c), and the mean and standard deviation of a node under the tilt."""
        numbers, log_weights = self._held
        exponent = log_weights + tilt * numbers
        peak = float(exponent.max())
        tilted = np.exp(exponent - peak)
        total = float(tilted.sum())
        mean = float((tilted * numbers).sum()) / total
        return math.log(total) + peak, mean, math.sqrt(float((tilted * (numbers - mean) ** 2).sum()) / total)

    def spread(self, count: int) -> float:
        """The largest standard deviation of a node under the relevant tilts for this many draws."""
        return max(self.moments(tilt)[2] for tilt in self._tilts(count))

    def sum_of(self, count: int, size: int) -> Sum:
        """The sum of ``count`` draws, by transforms of ``size`` nodes, a power of two."""
        if count <= MOST_DIRECT:
            return Sum(0, _convolved(self.weights, count), count * (2 * self.weights.size + 8) * ULP, 0.0)
        span = count * (self.weights.size - 1) + 1
        tilts = self._tilts(count)
        parts = [self._by_transform(tilt, count, size, span) for tilt in tilts]
        first, last = min(part[0] for part in parts), max(part[0] + part[1].size for part in parts)
        weights, errors = np.zeros(last - first), np.full(last - first, np.inf)
        for start, own, error in parts:
            those = slice(start - first, start - first + own.size)
            better = error < errors[those]
            weights[those], errors[those] = np.where(better, own, weights[those]), np.where(better, error, errors[those])
        # of an inaccurate weight a lower bound counts
        blunt = errors > SHARP * weights
        known = np.where(blunt, weights - np.minimum(errors, 1.0), weights)
        known = np.where(known > _LEAST, known, 0.0)
        omitted = float((np.minimum(weights + errors, 1.0) - known)[blunt | (known == 0)].sum()) * (1 + 1e-9)
        tails = [
            math.exp(min(count * self.moments(tilt)[0] - tilt * edge for tilt in tilts if tilt * side >= 0))
            for side, edge, outside in ((1, last, last < span), (-1, first - 1, first > 0))
            if outside
        ]
        return Sum(first, known, SHARP * 1.01, omitted + 1.01 * sum(tails))

    def _tilts(self, count: int) -> list[float]:
        """Zero, and on both sides tilts whose means are a fixed number of standard deviations apart."""
        tilts = [0.0]
        for side in (1, -1):
            tilt = 0.0
            for _ in range(_MOST):
                _, mean, deviation = self.moments(tilt)
                found = self._next(tilt, side, mean, deviation, count)
                if found is None:
                    break
                tilt = found
                exponent, mean, _ = self.moments(tilt)
                tilts.append(tilt)
                node, log_weight = (part[-1 if side > 0 else 0] for part in self._held)
                at_end = count * (log_weight + tilt * node - exponent)
                if at_end > _ENDED or count * (exponent - tilt * mean) < _DEEP:
                    break
        return tilts

    def _next(self, tilt: float, side: int, mean: float, deviation: float, count: int) -> float | None:
        """The next tilt, which is nearer if the standard deviation is much smaller there; None at an end."""
        for apart in _APART * 0.5 ** np.arange(6):
            target = mean + side * apart * deviation / math.sqrt(count)
            if deviation > 0 and 0 < target < self.weights.size - 1:
                found = self._tilt_of(target, tilt, side / max(deviation * math.sqrt(count), 1e-3))
                if self.moments(found)[2] > 0.6 * deviation:
                    return found
        return None

    def _tilt_of(self, mean: float, near: float, step: float) -> float:
        """An approximation of the tilt for a mean, on one side of another tilt."""
        far = near + step
        while (self.moments(far)[1] - mean) * step < 0 and abs(far - near) < 1e3:
            step *= 2
            near, far = far, far + step
        for _ in range(_BISECTIONS):
            middle = (near + far) / 2
            near, far = (middle, far) if (self.moments(middle)[1] - mean) * step < 0 else (near, middle)
        return near

    def _by_transform(self, tilt: float, count: int, size: int, span: int) -> tuple[int, Array, Array]:
        """The first sum, weights from there on, and their errors."""
        exponent, mean, deviation = self.moments(tilt)
        tilted = self.weights * np.exp(tilt * np.arange(self.weights.size) - exponent)
        start = 0 if span <= size else min(max(round(count * mean) - size // 2, 0), span - size)
        largest = np.argsort(tilted)[-2:]
        rest = tilted.copy()
        rest[largest] = 0.0
        transform = np.fft.rfft(rest, size)
        turns = np.arange(size // 2 + 1)
        for node in largest:
            transform += tilted[node] * np.exp(-2j * np.pi / size * (turns * node % size))
        modulus = np.abs(transform)
        log_modulus = np.log(np.maximum(modulus, 1e-300))
        most = np.exp((count - 1) * log_modulus)
        powered = np.fft.irfft(power(transform, count), size)
        eta = FOURIER * math.log2(size)
        norm, mean_norm = math.sqrt(float((most**2).mean())), float(most.mean())
        wrong = count * (eta * math.sqrt(float((rest**2).sum())) * norm + _DRAW * mean_norm) + eta * norm
        wrapped = -np.inf
        if span > size:
            rates = _RATES / max(deviation * math.sqrt(count), 1e-3)
            for side, edge in ((1, start + size), (-1, start - 1)):
                logs = [count * (self.moments(tilt + side * rate)[0] - exponent) - side * rate * edge for rate in rates]
                wrapped = np.logaddexp(wrapped, min(logs))
        error = 1.1 * wrong + math.exp(min(wrapped, 0.0)) * (1 + 1e-6)
        sums = start + np.arange(min(size, span))
        scale = np.exp(np.clip(count * exponent - tilt * sums, -700.0, 700.0))
        known = np.abs(count * exponent - tilt * sums) < 690
        weights = np.roll(powered, -(start % size))[: sums.size] * scale
        # the rounding of the exponent
        doubt = 4 * ULP * (count * abs(exponent) + abs(tilt) * sums)
        return start, weights, np.where(known, error * scale + doubt * np.abs(weights), np.inf)


def _convolved(weights: Array, count: int) -> Array:
    """The weights of the sum by repeated halving of the count."""
    if count == 1:
        return weights
    half = _convolved(weights, count // 2)
    whole = np.convolve(half, half)
    return np.convolve(whole, weights) if count % 2 else whole
