"""K at a complex point on the branch that is continuous from the real axis: its phase is followed up a vertical line.

notation: c + i tau on the line, a = X - m for a real m, E under the law tilted by e^{cX} and normalised,
psi(tau) = E e^{i tau a}. |psi'| is at most E|a| <= A, A^2 = E[e^{ha} + e^{-ha} - 2] / h^2: psi has no zero within |psi|/A of a
point, and its phase moves by less than pi/6 within half of that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ULP
from logphi.numerics.law import Law, Values
from logphi.numerics.moments import proved_radius, radius

# measured: points on the line beyond which the phase is given up
_MOST = 1 << 13
# derived: of the way to the nearest possible zero, over which a phase moves by less than pi/6
_SHARE = 0.5
# measured: points within so many times 1/A, at first
_FIRST = 3.0


def on_branch(law: Law, abscissa: float, height: float) -> Values | None:
    """K(c + it), an array of one element, on the branch that is real at c; None if it cannot be told or M may vanish."""
    if law.continuous or height == 0:
        return law.log_transform(np.array([complex(abscissa, height)]))
    spread = _spread(law, abscissa)
    if spread is None:
        return None
    mean, size = spread
    if not _FIRST * abs(height) * size < _MOST:
        return None
    heights = np.linspace(0.0, height, int(_FIRST * abs(height) * size) + 2)
    values = law.log_transform(abscissa + 1j * heights)
    while True:
        wrong = proved_radius(values)
        if heights.size > _MOST or not np.isfinite(wrong).all():
            return None
        log_psi = values.mid - values.mid[0].real - 1j * heights * mean
        least = np.exp(np.minimum(log_psi.real - wrong - wrong[0], 0.0))
        reach = _SHARE * np.maximum(least[1:], least[:-1])
        wide = ~(np.abs(np.diff(heights)) * size < reach)
        if not wide.any():
            break
        fresh = ((heights[1:] + heights[:-1]) / 2)[wide]
        values, heights = _merged(heights, values, fresh, law.log_transform(abscissa + 1j * fresh))
    steps = np.diff(log_psi.imag)
    phase = height * mean + float((steps - 2 * np.pi * np.round(steps / (2 * np.pi))).sum())
    last = values.mid[-1]
    turns = 2j * np.pi * np.round((phase - last.imag) / (2 * np.pi))
    mid = last + turns
    return Values(np.array([mid]), values.rounding[-1:] + 2 * ULP * (abs(mid) + abs(turns)), values.inner[-1:])


def _spread(law: Law, abscissa: float) -> tuple[float, float] | None:
    """About the mean of the tilted law, and A for it."""
    low, high = law.strip
    middle = law.log_transform(np.array([abscissa]))
    step = radius(law, abscissa, 0.999 * min(abscissa - low, high - abscissa), float(middle.mid[0].real))
    if step == 0:
        return None
    beside = law.log_transform(abscissa + step * np.array([-1.0, 1.0]))
    below, above = beside.mid.real
    mean = float((above - below) / (2 * step))
    wrong = float(np.max(proved_radius(beside)) + proved_radius(middle)[0])
    if not np.isfinite(wrong):
        return None
    # c +- h are doubles: both h are off by e h at most, which moves exponents by that times the mean, and A h by less than 8 e
    slip = ULP * (abs(abscissa) + step) / step
    wrong += 8 * ULP * (float(np.abs(beside.mid).max()) + step * abs(mean)) + slip * step * abs(mean)
    half_sum = float(above + below) / 2 - float(middle.mid[0].real)
    if not (slip < 0.1 and half_sum + wrong < 1):
        return None
    # a law of one atom has no spread
    size = (np.sqrt(max(2 * np.expm1(half_sum + wrong), 0.0)) + 8 * slip) / (step * (1 - 2 * slip))
    return mean, float(size) * (1 + 1e-9) + 1e-300


def _merged(
    heights: NDArray[np.float64], values: Values, fresh: NDArray[np.float64], more: Values
) -> tuple[Values, NDArray[np.float64]]:
    """Both sets of points, in the order of their distance from the axis."""
    places = np.concatenate([heights, fresh])
    order = np.argsort(np.abs(places), kind="stable")
    parts = zip((values.mid, values.rounding, values.inner), (more.mid, more.rounding, more.inner), strict=True)
    return Values(*(np.concatenate(pair)[order] for pair in parts)), places[order]
