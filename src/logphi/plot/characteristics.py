"""A plot of the characteristic function of the privacy loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from logphi.algebra.release import Mechanism
from logphi.answers.bound import Bounds
from logphi.answers.complex_bound import ComplexBounds
from logphi.answers.status import Direction
from logphi.inputs import check
from logphi.plot.canvas import canvas, mechanisms, names
from logphi.plot.curve import RTOL, Curve, draw, legend, traced
from logphi.questions.exponential import exponential

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# chosen: in units of one over the deviation of the loss: |phi| of a normal law is 4e-6 there
_REACH = 5.0
# chosen: for a loss whose deviation is infinite or zero
_FAR = 10.0


def phi(
    *of: Mechanism,
    part: str = "modulus",
    t: Any = None,
    direction: Direction | str = Direction.REMOVE,
    labels: Iterable[str] | None = None,
    ax: Axes | None = None,
    rtol: float = RTOL,
    **line: Any,
) -> Axes:
    r"""Draw the characteristic function phi(t) of the privacy loss of mechanisms, the bounds as bands.

    Parameters
    ----------
    *of
        Mechanisms, one curve for each.
    part
        ``"modulus"``, ``"argument"`` (continuous from 0 on), ``"real"``, ``"imaginary"``, or ``"log modulus"``.
    t
        The points, real, per nat; by default from 0 to five divided by the smallest standard deviation of a loss, denser where
        the curve bends. phi(-t) is the conjugate of phi(t).
    direction
        ``"remove"`` for log(p/q) under P, ``"add"`` for log(q/p) under Q.
    labels, ax, rtol, **line
        As of :func:`logphi.plot.profile`.

    Returns
    -------
    matplotlib.axes.Axes
        With a line and a band for each curve. The argument is drawn as far as its bounds are finite.

    Raises
    ------
    ValueError, TypeError
        If t is not finite, the part or the direction is unknown, or something is not a mechanism.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import logphi as lp
    >>> axes = lp.plot.phi(lp.Gaussian(sigma=1.0), lp.Laplace(scale=1.0), labels=["Gaussian", "Laplace"])
    >>> axes.get_ylabel()
    '$|\\varphi(t)|$'
    """
    drawn = mechanisms(of)
    if part not in _PARTS:
        raise ValueError(f"part must be one of {', '.join(map(repr, _PARTS))}, got {part!r}")
    label, question, taken = _PARTS[part]
    at = (0.0, max(map(_reach, drawn))) if t is None else check.real_array("t", t).ravel()

    def curve(one: Mechanism, name: str) -> Curve:
        return _finite(traced(name, lambda x: taken(question(one, x, direction=direction, rtol=rtol)), at))

    curves = list(map(curve, drawn, names(drawn, labels)))
    ax = canvas(ax)
    for one in curves:
        draw(ax, one, **line)
    ax.set(xlabel="$t$ (per nat)", ylabel=label)
    legend(ax, curves)
    return ax


def _modulus(log_phi: ComplexBounds) -> Bounds:
    return Bounds([exponential(bound) for bound in log_phi.real])


# part -> label of the axis, question, and the part of its answer that is drawn
_PARTS: Mapping[str, tuple[str, Callable[..., ComplexBounds], Callable[[ComplexBounds], Bounds]]] = {
    "modulus": (r"$|\varphi(t)|$", Mechanism.log_phi, _modulus),
    "argument": (r"$\arg\,\varphi(t)$", Mechanism.log_phi, lambda found: found.imag),
    "real": (r"Re $\varphi(t)$", Mechanism.phi, lambda found: found.real),
    "imaginary": (r"Im $\varphi(t)$", Mechanism.phi, lambda found: found.imag),
    "log modulus": (r"$\log|\varphi(t)|$", Mechanism.log_phi, lambda found: found.real),
}


def _reach(one: Mechanism) -> float:
    variance = one.loss.variance
    return _REACH / math.sqrt(variance.value) if 0 < variance.value < math.inf else _FAR


def _finite(curve: Curve) -> Curve:
    """The points whose bounds are finite."""
    finite = np.isfinite(curve.upper - curve.lower)
    return Curve(curve.name, curve.x[finite], tuple(compress(curve.bounds, finite)))
