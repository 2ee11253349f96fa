"""The line of a certificate, chosen in doubles; its errors are proved in balls afterwards."""

from __future__ import annotations

import math
from collections.abc import Sequence

from logphi.certified.route import NotCertifiedError, NotThisRouteError
from logphi.certified.transform import Transform
from logphi.inversion.lines.kernels import Smooth
from logphi.inversion.lines.layout import Layout, layout
from logphi.inversion.lines.saddle import RIGHT, saddle
from logphi.laws.log_phi import LogPhi

# derived: in a narrower strip, no line bounds the answer relatively
_LEAST = 1e-9
# derived: products of larger thresholds with abscissas overflow
_FARTHEST = 1e200


def line_at(loss: LogPhi, epsilon: float, digits: int) -> Layout:
    """The layout of a line to the right of zero, for a loss near an epsilon; no proof relies on it.

    Raises
    ------
    NotCertifiedError
        If no abscissa to the right of zero is inside the strip, or none bounds the aliasing.
    """
    if loss.strip[1] < _LEAST:
        raise NotCertifiedError(
            "no moment of the loss exists, so that no line to the right of zero bounds the answer relatively: ask without a "
            "certificate"
        )
    kernel, found = Smooth(epsilon), None
    if abs(epsilon) <= _FARTHEST:
        place = saddle(loss, kernel, RIGHT)
        found = layout(loss, place.abscissa, kernel, -digits * math.log(10)) if math.isfinite(place.value) else None
    if found is None:
        raise NotCertifiedError("no line of nodes resolves so large an epsilon: ask at a smaller one")
    return found


def height_of(parts: Sequence[tuple[Transform, int]], line: Layout, most: int) -> float:
    """The height at which the transform is small enough for the target of the line.

    Raises
    ------
    NotCertifiedError
        If it takes more than ``most`` steps.
    """

    def enough(height: float) -> bool:
        fall = sum(count * part.fall(line.abscissa, height) for part, count in parts)
        return fall - math.log(math.pi * height) <= line.log_target

    high = 8 * line.step
    while not enough(high):
        high *= 2
        if high > most * line.step:
            if not any(part.fall(line.abscissa, high) for part, _ in parts):
                raise NotThisRouteError(
                    "no part of these losses falls along a line, and their sum is not written out: ask without a certificate"
                )
            raise NotCertifiedError(
                "the transform of so few releases falls too slowly for a line of nodes: ask for fewer digits, or without a "
                "certificate"
            )
    low = high / 2
    while high > 1.02 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
