"""The conformance suite: checks of properties that every mechanism must have, also one of your own.

>>> import logphi as lp
>>> from logphi.testing import check_mechanism
>>> check_mechanism(lp.Laplace(scale=2))

Every check is a function of a mechanism that returns nothing or raises an AssertionError that says what is wrong and where;
``CHECKS`` lists them, so that a test can be parametrised over it. Values of K must agree *within the errors that the law
declares*, and bounds must overlap wherever two routes answer the same question.

Where a law declares its errors to be estimates (``estimated``), each is multiplied by ten and increased by 1e-9: an estimate
may be too small, but not by an order of magnitude. Bounds of its profile may be disjoint by a relative 1e-6.

notation: K(z) = log M(z), M(z) the integral of e^{zx} over the finite losses x under P; D(x) = E[(1 - e^{x-L})_+; L < inf].
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from logphi.algebra.release import Mechanism
from logphi.testing.answers import check_divergence, check_duality, check_inverse, check_profile, check_repetition, check_routes
from logphi.testing.questions import check_distribution, check_orders, check_tradeoff
from logphi.testing.transform import (
    check_balls,
    check_conjugate_symmetry,
    check_convexity,
    check_envelope,
    check_line,
    check_masses,
    check_modulus,
    check_multiprecision,
    check_pieces,
    check_reflection,
    check_symbolic,
)
from logphi.testing.value import check_text, check_value

Check = Callable[[Mechanism], None]

CHECKS: tuple[Check, ...] = (
    check_value,
    check_text,
    check_conjugate_symmetry,
    check_reflection,
    check_line,
    check_convexity,
    check_modulus,
    check_envelope,
    check_masses,
    check_multiprecision,
    check_balls,
    check_symbolic,
    check_pieces,
    check_profile,
    check_duality,
    check_divergence,
    check_inverse,
    check_repetition,
    check_routes,
    check_distribution,
    check_orders,
    check_tradeoff,
)
"""All checks."""
OF_ANY_LAW: tuple[Check, ...] = (check_value, check_text, check_masses)
"""Those that apply to a mechanism whose loss is always infinite."""


def check_mechanism(mechanism: Mechanism, *, without: Collection[Check] = ()) -> None:
    """Apply all checks to a mechanism.

    Parameters
    ----------
    mechanism
        Any mechanism: of the catalogue, sampled, composed, or of a class that you write.
    without
        Checks to leave out, e.g. ``[check_text]``.

    Raises
    ------
    AssertionError
        If a check fails or raises: one line for each, with its name, what is wrong and where.
    """
    failures: list[str] = []
    for check in OF_ANY_LAW if mechanism.loss_law().empty else CHECKS:
        if check in without:
            continue
        try:
            check(mechanism)
        except Exception as error:
            kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
            failures.append(f"{check.__name__}: {kind}{error}")
    if failures:
        raise AssertionError(f"{mechanism!r} does not conform:\n" + "\n".join(f"  {line}" for line in failures))


__all__ = [
    "CHECKS",
    "check_balls",
    "check_conjugate_symmetry",
    "check_convexity",
    "check_distribution",
    "check_divergence",
    "check_duality",
    "check_envelope",
    "check_inverse",
    "check_line",
    "check_masses",
    "check_mechanism",
    "check_modulus",
    "check_multiprecision",
    "check_orders",
    "check_pieces",
    "check_profile",
    "check_reflection",
    "check_repetition",
    "check_routes",
    "check_symbolic",
    "check_text",
    "check_tradeoff",
    "check_value",
]
