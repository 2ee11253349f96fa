"""The transforms of many mixtures of two normal densities at once, on common panels.

notation as in :mod:`logphi.quadrature.mixtures.mixture_trapezoid`; the nodes are those of its trapezoidal sums, untilted.
"""

from __future__ import annotations

import numpy as np

from logphi.arith.floats import ULP
from logphi.quadrature.curves.common_panels import MANY, BatchNodes, ChebyshevMoments, Powers
from logphi.quadrature.mixtures.inner_integral import INNER_TARGET
from logphi.quadrature.mixtures.integration_range import cut_off, integration_range
from logphi.quadrature.mixtures.log_ratio import TwoComponents
from logphi.quadrature.mixtures.mixture_trapezoid import on_line, steps
from logphi.quadrature.values import Line, Values

# measured: more nodes than this are not worth sorting
_MAX_NODES = 1 << 21
# derived: exponentials of larger exponents, squared, leave the range of doubles
_LARGE = 300.0


def on_line_batched(mixtures: TwoComponents, line: Line) -> Values:
    """The sum of count times K on a line; mixtures that would need too many panels are summed separately."""
    a = line.points + 1
    powers = Powers(line.abscissa + 1, line.abscissa + 1, line.step * line.size)
    total = Values(np.zeros(line.size, dtype=complex), np.zeros(line.size), np.zeros(line.size))
    for part in mixtures.chunks(200):
        nodes = _nodes(part, powers, mixtures.shift.size)
        moments = None if nodes is None else ChebyshevMoments.of(nodes, powers)
        total += on_line(part, line) if moments is None else moments.total(a)
    return total


def _nodes(mixtures: TwoComponents, powers: Powers, total: int) -> BatchNodes | None:
    """Nodes of the mixture trapezoid; ``total`` mixtures share the error. None if there are too many, or on overflow."""
    m = mixtures.shift[:, None]
    # the errors of all add up
    log_target = np.log(INNER_TARGET / mixtures.count / max(total / MANY, 1.0))
    step = float(steps(mixtures, min(powers.low, 0.0), max(powers.high, 1.0), powers.top, log_target).min())
    low, high = integration_range(mixtures, powers.low, powers.high, float(log_target.min()))
    if not (high - low) / step <= _MAX_NODES / mixtures.shift.size:
        return None
    x = np.arange(low, high + step, step)
    if (m * x - m * m / 2).max() > _LARGE:
        return None
    loss = mixtures.value(x)
    if powers.log_size(loss.min(), loss.max()) > _LARGE:
        return None
    log_density = np.log(step / np.sqrt(2 * np.pi)) - x * x / 2
    cut = cut_off(x, mixtures, loss, powers.ends, log_density, np.zeros((m.size, 2))).sum(axis=1)
    shape = (m.size, x.size)
    law = np.repeat(np.arange(m.size), x.size)
    mass, mass_error = (np.broadcast_to(part, shape).ravel() for part in (np.exp(log_density), ULP * (28 + 1.5 * x * x)))
    nothing, none = np.zeros(m.size), np.zeros((m.size, 2))
    loss_error = mixtures.error(x, loss).ravel()
    omitted = cut + np.exp(log_target)
    return BatchNodes(mixtures.count, law, loss.ravel(), mass, mass_error, loss_error, omitted, nothing, none, none)
