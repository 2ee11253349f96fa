"""Batches that are no samples: no amplification is known for them."""

from __future__ import annotations

from collections.abc import Mapping

# how batches are drawn -> why it is refused, and what holds instead
NOT_AMPLIFIED: Mapping[str, str] = {
    "shuffled": (
        "shuffled batches are refused: a record is in exactly one batch of an epoch, so that the batches are dependent and "
        "the worst case is far from Poisson's, whose answer would be too small; account for one release per epoch "
        "without sampling, or draw Poisson samples"
    ),
    "fixed_order": (
        "batches in a fixed order are refused: an adversary may know which batch holds the record, so that nothing is "
        "amplified, and Poisson's answer would be too small; account for one release per epoch without sampling"
    ),
}
