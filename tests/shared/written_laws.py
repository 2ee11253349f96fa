"""Laws whose floats are meant as the decimals that they print as, and what tests of certificates ask of a route."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint

from cases import Case
from logphi.arith.ball import precision
from logphi.certified.profile import infinite_mass
from logphi.certified.route import Demand, Excess
from logphi.expression import parse
from logphi.laws.log_phi import LogPhi
from logphi.text.written import Written, meant

Prepare = Callable[[LogPhi, Any, int], Excess]


def with_bits(route: Callable[[LogPhi, Any, Demand], Excess]) -> Prepare:
    """The preparation of a route that takes the precision in force, as a function of the bits."""

    def prepare(loss: LogPhi, epsilon: Any, bits: int) -> Excess:
        with precision(bits):
            return route(loss, epsilon, Demand(15))

    return prepare


def as_written(part: Any) -> Any:
    """The same law with decimals for doubles, however deep they lie."""
    if isinstance(part, float):
        return Written(meant(part)) if math.isfinite(part) else part
    if isinstance(part, tuple):
        return tuple(as_written(entry) for entry in part)
    if dataclasses.is_dataclass(part) and not isinstance(part, type):
        fields = {field.name: as_written(getattr(part, field.name)) for field in dataclasses.fields(part)}
        return type(part)(**fields)
    return part


def loss_of(expression: str, direction: str | None = None) -> LogPhi:
    """The loss of an expression as it is written."""
    loss: LogPhi = as_written(parse(expression).loss_law())
    return loss.reflected() if direction == "add" else loss


def ball(number: str | Fraction | float) -> Any:
    """A rational number at the present precision."""
    number = Fraction(number)
    return flint.arb(flint.fmpq(number.numerator, number.denominator))


def delta(prepare: Prepare, loss: LogPhi, epsilon: str | Fraction, bits: int = 128) -> Any:
    """The ball of delta: what is lost, and the excess."""
    with precision(bits):
        return infinite_mass(loss) + prepare(loss, ball(epsilon), bits)(ball(epsilon))


def assert_certified(prepare: Prepare, case: Case, bits: int = 128) -> None:
    """The reference value is inside, to its thirty digits, and the ball is narrow; an epsilon is put back into delta."""
    epsilon, value = (case.at, case.value) if case.query == "delta" else (case.value, case.at)
    loss = loss_of(case.expression, case.direction)
    directions = [loss] if case.direction or loss.traits.symmetric else [loss, loss.reflected()]
    found = [delta(prepare, law, epsilon, bits) for law in directions]
    with precision(bits):
        largest = found[0] if len(found) == 1 else found[0].max(found[1])
        truth = ball(value)
        # thirty-two digits, the slope of delta in epsilon, and its conditioning
        assert abs(largest - truth) < truth * ball("1e-29")
        assert largest.rad() < truth * ball("1e-25")
