"""The Gaussian mechanism in closed form: approximate and probabilistic differential privacy, and sigma for the latter.

notation: mu = sqrt(n) sensitivity / sigma, so that the loss of n releases is N(mu^2/2, mu^2). Approximate DP (ADP) is
delta(eps); probabilistic DP (PDP) is P(L > eps), which is never less ([PLC] Theorem 5, Corollaries 5.1 and 5.2).
"""

from __future__ import annotations

from typing import Any

from logphi.answers.bound import Bound
from logphi.answers.status import Side
from logphi.classical.claim import Claim
from logphi.classical.interval_arithmetic import Interval, decimal, digits, down, ends, exact, intervals, spanned, up
from logphi.classical.normal import excess, tail
from logphi.inputs import check


def gaussian_adp(sigma: float, epsilon: float, *, sensitivity: float = 1.0, count: int = 1) -> Bound:
    """The profile Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu) of ``count`` releases (Balle & Wang 2018; [PLC] Theorem 5).

    Raises
    ------
    ValueError, TypeError
        If sigma or the sensitivity is not positive, epsilon not finite, or the count not an integer of one or more.

    Examples
    --------
    >>> round(gaussian_adp(1.0, 0.277).value, 9)
    0.299889672
    """
    mu, eps = _scale(sigma, sensitivity, count), decimal(check.real("epsilon", epsilon))
    # the profile grows with mu and falls with eps
    (low_mu, high_mu), (low_eps, high_eps) = ends(mu), ends(eps)
    return _bound(excess(high_eps, _mean(low_mu), low_mu), excess(low_eps, _mean(high_mu), high_mu))


def gaussian_pdp(sigma: float, epsilon: float, *, sensitivity: float = 1.0, count: int = 1) -> Bound:
    """The tail P(L > eps) = Phi(mu/2 - eps/mu) of ``count`` releases, for eps >= 0 ([PLC] Corollary 5.1).

    Examples
    --------
    >>> round(gaussian_pdp(1.0, 0.3).value, 9)
    0.57925971
    """
    mu, eps = _scale(sigma, sensitivity, count), decimal(check.nonnegative("epsilon", epsilon))
    (low_mu, high_mu), (low_eps, high_eps) = ends(mu), ends(eps)
    return _bound(tail(high_eps, _mean(low_mu), low_mu), tail(low_eps, _mean(high_mu), high_mu))


def gaussian_readable(sigma: float, epsilon: float, *, sensitivity: float = 1.0, count: int = 1) -> Claim:
    """e^{-(eps - rho)^2 / (4 rho)} / max(2, sqrt(pi / rho) (eps - rho)), rho = mu^2 / 2: at least :func:`gaussian_pdp`.

    This holds for eps >= rho; for smaller eps the answer is one.

    References
    ----------
    [S22] after Corollary 8.

    Examples
    --------
    >>> round(float(gaussian_readable(1.0, 4.0)), 9)
    0.000249338
    """
    iv, rho = intervals(), _scale(sigma, sensitivity, count) ** 2 / 2
    ahead = decimal(check.real("epsilon", epsilon)) - rho
    value = 1.0
    if ahead.a >= 0:
        value = min(1.0, up(iv.exp(-(ahead**2) / (4 * rho)) / max(2, (iv.sqrt(iv.pi / rho) * ahead).a)))
    return Claim(value, Side.UPPER, "Gaussian, readable", "Steinke 2022, after Corollary 8")


def gaussian_concentrated_sigma(epsilon: float, delta: float, *, sensitivity: float = 1.0, count: int = 1) -> Claim:
    """A sigma that zCDP proves to suffice for (eps, delta)-DP: sqrt(2 n (log(1/delta) + eps)) sensitivity / eps, rounded up.

    References
    ----------
    [S22] Remark 15.

    Examples
    --------
    >>> round(float(gaussian_concentrated_sigma(1.0, 1e-6)), 9)
    5.443438354
    """
    iv, eps = intervals(), decimal(check.positive("epsilon", epsilon))
    steps = decimal(check.whole("count", count, 1, 10**18)) * decimal(check.positive("sensitivity", sensitivity)) ** 2
    rest = -iv.log(decimal(check.open_unit("delta", delta)))
    return Claim(up(iv.sqrt(2 * steps * (rest + eps)) / eps), Side.UPPER, "sigma by zCDP", "Steinke 2022, Remark 15")


def gaussian_pdp_sigma(epsilon: float, delta: float, *, sensitivity: float = 1.0, count: int = 1) -> Claim:
    """The smallest sigma for which ``count`` releases are (eps, delta)-PDP, rounded up: it suffices for (eps, delta)-DP too.

    With t = Phi^{-1}(1 - delta) it is sqrt(n) sensitivity (t + sqrt(t^2 + 2 eps)) / (2 eps) ([PLC] Corollary 5.2).

    Raises
    ------
    ValueError, TypeError
        If epsilon or the sensitivity is not positive, or delta not strictly between 0 and 1.

    Examples
    --------
    >>> round(float(gaussian_pdp_sigma(1.0, 1e-5)), 6)
    4.37907
    """
    eps, level = decimal(check.positive("epsilon", epsilon)), ends(decimal(check.open_unit("delta", delta)))[0]
    steps = decimal(check.whole("count", count, 1, 10**18)) * decimal(check.positive("sensitivity", sensitivity)) ** 2
    mp = digits()
    # Newton's method on the logarithm of the tail, which is concave: after the first step, every t lies right of the quantile
    t = mp.sqrt(2) * mp.erfinv(1 - 2 * level) if level > mp.mpf("1e-15") else mp.sqrt(-2 * mp.log(level))
    for _ in range(60):
        step = (mp.log(mp.ncdf(-t)) - mp.log(level)) * mp.ncdf(-t) / mp.npdf(t)
        t += step
        if abs(step) < mp.mpf(10) ** -45 * (1 + abs(t)):
            break
    quantile = spanned(t, t)
    value = up(intervals().sqrt(steps) * (quantile + intervals().sqrt(quantile**2 + 2 * eps)) / (2 * eps))
    return Claim(value, Side.UPPER, "sigma for PDP", "Sommer, Meiser & Mohammadi 2019, Corollary 5.2")


def _scale(sigma: float, sensitivity: float, count: int) -> Interval:
    steps = exact(float(check.whole("count", count, 1, 10**15)))
    ratio = decimal(check.positive("sensitivity", sensitivity)) / decimal(check.positive("sigma", sigma))
    return intervals().sqrt(steps) * ratio


def _mean(mu: Any) -> Any:
    return digits().ldexp(digits().fmul(mu, mu, exact=True), -1)


def _bound(least: Interval, most: Interval) -> Bound:
    lower, upper = max(0.0, down(least)), min(1.0, up(most))
    return Bound(lower, min(max((lower + upper) / 2, lower), upper), upper, method="closed form")
