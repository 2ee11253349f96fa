"""Batches that are no samples: nothing is known to be amplified."""

from __future__ import annotations

from typing import Any, NoReturn

from logphi.pairs.pair import UnsupportedError


class NotAmplified:
    """What is asked of a mechanism and refused, with the reason and what holds."""

    def shuffled(self, *_: Any, **__: Any) -> NoReturn:
        """Refused: batches of a shuffled data set are not sampled independently of one another."""
        raise UnsupportedError(
            "shuffled batches are refused: a record is in exactly one batch of an epoch, so that the batches are dependent and "
            "the worst case is far from Poisson's, whose answer would be too small; account for one release per epoch "
            "without sampling, or draw Poisson samples"
        )

    def fixed_order(self, *_: Any, **__: Any) -> NoReturn:
        """Refused: batches in a fixed order are not sampled at all."""
        raise UnsupportedError(
            "batches in a fixed order are refused: an adversary may know which batch holds the record, so that nothing is "
            "amplified, and Poisson's answer would be too small; account for one release per epoch without sampling"
        )
