"""Operators of Python and functions of NumPy between bounds and arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.answers.interval import exact

COMPARED: dict[Any, Callable[..., Any]] = {
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
}
ENCLOSED: dict[Any, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.power: operator.pow,
    np.negative: operator.neg,
    np.positive: operator.pos,
}


def given_to(
    ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any], array: Callable[[NDArray[np.object_]], Any]
) -> Any:
    """A function of NumPy of bounds: operators compare or enclose, all others are applied to the private side.

    ``array`` makes an array of bounds of its elements.
    """
    plain = method == "__call__" and not options
    if plain and ufunc in COMPARED:
        return compared(COMPARED[ufunc], *inputs)
    if plain and ufunc in ENCLOSED:
        found = elementwise(ENCLOSED[ufunc], *inputs)
        return array(found) if isinstance(found, np.ndarray) else found
    floats = (np.asarray(one) if hasattr(one, "__array_ufunc__") else one for one in inputs)
    return getattr(ufunc, method)(*floats, **options)


def compared(function: Callable[..., Any], *operands: Any) -> Any:
    """A comparison of Python between the elements of arrays and bounds: bools."""
    found = elementwise(function, *operands)
    return found.astype(bool) if isinstance(found, np.ndarray) else found


def elementwise(function: Callable[..., Any], *operands: Any) -> Any:
    """An operator of Python between the elements of arrays and bounds."""
    return np.frompyfunc(function, len(operands), 1)(*map(_objects, operands))


def _objects(operand: Any) -> NDArray[np.object_]:
    """An array of the elements, with NumPy's numbers as Python's: the operators of NumPy's would call this code again."""
    if hasattr(operand, "to_objects"):
        return operand.to_objects()  # type: ignore[no-any-return]
    if hasattr(operand, "__array_ufunc__") and not isinstance(operand, (np.ndarray, np.generic)):
        held = np.empty((), dtype=object)
        held[()] = operand
        return held
    return np.asarray(np.frompyfunc(_of_python, 1, 1)(np.asarray(operand, dtype=object)), dtype=object)


def _of_python(number: Any) -> Any:
    found = number.item() if isinstance(number, np.generic) else number
    # item() leaves a number longer than a double as it is
    return exact(found) if isinstance(found, np.generic) else found
