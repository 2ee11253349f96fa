"""Privacy loss distributions as in [PLD]: rounded to the multiples of a width, truncated by Chernoff's bound.

These are the methods of accountants that store a whole distribution. Their bounds are proved here, rounding included; their
distance from the truth grows with the width.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from logphi.algebra.asking import Questions
from logphi.answers.bound import Bound
from logphi.answers.ledger import Entry, Ledger
from logphi.answers.status import Side
from logphi.arrays import Array
from logphi.classical.claim import Claim
from logphi.classical.interval_arithmetic import decimal, digits, ends, up
from logphi.classical.normal import tail
from logphi.engine.answer import probability, worst
from logphi.engine.log_probability import from_inversion, masses
from logphi.engine.routes.buckets import BUCKETS
from logphi.inputs import check
from logphi.inputs.arguments import DirectionLike
from logphi.inversion.chernoff import tail_end
from logphi.inversion.lines.contour import Inversion, Part
from logphi.pairs.pair import UnsupportedError

# derived: e^epsilon of a larger one overflows, and its square too
LARGEST_LOSS = 300.0
# derived: half an ulp of a loss, of a mass and of epsilon, and some roundings
_ROUNDING = 1.2e-15


def buckets_delta(release: Questions, epsilon: float, *, width: float, direction: DirectionLike | None = None) -> Bound:
    """Delta by privacy buckets: every loss rounded to a multiple of a width, down and up ([PLD] section 2.1).

    The lower end is the optimistic estimate, the upper end the pessimistic one. Infinite losses are counted separately.

    Parameters
    ----------
    release
        Gaussian and Laplace mechanisms, truncated or not, mixtures of Gaussians, mechanisms with finitely many outcomes,
        Poisson samples of these, and their compositions.
    epsilon
        Any real, in nats.
    width
        The distance of neighbouring buckets, in nats: ``value_discretization_interval`` in dp-accounting.
    direction
        ``"remove"`` or ``"add"`` for one direction only; the larger of both by default.

    Raises
    ------
    ValueError, TypeError
        If epsilon is not finite, the width not positive or too small, or a part is not one of these mechanisms.

    References
    ----------
    Meiser & Mohammadi 2018, *Tight on Budget?*; [PLD] section 2.1.

    Examples
    --------
    >>> from logphi.mechanisms.gaussian import Gaussian
    >>> found = buckets_delta(10 * Gaussian(sigma=1), 5.0, width=0.01)
    >>> round(found.lower, 6), round(found.upper, 6)
    (0.378041, 0.389657)
    """
    return _at_width(release, epsilon, width, direction, dots=False)


def connect_the_dots_delta(
    release: Questions, epsilon: float, *, width: float, direction: DirectionLike | None = None
) -> Claim:
    """An upper bound of delta by Connect-the-Dots on the multiples of a width ([PLD] section 2.2).

    Each loss is replaced by the one on the multiples whose profile interpolates the exact profile linearly in e^eps: the
    smallest on the multiples that dominates it. The arguments are those of :func:`buckets_delta`.

    References
    ----------
    Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022, *Connect the Dots*; [PLD] section 2.2.

    Examples
    --------
    >>> from logphi.mechanisms.gaussian import Gaussian
    >>> print(connect_the_dots_delta(10 * Gaussian(sigma=1), 5.0, width=0.01))
    at most 0.383847 (Connect the Dots)
    """
    found = _at_width(release, epsilon, width, direction, dots=True)
    source = "Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022; [PLD] section 2.2"
    return Claim(found.upper, Side.UPPER, "Connect the Dots", source, f"width {width:g}", found.ledger.proved)


def _at_width(release: Questions, epsilon: float, width: float, direction: DirectionLike | None, *, dots: bool) -> Bound:
    # SciPy's normal tails would double the time of importing the package
    from logphi.grid.discretized import at_width

    at, step = check.real("epsilon", epsilon), check.positive("width", width)
    answers = []
    for one, law in release._loss().orders(direction):
        if law.traits.estimated:
            raise UnsupportedError("a loss is known by samples of its densities only: no bound could be proved from them")
        amount = Inversion(Part.EXCESS, at_width(law, at, step, dots).at(at))
        answers.append(replace(from_inversion(masses(law), at, amount, BUCKETS.method), direction=one))
    return probability(worst(answers), step)


def chernoff_ends(release: Questions, mass: float, *, direction: DirectionLike | None = None) -> tuple[Claim, Claim]:
    """Two numbers that the loss falls below, and exceeds, with probability at most ``mass``, by Chernoff ([PLD] eq. 5).

    With K the logarithm of the moment generating function of the finite loss of the whole composition,
    P(a <= L < inf) <= mass at a = (K(t) + log(1/mass)) / t for every t > 0, and P(L <= a) <= mass for every t < 0; both t are
    nearly the best.

    Parameters
    ----------
    release
        Any release whose losses have exponential moments.
    mass
        The probability that may be truncated at each end, strictly between 0 and 1.
    direction
        ``"remove"`` or ``"add"`` for one direction only; by default ends that hold for both.

    Returns
    -------
    tuple of two Claims
        The lower end, rounded down, and the upper end, rounded up; infinite where the loss has no such moments.

    Raises
    ------
    ValueError, TypeError
        If the mass is not strictly between 0 and 1, or the direction does not apply.

    Examples
    --------
    >>> from logphi.mechanisms.gaussian import Gaussian
    >>> low, high = chernoff_ends(100 * Gaussian(sigma=10), 1e-10)
    >>> round(float(low), 4), round(float(high), 4)
    (-6.2861, 7.2861)
    """
    level = check.open_unit("mass", mass)
    orders = [law for _, law in release._loss().orders(direction)]
    # half an ulp of the mass, and the rounding of its logarithm
    log_mass = math.log(level) - _ROUNDING * (1 - math.log(level))
    low = min(-tail_end(law, log_mass, -1) for law in orders)
    high = max(tail_end(law, log_mass, 1) for law in orders)
    proved = not any(law.traits.estimated for law in orders)
    lower, upper = (
        Claim(end, side, "Chernoff", "[PLD] section 5.2, eq. 5", f"mass {level:g}", proved)
        for end, side in ((low, Side.LOWER), (high, Side.UPPER))
    )
    return lower, upper


def discrete_gaussian_tail(sigma: float, reach: int) -> Claim:
    """An upper bound of P(|X| > reach), X discrete Gaussian: the normal P(|N| >= reach) ([PLD] Proposition 1).

    Parameters
    ----------
    sigma
        The parameter of the noise, positive.
    reach
        An integer, at least 0: the largest |x| of the truncated noise.

    Raises
    ------
    ValueError, TypeError
        If sigma is not positive, or reach not an integer from 0 to 2^53.

    References
    ----------
    Canonne, Kamath & Steinke 2020, Proposition 25; [PLD] Proposition 1.

    Examples
    --------
    >>> print(discrete_gaussian_tail(2.0, 10))
    at most 5.733032e-07 (normal tail)
    """
    width, far = decimal(check.positive("sigma", sigma)), check.whole("reach", reach, 0, 2**53)
    # it grows with sigma
    bound = 2 * tail(digits().mpf(far), digits().mpf(0), ends(width)[1])
    source = "Canonne, Kamath & Steinke 2020, Proposition 25; [PLD] Proposition 1"
    return Claim(min(up(bound), 1.0), Side.UPPER, "normal tail", source)


def compose_losses(
    one: tuple[Sequence[float], Sequence[float]], other: tuple[Sequence[float], Sequence[float]], epsilon: float
) -> Bound:
    """Delta of the composition of two losses of finitely many values, without their convolution ([PLD] section 5.1).

    It is the sum over the values v of the first, of masses m, of m (S - e^{eps - v} T), where S and T are the sums of the
    second's masses m' and of m' e^{-v'} over its values v' > eps - v: two cumulative sums give all of them (eqs. 2 to 4). It
    takes time n log n instead of n^2.

    Parameters
    ----------
    one, other
        Pairs (losses, masses), losses in nats. What the masses lack from one is the probability of an infinite loss.
    epsilon
        Any real, in nats.

    Returns
    -------
    Bound
        Of delta; its ``rounding`` includes the cancellation between S and e^{eps - v} T.

    Raises
    ------
    ValueError, TypeError
        If the lists differ in length, a mass is negative, masses add up to more than one, or a loss is larger than 300 in size.

    Examples
    --------
    >>> response = ([1.0, -1.0], [0.7310585786300049, 0.2689414213699951])
    >>> round(compose_losses(response, response, 0.5).value, 9)
    0.41519548
    """
    at = check.real("epsilon", epsilon)
    (v, m), (w, n) = _distribution("one", one), _distribution("other", other)
    order = np.argsort(-w)
    w, n = w[order], n[order]
    infinite = [max(1 - math.fsum(part.tolist()), 0.0) for part in (m, n)]
    # sums of the largest values come first: S and T over all v' above a threshold
    upper_mass, lower_mass = (np.concatenate([[0.0], np.cumsum(part)]) for part in (n, n * np.exp(-w)))
    room = _ROUNDING * (abs(at) + float(np.abs(v).max(initial=0.0)) + float(np.abs(w).max(initial=0.0)))
    ends_of = []
    for moved in (room, -room):
        threshold = at + moved - v
        last = np.searchsorted(-w, -threshold, side="left")
        kept, tilted = upper_mass[last], np.exp(np.minimum(threshold, LARGEST_LOSS + 1)) * lower_mass[last]
        terms = m * np.maximum(kept - tilted, 0.0)
        wrong = _ROUNDING * (w.size + v.size + 8) * float((m * (kept + tilted)).sum())
        ends_of.append((math.fsum(terms.tolist()), wrong))
    (low, low_wrong), (high, high_wrong) = ends_of
    mass = infinite[0] + infinite[1] - infinite[0] * infinite[1]
    slack = 2 * _ROUNDING * (v.size + w.size + 4)
    certain = mass > slack
    lower = max(low - low_wrong + (mass - slack if certain else 0.0), 0.0)
    upper = min(high + high_wrong + mass + slack, 1.0)
    ledger = Ledger(rounding=Entry(upper - lower), infinite_mass=Entry(mass + slack))
    return Bound(lower, min(max((low + high) / 2 + mass, lower), upper), upper, ledger=ledger)


def _distribution(name: str, given: Any) -> tuple[Array, Array]:
    """The values and masses of a loss, checked."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise TypeError(f"{name} must be a pair of lists, losses and masses, got {given!r} of type {type(given).__name__}")
    losses = check.real_array(f"the losses of {name}", given[0])
    probabilities = check.unit_array(f"the masses of {name}", given[1])
    if losses.ndim != 1 or losses.shape != probabilities.shape:
        raise ValueError(f"{name} must be two lists of equal length, got shapes {losses.shape} and {probabilities.shape}")
    if np.abs(losses).max(initial=0.0) > LARGEST_LOSS:
        raise ValueError(
            f"the losses of {name} must lie between -{LARGEST_LOSS:g} and {LARGEST_LOSS:g}, got {given[0]!r}: leave infinite "
            "losses out; what the masses lack from one is their probability"
        )
    total = math.fsum(probabilities.tolist())
    if total > 1 + _ROUNDING * (losses.size + 1):
        raise ValueError(f"the masses of {name} must add up to at most one, got {total!r}")
    return losses, probabilities
