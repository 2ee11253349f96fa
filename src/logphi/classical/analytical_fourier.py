"""Algorithm 2 of the analytical Fourier accountant, on a grid of the user's choice (Zhu, Dong & Wang 2022, appendix E).

The output of every Gaussian mechanism, sampled or not, is cut into N cells on [-S, S]. Its privacy loss, a monotone function
of the output, is rounded to the lower ends of the cells, and to the upper ones: the profiles of the two releases that this
makes lie below and above that of the release (Definition 39, Lemma 40, Corollary 41, Theorem 44). The width of the answers
falls with S / N. Both ends are proved: they include the mass outside [-S, S], wrap-around and all rounding
(:mod:`logphi.comparators.levy_sums`). The losses of other mechanisms are not rounded to cells.

``method="levy-sums"`` of :meth:`logphi.Mechanism.delta` is the same with 10^5 cells that cover the whole output.
"""

from __future__ import annotations

from typing import Any

from logphi.algebra.asking import Questions
from logphi.answers.bound import Bound, Bounds
from logphi.engine.directions import Loss
from logphi.engine.routes.levy_sums import on_grid
from logphi.engine.routes.route import Route
from logphi.inputs import check
from logphi.inputs.arguments import DirectionLike
from logphi.questions.delta import delta as profile
from logphi.questions.epsilon import epsilon as inverse_profile

# from the paper: the number of cells of Experiment 3
_CELLS = 100_000
# from the paper: the end of the integral of Experiment 3
_REACH = 100.0
# chosen: a cell takes about a hundred bytes
_MOST = 10_000_000


def delta(
    release: Questions,
    epsilon: Any,
    *,
    cells: int = _CELLS,
    reach: float | None = _REACH,
    direction: DirectionLike | None = None,
) -> Bound | Bounds:
    """The profile between those of the losses that are rounded down and up (Zhu, Dong & Wang 2022, Theorem 44).

    Parameters
    ----------
    release
        A release with at least one Gaussian mechanism, sampled or not.
    epsilon
        One number or an array, any real, in nats.
    cells
        The number N of cells of each mechanism, up to 10^7.
    reach
        S, in units of the sensitivity: the cells are on [-S, S] around the answer without the record. The mass outside counts
        as an infinite loss in the upper bound. With None the cells cover the whole output.
    direction
        ``"remove"`` or ``"add"`` for one direction only; the maximum of both by default.

    Returns
    -------
    Bound or Bounds
        Of the shape of ``epsilon``, both ends proved; ``discretization`` in the ledger is half the width due to the rounding.

    Raises
    ------
    ValueError, TypeError
        If a parameter is outside its domain, or there is nothing to round.

    Examples
    --------
    >>> from logphi.mechanisms.gaussian import Gaussian
    >>> found = delta(1500 * Gaussian(sigma=2).poisson(0.01), 0.5, cells=100_000, reach=100)
    >>> print(f"{found.lower:.2e} {found.upper:.2e}")
    7.21e-04 8.02e-04
    """
    found: Bound | Bounds = profile(_loss(release), epsilon, direction=direction, method=_grid(cells, reach))
    return found


def epsilon(
    release: Questions,
    delta: Any,
    *,
    cells: int = _CELLS,
    reach: float | None = _REACH,
    direction: DirectionLike | None = None,
) -> Bound | Bounds:
    """The smallest epsilon >= 0 between those of the losses that are rounded down and up, in nats.

    The parameters are those of :func:`delta`, the delta being in [0, 1].

    Examples
    --------
    >>> from logphi.mechanisms.gaussian import Gaussian
    >>> found = epsilon(1500 * Gaussian(sigma=2).poisson(0.01), 1e-5, cells=100_000, reach=100)
    >>> print(f"{found.lower:.3f} {found.upper:.3f}")
    0.768 0.776
    """
    found: Bound | Bounds = inverse_profile(_loss(release), delta, direction=direction, method=_grid(cells, reach))
    return found


def _loss(release: Questions) -> Loss:
    if not isinstance(release, Questions):
        raise TypeError(f"release must be a mechanism or a composition, got {release!r}; try lp.Gaussian(sigma=1)")
    return release._loss()


def _grid(cells: int, reach: float | None) -> Route:
    return on_grid(check.whole("cells", cells, 2, _MOST), None if reach is None else check.moderate("reach", reach))
