"""The cumulants K^{(n)}(0) of a privacy loss, with proved bounds.

If the loss may be infinite, they are those of the loss given that it is finite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from logphi.answers.bound import Bound
from logphi.answers.ledger import Entry, Ledger
from logphi.engine.answer import judged, unresolved
from logphi.inputs import check
from logphi.inversion.lines.moments import Amount, Taylor, centre, proved_radius, taylor
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import LossTransform

# chosen: the relative width up to which a cumulant is ``MET``
TOLERANCE = 1e-9
# derived: at higher orders factorials and powers overflow for most losses
HIGHEST = 40
# measured: the number of distinct terms above which one law of them all is quicker
_MANY = 24
# chosen: the largest radius of the first disc for the mean and the variance, which on a wide disc lose digits if K is small
_NARROW = 1.0


def mean(law: LogPhi) -> Bound:
    """E[L | |L| < inf] = K'(0), in nats.

    If no loss is infinite it is the Kullback-Leibler divergence D(P||Q), which is infinite otherwise.
    """
    return cumulant(law, 1)


def variance(law: LogPhi) -> Bound:
    """Var[L | |L| < inf] = K''(0), in nats squared."""
    return cumulant(law, 2)


def cumulant(law: LogPhi, order: int) -> Bound:
    """The n-th cumulant K^{(n)}(0) of the finite part of a loss, in nats to the n-th power.

    Cumulants of a composition are sums over its terms. Each follows from K on a circle by Cauchy's formula, with a proved
    error. If the strip ends at zero, moments may not exist: the upper end is infinite, and the lower end is 0 for the
    variance and K(0) - K(-1) for the mean.

    Parameters
    ----------
    law
        The log-phi of one order of the pair.
    order
        An integer from 1 to 40; 1 is the mean, 2 the variance.

    Raises
    ------
    ValueError, TypeError
        If the order is not such a number, or no loss is finite.

    Examples
    --------
    >>> from logphi.expression import parse
    >>> round(cumulant(parse("10 * Gaussian(sigma=2)").loss_law(), 1).value, 9)
    1.25
    """
    order = check.whole("order", order, 1, HIGHEST)
    if law.empty:
        raise ValueError("there is no finite loss to have a mean, a variance or cumulants: every outcome reveals everything")
    law = law.with_omitted_mass()
    total = Amount(0.0, 0.0)
    # extreme values overflow: the answer is then unknown
    with np.errstate(all="ignore"):
        for term, count in parts(law):
            total = total.plus(_single(term, order).times(float(count)))
    least = _least(law, order)
    if not math.isfinite(total.error):
        return unresolved(least, math.inf, math.inf, "circle")
    lower, upper = max(total.value - total.error, least), max(total.value + total.error, least)
    ledger = Ledger(aliasing=Entry(total.aliasing), inner=Entry(total.inner), rounding=Entry(total.error))
    found = Bound(
        lower,
        min(max(total.value, lower), upper),
        upper,
        method="circle",
        ledger=estimated(ledger) if law.traits.estimated else ledger,
    )
    return judged(found, TOLERANCE * max(abs(lower), abs(upper)))


def parts(law: LogPhi) -> Sequence[tuple[LossTransform, int]]:
    """The terms with their counts, or one law of them all if there are many."""
    return law.terms if len(law.terms) <= _MANY else ((law, 1),)


def estimated(ledger: Ledger) -> Ledger:
    """The ledger of a loss that is known by samples only."""
    return ledger.estimating("aliasing", "inner", "rounding")


def _single(law: LossTransform, order: int) -> Amount:
    """The cumulant of one law, from the better of two discs."""
    best = Amount(0.0, math.inf)
    for widest in (_NARROW, math.inf) if order <= 2 else (math.inf,):
        series: Taylor | None = taylor(law, order, widest)
        found = best if series is None else series.cumulant(order)
        best = min(best, found, key=lambda one: one.error)
        if best.error <= TOLERANCE / 10 * abs(best.value):
            break
    return best


def _least(law: LogPhi, order: int) -> float:
    """A lower bound from the convexity of K: K'(0) >= K(0) - K(-1), and K''(0) >= 0."""
    if order > 2:
        return -math.inf
    if order == 2:
        return 0.0
    at_zero, at_minus_one = centre(law), law.support.masses.tilted
    wrong = float(proved_radius(at_zero)[0] + proved_radius(at_minus_one)[0])
    least = float(at_zero.mid[0].real - at_minus_one.mid[0].real)
    return least - wrong - 1e-15 * abs(least) if math.isfinite(wrong) else -math.inf
