"""One answer, or an array of answers, each to one point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from logphi.answers.bound import Bound, Bounds
from logphi.arrays import Array
from logphi.inputs import check
from logphi.progress import shown


def each(name: str, question: Any, answer: Callable[[float], Bound]) -> Bound | Bounds:
    """Answers point by point, after all points are checked to be finite numbers."""
    return pointwise(check.real_array(name, question), answer)


def pointwise(points: Array, answer: Callable[[float], Bound], *, falling: bool = False) -> Bound | Bounds:
    """A Bound for a number, Bounds of the same shape for an array, computed in the order of increasing answers.

    So the smallest number comes first or, if answers are decreasing (``falling``), the largest.
    """
    if points.ndim == 0:
        return answer(float(points))
    answers = np.empty(points.size, dtype=object)
    flat = points.ravel()
    for index in shown(np.argsort(-flat if falling else flat, kind="stable").tolist(), "answers"):
        answers[index] = answer(float(flat[index]))
    return Bounds(answers.reshape(points.shape))
