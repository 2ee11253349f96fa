"""The grid approximation of the loss: every loss rounded down, or up, to an end of its cell of the output.

notation: X = sum of n_i independent X_i, D(x) = E[(1 - e^{x-X})_+], which grows with X. The output of which
each loss is a function is cut into N cells on [-S, S] (Zhu, Dong & Wang 2022, Definition 39 and Algorithm 2). On each cell the
loss is replaced by its smallest, or largest, value there, with the exact probability of the cell; outputs outside [-S, S] have
an infinite loss in the upper law, and the smallest loss there in the lower one. D lies between those of the two sums (their
Lemma 40, Corollary 41 and Theorem 44; the n times the mass of the tail of the latter is part of the upper law).

The paper rounds the losses under both laws of the pair, each with its own probabilities. Here only those under the first law
are rounded, and the second law is the tilt of the rounded first. The sum is not inverted by quadrature, whose error is
estimated, but by the Fourier sum of :mod:`logphi.grid.fft_composition`, whose error is proved, on a lattice so fine that its
error is smaller than that of the rounding.
"""

from __future__ import annotations

import numpy as np

from logphi.arith.floats import ULP
from logphi.comparators.buckets import Buckets
from logphi.comparators.output_cells import cells_of
from logphi.grid.discretization import discretizers
from logphi.grid.discretized import Prepared, plan_for, sides_of, step_for
from logphi.grid.samples import Samples
from logphi.laws.log_phi import LogPhi

# from the paper: the number of points of its Experiment 3
CELLS = 100_000
# measured: numbers of lattice points; the time is proportional to them
_SIZES = tuple(1 << k for k in (13, 15, 17, 19))
# chosen: refinement ends with a lattice that reduces the width by less than this share
_GAIN = 1e-3
# chosen: the share of an answer that may wrap around or be truncated
_SHARE = 1e-6
# derived: smaller masses have few digits; in the upper law they are moved to infinity
_LEAST = 1e-280


def prepare(law: LogPhi, x: float, most: int = CELLS, reach: float | None = None) -> Prepared:
    """D of the two rounded laws, with bounds that are tightest near one threshold.

    Parameters
    ----------
    law
        The law of X, a sum of counted laws. Normal and mixed normal laws, of which :func:`cells_of` gives cells, are rounded;
        the others are not.
    x
        The threshold, any finite real, near which the bounds are tightest. They hold at every threshold.
    most
        The number N of cells on [-S, S]: the width of the answer is proportional to n S / N.
    reach
        S, in units of the distance between the two means; by default so large that the mass outside [-S, S] is negligible.

    Returns
    -------
    Prepared
        D(x) between two proved ends; ``discretization`` is half their distance.

    Raises
    ------
    ValueError
        If no term has known cells, or no lattice law is known for one of the others.

    Examples
    --------
    >>> from logphi.arith.protocol import Plain
    >>> from logphi.laws.normal.normal import Normal
    >>> low, high = np.exp(prepare(LogPhi.of([(Normal(Plain(1.0)), 1)]), 0.5, 1000, reach=20.0).at(0.5).log_ends)
    >>> bool(low < 0.238421708 < high), round(float(high - low), 3)
    (True, 0.01)
    """
    cut = [(own, count) for one, count in law.terms if (own := cells_of(one, most + 2, reach)) is not None]
    if not cut:
        raise ValueError("no term is a Gaussian mechanism, sampled or not, so that there is no loss to round to a grid")
    others, factor = discretizers([(one, count) for one, count in law.terms if cells_of(one, 4) is None])
    rounded = [(Buckets.of_cells(own), count) for own, count in cut]
    above, below = ((*((_rounded(own, up), count) for own, count in rounded), *others) for up in (True, False))
    top = sum(count * part.top for part, count in above)
    top += 16 * ULP * sum(count * abs(part.top) for part, count in above if part.top < np.inf)
    best = Prepared(factor, top, None)
    plan = plan_for(above, x, _SHARE) if x < top else None
    if plan is None:
        return best
    width = np.inf
    for size in _SIZES:
        step, _ = step_for(above, plan, size)
        found = Prepared(factor, top, sides_of(above, below, plan, step, size))
        reached = found.at(x).relative_width
        gained, width = reached < (1 - _GAIN) * width, min(reached, width)
        best = found if gained or best.sides is None else best
        if not gained and width < np.inf:
            break
    return best


def _rounded(law: Buckets, up: bool) -> Samples:
    """The law with all mass at the upper, or lower, ends of the cells."""
    loss, mass = (law.high, law.most) if up else (law.low, law.least)
    kept = np.isfinite(loss) & (mass > _LEAST)
    infinite = float(mass[np.isposinf(loss)].sum()) + _LEAST * np.count_nonzero(mass <= _LEAST) if up else 0.0
    # rounding may have exchanged neighbouring ends
    ordered = np.maximum.accumulate(loss[kept]) if up else np.minimum.accumulate(loss[kept][::-1])[::-1]
    return Samples(ordered, np.log(mass[kept]), infinite)
