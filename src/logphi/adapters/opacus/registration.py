"""How Opacus comes to know an accountant by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from opacus import accountants, privacy_engine
from opacus.accountants import IAccountant, utils

# all that look up the function that makes accountants, each in its own namespace
_PLACES = (accountants, utils, privacy_engine)


def register(accountant: type[IAccountant]) -> None:
    """Nothing; from now on Opacus makes such an accountant where it is asked for the name of its mechanism.

    An accountant that had the name gives way, so that it may be done again.
    """
    if hasattr(accountants, "register_accountant"):
        accountants.register_accountant(accountant.mechanism(), accountant, force=True)
    else:
        _enlarged().others[accountant.mechanism()] = accountant


@dataclass(frozen=True)
class _Registry:
    """What makes accountants by name in releases before 1.6, whose names are written into a function, and other names."""

    make: Callable[[str], IAccountant]
    others: dict[str, type[IAccountant]] = field(default_factory=dict)

    def __call__(self, mechanism: str) -> IAccountant:
        return self.others[mechanism]() if mechanism in self.others else self.make(mechanism)


def _enlarged() -> _Registry:
    """The registry that stands in for that function, put there when first needed."""
    registry = accountants.create_accountant
    if not isinstance(registry, _Registry):
        registry = _Registry(registry)
        for place in _PLACES:
            place.create_accountant = registry
    return registry
