"""The length of a line: proved bounds of the sum after its last node."""

from __future__ import annotations

import math

import numpy as np

from logphi.arrays import Array
from logphi.inversion.lines.kernels import Kernel
from logphi.inversion.lines.layout import Layout
from logphi.laws.negligible_nodes import negligible_from
from logphi.laws.transform import LossTransform

# measured: cells of an upper Riemann sum that is a few percent too large, relative to the height where a normal law is
# negligible
_CELLS = np.concatenate([np.linspace(0.0, 0.8, 24), np.linspace(0.9, 1.5, 4), 2.0 ** np.arange(1, 20, 3)])
# measured: heights at which the tail is bounded, relative to the height where that of a normal law is negligible
_AROUND = 2.0 ** np.concatenate([np.arange(-1, 1.5, 0.25), np.arange(1.5, 8), np.arange(8, 44, 4)])
# measured: the number of heights that are inserted for each factor of two between distant ones
_BETWEEN = 8
# measured: the tail of most laws is negligible at one of the first heights, of this number, and the others are not computed
_NEAR = 12
# measured: the size of a line from which a search for negligible nodes saves time
LONG = 1 << 9
# measured: minus the logarithm of all negligible nodes together, over the target
_ASIDE = 3.0


def length(law: LossTransform, layout: Layout, most: int, kernel: Kernel) -> tuple[int, float]:
    """The number of nodes after which the tail is proved negligible, and the logarithm of its bound over M(c) e^{-cx}.

    The sum over the nodes after the last one, at height T, is at most the integral from T of the decreasing bound, and that is
    at most its upper Riemann sum on a grid.
    """
    c, step, log_target, end = layout.abscissa, layout.step, layout.log_target, kernel.period / 2

    heights = _normal_height(layout.curvature, log_target) * _AROUND
    if step < heights[0]:
        heights = np.append(step, heights)
    if np.isfinite(end):
        heights = np.append(heights[heights < end], end)
    # a period ends with its last height; without a period the tail after the last height counts
    near = heights if np.isfinite(end) else heights[:_NEAR]
    envelope = law.log_envelope(c, near, end)

    def with_more(more: Array) -> tuple[Array, Array, Array]:
        """All heights with further ones, the envelope there, and bounds of the sum from each on."""
        merged = np.unique(np.append(near, more))
        bounds = np.empty(merged.size)
        bounds[np.searchsorted(merged, near)] = envelope
        bounds[np.searchsorted(merged, more)] = law.log_envelope(c, more, end)
        # a bound holds from its height on
        bounds = np.minimum.accumulate(bounds)
        return merged, bounds, _rest(merged, bounds, kernel, c)

    rest = _rest(near, envelope, kernel, c)
    if rest.min() > log_target and near.size < heights.size:
        # the longest line ends at one of the heights
        near, envelope, rest = with_more(np.setdiff1d(np.append(heights, step * (most - 1)), near))
    heights = near
    enough = int(np.argmax(rest <= log_target)) if (rest <= log_target).any() else heights.size - 1
    if enough > 0 and heights[enough] > 1.5 * heights[enough - 1]:
        many = math.ceil(_BETWEEN * math.log2(heights[enough] / heights[enough - 1]))
        between = np.geomspace(heights[enough - 1], heights[enough], max(many, _BETWEEN))[1:-1]
        heights, envelope, rest = with_more(between)
        enough = int(np.argmax(rest <= log_target)) if (rest <= log_target).any() else heights.size - 1
    size = int(min(np.ceil(heights[enough] / step - 1e-9) + 1, most))
    if np.isfinite(end) and size >= most:
        return most, -np.inf
    # the last height that is not above the last node; the first one never is
    kept = int(np.searchsorted(heights, step * (size - 1) * (1 + 1e-12), side="right")) - 1
    return size, float(rest[kept])


def shortened(law: LossTransform, layout: Layout, size: int, log_tail: float, kernel: Kernel) -> tuple[int, float]:
    """The size of a line without those last nodes that are proved negligible, and the tail with them."""
    c, step = layout.abscissa, layout.step
    log_most = float(kernel.log_size(np.array([step]), c)[0]) + math.log(step * size / math.pi)
    log_floor = layout.log_target - log_most - _ASIDE
    first = max(negligible_from(law, c, step, size, log_floor), 2)
    return (first, float(np.logaddexp(log_tail, log_floor + log_most))) if first < size else (size, log_tail)


def _normal_height(curvature: float, log_target: float) -> float:
    """The height at which the transform of a normal law of this variance is at the target; 1 if the variance is unknown."""
    height = math.sqrt(max(-2 * log_target, 1.0) / curvature) if 0 < curvature < np.inf else 1.0
    return min(max(height, 1e-100), 1e100)


def _rest(heights: Array, envelope: Array, kernel: Kernel, abscissa: float) -> Array:
    """Logarithm of 1/pi times the upper Riemann sum of a product of decreasing bounds, from each height on."""
    cells = envelope + kernel.log_size(heights, abscissa)
    cells[:-1] += np.log(heights[1:] - heights[:-1])
    # a period ends where the grid ends
    cells[-1] = -np.inf if np.isfinite(kernel.period) else envelope[-1] + kernel.log_rest(float(heights[-1]), abscissa)
    total: Array = np.logaddexp.accumulate(cells[::-1])[::-1] - np.log(np.pi)
    return total


def log_integral(law: LossTransform, c: float, kernel: Kernel, curvature: float) -> float:
    """Logarithm of 1/pi times an upper bound of the integral of the kernel's size and the envelope, over M(c).

    ``curvature`` is about K''(c); it determines where the bound is sharp, and not whether it holds.
    """
    heights = _normal_height(curvature, -35.0) * _CELLS
    envelope = np.append(0.0, law.log_envelope(c, heights[1:]))
    return float(_rest(heights, envelope, kernel, c)[0])
