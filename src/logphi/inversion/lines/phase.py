"""K at complex points, on the branch that is real on the real axis: the phase is continued along a vertical line.

notation: c + i tau on the line, a = X - m for a real m, E under the law tilted by e^{cX} and normalised,
psi(tau) = E e^{i tau a}. |psi'| is at most E|a| <= A, A^2 = E[e^{ha} + e^{-ha} - 2] / h^2: psi has no zero within |psi|/A of a
point, and its phase moves by less than pi/6 within half of that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.inversion.lines.moments import proved_radius, radius
from logphi.laws.transform import LossTransform
from logphi.quadrature.values import Values

# chosen: the largest number of points; with more the phase is unknown
_MOST = 1 << 13
# derived: the largest number of halvings of a step, as 53 of them leave no double in between
_ROUNDS = 60
# derived: over this share of the way to the nearest possible zero the phase moves by less than pi/6
_SHARE = 0.5
# chosen: points per height 1/A to begin with
_FIRST = 3.0


def along(law: LossTransform, abscissa: float, heights: Array) -> Values:
    """K(c + it) at many heights on the branch that is real at c; infinite radii where that branch is not known."""
    points = abscissa + 1j * heights
    if law.traits.continuous or not heights.any():
        return law.log_transform(points)
    levels, merged = np.unique(np.append(0.0, np.abs(heights)), return_inverse=True)
    followed = _followed(law, abscissa, levels)
    parts = (part[merged.ravel()[1:]] for part in (followed.mid, followed.rounding, followed.inner))
    return Values(*parts).on_both_sides(heights)


def _followed(law: LossTransform, abscissa: float, levels: Array) -> Values:
    """K on the branch that is real at c, at increasing heights, the first of which is zero."""
    unknown = Values(*(np.full(levels.shape, end) for end in (np.inf + 0j, np.inf, np.inf)))
    spread = _spread(law, abscissa)
    if spread is None:
        return unknown
    mean, size = spread
    most = _MOST + 2 * levels.size
    low_levels = levels[levels * size * _FIRST < _MOST]
    between = np.linspace(0.0, low_levels[-1], int(_FIRST * low_levels[-1] * size) + 2)
    heights = np.unique(np.concatenate([low_levels, between]))
    values = law.log_transform(abscissa + 1j * heights)
    for _ in range(_ROUNDS):
        log_psi, far, unresolved = _seen(values, heights, mean, size)
        split = np.flatnonzero(far[: _first(unresolved)])
        if not split.size or heights.size > most:
            break
        fresh = ((heights[1:] + heights[:-1]) / 2)[split]
        values, heights = _merged(heights, values, fresh, law.log_transform(abscissa + 1j * fresh))
    log_psi, far, unresolved = _seen(values, heights, mean, size)
    end = _first(far | unresolved)
    steps = np.diff(log_psi.imag[: end + 1])
    moved = np.cumsum(np.append(0.0, steps - 2 * np.pi * np.round(steps / (2 * np.pi))))
    phase = heights[: end + 1] * mean + moved
    where = np.searchsorted(heights[: end + 1], levels)
    inside = where <= end
    where = np.where(inside, where, 0)
    last = values.mid[where]
    turns = 2j * np.pi * np.round((phase[where] - last.imag) / (2 * np.pi))
    mid = last + turns
    doubt = 2 * ULP * (np.abs(mid) + np.abs(turns))
    return Values(
        np.where(inside, mid, np.inf),
        np.where(inside, values.rounding[where] + doubt, np.inf),
        np.where(inside, values.inner[where], np.inf),
    )


def _seen(
    values: Values, heights: Array, mean: float, size: float
) -> tuple[NDArray[Any], NDArray[np.bool_], NDArray[np.bool_]]:
    """Log psi; whether each step between neighbours is too long to continue the phase; whether K is unknown at an end of it."""
    wrong = proved_radius(values)
    known = np.isfinite(wrong)
    with np.errstate(invalid="ignore"):  # inf - inf, where nothing is known
        log_psi = values.mid - values.mid[0].real - 1j * heights * mean
        least = np.where(known, np.exp(np.minimum(log_psi.real - wrong - wrong[0], 0.0)), 0.0)
    far = ~(np.abs(np.diff(heights)) * size < _SHARE * np.maximum(least[1:], least[:-1]))
    return log_psi, far, ~(known[1:] & known[:-1])


def _first(steps: NDArray[np.bool_]) -> int:
    """The number of steps before the first marked one."""
    return int(np.argmax(steps)) if steps.any() else steps.size


def _spread(law: LossTransform, abscissa: float) -> tuple[float, float] | None:
    """Roughly the mean m of the tilted law, and a proved A for it."""
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
    # c +- h are doubles: both h err by at most e h, which changes exponents by that times the mean, and A h by less than 8 e
    doubt = ULP * (abs(abscissa) + step) / step
    wrong += 8 * ULP * (float(np.abs(beside.mid).max()) + step * abs(mean)) + doubt * step * abs(mean)
    half_sum = float(above + below) / 2 - float(middle.mid[0].real)
    if not (doubt < 0.1 and half_sum + wrong < 1):
        return None
    # a law of one atom has no spread
    size = (np.sqrt(max(2 * np.expm1(half_sum + wrong), 0.0)) + 8 * doubt) / (step * (1 - 2 * doubt))
    return mean, float(size) * (1 + 1e-9) + 1e-300


def _merged(heights: Array, values: Values, fresh: Array, more: Values) -> tuple[Values, Array]:
    """The union of both sets of points, by height."""
    merged = np.concatenate([heights, fresh])
    order = np.argsort(np.abs(merged), kind="stable")
    parts = zip((values.mid, values.rounding, values.inner), (more.mid, more.rounding, more.inner), strict=True)
    return Values(*(np.concatenate(pair)[order] for pair in parts)), merged[order]
