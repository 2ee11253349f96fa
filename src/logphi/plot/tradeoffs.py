"""A plot of the trade-off function, or of the receiver operating characteristic of an adversary."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from logphi.algebra.release import Mechanism
from logphi.arrays import Array
from logphi.inputs import check
from logphi.inputs.arguments import DirectionLike
from logphi.plot.canvas import GREY, canvas, mechanisms, names
from logphi.plot.curve import RTOL, draw, legend, traced

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# chosen: the smallest false positive rate at which attacks are usually reported
_LOWEST_RATE = 1e-6


def tradeoff(
    *of: Mechanism | Iterable[Mechanism],
    type_one_errors: Any = None,
    roc: bool = False,
    direction: DirectionLike | None = None,
    labels: Iterable[str] | None = None,
    ax: Axes | None = None,
    rtol: float = RTOL,
    **line: Any,
) -> Axes:
    """Draw the trade-off function of mechanisms, the bounds as bands, and the diagonal of perfect privacy.

    Parameters
    ----------
    *of
        Mechanisms, or one list of them; a curve for each.
    type_one_errors
        The points, in [0, 1]; by default from 0, or from 1e-6 for ``roc``, to 1, denser where the curve bends.
    roc
        True draws the true positive rate against the false positive rate of the best membership inference, on logarithmic
        axes: 1 - type II error against type I error. The bounds change sides.
    direction
        ``"remove"`` or ``"add"`` for one direction only; by default the errors of the better test of both.
    labels, ax, rtol, **line
        As of :func:`logphi.plot.profile`.

    Returns
    -------
    matplotlib.axes.Axes
        With a line and a band for each curve, and the diagonal.

    Raises
    ------
    ValueError, TypeError
        If a type I error is outside [0, 1], or zero for ``roc``, a direction does not exist, or something is not a mechanism.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import logphi as lp
    >>> axes = lp.plot.tradeoff(lp.Gaussian(sigma=1.0), lp.RandomizedResponse(p=0.75))
    >>> axes.get_xlabel()
    'type I error'
    """
    drawn = mechanisms(of)
    at = (_LOWEST_RATE if roc else 0.0, 1.0) if type_one_errors is None else _rates(type_one_errors, roc)
    curves = [
        traced(name, partial(one.risk.tpr if roc else one.tradeoff, direction=direction, rtol=rtol), at, log_x=roc, log_y=roc)
        for one, name in zip(drawn, names(drawn, labels), strict=True)
    ]
    ax = canvas(ax, (5.0, 4.8))
    if roc:
        ax.set(xscale="log", yscale="log", xlabel="false positive rate", ylabel="true positive rate")
    else:
        ax.set(xlabel="type I error", ylabel="type II error")
    low = float(curves[0].x.min()) if roc else 0.0
    ax.plot([low, 1], [low, 1] if roc else [1, 0], color=GREY, linewidth=0.8, linestyle=(0, (4, 3)), label="_perfect privacy")
    for curve in curves:
        draw(ax, curve, **line)
    legend(ax, curves)
    return ax


def _rates(given: Any, roc: bool) -> Array:
    points = check.unit_array("type_one_errors", given).ravel()
    if roc and not np.all(points > 0):
        raise ValueError(f"type_one_errors must be above 0 on a logarithmic axis, got {given!r}: leave roc out")
    return points
