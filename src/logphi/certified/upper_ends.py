"""Certificates of upper ends alone, for releases of which only bounds are known."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

from logphi.certified.certificate import Check, refuse_unknown
from logphi.certified.route import NotCertifiedError
from logphi.certified.several import Asked, CertifiedClaim, CertifiedClaims, bundle, tried_digits


def issue_above(asked: Sequence[tuple[Asked, float]], *, digits: int, check: Callable[[Any], Check]) -> CertifiedClaims:
    """One certificate of upper ends: the given bounds in doubles, each rounded up until ``check`` accepts it.

    Raises
    ------
    NotCertifiedError
        If a bound is infinite, or the checker cannot derive a single digit of it.
    """
    claims = []
    for one, bound in asked:
        for _, node in one.release.tree:
            refuse_unknown(node)
        if not bound < math.inf:
            raise NotCertifiedError(f"no finite {one.quantity} is known at {one.at}")
        for tried in tried_digits(digits):
            up = Context(prec=tried + 2, rounding=ROUND_CEILING)
            end = Fraction(bound) * (1 + Fraction(1, 10**tried))
            upper = up.divide(Decimal(end.numerator), Decimal(end.denominator))
            claim = CertifiedClaim(one.quantity, one.at, one.direction, Fraction(0), upper)
            if check(bundle([(one.release, claim)])):
                claims.append((one.release, claim))
                break
        else:
            raise NotCertifiedError("the checker of certificates cannot derive a single digit of this upper end")
    return bundle(claims)
