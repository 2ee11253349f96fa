"""Exponential sums on equally spaced nodes in balls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from flint import acb_mat

# measured: runs of this length are fastest
_RUN = 16


def exponential_sums(weights: Sequence[Any], factors: Sequence[Any], size: int) -> Iterator[Any]:
    """The sums of ``weight * factor**n`` over all pairs, for n = 0 .. size - 1.

    Balls grow in repeated multiplication, so powers are computed by repeated squaring: the first of each run, and those
    within a run, which all runs share. Each run is one product of matrices.
    """
    near = acb_mat(len(factors), _RUN, [factor**n for factor in factors for n in range(_RUN)])
    for start in range(0, size, _RUN):
        far = acb_mat(1, len(factors), [weight * factor**start for weight, factor in zip(weights, factors, strict=True)])
        yield from (far * near).entries()[: size - start]
