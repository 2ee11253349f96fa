"""Privacy loss classes: bounds of delta from the mean, the variance and the infinite mass of a composed loss.

[PLC] Definition 10 defines the class, Lemma 4 extends a bound for the finite losses to all losses, Theorem 6 bounds delta by
the class and the third moments.

notation: w the probability of an infinite loss; m, s^2 the mean and the variance of the rest, which is a sum of independent
losses X_j; T the sum of E|X_j - E X_j|^3. With N normal of the same m and s,

    delta(eps) = w + (1 - w) * integral over x > eps of e^{eps-x} P(L > x) dx,

whose weight integrates to one: replacing L by N costs at most the largest |P(L > x) - P(N > x)| over x > eps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from logphi.algebra.asking import Questions
from logphi.answers.approximation import Approximation
from logphi.answers.bound import Bound
from logphi.answers.status import Side
from logphi.classical.claim import Claim, at_most
from logphi.classical.crossing import crossing
from logphi.classical.interval_arithmetic import Interval, between, decimal, digits, down, exact, intervals, up
from logphi.classical.normal import excess
from logphi.engine.cumulants import cumulant
from logphi.engine.log_probability import masses
from logphi.inputs import check
from logphi.inversion.lines.third_moment import third_moment
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import LossTransform
from logphi.pairs.pair import UnsupportedError

# from the literature: for different and for identical summands, sup |F - Phi| <= C T / s^3
_UNIFORM = ((0.56, "Shevtsova 2010, C = 0.5600"), (0.4748, "Shevtsova 2011, C = 0.4748"))
# likewise |F(x) - Phi(x)| <= C T / (s^3 (1 + |x|^3)), x in units of s; both in Pinelis 2017
_TAPERED = ((31.935, "Paditz 1989, C = 31.935"), (25.80, "Pinelis 2017, C = 25.80"))
# derived: smaller moments may be subnormal; this is added to them
_SMALLEST = 1e-300
# measured: the third moment of a sampled loss takes half a second; for more losses than these a quick bound is used
_FEW = 16


@dataclass(frozen=True)
class LossClass:
    """The class of a loss, and the absolute third moments of its summands.

    Parameters
    ----------
    mean, variance
        Proved bounds of those of the finite losses, in nats.
    infinite_mass
        The probability of an infinite loss.
    third
        An upper bound of the sum of the third absolute central moments of the summands.
    identical
        Whether all summands that are not constant have the same law: sharper constants hold then.

    Raises
    ------
    TypeError
        If one of them is not a proved bound but an approximation, or a claim on the wrong side.
    """

    mean: Bound
    variance: Bound
    infinite_mass: Bound
    third: float | Bound | Claim
    identical: bool = False

    def __post_init__(self) -> None:
        for name in ("mean", "variance", "infinite_mass"):
            if not isinstance(getattr(self, name), Bound):
                raise TypeError(f"{name} must be a Bound, with both ends proved, got {getattr(self, name)!r}")
        object.__setattr__(self, "third", at_most("third", self.third))

    @staticmethod
    def of(law: LogPhi) -> LossClass:
        """The class of one direction of a pair: means, variances and third moments add under composition.

        Raises
        ------
        UnsupportedError
            If every loss is infinite.

        Examples
        --------
        >>> from logphi.mechanisms.gaussian import Gaussian
        >>> known = LossClass.of((100 * Gaussian(sigma=10)).loss_law())
        >>> round(known.mean.value, 9), round(known.variance.value, 9), round(known.third, 6)
        (0.5, 1.0, 0.159577)
        """
        if law.empty:
            raise UnsupportedError("every outcome reveals everything: there is no finite loss to have a mean or a variance")
        low, high = masses(law)[0]
        moment = third if len(law.terms) <= _FEW else _quick_third
        thirds = [(moment(term), count) for term, count in law.terms]
        return LossClass(
            cumulant(law, 1),
            cumulant(law, 2),
            Bound(low, (low + high) / 2, high),
            math.fsum(count * own for own, count in thirds) * (1 + 1e-15),
            sum(own > 0 for own, _ in thirds) <= 1,
        )

    @property
    def proved(self) -> bool:
        """Whether the mean and the variance are proved."""
        return all(one.ledger.proved for one in (self.mean, self.variance))


def classes(release: Questions) -> list[LossClass]:
    """The class of each direction that the relation has; a single class where both directions have the same law."""
    return [LossClass.of(law) for _, law in release._loss().orders(None)]


def third(law: LossTransform) -> float:
    """An upper bound of E|X - E X|^3 of the finite part of one loss, usually within 1e-5 of it.

    The third moment is computed about an approximation of the mean; its cube root, a norm, changes by at most the error of
    that.
    """
    alone, quick = LogPhi(((law, 1),)), _quick_third(law)
    mean = cumulant(alone, 1)
    if not (math.isfinite(mean.upper) and 0 < quick < math.inf):
        return quick
    whole = alone.with_omitted_mass()
    log_mass = whole.support.masses.own
    kept = math.exp(float((log_mass.mid - log_mass.radius)[0])) * (1 - 1e-15)
    off = max(mean.upper - mean.value, mean.value - mean.lower)
    norm = (third_moment(whole, mean.value) / kept) ** (1 / 3) + off
    return float(min(quick, norm**3 * (1 + 1e-14)))


def _quick_third(law: LossTransform) -> float:
    """The smaller of sqrt(E(X - m)^2 E(X - m)^4), by Cauchy and Schwarz, and range times variance.

    The moments are k2 and k4 + 3 k2^2 of the cumulants.
    """
    alone = LogPhi(((law, 1),))
    second = cumulant(alone, 2).upper
    width = law.support.upper - law.support.lower
    if second == 0 or width == 0:
        return 0.0
    if not math.isfinite(second):
        return math.inf
    fourth = cumulant(alone, 4).upper + 3 * second * second
    bounds = [math.sqrt(second) * math.sqrt(max(fourth, second * second) + _SMALLEST), width * second]
    return max(min(bound for bound in bounds if not math.isnan(bound)) * (1 + 1e-14), _SMALLEST)


def whole_delta(inner: float | Bound | Claim, infinite_mass: float | Bound | Claim) -> Claim:
    """A bound w + (1 - w) B of delta, from a bound B of that of the inner distribution, the finite losses ([PLC] Lemma 4).

    Parameters
    ----------
    inner
        An upper bound of E[(1 - e^{eps-L})_+, given that L < inf], a number from 0 to 1.
    infinite_mass
        An upper bound of the probability w of an infinite loss: the bound grows with w.

    Raises
    ------
    TypeError, ValueError
        If one of them is not a proved upper bound, ``inner`` is outside [0, 1], or the other is negative.

    Examples
    --------
    >>> round(float(whole_delta(0.5, 0.1)), 9)
    0.55
    """
    part = exact(check.unit("inner", at_most("inner", inner)))
    mass = exact(min(1.0, check.nonnegative("infinite_mass", at_most("infinite_mass", infinite_mass))))
    value = min(1.0, up(mass + (1 - mass) * part))
    return Claim(value, Side.UPPER, "inner distribution", "Sommer, Meiser & Mohammadi 2019, Lemma 4")


def normal_delta(known: LossClass, epsilon: float) -> Approximation:
    """The profile of the normal law N of the class: w + (1 - w) E[(1 - e^{eps-N})_+] ([PLC] Lemma 12).

    It is exact where the loss is normal; otherwise its error is not known.
    """
    mass = (known.infinite_mass.lower + known.infinite_mass.upper) / 2
    mean, variance = known.mean.value, known.variance.value
    part = _excess(mean, math.sqrt(variance), check.real("epsilon", epsilon)) if math.isfinite(mean + variance) else exact(1.0)
    return Approximation(min(1.0, mass + (1 - mass) * up(part)), "central limit theorem")


def normal_epsilon(known: LossClass, delta: float) -> Approximation:
    """The smallest eps >= 0 at which :func:`normal_delta` is at most delta."""
    at = crossing(lambda eps: normal_delta(known, eps).value <= check.unit("delta", delta))
    return Approximation(at[1], "central limit theorem")


def berry_esseen_delta(known: LossClass, epsilon: float, side: Side = Side.UPPER) -> Claim:
    """The profile of the normal law of the class, plus or minus (1 - w) C T / s^3 (Berry & Esseen; [PLC] Theorem 6).

    The constant is Shevtsova's, 0.4748 for identical summands and 0.5600 otherwise; the errors of the mean and of s are
    included.
    """
    constant, source = _UNIFORM[known.identical]
    return _around(known, epsilon, side, constant, False, "Berry-Esseen", f"Berry & Esseen; {source}")


def nagaev_delta(known: LossClass, epsilon: float, side: Side = Side.UPPER) -> Claim:
    """:func:`berry_esseen_delta` with C T / (s^3 (1 + x^3)), x = (eps - m) / s; trivial for eps < m ([PLC] Theorem 6).

    It is Nagaev's non-uniform inequality (1965), extended by Bikelis to different summands. The constant is the 25.80 of [PLC]
    Lemma 13 for identical summands and Paditz's 31.935 otherwise.
    """
    constant, source = _TAPERED[known.identical]
    return _around(known, epsilon, side, constant, True, "Nagaev", f"Nagaev & Bikelis; {source}")


def class_delta(known: LossClass, epsilon: float, side: Side = Side.UPPER) -> Claim:
    """The tighter of :func:`berry_esseen_delta` and :func:`nagaev_delta`: [PLC] Theorem 6."""
    found = [of(known, epsilon, side) for of in (berry_esseen_delta, nagaev_delta)]
    return min(found, key=float) if side is Side.UPPER else max(found, key=float)


def berry_esseen_epsilon(known: LossClass, delta: float, side: Side = Side.UPPER) -> Claim:
    """The smallest eps >= 0 at which :func:`berry_esseen_delta`, as an upper or as a lower bound, is at most delta."""
    return _inverse(berry_esseen_delta, known, delta, side)


def nagaev_epsilon(known: LossClass, delta: float, side: Side = Side.UPPER) -> Claim:
    """The smallest eps >= 0 at which :func:`nagaev_delta`, as an upper or as a lower bound, is at most delta."""
    return _inverse(nagaev_delta, known, delta, side)


def _inverse(delta_of: Callable[[LossClass, float, Side], Claim], known: LossClass, delta: float, side: Side) -> Claim:
    # delta may be any decimal that reads as the double
    level = math.nextafter(check.unit("delta", delta), -1.0 if side is Side.UPPER else 2.0)
    shown = delta_of(known, 0.0, side)
    if side is Side.UPPER:
        value = crossing(lambda eps: delta_of(known, eps, side).value <= level)[1]
    else:
        # an eps whose delta is proved to be larger does not satisfy the guarantee
        value = crossing(lambda eps: not delta_of(known, eps, side).value > level)[0]
    return Claim(value, side, shown.name, shown.source, shown.note, shown.proved)


def _around(known: LossClass, epsilon: float, side: Side, constant: float, tapered: bool, name: str, source: str) -> Claim:
    epsilon = check.real("epsilon", epsilon)
    eps = decimal(epsilon)
    trivial = Claim(1.0 if side is Side.UPPER else known.infinite_mass.lower, side, name, source, "", known.proved)
    spread = float(known.third)
    if not (known.variance.lower > 0 and math.isfinite(known.mean.upper + known.variance.upper + spread)):
        return trivial
    s = intervals().sqrt(between(known.variance.lower, known.variance.upper))
    error = decimal(constant) * exact(spread) / s**3
    if tapered:
        ahead = (eps - between(known.mean.lower, known.mean.upper)) / s
        if not ahead.a >= 0:
            return trivial
        error = error / (1 + ahead**3)
    note = f"error {up(error):.3g}"
    # E[(1 - e^{eps-N})_+] changes by at most the change of the mean, of s and of eps: its integrand has slopes in [0, 1]
    mean, width = known.mean.value, float(math.sqrt(known.variance.value))
    moved = abs(between(known.mean.lower, known.mean.upper) - exact(mean)) + abs(s - exact(width)) + abs(eps - exact(epsilon))
    part = _excess(mean, width, epsilon)
    mass = between(known.infinite_mass.lower, known.infinite_mass.upper)
    if side is Side.UPPER:
        value = min(1.0, up(mass + (1 - mass) * (part + moved + error)))
    else:
        value = max(trivial.value, down(mass + (1 - mass) * (part - moved - error)))
    return Claim(value, side, name, source, note, known.proved)


def _excess(mean: float, s: float, epsilon: float) -> Interval:
    """E[(1 - e^{eps-N})_+] of N(mean, s^2), all three exact."""
    if s == 0:
        return max(exact(0.0), 1 - intervals().exp(exact(epsilon) - exact(mean))) if mean > epsilon else exact(0.0)
    return excess(*(digits().mpf(one) for one in (epsilon, mean, s)))
