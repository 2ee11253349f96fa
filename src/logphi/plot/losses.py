"""A plot of the distribution of the privacy loss, in both directions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from logphi.algebra.release import Mechanism
from logphi.answers.status import Direction
from logphi.inputs import check
from logphi.plot.canvas import COLOURS, DASHES, canvas, mechanisms, named
from logphi.plot.curve import RTOL, Curve, draw, legend
from logphi.plot.loss_parts import cumulative, ends, parts
from logphi.questions.loss import LossDistribution

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# chosen: room for the legend above the curves, as a factor
_HEADROOM = 1.3
# chosen: the most stems that are drawn with heads
_HEADS = 80
# chosen: the heads, a circle and a square
_MARKS = "os"


def loss(
    of: Mechanism,
    *,
    kind: Literal["density", "cdf"] = "density",
    losses: Any = None,
    labels: Iterable[str] | None = None,
    ax: Axes | None = None,
    rtol: float = RTOL,
    **line: Any,
) -> Axes:
    """Draw the distribution of the privacy loss of a mechanism in both directions.

    Parameters
    ----------
    of
        A mechanism: its loss is log p/q under P ("remove") and log q/p under Q ("add"); drawn once where both have one law.
    kind
        ``"density"`` draws the density as a curve and atoms as stems, whose probabilities are on a second axis on the
        right if there is a density too; where density and atoms are not known separately, it draws a histogram.
        ``"cdf"`` draws the distribution function.
    losses
        Points, in nats, in increasing order, and edges of the bins; by default some deviations around the means.
    labels
        A name for the mechanism, alone or in a list: the legend has it before the direction.
    ax
        Axes to draw into.
    rtol
        Requested relative width of the bounds.
    **line
        For ``Axes.plot``.

    Returns
    -------
    matplotlib.axes.Axes
        The probability of an infinite loss, if it is positive, is in the legend, as no axis shows it.

    Raises
    ------
    ValueError, TypeError
        If losses are not finite and increasing, the kind is unknown, or something is not a mechanism.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import logphi as lp
    >>> axes = lp.plot.loss(lp.Laplace(scale=1.0))
    >>> axes.get_ylabel(), [other.get_ylabel() for other in axes.figure.axes if other is not axes]
    ('density (per nat)', ['probability of an atom'])
    """
    (one,) = mechanisms((of,))
    if kind not in ("density", "cdf"):
        raise ValueError(f"kind must be 'density' or 'cdf', got {kind!r}")
    prefix = "" if labels is None else f"{named(labels, 1)[0]}: "
    laws = _directions(one)
    points = None if losses is None else check.real_array("losses", losses).ravel()
    if points is not None and (points.size < 2 or np.any(np.diff(points) <= 0)):
        raise ValueError(f"losses must be at least two points in increasing order, got {losses!r}")
    reach = ends(laws) if points is None else (float(points[0]), float(points[-1]))
    found: list[tuple[Curve | None, Curve | None]] = [
        (cumulative(law, reach, points, rtol), None) if kind == "cdf" else parts(law, reach, points, rtol) for law in laws
    ]
    ax = canvas(ax)
    found = [(_prefixed(curve, prefix), _prefixed(stems, prefix)) for curve, stems in found]
    curves = [curve for curve, _ in found if curve is not None]
    stems = [own for _, own in found if own is not None]
    # densities and probabilities have different units
    right = ax.twinx() if curves and stems else ax
    for number, (curve, own) in enumerate(found):
        look = {"color": COLOURS[number], "linestyle": DASHES[number], **line}
        if curve is not None:
            draw(ax, curve, **look)
        if own is not None:
            _stems(right, own, look["color"], _MARKS[number], named=curve is None)
    label = "density (per nat)" if curves else "probability of an atom"
    ax.set(xlabel="privacy loss (nats)", ylabel=r"P(loss $\leq x$)" if kind == "cdf" else label)
    if right is not ax:
        right.set(ylabel="probability of an atom")
        right.spines["top"].set_visible(False)
    for axes in dict.fromkeys((ax, right)):
        if axes.get_yscale() == "linear":
            axes.set_ylim(0, axes.get_ylim()[1] * (1 if kind == "cdf" else _HEADROOM))
    legend(ax, [*curves, *stems] if right is ax else curves, loc="upper left" if kind == "cdf" else "best")
    return ax


def _prefixed(curve: Curve | None, prefix: str) -> Curve | None:
    return None if curve is None else replace(curve, name=prefix + curve.name)


def _directions(one: Mechanism) -> list[LossDistribution]:
    if one.loss_law().traits.symmetric:
        return [replace(one.loss, direction=Direction.BOTH)]
    return [one.loss, one.dual_loss]


def _stems(ax: Axes, atoms: Curve, colour: Any, mark: str, *, named: bool) -> None:
    """Draw atoms as stems: heights are probabilities, and a broad stem from lower to upper bound is the band."""
    heads = mark if atoms.x.size <= _HEADS else ""
    ax.vlines(atoms.x, 0, atoms.value, color=colour, linewidth=1.2)
    ax.vlines(atoms.x, atoms.lower, atoms.upper, color=colour, linewidth=6, alpha=0.25)
    name = atoms.name if named else "_atoms"
    ax.plot(atoms.x, atoms.value, linestyle="", marker=heads, color=colour, markersize=4, fillstyle="none", label=name)
