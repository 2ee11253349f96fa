"""Interval arithmetic for the last step of a proof, and the ends of its results as doubles, rounded outward.

The arithmetic is that of mpmath at forty-eight digits; cancellation widens an interval but never invalidates it. It is slow:
where a bound is minimised over a parameter, the parameter is found in doubles first, since every value of it proves a bound.
"""

from __future__ import annotations

import math
from functools import lru_cache
from threading import local
from typing import Any

from logphi.answers.interval import WHOLE

# An interval supports + - * / ** with intervals and numbers; its type is mpmath's.
Interval = Any

# measured: far below the half ulp of the parameters, also after cancellation; the cost hardly depends on it
_BITS = 160
# each thread has its own context for points, whose precision is raised temporarily
_of_thread = local()


@lru_cache(maxsize=1)
def intervals() -> Any:
    """The interval arithmetic with ``exp``, ``log`` and ``sqrt``, in a context other than mpmath's global one."""
    from mpmath.ctx_iv import MPIntervalContext

    context = MPIntervalContext()
    context.prec = _BITS
    return context


def digits() -> Any:
    """Arithmetic on numbers instead of intervals, at sixty digits, for the error function; one context for each thread."""
    if not hasattr(_of_thread, "context"):
        from mpmath.ctx_mp import MPContext

        _of_thread.context = MPContext()
        _of_thread.context.dps = 60
    return _of_thread.context


def ends(x: Interval) -> tuple[Any, Any]:
    """Both ends as points."""
    low, high = (digits().make_mpf(end) for end in x._mpi_)
    return low, high


def spanned(low: Any, high: Any) -> Interval:
    """The interval between two points that are accurate to forty digits."""
    error = digits().mpf(10) ** -40
    low, high = low - error * abs(low), high + error * abs(high)
    return intervals().make_mpf((low._mpf_, high._mpf_))


def exact(number: float) -> Interval:
    """A double, taken as exact."""
    return intervals().mpf(number)


def decimal(number: float) -> Interval:
    """A parameter as the user wrote it: any number that rounds to the double; integers up to 2^53 are exact."""
    number = float(number)
    if (number.is_integer() and abs(number) <= WHOLE) or not math.isfinite(number):
        return exact(number)
    # half an ulp of a subnormal number is not a double
    half = exact(math.ulp(number)) / 2
    return intervals().mpf([exact(number) - half, exact(number) + half])


def between(low: float, high: float) -> Interval:
    """All numbers between two doubles."""
    return intervals().mpf([low, high])


def up(x: Interval) -> float:
    """The least double that is not below the upper end."""
    end = x._mpi_[1]
    nearest = _nearest(end)
    return nearest if _compare(nearest, end) >= 0 else math.nextafter(nearest, math.inf)


def down(x: Interval) -> float:
    """The largest double that is not above the lower end."""
    end = x._mpi_[0]
    nearest = _nearest(end)
    return nearest if _compare(nearest, end) <= 0 else math.nextafter(nearest, -math.inf)


def _nearest(end: Any) -> float:
    """A double next to the end: zero on underflow, infinite on overflow."""
    from mpmath.libmp import to_float

    return float(to_float(end))


def _compare(number: float, end: Any) -> int:
    from mpmath.libmp import from_float, mpf_cmp

    return int(mpf_cmp(from_float(number), end))
