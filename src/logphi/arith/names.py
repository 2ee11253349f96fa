"""Formulas as names, without computing them: formulas with equal names have equal values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from logphi.arith.protocol import Number
from logphi.text.written import meant


def _operator(name: str) -> tuple[Callable[[Name, Number], Name], Callable[[Name, Number], Name]]:
    """An operator of names, and the same with what stands on its right."""
    return lambda one, other: one.names.of(name, one, other), lambda one, other: one.names.of(name, other, one)


@dataclass(frozen=True)
class Name:
    """A number as its index in the list of all numbers that were formed; two indices may hold the same number."""

    names: Names
    index: int

    __add__, __radd__ = _operator("+")
    __sub__, __rsub__ = _operator("-")
    __mul__, __rmul__ = _operator("*")
    __truediv__, __rtruediv__ = _operator("/")
    __pow__, _ = _operator("**")

    def __neg__(self) -> Name:
        return self.names.of("-", 0, self)


def _function(name: str) -> Callable[..., Name]:
    def named(names: Names, *arguments: Number) -> Name:
        return names.of(name, *arguments)

    return named


class Names:
    """An arithmetic in which the same operation on the same names always gives the same name."""

    def __init__(self) -> None:
        self._places: dict[tuple[Any, ...], int] = {}

    def of(self, operation: str, *operands: Any) -> Name:
        """The name of the result of an operation on names and plain numbers."""
        key = (operation, *(one.index if isinstance(one, Name) else ("plain", one) for one in operands))
        return Name(self, self._places.setdefault(key, len(self._places)))

    def constant(self, value: float) -> Name:
        """The name of the number that was written."""
        return self.of("constant", meant(value))

    log = _function("log")
    log1p = _function("log1p")
    log1p_gap = _function("log1p_gap")
    log_cosh = _function("log_cosh")
    log_sinhc = _function("log_sinhc")
    tanh = _function("tanh")
    tanhc_gap = _function("tanhc_gap")
    exp = _function("exp")
    log_normal_sum = _function("log_normal_sum")

    def _refused(self, *_: Any) -> NoReturn:
        raise NotImplementedError("integrals and sums over functions have no names")

    log_normal_mean = integral = log_power_sum = _refused
