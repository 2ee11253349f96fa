"""What a mechanism of the catalogue owes to the rest of the package."""

from typing import Any

from logphi.checker.mechanisms.pairs import PLACES
from logphi.mechanisms.catalogue import CATALOGUE


def test_certificates_of_a_mechanism_are_read_or_it_says_why_there_are_none():
    """By `logphi.checker.mechanisms`, or in `_undescribed`; otherwise its certificates are refused by whoever checks them."""
    kinds: dict[str, Any] = {**CATALOGUE}
    assert {name for name, one in kinds.items() if not one._undescribed} <= PLACES.keys()
