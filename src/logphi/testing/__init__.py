"""A conformance suite: what every mechanism satisfies, also one of a user's own.

>>> import logphi as lp
>>> from logphi.testing import check_mechanism
>>> check_mechanism(lp.Laplace(scale=2))

Every check is a function of a mechanism that returns nothing or raises an AssertionError with what is wrong and where;
``CHECKS`` lists them, so that a test can be parametrised over it. They hold the numbers to what they claim: values of K
must agree *within the errors that the law declares*, bounds must overlap wherever two routes answer one question.

Where a law says that its errors are estimates (``estimated``), each is taken ten times and 1e-9 is added: an estimate may
be short, but not by an order of magnitude. Its bounds of profiles get a millionth.

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
"""All checks, from the value to the answers."""
OF_ANY_LAW: tuple[Check, ...] = (check_value, check_text, check_masses)
"""Those that need no finite loss."""


def check_mechanism(mechanism: Mechanism, *, without: Collection[Check] = ()) -> None:
    """Put a mechanism through all checks.

    Parameters
    ----------
    mechanism
        Any mechanism: of the catalogue, sampled, composed, or of a class of one's own.
    without
        Checks to leave out, e.g. ``[check_text]``.

    Raises
    ------
    AssertionError
        If a check fails or breaks down: one line for each, with its name, what is wrong and where.
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
