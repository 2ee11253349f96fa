"""The tail and the profile of a normal loss, with as many digits as cancellation requires.

notation: N has mean m and deviation s; x = (eps - m) / s and y = x + s, so that

    P(N > eps) = P(Z > x),     E[(1 - e^{eps-N})_+] = P(Z > x) - e^t P(Z > y),     t = s (x + y) / 2,

Z standard normal. With c its density and R its tail over its density, e^t P(Z > y) = c(x) R(y).
"""

from __future__ import annotations

from typing import Any

from logphi.classical.interval_arithmetic import Interval, between, digits, spanned

# derived: a normal tail beyond this point underflows
_FAR = 45
# derived: R(y) lies between 1/y - 1/y^3 and 3/y^5 more; from here on they agree to twenty digits
_SERIES = 10**6
# chosen: accurate digits, and twelve more for t; digits lost to cancellation are added
_DIGITS = 60 + 12
# derived: the smallest double
_NEGLIGIBLE = 5e-324


def tail(eps: Any, mean: Any, s: Any) -> Interval:
    """P(N > eps), all three exact."""
    mp = digits()
    with mp.workdps(_enough(eps, mean, s)):
        x = (eps - mean) / s
        return _certain(x > 0) if abs(x) > _FAR else spanned(mp.ncdf(-x), mp.ncdf(-x))


def excess(eps: Any, mean: Any, s: Any) -> Interval:
    """E[(1 - e^{eps-N})_+] for s > 0, all three exact."""
    mp = digits()
    with mp.workdps(_enough(eps, mean, s)):
        x = (eps - mean) / s
        y, t = x + s, (eps - mean) + s * s / 2
        if x > _FAR:
            return _certain(True)
        if x >= -_FAR:
            if y > _SERIES:
                first = mp.ncdf(-x) - mp.npdf(x) * (1 / y - 1 / y**3)
                return spanned(first - 3 * mp.npdf(x) / y**5, first)
            found = mp.ncdf(-x) - mp.exp(t) * mp.ncdf(-y)
            return spanned(found, found)
        # P(Z > x) rounds to one: for y >= 0 the second term is negligible, otherwise the profile is 1 - e^t + e^t P(Z < y)
        if y >= 0 or t < -(10**6):
            return _certain(False)
        found = -mp.expm1(t) + (mp.exp(t) * mp.ncdf(y) if y > -_FAR else 0)
        return spanned(found, found) + between(-_NEGLIGIBLE, _NEGLIGIBLE)


def _certain(nothing: bool) -> Interval:
    """A probability near zero, or near one."""
    return between(0.0, _NEGLIGIBLE) if nothing else 1 - between(0.0, _NEGLIGIBLE)


def _enough(eps: Any, mean: Any, s: Any) -> int:
    """The digits needed for the cancellations in x = (eps - m) / s and, where s is small, in 1 - e^t."""
    mp = digits()
    size = int(mp.mag(s))
    larger = [int(mp.mag(one)) - size for one in (eps, mean) if one != 0]
    return _DIGITS + max([0, *larger]) // 3 + max(0, -size) // 3
