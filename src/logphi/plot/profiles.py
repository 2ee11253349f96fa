"""A plot of the privacy profile."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from logphi.algebra.release import Mechanism
from logphi.answers.bound import single
from logphi.engine.directions import direction_of
from logphi.inputs import check
from logphi.inputs.arguments import DirectionLike
from logphi.plot.canvas import canvas, mechanisms, names
from logphi.plot.curve import RTOL, TINY, draw, legend, traced

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# chosen: the smallest delta that is drawn by default
_SMALLEST = 1e-10
# chosen: the largest delta that is drawn by default
_LARGEST = 0.1
# chosen: if the loss may be infinite: the factor above that probability to which delta falls
_ABOVE = 1.02
# chosen: in that case: the factor by which epsilon goes further
_FURTHER = 1.25


def profile(
    *of: Mechanism | Iterable[Mechanism],
    epsilons: Any = None,
    directions: Iterable[DirectionLike | None] = (None,),
    labels: Iterable[str] | None = None,
    ax: Axes | None = None,
    rtol: float = RTOL,
    **line: Any,
) -> Axes:
    """Draw the privacy profile delta(epsilon) of mechanisms on a logarithmic axis, the bounds as bands.

    Parameters
    ----------
    *of
        Mechanisms, or one list of them; a curve for each.
    epsilons
        The points, in nats; by default from where delta is about 0.1, or from 0, to where all deltas are below 1e-10, denser
        where the curve bends.
    directions
        ``("remove", "add")`` draws one curve for each direction; by default the larger of both.
    labels
        Names for the legend, one for each mechanism.
    ax
        Axes to draw into.
    rtol
        Requested relative width of the bounds; the band shows the actual one.
    **line
        For ``Axes.plot``: ``color``, ``linestyle``, ``linewidth``, ...

    Returns
    -------
    matplotlib.axes.Axes
        With a line and a band for each curve: the band is from the proved lower to the proved upper bound.

    Raises
    ------
    ValueError, TypeError
        If an epsilon is not finite, a direction does not exist, or something is not a mechanism.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import logphi as lp
    >>> axes = lp.plot.profile(100 * lp.Gaussian(sigma=10.0), lp.Laplace(scale=1.0))
    >>> axes.get_yscale()
    'log'
    """
    drawn = mechanisms(of)
    at = _ends(drawn) if epsilons is None else check.real_array("epsilons", epsilons).ravel()
    curves = [
        traced(
            name if direction is None else f"{name}, {direction_of(direction).value}",
            partial(one.delta, direction=direction, rtol=rtol),
            at,
            log_y=True,
        )
        for one, name in zip(drawn, names(drawn, labels), strict=True)
        for direction in directions
    ]
    ax = canvas(ax)
    if any(np.any(curve.upper >= TINY) for curve in curves):
        ax.set_yscale("log")
    for curve in curves:
        draw(ax, curve, **line)
    ax.set(xlabel=r"$\varepsilon$ (nats)", ylabel=r"$\delta(\varepsilon)$")
    low, high = ax.get_ylim()
    if epsilons is None and high > _SMALLEST:
        # where losses are bounded the profile falls to zero; margins reach above one
        ax.set_ylim(max(low, _SMALLEST / 2), min(high, 2.0))
    legend(ax, curves)
    return ax


def _ends(drawn: Iterable[Mechanism]) -> tuple[float, float]:
    """The range of epsilon: from zero, unless all deltas there are far above those that are drawn."""
    high = max(_reach(one) for one in drawn)
    low = min(_crossing(one, _LARGEST) for one in drawn)
    return (low if high / 2 < low < high else 0.0), high


def _reach(one: Mechanism) -> float:
    """Where delta falls to the smallest that is drawn, or nearly to the probability of an infinite loss."""
    found = _crossing(one, _SMALLEST)
    if math.isinf(found):
        infinite = max(loss.infinite_mass.upper for loss in (one.loss, one.dual_loss))
        found = _FURTHER * _crossing(one, min(_ABOVE * max(infinite, _SMALLEST), 1.0))
    return found if 0 < found < math.inf else 1.0


def _crossing(one: Mechanism, delta: float) -> float:
    return single(one.epsilon(delta, rtol=1e-3)).upper
